//! Any graph: see [`Config`].

use super::family::check_routers;
use super::faults::Missing;
use super::shortest::{ShortestPaths, Ties};
use super::wiring::{
    End, Groups, MAX_ROUTERS, MOST_SPREAD, PACES, Second, Wiring, check_connected, check_ties, degrees, ends,
    list, maze, parts,
};
use super::{
    GLOBAL, GroupClasses, Interconnect, LATENCIES, LOCAL, NODES_PER_ROUTER, Parameters, PortClass, Topology,
};
use crate::by_class::ByClass;
use crate::error::{ConfigError, valid, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;

/// What is valid where links are missing and the network falls apart.
pub const IN_ONE_PIECE: &str =
    "fewer links, other ones, another seed of the draw, or unreachable = \"drop\" besides";

pub use super::wiring::Edge;

/// Any network of routers: a list of links, or a file of them.
///
/// Numbering: routers are 0 to the highest number in the list. The first `routers_with_nodes` of them have
/// `nodes_per_router` nodes each; node n is at router ⌊n / `nodes_per_router`⌋. A router's ports are the terminal ones,
/// then one for each of its links, in the order of the list. Two routers may be joined by several links. With `nodes` the
/// first `nodes[0]` nodes are those of router 0, the next `nodes[1]` those of router 1, and so on.
///
/// Of a file as `ibnetdiscover` prints it switches are the routers, those with nodes first, in the order of the file. Every linked
/// port of a channel adapter is a node, in the order of the switches and their ports. Widths and speeds are not read: links have those
/// of `router.infiniband.links`.
///
/// Routing: `minimal` (as many VCs as the graph needs), `up_down` and `nue` (one VC will do), `valiant` or `ugal` (a VC for every link of
/// the longest path).
///
/// With `ties = "spread"` destinations are gone through by number, and for each the routers from the nearest on, equally near ones
/// in the order in which a search in breadth from the destination finds them, neighbours by number. A router goes on by the
/// link that begins the least crowded of its shortest paths, of several by the lowest port. How crowded a path is is the sum over
/// its links of the paths between routers with nodes, to earlier destinations, that lead over it, and of the routers
/// before it in this order that had a choice too and whose path to this destination leads through the router at its end.
///
/// At most 20,480 routers, 512 ports each. Of more than 2,048 `ties` is `first` or `hash`: to spread paths would take too long.
///
/// Source: Brandes et al., Graph Drawing 2001 (`GraphML`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GraphTopology")]
pub struct Config {
    /// The links, which must join all routers.
    #[serde(default)]
    pub edges: Vec<Edge>,
    /// A file with the links instead, relative to the directory of the experiment: `GraphML` if its name ends in
    /// `.graphml`, in which edges may have attributes `latency` and `cycles_per_phit`, and all of them a `number` by which they are in order, or else text with a link per line, two
    /// routers, perhaps a latency, and perhaps cycles per phit after it, and comments from `#` on. Routers may have any
    /// names. Names that are all numbers are numbered in their order, others as they first appear. A text that `ibnetdiscover` has
    /// printed is known by its lines `Switch`, `Ca` and `Rt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Nodes per router, of those that have any.
    #[serde(default = "one")]
    #[schemars(range(min = *NODES_PER_ROUTER.start(), max = *NODES_PER_ROUTER.end()))]
    pub nodes_per_router: u32,
    /// The first so many routers have nodes; default all \[1 … routers\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub routers_with_nodes: Option<u32>,
    /// Instead of both, where routers differ: the nodes of each of the first routers, which only an InfiniBand fabric may have in
    /// different numbers \[1 … 64\]. A single router needs no links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<u32>,
    /// Which of several equally short paths of minimal routing packets take.
    #[serde(default)]
    pub ties: Ties,
}

fn one() -> u32 {
    1
}

/// The classes of links of a graph without groups.
const ONE_CLASS: &[&str] = &["network"];

/// The classes of links of a graph with groups.
const LOCAL_AND_GLOBAL: &[&str] = &["local", "global"];

/// The classes of links of planes.
const NETWORK_AND_RAIL: &[&str] = &["network", "rail"];

/// What a file says of a network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contents {
    /// Links of the network.
    pub edges: Vec<Edge>,
    /// Nodes of each of the first routers, if the file names them.
    #[serde(default)]
    pub nodes: Vec<u32>,
}

