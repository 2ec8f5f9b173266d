//! Detours: where a nonminimal path first leads, shared by oblivious and source-adaptive mechanisms.

use super::detour_region::DetourRegion;
use super::minimal::Minimal;
use super::{Paths, vcs};
use hopsim_network::error::ConfigError;
use hopsim_network::network::NONE;
use hopsim_network::topology::dragonfly::Dragonfly;
use hopsim_network::topology::{Interconnect, Topology};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which groups are candidates for the detour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Random-router global (RRG): behind any global link of the source group. Costs a local hop to reach the link.
    #[default]
    Rrg,
    /// Current-router global (CRG): behind the source router's own global links. Saves that local hop.
    Crg,
    /// Neighbour-router global (NRG): behind the global links of the other routers of the source group. Always takes a
    /// local hop first.
    Nrg,
}

/// Whether the source group itself can be the intermediate group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntermediateGroups {
    /// Never (FOGSim `SRCEXC`).
    #[default]
    Other,
    /// With probability (a − 1) / routers, as if drawn among all other routers (FOGSim `FULL`).
    Any,
}

/// What happens to packets whose destination is in the source group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntraGroup {
    /// A detour through another group, like all other packets.
    #[default]
    Global,
    /// A detour through a random router of the group, over local links only.
    Local,
    /// The minimal path.
    Minimal,
}

/// What the draw of an intermediate router depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detour {
    /// Which groups are candidates.
    pub policy: Policy,
    /// Whether the source group is one.
    pub groups: IntermediateGroups,
    /// Packets inside the group.
    pub intra_group: IntraGroup,
    /// The candidates without groups.
    pub region: DetourRegion,
}

/// The dragonfly of a topology with groups, or why the mechanism cannot run.
pub fn dragonfly(topology: &Topology) -> Result<&Dragonfly, ConfigError> {
    topology.dragonfly().ok_or_else(|| {
        let reason = if topology.groups() > 1 {
            "needs the groups of a dragonfly, whose routers are all joined to each other"
        } else {
            "needs a topology with groups"
        };
        ConfigError::new("", reason).valid("topology.dragonfly")
    })
}

impl Detour {
    /// Refuses what the topology has no candidates for. `group` is whether the detour ends on entering a group.
    pub fn check(&self, topology: &Topology, group: bool) -> Result<(), ConfigError> {
        let dragonfly = match topology {
            Topology::Dragonfly(dragonfly) => dragonfly,
            Topology::FatTree(_) => {
                return Err(ConfigError::new("", "the ways up a fat tree are its detours")
                    .valid("routing.minimal with up = \"random\", or routing.adaptive"));
            }
            _ => return self.check_without_groups(topology, group),
        };
        self.region.check(topology)?;
        self.policy.check(dragonfly)
    }

    /// Refuses choices among groups.
    fn check_without_groups(self, topology: &Topology, group: bool) -> Result<(), ConfigError> {
        let refuse = |key: &str, valid: &str| {
            let reason = if topology.groups() > 1 {
                "chooses among the groups of a dragonfly, and here any router with nodes may be the intermediate one"
            } else {
                "chooses among groups, which the topology does not have"
            };
            Err(ConfigError::new(key, reason).valid(valid))
        };
        if group {
            return refuse("intermediate", "router");
        }
        if self.policy != Policy::Rrg {
            return refuse("policy", "no such key: any router can be the intermediate one");
        }
        if self.groups != IntermediateGroups::Other {
            return refuse("intermediate_groups", "no such key");
        }
        self.region.check(topology)
    }
}

/// The paths of detours where there are no groups, `None` where there are.
pub fn paths_without_groups(topology: &Topology) -> Result<Option<Paths>, ConfigError> {
    match topology {
        Topology::Cube(_) => Ok(Some(Paths::two_phases(topology.diameter()))),
        Topology::Dragonfly(_) | Topology::FatTree(_) | Topology::Ideal(_) => Ok(None),
        _ => {
            let links = match topology {
                Topology::Graph(graph) => graph.diameter_with_nodes(),
                _ => topology.diameter(),
            };
            let in_phases = matches!(topology, Topology::Graph(graph) if graph.goes_up_and_down());
            if in_phases {
                return Ok(Some(Paths::two_phases(links.max(1))));
            }
            by_hop(0, [links; 2]).map(Some)
        }
    }
}

/// Paths with a VC for each link: `first` links of a minimal path, and two shortest paths of up to so many links.
pub fn by_hop(first: u32, shortest: [u32; 2]) -> Result<Paths, ConfigError> {
    let links = first + shortest[0] + shortest[1];
    if links > vcs::MOST {
        let behind = if first > 0 { ", behind a hop of the minimal path," } else { "" };
        let reason = format!(
            "a path through an intermediate router{behind} has up to {links} links and needs as many VCs, and a link has at most {}",
            vcs::MOST
        );
        let apart = (vcs::MOST - first) / 2;
        return Err(ConfigError::new("", reason)
            .valid(format!("routers with nodes at most {apart} links apart; routing.minimal or up_down")));
    }
    // A single router with nodes has a path of no link. A packet that turns off behind its first hop may hold a VC that the rest of its
    // path would need.
    Ok(if first == 0 { Paths::sharing(links.max(2)) } else { Paths::by_hop(links.max(2)) })
}

