//! InfiniBand fabrics: [`hopsim_infiniband`] simulates them, interval by interval.

mod drawing;

use super::{Control, Outcome};
use crate::error::RunError;
use crate::measure::fabric::recorder::Recorder;
use crate::measure::fabric::series::{Place, Queues};
use crate::measure::fabric::{summary, tables};
use crate::plan::FabricPlan;
use drawing::Drawing;
use hopsim_infiniband::engine;
use hopsim_infiniband::fabric::Fabric;
use hopsim_infiniband::time::{NEVER, Ticks};
use serde_json::{Map, Value};
use std::sync::atomic::Ordering;

/// Looks at [`Control`] in a run, at least; and nanoseconds between two of them, at most.
const LOOKS: u64 = 1024;
const PERIOD_NS: u64 = 100_000;

/// Looks for deadlock in a run.
const SEARCHES: u64 = 64;

type Simulation<'f> = engine::Simulation<'f, Recorder, Drawing<'f>>;

/// Runs a fabric to its end.
pub fn run(plan: &FabricPlan, control: &Control) -> Result<Outcome, RunError> {
    let seed = plan.experiment.measure.seed;
    let hearing = (Recorder::new(plan), Drawing::new(plan));
    let mut simulation = engine::Simulation::with_workload(&plan.fabric, &plan.flows, seed, hearing);
    let end = plan.span.end;
    let period = (end / LOOKS).min(PERIOD_NS * plan.fabric.ticks_per_ns).max(1);
    let (mut now, mut next_search) = (0, end / SEARCHES);
    let mut next_row = plan.span.interval.unwrap_or(NEVER);
    while now < end {
        now = (now + period).min(next_row).min(end);
        simulation.advance(now);
        control.done.store(now, Ordering::Relaxed);
        control.packet_hops.store(simulation.packet_hops(), Ordering::Relaxed);
        if now == next_row {
            close_interval(plan, &mut simulation, now);
            next_row += plan.span.interval.unwrap_or(NEVER - now);
        }
        if control.cancel.load(Ordering::Relaxed) {
            return Err(RunError::Cancelled);
        }
        if now >= next_search || now == end {
            next_search = now + end / SEARCHES;
            look_for_deadlock(plan, &simulation, now)?;
        }
    }
    Ok(outcome(plan, simulation.observer()))
}

fn look_for_deadlock(plan: &FabricPlan, simulation: &Simulation<'_>, now: Ticks) -> Result<(), RunError> {
    match simulation.find_deadlock() {
        Some(deadlock) => Err(RunError::FabricDeadlock(now / plan.fabric.ticks_per_ns, deadlock)),
        None => Ok(()),
    }
}

/// Hands over what the series say of the end of an interval.
fn close_interval(plan: &FabricPlan, simulation: &mut Simulation<'_>, now: Ticks) {
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
}

/// What waits at an output.
fn queues(fabric: &Fabric, simulation: &Simulation<'_>, Place { port, lane }: Place) -> Queues {
    let behind = fabric.first_port.partition_point(|&first| first <= port);
    let inputs = fabric.first_port[behind - 1]..fabric.first_port[behind];
    let mut queues = Queues { is_congested: simulation.is_congested(port, lane), ..Queues::default() };
    for bytes in inputs.map(|input| simulation.occupancy(port, input, lane)) {
        queues.queued += bytes;
        queues.largest = queues.largest.max(bytes);
    }
    queues
}

/// What a run has measured.
fn outcome(plan: &FabricPlan, recorder: &Recorder) -> Outcome {
    let job = |number: usize| {
        let mut record = Map::new();
        record.insert("job".into(), Value::from(plan.jobs[number].as_str()));
        record.extend(summary::summary(plan, recorder, &[number]));
        record
    };
    let all: Vec<usize> = (0..plan.jobs.len()).collect();
    Outcome {
        summary: summary::summary(plan, recorder, &all),
        jobs: all.iter().map(|&number| job(number)).collect(),
        tables: tables::tables(plan, recorder),
    }
}
