//! Bursts that begin together: see [`Config`].

use hopsim_network::error::{ConfigError, valid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Packets that a node may have in a burst.
const PACKETS: RangeInclusive<u32> = 1..=1_000_000;

/// All nodes of the job send a burst of `packets` packets each as fast as the network takes them: one per cycle until the
/// source queue is full, and then whenever it has room. When every packet of the burst has been consumed, the next one
/// begins at all nodes. So applications behave that compute, exchange and wait for each other; there is no load to choose.
///
/// The metric is `cycles_per_burst`: the mean over the bursts that begin and end inside the window.
///
/// Source: Ridruejo et al., §4.1 (burst-synchronised traffic).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SynchronisedBurstsProcess")]
pub struct Config {
    /// Packets of a node in a burst.
    #[schemars(range(min = *PACKETS.start(), max = *PACKETS.end()))]
    pub packets: u32,
}

/// Bursts that begin together.
#[derive(Clone, Copy, Debug)]
pub struct SynchronisedBursts {
    /// Packets of a node in a burst.
    pub packets: u32,
}

impl SynchronisedBursts {
    /// Checks the length of a burst.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        if !PACKETS.contains(&config.packets) {
            return Err(ConfigError::new("packets", "that is not the length of a burst")
                .value(config.packets)
                .valid(valid(&PACKETS))
                .unit("packets"));
        }
        Ok(Self { packets: config.packets })
    }
}
