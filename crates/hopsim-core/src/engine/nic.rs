//! The nodes' network interfaces: generation, source queue, injection buffers.

use super::packet::{Packet, Waiting};
use super::pool::{Pool, Queue};
use super::simulation::{Arrival, Simulation};
use super::wheel::Wheel;
use crate::config::{InjectionLink, InjectionVc};
use crate::network::NONE;
use crate::plan::Plan;
use crate::rng::{Purpose, Stream};
use crate::routing::RouteState;
use crate::trace::Observer;

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
    /// Where the search for the shortest injection VC starts.
    pointer: u8,
}

/// All network interfaces.
pub struct Nics {
    nics: Vec<Nic>,
    /// Injection buffers by node · VCs + VC: queue of packets behind the head.
    buffers: Vec<Queue>,
    /// Occupied phits, by node · VCs + VC.
    used: Vec<u32>,
    waiting: Pool<Waiting>,
    /// Next generation of every node.
    next_at: Vec<u32>,
    /// Link of the bucket lists.
    next_node: Vec<u32>,
    /// First node of every bucket.
    buckets: Vec<u32>,
    /// Nodes whose wire becomes free while packets wait.
    wires: Wheel<u32>,
    /// Nodes whose injection buffers gained room in this cycle while packets wait.
    freed: Vec<u32>,
    /// Streams of the random injection VC policy; empty if unused.
    vc_streams: Vec<Stream>,
    vcs: usize,
    nodes_per_router: u32,
}

impl Nics {
    /// Idle interfaces with their first generations booked.
    pub fn new(plan: &Plan) -> Self {
        let (nodes, seed) = (plan.network.nodes as usize, plan.experiment.measure.seed);
        let vcs = plan.network.classes.terminal.vcs as usize;
        let nic = |node: usize| Nic {
            process: Stream::new(seed, Purpose::Process, node as u64),
            pattern: Stream::new(seed, Purpose::Pattern, node as u64),
            queue: Queue::EMPTY,
            queued: 0,
            serial: 0,
            wire_free: 0,
            woken_at: 0,
            pointer: 0,
        };
        let random = plan.nic.injection_vc == InjectionVc::Random;
        let streams = (0..if random { nodes } else { 0 }).map(|n| Stream::new(seed, Purpose::InjectionVc, n as u64));
        let mut state = Self {
            nics: (0..nodes).map(nic).collect(),
            buffers: vec![Queue::EMPTY; nodes * vcs],
            used: vec![0; nodes * vcs],
            waiting: Pool::new(),
            next_at: vec![u32::MAX; nodes],
            next_node: vec![NONE; nodes],
            buckets: vec![NONE; SOURCE_BUCKETS],
            wires: Wheel::new(plan.longest_packet()),
            freed: Vec::new(),
            vc_streams: streams.collect(),
            vcs,
            nodes_per_router: plan.topology.nodes_per_router(),
        };
        for node in 0..nodes {
            if let Some(job) = plan.jobs.get(plan.job_of[node] as usize) {
                let gap = job.process.gap(&mut state.nics[node].process);
                state.book(node as u32, gap.saturating_sub(1));
            }
        }
        state
    }

    /// Books the next generation of `node`, unless it is out of reach.
    #[inline]
    fn book(&mut self, node: u32, at: u32) {
        if at >= crate::plan::MAX_CYCLES {
            return;
        }
        self.next_at[node as usize] = at;
        let bucket = &mut self.buckets[at as usize % SOURCE_BUCKETS];
        self.next_node[node as usize] = *bucket;
        *bucket = node;
    }

