//! The order of ranks: which node of a placement runs which rank of a program.

use hopsim_network::error::ConfigError;
use hopsim_network::topology::Topology;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In which order ranks take the nodes of their placement; default: of a draw the order in which they were drawn, of a list or file
/// the order in which it names them, else ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RankOrder {
    /// By the number of the node; in a mesh or torus row by row.
    Ascending,
    /// At random, by the seed.
    Random,
    /// In turn over routers or groups: the first node of each, then the second of each.
    RoundRobin(Unit),
    /// Column by column (mesh, torus): the last dimension first.
    Column,
}

/// What ranks go round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Routers.
    Routers,
    /// Groups of routers (dragonfly).
    Groups,
}

impl RankOrder {
    /// Nodes in this order, whatever theirs was.
    pub fn arrange(
        self,
        nodes: Vec<u32>,
        topology: &Topology,
        stream: &mut Stream,
    ) -> Result<Vec<u32>, ConfigError> {
        let mut ordered = nodes;
        match self {
            Self::Ascending => ordered.sort_unstable(),
            Self::Random => {
                ordered.sort_unstable();
                stream.shuffle(&mut ordered);
            }
            Self::RoundRobin(unit) => {
                let per_group = topology.routers_with_nodes().div_ceil(topology.groups());
                let routers = if unit == Unit::Groups { per_group } else { 1 };
                ordered.sort_unstable();
                ordered = dealt(&ordered, |node| topology.router_of(node) / routers);
            }
            Self::Column => {
                let Topology::Cube(cube) = topology else {
                    return Err(ConfigError::new("", "the topology has no columns")
                        .value("column")
                        .valid("ascending, random, round_robin, or a mesh or torus"));
                };
                ordered.sort_unstable_by_key(|&node| (cube.coordinates(topology.router_of(node)), node));
            }
        }
        Ok(ordered)
    }
}

/// The first node of every unit that has one, then the second of each, and so on.
fn dealt(nodes: &[u32], unit_of: impl Fn(u32) -> u32) -> Vec<u32> {
    let mut turns: Vec<(usize, u32)> = Vec::with_capacity(nodes.len());
    for unit in nodes.chunk_by(|&one, &other| unit_of(one) == unit_of(other)) {
        turns.extend((0..).zip(unit.iter().copied()));
    }
    turns.sort_unstable();
    turns.into_iter().map(|(_, node)| node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopsim_network::topology::TopologyConfig;
    use hopsim_random::Purpose;

    fn arranged(topology: &str, order: &str, nodes: &[u32]) -> Result<Vec<u32>, ConfigError> {
        let config: TopologyConfig = serde_json::from_str(topology).unwrap();
        let order: RankOrder = serde_json::from_str(order).unwrap();
        let mut stream = Stream::new(1, Purpose::RankOrder, 0);
        order.arrange(nodes.to_vec(), &config.build().unwrap(), &mut stream)
    }

    const DRAGONFLY: &str = r#"{ "dragonfly": { "p": 2, "a": 2, "h": 1 } }"#;
    const MESH: &str = r#"{ "mesh": { "sides": [3, 2] } }"#;

    #[test]
    fn ranks_go_round_routers_and_groups() {
        let nodes = [0, 1, 2, 3, 5, 8, 9];
        let routers = arranged(DRAGONFLY, r#"{ "round_robin": "routers" }"#, &nodes).unwrap();
        assert_eq!(routers, [0, 2, 5, 8, 1, 3, 9]);
        let groups = arranged(DRAGONFLY, r#"{ "round_robin": "groups" }"#, &nodes).unwrap();
        assert_eq!(groups, [0, 5, 8, 1, 9, 2, 3]);
    }

    #[test]
    fn columns_have_the_last_dimension_first() {
        assert_eq!(arranged(MESH, r#""column""#, &[0, 1, 2, 3, 4, 5]).unwrap(), [0, 3, 1, 4, 2, 5]);
        let refused = arranged(DRAGONFLY, r#""column""#, &[0, 1]).unwrap_err();
        assert_eq!(refused.reason, "the topology has no columns");
    }

    #[test]
    fn any_order_has_the_same_nodes() {
        let nodes: Vec<u32> = (0..12).collect();
        for order in [r#""random""#, r#""ascending""#, r#"{ "round_robin": "groups" }"#] {
            let mut ordered = arranged(DRAGONFLY, order, &nodes).unwrap();
            assert_eq!(ordered == nodes, order.contains("ascending"), "{order}");
            ordered.sort_unstable();
            assert_eq!(ordered, nodes, "{order}");
        }
    }
}
