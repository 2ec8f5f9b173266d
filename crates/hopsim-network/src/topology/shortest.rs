//! Tables of shortest paths to every destination, the load of equally short ones spread over the links.
//!
//! A place is where a packet may be and what it may still do: a router, or with some routings a router and a phase of
//! the path. The tables say for every place and destination by which port a packet goes on; so its path depends on where it is
//! and where it goes, not on where it comes from.

use super::equal;
use super::narrow::Numbers;
use super::ties::place_of_hash;
use crate::interrupt;

pub use super::maze::{Maze, Step, distances};
pub use super::ties::Ties;

/// No way.
const NOWHERE: u16 = u16::MAX;

/// The shortest paths.
#[derive(Clone, Debug)]
pub struct ShortestPaths {
    /// Port by place · destinations + destination.
    ports: Numbers,
    /// Links of the path by place · destinations + destination.
    hops: Numbers,
    destinations: usize,
    /// Links of the longest path.
    longest: u16,
}

impl ShortestPaths {
    /// Finds a path from every place to every destination: one with fewest links, of those one with least latency.
    pub fn new(maze: &Maze, ties: Ties) -> Self {
        if ties == Ties::Spread {
            let (first, crowd) = Self::find(maze, Ties::First);
            let (spread, less) = Self::find(maze, Ties::Spread);
            return if less < crowd { spread } else { first };
        }
        let tables = equal::tables(maze, ties).map(|(ports, hops)| Self::of_tables(maze, ports, hops));
        tables.unwrap_or_else(|| Self::find(maze, ties).0)
    }

    fn of_tables(maze: &Maze, ports: Numbers, hops: Numbers) -> Self {
        let destinations = maze.ends.len();
        let longest = hops.greatest(0..maze.steps.len() * destinations);
        Self { ports, hops, destinations, longest }
    }

    /// The paths, and how many of those between destinations lead over the most crowded link. To spread them the next link is
    /// the one that begins the least crowded path; destinations are gone through in their order, places from the nearest on,
    /// and a path is as crowded as the sum over its links of the paths that lead over them so far.
    fn find(maze: &Maze, ties: Ties) -> (Self, u64) {
        let destinations = maze.ends.len();
        let mut search = Search::new(maze);
        let entries = maze.steps.len() * destinations;
        let (mut ports, mut hops) = (Numbers::missing(entries), Numbers::missing(entries));
        for destination in 0..destinations {
            interrupt::steps(maze.links as u64);
            search.measure(&maze.ends[destination]);
            search.choose(destination, ties);
            search.spread();
            for &place in &search.order {
                let entry = place as usize * destinations + destination;
                hops.put(entry, search.hops[place as usize]);
                if let Some(step) = search.next[place as usize] {
                    ports.put(entry, step.port);
                }
            }
        }
        (Self::of_tables(maze, ports, hops), search.load.into_iter().max().unwrap_or(0))
    }

    /// The port to go on by from a place, which is not at the destination and from which there is a path.
    #[inline]
    pub fn port(&self, place: u32, destination: u32) -> usize {
        self.ports.at(place as usize * self.destinations + destination as usize).into()
    }

    /// Links of the path, `None` if there is none.
    #[inline]
    pub fn hops(&self, place: u32, destination: u32) -> Option<u16> {
        self.hops.get(place as usize * self.destinations + destination as usize)
    }

    /// Links of the longest path.
    pub fn longest(&self) -> u16 {
        self.longest
    }

