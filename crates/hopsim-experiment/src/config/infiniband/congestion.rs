//! Congestion control of InfiniBand, as written in the document.

use super::port_exceptions::PortException;
use crate::config::limits::SERVICE_LEVELS;
use hopsim_infiniband::reaction::ReactionConfig;
use hopsim_infiniband::reaction::table::{Cct, TableName, Timer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use std::ops::RangeInclusive;

/// Packets that may be acknowledged together.
pub const ACKNOWLEDGED: RangeInclusive<u32> = 1..=65_535;

/// Probabilities of a mark.
pub const PROBABILITIES: RangeInclusive<f64> = 0.000_001..=1.0;

/// Lengths of an acknowledgement \[bytes\].
pub const LENGTHS: RangeInclusive<u32> = 1..=256;

/// Switches mark packets that leave through a congested output; the destination of a marked packet notifies the source, by a packet of
/// its own or in an acknowledgement; the source then waits longer between packets, as `reaction` says: `timer`, `ccti_timer`,
/// `ccti_increase`, `ccti_limit`, `ccti_min` and `cct` are of the reaction `table` alone.
///
/// Source: InfiniBand Architecture Specification 1.2.1, annex A10; Gran et al. (2011), §II. The exact rules are in
/// `docs/infiniband.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CongestionControlConfig {
    /// When an output is congested.
    pub thresholds: Thresholds,
    /// Output ports that may be congested without having credits: those of victims.
    pub victim_mask: VictimMask,
    /// When it is decided whether a packet is marked.
    pub mark_point: MarkPoint,
    /// Which eligible packets are marked.
    pub marking: Marking,
    /// Packets that are not marked for one that is, in the mean (`Marking_Rate`) \[0 … 65535\]; default 1, and with the reaction
    /// `table` at links of hosts on which a packet of `mtu` bytes takes less than 512 ns: marks are at least 512 ns apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marking_rate: Option<u16>,
    /// Shorter packets are not marked (`Packet_Size`) \[64 bytes, 0 … 255\].
    pub packet_size: u8,
    /// How the destination of marked packets notifies their source.
    pub notification: Notification,
    /// Output ports with values of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<PortException>,
    /// What reacts to notifications on its own.
    pub level: Level,
    /// What a source does about notifications.
    pub reaction: ReactionConfig,
    /// When the timer runs.
    pub timer: Timer,
    /// Period in which the timer lowers every index by 1; 0: indices never fall, and flows never recover
    /// \[1.024 us, 0 … 65535\]; default the time of 128 · (`marking_rate` + 1) packets of `mtu` bytes on a link of a
    /// host: 64 contributors keep their indices if half of their packets are eligible for marks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ccti_timer: Option<u16>,
    /// What a notification adds to the index \[0 … 255\].
    pub ccti_increase: u8,
    /// Greatest index, within the table.
    pub ccti_limit: u16,
    /// Least index, at most `ccti_limit`.
    pub ccti_min: u16,
    /// The congestion control table.
    pub cct: Cct,
}

impl Default for CongestionControlConfig {
    fn default() -> Self {
        Self {
            thresholds: Thresholds::default(),
            victim_mask: VictimMask::Hosts,
            mark_point: MarkPoint::Wire,
            marking: Marking::Random,
            marking_rate: None,
            packet_size: 0,
            notification: Notification::Packets(Packets::default()),
            exceptions: Vec::new(),
            level: Level::Qp,
            reaction: ReactionConfig::Table,
            timer: Timer::Free,
            ccti_timer: None,
            ccti_increase: 1,
            ccti_limit: 127,
            ccti_min: 0,
            cct: Cct::Named(TableName::Quartic),
        }
    }
}

/// When an output and VL are congested: from `high` bytes in a queue on, until less than `low` are left in each. With `low` =
/// `high` there is one threshold; Gran et al. (2011) found that flows are treated fairly if they differ by more than a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Thresholds {
    /// What is compared with the two thresholds.
    pub mode: ThresholdMode,
    /// The upper threshold: a number and B, kB, KiB or MTU, at most the smallest input buffer of a VL; default `4 MTU`, and as
    /// many whole packets more as the faster of the links to hosts and between switches carries in `switch.input_latency`: so
    /// many are in the queue of every flow that comes at that rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "4 MTU")]
    pub high: Option<String>,
    /// The lower threshold, at most `high`; default `0.9 MTU`, and, where `high` is not given either, as many packets more as its
    /// default has.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "0.9 MTU")]
    pub low: Option<String>,
    /// Weight that gives the upper threshold instead of `high`: (16 − weight) / 16 of the input buffer of a VL of a port to a
    /// host; 0: nothing is marked \[0 … 15\].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 15))]
    pub weight: Option<u8>,
    /// Distance of the lower threshold from the upper one, instead of `low`: less than the upper one; default `3.1 MTU` where
    /// `weight` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "3.1 MTU")]
    pub distance: Option<String>,
}

