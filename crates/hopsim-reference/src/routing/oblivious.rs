//! Oblivious routing through an intermediate router: `hopsim explain valiant`.

use super::head::Head;
use super::rules::oblivious::ObliviousRule;
use crate::state::packet::{Choice, Memory};
use crate::state::place::Request;
use hopsim_random::Stream;
use hopsim_routing::detour::IntraGroup;

impl ObliviousRule {
    pub fn choose(&self, head: &Head) -> Choice {
        if !head.at_injection() {
            return self.go_on(head);
        }
        let stays = head.router() == head.destination()
            && head.ways().dragonfly().is_some()
            && self.detour.intra_group == IntraGroup::Minimal;
        if !self.recompute || stays {
            let memory = self.plan(head, &mut head.draws());
            return head.follow(memory, &head.attempt());
        }
        let mut attempt = head.attempt();
        let memory = self.plan(head, &mut attempt);
        head.decide_for(memory, &attempt)
    }

    /// The output VCs that a head may use.
    pub fn options(&self, head: &Head) -> Vec<Request> {
        if !head.at_injection() {
            return head.all_of_next_hop(&self.go_on(head).after);
        }
        if !self.recompute {
            return head.all_of_next_hop(&self.plan(head, &mut head.draws()));
        }
        let here = head.router() == head.destination();
        let ejection = if here { head.ejections() } else { Vec::new() };
        if here && self.detour.is_never_drawn_within(head.ways()) {
            return ejection;
        }
        head.all_links().into_iter().chain(ejection).collect()
    }

    /// What a packet sets out with: a detour and the way to where it ends, out of one stream.
    fn plan(&self, head: &Head, stream: &mut Stream) -> Memory {
        let (here, to) = (head.router(), head.destination());
        let drawn = self.detour.draw(head.ways(), (here, to), stream);
        let via = drawn.filter(|&via| !self.detour.has_reached(head.ways(), here, via));
        let way = head.ways().way(here, via.unwrap_or(to), stream);
        Memory { via, way, misrouted: drawn.is_some(), ..Memory::default() }
    }

    fn go_on(&self, head: &Head) -> Choice {
        let mut memory = head.packet().memory.clone();
        let here = head.router();
        if memory.via.is_some_and(|via| self.detour.has_reached(head.ways(), here, via)) {
            memory.via = None;
            memory.way = head.way_to_destination().to_vec();
        }
        head.follow(memory, &head.attempt())
    }
}
