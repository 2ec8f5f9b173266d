//! Additive increase, multiplicative decrease, as written in the document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rate that falls by a share of itself with every notification, and rises by the same amount again and again in the time after it
/// (additive increase, multiplicative decrease). At first it is the rate of the host's link, of which all rates are shares.
///
/// Source: Santos, Turner, Janakiraman, *End-to-End Congestion Control for InfiniBand*, INFOCOM 2003. The exact rules are in
/// `docs/infiniband.md`; the defaults are ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Aimd {
    /// What is added to the rate \[share of the link, 0.000001 … 1\].
    #[schemars(range(min = 0.000_001, max = 1.0))]
    pub increase: f64,
    /// What a notification takes off the rate \[share of the rate, 0.000001 … 1\].
    #[schemars(range(min = 0.000_001, max = 1.0))]
    pub decrease: f64,
    /// Time from a notification to the first increase, and from one increase to the next, more than 0.
    #[schemars(example = "50 us")]
    pub period: String,
    /// Least rate \[share of the link, 0.0001 … 1\].
    #[schemars(range(min = 0.000_1, max = 1.0))]
    pub least: f64,
}

impl Default for Aimd {
    fn default() -> Self {
        Self { increase: 0.005, decrease: 0.03, period: "50 us".into(), least: 0.001 }
    }
}
