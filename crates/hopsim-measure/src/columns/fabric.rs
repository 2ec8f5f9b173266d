//! What the columns say that InfiniBand fabrics have.

use super::{PACKETS, Row};

/// The unit of rates.
pub const RATE: &str = "Gb/s";
const NS: &str = "ns";
const S: &str = "s";
const BYTES: &str = "bytes";

/// What fabrics have in the summary beside `nodes`, `offered_load`, `accepted_load`, `jain_index`, `packets_delivered`, `seed` and
/// what justifies the verdict.
pub const SUMMARY: [Row; 23] = [
    (
        "flows",
        "",
        "Flows of the jobs (InfiniBand fabrics); all that a node draws, or its program sends, counts as one.",
    ),
    ("throughput_gbps", RATE, "Data delivered in the window, all flows together, over its length."),
    ("flow_throughput_min_gbps", RATE, "Throughput of the flow that has least."),
    ("flow_throughput_mean_gbps", RATE, "Mean of the throughput of the flows."),
    ("flow_throughput_max_gbps", RATE, "Throughput of the flow that has most."),
    (
        "flow_throughput_max_min_ratio",
        "",
        "Greatest over least throughput of a flow; 1 is fair, empty when a flow had none.",
    ),
    (
        "packet_latency_mean_ns",
        NS,
        "From the first bit of a data packet leaving its host to its last one being in the memory of the other; mean over those delivered in the window.",
    ),
    ("packet_latency_p50_ns", NS, "Median of that latency, to 0.1 % or 1 ns."),
    ("packet_latency_p99_ns", NS, "99th percentile of that latency, to 0.1 % or 1 ns."),
    ("packet_latency_max_ns", NS, "Greatest of those latencies."),
    (
        "messages_delivered",
        "messages",
        "Messages drawn by nodes of an InfiniBand fabric whose last packet was delivered in the window.",
    ),
    (
        "message_latency_mean_ns",
        NS,
        "From a message being drawn to its last packet being delivered; mean over those delivered in the window.",
    ),
    ("message_latency_p50_ns", NS, "Median of that latency, to 0.1 % or 1 ns."),
    ("message_latency_p99_ns", NS, "99th percentile of that latency, to 0.1 % or 1 ns."),
    ("message_latency_max_ns", NS, "Greatest of those latencies."),
    ("packets_sent", PACKETS, "Data packets that hosts of an InfiniBand fabric began to send in the window."),
    ("packets_marked", PACKETS, "Data packets that a switch marked in the window."),
    ("notifications_delivered", PACKETS, "Congestion notifications that reached their source in the window."),
    (
        "ccti_at_limit_fraction",
        "",
        "Share of the window in which the congestion control table index of a flow was at ccti_limit, the greatest of all flows: its source could not be slowed down further [0 … 1]. Empty without a congestion control table.",
    ),
    ("time_s", S, "Length of the measurement window."),
    (
        "backlog_growth_gbps",
        RATE,
        "Growth of what hosts of an InfiniBand fabric could not send, all sources together: messages that nodes draw, and what flows offer by their rates, less packets sent. Empty where nobody offers a load.",
    ),
    (
        "transient_s",
        S,
        "Beginning of the window that MSER-5 (White 1997) takes for a transient of the packet latency, in an InfiniBand fabric [0 … half of the window].",
    ),
    (
        "missing_s",
        S,
        "In an InfiniBand fabric about how much longer the window (too few samples) or the warm-up (not converged) should be; 0 if steady, empty if saturated or if nobody can tell.",
    ),
];

/// Columns of the table of flows.
pub const FLOWS: [Row; 12] = [
    ("job", "", "Name of the job of the flow."),
    ("name", "", "Name of the flow; of all that a node draws or its program sends that of the node."),
    ("source", "", "Node that sends."),
    ("destination", "", "Node that receives; empty for a node that draws."),
    ("throughput_gbps", RATE, "Data delivered in the window over its length."),
    ("packets", PACKETS, "Data packets delivered in the window."),
    ("marked", PACKETS, "Data packets that a switch marked in the window."),
    ("notifications", PACKETS, "Congestion notifications that reached the source in the window."),
    (
        "ccti_at_limit_fraction",
        "",
        "Share of the window in which the index into the congestion control table was at ccti_limit, the greatest of a node's flows [0 … 1]; empty without such a table.",
    ),
    ("latency_mean_ns", NS, "Mean latency of the packets delivered in the window."),
    ("latency_p99_ns", NS, "99th percentile of their latency, to 0.1 % or 1 ns."),
    (
        "falls_behind",
        "",
        "1 if the flow falls behind its rate, or the node what it draws, by 2 % or more with 99.9 % confidence, else 0; empty with programs.",
    ),
];

