//! What a table of the results is called, what its columns say, and how it is made. The lists of such tables stand beside what makes
//! them; [`columns`](crate::columns::columns) reads what they say.

use crate::Table;
use hopsim_experiment::config::measure::RecordStream;

/// Name of a column, unit of its values (empty for names, numbers of things and ratios), and what they say.
pub type ColumnText = (&'static str, &'static str, &'static str);

/// The unit of loads.
pub const LOAD: &str = "phits/(node·cycle)";
/// The unit of times in networks of routers with VCs.
pub const CYCLES: &str = "cycles";
/// The unit of counts of packets.
pub const PACKETS: &str = "packets";
/// The unit of counts of messages.
pub const MESSAGES: &str = "messages";
/// The unit of rates.
pub const RATE: &str = "Gb/s";
/// The unit of latencies in fabrics.
pub const NS: &str = "ns";
/// The unit of longer times in fabrics.
pub const S: &str = "s";
/// The unit of payloads and queues.
pub const BYTES: &str = "bytes";

/// A table that runs may record.
pub struct TableKind<Make> {
    /// Name of the table.
    pub name: &'static str,
    /// The stream that the table is of; none if it does not need one.
    pub stream: Option<RecordStream>,
    /// What its columns say, in parts that tables may share.
    pub columns: &'static [&'static [ColumnText]],
    /// Makes the table of what a run has counted.
    pub make: Make,
}

impl<Make: Copy> TableKind<Make> {
    /// Name and columns of the table.
    pub fn texts(&self) -> (&'static str, &'static [&'static [ColumnText]]) {
        (self.name, self.columns)
    }
}

/// The tables of these kinds that were asked for, by name, in the order of their kinds.
pub fn recorded<Make: Copy>(
    kinds: &[TableKind<Make>],
    streams: &[RecordStream],
    table: impl Fn(Make) -> Option<Table>,
) -> Vec<(String, Table)> {
    let wanted = kinds.iter().filter(|kind| kind.stream.is_none_or(|stream| streams.contains(&stream)));
    wanted.filter_map(|kind| Some((kind.name.to_owned(), table(kind.make)?))).collect()
}
