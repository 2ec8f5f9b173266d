//! Placement: on which nodes a job runs.

use hopsim_network::error::ConfigError;
use hopsim_network::nothing::Nothing;
use hopsim_network::topology::Topology;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Consecutive groups or nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The first one \[0 …\].
    #[serde(default)]
    pub first: u32,
    /// How many \[1 …\].
    #[schemars(range(min = 1))]
    pub count: u32,
}

/// A number of things drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// How many \[1 …\].
    #[schemars(range(min = 1))]
    pub count: u32,
}

/// On which nodes a job runs. A node runs one job at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// All nodes of the network.
    All(Nothing),
    /// All nodes of consecutive groups.
    Groups(Range),
    /// All nodes of groups drawn at random, by the seed, among those that no other job uses. Ranks of a program take the groups in
    /// the order in which they were drawn, and the nodes of a group ascending, unless `rank_order` says otherwise; traffic knows its
    /// nodes by their number alone, so that for traffic only what is left out makes a difference.
    RandomGroups(Count),
    /// Consecutive nodes.
    Nodes(Range),
    /// Nodes drawn at random, by the seed, among those that no other job uses. Ranks of a program take them in the order in which they
    /// were drawn, also where all nodes are, unless `rank_order` says otherwise; traffic knows its nodes by their number alone, so
    /// that for traffic only what is left out makes a difference.
    RandomNodes(Count),
    /// The nodes named, by number from 0; rank i of a program runs on the i-th of them.
    List(Vec<u32>),
    /// The nodes in a file, relative to the directory of the experiment: a node per line, or a node and the rank that runs on it.
    File(String),
}

impl Default for Placement {
    fn default() -> Self {
        Self::All(Nothing {})
    }
}

fn check(range: Range, total: u32, what: &str) -> Result<std::ops::Range<u32>, ConfigError> {
    let valid = format!("first + count ≤ {total} {what}");
    if range.count == 0 {
        return Err(ConfigError::new("count", "must be at least 1").value(0).valid(valid));
    }
    match range.first.checked_add(range.count) {
        Some(end) if end <= total => Ok(range.first..end),
        _ => Err(ConfigError::new("first", format!("the network has {total} {what}"))
            .value(format!("{} and count = {}", range.first, range.count))
            .valid(valid)),
    }
}

fn sample(count: u32, total: u32, what: &str, stream: &mut Stream) -> Result<Vec<u32>, ConfigError> {
    if total == 0 {
        return Err(ConfigError::new("count", format!("other jobs leave no free {what}"))
            .value(count)
            .valid("smaller placements of the other jobs"));
    }
    if count == 0 || count > total {
        return Err(ConfigError::new("count", format!("the network has {total} free {what}"))
            .value(count)
            .valid(format!("1 … {total}")));
    }
    let mut all: Vec<u32> = (0..total).collect();
    stream.shuffle(&mut all);
    all.truncate(count as usize);
    Ok(all)
}

fn nodes_of_group(topology: &Topology, group: u32) -> impl Iterator<Item = u32> {
    // The first routers have nodes, which are numbered group by group.
    let per_group = topology.nodes().div_ceil(topology.groups());
    group * per_group..((group + 1) * per_group).min(topology.nodes())
}

/// The groups of which no node is taken.
fn free_groups(topology: &Topology, free: impl Fn(u32) -> bool) -> Vec<u32> {
    (0..topology.groups()).filter(|&group| nodes_of_group(topology, group).all(&free)).collect()
}

impl Placement {
    /// Whether a draw among what is `free` takes all of it, so that the seed decides about nothing but the order.
    pub fn leaves_nothing(&self, topology: &Topology, free: impl Fn(u32) -> bool) -> bool {
        match self {
            Self::RandomGroups(Count { count }) => *count as usize == free_groups(topology, free).len(),
            Self::RandomNodes(Count { count }) => {
                *count as usize == (0..topology.nodes()).filter(|&node| free(node)).count()
            }
            _ => false,
        }
    }

    /// Whether the nodes depend on the seed; such jobs are placed after the others, on what is left.
    pub fn is_random(&self) -> bool {
        matches!(self, Self::RandomGroups(_) | Self::RandomNodes(_))
    }

    /// The nodes in the order in which ranks take them: of a draw as drawn, of a list as listed, else ascending. `free` tells which
    /// are not taken by an earlier job (for the random kinds).
    pub fn nodes(
        &self,
        topology: &Topology,
        free: impl Fn(u32) -> bool,
        stream: &mut Stream,
    ) -> Result<Vec<u32>, ConfigError> {
        let total = topology.nodes();
        match self {
            Self::All(_) => Ok((0..total).collect()),
            Self::Groups(range) => {
                let groups = check(*range, topology.groups(), "groups").map_err(|e| e.within("groups"))?;
                Ok(groups.flat_map(|g| nodes_of_group(topology, g)).collect())
            }
            Self::Nodes(range) => Ok(check(*range, total, "nodes").map_err(|e| e.within("nodes"))?.collect()),
            Self::RandomGroups(Count { count }) => {
                let groups = free_groups(topology, &free);
                let drawn = sample(*count, groups.len() as u32, "groups", stream);
                let drawn = drawn.map_err(|e| e.within("random_groups"))?;
                Ok(drawn.into_iter().flat_map(|i| nodes_of_group(topology, groups[i as usize])).collect())
            }
            Self::RandomNodes(Count { count }) => {
                let nodes: Vec<u32> = (0..total).filter(|&n| free(n)).collect();
                let drawn = sample(*count, nodes.len() as u32, "nodes", stream);
                let drawn = drawn.map_err(|e| e.within("random_nodes"))?;
                Ok(drawn.into_iter().map(|i| nodes[i as usize]).collect())
            }
            Self::List(list) => {
                check_list(list, total).map_err(|e| e.within("list"))?;
                Ok(list.clone())
            }
            Self::File(file) => {
                Err(ConfigError::new("file", "has not been read").value(format!("{file:?}")).valid("a list"))
            }
        }
    }
}

fn check_list(list: &[u32], total: u32) -> Result<(), ConfigError> {
    let mut nodes = list.to_vec();
    nodes.sort_unstable();
    if nodes.is_empty() {
        return Err(ConfigError::new("", "names no node").valid(format!("node numbers 0 … {}", total - 1)));
    }
    if let Some(&node) = nodes.iter().find(|&&n| n >= total) {
        return Err(ConfigError::new("", format!("the network has {total} nodes"))
            .value(node)
            .valid(format!("node numbers 0 … {}", total - 1)));
    }
    if let Some(pair) = nodes.windows(2).find(|w| w[0] == w[1]) {
        return Err(ConfigError::new("", "a node is named twice").value(pair[0]).valid("every node once"));
    }
    Ok(())
}
