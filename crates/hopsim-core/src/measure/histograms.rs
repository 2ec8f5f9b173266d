//! Histograms in a snapshot: their values, as exactly as they tell them, and how often each was counted.

use hdrhistogram::Histogram;

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
