//! Ranks on a grid that exchange the faces of their parts with their neighbours, as solvers of differential equations do.
//!
//! An iteration: posts the receives from all neighbours, starts the sends to all of them, computes, and waits for all; without
//! overlap it waits before it computes.

use super::{MAX_RANKS, check_repeats, members, product};
use crate::error::Refusal;
use crate::record::{Message, Rank, Record, Records, Script};
use std::sync::Arc;

/// Who exchanges with whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Neighbours {
    /// Ranks at a distance of 1 in one dimension: 2 · d in d dimensions. They come dimension by dimension, minus before plus.
    #[default]
    Faces,
    /// Ranks at a distance of up to 1 in every dimension: 3^d − 1. They come in ascending order of their distance, read as a
    /// number whose first dimension is its last digit: in two dimensions (−1, −1), (0, −1), (1, −1), (−1, 0), …
    All,
}

/// A grid of ranks. Rank numbers go along the first dimension first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StencilParameters {
    /// Ranks along every dimension, `[2 or more; 1 … 6 dimensions; product up to 2²⁴]`. Their product is the number of ranks.
    pub sides: Vec<u32>,
    /// Whether the first and the last rank along a dimension are neighbours. If there are two, they exchange in both directions.
    pub periodic: bool,
    /// The length of every message, whichever neighbour it is for `[bytes]`.
    pub bytes: u64,
    /// Computation of every rank in every iteration `[ns]`.
    pub compute: u64,
    /// The number of iterations, `[1 or more; up to 2³¹ records]`.
    pub iterations: u32,
    /// Who exchanges with whom.
    pub neighbours: Neighbours,
    /// Whether ranks compute while messages are under way.
    pub overlap: bool,
}

/// Most dimensions of a grid.
const MAX_DIMENSIONS: u64 = 6;

/// The program of ranks on a grid.
#[derive(Clone, Debug)]
pub struct StencilProgram {
    parameters: StencilParameters,
    communicators: [Arc<[Rank]>; 1],
}

impl StencilProgram {
    /// Refuses parameters out of their ranges.
    pub fn new(parameters: StencilParameters) -> Result<Self, Refusal> {
        let StencilParameters { sides, iterations, .. } = &parameters;
        if !(1..=MAX_DIMENSIONS).contains(&(sides.len() as u64)) {
            let reason = format!("a grid cannot have {} dimensions", sides.len());
            return Err(Refusal::new("sides", format!("{sides:?}"), reason, "1 to 6 sides"));
        }
        if sides.iter().any(|&side| side < 2) {
            let reason = "along a side of less than 2 there are no neighbours";
            return Err(Refusal::new("sides", format!("{sides:?}"), reason, "sides of 2 or more"));
        }
        let ranks = product(sides).ok_or_else(|| {
            let valid = format!("a product of up to {MAX_RANKS}");
            Refusal::new("sides", format!("{sides:?}"), "there are too many ranks", valid)
        })?;
        let most = directions(sides.len(), parameters.neighbours).len() as u64;
        check_repeats("iterations", *iterations, 2 * most + 2)?;
        Ok(Self { communicators: [members(0, 1, ranks)], parameters })
    }

    /// The neighbours of a rank in order.
    fn neighbours(&self, rank: Rank) -> Vec<Neighbour> {
        let dimensions = self.parameters.sides.len();
        let opposite = 3u32.pow(dimensions as u32) - 1;
        let directions = directions(dimensions, self.parameters.neighbours).into_iter();
        let neighbour = |direction| {
            let rank = self.neighbour(rank, direction)?;
            Some(Neighbour { rank, to: direction, from: opposite - direction })
        };
        directions.filter_map(neighbour).collect()
    }

    /// The neighbour in a direction, if there is one.
    fn neighbour(&self, rank: Rank, direction: u32) -> Option<Rank> {
        let periodic = self.parameters.periodic;
        let (mut rest, mut step, mut direction, mut neighbour) = (rank, 1, direction, 0);
        for &side in &self.parameters.sides {
            // One more than the place of the neighbour, so that it is never negative.
            let place = match rest % side + direction % 3 {
                0 if periodic => side - 1,
                above if above > side && periodic => 0,
                above if (1..=side).contains(&above) => above - 1,
                _ => return None,
            };
            neighbour += place * step;
            (rest, step, direction) = (rest / side, step * side, direction / 3);
        }
        Some(neighbour)
    }
}

/// Directions in order. In base 3, the first dimension as the last digit, the digits of a direction say: 0 minus, 1 stay, 2 plus.
fn directions(dimensions: usize, neighbours: Neighbours) -> Vec<u32> {
    let powers = (0..dimensions as u32).map(|dimension| 3u32.pow(dimension));
    let here: u32 = powers.clone().sum();
    match neighbours {
        Neighbours::Faces => powers.flat_map(|power| [here - power, here + power]).collect(),
        Neighbours::All => (0..=2 * here).filter(|&direction| direction != here).collect(),
    }
}

impl Script for StencilProgram {
    fn communicators(&self) -> &[Arc<[Rank]>] {
        &self.communicators
    }

    fn records(self: Arc<Self>, rank: Rank) -> Box<dyn Records> {
        let neighbours = self.neighbours(rank);
        Box::new(StencilCalls { program: self, neighbours, iteration: 0, made: 0 })
    }
}

/// A rank to exchange with. Messages are told apart by the direction in which they go, since two ranks may be neighbours twice.
#[derive(Clone, Copy)]
struct Neighbour {
    rank: Rank,
    /// Direction of messages to the neighbour.
    to: u32,
    /// Direction of messages from the neighbour.
    from: u32,
}

/// The calls of a rank.
struct StencilCalls {
    program: Arc<StencilProgram>,
    neighbours: Vec<Neighbour>,
    iteration: u32,
    /// Records of the present iteration so far.
    made: usize,
}

impl StencilCalls {
    fn per_iteration(&self) -> usize {
        2 * self.neighbours.len() + 2
    }

    fn record(&self, number: usize) -> Record {
        let StencilParameters { bytes, compute, overlap, .. } = self.program.parameters;
        let count = self.neighbours.len();
        let request = Some(number as u32);
        let message = |peer, tag| Message { peer, tag, bytes, communicator: 0 };
        if number < count {
            let Neighbour { rank, from, .. } = self.neighbours[number];
            Record::Receive { message: message(rank, from), any_source: false, request }
        } else if number < 2 * count {
            let Neighbour { rank, to, .. } = self.neighbours[number - count];
            Record::Send { message: message(rank, to), request }
        } else if (number == 2 * count) == overlap {
            Record::Compute { nanoseconds: compute }
        } else {
            Record::Wait { requests: (0..2 * count as u32).collect() }
        }
    }
}

impl Records for StencilCalls {
    fn next(&mut self) -> Option<Record> {
        if self.iteration == self.program.parameters.iterations {
            return None;
        }
        let record = self.record(self.made);
        self.made += 1;
        if self.made == self.per_iteration() {
            (self.iteration, self.made) = (self.iteration + 1, 0);
        }
        Some(record)
    }

    fn left(&self) -> u64 {
        let iterations = u64::from(self.program.parameters.iterations - self.iteration);
        iterations * self.per_iteration() as u64 - self.made as u64
    }
}
