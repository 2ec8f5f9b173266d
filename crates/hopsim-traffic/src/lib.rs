//! Workloads: who sends to whom ([`pattern`]), when ([`process`]), from which nodes ([`placement`], [`rank_order`]), what changes
//! during the run ([`changes`]) and what is answered ([`request_reply`]).

pub mod changes;
pub mod node_loads;
pub mod pattern;
pub mod placement;
pub mod process;
pub mod rank_order;
pub mod request_reply;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Shares of nodes or packets.
const SHARES: RangeInclusive<f64> = 0.0..=1.0;

/// Lengths of packets \[phits\].
pub const PACKET_LENGTHS: RangeInclusive<u32> = 1..=4096;

/// Synthetic traffic of one job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// To whom packets go.
    #[serde(default)]
    pub pattern: pattern::PatternConfig,
    /// When packets are generated.
    #[serde(default)]
    pub process: process::ProcessConfig,
    /// Which nodes offer another load than `process` says; default: none.
    #[serde(default)]
    pub node_loads: node_loads::NodeLoads,
    /// Length of a packet \[phits\].
    #[serde(default = "default_packet_length")]
    #[schemars(range(min = *PACKET_LENGTHS.start(), max = *PACKET_LENGTHS.end()))]
    pub packet_length: u32,
    /// What differs from given cycles on, in their order; default: nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<changes::Change>,
    /// Every packet of the pattern is a request that its destination answers; default: no replies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_reply: Option<request_reply::Config>,
}

fn default_packet_length() -> u32 {
    8
}

impl Default for Config {
    fn default() -> Self {
        Self {
            pattern: pattern::PatternConfig::default(),
            process: process::ProcessConfig::default(),
            node_loads: node_loads::NodeLoads::default(),
            packet_length: default_packet_length(),
            changes: Vec::new(),
            request_reply: None,
        }
    }
}
