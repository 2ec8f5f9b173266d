//! Oblivious nonminimal routing: see [`Config`].

use super::minimal::Minimal;
use super::sequence::at_injection;
use super::{Head, Request, RouteState};
use crate::error::ConfigError;
use crate::network::NONE;
use crate::rng::Stream;
use crate::topology::Topology;
use crate::topology::dragonfly::Dragonfly;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the first phase ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Intermediate {
    /// At a random router of the intermediate group. Needs 4 local and 2 global VCs.
    #[default]
    Router,
    /// At the router of a random node of that group: with equally many nodes at every router the same as `router`.
    Node,
    /// On entering the intermediate group (VAL-group). Saves a local hop; needs 3 local and 2 global VCs.
    Group,
}

/// Which groups are candidates for the detour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Random-router global (RRG): behind any global link of the source group. Costs a local hop to reach the link.
    #[default]
    Rrg,
    /// Current-router global (CRG): behind the source router's own global links. Saves that local hop.
    Crg,
    /// Neighbour-router global (NRG): behind the global links of the other routers of the source group. Always takes a
    /// local hop first.
    Nrg,
}

/// Whether the source group itself can be the intermediate group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntermediateGroups {
    /// Never (FOGSim `SRCEXC`).
    #[default]
    Other,
    /// With probability (a − 1) / routers, as if drawn among all other routers (FOGSim `FULL`).
    Any,
}

/// What happens to packets whose destination is in the source group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntraGroup {
    /// A detour through another group, like all other packets.
    #[default]
    Global,
    /// A detour through a random router of the group, over local links only.
    Local,
    /// The minimal path.
    Minimal,
}

/// A packet goes minimally to a random intermediate router or group, then minimally to its destination. Any
/// traffic then loads the links evenly, at up to twice the path length, so that at most half the capacity is left.
///
/// Rule: when a packet becomes the head of its injection VC, one connected global link is drawn among those that
/// `policy` names; the group behind it is the intermediate group (the destination's group may be drawn), and the
/// intermediate router is any router of it. With `recompute` both are drawn anew at every attempt of a head that
/// waits at injection, so that it does not wait for one congested output (thesis §5.3.3.3).
///
/// Paths and VCs: `lgllgl` through a router, so 4 local and 2 global VCs; `lglgl` through a group, so 3 local and
/// 2 global VCs. They are used in increasing order along the path: no deadlock.
///
/// Needs a topology with groups; the policies `crg` and `nrg` need a global link at every router.
///
/// Source: Valiant, SIAM J. Comput. 11 (1982); Kim et al., ISCA 2008 (through a group); Fuentes' thesis
/// (2017), §1.4.1.2 and §1.4.3 (policies).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where the first phase ends.
    #[serde(default)]
    pub intermediate: Intermediate,
    /// Which groups are candidates for the detour (global misrouting policy).
    #[serde(default)]
    pub policy: Policy,
    /// Draw the intermediate router anew at every attempt of a packet waiting at injection.
    #[serde(default)]
    pub recompute: bool,
    /// Whether the source group itself can be the intermediate group.
    #[serde(default)]
    pub intermediate_groups: IntermediateGroups,
    /// What happens to packets whose destination is in the source group (those of the same router included).
    #[serde(default)]
    pub intra_group: IntraGroup,
}

impl Config {
    /// The VC order; refuses a topology without groups and a policy without candidates.
    pub fn sequence(&self, topology: &Topology) -> Result<&'static str, ConfigError> {
        let Some(dragonfly) = topology.dragonfly() else {
            return Err(ConfigError::new("", "needs a topology with groups").valid("topology.dragonfly"));
        };
        if self.policy == Policy::Nrg && dragonfly.a() < 2 {
            return Err(ConfigError::new("policy", "a group of one router has no neighbour routers")
                .value("nrg")
                .valid("rrg or crg, or a ≥ 2"));
        }
        let idle = (0..dragonfly.routers()).find(|&r| dragonfly.groups_behind(r).next().is_none());
        if let (Policy::Crg | Policy::Nrg, Some(router)) = (self.policy, idle) {
            return Err(ConfigError::new("policy", format!("router {router} has no connected global link"))
                .value(if self.policy == Policy::Crg { "crg" } else { "nrg" })
                .valid("rrg, or another number of groups"));
        }
        Ok(if self.intermediate == Intermediate::Group { "lglgl" } else { "lgllgl" })
    }
}

