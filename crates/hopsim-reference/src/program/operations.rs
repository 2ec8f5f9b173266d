//! The operations of a rank: its whole program, written out.

use hopsim_core::plan::ProgramPlan;
use hopsim_programs::collectives::Call;
use hopsim_programs::graph::{self, RankGraph};
use hopsim_programs::host::rules::Rules;
use hopsim_programs::program::Program;
use hopsim_programs::record::{Bytes, Collective, Message, Record, Script};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How far another operation must have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Started,
    Done,
}

/// A set of ranks and, of the messages of a collective operation, which one of this set it is, counted by each member.
pub type Communicator = (u32, Option<u32>);

/// What an operation does.
#[derive(Clone, Debug)]
pub enum Work {
    /// Takes its stream for so many cycles.
    Compute(u32),
    /// Sends so many bytes to a rank.
    Send { to: u32, tag: u32, communicator: Communicator, bytes: u64 },
    /// Receives from a rank, or from any, with a tag, or with any.
    Receive { from: Option<u32>, tag: Option<u32>, communicator: Communicator },
    /// Nothing.
    Join,
}

/// Something that a rank does; its number is its place in program order.
pub struct Operation {
    pub work: Work,
    pub stream: usize,
    /// What it waits for.
    pub after: Vec<(usize, State)>,
    pub ready: bool,
    pub started: bool,
    pub done: bool,
}

/// All that a rank of a program does.
pub fn operations(program: &ProgramPlan, rank: u32) -> Vec<Operation> {
    let clock = Clock { rules: &program.rules, remainder: 0 };
    match &program.program {
        Program::Script(script) => of_records(script, rank, clock),
        Program::Graph(graph) => of_graph(&graph.ranks[rank as usize], clock),
        Program::Search(_) => unimplemented!("the reference has no searches"),
    }
}

/// How long computations take.
struct Clock<'a> {
    rules: &'a Rules,
    /// What rounding has left of those before, in parts of a cycle.
    remainder: u128,
}

impl Clock<'_> {
    fn cycles(&mut self, nanoseconds: u64) -> u32 {
        let Some(rate) = self.rules.cycles_per_nanosecond else { return 0 };
        let exact = self.remainder + u128::from(nanoseconds) * u128::from(rate.numerator);
        self.remainder = exact % u128::from(rate.denominator);
        u32::try_from(exact / u128::from(rate.denominator)).unwrap_or(u32::MAX)
    }
}

fn of_graph(graph: &RankGraph, mut clock: Clock<'_>) -> Vec<Operation> {
    let mut operations: Vec<Operation> = Vec::new();
    for (number, operation) in graph.operations.iter().enumerate() {
        let work = match *operation {
            graph::Operation::Compute { time } => Work::Compute(clock.cycles(time)),
            graph::Operation::Send { peer, tag, bytes } => {
                Work::Send { to: peer, tag, communicator: (0, None), bytes }
            }
            graph::Operation::Receive { peer, tag, .. } => {
                Work::Receive { from: peer, tag, communicator: (0, None) }
            }
            graph::Operation::Join => Work::Join,
            graph::Operation::Collective(_) => unimplemented!("the reference has no collectives in graphs"),
        };
        let waits = graph.dependencies.iter().filter(|dependency| dependency.operation as usize == number);
        let state = |started| if started { State::Started } else { State::Done };
        let after = waits.map(|dependency| (dependency.on as usize, state(dependency.started))).collect();
        let stream = usize::from(graph.stream(number as u32));
        operations.push(Operation { work, stream, after, ready: false, started: false, done: false });
    }
    operations
}

fn of_records(script: &Arc<dyn Script>, rank: u32, clock: Clock<'_>) -> Vec<Operation> {
    let mut sequence = Sequence {
        rank,
        script: script.as_ref(),
        clock,
        operations: Vec::new(),
        last: None,
        requests: BTreeMap::new(),
        collectives: BTreeMap::new(),
    };
    let mut records = Arc::clone(script).records(rank);
    while let Some(record) = records.next() {
        sequence.record(&record);
    }
    sequence.operations
}

