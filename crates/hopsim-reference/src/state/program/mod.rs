//! Ranks of programs on their nodes.

pub mod message;
pub mod operations;
pub mod told;

use hopsim_experiment::plan::Plan;
use hopsim_programs::job::ProgramPlan;
use operations::{Operation, State, operations};
use std::collections::VecDeque;
use told::Told;

/// A rank of a program on its node.
pub struct Rank {
    /// Number of the rank's job.
    pub job: usize,
    /// The number of the rank in its program.
    pub number: u32,
    /// All operations of the rank, in program order.
    pub operations: Vec<Operation>,
    /// Operations that wait for their stream, each behind the cycle since which it does.
    pub waiting: Vec<(u32, usize)>,
    /// What each stream does, behind the cycle until which it does that.
    pub busy: Vec<Option<(u32, usize)>>,
    /// Receives without their message, in the order in which they were posted.
    pub posted: Vec<usize>,
    /// Announced messages that nobody has received, in the order in which they were announced.
    pub announced: Vec<usize>,
    /// Parcels for this node that have not been handled.
    pub coming: Vec<usize>,
    /// Parcels that wait for the network interface or are being admitted.
    pub queue: VecDeque<usize>,
    /// Cycles in which packets of the rank were admitted.
    pub admissions: Vec<u32>,
    /// Cycle in which the last parcel began.
    pub began: Option<u32>,
    /// Sends that are done when their last phit leaves the node, each behind the cycle in which it does.
    pub leaving: Vec<(u32, usize)>,
    /// Number of messages that the rank has numbered.
    pub numbers: u32,
    /// What is told of the rank in the end.
    pub told: Told,
}

/// The ranks by node; most nodes may have none.
pub fn ranks(plan: &Plan) -> Vec<Option<Rank>> {
    let mut ranks: Vec<Option<Rank>> = (0..plan.system.network.nodes).map(|_| None).collect();
    for (job, built) in plan.system.jobs.iter().enumerate() {
        let Some(program) = built.program() else { continue };
        for (&node, number) in program.nodes.iter().zip(0..) {
            ranks[node as usize] = Some(Rank::new(job, number, program));
        }
    }
    ranks
}

impl Rank {
    fn new(job: usize, number: u32, program: &ProgramPlan) -> Self {
        let operations = operations(program, number);
        let streams = operations.iter().map(|operation| operation.stream + 1).max().unwrap_or(1);
        Self {
            job,
            number,
            operations,
            waiting: Vec::new(),
            busy: vec![None; streams],
            posted: Vec::new(),
            announced: Vec::new(),
            coming: Vec::new(),
            queue: VecDeque::new(),
            admissions: Vec::new(),
            began: None,
            leaving: Vec::new(),
            numbers: 0,
            told: Told { finish: program.start, ..Told::default() },
        }
    }

    /// Whether all operations of the rank are done.
    pub fn is_done(&self) -> bool {
        self.operations.iter().all(|operation| operation.done)
    }

    /// The operation that the rank waits for if its first stream has nothing to do. In a sequence that is the one that the next
    /// operation of the rank comes behind, and then the first in program order of the others that the next one waits for. In a
    /// graph, and when there is no next one, it is the first one that is ready and not done.
    pub fn awaited(&self, is_graph: bool) -> Option<usize> {
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
