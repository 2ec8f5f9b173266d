//! The record streams as tables.

use super::Counts;
use super::evidence::nodes_behind;
use super::places::Places;
use super::recorder::Recorder;
use super::summary::Figures;
use super::{Column, Table, allocation, link_tables, output_queues, program_tables, standing_tables};
use crate::allocation::ALLOCATION;
use crate::chosen::PACKET;
use crate::flit_hops::FLIT_HOPS;
use crate::output_queues::OUTPUT_QUEUES;
use crate::packet_hops::PACKET_HOPS;
use crate::table_kind::{CYCLES, ColumnText, LOAD, PACKETS, TableKind, recorded};
use hopsim_cycles::observer::WaitReason;
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::plan::Plan;
use hopsim_network::topology::faults::Fault;

/// The mean of so many values with a sum; NaN of none.
pub fn mean(sum: u64, count: u32) -> f64 {
    if count == 0 { f64::NAN } else { sum as f64 / f64::from(count) }
}

/// Makes a table of what a run has counted; none if that was not counted.
type MakeTable = fn(&Plan, &Counts) -> Option<Table>;

/// The tables before those of programs.
pub const FIRST: [TableKind<MakeTable>; 17] = [
    TableKind {
        name: "batches",
        stream: None,
        columns: &[&BATCHES],
        make: |plan, counts| Some(batches(plan, counts)),
    },
    TableKind {
        name: "nodes",
        stream: Some(RecordStream::Nodes),
        columns: &[&NODES],
        make: |plan, counts| Some(nodes(plan, counts)),
    },
    TableKind {
        name: "routers",
        stream: Some(RecordStream::Routers),
        columns: &[&ROUTERS],
        make: |plan, counts| Some(routers(plan, counts)),
    },
    TableKind {
        name: "links",
        stream: Some(RecordStream::Links),
        columns: &[&link_tables::LINKS],
        make: |plan, counts| Some(link_tables::links(plan, counts)),
    },
    TableKind {
        name: "link_series",
        stream: Some(RecordStream::LinkSeries),
        columns: &[&link_tables::LINK_SERIES],
        make: |plan, counts| Some(link_tables::link_series(plan, counts)),
    },
    TableKind {
        name: "generation_series",
        stream: Some(RecordStream::Generation),
        columns: &[&GENERATION_SERIES],
        make: |plan, counts| Some(generation_series(plan, &counts.recorder)),
    },
    TableKind {
        name: "occupancy",
        stream: Some(RecordStream::Occupancy),
        columns: &[&link_tables::OCCUPANCY],
        make: |plan, counts| Some(link_tables::occupancy(plan, counts)),
    },
    TableKind {
        name: "output_queues",
        stream: Some(RecordStream::OutputQueues),
        columns: &[&OUTPUT_QUEUES],
        make: output_queues::table,
    },
    TableKind {
        name: "injection_waits",
        stream: Some(RecordStream::InjectionWaits),
        columns: &[&INJECTION_WAITS],
        make: |plan, counts| Some(injection_waits(plan, &counts.places)),
    },
    TableKind {
        name: "allocation",
        stream: Some(RecordStream::Allocation),
        columns: &[&ALLOCATION],
        make: |_, counts| allocation::table(counts),
    },
    TableKind {
        name: "waits",
        stream: Some(RecordStream::Waits),
        columns: &[&link_tables::LINK_OF_WAITS, &link_tables::WAITS],
        make: |plan, counts| Some(link_tables::waits(plan, counts)),
    },
    TableKind {
        name: "flow_waits",
        stream: Some(RecordStream::Waits),
        columns: &[&link_tables::FLOW_OF_WAITS, &link_tables::WAITS],
        make: |plan, counts| Some(link_tables::flow_waits(plan, counts)),
    },
    TableKind {
        name: "packet_hops",
        stream: Some(RecordStream::PacketHops),
        columns: &[&PACKET, &PACKET_HOPS],
        make: |plan, counts| Some(counts.places.waits_of_links()?.packets.as_ref()?.table(plan)),
    },
    TableKind {
        name: "flit_hops",
        stream: Some(RecordStream::FlitHops),
        columns: &[&PACKET, &FLIT_HOPS],
        make: |plan, counts| Some(counts.places.flits.as_ref()?.table(plan)),
    },
    TableKind {
        name: "congestion_trees",
        stream: Some(RecordStream::CongestionTrees),
        columns: &[&standing_tables::TREES],
        make: |plan, counts| Some(standing_tables::trees(plan, &counts.congestion.as_ref()?.trees)),
    },
    TableKind {
        name: "congestion_flows",
        stream: Some(RecordStream::CongestionTrees),
        columns: &[&standing_tables::FLOWS],
        make: |plan, counts| Some(standing_tables::flows(plan, counts.congestion.as_ref()?)),
    },
    TableKind {
        name: "standing_packets",
        stream: Some(RecordStream::CongestionTrees),
        columns: &[&standing_tables::STANDING],
        make: |_, counts| Some(standing_tables::censuses(&counts.congestion.as_ref()?.censuses)),
    },
];

