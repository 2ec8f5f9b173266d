//! Completion times and slowdowns: what records and tables say is what follows from the facts of the reference, and from what the reference
//! takes for each flow alone.

use crate::alone;
use crate::losses::simulated;
use crate::verdicts::{document, facts};
use hopsim_core::engine::Outcome;
use hopsim_experiment::plan::FabricPlan;
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::time::Ticks;
use hopsim_infiniband_reference::Fact;
use hopsim_measure::Column;
use hopsim_random::{Purpose, Stream};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A flow or message that was completed in the window.
#[derive(Clone, Copy, Debug)]
struct Completed {
    job: usize,
    bytes: u64,
    time: Ticks,
    /// What it takes alone.
    alone: Ticks,
    ticks_per_ns: u64,
}

/// When each flow of the list may send its first packet.
fn starts(plan: &FabricPlan) -> Vec<Ticks> {
    let mut streams: BTreeMap<u32, Stream> = BTreeMap::new();
    let seed = plan.experiment.measure.seed;
    plan.flows
        .iter()
        .map(|flow| {
            let stream = streams
                .entry(flow.source)
                .or_insert_with(|| Stream::new(seed, Purpose::Phase, flow.source.into()));
            flow.start + (stream.unit() * plan.fabric.host.start_jitter as f64) as Ticks
        })
        .collect()
}

/// All that is completed in the window, by the facts.
fn completed(plan: &FabricPlan) -> Vec<Completed> {
    let (facts, flows) = facts(plan);
    let job = |flow: u32| {
        let Flow { source, .. } = flows[flow as usize];
        let draws = || plan.messages.iter().find(|messages| messages.nodes.contains(&source)).unwrap().job;
        plan.flows.get(flow as usize).map_or_else(draws, |_| plan.accounts[flow as usize].job)
    };
    let mut delivered = vec![0; plan.flows.len()];
    let starts = starts(plan);
    let mut ends: Vec<(Ticks, Ticks, u32, u64)> = Vec::new();
    for fact in facts {
        match fact {
            Fact::Message { at, flow, bytes, posted } => ends.push((at, posted, flow, bytes)),
            Fact::Delivered { at, packet, .. } if !packet.is_notification => {
                let flow = packet.flow as usize;
                let Some(Flow { bytes: Some(bytes), .. }) = plan.flows.get(flow) else { continue };
                delivered[flow] += u64::from(packet.bytes);
                if delivered[flow] == *bytes {
                    ends.push((at, starts[flow], packet.flow, *bytes));
                }
            }
            _ => {}
        }
    }
    let mut known: BTreeMap<(u32, u32, u64, Ticks), Ticks> = BTreeMap::new();
    let mut one = |(at, began, number, bytes): (Ticks, Ticks, u32, u64)| {
        // Tables lead all flows between two hosts the same way.
        let flow = &flows[number as usize];
        let alone = *known
            .entry((flow.source, flow.destination, bytes, flow.byte))
            .or_insert_with(|| alone::simulated(&plan.fabric, (0, flow), bytes));
        Completed { job: job(number), bytes, time: at - began, alone, ticks_per_ns: plan.fabric.ticks_per_ns }
    };
    let span = &plan.span;
    ends.into_iter().filter(|end| (span.warmup..span.end).contains(&end.0)).map(&mut one).collect()
}

/// Whether what is told of a share of values is so: they are counted in whole `part`s, to a thousandth.
fn is_quantile(told: &Value, values: &[f64], share: f64, part: f64) -> bool {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let Some(&most) = values.last() else { return told.is_null() };
    let rank = ((share * values.len() as f64).ceil() as usize).max(1);
    let least = (values[rank - 1] / part + 1e-9).floor() * part;
    told.as_f64().is_some_and(|told| told + 1e-9 >= least && told <= (least * 1.001 + 1e-9).min(most + 1e-9))
}

