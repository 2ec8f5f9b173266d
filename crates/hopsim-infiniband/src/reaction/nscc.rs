//! A window that marks and the delay in queues together raise and lower (NSCC).
//!
//! Source: the network signalled congestion control of Ultra Ethernet as its simulator has it (uet-htsim, `uec.cpp`); no text of the
//! specification was at hand.

use super::rates::{PACKET, SHARES, WHOLE, fits, packets, share};
use super::{Echo, Flight, Needs, ReactionPoints};
use crate::time::Ticks;
use hopsim_network::error::ConfigError;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// What it needs to hear of.
pub const NEEDS: Needs = Needs::Windows;

/// The window grows by what has been added up when more than so many packets have been acknowledged.
pub const APART: u64 = 8 * PACKET;

/// Steps that are one of 1 / [`PACKET`] or more \[packets\].
const STEPS: RangeInclusive<f64> = 0.000_1..=65_536.0;

/// Windows \[packets\].
const WINDOWS: RangeInclusive<f64> = 1.0..=65_536.0;

/// A window that grows while the delay in queues is short of a target or nothing is marked, and falls once in a round trip where packets are marked
/// and the delay is longer. A mark with a short delay is a matter of paths, and changes nothing.
///
/// Source: the network signalled congestion control of Ultra Ethernet (NSCC), as its simulator has it (uet-htsim); no text of the
/// specification was at hand. The defaults are those there for a link of 100 Gb/s and a round trip of 12 us, in packets. The exact rules are in
/// `docs/infiniband.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Nscc")]
pub struct Config {
    /// The round trip of an empty network, more than 0: what is longer is delay in queues.
    #[schemars(example = "12 us")]
    pub base_round_trip: String,
    /// The delay in queues that is aimed at, more than 0.
    #[schemars(example = "9 us")]
    pub target: String,
    /// Below this delay in queues, for a window, growth is fast; more than 0.
    #[schemars(example = "1 us")]
    pub fast_below: String,
    /// What an unmarked round trip with a longer delay than the target adds to the window \[packets\].
    #[schemars(range(min = *STEPS.start(), max = *STEPS.end()))]
    pub fair_increase: f64,
    /// What an unmarked round trip without delay adds; with half of the target half of it \[packets\].
    #[schemars(range(min = *STEPS.start(), max = *STEPS.end()))]
    pub proportional_increase: f64,
    /// What every round trip adds besides \[packets\].
    #[schemars(range(min = *STEPS.start(), max = *STEPS.end()))]
    pub eta: f64,
    /// The share of what is acknowledged that fast growth adds at once.
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub fast_share: f64,
    /// By what share of what the mean delay is too long, over all of it, the window falls.
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub gamma: f64,
    /// The greatest share by which it falls at once.
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub most_decrease: f64,
    /// The weight of the last delay in their mean.
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub weight: f64,
    /// Greatest window, which is also the first one \[packets\].
    #[schemars(range(min = *WINDOWS.start(), max = *WINDOWS.end()))]
    pub most: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            base_round_trip: "12 us".into(),
            target: "9 us".into(),
            fast_below: "1 us".into(),
            fair_increase: 5.0,
            proportional_increase: 4.0,
            eta: 0.15,
            fast_share: 0.25,
            gamma: 0.8,
            most_decrease: 0.5,
            weight: 0.0125,
            most: 220.0,
        }
    }
}

