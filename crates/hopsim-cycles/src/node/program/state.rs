//! Saving the nodes that run programs to a snapshot, and loading them from one. The types of what is saved
//! are in `saved.rs`.
//!
//! `mod.rs` calls both functions for the trait `Nodes`, for each region in turn, between two cycles when no
//! mail is under way: see `state.rs` of the crate. A snapshot knows nothing of regions. So saving adds to one
//! list for the whole network, by the numbers that nodes have in it, and loading picks the nodes of its
//! region from that list, however the network is cut then. Saving changes nothing in the simulation; loading
//! changes the nodes of the region only.

use crate::kernel::Kernel;
use crate::kernel::ids::{Id as _, RegionNode};
use crate::mode::Mode;
use crate::node::program::saved::{SavedArrival, SavedPrograms, SavedRank};
use crate::node::program::seat::Seat;
use crate::node::program::{ArrivingMessage, Programs, entry};
use hopsim_network::network::NONE;
use std::cmp::Reverse;

impl Programs {
    /// Adds the state of the nodes of the region to `saved`.
    pub fn save_in<M: Mode>(&self, kernel: &Kernel<'_, M>, saved: &mut SavedPrograms) {
        let Self {
            synthetic,
            seat_of,
            seats,
            arriving,
            // Only ranks that another simulator drives have any, and such runs take no snapshots.
            delivered: _,
            // Loading makes it anew from the cycles in which the seats wake.
            agenda: _,
            // Between two cycles nothing is due.
            due: _,
            // Loading counts them anew.
            ranks_left: _,
            // What follows is constant.
            serial_wire: _,
            books_wires: _,
            has_traffic: _,
        } = self;
        synthetic.save_in(kernel, &mut saved.synthetic);
        // As seats are numbered, until all that belongs to a seat has been found.
        let rank = |seat: &Seat| SavedRank::of(kernel.span.node(seat.node), seat);
        let mut ranks: Vec<SavedRank> = seats.iter().map(rank).collect();
        for (at, &ArrivingMessage { seat, source, first_packet }) in arriving.pending(kernel.now) {
            ranks[seat as usize].arriving.push(SavedArrival { at, source, first_packet });
        }
        // Notes of messages that have come by mail and that inboxes get only when the next window begins.
        for message in &kernel.messages {
            ranks[seat_of[kernel.span.node_here(message.to)] as usize].inbox.expect(message);
        }
        ranks.iter_mut().for_each(SavedRank::sort);
        ranks.sort_unstable_by_key(|rank| rank.node);
        saved.ranks.append(&mut ranks);
    }

    /// Gives the nodes of the region, to which nothing has happened yet, the state that they have in `saved`,
    /// and skips the nodes of other regions.
    pub fn load_from<M: Mode>(&mut self, kernel: &Kernel<'_, M>, saved: &SavedPrograms) {
        let SavedPrograms { synthetic, ranks } = saved;
        self.synthetic.load_from(kernel, synthetic);
        let (first_node, nodes) = (kernel.span.first_node, kernel.span.nodes);
        // A new region has booked the beginnings of its programs.
        self.agenda.clear();
        for SavedRank { node, seat: saved_seat, inbox, arriving } in ranks {
            let Some(place) = node.checked_sub(first_node).filter(|&place| (place as usize) < nodes) else {
                continue;
            };
            let number = self.seat_of[RegionNode::at(place as usize)];
            debug_assert!(number != NONE, "the programs are those of the snapshot");
            let seat = &mut self.seats[number as usize];
            seat.load(saved_seat);
            seat.inbox.load(inbox);
            if seat.wakes_at < u32::MAX {
                self.agenda.push(Reverse(entry(seat.wakes_at, number)));
            }
            for &SavedArrival { at, source, first_packet } in arriving {
                self.arriving.push(at, ArrivingMessage { seat: number, source, first_packet });
            }
        }
        self.ranks_left = self.seats.iter().filter(|seat| !seat.is_endless && !seat.is_done()).count();
    }
}
