//! Tables of shortest paths where all links take equally long, so that the paths with fewest links are the shortest ones.
//!
//! Distances are found for 64 destinations at once. Then the ports of a place follow, for all destinations at once, from its row of
//! distances and those of its neighbours.

use super::maze::Maze;
use super::narrow::{Cell, Numbers};
use super::parallel_search::{ParallelSearch, Steps, TOGETHER};
use super::ties::{Ties, place_of_hash};
use crate::interrupt;
use hopsim_memory::filled;

/// Steps that are looked at together, so that the rows of a place are gone through less often.
const AT_ONCE: usize = 4;

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
    let steps = Steps::new(maze.steps.iter().map(|steps| steps.iter().map(|step| step.to)));
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
            search.spread(&steps);
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
        let steps: Vec<(P, &[D])> =
            maze.steps[place].iter().map(|step| (P::of(step.port), of(step.to as usize))).collect();
        interrupt::steps((steps.len() * destinations / ENTRIES_PER_STEP) as u64);
        match ties {
            Ties::First | Ties::Spread => {
                steps.iter().rev().for_each(|&(port, there)| take(row, port, here, there));
            }
            Ties::Hash => {
                left.fill(P::of(0));
                let (together, rest) = steps.as_chunks::<AT_ONCE>();
                for steps in together {
                    count(&mut left, here, steps);
                }
                for &step in rest {
                    count(&mut left, here, &[step]);
                }
                for (destination, left) in left.iter_mut().enumerate() {
                    let several = u32::from(left.value().max(1));
                    *left = P::of(place_of_hash(place as u32, destination as u32, several) as u16);
                }
                for steps in together {
                    take_last(row, &mut left, here, steps);
                }
                for &step in rest {
                    take_last(row, &mut left, here, &[step]);
                }
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

/// Counts the steps that lead nearer.
#[inline(never)]
fn count<D: Cell, P: Cell, const STEPS: usize>(counts: &mut [P], here: &[D], steps: &[(P, &[D]); STEPS]) {
    let (counts, steps) = (&mut counts[..here.len()], steps.map(|(_, there)| &there[..here.len()]));
    for (entry, &here) in here.iter().enumerate() {
        for there in &steps {
            counts[entry] = counts[entry].after(there[entry].after(true) == here);
        }
    }
}

/// Puts the port of a step wherever it leads nearer and no such ports are left before it.
#[inline(never)]
fn take_last<D: Cell, P: Cell, const STEPS: usize>(
    row: &mut [P],
    left: &mut [P],
    here: &[D],
    steps: &[(P, &[D]); STEPS],
) {
    let (row, left) = (&mut row[..here.len()], &mut left[..here.len()]);
    let steps = steps.map(|(port, there)| (port, &there[..here.len()]));
    for (entry, &here) in here.iter().enumerate() {
        for (port, there) in &steps {
            let is_nearer = there[entry].after(true) == here;
            row[entry] = if is_nearer & (left[entry] == P::of(0)) { *port } else { row[entry] };
            left[entry] = left[entry].before(is_nearer);
        }
    }
}
