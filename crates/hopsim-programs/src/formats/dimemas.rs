//! Traces as text for Dimemas (Barcelona Supercomputing Center), in the dialect that FOGSim reads: fields are separated by
//! colons, and all records of task 0 come first, then those of task 1 and so on.
//!
//! ```text
//! #DIMEMAS:"NAME":1,00000000000000000000:P(1,1,…),communicators
//! d:1:communicator:size:rank:…                      from 1 on; 1 has all ranks in order
//! 1:task:0:seconds                                  computes, up to 9 decimals
//! 2:task:0:destination:bytes:tag:communicator:type  send; type 0 blocking, 2 non-blocking
//! 3:task:0:source:bytes:tag:communicator:type       receive; type 0 blocking, 1 posted, 2 waits for a posted one
//! 10:task:0:operation:communicator:root:0:sent:received
//!     operations: 0 barrier, 1 bcast, 2 gather, 4 scatter, 6 allgather, 8 alltoall, 9 alltoallv, 10 reduce, 11 allreduce,
//!     12 reduce_scatter, 13 scan; sent and received as in format mpt; root 0 where there is none
//! 20:…                                              events for people and for FOGSim; the reader skips them
//! ```
//!
//! What the dialect cannot say:
//! - Who receives how much in alltoallv: only totals are there. The reader takes them only if every pair could exchange the same.
//! - That a non-blocking send is waited for. The reader lets a rank wait for all of them at its end.
//! - That a receive was posted for any source.
//!
//! A wait belongs to the first posted receive with its source, tag, communicator and size, or, if none has this size, with the
//! other three.

use super::mpt::{same, sides, word};
use super::text::{self, Colons, Lines, quoted, split};
use crate::collectives::Kind;
use crate::error::ProgramError;
use crate::record::{Bytes, Collective, Message, Rank, Record};
use crate::trace::{RecordRules, Tape, Trace};
use rustc_hash::FxHashMap;
use std::io::{self, BufRead, Write};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Number of an operation in records of kind 10, and the value of event 50000002 that FOGSim knows it by.
const OPERATIONS: [(Kind, u64, Option<u64>); 11] = [
    (Kind::Barrier, 0, Some(8)),
    (Kind::Bcast, 1, Some(7)),
    (Kind::Gather, 2, None),
    (Kind::Scatter, 4, None),
    (Kind::Allgather, 6, None),
    (Kind::Alltoall, 8, Some(11)),
    (Kind::Alltoallv, 9, Some(12)),
    (Kind::Reduce, 10, Some(9)),
    (Kind::Allreduce, 11, Some(10)),
    (Kind::ReduceScatter, 12, None),
    (Kind::Scan, 13, None),
];

const SMALL: RangeInclusive<u64> = 0..=u32::MAX as u64;

/// Reads a trace.
pub fn read(reader: impl BufRead) -> Result<Trace, ProgramError> {
    let mut lines = Lines::new(reader);
    let (name, ranks) = header(&mut lines)?;
    let mut trace = Trace { name, ..Trace::default() };
    let mut is_there = lines.advance_to_text()?;
    while is_there && lines.text().starts_with(b"d:") {
        let number = trace.communicators.len() as u64 + 1;
        let members = members(lines.text(), number, ranks).map_err(|error| error.line(lines.number))?;
        trace.communicators.push(members);
        is_there = lines.advance_to_text()?;
    }
    let mut rules =
        RecordRules::new(ranks, &trace.communicators).map_err(|error| error.line(lines.number))?;
    for rank in 0..ranks {
        rules.begin_rank(rank);
        let mut task = Task { rank, ..Task::default() };
        while is_there {
            let line = lines.number;
            let mut fields = Colons::of(lines.text());
            let kind = fields.next().unwrap_or_default();
            if place(&mut fields, rank, ranks).map_err(|error| error.line(line))? > rank {
                break;
            }
            let record = task.record(kind, fields, &trace.communicators);
            let record = record.map_err(|error| error.line(line).rank(rank))?;
            if let Some(record) = record {
                rules.check_record(&record, Some(line))?;
                task.tape.push_at(line, &record);
            }
            is_there = lines.advance_to_text()?;
        }
        trace.ranks.push(task.end(&mut rules)?);
    }
    Ok(trace)
}

