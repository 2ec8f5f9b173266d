//! Fully progressive adaptive routing: see [`Config`].

use super::in_transit::MISROUTED;
use super::minimal::Minimal;
use super::prospect::{Choice, Levels, Productive, Prospect};
use super::source::THRESHOLDS;
use super::view::{Draws, View};
use super::{
    Decision, Head, Hop, Leg, Mechanism, OfSource, Paths, Place, Request, Route, RouteState, Safety, Way,
    multipath,
};
use hopsim_network::error::{ConfigError, within};
use hopsim_network::topology::spines::LeafSpine;
use hopsim_network::topology::{GLOBAL, LOCAL, Topology};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::{Range, RangeInclusive};

/// A packet decides in every router by which way it goes on, straight on or on a detour through another group: fully progressive adaptive
/// routing of a dragonfly+ (FPAR).
///
/// Straight on it goes to another group from a leaf to a spine with a link there, over that link, and down to its leaf; in a group over any
/// spine. In the group of its source it may also take a detour: from its leaf to a spine with links to other groups alone, and from a spine over a
/// link to a group that is neither here nor there. From a spine of that intermediate group it goes straight on if there is a link to the group of its
/// destination, and otherwise down to any leaf, up to a spine with such a link, and on.
///
/// In every attempt it looks for the port behind which least is outstanding, the sum of the occupancies of all VCs that packets use, of
/// those that can take it if any can, ties drawn: among those straight on, and among those of detours. It asks for the one on the detour if straight on more is outstanding than
/// `detour_weight` times as much and the `threshold`. So a leaf spreads packets over its spines, and a spine, which has the global links before it,
/// sees the congestion that a leaf does not. Routers hear nothing of others.
///
/// Paths and VCs: up, out, down, up, out, down, at most 6 links and one intermediate group: no livelock. Every link has the same number of VCs, two
/// at least, of which those of the class with fewest count. The lower half is for the way up, out and, in an intermediate group, down; the upper half,
/// which may have one more, for what follows. A packet that has not taken a detour may use the upper half, too, from the link on that leads to
/// the group of its destination, and in that, but from the upper half goes on in the upper half. Of the VCs that it may use and that can take it a
/// packet asks for the one with most credits, of equal ones the highest. Links up, out and down are different ones, and in this order, the lower half
/// before the upper one, packets wait for them: no deadlock.
///
/// For networks of groups in each of which every leaf has one link to every spine, which alone have links to other groups, and every two groups
/// have one at least. A router has 64 links at most.
///
/// Source: the idea is that of Shpiner et al., HiPINEB 2017, of which the abstract alone was at hand; the rule, weights and VCs are ours, after
/// UGAL (Singh's thesis, Stanford 2005).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "FparRouting")]
pub struct Config {
    /// How many times as much must be outstanding straight on as on a detour, which leads over two global links instead of one.
    #[schemars(range(min = *WEIGHTS.start(), max = *WEIGHTS.end()))]
    pub detour_weight: u32,
    /// How much more must be outstanding besides \[packets\].
    #[schemars(range(min = *THRESHOLDS.start(), max = *THRESHOLDS.end()))]
    pub threshold: u32,
}

/// How many times as much may have to be outstanding straight on.
const WEIGHTS: RangeInclusive<u32> = 1..=100;

impl Default for Config {
    fn default() -> Self {
        Self { detour_weight: 2, threshold: 2 }
    }
}

impl Config {
    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        within(WEIGHTS, self.detour_weight, "detour_weight")?;
        within(THRESHOLDS, self.threshold, "threshold").map_err(|e| e.unit("packets"))?;
        LeafSpine::new(topology)?;
        multipath::check_links(topology)?;
        Ok(Paths { hops: 6, safety: Safety::Levels })
    }

    /// The mechanism over the minimal paths of `base`.
    pub fn build(&self, base: Minimal) -> Fpar {
        let groups = LeafSpine::new(base.topology()).unwrap_or_else(|_| unreachable!("it has been checked"));
        let (first_link, vcs) = (base.topology().nodes_per_router() as u16, base.vcs().used(LOCAL));
        Fpar { rule: self.clone(), groups, first_link, vcs, base }
    }
}

