//! A sequence of records as operations: each is begun when the one before it has come as far as it must, so that nothing is
//! read before it is needed.

use crate::host::letter::Cycle;
use crate::host::machine::{Label, Machine, Owner, Reached, Sending, Work};
use crate::host::matching::Pattern;
use crate::host::rules::Rules;
use crate::host::serial::sorted;
use crate::host::unrolling::{Exchange, Unrolling, UnrollingState, place};
use crate::record::{Collective, Communicator, Message, Rank, Record, Records, Script};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The owner of the operation that the sequence stands at.
const CURRENT: Owner = Owner::MAX;
/// The owner of the operations of a step of a collective.
const STEP: Owner = Owner::MAX - 1;

/// What the sequence waits for before its next record.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Standing {
    Nothing,
    Started(Owner),
    /// So many operations that must be done.
    Done(u32),
}

/// An operation that does not block.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Request {
    Open,
    Awaited,
    Done,
}

/// What a rank is in a communicator.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Membership {
    place: u32,
    /// Collective operations of the rank in the communicator so far.
    calls: u32,
}

/// Stream of collective operations that do not block.
const BESIDE: u8 = 1;

/// A collective operation that has begun beside the sequence.
struct Beside {
    unrolling: Unrolling,
    /// The label of all operations of the collective.
    label: Label,
    /// Operations of the present step that are not done.
    left: u32,
}

/// The sequence of one rank in a snapshot.
#[derive(Clone, Serialize, Deserialize)]
pub struct SequenceState {
    read: u32,
    standing: Standing,
    #[serde(with = "sorted")]
    requests: FxHashMap<u32, Request>,
    unrolling: Option<UnrollingState>,
    #[serde(with = "sorted")]
    beside: FxHashMap<u32, (UnrollingState, Label, u32)>,
    #[serde(with = "sorted")]
    memberships: FxHashMap<Communicator, Membership>,
    index: u32,
    remainder: u64,
    is_exhausted: bool,
}

/// The sequence of one rank.
pub struct Sequence {
    script: Arc<dyn Script>,
    records: Box<dyn Records>,
    rank: Rank,
    /// Records read so far.
    read: u32,
    standing: Standing,
    requests: FxHashMap<u32, Request>,
    unrolling: Option<Unrolling>,
    /// The collectives beside the sequence, by request.
    beside: FxHashMap<u32, Beside>,
    memberships: FxHashMap<Communicator, Membership>,
    index: u32,
    remainder: u64,
    is_exhausted: bool,
}

impl Sequence {
    /// The sequence of a rank of a program.
    pub fn new(rank: Rank, script: &Arc<dyn Script>) -> Self {
        Self {
            script: Arc::clone(script),
            records: Arc::clone(script).records(rank),
            rank,
            read: 0,
            standing: Standing::Nothing,
            requests: FxHashMap::default(),
            unrolling: None,
            beside: FxHashMap::default(),
            memberships: FxHashMap::default(),
            index: 0,
            remainder: 0,
            is_exhausted: false,
        }
    }

    /// How far the sequence is.
    pub fn save(&self) -> SequenceState {
        let Self {
            script: _,
            records: _,
            rank: _,
            read,
            standing,
            requests,
            unrolling,
            beside,
            memberships,
            index,
            remainder,
            is_exhausted,
        } = self;
        let saved = |(request, Beside { unrolling, label, left }): (&u32, &Beside)| {
            (*request, (unrolling.save(), *label, *left))
        };
        SequenceState {
            read: *read,
            standing: *standing,
            requests: requests.clone(),
            unrolling: unrolling.as_ref().map(Unrolling::save),
            beside: beside.iter().map(saved).collect(),
            memberships: memberships.clone(),
            index: *index,
            remainder: *remainder,
            is_exhausted: *is_exhausted,
        }
    }

    /// Goes on from a snapshot, before the first record.
    pub fn load(&mut self, rules: &Rules, state: SequenceState) {
        let SequenceState {
            read,
            standing,
            requests,
            unrolling,
            beside,
            memberships,
            index,
            remainder,
            is_exhausted,
        } = state;
        // Records are made or read in their order.
        (0..read).for_each(|_| _ = self.records.next());
        let communicators = self.script.communicators();
        let unroll = |state| Unrolling::load(rules, communicators, state);
        self.unrolling = unrolling.map(unroll);
        let beside = beside.into_iter();
        self.beside = beside
            .map(|(request, (state, label, left))| {
                (request, Beside { unrolling: unroll(state), label, left })
            })
            .collect();
        (self.read, self.standing, self.requests, self.memberships) = (read, standing, requests, memberships);
        (self.index, self.remainder, self.is_exhausted) = (index, remainder, is_exhausted);
    }

    /// Whether the sequence has no more records.
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// Records that the sequence has not read.
    pub fn records_left(&self) -> u64 {
        self.records.left()
    }

    /// Whether an operation is one that the sequence has to wait for before its next record.
    pub fn stands_at(&self, owner: Owner) -> bool {
        owner >= STEP || self.requests.get(&owner) == Some(&Request::Awaited)
    }

    /// An operation has reached a state.
    pub fn reached(&mut self, now: Cycle, machine: &mut Machine, reached: Reached) {
        let Reached { owner, started, done } = reached;
        if started && self.standing == Standing::Started(owner) {
            self.standing = Standing::Nothing;
        }
        if done {
            self.done(now, machine, owner);
        }
        self.go_on(now, machine);
    }

