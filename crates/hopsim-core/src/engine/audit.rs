//! The audit: what must hold between any two cycles, counted anew from the whole state. Slow; for tests.

use super::measured::{Measured, Recorded};
use super::{Control, Trial, schedule};
use hopsim_cycles::mode::Mode;
use hopsim_cycles::perform::perform;
use hopsim_cycles::region::Region;
use hopsim_cycles::simulation::{Schedule, Simulation};
use hopsim_cycles::task::{Fit, Task};
use hopsim_experiment::plan::Plan;
use hopsim_measure::recorder::Recorder;
use hopsim_measure::trace::{PacketTrace, Tracer};

struct Audited<'p> {
    plan: &'p Plan,
    cycles: u32,
}

impl<'p> Task<'p> for Audited<'p> {
    type Observer = Recorder;
    type Output = Result<(), String>;

    fn schedule(&self) -> Schedule {
        schedule(Trial { finest: true, ..Trial::default() })
    }

    fn wishes(&self) -> &Plan {
        self.plan
    }

    fn with<R>(self, simulation: Simulation<'p, R>) -> Self::Output
    where
        R: Region<'p, Mode: Mode<Observer = Recorder>>,
    {
        let mut run = Measured::new(self.plan, simulation);
        run.trace();
        for _ in 0..self.cycles {
            run.advance(run.now() + 1, &Control::default()).map_err(|error| error.to_string())?;
            check_conservation(&mut run)
                .and_then(|()| run.simulation.audit())
                .map_err(|breach| format!("before cycle {}: {breach}", run.now()))?;
        }
        let twice =
            |packet: &PacketTrace| packet.hops.windows(2).any(|hops| hops[0].granted >= hops[1].granted);
        let breach = run.take_lives().into_iter().find(twice);
        breach.map_or(Ok(()), |packet| Err(format!("granted twice in one cycle: {packet:?}")))
    }
}

/// Packets generated = dropped + waiting at nodes or inside + delivered.
fn check_conservation<'p, R: Recorded<'p>>(run: &mut Measured<'p, R>) -> Result<(), String> {
    let (mut generated, mut dropped, mut delivered) = (0, 0, 0);
    for recorder in run.simulation.observers() {
        let counts = recorder.lifetime();
        (generated, dropped) = (generated + counts.0, dropped + counts.1);
        delivered += recorder.tracer().map_or(0, Tracer::delivered);
    }
    let here = run.simulation.packets();
    if generated == dropped + here + delivered {
        return Ok(());
    }
    Err(format!(
        "{generated} packets generated, but {dropped} dropped, {here} here and {delivered} delivered"
    ))
}

/// Runs a plan for `cycles` cycles and checks every invariant after each; the error names the first breach.
pub fn audit(plan: &Plan, cycles: u32) -> Result<(), String> {
    perform(&plan.system, Fit::Tight, Audited { plan, cycles })
}