/// The tables behind those of programs.
pub const LAST: [TableKind<MakeTable>; 2] = [
    TableKind {
        name: "latency_histogram",
        stream: Some(RecordStream::LatencyHistogram),
        columns: &[&LATENCY_HISTOGRAM],
        make: |plan, counts| Some(histogram(plan, &counts.recorder)),
    },
    TableKind {
        name: "timeseries",
        stream: None,
        columns: &[&TIMESERIES],
        make: |plan, counts| {
            (plan.experiment.measure.interval > 0).then(|| timeseries(plan, &counts.recorder))
        },
    },
];

/// Every table that was asked for, by name.
pub fn tables(plan: &Plan, counts: &Counts) -> Vec<(String, Table)> {
    let streams = &plan.experiment.measure.streams;
    let mut tables = recorded(&FIRST, streams, |make| make(plan, counts));
    if let Some(programs) = &counts.recorder.programs {
        tables.extend(program_tables::tables(&plan.system.programs(), programs, streams));
    }
    tables.extend(recorded(&LAST, streams, |make| make(plan, counts)));
    tables
}

/// Columns of the table of batches, which has one more for each mean of the summary.
const BATCHES: [ColumnText; 2] = [
    ("batch", "", "Number of the batch, from 0."),
    ("first_cycle", CYCLES, "First cycle of the batch, warm-up included."),
];

fn batches(plan: &Plan, counts: &Counts) -> Table {
    let recorder = &counts.recorder;
    let count = plan.experiment.measure.batches;
    let figures = Figures::new(plan, counts, (0..plan.system.jobs.len()).collect());
    let mut table: Table = vec![
        ("batch".into(), Column::U32((0..count).collect())),
        ("first_cycle".into(), Column::U32((0..count).map(|b| recorder.batch_bounds(b).0).collect())),
    ];
    table.extend(figures.batch_means().into_iter().map(|(name, values)| (name, Column::F64(values))));
    table
}

/// Columns of the table of nodes.
const NODES: [ColumnText; 10] = [
    ("node", "", "Number of the node, from 0."),
    ("router", "", "Router that it hangs from."),
    ("job", "", "Name of its job; empty if it is idle."),
    ("generated", PACKETS, "Packets that it generated in the window."),
    ("injected", PACKETS, "Packets that it injected in the window; replies do not count."),
    ("delivered", PACKETS, "Packets delivered to it in the window."),
    ("received", PACKETS, "Packets that it sent and that were delivered in the window."),
    ("latency_mean", CYCLES, "Mean packet latency of those that it sent."),
    (
        "backlog_growth",
        PACKETS,
        "Packets that it generated in the window, dropped ones included, less those that it injected; empty with programs.",
    ),
    (
        "falls_behind",
        "",
        "1 if its source falls behind by 2 % or more with 99.9 % confidence, else 0; empty with programs.",
    ),
];

fn nodes(plan: &Plan, Counts { recorder, places, .. }: &Counts) -> Table {
    let (Some(counts), Some(sources)) = (&places.nodes, &recorder.streams.sources) else {
        return Table::new();
    };
    let all = 0..plan.system.network.nodes;
    let per_router = plan.system.topology.nodes_per_router();
    let job = |n: u32| match plan.system.job_of[n as usize] {
        u8::MAX => String::new(),
        job => plan.system.jobs[job as usize].name().to_owned(),
    };
    let latency = sources.latency.iter().zip(&sources.received).map(|(&sum, &count)| mean(sum, count));
    let grown = all.clone().map(|node| {
        places.backlogs.get(node as usize).map_or(f64::NAN, |node| node.growth.iter().sum::<i32>().into())
    });
    let behind = nodes_behind(plan, recorder, places);
    let falls_behind = all
        .clone()
        .map(|node| behind.as_ref().map_or(f64::NAN, |behind| f64::from(u8::from(behind[node as usize]))));
    vec![
        ("node".into(), Column::U32(all.clone().collect())),
        ("router".into(), Column::U32(all.clone().map(|n| n / per_router).collect())),
        ("backlog_growth".into(), Column::F64(grown.collect())),
        ("falls_behind".into(), Column::F64(falls_behind.collect())),
        ("job".into(), Column::Text(all.map(job).collect())),
        ("generated".into(), Column::U32(counts.generated.clone())),
        ("injected".into(), Column::U32(injected(places))),
        ("delivered".into(), Column::U32(counts.delivered.clone())),
        ("received".into(), Column::U32(sources.received.clone())),
        ("latency_mean".into(), Column::F64(latency.collect())),
    ]
}

