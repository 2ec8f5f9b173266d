//! What the heads of the injection VCs wait for, cycle by cycle: see [`RecordStream::InjectionWaits`]. Looked at only in runs
//! that ask for it, from outside: it changes nothing.
//!
//! [`RecordStream::InjectionWaits`]: crate::config::measure::RecordStream::InjectionWaits

use super::mode::Mode;
use super::routers::global;
use super::simulation::Simulation;
use crate::measure::recorder::WaitReason;
use crate::network::{NONE, TERMINAL};
use std::ops::Range;

/// A head that could be granted in this cycle.
pub struct Candidate {
    router: usize,
    slot: usize,
    node: usize,
    /// Source and serial number: packets that leave make room for others with the same id.
    packet: (u32, u32),
    reason: WaitReason,
}

impl<const W: usize, M: Mode> Simulation<'_, W, M> {
    /// The heads of the injection VCs of some routers, each with what it waits for if it is not granted in this cycle.
    #[cold]
    pub(super) fn injection_heads(&self, routers: &Range<u32>) -> Vec<Candidate> {
        let layout = &self.context.plan.network.layout;
        let terminal_slots =
            (0..layout.slots()).filter(|&slot| layout.class[layout.slot_port[slot] as usize] == TERMINAL);
        let slots: Vec<usize> = terminal_slots.collect();
        let heads = routers.clone().flat_map(|router| slots.iter().map(move |&slot| (router as usize, slot)));
        heads.filter_map(|(router, slot)| self.candidate(router, slot)).collect()
    }

    /// Counts a cycle of waiting for each of them that has not been granted.
    #[cold]
    pub(super) fn count_injection_waits(&mut self, heads: &[Candidate]) {
        for head in heads {
            if self.head_packet(head.router, head.slot) == Some(head.packet) {
                self.context.recorder.waited(head.node, head.reason);
            }
        }
    }

    fn head_packet(&self, router: usize, slot: usize) -> Option<(u32, u32)> {
        let id = self.routers[router].slots[slot].queue.front;
        (id != NONE).then(|| {
            let packet = self.context.packets.get(id);
            (packet.source, packet.serial)
        })
    }

    fn candidate(&self, router: usize, slot: usize) -> Option<Candidate> {
        let packet = self.head_packet(router, slot)?;
        let input = self.context.tables.slot_input(slot);
        let (terminal, _) = self.context.injection_vc(input, slot);
        let node = router * self.context.rules.nodes_per_router as usize + terminal;
        Some(Candidate { router, slot, node, packet, reason: self.reason(router, slot, (input, node)) })
    }

    /// What a head waits for if it is not granted: of several outputs it may use, the one that lacks least counts.
    fn reason(&self, router: usize, slot: usize, (input, node): (usize, usize)) -> WaitReason {
        let cx = &self.context;
        if cx.sat.as_ref().is_some_and(|sat| sat.is_exhausted(node)) {
            return WaitReason::Sat;
        }
        if self.routers[router].ports[input].in_free > cx.now
            || self.extras.is_leaving((router, slot), cx.now)
        {
            return WaitReason::Input;
        }
        let options = self.options(global::<W>(router as u32, slot));
        let reasons = options.into_iter().map(|pair| self.lack(router, slot, pair));
        match reasons.min().unwrap_or(WaitReason::Credits) {
            WaitReason::Arbitration if cx.rules.ipr > 0.0 && cx.transit_priority(router) => WaitReason::Ipr,
            reason => reason,
        }
    }

    /// What an output VC or entry lacks for the head of a slot.
    fn lack(&self, router: usize, slot: usize, pair: usize) -> WaitReason {
        let (cx, state) = (&self.context, &self.routers[router]);
        let phits = u32::from(cx.packets.get(state.slots[slot].queue.front).length);
        let length = cx.space(phits);
        let real = cx.output_vc(pair);
        let port = cx.tables.pair_port(real);
        let vc = real - cx.tables.port(port).pair_base as usize;
        let is_link = cx.tables.port(port).class != TERMINAL;
        let adaptive = is_link && state.choosing.contains(slot) && vc > 0;
        if state.credits[real] < length {
            WaitReason::Credits
        } else if real != pair && state.credits[pair] < length {
            WaitReason::Bubble
        } else if adaptive && state.credits[real] < length + cx.lbr() {
            WaitReason::Lbr
        } else if state.ports[port].out_ready > cx.now || self.is_full(router, port, phits) {
            WaitReason::Output
        } else {
            WaitReason::Arbitration
        }
    }

    /// What the time from which an output is ready does not tell: its queue has no room for a packet of `length` phits,
    /// though for a shorter one, or its node is taking a packet.
    fn is_full(&self, router: usize, port: usize, length: u32) -> bool {
        let (cx, extras) = (&self.context, &self.extras);
        let first = global::<W>(router as u32, port) as usize * extras.ring;
        let departures =
            (first..first + extras.ring).filter(|&place| extras.departures[place] > 0).map(|place| {
                let length = extras.lengths.get(place).map_or(cx.rules.shortest, |&length| u32::from(length));
                (extras.departures[place] - 1, length)
            });
        let terminal = cx.tables.port(port).class == TERMINAL;
        if cx.idle_node()
            && terminal
            && departures.clone().any(|(at, length)| at < cx.now && cx.now < at + length)
        {
            return true;
        }
        let queued: u32 = departures.filter(|&(at, _)| at >= cx.now).map(|(_, length)| length).sum();
        cx.mixed() && extras.ring > 0 && queued + length > cx.rules.output_buffer
    }
}
