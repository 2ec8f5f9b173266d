//! Hot-region traffic: see [`Config`].

use super::{Site, uniform};
use crate::SHARES;
use hopsim_network::error::{ConfigError, valid};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A packet goes to the hot region with probability `fraction`, otherwise to any other node of the job, all equally likely
/// (those of the region among them). The region is the first `share` of the job's nodes; a packet to it goes to any of its
/// nodes but its source.
///
/// Source: Izu and Vallejo, Simulation 2019, §3; Ridruejo et al. (25 % to an eighth of the nodes).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "HotRegionPattern")]
pub struct Config {
    /// Share of the packets that go to the region.
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub fraction: f64,
    /// Share of the nodes that are the region; at least two nodes.
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub share: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { fraction: 0.25, share: 0.125 }
    }
}

/// Hot-region traffic over a job.
#[derive(Clone, Debug)]
pub struct HotRegion {
    fraction: f64,
    /// Nodes of the region -- constant.
    region: Vec<u32>,
    /// Whether the source is drawn like any other node of the region -- constant.
    to_itself: bool,
    rest: uniform::Uniform,
}

impl HotRegion {
    /// Checks the shares.
    pub fn new(config: &Config, site: &Site<'_>) -> Result<Self, ConfigError> {
        for (key, value) in [("fraction", config.fraction), ("share", config.share)] {
            if !SHARES.contains(&value) {
                return Err(ConfigError::new(key, "is a share").value(value).valid(valid(&SHARES)));
            }
        }
        let count = (site.nodes.len() as f64 * config.share).round() as usize;
        let least = if site.to_itself { 1 } else { 2 };
        if count < least {
            let nobody = if site.to_itself { "" } else { ", and a node does not send to itself" };
            let reason = format!("that is {count} of {} nodes{nobody}", site.nodes.len());
            return Err(ConfigError::new("share", reason)
                .value(config.share)
                .valid(format!("{} … 1", least as f64 / site.nodes.len() as f64)));
        }
        let region = site.nodes[..count].to_vec();
        let rest = uniform::Uniform::new(site)?;
        Ok(Self { fraction: config.fraction, region, to_itself: site.to_itself, rest })
    }

    /// A node of the region or any other.
    #[inline]
    pub fn destination(&self, from: u32, stream: &mut Stream) -> u32 {
        if stream.unit() >= self.fraction {
            return self.rest.destination(from, stream);
        }
        loop {
            let node = self.region[stream.below(self.region.len() as u32) as usize];
            if node != from || self.to_itself {
                return node;
            }
        }
    }
}
