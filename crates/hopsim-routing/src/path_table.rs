//! Whole paths between any two routers with nodes, several for each two: found, and kept.

use super::NO_VC;
use hopsim_network::interrupt;
use hopsim_network::topology::Interconnect as _;
use hopsim_network::topology::graph::Graph;
use hopsim_random::{Purpose, Streams};
use std::ops::Range;

/// Paths between routers, the ports of their links one after the other.
#[derive(Clone, Debug)]
pub struct PathTable {
    routers_with_nodes: u32,
    /// The first path of every pair, by source · routers with nodes + destination, and behind them how many there are -- constant.
    first: Vec<u32>,
    /// Where the ports of every path begin, and behind them how many there are -- constant.
    begins: Vec<u32>,
    /// The ports -- constant.
    ports: Vec<u16>,
    /// The VCs of the links where the paths say them, else none -- constant.
    vcs: Vec<u8>,
}

/// The search for the paths of a pair would take too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// The routers at the two ends.
    pub pair: [u32; 2],
}

/// Port and VC of the links of a path.
pub type GivenPath = Vec<(u16, u8)>;

/// Most links that are followed in a search for the paths of a pair.
pub const MOST_STEPS: u64 = 20_000_000;

impl PathTable {
    /// The `most` shortest paths between any two routers with nodes: see [`super::k_shortest_paths::Config`].
    pub fn shortest(graph: &Graph, most: u32, longest: u32, seed: u64) -> Result<Self, TooLong> {
        let routers_with_nodes = graph.routers_with_nodes();
        let mut table = Self::new(routers_with_nodes);
        let orders = Streams::new(seed, Purpose::PathOrder);
        let mut search = Search::new(graph);
        for from in 0..routers_with_nodes {
            for to in 0..routers_with_nodes {
                if from != to {
                    let pair = u64::from(from) * u64::from(routers_with_nodes) + u64::from(to);
                    search.begin(to, orders.stream(pair).bits() as u32);
                    table.add(&mut search, from, (most, longest)).ok_or(TooLong { pair: [from, to] })?;
                    interrupt::steps(search.steps);
                }
                table.first.push(table.begins.len() as u32 - 1);
            }
        }
        Ok(table)
    }

    /// Adds the paths from a router that a search finds, `None` if it takes too long.
    fn add(&mut self, search: &mut Search<'_>, from: u32, (most, longest): (u32, u32)) -> Option<()> {
        let mut left = most;
        let shortest = u32::from(search.graph.distance(from, search.to));
        for links in shortest..=longest {
            search.paths_of(from, links, &mut left, &mut |path| {
                self.ports.extend(path);
                self.begins.push(self.ports.len() as u32);
            });
            if search.steps > MOST_STEPS {
                return None;
            }
            if left == 0 {
                break;
            }
        }
        Some(())
    }

    fn new(routers_with_nodes: u32) -> Self {
        Self { routers_with_nodes, first: vec![0], begins: vec![0], ports: Vec::new(), vcs: Vec::new() }
    }

    /// Paths with the VCs of their links, all those of one pair after the other.
    pub fn given<'a>(routers_with_nodes: u32, pairs: impl IntoIterator<Item = &'a [GivenPath]>) -> Self {
        let mut table = Self::new(routers_with_nodes);
        for paths in pairs {
            for path in paths {
                table.ports.extend(path.iter().map(|&(port, _)| port));
                table.vcs.extend(path.iter().map(|&(_, vc)| vc));
                table.begins.push(table.ports.len() as u32);
            }
            table.first.push(table.begins.len() as u32 - 1);
        }
        table
    }

    /// Paths by the ports of their links, all those of one pair after the other.
    pub fn of_ports(routers_with_nodes: u32, pairs: impl IntoIterator<Item = Vec<Vec<u16>>>) -> Self {
        let mut table = Self::new(routers_with_nodes);
        for paths in pairs {
            for path in paths {
                table.ports.extend(path);
                table.begins.push(table.ports.len() as u32);
            }
            table.first.push(table.begins.len() as u32 - 1);
        }
        table
    }

    fn pair(&self, from: u32, to: u32) -> usize {
        (from * self.routers_with_nodes + to) as usize
    }

    /// How many paths there are from a router with nodes to another one.
    #[inline]
    pub fn count(&self, from: u32, to: u32) -> u32 {
        let pair = self.pair(from, to);
        self.first[pair + 1] - self.first[pair]
    }

    /// The places of the links of one of them.
    #[inline]
    fn places(&self, from: u32, to: u32, number: u32) -> Range<usize> {
        let path = (self.first[self.pair(from, to)] + number) as usize;
        self.begins[path] as usize..self.begins[path + 1] as usize
    }

    /// The ports of the links of one of them.
    #[inline]
    pub fn path(&self, from: u32, to: u32, number: u32) -> &[u16] {
        &self.ports[self.places(from, to, number)]
    }

    /// Port and VC of the links of one of them, [`NO_VC`] where the paths do not say VCs.
    #[inline]
    pub fn links(&self, from: u32, to: u32, number: u32) -> impl Iterator<Item = (u16, u8)> {
        self.places(from, to, number)
            .map(|place| (self.ports[place], self.vcs.get(place).copied().unwrap_or(NO_VC)))
    }

    /// All paths: source, destination and number.
    pub fn all(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let routers = 0..self.routers_with_nodes;
        let pairs = routers.clone().flat_map(move |from| routers.clone().map(move |to| (from, to)));
        pairs.flat_map(|(from, to)| (0..self.count(from, to)).map(move |number| (from, to, number)))
    }

    /// Links of the longest path.
    pub fn longest(&self) -> u32 {
        self.begins.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0)
    }
}

