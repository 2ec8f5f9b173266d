//! Virtual lanes.

use super::path;
use crate::config::infiniband::{LANES, LanesConfig};
use crate::plan::within;
use hopsim_infiniband::lanes::{LaneEntry, Lanes};
use hopsim_network::error::ConfigError;

/// Weight of every VL where no table is given: the longest packet.
const WEIGHT: u8 = 64;

/// Checks the VLs of a document and fills in their tables.
pub fn build(config: &LanesConfig) -> Result<Lanes, ConfigError> {
    let count = config.count;
    within(LANES, count.into(), path("lanes.count"))?;
    let (high, low) = (entries(&config.high, "high", count)?, entries(&config.low, "low", count)?);
    let low = if high.is_empty() && low.is_empty() {
        (0..count).map(|lane| LaneEntry { lane, weight: WEIGHT }).collect()
    } else {
        low
    };
    let is_served = |lane: &u8| high.iter().chain(&low).any(|entry| entry.lane == *lane);
    if let Some(starved) = (0..count).find(|lane| !is_served(lane)) {
        let reason = format!("VL {starved} is in neither table and would never send");
        return Err(ConfigError::new(path("lanes.low"), reason).valid("an entry [VL, weight] for every VL"));
    }
    Ok(Lanes { count, of_service_level: service_levels(config)?, high, low, high_limit: config.high_limit })
}

fn entries(given: &[[u8; 2]], name: &str, count: u8) -> Result<Vec<LaneEntry>, ConfigError> {
    let entry = |(index, &[lane, weight]): (usize, &[u8; 2])| {
        let refused = |reason: &str| {
            ConfigError::new(path(&format!("lanes.{name}.{index}")), reason)
                .value(format!("[{lane}, {weight}]"))
                .valid(format!("[VL 0 … {}, weight 1 … 255]", count - 1))
        };
        match () {
            () if lane >= count => Err(refused("there is no such VL")),
            () if weight == 0 => Err(refused("the VL would never send")),
            () => Ok(LaneEntry { lane, weight }),
        }
    };
    given.iter().enumerate().map(entry).collect()
}

fn service_levels(config: &LanesConfig) -> Result<[u8; 16], ConfigError> {
    let given = &config.of_service_level;
    if given.is_empty() {
        return Ok(std::array::from_fn(|level| level as u8 % config.count));
    }
    let lanes: [u8; 16] = given.as_slice().try_into().map_err(|_| {
        let reason = format!("has {} VLs, and there are 16 service levels", given.len());
        ConfigError::new(path("lanes.of_service_level"), reason).valid("16 VLs")
    })?;
    for (level, lane) in lanes.into_iter().enumerate() {
        let key = path(&format!("lanes.of_service_level.{level}"));
        within(0..=u32::from(config.count) - 1, u32::from(lane), &key)?;
    }
    Ok(lanes)
}
