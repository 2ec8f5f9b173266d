//! Counters in a snapshot: sums, so those of several threads are added.

use crate::histograms::counted;
use crate::parts::PartTotals;
use crate::programs::ProgramCountsState;
use crate::recorder::{Interval, Recorder, StreamCounts, Totals};
use serde::{Deserialize, Serialize};

/// What a run has counted. Where it counts follows from the cycle.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RecorderState {
    totals: Vec<Totals>,
    by_part: Vec<PartTotals>,
    /// Latencies and how often they were counted, by job.
    histograms: Vec<Vec<(u64, u64)>>,
    series: Vec<Interval>,
    streams: StreamCounts,
    lifetime: (u64, u64),
    bursts: Vec<Vec<u32>>,
    programs: Option<ProgramCountsState>,
}

impl Recorder {
    /// What this thread has counted.
    pub fn save(&self) -> RecorderState {
        let Self {
            start: _,
            cycles: _,
            batch_length: _,
            batches: _,
            present: _,
            row: _,
            tenth: _,
            rows: _,
            jobs: _,
            totals,
            parts: _,
            by_part,
            histograms,
            series,
            streams,
            interval: _,
            rows_end: _,
            lifetime,
            bursts,
            programs,
            links: _,
            #[cfg(feature = "trace")]
                tracer: _,
        } = self;
        RecorderState {
            totals: totals.clone(),
            by_part: by_part.clone(),
            histograms: histograms.iter().map(|latencies| counted(&latencies.histogram())).collect(),
            series: series.clone(),
            streams: streams.clone(),
            lifetime: *lifetime,
            bursts: bursts.clone(),
            programs: programs.as_ref().map(|programs| programs.save()),
        }
    }

    /// Adds what was counted before, in the same window.
    pub fn load(&mut self, state: &RecorderState) {
        self.load_life(state);
        let RecorderState { totals, by_part, histograms, streams, bursts, programs, .. } = state;
        for (sum, totals) in self.totals.iter_mut().zip(totals) {
            sum.add(totals);
        }
        for (sum, before) in self.by_part.iter_mut().zip(by_part) {
            sum.add(before);
        }
        self.histograms.iter_mut().zip(histograms).for_each(|(sum, counted)| sum.count_again(counted));
        if let (Some(sum), Some(programs)) = (&mut self.programs, programs) {
            sum.load(programs);
        }
        self.streams.add(streams);
        for (all, bursts) in self.bursts.iter_mut().zip(bursts) {
            all.extend(bursts);
        }
    }

    /// Adds what was counted before whatever the window.
    pub fn load_life(&mut self, state: &RecorderState) {
        let RecorderState { series, streams, lifetime, .. } = state;
        // Nobody knows beforehand how long programs take.
        if self.programs.is_some() {
            self.series.resize(self.series.len().max(series.len()), Interval::default());
        }
        for (row, before) in self.series.iter_mut().zip(series) {
            row.add(before);
        }
        self.streams.add_life(streams);
        self.lifetime.0 += lifetime.0;
        self.lifetime.1 += lifetime.1;
    }
}
