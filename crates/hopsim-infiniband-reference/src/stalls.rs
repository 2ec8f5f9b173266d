//! Links that are idle for want of credits.

use crate::Fact;
use crate::simulator::Reference;
use crate::switch::Waiting;
use hopsim_infiniband::fabric::blocks;
use hopsim_infiniband::time::Ticks;
use hopsim_infiniband::workload::Workload;

impl<W: Workload> Reference<W> {
    /// At the end of a tick: which ports are stalled in which VLs, where that has changed.
    pub fn look_for_stalls(&mut self) {
        for port in 0..self.links.len() {
            for lane in 0..usize::from(self.fabric.lanes.count) {
                let is_stalled = if self.fabric.is_host(port as u32) {
                    self.is_host_stalled(port, lane)
                } else {
                    self.is_output_stalled(port, lane)
                };
                if self.links[port].stalled[lane] != is_stalled {
                    self.links[port].stalled[lane] = is_stalled;
                    let (port, lane) = (port as u32, lane as u8);
                    self.facts.push(Fact::Stalled { at: self.now, port, lane, is_stalled });
                }
            }
        }
    }

    fn is_output_stalled(&self, output: usize, lane: usize) -> bool {
        let lacks_credits = |front: &Waiting| {
            self.may_be_granted_by_time(front, self.now)
                && !self.may_leave(output, lane, self.packets[front.packet].blocks())
        };
        self.blocks_in_output_buffer(output) == 0
            && self
                .siblings(output)
                .any(|input| self.queue(input, output, lane).front().is_some_and(lacks_credits))
    }

    fn is_host_stalled(&self, host: usize, lane: usize) -> bool {
        let answer = self.has_answer_without_credits(host, lane);
        let lacks_credits = |&flow: &usize| {
            self.lane_of(flow) == lane
                && self.wants_to_send(flow, self.now)
                && !self.may_leave(host, lane, blocks(self.next_bytes(flow)))
        };
        let data = self.is_bus_free(host) && self.hosts[host].flows.iter().any(lacks_credits);
        self.is_link_free(host) && (answer || data)
    }

    /// Whether the head of a packet arrived long enough ago for a grant.
    pub fn may_be_granted_by_time(&self, waiting: &Waiting, at: Ticks) -> bool {
        at >= waiting.head + self.fabric.switch.input_latency
    }
}
