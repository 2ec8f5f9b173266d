//! The source-adaptive mechanism of the fairness studies: see [`Config`].

use super::detour::{Detour, IntermediateGroups, IntraGroup, Policy};
use super::detour_region::DetourRegion;
use super::minimal::Minimal;
use super::source::{PathLengths, SaturationConfig, Source, SourceRule, THRESHOLDS};
use super::ugal::{Knowledge, Occupancy};
use super::valiant::VIA_ROUTER;
use super::{Paths, Reverts};
use hopsim_network::error::{ConfigError, valid};
use hopsim_network::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Links that a detour may count for.
const DETOURS: RangeInclusive<u32> = 1..=6;

/// The decision of `piggyback` with the detours of `valiant` through a router: Src-RRG and Src-CRG of chapter 3, PB of
/// chapters 4 and 5 of the thesis. The intermediate router is drawn when the packet becomes the head of its injection
/// VC, with `recompute` at every attempt.
///
/// With the policy `crg` a group's last router, whose links all minimal paths of ADVc share, has no free detour of
/// its own, and it starves or hogs depending on the arbiters (thesis §3.3).
///
/// Paths and VCs: `lgllgl`, so 4 local and 2 global VCs, in increasing order: no deadlock. At most 6 links: no
/// livelock.
///
/// Source: Jiang, Kim and Dally, ISCA 2009 (marks); García et al., ICPP 2012 (policies); Fuentes et al., J. Supercomputing
/// 72 (2016), table 1 (thresholds); Fuentes' thesis (2017), §1.4.1.3, §3.2 and §5.3.3.3 (recomputation).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "SourceAdaptiveRouting")]
pub struct Config {
    /// Which groups are candidates for the detour.
    pub policy: Policy,
    /// Whether the source group itself can be the intermediate group.
    pub intermediate_groups: IntermediateGroups,
    /// Packets whose destination is in the source group.
    pub intra_group: IntraGroup,
    /// How much longer the wait for the minimal path must be \[packets\].
    #[schemars(range(min = *THRESHOLDS.start(), max = *THRESHOLDS.end()))]
    pub threshold: u32,
    /// How the length of the minimal path is counted; the detour's is always the true one.
    pub path_lengths: PathLengths,
    /// A longer detour counts for so many links \[links\]; FOGSim before version 5 had 5.
    #[schemars(range(min = *DETOURS.start(), max = *DETOURS.end()))]
    pub longest_detour: u32,
    /// Draw the intermediate router anew at every attempt of a packet waiting at injection.
    pub recompute: bool,
    /// When a global link counts as saturated.
    pub saturation: SaturationConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            policy: Policy::Rrg,
            intermediate_groups: IntermediateGroups::Other,
            intra_group: IntraGroup::Global,
            threshold: 5,
            path_lengths: PathLengths::Shortest,
            longest_detour: 6,
            recompute: false,
            saturation: SaturationConfig::default(),
        }
    }
}

/// Decides at the source.
pub type SourceAdaptive = Source;

impl Config {
    fn rule(&self) -> SourceRule {
        SourceRule {
            detour: Detour {
                policy: self.policy,
                groups: self.intermediate_groups,
                intra_group: self.intra_group,
                region: DetourRegion::Network,
            },
            group: false,
            detours: 1,
            threshold: self.threshold,
            lengths: self.path_lengths,
            occupancy: Occupancy::Vc,
            knowledge: Knowledge::Local,
            detour_lengths: false,
            longest_detour: self.longest_detour,
            saturation: Some(self.saturation),
            recompute: self.recompute,
            sticky: false,
            once: false,
        }
    }

    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        if !DETOURS.contains(&self.longest_detour) {
            return Err(ConfigError::new("longest_detour", "a detour has 1 to 6 links")
                .value(self.longest_detour)
                .valid(valid(&DETOURS)));
        }
        self.rule().check(topology)?;
        Ok(Paths::ordered(VIA_ROUTER.reverting(Reverts::AtInjection)))
    }

    /// The mechanism over the minimal paths of `base`.
    pub fn build(&self, base: Minimal) -> SourceAdaptive {
        Source::new(self.rule(), base)
    }
}
