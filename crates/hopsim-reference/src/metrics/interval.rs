//! Confidence intervals: Student's t from the closed form of its distribution.

/// Probability that the absolute value of Student's t with `freedom` degrees of freedom is below `t`: the finite sums of
/// Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.3 and 26.7.4.
fn within(t: f64, freedom: u32) -> f64 {
    let angle = (t / f64::from(freedom).sqrt()).atan();
    let (sin, cos) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    // Terms cos^k times 2/3 · 4/5 … (odd) or 1/2 · 3/4 … (even), k odd up to freedom − 2, or even.
    let mut term = if odd { cos } else { 1.0 };
    let mut sum = 0.0;
    let mut power = u32::from(odd);
    while power + 2 <= freedom {
        sum += term;
        term *= cos * cos * f64::from(power + 1) / f64::from(power + 2);
        power += 2;
    }
    if odd { std::f64::consts::FRAC_2_PI * (angle + sin * sum) } else { sin * sum }
}

/// The value that Student's t exceeds with probability 2.5 %, by bisection.
fn quantile_975(freedom: u32) -> f64 {
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if within(middle, freedom) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Half width of the 95 % confidence interval of the mean of independent values; `None` of fewer than two.
pub fn half_width(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some(quantile_975(values.len() as u32 - 1) * (squares / (n - 1.0)).sqrt() / n.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_printed_tables() {
        // Abramowitz and Stegun, table 26.10.
        for (freedom, printed) in [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (30, 2.042), (120, 1.980)]
        {
            assert!((quantile_975(freedom) - printed).abs() < 6e-4, "{freedom}: {}", quantile_975(freedom));
        }
    }
}
