//! Congestion control: what switches and channel adapters are told by the congestion control manager.
//!
//! Source: InfiniBand Architecture Specification 1.2.1, annex A10; Gran et al., *On the Relation Between Congestion Control, Switch
//! Arbitration and Fairness*, 2011, §II.

use crate::time::Ticks;

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

/// What has a congestion control table index of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Each flow (queue pair).
    QueuePair,
    /// All flows of a host with one service level.
    ServiceLevel,
}

/// When the timer runs that lets flows recover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// Always.
    Free,
    /// While some index is above its minimum.
    OnDemand,
}

/// An entry of the congestion control table: by what the time of a packet is multiplied, over 2^shift.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// \[0 … 3\]
    pub shift: u8,
    /// \[0 … 16383\]
    pub multiplier: u16,
}

impl Delay {
    /// The injection rate delay of a packet that takes so long on the link.
    #[inline]
    pub fn of(self, packet: Ticks) -> Ticks {
        (packet * u64::from(self.multiplier)) >> self.shift
    }
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
    /// What an index belongs to.
    pub level: Level,
    /// When the timer runs.
    pub timer: Timer,
    /// Period of the timer \[ticks\]; 0: indices never fall.
    pub period: Ticks,
    /// What a notification adds to the index.
    pub increase: u8,
    /// Greatest index.
    pub limit: u16,
    /// Least index.
    pub minimum: u16,
    /// The table: entry 0 is no delay.
    pub table: Vec<Delay>,
}
