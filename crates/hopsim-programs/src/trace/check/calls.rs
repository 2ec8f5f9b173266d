//! The members of a communicator call the same collective operations in the same order.

use super::{APART, FURTHER, mix};
use crate::collectives::Kind;
use crate::error::ProgramError;
use crate::record::{Bytes, Collective, Communicator, Rank};
use crate::trace::Trace;

/// The calls of a member.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct CallSequence {
    count: u64,
    /// Digest of all calls in their order.
    digest: u64,
}

/// What is known of a communicator.
#[derive(Clone, Default)]
struct CommunicatorCalls {
    /// Calls of the rank whose records are gone through.
    current: CallSequence,
    /// A rank that calls something, and what.
    first: Option<(Rank, CallSequence)>,
    /// Another rank, which calls something else.
    deviates: Option<Rank>,
    /// How many ranks call something.
    callers: usize,
    /// Digest of what goes from member to member in alltoallv, what is sent minus what is received.
    difference: u64,
}

/// All calls so far.
pub struct Calls {
    entries: Vec<CommunicatorCalls>,
    /// Communicators in which the current rank calls something.
    touched: Vec<Communicator>,
}

impl Calls {
    /// No calls yet in so many communicators.
    pub fn new(communicators: usize) -> Self {
        Self { entries: vec![CommunicatorCalls::default(); communicators], touched: Vec::new() }
    }

    /// The next call of the current rank, which stands at this place of the communicator.
    pub fn call(&mut self, collective: &Collective, place: u32) {
        let entry = &mut self.entries[collective.communicator as usize];
        if entry.current.count == 0 {
            self.touched.push(collective.communicator);
        }
        let root = collective.root.map_or(u64::from(u32::MAX) + 1, u64::from);
        let head = (collective.kind as u64) << 40 | root;
        let mut digest = entry.current.digest.wrapping_mul(APART).wrapping_add(head);
        match &collective.bytes {
            Bytes::Same(bytes) => digest = mix(digest).wrapping_add(*bytes),
            Bytes::Each { sent, received } => {
                let pair = |from: u64, to: u64, bytes: u64| {
                    let number = mix(entry.current.count).wrapping_add(from << 32 | to);
                    mix(number.wrapping_mul(FURTHER).wrapping_add(bytes))
                };
                let place = u64::from(place);
                let all = |sizes: &[u64], pair: &dyn Fn(u64, u64) -> u64| {
                    sizes
                        .iter()
                        .zip(0..)
                        .fold(0u64, |sum, (&bytes, other)| sum.wrapping_add(pair(other, bytes)))
                };
                let sent = all(sent, &|other, bytes| pair(place, other, bytes));
                let received = all(received, &|other, bytes| pair(other, place, bytes));
                entry.difference = entry.difference.wrapping_add(sent).wrapping_sub(received);
            }
        }
        entry.current = CallSequence { count: entry.current.count + 1, digest: mix(digest) };
    }

    /// The rank calls nothing more.
    pub fn end(&mut self, rank: Rank) {
        for communicator in self.touched.drain(..) {
            let entry = &mut self.entries[communicator as usize];
            let current = std::mem::take(&mut entry.current);
            entry.callers += 1;
            match entry.first {
                None => entry.first = Some((rank, current)),
                Some((_, sequence)) if sequence == current => {}
                Some(_) => entry.deviates = entry.deviates.or(Some(rank)),
            }
        }
    }

    /// Whether all members agree; the first communicator in which they do not is explained.
    pub fn verdict(&self, trace: &Trace) -> Result<(), ProgramError> {
        for (number, (entry, members)) in self.entries.iter().zip(&trace.communicators).enumerate() {
            let communicator = number as Communicator;
            let Some((first, _)) = entry.first else { continue };
            if let Some(other) = entry.deviates {
                return Err(difference(trace, communicator, first, other));
            }
            if entry.callers != members.len() {
                let silent = |rank: &&Rank| calls(trace, communicator, **rank).next().is_none();
                if let Some(&other) = members.iter().find(silent) {
                    return Err(difference(trace, communicator, first, other));
                }
            }
            if entry.difference != 0 {
                return Err(sizes(trace, communicator, members));
            }
        }
        Ok(())
    }
}

