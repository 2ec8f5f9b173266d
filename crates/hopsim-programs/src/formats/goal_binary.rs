//! GOAL in the binary form that `txt2bin` of `LogGOPSim` writes and that collections of traces come in. All numbers are
//! little-endian:
//!
//! ```text
//! u64 4223 · u32 ranks · u8 cpus · u8 nics · per rank u64 start, u64 end             both counted from byte 8
//! a rank: u32 operations · u32 roots · u32 root … · operation … · u32 successor …
//! an operation, 39 bytes: u32 predecessors · u8 kind (1 send, 2 recv, 3 calc) · u32 peer · u64 size or ns · u32 tag
//!   · u8 cpu · u8 nic · u32 count, u32 first of its successors when done · the same of those when started
//! ```
//!
//! A peer or tag of 2³²−1 is any.

use super::goal::{without_clock, without_collectives};
use crate::error::ProgramError;
use crate::graph::{Dependency, Graph, Operation, RankGraph};
use std::io::{self, Write};

const MAGIC: u64 = 4223;
/// The place in a file that positions are counted from.
const ORIGIN: usize = 8;
const ANY: u32 = u32::MAX;
const SEND: u8 = 1;
const RECEIVE: u8 = 2;
const COMPUTE: u8 = 3;
/// Size of an operation \[bytes\].
const OPERATION: usize = 39;

/// Whether a file begins like GOAL in binary form.
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC.to_le_bytes())
}

/// Reads a graph.
pub fn read(bytes: &[u8]) -> Result<Graph, ProgramError> {
    let mut file = Cursor { bytes, at: 0 };
    let magic = file.u64()?;
    if magic != MAGIC {
        return Err(ProgramError::new(format!(
            "expected {MAGIC} as first number of GOAL in binary form, got {magic}"
        )));
    }
    let ranks = file.u32()?;
    let (_cpus, _nics) = (file.u8()?, file.u8()?);
    if ranks == 0 {
        return Err(ProgramError::new("expected at least one rank, got 0"));
    }
    file.room(u64::from(ranks) * 16)?;
    let read = |rank| {
        let part = part(bytes, &mut file)?;
        rank_graph(part, ranks).map_err(|error: ProgramError| error.rank(rank))
    };
    let graphs = (0..ranks).map(read).collect::<Result<_, _>>()?;
    Ok(Graph { communicators: vec![(0..ranks).collect()], ranks: graphs, ..Graph::default() })
}

/// The part of the file that belongs to the next rank of the table.
fn part<'a>(bytes: &'a [u8], table: &mut Cursor<'_>) -> Result<&'a [u8], ProgramError> {
    let (start, end) = (table.u64()?, table.u64()?);
    let part = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    part.and_then(|(start, end)| bytes[ORIGIN..].get(start..end)).ok_or_else(|| {
        let length = bytes.len() - ORIGIN;
        ProgramError::new(format!(
            "expected the part of a rank within bytes 0 to {length}, got {start} to {end}"
        ))
    })
}

/// A place in a file.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], ProgramError> {
        self.room(N as u64)?;
        let mut taken = [0; N];
        taken.copy_from_slice(&self.bytes[self.at..self.at + N]);
        self.at += N;
        Ok(taken)
    }

    /// Refuses a file that has less than so many bytes to come.
    fn room(&self, needed: u64) -> Result<(), ProgramError> {
        let left = (self.bytes.len() - self.at) as u64;
        if needed <= left {
            return Ok(());
        }
        Err(ProgramError::new(format!("the file is cut short: expected {needed} bytes more, got {left}")))
    }

    fn u8(&mut self) -> Result<u8, ProgramError> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Result<u32, ProgramError> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, ProgramError> {
        self.take().map(u64::from_le_bytes)
    }
}

/// Where the successors of an operation are.
struct SuccessorRange {
    operation: u32,
    started: bool,
    first: u32,
    count: u32,
}

