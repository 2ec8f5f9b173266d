//! Progressive adaptive routing: see [`Config`].

use super::detour::{Detour, IntermediateGroups, IntraGroup, Policy, by_hop};
use super::detour_region::DetourRegion;
use super::in_transit::{Candidates, InTransit, InTransitRule, LocalMisroutes, MisroutePolicy};
use super::minimal::Minimal;
use super::path::{G, L};
use super::progressive::Progressive;
use super::prospect::Prospect;
use super::source::{PathLengths, SourceRule, THRESHOLDS};
use super::trigger::TriggerConfig;
use super::ugal::{Knowledge, Occupancy};
use super::view::{Draws, Sensors, View};
use super::{Decision, Flexible, Head, Mechanism, OfSource, Ordered, Paths, Reverts, Route, RouteState, Way};
use hopsim_network::error::ConfigError;
use hopsim_network::topology::{Interconnect as _, Topology};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// As `olm`, with a VC for every link: local misroutes go on in increasing order instead of using VCs again, and
/// happen in the source group (`mm`) and in intermediate groups only.
///
/// Paths and VCs: `llgllgl`, at most 7 links, so 5 local and 2 global VCs, in increasing order: no deadlock. One global
/// misroute, one local one per group: no livelock.
///
/// In a graph, a family of graphs or a HyperX a packet decides as with `ugal`, and if that was for its minimal path once more, with
/// another detour drawn, where the first hop has led: there it sees what no router before it did. In either router it decides anew in every
/// attempt. A hop has the VC whose number is that of the links passed before, so a link has as many VCs as the longest path has links: one,
/// then twice as many as routers with nodes are apart at most (where they are next to each other two). VCs increase along the path: no
/// deadlock. The keys about misroutes and triggers stay at their defaults.
///
/// Source: Jiang, Kim and Dally, ISCA 2009; García et al., ICPP 2013 (PAR-6/2); Fuentes' thesis (2017), §1.4.1.4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "ParRouting")]
pub struct Config {
    /// Misroutes in the source group: `mm` or `crg`, which begin with the own global links.
    pub policy: MisroutePolicy,
    /// Local misroutes in intermediate groups.
    pub local_misrouting: bool,
    /// How a misroute is found.
    pub candidates: Candidates,
    /// When a packet looks for one.
    pub trigger: TriggerConfig,
    /// Not in a dragonfly: how much longer the wait for the minimal path must be; default 0 \[packets\].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *THRESHOLDS.start(), max = *THRESHOLDS.end()))]
    pub threshold: Option<u32>,
    /// Not in a dragonfly: what is compared of the first links; default `vc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occupancy: Option<Occupancy>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            policy: MisroutePolicy::Mm,
            local_misrouting: true,
            candidates: Candidates::All,
            trigger: TriggerConfig::default(),
            threshold: None,
            occupancy: None,
        }
    }
}

/// Decides in every router of a dragonfly, elsewhere in the first two.
#[derive(Clone, Debug)]
pub enum Par {
    /// Misroutes over links of a class.
    Misrouting(InTransit),
    /// Compares the minimal path with a detour.
    Progressive(Progressive),
}

impl Config {
    fn rule(&self) -> InTransitRule {
        InTransitRule {
            policy: self.policy,
            local: if self.local_misrouting { LocalMisroutes::Intermediate } else { LocalMisroutes::None },
            candidates: self.candidates,
            trigger: self.trigger,
            reuses: false,
        }
    }

