//! The n-th send of a key and its n-th receive are of the same size.

use super::{APART, mix};
use crate::error::ProgramError;
use crate::record::{Communicator, Message, Rank, Record};
use crate::trace::Trace;
use rustc_hash::FxHashMap;

/// What sends and receives are told apart by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key {
    source: Rank,
    destination: Rank,
    tag: u32,
    communicator: Communicator,
}

/// The messages of a key so far.
#[derive(Clone, Copy, Default)]
struct Tally {
    sends: u64,
    receives: u64,
    /// Digest of the sizes in their order, sends minus receives.
    difference: u64,
}

/// All messages so far.
#[derive(Default)]
pub struct MessageTallies {
    tallies: FxHashMap<Key, Tally>,
}

impl MessageTallies {
    #[inline]
    fn tally(&mut self, source: Rank, destination: Rank, message: &Message) -> &mut Tally {
        let Message { tag, communicator, .. } = *message;
        self.tallies.entry(Key { source, destination, tag, communicator }).or_default()
    }

    /// The next message that the rank sends.
    #[inline]
    pub fn send(&mut self, rank: Rank, message: &Message) {
        let tally = self.tally(rank, message.peer, message);
        tally.sends += 1;
        let digest = mix(tally.sends.wrapping_mul(APART).wrapping_add(message.bytes));
        tally.difference = tally.difference.wrapping_add(digest);
    }

    /// The next message that the rank receives.
    #[inline]
    pub fn receive(&mut self, rank: Rank, message: &Message) {
        let tally = self.tally(message.peer, rank, message);
        tally.receives += 1;
        let digest = mix(tally.receives.wrapping_mul(APART).wrapping_add(message.bytes));
        tally.difference = tally.difference.wrapping_sub(digest);
    }

    /// Whether all messages pair; the first key that does not is explained.
    pub fn verdict(&self, trace: &Trace) -> Result<(), ProgramError> {
        let wrong =
            self.tallies.iter().filter(|(_, tally)| tally.sends != tally.receives || tally.difference != 0);
        wrong.map(|(key, _)| *key).min().map_or(Ok(()), |key| Err(key.explain(trace)))
    }
}

/// A message as one side calls it: its line and size.
type Side = (Option<u64>, u64);

impl Key {
    fn sends(self, trace: &Trace) -> Vec<Side> {
        self.sides(trace, self.source, |record| match record {
            Record::Send { message, .. } if message.peer == self.destination => Some(*message),
            _ => None,
        })
    }

    fn receives(self, trace: &Trace) -> Vec<Side> {
        self.sides(trace, self.destination, |record| match record {
            Record::Receive { message, .. } if message.peer == self.source => Some(*message),
            _ => None,
        })
    }

    fn sides(self, trace: &Trace, rank: Rank, message: impl Fn(&Record) -> Option<Message>) -> Vec<Side> {
        let tape = &trace.ranks[rank as usize];
        let numbered = tape.iter().zip(0..).filter_map(|(record, number)| Some((number, message(&record)?)));
        let fitting =
            numbered.filter(|(_, sent)| sent.tag == self.tag && sent.communicator == self.communicator);
        fitting.map(|(number, message)| (tape.line(number), message.bytes)).collect()
    }

    fn explain(self, trace: &Trace) -> ProgramError {
        let (sends, receives) = (self.sends(trace), self.receives(trace));
        let Self { source, destination, tag, communicator } = self;
        let key =
            format!("from rank {source} to rank {destination} with tag {tag} in communicator {communicator}");
        let counts = format!("{} are sent and {} received", sends.len(), receives.len());
        if let Some((line, _)) = sends.get(receives.len()) {
            let reason =
                format!("of the messages {key}, {counts}; the first that nobody receives is sent here");
            return located(reason, source, *line);
        }
        if let Some((line, _)) = receives.get(sends.len()) {
            let reason =
                format!("of the messages {key}, {counts}; the first that nobody sends is received here");
            return located(reason, destination, *line);
        }
        let wrong = sends.iter().zip(&receives).zip(1..).find(|((sent, taken), _)| sent.1 != taken.1);
        let Some(((sent, taken), number)) = wrong else {
            return ProgramError::new(format!("messages {key} do not pair"));
        };
        let place = sent.0.map_or(String::new(), |line| format!(" in line {line}"));
        let reason = format!(
            "message {number} {key} has {} bytes where it is sent{place}, and {} where it is received; expected the same",
            sent.1, taken.1
        );
        located(reason, destination, taken.0)
    }
}

fn located(reason: String, rank: Rank, line: Option<u64>) -> ProgramError {
    ProgramError { line, ..ProgramError::new(reason).rank(rank) }
}