/// Columns of the table of what nodes wait for.
const INJECTION_WAITS: [ColumnText; 9] = [
    ("node", "", "Number of the node, from 0."),
    (
        "arbitration",
        CYCLES,
        "Heads of its injection VCs waited because another packet was granted. Of several outputs the one that lacks least counts.",
    ),
    ("ipr", CYCLES, "They waited because another packet was granted while packets in transit went first."),
    ("output", CYCLES, "They waited for an output that was busy."),
    ("lbr", CYCLES, "They waited for room that local buffer restriction keeps free."),
    ("bubble", CYCLES, "They waited for room for the bubble in the ring that they would enter."),
    ("credits", CYCLES, "They waited for room for the packet."),
    ("input", CYCLES, "They waited for their injection port, by which another packet was leaving."),
    ("sat", CYCLES, "They waited for the SAT signal."),
];

/// Cycles that the heads of the injection VCs of every node waited, a column for each reason.
fn injection_waits(plan: &Plan, places: &Places) -> Table {
    let Some(waits) = &places.waits else { return Table::new() };
    let mut table: Table = vec![("node".into(), Column::U32((0..plan.system.network.nodes).collect()))];
    table.extend(WaitReason::ALL.iter().map(|&(reason, name)| {
        let cycles = waits.of(reason).map(|cycles| cycles as f64);
        (name.to_owned(), Column::F64(cycles.collect()))
    }));
    table
}

/// Packets injected by each node.
fn injected(places: &Places) -> Vec<u32> {
    places.injected.iter().map(|&(packets, _)| packets).collect()
}

/// Columns of the table of routers.
const ROUTERS: [ColumnText; 7] = [
    ("router", "", "Number of the router, from 0."),
    ("group", "", "Its group; 0 where there are no groups."),
    ("injected", PACKETS, "Packets that its nodes injected in the window; replies do not count."),
    ("delivered", PACKETS, "Packets delivered to its nodes in the window."),
    ("received", PACKETS, "Packets that its nodes sent and that were delivered in the window."),
    ("injection_load", LOAD, "Injected load, mean over its nodes with a job."),
    ("latency_mean", CYCLES, "Mean packet latency of those that its nodes sent."),
];

fn routers(plan: &Plan, Counts { recorder, places, .. }: &Counts) -> Table {
    let (Some(counts), Some(sources)) = (&places.nodes, &recorder.streams.sources) else {
        return Table::new();
    };
    let per_router = plan.system.topology.nodes_per_router() as usize;
    let sum = |values: &[u32]| values.chunks(per_router).map(|c| c.iter().sum()).collect::<Vec<u32>>();
    let received = sum(&sources.received);
    let latency = sources.latency.chunks(per_router).map(|c| c.iter().sum::<u64>());
    let load = |router: usize| {
        let nodes = router * per_router..(router + 1) * per_router;
        let mut senders = 0u32;
        let mut phits = 0u64;
        for node in nodes {
            let job = plan.system.jobs.get(plan.system.job_of[node] as usize);
            if job.is_some_and(|job| job.sends(node as u32)) {
                senders += 1;
                phits += places.injected[node].1;
            }
        }
        mean(phits, senders) / f64::from(recorder.cycles())
    };
    let all = 0..plan.system.network.nodes / per_router as u32;
    vec![
        ("router".into(), Column::U32(all.clone().collect())),
        ("group".into(), Column::U32(all.clone().map(|r| plan.system.topology.group(r)).collect())),
        ("injected".into(), Column::U32(sum(&injected(places)))),
        ("delivered".into(), Column::U32(sum(&counts.delivered))),
        ("received".into(), Column::U32(received.clone())),
        ("injection_load".into(), Column::F64(all.map(|r| load(r as usize)).collect())),
        ("latency_mean".into(), Column::F64(latency.zip(received).map(|(s, n)| mean(s, n)).collect())),
    ]
}

/// Columns of the table of intervals by generation.
const GENERATION_SERIES: [ColumnText; 4] = [
    ("cycle", CYCLES, "First cycle of the interval in which packets were generated, warm-up included."),
    ("packets", PACKETS, "Packets generated in the interval and delivered by the end of the run."),
    ("latency_mean", CYCLES, "Their mean packet latency."),
    ("misrouted_fraction", "", "Share of them that ever left the minimal path [0 … 1]."),
];

