//! Minimal path or detour, decided at the source: `hopsim explain ugal`, `piggyback`, `source_adaptive`, `par`.

use super::head::Head;
use super::rules::source::SourceRule;
use super::ways::Dragonfly;
use crate::state::packet::{Choice, Memory};
use crate::state::place::{Link, Request};
use hopsim_random::Stream;
use hopsim_routing::source::PathLengths;
use hopsim_routing::ugal::Occupancy;

impl SourceRule {
    pub fn choose(&self, head: &Head) -> Choice {
        if head.router() == head.destination() {
            return head.eject();
        }
        if self.decides(head) { self.decide(head) } else { self.go_on(head) }
    }

    /// Whether a head compares its minimal path with a detour.
    fn decides(&self, head: &Head) -> bool {
        let again = || self.progressive && head.hops().len() == 1 && !head.packet().memory.misrouted;
        head.at_injection() || again()
    }

    /// The output VCs that a head may use.
    pub fn options(&self, head: &Head) -> Vec<Request> {
        if head.router() == head.destination() {
            return head.ejections();
        }
        if !self.decides(head) {
            return head.all_of_next_hop(&self.go_on(head).after);
        }
        if self.recompute || self.detours > 1 {
            return head.all_links();
        }
        let detour = self.detour(head, &mut head.draws());
        let memories = [Some(self.minimal(head)), detour.map(|(_, leave)| leave)];
        memories.iter().flatten().flat_map(|memory| head.all_of_next_hop(memory)).collect()
    }

    /// What a packet sets out with on its minimal path.
    fn minimal(&self, head: &Head) -> Memory {
        let way = head.ways().way(head.router(), head.destination(), &mut head.draws().at(1));
        Memory { way, stays: self.once, ..Memory::default() }
    }

    /// The intermediate router that a stream gives a packet, and what it sets out with on the detour; `None` if it has none.
    fn detour(&self, head: &Head, stream: &mut Stream) -> Option<(usize, Memory)> {
        let (ways, here) = (head.ways(), head.router());
        let drawn = self.detour.draw(ways, (here, head.destination()), stream);
        let via = drawn.filter(|&via| !self.detour.has_reached(ways, here, via))?;
        Some((via, self.over(head, via)))
    }

    /// What a packet sets out with on the detour over a router.
    fn over(&self, head: &Head, via: usize) -> Memory {
        let way = head.ways().way(head.router(), via, &mut head.draws().at(2 + via as u64));
        let insists = (self.sticky || self.once).then_some(via);
        Memory { via: Some(via), way, misrouted: true, insists, ..Memory::default() }
    }

    /// The best of several detours: the one that a packet keeps to, or else the one with the shortest wait by its links, of equal ones the
    /// one drawn first.
    fn best_detour(&self, head: &Head, attempt: &Stream) -> Option<(usize, Memory)> {
        if let Some(via) = head.packet().memory.insists {
            return Some((via, self.over(head, via)));
        }
        let mut stream = head.draws();
        let drawn: Vec<_> = (0..self.detours).filter_map(|_| self.detour(head, &mut stream)).collect();
        let wait = |(via, leave): &(usize, Memory)| {
            if self.sees_all {
                return self.on_detour(head, *via, &leave.way);
            }
            let first = head.decide_for(leave.clone(), attempt).to;
            self.taken(head, first) * self.detour_links(head, *via) as u64
        };
        drawn.into_iter().min_by_key(wait)
    }

    /// What is taken of the buffer that the first hop leads to.
    fn taken(&self, head: &Head, to: Request) -> u64 {
        u64::from(match self.occupancy {
            Occupancy::Vc => head.occupancy(to),
            Occupancy::Port => head.port_occupancy(to.port),
        })
    }

    fn decide(&self, head: &Head) -> Choice {
        let mut attempt = head.attempt();
        let drawn = if self.recompute {
            self.detour(head, &mut attempt)
        } else if self.detours > 1 {
            self.best_detour(head, &attempt)
        } else {
            self.detour(head, &mut head.draws())
        };
        let minimal = head.decide_for(self.minimal(head), &attempt);
        let Some((via, leave)) = drawn else {
            return minimal;
        };
        let detour = head.decide_for(leave, &attempt);
        let looks_better = || {
            self.looks_shorter(head, [&minimal, &detour], via) || self.is_saturated(head, &minimal.after.way)
        };
        let memory = &head.packet().memory;
        if memory.insists.is_some() || !memory.stays && looks_better() { detour } else { minimal }
    }

