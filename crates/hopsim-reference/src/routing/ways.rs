//! Shortest ways between routers, link by link.

use super::families;
use super::faults::{self, Broken};
use super::tables::Tables;
use crate::state::place::Link;
use hopsim_experiment::plan::Plan;
use hopsim_network::topology::cube::Tie;
use hopsim_network::topology::shortest::Ties;
use hopsim_network::topology::{LOCAL, TopologyConfig};
use hopsim_random::Stream;
use hopsim_routing::RoutingConfig;
use hopsim_routing::minimal::Up;
use std::collections::BTreeSet;
use std::ops::Range;

/// What there is to know of the network's links.
pub struct Ways {
    /// By router and port: the router at the other end of a link.
    neighbours: Vec<Vec<Option<usize>>>,
    nodes_per_router: usize,
    routers_with_nodes: usize,
    shape: Shape,
    /// The way up a fat tree.
    up: Up,
    /// Number of routers that forward nothing, the first ones.
    adapters: usize,
    /// Routers that are out of order, whose nodes nobody reaches.
    gone: BTreeSet<u32>,
}

/// The parameters of a topology.
enum Shape {
    Dragonfly(Dragonfly),
    Cube(Cube),
    /// Routers along each dimension.
    HyperX(Vec<usize>),
    FatTree {
        k: usize,
        levels: usize,
    },
    Graph(Tables),
}

/// A dragonfly.
pub struct Dragonfly {
    pub p: usize,
    pub a: usize,
    pub h: usize,
    pub groups: usize,
}

/// A mesh, torus or ring.
pub struct Cube {
    pub sides: Vec<usize>,
    /// How ties are broken where opposite edges are joined.
    pub wraps: Option<Tie>,
}

impl Dragonfly {
    /// The global ports of a router.
    pub fn global_ports(&self) -> Range<usize> {
        self.p + self.a - 1..self.p + self.a - 1 + self.h
    }

    /// The local ports of a router.
    pub fn local_ports(&self) -> Range<usize> {
        self.p..self.p + self.a - 1
    }

    /// The link ports of a router, of one class.
    pub fn ports(&self, class: u8) -> Range<usize> {
        if class == LOCAL { self.local_ports() } else { self.global_ports() }
    }

    /// Any router of a group.
    pub fn any_router(&self, group: usize, stream: &mut Stream) -> usize {
        group * self.a + stream.below(self.a as u32) as usize
    }

    /// Whether every two groups share one link.
    pub fn is_full(&self) -> bool {
        self.groups == self.a * self.h + 1
    }
}

impl Cube {
    /// The coordinate of a router: numbers are in mixed radix, dimension 0 fastest.
    pub fn coordinate(&self, router: usize, dimension: usize) -> usize {
        router / self.sides[..dimension].iter().product::<usize>() % self.sides[dimension]
    }

    /// Links to pass in a dimension, and whether towards larger coordinates; `None` if both ways are equally short.
    fn moves(&self, (from, to): (usize, usize), dimension: usize) -> (usize, Option<bool>) {
        let at = |router| self.coordinate(router, dimension);
        let (here, there, side) = (at(from), at(to), self.sides[dimension]);
        let Some(tie) = self.wraps else { return (here.abs_diff(there), Some(there > here)) };
        let (plus, minus) = ((there + side - here) % side, (here + side - there) % side);
        match tie {
            _ if plus < minus => (plus, Some(true)),
            _ if minus < plus => (minus, Some(false)),
            Tie::Plus => (plus, Some(true)),
            Tie::Random => (plus, None),
        }
    }

    /// A way round for every dimension in which both could be equally short: whether towards larger coordinates.
    pub fn draw_ties(&self, stream: &mut Stream) -> Vec<bool> {
        let draws = self.wraps == Some(Tie::Random) && self.sides.iter().any(|side| side % 2 == 0);
        let number = if draws { stream.below(1 << self.sides.len()) } else { 0 };
        (0..self.sides.len()).map(|dimension| number >> dimension & 1 == 1).collect()
    }
}

