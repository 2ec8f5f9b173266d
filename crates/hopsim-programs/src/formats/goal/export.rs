//! Sequences as graphs of single messages.

use super::write_rank;
use crate::collectives::{Call, Choices};
use crate::error::ProgramError;
use crate::graph::{Dependency, Graph, Operation, RankGraph};
use crate::record::{Bytes, Collective, Communicator, Message, Rank, Record};
use crate::trace::{RecordRules, Tape, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::io::{self, Write};

/// Writes a trace as GOAL text, one rank after the other; see [`unroll`].
pub fn write(trace: &Trace, choices: &Choices, mut writer: impl Write) -> io::Result<()> {
    let invalid = |error: ProgramError| io::Error::new(io::ErrorKind::InvalidInput, error);
    let export = Export::new(trace, choices).map_err(invalid)?;
    writeln!(writer, "num_ranks {}", trace.ranks.len())?;
    for rank in 0..trace.ranks.len() as Rank {
        write_rank(rank, &export.rank(rank).map_err(invalid)?, &mut writer)?;
    }
    Ok(())
}

/// The graph of a trace: one operation for each computation, send and receive, and one that computes for 0 ns for each wait.
/// Collective operations become the messages of the algorithms chosen. Each operation waits for the one before it to be done,
/// or, if it does not block, to have started. GOAL has no communicators: messages of communicator 0 keep their tags, the others
/// and those of collective operations get tags that are free. Receives that were posted for any source name the recorded one.
///
/// Without overheads the graph takes the same cycles as the trace.
pub fn unroll(trace: &Trace, choices: &Choices) -> Result<Graph, ProgramError> {
    let export = Export::new(trace, choices)?;
    let ranks = (0..trace.ranks.len() as Rank).map(|rank| export.rank(rank)).collect::<Result<_, _>>()?;
    let communicators = trace.communicators.iter().take(1).cloned().collect();
    Ok(Graph { communicators, ranks, ..Graph::default() })
}

/// What tags are needed for: messages of a communicator with a tag, or its collective operations. These need one only, as all
/// members call them in the same order.
type TagKey = (Communicator, Option<u32>);

/// What the graphs of all ranks have in common.
struct Export<'a> {
    trace: &'a Trace,
    choices: &'a Choices,
    rules: RecordRules,
    /// The tags of all keys but those of messages of communicator 0 that keep their own.
    tags: FxHashMap<TagKey, u32>,
}

/// The tag that means any in GOAL.
const ANY: u32 = u32::MAX;

impl<'a> Export<'a> {
    fn new(trace: &'a Trace, choices: &'a Choices) -> Result<Self, ProgramError> {
        let ranks = u32::try_from(trace.ranks.len()).unwrap_or(u32::MAX);
        let rules = RecordRules::new(ranks, &trace.communicators)?;
        let mut used: FxHashSet<u32> = FxHashSet::default();
        let mut tags: FxHashMap<TagKey, u32> = FxHashMap::default();
        let mut keys: Vec<TagKey> = Vec::new();
        for record in trace.ranks.iter().flat_map(Tape::iter) {
            let key = match record {
                Record::Send { message, .. } | Record::Receive { message, .. } => {
                    if message.communicator == 0 && message.tag != ANY {
                        used.insert(message.tag);
                        continue;
                    }
                    (message.communicator, Some(message.tag))
                }
                Record::Collective(collective) => (collective.communicator, None),
                Record::Begin { .. } | Record::Compute { .. } | Record::Wait { .. } => continue,
            };
            if tags.insert(key, ANY).is_none() {
                keys.push(key);
            }
        }
        let free = (0..ANY).filter(|tag| !used.contains(tag));
        tags.extend(keys.into_iter().zip(free));
        Ok(Self { trace, choices, rules, tags })
    }

    fn tag(&self, key: TagKey) -> u32 {
        let own = if let (0, Some(tag)) = key { tag } else { ANY };
        self.tags.get(&key).copied().unwrap_or(own)
    }

    fn rank(&self, rank: Rank) -> Result<RankGraph, ProgramError> {
        let tape = &self.trace.ranks[rank as usize];
        let mut export = RankExport::new(self, rank);
        for (record, number) in tape.iter().zip(0..) {
            export.line = tape.line(number);
            export.record(&record).map_err(|error| ProgramError { line: export.line, ..error.rank(rank) })?;
        }
        Ok(export.graph)
    }
}