    fn done(&mut self, now: Cycle, machine: &mut Machine, owner: Owner) {
        if owner < STEP {
            if !self.beside.is_empty() && self.goes_on_beside(now, machine, owner) {
                return;
            }
            if let Some(request @ Request::Open) = self.requests.get_mut(&owner) {
                *request = Request::Done;
                return;
            }
            self.requests.remove(&owner);
        }
        if let Standing::Done(left) = &mut self.standing {
            *left -= 1;
            if *left == 0 {
                self.standing = Standing::Nothing;
            }
        }
    }

    /// Begins operations until one has to be waited for.
    pub fn go_on(&mut self, now: Cycle, machine: &mut Machine) {
        while self.standing == Standing::Nothing && !self.is_exhausted {
            if let Some(unrolling) = &mut self.unrolling {
                match unrolling.next() {
                    Some(step) => self.step(now, machine, step),
                    None => self.unrolling = None,
                }
                continue;
            }
            match self.records.next() {
                Some(record) => {
                    self.read += 1;
                    self.record(now, machine, record);
                }
                None => self.is_exhausted = true,
            }
        }
    }

    fn record(&mut self, now: Cycle, machine: &mut Machine, record: Record) {
        match record {
            Record::Compute { nanoseconds } => {
                let time = machine.rules.compute_cycles(nanoseconds, &mut self.remainder);
                if time > 0 {
                    self.standing = Standing::Done(1);
                    self.begin(now, machine, CURRENT, Work::Compute(time));
                }
            }
            Record::Send { message, request } => self.send(now, machine, message, request),
            Record::Receive { message, any_source, request } => {
                let any = any_source && machine.rules.first_of_any_source;
                let source = (!any).then_some(message.peer);
                let Message { tag, communicator, .. } = message;
                let work = Work::Receive(Pattern { source, tag: Some(tag), communicator });
                if let Some(request) = request {
                    self.requests.insert(request, Request::Open);
                    self.begin(now, machine, request, work);
                } else {
                    self.standing = Standing::Done(1);
                    self.begin(now, machine, CURRENT, work);
                }
            }
            Record::Wait { requests } => {
                let left = requests.iter().filter(|&&request| self.awaits(request)).count() as u32;
                self.standing = if left == 0 { Standing::Nothing } else { Standing::Done(left) };
            }
            Record::Collective(collective) => self.unrolling = Some(self.unroll(machine, collective)),
            Record::Begin { collective, request } => self.begin_beside(now, machine, *collective, request),
        }
    }

    fn send(&mut self, now: Cycle, machine: &mut Machine, message: Message, request: Option<u32>) {
        let Message { peer, tag, bytes, communicator } = message;
        let work = Work::Send(Sending { to: peer, tag, communicator, bytes });
        if let Some(request) = request {
            self.requests.insert(request, Request::Open);
            self.standing = Standing::Started(request);
            self.begin(now, machine, request, work);
        } else {
            self.standing = Standing::Done(1);
            self.begin(now, machine, CURRENT, work);
        }
    }

    /// Whether a request has to be waited for; if not its number is free.
    fn awaits(&mut self, request: u32) -> bool {
        if let Some(state @ Request::Open) = self.requests.get_mut(&request) {
            *state = Request::Awaited;
            return true;
        }
        self.requests.remove(&request);
        false
    }

    fn begin(&mut self, now: Cycle, machine: &mut Machine, owner: Owner, work: Work) {
        let label = self.label(owner, 0);
        machine.begin(now, label, work);
    }

    fn label(&mut self, owner: Owner, stream: u8) -> Label {
        self.index += 1;
        Label { index: self.index - 1, owner, record: self.read - 1, stream }
    }

    fn unroll(&mut self, machine: &Machine, collective: Collective) -> Unrolling {
        let members = &self.script.communicators()[collective.communicator as usize];
        let rank = self.rank;
        let membership = self
            .memberships
            .entry(collective.communicator)
            .or_insert_with(|| Membership { place: place(members, rank), calls: 0 });
        let number = membership.calls;
        membership.calls += 1;
        Unrolling::new(&machine.rules, collective, members, (membership.place, number))
    }

    #[cold]
    fn begin_beside(&mut self, now: Cycle, machine: &mut Machine, collective: Collective, request: u32) {
        machine.need_streams(BESIDE);
        self.requests.insert(request, Request::Open);
        let label = self.label(request, BESIDE);
        // What it sends has a place in program order behind what it receives.
        self.index += 1;
        let unrolling = self.unroll(machine, collective);
        self.beside.insert(request, Beside { unrolling, label, left: 1 });
        self.done(now, machine, request);
    }

    /// An operation is done. If it is one of a collective beside the sequence, after the last one of a step the next step
    /// begins. Returns whether it is one of a collective that is not over.
    #[cold]
    fn goes_on_beside(&mut self, now: Cycle, machine: &mut Machine, owner: Owner) -> bool {
        let Some(beside) = self.beside.get_mut(&owner) else { return false };
        beside.left -= 1;
        if beside.left > 0 {
            return true;
        }
        let Some(exchange) = beside.unrolling.next() else {
            self.beside.remove(&owner);
            return false;
        };
        beside.left = exchange.count();
        exchange.begin(now, machine, beside.label);
        true
    }

    /// Begins what a member does at once in a collective operation.
    fn step(&mut self, now: Cycle, machine: &mut Machine, exchange: Exchange) {
        self.standing = Standing::Done(exchange.count());
        if let Some(pattern) = exchange.receive {
            self.begin(now, machine, STEP, Work::Receive(pattern));
        }
        if let Some(sending) = exchange.send {
            self.begin(now, machine, STEP, Work::Send(sending));
        }
    }
}
