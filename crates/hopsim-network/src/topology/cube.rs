//! Meshes, tori and rings: see [`MeshConfig`], [`TorusConfig`] and [`RingConfig`].

use super::grid::{Coordinates, Grid, MAX_DIMENSIONS};
use super::{Interconnect, MAX_PORTS, NODES_PER_ROUTER, Parameters, PortClass};
use crate::by_class::ByClass;
use crate::error::ConfigError;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most routers for which the first ports of all paths are kept: they are found in milliseconds.
const SMALL: u32 = 512;

/// Routers on a grid of any number of dimensions, joined to their neighbours in each.
///
/// Numbering: a router's number is its coordinates in mixed radix, dimension 0 (X) fastest; node n is at router
/// ⌊n / `nodes_per_router`⌋. A router's ports are the terminal ones, then for every dimension the one towards smaller
/// coordinates (minus) and the one towards larger ones (plus). At the edges the outward ports are not plugged in.
///
/// Source: Dally and Towles (2004), chapter 5 (k-ary n-mesh, here with any sides).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshConfig {
    /// Routers along each dimension \[1 to 8 dimensions of 2 … 65535\].
    #[schemars(length(min = 1, max = 8), inner(range(min = 2, max = 65535)))]
    pub sides: Vec<u32>,
    /// Nodes per router.
    #[serde(default = "one")]
    #[schemars(range(min = *NODES_PER_ROUTER.start(), max = *NODES_PER_ROUTER.end()))]
    pub nodes_per_router: u32,
}

/// A mesh whose opposite edges are joined, so that every dimension is a set of rings.
///
/// Numbering: as in a mesh. A packet takes the shorter way round; at exactly half way both are minimal (see `tie`). A
/// side of 2 has two links between its two routers.
///
/// Source: Dally and Towles (2004), chapter 5 (k-ary n-cube, here with any sides).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TorusConfig {
    /// Routers along each dimension \[1 to 8 dimensions of 2 … 65535\].
    #[schemars(length(min = 1, max = 8), inner(range(min = 2, max = 65535)))]
    pub sides: Vec<u32>,
    /// Nodes per router.
    #[serde(default = "one")]
    #[schemars(range(min = *NODES_PER_ROUTER.start(), max = *NODES_PER_ROUTER.end()))]
    pub nodes_per_router: u32,
    /// Which way round a packet goes if both are equally short.
    #[serde(default)]
    pub tie: Tie,
}

/// A torus of one dimension: routers in a circle, each with a link to the one before and one to the one after it. A packet
/// takes the shorter way round.
///
/// Source: Dally and Towles (2004), chapter 5 (k-ary 1-cube).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RingConfig {
    /// Routers \[2 … 65535\].
    #[schemars(range(min = 2, max = 65535))]
    pub routers: u32,
    /// Nodes per router.
    #[serde(default = "one")]
    #[schemars(range(min = *NODES_PER_ROUTER.start(), max = *NODES_PER_ROUTER.end()))]
    pub nodes_per_router: u32,
    /// Which way round a packet goes if both are equally short.
    #[serde(default)]
    pub tie: Tie,
}

/// Which way round a ring a packet goes if both are equally short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tie {
    /// Either, drawn per packet with even chances: the load is balanced.
    #[default]
    Random,
    /// Towards larger coordinates.
    Plus,
}

fn one() -> u32 {
    1
}

/// A mesh or torus.
#[derive(Clone, Debug)]
pub struct Cube {
    grid: Grid,
    nodes_per_router: u32,
    /// Whether opposite edges are joined.
    wraps: bool,
    tie: Tie,
    /// Whether packets draw a way round -- constant.
    has_ties: bool,
    /// The shortest ways by difference of the coordinates, from each of `origins` on: bit 0 for the minus port, bit 1 for the
    /// plus port -- constant.
    ways: Vec<u8>,
    /// Where difference 0 is, by dimension -- constant.
    origins: [u32; MAX_DIMENSIONS],
    /// First port by router · routers + destination, of small networks in which packets draw no ways -- constant.
    first_ports: Vec<u8>,
}

impl Cube {
    /// Coordinates of a router, 0 where there is no such dimension.
    pub fn coordinates(&self, router: u32) -> Coordinates {
        self.grid.places[router as usize]
    }

    /// A mesh.
    pub fn mesh(config: &MeshConfig) -> Result<Self, ConfigError> {
        Self::new(&config.sides, config.nodes_per_router, None)
    }

    /// A torus.
    pub fn torus(config: &TorusConfig) -> Result<Self, ConfigError> {
        Self::new(&config.sides, config.nodes_per_router, Some(config.tie))
    }

