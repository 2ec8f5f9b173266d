//! What the keys say that fabrics have in the summary.

use crate::table_kind::{ColumnText, MESSAGES, NS, PACKETS, RATE, S};

/// What fabrics have in the summary beside `nodes`, `offered_load`, `accepted_load`, `jain_index`, `packets_delivered`, `seed` and
/// what justifies the verdict.
pub const SUMMARY: [ColumnText; 34] = [
    ("flows", "", "Flows of the jobs (fabrics); all that a node draws, or its program sends, counts as one."),
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
        MESSAGES,
        "Messages drawn by nodes of a fabric whose last packet was delivered in the window.",
    ),
    (
        "message_latency_mean_ns",
        NS,
        "From a message being drawn to its last packet being delivered; mean over those delivered in the window.",
    ),
    ("message_latency_p50_ns", NS, "Median of that latency, to 0.1 % or 1 ns."),
    ("message_latency_p99_ns", NS, "99th percentile of that latency, to 0.1 % or 1 ns."),
    ("message_latency_max_ns", NS, "Greatest of those latencies."),
    (
        "flow_completion_time_mean",
        NS,
        "From the time from which a flow with bytes may send, or a message joins its queue, to its last packet being delivered; mean over those completed in the window.",
    ),
    ("flow_completion_time_p50", NS, "Median of that time, to 0.1 % or 1 ns."),
    ("flow_completion_time_p99", NS, "99th percentile of that time, to 0.1 % or 1 ns."),
    (
        "slowdown_p50",
        "",
        "Completion time of a flow or message over the time that it takes alone in the fabric, which is 1 at least; median of those completed in the window, to 0.1 %. Not if links fail in the middle of the run.",
    ),
    ("slowdown_p99", "", "99th percentile of that ratio, to 0.1 %."),
    ("packets_sent", PACKETS, "Data packets that hosts of a fabric began to send in the window."),
    (
        "packets_lost_on_links",
        PACKETS,
        "Of packets_lost, those of a fabric that had been granted a link that failed before their heads had come to its other end.",
    ),
    (
        "packets_discarded",
        PACKETS,
        "Of packets_lost, those that a switch of a fabric discarded: it knew that the link of their output was out of order.",
    ),
    (
        "packets_spoiled",
        PACKETS,
        "Of packets_lost, those of which a link of a fabric failed between head and tail; they count when they would have been delivered.",
    ),
    (
        "messages_lost",
        MESSAGES,
        "Messages drawn by nodes of a fabric that lost the first of the packets that they lost in the window: they are never delivered. Only if links fail in the middle of the run.",
    ),
    (
        "pauses",
        "",
        "Pauses by priority flow control that began in the window: how often a link began to be paused in a VL, all links and VLs of the fabric together.",
    ),
    (
        "paused_fraction",
        "",
        "Share of the window in which a link was paused in a VL, the mean over all links of the fabric, each direction by itself, and VLs [0 … 1].",
    ),
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
        "Growth of what hosts of a fabric could not send, all sources together: messages that nodes draw, and what flows offer by their rates, less packets sent. Empty where nobody offers a load.",
    ),
    (
        "transient_s",
        S,
        "Beginning of the window that MSER-5 (White 1997) takes for a transient of the packet latency, in a fabric [0 … half of the window].",
    ),
    (
        "missing_s",
        S,
        "In a fabric about how much longer the window (too few samples) or the warm-up (not converged) should be; 0 if steady, empty if saturated or if nobody can tell.",
    ),
];
