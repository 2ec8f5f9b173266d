//! Runs that find out by themselves how long they must be, as written in the document.

use super::limits::{CYCLES, MAX_CYCLES, WIDTHS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The windows of pilots in halves of the first window, one after the other, until one has settled.
const PILOTS: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// How long the last pilot is, in first windows.
pub const LONGEST_PILOT: u32 = PILOTS[PILOTS.len() - 1] / 2;

/// The windows of pilots, if the first window has so many cycles.
pub fn pilots(cycles: u32) -> [u32; PILOTS.len()] {
    PILOTS.map(|halves| u32::try_from(u64::from(halves) * u64::from(cycles) / 2).unwrap_or(u32::MAX))
}

/// Warm-up before the window: cycles, or `"auto"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Warmup {
    /// A number of cycles \[cycles\].
    Cycles(#[schemars(range(max = MAX_CYCLES))] u32),
    /// What runs without warm-up need until they have settled.
    Named(Auto),
}

/// See [`Warmup`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Auto {
    /// What runs without warm-up need until they have settled: MSER-5 (White 1997) of pilots whose windows have half as many cycles as
    /// `cycles` says, as many, 2, 4, 8 and 16 times as many. The column `warmup_cycles` says what was found.
    Auto,
}

impl Warmup {
    /// Cycles of the warm-up, 0 as long as nobody has found out how many.
    pub fn cycles(self) -> u32 {
        match self {
            Self::Cycles(cycles) => cycles,
            Self::Named(Auto::Auto) => 0,
        }
    }

    /// Whether the run finds out by itself how long its warm-up must be.
    pub fn is_auto(self) -> bool {
        self == Self::Named(Auto::Auto)
    }
}

/// When a run is good enough: the window becomes longer until the 95 % confidence interval of a metric is narrow enough. Results are
/// those of a fresh window behind that one, and as long: it has not been chosen for being calm.
///
/// After a window of `cycles` cycles, another one is simulated that is as long as the interval then found suggests, and so on, until the
/// interval is as narrow as asked for and the verdict is steady (Law and Carson 1979). The columns `stop`, `stop_relative_ci` and
/// `cycles` say how it stopped. The same seed gives the same stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StopConfig {
    /// Half width of the interval, relative to the mean, at which the run stops.
    #[schemars(range(min = *WIDTHS.start(), max = *WIDTHS.end()))]
    pub relative_ci: f64,
    /// A mean of the summary that has a column `…_ci95`, over all jobs. Where sources without bounds fall behind, and it counts the
    /// wait in them, the run stops at once.
    pub metric: String,
    /// Longest window \[cycles, `measure.cycles` … 1500000000\]; default: 100 windows as long as the first one. The run may be twice as
    /// long.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_500_000_000_u32))]
    pub max_cycles: Option<u32>,
}

impl Default for StopConfig {
    fn default() -> Self {
        Self { relative_ci: 0.01, metric: "packet_latency_mean".into(), max_cycles: None }
    }
}

/// Packets after which a window may end.
pub const PACKETS: RangeInclusive<u64> = 1..=1_000_000_000_000;

/// Steps of the longest window, at least, in which it is looked where enough packets are delivered.
const STEPS: u32 = 10_000;

/// When a window ends that holds a number of packets, instead of a number of cycles, however many jobs deliver them.
///
/// The window has the fewest whole steps of 100 cycles in which so many packets are delivered (longer steps if `max_cycles` is above
/// 1,000,000). Where that is, windows show that are simulated before, the first one with `measure.cycles` cycles: expect about twice
/// the time of a run of the window that is found. What is measured is what a run with that window measures. The columns `stop`
/// and `cycles` say how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndConfig {
    /// Packets of all jobs together that are delivered in the window before it ends.
    #[schemars(range(min = *PACKETS.start(), max = *PACKETS.end()))]
    pub packets: u64,
    /// Longest window \[cycles\], at least `measure.cycles` and 100, with which the run ends if fewer packets are delivered;
    /// default: 100 windows as long as the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *CYCLES.start(), max = *CYCLES.end()))]
    pub max_cycles: Option<u32>,
}

impl EndConfig {
    /// The shortest window \[cycles\]: a cycle for each of the parts that the verdict looks at.
    pub const SHORTEST: u32 = 100;

    /// What a window has whole steps of \[cycles\].
    pub fn step(&self) -> u32 {
        Self::SHORTEST * self.most().div_ceil(Self::SHORTEST * STEPS)
    }

    /// The longest window \[cycles\], once it has been said.
    pub fn most(&self) -> u32 {
        self.max_cycles.unwrap_or(MAX_CYCLES)
    }
}
