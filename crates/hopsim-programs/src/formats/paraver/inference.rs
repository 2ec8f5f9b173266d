//! What a task of a trace calls, with its messages and requests.

use super::calls::{MpiCall, number};
use super::collectives::{OwnPart, Sides};
use crate::error::ProgramError;
use crate::record::{self, Collective, Rank, Record};
use crate::trace::{RecordRules, Tape};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// One side of a message.
#[derive(Clone, Copy, Debug)]
pub struct MessageSide {
    /// Rank at the other side.
    pub peer: Rank,
    /// Payload \[bytes\].
    pub bytes: u64,
    /// Tag of the message.
    pub tag: u32,
    /// When the call begins that sends the message or posts its receive \[ns\].
    pub logical: u64,
    /// When the call ends that receives the message or waits for it \[ns\].
    pub done: u64,
    /// The line that tells of the message.
    pub line: u64,
}

impl MessageSide {
    fn told(&self) -> record::Message {
        record::Message { peer: self.peer, tag: self.tag, bytes: self.bytes, communicator: 0 }
    }
}

/// A call from its beginning to its end \[ns\].
#[derive(Clone, Copy, Debug)]
struct Made {
    call: MpiCall,
    /// The type of its events.
    kind: u64,
    line: u64,
    enter: u64,
    exit: u64,
}

impl Made {
    /// Whether something that happens at this time belongs to the call; at its very end it does not, unless the call takes no time.
    fn covers(&self, time: u64) -> bool {
        time == self.enter || (self.enter..self.exit).contains(&time)
    }
}

/// A task as its records are read.
#[derive(Debug, Default)]
pub struct TaskRecords {
    calls: Vec<Made>,
    /// Whether the last call has not ended.
    is_open: bool,
    /// The first and the last time at which the task is known to run \[ns\].
    running: Option<(u64, u64)>,
    /// Messages that the task sends.
    pub sends: Vec<MessageSide>,
    /// Messages that the task receives.
    pub receives: Vec<MessageSide>,
    /// What collective operations bring along, in the order of their calls.
    pub operations: Vec<OwnPart>,
}

impl TaskRecords {
    /// The task runs in this time.
    pub fn runs(&mut self, begin: u64, end: u64) {
        let (first, last) = self.running.unwrap_or((begin, end));
        self.running = Some((first.min(begin), last.max(end)));
    }

    /// A call begins.
    pub fn enter(&mut self, call: MpiCall, kind: u64, (line, time): (u64, u64)) -> Result<(), ProgramError> {
        if self.is_open {
            let last = self.calls.last().map_or(0, |last| last.line);
            return Err(ProgramError::new(format!(
                "a call of MPI begins while that of line {last} goes on; expected its end, an event with its type and value 0"
            )));
        }
        self.is_after_the_last(time)?;
        if let MpiCall::Collective(kind) | MpiCall::Begin(kind) = call {
            self.operations.push(OwnPart::new(kind, line));
        }
        self.calls.push(Made { call, kind, line, enter: time, exit: time });
        self.is_open = true;
        Ok(())
    }

    /// A call ends; one that began before the trace did is left out.
    pub fn leave(&mut self, kind: u64, time: u64) -> Result<(), ProgramError> {
        self.is_after_the_last(time)?;
        let Some(last) = self.calls.last_mut().filter(|_| self.is_open) else { return Ok(()) };
        if last.kind != kind {
            return Err(ProgramError::new(format!(
                "a call of type {kind} ends while that of line {} goes on; expected the end of type {}",
                last.line, last.kind
            )));
        }
        last.exit = time;
        self.is_open = false;
        Ok(())
    }

    fn is_after_the_last(&self, time: u64) -> Result<(), ProgramError> {
        let last = self.calls.last().map_or(0, |last| last.exit);
        if time >= last {
            return Ok(());
        }
        Err(ProgramError::new(format!(
            "the event is at {time} ns, before the one that stands above; expected {last} ns or later"
        )))
    }

    /// What stands beside the beginning of a collective operation at this time.
    pub fn sides(&mut self, sides: Sides, time: u64) {
        let begins = self.calls.last().is_some_and(|last| {
            last.enter == time && matches!(last.call, MpiCall::Collective(_) | MpiCall::Begin(_))
        });
        if let Some(operation) = self.operations.last_mut().filter(|_| begins && self.is_open) {
            operation.sides.add(sides);
        }
    }

