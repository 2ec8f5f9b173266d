//! Workloads: who sends to whom ([`pattern`]), when ([`process`]), from which nodes ([`placement`], [`rank_order`]), what changes
//! during the run ([`changes`]), what is answered ([`request_reply`]) and how long packets are ([`packet_lengths`]); or the packets,
//! one by one ([`packet_list`]).

pub mod changes;
pub mod node_loads;
pub mod packet_lengths;
pub mod packet_list;
pub mod pattern;
pub mod placement;
pub mod process;
pub mod rank_order;
pub mod request_reply;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Shares of nodes or packets.
const SHARES: RangeInclusive<f64> = 0.0..=1.0;

/// Lengths of packets \[phits\].
pub const PACKET_LENGTHS: RangeInclusive<u32> = 1..=4096;

/// Length of packets of which nothing is said \[phits\].
pub const DEFAULT_PACKET_LENGTH: u32 = 8;

/// Synthetic traffic of one job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Traffic")]
pub struct Config {
    /// To whom packets go.
    #[serde(default)]
    pub pattern: pattern::PatternConfig,
    /// When packets are generated.
    #[serde(default)]
    pub process: process::ProcessConfig,
    /// Which nodes offer another load than `process` says; default: none.
    #[serde(default)]
    pub node_loads: node_loads::NodeLoads,
    /// Length of a packet \[phits\]; default 8, but where there are `packet_lengths`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *PACKET_LENGTHS.start(), max = *PACKET_LENGTHS.end()))]
    pub packet_length: Option<u32>,
    /// Lengths between which every packet draws, in place of `packet_length`, as those of control and data packets; default: all packets
    /// have one length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = packet_lengths::Share::EXAMPLE)]
    pub packet_lengths: Option<Vec<packet_lengths::Share>>,
    /// The packets of the job one by one, in place of `pattern` and `process`; default: packets are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet_list: Option<packet_list::PacketListConfig>,
    /// What differs from given cycles on, in their order; default: nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<changes::Change>,
    /// Every packet of the pattern is a request that its destination answers; default: no replies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_reply: Option<request_reply::Config>,
}

impl Config {
    /// Greatest length of the packets, as it is written \[phits\].
    pub fn longest_packet(&self) -> u32 {
        let default = self.packet_length.unwrap_or(DEFAULT_PACKET_LENGTH);
        if let Some(list) = &self.packet_list {
            return list
                .packets()
                .iter()
                .map(|packet| packet.length.unwrap_or(default))
                .max()
                .unwrap_or(default);
        }
        let each = self.packet_lengths.iter().flatten().map(|share| share.length);
        each.max().unwrap_or(default)
    }
}
