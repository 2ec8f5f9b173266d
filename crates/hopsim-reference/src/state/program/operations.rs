//! The operations of a rank: its whole program, written out.

use hopsim_programs::collectives::{Call, Step};
use hopsim_programs::graph::{self, Graph};
use hopsim_programs::host::rules::Rules;
use hopsim_programs::job::ProgramPlan;
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
    /// Does nothing.
    Join,
}

/// Something that a rank does; its number is its place in program order.
pub struct Operation {
    pub work: Work,
    pub stream: usize,
    /// Number of the record, or of the operation of a graph, that the operation comes from.
    pub record: usize,
    /// What the operation waits for.
    pub after: Vec<(usize, State)>,
    /// What of that the operation has not been told yet.
    pub untold: Vec<(usize, State)>,
    pub ready: bool,
    pub started: bool,
    pub done: bool,
}

/// All that a rank of a program does.
pub fn operations(program: &ProgramPlan, rank: u32) -> Vec<Operation> {
    let clock = Clock { rules: &program.rules, remainder: 0 };
    let mut operations = match &program.program {
        Program::Script(script) => of_records(script, rank, clock),
        Program::Graph(graph) => of_graph(graph, rank, clock),
        Program::Search(_) => unimplemented!("the reference has no searches"),
        Program::External(_) => unimplemented!("nobody drives the reference"),
    };
    for operation in &mut operations {
        operation.untold.clone_from(&operation.after);
    }
    operations
}

/// How long computations take.
struct Clock<'a> {
    rules: &'a Rules,
    /// What rounding has left of earlier computations, in parts of a cycle.
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

fn of_graph(all: &Graph, rank: u32, mut clock: Clock<'_>) -> Vec<Operation> {
    let graph = &all.ranks[rank as usize];
    let mut operations: Vec<Operation> = Vec::new();
    // What of an operation waits for others, and what others wait for to be done.
    let mut ends: Vec<(usize, usize)> = Vec::new();
    for (number, operation) in graph.operations.iter().enumerate() {
        let stream = usize::from(graph.stream(number as u32));
        let mut push = |work, after| {
            let record = number;
            operations.push(Operation {
                work,
                stream,
                record,
                after,
                untold: Vec::new(),
                ready: false,
                started: false,
                done: false,
            });
            operations.len() - 1
        };
        let first = match *operation {
            graph::Operation::Compute { time } => push(Work::Compute(clock.cycles(time)), Vec::new()),
            graph::Operation::Send { peer, tag, bytes } => {
                push(Work::Send { to: peer, tag, communicator: (0, None), bytes }, Vec::new())
            }
            graph::Operation::Receive { peer, tag, .. } => {
                push(Work::Receive { from: peer, tag, communicator: (0, None) }, Vec::new())
            }
            graph::Operation::Join | graph::Operation::Collective(_) => push(Work::Join, Vec::new()),
        };
        let mut last = first;
        if let graph::Operation::Collective(number) = *operation {
            let collective = &graph.collectives[number as usize];
            let before = &graph.collectives[..number as usize];
            let count = before.iter().filter(|other| other.communicator == collective.communicator).count();
            let members = &all.communicators[collective.communicator as usize];
            for step in steps(clock.rules, collective, members, (rank, count as u32)) {
                // All of a step begins when the one before it is over.
                let begun: Vec<usize> =
                    step.into_iter().map(|work| push(work, vec![(last, State::Done)])).collect();
                last = push(Work::Join, begun.into_iter().map(|work| (work, State::Done)).collect());
            }
        }
        ends.push((first, last));
    }
    for dependency in &graph.dependencies {
        let (start, end) = ends[dependency.on as usize];
        let awaited = if dependency.started { (start, State::Started) } else { (end, State::Done) };
        operations[ends[dependency.operation as usize].0].after.push(awaited);
    }
    operations
}

/// What a rank does in a collective operation, number `count` of those of the communicator: in each step it receives, sends, or both.
fn steps(
    rules: &Rules,
    collective: &Collective,
    members: &[u32],
    (rank, count): (u32, u32),
) -> Vec<Vec<Work>> {
    let communicator = (collective.communicator, Some(count));
    let place = |rank: u32| members.iter().position(|&member| member == rank).unwrap_or(0) as u32;
    let (bytes, each) = match &collective.bytes {
        Bytes::Same(bytes) => (*bytes, None),
        Bytes::Each { sent, received } => (0, Some((&**sent, &**received))),
    };
    let call = Call {
        kind: collective.kind,
        members: members.len() as u32,
        place: place(rank),
        root: collective.root.map_or(0, place),
        bytes,
        each,
    };
    let algorithm = rules.collectives.algorithm(call.kind, call.members, bytes);
    let work = |step: Step| {
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
        receive.into_iter().chain(send).collect()
    };
    algorithm.steps(&call).map(work).collect()
}

fn of_records(script: &Arc<dyn Script>, rank: u32, clock: Clock<'_>) -> Vec<Operation> {
    let mut sequence = Sequence {
        rank,
        script: script.as_ref(),
        clock,
        operations: Vec::new(),
        read: 0,
        last: None,
        requests: BTreeMap::new(),
        collectives: BTreeMap::new(),
    };
    let mut records = Arc::clone(script).records(rank);
    while let Some(record) = records.next() {
        sequence.record(&record);
        sequence.read += 1;
    }
    sequence.operations
}

/// The records of a rank as operations.
struct Sequence<'a> {
    rank: u32,
    script: &'a dyn Script,
    clock: Clock<'a>,
    operations: Vec<Operation>,
    /// Number of records read so far.
    read: usize,
    /// What the next operation waits for.
    last: Option<(usize, State)>,
    /// The operation whose end each request stands for.
    requests: BTreeMap<u32, usize>,
    /// Number of collective operations so far, by communicator.
    collectives: BTreeMap<u32, u32>,
}

impl Sequence<'_> {
    /// Adds an operation that waits for what the next one waits for, and for others to be done.
    fn push(&mut self, work: Work, others: impl IntoIterator<Item = usize>) -> usize {
        let others = others.into_iter().map(|other| (other, State::Done));
        let after = self.last.into_iter().chain(others).collect();
        let (stream, record) = (0, self.read);
        let untold = Vec::new();
        let operation =
            Operation { work, stream, record, after, untold, ready: false, started: false, done: false };
        self.operations.push(operation);
        self.operations.len() - 1
    }

    /// Adds an operation that the next one waits for until it is done.
    fn block(&mut self, work: Work) {
        self.last = Some((self.push(work, []), State::Done));
    }

    /// Adds an operation that the next one waits for until it has started.
    fn start(&mut self, work: Work) -> usize {
        let number = self.push(work, []);
        self.last = Some((number, State::Started));
        number
    }

    /// Adds an operation that waits for others to be done.
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
        let number = *count;
        *count += 1;
        let members = &self.script.communicators()[collective.communicator as usize];
        for step in steps(self.clock.rules, collective, members, (self.rank, number)) {
            if let [_, _] = step[..] {
                let both: Vec<usize> = step.into_iter().map(|work| self.start(work)).collect();
                self.wait(both);
            } else {
                for work in step {
                    self.block(work);
                }
            }
        }
    }
}
