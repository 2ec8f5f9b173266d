//! What a host has to execute operations with: streams that take time, the tables of messages and receives, and the queue of
//! messages for the network. It knows nothing of what waits for an operation.

use crate::host::letter::{Cycle, Figures, Letter, Outgoing, Purpose};
use crate::host::log::{Activity, Interval, Log, Stage};
use crate::host::matching::{Announced, Envelope, Matching, Pattern};
use crate::host::rules::{Rules, SendCompletes};
use crate::host::serial;
use crate::record::Rank;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

/// What a program calls an operation by.
pub type Owner = u32;

/// A message that an operation sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sending {
    /// The rank that the message goes to.
    pub to: Rank,
    /// The tag of the message, see [`Envelope`].
    pub tag: u32,
    /// The communicator of the message, see [`Envelope`].
    pub communicator: u32,
    /// Payload \[bytes\].
    pub bytes: u64,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// Takes its stream for so many cycles.
    Compute(Cycle),
    /// Takes its stream for so many cycles to wait for the link: not computation but overhead.
    Hold(Cycle),
    /// Sends a message.
    Send(Sending),
    /// Receives a message.
    Receive(Pattern),
}

/// Which operation it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// The place of the operation in program order.
    pub index: u32,
    /// What the program calls the operation by.
    pub owner: Owner,
    /// Where the program has the operation from: a number of its own.
    pub record: u32,
    /// The stream that the operation needs.
    pub stream: u8,
}

/// An operation that is ready and not done.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ReadyOperation {
    /// Which operation it is.
    pub label: Label,
    /// What the operation does.
    pub work: Work,
    /// Whether the message of the operation has been issued.
    pub issued: bool,
    /// Number of the operation's message at the sender.
    pub number: u32,
    /// When the operation's message joined the queue.
    pub joined: Cycle,
}

/// A stream, which does one thing at a time.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Stream {
    is_busy: bool,
    /// What waits for the stream: when it became ready, its place in program order, the operation.
    ready: VecDeque<(Cycle, u32, u32)>,
}

impl Stream {
    /// Adds an entry to those sorted by time and then by index. Time goes on, so that the place is near the end.
    #[inline]
    fn add(&mut self, entry: (Cycle, u32, u32)) {
        let mut at = self.ready.len();
        while at > 0 && self.ready[at - 1] > entry {
            at -= 1;
        }
        self.ready.insert(at, entry);
    }
}

/// States that an operation has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// What the program calls the operation by.
    pub owner: Owner,
    /// Whether the operation has started now.
    pub started: bool,
    /// Whether the operation is done now.
    pub done: bool,
}

/// The machinery of one rank.
#[derive(Clone, Serialize, Deserialize)]
pub struct Machine {
    /// The rank -- constant.
    #[serde(skip)]
    pub rank: Rank,
    /// The rules of the rank's job -- constant.
    #[serde(skip)]
    pub rules: Arc<Rules>,
    /// What the rank has counted.
    pub figures: Figures,
    /// What the rank has written down.
    pub log: Log,
    /// Messages for the network, in order.
    pub queue: VecDeque<Outgoing>,
    /// Messages and receives.
    pub matching: Matching,
    operations: Vec<Option<ReadyOperation>>,
    free: Vec<u32>,
    open: u32,
    streams: Vec<Stream>,
    /// Ends of computations and overheads, and messages that leave: when, place in program order, operation.
    #[serde(serialize_with = "serial::heap")]
    timers: BinaryHeap<Reverse<(Cycle, u32, u32)>>,
    serial: u32,
    /// A message that has been issued in this moment.
    issued: Option<(u32, Sending)>,
}

impl Machine {
    /// An idle machine with so many streams; `open` if receives may fit several envelopes.
    pub fn new(rank: Rank, rules: Arc<Rules>, streams: usize, open: bool) -> Self {
        Self {
            rank,
            rules,
            figures: Figures::default(),
            log: Log::default(),
            queue: VecDeque::new(),
            matching: Matching::new(open),
            operations: Vec::new(),
            free: Vec::new(),
            open: 0,
            streams: (0..streams.max(1)).map(|_| Stream::default()).collect(),
            timers: BinaryHeap::new(),
            serial: 0,
            issued: None,
        }
    }

