//! Nodes that run programs: every rank has a list of operations, of which each waits for others, and looks at all of them.
//!
//! Nothing is scheduled. In every cycle a rank asks which of the messages for it are there, which of its streams have finished,
//! what waits for a stream, and what its network interface takes. What follows in no time follows at once, depth first.

mod messages;
mod ranks;
mod told;

use crate::simulator::Simulator;
use crate::state::program::Rank;
use crate::state::program::told::ProgramRun;

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
