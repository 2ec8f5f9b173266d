//! What the columns say that tell how long a run was, and why.

use crate::table_kind::{CYCLES, ColumnText};

/// What warm-up and stopping have in the summary.
pub const SUMMARY: [ColumnText; 5] = [
    (
        "warmup_cycles",
        CYCLES,
        "Length of the warm-up before the measurement window. If stop is reached that includes the window in which the interval was narrow enough.",
    ),
    (
        "warmup_found",
        "",
        "With measure.warmup = \"auto\" what had settled by the end of the warm-up: latency (and accepted load), accepted load (sources fall behind, and latency grows for ever), or not found (half of the longest pilot). Else empty.",
    ),
    (
        "stop",
        "",
        "Why the window is as long as it is: reached (the interval of measure.stop.metric was narrow enough in the window before it, which was as long), saturated (its mean grows for ever), delivered (the packets of measure.end), max cycles (max_cycles of either). Empty without both.",
    ),
    (
        "stop_relative_ci",
        "",
        "Half width of the 95 % confidence interval of measure.stop.metric in the window that is measured, of all jobs together, relative to its mean: by chance it may be more than was asked for. Empty without measure.stop.",
    ),
    (
        "stop_attempts",
        "",
        "Windows that were simulated, each longer than the one before, until the run stopped; the one that is measured, behind the last of them or with measure.end again from its beginning, too. Empty without both.",
    ),
];
