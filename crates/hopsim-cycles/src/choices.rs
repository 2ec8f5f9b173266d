//! The choices that a router and a network interface leave open: what they are called in documents, and what each of them means.

use hopsim_network::nothing::Nothing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Rule of the ejection ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ejection {
    /// The port is like any other output: room in the queue, one packet at a time.
    Link,
    /// A request needs only room in the queue; the grant needs a node that is not absorbing a packet, and
    /// then several packets may enter the queue at once.
    IdleNode,
}

/// Rule of the crossbar outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputHold {
    /// A grant keeps the output as long as the packet takes to cross, at link rate if it is still arriving.
    Transfer,
    /// A grant keeps the output for packet length / speedup, even if the packet is still arriving.
    Speedup,
}

/// Rule of the input arbiters' pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InputPointer {
    /// The pointer moves on behind the VC that was granted an output.
    Grant,
    /// The pointer moves on behind the VC that requested an output, granted or not.
    Request,
}

/// Rule of the wire from a node to its router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InjectionLink {
    /// The wire carries one phit per cycle.
    Serial,
    /// The wire carries any number of packets at once.
    Unlimited,
}

/// What counts as injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InjectionCount {
    /// Leaving the injection buffer counts (crossbar grant at the source router).
    Network,
    /// Entering the injection buffer counts.
    Buffer,
}

/// Where injection latency ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InjectionLatency {
    /// Injection latency ends at the crossbar grant in the source router.
    Grant,
    /// Injection latency ends when the packet leaves the source router.
    Departure,
    /// Injection latency ends when the packet leaves its source queue: its head sets out for the source router.
    Admission,
}

/// Whether nodes send to themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SelfTraffic {
    /// No pattern names the source of a packet, and a node that a permutation sends to itself sends nothing.
    None,
    /// Patterns draw the source like any other node, and a packet to it goes to the router and back.
    Router,
}

/// What a hop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HopCount {
    /// A hop is a link between routers.
    Links,
    /// A hop is a router: a packet that crosses no link between routers has one.
    Routers,
}

/// In which order the allocators of a virtual-channel router count its ports, which says whose turn comes after whose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PortOrder {
    /// As the topology numbers them: nodes first, and in a mesh, torus or ring the link to smaller coordinates before the one to larger.
    /// Where a port has several inputs of the crossbar the first ones of all ports come first.
    #[default]
    Topology,
    /// As BookSim 2 does: in a mesh, torus or ring the link to larger coordinates before the one to smaller, and the node of a router
    /// that has one behind all links. The inputs of the crossbar of a port are next to each other.
    Booksim,
}

/// How the stages of a virtual-channel router that take several cycles go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StageFlow {
    /// As a pipeline: whatever comes begins at once.
    #[default]
    Pipelined,
    /// As in BookSim 2: a router begins a stage with all that waits for it, and with nothing else until that is through.
    Batched,
}

/// Injection VC selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InjectionVc {
    /// The VC with the most free space, ties in turn (join the shortest queue).
    Shortest,
    /// The VC ⌊destination · VCs / nodes⌋: contiguous blocks of destinations; waits while that one has no room. Packets
    /// to different blocks never block each other, but a pattern may use few of the VCs.
    Destination,
    /// The next VC with room, round robin from the one behind that of the packet before.
    RoundRobin,
    /// Any VC with room, at random.
    Random,
    /// In a mesh, torus or ring the lower half of the VCs for packets that go first to smaller coordinates (minus), the upper
    /// half for the others; in it the VC with the most free space. A packet whose ways round are equally short takes any.
    Direction,
}

/// What a node does whose source queue is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// The node generates packets as ever, and they are lost.
    #[default]
    Drop,
    /// The node stands still: a packet that is due is generated, and has its time of generation, as soon as there is room, and
    /// the next one follows from then. No packet is lost, and above saturation the load generated is the load accepted.
    Wait,
}

/// How packets leave an input-queued router for its nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Consumption {
    /// A node takes one packet at a time, which an output arbiter chooses: traffic to one node can congest the network.
    #[default]
    Serial,
    /// A node takes a packet from every input VC at once, without arbitration: what has arrived waits at most for the packet
    /// before it in its VC to leave.
    Parallel,
}