    /// A ring.
    pub fn ring(config: &RingConfig) -> Result<Self, ConfigError> {
        let ring = Self::new(&[config.routers], config.nodes_per_router, Some(config.tie));
        ring.map_err(|e| {
            if e.path.starts_with("sides") { ConfigError { path: "routers".into(), ..e } } else { e }
        })
    }

    fn new(sides: &[u32], nodes_per_router: u32, tie: Option<Tie>) -> Result<Self, ConfigError> {
        let routers = Grid::count(sides, u16::MAX.into(), nodes_per_router)?;
        let ports = routers.saturating_mul(2 * sides.len() as u64 + u64::from(nodes_per_router));
        if ports > MAX_PORTS {
            let reason = format!("the network would have {ports} router ports, more than memory holds");
            return Err(ConfigError::new("sides", reason)
                .value(format!("{sides:?}"))
                .valid(format!("(2 · dimensions + nodes_per_router) · product of the sides ≤ {MAX_PORTS}")));
        }
        let mut cube = Self {
            grid: Grid::new(sides),
            wraps: tie.is_some(),
            has_ties: tie == Some(Tie::Random) && sides.iter().any(|side| side.is_multiple_of(2)),
            tie: tie.unwrap_or_default(),
            nodes_per_router,
            ways: Vec::new(),
            origins: [0; MAX_DIMENSIONS],
            first_ports: Vec::new(),
        };
        cube.tabulate_ways();
        if cube.grid.routers <= SMALL && !cube.has_ties {
            let all = (0..cube.grid.routers).flat_map(|at| (0..cube.grid.routers).map(move |to| (at, to)));
            cube.first_ports =
                all.map(|(at, to)| cube.find_first_port(at, to, 0).unwrap_or(0) as u8).collect();
        }
        Ok(cube)
    }

    fn tabulate_ways(&mut self) {
        for (dimension, &side) in self.grid.sides.iter().enumerate() {
            self.origins[dimension] = self.ways.len() as u32 + side - 1;
            for (here, there) in
                (1..side).rev().map(|here| (here, 0)).chain((0..side).map(|there| (0, there)))
            {
                let (links, plus) = self.shorter(side, here, there);
                let both = plus.map_or(3, |plus| 1 << u8::from(plus));
                self.ways.push(if links == 0 { 0 } else { both });
            }
        }
    }

    /// Routers along each dimension.
    pub fn sides(&self) -> &[u32] {
        &self.grid.sides
    }

    /// The grid, if opposite edges are not joined.
    pub fn open_grid(&self) -> Option<&Grid> {
        (!self.wraps).then_some(&self.grid)
    }

    /// Whether opposite edges are joined.
    pub fn wraps(&self) -> bool {
        self.wraps
    }

    /// The port of a dimension and direction.
    #[inline]
    pub fn port(&self, dimension: usize, plus: bool) -> usize {
        self.nodes_per_router as usize + 2 * dimension + usize::from(plus)
    }

    /// Dimension and direction of a link port: whether it leads to larger coordinates.
    #[inline]
    pub fn direction(&self, port: usize) -> (usize, bool) {
        let number = port - self.nodes_per_router as usize;
        (number / 2, number % 2 == 1)
    }

    /// Whether two ports are of the same dimension and opposite directions.
    #[inline]
    pub fn is_opposite(&self, one: usize, other: usize) -> bool {
        let first = self.nodes_per_router as usize;
        one >= first && one != other && (one - first) / 2 == (other - first) / 2
    }

    /// The coordinate of a router in a dimension.
    #[inline]
    pub fn coordinate(&self, router: u32, dimension: usize) -> u32 {
        self.grid.coordinate(router, dimension)
    }

    /// Links to pass in a dimension, and whether by the plus port; `None` if both ways round are equally short.
    #[inline]
    pub fn way(&self, from: u32, to: u32, dimension: usize) -> (u32, Option<bool>) {
        let (here, there) = (self.coordinate(from, dimension), self.coordinate(to, dimension));
        self.shorter(self.grid.sides[dimension], here, there)
    }

    /// Links to pass from coordinate to coordinate of a dimension of `side` routers, and whether by the plus port; `None` if both
    /// ways round are equally short.
    #[inline]
    fn shorter(&self, side: u32, here: u32, there: u32) -> (u32, Option<bool>) {
        if !self.wraps {
            return (here.abs_diff(there), Some(there > here));
        }
        let up = if there >= here { there - here } else { there + side - here };
        let down = side - up;
        match up.cmp(&down) {
            std::cmp::Ordering::Less => (up, Some(true)),
            std::cmp::Ordering::Greater => (down, Some(false)),
            std::cmp::Ordering::Equal if self.tie == Tie::Plus => (up, Some(true)),
            std::cmp::Ordering::Equal => (up, None),
        }
    }

