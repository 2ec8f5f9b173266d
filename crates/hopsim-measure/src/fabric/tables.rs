//! The record streams of a fabric as tables.

use super::completions::{Completed, Completions};
use super::evidence::accounts_behind;
use super::links::{Links, Use};
use super::losses::{Losses, Lost};
use super::recorder::{AccountCounts, FabricRecorder};
use super::series::{FlowRow, QueueRow, Series};
use super::summary::{completion_times, gigabits, limited, mean_latency, ns};
use super::victims::Victims;
use crate::message_sizes::{greatest, least};
use crate::table_kind::{BYTES, ColumnText, MESSAGES, NS, PACKETS, RATE, S, TableKind, recorded};
use crate::{Column, Table};
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::plan::fabric::FabricPlan;
use hopsim_experiment::plan::fabric::used::Place;
use hopsim_infiniband::fabric::FlowControl;
use hopsim_infiniband::time::Ticks;

/// Makes a table of what a run has counted; none if that was not counted.
type MakeFabricTable = fn(&FabricPlan, &FabricRecorder<'_>) -> Option<Table>;

/// The tables of fabrics. Columns that networks of routers with VCs have as well are described once, here or there.
pub const KINDS: [TableKind<MakeFabricTable>; 7] = [
    TableKind {
        name: "flows",
        stream: Some(RecordStream::Flows),
        columns: &[&FLOWS, &LOST],
        make: |plan, recorder| Some(flows(plan, recorder)),
    },
    TableKind {
        name: "flow_sizes",
        stream: Some(RecordStream::FlowSizes),
        columns: &[&FLOW_SIZES],
        make: |plan, recorder| Some(flow_sizes(plan, &recorder.completions)),
    },
    TableKind {
        name: "links",
        stream: Some(RecordStream::Links),
        columns: &[&LINKS],
        make: |plan, recorder| Some(window_links(plan, recorder, recorder.links.as_ref()?)),
    },
    TableKind {
        name: "victims",
        stream: Some(RecordStream::Victims),
        columns: &[&VICTIMS],
        make: |plan, recorder| Some(held_up(plan, recorder, recorder.victims.as_ref()?)),
    },
    TableKind {
        name: "flow_series",
        stream: Some(RecordStream::FlowSeries),
        columns: &[&FLOW_SERIES, &LOST_IN_INTERVALS],
        make: |plan, recorder| Some(flow_series(plan, recorder.series.as_ref()?, recorder.losses.as_deref())),
    },
    TableKind {
        name: "queue_series",
        stream: Some(RecordStream::QueueSeries),
        columns: &[&QUEUE_SERIES],
        make: |plan, recorder| Some(queue_series(plan, recorder.series.as_ref()?)),
    },
    TableKind {
        name: "link_series",
        stream: Some(RecordStream::LinkSeries),
        columns: &[&LINK_SERIES],
        make: |plan, recorder| {
            Some(link_series(plan, recorder.links.as_ref()?, &recorder.series.as_ref()?.ends))
        },
    },
];

/// Every table that was asked for, by name.
pub fn tables(plan: &FabricPlan, recorder: &FabricRecorder<'_>) -> Vec<(String, Table)> {
    recorded(&KINDS, &plan.experiment.measure.streams, |make| make(plan, recorder))
}

/// Columns that say whose each row is, by job and name, for all accounts `times` over.
fn named(plan: &FabricPlan, times: usize) -> [(String, Column); 2] {
    let rows = || (0..times).flat_map(|_| &plan.accounts);
    let jobs = Column::Named { names: plan.jobs.clone(), rows: rows().map(|flow| flow.job as u8).collect() };
    let names = Column::Text(rows().map(|flow| flow.name.clone()).collect());
    [("job".into(), jobs), ("name".into(), names)]
}

/// Columns of the table of flows.
const FLOWS: [ColumnText; 12] = [
    ("job", "", "Name of the job of the flow."),
    ("name", "", "Name of the flow; of all that a node draws or its program sends that of the node."),
    ("source", "", "Node that sends."),
    ("destination", "", "Node that receives; empty for a node that draws."),
    ("throughput_gbps", RATE, "Data delivered in the window over its length."),
    ("packets", PACKETS, "Data packets delivered in the window."),
    ("marked", PACKETS, "Data packets that a switch marked in the window."),
    ("notifications", PACKETS, "Congestion notifications that reached the source in the window."),
    (
        "ccti_at_limit_fraction",
        "",
        "Share of the window in which the index into the congestion control table was at ccti_limit, the greatest of a node's flows [0 … 1]; empty without such a table.",
    ),
    ("latency_mean_ns", NS, "Mean latency of the packets delivered in the window."),
    ("latency_p99_ns", NS, "99th percentile of their latency, to 0.1 % or 1 ns."),
    (
        "falls_behind",
        "",
        "1 if the flow falls behind its rate, or the node what it draws, by 2 % or more with 99.9 % confidence, else 0; empty with programs.",
    ),
];

fn flows(plan: &FabricPlan, recorder: &FabricRecorder<'_>) -> Table {
    let count = |of: fn(&AccountCounts) -> u64| Column::U64(recorder.accounts.iter().map(of).collect());
    let rate =
        |counts: &AccountCounts| gigabits(counts.bytes, recorder.span.window(), plan.fabric.ticks_per_ns);
    let mean = |counts: &AccountCounts| mean_latency(plan, counts).unwrap_or(f64::NAN);
    let at_limit = |counts: &AccountCounts| limited(plan, recorder, counts).unwrap_or(f64::NAN);
    let high = recorder.by_account.iter().zip(&recorder.accounts).map(|(latencies, counts)| {
        let greatest = ns(plan, counts.greatest);
        let value = latencies.value_at_quantile(0.99) as f64;
        if counts.delivered > 0 { value.min(greatest) } else { f64::NAN }
    });
    let behind = accounts_behind(plan, recorder);
    let falls_behind = (0..plan.accounts.len())
        .map(|account| behind.as_ref().map_or(f64::NAN, |behind| f64::from(u8::from(behind[account]))));
    let mut table: Table = named(plan, 1).into();
    table.extend([
        ("source".into(), Column::U32(plan.accounts.iter().map(|account| account.source).collect())),
        ("destination".into(), destinations(plan)),
        ("throughput_gbps".into(), Column::F64(recorder.accounts.iter().map(rate).collect())),
        ("packets".into(), count(|counts| counts.delivered)),
        ("marked".into(), count(|counts| counts.marked)),
        ("notifications".into(), count(|counts| counts.notifications)),
        ("ccti_at_limit_fraction".into(), Column::F64(recorder.accounts.iter().map(at_limit).collect())),
        ("latency_mean_ns".into(), Column::F64(recorder.accounts.iter().map(mean).collect())),
        ("latency_p99_ns".into(), Column::F64(high.collect())),
        ("falls_behind".into(), Column::F64(falls_behind.collect())),
    ]);
    table.extend(recorder.losses.as_ref().map(|losses| lost(plan, &losses.window)).unwrap_or_default());
    table
}

/// Columns of the table of flows where links fail in the middle of the run.
const LOST: [ColumnText; 5] = [
    (
        "lost",
        PACKETS,
        "Data packets of the flow lost in the window; like the next ones only if links fail in the middle of the run.",
    ),
    ("lost_on_links", PACKETS, "Of these, on a link that failed; see packets_lost_on_links."),
    ("discarded", PACKETS, "Of these, discarded by a switch; see packets_discarded."),
    ("spoiled", PACKETS, "Of these, spoiled; see packets_spoiled."),
    (
        "messages_lost",
        MESSAGES,
        "Messages that the node draws and that lost their first packet in the window; only if nodes draw messages.",
    ),
];

/// What accounts lose, row by row.
fn lost(plan: &FabricPlan, rows: &[Lost]) -> Table {
    let count = |of: fn(&Lost) -> u64| Column::U64(rows.iter().map(of).collect());
    let mut columns: Table = vec![
        ("lost".into(), count(Lost::packets)),
        ("lost_on_links".into(), count(|lost| lost.on_links)),
        ("discarded".into(), count(|lost| lost.discarded)),
        ("spoiled".into(), count(|lost| lost.spoiled)),
    ];
    if !plan.messages.is_empty() {
        columns.push(("messages_lost".into(), count(|lost| lost.messages)));
    }
    columns
}

/// Columns of the table of classes of sizes.
const FLOW_SIZES: [ColumnText; 12] = [
    ("job", "", "Name of the job."),
    (
        "bytes_from",
        BYTES,
        "Least size of a flow or message of the class. The classes end at 64 B, 256 B, 1 KiB and so on.",
    ),
    ("bytes_to", BYTES, "Greatest size of the class."),
    ("flows", "", "Flows and messages of the class that were completed in the window."),
    ("bytes", BYTES, "What they sent."),
    ("flow_completion_time_mean", NS, "Mean of their completion times."),
    ("flow_completion_time_p50", NS, "Median of their completion times, to 0.1 % or 1 ns."),
    ("flow_completion_time_p95", NS, "95th percentile of them."),
    ("flow_completion_time_p99", NS, "99th percentile of them."),
    (
        "slowdown_p50",
        "",
        "Median of their completion times over those that they take alone, to 0.1 %. Not if links fail in the middle of the run.",
    ),
    ("slowdown_p95", "", "95th percentile of that ratio."),
    ("slowdown_p99", "", "99th percentile of that ratio."),
];

/// One row per job and class of sizes of which something was completed in the window.
fn flow_sizes(plan: &FabricPlan, completions: &Completions<'_>) -> Table {
    let rows: Vec<(usize, u32, &Completed)> = completions.by_class().collect();
    let jobs =
        Column::Named { names: plan.jobs.clone(), rows: rows.iter().map(|&(job, ..)| job as u8).collect() };
    let whole = |of: &dyn Fn(u32, &Completed) -> u64| {
        Column::U64(rows.iter().map(|&(_, class, completed)| of(class, completed)).collect())
    };
    let real = |of: &dyn Fn(&Completed) -> Option<f64>| {
        Column::F64(rows.iter().map(|row| of(row.2).unwrap_or(f64::NAN)).collect())
    };
    let time = |share: f64| real(&|completed| completion_times(plan, completed).quantile(share));
    let mut table: Table = vec![
        ("job".into(), jobs),
        ("bytes_from".into(), whole(&|class, _| least(class))),
        ("bytes_to".into(), whole(&|class, _| greatest(class))),
        ("flows".into(), whole(&|_, completed| completed.flows())),
        ("bytes".into(), whole(&|_, completed| completed.bytes)),
        ("flow_completion_time_mean".into(), real(&|completed| completion_times(plan, completed).mean)),
        ("flow_completion_time_p50".into(), time(0.5)),
        ("flow_completion_time_p95".into(), time(0.95)),
        ("flow_completion_time_p99".into(), time(0.99)),
    ];
    if completions.has_slowdowns() {
        for (name, share) in [("slowdown_p50", 0.5), ("slowdown_p95", 0.95), ("slowdown_p99", 0.99)] {
            table.push((name.into(), real(&|completed| completed.slowdown(share))));
        }
    }
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

/// Columns of the table of intervals and flows.
const FLOW_SERIES: [ColumnText; 7] = [
    ("time_s", S, "End of the interval, warm-up included."),
    ("job", "", "Name of the job of the flow."),
    ("name", "", "Name of the flow."),
    ("throughput_gbps", RATE, "Data delivered in the interval over its length."),
    ("marked", PACKETS, "Data packets that a switch marked in the interval."),
    ("notifications", PACKETS, "Congestion notifications that reached the source in the interval."),
    (
        "ccti",
        "",
        "Index into the congestion control table at the end of the interval, the greatest of a node's flows; 0 without such a table.",
    ),
];

/// Columns of the table of intervals and flows where links fail in the middle of the run.
const LOST_IN_INTERVALS: [ColumnText; 5] = [
    (
        "lost",
        PACKETS,
        "Data packets of the flow lost in the interval; like the next ones only if links fail in the middle of the run.",
    ),
    ("lost_on_links", PACKETS, "Of these, on a link that failed; see packets_lost_on_links."),
    ("discarded", PACKETS, "Of these, discarded by a switch; see packets_discarded."),
    ("spoiled", PACKETS, "Of these, spoiled; see packets_spoiled."),
    (
        "messages_lost",
        MESSAGES,
        "Messages that the node draws and that lost their first packet in the interval; only if nodes draw messages.",
    ),
];

fn flow_series(plan: &FabricPlan, series: &Series, losses: Option<&Losses>) -> Table {
    let rate = |row: &FlowRow| interval_rate(plan, row.open.bytes);
    let [job, name] = named(plan, series.ends.len());
    let mut table: Table = vec![
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
    ];
    table.extend(losses.map(|losses| lost(plan, &losses.rows)).unwrap_or_default());
    table
}

/// Columns of the table of intervals and outputs.
const QUEUE_SERIES: [ColumnText; 10] = [
    ("time_s", S, "End of the interval, warm-up included."),
    ("switch", "", "Number of the switch, from 0."),
    ("port", "", "Output port, from 0 among those of the switch that are plugged."),
    ("peer", "", "What is at the other end of its link, as node 4 or switch 1."),
    ("vl", "", "Virtual lane."),
    ("queued_bytes", BYTES, "In all virtual output queues of the output and VL at the end of the interval."),
    ("largest_queue_bytes", BYTES, "In the largest of these queues."),
    ("is_congested", "", "1 if the output and VL are congested at the end of the interval."),
    ("bytes", BYTES, "Granted in the interval, notifications and acknowledgements included."),
    ("throughput_gbps", RATE, "The same over the length of the interval."),
];

fn queue_series(plan: &FabricPlan, series: &Series) -> Table {
    let places = || series.ends.iter().flat_map(|_| &series.places);
    let column = |of: fn(&QueueRow) -> u64| Column::U64(series.queues.iter().map(of).collect());
    let rate = |row: &QueueRow| interval_rate(plan, row.bytes);
    vec![
        ("time_s".into(), times(plan, &series.ends, series.places.len())),
        (
            "switch".into(),
            Column::U32(places().filter_map(|place| plan.fabric.switch_of(place.port)).collect()),
        ),
        ("port".into(), Column::U32(places().map(|place| local(plan, place.port)).collect())),
        ("peer".into(), Column::Text(places().map(|place| peer(plan, place.port)).collect())),
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

/// A port among those of its host or switch.
fn local(plan: &FabricPlan, port: u32) -> u32 {
    let first = |switch: u32| plan.fabric.first_port[switch as usize];
    plan.fabric.switch_of(port).map_or(0, |switch| port - first(switch))
}

/// What has a port.
fn device(plan: &FabricPlan, port: u32) -> String {
    match plan.fabric.switch_of(port) {
        Some(switch) => format!("switch {switch}"),
        None => format!("node {port}"),
    }
}

/// What is at the other end of the link of a port.
fn peer(plan: &FabricPlan, port: u32) -> String {
    device(plan, plan.fabric.ports[port as usize].peer)
}

/// The columns that name links and VLs.
fn link_names(plan: &FabricPlan, places: &[Place]) -> [(String, Column); 4] {
    let names = |of: fn(&FabricPlan, u32) -> String| {
        Column::Text(places.iter().map(|place| of(plan, place.port)).collect())
    };
    [
        ("from".into(), names(device)),
        ("port".into(), Column::U32(places.iter().map(|place| local(plan, place.port)).collect())),
        ("to".into(), names(peer)),
        ("vl".into(), Column::U32(places.iter().map(|place| u32::from(place.lane)).collect())),
    ]
}

/// The columns that say what links were used for in so long.
fn uses(plan: &FabricPlan, rows: &[Use], time: Ticks) -> Vec<(String, Column)> {
    let rate = |row: &Use| gigabits(row.bytes, time, plan.fabric.ticks_per_ns);
    let share =
        |of: fn(&Use) -> Ticks| Column::F64(rows.iter().map(|row| of(row) as f64 / time as f64).collect());
    let mut columns = vec![
        ("bytes".into(), Column::U64(rows.iter().map(|row| row.bytes).collect())),
        ("throughput_gbps".into(), Column::F64(rows.iter().map(rate).collect())),
        ("utilisation".into(), share(|row| row.busy)),
        ("credit_stall_fraction".into(), share(|row| row.stalled)),
    ];
    if let FlowControl::Pfc(_) = plan.fabric.flow_control {
        columns.push(("pauses".into(), Column::U64(rows.iter().map(|row| row.pauses).collect())));
        columns.push(("paused_fraction".into(), share(|row| row.paused)));
    }
    columns
}

/// Columns of the table of links that fabrics alone have.
const LINKS: [ColumnText; 8] = [
    ("from", "", "In a fabric: what the link leaves, as node 4 or switch 1."),
    ("to", "", "In a fabric: what is at its other end."),
    ("vl", "", "In a fabric: virtual lane."),
    ("bytes", BYTES, "In a fabric: of packets that began to cross in the window, notifications included."),
    ("throughput_gbps", RATE, "The same over the length of the window."),
    (
        "credit_stall_fraction",
        "",
        "In a fabric: share of the window in which the link was idle because a packet of the VL lacked credits, or its VL was paused [0 … 1].",
    ),
    (
        "pauses",
        "",
        "With priority flow control: how often the link began to be paused in the VL in the window.",
    ),
    (
        "paused_fraction",
        "",
        "With priority flow control: share of the window in which the link was paused in the VL [0 … 1].",
    ),
];

fn window_links(plan: &FabricPlan, recorder: &FabricRecorder<'_>, links: &Links) -> Table {
    let (places, rows): (Vec<Place>, Vec<Use>) = links.all().unzip();
    link_names(plan, &places).into_iter().chain(uses(plan, &rows, recorder.span.window())).collect()
}

/// Columns of the table of intervals and links.
const LINK_SERIES: [ColumnText; 11] = [
    ("time_s", S, "End of the interval, warm-up included."),
    ("from", "", "What the link leaves, as node 4 or switch 1."),
    ("port", "", "Output port; in a fabric from 0 among those of the switch that are plugged, 0 of a node."),
    ("to", "", "What is at its other end."),
    ("vl", "", "Virtual lane."),
    ("bytes", BYTES, "Of packets that began to cross the link in the interval, notifications included."),
    ("throughput_gbps", RATE, "The same over the length of the interval."),
    (
        "utilisation",
        "",
        "Share of the interval in which the link carried packets of the VC or VL. A packet of a VC counts whole in the interval in which it departs, so that it may be somewhat more than 1.",
    ),
    (
        "credit_stall_fraction",
        "",
        "Share of the interval in which the buffer at the other end had no room for the shortest packet; in a fabric in which the link was idle because a packet of the VL lacked credits, or its VL was paused [0 … 1]; empty for a node.",
    ),
    (
        "pauses",
        "",
        "With priority flow control: how often the link began to be paused in the VL in the interval.",
    ),
    (
        "paused_fraction",
        "",
        "With priority flow control: share of the interval in which the link was paused in the VL [0 … 1].",
    ),
];

fn link_series(plan: &FabricPlan, links: &Links, closed: &[Ticks]) -> Table {
    let places: Vec<Place> = closed.iter().flat_map(|_| links.all()).map(|(place, _)| place).collect();
    let interval = plan.span.interval.unwrap_or(plan.span.end);
    let time = ("time_s".into(), times(plan, closed, links.all().count()));
    [time].into_iter().chain(link_names(plan, &places)).chain(uses(plan, &links.rows, interval)).collect()
}

/// Columns of the table of flows that are held up.
const VICTIMS: [ColumnText; 9] = [
    ("job", "", "Name of the job of the flow."),
    ("name", "", "Name of the flow; of all that a node draws that of the node."),
    ("role", "", "A contributor's packets leave by the root, those of a victim do not."),
    (
        "from",
        "",
        "What the root of the congestion is a port of, as switch 1, or a node whose link is too slow.",
    ),
    ("port", "", "That port, from 0 among those of the switch that are plugged; 0 of a node."),
    ("to", "", "What is at the other end of its link."),
    ("vl", "", "Virtual lane."),
    ("lost_s", S, "Time of the window in which the root held the flow up, estimated from samples."),
    (
        "lost_fraction",
        "",
        "The same over the length of the window [0 … 1]; of all that a node draws the sum over its flows, which may be more than 1.",
    ),
];

fn held_up(plan: &FabricPlan, recorder: &FabricRecorder<'_>, victims: &Victims) -> Table {
    let rows = victims.shares(plan, &recorder.account_of);
    let roots: Vec<Place> = rows.keys().map(|row| row.root).collect();
    let accounts = || rows.keys().map(|row| &plan.accounts[row.account]);
    let jobs = Column::Named {
        names: plan.jobs.clone(),
        rows: accounts().map(|account| account.job as u8).collect(),
    };
    let roles = Column::Named {
        names: vec!["contributor".into(), "victim".into()],
        rows: rows.keys().map(|row| u8::from(row.is_victim)).collect(),
    };
    let shares: Vec<f64> = rows.values().copied().collect();
    let window = ns(plan, recorder.span.window()) / 1e9;
    let mut table: Table = vec![
        ("job".into(), jobs),
        ("name".into(), Column::Text(accounts().map(|account| account.name.clone()).collect())),
        ("role".into(), roles),
    ];
    table.extend(link_names(plan, &roots));
    table.push(("lost_s".into(), Column::F64(shares.iter().map(|share| share * window).collect())));
    table.push(("lost_fraction".into(), Column::F64(shares)));
    table
}
