//! The state of a run is one thing however the run is carried out: a run goes on with a snapshot as if nothing had been.

use crate::documents::{Document, for_each_measured_plan, for_each_program, library, trial};
use hopsim_core::engine::{
    Control, Outcome, Scope, Snapshot, Stages, Trial, digests, run_as, run_in_stages_as, trunk,
};
use hopsim_core::error::RunError;
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::config::stop::Warmup;
use hopsim_experiment::document::trunk as common;
use hopsim_experiment::plan::{Plan, unsaved};
use serde_json::json;
use std::cell::Cell;

/// The outcome as text, in which what is not a number equals itself.
fn outcome(plan: &Plan, way: Trial, stages: Stages<'_>) -> String {
    let run = run_in_stages_as(plan, &Control::default(), way, stages);
    format!("{:?}", run.map_err(|error| error.to_string()))
}

/// A cycle of the run, drawn with the seed of the document.
fn cycle(plan: &Plan) -> u32 {
    let measure = &plan.experiment.measure;
    cycle_before(plan, measure.warmup.cycles() + measure.cycles)
}

/// One before cycle `end`, if that is not 0.
fn cycle_before(plan: &Plan, end: u32) -> u32 {
    let draw = (plan.experiment.measure.seed ^ 0x5851_f42d).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    draw as u32 % end.max(1)
}

/// The same run without the streams that cannot be saved.
pub fn savable(plan: &Plan) -> Plan {
    let mut experiment = plan.experiment.clone();
    experiment.measure.streams.retain(|stream| !RecordStream::UNSAVED.contains(stream));
    experiment.measure.packets = None;
    Plan::with_programs(&experiment, &library).unwrap()
}

/// When a run is over: one of programs when these are.
fn end(plan: &Plan, straight: &Result<Outcome, RunError>) -> u32 {
    let measure = &plan.experiment.measure;
    let programs = straight.iter().find_map(|run| run.summary.get("execution_time")?.as_u64());
    programs.map_or(measure.warmup.cycles() + measure.cycles, |time| time as u32)
}

/// The state in some cycle, unless the run ends before.
fn snapshot(plan: &Plan, at: u32, way: Trial) -> Option<Snapshot> {
    let mut kept = None;
    let mut keep = |snapshot: &Snapshot| kept = Some(Snapshot::from_bytes(&snapshot.to_bytes()).unwrap());
    outcome(plan, way, Stages { at: Some(at), keep: Some(&mut keep), ..Stages::default() });
    kept
}

/// Whether a run that goes on with a snapshot, on as many threads and on others, is the same. Returns the cycle of the snapshot,
/// if the run got there.
pub fn goes_on(plan: &Plan) -> Result<Option<u32>, String> {
    if unsaved(plan).is_some() {
        return Ok(None);
    }
    let ways = [Trial::default(), trial(plan)];
    let straight = run_as(plan, &Control::default(), ways[0]);
    let at = cycle_before(plan, end(plan, &straight));
    let straight = format!("{:?}", straight.map_err(|error| error.to_string()));
    let mut reached = None;
    for (before, after) in [(ways[0], ways[1]), (ways[1], ways[0])] {
        let Some(snapshot) = snapshot(plan, at, before) else { continue };
        snapshot.check(plan)?;
        reached = Some(at);
        let from = Some((&snapshot, Scope::All));
        let resumed = outcome(plan, after, Stages { from, ..Stages::default() });
        // The message on a deadlock says when it was found.
        let deadlocks = straight.starts_with("Err") && resumed.starts_with("Err");
        if straight != resumed && !deadlocks {
            return Err(format!("from cycle {at}, {after:?}:\n{straight}\n{resumed}"));
        }
    }
    Ok(reached)
}

#[test]
fn a_run_that_goes_on_with_a_snapshot_is_the_same() {
    for_each_measured_plan((120, 21), |plan| goes_on(&savable(plan)).map(|_| ()));
}

