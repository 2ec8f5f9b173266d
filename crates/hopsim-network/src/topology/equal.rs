//! Tables of shortest paths where all links take equally long, so that the paths with fewest links are the shortest ones.
//!
//! Distances are found for 64 destinations at once, a bit for each (searches in breadth that share their work). Then the ports of a place
//! follow, for all destinations at once, from its row of distances and those of its neighbours.

use super::maze::Maze;
use super::narrow::{Cell, Numbers};
use super::ties::{Ties, place_of_hash};
use crate::interrupt;
use hopsim_memory::filled;

/// Destinations that are searched for at once.
const TOGETHER: usize = u64::BITS as usize;

/// Entries of a row that take about as long as a step of [`interrupt`].
const ENTRIES_PER_STEP: usize = 16;

/// Ports and links of the paths, by place · destinations + destination; `None` if links differ in latency, or the
/// choice depends on where other paths lead.
pub fn tables(maze: &Maze, ties: Ties) -> Option<(Numbers, Numbers)> {
    let mut steps = maze.steps.iter().flatten();
    let first = steps.next().map_or(0, |step| step.latency);
    if ties == Ties::Spread || steps.any(|step| step.latency != first) {
        return None;
    }
    Some(match distances::<u8>(maze) {
        Some(hops) => with_ports(maze, ties, hops),
        None => with_ports(maze, ties, distances::<u16>(maze)?),
    })
}

fn with_ports<D: Cell>(maze: &Maze, ties: Ties, hops: Vec<D>) -> (Numbers, Numbers) {
    let highest = maze.steps.iter().flatten().map(|step| step.port).max().unwrap_or(0);
    let ports = if highest <= u8::MOST {
        u8::table(ports::<D, u8>(maze, ties, &hops))
    } else {
        u16::table(ports::<D, u16>(maze, ties, &hops))
    };
    (ports, D::table(hops))
}

/// Links from every place to every destination, `None` if some are too many for a cell.
fn distances<D: Cell>(maze: &Maze) -> Option<Vec<D>> {
    let (places, destinations) = (maze.steps.len(), maze.ends.len());
    let mut hops = filled(D::NONE, places * destinations);
    let before = Before::new(maze);
    let mut search =
        ParallelSearch { seen: vec![0; places], found: vec![0; places], waves: Default::default() };
    for first in (0..destinations).step_by(TOGETHER) {
        search.begin(&maze.ends[first..destinations.min(first + TOGETHER)]);
        let mut links = 0;
        while search.has_found() {
            if links > D::MOST {
                return None;
            }
            search.settle(|place, bit| hops[place * destinations + first + bit] = D::of(links));
            search.spread(&before);
            links += 1;
        }
    }
    Some(hops)
}

/// The places from which a step leads to a place.
struct Before {
    /// Where those of each place begin, and where those of the last one end.
    first: Vec<u32>,
    places: Vec<u32>,
}

impl Before {
    fn new(maze: &Maze) -> Self {
        let mut first = vec![0; maze.steps.len() + 1];
        for step in maze.steps.iter().flatten() {
            first[step.to as usize + 1] += 1;
        }
        for place in 1..first.len() {
            first[place] += first[place - 1];
        }
        let mut free = first.clone();
        let mut places = vec![0; first[maze.steps.len()] as usize];
        for (place, steps) in (0..).zip(&maze.steps) {
            for step in steps {
                let next = &mut free[step.to as usize];
                places[*next as usize] = place;
                *next += 1;
            }
        }
        Self { first, places }
    }

    fn of(&self, place: u32) -> &[u32] {
        &self.places[self.first[place as usize] as usize..self.first[place as usize + 1] as usize]
    }
}

/// Searches in breadth for some destinations at once, each of which has a bit.
struct ParallelSearch {
    /// Destinations from which a place has been reached.
    seen: Vec<u64>,
    /// Destinations from which a place is reached now; zero in between.
    found: Vec<u64>,
    /// Places reached now, and those reached just before with their destinations.
    waves: (Vec<u32>, Vec<(u32, u64)>),
}

