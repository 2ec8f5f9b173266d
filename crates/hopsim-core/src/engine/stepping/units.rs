//! Times and sizes of the other simulator in cycles and phits, by the `units` of the document.

use crate::engine::stepping::Stepping;
use crate::error::ConfigError;
use hopsim_experiment::plan::programs::Units;
use hopsim_programs::units::Fraction;

/// Picoseconds of a nanosecond.
const PICOSECONDS: u128 = 1_000;

impl Stepping {
    /// The first cycle that begins so many picoseconds after cycle 0, or later.
    pub fn cycles(&self, picoseconds: u64) -> Result<u64, ConfigError> {
        let Fraction { numerator, denominator } = self.units()?.cycle;
        let cycles =
            (u128::from(picoseconds) * u128::from(denominator)).div_ceil(PICOSECONDS * u128::from(numerator));
        fitting(cycles, ("picoseconds", picoseconds), "an earlier time: there are not so many cycles")
    }

    /// The picosecond in which a cycle begins, counted from cycle 0: [`Self::cycles`] of it is that cycle, unless cycles are
    /// shorter than a picosecond.
    pub fn picoseconds(&self, cycle: u64) -> Result<u64, ConfigError> {
        let Fraction { numerator, denominator } = self.units()?.cycle;
        let begins = u128::from(cycle)
            .checked_mul(PICOSECONDS * u128::from(numerator))
            .map_or(u128::MAX, |product| product / u128::from(denominator));
        fitting(begins, ("cycle", cycle), "an earlier cycle: 64 bits do not hold its picoseconds")
    }

    /// The length of a message with so many bytes, without headers \[phits\]: a phit at least, as of the messages of programs.
    pub fn phits(&self, bytes: u64) -> Result<u32, ConfigError> {
        let Fraction { numerator, denominator } = self.units()?.phit;
        let phits = (u128::from(bytes) * u128::from(denominator)).div_ceil(u128::from(numerator)).max(1);
        let valid = format!("a message of at most {} phits", u32::MAX);
        fitting(phits, ("bytes", bytes), &valid)
    }

    /// What a cycle and a phit are. Refused where the document does not say it.
    fn units(&self) -> Result<Units, ConfigError> {
        self.units.ok_or_else(|| {
            let reason = "the document does not say how long a cycle and how large a phit is";
            ConfigError::new("units", reason).valid("units = { cycle = \"1 ns\", phit = \"4 B\" }")
        })
    }
}

/// A number that a caller asked for, in the bits that it has for it.
fn fitting<T: TryFrom<u128>>(number: u128, (key, value): (&str, u64), valid: &str) -> Result<T, ConfigError> {
    T::try_from(number).map_err(|_| ConfigError::new(key, "is too much").value(value).valid(valid))
}
