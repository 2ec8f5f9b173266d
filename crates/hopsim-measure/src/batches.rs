//! Confidence intervals over the batches of a window: the widest of those over the batches and over neighbours taken together. Where
//! batches are too short to be independent of each other the longer ones are less so, and have a wider interval.

use super::statistics::half_width_95;

/// Fewest batches that an interval is taken over if neighbours are taken together.
const FEWEST: usize = 5;

/// The batches, and neighbours taken together: pairs, fours and so on, as long as there are enough. The last one takes what is left.
pub fn levels<T: Clone>(batches: Vec<T>, append: impl Fn(&mut T, &T)) -> Vec<Vec<T>> {
    let mut levels = vec![batches];
    loop {
        let below = &levels[levels.len() - 1];
        let count = below.len() / 2;
        if count < FEWEST {
            return levels;
        }
        let mut merged: Vec<T> = below.iter().step_by(2).take(count).cloned().collect();
        for (number, batch) in
            below.iter().enumerate().filter(|(number, _)| number % 2 == 1 || number / 2 == count)
        {
            append(&mut merged[(number / 2).min(count - 1)], batch);
        }
        levels.push(merged);
    }
}

/// Half width of the 95 % confidence interval of a metric: the widest of all levels; `None` if the metric has no value in some batch, or
/// there is one batch only.
pub fn half_width<T>(levels: &[Vec<T>], metric: impl Fn(&T) -> Option<f64>) -> Option<f64> {
    let widths = levels.iter().map(|level| {
        let values: Option<Vec<f64>> = level.iter().map(&metric).collect();
        half_width_95(&values?)
    });
    widths.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums of so many batches, of 1, 2, 4, 8, … each, by level.
    fn sums(count: usize) -> Vec<Vec<u32>> {
        levels((0..count).map(|number| 1 << number).collect(), |sum, batch| *sum += batch)
    }

    #[test]
    fn pairs_fours_and_so_on_are_taken_together_while_five_remain() {
        for few in [1, 2, 5, 9] {
            assert_eq!(sums(few).len(), 1, "{few}");
        }
        let pairs = [0b11, 0b11 << 2, 0b11 << 4, 0b11 << 6];
        assert_eq!(sums(10)[1..], [[&pairs[..], &[0b11 << 8]].concat()]);
        assert_eq!(sums(11)[1..], [[&pairs[..], &[0b111 << 8]].concat()]);
        let lengths = |count| sums(count).iter().map(Vec::len).collect::<Vec<usize>>();
        assert_eq!([lengths(20), lengths(23)], [vec![20, 10, 5], vec![23, 11, 5]]);
        let fours = vec![0b1111, 0b1111 << 4, 0b1111 << 8, 0b1111 << 12, 0b111_1111 << 16];
        assert_eq!(sums(23)[2], fours);
    }

    #[test]
    fn an_interval_is_the_widest() {
        let means = |values: [f64; 10]| {
            levels(values.map(|value| (value, 1.0)).to_vec(), |sum, batch| {
                *sum = (sum.0 + batch.0, sum.1 + batch.1);
            })
        };
        let mean = |&(sum, count): &(f64, f64)| Some(sum / count);
        // Batches that go up and down say nothing in pairs, those that stay up and down say more.
        let by_turns = [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0];
        assert_eq!(half_width(&means(by_turns), mean), half_width_95(&by_turns));
        let in_pairs = [1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0];
        assert_eq!(half_width(&means(in_pairs), mean), half_width_95(&[1.0, 2.0, 1.0, 2.0, 1.0]));
        assert_eq!(half_width(&means(in_pairs), |batch| (batch.0 > 1.5).then_some(1.0)), None);
        assert_eq!(half_width(&levels(vec![1.0], |_, _| ()), |&value| Some(value)), None);
    }
}
