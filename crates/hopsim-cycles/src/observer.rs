//! Who hears what happens in a simulation.

use crate::kernel::ids::{PairId, RegionNode, RegionRouter, SlotId};
use crate::kernel::packet::Packet;
use crate::kernel::regions::Span;
use hopsim_network::topology::Topology;
use hopsim_programs::host::{Host, Letter};
use serde::{Deserialize, Serialize};

/// Who hears what happens in a simulation: whoever measures. Calls are static, and a call that an observer leaves as it is here
/// costs nothing.
///
/// There is an observer for each thread, which hears of regions as that thread comes to simulate them. What belongs to a place (a
/// node, an input VC, an output VC) is kept by region: it is handed to the observer with every call that may want it. No order
/// in which observers hear of regions may show in what they tell in the end. The default hears nothing, and stands in for the
/// observer in regions that nobody simulates.
pub trait Observer: Default + Send + 'static {
    /// What observers are made from: the same for all threads.
    type Wishes: Sync;

    /// What is kept of the places of a region.
    type Places: Default + Send;

    /// The observer of a thread, at cycle 0.
    fn begin(wishes: &Self::Wishes) -> Self;

    /// The places of a region, at cycle 0.
    fn places(wishes: &Self::Wishes, span: &Span) -> Self::Places;

    /// The thread goes on at cycle `now`, whatever it has heard before. Returns the cycle in which the observer wants to be told so
    /// again, at the latest.
    fn begin_window(&mut self, _now: u32) -> u32 {
        u32::MAX
    }

    /// The cycle `now` begins in a region. It may be before or after the one that began last, but in the same window.
    #[inline]
    fn begin_cycle(&mut self, _now: u32) {}

    /// A node has generated a packet.
    #[inline]
    fn generated(&mut self, _places: &mut Self::Places, _node: RegionNode, _packet: Load) {}

    /// A node has generated a packet at cycle `at`, before now.
    #[inline]
    fn generated_before(&mut self, _places: &mut Self::Places, _node: RegionNode, _packet: Load, _at: u32) {}

    /// A node has generated a reply.
    #[inline]
    fn generated_reply(&mut self, _places: &mut Self::Places, _node: RegionNode, _reply: Load) {}

    /// A packet of a job was lost at a full source queue.
    #[inline]
    fn dropped(&mut self, _job: u8) {}

    /// The first packet of a source queue, of a job, is lost in cycle `now`, as there is no way to its destination.
    #[inline]
    fn lost(&mut self, _job: u8, _now: u32) {}

    /// A packet of a node, which has been lost in the network, comes back to its source queue.
    #[inline]
    fn sent_again(&mut self, _places: &mut Self::Places, _node: RegionNode, _job: u8) {}

    /// A packet of a node counts as injected.
    #[inline]
    fn injected(&mut self, _places: &mut Self::Places, _node: RegionNode, _packet: Load) {}

    /// A reply counts as injected.
    #[inline]
    fn injected_reply(&mut self, _reply: Load) {}

    /// The source of a node stood still in the cycles from `since` to `until`.
    #[inline]
    fn stalled(&mut self, _places: &mut Self::Places, _node: RegionNode, _since: u32, _until: u32) {}

    /// Whether the observer wants to hear of [grants](Self::granted).
    #[inline]
    fn hears_grants(&self, _places: &Self::Places) -> bool {
        false
    }

    /// A packet is granted an output.
    #[inline]
    fn granted(&mut self, _places: &mut Self::Places, _packet: &Packet, _grant: &Grant) {}

    /// Whether the observer wants to hear of [requests that are refused](Self::refused).
    #[inline]
    fn hears_refusals(_places: &Self::Places) -> bool {
        false
    }

    /// So many requests that inputs of the crossbar of a router made in an iteration of its allocator were granted nothing.
    #[inline]
    fn refused(&mut self, _places: &mut Self::Places, _router: RegionRouter, _requests: usize) {}

    /// A packet leaves for its node at cycle `at`, which may lie a little ahead or back; its tail follows one packet length later.
    #[inline]
    fn delivered(&mut self, _places: &mut Self::Places, _packet: &Packet, _at: u32, _topology: &Topology) {}

    /// The packet that leaves for its node at cycle `at`, as [`Self::delivered`] has told, is a reply.
    #[inline]
    fn answered(&mut self, _packet: &Packet, _at: u32) {}

    /// A synchronised burst of a job lasted from cycle `start` to `end`.
    #[inline]
    fn burst(&mut self, _job: usize, _start: u32, _end: u32) {}

    /// The last phit of a message with payload, of a program of a job, was at its node at cycle `at`.
    #[inline]
    fn message(&mut self, _job: u8, _letter: &Letter, _at: u32) {}

    /// The run of the host of a rank of a job is over.
    #[inline]
    fn rank(&mut self, _job: u8, _host: &mut Host) {}

    /// Whether the observer wants to hear of the room behind output VCs.
    #[inline]
    fn hears_room(_places: &Self::Places) -> bool {
        false
    }

    /// The room behind an output VC may have changed, and that of others of its router.
    #[inline]
    fn touch_room(_places: &mut Self::Places, _pair: PairId) {}

    /// Whether an output VC had room when the observer looked last; `true` if it does not look.
    #[inline]
    fn had_room(_places: &Self::Places, _pair: PairId) -> bool {
        true
    }

    /// The observer may look, at cycle `now`, which output VCs have room: the words of each router say it, a bit each.
    #[inline]
    fn look_at_room<'a>(_places: &mut Self::Places, _words: impl Fn(RegionRouter) -> &'a [u64], _now: u32) {}

    /// Something that is no packet has made an output of a router busy up to cycle `ready`, at cycle `now` before the allocation.
    #[inline]
    fn occupied(_places: &mut Self::Places, _router: RegionRouter, _port: usize, _ready: u32, _now: u32) {}

    /// Whether the observer wants to hear what the heads of injection VCs wait for, cycle by cycle.
    #[inline]
    fn hears_heads(_places: &Self::Places) -> bool {
        false
    }

    /// Whether it wants to hear that in the present cycle.
    #[inline]
    fn hears_heads_now(&self) -> bool {
        false
    }

    /// The head of an injection VC, a packet of a node, waits in the present cycle unless it is granted.
    #[inline]
    fn head_waits(_places: &mut Self::Places, _node: RegionNode, _slot: SlotId, _reason: WaitReason) {}

    /// The head of an injection VC of a node, which took part from cycle `first` on if not the one before it left later, is granted
    /// at `now`, or this is the end of the run.
    #[inline]
    fn head_leaves(
        &mut self,
        _places: &mut Self::Places,
        _place: (RegionNode, SlotId),
        _first: u32,
        _now: u32,
    ) {
    }

    /// A packet of `length` phits that `arrived` in an input VC is still there at the end of the run.
    #[inline]
    fn held(&mut self, _places: &mut Self::Places, _slot: SlotId, _length: u32, _arrived: u32) {}

    /// Whether an observer with these wishes will [hear of flits](Self::hears_flits).
    fn wants_flits(_wishes: &Self::Wishes) -> bool {
        false
    }

    /// Whether the observer wants to hear of [flits](Self::flit) one by one.
    #[inline]
    fn hears_flits(_places: &Self::Places) -> bool {
        false
    }

    /// Something has happened to the flits of an input VC of a virtual-channel router.
    #[inline]
    fn flit(_places: &mut Self::Places, _slot: SlotId, _event: &FlitEvent<'_>) {}

    /// The run ends with cycle `end`.
    fn end(_places: &mut Self::Places, _end: u32) {}
}

