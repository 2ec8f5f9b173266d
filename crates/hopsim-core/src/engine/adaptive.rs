//! Runs that find out by themselves how long they must be: a loop around plain runs. What an adaptive run measures is what the
//! last plain run has measured, to the last bit. A window whose interval is narrow is likelier to be a calm one, with a mean that
//! is too low; a fresh window behind it, as long as it is, has not been chosen for that (two stages, as those of Stein 1945).

use super::{Control, Outcome, Scope, Snapshot, Stages, count, outcome, trunk};
use crate::error::RunError;
use hopsim_experiment::config::Experiment;
use hopsim_experiment::config::measure::MeasureConfig;
use hopsim_experiment::config::stop::{EndConfig, StopConfig, Warmup, pilots};
use hopsim_experiment::plan::{Plan, unsaved};
use hopsim_measure::Counts;
use hopsim_measure::parts::PARTS;
use hopsim_measure::settling::{Settled, settled};
use hopsim_measure::stop::{Next, Packets, REACHED, first_window, next, packets, relative_width};
use hopsim_measure::summary::Figures;
use serde_json::{Map, Value};
use std::sync::atomic::Ordering;

/// A plain run of the network of an adaptive run, simulated from cycle 0 on or from what several plain runs share.
struct Plain {
    plan: Plan,
    end: u32,
}

impl Plain {
    /// A plain run with this warm-up and window.
    fn new(plan: &Plan, warmup: u32, cycles: u32) -> Self {
        let measure = MeasureConfig {
            warmup: Warmup::Cycles(warmup),
            cycles,
            stop: None,
            end: None,
            ..plan.experiment.measure.clone()
        };
        let experiment = Experiment { measure, ..plan.experiment.clone() };
        Self { plan: Plan { experiment, ..plan.clone() }, end: warmup + cycles }
    }

    /// A plain run that is looked at only to see where it settles, and keeps nothing else.
    fn pilot(plan: &Plan, cycles: u32) -> Self {
        let mut pilot = Self::new(plan, 0, cycles);
        let measure = &mut pilot.plan.experiment.measure;
        (measure.streams, measure.interval, measure.batches) = (Vec::new(), 0, 1);
        pilot
    }

    /// A plain run whose packets are counted step by step, and that keeps nothing else.
    fn counting(plan: &Plan, (warmup, cycles): (u32, u32), step: u32) -> Self {
        let mut counting = Self::new(plan, warmup, cycles);
        let measure = &mut counting.plan.experiment.measure;
        (measure.streams, measure.interval, measure.batches) = (Vec::new(), 0, cycles / step);
        counting
    }

    /// The plain run behind this one: its window is as long, and begins where the window of this run ends.
    fn behind(&self) -> Self {
        Self::new(&self.plan, self.end, self.plan.experiment.measure.cycles)
    }

    /// Says how far the run goes. Returns the cycles of the runs before it.
    fn announce(&self, control: &Control) -> u64 {
        let before = control.before.load(Ordering::Relaxed);
        control.total.store(before + u64::from(self.end), Ordering::Relaxed);
        before
    }

    fn run(&self, beginning: Option<&Snapshot>, control: &Control) -> Result<Counts, RunError> {
        let before = self.announce(control);
        let from = beginning.map(|snapshot| (snapshot, Scope::Network));
        let counts = count(&self.plan, control, Stages { from, ..Stages::default() })?;
        let begin = beginning.map_or(0, Snapshot::cycle);
        control.before.store(before + u64::from(self.end - begin), Ordering::Relaxed);
        Ok(counts)
    }

    /// What the runs with this warm-up and longer windows share, if there is anything and it can be kept.
    fn beginning(&self, control: &Control) -> Result<Option<Snapshot>, RunError> {
        let warmup = self.plan.experiment.measure.warmup.cycles();
        if warmup == 0 || unsaved(&self.plan).is_some() {
            return Ok(None);
        }
        self.announce(control);
        trunk(&self.plan, warmup, control).map(Some)
    }

    fn summary(&self, counts: &Counts) -> Map<String, Value> {
        Figures::new(&self.plan, counts, (0..self.plan.system.jobs.len()).collect()).summary()
    }
}