    /// The injection VC with room for `length` phits that the policy picks for a packet to `destination`.
    fn choose_vc(&mut self, node: usize, destination: u32, length: u32, plan: &Plan) -> Option<usize> {
        let room = plan.network.classes.terminal.buffer - length;
        let used = &self.used[node * self.vcs..][..self.vcs];
        match plan.nic.injection_vc {
            InjectionVc::Destination => {
                let vc = u64::from(destination) * self.vcs as u64 / u64::from(plan.network.nodes);
                (used[vc as usize] <= room).then_some(vc as usize)
            }
            InjectionVc::Shortest => {
                let pointer = self.nics[node].pointer as usize;
                let in_turn = (pointer..self.vcs).chain(0..pointer);
                let vc = in_turn.min_by_key(|&vc| used[vc]).filter(|&vc| used[vc] <= room)?;
                self.nics[node].pointer = if vc + 1 == self.vcs { 0 } else { vc as u8 + 1 };
                Some(vc)
            }
            InjectionVc::Random => {
                let with_room = || (0..self.vcs).filter(|&vc| used[vc] <= room);
                let count = with_room().count() as u32;
                let stream = &mut self.vc_streams[node];
                (count > 0).then(|| with_room().nth(stream.below(count) as usize)).flatten()
            }
        }
    }

    /// Packets in source queues and injection buffers, heads of injection VCs excepted.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Occupied phits of an injection buffer.
    pub fn occupied(&self, node: usize, vc: usize) -> u32 {
        self.used[node * self.vcs + vc]
    }

    /// Number of packets behind the head of an injection VC.
    pub fn behind_head(&self, node: usize, vc: usize) -> usize {
        self.buffers[node * self.vcs + vc].iter(&self.waiting).count()
    }
}