/// The graph of a rank while it is made.
struct RankExport<'a> {
    export: &'a Export<'a>,
    rank: Rank,
    line: Option<u64>,
    graph: RankGraph,
    /// What the next operation waits for, and whether it is enough that it has started.
    standing: SmallVec<[(u32, bool); 2]>,
    /// The operations of open requests.
    requests: FxHashMap<u32, u32>,
}

impl<'a> RankExport<'a> {
    fn new(export: &'a Export<'a>, rank: Rank) -> Self {
        Self {
            export,
            rank,
            line: None,
            graph: RankGraph::default(),
            standing: SmallVec::new(),
            requests: FxHashMap::default(),
        }
    }

    /// An operation that waits for what the rank stands at.
    fn push(&mut self, operation: Operation) -> u32 {
        let number = self.graph.push(operation, 0, self.line);
        let dependencies =
            self.standing.iter().map(|&(on, started)| Dependency { operation: number, on, started });
        self.graph.dependencies.extend(dependencies);
        number
    }

    fn block(&mut self, operation: Operation) {
        let number = self.push(operation);
        self.standing = SmallVec::from_slice(&[(number, false)]);
    }

    fn go_on(&mut self, operation: Operation) -> u32 {
        let number = self.push(operation);
        self.standing = SmallVec::from_slice(&[(number, true)]);
        number
    }

    fn record(&mut self, record: &Record) -> Result<(), ProgramError> {
        match record {
            Record::Compute { nanoseconds: 0 } => {}
            Record::Compute { nanoseconds } => self.block(Operation::Compute { time: *nanoseconds }),
            Record::Send { message, request } => {
                let Message { peer, bytes, .. } = *message;
                self.message(Operation::Send { peer, tag: self.tag(message), bytes }, *request);
            }
            Record::Receive { message, request, .. } => {
                let Message { peer, bytes, .. } = *message;
                let (peer, tag) = (Some(peer), Some(self.tag(message)));
                self.message(Operation::Receive { peer, tag, bytes }, *request);
            }
            Record::Wait { requests } => {
                let operations: SmallVec<[u32; 4]> =
                    requests.iter().filter_map(|request| self.requests.remove(request)).collect();
                let join = self.push(Operation::Compute { time: 0 });
                let dependencies =
                    operations.into_iter().map(|on| Dependency { operation: join, on, started: false });
                self.graph.dependencies.extend(dependencies);
                self.standing = SmallVec::from_slice(&[(join, false)]);
            }
            Record::Collective(collective) => self.collective(collective)?,
            Record::Begin { .. } => {
                // Those of a communicator share a tag, and messages of two at once could not be told apart.
                let reason = "a collective that does not block has no form in GOAL; expected one that blocks";
                return Err(ProgramError::new(reason));
            }
        }
        Ok(())
    }

    fn tag(&self, message: &Message) -> u32 {
        self.export.tag((message.communicator, Some(message.tag)))
    }

    fn message(&mut self, operation: Operation, request: Option<u32>) {
        match request {
            None => self.block(operation),
            Some(request) => {
                let number = self.go_on(operation);
                self.requests.insert(request, number);
            }
        }
    }

    fn collective(&mut self, collective: &Collective) -> Result<(), ProgramError> {
        let Collective { kind, communicator, root, ref bytes } = *collective;
        let places = self.export.rules.members();
        let place = |rank| places.place(communicator, rank);
        let outside = || ProgramError::new(format!("the rank is not in communicator {communicator}"));
        let own = place(self.rank).ok_or_else(outside)?;
        let members = &self.export.trace.communicators[communicator as usize];
        let (bytes, each) = match bytes {
            Bytes::Same(bytes) => (*bytes, None),
            Bytes::Each { sent, received } => (0, Some((&**sent, &**received))),
        };
        let count = members.len() as u32;
        self.export.choices.check(kind, count).map_err(ProgramError::new)?;
        let root = root.and_then(place).unwrap_or(0);
        let call = Call { kind, members: count, place: own, root, bytes, each };
        let tag = self.export.tag((communicator, None));
        for step in self.export.choices.algorithm(kind, count, bytes).steps(&call) {
            let mut operations: SmallVec<[(u32, bool); 2]> = SmallVec::new();
            if let Some(part) = step.receive {
                let peer = Some(members[part.member as usize]);
                let receive = Operation::Receive { peer, tag: Some(tag), bytes: part.bytes };
                operations.push((self.go_on(receive), false));
            }
            if let Some(part) = step.send {
                let peer = members[part.member as usize];
                operations.push((self.go_on(Operation::Send { peer, tag, bytes: part.bytes }), false));
            }
            self.standing = operations;
        }
        Ok(())
    }
}
