//! The dragonfly: see [`Config`].

use super::arrangement::Links;
use super::{GLOBAL, GroupClasses, Interconnect, LOCAL, MAX_PORTS, Parameters, PortClass};
use crate::by_class::ByClass;
use crate::error::{ConfigError, within};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

pub use super::arrangement::{Arrangement, RandomArrangement};

/// A group has `a` routers, every two of them joined by a local link. Each router has `p` nodes and `h` global links
/// to other groups. A balanced network has a = 2p = 2h.
///
/// Numbering: router r is at position r mod a of group ⌊r / a⌋, node n at router ⌊n / p⌋. A router's ports are p
/// terminal, a − 1 local (the other positions in ascending order) and h global ones. Global slot s =
/// position·h + port counts the a·h global ports of a group.
///
/// Groups: with a·h + 1 of them every pair shares one global link. With fewer, the slots wrap round and each pair
/// shares ⌊a·h / (groups − 1)⌋ parallel links (a trunk), some pairs one more; at most one slot per group stays
/// unplugged.
///
/// With `trunk` = K every pair of groups shares exactly K links. The N = K · (groups − 1) links of a group, numbered as slots are
/// where there are no others, are spread evenly: link i is at slot ⌊i · a · h / N⌋. So a router has ⌊N / a⌋ or ⌈N / a⌉ of them, and
/// those of a trunk are at least ⌊a / K⌋ routers apart from each other, round the group: no arrangement has them all farther apart, and
/// with K ≤ a every one is at a router of its own. The other slots stay unplugged. With `random` that is so before groups get orders of
/// their own, and not afterwards.
///
/// Source: Kim et al., ISCA 2008; arrangements: Fuentes' thesis (2017), §1.2.1 and figure 1.10.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DragonflyTopology")]
pub struct Config {
    /// Nodes per router.
    #[schemars(range(min = *SIZES.start(), max = *SIZES.end()))]
    pub p: u32,
    /// Routers per group.
    #[schemars(range(min = *SIZES.start(), max = *SIZES.end()))]
    pub a: u32,
    /// Global links per router.
    #[schemars(range(min = *SIZES.start(), max = *SIZES.end()))]
    pub h: u32,
    /// Number of groups \[2 … a·h + 1\]; default a·h + 1, one global link between every pair of groups, or with `trunk` as many as
    /// can be reached, ⌊a·h / trunk⌋ + 1.
    #[schemars(range(min = 2))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<u32>,
    /// Global links between every pair of groups \[1 … ⌊a·h / (groups − 1)⌋\]; default: as many as there are ports for, of some
    /// pairs one more than of others.
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trunk: Option<u32>,
    /// How the global links of a group are spread over the other groups.
    #[serde(default)]
    pub arrangement: Arrangement,
}

/// Nodes and global links that a router may have, and routers of a group.
const SIZES: RangeInclusive<u32> = 1..=254;

/// A dragonfly with its exit tables.
#[derive(Clone, Debug)]
pub struct Dragonfly {
    p: u32,
    a: u32,
    h: u32,
    groups: u32,
    /// Where the slots lead to -- constant.
    links: Links,
    /// Whether a pair of groups shares more than one link, or could -- constant.
    trunked: bool,
    /// Group and position of every router -- constant.
    places: Vec<Place>,
    /// Links from group x to group y, at `trunks[trunk_start[x·groups + y]..]` -- constant.
    trunks: Vec<Trunk>,
    trunk_start: Vec<u32>,
    /// Where the first link from group x to group y leaves, by x·groups + y -- constant.
    first_exit: Vec<Exit>,
}

/// Where a router stands.
#[derive(Clone, Copy, Debug)]
struct Place {
    group: u16,
    position: u16,
}

/// A global port of a group.
#[derive(Clone, Copy, Debug, Default)]
struct Exit {
    position: u16,
    port: u16,
}

