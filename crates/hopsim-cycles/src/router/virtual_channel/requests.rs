//! What the input VCs of a router ask for in a cycle.

use crate::kernel::ids::{Pair, Slot};
use crate::router::virtual_channel::allocator::Bid;
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
    /// All requests, ascending by input VC and then output VC.
    pub all: Vec<VcRequest>,
    /// The same for the allocator.
    pub bids: Vec<Bid>,
    /// Those that are granted, by their indices.
    pub granted: Vec<u32>,
}

/// The requests for the switch of a router in a cycle: scratch.
#[derive(Default)]
pub struct SwitchRequests {
    /// The input VCs that ask, ascending by port.
    pub slots: Vec<Slot>,
    /// The same for the allocator, by input port and output port.
    pub bids: Vec<Bid>,
    /// Those that are granted, by their indices.
    pub granted: Vec<u32>,
}
