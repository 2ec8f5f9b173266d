//! Topologies: which router port is linked to which, and how to get closer to a destination.
//!
//! A topology is cold: [`crate::network::Network`] flattens its links into arrays once. Hot is only
//! [`Topology::minimal_port`], which routing asks once per head.
//! A new topology is one file here and one row in each enum below.

pub mod cube;
pub mod dragonfly;
pub mod fat_tree;
pub mod graph;
pub mod shortest;

use crate::error::ConfigError;
use crate::rng::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Most router ports of a network, terminal ports included.
const MAX_PORTS: u64 = 1 << 26;

/// Latencies that a link may have \[cycles\].
pub const LATENCIES: RangeInclusive<u32> = 1..=60_000;

/// How the routers are linked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TopologyConfig {
    /// Groups of routers, fully connected inside, joined by global links (Kim et al., ISCA 2008).
    Dragonfly(dragonfly::Config),
    /// Routers on a grid.
    Mesh(cube::MeshConfig),
    /// Routers on a grid whose opposite edges are joined.
    Torus(cube::TorusConfig),
    /// Routers in a circle.
    Ring(cube::RingConfig),
    /// Levels of switches with as many links up as down (k-ary n-tree).
    FatTree(fat_tree::Config),
    /// Any network of routers, from a list of links or a file.
    Graph(graph::Config),
}

/// A topology ready to be asked.
#[derive(Clone, Debug)]
pub enum Topology {
    /// See [`dragonfly`].
    Dragonfly(dragonfly::Dragonfly),
    /// See [`cube`].
    Cube(cube::Cube),
    /// See [`fat_tree`].
    FatTree(fat_tree::FatTree),
    /// See [`graph`].
    Graph(graph::Graph),
}

/// A kind of router port; links of one kind have one latency, one number of VCs and one buffer size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PortClass {
    /// To a node: injection as an input, ejection as an output.
    Terminal,
    /// A link of class 0 or 1 (dragonfly: local, global).
    Link(u8),
}

/// Index of the local links of a dragonfly among the link classes.
pub const LOCAL: u8 = 0;
/// Index of the global links of a dragonfly among the link classes.
pub const GLOBAL: u8 = 1;

impl TopologyConfig {
    /// Checks the parameters and builds the topology.
    pub fn build(&self) -> Result<Topology, ConfigError> {
        match self {
            Self::Dragonfly(config) => dragonfly::Dragonfly::new(config).map(Topology::Dragonfly),
            Self::Mesh(config) => cube::Cube::mesh(config).map(Topology::Cube),
            Self::Torus(config) => cube::Cube::torus(config).map(Topology::Cube),
            Self::Ring(config) => cube::Cube::ring(config).map(Topology::Cube),
            Self::FatTree(config) => fat_tree::FatTree::new(config).map(Topology::FatTree),
            Self::Graph(config) => graph::Graph::new(config).map(Topology::Graph),
        }
        .map_err(|e| e.within(self.name()))
    }

    /// Replaces a file by what it holds: see [`graph::Config::load`].
    pub fn load(
        &mut self,
        read: impl Fn(&str) -> Result<Vec<graph::Edge>, String>,
    ) -> Result<(), ConfigError> {
        match self {
            Self::Graph(config) => config.load(read).map_err(|e| e.within("graph")),
            _ => Ok(()),
        }
    }

    /// The name in the document.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Dragonfly(_) => "dragonfly",
            Self::Mesh(_) => "mesh",
            Self::Torus(_) => "torus",
            Self::Ring(_) => "ring",
            Self::FatTree(_) => "fat_tree",
            Self::Graph(_) => "graph",
        }
    }

    /// Fills in the parameters that the topology chose.
    pub fn resolve(&mut self, topology: &Topology) {
        if let (Self::Dragonfly(config), Topology::Dragonfly(built)) = (self, topology) {
            config.groups = Some(built.groups());
        }
    }
}

