//! What the heads of the injection VCs wait for, cycle by cycle: see [`RecordStream::InjectionWaits`]. Looked at only in runs
//! that ask for it, from outside: it changes nothing.
//!
//! Heads are looked at before the allocation, in cycles in which their input port is free; if they are granted, that cycle is
//! taken back ([`WaitCounts::granted`]). All other cycles from their first to their last they have waited for the port.
//!
//! [`RecordStream::InjectionWaits`]: crate::config::measure::RecordStream::InjectionWaits

use crate::engine::kernel::Kernel;
use crate::engine::mask::Mask;
use crate::engine::mode::Mode;
use crate::engine::region::Region;
use crate::engine::shared::Shared;
use crate::measure::recorder::{WaitCounts, WaitReason};
use crate::network::{NONE, TERMINAL};

/// How the heads of injection VCs are looked at in a run.
pub struct InjectionWaits<const W: usize> {
    /// Slots of injection VCs -- constant.
    slots: Mask<W>,
    /// Whether heads that ask for nothing may wait, and those whose input port is busy -- constant.
    any_head: bool,
    /// Whether all packets need the same room, and an output VC stands for itself alone -- constant.
    plain: bool,
}

impl<const W: usize> InjectionWaits<W> {
    /// For a run that asks for them.
    pub fn new<M: Mode>(shared: &Shared<'_, W, M>) -> Self {
        let layout = &shared.plan.network.layout;
        let injects = |&slot: &usize| {
            layout.slot_vc(slot).is_some_and(|(port, _)| layout.class[port] == TERMINAL)
        };
        let exact = shared.flexible() || shared.mixed() || shared.idle_node();
        Self {
            slots: (0..layout.slots()).filter(injects).collect(),
            any_head: shared.plan.control.sat.is_some() || shared.parallel(),
            plain: !exact && shared.bubble() == 0 && shared.lbr() == 0,
        }
    }
}

