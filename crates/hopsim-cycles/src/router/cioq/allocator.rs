//! The separable, input-first switch allocator (Dally & Towles §19.3; thesis §1.1).
//!
//! Blocked heads cost nothing: what a head wants is one bit in the mask of an output VC, and the heads that
//! could be granted are the union of those masks over the output VCs that have credit and a free output.

use crate::kernel::ids::{Id as _, Pair, Slot};
use crate::node::Run;
use crate::router::cioq::choices::Openings;
use crate::router::cioq::context::Context;
use crate::router::cioq::mask::Mask;
use crate::router::cioq::router_mut::RouterMut;
use crate::router::cioq::router_view::RouterView;
use crate::router::cioq::routers::Array;

/// The allocator, which visits one router after the other.
pub struct SwitchAllocator<const W: usize> {
    /// Slot nominated by each input port.
    nominee: Array<usize, Slot, W>,
    /// Pair that the nominee of each input asks for, where output ports have several outputs of the crossbar.
    asks: Array<usize, Pair, W>,
    /// Input ports that request each output port; empty between the stages.
    requesters: Array<usize, Mask<usize, W>, W>,
}

impl<const W: usize> Default for SwitchAllocator<W> {
    fn default() -> Self {
        Self {
            nominee: Array::new(Slot::at(0)),
            asks: Array::new(Pair::at(0)),
            requesters: Array::new(Mask::EMPTY),
        }
    }
}

impl<const W: usize> SwitchAllocator<W> {
    /// One cycle of the allocator. Returns the next cycle in which it could do anything if neither a head nor a credit arrives
    /// before and no port becomes free that heads with a choice wait for; 0 if that is not known.
    #[inline]
    pub fn allocate<M: Run>(&mut self, router: &mut RouterMut<'_, W>, cx: &mut Context<'_, W, M>) -> u32 {
        if cx.shared.parallel() {
            router.consume_arrived(cx);
        }
        if M::FULL && !router.state.choosing.is_empty() {
            return self.iterate_choices(router, cx);
        }
        let (slots, ready) = router.read().feasible(cx);
        let first = match slots.single() {
            None if slots.is_empty() => return if cx.shared.patient() { ready } else { 0 },
            // The usual case at low load needs no arbitration.
            Some(slot) if cx.shared.patient() && router.read().input_is_busy(cx, slot) => {
                return ready.min(router.state.ports[cx.shared.tables.slot_input(slot)].in_free);
            }
            Some(slot) if router.grant_single(cx, slot, 0) => return 0,
            Some(_) => {
                router.count_refused(cx, 1);
                1
            }
            None => 0,
        };
        let free = self.iterate(router, cx, (first, slots));
        if cx.shared.patient() { ready.min(free) } else { 0 }
    }

    /// The allocator's iterations from `first` on; `slots` are feasible in the first of all. Returns the cycle in which the first
    /// of the input ports of these slots is free, if none is now; 0 otherwise.
    #[inline(never)]
    fn iterate<M: Run>(
        &mut self,
        router: &mut RouterMut<'_, W>,
        cx: &mut Context<'_, W, M>,
        (first, slots): (u32, Mask<Slot, W>),
    ) -> u32 {
        let mut slots = slots;
        for iteration in first..cx.shared.allocation.iterations {
            if slots.is_empty() {
                return 0;
            }
            let asked = self.nominate(router, cx, slots, iteration);
            if cx.shared.patient() && iteration == 0 && asked.is_empty() {
                let free =
                    slots.iter().map(|slot| router.state.ports[cx.shared.tables.slot_input(slot)].in_free);
                return free.min().unwrap_or(0);
            }
            let losers = self.grant_requests(router, cx, asked, iteration);
            router.count_refused(cx, losers.len());
            // What was not feasible cannot become so within the cycle: only losers may try another VC.
            slots = router.read().still_feasible(cx, slots, losers);
        }
        0
    }

