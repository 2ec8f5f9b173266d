//! Packets, and the queues that they stand in.

use crate::fabric::{NONE, blocks};
use crate::observer::Sent;
use crate::time::Ticks;
use hopsim_memory::push;

/// A message whose last packet is under way.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// The name by which the workload knows the message.
    pub tag: u64,
    /// The length of the message.
    pub bytes: u64,
    /// When the message came to its host.
    pub posted: Ticks,
}

/// What an acknowledgement or a notification packet is about.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// When the data packet began to be sent with which it was due.
    pub since: Ticks,
    /// The bytes of the packets that are acknowledged; none by a notification packet.
    pub bytes: u64,
}

/// What a packet means to the host that it goes to.
#[derive(Clone, Copy, Debug)]
pub enum Cargo {
    /// A data packet, behind which others of its message follow.
    Data,
    /// A data packet that ends a message.
    Ends(Ended),
    /// An acknowledgement or a notification packet.
    Answers(About),
}

/// What has become of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing has.
    Whole,
    /// A link has failed behind the head of the packet.
    Spoiled,
    /// The packet is lost; what is left of it still takes room.
    Lost,
}

/// What only the hosts at both ends of a packet's way ask for.
#[derive(Clone, Copy, Debug)]
pub struct Errand {
    /// When the source of the packet began to send it.
    pub sent: Ticks,
    /// What the packet means to its destination.
    pub cargo: Cargo,
}

impl Errand {
    /// The message that ends with the packet.
    #[inline]
    pub fn ends(&self) -> Option<Ended> {
        if let Cargo::Ends(ended) = self.cargo { Some(ended) } else { None }
    }
}

/// A packet under way, as switches see it.
#[derive(Clone, Debug)]
pub struct Packet {
    /// What the observer is told of the packet.
    pub name: Sent,
    /// The host that the packet goes to.
    pub destination: u32,
    /// The VL of the packet.
    pub lane: u8,
    /// Whether a data packet has a mark, or a notification packet or acknowledgement notifies of some.
    pub marked: bool,
    /// Whether the packet is the last one of a message, or of all that its flow has to send.
    pub is_last: bool,
    /// What has become of the packet.
    pub fate: Fate,
    /// When the head of the packet arrives, or arrived, at the end of the last link that it went onto.
    pub head: Ticks,
    /// When the tail of the packet arrives, or arrived, at the end of the last link that it went onto.
    pub tail: Ticks,
    /// The packet behind this one in its queue.
    next: u32,
}

impl Packet {
    /// A packet that begins to be sent.
    pub fn new(name: Sent, (destination, lane): (u32, u8)) -> Self {
        Self {
            name,
            destination,
            lane,
            marked: false,
            is_last: false,
            fate: Fate::Whole,
            head: 0,
            tail: 0,
            next: NONE,
        }
    }

    /// The length of the packet.
    #[inline]
    pub fn bytes(&self) -> u64 {
        u64::from(self.name.bytes)
    }

    /// The credits that the packet takes.
    #[inline]
    pub fn blocks(&self) -> u32 {
        blocks(self.name.bytes)
    }
}

/// All packets under way.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    all: Vec<Packet>,
    /// The errands of the packets, apart, as switches ask for the others often.
    errands: Vec<Errand>,
    free: Vec<u32>,
}

impl Packets {
    /// Adds a packet, and returns its number.
    pub fn insert(&mut self, packet: Packet, errand: Errand) -> u32 {
        if let Some(id) = self.free.pop() {
            (self.all[id as usize], self.errands[id as usize]) = (packet, errand);
            return id;
        }
        push(&mut self.all, packet);
        push(&mut self.errands, errand);
        self.all.len() as u32 - 1
    }

    /// Forgets a packet.
    pub fn remove(&mut self, id: u32) {
        self.free.push(id);
    }

    /// Looks at a packet.
    #[inline]
    pub fn get(&self, id: u32) -> &Packet {
        &self.all[id as usize]
    }

    /// The errand of a packet.
    pub fn errand(&self, id: u32) -> Errand {
        self.errands[id as usize]
    }

    /// The packet at the front of a queue and those behind it.
    pub fn line(&self, front: u32) -> impl Iterator<Item = &Packet> {
        let first = self.all.get(front as usize);
        std::iter::successors(first, |packet| self.all.get(packet.next as usize))
    }

    /// Changes a packet.
    #[inline]
    pub fn get_mut(&mut self, id: u32) -> &mut Packet {
        &mut self.all[id as usize]
    }
}

/// A queue of packets.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// The packet at the front, `NONE` if there is none.
    pub front: u32,
    back: u32,
}

impl Queue {
    /// A queue without packets.
    pub const EMPTY: Self = Self { front: NONE, back: NONE };

    /// Whether the queue has no packets.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.front == NONE
    }

    /// A packet joins the queue.
    #[inline]
    pub fn push(&mut self, packets: &mut Packets, id: u32) {
        packets.get_mut(id).next = NONE;
        if self.is_empty() {
            self.front = id;
        } else {
            packets.get_mut(self.back).next = id;
        }
        self.back = id;
    }

    /// The packet at the front leaves the queue.
    #[inline]
    pub fn pop(&mut self, packets: &Packets) {
        self.front = packets.get(self.front).next;
    }
}
