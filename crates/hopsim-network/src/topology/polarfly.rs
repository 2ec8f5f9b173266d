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
/// Routing is that of `graph`: `minimal`, `adaptive`, `ecmp`, `k_shortest_paths`, `polarized`, `up_down`, `valiant`,
/// `ugal` and `par`. At most 20,480 routers: q ≤ 139.
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

/// Elements that the field may have: of 139 there are 19,461 routers, and of 149, the next power of a prime, more than 20,480.
const ORDERS: RangeInclusive<u32> = 2..=139;

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

    fn ties(&self) -> Option<Ties> {
        Some(self.ties)
    }

    fn examples() -> Vec<Self> {
        vec![
            Self { q: 2, nodes_per_router: Some(2), ties: Ties::Spread },
            Self { q: 3, nodes_per_router: Some(1), ties: Ties::First },
        ]
    }
}

impl Config {
    fn field(&self) -> Result<Field, ConfigError> {
        let q = self.q;
        let valid =
            || format!("powers of primes up to 139, as {}", Field::nearest(q, *ORDERS.end(), |_| true));
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
    let inverse = |of: u32| (1..field.q()).find(|&other| field.product(of, other) == 1).unwrap_or(0);
    let inverses: Vec<u32> = (0..field.q()).map(inverse).collect();
    let mut links = Vec::new();
    for (number, point) in (0..).zip(points(field.q())) {
        let later = line(field, &inverses, point).into_iter().filter(|&other| other > number);
        links.extend(later.map(|other| [number, other]));
    }
    links
}

/// The numbers of the points that are orthogonal to one.
fn line(field: &Field, inverses: &[u32], [a, b, c]: [u32; 3]) -> Vec<u32> {
    let q = field.q();
    // The only x with constant + factor · x = 0.
    let root =
        |constant: u32, factor: u32| field.product(field.negative(constant), inverses[factor as usize]);
    if c != 0 {
        let affine = (0..q).map(|y| y * q + root(field.sum(a, field.product(b, y)), c));
        return affine.chain([q * q + root(b, c)]).collect();
    }
    let points = if b == 0 { q * q..q * q + q } else { root(a, b) * q..(root(a, b) + 1) * q };
    points.chain([q * q + q]).collect()
}
