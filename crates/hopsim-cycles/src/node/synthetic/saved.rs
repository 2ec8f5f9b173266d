//! What a snapshot has of nodes that draw packets.

use crate::node::interface::InterfaceState;
use crate::node::synthetic::bursts::Bursts;
use crate::node::synthetic::source::TrafficSource;
use hopsim_random::Stream;
use serde::{Deserialize, Serialize};

/// The nodes of a network in a snapshot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SavedSynthetic {
    /// The nodes in the order of their numbers.
    pub nodes: Vec<NodeState>,
    /// Bursts that all nodes of a job begin together.
    pub bursts: Bursts,
}

/// The state of a node.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NodeState {
    /// The network interface of the node.
    pub interface: InterfaceState,
    /// What draws when the node generates packets.
    pub process: Stream,
    /// What draws the destinations of packets.
    pub pattern: Stream,
    /// Number of the next packet of the node.
    pub serial: u32,
    /// Cycle of the next packet.
    pub next_at: u32,
    /// Whether the node lags behind.
    pub lags: bool,
    /// The source of the node, if it is not the plainest.
    pub source: Option<TrafficSource>,
    /// Requests and replies whose consumption begins: when, whom to answer, when they were requested.
    pub consumed: Vec<(u32, u32, u32)>,
}
