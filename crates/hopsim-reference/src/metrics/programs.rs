//! The tables of programs.

use super::mean;
use crate::state::program::message::Message;
use crate::state::program::told::{Passed, Programs, Told};
use hopsim_experiment::plan::Plan;
use hopsim_measure::{Column, Table};
use hopsim_programs::job::ProgramPlan;
use std::collections::BTreeMap;

fn names(rows: impl Iterator<Item = String>) -> Column {
    Column::Text(rows.collect())
}

/// Every rank with its job and number.
fn ranks<'a>(plan: &'a Plan, programs: &'a Programs) -> Vec<(&'a ProgramPlan, usize, &'a Told)> {
    let mut rows = Vec::new();
    for (job, ranks) in plan.system.jobs.iter().zip(&programs.ranks) {
        let Some(program) = job.program() else { continue };
        rows.extend(ranks.iter().enumerate().map(|(number, rank)| (program, number, rank)));
    }
    rows
}

/// A row per rank.
pub fn ranks_table(plan: &Plan, programs: &Programs) -> Table {
    let rows = ranks(plan, programs);
    let column = |of: &dyn Fn(&Told) -> u64| Column::U64(rows.iter().map(|row| of(row.2)).collect());
    let time = |job: &ProgramPlan, rank: &Told| u64::from(rank.finish - job.start);
    let wait =
        |&(job, _, rank): &(&ProgramPlan, usize, &Told)| time(job, rank) - rank.compute - rank.overhead;
    vec![
        ("job".into(), names(rows.iter().map(|row| row.0.name.clone()))),
        ("rank".into(), Column::U32(rows.iter().map(|row| row.1 as u32).collect())),
        ("node".into(), Column::U32(rows.iter().map(|row| row.0.nodes[row.1]).collect())),
        ("finish".into(), Column::U64(rows.iter().map(|row| time(row.0, row.2)).collect())),
        ("compute".into(), column(&|rank| rank.compute)),
        ("overhead".into(), column(&|rank| rank.overhead)),
        ("wait".into(), Column::U64(rows.iter().map(wait).collect())),
        ("messages_sent".into(), column(&|rank| rank.sent.len() as u64)),
        ("bytes_sent".into(), column(&|rank| rank.sent.iter().copied().fold(0, u64::saturating_add))),
        ("messages_received".into(), column(&|rank| rank.received.len() as u64)),
        (
            "bytes_received".into(),
            column(&|rank| rank.received.iter().map(|message| message.0).fold(0, u64::saturating_add)),
        ),
    ]
}

/// A row per message.
pub fn messages_table(plan: &Plan, programs: &Programs) -> Table {
    let rows = &programs.messages;
    let narrow = |of: &dyn Fn(&Message) -> u32| Column::U32(rows.iter().map(of).collect());
    let cycle = |of: &dyn Fn(&Message) -> Option<u32>| {
        narrow(&|message| of(message).expect("all messages have been received"))
    };
    vec![
        ("job".into(), names(rows.iter().map(|message| plan.system.jobs[message.job].name().to_owned()))),
        ("source".into(), narrow(&|message| message.source.0)),
        ("destination".into(), narrow(&|message| message.to)),
        ("tag".into(), narrow(&|message| message.communicator.1.unwrap_or(message.tag))),
        ("communicator".into(), narrow(&|message| message.communicator.0)),
        ("is_collective".into(), narrow(&|message| u32::from(message.communicator.1.is_some()))),
        ("bytes".into(), Column::U64(rows.iter().map(|message| message.bytes).collect())),
        ("phits".into(), Column::U64(rows.iter().map(|message| message.phits).collect())),
        ("joined".into(), narrow(&|message| message.joined)),
        ("left".into(), cycle(&|message| message.left)),
        ("arrived".into(), cycle(&|message| message.arrived)),
        ("announced".into(), cycle(&|message| message.announced)),
        ("matched".into(), cycle(&|message| message.matched)),
    ]
}

/// A row per interval of a stream.
pub fn operations_table(plan: &Plan, programs: &Programs) -> Table {
    let mut rows: Vec<(&str, usize, &Passed)> = Vec::new();
    for (job, number, rank) in ranks(plan, programs) {
        let mut passed: Vec<&Passed> = rank.passed.iter().collect();
        passed.sort_by_key(|passed| (passed.stream, passed.cycles));
        rows.extend(passed.into_iter().map(|passed| (job.name.as_str(), number, passed)));
    }
    let column = |of: &dyn Fn(&Passed) -> u32| Column::U32(rows.iter().map(|row| of(row.2)).collect());
    vec![
        ("job".into(), names(rows.iter().map(|row| row.0.to_owned()))),
        ("rank".into(), Column::U32(rows.iter().map(|row| row.1 as u32).collect())),
        ("stream".into(), column(&|passed| passed.stream as u32)),
        ("activity".into(), names(rows.iter().map(|row| row.2.activity.to_owned()))),
        ("record".into(), column(&|passed| passed.record as u32)),
        ("begin".into(), column(&|passed| passed.cycles.0)),
        ("end".into(), column(&|passed| passed.cycles.1)),
    ]
}

/// A row per job and class of sizes with messages. Percentiles are exact: those of the engine are of classes of latencies.
pub fn sizes_table(plan: &Plan, programs: &Programs) -> Table {
    // By job and largest message of the class: payload and latencies.
    let mut classes: BTreeMap<(usize, u64), (u64, Vec<u32>)> = BTreeMap::new();
    for message in &programs.messages {
        let mut largest = 64;
        while message.bytes > largest {
            largest *= 4;
        }
        let class = classes.entry((message.job, largest)).or_default();
        class.0 += message.bytes;
        class.1.push(message.arrived.expect("all messages have been received") - message.joined);
    }
    for class in classes.values_mut() {
        class.1.sort_unstable();
    }
    let least = |largest: u64| if largest == 64 { 0 } else { largest / 4 + 1 };
    let quantile = |share: f64| {
        let place = |count: usize| ((share * count as f64).ceil() as usize).saturating_sub(1);
        Column::U64(classes.values().map(|(_, all)| u64::from(all[place(all.len())])).collect())
    };
    vec![
        ("job".into(), names(classes.keys().map(|key| plan.system.jobs[key.0].name().to_owned()))),
        ("bytes_from".into(), Column::U64(classes.keys().map(|key| least(key.1)).collect())),
        ("bytes_to".into(), Column::U64(classes.keys().map(|key| key.1).collect())),
        ("messages".into(), Column::U64(classes.values().map(|class| class.1.len() as u64).collect())),
        ("bytes".into(), Column::U64(classes.values().map(|class| class.0).collect())),
        (
            "latency_mean".into(),
            Column::F64(classes.values().map(|class| mean(&class.1).unwrap_or(f64::NAN)).collect()),
        ),
        ("latency_p50".into(), quantile(0.5)),
        ("latency_p99".into(), quantile(0.99)),
        ("latency_max".into(), quantile(1.0)),
    ]
}
