//! A cycle of a rank.

use crate::simulator::Simulator;
use crate::state::program::Rank;
use crate::state::program::operations::{Operation, State, Work};

/// What ends in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum OperationEnd {
    /// What a stream did ends.
    Stream,
    /// The last phit of a send leaves the node.
    Left,
}

impl Simulator<'_> {
    /// Runs a cycle of the rank of a node: messages that are there, ends, what its streams take up, admission.
    pub(crate) fn run_rank(&mut self, node: usize) {
        let start = self.plan.system.jobs[self.rank(node).job].program().map(|program| program.start);
        if start == Some(self.now) {
            self.begin(node);
        }
        self.receive_parcels(node);
        loop {
            self.end(node);
            while self.take_up(node) {}
            self.admit_parcels(node);
            // Over an unlimited link messages leave in the cycle of their admission.
            let now = self.now;
            if !self.rank(node).leaving.iter().any(|&(cycle, _)| cycle == now) {
                break;
            }
        }
        self.note_passing(node);
    }

    pub(super) fn rank(&mut self, node: usize) -> &mut Rank {
        self.ranks[node].as_mut().expect("the node runs a program")
    }

    /// Makes ready what waits for nothing.
    fn begin(&mut self, node: usize) {
        for operation in 0..self.rank(node).operations.len() {
            if self.rank(node).operations[operation].after.is_empty() {
                self.become_ready(node, operation);
            }
        }
    }

    /// Notes that an operation has come as far as `state`, and tells those that wait for that, one after the other: each is ready
    /// with the last thing that it is told.
    pub(super) fn reach(&mut self, node: usize, operation: usize, state: State) {
        let now = self.now;
        let rank = self.rank(node);
        match state {
            State::Started => rank.operations[operation].started = true,
            State::Done => {
                rank.operations[operation].done = true;
                rank.told.finish = now;
            }
        }
        for other in 0..rank.operations.len() {
            let untold = &mut self.rank(node).operations[other].untold;
            let before = untold.len();
            untold.retain(|&waits_for| waits_for != (operation, state));
            if untold.is_empty() && before > 0 {
                self.become_ready(node, other);
            }
        }
    }

    fn become_ready(&mut self, node: usize, operation: usize) {
        let now = self.now;
        let rank = self.rank(node);
        rank.operations[operation].ready = true;
        match rank.operations[operation].work {
            Work::Compute(_) | Work::Send { .. } => rank.waiting.push((now, operation)),
            Work::Receive { .. } => {
                self.post(node, operation);
                self.reach(node, operation, State::Started);
            }
            Work::Join => {
                self.reach(node, operation, State::Started);
                self.reach(node, operation, State::Done);
            }
        }
    }

    /// Ends computations and overheads, and sends whose last phit leaves.
    fn end(&mut self, node: usize) {
        let now = self.now;
        let rank = self.rank(node);
        let streams =
            rank.busy.iter().flatten().map(|&(cycle, operation)| (cycle, operation, OperationEnd::Stream));
        let sends = rank.leaving.iter().map(|&(cycle, operation)| (cycle, operation, OperationEnd::Left));
        let mut ends: Vec<_> =
            streams.chain(sends).filter(|end| end.0 == now).map(|end| (end.1, end.2)).collect();
        rank.leaving.retain(|&(cycle, _)| cycle != now);
        ends.sort_unstable();
        for (operation, end) in ends {
            match end {
                OperationEnd::Stream => self.finish(node, operation),
                OperationEnd::Left => self.reach(node, operation, State::Done),
            }
        }
    }

    /// Lets the first idle stream that something waits for take up what has waited longest; whether there is one.
    fn take_up(&mut self, node: usize) -> bool {
        let now = self.now;
        let job = self.rank(node).job;
        let Some(program) = self.plan.system.jobs[job].program() else { return false };
        let rank = self.rank(node);
        let is_idle =
            |&&(_, operation): &&(u32, usize)| rank.busy[rank.operations[operation].stream].is_none();
        let order =
            |&&(since, operation): &&(u32, usize)| (rank.operations[operation].stream, since, operation);
        let Some(&first) = rank.waiting.iter().filter(is_idle).min_by_key(order) else { return false };
        rank.waiting.retain(|&waiting| waiting != first);
        let operation = first.1;
        let stream = rank.operations[operation].stream;
        let (cycles, computes) = match rank.operations[operation].work {
            Work::Compute(cycles) => (cycles, true),
            Work::Send { .. } => (program.rules.send_overhead, false),
            Work::Receive { .. } => (program.rules.receive_overhead, false),
            Work::Join => unreachable!("it needs no stream"),
        };
        rank.busy[stream] = Some((now + cycles, operation));
        if stream == 0 {
            let told = if computes { &mut rank.told.compute } else { &mut rank.told.overhead };
            *told += u64::from(cycles);
        }
        if computes {
            self.reach(node, operation, State::Started);
        }
        if cycles == 0 {
            self.finish(node, operation);
        }
        true
    }

    /// Notes that a stream has done an operation.
    fn finish(&mut self, node: usize, operation: usize) {
        let rank = self.rank(node);
        let Operation { stream, ref work, .. } = rank.operations[operation];
        let sends = matches!(work, Work::Send { .. });
        rank.busy[stream] = None;
        if sends {
            self.reach(node, operation, State::Started);
            self.issue(node, operation);
        } else {
            self.reach(node, operation, State::Done);
        }
    }
}
