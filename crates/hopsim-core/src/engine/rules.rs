//! The rules of a run, and which of them it is known at compile time not to need.

use super::mask::Mask;
use super::mode::Mode;
use super::shared::Shared;
use crate::config::router::{ArbiterConfig, Consumption};
use crate::config::{Ejection, InjectionCount, InjectionLatency, InputPointer, OutputHold};
use crate::network::TERMINAL;
use crate::plan::Plan;
use crate::rng::{Purpose, Stream, Streams};
use crate::routing::flexvc::FlexVc;
use std::ops::RangeInclusive;

/// Constants of the run that hot code reads.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is one of the document's choices, resolved")]
pub struct Rules {
    /// Allocator iterations per cycle.
    pub iterations: u32,
    /// From grant to the head of the output queue.
    pub crossbar: u32,
    /// From arrival to first request.
    pub pipeline: u32,
    /// Shortest packet of any job.
    pub shortest: u32,
    /// Whether packets of several lengths meet.
    pub mixed: bool,
    /// `Ejection::IdleNode`.
    pub idle_node: bool,
    /// `OutputHold::Speedup`.
    pub hold_speedup: bool,
    /// `InputPointer::Request`.
    pub on_request: bool,
    /// `InjectionCount::Buffer`.
    pub count_at_buffer: bool,
    /// `InjectionLatency::Departure`.
    pub until_departure: bool,
    /// Nodes take packets from all input VCs at once.
    pub parallel: bool,
    /// Packets from other routers first.
    pub transit_priority: bool,
    /// Share of the cycles in which they go first.
    pub ipr: f64,
    /// Room that packets leave in an adaptive VC when they enter the network \[phits\].
    pub lbr: u32,
    /// Terminal ports of a router.
    pub terminals: usize,
    /// Output queue per port \[phits\].
    pub output_buffer: u32,
    /// Phits of as many packets of one length as an output queue holds, less one; endless without output queues.
    pub queue_slack: u32,
    /// Nodes of a router.
    pub nodes_per_router: u32,
    /// Seed of the run.
    pub seed: u64,
    /// By source node: what is drawn anew at every attempt of a head.
    pub attempts: Streams,
    /// Whether input arbiters are round-robin.
    pub input_round_robin: bool,
    /// Whether output arbiters are.
    pub output_round_robin: bool,
    /// Whether input arbiters need stamps of whom they served.
    pub input_stamps: bool,
    /// Whether output arbiters do.
    pub output_stamps: bool,
    /// Whether heads may use several VCs of a port.
    pub flexible: bool,
    /// Whether they take the one with most room.
    pub joins_shortest: bool,
    /// Whether heads must be asked for their port, as it is not that of a minimal path.
    pub asks: bool,
    /// Whether the VC of a hop depends on more than the VC before it.
    pub depends_on_hop: bool,
    /// Room that packets which enter a ring leave behind them \[phits\]; 0: there are no rings.
    pub bubble: u32,
    /// Least room that a packet takes in the buffer of a link \[phits\]: that of the longest one where there are rings.
    pub least_space: u32,
}

impl Rules {
    /// The constants of a plan.
    pub fn new(plan: &Plan) -> Self {
        let (router, nic) = (&plan.router, &plan.nic);
        Self {
            iterations: router.allocator.iterations,
            crossbar: router.crossbar_latency,
            pipeline: router.pipeline_latency,
            shortest: plan.shortest_packet(),
            mixed: plan.shortest_packet() != plan.longest_packet(),
            idle_node: router.ejection == Ejection::IdleNode,
            hold_speedup: router.output_hold == OutputHold::Speedup,
            on_request: router.input_pointer == InputPointer::Request,
            count_at_buffer: nic.injection_count == InjectionCount::Buffer,
            until_departure: nic.injection_latency == InjectionLatency::Departure,
            parallel: router.consumption == Consumption::Parallel,
            transit_priority: router.allocator.transit_priority,
            ipr: plan.control.ipr,
            lbr: plan.control.lbr,
            queue_slack: router
                .output_buffer
                .map_or(u32::MAX, |size| size - size % plan.shortest_packet() - 1),
            output_buffer: router.output_buffer.unwrap_or(u32::MAX),
            terminals: plan.network.layout.terminals,
            nodes_per_router: plan.topology.nodes_per_router(),
            seed: plan.experiment.measure.seed,
            attempts: Streams::new(plan.experiment.measure.seed, Purpose::Attempt),
            input_round_robin: matches!(router.allocator.input_arbiter, ArbiterConfig::RoundRobin(_)),
            output_round_robin: matches!(router.allocator.output_arbiter, ArbiterConfig::RoundRobin(_)),
            input_stamps: matches!(router.allocator.input_arbiter, ArbiterConfig::LeastRecentlyServed(_)),
            output_stamps: matches!(router.allocator.output_arbiter, ArbiterConfig::LeastRecentlyServed(_)),
            flexible: plan.routing.vcs().is_flexible(),
            joins_shortest: plan.routing.vcs().flex().is_some_and(FlexVc::joins_shortest),
            asks: plan.routing.asks(),
            depends_on_hop: plan.routing.vcs().depends_on_hop(),
            bubble: plan.network.classes.links.iter().map(|class| class.bubble).max().unwrap_or(0),
            least_space: if plan.routing.vcs().has_entries() { plan.longest_packet() } else { 0 },
        }
    }
}

