//! The record streams of programs as tables.

use super::{Column, Table};
use crate::programs::ProgramCounts;
use hopsim_experiment::config::measure::RecordStream;
use hopsim_network::network::NONE;
use hopsim_programs::host::Figures;
use hopsim_programs::host::log::{Activity, Event, Interval, Log, Sent, Stage};
use hopsim_programs::host::unrolling::COLLECTIVE;
use hopsim_programs::job::{ProgramPlan, Programs};

/// The names of jobs of these numbers.
fn jobs(programs: &Programs<'_>, rows: impl Iterator<Item = usize>) -> Column {
    let names = programs.jobs.iter().map(|&job| job.to_owned()).collect();
    Column::Named { names, rows: rows.map(|job| job as u8).collect() }
}

/// The tables of programs that were asked for, by name. Ranks of a program that goes on until the others are done have no end, and
/// no rows.
pub fn tables(
    programs: &Programs<'_>,
    counts: &ProgramCounts,
    streams: &[RecordStream],
) -> Vec<(String, Table)> {
    type Of = fn(&Programs<'_>, &ProgramCounts) -> Table;
    let all: [(RecordStream, &str, Of); 4] = [
        (RecordStream::Ranks, "ranks", ranks),
        (RecordStream::Messages, "messages", messages),
        (RecordStream::Operations, "operations", operations),
        (RecordStream::MessageSizes, "message_sizes", message_sizes),
    ];
    let wanted = all.into_iter().filter(|(stream, _, _)| streams.contains(stream));
    wanted.map(|(_, name, table)| (name.to_owned(), table(programs, counts))).collect()
}

/// One row per rank.
fn ranks(programs: &Programs<'_>, counts: &ProgramCounts) -> Table {
    let rows: Vec<(usize, &ProgramPlan, usize, Figures)> = programs
        .with_end()
        .flat_map(|(number, job)| {
            let ranks = counts.ranks(number).iter().enumerate();
            ranks.map(move |(rank, figures)| (number, job, rank, *figures))
        })
        .collect();
    let finish = |job: &ProgramPlan, figures: &Figures| u64::from(figures.finish - job.start);
    let column = |of: &dyn Fn(&ProgramPlan, &Figures) -> u64| {
        Column::U64(rows.iter().map(|(_, job, _, figures)| of(job, figures)).collect())
    };
    vec![
        ("job".into(), jobs(programs, rows.iter().map(|row| row.0))),
        ("rank".into(), Column::U32(rows.iter().map(|row| row.2 as u32).collect())),
        ("node".into(), Column::U32(rows.iter().map(|row| row.1.nodes[row.2]).collect())),
        ("finish".into(), column(&finish)),
        ("compute".into(), column(&|_, rank| rank.compute)),
        ("overhead".into(), column(&|_, rank| rank.overhead)),
        ("wait".into(), column(&|job, rank| finish(job, rank) - rank.compute - rank.overhead)),
        ("messages_sent".into(), column(&|_, rank| rank.messages_sent)),
        ("bytes_sent".into(), column(&|_, rank| rank.bytes_sent)),
        ("messages_received".into(), column(&|_, rank| rank.messages_received)),
        ("bytes_received".into(), column(&|_, rank| rank.bytes_received)),
    ]
}

/// A message of a job.
struct MessageRow {
    job: usize,
    source: u32,
    sent: Sent,
    phits: u64,
    /// When each [`Stage`] was reached.
    stages: [u32; 4],
}

/// The messages of a job, by source and number.
fn messages_of((number, job): (usize, &ProgramPlan), logs: &[Log]) -> Vec<MessageRow> {
    let logs: Vec<_> = logs.iter().filter_map(|log| log.messages.as_deref()).collect();
    let mut first = Vec::with_capacity(logs.len());
    let mut all = Vec::with_capacity(logs.iter().map(|log| log.sent.len()).sum());
    for (source, log) in (0..).zip(&logs) {
        first.push(all.len());
        all.extend(log.sent.iter().map(|&sent| {
            let phits = job.rules.packets(sent.bytes).phits();
            MessageRow { job: number, source, sent, phits, stages: [NONE; 4] }
        }));
    }
    for &Event { source, number, stage, at } in logs.iter().flat_map(|log| &log.events) {
        let sent = &logs[source as usize].sent;
        if let Ok(place) = sent.binary_search_by_key(&number, |sent| sent.number) {
            all[first[source as usize] + place].stages[stage as usize] = at;
        }
    }
    all
}

/// One row per message, by job, source and number.
fn messages(programs: &Programs<'_>, counts: &ProgramCounts) -> Table {
    let rows: Vec<MessageRow> =
        programs.with_end().flat_map(|job| messages_of(job, counts.logs(job.0))).collect();
    let narrow = |of: &dyn Fn(&MessageRow) -> u32| Column::U32(rows.iter().map(of).collect());
    let wide = |of: &dyn Fn(&MessageRow) -> u64| Column::U64(rows.iter().map(of).collect());
    let at = |stage: Stage| narrow(&|row| row.stages[stage as usize]);
    vec![
        ("job".into(), jobs(programs, rows.iter().map(|row| row.job))),
        ("source".into(), narrow(&|row| row.source)),
        ("destination".into(), narrow(&|row| row.sent.destination)),
        ("tag".into(), narrow(&|row| row.sent.tag)),
        ("communicator".into(), narrow(&|row| row.sent.communicator & !COLLECTIVE)),
        ("is_collective".into(), narrow(&|row| u32::from(row.sent.communicator & COLLECTIVE != 0))),
        ("bytes".into(), wide(&|row| row.sent.bytes)),
        ("phits".into(), wide(&|row| row.phits)),
        ("joined".into(), narrow(&|row| row.sent.joined)),
        ("left".into(), at(Stage::Left)),
        ("arrived".into(), at(Stage::Arrived)),
        ("announced".into(), at(Stage::Announced)),
        ("matched".into(), at(Stage::Matched)),
    ]
}

/// One row per interval of a stream, by job, rank, stream and cycle.
fn operations(programs: &Programs<'_>, counts: &ProgramCounts) -> Table {
    let rows: Vec<(usize, u32, Interval)> = programs
        .with_end()
        .flat_map(|(number, _)| {
            (0..).zip(counts.logs(number)).flat_map(move |(rank, log)| {
                let intervals = log.intervals.as_ref().map_or_else(Vec::new, |intervals| intervals.all());
                intervals.into_iter().map(move |interval| (number, rank, interval))
            })
        })
        .collect();
    let column = |of: &dyn Fn(&Interval) -> u32| Column::U32(rows.iter().map(|row| of(&row.2)).collect());
    vec![
        ("job".into(), jobs(programs, rows.iter().map(|row| row.0))),
        ("rank".into(), Column::U32(rows.iter().map(|row| row.1).collect())),
        ("stream".into(), column(&|interval| interval.stream.into())),
        (
            "activity".into(),
            Column::Named {
                names: Activity::ALL.map(|(_, name)| name.to_owned()).to_vec(),
                rows: rows.iter().map(|row| row.2.activity as u8).collect(),
            },
        ),
        ("record".into(), column(&|interval| interval.record)),
        ("begin".into(), column(&|interval| interval.begin)),
        ("end".into(), column(&|interval| interval.end)),
    ]
}

/// One row per job and class of sizes that has messages.
fn message_sizes(programs: &Programs<'_>, counts: &ProgramCounts) -> Table {
    counts.sizes.as_ref().map_or_else(Table::new, |sizes| sizes.table(programs))
}
