//! The jellyfish: see [`Config`].

use super::family::{Family, check_degree, check_ports, check_routers, is_connected, nodes};
use super::graph::Graph;
use super::shortest::Ties;
use super::wiring::MAX_ROUTERS;
use super::{Interconnect as _, NODES_PER_ROUTER, Parameters};
use crate::error::ConfigError;
use hopsim_random::{Purpose, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Routers joined at random, each to equally many others, at most one link between two: a random regular graph.
///
/// Algorithm: every router has `degree` stubs, listed by router. The list is shuffled, and stubs 2i and 2i + 1 of it are link i. A link is
/// wrong if it joins a router to itself, or two routers that an earlier link joins. For the first wrong link a–b another one, c–d, is drawn
/// among all links until it is not wrong, a–c and b–d differ, and neither would join a router to itself or two routers that a link that is
/// not wrong joins: then a–c and b–d take the places of the two. So on until none is wrong. If 1,000 links are drawn for one in vain, or
/// the network falls apart in the end, all begins anew, 1,000 times at most; attempt number k draws from the stream number k of `seed`.
/// If `degree` is more than routers − 1 − `degree`, a network of that degree is drawn so, whether it falls apart or not, and the links
/// are all those that it lacks. The same seed gives the same network, whatever the seed of a run.
///
/// Numbering: node n is at router ⌊n / `nodes_per_router`⌋. A router's ports are the terminal ones, then its links in the order of
/// the routers there.
///
/// Routing is that of `graph`: `minimal`, `adaptive`, `ecmp`, `k_shortest_paths`, `polarized`, `up_down`, `nue`, `valiant`,
/// `ugal` and `par`. At most 20,480 routers.
///
/// Source: Singla et al., NSDI 2012; the repairs are those of McKay and Wormald, J. Algorithms 11 (1990), simplified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JellyfishTopology")]
pub struct Config {
    /// Number of routers.
    #[schemars(range(min = 2, max = MAX_ROUTERS))]
    pub routers: u32,
    /// Links of a router \[1 … routers − 1; routers · degree is even\].
    #[schemars(range(min = 1))]
    pub degree: u32,
    /// What the links are drawn from.
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

/// How often links are drawn for one that cannot stay, and how often all begins anew.
const ATTEMPTS: u64 = 1000;

fn one() -> u64 {
    1
}

impl Parameters for Config {
    type Built = Graph;

    fn build(&self) -> Result<Graph, ConfigError> {
        let nodes_per_router = self.check()?;
        let Some(links) = draw_connected(self.routers, self.degree, self.seed) else {
            let reason = format!("{ATTEMPTS} draws have given no network that joins all routers");
            return Err(ConfigError::new("seed", reason)
                .value(self.seed)
                .valid("another seed, or a higher degree"));
        };
        Family {
            name: "jellyfish",
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
            Self { routers: 9, degree: 6, seed: 2, nodes_per_router: Some(2), ties: Ties::First },
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
        if routers % 2 == 1 && degree % 2 == 1 {
            let reason =
                format!("{routers} routers of {degree} links each have an odd number of ends of links");
            let other = if degree + 1 < routers { format!(" or {}", degree + 1) } else { String::new() };
            let less = if degree > 1 { (degree - 1).to_string() } else { String::new() };
            let valid = format!("{less}{other}, or {} or {} routers", routers - 1, routers + 1);
            return Err(ConfigError::new("degree", reason)
                .value(degree)
                .valid(valid.trim_start_matches(" or ")));
        }
        if degree == 1 && routers > 2 {
            let reason = format!("{routers} routers of one link each are joined in pairs only");
            return Err(ConfigError::new("degree", reason).value(1).valid(format!("2 … {}", routers - 1)));
        }
        Ok(nodes)
    }
}

/// The links of a network that joins all routers, `None` if none is found.
fn draw_connected(routers: u32, degree: u32, seed: u64) -> Option<Vec<[u32; 2]>> {
    let streams = (0..ATTEMPTS).map(|attempt| Stream::new(seed, Purpose::RandomGraph, attempt));
    let others = routers - 1 - degree;
    let drawn = streams.filter_map(|mut stream| {
        if degree <= others {
            return draw(routers, degree, &mut stream);
        }
        let lacking: BTreeSet<[u32; 2]> = draw(routers, others, &mut stream)?.into_iter().collect();
        let pairs = (0..routers).flat_map(|one| (one + 1..routers).map(move |other| [one, other]));
        Some(pairs.filter(|pair| !lacking.contains(pair)).collect())
    });
    drawn.into_iter().find(|links| is_connected(routers, links))
}

/// The links of a regular network, the router of the lower number first, `None` if they could not be repaired.
fn draw(routers: u32, degree: u32, stream: &mut Stream) -> Option<Vec<[u32; 2]>> {
    let mut stubs: Vec<u32> = (0..routers).flat_map(|router| (0..degree).map(move |_| router)).collect();
    stream.shuffle(&mut stubs);
    let mut links: Vec<[u32; 2]> = stubs.chunks_exact(2).map(|ends| [ends[0], ends[1]]).collect();
    let sorted = |[one, other]: [u32; 2]| [one.min(other), one.max(other)];
    let mut joined = BTreeSet::new();
    let mut wrong = BTreeSet::new();
    for (number, &link) in links.iter().enumerate() {
        if link[0] == link[1] || !joined.insert(sorted(link)) {
            wrong.insert(number);
        }
    }
    while let Some(&first) = wrong.first() {
        let [a, b] = links[first];
        let with = (0..ATTEMPTS).find_map(|_| {
            let number = stream.below(links.len() as u32) as usize;
            let [c, d] = links[number];
            let fits = |one, other| one != other && !joined.contains(&sorted([one, other]));
            let apart = sorted([a, c]) != sorted([b, d]);
            (!wrong.contains(&number) && apart && fits(a, c) && fits(b, d)).then_some(number)
        })?;
        let [c, d] = links[with];
        joined.remove(&sorted([c, d]));
        (links[first], links[with]) = ([a, c], [b, d]);
        joined.extend([sorted([a, c]), sorted([b, d])]);
        wrong.remove(&first);
    }
    Some(links.into_iter().map(sorted).collect())
}
