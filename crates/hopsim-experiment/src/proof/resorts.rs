//! Last resorts: the outputs that a head asks for when nothing else is open, so that it can always wait for them.

use super::walk::Waiting;
use hopsim_cycles::system::System;
use hopsim_network::network::NONE;
use hopsim_network::topology::GLOBAL;
use hopsim_random::{Purpose, Stream};
use hopsim_routing::grants::each_request;
use hopsim_routing::prospect::{Choice, Misroutes, Options};
use hopsim_routing::view::{Draws, View};
use hopsim_routing::{Head, Request, Route, RouteState};

/// Attempts in which a head that draws one of several outputs is looked at.
const ATTEMPTS: u64 = 1024;

/// Visits the last resorts of a head. Where a head does not ask for what should be its last resort when that alone is open, all that it
/// may be granted counts.
pub fn each_resort(system: &System, waiting: &Waiting<'_>, mut visit: impl FnMut(Request)) {
    let Waiting { head, state, .. } = waiting;
    if head.at_injection() && draws_path(system, waiting) {
        return at_injection(system, waiting, visit);
    }
    let mut asks = true;
    let mut resorts = Vec::new();
    system.routing.each_route(head, *state, |route, _, stream| {
        let from = resorts.len();
        add(system, head, route, &mut resorts);
        let is_asked = |&resort: &Request| asks_for(system, head, *state, resort, stream);
        asks &=
            matches!(route, Route::Arrived) || from < resorts.len() && resorts[from..].iter().all(is_asked);
    });
    if asks { resorts.into_iter().for_each(visit) } else { all(system, waiting, &mut visit) }
}

/// Adds what a head in transit waits for in the end.
fn add(system: &System, head: &Head, route: Route, resorts: &mut Vec<Request>) {
    match route {
        Route::Arrived => {}
        Route::Fixed(hop) => resorts.push(system.routing.base().way(head, hop).highest()),
        Route::Undecided(prospect) => match prospect.choice {
            // A global link is due: any of the router's.
            Choice::Misroute(Misroutes { options: Options::Mandatory, vcs, .. }) => {
                let network = &system.network;
                let is_global = |&port: &usize| network.layout.class[port] == GLOBAL + 1;
                let linked = |&port: &usize| network.link(head.router, port).peer.is_some();
                let ports = (0..network.layout.ports()).filter(is_global).filter(linked);
                resorts.extend(ports.map(|port| Request { port, vc: vcs[GLOBAL as usize] }));
            }
            Choice::Anew => {}
            _ => resorts.push(prospect.minimal.highest()),
        },
    }
}

/// Whether a head at injection draws more of its path than a trunk.
fn draws_path(system: &System, waiting: &Waiting<'_>) -> bool {
    let mut draws = false;
    system.routing.each_route(&waiting.head, waiting.state, |route, _, _| {
        let chooses =
            |choice| matches!(choice, Choice::Shortest(_) | Choice::Misroute(_) | Choice::Levels(_));
        draws |= !matches!(route, Route::Undecided(prospect) if chooses(prospect.choice));
    });
    draws
}

/// Visits what a head at injection that draws its path waits for in the end: its minimal path, unless it keeps to another one or draws
/// anew.
fn at_injection(system: &System, waiting: &Waiting<'_>, mut visit: impl FnMut(Request)) {
    let routing = &system.routing;
    let any = !routing.redecides() || routing.remembers() || routing.draws();
    for (way, after) in waiting.grants {
        // Of the VCs of a hop it picks the highest one if no other is open.
        if let Some(way) = way.filter(|_| any || !after.misrouted()) {
            visit(way.highest());
        }
    }
}

fn all(system: &System, waiting: &Waiting<'_>, visit: &mut impl FnMut(Request)) {
    for way in waiting.grants.iter().filter_map(|&(way, _)| way) {
        each_request(system.routing.vcs(), way, &mut *visit);
    }
}

/// Whether a head asks for an output, in one attempt or another, when no other one is open; whatever it hears of others.
fn asks_for(system: &System, head: &Head, state: RouteState, only: Request, stream: &Stream) -> bool {
    [false, true].into_iter().all(|is_crowded| {
        let view = OnlyOpen { system, only, head: *head, is_crowded };
        (0..ATTEMPTS).any(|attempt| {
            let mut numbers =
                Numbers { head: stream.clone(), attempt: Stream::new(0, Purpose::Attempt, attempt) };
            system.routing.decide(&mut state.clone(), &view, &mut numbers).request == Some(only)
        })
    })
}

/// A router with room behind one output VC only.
struct OnlyOpen<'p> {
    system: &'p System,
    only: Request,
    head: Head,
    /// Whether all counters and marks are as high as they can be.
    is_crowded: bool,
}

impl View for OnlyOpen<'_> {
    fn open(&self, request: Request) -> bool {
        request == self.only
    }

    fn credits(&self, request: Request) -> u32 {
        let class = self.system.network.layout.class[request.port].saturating_sub(1);
        if self.open(request) { self.capacity(class) } else { 0 }
    }

    fn occupancy(&self, request: Request) -> u32 {
        let class = self.system.network.layout.class[request.port].saturating_sub(1);
        self.capacity(class) - self.credits(request)
    }

    fn minimal_occupancy(&self, request: Request) -> u32 {
        self.occupancy(request)
    }

    fn capacity(&self, class: u8) -> u32 {
        self.system.network.classes.links[class as usize].buffer
    }

    fn contention(&self, _: usize) -> u32 {
        if self.is_crowded { NONE } else { 0 }
    }

    fn filtered_contention(&self, port: usize) -> f64 {
        f64::from(self.contention(port))
    }

    fn combined_contention(&self, _: u32) -> u32 {
        self.contention(0)
    }

    fn outstanding(&self, router: u32, port: usize) -> u32 {
        let is_elsewhere = router != self.head.router || port == self.only.port;
        if is_elsewhere { 0 } else { self.occupancy(Request { port, vc: 0 }) }
    }

    fn saturated(&self, _: Option<u32>, _: Request) -> bool {
        self.is_crowded
    }

    fn length(&self) -> u32 {
        self.system.longest_packet()
    }

    fn head(&self) -> Head {
        self.head
    }
}

struct Numbers {
    head: Stream,
    attempt: Stream,
}

impl Draws for Numbers {
    fn head(&self) -> Stream {
        self.head.clone()
    }

    fn attempt(&mut self) -> &mut Stream {
        &mut self.attempt
    }
}
