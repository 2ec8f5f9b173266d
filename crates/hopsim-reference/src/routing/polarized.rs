//! Polarized routing: `hopsim explain polarized`.

use super::head::{Goal, Head};
use crate::state::packet::{Choice, Memory};
use crate::state::place::Request;

/// A link that is allowed: its port, and what the hop over it does.
struct AllowedLink {
    port: usize,
    /// By how much the weight of the router grows.
    growth: isize,
    /// Whether the hop leads nearer to the destination.
    is_nearer: bool,
}

pub fn choose(penalties: [u32; 2], head: &Head) -> Option<Choice> {
    if head.router() == head.destination() {
        return Some(head.eject());
    }
    let (links, cornered) = allowed(head);
    let best = links.iter().map(|link| link.growth).max().expect("there is always a way on");
    let request = |link: &AllowedLink| Request { port: link.port, vc: only_vc(head, link.port) };
    let cost = |link: &AllowedLink| {
        let more = match best - link.growth {
            0 => 0,
            1 => penalties[0],
            _ => penalties[1],
        };
        head.occupancy(request(link)) + more * head.packet().length
    };
    let least = links.iter().map(cost).min()?;
    let equal: Vec<&AllowedLink> =
        links.iter().filter(|link| cost(link) == least && head.open(request(link))).collect();
    if equal.is_empty() {
        return None;
    }
    let nth = if equal.len() > 1 { head.attempt().below(equal.len() as u32) } else { 0 };
    let chosen = equal[nth as usize];
    let memory = head.packet().memory.clone();
    let after = Memory { cornered, misrouted: memory.misrouted || !chosen.is_nearer, ..memory };
    Some(Choice { to: request(chosen), after, fixed: false, others: Vec::new() })
}

/// The output VCs that a head may use.
pub fn options(head: &Head) -> Vec<Request> {
    if head.router() == head.destination() {
        return head.ejections();
    }
    allowed(head).0.iter().map(|link| Request { port: link.port, vc: only_vc(head, link.port) }).collect()
}

fn only_vc(head: &Head, port: usize) -> u8 {
    head.simulator.rules.vcs.allowed(head, port, Goal::Destination)[0]
}

/// The links that are allowed, and whether the packet goes on by shortest paths from here on.
fn allowed(head: &Head) -> (Vec<AllowedLink>, bool) {
    let ways = head.ways();
    let apart = |from: usize, to: usize| ways.distance(from, to) as isize;
    let (here, source, to) = (head.router(), head.source(), head.destination());
    let weight = |router: usize| apart(router, source) - apart(router, to);
    let links = |is_allowed: &dyn Fn(usize) -> bool| -> Vec<AllowedLink> {
        let all =
            ways.links(here).into_iter().map(|port| (port, ways.neighbour(here, port).expect("a link")));
        let of = |(port, next): (usize, usize)| AllowedLink {
            port,
            growth: weight(next) - weight(here),
            is_nearer: apart(next, to) < apart(here, to),
        };
        all.filter(|&(_, next)| is_allowed(next)).map(of).collect()
    };
    let grows = |next: usize| weight(next) > weight(here);
    let leads_from_both =
        |next: usize| apart(next, source) > apart(here, source) && apart(next, to) > apart(here, to);
    let leads_to_both =
        |next: usize| apart(next, source) < apart(here, source) && apart(next, to) < apart(here, to);
    let is_in_first_half = apart(here, source) < apart(here, to);
    let stays = |next: usize| if is_in_first_half { leads_from_both(next) } else { leads_to_both(next) };
    if !head.packet().memory.cornered {
        let found = links(&|next| grows(next) || weight(next) == weight(here) && stays(next));
        if !found.is_empty() {
            return (found, false);
        }
    }
    (links(&|next| apart(next, to) < apart(here, to)), true)
}
