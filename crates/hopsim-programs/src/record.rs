//! What a sequence is made of: the calls of one rank in program order.

use crate::collectives::Kind;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::sync::Arc;

/// Number of a process of a program, from 0.
pub type Rank = u32;

/// Number of a set of ranks that communicate among themselves. Number 0 has all ranks in order.
pub type Communicator = u32;

/// A message as one side of it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The rank at the other side, among all ranks of the program.
    pub peer: Rank,
    /// The tag, which the program tells its messages apart by.
    pub tag: u32,
    /// Payload \[bytes\].
    pub bytes: u64,
    /// The communicator: only receives of the same one fit.
    pub communicator: Communicator,
}

/// A call of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// Computes for so long on the machine that the program was recorded on.
    Compute {
        /// The time of the computation \[ns\].
        nanoseconds: u64,
    },
    /// Sends a message, and goes on when the send is done; with a request number it goes on at once, and a wait for that
    /// number waits for the send.
    Send {
        /// The message, and to whom.
        message: Message,
        /// The number of the request, unless the send blocks.
        request: Option<u32>,
    },
    /// Receives a message, and goes on when the receive is done; with a request number it goes on at once, and a wait for that
    /// number waits for the receive.
    Receive {
        /// The message, and from whom.
        message: Message,
        /// Whether the program would have taken the message from any source; `message.peer` is the recorded one.
        any_source: bool,
        /// The number of the request, unless the receive blocks.
        request: Option<u32>,
    },
    /// Waits until all these requests are done, whose numbers are free afterwards.
    Wait {
        /// The numbers of the requests.
        requests: SmallVec<[u32; 4]>,
    },
    /// Takes part in a collective operation, and goes on when its part in it is over.
    Collective(Collective),
    /// Begins the rank's part in a collective operation and goes on at once; a wait for the number waits for the end of that
    /// part. Messages of the operation need stream 1 of the rank, so that the processor computes beside them. Several such
    /// operations go on beside each other. Members begin all collective operations of a communicator, blocking or not, in the
    /// same order.
    Begin {
        /// What the rank brings into the operation.
        collective: Box<Collective>,
        /// The number of the request.
        request: u32,
    },
}

impl Record {
    /// What the call brings into a collective operation, whether or not it blocks.
    pub fn collective(&self) -> Option<&Collective> {
        match self {
            Self::Collective(collective) => Some(collective),
            Self::Begin { collective, .. } => Some(collective),
            _ => None,
        }
    }
}

/// What a rank brings into a collective operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collective {
    /// The kind of the operation.
    pub kind: Kind,
    /// The communicator whose members take part.
    pub communicator: Communicator,
    /// The root, a rank of the program, where there is one.
    pub root: Option<Rank>,
    /// The payload of the operation.
    pub bytes: Bytes,
}

/// The payload of a collective operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bytes {
    /// n of the collective: of a vector (bcast, reduce, allreduce, scan), of what each member brings in (allgather, gather,
    /// scatter), of a block (`reduce_scatter`), of a pair (alltoall).
    Same(u64),
    /// alltoallv: what the rank sends to each member and what it receives from each.
    Each {
        /// What the rank sends to each member, in order of the communicator.
        sent: Box<[u64]>,
        /// What the rank receives from each member.
        received: Box<[u64]>,
    },
}

/// A program whose ranks call one record after the other.
pub trait Script: Send + Sync {
    /// Members of every communicator, in their order; number 0 has all ranks.
    fn communicators(&self) -> &[Arc<[Rank]>];

    /// The calls of a rank, from the first.
    fn records(self: Arc<Self>, rank: Rank) -> Box<dyn Records>;

    /// The line of the file that record number `record` of a rank, from 0, is in; none if it is from no file.
    fn line(&self, _rank: Rank, _record: u64) -> Option<u64> {
        None
    }

    /// Number of ranks.
    fn ranks(&self) -> u32 {
        self.communicators().first().map_or(0, |all| all.len() as u32)
    }
}

/// The calls of a rank, made or read when they are needed.
pub trait Records: Send {
    /// The next record; none after the last.
    fn next(&mut self) -> Option<Record>;

    /// The number of records that are left.
    fn left(&self) -> u64;
}
