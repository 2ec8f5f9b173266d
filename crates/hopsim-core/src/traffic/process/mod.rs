//! Injection processes: in which cycles a node generates a packet.
//! A new process is one file here and one row in each enum below.

pub mod bernoulli;

use crate::error::ConfigError;
use crate::rng::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When packets are generated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProcessConfig {
    /// Every cycle with the same probability, independently.
    Bernoulli(bernoulli::Config),
}

impl Default for ProcessConfig {
    fn default() -> Self {
        Self::Bernoulli(bernoulli::Config::default())
    }
}

/// A process ready to be asked.
#[derive(Clone, Debug)]
pub enum Process {
    /// See [`bernoulli`].
    Bernoulli(bernoulli::Bernoulli),
}

impl ProcessConfig {
    /// Builds the process for packets of `length` phits.
    pub fn build(&self, length: u32) -> Result<Process, ConfigError> {
        match self {
            Self::Bernoulli(config) => Ok(Process::Bernoulli(
                bernoulli::Bernoulli::new(config, length).map_err(|e| e.within("bernoulli"))?,
            )),
        }
    }

    /// Where the offered load of the process stands, for the shorthand `load`.
    pub fn load_mut(&mut self) -> &mut Option<f64> {
        match self {
            Self::Bernoulli(config) => &mut config.load,
        }
    }

    /// The path of the offered load below the process.
    pub fn load_path(&self) -> &'static str {
        match self {
            Self::Bernoulli(_) => "bernoulli.load",
        }
    }
}

impl Process {
    /// Cycles from one generation to the next, at least 1; `u32::MAX` if there is no next one.
    #[inline]
    pub fn gap(&self, stream: &mut Stream) -> u32 {
        match self {
            Self::Bernoulli(p) => p.gap(stream),
        }
    }
}
