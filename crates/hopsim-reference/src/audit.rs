//! What must hold between any two cycles.

use crate::room::Ring;
use crate::simulator::Simulator;
use crate::state::packet::Phit;
use crate::state::parts::{Input, Output, Queued};
use hopsim_cycles::choices::InjectionLink;
use std::collections::BTreeMap;

impl Simulator<'_> {
    /// Panics unless phits are conserved and every buffer's space is accounted for.
    pub fn audit(&self) {
        self.audit_phits();
        self.audit_rings();
        for (router, parts) in self.routers.iter().enumerate() {
            for (port, input) in parts.inputs.iter().enumerate() {
                self.audit_shares(input);
                for vc in 0..input.vcs.len() {
                    let place = format!("cycle {}, router {router} input {port} VC {vc}", self.now);
                    let present: u32 = input.vcs[vc].iter().map(|r| r.phits - r.crossed).sum();
                    // Over an unlimited wire several short packets may come while a longer one before them still crosses.
                    let at_once = self.plan.system.nic.injection_link == InjectionLink::Unlimited
                        && self.plan.system.shortest_packet() < self.plan.system.longest_packet();
                    let fits = present <= input.capacity || (input.is_terminal() && at_once);
                    assert!(fits, "{place}: {present} phits do not fit");
                    if self.moves_flits() {
                        self.audit_flits((router, port), vc);
                        self.audit_injection((router, port), vc);
                        continue;
                    }
                    let taken = self.committed(input, vc);
                    if let Some((peer, back)) = input.peer {
                        let output = &self.routers[peer].outputs[back];
                        let known = taken + self.ahead_of(output, vc);
                        assert_eq!(output.used(vc), known, "{place}: space is lost or invented");
                    }
                    // Not every router has nodes.
                    if let Some((node, first)) = input.node
                        && let Some(nic) = self.nics.get(node)
                    {
                        let all = nic.free[first + vc] + taken;
                        assert_eq!(all, input.capacity, "{place}: space is lost or invented");
                    }
                }
            }
        }
    }

    /// Panics unless every flit that an output VC has sent is in the queue of its port, on the link, in the input VC behind it or has a
    /// credit that waits or is on its way back.
    fn audit_flits(&self, (router, port): (usize, usize), vc: usize) {
        let input = &self.routers[router].inputs[port];
        let Some((peer, back)) = input.peer else { return };
        let output = &self.routers[peer].outputs[back];
        let present = self.flits_of(input, vc) + self.queued(peer, back, vc) + self.untold(router, port, vc);
        let returning = output.credit_wire.0.iter().filter(|(_, credit)| credit.0 == vc).count() as u32;
        let place = format!("cycle {}, router {peer} output {back} VC {vc}", self.now);
        assert_eq!(output.used(vc), present + returning, "{place}: credits are lost or invented");
    }

    /// Panics unless every flit that takes room of an injection VC for its node has not been sent, is on the wire or in the VC, or the node
    /// will hear that it has left.
    fn audit_injection(&self, (router, port): (usize, usize), vc: usize) {
        let input = &self.routers[router].inputs[port];
        let Some((node, first)) = input.node else { return };
        let Some(nic) = self.nics.get(node) else { return };
        let is_there = |packet: usize| self.packets[packet].lost.is_none();
        let of_vc = nic.sending.iter().filter(|s| s.vc == first + vc && !s.by_flits && is_there(s.packet));
        let unsent: u32 = of_vc.map(|s| self.packets[s.packet].length - s.sent).sum();
        let returning = nic.credit_wire.0.iter().filter(|(_, of)| *of == first + vc).count() as u32;
        let present = self.flits_of(input, vc) + self.untold(router, port, vc);
        let all = nic.free[first + vc] + unsent + present + returning;
        assert_eq!(all, input.capacity, "cycle {}, node {node} VC {vc}: room is lost or invented", self.now);
    }

    /// Flits in an input VC or on the wire to it, without those of lost packets.
    fn flits_of(&self, input: &Input, vc: usize) -> u32 {
        let is_there = |packet: usize| self.packets[packet].lost.is_none();
        let coming =
            input.wire.0.iter().filter(|(_, flit)| flit.vc == vc && is_there(flit.packet)).count() as u32;
        coming + input.vcs[vc].iter().map(|r| r.phits - r.crossed).sum::<u32>()
    }

    /// Panics if a ring is full: one of its buffers must have room for a packet.
    fn audit_rings(&self) {
        if self.plan.system.network.classes.links[0].bubble == 0 {
            return;
        }
        let mut free: BTreeMap<Ring, u32> = BTreeMap::new();
        for (router, parts) in self.routers.iter().enumerate() {
            for (port, output) in parts.outputs.iter().enumerate() {
                let Some((peer, back)) = output.peer else { continue };
                let input = &self.routers[peer].inputs[back];
                for vc in 0..input.vcs.len() {
                    let Some(ring) = self.ring(router, port, vc as u8) else { continue };
                    let waits = |q: &&Queued| q.packet.is_some() && q.vc == vc && q.sent == 0;
                    let waiting =
                        output.queue.iter().filter(waits).map(|q| self.space(q.length)).sum::<u32>();
                    let left = output.buffer - self.committed(input, vc) - waiting;
                    *free.entry(ring).or_default() += left / self.plan.system.longest_packet();
                }
            }
        }
        for (ring, packets) in free {
            assert!(packets > 0, "cycle {}: ring {ring:?} is full", self.now);
        }
    }

    /// Panics if a shared buffer holds more than it can.
    fn audit_shares(&self, input: &Input) {
        let Some((peer, back)) = input.peer else { return };
        let Some(shares) = self.routers[peer].outputs[back].shares else { return };
        let present: u32 = input.vcs.iter().flatten().map(|r| r.phits - r.crossed).sum();
        let size = shares.reserve * input.vcs.len() as u32 + shares.pool;
        assert!(present <= size, "cycle {}: {present} phits share a buffer of {size}", self.now);
    }

    /// Room that packets take whose head is on the wire or in the buffer, not yet granted an output.
    fn committed(&self, input: &Input, vc: usize) -> u32 {
        let is_head = |p: &&Phit| p.index == 0 && p.vc == vc;
        let coming = input.wire.0.iter().map(|(_, phit)| phit).filter(is_head).map(|p| p.packet);
        let granted = input.leaving().filter(|t| t.vc == vc).count();
        let waiting = input.vcs[vc].iter().skip(granted).map(|r| r.packet);
        let space = |packet: usize| {
            let length = self.packets[packet].length;
            if input.is_terminal() { length } else { self.space(length) }
        };
        coming.chain(waiting).filter(|&packet| self.packets[packet].lost.is_none()).map(space).sum()
    }

    /// Room of a VC for packets that still wait in the output queue, and for those whose credit is on its way back.
    fn ahead_of(&self, output: &Output, vc: usize) -> u32 {
        let length =
            |packet| output.outstanding[vc].iter().find(|o| o.packet == packet).map_or(0, |o| o.length);
        let returning: u32 =
            output.credit_wire.0.iter().filter(|(_, c)| c.0 == vc).map(|(_, c)| length(c.1)).sum();
        let is_there = |packet: usize| self.packets[packet].lost.is_none();
        let waits = |q: &&Queued| q.packet.is_some_and(is_there) && q.vc == vc && q.sent == 0;
        returning + output.queue.iter().filter(waits).map(|q| self.space(q.length)).sum::<u32>()
    }

    /// Panics unless every phit of an admitted packet is in one place.
    fn audit_phits(&self) {
        let mut phits: Vec<u32> = self.packets.iter().map(|p| p.absorbed + p.discarded).collect();
        for s in self.nics.iter().flat_map(|nic| &nic.sending) {
            phits[s.packet] += self.packets[s.packet].length - s.sent;
        }
        for router in &self.routers {
            for input in &router.inputs {
                input.wire.0.iter().for_each(|(_, phit)| phits[phit.packet] += 1);
                input.vcs.iter().flatten().for_each(|r| phits[r.packet] += r.phits - r.crossed);
            }
            if let Some(flits) = &router.flits {
                for (port, queue) in flits.queues.iter().enumerate() {
                    let all = queue.waiting.iter().chain(flits.on_their_way(port));
                    all.for_each(|queued| phits[queued.flit.0] += 1);
                }
            }
            for output in &router.outputs {
                let inside = output.crossbar.0.iter().chain(&output.bypass.0);
                inside.for_each(|(_, (packet, _))| phits[*packet] += 1);
                for queued in &output.queue {
                    queued.packet.iter().for_each(|&packet| phits[packet] += queued.phits - queued.sent);
                }
            }
        }
        for (packet, &phits) in self.packets.iter().zip(&phits) {
            let expected = if packet.admitted.is_some() { packet.length } else { 0 };
            assert_eq!(
                phits, expected,
                "cycle {}: phits of {:?} are lost or invented",
                self.now, packet.trace
            );
        }
    }
}