/// A separable, input-first switch allocator: in each iteration every free input port requests for one of its VCs,
/// then every free output port grants one of the requests.
///
/// Only requests that could be granted take part. A later iteration gives another chance to the input ports that lost,
/// with another VC if the first one is no longer feasible. An input port is free again when the packet has left it,
/// an output port as `semantics.output_hold` says.
///
/// Source: Dally and Towles, Principles and Practices of Interconnection Networks (2004), §19.3; Fuentes' thesis
/// (2017), §1.1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Allocator {
    /// Iterations per cycle \[1 … 8\].
    #[schemars(range(min = 1, max = 8))]
    pub iterations: u32,
    /// Arbiter that chooses among the VCs of an input port.
    pub input_arbiter: ArbiterConfig,
    /// Arbiter that chooses among the input ports that request an output port.
    pub output_arbiter: ArbiterConfig,
    /// Packets from other routers before packets from the router's own nodes, at the outputs. Drains the network
    /// first, and starves the nodes of a router whose outputs are all wanted by transit.
    pub transit_priority: bool,
}

impl Default for Allocator {
    fn default() -> Self {
        Self {
            iterations: 2,
            input_arbiter: ArbiterConfig::default(),
            output_arbiter: ArbiterConfig::default(),
            transit_priority: false,
        }
    }
}

/// Who wins when several ask.
///
/// An input arbiter chooses among the VCs of its port, an output arbiter among the input ports that request it. Source:
/// Dally and Towles, Principles and Practices of Interconnection Networks (2004), §18.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArbiterConfig {
    /// The candidate that is next in turn after the last one served.
    ///
    /// A pointer starts at 0; the first candidate at or after it wins (cyclic), and it moves behind whom it served.
    /// With transit priority an output arbiter has a pointer for transit and one for injection.
    RoundRobin(Nothing),
    /// The candidate that was served longest ago.
    ///
    /// Those never served come first; of several the lowest VC or port wins.
    LeastRecentlyServed(Nothing),
    /// The oldest packet, ties in turn.
    ///
    /// The smallest time stamp wins, equal ones by round-robin. Gives every source the same share of a congested
    /// link, at the cost of carrying and comparing time stamps.
    Age(AgeConfig),
    /// Any candidate, at random.
    ///
    /// All candidates are equally likely; the draw depends on seed, router, port and cycle alone.
    Random(Nothing),
}

impl Default for ArbiterConfig {
    fn default() -> Self {
        Self::RoundRobin(Nothing {})
    }
}

/// Source: Abts and Weisser, SC 2007; Fuentes' thesis (2017), §3.2.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AgeConfig {
    /// What age is counted from.
    pub timestamp: Timestamp,
}

/// What age is counted from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Timestamp {
    /// The cycle in which the packet was generated.
    #[default]
    Generation,
    /// The cycle in which the packet entered the network; at its source router it is the youngest.
    Injection,
    /// The cycle in which the head of the packet came to the router (local age).
    Arrival,
}

/// How an allocator of a virtual-channel router decides who is granted what, where inputs may ask for several outputs each. An input
/// is granted one output at most, and an output to one input. Every input and every output has a round-robin pointer of its own,
/// which starts at 0.
///
/// Source: Dally and Towles, Principles and Practices of Interconnection Networks (2004), chapter 19.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlitAllocator {
    /// Every input picks one of the outputs that it asks for, then every output one of the inputs that have picked it. Pointers move behind
    /// who has been granted something.
    SeparableInputFirst(Nothing),
    /// Every output picks one of the inputs that ask for it, then every input one of the outputs that have picked it. Pointers move
    /// behind who has been granted something.
    SeparableOutputFirst(Nothing),
    /// Separable, output first, and once more for those that are left in every further iteration, in which no pointer moves (iSLIP;
    /// McKeown, IEEE/ACM Transactions on Networking 7, 1999).
    Islip(Iterations),
    /// As `islip` without pointers: who is picked is drawn among those that ask, each as likely as the others (parallel iterative
    /// matching; Anderson et al., ACM Transactions on Computer Systems 11, 1993). There is no age then.
    Pim(Iterations),
    /// Every input picks the one of the outputs that it asks for for which fewest inputs ask, then every output one of the inputs that have
    /// picked it (lonely output). The pointers of an input and an output that are granted each other move on by one.
    LonelyOutput(Nothing),
    /// Wavefront: diagonals of the matrix of inputs and outputs in turn, each of which grants what is asked for there and left. The one
    /// to begin with moves on in every cycle in which anything is asked for.
    Wavefront(WavefrontConfig),
    /// A largest matching, found by augmenting paths that begin at the inputs in turn: what no allocator of a real router has the time for,
    /// and a bound of what others can do. There is no age then.
    MaximumSize(Nothing),
}