/// Valiant routing on a dragonfly.
#[derive(Clone, Debug)]
pub struct Valiant {
    config: Config,
    base: Minimal,
}

impl Valiant {
    /// Valiant routing over the minimal paths of `base`.
    pub fn new(config: &Config, base: Minimal) -> Self {
        Self { config: config.clone(), base }
    }

    /// The minimal routing underneath.
    pub fn base(&self) -> &Minimal {
        &self.base
    }

    /// Whether the intermediate router is drawn at every attempt.
    #[inline]
    pub fn recompute(&self) -> bool {
        self.config.recompute
    }

    fn dragonfly(&self) -> &Dragonfly {
        let Topology::Dragonfly(dragonfly) = self.base.topology();
        dragonfly
    }

    /// The intermediate router of a packet from router `at` to router `to`, `NONE` for the minimal path.
    fn draw_via(&self, at: u32, to: u32, stream: &mut Stream) -> u32 {
        let t = self.dragonfly();
        let group = t.group(at);
        let inside = |stream: &mut Stream| group * t.a() + stream.below(t.a());
        if group == t.group(to) {
            match self.config.intra_group {
                IntraGroup::Global => {}
                IntraGroup::Local => return inside(stream),
                IntraGroup::Minimal => return NONE,
            }
        }
        if self.config.intermediate_groups == IntermediateGroups::Any && stream.below(t.routers()) < t.a() - 1
        {
            return inside(stream);
        }
        let position = t.position(at);
        let (first, count) = match self.config.policy {
            Policy::Rrg => (0, t.a() * t.h()),
            Policy::Crg => (position * t.h(), t.h()),
            Policy::Nrg => ((position + 1) * t.h(), (t.a() - 1) * t.h()),
        };
        loop {
            let slot = (first + stream.below(count)) % (t.a() * t.h());
            if let Some(other) = t.group_behind(group, slot) {
                return other * t.a() + stream.below(t.a());
            }
        }
    }

    /// See [`super::Routing::request`].
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn request(&self, head: &Head, state: &mut RouteState, draw: impl FnOnce() -> Stream) -> Request {
        let topology = self.base.topology();
        if at_injection(head.code) {
            let mut stream = draw();
            state.via = self.draw_via(head.router, head.destination, &mut stream);
            state.misrouted = state.via != NONE;
            state.place = u8::from(state.misrouted);
            self.retarget(head, state, &mut stream);
        } else if state.via != NONE && self.arrived(head.router, state.via) {
            state.via = NONE;
            if topology.has_trunks() && head.router != head.destination {
                state.trunk = topology.choose_trunk(head.router, head.destination, &mut draw());
            }
        }
        let target = if state.via == NONE { head.destination } else { state.via };
        if target == head.router {
            return Request { port: head.terminal as usize, vc: head.ejection_vc };
        }
        self.base.towards(head, target, state.trunk)
    }

    /// Whether the first phase ends at `router`.
    #[inline]
    fn arrived(&self, router: u32, via: u32) -> bool {
        match self.config.intermediate {
            Intermediate::Router | Intermediate::Node => router == via,
            Intermediate::Group => self.base.topology().group(router) == self.base.topology().group(via),
        }
    }

    /// Settles target and trunk of a packet whose intermediate router has just been drawn.
    fn retarget(&self, head: &Head, state: &mut RouteState, stream: &mut Stream) {
        if state.via != NONE && self.arrived(head.router, state.via) {
            state.via = NONE;
        }
        let target = if state.via == NONE { head.destination } else { state.via };
        if self.base.topology().has_trunks() && target != head.router {
            state.trunk = self.base.topology().choose_trunk(head.router, target, stream);
        }
    }
}
