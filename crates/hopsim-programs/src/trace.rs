//! Programs that are sequences: what each rank calls, one record after the other, packed in a few bytes each.

#[cfg(test)]
pub(crate) mod arbitrary;
mod check;
mod rules;
pub(crate) use rules::RecordRules;

use crate::collectives::Kind;
use crate::error::ProgramError;
use crate::record::{Bytes, Collective, Message, Rank, Record, Records, Script};
use smallvec::SmallVec;
use std::sync::Arc;

/// A recorded program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The name of the program, without spaces.
    pub name: String,
    /// What is known of how the program was recorded: key and text.
    pub info: Vec<(String, String)>,
    /// Members of every communicator, in their order; number 0 has all ranks.
    pub communicators: Vec<Arc<[Rank]>>,
    /// What each rank calls.
    pub ranks: Vec<Tape>,
}

/// The records of one rank, packed: a byte for the kind of record and what is left out in it, then numbers of seven bits to a
/// byte, least significant first.
///
/// Two tapes are equal when they have the same records, wherever they stood in a file.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    bytes: Vec<u8>,
    records: u64,
    /// Line of the first record in its file; 0: the tape is not from a file.
    pub first_line: u64,
    /// Records that do not stand in the line behind that of the record before: number of the record, line.
    jumps: Vec<(u64, u64)>,
    /// Line behind the last record.
    next_line: u64,
}

impl PartialEq for Tape {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Tape {}

const COMPUTE: u8 = 0;
const SEND: u8 = 1;
const RECEIVE: u8 = 2;
const WAIT: u8 = 3;
const COLLECTIVE: u8 = 4;
/// A collective that does not block.
const BEGIN: u8 = 5;
/// A send or receive has a request; a collective has a root.
const NUMBERED: u8 = 8;
/// A receive is from any source; a collective has a size for each member.
const ANY: u8 = 16;
/// A message has tag 0.
const UNTAGGED: u8 = 32;
/// A message is of communicator 0.
const OF_ALL: u8 = 64;

impl Tape {
    /// An empty tape.
    pub fn new(first_line: u64) -> Self {
        Self { first_line, ..Self::default() }
    }

    /// Number of records.
    pub fn len(&self) -> u64 {
        self.records
    }

    /// Whether the tape has no records.
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Memory taken \[bytes\].
    pub fn size(&self) -> usize {
        self.bytes.capacity() + self.jumps.capacity() * size_of::<(u64, u64)>()
    }

    /// Line of a record in its file, by its number from 0; none if the tape is not from a file.
    pub fn line(&self, record: u64) -> Option<u64> {
        let jumps = self.jumps.partition_point(|&(jump, _)| jump <= record);
        let (from, line) = jumps.checked_sub(1).map_or((0, self.first_line), |index| self.jumps[index]);
        (self.first_line > 0).then(|| line + (record - from))
    }

    /// Adds a record at the end, which stands in this line of its file.
    #[inline]
    pub fn push_at(&mut self, line: u64, record: &Record) {
        if self.records == 0 {
            self.first_line = line;
        } else if line != self.next_line {
            self.jumps.push((self.records, line));
        }
        self.next_line = line + 1;
        self.push(record);
    }

    /// Gives back memory that is not needed.
    pub fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.jumps.shrink_to_fit();
    }

    /// Adds a record at the end.
    pub fn push(&mut self, record: &Record) {
        self.records += 1;
        match record {
            Record::Compute { nanoseconds } => {
                self.bytes.push(COMPUTE);
                self.number(*nanoseconds);
            }
            Record::Send { message, request } => self.message(SEND, message, *request),
            Record::Receive { message, any_source, request } => {
                self.message(RECEIVE | if *any_source { ANY } else { 0 }, message, *request);
            }
            Record::Wait { requests } => {
                self.bytes.push(WAIT);
                self.number(requests.len() as u64);
                requests.iter().for_each(|&request| self.number(request.into()));
            }
            Record::Collective(collective) => self.collective(COLLECTIVE, collective),
            Record::Begin { collective, request } => {
                self.collective(BEGIN, collective);
                self.number((*request).into());
            }
        }
    }

    fn message(&mut self, kind: u8, message: &Message, request: Option<u32>) {
        let flag = |on, flag| if on { flag } else { 0 };
        let numbered = flag(request.is_some(), NUMBERED);
        let (untagged, of_all) = (message.tag == 0, message.communicator == 0);
        self.bytes.push(kind | numbered | flag(untagged, UNTAGGED) | flag(of_all, OF_ALL));
        self.number(message.peer.into());
        self.number(message.bytes);
        if let Some(request) = request {
            self.number(request.into());
        }
        if !untagged {
            self.number(message.tag.into());
        }
        if !of_all {
            self.number(message.communicator.into());
        }
    }