/// A graph.
#[derive(Clone, Debug)]
pub struct Graph {
    name: &'static str,
    nodes_per_router: u32,
    routers: u32,
    /// The first node of every router that has some, and behind them the number of nodes.
    first_node: Vec<u32>,
    /// Ports for links of each class, as many as the router has links that has most.
    degrees: [u32; 2],
    /// Ends of the links of every router, by port behind those for nodes -- constant.
    ends: Vec<Vec<Option<End>>>,
    /// Routers that are out of order, which have no links.
    absent: BTreeSet<u32>,
    is_apart: bool,
    own_latencies: bool,
    goes_up_and_down: bool,
    groups: Option<Groups>,
    link_classes: &'static [&'static str],
    /// How many routers, the first ones, forward nothing: no packet passes them on its way to another one.
    adapters: u32,
    /// Cycles that all links take for a phit, where they have no latencies of their own.
    pace: u32,
    ties: Ties,
    /// Shortest paths from every router to every router with nodes -- constant.
    paths: ShortestPaths,
}

impl Config {
    /// Number of routers.
    fn routers(&self) -> Result<u32, ConfigError> {
        if self.edges.is_empty() && self.nodes.len() == 1 {
            return Ok(1);
        }
        if self.edges.is_empty() {
            return Err(ConfigError::new("edges", "is missing")
                .valid("a list of { between = [router, router] }, or file = \"…\""));
        }
        for (index, edge) in self.edges.iter().enumerate() {
            let [one, other] = edge.between;
            let refuse = |key: &str, reason| ConfigError::new(format!("edges.{index}.{key}"), reason);
            if one.max(other) >= MAX_ROUTERS {
                return Err(refuse("between", "the tables of paths would be too large")
                    .value(format!("[{one}, {other}]"))
                    .valid(format!("routers 0 … {}", MAX_ROUTERS - 1)));
            }
            if one == other {
                return Err(refuse("between", "a link joins two routers")
                    .value(format!("[{one}, {other}]"))
                    .valid("two different routers"));
            }
            if let Some(latency) = edge.latency.filter(|latency| !LATENCIES.contains(latency)) {
                return Err(refuse("latency", "out of range").value(latency).valid(valid(&LATENCIES)));
            }
            if !PACES.contains(&edge.cycles_per_phit) {
                let refused = refuse("cycles_per_phit", "out of range");
                return Err(refused.value(edge.cycles_per_phit).valid(valid(&PACES)));
            }
        }
        Ok(self.edges.iter().flat_map(|edge| edge.between).max().unwrap_or(0) + 1)
    }

    /// Nodes of each of the first of so many routers.
    fn nodes_of_routers(&self, routers: u32) -> Result<Vec<u32>, ConfigError> {
        let Self { nodes_per_router, routers_with_nodes, nodes, .. } = self;
        if nodes.is_empty() {
            within(NODES_PER_ROUTER, *nodes_per_router, "nodes_per_router")?;
            let with_nodes = routers_with_nodes.unwrap_or(routers);
            if !(1..=routers).contains(&with_nodes) {
                return Err(ConfigError::new(
                    "routers_with_nodes",
                    format!("the graph has {routers} routers"),
                )
                .value(with_nodes)
                .valid(format!("1 … {routers}")));
            }
            return Ok(vec![*nodes_per_router; with_nodes as usize]);
        }
        let given = (*nodes_per_router != one()).then_some("nodes_per_router");
        if let Some(key) = given.or(routers_with_nodes.map(|_| "routers_with_nodes")) {
            let reason = "nodes, or the file, says how many nodes each router has";
            return Err(ConfigError::new(key, reason).valid("no such key"));
        }
        if nodes.len() > routers as usize {
            let refused = ConfigError::new("nodes", format!("the graph has {routers} routers"));
            return Err(refused
                .value(format!("those of {} routers", nodes.len()))
                .valid(format!("at most {routers} numbers")));
        }
        for (index, &nodes) in nodes.iter().enumerate() {
            within(NODES_PER_ROUTER, nodes, format!("nodes.{index}"))?;
        }
        Ok(nodes.clone())
    }
}

