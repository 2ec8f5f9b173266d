//! What the heads of injection VCs wait for, for the record stream `injection_waits`: see *Measurement* in `docs/model.md`.

use crate::simulator::Simulator;
use crate::state::packet::{Packet, Role};
use crate::state::parts::Resident;
use crate::state::place::{Place, Request};
use hopsim_cycles::choices::Ejection;
use hopsim_cycles::observer::WaitReason;
use hopsim_experiment::config::measure::RecordStream;

/// A head that could be granted in this cycle.
pub(crate) struct InjectionHead {
    node: u32,
    packet: usize,
    reason: WaitReason,
}

impl Simulator<'_> {
    /// The heads of all injection VCs, each with what it waits for if it is not granted in this cycle; none if nobody asks.
    pub(crate) fn heads_at_injection(&self) -> Vec<InjectionHead> {
        let measure = &self.plan.experiment.measure;
        let window = measure.warmup.cycles()..measure.warmup.cycles() + measure.cycles;
        if !measure.streams.contains(&RecordStream::InjectionWaits) || !window.contains(&self.now) {
            return Vec::new();
        }
        let mut heads = Vec::new();
        for (router, parts) in self.routers.iter().enumerate() {
            for (port, input) in parts.inputs.iter().enumerate() {
                // Not every router has nodes.
                let Some((node, _)) = input.node.filter(|&(node, _)| node < self.nics.len()) else {
                    continue;
                };
                for vc in 0..input.vcs.len() {
                    let Some(packet) = self.next_in((router, port, vc)) else { continue };
                    let reason = self.reason((router, port, vc), packet);
                    heads.push(InjectionHead { node: node as u32, packet, reason });
                }
            }
        }
        heads
    }

    /// Counts a cycle of waiting for each of the heads that has not been granted.
    pub(crate) fn count_waits(&mut self, heads: Vec<InjectionHead>) {
        for head in heads {
            if self.packets[head.packet].trace.hops.is_empty() {
                *self.waits.entry((head.node, head.reason as usize)).or_default() += 1;
            }
        }
    }

    /// The packet of a VC that goes next: behind the one that is leaving, if there is one.
    fn next_in(&self, (router, port, vc): Place) -> Option<usize> {
        let input = &self.routers[router].inputs[port];
        let leaving = usize::from(input.leaving().any(|passage| passage.vc == vc));
        let &Resident { packet, arrived, .. } = input.vcs[vc].get(leaving)?;
        (arrived + self.plan.system.cioq().pipeline_latency <= self.now).then_some(packet)
    }

    /// What a head waits for: of several outputs that it may use, the one that lacks least counts.
    fn reason(&self, place: Place, packet: usize) -> WaitReason {
        let (router, port, vc) = place;
        if self.awaits_signal(router, port) {
            return WaitReason::Sat;
        }
        let input = &self.routers[router].inputs[port];
        let leaves = input.consumptions.iter().any(|passage| passage.vc == vc);
        if leaves || input.transfers.iter().any(|transfer| self.share_an_input(transfer.vc, vc)) {
            return WaitReason::Input;
        }
        let lacks = self.options(place, 0).into_iter().map(|to| self.lack(place, packet, to));
        match lacks.min().unwrap_or(WaitReason::Credits) {
            WaitReason::Arbitration if self.plan.system.control.ipr > 0.0 && self.transit_first(router) => {
                WaitReason::Ipr
            }
            reason => reason,
        }
    }

    /// What an output VC lacks for a head.
    pub(crate) fn lack(&self, place: Place, packet: usize, to: Request) -> WaitReason {
        let Packet { length, role, .. } = self.packets[packet];
        let output = &self.routers[place.0].outputs[to.port];
        if output.is_terminal() {
            let node = place.0 * self.nodes_per_router + to.port;
            return match role {
                Role::Request(kind) if self.nics[node].reply_space[kind] < length => WaitReason::Credits,
                _ if !self.takes_all() && self.is_busy(place.0, to.port, length) => WaitReason::Output,
                _ => WaitReason::Arbitration,
            };
        }
        let (vc, room) = (to.vc as usize, self.space(length));
        if !output.has_room(vc, room) {
            WaitReason::Credits
        } else if !output.has_room(vc, room + self.left_free(place, to)) {
            if self.enters_ring(place, to) { WaitReason::Bubble } else { WaitReason::Lbr }
        } else if self.is_busy(place.0, to.port, length) {
            WaitReason::Output
        } else {
            WaitReason::Arbitration
        }
    }

    /// Whether an output cannot take a packet of `length` phits now, wherever it goes from there.
    fn is_busy(&self, router: usize, port: usize, length: u32) -> bool {
        let output = &self.routers[router].outputs[port];
        let full = match self.plan.system.cioq().output_buffer {
            Some(size) => !output.takes(length, size),
            None => output.link_free(self.now) > self.now + self.plan.system.cioq().crossbar_latency,
        };
        let node_decides = output.is_terminal() && self.plan.system.cioq().ejection == Ejection::IdleNode;
        full || output.closed.is_some()
            || if node_decides { output.mid_packet() } else { self.is_held(router, port) }
    }
}
