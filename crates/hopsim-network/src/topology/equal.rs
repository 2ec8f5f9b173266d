//! Tables of shortest paths where all links take equally long, so that the paths with fewest links are the shortest ones.
//!
//! Distances are found for 64 destinations at once. Then the ports of a place follow, for all destinations at once, from its row of
//! distances and those of its neighbours.

use super::maze::Maze;
use super::narrow::{Cell, Numbers};
use super::parallel_search::{Before, ParallelSearch, TOGETHER};
use super::ties::{Ties, place_of_hash};
use crate::interrupt;
use hopsim_memory::filled;

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
    let before = Before::new(maze.steps.iter().map(|steps| steps.iter().map(|step| step.to)));
    let mut search = ParallelSearch::new(places);
    for first in (0..destinations).step_by(TOGETHER) {
        search.begin(&maze.ends[first..destinations.min(first + TOGETHER)]);
        let mut links = 0;
        while search.has_found() {
            if links > D::MOST {
                return None;
            }
            search.settle(|place, mut bits| {
                while bits != 0 {
                    hops[place * destinations + first + bits.trailing_zeros() as usize] = D::of(links);
                    bits &= bits - 1;
                }
            });
            search.spread(&before);
            links += 1;
        }
    }
    Some(hops)
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
