//! What a router is made of, as written in the document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a router is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RouterConfig {
    /// Combined input-output-queued: VC buffers at the inputs, a crossbar that may run faster than the links,
    /// one queue per output port (thesis §1.1).
    Cioq(Cioq),
    /// Input-queued: no output queues, the crossbar runs at link rate and a granted packet goes straight
    /// onto the link.
    InputQueued(InputQueued),
}

impl Default for RouterConfig {
    fn default() -> Self {
        Self::Cioq(Cioq::default())
    }
}

/// A combined input-output-queued router.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cioq {
    /// Virtual channels.
    pub vcs: Vcs,
    /// Buffer sizes.
    pub buffers: Buffers,
    /// Crossbar rate relative to the links \[1 … 64\]: a packet occupies the crossbar ⌈length / speedup⌉ cycles,
    /// or until it has arrived. There is one allocation per cycle whatever the speedup.
    #[schemars(range(min = 1.0, max = 64.0))]
    pub speedup: f64,
    /// From the grant to the output queue's head \[cycles, 0 … 10000\].
    #[schemars(range(max = 10000))]
    pub crossbar_latency: u32,
    /// From the arrival of a head to its first request \[cycles, 0 … 10000\].
    #[schemars(range(max = 10000))]
    pub pipeline_latency: u32,
    /// The switch allocator.
    pub allocator: Allocator,
}

impl Default for Cioq {
    fn default() -> Self {
        Self {
            vcs: Vcs::default(),
            buffers: Buffers::default(),
            speedup: 2.0,
            crossbar_latency: 3,
            pipeline_latency: 0,
            allocator: Allocator::default(),
        }
    }
}

/// An input-queued router.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InputQueued {
    /// Virtual channels.
    pub vcs: Vcs,
    /// Buffer sizes.
    pub buffers: InputBuffers,
    /// From the grant to the link \[cycles, 0 … 10000\].
    #[schemars(range(max = 10000))]
    pub crossbar_latency: u32,
    /// From the arrival of a head to its first request \[cycles, 0 … 10000\].
    #[schemars(range(max = 10000))]
    pub pipeline_latency: u32,
    /// The switch allocator.
    pub allocator: Allocator,
}

/// Virtual channels by port class, 1 … 16 each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Vcs {
    /// Of local links; default: what the routing needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16))]
    pub local: Option<u32>,
    /// Of global links; default: what the routing needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16))]
    pub global: Option<u32>,
    /// Of injection ports; default 3. They do not matter for deadlock, more of them lessen head-of-line
    /// blocking.
    #[schemars(range(min = 1, max = 16))]
    pub injection: u32,
}

impl Default for Vcs {
    fn default() -> Self {
        Self { local: None, global: None, injection: 3 }
    }
}

/// Buffer sizes of a combined input-output-queued router \[phits\]; each must hold a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Buffers {
    /// Input buffer per VC of local links.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub local: u32,
    /// Input buffer per VC of global links.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub global: u32,
    /// Injection buffer per VC.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub injection: u32,
    /// Output queue per port, shared by its VCs.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub output: u32,
}

impl Default for Buffers {
    fn default() -> Self {
        Self { local: 32, global: 256, injection: 256, output: 32 }
    }
}

/// Buffer sizes of an input-queued router \[phits\]; each must hold a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InputBuffers {
    /// Input buffer per VC of local links.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub local: u32,
    /// Input buffer per VC of global links.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub global: u32,
    /// Injection buffer per VC.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub injection: u32,
}

impl Default for InputBuffers {
    fn default() -> Self {
        Self { local: 32, global: 256, injection: 256 }
    }
}

/// A separable, input-first switch allocator (Dally & Towles §19.3; thesis §1.1): each iteration every free
/// input port requests for one of its VCs, then every free output port grants one request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Allocator {
    /// Iterations per cycle \[1 … 8\].
    #[schemars(range(min = 1, max = 8))]
    pub iterations: u32,
    /// Chooses among the VCs of an input port.
    pub input_arbiter: ArbiterConfig,
    /// Chooses among the input ports that request an output port.
    pub output_arbiter: ArbiterConfig,
    /// Packets from other routers before packets from the router's own nodes, at the outputs.
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

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Who wins when several ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArbiterConfig {
    /// The next in turn after the last one served.
    RoundRobin(Nothing),
    /// The one served longest ago.
    LeastRecentlyServed(Nothing),
    /// The oldest packet, ties in turn.
    Age(AgeConfig),
    /// Any, at random.
    Random(Nothing),
}

impl Default for ArbiterConfig {
    fn default() -> Self {
        Self::RoundRobin(Nothing {})
    }
}

/// Parameters of age arbitration.
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
}
