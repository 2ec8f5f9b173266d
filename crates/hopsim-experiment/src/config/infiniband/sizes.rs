//! Sizes of messages that are drawn, as written in the document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The distribution that every message draws its length from. The rate that nodes offer is what the document says, in the mean: the mean
/// time between messages is that of the mean length at this rate. Measured distributions have most messages small and most bytes in large
/// ones, so that the mean over a short window may be far from that.
///
/// Source: inverse transform sampling, Law, *Simulation Modeling and Analysis* (5th ed., 2015), §8.2.1; the rules are in
/// `docs/infiniband.md`, Messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SizesConfig {
    /// Flows of web search, 1.7 MB in the mean: Alizadeh et al., *Data Center TCP (DCTCP)*, SIGCOMM 2010, with the points of the simulator
    /// of HPCC.
    WebSearch,
    /// Flows of a Hadoop cluster at Facebook, 120 kB in the mean: Roy et al., *Inside the Social Network's (Datacenter) Network*, SIGCOMM
    /// 2015, with the points of the simulator of HPCC.
    Hadoop,
    /// Flows of Alibaba's storage, 41 kB in the mean: Li et al., *HPCC: High Precision Congestion Control*, SIGCOMM 2019, with the points
    /// of their simulator.
    AliStorage,
    /// Points [bytes, fraction] of a cumulative distribution: that share of all messages is so long at most. Both ascend, up to the
    /// fraction 1; between two points lengths are equally likely. A first fraction above 0 is the share of messages of its length, and
    /// where a fraction or a length is that of the point before there are no messages between them, or many of that length.
    Points(Vec<[f64; 2]>),
}
