//! What the heads of the injection VCs wait for, cycle by cycle. Heads are looked at only where an observer wants to hear of it,
//! and from outside: the look changes nothing.
//!
//! Heads are looked at before the allocation, in cycles in which their input port is free; if a head is granted, that cycle is
//! taken back ([`Observer::head_leaves`]). In all other cycles from its first to its last a head has waited for the port.

use crate::kernel::ids::{Id as _, Pair, RegionNode, RegionRouter, Slot, Terminal};
use crate::mode::Mode;
use crate::node::Run;
use crate::observer::{Observer, WaitReason};
use crate::router::cioq::mask::Mask;
use crate::router::cioq::options::Inspection;
use crate::router::cioq::shared::Shared;
use crate::system::System;
use hopsim_network::network::{NONE, TERMINAL};

/// What the observer of a mode keeps of the places of a region.
type PlacesOf<M> = <<M as Mode>::Observer as Observer>::Places;

/// How the heads of injection VCs are looked at in a run.
pub struct InjectionWaits<const W: usize> {
    /// Slots of injection VCs -- constant.
    slots: Mask<Slot, W>,
    /// Whether heads that ask for nothing may wait, and those whose input port is busy -- constant.
    any_head: bool,
    /// Whether all packets need the same room, and an output VC stands for itself alone -- constant.
    plain: bool,
}

impl<const W: usize> InjectionWaits<W> {
    /// The way to look at heads for a run that asks for these counts.
    pub fn new<M: Mode>(system: &System, shared: &Shared<'_, M>) -> Self {
        let layout = &system.network.layout;
        let injects =
            |&slot: &usize| layout.slot_vc(slot).is_some_and(|(port, _)| layout.class[port] == TERMINAL);
        let exact = shared.flexible() || shared.mixed() || shared.idle_node();
        Self {
            slots: (0..layout.slots()).filter(injects).map(Slot::at).collect(),
            any_head: system.control.sat.is_some() || shared.parallel(),
            // Nodes that take packets from all input VCs at once are never among the output VCs that heads wait for.
            plain: !exact && !shared.parallel() && shared.bubble() == 0 && shared.lbr() == 0,
        }
    }

    /// Counts this cycle for the heads of the injection VCs.
    pub fn count<M: Run>(&self, region: &Inspection<'_, '_, W, M>, places: &mut PlacesOf<M>) {
        for number in region.routers.ids() {
            self.heads(region, number).for_each(|slot| self.count_head(region, (number, slot), places));
        }
    }

    /// Heads of injection VCs that still wait, of all routers: the terminal port of their node, and their slot.
    pub fn left<M: Run>(&self, region: &Inspection<'_, '_, W, M>) -> Vec<(Terminal, Slot)> {
        let heads = region
            .routers
            .ids()
            .flat_map(|number| self.queued(region, number).iter().map(move |slot| (number, slot)));
        heads.map(|(router, slot)| (Terminal { router, port: region.terminal(slot) }, slot)).collect()
    }

    /// The injection slots whose heads may wait.
    #[inline]
    fn heads<M: Run>(&self, region: &Inspection<'_, '_, W, M>, number: RegionRouter) -> Mask<Slot, W> {
        if self.any_head {
            return self.queued(region, number);
        }
        let router = &region.routers[number];
        let mut heads = if M::FULL { router.choosing } else { Mask::EMPTY };
        router.wanted.for_each(|pair| heads |= router.wants[pair]);
        heads & self.slots
    }

    /// The injection slots with a head, which may ask for nothing.
    fn queued<M: Run>(&self, region: &Inspection<'_, '_, W, M>, number: RegionRouter) -> Mask<Slot, W> {
        let slots = &region.routers[number].slots;
        self.slots.iter().filter(|&slot| slots[slot].queue.front != NONE).collect()
    }

    /// Counts this cycle for a head, unless its input port is busy: that time follows from the other cycles.
    #[inline]
    fn count_head<M: Run>(
        &self,
        region: &Inspection<'_, '_, W, M>,
        (number, slot): (RegionRouter, Slot),
        places: &mut PlacesOf<M>,
    ) {
        let cx = region.context;
        let input = cx.shared.tables.slot_input(slot);
        let busy = region.routers[number].ports[input].in_free > cx.kernel.now;
        if busy && !self.any_head {
            return;
        }
        let terminal = Terminal { router: number, port: region.terminal(slot) };
        let node = terminal.node(cx.kernel.constants.nodes_per_router);
        let reason = region.reason((number, slot), (busy, node), self.plain);
        M::Observer::head_waits(places, node, number.slot::<W>(slot), reason);
    }
}

impl<const W: usize, M: Run> Inspection<'_, '_, W, M> {
    /// The terminal port of the node that injects by a slot.
    #[inline]
    fn terminal(&self, slot: Slot) -> usize {
        let tables = &self.context.shared.tables;
        tables.port(tables.slot_input(slot)).injects_for as usize
    }

