//! Up*/down* routing: `hopsim explain up_down`.

use super::head::{Goal, Head};
use super::rules::up_down::{UpDown, leads_up};
use super::tables::Spot;
use crate::state::packet::{Choice, Memory};
use crate::state::place::Request;

impl UpDown {
    /// The output VCs that a head may use.
    pub fn options(&self, head: &Head) -> Vec<Request> {
        let to = self.choose(head).to;
        if head.router() == head.destination() { vec![to] } else { head.all_of(to.port, Goal::Destination) }
    }

    pub fn choose(&self, head: &Head) -> Choice {
        let (here, to) = (head.router(), head.destination());
        if here == to {
            return head.eject();
        }
        let went_down = |from: usize| !leads_up(&self.depth, from, here);
        let only_down = head.hops().last().is_some_and(|hop| went_down(hop.router as usize));
        let place: Spot = (only_down, here);
        let (_, port) = self.tables.step(place, to).link;
        let misrouted = if head.at_injection() {
            self.tables.path(place, to).len() > head.ways().distance(here, to)
        } else {
            head.packet().memory.misrouted
        };
        Choice { after: Memory { misrouted, ..Memory::default() }, ..head.ask(port) }
    }
}
