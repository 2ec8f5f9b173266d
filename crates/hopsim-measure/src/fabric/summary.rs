//! The summary record of a fabric: one flat row per point, and per job.

use super::completions::Completed;
use super::evidence::{evidence, units};
use super::losses::Lost;
use super::recorder::{AccountCounts, FabricRecorder};
use crate::statistics::{jain, mean};
use crate::verdict::{self, Verdict};
use hopsim_experiment::plan::fabric::{FabricPlan, FabricProgram, MessagesPlan, Span, is_open};
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::reaction::Reaction;
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
pub fn summary(plan: &FabricPlan, recorder: &FabricRecorder<'_>, jobs: &[usize]) -> Map<String, Value> {
    let own = || (0..plan.accounts.len()).filter(|&account| jobs.contains(&plan.accounts[account].job));
    let traffic = Traffic::new(plan, jobs);
    let mut sum = AccountCounts::default();
    own().for_each(|account| sum.add(&recorder.accounts[account]));
    let rate = |bytes: u64| gigabits(bytes, recorder.span.window(), plan.fabric.ticks_per_ns);
    let rates: Vec<f64> = own().map(|account| rate(recorder.accounts[account].bytes)).collect();
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    let receivers = traffic.receivers();
    let nodes: BTreeSet<u32> =
        own().map(|account| plan.accounts[account].source).chain(receivers.iter().copied()).collect();
    let capacity = capacity(plan, &receivers);
    let mut record = Map::new();
    let mut put = |key: &str, value: Value| record.insert(key.to_owned(), value);
    put("nodes", nodes.len().into());
    put("flows", rates.len().into());
    put("offered_load", number(traffic.offered(plan, &recorder.span).map(|offered| offered / capacity)));
    put("accepted_load", number(Some(rate(sum.bytes) / capacity)));
    put("throughput_gbps", number(Some(rate(sum.bytes))));
    put("flow_throughput_min_gbps", number(Some(least)));
    put("flow_throughput_mean_gbps", number(mean(&rates)));
    put("flow_throughput_max_gbps", number(Some(most)));
    put("flow_throughput_max_min_ratio", number(Some(most / least)));
    put("jain_index", number(jain(&rates)));
    for (key, value) in latencies(plan, recorder, &sum, jobs) {
        put(key, value);
    }
    for (key, value) in message_latencies(plan, recorder, &traffic) {
        put(key, value);
    }
    for (key, value) in completions(plan, recorder, &traffic, jobs) {
        put(key, value);
    }
    put("packets_sent", sum.sent.into());
    put("packets_delivered", sum.delivered.into());
    for (key, count) in lost(recorder, own(), &traffic) {
        put(key, count.into());
    }
    if let Some(pauses) = &recorder.pauses {
        put("pauses", pauses.begun.into());
        put("paused_fraction", number(Some(pauses.fraction(recorder.span.window()))));
    }
    put("packets_marked", sum.marked.into());
    put("notifications_delivered", sum.notifications.into());
    put("ccti_at_limit_fraction", number(limited(plan, recorder, &sum)));
    put("time_s", json!(recorder.span.window() as f64 / (plan.fabric.ticks_per_ns as f64 * 1e9)));
    put("seed", plan.experiment.measure.seed.into());
    let verdict = evidence(plan, recorder, jobs).as_ref().map(Verdict::new);
    record.extend(verdict::columns(verdict.as_ref(), &units(plan, recorder)));
    record
}

/// What some accounts lose, if links fail.
fn lost(
    recorder: &FabricRecorder<'_>,
    accounts: impl Iterator<Item = usize>,
    traffic: &Traffic<'_>,
) -> Vec<(&'static str, u64)> {
    let Some(losses) = &recorder.losses else { return Vec::new() };
    let mut sum = Lost::default();
    accounts.for_each(|account| sum.add(&losses.window[account]));
    let mut counts = vec![
        ("packets_lost", sum.packets()),
        ("packets_lost_on_links", sum.on_links),
        ("packets_discarded", sum.discarded),
        ("packets_spoiled", sum.spoiled),
    ];
    if !traffic.messages.is_empty() {
        counts.push(("messages_lost", sum.messages));
    }
    counts
}

/// For which share of the window an index was at its limit; nothing without a congestion control table.
pub fn limited(plan: &FabricPlan, recorder: &FabricRecorder<'_>, counts: &AccountCounts) -> Option<f64> {
    let reaction = plan.fabric.congestion.as_ref().map(|control| &control.reaction);
    let has_table = matches!(reaction, Some(Reaction::Table(_)));
    has_table.then(|| counts.limited as f64 / recorder.span.window() as f64)
}

/// What some jobs send.
struct Traffic<'p> {
    flows: Vec<&'p Flow>,
    messages: Vec<&'p MessagesPlan>,
    programs: Vec<&'p FabricProgram>,
}

impl<'p> Traffic<'p> {
    fn new(plan: &'p FabricPlan, jobs: &[usize]) -> Self {
        let flows = plan.flows.iter().zip(&plan.accounts).filter(|(_, account)| jobs.contains(&account.job));
        let messages = plan.messages.iter().filter(|messages| jobs.contains(&messages.job)).collect();
        let programs = plan.programs.iter().filter(|program| jobs.contains(&program.job)).collect();
        Self { flows: flows.map(|(flow, _)| flow).collect(), messages, programs }
    }

