//! Traces for Paraver (Barcelona Supercomputing Center), as Extrae writes them of MPI programs: a header, then records by time, of
//! all tasks mixed; fields are separated by colons, and tasks count from 1.
//!
//! ```text
//! #Paraver (dd/mm/yyyy at hh:mm):END_ns:NODES(cpus,…):1:TASKS(threads:node,…),communicators
//!                                                   END without _ns: all times are in microseconds
//! c:1:communicator:size:task:…                      one with all tasks in order, or none
//! 1:cpu:1:task:thread:begin:end:state               1 running, others are not read
//! 2:cpu:1:task:thread:time:type:value[:type:value]… call of MPI begins, with its number as value, or ends, with 0: types
//!     50000001 point to point, 50000002 collective, 50000003 others, 50000004 one-sided, 50000005 files; other types are not
//!     read but for those of a collective operation, in the record in which it begins or behind it at the same time: 50100001
//!     bytes sent, 50100002 bytes received, 50100003 1 at its root, 50100004 communicator
//! 3:cpu:1:task:thread:logical:physical:cpu:1:task:thread:logical:physical:bytes:tag
//!     message: who sends it, when the call that sends it begins, when it leaves; who receives it, when the call that posts its
//!     receive begins, when the call that receives it or waits for it ends; bytes and tag
//! i:…                                               communicator between two others; not read
//! ```
//!
//! Sources: *Paraver, Trace file description* (BSC, 2001), and the manual of Extrae; numbers of types and calls as its versions up to 5
//! write them.
//!
//! What such a file does not say, and what is taken instead:
//! - Which request a wait is for. A wait completes the receives that are physically done while it lasts; `Wait` and `Waitany` one,
//!   `Waitall` also every send, collective operation and receive that is open, `Waitsome`, if it completes no receive, every open send. A
//!   `Wait` in whose time no receive is done is for the oldest open send (or collective operation), or else for the oldest open
//!   receive that was done before. `Test` counts as a wait only for receives that are done while it lasts. What is still open at
//!   the end of a task is waited for there.
//! - The communicator of a message: it is that of all tasks. Sends and receives of two tasks with one tag pair in their order.
//! - That a receive was posted for any source.
//! - Calls without a message, as to `MPI_PROC_NULL` or whose other side is not in the file: they are left out.
//! - The root of a collective operation, but at the root itself: members' calls of a communicator belong together by their order.
//! - Who sends how much to whom. Of gather, scatter, allgather (and their forms with v) and `reduce_scatter` all members get the same,
//!   the mean of what they state, rounded up; of alltoallv the pair of members i and j gets `sent(i) · received(j) / all received`,
//!   rounded down.
//! - What goes on outside of MPI: a task computes from the end of a call to the beginning of the next one, first from its first record
//!   on, and last to the end of its last running state. What calls took is not read, as the simulation says it anew.
//!
//! `Sendrecv` is a posted receive, a send and a wait. Only thread 1 of a task may call MPI. One-sided communication is refused, as
//! are several applications.

mod calls;
mod collectives;
mod inference;
mod timeline;
mod write;

#[cfg(test)]
mod tests;

pub use timeline::spans;
pub use write::{Span, labels, names, write};

use super::text::{self, Colons, Lines, quoted, split};
use crate::error::ProgramError;
use crate::record::Rank;
use crate::trace::{RecordRules, Trace};
use calls::MpiCall;
use collectives::{OwnPart, Sides};
use inference::{MessageSide, TaskRecords};
use rustc_hash::FxHashMap;
use std::io::BufRead;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// How a file begins.
pub const BEGINNING: &[u8] = b"#Paraver ";

const HEADER: &str = "`#Paraver (date at time):END_ns:NODES(cpus,…):1:TASKS(threads:node,…)`";

const ANY: RangeInclusive<u64> = 0..=u64::MAX;

/// Reads a trace.
pub fn read(reader: impl BufRead) -> Result<Trace, ProgramError> {
    let mut lines = Lines::new(reader);
    lines.advance_within(1 << 28)?;
    let header = header(lines.text()).map_err(|error| error.line(1))?;
    let mut file = File::new(header);
    while lines.advance_to_text()? {
        file.line(lines.text(), lines.number).map_err(|error| error.line(lines.number))?;
    }
    file.trace()
}

