//! Injection processes: in which cycles a node generates a packet.
//! A new process is one file here and one row in each enum below.

pub mod bernoulli;
pub mod bursty;
pub mod on_off;
pub mod synchronised_bursts;

use hopsim_network::error::{ConfigError, valid};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Offered loads \[phits/(node·cycle)\].
pub const LOADS: RangeInclusive<f64> = 0.0..=1.0;

/// When packets are generated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProcessConfig {
    /// Every cycle with the same probability, independently.
    Bernoulli(bernoulli::Config),
    /// In bursts of packets to one destination, with pauses between them.
    Bursty(bursty::Config),
    /// At random while a node is on, and not while it is off.
    OnOff(on_off::Config),
    /// In bursts that all nodes begin together, when the one before is over everywhere.
    SynchronisedBursts(synchronised_bursts::Config),
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
    /// See [`on_off`].
    OnOff(on_off::OnOff),
    /// See [`synchronised_bursts`].
    SynchronisedBursts(synchronised_bursts::SynchronisedBursts),
}

/// What turns a load into packets per cycle.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// Mean length of packets \[phits\].
    pub length: f64,
    /// Share of the load that the process itself generates: 1, or 1/2 if every packet is answered by another one.
    pub share: f64,
}

/// What follows a generated packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Cycles to the next packet, at least 1; `u32::MAX` if there is no next one.
    pub gap: u32,
    /// Whether the next packet has a destination of its own, or that of the one before.
    pub new_destination: bool,
}

/// Checks an offered load \[phits/(node·cycle)\].
pub fn check_load(load: f64) -> Result<f64, ConfigError> {
    if LOADS.contains(&load) {
        return Ok(load);
    }
    Err(ConfigError::new("load", "the offered load is a share of the link rate")
        .value(load)
        .valid(valid(&LOADS))
        .unit("phits/(node·cycle)"))
}

impl Rate {
    /// Packets per cycle at `load`.
    pub fn packets(self, load: Option<f64>) -> Result<f64, ConfigError> {
        let Some(load) = load else {
            return Err(ConfigError::new("load", "is missing")
                .valid("0 … 1 phits/(node·cycle), here or as the shorthand `load`"));
        };
        Ok(check_load(load)? * self.share / self.length)
    }

    /// Load at which there are so many packets per cycle.
    pub fn load(self, packets: f64) -> f64 {
        packets * self.length / self.share
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
            Self::OnOff(config) => {
                on_off::OnOff::new(config, rate).map(Process::OnOff).map_err(|e| e.within("on_off"))
            }
            Self::SynchronisedBursts(config) => synchronised_bursts::SynchronisedBursts::new(config)
                .map(Process::SynchronisedBursts)
                .map_err(|e| e.within("synchronised_bursts")),
        }
    }

    /// Where the offered load of the process stands, for the shorthand `load`; `None` if it has none.
    pub fn load_mut(&mut self) -> Option<&mut Option<f64>> {
        match self {
            Self::Bernoulli(config) => Some(&mut config.load),
            Self::Bursty(config) => Some(&mut config.load),
            Self::OnOff(config) => Some(&mut config.load),
            Self::SynchronisedBursts(_) => None,
        }
    }

    /// The name in the document.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bernoulli(_) => "bernoulli",
            Self::Bursty(_) => "bursty",
            Self::OnOff(_) => "on_off",
            Self::SynchronisedBursts(_) => "synchronised_bursts",
        }
    }
}

impl Process {
    /// What follows a packet.
    #[inline]
    pub fn step(&self, stream: &mut Stream) -> Step {
        match self {
            Self::Bernoulli(p) => Step { gap: p.gap(stream), new_destination: true },
            Self::Bursty(p) => p.step(stream),
            Self::OnOff(p) => Step { gap: p.gap(stream), new_destination: true },
            Self::SynchronisedBursts(_) => Step { gap: 1, new_destination: true },
        }
    }

    /// Cycles to the next packet with a destination of its own, counted from a cycle without a packet; at least 1,
    /// `u32::MAX` if there is none. Drawn anew at any time it gives the same process.
    #[inline]
    pub fn begin(&self, stream: &mut Stream) -> u32 {
        match self {
            Self::Bernoulli(p) => p.gap(stream),
            Self::Bursty(p) => p.begin(stream),
            Self::OnOff(p) => p.begin(stream),
            Self::SynchronisedBursts(_) => 1,
        }
    }

    /// Whether the process stands still in a cycle in which its packet would be dropped.
    pub fn waits(&self) -> bool {
        matches!(self, Self::Bursty(_))
    }

    /// Packets of a node in a burst that all nodes begin together, `None` if there are no such bursts.
    pub fn synchronised(&self) -> Option<u32> {
        match self {
            Self::SynchronisedBursts(p) => Some(p.packets),
            Self::Bernoulli(_) | Self::Bursty(_) | Self::OnOff(_) => None,
        }
    }

    /// Whether this is the Bernoulli process.
    pub fn is_bernoulli(&self) -> bool {
        matches!(self, Self::Bernoulli(_))
    }

    /// The Bernoulli process of a run that knows no other.
    #[inline]
    pub fn bernoulli(&self) -> &bernoulli::Bernoulli {
        match self {
            Self::Bernoulli(p) => p,
            _ => unreachable!("the plan chooses the mode of the engine"),
        }
    }
}
