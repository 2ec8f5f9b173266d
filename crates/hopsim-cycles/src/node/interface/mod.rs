//! The network interfaces of nodes: source queues, injection buffers, the wires between them, and which of these a packet may
//! take. Interfaces send to the doors of routers and know nothing of where packets come from.

mod again;
mod flits;
mod injection;
mod state;

use again::Again;
pub use flits::FlitWires;
pub use state::InterfaceState;

use crate::choices::{InjectionCount, InjectionLink, InjectionVc};
use crate::kernel::Kernel;
use crate::kernel::by::By;
use crate::kernel::doors::Doors;
use crate::kernel::ids::{Id as _, RegionNode};
use crate::kernel::packet::{Candidate, Waiting};
use crate::kernel::pool::{Pool, Queue};
use crate::kernel::wheel::Wheel;
use crate::mode::Mode;
use crate::system::System;
use hopsim_network::network::Classes;
use hopsim_network::topology::Topology;
use hopsim_random::{Purpose, Stream};
use std::ops::Range;
use std::sync::Arc;

/// One network interface.
pub struct Nic {
    /// The source queue.
    pub queue: Queue,
    /// Packets in the source queue.
    pub queued: u32,
    /// First cycle in which the wire to each injection port is free.
    wire_free: [u32; 2],
    /// Last cycle for which a wake-up was booked, for the wire to each injection port.
    woken_at: [u32; 2],
    /// Job of the node -- constant.
    pub job: u8,
    /// Where the search for an injection VC starts.
    pointer: u8,
}

impl Nic {
    /// An idle interface of a node of some job.
    fn new(job: u8) -> Self {
        Self { queue: Queue::EMPTY, queued: 0, wire_free: [0; 2], woken_at: [0; 2], job, pointer: 0 }
    }

    /// First cycle in which one of the wires to the injection ports of the node is free.
    #[inline]
    fn any_wire_free(&self, ports: usize) -> u32 {
        let [first, second] = self.wire_free;
        if ports == 1 { first } else { first.min(second) }
    }
}

/// What an interface remembers besides in runs with everything.
pub struct Answers {
    /// Whether the node is to be woken when there may be room, though its source queue is empty.
    pub awaits_room: bool,
    /// Where the search for a reply VC starts.
    reply_pointer: u8,
    /// Replies that wait for the wire.
    replies: Queue,
    /// Packets sent and not answered.
    pub unanswered: u32,
    /// Most packets that may be sent and not answered -- constant.
    limit: u32,
}

impl Answers {
    /// The state of `node` before its first packet.
    fn new(system: &System, node: u32) -> Self {
        let job = system.job_at(node as usize);
        Self {
            awaits_room: false,
            reply_pointer: system.network.classes.first_reply_vc(),
            replies: Queue::EMPTY,
            unanswered: 0,
            limit: job.and_then(|job| job.traffic()?.outstanding).unwrap_or(u32::MAX),
        }
    }

    /// Whether the node may send no further request.
    #[inline]
    fn is_exhausted(&self) -> bool {
        self.unanswered >= self.limit
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
    /// The first VC.
    pub first: usize,
    /// How many VCs there are.
    pub count: usize,
}

impl VcClass {
    /// Which of the VCs `InjectionVc::Destination` picks for `destination` among `nodes`.
    #[inline]
    pub fn block(self, destination: u32, nodes: u32) -> usize {
        (u64::from(destination) * self.count as u64 / u64::from(nodes)) as usize
    }

    /// The VC with the fewest phits, of equal ones the first from `pointer` on; none if all have more than `room`.
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

    /// The first VC from `pointer` on that has at most `room` phits.
    fn next(self, buffers: &[Buffer], pointer: &mut u8, room: u32) -> Option<usize> {
        let Self { first, count } = self;
        let from = usize::from(*pointer) - first;
        let found =
            (0..count).map(|step| first + (from + step) % count).find(|&vc| buffers[vc].used <= room)?;
        *pointer = (first + (found - first + 1) % count) as u8;
        Some(found)
    }

