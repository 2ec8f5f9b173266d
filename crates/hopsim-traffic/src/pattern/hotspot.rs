//! Hot-spot traffic: see [`Config`].

use super::{Site, uniform};
use crate::SHARES;
use hopsim_network::error::{ConfigError, valid};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A packet goes to the hot node with probability `fraction`, otherwise to any other node of the job, all equally
/// likely (the hot node is one of them). The hot node itself sends uniformly.
///
/// Source: Pfister and Norton, IEEE Trans. Computers C-34 (1985).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "HotspotPattern")]
pub struct Config {
    /// The hot node, one of the job's.
    #[serde(default)]
    pub node: u32,
    /// Share of the packets that go to the hot node.
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub fraction: f64,
}

/// Hot-spot traffic over a job.
#[derive(Clone, Debug)]
pub struct Hotspot {
    node: u32,
    fraction: f64,
    /// Whether the hot node sends to itself as others do -- constant.
    to_itself: bool,
    rest: uniform::Uniform,
}

impl Hotspot {
    /// Checks node and fraction.
    pub fn new(config: &Config, site: &Site<'_>) -> Result<Self, ConfigError> {
        if !site.nodes.contains(&config.node) {
            return Err(ConfigError::new("node", "the job does not run on that node")
                .value(config.node)
                .valid("one of the job's nodes"));
        }
        if !SHARES.contains(&config.fraction) {
            return Err(ConfigError::new("fraction", "is a share of the packets")
                .value(config.fraction)
                .valid(valid(&SHARES)));
        }
        let rest = uniform::Uniform::new(site)?;
        Ok(Self { node: config.node, fraction: config.fraction, to_itself: site.to_itself, rest })
    }

    /// The hot node or any other.
    #[inline]
    pub fn destination(&self, from: u32, stream: &mut Stream) -> u32 {
        if (from != self.node || self.to_itself) && stream.unit() < self.fraction {
            return self.node;
        }
        self.rest.destination(from, stream)
    }
}
