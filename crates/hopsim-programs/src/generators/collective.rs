//! One collective operation, again and again.

use super::{MAX_RANKS, check_repeats, members};
use crate::collectives::Kind;
use crate::error::Refusal;
use crate::record::{Bytes, Collective, Rank, Record, Records, Script};
use std::sync::Arc;

/// All ranks take part in a collective operation `repeat` times, and compute in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectiveParameters {
    /// Number of ranks, `[1 … 2²⁴]`.
    pub ranks: u32,
    /// The kind of the operation. `Alltoallv` is refused: with one size for all pairs it sends what `Alltoall` by "pairwise"
    /// sends.
    pub kind: Kind,
    /// The size of the operation, see [`Bytes::Same`] `[bytes]`. 0 for a barrier.
    pub bytes: u64,
    /// The root, a rank, of kinds that have one, and none for others. Without it rank 0 is the root.
    pub root: Option<Rank>,
    /// The number of operations, `[1 … 2³⁰]`.
    pub repeat: u32,
    /// Computation of every rank between two operations `[ns]`. 0: none.
    pub compute: u64,
}

/// The program of a repeated collective operation.
#[derive(Clone, Debug)]
pub struct CollectiveProgram {
    parameters: CollectiveParameters,
    root: Option<Rank>,
    communicators: [Arc<[Rank]>; 1],
}

impl CollectiveProgram {
    /// Refuses parameters out of their ranges.
    pub fn new(parameters: CollectiveParameters) -> Result<Self, Refusal> {
        let CollectiveParameters { ranks, kind, bytes, root, repeat, .. } = parameters;
        Refusal::unless_within("ranks", ranks, 1..=MAX_RANKS.into())?;
        check_repeats("repeat", repeat, 2)?;
        if kind == Kind::Alltoallv {
            let reason = "all pairs of ranks exchange the same number of bytes";
            let valid = "alltoall, which sends the same messages if its algorithm is pairwise";
            return Err(Refusal::new("kind", kind.name(), reason, valid));
        }
        if kind == Kind::Barrier && bytes > 0 {
            return Err(Refusal::new("bytes", bytes, "a barrier carries no bytes", "0"));
        }
        match root {
            Some(root) if !kind.is_rooted() => {
                let reason = format!("{} has no root", kind.name());
                Err(Refusal::new("root", root, reason, "leave it out"))
            }
            Some(root) => Refusal::unless_within("root", root, 0..=u64::from(ranks) - 1),
            None => Ok(()),
        }?;
        let root = kind.is_rooted().then(|| root.unwrap_or(0));
        Ok(Self { parameters, root, communicators: [members(0, 1, ranks)] })
    }

    /// Number of records of every rank.
    fn length(&self) -> u64 {
        let repeat = u64::from(self.parameters.repeat);
        if self.parameters.compute > 0 { 2 * repeat - 1 } else { repeat }
    }
}

impl Script for CollectiveProgram {
    fn communicators(&self) -> &[Arc<[Rank]>] {
        &self.communicators
    }

    fn records(self: Arc<Self>, _rank: Rank) -> Box<dyn Records> {
        Box::new(CollectiveCalls { program: self, made: 0 })
    }
}

/// The calls of a rank.
struct CollectiveCalls {
    program: Arc<CollectiveProgram>,
    made: u64,
}

impl Records for CollectiveCalls {
    fn next(&mut self) -> Option<Record> {
        if self.left() == 0 {
            return None;
        }
        self.made += 1;
        let CollectiveParameters { kind, bytes, compute, .. } = self.program.parameters;
        if compute > 0 && self.made.is_multiple_of(2) {
            return Some(Record::Compute { nanoseconds: compute });
        }
        let (root, bytes) = (self.program.root, Bytes::Same(bytes));
        Some(Record::Collective(Collective { kind, communicator: 0, root, bytes }))
    }

    fn left(&self) -> u64 {
        self.program.length() - self.made
    }
}
