//! The nodes' network interfaces: generation, source queue, injection buffers.

use super::context::{Arrival, Context};
use super::mode::Mode;
use super::packet::{Packet, Waiting};
use super::pool::{Pool, Queue};
use super::routers::global;
use super::wheel::Wheel;
use crate::config::{InjectionLink, InjectionVc};
use crate::network::{Classes, NONE};
use crate::plan::Plan;
use crate::rng::{Purpose, Stream};
use crate::routing::RouteState;

/// Buckets of the wheel of generations; a node whose gap is longer passes its bucket several times.
const SOURCE_BUCKETS: usize = 2048;

/// One network interface.
struct Nic {
    process: Stream,
    pattern: Stream,
    /// The source queue.
    queue: Queue,
    queued: u32,
    /// Packets generated so far.
    serial: u32,
    /// First cycle in which the wire to the router is free.
    wire_free: u32,
    /// Last cycle for which a wake-up was booked.
    woken_at: u32,
    /// Next generation.
    next_at: u32,
    /// Next node in the same bucket of the wheel.
    next_node: u32,
    /// Length of its packets -- constant.
    length: u32,
    /// Its job -- constant.
    job: u8,
    /// Where the search for the shortest injection VC starts.
    pointer: u8,
}

/// An injection buffer.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    /// Packets behind the head.
    behind: Queue,
    /// Occupied phits, the head included.
    used: u32,
}

/// All network interfaces.
pub struct Nics {
    /// By node.
    all: Vec<Nic>,
    /// By node · VCs + VC.
    buffers: Vec<Buffer>,
    waiting: Pool<Waiting>,
    /// First node of every bucket.
    buckets: Vec<u32>,
    /// Nodes whose wire becomes free while packets wait.
    wires: Wheel<u32>,
    /// Nodes whose injection buffers gained room in this cycle while packets wait.
    freed: Vec<u32>,
    /// Streams of the random injection VC policy; empty if unused.
    vc_streams: Vec<Stream>,
    policy: InjectionVc,
    serial_wire: bool,
    /// Most packets in a source queue -- constant.
    source_queue: u32,
    /// Size of an injection buffer -- constant.
    size: u32,
    latency: u32,
    vcs: usize,
    nodes: u32,
    nodes_per_router: u32,
}

impl Nics {
    /// Idle interfaces with their first generations booked.
    pub fn new(plan: &Plan) -> Self {
        let (nodes, seed) = (plan.network.nodes, plan.experiment.measure.seed);
        let Classes { terminal, .. } = plan.network.classes;
        let vcs = terminal.vcs as usize;
        let nic = |node: u32| Nic {
            process: Stream::new(seed, Purpose::Process, u64::from(node)),
            pattern: Stream::new(seed, Purpose::Pattern, u64::from(node)),
            queue: Queue::EMPTY,
            queued: 0,
            serial: 0,
            wire_free: 0,
            woken_at: 0,
            next_at: u32::MAX,
            next_node: NONE,
            length: plan.jobs.get(plan.job_of[node as usize] as usize).map_or(0, |job| job.packet_length),
            job: plan.job_of[node as usize],
            pointer: 0,
        };
        let policy = plan.nic.injection_vc;
        let random = if policy == InjectionVc::Random { nodes } else { 0 };
        let streams = (0..random).map(|n| Stream::new(seed, Purpose::InjectionVc, u64::from(n)));
        let mut state = Self {
            all: (0..nodes).map(nic).collect(),
            buffers: vec![Buffer { behind: Queue::EMPTY, used: 0 }; nodes as usize * vcs],
            waiting: Pool::new(),
            buckets: vec![NONE; SOURCE_BUCKETS],
            wires: Wheel::new(plan.longest_packet()),
            freed: Vec::new(),
            vc_streams: streams.collect(),
            policy,
            serial_wire: plan.nic.injection_link == InjectionLink::Serial,
            source_queue: plan.nic.source_queue,
            size: terminal.buffer,
            latency: terminal.latency,
            vcs,
            nodes,
            nodes_per_router: plan.topology.nodes_per_router(),
        };
        for node in 0..nodes as usize {
            if let Some(job) = plan.jobs.get(plan.job_of[node] as usize) {
                let gap = job.process.gap(&mut state.all[node].process);
                state.book(node, gap.saturating_sub(1));
            }
        }
        state
    }

