//! What the heads of the injection VCs wait for, cycle by cycle: see [`RecordStream::InjectionWaits`]. Looked at only in runs
//! that ask for it, from outside: it changes nothing.
//!
//! Heads are looked at before the allocation, in cycles in which their input port is free; if they are granted, that cycle is
//! taken back ([`WaitCounts::granted`]). All other cycles from their first to their last they have waited for the port.
//!
//! [`RecordStream::InjectionWaits`]: crate::config::measure::RecordStream::InjectionWaits

use crate::engine::kernel::Kernel;
use crate::engine::mode::Mode;
use crate::engine::region::Region;
use crate::measure::recorder::{WaitCounts, WaitReason};
use crate::network::{NONE, TERMINAL};
use std::ops::Range;

/// An input of the crossbar for packets of a node.
struct Injection {
    input: usize,
    /// Its slots.
    slots: Range<usize>,
    /// Terminal port of the node.
    terminal: usize,
}

impl<const W: usize, M: Mode> Region<'_, W, M> {
    /// Counts this cycle for the heads of the injection VCs.
    pub(super) fn count_injection_waits(&mut self) {
        if !self.context.kernel.worker.recorder.is_measuring() {
            return;
        }
        let Some(mut waits) = self.context.kernel.worker.recorder.waits.take() else { return };
        let injections = self.injections();
        let always = self.context.sat.is_some() || self.context.kernel.shared.parallel();
        for number in 0..self.routers.len() {
            if always || !self.routers[number].is_idle::<M>() {
                self.count_waits_in(number, (&injections, always), &mut waits);
            }
        }
        self.context.kernel.worker.recorder.waits = Some(waits);
    }

    /// Counts, at the end of the run, the cycles of the heads that still wait.
    pub(super) fn settle_injection_waits(&mut self) {
        let injections = self.injections();
        for number in 0..self.routers.len() {
            for Injection { slots, terminal, .. } in &injections {
                for slot in slots.clone() {
                    let head = self.routers[number].slots[slot].queue.front;
                    if head != NONE {
                        let arrived = self.context.kernel.packets.get(head).arrived;
                        self.context.end_injection_wait((number, *terminal), slot, arrived);
                    }
                }
            }
        }
    }

    fn injections(&self) -> Vec<Injection> {
        let tables = &self.context.kernel.shared.tables;
        let ports = (0..tables.input_count).map(|input| (input, tables.port(input)));
        let injections = ports.filter(|(_, port)| port.class == TERMINAL).map(|(input, port)| {
            let first = port.slot_base as usize;
            let slots = first..first + port.field.count_ones() as usize;
            Injection { input, slots, terminal: port.injects_for as usize }
        });
        injections.collect()
    }

    /// The same in one router; `always`: also where the input port is busy.
    #[inline]
    fn count_waits_in(
        &self,
        number: usize,
        (injections, always): (&[Injection], bool),
        waits: &mut WaitCounts,
    ) {
        let (router, cx) = (&self.routers[number], &self.context);
        for Injection { input, slots, terminal } in injections {
            let busy = router.ports[*input].in_free > cx.kernel.now;
            if busy && !always {
                continue;
            }
            let node = number * cx.kernel.shared.rules.nodes_per_router as usize + terminal;
            for slot in slots.clone() {
                if router.slots[slot].queue.front != NONE {
                    let reason = self.reason((number, slot), (busy, node));
                    waits.count(
                        cx.kernel.span.node(node) as usize,
                        cx.kernel.network_id(number, slot),
                        reason,
                    );
                }
            }
        }
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
        let plain = !cx.kernel.shared.flexible()
            && !cx.kernel.shared.mixed()
            && !cx.kernel.shared.idle_node()
            && cx.kernel.shared.bubble() == 0
            && cx.kernel.shared.lbr() == 0;
        let reason = if plain && self.hopes_are_options((number, slot)) {
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
