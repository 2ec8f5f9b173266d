//! One rank of a program on its node: executes operations, and exchanges messages with the hosts of other ranks.
//!
//! Whatever a host does follows from what happens at its own node, so it does not matter in which order hosts of a cycle are
//! asked. A network calls, in a cycle, [`Host::deliver`] for every message whose last phit is there, in order of source and
//! number, then [`Host::run`], and then takes messages from [`Host::queue`].

mod graph;
mod graph500;
mod letter;
pub mod log;
pub mod machine;
pub mod matching;
pub mod rules;
mod sequence;
mod serial;
pub mod state;
pub mod unrolling;

pub use letter::{Cycle, Figures, Letter, Outgoing, Purpose};

use crate::graph::Graph;
use crate::graph500::Search;
use crate::host::graph::Operations;
use crate::host::graph500::Searching;
use crate::host::log::{Activity, Log, Stage, Wanted};
use crate::host::machine::{Machine, Reached, ReadyOperation, Sending, Work};
use crate::host::rules::{Rules, SendCompletes};
use crate::host::sequence::Sequence;
use crate::host::state::{HostState, ProgramState};
use crate::record::{Rank, Script};
use std::collections::VecDeque;
use std::sync::Arc;

/// What a host executes: the forms that programs have.
enum HostProgram {
    Sequence(Sequence),
    Graph(Operations),
    Search(Box<Searching>),
    /// Another simulator says what the rank sends, and is told what is there for it.
    External,
}

impl HostProgram {
    fn begin(&mut self, now: Cycle, machine: &mut Machine) {
        match self {
            Self::Sequence(sequence) => sequence.go_on(now, machine),
            Self::Graph(operations) => operations.begin(now, machine),
            // It goes on by itself when the host runs.
            Self::Search(_) | Self::External => {}
        }
    }

    #[inline]
    fn reached(&mut self, now: Cycle, machine: &mut Machine, reached: Reached) {
        match self {
            Self::Sequence(sequence) => sequence.reached(now, machine, reached),
            Self::Graph(operations) => operations.reached(now, machine, reached),
            Self::Search(searching) => searching.reached(now, machine, reached),
            Self::External => {}
        }
    }

    #[inline]
    fn is_exhausted(&self) -> bool {
        match self {
            Self::Sequence(sequence) => sequence.is_exhausted(),
            Self::Graph(operations) => operations.is_exhausted(),
            Self::Search(searching) => searching.is_exhausted(),
            Self::External => true,
        }
    }

    /// The first operation in program order that the rank waits for, when it has nothing to do.
    fn awaited(&self, machine: &Machine) -> Option<ReadyOperation> {
        let next = match self {
            Self::Sequence(sequence) => machine.first(|owner| sequence.stands_at(owner)),
            Self::Graph(_) | Self::Search(_) | Self::External => None,
        };
        next.or_else(|| machine.first(|_| true))
    }

    fn save(&self) -> ProgramState {
        match self {
            Self::Sequence(sequence) => ProgramState::Sequence(sequence.save()),
            Self::Graph(operations) => ProgramState::Graph(operations.save()),
            Self::Search(searching) => ProgramState::Search(searching.save()),
            Self::External => ProgramState::External,
        }
    }

    fn load(&mut self, rules: &Rules, state: ProgramState) {
        match (self, state) {
            (Self::Sequence(sequence), ProgramState::Sequence(state)) => sequence.load(rules, state),
            (Self::Graph(operations), ProgramState::Graph(state)) => operations.load(rules, state),
            (Self::Search(searching), ProgramState::Search(state)) => searching.load(state),
            (_, _) => {}
        }
    }

    fn left(&self) -> u64 {
        match self {
            Self::Sequence(sequence) => sequence.records_left(),
            Self::Graph(operations) => operations.left(),
            Self::Search(searching) => searching.left(),
            Self::External => 0,
        }
    }
}

/// One rank of a program.
pub struct Host {
    machine: Machine,
    program: HostProgram,
}

impl Host {
    /// A rank of a program of records, before it begins.
    pub fn of_script(rank: Rank, script: &Arc<dyn Script>, rules: &Arc<Rules>) -> Self {
        let machine = Machine::new(rank, Arc::clone(rules), 1, rules.first_of_any_source);
        Self { machine, program: HostProgram::Sequence(Sequence::new(rank, script)) }
    }

    /// A rank of a graph, before it begins.
    pub fn of_graph(rank: Rank, graph: &Arc<Graph>, rules: &Arc<Rules>) -> Self {
        let operations = Operations::new(rank, graph, rules);
        let machine = Machine::new(rank, Arc::clone(rules), operations.streams(), operations.is_open());
        Self { machine, program: HostProgram::Graph(operations) }
    }

    /// A rank of a search of Graph500, before it begins. All its sends are done when their last phits have left the node,
    /// whatever the rules say.
    pub fn of_search(rank: Rank, search: &Arc<Search>, rules: &Arc<Rules>) -> Self {
        let searching = Searching::new(rank, search, rules);
        let rules = Rules { send_completes: SendCompletes::Injected, ..Rules::clone(rules) };
        let machine = Machine::new(rank, Arc::new(rules), 1, true);
        Self { machine, program: HostProgram::Search(Box::new(searching)) }
    }

    /// A rank that another simulator drives: it sends what that one posts, and takes all that is there without a receive.
    pub fn external(rank: Rank, rules: &Arc<Rules>) -> Self {
        Self { machine: Machine::new(rank, Arc::clone(rules), 1, false), program: HostProgram::External }
    }

