//! Nue routing: `hopsim explain nue`.

use super::head::Head;
use super::rules::nue::Nue;
use crate::state::packet::{Choice, Memory};
use crate::state::place::Request;

impl Nue {
    /// The output VCs that a head may use.
    pub fn options(&self, head: &Head) -> Vec<Request> {
        if head.router() == head.destination() { head.ejections() } else { vec![self.choose(head).to] }
    }

    pub fn choose(&self, head: &Head) -> Choice {
        let (here, to) = (head.router(), head.destination());
        if here == to {
            return head.eject();
        }
        let path = self.path(here, to);
        let misrouted = if head.at_injection() {
            path.len() > head.ways().distance(here, to)
        } else {
            head.packet().memory.misrouted
        };
        let request = Request { port: path[0].1, vc: self.vcs[to] };
        let after = Memory { misrouted, ..Memory::default() };
        Choice { to: request, after, fixed: true, others: Vec::new() }
    }
}