    /// What a head waits for if it is not granted: of several outputs it may use, the output that lacks least counts.
    #[inline]
    fn reason(
        &self,
        (number, slot): (RegionRouter, Slot),
        (busy, node): (bool, RegionNode),
        plain: bool,
    ) -> WaitReason {
        let cx = &self.context;
        if cx.sat.as_ref().is_some_and(|sat| sat.is_exhausted(node)) {
            return WaitReason::Sat;
        }
        if busy || self.extras.is_leaving((number, slot), cx.kernel.now) {
            return WaitReason::Input;
        }
        let reason = if plain && self.candidates_are_options((number, slot)) {
            self.plain_lack(number, slot)
        } else {
            self.least_lack(number, slot)
        };
        match reason {
            WaitReason::Arbitration if self.draws_priority(number) => WaitReason::Ipr,
            reason => reason,
        }
    }

    /// Whether packets in transit go first in this cycle by in-transit priority restriction.
    fn draws_priority(&self, number: RegionRouter) -> bool {
        let cx = &self.context;
        cx.shared.allocation.ipr > 0.0
            && cx.shared.transit_priority(cx.kernel.span.router(number), cx.kernel.now)
    }

    /// Whether a head with a choice may use all the output VCs that it could be woken for: not where it has an escape VC, nor
    /// where it draws its path anew in every attempt.
    #[inline]
    fn candidates_are_options(&self, (number, slot): (RegionRouter, Slot)) -> bool {
        let chooses = M::FULL && self.routers[number].choosing.contains(slot);
        !chooses
            || !self.context.kernel.constants.system.topology.has_escape()
                && !self.extras.choices.chooser(number, slot).prospect.draws_anew()
    }

    /// What the outputs of a head lack where all packets need the same room and an output VC stands for itself alone.
    #[inline]
    fn plain_lack(&self, number: RegionRouter, slot: Slot) -> WaitReason {
        let router = &self.routers[number];
        let (credit, free) = if M::FULL && router.choosing.contains(slot) {
            let choices = &self.extras.choices;
            let credit = choices.chooser(number, slot).candidates & router.credit;
            (!credit.is_empty(), !choices.waiting.free_outputs(number, credit).is_empty())
        } else {
            let pair = router.slots[slot].request();
            let ready = router.ports[self.context.shared.tables.pair_port(pair)].out_ready;
            (router.credit.contains(pair), ready <= self.context.kernel.now)
        };
        match (credit, free) {
            (false, _) => WaitReason::Credits,
            (true, false) => WaitReason::Output,
            (true, true) => WaitReason::Arbitration,
        }
    }

    /// What the outputs of a head lack, whatever room packets need: the least that one of them lacks.
    fn least_lack(&self, number: RegionRouter, slot: Slot) -> WaitReason {
        let mut least = WaitReason::Credits;
        self.each_option((number, slot), |pair| least = least.min(self.lack(number, slot, pair)));
        least
    }

    /// What an output VC or entry lacks for the head of a slot.
    pub fn lack(&self, router: RegionRouter, slot: Slot, pair: Pair) -> WaitReason {
        let (cx, state) = (&self.context, &self.routers[router]);
        let phits = u32::from(cx.kernel.packets.get(state.slots[slot].queue.front).length);
        let length = cx.shared.space(phits);
        let real = cx.shared.output_vc(pair);
        let port = cx.shared.tables.pair_port(real);
        let vc = real.above(cx.shared.tables.port(port).pair(0));
        let is_link = cx.shared.tables.port(port).class != TERMINAL;
        let injects = state.ports[cx.shared.tables.slot_input(slot)].class == TERMINAL;
        let adaptive = is_link && injects && state.choosing.contains(slot) && vc > 0;
        if cx.lacks_room(state, real, length) {
            WaitReason::Credits
        } else if real != pair && state.credits[pair] < length {
            WaitReason::Bubble
        } else if adaptive && state.credits[real] < length + cx.shared.lbr() {
            WaitReason::Lbr
        } else if state.ports[port].out_ready > cx.kernel.now || self.is_full(router, port, phits) {
            WaitReason::Output
        } else {
            WaitReason::Arbitration
        }
    }

    /// Whether an output cannot take a packet though the time from which it is ready does not tell: its queue has no room for a
    /// packet of `length` phits, though for a shorter one, or its node is taking a packet.
    fn is_full(&self, number: RegionRouter, port: usize, length: u32) -> bool {
        let (shared, now) = (&self.context.shared, self.context.kernel.now);
        let router = (number, &self.routers[number]);
        let terminal = shared.tables.port(port).class == TERMINAL;
        (shared.idle_node() && terminal && !self.extras.node_is_idle(router, port, (shared, now)))
            || (shared.mixed() && self.extras.room(router, port, (&shared.crossing, length)) > now)
    }
}
