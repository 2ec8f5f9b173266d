//! Ranges of values.

pub use hopsim_cycles::system::MAX_CYCLES;
use hopsim_network::error::ConfigError;

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