impl Topology {
    /// Number of routers.
    pub fn routers(&self) -> u32 {
        match self {
            Self::Dragonfly(t) => t.routers(),
            Self::Cube(t) => t.routers(),
            Self::FatTree(t) => t.routers(),
            Self::Graph(t) => t.routers(),
        }
    }

    /// Nodes per router; node n hangs from router n / this, on terminal port n % this.
    pub fn nodes_per_router(&self) -> u32 {
        match self {
            Self::Dragonfly(t) => t.p(),
            Self::Cube(t) => t.nodes_per_router(),
            Self::FatTree(t) => t.k(),
            Self::Graph(t) => t.nodes_per_router(),
        }
    }

    /// Number of nodes: the first routers have them, of a fat tree those of level 0, of a graph as many as it says, else all.
    pub fn nodes(&self) -> u32 {
        match self {
            Self::FatTree(t) => t.nodes(),
            Self::Graph(t) => t.nodes(),
            Self::Dragonfly(_) | Self::Cube(_) => self.routers() * self.nodes_per_router(),
        }
    }

    /// The class of every port of a router; terminal ports come first. The same for all routers: one that
    /// has fewer links leaves ports unconnected.
    pub fn ports(&self) -> Vec<PortClass> {
        match self {
            Self::Dragonfly(t) => t.ports(),
            Self::Cube(t) => t.ports(),
            Self::FatTree(t) => t.ports(),
            Self::Graph(t) => t.ports(),
        }
    }

