//! What a snapshot has of nodes with programs.

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

/// The state of a rank on its node.
#[derive(Clone, Serialize, Deserialize)]
pub struct SavedRank {
    /// The node.
    pub node: u32,
    /// The state of the rank.
    pub seat: SeatState,
    /// Messages on their way to the rank.
    pub inbox: InboxState,
    /// Messages all of whose packets are known to come: when they will be there, source, number of the first packet.
    pub there: Vec<(u32, u32, u32)>,
}

impl SavedRank {
    /// The state of a seat at a node, without the messages that will be there.
    pub fn of(node: u32, seat: &Seat) -> Self {
        Self { node, seat: seat.save(), inbox: seat.inbox.save(), there: Vec::new() }
    }

    /// Puts the messages in an order that does not depend on the cut.
    pub fn sort(&mut self) {
        self.there.sort_unstable();
        self.inbox.sort();
    }
}
