//! The k-ary n-tree: see [`Config`].

use super::{Interconnect, MAX_PORTS, Parameters, PortClass};
use crate::by_class::ByClass;
use crate::error::{ConfigError, within};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::ops::RangeInclusive;

/// A fat tree of `levels` levels of k^(levels − 1) switches with k ports down and k up, and k^levels nodes. The switches of
/// the last level have no ports up.
///
/// Numbering: switch number = level · k^(levels − 1) + word, where the word is levels − 1 digits in base k. Node n hangs from
/// switch ⌊n / k⌋ of level 0. Switches of levels l and l + 1 are joined if their words agree in every digit except
/// possibly digit l: port up u of level l leads to the word whose digit l is u, port down d of level l + 1 to the word whose
/// digit l is d. A switch's ports are k terminal (level 0 only), k down (other levels), k up.
///
/// Source: Petrini and Vanneschi, IPPS 1997; Izu and Vallejo, Simulation 2019, §3.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FatTreeTopology")]
pub struct Config {
    /// Ports down, and up, of a switch.
    #[schemars(range(min = *PORTS.start(), max = *PORTS.end()))]
    pub k: u32,
    /// Levels of switches.
    #[schemars(range(min = *LEVELS.start(), max = *LEVELS.end()))]
    pub levels: u32,
}

/// Ports down, and up, that a switch may have.
const PORTS: RangeInclusive<u32> = 2..=64;

/// Levels that a tree may have.
const LEVELS: RangeInclusive<u32> = 1..=12;

/// A k-ary n-tree.
#[derive(Clone, Debug)]
pub struct FatTree {
    k: u32,
    levels: u32,
    /// Switches of a level.
    width: u32,
}

impl FatTree {
    /// Checks the parameters.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        let Config { k, levels } = *config;
        within(PORTS, k, "k")?;
        within(LEVELS, levels, "levels")?;
        let roots = u64::from(k).saturating_pow(levels - 1);
        if roots > 1 << 16 {
            return Err(ConfigError::new("levels", format!("a level would have {roots} switches"))
                .value(levels)
                .valid("k^(levels - 1) ≤ 65536"));
        }
        let switches = u64::from(levels).saturating_mul(u64::from(k).saturating_pow(levels - 1));
        let ports = switches.saturating_mul(3 * u64::from(k));
        if ports > MAX_PORTS {
            let reason = format!("the network would have {switches} switches, more than memory holds");
            return Err(ConfigError::new("levels", reason)
                .value(levels)
                .valid(format!("levels · k^(levels - 1) ≤ {}", MAX_PORTS / (3 * u64::from(k)))));
        }
        Ok(Self { k, levels, width: k.pow(levels - 1) })
    }

    /// Ports down, and up, of a switch.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// Levels of switches.
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// The level of a switch.
    #[inline]
    pub fn level(&self, router: u32) -> u32 {
        router / self.width
    }

    /// Digit `digit` of a number.
    #[inline]
    pub fn digit(&self, number: u32, digit: u32) -> u32 {
        number / self.k.pow(digit) % self.k
    }

    /// Port down number `d`.
    #[inline]
    pub fn down(&self, d: u32) -> usize {
        (self.k + d) as usize
    }

    /// Port up number `u`.
    #[inline]
    pub fn up(&self, u: u32) -> usize {
        (2 * self.k + u) as usize
    }

    /// Whether the switches below `router`, or itself, hold the nodes of switch `leaf` of level 0.
    #[inline]
    pub fn is_above(&self, router: u32, leaf: u32) -> bool {
        let below = self.k.pow(self.level(router));
        router % self.width / below == leaf / below
    }

    /// Draws a root: the word of a switch of the last level.
    pub fn draw_root(&self, stream: &mut Stream) -> u16 {
        stream.below(self.width) as u16
    }

    /// The root with the lowest digits of a node.
    #[inline]
    pub fn root_of(&self, node: u32) -> u16 {
        (node % self.width) as u16
    }

    /// Links of the minimal paths between two switches of level 0: up to the nearest common ancestor and down again.
    pub fn distance(&self, from: u32, to: u32) -> u32 {
        let mut up = 0;
        let (mut from, mut to) = (from, to);
        while from != to {
            (from, to, up) = (from / self.k, to / self.k, up + 1);
        }
        2 * up
    }
}

impl Parameters for Config {
    type Built = FatTree;

    fn build(&self) -> Result<FatTree, ConfigError> {
        FatTree::new(self)
    }
}

impl Interconnect for FatTree {
    fn routers(&self) -> u32 {
        self.levels * self.width
    }

    fn routers_with_nodes(&self) -> u32 {
        self.width
    }

    fn ports(&self) -> Vec<PortClass> {
        let mut ports = vec![PortClass::Terminal; self.k as usize];
        ports.resize(3 * self.k as usize, PortClass::Link(0));
        ports
    }

