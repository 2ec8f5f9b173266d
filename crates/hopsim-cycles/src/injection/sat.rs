//! SAT, a signal that goes round the nodes: see [`Config`].

use hopsim_network::error::ConfigError;
use hopsim_network::topology::Topology;
use hopsim_network::topology::cube::Cube;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every node may inject `k` packets; then it waits until the signal has come by. A node that has the signal passes it on when
/// it has injected at least `l` packets since the last time, or has none to inject, and may then inject `k` again. So no
/// node gets less than l packets per round while others get more than k.
///
/// The signal takes as long from node to node as the links between their routers, one cycle more from a node that has
/// something to inject. It goes round a mesh, torus or ring on a Hamiltonian cycle of neighbours where there is one (a mesh
/// with an even side and two dimensions; any torus side); elsewhere it takes the shortest way between routers in the order of
/// their numbers. In a fat tree it goes down to every node and up again: 2k + k·H(n − 1) links.
///
/// Thresholds: k ≥ l ≥ A·(H + N)/L for N nodes, H links of the walk, packets of L phits and an average share of A phits per
/// cycle and node; small ones throttle, large ones let unfairness through.
///
/// Source: Izu and Vallejo, Simulation 2019, §2.1 and §4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SatInjection")]
pub struct Config {
    /// Packets after which a node passes the signal on \[1 … k\].
    #[schemars(range(min = 1))]
    pub l: u32,
    /// Most packets that a node injects between two visits of the signal \[l …\].
    #[schemars(range(min = 1))]
    pub k: u32,
}

/// The thresholds and the walk.
#[derive(Clone, Debug)]
pub struct Sat {
    /// Packets after which a node passes the signal on, see [`Config::l`].
    pub l: u32,
    /// Most packets that a node injects between two visits of the signal, see [`Config::k`].
    pub k: u32,
    /// The nodes in the order of the walk, each with the cycles to the next one -- constant.
    pub walk: Vec<(u32, u32)>,
}

impl Config {
    /// Checks the thresholds and lays out the walk over links of these latencies, by class.
    pub fn build(&self, topology: &Topology, latencies: &[u32]) -> Result<Sat, ConfigError> {
        for (key, value, valid) in [("k", self.k, "1 …"), ("l", self.l, "1 … k")] {
            if value == 0 {
                return Err(ConfigError::new(key, "no node would get to inject").value(0).valid(valid));
            }
        }
        if self.l > self.k {
            let reason =
                format!("a node may inject only {} packets before it has to pass the signal on", self.k);
            return Err(ConfigError::new("l", reason).value(self.l).valid(format!("1 … {}", self.k)));
        }
        let nodes = nodes_in_order(topology);
        let next = nodes.iter().cycle().skip(1);
        let walk = nodes.iter().zip(next).map(|(&from, &to)| (from, cycles(topology, latencies, from, to)));
        Ok(Sat { l: self.l, k: self.k, walk: walk.collect() })
    }
}

/// Cycles that the signal takes from one node to another.
fn cycles(topology: &Topology, latencies: &[u32], from: u32, to: u32) -> u32 {
    let per_router = topology.nodes_per_router();
    let (from, to) = (from / per_router, to / per_router);
    let links = topology.minimal_latency(from, to, (latencies, 0));
    // In a tree the links between switches and nodes count.
    let ends = if matches!(topology, Topology::FatTree(_)) { 2 * latencies[0] } else { 0 };
    (links + ends).max(1)
}

fn nodes_in_order(topology: &Topology) -> Vec<u32> {
    let per_router = topology.nodes_per_router();
    let Topology::Cube(cube) = topology else { return (0..topology.nodes()).collect() };
    let nodes = |router: u32| router * per_router..(router + 1) * per_router;
    hamiltonian(cube).into_iter().flat_map(nodes).collect()
}

/// The routers in an order in which neighbours follow each other, and the first one the last, if there is such an order.
fn hamiltonian(cube: &Cube) -> Vec<u32> {
    let sides = cube.sides();
    // Of the even sides the longest: its rows are run through to and fro, but for their first routers, which lead back.
    let even = (0..sides.len()).filter(|&d| sides[d].is_multiple_of(2)).max_by_key(|&d| sides[d]);
    let strides: Vec<u32> = (0..sides.len()).map(|dimension| sides[..dimension].iter().product()).collect();
    match even {
        Some(even) if sides.len() > 1 => {
            let others: Vec<usize> = (0..sides.len()).filter(|&d| d != even).collect();
            let row = to_and_fro(sides, &strides, &others);
            let mut order = Vec::new();
            for place in 0..sides[even] {
                let mut inner = row[1..].to_vec();
                if place % 2 == 1 {
                    inner.reverse();
                }
                order.extend(inner.iter().map(|router| router + place * strides[even]));
            }
            order.extend((0..sides[even]).rev().map(|place| row[0] + place * strides[even]));
            order
        }
        _ => to_and_fro(sides, &strides, &(0..sides.len()).collect::<Vec<_>>()),
    }
}

/// All routers that differ in some dimensions only, neighbours after each other (reflected Gray code).
fn to_and_fro(sides: &[u32], strides: &[u32], dimensions: &[usize]) -> Vec<u32> {
    let mut order = vec![0];
    for &dimension in dimensions {
        let inner = order.clone();
        order.clear();
        for place in 0..sides[dimension] {
            let routers = inner.iter().map(|router| router + place * strides[dimension]);
            if place % 2 == 0 { order.extend(routers) } else { order.extend(routers.rev()) }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopsim_network::topology::TopologyConfig;
    use serde_json::{Value, json};

    fn sat(topology: Value) -> Sat {
        let config: TopologyConfig = serde_json::from_value(topology).unwrap();
        Config { l: 1, k: 1 }.build(&config.build().unwrap(), &[1, 1]).unwrap()
    }

    fn length(sat: &Sat) -> u32 {
        sat.walk.iter().map(|&(_, cycles)| cycles).sum()
    }

    #[test]
    fn the_walk_visits_every_node_once_and_takes_a_link_per_node_where_it_can() {
        for (topology, nodes) in [
            (json!({ "mesh": { "sides": [8, 8] } }), 64),
            (json!({ "mesh": { "sides": [5, 4] } }), 20),
            (json!({ "mesh": { "sides": [3, 3, 2] } }), 18),
            (json!({ "torus": { "sides": [4, 5, 3] } }), 60),
            (json!({ "ring": { "routers": 9 } }), 9),
        ] {
            let sat = sat(topology.clone());
            let mut visited: Vec<u32> = sat.walk.iter().map(|&(node, _)| node).collect();
            visited.sort_unstable();
            assert_eq!(visited, (0..nodes).collect::<Vec<_>>(), "{topology}");
            assert_eq!(length(&sat), nodes, "{topology}");
        }
    }

    #[test]
    fn along_one_dimension_the_walk_goes_up_from_node_0() {
        for topology in [json!({ "ring": { "routers": 8 } }), json!({ "mesh": { "sides": [6] } })] {
            let nodes: Vec<u32> = sat(topology.clone()).walk.iter().map(|&(node, _)| node).collect();
            assert!(nodes.is_sorted() && nodes[0] == 0, "{topology}: {nodes:?}");
        }
    }

    #[test]
    fn the_walk_of_a_tree_has_the_length_of_the_paper() {
        for (levels, links) in [(1, 8), (2, 40), (3, 168)] {
            assert_eq!(length(&sat(json!({ "fat_tree": { "k": 4, "levels": levels } }))), links);
        }
    }
}
