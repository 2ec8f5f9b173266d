//! What a snapshot has of nodes that draw packets: types only, which `state.rs` beside this file fills and
//! reads.

use crate::node::SavedNodes;
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

impl SavedNodes for SavedSynthetic {
    fn interface(&mut self, node: u32) -> &mut InterfaceState {
        &mut self.nodes[node as usize].interface
    }
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
    /// Requests and replies that are on their way from a router to the node.
    pub consumed: Vec<SavedConsumption>,
}

/// A request or reply that is on its way from a router to its node.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedConsumption {
    /// The cycle in which the node begins to absorb it.
    pub at: u32,
    /// The node of the network to answer; `NONE` for a reply.
    pub requester: u32,
    /// The cycle in which the request was generated.
    pub requested: u32,
}
