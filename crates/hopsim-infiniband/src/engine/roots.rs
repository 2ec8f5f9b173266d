//! Flows that are held up, and the outputs at which that begins: the roots of congestion.

use super::Simulation;
use super::deadlock::Buffer;
use crate::observer::Observer;
use crate::time::Ticks;
use crate::workload::Workload;
use std::collections::BTreeMap;

/// A flow that is held up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    /// The flow.
    pub flow: u32,
    /// The port that holds it up.
    pub root: u32,
}

/// Where the foremost packet of a flow waits: its number, its output, and blocks of the packet at the front of its queue.
type WaitingPlace = (u32, u32, u32);

impl<O: Observer, W: Workload> Simulation<'_, O, W> {
    /// The flows that are held up before anything happens at the time reached, ascending.
    pub fn held_up(&self) -> Vec<Held> {
        let Some(at) = self.now.checked_sub(1) else { return Vec::new() };
        let mut places = self.waiting_in_switches(at);
        for flow in 0..self.flows.len() as u32 {
            if let Some(blocks) = self.lacks_credits(flow, at) {
                let host = self.flows[flow as usize].source;
                places.entry(flow).or_insert((u32::MAX, host, blocks));
            }
        }
        let held = |(flow, (_, port, blocks)): (u32, WaitingPlace)| {
            let root = self.root(port, (self.senders[flow as usize].lane, blocks), at);
            Held { flow, root }
        };
        places.into_iter().map(held).collect()
    }

    /// Where the foremost packet of each flow waits, of those that wait in switches.
    fn waiting_in_switches(&self, at: Ticks) -> BTreeMap<u32, WaitingPlace> {
        let mut foremost: BTreeMap<u32, WaitingPlace> = BTreeMap::new();
        for buffer in self.buffers() {
            for (output, front) in self.fronts(buffer) {
                let blocks = self.packets.get(front).blocks();
                let queue = self.packets.line(front).take_while(|packet| self.may_go(packet.head, at));
                for name in queue.map(|packet| packet.name).filter(|name| !name.is_notification) {
                    let place = (name.number, output, blocks);
                    foremost.entry(name.flow).and_modify(|other| *other = place.min(*other)).or_insert(place);
                }
            }
        }
        foremost
    }

    /// The port at which begins what a packet of some blocks waits for in front of a port.
    fn root(&self, port: u32, (lane, mut blocks): (u8, u32), at: Ticks) -> u32 {
        let mut way = vec![port];
        loop {
            let port = way[way.len() - 1];
            let buffer = Buffer { input: self.fabric.ports[port as usize].peer, lane };
            let has_credits = self.credits[self.slot(port, lane)] >= blocks;
            if has_credits || self.is_out(port) || self.fabric.is_host(buffer.input) {
                return port;
            }
            let waits = |&(_, front): &(u32, u32)| self.may_go(self.packets.get(front).head, at);
            let longest =
                self.fronts(buffer).filter(waits).min_by_key(|&(_, front)| self.packets.get(front).head);
            match longest {
                Some((output, front)) if !way.contains(&output) => {
                    blocks = self.packets.get(front).blocks();
                    way.push(output);
                }
                _ => return port,
            }
        }
    }

    /// Whether a packet whose head arrived at `head` may be granted at `at`.
    fn may_go(&self, head: Ticks, at: Ticks) -> bool {
        head + self.fabric.switch.input_latency <= at
    }
}