/// Runs an adaptive plan.
pub fn run(plan: &Plan, control: &Control) -> Result<Outcome, RunError> {
    let MeasureConfig { warmup, cycles, stop, .. } = &plan.experiment.measure;
    let found = if warmup.is_auto() { Some(find_warmup(plan, control)?) } else { None };
    let warmup = found.map_or(warmup.cycles(), |found| found.cycles);
    let mut attempt = Plain::new(plan, warmup, *cycles);
    let mut how = vec![("warmup_found", found.map_or(Value::Null, |found| found.by.into()))];
    if let Some(end) = &plan.experiment.measure.end {
        return run_to_packets(plan, end, (warmup, how), control);
    }
    let Some(stop) = stop else {
        let counts = attempt.run(None, control)?;
        return Ok(told(outcome(&attempt.plan, &counts), &how));
    };
    let beginning = attempt.beginning(control)?;
    for number in 1u32.. {
        let counts = attempt.run(beginning.as_ref(), control)?;
        let summary = attempt.summary(&counts);
        match next(plan, stop, *cycles, &summary) {
            Next::Window(cycles) => attempt = Plain::new(plan, warmup, cycles),
            Next::Stop(REACHED) => {
                let fresh = attempt.behind();
                let counts = fresh.run(beginning.as_ref(), control)?;
                let summary = fresh.summary(&counts);
                how.extend(stopped(stop, (REACHED, number + 1), &summary));
                return Ok(told(outcome(&fresh.plan, &counts), &how));
            }
            Next::Stop(why) => {
                how.extend(stopped(stop, (why, number), &summary));
                return Ok(told(outcome(&attempt.plan, &counts), &how));
            }
        }
    }
    unreachable!("windows grow up to the longest one, with which the run stops")
}

/// Runs a plan whose window ends with a number of packets, after a warm-up that was found like that: windows show where it ends.
fn run_to_packets(
    plan: &Plan,
    end: &EndConfig,
    (warmup, mut how): (u32, Vec<(&str, Value)>),
    control: &Control,
) -> Result<Outcome, RunError> {
    let cycles = plan.experiment.measure.cycles;
    let beginning = Plain::new(plan, warmup, cycles).beginning(control)?;
    let mut window = first_window(end, cycles);
    for number in 2u32.. {
        let counting = Plain::counting(plan, (warmup, window), end.step());
        let counts = counting.run(beginning.as_ref(), control)?;
        match packets(end, &counts.recorder.delivered_by_batch()) {
            Packets::Window(longer) => window = longer,
            Packets::End(cycles, why) => {
                let found = Plain::new(plan, warmup, cycles);
                let counts = found.run(beginning.as_ref(), control)?;
                how.extend([("stop", why.into()), ("stop_attempts", number.into())]);
                return Ok(told(outcome(&found.plan, &counts), &how));
            }
        }
    }
    unreachable!("windows grow up to the longest one, with which the run ends")
}

/// The warm-up that pilots show to be enough. If no pilot has settled, it is half of the last pilot.
fn find_warmup(plan: &Plan, control: &Control) -> Result<Settled, RunError> {
    let pilots = pilots(plan.experiment.measure.cycles);
    // Shorter ones have no parts that could settle.
    for cycles in pilots.into_iter().filter(|&cycles| cycles >= PARTS) {
        let pilot = Plain::pilot(plan, cycles);
        if let Some(found) = settled(&pilot.plan, &pilot.run(None, control)?) {
            return Ok(found);
        }
    }
    Ok(Settled { cycles: pilots[pilots.len() - 1] / 2, by: "not found" })
}

/// Why a run stopped and after how many windows, with what the last window has measured.
fn stopped(
    stop: &StopConfig,
    (why, attempts): (&str, u32),
    summary: &Map<String, Value>,
) -> [(&'static str, Value); 3] {
    let width = relative_width(summary, &stop.metric);
    [
        ("stop", why.into()),
        ("stop_relative_ci", width.map_or(Value::Null, Value::from)),
        ("stop_attempts", attempts.into()),
    ]
}

/// What was measured, and how the run stopped.
fn told(mut outcome: Outcome, how: &[(&str, Value)]) -> Outcome {
    for record in std::iter::once(&mut outcome.summary).chain(&mut outcome.jobs) {
        record.extend(how.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    }
    outcome
}
