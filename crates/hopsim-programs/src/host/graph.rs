//! The operations of a graph: each is begun when all that it waits for have come as far as they must.

use crate::graph::{Graph, Operation, RankGraph};
use crate::host::letter::Cycle;
use crate::host::machine::{Label, Machine, Reached, Sending, Work};
use crate::host::matching::Pattern;
use crate::host::rules::Rules;
use crate::host::serial::sorted;
use crate::host::unrolling::{Unrolling, UnrollingState, place};
use crate::record::Rank;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The communicator of messages between single ranks: that of all ranks.
const ALL: u32 = 0;

/// What waits for each operation of a rank, in order.
struct Successors {
    /// Where in `operations` the successors of each operation begin, and where those of the last one end.
    first: Vec<u32>,
    operations: Vec<u32>,
}

impl Successors {
    /// The operations that wait until an operation has started, or until it is done.
    fn new(graph: &RankGraph, started: bool) -> Self {
        let mut pairs: Vec<(u32, u32)> = graph
            .dependencies
            .iter()
            .filter(|dependency| dependency.started == started)
            .map(|dependency| (dependency.on, dependency.operation))
            .collect();
        pairs.sort_unstable();
        let count = graph.operations.len() as u32;
        let first = (0..=count).map(|on| pairs.partition_point(|pair| pair.0 < on) as u32).collect();
        Self { first, operations: pairs.into_iter().map(|pair| pair.1).collect() }
    }

    fn range(&self, operation: u32) -> (u32, u32) {
        (self.first[operation as usize], self.first[operation as usize + 1])
    }
}

/// A collective operation under way.
struct OpenCollective {
    unrolling: Unrolling,
    /// Operations of the present step that are not done.
    left: u32,
}

/// Operations that wait for another one and have not been told yet.
struct Frame {
    started: bool,
    next: u32,
    end: u32,
}

/// The operations of one rank in a snapshot.
#[derive(Clone, Serialize, Deserialize)]
pub struct OperationsState {
    missing: Vec<u32>,
    #[serde(with = "sorted")]
    open: FxHashMap<u32, (UnrollingState, u32)>,
    left: usize,
}

/// The operations of one rank.
pub struct Operations {
    graph: Arc<Graph>,
    rank: Rank,
    /// How many others each operation still waits for.
    missing: Vec<u32>,
    /// How long each operation computes \[cycles\].
    times: Vec<Cycle>,
    after_started: Successors,
    after_done: Successors,
    open: FxHashMap<u32, OpenCollective>,
    /// Operations that are not ready.
    left: usize,
}

impl Operations {
    /// The operations of a rank.
    pub fn new(rank: Rank, graph: &Arc<Graph>, rules: &Rules) -> Self {
        let own = &graph.ranks[rank as usize];
        let mut missing = vec![0; own.operations.len()];
        own.dependencies.iter().for_each(|dependency| missing[dependency.operation as usize] += 1);
        let mut remainder = 0;
        let mut time = |operation: &Operation| match operation {
            Operation::Compute { time } => rules.compute_cycles(*time, &mut remainder),
            _ => 0,
        };
        Self {
            graph: Arc::clone(graph),
            rank,
            missing,
            times: own.operations.iter().map(&mut time).collect(),
            after_started: Successors::new(own, true),
            after_done: Successors::new(own, false),
            open: FxHashMap::default(),
            left: own.operations.len(),
        }
    }

    /// How far the operations are.
    pub fn save(&self) -> OperationsState {
        let Self { graph: _, rank: _, missing, times: _, after_started: _, after_done: _, open, left } = self;
        let saved = |(number, OpenCollective { unrolling, left }): (&u32, &OpenCollective)| {
            (*number, (unrolling.save(), *left))
        };
        OperationsState { missing: missing.clone(), open: open.iter().map(saved).collect(), left: *left }
    }

    /// Goes on from a snapshot, before the operations begin.
    pub fn load(&mut self, rules: &Rules, state: OperationsState) {
        let OperationsState { missing, open, left } = state;
        let communicators = &self.graph.communicators;
        let load = |(number, (state, left))| {
            (number, OpenCollective { unrolling: Unrolling::load(rules, communicators, state), left })
        };
        self.open = open.into_iter().map(load).collect();
        (self.missing, self.left) = (missing, left);
    }

    fn own(&self) -> &RankGraph {
        &self.graph.ranks[self.rank as usize]
    }

    /// The number of streams that the operations need.
    pub fn streams(&self) -> usize {
        self.own().streams.iter().max().map_or(1, |&stream| usize::from(stream) + 1)
    }

    /// Whether some receive fits several envelopes.
    pub fn is_open(&self) -> bool {
        let is_open = |operation: &Operation| matches!(operation, Operation::Receive { peer, tag, .. } if peer.is_none() || tag.is_none());
        self.own().operations.iter().any(is_open)
    }

    /// Whether all operations are ready or done, and no collective is under way.
    pub fn is_exhausted(&self) -> bool {
        self.left == 0 && self.open.is_empty()
    }

    /// Operations that are not ready.
    pub fn left(&self) -> u64 {
        self.left as u64
    }

    /// Begins the operations that wait for nothing.
    pub fn begin(&mut self, now: Cycle, machine: &mut Machine) {
        let first: Vec<u32> = (0..)
            .zip(&self.missing)
            .filter(|(_, missing)| **missing == 0)
            .map(|(number, _)| number)
            .collect();
        for operation in first {
            let mut frames = Vec::new();
            self.ready(now, machine, operation, &mut frames);
            self.tell(now, machine, frames);
        }
    }

