//! The record streams of a fabric as tables.

use super::recorder::{Counts, Recorder};
use super::series::{FlowRow, QueueRow, Series};
use super::summary::{gigabits, mean_latency, ns};
use crate::config::measure::RecordStream;
use crate::measure::{Column, Table};
use crate::plan::fabric::FabricPlan;
use hopsim_infiniband::time::Ticks;

/// Every table that was asked for, by name.
pub fn tables(plan: &FabricPlan, recorder: &Recorder) -> Vec<(String, Table)> {
    let wants = |stream| plan.experiment.measure.streams.contains(&stream);
    let mut tables = Vec::new();
    if wants(RecordStream::Flows) {
        tables.push(("flows".into(), flows(plan, recorder)));
    }
    let Some(series) = &recorder.series else { return tables };
    if wants(RecordStream::FlowSeries) {
        tables.push(("flow_series".into(), flow_series(plan, series)));
    }
    if wants(RecordStream::QueueSeries) {
        tables.push(("queue_series".into(), queue_series(plan, series)));
    }
    tables
}

/// Whose row is: its job and its name, `times` over.
fn named(plan: &FabricPlan, times: usize) -> [(String, Column); 2] {
    let rows = || (0..times).flat_map(|_| &plan.accounts);
    let jobs = Column::Named { names: plan.jobs.clone(), rows: rows().map(|flow| flow.job as u8).collect() };
    let names = Column::Text(rows().map(|flow| flow.name.clone()).collect());
    [("job".into(), jobs), ("name".into(), names)]
}

fn flows(plan: &FabricPlan, recorder: &Recorder) -> Table {
    let count = |of: fn(&Counts) -> u64| Column::U64(recorder.accounts.iter().map(of).collect());
    let rate = |counts: &Counts| gigabits(counts.bytes, recorder.span.window(), plan.fabric.ticks_per_ns);
    let mean = |counts: &Counts| mean_latency(plan, counts).unwrap_or(f64::NAN);
    let high = recorder.by_account.iter().zip(&recorder.accounts).map(|(latencies, counts)| {
        let greatest = ns(plan, counts.greatest);
        let value = latencies.value_at_quantile(0.99) as f64;
        if counts.delivered > 0 { value.min(greatest) } else { f64::NAN }
    });
    let mut table: Table = named(plan, 1).into();
    table.extend([
        ("source".into(), Column::U32(plan.accounts.iter().map(|account| account.source).collect())),
        ("destination".into(), destinations(plan)),
        ("throughput_gbps".into(), Column::F64(recorder.accounts.iter().map(rate).collect())),
        ("packets".into(), count(|counts| counts.delivered)),
        ("marked".into(), count(|counts| counts.marked)),
        ("notifications".into(), count(|counts| counts.notifications)),
        ("latency_mean_ns".into(), Column::F64(recorder.accounts.iter().map(mean).collect())),
        ("latency_p99_ns".into(), Column::F64(high.collect())),
    ]);
    table
}

/// Whom the accounts are for; nothing of nodes that draw.
fn destinations(plan: &FabricPlan) -> Column {
    let all = || plan.accounts.iter().map(|account| account.destination);
    match all().collect::<Option<Vec<u32>>>() {
        Some(listed) => Column::U32(listed),
        None => Column::F64(all().map(|node| node.map_or(f64::NAN, f64::from)).collect()),
    }
}

/// The ends of the intervals in seconds, each so many times.
fn times(plan: &FabricPlan, ends: &[Ticks], rows: usize) -> Column {
    let seconds = |&end: &Ticks| ns(plan, end) / 1e9;
    Column::F64(ends.iter().map(seconds).flat_map(|time| std::iter::repeat_n(time, rows)).collect())
}

fn interval_rate(plan: &FabricPlan, bytes: u64) -> f64 {
    let interval = plan.span.interval.unwrap_or(plan.span.end);
    gigabits(bytes, interval, plan.fabric.ticks_per_ns)
}

fn flow_series(plan: &FabricPlan, series: &Series) -> Table {
    let rate = |row: &FlowRow| interval_rate(plan, row.open.bytes);
    let [job, name] = named(plan, series.ends.len());
    vec![
        ("time_s".into(), times(plan, &series.ends, plan.accounts.len())),
        job,
        name,
        ("throughput_gbps".into(), Column::F64(series.flows.iter().map(rate).collect())),
        ("marked".into(), Column::U64(series.flows.iter().map(|row| row.open.marked).collect())),
        (
            "notifications".into(),
            Column::U64(series.flows.iter().map(|row| row.open.notifications).collect()),
        ),
        ("ccti".into(), Column::U32(series.flows.iter().map(|row| u32::from(row.ccti)).collect())),
    ]
}

fn queue_series(plan: &FabricPlan, series: &Series) -> Table {
    let fabric = &plan.fabric;
    let switch = |port: u32| fabric.first_port.partition_point(|&first| first <= port) - 1;
    let peer = |port: u32| match fabric.ports[port as usize].peer {
        host if fabric.is_host(host) => format!("node {host}"),
        other => format!("switch {}", switch(other)),
    };
    let places = || series.ends.iter().flat_map(|_| &series.places);
    let local = |port: u32| port - fabric.first_port[switch(port)];
    let column = |of: fn(&QueueRow) -> u64| Column::U64(series.queues.iter().map(of).collect());
    let rate = |row: &QueueRow| interval_rate(plan, row.bytes);
    vec![
        ("time_s".into(), times(plan, &series.ends, series.places.len())),
        ("switch".into(), Column::U32(places().map(|place| switch(place.port) as u32).collect())),
        ("port".into(), Column::U32(places().map(|place| local(place.port)).collect())),
        ("peer".into(), Column::Text(places().map(|place| peer(place.port)).collect())),
        ("vl".into(), Column::U32(places().map(|place| u32::from(place.lane)).collect())),
        ("queued_bytes".into(), column(|row| row.queues.queued)),
        ("largest_queue_bytes".into(), column(|row| row.queues.largest)),
        (
            "is_congested".into(),
            Column::U32(series.queues.iter().map(|row| u32::from(row.queues.is_congested)).collect()),
        ),
        ("bytes".into(), column(|row| row.bytes)),
        ("throughput_gbps".into(), Column::F64(series.queues.iter().map(rate).collect())),
    ]
}
