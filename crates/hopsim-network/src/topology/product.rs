//! Products of two topologies: see [`Config`].

use super::cube::MeshConfig;
use super::family::{Family, check_ports, check_routers};
use super::graph::Graph;
use super::part::{self, links};
use super::shortest::Ties;
use super::wiring::{Groups, MAX_ROUTERS, Second};
use super::{Parameters, Topology, TopologyConfig, graph, jellyfish};
use crate::error::{ConfigError, valid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A network of networks (chiplets, wafers of chips): in the place of every router of the outer topology stands a whole inner one.
///
/// For a link between routers x and y of the outer topology every gateway of the inner network at x is joined to the same one of the inner network at y. With
/// all routers as gateways, as is the default, this is the Cartesian product of the two: that of two meshes is a mesh again. Links of the
/// inner networks are local and those between them global, with latencies, VCs and buffers of their own.
///
/// The nodes are those of the inner networks; of the outer topology the links alone count, and not its nodes. Links that the two topologies
/// say more of than what they join, and ties of theirs, are refused.
///
/// Numbering: with I routers of the inner topology, the first W of which have nodes, router i < W of the inner network at x is router x · W + i; behind
/// all of these router i ≥ W is router W · (outer routers) + x · (I − W) + i − W. A router's ports are the terminal ones, then local and
/// global ones, each in the order of the routers there. The inner network at x is group x.
///
/// Routing is that of `graph`, whatever the two topologies are: `minimal`, `adaptive`, `ecmp`, `k_shortest_paths`, `polarized`, `up_down`, `nue`, `valiant`, `ugal` and
/// `par`. Where packets have the VC of the links passed before, there are local and global VCs for every link of a path. At most
/// 20,480 routers.
///
/// Source: Sabidussi, Mathematische Zeitschrift 72 (1960), products of graphs; Kannan, Enright Jerger and Loh, MICRO 2015, chiplets in a mesh whose
/// routers are a network again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ProductTopology")]
pub struct Config {
    /// The network in the place of each router.
    pub inner: Box<TopologyConfig>,
    /// How these networks are joined.
    pub outer: Box<TopologyConfig>,
    /// Routers of the inner topology that have links to other inner networks, ascending; default all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gateways: Vec<u32>,
    /// Which of several equally short paths of minimal routing packets take.
    #[serde(default)]
    pub ties: Ties,
}

impl Parameters for Config {
    type Built = Graph;

    fn build(&self) -> Result<Graph, ConfigError> {
        let [inner, outer] = self.parts()?;
        let (count, routers, with_nodes) = (outer.routers(), inner.routers(), inner.routers_with_nodes());
        let gateways = self.gateways(routers)?;
        let all = u64::from(count) * u64::from(routers);
        let fitting = format!("inner and outer topologies of at most {MAX_ROUTERS} routers together");
        check_routers(all, "outer", &format!("{count} networks of {routers} routers"), fitting)?;
        let degree =
            |topology: &Topology| topology.ports().len() as u64 - u64::from(topology.nodes_per_router());
        let nodes = inner.nodes_per_router();
        check_ports((degree(&inner) + degree(&outer), nodes), "inner", &self.inner.name())?;
        let number = |x: u32, i: u32| {
            if i < with_nodes {
                x * with_nodes + i
            } else {
                count * with_nodes + x * (routers - with_nodes) + i - with_nodes
            }
        };
        let copies = |[one, other]: [u32; 2]| (0..count).map(move |x| [number(x, one), number(x, other)]);
        let bundles = |[x, y]: [u32; 2]| gateways.iter().map(move |&i| [number(x, i), number(y, i)]);
        Family {
            name: "product",
            routers: count * routers,
            links: links(&inner).into_iter().flat_map(copies).collect(),
            second: Some((
                links(&outer).into_iter().flat_map(bundles).collect(),
                Second::Global(Groups { count, leaves: with_nodes, spines: routers - with_nodes }),
            )),
            routers_with_nodes: count * with_nodes,
            nodes_per_router: nodes,
            goes_up_and_down: false,
            ties: self.ties,
        }
        .build()
    }

    fn load(&mut self, read: impl Fn(&str) -> Result<graph::Contents, String>) -> Result<(), ConfigError> {
        let read: &dyn Fn(&str) -> Result<graph::Contents, String> = &read;
        self.inner.load(read).map_err(|error| error.within("inner"))?;
        self.outer.load(read).map_err(|error| error.within("outer"))
    }

    fn resolve(&mut self, _: &Graph) {
        part::resolve(&mut self.inner);
        part::resolve(&mut self.outer);
    }

    fn ties(&self) -> Option<Ties> {
        Some(self.ties)
    }

    fn examples() -> Vec<Self> {
        let of = |inner, outer, gateways| Self {
            inner: Box::new(inner),
            outer: Box::new(outer),
            gateways,
            ties: Ties::Spread,
        };
        let mesh =
            |sides: [u32; 2]| TopologyConfig::Mesh(MeshConfig { sides: sides.to_vec(), nodes_per_router: 1 });
        let ring = |routers| {
            TopologyConfig::Jellyfish(jellyfish::Config {
                routers,
                degree: 2,
                seed: 1,
                nodes_per_router: Some(1),
                ties: Ties::Spread,
            })
        };
        vec![of(mesh([2, 2]), ring(3), Vec::new()), of(ring(3), mesh([2, 2]), vec![0])]
    }
}

impl Config {
    /// The inner and the outer topology.
    fn parts(&self) -> Result<[Topology; 2], ConfigError> {
        Ok([part::build(&self.inner, "inner")?, part::build(&self.outer, "outer")?])
    }

    /// The gateways of so many routers of the inner topology.
    fn gateways(&self, routers: u32) -> Result<Vec<u32>, ConfigError> {
        if self.gateways.is_empty() {
            return Ok((0..routers).collect());
        }
        for (number, &gateway) in self.gateways.iter().enumerate() {
            let refuse = |reason: String| {
                let path = format!("gateways.{number}");
                Err(ConfigError::new(path, reason).value(gateway).valid(valid(&(0..=routers - 1))))
            };
            if gateway >= routers {
                return refuse(format!("the inner topology has {routers} routers"));
            }
            if number > 0 && self.gateways[number - 1] >= gateway {
                return refuse("the numbers have to ascend".into());
            }
        }
        Ok(self.gateways.clone())
    }
}
