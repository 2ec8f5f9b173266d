//! The rules of a run: what the document chose, as hot code reads it.

use crate::choices::{ArbiterConfig, Consumption};
use crate::choices::{Ejection, InputPointer, OutputHold};
use crate::kernel::packet::InjectionEnd;
use crate::system::System;
use hopsim_random::{Purpose, Streams};
use hopsim_routing::flexvc::FlexVc;

/// Who wins in the allocator.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is one of the document's choices, resolved")]
pub struct Allocation {
    /// Allocator iterations per cycle.
    pub iterations: u32,
    /// Whether the rule is `InputPointer::Request`: input arbiters move on when they request.
    pub on_request: bool,
    /// Whether packets from other routers go first.
    pub transit_priority: bool,
    /// Share of the cycles in which packets from other routers go first.
    pub ipr: f64,
    /// What is drawn to decide whether packets from other routers go first, by router.
    pub priorities: Streams,
    /// Whether input arbiters are round-robin.
    pub input_round_robin: bool,
    /// Whether output arbiters are round-robin.
    pub output_round_robin: bool,
    /// Whether input arbiters need stamps of whom they served.
    pub input_stamps: bool,
    /// Whether output arbiters need stamps of whom they served.
    pub output_stamps: bool,
}

/// How packets cross a router and leave it.
#[derive(Clone)]
pub struct Crossing {
    /// Time from a grant to the head of the output queue \[cycles\].
    pub latency: u32,
    /// Whether the rule is `OutputHold::Speedup`.
    pub hold_speedup: bool,
    /// Where injection latency ends.
    pub injection_end: InjectionEnd,
    /// Whether the rule is `Ejection::IdleNode`.
    pub idle_node: bool,
    /// Whether nodes take packets from all input VCs at once.
    pub parallel: bool,
    /// Outputs of the crossbar that an output port has.
    pub outputs: u32,
    /// Output queue per port \[phits\].
    pub output_buffer: u32,
    /// Phits of as many packets of one length as an output queue holds, less one; endless without output queues.
    pub queue_slack: u32,
}

/// The room that packets need in the buffer of a link.
#[derive(Clone)]
pub struct Room {
    /// Shortest packet of any job \[phits\].
    pub shortest: u32,
    /// Whether packets of several lengths meet.
    pub mixed: bool,
    /// Room that packets which enter a ring leave behind them \[phits\]; 0: there are no rings.
    pub bubble: u32,
    /// Least room that a packet takes \[phits\]: that of the longest packet where there are rings.
    pub least: u32,
    /// Room that packets leave in an adaptive VC when they enter the network \[phits\].
    pub lbr: u32,
}

/// What heads ask for.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is one of the document's choices, resolved")]
pub struct Requests {
    /// Whether heads may use several VCs of a port.
    pub flexible: bool,
    /// Whether heads that may use several VCs of a port take the one with most room.
    pub joins_shortest: bool,
    /// Whether heads must be asked for their port, as it is not the port of a minimal path.
    pub asks: bool,
    /// Whether the VC of a hop depends on more than the VC before it.
    pub depends_on_hop: bool,
    /// Whether it follows from the path at injection, and then is kept.
    pub keeps_paths: bool,
    /// Whether some heads have a choice of outputs.
    pub redecides: bool,
    /// Whether decisions draw random numbers even where only one output will do.
    pub draws: bool,
    /// What is drawn anew at every attempt of a head, by source node.
    pub attempts: Streams,
}

impl Allocation {
    /// The allocation rules of a system.
    pub fn new(system: &System) -> Self {
        let allocator = &system.cioq().allocator;
        Self {
            iterations: allocator.iterations,
            on_request: system.cioq().input_pointer == InputPointer::Request,
            transit_priority: allocator.transit_priority,
            ipr: system.control.ipr,
            priorities: Streams::new(system.seed, Purpose::Priority),
            input_round_robin: matches!(allocator.input_arbiter, ArbiterConfig::RoundRobin(_)),
            output_round_robin: matches!(allocator.output_arbiter, ArbiterConfig::RoundRobin(_)),
            input_stamps: matches!(allocator.input_arbiter, ArbiterConfig::LeastRecentlyServed(_)),
            output_stamps: matches!(allocator.output_arbiter, ArbiterConfig::LeastRecentlyServed(_)),
        }
    }
}

impl Crossing {
    /// The crossing rules of a system.
    pub fn new(system: &System) -> Self {
        let router = system.cioq();
        let whole = |size: u32| size - size % system.shortest_packet();
        Self {
            latency: router.crossbar_latency,
            hold_speedup: router.output_hold == OutputHold::Speedup,
            injection_end: InjectionEnd::of(system),
            idle_node: router.ejection == Ejection::IdleNode,
            parallel: router.consumption == Consumption::Parallel,
            outputs: router.crossbar_outputs.into(),
            output_buffer: router.output_buffer.unwrap_or(u32::MAX),
            queue_slack: router.output_buffer.map_or(u32::MAX, |size| whole(size) - 1),
        }
    }
}

/// Most cycles from a grant until the packet has left the router and its link is free again.
pub fn longest_crossing(system: &System) -> u32 {
    let queue = system.cioq().output_buffer.unwrap_or(0) + 2 * system.longest_packet();
    // Messages take at most half of a link, so that what is queued takes at most twice its length, and theirs.
    let messages = system.routing.sensors().exchange.map(|exchange| exchange.message_length);
    let queue = messages.map_or(queue, |length| 2 * queue + 4 * length);
    system.cioq().crossbar_latency + queue * system.network.slowest_link()
}

impl Room {
    /// The room that packets need in a system.
    pub fn new(system: &System) -> Self {
        Self {
            shortest: system.shortest_packet(),
            mixed: system.shortest_packet() != system.longest_packet(),
            bubble: system.network.classes.links.iter().map(|class| class.bubble).max().unwrap_or(0),
            least: if system.routing.vcs().has_entries() { system.longest_packet() } else { 0 },
            lbr: system.control.lbr,
        }
    }
}

impl Requests {
    /// What heads ask for in a system.
    pub fn new(system: &System) -> Self {
        let vcs = system.routing.vcs();
        Self {
            flexible: vcs.is_flexible(),
            joins_shortest: vcs.flex().is_some_and(FlexVc::joins_shortest),
            asks: system.routing.asks(),
            depends_on_hop: vcs.depends_on_hop(),
            keeps_paths: vcs.keep_paths(),
            redecides: system.routing.redecides(),
            draws: system.routing.draws(),
            attempts: Streams::new(system.seed, Purpose::Attempt),
        }
    }
}
