//! The dragonfly+: see [`Config`].

use super::arrangement::{Arrangement, Links};
use super::family::{Family, check_ports, check_routers, nodes};
use super::graph::Graph;
use super::shortest::Ties;
use super::wiring::{Groups, MAX_ROUTERS, Second};
use super::{Interconnect as _, NODES_PER_ROUTER, Parameters};
use crate::error::{ConfigError, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Groups of leaf routers, which have nodes, and spine routers, which have links to other groups (megafly): in a group every leaf is
/// joined to every spine by a local link, and every two groups by global links between spines.
///
/// Numbering: leaf l of group g is router g · `leaves` + l, and behind all leaves spine s of group g is router
/// groups · `leaves` + g · `spines` + s. Node n is at leaf ⌊n / `nodes_per_leaf`⌋. A router's ports are the terminal ones, which only
/// leaves use; the local ones, max(`leaves`, `spines`) in number, in the order of the routers there, of which those with fewer links leave the last
/// unplugged; and the global ones, which only spines use, in the order of the routers there. Global slot s · `global_links` + i of a group
/// is link i of its spine s.
///
/// Groups: as in a dragonfly. With `spines` · `global_links` + 1 of them every pair shares one global link; with fewer, the slots wrap
/// round and each pair shares several, some pairs one more than others.
///
/// Routing is that of `graph`: `minimal`, from leaf to spine, spine and leaf, or in a group over one spine, needs no order of VCs, nor do
/// `adaptive` and `ecmp`, which take any such path; `valiant` and `ugal` go over any leaf, on two such paths with a VC for each. `par`, which
/// may turn in a spine, `polarized` and `k_shortest_paths` need a local and a global VC for every link of a path, whatever its class. `fpar` decides in
/// every router of the groups. Mechanisms that look at the groups of a dragonfly are for dragonflies. At most 20,480 routers.
///
/// Source: Shpiner et al., HiPINEB 2017; Flajslik et al., ISC 2018 (megafly).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DragonflyPlusTopology")]
pub struct Config {
    /// Leaf routers of a group.
    #[schemars(range(min = *SIZES.start(), max = *SIZES.end()))]
    pub leaves: u32,
    /// Spine routers of a group; default as many as leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *SIZES.start(), max = *SIZES.end()))]
    pub spines: Option<u32>,
    /// Nodes of a leaf; default as many as it has links, `spines` \[1 … 64\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *NODES_PER_ROUTER.start(), max = *NODES_PER_ROUTER.end()))]
    pub nodes_per_leaf: Option<u32>,
    /// Global links of a spine; default as many as it has local ones, `leaves`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *SIZES.start(), max = *SIZES.end()))]
    pub global_links: Option<u32>,
    /// Number of groups \[2 … `spines` · `global_links` + 1\]; default that: one global link between every pair of groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2))]
    pub groups: Option<u32>,
    /// How the global links of a group are spread over the other groups; slots are numbered as said above.
    #[serde(default)]
    pub arrangement: Arrangement,
    /// Which of several equally short paths of minimal routing packets take.
    #[serde(default)]
    pub ties: Ties,
}

/// Leaves and spines that a group may have, and global links of a spine.
const SIZES: RangeInclusive<u32> = 1..=254;

/// All numbers.
#[derive(Clone, Copy)]
struct Shape {
    leaves: u32,
    spines: u32,
    nodes: u32,
    global: u32,
    groups: u32,
}

impl Parameters for Config {
    type Built = Graph;

    fn build(&self) -> Result<Graph, ConfigError> {
        let shape = self.shape()?;
        let Shape { leaves, spines, groups, .. } = shape;
        Family {
            name: "dragonfly_plus",
            routers: groups * (leaves + spines),
            links: shape.local_links(),
            second: Some((
                shape.global_links(self.arrangement),
                Second::Global(Groups { count: groups, leaves, spines }),
            )),
            routers_with_nodes: groups * leaves,
            nodes_per_router: shape.nodes,
            goes_up_and_down: true,
            ties: self.ties,
        }
        .build()
    }

    fn resolve(&mut self, built: &Graph) {
        let spines = *self.spines.get_or_insert(self.leaves);
        self.nodes_per_leaf = Some(built.nodes_per_router());
        self.global_links.get_or_insert(self.leaves);
        self.groups = Some(built.routers() / (self.leaves + spines));
    }

    fn ties(&self) -> Option<Ties> {
        Some(self.ties)
    }

    fn examples() -> Vec<Self> {
        let of = |leaves, spines, nodes, global| Self {
            leaves,
            spines: Some(spines),
            nodes_per_leaf: Some(nodes),
            global_links: Some(global),
            groups: None,
            arrangement: Arrangement::default(),
            ties: Ties::Spread,
        };
        vec![of(2, 2, 1, 1), of(3, 2, 2, 2)]
    }
}

impl Config {
    fn shape(&self) -> Result<Shape, ConfigError> {
        let leaves = self.leaves;
        within(SIZES, leaves, "leaves")?;
        let spines = self.spines.unwrap_or(leaves);
        within(SIZES, spines, "spines")?;
        let global = self.global_links.unwrap_or(leaves);
        within(SIZES, global, "global_links")?;
        let nodes = nodes(self.nodes_per_leaf, spines, "nodes_per_leaf")?;
        check_ports((u64::from(leaves.max(spines)) + u64::from(global), nodes), "leaves", &leaves)?;
        let most = spines * global + 1;
        let groups = self.groups.unwrap_or(most);
        if !(2..=most).contains(&groups) {
            let reason = format!("the spines of a group have {} global links altogether", most - 1);
            return Err(ConfigError::new("groups", reason).value(groups).valid(format!("2 … {most}")));
        }
        let fitting = most.min(MAX_ROUTERS / (leaves + spines));
        let routers = u64::from(groups) * u64::from(leaves + spines);
        check_routers(
            routers,
            "groups",
            &groups,
            format!("2 … {fitting} groups of {} routers", leaves + spines),
        )?;
        Ok(Shape { leaves, spines, nodes, global, groups })
    }
}

impl Shape {
    fn spine(&self, group: u32, number: u32) -> u32 {
        self.groups * self.leaves + group * self.spines + number
    }

    fn local_links(&self) -> Vec<[u32; 2]> {
        let leaves = (0..self.groups).flat_map(|group| (0..self.leaves).map(move |leaf| (group, leaf)));
        let of_leaf = |(group, leaf): (u32, u32)| {
            (0..self.spines).map(move |spine| [group * self.leaves + leaf, self.spine(group, spine)])
        };
        leaves.flat_map(of_leaf).collect()
    }

    fn global_links(&self, arrangement: Arrangement) -> Vec<[u32; 2]> {
        let slots = self.spines * self.global;
        let links = Links::new(arrangement, (self.groups, slots), None);
        let mut found = Vec::new();
        for (group, slot) in (0..self.groups).flat_map(|group| (0..slots).map(move |slot| (group, slot))) {
            let Some((peer, back)) = links.peer(group, slot) else { continue };
            if group < peer {
                found.push([self.spine(group, slot / self.global), self.spine(peer, back / self.global)]);
            }
        }
        found
    }
}
