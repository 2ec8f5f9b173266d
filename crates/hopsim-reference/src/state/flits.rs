//! What a virtual-channel router keeps besides the queues of its input VCs and the credits of its output VCs.

use super::packet::Choice;
use super::place::Place;
use crate::matching::Matcher;
use hopsim_cycles::system::VirtualChannelPlan;

/// An output VC that the present packet of an input VC owns.
pub struct Owned {
    /// The output VC, and what the packet remembers from there on.
    pub choice: Choice,
    /// The cycle of the grant.
    pub granted: u32,
}

/// What is known of the present packet of an input VC.
#[derive(Default)]
pub struct Lane {
    /// The output VC that the packet owns.
    pub owned: Option<Owned>,
    /// The cycle in which the tail of the packet before it has left.
    pub left: Option<u32>,
}

/// An output VC.
pub struct Door {
    /// The packet that owns the output VC; no packet owns one to a node.
    pub owner: Option<usize>,
    /// When the credits of flits that have left for a node come back, if its buffer has a size.
    pub taken: Vec<u32>,
}

/// What a virtual-channel router keeps.
pub struct Flits {
    /// What the router is made of.
    pub plan: VirtualChannelPlan,
    /// The allocator of output VCs.
    pub vc_allocator: Matcher,
    /// The allocator of the switch.
    pub switch_allocator: Matcher,
    /// The allocator of the switch for heads that own no output VC yet, if they have one of their own.
    pub speculative_allocator: Matcher,
    /// Heads that ask for the switch in this cycle and owned no output VC when it began, each with the output port.
    pub speculating: Vec<(Place, usize)>,
    /// The packet of which input VC holds each input of the crossbar.
    pub held: Vec<Option<Place>>,
    /// The input VCs, by port.
    pub lanes: Vec<Vec<Lane>>,
    /// The output VCs, by port.
    pub doors: Vec<Vec<Door>>,
    /// Packets that leave for nodes, each with the cycle in which its node handles it.
    pub handled: Vec<(u32, usize)>,
}
