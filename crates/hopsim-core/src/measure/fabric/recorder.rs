//! What is counted while a fabric runs.

use super::series::Series;
use crate::config::measure::RecordStream;
use crate::plan::fabric::{FabricPlan, Span};
use hdrhistogram::Histogram;
use hopsim_infiniband::observer::{Observer, Sent};
use hopsim_infiniband::time::Ticks;

/// What is counted of a flow in the window.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Data packets that its host began to send.
    pub sent: u64,
    /// Data packets delivered.
    pub delivered: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Data packets that a switch marked.
    pub marked: u64,
    /// Notifications that have come back to its source.
    pub notifications: u64,
    /// Sum of the latencies of the packets delivered \[ticks\].
    pub latency: u128,
    /// The greatest of them \[ticks\].
    pub greatest: Ticks,
}

impl Counts {
    /// Adds those of another flow.
    pub fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.delivered += other.delivered;
        self.bytes += other.bytes;
        self.marked += other.marked;
        self.notifications += other.notifications;
        self.latency += other.latency;
        self.greatest = self.greatest.max(other.greatest);
    }
}

/// Hears what happens and counts it.
#[derive(Debug)]
pub struct Recorder {
    span: Span,
    ticks_per_ns: u64,
    /// By flow.
    pub flows: Vec<Counts>,
    /// Latencies by job \[ns\].
    pub by_job: Vec<Histogram<u64>>,
    /// Latencies by flow \[ns\]; empty if nobody asks.
    pub by_flow: Vec<Histogram<u64>>,
    job_of: Vec<usize>,
    /// Interval by interval, if asked for.
    pub series: Option<Box<Series>>,
}

impl Recorder {
    /// Nothing yet.
    pub fn new(plan: &FabricPlan) -> Self {
        // Three significant digits; the bound is raised automatically.
        let histogram = || Histogram::new(3).unwrap_or_else(|_| unreachable!("3 digits are supported"));
        let has_flows = plan.experiment.measure.streams.contains(&RecordStream::Flows);
        Self {
            span: plan.span,
            ticks_per_ns: plan.fabric.ticks_per_ns,
            flows: vec![Counts::default(); plan.flows.len()],
            by_job: plan.jobs.iter().map(|_| histogram()).collect(),
            by_flow: (0..if has_flows { plan.flows.len() } else { 0 }).map(|_| histogram()).collect(),
            job_of: plan.names.iter().map(|flow| flow.job).collect(),
            series: plan.span.interval.map(|_| Box::new(Series::new(plan))),
        }
    }

    /// The counts of a flow, if they count at this time.
    fn counts(&mut self, at: Ticks, flow: usize) -> Option<&mut Counts> {
        (self.span.warmup..self.span.end).contains(&at).then(|| &mut self.flows[flow])
    }
}

impl Observer for Recorder {
    fn sent(&mut self, at: Ticks, packet: Sent) {
        if let Some(counts) = self.counts(at, packet.flow as usize).filter(|_| !packet.is_notification) {
            counts.sent += 1;
        }
    }

    fn granted(&mut self, _at: Ticks, packet: Sent, _input: u32, output: u32) {
        if let Some(series) = &mut self.series {
            series.granted(packet, output);
        }
    }

    fn marked(&mut self, at: Ticks, packet: Sent, _output: u32) {
        if let Some(counts) = self.counts(at, packet.flow as usize) {
            counts.marked += 1;
        }
        if let Some(series) = &mut self.series {
            series.open[packet.flow as usize].marked += 1;
        }
    }

    fn delivered(&mut self, at: Ticks, packet: Sent, sent: Ticks, _marked: bool) {
        let (flow, latency) = (packet.flow as usize, at - sent);
        if let Some(series) = &mut self.series {
            series.delivered(packet);
        }
        let nanoseconds = latency / self.ticks_per_ns;
        let Some(counts) = self.counts(at, flow) else { return };
        if packet.is_notification {
            counts.notifications += 1;
            return;
        }
        counts.delivered += 1;
        counts.bytes += u64::from(packet.bytes);
        counts.latency += u128::from(latency);
        counts.greatest = counts.greatest.max(latency);
        self.by_job[self.job_of[flow]] += nanoseconds;
        if let Some(histogram) = self.by_flow.get_mut(flow) {
            *histogram += nanoseconds;
        }
    }
}
