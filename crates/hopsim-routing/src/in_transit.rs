//! In-transit adaptive routing: at every hop the minimal output or a misroute, decided in every attempt. What OLM and
//! PAR have in common.

use super::minimal::Minimal;
use super::prospect::{Choice, Misroutes, Options, Prospect};
use super::trigger::{Bar, Candidate, TriggerConfig};
use super::view::{Draws, Sensors, View};
use super::{Decision, Head, Hop, Leg, Mechanism, NO_VC, OfSource, Place, Request, Route, RouteState, Way};
use hopsim_network::by_class::ByClass;
use hopsim_network::error::ConfigError;
use hopsim_network::topology::dragonfly::Dragonfly;
use hopsim_network::topology::{GLOBAL, LOCAL, Topology};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The packet has been misrouted locally in this group.
const LOCAL_DONE: u8 = 1;
/// The packet has been misrouted globally.
const GLOBAL_DONE: u8 = 2;
/// What a misroute sets.
pub(crate) const MISROUTED: u8 = LOCAL_DONE | GLOBAL_DONE;
/// The packet must leave the source group from this router.
const MANDATORY: u8 = 4;

/// Misroutes in the source group of packets to another group (global misrouting policy).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MisroutePolicy {
    /// Mixed mode (MM): over the own global links at injection, over a local link after a minimal local hop.
    #[default]
    Mm,
    /// Random-router global (RRG): over a local link with probability (a − 1)/a, else over an own global link.
    Rrg,
    /// Current-router global (CRG): over the own global links.
    Crg,
    /// Neighbour-router global (NRG): over a local link, then a global one.
    Nrg,
}

impl MisroutePolicy {
    /// Refuses a policy with which packets could come to a router that they cannot leave.
    fn check(self, dragonfly: &Dragonfly) -> Result<(), ConfigError> {
        let name = match self {
            Self::Mm => "mm",
            Self::Rrg => "rrg",
            Self::Crg => return Ok(()),
            Self::Nrg => "nrg",
        };
        let Some(router) = dragonfly.router_without_global_link() else { return Ok(()) };
        let reason = format!(
            "router {router} has no connected global link, and a packet misrouted to it would have to leave its group from there"
        );
        Err(ConfigError::new("policy", reason)
            .value(name)
            .valid("crg, or another number of groups or global links"))
    }
}

/// How a misroute is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Candidates {
    /// Every output of the class is looked at, and one of those that will do is drawn.
    #[default]
    All,
    /// One output of the class is drawn; if it will not do the packet stays minimal in this attempt (FOGSim 5). Worth:
    /// less than 1 % of the accepted load under ADVc at 0.4.
    One,
}

/// Where local misroutes happen besides the source group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalMisroutes {
    /// Nowhere.
    None,
    /// In intermediate groups.
    Intermediate,
    /// Everywhere.
    Everywhere,
}

/// The parameters of an in-transit adaptive mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct InTransitRule {
    /// Misroutes in the source group.
    pub policy: MisroutePolicy,
    /// Local misroutes elsewhere.
    pub local: LocalMisroutes,
    /// How a misroute is found.
    pub candidates: Candidates,
    /// When a packet looks for one.
    pub trigger: TriggerConfig,
    /// Whether local misroutes use VCs again.
    pub reuses: bool,
}

impl InTransitRule {
    /// Refuses what a topology cannot carry.
    pub fn check(&self, topology: &Topology) -> Result<(), ConfigError> {
        let dragonfly = super::detour::dragonfly(topology)?;
        if dragonfly.a() < 2 {
            return Err(ConfigError::new("", "a group of one router has no local links to misroute over")
                .valid("a ≥ 2, or source-adaptive routing"));
        }
        self.policy.check(dragonfly)?;
        self.trigger.check().map_err(|e| e.within("trigger"))
    }
}

/// An in-transit adaptive mechanism.
#[derive(Clone, Debug)]
pub struct InTransit {
    rule: InTransitRule,
    base: Minimal,
    /// First port of each link class and their number -- constant.
    ports: ByClass<(usize, usize)>,
}

/// The groups a decision is about.
#[derive(Clone, Copy)]
struct Groups {
    here: u32,
    source: u32,
    target: u32,
}

impl Groups {
    /// Whether the head is in the group of its source and has to leave it.
    fn leaving(self) -> bool {
        self.here == self.source && self.here != self.target
    }

    fn place(self, head: &Head) -> Place {
        if head.at_injection() {
            Place::Injection
        } else if self.here == self.source {
            Place::SourceGroup
        } else if self.here == self.target {
            Place::DestinationGroup
        } else {
            Place::IntermediateGroup
        }
    }

