//! The record streams of programs as tables.

use super::{Column, Table};
use crate::programs::ProgramCounts;
use crate::table_kind::{BYTES, CYCLES, ColumnText, TableKind, recorded};
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

/// Makes a table of what programs took.
type MakeProgramTable = fn(&Programs<'_>, &ProgramCounts) -> Table;

/// The tables of programs. Ranks of a program that goes on until the others are done have no end, and no rows.
pub const KINDS: [TableKind<MakeProgramTable>; 4] = [
    TableKind { name: "ranks", stream: Some(RecordStream::Ranks), columns: &[&RANKS], make: ranks },
    TableKind {
        name: "messages",
        stream: Some(RecordStream::Messages),
        columns: &[&MESSAGES],
        make: messages,
    },
    TableKind {
        name: "operations",
        stream: Some(RecordStream::Operations),
        columns: &[&OPERATIONS],
        make: operations,
    },
    TableKind {
        name: "message_sizes",
        stream: Some(RecordStream::MessageSizes),
        columns: &[&MESSAGE_SIZES],
        make: message_sizes,
    },
];

/// The tables of programs that were asked for, by name.
pub fn tables(
    programs: &Programs<'_>,
    counts: &ProgramCounts,
    streams: &[RecordStream],
) -> Vec<(String, Table)> {
    recorded(&KINDS, streams, |make| Some(make(programs, counts)))
}

/// Columns of the table of ranks.
const RANKS: [ColumnText; 11] = [
    ("job", "", "Name of the job that runs the program."),
    ("rank", "", "Number of the rank, from 0."),
    ("node", "", "Node that it runs on."),
    ("finish", CYCLES, "From the start of the program to the end of the rank."),
    ("compute", CYCLES, "Its computation."),
    ("overhead", CYCLES, "What its processor spent on messages."),
    ("wait", CYCLES, "What is left of its time."),
    ("messages_sent", "", "Messages that it sent to others; those that only control others do not count."),
    ("bytes_sent", BYTES, "Their payload; 2^64 - 1 stands for that and more."),
    ("messages_received", "", "Messages that it received from others."),
    ("bytes_received", BYTES, "Their payload; 2^64 - 1 stands for that and more."),
];

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
fn messages_of(number: usize, job: &ProgramPlan, logs: &[Log]) -> Vec<MessageRow> {
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

/// Columns of the table of messages.
const MESSAGES: [ColumnText; 13] = [
    ("job", "", "Name of the job that runs the program."),
    ("source", "", "Rank that sends the message."),
    ("destination", "", "Rank that receives it, another one."),
    (
        "tag",
        "",
        "Its tag; of a collective operation its number in its communicator, of a signal of Graph500 the messages that it tells of.",
    ),
    (
        "communicator",
        "",
        "Its communicator. In Graph500 4 · level, and 1 more for a signal, 2 for a report to the root, 3 for its answer.",
    ),
    ("is_collective", "", "1 for a message of a collective operation, 0 for others."),
    ("bytes", BYTES, "Its payload."),
    ("phits", "phits", "Length of its packets, headers included."),
    (
        "joined",
        CYCLES,
        "Cycle in which it joined the queue of its node; rendezvous: in which its request did.",
    ),
    ("left", CYCLES, "Cycle in which the last phit of its payload left its node."),
    (
        "arrived",
        CYCLES,
        "Cycle in which that phit was at the other node: the message's latency after joining.",
    ),
    (
        "announced",
        CYCLES,
        "Cycle in which its receiver knew of it: on arrival, but after those of the same key sent before; rendezvous: with the request.",
    ),
    ("matched", CYCLES, "Cycle in which a receive took it."),
];

/// One row per message, by job, source and number.
fn messages(programs: &Programs<'_>, counts: &ProgramCounts) -> Table {
    let rows: Vec<MessageRow> =
        programs.with_end().flat_map(|(number, job)| messages_of(number, job, counts.logs(number))).collect();
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

/// Columns of the table of intervals of ranks.
const OPERATIONS: [ColumnText; 7] = [
    ("job", "", "Name of the job that runs the program."),
    ("rank", "", "Number of the rank, from 0."),
    (
        "stream",
        "",
        "Its stream, from 0; sequences have more than one only beside collective operations that do not block.",
    ),
    (
        "activity",
        "",
        "What the stream does: compute, send_overhead, receive_overhead. Or what the rank waits for while stream 0 does nothing: wait_receive, wait_send, wait_compute (of another stream), wait (Graph500).",
    ),
    (
        "record",
        "",
        "Record (operation of a graph) that this belongs to, or that is waited for, from 0; 0 in Graph500.",
    ),
    ("begin", CYCLES, "First cycle."),
    ("end", CYCLES, "Cycle after the last one."),
];

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

/// Columns of the table of messages by size.
const MESSAGE_SIZES: [ColumnText; 9] = [
    ("job", "", "Name of the job that runs the program."),
    ("bytes_from", BYTES, "Least payload of the class. The classes end at 64 B, 256 B, 1 KiB and so on."),
    ("bytes_to", BYTES, "Greatest payload of the class."),
    ("messages", "", "Messages of the class."),
    ("bytes", BYTES, "Their payload."),
    ("latency_mean", CYCLES, "Their mean latency."),
    ("latency_p50", CYCLES, "Median of their latency, to 0.1 %."),
    ("latency_p99", CYCLES, "99th percentile of their latency, to 0.1 %."),
    ("latency_max", CYCLES, "Their greatest latency."),
];

/// One row per job and class of sizes that has messages.
fn message_sizes(programs: &Programs<'_>, counts: &ProgramCounts) -> Table {
    counts.sizes.as_ref().map_or_else(Table::new, |sizes| sizes.table(programs))
}
