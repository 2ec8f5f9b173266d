//! The paths of Nue routing.

use crate::state::place::Link;
use hopsim_experiment::plan::Plan;
use hopsim_network::topology::Topology;
use hopsim_routing::nue::Config;
use std::collections::{BTreeMap, BTreeSet};

/// The paths of Nue routing, and their VCs.
pub struct Nue {
    /// The path from every router that is not cut off, by destination.
    paths: Vec<Paths>,
    /// The VC of every destination.
    pub vcs: Vec<u8>,
}

/// Paths to one destination.
type Paths = BTreeMap<usize, Path>;

/// A path, and what it costs.
#[derive(Clone, Default)]
pub struct Path {
    pub links: Vec<Link>,
    latency: u32,
    /// Paths over its links when it was found.
    crowd: u64,
}

/// Links that packets hold while they wait for others.
type Waits = BTreeSet<[Link; 2]>;

impl Nue {
    pub fn new(plan: &Plan, config: &Config) -> Self {
        let topology = &*plan.system.topology;
        let net = &Net { topology, tree: tree(topology) };
        let destinations = topology.routers_with_nodes() as usize;
        let layer = |to: usize| to * config.vcs as usize / destinations;
        let (mut paths, mut load) = (vec![Paths::new(); destinations], BTreeMap::new());
        for number in 0..config.vcs as usize {
            let all = (0..destinations).filter(|&to| layer(to) == number);
            let escapes = |to| (0..topology.routers() as usize).filter_map(move |from| net.escape(from, to));
            let mut waits: Waits = all.clone().flat_map(escapes).flat_map(|path| pairs(&path)).collect();
            for to in all {
                paths[to] = net.find(to, &mut waits, &load);
                for (_, path) in paths[to].range(..destinations) {
                    path.links.iter().for_each(|&link| *load.entry(link).or_insert(0) += 1);
                }
            }
        }
        Self { paths, vcs: (0..destinations).map(|to| layer(to) as u8).collect() }
    }

    /// The path from a router to another one with nodes.
    pub fn path(&self, from: usize, to: usize) -> &[Link] {
        &self.paths[to][&from].links
    }
}

/// Links of a path that follow each other.
fn pairs(path: &[Link]) -> Vec<[Link; 2]> {
    path.windows(2).map(|pair| [pair[0], pair[1]]).collect()
}

/// The links of the tree of escape paths, in both directions.
fn tree(topology: &Topology) -> BTreeSet<Link> {
    let routers = 0..topology.routers() as usize;
    let of_first = levels(topology, 0);
    let candidates = routers.clone().filter(|router| of_first.contains_key(router));
    let levels = candidates.map(|root| levels(topology, root));
    let levels = levels.min_by_key(|levels| levels.values().copied().max()).expect("there is a router");
    let mut tree = BTreeSet::new();
    for router in routers {
        let up = (0..topology.ports().len()).find_map(|port| {
            let (peer, back) = topology.neighbour(router as u32, port)?;
            let is_up = levels.get(&(peer as usize))? < levels.get(&router)?;
            is_up.then_some([(router, port), (peer as usize, back)])
        });
        tree.extend(up.into_iter().flatten());
    }
    tree
}

/// Links from a root to every router that it can reach.
fn levels(topology: &Topology, root: usize) -> BTreeMap<usize, usize> {
    let mut levels = BTreeMap::from([(root, 0)]);
    for level in 0..topology.routers() as usize {
        let here: Vec<usize> = levels.iter().filter(|&(_, &of)| of == level).map(|(&at, _)| at).collect();
        for (router, port) in
            here.into_iter().flat_map(|router| (0..topology.ports().len()).map(move |port| (router, port)))
        {
            if let Some((peer, _)) = topology.neighbour(router as u32, port) {
                levels.entry(peer as usize).or_insert(level + 1);
            }
        }
    }
    levels
}

