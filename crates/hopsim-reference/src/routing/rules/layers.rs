//! The VCs that keep shortest paths of any graph free of deadlock.
//!
//! Which paths share a layer is the engine's table, which a heuristic finds: there is no other answer to compare it with, but it
//! is checked for what it must satisfy. The VCs of the layers, and that packets keep theirs, are decided here.

use crate::routing::ways::Ways;
use crate::state::place::Link;
use hopsim_network::topology::graph::Graph;
use hopsim_routing::layers::Layers;
use std::collections::{BTreeMap, BTreeSet};

/// The VC of the path between any two routers with nodes.
pub struct PathVcs(BTreeMap<(usize, usize), u8>);

impl PathVcs {
    pub fn vc(&self, from: usize, to: usize) -> u8 {
        self.0[&(from, to)]
    }
}

/// The VCs of the paths of a graph whose links have `vcs` of them; `None` if one would do, when every hop may use all.
pub fn of(graph: &Graph, vcs: u8, ways: &Ways) -> Option<PathVcs> {
    let layers = Layers::new(graph)?;
    let count = layers.count() as usize;
    if count == 1 {
        return None;
    }
    let routers = ways.routers_with_nodes();
    let pairs = || (0..routers).flat_map(move |from| (0..routers).map(move |to| (from, to)));
    let table = layers.vcs(count as u8);
    let layer = |(from, to): (usize, usize)| usize::from(table.vc(from as u32, to as u32));
    let mut paths = vec![0; count];
    pairs().filter(|(from, to)| from != to).for_each(|pair| paths[layer(pair)] += 1);
    // Each layer has a VC, and of those left each goes to the layer with most paths per VC, rounded down; of several to the first.
    let mut shares = vec![1; count];
    for _ in count..usize::from(vcs) {
        let crowded = |&one: &usize| (paths[one] / shares[one], std::cmp::Reverse(one));
        let most = (0..count).max_by_key(crowded).unwrap_or(0);
        shares[most] += 1;
    }
    // The paths of a layer take its VCs in turn, from its second one on.
    let mut turns = vec![0; count];
    let mut chosen = BTreeMap::new();
    for pair in pairs() {
        let layer = layer(pair);
        turns[layer] += 1;
        let first: usize = shares[..layer].iter().sum();
        chosen.insert(pair, (first + turns[layer] % shares[layer]) as u8);
    }
    let vcs = PathVcs(chosen);
    check(&vcs, ways);
    Some(vcs)
}

/// Panics if buffers could wait for each other in a circle.
fn check(vcs: &PathVcs, ways: &Ways) {
    // What the buffer behind a link, in some VC, waits for.
    let mut after: BTreeMap<(Link, u8), BTreeSet<(Link, u8)>> = BTreeMap::new();
    for (&(from, to), &vc) in vcs.0.iter().filter(|((from, to), _)| ways.reaches(*from, *to)) {
        for pair in ways.table_way(from, to).windows(2) {
            after.entry((pair[0], vc)).or_default().insert((pair[1], vc));
        }
    }
    // What waits for nothing can be left out, again and again, until nothing is left.
    loop {
        let waiting: BTreeSet<(Link, u8)> = after.keys().copied().collect();
        let before = after.len();
        after.retain(|_, others| others.iter().any(|other| waiting.contains(other)));
        if after.len() == before {
            break;
        }
    }
    assert!(after.is_empty(), "paths of one VC wait for each other in a circle: {:?}", after.keys());
}
