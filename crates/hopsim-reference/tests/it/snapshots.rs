//! The state of a run is one thing however the run is carried out: a run goes on with a snapshot as if nothing had been.

use crate::documents::{for_each_measured_plan, trial};
use hopsim_core::engine::{
    Control, Scope, Snapshot, Stages, Trial, digests, run_as, run_in_stages_as, unsaved,
};
use hopsim_core::plan::Plan;

/// The outcome as text, in which what is not a number equals itself.
fn outcome(plan: &Plan, way: Trial, stages: Stages<'_>) -> String {
    let run = run_in_stages_as(plan, &Control::default(), way, stages);
    format!("{:?}", run.map_err(|error| error.to_string()))
}

/// A cycle of the run, drawn with the seed of the document.
fn cycle(plan: &Plan) -> u32 {
    let measure = &plan.experiment.measure;
    let draw = (measure.seed ^ 0x5851_f42d).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    draw as u32 % (measure.warmup + measure.cycles).max(1)
}

/// The state in some cycle, unless the run ends before.
fn snapshot(plan: &Plan, at: u32, way: Trial) -> Option<Snapshot> {
    let mut kept = None;
    let mut keep = |snapshot: &Snapshot| kept = Some(Snapshot::from_bytes(&snapshot.to_bytes()).unwrap());
    outcome(plan, way, Stages { at: Some(at), keep: Some(&mut keep), ..Stages::default() });
    kept
}

#[test]
fn a_run_that_goes_on_with_a_snapshot_is_the_same() {
    for_each_measured_plan((600, 21), |plan| {
        let (ways, at) = ([Trial::default(), trial(plan)], cycle(plan));
        if unsaved(plan).is_some() {
            return Ok(());
        }
        let straight = run_as(plan, &Control::default(), ways[0]).map_err(|error| error.to_string());
        let straight = format!("{straight:?}");
        for (before, after) in [(ways[0], ways[1]), (ways[1], ways[0])] {
            let Some(snapshot) = snapshot(plan, at, before) else { continue };
            snapshot.check(plan)?;
            let from = Some((&snapshot, Scope::All));
            let resumed = outcome(plan, after, Stages { from, ..Stages::default() });
            // The message on a deadlock says when it was found.
            let deadlocks = straight.starts_with("Err") && resumed.starts_with("Err");
            if straight != resumed && !deadlocks {
                return Err(format!("from cycle {at}, {after:?}:\n{straight}\n{resumed}"));
            }
        }
        Ok(())
    });
}

#[test]
fn the_state_does_not_depend_on_cut_threads_and_order_of_mail() {
    for_each_measured_plan((200, 22), |plan| {
        if unsaved(plan).is_some() {
            return Ok(());
        }
        let cycles = cycle(plan).min(400);
        let states = |way| digests(plan, (cycles, 1), way).map_err(|error| error.to_string());
        let (alone, others) = (states(Trial::default())?, states(trial(plan))?);
        match alone.iter().zip(&others).position(|(one, other)| one != other) {
            None => Ok(()),
            Some(cycle) => Err(format!("the states differ first at cycle {cycle}")),
        }
    });
}