/// Decides in every router of groups of leaves and spines.
#[derive(Clone, Debug)]
pub struct Fpar {
    rule: Config,
    groups: LeafSpine,
    /// The first port of a link -- constant.
    first_link: u16,
    /// Number of VCs, the same of all links -- constant.
    vcs: u8,
    base: Minimal,
}

/// Where a packet stands that has not arrived.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// In the group of its destination.
    There,
    /// In the group of its source, which is not that of its destination.
    AtSource,
    /// In another group.
    Between,
}

impl Fpar {
    fn bits(&self, ports: impl Iterator<Item = u16>) -> u64 {
        ports.fold(0, |bits, port| bits | 1 << (port - self.first_link))
    }

    /// Whether a packet has held VCs of the lower half alone.
    fn is_low(&self, head: &Head) -> bool {
        let sequence = &self.base.vcs().sequence;
        let is_low = |class| sequence.is_of(head.code, class) && sequence.vc(head.code, class) < self.vcs / 2;
        head.at_injection() || [LOCAL, GLOBAL].into_iter().any(is_low)
    }

    /// What a head may choose from that has not arrived.
    fn levels(&self, head: &Head) -> Levels {
        let (groups, half) = (&self.groups, self.vcs / 2);
        let (here, there) = (groups.group(head.router), groups.group(head.destination));
        let source = groups.group(self.base.topology().router_of(head.source));
        let stage = if here == there {
            Stage::There
        } else if here == source {
            Stage::AtSource
        } else {
            Stage::Between
        };
        let (straight, detours) = if groups.is_leaf(head.router) {
            self.ports_of_leaf(head, stage, (here, there))
        } else {
            self.ports_of_spine(head, stage, there)
        };
        // Up from its source a packet has not decided yet, and down in another group it has not left that.
        let decides = stage == Stage::AtSource && groups.is_leaf(head.router);
        let stays =
            stage == Stage::Between && !groups.is_leaf(head.router) && !self.leads_to(head.router, there);
        let straight_vcs = match stage {
            _ if decides || stays => [0, half],
            Stage::There | Stage::AtSource if self.is_low(head) => [0, self.vcs],
            _ => [half, self.vcs],
        };
        Levels { straight, detours, first: self.first_link, straight_vcs, detour_vcs: half }
    }

    fn leads_to(&self, spine: u32, group: u32) -> bool {
        self.groups.between(spine).iter().any(|link| link.0 == group)
    }

    /// The ports of a leaf by which a packet goes straight on, and those by which it goes on a detour.
    fn ports_of_leaf(&self, head: &Head, stage: Stage, (here, there): (u32, u32)) -> (u64, u64) {
        let (groups, ups) = (&self.groups, self.groups.inside(head.router));
        if stage == Stage::There {
            return (self.bits(ups.iter().copied()), 0);
        }
        let straight = self.bits(groups.exits(here, there).iter().map(|&(_, spine)| ups[usize::from(spine)]));
        if stage == Stage::Between {
            return (straight, 0);
        }
        let out = (0..).zip(ups).filter(|&(spine, _)| groups.leads_out(here, spine));
        (straight, self.bits(out.map(|(_, &port)| port)) & !straight)
    }

    /// The ports of a spine by which a packet goes straight on, and those by which it goes on a detour.
    fn ports_of_spine(&self, head: &Head, stage: Stage, there: u32) -> (u64, u64) {
        let (groups, between) = (&self.groups, self.groups.between(head.router));
        if stage == Stage::There {
            return (self.bits([groups.down(head.router, head.destination)].into_iter()), 0);
        }
        let straight = self.bits(between.iter().filter(|link| link.0 == there).map(|link| link.1));
        match stage {
            Stage::AtSource => (straight, self.bits(between.iter().map(|link| link.1)) & !straight),
            _ if straight == 0 => (self.bits(groups.inside(head.router).iter().copied()), 0),
            _ => (straight, 0),
        }
    }

    /// What a packet remembers that takes a detour.
    fn turned(head: &Head, mut state: RouteState) -> RouteState {
        state.misroute(if head.at_injection() { Place::Injection } else { Place::SourceGroup });
        state.flags |= MISROUTED;
        state
    }