    /// Names of the link classes, in index order.
    pub fn link_classes(&self) -> &'static [&'static str] {
        match self {
            Self::Dragonfly(_) => &["local", "global"],
            Self::Cube(_) | Self::FatTree(_) | Self::Graph(_) => &["network"],
        }
    }

    /// Router and port at the other end of a link port, `None` if nothing is plugged in.
    pub fn neighbour(&self, router: u32, port: usize) -> Option<(u32, usize)> {
        match self {
            Self::Dragonfly(t) => t.neighbour(router, port),
            Self::Cube(t) => t.neighbour(router, port),
            Self::FatTree(t) => t.neighbour(router, port),
            Self::Graph(t) => t.neighbour(router, port),
        }
    }

    /// Latency of the link at a port where links have latencies of their own; elsewhere their class has one \[cycles\].
    pub fn latency(&self, router: u32, port: usize) -> Option<u32> {
        match self {
            Self::Graph(t) => t.latency(router, port),
            Self::Dragonfly(_) | Self::Cube(_) | Self::FatTree(_) => None,
        }
    }

    /// Cycles that the link at a port takes for a phit.
    pub fn cycles_per_phit(&self, router: u32, port: usize) -> u32 {
        match self {
            Self::Graph(t) => t.cycles_per_phit(router, port).unwrap_or(1),
            Self::Dragonfly(_) | Self::Cube(_) | Self::FatTree(_) => 1,
        }
    }

    /// Whether links have latencies of their own.
    pub fn has_latencies(&self) -> bool {
        matches!(self, Self::Graph(_))
    }

    /// Whether links form rings in which packets could wait for each other in a circle, which bubble flow control keeps
    /// them from: a packet enters a ring only where it leaves room for another one.
    pub fn has_rings(&self) -> bool {
        matches!(self, Self::Cube(cube) if cube.wraps())
    }

    /// Whether adaptive routing needs an escape VC.
    pub fn has_escape(&self) -> bool {
        matches!(self, Self::Cube(_))
    }

    /// The ports of the first links of all shortest paths from `at` to `to` ≠ `at`, a bit each from the given port on. `trunk`
    /// is the choice in a torus where both ways round are equally short; in a dragonfly and in a graph one path counts.
    #[inline]
    pub fn nearer(&self, at: u32, to: u32, trunk: u16) -> (usize, u64) {
        match self {
            Self::Dragonfly(t) => (t.minimal_port(at, to, trunk).0, 1),
            Self::Cube(t) => t.nearer(at, to, trunk),
            Self::FatTree(t) => t.nearer(at, to),
            Self::Graph(t) => (t.minimal_port(at, to), 1),
        }
    }

    /// Whether several equally short first links can exist, so that [`Self::choose_trunk`] draws.
    #[inline]
    pub fn has_trunks(&self) -> bool {
        match self {
            Self::Dragonfly(t) => t.has_trunks(),
            Self::Cube(t) => t.has_ties(),
            Self::FatTree(_) => true,
            Self::Graph(_) => false,
        }
    }

    /// Chooses among the parallel links of the shortest paths from `at` to `to`: every one of them is
    /// equally likely. The choice holds until the packet gets a new target. In a torus it is the ways round where both are
    /// equally short, in a fat tree the root that the packet would go up to.
    #[inline]
    pub fn choose_trunk(&self, at: u32, to: u32, stream: &mut Stream) -> u16 {
        match self {
            Self::Dragonfly(t) => t.choose_trunk(at, to, stream),
            Self::Cube(t) => t.draw_ties(stream),
            Self::FatTree(t) => t.draw_root(stream),
            Self::Graph(_) => 0,
        }
    }

    /// The link port of the minimal path from router `at` to router `to` ≠ `at` over the chosen trunk, and its
    /// link class.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn minimal_port(&self, at: u32, to: u32, trunk: u16) -> (usize, u8) {
        match self {
            Self::Dragonfly(t) => t.minimal_port(at, to, trunk),
            _ => (self.minimal_port_without_groups(at, to, trunk), 0),
        }
    }

    // Out of line, so that the code of dragonflies stays in place.
    #[inline(never)]
    fn minimal_port_without_groups(&self, at: u32, to: u32, trunk: u16) -> usize {
        match self {
            Self::Dragonfly(_) => unreachable!("it has groups"),
            Self::Cube(t) => t.first_port(at, to, trunk),
            Self::FatTree(t) => t.minimal_port(at, to, trunk),
            Self::Graph(t) => t.minimal_port(at, to),
        }
    }

    /// Links of each class on the minimal path from `from` to `to`, the shortest over all trunks.
    pub fn minimal_hops(&self, from: u32, to: u32) -> [u16; 2] {
        match self {
            Self::Dragonfly(t) => t.minimal_hops(from, to),
            Self::Cube(t) => [t.distance(from, to) as u16, 0],
            Self::FatTree(t) => [t.distance(from, to) as u16, 0],
            Self::Graph(t) => [t.distance(from, to), 0],
        }
    }

    /// Sum of the latencies of the links of that path, where links of each class have these \[cycles\].
    pub fn minimal_latency(&self, from: u32, to: u32, (latencies, length): (&[u32], u32)) -> u32 {
        if let Self::Graph(t) = self {
            return t.path_latency(from, to, length);
        }
        let hops = self.minimal_hops(from, to);
        hops.iter().zip(latencies).map(|(&hops, &latency)| u32::from(hops) * latency).sum()
    }

    /// The group of a router (a topology without groups is one group).
    pub fn group(&self, router: u32) -> u32 {
        match self {
            Self::Dragonfly(t) => t.group(router),
            Self::Cube(_) | Self::FatTree(_) | Self::Graph(_) => 0,
        }
    }

    /// Number of groups.
    pub fn groups(&self) -> u32 {
        match self {
            Self::Dragonfly(t) => t.groups(),
            Self::Cube(_) | Self::FatTree(_) | Self::Graph(_) => 1,
        }
    }

    /// The dragonfly behind this topology, for mechanisms that exist only there.
    pub fn dragonfly(&self) -> Option<&dragonfly::Dragonfly> {
        match self {
            Self::Dragonfly(t) => Some(t),
            Self::Cube(_) | Self::FatTree(_) | Self::Graph(_) => None,
        }
    }
}
