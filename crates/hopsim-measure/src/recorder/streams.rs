//! What record streams count of the packets delivered, beside the sums that every run has.

use hopsim_cycles::kernel::packet::Packet;
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::plan::Plan;
use serde::{Deserialize, Serialize};

/// The counters of record streams: sums over the packets delivered, each there if a stream asks for it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StreamCounts {
    /// Counts by source.
    pub sources: Option<SourceCounts>,
    /// Packets in rows by cycle of generation.
    pub cohorts: Vec<Cohort>,
}

impl StreamCounts {
    /// Empty counters, with so many rows of intervals.
    pub fn new(plan: &Plan, rows: usize) -> Self {
        let wants = |stream| plan.experiment.measure.streams.contains(&stream);
        let nodes = plan.system.network.nodes as usize;
        Self {
            sources: (wants(RecordStream::Nodes) || wants(RecordStream::Routers))
                .then(|| SourceCounts { received: vec![0; nodes], latency: vec![0; nodes] }),
            cohorts: vec![Cohort::default(); if wants(RecordStream::Generation) { rows } else { 0 }],
        }
    }

    /// Counts a packet that is delivered in the window.
    #[inline]
    pub fn delivered(&mut self, packet: &Packet, latency: u32) {
        if let Some(sources) = &mut self.sources {
            sources.received[packet.source as usize] += 1;
            sources.latency[packet.source as usize] += u64::from(latency);
        }
    }

    /// Counts a packet that is delivered in any interval of the run, of `interval` cycles each.
    #[inline]
    pub fn delivered_in_series(&mut self, packet: &Packet, latency: u32, interval: u32) {
        if let Some(cohort) = self.cohorts.get_mut((packet.generated / interval) as usize) {
            cohort.packets += 1;
            cohort.misrouted += u32::from(packet.route.misrouted());
            cohort.latency += u64::from(latency);
        }
    }

    /// Adds what others have counted in the window.
    pub fn add(&mut self, other: &Self) {
        if let (Some(sources), Some(other)) = (&mut self.sources, &other.sources) {
            sources.add(other);
        }
    }

    /// Adds what others have counted whatever the window.
    pub fn add_life(&mut self, other: &Self) {
        for (row, other) in self.cohorts.iter_mut().zip(&other.cohorts) {
            row.add(other);
        }
    }

    /// The run has ended, and with it so many rows of intervals.
    pub fn close(&mut self, rows: usize) {
        if !self.cohorts.is_empty() {
            self.cohorts.resize(rows, Cohort::default());
        }
    }
}

/// Counts of delivered packets by the node that sent them, which may be in another region than the one that receives them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SourceCounts {
    /// Packets delivered, by the node that sent them.
    pub received: Vec<u32>,
    /// Sum of the latencies of the packets delivered, by the node that sent them \[cycles\].
    pub latency: Vec<u64>,
}

impl SourceCounts {
    fn add(&mut self, other: &Self) {
        self.received.iter_mut().zip(&other.received).for_each(|(sum, other)| *sum += other);
        self.latency.iter_mut().zip(&other.latency).for_each(|(sum, other)| *sum += other);
    }
}

/// Packets generated in an interval and delivered at any time.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Cohort {
    /// How many packets there are.
    pub packets: u32,
    /// Packets that left the minimal path.
    pub misrouted: u32,
    /// Sum of the latencies of the packets \[cycles\].
    pub latency: u64,
}

impl Cohort {
    fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.misrouted += other.misrouted;
        self.latency += other.latency;
    }
}
