//! Packets that stand still, and the congestion trees that they stand in.
//!
//! A head that waits for room hangs on the buffer that lacks it, and so on what the head of that buffer waits for, up to a link that
//! is busy or whose buffer is full of packets that move: the root (J. Duato et al., HPCA 2005).

use hopsim_cycles::standing::{Standing, Wait};
use hopsim_cycles::system::System;
use hopsim_network::network::TERMINAL;
use hopsim_network::topology::Topology;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// An output port of a router.
pub type Link = (u32, usize);

/// What a packet that stands in a tree has to do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A packet whose path leads over the root.
    Contributor,
    /// A packet whose path leads over the root of another tree, and not over that of this one.
    OtherContributor,
    /// A packet whose path leads over no root.
    Victim,
}

/// A congestion tree at some cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The cycle.
    pub cycle: u32,
    /// The link at which the tree begins.
    pub root: Link,
    /// Links that hang on the root, the root included.
    pub links: u32,
    /// Links in a row that wait for each other, at most.
    pub depth: u32,
    /// Packets that stand in the tree, by [`Role`].
    pub packets: [u32; 3],
    /// Phits of all packets in the tree.
    pub phits: u64,
}

/// All packets that stand still at some cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// The cycle.
    pub cycle: u32,
    /// All packets that stand still.
    pub standing: u32,
    /// Packets in trees.
    pub in_trees: u32,
    /// Packets behind a head that waits for a busy link on which no link hangs.
    pub contending: u32,
    /// Packets behind a head whose output could take it.
    pub crossing: u32,
    /// Packets behind heads that wait for each other in a circle.
    pub circling: u32,
}

/// A root, a job, and the groups of source and destination.
pub type Flow = (Link, u8, u32, u32);

/// All that was seen of congestion trees.
#[derive(Clone, Debug, Default)]
pub struct Congestion {
    /// What stood still, by cycle.
    pub censuses: Vec<Census>,
    /// The trees, by cycle and root.
    pub trees: Vec<Tree>,
    /// Packets in trees of the window by [`Role`], summed over the cycles looked at.
    pub flows: BTreeMap<Flow, [u64; 3]>,
}

/// Where what a head waits for comes to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// At a link, so many links away.
    Root(Link, u32),
    /// At the crossbar: the output could take the packet.
    Crossbar,
    /// At the head itself: heads wait for each other in a circle.
    Circle,
}

impl Congestion {
    /// Looks at cycle `cycle`, which is in the window or not, at all packets that stand still.
    pub fn look(&mut self, system: &System, cycle: u32, in_window: bool, standing: &[Standing]) {
        let ends = ends(system, standing);
        let rooted = |end: &End| if let End::Root(root, _) = end { Some(*root) } else { None };
        let hanging = standing.iter().zip(&ends).filter(|(place, _)| place.wait == Wait::Room);
        let spread: FxHashSet<Link> = hanging.filter_map(|(_, end)| rooted(end)).collect();
        let mut census = Census { cycle, ..Census::default() };
        let mut trees: BTreeMap<Link, (Tree, FxHashSet<Link>)> = BTreeMap::new();
        for (place, &end) in standing.iter().zip(&ends) {
            let count = place.packets.len() as u32;
            census.standing += count;
            match end {
                End::Crossbar => census.crossing += count,
                End::Circle => census.circling += count,
                End::Root(root, _) if !spread.contains(&root) => census.contending += count,
                End::Root(root, depth) => {
                    census.in_trees += count;
                    let empty = || {
                        let tree = Tree { cycle, root, links: 0, depth, packets: [0; 3], phits: 0 };
                        (tree, FxHashSet::default())
                    };
                    let (tree, links) = trees.entry(root).or_insert_with(empty);
                    tree.depth = tree.depth.max(depth);
                    links.extend([root, (place.router, place.port)]);
                    let flows = in_window.then_some(&mut self.flows);
                    tree.add(system, place, &spread, flows);
                }
            }
        }
        self.censuses.push(census);
        self.trees
            .extend(trees.into_values().map(|(tree, links)| Tree { links: links.len() as u32, ..tree }));
    }
}