fn rank_graph(bytes: &[u8], ranks: u32) -> Result<RankGraph, ProgramError> {
    let mut part = Cursor { bytes, at: 0 };
    let (count, roots) = (part.u32()?, part.u32()?);
    part.room(u64::from(roots) * 4 + u64::from(count) * OPERATION as u64)?;
    // Roots are those without predecessors, which the operations say again.
    part.at += roots as usize * 4;
    let mut graph = RankGraph::default();
    let mut expected = Vec::with_capacity(count as usize);
    let mut all = Vec::new();
    for operation in 0..count {
        let wrong = |error: ProgramError| in_operation(operation, &error.reason);
        expected.push(part.u32()?);
        let (kind, peer, size, tag) = (part.u8()?, part.u32()?, part.u64()?, part.u32()?);
        let (stream, nic) = (part.u8()?, part.u8()?);
        if nic != 0 {
            return Err(in_operation(
                operation,
                &format!("expected nic 0, the only one supported, got {nic}"),
            ));
        }
        graph.push(self::operation(kind, (peer, tag), size, ranks).map_err(wrong)?, stream, None);
        for started in [false, true] {
            let (count, first) = (part.u32()?, part.u32()?);
            all.push(SuccessorRange { operation, started, first, count });
        }
    }
    let appendix = &bytes[part.at..];
    for successors in all.iter().filter(|successors| successors.count > 0) {
        dependencies(&mut graph, successors, appendix)?;
    }
    verify(graph, &expected)
}

fn in_operation(operation: u32, reason: &str) -> ProgramError {
    ProgramError::new(format!("operation {operation}: {reason}"))
}

fn operation(kind: u8, key: (u32, u32), size: u64, ranks: u32) -> Result<Operation, ProgramError> {
    let (peer, tag) = key;
    let known = |some: u32| (some != ANY).then_some(some);
    let is_rank = peer < ranks || kind == COMPUTE || kind == RECEIVE && peer == ANY;
    if !is_rank {
        let last = ranks - 1;
        return Err(ProgramError::new(format!("expected a rank from 0 to {last} as peer, got {peer}")));
    }
    match kind {
        SEND if tag == ANY => Err(ProgramError::new("expected a tag of a send, got any")),
        SEND => Ok(Operation::Send { peer, tag, bytes: size }),
        RECEIVE => Ok(Operation::Receive { peer: known(peer), tag: known(tag), bytes: size }),
        COMPUTE => Ok(Operation::Compute { time: size }),
        _ => Err(ProgramError::new(format!("expected a kind, 1 send, 2 recv or 3 calc, got {kind}"))),
    }
}

/// Adds the dependencies that the successors of an operation are.
fn dependencies(
    graph: &mut RankGraph,
    successors: &SuccessorRange,
    appendix: &[u8],
) -> Result<(), ProgramError> {
    let SuccessorRange { operation: on, started, first, count } = *successors;
    let range = first as usize * 4..(first as usize + count as usize) * 4;
    let Some(numbers) = appendix.get(range) else {
        let there = appendix.len() / 4;
        return Err(in_operation(
            on,
            &format!("expected its {count} successors from number {first} on, and there are {there} in all"),
        ));
    };
    for number in numbers.as_chunks().0 {
        let operation = u32::from_le_bytes(*number);
        if operation as usize >= graph.operations.len() {
            let last = graph.operations.len() - 1;
            return Err(in_operation(on, &format!("expected a successor from 0 to {last}, got {operation}")));
        }
        graph.dependencies.push(Dependency { operation, on, started });
    }
    Ok(())
}

