//! What a host writes down of its run if it is asked to: its messages, and what its streams did and waited for.

use crate::host::letter::{Cycle, Letter};
use crate::record::{Communicator, Rank};
use serde::{Deserialize, Serialize};

/// What hosts write down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Whether hosts write down their messages.
    pub messages: bool,
    /// Whether hosts write down what their streams do, and what they wait for.
    pub operations: bool,
}

/// What a host has written down; nothing of what nobody wants.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Log {
    /// The messages of the host.
    pub messages: Option<Box<Messages>>,
    /// Intervals of the host's streams.
    pub intervals: Option<Box<Intervals>>,
}

impl Log {
    /// An empty log.
    pub fn new(wanted: Wanted) -> Self {
        Self { messages: wanted.messages.then(Box::default), intervals: wanted.operations.then(Box::default) }
    }
}

/// A message to another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// The number of the message at its source.
    pub number: u32,
    /// The rank that the message goes to.
    pub destination: Rank,
    /// The tag of the message, see [`crate::host::matching::Envelope`].
    pub tag: u32,
    /// The communicator of the message, see [`crate::host::matching::Envelope`].
    pub communicator: Communicator,
    /// Payload.
    pub bytes: u64,
    /// When the message joined the queue; rendezvous: when its request did.
    pub joined: Cycle,
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// The last phit of the message's payload has left the sender's node.
    Left,
    /// The last phit of the message's payload is at the receiver's node.
    Arrived,
    /// The receiver knows of the message.
    Announced,
    /// A receive has taken the message.
    Matched,
}

/// Something that has become of a message.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Event {
    /// The rank that sent the message.
    pub source: Rank,
    /// The number of the message at its source.
    pub number: u32,
    /// What has become of the message.
    pub stage: Stage,
    /// When that has happened.
    pub at: Cycle,
}

/// The messages of a host. Messages to itself do not count.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Messages {
    /// Messages that the host sent, by number.
    pub sent: Vec<Sent>,
    /// What the host saw of the messages that it sent, and of messages for it.
    pub events: Vec<Event>,
}

impl Messages {
    /// A message joins the queue.
    pub fn send(&mut self, letter: &Letter) {
        let Letter { number, destination, tag, communicator, bytes, joined, .. } = *letter;
        self.sent.push(Sent { number, destination, tag, communicator, bytes, joined });
    }

    /// Something becomes of message `number` of a rank.
    pub fn note(&mut self, (source, number): (Rank, u32), stage: Stage, at: Cycle) {
        self.events.push(Event { source, number, stage, at });
    }
}

/// What a stream does, or what its rank waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Activity {
    /// Computes.
    Compute,
    /// Spends time on a message that it sends.
    SendOverhead,
    /// Spends time on a message that it receives.
    ReceiveOverhead,
    /// Waits for what another stream computes.
    WaitCompute,
    /// Waits for a send to be done.
    WaitSend,
    /// Waits for a receive to be done.
    WaitReceive,
    /// Waits for messages that no receive has been posted for.
    Wait,
}

impl Activity {
    /// All activities with their names, in their order.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Compute, "compute"),
        (Self::SendOverhead, "send_overhead"),
        (Self::ReceiveOverhead, "receive_overhead"),
        (Self::WaitCompute, "wait_compute"),
        (Self::WaitSend, "wait_send"),
        (Self::WaitReceive, "wait_receive"),
        (Self::Wait, "wait"),
    ];
}

/// Some cycles of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// The stream.
    pub stream: u8,
    /// What the stream does, or what its rank waits for.
    pub activity: Activity,
    /// Where the program has the activity from: see [`crate::host::machine::Label`].
    pub record: u32,
    /// First cycle.
    pub begin: Cycle,
    /// Cycle after the last one.
    pub end: Cycle,
}

/// What the streams of a host did, and what it waited for while stream 0 did nothing.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Intervals {
    busy: Vec<Interval>,
    waits: Vec<Interval>,
    /// What the host waits for, since when: it may still turn out in that cycle that it does not.
    waiting: Option<(Activity, u32)>,
    since: Cycle,
}

impl Intervals {
    /// A stream has something to do.
    pub fn works(&mut self, interval: Interval) {
        self.busy.push(interval);
    }

    /// From cycle `now` on the rank waits for something, or for nothing: an activity and its record. What is said last in a cycle
    /// counts.
    pub fn waits(&mut self, now: Cycle, what: Option<(Activity, u32)>) {
        if let Some((activity, record)) = self.waiting
            && self.since < now
        {
            let interval = Interval { stream: 0, activity, record, begin: self.since, end: now };
            self.extend(interval);
        }
        (self.waiting, self.since) = (what, now);
    }

    /// Adds an interval in which the host has waited; perhaps it goes on from the last one.
    fn extend(&mut self, interval: Interval) {
        match self.waits.last_mut() {
            Some(last) if *last == (Interval { begin: last.begin, end: interval.begin, ..interval }) => {
                last.end = interval.end;
            }
            _ => self.waits.push(interval),
        }
    }

    /// All intervals, by stream and cycle.
    pub fn all(&self) -> Vec<Interval> {
        let mut all: Vec<Interval> = self.busy.iter().chain(&self.waits).copied().collect();
        all.sort_by_key(|interval| (interval.stream, interval.begin));
        all
    }
}