    fn misroute(self) -> Leg {
        if self.leaving() {
            Leg::MisrouteSource
        } else if self.here == self.target {
            Leg::MisrouteFinal
        } else {
            Leg::MisrouteInside
        }
    }
}

impl InTransit {
    /// The mechanism over the minimal paths of `base`.
    pub fn new(rule: InTransitRule, base: Minimal) -> Self {
        let (p, a, h) = (base.dragonfly().p(), base.dragonfly().a(), base.dragonfly().h());
        let ports = ByClass::from([(p as usize, a as usize - 1), ((p + a - 1) as usize, h as usize)]);
        Self { rule, base, ports }
    }

    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    fn groups(&self, head: &Head) -> Groups {
        let topology = self.base.topology();
        Groups {
            here: topology.group(head.router),
            source: topology.group(head.source / topology.nodes_per_router()),
            target: topology.group(head.destination),
        }
    }

    #[expect(clippy::inline_always, reason = "per packet-hop")]
    #[inline(always)]
    fn options(&self, head: &Head, state: RouteState, minimal: Hop, groups: Groups) -> Option<Options> {
        let first = state.flags & LOCAL_DONE == 0;
        if groups.leaving() {
            return Some(match self.rule.policy {
                _ if state.flags & MANDATORY != 0 => Options::Mandatory,
                MisroutePolicy::Crg => Options::Global,
                MisroutePolicy::Nrg => Options::Local,
                MisroutePolicy::Rrg => Options::Either,
                MisroutePolicy::Mm if head.at_injection() => Options::Global,
                MisroutePolicy::Mm if first => Options::Local,
                MisroutePolicy::Mm => return None,
            });
        }
        let allowed = match self.rule.local {
            LocalMisroutes::None => false,
            LocalMisroutes::Intermediate => groups.here != groups.target && groups.here != groups.source,
            LocalMisroutes::Everywhere => true,
        };
        (allowed && first && minimal.class == LOCAL).then_some(Options::Local)
    }

    /// What the packet remembers after a hop over a link of class `class`, misrouted or not.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "per decision; measured")]
    #[inline]
    fn after(&self, mut state: RouteState, open: &Misroutes, (class, misrouted): (u8, bool)) -> RouteState {
        if misrouted {
            state.misroute(open.place);
        }
        if class == GLOBAL {
            state.flags |= if misrouted { GLOBAL_DONE } else { 0 };
            return state;
        }
        if misrouted {
            state.flags |= LOCAL_DONE;
        }
        let due = match self.rule.policy {
            MisroutePolicy::Crg => false,
            MisroutePolicy::Mm => open.place != Place::Injection,
            MisroutePolicy::Nrg | MisroutePolicy::Rrg => misrouted,
        };
        if due && open.leaving && state.flags & GLOBAL_DONE == 0 {
            state.flags |= MANDATORY;
        }
        state
    }

    /// The VC of a misroute over any port of a class.
    #[expect(clippy::inline_always, reason = "per packet-hop")]
    #[inline(always)]
    fn misroute(&self, head: &Head, class: u8, leg: Leg) -> u8 {
        let port = self.ports[class as usize].0 as u16;
        self.base.vcs().way(head, Hop { port, class, leg, reuses: self.rule.reuses, vc: NO_VC }).vc
    }

    /// The misroute taken over a link of `class`, if one will do. `due`: any output that can take the packet.
    fn find(
        &self,
        (class, vc): (u8, u8),
        (minimal, due): (Candidate, bool),
        (view, draws): (&impl View, &mut impl Draws),
    ) -> Option<Request> {
        let vcs = self.base.vcs();
        let (first, count) = self.ports[class as usize];
        let bar = if due { Bar::None } else { self.rule.trigger.bar(class, minimal, (view, vcs)) };
        let only = (self.rule.candidates == Candidates::One)
            .then(|| first + draws.attempt().below(count as u32) as usize);
        // A bit per port.
        let mut found = [0u64; 4];
        let mut total = 0;
        let open = view.candidates_are_open();
        view.each_candidate(first..first + count, class, vc, |port| {
            let request = vcs.pick(Way { port: port as u16, class, vc }, view, draws);
            let will_do = port != minimal.request.port
                && only.is_none_or(|only| only == port)
                && (open || view.open(request))
                && bar.admits(Candidate { request, class }, (view, vcs));
            if will_do {
                let number = port - first;
                found[number / 64 % 4] |= 1 << (number % 64);
                total += 1;
            }
        });
        if total == 0 {
            return None;
        }
        let nth = if total == 1 { 0 } else { draws.attempt().below(total) };
        let number = nth_bit(found, nth)?;
        Some(vcs.pick(Way { port: (first + number) as u16, class, vc }, view, draws))
    }
}