impl<const W: usize, O: Observer> Simulation<'_, W, O> {
    /// Generation, then injection into the buffers.
    pub(super) fn run_nodes(&mut self) {
        let bucket = self.now as usize % SOURCE_BUCKETS;
        let mut node = std::mem::replace(&mut self.nics.buckets[bucket], NONE);
        while node != NONE {
            let next = self.nics.next_node[node as usize];
            let at = self.nics.next_at[node as usize];
            if at == self.now {
                self.generate(node);
            } else {
                self.nics.book(node, at);
            }
            node = next;
        }
        let due = self.nics.wires.take(self.now);
        due.iter().for_each(|&node| self.inject(node));
        self.nics.wires.put_back(self.now, due);
        let mut freed = std::mem::take(&mut self.nics.freed);
        freed.drain(..).for_each(|node| self.inject(node));
        self.nics.freed = freed;
    }

    fn generate(&mut self, node: u32) {
        let job_index = self.plan.job_of[node as usize];
        let job = &self.plan.jobs[job_index as usize];
        let nic = &mut self.nics.nics[node as usize];
        let destination = job.pattern.destination(node, &mut nic.pattern);
        let serial = nic.serial;
        nic.serial += 1;
        let next = self.now.saturating_add(job.process.gap(&mut nic.process));
        self.nics.book(node, next);
        self.recorder.generated(node, job_index);
        let waiting = Waiting { next: NONE, destination, generated: self.now, serial, arrived: 0 };
        let index = self.nics.waiting.insert(waiting);
        let before = self.nics.nics[node as usize].queue;
        let nic = &mut self.nics.nics[node as usize];
        nic.queue.push(&mut self.nics.waiting, index);
        nic.queued += 1;
        self.inject(node);
        let nic = &mut self.nics.nics[node as usize];
        if nic.queued > self.plan.nic.source_queue {
            // The queue was full and nothing moved: the newest packet is lost.
            nic.queue = before;
            nic.queued -= 1;
            if !before.is_empty() {
                self.nics.waiting.get_mut(before.back).next = NONE;
            }
            self.nics.waiting.remove(index);
            self.recorder.dropped(job_index);
        }
    }

    /// Moves packets from the source queue into injection buffers as far as wire and room allow.
    pub(super) fn inject(&mut self, node: u32) {
        let n = node as usize;
        let serial_wire = self.plan.nic.injection_link == InjectionLink::Serial;
        while !self.nics.nics[n].queue.is_empty() {
            let nic = &mut self.nics.nics[n];
            if serial_wire && self.now < nic.wire_free {
                if nic.woken_at != nic.wire_free {
                    nic.woken_at = nic.wire_free;
                    self.nics.wires.push(nic.wire_free, node);
                }
                return;
            }
            let job = self.plan.job_of[n];
            let length = self.plan.jobs[job as usize].packet_length;
            let index = nic.queue.front;
            let destination = self.nics.waiting.get(index).destination;
            let Some(vc) = self.nics.choose_vc(n, destination, length, self.plan) else { return };
            let nic = &mut self.nics.nics[n];
            nic.queue.pop(&self.nics.waiting);
            nic.queued -= 1;
            nic.wire_free = self.now + length;
            if self.rules.count_at_buffer {
                self.recorder.injected(node, job);
            }
            self.enter_buffer(node, vc, index, length);
        }
    }

    /// The packet enters injection VC `vc` of `node`.
    fn enter_buffer(&mut self, node: u32, vc: usize, index: u32, length: u32) {
        let arrived = self.now + self.plan.network.classes.terminal.latency;
        self.nics.waiting.get_mut(index).arrived = arrived;
        let buffer = node as usize * self.nics.vcs + vc;
        self.nics.used[buffer] += length;
        // With a head in place or on its way the packet is fetched when its turn comes.
        let idle = self.nics.used[buffer] == length;
        self.nics.buffers[buffer].push(&mut self.nics.waiting, index);
        if idle {
            let (router, port) = (node / self.nics.nodes_per_router, node % self.nics.nodes_per_router);
            let slot = self.layout.slot_base[port as usize] as u32 + vc as u32;
            let slot = router << self.layout.slot_shift | slot;
            self.arrivals.push(arrived + self.rules.pipeline, Arrival { slot, packet: NONE });
        }
    }

    /// The next packet of an injection VC becomes its head.
    pub(super) fn promote(&mut self, slot: u32) {
        let shift = self.layout.slot_shift;
        let (router, index) = (slot >> shift, slot & ((1 << shift) - 1));
        let port = self.layout.slot_port[index as usize];
        let vc = index - u32::from(self.layout.slot_base[port as usize]);
        let node = router * self.nics.nodes_per_router + u32::from(port);
        let buffer = node as usize * self.nics.vcs + vc as usize;
        let waiting = self.nics.buffers[buffer].pop(&self.nics.waiting);
        let record = *self.nics.waiting.get(waiting);
        self.nics.waiting.remove(waiting);
        let job = self.plan.job_of[node as usize];
        let destination_router = record.destination / self.nics.nodes_per_router;
        let id = self.packets.insert(Packet {
            next: NONE,
            arrived: record.arrived,
            destination_router,
            destination: record.destination,
            source: node,
            generated: record.generated,
            serial: record.serial,
            injected: 0,
            injection_wait: 0,
            queue_wait: [0; 2],
            route: RouteState::NEW,
            length: self.plan.jobs[job as usize].packet_length as u16,
            hops: [0; 2],
            job,
            terminal: (record.destination - destination_router * self.nics.nodes_per_router) as u8,
        });
        self.routers.slots[slot as usize].queue = Queue { front: id, back: id };
        self.register_head(slot, id);
    }

    /// The head of an injection VC has been granted: room for the node, and the next head.
    pub(super) fn leave_injection(&mut self, router: usize, port: usize, slot: usize, id: u32) {
        let node = router as u32 * self.nics.nodes_per_router + port as u32;
        let packet = self.packets.get(id);
        let vc = slot - self.layout.slot_base[port] as usize;
        let buffer = node as usize * self.nics.vcs + vc;
        self.nics.used[buffer] -= u32::from(packet.length);
        if !self.rules.count_at_buffer {
            self.recorder.injected(node, packet.job);
        }
        if !self.nics.nics[node as usize].queue.is_empty() {
            self.nics.freed.push(node);
        }
        let global = (router << self.layout.slot_shift | slot) as u32;
        self.routers.slots[global as usize].queue = Queue::EMPTY;
        let next = self.nics.buffers[buffer].front;
        if next == NONE {
            return;
        }
        let ready = self.nics.waiting.get(next).arrived + self.rules.pipeline;
        if ready <= self.now {
            self.promote(global);
        } else {
            self.arrivals.push(ready, Arrival { slot: global, packet: NONE });
        }
    }
}
