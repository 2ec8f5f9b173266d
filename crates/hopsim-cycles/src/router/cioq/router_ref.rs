//! A router, to be read.

use crate::kernel::ids::{Id as _, Pair, RegionRouter, Slot};
use crate::node::Run;
use crate::router::cioq::context::Context;
use crate::router::cioq::draws::Attempt;
use crate::router::cioq::extras::Extras;
use crate::router::cioq::mask::Mask;
use crate::router::cioq::routers::Router;
use crate::router::cioq::shared::CAPACITIES;
use crate::router::cioq::tables::PairInfo;
use hopsim_network::network::TERMINAL;
use hopsim_routing::flexvc::roomiest;

/// One router and what only some configurations know of it.
#[derive(Clone, Copy)]
pub struct RouterRef<'a, const W: usize> {
    /// The number of the router in the region.
    pub number: RegionRouter,
    /// The state of the router.
    pub state: &'a Router<W>,
    /// State of all routers of the region that only some configurations need.
    pub extras: &'a Extras<W>,
}

impl<const W: usize> RouterRef<'_, W> {
    /// First cycle in which the output queue of `port`, if there is one, has room for `length` phits.
    pub fn room<M: Run>(&self, cx: &Context<'_, W, M>, port: usize, length: u32) -> u32 {
        self.extras.room((self.number, self.state), port, (&cx.shared.crossing, length))
    }

    /// Whether an output VC and its queue have room for a packet of `length` phits.
    pub fn has_room<M: Run>(&self, cx: &Context<'_, W, M>, pair: Pair, length: u32) -> bool {
        self.state.credits[pair] >= cx.shared.space(length)
            && self.room(cx, cx.shared.tables.pair_port(pair), length) <= cx.kernel.now
    }

    /// Whether the head of `slot` fits where it wants to go, with packets of several lengths.
    pub fn fits<M: Run>(&self, cx: &Context<'_, W, M>, slot: Slot) -> bool {
        self.fits_from(cx, slot) <= cx.kernel.now
    }

    /// The first cycle in which the head of `slot` fits where it wants to go, unless credits arrive before; never if the head
    /// waits for credits.
    fn fits_from<M: Run>(&self, cx: &Context<'_, W, M>, slot: Slot) -> u32 {
        let state = &self.state.slots[slot];
        let length = u32::from(cx.kernel.packets.get(state.queue.front).length);
        let pairs = cx.shared.pairs_up_to(state.request());
        let with_credit = pairs.filter(|&pair| self.state.credits[pair] >= cx.shared.space(length));
        let room = with_credit.map(|pair| self.room(cx, cx.shared.tables.pair_port(pair), length));
        room.min().unwrap_or(u32::MAX)
    }

    /// Whether the input port of a slot may not request yet.
    pub fn input_is_busy<M: Run>(&self, cx: &Context<'_, W, M>, slot: Slot) -> bool {
        self.state.ports[cx.shared.tables.slot_input(slot)].in_free > cx.kernel.now
    }

    /// Slots whose fixed request could be granted now, free input or not, and the cycle in which the next output with credit
    /// that somebody wants will be ready.
    #[inline]
    pub fn feasible<M: Run>(&self, cx: &Context<'_, W, M>) -> (Mask<Slot, W>, u32) {
        let (mut slots, mut ready) = (Mask::EMPTY, u32::MAX);
        (self.state.wanted & cx.reachable(self.state.credit)).for_each(|pair| {
            let at = self.state.ports[cx.shared.tables.pair_port(pair)].out_ready;
            if at <= cx.kernel.now {
                slots |= self.state.wants[pair];
            } else if cx.shared.patient() {
                ready = ready.min(at);
            }
        });
        if cx.shared.mixed() {
            for slot in slots.iter() {
                let from = self.fits_from(cx, slot);
                if from > cx.kernel.now {
                    slots.remove(slot);
                    ready = ready.min(from);
                }
            }
        }
        (self.vacated(cx, slots), ready)
    }

    /// The slots among `slots` that the packet before has left: a buffer sends one packet at a time, also where its port is not
    /// busy with packets that leave for nodes.
    #[inline]
    pub fn vacated<M: Run>(&self, cx: &Context<'_, W, M>, mut slots: Mask<Slot, W>) -> Mask<Slot, W> {
        if cx.shared.parallel() {
            slots.for_each(|slot| {
                if self.extras.is_leaving((self.number, slot), cx.kernel.now) {
                    slots.remove(slot);
                }
            });
        }
        slots
    }

    /// The slots among `slots` that belong to input ports in `losers` and could still be granted.
    #[inline]
    pub fn still_feasible<M: Run>(
        &self,
        cx: &Context<'_, W, M>,
        mut slots: Mask<Slot, W>,
        losers: Mask<usize, W>,
    ) -> Mask<Slot, W> {
        let mut left = Mask::EMPTY;
        if losers.is_empty() {
            return left;
        }
        let credit = cx.reachable(self.state.credit);
        losers.for_each(|input| {
            let info = cx.shared.tables.port(input);
            Mask::<usize, 1>::from_bits(slots.take_field(info.slot(0), info.field)).for_each(|bit| {
                let slot = info.slot(0).in_word(bit);
                let pair = self.state.slots[slot].request();
                let ready = self.state.ports[cx.shared.tables.pair_port(pair)].out_ready <= cx.kernel.now;
                let held = M::FULL && cx.is_held(self.number, slot);
                if ready && credit.contains(pair) && !held && (!cx.shared.mixed() || self.fits(cx, slot)) {
                    left.insert(slot);
                }
            });
        });
        left
    }

    /// The pair that the head of a slot is granted: the pair it asks for; of several VCs that it may use that pair or any below it.
    #[inline]
    pub fn granted_pair<M: Run>(&self, cx: &Context<'_, W, M>, slot: Slot, iteration: u32) -> Pair {
        let request = self.state.slots[slot].request();
        if !cx.shared.flexible() || M::FULL && self.state.choosing.contains(slot) {
            return request;
        }
        let PairInfo { class, rank: highest, .. } = cx.shared.tables.pair(request);
        if class == TERMINAL {
            return request;
        }
        let first = cx.shared.block(request);
        let vc = if cx.shared.requests.joins_shortest {
            let (row, start) = (self.state.credits.row(first), first.index());
            let credits = |vc: u8| row[(start + vc as usize) % 64];
            roomiest((highest, cx.shared.capacities[class as usize % CAPACITIES]), credits)
        } else {
            self.select_vc_by_rank(cx, highest, slot, iteration)
        };
        first.up(vc as usize)
    }

    // Out of line, so that joining the shortest queue does not pay for preparing the others.
    #[inline(never)]
    pub fn select_vc_by_rank<M: Run>(
        &self,
        cx: &Context<'_, W, M>,
        highest: u8,
        slot: Slot,
        iteration: u32,
    ) -> u8 {
        let Some(flex) = cx.shared.base.vcs().flex() else { return highest };
        let (packet, request) = (self.state.slots[slot].queue.front, self.state.slots[slot].request());
        let output = cx.shared.tables.pair_port(request);
        let base = cx.shared.block(request);
        let credits = |vc: u8| self.state.credits[base.up(vc as usize)];
        let length = u32::from(cx.kernel.packets.get(packet).length);
        let mut attempt =
            Attempt { cx, router: cx.kernel.span.router(self.number), packet, iteration, stream: None };
        flex.select_by_rank(output, highest, (credits, length), &mut attempt)
    }

    /// `Ejection::IdleNode`: whether the node behind `output` is still absorbing a packet.
    #[inline]
    pub fn refuses<M: Run>(&self, cx: &Context<'_, W, M>, output: usize) -> bool {
        cx.shared.idle_node()
            && self.state.ports[output].class == TERMINAL
            && !self.extras.node_is_idle((self.number, self.state), output, (&cx.shared, cx.kernel.now))
    }
}
