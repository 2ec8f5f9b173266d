//! The calls of MPI by the numbers that Extrae gives them.

use crate::collectives::Kind;
use crate::error::ProgramError;

/// Type of events: calls that send, receive or wait.
pub const POINT_TO_POINT: u64 = 50_000_001;
/// Type of events: collective operations.
pub const COLLECTIVE: u64 = 50_000_002;
/// Type of events: other calls.
pub const OTHER: u64 = 50_000_003;
/// Type of events: one-sided communication.
pub const ONE_SIDED: u64 = 50_000_004;
/// Type of events: input and output.
pub const FILES: u64 = 50_000_005;
/// Type of events: bytes that a rank sends in a collective operation.
pub const SENT: u64 = 50_100_001;
/// Type of events: bytes that a rank receives in a collective operation.
pub const RECEIVED: u64 = 50_100_002;
/// Type of events: 1 at the root of a collective operation.
pub const ROOT: u64 = 50_100_003;
/// Type of events: communicator of a collective operation.
pub const COMMUNICATOR: u64 = 50_100_004;

/// The state of a task that computes.
pub const RUNNING: u64 = 1;

/// What a call does, as far as a program holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MpiCall {
    /// The call before is over.
    End,
    /// Sends, and comes back when that is done.
    Send,
    /// Begins to send.
    Isend,
    /// Receives, and comes back when that is done.
    Receive,
    /// Posts a receive.
    Ireceive,
    /// Sends and receives, and comes back when both is done.
    Sendrecv,
    /// Begins to send or posts receives that were prepared before, any number.
    Start,
    /// Waits for one request.
    Wait,
    /// Waits for some of several requests.
    WaitSome,
    /// Waits for several requests.
    WaitAll,
    /// Asks whether requests are done.
    Test,
    /// Takes part in a collective operation, and comes back when that is done.
    Collective(Kind),
    /// Begins to take part in a collective operation.
    Begin(Kind),
    /// Nothing of which a program knows.
    Other,
}

