//! The rule of Valiant's mechanism.

use crate::routing::detour::Detour;
use hopsim_routing::valiant::{Config, Intermediate};

/// What Valiant's mechanism draws, and when.
pub struct ObliviousRule {
    pub detour: Detour,
    pub recompute: bool,
}

impl ObliviousRule {
    pub fn new(config: &Config) -> Self {
        let detour = Detour {
            policy: config.policy,
            groups: config.intermediate_groups,
            intra_group: config.intra_group,
            region: config.within,
            to_group: config.intermediate == Intermediate::Group,
        };
        Self { detour, recompute: config.recompute }
    }
}
