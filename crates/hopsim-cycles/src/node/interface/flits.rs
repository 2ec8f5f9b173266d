//! Nodes of virtual-channel routers: the wire to an injection VC has credits like any other link, and carries flits.
//!
//! The packets that a pattern draws set out as soon as there is room for a flit, if those in the network do (wormhole switching); their
//! other flits follow as there is room. All others set out when there is room for the whole packet.

use crate::choices::VcReuse;
use crate::kernel::Kernel;
use crate::kernel::by::By;
use crate::kernel::ids::{Id as _, RegionNode, Terminal};
use crate::kernel::packet::{Candidate, Waiting};
use crate::kernel::wheel::Wheel;
use crate::kernel::wires::Arrival;
use crate::mode::Mode;
use crate::node::interface::Interfaces;
use crate::system::{RouterPlan, System};
use serde::{Deserialize, Serialize};

/// The packet on a wire whose other flits wait for room.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Unsent {
    /// The injection VC.
    vc: u8,
    /// Flits that have not been sent; 0: there is no such packet.
    flits: u16,
}

/// What a node remembers of the flits that it sends.
#[derive(Clone, Copy, Debug, Default)]
struct FlitNode {
    /// The packet that has been begun, by wire.
    unsent: [Unsent; 2],
    /// Whether the node sends a packet only if there is room for all of it -- constant.
    by_packets: bool,
}

/// What the nodes of a region remember of the flits that they send.
pub struct FlitWires {
    nodes: By<RegionNode, FlitNode>,
    /// The wires with a packet whose other flits wait for room, in no particular order.
    begun: Vec<(RegionNode, u8)>,
    /// Flits that have left an injection VC, of which their node has not heard.
    credits: Wheel<(RegionNode, u8)>,
    /// Flits that must find room for a packet to set out by flits -- constant.
    needed: u32,
}

/// What a node remembers of the flits that it sends, in a snapshot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlitWiresState {
    unsent: [Unsent; 2],
    /// Cycle and injection VC of the credits that are on their way to the node.
    credits: Vec<(u32, u8)>,
}

impl FlitWiresState {
    /// Flits that have not been sent of the packet that has been begun by injection VC `vc`, if there is one.
    pub(super) fn unsent(&mut self, vc: usize) -> Option<&mut u16> {
        let begun = |unsent: &&mut Unsent| unsent.flits > 0 && usize::from(unsent.vc) == vc;
        self.unsent.iter_mut().find(begun).map(|unsent| &mut unsent.flits)
    }
}

impl FlitWires {
    /// The wires of the nodes of a region, the first of which is `first` in the network; none if the routers take whole packets.
    pub fn new(system: &System, first: u32, nodes: usize) -> Option<Self> {
        let RouterPlan::VirtualChannel(router) = system.router else { return None };
        let draws = |node: u32| system.job_at(node as usize).is_some_and(|job| job.traffic().is_some());
        let node =
            |node| FlitNode { by_packets: router.whole_packets || !draws(node), ..FlitNode::default() };
        Some(Self {
            nodes: (first..first + nodes as u32).map(node).collect(),
            begun: Vec::new(),
            credits: Wheel::new(system.network.classes.terminal.latency + system.credit_backlog()),
            needed: match router.vc_reuse {
                VcReuse::Tail => 1,
                VcReuse::Credits => system.network.classes.terminal.buffer,
            },
        })
    }

    /// Whether the flits of a packet of a node wait for room one by one.
    fn sends_singly(&self, node: RegionNode, packet: Candidate) -> bool {
        !packet.reply && !self.nodes[node].by_packets
    }

    /// Whether a wire has a packet whose other flits wait for room.
    fn has_begun(&self, node: RegionNode, wire: usize) -> bool {
        self.nodes[node].unsent[wire].flits > 0
    }

    /// The first cycle of `now..end` in which flits may be sent or there is more room, else `end`.
    pub fn next(&self, now: u32, end: u32) -> u32 {
        if self.begun.is_empty() { self.credits.next_before(now, end) } else { now }
    }

    /// The state of a node in cycle `now`.
    pub fn save(&self, node: RegionNode, now: u32) -> FlitWiresState {
        let pending = self.credits.pending(now).filter(|(_, (whose, _))| *whose == node);
        FlitWiresState {
            unsent: self.nodes[node].unsent,
            credits: pending.map(|(at, &(_, vc))| (at, vc)).collect(),
        }
    }

    /// Goes on with the state of a node.
    pub fn load(&mut self, node: RegionNode, state: &FlitWiresState) {
        let FlitWiresState { unsent, credits } = state;
        self.nodes[node].unsent = *unsent;
        let begun = (0..).zip(unsent).filter(|(_, unsent)| unsent.flits > 0);
        self.begun.extend(begun.map(|(wire, _)| (node, wire)));
        for &(at, vc) in credits {
            self.credits.push(at, (node, vc));
        }
    }

    /// Flits that have left injection VC `vc` of a node without its knowing.
    #[cfg(feature = "trace")]
    pub fn unheard(&self, node: RegionNode, vc: usize) -> u32 {
        self.credits.iter().filter(|&&(whose, of)| whose == node && usize::from(of) == vc).count() as u32
    }
}

