//! The HyperX: see [`Config`].

use super::grid::Grid;
use super::{Interconnect, MAX_PORTS, MAX_ROUTER_PORTS, NODES_PER_ROUTER, Parameters, PortClass};
use crate::by_class::ByClass;
use crate::error::{ConfigError, valid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Routers on a grid, each joined to all others that differ from it in one coordinate alone. With equal sides it is a
/// flattened butterfly, with one dimension a complete graph, with sides of 2 a hypercube.
///
/// Numbering: as in a mesh. A router's ports are the terminal ones, then for every dimension one for each other coordinate, in
/// ascending order.
///
/// A packet has one link to pass in every dimension in which its coordinates differ. There is one link between two routers,
/// and all links take a phit per cycle (K = 1 in the paper). On a chip links are as long as their routers are apart: then
/// `latency_per_step` makes long ones slower.
///
/// At most 512 ports per router.
///
/// Source: Ahn et al., SC 2009; Kim, Dally and Abts, ISCA 2007 (flattened butterfly).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "HyperXTopology")]
pub struct Config {
    /// Routers along each dimension \[1 to 8 dimensions of 2 … 512\].
    #[schemars(length(min = 1, max = 8), inner(range(min = 2, max = 512)))]
    pub sides: Vec<u32>,
    /// Nodes per router.
    #[serde(default = "one")]
    #[schemars(range(min = *NODES_PER_ROUTER.start(), max = *NODES_PER_ROUTER.end()))]
    pub nodes_per_router: u32,
    /// What a link takes longer for every coordinate that it passes over \[cycles\]: between coordinates d apart it has the latency
    /// `links.network.latency` + (d − 1) times so much.
    #[serde(default)]
    #[schemars(range(min = *LATENCIES_PER_STEP.start(), max = *LATENCIES_PER_STEP.end()))]
    pub latency_per_step: u32,
}

/// Cycles that links may take for every coordinate that they pass over.
const LATENCIES_PER_STEP: RangeInclusive<u32> = 0..=1_000;

fn one() -> u32 {
    1
}

/// A HyperX.
#[derive(Clone, Debug)]
pub struct HyperX {
    grid: Grid,
    nodes_per_router: u32,
    /// Link ports of a router.
    degree: u32,
    /// First port of every dimension -- constant.
    first_ports: Vec<u32>,
    /// Cycles that a link takes longer for every coordinate that it passes over -- constant.
    latency_per_step: u32,
}

impl HyperX {
    /// Checks the parameters.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        let Config { sides, nodes_per_router, latency_per_step } = config;
        if !LATENCIES_PER_STEP.contains(latency_per_step) {
            return Err(ConfigError::new("latency_per_step", "out of range")
                .value(latency_per_step)
                .valid(valid(&LATENCIES_PER_STEP)));
        }
        let routers = Grid::count(sides, MAX_ROUTER_PORTS, *nodes_per_router)?;
        let degree = sides.iter().map(|&side| u64::from(side) - 1).sum::<u64>();
        let ports = degree + u64::from(*nodes_per_router);
        if ports > u64::from(MAX_ROUTER_PORTS) {
            let reason = format!("a router would have {ports} ports");
            let valid = format!("at most {MAX_ROUTER_PORTS} ports per router, terminal ones included");
            return Err(ConfigError::new("sides", reason).value(format!("{sides:?}")).valid(valid));
        }
        let all = routers.saturating_mul(ports);
        if all > MAX_PORTS {
            let reason = format!("the network would have {all} router ports, more than memory holds");
            return Err(ConfigError::new("sides", reason)
                .value(format!("{sides:?}"))
                .valid(format!("product of the sides ≤ {}", MAX_PORTS / ports)));
        }
        let first_port =
            |dimension: usize| nodes_per_router + sides[..dimension].iter().map(|side| side - 1).sum::<u32>();
        Ok(Self {
            first_ports: (0..sides.len()).map(first_port).collect(),
            grid: Grid::new(sides),
            nodes_per_router: *nodes_per_router,
            degree: degree as u32,
            latency_per_step: *latency_per_step,
        })
    }

    /// Routers along each dimension.
    pub fn sides(&self) -> &[u32] {
        &self.grid.sides
    }

    /// The grid of routers.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Link ports of a router.
    pub fn degree(&self) -> u32 {
        self.degree
    }

    /// The coordinate of a router in a dimension.
    pub fn coordinate(&self, router: u32, dimension: usize) -> u32 {
        self.grid.coordinate(router, dimension)
    }

    /// Coordinates that the links of the minimal path between two routers pass over, of all dimensions together.
    fn passed_over(&self, from: u32, to: u32) -> u32 {
        let places = self.grid.places[from as usize].iter().zip(&self.grid.places[to as usize]);
        places.map(|(&here, &there)| u32::from(here.abs_diff(there)).saturating_sub(1)).sum()
    }

    /// The ports that bring a packet from `at` nearer to `to`, one in each dimension in which they differ, in ascending order.
    fn nearer_ports(&self, at: u32, to: u32) -> impl Iterator<Item = u32> {
        let places = self.grid.places[at as usize].iter().zip(&self.grid.places[to as usize]);
        let differing = places.zip(&self.first_ports).filter(|((here, there), _)| here != there);
        differing.map(|((&here, &there), first)| first + port_number(here.into(), there.into()))
    }
}

