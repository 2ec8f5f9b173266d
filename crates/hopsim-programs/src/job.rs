//! Jobs that run programs: which nodes, and from when on.

use crate::host::Host;
use crate::host::log::Wanted;
use crate::host::rules::Rules;
use crate::program::Program;
use crate::record::Rank;
use crate::units::Fraction;
use std::sync::Arc;

/// A job whose nodes run a program.
#[derive(Clone, Debug)]
pub struct ProgramPlan {
    /// The name of the job in the results.
    pub name: String,
    /// The node of every rank.
    pub nodes: Vec<u32>,
    /// What the ranks do.
    pub program: Program,
    /// The hosts that the ranks run on.
    pub rules: Arc<Rules>,
    /// Length of a cycle \[ns\].
    pub cycle: Fraction,
    /// Cycle in which the program begins.
    pub start: u32,
    /// Whether the program is run until the programs of all other jobs are done, or driven as long as another simulator wants.
    pub is_endless: bool,
    /// What the hosts of the job write down for the record streams.
    pub wanted: Wanted,
}

impl ProgramPlan {
    /// Edges of the graph that the job searches, if it does.
    pub fn edges(&self) -> Option<u64> {
        match &self.program {
            Program::Search(search) => Some(search.edges()),
            Program::Script(_) | Program::Graph(_) | Program::External(_) => None,
        }
    }

    /// Whether another simulator drives the nodes of the job.
    pub fn is_external(&self) -> bool {
        matches!(self.program, Program::External(_))
    }

    /// The host of a rank, before the program begins.
    pub fn host(&self, rank: Rank) -> Host {
        self.program.host(rank, &self.rules).writing(self.wanted)
    }
}

/// The programs of a run.
#[derive(Clone, Debug)]
pub struct Programs<'p> {
    /// The names of all jobs.
    pub jobs: Vec<&'p str>,
    /// The programs, each with the number of its job, ascending.
    pub all: Vec<(usize, &'p ProgramPlan)>,
}

impl<'p> Programs<'p> {
    /// The programs that end by themselves, each with the number of its job.
    pub fn with_end(&self) -> impl Iterator<Item = (usize, &'p ProgramPlan)> {
        self.all.iter().copied().filter(|(_, job)| !job.is_endless)
    }
}
