//! Random tables of explicit traffic, with times in cycles or in ns.

use super::Draw;
use std::fmt::Write;

/// A program as text. Rows are in no order, and some are of the same source and time.
pub fn text(ranks: u32, draws: &[Draw]) -> String {
    let in_cycles = draws.len().is_multiple_of(2);
    let mut text =
        format!("{},source,destination,bytes\n", if in_cycles { "time_cycles" } else { "time_ns" });
    for Draw { what, who: [first, second, third], size, .. } in draws {
        let (from, to, time) = (first % ranks, second % ranks, u32::from(*what) * 3);
        let time = if in_cycles { format!("{time}") } else { format!("{time}.{:03}", third % 1000) };
        let _ = writeln!(text, "{time},{from},{to},{size}");
    }
    text
}