/// Calls that are more than time: type, number, meaning and name. The first of a meaning is the one that is written.
pub const CALLS: [(u64, u64, MpiCall, &str); 54] = [
    (POINT_TO_POINT, 1, MpiCall::Send, "MPI_Send"),
    (POINT_TO_POINT, 2, MpiCall::Receive, "MPI_Recv"),
    (POINT_TO_POINT, 3, MpiCall::Isend, "MPI_Isend"),
    (POINT_TO_POINT, 4, MpiCall::Ireceive, "MPI_Irecv"),
    (POINT_TO_POINT, 5, MpiCall::Wait, "MPI_Wait"),
    (POINT_TO_POINT, 6, MpiCall::WaitAll, "MPI_Waitall"),
    (POINT_TO_POINT, 33, MpiCall::Send, "MPI_Bsend"),
    (POINT_TO_POINT, 34, MpiCall::Send, "MPI_Ssend"),
    (POINT_TO_POINT, 35, MpiCall::Send, "MPI_Rsend"),
    (POINT_TO_POINT, 36, MpiCall::Isend, "MPI_Ibsend"),
    (POINT_TO_POINT, 37, MpiCall::Isend, "MPI_Issend"),
    (POINT_TO_POINT, 38, MpiCall::Isend, "MPI_Irsend"),
    (POINT_TO_POINT, 41, MpiCall::Sendrecv, "MPI_Sendrecv"),
    (POINT_TO_POINT, 42, MpiCall::Sendrecv, "MPI_Sendrecv_replace"),
    (POINT_TO_POINT, 59, MpiCall::Wait, "MPI_Waitany"),
    (POINT_TO_POINT, 60, MpiCall::WaitSome, "MPI_Waitsome"),
    (OTHER, 39, MpiCall::Test, "MPI_Test"),
    (OTHER, 123, MpiCall::Start, "MPI_Start"),
    (OTHER, 124, MpiCall::Start, "MPI_Startall"),
    (OTHER, 125, MpiCall::Test, "MPI_Testall"),
    (OTHER, 126, MpiCall::Test, "MPI_Testany"),
    (OTHER, 128, MpiCall::Test, "MPI_Testsome"),
    (COLLECTIVE, 7, MpiCall::Collective(Kind::Bcast), "MPI_Bcast"),
    (COLLECTIVE, 8, MpiCall::Collective(Kind::Barrier), "MPI_Barrier"),
    (COLLECTIVE, 9, MpiCall::Collective(Kind::Reduce), "MPI_Reduce"),
    (COLLECTIVE, 10, MpiCall::Collective(Kind::Allreduce), "MPI_Allreduce"),
    (COLLECTIVE, 11, MpiCall::Collective(Kind::Alltoall), "MPI_Alltoall"),
    (COLLECTIVE, 12, MpiCall::Collective(Kind::Alltoallv), "MPI_Alltoallv"),
    (COLLECTIVE, 13, MpiCall::Collective(Kind::Gather), "MPI_Gather"),
    (COLLECTIVE, 14, MpiCall::Collective(Kind::Gather), "MPI_Gatherv"),
    (COLLECTIVE, 15, MpiCall::Collective(Kind::Scatter), "MPI_Scatter"),
    (COLLECTIVE, 16, MpiCall::Collective(Kind::Scatter), "MPI_Scatterv"),
    (COLLECTIVE, 17, MpiCall::Collective(Kind::Allgather), "MPI_Allgather"),
    (COLLECTIVE, 18, MpiCall::Collective(Kind::Allgather), "MPI_Allgatherv"),
    (COLLECTIVE, 30, MpiCall::Collective(Kind::Scan), "MPI_Scan"),
    (COLLECTIVE, 80, MpiCall::Collective(Kind::ReduceScatter), "MPI_Reduce_scatter"),
    (COLLECTIVE, 168, MpiCall::Collective(Kind::ReduceScatter), "MPI_Reduce_scatter_block"),
    (COLLECTIVE, 170, MpiCall::Collective(Kind::Alltoallv), "MPI_Alltoallw"),
    (COLLECTIVE, 154, MpiCall::Begin(Kind::Reduce), "MPI_Ireduce"),
    (COLLECTIVE, 155, MpiCall::Begin(Kind::Allreduce), "MPI_Iallreduce"),
    (COLLECTIVE, 156, MpiCall::Begin(Kind::Barrier), "MPI_Ibarrier"),
    (COLLECTIVE, 157, MpiCall::Begin(Kind::Bcast), "MPI_Ibcast"),
    (COLLECTIVE, 158, MpiCall::Begin(Kind::Alltoall), "MPI_Ialltoall"),
    (COLLECTIVE, 159, MpiCall::Begin(Kind::Alltoallv), "MPI_Ialltoallv"),
    (COLLECTIVE, 160, MpiCall::Begin(Kind::Allgather), "MPI_Iallgather"),
    (COLLECTIVE, 161, MpiCall::Begin(Kind::Allgather), "MPI_Iallgatherv"),
    (COLLECTIVE, 162, MpiCall::Begin(Kind::Gather), "MPI_Igather"),
    (COLLECTIVE, 163, MpiCall::Begin(Kind::Gather), "MPI_Igatherv"),
    (COLLECTIVE, 164, MpiCall::Begin(Kind::Scatter), "MPI_Iscatter"),
    (COLLECTIVE, 165, MpiCall::Begin(Kind::Scatter), "MPI_Iscatterv"),
    (COLLECTIVE, 166, MpiCall::Begin(Kind::ReduceScatter), "MPI_Ireduce_scatter"),
    (COLLECTIVE, 167, MpiCall::Begin(Kind::Scan), "MPI_Iscan"),
    (COLLECTIVE, 169, MpiCall::Begin(Kind::ReduceScatter), "MPI_Ireduce_scatter_block"),
    (COLLECTIVE, 171, MpiCall::Begin(Kind::Alltoallv), "MPI_Ialltoallw"),
];

/// The call that an event tells of; none if it tells of something else.
pub fn call(kind: u64, value: u64) -> Result<Option<MpiCall>, ProgramError> {
    if !(POINT_TO_POINT..=FILES).contains(&kind) {
        return Ok(None);
    }
    if value == 0 {
        return Ok(Some(MpiCall::End));
    }
    let known = CALLS.iter().find(|call| (call.0, call.1) == (kind, value));
    match known {
        Some(&(_, _, call, _)) => Ok(Some(call)),
        None if kind == COLLECTIVE => {
            let listed = CALLS.iter().filter(|call| call.0 == COLLECTIVE);
            let listed: Vec<String> = listed.map(|(_, number, _, name)| format!("{number} {name}")).collect();
            let listed = listed.join(", ");
            Err(ProgramError::new(format!("expected a collective operation, one of {listed}; got {value}")))
        }
        None if kind == ONE_SIDED => Err(ProgramError::new(format!(
            "call {value} of type {ONE_SIDED} is one-sided communication, whose messages the file does not hold; expected \
             messages that are sent and received, and collective operations"
        ))),
        None => Ok(Some(MpiCall::Other)),
    }
}

/// Type and number by which a call is written.
pub fn number(call: MpiCall) -> (u64, u64) {
    CALLS.iter().find(|row| row.2 == call).map_or((OTHER, 0), |row| (row.0, row.1))
}
