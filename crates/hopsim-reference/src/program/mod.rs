//! Nodes that run programs: every rank has a list of operations, of which each waits for others, and looks at all of them.
//!
//! Nothing is scheduled. In every cycle a rank asks which of the messages for it are there, which of its streams have finished,
//! what waits for a stream, and what its network interface takes. What follows in no time follows at once, depth first.

mod messages;
mod operations;
mod ranks;
mod told;

pub use messages::{Message, Parcel};
pub use operations::{Operation, State, Work, operations};
pub use told::{Passed, Programs, Told};

use crate::simulator::Simulator;
use hopsim_experiment::plan::Plan;
use hopsim_measure::trace::PacketTrace;
use hopsim_programs::job::ProgramPlan;
use std::collections::VecDeque;

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
    /// Cycle in which the last parcel began.
    pub began: Option<u32>,
    /// Sends that are done when their last phit leaves the node, each behind the cycle in which it does.
    pub leaving: Vec<(u32, usize)>,
    /// Number of messages that the rank has numbered.
    pub numbers: u32,
    /// What is told of the rank in the end.
    pub told: Told,
}

/// What is told of a run of programs.
pub struct ProgramRun {
    /// The lives of all packets.
    pub traces: Vec<PacketTrace>,
    /// What the programs did.
    pub programs: Programs,
    /// Cycle after the last one.
    pub end: u32,
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
}

impl Simulator<'_> {
    /// Whether all ranks have begun and have nothing left to do.
    fn programs_are_done(&self) -> bool {
        let begun = self
            .plan
            .system
            .jobs
            .iter()
            .filter_map(|job| job.program())
            .all(|program| program.start < self.now);
        begun && self.ranks.iter().flatten().all(Rank::is_done)
    }

    /// Runs until all programs are done, and on to a multiple of `period`; `None` if they are not done by cycle `limit`.
    pub(crate) fn run_programs(mut self, period: u32, limit: u32) -> Option<ProgramRun> {
        while !self.now.is_multiple_of(period) || !self.programs_are_done() {
            if self.now >= limit {
                return None;
            }
            self.step();
        }
        let (end, programs) = (self.now, self.tell_of_programs());
        Some(ProgramRun { traces: self.into_traces(), programs, end })
    }
}
