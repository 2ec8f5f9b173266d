//! Up*/down* routing: see [`Config`].

use super::minimal::Minimal;
use super::{Head, Hop, Leg, Mechanism, NO_VC, Paths, Place, Route, RouteState, Safety};
use hopsim_network::error::ConfigError;
use hopsim_network::topology::Topology;
use hopsim_network::topology::shortest::{Maze, ShortestPaths, Step, Ties, distances};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most routers: the tables of paths grow with their square.
const MAX_ROUTERS: u32 = 2048;

/// A packet goes up some links, then down some, and never up again.
///
/// Up is towards the root: a link leads up to the router with fewer links to the root, of two equally far ones to that of
/// the lower number. Of all such paths a packet takes a shortest one, of those one with least latency, of those one that
/// spreads the paths over the links; it depends on source and destination alone. It is found as in a graph with
/// `ties = "spread"`, where a router counts twice: as one from which a packet may still go up, and, after all of those, as one from
/// which it must go down. Packets that leave the shortest path of the
/// network for that count as misrouted at injection.
///
/// No deadlock in any number of VCs, and a hop may use all of them: the buffers wait for each other first in the order of
/// links up, then of links down, and no circle can close. At most twice as many links as the farthest router is from the
/// root: no livelock. Links near the root are crowded.
///
/// In a network of at most 2,048 routers; a torus needs no bubble then.
///
/// Source: Schroeder et al., IEEE JSAC 9 (1991), Autonet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "UpDownRouting")]
pub struct Config {
    /// The root, a router; default the one whose farthest router is nearest, of several that of the lowest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<u32>,
}

impl Config {
    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        let routers = topology.routers();
        if routers > MAX_ROUTERS {
            let reason = format!("the tables of paths between {routers} routers would be too large");
            return Err(ConfigError::new("", reason).valid(format!("at most {MAX_ROUTERS} routers")));
        }
        if let Some(root) = self.root.filter(|&root| root >= routers) {
            return Err(ConfigError::new("root", format!("the network has {routers} routers"))
                .value(root)
                .valid(format!("0 … {}", routers - 1)));
        }
        let depth = self.levels(topology).into_iter().max().unwrap_or(0);
        Ok(Paths { hops: 2 * depth, safety: Safety::Any { vcs: 1, bubble: false } })
    }

    /// The mechanism itself.
    pub fn build(&self, base: Minimal) -> UpDown {
        let topology = base.topology();
        let (routers, ports) = (topology.routers(), topology.ports().len());
        let levels = self.levels(topology);
        let leads_up = |router: u32, port: usize| {
            let rank = |router: u32| (levels[router as usize], router);
            topology.neighbour(router, port).is_some_and(|(peer, _)| rank(peer) < rank(router))
        };
        let all = (0..routers).flat_map(|router| (0..ports).map(move |port| (router, port)));
        let ups: Vec<bool> = all.map(|(router, port)| leads_up(router, port)).collect();
        let paths = ShortestPaths::new(&maze(topology, &ups), Ties::Spread);
        UpDown { base, paths, ups, routers, ports }
    }

    /// Links from the root to every router.
    fn levels(&self, topology: &Topology) -> Vec<u32> {
        let ports = topology.ports().len();
        let neighbours = |router| {
            (0..ports).filter_map(move |port| topology.neighbour(router, port)).map(|(peer, _)| peer)
        };
        let levels = |root| distances(topology.routers() as usize, root, neighbours);
        if let Some(root) = self.root {
            return levels(root);
        }
        let depth = |levels: &Vec<u32>| levels.iter().copied().max();
        let all = (0..topology.routers()).map(levels);
        all.min_by_key(depth).unwrap_or_default()
    }
}

/// Places are routers in which a packet may still go up, then the same routers where it must go down.
fn maze(topology: &Topology, ups: &[bool]) -> Maze {
    let (routers, ports) = (topology.routers(), topology.ports().len());
    let with_nodes = topology.nodes() / topology.nodes_per_router();
    let step = |router: u32, port: usize| {
        let (peer, _) = topology.neighbour(router, port)?;
        let link = router * ports as u32 + port as u32;
        let to = if ups[link as usize] { peer } else { routers + peer };
        let latency = topology.latency(router, port, 1);
        Some(Step { port: port as u16, link, latency, to })
    };
    let any = |router| (0..ports).filter_map(|port| step(router, port)).collect::<Vec<_>>();
    let down = |router| any(router).into_iter().filter(|step| step.to >= routers).collect();
    Maze {
        steps: (0..routers).map(any).chain((0..routers).map(down)).collect(),
        ends: (0..with_nodes).map(|router| vec![router, routers + router]).collect(),
        links: ups.len(),
    }
}

