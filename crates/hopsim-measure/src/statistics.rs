//! Spread and confidence.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Mean of the values, `None` of none.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Coefficient of variation: population standard deviation over mean (thesis §1.5.1); `None` if the mean is 0.
pub fn variation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|&m| m > 0.0)?;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
    Some(variance.sqrt() / mean)
}

/// Jain's fairness index (Jain, Chiu & Hawe 1984): 1 if all are equal, 1/n if one has everything.
pub fn jain(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|v| v * v).sum();
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

/// Half width of the 95 % confidence interval of the mean of independent values (Student's t); `None` for
/// fewer than two.
pub fn half_width_95(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let (n, mean) = (values.len() as f64, mean(values)?);
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Some(student_t(n - 1.0, 0.95)? * (variance / n).sqrt())
}

/// What Student's t with `freedom` degrees of freedom stays below in size with probability `confidence`; `None` unless there
/// is a positive number of them and the probability is below 1.
pub fn student_t(freedom: f64, confidence: f64) -> Option<f64> {
    let distribution = StudentsT::new(0.0, 1.0, freedom).ok()?;
    (0.0..1.0).contains(&confidence).then(|| distribution.inverse_cdf(0.5 + confidence / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 1e-4)
    }

    #[test]
    fn metrics_equal_their_definitions() {
        assert!(close(variation(&[1.0, 3.0]), 0.5));
        assert!(close(jain(&[1.0, 0.0, 0.0, 0.0]), 0.25));
        assert!(close(jain(&[2.0, 2.0]), 1.0));
        // t(0.975, 4) = 2.77645; sd of 1..5 = 1.58114.
        assert!(close(half_width_95(&[1.0, 2.0, 3.0, 4.0, 5.0]), 2.77645 * 1.58114 / 5f64.sqrt()));
        assert_eq!(half_width_95(&[1.0]), None);
        assert_eq!(student_t(0.0, 0.95), None);
        assert_eq!(student_t(1.0, 1.0), None);
        assert_eq!(student_t(1.0, -0.1), None);
        assert_eq!(variation(&[0.0, 0.0]), None);
    }
}