    /// The records of the task are over; communicators have these numbers in the program.
    pub fn end(&mut self, numbers: &FxHashMap<u64, u32>) -> Result<(), ProgramError> {
        if let Some(last) = self.calls.last().filter(|_| self.is_open) {
            let kind = last.kind;
            return Err(ProgramError::new(format!(
                "the call never ends; expected an event with type {kind} and value 0"
            ))
            .line(last.line));
        }
        self.sends.sort_by_key(|message| message.logical);
        self.receives.sort_by_key(|message| message.logical);
        let mut counts = FxHashMap::default();
        for operation in &mut self.operations {
            operation.communicator = match operation.sides.communicator {
                None => 0,
                Some(number) => *numbers.get(&number).ok_or_else(|| {
                    ProgramError::new(format!(
                        "there is no communicator {number}; expected one of a line `c:…`"
                    ))
                    .line(operation.line)
                })?,
            };
            let count = counts.entry(operation.communicator).or_insert(0);
            operation.number = *count;
            *count += 1;
        }
        Ok(())
    }

    /// What the task calls, as records.
    pub fn tape(
        self,
        rules: &mut RecordRules,
        collective: &dyn Fn(&OwnPart) -> Collective,
    ) -> Result<Tape, ProgramError> {
        let mut taping = Taping::new(rules);
        let mut operations = self.operations.iter().map(collective);
        let (mut sends, mut posts) = (VecDeque::from(self.sends), VecDeque::from(self.receives));
        let begin = self.running.map_or(u64::MAX, |(begin, _)| begin);
        let mut at = self.calls.first().map_or(begin, |first| first.enter.min(begin));
        for made in &self.calls {
            taping.line = made.line;
            taping.compute(made.enter - at)?;
            at = made.exit;
            let most = |calls: &[MpiCall]| match made.call {
                MpiCall::Start => usize::MAX,
                call => usize::from(calls.contains(&call)),
            };
            let sent = take(&mut sends, made, most(&[MpiCall::Send, MpiCall::Isend, MpiCall::Sendrecv]));
            let received =
                take(&mut posts, made, most(&[MpiCall::Receive, MpiCall::Ireceive, MpiCall::Sendrecv]));
            let sent = sent.map_err(|message| stray(&message, MpiCall::Send))?;
            let received = received.map_err(|message| stray(&message, MpiCall::Receive))?;
            match made.call {
                MpiCall::Collective(_) => taping.push(operations.next().map(Record::Collective))?,
                MpiCall::Begin(_) => taping.begin(operations.next())?,
                _ => taping.call(made, &sent, &received)?,
            }
        }
        if let Some(message) = sends.front() {
            return Err(stray(message, MpiCall::Send));
        }
        if let Some(message) = posts.front() {
            return Err(stray(message, MpiCall::Receive));
        }
        taping.compute(self.running.map_or(0, |(_, end)| end.saturating_sub(at)))?;
        taping.end()
    }
}

/// Takes the messages that belong to a call, at most so many; a message of which the time is past belongs to none.
fn take(
    messages: &mut VecDeque<MessageSide>,
    made: &Made,
    most: usize,
) -> Result<SmallVec<[MessageSide; 1]>, MessageSide> {
    let mut taken = SmallVec::new();
    while let Some(&message) = messages.front() {
        if message.logical < made.enter {
            return Err(message);
        }
        if taken.len() == most || !made.covers(message.logical) {
            break;
        }
        taken.push(message);
        messages.pop_front();
    }
    Ok(taken)
}

/// A message that belongs to no call of its kind, sends or receives.
fn stray(message: &MessageSide, call: MpiCall) -> ProgramError {
    let (time, (kind, value)) = (message.logical, number(call));
    let (is, does, noun) = match call {
        MpiCall::Send => ("sent", "sends", "a send"),
        _ => ("to be received", "receives", "a receive"),
    };
    ProgramError::new(format!(
        "the message is {is} at {time} ns, and no call of the task {does} then; expected an event with type {kind} \
         that begins such a call at this time, as value {value} for {noun}"
    ))
    .line(message.line)
}

/// A tape that is written, with the requests that are open.
struct Taping<'r> {
    rules: &'r mut RecordRules,
    tape: Tape,
    /// The line of the current call.
    line: u64,
    /// Receives that are posted and not waited for: when they are done, and their requests.
    posted: Vec<(u64, u32)>,
    /// Requests of sends and collective operations.
    begun: VecDeque<u32>,
    /// Request numbers that are free again.
    free: Vec<u32>,
    /// The next new request number.
    next: u32,
}

