//! In-transit priority restriction: see [`Config`].

use hopsim_network::error::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In a share of the cycles, drawn for each router, packets in transit have absolute priority over those that enter the
/// network there, at every output. `share` = 1 is `allocator.transit_priority`.
///
/// Source: Adiga et al., IBM J. Res. Dev. 49 (2005) (Blue Gene/L); Ridruejo et al., §3.1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "IprInjection")]
pub struct Config {
    /// Share of the cycles \[0 … 1\].
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { share: 1.0 }
    }
}

impl Config {
    /// The share.
    pub fn check(&self) -> Result<f64, ConfigError> {
        if (0.0..=1.0).contains(&self.share) {
            return Ok(self.share);
        }
        Err(ConfigError::new("share", "is a share of the cycles").value(self.share).valid("0 … 1"))
    }
}
