//! Programs that are graphs of operations: GOAL, Chakra.

use crate::record::{Collective, Rank};
use std::sync::Arc;

/// An operation of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Takes its stream for so long on the machine that the program was recorded on.
    Compute {
        /// \[ns\]
        nanoseconds: u64,
    },
    /// Sends a message.
    Send {
        /// To whom.
        peer: Rank,
        /// What receives tell it by.
        tag: u32,
        /// Payload.
        bytes: u64,
    },
    /// Receives a message.
    Receive {
        /// From whom; `None`: from anyone.
        peer: Option<Rank>,
        /// With which tag; `None`: with any.
        tag: Option<u32>,
        /// Payload.
        bytes: u64,
    },
    /// Takes nothing.
    Join,
    /// Takes part in a collective operation: number of it in [`RankGraph::collectives`].
    Collective(u32),
}

/// What an operation waits for: another one of its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The operation that waits.
    pub operation: u32,
    /// For which one.
    pub on: u32,
    /// Whether it is enough that this one has started; otherwise it must be done.
    pub started: bool,
}

/// The operations of one rank, in the order of the file, which is their program order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankGraph {
    /// What they do.
    pub operations: Vec<Operation>,
    /// On which stream of the rank, by operation; empty: all on stream 0.
    pub streams: Vec<u8>,
    /// Line of the file, by operation; empty if it has none.
    pub lines: Vec<u32>,
    /// What waits for what.
    pub dependencies: Vec<Dependency>,
    /// Collective operations that it takes part in.
    pub collectives: Vec<Collective>,
}

/// A program whose ranks are graphs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Members of every communicator, in their order; number 0 has all ranks.
    pub communicators: Vec<Arc<[Rank]>>,
    /// By rank.
    pub ranks: Vec<RankGraph>,
}
