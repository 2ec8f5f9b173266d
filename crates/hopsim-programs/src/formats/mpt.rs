//! Traces of MPI calls as text, format mpt 1: a header, then for each rank its records, one to a line.
//!
//! ```text
//! trace   = "mpt 1" NL "name" SP word NL "ranks" SP P NL { info } { comm } P * block "end" NL
//! info    = "info" SP key SP text NL
//! comm    = "comm" SP id SP size SP rank { SP rank } NL              id 0, 1, 2 …; 0 has all ranks in order
//! block   = "rank" SP r SP count NL  count * record                  r = 0 … P-1, ascending
//! record  = "c" SP ns NL                                             computes, ns > 0
//!         | "s" SP dst SP tag SP bytes SP comm NL                    blocking send
//!         | "r" SP src SP tag SP bytes SP comm [ SP "*" ] NL         blocking receive; *: posted for any source
//!         | "i" SP req SP dst SP tag SP bytes SP comm NL             non-blocking send
//!         | "j" SP req SP src SP tag SP bytes SP comm [ SP "*" ] NL  non-blocking receive
//!         | "w" SP req { SP req } NL                                 waits for all of these
//!         | "g" SP kind SP comm SP root SP sbytes SP rbytes NL       collective operation; no root: -1
//! ```
//!
//! Destinations, sources and roots are ranks among all. `sbytes` and `rbytes` of a collective operation of n bytes, see
//! [`crate::record::Bytes`], are n where the rank brings something in and where it gets something, else 0; alltoallv has one
//! number for each member there, in order of the communicator and joined by commas. Empty lines and those that begin with `#`
//! are skipped.

use super::text::{self, Fields, Lines, quoted};
use crate::collectives::Kind;
use crate::error::ProgramError;
use crate::record::{Bytes, Collective, Message, Rank, Record};
use crate::trace::{RecordRules, Tape, Trace};
use smallvec::SmallVec;
use std::io::{self, BufRead, Write};
use std::sync::Arc;

const FIRST_LINE: &str = "mpt 1";

/// Reads a trace.
pub fn read(reader: impl BufRead) -> Result<Trace, ProgramError> {
    let mut lines = Lines::new(reader);
    let (mut trace, ranks) = header(&mut lines)?;
    let mut rules =
        RecordRules::new(ranks, &trace.communicators).map_err(|error| error.line(lines.number))?;
    for rank in 0..ranks {
        let tape = block(&mut lines, &mut rules, rank)?;
        trace.ranks.push(tape);
    }
    let mut fields = lines.fields();
    if fields.next() != Some(b"end") || fields.next().is_some() {
        return Err(lines.error(format!(
            "expected `end` behind the blocks of {ranks} ranks, got {}",
            quoted(lines.text())
        )));
    }
    if lines.advance_to_text()? {
        return Err(lines.error(format!("expected nothing behind `end`, got {}", quoted(lines.text()))));
    }
    Ok(trace)
}

/// What stands before the first block, whose first line is the current one then.
fn header<R: BufRead>(lines: &mut Lines<R>) -> Result<(Trace, u32), ProgramError> {
    // Something that is no trace may have no lines at all.
    lines.advance_within(1 << 16)?;
    if lines.text() != FIRST_LINE.as_bytes() {
        return Err(
            lines.error(format!("expected `{FIRST_LINE}` as first line, got {}", quoted(lines.text())))
        );
    }
    let name =
        keyed(lines, "name", |fields| Ok(String::from_utf8_lossy(fields.word("a name")?).into_owned()))?;
    let range = 1..=u64::from(u32::MAX);
    let ranks = keyed(lines, "ranks", |fields| fields.number("the number of ranks", range))? as u32;
    let mut trace = Trace { name, ..Trace::default() };
    loop {
        present(lines, "`info`, `comm` or `rank 0`")?;
        let mut fields = lines.fields();
        match fields.next() {
            Some(b"info") => trace.info.push(info(fields).map_err(|error| error.line(lines.number))?),
            Some(b"comm") => {
                let number = trace.communicators.len() as u64;
                let members = members(fields, number, ranks).map_err(|error| error.line(lines.number))?;
                trace.communicators.push(members);
            }
            Some(b"rank") => return Ok((trace, ranks)),
            _ => {
                let got = quoted(lines.text());
                return Err(lines.error(format!("expected `info`, `comm` or `rank 0`, got {got}")));
            }
        }
    }
}

