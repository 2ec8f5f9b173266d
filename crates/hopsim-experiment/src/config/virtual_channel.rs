//! Routers through which packets move flit by flit, as written in the document.

use crate::config::limits::DELAYS;
use crate::config::router::{CROSSBAR_OUTPUTS, CrossbarInputs, InputBuffers, Vcs};
use hopsim_cycles::choices::{FlitAllocator, FlitArbiter, Speculation, SwitchInput, VcReuse};
use hopsim_cycles::speedup::SPEEDUPS;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Cycles that the allocation of an output VC may take.
pub const ALLOCATION_DELAYS: RangeInclusive<u32> = 1..=*DELAYS.end();

/// Flits that may wait at an output port of a router which is faster than its links, by default.
pub const OUTPUT_QUEUE: u32 = 32;

/// A virtual-channel router, through which packets move flit by flit; a flit is a phit. Flits wait at the inputs. The head of a
/// packet is granted an output VC, which the packet owns until its tail has left, and its flits cross whenever the switch lets
/// them: a packet may lie in several routers at once, and flits of different packets take turns on a link. A head is in a router for
/// `routing_delay` + `vc_allocation_delay` + `switch_traversal_delay` cycles if it meets no other packet. A head that may use several
/// VCs asks for all of them that are free. A VC is free again in the cycle after the tail has been granted the switch. Credits count
/// flits, and go back when a flit is granted the switch. Nodes take flits of several packets in turns.
///
/// Source: Dally and Towles, Principles and Practices of Interconnection Networks (2004), chapter 16; the exact rules are in the model
/// reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VirtualChannel {
    /// Virtual channels.
    pub vcs: Vcs,
    /// Buffer sizes.
    pub buffers: InputBuffers,
    /// What a head needs of the buffer behind the output VC that it is granted, and a packet of a pattern of the injection VC by which
    /// its node sends it.
    pub switching: FlitSwitching,
    /// Delay from the arrival of a head to its first request for an output VC: route computation \[cycles\].
    #[schemars(range(min = *DELAYS.start(), max = *DELAYS.end()))]
    pub routing_delay: u32,
    /// Delay from the grant of an output VC to the first request for the switch \[cycles\].
    #[schemars(range(min = *ALLOCATION_DELAYS.start(), max = *ALLOCATION_DELAYS.end()))]
    pub vc_allocation_delay: u32,
    /// Delay from the first request of a flit for the switch until it leaves its queue, both included \[cycles\]. A longer one than 1 is for
    /// `semantics.stages = "batched"`: in a pipeline it would be a longer `switch_traversal_delay`.
    #[schemars(range(min = *ALLOCATION_DELAYS.start(), max = *ALLOCATION_DELAYS.end()))]
    pub switch_allocation_delay: u32,
    /// How many times the router allocates while a link takes a flit (internal speedup), on average: 1.5 is once in one cycle and twice in
    /// the next. `routing_delay` and `vc_allocation_delay` count these steps, and a flit that has been granted the switch begins to cross in
    /// the step after. Flits wait in queues at the outputs for the link. An input port sends back the credits of one step per cycle.
    /// A multiple of 0.01.
    #[schemars(range(min = *SPEEDUPS.start(), max = *SPEEDUPS.end()))]
    pub speedup: f64,
    /// Delay from the grant of the switch until the flit is on the link \[cycles\].
    #[schemars(range(min = *DELAYS.start(), max = *DELAYS.end()))]
    pub switch_traversal_delay: u32,
    /// Delay of a credit in the router that it comes to, beside the latency of the link \[cycles\].
    #[schemars(range(min = *DELAYS.start(), max = *DELAYS.end()))]
    pub credit_delay: u32,
    /// When an output VC can be granted to another packet.
    pub vc_reuse: VcReuse,
    /// Whether a head is granted an output VC only if that has a credit, by wormhole switching; otherwise its first flit may wait for one.
    pub vc_needs_credit: bool,
    /// Whether of the output VCs that a head asks for those go first behind which no flit is, and no credit is on its way back; with
    /// `vc_allocator` = `separable_input_first`, whose inputs pick one.
    pub empty_vcs_first: bool,
    /// Inputs of the crossbar that an input port has (input speedup): so many flits may leave the port in a cycle.
    pub crossbar_inputs: CrossbarInputs,
    /// Outputs of the crossbar that every output port has (output speedup; Dally and Towles (2004), §17.2): so many flits may cross to the port at once, and
    /// wait in its queue for the link. Input port i uses the output i modulo their number, as in BookSim 2.
    #[schemars(range(min = *CROSSBAR_OUTPUTS.start(), max = *CROSSBAR_OUTPUTS.end()))]
    pub crossbar_outputs: u32,
    /// How heads are matched with the output VCs that they ask for.
    pub vc_allocator: FlitAllocator,
    /// How input ports are matched with the output ports that the packets of their VCs need.
    pub switch_allocator: FlitAllocator,
    /// What the arbiter of an input port picks if `switch_allocator` is `separable_input_first`; default `vc`. BookSim 2 does `output`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch_input: Option<SwitchInput>,
    /// Who goes before others at both allocators.
    pub arbiter: FlitArbiter,
    /// Whether heads ask for the switch while they ask for an output VC, for which `vc_allocation_delay` must be 1: a head that is granted
    /// both at once is in a router for a cycle less.
    pub speculation: Speculation,
    /// Whether the input and the output of the switch that a flit has crossed are kept for the next flit of its packet, if that is in the
    /// queue by then.
    pub hold_switch: bool,
}

impl Default for VirtualChannel {
    fn default() -> Self {
        Self {
            vcs: Vcs::default(),
            buffers: InputBuffers::default(),
            switching: FlitSwitching::default(),
            routing_delay: 1,
            vc_allocation_delay: 1,
            switch_allocation_delay: 1,
            speedup: 1.0,
            switch_traversal_delay: 1,
            credit_delay: 0,
            vc_reuse: VcReuse::default(),
            vc_needs_credit: false,
            empty_vcs_first: false,
            crossbar_inputs: CrossbarInputs::default(),
            crossbar_outputs: 1,
            vc_allocator: FlitAllocator::default(),
            switch_allocator: FlitAllocator::default(),
            switch_input: None,
            arbiter: FlitArbiter::default(),
            speculation: Speculation::default(),
            hold_switch: false,
        }
    }
}

/// What a head needs of the buffer behind the output VC that it is granted.
///
/// Source: Dally and Towles, Principles and Practices of Interconnection Networks (2004), §13.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlitSwitching {
    /// Nothing: its flits follow as room for them comes up, and buffers may be shorter than packets.
    #[default]
    Wormhole,
    /// Room for the whole packet.
    VirtualCutThrough,
}
