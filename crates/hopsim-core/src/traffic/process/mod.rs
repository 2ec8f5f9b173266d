//! Injection processes: in which cycles a node generates a packet.
//! A new process is one file here and one row in each enum below.

pub mod bernoulli;
pub mod bursty;

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
    /// In bursts of packets to one destination, with pauses between them.
    Bursty(bursty::Config),
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
    /// See [`bursty`].
    Bursty(bursty::Bursty),
}

/// What turns a load into packets per cycle.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// Packet length \[phits\].
    pub length: u32,
    /// Share of the load that the process itself generates: 1, or 1/2 if every packet is answered by another one.
    pub share: f64,
}

/// What follows a generated packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Cycles to the next packet, at least 1; `u32::MAX` if there is no next one.
    pub gap: u32,
    /// Whether the next packet has a destination of its own, or that of the one before.
    pub fresh: bool,
}

/// Checks an offered load \[phits/(node·cycle)\].
pub fn check_load(load: f64) -> Result<f64, ConfigError> {
    if (0.0..=1.0).contains(&load) {
        return Ok(load);
    }
    Err(ConfigError::new("load", "the offered load is a share of the link rate")
        .value(load)
        .valid("0 … 1 phits/(node·cycle)"))
}

impl Rate {
    /// Packets per cycle at `load`.
    pub fn packets(self, load: Option<f64>) -> Result<f64, ConfigError> {
        let Some(load) = load else {
            return Err(ConfigError::new("load", "is missing")
                .valid("0 … 1 phits/(node·cycle), here or as the shorthand `load`"));
        };
        Ok(check_load(load)? * self.share / f64::from(self.length))
    }
}

impl ProcessConfig {
    /// Builds the process for packets at this rate.
    pub fn build(&self, rate: Rate) -> Result<Process, ConfigError> {
        match self {
            Self::Bernoulli(config) => bernoulli::Bernoulli::new(config, rate)
                .map(Process::Bernoulli)
                .map_err(|e| e.within("bernoulli")),
            Self::Bursty(config) => {
                bursty::Bursty::new(config, rate).map(Process::Bursty).map_err(|e| e.within("bursty"))
            }
        }
    }

    /// Where the offered load of the process stands, for the shorthand `load`.
    pub fn load_mut(&mut self) -> &mut Option<f64> {
        match self {
            Self::Bernoulli(config) => &mut config.load,
            Self::Bursty(config) => &mut config.load,
        }
    }

    /// The path of the offered load below the process.
    pub fn load_path(&self) -> &'static str {
        match self {
            Self::Bernoulli(_) => "bernoulli.load",
            Self::Bursty(_) => "bursty.load",
        }
    }
}

impl Process {
    /// What follows a packet.
    #[inline]
    pub fn step(&self, stream: &mut Stream) -> Step {
        match self {
            Self::Bernoulli(p) => Step { gap: p.gap(stream), fresh: true },
            Self::Bursty(p) => p.step(stream),
        }
    }

    /// Cycles to the next packet with a destination of its own, counted from a cycle without a packet; at least 1,
    /// `u32::MAX` if there is none. Drawn anew at any time it gives the same process.
    #[inline]
    pub fn begin(&self, stream: &mut Stream) -> u32 {
        match self {
            Self::Bernoulli(p) => p.gap(stream),
            Self::Bursty(p) => p.begin(stream),
        }
    }

    /// Whether the process stands still in a cycle in which its packet would be dropped.
    pub fn waits(&self) -> bool {
        matches!(self, Self::Bursty(_))
    }

    /// The Bernoulli process of a run that knows no other.
    #[inline]
    pub fn bernoulli(&self) -> &bernoulli::Bernoulli {
        match self {
            Self::Bernoulli(p) => p,
            Self::Bursty(_) => unreachable!("the plan chooses the mode of the engine"),
        }
    }
}
