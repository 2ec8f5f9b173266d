//! Which message a receive takes: the tables of announced messages and of posted receives of one rank.

use crate::host::letter::Cycle;
use crate::host::serial::sorted;
use crate::record::{Communicator, Rank};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a message and a receive must have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Envelope {
    /// The rank that sends the message.
    pub source: Rank,
    /// The tag, which the program tells its messages apart by.
    pub tag: u32,
    /// The communicator. Collective operations have communicators of their own.
    pub communicator: Communicator,
}

/// What a receive asks for: `None` is anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    /// The source of the message.
    pub source: Option<Rank>,
    /// The tag of the message.
    pub tag: Option<u32>,
    /// The communicator of the message.
    pub communicator: Communicator,
}

impl Pattern {
    /// The only envelope that fits, if there is only one.
    fn exact(self) -> Option<Envelope> {
        let Self { source, tag, communicator } = self;
        Some(Envelope { source: source?, tag: tag?, communicator })
    }

    fn fits(self, envelope: Envelope) -> bool {
        self.source.is_none_or(|source| source == envelope.source)
            && self.tag.is_none_or(|tag| tag == envelope.tag)
            && self.communicator == envelope.communicator
    }
}

/// A message that has been announced and not yet taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announced {
    /// Number of the message at its source.
    pub number: u32,
    /// For a rendezvous the sender's operation, which waits for a clear; `None`: the message is here.
    pub sender: Option<u32>,
    /// Payload \[bytes\].
    pub bytes: u64,
    /// When the message joined the sender's queue.
    pub joined: Cycle,
}

const END: u32 = u32::MAX;

/// Messages or receives with the same envelope, in their order.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Line {
    first: u32,
    last: u32,
}

/// A message or receive in a line.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Entry {
    next: u32,
    /// The number of the entry among all messages or receives of the rank.
    order: u64,
    /// The message or receive of the entry.
    item: Item,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum Item {
    Announced(Announced),
    Posted(u32),
}

/// A posted receive that several envelopes fit.
#[derive(Clone, Serialize, Deserialize)]
struct Open {
    order: u64,
    pattern: Pattern,
    operation: u32,
}

/// The tables of one rank.
///
/// Messages and receives with one envelope stand in one line: of messages if there are more of them so far, of receives
/// otherwise.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Matching {
    #[serde(with = "sorted")]
    lines: FxHashMap<Envelope, Line>,
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// Posted receives that several envelopes fit, in order of posting.
    open: Vec<Open>,
    /// Envelopes of waiting messages in order of announcement; only for programs with receives that several fit.
    announced: Option<BTreeMap<u64, Envelope>>,
    order: u64,
    waiting: usize,
}

impl Matching {
    /// Empty tables; `open` if there may be receives that several envelopes fit.
    pub fn new(open: bool) -> Self {
        Self { announced: open.then(BTreeMap::new), ..Self::default() }
    }

    /// Messages that nobody has taken.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// The messages that nobody has taken, in order of source and number.
    pub fn untaken(&self) -> Vec<(Envelope, Announced)> {
        let mut all = Vec::new();
        #[expect(clippy::iter_over_hash_type, reason = "they are sorted below")]
        for (&envelope, line) in &self.lines {
            let mut at = line.first;
            while at != END {
                let entry = self.entries[at as usize];
                if let Item::Announced(message) = entry.item {
                    all.push((envelope, message));
                }
                at = entry.next;
            }
        }
        all.sort_by_key(|(envelope, message)| (envelope.source, message.number));
        all
    }

    /// The envelope and the bytes of the message announced first, of those that wait and that are wanted; for tables that may
    /// have receives that several envelopes fit.
    pub fn earliest(&self, wanted: impl Fn(Envelope) -> bool) -> Option<(Envelope, u64)> {
        let envelope = self.announced.as_ref()?.values().copied().find(|&envelope| wanted(envelope))?;
        let Item::Announced(message) = self.first(envelope)?.item else { return None };
        Some((envelope, message.bytes))
    }

    /// A message is announced. Returns the receive that takes it; if there is none it waits.
    pub fn announce(&mut self, envelope: Envelope, message: Announced) -> Option<u32> {
        self.order += 1;
        let exact = self.first(envelope).filter(|entry| matches!(entry.item, Item::Posted(_)));
        let open = self.open.iter().position(|open| open.pattern.fits(envelope));
        if let Some(index) = open
            && exact.is_none_or(|entry| self.open[index].order < entry.order)
        {
            return Some(self.open.remove(index).operation);
        }
        if let Some(Entry { item: Item::Posted(operation), .. }) = exact {
            self.pop(envelope);
            return Some(operation);
        }
        self.push(envelope, Item::Announced(message));
        self.waiting += 1;
        if let Some(announced) = &mut self.announced {
            announced.insert(self.order, envelope);
        }
        None
    }