impl ParallelSearch {
    fn begin(&mut self, ends: &[Vec<u32>]) {
        self.seen.fill(0);
        for (bit, ends) in ends.iter().enumerate() {
            for &end in ends {
                self.find(end, 1 << bit);
            }
        }
    }

    #[inline]
    fn find(&mut self, place: u32, bits: u64) {
        let new = bits & !self.seen[place as usize];
        if new != 0 {
            if self.found[place as usize] == 0 {
                self.waves.0.push(place);
            }
            self.found[place as usize] |= new;
        }
    }

    /// Whether places are reached now.
    fn has_found(&self) -> bool {
        !self.waves.0.is_empty()
    }

    /// Visits the places reached now, each with the bits of its destinations.
    fn settle(&mut self, mut visit: impl FnMut(usize, usize)) {
        self.waves.1.clear();
        for place in self.waves.0.drain(..) {
            let bits = std::mem::take(&mut self.found[place as usize]);
            self.seen[place as usize] |= bits;
            self.waves.1.push((place, bits));
            let mut left = bits;
            while left != 0 {
                visit(place as usize, left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }

    /// Goes one link farther from the places that have been settled.
    fn spread(&mut self, before: &Before) {
        let wave = std::mem::take(&mut self.waves.1);
        for &(place, bits) in &wave {
            interrupt::steps(before.of(place).len() as u64);
            for &farther in before.of(place) {
                self.find(farther, bits);
            }
        }
        self.waves.1 = wave;
    }
}

/// The ports of the paths, where distances are known.
fn ports<D: Cell, P: Cell>(maze: &Maze, ties: Ties, hops: &[D]) -> Vec<P> {
    let destinations = maze.ends.len();
    let mut ports = filled(P::NONE, hops.len());
    if destinations == 0 {
        return ports;
    }
    let mut left = vec![P::of(0); destinations];
    for (place, row) in ports.chunks_exact_mut(destinations).enumerate() {
        let of = |place: usize| &hops[place * destinations..(place + 1) * destinations];
        let here = of(place);
        let steps = maze.steps[place].iter().map(|step| (P::of(step.port), of(step.to as usize)));
        interrupt::steps((steps.len() * destinations / ENTRIES_PER_STEP) as u64);
        match ties {
            Ties::First | Ties::Spread => steps.rev().for_each(|(port, there)| take(row, port, here, there)),
            Ties::Hash => {
                left.fill(P::of(0));
                steps.clone().for_each(|(_, there)| count(&mut left, here, there));
                for (destination, left) in left.iter_mut().enumerate() {
                    let several = u32::from(left.value().max(1));
                    *left = P::of(place_of_hash(place as u32, destination as u32, several) as u16);
                }
                steps.for_each(|(port, there)| take_last(row, &mut left, port, (here, there)));
            }
        }
    }
    // At a destination a neighbour from which there is no path looks as if it were nearer.
    for (destination, ends) in maze.ends.iter().enumerate() {
        for &end in ends {
            ports[end as usize * destinations + destination] = P::NONE;
        }
    }
    ports
}

/// Puts a port wherever it leads nearer.
// Loops without branches, which take many entries at once.
#[inline(never)]
fn take<D: Cell, P: Cell>(row: &mut [P], port: P, here: &[D], there: &[D]) {
    for ((entry, &here), &there) in row.iter_mut().zip(here).zip(there) {
        *entry = if there.after(true) == here { port } else { *entry };
    }
}

/// Counts wherever a step leads nearer.
#[inline(never)]
fn count<D: Cell, P: Cell>(counts: &mut [P], here: &[D], there: &[D]) {
    for ((count, &here), &there) in counts.iter_mut().zip(here).zip(there) {
        *count = count.after(there.after(true) == here);
    }
}

/// Puts a port wherever it leads nearer and no such ports are left before it.
#[inline(never)]
fn take_last<D: Cell, P: Cell>(row: &mut [P], left: &mut [P], port: P, (here, there): (&[D], &[D])) {
    for (((entry, left), &here), &there) in row.iter_mut().zip(left.iter_mut()).zip(here).zip(there) {
        let is_nearer = there.after(true) == here;
        *entry = if is_nearer & (*left == P::of(0)) { port } else { *entry };
        *left = left.before(is_nearer);
    }
}
