//! Topologies of which others are made: products and planes.

use super::cube::Tie;
use super::shortest::Ties;
use super::{Topology, TopologyConfig, graph};
use crate::error::ConfigError;

/// A topology as a part of another one, given by a key of that.
pub fn build(config: &TopologyConfig, key: &str) -> Result<Topology, ConfigError> {
    check(config).and_then(|()| config.build()).map_err(|error| error.within(key))
}

/// Fills in the parameters that a part chose.
pub fn resolve(config: &mut TopologyConfig) {
    if let Ok(built) = config.build() {
        config.resolve(&built);
    }
}

/// Refuses a topology as a part of another one that has no routers, or says more of its links than what they join.
fn check(config: &TopologyConfig) -> Result<(), ConfigError> {
    let name = config.name();
    let refuse = |reason: &str| {
        let valid =
            "mesh, torus, ring, hyperx, fat_tree, graph or a family of graphs with links of one class";
        Err(ConfigError::new(name, reason).valid(valid))
    };
    match config {
        TopologyConfig::Ideal(_) => return refuse("has no routers"),
        TopologyConfig::Dragonfly(_)
        | TopologyConfig::DragonflyPlus(_)
        | TopologyConfig::Product(_)
        | TopologyConfig::Planes(_) => return refuse("has links of two classes of its own"),
        _ => {}
    }
    if let TopologyConfig::Graph(graph) = config {
        check_nodes(&graph.nodes)?;
    }
    let Some((key, reason)) = says_more(config) else { return Ok(()) };
    Err(ConfigError::new(format!("{name}.{key}"), reason).valid("no such key"))
}

/// Refuses a graph whose routers have different numbers of nodes.
fn check_nodes(nodes: &[u32]) -> Result<(), ConfigError> {
    let Some(place) = nodes.windows(2).position(|pair| pair[0] != pair[1]) else { return Ok(()) };
    let reason = "all routers with nodes have as many of them in a network that is a part of another one";
    Err(ConfigError::new(format!("graph.nodes.{}", place + 1), reason)
        .value(nodes[place + 1])
        .valid(format!("{}, as in nodes.{place}", nodes[place])))
}

/// What a topology says of its links beside what they join, and why a part of another topology does not.
fn says_more(config: &TopologyConfig) -> Option<(String, &'static str)> {
    const WHOLE: &str = "paths are those of the whole network, whose ties says which of several packets take";
    const CLASS: &str = "links have the latency of their class, and are as fast as all others";
    if config.ties().is_some_and(|ties| ties != Ties::default()) {
        return Some(("ties".into(), WHOLE));
    }
    match config {
        TopologyConfig::Torus(torus) if torus.tie != Tie::default() => Some(("tie".into(), WHOLE)),
        TopologyConfig::Ring(ring) if ring.tie != Tie::default() => Some(("tie".into(), WHOLE)),
        TopologyConfig::HyperX(hyperx) if hyperx.latency_per_step != 0 => {
            Some(("latency_per_step".into(), CLASS))
        }
        TopologyConfig::Graph(graph) => {
            let own = |edge: &graph::Edge| edge.latency.is_some() || edge.cycles_per_phit != 1;
            let edge = graph.edges.iter().position(own)?;
            let key = if graph.edges[edge].latency.is_some() { "latency" } else { "cycles_per_phit" };
            Some((format!("edges.{edge}.{key}"), CLASS))
        }
        _ => None,
    }
}

/// The links of a topology, each once, as often as there are parallel ones.
pub fn links(topology: &Topology) -> Vec<[u32; 2]> {
    let ports = 0..topology.ports().len();
    let of = |router: u32| {
        ports.clone().filter_map(move |port| Some((router, port, topology.neighbour(router, port)?)))
    };
    let ends = (0..topology.routers()).flat_map(of);
    ends.filter(|&(router, port, (peer, back))| (router, port) < (peer, back))
        .map(|(router, _, (peer, _))| [router, peer])
        .collect()
}
