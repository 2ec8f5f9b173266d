//! Oblivious nonminimal routing: see [`Config`].

use super::detour::{Detour, IntermediateGroups, IntraGroup, Policy, paths_without_groups};
use super::detour_region::DetourRegion;
use super::grants::{each_by_route, each_trunk};
use super::minimal::Minimal;
use super::path::{G, L};
use super::prospect::Prospect;
use super::view::{Draws, View};
use super::{Decision, Flexible, Head, Mechanism, Ordered, Paths, Place, Reverts, Route, RouteState, Way};
use hopsim_network::error::ConfigError;
use hopsim_network::network::NONE;
use hopsim_network::topology::Topology;
use hopsim_random::Stream;
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

/// A packet goes minimally to a random intermediate router or group, then minimally to its destination. Any
/// traffic then loads the links evenly, at up to twice the path length, so that at most half the capacity is left.
///
/// Rule: when a packet becomes the head of its injection VC, one connected global link is drawn among those that
/// `policy` names; the group behind it is the intermediate group (the destination's group may be drawn), and the
/// intermediate router is any router of it. With `recompute` both are drawn anew at every attempt of a head that
/// waits at injection, so that it does not wait for one congested output (thesis §5.3.3.3).
///
/// Paths and VCs: `lgllgl` through a router, so 4 local and 2 global VCs; `lglgl` through a group, so 3 local and
/// 2 global VCs. They are used in increasing order along the path: no deadlock. At most 6 or 5 links: no livelock.
///
/// The policies `crg` and `nrg` need a global link at every router.
///
/// In a mesh, torus or ring the intermediate router is any router, each equally likely, and there are no groups to choose
/// among: the keys about them stay at their defaults. VC 0 is for the way there, VC 1 for the way on, each in increasing
/// order of dimensions (in a torus with bubble flow control): the first waits for the second only, so no deadlock. In virtual-channel
/// routers the lower half of all VCs is for the way there, and the upper half for the way on.
///
/// In a HyperX or a graph the intermediate router is any router with nodes, each equally likely, and the keys about groups stay at
/// their defaults too. Both ways are the paths of `minimal`. A hop has the VC whose number is that of the links passed before, so
/// there are as many VCs as the longest path has links, twice as many as the routers with nodes are apart at most (in a HyperX
/// twice its dimensions): VCs increase along the path, no deadlock (Günther). So many VCs there are by default, and a graph that
/// needs more than 16 is refused. In a HyperX of virtual-channel routers VCs are halved as in a mesh, unless there are requests and replies,
/// and there are two by default.
///
/// Source: Valiant, SIAM J. Comput. 11 (1982); Kim et al., ISCA 2008 (through a group); Fuentes' thesis
/// (2017), §1.4.1.2 and §1.4.3 (policies).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ValiantRouting")]
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
    /// Which routers a detour may lead through where there are no groups.
    #[serde(default)]
    pub within: DetourRegion,
}

impl Config {
    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        self.detour().check(topology, self.intermediate == Intermediate::Group)?;
        self.intra_group.check(Self::default().intra_group, topology)?;
        let order = if self.intermediate == Intermediate::Group { VIA_GROUP } else { VIA_ROUTER };
        Ok(paths_without_groups(topology)?.unwrap_or_else(|| Paths::ordered(order)))
    }

    fn detour(&self) -> Detour {
        Detour {
            policy: self.policy,
            groups: self.intermediate_groups,
            intra_group: self.intra_group,
            region: self.within,
        }
    }

    /// The mechanism over the minimal paths of `base`.
    pub fn build(&self, base: Minimal) -> Valiant {
        Valiant {
            detour: self.detour(),
            group: self.intermediate == Intermediate::Group,
            recompute: self.recompute,
            base,
        }
    }
}

/// Through an intermediate router.
pub const VIA_ROUTER: Ordered = Ordered::new(
    &[L, G, L, L, G, L],
    Flexible {
        detour: &[L, G, L, L, G, L],
        escapes: &[&[L, G, L], &[L, G, L], &[L, G, L], &[G, L], &[L], &[]],
        references: &[&[L, G, L, L, G, L]],
        reverts: Reverts::Never,
    },
);

/// Through an intermediate group.
pub const VIA_GROUP: Ordered = Ordered::new(
    &[L, G, L, G, L],
    Flexible {
        detour: &[L, G, L, G, L],
        escapes: &[&[L, G, L], &[L, G, L], &[G, L], &[L], &[]],
        references: &[&[L, G, L, G, L]],
        reverts: Reverts::Never,
    },
);

