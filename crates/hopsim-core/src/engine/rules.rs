//! The rules of a run, and which of them it is known at compile time not to need.

use crate::config::router::{ArbiterConfig, Consumption};
use crate::config::{Ejection, InjectionCount, InjectionLatency, InputPointer, OutputHold};
use crate::plan::Plan;
use crate::rng::{Purpose, Stream, Streams};
use crate::routing::flexvc::FlexVc;

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

/// The stream of the choices that a packet makes once in a router.
// Out of line, so that heads that draw nothing do not pay for preparing it.
#[inline(never)]
pub fn head_stream(seed: u64, (source, serial): (u32, u32), router: u32) -> Stream {
    Stream::new(seed, Purpose::Routing, u64::from(source)).at(u64::from(serial)).at(u64::from(router))
}
