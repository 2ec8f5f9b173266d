//! One rank of a search of Graph500: see [`crate::graph500`].
//!
//! Steps of the rank's own come one after the other, and only when the stream has nothing else to do: what comes in goes
//! before what goes out. A step under way is not interrupted.
//!
//! 1. For each message with queries: computes their time, if generation takes time, and then sends it to a random other rank, or
//!    in a search of a graph to the one that its queries are for.
//!    The step is over when the last phit of the message has left the node. If the link alone limits generation and messages could
//!    leave any number at a time, the processor keeps them as far apart as the one before is long, as `FOGSim` does: when there is
//!    nothing to compute it waits for the link, and what comes in meanwhile waits for the next message.
//! 2. After the last one the rank tells every other rank, in order, how many messages it sent there. Level 0 has messages of
//!    the root alone, so that only the root tells.
//! 3. When the rank has been told by all, and all messages that they told of have been received and their queries computed,
//!    it sends a report to the root. The root waits for all reports and then releases the others, in order; the next level
//!    begins with that.
//!
//! All that comes in is received as if a receive were posted for it; then the queries of a message are computed. What belongs
//! to a later level waits for it.

use crate::graph500::aggregation::LevelMessages;
use crate::graph500::random::{self, Source};
use crate::graph500::{Generation, Search};
use crate::host::letter::{Cycle, Letter, Purpose};
use crate::host::machine::{Label, Machine, Owner, Reached, Sending, Work};
use crate::host::matching::{Envelope, Pattern};
use crate::host::rules::Rules;
use crate::host::serial::sorted;
use crate::record::{Communicator, Rank};
use crate::units::Fraction;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The owner of the rank's own step that is under way.
const OWN: Owner = Owner::MAX;

/// The number of kinds of messages. Level and kind are the communicator of a message.
const KINDS: u32 = 4;
/// The kind of messages that carry queries.
const QUERIES: u32 = 0;
/// The kind of messages that say by their tag how many messages with queries there are from their source.
const SIGNAL: u32 = 1;
/// The kind of messages that tell the root that a rank's level is over.
const REPORT: u32 = 2;
/// The kind of messages that tell a rank that the level is over for all.
const RELEASE: u32 = 3;

fn communicator(level: u32, kind: u32) -> Communicator {
    level * KINDS + kind
}

/// Where a rank is in a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    /// Sends queries.
    Queries,
    /// Signals to this rank next, and those behind it.
    Signals(Rank),
    /// Waits for what others send.
    Waits,
    /// Has reported to the root, or, as the root, waits for reports.
    Reported,
    /// The root releases this rank next, and those behind it.
    Releases(Rank),
    /// Has done all levels.
    Over,
}

/// What the rank's own step that is under way does.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum OwnStep {
    Nothing,
    /// Computes queries or waits for the link; then this is sent.
    Generates(Sending),
    Sends,
    /// Sends a message with queries, of so many phits.
    SendsQueries(u32),
}

/// Something that has come in.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Incoming {
    /// A message with so many queries is received.
    Queries(u64),
    /// The queries of a message are computed.
    Computed,
    /// A signal is received: so many messages.
    Signal(u32),
    Report,
    Release,
}

/// The messages with queries that a rank has to send in its level.
#[derive(Clone, Serialize, Deserialize)]
enum Agenda {
    /// Messages to ranks that are drawn: those that are left.
    Drawn(LevelMessages),
    /// Messages of a graph: how many of them have been sent.
    Listed(usize),
}

impl Agenda {
    /// What a rank has to send in a level before it begins.
    fn new(search: &Search, level: u32, rank: Rank) -> Self {
        match search.bundles(level, rank) {
            Some(_) => Self::Listed(0),
            None => Self::Drawn(search.messages(level, rank)),
        }
    }
}

/// What a rank knows of its level.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct LevelTally {
    /// Ranks that have signalled.
    signals: u32,
    /// Messages with queries that the signals told of.
    announced: u64,
    /// Messages whose queries have been computed.
    computed: u64,
    /// Ranks that have reported.
    reports: u32,
    released: bool,
}

/// The program of one rank of a search in a snapshot.
#[derive(Clone, Serialize, Deserialize)]
pub struct SearchingState {
    drawn: u64,
    remainder: Option<u128>,
    level: u32,
    phase: Phase,
    step: OwnStep,
    agenda: Agenda,
    sent: Vec<u32>,
    link_free: Cycle,
    tally: LevelTally,
    #[serde(with = "sorted")]
    incoming: FxHashMap<Owner, Incoming>,
    received: Owner,
    index: u32,
    left: u64,
}

