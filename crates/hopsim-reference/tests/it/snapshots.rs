//! The state of a run is one thing however the run is carried out: a run goes on with a snapshot as if nothing had been.

use crate::documents::{for_each_measured_plan, library, trial};
use hopsim_core::config::document::trunk as common;
use hopsim_core::config::measure::RecordStream;
use hopsim_core::engine::{
    Control, Scope, Snapshot, Stages, Trial, digests, run_as, run_in_stages_as, trunk, unsaved,
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

/// Another branch of the same run: what is measured is something else, and traffic does not change.
fn sibling(plan: &Plan) -> Plan {
    let mut experiment = plan.experiment.clone();
    let measure = &mut experiment.measure;
    (measure.warmup, measure.cycles, measure.batches) = (measure.warmup + 13, measure.cycles + 7, 1);
    measure.streams.retain(|stream| *stream != RecordStream::Links && *stream != RecordStream::Generation);
    for traffic in experiment.jobs.iter_mut().filter_map(|job| job.traffic.as_mut()) {
        traffic.changes.clear();
    }
    Plan::with_programs(&experiment, &library).unwrap()
}

/// Whether the same nodes ever send in two runs.
fn have_the_same_senders(one: &Plan, other: &Plan) -> bool {
    let senders = |plan: &Plan| -> Vec<bool> {
        plan.jobs.iter().flat_map(|job| job.nodes().iter().map(|&node| job.sends(node))).collect()
    };
    senders(one) == senders(other)
}

#[test]
fn a_branch_is_the_run_with_its_changes_and_its_measurement() {
    let compared = std::cell::Cell::new([0; 2]);
    for_each_measured_plan((600, 23), |plan| {
        if unsaved(plan).is_some() || plan.experiment.measure.warmup == 0 {
            return Ok(());
        }
        let sibling = sibling(plan);
        if !have_the_same_senders(plan, &sibling) {
            return Ok(());
        }
        let at = 1 + cycle(plan) % plan.experiment.measure.warmup;
        let all = common(vec![sibling.experiment.clone(), plan.experiment.clone()]).unwrap();
        let all = Plan::with_programs(&all, &library).map_err(|error| error.to_string())?;
        let Ok(trunk) = trunk(&all, at, &Control::default()) else { return Ok(()) };
        for (branch, way) in [(plan, Trial::default()), (&sibling, trial(plan))] {
            let straight = outcome(branch, Trial::default(), Stages::default());
            let from = Some((&trunk, Scope::Network));
            let branched = outcome(branch, way, Stages { from, ..Stages::default() });
            let deadlocks = straight.starts_with("Err") && branched.starts_with("Err");
            if straight != branched && !deadlocks {
                return Err(format!("parts at {at}, {way:?}:\n{straight}\n{branched}"));
            }
            let [all, shared] = compared.get();
            compared.set([all + 1, shared + usize::from(trunk.cycle() > 0)]);
        }
        Ok(())
    });
    let [all, shared] = compared.get();
    assert!(shared > 100, "{shared} of {all} branches shared cycles");
}