    /// The host, made to write down what is wanted.
    #[must_use]
    pub fn writing(mut self, wanted: Wanted) -> Self {
        self.machine.log = Log::new(wanted);
        self
    }

    /// The state of the host between two cycles.
    pub fn save(&self) -> HostState {
        HostState { machine: self.machine.clone(), program: self.program.save() }
    }

    /// Goes on with the state of the same rank of the same program, before the host begins.
    pub fn load(&mut self, state: HostState) {
        let HostState { machine, program } = state;
        self.machine.load(machine);
        self.program.load(&self.machine.rules, program);
    }

    /// The rank of the host.
    pub fn rank(&self) -> Rank {
        self.machine.rank
    }

    /// The program begins at cycle `now`. Call [`Self::run`] afterwards.
    pub fn begin(&mut self, now: Cycle) {
        self.program.begin(now, &mut self.machine);
        self.note_end(now);
    }

    /// The last phit of a message for the host is there.
    pub fn deliver(&mut self, now: Cycle, letter: &Letter, there: Cycle) {
        if matches!(self.program, HostProgram::External) {
            return self.machine.count_received(there, letter);
        }
        self.machine.deliver(now, letter, there);
        if let HostProgram::Search(searching) = &mut self.program {
            searching.announced(now, &mut self.machine, letter);
        }
    }

    /// Another simulator sends a message in cycle `now`: it joins the queue.
    pub fn post(&mut self, now: Cycle, message: Sending) {
        self.machine.post(now, message);
    }

    /// Does what follows from all that has happened by cycle `now`.
    pub fn run(&mut self, now: Cycle) {
        if self.is_done() {
            return;
        }
        while let Some(reached) = self.machine.expire(now) {
            self.program.reached(now, &mut self.machine, reached);
        }
        while let Some(reached) = self.machine.take_up(now) {
            self.program.reached(now, &mut self.machine, reached);
        }
        if matches!(self.program, HostProgram::Search(_)) {
            self.go_on(now);
        }
        self.note_end(now);
        if self.machine.log.intervals.is_some() {
            self.note_waiting(now);
        }
    }

    /// Nothing more happens by itself in this cycle: begins what a search decides to do then, and what follows from that.
    #[inline(never)]
    fn go_on(&mut self, now: Cycle) {
        while let HostProgram::Search(searching) = &mut self.program
            && searching.go_on(now, &mut self.machine)
        {
            while let Some(reached) = self.machine.take_up(now) {
                self.program.reached(now, &mut self.machine, reached);
            }
        }
    }

    fn note_end(&mut self, now: Cycle) {
        if self.is_done() {
            self.machine.figures.finish = now;
        }
    }

    /// Writes down what the rank waits for from cycle `now` on.
    #[cold]
    fn note_waiting(&mut self, now: Cycle) {
        let waits = !self.is_done() && !self.machine.is_busy(0);
        let what = waits.then(|| match self.program.awaited(&self.machine) {
            None => (Activity::Wait, 0),
            Some(operation) => {
                let activity = match operation.work {
                    Work::Compute(_) => Activity::WaitCompute,
                    Work::Send(_) | Work::Hold(_) => Activity::WaitSend,
                    Work::Receive(_) => Activity::WaitReceive,
                };
                (activity, operation.label.record)
            }
        });
        if let Some(intervals) = &mut self.machine.log.intervals {
            intervals.waits(now, what);
        }
    }

    /// The last phit of a message will have left the node at cycle `at`.
    pub fn will_leave(&mut self, outgoing: &Outgoing, at: Cycle) {
        let letter = &outgoing.letter;
        if let Some(messages) = &mut self.machine.log.messages
            && letter.has_payload()
        {
            messages.note((letter.source, letter.number), Stage::Left, at);
        }
        if let Some(sender) = outgoing.sender {
            self.machine.will_leave(sender, at);
        }
    }

    /// When the host has to run again though nothing is delivered; never if nothing of its own is under way.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.machine.next_timer()
    }

    /// Messages for the network, first come, first served.
    pub fn queue(&mut self) -> &mut VecDeque<Outgoing> {
        &mut self.machine.queue
    }

    /// Messages for the network, first come, first served, to be looked at.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = &Outgoing> {
        self.machine.queue.iter()
    }

    /// Whether a message waits for the network.
    pub fn sends(&self) -> bool {
        !self.machine.queue.is_empty()
    }

    /// Whether a message that joined the queue before cycle `now` waits in it.
    pub fn sent_before(&self, now: Cycle) -> bool {
        self.machine.queue.front().is_some_and(|outgoing| outgoing.queued < now)
    }

    /// The rules of the host's job.
    pub fn rules(&self) -> &Rules {
        &self.machine.rules
    }

    /// Whether all operations of the rank are done.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.machine.open() == 0 && self.program.is_exhausted()
    }

    /// Records or operations that are not ready yet.
    pub fn left(&self) -> u64 {
        self.program.left()
    }

    /// What the host has counted.
    pub fn figures(&self) -> Figures {
        self.machine.figures
    }

    /// What the host has written down, which it forgets.
    pub fn take_log(&mut self) -> Log {
        std::mem::take(&mut self.machine.log)
    }

    /// Operations that are ready and not done, in program order.
    pub fn operations(&self) -> Vec<ReadyOperation> {
        self.machine.operations()
    }

    /// Whether a message has arrived that nobody has received.
    pub fn has_untaken(&self) -> bool {
        self.machine.matching.waiting() > 0
    }

    /// Messages that have arrived and that nobody has received.
    pub fn untaken(&self) -> Vec<(matching::Envelope, matching::Announced)> {
        self.machine.matching.untaken()
    }
}