impl Interfaces {
    /// How many flits or phits of a packet of `node` an injection VC must have room for, for the packet to set out.
    #[inline]
    pub(super) fn needed(&self, node: RegionNode, packet: Candidate) -> u32 {
        match &self.flits {
            Some(flits) if flits.sends_singly(node, packet) => flits.needed,
            _ => packet.length,
        }
    }

    /// How many flits or phits of a packet of `node` the wire takes, one behind the other, when the packet sets out.
    #[inline]
    pub(super) fn sent(&self, node: RegionNode, packet: Candidate) -> u32 {
        match &self.flits {
            Some(flits) if flits.sends_singly(node, packet) => 1,
            _ => packet.length,
        }
    }

    /// Whether a packet of `node`, a reply or another one, must wait until the one before it on the wire has been sent.
    pub(super) fn has_unsent(&self, node: RegionNode, wire: usize, reply: bool) -> bool {
        !reply && self.flits.as_ref().is_some_and(|flits| flits.has_begun(node, wire))
    }

    /// What nodes do first in a cycle: they learn of room, and send the next flits of packets that they have begun.
    pub fn send_flits<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>) {
        let Some(mut flits) = self.flits.take() else { return };
        let heard = flits.credits.take(kernel.now);
        for &(node, vc) in &heard {
            self.buffers[node.index() * self.vcs + usize::from(vc)].used -= 1;
            self.wake_for_room::<M>(kernel.now, node);
        }
        flits.credits.put_back(heard);
        let mut begun = std::mem::take(&mut flits.begun);
        begun.retain(|&(node, wire)| self.send_flit(kernel, &mut flits, (node, usize::from(wire))));
        flits.begun = begun;
        self.flits = Some(flits);
    }

    /// Sends the next flit of the packet that a wire has begun, if wire and room allow it. Returns whether there are more.
    fn send_flit<M: Mode>(
        &mut self,
        kernel: &mut Kernel<'_, M>,
        flits: &mut FlitWires,
        (node, wire): (RegionNode, usize),
    ) -> bool {
        let unsent = &mut flits.nodes[node].unsent[wire];
        let vc = usize::from(unsent.vc);
        let buffer = &mut self.buffers[node.index() * self.vcs + vc];
        let nic = &mut self.nics[node];
        if nic.wire_free[wire] > kernel.now || buffer.used == self.size {
            return true;
        }
        buffer.used += 1;
        unsent.flits -= 1;
        nic.wire_free[wire] = kernel.now + 1;
        let is_last = unsent.flits == 0;
        if is_last {
            self.wake_for_wire(node, wire);
        }
        let slot = self.doors.injection(self.terminal(node), vc);
        kernel.flits.push(kernel.now + self.latency, slot);
        !is_last
    }

    /// Sends a packet by injection VC `vc` of `node`: all of it, or its first flit.
    pub(super) fn begin_flits<M: Mode>(
        &mut self,
        kernel: &mut Kernel<'_, M>,
        (node, vc): (RegionNode, usize),
        packet: &Waiting,
    ) {
        let sent = self.sent(node, packet.candidate());
        if self.counts_at_buffer::<M>() {
            self.count_injected(kernel, node, vc, packet.length);
        }
        self.buffers[node.index() * self.vcs + vc].used += sent;
        let slot = self.doors.injection(self.terminal(node), vc);
        let id = self.insert_packet(kernel, node, packet);
        kernel.arrivals.push(packet.arrived, Arrival { slot, packet: id });
        for flit in 1..sent {
            kernel.flits.push(packet.arrived + flit, slot);
        }
        let wire = self.ports * vc / self.vcs;
        if let Some(flits) = self.flits.as_mut().filter(|_| sent < packet.length) {
            let unsent = Unsent { vc: vc as u8, flits: (packet.length - sent) as u16 };
            flits.nodes[node].unsent[wire] = unsent;
            flits.begun.push((node, wire as u8));
        }
    }

    /// A flit has left an injection VC in this cycle, the tail of a packet of so many flits if it is one: its node will hear of the room,
    /// whose credit sets out at `returns`.
    pub fn leave_flit<M: Mode>(
        &mut self,
        kernel: &mut Kernel<'_, M>,
        (terminal, vc): (Terminal, usize),
        (returns, tail_of): (u32, Option<u32>),
    ) {
        let node = terminal.node(self.per_router);
        if let Some(flits) = &mut self.flits {
            flits.credits.push(returns + self.latency, (node, vc as u8));
        }
        if let Some(length) = tail_of.filter(|_| vc >= self.first_reply_vc) {
            self.release_reply(kernel, terminal, vc, (returns, length));
        }
    }

    /// The first cycle of `now..end` in which nodes send flits or learn of room for them, else `end`.
    pub fn next_flit(&self, now: u32, end: u32) -> u32 {
        self.flits.as_ref().map_or(end, |flits| flits.next(now, end))
    }

    /// Flits in injection VC `vc` of a node, or on their way there.
    #[cfg(feature = "trace")]
    pub fn injected_flits(&self, node: RegionNode, vc: usize) -> u32 {
        let unheard = self.flits.as_ref().map_or(0, |flits| flits.unheard(node, vc));
        // Not every router has nodes.
        self.buffers.get(node.index() * self.vcs + vc).map_or(0, |buffer| buffer.used - unheard)
    }
}
