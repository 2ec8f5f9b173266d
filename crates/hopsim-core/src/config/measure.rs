//! Warm-up, measurement window, seed and what to record, as written in the document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Warm-up, measurement window, seed and what to record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MeasureConfig {
    /// Cycles before the window \[0 … 3000000000\].
    #[schemars(range(max = 3_000_000_000_u32))]
    pub warmup: u32,
    /// Cycles of the window \[1 … 3000000000\].
    #[schemars(range(min = 1, max = 3_000_000_000_u32))]
    pub cycles: u32,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Equal parts of the window whose spread gives the 95 % confidence intervals \[1 … 10000\]; 1 gives none.
    #[schemars(range(min = 1, max = 10000))]
    pub batches: u32,
    /// Cycles per row of the time series; 0: no time series.
    pub interval: u32,
    /// Record streams to keep besides the summary.
    pub streams: Vec<RecordStream>,
    /// How often to look for packets that wait for each other \[cycles, 1 … 3000000000\].
    #[schemars(range(min = 1, max = 3_000_000_000_u32))]
    pub watchdog: u32,
}

impl Default for MeasureConfig {
    fn default() -> Self {
        Self {
            warmup: 10_000,
            cycles: 10_000,
            seed: 1,
            batches: 10,
            interval: 0,
            streams: Vec::new(),
            watchdog: 10_000,
        }
    }
}

/// A record stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecordStream {
    /// Packets and latency of every node.
    Nodes,
    /// Packets and latency of every router.
    Routers,
    /// Utilisation and occupancy of every link and VC.
    Links,
    /// Histogram of packet latency.
    LatencyHistogram,
}
