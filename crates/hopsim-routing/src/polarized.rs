//! Polarized routing: see [`Config`].

use super::minimal::Minimal;
use super::prospect::{Choice, Productive, Prospect};
use super::view::{Draws, View};
use super::{
    Decision, Head, Hop, Leg, Mechanism, NO_VC, OfSource, Paths, Place, Request, Route, RouteState, Way,
    multipath, vcs,
};
use hopsim_network::error::{ConfigError, within};
use hopsim_network::topology::Topology;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::{Range, RangeInclusive};

/// A packet goes away from its source and towards its destination, in every router over any link that does not lead back: many paths of many
/// lengths, without a detour that is fixed beforehand.
///
/// The weight of a router is how many links it is away from the router of the source, less how many it is away from that of the destination. It
/// may grow with a hop by 1 or by 2. It may also stay what it is if the router is nearer to the source than to the destination and the hop leads
/// away from both, or if it is not and the hop leads nearer to both. Where there is no such link a packet goes on by shortest paths alone from there
/// to its destination.
///
/// In every attempt a packet asks for the one of these links behind which least is outstanding in its VC, penalties added, and waits if it cannot have
/// that; of equal ones for one that can take it, drawn. A link by which the weight grows by 1 less than by the best one has the first of the
/// `penalties`, and by 2 less the second.
///
/// For graphs and their families and HyperX networks, with 64 links of a router at most. Of routers that are D links
/// apart at most paths have up to 4 · D − 3 links, two if D is 1. A hop has the VC whose number is that of the links passed before, so there are as
/// many VCs: VCs increase along every path, no deadlock, and paths end, so no livelock.
///
/// Source: Camarero, Martínez and Beivide, HOTI 2021, and IEEE Micro 42 (2022), with two penalties as in the authors' own simulators. That a
/// packet goes on by shortest paths where no link is allowed is ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "PolarizedRouting")]
pub struct Config {
    /// How much more seems to be outstanding behind a link by which the weight grows by 1 less, and by 2 less, than by the best one
    /// \[packets\].
    #[schemars(inner(range(min = *PENALTIES.start(), max = *PENALTIES.end())))]
    pub penalties: [u32; 2],
}

/// What a link may be disadvantaged by \[packets\].
const PENALTIES: RangeInclusive<u32> = 0..=1_000;

impl Default for Config {
    fn default() -> Self {
        Self { penalties: [4, 5] }
    }
}

impl Config {
    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        for (number, &penalty) in self.penalties.iter().enumerate() {
            within(PENALTIES, penalty, format!("penalties.{number}"))?;
        }
        multipath::check_links(topology)?;
        if !matches!(topology, Topology::Graph(_) | Topology::HyperX(_)) {
            let reason = "needs a VC for every link of a path that leads away from the source first";
            return Err(ConfigError::new("", reason)
                .valid("topology.graph or a family of graphs, or hyperx; routing.minimal"));
        }
        let apart = topology.diameter();
        let links = if apart > 1 { 4 * apart - 3 } else { 2 };
        if links > vcs::MOST {
            let reason = format!(
                "routers are up to {apart} links apart, so a path has up to {links} links and needs as many VCs, and a link has at most {}",
                vcs::MOST
            );
            return Err(ConfigError::new("", reason).valid(format!(
                "routers at most {} links apart; routing.minimal or ecmp",
                vcs::MOST.div_ceil(4)
            )));
        }
        Ok(Paths::by_hop(links))
    }

    /// The mechanism over the minimal paths of `base`.
    pub fn build(&self, base: Minimal) -> Polarized {
        let topology = base.topology();
        let links = topology.nodes_per_router() as usize..topology.ports().len();
        Polarized { penalties: self.penalties, links, base }
    }
}

/// Of [`RouteState::flags`]: the packet goes on by shortest paths.
const CORNERED: u8 = 1;

/// Away from the source and towards the destination.
#[derive(Clone, Debug)]
pub struct Polarized {
    penalties: [u32; 2],
    /// The ports of links -- constant.
    links: Range<usize>,
    base: Minimal,
}

/// Links from a router to the source of a packet and to its destination.
#[derive(Clone, Copy)]
struct Distances {
    source: i32,
    destination: i32,
}

impl Polarized {
    /// The routers of the source and the destination of a packet.
    fn ends(&self, head: &Head) -> [u32; 2] {
        [self.base.topology().router_of(head.source), head.destination]
    }

    fn distances(&self, [source, destination]: [u32; 2], from: u32) -> Distances {
        let to = |router| self.base.topology().distance(from, router) as i32;
        Distances { source: to(source), destination: to(destination) }
    }

