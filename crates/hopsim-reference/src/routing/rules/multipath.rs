//! The rules of `ecmp`, `k_shortest_paths`, `fat_paths` and `table`.

use crate::routing::families;
use crate::routing::tables::Tables;
use crate::routing::ways::Ways;
use crate::state::place::Link;
use hopsim_experiment::plan::Plan;
use hopsim_network::topology::faults::{Missing, without_these};
use hopsim_random::{Purpose, Stream};
use hopsim_routing::multipath::DrawnBy;
use hopsim_routing::{ecmp, fat_paths, k_shortest_paths, table};

/// Most links of a path.
const MOST_LINKS: usize = 16;

/// One of several paths, or of several links in every router.
pub struct MultipathRule {
    /// What flows draw from; `None` if every packet draws for itself.
    pub flows: Option<u64>,
    /// The paths of every two routers, by source and destination; `None` if a link is drawn in every router.
    pub paths: Option<AllPaths>,
    /// The VCs of the links of all these, where a table says them.
    pub vcs: Option<Vec<Vec<Vec<Vec<u8>>>>>,
}

/// Paths by source and destination.
pub type AllPaths = Vec<Vec<Vec<Vec<Link>>>>;

impl MultipathRule {
    pub fn ecmp(config: &ecmp::Config) -> Self {
        Self { flows: flows(config.by, config.seed.unwrap_or(1)), paths: None, vcs: None }
    }

    pub fn k_shortest_paths(config: &k_shortest_paths::Config, ways: &Ways) -> Self {
        Self { flows: flows(config.by, config.seed), paths: Some(paths(config, ways)), vcs: None }
    }

    pub fn fat_paths(config: &fat_paths::Config, plan: &Plan, ways: &Ways) -> Self {
        let paths = paths_in_layers(config, plan, ways);
        Self { flows: flows(config.by, config.seed), paths: Some(paths), vcs: None }
    }

    pub fn table(config: &table::Config, ways: &Ways) -> Self {
        let all = ways.routers_with_nodes();
        let empty = || vec![vec![Vec::new(); all]; all];
        let (mut paths, mut vcs): (AllPaths, _) = (empty(), vec![vec![Vec::new(); all]; all]);
        for row in &config.paths {
            let [from, to] = row.between.map(|router| router as usize);
            let (mut path, mut at) = (Vec::new(), from);
            for &port in &row.ports {
                path.push((at, port as usize));
                at = ways.neighbour(at, port as usize).expect("a link");
            }
            paths[from][to].push(path);
            vcs[from][to].push(row.vcs.iter().map(|&vc| vc as u8).collect());
        }
        for (from, to) in (0..all).flat_map(|from| (0..all).map(move |to| (from, to))) {
            let (mut path, mut used, mut at) = (Vec::new(), Vec::new(), from);
            while at != to && !config.hops.is_empty() {
                let is_this = |row: &&[u32; 4]| (row[0] as usize, row[1] as usize) == (at, to);
                let row = config.hops.iter().find(is_this).expect("a row");
                path.push((at, row[2] as usize));
                used.push(row[3] as u8);
                at = ways.neighbour(at, row[2] as usize).expect("a link");
            }
            if from != to && !config.hops.is_empty() {
                paths[from][to].push(path);
                vcs[from][to].push(used);
            }
        }
        Self { flows: flows(config.by, config.seed.unwrap_or(1)), paths: Some(paths), vcs: Some(vcs) }
    }
}

fn flows(by: DrawnBy, seed: u64) -> Option<u64> {
    (by == DrawnBy::Flow).then_some(seed)
}

/// The paths between every two routers with nodes in every layer of links: in layer 0, which has all, and where a layer has none, those
/// of the network.
pub fn paths_in_layers(config: &fat_paths::Config, plan: &Plan, ways: &Ways) -> AllPaths {
    let ties = plan.experiment.topology.ties().expect("it is a graph");
    let mut links = Vec::new();
    for (router, port) in
        (0..ways.routers()).flat_map(|router| ways.links(router).into_iter().map(move |port| (router, port)))
    {
        let peer = ways.neighbour(router, port).expect("a link");
        // Of two ends of a link the lower one; parallel links go by their ports, which are in the same order at both ends.
        if router < peer {
            links.push((router as u32, port));
        }
    }
    let kept = (config.fraction * links.len() as f64).round() as usize;
    let layer = |number: u32| {
        let mut order = links.clone();
        Stream::new(config.seed, Purpose::PathLayer, number.into()).shuffle(&mut order);
        let missing = Missing { links: order.into_iter().skip(kept).collect(), ..Missing::default() };
        Tables::of_graph(&without_these(&plan.system.topology, &missing), families::adapters(plan), ties)
    };
    let layers: Vec<Tables> = (1..config.layers).map(layer).collect();
    let all = ways.routers_with_nodes();
    let of = |from: usize, to: usize| {
        if from == to {
            return Vec::new();
        }
        let whole = || ways.table_way(from, to);
        let in_layer = |layer: &Tables| if layer.reaches(from, to) { layer.way(from, to) } else { whole() };
        std::iter::once(whole()).chain(layers.iter().map(in_layer)).collect()
    };
    (0..all).map(|from| (0..all).map(|to| of(from, to)).collect()).collect()
}

/// The paths between every two routers with nodes.
pub fn paths(config: &k_shortest_paths::Config, ways: &Ways) -> AllPaths {
    let all = ways.routers_with_nodes();
    let of = |from: usize, to: usize| {
        let mut order = Stream::new(config.seed, Purpose::PathOrder, (from * all + to) as u64);
        shortest(ways, (from, to), config.k as usize, order.bits() as u32 as usize)
    };
    (0..all).map(|from| (0..all).map(|to| of(from, to)).collect()).collect()
}

/// So many paths: all of one length are found before those with a link more, and put in their order then.
fn shortest(ways: &Ways, (from, to): (usize, usize), k: usize, first: usize) -> Vec<Vec<Link>> {
    let (mut found, mut unfinished): (Vec<Vec<Link>>, Vec<Vec<Link>>) = (Vec::new(), vec![Vec::new()]);
    for _ in 0..MOST_LINKS {
        if from == to || found.len() >= k {
            break;
        }
        let mut longer = Vec::new();
        for path in &unfinished {
            let passed: Vec<usize> = path.iter().map(|&(router, _)| router).collect();
            let at =
                path.last().map_or(from, |&(router, port)| ways.neighbour(router, port).expect("a link"));
            for port in ways.links(at) {
                let next = ways.neighbour(at, port).expect("a link");
                if next != at && !passed.contains(&next) {
                    longer.push([path.as_slice(), &[(at, port)]].concat());
                }
            }
        }
        let ends = |path: &Vec<Link>| {
            let &(router, port) = path.last().expect("it has links");
            ways.neighbour(router, port) == Some(to)
        };
        let (mut finished, rest): (Vec<_>, Vec<_>) = longer.into_iter().partition(ends);
        finished.sort_by_key(|path| path.iter().map(|&link| place(ways, link, first)).collect::<Vec<_>>());
        found.extend(finished);
        unfinished = rest;
    }
    found.truncate(k);
    found
}

/// The place of a link among those of its router, if they are gone through from number `first` modulo how many there are on.
fn place(ways: &Ways, (router, port): Link, first: usize) -> usize {
    let links = ways.links(router);
    let number = links.iter().position(|&link| link == port).expect("it is a link of the router");
    (number + links.len() - first % links.len()) % links.len()
}