/// Refuses numbers of predecessors that are not those of the successors, and circles.
fn verify(graph: RankGraph, expected: &[u32]) -> Result<RankGraph, ProgramError> {
    for ((&expected, found), operation) in expected.iter().zip(predecessors(&graph)).zip(0..) {
        if expected != found {
            let reason = format!("expected {expected} operations that it waits for, got {found}");
            return Err(in_operation(operation, &reason));
        }
    }
    let Some(circle) = graph.circle() else { return Ok(graph) };
    let names: Vec<String> = circle.iter().chain(circle.first()).map(u32::to_string).collect();
    Err(ProgramError::new(format!(
        "operations wait for each other in a circle: {}; expected none",
        names.join(" → ")
    )))
}

/// Writes a graph. A join becomes a calc of 0 ns. A graph with collective operations is refused.
pub fn write(graph: &Graph, mut writer: impl Write) -> io::Result<()> {
    without_clock(graph)?;
    let cpus = graph.ranks.iter().flat_map(|rank| &rank.streams).max().copied().unwrap_or(0);
    writer.write_all(&MAGIC.to_le_bytes())?;
    writer.write_all(&(graph.ranks.len() as u32).to_le_bytes())?;
    writer.write_all(&[cpus.saturating_add(1), 1])?;
    let mut start = 6 + 16 * graph.ranks.len() as u64;
    for rank in &graph.ranks {
        let roots = sources(rank).len();
        let size = 8 + 4 * roots + OPERATION * rank.operations.len() + 4 * rank.dependencies.len();
        let end = start + size as u64;
        writer.write_all(&start.to_le_bytes())?;
        writer.write_all(&end.to_le_bytes())?;
        start = end;
    }
    graph.ranks.iter().try_for_each(|rank| write_rank(rank, &mut writer))
}

fn predecessors(graph: &RankGraph) -> Vec<u32> {
    let mut predecessors = vec![0; graph.operations.len()];
    graph.dependencies.iter().for_each(|dependency| predecessors[dependency.operation as usize] += 1);
    predecessors
}

/// Operations that wait for nothing.
fn sources(graph: &RankGraph) -> Vec<u32> {
    let all = predecessors(graph).into_iter().zip(0..);
    all.filter(|&(predecessors, _)| predecessors == 0).map(|(_, operation)| operation).collect()
}

fn write_rank(graph: &RankGraph, writer: &mut impl Write) -> io::Result<()> {
    let mut write = |number: u32| writer.write_all(&number.to_le_bytes());
    let roots = sources(graph);
    write(graph.operations.len() as u32)?;
    write(roots.len() as u32)?;
    roots.into_iter().try_for_each(&mut write)?;
    let mut sorted: Vec<(u32, bool, u32)> = graph
        .dependencies
        .iter()
        .map(|&Dependency { operation, on, started }| (on, started, operation))
        .collect();
    sorted.sort_unstable();
    let mut first = 0u32;
    for ((operation, number), predecessors) in graph.operations.iter().zip(0..).zip(predecessors(graph)) {
        let (kind, peer, size, tag) = numbers(operation).ok_or_else(without_collectives)?;
        writer.write_all(&predecessors.to_le_bytes())?;
        writer.write_all(&[kind])?;
        writer.write_all(&peer.to_le_bytes())?;
        writer.write_all(&size.to_le_bytes())?;
        writer.write_all(&tag.to_le_bytes())?;
        writer.write_all(&[graph.stream(number), 0])?;
        for started in [false, true] {
            let rest = &sorted[first as usize..];
            let own =
                rest.iter().take_while(|&&(on, kind, _)| (on, kind) == (number, started)).count() as u32;
            writer.write_all(&own.to_le_bytes())?;
            writer.write_all(&first.to_le_bytes())?;
            first += own;
        }
    }
    sorted.into_iter().try_for_each(|(_, _, operation)| writer.write_all(&operation.to_le_bytes()))
}

