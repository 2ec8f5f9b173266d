//! What mechanisms share that let packets between two routers take one of several paths.

use super::{Head, Paths, vcs};
use hopsim_network::error::ConfigError;
use hopsim_network::topology::graph::Graph;
use hopsim_network::topology::{Interconnect as _, Topology};
use hopsim_random::{Purpose, Stream, Streams};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most links of a router: a head has a bit for each.
const MOST_LINKS: u32 = 64;

/// What paths are drawn by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DrawnBy {
    /// Every packet draws for itself.
    #[default]
    Packet,
    /// All packets from one node to another draw the same.
    Flow,
}

/// How paths are drawn.
#[derive(Clone, Debug)]
pub enum Draw {
    /// Every packet draws for itself.
    Packet,
    /// What flows draw from.
    Flow(Streams),
}

impl DrawnBy {
    /// Refuses a seed where nothing is drawn from it.
    pub fn check(self, seed: Option<u64>) -> Result<(), ConfigError> {
        let Some(seed) = seed.filter(|_| self == Self::Packet) else { return Ok(()) };
        let reason = "packets draw from the numbers of measure.seed";
        Err(ConfigError::new("seed", reason).value(seed).valid("no such key, or by = \"flow\""))
    }

    /// How paths are drawn.
    pub fn draw(self, seed: Option<u64>) -> Draw {
        match self {
            Self::Packet => Draw::Packet,
            Self::Flow => Draw::Flow(Streams::new(seed.unwrap_or(1), Purpose::Flow)),
        }
    }
}

impl Draw {
    /// What a head draws from; `own` are the packet's own numbers in its router. The flow from node s to node d of N draws from stream
    /// number s · N + d, in router r at moment r.
    pub fn stream(&self, head: &Head, topology: &Topology, own: impl Fn() -> Stream) -> Stream {
        match self {
            Self::Packet => own(),
            Self::Flow(streams) => {
                let destination = topology.nodes_of(head.destination).start + u32::from(head.terminal);
                let flow = u64::from(head.source) * u64::from(topology.nodes()) + u64::from(destination);
                streams.stream(flow).at(head.router.into())
            }
        }
    }
}

/// Most routers with nodes: tables of paths grow with their square.
const MOST_ROUTERS: u32 = 2048;

/// Most paths in a table.
const MOST_PATHS: u32 = 1 << 26;

/// The graph in which paths are found; refuses another topology.
pub fn graph(topology: &Topology) -> Result<&Graph, ConfigError> {
    if let Topology::Graph(graph) = topology {
        return Ok(graph);
    }
    Err(ConfigError::new("", "paths are found in a graph")
        .valid("topology.graph or a family of graphs; routing.minimal"))
}

/// Refuses a table of paths that would be too large; a key says how many there are between every two routers with nodes.
pub fn check_table(graph: &Graph, (key, count): (&str, u32)) -> Result<(), ConfigError> {
    let routers = graph.routers_with_nodes();
    if routers > MOST_ROUTERS {
        let reason = format!("{routers} routers have nodes, and the table of paths would be too large");
        return Err(ConfigError::new("", reason)
            .valid(format!("at most {MOST_ROUTERS} routers with nodes, or routing.ecmp")));
    }
    if routers * routers * count > MOST_PATHS {
        let reason =
            format!("between {routers} routers there would be up to {} paths", routers * routers * count);
        return Err(ConfigError::new(key, reason)
            .value(count)
            .valid(format!("1 … {}", MOST_PATHS / (routers * routers))));
    }
    Ok(())
}

/// The paths of a mechanism by which packets take any shortest path of a graph or HyperX, `None` elsewhere. In a HyperX they are not in
/// order.
pub fn shortest_paths(topology: &Topology) -> Result<Option<Paths>, ConfigError> {
    check_links(topology)?;
    match topology {
        Topology::Graph(graph) if graph.goes_up_and_down() => {
            Ok(Some(Paths::any(graph.diameter_with_nodes(), 1)))
        }
        Topology::Graph(graph) => by_hop(graph).map(Some),
        _ => Ok(None),
    }
}

/// Refuses a HyperX or graph with more links of a router than heads look at.
pub fn check_links(topology: &Topology) -> Result<(), ConfigError> {
    let crowded = |links: u32, fewer: &str| {
        let reason = format!("a router has {links} links, and {MOST_LINKS} at most are looked at");
        Err(ConfigError::new("", reason).valid(format!("{fewer}, or routing.minimal, valiant or ugal")))
    };
    match topology {
        Topology::HyperX(hyperx) if hyperx.degree() > MOST_LINKS => crowded(hyperx.degree(), "shorter sides"),
        Topology::Graph(graph) if graph.degree() > MOST_LINKS => {
            crowded(graph.degree(), "fewer links of a router")
        }
        _ => Ok(()),
    }
}

fn by_hop(graph: &Graph) -> Result<Paths, ConfigError> {
    let links = graph.diameter_with_nodes();
    if links > vcs::MOST {
        let reason = format!(
            "a shortest path has up to {links} links and needs as many VCs, and a link has at most {}",
            vcs::MOST
        );
        return Err(ConfigError::new("", reason).valid(format!(
            "routers with nodes at most {} links apart; routing.minimal or up_down",
            vcs::MOST
        )));
    }
    Ok(Paths::sharing(links.max(1)))
}
