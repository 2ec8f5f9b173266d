//! What must hold between any two cycles.

use crate::parts::{Input, Output, Phit, Queued};
use crate::simulator::Simulator;

impl Simulator<'_> {
    /// Panics unless phits are conserved and every buffer's space is accounted for.
    pub fn audit(&self) {
        self.audit_phits();
        for (router, parts) in self.routers.iter().enumerate() {
            for (port, input) in parts.inputs.iter().enumerate() {
                self.audit_shares(input);
                for vc in 0..input.vcs.len() {
                    let place = format!("cycle {}, router {router} input {port} VC {vc}", self.now);
                    let present: u32 = input.vcs[vc].iter().map(|r| r.phits - r.crossed).sum();
                    assert!(present <= input.capacity, "{place}: {present} phits do not fit");
                    let taken = self.committed(input, vc);
                    match input.peer {
                        Some((peer, back)) => {
                            let output = &self.routers[peer].outputs[back];
                            let known = taken + ahead_of(output, vc);
                            assert_eq!(output.used(vc), known, "{place}: space is lost or invented");
                        }
                        None if input.is_terminal() => {
                            let free = self.nics[router * self.nodes_per_router + port].free[vc];
                            assert_eq!(free + taken, input.capacity, "{place}: space is lost or invented");
                        }
                        None => {}
                    }
                }
            }
        }
    }

    /// A shared buffer holds what it can.
    fn audit_shares(&self, input: &Input) {
        let Some((peer, back)) = input.peer else { return };
        let Some(shares) = self.routers[peer].outputs[back].shares else { return };
        let present: u32 = input.vcs.iter().flatten().map(|r| r.phits - r.crossed).sum();
        let size = shares.reserve * input.vcs.len() as u32 + shares.pool;
        assert!(present <= size, "cycle {}: {present} phits share a buffer of {size}", self.now);
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
                for queued in &output.queue {
                    queued.packet.iter().for_each(|&packet| phits[packet] += queued.phits - queued.sent);
                }
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

/// Phits of a VC that still wait in the output queue, and of packets whose credit is on its way back.
fn ahead_of(output: &Output, vc: usize) -> u32 {
    let length = |packet| output.outstanding[vc].iter().find(|o| o.packet == packet).map_or(0, |o| o.length);
    let returning: u32 =
        output.credit_wire.0.iter().filter(|(_, c)| c.0 == vc).map(|(_, c)| length(c.1)).sum();
    let waits = |q: &&Queued| q.packet.is_some() && q.vc == vc && q.sent == 0;
    returning + output.queue.iter().filter(waits).map(|q| q.length).sum::<u32>()
}
