//! The PolarFly: see [`Config`].

use super::family::{Family, check_routers, nodes};
use super::field::Field;
use super::graph::Graph;
use super::shortest::Ties;
use super::{Interconnect as _, NODES_PER_ROUTER, Parameters};
use crate::error::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The q² + q + 1 points of a projective plane, q a power of a prime: two are linked if they are orthogonal (Erdős-Rényi graph).
///
/// Every two routers are at most two links apart. They have q + 1 links to others, but for the q + 1 that are orthogonal to
/// themselves, which have q.
///
/// Numbering: a point is a vector of three elements of the field of q elements whose first one that is not 0 is 1. (1, y, z) has number
/// y·q + z, (0, 1, z) q² + z, and (0, 0, 1) q² + q. Elements are numbered as in `slim_fly`. Node n is at router
/// ⌊n / `nodes_per_router`⌋. A router's ports are the terminal ones, then its links in the order of the routers there.
///
/// Routing is that of `graph`: `minimal`, `up_down`, `valiant` and `ugal`. At most 2,048 routers: q ≤ 43.
///
/// Source: Lakhotia et al., SC 2022; Erdős and Rényi 1962; Brown 1966.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Elements of the field: a power of a prime.
    #[schemars(range(min = *ORDERS.start(), max = *ORDERS.end()))]
    pub q: u32,
    /// Nodes per router; default ⌈(q + 1) / 2⌉ \[1 … 64\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *NODES_PER_ROUTER.start(), max = *NODES_PER_ROUTER.end()))]
    pub nodes_per_router: Option<u32>,
    /// Which of several equally short paths of minimal routing packets take.
    #[serde(default)]
    pub ties: Ties,
}

/// Elements that the field may have: of 43 there are 1,893 routers, and of 47, the next power of a prime, more than 2,048.
const ORDERS: RangeInclusive<u32> = 2..=43;

impl Parameters for Config {
    type Built = Graph;

    fn build(&self) -> Result<Graph, ConfigError> {
        let field = self.field()?;
        let q = field.q();
        Family {
            name: "polarfly",
            routers: q * q + q + 1,
            links: links(&field),
            global: None,
            routers_with_nodes: q * q + q + 1,
            nodes_per_router: nodes(self.nodes_per_router, (q + 1).div_ceil(2), "nodes_per_router")?,
            goes_up_and_down: false,
            ties: self.ties,
        }
        .build()
    }

    fn resolve(&mut self, built: &Graph) {
        self.nodes_per_router = Some(built.nodes_per_router());
    }
}

impl Config {
    fn field(&self) -> Result<Field, ConfigError> {
        let q = self.q;
        let valid =
            || format!("powers of primes up to 43, as {}", Field::nearest(q, *ORDERS.end(), |_| true));
        check_routers(u64::from(q).pow(2).saturating_add(u64::from(q) + 1), "q", &q, valid())?;
        Field::new(q).ok_or_else(|| {
            ConfigError::new("q", "there is no field of so many elements").value(q).valid(valid())
        })
    }
}

/// The vectors of all points, by number.
fn points(q: u32) -> Vec<[u32; 3]> {
    let affine = (0..q).flat_map(|y| (0..q).map(move |z| [1, y, z]));
    affine.chain((0..q).map(|z| [0, 1, z])).chain([[0, 0, 1]]).collect()
}

fn links(field: &Field) -> Vec<[u32; 2]> {
    let points = points(field.q());
    let are_orthogonal = |one: [u32; 3], other: [u32; 3]| {
        let product = one.into_iter().zip(other).map(|(a, b)| field.product(a, b));
        product.reduce(|sum, term| field.sum(sum, term)) == Some(0)
    };
    let mut links = Vec::new();
    for (number, &one) in points.iter().enumerate() {
        let later = points.iter().enumerate().skip(number + 1);
        links.extend(
            later
                .filter(|&(_, &other)| are_orthogonal(one, other))
                .map(|(other, _)| [number as u32, other as u32]),
        );
    }
    links
}