    /// By how much the weight grows with the hop over a port, and whether the hop leads nearer to the destination; `None` if it is not allowed.
    fn growth(
        &self,
        (router, ends): (u32, [u32; 2]),
        here: Distances,
        flags: u8,
        port: usize,
    ) -> Option<(i32, bool)> {
        let (next, _) = self.base.topology().neighbour(router, port)?;
        let there = self.distances(ends, next);
        let (away, nearer) = (there.source - here.source, here.destination - there.destination);
        let is_allowed = if flags & CORNERED != 0 {
            nearer == 1
        } else if away + nearer == 0 {
            if here.source < here.destination { away == 1 } else { nearer == 1 }
        } else {
            away + nearer > 0
        };
        is_allowed.then_some((away + nearer, nearer == 1))
    }

    /// The ports that are allowed, a bit each from the first port of a link on.
    fn allowed(&self, head: &Head, flags: u8) -> u64 {
        let ends = self.ends(head);
        let here = self.distances(ends, head.router);
        let is_allowed = |port: &usize| self.growth((head.router, ends), here, flags, *port).is_some();
        self.links.clone().filter(is_allowed).fold(0, |bits, port| bits | 1 << (port - self.links.start))
    }
}

impl Mechanism for Polarized {
    const READS: OfSource = OfSource::Router;

    fn base(&self) -> &Minimal {
        &self.base
    }

    fn route(&self, head: &Head, state: &mut RouteState, _: impl Fn() -> Stream) -> Route {
        if head.router == head.destination {
            return Route::Arrived;
        }
        let mut ports = self.allowed(head, state.flags);
        if ports == 0 {
            state.flags |= CORNERED;
            ports = self.allowed(head, state.flags);
        }
        let mut productive = Productive { ports, first: self.links.start as u16, vc: NO_VC };
        let port = productive.nth(0) as u16;
        let class = self.base.topology().link_class(port.into());
        let hop = Hop { port, class, leg: Leg::Final, reuses: false, vc: NO_VC };
        let way = self.base.way(head, hop);
        productive.vc = way.vc;
        let choice = Choice::Shortest(productive);
        Route::Undecided(Prospect { minimal: way, choice })
    }

    fn each_choice(
        &self,
        _: &Head,
        prospect: &Prospect,
        state: RouteState,
        visit: &mut impl FnMut(Way, RouteState),
    ) {
        let Choice::Shortest(productive) = &prospect.choice else { unreachable!("any allowed link") };
        productive.each(|port| {
            let class = self.base.topology().link_class(port);
            visit(Way { port: port as u16, class, vc: prospect.minimal.vc }, state);
        });
    }

    fn decide(
        &self,
        prospect: &Prospect,
        state: &mut RouteState,
        view: &impl View,
        draws: &mut impl Draws,
    ) -> Decision {
        let Choice::Shortest(productive) = &prospect.choice else { unreachable!("any allowed link") };
        let head = &view.head();
        let (ends, vc) = (self.ends(head), prospect.minimal.vc);
        let here = self.distances(ends, head.router);
        let growth = |port| self.growth((head.router, ends), here, state.flags, port);
        // By the number of the link, from the first one on. All are allowed, as they were when the packet became the head.
        let (mut growths, mut best) = ([0; 64], 0);
        productive.each(|port| {
            let grows = growth(port).map_or(0, |(growth, _)| growth);
            growths[(port - self.links.start) % 64] = grows;
            best = best.max(grows);
        });
        let penalties = [0, self.penalties[0], self.penalties[1]].map(|packets| packets * view.length());
        let (mut least, mut cheapest) = (u32::MAX, 0u64);
        productive.each(|port| {
            let (number, request) = ((port - self.links.start) % 64, Request { port, vc });
            let cost = view.occupancy(request) + penalties[(best - growths[number]) as usize];
            if cost < least {
                (least, cheapest) = (cost, 0);
            }
            if cost == least && view.open(request) {
                cheapest |= 1 << number;
            }
        });
        let several = cheapest.count_ones();
        let nth = if several > 1 { draws.attempt().below(several) } else { 0 };
        let cheapest = Productive { ports: cheapest, ..*productive };
        let chosen = (several > 0).then(|| cheapest.nth(nth));
        let mut after = *state;
        if chosen.and_then(growth).is_some_and(|(_, is_nearer)| !is_nearer) {
            after.misroute(if head.at_injection() { Place::Injection } else { Place::SourceGroup });
        }
        Decision { request: chosen.map(|port| Request { port, vc }), after }
    }

    fn redecides(&self) -> bool {
        true
    }
}
