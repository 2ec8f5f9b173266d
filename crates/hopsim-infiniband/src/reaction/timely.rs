//! A rate that rises and falls with the round trips of packets and with how these change (TIMELY).
//!
//! Source: Mittal et al., *TIMELY: RTT-based Congestion Control for the Datacenter*, SIGCOMM 2015, §4.

use super::rates::{LEAST, SHARES, WHOLE, share, time_at};
use super::{Echo, Needs, ReactionPoints};
use crate::time::Ticks;
use hopsim_network::error::{ConfigError, within};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// What it needs to hear of.
pub const NEEDS: Needs = Needs::Acknowledgements;

/// Numbers of acknowledgements before steps grow, and of steps.
const COUNTS: RangeInclusive<u32> = 1..=65_535;

/// A rate that follows the round trips of packets, of which acknowledgements tell: it rises in even steps while they are short or do not
/// grow, and falls by a share of itself where they grow or are long. Marks mean nothing to it.
///
/// Source: Mittal et al., *TIMELY: RTT-based Congestion Control for the Datacenter*, SIGCOMM 2015, §4.3, algorithm 1, with the values that
/// are known of it for links of 10 Gb/s. An acknowledgement here is a completion event there, so `notification.acknowledgements.every` is
/// the length of a segment in packets. The exact rules are in `docs/infiniband.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Timely")]
pub struct Config {
    /// The weight of the last difference of two round trips in the gradient.
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub alpha: f64,
    /// By what share the rate falls with a gradient of 1, or with a round trip without end.
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub beta: f64,
    /// With shorter round trips the rate rises, whatever the gradient is.
    #[schemars(example = "50 us")]
    pub low: String,
    /// With longer round trips the rate falls, whatever the gradient is; at least `low`.
    #[schemars(example = "500 us")]
    pub high: String,
    /// The round trip by which differences are divided: that of an empty network.
    #[schemars(example = "20 us")]
    pub least_round_trip: String,
    /// A step of the rate upwards \[share of the link\].
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub increase: f64,
    /// With how many acknowledgements without a growing round trip, one after the other, the rate rises by several steps.
    #[schemars(range(min = *COUNTS.start(), max = *COUNTS.end()))]
    pub hyper_after: u32,
    /// By how many steps it rises then.
    #[schemars(range(min = *COUNTS.start(), max = *COUNTS.end()))]
    pub hyper_steps: u32,
    /// Least rate \[share of the link\].
    #[schemars(range(min = *LEAST.start(), max = *LEAST.end()))]
    pub least: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            alpha: 0.875,
            beta: 0.8,
            low: "50 us".into(),
            high: "500 us".into(),
            least_round_trip: "20 us".into(),
            increase: 0.001,
            hyper_after: 5,
            hyper_steps: 5,
            least: 0.001,
        }
    }
}

impl Config {
    /// The times, all above 0, with their keys.
    pub fn times(&self) -> [(&'static str, &str); 3] {
        [("low", &self.low), ("high", &self.high), ("least_round_trip", &self.least_round_trip)]
    }

    /// The parameters, with the times in ticks.
    pub fn build(&self, [low, high, least_round_trip]: [Ticks; 3]) -> Result<Timely, ConfigError> {
        if high < low {
            let reason = format!("is shorter than low, {:?}", self.low);
            let valid = format!("at least {:?}", self.low);
            return Err(ConfigError::new("high", reason).value(format!("{:?}", self.high)).valid(valid));
        }
        within(COUNTS, self.hyper_after, "hyper_after")?;
        within(COUNTS, self.hyper_steps, "hyper_steps")?;
        Ok(Timely {
            alpha: share(self.alpha, SHARES, "alpha")?,
            beta: share(self.beta, SHARES, "beta")?,
            low,
            high,
            least_round_trip,
            increase: share(self.increase, SHARES, "increase")?,
            hyper_after: self.hyper_after,
            hyper_steps: self.hyper_steps,
            least: share(self.least, LEAST, "least")?,
        })
    }
}

/// TIMELY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timely {
    /// The weight of the last difference in the gradient \[2^-32, at most 2^32\].
    pub alpha: u64,
    /// By what share rates fall \[2^-32, at most 2^32\].
    pub beta: u64,
    /// Below it rates rise.
    pub low: Ticks,
    /// Above it rates fall; at least `low`.
    pub high: Ticks,
    /// What differences are divided by; more than 0.
    pub least_round_trip: Ticks,
    /// A step of a rate upwards \[rate of the link / 2^32, at most 2^32\].
    pub increase: u64,
    /// Acknowledgements after which there are several steps; more than 0.
    pub hyper_after: u32,
    /// How many steps there are then; more than 0.
    pub hyper_steps: u32,
    /// Least rate \[rate of the link / 2^32, 1 … 2^32\].
    pub least: u64,
}