    /// Whom flows are for, and all nodes among which messages are drawn or programs run.
    fn receivers(&self) -> BTreeSet<u32> {
        let listed = self.flows.iter().map(|flow| flow.destination);
        let drawn = self.messages.iter().flat_map(|plan| plan.nodes.iter().copied());
        let ranks = self.programs.iter().flat_map(|program| program.plan.nodes.iter().copied());
        listed.chain(drawn).chain(ranks).collect()
    }

    /// What is offered in the window \[Gb/s\], if all flows have a rate and no end but that of time, and there are no programs.
    fn offered(&self, plan: &FabricPlan, span: &Span) -> Option<f64> {
        if !self.programs.is_empty() {
            return None;
        }
        let ticks_per_ns = plan.fabric.ticks_per_ns;
        let on = |start: Ticks, end: Ticks| {
            end.min(span.end).saturating_sub(start.max(span.warmup)) as f64 / span.window() as f64
        };
        let of_flow = |flow: &&Flow| {
            is_open(flow).then(|| gigabits(1, flow.byte, ticks_per_ns) * on(flow.start, flow.end))
        };
        let of_nodes = |plan: &&MessagesPlan| {
            let senders = plan.nodes.iter().filter(|&&node| !plan.pattern.is_silent(node)).count();
            let rate = 8.0 * plan.sizes.mean() * ticks_per_ns as f64 / plan.gap as f64;
            senders as f64 * rate * on(plan.start, plan.end)
        };
        let listed: f64 = self.flows.iter().map(of_flow).sum::<Option<f64>>()?;
        Some(listed + self.messages.iter().map(of_nodes).sum::<f64>())
    }
}

/// Latencies of the messages that nodes draw, if they do.
fn message_latencies(
    plan: &FabricPlan,
    recorder: &FabricRecorder<'_>,
    traffic: &Traffic<'_>,
) -> Vec<(&'static str, Value)> {
    if traffic.messages.is_empty() {
        return Vec::new();
    }
    let all = recorder.completions.of(traffic.messages.iter().map(|messages| messages.job));
    let times = completion_times(plan, &all);
    vec![
        ("messages_delivered", all.flows().into()),
        ("message_latency_mean_ns", number(times.mean)),
        ("message_latency_p50_ns", number(times.quantile(0.5))),
        ("message_latency_p99_ns", number(times.quantile(0.99))),
        ("message_latency_max_ns", number(times.greatest)),
    ]
}

/// Completion times of some flows and messages.
pub struct CompletionTimes<'c> {
    completed: &'c Completed,
    /// Mean \[ns\].
    pub mean: Option<f64>,
    /// The greatest \[ns\].
    pub greatest: Option<f64>,
}

impl CompletionTimes<'_> {
    /// The time below which a share of them is \[ns\].
    pub fn quantile(&self, share: f64) -> Option<f64> {
        self.completed.quantile(share, self.greatest?)
    }
}

/// The completion times of some flows and messages.
pub fn completion_times<'c>(plan: &FabricPlan, completed: &'c Completed) -> CompletionTimes<'c> {
    let mean = completed.mean().map(|ticks| ticks / plan.fabric.ticks_per_ns as f64);
    CompletionTimes { completed, mean, greatest: completed.greatest().map(|ticks| ns(plan, ticks)) }
}

/// Completion times and slowdowns of all that can be completed, if anything can.
fn completions(
    plan: &FabricPlan,
    recorder: &FabricRecorder<'_>,
    traffic: &Traffic<'_>,
    jobs: &[usize],
) -> Vec<(&'static str, Value)> {
    let has_ends = traffic.flows.iter().any(|flow| flow.bytes.is_some());
    if !has_ends && traffic.messages.is_empty() && traffic.programs.is_empty() {
        return Vec::new();
    }
    let all = recorder.completions.of(jobs.iter().copied());
    let times = completion_times(plan, &all);
    let mut columns = vec![
        ("flow_completion_time_mean", number(times.mean)),
        ("flow_completion_time_p50", number(times.quantile(0.5))),
        ("flow_completion_time_p99", number(times.quantile(0.99))),
    ];
    if recorder.completions.has_slowdowns() {
        columns.push(("slowdown_p50", number(all.slowdown(0.5))));
        columns.push(("slowdown_p99", number(all.slowdown(0.99))));
    }
    columns
}

/// What the links to some nodes carry together \[Gb/s\].
fn capacity(plan: &FabricPlan, receivers: &BTreeSet<u32>) -> f64 {
    let carries = |&host: &u32| gigabits(1, plan.fabric.ports[host as usize].byte, plan.fabric.ticks_per_ns);
    receivers.iter().map(carries).sum()
}

fn latencies(
    plan: &FabricPlan,
    recorder: &FabricRecorder<'_>,
    sum: &AccountCounts,
    jobs: &[usize],
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
pub fn mean_latency(plan: &FabricPlan, counts: &AccountCounts) -> Option<f64> {
    let ticks = plan.fabric.ticks_per_ns as f64;
    (counts.delivered > 0).then(|| counts.latency as f64 / counts.delivered as f64 / ticks)
}

/// Ticks in nanoseconds.
pub fn ns(plan: &FabricPlan, ticks: Ticks) -> f64 {
    ticks as f64 / plan.fabric.ticks_per_ns as f64
}
