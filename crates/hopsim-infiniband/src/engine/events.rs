//! What is to happen, in the order of time, step of the instant and port.

use crate::fabric::{Fabric, NONE};
use crate::time::Ticks;
use hopsim_memory::push;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What happens, in the order in which it does at an instant (docs/infiniband.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Step {
    /// A change of the fabric, by its number in place of a port.
    Change,
    /// Credits arrive at a sending port: VL · 2^24 + blocks.
    Credit,
    /// A pause frame is at a port: the VLs that it pauses, a bit each.
    Pause,
    /// The transfer to an output ends.
    TransferEnd,
    /// All of a packet that has been discarded has come to an input.
    Freed,
    /// So many blocks have left an output buffer.
    Room,
    /// The head of a packet is at an input of a switch, or at a host.
    Head,
    /// The tail of a packet is at a host.
    Tail,
    /// A packet has been drained.
    Drained,
    /// An output has a packet that may be granted from now on.
    Arbitrate,
    /// A port looks whether it sends a pause frame: why.
    Frame,
    /// The head of a packet goes onto the link.
    Wire,
    /// The last byte of the message at the front of those that leave has left its host.
    Left,
    /// A host of the workload acts.
    Act,
    /// A host may be able to send.
    Send,
}

const STEPS: [Step; 15] = [
    Step::Change,
    Step::Credit,
    Step::Pause,
    Step::TransferEnd,
    Step::Freed,
    Step::Room,
    Step::Head,
    Step::Tail,
    Step::Drained,
    Step::Arbitrate,
    Step::Frame,
    Step::Wire,
    Step::Left,
    Step::Act,
    Step::Send,
];

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The time of the event.
    pub at: Ticks,
    /// The step of the event.
    pub step: Step,
    /// The port of the event.
    pub port: u32,
    /// The packet of the event, or what the step says.
    pub what: u32,
}

/// Buckets of the near future, a power of two.
const BUCKETS: usize = 16_384;

/// What a bucket should cover at most \[ns\], and about how many events at most, so that putting them in order costs little.
const WIDTH: u64 = 8;
const EVENTS: u64 = 8;

/// About how many events a packet has at a port.
const EVENTS_OF_PACKET: u64 = 8;

/// Events to come. Each is one number, which compares as time, step, port.
///
/// A calendar queue (Brown, CACM 1988): events of the near future are in buckets by time, which are put in order when their time
/// comes; those of the far future are in a heap.
#[derive(Clone, Debug)]
pub struct Events {
    /// Ticks of a bucket are 2^shift -- constant.
    shift: u32,
    /// The bucket whose time has come, by number from time 0.
    present: u64,
    /// The events of the present bucket, the next one last.
    due: Vec<u128>,
    /// The last event of each bucket behind the present one, by its place in `nodes` and by number modulo `BUCKETS`; [`NONE`] without events.
    near: Vec<u32>,
    /// The events of all these buckets, each behind another one of its bucket.
    nodes: Vec<Node>,
    /// The first of the places in `nodes` that are free, each behind another one.
    free: u32,
    /// A bit for each bucket behind the present one that has events.
    filled: [u64; BUCKETS / 64],
    /// Events behind all buckets.
    far: BinaryHeap<Reverse<u128>>,
}

/// An event in a bucket.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The upper and the lower half of the event, so that a node has no gaps.
    halves: [u64; 2],
    /// The event before this one in its bucket, or the next place that is free; [`NONE`] if there is none.
    next: u32,
}

impl Node {
    fn key(self) -> u128 {
        u128::from(self.halves[0]) << 64 | u128::from(self.halves[1])
    }
}

impl Events {
    /// No events of a fabric.
    pub fn new(fabric: &Fabric) -> Self {
        let byte = fabric.ports.iter().map(|port| port.byte).min().unwrap_or(1);
        let packet = u64::from(fabric.mtu) * byte;
        let few = EVENTS * packet / (EVENTS_OF_PACKET * fabric.ports.len().max(1) as u64);
        Self::with_width(few.min(WIDTH * fabric.ticks_per_ns))
    }

    /// No events, with buckets of about so many ticks.
    fn with_width(ticks: u64) -> Self {
        let shift = ticks.max(1).ilog2();
        Self {
            shift,
            present: 0,
            due: Vec::new(),
            near: vec![NONE; BUCKETS],
            nodes: Vec::new(),
            free: NONE,
            filled: [0; BUCKETS / 64],
            far: BinaryHeap::new(),
        }
    }

    /// Puts an event in, at the present instant or later.
    #[inline]
    pub fn push(&mut self, Event { at, step, port, what }: Event) {
        debug_assert!(port < 1 << 28, "four bits are for the step");
        let low = (step as u64) << 60 | u64::from(port) << 32 | u64::from(what);
        let key = u128::from(at) << 64 | u128::from(low);
        let bucket = at >> self.shift;
        if bucket <= self.present {
            let place = self.due.partition_point(|&other| other > key);
            self.due.insert(place, key);
        } else if bucket - self.present < BUCKETS as u64 {
            self.put([at, low], bucket as usize % BUCKETS);
        } else {
            self.far.push(Reverse(key));
        }
    }