/// A global link, one of those between two groups.
#[derive(Clone, Copy, Debug)]
struct Trunk {
    exit: Exit,
    /// Position of the router at the other end.
    entry: u16,
}

impl Trunk {
    /// Local links of the path over this link, from position `from` of its group to position `to` of the other group.
    #[inline]
    fn local_hops(self, from: u32, to: u32) -> u8 {
        u8::from(u32::from(self.exit.position) != from) + u8::from(u32::from(self.entry) != to)
    }
}

impl Config {
    /// The number of groups, which those and the links of a trunk must fit.
    fn groups(&self) -> Result<u32, ConfigError> {
        let slots = self.a * self.h;
        let most = slots + 1;
        let refuse =
            |key, value: u32, reason, valid| Err(ConfigError::new(key, reason).value(value).valid(valid));
        let reason = match self.groups {
            Some(0 | 1) => "a dragonfly has at least two groups".into(),
            _ => format!("a group has a·h = {slots} global links, so it cannot reach that many groups"),
        };
        if let Some(groups) = self.groups.filter(|groups| !(2..=most).contains(groups)) {
            return refuse("groups", groups, reason, format!("2 … {most} (a·h + 1)"));
        }
        let others = self.groups.map_or(1, |groups| groups - 1);
        let longest = slots / others;
        if let Some(trunk) = self.trunk.filter(|trunk| !(1..=longest).contains(trunk)) {
            let reason = match self.groups {
                Some(_) => format!("a group has a·h = {slots} global links and {others} other groups"),
                None => format!("a group has a·h = {slots} global links"),
            };
            return refuse("trunk", trunk, reason, format!("1 … {longest}"));
        }
        Ok(self.groups.unwrap_or(slots / self.trunk.unwrap_or(1) + 1))
    }
}

