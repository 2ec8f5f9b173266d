//! Packets that wait for each other in a circle, so that none of them can ever move.
//!
//! A packet at the front of a queue waits for room in the buffer behind its output. That buffer will have room if one of the
//! packets at the front of its own queues can move. What is left when nothing more can be found to be able to move never
//! moves, so a deadlock that is reported is one.

use super::Simulation;
use super::events::Step;
use super::pauses::FREE;
use crate::error::{Deadlock, Waiting};
use crate::fabric::NONE;
use crate::observer::Observer;
use crate::workload::Workload;

/// The buffer of an input of a switch for a VL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Buffer {
    /// The port.
    pub input: u32,
    /// The VL.
    pub lane: u8,
}

impl<O: Observer, W: Workload> Simulation<'_, O, W> {
    /// A circle of packets that wait for each other, if there is one.
    pub fn find_deadlock(&self) -> Option<Deadlock> {
        let credits = self.credits_to_come();
        let mut waiting: Vec<Buffer> = self.buffers().filter(|&buffer| !self.is_empty(buffer)).collect();
        let mut stuck = vec![false; credits.len()];
        for buffer in &waiting {
            stuck[self.slot(buffer.input, buffer.lane)] = true;
        }
        loop {
            let before = waiting.len();
            waiting.retain(|&buffer| {
                let waits = self.waits(buffer, &credits, &stuck);
                stuck[self.slot(buffer.input, buffer.lane)] = waits;
                waits
            });
            if waiting.is_empty() {
                return None;
            }
            if waiting.len() == before {
                return Some(self.circle(waiting[0]));
            }
        }
    }

    /// All buffers.
    pub(super) fn buffers(&self) -> impl Iterator<Item = Buffer> + use<O, W> {
        let lanes = self.fabric.lanes.count;
        let ports = self.fabric.hosts..self.fabric.ports.len() as u32;
        ports.flat_map(move |input| (0..lanes).map(move |lane| Buffer { input, lane }))
    }

    /// Credits of every sender when all that are under way have arrived.
    fn credits_to_come(&self) -> Vec<u32> {
        let mut credits = self.credits.clone();
        if let Some(pauses) = &self.pauses {
            for (sender, port) in (0..).zip(&self.fabric.ports).filter(|(_, port)| port.peer != NONE) {
                let wanted = pauses.wanted(port.peer);
                for lane in 0..self.fabric.lanes.count {
                    credits[self.slot(sender, lane)] = if wanted & 1 << lane == 0 { FREE } else { 0 };
                }
            }
        }
        for event in self.events.iter().filter(|event| event.step == Step::Credit) {
            credits[self.slot(event.port, (event.what >> 24) as u8)] += event.what & 0x00ff_ffff;
        }
        for event in self.events.iter().filter(|event| event.step == Step::Freed) {
            let (sender, packet) =
                (self.fabric.ports[event.port as usize].peer, self.packets.get(event.what));
            credits[self.slot(sender, packet.lane)] += packet.blocks();
        }
        credits
    }

    /// The packets at the front of the queues of a buffer, with their outputs.
    pub(super) fn fronts(&self, Buffer { input, lane }: Buffer) -> impl Iterator<Item = (u32, u32)> {
        let (_, first) = self.places.switch(input);
        let outputs = first..first + self.places.inputs(input);
        outputs
            .map(move |output| (output, self.voqs[self.voq(output, input, lane)].queue))
            .filter(|(_, queue)| !queue.is_empty())
            .map(|(output, queue)| (output, queue.front))
    }

    fn is_empty(&self, buffer: Buffer) -> bool {
        self.fronts(buffer).next().is_none()
    }

    /// Whether no packet of a buffer can move, as far as is known.
    fn waits(&self, buffer: Buffer, credits: &[u32], stuck: &[bool]) -> bool {
        self.transfers[buffer.input as usize] == 0
            && self.fronts(buffer).all(|(output, packet)| {
                let peer = self.fabric.ports[output as usize].peer;
                !self.fabric.is_host(peer)
                    && !self.is_out(output)
                    && credits[self.slot(output, buffer.lane)] < self.packets.get(packet).blocks()
                    && stuck[self.slot(peer, buffer.lane)]
            })
    }

    /// The circle that one follows from a buffer in which nothing moves.
    fn circle(&self, start: Buffer) -> Deadlock {
        let mut seen: Vec<(Buffer, Waiting)> = Vec::new();
        let mut buffer = start;
        loop {
            if let Some(first) = seen.iter().position(|(other, _)| *other == buffer) {
                return Deadlock { circle: seen[first..].iter().map(|&(_, waiting)| waiting).collect() };
            }
            let Some((output, packet)) = self.fronts(buffer).next() else {
                return Deadlock { circle: seen.iter().map(|&(_, waiting)| waiting).collect() };
            };
            seen.push((buffer, self.waiting(buffer, output, packet)));
            buffer = Buffer { input: self.fabric.ports[output as usize].peer, ..buffer };
        }
    }

    fn waiting(&self, Buffer { input, lane }: Buffer, output: u32, packet: u32) -> Waiting {
        let (switch, first) = self.places.switch(input);
        let packet = self.packets.get(packet);
        let flow = &self.flows[packet.name.flow as usize];
        let mut hosts = [flow.source, flow.destination];
        if packet.name.is_notification {
            hosts.reverse();
        }
        Waiting { switch, input: input - first, output: output - first, lane, hosts }
    }
}
