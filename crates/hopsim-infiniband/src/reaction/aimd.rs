//! A rate that falls by a share of itself with every notification, and rises in even steps.
//!
//! Source: Santos, Turner, Janakiraman, *End-to-End Congestion Control for `InfiniBand`*, INFOCOM 2003.

use super::{Needs, ReactionPoints};
use crate::time::Ticks;
use hopsim_network::error::{ConfigError, within};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The rate of a link, in the unit of all rates; and a whole rate, in the unit of shares of it.
pub const WHOLE: u32 = 1 << 20;

/// What it needs to hear of.
pub const NEEDS: Needs = Needs::Marks;

/// Shares that are one of [`WHOLE`] or more.
const SHARES: RangeInclusive<f64> = 0.000_001..=1.0;

/// Range of the least rate: with less the slowest packet could take longer than any time.
const LEAST: RangeInclusive<f64> = 0.000_1..=1.0;

/// A rate that falls by a share of itself with every notification, and rises by the same amount again and again in the time after it
/// (additive increase, multiplicative decrease). At first it is the rate of the host's link, of which all rates are shares.
///
/// Source: Santos, Turner, Janakiraman, *End-to-End Congestion Control for InfiniBand*, INFOCOM 2003. The exact rules are in
/// `docs/infiniband.md`; the defaults are ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Aimd")]
pub struct Config {
    /// What is added to the rate \[share of the link\].
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub increase: f64,
    /// What a notification takes off the rate \[share of the rate\].
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub decrease: f64,
    /// Time from a notification to the first increase, and from one increase to the next, more than 0.
    #[schemars(example = "50 us")]
    pub period: String,
    /// Least rate \[share of the link\].
    #[schemars(range(min = *LEAST.start(), max = *LEAST.end()))]
    pub least: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { increase: 0.005, decrease: 0.03, period: "50 us".into(), least: 0.001 }
    }
}

impl Config {
    /// The times, all above 0, with their keys.
    pub fn times(&self) -> [(&'static str, &str); 1] {
        [("period", &self.period)]
    }

    /// The parameters, with the times in ticks.
    pub fn build(&self, [period]: [Ticks; 1]) -> Result<Aimd, ConfigError> {
        Ok(Aimd {
            increase: share(self.increase, SHARES, "increase")?,
            decrease: share(self.decrease, SHARES, "decrease")?,
            period,
            least: share(self.least, LEAST, "least")?,
        })
    }
}

fn share(value: f64, range: RangeInclusive<f64>, key: &str) -> Result<u32, ConfigError> {
    within(range, value, key)?;
    Ok((value * f64::from(WHOLE)).round() as u32)
}

/// Additive increase, multiplicative decrease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aimd {
    /// A step of a rate upwards \[rate of the link / 2^20, at most 2^20\].
    pub increase: u32,
    /// By what share of itself a rate falls \[2^-20, at most 2^20\].
    pub decrease: u32,
    /// The time from a notification to the first step, and from one step to the next; more than 0.
    pub period: Ticks,
    /// Least rate \[rate of the link / 2^20, 1 … 2^20\].
    pub least: u32,
}

/// A rate as the last notification left it.
#[derive(Clone, Copy, Debug)]
struct NotifiedRate {
    rate: u32,
    notified: Ticks,
}

/// All reaction points.
#[derive(Clone, Debug)]
pub(crate) struct Points<'f> {
    rules: &'f Aimd,
    all: Vec<NotifiedRate>,
}

impl<'f> Points<'f> {
    /// No reaction points.
    pub fn new(rules: &'f Aimd, _: &mut [Stream]) -> Self {
        Self { rules, all: Vec::new() }
    }

    fn rate(&self, point: usize, now: Ticks) -> u32 {
        let NotifiedRate { rate, notified } = self.all[point];
        let risen = ((now - notified) / self.rules.period).saturating_mul(self.rules.increase.into());
        risen.saturating_add(rate.into()).min(WHOLE.into()) as u32
    }
}

impl ReactionPoints for Points<'_> {
    fn add(&mut self, _: u32, _: Ticks) {
        self.all.push(NotifiedRate { rate: WHOLE, notified: 0 });
    }

    #[inline]
    fn gap(&mut self, point: usize, now: Ticks, (_, time): (u64, Ticks)) -> Ticks {
        let at_whole_rate = u128::from(time) * u128::from(WHOLE);
        at_whole_rate.div_ceil(self.rate(point, now).into()) as Ticks
    }

    fn notify(&mut self, point: usize, now: Ticks) {
        let rate = self.rate(point, now);
        let fall = u64::from(rate) * u64::from(self.rules.decrease) / u64::from(WHOLE);
        self.all[point] = NotifiedRate { rate: (rate - fall as u32).max(self.rules.least), notified: now };
    }
}
