//! The extended generalised fat tree: see [`Config`].

use super::family::{Family, check_ports, check_routers};
use super::graph::Graph;
use super::shortest::Ties;
use super::wiring::MAX_ROUTERS;
use super::{NODES_PER_ROUTER, Parameters};
use crate::error::{ConfigError, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Levels of switches, of which each says how many switches below and above it a switch is joined to (XGFT), and by how many links (PGFT): fat trees of any shape.
///
/// XGFT(h; m1, …, mh; w1, …, wh): nodes are level 0. Who is on level l has m(l) children below it, on level l − 1, and w(l + 1) parents
/// above it. w1 is 1, for a node hangs from one switch. A tree with fewer links up than down is oversubscribed. Two levels are a
/// leaf-spine network: children = \[18, 36\], parents = \[1, 18\] joins 648 nodes by 54 switches of 36 ports. A k-ary n-tree is
/// children = \[k, …, k\], parents = \[1, k, …, k\].
///
/// Numbering: level l has w1 · … · w(l) · m(l + 1) · … · mh switches, behind those of the level below. A switch of level l is a word of
/// digits a(h), …, a(l + 1), b(l), …, b2, the first the highest, a(i) below m(i) and b(i) below w(i). It is joined to those of level l + 1
/// that have all digits in common with it but a(l + 1), in whose place they have any b(l + 1) behind the other digits a. Node n is at switch
/// ⌊n / m1⌋ of level 1. A switch's ports are m1 terminal ones, which only those of level 1 use, then its links in the order of the switches
/// there: those down before those up, and parallel ones one behind the other.
///
/// Routing is that of `graph`: `minimal` and `up_down`, up to a nearest common ancestor and down again, on the path that the table says; `nue`;
/// `valiant` and `ugal`, on two such paths, with a VC for each. At most 20,480 switches.
///
/// Source: Öhring et al., IPPS 1995; parallel links (PGFT): Zahavi, Technion CCIT Report 776 (2010).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "XgftTopology")]
pub struct Config {
    /// m1, …, mh: children of a switch, from the lowest level; the first number is that of nodes of a switch \[1 …, nodes 1 … 64\].
    #[schemars(length(min = 1))]
    pub children: Vec<u32>,
    /// w1, …, wh: parents on each level, from the lowest; the first number is that of nodes, 1 \[1 …\].
    #[schemars(length(min = 1))]
    pub parents: Vec<u32>,
    /// p1, …, ph: parallel links between a switch and each of its parents, from the lowest level; default 1. The first number is that of
    /// nodes, 1 \[1 …\].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parallel: Vec<u32>,
    /// Which of several equally short paths of minimal routing packets take.
    #[serde(default)]
    pub ties: Ties,
}

impl Parameters for Config {
    type Built = Graph;

    fn build(&self) -> Result<Graph, ConfigError> {
        self.check_lists()?;
        let levels = self.levels()?;
        for (level, &children) in self.children.iter().enumerate() {
            let up = self
                .parents
                .get(level + 1)
                .map_or(0, |&up| u64::from(up) * u64::from(self.parallel(level + 1)));
            let down = if level == 0 { 0 } else { u64::from(children) * u64::from(self.parallel(level)) };
            check_ports((up + down, self.children[0]), &format!("children.{level}"), &children)?;
        }
        Family {
            name: "xgft",
            routers: levels.iter().sum(),
            links: self.links(&levels),
            second: None,
            routers_with_nodes: levels[0],
            nodes_per_router: self.children[0],
            goes_up_and_down: true,
            ties: self.ties,
        }
        .build()
    }

    fn ties(&self) -> Option<Ties> {
        Some(self.ties)
    }

    fn examples() -> Vec<Self> {
        vec![
            Self { children: vec![2, 2], parents: vec![1, 2], parallel: Vec::new(), ties: Ties::Spread },
            Self { children: vec![3, 3, 2], parents: vec![1, 2, 3], parallel: Vec::new(), ties: Ties::First },
            Self {
                children: vec![2, 3, 2],
                parents: vec![1, 1, 2],
                parallel: vec![1, 2, 1],
                ties: Ties::Hash,
            },
        ]
    }
}

impl Config {
    fn check_lists(&self) -> Result<(), ConfigError> {
        let Self { children, parents, parallel, .. } = self;
        if children.is_empty() {
            return Err(ConfigError::new("children", "there is no level")
                .valid("a number for each level, from the lowest"));
        }
        for (key, counts) in [("parents", parents), ("parallel", parallel)] {
            if counts.len() != children.len() && !(key == "parallel" && counts.is_empty()) {
                let reason = format!("children has {} levels", children.len());
                return Err(ConfigError::new(key, reason).value(format!("{counts:?}")).valid(format!(
                    "{} numbers, from the lowest level, the first of them 1",
                    children.len()
                )));
            }
        }
        for (key, counts) in [("children", children), ("parents", parents), ("parallel", parallel)] {
            if let Some(level) = counts.iter().position(|&count| count == 0) {
                let reason = "there would be no switch or no node";
                return Err(ConfigError::new(format!("{key}.{level}"), reason).value(0).valid("1 and more"));
            }
        }
        within(NODES_PER_ROUTER, children[0], "children.0")?;
        if parents[0] != 1 {
            let reason = "a node hangs from one switch";
            return Err(ConfigError::new("parents.0", reason).value(parents[0]).valid("1"));
        }
        if self.parallel(0) != 1 {
            let reason = "a node has one link";
            return Err(ConfigError::new("parallel.0", reason).value(parallel[0]).valid("1"));
        }
        Ok(())
    }

    /// Parallel links between who is on a level and each of its parents, 0 being that of nodes.
    fn parallel(&self, level: usize) -> u32 {
        self.parallel.get(level).copied().unwrap_or(1)
    }

    /// Switches of each level, from the lowest.
    fn levels(&self) -> Result<Vec<u32>, ConfigError> {
        let product =
            |counts: &[u32]| counts.iter().fold(1u64, |all, &count| all.saturating_mul(count.into()));
        let of_level = |level: usize| {
            product(&self.parents[..=level]).saturating_mul(product(&self.children[level + 1..]))
        };
        let levels: Vec<u64> = (0..self.children.len()).map(of_level).collect();
        let all = levels.iter().fold(0u64, |all, &switches| all.saturating_add(switches));
        let value = format!("{:?} with parents = {:?}", self.children, self.parents);
        let valid =
            format!("fewer children or parents per level, at most {MAX_ROUTERS} switches of all levels");
        check_routers(all, "children", &value, valid)?;
        Ok(levels.into_iter().map(|switches| switches as u32).collect())
    }

    /// The links between each level and the next one, where the levels have so many switches.
    fn links(&self, levels: &[u32]) -> Vec<[u32; 2]> {
        let (mut links, mut first) = (Vec::new(), 0);
        for (level, pair) in levels.windows(2).enumerate() {
            let (children, parents) = (self.children[level + 1], self.parents[level + 1]);
            // What the digits b of a switch of the lower level can be.
            let below: u32 = self.parents[..=level].iter().product();
            for switch in 0..pair[0] {
                let (word, lower) = (switch / below, switch % below);
                let above = |parent: u32| (word / children * parents + parent) * below + lower;
                for parent in 0..parents {
                    let link = [first + switch, first + pair[0] + above(parent)];
                    links.extend((0..self.parallel(level + 1)).map(|_| link));
                }
            }
            first += pair[0];
        }
        links
    }
}
