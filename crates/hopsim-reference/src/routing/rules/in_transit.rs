//! The rules of OLM and PAR.

use super::trigger::Trigger;
use hopsim_routing::in_transit::{Candidates, MisroutePolicy};
use hopsim_routing::{olm, par};

/// What mechanisms that decide in transit differ in.
pub struct InTransitRule {
    pub policy: MisroutePolicy,
    pub candidates: Candidates,
    pub trigger: Trigger,
    /// Whether there are local misroutes in intermediate groups.
    pub in_intermediate_groups: bool,
    /// Whether there are local misroutes in the group of the destination.
    pub in_destination_group: bool,
}

impl InTransitRule {
    pub fn olm(config: &olm::Config) -> Self {
        Self {
            policy: config.policy,
            candidates: config.candidates,
            trigger: Trigger(config.trigger),
            in_intermediate_groups: config.local_misrouting,
            in_destination_group: config.local_misrouting,
        }
    }

    pub fn par(config: &par::Config) -> Self {
        Self {
            policy: config.policy,
            candidates: config.candidates,
            trigger: Trigger(config.trigger),
            in_intermediate_groups: config.local_misrouting,
            in_destination_group: false,
        }
    }
}
