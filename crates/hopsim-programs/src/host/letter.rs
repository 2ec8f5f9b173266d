//! What hosts exchange, and what one has counted.

use crate::record::{Communicator, Rank};
use serde::{Deserialize, Serialize};

/// A point in time \[cycles\]; `Cycle::MAX` is never.
pub type Cycle = u32;

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// Carries its payload, whether or not anybody waits for it.
    Eager,
    /// Announces a payload, and asks for leave to send it.
    Request {
        /// The sender's operation.
        sender: u32,
    },
    /// Answers a request: somebody waits for the payload.
    Clear {
        /// The operation that sends the payload.
        sender: u32,
        /// That which receives it.
        receiver: u32,
    },
    /// Carries a payload that somebody waits for.
    Data {
        /// The operation that receives it.
        receiver: u32,
    },
}

/// A message on its way from one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// Who sends it.
    pub source: Rank,
    /// To whom.
    pub destination: Rank,
    /// Its number among those of its source. A request and its data have the same.
    pub number: u32,
    /// What it is for.
    pub purpose: Purpose,
    /// See [`Envelope`](crate::host::matching::Envelope).
    pub tag: u32,
    /// See [`Envelope`](crate::host::matching::Envelope).
    pub communicator: Communicator,
    /// Payload of the message; that of a request is still to come \[bytes\].
    pub bytes: u64,
    /// When it joined the queue of its source; data: when the request did.
    pub joined: Cycle,
}

impl Letter {
    /// Whether its receiver matches it with a receive: then it keeps its place among those with the same key.
    pub fn is_announced(&self) -> bool {
        matches!(self.purpose, Purpose::Eager | Purpose::Request { .. })
    }

    /// What the network carries of it \[bytes\].
    pub fn payload(&self) -> u64 {
        match self.purpose {
            Purpose::Eager | Purpose::Data { .. } => self.bytes,
            Purpose::Request { .. } | Purpose::Clear { .. } => 0,
        }
    }

    /// Whether it carries what a program sends.
    pub fn has_payload(&self) -> bool {
        matches!(self.purpose, Purpose::Eager | Purpose::Data { .. })
    }
}

/// A message in the queue of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outgoing {
    /// The message.
    pub letter: Letter,
    /// When it joined the queue.
    pub queued: Cycle,
    /// The operation that is done when its last phit has left.
    pub sender: Option<u32>,
}

/// What a host has counted. Messages to itself do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// When its last operation was done.
    pub finish: Cycle,
    /// Time of its computations on stream 0 \[cycles\].
    pub compute: u64,
    /// Time that its processor spent on messages \[cycles\].
    pub overhead: u64,
    /// Messages that it sent, those that only control others apart.
    pub messages_sent: u64,
    /// Their payload \[bytes\]; 2⁶⁴ - 1 stands for that and more.
    pub bytes_sent: u64,
    /// Messages that it received.
    pub messages_received: u64,
    /// Their payload, likewise.
    pub bytes_received: u64,
    /// Sum of the latencies of messages received: from joining the queue of the sender (rendezvous: the request's) to the last
    /// phit there \[cycles\].
    pub latency_sum: u64,
    /// The largest of them.
    pub latency_max: u64,
}
