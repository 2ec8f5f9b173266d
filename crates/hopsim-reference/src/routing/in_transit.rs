//! Minimal output or misroute, decided in every router: `hopsim explain olm`, `par`.

use super::head::{Goal, Head};
use super::rules::in_transit::InTransitRule;
use super::trigger::LinkOutput;
use crate::state::packet::{Choice, Memory};
use crate::state::place::Request;
use hopsim_measure::trace::Hop;
use hopsim_network::topology::{GLOBAL, LOCAL};
use hopsim_random::Stream;
use hopsim_routing::in_transit::{Candidates, MisroutePolicy};

impl InTransitRule {
    pub fn choose(&self, head: &Head) -> Option<Choice> {
        let memory = head.packet().memory.clone();
        let way = head.way_to_destination();
        let Some(&(_, port)) = way.first() else { return Some(head.eject()) };
        let mut attempt = head.attempt();
        let Some(misroute) = self.misroute(head, port) else {
            return Some(head.ask(port));
        };
        let minimal = LinkOutput::new(head, head.pick(port, Goal::Destination, &attempt));
        let due = misroute == Misroute::Due;
        if due || self.trigger.fires(head, minimal) {
            let class = match misroute {
                Misroute::Local => LOCAL,
                Misroute::Global | Misroute::Due => GLOBAL,
                Misroute::Either => {
                    let routers = head.ways().dragonfly().map_or(1, |shape| shape.a as u32);
                    if attempt.below(routers) > 0 { LOCAL } else { GLOBAL }
                }
            };
            if let Some(to) = self.find(head, (class, due), minimal, &mut attempt) {
                let after = Memory { misrouted: true, ..memory };
                return Some(Choice { to, after, fixed: false, others: Vec::new() });
            }
        }
        // A packet for which a global link is due takes no local one.
        let refused = due && minimal.class == LOCAL;
        Some(Choice { to: minimal.request, after: memory, fixed: false, others: Vec::new() })
            .filter(|_| !refused)
    }

    /// The output VCs that a head may use.
    pub fn options(&self, head: &Head) -> Vec<Request> {
        let way = head.way_to_destination();
        let Some(&(_, port)) = way.first() else { return head.ejections() };
        let classes: &[u8] = match self.misroute(head, port) {
            None => &[],
            Some(Misroute::Local) => &[LOCAL],
            Some(Misroute::Global | Misroute::Due) => &[GLOBAL],
            Some(Misroute::Either) => &[LOCAL, GLOBAL],
        };
        let mut options = head.all_of(port, Goal::Destination);
        for &class in classes {
            let ports = head.ways().dragonfly().map_or(0..0, |shape| shape.ports(class));
            options.extend(ports.flat_map(|port| head.all_of(port, Goal::Misroute)));
        }
        options
    }

    /// The misroute that a head may look for whose minimal path goes on by `port`.
    fn misroute(&self, head: &Head, port: usize) -> Option<Misroute> {
        let ways = head.ways();
        let (here, source) = (ways.group(head.router()), ways.group(head.source()));
        let there = ways.group(head.destination());
        // Those over local links, since it has come into the group.
        let in_this_group = |hop: &&Hop| ways.group(hop.router as usize) == here;
        let hops: Vec<&Hop> = head.hops().iter().rev().take_while(in_this_group).collect();
        let misrouted = hops.iter().any(|hop| was_misroute(head, hop));
        if here == there || here != source {
            let allowed = if here == there { self.in_destination_group } else { self.in_intermediate_groups };
            let applies = allowed && !misrouted && head.class(port) == LOCAL;
            return applies.then_some(Misroute::Local);
        }
        match self.policy {
            MisroutePolicy::Crg => Some(Misroute::Global),
            MisroutePolicy::Nrg | MisroutePolicy::Rrg if misrouted => Some(Misroute::Due),
            MisroutePolicy::Nrg => Some(Misroute::Local),
            MisroutePolicy::Rrg => Some(Misroute::Either),
            MisroutePolicy::Mm => match hops.len() {
                0 => Some(Misroute::Global),
                1 => Some(Misroute::Local),
                _ => Some(Misroute::Due),
            },
        }
    }

    /// The misroute over a link of a class, if one will do: if a misroute is due, any that can take the packet.
    fn find(
        &self,
        head: &Head,
        (class, due): (u8, bool),
        minimal: LinkOutput,
        attempt: &mut Stream,
    ) -> Option<Request> {
        let shape = head.ways().dragonfly()?;
        let mut ports = shape.ports(class);
        if self.candidates == Candidates::One {
            let only = ports.start + attempt.below(ports.len() as u32) as usize;
            ports = only..only + 1;
        }
        let will_do = |&port: &usize| {
            let other = LinkOutput::new(head, head.pick(port, Goal::Misroute, attempt));
            let does = port != minimal.request.port && head.open(other.request);
            does && (due || self.trigger.admits(head, minimal, other))
        };
        let found: Vec<usize> = ports.filter(will_do).collect();
        let nth = if found.len() > 1 { attempt.below(found.len() as u32) } else { 0 };
        let &port = found.get(nth as usize)?;
        Some(head.pick(port, Goal::Misroute, attempt))
    }
}

/// A misroute that a head may look for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Misroute {
    Local,
    Global,
    /// A local or a global misroute, drawn in every attempt.
    Either,
    /// A global link that is due: it does not wait for a trigger.
    Due,
}

/// Whether a hop was not that of the minimal path from its router.
fn was_misroute(head: &Head, hop: &Hop) -> bool {
    let router = hop.router as usize;
    let minimal = head.ways().way(router, head.destination(), &mut head.draws_in(router));
    minimal[0] != (router, hop.port as usize)
}
