//! All that a head may be granted, in whatever state its router is and whatever is drawn: what a proof goes through.
//!
//! Mechanisms say it by [`Mechanism::each_grant`]. What they draw for the trunk of a path is drawn here in every possible way.

use super::minimal::Minimal;
use super::vcs::Vcs;
use super::{Head, Mechanism, Request, Route, RouteState, Way};
use hopsim_random::Stream;
use std::cell::Cell;

/// Visits where a head may go when it has become one, with every trunk towards its destination that it may draw, what the packet
/// remembers then, and the stream that draws it.
pub fn each_route<M: Mechanism + ?Sized>(
    mechanism: &M,
    head: &Head,
    state: RouteState,
    mut visit: impl FnMut(Route, RouteState, &Stream),
) {
    let choices = trunk_choices(mechanism.base(), head.router, head.destination);
    let is_drawn = Cell::new(false);
    for choice in 0..choices {
        let stream = Stream::drawing(choice, choices);
        let draw = || {
            is_drawn.set(true);
            stream.clone()
        };
        let mut after = state;
        let route = mechanism.route(head, &mut after, draw);
        visit(route, after, &stream);
        if !is_drawn.get() {
            return;
        }
    }
}

/// Visits all that a head may be granted whose route says what it may choose from: see [`Mechanism::each_grant`].
pub fn each_by_route<M: Mechanism + ?Sized>(
    mechanism: &M,
    head: &Head,
    state: RouteState,
    visit: &mut impl FnMut(Option<Way>, RouteState),
) {
    each_route(mechanism, head, state, |route, after, _| match route {
        Route::Arrived => visit(None, after),
        Route::Fixed(hop) => visit(Some(mechanism.base().way(head, hop)), after),
        Route::Undecided(prospect) => {
            mechanism.each_choice(head, &prospect, after, &mut |way, after| visit(Some(way), after));
        }
    });
}

/// Visits the trunks that a packet in router `at` may draw on its way to router `to`, some of them twice.
pub fn each_trunk(base: &Minimal, at: u32, to: u32, mut visit: impl FnMut(u16)) {
    let topology = base.topology();
    if !topology.has_trunks() || at == to {
        return visit(0);
    }
    // Where one link alone is on a shortest path, that need not be the first one.
    let choices = topology.trunk_choices(at, to);
    for choice in 0..choices {
        visit(topology.choose_trunk(at, to, &mut Stream::drawing(choice, choices)));
    }
}

fn trunk_choices(base: &Minimal, at: u32, to: u32) -> u32 {
    let topology = base.topology();
    if topology.has_trunks() && at != to { topology.trunk_choices(at, to) } else { 1 }
}

/// Visits the outputs that a way stands for: all that [`Vcs::pick`] may pick.
pub fn each_request(vcs: &Vcs, way: Way, mut visit: impl FnMut(Request)) {
    (vcs.first(way)..=way.vc).for_each(|vc| visit(Request { port: way.port as usize, vc }));
}
