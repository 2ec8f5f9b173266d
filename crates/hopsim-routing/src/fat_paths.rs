//! Routing in layers of links: see [`Config`].

use super::minimal::Minimal;
use super::multipath::{DrawnBy, check_table, graph};
use super::on_paths::OnPaths;
use super::path_table::PathTable;
use super::{Paths, vcs};
use hopsim_network::error::{ConfigError, within};
use hopsim_network::topology::faults::{LinkEnd, Missing, links};
use hopsim_network::topology::graph::Graph;
use hopsim_network::topology::{Interconnect as _, Topology};
use hopsim_random::{Purpose, Streams};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The links of the network are there in several layers, all of them in layer 0 and a part of them, which is drawn, in each of the others. A
/// packet takes a layer, each of them as likely as the others, and in it the shortest path between the routers of its two nodes: every packet
/// draws for itself (`by = "packet"`), or all packets from one node to another draw the same (`by = "flow"`). In networks that have one
/// shortest path between most routers, as a slim fly has, the other layers have paths that are a little longer and lead over other links.
///
/// Of the links of a network, numbered by router and port of their lower end, each layer but the first has the nearest whole number to
/// `fraction` of all: the first ones of an order that is drawn from `seed` and the number of the layer. Of equally short paths in a layer packets take
/// the one that the `ties` of the topology say. Where a layer has no path they take that of layer 0.
///
/// For graphs and their families, with 2,048 routers with nodes at most. A flow draws its layer from `seed` too. A hop has the VC whose number is
/// that of the links passed before, so a link has as many VCs as the longest of the paths has links: VCs increase along every path, no
/// deadlock, and paths end, so no livelock.
///
/// Source: Besta et al., SC 2020 (FatPaths), §5, layers by random sampling of links. The paper chooses a layer by flowlet, and this by packet or by flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "FatPathsRouting")]
pub struct Config {
    /// Layers, the one of all links included.
    #[schemars(range(min = *LAYERS.start(), max = *LAYERS.end()))]
    pub layers: u32,
    /// Share of all links that each of the other layers has.
    #[schemars(range(min = *FRACTIONS.start(), max = *FRACTIONS.end()))]
    pub fraction: f64,
    /// Who draws.
    pub by: DrawnBy,
    /// What the links of the layers are drawn from, and the layers of flows.
    pub seed: u64,
}

/// Layers that there may be.
const LAYERS: RangeInclusive<u32> = 1..=32;

/// Shares of all links that a layer may have.
const FRACTIONS: RangeInclusive<f64> = 0.0..=1.0;

impl Default for Config {
    fn default() -> Self {
        Self { layers: 9, fraction: 0.6, by: DrawnBy::default(), seed: 1 }
    }
}

impl Config {
    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        within(LAYERS, self.layers, "layers")?;
        within(FRACTIONS, self.fraction, "fraction")?;
        let graph = graph(topology)?;
        check_table(graph, ("layers", self.layers))?;
        let links = self.table(topology, graph).longest();
        if links > vcs::MOST {
            let reason = format!(
                "a path in one of the layers has {links} links and needs as many VCs, and a link has at most {}",
                vcs::MOST
            );
            return Err(ConfigError::new("fraction", reason)
                .value(self.fraction)
                .valid("a greater share, fewer layers or another seed"));
        }
        Ok(Paths::by_hop(links.max(1)))
    }

    /// The paths of all layers, of a topology that is a graph.
    fn table(&self, topology: &Topology, graph: &Graph) -> PathTable {
        let all = links(topology);
        let layer = |number: u32| {
            graph.without(&Missing { links: self.left_out(&all, number), ..Missing::default() })
        };
        let layers: Vec<Graph> = (1..self.layers).map(layer).collect();
        let routers = 0..graph.routers_with_nodes();
        let pairs = routers.clone().flat_map(|from| routers.clone().map(move |to| (from, to)));
        let paths = pairs.map(|(from, to)| {
            let leading = layers.iter().map(|layer| if layer.reaches(from, to) { layer } else { graph });
            let all = std::iter::once(graph).chain(leading).filter(|_| from != to);
            all.map(|layer| path(layer, from, to)).collect::<Vec<_>>()
        });
        PathTable::of_ports(graph.routers_with_nodes(), paths)
    }

    /// What a layer other than the first lacks of all links.
    fn left_out(&self, all: &[(LinkEnd, u8)], layer: u32) -> BTreeSet<LinkEnd> {
        let mut order: Vec<LinkEnd> = all.iter().map(|&(end, _)| end).collect();
        Streams::new(self.seed, Purpose::PathLayer).stream(layer.into()).shuffle(&mut order);
        let kept = (self.fraction * all.len() as f64).round() as usize;
        order.into_iter().skip(kept).collect()
    }

    /// The mechanism over the minimal paths of `base`.
    pub fn build(&self, base: Minimal) -> FatPaths {
        let topology = base.topology();
        let table = graph(topology).map(|graph| self.table(topology, graph));
        let table = table.unwrap_or_else(|_| unreachable!("the plan refuses other topologies"));
        OnPaths::new(Arc::new(table), self.by.draw(Some(self.seed)), base)
    }
}

/// The ports of the links of a shortest path.
fn path(graph: &Graph, from: u32, to: u32) -> Vec<u16> {
    let (mut at, mut ports) = (from, Vec::new());
    while at != to {
        let port = graph.first_port(at, to);
        let Some((next, _)) = graph.neighbour(at, port) else { unreachable!("paths follow links") };
        ports.push(port as u16);
        at = next;
    }
    ports
}

/// The shortest path in one of several layers of links.
pub type FatPaths = OnPaths;
