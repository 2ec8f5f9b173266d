//! Congestion control: what switches and channel adapters are told by the congestion control manager.
//!
//! Source: InfiniBand Architecture Specification 1.2.1, annex A10; Gran et al., *On the Relation Between Congestion Control, Switch
//! Arbitration and Fairness*, 2011, §II.

use crate::reaction::Reaction;
use crate::time::Ticks;
use std::collections::BTreeMap;

/// How the queues of an output are compared with the thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThresholdMode {
    /// Each queue of the output by itself.
    PerVoq,
    /// The sum of all queues of the output.
    Common,
}

/// When a switch decides whether it marks a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkPoint {
    /// When the head of the packet joins the queue.
    Enqueue,
    /// When the packet is granted.
    Grant,
    /// When the transfer of the packet ends.
    Tail,
    /// When the head of the packet goes onto the link.
    Wire,
}

/// Which eligible packets are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marking {
    /// Each packet with the same probability.
    Random,
    /// One packet after a fixed number of others.
    Periodic,
    /// Each packet with a probability that rises with the bytes in the queues of the output, whether or not that is congested.
    Ecn(Ecn),
}

/// Marks by the length of the queues of an output, as random early detection makes them.
///
/// Source: Floyd, Jacobson, *Random Early Detection Gateways for Congestion Avoidance*, 1993; Zhu et al., SIGCOMM 2015, §3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ecn {
    /// The bytes up to which nothing is marked \[bytes\].
    pub min: u64,
    /// The bytes above which everything is marked; at least `min` \[bytes\].
    pub max: u64,
    /// The probability at `max` \[2^-32, at most 2^32\].
    pub probability: u64,
}

/// Output ports that may be congested without credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VictimMask {
    /// Ports to hosts.
    Hosts,
    /// All ports.
    All,
    /// No ports.
    None,
}

/// How the destination of marked packets tells their source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notification {
    /// A packet for each marked packet of a flow, but for those that come sooner after the last one that was answered.
    Packets {
        /// Least time from one of these packets for a flow to the next; 0: there is one for each marked packet.
        interval: Ticks,
    },
    /// In acknowledgements of the packets of a flow.
    Acknowledgements {
        /// Packets of a flow from one acknowledgement to the next, at most; more than 0.
        every: u32,
        /// Length of an acknowledgement \[bytes\]; at most the longest packet.
        bytes: u32,
    },
}

/// What has a reaction point of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Each flow (queue pair).
    QueuePair,
    /// All flows of a host with one service level.
    ServiceLevel,
}

/// What is set for an output port of a switch, all its VLs alike (`SwitchPortCongestionSetting`, and `Victim_Mask`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRules {
    /// The bytes from which on an output is congested \[bytes\].
    pub high: u64,
    /// The bytes below which an output is no longer congested \[bytes\].
    pub low: u64,
    /// Output ports that may be congested without credits.
    pub victim_mask: VictimMask,
    /// Eligible packets between two marks, in the mean.
    pub marking_rate: u16,
    /// The least size of a marked packet: shorter ones are not marked \[blocks\].
    pub packet_size: u8,
}

/// Congestion control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CongestionControl {
    /// How queues are compared with the thresholds.
    pub mode: ThresholdMode,
    /// What is set for every output port that is no exception.
    pub rules: PortRules,
    /// What is set for the others, by port.
    pub exceptions: BTreeMap<u32, PortRules>,
    /// When packets are marked.
    pub mark_point: MarkPoint,
    /// Which packets are marked.
    pub marking: Marking,
    /// How sources hear of marks.
    pub notification: Notification,
    /// The VL of notification packets and acknowledgements, if it is not that of their flow.
    pub answer_lane: Option<u8>,
    /// What a reaction point belongs to.
    pub level: Level,
    /// What a reaction point does.
    pub reaction: Reaction,
}

impl CongestionControl {
    /// What is set for every port up to this number, in order.
    pub fn by_port(&self, ports: usize) -> impl Iterator<Item = PortRules> {
        (0..ports as u32).map(|port| self.exceptions.get(&port).copied().unwrap_or(self.rules))
    }
}
