//! The nodes' network interfaces: source queues, injection buffers, the wires between them, and which of these a packet may
//! take. See `injection` for what nodes do in a cycle.

pub mod bursts;
pub mod consumption;
pub mod generation;
pub mod injection;
pub mod replies;
pub mod source;

use crate::config::{InjectionCount, InjectionLink, InjectionVc};
use crate::engine::kernel::Kernel;
use crate::engine::kernel::doors::Doors;
use crate::engine::kernel::packet::{Candidate, Waiting};
use crate::engine::kernel::pool::{Pool, Queue};
use crate::engine::kernel::regions::Span;
use crate::engine::kernel::wheel::Wheel;
use crate::engine::mode::Mode;
use crate::engine::node::Nodes;
use crate::engine::node::synthetic::bursts::Bursts;
use crate::engine::node::synthetic::replies::{Consumed, reply_space};
use crate::engine::node::synthetic::source::{Changes, Source};
use crate::network::{Classes, NONE};
use crate::plan::Plan;
use crate::rng::{Purpose, Stream};
use crate::topology::Topology;
use std::ops::Range;
use std::sync::Arc;

/// Buckets of the wheel of generations; a node whose gap is longer passes its bucket several times.
pub const SOURCE_BUCKETS: usize = 2048;

/// Packets in an unbounded source queue that are kept. Those behind them are generated, with the times they have, when it gets
/// shorter: above saturation memory stays bounded.
pub const KEPT: u32 = 16;

/// Packets below which such a queue is filled again.
pub const REFILLED: u32 = KEPT / 2;

/// One network interface.
pub struct Nic {
    /// When it generates.
    pub process: Stream,
    /// To whom.
    pub pattern: Stream,
    /// The source queue.
    pub queue: Queue,
    /// Packets in it.
    pub queued: u32,
    /// Packets generated so far.
    pub serial: u32,
    /// First cycle in which the wire to each injection port is free.
    wire_free: [u32; 2],
    /// Last cycle for which a wake-up was booked, likewise.
    woken_at: [u32; 2],
    /// Next generation; of a node that lags behind it is not after the present cycle.
    pub next_at: u32,
    /// Next node in the same bucket of the wheel.
    pub next_node: u32,
    /// Length of the packets that it draws \[phits\] -- constant.
    pub length: u32,
    /// Its job -- constant.
    pub job: u8,
    /// Where the search for the shortest injection VC starts.
    pointer: u8,
    /// Whether more than [`KEPT`] packets wait, and the next one will be generated later.
    pub lags: bool,
}

impl Nic {
    /// An idle one, of a node of the network.
    fn new(plan: &Plan, node: u32) -> Self {
        let seed = plan.experiment.measure.seed;
        Self {
            process: Stream::new(seed, Purpose::Process, u64::from(node)),
            pattern: Stream::new(seed, Purpose::Pattern, u64::from(node)),
            queue: Queue::EMPTY,
            queued: 0,
            serial: 0,
            wire_free: [0; 2],
            woken_at: [0; 2],
            next_at: u32::MAX,
            next_node: NONE,
            length: plan.jobs.get(plan.job_of[node as usize] as usize).map_or(0, |job| job.packet_length),
            job: plan.job_of[node as usize],
            pointer: 0,
            lags: false,
        }
    }

    /// First cycle in which one of the wires to its injection ports is free.
    #[inline]
    pub fn any_wire_free(&self, ports: usize) -> u32 {
        let [first, second] = self.wire_free;
        if ports == 1 { first } else { first.min(second) }
    }
}

/// An injection buffer.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Packets behind the head.
    pub behind: Queue,
    /// Occupied phits, the head included.
    pub used: u32,
}

/// Consecutive injection VCs of a node.
#[derive(Clone, Copy, Debug)]
pub struct VcClass {
    /// The first one.
    pub first: usize,
    /// How many.
    pub count: usize,
}

impl VcClass {
    /// Which of them `InjectionVc::Destination` picks for `destination` among `nodes`.
    #[inline]
    pub fn block(self, destination: u32, nodes: u32) -> usize {
        (u64::from(destination) * self.count as u64 / u64::from(nodes)) as usize
    }

    /// The one with the fewest phits, of equal ones the first from `pointer` on; none if all have more than `room`.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn shortest(self, buffers: &[Buffer], pointer: &mut u8, room: u32) -> Option<usize> {
        let Self { first, count } = self;
        let next = |vc: usize| if vc + 1 == first + count { first } else { vc + 1 };
        let mut vc = *pointer as usize;
        let (mut least, mut best) = (u32::MAX, 0);
        for _ in 0..count {
            if buffers[vc].used < least {
                (least, best) = (buffers[vc].used, vc);
                if least == 0 {
                    break;
                }
            }
            vc = next(vc);
        }
        if least > room {
            return None;
        }
        *pointer = next(best) as u8;
        Some(best)
    }

    /// A random one of those that have at most `room` phits.
    fn random(self, buffers: &[Buffer], stream: &mut Stream, room: u32) -> Option<usize> {
        let with_room = || (self.first..self.first + self.count).filter(|&vc| buffers[vc].used <= room);
        let count = with_room().count() as u32;
        (count > 0).then(|| with_room().nth(stream.below(count) as usize)).flatten()
    }
}

