//! When an adaptive run stops, and how long its next window is: the sequential procedure of Law and Carson (1979) with a window that is
//! predicted instead of doubled. What is
//! measured is a fresh window behind the one that was narrow enough.

use super::verdict::{NOT_CONVERGED, SATURATED, STEADY};
use hopsim_experiment::config::stop::{EndConfig, StopConfig};
use hopsim_experiment::plan::Plan;
use serde_json::{Map, Value};

/// Means that count the wait in the source queue of a packet that its node draws.
const OF_SOURCES: [&str; 4] =
    ["packet_latency_mean", "injection_latency_mean", "request_latency_mean", "response_latency_mean"];

/// What the window that should do is multiplied by: half of all windows that just do are too short by their own interval.
const MARGIN: f64 = 1.25;

/// Least and greatest factor from a window to the next one.
const GROWTH: [f64; 2] = [1.5, 10.0];

/// Factor from a window to the next one if latency or load drifts, or if there is no interval to predict by.
const UNKNOWN: f64 = 2.0;

/// Why a run stops whose interval is narrow enough.
pub const REACHED: &str = "reached";

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
    verdict == Some(SATURATED) && plan.system.nic.source_queue == u32::MAX
}

/// The half width of the interval of a metric relative to its mean, if both are there.
pub fn relative_width(summary: &Map<String, Value>, metric: &str) -> Option<f64> {
    let number = |key: &str| summary.get(key).and_then(Value::as_f64);
    let (mean, width) = (number(metric)?, number(&format!("{metric}_ci95"))?);
    let relative = if width == 0.0 { 0.0 } else { width / mean.abs() };
    relative.is_finite().then_some(relative)
}