/// A search for paths to a router that pass no router twice.
struct Search<'g> {
    graph: &'g Graph,
    /// The links of every router: port and router at the other end, ports ascending.
    links: Vec<Vec<(u16, u32)>>,
    to: u32,
    /// The link of every router that is tried first, modulo how many links it has.
    begins_with: u32,
    /// Whether a router is on the path in hand.
    is_passed: Vec<bool>,
    /// The ports of the path in hand.
    path: Vec<u16>,
    /// Links followed for this destination.
    steps: u64,
}

impl<'g> Search<'g> {
    fn new(graph: &'g Graph) -> Self {
        let ports = graph.nodes_per_router() as usize..graph.ports().len();
        let links = |router: u32| {
            let link = |port: usize| Some((port as u16, graph.neighbour(router, port)?.0));
            ports.clone().filter_map(link).collect()
        };
        Self {
            graph,
            links: (0..graph.routers()).map(links).collect(),
            to: 0,
            begins_with: 0,
            is_passed: vec![false; graph.routers() as usize],
            path: Vec::new(),
            steps: 0,
        }
    }

    fn begin(&mut self, to: u32, begins_with: u32) {
        (self.to, self.begins_with, self.steps) = (to, begins_with, 0);
    }

    /// Visits paths of exactly so many links from a router, until none is left to be found.
    fn paths_of(&mut self, at: u32, links: u32, left: &mut u32, visit: &mut impl FnMut(&[u16])) {
        if links == 0 {
            visit(&self.path);
            *left -= 1;
            return;
        }
        self.is_passed[at as usize] = true;
        let count = self.links[at as usize].len();
        for number in 0..count {
            if *left == 0 || self.steps > MOST_STEPS {
                break;
            }
            self.steps += 1;
            let (port, next) = self.links[at as usize][(self.begins_with as usize + number) % count];
            let is_dead_end = if next == self.to {
                links > 1
            } else {
                self.is_passed[next as usize] || u32::from(self.graph.distance(next, self.to)) >= links
            };
            if !is_dead_end {
                self.path.push(port);
                self.paths_of(next, links - 1, left, visit);
                self.path.pop();
            }
        }
        self.is_passed[at as usize] = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopsim_network::topology::{Topology, TopologyConfig};
    use serde_json::{Value, json};
    use std::collections::BTreeSet;

    fn graph(topology: &Value) -> Graph {
        let config: TopologyConfig = serde_json::from_value(topology.clone()).unwrap();
        match config.build().unwrap() {
            Topology::Graph(graph) => graph,
            _ => unreachable!("it is one"),
        }
    }

    fn complete(routers: u32) -> Graph {
        let pairs = (0..routers).flat_map(|one| (one + 1..routers).map(move |other| [one, other]));
        let edges: Vec<_> = pairs.map(|between| json!({ "between": between })).collect();
        graph(&json!({ "graph": { "edges": edges } }))
    }

    #[test]
    fn of_five_routers_that_are_all_joined_two_have_sixteen_paths_the_short_ones_first() {
        // One of a single link, and over 1, 2 or 3 of the three others: 3, 3 · 2 and 3 · 2 · 1.
        let graph = complete(5);
        let table = PathTable::shortest(&graph, 100, 16, 1).unwrap();
        for (from, to) in
            (0..5).flat_map(|from| (0..5).map(move |to| (from, to))).filter(|(from, to)| from != to)
        {
            let paths: Vec<_> =
                (0..table.count(from, to)).map(|number| table.path(from, to, number)).collect();
            assert_eq!(paths.iter().collect::<BTreeSet<_>>().len(), 16);
            let lengths: Vec<_> = paths.iter().map(|path| path.len()).collect();
            assert_eq!(lengths, [vec![1], vec![2; 3], vec![3; 6], vec![4; 6]].concat());
        }
        let short = PathTable::shortest(&graph, 100, 2, 1).unwrap();
        assert_eq!((short.count(0, 1), short.longest()), (4, 2), "of at most two links");
    }

    #[test]
    fn no_links_are_preferred_by_all() {
        // Between 16 routers, each joined to all, three paths of two links lead over three of 14 routers.
        let table = PathTable::shortest(&complete(16), 4, 16, 1).unwrap();
        let mut over = [[0u32; 15]; 16];
        for (from, to) in
            (0..16).flat_map(|from| (0..16).map(move |to| (from, to))).filter(|(from, to)| from != to)
        {
            for number in 1..table.count(from, to) {
                over[from as usize][usize::from(table.path(from, to, number)[0]) - 1] += 1;
            }
        }
        // 15 destinations · 3 paths over 15 links: 3 each, and the first ports would take nearly all if the order were that of ports.
        assert!(over.iter().flatten().all(|&paths| paths <= 10), "{over:?}");
    }
}