/// What the first line says.
#[derive(Clone, Copy)]
struct Header {
    tasks: u32,
    /// Nanoseconds of a unit of time.
    unit: u64,
}

fn header(line: &[u8]) -> Result<Header, ProgramError> {
    let wrong = || ProgramError::new(format!("expected {HEADER} as first line, got {}", quoted(line)));
    let rest = line.strip_prefix(BEGINNING).ok_or_else(wrong)?;
    // The date has colons of its own.
    let (_, rest) = split(rest, b')').ok_or_else(wrong)?;
    let rest = rest.strip_prefix(b":").ok_or_else(wrong)?;
    let (end, rest) = split(rest, b':').ok_or_else(wrong)?;
    let (_, rest) = split(rest, b':').ok_or_else(wrong)?;
    let (applications, rest) = split(rest, b':').ok_or_else(wrong)?;
    let (tasks, _) = split(rest, b'(').ok_or_else(wrong)?;
    let (end, unit) = match split(end, b'_') {
        None | Some((_, b"us")) => (split(end, b'_').map_or(end, |(end, _)| end), 1000),
        Some((end, b"ns")) => (end, 1),
        Some((_, unit)) => {
            let got = quoted(unit);
            return Err(ProgramError::new(format!(
                "expected ns or us, or nothing, as unit of times, got {got}"
            )));
        }
    };
    text::number(end, "the end of the trace", ANY)?;
    text::number(applications, "the number of applications, of which one can be run", 1..=1)?;
    let tasks = text::number(tasks, "the number of tasks", 1..=u32::MAX.into())? as u32;
    // Every task is named, so that the number cannot be larger than the file.
    let named = rest.split(|&byte| byte == b')').next().unwrap_or_default();
    let named = named.split(|&byte| byte == b':').count() - 1;
    if named != tasks as usize {
        return Err(ProgramError::new(format!(
            "expected threads and node of each of {tasks} tasks, `({tasks} times threads:node)`, got {named}"
        )));
    }
    Ok(Header { tasks, unit })
}

/// A file as far as it has been read.
struct File {
    unit: u64,
    tasks: Vec<TaskRecords>,
    /// The members of the communicators, by their number in the file.
    communicators: Vec<(u64, Arc<[Rank]>)>,
}

impl File {
    fn new(header: Header) -> Self {
        let tasks = (0..header.tasks).map(|_| TaskRecords::default()).collect();
        Self { unit: header.unit, tasks, communicators: Vec::new() }
    }

    fn line(&mut self, line: &[u8], number: u64) -> Result<(), ProgramError> {
        let mut fields = Colons::of(line);
        match fields.next().unwrap_or_default() {
            b"1" => self.state(fields),
            b"2" => self.events(fields, number),
            b"3" => self.communication(fields, number),
            b"c" => self.communicator(fields),
            b"i" => Ok(()),
            kind => Err(ProgramError::new(format!(
                "expected a record 1 state, 2 event, 3 communication or c communicator, got {}",
                quoted(kind)
            ))),
        }
    }

    /// The task of a record and its thread, behind the field of the processor.
    fn place(&self, fields: &mut Colons<'_>) -> Result<(usize, u64), ProgramError> {
        fields.number("a processor", ANY)?;
        fields.number("the only application", 1..=1)?;
        let task = fields.number("a task", 1..=self.tasks.len() as u64)?;
        Ok((task as usize - 1, fields.number("a thread", 1..=u32::MAX.into())?))
    }

    fn time(&self, fields: &mut Colons<'_>, what: &str) -> Result<u64, ProgramError> {
        let most = u64::MAX / self.unit;
        Ok(fields.number(what, 0..=most)? * self.unit)
    }

    fn state(&mut self, mut fields: Colons<'_>) -> Result<(), ProgramError> {
        let (task, thread) = self.place(&mut fields)?;
        let begin = self.time(&mut fields, "the time at which the state begins")?;
        let end = self.time(&mut fields, "the time at which the state ends")?;
        let state = fields.number("a state", ANY)?;
        fields.end()?;
        if end < begin {
            return Err(ProgramError::new(format!(
                "the state ends at {end} ns, before it begins; expected a time from {begin} ns on"
            )));
        }
        if thread == 1 && state == calls::RUNNING {
            self.tasks[task].runs(begin, end);
        }
        Ok(())
    }

