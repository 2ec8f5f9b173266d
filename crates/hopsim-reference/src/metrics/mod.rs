//! The metrics of a run, computed a second time: plain loops over the lives of all packets, written from the section
//! *Measurement* of `docs/model.md` and not from the counters of the engine.

mod fairness;
mod flit_hops;
mod interval;
mod links;
mod packet;
mod packet_hops;
mod percentile;
mod programs;
mod series;
mod standing;
mod stop;
mod summary;
mod tables;
mod verdict;
mod waiting;

use crate::Record;
use crate::routing::ways::Ways;
use hopsim_core::engine::Outcome;
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::plan::Plan;
use hopsim_measure::{Column, Table};
pub use programs::{messages_table, operations_table, ranks_table, sizes_table};
pub use stop::{Stopped, stopped};
pub use summary::COSTS;
pub use verdict::{Names, Observed, Part, Shortfall, Source};

/// Cycles from `first` up to `end`, without it.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: u32,
    end: u32,
}

impl Span {
    fn holds(self, cycle: u32) -> bool {
        (self.first..self.end).contains(&cycle)
    }

    fn cycles(self) -> f64 {
        f64::from(self.end - self.first)
    }
}

/// A run: what it was to do, and what became of its packets.
struct Run<'a> {
    plan: &'a Plan,
    record: &'a Record,
    ways: Ways,
}

impl Run<'_> {
    /// The measurement window.
    fn window(&self) -> Span {
        let measure = &self.plan.experiment.measure;
        Span { first: measure.warmup.cycles(), end: measure.warmup.cycles() + measure.cycles }
    }

    /// The equal parts of the window; the last one takes what is left over.
    fn batches(&self) -> Vec<Span> {
        self.parts_of_batches(1)
    }

    /// Parts of the window that are so many batches long each; the last one takes what is left over.
    fn parts_of_batches(&self, each: u32) -> Vec<Span> {
        let (window, batches) = (self.window(), self.plan.experiment.measure.batches);
        let (count, length) = (batches / each, (window.end - window.first) / batches * each);
        let part = |number: u32| {
            let first = window.first + number * length;
            Span { first, end: if number == count - 1 { window.end } else { first + length } }
        };
        (0..count).map(part).collect()
    }

    /// The divisions of the window that an interval is the widest of: into batches, and into parts of 2, 4, 8, … of them, five or more.
    fn divisions(&self) -> Vec<Vec<Span>> {
        let batches = self.plan.experiment.measure.batches;
        let powers = (1..32).map(|power| 1 << power).take_while(|each| batches / each >= 5);
        std::iter::once(1).chain(powers).map(|each| self.parts_of_batches(each)).collect()
    }

    /// The rows of the series: every interval of the whole run; the last one ends with it.
    fn intervals(&self) -> Vec<Span> {
        let (interval, end) = (self.plan.experiment.measure.interval, self.window().end);
        let mut rows = Vec::new();
        let mut first = 0;
        while interval > 0 && first < end {
            rows.push(Span { first, end: end.min(first + interval) });
            first += interval;
        }
        rows
    }

    /// Nodes of some jobs.
    fn nodes_of(&self, jobs: &[usize]) -> f64 {
        jobs.iter().map(|&job| self.plan.system.jobs[job].nodes().len()).sum::<usize>() as f64
    }
}

/// Mean of whole numbers, `None` of none.
fn mean(values: &[u32]) -> Option<f64> {
    let sum: u64 = values.iter().copied().map(u64::from).sum();
    (!values.is_empty()).then(|| sum as f64 / values.len() as f64)
}

/// What was asked of the allocator of every router.
fn allocation_table(record: &Record) -> Table {
    let of = |value: &dyn Fn(&(u64, u64)) -> u64| Column::U64(record.allocations.iter().map(value).collect());
    let share = |&(requests, grants): &(u64, u64)| grants as f64 / requests as f64;
    vec![
        ("router".into(), Column::U32((0..record.allocations.len() as u32).collect())),
        ("requests".into(), of(&|row| row.0)),
        ("grants".into(), of(&|row| row.1)),
        ("grant_fraction".into(), Column::F64(record.allocations.iter().map(share).collect())),
    ]
}

/// What a run measured.
pub fn outcome(plan: &Plan, record: &Record) -> Outcome {
    let run = Run { plan, record, ways: Ways::new(plan) };
    let all: Vec<usize> = (0..plan.system.jobs.len()).collect();
    let mut tables = vec![("batches", run.batches_table(&all))];
    for &stream in &plan.experiment.measure.streams {
        tables.push(match stream {
            RecordStream::Nodes => ("nodes", run.nodes_table()),
            RecordStream::Routers => ("routers", run.routers_table()),
            RecordStream::Links => ("links", run.links_table()),
            RecordStream::CongestionTrees => {
                tables.extend(run.congestion_tables());
                continue;
            }
            RecordStream::Waits => {
                tables.extend([("waits", run.link_waits_table()), ("flow_waits", run.flow_waits_table())]);
                continue;
            }
            RecordStream::PacketHops => ("packet_hops", run.packet_hops_table()),
            RecordStream::FlitHops => ("flit_hops", run.flit_hops_table()),
            RecordStream::LinkSeries => ("link_series", run.link_series_table()),
            RecordStream::Generation => ("generation_series", run.generation_table()),
            RecordStream::Occupancy => ("occupancy", run.occupancy_table()),
            RecordStream::Allocation => ("allocation", allocation_table(record)),
            RecordStream::OutputQueues => ("output_queues", run.output_queues_table()),
            RecordStream::InjectionWaits => ("injection_waits", run.waits_table()),
            RecordStream::Ranks => ("ranks", programs::ranks_table(plan, &record.programs)),
            RecordStream::Messages => ("messages", programs::messages_table(plan, &record.programs)),
            RecordStream::Operations => ("operations", programs::operations_table(plan, &record.programs)),
            RecordStream::MessageSizes => ("message_sizes", programs::sizes_table(plan, &record.programs)),
            RecordStream::LatencyHistogram => ("latency_histogram", run.histogram_table()),
            RecordStream::Flows
            | RecordStream::FlowSizes
            | RecordStream::FlowSeries
            | RecordStream::QueueSeries
            | RecordStream::Victims => {
                unreachable!("refused beside routers with VCs")
            }
        });
    }
    if plan.experiment.measure.interval > 0 {
        tables.push(("timeseries", run.time_series_table(&all)));
    }
    Outcome {
        summary: run.summary(&all),
        jobs: all.iter().map(|&job| run.summary_of_job(job)).collect(),
        tables: tables.into_iter().map(|(name, table)| (name.to_owned(), table)).collect(),
    }
}
