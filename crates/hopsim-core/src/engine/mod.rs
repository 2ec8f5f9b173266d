//! Runs: what is done with a plan.

mod adaptive;
#[cfg(feature = "trace")]
mod audit;
mod distrusted;
mod fabric;
mod ideal;
mod measured;
mod snapshot;
mod standstill;
pub mod stepping;

#[cfg(feature = "trace")]
pub use audit::audit;
pub use distrusted::distrusted;
pub use hopsim_cycles::control::Control;
pub use measured::Scope;
#[cfg(feature = "trace")]
pub use snapshot::digests;
pub use snapshot::{Snapshot, Stages, trunk};

use crate::error::RunError;
use hopsim_cycles::begin::{AnySimulation, Fit};
#[cfg(feature = "trace")]
use hopsim_cycles::kernel::regions::Cut;
use hopsim_cycles::simulation::Schedule;
use hopsim_experiment::memory;
use hopsim_experiment::plan::{AnyPlan, Epoch, MOST_ROWS, Plan, output_vcs};
use hopsim_measure::recorder::Recorder;
use hopsim_measure::summary::Figures;
#[cfg(feature = "trace")]
use hopsim_measure::trace::PacketTrace;
use hopsim_measure::{Counts, Table};
use hopsim_memory::Shortage;
use hopsim_programs::standstill::{find_stuck, find_unmatched, progress};
use measured::Measured;
use serde_json::{Map, Value};
use standstill::Heads;
use std::sync::atomic::Ordering;

/// Cycles between two looks at [`Control`].
const CONTROL_PERIOD: u32 = 256;

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

/// What a simulation counts from one stage to another.
fn run_to_end(mut run: Measured<'_>, control: &Control, mut stages: Stages<'_>) -> Result<Counts, RunError> {
    let plan = run.plan;
    let measure = &plan.experiment.measure;
    stages.begin(&mut run)?;
    let end = measure.warmup.cycles() + measure.cycles;
    let end = drive(&mut run, end, control, &mut stages)?;
    let mut counts = run.finish(end);
    if plan.system.has_programs() {
        counts.recorder.close(end);
        if let Some(unmatched) = find_unmatched(&plan.system.programs(), &run.simulation.ranks()) {
            return Err(unmatched.into());
        }
    }
    Ok(counts)
}

/// The schedule of a run on as many threads as its caller allows.
fn most_threads(control: &Control) -> Schedule {
    Schedule::new(control.threads.load(Ordering::Relaxed))
}

/// What a run has measured.
fn outcome(plan: &Plan, counts: &Counts) -> Outcome {
    let job = |index: usize| {
        let mut record = Map::new();
        record.insert("job".into(), Value::from(plan.system.jobs[index].name()));
        record.extend(Figures::new(plan, counts, vec![index]).summary());
        record
    };
    Outcome {
        summary: Figures::new(plan, counts, (0..plan.system.jobs.len()).collect()).summary(),
        jobs: (0..plan.system.jobs.len()).map(job).collect(),
        tables: hopsim_measure::tables::tables(plan, counts),
    }
}

/// The lives of packets in the first cycles of a simulation.
#[cfg(feature = "trace")]
fn lives(mut run: Measured<'_>, cycles: u32) -> Result<Lives, RunError> {
    run.trace();
    drive(&mut run, cycles, &Control::default(), &mut Stages::default())?;
    Ok(run.take_lives())
}

/// Runs a plan to its end, by the engine that it is for.
pub fn run_any(plan: &AnyPlan, control: &Control) -> Result<Outcome, RunError> {
    hopsim_memory::or_shortage(|| match plan {
        AnyPlan::Network(plan) => run(plan, control),
        AnyPlan::Fabric(plan) => fabric::run(plan, control),
    })?
}

/// Runs a plan to its last cycle.
pub fn run(plan: &Plan, control: &Control) -> Result<Outcome, RunError> {
    if !plan.experiment.has_contention() {
        return ideal::run(plan, control);
    }
    if plan.experiment.measure.is_adaptive() {
        return adaptive::run(plan, control);
    }
    run_in_stages(plan, control, Stages::default())
}

/// Runs a plan from a snapshot, or keeps some on the way, for plans that [`unsaved`](hopsim_experiment::plan::unsaved) has nothing against.
pub fn run_in_stages(plan: &Plan, control: &Control, stages: Stages<'_>) -> Result<Outcome, RunError> {
    count(plan, control, stages).map(|counts| outcome(plan, &counts))
}

/// What a run from one stage to another counts.
fn count(plan: &Plan, control: &Control, stages: Stages<'_>) -> Result<Counts, RunError> {
    within_memory(plan, control, || {
        run_to_end(Measured::new(plan, Fit::Tight, most_threads(control)), control, stages)
    })
}