impl Dragonfly {
    /// Checks the parameters and builds the tables.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        for (key, value) in [("p", config.p), ("a", config.a), ("h", config.h)] {
            within(SIZES, value, key)?;
        }
        let (a, h) = (config.a, config.h);
        let slots = a * h;
        if config.p + a + h > 256 {
            let reason = format!("the router would have {} ports", config.p + a + h - 1);
            return Err(ConfigError::new("a", reason).value(a).valid("p + a + h ≤ 256"));
        }
        let groups = config.groups()?;
        let routers = a * groups;
        let ports = u64::from(routers) * u64::from(config.p + a - 1 + h);
        if ports > MAX_PORTS {
            return Err(ConfigError::new(
                "groups",
                format!("the network would have {ports} router ports, more than memory holds"),
            )
            .value(groups)
            .valid(format!("a · groups · (p + a - 1 + h) ≤ {MAX_PORTS}")));
        }
        let mut topology = Self {
            p: config.p,
            a,
            h,
            groups,
            links: Links::new(config.arrangement, (groups, slots), config.trunk),
            trunked: slots > groups - 1,
            places: (0..routers).map(|r| Place { group: (r / a) as u16, position: (r % a) as u16 }).collect(),
            trunks: Vec::new(),
            trunk_start: Vec::new(),
            first_exit: Vec::new(),
        };
        topology.build_trunks();
        Ok(topology)
    }

    fn build_trunks(&mut self) {
        let mut lists = vec![Vec::new(); self.groups as usize];
        self.trunk_start.push(0);
        for group in 0..self.groups {
            lists.iter_mut().for_each(Vec::clear);
            for slot in 0..self.a * self.h {
                if let Some((peer, back)) = self.links.peer(group, slot) {
                    let entry = (back / self.h) as u16;
                    lists[peer as usize].push(Trunk { exit: self.exit(slot), entry });
                }
            }
            for list in &lists {
                self.trunks.extend_from_slice(list);
                self.trunk_start.push(self.trunks.len() as u32);
                self.first_exit.push(list.first().map_or(Exit::default(), |trunk| trunk.exit));
            }
        }
    }

    fn exit(&self, slot: u32) -> Exit {
        Exit { position: (slot / self.h) as u16, port: (self.first_global() + slot % self.h) as u16 }
    }

    /// Nodes per router.
    pub fn p(&self) -> u32 {
        self.p
    }

    /// Routers per group.
    pub fn a(&self) -> u32 {
        self.a
    }

    /// Global links per router.
    pub fn h(&self) -> u32 {
        self.h
    }

    /// The position of `router` in its group, 0 … a − 1.
    #[inline]
    pub fn position(&self, router: u32) -> u32 {
        u32::from(self.places[router as usize].position)
    }

    /// The class of the link at a link port.
    pub fn link_class(&self, port: usize) -> u8 {
        if (port as u32) < self.first_global() { LOCAL } else { GLOBAL }
    }

    fn first_global(&self) -> u32 {
        self.p + self.a - 1
    }

    /// The local port from position `from` to position `to` ≠ `from` of the same group.
    #[inline]
    fn local_port(&self, from: u32, to: u32) -> usize {
        (self.p + if to < from { to } else { to - 1 }) as usize
    }

    /// The links from group `from` to group `to` ≠ `from`, by slot.
    #[inline]
    fn trunks(&self, from: u32, to: u32) -> &[Trunk] {
        let index = (from * self.groups + to) as usize;
        &self.trunks[self.trunk_start[index] as usize..self.trunk_start[index + 1] as usize]
    }

    /// Position and port of the router that holds link `trunk` of those from group `from` to group `to` ≠ `from`.
    #[inline]
    pub fn exit_to(&self, from: u32, to: u32, trunk: u16) -> (u32, usize) {
        let exit = if trunk == 0 {
            self.first_exit[from as usize * self.groups as usize + to as usize]
        } else {
            self.trunks(from, to)[trunk as usize].exit
        };
        (u32::from(exit.position), exit.port as usize)
    }

    /// The group behind `slot` of `group`, `None` if the slot is unplugged.
    pub fn group_behind(&self, group: u32, slot: u32) -> Option<u32> {
        Some(self.links.peer(group, slot)?.0)
    }

    /// The group behind each connected global port of `router`, in port order.
    pub fn groups_behind(&self, router: u32) -> impl Iterator<Item = u32> + '_ {
        let (group, first) = (self.group(router), self.position(router) * self.h);
        (first..first + self.h).filter_map(move |slot| self.group_behind(group, slot))
    }

    /// The first router that no global link is plugged in.
    pub fn router_without_global_link(&self) -> Option<u32> {
        (0..self.routers()).find(|&router| self.groups_behind(router).next().is_none())
    }

    /// Local links of the path from `at` to `to` in another group, over each of the links between their groups.
    fn local_hops(&self, at: u32, to: u32) -> impl Iterator<Item = u8> + '_ {
        let trunks = self.trunks(self.group(at), self.group(to));
        let (from, to) = (self.position(at), self.position(to));
        trunks.iter().map(move |trunk| trunk.local_hops(from, to))
    }
}

impl Parameters for Config {
    type Built = Dragonfly;

    fn build(&self) -> Result<Dragonfly, ConfigError> {
        Dragonfly::new(self)
    }

    fn resolve(&mut self, built: &Dragonfly) {
        self.groups = Some(built.groups);
    }
}

impl Interconnect for Dragonfly {
    fn routers(&self) -> u32 {
        self.a * self.groups
    }

    fn ports(&self) -> Vec<PortClass> {
        let mut ports = vec![PortClass::Terminal; self.p as usize];
        ports.extend(vec![PortClass::Link(LOCAL); self.a as usize - 1]);
        ports.extend(vec![PortClass::Link(GLOBAL); self.h as usize]);
        ports
    }

