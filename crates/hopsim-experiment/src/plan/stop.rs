//! Runs that find out by themselves how long they must be: what they may ask for.

use super::means::means;
use super::{MAX_CYCLES, Plan};
use crate::config::limits::{WIDTHS, within};
use crate::config::measure::MeasureConfig;
use crate::config::names::closest;
use crate::config::stop::{EndConfig, LONGEST_PILOT, PACKETS, StopConfig};
use crate::config::{Experiment, JobConfig};
use hopsim_network::error::ConfigError;

/// The longest window unless the document says one, in first windows.
const LONGEST: u32 = 100;

/// The longest warm-up and window that a run may have.
pub fn longest(experiment: &Experiment) -> (u32, u32) {
    let measure = &experiment.measure;
    let warmup = longest_warmup(measure);
    if let Some(end) = &measure.end {
        return (warmup, end.most());
    }
    let Some(stop) = &measure.stop else { return (warmup, measure.cycles) };
    let window = stop.max_cycles.unwrap_or(measure.cycles);
    // What is measured is a second window.
    (warmup.saturating_add(window), window)
}

/// The longest warm-up before the first window.
fn longest_warmup(measure: &MeasureConfig) -> u32 {
    let pilot = measure.cycles.saturating_mul(LONGEST_PILOT);
    // A transient ends before the middle, and its warm-up a 20th of the pilot behind.
    if measure.warmup.is_auto() { pilot.div_ceil(20) * 11 } else { measure.warmup.cycles() }
}

/// Says how long the window may become, and refuses what has no warm-up or window to find.
pub fn resolve(experiment: &mut Experiment) -> Result<(), ConfigError> {
    if !experiment.measure.is_adaptive() {
        return Ok(());
    }
    check_work(experiment)?;
    let measure = &experiment.measure;
    let most = MAX_CYCLES / LONGEST_PILOT;
    if measure.warmup.is_auto() && measure.cycles > most {
        let reason = format!("a pilot of {LONGEST_PILOT} times as many cycles is too long");
        return Err(ConfigError::new("measure.cycles", reason)
            .value(measure.cycles)
            .valid(format!("1 … {most}, or measure.warmup in cycles")));
    }
    let most = MAX_CYCLES - longest_warmup(measure).min(MAX_CYCLES);
    resolve_end(&mut experiment.measure, most)?;
    resolve_stop(&mut experiment.measure, most / 2)
}

/// Refuses work that does not go on in the same way for as long as one likes.
fn check_work(experiment: &Experiment) -> Result<(), ConfigError> {
    let measure = &experiment.measure;
    let (refused, valid) = match (&measure.stop, &measure.end) {
        (Some(_), _) => (ConfigError::new("measure.stop", ""), "no such key"),
        (_, Some(_)) => (ConfigError::new("measure.end", ""), "no such key"),
        _ => (ConfigError::new("measure.warmup", "").value("\"auto\""), "cycles"),
    };
    let changes = |(number, job): (usize, &JobConfig)| {
        job.traffic.as_ref().is_some_and(|traffic| !traffic.changes.is_empty()).then_some(number)
    };
    let (reason, other) = if experiment.has_programs() {
        let reason = "a run of programs begins at cycle 0 and ends when they are done";
        (reason.to_owned(), "; measure.max_cycles")
    } else if let Some(job) = experiment.jobs.iter().enumerate().find_map(changes) {
        let reason = format!("the traffic of job {job} changes, so that no window is like a longer one");
        (reason, ", or jobs without changes")
    } else {
        return Ok(());
    };
    Err(ConfigError { reason, ..refused }.valid(format!("{valid}{other}")))
}

/// Says how long a window may become that ends with a number of packets, `most` cycles at most.
fn resolve_end(measure: &mut MeasureConfig, most: u32) -> Result<(), ConfigError> {
    let Some(end) = &mut measure.end else { return Ok(()) };
    if measure.stop.is_some() {
        let reason = "measure.stop says already when the window ends";
        return Err(ConfigError::new("measure.end", reason).valid("one of the two"));
    }
    within(PACKETS, end.packets, "measure.end.packets")?;
    let least = measure.cycles.max(EndConfig::SHORTEST);
    let longest = end.max_cycles.get_or_insert(least.saturating_mul(LONGEST).min(most));
    if !(least..=most).contains(longest) {
        let reason = if *longest > most { "the run is too long" } else { "the first window is longer" };
        return Err(ConfigError::new("measure.end.max_cycles", reason)
            .value(*longest)
            .valid(format!("{least} … {most}")));
    }
    if measure.batches > EndConfig::SHORTEST {
        let reason =
            "the window that measure.end finds may be too short to be divided into that many batches";
        return Err(ConfigError::new("measure.batches", reason)
            .value(measure.batches)
            .valid(format!("1 … {}", EndConfig::SHORTEST)));
    }
    Ok(())
}

/// Says how long the window may become, `most` cycles at most.
fn resolve_stop(measure: &mut MeasureConfig, most: u32) -> Result<(), ConfigError> {
    let Some(stop) = &mut measure.stop else { return Ok(()) };
    if measure.cycles > most {
        let reason =
            "with measure.stop a second window is simulated behind the first, and the run is too long";
        return Err(ConfigError::new("measure.cycles", reason)
            .value(measure.cycles)
            .valid(format!("1 … {most}")));
    }
    let longest = stop.max_cycles.get_or_insert(measure.cycles.saturating_mul(LONGEST).min(most));
    if !(measure.cycles..=most).contains(longest) {
        let reason = if *longest > most { "the run is too long" } else { "the first window is longer" };
        return Err(ConfigError::new("measure.stop.max_cycles", reason)
            .value(*longest)
            .valid(format!("{} … {most}", measure.cycles)));
    }
    within(WIDTHS, stop.relative_ci, "measure.stop.relative_ci")?;
    if measure.batches < 2 {
        let reason = "measure.stop needs an interval, and one batch has none";
        return Err(ConfigError::new("measure.batches", reason).value(measure.batches).valid("2 …"));
    }
    Ok(())
}

/// Refuses a metric that the summary has no interval of.
pub fn check_metric(plan: &Plan) -> Result<(), ConfigError> {
    let Some(StopConfig { metric, .. }) = &plan.experiment.measure.stop else { return Ok(()) };
    let all: Vec<usize> = (0..plan.system.jobs.len()).collect();
    let classes = plan.system.network.link_classes;
    let known: Vec<String> = means(plan, &all).into_iter().map(|mean| mean.name(classes)).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    if known.contains(&metric.as_str()) {
        return Ok(());
    }
    let meant = closest(metric, &known).map(|name| format!("`{name}`"));
    Err(ConfigError::new("measure.stop.metric", "the summary has no such mean with an interval")
        .value(format!("{metric:?}"))
        .suggestion(meant.as_deref())
        .valid(known.join(", ")))
}
