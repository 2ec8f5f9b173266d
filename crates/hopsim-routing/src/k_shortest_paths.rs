//! Routing over several short paths: see [`Config`].

use super::minimal::Minimal;
use super::multipath::{DrawnBy, check_table, graph};
use super::on_paths::OnPaths;
use super::path_table::{MOST_STEPS, PathTable, TooLong};
use super::{Paths, vcs};
use hopsim_network::error::{ConfigError, within};
use hopsim_network::topology::Topology;
use hopsim_network::topology::graph::Graph;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A packet takes one of the `k` shortest paths between the routers of its two nodes, each of them as likely as the others, whether it is a
/// shortest one or not: every packet draws for itself (`by = "packet"`), or all packets from one node to another draw the same (`by =
/// "flow"`). In random networks, which have few shortest paths between two routers and many that are hardly longer, that spreads the load
/// over more links than `ecmp` does.
///
/// The paths between two routers with nodes pass no router twice and have 16 links at most. Shorter ones come first. Equally long ones
/// are in the order of their first links, those of the same first link in the order of their second ones, and so on, where the links of a
/// router are in the order of their ports, from number r modulo how many there are on and round to the one before. The number r is drawn for
/// the two routers from `seed`, so that no links are preferred by all. Two paths differ if they have different links. Fewer than `k` paths
/// are taken where there are no more.
///
/// For graphs and their families, with 2,048 routers with nodes at most. A flow draws its path from `seed` too. A hop
/// has the VC whose number is that of the links passed before, so a link has as many VCs as the longest of the paths has links: VCs
/// increase along every path, no deadlock, and paths end, so no livelock.
///
/// Source: Singla et al., NSDI 2012, §4.2 (k = 8 in jellyfish networks); Yen, Management Science 17 (1971), k shortest paths without loops.
/// How equally long ones are ordered is ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "KShortestPathsRouting")]
pub struct Config {
    /// Paths between two routers.
    #[schemars(range(min = *COUNTS.start(), max = *COUNTS.end()))]
    pub k: u32,
    /// Who draws.
    pub by: DrawnBy,
    /// What the order of equally long paths is drawn from, and the paths of flows.
    pub seed: u64,
}

/// Paths that two routers may have.
const COUNTS: RangeInclusive<u32> = 1..=64;

impl Default for Config {
    fn default() -> Self {
        Self { k: 8, by: DrawnBy::default(), seed: 1 }
    }
}

impl Config {
    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        within(COUNTS, self.k, "k")?;
        let graph = graph(topology)?;
        check_table(graph, ("k", self.k))?;
        Ok(Paths::by_hop(self.table(graph)?.longest().max(1)))
    }

    fn table(&self, graph: &Graph) -> Result<PathTable, ConfigError> {
        PathTable::shortest(graph, self.k, vcs::MOST, self.seed).map_err(|TooLong { pair: [from, to] }| {
            let reason = format!(
                "between routers {from} and {to} so many paths are not found by following {MOST_STEPS} links"
            );
            ConfigError::new("k", reason).value(self.k).valid("fewer paths, or routing.ecmp")
        })
    }

    /// The mechanism over the minimal paths of `base`.
    pub fn build(&self, base: Minimal) -> KShortestPaths {
        let Topology::Graph(graph) = base.topology() else {
            unreachable!("the plan refuses other topologies")
        };
        let table = self.table(graph).unwrap_or_else(|_| unreachable!("they have been found before"));
        OnPaths::new(Arc::new(table), self.by.draw(Some(self.seed)), base)
    }
}

/// One of several short paths.
pub type KShortestPaths = OnPaths;
