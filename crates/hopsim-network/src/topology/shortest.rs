//! Tables of shortest paths to every destination, the load of equally short ones spread over the links.
//!
//! A place is where a packet may be and what it may still do: a router, or with some routings a router and a phase of
//! the path. The tables say for every place and destination by which port a packet goes on; so its path depends on where it is
//! and where it goes, not on where it comes from.

use crate::interrupt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// No way.
const NOWHERE: u16 = u16::MAX;

/// A link that a packet may take from a place.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Port by which the link leaves the router.
    pub port: u16,
    /// Number of the link in this direction, of those whose load is balanced.
    pub link: u32,
    /// Latency \[cycles\].
    pub latency: u32,
    /// Place at the other end.
    pub to: u32,
}

/// What there is to find paths in.
#[derive(Clone, Debug, Default)]
pub struct Maze {
    /// The steps from every place, ports ascending.
    pub steps: Vec<Vec<Step>>,
    /// The places that are at each destination. The first of them is where packets from there begin.
    pub ends: Vec<Vec<u32>>,
    /// Links in both directions.
    pub links: usize,
}

/// The shortest paths.
#[derive(Clone, Debug)]
pub struct ShortestPaths {
    /// Port by place · destinations + destination.
    ports: Vec<u16>,
    /// Links of the path by place · destinations + destination.
    hops: Vec<u16>,
    destinations: usize,
}

/// Which of several equally short paths is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// One over links that few paths lead over, or the first one where that spreads them better still: if the most crowded
    /// link carries no more of them.
    #[default]
    Spread,
    /// The one that goes on by the lowest port, in every router. In a mesh whose links are listed dimension by dimension
    /// that is dimension-order routing; where paths follow such an order few VCs keep them free of deadlock.
    First,
}

/// Links from a router to each of `routers`, `u32::MAX` to those that it cannot reach.
pub fn distances<N: Iterator<Item = u32>>(
    routers: usize,
    from: u32,
    neighbours: impl Fn(u32) -> N,
) -> Vec<u32> {
    let mut distances = vec![u32::MAX; routers];
    distances[from as usize] = 0;
    let mut reached = vec![from];
    let mut next = 0;
    while let Some(&router) = reached.get(next) {
        for peer in neighbours(router) {
            if distances[peer as usize] == u32::MAX {
                distances[peer as usize] = distances[router as usize] + 1;
                reached.push(peer);
            }
        }
        next += 1;
    }
    distances
}

impl ShortestPaths {
    /// Finds a path from every place to every destination: one with fewest links, of those one with least latency.
    pub fn new(maze: &Maze, ties: Ties) -> Self {
        let (first, crowd) = Self::find(maze, Ties::First);
        if ties == Ties::First {
            return first;
        }
        let (spread, less) = Self::find(maze, Ties::Spread);
        if less < crowd { spread } else { first }
    }

    /// The paths, and how many of those between destinations lead over the most crowded link. To spread them the next link is
    /// the one that begins the least crowded path; destinations are gone through in their order, places from the nearest on,
    /// and a path is as crowded as the sum over its links of the paths that lead over them so far.
    fn find(maze: &Maze, ties: Ties) -> (Self, u64) {
        let destinations = maze.ends.len();
        let mut search = Search::new(maze);
        let mut paths = Self {
            ports: vec![NOWHERE; maze.steps.len() * destinations],
            hops: vec![NOWHERE; maze.steps.len() * destinations],
            destinations,
        };
        for destination in 0..destinations {
            interrupt::steps(maze.links as u64);
            search.measure(&maze.ends[destination]);
            search.choose(&maze.ends[destination], ties);
            search.spread();
            for &place in &search.order {
                let entry = place as usize * destinations + destination;
                paths.hops[entry] = search.hops[place as usize];
                paths.ports[entry] = search.next[place as usize].map_or(NOWHERE, |step| step.port);
            }
        }
        (paths, search.load.into_iter().max().unwrap_or(0))
    }

    /// The port to go on by from a place, which is not at the destination and from which there is a path.
    #[inline]
    pub fn port(&self, place: u32, destination: u32) -> usize {
        self.ports[place as usize * self.destinations + destination as usize] as usize
    }

    /// Links of the path, `None` if there is none.
    pub fn hops(&self, place: u32, destination: u32) -> Option<u16> {
        let hops = self.hops[place as usize * self.destinations + destination as usize];
        (hops != NOWHERE).then_some(hops)
    }

    /// Links of the longest path.
    pub fn longest(&self) -> u16 {
        self.hops.iter().copied().filter(|&hops| hops != NOWHERE).max().unwrap_or(0)
    }
}

/// The search for the paths to one destination after the other.
struct Search<'m> {
    maze: &'m Maze,
    /// Places from which a step leads to a place.
    before: Vec<Vec<u32>>,
    /// Links to the destination.
    hops: Vec<u16>,
    /// Cycles to the destination.
    latency: Vec<u32>,
    /// The places from which there is a path, nearest first.
    order: Vec<u32>,
    /// The step to take from a place, `None` at the destination.
    next: Vec<Option<&'m Step>>,
    /// Places whose chosen path leads through a place.
    through: Vec<u32>,
    /// Paths that lead over a link, to all destinations so far.
    load: Vec<u64>,
}

impl<'m> Search<'m> {
    fn new(maze: &'m Maze) -> Self {
        let places = maze.steps.len();
        let mut before = vec![Vec::new(); places];
        for (place, steps) in maze.steps.iter().enumerate() {
            for step in steps {
                before[step.to as usize].push(place as u32);
            }
        }
        Self {
            maze,
            before,
            hops: vec![NOWHERE; places],
            latency: vec![0; places],
            order: Vec::new(),
            next: vec![None; places],
            through: vec![0; places],
            load: vec![0; maze.links],
        }
    }

