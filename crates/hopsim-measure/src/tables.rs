//! The record streams as tables.

use super::Counts;
use super::evidence::nodes_behind;
use super::places::Places;
use super::recorder::Recorder;
use super::summary::Figures;
use super::{Column, Table, link_tables, program_tables, standing_tables};
use hopsim_cycles::observer::WaitReason;
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::plan::Plan;

/// The mean of so many values with a sum; NaN of none.
pub fn mean(sum: u64, count: u32) -> f64 {
    if count == 0 { f64::NAN } else { sum as f64 / f64::from(count) }
}

/// Every table that was asked for, by name.
pub fn tables(plan: &Plan, counts: &Counts) -> Vec<(String, Table)> {
    let Counts { recorder, places, congestion, packet_hops: _, decisions: _ } = counts;
    let wants = |stream| plan.experiment.measure.streams.contains(&stream);
    let mut tables = vec![("batches".to_owned(), batches(plan, counts))];
    if wants(RecordStream::Nodes) {
        tables.push(("nodes".into(), nodes(plan, counts)));
    }
    if wants(RecordStream::Routers) {
        tables.push(("routers".into(), routers(plan, counts)));
    }
    if wants(RecordStream::Links) {
        tables.push(("links".into(), link_tables::links(plan, counts)));
    }
    if wants(RecordStream::LinkSeries) {
        tables.push(("link_series".into(), link_tables::link_series(plan, counts)));
    }
    if wants(RecordStream::Generation) {
        tables.push(("generation_series".into(), generation_series(plan, recorder)));
    }
    if wants(RecordStream::Occupancy) {
        tables.push(("occupancy".into(), link_tables::occupancy(plan, counts)));
    }
    if wants(RecordStream::InjectionWaits) {
        tables.push(("injection_waits".into(), injection_waits(plan, places)));
    }
    if wants(RecordStream::Waits) {
        tables.extend(link_tables::waits(plan, counts));
    }
    if let Some(packets) = places.links.as_ref().and_then(|links| links.waits.as_ref()?.packets.as_ref()) {
        tables.push(("packet_hops".into(), packets.table(plan)));
    }
    if let Some(congestion) = congestion {
        tables.extend(standing_tables::tables(plan, congestion));
    }
    if let Some(programs) = &recorder.programs {
        tables.extend(program_tables::tables(
            &plan.system.programs(),
            programs,
            &plan.experiment.measure.streams,
        ));
    }
    if wants(RecordStream::LatencyHistogram) {
        tables.push(("latency_histogram".into(), histogram(plan, recorder)));
    }
    if plan.experiment.measure.interval > 0 {
        tables.push(("timeseries".into(), timeseries(plan, recorder)));
    }
    tables
}

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

fn nodes(plan: &Plan, Counts { recorder, places, .. }: &Counts) -> Table {
    let (Some(counts), Some(sources)) = (&places.nodes, &recorder.sources) else { return Table::new() };
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
    let behind = nodes_behind(plan, (recorder, places));
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

fn routers(plan: &Plan, Counts { recorder, places, .. }: &Counts) -> Table {
    let (Some(counts), Some(sources)) = (&places.nodes, &recorder.sources) else { return Table::new() };
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

fn generation_series(plan: &Plan, recorder: &Recorder) -> Table {
    let interval = plan.experiment.measure.interval;
    let rows = &recorder.cohorts;
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
    vec![
        ("cycle".into(), Column::U32((0..series.len() as u32).map(|i| i * interval).collect())),
        ("generated".into(), Column::U32(series.iter().map(|r| r.generated).collect())),
        ("injected".into(), Column::U32(series.iter().map(|r| r.injected).collect())),
        ("delivered".into(), Column::U32(series.iter().map(|r| r.delivered).collect())),
        ("accepted_load".into(), Column::F64(rows.map(load).collect())),
        ("latency_mean".into(), Column::F64(series.iter().map(|r| mean(r.latency, r.delivered)).collect())),
    ]
}
