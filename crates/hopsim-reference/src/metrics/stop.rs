//! Where runs stop that find out by themselves how long they must be: *Stopping* under *Measurement* in `docs/model.md`. Every attempt
//! is simulated anew.

use super::verdict::{course, left_out};
use super::{Run, outcome};
use crate::record;
use crate::routing::ways::Ways;
use hopsim_experiment::config::Experiment;
use hopsim_experiment::config::stop::EndConfig;
use hopsim_experiment::document::from_json;
use hopsim_experiment::plan::Plan;
use serde_json::{Map, Value, json};

/// Means that count the wait in the source.
const OF_SOURCES: [&str; 4] =
    ["packet_latency_mean", "injection_latency_mean", "request_latency_mean", "response_latency_mean"];

/// How a run has stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Stopped {
    /// Warm-up of the window that is measured, and what had settled before the first window if the warm-up was searched.
    pub warmup: (u32, Option<&'static str>),
    /// The windows of all attempts, with the window that is measured behind one whose interval is narrow.
    pub windows: Vec<u32>,
    /// Why the run stopped, and the relative half width, if a narrow interval was asked for.
    pub why: Option<(&'static str, Option<f64>)>,
}

/// The plan of an experiment with a given warm-up and window and no search for them.
fn attempt(experiment: &Experiment, warmup: u32, cycles: u32) -> Plan {
    let mut document = serde_json::to_value(experiment).unwrap_or_default();
    (document["measure"]["warmup"], document["measure"]["cycles"]) = (json!(warmup), json!(cycles));
    for key in ["stop", "end"] {
        document["measure"].as_object_mut().and_then(|measure| measure.remove(key));
    }
    let attempt = from_json(&document.to_string()).and_then(|attempt| Plan::new(&attempt));
    attempt.unwrap_or_else(|error| panic!("{error}"))
}

/// The part, of 100, with which the values begin that MSER-5 leaves, if they have settled.
fn begin(parts: &[u32], values: &[f64]) -> Option<u32> {
    let out = left_out(values);
    let settled = course(&values[out..])?;
    (parts[out] < 50 && !settled.drifts).then_some(parts[out])
}

/// The warm-up that a pilot asks for.
fn settled(plan: &Plan) -> Option<(u32, &'static str)> {
    let record = record(plan);
    let run = Run { plan, record: &record, ways: Ways::new(plan) };
    let jobs: Vec<usize> = (0..plan.system.jobs.len()).collect();
    let observed = run.observed(&jobs);
    let (parts, latencies) = observed.latencies();
    let length = plan.experiment.measure.cycles / 100;
    if length == 0 || parts.len() < 50 {
        return None;
    }
    let all: Vec<u32> = (0..100).collect();
    let load = begin(&all, &observed.loads());
    let grows = plan.system.nic.source_queue == u32::MAX && run.verdict(&jobs)["verdict"] == "saturated";
    if grows {
        return Some(((load? + 5) * length, "accepted load"));
    }
    let latency = begin(&parts, &latencies);
    Some(((load?.max(latency?) + 5) * length, "latency"))
}

/// The half width of the interval of a mean over its size.
fn relative(summary: &Map<String, Value>, metric: &str) -> Option<f64> {
    let number = |key: &str| summary[key].as_f64();
    match (number(metric), number(&format!("{metric}_ci95"))) {
        (Some(_), Some(0.0)) => Some(0.0),
        (Some(mean), Some(width)) if mean != 0.0 => Some(width / mean.abs()),
        _ => None,
    }
}

/// The windows of a run that ends with a number of packets, the last of which is the one that is measured, and why it ends.
fn packets_delivered(experiment: &Experiment, (warmup, end): (u32, &EndConfig)) -> (Vec<u32>, &'static str) {
    let most = end.max_cycles.unwrap_or(100 * experiment.measure.cycles.max(100));
    let step = 100 * most.div_ceil(1_000_000).max(1);
    let round = |cycles: u64| {
        let longer = cycles.div_ceil(step.into()).max(1) * u64::from(step);
        longer.min(u64::from(most / step * step)) as u32
    };
    let mut windows = vec![round(experiment.measure.cycles.into())];
    loop {
        let window = windows[windows.len() - 1];
        let plan = attempt(experiment, warmup, window);
        let record = record(&plan);
        let delivered = |cycles: u32| {
            let run = Run { plan: &plan, record: &record, ways: Ways::new(&plan) };
            run.delivered().filter(|&(_, at)| at >= warmup && at < warmup + cycles).count() as u64
        };
        let enough = |cycles: &u32| delivered(*cycles) >= end.packets;
        if let Some(cycles) = (step..=window).step_by(step as usize).find(enough) {
            windows.push(cycles);
            return (windows, "delivered");
        }
        if window == most / step * step {
            windows.push(most);
            return (windows, "max cycles");
        }
        let (w, n) = (u64::from(window), delivered(window));
        // The first multiple above what would do by the rate of this window and a twentieth.
        let more = if n == 0 { 10 * w } else { (21 * w * end.packets / (20 * n)).min(10 * w) };
        windows.push(round(more + 1));
    }
}

/// How a run stops.
pub fn stopped(plan: &Plan) -> Stopped {
    let experiment = &plan.experiment;
    let measure = &experiment.measure;
    let warmup = if measure.warmup.is_auto() {
        let mut pilot = experiment.clone();
        (pilot.measure.streams, pilot.measure.interval, pilot.measure.batches) = (Vec::new(), 0, 1);
        pilot.measure.packets = None;
        let windows = [1, 2, 4, 8, 16, 32].map(|halves| halves * measure.cycles / 2);
        let mut pilots = windows.into_iter().filter(|&cycles| cycles >= 100);
        let found = pilots.find_map(|cycles| settled(&attempt(&pilot, 0, cycles)));
        let (cycles, by) = found.unwrap_or((8 * measure.cycles, "not found"));
        (cycles, Some(by))
    } else {
        (measure.warmup.cycles(), None)
    };
    if let Some(end) = &measure.end {
        let (windows, why) = packets_delivered(experiment, (warmup.0, end));
        return Stopped { warmup, windows, why: Some((why, None)) };
    }
    let mut windows = vec![measure.cycles];
    let Some(stop) = &measure.stop else { return Stopped { warmup, windows, why: None } };
    let most = stop.max_cycles.unwrap_or(100 * measure.cycles);
    loop {
        let window = windows[windows.len() - 1];
        let plan = attempt(experiment, warmup.0, window);
        let summary = outcome(&plan, &record(&plan)).summary;
        let h = relative(&summary, &stop.metric);
        let verdict = summary["verdict"].as_str().unwrap_or_default();
        let waits = OF_SOURCES.contains(&stop.metric.as_str());
        let why = if waits && verdict == "saturated" && plan.system.nic.source_queue == u32::MAX {
            "saturated"
        } else if h.is_some_and(|h| h <= stop.relative_ci) && ["steady", "saturated"].contains(&verdict) {
            "reached"
        } else if window == most {
            "max cycles"
        } else {
            let mut q = h.map_or(2.0, |h| 1.25 * (h / stop.relative_ci) * (h / stop.relative_ci));
            q = q.max(match (verdict, &summary["missing_cycles"]) {
                ("not converged", _) => 2.0,
                ("too few samples", Value::Null) => 10.0,
                ("too few samples", missing) => 1.0 + missing.as_f64().unwrap_or(0.0) / f64::from(window),
                _ => 0.0,
            });
            let wanted = f64::from(window) * q.clamp(1.5, 10.0);
            let mut next = measure.cycles;
            while f64::from(next) < wanted && next < most {
                next += measure.cycles;
            }
            windows.push(next.min(most));
            continue;
        };
        if why == "reached" {
            // What is measured is the next stretch that is as long.
            windows.push(window);
            let later = (warmup.0 + window, warmup.1);
            let plan = attempt(experiment, later.0, window);
            let h = relative(&outcome(&plan, &record(&plan)).summary, &stop.metric);
            return Stopped { warmup: later, windows, why: Some((why, h)) };
        }
        return Stopped { warmup, windows, why: Some((why, h)) };
    }
}