/// Whether packets that hold a link wait for another one, perhaps for one after the other.
fn waits_for(waits: &Waits, from: Link, to: Link) -> bool {
    let (mut all, mut new) = (BTreeSet::from([from]), vec![from]);
    while let Some(link) = new.pop() {
        for &[_, next] in waits.range([link, (0, 0)]..).take_while(|pair| pair[0] == link) {
            if all.insert(next) {
                new.push(next);
            }
        }
    }
    all.contains(&to)
}

/// The links of a network and its tree.
struct Net<'p> {
    topology: &'p Topology,
    tree: BTreeSet<Link>,
}

impl Net<'_> {
    fn behind(&self, (router, port): Link) -> Option<usize> {
        self.topology.neighbour(router as u32, port).map(|(peer, _)| peer as usize)
    }

    /// The path from a router to another one over links of the tree, which passes no router twice.
    fn escape(&self, from: usize, to: usize) -> Option<Vec<Link>> {
        self.over_tree(vec![], from, to)
    }

    fn over_tree(&self, before: Vec<Link>, at: usize, to: usize) -> Option<Vec<Link>> {
        if at == to {
            return Some(before);
        }
        self.tree.range((at, 0)..(at + 1, 0)).find_map(|&link| {
            let next = self.behind(link)?;
            let is_back = before.iter().any(|&(router, _)| router == next);
            if is_back { None } else { self.over_tree([&before[..], &[link]].concat(), next, to) }
        })
    }

    /// The path that begins with a link to a router from which there is a path.
    fn before(&self, link: Link, path: &Path, load: &BTreeMap<Link, u64>) -> Path {
        Path {
            links: [&[link], &path.links[..]].concat(),
            latency: path.latency + self.topology.latency(link.0 as u32, link.1, 1),
            crowd: path.crowd + load.get(&link).copied().unwrap_or(0),
        }
    }

    /// The paths from all routers to a destination.
    fn find(&self, to: usize, waits: &mut Waits, load: &BTreeMap<Link, u64>) -> Paths {
        let all: Vec<usize> =
            (0..self.topology.routers() as usize).filter(|&from| self.escape(from, to).is_some()).collect();
        let mut on_tree = BTreeSet::new();
        loop {
            let mut tried = waits.clone();
            let paths = self.attempt(to, (&on_tree, &mut tried), load);
            let left: Vec<usize> = all.iter().copied().filter(|from| !paths.contains_key(from)).collect();
            if left.is_empty() {
                *waits = tried;
                return paths;
            }
            for from in left {
                on_tree.extend(self.escape(from, to).expect("it has one").iter().map(|&(router, _)| router));
            }
        }
    }

    /// The paths to a destination, the given routers on their escape paths, from all others from which one is found.
    fn attempt(
        &self,
        to: usize,
        (on_tree, waits): (&BTreeSet<usize>, &mut Waits),
        load: &BTreeMap<Link, u64>,
    ) -> Paths {
        let mut paths = Paths::from([(to, Path::default())]);
        for &router in on_tree {
            let escape = self.escape(router, to).expect("it has one");
            let path =
                escape.iter().rev().fold(Path::default(), |path, &link| self.before(link, &path, load));
            paths.insert(router, path);
        }
        let mut refused = BTreeSet::new();
        let ports = self.topology.ports().len();
        let links = (0..self.topology.routers() as usize)
            .flat_map(|router| (0..ports).map(move |port| (router, port)));
        loop {
            let candidates = links.clone().filter(|link| !refused.contains(link)).filter_map(|link| {
                let path = paths.get(&self.behind(link)?)?;
                let is_new = !paths.contains_key(&link.0);
                is_new.then(|| self.before(link, path, load))
            });
            let best =
                candidates.min_by_key(|path| (path.links.len(), path.latency, path.crowd, path.links[0]));
            let Some(path) = best else { return paths };
            match path.links[..] {
                [link, next, ..] if waits_for(waits, next, link) => {
                    refused.insert(link);
                }
                _ => {
                    waits.extend(path.links.get(1).map(|&next| [path.links[0], next]));
                    paths.insert(path.links[0].0, path);
                }
            }
        }
    }
}
