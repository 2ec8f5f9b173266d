//! Output ports for which congestion control has values of their own, as written in the document.

use super::congestion::VictimMask;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Output ports of switches for which congestion control has values of their own, in all their VLs. One of `ports`, `switch`, `node` and
/// `between` names the ports, or `switch` together with `ports` or `port`. A key that is not given is as for all ports; of several
/// exceptions with a key, the last one that names the port counts for it.
///
/// Source: `SwitchPortCongestionSetting` and `Victim_Mask` of the InfiniBand Architecture Specification 1.2.1, annex A10; Gran et al.
/// (2011), §II.B: the threshold "could be set to a different level for each port".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortException {
    /// All ports to hosts, or to switches: of `switch`, or of all switches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ports: Option<PortKind>,
    /// The switch whose ports these are: all of them, unless `ports` or `port` says which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = 3)]
    pub switch: Option<u32>,
    /// The port of `switch`, counted as in the stream `queue_series`: from 0 among those that are plugged, first those to hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = 0)]
    pub port: Option<u32>,
    /// The node to which the port leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = 5)]
    pub node: Option<u32>,
    /// The two switches whose ports to each other these are, in both directions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<[u32; 2]>,
    /// When such a port is congested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<PortThresholds>,
    /// Which of these ports may be congested without having credits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub victim_mask: Option<VictimMask>,
    /// Packets that are not marked for one that is, in the mean (`Marking_Rate`) \[0 … 65535\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking_rate: Option<u16>,
    /// Shorter packets are not marked (`Packet_Size`) \[64 bytes, 0 … 255\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet_size: Option<u8>,
}

/// What ports lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PortKind {
    /// Ports to hosts.
    Hosts,
    /// Ports to switches.
    Switches,
}

/// The thresholds of ports that are exceptions. The upper one is `high` or `weight`, the lower one `low` or `distance`; one that is not
/// given is said as for all ports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PortThresholds {
    /// The upper threshold: a number and B, kB, KiB or MTU, at most the smallest input buffer of a VL.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "2 MTU")]
    pub high: Option<String>,
    /// The lower threshold, at most the upper one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "0.9 MTU")]
    pub low: Option<String>,
    /// Weight that gives the upper threshold instead of `high`: (16 − weight) / 16 of the input buffer of a VL of a port to a
    /// host; 0: nothing is marked \[0 … 15\].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 15))]
    pub weight: Option<u8>,
    /// Distance of the lower threshold from the upper one, instead of `low`: less than the upper one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "1.1 MTU")]
    pub distance: Option<String>,
}
