//! The slim fly: see [`Config`].

use super::family::{Family, check_routers, nodes};
use super::field::Field;
use super::graph::Graph;
use super::shortest::Ties;
use super::{Interconnect as _, NODES_PER_ROUTER, Parameters};
use crate::error::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Two sets of q² routers, q a power of a prime, of which every two are at most two links apart (McKay-Miller-Širáň graphs).
///
/// With q = 4w + δ, δ one of −1, 0 and 1, a router has k' = (3q − δ) / 2 links to others: so many routers of so few ports are close to
/// what can be had at this distance at all (Moore's bound).
///
/// Numbering: x, y, m and c are elements of the field of q elements. Router (0, x, y) has number x·q + y, router (1, m, c) number
/// q² + m·q + c. An element's number is its coefficients as digits in base p, where q is a power of the prime p and
/// elements are polynomials modulo the first one of that degree, by number, that is no product; where q is a prime they are the
/// integers modulo q. ξ is the first primitive element. (0, x, y) and (0, x, y') are linked if y − y' is in X,
/// (1, m, c) and (1, m, c') if c − c' is in X', and (0, x, y) and (1, m, c) if y = m·x + c. X is {1, ξ², ξ⁴, …, ξ^(q − 3)} and
/// X' is {ξ, ξ³, …, ξ^(q − 2)} for δ = 1; {1, ξ², …, ξ^(2w − 2), ξ^(2w − 1), ξ^(2w + 1), …, ξ^(4w − 3)} and
/// {ξ, ξ³, …, ξ^(2w − 1), ξ^(2w), ξ^(2w + 2), …, ξ^(4w − 2)} for δ = −1; {1, ξ², …, ξ^(q − 2)} and {ξ, ξ³, …, ξ^(q − 1)} for δ = 0.
/// Node n is at router ⌊n / `nodes_per_router`⌋. A router's ports are the terminal ones, then its links in the order of the routers
/// there. q = 5 is the graph of Hoffman and Singleton.
///
/// Routing is that of `graph`: `minimal`, `adaptive`, `ecmp`, `k_shortest_paths`, `polarized`, `up_down`, `nue`, `valiant`,
/// `ugal` and `par`. At most 20,480 routers: q ≤ 101.
///
/// Source: Besta and Hoefler, SC 2014; McKay, Miller and Širáň, J. Combinatorial Theory B 74 (1998); Hafner, J. Algebra 276 (2004).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SlimFlyTopology")]
pub struct Config {
    /// Elements of the field: a power of a prime.
    #[schemars(range(min = *ORDERS.start(), max = *ORDERS.end()))]
    pub q: u32,
    /// Nodes per router; default ⌈k' / 2⌉ \[1 … 64\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *NODES_PER_ROUTER.start(), max = *NODES_PER_ROUTER.end()))]
    pub nodes_per_router: Option<u32>,
    /// Which of several equally short paths of minimal routing packets take.
    #[serde(default)]
    pub ties: Ties,
}

/// Elements that the field may have: of 101 there are 20,402 routers, and of 103, the next power of a prime, more than 20,480.
const ORDERS: RangeInclusive<u32> = 3..=101;

impl Parameters for Config {
    type Built = Graph;

    fn build(&self) -> Result<Graph, ConfigError> {
        let field = self.field()?;
        let sets = difference_sets(&field);
        let degree = sets[0].len() as u32 + field.q();
        Family {
            name: "slim_fly",
            routers: 2 * field.q() * field.q(),
            links: links(&field, &sets),
            second: None,
            routers_with_nodes: 2 * field.q() * field.q(),
            nodes_per_router: nodes(self.nodes_per_router, degree.div_ceil(2), "nodes_per_router")?,
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
            Self { q: 3, nodes_per_router: Some(1), ties: Ties::Spread },
            Self { q: 4, nodes_per_router: Some(2), ties: Ties::First },
        ]
    }
}

impl Config {
    fn field(&self) -> Result<Field, ConfigError> {
        let q = self.q;
        let nearest = || Field::nearest(q, *ORDERS.end(), |q| ORDERS.contains(&q));
        check_routers(
            u64::from(q).pow(2).saturating_mul(2),
            "q",
            &q,
            format!("powers of primes up to 101, as {}", nearest()),
        )?;
        if q < *ORDERS.start() {
            let reason = "there is no such network of so few routers";
            return Err(ConfigError::new("q", reason)
                .value(q)
                .valid(format!("powers of primes from 3 on, as {}", nearest())));
        }
        Field::new(q).ok_or_else(|| {
            let valid = format!("powers of primes from 3 to 101, as {}", nearest());
            ConfigError::new("q", "there is no field of so many elements").value(q).valid(valid)
        })
    }
}

/// The differences by which routers of the two sets are linked: X and X'.
fn difference_sets(field: &Field) -> [Vec<u32>; 2] {
    let q = field.q() as usize;
    let powers = field.powers(field.primitive());
    let every_other = |first: usize, last: usize| (first..=last).step_by(2);
    // Those of X' are all one more than those of X.
    [0, 1].map(|more| {
        let exponents: Vec<usize> = match q % 4 {
            1 => every_other(more, q - 3 + more).collect(),
            3 => {
                let w = q.div_ceil(4);
                every_other(more, 2 * w - 2 + more)
                    .chain(every_other(2 * w - 1 + more, 4 * w - 3 + more))
                    .collect()
            }
            _ => every_other(more, q - 2 + more).collect(),
        };
        exponents.into_iter().map(|exponent| powers[exponent % (q - 1)]).collect()
    })
}

fn links(field: &Field, sets: &[Vec<u32>; 2]) -> Vec<[u32; 2]> {
    let q = field.q();
    let all = || (0..q).flat_map(|x| (0..q).map(move |y| (x, y)));
    let mut links = Vec::new();
    for ((x, y), (set, differences)) in all().flat_map(|at| (0..).zip(sets).map(move |set| (at, set))) {
        let number = |y: u32| set * q * q + x * q + y;
        let peers = differences.iter().map(|&difference| field.sum(y, difference)).filter(|&peer| y < peer);
        links.extend(peers.map(|peer| [number(y), number(peer)]));
    }
    for (x, y) in all() {
        let c = |m: u32| field.difference(y, field.product(m, x));
        links.extend((0..q).map(|m| [x * q + y, q * q + m * q + c(m)]));
    }
    links
}
