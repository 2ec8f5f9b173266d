//! What a program consists of, in numbers.

use crate::collectives::Kind;
use crate::graph::{Clock, Graph, Operation};
use crate::record::{Bytes, Collective, Message, Rank, Record};
use crate::trace::{Place, Trace};
use std::sync::Arc;

/// Totals of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Number of ranks.
    pub ranks: u64,
    /// Records or operations of all ranks.
    pub records: u64,
    /// Messages that are sent by a record of their own, those of a rank to itself among them.
    pub messages: u64,
    /// Messages of a rank to itself.
    pub messages_to_self: u64,
    /// Payload of all messages \[bytes\].
    pub bytes: u128,
    /// Collective operations, each counted once for all members of its communicator.
    pub collectives: u64,
    /// Payload of alltoall and alltoallv that leaves its rank \[bytes\].
    pub alltoall_bytes: u128,
    /// Computation of all ranks \[ns\]; the times of a table are none.
    pub compute: u128,
}

impl Info {
    /// Computation of a rank, the mean over all ranks \[ns\].
    pub fn compute_mean(&self) -> f64 {
        self.compute as f64 / self.ranks.max(1) as f64
    }
}

/// Counts what is in a trace.
pub fn of_trace(trace: &Trace) -> Info {
    let mut info = Info { ranks: trace.ranks.len() as u64, ..Info::default() };
    for (tape, rank) in trace.ranks.iter().zip(0..) {
        info.records += tape.len();
        let mut place = Place::default();
        while let Some(record) = tape.next(&mut place) {
            match &record {
                Record::Compute { nanoseconds } => info.compute += u128::from(*nanoseconds),
                Record::Send { message: Message { peer, bytes, .. }, .. } => {
                    info.message(rank, *peer, *bytes);
                }
                _ => {}
            }
            if let Some(collective) = record.collective() {
                let members = trace.communicators.get(collective.communicator as usize);
                info.collective(rank, collective, members);
            }
        }
    }
    info
}

/// Counts what is in a graph.
pub fn of_graph(graph: &Graph) -> Info {
    let mut info = Info { ranks: graph.ranks.len() as u64, ..Info::default() };
    for (own, rank) in graph.ranks.iter().zip(0..) {
        info.records += own.operations.len() as u64;
        for operation in &own.operations {
            match *operation {
                Operation::Compute { time } if graph.clock == Clock::Nanoseconds => {
                    info.compute += u128::from(time);
                }
                Operation::Send { peer, bytes, .. } => info.message(rank, peer, bytes),
                Operation::Compute { .. }
                | Operation::Receive { .. }
                | Operation::Join
                | Operation::Collective(_) => {}
            }
        }
        for collective in &own.collectives {
            info.collective(rank, collective, graph.communicators.get(collective.communicator as usize));
        }
    }
    info
}

impl Info {
    fn message(&mut self, rank: Rank, peer: Rank, bytes: u64) {
        self.messages += 1;
        self.messages_to_self += u64::from(peer == rank);
        self.bytes += u128::from(bytes);
    }

    fn collective(&mut self, rank: Rank, collective: &Collective, members: Option<&Arc<[Rank]>>) {
        let members = members.map_or(&[][..], |members| members);
        self.collectives += u64::from(members.first() == Some(&rank));
        self.alltoall_bytes += match &collective.bytes {
            Bytes::Same(bytes) if collective.kind == Kind::Alltoall => {
                u128::from(*bytes) * members.len().saturating_sub(1) as u128
            }
            Bytes::Same(_) => 0,
            Bytes::Each { sent, .. } => {
                let others = sent.iter().zip(members).filter(|&(_, &member)| member != rank);
                others.map(|(&bytes, _)| u128::from(bytes)).sum()
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::mpt;

    #[test]
    fn everything_is_counted_once() {
        let text = "mpt 1\nname x\nranks 3\ncomm 0 3 0 1 2\ncomm 1 2 2 0\n\
            rank 0 6\nc 10\ns 0 7 100 0\nr 0 7 100 0\ng barrier 0 -1 0 0\ng alltoallv 1 -1 1,2 3,2\ng alltoall 0 -1 8 8\n\
            rank 1 5\ni 0 2 7 50 0\nw 0\ng barrier 0 -1 0 0\nc 5\ng alltoall 0 -1 8 8\n\
            rank 2 4\nr 1 7 50 0 *\ng barrier 0 -1 0 0\ng alltoallv 1 -1 4,3 4,1\ng alltoall 0 -1 8 8\nend\n";
        let trace = mpt::read(text.as_bytes()).unwrap();
        trace.check().unwrap();
        let expected = Info {
            ranks: 3,
            records: 15,
            messages: 2,
            messages_to_self: 1,
            bytes: 150,
            collectives: 3,
            alltoall_bytes: 1 + 3 + 6 * 8,
            compute: 15,
        };
        assert_eq!(of_trace(&trace), expected);
        assert!((of_trace(&trace).compute_mean() - 5.0).abs() < 1e-12);
    }
}
