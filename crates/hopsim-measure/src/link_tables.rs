//! The record streams of links and buffers as tables.

use super::flows::FlowKey;
use super::link_series::LinkSums;
use super::places::LinkCounts;
use super::waits::Waited;
use super::{Column, Counts, Table, tables};
use crate::table_kind::{CYCLES, ColumnText, PACKETS};
use hopsim_experiment::plan::Plan;
use hopsim_experiment::plan::output_vcs::{OutputVc, is_plugged, output_vcs};
use hopsim_network::network::{NONE, TERMINAL};
use std::collections::BTreeMap;

/// The share of some cycles in which a link carried so many phits.
fn utilisation(place: &OutputVc, phits: u64, cycles: f64) -> f64 {
    phits as f64 * place.pace / cycles
}

/// Columns of the table of links.
pub const LINKS: [ColumnText; 8] = [
    ("router", "", "Router that the link leaves."),
    ("port", "", "Output port there, in a fabric among those that are plugged."),
    ("port_class", "", "Class of the link: terminal (to a node), local, global or network."),
    ("vc", "", "Virtual channel, from 0."),
    ("peer_router", "", "Router at the other end; empty for a node."),
    ("phits", "phits", "Phits that departed in the window."),
    (
        "utilisation",
        "",
        "Share of the window in which the link carried them, in a fabric packets of the VL. Outside of fabrics packets that depart at its end count whole, so that it may be slightly more than 1.",
    ),
    ("occupancy_mean", "phits", "Mean phits in the buffer at the other end; empty for a node."),
];

/// One row per output VC of every plugged link: what departed through it, and how full the buffer behind it is.
pub fn links(plan: &Plan, Counts { recorder, places, .. }: &Counts) -> Table {
    let Some(LinkCounts { phits, occupancy, .. }) = &places.links else { return Table::new() };
    let cycles = f64::from(recorder.cycles());
    let vcs = output_vcs(plan);
    let column = |value: &dyn Fn(&OutputVc) -> u32| Column::U32(vcs.iter().map(value).collect());
    let real = |value: &dyn Fn(&OutputVc) -> f64| Column::F64(vcs.iter().map(value).collect());
    let class = |place: &OutputVc| plan.system.network.class_name(place.port).to_owned();
    let held = |place: &OutputVc| place.fed.map_or(f64::NAN, |(_, slot)| occupancy[slot] as f64 / cycles);
    vec![
        ("router".into(), column(&|place| place.router)),
        ("port".into(), column(&|place| place.port as u32)),
        ("port_class".into(), Column::Text(vcs.iter().map(class).collect())),
        ("vc".into(), column(&|place| place.vc.into())),
        ("peer_router".into(), column(&|place| place.fed.map_or(NONE, |(peer, _)| peer))),
        ("phits".into(), Column::U64(vcs.iter().map(|place| phits[place.pair]).collect())),
        ("utilisation".into(), real(&|place| utilisation(place, phits[place.pair], cycles))),
        ("occupancy_mean".into(), real(&held)),
    ]
}

/// Columns of the table of intervals and links that fabrics do not have.
pub const LINK_SERIES: [ColumnText; 6] = [
    ("cycle", CYCLES, "First cycle of the interval, warm-up included."),
    ("router", "", "Router that the link leaves."),
    ("port_class", "", "Class of the link: terminal (to a node), local, global or network."),
    ("vc", "", "Virtual channel, from 0."),
    ("phits", "phits", "Phits that departed in the interval."),
    ("occupancy_mean", "phits", "Mean phits in the buffer at the other end; empty for a node."),
];