impl<const W: usize, M: Mode> Shared<'_, W, M> {
    /// `Ejection::IdleNode`.
    #[inline]
    pub fn idle_node(&self) -> bool {
        !M::CLEAN && self.rules.idle_node
    }

    /// `OutputHold::Speedup`.
    #[inline]
    pub fn hold_speedup(&self) -> bool {
        !M::CLEAN && self.rules.hold_speedup
    }

    /// `InputPointer::Request`.
    #[inline]
    pub fn on_request(&self) -> bool {
        !M::CLEAN && self.rules.on_request
    }

    /// `InjectionCount::Buffer`.
    #[inline]
    pub fn count_at_buffer(&self) -> bool {
        !M::CLEAN && self.rules.count_at_buffer
    }

    /// `InjectionLatency::Departure`.
    #[inline]
    pub fn until_departure(&self) -> bool {
        !M::CLEAN && self.rules.until_departure
    }

    /// Whether packets of several lengths meet.
    #[inline]
    pub fn mixed(&self) -> bool {
        !M::PLAIN && self.rules.mixed
    }

    /// Whether packets in transit go first at a router in cycle `now`.
    #[inline]
    pub fn transit_priority(&self, router: u32, now: u32) -> bool {
        !M::PLAIN
            && (self.rules.transit_priority || (self.rules.ipr > 0.0 && self.draws_priority(router, now)))
    }

    /// In-transit priority restriction: whether packets in transit go first in this cycle.
    #[cold]
    fn draws_priority(&self, router: u32, now: u32) -> bool {
        let stream = Stream::new(self.rules.seed, Purpose::Priority, u64::from(router));
        stream.at(u64::from(now)).unit() < self.rules.ipr
    }

    /// Room that packets leave in an adaptive VC when they enter the network \[phits\].
    #[inline]
    pub fn lbr(&self) -> u32 {
        if M::RISING { 0 } else { self.rules.lbr }
    }

    /// Whether nodes take packets from all input VCs at once.
    #[inline]
    pub fn parallel(&self) -> bool {
        !M::REGULAR && self.rules.parallel
    }

    /// Whether routers without choices that can do nothing are left alone, as they know when they can again: packets that leave
    /// at once, or that need more room than the shortest, have times of their own.
    #[inline]
    pub fn patient(&self) -> bool {
        !M::RISING && !self.parallel() && !self.mixed()
    }

    /// Whether input arbiters are round-robin.
    #[inline]
    pub fn input_round_robin(&self) -> bool {
        M::PLAIN || self.rules.input_round_robin
    }

    /// Whether output arbiters are round-robin.
    #[inline]
    pub fn output_round_robin(&self) -> bool {
        M::PLAIN || self.rules.output_round_robin
    }

    /// Whether input arbiters need stamps of whom they served.
    #[inline]
    pub fn input_stamps(&self) -> bool {
        !M::PLAIN && self.rules.input_stamps
    }

    /// Whether output arbiters need stamps of whom they served.
    #[inline]
    pub fn output_stamps(&self) -> bool {
        !M::PLAIN && self.rules.output_stamps
    }

    /// Whether a head may use several VCs of a port (FlexVC): the one it asks for and all below.
    #[inline]
    pub fn flexible(&self) -> bool {
        !M::RISING && self.rules.flexible
    }

    /// Whether heads must be asked for their port, as it is not that of a minimal path.
    #[inline]
    pub fn asks(&self) -> bool {
        !M::RISING && self.rules.asks
    }

    /// Whether the VC of a hop depends on more than the VC before it.
    #[inline]
    pub fn depends_on_hop(&self) -> bool {
        !M::RISING && self.rules.depends_on_hop
    }

    /// Room that packets which enter a ring leave behind them \[phits\].
    #[inline]
    pub fn bubble(&self) -> u32 {
        if M::RISING { 0 } else { self.rules.bubble }
    }

    /// Room that a packet of `length` phits takes in the buffer of a link \[phits\]. Where there are rings that is the room of
    /// the longest packet: the bubble then goes round the ring in one piece, and is never divided into gaps too short for
    /// the packets behind them.
    #[inline]
    pub fn space(&self, length: u32) -> u32 {
        if M::RISING { length } else { length.max(self.rules.least_space) }
    }

    /// The first of the pairs that `pair` stands among: the output VCs of a port, or its entries.
    #[inline]
    pub fn block(&self, pair: usize) -> usize {
        pair - self.tables.pair(pair).vc as usize
    }

    /// The output VC that a pair stands for, which may be an entry.
    #[inline]
    pub fn output_vc(&self, pair: usize) -> usize {
        if M::RISING { pair } else { self.tables.pair(pair).output_vc as usize }
    }

    /// The output VCs whose heads could be granted something if `open` are those with room.
    #[inline]
    pub fn reachable(&self, open: Mask<W>) -> Mask<W> {
        if self.flexible() { self.spread(open) } else { open }
    }

    /// `open` with all output VCs of link ports that are above one of it.
    #[inline]
    fn spread(&self, open: Mask<W>) -> Mask<W> {
        if open == self.all {
            return open;
        }
        let mut all = open;
        for (step, above) in self.above.iter().enumerate() {
            all |= all.shifted(1 << step) & *above;
        }
        all
    }

    /// The output VCs that a head which asks for `pair` may be granted.
    pub fn pairs_up_to(&self, pair: usize) -> RangeInclusive<usize> {
        let port = self.tables.port(self.tables.pair_port(pair));
        let several = self.flexible() && port.class != TERMINAL;
        if several { self.block(pair)..=pair } else { pair..=pair }
    }

    /// The number of an allocator iteration of cycle `now` among all of the run.
    #[inline]
    pub fn moment(&self, now: u32, iteration: u32) -> u64 {
        u64::from(now) * u64::from(self.rules.iterations) + u64::from(iteration)
    }

    /// Phits that the buffer behind a pair can hold in one VC.
    #[inline]
    pub fn capacity(&self, pair: usize) -> u32 {
        self.capacities[self.tables.pair(pair).class as usize % 4]
    }
}