impl Graph {
    /// Checks the parameters and finds the paths.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        if let Some(file) = &config.file {
            let refused = ConfigError::new("file", "has not been read").value(format!("{file:?}"));
            return Err(refused.valid("edges in its place"));
        }
        let routers = config.routers()?;
        let nodes = config.nodes_of_routers(routers)?;
        Self::assemble(&Wiring {
            name: "graph",
            edges: &config.edges,
            routers,
            nodes: &nodes,
            ties: config.ties,
            own_latencies: true,
            goes_up_and_down: false,
            second: None,
            pace: 1,
        })
    }

    /// Finds the paths over some links.
    pub fn assemble(wiring: &Wiring<'_>) -> Result<Self, ConfigError> {
        let &Wiring { name, routers, nodes, own_latencies, goes_up_and_down, .. } = wiring;
        let nodes_per_router = nodes.iter().copied().max().unwrap_or(0);
        check_ties(wiring)?;
        let degrees = degrees(wiring, nodes_per_router)?;
        let ends = ends(wiring, nodes_per_router, degrees);
        check_connected(&ends)?;
        let adapters = wiring.adapters();
        let maze = maze(&ends, nodes_per_router, (nodes.len() as u32, adapters));
        let paths = ShortestPaths::new(&maze, wiring.ties);
        let (groups, link_classes) = match wiring.second {
            None => (None, ONE_CLASS),
            Some((Second::Global(groups), _)) => (Some(groups), LOCAL_AND_GLOBAL),
            Some((Second::Rails, _)) => (None, NETWORK_AND_RAIL),
        };
        let mut first_node = vec![0];
        first_node.extend(nodes.iter().scan(0, |next, nodes| {
            *next += nodes;
            Some(*next)
        }));
        Ok(Self {
            name,
            nodes_per_router,
            routers,
            first_node,
            degrees,
            ends,
            absent: BTreeSet::new(),
            is_apart: false,
            own_latencies,
            goes_up_and_down,
            groups,
            link_classes,
            adapters,
            pace: wiring.pace,
            ties: wiring.ties,
            paths,
        })
    }

    /// A topology of another kind as the graph of its links, which has its classes, ports and numbers. `name` is that of the topology.
    pub fn of(topology: &Topology, name: &'static str) -> Result<Self, ConfigError> {
        let (routers, nodes_per_router) = (topology.routers(), topology.nodes_per_router());
        check_routers(routers.into(), "", &name, format!("a network of at most {MAX_ROUTERS} routers"))?;
        let ports = topology.ports();
        let degree = |class| ports.iter().filter(|port| **port == PortClass::Link(class)).count() as u32;
        let end = |router, port| {
            let (peer, back) = topology.neighbour(router, port)?;
            Some(End { router: peer, port: back as u16, place: peer, latency: 1, cycles_per_phit: 1 })
        };
        let links = nodes_per_router as usize..ports.len();
        let ends: Vec<Vec<_>> =
            (0..routers).map(|router| links.clone().map(|port| end(router, port)).collect()).collect();
        let with_nodes = topology.routers_with_nodes();
        let ties = if routers <= MOST_SPREAD { Ties::Spread } else { Ties::Hash };
        let paths = ShortestPaths::new(&maze(&ends, nodes_per_router, (with_nodes, 0)), ties);
        let count = topology.groups();
        let groups = topology.group_classes().map(|_| Groups { count, leaves: routers / count, spines: 0 });
        Ok(Self {
            name,
            nodes_per_router,
            routers,
            first_node: (0..=with_nodes).map(|router| router * nodes_per_router).collect(),
            degrees: [degree(LOCAL), degree(GLOBAL)],
            ends,
            absent: BTreeSet::new(),
            is_apart: false,
            own_latencies: false,
            goes_up_and_down: false,
            groups,
            link_classes: topology.link_classes(),
            adapters: 0,
            pace: 1,
            ties,
            paths,
        })
    }

    /// The graph without some links and routers, perhaps in several parts. Ports keep their numbers, and routers theirs.
    #[must_use]
    pub fn without(&self, missing: &Missing) -> Self {
        let mut ends = self.ends.clone();
        let first = self.nodes_per_router as usize;
        for &(router, port) in &missing.links {
            let Some(end) = self.end(router, port) else { continue };
            ends[router as usize][port - first] = None;
            ends[end.router as usize][usize::from(end.port) - first] = None;
        }
        let absent: BTreeSet<u32> = self.absent.union(&missing.routers).copied().collect();
        let with_nodes = self.routers_with_nodes();
        let [_, unreached] = parts(&ends, &absent);
        let maze = maze(&ends, self.nodes_per_router, (with_nodes, self.adapters));
        let paths = ShortestPaths::new(&maze, self.ties);
        let first_node = self.first_node.clone();
        let is_apart = absent.iter().chain(&unreached).any(|&router| router < with_nodes);
        let rest = Self { ends, absent, is_apart, paths, goes_up_and_down: false, first_node, ..*self };
        Self { is_apart: is_apart || rest.separated().is_some(), ..rest }
    }

    /// Refuses a graph in several parts. Routers that are absent are none.
    pub fn check_whole(&self) -> Result<(), ConfigError> {
        let [reached, unreached] = parts(&self.ends, &self.absent);
        let cut_off = reached.first().filter(|_| !unreached.is_empty());
        let apart = cut_off.map(|&start| (start, list(&unreached)));
        let Some((start, others)) = apart.or_else(|| {
            let [from, to] = self.separated()?;
            Some((from, format!("{}, as routers with nodes forward nothing", list(&[to]))))
        }) else {
            return Ok(());
        };
        let reason = format!(
            "without these links the network falls apart: from router {start} there is no way to {others}"
        );
        Err(ConfigError::new("", reason).valid(IN_ONE_PIECE))
    }

    /// Two routers of those that forward nothing between which there is no way, although links join them.
    fn separated(&self) -> Option<[u32; 2]> {
        let present = (0..self.adapters).filter(|router| !self.absent.contains(router));
        let pairs = present.clone().flat_map(|from| present.clone().map(move |to| [from, to]));
        pairs.into_iter().find(|&[from, to]| self.paths.hops(from, to).is_none())
    }

    /// How many routers, the first ones, forward nothing: no packet passes them on its way to another one.
    pub fn adapters(&self) -> u32 {
        self.adapters
    }

    /// Whether some nodes cannot reach others.
    #[inline]
    pub fn is_apart(&self) -> bool {
        self.is_apart
    }

    /// Name of the topology in a document: `graph`, or that of the family that the graph is of.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The groups of leaves and spines, if there are any.
    pub fn leaves_and_spines(&self) -> Option<Groups> {
        self.groups.filter(|groups| groups.spines > 0)
    }

    /// Ports for links of a router.
    pub fn degree(&self) -> u32 {
        self.degrees.iter().sum()
    }

    /// Whether all shortest paths between routers with nodes go up links of a tree and down again: they wait for each other in no
    /// circle, in whatever VC.
    pub fn goes_up_and_down(&self) -> bool {
        self.goes_up_and_down
    }

    /// The class of the link at a link port.
    #[inline]
    pub fn link_class(&self, port: usize) -> u8 {
        u8::from(port >= (self.nodes_per_router + self.degrees[0]) as usize)
    }

    fn end(&self, router: u32, port: usize) -> Option<End> {
        let number = port.checked_sub(self.nodes_per_router as usize)?;
        self.ends[router as usize].get(number).copied().flatten()
    }

    /// The link port of the shortest path from `at` to `to` ≠ `at`, a router with nodes.
    #[inline]
    pub fn first_port(&self, at: u32, to: u32) -> usize {
        self.paths.port(at, to)
    }

    /// Links of the longest shortest path between routers with nodes.
    pub fn diameter_with_nodes(&self) -> u32 {
        self.paths.longest_from_first(self.routers_with_nodes()).into()
    }

    /// Whether there is a way from a router to one with nodes. To one that is absent there is none, not from itself either.
    #[inline]
    pub fn reaches(&self, from: u32, to: u32) -> bool {
        self.paths.hops(from, to).is_some() && !(self.is_apart && self.absent.contains(&to))
    }

    /// Links of the shortest path to a router with nodes, which there is.
    #[inline]
    pub fn distance(&self, from: u32, to: u32) -> u16 {
        self.paths.hops(from, to).unwrap_or_else(|| unreachable!("there is a way"))
    }

    /// Cycles until the head of a packet of `length` phits may be passed on behind the last link of that path, if it waits
    /// nowhere.
    pub fn path_latency(&self, from: u32, to: u32, length: u32) -> u32 {
        let (mut at, mut cycles) = (from, 0);
        while at != to {
            let Some(end) = self.end(at, self.first_port(at, to)) else { break };
            (at, cycles) = (end.router, cycles + end.latency + length * (end.cycles_per_phit - 1));
        }
        cycles
    }
}

