//! Graphs with collective operations as graphs of single messages.

use crate::collectives::{Call, Choices};
use crate::error::ProgramError;
use crate::graph::{Dependency, Graph, Operation, RankGraph};
use crate::record::{Bytes, Collective, Communicator, Rank};
use rustc_hash::{FxHashMap, FxHashSet};

/// A graph with the messages of the algorithms chosen in place of collective operations: a join, the steps one after the other,
/// another join. Each call of a communicator gets a tag that is free, as several may go on beside each other.
pub fn unroll_graph(graph: &Graph, choices: &Choices) -> Result<Graph, ProgramError> {
    let tags = tags(graph);
    let ranks = graph.ranks.iter().zip(0..).map(|(own, rank)| {
        let mut unrolling =
            RankUnrolling { all: graph, choices, tags: &tags, rank, graph: RankGraph::default() };
        unrolling.rank(own).map_err(|error| error.rank(rank))?;
        Ok(unrolling.graph)
    });
    Ok(Graph { ranks: ranks.collect::<Result<_, _>>()?, ..graph.clone() })
}

/// The tag of every call of a communicator, counted from 0.
fn tags(graph: &Graph) -> FxHashMap<(Communicator, u32), u32> {
    let operations = || graph.ranks.iter().flat_map(|own| &own.operations);
    let used: FxHashSet<u32> = operations()
        .filter_map(|operation| match *operation {
            Operation::Send { tag, .. } => Some(tag),
            Operation::Receive { tag, .. } => tag,
            _ => None,
        })
        .collect();
    let mut free = (0..u32::MAX).filter(|tag| !used.contains(tag));
    let mut tags = FxHashMap::default();
    for own in &graph.ranks {
        let mut calls: FxHashMap<Communicator, u32> = FxHashMap::default();
        for collective in &own.collectives {
            let call = calls.entry(collective.communicator).or_default();
            tags.entry((collective.communicator, *call)).or_insert_with(|| free.next().unwrap_or(u32::MAX));
            *call += 1;
        }
    }
    tags
}

/// The graph of a rank while it is made.
struct RankUnrolling<'a> {
    all: &'a Graph,
    choices: &'a Choices,
    tags: &'a FxHashMap<(Communicator, u32), u32>,
    rank: Rank,
    graph: RankGraph,
}

impl RankUnrolling<'_> {
    fn rank(&mut self, own: &RankGraph) -> Result<(), ProgramError> {
        // By operation: what waits, and what is waited for, in its place.
        let mut places: Vec<(u32, u32)> = Vec::with_capacity(own.operations.len());
        for (operation, number) in own.operations.iter().zip(0..) {
            let line = own.lines.get(number as usize).map(|&line| line.into());
            let first = match *operation {
                Operation::Collective(_) => Operation::Join,
                other => other,
            };
            let first = self.graph.push(first, own.stream(number), line);
            let last = match *operation {
                Operation::Collective(call) => self.collective(own, call, first)?,
                _ => first,
            };
            places.push((first, last));
        }
        let moved = own.dependencies.iter().map(|&Dependency { operation, on, started }| {
            let (first, last) = places[on as usize];
            Dependency {
                operation: places[operation as usize].0,
                on: if started { first } else { last },
                started,
            }
        });
        self.graph.dependencies.extend(moved);
        Ok(())
    }

    /// Adds the messages of a call behind an operation, and says what ends it.
    fn collective(&mut self, own: &RankGraph, call: u32, first: u32) -> Result<u32, ProgramError> {
        let Collective { kind, communicator, root, ref bytes } = own.collectives[call as usize];
        let before = &own.collectives[..call as usize];
        let count = before.iter().filter(|other| other.communicator == communicator).count() as u32;
        let members = &self.all.communicators[communicator as usize];
        let place = |rank| members.iter().position(|&member| member == rank).unwrap_or(0) as u32;
        let (bytes, each) = match bytes {
            Bytes::Same(bytes) => (*bytes, None),
            Bytes::Each { sent, received } => (0, Some((&**sent, &**received))),
        };
        let size = members.len() as u32;
        self.choices.check(kind, size).map_err(ProgramError::new)?;
        let (own, root) = (place(self.rank), root.map_or(0, place));
        let call = Call { kind, members: size, place: own, root, bytes, each };
        let tag = self.tags[&(communicator, count)];
        let mut standing = vec![first];
        for step in self.choices.algorithm(kind, size, bytes).steps(&call) {
            let receive = step.receive.map(|part| Operation::Receive {
                peer: Some(members[part.member as usize]),
                tag: Some(tag),
                bytes: part.bytes,
            });
            let send = step.send.map(|part| Operation::Send {
                peer: members[part.member as usize],
                tag,
                bytes: part.bytes,
            });
            let next =
                receive.into_iter().chain(send).map(|operation| self.push(operation, first, &standing));
            standing = next.collect();
        }
        Ok(self.push(Operation::Join, first, &standing))
    }

    /// An operation on the stream of another one that waits for some to be done.
    fn push(&mut self, operation: Operation, beside: u32, standing: &[u32]) -> u32 {
        let line = self.graph.lines.get(beside as usize).map(|&line| line.into());
        let number = self.graph.push(operation, self.graph.stream(beside), line);
        let waits = standing.iter().map(|&on| Dependency { operation: number, on, started: false });
        self.graph.dependencies.extend(waits);
        number
    }
}
