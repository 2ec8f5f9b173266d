//! The engine: runs a plan. See [`simulation`] for the cycle, `ARCHITECTURE.md` for the whole.

#[cfg(feature = "trace")]
mod audit;
mod deadlock;
mod injection_waits;
pub(crate) mod kernel;
mod mask;
mod mode;
mod node;
mod region;
mod router;
mod rules;
mod shared;
mod simulation;
mod tables;

#[cfg(feature = "trace")]
pub use audit::audit;

use crate::error::RunError;
use crate::measure::summary::Figures;
use crate::measure::{self, Table};
use crate::plan::Plan;
use crate::trace::{Observer, Unobserved};
#[cfg(any(test, feature = "trace"))]
use crate::trace::{PacketTrace, Tracer};
use kernel::regions::Cut;
use mode::{
    Clean, CleanFull, CleanGeneral, Cube, CubeFull, Full, General, Mode, Named, is_clean, is_full, is_plain,
    is_rising,
};
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

/// How closely the mode of a run fits its plan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// With nothing compiled in that the plan does not need, as far as there is such a mode.
    Tight,
    /// With everything.
    Loose,
}

/// Something done with a simulation, whatever its mask width and mode.
trait Task: Sized {
    type Observer: Observer;
    type Output;
    /// How finely it wants the network cut.
    fn cut(&self) -> Cut;
    fn with<const W: usize, M: Mode<Observer = Self::Observer>>(
        self,
        simulation: Simulation<'_, W, M>,
    ) -> Self::Output;
}

/// Words of the masks that hold the slots, pairs and ports of a router: a power of two.
pub(crate) fn mask_words(plan: &Plan) -> usize {
    let layout = &plan.network.layout;
    layout.slots().max(layout.pairs()).div_ceil(64).next_power_of_two()
}

/// Picks the mask width once per run: everything below is compiled for it. Routers that need the widest are so rare that they do
/// without modes of their own.
fn perform<T: Task>(plan: &Plan, fit: Fit, task: T) -> T::Output {
    match mask_words(plan) {
        1 => by_mode::<1, T>(plan, fit, task),
        // Unit tests have no routers so wide, and need not be compiled for them.
        #[cfg(not(test))]
        2 => by_mode::<2, T>(plan, fit, task),
        #[cfg(not(test))]
        4 => by_mode::<4, T>(plan, fit, task),
        #[cfg(not(test))]
        8 => in_general::<8, T>(plan, task),
        _ => unreachable!("the plan refuses wider routers"),
    }
}

/// Picks the mode, likewise.
fn by_mode<const W: usize, T: Task>(plan: &Plan, fit: Fit, task: T) -> T::Output {
    if fit == Fit::Loose {
        return in_general::<W, T>(plan, task);
    }
    let (observer, cut) = (T::Observer::default(), task.cut());
    match (is_full(plan), is_plain(plan), is_clean(plan), is_rising(plan)) {
        (true, true, true, true) => task.with(Simulation::<W, _>::new(plan, CleanFull(observer), cut)),
        (true, true, true, false) => task.with(Simulation::<W, _>::new(plan, CubeFull(observer), cut)),
        (false, true, true, true) => task.with(Simulation::<W, _>::new(plan, Clean(observer), cut)),
        (false, false, true, true) => task.with(Simulation::<W, _>::new(plan, CleanGeneral(observer), cut)),
        (false, true, false, true) => task.with(Simulation::<W, _>::new(plan, Named(observer), cut)),
        (false, true, true, false) => task.with(Simulation::<W, _>::new(plan, Cube(observer), cut)),
        _ => in_general::<W, T>(plan, task),
    }
}

/// Picks one of the modes that fit any plan.
fn in_general<const W: usize, T: Task>(plan: &Plan, task: T) -> T::Output {
    let (observer, cut) = (T::Observer::default(), task.cut());
    if is_full(plan) {
        task.with(Simulation::<W, _>::new(plan, Full(observer), cut))
    } else {
        task.with(Simulation::<W, _>::new(plan, General(observer), cut))
    }
}

/// A run to its last cycle.
struct Measured<'c> {
    control: &'c Control,
    cut: Cut,
}

impl Task for Measured<'_> {
    type Observer = Unobserved;
    type Output = Result<Outcome, RunError>;

    fn cut(&self) -> Cut {
        self.cut
    }

    fn with<const W: usize, M: Mode>(self, mut simulation: Simulation<'_, W, M>) -> Self::Output {
        let plan = simulation.plan;
        let measure = &plan.experiment.measure;
        let end = measure.warmup + measure.cycles;
        drive(&mut simulation, end, self.control)?;
        simulation.each_region(|region| region.finish(end));
        let recorder = &simulation.worker.recorder;
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

#[cfg(any(test, feature = "trace"))]
struct Traced(u32);

#[cfg(any(test, feature = "trace"))]
impl Task for Traced {
    type Observer = Tracer;
    type Output = Result<Vec<PacketTrace>, RunError>;

    // Traces are of small networks, to compare them: so the comparison covers the cut.
    fn cut(&self) -> Cut {
        Cut::Finest
    }

    fn with<const W: usize, M: Mode<Observer = Tracer>>(
        self,
        mut simulation: Simulation<'_, W, M>,
    ) -> Self::Output {
        drive(&mut simulation, self.0, &Control::default())?;
        Ok(std::mem::take(simulation.worker.mode.observer()).into_traces())
    }
}

/// Runs a plan to its last cycle.
pub fn run(plan: &Plan, control: &Control) -> Result<Outcome, RunError> {
    perform(plan, Fit::Tight, Measured { control, cut: Cut::Fitting })
}

/// The same, in a mode that fits any plan: what the others buy is measured against it.
pub fn run_in_general(plan: &Plan, control: &Control) -> Result<Outcome, RunError> {
    perform(plan, Fit::Loose, Measured { control, cut: Cut::Fitting })
}

/// The same as [`run`] on a network that is cut as finely as possible: the results are equal.
#[cfg(feature = "trace")]
pub fn run_cut(plan: &Plan, control: &Control) -> Result<Outcome, RunError> {
    perform(plan, Fit::Tight, Measured { control, cut: Cut::Finest })
}

/// Runs a plan for `cycles` cycles and returns the life of every packet granted at least one output.
#[cfg(feature = "trace")]
pub fn trace(plan: &Plan, cycles: u32) -> Result<Vec<PacketTrace>, RunError> {
    perform(plan, Fit::Tight, Traced(cycles))
}

/// Simulates up to cycle `end`, looking out for deadlock and for the caller's wish to stop.
fn drive<const W: usize, M: Mode>(
    simulation: &mut Simulation<'_, W, M>,
    end: u32,
    control: &Control,
) -> Result<(), RunError> {
    let watchdog = simulation.watchdog_period();
    let mut next_check = watchdog;
    while simulation.now() < end {
        let stop = end.min(simulation.now().saturating_add(CONTROL_PERIOD)).min(next_check);
        simulation.advance(stop);
        control.cycles.store(stop, Ordering::Relaxed);
        control.packet_hops.store(simulation.worker.recorder.packet_hops, Ordering::Relaxed);
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