/// A wavefront allocator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WavefrontConfig {
    /// The diagonal to begin with next time.
    pub next: NextDiagonal,
}

/// The diagonal that a wavefront allocator begins with next time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NextDiagonal {
    /// The one behind that with which it has begun.
    #[default]
    Step,
    /// The one behind that of its first grant.
    Grant,
}

/// Iterations that an allocator of a virtual-channel router may have.
pub const ITERATIONS: RangeInclusive<u32> = 1..=8;

/// Iterations of an allocator in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Iterations {
    /// Iterations per cycle.
    #[schemars(range(min = *ITERATIONS.start(), max = *ITERATIONS.end()))]
    pub iterations: u32,
}

impl Default for Iterations {
    fn default() -> Self {
        Self { iterations: 1 }
    }
}

impl Default for FlitAllocator {
    fn default() -> Self {
        Self::SeparableInputFirst(Nothing {})
    }
}

/// Who goes before others at the allocators of a virtual-channel router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlitArbiter {
    /// Nobody: all are served in turn.
    RoundRobin(Nothing),
    /// The oldest packet, ties in turn.
    Age(FlitAge),
    /// Whoever has waited longest since the arbiter served them last, at first the one with the highest number (a matrix arbiter; Dally and
    /// Towles, §18.5). VCs of one input of the crossbar take turns.
    LeastRecentlyServed(Nothing),
    /// The packet that has passed most routers, ties in turn.
    HopCount(Nothing),
    /// The input VC with most flits in its queue, ties in turn.
    QueueLength(Nothing),
    /// The one with the lowest number, always (a fixed-priority arbiter; Dally and Towles, §18.3): it may keep all others waiting for ever.
    FixedPriority(Nothing),
    /// The input VC that has drawn the smallest number in this step, ties in turn.
    Random(Nothing),
    /// The packet whose job has the highest `priority`, ties in turn (classes of service; Dally and Towles, chapter 15). A packet keeps
    /// the output VC that it owns, and goes no sooner than the packets before it in its own input VC: those of a higher class wait for
    /// others there. They may keep those of lower ones waiting for ever.
    Priority(Nothing),
}

/// How old an input VC of a virtual-channel router is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FlitAge {
    /// What the age of a packet is counted from.
    pub timestamp: Timestamp,
    /// Whether every flit has an age of its own, from its arrival in the router, and an input VC is as old as its first flit; with
    /// `timestamp` = `arrival` alone. Otherwise all flits are as old as their heads.
    pub by_flit: bool,
    /// Whether an input VC is as old as the oldest packet in it (priority donation), and not as its first one; with `timestamp` =
    /// `generation` or `injection`.
    pub donation: bool,
}

impl FlitArbiter {
    /// Whether whoever has been served goes behind the others, of those that are alike.
    pub fn takes_turns(self) -> bool {
        self != Self::FixedPriority(Nothing {})
    }
}

impl Default for FlitArbiter {
    fn default() -> Self {
        Self::RoundRobin(Nothing {})
    }
}

/// When an output VC of a virtual-channel router can be granted to another packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VcReuse {
    /// When the tail of the packet before has been granted the switch: packets may stand behind each other in a buffer.
    #[default]
    Tail,
    /// When besides all its credits are back: a buffer has flits of one packet at a time.
    Credits,
}

/// Whether a head asks for the switch while it asks for an output VC. What it is granted counts if it is granted both in the same cycle.
///
/// Source: Peh and Dally, HPCA 2001; Dally and Towles, Principles and Practices of Interconnection Networks (2004), §16.3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speculation {
    /// A head asks for the switch when it owns an output VC.
    #[default]
    None,
    /// Heads that own no output VC yet ask like all others; from the same input of the crossbar others go before them.
    Equal,
    /// Everybody who owns an output VC goes before heads that own none yet.
    FirmFirst,
    /// A second allocator of the same kind serves heads that own no output VC yet, with inputs and outputs that the first one leaves.
    Separate,
    /// As `separate`, but with outputs that nobody who owns an output VC asks for: they need not wait until the first allocator is done
    /// (Becker and Dally, SC 2009).
    Pessimistic,
}

impl Speculation {
    /// Whether heads that own no output VC yet have an allocator of their own.
    pub fn is_apart(self) -> bool {
        matches!(self, Self::Separate | Self::Pessimistic)
    }
}

/// What the arbiter of an input port picks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SwitchInput {
    /// One of its VCs, which asks for the output port that its packet needs.
    #[default]
    Vc,
    /// One of the output ports that its VCs need; among VCs that need the same one they take turns.
    Output,
}
