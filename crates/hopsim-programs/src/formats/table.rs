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
use crate::graph::{self, Clock, Dependency, Graph, Operation, RankGraph};
use crate::host::Cycle;
use crate::record::Rank;
use crate::units::Fraction;
use smallvec::SmallVec;
use std::io::BufRead;

/// A message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Row {
    /// When the message is sent, in the unit of the clock.
    time: u64,
    /// Payload \[bytes\].
    bytes: u64,
    /// The rank that sends the message.
    source: Rank,
    /// The rank that receives the message, which may be the source itself.
    destination: Rank,
    /// The line of the message in the file.
    line: u64,
}

/// The most ranks that a table may have.
pub const MOST_RANKS: u32 = 1 << 20;

/// The stream of a rank on which time passes, beside the one that sends and receives.
const TIME: u8 = 1;

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

/// Reads a table as a graph whose number of ranks is the highest that is a source or destination, and one more.
///
/// On a stream of its own a rank computes from the time of one row to that of the next, and each send waits for the end of a
/// computation: rounding down never adds up there, so it becomes ready in the cycle that its time falls in, whatever else the rank
/// does. All receives are posted in the beginning.
pub fn read(reader: impl BufRead) -> Result<Graph, ProgramError> {
    let (clock, rows) = rows(reader)?;
    let ranks = rows.iter().map(|row| row.source.max(row.destination) + 1).max().unwrap_or(1);
    let mut graphs = vec![RankGraph::default(); ranks as usize];
    for row in &rows {
        let receive = Operation::Receive { peer: Some(row.source), tag: Some(0), bytes: row.bytes };
        graphs[row.destination as usize].push(receive, 0, Some(row.line));
    }
    for own in rows.chunk_by(|row, next| row.source == next.source) {
        send(own, &mut graphs[own[0].source as usize]);
    }
    Ok(Graph { clock, communicators: vec![(0..ranks).collect()], ranks: graphs })
}

/// Refuses times of a table that a run of so many cycles does not reach; `rate` is cycles of what the clock of the table counts.
pub fn check_times(graph: &Graph, rate: Fraction, most: Cycle) -> Result<(), ProgramError> {
    for (own, rank) in graph.ranks.iter().zip(0..) {
        let mut now = 0;
        for (operation, number) in own.operations.iter().zip(0..) {
            let Operation::Compute { time } = operation else { continue };
            now += u128::from(*time);
            let cycle = now * u128::from(rate.numerator) / u128::from(rate.denominator);
            if cycle > most.into() {
                let reason = format!("sends in cycle {cycle}; expected times of at most {most} cycles");
                return Err(graph::located(reason, own, number).rank(rank));
            }
        }
    }
    Ok(())
}

/// Whether a file begins with the names of the columns.
pub fn is_table(contents: &[u8]) -> bool {
    let mut lines = Lines::new(contents);
    lines.advance_to_text().is_ok_and(|there| there && header(lines.text()).is_ok())
}

/// The sends of a rank, each at its time.
fn send(rows: &[Row], graph: &mut RankGraph) {
    let (mut last, mut now) = (None, 0);
    let wait = |operation, on| Dependency { operation, on, started: false };
    for row in rows {
        let until = match last {
            Some(on) if row.time == now => on,
            _ => {
                let pause = Operation::Compute { time: row.time - now };
                let until = graph.push(pause, TIME, Some(row.line));
                graph.dependencies.extend(last.map(|on| wait(until, on)));
                until
            }
        };
        let message = Operation::Send { peer: row.destination, tag: 0, bytes: row.bytes };
        let operation = graph.push(message, 0, Some(row.line));
        graph.dependencies.push(wait(operation, until));
        (last, now) = (Some(until), row.time);
    }
}

