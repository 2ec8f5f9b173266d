//! Minimal adaptive routing: see [`Config`].

use super::minimal::Minimal;
use super::prospect::{Choice, Productive, Prospect};
use super::view::{Draws, View};
use super::{Decision, Head, Hop, Leg, Mechanism, NO_VC, Paths, Route, RouteState, Safety, Way, multipath};
use hopsim_network::error::ConfigError;
use hopsim_network::topology::Topology;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A packet takes any shortest path, and at every hop the output with most free space.
///
/// In a mesh, torus or HyperX of at least two VCs: VC 0 is the escape VC, in which packets go dimension by dimension (in a torus with
/// bubble flow control), the others are adaptive: a packet may use them over every link that brings it nearer. In every
/// attempt it asks for the adaptive VC with most credits that can take it, ties drawn, and for the escape VC if there is
/// none. From the escape VC it may go back to an adaptive one in any router. No deadlock: the escape VCs are free of it, and
/// every waiting packet asks for one when nothing else is free (Duato). No livelock: every hop brings it nearer.
///
/// In a fat tree: up by the port with most credits that can take it, ties drawn, down by the digits of the destination. No
/// deadlock in any VC, as buffers wait for each other first up, then down.
///
/// In a graph: over any link by which the packet has fewest links left, whatever their latencies. A hop has the VC whose number is that of
/// the links passed before, so a link has as many VCs as the routers with nodes are apart at most. VCs increase along every path: no deadlock.
/// With FlexVC it asks for the output VC with most credits of all that it may use.
/// In an XGFT, an orthogonal fat tree and a dragonfly+ a packet may use every VC, as in a fat tree.
///
/// In a HyperX and in a graph a router has 64 links at most.
///
/// No parameters. Source: Duato, IEEE TPDS 4 (1993); Puente et al., JPDC 61 (2001), adaptive bubble router; Izu and
/// Vallejo, Simulation 2019, §3; Günther, IEEE Trans. Communications 29 (1981), VCs by hops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AdaptiveRouting")]
pub struct Config {}

impl Config {
    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        if let Some(paths) = multipath::shortest_paths(topology)? {
            return Ok(paths);
        }
        match topology {
            Topology::Dragonfly(_) => {
                Err(ConfigError::new("", "a dragonfly has one shortest path between most routers").valid(
                    "topology.mesh, torus, ring, hyperx, fat_tree or graph; olm or par in a dragonfly",
                ))
            }
            _ if topology.has_escape() => Ok(Paths { hops: topology.diameter(), safety: Safety::Escape }),
            _ => Ok(Paths::any(topology.diameter(), 1)),
        }
    }

    /// The mechanism itself.
    pub fn build(&self, base: Minimal) -> Adaptive {
        let by_hop = matches!(base.topology(), Topology::Graph(graph) if !graph.goes_up_and_down());
        Adaptive { escape: base.topology().has_escape(), by_hop, shares: base.vcs().look_ahead(), base }
    }
}

/// Minimal adaptive routing.
#[derive(Clone, Debug)]
pub struct Adaptive {
    base: Minimal,
    /// Whether VC 0 is an escape VC -- constant.
    escape: bool,
    /// Whether a hop has a highest VC, that of its number on the path -- constant.
    by_hop: bool,
    /// Whether a hop may use all VCs below it, too (FlexVC) -- constant.
    shares: bool,
}

impl Adaptive {
    /// The VCs in which a head may use any productive port. Where it may use several, its ports are of one class: all lead up or all down.
    fn vcs(&self, minimal: Way) -> Range<u8> {
        if self.by_hop {
            let first = if self.shares { 0 } else { minimal.vc };
            first..minimal.vc + 1
        } else {
            u8::from(self.escape)..self.base.vcs().used(minimal.class)
        }
    }
}

impl Mechanism for Adaptive {
    const KEEPS_TO_SHORTEST: bool = true;

    fn base(&self) -> &Minimal {
        &self.base
    }

    fn route(&self, head: &Head, state: &mut RouteState, draw: impl Fn() -> Stream) -> Route {
        if head.at_injection() {
            self.base.choose_trunk(head, head.destination, state, draw);
        }
        if head.router == head.destination {
            return Route::Arrived;
        }
        let (first, ports) = self.base.topology().nearer(head.router, head.destination, state.trunk);
        let productive = Productive { ports, first: first as u16, vc: NO_VC };
        // The lowest port is that of the lowest dimension.
        let port = productive.nth(0) as u16;
        let class = self.base.topology().link_class(port.into());
        let vc = self.base.vc_ahead(head, head.destination);
        let hop = Hop { port, class, leg: Leg::Final, reuses: false, vc };
        if !self.escape && ports.is_power_of_two() {
            return Route::Fixed(hop);
        }
        // The escape VC is on the path in order of dimensions.
        let minimal = self.base.way(head, hop);
        let vc = if self.by_hop && !self.shares { minimal.vc } else { NO_VC };
        let choice = Choice::Shortest(Productive { vc, ..productive });
        Route::Undecided(Prospect { minimal, choice })
    }

    fn each_choice(
        &self,
        _: &Head,
        prospect: &Prospect,
        state: RouteState,
        visit: &mut impl FnMut(Way, RouteState),
    ) {
        let Choice::Shortest(productive) = &prospect.choice else { unreachable!("any shortest path") };
        let vcs = self.vcs(prospect.minimal);
        productive.each(|port| {
            let class = self.base.topology().link_class(port);
            vcs.clone().for_each(|vc| visit(Way { port: port as u16, class, vc }, state));
        });
        if self.escape {
            visit(prospect.minimal, state);
        }
    }

    #[inline]
    fn decide(
        &self,
        prospect: &Prospect,
        state: &mut RouteState,
        view: &impl View,
        draws: &mut impl Draws,
    ) -> Decision {
        let Choice::Shortest(productive) = &prospect.choice else { unreachable!("any shortest path") };
        let request =
            view.roomiest(productive, self.vcs(prospect.minimal), |ties| draws.attempt().below(ties));
        let escape = Some(prospect.minimal.highest()).filter(|_| self.escape);
        Decision { request: request.or(escape), after: *state }
    }

    fn redecides(&self) -> bool {
        true
    }
}
