//! What a snapshot has of nodes that run programs: types only, which `state.rs` beside this file fills and
//! reads.

use crate::kernel::packet::Packet;
use crate::node::SavedNodes;
use crate::node::interface::InterfaceState;
use crate::node::program::incoming::InboxState;
use crate::node::program::seat::{Seat, SeatState};
use crate::node::synthetic::saved::SavedSynthetic;
use serde::{Deserialize, Serialize};

/// The nodes of a network in a snapshot.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct SavedPrograms {
    /// The nodes that draw packets.
    pub synthetic: SavedSynthetic,
    /// The nodes with a rank, in the order of their numbers.
    pub ranks: Vec<SavedRank>,
}

impl SavedNodes for SavedPrograms {
    fn interface(&mut self, node: u32) -> &mut InterfaceState {
        self.synthetic.interface(node)
    }

    fn lose(&mut self, packet: &Packet, node: u32) {
        if let Ok(rank) = self.ranks.binary_search_by_key(&node, |rank| rank.node) {
            self.ranks[rank].inbox.lose(packet.source, packet.serial);
        }
    }
}

/// The state of a rank on its node.
#[derive(Clone, Serialize, Deserialize)]
pub struct SavedRank {
    /// The node.
    pub node: u32,
    /// The state of the rank.
    pub seat: SeatState,
    /// Messages on their way to the rank.
    pub inbox: InboxState,
    /// Messages whose last packets are on their way from a router to the node.
    pub arriving: Vec<SavedArrival>,
}

/// A message whose last packet is on its way from a router to the node of a rank.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SavedArrival {
    /// The cycle in which the message is at its node.
    pub at: u32,
    /// The sending node of the network.
    pub source: u32,
    /// Number of the first packet of the message among the packets of its source.
    pub first_packet: u32,
}

impl SavedRank {
    /// The state of a seat at a node of the network, without the messages that are arriving, which seats do
    /// not know of.
    pub fn of(node: u32, seat: &Seat) -> Self {
        Self { node, seat: seat.save(), inbox: seat.inbox.save(), arriving: Vec::new() }
    }

    /// Puts the messages in an order that does not depend on the cut.
    pub fn sort(&mut self) {
        self.arriving.sort_unstable();
        self.inbox.sort();
    }
}