    /// Input stage: every free input port requests for one of its feasible slots. Returns the output ports that are asked.
    pub fn nominate<M: Run>(
        &mut self,
        router: &mut RouterMut<'_, W>,
        cx: &mut Context<'_, W, M>,
        mut slots: Mask<Slot, W>,
        iteration: u32,
    ) -> Mask<usize, W> {
        let mut asked = Mask::EMPTY;
        while let Some(slot) = slots.first() {
            let input = cx.shared.tables.slot_input(slot);
            let mut field = slots.take_field(slot, cx.shared.tables.port(input).field);
            if router.state.ports[input].in_free > cx.kernel.now {
                continue;
            }
            // The slots of a port share a mask word, so the other candidates are in the same one.
            let mut slot = slot;
            field &= field - 1;
            if field != 0 {
                let field = field | 1 << (slot.index() % 64);
                slot = slot.in_word(router.read().choose_slot(cx, input, field, iteration));
            }
            if cx.shared.on_request() {
                router.serve_input(cx, input, slot, iteration);
            }
            let output = cx.shared.tables.pair_port(router.state.slots[slot].request());
            self.nominee[input] = slot;
            asked.insert(output);
            self.requesters[output].insert(input);
        }
        asked
    }

    /// Output stage: every output port that is asked grants a request, or several. Returns the input ports that were refused.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn grant_requests<M: Run>(
        &mut self,
        router: &mut RouterMut<'_, W>,
        cx: &mut Context<'_, W, M>,
        asked: Mask<usize, W>,
        iteration: u32,
    ) -> Mask<usize, W> {
        let mut losers = Mask::EMPTY;
        asked.for_each(|output| {
            let candidates = std::mem::replace(&mut self.requesters[output], Mask::EMPTY);
            losers |= candidates;
            if cx.shared.several_outputs() {
                losers = losers.without(self.grant_several(router, cx, (output, candidates), iteration));
            } else if let Some((input, slot)) =
                self.arbitrate(router, cx, (output, candidates), (iteration, 0))
            {
                losers.remove(input);
                let pair = router.read().granted_pair(cx, slot, iteration);
                router.transfer(cx, (input, slot), (output, pair));
            }
        });
        losers
    }

    /// An output port with several outputs of the crossbar grants requests one after the other. Returns the input ports that were
    /// granted theirs.
    #[inline(never)]
    fn grant_several<M: Run>(
        &mut self,
        router: &mut RouterMut<'_, W>,
        cx: &mut Context<'_, W, M>,
        (output, candidates): (usize, Mask<usize, W>),
        iteration: u32,
    ) -> Mask<usize, W> {
        // What heads ask for does not depend on what others are granted in the same iteration.
        candidates.for_each(|input| {
            self.asks[input] = router.read().granted_pair(cx, self.nominee[input], iteration);
        });
        let (mut left, mut granted) = (candidates, Mask::EMPTY);
        for grant in 0..cx.shared.crossing.outputs {
            if grant > 0 {
                left = self.still_open(router, cx, (output, left));
            }
            let Some((input, slot)) = self.arbitrate(router, cx, (output, left), (iteration, grant)) else {
                break;
            };
            left.remove(input);
            granted.insert(input);
            router.transfer(cx, (input, slot), (output, self.asks[input]));
        }
        granted
    }

    /// The input ports among `inputs` whose nominee could be granted what it asks for of `output`, of which others have just been
    /// granted something.
    fn still_open<M: Run>(
        &self,
        router: &RouterMut<'_, W>,
        cx: &Context<'_, W, M>,
        (output, mut inputs): (usize, Mask<usize, W>),
    ) -> Mask<usize, W> {
        if router.state.ports[output].out_ready > cx.kernel.now {
            return Mask::EMPTY;
        }
        let openings = Openings { open: router.state.credit, reachable: router.state.credit };
        inputs.for_each(|input| {
            let slot = self.nominee[input];
            let view = RouterView { cx, router: router.read(), openings: &openings, slot };
            if !view.takes(self.asks[input]) {
                inputs.remove(input);
            }
        });
        inputs
    }

    /// The output arbiter of an output port chooses one of the input ports that request it, with its nominee, which both arbiters
    /// have then served, unless the port grants nothing.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    fn arbitrate<M: Run>(
        &self,
        router: &mut RouterMut<'_, W>,
        cx: &Context<'_, W, M>,
        (output, mut candidates): (usize, Mask<usize, W>),
        turn @ (iteration, _): (u32, u32),
    ) -> Option<(usize, Slot)> {
        if M::FULL && cx.sat.is_some() {
            candidates = self.unheld(router, cx, candidates);
        }
        if candidates.is_empty() || router.read().refuses(cx, output) {
            return None;
        }
        let mut class = 0;
        if cx.shared.transit_priority(cx.kernel.span.router(router.number), cx.kernel.now) {
            let transit = candidates & cx.masks.links;
            class = usize::from(transit.is_empty());
            candidates = if class == 0 { transit } else { candidates };
        }
        let input = match candidates.single() {
            Some(input) => input,
            None => router.read().choose_input(cx, output, candidates, (class, turn, &self.nominee)),
        };
        router.serve_output(cx, output, input, (class, iteration));
        let slot = self.nominee[input];
        if !cx.shared.on_request() {
            router.serve_input(cx, input, slot, iteration);
        }
        Some((input, slot))
    }

    /// The input ports among `inputs` whose nominee does not have to wait for the signal since a grant of this iteration.
    #[cold]
    fn unheld<M: Run>(
        &self,
        router: &RouterMut<'_, W>,
        cx: &Context<'_, W, M>,
        mut inputs: Mask<usize, W>,
    ) -> Mask<usize, W> {
        inputs.for_each(|input| {
            if cx.is_held(router.number, self.nominee[input]) {
                inputs.remove(input);
            }
        });
        inputs
    }

    /// The allocator's iterations where heads have a choice. Returns what [`SwitchAllocator::allocate`] does.
    #[inline(never)]
    pub fn iterate_choices<M: Run>(
        &mut self,
        router: &mut RouterMut<'_, W>,
        cx: &mut Context<'_, W, M>,
    ) -> u32 {
        if let Some(marks) = &mut cx.marks {
            let waiting = &mut router.extras.choices.waiting;
            marks.refresh_own((router.number, router.state), &cx.minimal, waiting, cx.kernel.now);
        }
        let (mut fixed, mut losers) = (Mask::EMPTY, Mask::EMPTY);
        for iteration in 0..cx.shared.allocation.iterations {
            let waiting = &router.extras.choices.waiting;
            let awake = router.read().vacated(cx, waiting.awake(router.number, router.state.choosing));
            if iteration > 0 && awake.is_empty() && losers.is_empty() {
                return router.rest(cx);
            }
            let open = waiting.free_outputs(router.number, router.state.credit);
            let openings = Openings { open, reachable: cx.reachable(open) };
            // What was not feasible cannot become so within the cycle: only losers may try another VC.
            fixed = if iteration == 0 {
                router.fixed(cx, &openings)
            } else {
                router.read().still_feasible(cx, fixed, losers)
            };
            let mut slots = fixed;
            awake.for_each(|slot| {
                if router.decide(cx, (iteration, &openings), slot) {
                    slots.insert(slot);
                }
            });
            if slots.is_empty() {
                // Nothing changes any more in this cycle but what is drawn.
                if cx.shared.requests.draws {
                    continue;
                }
                return router.rest(cx);
            }
            // The usual case at low load needs no arbitration.
            losers = if slots.single().is_some_and(|slot| router.grant_single(cx, slot, iteration)) {
                Mask::EMPTY
            } else {
                let asked = self.nominate(router, cx, slots, iteration);
                let losers = self.grant_requests(router, cx, asked, iteration);
                router.count_refused(cx, losers.len());
                losers
            };
        }
        0
    }
}