    /// An operation has reached a state.
    pub fn reached(&mut self, now: Cycle, machine: &mut Machine, reached: Reached) {
        let Reached { owner, started, done } = reached;
        let mut frames = Vec::new();
        if self.open.contains_key(&owner) {
            if done {
                self.step_done(now, machine, owner, &mut frames);
            }
        } else {
            self.has(owner, started, done, &mut frames);
        }
        self.tell(now, machine, frames);
    }

    /// The operations that wait for an operation are to be told: that it has started before that it is done.
    fn has(&self, operation: u32, started: bool, done: bool, frames: &mut Vec<Frame>) {
        if done {
            let (next, end) = self.after_done.range(operation);
            frames.push(Frame { started: false, next, end });
        }
        if started {
            let (next, end) = self.after_started.range(operation);
            frames.push(Frame { started: true, next, end });
        }
    }

    /// Tells the operations that wait, depth first, in order.
    fn tell(&mut self, now: Cycle, machine: &mut Machine, mut frames: Vec<Frame>) {
        while let Some(frame) = frames.last_mut() {
            if frame.next == frame.end {
                frames.pop();
                continue;
            }
            let successors = if frame.started { &self.after_started } else { &self.after_done };
            let operation = successors.operations[frame.next as usize];
            frame.next += 1;
            self.missing[operation as usize] -= 1;
            if self.missing[operation as usize] == 0 {
                self.ready(now, machine, operation, &mut frames);
            }
        }
    }

    fn ready(&mut self, now: Cycle, machine: &mut Machine, operation: u32, frames: &mut Vec<Frame>) {
        self.left -= 1;
        let label = self.label(operation);
        match self.own().operations[operation as usize] {
            Operation::Compute { .. } => {
                machine.begin(now, label, Work::Compute(self.times[operation as usize]));
            }
            Operation::Send { peer, tag, bytes } => {
                machine.begin(now, label, Work::Send(Sending { to: peer, tag, communicator: ALL, bytes }));
            }
            Operation::Receive { peer, tag, .. } => {
                machine.begin(now, label, Work::Receive(Pattern { source: peer, tag, communicator: ALL }));
                self.has(operation, true, false, frames);
            }
            Operation::Join => self.has(operation, true, true, frames),
            Operation::Collective(number) => {
                let unrolling = self.unroll(machine, number);
                self.open.insert(operation, OpenCollective { unrolling, left: 1 });
                self.step_done(now, machine, operation, frames);
                self.has(operation, true, false, frames);
            }
        }
    }

    fn label(&self, operation: u32) -> Label {
        let stream = self.own().streams.get(operation as usize).copied().unwrap_or(0);
        // A collective needs two places in program order, for what it receives and what it sends.
        Label { index: 2 * operation, owner: operation, record: operation, stream }
    }

    fn unroll(&self, machine: &Machine, number: u32) -> Unrolling {
        let own = self.own();
        let collective = &own.collectives[number as usize];
        let communicator = collective.communicator;
        let before = &own.collectives[..number as usize];
        let calls = before.iter().filter(|other| other.communicator == communicator).count() as u32;
        let members = &self.graph.communicators[communicator as usize];
        Unrolling::new(&machine.rules, collective.clone(), members, (place(members, self.rank), calls))
    }

    /// An operation of a step of a collective is done; after the last one the next step begins.
    fn step_done(&mut self, now: Cycle, machine: &mut Machine, operation: u32, frames: &mut Vec<Frame>) {
        let label = self.label(operation);
        let Some(open) = self.open.get_mut(&operation) else { return };
        open.left -= 1;
        if open.left > 0 {
            return;
        }
        let Some(exchange) = open.unrolling.next() else {
            self.open.remove(&operation);
            return self.has(operation, false, true, frames);
        };
        open.left = exchange.count();
        exchange.begin(now, machine, label);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collectives::Kind;
    use crate::graph::Dependency;
    use crate::host::Host;
    use crate::ideal::{Ejection, Ideal, Latency, Network};
    use crate::record::{Bytes, Collective};

    #[test]
    fn in_a_step_of_a_collective_a_message_that_is_there_comes_before_one_to_send() {
        let barrier = Collective { kind: Kind::Barrier, communicator: 0, root: None, bytes: Bytes::Same(0) };
        let mut ranks = vec![RankGraph { collectives: vec![barrier], ..RankGraph::default() }; 2];
        ranks[1].push(Operation::Collective(0), 0, None);
        for operation in
            [Operation::Compute { time: 500 }, Operation::Compute { time: 500 }, Operation::Collective(0)]
        {
            ranks[0].push(operation, 0, None);
        }
        ranks[0].dependencies.push(Dependency { operation: 2, on: 1, started: false });
        let graph = Arc::new(Graph { communicators: vec![[0, 1].into()], ranks, ..Graph::default() });
        let rules = Arc::new(Rules { send_overhead: 20, receive_overhead: 10, ..Rules::default() });
        let hosts = (0..2).map(|rank| Host::of_graph(rank, &graph, &rules)).collect();
        let network =
            Network { latency: Latency::Constant(50), cycles_per_phit: 1, ejection: Ejection::Unlimited };
        let mut ideal = Ideal::new(network, hosts, 0);
        ideal.advance(Cycle::MAX, |_, _| ());
        let finish: Vec<Cycle> = ideal.hosts().iter().map(|host| host.figures().finish).collect();
        assert_eq!(finish, [1000 + 10 + 20, 1000 + 10 + 20 + 1 + 50 + 10]);
    }
}
