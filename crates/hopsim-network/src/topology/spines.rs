//! Groups of leaves and spines, as routing that looks at them sees them: see [`LeafSpine`].

use super::wiring::Groups;
use super::{PortClass, Topology};
use crate::error::ConfigError;
use std::collections::BTreeSet;

/// Groups of leaves and spines: in each every leaf is joined to every spine by one link, and to nothing else; all other links are between
/// spines of different groups, and join every group to every other one.
#[derive(Clone, Debug)]
pub struct LeafSpine {
    groups: Groups,
    /// The port of every leaf to each spine of its group, and of every spine to each leaf of its group, by number in the group.
    inside: Vec<Vec<u16>>,
    /// The links of every spine to other groups: the group, and the port.
    between: Vec<Vec<(u32, u16)>>,
    /// The links of every group to other groups, sorted: the other group, and the number of the spine here.
    exits: Vec<Vec<(u32, u16)>>,
}

impl LeafSpine {
    /// The groups of a topology; refuses one that has no such groups, or in which links of them are missing.
    pub fn new(topology: &Topology) -> Result<Self, ConfigError> {
        let refuse = |reason: &str| Err(ConfigError::new("", reason).valid("topology.dragonfly_plus"));
        let groups = match topology {
            Topology::Graph(graph) => graph.leaves_and_spines(),
            _ => None,
        };
        let Some(groups) = groups else {
            return refuse(if topology.groups() > 1 {
                "needs groups of leaf and spine routers, of which only spines have links to other groups"
            } else {
                "needs a topology with groups"
            });
        };
        let mut found = Self {
            groups,
            inside: Vec::new(),
            between: Vec::new(),
            exits: vec![Vec::new(); groups.count as usize],
        };
        for router in 0..topology.routers() {
            if let Err(reason) = found.add(topology, router) {
                return refuse(&reason);
            }
        }
        for exits in &mut found.exits {
            exits.sort_unstable();
        }
        match found.strangers() {
            Some([one, other]) => refuse(&format!(
                "needs a link between every two groups, and groups {one} and {other} have none"
            )),
            None => Ok(found),
        }
    }

    /// Adds a router with its links; if they are not those of a leaf or a spine, says so.
    fn add(&mut self, topology: &Topology, router: u32) -> Result<(), String> {
        let Groups { leaves, spines, .. } = self.groups;
        let (group, is_leaf) = (topology.group(router), self.is_leaf(router));
        let mut inside = vec![None; if is_leaf { spines } else { leaves } as usize];
        let mut between = Vec::new();
        for (port, class) in topology.ports().into_iter().enumerate() {
            let (PortClass::Link(_), Some((peer, _))) = (class, topology.neighbour(router, port)) else {
                continue;
            };
            let there = topology.group(peer);
            if there == group && self.is_leaf(peer) != is_leaf {
                if inside[self.number(peer) as usize].replace(port as u16).is_some() {
                    return Err(format!(
                        "needs one link between a leaf and a spine, and routers {router} and {peer} have more"
                    ));
                }
            } else if there != group && !is_leaf && !self.is_leaf(peer) {
                between.push((there, port as u16));
                let number = self.number(router) as u16;
                self.exits[group as usize].push((there, number));
            } else {
                return Err(format!(
                    "needs links between leaves and spines of a group and between spines of different groups alone, and routers {router} and {peer} are joined"
                ));
            }
        }
        let Some(ports) = inside.iter().copied().collect() else {
            return Err(format!(
                "needs a link between every leaf and every spine of a group, and router {router} of group {group} lacks one"
            ));
        };
        self.inside.push(ports);
        if !is_leaf {
            self.between.push(between);
        }
        Ok(())
    }

    /// Two groups without a link between them.
    fn strangers(&self) -> Option<[u32; 2]> {
        let count = self.groups.count;
        (0..count).find_map(|group| {
            let joined: BTreeSet<u32> = self.exits[group as usize].iter().map(|exit| exit.0).collect();
            (0..count).find(|other| *other != group && !joined.contains(other)).map(|other| [group, other])
        })
    }

    fn first_spine(&self) -> u32 {
        self.groups.count * self.groups.leaves
    }

    /// Whether a router is a leaf: one with nodes.
    #[inline]
    pub fn is_leaf(&self, router: u32) -> bool {
        router < self.first_spine()
    }

    /// The group of a router.
    #[inline]
    pub fn group(&self, router: u32) -> u32 {
        let Groups { leaves, spines, .. } = self.groups;
        router.checked_sub(self.first_spine()).map_or(router / leaves, |spine| spine / spines)
    }

    /// The number of a router among the leaves, or the spines, of its group.
    fn number(&self, router: u32) -> u32 {
        let Groups { leaves, spines, .. } = self.groups;
        router.checked_sub(self.first_spine()).map_or(router % leaves, |spine| spine % spines)
    }

    /// The ports of a leaf to the spines of its group, or of a spine to the leaves of its group, by their numbers in the group.
    #[inline]
    pub fn inside(&self, router: u32) -> &[u16] {
        &self.inside[router as usize]
    }

    /// The port of a spine to a leaf of its group.
    #[inline]
    pub fn down(&self, spine: u32, leaf: u32) -> u16 {
        self.inside[spine as usize][self.number(leaf) as usize]
    }

    /// The links of a spine to other groups: the group, and the port.
    #[inline]
    pub fn between(&self, spine: u32) -> &[(u32, u16)] {
        &self.between[(spine - self.first_spine()) as usize]
    }

    /// The links of a group to another one, each with the number of its spine here.
    #[inline]
    pub fn exits(&self, group: u32, to: u32) -> &[(u32, u16)] {
        let exits = &self.exits[group as usize];
        let first = exits.partition_point(|exit| exit.0 < to);
        let count = exits[first..].iter().take_while(|exit| exit.0 == to).count();
        &exits[first..first + count]
    }

    /// Whether a spine has a link to another group.
    #[inline]
    pub fn leads_out(&self, group: u32, number: u32) -> bool {
        !self.between[(group * self.groups.spines + number) as usize].is_empty()
    }
}
