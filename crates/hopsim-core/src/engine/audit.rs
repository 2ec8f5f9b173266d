//! The audit: what must hold between any two cycles, counted anew from the whole state. Slow; for tests.

use super::{Control, Fit, Task, Trial, perform};
use crate::engine::region::Region;
use crate::engine::simulation::{Schedule, Simulation};
use crate::trace::PacketTrace;
use hopsim_experiment::plan::Plan;

struct Audited(u32, Trial);

impl Task for Audited {
    type Output<'p> = Result<(), String>;

    fn schedule(&self) -> Schedule {
        self.1.into()
    }

    fn with<'p, R: Region<'p>>(self, mut simulation: Simulation<'p, R>) -> Self::Output<'p> {
        simulation.watch();
        for _ in 0..self.0 {
            simulation
                .advance(simulation.now() + 1, &Control::default())
                .map_err(|error| error.to_string())?;
            let delivered =
                simulation.workers.iter_mut().map(|worker| worker.observer.watch().delivered()).sum();
            check_conservation(&simulation, delivered)
                .and_then(|()| R::audit(simulation.whole()))
                .map_err(|breach| format!("before cycle {}: {breach}", simulation.now()))?;
        }
        let traces = simulation.take_tracer().into_traces();
        let twice =
            |packet: &&PacketTrace| packet.hops.windows(2).any(|hops| hops[0].granted >= hops[1].granted);
        traces
            .iter()
            .find(twice)
            .map_or(Ok(()), |packet| Err(format!("granted twice in one cycle: {packet:?}")))
    }
}

/// Packets generated = dropped + waiting at nodes or inside + delivered.
fn check_conservation<'p, R: Region<'p>>(
    simulation: &Simulation<'p, R>,
    delivered: u64,
) -> Result<(), String> {
    let (mut generated, mut dropped) = (0, 0);
    for worker in &simulation.workers {
        let counts = worker.recorder.lifetime();
        (generated, dropped) = (generated + counts.0, dropped + counts.1);
    }
    let here = simulation.regions.iter().map(R::packets).sum::<usize>() as u64;
    if generated == dropped + here + delivered {
        return Ok(());
    }
    Err(format!(
        "{generated} packets generated, but {dropped} dropped, {here} here and {delivered} delivered"
    ))
}

/// Runs a plan for `cycles` cycles and checks every invariant after each; the error names the first breach.
pub fn audit(plan: &Plan, cycles: u32) -> Result<(), String> {
    perform(plan, Fit::Tight, Audited(cycles, Trial { finest: true, ..Trial::default() }))
}
