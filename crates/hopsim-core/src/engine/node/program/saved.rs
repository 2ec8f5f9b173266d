//! What a snapshot has of nodes with programs.

use crate::engine::node::program::incoming::InboxState;
use crate::engine::node::program::seat::{Seat, SeatState};
use crate::engine::node::synthetic::saved::Saved as Synthetic;
use serde::{Deserialize, Serialize};

/// The nodes of a network.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Saved {
    /// Those that draw packets.
    pub synthetic: Synthetic,
    /// Those with a rank, in the order of their numbers.
    pub ranks: Vec<RankState>,
}

/// A rank on its node.
#[derive(Clone, Serialize, Deserialize)]
pub struct RankState {
    /// The node.
    pub node: u32,
    /// The rank.
    pub seat: SeatState,
    /// Messages on their way to it.
    pub inbox: InboxState,
    /// Messages all of whose packets are known to come: when they will be there, source, number of the first packet.
    pub there: Vec<(u32, u32, u32)>,
}

impl RankState {
    /// That of a seat at a node, without the messages that will be there.
    pub fn of(node: u32, seat: &Seat) -> Self {
        Self { node, seat: seat.save(), inbox: seat.inbox.save(), there: Vec::new() }
    }

    /// In an order that does not depend on the cut.
    pub fn sort(&mut self) {
        self.there.sort_unstable();
        self.inbox.sort();
    }
}