impl Parameters for Config {
    type Built = Graph;

    fn build(&self) -> Result<Graph, ConfigError> {
        Graph::new(self)
    }

    fn load(&mut self, read: impl Fn(&str) -> Result<Contents, String>) -> Result<(), ConfigError> {
        let Some(file) = &self.file else { return Ok(()) };
        let refuse = |reason| ConfigError::new("file", reason).value(format!("{file:?}"));
        if !self.edges.is_empty() {
            return Err(refuse("the links are given twice".into()).valid("either file or edges"));
        }
        let Contents { edges, nodes } = read(file).map_err(refuse)?;
        if !nodes.is_empty() && !self.nodes.is_empty() {
            let refused = ConfigError::new("nodes", "the file says how many nodes each router has");
            return Err(refused.valid("no such key"));
        }
        self.edges = edges;
        if !nodes.is_empty() {
            self.nodes = nodes;
        }
        self.file = None;
        Ok(())
    }

    fn ties(&self) -> Option<Ties> {
        Some(self.ties)
    }
}

impl Interconnect for Graph {
    fn routers(&self) -> u32 {
        self.routers
    }

    fn nodes_per_router(&self) -> u32 {
        self.nodes_per_router
    }

    fn routers_with_nodes(&self) -> u32 {
        self.first_node.len() as u32 - 1
    }