/// What a rank calls in a communicator, with the lines.
fn calls(
    trace: &Trace,
    communicator: Communicator,
    rank: Rank,
) -> impl Iterator<Item = (Option<u64>, Collective)> {
    let tape = &trace.ranks[rank as usize];
    tape.iter().zip(0..).filter_map(move |(record, number)| {
        let call = record.collective().filter(|call| call.communicator == communicator)?;
        Some((tape.line(number), call.clone()))
    })
}

/// Where the calls of two ranks part.
fn difference(trace: &Trace, communicator: Communicator, one: Rank, other: Rank) -> ProgramError {
    let (mut ones, mut others) = (calls(trace, communicator, one), calls(trace, communicator, other));
    let mut number = 0u64;
    loop {
        number += 1;
        let called = format!("as call {number} in communicator {communicator}");
        let (reason, rank, line) = match (ones.next(), others.next()) {
            (None, None) => (format!("the calls in communicator {communicator} differ"), other, None),
            (Some((line, call)), None) => (nothing_more(&call, &called, other), one, line),
            (None, Some((line, call))) => (nothing_more(&call, &called, one), other, line),
            (Some((_, a)), Some((_, b))) if alike(&a, &b) => continue,
            (Some((place, a)), Some((line, b))) => {
                let place = place.map_or(String::new(), |line| format!(" in line {line}"));
                let (a, b) = (describe(&a), describe(&b));
                (
                    format!("calls {b} {called}, where rank {one} calls {a}{place}; expected the same"),
                    other,
                    line,
                )
            }
        };
        return ProgramError { line, ..ProgramError::new(reason).rank(rank) };
    }
}

fn nothing_more(call: &Collective, called: &str, silent: Rank) -> String {
    format!("calls {} {called}, where rank {silent} calls nothing more; expected the same", describe(call))
}

fn alike(a: &Collective, b: &Collective) -> bool {
    let sizes = match (&a.bytes, &b.bytes) {
        (Bytes::Same(a), Bytes::Same(b)) => a == b,
        (Bytes::Each { .. }, Bytes::Each { .. }) => true,
        _ => false,
    };
    a.kind == b.kind && a.root == b.root && sizes
}

fn describe(call: &Collective) -> String {
    let size = match call.bytes {
        Bytes::Same(bytes) if call.kind != Kind::Barrier => format!(" of {bytes} bytes"),
        _ => String::new(),
    };
    let root = call.root.map_or(String::new(), |root| format!(" with root {root}"));
    format!("{}{size}{root}", call.kind.name())
}

/// The first alltoallv in which a member does not receive what another one sends.
fn sizes(trace: &Trace, communicator: Communicator, members: &[Rank]) -> ProgramError {
    let mut all: Vec<_> = members.iter().map(|&rank| calls(trace, communicator, rank)).collect();
    let mut number = 0u64;
    loop {
        number += 1;
        let round: Vec<_> = all.iter_mut().filter_map(Iterator::next).collect();
        if round.len() < members.len() {
            return ProgramError::new(format!("sizes of alltoallv in communicator {communicator} differ"));
        }
        if let Some((from, to, sent, received)) = first_wrong_pair(&round) {
            let (sender, receiver) = (members[from], members[to]);
            let place = round[from].0.map_or(String::new(), |line| format!(" in line {line}"));
            let reason = format!(
                "receives {received} bytes from rank {sender} in alltoallv, call {number} in communicator \
                 {communicator}, where rank {sender} sends {sent}{place}; expected the same"
            );
            return ProgramError { line: round[to].0, ..ProgramError::new(reason).rank(receiver) };
        }
    }
}

fn first_wrong_pair(round: &[(Option<u64>, Collective)]) -> Option<(usize, usize, u64, u64)> {
    for (from, (_, sender)) in round.iter().enumerate() {
        let Bytes::Each { sent, .. } = &sender.bytes else { continue };
        for (to, (_, receiver)) in round.iter().enumerate() {
            let Bytes::Each { received, .. } = &receiver.bytes else { continue };
            if sent[to] != received[from] {
                return Some((from, to, sent[to], received[from]));
            }
        }
    }
    None
}