    /// Whether a packet from router to router sets out towards larger coordinates in the first dimension in which it has to
    /// move; `None` if both ways are equally short, or it need not move.
    pub fn sets_out(&self, from: u32, to: u32) -> Option<bool> {
        let mut ways = (0..self.grid.sides.len()).map(|dimension| self.way(from, to, dimension));
        ways.find(|&(links, _)| links > 0).and_then(|(_, plus)| plus)
    }

    /// A way round for every dimension in which both are equally short: a bit each, set for plus.
    pub fn draw_ties(&self, stream: &mut Stream) -> u16 {
        stream.below(1 << self.grid.sides.len()) as u16
    }

    /// The link port of the path in increasing order of dimensions (dimension-order routing) from `at` to `to` ≠ `at`;
    /// `ties` are the ways round where both are equally short.
    #[inline]
    pub fn first_port(&self, at: u32, to: u32, ties: u16) -> usize {
        match self.first_ports.get(at as usize * self.grid.routers as usize + to as usize) {
            Some(&port) => port as usize,
            None => {
                self.find_first_port(at, to, ties).unwrap_or_else(|| unreachable!("the packet is on its way"))
            }
        }
    }

    /// The link port of the path in increasing order of dimensions from `at` to `to`, without the table; `None` if `at` = `to`.
    fn find_first_port(&self, at: u32, to: u32, ties: u16) -> Option<usize> {
        let places = (&self.grid.places[at as usize], &self.grid.places[to as usize]);
        for dimension in 0..self.grid.sides.len().min(MAX_DIMENSIONS) {
            let ways = self.ways_in(dimension, places, ties);
            if ways != 0 {
                return Some(self.port(dimension, ways == 2));
            }
        }
        None
    }

    /// The link ports of a dimension that bring a packet from one place nearer to another, as `ways` has them; one at most.
    #[inline]
    fn ways_in(&self, dimension: usize, (here, there): (&Coordinates, &Coordinates), ties: u16) -> u8 {
        let (here, there) = (u32::from(here[dimension]), u32::from(there[dimension]));
        if here == there {
            return 0;
        }
        let ways = self.ways[(self.origins[dimension] + there - here) as usize];
        if ways == 3 { 1 << (ties >> dimension & 1) } else { ways }
    }

    /// Links of the minimal paths.
    pub fn distance(&self, from: u32, to: u32) -> u32 {
        (0..self.grid.sides.len()).map(|dimension| self.way(from, to, dimension).0).sum()
    }
}

impl Tie {
    fn beyond_links(self) -> Option<(&'static str, &'static str)> {
        let reason = "where links may fail tables say which of several shortest paths packets take";
        (self == Self::Plus).then_some(("tie", reason))
    }
}

impl Parameters for MeshConfig {
    type Built = Cube;

    fn build(&self) -> Result<Cube, ConfigError> {
        Cube::mesh(self)
    }
}

impl Parameters for TorusConfig {
    type Built = Cube;

    fn build(&self) -> Result<Cube, ConfigError> {
        Cube::torus(self)
    }

    fn beyond_links(&self) -> Option<(&'static str, &'static str)> {
        self.tie.beyond_links()
    }
}

impl Parameters for RingConfig {
    type Built = Cube;

    fn build(&self) -> Result<Cube, ConfigError> {
        Cube::ring(self)
    }

    fn beyond_links(&self) -> Option<(&'static str, &'static str)> {
        self.tie.beyond_links()
    }
}

impl Interconnect for Cube {
    fn routers(&self) -> u32 {
        self.grid.routers
    }

    fn nodes_per_router(&self) -> u32 {
        self.nodes_per_router
    }

    fn ports(&self) -> Vec<PortClass> {
        let mut ports = vec![PortClass::Terminal; self.nodes_per_router as usize];
        ports.resize(ports.len() + 2 * self.grid.sides.len(), PortClass::Link(0));
        ports
    }

    fn neighbour(&self, router: u32, port: usize) -> Option<(u32, usize)> {
        if port < self.nodes_per_router as usize {
            return None;
        }
        let (dimension, plus) = self.direction(port);
        let (side, here) = (self.grid.sides[dimension], self.coordinate(router, dimension));
        let at_edge = here == if plus { side - 1 } else { 0 };
        let there = match (plus, at_edge) {
            (_, true) if !self.wraps => return None,
            (true, true) => 0,
            (false, true) => side - 1,
            (true, false) => here + 1,
            (false, false) => here - 1,
        };
        Some((self.grid.moved(router, dimension, there), self.port(dimension, !plus)))
    }

    #[inline]
    fn nearer(&self, at: u32, to: u32, ties: u16) -> (usize, u64) {
        let mut ports = 0;
        let places = (&self.grid.places[at as usize], &self.grid.places[to as usize]);
        for dimension in 0..self.grid.sides.len().min(MAX_DIMENSIONS) {
            ports |= u64::from(self.ways_in(dimension, places, ties)) << (2 * dimension);
        }
        (self.nodes_per_router as usize, ports)
    }

