//! Congestion control: what switches and channel adapters are told by the congestion control manager.
//!
//! Source: InfiniBand Architecture Specification 1.2.1, annex A10; Gran et al., *On the Relation Between Congestion Control, Switch
//! Arbitration and Fairness*, 2011, §II.

use crate::reaction::Reaction;

/// What the occupancy of the queues of an output is compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThresholdMode {
    /// Every queue with the thresholds.
    PerVoq,
    /// The sum of all queues.
    Common,
}

/// When a switch decides whether it marks a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkPoint {
    /// When its head joins the queue.
    Enqueue,
    /// When it is granted.
    Grant,
    /// When its transfer ends.
    Tail,
    /// When its head goes onto the link.
    Wire,
}

/// Which eligible packets are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marking {
    /// Each with the same probability.
    Random,
    /// One after a fixed number of others.
    Periodic,
}

/// Output ports that may be congested without credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VictimMask {
    /// Ports to hosts.
    Hosts,
    /// All ports.
    All,
    /// None.
    None,
}

/// How the destination of marked packets tells their source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notification {
    /// A packet for each of them.
    Packets,
    /// In acknowledgements of the packets of a flow.
    Acknowledgements {
        /// Packets of a flow from one to the next, at most; more than 0.
        every: u32,
        /// Length of one \[bytes\]; at most the longest packet.
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

/// Congestion control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CongestionControl {
    /// What is compared with the thresholds.
    pub mode: ThresholdMode,
    /// From so much on an output is congested \[bytes\].
    pub high: u64,
    /// Below so much it no longer is \[bytes\].
    pub low: u64,
    /// Ports that need no credits for it.
    pub victim_mask: VictimMask,
    /// When packets are marked.
    pub mark_point: MarkPoint,
    /// Which packets are marked.
    pub marking: Marking,
    /// Eligible packets between two marks, in the mean.
    pub marking_rate: u16,
    /// Shorter packets are not marked \[blocks\].
    pub packet_size: u8,
    /// How sources hear of marks.
    pub notification: Notification,
    /// What a reaction point belongs to.
    pub level: Level,
    /// What a reaction point does.
    pub reaction: Reaction,
}