/// The records of a rank as operations.
struct Sequence<'a> {
    rank: u32,
    script: &'a dyn Script,
    clock: Clock<'a>,
    operations: Vec<Operation>,
    /// What the next operation waits for.
    last: Option<(usize, State)>,
    /// Operations whose end a request stands for.
    requests: BTreeMap<u32, usize>,
    /// By communicator, how many collective operations it has had.
    collectives: BTreeMap<u32, u32>,
}

impl Sequence<'_> {
    /// An operation that waits for what the next one waits for, and for others to be done.
    fn push(&mut self, work: Work, others: impl IntoIterator<Item = usize>) -> usize {
        let others = others.into_iter().map(|other| (other, State::Done));
        let after = self.last.into_iter().chain(others).collect();
        let operation = Operation { work, stream: 0, after, ready: false, started: false, done: false };
        self.operations.push(operation);
        self.operations.len() - 1
    }

    /// An operation that the next one waits for until it is done.
    fn block(&mut self, work: Work) {
        self.last = Some((self.push(work, []), State::Done));
    }

    /// An operation that the next one waits for until it has started.
    fn start(&mut self, work: Work) -> usize {
        let number = self.push(work, []);
        self.last = Some((number, State::Started));
        number
    }

    /// Waits for operations.
    fn wait(&mut self, others: impl IntoIterator<Item = usize>) {
        self.last = Some((self.push(Work::Join, others), State::Done));
    }

    fn message(&mut self, work: Work, request: Option<u32>) {
        match request {
            None => self.block(work),
            Some(request) => {
                let number = self.start(work);
                self.requests.insert(request, number);
            }
        }
    }

    fn record(&mut self, record: &Record) {
        match record {
            Record::Compute { nanoseconds } => match self.clock.cycles(*nanoseconds) {
                0 => {}
                cycles => self.block(Work::Compute(cycles)),
            },
            Record::Send { message: Message { peer, tag, bytes, communicator }, request } => {
                let communicator = (*communicator, None);
                self.message(Work::Send { to: *peer, tag: *tag, communicator, bytes: *bytes }, *request);
            }
            Record::Receive { message: Message { peer, tag, communicator, .. }, any_source, request } => {
                let any = *any_source && self.clock.rules.first_of_any_source;
                let from = if any { None } else { Some(*peer) };
                let communicator = (*communicator, None);
                self.message(Work::Receive { from, tag: Some(*tag), communicator }, *request);
            }
            Record::Wait { requests } => {
                let done: Vec<usize> =
                    requests.iter().filter_map(|request| self.requests.remove(request)).collect();
                self.wait(done);
            }
            Record::Collective(collective) => self.collective(collective),
            Record::Begin { .. } => unimplemented!("the reference has no collectives beside others"),
        }
    }

    fn collective(&mut self, collective: &Collective) {
        let count = self.collectives.entry(collective.communicator).or_default();
        let communicator = (collective.communicator, Some(*count));
        *count += 1;
        let members = &self.script.communicators()[collective.communicator as usize];
        let place = |rank: u32| members.iter().position(|&member| member == rank).unwrap_or(0) as u32;
        let (bytes, each) = match &collective.bytes {
            Bytes::Same(bytes) => (*bytes, None),
            Bytes::Each { sent, received } => (0, Some((&**sent, &**received))),
        };
        let call = Call {
            kind: collective.kind,
            members: members.len() as u32,
            place: place(self.rank),
            root: collective.root.map_or(0, place),
            bytes,
            each,
        };
        let algorithm = self.clock.rules.collectives.algorithm(call.kind, call.members, bytes);
        for step in algorithm.steps(&call) {
            let receive = step.receive.map(|part| Work::Receive {
                from: Some(members[part.member as usize]),
                tag: Some(0),
                communicator,
            });
            let send = step.send.map(|part| Work::Send {
                to: members[part.member as usize],
                tag: 0,
                communicator,
                bytes: part.bytes,
            });
            match (receive, send) {
                (Some(receive), Some(send)) => {
                    let both = [self.start(receive), self.start(send)];
                    self.wait(both);
                }
                (receive, send) => receive.into_iter().chain(send).for_each(|work| self.block(work)),
            }
        }
    }
}
