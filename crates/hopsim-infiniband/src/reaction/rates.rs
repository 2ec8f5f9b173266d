//! Rates and shares in units of 2^-32, and windows in units of 2^-16 packets, which several reactions count in.

use super::Flight;
use crate::time::Ticks;
use hopsim_network::error::{ConfigError, within};
use std::ops::RangeInclusive;

/// The rate of a link, in the unit of all rates; and a whole, in the unit of shares.
pub const WHOLE: u64 = 1 << 32;

/// Shares that are one of [`WHOLE`] or more.
pub const SHARES: RangeInclusive<f64> = 0.000_001..=1.0;

/// Range of the least rate: with less the slowest packet could take longer than any time.
pub const LEAST: RangeInclusive<f64> = 0.000_1..=1.0;

/// The share that a key says.
pub fn share(value: f64, range: RangeInclusive<f64>, key: &str) -> Result<u64, ConfigError> {
    within(range, value, key)?;
    Ok((value * WHOLE as f64).round() as u64)
}

/// A packet, in the unit of windows.
pub const PACKET: u64 = 1 << 16;

/// The packets that a key says, in the unit of windows.
pub fn packets(value: f64, range: RangeInclusive<f64>, key: &str) -> Result<u64, ConfigError> {
    within(range, value, key)?;
    Ok((value * PACKET as f64).round() as u64)
}

/// Whether a window has room for a packet besides what is under way.
pub(super) fn fits(window: u64, Flight { under_way, bytes, mtu }: Flight) -> bool {
    u128::from(under_way + u64::from(bytes)) << 16 <= u128::from(window) * u128::from(mtu)
}

/// The time of a packet at a rate, if it takes `time` on the link.
#[inline]
pub fn time_at(rate: u64, time: Ticks) -> Ticks {
    (u128::from(time) * u128::from(WHOLE)).div_ceil(rate.into()) as Ticks
}
