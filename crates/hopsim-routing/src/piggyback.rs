//! Piggyback routing: see [`Config`].

use super::Paths;
use super::detour::{IntraGroup, Policy};
use super::detour_region::DetourRegion;
use super::minimal::Minimal;
use super::source::{PathLengths, SaturationConfig, Source, SourceRule, THRESHOLDS};
use super::ugal::{self, DetourEnd, Knowledge, Occupancy};
use hopsim_network::error::ConfigError;
use hopsim_network::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// As `ugal`, and a packet takes the detour also if the global link of its minimal path is marked saturated. Every
/// router marks its own global links (see `saturation`) and tells the other routers of the group, which know one
/// local-link latency later. The choice is made anew at every attempt until the packet leaves; the detour is drawn
/// once. The mark is that of the first global VC in the order that requests, or replies, follow, with FlexVC that of the
/// highest global VC.
///
/// Under ADVc the global links of the router that all packets share fill alike, none exceeds their mean, and no mark
/// is set: the mechanism is blind to the pattern (thesis §3.3.2).
///
/// Paths and VCs: `lglgl` over a group (3 local, 2 global VCs), `lgllgl` through a router (4/2), in increasing
/// order: no deadlock. At most 5 or 6 links: no livelock.
///
/// Source: Jiang, Kim and Dally, ISCA 2009; Fuentes' thesis (2017), §1.4.1.3.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "PiggybackRouting")]
pub struct Config {
    /// Where a detour ends.
    pub intermediate: DetourEnd,
    /// Which groups are candidates for the detour.
    pub policy: Policy,
    /// Packets whose destination is in the source group.
    pub intra_group: IntraGroup,
    /// How much longer the wait for the minimal path must be \[packets\].
    #[schemars(range(min = *THRESHOLDS.start(), max = *THRESHOLDS.end()))]
    pub threshold: u32,
    /// How path lengths are counted.
    pub path_lengths: PathLengths,
    /// When a global link counts as saturated.
    pub saturation: SaturationConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            intermediate: DetourEnd::Group,
            policy: Policy::Rrg,
            intra_group: IntraGroup::Minimal,
            threshold: 0,
            path_lengths: PathLengths::Shortest,
            saturation: SaturationConfig::default(),
        }
    }
}

/// Decides at the source.
pub type Piggyback = Source;

impl Config {
    fn rule(&self) -> SourceRule {
        let ugal = ugal::Config {
            within: DetourRegion::Network,
            intermediate: Some(self.intermediate),
            policy: self.policy,
            intra_group: self.intra_group,
            detours: 1,
            threshold: self.threshold,
            path_lengths: self.path_lengths,
            occupancy: Occupancy::Vc,
            knowledge: Knowledge::Local,
            sticky: false,
            once: false,
        };
        SourceRule { saturation: Some(self.saturation), ..ugal.rule(self.intermediate) }
    }

    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        self.rule().check(topology)?;
        Ok(self.intermediate.paths())
    }

    /// The mechanism over the minimal paths of `base`.
    pub fn build(&self, base: Minimal) -> Piggyback {
        Source::new(self.rule(), base)
    }
}
