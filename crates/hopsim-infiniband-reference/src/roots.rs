//! Flows that are held up, and by which ports.

use crate::simulator::{Packet, Reference};
use crate::switch::Waiting;
use hopsim_infiniband::engine::Held;
use hopsim_infiniband::fabric::blocks;
use hopsim_infiniband::time::Ticks;
use hopsim_infiniband::workload::Workload;

/// What a packet waits for: credits of a port in a VL for so many blocks, and then its turn.
#[derive(Clone, Copy)]
struct Want {
    port: usize,
    lane: usize,
    blocks: u32,
}

impl<W: Workload> Reference<W> {
    /// The flows that were held up at the end of the last tick, ascending.
    pub fn held_up(&self) -> Vec<Held> {
        let Some(at) = self.now.checked_sub(1) else { return Vec::new() };
        let mut wants = self.wants_in_switches(at);
        for (flow, want) in wants.iter_mut().enumerate() {
            let host = self.flows[flow].source as usize;
            let next = Want { port: host, lane: self.lane_of(flow), blocks: blocks(self.next_bytes(flow)) };
            if want.is_none() && self.wants_to_send(flow, at) && !self.has_credits(next) {
                *want = Some((u32::MAX, next));
            }
        }
        let held = |(flow, want): (usize, Option<(u32, Want)>)| {
            want.map(|(_, want)| Held { flow: flow as u32, root: self.root(want, &[], at) as u32 })
        };
        wants.into_iter().enumerate().filter_map(held).collect()
    }

    /// The number of each flow's first packet of those that wait in a switch, and what its queue waits for.
    fn wants_in_switches(&self, at: Ticks) -> Vec<Option<(u32, Want)>> {
        let mut first: Vec<Option<(u32, Want)>> = vec![None; self.flows.len()];
        for input in self.switch_ports() {
            for output in self.siblings(input) {
                for lane in 0..usize::from(self.fabric.lanes.count) {
                    let waiting: Vec<Packet> = self
                        .waiting(input, output, lane, at)
                        .map(|waiting| self.packets[waiting.packet])
                        .collect();
                    for packet in waiting.iter().filter(|packet| !packet.told.is_notification) {
                        let want = Want { port: output, lane, blocks: waiting[0].blocks() };
                        let first = &mut first[packet.told.flow as usize];
                        if first.is_none_or(|(number, _)| packet.told.number < number) {
                            *first = Some((packet.told.number, want));
                        }
                    }
                }
            }
        }
        first
    }

    /// The packets of a queue that may be granted as far as time goes, and have not been.
    fn waiting(&self, input: usize, output: usize, lane: usize, at: Ticks) -> impl Iterator<Item = &Waiting> {
        let queue = self.queue(input, output, lane).iter().skip(self.crossing(input, output, lane));
        queue.filter(move |each| self.may_be_granted_by_time(each, at))
    }

    fn has_credits(&self, Want { port, lane, blocks }: Want) -> bool {
        self.may_leave(port, lane, blocks)
    }

    /// The root of a want, which stands for those of `before`.
    fn root(&self, want: Want, before: &[usize], at: Ticks) -> usize {
        let Want { port, lane, .. } = want;
        let Some(peer) = self.peer(port).filter(|&peer| !self.fabric.is_host(peer as u32)) else {
            return port;
        };
        if self.has_credits(want) || self.failing.out[port] {
            return port;
        }
        // What has been in the buffer behind the link longest of all that waits there.
        let in_buffer = self.siblings(peer).flat_map(|output| {
            self.waiting(peer, output, lane, at).map(move |waiting| (waiting.head, output, waiting.packet))
        });
        let Some((_, output, packet)) = in_buffer.min() else { return port };
        let before = [before, &[port]].concat();
        if before.contains(&output) {
            return port;
        }
        self.root(Want { port: output, lane, blocks: self.packets[packet].blocks() }, &before, at)
    }
}
