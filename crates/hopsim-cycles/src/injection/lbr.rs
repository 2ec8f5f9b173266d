//! Local buffer restriction: see [`Config`].

use hopsim_network::error::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A packet may enter the network over an adaptive VC only if it leaves room for `packets` more of the longest ones in the
/// buffer there; over the escape VC as ever. Packets in transit are not restricted. So the network does not fill up with new
/// packets while old ones wait. Needs `routing.adaptive` in a mesh, torus, ring or HyperX.
///
/// Source: Izu et al., 2006; Ridruejo et al., §3.2 (3 packets where the buffer has 4: only into an empty one).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "LbrInjection")]
pub struct Config {
    /// Room to leave \[packets, at least 1\].
    #[schemars(range(min = 1))]
    pub packets: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { packets: 3 }
    }
}

impl Config {
    /// The room in phits, where buffers have `buffer` phits and the longest packet `longest`.
    pub fn room(&self, buffer: u32, longest: u32) -> Result<u32, ConfigError> {
        let most = (buffer / longest).saturating_sub(1);
        if !(1..=most).contains(&self.packets) {
            let reason = format!("a buffer holds {} packets, and one of them is to enter", buffer / longest);
            return Err(ConfigError::new("packets", reason).value(self.packets).valid(format!("1 … {most}")));
        }
        Ok(self.packets * longest)
    }
}
