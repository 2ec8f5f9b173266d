//! When an adaptive run stops, and how long its next window is: the sequential procedure of Law and Carson (1979) with a window that is
//! predicted instead of doubled.

use super::verdict::{NOT_CONVERGED, SATURATED, STEADY};
use crate::config::stop::StopConfig;
use crate::plan::Plan;
use serde_json::{Map, Value};

/// Means that count the wait in the source queue of a packet that its node draws.
const OF_SOURCES: [&str; 4] =
    ["packet_latency_mean", "injection_latency_mean", "request_latency_mean", "response_latency_mean"];

/// What the window that should do is multiplied by: half of all windows that just do are too short by their own interval.
const MARGIN: f64 = 1.25;

/// Least and greatest factor from a window to the next one.
const GROWTH: [f64; 2] = [1.5, 10.0];

/// That factor if latency or load drifts, or if there is no interval to predict by.
const UNKNOWN: f64 = 2.0;

/// What follows from a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// The run stops, for this reason.
    Stop(&'static str),
    /// A longer window \[cycles\].
    Window(u32),
}

/// Whether packets wait in sources for longer and longer: they fall behind, and have no bound.
pub fn queues_grow(plan: &Plan, verdict: Option<&str>) -> bool {
    verdict == Some(SATURATED) && plan.nic.source_queue == u32::MAX
}

/// The half width of the interval of a metric relative to its mean, if both are there.
pub fn relative_width(summary: &Map<String, Value>, metric: &str) -> Option<f64> {
    let number = |key: &str| summary.get(key).and_then(Value::as_f64);
    let (mean, width) = (number(metric)?, number(&format!("{metric}_ci95"))?);
    let relative = if width == 0.0 { 0.0 } else { width / mean.abs() };
    relative.is_finite().then_some(relative)
}

/// What follows from the summary of a window, of a run whose first one was `first` cycles long.
pub fn next(plan: &Plan, (stop, first): (&StopConfig, u32), summary: &Map<String, Value>) -> Next {
    let number = |key: &str| summary.get(key).and_then(Value::as_f64);
    let cycles = number("cycles").unwrap_or(0.0);
    let verdict = summary.get("verdict").and_then(Value::as_str);
    if OF_SOURCES.contains(&stop.metric.as_str()) && queues_grow(plan, verdict) {
        return Next::Stop("saturated");
    }
    let width = relative_width(summary, &stop.metric);
    let at_rest = [STEADY, SATURATED].map(Some).contains(&verdict);
    if at_rest && width.is_some_and(|width| width <= stop.relative_ci) {
        return Next::Stop("reached");
    }
    let most = stop.max_cycles.unwrap_or(first);
    if cycles >= f64::from(most) {
        return Next::Stop("max cycles");
    }
    let by_width = width.map_or(UNKNOWN, |width| MARGIN * (width / stop.relative_ci).powi(2));
    let by_verdict = match verdict {
        _ if at_rest => 0.0,
        Some(NOT_CONVERGED) => UNKNOWN,
        // Too few samples: it is known how many, unless there are none at all.
        _ => number("missing_cycles").map_or(GROWTH[1], |missing| 1.0 + missing / cycles),
    };
    let longer = cycles * by_width.max(by_verdict).clamp(GROWTH[0], GROWTH[1]);
    // Whole first windows, so that batches and parts are divided as the first one is.
    let windows = (longer / f64::from(first)).ceil() as u64;
    Next::Window((windows * u64::from(first)).min(most.into()) as u32)
}

/// The columns of the summary that say how a run stopped: of one that did not ask.
pub fn columns(plan: &Plan) -> Map<String, Value> {
    let mut record = Map::new();
    record.insert("warmup_cycles".into(), plan.experiment.measure.warmup.cycles().into());
    for key in ["warmup_found", "stop", "stop_relative_ci95", "stop_attempts"] {
        record.insert(key.into(), Value::Null);
    }
    record
}
