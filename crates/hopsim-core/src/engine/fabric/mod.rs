//! InfiniBand fabrics: [`hopsim_infiniband`] simulates them, interval by interval.

mod drawing;
mod hosts;

use super::{Control, Outcome, has_room};
use crate::error::RunError;
use drawing::Drawing;
use hopsim_experiment::plan::FabricPlan;
use hopsim_experiment::plan::fabric::used::Place;
use hopsim_infiniband::engine;
use hopsim_infiniband::fabric::Fabric;
use hopsim_infiniband::time::{NEVER, Ticks};
use hopsim_infiniband::workload::Workload;
use hopsim_measure::fabric::recorder::FabricRecorder;
use hopsim_measure::fabric::series::Queues;
use hopsim_measure::fabric::{summary, tables};
use hopsim_measure::program_tables;
use hopsim_measure::programs::ProgramCounts;
use hopsim_programs::standstill::{find_stuck, find_unmatched, progress};
use hosts::Hosts;
use serde_json::{Map, Value};
use std::sync::atomic::Ordering;

/// How often a run looks at [`Control`], at least; and nanoseconds between two looks, at most.
const LOOKS: u64 = 1024;
const PERIOD_NS: u64 = 100_000;

/// How often a run looks for deadlock.
const SEARCHES: u64 = 64;

type FabricSimulation<'f, W> = engine::Simulation<'f, FabricRecorder<'f>, W>;

/// Runs a fabric to its end.
pub fn run(plan: &FabricPlan, control: &Control) -> Result<Outcome, RunError> {
    has_room(plan.state_bytes(), control)?;
    let seed = plan.experiment.measure.seed;
    if plan.programs.is_empty() {
        let hearing = (FabricRecorder::new(plan), Drawing::new(plan));
        let mut simulation = FabricSimulation::with_workload(&plan.fabric, &plan.flows, seed, hearing);
        advance(plan, &mut simulation, control, |_| Ok(()))?;
        conclude(&mut simulation, plan.span.end);
        return Ok(outcome(plan, simulation.observer(), None));
    }
    let hearing = (FabricRecorder::new(plan), Hosts::new(plan));
    let mut simulation = FabricSimulation::with_workload(&plan.fabric, &plan.flows, seed, hearing);
    let programs = plan.programs();
    let check = |hosts: &mut Hosts<'_>| match find_stuck(&programs, &hosts.ranks()) {
        Some(stuck) => Err(stuck.into()),
        None => Ok(()),
    };
    let end = advance(plan, &mut simulation, control, check)?;
    let hosts = simulation.workload();
    if !hosts.is_over() {
        let most = plan.experiment.measure.max_cycles.unwrap_or(0);
        return Err(RunError::Unfinished(most, progress(&programs, &hosts.ranks())));
    }
    if let Some(unmatched) = find_unmatched(&programs, &hosts.ranks()) {
        return Err(unmatched.into());
    }
    let counts = hosts.take_counts();
    conclude(&mut simulation, end);
    Ok(outcome(plan, simulation.observer(), Some(&counts)))
}

/// For how long the index of each flow has been at its limit.
fn limited<W: Workload>(simulation: &mut FabricSimulation<'_, W>) -> Vec<Ticks> {
    let flows = simulation.observer().account_of.len();
    (0..flows).map(|flow| simulation.limited(flow)).collect()
}

/// The run has come to its end.
fn conclude<W: Workload>(simulation: &mut FabricSimulation<'_, W>, end: Ticks) {
    let limited = limited(simulation);
    simulation.observer().end(end, &limited);
}

/// Simulates to the end, looking out for deadlock, for what else may be wrong, and for the caller's wish to stop. Returns the
/// time at which the run ended, at the latest the end of the plan.
fn advance<W: Workload>(
    plan: &FabricPlan,
    simulation: &mut FabricSimulation<'_, W>,
    control: &Control,
    check: impl Fn(&mut W) -> Result<(), RunError>,
) -> Result<Ticks, RunError> {
    let end = plan.span.end;
    let period = (end / LOOKS).min(PERIOD_NS * plan.fabric.ticks_per_ns).max(1);
    let (mut now, mut next_search) = (0, end / SEARCHES);
    let mut next_row = plan.span.interval.unwrap_or(NEVER);
    while now < end {
        let window = if now < plan.span.warmup { plan.span.warmup } else { end };
        now = (now + period).min(next_row).min(next_sample(simulation)).min(window);
        simulation.advance(now);
        sample(simulation);
        if now == plan.span.warmup {
            let limited = limited(simulation);
            simulation.observer().begin(limited);
        }
        // What grows by small steps, such as messages that wait at hosts, asks nobody.
        hopsim_memory::probe_margin()?;
        control.done.store(now, Ordering::Relaxed);
        control.packet_hops.store(simulation.packet_hops(), Ordering::Relaxed);
        if simulation.workload().is_over() {
            return Ok(simulation.now());
        }
        if now == next_row {
            close_interval(plan, simulation, now);
            next_row += plan.span.interval.unwrap_or(NEVER - now);
        }
        if control.cancel.load(Ordering::Relaxed) {
            return Err(RunError::Cancelled);
        }
        if now >= next_search || now == end {
            next_search = now + end / SEARCHES;
            look_for_deadlock(plan, simulation, now)?;
        }
        check(simulation.workload())?;
    }
    Ok(end)
}

