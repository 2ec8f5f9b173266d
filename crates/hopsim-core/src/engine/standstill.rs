//! Networks that stand still because of what a function in Python asks for: nobody knows what it would say next, so that packets are not found
//! to wait for each other in a circle, but not to have moved for as long as the watchdog waits.

use crate::error::RunError;
use hopsim_cycles::begin::AnySimulation;
use hopsim_experiment::plan::Plan;
use hopsim_measure::recorder::Recorder;

/// A head: its router, its input VC, its source and the cycle of its generation.
type FirstOfQueue = (u32, u32, u32, u32);

/// The heads of a network at some cycle.
pub struct Heads {
    /// Cycles in which a network has to move.
    watchdog: u32,
    /// Whether anybody looks.
    looks: bool,
    cycle: u32,
    before: Vec<FirstOfQueue>,
}

impl Heads {
    /// The heads before the first cycle of a plan: none.
    pub fn new(plan: &Plan) -> Self {
        let looks = plan.experiment.routing.is_function();
        Self { watchdog: plan.experiment.measure.watchdog, looks, cycle: 0, before: Vec::new() }
    }

    /// Refuses to go on with a network all of whose heads are those of so many cycles before.
    pub fn look(&mut self, simulation: &AnySimulation<'_, Recorder>, now: u32) -> Result<(), RunError> {
        if !self.looks || now - self.cycle < self.watchdog {
            return Ok(());
        }
        let heads: Vec<FirstOfQueue> = simulation
            .standing()
            .iter()
            .filter_map(|queue| {
                queue.packets.first().map(|head| (queue.router, queue.slot, head.source, head.generated))
            })
            .collect();
        if let Some(&(router, _, source, _)) = heads.first().filter(|_| heads == self.before) {
            return Err(RunError::StandsStill { from: self.cycle, now, heads: heads.len(), router, source });
        }
        (self.cycle, self.before) = (now, heads);
        Ok(())
    }
}
