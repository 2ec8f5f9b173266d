//! What never changes in a run and all routers read.

use crate::kernel::ids::{Id as _, Pair};
use crate::kernel::packet::InjectionEnd;
use crate::mode::Mode;
use crate::router::cioq::rules::{Allocation, Crossing, Requests, Room};
use crate::router::cioq::tables::Tables;
use crate::system::System;
use hopsim_network::by_class::MOST_CLASSES;
use hopsim_network::network::{NONE, PortClassCode, TERMINAL};
use hopsim_routing::minimal::Minimal;
use hopsim_routing::{Head, Routing};
use std::marker::PhantomData;

/// Entries by port class: one for terminal ports, one for each class of links, and as many more as it takes to mask the index.
pub const CAPACITIES: usize = (1 + MOST_CLASSES).next_power_of_two();

/// The constants of a run, computed once. Every region has a copy of these constants, so that hot code finds them where its state
/// is; what is large is not copied.
#[derive(Clone)]
pub struct Shared<'p, M> {
    /// The routing of the run.
    pub routing: &'p Routing,
    /// The minimal routing underneath the routing of the run.
    pub base: &'p Minimal,
    /// Who wins in the allocator.
    pub allocation: Allocation,
    /// How packets cross a router.
    pub crossing: Crossing,
    /// The room that packets need.
    pub room: Room,
    /// What heads ask for.
    pub requests: Requests,
    /// The layout of a router.
    pub tables: Tables,
    /// Phits that one VC of a buffer can hold, by port class; see [`CAPACITIES`].
    pub capacities: [u32; CAPACITIES],
    /// Class of the ports whose links stay in a group, as [`PortInfo`](crate::router::cioq::tables::PortInfo) has it, or of none
    /// where there are no groups.
    pub inside: PortClassCode,
    mode: PhantomData<M>,
}

impl<'p, M> Shared<'p, M> {
    /// The constants of a system.
    pub fn new(system: &'p System) -> Self {
        let mut capacities = [0; CAPACITIES];
        capacities[TERMINAL as usize] = NONE;
        for (capacity, class) in capacities[1..].iter_mut().zip(&system.network.classes.links) {
            *capacity = class.buffer;
        }
        Self {
            routing: &system.routing,
            base: system.routing.base(),
            allocation: Allocation::new(system),
            crossing: Crossing::new(system),
            room: Room::new(system),
            requests: Requests::new(system),
            tables: Tables::new(system),
            capacities,
            inside: system.topology.group_classes().map_or(PortClassCode::MAX, |classes| classes.inside + 1),
            mode: PhantomData,
        }
    }
}