/// What is compared with the thresholds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdMode {
    /// The bytes of each virtual output queue: one above `high` is enough, and all must be below `low`.
    #[default]
    PerVoq,
    /// The bytes of all virtual output queues of the output and VL together.
    Common,
}

/// Output ports that may be congested without having credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VictimMask {
    /// Output ports to hosts, which never find that they are congested.
    Hosts,
    /// All output ports.
    All,
    /// No output ports: one without credits is a victim of congestion elsewhere.
    None,
}

/// When it is decided whether a packet is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MarkPoint {
    /// When the head of the packet joins the queue, the packet itself counted.
    Enqueue,
    /// When the packet is granted the output.
    Grant,
    /// When the packet has left the queue, still counted there.
    Tail,
    /// When the head of the packet goes onto the link.
    Wire,
}

/// Which eligible packets are marked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Marking {
    /// Each packet with probability 1 / (`marking_rate` + 1).
    Random,
    /// The last of every `marking_rate` + 1 packets of a port and VL.
    Periodic,
    /// By the bytes that wait for the output, whether or not it is congested: there are neither `thresholds` nor `victim_mask` nor
    /// `marking_rate`.
    Ecn(EcnConfig),
}

/// Explicit congestion notification (ECN) as Ethernet switches have it, by random early detection.
///
/// With up to `min` bytes in the queues of an output and VL nothing is marked, with more than `max` everything, and in between with a
/// probability that rises evenly from 0 to `probability`.
///
/// Source: Floyd, Jacobson, *Random Early Detection Gateways for Congestion Avoidance*, 1993; Zhu et al., SIGCOMM 2015 (DCQCN), §3.1,
/// with the values there of `K_min`, `K_max` and `P_max`. The exact rules are in `docs/infiniband.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Ecn")]
pub struct EcnConfig {
    /// Up to so many bytes nothing is marked: a number and B, kB, KiB or MTU.
    #[schemars(example = "5 kB")]
    pub min: String,
    /// Above so many bytes everything is marked; at least `min`.
    #[schemars(example = "200 kB")]
    pub max: String,
    /// The probability of a mark with `max` bytes.
    #[schemars(range(min = *PROBABILITIES.start(), max = *PROBABILITIES.end()))]
    pub probability: f64,
}

impl Default for EcnConfig {
    fn default() -> Self {
        Self { min: "5 kB".into(), max: "200 kB".into(), probability: 0.01 }
    }
}

/// How the destination of marked packets notifies their source.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Notification {
    /// By a congestion notification packet of 64 bytes for each marked packet, or for one in `interval`.
    Packets(Packets),
    /// In the acknowledgements of reliable connections.
    Acknowledgements(Acknowledgements),
}

impl Serialize for Notification {
    /// As derived, but for packets without more, which are a name.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Packets(packets) if *packets == Packets::default() => serializer.serialize_str("packets"),
            Self::Packets(packets) => {
                serializer.serialize_newtype_variant("Notification", 0, "packets", packets)
            }
            Self::Acknowledgements(how) => {
                serializer.serialize_newtype_variant("Notification", 1, "acknowledgements", how)
            }
        }
    }
}

/// The destination of marked packets sends the source congestion notification packets.
///
/// Source: InfiniBand Architecture Specification 1.2.1, annex A10; with `interval` Zhu et al., SIGCOMM 2015 (DCQCN), §3.1, "NP algorithm".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "NotificationPackets")]
pub struct Packets {
    /// Least time from one notification packet for a flow to the next: marks that come sooner are not answered; DCQCN has 50 us. With 0
    /// every mark is answered.
    #[schemars(example = "50 us")]
    pub interval: String,
    /// Service level of these packets, which says their VL. Default: they go in the VL of the packets that they are about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *SERVICE_LEVELS.start(), max = *SERVICE_LEVELS.end()))]
    pub service_level: Option<u8>,
}

impl Default for Packets {
    fn default() -> Self {
        Self { interval: "0 s".into(), service_level: None }
    }
}

/// Every flow is a reliable connection: its destination acknowledges packets, together with others as may be, and an acknowledgement
/// notifies of marks (its BECN bit) if one of them had one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Acknowledgements {
    /// Packets of a flow that are acknowledged together, at most: fewer at the end of a message.
    #[schemars(range(min = *ACKNOWLEDGED.start(), max = *ACKNOWLEDGED.end()))]
    pub every: u32,
    /// Length of an acknowledgement \[bytes\].
    #[schemars(range(min = *LENGTHS.start(), max = *LENGTHS.end()))]
    pub bytes: u32,
    /// Service level of acknowledgements, which says their VL. Default: they go in the VL of the packets that they are about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *SERVICE_LEVELS.start(), max = *SERVICE_LEVELS.end()))]
    pub service_level: Option<u8>,
}

impl Default for Acknowledgements {
    fn default() -> Self {
        Self { every: 1, bytes: 64, service_level: None }
    }
}

/// What reacts to notifications on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Each flow: a queue pair.
    Qp,
    /// All flows of a host with one service level: one that contributes to congestion slows down the others.
    Sl,
}
