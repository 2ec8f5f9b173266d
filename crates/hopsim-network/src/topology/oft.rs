//! The orthogonal fat tree: see [`Config`].

use super::family::{Family, nodes};
use super::graph::Graph;
use super::plane::{lines, order};
use super::shortest::Ties;
use super::{Interconnect as _, NODES_PER_ROUTER, Parameters};
use crate::error::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Two columns of leaf switches with nodes and one of spines between them, from a projective plane of order q, a power of a prime: with q + 1 nodes
/// per leaf all switches have 2 · (q + 1) ports, and there are about q times
/// as many nodes as in a two-level fat tree of such switches.
///
/// A plane has q² + q + 1 points and as many lines. Leaf i of either column stands for point i, spine j for line j, and a leaf has a link to each spine
/// whose line the point is on. Any two points are on one line: so there is one path, of two links, between two leaves, but for the two of the same
/// point, which have q + 1.
///
/// Numbering: points and lines are vectors, numbered as the routers of `polarfly`. Leaves 0 to q² + q are those of the first column, the next
/// q² + q + 1 those of the second one, and the spines follow. Node n is at leaf ⌊n / `nodes_per_router`⌋. A router's ports are the terminal ones,
/// which spines leave unused, then its links in the order of the routers there.
///
/// Routing is that of `graph`: `minimal`, up to a spine and down again, in one VC; `adaptive`, `ecmp`, `up_down`, `nue`; `valiant` and `ugal` on two such
/// paths, with a VC for each; and the other ones with a VC for every link. At most 20,480 switches: q ≤ 81.
///
/// Source: Kathareios, Minkenberg, Prisacari, Rodriguez and Hoefler, SC 2015, after Valerio, Moser and Melliar-Smith.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OrthogonalFatTreeTopology")]
pub struct Config {
    /// Order of the plane: a power of a prime.
    #[schemars(range(min = *ORDERS.start(), max = *ORDERS.end()))]
    pub q: u32,
    /// Nodes per leaf; default q + 1, 64 at most \[1 … 64\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *NODES_PER_ROUTER.start(), max = *NODES_PER_ROUTER.end()))]
    pub nodes_per_router: Option<u32>,
    /// Which of several equally short paths of minimal routing packets take.
    #[serde(default)]
    pub ties: Ties,
}

/// Orders that the plane may have: of 81 there are 19,929 switches, and of 83, the next power of a prime, more than 20,480.
const ORDERS: RangeInclusive<u32> = 2..=81;

impl Parameters for Config {
    type Built = Graph;

    fn build(&self) -> Result<Graph, ConfigError> {
        let field = order(self.q, ORDERS, |points| points.saturating_mul(3))?;
        let spines = (0..).zip(lines(&field));
        let count = field.q() * field.q() + field.q() + 1;
        let of_spine = |(spine, line): (u32, Vec<u32>)| {
            line.into_iter()
                .flat_map(move |point| [point, count + point].map(|leaf| [leaf, 2 * count + spine]))
        };
        Family {
            name: "oft",
            routers: 3 * count,
            links: spines.flat_map(of_spine).collect(),
            second: None,
            routers_with_nodes: 2 * count,
            nodes_per_router: nodes(self.nodes_per_router, field.q() + 1, "nodes_per_router")?,
            goes_up_and_down: true,
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
            Self { q: 2, nodes_per_router: Some(1), ties: Ties::Spread },
            Self { q: 3, nodes_per_router: Some(2), ties: Ties::First },
        ]
    }
}
