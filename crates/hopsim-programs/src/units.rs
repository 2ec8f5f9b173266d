//! Times and sizes as exact fractions of the decimals that a user writes.

use std::fmt;

/// A positive fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    /// The number above the line.
    pub numerator: u64,
    /// The number below the line.
    pub denominator: u64,
}

impl Fraction {
    /// The fraction 1.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// A fraction in lowest terms; none if one of the numbers is 0.
    pub fn new(numerator: u64, denominator: u64) -> Option<Self> {
        let common = gcd(numerator, denominator);
        (numerator > 0 && denominator > 0)
            .then(|| Self { numerator: numerator / common, denominator: denominator / common })
    }

    /// The value of a positive decimal number such as `1`, `0.375` or `1e-3`; none for anything else and for what 18 digits
    /// cannot hold.
    pub fn from_decimal(text: &str) -> Option<Self> {
        let (digits, exponent) = match text.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let all = format!("{whole}{part}");
        if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let power = exponent.checked_sub(part.len() as i32)?;
        let shift = 10u64.checked_pow(power.unsigned_abs())?;
        let number: u64 = all.parse().ok()?;
        if power < 0 { Self::new(number, shift) } else { Self::new(number.checked_mul(shift)?, 1) }
    }

    /// The product of the fractions, if 64 bits hold it.
    pub fn times(self, other: Self) -> Option<Self> {
        // Crosswise first, so that the products stay small.
        let left = Self::new(self.numerator, other.denominator)?;
        let right = Self::new(other.numerator, self.denominator)?;
        Self::new(
            left.numerator.checked_mul(right.numerator)?,
            left.denominator.checked_mul(right.denominator)?,
        )
    }

    /// One divided by the fraction.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self { numerator: self.denominator, denominator: self.numerator }
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.numerator as f64 / self.denominator as f64)
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let fraction = |n, d| Fraction::new(n, d);
        for (text, expected) in [
            ("1", fraction(1, 1)),
            ("0.375", fraction(3, 8)),
            ("1.6", fraction(8, 5)),
            ("25e-2", fraction(1, 4)),
            ("2.5E1", fraction(25, 1)),
            (".5", fraction(1, 2)),
            ("0", None),
            ("-1", None),
            ("1,5", None),
            ("", None),
            ("1e30", None),
        ] {
            assert_eq!(Fraction::from_decimal(text), expected, "{text}");
        }
    }

    #[test]
    fn products_are_in_lowest_terms() {
        let product = Fraction::new(3, 8).unwrap().times(Fraction::new(4, 9).unwrap());
        assert_eq!(product, Fraction::new(1, 6));
        assert_eq!(Fraction::new(u64::MAX, 1).unwrap().times(Fraction::new(2, 1).unwrap()), None);
    }
}