/// Goes to the next line, which must be there.
fn present<R: BufRead>(lines: &mut Lines<R>, expected: &str) -> Result<(), ProgramError> {
    if lines.advance_to_text()? {
        return Ok(());
    }
    Err(lines.error(format!("the file ends here; expected {expected}")))
}

/// What a line of the header with this word and one value says.
fn keyed<R: BufRead, T>(
    lines: &mut Lines<R>,
    key: &str,
    value: impl FnOnce(&mut Fields<'_>) -> Result<T, ProgramError>,
) -> Result<T, ProgramError> {
    present(lines, &format!("`{key}`"))?;
    let mut fields = lines.fields();
    if fields.next() != Some(key.as_bytes()) {
        return Err(lines.error(format!("expected `{key}`, got {}", quoted(lines.text()))));
    }
    let value = value(&mut fields).and_then(|value| fields.end().map(|()| value));
    value.map_err(|error| error.line(lines.number))
}

fn info(mut fields: Fields<'_>) -> Result<(String, String), ProgramError> {
    let key = fields.word("a key")?;
    Ok((String::from_utf8_lossy(key).into_owned(), String::from_utf8_lossy(fields.rest()).into_owned()))
}

fn members(mut fields: Fields<'_>, expected: u64, ranks: u32) -> Result<Arc<[Rank]>, ProgramError> {
    fields.number("the number of the next communicator", expected..=expected)?;
    let size = fields.number("the number of members", 1..=ranks.into())?;
    let range = 0..=u64::from(ranks) - 1;
    let members = (0..size).map(|_| Ok(fields.number("a member", range.clone())? as Rank));
    let members = members.collect::<Result<_, _>>()?;
    fields.end().map(|()| members)
}

/// The records of a rank, whose first line is the current one; then the line behind its last record is.
fn block<R: BufRead>(
    lines: &mut Lines<R>,
    rules: &mut RecordRules,
    rank: Rank,
) -> Result<Tape, ProgramError> {
    let start = lines.number;
    let count = begin(lines, rank)?;
    rules.begin_rank(rank);
    let mut tape = Tape::new(start + 1);
    loop {
        let there = lines.advance_to_text()?;
        let fields = lines.fields();
        let first = fields.clone().next().filter(|_| there).unwrap_or_default();
        if tape.len() == count || matches!(first, b"" | b"rank" | b"end") {
            break;
        }
        let line = lines.number;
        let record = record(first, fields, rank).map_err(|error| error.line(line).rank(rank))?;
        rules.check_record(&record, Some(line))?;
        tape.push_at(line, &record);
    }
    complete(lines, rank, tape.len(), (count, start))?;
    rules.end_rank()?;
    tape.shrink();
    Ok(tape)
}

/// Number of records of the block that begins here.
fn begin<R: BufRead>(lines: &Lines<R>, rank: Rank) -> Result<u64, ProgramError> {
    let mut fields = lines.fields();
    if fields.next() != Some(b"rank") || fields.next().and_then(text::digits) != Some(rank.into()) {
        return Err(lines.error(format!(
            "expected `rank {rank}`, got {}; every rank has one block, in ascending order",
            quoted(lines.text())
        )));
    }
    let count = fields.number("the number of records", 0..=u64::MAX);
    let count = count.and_then(|count| fields.end().map(|()| count));
    count.map_err(|error| error.line(lines.number).rank(rank))
}

/// Refuses a block with another number of records than its first line says.
fn complete<R: BufRead>(
    lines: &Lines<R>,
    rank: Rank,
    found: u64,
    (count, start): (u64, u64),
) -> Result<(), ProgramError> {
    let reason = match lines.fields().next() {
        None if found < count => {
            format!("the file ends here, with {found} of the {count} records that line {start} says")
        }
        None => "the file ends here; expected another block or `end`".to_string(),
        Some(b"rank" | b"end") if found < count => {
            format!("expected {count} records, as line {start} says, got {found}")
        }
        Some(b"rank" | b"end") => return Ok(()),
        Some(_) => {
            let got = quoted(lines.text());
            format!("expected no more than {count} records, as line {start} says, got {got}")
        }
    };
    Err(lines.error(reason).rank(rank))
}

/// The record of a line.
#[inline]
fn record(first: &[u8], mut fields: Fields<'_>, rank: Rank) -> Result<Record, ProgramError> {
    fields.next();
    let record = match first {
        b"c" => Record::Compute { nanoseconds: fields.number("nanoseconds", 1..=u64::MAX)? },
        b"s" => Record::Send { request: None, message: message(&mut fields)? },
        b"r" => receive(&mut fields, None)?,
        b"i" => Record::Send { request: Some(fields.small("a request")?), message: message(&mut fields)? },
        b"j" => {
            let request = Some(fields.small("a request")?);
            receive(&mut fields, request)?
        }
        b"w" => {
            let mut requests: SmallVec<[u32; 4]> = SmallVec::new();
            requests.push(fields.small("a request")?);
            while fields.clone().next().is_some() {
                requests.push(fields.small("a request")?);
            }
            Record::Wait { requests }
        }
        b"g" => Record::Collective(collective(&mut fields, rank)?),
        _ => {
            return Err(ProgramError::new(format!(
                "expected a record, `c`, `s`, `r`, `i`, `j`, `w` or `g`, got {}",
                quoted(first)
            )));
        }
    };
    fields.end().map(|()| record)
}

#[inline]
fn message(fields: &mut Fields<'_>) -> Result<Message, ProgramError> {
    Ok(Message {
        peer: fields.small("a rank")?,
        tag: fields.small("a tag")?,
        bytes: fields.number("bytes", 0..=u64::MAX)?,
        communicator: fields.small("a communicator")?,
    })
}

#[inline]
fn receive(fields: &mut Fields<'_>, request: Option<u32>) -> Result<Record, ProgramError> {
    let message = message(fields)?;
    let any_source = fields.clone().next() == Some(b"*");
    if any_source {
        fields.next();
    }
    Ok(Record::Receive { message, any_source, request })
}

fn collective(fields: &mut Fields<'_>, rank: Rank) -> Result<Collective, ProgramError> {
    let name = fields.word("a collective operation")?;
    let kind = std::str::from_utf8(name).ok().and_then(Kind::from_name).ok_or_else(|| {
        let names = Kind::ALL.map(Kind::name).join(", ");
        ProgramError::new(format!("expected a collective operation, one of {names}; got {}", quoted(name)))
    })?;
    let communicator = fields.small("a communicator")?;
    let root = match fields.word("a root")? {
        b"-1" => None,
        root => Some(text::number(root, "a root, or -1 for none", 0..=u32::MAX.into())? as Rank),
    };
    let sent = fields.word("the bytes sent")?;
    let received = fields.word("the bytes received")?;
    let bytes = if kind == Kind::Alltoallv {
        Bytes::Each { sent: list(sent)?, received: list(received)? }
    } else {
        let sent = text::number(sent, "the bytes sent", 0..=u64::MAX)?;
        let received = text::number(received, "the bytes received", 0..=u64::MAX)?;
        Bytes::Same(same(kind, root == Some(rank), (sent, received))?)
    };
    Ok(Collective { kind, communicator, root, bytes })
}

/// n of an operation in which a rank sends and receives so many bytes.
pub(super) fn same(kind: Kind, is_root: bool, (sent, received): (u64, u64)) -> Result<u64, ProgramError> {
    let bytes = sent.max(received);
    let expected = sides(kind, is_root, bytes);
    if (sent, received) == expected {
        return Ok(bytes);
    }
    Err(ProgramError::new(format!(
        "{} sends {sent} and receives {received} bytes here; expected {} and {}",
        kind.name(),
        expected.0,
        expected.1
    )))
}

fn list(field: &[u8]) -> Result<Box<[u64]>, ProgramError> {
    let sizes = field.split(|&byte| byte == b',');
    sizes.map(|size| text::number(size, "bytes for each member, joined by `,`", 0..=u64::MAX)).collect()
}

/// What files say that a rank sends and receives in an operation of n bytes.
pub(super) fn sides(kind: Kind, is_root: bool, bytes: u64) -> (u64, u64) {
    let sends = match kind {
        Kind::Barrier => false,
        Kind::Bcast | Kind::Scatter => is_root,
        _ => true,
    };
    let receives = match kind {
        Kind::Barrier => false,
        Kind::Bcast => !is_root,
        Kind::Reduce | Kind::Gather => is_root,
        _ => true,
    };
    (if sends { bytes } else { 0 }, if receives { bytes } else { 0 })
}

/// Writes a trace. What does nothing, a computation of 0 ns or a wait for no request, has no form in a file and is left out.
/// Spaces in the name and in keys become `_`.
pub fn write(trace: &Trace, mut writer: impl Write) -> io::Result<()> {
    writeln!(writer, "{FIRST_LINE}\nname {}\nranks {}", word(&trace.name), trace.ranks.len())?;
    for (key, text) in &trace.info {
        writeln!(writer, "info {} {}", word(key), text.replace(['\n', '\r'], " "))?;
    }
    for (number, members) in trace.communicators.iter().enumerate() {
        write!(writer, "comm {number} {}", members.len())?;
        members.iter().try_for_each(|member| write!(writer, " {member}"))?;
        writeln!(writer)?;
    }
    for (tape, rank) in trace.ranks.iter().zip(0..) {
        writeln!(writer, "rank {rank} {}", tape.iter().filter(says_something).count())?;
        tape.iter().filter(says_something).try_for_each(|record| write_record(&record, rank, &mut writer))?;
    }
    writeln!(writer, "end")
}

fn says_something(record: &Record) -> bool {
    match record {
        Record::Compute { nanoseconds } => *nanoseconds > 0,
        Record::Wait { requests } => !requests.is_empty(),
        _ => true,
    }
}

pub(super) fn word(text: &str) -> String {
    if text.is_empty() { "_".to_string() } else { text.replace(char::is_whitespace, "_") }
}

fn write_record(record: &Record, rank: Rank, writer: &mut impl Write) -> io::Result<()> {
    match record {
        Record::Compute { nanoseconds } => writeln!(writer, "c {nanoseconds}"),
        Record::Send { message, request } => {
            write_message(writer, ("s", "i"), message, *request)?;
            writeln!(writer)
        }
        Record::Receive { message, any_source, request } => {
            write_message(writer, ("r", "j"), message, *request)?;
            writeln!(writer, "{}", if *any_source { " *" } else { "" })
        }
        Record::Wait { requests } => {
            write!(writer, "w")?;
            requests.iter().try_for_each(|request| write!(writer, " {request}"))?;
            writeln!(writer)
        }
        Record::Collective(collective) => write_collective(collective, rank, writer),
        Record::Begin { .. } => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "mpt has no collectives that do not block"))
        }
    }
}