/// Up*/down* routing.
#[derive(Clone, Debug)]
pub struct UpDown {
    base: Minimal,
    paths: ShortestPaths,
    /// Whether a link leads up, by router · ports + port -- constant.
    ups: Vec<bool>,
    routers: u32,
    ports: usize,
}

impl Mechanism for UpDown {
    fn base(&self) -> &Minimal {
        &self.base
    }

    fn route(&self, head: &Head, state: &mut RouteState, _draw: impl Fn() -> Stream) -> Route {
        if head.router == head.destination {
            return Route::Arrived;
        }
        // The link that it has come down leads up from here.
        let down = !head.at_injection() && self.ups[head.router as usize * self.ports + head.input as usize];
        let place = if down { self.routers + head.router } else { head.router };
        if head.at_injection() {
            let shortest: u16 = self.base.topology().minimal_hops(head.router, head.destination).iter().sum();
            if self.paths.hops(place, head.destination) > Some(shortest) {
                state.misroute(Place::Injection);
            }
        }
        let port = self.paths.port(place, head.destination) as u16;
        let class = self.base.topology().link_class(port.into());
        Route::Fixed(Hop { port, class, leg: Leg::Final, reuses: false, vc: NO_VC })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequence::VcSequence;
    use crate::vcs::Vcs;
    use hopsim_network::network::{ClassSpec, Classes};
    use hopsim_network::topology::TopologyConfig;
    use serde_json::{Value, json};
    use std::sync::Arc;

    fn up_down(topology: Value, root: Option<u32>) -> UpDown {
        let config: TopologyConfig = serde_json::from_value(topology).unwrap();
        let topology = Arc::new(config.build().unwrap());
        let spec = ClassSpec { vcs: 1, buffer: 8, latency: 1, bubble: 0 };
        let classes = Classes { terminal: spec, links: vec![spec], ejection: 1, one_way: 1 };
        let vcs = Vcs::increasing(VcSequence::unordered(&classes, 0));
        Config { root }.build(Minimal::new(topology, vcs))
    }

    /// The routers that a packet passes.
    fn way(routing: &UpDown, from: u32, to: u32) -> Vec<u32> {
        let (mut way, mut input, mut code) = (vec![from], 0, 0);
        loop {
            let router = way[way.len() - 1];
            let head = Head {
                router,
                input,
                code,
                source: from,
                destination: to,
                terminal: 0,
                ejection_vc: 0,
                reply: false,
            };
            let Route::Fixed(hop) = routing.route(&head, &mut RouteState::NEW.clone(), || unreachable!())
            else {
                return way;
            };
            let topology = routing.base().topology();
            let (next, port) = topology.neighbour(router, hop.port as usize).unwrap();
            way.push(next);
            (input, code) = (port as u16, 1);
        }
    }

    #[test]
    fn in_a_ring_no_path_leads_over_the_link_opposite_the_root() {
        // Routers 2 and 3 are equally far from the root, and 3 is below 2: a way 1 - 2 - 3 - 4 would go down and up again.
        let routing = up_down(json!({ "ring": { "routers": 5 } }), Some(0));
        assert_eq!(way(&routing, 2, 3), [2, 3]);
        assert_eq!(way(&routing, 1, 3), [1, 2, 3]);
        assert_eq!(way(&routing, 2, 4), [2, 1, 0, 4], "not 2 - 3 - 4, which goes down and up");
        assert_eq!(way(&routing, 4, 2), [4, 0, 1, 2]);
    }

    #[test]
    fn the_default_root_is_the_middle() {
        let mesh = || json!({ "mesh": { "sides": [5, 3] } });
        assert_eq!(up_down(mesh(), None).ups, up_down(mesh(), Some(7)).ups);
        let ring = || json!({ "ring": { "routers": 6 } });
        assert_eq!(up_down(ring(), None).ups, up_down(ring(), Some(0)).ups, "the lowest of equal ones");
    }

    #[test]
    fn in_a_fat_tree_every_path_is_shortest() {
        let routing = up_down(json!({ "fat_tree": { "k": 3, "levels": 3 } }), None);
        let topology = routing.base().topology();
        for (from, to) in (0..9).flat_map(|from| (0..9).map(move |to| (from, to))) {
            let hops: u16 = topology.minimal_hops(from, to).iter().sum();
            assert_eq!(way(&routing, from, to).len(), usize::from(hops) + 1, "{from} to {to}");
        }
    }
}