    fn neighbour(&self, router: u32, port: usize) -> Option<(u32, usize)> {
        let (group, position, port) = (self.group(router), self.position(router), port as u32);
        if port < self.p {
            return None;
        }
        if port < self.first_global() {
            let index = port - self.p;
            let peer = if index < position { index } else { index + 1 };
            return Some((group * self.a + peer, self.local_port(peer, position)));
        }
        let (peer_group, slot) = self.links.peer(group, position * self.h + port - self.first_global())?;
        Some((peer_group * self.a + slot / self.h, (self.first_global() + slot % self.h) as usize))
    }

    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    fn minimal_port(&self, at: u32, to: u32, trunk: u16) -> (usize, u8) {
        let (here, there) = (self.places[at as usize], self.places[to as usize]);
        let position = u32::from(here.position);
        if here.group == there.group {
            return (self.local_port(position, u32::from(there.position)), LOCAL);
        }
        let exit = if trunk == 0 {
            self.first_exit[here.group as usize * self.groups as usize + there.group as usize]
        } else {
            self.trunks(u32::from(here.group), u32::from(there.group))[trunk as usize].exit
        };
        if exit.position == here.position {
            (exit.port as usize, GLOBAL)
        } else {
            (self.local_port(position, u32::from(exit.position)), LOCAL)
        }
    }

    fn diameter(&self) -> u32 {
        3
    }

    fn minimal_hops(&self, from: u32, to: u32) -> ByClass<u16> {
        let (group, target) = (self.group(from), self.group(to));
        if group == target {
            return ByClass::from([u16::from(from != to)]);
        }
        ByClass::from([self.local_hops(from, to).min().map_or(0, u16::from), 1])
    }

    #[inline]
    fn has_trunks(&self) -> bool {
        self.trunked
    }

    fn trunk_of(&self, at: u32, to: u32, node: u32) -> u16 {
        let (here, there) = (self.group(at), self.group(to));
        if here == there { 0 } else { (node as usize % self.trunks(here, there).len()) as u16 }
    }

    fn trunk_choices(&self, at: u32, to: u32) -> u32 {
        if self.group(at) == self.group(to) {
            return 1;
        }
        let least = self.local_hops(at, to).min();
        self.local_hops(at, to).filter(|&hops| Some(hops) == least).count() as u32
    }

    fn choose_trunk(&self, at: u32, to: u32, stream: &mut Stream) -> u16 {
        if self.group(at) == self.group(to) {
            return 0;
        }
        let mut counts = [0; 3];
        self.local_hops(at, to).for_each(|hops| counts[hops as usize] += 1);
        let least = counts.iter().position(|&count| count > 0).unwrap_or(0);
        let pick = stream.below(counts[least]) as usize;
        let mut shortest = self.local_hops(at, to).enumerate().filter(|&(_, hops)| hops as usize == least);
        shortest.nth(pick).map_or(0, |(index, _)| index as u16)
    }

    #[inline]
    fn group(&self, router: u32) -> u32 {
        u32::from(self.places[router as usize].group)
    }

    fn groups(&self) -> u32 {
        self.groups
    }

    fn nodes_per_router(&self) -> u32 {
        self.p
    }