    fn neighbour(&self, router: u32, port: usize) -> Option<(u32, usize)> {
        let (level, word) = (router / self.width, router % self.width);
        let set = |digit: u32, value: u32| {
            word - self.digit(word, digit) * self.k.pow(digit) + value * self.k.pow(digit)
        };
        match port as u32 / self.k {
            1 if level > 0 => {
                let (below, d) = (level - 1, port as u32 - self.k);
                Some((below * self.width + set(below, d), self.up(self.digit(word, below))))
            }
            2 if level + 1 < self.levels => {
                let u = port as u32 - 2 * self.k;
                Some(((level + 1) * self.width + set(level, u), self.down(self.digit(word, level))))
            }
            _ => None,
        }
    }

    #[inline]
    fn nearer(&self, at: u32, to: u32, _trunk: u16) -> (usize, u64) {
        if self.is_above(at, to) {
            (self.down(self.digit(to, self.level(at) - 1)), 1)
        } else {
            (self.up(0), u64::MAX >> (64 - self.k))
        }
    }

    #[inline]
    fn minimal_port(&self, at: u32, to: u32, root: u16) -> (usize, u8) {
        let level = self.level(at);
        if self.is_above(at, to) {
            (self.down(self.digit(to, level - 1)), 0)
        } else {
            (self.up(self.digit(u32::from(root), level)), 0)
        }
    }

    // Up from level l, and down to it, a packet goes by digit l of its destination.
    fn minimal_runs(&self, at: u32, mut put: impl FnMut(Range<u32>, usize)) {
        let level = self.level(at);
        let length = self.k.pow(level);
        let first = at % self.width / length * length * self.k;
        let below = first..first + length * self.k;
        for (start, digit) in (0..self.nodes()).step_by(length as usize).zip((0..self.k).cycle()) {
            match below.contains(&start) {
                true if level == 0 => {}
                true => put(start..start + length, self.down(digit)),
                false => put(start..start + length, self.up(digit)),
            }
        }
    }

    fn nodes_per_router(&self) -> u32 {
        self.k
    }

    fn diameter(&self) -> u32 {
        2 * (self.levels - 1)
    }

    fn minimal_hops(&self, from: u32, to: u32) -> ByClass<u16> {
        ByClass::from([self.distance(from, to) as u16])
    }

    #[inline]
    fn has_trunks(&self) -> bool {
        true
    }

    fn choose_trunk(&self, _at: u32, _to: u32, stream: &mut Stream) -> u16 {
        self.draw_root(stream)
    }

    fn trunk_choices(&self, _at: u32, _to: u32) -> u32 {
        self.width
    }

    fn trunk_of(&self, _at: u32, _to: u32, node: u32) -> u16 {
        self.root_of(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(k: u32, levels: u32) -> FatTree {
        FatTree::new(&Config { k, levels }).unwrap()
    }

    #[test]
    fn the_tree_of_the_paper_has_64_nodes_and_48_switches() {
        assert_eq!((tree(4, 3).nodes(), tree(4, 3).routers()), (64, 48));
    }

    #[test]
    fn every_link_leads_back_and_all_ports_but_the_uppermost_are_plugged() {
        for tree in [tree(2, 4), tree(4, 3), tree(3, 1)] {
            let mut plugged = 0;
            for router in 0..tree.routers() {
                for port in 0..tree.ports().len() {
                    if let Some((peer, back)) = tree.neighbour(router, port) {
                        assert_eq!(tree.neighbour(peer, back), Some((router, port)));
                        assert_eq!(tree.level(router).abs_diff(tree.level(peer)), 1);
                        plugged += 1;
                    }
                }
            }
            assert_eq!(plugged, 2 * (tree.levels() - 1) * tree.nodes());
        }
    }

    #[test]
    fn the_runs_are_those_of_the_minimal_path_to_every_node() {
        for tree in [tree(2, 1), tree(2, 4), tree(4, 3), tree(3, 2), tree(5, 2)] {
            for at in 0..tree.routers() {
                let mut ports = vec![None; tree.nodes() as usize];
                tree.minimal_runs(at, |nodes, port| {
                    for node in nodes {
                        assert_eq!(ports[node as usize].replace(port), None);
                    }
                });
                for (node, found) in (0..).zip(ports) {
                    let to = tree.router_of(node);
                    let port = || tree.minimal_port(at, to, tree.trunk_of(at, to, node)).0;
                    assert_eq!(found, (to != at).then(port), "from {at} to node {node}");
                }
            }
        }
    }

    #[test]
    fn any_way_up_and_the_digits_down_reach_every_leaf() {
        let tree = tree(3, 3);
        let leaves = tree.nodes() / 3;
        for (from, to) in (0..leaves).flat_map(|from| (0..leaves).map(move |to| (from, to))) {
            for choice in 0..9 {
                let (mut at, mut links) = (from, 0);
                while !tree.is_above(at, to) {
                    let up = tree.up(tree.digit(choice, tree.level(at)));
                    at = tree.neighbour(at, up).unwrap().0;
                    links += 1;
                }
                while tree.level(at) > 0 {
                    let down = tree.down(tree.digit(to, tree.level(at) - 1));
                    at = tree.neighbour(at, down).unwrap().0;
                    links += 1;
                }
                assert_eq!((at, links), (to, tree.distance(from, to)));
            }
        }
    }
}