fn write_message(
    writer: &mut impl Write,
    (blocking, other): (&str, &str),
    message: &Message,
    request: Option<u32>,
) -> io::Result<()> {
    match request {
        Some(request) => write!(writer, "{other} {request}")?,
        None => write!(writer, "{blocking}")?,
    }
    let Message { peer, tag, bytes, communicator } = message;
    write!(writer, " {peer} {tag} {bytes} {communicator}")
}

fn write_collective(collective: &Collective, rank: Rank, writer: &mut impl Write) -> io::Result<()> {
    let Collective { kind, communicator, root, bytes } = collective;
    write!(writer, "g {} {communicator} {}", kind.name(), root.map_or(-1, i64::from))?;
    match bytes {
        Bytes::Same(bytes) => {
            let (sent, received) = sides(*kind, *root == Some(rank), *bytes);
            writeln!(writer, " {sent} {received}")
        }
        Bytes::Each { sent, received } => {
            for sizes in [sent, received] {
                for (index, bytes) in sizes.iter().enumerate() {
                    write!(writer, "{}{bytes}", if index == 0 { ' ' } else { ',' })?;
                }
            }
            writeln!(writer)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::arbitrary::traces;
    use proptest::prelude::*;

    const HEAD: &str = "mpt 1\nname x\nranks 2\ncomm 0 2 0 1\ncomm 1 1 1\n";

    /// A trace whose rank 0 has this one record; rank 1 has none.
    fn with(record: &str) -> String {
        format!("{HEAD}rank 0 1\n{record}\nrank 1 0\nend\n")
    }

    fn refusal(text: &str) -> String {
        read(text.as_bytes()).map_or_else(|error| error.to_string(), |_| "fine".to_string())
    }

    #[test]
    fn files_that_are_no_traces_are_refused() {
        for (text, message) in [
            ("", "line 1: expected `mpt 1` as first line, got ``"),
            ("mpt 2\n", "line 1: expected `mpt 1` as first line, got `mpt 2`"),
            ("mpt 1\n", "line 2: the file ends here; expected `name`"),
            ("mpt 1\nranks 2\n", "line 2: expected `name`, got `ranks 2`"),
            ("mpt 1\nname a b\n", "line 2: expected the end of the line, got `b`"),
            (
                "mpt 1\nname a\nranks 0\n",
                "line 3: expected the number of ranks, a whole number from 1 to 4294967295, got `0`",
            ),
            ("mpt 1\nname a\nranks\n", "line 3: expected the number of ranks, got the end of the line"),
            ("mpt 1\nname a\nranks 2\n", "line 4: the file ends here; expected `info`, `comm` or `rank 0`"),
            ("mpt 1\nname a\nranks 2\nc 7\n", "line 4: expected `info`, `comm` or `rank 0`, got `c 7`"),
            (
                "mpt 1\nname a\nranks 2\ncomm 0 1 0\nrank 0 0\n",
                "line 5: communicator 0 is not all ranks in order; expected 0 to 1",
            ),
            (
                "mpt 1\nname a\nranks 2\ncomm 1 1 0\n",
                "line 4: expected the number of the next communicator, a whole number from 0 to 0, got `1`",
            ),
            ("mpt 1\nname a\nranks 2\ncomm 0 2 0\n", "line 4: expected a member, got the end of the line"),
            (
                "mpt 1\nname a\nranks 2\ncomm 0 2 0 2\n",
                "line 4: expected a member, a whole number from 0 to 1, got `2`",
            ),
            (
                "mpt 1\nname a\nranks 2\ncomm 0 2 0 1\ncomm 1 2 1 1\nrank 0 0\n",
                "line 6: communicator 1 has rank 1 twice",
            ),
        ] {
            assert_eq!(refusal(text), message, "{text}");
        }
    }

    #[test]
    fn blocks_that_do_not_fit_are_refused() {
        for (blocks, message) in [
            (
                "rank 1 0\n",
                "line 6: expected `rank 0`, got `rank 1 0`; every rank has one block, in ascending order",
            ),
            (
                "rank 0 0\nrank 0 0\n",
                "line 7: expected `rank 1`, got `rank 0 0`; every rank has one block, in ascending order",
            ),
            (
                "rank 0 0\nend\n",
                "line 7: expected `rank 1`, got `end`; every rank has one block, in ascending order",
            ),
            (
                "rank 0 0\nrank 1 0\nrank 2 0\nend\n",
                "line 8: expected `end` behind the blocks of 2 ranks, got `rank 2 0`",
            ),
            ("rank 0 0\nrank 1 0\nend\nend\n", "line 9: expected nothing behind `end`, got `end`"),
            ("rank 0 0\nrank 1 0\n", "line 8: rank 1: the file ends here; expected another block or `end`"),
            (
                "rank 0 0\nrank 1 2\nc 7\n",
                "line 9: rank 1: the file ends here, with 1 of the 2 records that line 7 says",
            ),
            ("rank 0 2\nc 7\nrank 1 0\nend\n", "line 8: rank 0: expected 2 records, as line 6 says, got 1"),
            (
                "rank 0 0\nc 7\nrank 1 0\nend\n",
                "line 7: rank 0: expected no more than 0 records, as line 6 says, got `c 7`",
            ),
            (
                "rank 0 -1\n",
                "line 6: rank 0: expected the number of records, a whole number from 0 to 18446744073709551615, got `-1`",
            ),
            ("rank 0 0 0\n", "line 6: rank 0: expected the end of the line, got `0`"),
        ] {
            assert_eq!(refusal(&format!("{HEAD}{blocks}")), message, "{blocks}");
        }
    }

    #[test]
    fn wrong_records_are_refused() {
        for (record, message) in [
            ("x 1", "expected a record, `c`, `s`, `r`, `i`, `j`, `w` or `g`, got `x`"),
            ("c 0", "expected nanoseconds, a whole number from 1 to 18446744073709551615, got `0`"),
            (
                "c 18446744073709551616",
                "expected nanoseconds, a whole number from 1 to 18446744073709551615, got `18446744073709551616`",
            ),
            ("c 1.5", "expected nanoseconds, a whole number from 1 to 18446744073709551615, got `1.5`"),
            ("c 1 2", "expected the end of the line, got `2`"),
            ("s 1 0 8", "expected a communicator, got the end of the line"),
            ("s 2 0 8 0", "expected a rank from 0 to 1 as peer, got 2"),
            ("s 1 -1 8 0", "expected a tag, a whole number from 0 to 4294967295, got `-1`"),
            ("s 1 0 8 2", "there is no communicator 2; expected one from 0 to 1"),
            ("s 1 0 8 1", "rank 0 is not in communicator 1"),
            ("r 1 0 8 0 +", "expected the end of the line, got `+`"),
            ("i 3 1 0 8 0", "request 3 is never waited for; expected a wait for it behind this record"),
            ("w 3", "waits for request 3, which is not open; expected the number of an open request"),
            ("w", "expected a request, got the end of the line"),
            (
                "g sum 0 -1 8 8",
                "expected a collective operation, one of barrier, bcast, reduce, allreduce, allgather, gather, scatter, reduce_scatter, alltoall, alltoallv, scan; got `sum`",
            ),
            ("g barrier 1 -1 0 0", "rank 0 is not in communicator 1"),
            ("g barrier 0 0 0 0", "barrier has no root; expected none, got rank 0"),
            ("g barrier 0 -1 8 0", "barrier sends 8 and receives 0 bytes here; expected 0 and 0"),
            ("g bcast 0 -1 0 8", "bcast needs a root; expected a member of communicator 0"),
            ("g bcast 0 7 0 8", "the root of bcast, 7, is not in communicator 0; expected a member"),
            ("g bcast 0 0 0 8", "bcast sends 0 and receives 8 bytes here; expected 8 and 0"),
            ("g bcast 0 1 8 0", "bcast sends 8 and receives 0 bytes here; expected 0 and 8"),
            ("g reduce 0 1 8 8", "reduce sends 8 and receives 8 bytes here; expected 8 and 0"),
            ("g alltoall 0 -1 8 9", "alltoall sends 8 and receives 9 bytes here; expected 9 and 9"),
            (
                "g alltoallv 0 -1 8,9 8",
                "alltoallv receives 1 sizes; expected 2, one for each member of communicator 0",
            ),
            (
                "g alltoallv 0 -1 8,,9 8,9",
                "expected bytes for each member, joined by `,`, a whole number from 0 to 18446744073709551615, got ``",
            ),
        ] {
            assert_eq!(refusal(&with(record)), format!("line 7: rank 0: {message}"), "{record}");
        }
        let twice = format!("{HEAD}rank 0 2\ni 3 1 0 8 0\nj 3 1 0 8 0\n");
        let message = "line 8: rank 0: request 3 is already open since line 7; expected a number that no open request has";
        assert_eq!(refusal(&twice), message);
    }

    #[test]
    fn a_script_becomes_a_trace() {
        let text = with("c 7\n# no record").replace("name x", "name other");
        let trace = read(text.as_bytes()).unwrap();
        let script: Arc<dyn crate::record::Script> = Arc::new(trace.clone());
        let copy = Trace::of_script("other", &script);
        assert_eq!(copy, trace);
        assert_eq!(copy.ranks[0].line(0), Some(7));
    }

    #[test]
    fn records_know_their_lines() {
        let text = format!(
            "{HEAD}# no records yet\nrank 0 3\n\nc 1\nc 2\n\n# two lines between\nc 3\nrank 1 0\nend\n"
        );
        let trace = read(text.as_bytes()).unwrap();
        let lines: Vec<_> = (0..3).map(|record| trace.ranks[0].line(record)).collect();
        assert_eq!(lines, [Some(9), Some(10), Some(13)]);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(trace in traces()) {
            let mut text = Vec::new();
            write(&trace, &mut text).unwrap();
            prop_assert_eq!(read(text.as_slice()), Ok(trace));
        }

        #[test]
        fn no_text_makes_the_reader_panic(trace in traces(), place in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let mut text = Vec::new();
            write(&trace, &mut text).unwrap();
            let place = place.index(text.len());
            text[place] = byte;
            let _ = read(text.as_slice()).map(|trace| trace.check());
            let _ = read(&text[..place]).map(|trace| trace.check());
        }
    }
}
