//! Traffic patterns: to which node a packet goes.
//!
//! A document has a [`PatternConfig`]. The plan of a job (`hopsim-experiment`) builds a [`Pattern`] of it for
//! the nodes of the job, and only this can fail. Then the nodes of both engines, and those of
//! `hopsim-reference`, ask [`Pattern::destination`] for each packet or message. A pattern never changes after
//! it is built, and draws from nothing but the stream that its caller hands it, so that all threads share it.
//!
//! A pattern only names nodes of its job, and not the source itself, unless it is built so ([`Site::to_itself`]), but for one
//! case: see [`Pattern::may_name_source`].
//!
//! A new pattern is one file here and one row in each enum below.

pub mod adversarial;
pub mod adversarial_consecutive;
pub mod adversarial_local;
pub mod hot_region;
pub mod hotspot;
pub mod mix;
pub mod permutation;
pub mod random_permutation;
mod targets;
pub mod uniform;

use adversarial::{H, Offset};
use hopsim_network::error::ConfigError;
use hopsim_network::topology::Topology;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use targets::Targets;

/// To whom packets go: only to nodes of the same job, and to their own source only with `semantics.self_traffic` = `router`.
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
    /// The destination of every node, as a list: that of a node of the job by its number in the job, which is one of those numbers, too. A
    /// node that is its own destination sends nothing; several nodes may have the same one.
    ///
    /// Source: Dally and Towles, Principles and Practices of Interconnection Networks (2004), §3.2.
    Destinations(Vec<u32>),
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

/// A pattern that has been built for the nodes of a job.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// See [`uniform`].
    Uniform(uniform::Uniform),
    /// Any of the adversarial patterns: see [`Targets`].
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

/// The job that a pattern is built for, and its network.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// The network's topology.
    pub topology: &'a Topology,
    /// The nodes of the job, ascending.
    pub nodes: &'a [u32],
    /// The seed of the run, for patterns that are drawn when they are built.
    pub seed: u64,
    /// Number of the job, so that two jobs draw different patterns.
    pub job: u64,
    /// Whether patterns name the source of a packet like any other node.
    pub to_itself: bool,
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

/// The short names of the papers, as error messages list them.
pub const SHORT_NAMES: &str = "or in short UN, ADV+1, ADV+h, ADVc, ADV-local";

/// The short names of the papers as a regular expression, by which editors complete and check documents.
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
                uniform::Uniform::new(site).map(Pattern::Uniform).map_err(|error| error.within("uniform"))
            }
            Self::Adversarial(config) => {
                config.targets(site).map(Pattern::Targets).map_err(|error| error.within("adversarial"))
            }
            Self::AdversarialConsecutive(config) => config
                .targets(site)
                .map(Pattern::Targets)
                .map_err(|error| error.within("adversarial_consecutive")),
            Self::AdversarialLocal(config) => {
                config.targets(site).map(Pattern::Targets).map_err(|error| error.within("adversarial_local"))
            }
            Self::Hotspot(config) => hotspot::Hotspot::new(config, site)
                .map(Pattern::Hotspot)
                .map_err(|error| error.within("hotspot")),
            Self::HotRegion(config) => hot_region::HotRegion::new(config, site)
                .map(Pattern::HotRegion)
                .map_err(|error| error.within("hot_region")),
            Self::Permutation(config) => permutation::Permutation::new(*config, site)
                .map(Pattern::Permutation)
                .map_err(|error| error.within("permutation")),
            Self::Destinations(list) => permutation::Permutation::listed(list, site)
                .map(Pattern::Permutation)
                .map_err(|error| error.within("destinations")),
            Self::RandomPermutation(_) => random_permutation::RandomPermutation::new(site)
                .map(Pattern::RandomPermutation)
                .map_err(|error| error.within("random_permutation")),
            Self::Mix(parts) => {
                mix::Mix::new(parts, site).map(Pattern::Mix).map_err(|error| error.within("mix"))
            }
        }
    }
}

impl Pattern {
    /// The destination of the next packet of node `from`, a node of the job that is not silent.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn destination(&self, from: u32, stream: &mut Stream) -> u32 {
        match self {
            Self::Uniform(pattern) => pattern.destination(from, stream),
            Self::Targets(pattern) => pattern.destination(from, stream),
            Self::Hotspot(pattern) => pattern.destination(from, stream),
            Self::HotRegion(pattern) => pattern.destination(from, stream),
            Self::Permutation(pattern) => pattern.destination(from),
            Self::RandomPermutation(pattern) => pattern.destination(from),
            Self::Mix(pattern) => pattern.destination(from, stream),
        }
    }

    /// Whether a node never sends anything: in some permutations nodes are their own image.
    pub fn is_silent(&self, node: u32) -> bool {
        matches!(self, Self::Permutation(pattern) if pattern.is_silent(node))
    }

    /// Whether the pattern may name the source itself, though the source is not silent: a mix may, one of
    /// whose parts is a permutation. The caller then sends no packet.
    pub fn may_name_source(&self) -> bool {
        matches!(self, Self::Mix(mix) if mix.may_name_source())
    }
}
