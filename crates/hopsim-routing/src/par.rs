//! Progressive adaptive routing: see [`Config`].

use super::in_transit::{Candidates, InTransit, InTransitRule, LocalMisroutes, MisroutePolicy};
use super::minimal::Minimal;
use super::path::{G, L};
use super::trigger::TriggerConfig;
use super::{Flexible, Ordered, Paths, Reverts};
use hopsim_network::error::ConfigError;
use hopsim_network::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// As `olm`, with a VC for every link: local misroutes go on in increasing order instead of using VCs again, and
/// happen in the source group (`mm`) and in intermediate groups only.
///
/// Paths and VCs: `llgllgl`, at most 7 links, so 5 local and 2 global VCs, in increasing order: no deadlock. One global
/// misroute, one local one per group: no livelock.
///
/// Source: Jiang, Kim and Dally, ISCA 2009; García et al., ICPP 2013 (PAR-6/2); Fuentes' thesis (2017), §1.4.1.4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Misroutes in the source group: `mm` or `crg`, which begin with the own global links.
    pub policy: MisroutePolicy,
    /// Local misroutes in intermediate groups.
    pub local_misrouting: bool,
    /// How a misroute is found.
    pub candidates: Candidates,
    /// When a packet looks for one.
    pub trigger: TriggerConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            policy: MisroutePolicy::Mm,
            local_misrouting: true,
            candidates: Candidates::All,
            trigger: TriggerConfig::default(),
        }
    }
}

/// Decides in every router.
pub type Par = InTransit;

impl Config {
    fn rule(&self) -> InTransitRule {
        InTransitRule {
            policy: self.policy,
            local: if self.local_misrouting { LocalMisroutes::Intermediate } else { LocalMisroutes::None },
            candidates: self.candidates,
            trigger: self.trigger,
            reuses: false,
        }
    }

    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        if let MisroutePolicy::Rrg | MisroutePolicy::Nrg = self.policy {
            let name = if self.policy == MisroutePolicy::Rrg { "rrg" } else { "nrg" };
            return Err(ConfigError::new("policy", "PAR misroutes over the own global links first")
                .value(name)
                .valid("mm or crg"));
        }
        self.rule().check(topology)?;
        let paths = Flexible {
            detour: &[L, L, G, L, L, G, L],
            escapes: &[&[G, L], &[L, G, L], &[L, G, L], &[L, G, L], &[G, L], &[L], &[]],
            references: &[&[L, L, G, L, L, G, L], &[L, G, L, L, G, L], &[L, G, L, G, L]],
            reverts: Reverts::Everywhere,
        };
        Ok(Paths::ordered(Ordered::new(&[L, L, G, L, L, G, L], paths)))
    }

    /// The mechanism over the minimal paths of `base`.
    pub fn build(&self, base: Minimal) -> Par {
        InTransit::new(self.rule(), base)
    }
}
