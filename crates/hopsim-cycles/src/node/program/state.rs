//! How nodes with programs get into a snapshot, and out of it.

use crate::kernel::Kernel;
use crate::kernel::ids::{Id as _, RegionNode};
use crate::mode::Mode;
use crate::node::program::saved::{SavedPrograms, SavedRank};
use crate::node::program::seat::Seat;
use crate::node::program::{Programs, There, entry};
use hopsim_network::network::NONE;
use std::cmp::Reverse;

impl Programs {
    /// Adds the nodes of the region to the nodes of a network.
    pub fn save_in<M: Mode>(&self, kernel: &Kernel<'_, M>, saved: &mut SavedPrograms) {
        let Self {
            synthetic,
            seat_of,
            seats,
            there,
            // Of ranks that another simulator drives.
            delivered: _,
            // Follows from the seats, as does what is left; nothing is due between two cycles.
            agenda: _,
            due: _,
            left: _,
            serial_wire: _,
            has_one_wire: _,
            has_traffic: _,
        } = self;
        synthetic.save_in(kernel, &mut saved.synthetic);
        let state = |seat: &Seat| SavedRank::of(kernel.span.node(seat.node), seat);
        let mut states: Vec<SavedRank> = seats.iter().map(state).collect();
        for (at, &There { seat, source, first }) in there.pending(kernel.now) {
            states[seat as usize].there.push((at, source, first));
        }
        // News of messages that the next window would begin with.
        for message in &kernel.messages {
            states[seat_of[kernel.span.node_here(message.to)] as usize].inbox.expect(message);
        }
        states.iter_mut().for_each(SavedRank::sort);
        states.sort_unstable_by_key(|state| state.node);
        saved.ranks.append(&mut states);
    }

    /// Goes on, before anything has happened, with the nodes of the region among those of a network.
    pub fn load_from<M: Mode>(&mut self, kernel: &Kernel<'_, M>, saved: &SavedPrograms) {
        let SavedPrograms { synthetic, ranks } = saved;
        self.synthetic.load_from(kernel, synthetic);
        let first = kernel.span.first_node;
        self.agenda.clear();
        for SavedRank { node, seat, inbox, there } in ranks {
            let Some(place) = node.checked_sub(first).filter(|&node| (node as usize) < kernel.span.nodes)
            else {
                continue;
            };
            let number = self.seat_of[RegionNode::at(place as usize)];
            debug_assert!(number != NONE, "the programs are those of the snapshot");
            let own = &mut self.seats[number as usize];
            own.load(seat);
            own.inbox.load(inbox);
            if own.wakes_at < u32::MAX {
                self.agenda.push(Reverse(entry(own.wakes_at, number)));
            }
            for &(at, source, first) in there {
                self.there.push(at, There { seat: number, source, first });
            }
        }
        self.left = self.seats.iter().filter(|seat| !seat.is_endless && !seat.is_done()).count();
    }
}