    fn collective(&mut self, head: u8, collective: &Collective) {
        let rooted = if collective.root.is_some() { NUMBERED } else { 0 };
        let each = if matches!(collective.bytes, Bytes::Each { .. }) { ANY } else { 0 };
        self.bytes.push(head | rooted | each);
        self.bytes.push(collective.kind as u8);
        self.number(collective.communicator.into());
        if let Some(root) = collective.root {
            self.number(root.into());
        }
        match &collective.bytes {
            Bytes::Same(bytes) => self.number(*bytes),
            Bytes::Each { sent, received } => {
                self.number(sent.len() as u64);
                sent.iter().chain(received).for_each(|&bytes| self.number(bytes));
            }
        }
    }

    fn number(&mut self, mut number: u64) {
        while number >= 128 {
            self.bytes.push(number as u8 | 128);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// The records of the tape from the first.
    pub fn iter(&self) -> impl Iterator<Item = Record> + '_ {
        let mut place = Place::default();
        std::iter::from_fn(move || self.next(&mut place))
    }

    /// The record at a place, which goes on to the next one; none behind the last.
    #[inline]
    pub fn next(&self, place: &mut Place) -> Option<Record> {
        let head = *self.bytes.get(place.byte)?;
        place.byte += 1;
        place.records += 1;
        let mut number = || place.number(&self.bytes);
        let numbered = head & NUMBERED != 0;
        Some(match head & 7 {
            COMPUTE => Record::Compute { nanoseconds: number() },
            SEND | RECEIVE => {
                let (peer, bytes) = (number() as u32, number());
                let request = numbered.then(|| number() as u32);
                let tag = if head & UNTAGGED == 0 { number() as u32 } else { 0 };
                let communicator = if head & OF_ALL == 0 { number() as u32 } else { 0 };
                let message = Message { peer, tag, bytes, communicator };
                if head & 7 == SEND {
                    Record::Send { message, request }
                } else {
                    Record::Receive { message, any_source: head & ANY != 0, request }
                }
            }
            WAIT => {
                let count = number();
                Record::Wait { requests: (0..count).map(|_| number() as u32).collect::<SmallVec<_>>() }
            }
            COLLECTIVE => Record::Collective(collective(head, number)),
            _ => Record::Begin {
                collective: Box::new(collective(head, &mut number)),
                request: number() as u32,
            },
        })
    }
}

/// A collective whose first byte is this, of the numbers that follow.
fn collective(head: u8, mut number: impl FnMut() -> u64) -> Collective {
    let kind = Kind::ALL[number() as usize];
    let communicator = number() as u32;
    let root = (head & NUMBERED != 0).then(|| number() as u32);
    let bytes = if head & ANY == 0 {
        Bytes::Same(number())
    } else {
        let members = number();
        let mut each = || (0..members).map(|_| number()).collect::<Box<[u64]>>();
        Bytes::Each { sent: each(), received: each() }
    };
    Collective { kind, communicator, root, bytes }
}

/// A place in a [`Tape`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    byte: usize,
    /// Records before the place.
    pub records: u64,
}

impl Place {
    #[inline]
    fn number(&mut self, bytes: &[u8]) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = bytes[self.byte];
            self.byte += 1;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return number;
            }
            shift += 7;
        }
    }
}

impl Trace {
    /// All that a script says, read to its end.
    pub fn of_script(name: &str, script: &Arc<dyn Script>) -> Self {
        let tape = |rank| {
            let mut records = Arc::clone(script).records(rank);
            let mut tape = Tape::new(0);
            while let Some(record) = records.next() {
                match script.line(rank, tape.len()) {
                    Some(line) => tape.push_at(line, &record),
                    None => tape.push(&record),
                }
            }
            tape.shrink();
            tape
        };
        let ranks = (0..script.ranks()).map(tape).collect();
        Self { name: name.into(), info: Vec::new(), communicators: script.communicators().to_vec(), ranks }
    }

    /// Refuses what cannot be executed, whoever wrote it: members and roots that do not exist, sends and receives that do not
    /// pair, collectives that members call in different orders.
    pub fn check(&self) -> Result<(), ProgramError> {
        crate::trace::check::check(self)
    }
}

impl Script for Trace {
    fn communicators(&self) -> &[Arc<[Rank]>] {
        &self.communicators
    }

    fn records(self: Arc<Self>, rank: Rank) -> Box<dyn Records> {
        Box::new(Reading { trace: self, rank: rank as usize, place: Place::default() })
    }

    fn line(&self, rank: Rank, record: u64) -> Option<u64> {
        self.ranks.get(rank as usize)?.line(record)
    }
}

/// One rank of a trace, as far as it has been read.
struct Reading {
    trace: Arc<Trace>,
    rank: usize,
    place: Place,
}

impl Records for Reading {
    #[inline]
    fn next(&mut self) -> Option<Record> {
        self.trace.ranks[self.rank].next(&mut self.place)
    }

    fn left(&self) -> u64 {
        self.trace.ranks[self.rank].len() - self.place.records
    }
}
