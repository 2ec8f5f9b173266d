//! How to search for the load at which a network saturates.

use super::limits::{WIDTHS, within};
use hopsim_network::error::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Greatest loads tried \[phits/(node·cycle)\].
const LOADS: RangeInclusive<f64> = 0.00001..=1.0;

/// Runs of each load.
const SEEDS: RangeInclusive<u32> = 1..=10_000;

/// How `hopsim saturate` searches for the offered load up to which sources keep up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SaturateConfig {
    /// Path of the offered load; a sweep over it is left out. If it is that of one job, so are the loads that are found.
    pub key: String,
    /// Greatest load tried \[phits/(node·cycle), above 0\].
    #[schemars(range(min = *LOADS.start(), max = *LOADS.end()))]
    pub most: f64,
    /// Width of the interval in which saturation is found, relative to the load.
    #[schemars(range(min = *WIDTHS.start(), max = *WIDTHS.end()))]
    pub precision: f64,
    /// Runs of each load, with so many seeds from `measure.seed` on, unless the sweep varies the seed.
    #[schemars(range(min = *SEEDS.start(), max = *SEEDS.end()))]
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
        within(LOADS, self.most, "sweep.saturate.most")?;
        within(WIDTHS, self.precision, "sweep.saturate.precision")?;
        within(SEEDS, self.seeds, "sweep.saturate.seeds")
    }
}
