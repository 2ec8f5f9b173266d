//! What hosts of a fabric send, as written in the document.

use crate::config::limits::SERVICE_LEVELS;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The flows of a job: a list, or a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FlowsConfig {
    /// The flows, written here.
    Listed(Vec<FlowConfig>),
    /// The flows, in a file.
    Table(FlowsFile),
}

/// Flows in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowsFile {
    /// A table of comma-separated values, relative to the directory of the experiment. Its first line names the columns in any
    /// order: the keys of a flow. `source` and `destination` must be there; what is empty has its default.
    pub file: String,
}

/// What a host sends to another one, a queue pair of InfiniBand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowConfig {
    /// Name in the results; default `flow0`, `flow1`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The node that sends.
    #[schemars(example = 0)]
    pub source: u32,
    /// The node that receives, another one.
    #[schemars(example = 1)]
    pub destination: u32,
    /// When the flow begins, within `host.start_jitter`; times count from the beginning of the run, warm-up included.
    #[serde(default = "super::at_once")]
    #[schemars(example = "1 s")]
    pub start: String,
    /// When the flow ends: no packet of it begins at this time or later; default: the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "5 s")]
    pub end: Option<String>,
    /// Greatest rate of the flow; default: what its host can send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "8 Gb/s")]
    pub rate: Option<String>,
    /// What the flow has to send \[bytes, 1 …\]; default: it never ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub bytes: Option<u64>,
    /// Service level of the flow, which says its VL.
    #[serde(default)]
    #[schemars(range(min = *SERVICE_LEVELS.start(), max = *SERVICE_LEVELS.end()))]
    pub service_level: u8,
}
