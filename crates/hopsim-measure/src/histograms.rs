//! Histograms of latencies, and what a snapshot knows of histograms: their values, as exactly as they tell them, and how often
//! each was counted.

use hdrhistogram::Histogram;

/// Latency below which a histogram of three digits has bars one cycle wide \[cycles\].
const SHORT: usize = 2048;

/// Latencies \[cycles\] and how often each was counted, as in a [`Histogram`] of three digits. Most are short, and counted where
/// that takes one addition.
#[derive(Clone, Debug)]
pub struct Latencies {
    short: Vec<u64>,
    long: Histogram<u64>,
}

impl Default for Latencies {
    fn default() -> Self {
        // The bound is raised automatically.
        let long = Histogram::new(3).unwrap_or_else(|_| unreachable!("3 digits are supported"));
        Self { short: vec![0; SHORT], long }
    }
}

impl Latencies {
    /// Counts a latency.
    #[inline]
    pub fn count(&mut self, latency: u32) {
        match self.short.get_mut(latency as usize) {
            Some(count) => *count += 1,
            None => self.long += u64::from(latency),
        }
    }

    /// Adds what another has counted.
    pub fn add(&mut self, other: &Self) {
        self.short.iter_mut().zip(&other.short).for_each(|(sum, count)| *sum += count);
        self.long += &other.long;
    }

    /// All latencies in one histogram.
    pub fn histogram(&self) -> Histogram<u64> {
        let mut all = self.long.clone();
        let short = (0..).zip(self.short.iter().copied());
        count_again(&mut all, &short.filter(|&(_, count)| count > 0).collect::<Vec<_>>());
        all
    }

    /// Adds what was counted before.
    pub fn count_again(&mut self, counted: &[(u64, u64)]) {
        for &(latency, count) in counted {
            match self.short.get_mut(latency as usize) {
                Some(sum) => *sum += count,
                None => count_again(&mut self.long, &[(latency, count)]),
            }
        }
    }
}

/// What a histogram has counted.
pub fn counted(histogram: &Histogram<u64>) -> Vec<(u64, u64)> {
    let buckets = histogram.iter_recorded();
    buckets.map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value())).collect()
}

/// Adds what was counted before.
pub fn count_again(histogram: &mut Histogram<u64>, counted: &[(u64, u64)]) {
    for &(value, count) in counted {
        let recorded = histogram.record_n(value, count);
        debug_assert!(recorded.is_ok(), "the histogram grows by itself");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(latencies: &[u32]) -> Histogram<u64> {
        let mut all = Histogram::new(3).unwrap();
        for &latency in latencies {
            all += u64::from(latency);
        }
        all
    }

    #[test]
    fn latencies_are_those_of_one_histogram_however_they_were_counted() {
        let (some, others) =
            ([0, 1, 130, 2047, 2048, 2049, 2050, 70_000], [1, 2046, 2047, 4095, 4096, u32::MAX]);
        let expected = histogram(&[&some[..], &others].concat());
        let counted_here = |latencies: &[u32]| {
            let mut here = Latencies::default();
            for &latency in latencies {
                here.count(latency);
            }
            here
        };
        let mut all = counted_here(&some);
        all.add(&counted_here(&others));
        let mut again = counted_here(&others);
        again.count_again(&counted(&histogram(&some)));
        for all in [all, again] {
            assert_eq!(all.histogram(), expected);
            assert_eq!(counted(&all.histogram()), counted(&expected));
        }
        assert_eq!(counted_here(&[]).histogram(), histogram(&[]));
    }

    #[test]
    fn short_latencies_have_bars_of_their_own() {
        let short: Vec<u32> = (0..SHORT as u32).collect();
        let bars = counted(&histogram(&short));
        assert_eq!(bars, short.iter().map(|&latency| (u64::from(latency), 1)).collect::<Vec<_>>());
    }
}
