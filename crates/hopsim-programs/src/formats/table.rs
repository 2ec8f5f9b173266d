//! Tables of explicit traffic: comma-separated values, one row for each message, which is sent at its time whatever else
//! happens.
//!
//! ```text
//! time_ns,source,destination,bytes
//! 0,0,3,4096
//! 12.5,2,0,64
//! ```
//!
//! The first line names the columns, in any order: `time_cycles`, a whole number, or `time_ns`, with up to three decimals;
//! `source` and `destination`, ranks; `bytes`, the payload. Rows may be in any order; those of a source with the same time are
//! sent in the order of the file. Empty lines and those that begin with `#` are skipped.

use super::text::{self, Lines, quoted};
use crate::error::ProgramError;
use crate::record::Rank;
use smallvec::SmallVec;
use std::io::BufRead;
use std::ops::RangeInclusive;

/// What times are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Cycles of the network.
    Cycles,
    /// 10⁻¹² s.
    Picoseconds,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// When it is sent; [`Table::clock`] says in which unit.
    pub time: u64,
    /// Payload \[bytes\].
    pub bytes: u64,
    /// Who sends it.
    pub source: Rank,
    /// To whom, which may be the source itself.
    pub destination: Rank,
    /// Its line in the file; 2³²−1 for all behind that.
    pub line: u32,
}

/// Messages and the times at which they are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The unit of times.
    pub clock: Clock,
    /// By source, time and line.
    rows: Vec<Row>,
}

impl Table {
    /// All messages, by source, then time, then line.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The messages of a source, by time, then line.
    pub fn of(&self, source: Rank) -> &[Row] {
        let start = self.rows.partition_point(|row| row.source < source);
        let count = self.rows[start..].partition_point(|row| row.source == source);
        &self.rows[start..start + count]
    }

    /// The least number of ranks that has all sources and destinations.
    pub fn ranks(&self) -> u64 {
        let highest = |row: &Row| u64::from(row.source.max(row.destination)) + 1;
        self.rows.iter().map(highest).max().unwrap_or(0)
    }
}

/// A column: its name, and what its numbers are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Time(Clock),
    Source,
    Destination,
    Bytes,
}

const COLUMNS: [(&str, Column); 5] = [
    ("time_cycles", Column::Time(Clock::Cycles)),
    ("time_ns", Column::Time(Clock::Picoseconds)),
    ("source", Column::Source),
    ("destination", Column::Destination),
    ("bytes", Column::Bytes),
];

/// Reads a table for so many ranks, 1 … 2³²−1.
pub fn read(reader: impl BufRead, ranks: u32) -> Result<Table, ProgramError> {
    let mut lines = Lines::new(reader);
    if !lines.advance_to_text()? {
        return Err(lines.error(format!("the file ends here; expected a line with {EXPECTED}")));
    }
    let (columns, clock) = header(lines.text()).map_err(|error| error.line(lines.number))?;
    let range = 0..=u64::from(ranks.max(1)) - 1;
    let mut rows = Vec::new();
    while lines.advance_to_text()? {
        let mut row = row(lines.text(), columns, &range).map_err(|error| error.line(lines.number))?;
        row.line = u32::try_from(lines.number).unwrap_or(u32::MAX);
        rows.push(row);
    }
    rows.sort_by_key(|row| (row.source, row.time));
    Ok(Table { clock, rows })
}

const EXPECTED: &str = "the columns `time_cycles` or `time_ns`, `source`, `destination` and `bytes`";

fn header(line: &[u8]) -> Result<([Column; 4], Clock), ProgramError> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    let wrong = || ProgramError::new(format!("expected {EXPECTED}, got {}", quoted(line)));
    let known = |name: &[u8]| COLUMNS.iter().find(|column| column.0.as_bytes() == name.trim_ascii());
    let named: Option<SmallVec<[Column; 4]>> =
        line.split(|&byte| byte == b',').map(|name| known(name).map(|column| column.1)).collect();
    let columns: [Column; 4] =
        named.and_then(|columns| columns.as_slice().try_into().ok()).ok_or_else(wrong)?;
    let clock = columns.iter().find_map(|column| match column {
        Column::Time(clock) => Some(*clock),
        _ => None,
    });
    let clock = clock.ok_or_else(wrong)?;
    let is_complete =
        [Column::Source, Column::Destination, Column::Bytes].iter().all(|c| columns.contains(c));
    if is_complete { Ok((columns, clock)) } else { Err(wrong()) }
}