    /// Measures how far all places are from the destination.
    fn measure(&mut self, ends: &[u32]) {
        self.hops.fill(NOWHERE);
        self.order.clear();
        self.order.extend(ends);
        for &end in ends {
            (self.hops[end as usize], self.latency[end as usize], self.next[end as usize]) = (0, 0, None);
        }
        let mut next = 0;
        while let Some(&place) = self.order.get(next) {
            for &farther in &self.before[place as usize] {
                if self.hops[farther as usize] == NOWHERE {
                    self.hops[farther as usize] = self.hops[place as usize] + 1;
                    self.order.push(farther);
                }
            }
            next += 1;
        }
        for &place in &self.order[ends.len()..] {
            let latency = self.nearer(place).map(|step| step.latency + self.latency[step.to as usize]).min();
            self.latency[place as usize] = latency.unwrap_or(0);
        }
    }

    /// The first steps of the paths with fewest links.
    fn nearer(&self, place: u32) -> impl Iterator<Item = &'m Step> {
        let (here, hops) = (self.hops[place as usize], &self.hops);
        self.maze.steps[place as usize].iter().filter(move |step| {
            let there = hops[step.to as usize];
            there != NOWHERE && there + 1 == here
        })
    }

    /// The first steps of the shortest paths: of those with fewest links the ones with least latency.
    fn shortest(&self, place: u32) -> impl Iterator<Item = &'m Step> {
        let (here, latency) = (self.latency[place as usize], &self.latency);
        self.nearer(place).filter(move |step| step.latency + latency[step.to as usize] == here)
    }

    /// Chooses a step for every place.
    fn choose(&mut self, ends: &[u32], ties: Ties) {
        self.through.fill(0);
        for index in ends.len()..self.order.len() {
            let place = self.order[index];
            let several = ties == Ties::Spread && self.shortest(place).nth(1).is_some();
            let mut step = if several { self.emptiest(place) } else { self.shortest(place).next() };
            self.next[place as usize] = step;
            // Paths without a choice are counted in the end: in long rings and chains they are most of the work.
            while let Some(passed) = step.filter(|_| several) {
                self.through[passed.to as usize] += 1;
                step = self.next[passed.to as usize];
            }
        }
    }

    /// The step that begins the least crowded of the shortest paths.
    fn emptiest(&self, place: u32) -> Option<&'m Step> {
        self.shortest(place).min_by_key(|step| self.crowd(step))
    }

    /// How crowded the path is that begins with a step.
    fn crowd(&self, step: &'m Step) -> u64 {
        let load = |step: &Step| self.load[step.link as usize] + u64::from(self.through[step.to as usize]);
        std::iter::successors(Some(step), |step| self.next[step.to as usize]).map(load).sum()
    }

    /// Adds the chosen paths between destinations to the loads of their links, the farthest places first: so it is known how
    /// many lead through each.
    fn spread(&mut self) {
        self.through.fill(0);
        self.maze.ends.iter().for_each(|ends| self.through[ends[0] as usize] = 1);
        for &place in self.order.iter().rev() {
            if let Some(step) = self.next[place as usize] {
                self.load[step.link as usize] += u64::from(self.through[place as usize]);
                self.through[step.to as usize] += self.through[place as usize];
            }
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    /// A maze of routers, all of them destinations, joined by links of these latencies.
    fn maze(routers: usize, edges: &[(u32, u32, u32)]) -> Maze {
        let mut maze = Maze { steps: vec![Vec::new(); routers], ..Maze::default() };
        for &(a, b, latency) in edges {
            for (from, to) in [(a, b), (b, a)] {
                let steps = &mut maze.steps[from as usize];
                steps.push(Step { port: steps.len() as u16, link: maze.links as u32, latency, to });
                maze.links += 1;
            }
        }
        maze.ends = (0..routers as u32).map(|router| vec![router]).collect();
        maze
    }

    #[test]
    fn fewest_links_come_before_least_latency() {
        // 0 - 1 directly is slow, by 2 it would be fast; from 3 to 1 there are two links either way.
        let paths = ShortestPaths::new(
            &maze(4, &[(0, 1, 50), (0, 2, 1), (2, 1, 1), (3, 0, 1), (3, 2, 9)]),
            Ties::First,
        );
        assert_eq!((paths.port(0, 1), paths.hops(0, 1)), (0, Some(1)));
        assert_eq!((paths.port(3, 1), paths.hops(3, 1)), (1, Some(2)), "9 + 1 cycles, not 1 + 50");
    }

    #[test]
    fn equally_short_paths_are_spread_over_the_links() {
        // Ten routers, each joined to two in the middle.
        let edges: Vec<_> = (0..10).flat_map(|end| [(end, 10, 1), (end, 11, 1)]).collect();
        let mut maze = maze(12, &edges);
        maze.ends.truncate(10);
        let paths = ShortestPaths::new(&maze, Ties::Spread);
        let mut loads = [[0; 2]; 20];
        for (from, to) in (0..10).flat_map(|from| (0..10).map(move |to| (from, to))) {
            if from != to {
                let middle = paths.port(from, to);
                loads[from as usize][middle] += 1;
                loads[10 + to as usize][middle] += 1;
            }
        }
        let ideal = [4, 5];
        let even = loads.iter().filter(|load| load.iter().all(|paths| ideal.contains(paths))).count();
        assert_eq!(even, 20, "9 paths from and to each router, over two links: {loads:?}");
    }
}
