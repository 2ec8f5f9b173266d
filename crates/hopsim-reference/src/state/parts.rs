//! The parts of a router and what they hold.

use super::delay::DelayLine;
use super::flits::Flits;
use super::packet::{Aim, Choice, Packet, Phit};
use super::place::Link;
use super::sensors::Knowledge;
use crate::arbiter::Arbiter;
use hopsim_cycles::system::Shares;
use hopsim_network::topology::PortClass;
use std::cell::OnceCell;
use std::collections::VecDeque;
use std::ops::Range;

/// A packet in an input buffer, from the arrival of its head until its tail has crossed.
pub struct Resident {
    pub packet: usize,
    /// Cycle in which the head arrived.
    pub arrived: u32,
    /// Phits that have arrived.
    pub phits: u32,
    /// When each of them did.
    pub arrivals: Vec<u32>,
    /// Phits that have entered the crossbar.
    pub crossed: u32,
    /// What the packet asks for as long as it waits, once that is known to be one thing only.
    pub settled: Option<Choice>,
    /// The shortest way to its destination that the packet has drawn in this router, once somebody has asked.
    pub way: OnceCell<Vec<Link>>,
}

/// The passage of a packet, the first of its VC, out of its input buffer.
pub struct Transfer {
    pub vc: usize,
    pub output: usize,
    /// Cycles since the grant.
    pub elapsed: u32,
    /// Cycles that the passage takes when the whole packet has arrived.
    pub crossing: u32,
    /// What the packet counted for when it was granted an output, wherever it goes, if that is counted.
    pub aim: Option<Aim>,
}

impl Transfer {
    /// Lets one cycle pass. Returns the packet, and those of its phits that leave the buffer: they have arrived, and are no more
    /// than the speedup allows since the grant. The last one takes the packet off its VC.
    pub fn step(&mut self, vc: &mut VecDeque<Resident>, packets: &[Packet]) -> (usize, Range<u32>) {
        let Resident { packet, phits, crossed, .. } = vc[0];
        let length = packets[packet].length;
        self.elapsed += 1;
        let end = phits.min(self.elapsed * length / self.crossing);
        vc[0].crossed = end;
        if end == length {
            vc.pop_front();
        }
        (packet, crossed..end)
    }
}

/// An input port.
pub struct Input {
    pub class: PortClass,
    /// Latency of the link, the same for phits and for the credits that go back \[cycles\].
    pub latency: u32,
    /// Size of the buffer of each VC \[phits\].
    pub capacity: u32,
    /// Router and output port that feed the input port; `None` for a node.
    pub peer: Option<(usize, usize)>,
    /// Node that feeds the input port, and the first of the node's injection VCs that are here.
    pub node: Option<(usize, usize)>,
    /// Phits coming in.
    pub wire: DelayLine<Phit>,
    /// The packets of each VC.
    pub vcs: Vec<VecDeque<Resident>>,
    /// With on/off flow control, by VC: whether the last word that it has said is on.
    pub says_on: Vec<bool>,
    /// The packets that are crossing: one by each input of the crossbar at most.
    pub transfers: Vec<Transfer>,
    /// The packets that leave past the crossbar, for nodes that take a packet from every VC at once.
    pub consumptions: Vec<Transfer>,
    /// The inputs of the crossbar: the arbiter of each, which chooses among its VCs. VC v has the input v modulo their number.
    pub arbiters: Vec<Arbiter>,
}

/// A packet in an output queue, from its grant until its tail leaves, or a message.
pub struct Queued {
    /// Number of the packet; `None`: a message of the router to its neighbour.
    pub packet: Option<usize>,
    pub length: u32,
    /// Cycle in which the first phit comes, or came, out of the crossbar.
    pub ready: u32,
    /// VC that the packet will enter at the other end.
    pub vc: usize,
    /// Phits that have come through the crossbar (of a message: all).
    pub phits: u32,
    /// Phits that have left.
    pub sent: u32,
    /// Cycles per phit of the link when the packet was granted the output.
    pub pace: u32,
    /// Latency of the link when the packet was granted the output \[cycles\].
    pub latency: u32,
}

/// A packet that an output VC has been granted to and whose credit has not come back.
pub struct Outstanding {
    pub packet: usize,
    /// Phits of room that the packet takes at the other end.
    pub length: u32,
    /// Whether the packet had never left its minimal path, this hop included.
    pub minimal: bool,
}