    /// Links of the longest path from one of the first so many places.
    pub fn longest_from_first(&self, places: u32) -> u16 {
        self.hops.greatest(0..places as usize * self.destinations)
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

    /// Chooses a step towards a destination for every place.
    fn choose(&mut self, destination: usize, ties: Ties) {
        self.through.fill(0);
        for index in self.maze.ends[destination].len()..self.order.len() {
            let place = self.order[index];
            let several = ties == Ties::Spread && self.shortest(place).nth(1).is_some();
            let mut step = match ties {
                Ties::Spread if several => self.emptiest(place),
                Ties::Spread | Ties::First => self.shortest(place).next(),
                Ties::Hash => {
                    let several = self.shortest(place).count() as u32;
                    self.shortest(place)
                        .nth(place_of_hash(place, destination as u32, several.max(1)) as usize)
                }
            };
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
    use hopsim_random::{Purpose, Stream};
    use std::collections::BTreeMap;

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

    /// Routers joined at random, some of them twice, so many of them destinations.
    fn random(routers: u32, links: u32, destinations: usize) -> Maze {
        let mut stream = Stream::new(1, Purpose::RandomGraph, routers.into());
        let tree: Vec<_> = (1..routers).map(|router| (stream.below(router), router, 1)).collect();
        let more = (0..links).map(|_| (stream.below(routers), stream.below(routers), 1));
        let edges: Vec<_> = tree.into_iter().chain(more).filter(|(a, b, _)| a != b).collect();
        let mut maze = maze(routers as usize, &edges);
        maze.ends.truncate(destinations);
        maze
    }

    fn ring(routers: u32) -> Maze {
        let edges: Vec<_> = (0..routers).map(|router| (router, (router + 1) % routers, 1)).collect();
        maze(routers as usize, &edges)
    }

    /// As in up*/down* routing, where every router counts twice and not every place leads to every destination.
    fn with_phases(mut maze: Maze) -> Maze {
        let routers = maze.steps.len() as u32;
        for (from, steps) in (0..).zip(&mut maze.steps) {
            let up = |step: Step| if step.to < from { step } else { Step { to: step.to + routers, ..step } };
            *steps = steps.iter().copied().map(up).collect();
        }
        let down = |steps: &Vec<Step>| steps.iter().copied().filter(|step| step.to >= routers).collect();
        let second: Vec<_> = maze.steps.iter().map(down).collect();
        maze.steps.extend(second);
        maze.ends.iter_mut().for_each(|ends| ends.push(ends[0] + routers));
        maze
    }

    /// Paths of many kinds: more destinations than are searched for at once, fewer, ports and distances that take words.
    fn mazes() -> Vec<Maze> {
        let star: Vec<_> = (1..300).flat_map(|leaf| [(0, leaf, 1), (leaf, leaf % 299 + 1, 1)]).collect();
        let mut all =
            vec![random(150, 200, 150), random(70, 20, 33), random(9, 30, 9), ring(600), maze(300, &star)];
        all.push(with_phases(random(90, 60, 70)));
        all
    }

    #[test]
    fn all_destinations_at_once_give_the_tables_that_one_after_the_other_gives() {
        for (number, maze) in mazes().iter().enumerate() {
            for ties in [Ties::First, Ties::Hash] {
                let (paths, (slow, _)) = (ShortestPaths::new(maze, ties), ShortestPaths::find(maze, ties));
                assert_eq!((&paths.ports, &paths.hops), (&slow.ports, &slow.hops), "{number}, {ties:?}");
                assert_eq!(paths.longest, slow.longest, "{number}, {ties:?}");
            }
        }
    }

    #[test]
    fn a_hash_of_the_two_routers_says_which_of_the_equally_short_links_is_the_next() {
        let maze = random(150, 200, 150);
        let paths = ShortestPaths::new(&maze, Ties::Hash);
        let mut choices = BTreeMap::new();
        for (from, to) in (0..150).flat_map(|from| (0..150).map(move |to| (from, to))) {
            let Some(left) = paths.hops(from, to).filter(|&left| left > 0) else { continue };
            let nearer =
                maze.steps[from as usize].iter().filter(|step| paths.hops(step.to, to) == Some(left - 1));
            let ports: Vec<u16> = nearer.map(|step| step.port).collect();
            // As documented, in numbers without bounds.
            let mut x = u64::from(from) * 65_536 + u64::from(to);
            x = ((x ^ (x / 65_536)) * 2_246_822_507) % (1 << 32);
            x = ((x ^ (x / 8192)) * 3_266_489_909) % (1 << 32);
            x ^= x / 65_536;
            let chosen = (x % ports.len() as u64) as usize;
            assert_eq!(paths.port(from, to), usize::from(ports[chosen]), "{from} to {to}");
            *choices.entry((ports.len(), chosen)).or_insert(0) += 1;
        }
        let [few, many] = [(2, 0), (2, 1)].map(|choice| choices[&choice]);
        assert!(few > 1000 && many > 1000, "both of two are chosen often: {choices:?}");
    }

    #[test]
    fn small_networks_have_tables_of_bytes() {
        let [bytes, words] = [ring(508), ring(510)].map(|maze| ShortestPaths::new(&maze, Ties::First));
        assert!(matches!(bytes.hops, Numbers::Bytes(_)) && matches!(words.hops, Numbers::Words(_)));
        assert_eq!((bytes.longest(), words.longest(), words.longest_from_first(1)), (254, 255, 255));
        let spread = ShortestPaths::new(&random(40, 60, 40), Ties::Spread);
        assert!(matches!((spread.ports, spread.hops), (Numbers::Bytes(_), Numbers::Bytes(_))));
    }

    #[test]
    fn latencies_that_differ_are_heeded_by_the_hash_too() {
        // From 0 to 3 by 1, by 2, and by 4 which is slow.
        let links = [(0, 1, 2), (0, 2, 2), (0, 4, 9), (1, 3, 2), (2, 3, 2), (4, 3, 2)];
        let paths = ShortestPaths::new(&maze(5, &links), Ties::Hash);
        assert_eq!(paths.port(0, 3) as u32, place_of_hash(0, 3, 2));
        assert_eq!(paths.port(3, 0) as u32, place_of_hash(3, 0, 2));
    }
}
