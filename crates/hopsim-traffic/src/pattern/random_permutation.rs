//! Random permutation traffic: see [`Config`].

use super::Site;
use hopsim_network::error::ConfigError;
use hopsim_random::{Purpose, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Before the run every node of the job gets one destination for the whole run. No two nodes share one and no node
/// is its own. The permutation is drawn uniformly, by the seed and the number of the job.
///
/// No parameters. Source: Dally and Towles, Principles and Practices of Interconnection Networks (2004), §3.2.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RandomPermutationPattern")]
pub struct Config {}

/// A fixed permutation, without fixed points unless nodes send to themselves.
#[derive(Clone, Debug)]
pub struct RandomPermutation {
    /// Destination by source node -- constant.
    to: Vec<u32>,
}

impl RandomPermutation {
    /// Draws a uniform permutation of the nodes, a derangement by rejection.
    pub fn new(site: &Site<'_>) -> Result<Self, ConfigError> {
        if site.nodes.len() < 2 {
            return Err(ConfigError::new("", "a job of one node has nobody to send to")
                .valid("a job of two nodes or more"));
        }
        let mut stream = Stream::new(site.seed, Purpose::Placement, site.job << 32 | 1);
        let mut image = site.nodes.to_vec();
        stream.shuffle(&mut image);
        while !site.to_itself && image.iter().zip(site.nodes).any(|(a, b)| a == b) {
            stream.shuffle(&mut image);
        }
        let mut to = vec![0; site.nodes[site.nodes.len() - 1] as usize + 1];
        for (&from, &image) in site.nodes.iter().zip(&image) {
            to[from as usize] = image;
        }
        Ok(Self { to })
    }

    /// The partner of `from`.
    #[inline]
    pub fn destination(&self, from: u32) -> u32 {
        self.to[from as usize]
    }
}
