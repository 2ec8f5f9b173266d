//! Topologies: which router port is linked to which, and how to get closer to a destination.
//!
//! A topology is cold: [`crate::network::Network`] flattens its links into arrays once. Hot is only
//! [`Topology::minimal_port`], which routing asks once per head.
//! A new topology is one file here and one row in the table below.

mod arrangement;
pub mod cube;
pub mod dragonfly;
pub mod dragonfly_plus;
mod equal;
mod family;
pub mod fat_tree;
pub mod faults;
mod field;
pub mod graph;
pub mod grid;
pub mod hyperx;
pub mod ideal;
pub mod jellyfish;
mod maze;
mod narrow;
pub mod oft;
pub mod parallel_search;
mod part;
pub mod period;
mod plane;
pub mod planes;
pub mod polarfly;
pub mod product;
pub mod shortest;
pub mod slim_fly;
pub mod spines;
mod ties;
mod wiring;
pub mod xgft;
pub mod xpander;

use crate::by_class::{ByClass, MOST_CLASSES};
use crate::error::ConfigError;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::{Range, RangeInclusive};

/// Most router ports of a network, terminal ports included.
const MAX_PORTS: u64 = 1 << 26;

/// Most ports of a router: more than any router has input VCs.
const MAX_ROUTER_PORTS: u32 = 512;

/// Nodes that a router may have.
const NODES_PER_ROUTER: RangeInclusive<u32> = 1..=64;

/// Latencies that a link may have \[cycles\].
pub const LATENCIES: RangeInclusive<u32> = 1..=60_000;

