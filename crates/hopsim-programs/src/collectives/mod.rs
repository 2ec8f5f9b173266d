//! Collective operations as the messages that an algorithm makes of them.
//!
//! A member asks for one step after the other: nothing is unrolled before it is needed, and no step depends on what came
//! before, so an all-to-all of ten thousand ranks takes no memory. A new algorithm is one file here and one row of the table.

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// Nobody goes on before all have come.
    Barrier,
    /// The root's vector goes to all.
    Bcast,
    /// The sum of all vectors goes to the root.
    Reduce,
    /// The sum of all vectors goes to all.
    Allreduce,
    /// What every member brings goes to all.
    Allgather,
    /// What every member brings goes to the root.
    Gather,
    /// The root has something for each member.
    Scatter,
    /// Of the sum of all vectors every member gets a block.
    ReduceScatter,
    /// Every member has something of the same size for each other.
    Alltoall,
    /// Every member has something for each other.
    Alltoallv,
    /// Every member gets the sum of the vectors up to its own.
    Scan,
}

impl Kind {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::Barrier,
        Self::Bcast,
        Self::Reduce,
        Self::Allreduce,
        Self::Allgather,
        Self::Gather,
        Self::Scatter,
        Self::ReduceScatter,
        Self::Alltoall,
        Self::Alltoallv,
        Self::Scan,
    ];

    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Bcast => "bcast",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::Allgather => "allgather",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
            Self::ReduceScatter => "reduce_scatter",
            Self::Alltoall => "alltoall",
            Self::Alltoallv => "alltoallv",
            Self::Scan => "scan",
        }
    }

    /// The one of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether one member is the root.
    pub fn is_rooted(self) -> bool {
        matches!(self, Self::Bcast | Self::Reduce | Self::Gather | Self::Scatter)
    }
}

/// One member's part of a collective operation.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Which one.
    pub kind: Kind,
    /// Number of members, at least 1.
    pub members: u32,
    /// The member's own place among them.
    pub place: u32,
    /// The root's place; 0 where there is none.
    pub root: u32,
    /// n of the collective \[bytes\]; 0 for alltoallv. See [`crate::record::Bytes`].
    pub bytes: u64,
    /// alltoallv: what it sends to each member and receives from each.
    pub each: Option<(&'a [u64], &'a [u64])>,
}

/// A message of a step: the other member's place, and the payload \[bytes\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The other member's place in the communicator.
    pub member: u32,
    /// Payload.
    pub bytes: u64,
}

/// What a member does at once: it posts the receive, starts the send and waits for both. A step with neither is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// What it receives.
    pub receive: Option<Part>,
    /// What it sends.
    pub send: Option<Part>,
    /// Whether what it receives is added to what it has.
    pub reduces: bool,
}
