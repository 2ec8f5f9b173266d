//! How to search for the load at which a network saturates.

use hopsim_network::error::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How `hopsim saturate` searches for the offered load up to which sources keep up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SaturateConfig {
    /// Path of the offered load; a sweep over it is left out. If it is that of one job, so are the loads that are found.
    pub key: String,
    /// Greatest load tried \[phits/(node·cycle), above 0\].
    #[schemars(range(min = 0.00001, max = 1.0))]
    pub most: f64,
    /// Width of the interval in which saturation is found, relative to the load.
    #[schemars(range(min = 0.0001, max = 0.5))]
    pub precision: f64,
    /// Runs of each load, with so many seeds from `measure.seed` on, unless the sweep varies the seed.
    #[schemars(range(min = 1, max = 10_000))]
    pub seeds: u32,
}

impl Default for SaturateConfig {
    fn default() -> Self {
        Self { key: "load".into(), most: 1.0, precision: 0.01, seeds: 3 }
    }
}

impl SaturateConfig {
    /// Refuses values that are out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let ranges = [
            ("most", self.most, 0.00001, 1.0),
            ("precision", self.precision, 0.0001, 0.5),
            ("seeds", f64::from(self.seeds), 1.0, 10_000.0),
        ];
        match ranges.into_iter().find(|&(_, value, least, most)| !(least..=most).contains(&value)) {
            None => Ok(()),
            Some((key, value, least, most)) => {
                Err(ConfigError::new(format!("sweep.saturate.{key}"), "out of range")
                    .value(value)
                    .valid(format!("{least} … {most}")))
            }
        }
    }
}
