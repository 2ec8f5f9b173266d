//! A simulation whose kind of routers and mode are forgotten, together with its plan.

use crate::engine::measured::{Measured, Recorded, Work, measure};
use crate::engine::{Control, Outcome, SHARE, look_for_deadlock, outcome};
use crate::error::{ConfigError, RunError};
use hopsim_cycles::node::DeliveredLetter;
use hopsim_cycles::region::Region;
use hopsim_cycles::simulation::Schedule;
use hopsim_cycles::task::Fit;
use hopsim_experiment::plan::Plan;
use hopsim_programs::host::machine::Sending;
use hopsim_programs::standstill::{JobProgress, progress};
use self_cell::self_cell;

/// A simulation, whatever its routers and mode.
pub trait Driven: Send {
    /// The present cycle.
    fn now(&self) -> u32;
    /// Passes over cycles in which nothing happens, up to `end`.
    fn skip_idle(&mut self, end: u32);
    /// Simulates up to cycle `end`.
    fn advance(&mut self, end: u32, control: &Control) -> Result<(), RunError>;
    /// Node `source` sends a message in the present cycle.
    fn post(&mut self, source: u32, message: Sending);
    /// The messages that are there and that no call has returned, in no order.
    fn take_delivered(&mut self) -> Vec<DeliveredLetter>;
    /// What has been measured, unless the program of a job still has to end.
    fn finish(&mut self) -> Result<Outcome, ConfigError>;
}

struct Simulated<'p, R: Recorded<'p>> {
    run: Measured<'p, R>,
    /// When to look for deadlock.
    next_check: u32,
}

impl<'p, R: Recorded<'p>> Driven for Simulated<'p, R> {
    fn now(&self) -> u32 {
        self.run.now()
    }

    fn skip_idle(&mut self, end: u32) {
        self.run.skip_idle(end);
    }

    fn advance(&mut self, end: u32, control: &Control) -> Result<(), RunError> {
        self.run.advance(end, control)?;
        if end < self.next_check {
            return Ok(());
        }
        let watchdog = self.run.plan.experiment.measure.watchdog;
        self.next_check = end.saturating_add(watchdog.max(end / SHARE));
        look_for_deadlock(&self.run.simulation)
    }

    fn post(&mut self, source: u32, message: Sending) {
        self.run.simulation.post(source, message);
    }

    fn take_delivered(&mut self) -> Vec<DeliveredLetter> {
        self.run.simulation.take_delivered()
    }

    fn finish(&mut self) -> Result<Outcome, ConfigError> {
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

/// Hands over a simulation at cycle 0.
struct Begin;

impl<'p> Work<'p> for Begin {
    type Output = Box<dyn Driven + 'p>;

    fn with<R: Recorded<'p>>(self, run: Measured<'p, R>) -> Self::Output {
        let next_check = run.plan.experiment.measure.watchdog;
        Box::new(Simulated { run, next_check })
    }
}

/// A simulation of any kind: see [`Driven`].
pub type AnyDriven<'p> = Box<dyn Driven + 'p>;

self_cell!(
    /// A plan with its simulation.
    pub struct Planned {
        owner: Box<Plan>,
        #[covariant]
        dependent: AnyDriven,
    }
);

/// A simulation of a plan at cycle 0.
pub fn begin(plan: Box<Plan>, schedule: Schedule) -> Planned {
    Planned::new(plan, |plan| measure(plan, Fit::Tight, schedule, Begin))
}
