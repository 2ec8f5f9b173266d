//! What the keys say that programs have in the summary.

use crate::table_kind::{CYCLES, ColumnText};

/// What programs took, of one job.
pub const PROGRAMS: [ColumnText; 16] = [
    (
        "execution_time",
        CYCLES,
        "From the start of a program to the end of its last rank; of several programs the longest.",
    ),
    ("rank_finish_min", CYCLES, "From the start of the program to the end of its first rank."),
    ("rank_finish_mean", CYCLES, "Mean over the ranks from the start of the program to their end."),
    ("compute_time_mean", CYCLES, "Computation of a rank, mean over the ranks."),
    ("compute_time_max", CYCLES, "Computation of the rank that computes longest."),
    (
        "overhead_time_mean",
        CYCLES,
        "Time that a rank's processor spent on messages (host.send_overhead, receive_overhead), mean.",
    ),
    ("wait_time_mean", CYCLES, "End of a rank less start, computation and overhead, mean over the ranks."),
    ("wait_time_max", CYCLES, "The same of the rank that waits longest."),
    ("messages", "", "Messages between different ranks; those that only control others do not count."),
    ("message_bytes", "bytes", "Their payload."),
    (
        "message_latency_mean",
        CYCLES,
        "From joining the queue of the source (rendezvous: the request's) to the last phit there.",
    ),
    ("message_latency_p50", CYCLES, "Median of the latency of messages, to 0.1 %."),
    ("message_latency_p99", CYCLES, "99th percentile of the latency of messages, to 0.1 %."),
    ("message_latency_max", CYCLES, "Greatest latency of a message."),
    ("bandwidth_mean", "bytes/cycle", "Payload of all messages over the execution time."),
    (
        "traversed_edges_per_second",
        "edges/s",
        "TEPS of a search of Graph500: 2^scale · edgefactor over its execution time.",
    ),
];