impl IntraGroup {
    /// Refuses another choice than the default of a mechanism where there are no groups.
    pub fn check(self, default: Self, topology: &Topology) -> Result<(), ConfigError> {
        if self == default || topology.dragonfly().is_some() {
            return Ok(());
        }
        let value = match self {
            Self::Global => "global",
            Self::Local => "local",
            Self::Minimal => "minimal",
        };
        let reason = if topology.groups() > 1 {
            "is about packets inside a group of a dragonfly"
        } else {
            "is about packets inside a group, and the topology has no groups"
        };
        Err(ConfigError::new("intra_group", reason).value(value).valid("no such key"))
    }
}

impl Policy {
    /// Refuses a policy without candidates.
    pub fn check(self, dragonfly: &Dragonfly) -> Result<(), ConfigError> {
        if self == Self::Nrg && dragonfly.a() < 2 {
            return Err(ConfigError::new("policy", "a group of one router has no neighbour routers")
                .value("nrg")
                .valid("rrg or crg, or a ≥ 2"));
        }
        let idle = dragonfly.router_without_global_link();
        if let (Self::Crg | Self::Nrg, Some(router)) = (self, idle) {
            return Err(ConfigError::new("policy", format!("router {router} has no connected global link"))
                .value(if self == Self::Crg { "crg" } else { "nrg" })
                .valid("rrg, or another number of groups"));
        }
        Ok(())
    }
}

impl Detour {
    /// The intermediate router of a packet from router `at` to router `to`, `NONE` for the minimal path. Without groups it
    /// is any router of the region; the ends stand for the minimal path.
    pub fn draw(&self, topology: &Topology, (at, to): (u32, u32), stream: &mut Stream) -> u32 {
        let Topology::Dragonfly(t) = topology else {
            let via = self.region.draw(topology, (at, to), stream);
            return if leads(topology, (at, to), via) { via } else { NONE };
        };
        let group = t.group(at);
        let inside = |stream: &mut Stream| group * t.a() + stream.below(t.a());
        if group == t.group(to) {
            match self.intra_group {
                IntraGroup::Global => {}
                IntraGroup::Local => return inside(stream),
                IntraGroup::Minimal => return NONE,
            }
        }
        if self.groups == IntermediateGroups::Any && stream.below(t.routers()) < t.a() - 1 {
            return inside(stream);
        }
        let position = t.position(at);
        let (first, count) = match self.policy {
            Policy::Rrg => (0, t.a() * t.h()),
            Policy::Crg => (position * t.h(), t.h()),
            Policy::Nrg => ((position + 1) * t.h(), (t.a() - 1) * t.h()),
        };
        loop {
            let slot = (first + stream.below(count)) % (t.a() * t.h());
            if let Some(other) = t.group_behind(group, slot) {
                return other * t.a() + stream.below(t.a());
            }
        }
    }
}

/// Whether a packet may take a detour by way of a router, where there are no groups: one that is not one of the ends, and that can be reached.
#[inline]
fn leads(topology: &Topology, (at, to): (u32, u32), via: u32) -> bool {
    via != at && via != to && (!topology.is_apart() || topology.reaches(at, via))
}

impl Detour {
    /// Visits every intermediate router that [`Self::draw`] may draw, some of them twice.
    pub fn each(&self, topology: &Topology, (at, to): (u32, u32), mut visit: impl FnMut(u32)) {
        let Topology::Dragonfly(t) = topology else {
            let visit = |via| visit(if leads(topology, (at, to), via) { via } else { NONE });
            return self.region.each(topology, (at, to), visit);
        };
        let group = t.group(at);
        let inside = group * t.a()..(group + 1) * t.a();
        if group == t.group(to) {
            match self.intra_group {
                IntraGroup::Global => {}
                IntraGroup::Local => return inside.for_each(visit),
                IntraGroup::Minimal => return visit(NONE),
            }
        }
        if self.groups == IntermediateGroups::Any && t.a() > 1 {
            inside.for_each(&mut visit);
        }
        let own = t.position(at) * t.h()..(t.position(at) + 1) * t.h();
        let may_be_drawn = |slot: &u32| match self.policy {
            Policy::Rrg => true,
            Policy::Crg => own.contains(slot),
            Policy::Nrg => !own.contains(slot),
        };
        let slots = (0..t.a() * t.h()).filter(may_be_drawn);
        for other in slots.filter_map(|slot| t.group_behind(group, slot)) {
            (other * t.a()..(other + 1) * t.a()).for_each(&mut visit);
        }
    }
}

impl Minimal {
    /// The dragonfly that packets are routed on.
    #[inline]
    pub fn dragonfly(&self) -> &Dragonfly {
        let Topology::Dragonfly(dragonfly) = self.topology() else {
            unreachable!("the plan refuses other topologies")
        };
        dragonfly
    }

    /// Whether a detour to `via` has come to its end in router `at`, or, with `group`, in its group.
    #[inline]
    pub fn has_reached(&self, at: u32, via: u32, group: bool) -> bool {
        if group { self.topology().group(at) == self.topology().group(via) } else { at == via }
    }
}
