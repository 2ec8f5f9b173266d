//! The parts of a router and what they hold.

use crate::arbiter::Arbiter;
use hopsim_core::routing::{Request, RouteState};
use hopsim_core::trace::PacketTrace;
use std::collections::VecDeque;

/// What part a packet plays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    OneWay,
    /// It needs space of this kind for its reply (an index of [`crate::nic::Nic::reply_space`]).
    Request(usize),
    Reply,
}

impl Role {
    /// The output VC for its ejection.
    pub fn ejection_vc(self) -> u8 {
        match self {
            Self::OneWay | Self::Reply => 0,
            Self::Request(kind) => kind as u8 + 1,
        }
    }
}

/// A packet. Packets are numbered in order of generation and never forgotten.
pub struct Packet {
    /// Its life so far.
    pub trace: PacketTrace,
    /// Phits.
    pub length: u32,
    /// What its routing remembers.
    pub route: RouteState,
    /// What part it plays.
    pub role: Role,
    /// Whether it has entered an injection buffer.
    pub admitted: bool,
    /// Phits that have left for the destination node.
    pub absorbed: u32,
}

/// One phit of a packet.
pub struct Phit {
    /// Number of its packet.
    pub packet: usize,
    /// Position in the packet; 0 is the head.
    pub index: u32,
    /// The VC it is bound for.
    pub vc: usize,
}

/// Things on their way, each due in a cycle; the delay is the same for all of them.
pub struct DelayLine<T>(pub VecDeque<(u32, T)>);

impl<T> DelayLine<T> {
    pub fn new() -> Self {
        Self(VecDeque::new())
    }

    pub fn push(&mut self, due: u32, item: T) {
        self.0.push_back((due, item));
    }

    pub fn pop_due(&mut self, now: u32) -> Option<T> {
        if self.0.front()?.0 > now {
            return None;
        }
        self.0.pop_front().map(|(_, item)| item)
    }
}

/// A packet in an input buffer, from the arrival of its head until its tail has crossed.
pub struct Resident {
    pub packet: usize,
    /// Cycle in which the head arrived.
    pub arrived: u32,
    /// Phits that have arrived.
    pub phits: u32,
    /// Phits that have entered the crossbar.
    pub crossed: u32,
    /// What routing answered, unless it is to be asked again.
    pub request: Option<Request>,
}

/// The passage of a packet, the first of its VC, through the crossbar.
pub struct Transfer {
    pub vc: usize,
    pub output: usize,
    /// Cycles since the grant.
    pub elapsed: u32,
    /// Cycles it takes when the whole packet has arrived.
    pub crossing: u32,
}

/// An input port.
pub struct Input {
    pub terminal: bool,
    /// Latency of the link, the same for phits and for the credits that go back \[cycles\].
    pub latency: u32,
    /// Size of the buffer of each VC \[phits\].
    pub capacity: u32,
    /// Router and output port that feed it; `None` for a node.
    pub peer: Option<(usize, usize)>,
    /// Phits coming in.
    pub wire: DelayLine<Phit>,
    /// The packets of each VC.
    pub vcs: Vec<VecDeque<Resident>>,
    /// The packet that is crossing.
    pub transfer: Option<Transfer>,
    /// Chooses among the VCs.
    pub arbiter: Arbiter,
}

/// A packet in an output queue, from its grant until its tail leaves.
pub struct Queued {
    pub packet: usize,
    pub length: u32,
    /// VC it will enter at the other end.
    pub vc: usize,
    /// Phits that have come through the crossbar.
    pub phits: u32,
    /// Phits that have left.
    pub sent: u32,
}

/// An output port.
pub struct Output {
    pub terminal: bool,
    /// Router and input port at the other end; `None` for a node or an open port.
    pub peer: Option<(usize, usize)>,
    /// Free phits of each VC's buffer at the other end.
    pub credits: Vec<u32>,
    /// Credits coming back: VC and phits.
    pub credit_wire: DelayLine<(usize, u32)>,
    /// Phits inside the crossbar: packet and position.
    pub crossbar: DelayLine<(usize, u32)>,
    /// The output queue (in an input-queued router: the packet that is leaving).
    pub queue: VecDeque<Queued>,
    /// Cycles for which the last grant still holds the port, by the speedup.
    pub held: u32,
    /// Chooses among the input ports.
    pub arbiter: Arbiter,
}

/// A router.
pub struct Router {
    pub inputs: Vec<Input>,
    pub outputs: Vec<Output>,
}

impl Output {
    /// Phits of the output queue that are spoken for: packets whose head has not left.
    pub fn occupied(&self) -> u32 {
        self.queue.iter().filter(|q| q.sent == 0).map(|q| q.length).sum()
    }

    /// Whether a packet is leaving, and not with its first phit.
    pub fn mid_packet(&self) -> bool {
        self.queue.front().is_some_and(|q| q.sent > 0)
    }
}
