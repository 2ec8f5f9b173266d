//! Contention counters as a trigger: see [`Contention`], [`Filtered`], [`Ectn`] and [`Statistical`].

use super::Candidate;
use crate::view::{Draws, View};
use hopsim_network::error::{ConfigError, valid, within};
use hopsim_network::topology::LOCAL;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Counters that may count as contention \[packets\].
pub(super) const COUNTERS: RangeInclusive<u32> = 0..=65535;

/// Counters with which some packets, or all, look for another output \[packets\].
const FULL_COUNTERS: RangeInclusive<u32> = 1..=65535;

/// Times from one message to the next \[cycles\].
const PERIODS: RangeInclusive<u32> = 1..=1_000_000;

/// Lengths of a message \[phits\].
const MESSAGES: RangeInclusive<u32> = 0..=4096;

/// A packet looks for another output when the counter of its minimal one has reached `threshold`; another output will do
/// if it can take the packet now and its own counter has not.
///
/// A counter holds how many input VCs have at their head a packet whose minimal output it is, those whose packet is being
/// transferred, to whatever output, included.
///
/// Source: Fuentes et al., IPDPS 2015; Fuentes' thesis (2017), §4.1.1 (Base).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "ContentionTrigger")]
pub struct Contention {
    /// Least counter that counts as contention \[packets\].
    #[schemars(range(min = *COUNTERS.start(), max = *COUNTERS.end()))]
    pub threshold: u32,
    /// Least counter of a local output that counts as contention; default: `threshold` \[packets\].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *COUNTERS.start(), max = *COUNTERS.end()))]
    pub local_threshold: Option<u32>,
}

/// As `contention`, with counters averaged over time: every cycle F ← alpha · F + (1 − alpha) · C.
///
/// Source: Fuentes' thesis (2017), §4.1.2 (Filtered, equation 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Filtered {
    /// Least averaged counter that counts as contention \[packets\].
    #[schemars(range(min = *COUNTERS.start(), max = *COUNTERS.end()))]
    pub threshold: u32,
    /// Weight of the past, less than 1 \[0 … 1\].
    #[schemars(range(min = 0.0, max = 1.0))]
    pub alpha: f64,
}

/// As `contention`, and in the source router of a packet to another group also when the heads of the whole group for that group
/// together reach `combined_threshold` (explicit contention notification). Each router counts the heads at its injection
/// and global inputs by destination group and sends the counts to the other routers of its group every `period` cycles;
/// they arrive one local-link latency later.
///
/// Source: Fuentes et al., IPDPS 2015; Fuentes' thesis (2017), §4.1.4 (ECtN).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ectn {
    /// Least counter of an output that counts as contention \[packets\].
    #[schemars(range(min = *COUNTERS.start(), max = *COUNTERS.end()))]
    pub threshold: u32,
    /// Least sum over the group that counts as contention \[packets\].
    #[schemars(range(min = *COUNTERS.start(), max = *COUNTERS.end()))]
    pub combined_threshold: u32,
    /// From one message to the next \[cycles\].
    #[schemars(range(min = *PERIODS.start(), max = *PERIODS.end()))]
    pub period: u32,
    /// Length of a message on each local link, at most half of `period` \[phits\]; 0: on wires of their own.
    #[schemars(range(min = *MESSAGES.start(), max = *MESSAGES.end()))]
    pub message_length: u32,
}

/// As `contention`, but only some packets look for another output: none while the counter is below `threshold`, a share
/// that grows linearly with it, all from `full` on: with counter C the packet draws below `full` − `threshold` + 1, and the number
/// must be less than C − `threshold` + 1. It draws once per packet and router, from the stream of the packet there at 2^64 − 1. So
/// part of the traffic stays on a contended minimal path instead of leaving it empty.
///
/// Source: the idea is Fuentes' (thesis, 2017, §4.2.3), who leaves it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Statistical {
    /// Least counter with which any packet looks for another output \[packets\].
    #[schemars(range(min = *FULL_COUNTERS.start(), max = *FULL_COUNTERS.end()))]
    pub threshold: u32,
    /// Least counter with which all do \[packets\].
    #[schemars(range(min = *FULL_COUNTERS.start(), max = *FULL_COUNTERS.end()))]
    pub full: u32,
}

impl Default for Contention {
    fn default() -> Self {
        Self { threshold: 6, local_threshold: None }
    }
}

impl Default for Filtered {
    fn default() -> Self {
        Self { threshold: 6, alpha: 0.5 }
    }
}

impl Default for Ectn {
    fn default() -> Self {
        Self { threshold: 6, combined_threshold: 10, period: 100, message_length: 0 }
    }
}

impl Default for Statistical {
    fn default() -> Self {
        Self { threshold: 4, full: 12 }
    }
}

impl Contention {
    /// Refuses numbers out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        within(COUNTERS, self.threshold, "threshold")?;
        within(COUNTERS, self.local_threshold.unwrap_or(0), "local_threshold")
    }

    /// Least counter of an output of a link class that counts as contention.
    pub fn threshold(&self, class: u8) -> u32 {
        self.local_threshold.filter(|_| class == LOCAL).unwrap_or(self.threshold)
    }

    /// Whether the counter of an output has reached the threshold.
    pub fn reached(&self, output: Candidate, view: &impl View) -> bool {
        view.contention(output.request.port) >= self.threshold(output.class)
    }
}

impl Filtered {
    /// Refuses numbers out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        within(COUNTERS, self.threshold, "threshold")?;
        if !(0.0..1.0).contains(&self.alpha) {
            let past = "the weight of the past leaves none to the present";
            return Err(ConfigError::new("alpha", if self.alpha >= 1.0 { past } else { "out of range" })
                .value(self.alpha)
                .valid("0 … 1, 1 excluded"));
        }
        Ok(())
    }

    /// Whether the averaged counter of an output has reached the threshold.
    pub fn reached(&self, output: Candidate, view: &impl View) -> bool {
        view.filtered_contention(output.request.port) >= f64::from(self.threshold)
    }
}

impl Ectn {
    /// Refuses numbers out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        within(COUNTERS, self.threshold, "threshold")?;
        within(COUNTERS, self.combined_threshold, "combined_threshold")?;
        within(PERIODS, self.period, "period")?;
        within(MESSAGES, self.message_length, "message_length")?;
        if self.message_length > self.period / 2 {
            return Err(ConfigError::new(
                "message_length",
                "messages would take more than half of every local link",
            )
            .value(self.message_length)
            .valid(format!("0 … {} (period / 2), or a longer period", self.period / 2)));
        }
        Ok(())
    }

    /// Whether the heads of the group for `target` have reached the threshold.
    pub fn notified(&self, target: u32, view: &impl View) -> bool {
        view.combined_contention(target) >= self.combined_threshold
    }
}

impl Statistical {
    /// Refuses numbers out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        within(FULL_COUNTERS, self.threshold, "threshold")?;
        if self.full < self.threshold {
            return Err(ConfigError::new("full", format!("is below threshold = {}", self.threshold))
                .value(self.full)
                .valid(valid(&(self.threshold..=*FULL_COUNTERS.end()))));
        }
        within(FULL_COUNTERS, self.full, "full")
    }

    /// Whether this packet looks for another output.
    pub fn fires(&self, minimal: Candidate, view: &impl View, draws: &impl Draws) -> bool {
        let counter = view.contention(minimal.request.port);
        if counter < self.threshold {
            return false;
        }
        let (above, range) = (counter - self.threshold + 1, self.full - self.threshold + 1);
        above >= range || draws.head().at(u64::MAX).below(range) < above
    }
}