/// What a record says of those that were completed is so, the columns of slowdowns apart if there are none.
fn check(record: &Map<String, Value>, all: &[Completed], shares: &[(&str, f64)], has_slowdowns: bool) {
    let times: Vec<f64> = all.iter().map(|one| one.time as f64 / one.ticks_per_ns as f64).collect();
    let slowdowns: Vec<f64> = all.iter().map(|one| one.time as f64 / one.alone as f64).collect();
    let mean = (!all.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64);
    let told = record["flow_completion_time_mean"].as_f64();
    let is_near = mean.zip(told).map(|(mean, told)| (mean - told).abs() <= 1e-9 * mean);
    assert!(is_near.unwrap_or(mean == told), "{told:?} instead of {mean:?}");
    for &(name, share) in shares {
        let told = &record[&format!("flow_completion_time_{name}")];
        assert!(is_quantile(told, &times, share, 1.0), "{name}: {told}, {times:?}");
        let told = record.get(&format!("slowdown_{name}"));
        assert_eq!(told.is_some(), has_slowdowns, "{record:?}");
        if let Some(told) = told {
            assert!(is_quantile(told, &slowdowns, share, 0.001), "{name}: {told}, {slowdowns:?}");
        }
    }
}

/// The rows of the table of sizes, as records.
fn rows(outcome: &Outcome) -> Vec<Map<String, Value>> {
    let (_, table) = outcome.tables.iter().find(|(name, _)| name == "flow_sizes").unwrap();
    let values = |column: &Column| -> Vec<Value> {
        match column {
            Column::Named { names, rows } => {
                rows.iter().map(|&row| names[usize::from(row)].as_str().into()).collect()
            }
            Column::U64(values) => values.iter().map(|&value| value.into()).collect(),
            Column::F64(values) => values.iter().map(|&value| value.into()).collect(),
            other => panic!("{other:?}"),
        }
    };
    let columns: Vec<(&String, Vec<Value>)> =
        table.iter().map(|(name, column)| (name, values(column))).collect();
    (0..columns[0].1.len())
        .map(|row| columns.iter().map(|(name, values)| ((*name).clone(), values[row].clone())).collect())
        .collect()
}

/// Everything that a run says is so. Returns what was completed.
fn checked(text: &str) -> Vec<Completed> {
    let (plan, outcome) = simulated(&text.replace("streams = [\"flows\"]", "streams = [\"flow_sizes\"]"));
    let all = completed(&plan);
    let has_slowdowns = plan.fabric.faults.is_empty();
    let shares = [("p50", 0.5), ("p99", 0.99)];
    check(&outcome.summary, &all, &shares, has_slowdowns);
    for (job, record) in outcome.jobs.iter().enumerate() {
        let own: Vec<Completed> = all.iter().filter(|one| one.job == job).copied().collect();
        if record.contains_key("flow_completion_time_mean") {
            check(record, &own, &shares, has_slowdowns);
        } else {
            let of_job = plan.flows.iter().zip(&plan.accounts).filter(|(_, account)| account.job == job);
            assert!(of_job.clone().count() > 0 && of_job.into_iter().all(|(flow, _)| flow.bytes.is_none()));
        }
    }
    let mut counted = 0;
    for row in rows(&outcome) {
        let [from, to, flows, bytes] =
            ["bytes_from", "bytes_to", "flows", "bytes"].map(|name| row[name].as_u64().unwrap());
        assert!(from == 0 && to == 64 || from > 64 && to == 4 * (from - 1), "{from} … {to}");
        let is_in =
            |one: &&Completed| row["job"] == plan.jobs[one.job].as_str() && (from..=to).contains(&one.bytes);
        let own: Vec<Completed> = all.iter().filter(is_in).copied().collect();
        assert_eq!((flows, bytes), (own.len() as u64, own.iter().map(|one| one.bytes).sum()));
        check(&row, &own, &[("p50", 0.5), ("p95", 0.95), ("p99", 0.99)], has_slowdowns);
        counted += flows;
    }
    assert_eq!(counted, all.len() as u64);
    all
}