impl Ways {
    /// The ways of a network whose links are all in order, but for those that are out of order for good.
    pub fn new(plan: &Plan) -> Self {
        Self::without(plan, &Broken::default())
    }

    /// The ways of a network that lacks some links besides.
    pub fn without(plan: &Plan, broken: &Broken) -> Self {
        // Then a network of whatever topology is a graph.
        let fail = !plan.experiment.faults.is_empty();
        let many = |sides: &[u32]| sides.iter().map(|&side| side as usize).collect();
        let whole = plan.experiment.topology.build().expect("the plan has been made of it");
        faults::check(plan, &whole, broken);
        let shape = match &plan.experiment.topology {
            _ if fail && plan.experiment.topology.ties().is_none() => {
                Shape::Graph(Tables::of_graph(&plan.system.topology, 0, Ties::Spread))
            }
            TopologyConfig::Dragonfly(config) => Shape::Dragonfly(Dragonfly {
                p: config.p as usize,
                a: config.a as usize,
                h: config.h as usize,
                groups: plan.system.topology.groups() as usize,
            }),
            TopologyConfig::Mesh(config) => Shape::Cube(Cube { sides: many(&config.sides), wraps: None }),
            TopologyConfig::Torus(config) => {
                Shape::Cube(Cube { sides: many(&config.sides), wraps: Some(config.tie) })
            }
            TopologyConfig::Ring(config) => {
                Shape::Cube(Cube { sides: vec![config.routers as usize], wraps: Some(config.tie) })
            }
            TopologyConfig::HyperX(config) => Shape::HyperX(many(&config.sides)),
            TopologyConfig::FatTree(config) => {
                Shape::FatTree { k: config.k as usize, levels: config.levels as usize }
            }
            TopologyConfig::Ideal(_) => unreachable!("it has no ways"),
            family => {
                families::check(family, &whole);
                let ties = family.ties().expect("it is a graph");
                Shape::Graph(Tables::of_graph(&plan.system.topology, families::adapters(plan), ties))
            }
        };
        let up = match &plan.experiment.routing {
            RoutingConfig::Minimal(config) => config.up.unwrap_or_default(),
            _ => Up::Source,
        };
        let ports = 0..plan.system.topology.ports().len();
        let neighbour = |router, port| Some(plan.system.topology.neighbour(router, port)?.0 as usize);
        let of = |router| ports.clone().map(|port| neighbour(router, port)).collect();
        let neighbours = (0..plan.system.topology.routers()).map(of).collect();
        let nodes_per_router = plan.system.topology.nodes_per_router() as usize;
        let routers_with_nodes = plan.system.topology.nodes() as usize / nodes_per_router;
        let gone = faults::gone(plan).union(&broken.routers).copied().collect();
        let adapters = families::adapters(plan);
        Self { neighbours, nodes_per_router, routers_with_nodes, shape, up, adapters, gone }
    }

    pub fn routers(&self) -> usize {
        self.neighbours.len()
    }

    /// Number of routers that have nodes, the first ones.
    pub fn routers_with_nodes(&self) -> usize {
        self.routers_with_nodes
    }

    /// Links between the two routers with nodes that are farthest from each other.
    pub fn farthest(&self) -> usize {
        let all = 0..self.routers_with_nodes;
        self.longest(all.clone(), &all)
    }

    /// Links between any router and the one with nodes that is farthest from it.
    pub fn diameter(&self) -> usize {
        self.longest(0..self.routers(), &(0..self.routers_with_nodes))
    }

    /// Links of the longest shortest way from some routers to others.
    fn longest(&self, from: Range<usize>, to: &Range<usize>) -> usize {
        let pairs = from.flat_map(|from| to.clone().map(move |to| (from, to)));
        let there_is_one = pairs.filter(|&(from, to)| self.reaches(from, to));
        there_is_one.map(|(from, to)| self.distance(from, to)).max().unwrap_or(0)
    }

