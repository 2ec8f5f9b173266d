//! Messages, and the parcels in which they travel.

use super::operations::{Communicator, Work};
use hopsim_programs::host::rules::Rules;
use std::collections::VecDeque;

/// A message of a program.
#[derive(Clone, Debug)]
pub struct Message {
    /// Number of the message's job.
    pub job: usize,
    /// Rank that sends the message, and the operation that does.
    pub source: (u32, usize),
    /// Rank that receives the message.
    pub to: u32,
    pub tag: u32,
    pub communicator: Communicator,
    pub bytes: u64,
    /// The number of the message at its source.
    pub number: u32,
    /// Phits of the packets of the message.
    pub phits: u64,
    /// Cycle in which the message, or the request for it, joined the queue.
    pub joined: u32,
    /// Cycles in which the last phit of the message left its node and was at the other one.
    pub left: Option<u32>,
    pub arrived: Option<u32>,
    /// Cycles in which the receiver knew of the message, and in which a receive took it.
    pub announced: Option<u32>,
    pub matched: Option<u32>,
    /// The receive that takes the message.
    pub receive: Option<usize>,
}

/// What a parcel is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A message that is sent without leave.
    Eager,
    /// A request for leave to send a message.
    Request,
    /// The leave to send a message.
    Clear,
    /// A message that is sent with leave.
    Data,
}

/// What a node sends at once: a message, or a word about one.
pub struct Parcel {
    pub kind: Kind,
    /// The message that the parcel is, or is about.
    pub message: usize,
    /// Rank that sends the parcel, and the number that the parcel has there.
    pub source: (u32, u32),
    /// Node that the parcel is for.
    pub to: usize,
    /// Cycle in which the parcel joined the queue.
    pub joined: u32,
    /// Lengths of the packets of the parcel that are not made yet.
    pub lengths: VecDeque<u32>,
    /// The packets of the parcel that have been made.
    pub packets: Vec<usize>,
    /// Whether the last phit of the parcel is at its node.
    pub there: bool,
}

/// Lengths of the packets of so many bytes: all but the last are full.
pub fn lengths(rules: &Rules, bytes: u64) -> VecDeque<u32> {
    let exact = u128::from(bytes) * u128::from(rules.phit.denominator);
    let mut left = exact.div_ceil(u128::from(rules.phit.numerator)).max(1);
    let mut lengths = VecDeque::new();
    while left > 0 {
        let payload = left.min(u128::from(rules.packet_length - rules.header_length));
        left -= payload;
        let length =
            if rules.last_packet_full { rules.packet_length } else { payload as u32 + rules.header_length };
        lengths.push_back(length);
    }
    lengths
}

/// Whether a receive takes a message.
pub fn fits(receive: &Work, message: &Message) -> bool {
    let &Work::Receive { from, tag, communicator } = receive else { return false };
    from.is_none_or(|from| from == message.source.0)
        && tag.is_none_or(|tag| tag == message.tag)
        && communicator == message.communicator
}
