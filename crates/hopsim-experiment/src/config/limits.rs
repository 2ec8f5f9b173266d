//! Ranges of values.

use hopsim_network::error::ConfigError;

/// Most cycles a run may last: times are 32-bit and events lie ahead of the present.
pub const MAX_CYCLES: u32 = 3_000_000_000;

/// Refuses the value of a key out of its range.
pub fn within(range: std::ops::RangeInclusive<u32>, value: u32, path: &str) -> Result<(), ConfigError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(ConfigError::new(path, "out of range").value(value).valid(format!(
        "{} … {}",
        range.start(),
        range.end()
    )))
}
