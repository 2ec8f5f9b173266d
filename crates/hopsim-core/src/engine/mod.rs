//! The engine: runs a plan. See [`simulation`] for the cycle, `ARCHITECTURE.md` for the whole.

mod allocator;
mod arbiter;
mod audit;
mod context;
mod deadlock;
mod mask;
mod nic;
pub mod packet;
mod pool;
mod routers;
pub mod simulation;
mod tables;
mod transfer;
mod wheel;

pub use audit::audit;

use crate::error::RunError;
use crate::measure::summary::Figures;
use crate::measure::{self, Table};
use crate::plan::Plan;
use crate::trace::{Observer, PacketTrace, Tracer, Unobserved};
use serde_json::{Map, Value};
use simulation::Simulation;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Cycles between two looks at [`Control`].
const CONTROL_PERIOD: u32 = 256;

/// What another thread sees of a running simulation, and how it stops it.
#[derive(Debug, Default)]
pub struct Control {
    /// Set it to stop the run with [`RunError::Cancelled`].
    pub cancel: AtomicBool,
    /// Cycles done.
    pub cycles: AtomicU32,
    /// Packet-hops (grants) done.
    pub packet_hops: AtomicU64,
}

/// What a run measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The summary record of all jobs together.
    pub summary: Map<String, Value>,
    /// The summary record of each job, its name first as `job`.
    pub jobs: Vec<Map<String, Value>>,
    /// The record streams.
    pub tables: Vec<(String, Table)>,
}

/// Something done with a simulation, whatever its mask width.
trait Task {
    type Output;
    fn with<const W: usize>(self, plan: &Plan) -> Self::Output;
}

/// Words of the masks that hold the slots, pairs and ports of a router: a power of two.
pub(crate) fn mask_words(plan: &Plan) -> usize {
    let layout = &plan.network.layout;
    layout.slots().max(layout.pairs()).div_ceil(64).next_power_of_two()
}

/// Picks the mask width once per run: everything below is compiled for it.
fn by_width<T: Task>(plan: &Plan, task: T) -> T::Output {
    match mask_words(plan) {
        1 => task.with::<1>(plan),
        2 => task.with::<2>(plan),
        4 => task.with::<4>(plan),
        _ => task.with::<8>(plan),
    }
}

struct Measured<'c>(&'c Control);

impl Task for Measured<'_> {
    type Output = Result<Outcome, RunError>;

    fn with<const W: usize>(self, plan: &Plan) -> Self::Output {
        let measure = &plan.experiment.measure;
        let mut simulation = Simulation::<W, _>::new(plan, Unobserved);
        drive(&mut simulation, measure.warmup + measure.cycles, self.0)?;
        let recorder = &simulation.context.recorder;
        let job = |index: usize| {
            let mut record = Map::new();
            record.insert("job".into(), Value::from(plan.jobs[index].name.clone()));
            record.extend(Figures::new(plan, recorder, vec![index]).summary());
            record
        };
        Ok(Outcome {
            summary: Figures::new(plan, recorder, (0..plan.jobs.len()).collect()).summary(),
            jobs: (0..plan.jobs.len()).map(job).collect(),
            tables: measure::tables::tables(plan, recorder),
        })
    }
}

struct Traced(u32);

impl Task for Traced {
    type Output = Result<Vec<PacketTrace>, RunError>;

    fn with<const W: usize>(self, plan: &Plan) -> Self::Output {
        let mut simulation = Simulation::<W, _>::new(plan, Tracer::default());
        drive(&mut simulation, self.0, &Control::default())?;
        Ok(simulation.context.observer.into_traces())
    }
}

/// Runs a plan to its last cycle.
pub fn run(plan: &Plan, control: &Control) -> Result<Outcome, RunError> {
    by_width(plan, Measured(control))
}

/// Runs a plan for `cycles` cycles and returns the life of every packet granted at least one output.
pub fn trace(plan: &Plan, cycles: u32) -> Result<Vec<PacketTrace>, RunError> {
    by_width(plan, Traced(cycles))
}

/// Simulates up to cycle `end`, looking out for deadlock and for the caller's wish to stop.
fn drive<const W: usize, O: Observer>(
    simulation: &mut Simulation<'_, W, O>,
    end: u32,
    control: &Control,
) -> Result<(), RunError> {
    let watchdog = simulation.watchdog_period();
    let mut next_check = watchdog;
    while simulation.now() < end {
        let stop = end.min(simulation.now().saturating_add(CONTROL_PERIOD)).min(next_check);
        while simulation.now() < stop {
            simulation.cycle();
        }
        control.cycles.store(stop, Ordering::Relaxed);
        control.packet_hops.store(simulation.context.recorder.packet_hops, Ordering::Relaxed);
        if control.cancel.load(Ordering::Relaxed) {
            return Err(RunError::Cancelled);
        }
        if stop == next_check || stop == end {
            next_check = stop.saturating_add(watchdog);
            if let Some(report) = simulation.find_deadlock() {
                return Err(RunError::Deadlock(report));
            }
        }
    }
    Ok(())
}
