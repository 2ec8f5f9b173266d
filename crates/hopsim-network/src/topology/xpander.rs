//! The Xpander: see [`Config`].

use super::family::{Family, check_degree, check_ports, check_routers, is_connected, nodes};
use super::graph::Graph;
use super::shortest::Ties;
use super::wiring::MAX_ROUTERS;
use super::{Interconnect as _, NODES_PER_ROUTER, Parameters};
use crate::error::ConfigError;
use hopsim_random::{Purpose, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// d + 1 sets of l routers, d being the `degree`: every two sets are joined by links that pair their routers at random (a random lift of
/// the complete graph).
///
/// Algorithm: for every two sets, (0, 1), (0, 2), …, (0, d), (1, 2), …, the numbers 0 … l − 1 are shuffled; router j of the first one is joined
/// to the router of the second one whose number stands at place j. If the network falls apart, all begins anew, from the next
/// numbers, 1,000 times at most. The same seed gives the same network, whatever the seed of a run.
///
/// Numbering: router j of set i has number i · l + j. Node n is at router ⌊n / `nodes_per_router`⌋. A router's ports are the terminal
/// ones, then its links in the order of the routers there, one to each of the other sets.
///
/// Routing is that of `graph`: `minimal`, `adaptive`, `ecmp`, `k_shortest_paths`, `polarized`, `up_down`, `nue`, `valiant`,
/// `ugal` and `par`. At most 20,480 routers.
///
/// Source: Valadarsky et al., CoNEXT 2016.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "XpanderTopology")]
pub struct Config {
    /// Number of routers: a multiple of `degree` + 1.
    #[schemars(range(min = 2, max = MAX_ROUTERS))]
    pub routers: u32,
    /// Links of a router \[1 … routers − 1\].
    #[schemars(range(min = 1))]
    pub degree: u32,
    /// What the pairs are drawn from.
    #[serde(default = "one")]
    pub seed: u64,
    /// Nodes per router; default ⌈`degree` / 2⌉ \[1 … 64\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *NODES_PER_ROUTER.start(), max = *NODES_PER_ROUTER.end()))]
    pub nodes_per_router: Option<u32>,
    /// Which of several equally short paths of minimal routing packets take.
    #[serde(default)]
    pub ties: Ties,
}

/// How often all begins anew.
const ATTEMPTS: u64 = 1000;

fn one() -> u64 {
    1
}

impl Parameters for Config {
    type Built = Graph;

    fn build(&self) -> Result<Graph, ConfigError> {
        let nodes_per_router = self.check()?;
        let drawn = (0..ATTEMPTS).map(|attempt| {
            draw(self.routers, self.degree, &mut Stream::new(self.seed, Purpose::RandomGraph, attempt))
        });
        let Some(links) = drawn.into_iter().find(|links| is_connected(self.routers, links)) else {
            let reason = format!("{ATTEMPTS} draws have given no network that joins all routers");
            return Err(ConfigError::new("seed", reason)
                .value(self.seed)
                .valid("another seed, or a higher degree"));
        };
        Family {
            name: "xpander",
            routers: self.routers,
            links,
            second: None,
            routers_with_nodes: self.routers,
            nodes_per_router,
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
            Self { routers: 12, degree: 3, seed: 1, nodes_per_router: Some(1), ties: Ties::Spread },
            Self { routers: 20, degree: 4, seed: 2, nodes_per_router: Some(2), ties: Ties::First },
        ]
    }
}

impl Config {
    /// Nodes per router.
    fn check(&self) -> Result<u32, ConfigError> {
        let Self { routers, degree, .. } = *self;
        check_routers(routers.into(), "routers", &routers, format!("2 … {MAX_ROUTERS}"))?;
        check_degree(routers, degree)?;
        let nodes = nodes(self.nodes_per_router, degree.div_ceil(2), "nodes_per_router")?;
        check_ports((degree.into(), nodes), "degree", &degree)?;
        let sets = degree + 1;
        if !routers.is_multiple_of(sets) {
            let reason = format!("{sets} sets, one more than the degree, have as many routers each");
            let (below, above) = (routers / sets * sets, (routers / sets + 1) * sets);
            let other = if above <= MAX_ROUTERS { format!(" or {above}") } else { String::new() };
            let valid = format!("a multiple of {sets}, as {below}{other}");
            return Err(ConfigError::new("routers", reason).value(routers).valid(valid));
        }
        if degree == 1 && routers > 2 {
            let reason = format!("{routers} routers of one link each are joined in pairs only");
            return Err(ConfigError::new("degree", reason).value(1).valid(format!("2 … {}", routers - 1)));
        }
        Ok(nodes)
    }
}

/// The links between all sets.
fn draw(routers: u32, degree: u32, stream: &mut Stream) -> Vec<[u32; 2]> {
    let of_set = routers / (degree + 1);
    let mut links = Vec::new();
    for (one, other) in (0..=degree).flat_map(|one| (one + 1..=degree).map(move |other| (one, other))) {
        let mut order: Vec<u32> = (0..of_set).collect();
        stream.shuffle(&mut order);
        links.extend((0..).zip(order).map(|(first, second)| [one * of_set + first, other * of_set + second]));
    }
    links
}