/// When it is looked next who is held up.
fn next_sample<W: Workload>(simulation: &mut FabricSimulation<'_, W>) -> Ticks {
    simulation.observer().victims.as_ref().map_or(NEVER, |victims| victims.next())
}

/// Looks who is held up if it is time.
fn sample<W: Workload>(simulation: &mut FabricSimulation<'_, W>) {
    if next_sample(simulation) == simulation.now() {
        let held = simulation.held_up();
        if let Some(victims) = &mut simulation.observer().victims {
            victims.sample(&held);
        }
    }
}

fn look_for_deadlock<W: Workload>(
    plan: &FabricPlan,
    simulation: &FabricSimulation<'_, W>,
    now: Ticks,
) -> Result<(), RunError> {
    match simulation.find_deadlock() {
        Some(deadlock) => Err(RunError::FabricDeadlock(now / plan.fabric.ticks_per_ns, deadlock)),
        None => Ok(()),
    }
}

/// Hands over what the series say of the end of an interval.
fn close_interval<W: Workload>(plan: &FabricPlan, simulation: &mut FabricSimulation<'_, W>, now: Ticks) {
    let mut indices = vec![0; plan.accounts.len()];
    for (flow, (account, _)) in simulation.observer().account_of.clone().into_iter().enumerate() {
        let index: &mut u16 = &mut indices[account];
        *index = simulation.ccti(flow).max(*index);
    }
    let places = simulation.observer().series.as_ref().map_or(Vec::new(), |series| series.places.clone());
    let queues: Vec<Queues> =
        places.into_iter().map(|place| queues(&plan.fabric, simulation, place)).collect();
    if let Some(series) = &mut simulation.observer().series {
        series.close(now, &indices, &queues);
    }
    if let Some(links) = &mut simulation.observer().links {
        links.close(now);
    }
    if let Some(losses) = &mut simulation.observer().losses {
        losses.close();
    }
}

/// What waits at an output.
fn queues<W: Workload>(
    fabric: &Fabric,
    simulation: &FabricSimulation<'_, W>,
    Place { port, lane }: Place,
) -> Queues {
    let mut queues = Queues { is_congested: simulation.is_congested(port, lane), ..Queues::default() };
    let Some(switch) = fabric.switch_of(port) else { return queues };
    let inputs = fabric.first_port[switch as usize]..fabric.first_port[switch as usize + 1];
    for bytes in inputs.map(|input| simulation.occupancy(port, input, lane)) {
        queues.queued += bytes;
        queues.largest = queues.largest.max(bytes);
    }
    queues
}

/// What a run has measured, and what its programs took.
fn outcome(plan: &FabricPlan, recorder: &FabricRecorder<'_>, counts: Option<&ProgramCounts>) -> Outcome {
    let programs = plan.programs();
    let summary = |jobs: &[usize]| {
        let mut record = summary::summary(plan, recorder, jobs);
        let own = programs.all.iter().copied().filter(|(job, _)| jobs.contains(job));
        record.extend(counts.map(|counts| counts.summary(&own.collect::<Vec<_>>())).unwrap_or_default());
        record
    };
    let job = |number: usize| {
        let mut record = Map::new();
        record.insert("job".into(), Value::from(plan.jobs[number].as_str()));
        record.extend(summary(&[number]));
        record
    };
    let all: Vec<usize> = (0..plan.jobs.len()).collect();
    let mut tables = tables::tables(plan, recorder);
    if let Some(counts) = counts {
        let of_programs = program_tables::tables(&programs, counts, &plan.experiment.measure.streams);
        // Packets are of bytes here.
        tables.extend(of_programs.into_iter().map(|(name, mut table)| {
            table.retain(|(column, _)| column != "phits");
            (name, table)
        }));
    }
    Outcome { summary: summary(&all), jobs: all.iter().map(|&number| job(number)).collect(), tables }
}