    /// Whether the detour looks shorter than the minimal path.
    fn looks_shorter(&self, head: &Head, [minimal, detour]: [&Choice; 2], via: usize) -> bool {
        let threshold = u64::from(self.threshold) * u64::from(head.packet().length);
        if self.sees_all {
            let on_detour = self.on_detour(head, via, &detour.after.way);
            return outstanding(head, &minimal.after.way) > on_detour + threshold;
        }
        let wait = |to: Request, links: usize| self.taken(head, to) * links as u64;
        let (minimal, detour) = (minimal.to, detour.to);
        wait(minimal, self.minimal_links(head)) > wait(detour, self.detour_links(head, via)) + threshold
    }

    /// What was outstanding on the links of a detour as the cycle began: those of the way to the end of the detour, and of the first way
    /// from there.
    fn on_detour(&self, head: &Head, via: usize, way: &[Link]) -> u64 {
        let ways = head.ways();
        let ended = |&(router, _): &Link| self.detour.has_reached(ways, router, via);
        let there: Vec<Link> = way.iter().copied().take_while(|link| !ended(link)).collect();
        let end = there.last().map_or(head.router(), |&(router, port)| {
            ways.neighbour(router, port).expect("a way leads over links")
        });
        outstanding(head, &there) + outstanding(head, &ways.first_way(end, head.destination()))
    }

    fn minimal_links(&self, head: &Head) -> usize {
        let (ways, here, to) = (head.ways(), head.router(), head.destination());
        match (ways.dragonfly(), self.lengths) {
            (Some(shape), PathLengths::Consecutive) => links_if_consecutive(shape, (here, to), true),
            _ => ways.distance(here, to),
        }
    }

    fn detour_links(&self, head: &Head, via: usize) -> usize {
        let (ways, here, to) = (head.ways(), head.router(), head.destination());
        let links = match ways.dragonfly() {
            Some(shape) if self.counts_detour && self.lengths == PathLengths::Consecutive => {
                links_if_consecutive(shape, (here, via), false) + links_if_consecutive(shape, (via, to), true)
            }
            Some(_) if self.detour.to_group => {
                let (links, entry) = ways.first_entry(here, via);
                links + ways.distance(entry, to)
            }
            _ => ways.distance(here, via) + ways.distance(via, to),
        };
        links.min(self.longest_detour)
    }

    /// Whether the global link of the minimal path is marked, as far as this router knows.
    fn is_saturated(&self, head: &Head, way: &[Link]) -> bool {
        let Some(&(router, port)) = way.iter().find(|link| head.ways().is_global(link.0, link.1)) else {
            return false;
        };
        let vc = head.simulator.rules.vcs.sensed[usize::from(head.is_reply())];
        self.saturation.is_some() && head.knows_marked(router, Request { port, vc })
    }

    fn go_on(&self, head: &Head) -> Choice {
        let mut memory = head.packet().memory.clone();
        if memory.via.is_some_and(|via| self.detour.has_reached(head.ways(), head.router(), via)) {
            memory.via = None;
            memory.way = head.way_to_destination().to_vec();
        }
        head.follow(memory, &head.attempt())
    }
}

/// What was outstanding on links as the cycle began.
fn outstanding(head: &Head, links: &[Link]) -> u64 {
    let behind = |&(router, port): &Link| head.simulator.routers[router].knowledge.outstanding[port];
    links.iter().map(|link| u64::from(behind(link))).sum()
}

/// Links of the path between two routers if the arrangement were consecutive, where group x has its link to group y at slot y
/// (y − 1 if y > x); with or without the last local one.
fn links_if_consecutive(shape: &Dragonfly, (from, to): (usize, usize), with_last: bool) -> usize {
    let (x, y) = (from / shape.a, to / shape.a);
    if x == y {
        return usize::from(from != to);
    }
    // The router of group x that would hold the link to group y.
    let holder = |x: usize, y: usize| x * shape.a + if y > x { y - 1 } else { y } / shape.h;
    let (exit, entry) = (holder(x, y), holder(y, x));
    usize::from(exit != from) + 1 + usize::from(with_last && entry != to)
}
