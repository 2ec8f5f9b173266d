//! What families of topologies have in common that are graphs: they say their links, and [`Graph`] does the rest.

use super::graph::Graph;
use super::shortest::{Ties, distances};
use super::wiring::{Edge, MAX_ROUTERS, Second, Wiring};
use super::{MAX_ROUTER_PORTS, NODES_PER_ROUTER};
use crate::error::{ConfigError, valid, within};

/// A network of a family.
///
/// Its routers with nodes are the first ones. The links of a router are in the order of the routers at their other ends, parallel ones one
/// behind the other, and those of the second class follow the first.
pub struct Family {
    /// Name of the family in a document.
    pub name: &'static str,
    /// Number of routers.
    pub routers: u32,
    /// Links of the first class, each once.
    pub links: Vec<[u32; 2]>,
    /// Links of the second class, and what they join.
    pub second: Option<(Vec<[u32; 2]>, Second)>,
    /// How many of the routers, the first ones, have nodes.
    pub routers_with_nodes: u32,
    /// Nodes of each of these.
    pub nodes_per_router: u32,
    /// Whether all shortest paths between routers with nodes go up links of a tree and down again: they wait for each other in no circle.
    pub goes_up_and_down: bool,
    /// Which of several shortest paths packets take.
    pub ties: Ties,
}

impl Family {
    /// The network as a graph.
    pub fn build(self) -> Result<Graph, ConfigError> {
        self.build_at_pace(1)
    }

    /// The network as a graph whose links take so many cycles for a phit.
    pub fn build_at_pace(self, cycles_per_phit: u32) -> Result<Graph, ConfigError> {
        let in_order = move |links: Vec<[u32; 2]>| {
            let mut links: Vec<[u32; 2]> = links.into_iter().map(|[a, b]| [a.min(b), a.max(b)]).collect();
            links.sort_unstable();
            links.into_iter().map(move |between| Edge { between, latency: None, cycles_per_phit })
        };
        let mut edges: Vec<Edge> = in_order(self.links).collect();
        let first = edges.len();
        let second = self.second.map(|(links, second)| {
            edges.extend(in_order(links));
            (second, first)
        });
        let nodes = vec![self.nodes_per_router; self.routers_with_nodes as usize];
        Graph::assemble(&Wiring {
            name: self.name,
            edges: &edges,
            routers: self.routers,
            nodes: &nodes,
            ties: self.ties,
            own_latencies: false,
            goes_up_and_down: self.goes_up_and_down,
            second,
            pace: cycles_per_phit,
        })
    }
}

/// Refuses more routers than the tables of paths have room for. `valid` says what would do.
pub fn check_routers(
    routers: u64,
    key: &str,
    value: &impl ToString,
    valid: String,
) -> Result<(), ConfigError> {
    if routers <= u64::from(MAX_ROUTERS) {
        return Ok(());
    }
    let reason = format!("{routers} routers are too many for the tables of paths, which hold {MAX_ROUTERS}");
    Err(ConfigError::new(key, reason).value(value.to_string()).valid(valid))
}

/// Nodes per router, as given or `default`.
pub fn nodes(given: Option<u32>, default: u32, key: &str) -> Result<u32, ConfigError> {
    let nodes = given.unwrap_or_else(|| default.min(*NODES_PER_ROUTER.end()));
    within(NODES_PER_ROUTER, nodes, key)?;
    Ok(nodes)
}

/// Refuses a router with too many ports, of which it has so many for links and nodes.
pub fn check_ports((links, nodes): (u64, u32), key: &str, value: &impl ToString) -> Result<(), ConfigError> {
    let ports = links + u64::from(nodes);
    if ports <= u64::from(MAX_ROUTER_PORTS) {
        return Ok(());
    }
    let reason = format!("a router would have {ports} ports");
    Err(ConfigError::new(key, reason)
        .value(value.to_string())
        .valid(format!("at most {MAX_ROUTER_PORTS} ports per router, terminal ones included")))
}

/// Refuses another number of routers than `routers`, and a degree that a router cannot have.
pub fn check_degree(routers: u32, degree: u32) -> Result<(), ConfigError> {
    within(2..=MAX_ROUTERS, routers, "routers")?;
    let range = 1..=routers - 1;
    if range.contains(&degree) {
        return Ok(());
    }
    let reason = format!("{routers} routers, each joined to {degree} others by a link each, there are not");
    Err(ConfigError::new("degree", reason).value(degree).valid(valid(&range)))
}

/// Whether links join all of so many routers.
pub fn is_connected(routers: u32, links: &[[u32; 2]]) -> bool {
    let mut peers = vec![Vec::new(); routers as usize];
    for &[one, other] in links {
        peers[one as usize].push(other);
        peers[other as usize].push(one);
    }
    !distances(routers as usize, 0, |router| peers[router as usize].iter().copied()).contains(&u32::MAX)
}