    /// Goes on with the state of a machine that had begun.
    pub fn load(&mut self, state: Self) {
        *self = Self { rank: self.rank, rules: Arc::clone(&self.rules), ..state };
    }

    /// From now on there is a stream of this number.
    pub fn need_streams(&mut self, last: u8) {
        let count = self.streams.len().max(usize::from(last) + 1);
        self.streams.resize_with(count, Stream::default);
    }

    /// Whether a stream has nothing to do.
    pub fn is_idle(&self, stream: u8) -> bool {
        let stream = &self.streams[usize::from(stream)];
        !stream.is_busy && stream.ready.is_empty()
    }

    /// Whether a stream does something that takes time.
    pub fn is_busy(&self, stream: u8) -> bool {
        self.streams[usize::from(stream)].is_busy
    }

    /// Operations that are not done.
    pub fn open(&self) -> u32 {
        self.open
    }

    /// Operations that are not done, in program order.
    pub fn operations(&self) -> Vec<ReadyOperation> {
        let mut all: Vec<ReadyOperation> = self.operations.iter().flatten().copied().collect();
        all.sort_by_key(|operation| operation.label.index);
        all
    }

    /// The first in program order of the operations that are not done and whose owner is asked for.
    pub fn first(&self, is_asked_for: impl Fn(Owner) -> bool) -> Option<ReadyOperation> {
        let open = self.operations.iter().flatten().filter(|operation| is_asked_for(operation.label.owner));
        open.min_by_key(|operation| operation.label.index).copied()
    }

    /// When the next computation or overhead ends or a message leaves; never if there is none.
    #[inline]
    pub fn next_timer(&self) -> Cycle {
        self.timers.peek().map_or(Cycle::MAX, |Reverse((at, ..))| *at)
    }

    /// An operation is ready at cycle `now`. If it is a receive it has started with that.
    pub fn begin(&mut self, now: Cycle, label: Label, work: Work) {
        self.open += 1;
        let operation = ReadyOperation { label, work, issued: false, number: 0, joined: 0 };
        let id = self.insert(operation);
        let Work::Receive(pattern) = work else {
            self.streams[label.stream as usize].add((now, label.index, id));
            return;
        };
        if let Some((envelope, message)) = self.matching.post(pattern, id) {
            self.take(now, id, envelope.source, message);
        }
    }

    fn insert(&mut self, operation: ReadyOperation) -> u32 {
        if let Some(id) = self.free.pop() {
            self.operations[id as usize] = Some(operation);
            id
        } else {
            self.operations.push(Some(operation));
            self.operations.len() as u32 - 1
        }
    }

    /// A receive takes a message: it is there, or the sender is asked for it.
    fn take(&mut self, now: Cycle, receive: u32, source: Rank, message: Announced) {
        if source != self.rank {
            self.note((source, message.number), Stage::Matched, now);
        }
        let Some(sender) = message.sender else { return self.is_there(now, receive) };
        let number = self.next_number();
        let purpose = Purpose::Clear { sender, receiver: receive };
        let letter = self.letter(source, number, purpose, now);
        self.queue.push_back(Outgoing { letter, queued: now, sender: None });
    }

    /// Something becomes of a message to or from another rank.
    #[inline]
    fn note(&mut self, message: (Rank, u32), stage: Stage, at: Cycle) {
        if let Some(messages) = &mut self.log.messages {
            messages.note(message, stage, at);
        }
    }

    fn letter(&self, destination: Rank, number: u32, purpose: Purpose, joined: Cycle) -> Letter {
        Letter { source: self.rank, destination, number, purpose, tag: 0, communicator: 0, bytes: 0, joined }
    }

    fn next_number(&mut self) -> u32 {
        self.serial += 1;
        self.serial - 1
    }