    /// A random one of the VCs that have at most `room` phits.
    fn random(self, buffers: &[Buffer], stream: &mut Stream, room: u32) -> Option<usize> {
        let with_room = || (self.first..self.first + self.count).filter(|&vc| buffers[vc].used <= room);
        let count = with_room().count() as u32;
        (count > 0).then(|| with_room().nth(stream.below(count) as usize)).flatten()
    }
}

/// The network interfaces of a region.
pub struct Interfaces {
    /// The interfaces, by node.
    pub nics: By<RegionNode, Nic>,
    /// What interfaces remember besides, by node; empty in runs that do without.
    pub answers: By<RegionNode, Answers>,
    /// Packets at nodes.
    pub waiting: Pool<Waiting>,
    /// Nodes whose wire becomes free while packets wait.
    pub wires: Wheel<RegionNode>,
    /// Nodes whose injection buffers gained room in this cycle while packets wait.
    pub freed: Vec<RegionNode>,
    /// The injection buffers, by node · VCs + VC.
    buffers: Vec<Buffer>,
    /// The doors by which packets go to their router.
    doors: Doors,
    /// Streams of the random injection VC policy; empty if unused.
    vc_streams: By<RegionNode, Stream>,
    /// The flits that nodes send, where routers take flits.
    flits: Option<FlitWires>,
    /// What nodes send again.
    again: Again,
    /// How packets choose their injection VC: see [`InjectionVc`] -- constant.
    policy: InjectionVc,
    /// Whether packets count as injected when they enter a buffer: `InjectionCount::Buffer` -- constant.
    count_at_buffer: bool,
    /// Whether a wire carries a phit per cycle -- constant.
    serial_wire: bool,
    /// Injection ports of a node -- constant.
    ports: usize,
    /// Most packets in a source queue -- constant.
    source_queue: u32,
    /// Size of an injection buffer \[phits\] -- constant.
    size: u32,
    /// Latency from a node to its router \[cycles\] -- constant.
    latency: u32,
    /// Injection VCs of a node -- constant.
    vcs: usize,
    /// Ejection VCs of a node that are not for requests -- constant.
    one_way: usize,
    /// Injection VCs that are not for replies -- constant.
    first_reply_vc: usize,
    topology: Arc<Topology>,
    /// The topology that packets are routed on, where some nodes cannot reach others -- constant.
    apart: Option<Arc<Topology>>,
    /// The first node of the region -- constant.
    first_node: u32,
    /// Nodes of the network -- constant.
    in_network: u32,
    /// Nodes of a router -- constant.
    per_router: u32,
}

impl Interfaces {
    /// Idle interfaces, which send to `doors`.
    pub fn new<M: Mode>(kernel: &Kernel<'_, M>, doors: Doors) -> Self {
        let (system, span) = (kernel.constants.system, &kernel.span);
        let nodes = span.first_node..span.first_node + span.nodes as u32;
        let answers = if M::FULL { nodes.clone() } else { 0..0 };
        let Classes { terminal, .. } = system.network.classes;
        let (vcs, policy) = (terminal.vcs as usize, system.nic.injection_vc);
        let random = if policy == InjectionVc::Random { nodes.clone() } else { 0..0 };
        let seed = system.seed;
        Self {
            nics: nodes.map(|node| Nic::new(system.job_of[node as usize])).collect(),
            answers: answers.map(|node| Answers::new(system, node)).collect(),
            waiting: Pool::new(),
            wires: Wheel::new(system.longest_packet()),
            freed: Vec::new(),
            buffers: vec![Buffer { behind: Queue::EMPTY, used: 0 }; span.nodes * vcs],
            doors,
            vc_streams: random.map(|n| Stream::new(seed, Purpose::InjectionVc, u64::from(n))).collect(),
            flits: FlitWires::new(system, span.first_node, span.nodes),
            again: Again::new(if system.nic.retransmit.is_some() { span.nodes } else { 0 }),
            policy,
            count_at_buffer: system.nic.injection_count == InjectionCount::Buffer,
            serial_wire: system.nic.injection_link == InjectionLink::Serial,
            ports: system.nic.injection_ports as usize,
            source_queue: system.nic.source_queue,
            size: terminal.buffer,
            latency: terminal.latency,
            vcs,
            one_way: usize::from(system.network.classes.one_way),
            first_reply_vc: usize::from(system.network.classes.first_reply_vc()),
            topology: Arc::clone(&system.topology),
            apart: system.routing.apart().cloned(),
            first_node: span.first_node,
            in_network: system.network.nodes,
            per_router: system.topology.nodes_per_router(),
        }
    }