    /// Whether there is a way from a router to another one.
    pub fn reaches(&self, from: usize, to: usize) -> bool {
        match &self.shape {
            Shape::Graph(tables) => !self.gone.contains(&(to as u32)) && tables.reaches(from, to),
            _ => true,
        }
    }

    /// Links of the longest path that may turn off a minimal path of several links behind its first one.
    pub fn longest_with_a_turn(&self) -> usize {
        let (apart, longest) = (self.farthest(), self.diameter());
        if apart > 1 { 1 + longest + apart } else { 2 * apart }
    }

    /// The router at the other end of a link.
    pub fn neighbour(&self, router: usize, port: usize) -> Option<usize> {
        self.neighbours[router][port]
    }

    /// The ports of the links of a router.
    pub fn links(&self, router: usize) -> Vec<usize> {
        (0..self.neighbours[router].len()).filter(|&port| self.neighbours[router][port].is_some()).collect()
    }

    /// The group of a router; without groups all are in one.
    pub fn group(&self, router: usize) -> usize {
        self.dragonfly().map_or(0, |shape| router / shape.a)
    }

    pub fn dragonfly(&self) -> Option<&Dragonfly> {
        if let Shape::Dragonfly(shape) = &self.shape { Some(shape) } else { None }
    }

    pub fn cube(&self) -> Option<&Cube> {
        if let Shape::Cube(shape) = &self.shape { Some(shape) } else { None }
    }

    /// Number of links of the shortest way.
    pub fn distance(&self, from: usize, to: usize) -> usize {
        match &self.shape {
            Shape::Dragonfly(shape) if from / shape.a != to / shape.a => {
                self.ways_over_global_links(from, to).into_iter().map(|way| way.len()).min().unwrap_or(0)
            }
            Shape::Dragonfly(_) => usize::from(from != to),
            Shape::Cube(cube) => (0..cube.sides.len()).map(|d| cube.moves((from, to), d).0).sum(),
            Shape::HyperX(_) => self.nearer_in_hyperx((from, to)).len(),
            Shape::FatTree { .. } => self.way_in_tree((from, to), 0).len(),
            Shape::Graph(tables) => tables.way(from, to).len(),
        }
    }

    /// A shortest way; where there are several, one that is drawn. In a fat tree the way leads up by a number that is drawn.
    pub fn way(&self, from: usize, to: usize, stream: &mut Stream) -> Vec<Link> {
        if from == to {
            return Vec::new();
        }
        match &self.shape {
            Shape::Dragonfly(shape) => self.way_in_dragonfly(shape, (from, to), stream),
            Shape::Cube(cube) => self.way_in_cube(cube, (from, to), &cube.draw_ties(stream)),
            Shape::HyperX(_) => self.way_in_hyperx((from, to)),
            Shape::FatTree { k, levels } => {
                let roots = k.pow(*levels as u32 - 1) as u32;
                self.way_in_tree((from, to), stream.below(roots) as usize)
            }
            Shape::Graph(tables) => tables.way(from, to),
        }
    }

    /// The first shortest way: over the first of several links between groups, in the minus direction where both are as far, up by
    /// the number 0.
    pub fn first_way(&self, from: usize, to: usize) -> Vec<Link> {
        if from == to {
            return Vec::new();
        }
        match &self.shape {
            Shape::Dragonfly(shape) if from / shape.a == to / shape.a => {
                vec![self.local_link(shape, from, to)]
            }
            Shape::Dragonfly(_) => self.ways_over_global_links(from, to).swap_remove(0),
            Shape::Cube(cube) => self.way_in_cube(cube, (from, to), &vec![false; cube.sides.len()]),
            Shape::HyperX(_) => self.way_in_hyperx((from, to)),
            Shape::FatTree { .. } => self.way_in_tree((from, to), 0),
            Shape::Graph(tables) => tables.way(from, to),
        }
    }

    /// The way in a graph, where it is the same for all packets.
    pub fn table_way(&self, from: usize, to: usize) -> Vec<Link> {
        if let Shape::Graph(tables) = &self.shape { tables.way(from, to) } else { Vec::new() }
    }