/// The nodes of a region: their network interfaces.
pub struct Synthetic {
    /// By node: as everywhere here, by its number in the region.
    all: Vec<Nic>,
    /// What only runs with everything know of a node; empty otherwise.
    sources: Vec<Source>,
    /// Traffic that changes.
    changes: Changes,
    /// By node · VCs + VC.
    buffers: Vec<Buffer>,
    /// Packets at nodes.
    waiting: Pool<Waiting>,
    /// First node of every bucket.
    buckets: Vec<u32>,
    /// Nodes whose wire becomes free while packets wait.
    wires: Wheel<u32>,
    /// Nodes whose injection buffers gained room in this cycle while packets wait.
    freed: Vec<u32>,
    /// Requests and replies whose consumption begins.
    consumed: Wheel<Consumed>,
    /// Bursts that begin together.
    bursts: Bursts,
    /// Where packets go to their router.
    doors: Doors,
    /// Streams of the random injection VC policy; empty if unused.
    vc_streams: Vec<Stream>,
    /// See [`InjectionVc`] -- constant.
    policy: InjectionVc,
    /// Whether packets count as injected when they enter a buffer: `InjectionCount::Buffer` -- constant.
    count_at_buffer: bool,
    /// Whether a wire carries a phit per cycle -- constant.
    serial_wire: bool,
    /// Injection ports of a node -- constant.
    ports: usize,
    /// Most packets in a source queue -- constant.
    source_queue: u32,
    /// Size of an injection buffer -- constant.
    size: u32,
    /// From a node to its router \[cycles\] -- constant.
    latency: u32,
    /// Injection VCs of a node -- constant.
    vcs: usize,
    /// Injection VCs that are not for replies -- constant.
    first_reply_vc: usize,
    topology: Arc<Topology>,
    /// The first node of the region -- constant.
    first_node: u32,
    /// Nodes of the network -- constant.
    in_network: u32,
    /// Nodes of a router -- constant.
    per_router: u32,
}

impl<M: Mode> Nodes<M> for Synthetic {
    fn new(kernel: &Kernel<'_, M>, doors: Doors) -> Self {
        let constants = &kernel.constants;
        Self::build(constants.plan, (M::FULL, constants.ahead), &kernel.span, doors)
    }

    fn begin_window(&mut self, kernel: &mut Kernel<'_, M>) {
        if M::FULL {
            self.change_traffic(kernel);
        }
    }

    #[expect(clippy::inline_always, reason = "per cycle; measured")]
    #[inline(always)]
    fn run(&mut self, kernel: &mut Kernel<'_, M>) {
        self.run_nodes(kernel);
    }

    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn leave_injection(
        &mut self,
        kernel: &mut Kernel<'_, M>,
        at: (usize, usize),
        vc: usize,
        length: u32,
    ) -> u32 {
        self.leave_buffer(kernel, at, vc, length)
    }

    #[inline]
    fn hear(&mut self, kernel: &mut Kernel<'_, M>, packet: u32, departure: u32) {
        if M::FULL {
            self.consume(kernel, packet, departure);
        }
    }

    fn has_nothing(&self, node: usize) -> bool {
        self.all[node].queue.is_empty()
            && self.buffers[node * self.vcs..][..self.vcs].iter().all(|b| b.used == 0)
    }

    fn ejection_space(plan: &Plan, node: usize) -> u32 {
        reply_space(plan, node)
    }

    #[cfg(feature = "trace")]
    fn ejection_space_taken(&self, kernel: &Kernel<'_, M>, node: usize, vc: usize) -> u32 {
        self.reply_space_taken(kernel.constants.plan, node, vc)
    }

    fn finish(&mut self, kernel: &mut Kernel<'_, M>, end: u32) {
        self.count_lagging(kernel, end);
    }

    fn count_held(&mut self, kernel: &mut Kernel<'_, M>) {
        self.count_held_at_injection(kernel);
    }