/// What a packet is to those who count packets.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Number of the packet's job.
    pub job: u8,
    /// Length \[phits\].
    pub length: u32,
}

/// A grant of an output to a packet.
#[derive(Clone, Copy, Debug)]
pub struct Grant {
    /// The input VC that the packet leaves.
    pub slot: SlotId,
    /// The output VC that the packet takes.
    pub pair: PairId,
    /// The output VC in which the packet needs room, or its entry if the packet leaves room for a bubble; `None` at a node.
    pub asked: Option<PairId>,
    /// The first cycle in which the packet might have been granted something.
    pub first: u32,
    /// The cycle of the grant.
    pub now: u32,
    /// When the output can take another packet.
    pub ready: u32,
    /// The port of the output VC, by number in its router.
    pub port: usize,
    /// The output VC, by number in its port.
    pub vc: u8,
    /// The router, by number in the network.
    pub router: u32,
    /// The cycle in which the packet departs.
    pub departure: u32,
    /// Whether the grant may leave an output VC of the router without room.
    pub fills: bool,
}

/// What happens to the flits of an input VC. They arrive and cross in order, packet by packet.
#[derive(Clone, Copy, Debug)]
pub enum FlitEvent<'a> {
    /// A flit arrives in this cycle.
    Arrives(u32),
    /// The route of the packet that is first now is computed by the end of this cycle.
    IsRouted(u32),
    /// The allocation of the output VC that the first packet is granted ends in this cycle.
    OwnsVc(u32),
    /// The next flit is granted the switch.
    Crosses(&'a FlitGrant<'a>),
}

/// A grant of the switch to a flit.
#[derive(Clone, Copy, Debug)]
pub struct FlitGrant<'a> {
    /// The packet, if the flit is its head.
    pub head: Option<&'a Packet>,
    /// The output VC.
    pub pair: PairId,
    /// The cycle of the grant.
    pub now: u32,
    /// The cycle in which the flit departs.
    pub departure: u32,
}

/// What the head of an injection VC waits for in a cycle; of several outputs it may use, the one that lacks least counts, in
/// this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum WaitReason {
    /// Everything was there, and another packet was granted the output.
    Arbitration,
    /// Everything was there, and another packet was granted the output, in a cycle in which packets in transit went first (IPR).
    Ipr,
    /// An output that was busy.
    Output,
    /// Room that local buffer restriction keeps free.
    Lbr,
    /// Room for the bubble in the ring that the packet would enter.
    Bubble,
    /// Room for the packet.
    Credits,
    /// The injection port, which another packet was leaving by.
    Input,
    /// The SAT signal.
    Sat,
}

impl WaitReason {
    /// All reasons with the names of their columns.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::Arbitration, "arbitration"),
        (Self::Ipr, "ipr"),
        (Self::Output, "output"),
        (Self::Lbr, "lbr"),
        (Self::Bubble, "bubble"),
        (Self::Credits, "credits"),
        (Self::Input, "input"),
        (Self::Sat, "sat"),
    ];
}
