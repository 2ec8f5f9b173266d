//! Nue routing: see [`Config`].

use super::minimal::Minimal;
use super::nue_paths::NuePaths;
use super::{Head, Hop, Leg, Mechanism, NO_VC, Paths, Place, Route, RouteState, Safety, vcs};
use hopsim_network::error::{ConfigError, within};
use hopsim_network::topology::Topology;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Most routers: the tables grow with their square, and the search for paths faster.
const MAX_ROUTERS: u32 = 2048;

/// Numbers of VCs that paths may be found for.
const VCS: RangeInclusive<u32> = 1..=vcs::MOST;

/// Paths that are found together with the VC that they keep, in any network and in any number of VCs.
///
/// The destinations, which are the routers with nodes, are divided among `vcs` layers, neighbouring numbers in the same one. A layer has a VC of
/// its own, which packets to its destinations have on every link. For one destination after the other a short path is sought from every
/// router, but only paths on which packets of the layer never hold a link while they wait for another one in a circle. Escape paths over the
/// links of a tree close none, whatever else there is, and routers from which no other path is found take those. So a path is longer than a shortest
/// one where all of these would close a circle, with more layers at fewer places. Of equally short paths with equal latency the one is
/// taken whose links have fewest paths already. The next link depends on router and destination alone. Packets that
/// leave the shortest path of the network for that count as misrouted at injection.
///
/// In any network of at most 2,048 routers that all forward packets; a torus needs no bubble then.
///
/// No deadlock in any number of VCs: the links that packets of a layer hold and wait for close no circle. Paths end: no livelock.
///
/// Source: Domke, Hoefler and Matsuoka, HPDC 2016 (Nue). There the destinations are divided by partitions of the graph, and where no path is
/// found the last few links are changed before all paths to a destination become escape paths; here only some do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "NueRouting")]
pub struct Config {
    /// Layers, each with a VC.
    #[schemars(range(min = *VCS.start(), max = *VCS.end()))]
    pub vcs: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { vcs: 1 }
    }
}

impl Config {
    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        within(VCS, self.vcs, "vcs")?;
        let routers = topology.routers();
        if routers > MAX_ROUTERS {
            let reason = format!("the search for paths between {routers} routers would take too long");
            return Err(ConfigError::new("", reason).valid(format!("at most {MAX_ROUTERS} routers")));
        }
        let paths = NuePaths::new(topology, self.vcs);
        Ok(Paths { hops: paths.longest(), safety: Safety::Destinations(Arc::new(paths)) })
    }

    /// The mechanism itself.
    pub fn build(&self, base: Minimal) -> Nue {
        let paths = base.vcs().of_destinations();
        let paths = paths.unwrap_or_else(|| Arc::new(NuePaths::new(base.topology(), self.vcs)));
        Nue { base, paths }
    }
}

/// Nue routing.
#[derive(Clone, Debug)]
pub struct Nue {
    base: Minimal,
    paths: Arc<NuePaths>,
}

impl Mechanism for Nue {
    fn base(&self) -> &Minimal {
        &self.base
    }

    fn route(&self, head: &Head, state: &mut RouteState, _draw: impl Fn() -> Stream) -> Route {
        let (here, to) = (head.router, head.destination);
        if here == to {
            return Route::Arrived;
        }
        let topology = self.base.topology();
        if head.at_injection() && self.paths.hops(here, to) > topology.distance(here, to) {
            state.misroute(Place::Injection);
        }
        let port = self.paths.port(here, to);
        let class = topology.link_class(port.into());
        Route::Fixed(Hop { port, class, leg: Leg::Final, reuses: false, vc: NO_VC })
    }
}