/// The port from one coordinate to another one, of those of its dimension.
fn port_number(here: u32, there: u32) -> u32 {
    if there < here { there } else { there - 1 }
}

impl Parameters for Config {
    type Built = HyperX;

    fn build(&self) -> Result<HyperX, ConfigError> {
        HyperX::new(self)
    }

    fn beyond_links(&self) -> Option<(&'static str, &'static str)> {
        let reason = "where links may fail all of a class have the same latency";
        (self.latency_per_step > 0).then_some(("latency_per_step", reason))
    }
}

impl Interconnect for HyperX {
    fn routers(&self) -> u32 {
        self.grid.routers
    }

    fn nodes_per_router(&self) -> u32 {
        self.nodes_per_router
    }

    fn ports(&self) -> Vec<PortClass> {
        let mut ports = vec![PortClass::Terminal; self.nodes_per_router as usize];
        ports.resize(ports.len() + self.degree as usize, PortClass::Link(0));
        ports
    }

    fn neighbour(&self, router: u32, port: usize) -> Option<(u32, usize)> {
        let port = port as u32;
        let dimension = self.first_ports.iter().rposition(|&first| first <= port)?;
        let (first, here) = (self.first_ports[dimension], self.coordinate(router, dimension));
        let there = if port - first < here { port - first } else { port - first + 1 };
        Some((self.grid.moved(router, dimension, there), (first + port_number(there, here)) as usize))
    }

    fn latency(&self, router: u32, port: usize, of_class: u32) -> u32 {
        let peer = self.neighbour(router, port).map(|(peer, _)| peer);
        peer.map_or(of_class, |peer| of_class + self.latency_per_step * self.passed_over(router, peer))
    }

    fn longest_latency(&self, of_class: u32) -> u32 {
        let longest = self.grid.sides.iter().max().map_or(0, |side| side - 2);
        of_class + self.latency_per_step * longest
    }

    fn has_latencies(&self) -> bool {
        self.latency_per_step > 0
    }

    fn minimal_latency(&self, from: u32, to: u32, (latencies, _): (&[u32], u32)) -> u32 {
        let links = self.nearer_ports(from, to).count() as u32;
        links * latencies[0] + self.latency_per_step * self.passed_over(from, to)
    }

    #[inline]
    fn minimal_port(&self, at: u32, to: u32, _trunk: u16) -> (usize, u8) {
        let port = self.nearer_ports(at, to).next();
        (port.unwrap_or_else(|| unreachable!("the packet is on its way")) as usize, 0)
    }

    fn diameter(&self) -> u32 {
        self.grid.sides.len() as u32
    }

    fn minimal_hops(&self, from: u32, to: u32) -> ByClass<u16> {
        ByClass::from([self.nearer_ports(from, to).count() as u16])
    }

    #[inline]
    fn nearer(&self, at: u32, to: u32, _trunk: u16) -> (usize, u64) {
        let first = self.nodes_per_router;
        let bits = self.nearer_ports(at, to).fold(0, |bits, port| bits | 1 << (port - first));
        (first as usize, bits)
    }

