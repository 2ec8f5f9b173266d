//! The rules of UGAL, Piggyback and source-adaptive routing, and of PAR where there are no groups.

use crate::routing::detour::Detour;
use crate::routing::ways::Ways;
use crate::state::sensors::Saturation;
use hopsim_routing::detour::{IntermediateGroups, IntraGroup, Policy};
use hopsim_routing::detour_region::DetourRegion;
use hopsim_routing::source::{PathLengths, SaturationConfig};
use hopsim_routing::ugal::{DetourEnd, Knowledge, Occupancy};
use hopsim_routing::{par, piggyback, source_adaptive, ugal};

/// What mechanisms that decide at the source differ in.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of a mechanism")]
pub struct SourceRule {
    pub detour: Detour,
    /// How many detours are drawn, the best of which is compared with the minimal path.
    pub detours: u32,
    /// How much longer the wait for the minimal path must be \[packets\].
    pub threshold: u32,
    pub lengths: PathLengths,
    pub occupancy: Occupancy,
    /// Whether all links of both paths are looked at, and not the first ones alone.
    pub sees_all: bool,
    /// Whether `lengths` holds for the detour too, which is counted by its links otherwise.
    pub counts_detour: bool,
    /// What a longer detour counts for \[links\].
    pub longest_detour: usize,
    pub saturation: Option<SaturationConfig>,
    pub recompute: bool,
    pub sticky: bool,
    /// Whether a packet decides in its first attempt only.
    pub once: bool,
    /// Whether a packet that has made one hop, on its minimal path, decides again.
    pub progressive: bool,
}

impl SourceRule {
    pub fn ugal(config: &ugal::Config, ways: &Ways) -> Self {
        let to_group = ways.dragonfly().is_some() && config.intermediate != Some(DetourEnd::Router);
        Self {
            detour: Detour {
                policy: config.policy,
                groups: IntermediateGroups::Other,
                intra_group: config.intra_group,
                region: config.within,
                to_group,
            },
            detours: config.detours,
            threshold: config.threshold,
            lengths: config.path_lengths,
            occupancy: config.occupancy,
            sees_all: config.knowledge == Knowledge::Global,
            counts_detour: true,
            longest_detour: usize::MAX,
            saturation: None,
            recompute: false,
            sticky: config.sticky,
            once: config.once,
            progressive: false,
        }
    }

    pub fn piggyback(config: &piggyback::Config) -> Self {
        Self {
            detour: Detour {
                policy: config.policy,
                groups: IntermediateGroups::Other,
                intra_group: config.intra_group,
                region: DetourRegion::Network,
                to_group: config.intermediate == DetourEnd::Group,
            },
            detours: 1,
            threshold: config.threshold,
            lengths: config.path_lengths,
            occupancy: Occupancy::Vc,
            sees_all: false,
            counts_detour: true,
            longest_detour: usize::MAX,
            saturation: Some(config.saturation),
            recompute: false,
            sticky: false,
            once: false,
            progressive: false,
        }
    }

    pub fn par(config: &par::Config) -> Self {
        Self {
            detour: Detour {
                policy: Policy::Rrg,
                groups: IntermediateGroups::Other,
                intra_group: IntraGroup::Minimal,
                region: DetourRegion::Network,
                to_group: false,
            },
            detours: 1,
            threshold: config.threshold.unwrap_or(0),
            lengths: PathLengths::Shortest,
            occupancy: config.occupancy.unwrap_or_default(),
            sees_all: false,
            counts_detour: true,
            longest_detour: usize::MAX,
            saturation: None,
            recompute: false,
            sticky: false,
            once: false,
            progressive: true,
        }
    }

    pub fn source_adaptive(config: &source_adaptive::Config) -> Self {
        Self {
            detour: Detour {
                policy: config.policy,
                groups: config.intermediate_groups,
                intra_group: config.intra_group,
                region: DetourRegion::Network,
                to_group: false,
            },
            detours: 1,
            threshold: config.threshold,
            lengths: config.path_lengths,
            occupancy: Occupancy::Vc,
            sees_all: false,
            counts_detour: false,
            longest_detour: config.longest_detour as usize,
            saturation: Some(config.saturation),
            recompute: config.recompute,
            sticky: false,
            once: false,
            progressive: false,
        }
    }

    /// The marks that routers keep and tell their group of; `vcs` global VCs are in use.
    pub fn marks(&self, vcs: u8) -> Option<Saturation> {
        self.saturation.map(|config| Saturation::new(&config, vcs, true))
    }
}
