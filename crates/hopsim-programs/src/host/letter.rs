//! What hosts exchange, and what a host has counted.

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
        /// The operation that receives the payload.
        receiver: u32,
    },
    /// Carries a payload that somebody waits for.
    Data {
        /// The operation that receives the payload.
        receiver: u32,
    },
}

/// A message on its way from one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// The rank that sends the message.
    pub source: Rank,
    /// The rank that the message goes to.
    pub destination: Rank,
    /// The number of the message among those of its source. A request and its data have the same.
    pub number: u32,
    /// What the message is for.
    pub purpose: Purpose,
    /// The tag of the message, see [`Envelope`](crate::host::matching::Envelope).
    pub tag: u32,
    /// The communicator of the message, see [`Envelope`](crate::host::matching::Envelope).
    pub communicator: Communicator,
    /// Payload of the message; that of a request is still to come \[bytes\].
    pub bytes: u64,
    /// When the message joined the queue of its source; data: when the request did.
    pub joined: Cycle,
}

impl Letter {
    /// Whether the receiver matches the message with a receive: then it keeps its place among those with the same key.
    pub fn is_announced(&self) -> bool {
        matches!(self.purpose, Purpose::Eager | Purpose::Request { .. })
    }

    /// What the network carries of the message \[bytes\].
    pub fn payload(&self) -> u64 {
        match self.purpose {
            Purpose::Eager | Purpose::Data { .. } => self.bytes,
            Purpose::Request { .. } | Purpose::Clear { .. } => 0,
        }
    }

    /// Whether the message carries what a program sends.
    pub fn has_payload(&self) -> bool {
        matches!(self.purpose, Purpose::Eager | Purpose::Data { .. })
    }
}

/// A message in the queue of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outgoing {
    /// The message.
    pub letter: Letter,
    /// When the message joined the queue.
    pub queued: Cycle,
    /// The operation that is done when the last phit of the message has left.
    pub sender: Option<u32>,
}

/// What a host has counted. Messages to itself do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// When the last operation of the host was done.
    pub finish: Cycle,
    /// Time of the host's computations on stream 0 \[cycles\].
    pub compute: u64,
    /// Time that the host's processor spent on messages \[cycles\].
    pub overhead: u64,
    /// Messages that the host sent, those that only control others apart.
    pub messages_sent: u64,
    /// Payload of the messages sent \[bytes\]; 2⁶⁴ - 1 stands for that and more.
    pub bytes_sent: u64,
    /// Messages that the host received.
    pub messages_received: u64,
    /// Payload of the messages received \[bytes\]; 2⁶⁴ - 1 stands for that and more.
    pub bytes_received: u64,
    /// Sum of the latencies of messages received: from joining the queue of the sender (rendezvous: the request's) to the last
    /// phit there \[cycles\].
    pub latency_sum: u64,
    /// The largest latency of a message received \[cycles\].
    pub latency_max: u64,
}
