//! Packets, and the queues that they stand in.

use crate::fabric::{NONE, blocks};
use crate::observer::Sent;
use crate::time::Ticks;
use hopsim_memory::push;

/// A message whose last packet is under way.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Its name.
    pub tag: u64,
    /// Its length.
    pub bytes: u64,
    /// When it came to its host.
    pub posted: Ticks,
}

/// A packet under way.
#[derive(Clone, Debug)]
pub struct Packet {
    /// What the observer is told of it.
    pub name: Sent,
    /// Host that it goes to.
    pub destination: u32,
    /// Its VL.
    pub lane: u8,
    /// Whether it has a mark; of what goes back, whether it notifies of some.
    pub marked: bool,
    /// Whether it is the last one of a message, or of all that its flow has to send.
    pub is_last: bool,
    /// When its source began to send it.
    pub sent: Ticks,
    /// The message that ends with it.
    pub ends: Option<Ended>,
    /// When its head, and its tail, are where it is.
    pub head: Ticks,
    /// See `head`.
    pub tail: Ticks,
    /// The packet behind it in its queue.
    next: u32,
}

impl Packet {
    /// A packet that begins to be sent.
    pub fn new(name: Sent, (destination, lane): (u32, u8), sent: Ticks) -> Self {
        Self {
            name,
            destination,
            lane,
            marked: false,
            is_last: false,
            sent,
            ends: None,
            head: 0,
            tail: 0,
            next: NONE,
        }
    }

    /// Its length.
    #[inline]
    pub fn bytes(&self) -> u64 {
        u64::from(self.name.bytes)
    }

    /// The credits that it takes.
    #[inline]
    pub fn blocks(&self) -> u32 {
        blocks(self.name.bytes)
    }
}

/// All packets under way.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    all: Vec<Packet>,
    free: Vec<u32>,
}

impl Packets {
    /// Adds one.
    pub fn insert(&mut self, packet: Packet) -> u32 {
        if let Some(id) = self.free.pop() {
            self.all[id as usize] = packet;
            return id;
        }
        push(&mut self.all, packet);
        self.all.len() as u32 - 1
    }

    /// Forgets one.
    pub fn remove(&mut self, id: u32) {
        self.free.push(id);
    }

    /// Looks at one.
    #[inline]
    pub fn get(&self, id: u32) -> &Packet {
        &self.all[id as usize]
    }

    /// The one at the front of a queue and those behind it.
    pub fn line(&self, front: u32) -> impl Iterator<Item = &Packet> {
        let first = self.all.get(front as usize);
        std::iter::successors(first, |packet| self.all.get(packet.next as usize))
    }

    /// Changes one.
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
    /// One without packets.
    pub const EMPTY: Self = Self { front: NONE, back: NONE };

    /// Whether it has none.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.front == NONE
    }

    /// A packet joins.
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

    /// The one at the front leaves.
    #[inline]
    pub fn pop(&mut self, packets: &Packets) {
        self.front = packets.get(self.front).next;
    }
}
