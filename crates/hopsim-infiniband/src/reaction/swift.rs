//! A window that follows the round trips of packets: up to a target they may take, which is longer the smaller the window is (Swift).
//!
//! Source: Kumar et al., *Swift: Delay is Simple and Effective for Congestion Control in the Datacenter*, SIGCOMM 2020, §3.

use super::rates::{self, PACKET, SHARES, WHOLE, fits, share};
use super::{Echo, Flight, Needs, ReactionPoints};
use crate::time::Ticks;
use hopsim_network::error::ConfigError;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// What it needs to hear of.
pub const NEEDS: Needs = Needs::Windows;

/// Windows that are one of 1 / [`PACKET`] or more \[packets\].
const WINDOWS: RangeInclusive<f64> = 0.000_1..=65_536.0;

/// A window that follows the round trips of packets, of which acknowledgements tell: with every round trip it grows by some packets while they
/// are shorter than a target, and once in a round trip it falls by a share of itself if they are longer. The target is longer where
/// windows are small, so that many flows may share a link. With less than a packet a source waits between two of them. Marks mean
/// nothing to it.
///
/// Source: Kumar et al., *Swift: Delay is Simple and Effective for Congestion Control in the Datacenter*, SIGCOMM 2020, §3.1 to 3.5,
/// algorithm 1; the delays of hosts and of hops are not apart here, so `target` has both. The exact rules are in `docs/infiniband.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Swift")]
pub struct Config {
    /// What a round trip may take where windows are large, more than 0.
    #[schemars(example = "25 us")]
    pub target: String,
    /// How much longer it may be at most where windows are small, more than 0.
    #[schemars(example = "100 us")]
    pub range: String,
    /// With this window or a smaller one the target is longest \[packets\].
    #[schemars(range(min = *WINDOWS.start(), max = *WINDOWS.end()))]
    pub scale_from: f64,
    /// With this window or a larger one the target is shortest; more than `scale_from` \[packets\].
    #[schemars(range(min = *WINDOWS.start(), max = *WINDOWS.end()))]
    pub scale_to: f64,
    /// What the window grows by in a round trip \[packets\].
    #[schemars(range(min = *WINDOWS.start(), max = *WINDOWS.end()))]
    pub increase: f64,
    /// By what share of what a round trip is too long, over all of it, the window falls.
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub beta: f64,
    /// The greatest share by which it falls at once.
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub most_decrease: f64,
    /// The window at first \[packets\].
    #[schemars(range(min = *WINDOWS.start(), max = *WINDOWS.end()))]
    pub initial: f64,
    /// Least window \[packets\].
    #[schemars(range(min = *WINDOWS.start(), max = *WINDOWS.end()))]
    pub least: f64,
    /// Greatest window; at least `least` \[packets\].
    #[schemars(range(min = *WINDOWS.start(), max = *WINDOWS.end()))]
    pub most: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            target: "25 us".into(),
            range: "100 us".into(),
            scale_from: 0.1,
            scale_to: 100.0,
            increase: 1.0,
            beta: 0.8,
            most_decrease: 0.5,
            initial: 64.0,
            least: 0.001,
            most: 1024.0,
        }
    }
}

impl Config {
    /// The times, all above 0, with their keys.
    pub fn times(&self) -> [(&'static str, &str); 2] {
        [("target", &self.target), ("range", &self.range)]
    }

    /// The parameters, with the times in ticks.
    pub fn build(&self, [target, range]: [Ticks; 2]) -> Result<Swift, ConfigError> {
        let packets = |value: f64, key: &str| rates::packets(value, WINDOWS, key);
        let (least, most) = (packets(self.least, "least")?, packets(self.most, "most")?);
        packets(self.scale_from, "scale_from")?;
        packets(self.scale_to, "scale_to")?;
        above("most", self.most, "least", self.least, most >= least)?;
        above("scale_to", self.scale_to, "scale_from", self.scale_from, self.scale_to > self.scale_from)?;
        let [from, to] = [self.scale_from, self.scale_to].map(|packets| 1.0 / packets.sqrt());
        let alpha = range as f64 / (from - to);
        Ok(Swift {
            target,
            range,
            alpha: alpha.round() as u64,
            offset: (alpha * to).round() as u64,
            increase: packets(self.increase, "increase")?,
            beta: share(self.beta, SHARES, "beta")?,
            most_decrease: share(self.most_decrease, SHARES, "most_decrease")?,
            initial: packets(self.initial, "initial")?.clamp(least, most),
            least,
            most,
        })
    }
}

/// Refuses a bound that is not above another one.
fn above(key: &str, value: f64, other: &str, bound: f64, is_above: bool) -> Result<(), ConfigError> {
    if is_above {
        return Ok(());
    }
    let reason = format!("is not above {other}, {bound}");
    Err(ConfigError::new(key, reason).value(value).valid(format!("more than {bound}")))
}

/// Swift.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swift {
    /// What a round trip may take with large windows.
    pub target: Ticks,
    /// How much more it may take with small ones.
    pub range: Ticks,
    /// How much more that is with a window of a packet, less `offset`.
    pub alpha: Ticks,
    /// What is taken from it.
    pub offset: Ticks,
    /// What the window grows by in a round trip \[2^-16 packets\].
    pub increase: u64,
    /// By what share of what is too long it falls \[2^-32, at most 2^32\].
    pub beta: u64,
    /// By what share of itself it falls at most \[2^-32, at most 2^32\].
    pub most_decrease: u64,
    /// The window at first, from `least` to `most` \[2^-16 packets\].
    pub initial: u64,
    /// Least window; more than 0 \[2^-16 packets\].
    pub least: u64,
    /// Greatest window \[2^-16 packets\].
    pub most: u64,
}

