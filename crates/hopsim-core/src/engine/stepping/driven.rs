//! A simulation whose kind of routers and mode are forgotten, together with its plan.

use crate::engine::node::DeliveredLetter;
use crate::engine::region::Region;
use crate::engine::simulation::{Schedule, Simulation};
use crate::engine::{Control, Fit, Outcome, SHARE, Task, look_for_deadlock, outcome, perform, programs};
use crate::error::{ConfigError, JobProgress, RunError};
use hopsim_experiment::plan::Plan;
use hopsim_programs::host::machine::Sending;
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

struct Simulated<'p, R: Region<'p>> {
    simulation: Simulation<'p, R>,
    /// When to look for deadlock.
    next_check: u32,
}

impl<'p, R: Region<'p>> Driven for Simulated<'p, R> {
    fn now(&self) -> u32 {
        self.simulation.now()
    }

    fn skip_idle(&mut self, end: u32) {
        self.simulation.skip_idle(end);
    }

    fn advance(&mut self, end: u32, control: &Control) -> Result<(), RunError> {
        self.simulation.advance(end, control)?;
        if end < self.next_check {
            return Ok(());
        }
        let watchdog = self.simulation.plan.experiment.measure.watchdog;
        self.next_check = end.saturating_add(watchdog.max(end / SHARE));
        look_for_deadlock(&self.simulation)
    }

    fn post(&mut self, source: u32, message: Sending) {
        let region = self.simulation.cut.of(source / self.simulation.plan.topology.nodes_per_router());
        self.simulation.regions[region].post(source, message);
    }

    fn take_delivered(&mut self) -> Vec<DeliveredLetter> {
        let mut delivered = Vec::new();
        self.simulation.regions.iter_mut().for_each(|region| region.take_delivered(&mut delivered));
        delivered
    }

    fn finish(&mut self) -> Result<Outcome, ConfigError> {
        let (plan, end) = (self.simulation.plan, self.simulation.now());
        let progress = programs::progress(&plan.programs(), &self.simulation.ranks());
        if let Some(job) = progress.iter().find(|job| job.done < job.ranks) {
            let JobProgress { job, done, ranks, .. } = job;
            let reason =
                format!("{done} of {ranks} ranks of job {job} are done at cycle {end}: it has no results");
            return Err(ConfigError::new("", reason).valid("more cycles, or repeat = \"forever\""));
        }
        let mut counts = self.simulation.finish(end);
        counts.recorder.close(end);
        Ok(outcome(plan, &counts))
    }
}

/// Hands over a simulation at cycle 0.
struct Begin(Schedule);

impl Task for Begin {
    type Output<'p> = Box<dyn Driven + 'p>;

    fn schedule(&self) -> Schedule {
        self.0
    }

    fn with<'p, R: Region<'p>>(self, simulation: Simulation<'p, R>) -> Self::Output<'p> {
        let next_check = simulation.plan.experiment.measure.watchdog;
        Box::new(Simulated { simulation, next_check })
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
    Planned::new(plan, |plan| perform(plan, Fit::Tight, Begin(schedule)))
}