    /// A receive is posted. Returns the message that it takes; if there is none it waits.
    pub fn post(&mut self, pattern: Pattern, operation: u32) -> Option<(Envelope, Announced)> {
        self.order += 1;
        let Some(envelope) = self.fitting(pattern) else {
            match pattern.exact() {
                Some(envelope) => self.push(envelope, Item::Posted(operation)),
                None => self.open.push(Open { order: self.order, pattern, operation }),
            }
            return None;
        };
        let entry = self.pop(envelope)?;
        self.waiting -= 1;
        if let Some(announced) = &mut self.announced {
            announced.remove(&entry.order);
        }
        let Item::Announced(message) = entry.item else { return None };
        Some((envelope, message))
    }

    /// The envelope of the message announced first that fits.
    fn fitting(&self, pattern: Pattern) -> Option<Envelope> {
        if let Some(envelope) = pattern.exact() {
            let first = self.first(envelope)?;
            return matches!(first.item, Item::Announced(_)).then_some(envelope);
        }
        self.announced.as_ref()?.values().copied().find(|&envelope| pattern.fits(envelope))
    }

    #[inline]
    fn first(&self, envelope: Envelope) -> Option<Entry> {
        self.lines.get(&envelope).map(|line| self.entries[line.first as usize])
    }

    fn push(&mut self, envelope: Envelope, item: Item) {
        let entry = Entry { next: END, order: self.order, item };
        let at = if let Some(at) = self.free.pop() {
            self.entries[at as usize] = entry;
            at
        } else {
            self.entries.push(entry);
            self.entries.len() as u32 - 1
        };
        let line = self.lines.entry(envelope).or_insert(Line { first: at, last: END });
        if line.last != END {
            self.entries[line.last as usize].next = at;
        }
        line.last = at;
    }

    fn pop(&mut self, envelope: Envelope) -> Option<Entry> {
        let line = self.lines.get_mut(&envelope)?;
        let (at, entry) = (line.first, self.entries[line.first as usize]);
        line.first = entry.next;
        if entry.next == END {
            self.lines.remove(&envelope);
        }
        self.free.push(at);
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A table as plain as can be: two lists.
    #[derive(Default)]
    struct Obvious {
        messages: Vec<(Envelope, Announced)>,
        receives: Vec<(Pattern, u32)>,
    }

    impl Obvious {
        fn announce(&mut self, envelope: Envelope, message: Announced) -> Option<u32> {
            let at = self.receives.iter().position(|(pattern, _)| pattern.fits(envelope));
            if at.is_none() {
                self.messages.push((envelope, message));
            }
            at.map(|at| self.receives.remove(at).1)
        }

        fn post(&mut self, pattern: Pattern, operation: u32) -> Option<(Envelope, Announced)> {
            let at = self.messages.iter().position(|&(envelope, _)| pattern.fits(envelope));
            if at.is_none() {
                self.receives.push((pattern, operation));
            }
            at.map(|at| self.messages.remove(at))
        }
    }

    proptest! {
        #[test]
        fn the_first_that_fits_is_taken(
            steps in prop::collection::vec((any::<bool>(), 0u32..3, 0u32..3, 0u32..2, 0u32..4), 0..200),
            open in any::<bool>(),
        ) {
            let (mut tables, mut obvious) = (Matching::new(open), Obvious::default());
            for (number, (receive, source, tag, communicator, wild)) in (0..).zip(steps) {
                if receive {
                    let any = |bit, value| (!open || wild & bit == 0).then_some(value);
                    let pattern = Pattern { source: any(1, source), tag: any(2, tag), communicator };
                    prop_assert_eq!(tables.post(pattern, number), obvious.post(pattern, number));
                } else {
                    let envelope = Envelope { source, tag, communicator };
                    let message = Announced { number, sender: None, bytes: 0, joined: 0 };
                    prop_assert_eq!(tables.announce(envelope, message), obvious.announce(envelope, message));
                }
                prop_assert_eq!(tables.waiting(), obvious.messages.len());
            }
            obvious.messages.sort_by_key(|(envelope, message)| (envelope.source, message.number));
            prop_assert_eq!(tables.untaken(), obvious.messages);
        }
    }
}