impl Swift {
    /// What a round trip may take with a window.
    fn target(&self, window: u64) -> Ticks {
        let root = u128::from((window << 16).isqrt());
        let longer = (u128::from(self.alpha) << 16) / root;
        self.target + longer.saturating_sub(self.offset.into()).min(self.range.into()) as Ticks
    }
}

/// A reaction point.
#[derive(Clone, Copy, Debug)]
struct Window {
    packets: u64,
    /// When the window fell last, if it has.
    fell: Option<Ticks>,
    /// The last round trip.
    round_trip: Ticks,
}

/// All reaction points.
#[derive(Clone, Debug)]
pub(crate) struct Points<'f> {
    rules: &'f Swift,
    all: Vec<Window>,
}

impl<'f> Points<'f> {
    /// No reaction points.
    pub fn new(rules: &'f Swift, _: &mut [Stream]) -> Self {
        Self { rules, all: Vec::new() }
    }
}

impl ReactionPoints for Points<'_> {
    fn add(&mut self, _: u32, _: Ticks) {
        self.all.push(Window { packets: self.rules.initial, fell: None, round_trip: 0 });
    }

    #[inline]
    fn gap(&mut self, point: usize, _: Ticks, (_, time): (u64, Ticks)) -> Ticks {
        let Window { packets, round_trip, .. } = self.all[point];
        if packets >= PACKET {
            return time;
        }
        let paced = (u128::from(round_trip) << 16).div_ceil(packets.into());
        time.max(paced as Ticks)
    }

    fn notify(&mut self, _: usize, _: Ticks) {}

    fn acknowledged(&mut self, point: usize, now: Ticks, echo: Echo<'_>) {
        let (rules, window) = (self.rules, &mut self.all[point]);
        let (round_trip, before) = (echo.round_trip, u128::from(window.packets));
        window.round_trip = round_trip;
        let target = rules.target(window.packets);
        if round_trip < target {
            let acknowledged = (u128::from(echo.bytes) << 16) / u128::from(echo.mtu);
            let grown = u128::from(rules.increase) * acknowledged / before.max(PACKET.into());
            window.packets = (window.packets + grown as u64).min(rules.most);
        } else if window.fell.is_none_or(|fell| now - fell >= round_trip) {
            let too_long = u128::from(rules.beta) * u128::from(round_trip - target) / u128::from(round_trip);
            let fall = before * too_long.min(rules.most_decrease.into()) / u128::from(WHOLE);
            window.packets = (window.packets - fall as u64).max(rules.least);
            window.fell = Some(now);
        }
    }

    fn has_room(&self, point: usize, flight: Flight) -> bool {
        fits(self.all[point].packets, flight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A target of 100, and of 150 with a window of a quarter of a packet or less.
    fn rules() -> Swift {
        let shares = Config { beta: 0.5, most_decrease: 0.25, ..Config::default() };
        let config = Config { scale_from: 0.25, scale_to: 1.0, initial: 2.0, ..shares };
        config.build([100, 50]).unwrap()
    }

    #[test]
    fn targets_are_longer_where_windows_are_small() {
        let rules = rules();
        assert_eq!((rules.alpha, rules.offset), (50, 50));
        let targets = [4, 16, 25, 64, 400].map(|part| rules.target(part * PACKET / 64));
        // A sixteenth has the range, a quarter as well, 25/64 a share of 8/5 - 1, and from a packet on there is none.
        assert_eq!(targets, [150, 150, 130, 100, 100]);
    }

    #[test]
    fn windows_grow_by_a_packet_in_a_round_trip_and_fall_once_in_one() {
        let rules = rules();
        let mut points = Points::new(&rules, &mut []);
        points.add(0, 1);
        let mut after = |now: Ticks, round_trip: Ticks, bytes: u64| {
            points.acknowledged(0, now, Echo { marked: true, round_trip, bytes, mtu: 1000, notes: &[] });
            points.all[0].packets * 64 / PACKET
        };
        assert_eq!(after(0, 99, 1000), 160, "by one packet of two, to 160 / 64");
        assert_eq!(after(0, 200, 1000), 120, "by a half of a half, which is the greatest share");
        assert_eq!(after(199, 200, 1000), 120, "once in a round trip");
        assert_eq!([200, 400, 600].map(|now| after(now, 200, 1000)), [90, 67, 50]);
        // With less than a packet a packet waits for 200 / 0.791.
        assert_eq!(points.gap(0, 0, (0, 17)), 253);
        assert_eq!(points.all[0].packets, 51_840);
        let has_room = |bytes: u32| points.has_room(0, Flight { under_way: 700, bytes, mtu: 1000 });
        assert!(has_room(91) && !has_room(92), "51,840 of 65,536 parts of 1000 are 791");
    }
}
