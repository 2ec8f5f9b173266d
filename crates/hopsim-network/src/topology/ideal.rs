//! The ideal network: see [`Config`].

use super::{Interconnect, MAX_PORTS, Parameters, PortClass};
use crate::by_class::ByClass;
use crate::error::{ConfigError, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// How packets come in at a node of an ideal network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Incoming {
    /// Any number at once.
    #[default]
    Unlimited,
    /// One after the other, in order of the cycles in which their heads are there, then of source, then of number.
    Serial,
}

/// No routers, links or queues: whatever is under way, a message of M phits that begins to leave at cycle t is there at cycle
/// t + `latency` + M · `cycles_per_phit`, and keeps the wire of its node for M · `cycles_per_phit` cycles. For programs only.
///
/// The `LogGP` model with o = g = 0: what a program needs besides the network, and a reference for simulators of programs.
///
/// Source: Alexandrov et al., SPAA 1995 (`LogGP`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "IdealTopology")]
pub struct Config {
    /// Number of nodes \[1 …\].
    #[schemars(range(min = 1))]
    pub nodes: u32,
    /// Latency from node to node \[cycles\].
    #[schemars(range(min = *LATENCY.start(), max = *LATENCY.end()))]
    pub latency: u32,
    /// Cycles that a wire takes for a phit; 0: messages have no length.
    #[serde(default = "one")]
    #[schemars(range(min = *PACE.start(), max = *PACE.end()))]
    pub cycles_per_phit: u32,
    /// How packets come in.
    #[serde(default)]
    pub ejection: Incoming,
}

/// Latencies from node to node \[cycles\].
const LATENCY: RangeInclusive<u32> = 1..=1_000_000_000;

/// Cycles that a wire may take for a phit.
const PACE: RangeInclusive<u32> = 0..=64;

fn one() -> u32 {
    1
}

/// An ideal network. Every node hangs from a router of its own, which nothing passes.
#[derive(Clone, Debug)]
pub struct Ideal {
    /// What the document says.
    pub config: Config,
}

impl Interconnect for Ideal {
    fn routers(&self) -> u32 {
        self.config.nodes
    }

    fn nodes_per_router(&self) -> u32 {
        1
    }

    fn ports(&self) -> Vec<PortClass> {
        vec![PortClass::Terminal]
    }

    fn neighbour(&self, _: u32, _: usize) -> Option<(u32, usize)> {
        None
    }

    fn minimal_port(&self, _: u32, _: u32, _: u16) -> (usize, u8) {
        (0, 0)
    }

    fn diameter(&self) -> u32 {
        0
    }

    fn minimal_hops(&self, _: u32, _: u32) -> ByClass<u16> {
        ByClass::default()
    }
}

impl Parameters for Config {
    type Built = Ideal;

    fn build(&self) -> Result<Ideal, ConfigError> {
        within(1..=MAX_PORTS, u64::from(self.nodes), "nodes")?;
        within(LATENCY, self.latency, "latency")?;
        within(PACE, self.cycles_per_phit, "cycles_per_phit")?;
        Ok(Ideal { config: self.clone() })
    }

    fn beyond_links(&self) -> Option<(&'static str, &'static str)> {
        Some(("", "an ideal network has no links that could fail"))
    }
}
