//! Equal-cost multi-path routing and packet spraying: see [`Config`].

use super::minimal::Minimal;
use super::multipath::{self, Draw, DrawnBy};
use super::prospect::Productive;
use super::{Head, Hop, Leg, Mechanism, NO_VC, Paths, Route, RouteState, Way};
use hopsim_network::error::ConfigError;
use hopsim_network::topology::Topology;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In every router a packet goes on by one of the links by which it has fewest links left, whatever their latencies, each of them as
/// likely as the others: every packet draws for itself (`by = "packet"`, packet spraying), or all packets from one node to another draw
/// the same (`by = "flow"`, equal-cost multi-path, ECMP). Such a flow takes one path and arrives in the order in which it was sent, but the
/// paths of some flows meet. No buffer is looked at: `adaptive` does that.
///
/// A flow draws in every router by itself, from a stream of random numbers that follows from `seed`, its two nodes and the router.
///
/// For graphs and their families, HyperX networks and fat trees, with 64 links of a router at most. A hop has the VC
/// whose number is that of the links passed before, so a link has as many VCs as the routers with nodes are apart at most: VCs increase along
/// every path, no deadlock. In a fat tree, an XGFT, an orthogonal fat tree and a dragonfly+ a packet may use every VC, as buffers wait for each other first up, then down. Paths are
/// shortest ones: no livelock.
///
/// Source: Hopps, RFC 2992 (2000), ECMP by hash; Dixit et al., INFOCOM 2013, packet spraying; Günther, IEEE Trans. Communications 29
/// (1981), VCs by hops.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EcmpRouting")]
pub struct Config {
    /// Who draws.
    #[serde(default)]
    pub by: DrawnBy,
    /// With `by = "flow"`: what flows draw from; default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl Config {
    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        self.by.check(self.seed)?;
        if let Some(paths) = multipath::shortest_paths(topology)? {
            return Ok(paths);
        }
        let reason = match topology {
            Topology::HyperX(_) => return Ok(Paths::sharing(topology.diameter().max(1))),
            Topology::FatTree(_) => return Ok(Paths::any(topology.diameter(), 1)),
            Topology::Dragonfly(_) => "a dragonfly has one shortest path between most routers",
            _ => "needs a VC for every link of a path, and there are long ones in a mesh, torus or ring",
        };
        Err(ConfigError::new("", reason)
            .valid("topology.graph or a family of graphs, hyperx or fat_tree; routing.minimal"))
    }

    /// The mechanism over the minimal paths of `base`.
    pub fn build(&self, base: Minimal) -> Ecmp {
        Ecmp { draw: self.by.draw(self.seed), base }
    }
}

/// Any shortest path, drawn.
#[derive(Clone, Debug)]
pub struct Ecmp {
    draw: Draw,
    base: Minimal,
}

impl Ecmp {
    /// The ports by which a packet has fewest links left.
    fn ports(&self, head: &Head) -> Productive {
        let (first, ports) = self.base.topology().nearer(head.router, head.destination, 0);
        Productive { ports, first: first as u16, vc: NO_VC }
    }

    fn hop(&self, head: &Head, port: usize) -> Hop {
        let class = self.base.topology().link_class(port);
        let vc = self.base.vc_ahead(head, head.destination);
        Hop { port: port as u16, class, leg: Leg::Final, reuses: false, vc }
    }
}

impl Mechanism for Ecmp {
    const KEEPS_TO_SHORTEST: bool = true;

    fn base(&self) -> &Minimal {
        &self.base
    }

    fn route(&self, head: &Head, _: &mut RouteState, draw: impl Fn() -> Stream) -> Route {
        if head.router == head.destination {
            return Route::Arrived;
        }
        let ports = self.ports(head);
        let several = ports.ports.count_ones();
        let drawn =
            if several > 1 { self.draw.stream(head, self.base.topology(), draw).below(several) } else { 0 };
        Route::Fixed(self.hop(head, ports.nth(drawn)))
    }

    fn each_grant(&self, head: &Head, state: RouteState, visit: &mut impl FnMut(Option<Way>, RouteState)) {
        if head.router == head.destination {
            return visit(None, state);
        }
        self.ports(head).each(|port| visit(Some(self.base.way(head, self.hop(head, port))), state));
    }
}
