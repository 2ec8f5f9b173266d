//! The congestion trigger: see [`Config`].

use super::Candidate;
use crate::error::ConfigError;
use crate::routing::Request;
use crate::routing::source::SaturationConfig;
use crate::routing::vcs::Vcs;
use crate::routing::view::{Packets, Saturation, Sensing, View};
use crate::topology::{GLOBAL, LOCAL};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the thresholds on other outputs are relative to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
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
/// Source: García et al., ICPP 2012 and 2013; Fuentes' thesis (2017), §1.4.1.4.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// By VC or by port.
    pub sensing: Sensing,
    /// Which packets count.
    pub packets: Packets,
    /// What the thresholds are relative to.
    pub thresholds: Thresholds,
    /// Most occupancy of a local output \[%, 0 … 100\].
    #[schemars(range(min = 0.0, max = 100.0))]
    pub local_threshold: f64,
    /// Most occupancy of a global output \[%, 0 … 100\].
    #[schemars(range(min = 0.0, max = 100.0))]
    pub global_threshold: f64,
    /// Least occupancy of the minimal output \[%, 0 … 100\].
    #[schemars(range(min = 0.0, max = 100.0))]
    pub min_occupancy: f64,
    /// When a minimal global output may be left.
    pub restriction: Restriction,
}

/// A minimal global output may be left only if its occupancy exceeds `factor` times the mean over the router's global
/// outputs plus `threshold`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Restriction {
    /// Factor on the mean \[0 … 1000\].
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub factor: f64,
    /// Added to the mean \[packets, 0 … 1000\].
    #[schemars(range(min = 0.0, max = 1000.0))]
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
            if !(0.0..=100.0).contains(&value) {
                return Err(ConfigError::new(key, "out of range").value(value).valid("0 … 100 %"));
            }
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
        self.marks().saturation(vcs.used(GLOBAL), false)
    }

    /// Occupied phits and the size they are part of.
    fn load(&self, request: Request, class: u8, (view, vcs): (&impl View, &Vcs)) -> (f64, f64) {
        let occupancy = |request| {
            f64::from(match self.packets {
                Packets::All => view.occupancy(request),
                Packets::Minimal => view.minimal_occupancy(request),
            })
        };
        let size = f64::from(view.capacity(request.port));
        match self.sensing {
            Sensing::Vc => (occupancy(request), size),
            Sensing::Port => {
                let count = vcs.used(class);
                let sum = (0..count).map(|vc| occupancy(Request { vc, ..request })).sum();
                (sum, size * f64::from(count))
            }
        }
    }

    /// Whether a packet looks for another output than `minimal`. Unless `restricted`, the marks do not matter.
    pub fn fires(
        &self,
        minimal: Candidate,
        position: u32,
        restricted: bool,
        (view, vcs): (&impl View, &Vcs),
    ) -> bool {
        if view.open(minimal.request) {
            return false;
        }
        let (occupied, size) = self.load(minimal.request, minimal.class, (view, vcs));
        if 100.0 * occupied < self.min_occupancy * size {
            return false;
        }
        !restricted || minimal.class != GLOBAL || view.saturated(position, minimal.request)
    }

    /// Whether `other` will do instead of `minimal`.
    pub fn accepts(&self, other: Candidate, minimal: Candidate, (view, vcs): (&impl View, &Vcs)) -> bool {
        let percent = if other.class == LOCAL { self.local_threshold } else { self.global_threshold };
        let (occupied, size) = self.load(other.request, other.class, (view, vcs));
        match self.thresholds {
            Thresholds::Absolute => 100.0 * occupied <= percent * size,
            Thresholds::Relative => {
                let (minimal, full) = self.load(minimal.request, minimal.class, (view, vcs));
                100.0 * occupied * full <= percent * minimal * size
            }
        }
    }
}
