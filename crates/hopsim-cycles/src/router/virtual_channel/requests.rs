//! What the input VCs of a router ask for in a cycle.

use crate::kernel::ids::{Pair, Slot};
use hopsim_network::network::Layout;
use hopsim_routing::RouteState;

/// A head that asks for an output VC.
#[derive(Clone, Copy)]
pub struct VcRequest {
    /// The input VC of the head.
    pub slot: Slot,
    /// The output VC.
    pub pair: Pair,
    /// What the packet remembers if it is granted.
    pub after: RouteState,
}

/// The requests for output VCs of a router in a cycle: scratch.
#[derive(Default)]
pub struct VcRequests {
    /// All requests, ascending by input VC.
    pub all: Vec<VcRequest>,
    /// The request that each output VC prefers so far, by pair; empty between cycles.
    pub best: Vec<Option<u16>>,
}

impl VcRequests {
    /// No requests of routers with this layout.
    pub fn new(layout: &Layout) -> Self {
        Self { all: Vec::new(), best: vec![None; layout.pairs()] }
    }
}

/// The requests for the switch of a router in a cycle: scratch.
#[derive(Default)]
pub struct SwitchRequests {
    /// The input port and the slot that each output port prefers so far; empty between cycles.
    pub best: Vec<Option<(u16, Slot)>>,
}

impl SwitchRequests {
    /// No requests of a router with so many ports.
    pub fn new(ports: usize) -> Self {
        Self { best: vec![None; ports] }
    }
}