/// Valiant routing on a dragonfly.
#[derive(Clone, Debug)]
pub struct Valiant {
    detour: Detour,
    /// Whether the first phase ends on entering the intermediate group.
    group: bool,
    recompute: bool,
    base: Minimal,
}

impl Valiant {
    /// Draws the intermediate router of a packet at injection and settles target and trunk.
    // Without the head, which then never has to be written down.
    fn start(&self, (at, to): (u32, u32), state: &mut RouteState, stream: &mut Stream) {
        state.via = self.detour.draw(self.base.topology(), (at, to), stream);
        state.place = if state.via == NONE { 0 } else { Place::Injection as u8 };
        if state.via != NONE && self.base.has_reached(at, state.via, self.group) {
            state.via = NONE;
        }
        let target = if state.via == NONE { to } else { state.via };
        if self.base.topology().has_trunks() && target != at {
            state.trunk = self.base.topology().choose_trunk(at, target, stream);
        }
    }

    /// Visits all that [`Self::start`] may settle.
    fn each_start(&self, (at, to): (u32, u32), mut visit: impl FnMut(RouteState)) {
        self.detour.each(self.base.topology(), (at, to), |via| {
            let place = if via == NONE { 0 } else { Place::Injection as u8 };
            let ends = via != NONE && self.base.has_reached(at, via, self.group);
            let via = if ends { NONE } else { via };
            let target = if via == NONE { to } else { via };
            each_trunk(&self.base, at, target, |trunk| visit(RouteState { via, trunk, place, flags: 0 }));
        });
    }

    /// Draws the detour, or ends it.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    fn advance(&self, head: &Head, state: &mut RouteState, draw: impl Fn() -> Stream) {
        if head.at_injection() {
            self.start((head.router, head.destination), state, &mut draw());
        } else if state.via != NONE && self.base.has_reached(head.router, state.via, self.group) {
            state.via = NONE;
            self.base.choose_trunk(head, head.destination, state, draw);
        }
    }

    /// Whether a packet at injection never has a detour, and no link to go over.
    fn stays(&self, head: &Head) -> bool {
        let minimal = self.detour.intra_group == IntraGroup::Minimal;
        minimal && head.router == head.destination && self.base.topology().dragonfly().is_some()
    }

    #[inline]
    fn next_stop(head: &Head, state: RouteState) -> u32 {
        if state.via == NONE { head.destination } else { state.via }
    }
}

impl Mechanism for Valiant {
    const PASSES_DESTINATION: bool = true;

    const FIXED: bool = true;

    fn base(&self) -> &Minimal {
        &self.base
    }

    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    fn target(&self, head: &Head, state: &mut RouteState, draw: impl Fn() -> Stream) -> u32 {
        self.advance(head, state, draw);
        Self::next_stop(head, *state)
    }

    fn bound_for(&self, head: &Head, state: RouteState) -> u32 {
        Self::next_stop(head, state)
    }

    fn route(&self, head: &Head, state: &mut RouteState, draw: impl Fn() -> Stream) -> Route {
        if self.recompute && head.at_injection() && !self.stays(head) {
            return Route::Undecided(Prospect::ANEW);
        }
        let target = self.target(head, state, draw);
        self.base.towards(head, target, state.trunk).map_or(Route::Arrived, Route::Fixed)
    }

    fn each_grant(&self, head: &Head, state: RouteState, visit: &mut impl FnMut(Option<Way>, RouteState)) {
        if !head.at_injection() {
            return each_by_route(self, head, state, visit);
        }
        self.each_start((head.router, head.destination), |state| {
            let hop = self.base.towards(head, Self::next_stop(head, state), state.trunk);
            visit(hop.map(|hop| self.base.way(head, hop)), state);
        });
    }

    fn decide(
        &self,
        _: &Prospect,
        state: &mut RouteState,
        view: &impl View,
        draws: &mut impl Draws,
    ) -> Decision {
        let (head, vcs) = (&view.head(), self.base.vcs());
        self.start((head.router, head.destination), state, draws.attempt());
        let request = match self.base.towards(head, Self::next_stop(head, *state), state.trunk) {
            Some(hop) => vcs.pick(self.base.way(head, hop), view, draws),
            None => head.ejection(),
        };
        Decision { request: Some(request), after: *state }
    }

    fn draws(&self) -> bool {
        self.recompute
    }

    fn redecides(&self) -> bool {
        self.recompute
    }
}