    /// The message of a receive is there, which now needs its stream.
    #[inline]
    fn is_there(&mut self, now: Cycle, receive: u32) {
        if let Some(operation) = self.operations[receive as usize] {
            let Label { index, stream, .. } = operation.label;
            self.streams[stream as usize].add((now, index, receive));
        }
    }

    /// A message is for the receiver to know; its last phit was at the node in cycle `there`.
    pub fn deliver(&mut self, now: Cycle, letter: &Letter, there: Cycle) {
        let message = (letter.source, letter.number);
        if letter.has_payload() {
            self.note(message, Stage::Arrived, there);
        }
        if letter.is_announced() {
            self.note(message, Stage::Announced, now);
        }
        match letter.purpose {
            Purpose::Eager => {
                self.count_received(there, letter);
                self.announce(now, letter, None);
            }
            Purpose::Request { sender } => self.announce(now, letter, Some(sender)),
            Purpose::Clear { sender, receiver } => self.send_data(now, letter.source, (sender, receiver)),
            Purpose::Data { receiver } => {
                self.count_received(there, letter);
                self.is_there(now, receiver);
            }
        }
    }

    fn announce(&mut self, now: Cycle, letter: &Letter, sender: Option<u32>) {
        let Letter { source, tag, communicator, number, bytes, joined, .. } = *letter;
        let message = Announced { number, sender, bytes, joined };
        if let Some(receive) = self.matching.announce(Envelope { source, tag, communicator }, message) {
            self.take(now, receive, source, message);
        }
    }

    fn send_data(&mut self, now: Cycle, to: Rank, (sender, receiver): (u32, u32)) {
        let Some(operation) = self.operations[sender as usize] else { return };
        let Work::Send(sending) = operation.work else { return };
        let letter = self.letter(to, operation.number, Purpose::Data { receiver }, operation.joined);
        let letter = Letter { bytes: sending.bytes, ..letter };
        self.queue.push_back(Outgoing { letter, queued: now, sender: Some(sender) });
    }

    /// A message for the rank, whose payload it carries, was there in cycle `there`.
    pub fn count_received(&mut self, there: Cycle, letter: &Letter) {
        self.figures.messages_received += 1;
        self.figures.bytes_received = self.figures.bytes_received.saturating_add(letter.bytes);
        let latency = u64::from(there - letter.joined);
        self.figures.latency_sum += latency;
        self.figures.latency_max = self.figures.latency_max.max(latency);
    }

    /// The last phit of a message, whose sender's operation is meant, will have left the node at cycle `at`.
    pub fn will_leave(&mut self, sender: u32, at: Cycle) {
        if let Some(operation) = &self.operations[sender as usize] {
            self.timers.push(Reverse((at, operation.label.index, sender)));
        }
    }

    /// Something that ends by cycle `now`, the first in program order of those that end first.
    #[inline]
    pub fn expire(&mut self, now: Cycle) -> Option<Reached> {
        if let Some(reached) = self.join_queue(now) {
            return Some(reached);
        }
        let &Reverse((at, _, id)) = self.timers.peek()?;
        if at > now {
            return None;
        }
        self.timers.pop();
        let operation = self.operations[id as usize]?;
        let Label { owner, stream, .. } = operation.label;
        if let Work::Send(sending) = operation.work
            && !operation.issued
        {
            self.streams[stream as usize].is_busy = false;
            return self.issue(id, sending);
        }
        if !operation.issued {
            self.streams[stream as usize].is_busy = false;
        }
        self.remove(id);
        Some(Reached { owner, started: false, done: true })
    }

    /// The streams that are idle take up what has waited longest. Returns what has come of the first one that could; none if
    /// none can go on.
    #[inline]
    pub fn take_up(&mut self, now: Cycle) -> Option<Reached> {
        if let Some(reached) = self.join_queue(now) {
            return Some(reached);
        }
        for stream in 0..self.streams.len() {
            while !self.streams[stream].is_busy
                && let Some((_, _, id)) = self.streams[stream].ready.pop_front()
            {
                if let Some(reached) = self.run(now, id) {
                    return Some(reached);
                }
            }
        }
        None
    }

