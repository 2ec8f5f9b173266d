//! Percentiles and the histogram of latencies.

use super::Run;
use hopsim_measure::{Column, Table};
use std::collections::BTreeMap;

/// Bins at and above this latency are wider than a cycle \[cycles\].
const EXACT: u32 = 2048;

/// The bin of a latency, both ends included: as many powers of two wide as keep the number of its bin below [`EXACT`].
pub fn bin(latency: u32) -> (u32, u32) {
    let mut width = 1;
    while latency / width >= EXACT {
        width *= 2;
    }
    let first = latency / width * width;
    (first, first + width - 1)
}

/// The upper end of the bin of the least latency that so many per cent of the packets do not exceed, but no more than the
/// greatest latency.
pub fn percentile(latencies: &[u32], per_cent: usize) -> Option<f64> {
    let mut sorted = latencies.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() * per_cent).div_ceil(100).max(1);
    let (_, upper) = bin(*sorted.get(rank - 1)?);
    sorted.last().map(|&greatest| f64::from(upper.min(greatest)))
}

impl Run<'_> {
    pub fn histogram_table(&self) -> Table {
        let (mut job, mut from, mut to, mut packets) = (vec![], vec![], vec![], vec![]);
        for (number, plan) in self.plan.system.jobs.iter().enumerate() {
            let mut bins: BTreeMap<(u32, u32), u64> = BTreeMap::new();
            for (life, at) in self.delivered() {
                if life.job(self.plan) == number && self.window().holds(at) {
                    *bins.entry(bin(life.latency())).or_default() += 1;
                }
            }
            for ((first, last), count) in bins {
                job.push(plan.name().to_owned());
                from.push(first.into());
                to.push(last.into());
                packets.push(count);
            }
        }
        vec![
            ("job".into(), Column::Text(job)),
            ("latency_from".into(), Column::U64(from)),
            ("latency_to".into(), Column::U64(to)),
            ("packets".into(), Column::U64(packets)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_a_cycle_wide_up_to_2047_and_a_tenth_of_a_per_cent_above() {
        assert_eq!(
            [bin(0), bin(2047), bin(2048), bin(4095)],
            [(0, 0), (2047, 2047), (2048, 2049), (4094, 4095)]
        );
        assert_eq!(bin(4099), (4096, 4099));
        assert!(
            (1..100_000)
                .all(|latency| f64::from(bin(latency).1 - bin(latency).0) <= 0.001 * f64::from(latency))
        );
    }

    #[test]
    fn a_percentile_is_the_least_value_that_so_many_do_not_exceed() {
        let upto = |last: u32| (1..=last).rev().collect::<Vec<u32>>();
        assert_eq!(percentile(&upto(100), 99), Some(99.0));
        assert_eq!(percentile(&upto(101), 99), Some(100.0));
        assert_eq!(percentile(&upto(4), 50), Some(2.0));
        assert_eq!(percentile(&upto(1), 50), Some(1.0));
        assert_eq!(percentile(&[4096, 4097], 50), Some(4097.0));
        assert_eq!(percentile(&[], 50), None);
    }
}