/// What follows from the summary of a window, of a run whose first one was `first` cycles long.
pub fn next(plan: &Plan, stop: &StopConfig, first: u32, summary: &Map<String, Value>) -> Next {
    let number = |key: &str| summary.get(key).and_then(Value::as_f64);
    let cycles = number("cycles").unwrap_or(0.0);
    let verdict = summary.get("verdict").and_then(Value::as_str);
    if OF_SOURCES.contains(&stop.metric.as_str()) && queues_grow(plan, verdict) {
        return Next::Stop("saturated");
    }
    let width = relative_width(summary, &stop.metric);
    let at_rest = [STEADY, SATURATED].map(Some).contains(&verdict);
    if at_rest && width.is_some_and(|width| width <= stop.relative_ci) {
        return Next::Stop(REACHED);
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

/// What follows from a window that is to hold a number of packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Packets {
    /// The window that holds them \[cycles\], or the longest one, and why it ends.
    End(u32, &'static str),
    /// A longer window \[cycles\] must be looked at.
    Window(u32),
}

/// The first window to look at, of a run whose document says that it has `cycles` cycles.
pub fn first_window(end: &EndConfig, cycles: u32) -> u32 {
    let step = end.step();
    cycles.next_multiple_of(step).min(end.most() / step * step)
}

/// What follows from a window, in whose steps so many packets were delivered one after the other.
pub fn packets(end: &EndConfig, delivered: &[u64]) -> Packets {
    let (step, longest) = (end.step(), end.most() / end.step() * end.step());
    let mut sum = 0;
    for (number, &count) in (1..).zip(delivered) {
        sum += count;
        if sum >= end.packets {
            return Packets::End(number * step, "delivered");
        }
    }
    let cycles = delivered.len() as u64 * u64::from(step);
    if cycles >= u64::from(longest) {
        return Packets::End(end.most(), "max cycles");
    }
    // A twentieth more than the window in which so many are delivered at this rate.
    let most = 10 * cycles;
    let wanted = u128::from(21 * cycles) * u128::from(end.packets);
    let wanted =
        wanted.checked_div(u128::from(20 * sum)).map_or(most, |wanted| wanted.min(most.into()) as u64);
    Packets::Window((wanted / u64::from(step) + 1).saturating_mul(step.into()).min(longest.into()) as u32)
}

/// The columns of the summary that say how a run stopped: of one that did not ask.
pub fn columns(plan: &Plan) -> Map<String, Value> {
    let mut record = Map::new();
    record.insert("warmup_cycles".into(), plan.experiment.measure.warmup.cycles().into());
    for key in ["warmup_found", "stop", "stop_relative_ci", "stop_attempts"] {
        record.insert(key.into(), Value::Null);
    }
    record
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// What follows from a window of 2000 cycles, of a run whose first one had 1000, for a mean of 100.
    fn after(verdict: &str, missing: Option<u32>, width: Option<f64>, metric: &str) -> Next {
        let document = json!({ "topology": { "mesh": { "sides": [4] } }, "load": 0.5 });
        let plan = Plan::new(&serde_json::from_value(document).unwrap()).unwrap();
        let stop = StopConfig { relative_ci: 0.02, metric: metric.into(), max_cycles: Some(15_500) };
        let summary = json!({
            "cycles": 2000, "verdict": verdict, "missing_cycles": missing,
            metric: 100.0, format!("{metric}_ci95"): width,
        });
        next(&plan, &stop, 1000, summary.as_object().unwrap())
    }

    #[test]
    fn a_narrow_interval_of_what_is_at_rest_will_do() {
        let latency = "packet_latency_mean";
        assert_eq!(after("steady", Some(0), Some(2.0), latency), Next::Stop("reached"));
        assert_eq!(after("saturated", None, Some(2.0), latency), Next::Stop("saturated"));
        assert_eq!(after("saturated", None, Some(2.0), "accepted_load"), Next::Stop("reached"));
        assert_eq!(after("not converged", Some(9), Some(2.0), latency), Next::Window(4000));
        assert_eq!(after("too few samples", Some(500), Some(2.0), latency), Next::Window(3000));
    }

    #[test]
    fn the_next_window_is_as_long_as_the_interval_suggests() {
        let window = |width| after("steady", Some(0), width, "accepted_load");
        // 1.25 times the square of the ratio, in whole first windows; at least 1.5 and at most 10 times, and at most the longest.
        assert_eq!(window(Some(4.0)), Next::Window(10_000));
        assert_eq!(window(Some(3.9)), Next::Window(10_000));
        assert_eq!(window(Some(2.01)), Next::Window(3000));
        assert_eq!(window(Some(40.0)), Next::Window(15_500));
        assert_eq!(window(None), Next::Window(4000));
        assert_eq!(window(Some(0.0)), Next::Stop("reached"));
    }

    #[test]
    fn what_the_verdict_misses_makes_it_longer() {
        let window = |missing| after("too few samples", missing, Some(2.0), "accepted_load");
        assert_eq!(window(Some(3001)), Next::Window(6000));
        assert_eq!(window(None), Next::Window(15_500));
    }

    #[test]
    fn a_window_ends_with_the_step_in_which_enough_packets_are_delivered() {
        let end = EndConfig { packets: 30, max_cycles: Some(1050) };
        assert_eq!(packets(&end, &[10, 10, 10, 50]), Packets::End(300, "delivered"));
        assert_eq!(packets(&end, &[10, 10, 9, 50]), Packets::End(400, "delivered"));
        assert_eq!(packets(&end, &[1; 10]), Packets::End(1050, "max cycles"));
        // 21 · 200 · 30 / (20 · 20) = 315 cycles, and up to the next step above; ten times as many, and no more than all steps.
        assert_eq!(packets(&end, &[10, 10]), Packets::Window(400));
        assert_eq!(packets(&end, &[29]), Packets::Window(200));
        assert_eq!(packets(&end, &[0, 1]), Packets::Window(1000));
        let far = EndConfig { packets: 30, max_cycles: Some(3_000_000_000) };
        assert_eq!(packets(&far, &[0]), Packets::Window(3_300_000));
        assert_eq!(packets(&far, &[10]), Packets::Window(1_200_000));
        assert_eq!([10, 100, 101, 5000].map(|cycles| first_window(&end, cycles)), [100, 100, 200, 1000]);
    }

    #[test]
    fn a_window_without_a_margin_would_end_too_early() {
        // 21 · 1000 · 100 / (20 · 70) = 1500, without the margin 1428.
        let end = EndConfig { packets: 100, max_cycles: Some(100_000) };
        assert_eq!(packets(&end, &[7; 10]), Packets::Window(1600));
    }
}
