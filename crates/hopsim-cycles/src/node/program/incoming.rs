//! Messages on their way to a node: packets come in any order, and a message is there when the last of its packets is.

use crate::kernel::message::Message;
use hopsim_programs::host::Letter;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A message some of whose packets have not come.
#[derive(Clone, Serialize, Deserialize)]
struct Incoming {
    /// Number of the first packet of the message.
    first: u32,
    /// How many packets the message has.
    packets: u32,
    /// How many packets of the message have not been granted their way out.
    left: u32,
    /// How many packets of the message have been lost for good.
    lost: u32,
    /// First cycle in which all packets with a grant so far are there.
    there: u32,
    /// Whether the message is there: then it waits for one sent earlier.
    is_there: bool,
    letter: Letter,
}

/// Messages on their way to one node in a snapshot: source nodes and, in the order in which they were sent, their messages.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct InboxState(Vec<(u32, Vec<Incoming>)>);

impl InboxState {
    /// Adds a message that has set out and of which the node has not been told.
    pub fn expect(&mut self, message: &Message) {
        let (source, incoming) = Incoming::new(message);
        match self.0.iter_mut().find(|(other, _)| *other == source) {
            Some((_, messages)) => messages.push(incoming),
            None => self.0.push((source, vec![incoming])),
        }
    }

    /// Packet `serial` from `source` is lost for good.
    pub fn lose(&mut self, source: u32, serial: u32) {
        let messages = self.0.iter_mut().find(|(other, _)| *other == source).map(|(_, messages)| messages);
        if let Some(message) = messages.and_then(|messages| find(messages, serial)) {
            message.lost += 1;
        }
    }

    /// Sorts the messages by source.
    pub fn sort(&mut self) {
        self.0.sort_by_key(|(source, _)| *source);
    }
}

/// A message whose last packet has been granted its way to the node.
pub struct CompletedMessage {
    /// What its packets carry.
    pub letter: Letter,
    /// Number of the first packet of the message among the packets of its source.
    pub first_packet: u32,
    /// The cycle in which all packets of the message are at the node.
    pub at: u32,
}

impl Incoming {
    /// A message that has set out, with its source before it.
    fn new(message: &Message) -> (u32, Self) {
        let Message { to: _, from, first, packets, letter } = *message;
        (from, Self { first, packets, left: packets, lost: 0, there: 0, is_there: false, letter })
    }
}

/// Messages on their way to one node.
#[derive(Default)]
pub struct Inbox {
    /// The messages by source node, in the order in which they were sent.
    sources: FxHashMap<u32, Vec<Incoming>>,
}

impl Inbox {
    /// Adds a message that has set out.
    pub fn expect(&mut self, message: &Message) {
        let (from, incoming) = Incoming::new(message);
        self.sources.entry(from).or_default().push(incoming);
    }

    /// The state of the inbox, in any order of the sources.
    pub fn save(&self) -> InboxState {
        let Self { sources } = self;
        InboxState(sources.iter().map(|(&source, messages)| (source, messages.clone())).collect())
    }

    /// Goes on with the state of an inbox.
    pub fn load(&mut self, state: &InboxState) {
        let InboxState(sources) = state;
        self.sources = sources.iter().cloned().collect();
    }

    /// Packet `serial` from `source` will be there at cycle `at`. Returns the message if it was the last
    /// packet of it.
    #[inline]
    pub fn packet(&mut self, source: u32, serial: u32, at: u32) -> Option<CompletedMessage> {
        let messages = self.sources.get_mut(&source)?;
        let message = find(messages, serial)?;
        message.left -= 1;
        message.there = message.there.max(at);
        let Incoming { letter, first, left, there, .. } = *message;
        (left == 0).then_some(CompletedMessage { letter, first_packet: first, at: there })
    }

    /// The message from `source` that begins with packet `first_packet` is there. What its receiver learns of
    /// now, in the order of the source, is added to `letters`, with the cycle in which it was there: of
    /// messages with the same key none before one sent earlier.
    pub fn arrive(&mut self, source: u32, first_packet: u32, letters: &mut Vec<(Letter, u32)>) {
        let Some(messages) = self.sources.get_mut(&source) else { return };
        if let Some(message) = messages.iter_mut().find(|message| message.first == first_packet) {
            message.is_there = true;
        }
        let mut at = 0;
        while at < messages.len() {
            let free = messages[at].is_there
                && !messages[..at].iter().any(|earlier| precedes(earlier, &messages[at]));
            if free {
                let Incoming { letter, there, .. } = messages.remove(at);
                letters.push((letter, there));
            } else {
                at += 1;
            }
        }
        if messages.is_empty() {
            self.sources.remove(&source);
        }
    }

    /// The messages on their way to the node.
    pub fn letters(&self) -> impl Iterator<Item = Letter> {
        self.sources.values().flatten().map(|message| message.letter)
    }

    /// The messages that will never be there, with the number of their packets that are lost.
    pub fn lost(&self) -> impl Iterator<Item = (Letter, u32)> {
        let messages = self.sources.values().flatten().filter(|message| message.lost > 0);
        messages.map(|message| (message.letter, message.lost))
    }

    /// Whether a message is on its way that will be there: one that is there waits for another one.
    pub fn is_awaiting(&self) -> bool {
        self.sources.values().flatten().any(|message| message.lost == 0 && !message.is_there)
    }
}

/// The message that a packet of its source belongs to, by the number of the packet.
#[inline]
fn find(messages: &mut [Incoming], serial: u32) -> Option<&mut Incoming> {
    messages.iter_mut().find(|message| serial.wrapping_sub(message.first) < message.packets)
}

/// Whether a message is announced before a later one in any case.
fn precedes(earlier: &Incoming, later: &Incoming) -> bool {
    let key = |letter: &Letter| (letter.tag, letter.communicator);
    let (earlier, later) = (&earlier.letter, &later.letter);
    earlier.is_announced() && later.is_announced() && key(earlier) == key(later)
}