/// One row per interval of the run and output VC of every plugged link: what departed through it, how full the buffer behind it
/// is, and how long there was no room.
pub fn link_series(plan: &Plan, Counts { recorder, places, .. }: &Counts) -> Table {
    let Some(series) = places.links.as_ref().and_then(|links| links.series.as_ref()) else {
        return Table::new();
    };
    let (end, interval) = (recorder.window().1, plan.experiment.measure.interval);
    let vcs = output_vcs(plan);
    let length = |cycle: u32| f64::from(interval.min(end - cycle));
    let rows: Vec<LinkInterval> = series.rows().map(|(cycle, row)| (cycle, length(cycle), row)).collect();
    let class = |vc: &OutputVc| plan.system.network.layout.class[vc.port];
    let used = |&(_, length, row): &LinkInterval, vc: &OutputVc| utilisation(vc, row.phits[vc.pair], length);
    let held = |&(_, length, row): &LinkInterval, vc: &OutputVc| {
        vc.fed.map_or(f64::NAN, |(_, slot)| row.occupancy[slot] as f64 / length)
    };
    let stalled = |&(_, length, row): &LinkInterval, vc: &OutputVc| {
        vc.fed.map_or(f64::NAN, |_| f64::from(row.stalls[vc.pair]) / length)
    };
    let mut names: Vec<String> = vec!["terminal".into()];
    names.extend(plan.system.topology.link_classes().iter().map(|&name| name.to_owned()));
    vec![
        ("cycle".into(), Column::U32(column(&rows, &vcs, |&(cycle, ..), _| cycle))),
        ("router".into(), Column::U32(same_column(&rows, &vcs, |vc| vc.router))),
        ("port".into(), Column::U32(same_column(&rows, &vcs, |vc| vc.port as u32))),
        ("port_class".into(), Column::Named { names, rows: same_column(&rows, &vcs, class) }),
        ("vc".into(), Column::U32(same_column(&rows, &vcs, |vc| vc.vc.into()))),
        ("phits".into(), Column::U64(column(&rows, &vcs, |(.., row), vc| row.phits[vc.pair]))),
        ("utilisation".into(), Column::F64(column(&rows, &vcs, used))),
        ("occupancy_mean".into(), Column::F64(column(&rows, &vcs, held))),
        ("credit_stall_fraction".into(), Column::F64(column(&rows, &vcs, stalled))),
    ]
}

/// First cycle, length and sums of an interval.
type LinkInterval<'a> = (u32, f64, &'a LinkSums);