#[test]
fn outputs_of_the_crossbar_are_held_as_long_where_a_run_goes_on_with_a_snapshot() {
    for seed in 1..=20 {
        let document = Document(json!({
            "topology": { "mesh": { "sides": [2, 2], "nodes_per_router": 6 } }, "load": 0.3,
            "router": { "cioq": { "crossbar_outputs": 2, "speedup": 1.0, "buffers": { "output": 2000 } } },
            "jobs": [{ "traffic": { "packet_length": 32 } }],
            "measure": { "seed": seed, "warmup": 500, "cycles": 1_500 },
        }));
        goes_on(&document.plan().unwrap()).unwrap();
    }
}

#[test]
fn programs_that_go_on_with_a_snapshot_do_the_same() {
    let compared = Cell::new(0);
    for_each_program((50, 24), |plan| {
        let at = goes_on(plan)?;
        compared.set(compared.get() + u32::from(at.is_some_and(|at| at > 0)));
        Ok(())
    });
    assert!(compared.get() > 25, "{} runs went on", compared.get());
}

/// Whether the states of a run after each of some cycles are the same, however it is carried out.
fn have_one_state(plan: &Plan, cycles: u32) -> Result<(), String> {
    if unsaved(plan).is_some() {
        return Ok(());
    }
    let states = |way| digests(plan, (cycles, 1), way).map_err(|error| error.to_string());
    let (alone, others) = (states(Trial::default())?, states(trial(plan))?);
    match alone.iter().zip(&others).position(|(one, other)| one != other) {
        None => Ok(()),
        Some(cycle) => Err(format!("the states differ first at cycle {cycle}")),
    }
}

#[test]
fn the_state_does_not_depend_on_cut_threads_and_order_of_mail() {
    for_each_measured_plan((40, 22), |plan| have_one_state(&savable(plan), cycle(plan).min(400)));
    for_each_program((8, 25), |plan| have_one_state(plan, 400));
}

#[test]
#[ignore = "takes minutes"]
fn many_runs_that_go_on_with_a_snapshot_are_the_same() {
    for seed in 30..40 {
        for_each_measured_plan((300, seed), |plan| goes_on(&savable(plan)).map(|_| ()));
        for_each_program((100, seed), |plan| goes_on(plan).map(|_| ()));
        for_each_measured_plan((30, seed), |plan| have_one_state(&savable(plan), cycle(plan).min(400)));
    }
}

/// Another branch of the same run: what is measured is something else, and traffic does not change.
fn sibling(plan: &Plan) -> Plan {
    let mut experiment = plan.experiment.clone();
    let measure = &mut experiment.measure;
    (measure.warmup, measure.cycles, measure.batches) =
        (Warmup::Cycles(measure.warmup.cycles() + 13), measure.cycles + 7, 1);
    measure
        .streams
        .retain(|stream| *stream != RecordStream::Links && !RecordStream::OF_INTERVALS.contains(stream));
    for traffic in experiment.jobs.iter_mut().filter_map(|job| job.traffic.as_mut()) {
        traffic.changes.clear();
    }
    Plan::with_programs(&experiment, &library).unwrap()
}

/// Whether the same nodes ever send in two runs.
fn have_the_same_senders(one: &Plan, other: &Plan) -> bool {
    let senders = |plan: &Plan| -> Vec<bool> {
        plan.system.jobs.iter().flat_map(|job| job.nodes().iter().map(|&node| job.sends(node))).collect()
    };
    senders(one) == senders(other)
}

#[test]
fn a_branch_is_the_run_with_its_changes_and_its_measurement() {
    let compared = Cell::new([0; 2]);
    for_each_measured_plan((250, 23), |plan| {
        let plan = &savable(plan);
        if unsaved(plan).is_some() || plan.experiment.measure.warmup.cycles() == 0 {
            return Ok(());
        }
        let sibling = sibling(plan);
        if !have_the_same_senders(plan, &sibling) {
            return Ok(());
        }
        let at = 1 + cycle(plan) % plan.experiment.measure.warmup.cycles();
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
    assert!(shared > 40, "{shared} of {all} branches shared cycles");
}
