//! What a snapshot has of nodes that draw packets.

use crate::engine::node::interface::InterfaceState;
use crate::engine::node::synthetic::bursts::Bursts;
use crate::engine::node::synthetic::source::Source;
use hopsim_random::Stream;
use serde::{Deserialize, Serialize};

/// The nodes of a network.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Saved {
    /// In the order of their numbers.
    pub nodes: Vec<NodeState>,
    /// Bursts in step.
    pub bursts: Bursts,
}

/// A node.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NodeState {
    /// Its network interface.
    pub interface: InterfaceState,
    /// What draws when it generates packets.
    pub process: Stream,
    /// What draws their destinations.
    pub pattern: Stream,
    /// Number of its next packet.
    pub serial: u32,
    /// Cycle of the next packet.
    pub next_at: u32,
    /// Whether it lags behind.
    pub lags: bool,
    /// Its source, if it is not the plainest.
    pub source: Option<Source>,
    /// Requests and replies whose consumption begins: when, whom to answer, when they were requested.
    pub consumed: Vec<(u32, u32, u32)>,
}