    fn nodes(&self) -> u32 {
        *self.first_node.last().unwrap_or(&0)
    }

    fn nodes_of(&self, router: u32) -> Range<u32> {
        let first = |router: u32| self.first_node.get(router as usize).copied().unwrap_or(self.nodes());
        first(router)..first(router + 1)
    }

    fn router_of(&self, node: u32) -> u32 {
        // Routers have equally many nodes, most of them at least.
        let guess = node / self.nodes_per_router;
        if self.nodes_of(guess).contains(&node) {
            return guess;
        }
        self.first_node.partition_point(|&first| first <= node) as u32 - 1
    }

    fn has_equal_routers(&self) -> bool {
        self.nodes() == self.routers_with_nodes() * self.nodes_per_router
    }

    fn ports(&self) -> Vec<PortClass> {
        let mut ports = vec![PortClass::Terminal; self.nodes_per_router as usize];
        for (class, degree) in (0..).zip(self.degrees) {
            ports.resize(ports.len() + degree as usize, PortClass::Link(class));
        }
        ports
    }

    fn link_classes(&self) -> &'static [&'static str] {
        self.link_classes
    }

    fn neighbour(&self, router: u32, port: usize) -> Option<(u32, usize)> {
        self.end(router, port).map(|end| (end.router, end.port as usize))
    }

    fn latency(&self, router: u32, port: usize, of_class: u32) -> u32 {
        self.end(router, port).filter(|_| self.own_latencies).map_or(of_class, |end| end.latency)
    }

    fn cycles_per_phit(&self, router: u32, port: usize) -> u32 {
        self.end(router, port).map_or(1, |end| end.cycles_per_phit)
    }

    fn has_latencies(&self) -> bool {
        self.own_latencies || self.pace > 1
    }

    /// All ports by which fewest links are left, whatever their latencies; of the first 64.
    fn nearer(&self, at: u32, to: u32, _trunk: u16) -> (usize, u64) {
        let left = self.distance(at, to);
        let ends = self.ends[at as usize].iter().enumerate().take(64);
        // By places: behind a router that forwards nothing there is no way on.
        let behind = |end: End| self.paths.hops(end.place, to);
        let is_nearer =
            |end: &Option<End>| end.is_some_and(|end| behind(end).is_some_and(|links| links < left));
        let bits = ends.filter(|(_, end)| is_nearer(end)).fold(0, |bits, (number, _)| bits | 1 << number);
        (self.nodes_per_router as usize, bits)
    }

    #[inline]
    fn minimal_port(&self, at: u32, to: u32, _trunk: u16) -> (usize, u8) {
        let port = self.first_port(at, to);
        (port, self.link_class(port))
    }

    fn diameter(&self) -> u32 {
        u32::from(self.paths.longest())
    }

    fn minimal_hops(&self, from: u32, to: u32) -> ByClass<u16> {
        if self.link_classes.len() == 1 {
            return ByClass::from([self.distance(from, to)]);
        }
        let (mut at, mut hops) = (from, ByClass::default());
        while at != to {
            let port = self.first_port(at, to);
            let Some(end) = self.end(at, port) else { break };
            hops[usize::from(self.link_class(port))] += 1;
            at = end.router;
        }
        hops
    }

    fn minimal_latency(&self, from: u32, to: u32, (latencies, length): (&[u32], u32)) -> u32 {
        if self.own_latencies {
            return self.path_latency(from, to, length);
        }
        let hops = self.minimal_hops(from, to);
        let slower = length * (self.pace - 1);
        hops.iter().zip(latencies).map(|(&hops, &latency)| u32::from(hops) * (latency + slower)).sum()
    }

    fn group(&self, router: u32) -> u32 {
        let Some(Groups { count, leaves, spines }) = self.groups else { return 0 };
        router.checked_sub(count * leaves).map_or(router / leaves, |spine| spine / spines)
    }

    fn groups(&self) -> u32 {
        self.groups.map_or(1, |groups| groups.count)
    }

    fn group_classes(&self) -> Option<GroupClasses> {
        self.groups.map(|_| GroupClasses { inside: LOCAL, between: GLOBAL })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn graph(document: serde_json::Value) -> Result<Graph, ConfigError> {
        Graph::new(&serde_json::from_value(document).unwrap())
    }

    fn petersen() -> Graph {
        let outer = (0..5).map(|i| (i, (i + 1) % 5));
        let all = outer.chain((0..5).map(|i| (i, i + 5))).chain((0..5).map(|i| (i + 5, (i + 2) % 5 + 5)));
        let edges: Vec<_> = all.map(|(a, b)| json!({ "between": [a, b] })).collect();
        graph(json!({ "edges": edges, "nodes_per_router": 2 })).unwrap()
    }

    #[test]
    fn every_link_leads_back_with_the_same_latency() {
        let edges = json!([
            { "between": [0, 3], "latency": 4 }, { "between": [3, 1] }, { "between": [3, 0], "latency": 9 },
            { "between": [2, 1], "latency": 2 }
        ]);
        let trunks =
            graph(json!({ "edges": edges, "nodes_per_router": 3, "routers_with_nodes": 2 })).unwrap();
        assert_eq!((trunks.routers(), trunks.routers_with_nodes(), trunks.degree()), (4, 2, 3));
        assert_eq!(trunks.neighbour(3, 5), Some((0, 4)), "the second link between 0 and 3");
        assert_eq!(trunks.neighbour(2, 4), None, "router 2 has one link");
        for graph in [trunks, petersen()] {
            for (router, port) in
                (0..graph.routers()).flat_map(|r| (0..graph.ports().len()).map(move |p| (r, p)))
            {
                let Some((peer, back)) = graph.neighbour(router, port) else { continue };
                assert_eq!(graph.neighbour(peer, back), Some((router, port)));
                assert_eq!(graph.latency(peer, back, 1), graph.latency(router, port, 1));
            }
        }
    }

    #[test]
    fn the_petersen_graph_has_diameter_two_and_its_paths_are_followed_in_so_many_links() {
        let graph = petersen();
        assert_eq!(graph.diameter(), 2);
        for (from, to) in (0..10).flat_map(|from| (0..10).map(move |to| (from, to))) {
            let (mut at, mut links) = (from, 0);
            while at != to {
                at = graph.neighbour(at, graph.first_port(at, to)).unwrap().0;
                links += 1;
            }
            assert_eq!(links, graph.distance(from, to));
            assert_eq!(graph.path_latency(from, to, 8), u32::from(links));
        }
    }

    #[test]
    fn paths_between_the_routers_of_two_trunks_use_both() {
        // Routers 0, 1 and 2 send to 4, 5 and 6 over two links between 3 and 7.
        let mut edges: Vec<_> = [0, 1, 2].iter().map(|&r| json!({ "between": [r, 3] })).collect();
        edges.extend([4, 5, 6].iter().map(|&r| json!({ "between": [r, 7] })));
        edges.extend([json!({ "between": [3, 7] }), json!({ "between": [7, 3] })]);
        let graph = graph(json!({ "edges": edges })).unwrap();
        let mut used: Vec<_> = [4, 5, 6, 7].map(|to| graph.first_port(3, to)).to_vec();
        used.sort_unstable();
        assert_eq!(used, [4, 4, 5, 5], "ports of the trunks");
    }
}