    #[cfg(feature = "trace")]
    fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

impl Synthetic {
    /// Idle interfaces with their first generations booked, in a run that is `full`; no event is further ahead than `ahead`.
    fn build(plan: &Plan, (full, ahead): (bool, u32), span: &Span, doors: Doors) -> Self {
        let seed = plan.experiment.measure.seed;
        let nodes = span.first_node..span.first_node + span.nodes as u32;
        let Classes { terminal, .. } = plan.network.classes;
        let vcs = terminal.vcs as usize;
        let policy = plan.nic.injection_vc;
        let random = if policy == InjectionVc::Random { nodes.clone() } else { 0..0 };
        let streams = random.map(|n| Stream::new(seed, Purpose::InjectionVc, u64::from(n)));
        let mut state = Self {
            all: nodes.clone().map(|node| Nic::new(plan, node)).collect(),
            sources: if full {
                nodes.clone().map(|node| Source::new(plan, node)).collect()
            } else {
                Vec::new()
            },
            changes: Changes::new(plan),
            buffers: vec![Buffer { behind: Queue::EMPTY, used: 0 }; span.nodes * vcs],
            waiting: Pool::new(),
            buckets: vec![NONE; SOURCE_BUCKETS],
            wires: Wheel::new(plan.longest_packet()),
            freed: Vec::new(),
            vc_streams: streams.collect(),
            consumed: Wheel::new(ahead),
            bursts: Bursts::new(plan),
            doors,
            count_at_buffer: plan.nic.injection_count == InjectionCount::Buffer,
            policy,
            serial_wire: plan.nic.injection_link == InjectionLink::Serial,
            ports: plan.experiment.nic.injection_ports as usize,
            source_queue: plan.nic.source_queue,
            size: terminal.buffer,
            latency: terminal.latency,
            vcs,
            first_reply_vc: usize::from(plan.network.classes.first_reply_vc()),
            topology: Arc::clone(&plan.topology),
            first_node: span.first_node,
            in_network: plan.network.nodes,
            per_router: plan.topology.nodes_per_router(),
        };
        for (node, nic) in nodes.zip(&mut state.all) {
            let job = plan.jobs.get(nic.job as usize);
            if let Some(job) = job.filter(|job| job.sends(node)) {
                nic.next_at = job.process_of(node).begin(&mut nic.process).saturating_sub(1);
            }
        }
        state.rebook(0);
        state
    }

    /// Books the next generation of `node`, unless it is out of reach.
    #[inline]
    pub fn book(&mut self, node: usize, at: u32) {
        let nic = &mut self.all[node];
        nic.next_at = at;
        if at >= crate::plan::MAX_CYCLES {
            return;
        }
        let bucket = &mut self.buckets[at as usize % SOURCE_BUCKETS];
        nic.next_node = *bucket;
        *bucket = node as u32;
    }

    /// Forgets all bookings and books every node again that has one at or after `now`.
    pub fn rebook(&mut self, now: u32) {
        self.buckets.fill(NONE);
        for node in 0..self.all.len() {
            let at = self.all[node].next_at;
            if at >= now {
                self.book(node, at);
            }
        }
    }

    /// The injection VCs for replies, or those for all other packets.
    #[inline]
    pub fn class(&self, reply: bool) -> VcClass {
        if reply {
            VcClass { first: self.first_reply_vc, count: self.vcs - self.first_reply_vc }
        } else {
            VcClass { first: 0, count: self.first_reply_vc }
        }
    }

    /// The injection VC for a packet of `node` by the direction in which it sets out. Every injection port has
    /// a wire of its own; if it is those that keep the packet back, the node is woken when one is free.
    #[inline(never)]
    fn directed_vc(&mut self, now: u32, node: usize, packet: Candidate) -> Option<usize> {
        let room = self.size - packet.length;
        let vcs = self.directed(node, packet.destination);
        let wire = |vc: usize| self.ports * vc / self.vcs;
        let used = |vc: usize| self.buffers[node * self.vcs + vc].used;
        let free = |vc: usize| !self.serial_wire || self.all[node].wire_free[wire(vc)] <= now;
        let best = vcs.clone().filter(|&vc| used(vc) <= room && free(vc)).min_by_key(|&vc| used(vc));
        if best.is_none() {
            for wire in [wire(vcs.start), wire(vcs.end - 1)] {
                self.wire_is_busy(now, node, wire);
            }
        }
        best
    }

    /// The injection VCs for packets of `node` to `destination` by the direction in which they set out.
    fn directed(&self, node: usize, destination: u32) -> Range<usize> {
        let Topology::Cube(cube) = &*self.topology else { unreachable!("the plan refuses it") };
        let source = self.first_node + node as u32;
        let routers = (source / self.per_router, destination / self.per_router);
        let half = self.vcs / 2;
        match cube.sets_out(routers.0, routers.1) {
            Some(true) => half..self.vcs,
            Some(false) => 0..half,
            None => 0..self.vcs,
        }
    }

