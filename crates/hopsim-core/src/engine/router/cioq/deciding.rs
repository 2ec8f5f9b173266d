//! Asking the heads with a choice of outputs that are awake, in every allocator iteration.

use crate::engine::node::Run;
use crate::engine::router::cioq::allocator::Scratch;
use crate::engine::router::cioq::choices::{Chooser, Openings};
use crate::engine::router::cioq::context::Context;
use crate::engine::router::cioq::draws::Attempt;
use crate::engine::router::cioq::ids::join;
use crate::engine::router::cioq::marks::{GLOBAL_CODE, Loads};
use crate::engine::router::cioq::mask::Mask;
use crate::engine::router::cioq::outlook::Outlook;
use crate::engine::router::cioq::visit::Visit;
use crate::network::{PortClassCode, TERMINAL};
use crate::routing::view::View;
use crate::routing::{RouteState, Stand};

impl<const W: usize> Visit<'_, W> {
    /// A packet has become the head of a slot, where some heads have a choice.
    pub fn stand<M: Run>(&mut self, cx: &mut Context<'_, W, M>, slot: usize, packet: u32) {
        let head = cx.head(self.number, slot, packet);
        let request = match &cx.stand(packet, &head) {
            Stand::Arrived => head.ejection(),
            Stand::Bound(hop) => cx.shared.base.way(&head, *hop).highest(),
            Stand::Open(prospect) => {
                self.router.choosing.insert(slot);
                return self.extras.choices.wait(&cx.shared.tables, (self.number, slot), prospect);
            }
        };
        self.router.ask(slot, cx.shared.tables.port(request.port).pair_base as usize + request.vc as usize);
    }

    /// The allocator's iterations where heads have a choice. Returns what [`Visit::allocate`] does.
    #[inline(never)]
    pub fn iterate_choices<M: Run>(&mut self, cx: &mut Context<'_, W, M>, scratch: &mut Scratch<W>) -> u32 {
        if let Some(marks) = &mut cx.marks {
            let loads = Loads { capacity: cx.shared.capacities[GLOBAL_CODE as usize], minimal: &cx.minimal };
            let waiting = &mut self.extras.choices.waiting;
            marks.refresh_own((self.number, self.router), loads, waiting, cx.kernel.now);
        }
        let (mut fixed, mut losers) = (Mask::EMPTY, Mask::EMPTY);
        for iteration in 0..cx.shared.allocation.iterations {
            let waiting = &self.extras.choices.waiting;
            let awake = self.vacated(cx, waiting.awake(self.number, self.router.choosing));
            if iteration > 0 && awake.is_empty() && losers.is_empty() {
                return self.rest(cx);
            }
            let open = waiting.free_outputs(self.number, self.router.credit);
            let openings = Openings { open, reachable: cx.reachable(open) };
            // What was not feasible cannot become so within the cycle: only losers may try another VC.
            fixed = if iteration == 0 {
                self.fixed(cx, &openings)
            } else {
                self.still_feasible(cx, fixed, losers)
            };
            let mut slots = fixed;
            awake.for_each(|slot| {
                if self.decide(cx, (iteration, &openings), slot) {
                    slots.insert(slot);
                }
            });
            if slots.is_empty() {
                // Nothing changes any more in this cycle but what is drawn.
                if cx.shared.requests.draws {
                    continue;
                }
                return self.rest(cx);
            }
            // The usual case at low load needs no arbitration.
            losers = if slots.single().is_some_and(|slot| self.grant_single(cx, slot, iteration)) {
                Mask::EMPTY
            } else {
                let asked = self.nominate(cx, slots, iteration, scratch);
                self.grant_requests(cx, asked, iteration, scratch)
            };
        }
        0
    }

    /// What [`Visit::allocate`] returns when nothing can be granted any more until something happens.
    #[inline]
    fn rest<M: Run>(&self, cx: &Context<'_, W, M>) -> u32 {
        let waiting = &self.extras.choices.waiting;
        let stale = cx.marks.as_deref().is_some_and(|marks| marks.is_stale(self.number));
        // What leaves at once has times of its own.
        let rests =
            waiting.may_sleep() && !cx.shared.parallel() && !(stale && waiting.has_outbound(self.number));
        if rests { u32::MAX } else { 0 }
    }

    /// Slots with a fixed request that could be granted now.
    #[inline]
    fn fixed<M: Run>(&self, cx: &Context<'_, W, M>, openings: &Openings<W>) -> Mask<W> {
        let mut slots = Mask::EMPTY;
        (self.router.wanted & openings.reachable).for_each(|pair| slots |= self.router.wants[pair]);
        slots = self.vacated(cx, self.extras.choices.waiting.free_inputs(self.number, slots));
        if cx.shared.mixed() {
            slots.for_each(|slot| {
                if !self.fits(cx, slot) {
                    slots.remove(slot);
                }
            });
        }
        slots
    }

    /// Asks the head of a slot, if there is hope, and sends it to sleep if not. Whether it could be granted what it
    /// answers.
    #[inline]
    fn decide<M: Run>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        (iteration, openings): (u32, &Openings<W>),
        slot: usize,
    ) -> bool {
        let choices = &self.extras.choices;
        let hope = choices.remembers || choices.is_hopeful((self.number, slot), openings);
        let granted = hope && self.ask(cx, (iteration, openings), slot);
        if !granted {
            self.extras.choices.sleep((self.number, slot));
        }
        granted
    }

    /// Asks the head of a slot. Whether it could be granted what it answers.
    #[inline]
    fn ask<M: Run>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        (iteration, openings): (u32, &Openings<W>),
        slot: usize,
    ) -> bool {
        let id = self.router.slots[slot].queue.front;
        let mut route = cx.kernel.packets.get(id).route;
        let mut attempt =
            Attempt { cx, router: cx.kernel.span.router(self.number), packet: id, iteration, stream: None };
        let Chooser { prospect, .. } = self.extras.choices.chooser(self.number, slot);
        let outlook = Outlook { cx, visit: self, openings, slot };
        let decision = cx.shared.routing.choose(prospect, &mut route, &outlook, &mut attempt);
        let feasible = decision.request.filter(|&request| outlook.open(request));
        cx.kernel.worker.recorder.decisions += 1;
        if self.extras.choices.remembers {
            cx.kernel.packets.get_mut(id).route = route;
        }
        let Some(request) = feasible else { return false };
        self.router.slots[slot].request =
            cx.shared.tables.port(request.port).pair_base + u16::from(request.vc);
        self.extras.choices.after[slot] = decision.after;
        true
    }

    /// The head of `slot` has been granted `pair` of an output of class `to`, and will have left at `left`: what it
    /// remembers and what sensors see of it. Returns the phits to take off the minimal occupancy of the output VC it came
    /// by.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn commit<M: Run>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        (slot, id): (usize, u32),
        (pair, to): (usize, PortClassCode),
        left: u32,
    ) -> u16 {
        let packet = cx.kernel.packets.get_mut(id);
        let before = packet.route;
        if self.router.choosing.contains(slot) {
            packet.route = self.extras.choices.after[slot];
        }
        if let Some(contention) = &mut cx.contention {
            contention.leaves(join::<W>(self.number as u32, slot), left);
        }
        if let Some(marks) = &mut cx.marks {
            marks.touch(self.number, (to, cx.shared.tables.pair(pair).vc as usize));
        }
        if cx.minimal.is_empty() {
            return 0;
        }
        let on_path = |route: RouteState| if route.misrouted() { 0 } else { packet.length };
        let (arrived, leaves) = (on_path(before), on_path(packet.route));
        if to != TERMINAL {
            cx.minimal[join::<W>(self.number as u32, pair) as usize] += u32::from(leaves);
        }
        arrived
    }
}
