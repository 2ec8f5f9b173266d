//! Shortest paths in any network, found before the run; of equally short ones as `hopsim explain graph` says of `ties`.

use crate::state::place::Link;
use hopsim_network::topology::Topology;
use hopsim_network::topology::shortest::Ties;
use std::collections::BTreeMap;

/// A place of a packet: its router, and whether it may only go down from there (with up*/down* routing).
pub type Spot = (bool, usize);

/// A link that a packet may take from a place.
#[derive(Clone, Copy)]
pub struct Step {
    pub link: Link,
    pub latency: u32,
    pub to: Spot,
}

/// What there is to find paths in.
pub struct Maze {
    /// The places, and the steps from each in the order of their ports.
    pub steps: BTreeMap<Spot, Vec<Step>>,
    /// Number of routers with nodes, the first ones.
    pub destinations: usize,
    /// Number of routers that forward nothing, the first ones.
    pub adapters: usize,
}

/// The step to take from a place to a destination.
pub struct Tables(BTreeMap<(Spot, usize), Step>);

/// Number of paths between routers with nodes that lead over each link.
type Loads = BTreeMap<Link, u64>;

/// Number of routers with nodes.
pub fn destinations(topology: &Topology) -> usize {
    (topology.nodes() / topology.nodes_per_router()) as usize
}

impl Tables {
    /// The tables of minimal routing in a graph, where a packet may take any link. So many routers, the first ones, forward nothing.
    pub fn of_graph(topology: &Topology, adapters: usize, ties: Ties) -> Self {
        let ports = topology.ports().len();
        let step = |router: usize, port: usize| {
            let (peer, _) = topology.neighbour(router as u32, port)?;
            let latency = topology.latency(router as u32, port, 1);
            Some(Step { link: (router, port), latency, to: (false, peer as usize) })
        };
        let steps = |router| (0..ports).filter_map(|port| step(router, port)).collect();
        let places = (0..topology.routers() as usize).map(|router| ((false, router), steps(router)));
        let steps = places.collect();
        Self::new(&Maze { steps, destinations: destinations(topology), adapters }, ties)
    }

    pub fn new(maze: &Maze, ties: Ties) -> Self {
        let (first, first_loads) = Self::find(maze, Ties::First);
        if ties == Ties::First {
            return first;
        }
        if ties == Ties::Hash {
            return Self::find(maze, Ties::Hash).0;
        }
        let (spread, loads) = Self::find(maze, Ties::Spread);
        let most = |loads: &Loads| loads.values().copied().max().unwrap_or(0);
        if most(&loads) < most(&first_loads) { spread } else { first }
    }

    /// The step from a place towards a router with nodes.
    pub fn step(&self, from: Spot, to: usize) -> Step {
        self.0[&(from, to)]
    }

    /// Whether there is a path from one router to another where packets may take any link.
    pub fn reaches(&self, from: usize, to: usize) -> bool {
        from == to || self.0.contains_key(&((false, from), to))
    }

    /// The steps of the path from a place to a router.
    fn steps(&self, from: Spot, to: usize) -> Vec<Step> {
        let (mut at, mut steps) = (from, Vec::new());
        while at.1 != to {
            let step = self.step(at, to);
            steps.push(step);
            at = step.to;
        }
        steps
    }

    /// The links of the path from a place to a router.
    pub fn path(&self, from: Spot, to: usize) -> Vec<Link> {
        self.steps(from, to).into_iter().map(|step| step.link).collect()
    }

    /// The links of the path from one router to another where packets may take any link.
    pub fn way(&self, from: usize, to: usize) -> Vec<Link> {
        self.path((false, from), to)
    }

    /// The tables of the paths to one destination after the other, and what their links carry in the end.
    fn find(maze: &Maze, ties: Ties) -> (Self, Loads) {
        let (mut tables, mut loads) = (Self(BTreeMap::new()), Loads::new());
        for to in 0..maze.destinations {
            // How many places with a choice have a path that leads through each place.
            let mut through: BTreeMap<Spot, u64> = BTreeMap::new();
            for (place, steps) in maze.shortest_steps(to) {
                let crowd = |step: &Step| match ties {
                    Ties::First | Ties::Hash => 0,
                    Ties::Spread => tables.crowd(*step, to, (&loads, &through)),
                };
                // The first of equal ones.
                let mut chosen = steps.iter().copied().min_by_key(crowd).expect("a step leads nearer");
                if ties == Ties::Hash {
                    chosen = steps[hash(place.1, to) as usize % steps.len()];
                }
                tables.0.insert((place, to), chosen);
                if steps.len() > 1 {
                    for step in tables.steps(place, to) {
                        *through.entry(step.to).or_default() += 1;
                    }
                }
            }
            for from in (0..maze.destinations).filter(|&from| from != to && tables.reaches(from, to)) {
                for link in tables.way(from, to) {
                    *loads.entry(link).or_default() += 1;
                }
            }
        }
        (tables, loads)
    }

    /// How crowded the path to a destination is that begins with a step.
    fn crowd(&self, first: Step, to: usize, (loads, through): (&Loads, &BTreeMap<Spot, u64>)) -> u64 {
        let of = |step: Step| {
            let (carried, leading) = (loads.get(&step.link), through.get(&step.to));
            carried.copied().unwrap_or(0) + leading.copied().unwrap_or(0)
        };
        of(first) + self.steps(first.to, to).into_iter().map(of).sum::<u64>()
    }
}

/// The hash of a router and that of a destination that says which of several links is taken.
fn hash(router: usize, destination: usize) -> u64 {
    let bits = 1 << 32;
    let mut x = (65_536 * router as u64 + destination as u64) % bits;
    for (power, factor) in [(16, 2_246_822_507), (13, 3_266_489_909)] {
        x ^= x / 2_u64.pow(power);
        x = x * factor % bits;
    }
    x ^ (x / 65_536)
}

impl Maze {
    /// Whether a packet to a router may go on from a place, or is there.
    fn goes_on(&self, place: Spot, to: usize) -> bool {
        place.1 == to || place.1 >= self.adapters
    }

    /// The places from which there is a path to a router, from the nearest on, with the first steps of the shortest ones. Equally
    /// near ones are in the order in which a search in breadth finds them, neighbours by number.
    fn shortest_steps(&self, to: usize) -> Vec<(Spot, Vec<Step>)> {
        let ends = [(false, to), (true, to)].into_iter().filter(|end| self.steps.contains_key(end));
        let mut found: Vec<(Spot, Vec<Step>)> = Vec::new();
        // Links and cycles to the end.
        let mut length: BTreeMap<Spot, (u32, u32)> = ends.clone().map(|end| (end, (0, 0))).collect();
        let mut queue: Vec<Spot> = ends.collect();
        let mut next = 0;
        while let Some(&place) = queue.get(next) {
            next += 1;
            if place.1 != to {
                let farther = |step: &Step| {
                    let rest = length.get(&step.to).filter(|_| self.goes_on(step.to, to));
                    rest.map(|&(links, cycles)| (links + 1, cycles + step.latency))
                };
                let least = self.steps[&place].iter().filter_map(farther).min().unwrap_or((0, 0));
                let shortest = self.steps[&place].iter().filter(|step| farther(step) == Some(least));
                found.push((place, shortest.copied().collect()));
                length.insert(place, least);
            }
            if !self.goes_on(place, to) {
                continue;
            }
            for (&before, steps) in &self.steps {
                if steps.iter().any(|step| step.to == place) && !queue.contains(&before) {
                    queue.push(before);
                }
            }
        }
        found
    }
}
