//! Minimal adaptive routing: `hopsim explain adaptive`.

use super::head::{Goal, Head};
use crate::state::packet::Choice;
use crate::state::place::Request;

pub fn choose(head: &Head) -> Option<Choice> {
    if head.router() == head.destination() {
        return Some(head.eject());
    }
    if let Some(down) = only_way(head) {
        return Some(head.ask(down));
    }
    let (adaptive, escape) = candidates(head);
    let to = roomiest(head, adaptive).or(escape)?;
    Some(Choice { to, after: head.packet().memory.clone(), fixed: false, others: Vec::new() })
}

/// The output VCs that a head may use.
pub fn options(head: &Head) -> Vec<Request> {
    if head.router() == head.destination() {
        return head.ejections();
    }
    if let Some(down) = only_way(head) {
        return head.all_of(down, Goal::Destination);
    }
    let (adaptive, escape) = candidates(head);
    adaptive.into_iter().chain(escape).collect()
}

/// The port of a head that has one alone: down a fat tree, or on the only shortest path of a graph.
fn only_way(head: &Head) -> Option<usize> {
    let (here, to) = (head.router(), head.destination());
    let in_graph = head.ways().nearer_in_graph((here, to)).filter(|ports| ports.len() == 1);
    head.ways().down(here, to).or(in_graph.map(|ports| ports[0]))
}

/// The adaptive VCs that bring a packet nearer, and its escape VC if there is one. In a fat tree the packet is on its way up.
fn candidates(head: &Head) -> (Vec<Request>, Option<Request>) {
    let (ways, here, to) = (head.ways(), head.router(), head.destination());
    let vcs = head.simulator.rules.vcs.used[0];
    let all = |ports: &[usize], first: u8| {
        ports.iter().flat_map(|&port| (first..vcs).map(move |vc| Request { port, vc })).collect()
    };
    let ports = if let Some(cube) = ways.cube() {
        // The ways round are those that the packet has drawn at its source.
        let ties = cube.draw_ties(&mut head.draws_in(head.source()));
        ways.nearer(cube, (here, to), &ties)
    } else if ways.is_hyperx() {
        ways.nearer_in_hyperx((here, to))
    } else if let Some(ports) = ways.nearer_in_graph((here, to)) {
        let vcs = head.simulator.rules.vcs.allowed(head, ports[0], Goal::Destination);
        let of = |port: usize| vcs.iter().map(move |&vc| Request { port, vc });
        return (ports.into_iter().flat_map(of).collect(), None);
    } else {
        return (all(&ways.ups().collect::<Vec<_>>(), 0), None);
    };
    (all(&ports, 1), Some(Request { port: ports[0], vc: 0 }))
}

/// The VC with most credits of those that can take the packet; of several one that is drawn.
fn roomiest(head: &Head, all: Vec<Request>) -> Option<Request> {
    let open: Vec<Request> = all.into_iter().filter(|&to| head.open(to)).collect();
    let most = open.iter().map(|&to| head.credits(to)).max()?;
    let best: Vec<Request> = open.into_iter().filter(|&to| head.credits(to) == most).collect();
    let nth = if best.len() > 1 { head.attempt().below(best.len() as u32) } else { 0 };
    Some(best[nth as usize])
}
