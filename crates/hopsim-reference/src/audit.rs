//! What must hold between any two cycles.

use crate::parts::{Input, Output, Phit};
use crate::simulator::Simulator;

impl Simulator<'_> {
    /// Panics unless phits are conserved and every buffer's space is accounted for.
    pub fn audit(&self) {
        self.audit_phits();
        for (router, parts) in self.routers.iter().enumerate() {
            for (port, input) in parts.inputs.iter().enumerate() {
                for vc in 0..input.vcs.len() {
                    let place = format!("cycle {}, router {router} input {port} VC {vc}", self.now);
                    let present: u32 = input.vcs[vc].iter().map(|r| r.phits - r.crossed).sum();
                    assert!(present <= input.capacity, "{place}: {present} phits do not fit");
                    let (free, returning, leaving) = match input.peer {
                        Some((peer, back)) => ahead_of(&self.routers[peer].outputs[back], vc),
                        None if input.terminal => {
                            (self.nics[router * self.nodes_per_router + port].free[vc], 0, 0)
                        }
                        None => continue,
                    };
                    let taken = self.committed(input, vc);
                    assert_eq!(
                        free + returning + leaving + taken,
                        input.capacity,
                        "{place}: space is lost or invented"
                    );
                }
            }
        }
    }

    /// Phits of packets whose head is on the wire or in the buffer, not yet granted an output.
    fn committed(&self, input: &Input, vc: usize) -> u32 {
        let is_head = |p: &&Phit| p.index == 0 && p.vc == vc;
        let coming = input.wire.0.iter().map(|(_, phit)| phit).filter(is_head).map(|p| p.packet);
        let granted = usize::from(input.transfer.as_ref().is_some_and(|t| t.vc == vc));
        let waiting = input.vcs[vc].iter().skip(granted).map(|r| r.packet);
        coming.chain(waiting).map(|packet| self.packets[packet].length).sum()
    }

    /// Every phit of an admitted packet is in one place.
    fn audit_phits(&self) {
        let mut phits: Vec<u32> = self.packets.iter().map(|p| p.absorbed).collect();
        for s in self.nics.iter().flat_map(|nic| &nic.sending) {
            phits[s.packet] += self.packets[s.packet].length - s.sent;
        }
        for router in &self.routers {
            for input in &router.inputs {
                input.wire.0.iter().for_each(|(_, phit)| phits[phit.packet] += 1);
                input.vcs.iter().flatten().for_each(|r| phits[r.packet] += r.phits - r.crossed);
            }
            for output in &router.outputs {
                output.crossbar.0.iter().for_each(|(_, (packet, _))| phits[*packet] += 1);
                output.queue.iter().for_each(|q| phits[q.packet] += q.phits - q.sent);
            }
        }
        for (packet, &phits) in self.packets.iter().zip(&phits) {
            let expected = if packet.admitted { packet.length } else { 0 };
            assert_eq!(
                phits, expected,
                "cycle {}: phits of {:?} are lost or invented",
                self.now, packet.trace
            );
        }
    }
}

/// Credits of a VC, those on their way back, and phits of packets that still wait in the output queue.
fn ahead_of(output: &Output, vc: usize) -> (u32, u32, u32) {
    let returning = output.credit_wire.0.iter().filter(|(_, c)| c.0 == vc).map(|(_, c)| c.1).sum();
    let leaving = output.queue.iter().filter(|q| q.vc == vc && q.sent == 0).map(|q| q.length).sum();
    (output.credits[vc], returning, leaving)
}