/// One row per topology: its names in Rust and of its file, and with documentation what the document may say of it. A family of
/// topologies that are graphs has a row there.
macro_rules! topologies {
    ($($kind:ident($module:ident) { $($(#[$doc:meta])* $name:ident($key:literal, $config:path),)* })*) => {
        /// How the routers are linked.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub enum TopologyConfig {
            $($($(#[$doc])* #[serde(rename = $key)] $name($config),)*)*
        }

        /// A topology ready to be asked.
        // With a tag of its own: asking which it is must not depend on what a topology holds.
        #[derive(Clone, Debug)]
        #[repr(u8)]
        pub enum Topology {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $kind($module::$kind),)*
        }

        impl TopologyConfig {
            /// Checks the parameters and builds the topology.
            pub fn build(&self) -> Result<Topology, ConfigError> {
                match self {
                    $($(Self::$name(config) => config.build().map(Topology::$kind),)*)*
                }
                .map_err(|e| e.within(self.name()))
            }

            /// Replaces a file by what it holds: `read` gives the network in a file of that name, or says why it cannot.
            pub fn load(
                &mut self,
                read: impl Fn(&str) -> Result<graph::Contents, String>,
            ) -> Result<(), ConfigError> {
                let name = self.name();
                match self {
                    $($(Self::$name(config) => config.load(read),)*)*
                }
                .map_err(|e| e.within(name))
            }

            /// The name in the document.
            pub fn name(&self) -> &'static str {
                match self {
                    $($(Self::$name(_) => $key,)*)*
                }
            }

            /// Which of several equally short paths of minimal routing packets take, where the document says that.
            pub fn ties(&self) -> Option<shortest::Ties> {
                match self {
                    $($(Self::$name(config) => config.ties(),)*)*
                }
            }

            /// See [`Parameters::beyond_links`].
            fn beyond_links(&self) -> Option<(&'static str, &'static str)> {
                match self {
                    $($(Self::$name(config) => config.beyond_links(),)*)*
                }
            }

            /// Small networks of every family of topologies that are graphs.
            pub fn examples() -> Vec<Self> {
                let mut all = Vec::new();
                $($(all.extend(<$config>::examples().into_iter().map(Self::$name));)*)*
                all
            }

            /// Whether the topology has no routers.
            pub fn is_ideal(&self) -> bool {
                matches!(self, Self::Ideal(_))
            }

            /// Fills in the parameters that the topology chose.
            pub fn resolve(&mut self, topology: &Topology) {
                match (self, topology) {
                    $($((Self::$name(config), Topology::$kind(built)) => config.resolve(built),)*)*
                    _ => unreachable!("it was built from these parameters"),
                }
            }
        }

        /// Asks the topology, whichever it is: `ask!(topology, t => …)`.
        macro_rules! ask {
            ($topology:expr, $t:ident => $answer:expr) => {
                match $topology {
                    $(Topology::$kind($t) => $answer,)*
                }
            };
        }
    };
}

/// One row per question: all but [`Topology::minimal_port`], [`Topology::minimal_hops`] and [`Topology::group`] are those of [`Interconnect`].
macro_rules! questions {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {
        impl Topology {
            $(
                #[doc = concat!("See [`Interconnect::", stringify!($name), "`].")]
                $(#[$attribute])*
                pub fn $name(&self, $($argument: $type),*) -> $answer {
                    ask!(self, t => t.$name($($argument),*))
                }
            )*
        }
    };
}

topologies! {
    Dragonfly(dragonfly) {
        /// Groups of routers, fully connected inside, joined by global links (Kim et al., ISCA 2008).
        Dragonfly("dragonfly", dragonfly::Config),
    }
    Cube(cube) {
        /// Routers on a grid.
        Mesh("mesh", cube::MeshConfig),
        /// Routers on a grid whose opposite edges are joined.
        Torus("torus", cube::TorusConfig),
        /// Routers in a circle.
        Ring("ring", cube::RingConfig),
    }
    Ideal(ideal) {
        /// No network: messages take a latency and the time of their length.
        Ideal("ideal", ideal::Config),
    }
    HyperX(hyperx) {
        /// Routers on a grid, fully connected along each dimension (flattened butterfly; Ahn et al., SC 2009).
        HyperX("hyperx", hyperx::Config),
    }
    FatTree(fat_tree) {
        /// Levels of switches with as many links up as down (k-ary n-tree).
        FatTree("fat_tree", fat_tree::Config),
    }
    Graph(graph) {
        /// Any network of routers, from a list of links or a file.
        Graph("graph", graph::Config),
        /// Every two routers at most two links apart, with few links each (McKay-Miller-Širáň graphs; Besta and Hoefler, SC 2014).
        SlimFly("slim_fly", slim_fly::Config),
        /// The points of a projective plane, every two at most two links apart (Lakhotia et al., SC 2022).
        Polarfly("polarfly", polarfly::Config),
        /// Groups of leaf and spine routers, joined by global links between spines (megafly; Shpiner et al., HiPINEB 2017).
        DragonflyPlus("dragonfly_plus", dragonfly_plus::Config),
        /// Routers joined at random, each to equally many others (Singla et al., NSDI 2012).
        Jellyfish("jellyfish", jellyfish::Config),
        /// Sets of routers, every two joined by links that pair their routers at random (Valadarsky et al., CoNEXT 2016).
        Xpander("xpander", xpander::Config),
        /// Two columns of leaf switches and a spine for every line of a projective plane (orthogonal fat tree; Kathareios et al., SC 2015).
        Oft("oft", oft::Config),
        /// Levels of switches with any numbers of links down and up: leaf-spine networks, oversubscribed fat trees (XGFT, PGFT).
        Xgft("xgft", xgft::Config),
        /// A network in the place of every router of another one: chiplets.
        Product("product", product::Config),
        /// Copies of a network, with a port of every node into each of them: planes and rails.
        Planes("planes", planes::Config),
    }
}

questions! {
    fn routers() -> u32;
    fn nodes_per_router() -> u32;
    fn routers_with_nodes() -> u32;
    fn nodes() -> u32;
    fn nodes_of(router: u32) -> Range<u32>;
    fn router_of(node: u32) -> u32;
    fn has_equal_routers() -> bool;
    fn ports() -> Vec<PortClass>;
    fn link_classes() -> &'static [&'static str];
    fn neighbour(router: u32, port: usize) -> Option<(u32, usize)>;
    fn latency(router: u32, port: usize, of_class: u32) -> u32;
    fn longest_latency(of_class: u32) -> u32;
    fn cycles_per_phit(router: u32, port: usize) -> u32;
    fn has_latencies() -> bool;
    fn has_rings() -> bool;
    fn has_escape() -> bool;
    #[inline]
    fn nearer(at: u32, to: u32, trunk: u16) -> (usize, u64);
    #[inline]
    fn has_trunks() -> bool;
    #[inline]
    fn choose_trunk(at: u32, to: u32, stream: &mut Stream) -> u16;
    fn trunk_choices(at: u32, to: u32) -> u32;
    fn trunk_of(at: u32, to: u32, node: u32) -> u16;
    fn diameter() -> u32;
    fn minimal_latency(from: u32, to: u32, costs: (&[u32], u32)) -> u32;
    fn groups() -> u32;
    fn group_classes() -> Option<GroupClasses>;
}

/// A kind of router port; links of one kind have one latency, one number of VCs and one buffer size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PortClass {
    /// To a node: injection as an input, ejection as an output.
    Terminal,
    /// A link of a class, by its number (dragonfly: local, global).
    Link(u8),
}

/// The classes of links by which routers of a group and of different groups are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupClasses {
    /// Class of the links that stay in a group.
    pub inside: u8,
    /// Class of the links that lead out of a group.
    pub between: u8,
}

/// Index of the local links of a dragonfly among the link classes.
pub const LOCAL: u8 = 0;
/// Index of the global links of a dragonfly among the link classes.
pub const GLOBAL: u8 = 1;

/// What the document says of a topology.
trait Parameters {
    /// The topology that is built.
    type Built;

    /// Checks the parameters and builds the topology.
    fn build(&self) -> Result<Self::Built, ConfigError>;

    /// See [`TopologyConfig::load`].
    fn load(&mut self, _read: impl Fn(&str) -> Result<graph::Contents, String>) -> Result<(), ConfigError> {
        Ok(())
    }

    /// See [`TopologyConfig::resolve`].
    fn resolve(&mut self, _built: &Self::Built) {}

    /// See [`TopologyConfig::ties`].
    fn ties(&self) -> Option<shortest::Ties> {
        None
    }

    /// A key whose value says more than which links there are, and why a graph of these does not have it; `None` if none does.
    fn beyond_links(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// See [`TopologyConfig::examples`].
    fn examples() -> Vec<Self>
    where
        Self: Sized,
    {
        Vec::new()
    }
}

/// What a topology answers. Defaults are those of one class of links, all of them alike, and of one shortest path.
pub trait Interconnect {
    /// Number of routers.
    fn routers(&self) -> u32;

    /// Nodes per router, or of the router that has most; node n hangs from router n / this, on terminal port n % this, unless
    /// routers differ ([`Self::has_equal_routers`]).
    fn nodes_per_router(&self) -> u32;

    /// Number of routers that have nodes, which are the first ones: of a fat tree those of level 0, of a graph as many as it
    /// says.
    fn routers_with_nodes(&self) -> u32 {
        self.routers()
    }

    /// Number of nodes.
    fn nodes(&self) -> u32 {
        self.routers_with_nodes() * self.nodes_per_router()
    }

    /// The nodes of a router, in the order of its terminal ports.
    fn nodes_of(&self, router: u32) -> Range<u32> {
        let nodes = if router < self.routers_with_nodes() { self.nodes_per_router() } else { 0 };
        let first = router * self.nodes_per_router();
        first..first + nodes
    }

    /// The router of a node.
    fn router_of(&self, node: u32) -> u32 {
        node / self.nodes_per_router()
    }

    /// Whether all routers that have nodes have as many.
    fn has_equal_routers(&self) -> bool {
        true
    }

    /// The class of every port of a router; terminal ports come first. The same for all routers: one that
    /// has fewer links leaves ports unconnected.
    fn ports(&self) -> Vec<PortClass>;

    /// Names of the link classes, in index order.
    fn link_classes(&self) -> &'static [&'static str] {
        &["network"]
    }

    /// Router and port at the other end of a link port, `None` if nothing is plugged in.
    fn neighbour(&self, router: u32, port: usize) -> Option<(u32, usize)>;

    /// Latency of the link at a port, whose class has this one \[cycles\]: another one where links have latencies of their own.
    fn latency(&self, _router: u32, _port: usize, of_class: u32) -> u32 {
        of_class
    }

    /// Greatest latency that follows from that of a class \[cycles\].
    fn longest_latency(&self, of_class: u32) -> u32 {
        of_class
    }

    /// Cycles that the link at a port takes for a phit.
    fn cycles_per_phit(&self, _router: u32, _port: usize) -> u32 {
        1
    }

    /// Whether links have latencies of their own, or are slower than nodes: what a path takes is not the sum over its classes.
    fn has_latencies(&self) -> bool {
        false
    }

    /// Whether links form rings in which packets could wait for each other in a circle, which bubble flow control keeps
    /// them from: a packet enters a ring only where it leaves room for another one.
    fn has_rings(&self) -> bool {
        false
    }

    /// Whether adaptive routing needs an escape VC.
    fn has_escape(&self) -> bool {
        false
    }

    /// The ports of the first links of all shortest paths from `at` to `to` ≠ `at`, a bit each from the given port on. `trunk`
    /// is the choice in a torus where both ways round are equally short; in a dragonfly one path counts.
    #[inline]
    fn nearer(&self, at: u32, to: u32, trunk: u16) -> (usize, u64) {
        (self.minimal_port(at, to, trunk).0, 1)
    }

    /// Whether several equally short first links can exist, so that [`Self::choose_trunk`] draws.
    #[inline]
    fn has_trunks(&self) -> bool {
        false
    }

    /// Chooses among the parallel links of the shortest paths from `at` to `to`: every one of them is
    /// equally likely. The choice holds until the packet gets a new target. In a torus it is the ways round where both are
    /// equally short, in a fat tree the root that the packet would go up to.
    #[inline]
    fn choose_trunk(&self, _at: u32, _to: u32, _stream: &mut Stream) -> u16 {
        0
    }

    /// How many equally likely choices [`Self::choose_trunk`] draws one of, for `to` ≠ `at`.
    fn trunk_choices(&self, _at: u32, _to: u32) -> u32 {
        1
    }

    /// The trunk from `at` to node `node` of router `to` where the destination alone decides: the number of the node, modulo how
    /// many trunks there are.
    fn trunk_of(&self, _at: u32, _to: u32, _node: u32) -> u16 {
        0
    }

    /// The link port of the minimal path from `at` to `to` ≠ `at` over the chosen trunk, and its link class.
    fn minimal_port(&self, at: u32, to: u32, trunk: u16) -> (usize, u8);

    /// Calls `put` with the nodes of all other routers, as many that follow each other as there are on one trunk, and the link port of the
    /// minimal path from `at` to them where the destination alone decides ([`Self::trunk_of`]).
    fn minimal_runs(&self, at: u32, mut put: impl FnMut(Range<u32>, usize)) {
        for to in (0..self.routers_with_nodes()).filter(|&to| to != at) {
            let mut nodes = self.nodes_of(to);
            while let Some(first) = nodes.next() {
                let trunk = self.trunk_of(at, to, first);
                let mut end = first + 1;
                while nodes.start < nodes.end && self.trunk_of(at, to, nodes.start) == trunk {
                    nodes.start += 1;
                    end += 1;
                }
                put(first..end, self.minimal_port(at, to, trunk).0);
            }
        }
    }

    /// Most links of a minimal path to a router with nodes.
    fn diameter(&self) -> u32;

    /// Links of each class on the minimal path from `from` to `to`, the shortest over all trunks.
    fn minimal_hops(&self, from: u32, to: u32) -> ByClass<u16>;

    /// Sum of the latencies of the links of that path, where links of each class have these \[cycles\], for a packet of so many
    /// phits.
    fn minimal_latency(&self, from: u32, to: u32, (latencies, _): (&[u32], u32)) -> u32 {
        let hops = self.minimal_hops(from, to);
        hops.iter().zip(latencies).map(|(&hops, &latency)| u32::from(hops) * latency).sum()
    }

    /// The group of a router (a topology without groups is one group).
    fn group(&self, _router: u32) -> u32 {
        0
    }

    /// Number of groups.
    fn groups(&self) -> u32 {
        1
    }

    /// Which links stay in a group and which lead out of it, `None` in a topology without groups.
    fn group_classes(&self) -> Option<GroupClasses> {
        None
    }
}

impl TopologyConfig {
    /// A topology that was built from these parameters, or the graph of its links if it finds its paths without them.
    pub fn as_graph(&self, built: Topology) -> Result<Topology, ConfigError> {
        if let Topology::Graph(_) = built {
            return Ok(built);
        }
        let name = self.name();
        if let Some((key, reason)) = self.beyond_links() {
            let path = if key.is_empty() { name.into() } else { format!("{name}.{key}") };
            return Err(ConfigError::new(path, reason).valid("another value, or no faults"));
        }
        graph::Graph::of(&built, name).map(Topology::Graph).map_err(|error| error.within(name))
    }
}

impl Topology {
    /// See [`Interconnect::group`].
    #[expect(clippy::inline_always, reason = "per packet-hop; 1 % of all instructions are saved by it")]
    #[inline(always)]
    pub fn group(&self, router: u32) -> u32 {
        if let Self::Dragonfly(t) = self { t.group(router) } else { self.group_elsewhere(router) }
    }

    // Out of line, so that asking a dragonfly stays short.
    #[inline(never)]
    fn group_elsewhere(&self, router: u32) -> u32 {
        ask!(self, t => t.group(router))
    }

    /// The link port of the minimal path from router `at` to router `to` ≠ `at` over the chosen trunk, and its
    /// link class.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn minimal_port(&self, at: u32, to: u32, trunk: u16) -> (usize, u8) {
        match self {
            Self::Dragonfly(t) => t.minimal_port(at, to, trunk),
            _ => self.minimal_port_out_of_line(at, to, trunk),
        }
    }

    /// The class of the link at a link port.
    #[inline]
    pub fn link_class(&self, port: usize) -> u8 {
        match self {
            Self::Graph(graph) => graph.link_class(port),
            Self::Dragonfly(dragonfly) => dragonfly.link_class(port),
            _ => 0,
        }
    }

    /// See [`Interconnect::minimal_hops`]. An array, which can be taken apart.
    pub fn minimal_hops(&self, from: u32, to: u32) -> [u16; MOST_CLASSES] {
        ask!(self, t => t.minimal_hops(from, to)).into()
    }

    /// Links of the minimal path from `from` to `to`.
    #[inline]
    pub fn distance(&self, from: u32, to: u32) -> u32 {
        // A graph need not count them by class; measured.
        if let Self::Graph(graph) = self {
            return graph.distance(from, to).into();
        }
        self.minimal_hops(from, to).into_iter().map(u32::from).sum()
    }

    /// Whether there is a way from a router to one with nodes.
    #[inline]
    pub fn reaches(&self, from: u32, to: u32) -> bool {
        if let Self::Graph(graph) = self { graph.reaches(from, to) } else { true }
    }

    /// How many routers, the first ones, forward nothing: no packet passes them on its way to another one.
    pub fn adapters(&self) -> u32 {
        if let Self::Graph(graph) = self { graph.adapters() } else { 0 }
    }

    /// Whether some nodes cannot reach others.
    #[inline]
    pub fn is_apart(&self) -> bool {
        matches!(self, Self::Graph(graph) if graph.is_apart())
    }

    /// See [`Interconnect::minimal_runs`].
    pub fn minimal_runs(&self, at: u32, put: impl FnMut(Range<u32>, usize)) {
        ask!(self, t => t.minimal_runs(at, put));
    }

    // Out of line, so that the code of dragonflies stays in place.
    #[inline(never)]
    fn minimal_port_out_of_line(&self, at: u32, to: u32, trunk: u16) -> (usize, u8) {
        ask!(self, t => t.minimal_port(at, to, trunk))
    }

    /// The grid of routers whose dimensions close no rings.
    pub fn grid(&self) -> Option<&grid::Grid> {
        match self {
            Self::Cube(cube) => cube.open_grid(),
            Self::HyperX(hyperx) => Some(hyperx.grid()),
            _ => None,
        }
    }

    /// The dragonfly behind this topology, for mechanisms that exist only there.
    pub fn dragonfly(&self) -> Option<&dragonfly::Dragonfly> {
        if let Self::Dragonfly(t) = self { Some(t) } else { None }
    }
}
