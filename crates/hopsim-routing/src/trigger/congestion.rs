//! The congestion trigger: see [`Config`].

use super::{Bar, Candidate};
use crate::Request;
use crate::source::{MARKS, SaturationConfig};
use crate::vcs::Vcs;
use crate::view::{Packets, Saturation, Sensing, View};
use hopsim_network::error::{ConfigError, within};
use hopsim_network::topology::{GLOBAL, LOCAL};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Occupancies of an output \[%\].
const PERCENTAGES: RangeInclusive<f64> = 0.0..=100.0;

/// What the thresholds on other outputs are relative to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "CongestionThresholds")]
pub enum Thresholds {
    /// The occupancy of the minimal output.
    #[default]
    Relative,
    /// The size of the buffer.
    Absolute,
}

/// A packet looks for another output when its minimal one cannot take it now: no credit, busy, or its queue full. A
/// minimal global output must besides be more occupied than its router's other global ones (`restriction`). Another output
/// will do if it can take the packet now and is occupied to at most a share (`local_threshold`, `global_threshold`) of
/// what the minimal one is, both in per cent of their buffers' sizes.
///
/// With o and s the occupancy and size of the other output's buffer, m and n those of the minimal one's, T the threshold of the
/// other's class: 100 · n · o ≤ T · m · s, with `absolute` 100 · o ≤ T · s; and 100 · m ≥ `min_occupancy` · n. By VC they are those
/// of the VC that the packet would ask for, by port the sums over the VCs that the mechanism uses.
///
/// Source: García et al., ICPP 2012 and 2013; Fuentes' thesis (2017), §1.4.1.4.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "CongestionTrigger")]
pub struct Config {
    /// Whether occupancies are read by VC or by port.
    pub sensing: Sensing,
    /// Which packets count.
    pub packets: Packets,
    /// What the thresholds are relative to.
    pub thresholds: Thresholds,
    /// Most occupancy of a local output \[%\].
    #[schemars(range(min = *PERCENTAGES.start(), max = *PERCENTAGES.end()))]
    pub local_threshold: f64,
    /// Most occupancy of a global output \[%\].
    #[schemars(range(min = *PERCENTAGES.start(), max = *PERCENTAGES.end()))]
    pub global_threshold: f64,
    /// Least occupancy of the minimal output \[%\].
    #[schemars(range(min = *PERCENTAGES.start(), max = *PERCENTAGES.end()))]
    pub min_occupancy: f64,
    /// When a minimal global output may be left.
    pub restriction: Restriction,
}

/// A minimal global output may be left only if its occupancy exceeds `factor` times the mean over the router's global
/// outputs plus `threshold`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Restriction {
    /// Factor on the mean.
    #[schemars(range(min = *MARKS.start(), max = *MARKS.end()))]
    pub factor: f64,
    /// Added to the mean \[packets\].
    #[schemars(range(min = *MARKS.start(), max = *MARKS.end()))]
    pub threshold: f64,
}

impl Default for Restriction {
    fn default() -> Self {
        Self { factor: 1.5, threshold: 5.0 }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            sensing: Sensing::Vc,
            packets: Packets::All,
            thresholds: Thresholds::Relative,
            local_threshold: 55.0,
            global_threshold: 55.0,
            min_occupancy: 0.0,
            restriction: Restriction::default(),
        }
    }
}

