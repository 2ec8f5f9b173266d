//! Additive increase, multiplicative decrease.

use crate::config::infiniband::congestion as config;
use hopsim_infiniband::reaction::aimd::{Aimd, WHOLE};
use hopsim_infiniband::time::Ticks;
use hopsim_network::error::ConfigError;
use std::ops::RangeInclusive;

/// Shares that are one of [`WHOLE`] or more.
const SHARES: RangeInclusive<f64> = 0.000_001..=1.0;

/// Range of the least rate: with less the slowest packet could take longer than any time.
const LEAST: RangeInclusive<f64> = 0.000_1..=1.0;

/// The path of a key of this reaction in the document.
pub fn key(name: &str) -> String {
    super::path(&format!("congestion_control.reaction.aimd.{name}"))
}

/// The parameters, of which the period is known.
pub fn build(config: &config::Aimd, period: Ticks) -> Result<Aimd, ConfigError> {
    Ok(Aimd {
        increase: share(config.increase, SHARES, "increase")?,
        decrease: share(config.decrease, SHARES, "decrease")?,
        period,
        least: share(config.least, LEAST, "least")?,
    })
}

fn share(value: f64, range: RangeInclusive<f64>, name: &str) -> Result<u32, ConfigError> {
    if range.contains(&value) {
        return Ok((value * f64::from(WHOLE)).round() as u32);
    }
    let valid = format!("{} … {}", range.start(), range.end());
    Err(ConfigError::new(key(name), "out of range").value(value).valid(valid))
}
