//! Traffic patterns: to which node a packet goes. Never to its own source.
//!
//! A pattern is built for the nodes of a job and only ever names nodes of that job.
//! A new pattern is one file here and one row in each enum below.

pub mod adversarial;
pub mod adversarial_consecutive;
pub mod adversarial_local;
pub mod hot_region;
pub mod hotspot;
pub mod mix;
pub mod permutation;
pub mod random_permutation;
pub mod uniform;

use adversarial::{H, Offset};

use hopsim_network::error::ConfigError;
use hopsim_network::topology::Topology;
pub(crate) use hopsim_network::topology::dragonfly::Dragonfly;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// To whom packets go: never to their own source, and only to nodes of the same job.
///
/// The names of the papers may be written in short: `"UN"`, `"ADV+1"`, `"ADV+h"`, `"ADVc"`, `"ADV-local"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(extend("x-short-names" = SHORT_NAMES_PATTERN))]
pub enum PatternConfig {
    /// Every other node of the job, equally likely (UN).
    Uniform(uniform::Config),
    /// A random node of the group `offset` groups ahead (ADV+i).
    Adversarial(adversarial::Config),
    /// A random node of the groups that one router of the source group links to (ADVc).
    AdversarialConsecutive(adversarial_consecutive::Config),
    /// A random node of the router `offset` positions ahead in the same group (ADV-local).
    AdversarialLocal(adversarial_local::Config),
    /// A share of all packets to one node, the rest uniform.
    Hotspot(hotspot::Config),
    /// A share of all packets to some of the nodes, the rest uniform.
    HotRegion(hot_region::Config),
    /// The node whose number is a fixed function of the own one.
    Permutation(permutation::Config),
    /// A fixed random destination for each node, none shared.
    RandomPermutation(random_permutation::Config),
    /// Each packet follows one of several patterns.
    Mix(Vec<mix::Part>),
}

impl Default for PatternConfig {
    fn default() -> Self {
        Self::Uniform(uniform::Config {})
    }
}

/// A pattern ready to be asked.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// See [`uniform`].
    Uniform(uniform::Uniform),
    /// Node lists by source group or router: see [`Targets`].
    Targets(Targets),
    /// See [`hotspot`].
    Hotspot(hotspot::Hotspot),
    /// See [`hot_region`].
    HotRegion(hot_region::HotRegion),
    /// See [`permutation`].
    Permutation(permutation::Permutation),
    /// See [`random_permutation`].
    RandomPermutation(random_permutation::RandomPermutation),
    /// See [`mix`].
    Mix(mix::Mix),
}

/// What a pattern is built from.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// The network's topology.
    pub topology: &'a Topology,
    /// The nodes of the job, ascending.
    pub nodes: &'a [u32],
    /// The seed, for patterns that are drawn once.
    pub seed: u64,
    /// Number of the job, so that two jobs draw different patterns.
    pub job: u64,
}

impl Site<'_> {
    /// The router of a node.
    pub fn router(&self, node: u32) -> u32 {
        self.topology.router_of(node)
    }

    /// The group of a node.
    pub fn group(&self, node: u32) -> u32 {
        self.topology.group(self.router(node))
    }
}

/// The short names of the papers, for messages.
pub const SHORT_NAMES: &str = "or in short UN, ADV+1, ADV+h, ADVc, ADV-local";

/// The short names of the papers as a regular expression, for editors.
const SHORT_NAMES_PATTERN: &str = r"^([uU][nN]|[aA][dD][vV]([cC]|-[lL][oO][cC][aA][lL]|\+([hH]|[0-9]+)))$";