    fn has_escape(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hyperx(sides: &[u32]) -> HyperX {
        HyperX::new(&Config { sides: sides.to_vec(), nodes_per_router: 3, latency_per_step: 2 }).unwrap()
    }

    fn pairs(hyperx: &HyperX) -> impl Iterator<Item = (u32, u32)> {
        let routers = hyperx.routers();
        (0..routers).flat_map(move |from| (0..routers).map(move |to| (from, to)))
    }

    #[test]
    fn every_router_is_joined_to_all_that_differ_in_one_coordinate() {
        for hyperx in [hyperx(&[4, 3, 2]), hyperx(&[5]), hyperx(&[2, 2, 2, 2])] {
            for router in 0..hyperx.routers() {
                let mut peers = Vec::new();
                for port in 0..hyperx.ports().len() {
                    let Some((peer, back)) = hyperx.neighbour(router, port) else {
                        assert!(port < 3, "a terminal port");
                        continue;
                    };
                    assert_eq!(hyperx.neighbour(peer, back), Some((router, port)));
                    peers.push(peer);
                }
                peers.sort_unstable();
                let differ = |&peer: &u32| {
                    let coordinates = 0..hyperx.sides().len();
                    coordinates
                        .filter(|&d| hyperx.coordinate(peer, d) != hyperx.coordinate(router, d))
                        .count()
                        == 1
                };
                assert_eq!(peers, (0..hyperx.routers()).filter(differ).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_packet_passes_one_link_in_every_dimension_in_which_it_has_to_move_the_lowest_first() {
        for hyperx in [hyperx(&[4, 3, 2]), hyperx(&[7, 6])] {
            let mut longest = 0;
            for (from, to) in pairs(&hyperx) {
                let (mut at, mut links, mut before) = (from, 0, None);
                while at != to {
                    let (port, class) = hyperx.minimal_port(at, to, 0);
                    let dimension = hyperx.first_ports.iter().rposition(|&first| first <= port as u32);
                    assert!(class == 0 && dimension > before);
                    (at, before) = (hyperx.neighbour(at, port).unwrap().0, dimension);
                    links += 1;
                }
                assert_eq!(hyperx.minimal_hops(from, to), ByClass::from([links]));
                longest = longest.max(u32::from(links));
            }
            assert_eq!(longest, hyperx.diameter());
        }
    }

    #[test]
    fn a_minimal_path_takes_what_its_links_take_and_these_more_the_farther_they_go() {
        let hyperx = hyperx(&[5, 3]);
        for (from, to) in pairs(&hyperx) {
            let (mut at, mut cycles) = (from, 0);
            while at != to {
                let (port, _) = hyperx.minimal_port(at, to, 0);
                let (peer, back) = hyperx.neighbour(at, port).unwrap();
                let apart = |d| hyperx.coordinate(at, d).abs_diff(hyperx.coordinate(peer, d));
                let latency = hyperx.latency(at, port, 7);
                assert_eq!(latency, 7 + 2 * (apart(0) + apart(1) - 1));
                assert_eq!(latency, hyperx.latency(peer, back, 7));
                assert!(latency <= hyperx.longest_latency(7));
                (at, cycles) = (peer, cycles + latency);
            }
            assert_eq!(hyperx.minimal_latency(from, to, (&[7], 1)), cycles);
        }
        assert_eq!(hyperx.longest_latency(7), 7 + 2 * 3);
    }

    #[test]
    fn ports_that_bring_a_packet_nearer_are_the_first_links_of_all_shortest_paths() {
        let hyperx = hyperx(&[4, 3, 2]);
        for (from, to) in pairs(&hyperx) {
            let (first, bits) = hyperx.nearer(from, to, 0);
            let left =
                |port: usize| hyperx.neighbour(from, port).map(|(peer, _)| hyperx.minimal_hops(peer, to)[0]);
            let here = hyperx.minimal_hops(from, to)[0];
            for port in first..hyperx.ports().len() {
                let nearer = left(port).is_some_and(|left| left < here);
                assert_eq!(bits >> (port - first) & 1 == 1, nearer);
            }
        }
    }
}