impl Config {
    /// Refuses numbers out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let percentages = [
            ("local_threshold", self.local_threshold),
            ("global_threshold", self.global_threshold),
            ("min_occupancy", self.min_occupancy),
        ];
        for (key, value) in percentages {
            within(PERCENTAGES, value, key).map_err(|e| e.unit("%"))?;
        }
        self.marks().check().map_err(|e| e.within("restriction"))
    }

    fn marks(&self) -> SaturationConfig {
        SaturationConfig {
            sensing: self.sensing,
            packets: self.packets,
            factor: self.restriction.factor,
            threshold: self.restriction.threshold,
        }
    }

    /// The marks that the engine must keep for the restriction.
    pub fn saturation(&self, vcs: &Vcs) -> Saturation {
        self.marks().saturation((vcs.used(GLOBAL), u16::MAX), false)
    }

    /// Occupied phits of an output.
    #[expect(clippy::inline_always, reason = "per decision; measured")]
    #[inline(always)]
    pub fn occupancy(&self, output: Candidate, (view, vcs): (&impl View, &Vcs)) -> u32 {
        match self.sensing {
            Sensing::Vc => self.occupancy_of_vc(output.request, view),
            Sensing::Port => self.occupancy_of_vcs(output, (view, vcs)),
        }
    }

    /// The occupancy of one of many outputs.
    // Where VCs count this is short, so that a loop over outputs is.
    #[expect(clippy::inline_always, reason = "per output")]
    #[inline(always)]
    pub fn occupancy_of_one(&self, output: Candidate, (view, vcs): (&impl View, &Vcs)) -> u32 {
        match self.sensing {
            Sensing::Vc => self.occupancy_of_vc(output.request, view),
            Sensing::Port => self.occupancy_of_port(output, (view, vcs)),
        }
    }

    #[expect(clippy::inline_always, reason = "per decision")]
    #[inline(always)]
    fn occupancy_of_vc(&self, request: Request, view: &impl View) -> u32 {
        match self.packets {
            Packets::All => view.occupancy(request),
            Packets::Minimal => view.minimal_occupancy(request),
        }
    }

    #[inline(never)]
    fn occupancy_of_port(&self, output: Candidate, seen: (&impl View, &Vcs)) -> u32 {
        self.occupancy_of_vcs(output, seen)
    }

    #[expect(clippy::inline_always, reason = "per decision")]
    #[inline(always)]
    fn occupancy_of_vcs(&self, output: Candidate, (view, vcs): (&impl View, &Vcs)) -> u32 {
        let of = |vc| self.occupancy_of_vc(Request { vc, ..output.request }, view);
        (0..vcs.used(output.class)).map(of).sum()
    }

    /// Size of the buffers that occupancies are part of.
    #[inline]
    fn size(&self, class: u8, (view, vcs): (&impl View, &Vcs)) -> f64 {
        let one = f64::from(view.capacity(class));
        if self.sensing == Sensing::Vc { one } else { one * f64::from(vcs.used(class)) }
    }

    /// Whether a packet looks for another output than `minimal`.
    #[expect(clippy::inline_always, reason = "per decision; measured")]
    #[inline(always)]
    pub fn fires(&self, minimal: Candidate, seen: (&impl View, &Vcs)) -> bool {
        !seen.0.open(minimal.request)
            && self.is_occupied(minimal, seen)
            && (minimal.class != GLOBAL || seen.0.saturated(None, minimal.request))
    }

    /// Whether the minimal output is occupied enough.
    #[inline]
    fn is_occupied(&self, minimal: Candidate, seen: (&impl View, &Vcs)) -> bool {
        self.min_occupancy == 0.0
            || 100.0 * f64::from(self.occupancy(minimal, seen))
                >= self.min_occupancy * self.size(minimal.class, seen)
    }

    /// What outputs of a link class must keep below to do instead of `minimal`.
    #[expect(clippy::inline_always, reason = "per decision; measured")]
    #[inline(always)]
    pub fn bar(&self, class: u8, minimal: Candidate, seen: (&impl View, &Vcs)) -> Bar<'_> {
        let percent = if class == LOCAL { self.local_threshold } else { self.global_threshold };
        let size = self.size(class, seen);
        let (scale, most) = match self.thresholds {
            Thresholds::Absolute => (100.0, percent * size),
            Thresholds::Relative => (
                100.0 * self.size(minimal.class, seen),
                percent * f64::from(self.occupancy(minimal, seen)) * size,
            ),
        };
        Bar::Occupancy { config: self, scale, most }
    }
}