fn generation_series(plan: &Plan, recorder: &Recorder) -> Table {
    let interval = plan.experiment.measure.interval;
    let rows = &recorder.streams.cohorts;
    vec![
        ("cycle".into(), Column::U32((0..rows.len() as u32).map(|i| i * interval).collect())),
        ("packets".into(), Column::U32(rows.iter().map(|r| r.packets).collect())),
        ("latency_mean".into(), Column::F64(rows.iter().map(|r| mean(r.latency, r.packets)).collect())),
        (
            "misrouted_fraction".into(),
            Column::F64(rows.iter().map(|r| mean(r.misrouted.into(), r.packets)).collect()),
        ),
    ]
}

/// Columns of the table of latencies.
const LATENCY_HISTOGRAM: [ColumnText; 4] = [
    ("job", "", "Name of the job."),
    ("latency_from", CYCLES, "Least packet latency of the bin."),
    ("latency_to", CYCLES, "Greatest packet latency of the bin."),
    ("packets", PACKETS, "Packets of the job delivered in the window with such a latency."),
];

fn histogram(plan: &Plan, recorder: &Recorder) -> Table {
    let (mut job, mut from, mut to, mut packets) = (vec![], vec![], vec![], vec![]);
    for (plan, latencies) in plan.system.jobs.iter().zip(&recorder.histograms) {
        let histogram = latencies.histogram();
        for bar in histogram.iter_recorded() {
            let value = bar.value_iterated_to();
            job.push(plan.name().to_owned());
            from.push(histogram.lowest_equivalent(value));
            to.push(histogram.highest_equivalent(value));
            packets.push(bar.count_at_value());
        }
    }
    vec![
        ("job".into(), Column::Text(job)),
        ("latency_from".into(), Column::U64(from)),
        ("latency_to".into(), Column::U64(to)),
        ("packets".into(), Column::U64(packets)),
    ]
}

/// Columns of the table of intervals.
const TIMESERIES: [ColumnText; 8] = [
    ("cycle", CYCLES, "First cycle of the interval, warm-up included."),
    ("generated", PACKETS, "Packets generated in the interval."),
    ("injected", PACKETS, "Packets injected in the interval."),
    ("delivered", PACKETS, "Packets delivered in the interval."),
    (
        "lost",
        PACKETS,
        "Packets lost for good in the interval; only if links or routers fail or are repaired in the middle of the run, or the network may fall apart.",
    ),
    (
        "retransmissions",
        PACKETS,
        "Packets that came back to their source queues in the interval, to be sent again; only with faults.reaction.retransmit.",
    ),
    ("accepted_load", LOAD, "Phits delivered in the interval, per node of the jobs."),
    ("latency_mean", CYCLES, "Mean packet latency of those delivered in the interval."),
];

fn timeseries(plan: &Plan, recorder: &Recorder) -> Table {
    let interval = plan.experiment.measure.interval;
    let nodes = plan.system.jobs.iter().map(|j| j.nodes().len()).sum::<usize>() as f64;
    let end = recorder.window().1;
    let rows = recorder.series.iter().enumerate();
    let load = |(index, row): (usize, &super::recorder::Interval)| {
        let first = index as u32 * interval;
        row.phits as f64 / (nodes * f64::from(interval.min(end - first)))
    };
    let series = &recorder.series;
    let lost = || ("lost".into(), Column::U32(series.iter().map(|r| r.lost).collect()));
    let mut table: Table = vec![
        ("cycle".into(), Column::U32((0..series.len() as u32).map(|i| i * interval).collect())),
        ("generated".into(), Column::U32(series.iter().map(|r| r.generated).collect())),
        ("injected".into(), Column::U32(series.iter().map(|r| r.injected).collect())),
        ("delivered".into(), Column::U32(series.iter().map(|r| r.delivered).collect())),
        ("accepted_load".into(), Column::F64(rows.map(load).collect())),
        ("latency_mean".into(), Column::F64(series.iter().map(|r| mean(r.latency, r.delivered)).collect())),
    ];
    if !plan.epochs.is_empty() || plan.experiment.faults.iter().any(Fault::drops) {
        table.insert(4, lost());
    }
    if plan.system.nic.retransmit.is_some() {
        let retransmissions = Column::U32(series.iter().map(|r| r.retransmissions).collect());
        table.insert(5, ("retransmissions".into(), retransmissions));
    }
    table
}