fn numbers(operation: &Operation) -> Option<(u8, u32, u64, u32)> {
    match *operation {
        Operation::Compute { time } => Some((COMPUTE, 0, time, 0)),
        Operation::Join => Some((COMPUTE, 0, 0, 0)),
        Operation::Send { peer, tag, bytes } => Some((SEND, peer, bytes, tag)),
        Operation::Receive { peer, tag, bytes } => {
            Some((RECEIVE, peer.unwrap_or(ANY), bytes, tag.unwrap_or(ANY)))
        }
        Operation::Collective(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::goal;

    /// Rank 0 has a send and a calc that waits for it; rank 1 receives.
    fn file() -> Vec<u8> {
        let text = "num_ranks 2\nrank 0 {\na: send 8b to 1 tag 3\nb: calc 5 cpu 1\nb requires a\n}\n\
                    rank 1 {\nrecv 8b from -1 tag -1\n}\n";
        let mut bytes = Vec::new();
        write(&goal::read(text.as_bytes()).unwrap(), &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn the_layout_is_that_of_txt2bin() {
        let bytes = file();
        let number = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().unwrap());
        assert_eq!((number(0), number(8), bytes[12], bytes[13]), (4223, 2, 2, 1));
        // The table of two ranks ends at byte 46, 38 behind byte 8.
        assert_eq!((number(14), number(22)), (38, 38 + 8 + 4 + 2 * 39 + 4));
        // Two operations, one root, number 0; its kind, its peer and its successors.
        assert_eq!([46, 50, 54, 58].map(number), [2, 1, 0, 0]);
        assert_eq!((bytes[62], number(63), number(67), number(75)), (1, 1, 8, 3));
        assert_eq!([81, 85, 89].map(number), [1, 0, 0]);
        // The second one waits for one; the appendix.
        assert_eq!((number(97), bytes[97 + 4], bytes[97 + 21], number(136)), (1, 3, 1, 1));
        // Rank 1: from anyone, any tag.
        assert_eq!((number(140), bytes[152 + 4], number(152 + 5), number(152 + 17)), (1, 2, ANY, ANY));
    }

    #[test]
    fn broken_files_are_refused() {
        let refusal = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = file();
            change(&mut bytes);
            read(&bytes).map_or_else(|error| error.to_string(), |_| "fine".to_string())
        };
        assert_eq!(refusal(&|_| {}), "fine");
        let changed = |at: usize, byte: u8| refusal(&move |bytes| bytes[at] = byte);
        for (message, expected) in [
            (refusal(&|bytes| bytes.truncate(5)), "the file is cut short: expected 8 bytes more, got 5"),
            (refusal(&|bytes| bytes.truncate(20)), "the file is cut short: expected 32 bytes more, got 6"),
            (
                refusal(&|bytes| bytes.truncate(150)),
                "expected the part of a rank within bytes 0 to 142, got 132 to 183",
            ),
            (changed(0, 1), "expected 4223 as first number of GOAL in binary form, got 4097"),
            (changed(8, 0), "expected at least one rank, got 0"),
            (changed(46, 9), "rank 0: the file is cut short: expected 355 bytes more, got 86"),
            (changed(62, 4), "rank 0: operation 0: expected a kind, 1 send, 2 recv or 3 calc, got 4"),
            (changed(63, 2), "rank 0: operation 0: expected a rank from 0 to 1 as peer, got 2"),
            (
                refusal(&|bytes| bytes[75..79].fill(255)),
                "rank 0: operation 0: expected a tag of a send, got any",
            ),
            (changed(80, 1), "rank 0: operation 0: expected nic 0, the only one supported, got 1"),
            (
                changed(81, 2),
                "rank 0: operation 0: expected its 2 successors from number 0 on, and there are 1 in all",
            ),
            (changed(136, 2), "rank 0: operation 0: expected a successor from 0 to 1, got 2"),
            (changed(97, 2), "rank 0: operation 1: expected 2 operations that it waits for, got 1"),
            (
                refusal(&|bytes| (bytes[58], bytes[97], bytes[136]) = (1, 0, 0)),
                "rank 0: operations wait for each other in a circle: 0 → 0; expected none",
            ),
        ] {
            assert_eq!(message, expected);
        }
    }
}