impl Config {
    /// The times, all above 0, with their keys.
    pub fn times(&self) -> [(&'static str, &str); 3] {
        [
            ("base_round_trip", &self.base_round_trip),
            ("target", &self.target),
            ("fast_below", &self.fast_below),
        ]
    }

    /// The parameters, with the times in ticks.
    pub fn build(&self, [base_round_trip, target, fast_below]: [Ticks; 3]) -> Result<Nscc, ConfigError> {
        Ok(Nscc {
            base_round_trip,
            target,
            fast_below,
            fair_increase: packets(self.fair_increase, STEPS, "fair_increase")?,
            proportional_increase: packets(self.proportional_increase, STEPS, "proportional_increase")?,
            eta: packets(self.eta, STEPS, "eta")?,
            fast_share: share(self.fast_share, SHARES, "fast_share")?,
            gamma: share(self.gamma, SHARES, "gamma")?,
            most_decrease: share(self.most_decrease, SHARES, "most_decrease")?,
            weight: share(self.weight, SHARES, "weight")?,
            most: packets(self.most, WINDOWS, "most")?,
        })
    }
}

/// NSCC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nscc {
    /// The round trip of an empty network.
    pub base_round_trip: Ticks,
    /// The delay in queues that is aimed at; more than 0.
    pub target: Ticks,
    /// Below this delay growth is fast.
    pub fast_below: Ticks,
    /// What an unmarked round trip with a long delay adds \[2^-16 packets\].
    pub fair_increase: u64,
    /// What an unmarked round trip without delay adds \[2^-16 packets\].
    pub proportional_increase: u64,
    /// What every round trip adds besides \[2^-16 packets\].
    pub eta: u64,
    /// The share of what is acknowledged that fast growth adds \[2^-32, at most 2^32\].
    pub fast_share: u64,
    /// By what share of what is too long the window falls \[2^-32, at most 2^32\].
    pub gamma: u64,
    /// By what share of itself it falls at most \[2^-32, at most 2^32\].
    pub most_decrease: u64,
    /// The weight of the last delay in their mean \[2^-32, at most 2^32\].
    pub weight: u64,
    /// Greatest and first window; at least a packet \[2^-16 packets\].
    pub most: u64,
}

/// A reaction point; windows and what is acknowledged in 2^-16 packets.
#[derive(Clone, Copy, Debug, Default)]
struct SignalledWindow {
    packets: u64,
    /// Mean delay in queues \[2^-32 ticks\].
    mean_delay: u128,
    /// What the next update adds, times the window.
    increase: u128,
    /// What has been acknowledged since the last update, and in a row without delay.
    acknowledged: u64,
    without_delay: u64,
    /// Whether growth is fast.
    is_fast: bool,
    /// When the window grew by `eta`, and fell last; nothing before the first time.
    grew: Option<Ticks>,
    fell: Option<Ticks>,
}

/// Whether something is longer than a round trip ago, or has never been.
fn is_over(last: Option<Ticks>, now: Ticks, rules: &Nscc) -> bool {
    last.is_none_or(|last| now - last > rules.base_round_trip)
}

impl SignalledWindow {
    /// The mean delay after another one. Where nothing is marked a long one is not of the queues that it is aimed at, and a quarter of a
    /// round trip stands for it.
    fn average(&mut self, rules: &Nscc, delay: Ticks, marked: bool) {
        let weight = u128::from(rules.weight);
        let last = if !marked && delay > rules.target {
            u128::from(rules.base_round_trip) * weight / 4
        } else {
            u128::from(delay) * weight
        };
        self.mean_delay = ((self.mean_delay * (u128::from(WHOLE) - weight)) >> 32) + last;
    }

    /// So much has been acknowledged with a delay: whether growth is fast, by which the window has grown then.
    fn grows_fast(&mut self, rules: &Nscc, delay: Ticks, acknowledged: u64) -> bool {
        if delay >= rules.fast_below {
            (self.without_delay, self.is_fast) = (0, false);
            return false;
        }
        self.without_delay += acknowledged;
        self.is_fast |= self.without_delay > self.packets;
        if self.is_fast {
            self.packets += ((u128::from(acknowledged) * u128::from(rules.fast_share)) >> 32) as u64;
        }
        self.is_fast
    }

    /// The window falls, if it is time and the mean delay is too long.
    fn fall(&mut self, rules: &Nscc, now: Ticks) {
        (self.without_delay, self.is_fast) = (0, false);
        let target = u128::from(rules.target) << 32;
        if self.mean_delay <= target || !is_over(self.fell, now, rules) {
            return;
        }
        // Both in whole ticks, so that their product has room.
        let [mean, target] = [self.mean_delay >> 32, u128::from(rules.target)];
        let too_long = u128::from(rules.gamma) * (mean - target) / mean;
        let fall = u128::from(self.packets) * too_long.min(rules.most_decrease.into()) / u128::from(WHOLE);
        self.packets -= fall as u64;
        self.fell = Some(now);
    }

    /// The window grows by what has been added up, if it is time.
    fn update(&mut self, rules: &Nscc, now: Ticks) {
        if self.acknowledged <= APART && !is_over(self.grew, now, rules) {
            return;
        }
        self.packets += (self.increase / u128::from(self.packets)) as u64;
        (self.increase, self.acknowledged) = (0, 0);
        if self.grew.is_none_or(|grew| now - grew >= rules.base_round_trip) {
            self.packets += rules.eta;
            self.grew = Some(now);
        }
    }
}

