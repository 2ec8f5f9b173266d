//! Packets: what they carry, what they ask for, and what is known of their life so far.

use super::place::{Link, Place, Request};
use hopsim_measure::trace::PacketTrace;

/// What part a packet plays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    OneWay,
    /// A request, which needs space of this kind for its reply (an index of [`super::nic::Nic::reply_space`]).
    Request(usize),
    Reply,
}

/// What a packet carries from router to router.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// The intermediate router that the packet is on its way to.
    pub via: Option<usize>,
    /// The links to the packet's present target, from where it chose them.
    pub way: Vec<Link>,
    /// The VCs of these links, where a table says them.
    pub vcs: Vec<u8>,
    /// Whether the packet has been sent off its minimal path.
    pub misrouted: bool,
    /// The intermediate router of the detour that the packet has chosen and keeps to while it waits (UGAL).
    pub insists: Option<usize>,
    /// Whether the packet has chosen the minimal path and keeps to that while it waits (UGAL, `once`).
    pub stays: bool,
    /// Whether the packet goes on by shortest paths, as there was no other link that it may use (polarized routing).
    pub cornered: bool,
    /// Whether the packet goes by dimensions in decreasing order, once it has one of two orders (O1TURN).
    pub decreasing: Option<bool>,
}

/// What a head asks for, and what its packet remembers if it is granted that.
#[derive(Clone, Debug)]
pub struct Choice {
    pub to: Request,
    pub after: Memory,
    /// Whether the head asks for nothing else as long as it waits.
    pub fixed: bool,
    /// All VCs of the port that would do as well as the one that is asked for, if there are several.
    pub others: Vec<u8>,
}

/// What a packet counts for in the contention counters.
#[derive(Clone, Copy)]
pub struct Aim {
    /// The port of the packet's minimal path.
    pub port: usize,
    /// Another group that the packet has to reach, if it stands where packets for other groups are counted.
    pub group: Option<usize>,
}

/// A router passed: what the trace does not say.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// Input port and VC.
    pub input: (usize, usize),
    /// What the packet waited for in the router: other packets, room, the bubble, the output, the rest \[cycles\].
    pub waited: [u64; 5],
}

/// Why a packet is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossReason {
    /// The link of the packet has failed.
    Link,
    /// The router has failed in whose buffer the packet is, or is on its way to.
    Router,
    /// A link on its way is out of order when the network is drained.
    Way,
    /// There is no way to its destination when it is the first of its source queue.
    Source,
    /// There is no way to its destination any more, as it waits in an injection buffer.
    Injection,
    /// There is no way to its destination, or to the intermediate router that it has settled for, over the links that are left.
    CutOff,
    /// There are not as many VCs as it would need over the links that are left.
    Vcs,
}

/// The loss of a packet in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The cycle as which begins the packet is lost.
    pub at: u32,
    /// The buffer in which it stood or that it was on its way to: there its phits are discarded.
    pub place: Place,
    /// Why.
    pub reason: LossReason,
    /// Whether the source sends the packet again.
    pub comes_back: bool,
}

/// A packet. Packets are numbered in order of generation and never forgotten. One that is sent again is another packet here, of the same
/// source and number.
pub struct Packet {
    /// The packet's life so far.
    pub trace: PacketTrace,
    /// How often the packet has been sent before.
    pub resendings: u32,
    /// The cycle in which the packet comes back to its source queue, if it has been sent before.
    pub comes: Option<u32>,
    /// Length of the packet \[phits\].
    pub length: u32,
    /// What the packet's routing remembers.
    pub memory: Memory,
    /// What part the packet plays.
    pub role: Role,
    /// Cycle in which the packet entered an injection buffer of its node, and the number of the buffer.
    pub admitted: Option<(u32, usize)>,
    /// Whether the packet was dropped at a full source queue.
    pub dropped: bool,
    /// The cycle of generation of the request that this packet replies to, if it is a reply.
    pub requested: Option<u32>,
    /// The routers passed: what the trace does not say of them.
    pub passages: Vec<Passage>,
    /// The routers that its flits have passed, if they move one by one.
    pub flits: Vec<FlitPassage>,
    /// Phits that have left for the destination node.
    pub absorbed: u32,
    /// When, where and why the packet has been lost in the network.
    pub lost: Option<Loss>,
    /// Phits of a lost packet that are nowhere any more.
    pub discarded: u32,
}

impl Packet {
    /// Whether the packet has been lost in a buffer, or on its way there.
    pub fn is_lost_at(&self, place: Place) -> bool {
        self.lost.is_some_and(|loss| loss.place == place)
    }

    /// Notes that the packet's head leaves a router.
    pub fn depart(&mut self, now: u32) {
        let hop = self.trace.hops.last_mut().expect("it has been granted an output");
        hop.departed = now;
    }
}

/// A virtual-channel router that a flit has passed.
#[derive(Clone, Debug)]
pub struct FlitPassage {
    /// Position of the flit in its packet; 0 is the head.
    pub flit: u32,
    /// Number of the router on the packet's way, from 0.
    pub hop: usize,
    pub router: u32,
    /// Port and VC by which it came.
    pub input: (usize, usize),
    /// Port and VC by which it goes.
    pub to: Request,
    pub arrived: u32,
    /// Of a head: the last cycles of route computation and VC allocation.
    pub stages: Option<(u32, u32)>,
    pub granted: u32,
    pub departed: u32,
}

/// One phit of a packet.
pub struct Phit {
    /// Number of the phit's packet.
    pub packet: usize,
    /// Position in the packet; 0 is the head.
    pub index: u32,
    /// The VC that the phit is bound for.
    pub vc: usize,
}
