//! Uniform traffic: see [`Config`].

use super::Site;
use hopsim_network::error::ConfigError;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Random uniform traffic: the destination of each packet is drawn anew among the other nodes of the job.
///
/// In short `"UN"`. No parameters. Source: Fuentes' thesis (2017), §1.6.1.1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "UniformPattern")]
pub struct Config {}

/// Uniform traffic over a job.
#[derive(Clone, Debug)]
pub struct Uniform {
    /// Number of nodes of the job -- constant.
    count: u32,
    /// The nodes, ascending; empty when they are 0 … count − 1 and the source is never drawn -- constant.
    nodes: Vec<u32>,
    /// Whether the source is drawn like any other node -- constant.
    to_itself: bool,
}

impl Uniform {
    /// Uniform traffic over the nodes of `site`, at least two.
    pub fn new(site: &Site<'_>) -> Result<Self, ConfigError> {
        let count = site.nodes.len() as u32;
        if count < 2 {
            return Err(ConfigError::new("", "a job of one node has nobody to send to")
                .valid("a job of two nodes or more"));
        }
        let dense = site.nodes[count as usize - 1] == count - 1;
        let nodes = if dense && !site.to_itself { Vec::new() } else { site.nodes.to_vec() };
        Ok(Self { count, nodes, to_itself: site.to_itself })
    }

    /// A node other than `from`, or any.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn destination(&self, from: u32, stream: &mut Stream) -> u32 {
        if self.nodes.is_empty() {
            let index = stream.below(self.count - 1);
            return index + u32::from(index >= from);
        }
        loop {
            let node = self.nodes[stream.below(self.count) as usize];
            if node != from || self.to_itself {
                return node;
            }
        }
    }
}