    /// Packets in source queues and injection buffers, heads excepted.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Books the next generation of `node`, unless it is out of reach.
    #[inline]
    fn book(&mut self, node: usize, at: u32) {
        if at >= crate::plan::MAX_CYCLES {
            return;
        }
        let bucket = &mut self.buckets[at as usize % SOURCE_BUCKETS];
        let nic = &mut self.all[node];
        nic.next_at = at;
        nic.next_node = *bucket;
        *bucket = node as u32;
    }

    /// The injection VC with room for `length` phits that the policy picks for a packet to `destination`.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn choose_vc(&mut self, node: usize, destination: u32, length: u32) -> Option<usize> {
        let room = self.size - length;
        let buffers = &self.buffers[node * self.vcs..][..self.vcs];
        match self.policy {
            InjectionVc::Destination => {
                let vc = (u64::from(destination) * self.vcs as u64 / u64::from(self.nodes)) as usize;
                (buffers[vc].used <= room).then_some(vc)
            }
            InjectionVc::Shortest => {
                let mut vc = self.all[node].pointer as usize;
                let (mut least, mut best) = (u32::MAX, 0);
                for _ in 0..self.vcs {
                    if buffers[vc].used < least {
                        (least, best) = (buffers[vc].used, vc);
                        if least == 0 {
                            break;
                        }
                    }
                    vc = if vc + 1 == self.vcs { 0 } else { vc + 1 };
                }
                if least > room {
                    return None;
                }
                self.all[node].pointer = if best + 1 == self.vcs { 0 } else { best as u8 + 1 };
                Some(best)
            }
            InjectionVc::Random => {
                let with_room = || (0..buffers.len()).filter(|&vc| buffers[vc].used <= room);
                let count = with_room().count() as u32;
                let stream = &mut self.vc_streams[node];
                (count > 0).then(|| with_room().nth(stream.below(count) as usize)).flatten()
            }
        }
    }

    /// The injection VC that a packet may enter now, or `None`: then the node is woken when that can change.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn admission(&mut self, now: u32, node: usize, destination: u32, length: u32) -> Option<usize> {
        if self.serial_wire {
            let nic = &mut self.all[node];
            if now < nic.wire_free {
                if nic.woken_at != nic.wire_free {
                    nic.woken_at = nic.wire_free;
                    self.wires.push(nic.wire_free, node as u32);
                }
                return None;
            }
        }
        let vc = self.choose_vc(node, destination, length)?;
        self.all[node].wire_free = now + length;
        Some(vc)
    }
}