    /// Whether a packet of `node` could enter an injection buffer now; if the wire keeps it from that, the node is woken when
    /// it is free.
    fn could_enter<M: Mode>(&mut self, now: u32, node: usize, packet: Candidate) -> bool {
        if self.policy == InjectionVc::Direction {
            return self.directed_vc(now, node, packet).is_some();
        }
        if !self.may_send::<M>(now, node, packet.reply) {
            return false;
        }
        let class = self.class(packet.reply);
        let room = self.size - packet.length;
        let buffers = &self.buffers[node * self.vcs..][class.first..class.first + class.count];
        match self.policy {
            InjectionVc::Destination => {
                buffers[class.block(packet.destination, self.in_network)].used <= room
            }
            _ => buffers.iter().any(|b| b.used <= room),
        }
    }

    /// Whether the next packet of `node`, to `destination`, would be dropped if it were generated now.
    pub fn would_drop<M: Mode>(&mut self, now: u32, node: usize, destination: u32) -> bool {
        if self.source_queue == 0 {
            let packet = Candidate { destination, length: self.all[node].length, reply: false };
            return !self.could_enter::<M>(now, node, packet);
        }
        self.all[node].queued >= self.source_queue
    }

    /// How much of the space for replies to requests that come by ejection VC `vc` of `node` is taken \[phits\]: by requests that it has
    /// not begun to absorb, replies that wait, and those in the injection buffers.
    #[cfg(feature = "trace")]
    fn reply_space_taken(&self, plan: &Plan, node: usize, vc: usize) -> u32 {
        let job = self.all.get(node).and_then(|nic| plan.jobs.get(usize::from(nic.job)));
        let Some(job) = job else { return 0 };
        let class = self.class(true);
        let by_destination = self.policy == InjectionVc::Destination;
        let mine = |requester: u32| !by_destination || class.block(requester, self.in_network) + 1 == vc;
        let is_mine = |c: &&Consumed| c.node == node as u32 && c.requester != NONE && mine(c.requester);
        let requested = self.consumed.iter().filter(is_mine).count();
        let queued = self.sources.get(node).map_or(0, |source| {
            let replies = source.replies.iter(&self.waiting);
            replies.filter(|&id| mine(self.waiting.get(id).destination)).count()
        });
        let vcs = (0..class.count).filter(|&index| !by_destination || index + 1 == vc);
        let buffered: u32 = vcs.map(|index| self.buffers[node * self.vcs + class.first + index].used).sum();
        (requested + queued) as u32 * job.packet_length + buffered
    }

    /// Whether a wire to the router is busy; then the node is woken when it is free.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn wire_is_busy(&mut self, now: u32, node: usize, wire: usize) -> bool {
        if self.serial_wire {
            let nic = &mut self.all[node];
            let free = nic.wire_free[wire];
            if now < free {
                if nic.woken_at[wire] != free {
                    nic.woken_at[wire] = free;
                    self.wires.push(free, node as u32);
                }
                return true;
            }
        }
        false
    }

    /// Whether `node` may send a packet of its own, or a reply, into its injection buffers now, room and wires by direction
    /// apart; if not, it is woken when that can change.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn may_send<M: Mode>(&mut self, now: u32, node: usize, reply: bool) -> bool {
        if self.policy == InjectionVc::Direction {
            return true;
        }
        let exhausted = M::FULL && !reply && self.sources[node].is_exhausted();
        !exhausted && !self.wire_is_busy(now, node, 0)
    }

    /// The injection VC that a packet enters now if `node` may send it; `None`: there is no room, and the node is woken when
    /// that can change.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn admission<M: Mode>(&mut self, now: u32, node: usize, packet: Candidate) -> Option<usize> {
        let Candidate { destination, length, reply } = packet;
        if self.policy == InjectionVc::Direction {
            let vc = self.directed_vc(now, node, packet)?;
            self.all[node].wire_free[self.ports * vc / self.vcs] = now + length;
            return Some(vc);
        }
        let class = if M::FULL { self.class(reply) } else { VcClass { first: 0, count: self.vcs } };
        let nic = &mut self.all[node];
        let room = self.size - length;
        let buffers = &self.buffers[node * self.vcs..][..self.vcs];
        let vc = match self.policy {
            InjectionVc::Direction => unreachable!("it looks at the wires too"),
            InjectionVc::Destination => {
                let vc = class.first + class.block(destination, self.in_network);
                (buffers[vc].used <= room).then_some(vc)
            }
            InjectionVc::Shortest => {
                let pointer =
                    if M::FULL && reply { &mut self.sources[node].reply_pointer } else { &mut nic.pointer };
                class.shortest(buffers, pointer, room)
            }
            InjectionVc::Random => class.random(buffers, &mut self.vc_streams[node], room),
        }?;
        if M::FULL && !reply {
            self.sources[node].unanswered += 1;
        }
        nic.wire_free[0] = now + length;
        Some(vc)
    }
}