/// The name and the number of ranks.
fn header<R: BufRead>(lines: &mut Lines<R>) -> Result<(String, u32), ProgramError> {
    lines.advance_within(1 << 28)?;
    let wrong = || {
        let got = quoted(lines.text());
        lines.error(format!(
            "expected `#DIMEMAS:\"NAME\":1,0:P(1,1,…),COMMUNICATORS` as first line, got {got}"
        ))
    };
    let rest = lines.text().strip_prefix(b"#DIMEMAS:\"").ok_or_else(wrong)?;
    let (name, rest) = split(rest, b'"').ok_or_else(wrong)?;
    let (_, rest) = split(rest, b',').ok_or_else(wrong)?;
    let (_, rest) = split(rest, b':').ok_or_else(wrong)?;
    let (ranks, rest) = split(rest, b'(').ok_or_else(wrong)?;
    let (threads, _) = split(rest, b')').ok_or_else(wrong)?;
    let range = 1..=u32::MAX.into();
    let ranks =
        text::number(ranks, "the number of tasks", range).map_err(|error| error.line(lines.number))? as u32;
    let single = threads.split(|&byte| byte == b',').filter(|threads| *threads == b"1").count();
    if single != ranks as usize || threads.len() + 1 != 2 * single {
        return Err(
            lines.error(format!("expected one thread for each of {ranks} tasks, `({ranks} times 1)`"))
        );
    }
    Ok((String::from_utf8_lossy(name).into_owned(), ranks))
}

fn members(line: &[u8], expected: u64, ranks: u32) -> Result<Arc<[Rank]>, ProgramError> {
    let mut fields = Colons::of(line);
    fields.next();
    fields.number("application", 1..=1)?;
    fields.number("the number of the next communicator", expected..=expected)?;
    let size = fields.number("the number of members", 1..=ranks.into())?;
    let range = 0..=u64::from(ranks) - 1;
    let members = (0..size).map(|_| Ok(fields.number("a member", range.clone())? as Rank));
    let members = members.collect::<Result<_, _>>()?;
    fields.end().map(|()| members)
}

/// The task of a record, which may not be before this one; the thread is 0.
fn place(fields: &mut Colons<'_>, rank: Rank, ranks: u32) -> Result<Rank, ProgramError> {
    let range = rank.into()..=u64::from(ranks) - 1;
    let task = fields.number("a task, in ascending order", range)? as Rank;
    fields.number("the only thread", 0..=0).map(|_| task)
}

/// A rank while its records are read.
#[derive(Default)]
struct Task {
    rank: Rank,
    tape: Tape,
    /// Receives that are posted and not waited for.
    posted: Vec<(Message, u32)>,
    /// Requests of sends.
    sends: Vec<u32>,
    /// Request numbers that are free again.
    free: Vec<u32>,
    /// The next new request number.
    next: u32,
}

impl Task {
    /// The record of a line; none if it says nothing.
    fn record(
        &mut self,
        kind: &[u8],
        mut fields: Colons<'_>,
        communicators: &[Arc<[Rank]>],
    ) -> Result<Option<Record>, ProgramError> {
        let record = match kind {
            b"1" => {
                let nanoseconds = seconds(fields.next().unwrap_or_default())?;
                (nanoseconds > 0).then_some(Record::Compute { nanoseconds })
            }
            b"2" => {
                let message = message(&mut fields)?;
                let blocks = send_type(&mut fields)?;
                Some(Record::Send { message, request: (!blocks).then(|| self.send()) })
            }
            b"3" => {
                let message = message(&mut fields)?;
                Some(self.receive(message, fields.number("a type", 0..=2)?)?)
            }
            b"10" => Some(Record::Collective(self.collective(&mut fields, communicators)?)),
            b"20" => return Ok(None),
            _ => {
                let got = quoted(kind);
                return Err(ProgramError::new(format!(
                    "expected a record of kind 1, 2, 3, 10 or 20, got {got}"
                )));
            }
        };
        fields.end().map(|()| record)
    }