impl<M: Mode> Shared<'_, M> {
    /// Whether the rule is `Ejection::IdleNode`.
    #[inline]
    pub fn idle_node(&self) -> bool {
        !M::DEFAULT && self.crossing.idle_node
    }

    /// Whether the rule is `OutputHold::Speedup`.
    #[inline]
    pub fn hold_speedup(&self) -> bool {
        !M::DEFAULT && self.crossing.hold_speedup
    }

    /// Whether the rule is `InputPointer::Request`.
    #[inline]
    pub fn on_request(&self) -> bool {
        !M::DEFAULT && self.allocation.on_request
    }

    /// Where injection latency ends.
    #[inline]
    pub fn injection_end(&self) -> InjectionEnd {
        if M::DEFAULT { InjectionEnd::Grant } else { self.crossing.injection_end }
    }

    /// Whether packets of several lengths meet.
    #[inline]
    pub fn mixed(&self) -> bool {
        !M::PLAIN && self.room.mixed
    }

    /// Whether packets in transit go first at a router in cycle `now`.
    #[inline]
    pub fn transit_priority(&self, router: u32, now: u32) -> bool {
        !M::PLAIN
            && (self.allocation.transit_priority
                || (self.allocation.ipr > 0.0 && self.draws_priority(router, now)))
    }

    /// In-transit priority restriction: whether packets in transit go first in this cycle.
    #[cold]
    fn draws_priority(&self, router: u32, now: u32) -> bool {
        let stream = self.allocation.priorities.stream(u64::from(router));
        stream.at(u64::from(now)).unit() < self.allocation.ipr
    }

    /// Room that packets leave in an adaptive VC when they enter the network \[phits\].
    #[inline]
    pub fn lbr(&self) -> u32 {
        if M::ORDERED { 0 } else { self.room.lbr }
    }

    /// Whether nodes take packets from all input VCs at once.
    #[inline]
    pub fn parallel(&self) -> bool {
        !M::REGULAR && self.crossing.parallel
    }

    /// Whether output ports have several outputs of the crossbar.
    #[inline]
    pub fn several_outputs(&self) -> bool {
        M::FULL && !M::REGULAR && self.crossing.outputs > 1
    }

    /// Whether routers without choices that can do nothing are left alone, as they know when they can do something again: packets
    /// that leave at once have times of their own.
    #[inline]
    pub fn patient(&self) -> bool {
        !(M::ORDERED || self.parallel())
    }

    /// Whether input arbiters are round-robin.
    #[inline]
    pub fn input_round_robin(&self) -> bool {
        M::PLAIN || self.allocation.input_round_robin
    }

    /// Whether output arbiters are round-robin.
    #[inline]
    pub fn output_round_robin(&self) -> bool {
        M::PLAIN || self.allocation.output_round_robin
    }

    /// Whether input arbiters need stamps of whom they served.
    #[inline]
    pub fn input_stamps(&self) -> bool {
        !M::PLAIN && self.allocation.input_stamps
    }

    /// Whether output arbiters need stamps of whom they served.
    #[inline]
    pub fn output_stamps(&self) -> bool {
        !M::PLAIN && self.allocation.output_stamps
    }

    /// Whether a head may use several VCs of a port: the VC it asks for and those below in its block.
    #[inline]
    pub fn flexible(&self) -> bool {
        !M::ORDERED && self.requests.flexible
    }

    /// Whether heads must be asked for their port, as it is not the port of a minimal path.
    #[inline]
    pub fn asks(&self) -> bool {
        !M::ORDERED && self.requests.asks
    }

    /// Whether the VC of a hop depends on more than the VC before it, in other modes than the ordered ones.
    #[inline]
    pub fn depends_on_hop(&self) -> bool {
        !M::ORDERED && self.requests.depends_on_hop
    }

    /// Whether the VC of a head follows from its path, in the ordered modes.
    #[inline]
    pub fn follows_path(&self, head: &Head) -> bool {
        M::ORDERED && head.at_injection() && self.requests.keeps_paths
    }

    /// Room that packets which enter a ring leave behind them \[phits\].
    #[inline]
    pub fn bubble(&self) -> u32 {
        if M::ORDERED { 0 } else { self.room.bubble }
    }

    /// Room that a packet of `length` phits takes in the buffer of a link \[phits\]. Where there are rings that is the room of
    /// the longest packet: the bubble then goes round the ring in one piece, and is never divided into gaps too short for the
    /// packets behind them.
    #[inline]
    pub fn space(&self, length: u32) -> u32 {
        if M::ORDERED { length } else { length.max(self.room.least) }
    }

    /// The first of the pairs that `pair` stands among: the output VCs of a port, those of a class if there are datelines, or its entries.
    #[inline]
    pub fn block(&self, pair: Pair) -> Pair {
        Pair::at(pair.index() - self.tables.pair(pair).rank as usize)
    }

    /// The output VC that a pair stands for, which may be an entry.
    #[inline]
    pub fn output_vc(&self, pair: Pair) -> Pair {
        if M::ORDERED { pair } else { self.tables.output_vc(pair) }
    }

    /// The output VCs that a head which asks for `pair` may be granted.
    pub fn pairs_up_to(&self, pair: Pair) -> impl Iterator<Item = Pair> + use<M> {
        let port = self.tables.port(self.tables.pair_port(pair));
        let several = self.flexible() && port.class != TERMINAL;
        let first = if several { self.block(pair) } else { pair };
        (first.index()..=pair.index()).map(Pair::at)
    }

    /// The number of an allocator iteration of cycle `now` among all of the run.
    #[inline]
    pub fn moment(&self, now: u32, iteration: u32) -> u64 {
        u64::from(now) * u64::from(self.allocation.iterations) + u64::from(iteration)
    }

    /// Phits that the buffer behind a pair can hold in one VC.
    #[inline]
    pub fn capacity(&self, pair: Pair) -> u32 {
        self.capacities[self.tables.pair(pair).class as usize % CAPACITIES]
    }
}
