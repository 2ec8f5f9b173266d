//! What a topology is like, whatever runs on it.

use crate::survey::Survey;
use hopsim_network::topology::parallel_search::Apart;
use hopsim_network::topology::{PortClass, Topology, TopologyConfig};
use serde::{Serialize, Serializer};

/// A link between two routers: their numbers, that of the port of the first one being the lower, and the name of its class.
pub type ListedLink = (u32, u32, &'static str);

/// Numbers of a topology. Links are those between routers; those to nodes do not count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TopologyInfo {
    /// Name of the topology in a document.
    pub topology: &'static str,
    /// Number of routers.
    pub routers: u32,
    /// Number of routers that have nodes.
    pub routers_with_nodes: u32,
    /// Number of nodes.
    pub nodes: u32,
    /// Number of groups; 1 of a topology without groups.
    pub groups: u32,
    /// Number of links.
    pub links: usize,
    /// Number of links by class.
    #[serde(serialize_with = "as_object")]
    pub links_by_class: Vec<(&'static str, usize)>,
    /// Links of the router that has fewest.
    pub degree_min: usize,
    /// Links of the router that has most.
    pub degree_max: usize,
    /// Links between the two routers that are farthest from each other, of those that reach each other: routers of different planes do not.
    pub diameter: u32,
    /// Links between the two routers with nodes that are farthest from each other.
    pub diameter_with_nodes: u32,
    /// Mean number of links between two different routers, over ordered pairs that reach each other; 0 if there are none.
    pub mean_distance: f64,
    /// Links of the best cut found between two halves of the nodes.
    pub bisection_upper_bound: usize,
}

impl TopologyInfo {
    /// Counts and measures a topology.
    pub fn new(config: &TopologyConfig, topology: &Topology) -> Self {
        let survey = Survey::of_topology(topology);
        let peers = peers(topology);
        let degrees = || peers.iter().map(Vec::len);
        let with_nodes = topology.routers_with_nodes();
        let apart = Apart::new(&peers, (with_nodes, topology.adapters()));
        Self {
            topology: config.name(),
            routers: topology.routers(),
            routers_with_nodes: with_nodes,
            nodes: topology.nodes(),
            groups: topology.groups(),
            links: degrees().sum::<usize>() / 2,
            links_by_class: survey.links,
            degree_min: degrees().min().unwrap_or(0),
            degree_max: degrees().max().unwrap_or(0),
            diameter: apart.farthest,
            diameter_with_nodes: apart.farthest_of_first,
            mean_distance: apart.sum as f64 / apart.pairs.max(1) as f64,
            bisection_upper_bound: survey.cut,
        }
    }
}

/// An object with a key for each class, in their order.
fn as_object<S: Serializer>(links: &[(&'static str, usize)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(links.iter().copied())
}

/// The links of a topology, each once: by class, then by router and port of the router with the lower number.
pub fn links(topology: &Topology) -> Vec<ListedLink> {
    let (ports, names) = (topology.ports(), topology.link_classes());
    let mut links = Vec::new();
    for (number, &name) in (0..).zip(names) {
        let of_class = |port: &usize| ports[*port] == PortClass::Link(number);
        for router in 0..topology.routers() {
            let peers = (0..ports.len()).filter(of_class).filter_map(|port| topology.neighbour(router, port));
            links.extend(peers.filter(|&(peer, _)| router < peer).map(|(peer, _)| (router, peer, name)));
        }
    }
    links
}

/// The routers at the other ends of the links of every router.
fn peers(topology: &Topology) -> Vec<Vec<u32>> {
    let ports = topology.ports().len();
    let of = |router| {
        (0..ports).filter_map(|port| topology.neighbour(router, port)).map(|(peer, _)| peer).collect()
    };
    (0..topology.routers()).map(of).collect()
}
