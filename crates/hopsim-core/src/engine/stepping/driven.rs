//! A simulation that another simulator drives, together with its plan.

use crate::engine::measured::Measured;
use crate::engine::{Control, Outcome, SHARE, look_for_deadlock, outcome};
use crate::error::{ConfigError, RunError};
use hopsim_cycles::begin::Fit;
use hopsim_cycles::simulation::Schedule;
use hopsim_experiment::plan::Plan;
use hopsim_programs::standstill::{JobProgress, progress};
use self_cell::self_cell;

/// A simulation that is driven.
pub struct Driven<'p> {
    /// The simulation.
    pub run: Measured<'p>,
    /// When to look for deadlock.
    next_check: u32,
}

impl Driven<'_> {
    /// Simulates up to cycle `end`.
    pub fn advance(&mut self, end: u32, control: &Control) -> Result<(), RunError> {
        self.run.advance(end, control)?;
        if end < self.next_check {
            return Ok(());
        }
        let watchdog = self.run.plan.experiment.measure.watchdog;
        self.next_check = end.saturating_add(watchdog.max(end / SHARE));
        look_for_deadlock(&self.run.simulation)
    }

    /// What has been measured, unless the program of a job still has to end.
    pub fn finish(&mut self) -> Result<Outcome, ConfigError> {
        let (plan, end) = (self.run.plan, self.run.now());
        let progress = progress(&plan.system.programs(), &self.run.simulation.ranks());
        if let Some(job) = progress.iter().find(|job| job.done < job.ranks) {
            let JobProgress { job, done, ranks, .. } = job;
            let reason =
                format!("{done} of {ranks} ranks of job {job} are done at cycle {end}: it has no results");
            return Err(ConfigError::new("", reason).valid("more cycles, or repeat = \"forever\""));
        }
        let mut counts = self.run.finish(end);
        counts.recorder.close(end);
        Ok(outcome(plan, &counts))
    }
}

self_cell!(
    /// A plan with its simulation.
    pub struct Planned {
        owner: Box<Plan>,
        #[not_covariant]
        dependent: Driven,
    }
);

/// A simulation of a plan at cycle 0.
pub fn begin(plan: Box<Plan>, schedule: Schedule) -> Planned {
    Planned::new(plan, |plan| {
        let next_check = plan.experiment.measure.watchdog;
        Driven { run: Measured::new(plan, Fit::Tight, schedule), next_check }
    })
}
