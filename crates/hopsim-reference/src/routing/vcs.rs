//! Which VCs a hop may use, and which of them it asks for.

use super::head::{Goal, Head};
use super::rules::vcs::{Rule, Vcs};
use super::ways::Cube;
use crate::state::place::Request;
use hopsim_network::topology::{GLOBAL, LOCAL};
use hopsim_random::Stream;
use hopsim_routing::dateline::ClassRule;
use hopsim_routing::flexvc::Selection;

impl Vcs {
    /// The VCs that a hop over a port may use, ascending.
    pub fn allowed(&self, head: &Head, port: usize, goal: Goal) -> Vec<u8> {
        let class = head.class(port);
        match &self.rule {
            Rule::Any(counts) => (0..counts[usize::from(class)]).collect(),
            Rule::Dateline { vcs, class } => half(*vcs, is_upper(*class, head, port)),
            Rule::Phases => vec![u8::from(goal == Goal::Destination)],
            Rule::HalfPhases { vcs } => half(*vcs, goal == Goal::Destination),
            Rule::ByHop(vcs) => {
                let first = if head.is_reply() { vcs.before_replies } else { 0 };
                vec![(first + head.hops().len()) as u8]
            }
            Rule::Ahead(count) => {
                let (here, there) = (head.router(), head.destination());
                let links = match goal {
                    Goal::Via(via) => head.ways().distance(here, via) + head.ways().distance(via, there),
                    _ => head.ways().distance(here, there),
                };
                let behind = links - 1;
                (0..(count - behind) as u8).collect()
            }
            Rule::Kept(vcs) => match head.came_by() {
                None => vec![vcs.vc(head.router(), head.destination())],
                Some((_, vc)) => vec![vc],
            },
            Rule::Increasing { orders, reuses } => {
                let order = &orders[usize::from(head.is_reply())];
                // Behind the link that the packet has come by.
                let after = head.came_by().map_or(0, |link| {
                    1 + order.iter().position(|&step| step == link).expect("its VC is one of the order")
                });
                let mut earlier = order[..after].iter().rev();
                let again = earlier.find(|step| step.0 == LOCAL);
                let next = order[after..].iter().find(|step| step.0 == class);
                let used_again = again.filter(|_| *reuses && goal == Goal::Misroute && class == LOCAL);
                let &(_, vc) = used_again.or(next).expect("no path is longer than the order");
                vec![vc]
            }
            Rule::Flexible { order, detour } => {
                let fits = order.fits(detour, head.is_reply());
                let rest = rest_of_path(head, class, goal, Some(*detour).filter(|_| fits));
                order.allowed(class, rest, head.is_reply())
            }
        }
    }

    /// The VC that the packet asks for, of those that a hop may use.
    pub fn select(&self, head: &Head, port: usize, allowed: &[u8], attempt: &Stream) -> u8 {
        let credits = |&vc: &u8| head.credits(Request { port, vc });
        let roomy: Vec<u8> =
            allowed.iter().copied().filter(|vc| credits(vc) >= head.packet().length).collect();
        let (lowest, highest) = (allowed[0], allowed[allowed.len() - 1]);
        match self.selection {
            // The last one of equal ones.
            Selection::Shortest => allowed.iter().copied().max_by_key(credits).unwrap_or(highest),
            Selection::Highest => roomy.last().copied().unwrap_or(lowest),
            Selection::Lowest => roomy.first().copied().unwrap_or(highest),
            Selection::Random => match roomy.len() {
                0 => highest,
                1 => roomy[0],
                several => roomy[attempt.at(port as u64).below(several as u32) as usize],
            },
        }
    }
}

/// What may be left of a packet's path after a hop, at its longest. `detour` is the longest path of the mechanism, if it fits.
fn rest_of_path(head: &Head, class: u8, goal: Goal, detour: Option<&'static str>) -> &'static str {
    let ways = head.ways();
    let (here, there) = (ways.group(head.router()), ways.group(head.destination()));
    // What is left of the detour behind its first global link.
    let beyond = |detour: &'static str| detour.split_once('g').map_or("", |(_, rest)| rest);
    match goal {
        Goal::Destination if class == GLOBAL => "l",
        Goal::Destination if here == there => "",
        Goal::Destination | Goal::Increasing => "gl",
        _ if class == GLOBAL => detour.map_or("lgl", beyond),
        Goal::Misroute if here == there => "l",
        Goal::Misroute if here == ways.group(head.source()) => "glgl",
        Goal::Misroute => "lgl",
        Goal::Via(via) if here == ways.group(via) => {
            detour.and_then(|detour| beyond(detour).strip_prefix('l')).unwrap_or("lgl")
        }
        Goal::Via(_) => detour.and_then(|detour| detour.strip_prefix('l')).unwrap_or("lgl"),
    }
}

/// The VCs of class 1, the upper half, or of class 0.
fn half(vcs: u8, is_upper: bool) -> Vec<u8> {
    if is_upper { (vcs / 2..vcs).collect() } else { (0..vcs / 2).collect() }
}

/// The hops that a packet has made in the dimension of a port, and the next one, over that port: router, and port there.
fn hops_in_dimension(head: &Head, port: usize) -> Vec<(usize, usize)> {
    let (dimension, _) = head.ways().direction(port);
    let made = head.hops().iter().map(|hop| (hop.router as usize, hop.port as usize));
    let mut hops: Vec<_> = made.filter(|&(_, port)| head.ways().direction(port).0 == dimension).collect();
    hops.push((head.router(), port));
    hops
}

/// Whether a packet that takes a port has crossed the dateline of the dimension then: upwards to a smaller coordinate, downwards to a
/// larger one.
fn has_crossed(head: &Head, cube: &Cube, port: usize) -> bool {
    let (dimension, up) = head.ways().direction(port);
    hops_in_dimension(head, port).into_iter().any(|(router, port)| {
        let there = head.ways().neighbour(router, port).expect("packets go over links");
        let [from, to] = [router, there].map(|router| cube.coordinate(router, dimension));
        if up { to < from } else { to > from }
    })
}

/// Whether the coordinate at which a packet that takes a port has entered the dimension is greater than that of its destination.
fn began_above(head: &Head, cube: &Cube, port: usize) -> bool {
    let ((dimension, _), entry) = (head.ways().direction(port), hops_in_dimension(head, port)[0].0);
    cube.coordinate(entry, dimension) > cube.coordinate(head.destination(), dimension)
}

/// Whether a hop over a port has class 1.
fn is_upper(rule: ClassRule, head: &Head, port: usize) -> bool {
    let cube = head.ways().cube().expect("only tori have datelines");
    match rule {
        ClassRule::Crossing => has_crossed(head, cube, port),
        ClassRule::Dimension => began_above(head, cube, port),
    }
}