    /// The comparison where there are no groups.
    fn comparison(&self) -> SourceRule {
        SourceRule {
            detour: Detour {
                policy: Policy::Rrg,
                groups: IntermediateGroups::Other,
                intra_group: IntraGroup::Minimal,
                region: DetourRegion::Network,
            },
            group: false,
            detours: 1,
            threshold: self.threshold.unwrap_or(0),
            lengths: PathLengths::Shortest,
            occupancy: self.occupancy.unwrap_or_default(),
            knowledge: Knowledge::Local,
            detour_lengths: true,
            longest_detour: u32::MAX,
            saturation: None,
            recompute: false,
            sticky: false,
            once: false,
        }
    }

    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        if topology.dragonfly().is_none() {
            return self.paths_without_groups(topology);
        }
        self.refuse_comparison()?;
        if let MisroutePolicy::Rrg | MisroutePolicy::Nrg = self.policy {
            let name = if self.policy == MisroutePolicy::Rrg { "rrg" } else { "nrg" };
            return Err(ConfigError::new("policy", "PAR misroutes over the own global links first")
                .value(name)
                .valid("mm or crg"));
        }
        self.rule().check(topology)?;
        let paths = Flexible {
            detour: &[L, L, G, L, L, G, L],
            escapes: &[&[G, L], &[L, G, L], &[L, G, L], &[L, G, L], &[G, L], &[L], &[]],
            references: &[&[L, L, G, L, L, G, L], &[L, G, L, L, G, L], &[L, G, L, G, L]],
            reverts: Reverts::Everywhere,
        };
        Ok(Paths::ordered(Ordered::new(&[L, L, G, L, L, G, L], paths)))
    }

    /// Refuses the keys of the comparison where there are groups.
    fn refuse_comparison(&self) -> Result<(), ConfigError> {
        let given = self.threshold.map(|_| "threshold").or(self.occupancy.map(|_| "occupancy"));
        given.map_or(Ok(()), |key| {
            let reason = "is about other networks; in a dragonfly the trigger decides";
            Err(ConfigError::new(key, reason).valid("no such key, or trigger"))
        })
    }

    /// A hop, and then two shortest paths.
    fn paths_without_groups(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        let default = Self::default();
        let of_groups = [
            ("policy", self.policy != default.policy),
            ("local_misrouting", self.local_misrouting != default.local_misrouting),
            ("candidates", self.candidates != default.candidates),
            ("trigger", self.trigger != default.trigger),
        ];
        if let Some((key, _)) = of_groups.into_iter().find(|&(_, is_given)| is_given) {
            let reason = "is about the groups of a dragonfly";
            return Err(ConfigError::new(key, reason).valid("no such key, or topology.dragonfly"));
        }
        self.comparison().check(topology)?;
        let [longest, apart] = match topology {
            Topology::Graph(graph) => [graph.diameter(), graph.diameter_with_nodes()],
            Topology::HyperX(hyperx) => [hyperx.diameter(); 2],
            _ => {
                let reason =
                    "decides again after the first hop, and needs groups or a VC for every link of a path";
                return Err(ConfigError::new("", reason)
                    .valid("topology.dragonfly, hyperx or graph, or routing.ugal"));
            }
        };
        // Where all are next to each other the first hop is the last one.
        if apart > 1 { by_hop(1, [longest, apart]) } else { Ok(Paths::by_hop((2 * apart).max(2))) }
    }

    /// The mechanism over the minimal paths of `base`.
    pub fn build(&self, base: Minimal) -> Par {
        if base.topology().dragonfly().is_some() {
            Par::Misrouting(InTransit::new(self.rule(), base))
        } else {
            Par::Progressive(Progressive::new(self.comparison(), base))
        }
    }
}

impl Mechanism for Par {
    const READS: OfSource = OfSource::Group;

    fn base(&self) -> &Minimal {
        match self {
            Self::Misrouting(m) => m.base(),
            Self::Progressive(m) => m.base(),
        }
    }

    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    fn route(&self, head: &Head, state: &mut RouteState, draw: impl Fn() -> Stream) -> Route {
        match self {
            Self::Misrouting(m) => m.route(head, state, draw),
            Self::Progressive(m) => m.route(head, state, draw),
        }
    }

    fn bound_for(&self, head: &Head, state: RouteState) -> u32 {
        match self {
            Self::Misrouting(m) => m.bound_for(head, state),
            Self::Progressive(m) => m.bound_for(head, state),
        }
    }

    fn each_grant(&self, head: &Head, state: RouteState, visit: &mut impl FnMut(Option<Way>, RouteState)) {
        match self {
            Self::Misrouting(m) => m.each_grant(head, state, visit),
            Self::Progressive(m) => m.each_grant(head, state, visit),
        }
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
        match self {
            Self::Misrouting(m) => m.decide(prospect, state, view, draws),
            Self::Progressive(m) => m.decide(prospect, state, view, draws),
        }
    }

    fn draws(&self) -> bool {
        match self {
            Self::Misrouting(m) => m.draws(),
            Self::Progressive(m) => m.draws(),
        }
    }

    fn redecides(&self) -> bool {
        true
    }

    fn sensors(&self) -> Sensors {
        match self {
            Self::Misrouting(m) => m.sensors(),
            Self::Progressive(m) => m.sensors(),
        }
    }
}
