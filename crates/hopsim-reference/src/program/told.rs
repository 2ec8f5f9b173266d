//! What is told of programs when a run is over.

use super::{Message, Rank, State, Work};
use crate::simulator::Simulator;
use hopsim_programs::program::Program;

/// What is told of a rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Cycle in which the last operation of the rank was done.
    pub finish: u32,
    /// Cycles of stream 0 with computations.
    pub compute: u64,
    /// Cycles of stream 0 with overheads.
    pub overhead: u64,
    /// Payload \[bytes\] of every message that the rank sent to another rank.
    pub sent: Vec<u64>,
    /// Payload \[bytes\] and latency \[cycles\] of every message that the rank received from another rank.
    pub received: Vec<(u64, u32)>,
    /// What the streams of the rank did and what the rank waited for.
    pub passed: Vec<Passed>,
}

/// Cycles of a stream in which the stream did the same or its rank waited for the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    pub stream: usize,
    /// The name in the table of what the stream did, or of what the rank waited for.
    pub activity: &'static str,
    /// Record of the program that the activity belongs to.
    pub record: usize,
    /// The operation that the stream does; `None` if the rank waits.
    pub operation: Option<usize>,
    /// First cycle, and the cycle after the last.
    pub cycles: (u32, u32),
}

/// What is told of the programs of a run.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    /// What is told of each rank, by job and rank; nothing of jobs with traffic.
    pub ranks: Vec<Vec<Told>>,
    /// Messages between different ranks, by job, source and number.
    pub messages: Vec<Message>,
}

impl Told {
    /// Adds what a stream does in a cycle, or what its rank waits for.
    fn pass(&mut self, now: u32, passed: Passed) {
        let goes_on = |last: &&mut Passed| {
            let cycles = (last.cycles.0, now);
            last.stream == passed.stream && **last == Passed { cycles, ..passed.clone() }
        };
        let last = self.passed.iter_mut().rev().find(|last| last.stream == passed.stream);
        match last.filter(goes_on) {
            Some(last) => last.cycles.1 = now + 1,
            None => self.passed.push(passed),
        }
    }
}

impl Rank {
    /// The operation that the rank waits for if its first stream has nothing to do. In a sequence that is the one that the next
    /// operation of the rank comes behind, and then the first in program order of the others that the next one waits for. In a
    /// graph, and when there is no next one, it is the first one that is ready and not done.
    fn awaited(&self, is_graph: bool) -> Option<usize> {
        let next = self.operations.iter().find(|operation| !operation.ready);
        if let Some(next) = next.filter(|_| !is_graph) {
            let is_open = |&&(other, state): &&(usize, State)| match state {
                State::Started => !self.operations[other].started,
                State::Done => !self.operations[other].done,
            };
            let before = next.after.first().filter(is_open);
            return before
                .or_else(|| next.after.iter().filter(is_open).min_by_key(|after| after.0))
                .map(|after| after.0);
        }
        self.operations.iter().position(|operation| operation.ready && !operation.done)
    }
}

impl Simulator<'_> {
    /// Notes, when the cycle of a rank is over, what the rank does until the next one.
    pub(super) fn note_passing(&mut self, node: usize) {
        let now = self.now;
        let job = self.rank(node).job;
        let Some(program) = self.plan.system.jobs[job].program().filter(|program| program.start <= now)
        else {
            return;
        };
        let is_graph = matches!(program.program, Program::Graph(_));
        let rank = self.rank(node);
        for stream in 0..rank.busy.len() {
            let (operation, waits) = match rank.busy[stream] {
                Some((_, operation)) => (operation, false),
                None if stream == 0 && !rank.is_done() => {
                    (rank.awaited(is_graph).expect("something keeps it from being done"), true)
                }
                None => continue,
            };
            let activity = match (&rank.operations[operation].work, waits) {
                (Work::Compute(_), false) => "compute",
                (Work::Send { .. }, false) => "send_overhead",
                (Work::Receive { .. }, false) => "receive_overhead",
                (Work::Compute(_), true) => "wait_compute",
                (Work::Send { .. }, true) => "wait_send",
                (Work::Receive { .. }, true) => "wait_receive",
                (Work::Join, _) => unreachable!("it takes no time"),
            };
            let record = rank.operations[operation].record;
            let operation = (!waits).then_some(operation);
            rank.told.pass(now, Passed { stream, activity, record, operation, cycles: (now, now + 1) });
        }
    }

    /// What the programs did.
    pub(crate) fn tell_of_programs(&self) -> Programs {
        let mut ranks = vec![Vec::new(); self.plan.system.jobs.len()];
        for (job, of) in self.plan.system.jobs.iter().zip(&mut ranks) {
            let nodes = job.program().map_or(&[][..], |program| &program.nodes);
            let told = |&node: &u32| self.ranks[node as usize].as_ref().map(|rank| rank.told.clone());
            of.extend(nodes.iter().filter_map(told));
        }
        let others = self.messages.iter().filter(|message| message.source.0 != message.to);
        let mut messages: Vec<Message> = others.cloned().collect();
        messages.sort_by_key(|message| (message.job, message.source.0, message.number));
        Programs { ranks, messages }
    }
}
