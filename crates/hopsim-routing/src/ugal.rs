//! Universal globally-adaptive load-balanced routing with local knowledge: see [`Config`].

use super::detour::{Detour, IntermediateGroups, IntraGroup, Policy, paths_without_groups};
use super::detour_region::DetourRegion;
use super::minimal::Minimal;
use super::source::{DETOURS, PathLengths, Source, SourceRule, THRESHOLDS};
use super::valiant::{VIA_GROUP, VIA_ROUTER};
use super::{Paths, Reverts};
use hopsim_network::error::ConfigError;
use hopsim_network::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a detour ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DetourEnd {
    /// On entering the intermediate group. Needs 3 local and 2 global VCs.
    #[default]
    Group,
    /// At a random router of the intermediate group. Needs 4 local and 2 global VCs.
    Router,
}

impl DetourEnd {
    /// The paths of such detours.
    pub fn paths(self) -> Paths {
        let order = if self == Self::Group { VIA_GROUP } else { VIA_ROUTER };
        Paths::ordered(order.reverting(Reverts::AtInjection))
    }
}

/// What a packet that compares two first links looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Occupancy {
    /// The VC that it would ask for.
    #[default]
    Vc,
    /// All VCs of the port.
    Port,
}

/// How far a packet that compares two paths sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Knowledge {
    /// The outputs of its own router (UGAL-L): the first links.
    #[default]
    Local,
    /// The outputs of all routers, as the cycle begins (UGAL-G): all links of the paths.
    Global,
}

/// A packet at the head of its injection VC compares the first link m of its minimal path with the first link v of a
/// detour drawn once at random, or of the best of several (`detours`), and takes the detour if
///
/// occupancy(m) · links(minimal path) > occupancy(v) · links(detour) + `threshold` · packet length.
///
/// Occupancy counts the phits of the VC that it would ask for, or with `occupancy = "port"` of all VCs of its port: in the output
/// queue, on the link and in the next buffer. The links
/// of the detour are those of the shortest paths to the intermediate router and on from there; over a group those to the
/// router by which the packet enters the group, by the link of the lowest slot where there are several, and of the shortest path
/// on from there. Of equal sides the packet takes the minimal path, and so it does if its detour ends where it begins.
///
/// With `knowledge = "global"` (UGAL-G) it sees the outputs of all routers as the cycle begins, which no real router could, and takes the
/// detour if
///
/// Σ outstanding(links of the minimal path) > Σ outstanding(links of the detour) + `threshold` · packet length.
///
/// Outstanding counts all VCs of a port, so `occupancy` must be `"port"`, and links are not counted besides. Where a path is drawn the first
/// of several stands for the one that will be drawn at the intermediate router. The network is simulated as one region: threads do not
/// make the run shorter.
///
/// With local knowledge it knows only the outputs of its own router, so it does not see a saturated global link of a neighbour until
/// the local link to that neighbour fills up: see `piggyback`.
///
/// Paths and VCs: `lglgl` over a group (3 local, 2 global VCs), `lgllgl` through a router (4/2), in increasing
/// order: no deadlock. At most 5 or 6 links: no livelock.
///
/// With `path_lengths = "consecutive"` a path to another group has a global link, and a local one at either end unless it begins,
/// or ends, at the router that would hold the link between the two groups: group x has its link to group y at slot y, or
/// y − 1 if y > x, and slot s is at position ⌊s / h⌋. A detour is the path to the intermediate router, without the local link at
/// its end if it leads to another group, and the path on from there, also if it ends on entering the group.
///
/// In a mesh, torus or ring the intermediate router is any router, each equally likely, in a HyperX or graph any router with nodes,
/// or one of a region (`within`), and the keys about groups stay at their defaults; the VCs are those of `valiant` there.
///
/// Source: Singh's thesis (Stanford, 2005); Kim et al., ISCA 2008 (UGAL-L on the dragonfly); Fuentes' thesis (2017),
/// §1.4.1.3; Besta and Hoefler, SC 2014 (several detours, UGAL-G as it is here, and `within = "neighbours"` Lakhotia et al., SC 2022).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "UgalRouting")]
pub struct Config {
    /// Where a detour ends; default `group` in a dragonfly, `router` elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intermediate: Option<DetourEnd>,
    /// Which groups are candidates for the detour.
    pub policy: Policy,
    /// Packets whose destination is in the source group.
    pub intra_group: IntraGroup,
    /// Which routers a detour may lead through where there are no groups.
    pub within: DetourRegion,
    /// How many detours are drawn, each as if alone: the one with the least occupancy(v) · links(detour) is v, of equal ones the first.
    #[schemars(range(min = *DETOURS.start(), max = *DETOURS.end()))]
    pub detours: u32,
    /// How much longer the wait for the minimal path must be \[packets\].
    #[schemars(range(min = *THRESHOLDS.start(), max = *THRESHOLDS.end()))]
    pub threshold: u32,
    /// How path lengths are counted.
    pub path_lengths: PathLengths,
    /// What is compared of the first links.
    pub occupancy: Occupancy,
    /// Whether the first links of the paths are compared or all of them.
    pub knowledge: Knowledge,
    /// Whether a waiting packet that has chosen the detour keeps to it; otherwise every attempt decides anew.
    pub sticky: bool,
    /// Whether a packet decides in its first attempt, for the minimal path as for the detour, and keeps to that however long it waits.
    pub once: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            intermediate: None,
            policy: Policy::Rrg,
            intra_group: IntraGroup::Minimal,
            within: DetourRegion::Network,
            detours: 1,
            threshold: 0,
            path_lengths: PathLengths::Shortest,
            occupancy: Occupancy::Vc,
            knowledge: Knowledge::Local,
            sticky: true,
            once: false,
        }
    }
}

/// Decides at the source.
pub type Ugal = Source;

impl Config {
    /// The rule by which the mechanism decides.
    pub fn rule(&self, intermediate: DetourEnd) -> SourceRule {
        SourceRule {
            detour: Detour {
                policy: self.policy,
                groups: IntermediateGroups::Other,
                intra_group: self.intra_group,
                region: self.within,
            },
            group: intermediate == DetourEnd::Group,
            detours: self.detours,
            threshold: self.threshold,
            lengths: self.path_lengths,
            occupancy: self.occupancy,
            knowledge: self.knowledge,
            detour_lengths: true,
            longest_detour: u32::MAX,
            saturation: None,
            recompute: false,
            sticky: self.sticky,
            once: self.once,
        }
    }

    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        let intermediate = self.intermediate(topology);
        self.rule(intermediate).check(topology)?;
        self.intra_group.check(Self::default().intra_group, topology)?;
        Ok(paths_without_groups(topology)?.unwrap_or_else(|| intermediate.paths()))
    }

    fn intermediate(&self, topology: &Topology) -> DetourEnd {
        let default = if topology.dragonfly().is_some() { DetourEnd::Group } else { DetourEnd::Router };
        self.intermediate.unwrap_or(default)
    }

    /// The mechanism over the minimal paths of `base`.
    pub fn build(&self, base: Minimal) -> Ugal {
        Source::new(self.rule(self.intermediate(base.topology())), base)
    }
}
