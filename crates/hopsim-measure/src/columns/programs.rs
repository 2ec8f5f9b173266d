//! What the columns say that programs have.

use super::{CYCLES, Row};

/// What programs took, of one job.
pub const PROGRAMS: [Row; 15] = [
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
];

/// Columns of the table of ranks.
pub const RANKS: [Row; 11] = [
    ("job", "", "Name of the job that runs the program."),
    ("rank", "", "Number of the rank, from 0."),
    ("node", "", "Node that it runs on."),
    ("finish", CYCLES, "From the start of the program to the end of the rank."),
    ("compute", CYCLES, "Its computation."),
    ("overhead", CYCLES, "What its processor spent on messages."),
    ("wait", CYCLES, "What is left of its time."),
    ("messages_sent", "", "Messages that it sent to others; those that only control others do not count."),
    ("bytes_sent", "bytes", "Their payload; 2^64 - 1 stands for that and more."),
    ("messages_received", "", "Messages that it received from others."),
    ("bytes_received", "bytes", "Their payload; 2^64 - 1 stands for that and more."),
];

/// Columns of the table of messages.
pub const MESSAGES: [Row; 13] = [
    ("job", "", "Name of the job that runs the program."),
    ("source", "", "Rank that sends the message."),
    ("destination", "", "Rank that receives it, another one."),
    (
        "tag",
        "",
        "Its tag; of a collective operation its number in its communicator, of a signal of Graph500 the messages that it tells of.",
    ),
    (
        "communicator",
        "",
        "Its communicator. In Graph500 4 · level, and 1 more for a signal, 2 for a report to the root, 3 for its answer.",
    ),
    ("is_collective", "", "1 for a message of a collective operation, 0 for others."),
    ("bytes", "bytes", "Its payload."),
    ("phits", "phits", "Length of its packets, headers included."),
    (
        "joined",
        CYCLES,
        "Cycle in which it joined the queue of its node; rendezvous: in which its request did.",
    ),
    ("left", CYCLES, "Cycle in which the last phit of its payload left its node."),
    (
        "arrived",
        CYCLES,
        "Cycle in which that phit was at the other node: the message's latency after joining.",
    ),
    (
        "announced",
        CYCLES,
        "Cycle in which its receiver knew of it: on arrival, but after those of the same key sent before; rendezvous: with the request.",
    ),
    ("matched", CYCLES, "Cycle in which a receive took it."),
];

/// Columns of the table of intervals of ranks.
pub const OPERATIONS: [Row; 7] = [
    ("job", "", "Name of the job that runs the program."),
    ("rank", "", "Number of the rank, from 0."),
    (
        "stream",
        "",
        "Its stream, from 0; sequences have more than one only beside collective operations that do not block.",
    ),
    (
        "activity",
        "",
        "What the stream does: compute, send_overhead, receive_overhead. Or what the rank waits for while stream 0 does nothing: wait_receive, wait_send, wait_compute (of another stream), wait (Graph500).",
    ),
    (
        "record",
        "",
        "Record (operation of a graph) that this belongs to, or that is waited for, from 0; 0 in Graph500.",
    ),
    ("begin", CYCLES, "First cycle."),
    ("end", CYCLES, "Cycle after the last one."),
];

/// Columns of the table of messages by size.
pub const MESSAGE_SIZES: [Row; 9] = [
    ("job", "", "Name of the job that runs the program."),
    ("bytes_from", "bytes", "Least payload of the class. The classes end at 64 B, 256 B, 1 KiB and so on."),
    ("bytes_to", "bytes", "Greatest payload of the class."),
    ("messages", "", "Messages of the class."),
    ("bytes", "bytes", "Their payload."),
    ("latency_mean", CYCLES, "Their mean latency."),
    ("latency_p50", CYCLES, "Median of their latency, to 0.1 %."),
    ("latency_p99", CYCLES, "99th percentile of their latency, to 0.1 %."),
    ("latency_max", CYCLES, "Their greatest latency."),
];