/// An output port.
pub struct Output {
    pub class: PortClass,
    /// Router and input port at the other end; `None` for a node or an open port.
    pub peer: Option<(usize, usize)>,
    /// Phits that the buffer at the other end holds of one VC.
    pub buffer: u32,
    /// How the VCs share the buffer at the other end, if they do.
    pub shares: Option<Shares>,
    /// The packets that have been sent to the other end and not been heard of again, by VC.
    pub outstanding: Vec<Vec<Outstanding>>,
    /// Credits coming back: VC and packet.
    pub credit_wire: DelayLine<(usize, usize)>,
    /// With on/off flow control, by VC: whether the last word heard of the buffer at the other end is on. `None` with credits.
    pub is_on: Option<Vec<bool>>,
    /// Words coming from there: VC, and whether it is on.
    pub word_wire: DelayLine<(usize, bool)>,
    /// Phits inside the crossbar: packet and position.
    pub crossbar: DelayLine<(usize, u32)>,
    /// Phits on their way past the crossbar, for a node that takes a packet from every VC at once: packet and position.
    pub bypass: DelayLine<(usize, u32)>,
    /// The output queue (in an input-queued router: the packet that is leaving).
    pub queue: VecDeque<Queued>,
    /// Cycles for which each of the last grants still holds an output of the crossbar, by the speedup.
    pub held: Vec<u32>,
    /// Cycles that the link takes for a phit.
    pub pace: u32,
    /// First cycle in which the link is free for a phit.
    pub next: u32,
    /// The arbiter that chooses among the input ports.
    pub arbiter: Arbiter,
    /// While the link is out of order: the phits that the router takes to be outstanding, by VC.
    pub closed: Option<Vec<u32>>,
}

/// A router.
pub struct Router {
    pub inputs: Vec<Input>,
    pub outputs: Vec<Output>,
    /// What the router knows about heads and links.
    pub knowledge: Knowledge,
    /// What the router keeps if it lets flits through, one by one.
    pub flits: Option<Flits>,
}

impl Input {
    pub fn is_terminal(&self) -> bool {
        self.class == PortClass::Terminal
    }

    /// The packets that are leaving, each the first of its VC.
    pub fn leaving(&self) -> impl Iterator<Item = &Transfer> {
        self.transfers.iter().chain(&self.consumptions)
    }
}

impl Output {
    pub fn is_terminal(&self) -> bool {
        self.class == PortClass::Terminal
    }

    /// Whether nothing that has been granted the output has still to leave.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.bypass.0.is_empty()
    }

    /// Phits of the output queue that are spoken for: packets whose head has not left.
    pub fn occupied(&self) -> u32 {
        self.queue.iter().filter(|q| q.packet.is_some() && q.sent == 0).map(|q| q.length).sum()
    }

    /// Whether the output queue of so many phits has room for another packet.
    pub fn takes(&self, length: u32, size: u32) -> bool {
        let waiting = self.queue.iter().filter(|q| q.packet.is_some() && q.sent == 0).count();
        self.occupied() + length <= size && waiting < 255
    }

    /// The cycle in which the link is free when all that is queued has left, from cycle `now` on.
    pub fn link_free(&self, now: u32) -> u32 {
        self.queue.iter().fold(now.max(self.next), |free, q| free.max(q.ready) + (q.length - q.sent) * q.pace)
    }

    /// Whether a packet is leaving, and not with its first phit.
    pub fn mid_packet(&self) -> bool {
        self.queue.front().is_some_and(|q| q.sent > 0)
    }

    /// Whether something is plugged into the port.
    pub fn is_link(&self) -> bool {
        self.peer.is_some()
    }

    /// Takes a credit back, for a whole packet or for a flit of it.
    pub fn take_credit(&mut self, vc: usize, packet: usize) {
        let first = self.outstanding[vc].iter().position(|o| o.packet == packet);
        self.outstanding[vc].remove(first.expect("what comes back has been sent"));
    }

    /// Phits outstanding of one VC.
    pub fn used(&self, vc: usize) -> u32 {
        self.outstanding[vc].iter().map(|o| o.length).sum()
    }

    /// Phits outstanding of one VC, of packets that had never left their minimal path.
    pub fn used_minimally(&self, vc: usize) -> u32 {
        self.outstanding[vc].iter().filter(|o| o.minimal).map(|o| o.length).sum()
    }

    /// Phits that a VC has taken of the space that all VCs share.
    fn pooled(&self, vc: usize) -> u32 {
        self.shares.map_or(0, |shares| self.used(vc).saturating_sub(shares.reserve))
    }

    /// Free phits of a VC's buffer; an open port has none. With on/off flow control that is not known: all that is on counts alike.
    pub fn credits(&self, vc: usize) -> u32 {
        if !self.is_link() {
            return 0;
        }
        if let Some(is_on) = &self.is_on {
            return if is_on[vc] { self.buffer } else { 0 };
        }
        let Some(Shares { reserve, pool }) = self.shares else { return self.buffer - self.used(vc) };
        let taken: u32 = (0..self.outstanding.len()).map(|vc| self.pooled(vc)).sum();
        reserve.saturating_sub(self.used(vc)) + (pool - taken)
    }

    /// Whether there is room for so many phits of a VC at the other end, as far as is known here.
    pub fn has_room(&self, vc: usize, phits: u32) -> bool {
        match &self.is_on {
            Some(is_on) => self.is_link() && is_on[vc],
            None => self.credits(vc) >= phits,
        }
    }

    /// Phits of a VC's buffer that the router takes to be taken.
    pub fn reading(&self, vc: usize) -> u32 {
        self.closed.as_ref().map_or_else(|| self.taken(vc), |reading| reading[vc])
    }

    /// Phits of a VC's buffer that are taken: by itself, and by others out of what they share.
    pub fn taken(&self, vc: usize) -> u32 {
        let others = (0..self.outstanding.len()).filter(|&other| other != vc);
        self.used(vc) + others.map(|other| self.pooled(other)).sum::<u32>()
    }
}
