//! Decimal numbers with a unit.

use hopsim_network::error::ConfigError;
use hopsim_programs::units::Fraction;

/// A unit: its name, and what it is in the unit whose factor is 1, as a fraction.
pub type Unit = (&'static str, u64, u64);

/// Times in nanoseconds.
pub const TIMES: [Unit; 5] =
    [("ps", 1, 1_000), ("ns", 1, 1), ("us", 1_000, 1), ("ms", 1_000_000, 1), ("s", 1_000_000_000, 1)];

/// Sizes in bytes.
pub const SIZES: [Unit; 3] = [("B", 1, 1), ("kB", 1_000, 1), ("KiB", 1_024, 1)];

/// The number in a text and the factor of its unit.
fn split<'t>(text: &'t str, units: &[Unit]) -> Option<(&'t str, Fraction)> {
    let (number, unit) = text.trim().split_once(char::is_whitespace)?;
    let &(_, numerator, denominator) = units.iter().find(|known| known.0 == unit.trim())?;
    Some((number, Fraction::new(numerator, denominator)?))
}

fn names(units: &[Unit]) -> String {
    units.iter().map(|unit| unit.0).collect::<Vec<_>>().join(", ")
}

/// The value of a positive number with a unit.
pub fn positive(text: &str, units: &[Unit], path: &str) -> Result<Fraction, ConfigError> {
    let value = split(text, units).and_then(|(number, unit)| Fraction::from_decimal(number)?.times(unit));
    value.ok_or_else(|| {
        ConfigError::new(path, "is not a positive number and a unit")
            .value(format!("{text:?}"))
            .valid(format!("a decimal number above 0 and {}", names(units)))
    })
}

/// The value of a number with a unit that may be 0; `None` for 0.
pub fn nonnegative(text: &str, units: &[Unit], path: &str) -> Result<Option<Fraction>, ConfigError> {
    let is_zero = |number: &str| !number.starts_with('-') && number.parse() == Ok(0.0);
    if split(text, units).is_some_and(|(number, _)| is_zero(number)) {
        return Ok(None);
    }
    positive(text, units, path).map(Some).map_err(|refused| {
        ConfigError { reason: "is not a number and a unit".into(), ..refused }
            .valid(format!("a decimal number and {}", names(units)))
    })
}