    /// The way of a packet from one node to another with minimal routing.
    pub fn minimal_way(&self, (source, destination): (u32, u32), stream: &mut Stream) -> Vec<Link> {
        let router = |node: u32| node as usize / self.nodes_per_router;
        let ends = (router(source), router(destination));
        match (&self.shape, self.up) {
            (Shape::FatTree { .. }, Up::Source) => self.way_in_tree(ends, source as usize),
            (Shape::FatTree { .. }, Up::Destination) => self.way_in_tree(ends, destination as usize),
            _ => self.way(ends.0, ends.1, stream),
        }
    }

    /// The local port of a router of a dragonfly to another one of its group.
    fn local_link(&self, shape: &Dragonfly, from: usize, to: usize) -> Link {
        let port = shape.local_ports().find(|&port| self.neighbour(from, port) == Some(to));
        (from, port.expect("the routers of a group are all joined"))
    }

    /// The ways between routers of two groups of a dragonfly over each of the links between them, by number of the link: local,
    /// global, local.
    fn ways_over_global_links(&self, from: usize, to: usize) -> Vec<Vec<Link>> {
        let Shape::Dragonfly(shape) = &self.shape else { return Vec::new() };
        let mut ways = Vec::new();
        for exit in from / shape.a * shape.a..(from / shape.a + 1) * shape.a {
            for port in shape.global_ports() {
                let Some(entry) = self.neighbour(exit, port) else { continue };
                if entry / shape.a != to / shape.a {
                    continue;
                }
                let mut way = Vec::new();
                if exit != from {
                    way.push(self.local_link(shape, from, exit));
                }
                way.push((exit, port));
                if entry != to {
                    way.push(self.local_link(shape, entry, to));
                }
                ways.push(way);
            }
        }
        ways
    }

    /// The way between two routers of a dragonfly. Where the groups share several links, one of those on shortest ways is drawn.
    fn way_in_dragonfly(
        &self,
        shape: &Dragonfly,
        (from, to): (usize, usize),
        stream: &mut Stream,
    ) -> Vec<Link> {
        if from / shape.a == to / shape.a {
            return vec![self.local_link(shape, from, to)];
        }
        let mut ways = self.ways_over_global_links(from, to);
        let least = ways.iter().map(Vec::len).min().unwrap_or(0);
        ways.retain(|way| way.len() == least);
        // Even out of one, if some groups share several links.
        let nth = if shape.is_full() { 0 } else { stream.below(ways.len() as u32) };
        ways.swap_remove(nth as usize)
    }

    /// Over how many links a way enters the group of another router of a dragonfly by the first of the links there, and the
    /// router by which it enters the group.
    pub fn first_entry(&self, from: usize, to: usize) -> (usize, usize) {
        let way = self.ways_over_global_links(from, to).swap_remove(0);
        let global = way.iter().position(|&(router, port)| self.is_global(router, port)).unwrap_or(0);
        let (router, port) = way[global];
        (global + 1, self.neighbour(router, port).unwrap_or(to))
    }

    /// Whether a link leaves the group of its router.
    pub fn is_global(&self, router: usize, port: usize) -> bool {
        self.neighbour(router, port).is_some_and(|peer| self.group(peer) != self.group(router))
    }
}

/// Ways in meshes, tori and rings.
impl Ways {
    /// The dimension of a link port, and whether it leads towards larger coordinates: behind the ports of nodes there are two for every
    /// dimension.
    pub fn direction(&self, port: usize) -> (usize, bool) {
        let number = port - self.nodes_per_router;
        (number / 2, number % 2 == 1)
    }

    /// The ports that bring a packet nearer, dimension by dimension.
    pub fn nearer(&self, cube: &Cube, (from, to): (usize, usize), ties: &[bool]) -> Vec<usize> {
        let mut ports = Vec::new();
        for (dimension, &tie) in ties.iter().enumerate() {
            let (links, plus) = cube.moves((from, to), dimension);
            if links > 0 {
                ports.push(self.nodes_per_router + 2 * dimension + usize::from(plus.unwrap_or(tie)));
            }
        }
        ports
    }