/// Jobs of nodes that draw, of flows with bytes, rates and an end, and of flows without bytes.
fn jobs(sizes: &str) -> String {
    format!(
        "[[jobs]]\nname = \"drawing\"\nplacement = {{ list = [0, 1, 3] }}\n\
         messages = {{ pattern = \"uniform\", rate = \"1.5 Gb/s\", {sizes} }}\n\
         [[jobs]]\nname = \"listed\"\nflows = [{{ source = 4, destination = 0, bytes = 3000 }}, {{ source = 4, destination = 2, bytes = 700, \
         start = \"8 us\" }}, {{ source = 2, destination = 0, bytes = 2560, rate = \"2 Gb/s\", start = \"4 us\" }}, {{ source = 2, \
         destination = 4, bytes = 40000, end = \"20 us\" }}, {{ source = 4, destination = 1, bytes = 256, start = \"30 us\" }}]\n\
         [[jobs]]\nname = \"endless\"\nflows = [{{ source = 2, destination = 3, rate = \"1 Gb/s\" }}]\n"
    )
}

const DRAWN: &str = "sizes = { points = [[64, 0.2], [300, 0.5], [300, 0.7], [900, 0.95], [4000, 1]] }";

#[test]
fn completion_times_and_slowdowns_are_those_of_the_facts() {
    let (mut delayed, mut alone) = (0, 0);
    for sizes in ["bytes = 700", DRAWN] {
        for (switching, crossbar, drain) in [
            ("cut_through", "8 Gb/s", "8 Gb/s"),
            ("cut_through", "5 Gb/s", "16 Gb/s"),
            ("store_and_forward", "16 Gb/s", "4 Gb/s"),
        ] {
            let text = document(&jobs(sizes), "60 us", "")
                .replace(
                    "switch = { crossbar = \"8 Gb/s\"",
                    &format!("switch = {{ switching = \"{switching}\", crossbar = \"{crossbar}\""),
                )
                .replace("drain = \"8 Gb/s\"", &format!("drain = \"{drain}\""));
            let all = checked(&text);
            assert!(all.iter().all(|one| one.time >= one.alone), "{text}");
            delayed += all.iter().filter(|one| one.time > 2 * one.alone).count();
            alone += all.iter().filter(|one| one.time == one.alone).count();
            let listed = all.iter().filter(|one| one.job == 1).count();
            assert!((2..=4).contains(&listed), "{listed}");
        }
    }
    assert!(delayed >= 50 && alone >= 10, "{delayed}, {alone}");
}

#[test]
fn what_is_not_completed_is_empty_and_what_cannot_be_is_not_there() {
    let late = "[[jobs]]\nflows = [{ source = 0, destination = 4, bytes = 1_000_000 }]";
    assert!(checked(&document(late, "20 us", "")).is_empty());
    let endless = "[[jobs]]\nflows = [{ source = 0, destination = 4 }]";
    let (_, outcome) = simulated(&document(endless, "20 us", ""));
    assert!(!outcome.summary.contains_key("flow_completion_time_mean"));
    assert!(!outcome.summary.contains_key("slowdown_p50"));
}

#[test]
fn where_links_fail_there_are_completion_times_and_no_slowdowns() {
    let fault = "faults = [{ links = { between = [[0, 1]] }, reaction = { packets = \"drop\" }, time = { at = \"12 us\", until = \"20 us\", \
        detection = \"2 us\", reroute = \"3 us\", table_write = \"400 ns\" } }]\n";
    let text = document(&jobs(DRAWN), "60 us", "lanes.allow_deadlock = true\n");
    let triangle =
        "edges = [{ between = [0, 1] }, { between = [1, 2] }, { between = [2, 0] }], nodes = [2, 2, 1]";
    let text = text.replace("edges = [{ between = [0, 1] }], nodes = [3, 2]", triangle);
    let all = checked(&format!("{fault}{text}"));
    assert!(all.len() > 20, "{}", all.len());
}