    fn request(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    fn send(&mut self) -> u32 {
        let request = self.request();
        self.sends.push(request);
        request
    }

    fn receive(&mut self, message: Message, kind: u64) -> Result<Record, ProgramError> {
        if kind == 2 {
            return self.wait(message);
        }
        let request = (kind == 1).then(|| self.request());
        self.posted.extend(request.map(|request| (message, request)));
        Ok(Record::Receive { message, any_source: false, request })
    }

    fn wait(&mut self, message: Message) -> Result<Record, ProgramError> {
        let Message { peer, tag, communicator, bytes } = message;
        let key =
            |posted: &Message| (posted.peer, posted.tag, posted.communicator) == (peer, tag, communicator);
        let same = self.posted.iter().position(|(posted, _)| key(posted) && posted.bytes == bytes);
        let place = same.or_else(|| self.posted.iter().position(|(posted, _)| key(posted)));
        let place = place.ok_or_else(|| {
            let number = communicator + 1;
            ProgramError::new(format!(
                "waits for a receive from rank {peer} with tag {tag} in communicator {number}; expected one that is posted"
            ))
        })?;
        let (_, request) = self.posted.remove(place);
        self.free.push(request);
        Ok(Record::Wait { requests: [request].into_iter().collect() })
    }

    fn collective(
        &self,
        fields: &mut Colons<'_>,
        communicators: &[Arc<[Rank]>],
    ) -> Result<Collective, ProgramError> {
        let number = fields.number("an operation", SMALL)?;
        let known = OPERATIONS.iter().find(|operation| operation.1 == number);
        let kind = known.map(|operation| operation.0).ok_or_else(|| {
            let valid = OPERATIONS.map(|(kind, number, _)| format!("{number} {}", kind.name())).join(", ");
            ProgramError::new(format!("expected a collective operation, one of {valid}; got {number}"))
        })?;
        let communicator = fields.number("a communicator, from 1", 1..=u32::MAX.into())? as u32 - 1;
        let root = fields.number("a root", SMALL)? as Rank;
        fields.number("the root's thread", 0..=0)?;
        let sent = fields.number("the bytes sent", 0..=u64::MAX)?;
        let received = fields.number("the bytes received", 0..=u64::MAX)?;
        let root = kind.is_rooted().then_some(root);
        let bytes = if kind == Kind::Alltoallv {
            let members = communicators.get(communicator as usize).map_or(0, |members| members.len());
            even(members, (sent, received))?
        } else {
            Bytes::Same(same(kind, root == Some(self.rank), (sent, received))?)
        };
        Ok(Collective { kind, communicator, root, bytes })
    }

    /// The records of the rank are over.
    fn end(mut self, rules: &mut RecordRules) -> Result<Tape, ProgramError> {
        if !self.sends.is_empty() {
            let wait = Record::Wait { requests: std::mem::take(&mut self.sends).into() };
            rules.check_record(&wait, None)?;
            self.tape.push(&wait);
        }
        rules.end_rank()?;
        self.tape.shrink();
        Ok(self.tape)
    }
}

/// Whether a send blocks.
fn send_type(fields: &mut Colons<'_>) -> Result<bool, ProgramError> {
    match fields.number("a type", SMALL)? {
        0 => Ok(true),
        2 => Ok(false),
        other => Err(ProgramError::new(format!(
            "expected a type of send, 0 blocking or 2 non-blocking, got {other}"
        ))),
    }
}

/// An alltoallv of so many bytes in all, if every pair of members can have the same.
fn even(members: usize, (sent, received): (u64, u64)) -> Result<Bytes, ProgramError> {
    let count = members.max(1) as u64;
    if sent != received || sent % count != 0 {
        return Err(ProgramError::new(format!(
            "alltoallv sends {sent} and receives {received} bytes in all, and the file does not say how much goes to whom; \
             expected equal totals that are a multiple of {count}, so that all members can get the same, or a file in format mpt"
        )));
    }
    let each: Box<[u64]> = vec![sent / count; members].into();
    Ok(Bytes::Each { sent: each.clone(), received: each })
}

fn message(fields: &mut Colons<'_>) -> Result<Message, ProgramError> {
    let peer = fields.number("a task", SMALL)? as Rank;
    let bytes = fields.number("bytes", 0..=u64::MAX)?;
    let tag = fields.number("a tag", SMALL)? as u32;
    let communicator = fields.number("a communicator, from 1", 1..=u32::MAX.into())? as u32 - 1;
    Ok(Message { peer, tag, bytes, communicator })
}

/// A time in seconds as nanoseconds.
fn seconds(field: &[u8]) -> Result<u64, ProgramError> {
    text::decimal(field, 9).ok_or_else(|| {
        ProgramError::new(format!(
            "expected seconds with up to 9 decimals, such as 0.000000168, got {}",
            quoted(field)
        ))
    })
}

/// Writes a trace, without what the dialect cannot say. Operations that FOGSim does not know have no events.
pub fn write(trace: &Trace, mut writer: impl Write) -> io::Result<()> {
    let count = trace.ranks.len();
    write!(writer, "#DIMEMAS:\"{}\":1,{:020}:{count}(", word(&trace.name).replace('"', "_"), 0)?;
    (0..count).try_for_each(|rank| write!(writer, "{}1", if rank == 0 { "" } else { "," }))?;
    writeln!(writer, "),{}", trace.communicators.len())?;
    for (members, number) in trace.communicators.iter().zip(1..) {
        write!(writer, "d:1:{number}:{}", members.len())?;
        members.iter().try_for_each(|member| write!(writer, ":{member}"))?;
        writeln!(writer)?;
    }
    for (tape, rank) in trace.ranks.iter().zip(0..) {
        let mut posted = FxHashMap::default();
        tape.iter().try_for_each(|record| write_record(&record, rank, &mut posted, &mut writer))?;
    }
    Ok(())
}

/// Writes a record; what is posted is kept for its wait.
fn write_record(
    record: &Record,
    rank: Rank,
    posted: &mut FxHashMap<u32, Message>,
    writer: &mut impl Write,
) -> io::Result<()> {
    match record {
        Record::Compute { nanoseconds: 0 } => Ok(()),
        Record::Compute { nanoseconds } => {
            let (seconds, part) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
            writeln!(writer, "1:{rank}:0:{seconds}.{part:09}")
        }
        Record::Send { message, request } => {
            write_message(writer, (2, rank), message, if request.is_some() { 2 } else { 0 })
        }
        Record::Receive { message, request, .. } => {
            posted.extend(request.map(|request| (request, *message)));
            write_message(writer, (3, rank), message, request.map_or(0, |_| 1))
        }
        Record::Wait { requests } => {
            let mut received = requests.iter().filter_map(|request| posted.remove(request));
            received.try_for_each(|message| write_message(writer, (3, rank), &message, 2))
        }
        Record::Collective(collective) => write_collective(collective, rank, writer),
        Record::Begin { .. } => {
            let reason = "the Dimemas dialect has no collectives that do not block";
            Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
        }
    }
}

fn write_message(
    writer: &mut impl Write,
    (kind, rank): (u8, Rank),
    message: &Message,
    way: u8,
) -> io::Result<()> {
    let Message { peer, tag, bytes, communicator } = message;
    let communicator = u64::from(*communicator) + 1;
    writeln!(writer, "{kind}:{rank}:0:{peer}:{bytes}:{tag}:{communicator}:{way}")
}

fn write_collective(collective: &Collective, rank: Rank, writer: &mut impl Write) -> io::Result<()> {
    let Collective { kind, communicator, root, bytes } = collective;
    let communicator = u64::from(*communicator) + 1;
    let (sent, received) = match bytes {
        Bytes::Same(bytes) => {
            let (sent, received) = sides(*kind, *root == Some(rank), *bytes);
            (sent.into(), received.into())
        }
        Bytes::Each { sent, received } => (total(sent), total(received)),
    };
    let row = OPERATIONS.iter().find(|operation| operation.0 == *kind);
    let (number, event) = row.map_or((0, None), |&(_, number, event)| (number, event));
    if let Some(event) = event {
        writeln!(writer, "20:{rank}:0:50000002:{event}")?;
        writeln!(writer, "20:{rank}:0:50100001:{sent}\n20:{rank}:0:50100002:{received}")?;
        if *root == Some(rank) {
            writeln!(writer, "20:{rank}:0:50100003:1")?;
        }
        writeln!(writer, "20:{rank}:0:50100004:{communicator}")?;
    }
    writeln!(writer, "10:{rank}:0:{number}:{communicator}:{}:0:{sent}:{received}", root.unwrap_or(0))?;
    if event.is_some() {
        writeln!(writer, "20:{rank}:0:50000002:0")?;
    }
    Ok(())
}

fn total(sizes: &[u64]) -> u128 {
    sizes.iter().map(|&bytes| u128::from(bytes)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::mpt;
    use crate::trace::arbitrary::traces;
    use proptest::prelude::*;

    const HEAD: &str = "#DIMEMAS:\"x\":1,00000000000000000000:2(1,1),1\nd:1:1:2:0:1\n";

    fn refusal(text: &str) -> String {
        read(text.as_bytes()).map_or_else(|error| error.to_string(), |_| "fine".to_string())
    }

    #[test]
    fn wrong_headers_are_refused() {
        let first = "line 1: expected `#DIMEMAS:\"NAME\":1,0:P(1,1,…),COMMUNICATORS` as first line, got ";
        for (text, message) in [
            ("", format!("{first}``")),
            ("mpt 1\n", format!("{first}`mpt 1`")),
            ("#DIMEMAS:\"x\":1,0:2\n", format!("{first}`#DIMEMAS:\"x\":1,0:2`")),
            (
                "#DIMEMAS:\"x\":1,0:x(1),1\n",
                "line 1: expected the number of tasks, a whole number from 1 to 4294967295, got `x`".into(),
            ),
            (
                "#DIMEMAS:\"x\":1,0:2(1,2),1\n",
                "line 1: expected one thread for each of 2 tasks, `(2 times 1)`".into(),
            ),
            (
                "#DIMEMAS:\"x\":1,0:2(1,1),1\nd:1:2:1:0\n",
                "line 2: expected the number of the next communicator, a whole number from 1 to 1, got `2`"
                    .into(),
            ),
            (
                "#DIMEMAS:\"x\":1,0:2(1,1),1\n",
                "line 2: communicator 0 is not all ranks in order; expected 0 to 1".into(),
            ),
        ] {
            assert_eq!(refusal(text), message, "{text}");
        }
    }

    #[test]
    fn wrong_records_are_refused() {
        for (record, message) in [
            ("1:2:0:0.5", "expected a task, in ascending order, a whole number from 0 to 1, got `2`"),
            ("1:0:1:0.5", "expected the only thread, a whole number from 0 to 0, got `1`"),
            ("1", "expected a task, in ascending order, got the end of the line"),
        ] {
            assert_eq!(refusal(&format!("{HEAD}{record}\n")), format!("line 3: {message}"), "{record}");
        }
        let order = "line 4: expected a task, in ascending order, a whole number from 1 to 1, got `0`";
        assert_eq!(refusal(&format!("{HEAD}1:1:0:0.5\n1:0:0:0.5\n")), order);
        for (record, message) in [
            ("4:0:0:1", "expected a record of kind 1, 2, 3, 10 or 20, got `4`"),
            (
                "1:0:0:0.1234567891",
                "expected seconds with up to 9 decimals, such as 0.000000168, got `0.1234567891`",
            ),
            ("1:0:0:.5", "expected seconds with up to 9 decimals, such as 0.000000168, got `.5`"),
            ("1:0:0:1:2", "expected the end of the line, got `2`"),
            ("2:0:0:1:8:7:1:1", "expected a type of send, 0 blocking or 2 non-blocking, got 1"),
            (
                "2:0:0:1:8:7:0:0",
                "expected a communicator, from 1, a whole number from 1 to 4294967295, got `0`",
            ),
            ("2:0:0:2:8:7:1:0", "expected a rank from 0 to 1 as peer, got 2"),
            ("3:0:0:1:8:7:1:3", "expected a type, a whole number from 0 to 2, got `3`"),
            (
                "3:0:0:1:8:7:1:2",
                "waits for a receive from rank 1 with tag 7 in communicator 1; expected one that is posted",
            ),
            ("3:0:0:1:8:7:1:1", "request 0 is never waited for; expected a wait for it behind this record"),
            (
                "10:0:0:3:1:0:0:8:8",
                "expected a collective operation, one of 0 barrier, 1 bcast, 2 gather, 4 scatter, 6 allgather, 8 alltoall, \
                 9 alltoallv, 10 reduce, 11 allreduce, 12 reduce_scatter, 13 scan; got 3",
            ),
            ("10:0:0:1:1:0:0:8:8", "bcast sends 8 and receives 8 bytes here; expected 8 and 0"),
            (
                "10:0:0:9:1:0:0:8:10",
                "alltoallv sends 8 and receives 10 bytes in all, and the file does not say how much goes to whom; expected \
                 equal totals that are a multiple of 2, so that all members can get the same, or a file in format mpt",
            ),
        ] {
            assert_eq!(
                refusal(&format!("{HEAD}{record}\n")),
                format!("line 3: rank 0: {message}"),
                "{record}"
            );
        }
    }

    #[test]
    fn a_trace_loses_what_the_dialect_cannot_say() {
        let head = "mpt 1\nname x\nranks 2\n";
        let all = "comm 0 2 0 1\n";
        let written = format!(
            "{head}info key value\n{all}rank 0 7\nc 1000000168\ni 0 1 7 8 0\nj 1 1 7 9 0 *\nj 2 1 7 10 0\nw 2 0 1\n\
             g bcast 0 0 8 0\ng alltoallv 0 -1 4,4 3,5\nrank 1 0\nend\n"
        );
        let mut text = Vec::new();
        write(&mpt::read(written.as_bytes()).unwrap(), &mut text).unwrap();
        let expected = format!(
            "{HEAD}1:0:0:1.000000168\n2:0:0:1:8:7:1:2\n3:0:0:1:9:7:1:1\n3:0:0:1:10:7:1:1\n3:0:0:1:10:7:1:2\n\
             3:0:0:1:9:7:1:2\n\
             20:0:0:50000002:7\n20:0:0:50100001:8\n20:0:0:50100002:0\n20:0:0:50100003:1\n20:0:0:50100004:1\n\
             10:0:0:1:1:0:0:8:0\n20:0:0:50000002:0\n\
             20:0:0:50000002:12\n20:0:0:50100001:8\n20:0:0:50100002:8\n20:0:0:50100004:1\n\
             10:0:0:9:1:0:0:8:8\n20:0:0:50000002:0\n"
        );
        assert_eq!(std::str::from_utf8(&text).unwrap(), expected);
        let read_back = format!(
            "{head}{all}rank 0 9\nc 1000000168\ni 0 1 7 8 0\nj 1 1 7 9 0\nj 2 1 7 10 0\nw 2\nw 1\n\
             g bcast 0 0 8 0\ng alltoallv 0 -1 4,4 4,4\nw 0\nrank 1 0\nend\n"
        );
        let trace = read(text.as_slice()).unwrap();
        assert_eq!(trace, mpt::read(read_back.as_bytes()).unwrap());
        // A collective stands behind its first four or five events.
        let lines: Vec<_> = (0..8).map(|record| trace.ranks[0].line(record)).collect();
        assert_eq!(lines, [3, 4, 5, 6, 7, 8, 14, 20].map(Some));
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_again(trace in traces()) {
            let (mut text, mut again) = (Vec::new(), Vec::new());
            write(&trace, &mut text).unwrap();
            match read(text.as_slice()) {
                Ok(trace) => {
                    write(&trace, &mut again).unwrap();
                    prop_assert_eq!(String::from_utf8(text), String::from_utf8(again));
                }
                Err(error) => {
                    let reason = error.reason;
                    prop_assert!(reason.contains("how much goes to whom") || reason.contains("the bytes"), "{}", reason);
                }
            }
        }
    }
}
