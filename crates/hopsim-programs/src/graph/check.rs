//! What must hold within and between the ranks of a graph.

use super::{Dependency, Graph, Operation, RankGraph, located};
use crate::error::ProgramError;
use crate::record::{Rank, Record};
use crate::trace::{Tape, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// Checks a graph, see [`Graph::check`].
pub fn check(graph: &Graph) -> Result<(), ProgramError> {
    let ranks = graph.ranks.len();
    for (own, rank) in graph.ranks.iter().zip(0..) {
        within(own, ranks).map_err(|error: ProgramError| error.rank(rank))?;
    }
    if graph.ranks.iter().any(|own| !own.collectives.is_empty()) {
        calls(graph).check()?;
    }
    between(graph)
}

/// The collective operations of a graph alone, as a trace.
fn calls(graph: &Graph) -> Trace {
    let tape = |own: &RankGraph| {
        let mut tape = Tape::new(0);
        own.collectives.iter().for_each(|call| tape.push(&Record::Collective(call.clone())));
        tape
    };
    let ranks = graph.ranks.iter().map(tape).collect();
    Trace { communicators: graph.communicators.clone(), ranks, ..Trace::default() }
}

fn within(graph: &RankGraph, ranks: usize) -> Result<(), ProgramError> {
    let count = graph.operations.len();
    for (operation, number) in graph.operations.iter().zip(0..) {
        let reason = match *operation {
            Operation::Send { peer, .. } | Operation::Receive { peer: Some(peer), .. }
                if peer as usize >= ranks =>
            {
                format!("expected a rank from 0 to {} as peer, got {peer}", ranks - 1)
            }
            Operation::Collective(number) if number as usize >= graph.collectives.len() => {
                format!(
                    "expected the number of one of {} collective operations, got {number}",
                    graph.collectives.len()
                )
            }
            _ => continue,
        };
        return Err(located(reason, graph, number));
    }
    let is_outside = |dependency: &&Dependency| dependency.operation.max(dependency.on) as usize >= count;
    if let Some(Dependency { operation, on, .. }) = graph.dependencies.iter().find(is_outside) {
        let reason =
            format!("operation {operation} waits for operation {on}; expected numbers below {count}");
        return Err(ProgramError::new(reason));
    }
    let Some(circle) = graph.circle() else { return Ok(()) };
    let names: Vec<String> = circle.iter().chain(circle.first()).map(u32::to_string).collect();
    let reason = format!("operations wait for each other in a circle: {}; expected none", names.join(" → "));
    Err(located(reason, graph, circle[0]))
}

/// Source, destination and tag; without source and tag where the destination has receives that fit any.
type MatchKey = (Rank, Option<(Rank, u32)>);

/// Sends and receives of a key.
#[derive(Clone, Copy, Default)]
struct MatchTally {
    sends: u64,
    receives: u64,
}

fn between(graph: &Graph) -> Result<(), ProgramError> {
    let is_any = |operation: &Operation| matches!(operation, Operation::Receive { peer, tag, .. } if peer.is_none() || tag.is_none());
    let all = || graph.ranks.iter().zip(0..);
    let open: FxHashSet<Rank> =
        all().filter(|(own, _)| own.operations.iter().any(is_any)).map(|(_, rank)| rank).collect();
    let mut tallies: FxHashMap<MatchKey, MatchTally> = FxHashMap::default();
    for (own, rank) in all() {
        for operation in &own.operations {
            match key(operation, rank, &open) {
                Some((key, true)) => tallies.entry(key).or_default().sends += 1,
                Some((key, false)) => tallies.entry(key).or_default().receives += 1,
                None => {}
            }
        }
    }
    let wrong = tallies.iter().filter(|(_, tally)| tally.sends != tally.receives);
    let first = wrong.min_by_key(|(key, _)| **key).map(|(key, tally)| (*key, *tally));
    first.map_or(Ok(()), |(key, tally)| Err(explain(graph, key, tally, &open)))
}

/// The key of a message, and whether it is sent here.
fn key(operation: &Operation, rank: Rank, open: &FxHashSet<Rank>) -> Option<(MatchKey, bool)> {
    match *operation {
        Operation::Send { peer, tag, .. } => {
            Some(((peer, (!open.contains(&peer)).then_some((rank, tag))), true))
        }
        Operation::Receive { peer, tag, .. } => {
            Some(((rank, peer.zip(tag).filter(|_| !open.contains(&rank))), false))
        }
        _ => None,
    }
}

fn explain(graph: &Graph, wrong: MatchKey, tally: MatchTally, open: &FxHashSet<Rank>) -> ProgramError {
    let MatchTally { sends, receives } = tally;
    let (destination, named) = wrong;
    let from = named.map_or(String::new(), |(source, tag)| format!(" from rank {source} with tag {tag}"));
    let reason = format!(
        "of the messages to rank {destination}{from}, {sends} are sent and {receives} received; expected as many"
    );
    let is_surplus =
        |operation: &Operation, rank| key(operation, rank, open) == Some((wrong, sends > receives));
    let mut fitting = graph.ranks.iter().zip(0..).flat_map(|(own, rank)| {
        let operations = own.operations.iter().zip(0..);
        operations
            .filter(move |(operation, _)| is_surplus(operation, rank))
            .map(move |(_, number)| (own, rank, number))
    });
    match fitting.nth(sends.min(receives) as usize) {
        Some((own, rank, number)) => located(reason, own, number).rank(rank),
        None => ProgramError::new(reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::goal;

    fn verdict(first: &str, second: &str) -> String {
        let text = format!("num_ranks 2\nrank 0 {{\n{first}\n}}\nrank 1 {{\n{second}\n}}\n");
        let graph = goal::read(text.as_bytes()).unwrap();
        graph.check().map_or_else(|error| error.to_string(), |()| "fine".to_string())
    }

    #[test]
    fn sends_and_receives_are_as_many() {
        assert_eq!(verdict("send 8b to 1 tag 3", "recv 8b from 0 tag 3"), "fine");
        assert_eq!(
            verdict("send 8b to 1 tag 3\nsend 8b to 1 tag 4", "recv 8b from -1 tag -1\nrecv 8b from 0 tag 3"),
            "fine"
        );
        assert_eq!(
            verdict("send 8b to 1 tag 3\nsend 8b to 1 tag 3", "recv 8b from 0 tag 3"),
            "line 4: rank 0: of the messages to rank 1 from rank 0 with tag 3, 2 are sent and 1 received; expected as many"
        );
        assert_eq!(
            verdict("send 8b to 1 tag 3", "recv 8b from 0 tag 3\nrecv 8b from 0 tag 4"),
            "line 7: rank 1: of the messages to rank 1 from rank 0 with tag 4, 0 are sent and 1 received; expected as many"
        );
        assert_eq!(
            verdict("send 8b to 1 tag 3", "recv 8b from -1 tag 3\nrecv 8b from 0 tag 4"),
            "line 7: rank 1: of the messages to rank 1, 1 are sent and 2 received; expected as many"
        );
    }

    #[test]
    fn numbers_are_those_of_the_graph() {
        let compute = Operation::Compute { time: 1 };
        let refusal = |operations: Vec<Operation>, dependencies: Vec<Dependency>| {
            let rank = RankGraph { operations, dependencies, ..RankGraph::default() };
            let graph = Graph { communicators: vec![[0].into()], ranks: vec![rank], ..Graph::default() };
            graph.check().unwrap_err().to_string()
        };
        assert_eq!(
            refusal(vec![Operation::Send { peer: 1, tag: 0, bytes: 0 }], Vec::new()),
            "rank 0: expected a rank from 0 to 0 as peer, got 1"
        );
        assert_eq!(
            refusal(vec![Operation::Collective(0)], Vec::new()),
            "rank 0: expected the number of one of 0 collective operations, got 0"
        );
        let waits = |operation, on| Dependency { operation, on, started: false };
        assert_eq!(
            refusal(vec![compute], vec![waits(0, 1)]),
            "rank 0: operation 0 waits for operation 1; expected numbers below 1"
        );
        assert_eq!(
            refusal(vec![compute, compute], vec![waits(0, 1), waits(1, 0)]),
            "rank 0: operations wait for each other in a circle: 0 → 1 → 0; expected none"
        );
    }
}