/// Does something with a simulation of a plan, if there is room for its network; memory that is lacking later on is an error,
/// too.
fn within_memory<T>(
    plan: &Plan,
    control: &Control,
    act: impl FnOnce() -> Result<T, RunError>,
) -> Result<T, RunError> {
    find_room(plan, control)?;
    hopsim_memory::or_shortage(act)?
}

/// Refuses a network whose state does not fit into the memory that there is.
fn find_room(plan: &Plan, control: &Control) -> Result<(), Shortage> {
    has_room(
        memory::of_state(plan.system.network.routers.into(), plan.system.network.links.len() as u64),
        control,
    )
}

/// Refuses so many bytes of memory if they are not there, or more than the run may take.
fn has_room(bytes: u64, control: &Control) -> Result<(), Shortage> {
    let there = control.memory.load(Ordering::Relaxed);
    if there > 0 && bytes > there { Err(Shortage { bytes }) } else { hopsim_memory::probe(bytes) }
}

/// Runs a plan whose system is that of another plan from given cycles on, ascending. Such a plan has the same routers with
/// as many VCs, nodes, jobs and measurements ([`RunError::Snapshot`] if not); links may be slower, and what is under way stays so. What
/// cannot be saved is refused so, too.
pub fn run_changing(plan: &Plan, changes: &[Epoch], control: &Control) -> Result<Outcome, RunError> {
    let run = Measured::new(plan, Fit::Tight, most_threads(control)).changing(changes);
    run_to_end(run, control, Stages::default()).map(|counts| outcome(plan, &counts))
}

/// Runs a plan in a mode that fits any plan: what the other modes buy is measured against it.
pub fn run_in_general(plan: &Plan, control: &Control) -> Result<Outcome, RunError> {
    let counts =
        run_to_end(Measured::new(plan, Fit::Loose, most_threads(control)), control, Stages::default())?;
    Ok(outcome(plan, &counts))
}

/// A way of carrying out a simulation that nobody would choose: results must not show it.
#[cfg(feature = "trace")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trial {
    /// Whether the network is cut as finely as possible.
    pub finest: bool,
    /// How many threads take part, even if it is not worth while; 0 counts as 1.
    pub threads: usize,
    /// Whether the number of threads varies between one and `threads`.
    pub varies: bool,
    /// Whether mail between regions is read in the reverse of its order.
    pub reversed: bool,
    /// Cycles that regions run ahead of each other beyond what they may: that results must show.
    pub stretched: u32,
    /// A region whose simulation panics.
    pub panics: Option<usize>,
}

/// The schedule of a trial.
#[cfg(feature = "trace")]
fn schedule(trial: Trial) -> Schedule {
    let cut = if trial.finest { Cut::Finest } else { Cut::Fitting };
    let Trial { varies, reversed, stretched, panics, .. } = trial;
    Schedule { cut, varies, reversed, stretched, panics, is_forced: true, ..Schedule::new(trial.threads) }
}

/// Runs a plan as [`run`] does, carried out in the way that `trial` says.
#[cfg(feature = "trace")]
pub fn run_as(plan: &Plan, control: &Control, trial: Trial) -> Result<Outcome, RunError> {
    run_in_stages_as(plan, control, trial, Stages::default())
}

/// Runs a plan as [`run_in_stages`] does, carried out in the way that `trial` says.
#[cfg(feature = "trace")]
pub fn run_in_stages_as(
    plan: &Plan,
    control: &Control,
    trial: Trial,
    stages: Stages<'_>,
) -> Result<Outcome, RunError> {
    let counts = run_to_end(Measured::new(plan, Fit::Tight, schedule(trial)), control, stages)?;
    Ok(outcome(plan, &counts))
}

/// Runs a plan for `cycles` cycles and returns the life of every packet granted at least one output.
#[cfg(feature = "trace")]
pub fn trace(plan: &Plan, cycles: u32) -> Result<Vec<PacketTrace>, RunError> {
    // Traces are of small networks, to compare them: so the comparison covers the cut.
    trace_as(plan, cycles, Trial { finest: true, ..Trial::default() })
}

/// Runs a plan as [`trace`] does, carried out in the way that `trial` says.
#[cfg(feature = "trace")]
pub fn trace_as(plan: &Plan, cycles: u32, trial: Trial) -> Result<Lives, RunError> {
    lives(Measured::new(plan, Fit::Tight, schedule(trial)), cycles)
}

/// The lives of packets of a run as [`run_changing`] carries it out, in the way that `trial` says.
#[cfg(feature = "trace")]
pub fn trace_changing(plan: &Plan, changes: &[Epoch], cycles: u32, trial: Trial) -> Result<Lives, RunError> {
    lives(Measured::new(plan, Fit::Tight, schedule(trial)).changing(changes), cycles)
}

