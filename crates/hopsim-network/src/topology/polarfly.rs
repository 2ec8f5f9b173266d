//! The PolarFly: see [`Config`].

use super::family::{Family, nodes};
use super::field::Field;
use super::graph::Graph;
use super::plane::{lines, order};
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
/// Routing is that of `graph`: `minimal`, `adaptive`, `ecmp`, `k_shortest_paths`, `polarized`, `up_down`, `nue`, `valiant`,
/// `ugal` and `par`. At most 20,480 routers: q ≤ 139.
///
/// Source: Lakhotia et al., SC 2022; Erdős and Rényi 1962; Brown 1966.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PolarFlyTopology")]
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
            links: orthogonal(&field),
            second: None,
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
        order(self.q, ORDERS, |points| points)
    }
}

/// The pairs of points that are orthogonal.
fn orthogonal(field: &Field) -> Vec<[u32; 2]> {
    let pairs = |(number, line): (u32, Vec<u32>)| {
        line.into_iter().filter(move |&other| other > number).map(move |other| [number, other])
    };
    (0..).zip(lines(field)).flat_map(pairs).collect()
}