/// All reaction points.
#[derive(Clone, Debug)]
pub(crate) struct Points<'f> {
    rules: &'f Nscc,
    all: Vec<SignalledWindow>,
}

impl<'f> Points<'f> {
    /// No reaction points.
    pub fn new(rules: &'f Nscc, _: &mut [Stream]) -> Self {
        Self { rules, all: Vec::new() }
    }
}

impl ReactionPoints for Points<'_> {
    fn add(&mut self, _: u32, _: Ticks) {
        self.all.push(SignalledWindow { packets: self.rules.most, ..SignalledWindow::default() });
    }

    #[inline]
    fn gap(&mut self, _: usize, _: Ticks, (_, time): (u64, Ticks)) -> Ticks {
        time
    }

    fn notify(&mut self, _: usize, _: Ticks) {}

    fn acknowledged(&mut self, point: usize, now: Ticks, echo: Echo<'_>) {
        let (rules, window) = (self.rules, &mut self.all[point]);
        let acknowledged = (u128::from(echo.bytes) << 16) / u128::from(echo.mtu);
        let delay = echo.round_trip.saturating_sub(rules.base_round_trip);
        window.average(rules, delay, echo.marked);
        if echo.marked && delay >= rules.target {
            window.fall(rules, now);
        } else if !echo.marked && delay >= rules.target {
            window.increase += u128::from(rules.fair_increase) * acknowledged;
        } else if !echo.marked && !window.grows_fast(rules, delay, acknowledged as u64) {
            let short = u128::from(rules.target - delay);
            let whole = u128::from(rules.proportional_increase) * acknowledged;
            window.increase += whole * short / u128::from(rules.target);
        }
        window.packets = window.packets.clamp(PACKET, rules.most);
        window.acknowledged += acknowledged as u64;
        window.update(rules, now);
        window.packets = window.packets.clamp(PACKET, rules.most);
    }

    fn has_room(&self, point: usize, flight: Flight) -> bool {
        fits(self.all[point].packets, flight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_delays_together_raise_and_lower_a_window() {
        let rules = Nscc {
            base_round_trip: 100,
            target: 50,
            fast_below: 10,
            fair_increase: PACKET,
            proportional_increase: 2 * PACKET,
            eta: PACKET / 4,
            fast_share: WHOLE / 2,
            gamma: WHOLE / 2,
            most_decrease: WHOLE / 4,
            weight: WHOLE,
            most: 8 * PACKET,
        };
        let mut points = Points::new(&rules, &mut []);
        points.add(0, 1);
        let mut after = |now: Ticks, round_trip: Ticks, marked: bool, bytes: u64| {
            points.acknowledged(0, now, Echo { marked, round_trip, bytes, mtu: 1000, notes: &[] });
            points.all[0].packets
        };
        assert_eq!(after(0, 200, true, 1000), 6 * PACKET + PACKET / 4, "a quarter less, and a quarter more");
        assert_eq!(after(50, 200, true, 1000), 409_600, "once in a round trip");
        // A packet over a window of 6.25 is 10,485 parts; the delay is too long, but nothing is marked.
        assert_eq!(after(101, 160, false, 1000), 409_600 + 10_485 + 16_384);
        assert_eq!(after(150, 120, true, 1000), 436_469, "marks with a short delay do nothing");
        // Half of two packets, and 45 / 50 of two packets: together 2.8 over 6.66.
        assert_eq!(after(180, 125, false, 1000), 436_469);
        assert_eq!(after(202, 105, false, 1000), 436_469 + 27_552 + 16_384);
        assert_eq!(after(203, 200, true, 1000), 360_304, "by a quarter again");
        assert_eq!(after(205, 150, false, 7000), 360_304, "eight packets since the last update");
        // Nine are enough for an update, but not for a growth by itself: eight over a window of 5.498.
        assert_eq!(after(206, 150, false, 1000), 360_304 + 95_363);
        // Eight packets in a row without delay are more than the window, which grows by half of eight, to the greatest one.
        assert_eq!(after(210, 100, false, 8000), 8 * PACKET);
    }
}
