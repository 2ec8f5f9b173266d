//! Links: packets on their way to the next port, and credits on their way back.

use crate::Fact;
use crate::simulator::{Packet, Reference};
use hopsim_infiniband::fabric::{Fabric, FlowControl, NONE};
use hopsim_infiniband::time::Ticks;
use hopsim_infiniband::workload::Workload;

/// The link that leaves a port.
pub struct Link {
    /// Packets whose heads have left the port and have not arrived.
    pub flights: Vec<Flight>,
    /// Packets whose heads have arrived, until their tails have.
    pub ending: Vec<Flight>,
    /// Blocks that the port may still send, by VL.
    pub credits: Vec<u32>,
    /// Whether the port is stalled for credits, by VL.
    pub stalled: Vec<bool>,
    /// Credits on their way to the port.
    pub returning: Vec<Returning>,
}

/// A packet whose head is on a link.
#[derive(Clone, Copy)]
pub struct Flight {
    pub packet: usize,
    /// When the head of the packet arrives.
    pub head: Ticks,
    /// When the tail of the packet arrives.
    pub tail: Ticks,
}

/// Credits on their way.
pub struct Returning {
    pub at: Ticks,
    pub lane: usize,
    pub blocks: u32,
}

/// What a port knows of pauses.
pub struct Pausing {
    /// The VLs that the other end of the link should not send in.
    pub wanted: Vec<bool>,
    /// The last frame that was sent: when, and what it said.
    pub last: Option<(Ticks, Vec<bool>)>,
    /// Frames on the link from the port, with when all of each has arrived.
    pub frames: Vec<(Ticks, Vec<bool>)>,
    /// When the frame on the link from the port is over.
    pub link_free: Ticks,
    /// Until when the port is paused, by VL, if it is.
    pub paused: Vec<Option<Ticks>>,
}

impl Pausing {
    /// A port that is not paused and pauses nobody.
    pub fn new(lanes: u8) -> Self {
        let lanes = usize::from(lanes);
        Self {
            wanted: vec![false; lanes],
            last: None,
            frames: Vec::new(),
            link_free: 0,
            paused: vec![None; lanes],
        }
    }
}

impl Link {
    /// An idle link from a port: the buffer at its end is empty.
    pub fn new(fabric: &Fabric, port: usize) -> Self {
        let peer = fabric.ports[port].peer;
        let buffer = if peer == NONE { 0 } else { fabric.ports[peer as usize].buffer };
        let credits = vec![buffer; usize::from(fabric.lanes.count)];
        let stalled = vec![false; credits.len()];
        Self { flights: Vec::new(), ending: Vec::new(), credits, stalled, returning: Vec::new() }
    }
}

impl<W: Workload> Reference<W> {
    /// Step 1: credits that are due are there.
    pub fn credits_arrive(&mut self) {
        for port in 0..self.links.len() {
            let now = self.now;
            let due: Vec<Returning> =
                self.links[port].returning.extract_if(.., |each| each.at == now).collect();
            for Returning { lane, blocks, .. } in due {
                self.links[port].credits[lane] += blocks;
                self.look_for_congestion(port, lane);
            }
        }
    }

    /// A packet is promised room in the buffer at the other end of the link of a port.
    pub fn promise(&mut self, port: usize, packet: Packet) {
        if let FlowControl::Credits { .. } = self.fabric.flow_control {
            self.links[port].credits[packet.lane] -= packet.blocks();
        }
    }

    /// A packet has left the buffer of a port: the sender at the other end of the link will hear of it.
    pub fn return_credits(&mut self, port: usize, packet: Packet) {
        let FlowControl::Credits { delay } = self.fabric.flow_control else {
            return self.buffer_has_changed(port, packet.lane);
        };
        let sender = self.fabric.ports[port].peer as usize;
        if self.failing.out[sender] {
            return;
        }
        let at = self.now + self.fabric.ports[sender].delay + delay;
        self.links[sender].returning.push(Returning { at, lane: packet.lane, blocks: packet.blocks() });
    }

    /// The head of a packet goes onto the link of a port.
    pub fn goes_onto_link(&mut self, port: usize, packet: usize) {
        let told = self.packets[packet].told;
        self.facts.push(Fact::OnLink { at: self.now, packet: told, port: port as u32 });
        let head = self.now + self.fabric.ports[port].delay;
        let tail = head + self.time_on_link(port, packet);
        self.links[port].flights.push(Flight { packet, head, tail });
    }

    /// What a packet takes on the link that leaves a port.
    pub fn time_on_link(&self, port: usize, packet: usize) -> Ticks {
        self.packets[packet].bytes() * self.fabric.ports[port].byte
    }

    /// Step 4, first half: the heads that are due arrive, at hosts and at switches.
    pub fn heads_arrive(&mut self) {
        for port in 0..self.links.len() {
            let Some(sender) = self.peer(port) else { continue };
            let now = self.now;
            let due: Vec<Flight> =
                self.links[sender].flights.extract_if(.., |each| each.head == now).collect();
            self.links[sender].ending.retain(|each| each.tail >= now);
            for flight in due {
                self.links[sender].ending.push(flight);
                if self.fabric.is_host(port as u32) {
                    self.head_at_host(port, &flight);
                } else {
                    self.head_at_switch(port, &flight);
                }
            }
        }
    }

    /// The port at the other end of the link of a port.
    pub fn peer(&self, port: usize) -> Option<usize> {
        let peer = self.fabric.ports[port].peer;
        (peer != NONE).then_some(peer as usize)
    }
}
