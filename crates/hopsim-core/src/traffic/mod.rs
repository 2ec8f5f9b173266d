//! Workloads: who sends to whom ([`pattern`]), when ([`process`]), from which nodes ([`placement`]).

pub mod pattern;
pub mod placement;
pub mod process;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Length of a packet \[phits, 1 … 4096\].
    #[serde(default = "default_packet_length")]
    #[schemars(range(min = 1, max = 4096))]
    pub packet_length: u32,
}

fn default_packet_length() -> u32 {
    8
}

impl Default for Config {
    fn default() -> Self {
        Self {
            pattern: pattern::PatternConfig::default(),
            process: process::ProcessConfig::default(),
            packet_length: default_packet_length(),
        }
    }
}
