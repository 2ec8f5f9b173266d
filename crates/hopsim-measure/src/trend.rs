//! Statistics of values in the order of time: whether they drift, how many independent ones they are worth, and where a
//! transient ends.

/// Values whose squared spread is below this share of their squared size are all the same but for rounding.
const ROUNDING: f64 = 1e-18;

/// Values that MSER takes together.
pub const MSER_BATCH: usize = 5;

/// Score beyond which values drift: 99.9 % of a normal distribution, both sides.
const DRIFTING: f64 = 3.291;

/// Drift over the values below which it does not matter.
const NEGLIGIBLE_DRIFT: f64 = 0.05;

/// What values in the order of time say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Slope by Theil and Sen (Sen 1968) times the number of values, over their mean.
    pub drift: f64,
    /// How many independent values the values are worth: n (1 − r) / (1 + r), r being the autocorrelation at lag 1 of what is
    /// left of the values without their slope, 0 where it is negative.
    pub effective: f64,
    /// Score of the test by Mann (1945) and Kendall, with the variance of so many independent values (Yue and Wang 2004).
    pub score: f64,
}

impl Trend {
    /// The trend of at least two values with a mean other than 0.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        if values.len() < 2 || mean == 0.0 {
            return None;
        }
        let slope = slope(values);
        let level: Vec<f64> =
            values.iter().enumerate().map(|(at, value)| value - slope * at as f64).collect();
        let correlation = autocorrelation(&level).max(0.0);
        let effective = n * (1.0 - correlation) / (1.0 + correlation);
        let variance = n * (n - 1.0) * (2.0 * n + 5.0) / 18.0 * n / effective;
        let rises = concordance(values) as f64;
        let score = rises.signum() * (rises.abs() - 1.0).max(0.0) / variance.sqrt();
        Some(Self { drift: slope * n / mean, effective, score })
    }

    /// Whether the values drift.
    pub fn is_drift(&self) -> bool {
        self.score.abs() > DRIFTING && self.drift.abs() > NEGLIGIBLE_DRIFT
    }
}

/// Pairs of values of which the later one is greater, less those of which it is smaller.
fn concordance(values: &[f64]) -> i64 {
    let pairs =
        values.iter().enumerate().flat_map(|(at, one)| values[at + 1..].iter().map(move |two| (one, two)));
    pairs.map(|(one, two)| i64::from(two > one) - i64::from(two < one)).sum()
}

/// Median of the slopes between all pairs of values.
fn slope(values: &[f64]) -> f64 {
    let mut slopes = Vec::with_capacity(values.len() * values.len() / 2);
    for (at, one) in values.iter().enumerate() {
        slopes
            .extend(values[at + 1..].iter().enumerate().map(|(apart, two)| (two - one) / (apart + 1) as f64));
    }
    let (middle, is_odd) = (slopes.len() / 2, slopes.len() % 2 == 1);
    let (below, &mut median, _) = slopes.select_nth_unstable_by(middle, f64::total_cmp);
    let before = below.iter().copied().max_by(f64::total_cmp);
    before.filter(|_| !is_odd).map_or(median, |before| f64::midpoint(before, median))
}

/// Autocorrelation at lag 1; 0 of values that are all the same.
fn autocorrelation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    if squares <= ROUNDING * values.len() as f64 * mean * mean {
        return 0.0;
    }
    values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>() / squares
}

/// How many of the values, a multiple of five and at most half of them, to leave out as a transient: MSER-5 (White 1997). The mean
/// of the others has the least standard error, of batches of five.
pub fn transient(values: &[f64]) -> usize {
    let batches: Vec<f64> =
        values.chunks_exact(MSER_BATCH).map(|batch| batch.iter().sum::<f64>() / MSER_BATCH as f64).collect();
    let mut best = (0, f64::INFINITY);
    for left_out in 0..=batches.len() / 2 {
        let rest = &batches[left_out..];
        if rest.is_empty() {
            break;
        }
        let mean = rest.iter().sum::<f64>() / rest.len() as f64;
        let squares: f64 = rest.iter().map(|value| (value - mean).powi(2)).sum();
        let is_flat = squares <= ROUNDING * rest.len() as f64 * mean * mean;
        let error = if is_flat { 0.0 } else { squares / (rest.len() * rest.len()) as f64 };
        if error < best.1 {
            best = (left_out, error);
        }
    }
    best.0 * MSER_BATCH
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values without a trend: those of a generator by Lehmer, all different.
    fn noise(count: usize) -> Vec<f64> {
        let next = |state: &u64| Some(state * 48271 % 2_147_483_647);
        std::iter::successors(Some(1), next)
            .skip(10)
            .take(count)
            .map(|state| state as f64 / 2_147_483_647.0)
            .collect()
    }

    #[test]
    fn a_line_drifts_and_the_score_is_that_of_all_pairs() {
        let line: Vec<f64> = (1..=10).map(f64::from).collect();
        let trend = Trend::of(&line).unwrap();
        assert!((trend.drift - 10.0 / 5.5).abs() < 1e-12);
        // Without the slope nothing is left; 45 pairs, variance 125.
        assert_eq!((trend.effective, trend.score), (10.0, 44.0 / 125f64.sqrt()));
        let back: Vec<f64> = line.into_iter().rev().collect();
        assert!((Trend::of(&back).unwrap().score + trend.score).abs() < 1e-12);
    }

    #[test]
    fn independent_values_are_worth_themselves_and_repeated_ones_less() {
        let noise = noise(100);
        let trend = Trend::of(&noise).unwrap();
        assert!(trend.effective > 70.0 && trend.score.abs() < 3.0, "{trend:?}");
        let repeated: Vec<f64> = noise[..10].iter().flat_map(|&value| [value; 10]).collect();
        let trend = Trend::of(&repeated).unwrap();
        assert!(trend.effective < 12.0 && trend.score.abs() < 3.0, "{trend:?}");
        assert_eq!(Trend::of(&[2.0; 9]).unwrap(), Trend { drift: 0.0, effective: 9.0, score: 0.0 });
        assert_eq!(Trend::of(&[1.0]), None);
    }

    #[test]
    fn a_transient_ends_where_the_rest_is_alike() {
        let mut values: Vec<f64> = noise(80).into_iter().map(|value| 10.0 + value).collect();
        assert!(transient(&values).is_multiple_of(5) && transient(&values) <= 40);
        values.splice(0..0, (0..20).map(|at| 100.0 - 4.0 * f64::from(at)));
        assert!((20..=50).contains(&transient(&values)), "{}", transient(&values));
        assert_eq!(transient(&[3.0; 4]), 0);
        assert_eq!(transient(&[1.0 / 3.0; 100]), 0);
    }
}
