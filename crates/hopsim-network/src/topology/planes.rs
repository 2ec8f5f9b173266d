//! Planes of a network: see [`Config`].

use super::family::{Family, check_ports, check_routers, nodes};
use super::graph::Graph;
use super::part::{self, links};
use super::shortest::Ties;
use super::wiring::{MAX_ROUTERS, PACES, Second};
use super::{Interconnect as _, NODES_PER_ROUTER, Parameters, Topology, TopologyConfig, cube, graph, xgft};
use crate::error::{ConfigError, valid, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Copies of a network, its planes, with a port of every node into each of them (multi-plane networks, rails).
///
/// In the place of node n of the network stands adapter n: a router of its own with `nodes_per_adapter` nodes and a link to the router of node n in each
/// of the planes. Which link a packet takes there is the choice of its plane: with `ecmp` of a packet or of a flow, with `adaptive` that with
/// most room, with `minimal` that of the table. Adapters forward nothing: no packet passes one that is neither that of its source nor that of its destination, so a packet
/// stays in its plane.
///
/// A link or router that fails leaves the other planes to packets that set out later. A packet in transit whose plane has no way to
/// its destination any more is lost when new tables come into force, also where the network does not fall apart.
///
/// Links of the planes are of class `network` and those of adapters of class `rail`, with latencies, VCs and buffers of their own. With
/// `cycles_per_phit` both are slower than nodes: a node of 800 Gb/s with four ports of 200 has `count = 4` and `cycles_per_phit = 4`.
///
/// Numbering: with R routers and N nodes of the network of a plane, adapter n is router n, and router r of plane p is router N + p · R + r. A router's ports are the terminal ones, which
/// only adapters use, then those of links of the plane, then rails, each in the order of the routers there: rail p of an adapter leads to plane p.
///
/// Routing: `minimal`, `adaptive` and `ecmp`. All other mechanisms may lead packets through any router. At most 20,480 routers, and of more than
/// 2,048 `ties` is `first` or `hash`.
///
/// Source: Hoefler et al., SC 2022 (`HammingMesh`), planes; Mellette et al., IEEE/ACM Trans. Networking 28 (2020), parallel networks of slower links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PlanesTopology")]
pub struct Config {
    /// Number of planes.
    #[schemars(range(min = *PLANES.start(), max = *PLANES.end()))]
    pub count: u32,
    /// The network of each plane.
    pub of: Box<TopologyConfig>,
    /// Nodes of an adapter; default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *NODES_PER_ROUTER.start(), max = *NODES_PER_ROUTER.end()))]
    pub nodes_per_adapter: Option<u32>,
    /// Cycles that a link of a plane, or a rail, takes for a phit; default 1, as fast as a node \[cycles per phit\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *PACES.start(), max = *PACES.end()))]
    pub cycles_per_phit: Option<u32>,
    /// Which of several equally short paths of minimal routing packets take.
    #[serde(default)]
    pub ties: Ties,
}

/// How many planes there can be: as many ports as heads look at.
const PLANES: RangeInclusive<u32> = 2..=64;

impl Parameters for Config {
    type Built = Graph;

    fn build(&self) -> Result<Graph, ConfigError> {
        self.check_count()?;
        let nodes_per_adapter = nodes(self.nodes_per_adapter, 1, "nodes_per_adapter")?;
        let pace = self.cycles_per_phit.unwrap_or(1);
        within(PACES, pace, "cycles_per_phit")?;
        let plane = part::build(&self.of, "of")?;
        let (routers, adapters) = (plane.routers(), plane.nodes());
        let all = u64::from(self.count) * u64::from(routers) + u64::from(adapters);
        let value = format!("{} planes of {routers} routers, and {adapters} adapters", self.count);
        let fitting = format!("planes and adapters of at most {MAX_ROUTERS} routers together");
        check_routers(all, "of", &value, fitting)?;
        let terminals = plane.nodes_per_router();
        let links_of_plane = plane.ports().len() as u64 - u64::from(terminals);
        let rails = u64::from(self.count.max(terminals));
        check_ports((links_of_plane + rails, nodes_per_adapter), "of", &self.of.name())?;
        let number = |plane: u32, router: u32| adapters + plane * routers + router;
        let links = links(&plane);
        let count = self.count;
        let copies = |p: u32| links.iter().map(move |link| link.map(|router| number(p, router)));
        let rails = |p: u32| (0..adapters).map(move |node| (p, node));
        let rail = |(p, node): (u32, u32)| [node, number(p, plane.router_of(node))];
        Family {
            name: "planes",
            routers: all as u32,
            links: (0..count).flat_map(copies).collect(),
            second: Some(((0..count).flat_map(rails).map(rail).collect(), Second::Rails)),
            routers_with_nodes: adapters,
            nodes_per_router: nodes_per_adapter,
            goes_up_and_down: matches!(&plane, Topology::Graph(graph) if graph.goes_up_and_down()),
            ties: self.ties,
        }
        .build_at_pace(pace)
    }

    fn load(&mut self, read: impl Fn(&str) -> Result<graph::Contents, String>) -> Result<(), ConfigError> {
        let read: &dyn Fn(&str) -> Result<graph::Contents, String> = &read;
        self.of.load(read).map_err(|error| error.within("of"))
    }

    fn resolve(&mut self, built: &Graph) {
        part::resolve(&mut self.of);
        self.nodes_per_adapter = Some(built.nodes_per_router());
        self.cycles_per_phit.get_or_insert(1);
    }

    fn ties(&self) -> Option<Ties> {
        Some(self.ties)
    }

    fn examples() -> Vec<Self> {
        let of = |count, of, nodes_per_adapter, ties| Self {
            count,
            of: Box::new(of),
            nodes_per_adapter,
            cycles_per_phit: None,
            ties,
        };
        let mesh = TopologyConfig::Mesh(cube::MeshConfig { sides: vec![3], nodes_per_router: 1 });
        let tree = xgft::Config {
            children: vec![2, 2],
            parents: vec![1, 2],
            parallel: Vec::new(),
            ties: Ties::Spread,
        };
        let slow = Self { cycles_per_phit: Some(2), ..of(2, mesh.clone(), Some(2), Ties::First) };
        vec![of(3, mesh, None, Ties::Spread), slow, of(2, TopologyConfig::Xgft(tree), None, Ties::Hash)]
    }
}

impl Config {
    fn check_count(&self) -> Result<(), ConfigError> {
        let reason = match self.count {
            0 | 1 => "there would be one network at most",
            count if count > *PLANES.end() => {
                "an adapter has a port into every plane, and that would be more planes than ports"
            }
            _ => return Ok(()),
        };
        Err(ConfigError::new("count", reason).value(self.count).valid(valid(&PLANES)))
    }
}