/// All messages, by source, then time, then line.
fn rows(reader: impl BufRead) -> Result<(Clock, Vec<Row>), ProgramError> {
    let mut lines = Lines::new(reader);
    if !lines.advance_to_text()? {
        return Err(lines.error(format!("the file ends here; expected a line with {EXPECTED}")));
    }
    let (columns, clock) = header(lines.text()).map_err(|error| error.line(lines.number))?;
    let mut rows = Vec::new();
    while lines.advance_to_text()? {
        let mut row = row(lines.text(), columns).map_err(|error| error.line(lines.number))?;
        row.line = lines.number;
        rows.push(row);
    }
    rows.sort_by_key(|row| (row.source, row.time));
    Ok((clock, rows))
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

fn row(line: &[u8], columns: [Column; 4]) -> Result<Row, ProgramError> {
    let rank = |field, what| Ok(text::number(field, what, 0..=u64::from(MOST_RANKS) - 1)? as Rank);
    let mut row = Row::default();
    let mut fields = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    for column in columns {
        let Some(field) = fields.next() else {
            return Err(ProgramError::new("expected four fields separated by `,`, got fewer"));
        };
        match column {
            Column::Time(Clock::Cycles) => row.time = text::number(field, "a time in cycles", 0..=u64::MAX)?,
            Column::Time(_) => row.time = picoseconds(field)?,
            Column::Source => row.source = rank(field, "a source")?,
            Column::Destination => row.destination = rank(field, "a destination")?,
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
    fn rows_of_a_source_are_in_order_of_time_and_line() {
        let text = "# explicit\nbytes, source ,time_ns,destination\n8,1,12.5,0\n\n16,0,3,1\n24,1,12.5,1\n32,1,0.125,2\r\n";
        let (clock, rows) = rows(text.as_bytes()).unwrap();
        assert_eq!(clock, Clock::Picoseconds);
        let row = |time, bytes, source, destination, line| Row { time, bytes, source, destination, line };
        assert_eq!(
            rows,
            [
                row(3000, 16, 0, 1, 5),
                row(125, 32, 1, 2, 7),
                row(12_500, 8, 1, 0, 3),
                row(12_500, 24, 1, 1, 6)
            ]
        );
    }

    #[test]
    fn each_send_waits_for_its_time_and_receives_for_nothing() {
        let graph =
            read("time_cycles,source,destination,bytes\n9,1,0,8\n4,1,2,16\n9,1,1,24\n".as_bytes()).unwrap();
        graph.check().unwrap();
        assert_eq!((graph.clock, graph.ranks.len()), (Clock::Cycles, 3));
        let wait = |operation, on| Dependency { operation, on, started: false };
        let pause = |time| Operation::Compute { time };
        let send = |peer, bytes| Operation::Send { peer, tag: 0, bytes };
        let receive = |bytes| Operation::Receive { peer: Some(1), tag: Some(0), bytes };
        assert_eq!(
            graph.ranks[1],
            RankGraph {
                operations: vec![receive(24), pause(4), send(2, 16), pause(5), send(0, 8), send(1, 24)],
                streams: vec![0, 1, 0, 1, 0, 0],
                lines: vec![4, 3, 3, 2, 2, 4],
                dependencies: vec![wait(2, 1), wait(3, 1), wait(4, 3), wait(5, 3)],
                collectives: Vec::new(),
            }
        );
        assert_eq!(
            (&graph.ranks[0].operations, &graph.ranks[2].operations),
            (&vec![receive(8)], &vec![receive(16)])
        );
        assert_eq!(read("\u{feff}time_ns,source,destination,bytes".as_bytes()).unwrap().ranks.len(), 1);
    }

    #[test]
    fn times_beyond_a_run_are_refused() {
        let text = "time_ns,source,destination,bytes\n1,0,0,1\n1,1,0,1\n160,1,0,1\n161.6,1,0,1\n";
        let graph = read(text.as_bytes()).unwrap();
        let rate = Fraction { numerator: 1, denominator: 1_600 };
        assert_eq!(check_times(&graph, rate, 101), Ok(()));
        let error = check_times(&graph, rate, 100).unwrap_err().to_string();
        assert_eq!(error, "line 5: rank 1: sends in cycle 101; expected times of at most 100 cycles");
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
                format!("{head}1,1048576,1,8\n"),
                "line 2: expected a source, a whole number from 0 to 1048575, got `1048576`".into(),
            ),
            (
                format!("{head}1,0,-1,8\n"),
                "line 2: expected a destination, a whole number from 0 to 1048575, got `-1`".into(),
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
            let error = read(text.as_bytes()).unwrap_err().to_string();
            assert_eq!(error, message, "{text}");
        }
    }
}
