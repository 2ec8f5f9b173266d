//! On-the-fly local misrouting: see [`Config`].

use super::in_transit::{Candidates, InTransit, InTransitRule, LocalMisroutes, MisroutePolicy};
use super::minimal::Minimal;
use super::path::{G, L};
use super::trigger::TriggerConfig;
use super::{Flexible, Ordered, Paths, Reverts, Safety};
use hopsim_network::error::ConfigError;
use hopsim_network::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// At every hop, in every attempt, a packet asks for the output of its minimal path, or for another one if the `trigger`
/// says so. In the source group `policy` says whether that is a local or a global link; in other groups a packet whose
/// minimal path goes on over a local link may take another local one first (`local_misrouting`). In-Trns-RRG, -CRG and
/// -MM of the fairness studies.
///
/// In an attempt, in this order:
///
/// 1. Which misroute there is. In the source group, for another group: with `crg` a global one; with `mm` a global one at
///    injection, a local one after one local link; with `nrg` a local one, with `rrg` a local or a global one. After a local
///    misroute with `nrg` and `rrg`, and after two local links with `mm`, a global link is due. Elsewhere a local one, if
///    `local_misrouting` is on, the minimal path goes on over a local link and the packet has not yet been misrouted in the group.
///    If there is none, or if none is due and the `trigger` does not say so, the packet asks for its minimal output.
///
/// 2. With `rrg` it draws below a: 0 is a global misroute. With `candidates = "one"` it draws below the number of ports of the
///    class, in the order of the ports.
///
/// 3. Those of the looked-at ports, the minimal one excepted, will do that can take the packet and satisfy the trigger; if a global
///    link is due the first is enough. If there are several it draws below their number, by port. The VC of the one is then
///    picked once more.
///
/// 4. If none will do it asks for its minimal output; but for nothing if a global link is due and that one is local.
///
/// All draws are from the stream of the attempt.
///
/// Paths and VCs: at most `llgllgll`, 6 local and 2 global links, with 3 local and 2 global VCs. Minimal paths and
/// global misroutes use the VCs of `lglgl` in increasing order. A local misroute uses the VC of the nearest local
/// link before it in that order again (l0 at injection, after l0 and after g0, l1 after l1 and g1); it is asked for only while
/// the next buffer has room for the whole packet, and the next router goes on in increasing order, so a packet that waits can
/// always leave on the increasing path: no deadlock.
///
/// Livelock: one global misroute at most, only in the source group; one local misroute per group; after a local
/// misroute in the source group (with MM after two local links) a global link is due.
///
/// Source: García et al., ICPP 2013 (OLM); García et al., ICPP 2012 (policies); Fuentes' thesis (2017), §1.4.1.4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "OlmRouting")]
pub struct Config {
    /// Misroutes in the source group.
    pub policy: MisroutePolicy,
    /// Local misroutes in the other groups, and of packets inside their group.
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
pub type Olm = InTransit;

impl Config {
    fn rule(&self) -> InTransitRule {
        InTransitRule {
            policy: self.policy,
            local: if self.local_misrouting { LocalMisroutes::Everywhere } else { LocalMisroutes::None },
            candidates: self.candidates,
            trigger: self.trigger,
            reuses: true,
        }
    }

    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        self.rule().check(topology)?;
        let paths = Flexible {
            detour: &[L, G, L, G, L],
            escapes: &[&[G, L, G, L], &[L, G, L], &[G, L], &[L], &[]],
            references: &[&[L, G, L, G, L]],
            reverts: Reverts::Everywhere,
        };
        // Local misroutes use VCs again.
        Ok(Paths { hops: 8, safety: Safety::Ordered(Ordered::new(&[L, G, L, G, L], paths)) })
    }

    /// The mechanism over the minimal paths of `base`.
    pub fn build(&self, base: Minimal) -> Olm {
        InTransit::new(self.rule(), base)
    }
}
