//! A rate and a window that follow what is on the links of a flow's way, which switches note in its packets (HPCC).
//!
//! Source: Li et al., *HPCC: High Precision Congestion Control*, SIGCOMM 2019, §3 and algorithm 1.

use super::rates::{LEAST, SHARES, WHOLE, share, time_at};
use super::{Echo, Flight, Needs, Note, ReactionPoints};
use crate::time::Ticks;
use hopsim_network::error::{ConfigError, within};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// What it needs to hear of.
pub const NEEDS: Needs = Needs::Telemetry;

/// Numbers of stages.
const STAGES: RangeInclusive<u32> = 0..=65_535;

/// A link is never said to be used more than this: 65,536 times as much as it carries.
pub const MOST_USED: u128 = 1 << 48;

/// A rate, and a window of what it sends in a round trip, that follow how much is used of the busiest link of the way: what has gone onto it
/// and what waits for it, as switches note in every data packet and acknowledgements bring back. Once in a round trip the rate on
/// which others are based is changed, and with every acknowledgement the one that is used. Marks mean nothing to it.
///
/// Source: Li et al., *HPCC: High Precision Congestion Control*, SIGCOMM 2019, §3.2 and algorithm 1; `increase` is the one for a link of 100 Gb/s,
/// the round trip that of the simulations there. Packets are not longer by their notes. The exact rules are in `docs/infiniband.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Hpcc")]
pub struct Config {
    /// The round trip of an empty network, more than 0: a source has no more under way than its link carries in this time.
    #[schemars(example = "13 us")]
    pub base_round_trip: String,
    /// How much of a link is to be used.
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub utilisation: f64,
    /// How often in a row the rate grows by `increase` alone before it follows what is used.
    #[schemars(range(min = *STAGES.start(), max = *STAGES.end()))]
    pub stages: u32,
    /// What is added to the rate whenever it changes \[rate of the link\].
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub increase: f64,
    /// Least rate \[rate of the link\].
    #[schemars(range(min = *LEAST.start(), max = *LEAST.end()))]
    pub least: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { base_round_trip: "13 us".into(), utilisation: 0.95, stages: 5, increase: 0.0005, least: 0.001 }
    }
}

impl Config {
    /// The times, all above 0, with their keys.
    pub fn times(&self) -> [(&'static str, &str); 1] {
        [("base_round_trip", &self.base_round_trip)]
    }

    /// The parameters, with the times in ticks.
    pub fn build(&self, [base_round_trip]: [Ticks; 1]) -> Result<Hpcc, ConfigError> {
        within(STAGES, self.stages, "stages")?;
        Ok(Hpcc {
            base_round_trip,
            utilisation: share(self.utilisation, SHARES, "utilisation")?,
            stages: self.stages,
            increase: share(self.increase, SHARES, "increase")?,
            least: share(self.least, LEAST, "least")?,
        })
    }
}

/// HPCC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hpcc {
    /// The round trip of an empty network; more than 0.
    pub base_round_trip: Ticks,
    /// How much of a link is to be used \[2^-32, at most 2^32\].
    pub utilisation: u64,
    /// How often in a row rates grow by `increase` alone.
    pub stages: u32,
    /// What is added to a rate \[rate of the link / 2^32, at most 2^32\].
    pub increase: u64,
    /// Least rate \[rate of the link / 2^32, 1 … 2^32\].
    pub least: u64,
}

/// A reaction point; rates in units of 2^-32 of that of the link.
#[derive(Clone, Debug)]
struct Measured {
    /// What the longest packet takes on the link.
    longest: Ticks,
    /// When the last packet started, and what it takes on the link.
    last: (Ticks, Ticks),
    rate: u64,
    /// The rate that others are based on.
    base: u64,
    /// How much is used of the busiest link, in the mean \[2^-32\].
    used: u128,
    stage: u32,
    /// When the base was changed last, or the first notes came.
    updated: Option<Ticks>,
    /// The last notes.
    notes: Vec<Note>,
}

impl Measured {
    /// How much is used of the link of a note since an earlier one \[2^-32\], and the time between them.
    fn used_since(base_round_trip: Ticks, earlier: &Note, note: &Note) -> (u128, Ticks) {
        let time = note.at - earlier.at;
        let of = |bytes: u64, time: Ticks| {
            u128::from(bytes) * u128::from(note.byte) * u128::from(WHOLE) / u128::from(time)
        };
        let used =
            of(note.sent - earlier.sent, time) + of(note.waiting.min(earlier.waiting), base_round_trip);
        (used.min(MOST_USED), time)
    }

    /// Notes have come: how much is used of the busiest link. Whether one could be compared with one from before.
    fn follow(&mut self, base_round_trip: Ticks, notes: &[Note]) -> bool {
        let pairs = self.notes.iter().zip(notes);
        let busiest = pairs
            .filter(|(earlier, note)| earlier.port == note.port && earlier.at < note.at)
            .map(|(earlier, note)| Self::used_since(base_round_trip, earlier, note))
            .reduce(|first, other| if other.0 > first.0 { other } else { first });
        self.notes.clear();
        self.notes.extend_from_slice(notes);
        let Some((used, time)) = busiest else { return false };
        let (whole, time) = (u128::from(base_round_trip), u128::from(time.min(base_round_trip)));
        self.used = ((self.used * (whole - time) + used * time) / whole).max(1);
        true
    }
}