/// The program of one rank of a search.
pub struct Searching {
    search: Arc<Search>,
    rank: Rank,
    destinations: Source,
    /// Destinations drawn so far, each by one call of the source.
    drawn: u64,
    /// The clock of queries; none: they take no time.
    clock: Option<QueryClock>,
    level: u32,
    phase: Phase,
    step: OwnStep,
    agenda: Agenda,
    /// Messages with queries in this level, by destination.
    sent: Vec<u32>,
    /// First cycle in which the link is free for another message with queries, where the processor waits for it.
    link_free: Cycle,
    tally: LevelTally,
    incoming: FxHashMap<Owner, Incoming>,
    received: Owner,
    index: u32,
    left: u64,
}

impl Searching {
    /// The program of a rank, before it begins.
    pub fn new(rank: Rank, search: &Arc<Search>, rules: &Rules) -> Self {
        Self {
            rank,
            destinations: search.destinations(rank),
            drawn: 0,
            clock: QueryClock::new(search.query_time(rank), rules),
            level: 0,
            phase: Phase::Queries,
            step: OwnStep::Nothing,
            agenda: Agenda::new(search, 0, rank),
            sent: vec![0; search.parameters().ranks as usize],
            link_free: 0,
            tally: LevelTally::default(),
            incoming: FxHashMap::default(),
            received: 0,
            index: 0,
            left: search.sends(rank),
            search: Arc::clone(search),
        }
    }

    /// How far the program is.
    pub fn save(&self) -> SearchingState {
        let Self {
            search: _,
            rank: _,
            destinations: _,
            drawn,
            clock,
            level,
            phase,
            step,
            agenda,
            sent,
            link_free,
            tally,
            incoming,
            received,
            index,
            left,
        } = self;
        SearchingState {
            drawn: *drawn,
            remainder: clock.as_ref().map(|clock| clock.remainder),
            level: *level,
            phase: *phase,
            step: *step,
            agenda: agenda.clone(),
            sent: sent.clone(),
            link_free: *link_free,
            tally: *tally,
            incoming: incoming.clone(),
            received: *received,
            index: *index,
            left: *left,
        }
    }

    /// Goes on from a snapshot, before the program begins.
    pub fn load(&mut self, state: SearchingState) {
        let SearchingState {
            drawn,
            remainder,
            level,
            phase,
            step,
            agenda,
            sent,
            link_free,
            tally,
            incoming,
            received,
            index,
            left,
        } = state;
        (0..drawn).for_each(|_| _ = (self.destinations)());
        if let (Some(clock), Some(remainder)) = (&mut self.clock, remainder) {
            clock.remainder = remainder;
        }
        (self.drawn, self.level, self.phase, self.step, self.agenda) = (drawn, level, phase, step, agenda);
        (self.sent, self.link_free, self.tally, self.incoming) = (sent, link_free, tally, incoming);
        (self.received, self.index, self.left) = (received, index, left);
    }

