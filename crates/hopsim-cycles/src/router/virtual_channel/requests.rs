//! What the input VCs of a router ask for in a cycle.

use crate::kernel::ids::{Id as _, SlotId};
use crate::router::virtual_channel::allocator::Bid;
use crate::router::virtual_channel::asked::{self, AskedOutputs};
use crate::router::virtual_channel::places::OwnedVc;
use crate::router::virtual_channel::shared::{self, FlitShared};
use hopsim_routing::RouteState;

/// All requests of a router in a cycle: scratch.
#[derive(Default)]
pub struct FlitRequests {
    /// Requests for output VCs.
    pub vcs: VcRequests,
    /// Requests for the switch.
    pub switch: SwitchRequests,
    /// What packets remember whose heads have a choice, if they are granted what they have decided for.
    pub decided: Vec<RouteState>,
    /// Requests for output VCs where all are served in turn, which then are nowhere else.
    pub vcs_in_turn: Option<AskedOutputs<VcRequest>>,
    /// Requests for the switch where all are served in turn.
    pub switch_in_turn: Option<AskedOutputs<SlotId>>,
}

impl FlitRequests {
    /// No requests, in routers of these kinds.
    pub fn new(shared: &FlitShared<'_>) -> Self {
        let plan = &shared.plan;
        let (vcs, crossbar) = (shared::vcs(shared.layout), shared::crossbar_sides(shared.layout, plan));
        Self {
            vcs_in_turn: asked::allocates_vcs(plan, vcs).then(|| AskedOutputs::new(vcs, VcRequest::none())),
            switch_in_turn: asked::allocates_switch(plan, crossbar)
                .then(|| AskedOutputs::new(crossbar, SlotId::at(0))),
            ..Self::default()
        }
    }
}

/// A head that asks for an output VC.
#[derive(Clone, Copy)]
pub struct VcRequest {
    /// The input VC of the head.
    pub slot: SlotId,
    /// The output VC.
    pub output: OwnedVc,
    /// The index among `decided` of what the packet remembers if it is granted, where that changes anything.
    pub after: Option<u16>,
}

impl VcRequest {
    /// In the place of a request where there is none.
    pub fn none() -> Self {
        Self { slot: SlotId::at(0), output: OwnedVc { pair: 0, port: 0, vc: 0 }, after: None }
    }
}

/// The requests for output VCs of a router in a cycle.
#[derive(Default)]
pub struct VcRequests {
    /// All requests, ascending by input VC and then output VC.
    pub all: Vec<VcRequest>,
    /// All requests as the allocator sees them.
    pub bids: Vec<Bid>,
    /// The indices of the requests that are granted.
    pub granted: Vec<u32>,
}

/// The requests for the switch of a router in a cycle.
#[derive(Default)]
pub struct SwitchRequests {
    /// The heads that ask for the switch while they ask for an output VC, with the output port.
    pub speculating: Vec<(SlotId, usize)>,
    /// The inputs and outputs of the crossbar that packets hold.
    pub held: Vec<(usize, u16)>,
    /// Requests at the allocator of the switch.
    pub firm: SwitchBids,
    /// Requests of heads that own no output VC yet, if they have an allocator of their own.
    pub separate: SwitchBids,
}

/// The requests at an allocator of the switch.
#[derive(Default)]
pub struct SwitchBids {
    /// All requests as the allocator sees them, by input and output of the crossbar.
    pub bids: Vec<Bid>,
    /// The indices of the requests that are granted.
    pub granted: Vec<u32>,
}

impl SwitchBids {
    /// Forgets all requests.
    pub fn clear(&mut self) {
        self.bids.clear();
        self.granted.clear();
    }
}