    #[inline]
    fn minimal_port(&self, at: u32, to: u32, ties: u16) -> (usize, u8) {
        (self.first_port(at, to, ties), 0)
    }

    fn diameter(&self) -> u32 {
        self.grid.sides.iter().map(|side| if self.wraps { side / 2 } else { side - 1 }).sum()
    }

    fn minimal_hops(&self, from: u32, to: u32) -> ByClass<u16> {
        ByClass::from([self.distance(from, to) as u16])
    }

    #[inline]
    fn has_trunks(&self) -> bool {
        self.has_ties
    }

    fn choose_trunk(&self, _at: u32, _to: u32, stream: &mut Stream) -> u16 {
        self.draw_ties(stream)
    }

    fn trunk_choices(&self, _at: u32, _to: u32) -> u32 {
        1 << self.grid.sides.len()
    }

    fn trunk_of(&self, _at: u32, _to: u32, node: u32) -> u16 {
        (node % (1 << self.grid.sides.len())) as u16
    }

    fn has_rings(&self) -> bool {
        self.wraps
    }

    fn has_escape(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn torus(sides: &[u32]) -> Cube {
        Cube::new(sides, 2, Some(Tie::Random)).unwrap()
    }

    fn mesh(sides: &[u32]) -> Cube {
        Cube::new(sides, 1, None).unwrap()
    }

    #[test]
    fn every_link_leads_back() {
        for cube in [torus(&[4, 3, 2]), mesh(&[5, 2]), torus(&[7]), torus(&[2, 2])] {
            for router in 0..cube.routers() {
                for port in 0..cube.ports().len() {
                    if let Some((peer, back)) = cube.neighbour(router, port) {
                        assert_eq!(cube.neighbour(peer, back), Some((router, port)));
                    }
                }
            }
        }
    }

    #[test]
    fn distances_are_those_of_a_breadth_first_search() {
        for cube in [torus(&[4, 3, 2]), mesh(&[5, 2, 3]), torus(&[7, 6])] {
            for from in 0..cube.routers() {
                let mut distance = vec![u32::MAX; cube.routers() as usize];
                let mut queue = std::collections::VecDeque::from([from]);
                distance[from as usize] = 0;
                while let Some(at) = queue.pop_front() {
                    for (next, _) in (0..cube.ports().len()).filter_map(|port| cube.neighbour(at, port)) {
                        if distance[next as usize] == u32::MAX {
                            distance[next as usize] = distance[at as usize] + 1;
                            queue.push_back(next);
                        }
                    }
                }
                for to in 0..cube.routers() {
                    assert_eq!(cube.distance(from, to), distance[to as usize]);
                }
            }
        }
    }

    #[test]
    fn ports_that_bring_a_packet_nearer_shorten_the_way_in_every_dimension_it_has_to_move_in() {
        for cube in [torus(&[4, 3, 2]), mesh(&[5, 2, 3]), torus(&[7, 6]), torus(&[9])] {
            let all = (0..cube.routers()).flat_map(|from| (0..cube.routers()).map(move |to| (from, to)));
            for ((from, to), ties) in all.flat_map(|ends| [0, 5, u16::MAX].map(|ties| (ends, ties))) {
                let (first, bits) = cube.nearer(from, to, ties);
                let ports: Vec<_> =
                    (0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit| first + bit).collect();
                let left = |port| cube.distance(cube.neighbour(from, port).unwrap().0, to);
                assert!(ports.iter().all(|&port| left(port) + 1 == cube.distance(from, to)));
                let moves =
                    |&dimension: &usize| cube.coordinate(from, dimension) != cube.coordinate(to, dimension);
                assert_eq!(ports.len(), (0..cube.sides().len()).filter(moves).count());
                if from != to {
                    assert_eq!(cube.first_port(from, to, ties), ports[0]);
                }
                for (port, dimension) in ports.iter().map(|&port| (port, cube.direction(port).0)) {
                    if let (_, None) = cube.way(from, to, dimension) {
                        assert_eq!(cube.direction(port).1, ties >> dimension & 1 == 1, "as drawn");
                    }
                }
            }
        }
    }

    #[test]
    fn a_mesh_has_no_links_beyond_its_edges() {
        let mesh = mesh(&[3, 2]);
        let links = (0..6).flat_map(|router| (1..5).map(move |port| (router, port))).collect::<Vec<_>>();
        let plugged = links.iter().filter(|&&(router, port)| mesh.neighbour(router, port).is_some()).count();
        assert_eq!(plugged, 2 * (2 * 2 + 3), "two links per row of three, three between the rows, both ways");
    }
}