    fn link_classes(&self) -> &'static [&'static str] {
        &["local", "global"]
    }

    fn group_classes(&self) -> Option<GroupClasses> {
        Some(GroupClasses { inside: LOCAL, between: GLOBAL })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dragonfly(p: u32, a: u32, h: u32, groups: Option<u32>, arrangement: Arrangement) -> Dragonfly {
        Dragonfly::new(&Config { p, a, h, groups, trunk: None, arrangement }).unwrap()
    }

    /// A dragonfly whose groups share so many links.
    fn trunked((a, h, groups): (u32, u32, Option<u32>), trunk: u32, arrangement: Arrangement) -> Dragonfly {
        Dragonfly::new(&Config { p: 1, a, h, groups, trunk: Some(trunk), arrangement }).unwrap()
    }

    fn samples() -> Vec<Dragonfly> {
        let mut all = Vec::new();
        let random = Arrangement::Random(RandomArrangement { instance: 3 });
        for arrangement in [Arrangement::Palmtree, Arrangement::Consecutive, random] {
            for (p, a, h) in [(1, 1, 1), (2, 4, 2), (1, 3, 3), (3, 6, 3), (2, 5, 1)] {
                all.extend((2..=a * h + 1).map(|g| dragonfly(p, a, h, Some(g), arrangement)));
            }
        }
        all
    }

    /// Dragonflies without `trunk`, and such that say how many links a trunk has.
    fn all_samples() -> Vec<Dragonfly> {
        let mut all = samples();
        let random = Arrangement::Random(RandomArrangement { instance: 3 });
        for arrangement in [Arrangement::Palmtree, Arrangement::Consecutive, random] {
            all.extend(trunks().map(|(shape, trunk)| trunked(shape, trunk, arrangement)));
        }
        all
    }

    /// Small groups, and every trunk that they can share.
    fn trunks() -> impl Iterator<Item = ((u32, u32, Option<u32>), u32)> {
        let shapes = [(4, 2), (3, 3), (6, 3), (5, 1), (7, 2), (8, 1)];
        let sizes = shapes.into_iter().flat_map(|(a, h)| (2..=a * h + 1).map(move |g| (a, h, g)));
        sizes.flat_map(|(a, h, g)| (1..=a * h / (g - 1)).map(move |trunk| ((a, h, Some(g)), trunk)))
    }

    #[test]
    fn the_longest_minimal_path_has_as_many_links_as_the_diameter() {
        let t = dragonfly(1, 4, 2, None, Arrangement::Palmtree);
        let pairs = (0..t.routers()).flat_map(|from| (0..t.routers()).map(move |to| (from, to)));
        let longest = pairs.map(|(from, to)| t.minimal_hops(from, to).iter().sum::<u16>()).max();
        assert_eq!(longest.map(u32::from), Some(t.diameter()));
    }

    #[test]
    fn neighbour_is_an_involution() {
        for t in all_samples() {
            for router in 0..t.routers() {
                for port in t.p as usize..t.ports().len() {
                    let Some((peer, back)) = t.neighbour(router, port) else { continue };
                    assert_ne!(peer, router);
                    assert_eq!(t.neighbour(peer, back), Some((router, port)), "{t:?}");
                }
            }
        }
    }

    #[test]
    fn trunks_differ_by_at_most_one_link_and_at_most_one_port_per_group_is_unplugged() {
        for t in samples() {
            let counts: Vec<usize> =
                (1..t.groups).flat_map(|d| [t.trunks(0, d).len(), t.trunks(d, 0).len()]).collect();
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(*least >= 1 && most - least <= 1, "{counts:?}");
            let plugged: usize = (1..t.groups).map(|d| t.trunks(0, d).len()).sum();
            assert!(plugged + 1 >= (t.a * t.h) as usize);
        }
    }

    #[test]
    fn links_of_a_trunk_are_as_many_as_it_says_and_as_far_apart_as_can_be() {
        for ((shape, trunk), arrangement) in
            trunks().flat_map(|one| [Arrangement::Palmtree, Arrangement::Consecutive].map(|a| (one, a)))
        {
            let (t, (a, _, groups)) = (trunked(shape, trunk, arrangement), shape);
            let (groups, links) = (groups.unwrap(), trunk * (groups.unwrap() - 1));
            for (group, peer) in
                (0..groups).flat_map(|x| (0..groups).map(move |y| (x, y))).filter(|(x, y)| x != y)
            {
                let at: Vec<u32> =
                    t.trunks(group, peer).iter().map(|link| u32::from(link.exit.position)).collect();
                assert_eq!(at.len() as u32, trunk);
                // Round the group, from the last one to the first.
                let next = at.iter().skip(1).copied().chain([at[0] + a]);
                let apart = at.iter().zip(next).map(|(one, next)| next - one).min().unwrap();
                assert!(apart >= a / trunk, "{at:?} in {t:?}");
            }
            for router in 0..t.routers() {
                let plugged = t.groups_behind(router).count() as u32;
                assert!((links / a..=links.div_ceil(a)).contains(&plugged), "{router} in {t:?}");
            }
        }
    }

    #[test]
    fn a_trunk_that_takes_all_ports_is_what_there_is_without_it() {
        for arrangement in [Arrangement::Palmtree, Arrangement::Consecutive] {
            let (with, without) =
                (trunked((4, 2, Some(5)), 2, arrangement), dragonfly(1, 4, 2, Some(5), arrangement));
            let links = |t: &Dragonfly| -> Vec<_> {
                (0..t.routers())
                    .flat_map(|r| (0..6).map(move |port| (r, port)))
                    .map(|(r, port)| t.neighbour(r, port))
                    .collect()
            };
            assert_eq!(links(&with), links(&without));
        }
    }

    #[test]
    fn without_a_number_of_groups_there_are_as_many_as_trunks_reach() {
        assert_eq!(trunked((4, 2, None), 1, Arrangement::Palmtree).groups, 9);
        assert_eq!(trunked((4, 2, None), 2, Arrangement::Palmtree).groups, 5);
        assert_eq!(trunked((4, 2, None), 3, Arrangement::Palmtree).groups, 3);
    }

    #[test]
    fn a_random_arrangement_is_another_one_in_every_group_and_in_every_instance() {
        let slots_to_next = |instance| -> Vec<u32> {
            let random = Arrangement::Random(RandomArrangement { instance });
            let t = dragonfly(2, 4, 2, None, random);
            let leads =
                |group: u32| (0..8).find(|&slot| t.group_behind(group, slot) == Some((group + 1) % t.groups));
            (0..t.groups).filter_map(leads).collect()
        };
        let slots = slots_to_next(3);
        assert_eq!(slots.len(), 9, "every group has a link to the next one");
        assert!(slots.iter().any(|slot| *slot != slots[0]), "{slots:?}");
        assert_eq!(slots, slots_to_next(3));
        assert_ne!(slots, slots_to_next(4));
    }

    #[test]
    fn palm_tree_follows_its_definition() {
        let t = dragonfly(2, 4, 2, None, Arrangement::Palmtree);
        for group in 0..t.groups {
            for slot in 0..8 {
                let peer = (group + t.groups - slot - 1) % t.groups;
                assert_eq!(t.links.peer(group, slot), Some((peer, 7 - slot)));
            }
        }
        let next: Vec<u32> = t.groups_behind(3).collect();
        assert_eq!(next, [2, 1], "the last router holds the links to the next h groups");
    }

    #[test]
    fn minimal_paths_arrive_in_minimal_hops() {
        for t in all_samples() {
            let mut stream = Stream::new(1, hopsim_random::Purpose::Routing, 0);
            for from in 0..t.routers() {
                for to in (0..t.routers()).filter(|&to| to != from) {
                    let trunk = t.choose_trunk(from, to, &mut stream);
                    let (mut at, mut hops) = (from, ByClass::default());
                    while at != to {
                        let (port, class) = t.minimal_port(at, to, trunk);
                        assert_eq!(t.ports()[port], PortClass::Link(class));
                        hops[class as usize] += 1;
                        at = t.neighbour(at, port).unwrap().0;
                    }
                    assert_eq!(hops, t.minimal_hops(from, to), "{from} to {to} in {t:?}");
                    assert!(hops[0] <= 2 && hops[1] <= 1);
                }
            }
        }
    }

    #[test]
    fn impossible_sizes_are_refused_with_the_key() {
        let refuse = |p, a, h, groups| {
            Dragonfly::new(&Config { p, a, h, groups, trunk: None, arrangement: Arrangement::Palmtree })
                .unwrap_err()
                .path
        };
        assert_eq!(refuse(0, 4, 2, None), "p");
        assert_eq!(refuse(2, 0, 2, None), "a");
        assert_eq!(refuse(2, 4, 2, Some(10)), "groups");
        assert_eq!(refuse(2, 4, 2, Some(1)), "groups");
    }
}