fn row(line: &[u8], columns: [Column; 4], ranks: &RangeInclusive<u64>) -> Result<Row, ProgramError> {
    let mut row = Row { time: 0, bytes: 0, source: 0, destination: 0, line: 0 };
    let mut fields = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    for column in columns {
        let Some(field) = fields.next() else {
            return Err(ProgramError::new("expected four fields separated by `,`, got fewer"));
        };
        match column {
            Column::Time(Clock::Cycles) => row.time = text::number(field, "a time in cycles", 0..=u64::MAX)?,
            Column::Time(Clock::Picoseconds) => row.time = picoseconds(field)?,
            Column::Source => row.source = text::number(field, "a source", ranks.clone())? as Rank,
            Column::Destination => {
                row.destination = text::number(field, "a destination", ranks.clone())? as Rank;
            }
            Column::Bytes => row.bytes = text::number(field, "bytes", 0..=u64::MAX)?,
        }
    }
    match fields.next() {
        None => Ok(row),
        Some(field) => {
            Err(ProgramError::new(format!("expected four fields, got {} as fifth", quoted(field))))
        }
    }
}

fn picoseconds(field: &[u8]) -> Result<u64, ProgramError> {
    text::decimal(field, 3).ok_or_else(|| {
        ProgramError::new(format!("expected a time in ns with up to three decimals, got {}", quoted(field)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_by_source_and_time() {
        let text = "# explicit\nbytes, source ,time_ns,destination\n8,1,12.5,0\n\n16,0,3,1\n24,1,12.5,1\n32,1,0.125,2\r\n";
        let table = read(text.as_bytes(), 3).unwrap();
        assert_eq!(table.clock, Clock::Picoseconds);
        assert_eq!(table.ranks(), 3);
        let row = |time, bytes, source, destination, line| Row { time, bytes, source, destination, line };
        assert_eq!(table.of(0), [row(3000, 16, 0, 1, 5)]);
        assert_eq!(table.of(1), [row(125, 32, 1, 2, 7), row(12_500, 8, 1, 0, 3), row(12_500, 24, 1, 1, 6)]);
        assert_eq!(table.of(2), []);
        assert_eq!(table.rows().len(), 4);
        let cycles = read("\u{feff}time_cycles,source,destination,bytes\n7,0,0,1".as_bytes(), 1).unwrap();
        assert_eq!((cycles.clock, cycles.of(0)), (Clock::Cycles, &[row(7, 1, 0, 0, 2)][..]));
    }

    #[test]
    fn wrong_tables_are_refused() {
        let columns = "the columns `time_cycles` or `time_ns`, `source`, `destination` and `bytes`";
        let head = "time_cycles,source,destination,bytes\n";
        for (text, message) in [
            (String::new(), format!("line 1: the file ends here; expected a line with {columns}")),
            ("0,0,1,8\n".into(), format!("line 1: expected {columns}, got `0,0,1,8`")),
            (
                "time_ns,source,bytes\n".into(),
                format!("line 1: expected {columns}, got `time_ns,source,bytes`"),
            ),
            (
                "time_ns,time_cycles,source,bytes\n".into(),
                format!("line 1: expected {columns}, got `time_ns,time_cycles,source,bytes`"),
            ),
            (
                "source,source,destination,bytes\n".into(),
                format!("line 1: expected {columns}, got `source,source,destination,bytes`"),
            ),
            (format!("{head}1,0,1\n"), "line 2: expected four fields separated by `,`, got fewer".into()),
            (format!("{head}1,0,1,8,9\n"), "line 2: expected four fields, got `9` as fifth".into()),
            (
                format!("{head}1.5,0,1,8\n"),
                "line 2: expected a time in cycles, a whole number from 0 to 18446744073709551615, got `1.5`"
                    .into(),
            ),
            (
                format!("{head}1,2,1,8\n"),
                "line 2: expected a source, a whole number from 0 to 1, got `2`".into(),
            ),
            (
                format!("{head}1,0,-1,8\n"),
                "line 2: expected a destination, a whole number from 0 to 1, got `-1`".into(),
            ),
            (
                format!("{head}1,0,1,\n"),
                "line 2: expected bytes, a whole number from 0 to 18446744073709551615, got ``".into(),
            ),
            (
                "time_ns,source,destination,bytes\n0.1234,0,1,8\n".into(),
                "line 2: expected a time in ns with up to three decimals, got `0.1234`".into(),
            ),
        ] {
            let error = read(text.as_bytes(), 2).unwrap_err().to_string();
            assert_eq!(error, message, "{text}");
        }
    }
}
