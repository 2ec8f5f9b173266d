//! The separable, input-first switch allocator (Dally & Towles §19.3; thesis §1.1).
//!
//! Blocked heads cost nothing: what a head wants is one bit in the mask of an output VC, and the heads that
//! could be granted are the union of those masks over the output VCs that have credit and a free output.

use crate::engine::kernel::pool::Queue;
use crate::engine::node::Run;
use crate::engine::router::cioq::context::Context;
use crate::engine::router::cioq::draws::Attempt;
use crate::engine::router::cioq::ids::join;
use crate::engine::router::cioq::mask::Mask;
use crate::engine::router::cioq::routers::{Array, Slot};
use crate::engine::router::cioq::visit::Visit;
use crate::network::TERMINAL;
use crate::routing::flexvc::roomiest;

/// Working space of a visit.
pub struct Scratch<const W: usize> {
    /// Slot nominated by each input port.
    nominee: Array<u16, W>,
    /// Input ports that request each output port; empty between the stages.
    requesters: Array<Mask<W>, W>,
}

impl<const W: usize> Default for Scratch<W> {
    fn default() -> Self {
        Self { nominee: Array::new(0), requesters: Array::new(Mask::EMPTY) }
    }
}

impl<const W: usize> Visit<'_, W> {
    /// One cycle of the allocator. Returns the cycle of the next one that could do anything if neither a head nor a credit
    /// arrives before and no port becomes free that heads with a choice wait for; 0 if that is not known.
    #[inline]
    pub fn allocate<M: Run>(&mut self, cx: &mut Context<'_, W, M>, scratch: &mut Scratch<W>) -> u32 {
        if cx.shared.parallel() {
            self.consume_arrived(cx);
        }
        if M::FULL && !self.router.choosing.is_empty() {
            return self.iterate_choices(cx, scratch);
        }
        let (slots, ready) = self.feasible(cx);
        let first = match slots.single() {
            None if slots.is_empty() => return if cx.shared.patient() { ready } else { 0 },
            // The usual case at low load needs no arbitration.
            Some(slot) if cx.shared.patient() && self.input_is_busy(cx, slot) => {
                return ready.min(self.router.ports[cx.shared.tables.slot_input(slot)].in_free);
            }
            Some(slot) if self.grant_single(cx, slot, 0) => return 0,
            Some(_) => 1,
            None => 0,
        };
        let free = self.iterate(cx, scratch, (first, slots));
        if cx.shared.patient() { ready.min(free) } else { 0 }
    }

    /// The allocator's iterations from `first` on; `slots` are feasible in the first of all. Returns the cycle in which the
    /// first of their input ports is free, if none is now; 0 otherwise.
    #[inline(never)]
    fn iterate<M: Run>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        scratch: &mut Scratch<W>,
        (first, slots): (u32, Mask<W>),
    ) -> u32 {
        let mut slots = slots;
        for iteration in first..cx.shared.allocation.iterations {
            if slots.is_empty() {
                return 0;
            }
            let asked = self.nominate(cx, slots, iteration, scratch);
            if cx.shared.patient() && iteration == 0 && asked.is_empty() {
                let free =
                    slots.iter().map(|slot| self.router.ports[cx.shared.tables.slot_input(slot)].in_free);
                return free.min().unwrap_or(0);
            }
            let losers = self.grant_requests(cx, asked, iteration, scratch);
            // What was not feasible cannot become so within the cycle: only losers may try another VC.
            slots = self.still_feasible(cx, slots, losers);
        }
        0
    }

    fn input_is_busy<M: Run>(&self, cx: &Context<'_, W, M>, slot: usize) -> bool {
        self.router.ports[cx.shared.tables.slot_input(slot)].in_free > cx.kernel.now
    }

    /// Slots whose fixed request could be granted now, free input or not, and the cycle in which the next output with credit
    /// that somebody wants will be ready.
    #[inline]
    fn feasible<M: Run>(&self, cx: &Context<'_, W, M>) -> (Mask<W>, u32) {
        let (mut slots, mut ready) = (Mask::EMPTY, u32::MAX);
        (self.router.wanted & cx.reachable(self.router.credit)).for_each(|pair| {
            let at = self.router.ports[cx.shared.tables.pair_port(pair)].out_ready;
            if at <= cx.kernel.now {
                slots |= self.router.wants[pair];
            } else if cx.shared.patient() {
                ready = ready.min(at);
            }
        });
        if cx.shared.mixed() {
            for slot in slots.iter() {
                if !self.fits(cx, slot) {
                    slots.remove(slot);
                }
            }
        }
        (self.vacated(cx, slots), ready)
    }

    /// Those of some slots that the packet before has left: a buffer sends one packet at a time, also where its port is not
    /// busy with those that leave for nodes.
    #[inline]
    pub fn vacated<M: Run>(&self, cx: &Context<'_, W, M>, mut slots: Mask<W>) -> Mask<W> {
        if cx.shared.parallel() {
            slots.for_each(|slot| {
                if self.extras.is_leaving((self.number, slot), cx.kernel.now) {
                    slots.remove(slot);
                }
            });
        }
        slots
    }

    /// Those of `slots` that belong to input ports in `losers` and could still be granted.
    #[inline]
    pub fn still_feasible<M: Run>(
        &self,
        cx: &Context<'_, W, M>,
        mut slots: Mask<W>,
        losers: Mask<W>,
    ) -> Mask<W> {
        let mut left = Mask::EMPTY;
        if losers.is_empty() {
            return left;
        }
        let credit = cx.reachable(self.router.credit);
        losers.for_each(|input| {
            let info = cx.shared.tables.port(input);
            let base = info.slot_base as usize;
            Mask::<1>::from_bits(slots.take_field(base, info.field)).for_each(|bit| {
                let slot = base / 64 * 64 + bit;
                let pair = self.router.slots[slot].request as usize;
                let ready = self.router.ports[cx.shared.tables.pair_port(pair)].out_ready <= cx.kernel.now;
                let held = M::FULL && cx.is_held(self.number, slot);
                if ready && credit.contains(pair) && !held && (!cx.shared.mixed() || self.fits(cx, slot)) {
                    left.insert(slot);
                }
            });
        });
        left
    }

    /// Both stages when only one slot is feasible. Whether a request was granted, or there was none.
    #[inline]
    pub fn grant_single<M: Run>(&mut self, cx: &mut Context<'_, W, M>, slot: usize, iteration: u32) -> bool {
        let input = cx.shared.tables.slot_input(slot);
        if self.router.ports[input].in_free > cx.kernel.now {
            return true;
        }
        let output = cx.shared.tables.pair_port(self.router.slots[slot].request as usize);
        if cx.shared.on_request() {
            self.serve_input(cx, input, slot, iteration);
        }
        if self.refuses(cx, output) {
            return false;
        }
        let class = usize::from(
            cx.shared.transit_priority(cx.kernel.span.router(self.number), cx.kernel.now)
                && self.router.ports[input].class == TERMINAL,
        );
        self.serve_output(cx, output, input, (class, iteration));
        if !cx.shared.on_request() {
            self.serve_input(cx, input, slot, iteration);
        }
        let pair = self.granted_pair(cx, slot, iteration);
        self.transfer(cx, (input, slot), (output, pair));
        true
    }

    /// Input stage: every free input port requests for one of its feasible slots. Returns the output ports
    /// asked.
    pub fn nominate<M: Run>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        mut slots: Mask<W>,
        iteration: u32,
        scratch: &mut Scratch<W>,
    ) -> Mask<W> {
        let mut asked = Mask::EMPTY;
        while let Some(slot) = slots.first() {
            let input = cx.shared.tables.slot_input(slot);
            let mut field = slots.take_field(slot, cx.shared.tables.port(input).field);
            if self.router.ports[input].in_free > cx.kernel.now {
                continue;
            }
            // The slots of a port share a mask word, so the other candidates are in the same one.
            let mut slot = slot;
            field &= field - 1;
            if field != 0 {
                let field = field | 1 << (slot % 64);
                slot = slot / 64 * 64 + self.choose_slot(cx, input, field, iteration);
            }
            if cx.shared.on_request() {
                self.serve_input(cx, input, slot, iteration);
            }
            let output = cx.shared.tables.pair_port(self.router.slots[slot].request as usize);
            scratch.nominee[input] = slot as u16;
            asked.insert(output);
            scratch.requesters[output].insert(input);
        }
        asked
    }

    /// Output stage: every output port asked grants one request. Returns the input ports that were refused.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn grant_requests<M: Run>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        asked: Mask<W>,
        iteration: u32,
        scratch: &mut Scratch<W>,
    ) -> Mask<W> {
        let mut losers = Mask::EMPTY;
        asked.for_each(|output| {
            let mut candidates = std::mem::replace(&mut scratch.requesters[output], Mask::EMPTY);
            losers |= candidates;
            if M::FULL && cx.sat.is_some() {
                candidates = self.unheld(cx, candidates, &scratch.nominee);
            }
            if candidates.is_empty() || self.refuses(cx, output) {
                return;
            }
            let mut class = 0;
            if cx.shared.transit_priority(cx.kernel.span.router(self.number), cx.kernel.now) {
                let transit = candidates & cx.masks.links;
                class = usize::from(transit.is_empty());
                candidates = if class == 0 { transit } else { candidates };
            }
            let input = match candidates.single() {
                Some(input) => input,
                None => self.choose_input(cx, output, candidates, (class, iteration, &scratch.nominee)),
            };
            self.serve_output(cx, output, input, (class, iteration));
            let slot = scratch.nominee[input] as usize;
            if !cx.shared.on_request() {
                self.serve_input(cx, input, slot, iteration);
            }
            losers.remove(input);
            let pair = self.granted_pair(cx, slot, iteration);
            self.transfer(cx, (input, slot), (output, pair));
        });
        losers
    }

    /// Those of some input ports whose nominee does not have to wait for the signal since a grant of this iteration.
    #[cold]
    fn unheld<M: Run>(
        &self,
        cx: &Context<'_, W, M>,
        mut inputs: Mask<W>,
        nominee: &Array<u16, W>,
    ) -> Mask<W> {
        inputs.for_each(|input| {
            if cx.is_held(self.number, nominee[input] as usize) {
                inputs.remove(input);
            }
        });
        inputs
    }

    /// The pair that the head of a slot is granted: the one it asks for; with FlexVC that one or any below of the same port.
    #[inline]
    fn granted_pair<M: Run>(&self, cx: &Context<'_, W, M>, slot: usize, iteration: u32) -> usize {
        let request = self.router.slots[slot].request as usize;
        if !cx.shared.flexible() || M::FULL && self.router.choosing.contains(slot) {
            return request;
        }
        let class = cx.shared.tables.pair(request).class;
        if class == TERMINAL {
            return request;
        }
        let first = cx.shared.block(request);
        let highest = (request - first) as u8;
        let vc = if cx.shared.requests.joins_shortest {
            let row = self.router.credits.row(first);
            let credits = |vc: u8| row[(first + vc as usize) % 64];
            roomiest((highest, cx.shared.capacities[class as usize % 4]), credits)
        } else {
            self.select_vc_by_rank(cx, highest, slot, iteration)
        };
        first + vc as usize
    }

    // Out of line, so that joining the shortest queue does not pay for preparing the others.
    #[inline(never)]
    fn select_vc_by_rank<M: Run>(
        &self,
        cx: &Context<'_, W, M>,
        highest: u8,
        slot: usize,
        iteration: u32,
    ) -> u8 {
        let Some(flex) = cx.shared.base.vcs().flex() else { return highest };
        let Slot { queue: Queue { front: packet, .. }, request } = self.router.slots[slot];
        let output = cx.shared.tables.pair_port(request as usize);
        let base = cx.shared.block(request as usize);
        let credits = |vc| self.router.credits[base + vc as usize];
        let length = u32::from(cx.kernel.packets.get(packet).length);
        let mut attempt =
            Attempt { cx, router: cx.kernel.span.router(self.number), packet, iteration, stream: None };
        flex.select_by_rank(output, highest, (credits, length), &mut attempt)
    }

    /// `Ejection::IdleNode`: the node behind `output` is still absorbing a packet.
    #[inline]
    fn refuses<M: Run>(&self, cx: &Context<'_, W, M>, output: usize) -> bool {
        cx.shared.idle_node()
            && self.router.ports[output].class == TERMINAL
            && !self.extras.node_is_idle((self.number, self.router), output, (&cx.shared, cx.kernel.now))
    }

    /// The output arbiter of `output` has served `input`.
    #[inline]
    fn serve_output<M: Run>(
        &mut self,
        cx: &Context<'_, W, M>,
        output: usize,
        input: usize,
        (class, iteration): (usize, u32),
    ) {
        // Past the last port the search wraps round by itself.
        self.router.ports[output].out_pointer[class] = input as u16 + 1;
        if cx.shared.output_stamps() {
            self.stamp_output(
                (output, input),
                cx.shared.tables.input_count,
                cx.shared.moment(cx.kernel.now, iteration),
            );
        }
    }

    /// The input arbiter of `input` has served `slot`.
    #[inline]
    fn serve_input<M: Run>(&mut self, cx: &Context<'_, W, M>, input: usize, slot: usize, iteration: u32) {
        self.router.ports[input].in_pointer = (slot as u8).wrapping_add(1) % 64;
        if cx.shared.input_stamps() {
            self.stamp_input(slot, cx.shared.moment(cx.kernel.now, iteration));
        }
    }

    /// A least-recently-served output arbiter remembers whom it served.
    #[cold]
    fn stamp_output(&mut self, (output, input): (usize, usize), inputs: usize, moment: u64) {
        self.extras.output_stamps[(self.number * inputs + output) * inputs + input] = moment + 1;
    }

    /// A least-recently-served input arbiter remembers whom it served.
    #[cold]
    fn stamp_input(&mut self, slot: usize, moment: u64) {
        self.extras.input_stamps[join::<W>(self.number as u32, slot) as usize] = moment + 1;
    }
}