    fn events(&mut self, mut fields: Colons<'_>, line: u64) -> Result<(), ProgramError> {
        let (task, thread) = self.place(&mut fields)?;
        let time = self.time(&mut fields, "a time")?;
        let mut sides = Sides::default();
        let mut is_first = true;
        while is_first || !fields.is_over() {
            is_first = false;
            let (kind, value) = (fields.number("a type", ANY)?, fields.number("a value", ANY)?);
            if sides.hear(kind, value) {
                continue;
            }
            let Some(call) = calls::call(kind, value)? else { continue };
            if thread != 1 {
                return Err(ProgramError::new(format!(
                    "thread {thread} calls MPI; expected calls of thread 1 of a task only"
                )));
            }
            match call {
                MpiCall::End => self.tasks[task].leave(kind, time)?,
                call => self.tasks[task].enter(call, kind, (line, time))?,
            }
        }
        if thread == 1 {
            self.tasks[task].sides(sides, time);
        }
        Ok(())
    }

    fn communication(&mut self, mut fields: Colons<'_>, line: u64) -> Result<(), ProgramError> {
        let mut side = || {
            let (task, _) = self.place(&mut fields)?;
            let logical = self.time(&mut fields, "the logical time of one side")?;
            Ok((task, logical, self.time(&mut fields, "the physical time of one side")?))
        };
        let (source, sent, _) = side()?;
        let (destination, posted, received) = side()?;
        let bytes = fields.number("bytes", ANY)?;
        let tag = fields.number("a tag", 0..=u32::MAX.into())? as u32;
        fields.end()?;
        let message =
            |peer: usize, logical, done| MessageSide { peer: peer as Rank, bytes, tag, logical, done, line };
        self.tasks[source].sends.push(message(destination, sent, sent));
        self.tasks[destination].receives.push(message(source, posted, received));
        Ok(())
    }

    fn communicator(&mut self, mut fields: Colons<'_>) -> Result<(), ProgramError> {
        fields.number("the only application", 1..=1)?;
        let number = fields.number("the number of a communicator", ANY)?;
        let tasks = self.tasks.len() as u64;
        let size = fields.number("the number of members", 1..=tasks)?;
        let members = (0..size).map(|_| Ok(fields.number("a member", 1..=tasks)? as Rank - 1));
        let members = members.collect::<Result<_, _>>()?;
        fields.end()?;
        self.communicators.push((number, members));
        Ok(())
    }

    /// The program, when all has been read.
    fn trace(mut self) -> Result<Trace, ProgramError> {
        let ranks = self.tasks.len() as u32;
        let (communicators, numbers) = numbered(std::mem::take(&mut self.communicators), ranks);
        let mut rules = RecordRules::new(ranks, &communicators)?;
        for (task, rank) in self.tasks.iter_mut().zip(0..) {
            task.end(&numbers).map_err(|error| error.rank(rank))?;
        }
        let operations = collectives::JointOperations::of(&self.tasks, &communicators)?;
        let mut tapes = Vec::new();
        for (task, rank) in self.tasks.into_iter().zip(0..) {
            rules.begin_rank(rank);
            let collective = |operation: &OwnPart| operations.collective(operation, rank);
            tapes.push(task.tape(&mut rules, &collective).map_err(|error| error.rank(rank))?);
        }
        Ok(Trace { name: "paraver".into(), communicators, ranks: tapes, ..Trace::default() })
    }
}

/// The communicators of the program, whose first one has all ranks in order, and their numbers there by those in the file.
fn numbered(listed: Vec<(u64, Arc<[Rank]>)>, ranks: u32) -> (Vec<Arc<[Rank]>>, FxHashMap<u64, u32>) {
    let all: Arc<[Rank]> = (0..ranks).collect();
    let mut communicators = vec![Arc::clone(&all)];
    let mut numbers = FxHashMap::default();
    for (number, members) in listed {
        if members == all {
            numbers.insert(number, 0);
        } else {
            numbers.insert(number, communicators.len() as u32);
            communicators.push(members);
        }
    }
    (communicators, numbers)
}
