//! The series: one row for every interval of the run.

use super::{Run, Span, mean};
use crate::Life;
use hopsim_measure::{Column, Table};

impl Run<'_> {
    /// What happened in every interval.
    pub fn time_series_table(&self, jobs: &[usize]) -> Table {
        let rows = self.intervals();
        let count = |row: &Span, at: &dyn Fn(&Life) -> Option<u32>| {
            self.record.lives.iter().filter(|life| at(life).is_some_and(|at| row.holds(at))).count() as u32
        };
        let delivered = |row: &Span| -> Vec<&Life> {
            self.delivered().filter(|&(_, at)| row.holds(at)).map(|(life, _)| life).collect()
        };
        let load = |row: &Span| {
            let phits: u32 = delivered(row).iter().map(|life| life.length).sum();
            f64::from(phits) / (self.nodes_of(jobs) * row.cycles())
        };
        let latency = |row: &Span| {
            let latencies: Vec<u32> = delivered(row).iter().map(|life| life.latency()).collect();
            mean(&latencies).unwrap_or(f64::NAN)
        };
        vec![
            ("cycle".into(), Column::U32(rows.iter().map(|row| row.first).collect())),
            ("generated".into(), Column::U32(rows.iter().map(|row| count(row, &Life::generated)).collect())),
            (
                "injected".into(),
                Column::U32(rows.iter().map(|row| count(row, &|life| self.injected(life))).collect()),
            ),
            ("delivered".into(), Column::U32(rows.iter().map(|row| delivered(row).len() as u32).collect())),
            ("accepted_load".into(), Column::F64(rows.iter().map(load).collect())),
            ("latency_mean".into(), Column::F64(rows.iter().map(latency).collect())),
        ]
    }

    /// What became of the packets generated in every interval, of those delivered by the end of the run.
    pub fn generation_table(&self) -> Table {
        let (mut cycle, mut packets) = (vec![], vec![]);
        let (mut latency, mut misrouted) = (vec![], vec![]);
        for row in self.intervals() {
            let lives: Vec<&Life> = self
                .delivered()
                .map(|(life, _)| life)
                .filter(|life| row.holds(life.trace.generated))
                .collect();
            let mean_of = |value: &dyn Fn(&Life) -> u32| {
                mean(&lives.iter().map(|life| value(life)).collect::<Vec<u32>>()).unwrap_or(f64::NAN)
            };
            cycle.push(row.first);
            packets.push(lives.len() as u32);
            latency.push(mean_of(&|life| life.latency()));
            misrouted.push(mean_of(&|life| u32::from(self.misrouted(life).is_some())));
        }
        vec![
            ("cycle".into(), Column::U32(cycle)),
            ("packets".into(), Column::U32(packets)),
            ("latency_mean".into(), Column::F64(latency)),
            ("misrouted_fraction".into(), Column::F64(misrouted)),
        ]
    }
}