    /// Whether a node has no packet to inject.
    pub fn has_nothing(&self, node: RegionNode) -> bool {
        self.nics[node].queue.is_empty()
            && self.buffers[node.index() * self.vcs..][..self.vcs].iter().all(|b| b.used == 0)
    }

    /// First cycle in which the wire of a node is free, if it has only one.
    pub fn wire_free(&self, node: RegionNode) -> Option<u32> {
        let is_one = self.serial_wire && self.policy != InjectionVc::Direction;
        is_one.then(|| self.nics[node].wire_free[0])
    }

    /// Nodes that may be able to inject again in cycle `now`: a wire of theirs is free, or a buffer has room.
    pub fn take_woken(&mut self, now: u32) -> Vec<RegionNode> {
        let mut due = self.wires.take(now);
        due.append(&mut self.freed);
        due
    }

    /// Packets that are not in the network: at nodes, and those that are lost and will be sent again.
    #[cfg(feature = "trace")]
    pub fn outside(&self) -> usize {
        self.waiting.len() + self.again.count()
    }

    /// The next cycle in which packets come back to their nodes; `u32::MAX` if none do.
    pub fn next_back(&self) -> u32 {
        self.again.next()
    }

    /// Whether source queues have no end.
    #[inline]
    pub fn is_endless(&self) -> bool {
        self.source_queue == u32::MAX
    }

    /// How much of the space for replies to requests that come by ejection VC `vc` of `node` is taken by replies \[phits\]: by
    /// those that wait, as packets of `length` phits, and by those in the injection buffers; and whether requests of a node come
    /// by that VC.
    #[cfg(feature = "trace")]
    pub fn reply_space_taken(&self, node: RegionNode, vc: usize, length: u32) -> (u32, impl Fn(u32) -> bool) {
        let class = self.class(true);
        let (by_destination, nodes) = (self.policy == InjectionVc::Destination, self.in_network);
        let comes = move |requester: u32| !by_destination || class.block(requester, nodes) + 1 == vc;
        let waits = self.answers.get(node).map_or(0, |answers| {
            let replies = answers.replies.iter(&self.waiting);
            replies.filter(|&id| comes(self.waiting.get(id).destination)).count()
        });
        let vcs = (0..class.count).filter(|&index| !by_destination || index + 1 == vc);
        // Where flits leave one by one, the space of a reply comes back with its tail.
        let length = length.max(1);
        let of_vc = |index| self.injected_flits(node, class.first + index).div_ceil(length) * length;
        let buffered: u32 = vcs.map(of_vc).sum();
        (waits as u32 * length + buffered, comes)
    }

    /// The injection VCs for replies, or the injection VCs for all other packets.
    #[inline]
    fn class(&self, reply: bool) -> VcClass {
        if reply {
            VcClass { first: self.first_reply_vc, count: self.vcs - self.first_reply_vc }
        } else {
            VcClass { first: 0, count: self.first_reply_vc }
        }
    }

    /// The injection VC for a packet of `node` by the direction in which it sets out. Every injection port has a wire of its own;
    /// if it is the wires that keep the packet back, the node is woken when one is free.
    #[inline(never)]
    fn directed_vc(&mut self, now: u32, node: RegionNode, packet: Candidate) -> Option<usize> {
        let room = self.size - self.needed(node, packet);
        let vcs = self.directed(node, packet.destination);
        let wire = |vc: usize| self.ports * vc / self.vcs;
        let used = |vc: usize| self.buffers[node.index() * self.vcs + vc].used;
        let free = |vc: usize| {
            let is_free = !self.serial_wire || self.nics[node].wire_free[wire(vc)] <= now;
            is_free && !self.has_unsent(node, wire(vc), packet.reply)
        };
        let best = vcs.clone().filter(|&vc| used(vc) <= room && free(vc)).min_by_key(|&vc| used(vc));
        if best.is_none() {
            for wire in [wire(vcs.start), wire(vcs.end - 1)] {
                self.wire_is_busy(now, node, wire);
            }
        }
        best
    }

    /// The injection VCs for packets of `node` to `destination` by the direction in which these packets set out.
    fn directed(&self, node: RegionNode, destination: u32) -> Range<usize> {
        let Topology::Cube(cube) = &*self.topology else {
            unreachable!("only meshes, tori and rings have directions")
        };
        let source = self.first_node + node.index() as u32;
        let routers = (source / self.per_router, destination / self.per_router);
        let half = self.vcs / 2;
        match cube.sets_out(routers.0, routers.1) {
            Some(true) => half..self.vcs,
            Some(false) => 0..half,
            None => 0..self.vcs,
        }
    }

