//! Injection control: what keeps nodes from injecting although the network would take their packets. A new mechanism is one
//! file here and one row in each enum below.

pub mod ipr;
pub mod lbr;
pub mod sat;

use hopsim_network::error::ConfigError;
use hopsim_network::nothing::Nothing;
use hopsim_network::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What keeps nodes from injecting although the network would take their packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ControlConfig {
    /// Nothing: a node injects whenever its router grants one of its packets an output, so that arbitration alone says who
    /// gets how much of a saturated network.
    None(Nothing),
    /// A signal that goes round all nodes gives each its share (SAT).
    Sat(sat::Config),
    /// Packets that enter the network leave room in the adaptive VCs (local buffer restriction, LBR).
    Lbr(lbr::Config),
    /// Packets in transit go first, in a share of the cycles (in-transit priority restriction, IPR).
    Ipr(ipr::Config),
}

impl Default for ControlConfig {
    fn default() -> Self {
        Self::None(Nothing {})
    }
}

/// An injection control ready to run.
#[derive(Clone, Debug, Default)]
pub struct InjectionControl {
    /// The signal.
    pub sat: Option<sat::Sat>,
    /// Room that packets leave in an adaptive VC when they enter the network \[phits\].
    pub lbr: u32,
    /// Share of the cycles in which packets in transit go first.
    pub ipr: f64,
}

impl ControlConfig {
    /// Checks the parameters for a network whose links take `latencies` cycles by class, whose buffers hold `buffer` phits and
    /// whose longest packet has `longest`.
    pub fn build(
        &self,
        topology: &Topology,
        latencies: &[u32],
        (buffer, longest): (u32, u32),
    ) -> Result<InjectionControl, ConfigError> {
        match self {
            Self::None(_) => Ok(InjectionControl::default()),
            Self::Sat(config) => {
                let sat = config.build(topology, latencies).map_err(|e| e.within("sat"))?;
                Ok(InjectionControl { sat: Some(sat), ..InjectionControl::default() })
            }
            Self::Lbr(config) => {
                let lbr = config.room(buffer, longest).map_err(|e| e.within("lbr"))?;
                Ok(InjectionControl { lbr, ..InjectionControl::default() })
            }
            Self::Ipr(config) => {
                let ipr = config.check().map_err(|e| e.within("ipr"))?;
                Ok(InjectionControl { ipr, ..InjectionControl::default() })
            }
        }
    }
}