impl Tree {
    /// The packets of an input VC stand in this tree, one of several that begin at `roots`.
    fn add(
        &mut self,
        system: &System,
        place: &Standing,
        roots: &FxHashSet<Link>,
        mut flows: Option<&mut BTreeMap<Flow, [u64; 3]>>,
    ) {
        // Paths are those of the tables in force.
        let (topology, tables) = (&system.topology, system.routing.base().topology());
        for (number, packet) in place.packets.iter().enumerate() {
            let first = (number == 0).then_some(place.port);
            let mut role = Role::Victim;
            each_link(tables, place.router, first, packet.destination, |link| {
                if link == self.root {
                    role = Role::Contributor;
                } else if role == Role::Victim && roots.contains(&link) {
                    role = Role::OtherContributor;
                }
            });
            self.packets[role as usize] += 1;
            self.phits += u64::from(packet.length);
            if let Some(flows) = &mut flows {
                let [from, to] = [packet.source, packet.destination].map(|node| class(topology, node));
                flows.entry((self.root, packet.job, from, to)).or_default()[role as usize] += 1;
            }
        }
    }
}

/// The group of a node, or its router in a network without groups.
pub fn class(topology: &Topology, node: u32) -> u32 {
    let router = node / topology.nodes_per_router();
    if topology.groups() > 1 { topology.group(router) } else { router }
}

/// Visits the links of the shortest path from a router to a node, of several the first. That of a head begins with the port that it
/// asks for.
fn each_link(
    topology: &Topology,
    mut at: u32,
    mut next: Option<usize>,
    node: u32,
    mut visit: impl FnMut(Link),
) {
    let (to, terminal) = (node / topology.nodes_per_router(), node % topology.nodes_per_router());
    loop {
        let port = match next.take() {
            Some(port) => port,
            None if at == to => terminal as usize,
            None => topology.minimal_port(at, to, 0).0,
        };
        visit((at, port));
        match topology.neighbour(at, port) {
            Some((peer, _)) => at = peer,
            None => return,
        }
    }
}

/// For every input VC where what its head waits for comes to an end.
fn ends(system: &System, standing: &[Standing]) -> Vec<End> {
    let number = |(at, place): (usize, &Standing)| ((place.router, place.slot), at);
    let numbers: FxHashMap<(u32, u32), usize> = standing.iter().enumerate().map(number).collect();
    let mut ends: Vec<Option<End>> = vec![None; standing.len()];
    for first in 0..standing.len() {
        let mut walk: Vec<usize> = Vec::new();
        let mut at = first;
        let mut end = loop {
            if let Some(end) = ends[at] {
                break end;
            }
            if walk.contains(&at) {
                break End::Circle;
            }
            walk.push(at);
            let place = &standing[at];
            let link = (place.router, place.port);
            match (place.wait, next(system, place, &numbers)) {
                (Wait::Crossbar, _) => break End::Crossbar,
                (Wait::Room, Some(behind)) => at = behind,
                (Wait::Room, None) | (Wait::Busy, _) => break End::Root(link, 0),
            }
        };
        for at in walk.into_iter().rev() {
            if let End::Root(_, depth) = &mut end {
                *depth += 1;
            }
            ends[at] = Some(end);
        }
    }
    ends.into_iter().map(|end| end.unwrap_or(End::Circle)).collect()
}

/// The input VC that a head without room waits for, if the head of that stands still, too: of VCs that share their buffer its own,
/// or the first one.
fn next(system: &System, place: &Standing, numbers: &FxHashMap<(u32, u32), usize>) -> Option<usize> {
    let layout = &system.network.layout;
    if place.wait != Wait::Room || layout.class[place.port] == TERMINAL {
        return None;
    }
    let (peer, back) = system.network.link(place.router, place.port).peer?;
    let behind = |vc: usize| numbers.get(&(peer, u32::from(layout.slot_base[back]) + vc as u32)).copied();
    let others = if system.router.damq().is_some() { layout.output_vcs[place.port].into() } else { 0 };
    behind(place.vc).or_else(|| (0..others).find_map(behind))
}