/// The number of the `nth` bit that is set, from 0.
fn nth_bit(words: [u64; 4], mut nth: u32) -> Option<usize> {
    for (index, mut bits) in words.into_iter().enumerate() {
        while bits != 0 {
            if nth == 0 {
                return Some(64 * index + bits.trailing_zeros() as usize);
            }
            bits &= bits - 1;
            nth -= 1;
        }
    }
    None
}

impl Mechanism for InTransit {
    const READS: OfSource = OfSource::Group;

    fn each_choice(
        &self,
        head: &Head,
        prospect: &Prospect,
        state: RouteState,
        visit: &mut impl FnMut(Way, RouteState),
    ) {
        let Choice::Misroute(misroutes) = &prospect.choice else { unreachable!("misroutes") };
        let minimal = prospect.minimal;
        if misroutes.options != Options::Mandatory || minimal.class != LOCAL {
            visit(minimal, self.after(state, misroutes, (minimal.class, false)));
        }
        prospect.each_misroute(|class, vc| {
            let (first, count) = self.ports[class as usize];
            let linked = |&port: &usize| self.base.topology().neighbour(head.router, port).is_some();
            for port in (first..first + count).filter(linked).map(|port| port as u16) {
                if port != minimal.port {
                    visit(Way { port, class, vc }, self.after(state, misroutes, (class, true)));
                }
            }
        });
    }

    fn base(&self) -> &Minimal {
        &self.base
    }

    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    fn route(&self, head: &Head, state: &mut RouteState, draw: impl Fn() -> Stream) -> Route {
        if self.base.vcs().sequence.is_of(head.code, GLOBAL) {
            state.flags &= GLOBAL_DONE;
        }
        // In a new group, and after a local misroute, another one of several parallel links may be the nearest.
        self.base.choose_trunk(head, head.destination, state, draw);
        let Some(minimal) = self.base.towards(head, head.destination, state.trunk) else {
            return Route::Arrived;
        };
        let groups = self.groups(head);
        let Some(options) = self.options(head, *state, minimal, groups) else {
            return Route::Fixed(minimal);
        };
        let mut vcs = ByClass::splat(NO_VC);
        if matches!(options, Options::Local | Options::Either) {
            vcs[LOCAL as usize] = self.misroute(head, LOCAL, groups.misroute());
        }
        if options != Options::Local {
            vcs[GLOBAL as usize] = self.misroute(head, GLOBAL, Leg::Detour);
        }
        let choice = Choice::Misroute(Misroutes {
            options,
            vcs,
            place: groups.place(head),
            leaving: groups.leaving(),
            target: groups.target as u16,
        });
        Route::Undecided(Prospect { minimal: self.base.vcs().way(head, minimal), choice })
    }

    #[expect(clippy::inline_always, reason = "per decision; measured")]
    #[inline(always)]
    fn decide(
        &self,
        prospect: &Prospect,
        state: &mut RouteState,
        view: &impl View,
        draws: &mut impl Draws,
    ) -> Decision {
        let Choice::Misroute(misroutes) = &prospect.choice else { unreachable!("misroutes") };
        let (vcs, way) = (self.base.vcs(), prospect.minimal);
        let minimal = Candidate { request: vcs.pick(way, view, draws), class: way.class };
        let due = misroutes.options == Options::Mandatory;
        let mut taken = None;
        if due || self.rule.trigger.fires(minimal, misroutes, (view, vcs), draws) {
            let local = misroutes.options == Options::Local
                || (misroutes.options == Options::Either
                    && draws.attempt().below(self.ports[LOCAL as usize].1 as u32 + 1) > 0);
            let class = if local { LOCAL } else { GLOBAL };
            let vc = misroutes.vcs[class as usize];
            taken = self.find((class, vc), (minimal, due), (view, draws)).map(|request| (request, class));
        }
        if taken.is_none() && due && way.class == LOCAL {
            return Decision { request: None, after: *state };
        }
        let (request, class) = taken.unwrap_or((minimal.request, way.class));
        Decision { request: Some(request), after: self.after(*state, misroutes, (class, taken.is_some())) }
    }

    fn draws(&self) -> bool {
        self.rule.candidates == Candidates::One || self.rule.policy == MisroutePolicy::Rrg
    }

    fn redecides(&self) -> bool {
        true
    }

    fn sensors(&self) -> Sensors {
        self.rule.trigger.sensors(self.base.vcs())
    }
}