impl<const W: usize, M: Mode> Context<'_, W, M> {
    /// Injection from the source queues that can move again, then generation.
    pub fn run_nodes(&mut self) {
        let due = self.nics.wires.take(self.now);
        for &node in &due {
            self.drain_source(node as usize);
        }
        self.nics.wires.put_back(self.now, due);
        let mut freed = std::mem::take(&mut self.nics.freed);
        for node in freed.drain(..) {
            self.drain_source(node as usize);
        }
        self.nics.freed = freed;
        let bucket = self.now as usize % SOURCE_BUCKETS;
        let mut node = std::mem::replace(&mut self.nics.buckets[bucket], NONE);
        while node != NONE {
            let nic = &self.nics.all[node as usize];
            let (next, at) = (nic.next_node, nic.next_at);
            if at == self.now {
                self.generate(node as usize);
            } else {
                self.nics.book(node as usize, at);
            }
            node = next;
        }
    }

    #[inline]
    fn generate(&mut self, node: usize) {
        let nic = &mut self.nics.all[node];
        let (job_index, length) = (nic.job, nic.length);
        let job = &self.plan.jobs[job_index as usize];
        let destination = job.pattern.destination(node as u32, &mut nic.pattern);
        let next_at = self.now.saturating_add(job.process.gap(&mut nic.process));
        let packet = Waiting { next: NONE, destination, generated: self.now, serial: nic.serial, arrived: 0 };
        nic.serial += 1;
        let first = nic.queue.is_empty();
        let full = nic.queued >= self.nics.source_queue;
        self.nics.book(node, next_at);
        self.recorder.generated(node, job_index);
        if first && let Some(vc) = self.nics.admission(self.now, node, destination, length) {
            self.enter_buffer(node, vc, packet);
            return;
        }
        if full {
            self.recorder.dropped(job_index);
            return;
        }
        let index = self.nics.waiting.insert(packet);
        let nic = &mut self.nics.all[node];
        nic.queue.push(&mut self.nics.waiting, index);
        nic.queued += 1;
    }

    /// Moves packets from the source queue into injection buffers as far as wire and room allow.
    fn drain_source(&mut self, node: usize) {
        let length = self.nics.all[node].length;
        loop {
            let index = self.nics.all[node].queue.front;
            if index == NONE {
                return;
            }
            let packet = *self.nics.waiting.get(index);
            let Some(vc) = self.nics.admission(self.now, node, packet.destination, length) else { return };
            let nic = &mut self.nics.all[node];
            nic.queue.pop(&self.nics.waiting);
            nic.queued -= 1;
            self.nics.waiting.remove(index);
            self.enter_buffer(node, vc, packet);
        }
    }

    /// The packet enters injection VC `vc` of `node`.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn enter_buffer(&mut self, node: usize, vc: usize, mut packet: Waiting) {
        let nic = &self.nics.all[node];
        let length = nic.length;
        if self.count_at_buffer() {
            self.recorder.injected(node, nic.job);
        }
        packet.arrived = self.now + self.nics.latency;
        let buffer = &mut self.nics.buffers[node * self.nics.vcs + vc];
        // With a head in place or on its way the packet is fetched when its turn comes.
        let empty = buffer.used == 0;
        buffer.used += length;
        if empty {
            self.send_head(node, vc, &packet);
        } else {
            let index = self.nics.waiting.insert(packet);
            buffer.behind.push(&mut self.nics.waiting, index);
        }
    }

    /// Books the arrival of a packet that is to be the head of its injection VC.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn send_head(&mut self, node: usize, vc: usize, packet: &Waiting) {
        let router = node as u32 / self.nics.nodes_per_router;
        let port = node as u32 - router * self.nics.nodes_per_router;
        let slot = self.tables.port(port as usize).slot_base as usize + vc;
        let at = packet.arrived + self.rules.pipeline;
        let packet = self.insert_packet(node, packet);
        let arrival = Arrival { slot: global::<W>(router, slot), packet };
        self.arrivals.push(at, arrival);
    }

    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn insert_packet(&mut self, node: usize, packet: &Waiting) -> u32 {
        let Nic { length, job, .. } = self.nics.all[node];
        let destination_router = packet.destination / self.nics.nodes_per_router;
        self.packets.insert(Packet {
            next: NONE,
            arrived: packet.arrived,
            destination_router,
            destination: packet.destination,
            source: node as u32,
            generated: packet.generated,
            serial: packet.serial,
            injected: 0,
            injection_wait: 0,
            queue_wait: [0; 2],
            route: RouteState::NEW,
            length: length as u16,
            crossing: self.plan.router.crossing[length as usize] as u16,
            hops: [0; 2],
            job,
            terminal: (packet.destination - destination_router * self.nics.nodes_per_router) as u8,
        })
    }

    /// The head of an injection VC of `length` phits has been granted: room for the node. Returns the packet
    /// that is the next head at once, or `NONE`.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn leave_injection(&mut self, router: usize, port: usize, vc: usize, length: u32) -> u32 {
        let node = router * self.nics.nodes_per_router as usize + port;
        let nic = &self.nics.all[node];
        if !self.count_at_buffer() {
            self.recorder.injected(node, nic.job);
        }
        // While the wire is busy the node is woken anyway.
        let wire_busy = self.nics.serial_wire && self.now < nic.wire_free;
        if !nic.queue.is_empty() && !wire_busy {
            self.nics.freed.push(node as u32);
        }
        let buffer = &mut self.nics.buffers[node * self.nics.vcs + vc];
        buffer.used -= length;
        let next = buffer.behind.pop(&self.nics.waiting);
        if next == NONE {
            return NONE;
        }
        let packet = *self.nics.waiting.get(next);
        self.nics.waiting.remove(next);
        if packet.arrived + self.rules.pipeline <= self.now {
            self.insert_packet(node, &packet)
        } else {
            self.send_head(node, vc, &packet);
            NONE
        }
    }
}
