//! Ticks: the longest time of which a nanosecond and all times of a document are whole numbers.

use super::rates;
use crate::plan::quantity::{TIMES, nonnegative, positive};
use hopsim_infiniband::time::Ticks;
use hopsim_network::error::ConfigError;
use hopsim_programs::units::Fraction;

/// Most ticks of a nanosecond.
const MOST_PER_NS: u64 = 1_000_000;

/// Tick before which all times end.
pub const MOST_TICKS: u64 = 1 << 62;

/// Most ticks of a byte: those of a packet times a multiplier of congestion control stay below [`MOST_TICKS`].
const MOST_BYTE: u64 = 1 << 36;

/// A time, and where it is written.
#[derive(Clone, Debug)]
pub struct Time {
    /// The time in nanoseconds, none for 0.
    ns: Option<Fraction>,
    path: String,
    text: String,
}

impl Time {
    fn refused(&self, reason: &str) -> ConfigError {
        ConfigError::new(&self.path, reason).value(format!("{:?}", self.text))
    }
}

/// A clock, which knows the tick once it has been told all times.
#[derive(Clone, Debug)]
pub struct Clock {
    ticks_per_ns: u64,
}

impl Default for Clock {
    fn default() -> Self {
        Self { ticks_per_ns: 1 }
    }
}

impl Clock {
    /// Ticks of a nanosecond.
    pub fn ticks_per_ns(&self) -> u64 {
        self.ticks_per_ns
    }

    /// A time, which may be 0.
    pub fn time(&mut self, text: &str, path: &str) -> Result<Time, ConfigError> {
        let ns = nonnegative(text, &TIMES, path)?;
        self.told(Time { ns, path: path.into(), text: text.into() })
    }

    /// A time above 0.
    pub fn positive(&mut self, text: &str, path: &str) -> Result<Time, ConfigError> {
        let ns = positive(text, &TIMES, path)?;
        self.told(Time { ns: Some(ns), path: path.into(), text: text.into() })
    }

    /// What a byte takes at a rate.
    pub fn byte(&mut self, text: &str, path: &str) -> Result<Time, ConfigError> {
        let bits = Fraction { numerator: 8, denominator: 1 };
        let ns = rates::read(text, path)?.inverse().times(bits);
        let ns =
            ns.ok_or_else(|| ConfigError::new(path, "has too many digits").value(format!("{text:?}")))?;
        self.told(Time { ns: Some(ns), path: path.into(), text: text.into() })
    }

    fn told(&mut self, time: Time) -> Result<Time, ConfigError> {
        let Some(ns) = time.ns else { return Ok(time) };
        // What the denominator has beyond the ticks there are.
        let rest = Fraction::new(self.ticks_per_ns, ns.denominator);
        let factor = rest.map_or(u64::MAX, |rest| rest.denominator);
        let ticks_per_ns = self.ticks_per_ns.saturating_mul(factor);
        if ticks_per_ns > MOST_PER_NS {
            let reason = "has no common unit with the other times and rates that is a millionth of a nanosecond or longer";
            return Err(time.refused(reason).valid("a value with fewer digits"));
        }
        self.ticks_per_ns = ticks_per_ns;
        Ok(time)
    }

    /// A time in ticks.
    pub fn ticks(&self, time: &Time) -> Result<Ticks, ConfigError> {
        let Some(ns) = time.ns else { return Ok(0) };
        let ticks = ns.numerator.checked_mul(self.ticks_per_ns / ns.denominator);
        ticks.filter(|&ticks| ticks < MOST_TICKS).ok_or_else(|| {
            let most = MOST_TICKS / self.ticks_per_ns / 1_000_000_000;
            time.refused("is too long for the unit that all times have in common")
                .valid(format!("less than {most} s, or times and rates with fewer digits"))
        })
    }

    /// The time of a byte in ticks.
    pub fn byte_ticks(&self, time: &Time) -> Result<Ticks, ConfigError> {
        let ticks = self.ticks(time).ok().filter(|&ticks| ticks <= MOST_BYTE);
        ticks.ok_or_else(|| time.refused("is too slow").valid("a higher rate"))
    }
}

/// A time in the largest unit of which it is one at least, to a thousandth of a nanosecond.
pub fn in_words(ticks: Ticks, ticks_per_ns: u64) -> String {
    let ps = u128::from(ticks) * 1_000 / u128::from(ticks_per_ns);
    let units = [("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000)];
    let (unit, size) = units.into_iter().find(|&(_, size)| ps >= size).unwrap_or(("ns", 1_000));
    let text = format!("{}.{:0width$}", ps / size, ps % size, width = size.ilog10() as usize);
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}