/// All reaction points.
#[derive(Clone, Debug)]
pub(crate) struct Points<'f> {
    rules: &'f Hpcc,
    all: Vec<Measured>,
}

impl<'f> Points<'f> {
    /// No reaction points.
    pub fn new(rules: &'f Hpcc, _: &mut [Stream]) -> Self {
        Self { rules, all: Vec::new() }
    }
}

impl ReactionPoints for Points<'_> {
    fn add(&mut self, _: u32, longest: Ticks) {
        self.all.push(Measured {
            longest,
            last: (0, 0),
            rate: WHOLE,
            base: WHOLE,
            used: WHOLE.into(),
            stage: 0,
            updated: None,
            notes: Vec::new(),
        });
    }

    #[inline]
    fn gap(&mut self, point: usize, now: Ticks, (_, time): (u64, Ticks)) -> Ticks {
        self.all[point].last = (now, time);
        time_at(self.all[point].rate, time)
    }

    fn notify(&mut self, _: usize, _: Ticks) {}

    fn acknowledged(&mut self, point: usize, now: Ticks, echo: Echo<'_>) {
        let (rules, point) = (self.rules, &mut self.all[point]);
        let has_followed = point.follow(rules.base_round_trip, echo.notes);
        let Some(updated) = point.updated else {
            point.updated = Some(now);
            return;
        };
        if !has_followed {
            return;
        }
        let is_too_much = point.used >= u128::from(rules.utilisation) || point.stage >= rules.stages;
        let (kept, stage) = if is_too_much {
            let kept = u128::from(point.base) * u128::from(rules.utilisation) / point.used;
            (kept.min(WHOLE.into()) as u64, 0)
        } else {
            (point.base, point.stage + 1)
        };
        point.rate = (kept + rules.increase).clamp(rules.least, WHOLE);
        // The packet was sent after the last change, so that it tells of what that has done.
        if now - echo.round_trip >= updated {
            (point.base, point.stage, point.updated) = (point.rate, stage, Some(now));
        }
    }

    fn has_room(&self, point: usize, Flight { under_way, mtu, .. }: Flight) -> bool {
        let Measured { rate, longest, .. } = self.all[point];
        let window = u128::from(rate) * u128::from(self.rules.base_round_trip) * u128::from(mtu);
        (u128::from(under_way) * u128::from(longest)) << 32 < window
    }

    fn ready(&self, point: usize) -> Option<Ticks> {
        let Measured { last: (start, time), rate, .. } = self.all[point];
        Some(start + time_at(rate, time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a link of one tick a byte has noted.
    fn note(at: Ticks, sent: u64, waiting: u64) -> Note {
        Note { port: 3, at, waiting, sent, byte: 1 }
    }

    #[test]
    fn rates_follow_what_is_used_of_the_busiest_link() {
        let rules = Hpcc {
            base_round_trip: 1000,
            utilisation: WHOLE / 2,
            stages: 1,
            increase: WHOLE / 64,
            least: WHOLE / 32,
        };
        let mut points = Points::new(&rules, &mut []);
        points.add(0, 100);
        let mut after = |now: Ticks, round_trip: Ticks, notes: &[Note]| {
            points.acknowledged(0, now, Echo { marked: true, round_trip, bytes: 1, mtu: 1, notes });
            [points.all[0].rate * 64 / WHOLE, points.all[0].base * 64 / WHOLE]
        };
        assert_eq!(after(1000, 1000, &[note(500, 0, 800)]), [64, 64], "nothing to compare with");
        // All of the link, and half a window waits: 1.5, of which half the time counts, and 1 before: 1.25.
        assert_eq!(after(1500, 1000, &[note(1000, 500, 500)]), [26, 64], "64 · 0.5 / 1.25 + 1, not for good");
        assert_eq!(after(2000, 1000, &[note(2000, 1500, 0)]), [33, 33], "all of the link, all the time");
        assert_eq!(after(3000, 1000, &[note(3000, 1750, 0)]), [34, 34], "a quarter of it: one stage");
        assert_eq!(after(4000, 1000, &[note(4000, 2000, 0)]), [64, 64], "34 · 0.5 / 0.25 + 1, at most 64");
        assert_eq!(after(5000, 1000, &[note(4000, 2000, 0)]), [64, 64], "no later note");
        assert_eq!(points.gap(0, 5000, (0, 17)), 17);
        // A packet of 20 bytes takes 100, so that 200 bytes are the window; whatever is less has room for another packet.
        let has_room = |under_way: u64| points.has_room(0, Flight { under_way, bytes: 20, mtu: 20 });
        assert!(has_room(199) && !has_room(200));
        // First 0.625 of the link are used: 64 · 0.5 / 0.625 + 1 is 52.2. Then all of it and a window waits, which is 2: 52.2 · 0.5 / 2 + 1 is
        // 14.05, and the next packet waits for the last one at the new rate: 17 · 64 / 14.05 is 77.4.
        points.acknowledged(
            0,
            5500,
            Echo { marked: true, round_trip: 1, bytes: 1, mtu: 1, notes: &[note(4500, 2500, 1000)] },
        );
        points.acknowledged(
            0,
            6500,
            Echo { marked: true, round_trip: 1, bytes: 1, mtu: 1, notes: &[note(5500, 3500, 1000)] },
        );
        assert_eq!((points.all[0].rate * 64 / WHOLE, points.ready(0)), (14, Some(5078)));
    }
}