impl<const W: usize, M: Mode> Region<'_, W, M> {
    /// Counts this cycle for the heads of the injection VCs.
    pub(super) fn count_injection_waits(&mut self) {
        let recorder = &mut self.context.kernel.worker.recorder;
        if !recorder.is_measuring() {
            return;
        }
        let Some(mut counts) = recorder.waits.take() else { return };
        for number in 0..self.routers.len() {
            self.injection_heads(number).for_each(|slot| self.count_wait((number, slot), &mut counts));
        }
        self.context.kernel.worker.recorder.waits = Some(counts);
    }

    /// Counts, at the end of the run, the cycles of the heads that still wait.
    pub(super) fn settle_injection_waits(&mut self) {
        for number in 0..self.routers.len() {
            for slot in self.queued_heads(number).iter() {
                let head = self.routers[number].slots[slot].queue.front;
                let arrived = self.context.kernel.packets.get(head).arrived;
                let terminal = self.terminal(slot);
                self.context.end_injection_wait((number, terminal), slot, arrived);
            }
        }
    }

    /// The injection slots whose heads may wait.
    #[inline]
    fn injection_heads(&self, number: usize) -> Mask<W> {
        if self.waits.any_head {
            return self.queued_heads(number);
        }
        let router = &self.routers[number];
        let mut heads = if M::FULL { router.choosing } else { Mask::EMPTY };
        router.wanted.for_each(|pair| heads |= router.wants[pair]);
        heads & self.waits.slots
    }

    /// The injection slots with a head, which may ask for nothing.
    fn queued_heads(&self, number: usize) -> Mask<W> {
        let slots = &self.routers[number].slots;
        self.waits.slots.iter().filter(|&slot| slots[slot].queue.front != NONE).collect()
    }

    /// The terminal port of the node that injects by a slot.
    #[inline]
    fn terminal(&self, slot: usize) -> usize {
        let tables = &self.context.kernel.shared.tables;
        tables.port(tables.slot_input(slot)).injects_for as usize
    }

    /// Counts this cycle for a head, unless its input port is busy: that follows from the other cycles.
    #[inline]
    fn count_wait(&self, (number, slot): (usize, usize), counts: &mut WaitCounts) {
        let kernel = &self.context.kernel;
        let input = kernel.shared.tables.slot_input(slot);
        let busy = self.routers[number].ports[input].in_free > kernel.now;
        if busy && !self.waits.any_head {
            return;
        }
        let node = number * kernel.shared.rules.nodes_per_router as usize + self.terminal(slot);
        let reason = self.reason((number, slot), (busy, node));
        counts.count(kernel.span.node(node) as usize, kernel.network_id(number, slot), reason);
    }

    /// What a head waits for if it is not granted: of several outputs it may use, the one that lacks least counts.
    #[inline]
    fn reason(&self, (number, slot): (usize, usize), (busy, node): (bool, usize)) -> WaitReason {
        let cx = &self.context;
        if cx.sat.as_ref().is_some_and(|sat| sat.is_exhausted(node)) {
            return WaitReason::Sat;
        }
        if busy || self.extras.is_leaving((number, slot), cx.kernel.now) {
            return WaitReason::Input;
        }
        let reason = if self.waits.plain && self.hopes_are_options((number, slot)) {
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
    fn draws_priority(&self, number: usize) -> bool {
        let cx = &self.context;
        cx.kernel.shared.rules.ipr > 0.0
            && cx.kernel.shared.transit_priority(cx.kernel.span.router(number), cx.kernel.now)
    }

    /// Whether a head with a choice may use all the output VCs that it could be woken for: not where it has an escape VC, nor
    /// where it draws its path anew in every attempt.
    #[inline]
    fn hopes_are_options(&self, (number, slot): (usize, usize)) -> bool {
        let chooses = M::FULL && self.routers[number].choosing.contains(slot);
        !chooses
            || !self.context.kernel.shared.plan.topology.has_escape()
                && !self.extras.choices.chooser(number, slot).prospect.anywhere
    }

    /// What the outputs of a head lack where all packets need the same room and an output VC stands for itself alone.
    #[inline]
    fn plain_lack(&self, number: usize, slot: usize) -> WaitReason {
        let router = &self.routers[number];
        let (credit, free) = if M::FULL && router.choosing.contains(slot) {
            let choices = &self.extras.choices;
            let credit = choices.chooser(number, slot).hopes & router.credit;
            (!credit.is_empty(), !choices.waiting.free_outputs(number, credit).is_empty())
        } else {
            let pair = router.slots[slot].request as usize;
            let ready = router.ports[self.context.kernel.shared.tables.pair_port(pair)].out_ready;
            (router.credit.contains(pair), ready <= self.context.kernel.now)
        };
        match (credit, free) {
            (false, _) => WaitReason::Credits,
            (true, false) => WaitReason::Output,
            (true, true) => WaitReason::Arbitration,
        }
    }

    /// The same in general.
    fn least_lack(&self, number: usize, slot: usize) -> WaitReason {
        let mut least = WaitReason::Credits;
        self.each_option((number, slot), |pair| least = least.min(self.lack(number, slot, pair)));
        least
    }

    /// What an output VC or entry lacks for the head of a slot.
    fn lack(&self, router: usize, slot: usize, pair: usize) -> WaitReason {
        let (cx, state) = (&self.context, &self.routers[router]);
        let phits = u32::from(cx.kernel.packets.get(state.slots[slot].queue.front).length);
        let length = cx.kernel.shared.space(phits);
        let real = cx.kernel.shared.output_vc(pair);
        let port = cx.kernel.shared.tables.pair_port(real);
        let vc = real - cx.kernel.shared.tables.port(port).pair_base as usize;
        let is_link = cx.kernel.shared.tables.port(port).class != TERMINAL;
        let adaptive = is_link && state.choosing.contains(slot) && vc > 0;
        if state.credits[real] < length {
            WaitReason::Credits
        } else if real != pair && state.credits[pair] < length {
            WaitReason::Bubble
        } else if adaptive && state.credits[real] < length + cx.kernel.shared.lbr() {
            WaitReason::Lbr
        } else if state.ports[port].out_ready > cx.kernel.now || self.is_full(router, port, phits) {
            WaitReason::Output
        } else {
            WaitReason::Arbitration
        }
    }

    /// What the time from which an output is ready does not tell: its queue has no room for a packet of `length` phits,
    /// though for a shorter one, or its node is taking a packet.
    fn is_full(&self, number: usize, port: usize, length: u32) -> bool {
        let Kernel { shared, now, .. } = &self.context.kernel;
        let (router, rules) = ((number, &self.routers[number]), &shared.rules);
        let terminal = shared.tables.port(port).class == TERMINAL;
        (shared.idle_node() && terminal && !self.extras.node_is_idle(router, port, (shared, *now)))
            || (shared.mixed() && self.extras.room(router, port, (rules, length)) > *now)
    }
}
