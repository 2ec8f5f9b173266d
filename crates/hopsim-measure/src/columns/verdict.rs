//! What the columns say that tell what a point is worth.

use crate::table_kind::{CYCLES, ColumnText, LOAD};

/// What the verdict has in the summary.
pub const SUMMARY: [ColumnText; 9] = [
    (
        "verdict",
        "",
        "What the point is worth: saturated (sources fall behind), not converged (latency or accepted load drifts), too few samples (the window is too short to tell), steady. Empty with programs. The tests are in docs/model.md, Measurement, Verdict; what they are made of in a fabric is in docs/infiniband.md, likewise.",
    ),
    (
        "backlog_growth",
        LOAD,
        "Growth of what the sources could not inject: phits generated, dropped ones included, less phits injected, replies apart; packets that draw their length count with the mean of the lengths. Empty where all jobs send in step.",
    ),
    (
        "source_stall_fraction",
        "",
        "Share of the window in which nodes stood still because the source queue was full [0 … 1]; empty where they never do (nic.when_full).",
    ),
    (
        "nodes_falling_behind",
        "nodes",
        "Nodes whose own source falls behind by 2 % or more with 99.9 % confidence; falls_behind of the stream nodes, in a fabric of flows, says which. Empty where nobody offers a load.",
    ),
    (
        "packet_latency_drift",
        "",
        "Change of the packet latency over the window, relative to its mean: slope by Theil and Sen of 100 parts.",
    ),
    (
        "accepted_load_drift",
        "",
        "Change of the accepted load over the window, relative to its mean, likewise.",
    ),
    (
        "packet_latency_effective_samples",
        "",
        "Independent values that the mean latencies of 100 parts of the window are worth, by their autocorrelation at lag 1.",
    ),
    (
        "transient_cycles",
        CYCLES,
        "Beginning of the window that MSER-5 (White 1997) takes for a transient of the packet latency [0 … half of the window].",
    ),
    (
        "missing_cycles",
        CYCLES,
        "About how much longer the window (too few samples) or the warm-up (not converged) should be; 0 if steady, empty if saturated or if nobody can tell.",
    ),
];