/// A reaction point.
#[derive(Clone, Copy, Debug)]
struct Pace {
    rate: u64,
    /// The last round trip, if there has been one.
    before: Option<Ticks>,
    /// The gradient \[2^-32 ticks\].
    gradient: i128,
    /// How many acknowledgements there have been in a row with no growing round trip.
    calm: u32,
}

/// All reaction points.
#[derive(Clone, Debug)]
pub(crate) struct Points<'f> {
    rules: &'f Timely,
    all: Vec<Pace>,
}

impl<'f> Points<'f> {
    /// No reaction points.
    pub fn new(rules: &'f Timely, _: &mut [Stream]) -> Self {
        Self { rules, all: Vec::new() }
    }
}

impl Pace {
    /// The gradient after another round trip.
    fn follow(&mut self, rules: &Timely, round_trip: Ticks) {
        let before = self.before.replace(round_trip).unwrap_or(round_trip);
        let difference = i128::from(round_trip) - i128::from(before);
        let kept = self.gradient * i128::from(WHOLE - rules.alpha);
        // Shifting rounds down, negative values too.
        self.gradient = (kept >> 32) + difference * i128::from(rules.alpha);
    }

    fn rise(&mut self, rules: &Timely, steps: u32) {
        self.rate = (self.rate + u64::from(steps) * rules.increase).min(WHOLE);
    }

    /// The rate falls by a share of itself.
    fn fall(&mut self, rules: &Timely, share: u128) {
        let fall = u128::from(self.rate) * share.min(WHOLE.into()) / u128::from(WHOLE);
        self.rate = (self.rate - fall as u64).max(rules.least);
    }
}

impl ReactionPoints for Points<'_> {
    fn add(&mut self, _: u32, _: Ticks) {
        self.all.push(Pace { rate: WHOLE, before: None, gradient: 0, calm: 0 });
    }

    #[inline]
    fn gap(&mut self, point: usize, _: Ticks, (_, time): (u64, Ticks)) -> Ticks {
        time_at(self.all[point].rate, time)
    }

    fn notify(&mut self, _: usize, _: Ticks) {}

    fn acknowledged(&mut self, point: usize, _: Ticks, Echo { round_trip, .. }: Echo<'_>) {
        let (rules, pace) = (self.rules, &mut self.all[point]);
        pace.follow(rules, round_trip);
        let beta = u128::from(rules.beta);
        if round_trip < rules.low {
            pace.rise(rules, 1);
        } else if round_trip > rules.high {
            pace.fall(rules, beta * u128::from(round_trip - rules.high) / u128::from(round_trip));
        } else if pace.gradient <= 0 {
            pace.calm = pace.calm.saturating_add(1);
            pace.rise(rules, if pace.calm >= rules.hyper_after { rules.hyper_steps } else { 1 });
        } else {
            pace.calm = 0;
            let normalised = pace.gradient.unsigned_abs() / u128::from(rules.least_round_trip);
            pace.fall(rules, beta * normalised / u128::from(WHOLE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_follow_round_trips_and_how_they_change() {
        let rules = Timely {
            alpha: WHOLE / 2,
            beta: WHOLE / 2,
            low: 10,
            high: 100,
            least_round_trip: 20,
            increase: WHOLE / 16,
            hyper_after: 2,
            hyper_steps: 4,
            least: 1,
        };
        let mut points = Points::new(&rules, &mut []);
        points.add(0, 1);
        let mut after = |round_trip: Ticks| {
            points.acknowledged(0, 0, Echo { marked: true, round_trip, bytes: 1, mtu: 1, notes: &[] });
            points.all[0].rate * 128 / WHOLE
        };
        assert_eq!(after(5), 128, "the rate of the link is the most");
        assert_eq!(after(200), 96, "a half of (200 - 100) / 200 of 128");
        // The gradient is 97.5, then 48.75 - 75 and half of that - 5.
        assert_eq!(after(50), 104);
        assert_eq!(after(40), 128, "the second one without growth, by four steps");
        // From -18.125 it becomes -9.0625 + 25 = 15.9375: over 20 and halved 0.3984375.
        assert_eq!(after(90), 77);
        assert_eq!(after(9), 85);
        assert_eq!(after(20), 93, "by one step, as the row without growth is a new one");
        assert_eq!(points.gap(0, 0, (0, 17)), 24, "17 · 128 / 93 is 23.4");
    }
}