    /// Whether all levels are over.
    pub fn is_exhausted(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Messages that the rank has not begun to send.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// A message has been announced, or something else has come in. If it is of this level it is received.
    #[inline(never)]
    pub fn announced(&mut self, now: Cycle, machine: &mut Machine, letter: &Letter) {
        let Letter { source, tag, communicator, .. } = *letter;
        let is_announced = matches!(letter.purpose, Purpose::Eager | Purpose::Request { .. });
        if is_announced && communicator / KINDS == self.level && self.phase != Phase::Over {
            self.receive(now, machine, Envelope { source, tag, communicator }, letter.bytes);
        }
    }

    /// Begins to receive a message that waits.
    fn receive(&mut self, now: Cycle, machine: &mut Machine, envelope: Envelope, bytes: u64) {
        let Envelope { source, tag, communicator } = envelope;
        let queries = bytes / u64::from(self.search.parameters().query_bytes);
        let incoming = match communicator % KINDS {
            QUERIES => Incoming::Queries(queries),
            SIGNAL => Incoming::Signal(tag),
            REPORT => Incoming::Report,
            _ => Incoming::Release,
        };
        let owner = self.received;
        self.received = (self.received + 1) % OWN;
        self.incoming.insert(owner, incoming);
        let pattern = Pattern { source: Some(source), tag: Some(tag), communicator };
        self.begin(now, machine, owner, Work::Receive(pattern));
    }

    fn begin(&mut self, now: Cycle, machine: &mut Machine, owner: Owner, work: Work) {
        let label = Label { index: self.index, owner, record: 0, stream: 0 };
        self.index = self.index.wrapping_add(1);
        machine.begin(now, label, work);
    }

    /// An operation has reached a state.
    #[inline(never)]
    pub fn reached(&mut self, now: Cycle, machine: &mut Machine, reached: Reached) {
        if !reached.done {
            return;
        }
        if reached.owner != OWN {
            return self.came_in(now, machine, reached.owner);
        }
        match std::mem::replace(&mut self.step, OwnStep::Nothing) {
            OwnStep::Generates(sending) => self.issue_queries(now, machine, sending),
            OwnStep::SendsQueries(phits) => self.link_free = now.saturating_add(phits),
            OwnStep::Sends | OwnStep::Nothing => {}
        }
    }

    /// A message has been received, or its queries have been computed.
    fn came_in(&mut self, now: Cycle, machine: &mut Machine, owner: Owner) {
        match self.incoming.remove(&owner) {
            Some(Incoming::Queries(queries)) => {
                let time = self.time(queries);
                self.incoming.insert(owner, Incoming::Computed);
                self.begin(now, machine, owner, Work::Compute(time));
            }
            Some(Incoming::Computed) => self.tally.computed += 1,
            Some(Incoming::Signal(messages)) => {
                self.tally.signals += 1;
                self.tally.announced += u64::from(messages);
            }
            Some(Incoming::Report) => self.tally.reports += 1,
            Some(Incoming::Release) => self.tally.released = true,
            None => {}
        }
    }

    /// Cycles that so many queries take.
    fn time(&mut self, queries: u64) -> Cycle {
        self.clock.as_mut().map_or(0, |clock| clock.advance(queries))
    }

    /// The stream has nothing to do: begins the next step of the rank's own, if it can. Returns whether it has.
    #[inline(never)]
    pub fn go_on(&mut self, now: Cycle, machine: &mut Machine) -> bool {
        if !matches!(self.step, OwnStep::Nothing) || !machine.is_idle(0) {
            return false;
        }
        loop {
            let phase = self.phase;
            if self.begin_step(now, machine) {
                return true;
            }
            if phase == self.phase {
                return false;
            }
            if !machine.is_idle(0) {
                // Another level has begun, and messages of it are there already.
                return true;
            }
        }
    }

    /// Begins a step of the rank's phase, or goes to the next phase if there is none. Returns whether a step has begun.
    fn begin_step(&mut self, now: Cycle, machine: &mut Machine) -> bool {
        match self.phase {
            Phase::Queries => return self.send_queries(now, machine),
            Phase::Signals(next) => match self.other(next) {
                Some(rank) => {
                    self.phase = Phase::Signals(rank + 1);
                    self.send(now, machine, SIGNAL, (rank, self.sent[rank as usize]));
                    return true;
                }
                None => self.phase = Phase::Waits,
            },
            Phase::Waits if self.has_all() => {
                self.phase = Phase::Reported;
                if !self.is_root() {
                    self.send(now, machine, REPORT, (self.search.volume().root, 0));
                    return true;
                }
            }
            Phase::Reported if self.is_root() && self.tally.reports == self.others() => {
                self.phase = Phase::Releases(0);
            }
            Phase::Releases(next) => match self.other(next) {
                Some(rank) => {
                    self.phase = Phase::Releases(rank + 1);
                    self.send(now, machine, RELEASE, (rank, 0));
                    return true;
                }
                None => self.begin_level(now, machine),
            },
            Phase::Reported if self.tally.released => self.begin_level(now, machine),
            Phase::Waits | Phase::Reported | Phase::Over => {}
        }
        false
    }

    fn is_root(&self) -> bool {
        self.rank == self.search.volume().root
    }

    fn others(&self) -> u32 {
        self.search.parameters().ranks - 1
    }

    /// The first other rank from this one on.
    fn other(&self, from: Rank) -> Option<Rank> {
        let rank = if from == self.rank { from + 1 } else { from };
        (rank <= self.others()).then_some(rank)
    }

    /// Whether all ranks have signalled, and the queries of all messages that they told of have been computed.
    fn has_all(&self) -> bool {
        let signals = match self.level {
            0 => u32::from(!self.is_root()),
            _ => self.others(),
        };
        self.tally.signals == signals && self.tally.computed == self.tally.announced
    }

    /// Begins with the next message with queries. After the last one it is time for signals.
    fn send_queries(&mut self, now: Cycle, machine: &mut Machine) -> bool {
        let Some((to, queries)) = self.next_message() else {
            let signals = self.level > 0 || self.is_root();
            self.phase = if signals { Phase::Signals(0) } else { Phase::Waits };
            return false;
        };
        self.sent[to as usize] += 1;
        let parameters = *self.search.parameters();
        let bytes = queries * u64::from(parameters.query_bytes);
        let sending = Sending { to, tag: 0, communicator: communicator(self.level, QUERIES), bytes };
        let work = match parameters.generation {
            Generation::Compute => Work::Compute(self.time(queries)),
            Generation::Link if machine.rules.has_unlimited_wire && self.link_free > now => {
                Work::Hold(self.link_free - now)
            }
            Generation::Link => {
                self.issue_queries(now, machine, sending);
                return true;
            }
        };
        self.step = OwnStep::Generates(sending);
        self.begin(now, machine, OWN, work);
        true
    }

    /// Where the next message with queries goes, and how many it has.
    fn next_message(&mut self) -> Option<(Rank, u64)> {
        let others = self.others();
        match &mut self.agenda {
            Agenda::Drawn(messages) => {
                let queries = messages.next()?;
                let drawn = random::below(&mut self.destinations, others);
                self.drawn += 1;
                Some((drawn + u32::from(drawn >= self.rank), queries))
            }
            Agenda::Listed(sent) => {
                let bundle = *self.search.bundles(self.level, self.rank)?.get(*sent)?;
                *sent += 1;
                Some((bundle.to, bundle.queries.into()))
            }
        }
    }

    /// Sends a message without queries to a rank, with a tag.
    fn send(&mut self, now: Cycle, machine: &mut Machine, kind: u32, (to, tag): (Rank, u32)) {
        let bytes = self.search.parameters().signal_bytes();
        let communicator = communicator(self.level, kind);
        self.issue(now, machine, Sending { to, tag, communicator, bytes });
    }

    fn issue_queries(&mut self, now: Cycle, machine: &mut Machine, sending: Sending) {
        let phits = machine.rules.packets(sending.bytes).phits();
        self.issue(now, machine, sending);
        self.step = OwnStep::SendsQueries(u32::try_from(phits).unwrap_or(u32::MAX));
    }

    fn issue(&mut self, now: Cycle, machine: &mut Machine, sending: Sending) {
        self.step = OwnStep::Sends;
        self.left -= 1;
        self.begin(now, machine, OWN, Work::Send(sending));
    }

    /// The next level begins, and all that waits for it is received; after the last one there is none.
    fn begin_level(&mut self, now: Cycle, machine: &mut Machine) {
        if self.level + 1 == self.search.levels() {
            self.phase = Phase::Over;
            return;
        }
        self.level += 1;
        self.phase = Phase::Queries;
        self.agenda = Agenda::new(&self.search, self.level, self.rank);
        self.sent.fill(0);
        self.tally = LevelTally::default();
        let level = self.level;
        let is_due = |envelope: Envelope| envelope.communicator / KINDS == level;
        while let Some((envelope, bytes)) = machine.matching.earliest(is_due) {
            self.receive(now, machine, envelope, bytes);
        }
    }
}

/// Computation of queries in cycles: exact, and so that rounding down never adds up.
struct QueryClock {
    numerator: u128,
    denominator: u128,
    remainder: u128,
}

impl QueryClock {
    /// The clock of a rank that takes this time for a query \[ns\], on hosts of these rules; none if queries take no time.
    fn new(time: Option<Fraction>, rules: &Rules) -> Option<Self> {
        let (time, rate) = (time?, rules.cycles_per_nanosecond?);
        let times = |a, b| u128::from(a) * u128::from(b);
        Some(Self {
            numerator: times(time.numerator, rate.numerator),
            denominator: times(time.denominator, rate.denominator),
            remainder: 0,
        })
    }

    /// Cycles of so many queries: up to 2²⁰, and a numerator of up to 2⁹⁶, by the limits of a search.
    fn advance(&mut self, queries: u64) -> Cycle {
        let exact = u128::from(queries) * self.numerator + self.remainder;
        self.remainder = exact % self.denominator;
        Cycle::try_from(exact / self.denominator).unwrap_or(Cycle::MAX)
    }
}