impl PatternConfig {
    /// The pattern behind a short name, in capitals or not: `UN`, `ADV+i`, `ADV+h`, `ADVc`, `ADV-local`.
    pub fn from_short_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        match (name.as_str(), name.strip_prefix("adv+")) {
            ("un", _) => Some(Self::default()),
            ("advc", _) => Some(Self::AdversarialConsecutive(adversarial_consecutive::Config::default())),
            ("adv-local", _) => Some(Self::AdversarialLocal(adversarial_local::Config::default())),
            (_, Some("h")) => Some(Self::Adversarial(adversarial::Config { offset: Offset::H(H::H) })),
            (_, Some(groups)) => {
                let offset = Offset::Groups(groups.parse().ok()?);
                Some(Self::Adversarial(adversarial::Config { offset }))
            }
            _ => None,
        }
    }

    /// Builds the pattern for the nodes of a job.
    pub fn build(&self, site: &Site<'_>) -> Result<Pattern, ConfigError> {
        match self {
            Self::Uniform(_) => {
                uniform::Uniform::new(site).map(Pattern::Uniform).map_err(|e| e.within("uniform"))
            }
            Self::Adversarial(c) => {
                c.targets(site).map(Pattern::Targets).map_err(|e| e.within("adversarial"))
            }
            Self::AdversarialConsecutive(c) => {
                c.targets(site).map(Pattern::Targets).map_err(|e| e.within("adversarial_consecutive"))
            }
            Self::AdversarialLocal(c) => {
                c.targets(site).map(Pattern::Targets).map_err(|e| e.within("adversarial_local"))
            }
            Self::Hotspot(c) => {
                hotspot::Hotspot::new(c, site).map(Pattern::Hotspot).map_err(|e| e.within("hotspot"))
            }
            Self::HotRegion(c) => hot_region::HotRegion::new(c, site)
                .map(Pattern::HotRegion)
                .map_err(|e| e.within("hot_region")),
            Self::Permutation(c) => permutation::Permutation::new(*c, site)
                .map(Pattern::Permutation)
                .map_err(|e| e.within("permutation")),
            Self::RandomPermutation(_) => random_permutation::RandomPermutation::new(site)
                .map(Pattern::RandomPermutation)
                .map_err(|e| e.within("random_permutation")),
            Self::Mix(parts) => mix::Mix::new(parts, site).map(Pattern::Mix).map_err(|e| e.within("mix")),
        }
    }
}

impl Pattern {
    /// The destination of the next packet of node `from`.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn destination(&self, from: u32, stream: &mut Stream) -> u32 {
        match self {
            Self::Uniform(p) => p.destination(from, stream),
            Self::Targets(p) => p.destination(from, stream),
            Self::Hotspot(p) => p.destination(from, stream),
            Self::HotRegion(p) => p.destination(from, stream),
            Self::Permutation(p) => p.destination(from),
            Self::RandomPermutation(p) => p.destination(from),
            Self::Mix(p) => p.destination(from, stream),
        }
    }
}

impl Pattern {
    /// Whether a node sends nothing.
    pub fn is_silent(&self, node: u32) -> bool {
        matches!(self, Self::Permutation(p) if p.is_silent(node))
    }

    /// Whether the pattern may name the node itself to one that sends: there is no packet then.
    pub fn may_skip(&self) -> bool {
        matches!(self, Self::Mix(mix) if mix.may_skip())
    }
}

/// Destinations drawn uniformly from a list of nodes that depends on the source's group or router.
#[derive(Clone, Debug)]
pub struct Targets {
    /// Which list a node uses -- constant.
    list_of: Vec<u32>,
    /// The lists -- constant.
    lists: Vec<Vec<u32>>,
}

impl Targets {
    /// Builds the lists: `key` tells which of `keys` lists a node uses, `wanted(key, node)` who is on it.
    pub fn new(
        site: &Site<'_>,
        keys: u32,
        key: impl Fn(u32) -> u32,
        wanted: impl Fn(u32) -> Vec<u32>,
        bucket: impl Fn(u32) -> u32,
    ) -> Result<Self, ConfigError> {
        let mut members: Vec<Vec<u32>> = Vec::new();
        for &node in site.nodes {
            let index = bucket(node) as usize;
            members.resize_with(members.len().max(index + 1), Vec::new);
            members[index].push(node);
        }
        let lists: Vec<Vec<u32>> = (0..keys)
            .map(|k| {
                wanted(k)
                    .into_iter()
                    .flat_map(|b| members.get(b as usize).cloned().unwrap_or_default())
                    .collect()
            })
            .collect();
        let mut list_of = vec![0; site.nodes.last().map_or(0, |&n| n as usize + 1)];
        for &node in site.nodes {
            let list = key(node);
            list_of[node as usize] = list;
            if !lists[list as usize].iter().any(|&n| n != node) {
                return Err(ConfigError::new(
                    "",
                    format!(
                        "node {node} has no destination: the job has no other node where the pattern sends it"
                    ),
                )
                .valid("a job that covers the target groups or routers"));
            }
        }
        Ok(Self { list_of, lists })
    }

    #[inline]
    fn destination(&self, from: u32, stream: &mut Stream) -> u32 {
        let list = &self.lists[self.list_of[from as usize] as usize];
        loop {
            let node = list[stream.below(list.len() as u32) as usize];
            if node != from {
                return node;
            }
        }
    }
}
