//! The summary record of a fabric: one flat row per point, and per job.

use super::recorder::{Counts, Recorder};
use crate::measure::statistics::{jain, mean};
use crate::plan::fabric::FabricPlan;
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::time::Ticks;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// What so many bytes in a time are in Gb/s.
pub fn gigabits(bytes: u64, ticks: Ticks, ticks_per_ns: u64) -> f64 {
    8.0 * bytes as f64 * ticks_per_ns as f64 / ticks as f64
}

fn number(value: Option<f64>) -> Value {
    value.filter(|value| value.is_finite()).map_or(Value::Null, Value::from)
}

/// The record of some jobs together.
pub fn summary(plan: &FabricPlan, recorder: &Recorder, jobs: &[usize]) -> Map<String, Value> {
    let own = || (0..plan.flows.len()).filter(|&flow| jobs.contains(&plan.names[flow].job));
    let flows: Vec<&Flow> = own().map(|flow| &plan.flows[flow]).collect();
    let mut sum = Counts::default();
    own().for_each(|flow| sum.add(&recorder.flows[flow]));
    let rate = |bytes: u64| gigabits(bytes, plan.span.window(), plan.fabric.ticks_per_ns);
    let rates: Vec<f64> = own().map(|flow| rate(recorder.flows[flow].bytes)).collect();
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    let nodes: BTreeSet<u32> = flows.iter().flat_map(|flow| [flow.source, flow.destination]).collect();
    let capacity = capacity(plan, &flows);
    let mut record = Map::new();
    let mut put = |key: &str, value: Value| record.insert(key.to_owned(), value);
    put("nodes", nodes.len().into());
    put("flows", flows.len().into());
    put("offered_load", number(offered(plan, &flows).map(|offered| offered / capacity)));
    put("accepted_load", number(Some(rate(sum.bytes) / capacity)));
    put("throughput_gbps", number(Some(rate(sum.bytes))));
    put("flow_throughput_min_gbps", number(Some(least)));
    put("flow_throughput_mean_gbps", number(mean(&rates)));
    put("flow_throughput_max_gbps", number(Some(most)));
    put("flow_throughput_max_min_ratio", number(Some(most / least)));
    put("jain_index", number(jain(&rates)));
    for (key, value) in latencies(plan, recorder, (&sum, jobs)) {
        put(key, value);
    }
    put("packets_sent", sum.sent.into());
    put("packets_delivered", sum.delivered.into());
    put("packets_marked", sum.marked.into());
    put("notifications_delivered", sum.notifications.into());
    put("time_s", json!(plan.span.window() as f64 / (plan.fabric.ticks_per_ns as f64 * 1e9)));
    put("seed", plan.experiment.measure.seed.into());
    record
}

/// What the links to the nodes that flows are for carry together \[Gb/s\].
fn capacity(plan: &FabricPlan, flows: &[&Flow]) -> f64 {
    let receivers: BTreeSet<u32> = flows.iter().map(|flow| flow.destination).collect();
    let carries = |&host: &u32| gigabits(1, plan.fabric.ports[host as usize].byte, plan.fabric.ticks_per_ns);
    receivers.iter().map(carries).sum()
}

/// What flows offer in the window \[Gb/s\], if all of them have a rate and no end but that of time.
fn offered(plan: &FabricPlan, flows: &[&Flow]) -> Option<f64> {
    let (span, ticks_per_ns) = (&plan.span, plan.fabric.ticks_per_ns);
    let of_flow = |flow: &&Flow| {
        let has_rate = flow.byte > 0 && flow.bytes.is_none();
        let on = flow.end.min(span.end).saturating_sub(flow.start.max(span.warmup));
        has_rate.then(|| gigabits(1, flow.byte, ticks_per_ns) * on as f64 / span.window() as f64)
    };
    flows.iter().map(of_flow).sum()
}

fn latencies(
    plan: &FabricPlan,
    recorder: &Recorder,
    (sum, jobs): (&Counts, &[usize]),
) -> [(&'static str, Value); 4] {
    let mut histogram = recorder.by_job[jobs[0]].clone();
    jobs[1..].iter().for_each(|&job| histogram += &recorder.by_job[job]);
    let greatest = ns(plan, sum.greatest);
    let has_any = sum.delivered > 0;
    let quantile = |quantile| has_any.then(|| (histogram.value_at_quantile(quantile) as f64).min(greatest));
    [
        ("packet_latency_mean_ns", number(mean_latency(plan, sum))),
        ("packet_latency_p50_ns", number(quantile(0.5))),
        ("packet_latency_p99_ns", number(quantile(0.99))),
        ("packet_latency_max_ns", number(has_any.then_some(greatest))),
    ]
}

/// Mean latency of the packets delivered \[ns\].
pub fn mean_latency(plan: &FabricPlan, counts: &Counts) -> Option<f64> {
    let ticks = plan.fabric.ticks_per_ns as f64;
    (counts.delivered > 0).then(|| counts.latency as f64 / counts.delivered as f64 / ticks)
}

/// Ticks in nanoseconds.
pub fn ns(plan: &FabricPlan, ticks: Ticks) -> f64 {
    ticks as f64 / plan.fabric.ticks_per_ns as f64
}
