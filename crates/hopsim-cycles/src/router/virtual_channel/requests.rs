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
    /// All requests as the allocator sees them.
    pub bids: Vec<Bid>,
    /// The indices of the requests that are granted.
    pub granted: Vec<u32>,
}

/// The requests for the switch of a router in a cycle: scratch.
#[derive(Default)]
pub struct SwitchRequests {
    /// The heads that ask for the switch while they ask for an output VC, with the output port.
    pub speculating: Vec<(Slot, usize)>,
    /// The inputs of the crossbar and the output ports that packets hold.
    pub held: Vec<(usize, usize)>,
    /// Requests at the allocator of the switch.
    pub firm: SwitchBids,
    /// Requests of heads that own no output VC yet, if they have an allocator of their own.
    pub separate: SwitchBids,
}

/// The requests at an allocator of the switch.
#[derive(Default)]
pub struct SwitchBids {
    /// The input VCs that ask, ascending by port.
    pub slots: Vec<Slot>,
    /// All requests as the allocator sees them, by input of the crossbar and output port.
    pub bids: Vec<Bid>,
    /// The indices of the requests that are granted.
    pub granted: Vec<u32>,
}

impl SwitchBids {
    /// Forgets all requests.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.bids.clear();
        self.granted.clear();
    }
}
