//! Network interfaces: generation, source queue, injection buffers and the wire to the router.

use crate::parts::{Packet, Phit};
use crate::simulator::Simulator;
use hopsim_core::config::{InjectionLink, InjectionVc};
use hopsim_core::plan::Plan;
use hopsim_core::rng::{Purpose, Stream};
use hopsim_core::routing::RouteState;
use hopsim_core::trace::PacketTrace;
use std::collections::VecDeque;

/// A packet on its way from a node to its router.
pub struct Sending {
    pub packet: usize,
    pub vc: usize,
    pub sent: u32,
}

/// A node's network interface.
pub struct Nic {
    /// Number of its job; `None`: idle.
    job: Option<usize>,
    process: Stream,
    pattern: Stream,
    injection_vc: Stream,
    /// Cycle of the next generation.
    next: Option<u32>,
    generated: u32,
    /// Packets that wait for an injection buffer.
    queue: VecDeque<usize>,
    /// Free phits of each injection VC.
    pub free: Vec<u32>,
    /// Injection VC whose turn it is.
    turn: usize,
    /// Packets whose phits are leaving; at most one on a serial wire.
    pub sending: Vec<Sending>,
}

impl Nic {
    pub fn new(plan: &Plan, node: usize) -> Self {
        let stream = |purpose| Stream::new(plan.experiment.measure.seed, purpose, node as u64);
        let terminal = plan.network.classes.terminal;
        let mut nic = Self {
            job: Some(plan.job_of[node]).filter(|&job| job != u8::MAX).map(usize::from),
            process: stream(Purpose::Process),
            pattern: stream(Purpose::Pattern),
            injection_vc: stream(Purpose::InjectionVc),
            next: None,
            generated: 0,
            queue: VecDeque::new(),
            free: vec![terminal.buffer; terminal.vcs as usize],
            turn: 0,
            sending: Vec::new(),
        };
        nic.next = nic.gap(plan).map(|gap| gap - 1);
        nic
    }

    fn gap(&mut self, plan: &Plan) -> Option<u32> {
        Some(plan.jobs[self.job?].process.gap(&mut self.process)).filter(|&gap| gap != u32::MAX)
    }

    /// The injection VC for a packet, `None` if it has to wait.
    fn choose_vc(&mut self, plan: &Plan, packet: &Packet) -> Option<usize> {
        let vcs = self.free.len();
        let room: Vec<usize> = (0..vcs).filter(|&vc| self.free[vc] >= packet.length).collect();
        match plan.nic.injection_vc {
            InjectionVc::Shortest => {
                let most = room.iter().map(|&vc| self.free[vc]).max()?;
                let best: Vec<usize> = room.into_iter().filter(|&vc| self.free[vc] == most).collect();
                let chosen = *best.iter().find(|&&vc| vc >= self.turn).or(best.first())?;
                self.turn = chosen + 1;
                Some(chosen)
            }
            InjectionVc::Destination => {
                let block = packet.trace.destination as usize * vcs / plan.network.nodes as usize;
                Some(block).filter(|vc| room.contains(vc))
            }
            InjectionVc::Random if room.is_empty() => None,
            InjectionVc::Random => Some(room[self.injection_vc.below(room.len() as u32) as usize]),
        }
    }
}

impl Simulator<'_> {
    /// One cycle of a node: generation, then admission, then the limit of the source queue.
    pub(crate) fn inject(&mut self, node: usize) {
        if self.nics[node].next == Some(self.now) {
            self.generate(node);
        }
        while self.admit(node) {}
        let nic = &mut self.nics[node];
        nic.queue.truncate(self.plan.nic.source_queue as usize);
    }

    fn generate(&mut self, node: usize) {
        let nic = &mut self.nics[node];
        let Some(job) = nic.job.map(|job| &self.plan.jobs[job]) else { return };
        let trace = PacketTrace {
            source: node as u32,
            serial: nic.generated,
            destination: job.pattern.destination(node as u32, &mut nic.pattern),
            generated: self.now,
            hops: Vec::new(),
            delivered: None,
        };
        nic.generated += 1;
        nic.next = nic.gap(self.plan).and_then(|gap| self.now.checked_add(gap));
        nic.queue.push_back(self.packets.len());
        let length = job.packet_length;
        self.packets.push(Packet { trace, length, route: RouteState::NEW, admitted: false, absorbed: 0 });
    }

    /// Lets the first packet of the source queue into an injection buffer; whether that was possible.
    fn admit(&mut self, node: usize) -> bool {
        let nic = &mut self.nics[node];
        let Some(&first) = nic.queue.front() else { return false };
        if self.plan.nic.injection_link == InjectionLink::Serial && !nic.sending.is_empty() {
            return false;
        }
        let packet = &mut self.packets[first];
        let Some(vc) = nic.choose_vc(self.plan, packet) else { return false };
        nic.queue.pop_front();
        nic.free[vc] -= packet.length;
        nic.sending.push(Sending { packet: first, vc, sent: 0 });
        packet.admitted = true;
        true
    }

    /// Moves one phit of each packet that leaves the node.
    pub(crate) fn send(&mut self, node: usize) {
        let (router, port) = (node / self.nodes_per_router, node % self.nodes_per_router);
        let input = &mut self.routers[router].inputs[port];
        let sending = &mut self.nics[node].sending;
        for packet in sending.iter_mut() {
            let phit = Phit { packet: packet.packet, index: packet.sent, vc: packet.vc };
            input.wire.push(self.now + input.latency, phit);
            packet.sent += 1;
        }
        sending.retain(|s| s.sent < self.packets[s.packet].length);
    }
}