    /// A stream takes up an operation.
    fn run(&mut self, now: Cycle, id: u32) -> Option<Reached> {
        let ReadyOperation { label, work, .. } = self.operations[id as usize]?;
        let (time, activity) = match work {
            Work::Compute(time) => (time, Activity::Compute),
            Work::Hold(time) => (time, Activity::SendOverhead),
            Work::Send(_) => (self.rules.send_overhead, Activity::SendOverhead),
            Work::Receive(_) => (self.rules.receive_overhead, Activity::ReceiveOverhead),
        };
        let is_compute = activity == Activity::Compute;
        if label.stream == 0 {
            let sum = if is_compute { &mut self.figures.compute } else { &mut self.figures.overhead };
            *sum += u64::from(time);
        }
        if time > 0 {
            // What takes longer than any run ends in the last cycle, which no run reaches: its rank is not stuck.
            let end = now.saturating_add(time).min(Cycle::MAX - 1);
            self.streams[label.stream as usize].is_busy = true;
            self.timers.push(Reverse((end, label.index, id)));
            if let Some(intervals) = &mut self.log.intervals {
                let Label { stream, record, .. } = label;
                intervals.works(Interval { stream, activity, record, begin: now, end });
            }
            return is_compute.then_some(Reached { owner: label.owner, started: true, done: false });
        }
        if let Work::Send(sending) = work {
            return self.issue(id, sending);
        }
        self.remove(id);
        Some(Reached { owner: label.owner, started: is_compute, done: true })
    }

    /// A message is issued. It joins the queue after all that follows from that at once: see [`Self::join_queue`].
    fn issue(&mut self, id: u32, sending: Sending) -> Option<Reached> {
        let operation = self.operations[id as usize].as_mut()?;
        operation.issued = true;
        self.issued = Some((id, sending));
        Some(Reached { owner: operation.label.owner, started: true, done: false })
    }

    /// The message that has been issued joins the queue, or is announced at once if the rank sends it to itself.
    fn join_queue(&mut self, now: Cycle) -> Option<Reached> {
        let (id, sending) = self.issued.take()?;
        let number = self.next_number();
        let operation = self.operations[id as usize].as_mut()?;
        (operation.joined, operation.number) = (now, number);
        let owner = operation.label.owner;
        let Sending { to, tag, communicator, bytes } = sending;
        let (is_own, is_eager) = (to == self.rank, self.rules.is_eager(bytes));
        let purpose = if is_own || is_eager { Purpose::Eager } else { Purpose::Request { sender: id } };
        let letter = Letter { tag, communicator, bytes, ..self.letter(to, number, purpose, now) };
        if is_own {
            self.announce(now, &letter, None);
        } else {
            let injected = is_eager && self.rules.send_completes == SendCompletes::Injected;
            self.enqueue(letter, injected.then_some(id));
        }
        let is_done = is_own || (is_eager && self.rules.send_completes == SendCompletes::Buffered);
        is_done.then(|| {
            self.remove(id);
            Reached { owner, started: false, done: true }
        })
    }

    /// A message to another rank, which no operation sends, joins the queue in cycle `now`.
    pub fn post(&mut self, now: Cycle, message: Sending) {
        let Sending { to, tag, communicator, bytes } = message;
        let number = self.next_number();
        let letter = self.letter(to, number, Purpose::Eager, now);
        self.enqueue(Letter { tag, communicator, bytes, ..letter }, None);
    }

    /// A message to another rank joins the queue; `sender` is done when its last phit has left.
    fn enqueue(&mut self, letter: Letter, sender: Option<u32>) {
        if let Some(messages) = &mut self.log.messages {
            messages.send(&letter);
        }
        self.figures.messages_sent += 1;
        self.figures.bytes_sent = self.figures.bytes_sent.saturating_add(letter.bytes);
        self.queue.push_back(Outgoing { letter, queued: letter.joined, sender });
    }

    fn remove(&mut self, id: u32) {
        self.operations[id as usize] = None;
        self.free.push(id);
        self.open -= 1;
    }
}