/// The lives of the packets of a run, by source and number.
#[cfg(feature = "trace")]
pub type Lives = Vec<PacketTrace>;

/// Runs a plan as [`trace`] does, in every mode that fits the plan, by its name, on a network that is cut as finely as possible
/// and on one that is not cut.
#[cfg(feature = "trace")]
pub fn trace_in_every_mode(plan: &Plan, cycles: u32) -> Result<Vec<(&'static str, [Lives; 2])>, RunError> {
    let in_mode = |mode| {
        let trace = |finest| {
            let schedule = schedule(Trial { finest, ..Trial::default() });
            lives(Measured::new(plan, Fit::Mode(mode), schedule), cycles)
        };
        Ok((mode, [trace(true)?, trace(false)?]))
    };
    hopsim_cycles::fitting(&plan.system).into_iter().map(in_mode).collect()
}

/// Parts of a long run: it looks for deadlock whenever it has become longer by one in so many, so a few hundred times at most.
const SHARE: u32 = 64;

/// Simulates up to cycle `end`, looking out for deadlock and for the caller's wish to stop. A run of programs ends before, at the
/// first multiple of [`CONTROL_PERIOD`] by which the programs are done. Returns the cycle in which the run ends.
fn drive(
    run: &mut Measured<'_>,
    end: u32,
    control: &Control,
    stages: &mut Stages<'_>,
) -> Result<u32, RunError> {
    let plan = run.plan;
    let (watchdog, has_programs) = (plan.experiment.measure.watchdog, plan.system.has_programs());
    // Where nodes do nothing but run programs, nothing happens after their end.
    let alone = has_programs && plan.system.jobs.iter().all(|job| job.program().is_some());
    let (mut next_check, mut heads) = (watchdog, Heads::new(plan));
    let (interval, last) = (plan.experiment.measure.interval, end);
    let most = (MOST_ROWS / output_vcs::rows_per_interval(plan)).max(1);
    let longest = if has_programs && interval > 0 { interval.saturating_mul(most) } else { end };
    let end = end.min(longest);
    while run.now() < end {
        let rests =
            has_programs && !run.simulation.are_done() && run.skip_idle(end.min(stages.next(run.now())));
        if rests && let Some(stuck) = find_stuck(&plan.system.programs(), &run.simulation.ranks()) {
            return Err(stuck.into());
        }
        let period = if alone { period_alone(run.now()) } else { CONTROL_PERIOD };
        let begin = run.now() / period * period;
        let stop = end.min(begin.saturating_add(period)).min(next_check.max(run.now() + 1));
        let stop = stop.min(stages.next(run.now()));
        run.advance(stop, control)?;
        stages.keep(run, control);
        control.done.store(control.before.load(Ordering::Relaxed) + u64::from(stop), Ordering::Relaxed);
        if has_programs && run.simulation.are_done() {
            let last = run.simulation.ranks().iter().map(|rank| rank.host.figures().finish).max();
            let done = (last.unwrap_or(0) / CONTROL_PERIOD + 1) * CONTROL_PERIOD;
            // Not yet, if a stage has come between.
            if done <= stop {
                return Ok(done);
            }
        }
        if stop >= next_check || stop == end {
            next_check = stop.saturating_add(watchdog.max(stop / SHARE));
            look_for_deadlock(&run.simulation)?;
            heads.look(&run.simulation, stop)?;
        }
    }
    if has_programs && !run.simulation.are_done() {
        return Err(if end < last {
            RunError::LongSeries(interval, MOST_ROWS)
        } else {
            RunError::Unfinished(end, progress(&plan.system.programs(), &run.simulation.ranks()))
        });
    }
    Ok(end)
}

/// After how many cycles a run of nothing but programs is looked at again: the longer it has become the more, as looking costs
/// time and so does what is simulated behind the end of the programs.
fn period_alone(now: u32) -> u32 {
    (now / 4).clamp(CONTROL_PERIOD, 256 * CONTROL_PERIOD) / CONTROL_PERIOD * CONTROL_PERIOD
}

/// Refuses to go on with packets, or with ranks of a program, that wait for each other.
fn look_for_deadlock(simulation: &AnySimulation<'_, Recorder>) -> Result<(), RunError> {
    let system = simulation.system();
    if let Some(report) = simulation.find_deadlock() {
        return Err(RunError::Deadlock(report));
    }
    if system.has_programs()
        && let Some(stuck) = find_stuck(&system.programs(), &simulation.ranks())
    {
        return Err(stuck.into());
    }
    Ok(())
}
