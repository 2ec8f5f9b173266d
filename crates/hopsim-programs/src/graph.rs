//! Programs that are graphs of operations: GOAL, Chakra.

mod check;
mod sequence;

use crate::error::ProgramError;
use crate::record::{Collective, Rank};
use crate::trace::Trace;
use std::sync::Arc;

/// What the computations of a graph are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// Nanoseconds of the machine that the program was recorded on: hosts of another speed take other times.
    #[default]
    Nanoseconds,
    /// Picoseconds, 10⁻¹² s, which pass at the same rate for all hosts.
    Picoseconds,
    /// Cycles of the network, which pass at the same rate for all hosts.
    Cycles,
}

/// An operation of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Takes its stream for so long.
    Compute {
        /// The time of the computation, in the unit of [`Graph::clock`].
        time: u64,
    },
    /// Sends a message.
    Send {
        /// The rank that receives the message.
        peer: Rank,
        /// The tag that receives tell the message by.
        tag: u32,
        /// Payload.
        bytes: u64,
    },
    /// Receives a message.
    Receive {
        /// The rank that sends the message; `None`: anyone.
        peer: Option<Rank>,
        /// The tag of the message; `None`: any.
        tag: Option<u32>,
        /// Payload.
        bytes: u64,
    },
    /// Takes no time: it is done as soon as it begins.
    Join,
    /// Takes part in a collective operation: its number in [`RankGraph::collectives`].
    Collective(u32),
}

/// An error at an operation of a rank.
pub(crate) fn located(reason: String, graph: &RankGraph, operation: u32) -> ProgramError {
    let line = graph.lines.get(operation as usize).map(|&line| line.into());
    ProgramError { line, ..ProgramError::new(reason) }
}

/// What an operation waits for: another one of its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The operation that waits.
    pub operation: u32,
    /// The operation that is waited for.
    pub on: u32,
    /// Whether it is enough that the other operation has started; otherwise it must be done.
    pub started: bool,
}

/// The operations of one rank, in the order of the file, which is their program order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankGraph {
    /// What the operations do.
    pub operations: Vec<Operation>,
    /// The stream of the rank that each operation is on; empty: all on stream 0.
    pub streams: Vec<u8>,
    /// The line of the file that each operation is in; empty if there is no file.
    pub lines: Vec<u32>,
    /// Which operation waits for which.
    pub dependencies: Vec<Dependency>,
    /// Collective operations that the rank takes part in.
    pub collectives: Vec<Collective>,
}

/// A program whose ranks are graphs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// What computations are counted in.
    pub clock: Clock,
    /// Members of every communicator, in their order; number 0 has all ranks.
    pub communicators: Vec<Arc<[Rank]>>,
    /// The graphs of the ranks, by rank.
    pub ranks: Vec<RankGraph>,
}

impl Graph {
    /// Refuses what cannot be executed, whoever wrote it: peers and dependencies that do not exist, operations that wait for
    /// each other in a circle, and keys of which not as many messages are sent as received. Where a rank has receives that fit
    /// several keys all its messages are counted together. Members of a communicator must call the same collective operations, in
    /// the order of [`RankGraph::collectives`].
    pub fn check(&self) -> Result<(), ProgramError> {
        check::check(self)
    }

    /// The program as a trace, if every operation of a rank waits until the one before it has started or is done: what blocks
    /// there is what nothing begins beside, and the others have requests. Without overheads the trace takes the same cycles.
    pub fn sequence(&self, name: &str) -> Result<Trace, ProgramError> {
        sequence::sequence(self, name)
    }
}

impl RankGraph {
    /// Adds an operation on a stream at the end, and says its number. The line is where it stands in a file, if it does.
    pub fn push(&mut self, operation: Operation, stream: u8, line: Option<u64>) -> u32 {
        let number = self.operations.len() as u32;
        self.operations.push(operation);
        if stream > 0 || !self.streams.is_empty() {
            self.streams.resize(number as usize, 0);
            self.streams.push(stream);
        }
        if let Some(line) = line {
            self.lines.resize(number as usize, 0);
            self.lines.push(u32::try_from(line).unwrap_or(u32::MAX));
        }
        number
    }

    /// The stream of an operation.
    pub fn stream(&self, operation: u32) -> u8 {
        self.streams.get(operation as usize).copied().unwrap_or(0)
    }

    /// Operations of which each waits for the next and the last one for the first, if there are such; none of them could ever
    /// begin.
    pub fn circle(&self) -> Option<Vec<u32>> {
        let open = self.never_ready();
        let mut awaited = vec![None; open.len()];
        for Dependency { operation, on, .. } in &self.dependencies {
            if open[*operation as usize] && open[*on as usize] {
                awaited[*operation as usize] = Some(*on);
            }
        }
        let mut path = Vec::new();
        let mut position = vec![None; open.len()];
        let mut next = open.iter().position(|&open| open).map(|first| first as u32);
        while let Some(operation) = next {
            if let Some(start) = position[operation as usize] {
                return Some(path.split_off(start));
            }
            position[operation as usize] = Some(path.len());
            path.push(operation);
            next = awaited[operation as usize];
        }
        None
    }

    /// Whether each operation waits for itself in the end.
    fn never_ready(&self) -> Vec<bool> {
        let count = self.operations.len();
        let mut first = vec![0usize; count + 1];
        let mut missing = vec![0u32; count];
        for dependency in &self.dependencies {
            first[dependency.on as usize + 1] += 1;
            missing[dependency.operation as usize] += 1;
        }
        (0..count).for_each(|on| first[on + 1] += first[on]);
        let mut successors = vec![0u32; self.dependencies.len()];
        let mut free = first.clone();
        for dependency in &self.dependencies {
            let place = &mut free[dependency.on as usize];
            successors[*place] = dependency.operation;
            *place += 1;
        }
        let mut ready: Vec<usize> = (0..count).filter(|&operation| missing[operation] == 0).collect();
        while let Some(operation) = ready.pop() {
            for &successor in &successors[first[operation]..first[operation + 1]] {
                missing[successor as usize] -= 1;
                if missing[successor as usize] == 0 {
                    ready.push(successor as usize);
                }
            }
        }
        missing.into_iter().map(|missing| missing > 0).collect()
    }
}