/// Columns of the table of intervals and flows.
pub const FLOW_SERIES: [Row; 7] = [
    ("time_s", S, "End of the interval, warm-up included."),
    ("job", "", "Name of the job of the flow."),
    ("name", "", "Name of the flow."),
    ("throughput_gbps", RATE, "Data delivered in the interval over its length."),
    ("marked", PACKETS, "Data packets that a switch marked in the interval."),
    ("notifications", PACKETS, "Congestion notifications that reached the source in the interval."),
    (
        "ccti",
        "",
        "Index into the congestion control table at the end of the interval, the greatest of a node's flows; 0 without such a table.",
    ),
];

/// Columns of the table of intervals and outputs.
pub const QUEUE_SERIES: [Row; 10] = [
    ("time_s", S, "End of the interval, warm-up included."),
    ("switch", "", "Number of the switch, from 0."),
    ("port", "", "Output port, from 0 among those of the switch that are plugged."),
    ("peer", "", "What is at the other end of its link, as node 4 or switch 1."),
    ("vl", "", "Virtual lane."),
    ("queued_bytes", BYTES, "In all virtual output queues of the output and VL at the end of the interval."),
    ("largest_queue_bytes", BYTES, "In the largest of these queues."),
    ("is_congested", "", "1 if the output and VL are congested at the end of the interval."),
    ("bytes", BYTES, "Granted in the interval, notifications and acknowledgements included."),
    ("throughput_gbps", RATE, "The same over the length of the interval."),
];

/// Columns of the table of links that fabrics alone have.
pub const LINKS: [Row; 6] = [
    ("from", "", "In an InfiniBand fabric: what the link leaves, as node 4 or switch 1."),
    ("to", "", "In an InfiniBand fabric: what is at its other end."),
    ("vl", "", "In an InfiniBand fabric: virtual lane."),
    (
        "bytes",
        BYTES,
        "In an InfiniBand fabric: of packets that began to cross in the window, notifications included.",
    ),
    ("throughput_gbps", RATE, "The same over the length of the window."),
    (
        "credit_stall_fraction",
        "",
        "In an InfiniBand fabric: share of the window in which the link was idle because a packet of the VL lacked credits [0 … 1].",
    ),
];

/// Columns of the table of intervals and links.
pub const LINK_SERIES: [Row; 9] = [
    ("time_s", S, "End of the interval, warm-up included."),
    ("from", "", "What the link leaves, as node 4 or switch 1."),
    (
        "port",
        "",
        "Output port; in an InfiniBand fabric from 0 among those of the switch that are plugged, 0 of a node.",
    ),
    ("to", "", "What is at its other end."),
    ("vl", "", "Virtual lane."),
    ("bytes", BYTES, "Of packets that began to cross the link in the interval, notifications included."),
    ("throughput_gbps", RATE, "The same over the length of the interval."),
    (
        "utilisation",
        "",
        "Share of the interval in which the link carried packets of the VC or VL. A packet of a VC counts whole in the interval in which it departs, so that it may be somewhat more than 1.",
    ),
    (
        "credit_stall_fraction",
        "",
        "Share of the interval in which the buffer at the other end had no room for the shortest packet; in an InfiniBand fabric in which the link was idle because a packet of the VL lacked credits [0 … 1]; empty for a node.",
    ),
];

/// Columns of the table of flows that are held up.
pub const VICTIMS: [Row; 9] = [
    ("job", "", "Name of the job of the flow."),
    ("name", "", "Name of the flow; of all that a node draws that of the node."),
    ("role", "", "A contributor's packets leave by the root, those of a victim do not."),
    (
        "from",
        "",
        "What the root of the congestion is a port of, as switch 1, or a node whose link is too slow.",
    ),
    ("port", "", "That port, from 0 among those of the switch that are plugged; 0 of a node."),
    ("to", "", "What is at the other end of its link."),
    ("vl", "", "Virtual lane."),
    ("lost_s", S, "Time of the window in which the root held the flow up, estimated from samples."),
    (
        "lost_fraction",
        "",
        "The same over the length of the window [0 … 1]; of all that a node draws the sum over its flows, which may be more than 1.",
    ),
];