/// What there is to say of every output VC in every interval.
fn column<T>(
    rows: &[LinkInterval<'_>],
    vcs: &[OutputVc],
    value: impl Fn(&LinkInterval<'_>, &OutputVc) -> T,
) -> Vec<T> {
    let mut column = Vec::with_capacity(rows.len() * vcs.len());
    for row in rows {
        column.extend(vcs.iter().map(|vc| value(row, vc)));
    }
    column
}

/// A column of what there is to say of every output VC, the same in every interval.
fn same_column<T: Copy>(
    rows: &[LinkInterval<'_>],
    vcs: &[OutputVc],
    value: impl Fn(&OutputVc) -> T,
) -> Vec<T> {
    vcs.iter().map(value).collect::<Vec<T>>().repeat(rows.len())
}

/// Columns of the table of output VCs that packets waited for.
pub const LINK_OF_WAITS: [ColumnText; 4] = [
    ("router", "", "Router that the link leaves."),
    ("port", "", "Output port there."),
    ("port_class", "", "Class of the link: terminal (to a node), local, global or network."),
    ("vc", "", "Virtual channel, from 0."),
];

/// Columns of the table of flows that waited.
pub const FLOW_OF_WAITS: [ColumnText; 3] = [
    ("job", "", "Name of the job of the packets."),
    ("source_group", "", "Group of their sources; the router in a network without groups."),
    ("destination_group", "", "Group of their destinations; the router in a network without groups."),
];

/// Columns that both have.
pub const WAITS: [ColumnText; 6] = [
    ("packets", PACKETS, "Grants in the window: packets, each as often as it was granted an output."),
    ("queued", CYCLES, "They waited behind other packets of their input VC."),
    (
        "room",
        CYCLES,
        "As heads they waited until the buffer behind the output VC that they were granted in the end had room for good.",
    ),
    ("bubble", CYCLES, "They waited until it had room for the bubble, too."),
    ("output", CYCLES, "They waited until the output was no longer busy with others."),
    ("crossbar", CYCLES, "They waited for the crossbar, for an arbiter or for injection control."),
];

/// What packets waited for: a row per output VC.
pub fn waits(plan: &Plan, Counts { places, .. }: &Counts) -> Table {
    let Some(waits) = places.waits_of_links() else { return Table::new() };
    let vcs = output_vcs(plan);
    let column = |value: &dyn Fn(&OutputVc) -> u32| Column::U32(vcs.iter().map(value).collect());
    let class = |place: &OutputVc| plan.system.network.class_name(place.port).to_owned();
    let mut table: Table = vec![
        ("router".into(), column(&|place| place.router)),
        ("port".into(), column(&|place| place.port as u32)),
        ("port_class".into(), Column::Text(vcs.iter().map(class).collect())),
        ("vc".into(), column(&|place| place.vc.into())),
    ];
    let by_vc: Vec<Waited> = vcs.iter().map(|place| waits.by_pair[place.pair]).collect();
    table.extend(waited(&by_vc));
    table
}

/// What packets waited for: a row per flow.
pub fn flow_waits(plan: &Plan, Counts { places, .. }: &Counts) -> Table {
    let Some(waits) = places.waits_of_links() else { return Table::new() };
    let by_flow: BTreeMap<FlowKey, &Waited> = waits.by_flow.iter().collect();
    let keys = || by_flow.keys();
    let job = |job: u8| plan.system.jobs[usize::from(job)].name().to_owned();
    let mut table: Table = vec![
        ("job".into(), Column::Text(keys().map(|flow| job(flow.0)).collect())),
        ("source_group".into(), Column::U32(keys().map(|flow| flow.1).collect())),
        ("destination_group".into(), Column::U32(keys().map(|flow| flow.2).collect())),
    ];
    table.extend(waited(&by_flow.values().map(|&&waited| waited).collect::<Vec<_>>()));
    table
}

fn waited(rows: &[Waited]) -> Table {
    let column = |name: &str, value: &dyn Fn(&Waited) -> u64| {
        (name.to_owned(), Column::U64(rows.iter().map(value).collect()))
    };
    vec![
        column("packets", &|row| row.packets),
        column("queued", &|row| row.queued),
        column("room", &|row| row.room),
        column("bubble", &|row| row.bubble),
        column("output", &|row| row.output),
        column("crossbar", &|row| row.crossbar),
    ]
}

/// Columns of the table of buffers.
pub const OCCUPANCY: [ColumnText; 4] = [
    ("port_class", "", "Class of ports: injection, ejection, local, global or network."),
    ("vc", "", "Virtual channel, from 0."),
    ("occupancy_mean", "phits", "Mean phits in one of their input buffers; empty for ejection."),
    (
        "utilisation",
        "phits/cycle",
        "Share of the window in which one of their links carried phits of the VC [0 … 1]; empty for injection.",
    ),
];

/// One row per class of ports and VC, over all buffers and plugged links of the class.
pub fn occupancy(plan: &Plan, Counts { recorder, places, .. }: &Counts) -> Table {
    let Some(counts) = &places.links else { return Table::new() };
    let (network, layout) = (&plan.system.network, &plan.system.network.layout);
    let cycles = f64::from(recorder.cycles());
    // Mean over the ports of a class that have VCs, of a sum by router and port.
    let mean = |(class, vcs): (u8, &[u8]), value: &dyn Fn(u32, usize) -> u64| {
        let ports = (0..layout.ports()).filter(|&port| layout.class[port] == class && vcs[port] > 0);
        let all = ports.flat_map(|port| (0..network.routers).map(move |router| (router, port)));
        let (mut sum, mut count) = (0, 0u32);
        for (router, port) in all.filter(|&(router, port)| is_plugged(plan, router, port)) {
            sum += value(router, port);
            count += 1;
        }
        tables::mean(sum, count) / cycles
    };
    let held = |vc: u8| {
        move |router: u32, port: usize| {
            counts.occupancy
                [router as usize * counts.stride + usize::from(layout.slot_base[port]) + usize::from(vc)]
        }
    };
    let busy = |vc: u8| {
        move |router: u32, port: usize| {
            let pair = usize::from(layout.pair_base[port]) + usize::from(vc);
            let cycles_per_phit = network.link(router, port).cycles_per_phit;
            counts.phits[router as usize * counts.stride + pair] * u64::from(cycles_per_phit)
        }
    };
    let mut rows: Vec<(String, u32, f64, f64)> = Vec::new();
    let (inputs, outputs) = (&layout.input_vcs[..], &layout.output_vcs[..]);
    for code in 0..=network.classes.links.len() as u8 {
        let Some(port) = layout.class.iter().position(|&class| class == code) else { continue };
        let ends = code == TERMINAL;
        let name = if ends { "injection" } else { network.class_name(port) };
        for vc in 0..layout.input_vcs[port] {
            let sent = if ends { f64::NAN } else { mean((code, outputs), &busy(vc)) };
            rows.push((name.to_owned(), vc.into(), mean((code, inputs), &held(vc)), sent));
        }
        for vc in 0..if ends { layout.output_vcs[port] } else { 0 } {
            rows.push(("ejection".to_owned(), vc.into(), f64::NAN, mean((code, outputs), &busy(vc))));
        }
    }
    vec![
        ("port_class".into(), Column::Text(rows.iter().map(|row| row.0.clone()).collect())),
        ("vc".into(), Column::U32(rows.iter().map(|row| row.1).collect())),
        ("occupancy_mean".into(), Column::F64(rows.iter().map(|row| row.2).collect())),
        ("utilisation".into(), Column::F64(rows.iter().map(|row| row.3).collect())),
    ]
}