impl<'r> Taping<'r> {
    fn new(rules: &'r mut RecordRules) -> Self {
        Self {
            rules,
            tape: Tape::default(),
            line: 0,
            posted: Vec::new(),
            begun: VecDeque::new(),
            free: Vec::new(),
            next: 0,
        }
    }

    fn push(&mut self, record: Option<Record>) -> Result<(), ProgramError> {
        let Some(record) = record else { return Ok(()) };
        self.rules.check_record(&record, Some(self.line))?;
        self.tape.push_at(self.line, &record);
        Ok(())
    }

    fn compute(&mut self, nanoseconds: u64) -> Result<(), ProgramError> {
        self.push((nanoseconds > 0).then_some(Record::Compute { nanoseconds }))
    }

    fn request(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    fn begin(&mut self, collective: Option<Collective>) -> Result<(), ProgramError> {
        let Some(collective) = collective else { return Ok(()) };
        let request = self.request();
        self.begun.push_back(request);
        self.push(Some(Record::Begin { collective: Box::new(collective), request }))
    }

    /// A call with what it sends and receives.
    fn call(
        &mut self,
        made: &Made,
        sent: &[MessageSide],
        received: &[MessageSide],
    ) -> Result<(), ProgramError> {
        match made.call {
            MpiCall::Send => sent.iter().try_for_each(|message| self.send(message, None)),
            MpiCall::Receive => received.iter().try_for_each(|message| self.receive(message, None)),
            MpiCall::Sendrecv => {
                let request = self.request();
                received.iter().try_for_each(|message| self.receive(message, Some(request)))?;
                sent.iter().try_for_each(|message| self.send(message, None))?;
                let requests = received.iter().map(|_| request).collect();
                self.free.push(request);
                self.wait(requests)
            }
            MpiCall::Isend | MpiCall::Ireceive | MpiCall::Start => {
                for message in received {
                    let request = self.request();
                    self.posted.push((message.done, request));
                    self.receive(message, Some(request))?;
                }
                for message in sent {
                    let request = self.request();
                    self.begun.push_back(request);
                    self.send(message, Some(request))?;
                }
                Ok(())
            }
            MpiCall::Wait | MpiCall::WaitSome | MpiCall::WaitAll | MpiCall::Test => {
                let requests = self.completed(made);
                self.free.extend(&requests);
                self.wait(requests)
            }
            MpiCall::Collective(_) | MpiCall::Begin(_) | MpiCall::End | MpiCall::Other => Ok(()),
        }
    }

    fn send(&mut self, message: &MessageSide, request: Option<u32>) -> Result<(), ProgramError> {
        self.push(Some(Record::Send { message: message.told(), request }))
    }

    fn receive(&mut self, message: &MessageSide, request: Option<u32>) -> Result<(), ProgramError> {
        self.push(Some(Record::Receive { message: message.told(), any_source: false, request }))
    }

    fn wait(&mut self, requests: SmallVec<[u32; 4]>) -> Result<(), ProgramError> {
        self.push((!requests.is_empty()).then_some(Record::Wait { requests }))
    }

    /// The requests that a call completes.
    fn completed(&mut self, made: &Made) -> SmallVec<[u32; 4]> {
        let now = made.enter..=made.exit;
        if made.call == MpiCall::Wait {
            let mut place = self.posted.iter().position(|(done, _)| now.contains(done));
            if place.is_none() && self.begun.is_empty() {
                place = self.posted.iter().position(|&(done, _)| done < made.enter);
            }
            let received = place.map(|place| self.posted.remove(place).1);
            return received.or_else(|| self.begun.pop_front()).into_iter().collect();
        }
        let is_all = made.call == MpiCall::WaitAll;
        let is_done = |done: u64| now.contains(&done) || (is_all && done < made.enter);
        let mut requests = SmallVec::new();
        self.posted.retain(|&(done, request)| {
            if is_done(done) {
                requests.push(request);
            }
            !is_done(done)
        });
        if is_all || (made.call == MpiCall::WaitSome && requests.is_empty()) {
            requests.extend(self.begun.drain(..));
        }
        requests
    }

    /// The task is over: what is open is waited for.
    fn end(mut self) -> Result<Tape, ProgramError> {
        let posted = self.posted.drain(..).map(|(_, request)| request);
        let requests = posted.chain(self.begun.drain(..)).collect();
        self.wait(requests)?;
        self.rules.end_rank()?;
        self.tape.shrink();
        Ok(self.tape)
    }
}
