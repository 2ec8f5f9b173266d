//! What hosts of a fabric draw, as written in the document.

use super::sizes::SizesConfig;
use crate::config::limits::SERVICE_LEVELS;
use hopsim_traffic::pattern::PatternConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Least and greatest length of a message \[bytes\].
pub const MESSAGE_BYTES: [u64; 2] = [1, 1 << 32];

/// Messages that every node of a job draws: when, and to whom. A message joins the queue of the flow of its source and
/// destination; the packets of a flow go in order, flows of a host take turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessagesConfig {
    /// To whom the messages go.
    #[serde(default)]
    pub pattern: PatternConfig,
    /// Rate that every node offers, in the mean.
    #[schemars(example = "8 Gb/s")]
    pub rate: String,
    /// Length of a message \[bytes, 1 … 4294967296\]; default 2048, without `sizes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = MESSAGE_BYTES[0], max = MESSAGE_BYTES[1]))]
    pub bytes: Option<u64>,
    /// The distribution that every message draws its length from, instead of `bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"web_search")]
    pub sizes: Option<SizesConfig>,
    /// The times from one message of a node to its next.
    #[serde(default)]
    pub gaps: Gaps,
    /// When nodes begin to draw; times count from the beginning of the run, warm-up included.
    #[serde(default = "super::at_once")]
    #[schemars(example = "1 s")]
    pub start: String,
    /// When nodes cease to draw: no message is drawn at this time or later; default: the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "5 s")]
    pub end: Option<String>,
    /// Service level of the messages, which says their VL.
    #[serde(default)]
    #[schemars(range(min = *SERVICE_LEVELS.start(), max = *SERVICE_LEVELS.end()))]
    pub service_level: u8,
}

/// Times between messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gaps {
    /// Times drawn from the exponential distribution: a Poisson process.
    #[default]
    Exponential,
    /// Times that are all alike; the first message of a node comes within one of them.
    Even,
}

impl MessagesConfig {
    /// The length of a message where the document says nothing of it \[bytes\].
    pub const ONE_PACKET: u64 = 2048;
}
