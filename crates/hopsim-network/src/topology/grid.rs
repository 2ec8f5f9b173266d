//! Routers on a grid, which may be joined in several ways: what meshes, tori and HyperX networks have in common.

use super::NODES_PER_ROUTER;
use crate::error::{ConfigError, within};

/// Most dimensions. In a torus a packet remembers a direction for each in 16 bits; in a HyperX a detour over a link in each, there
/// and on, then has a VC for every link.
pub const MAX_DIMENSIONS: usize = 8;

/// The coordinates of a router, 0 where there is no such dimension.
pub type Coordinates = [u16; MAX_DIMENSIONS];

/// The routers of a grid. The number of a router is its coordinates in mixed radix, dimension 0 (X) fastest.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Routers along each dimension.
    pub sides: Vec<u32>,
    /// How many routers there are.
    pub routers: u32,
    /// Coordinates by router -- constant.
    pub places: Vec<Coordinates>,
}

impl Grid {
    /// The number of routers of a grid, unless a dimension is longer than `longest` or a router has too many nodes.
    pub fn count(sides: &[u32], longest: u32, nodes_per_router: u32) -> Result<u64, ConfigError> {
        if !(1..=MAX_DIMENSIONS).contains(&sides.len()) {
            return Err(ConfigError::new("sides", "that is not a number of dimensions")
                .value(format!("{sides:?}"))
                .valid(format!("1 to {MAX_DIMENSIONS} sides")));
        }
        if let Some(dimension) = sides.iter().position(|side| !(2..=longest).contains(side)) {
            let few = sides[dimension] < 2;
            let reason = if few { "a dimension has at least two routers" } else { "is too large" };
            return Err(ConfigError::new(format!("sides.{dimension}"), reason)
                .value(sides[dimension])
                .valid(format!("2 … {longest}")));
        }
        within(NODES_PER_ROUTER, nodes_per_router, "nodes_per_router")?;
        Ok(sides.iter().fold(1, |product: u64, &side| product.saturating_mul(u64::from(side))))
    }

    /// The grid with these sides, whose product fits.
    pub fn new(sides: &[u32]) -> Self {
        let routers = sides.iter().product();
        let coordinates = |router: u32| {
            let (mut place, mut rest) = ([0; MAX_DIMENSIONS], router);
            for (coordinate, &side) in place.iter_mut().zip(sides) {
                *coordinate = (rest % side) as u16;
                rest /= side;
            }
            place
        };
        Self { sides: sides.to_vec(), routers, places: (0..routers).map(coordinates).collect() }
    }

    /// The coordinate of a router in a dimension.
    #[inline]
    pub fn coordinate(&self, router: u32, dimension: usize) -> u32 {
        u32::from(self.places[router as usize][dimension])
    }

    /// Where a packet in router `at` ends its way along the last dimension in which `to` ≠ `at` is elsewhere.
    pub fn end_of_last_dimension(&self, at: u32, to: u32) -> u32 {
        let differs = |&dimension: &usize| self.coordinate(at, dimension) != self.coordinate(to, dimension);
        let last = (0..self.sides.len()).rfind(differs);
        last.map_or(at, |dimension| self.moved(at, dimension, self.coordinate(to, dimension)))
    }

    /// The router with another coordinate in a dimension, and the same ones in all others.
    pub fn moved(&self, router: u32, dimension: usize, there: u32) -> u32 {
        let stride: u32 = self.sides[..dimension].iter().product();
        router - self.coordinate(router, dimension) * stride + there * stride
    }
}