    /// The way in a mesh, torus or ring, dimension by dimension.
    fn way_in_cube(&self, cube: &Cube, (from, to): (usize, usize), ties: &[bool]) -> Vec<Link> {
        let (mut way, mut at) = (Vec::new(), from);
        while at != to {
            let port = self.nearer(cube, (at, to), ties)[0];
            way.push((at, port));
            at = self.neighbour(at, port).expect("a way leads over links");
        }
        way
    }
}

/// Ways in the HyperX.
impl Ways {
    /// Routers along each dimension; none where there are no dimensions.
    pub fn sides(&self) -> &[usize] {
        match &self.shape {
            Shape::Cube(cube) => &cube.sides,
            Shape::HyperX(sides) => sides,
            _ => &[],
        }
    }

    pub fn is_hyperx(&self) -> bool {
        matches!(self.shape, Shape::HyperX(_))
    }

    /// The ports of a graph behind which fewer links are left; `None` in another topology.
    pub fn nearer_in_graph(&self, (from, to): (usize, usize)) -> Option<Vec<usize>> {
        let Shape::Graph(_) = self.shape else { return None };
        let left = self.distance(from, to);
        let goes_on = |peer: usize| peer == to || peer >= self.adapters && self.reaches(peer, to);
        let is_nearer = |port: &usize| {
            let peer = self.neighbour(from, *port).filter(|&peer| peer != from && goes_on(peer));
            peer.is_some_and(|peer| self.distance(peer, to) < left)
        };
        Some((0..self.neighbours[from].len()).filter(is_nearer).collect())
    }

    /// The ports to the routers that have one coordinate more in common with the destination, dimension by dimension.
    pub fn nearer_in_hyperx(&self, (from, to): (usize, usize)) -> Vec<usize> {
        let Shape::HyperX(sides) = &self.shape else { return Vec::new() };
        let (mut ports, mut stride) = (Vec::new(), 1);
        for side in sides {
            let coordinate = |router: usize| router / stride % side * stride;
            let peer = from - coordinate(from) + coordinate(to);
            ports.extend(
                (0..self.neighbours[from].len()).find(|&port| self.neighbour(from, port) == Some(peer)),
            );
            stride *= side;
        }
        ports
    }

    /// The way in a HyperX, dimension by dimension.
    fn way_in_hyperx(&self, (from, to): (usize, usize)) -> Vec<Link> {
        let (mut way, mut at) = (Vec::new(), from);
        while at != to {
            let port = self.nearer_in_hyperx((at, to))[0];
            way.push((at, port));
            at = self.neighbour(at, port).expect("a way leads over links");
        }
        way
    }
}

/// Ways in fat trees.
impl Ways {
    /// The port down from a switch towards another one, `None` if that is not below the switch.
    pub fn down(&self, from: usize, to: usize) -> Option<usize> {
        let Shape::FatTree { k, .. } = self.shape else { return None };
        (k..2 * k).find(|&port| {
            let below = self.neighbour(from, port);
            below.is_some_and(|below| below == to || self.down(below, to).is_some())
        })
    }

    /// The ports up from a switch.
    pub fn ups(&self) -> Range<usize> {
        if let Shape::FatTree { k, .. } = self.shape { 2 * k..3 * k } else { 0..0 }
    }

    /// The way in a fat tree: up by the digits of a number in base k, the lowest one at level 0, until the other switch is below;
    /// then down.
    fn way_in_tree(&self, (from, to): (usize, usize), number: usize) -> Vec<Link> {
        let Shape::FatTree { k, .. } = self.shape else { return Vec::new() };
        let (mut way, mut at, mut rest) = (Vec::new(), from, number);
        while at != to {
            let port = self.down(at, to).unwrap_or(2 * k + rest % k);
            way.push((at, port));
            at = self.neighbour(at, port).expect("a way leads over links");
            rest /= k;
        }
        way
    }
}