    /// Of some ports the one behind which least is outstanding, and how much: of those that can take the packet, if any can; of equal ones
    /// one that is drawn.
    fn least(
        &self,
        (ports, vcs): (Productive, Range<u8>),
        view: &impl View,
        draws: &mut impl Draws,
    ) -> Option<(Request, u32)> {
        let (mut least, mut equal) = ((false, u32::MAX), 0u64);
        ports.each(|port| {
            let open = Self::roomiest(port, &vcs, view).is_some();
            let found = (open, self.outstanding(port, view));
            if equal == 0 || open && !least.0 || open == least.0 && found.1 < least.1 {
                (least, equal) = (found, 0);
            }
            if found == least {
                equal |= 1 << (port - usize::from(self.first_link));
            }
        });
        let several = equal.count_ones();
        if several == 0 {
            return None;
        }
        let nth = if least.0 && several > 1 { draws.attempt().below(several) } else { 0 };
        let port = Productive { ports: equal, ..ports }.nth(nth);
        let request = Self::roomiest(port, &vcs, view).unwrap_or(Request { port, vc: vcs.start });
        Some((request, least.1))
    }

    /// What is outstanding behind a port in all VCs together that packets use.
    fn outstanding(&self, port: usize, view: &impl View) -> u32 {
        (0..self.vcs).map(|vc| view.occupancy(Request { port, vc })).sum()
    }

    /// The VC of a port with most credits of those that can take the packet, of equal ones the highest.
    fn roomiest(port: usize, vcs: &Range<u8>, view: &impl View) -> Option<Request> {
        let requests = vcs.clone().map(|vc| Request { port, vc });
        requests.filter(|&request| view.open(request)).max_by_key(|&request| view.credits(request))
    }
}

impl Mechanism for Fpar {
    const READS: OfSource = OfSource::Group;

    fn base(&self) -> &Minimal {
        &self.base
    }

    fn route(&self, head: &Head, _: &mut RouteState, _: impl Fn() -> Stream) -> Route {
        if head.router == head.destination {
            return Route::Arrived;
        }
        let levels = self.levels(head);
        let (ports, vcs) = if levels.straight == 0 { levels.detours() } else { levels.straight() };
        let (port, vc) = (ports.nth(0), vcs.start);
        let class = self.base.topology().link_class(port);
        if levels.detours == 0 && ports.ports.is_power_of_two() && vcs.len() == 1 {
            return Route::Fixed(Hop { port: port as u16, class, leg: Leg::Final, reuses: false, vc });
        }
        Route::Undecided(Prospect {
            minimal: Way { port: port as u16, class, vc },
            choice: Choice::Levels(levels),
        })
    }

    fn each_choice(
        &self,
        head: &Head,
        prospect: &Prospect,
        state: RouteState,
        visit: &mut impl FnMut(Way, RouteState),
    ) {
        let Choice::Levels(levels) = &prospect.choice else { unreachable!("leaves and spines") };
        let turned = Self::turned(head, state);
        for ((ports, vcs), after) in [(levels.straight(), state), (levels.detours(), turned)] {
            ports.each(|port| {
                let class = self.base.topology().link_class(port);
                vcs.clone().for_each(|vc| visit(Way { port: port as u16, class, vc }, after));
            });
        }
    }

    fn decide(
        &self,
        prospect: &Prospect,
        state: &mut RouteState,
        view: &impl View,
        draws: &mut impl Draws,
    ) -> Decision {
        let Choice::Levels(levels) = &prospect.choice else { unreachable!("leaves and spines") };
        let head = &view.head();
        let straight = self.least(levels.straight(), view, draws);
        let detour = self.least(levels.detours(), view, draws);
        let weigh = |detour: u32| u64::from(detour) * u64::from(self.rule.detour_weight);
        let threshold = u64::from(view.length()) * u64::from(self.rule.threshold);
        let turns = match (straight, detour) {
            (Some((_, straight)), Some((_, detour))) => u64::from(straight) > weigh(detour) + threshold,
            _ => straight.is_none(),
        };
        let (chosen, after) = if turns { (detour, Self::turned(head, *state)) } else { (straight, *state) };
        Decision { request: chosen.map(|(request, _)| request), after }
    }

    fn redecides(&self) -> bool {
        true
    }
}