    /// Puts an event into a bucket.
    #[inline]
    fn put(&mut self, halves: [u64; 2], place: usize) {
        let node = Node { halves, next: self.near[place] };
        let number = self.free;
        if let Some(free) = self.nodes.get_mut(number as usize) {
            self.free = free.next;
            *free = node;
            self.near[place] = number;
        } else {
            self.near[place] = self.nodes.len() as u32;
            push(&mut self.nodes, node);
        }
        self.filled[place / 64] |= 1 << (place % 64);
    }

    /// Takes all events out of a bucket, into the present one.
    fn empty(&mut self, place: usize) {
        self.filled[place / 64] &= !(1 << (place % 64));
        let mut number = std::mem::replace(&mut self.near[place], NONE);
        while number != NONE {
            let node = &mut self.nodes[number as usize];
            self.due.push(node.key());
            let next = std::mem::replace(&mut node.next, self.free);
            self.free = number;
            number = next;
        }
    }

    /// The time of the next event.
    #[inline]
    pub fn next(&mut self) -> Option<Ticks> {
        if self.due.is_empty() {
            self.turn()?;
        }
        self.due.last().map(|&key| (key >> 64) as u64)
    }

    /// The time of the next bucket with events comes, if there is one.
    fn turn(&mut self) -> Option<()> {
        let far = self.far.peek().map(|Reverse(key)| (key >> 64) as u64 >> self.shift);
        let bucket = match (self.next_near(), far) {
            (Some(near), Some(far)) => near.min(far),
            (near, far) => near.or(far)?,
        };
        self.present = bucket;
        self.empty(bucket as usize % BUCKETS);
        while let Some(&Reverse(key)) = self.far.peek()
            && (key >> 64) as u64 >> self.shift == bucket
        {
            self.far.pop();
            self.due.push(key);
        }
        self.due.sort_unstable_by(|one, other| other.cmp(one));
        Some(())
    }

    /// The first bucket behind the present one that has events.
    fn next_near(&self) -> Option<u64> {
        let first = (self.present as usize + 1) % BUCKETS;
        let words = self.filled.len();
        // The first word comes twice: its upper bits, and at last its lower ones.
        let found = (0..=words).find_map(|step| {
            let word = (first / 64 + step) % words;
            let mask = u64::MAX << (first % 64);
            let bits = match step {
                0 => self.filled[word] & mask,
                _ if step == words => self.filled[word] & !mask,
                _ => self.filled[word],
            };
            (bits != 0).then(|| word * 64 + bits.trailing_zeros() as usize)
        })?;
        let ahead = (found + BUCKETS - first) % BUCKETS;
        Some(self.present + 1 + ahead as u64)
    }

    /// All events, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = Event> {
        let far = self.far.iter().map(|Reverse(key)| *key);
        let of_bucket = |&last: &u32| {
            let first = self.nodes.get(last as usize);
            std::iter::successors(first, |node| self.nodes.get(node.next as usize)).map(|node| node.key())
        };
        self.due.iter().copied().chain(self.near.iter().flat_map(of_bucket)).chain(far).map(event)
    }

    /// Takes away events, whenever they are, and returns them in no particular order.
    pub fn extract(&mut self, goes: impl Fn(&Event) -> bool) -> Vec<Event> {
        let all: Vec<Event> = self.iter().collect();
        let (gone, kept): (Vec<Event>, Vec<Event>) = all.into_iter().partition(goes);
        self.due.clear();
        self.near.fill(NONE);
        self.nodes.clear();
        self.free = NONE;
        self.filled.fill(0);
        self.far.clear();
        for event in kept {
            self.push(event);
        }
        gone
    }

    /// Takes the next event if it is at `now` and no later than the given step.
    #[inline]
    pub fn take(&mut self, now: Ticks, last: Step) -> Option<Event> {
        let event = event(*self.due.last()?);
        if event.at > now || event.step > last {
            return None;
        }
        self.due.pop();
        Some(event)
    }
}

fn event(key: u128) -> Event {
    let (at, low) = ((key >> 64) as u64, key as u64);
    let step = STEPS[(low >> 60) as usize];
    Event { at, step, port: (low >> 32) as u32 & 0x0fff_ffff, what: low as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopsim_random::{Purpose, Stream};

    #[test]
    fn events_come_in_the_order_of_time_step_and_port() {
        let mut stream = Stream::new(1, Purpose::Phase, 0);
        let mut events = Events::with_width(24);
        let mut expected = BinaryHeap::new();
        let mut add = |events: &mut Events, expected: &mut BinaryHeap<_>, now: u64| {
            // Within the bucket, within the wheel, and beyond it.
            let ahead = [7, 900, 60_000, 1_000_000][stream.below(4) as usize];
            let at = now + u64::from(stream.below(ahead));
            let (step, port) = (STEPS[stream.below(13) as usize], stream.below(5));
            events.push(Event { at, step, port, what: 0 });
            expected.push(Reverse((at, step, port)));
        };
        (0..50).for_each(|_| add(&mut events, &mut expected, 0));
        for _ in 0..100_000 {
            let now = events.next().unwrap();
            assert_eq!(events.iter().map(|event| event.at).min(), Some(now));
            let event = events.take(now, Step::Send).unwrap();
            let Reverse(first) = expected.pop().unwrap();
            assert_eq!((event.at, event.step, event.port), first);
            add(&mut events, &mut expected, now);
        }
    }
}
