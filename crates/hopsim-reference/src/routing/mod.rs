//! Where packets go: the reference's own decisions.
//!
//! The decisions are written from `docs/model.md` and from what `hopsim explain` says of the mechanisms, and share with the
//! engine the links, the document and the random streams only. A decision is a function of the packet's life so far, of its
//! router as it is at this moment, and of named random numbers; it is made anew whenever somebody asks. What a packet carries
//! along ([`Memory`](crate::state::packet::Memory)) is what it has planned at a router that it has left.

mod adaptive;
mod detour;
pub mod families;
pub mod faults;
mod fpar;
mod head;
mod in_transit;
mod multipath;
mod nue;
mod o1turn;
mod oblivious;
mod polarized;
pub mod rules;
mod source;
mod tables;
mod trigger;
mod up_down;
mod vcs;
pub mod ways;

use crate::simulator::Simulator;
use crate::state::packet::{Aim, Choice};
use crate::state::place::{Place, Request};
use head::Head;
use hopsim_network::topology::{LOCAL, PortClass};
use rules::Mechanism;

impl Simulator<'_> {
    /// Where the head of a VC wants to go in this attempt, and what its packet remembers if it is granted that; `None` if no
    /// head takes part or it asks for nothing.
    pub(crate) fn route(&mut self, place: Place, when: u64) -> Option<Choice> {
        if !self.takes_part(place) {
            return None;
        }
        let (router, input, vc) = place;
        if let Some(choice) = &self.routers[router].inputs[input].vcs[vc][0].settled {
            return Some(choice.clone());
        }
        let choice = self.choose(&Head::new(self, place, when))?;
        if choice.fixed {
            self.routers[router].inputs[input].vcs[vc][0].settled = Some(choice.clone());
        }
        // What it remembers even if it is refused.
        let packet = self.head(router, input, vc);
        let memory = &mut self.packets[packet].memory;
        memory.insists = memory.insists.or(choice.after.insists);
        memory.stays |= choice.after.stays;
        memory.decreasing = memory.decreasing.or(choice.after.decreasing);
        Some(choice)
    }

    fn choose(&self, head: &Head) -> Option<Choice> {
        match &self.rules.mechanism {
            Mechanism::Minimal => Some(head.follow_minimal_way()),
            Mechanism::Oblivious(rule) => Some(rule.choose(head)),
            Mechanism::Source(rule) => Some(rule.choose(head)),
            Mechanism::InTransit(rule) => rule.choose(head),
            Mechanism::Adaptive => adaptive::choose(head),
            Mechanism::UpDown(rule) => Some(rule.choose(head)),
            Mechanism::Nue(rule) => Some(rule.choose(head)),
            Mechanism::Fpar(rule) => rule.choose(head),
            Mechanism::O1turn(rule) => Some(o1turn::choose(*rule, head)),
            Mechanism::Multipath(rule) => Some(rule.choose(head)),
            Mechanism::Polarized(penalties) => polarized::choose(*penalties, head),
        }
    }

    /// The output VCs that the packet at a position of a VC, which goes next, may use, whether it could be granted them or not.
    pub(crate) fn options(&self, place: Place, position: usize) -> Vec<Request> {
        let head = &Head::next(self, place, position);
        match &self.rules.mechanism {
            Mechanism::Minimal => head.all_of_next_hop(&head.follow_minimal_way().after),
            Mechanism::Oblivious(rule) => rule.options(head),
            Mechanism::Source(rule) => rule.options(head),
            Mechanism::InTransit(rule) => rule.options(head),
            Mechanism::Adaptive => adaptive::options(head),
            Mechanism::UpDown(rule) => rule.options(head),
            Mechanism::Nue(rule) => rule.options(head),
            Mechanism::Fpar(rule) => rule.options(head),
            Mechanism::O1turn(rule) => o1turn::options(*rule, head),
            Mechanism::Multipath(rule) => rule.options(head),
            Mechanism::Polarized(_) => polarized::options(head),
        }
    }

    /// What the head of a VC counts for in the contention counters, which only mechanisms that decide in transit read.
    pub(crate) fn aim(&self, router: usize, input: usize, vc: usize) -> Aim {
        let head = Head::new(self, (router, input, vc), 0);
        let port = match head.way_to_destination().first() {
            Some(&(_, port)) => port,
            None => head.ejection().port,
        };
        let (here, there) = (self.rules.ways.group(router), self.rules.ways.group(head.destination()));
        let local = self.routers[router].inputs[input].class == PortClass::Link(LOCAL);
        Aim { port, group: Some(there).filter(|_| !local && here != there) }
    }
}
