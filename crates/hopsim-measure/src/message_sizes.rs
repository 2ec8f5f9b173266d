//! The latencies of messages by size.

use super::{Column, Table};
use crate::histograms::{count_again, counted};
use hdrhistogram::Histogram;
use hopsim_programs::job::Programs;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Largest message of the first class \[bytes\]; that of each other class is four times that of the one before.
const FIRST: u64 = 64;

/// Messages of a class.
struct Class {
    bytes: u64,
    latency: u64,
    greatest: u64,
    histogram: Histogram<u64>,
}

impl Class {
    fn new() -> Self {
        // Three significant digits; the bound is raised automatically.
        let histogram = Histogram::new(3).unwrap_or_else(|_| unreachable!("3 digits are supported"));
        Self { bytes: 0, latency: 0, greatest: 0, histogram }
    }

    fn messages(&self) -> u64 {
        self.histogram.len()
    }

    fn quantile(&self, quantile: f64) -> u64 {
        self.histogram.value_at_quantile(quantile).min(self.greatest)
    }
}

/// The messages of every job.
pub struct MessageSizes {
    /// Messages by job and class.
    jobs: Vec<BTreeMap<u32, Class>>,
}

/// The messages of every job in a snapshot, by job and class.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MessageSizesState(Vec<BTreeMap<u32, ClassState>>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct ClassState {
    bytes: u64,
    latency: u64,
    greatest: u64,
    /// Latencies and how often they were counted.
    counted: Vec<(u64, u64)>,
}

impl MessageSizes {
    /// What was counted.
    pub fn save(&self) -> MessageSizesState {
        let state = |class: &Class| {
            let Class { bytes, latency, greatest, histogram } = class;
            ClassState { bytes: *bytes, latency: *latency, greatest: *greatest, counted: counted(histogram) }
        };
        let Self { jobs } = self;
        let job = |classes: &BTreeMap<u32, Class>| {
            classes.iter().map(|(&number, class)| (number, state(class))).collect()
        };
        MessageSizesState(jobs.iter().map(job).collect())
    }

    /// Adds what was counted before.
    pub fn load(&mut self, state: &MessageSizesState) {
        for (classes, before) in self.jobs.iter_mut().zip(&state.0) {
            for (&number, ClassState { bytes, latency, greatest, counted }) in before {
                let class = classes.entry(number).or_insert_with(Class::new);
                class.bytes += bytes;
                class.latency += latency;
                class.greatest = class.greatest.max(*greatest);
                count_again(&mut class.histogram, counted);
            }
        }
    }

    /// No messages yet, of so many jobs.
    pub fn new(jobs: usize) -> Self {
        Self { jobs: (0..jobs).map(|_| BTreeMap::new()).collect() }
    }

    /// A message of a job has arrived.
    pub fn message(&mut self, job: usize, bytes: u64, latency: u64) {
        let class = self.jobs[job].entry(class(bytes)).or_insert_with(Class::new);
        class.bytes += bytes;
        class.latency += latency;
        class.greatest = class.greatest.max(latency);
        class.histogram += latency;
    }

    /// Adds other messages of the same jobs.
    pub fn add(&mut self, other: Self) {
        for (classes, other) in self.jobs.iter_mut().zip(other.jobs) {
            for (number, other) in other {
                let class = classes.entry(number).or_insert_with(Class::new);
                class.bytes += other.bytes;
                class.latency += other.latency;
                class.greatest = class.greatest.max(other.greatest);
                class.histogram += &other.histogram;
            }
        }
    }

    /// One row per job and class that has messages.
    pub fn table(&self, programs: &Programs<'_>) -> Table {
        let jobs = programs.jobs.iter().copied().zip(&self.jobs);
        let rows: Vec<(&str, u32, &Class)> = jobs
            .flat_map(|(job, classes)| classes.iter().map(move |(&number, class)| (job, number, class)))
            .collect();
        let column = |of: &dyn Fn(&Class) -> u64| Column::U64(rows.iter().map(|row| of(row.2)).collect());
        let mean = |class: &Class| class.latency as f64 / class.messages() as f64;
        vec![
            ("job".into(), Column::Text(rows.iter().map(|row| row.0.to_owned()).collect())),
            ("bytes_from".into(), Column::U64(rows.iter().map(|row| least(row.1)).collect())),
            ("bytes_to".into(), Column::U64(rows.iter().map(|row| greatest(row.1)).collect())),
            ("messages".into(), column(&Class::messages)),
            ("bytes".into(), column(&|class| class.bytes)),
            ("latency_mean".into(), Column::F64(rows.iter().map(|row| mean(row.2)).collect())),
            ("latency_p50".into(), column(&|class| class.quantile(0.5))),
            ("latency_p99".into(), column(&|class| class.quantile(0.99))),
            ("latency_max".into(), column(&|class| class.greatest)),
        ]
    }
}

/// The first class whose largest message is as large.
pub fn class(bytes: u64) -> u32 {
    let bits = u64::BITS - bytes.saturating_sub(1).leading_zeros();
    (bits + 1).saturating_sub(FIRST.ilog2()) / 2
}

/// Bytes of the largest message of a class.
pub fn greatest(class: u32) -> u64 {
    FIRST.saturating_mul(4u64.saturating_pow(class))
}

/// Bytes of the smallest message of a class.
pub fn least(class: u32) -> u64 {
    class.checked_sub(1).map_or(0, |smaller| greatest(smaller) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_in_one_class() {
        for bytes in (0..5000).chain([1 << 40, u64::MAX]) {
            let number = class(bytes);
            assert!(least(number) <= bytes && bytes <= greatest(number), "{bytes} in class {number}");
        }
        assert_eq!([least(1), greatest(1), least(2), greatest(2)], [65, 256, 257, 1024]);
    }

    #[test]
    fn no_quantile_of_latencies_is_above_the_greatest() {
        // A class of three digits would say 100,031.
        let mut sizes = MessageSizes::new(1);
        sizes.message(0, 8, 100_001);
        let only = &sizes.jobs[0][&0];
        assert_eq!([only.quantile(0.5), only.quantile(0.99)], [100_001, 100_001]);
    }
}