    /// Whether a packet of `node` could enter an injection buffer now; if the wire keeps it from that, the node is woken when the
    /// wire is free.
    fn could_enter<M: Mode>(&mut self, now: u32, node: RegionNode, packet: Candidate) -> bool {
        if self.policy == InjectionVc::Direction {
            return self.directed_vc(now, node, packet).is_some();
        }
        if !self.may_send::<M>(now, node, packet.reply) {
            return false;
        }
        let class = self.class(packet.reply);
        let room = self.size - self.needed(node, packet);
        let buffers = &self.buffers[node.index() * self.vcs..][class.first..class.first + class.count];
        match self.policy {
            InjectionVc::Destination => {
                buffers[class.block(packet.destination, self.in_network)].used <= room
            }
            _ => buffers.iter().any(|b| b.used <= room),
        }
    }

    /// Whether a packet of `node` would be dropped if it were generated now.
    pub fn would_drop<M: Mode>(&mut self, now: u32, node: RegionNode, packet: Candidate) -> bool {
        if self.source_queue == 0 {
            // What is sent again waits though there is no queue.
            return !self.nics[node].queue.is_empty() || !self.could_enter::<M>(now, node, packet);
        }
        self.nics[node].queued >= self.source_queue
    }

    /// Whether a wire to the router is busy; then the node is woken when the wire is free.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn wire_is_busy(&mut self, now: u32, node: RegionNode, wire: usize) -> bool {
        let is_busy = self.serial_wire && now < self.nics[node].wire_free[wire];
        if is_busy {
            self.wake_for_wire(node, wire);
        }
        is_busy
    }

    /// Books that `node` is woken when a wire is free again.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn wake_for_wire(&mut self, node: RegionNode, wire: usize) {
        let nic = &mut self.nics[node];
        let free = nic.wire_free[wire];
        if nic.woken_at[wire] != free {
            nic.woken_at[wire] = free;
            self.wires.push(free, node);
        }
    }

    /// Whether `node` may send a packet of its own, or a reply, into its injection buffers now, room and wires by direction
    /// apart; if not, the node is woken when that can change.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn may_send<M: Mode>(&mut self, now: u32, node: RegionNode, reply: bool) -> bool {
        if self.policy == InjectionVc::Direction {
            return true;
        }
        if M::FULL && (!reply && self.answers[node].is_exhausted() || self.has_unsent(node, 0, reply)) {
            return false;
        }
        !self.wire_is_busy(now, node, 0)
    }

    /// The injection VC that a packet enters now if `node` may send it; `None`: there is no room, and the node is woken when
    /// that can change.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn admission<M: Mode>(&mut self, now: u32, node: RegionNode, packet: Candidate) -> Option<usize> {
        let Candidate { destination, length, reply } = packet;
        let (needed, sent) =
            if M::FULL { (self.needed(node, packet), self.sent(node, packet)) } else { (length, length) };
        if self.policy == InjectionVc::Direction {
            let vc = self.directed_vc(now, node, packet)?;
            self.nics[node].wire_free[self.ports * vc / self.vcs] = now + sent;
            return Some(vc);
        }
        let class = if M::FULL { self.class(reply) } else { VcClass { first: 0, count: self.vcs } };
        let nic = &mut self.nics[node];
        let pointer = if M::FULL && reply { &mut self.answers[node].reply_pointer } else { &mut nic.pointer };
        let room = self.size - needed;
        let buffers = &self.buffers[node.index() * self.vcs..][..self.vcs];
        let vc = match self.policy {
            InjectionVc::Direction => unreachable!("it looks at the wires too"),
            InjectionVc::Destination => {
                let vc = class.first + class.block(destination, self.in_network);
                (buffers[vc].used <= room).then_some(vc)
            }
            InjectionVc::Shortest => class.shortest(buffers, pointer, room),
            InjectionVc::RoundRobin => class.next(buffers, pointer, room),
            InjectionVc::Random => class.random(buffers, &mut self.vc_streams[node], room),
        }?;
        if M::FULL && !reply {
            self.answers[node].unanswered += 1;
        }
        nic.wire_free[0] = now + sent;
        Some(vc)
    }
}
