//! The audit: what must hold between any two cycles, counted anew from the whole state. Slow; for tests.

use super::measured::Measured;
use super::{Control, Trial, schedule};
use hopsim_cycles::begin::Fit;
use hopsim_experiment::plan::Plan;
use hopsim_measure::trace::{PacketTrace, Tracer};

/// Runs a plan for `cycles` cycles and checks every invariant after each; the error names the first breach.
pub fn audit(plan: &Plan, cycles: u32) -> Result<(), String> {
    let schedule = schedule(Trial { finest: true, ..Trial::default() });
    let mut run = Measured::new(plan, Fit::Tight, schedule);
    run.trace();
    for _ in 0..cycles {
        run.advance(run.now() + 1, &Control::default()).map_err(|error| error.to_string())?;
        check_conservation(&mut run)
            .and_then(|()| run.simulation.audit())
            .map_err(|breach| format!("before cycle {}: {breach}", run.now()))?;
    }
    let twice = |packet: &PacketTrace| packet.hops.windows(2).any(|hops| hops[0].granted >= hops[1].granted);
    let breach = run.take_lives().into_iter().find(twice);
    breach.map_or(Ok(()), |packet| Err(format!("granted twice in one cycle: {packet:?}")))
}

/// Packets generated = dropped or lost for good + waiting at nodes, to be sent again or inside + delivered.
fn check_conservation(run: &mut Measured<'_>) -> Result<(), String> {
    let (mut generated, mut dropped, mut delivered) = (0, 0, 0);
    for recorder in run.simulation.observers() {
        let counts = recorder.lifetime();
        (generated, dropped) = (generated + counts.0, dropped + counts.1);
        delivered += recorder.tracer.as_ref().map_or(0, Tracer::delivered);
    }
    let here = run.simulation.packets();
    if generated == dropped + here + delivered {
        return Ok(());
    }
    Err(format!(
        "{generated} packets generated, but {dropped} dropped or lost, {here} here and {delivered} delivered"
    ))
}
