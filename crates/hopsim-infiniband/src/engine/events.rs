//! What is to happen, in the order of time, step of the instant and port.

use crate::time::Ticks;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What happens, in the order in which it does at an instant (docs/infiniband.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Step {
    /// Credits arrive at a sending port: VL · 2^24 + blocks.
    Credit,
    /// The transfer to an output ends.
    TransferEnd,
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
    /// The head of a packet goes onto the link.
    Wire,
    /// A host may be able to send.
    Send,
}

const STEPS: [Step; 9] = [
    Step::Credit,
    Step::TransferEnd,
    Step::Room,
    Step::Head,
    Step::Tail,
    Step::Drained,
    Step::Arbitrate,
    Step::Wire,
    Step::Send,
];

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Ticks,
    /// What.
    pub step: Step,
    /// At which port.
    pub port: u32,
    /// The packet, or what the step says.
    pub what: u32,
}

/// Events to come. Each is one number, which compares as time, step, port.
#[derive(Clone, Debug, Default)]
pub struct Events(BinaryHeap<Reverse<u128>>);

impl Events {
    /// Puts an event in.
    #[inline]
    pub fn push(&mut self, Event { at, step, port, what }: Event) {
        debug_assert!(port < 1 << 28, "four bits are for the step");
        let low = (step as u64) << 60 | u64::from(port) << 32 | u64::from(what);
        self.0.push(Reverse(u128::from(at) << 64 | u128::from(low)));
    }

    /// When the next one is.
    #[inline]
    pub fn next(&self) -> Option<Ticks> {
        self.0.peek().map(|Reverse(key)| (key >> 64) as u64)
    }

    /// All of them, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = Event> {
        self.0.iter().map(|Reverse(key)| event(*key))
    }

    /// Takes the next event if it is at `now` and no later than the given step.
    #[inline]
    pub fn take(&mut self, now: Ticks, last: Step) -> Option<Event> {
        let Reverse(key) = self.0.peek()?;
        let event = event(*key);
        if event.at > now || event.step > last {
            return None;
        }
        self.0.pop();
        Some(event)
    }
}

fn event(key: u128) -> Event {
    let (at, low) = ((key >> 64) as u64, key as u64);
    let step = STEPS[(low >> 60) as usize];
    Event { at, step, port: (low >> 32) as u32 & 0x0fff_ffff, what: low as u32 }
}
