//! Families of topologies have the numbers of routers, links, triangles and links between routers that are published of them or
//! that networkx finds in what their definitions say.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use hopsim_network::topology::faults::{Fault, without};
use hopsim_network::topology::{PortClass, Topology, TopologyConfig};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

fn build(topology: &Value) -> Topology {
    let config: TopologyConfig = serde_json::from_value(topology.clone()).unwrap();
    config.build().unwrap_or_else(|e| panic!("{topology}: {e}"))
}

fn refused(topology: &Value) -> String {
    let config: TopologyConfig = serde_json::from_value(topology.clone()).unwrap();
    config.build().err().map(|e| e.to_string()).unwrap_or_default()
}

/// The routers that a router has links to, by port. Every link leads back, and is of one class at both ends.
fn peers(topology: &Topology, router: u32) -> Vec<u32> {
    let ports = topology.ports();
    let mut peers = Vec::new();
    for (port, class) in ports.iter().enumerate() {
        let Some((peer, back)) = topology.neighbour(router, port) else { continue };
        assert_eq!(topology.neighbour(peer, back), Some((router, port)));
        assert_ne!((*class, peer), (PortClass::Terminal, router));
        assert_eq!(ports[back], *class);
        peers.push(peer);
    }
    peers
}

fn graph(topology: &Topology) -> Vec<Vec<u32>> {
    (0..topology.routers()).map(|router| peers(topology, router)).collect()
}

/// Routers, links, least and greatest degree, diameter, mean distance in billionths, triangles.
type Numbers = (usize, usize, usize, usize, u32, u64, usize);

fn distances(graph: &[Vec<u32>], from: u32) -> Vec<u32> {
    let mut found = vec![u32::MAX; graph.len()];
    found[from as usize] = 0;
    let mut queue = VecDeque::from([from]);
    while let Some(router) = queue.pop_front() {
        for &peer in &graph[router as usize] {
            if found[peer as usize] == u32::MAX {
                found[peer as usize] = found[router as usize] + 1;
                queue.push_back(peer);
            }
        }
    }
    found
}

fn numbers(topology: &Topology) -> Numbers {
    let graph = graph(topology);
    let routers = graph.len() as u64;
    let degrees = || graph.iter().map(Vec::len);
    let (mut diameter, mut sum) = (0, 0u64);
    for from in 0..topology.routers() {
        let found = distances(&graph, from);
        diameter = diameter.max(found.iter().copied().max().unwrap());
        sum += found.iter().map(|&links| u64::from(links)).sum::<u64>();
    }
    let sets: Vec<BTreeSet<u32>> = graph.iter().map(|peers| peers.iter().copied().collect()).collect();
    let triangles = sets.iter().enumerate().map(|(router, peers)| {
        let later: Vec<u32> = peers.iter().copied().filter(|&peer| peer as usize > router).collect();
        let closed = |&one: &u32| {
            later.iter().filter(|&&other| other > one && sets[one as usize].contains(&other)).count()
        };
        later.iter().map(closed).sum::<usize>()
    });
    let pairs = routers * (routers - 1);
    (
        graph.len(),
        degrees().sum::<usize>() / 2,
        degrees().min().unwrap(),
        degrees().max().unwrap(),
        diameter,
        (sum * 1_000_000_000 + pairs / 2) / pairs,
        triangles.sum(),
    )
}

#[test]
fn slim_flies_have_the_numbers_of_their_definition() {
    // Of q = 19 those of the paper, too: 722 routers of 29 links, 15 nodes each. 4, 8, 9, 16, 25 and 27 are no primes.
    for (q, expected) in [
        (3, (18, 45, 5, 5, 2, 1_705_882_353, 6)),
        (4, (32, 96, 6, 6, 2, 1_806_451_613, 0)),
        (5, (50, 175, 7, 7, 2, 1_857_142_857, 0)),
        (7, (98, 539, 11, 11, 2, 1_886_597_938, 98)),
        (8, (128, 768, 12, 12, 2, 1_905_511_811, 128)),
        (9, (162, 1053, 13, 13, 2, 1_919_254_658, 108)),
        (11, (242, 2057, 17, 17, 2, 1_929_460_581, 726)),
        (13, (338, 3211, 19, 19, 2, 1_943_620_178, 676)),
        (16, (512, 6144, 24, 24, 2, 1_953_033_268, 2048)),
        (17, (578, 7225, 25, 25, 2, 1_956_672_444, 2312)),
        (19, (722, 10_469, 29, 29, 2, 1_959_778_086, 5054)),
    ] {
        let topology = build(&json!({ "slim_fly": { "q": q } }));
        assert_eq!(numbers(&topology), expected, "q = {q}");
        let nodes = expected.2.div_ceil(2) as u32;
        assert_eq!((topology.nodes_per_router(), topology.nodes()), (nodes, nodes * topology.routers()));
    }
    assert_eq!(build(&json!({ "slim_fly": { "q": 19 } })).nodes(), 10_830);
}

#[test]
fn slim_flies_of_primes_are_written_with_integers() {
    for (q, delta, primitive) in [(5u32, 1, 2), (7, -1, 3), (11, -1, 2), (13, 1, 2), (17, 1, 3)] {
        let power = |exponent: u32| (0..exponent).fold(1, |power, _| power * primitive % q);
        let exponents = |list: Vec<u32>| list.into_iter().map(power).collect::<BTreeSet<u32>>();
        let w = (q.cast_signed() - delta).cast_unsigned() / 4;
        let [first, second] = if delta == 1 {
            [(0..=q - 3).step_by(2).collect(), (1..=q - 2).step_by(2).collect()]
        } else {
            let either = |even: u32, middle: u32, last: u32| {
                (even..middle).step_by(2).chain((middle..=last).step_by(2)).collect::<Vec<u32>>()
            };
            [either(0, 2 * w - 1, 4 * w - 3), either(1, 2 * w, 4 * w - 2)]
        }
        .map(exponents);
        let linked = |(s, x, y): (u32, u32, u32), (t, m, c): (u32, u32, u32)| match (s, t) {
            (0, 0) => x == m && first.contains(&((q + y - c) % q)),
            (1, 1) => x == m && second.contains(&((q + y - c) % q)),
            (0, _) => y == (m * x + c) % q,
            _ => c == (x * m + y) % q,
        };
        let place = |router: u32| (router / (q * q), router / q % q, router % q);
        let topology = build(&json!({ "slim_fly": { "q": q } }));
        for router in 0..topology.routers() {
            let expected: Vec<u32> = (0..topology.routers())
                .filter(|&peer| peer != router && linked(place(router), place(peer)))
                .collect();
            assert_eq!(peers(&topology, router), expected, "router {router} of q = {q}");
        }
    }
}

#[test]
fn polarflies_have_the_numbers_of_their_definition() {
    for (q, expected) in [
        (2, (7, 9, 2, 3, 2, 1_571_428_571, 1)),
        (4, (21, 50, 4, 5, 2, 1_761_904_762, 10)),
        (5, (31, 90, 5, 6, 2, 1_806_451_613, 20)),
        (7, (57, 224, 7, 8, 2, 1_859_649_123, 56)),
        (8, (73, 324, 8, 9, 2, 1_876_712_329, 84)),
        (9, (91, 450, 9, 10, 2, 1_890_109_890, 120)),
        (11, (133, 792, 11, 12, 2, 1_909_774_436, 220)),
        (13, (183, 1274, 13, 14, 2, 1_923_497_268, 364)),
        (16, (273, 2312, 16, 17, 2, 1_937_728_938, 680)),
        (19, (381, 3800, 19, 20, 2, 1_947_506_562, 1140)),
    ] {
        assert_eq!(numbers(&build(&json!({ "polarfly": { "q": q } }))), expected, "q = {q}");
    }
    let of_paper = build(&json!({ "polarfly": { "q": 31 } }));
    assert_eq!((of_paper.routers(), of_paper.nodes_per_router()), (993, 16));
    assert_eq!(of_paper.ports().len(), 32 + 16);
}

#[test]
fn every_two_points_of_a_polarfly_are_orthogonal_to_one_other_point() {
    for q in [2u32, 3, 4, 5, 8, 9] {
        let graph = graph(&build(&json!({ "polarfly": { "q": q } })));
        // Points with q links are orthogonal to themselves.
        let sets: Vec<BTreeSet<u32>> = (0..)
            .zip(&graph)
            .map(|(point, peers)| {
                let itself = (peers.len() == q as usize).then_some(point);
                peers.iter().copied().chain(itself).collect()
            })
            .collect();
        assert_eq!(graph.iter().filter(|peers| peers.len() == q as usize).count() as u32, q + 1);
        for (one, other) in (0..sets.len()).flat_map(|one| (0..one).map(move |other| (one, other))) {
            assert_eq!(sets[one].intersection(&sets[other]).count(), 1, "{one} and {other} of q = {q}");
        }
    }
}

#[test]
fn two_leaves_of_an_orthogonal_fat_tree_have_one_spine_in_common_unless_they_are_the_same_point() {
    for q in [2u32, 3, 4, 5, 7, 8, 9] {
        let topology = build(&json!({ "oft": { "q": q } }));
        let points = q * q + q + 1;
        assert_eq!((topology.routers(), topology.routers_with_nodes()), (3 * points, 2 * points));
        assert_eq!(topology.nodes(), 2 * points * (q + 1));
        let graph = graph(&topology);
        let spines: Vec<BTreeSet<u32>> =
            graph[..2 * points as usize].iter().map(|peers| peers.iter().copied().collect()).collect();
        for (one, other) in (0..2 * points).flat_map(|one| (0..one).map(move |other| (one, other))) {
            let common = spines[one as usize].intersection(&spines[other as usize]).count() as u32;
            assert_eq!(common, if one == other + points { q + 1 } else { 1 }, "{one} and {other} of q = {q}");
        }
        for peers in &graph[2 * points as usize..] {
            assert_eq!(peers.len() as u32, 2 * (q + 1));
        }
    }
    // As many nodes as are given of switches of 24 ports.
    assert_eq!(build(&json!({ "oft": { "q": 11 } })).nodes(), 3_192);
}

#[test]
fn orthogonal_fat_trees_that_cannot_be_are_refused_with_what_can() {
    let reason = |q: u32| refused(&json!({ "oft": { "q": q } }));
    assert_eq!(
        reason(6),
        "oft.q = 6: there is no field of so many elements; valid: powers of primes up to 81, as 5 or 7"
    );
    assert_eq!(
        reason(83),
        "oft.q = 83: 20919 routers are too many for the tables of paths, which hold 20480; valid: powers of primes up to 81, as 81"
    );
}

#[test]
fn fat_trees_of_any_shape_have_the_numbers_of_their_definition() {
    for (children, parents, nodes, expected) in [
        (vec![4, 4], vec![1, 4], 16, (8, 16, 4, 4, 2, 1_428_571_429, 0)),
        (vec![18, 36], vec![1, 18], 648, (54, 648, 18, 36, 2, 1_547_169_811, 0)),
        (vec![4, 4, 8], vec![1, 4, 4], 128, (80, 256, 4, 8, 4, 2_881_012_658, 0)),
        (vec![8, 4, 4], vec![1, 2, 2], 128, (28, 48, 2, 6, 4, 2_761_904_762, 0)),
        (vec![6, 6, 12], vec![1, 6, 6], 432, (180, 864, 6, 12, 4, 2_983_240_223, 0)),
    ] {
        let topology = build(&json!({ "xgft": { "children": children, "parents": parents } }));
        assert_eq!((topology.nodes(), numbers(&topology)), (nodes, expected), "{children:?}");
    }
}

#[test]
fn a_fat_tree_is_an_xgft_of_equal_numbers() {
    for (k, levels) in [(2, 3), (3, 2), (4, 3)] {
        let tree = build(&json!({ "fat_tree": { "k": k, "levels": levels } }));
        let mut parents = vec![k; levels];
        parents[0] = 1;
        let xgft = build(&json!({ "xgft": { "children": vec![k; levels], "parents": parents } }));
        assert_eq!((numbers(&tree), tree.nodes()), (numbers(&xgft), xgft.nodes()));
        // As far from each other, too: nodes are numbered alike.
        for (from, to) in (0..tree.routers_with_nodes())
            .flat_map(|from| (0..tree.routers_with_nodes()).map(move |to| (from, to)))
        {
            assert_eq!(tree.minimal_hops(from, to), xgft.minimal_hops(from, to));
        }
    }
}

#[test]
fn with_parallel_links_a_tree_has_the_same_switches_and_distances_and_more_links() {
    let (children, parents) = ([2, 3, 4], [1, 2, 3]);
    let plain = build(&json!({ "xgft": { "children": children, "parents": parents } }));
    let of = |parallel: [u32; 3]| json!({ "xgft": { "children": children, "parents": parents, "parallel": parallel } });
    let wide = build(&of([1, 2, 3]));
    // 12 · 2 links between the lower levels, 8 · 3 between the upper ones.
    assert_eq!((ends(&plain), ends(&wide)), (2 * (24 + 24), 2 * (2 * 24 + 3 * 24)));
    let routers = 0..plain.routers_with_nodes();
    for (from, to) in routers.clone().flat_map(|from| routers.clone().map(move |to| (from, to))) {
        assert_eq!(plain.minimal_hops(from, to), wide.minimal_hops(from, to));
    }
    assert_eq!(numbers(&build(&of([1, 1, 1]))), numbers(&plain));
}

/// Ports that a link is plugged into.
fn ends(topology: &Topology) -> usize {
    let all = (0..topology.routers())
        .flat_map(|router| (0..topology.ports().len()).map(move |port| (router, port)));
    all.filter(|&(router, port)| topology.neighbour(router, port).is_some()).count()
}

/// The routers next to a router, ascending.
fn neighbours(topology: &Topology, router: u32) -> Vec<u32> {
    let mut all: Vec<u32> = (0..topology.ports().len())
        .filter_map(|port| topology.neighbour(router, port))
        .map(|(peer, _)| peer)
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn the_product_of_two_meshes_is_a_mesh_of_all_their_sides() {
    let part = |sides: &[u32]| json!({ "mesh": { "sides": sides, "nodes_per_router": 2 } });
    let product = build(&json!({ "product": { "inner": part(&[3, 2]), "outer": part(&[2, 4]) } }));
    let mesh = build(&json!({ "mesh": { "sides": [3, 2, 2, 4], "nodes_per_router": 2 } }));
    assert_eq!((product.routers(), product.nodes(), product.groups()), (48, 96, 8));
    for router in 0..48 {
        assert_eq!(neighbours(&product, router), neighbours(&mesh, router));
        assert_eq!(product.group(router), router / 6);
    }
}

#[test]
fn in_a_product_only_gateways_have_links_to_other_networks_and_routers_with_nodes_come_first() {
    // A tree of two leaves and a spine in the place of each of four routers in a ring; nodes hang from leaves.
    let tree = json!({ "xgft": { "children": [3, 2], "parents": [1, 1] } });
    let ring = json!({ "ring": { "routers": 4 } });
    let topology = build(&json!({ "product": { "inner": tree, "outer": ring, "gateways": [2] } }));
    assert_eq!((topology.routers(), topology.routers_with_nodes(), topology.nodes()), (12, 8, 24));
    for x in 0..4 {
        let spine = 8 + x;
        assert_eq!(neighbours(&topology, 2 * x), [spine]);
        assert_eq!(neighbours(&topology, 2 * x + 1), [spine]);
        let mut joined = vec![2 * x, 2 * x + 1, 8 + (x + 1) % 4, 8 + (x + 3) % 4];
        joined.sort_unstable();
        assert_eq!(neighbours(&topology, spine), joined);
        assert_eq!([2 * x, 2 * x + 1, spine].map(|router| topology.group(router)), [x; 3]);
    }
    // Leaf, spine, spine of the next one, leaf.
    assert_eq!(topology.minimal_hops(0, 2)[..2], [2, 1]);
}

#[test]
fn products_that_cannot_be_are_refused_with_what_can() {
    let mesh = || json!({ "mesh": { "sides": [2, 2] } });
    let product = |inner: Value, more: Value| {
        let mut all = json!({ "inner": inner, "outer": mesh() });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "product": all })
    };
    let valid = "mesh, torus, ring, hyperx, fat_tree, graph or a family of graphs with links of one class";
    let whole = "paths are those of the whole network, whose ties says which of several packets take; valid: no such key";
    let class = "links have the latency of their class, and are as fast as all others; valid: no such key";
    let edges = json!([{ "between": [0, 1] }, { "between": [1, 2], "cycles_per_phit": 2 }]);
    refuse(&[
        (
            product(json!({ "dragonfly": { "p": 1, "a": 2, "h": 1 } }), json!({})),
            &format!("product.inner.dragonfly: has links of two classes of its own; valid: {valid}"),
        ),
        (
            product(json!({ "ideal": { "nodes": 4, "latency": 1 } }), json!({})),
            &format!("product.inner.ideal: has no routers; valid: {valid}"),
        ),
        (
            product(json!({ "slim_fly": { "q": 6 } }), json!({})),
            "product.inner.slim_fly.q = 6: there is no field of so many elements; valid: powers of primes from 3 to 101, as 5 or 7",
        ),
        (
            product(json!({ "slim_fly": { "q": 4, "ties": "hash" } }), json!({})),
            &format!("product.inner.slim_fly.ties: {whole}"),
        ),
        (
            product(json!({ "ring": { "routers": 4, "tie": "plus" } }), json!({})),
            &format!("product.inner.ring.tie: {whole}"),
        ),
        (
            product(json!({ "graph": { "edges": edges } }), json!({})),
            &format!("product.inner.graph.edges.1.cycles_per_phit: {class}"),
        ),
        (
            product(json!({ "graph": { "edges": [{ "between": [0, 1] }], "nodes": [2, 1] } }), json!({})),
            "product.inner.graph.nodes.1 = 1: all routers with nodes have as many of them in a network that is a part of another one; \
             valid: 2, as in nodes.0",
        ),
        (
            product(json!({ "hyperx": { "sides": [3], "latency_per_step": 1 } }), json!({})),
            &format!("product.inner.hyperx.latency_per_step: {class}"),
        ),
        (
            product(mesh(), json!({ "gateways": [0, 4] })),
            "product.gateways.1 = 4: the inner topology has 4 routers; valid: 0 … 3",
        ),
        (
            product(mesh(), json!({ "gateways": [2, 2] })),
            "product.gateways.1 = 2: the numbers have to ascend; valid: 0 … 3",
        ),
        (
            product(json!({ "mesh": { "sides": [100, 100] } }), json!({})),
            "product.outer = 4 networks of 10000 routers: 40000 routers are too many for the tables of paths, which hold 20480; valid: \
             inner and outer topologies of at most 20480 routers together",
        ),
    ]);
}

#[test]
fn switches_of_an_xgft_are_joined_by_the_digits_of_their_words() {
    let (children, parents) = ([2u32, 3, 4], [1u32, 2, 3]);
    let topology = build(&json!({ "xgft": { "children": children, "parents": parents } }));
    // Words of level 1: a3 a2; of level 2: a3 b2; of level 3: b3 b2.
    let level = |router: u32| match router {
        0..12 => (1, [router / 3, router % 3]),
        12..20 => (2, [(router - 12) / 2, (router - 12) % 2]),
        _ => (3, [(router - 20) / 2, (router - 20) % 2]),
    };
    assert_eq!(topology.routers(), 12 + 8 + 6);
    for router in 0..26 {
        let expected: Vec<u32> = (0..26)
            .filter(|&peer| match (level(router), level(peer)) {
                ((1, [a, _]), (2, [b, _]))
                | ((2, [b, _]), (1, [a, _]))
                | ((2, [_, a]), (3, [_, b]))
                | ((3, [_, b]), (2, [_, a])) => a == b,
                _ => false,
            })
            .collect();
        assert_eq!(peers(&topology, router), expected);
    }
}

/// A dragonfly+ and its numbers.
struct Plus {
    topology: Topology,
    leaves: u32,
    spines: u32,
    global: u32,
    groups: u32,
    nodes: u32,
}

impl Plus {
    fn new(shape: &Value) -> Self {
        let number = |key: &str, default: u32| shape.get(key).map_or(default, |n| n.as_u64().unwrap() as u32);
        let leaves = number("leaves", 0);
        let (spines, global) = (number("spines", leaves), number("global_links", leaves));
        Self {
            topology: build(&json!({ "dragonfly_plus": shape })),
            leaves,
            spines,
            global,
            groups: number("groups", spines * global + 1),
            nodes: number("nodes_per_leaf", spines),
        }
    }

    fn is_leaf(&self, router: u32) -> bool {
        router < self.groups * self.leaves
    }

    /// The routers that a router has links of a class to, by port.
    fn peers(&self, router: u32, class: u8) -> Vec<u32> {
        let ports = self.topology.ports();
        let of_class = (0..ports.len()).filter(|&port| ports[port] == PortClass::Link(class));
        of_class.filter_map(|port| Some(self.topology.neighbour(router, port)?.0)).collect()
    }

    fn check_counts(&self) {
        let &Self { ref topology, leaves, spines, groups, nodes, .. } = self;
        assert_eq!((topology.routers(), topology.groups()), (groups * (leaves + spines), groups));
        let (with_nodes, all) = (topology.routers_with_nodes(), topology.nodes());
        assert_eq!((with_nodes, all), (groups * leaves, groups * leaves * nodes));
    }

    /// Leaves are joined to all spines of their group.
    fn check_local_links(&self) {
        let group = |router: u32| self.topology.group(router);
        for router in 0..self.topology.routers() {
            let joined =
                |&peer: &u32| group(peer) == group(router) && self.is_leaf(peer) != self.is_leaf(router);
            assert_eq!(
                self.peers(router, 0),
                (0..self.topology.routers()).filter(joined).collect::<Vec<_>>()
            );
        }
    }

    /// Groups are joined by links between spines, any two by as many as any others or one more.
    fn check_global_links(&self) {
        let (mut shared, mut busiest) = (BTreeMap::<(u32, u32), u32>::new(), 0);
        for router in 0..self.topology.routers() {
            let (group, out) = (self.topology.group(router), self.peers(router, 1));
            assert!(out.is_sorted());
            assert!(out.is_empty() || !self.is_leaf(router));
            busiest = busiest.max(out.len());
            for peer in out {
                assert!(!self.is_leaf(peer) && self.topology.group(peer) != group);
                *shared.entry((group, self.topology.group(peer))).or_default() += 1;
            }
        }
        let pairs = self.groups * (self.groups - 1);
        assert_eq!((shared.len() as u32, busiest), (pairs, self.global as usize));
        let counts: BTreeSet<u32> = shared.into_values().collect();
        assert!(counts.last().unwrap() - counts.first().unwrap() <= 1);
    }

    /// Minimal paths lead over one spine in a group, and over two to another group.
    fn check_paths(&self) {
        let leaves = 0..self.groups * self.leaves;
        for (from, to) in leaves.clone().flat_map(|from| leaves.clone().map(move |to| (from, to))) {
            let expected = match (from == to, self.topology.group(from) == self.topology.group(to)) {
                (true, _) => [0, 0],
                (false, true) => [2, 0],
                (false, false) => [2, 1],
            };
            assert_eq!(self.topology.minimal_hops(from, to), expected);
            let cycles = u32::from(expected[0]) * 3 + u32::from(expected[1]) * 50;
            assert_eq!(self.topology.minimal_latency(from, to, (&[3, 50], 8)), cycles);
        }
    }
}

#[test]
fn leaves_are_joined_to_all_spines_of_their_group_and_groups_to_each_other() {
    for shape in [
        json!({ "leaves": 2, "global_links": 1 }),
        json!({ "leaves": 4 }),
        json!({ "leaves": 3, "spines": 2, "global_links": 2 }),
        json!({ "leaves": 2, "spines": 4, "global_links": 1, "nodes_per_leaf": 3 }),
        json!({ "leaves": 3, "spines": 3, "global_links": 4, "groups": 5, "arrangement": "consecutive" }),
        json!({ "leaves": 4, "spines": 2, "global_links": 4, "groups": 4, "arrangement": { "random": {} } }),
        json!({ "leaves": 2, "spines": 2, "global_links": 3, "groups": 2 }),
    ] {
        let plus = Plus::new(&shape);
        plus.check_counts();
        plus.check_local_links();
        plus.check_global_links();
        plus.check_paths();
    }
    let full = build(&json!({ "dragonfly_plus": { "leaves": 4 } }));
    assert_eq!(numbers(&full), (136, 408, 4, 8, 5, 3_107_407_407, 0));
}

/// Networks drawn at random, by name, routers, degree and seed.
const DRAWN: [(&str, u32, u32); 12] = [
    ("jellyfish", 2, 1),
    ("jellyfish", 5, 2),
    ("jellyfish", 6, 4),
    ("jellyfish", 20, 3),
    ("jellyfish", 20, 16),
    ("jellyfish", 64, 2),
    ("jellyfish", 245, 14),
    ("xpander", 6, 5),
    ("xpander", 12, 3),
    ("xpander", 12, 2),
    ("xpander", 90, 8),
    ("xpander", 340, 16),
];

fn drawn(name: &str, routers: u32, degree: u32, seed: u64) -> Vec<Vec<u32>> {
    graph(&build(&json!({ name: { "routers": routers, "degree": degree, "seed": seed } })))
}

#[test]
fn networks_drawn_at_random_are_regular_simple_connected_and_follow_from_their_seed() {
    for (name, routers, degree) in DRAWN {
        let all: Vec<_> = (1..=4).map(|seed| drawn(name, routers, degree, seed)).collect();
        for graph in &all {
            assert_eq!(graph.len(), routers as usize);
            for (router, peers) in (0..).zip(graph) {
                let set: BTreeSet<u32> = peers.iter().copied().collect();
                assert_eq!(
                    (set.len(), peers.len()),
                    (degree as usize, degree as usize),
                    "{name} {routers} {degree}"
                );
                assert!(!set.contains(&router) && peers.is_sorted());
            }
            assert!(!distances(graph, 0).contains(&u32::MAX));
        }
        assert_eq!(all[0], drawn(name, routers, degree, 1));
        let differ = all.iter().collect::<BTreeSet<_>>().len() > 1;
        assert_eq!(differ, degree + 1 < routers, "there is one complete graph only");
    }
}

#[test]
fn routers_of_a_random_network_are_as_far_apart_as_a_tree_allows_and_not_much_farther() {
    // Within the mean distance of a tree of that degree without a circle (a bound below), and 15 percent more.
    for (name, routers, degree) in
        [("jellyfish", 245, 14), ("jellyfish", 500, 7), ("xpander", 340, 16), ("xpander", 504, 7)]
    {
        let found =
            numbers(&build(&json!({ name: { "routers": routers, "degree": degree } }))).5 as f64 / 1e9;
        let (mut left, mut ring, mut sum) = (f64::from(routers - 1), f64::from(degree), 0.0);
        for links in 1..20 {
            let reached = ring.min(left);
            sum += reached * f64::from(links);
            left -= reached;
            ring *= f64::from(degree - 1);
        }
        let bound = sum / f64::from(routers - 1);
        assert!((bound..1.15 * bound).contains(&found), "{name} {routers} {degree}: {found} and {bound}");
    }
}

#[test]
fn every_router_of_an_xpander_has_a_link_to_each_of_the_other_sets() {
    for (routers, degree) in [(12, 3), (90, 8)] {
        let of_set = routers / (degree + 1);
        for (router, peers) in (0..).zip(drawn("xpander", routers, degree, 7)) {
            let sets: Vec<u32> = peers.iter().map(|peer| peer / of_set).collect();
            assert_eq!(sets, (0..=degree).filter(|&set| set != router / of_set).collect::<Vec<_>>());
        }
    }
}

#[test]
fn every_network_of_few_routers_is_drawn() {
    // There are 70 simple regular networks of degree 2 on six routers, of which 60 are one circle, each as likely as the others.
    let mut found = BTreeMap::<Vec<Vec<u32>>, u32>::new();
    for seed in 0..6000 {
        *found.entry(drawn("jellyfish", 6, 2, seed)).or_default() += 1;
    }
    assert_eq!(found.len(), 60);
    assert!(found.values().all(|count| (50..=150).contains(count)), "{:?}", found.values());
}

fn refuse(cases: &[(Value, &str)]) {
    for (topology, expected) in cases {
        assert_eq!(refused(topology), *expected);
    }
}

#[test]
fn slim_flies_that_cannot_be_are_refused_with_what_can() {
    refuse(&[
        (
            json!({ "slim_fly": { "q": 6 } }),
            "slim_fly.q = 6: there is no field of so many elements; valid: powers of primes from 3 to 101, as 5 or 7",
        ),
        (
            json!({ "slim_fly": { "q": 2 } }),
            "slim_fly.q = 2: there is no such network of so few routers; valid: powers of primes from 3 on, as 3",
        ),
        (
            json!({ "slim_fly": { "q": 0 } }),
            "slim_fly.q = 0: there is no such network of so few routers; valid: powers of primes from 3 on, as 3",
        ),
        (
            json!({ "slim_fly": { "q": 103 } }),
            "slim_fly.q = 103: 21218 routers are too many for the tables of paths, which hold 20480; valid: powers of primes up to 101, as 101",
        ),
        (
            json!({ "slim_fly": { "q": u32::MAX } }),
            "slim_fly.q = 4294967295: 18446744073709551615 routers are too many for the tables of paths, which hold 20480; valid: powers of primes up to 101, as 101",
        ),
        (
            json!({ "slim_fly": { "q": 5, "nodes_per_router": 65 } }),
            "slim_fly.nodes_per_router = 65: out of range; valid: 1 … 64",
        ),
    ]);
}

#[test]
fn polarflies_that_cannot_be_are_refused_with_what_can() {
    refuse(&[
        (
            json!({ "polarfly": { "q": 10 } }),
            "polarfly.q = 10: there is no field of so many elements; valid: powers of primes up to 139, as 9 or 11",
        ),
        (
            json!({ "polarfly": { "q": 1 } }),
            "polarfly.q = 1: there is no field of so many elements; valid: powers of primes up to 139, as 2",
        ),
        (
            json!({ "polarfly": { "q": 149 } }),
            "polarfly.q = 149: 22351 routers are too many for the tables of paths, which hold 20480; valid: powers of primes up to 139, as 139",
        ),
    ]);
}

#[test]
fn jellyfish_that_cannot_be_are_refused_with_what_can() {
    refuse(&[
        (
            json!({ "jellyfish": { "routers": 15, "degree": 3 } }),
            "jellyfish.degree = 3: 15 routers of 3 links each have an odd number of ends of links; valid: 2 or 4, or 14 or 16 routers",
        ),
        (
            json!({ "jellyfish": { "routers": 3, "degree": 1 } }),
            "jellyfish.degree = 1: 3 routers of 1 links each have an odd number of ends of links; valid: 2, or 2 or 4 routers",
        ),
        (
            json!({ "jellyfish": { "routers": 4, "degree": 1 } }),
            "jellyfish.degree = 1: 4 routers of one link each are joined in pairs only; valid: 2 … 3",
        ),
        (
            json!({ "jellyfish": { "routers": 4, "degree": 4 } }),
            "jellyfish.degree = 4: 4 routers, each joined to 4 others by a link each, there are not; valid: 1 … 3",
        ),
        (
            json!({ "jellyfish": { "routers": 1, "degree": 0 } }),
            "jellyfish.routers = 1: out of range; valid: 2 … 20480",
        ),
        (
            json!({ "jellyfish": { "routers": 20481, "degree": 4 } }),
            "jellyfish.routers = 20481: 20481 routers are too many for the tables of paths, which hold 20480; valid: 2 … 20480",
        ),
        (
            json!({ "jellyfish": { "routers": 2000, "degree": 510 } }),
            "jellyfish.degree = 510: a router would have 574 ports; valid: at most 512 ports per router, terminal ones included",
        ),
    ]);
}

#[test]
fn the_paths_of_large_networks_are_not_spread() {
    let reason = "to spread the paths of more than 2048 over the links would take too long; valid: \"first\", \"hash\", or at \
                  most 2048 routers";
    let jelly = |ties: Value| json!({ "jellyfish": { "routers": 2049, "degree": 4, "ties": ties } });
    let edges: Vec<Value> = (0..2049u32).map(|router| json!({ "between": [router, router + 1] })).collect();
    refuse(&[
        (
            jelly(json!("spread")),
            &format!("jellyfish.ties = \"spread\": the network has 2049 routers, and {reason}"),
        ),
        (
            json!({ "jellyfish": { "routers": 2050, "degree": 3 } }),
            &format!("jellyfish.ties = \"spread\": the network has 2050 routers, and {reason}"),
        ),
        (
            json!({ "graph": { "edges": edges } }),
            &format!("graph.ties = \"spread\": the network has 2050 routers, and {reason}"),
        ),
        (jelly(json!("first")), ""),
        (jelly(json!("hash")), ""),
        (json!({ "jellyfish": { "routers": 2048, "degree": 3 } }), ""),
    ]);
}

#[test]
fn xpanders_that_cannot_be_are_refused_with_what_can() {
    refuse(&[
        (
            json!({ "xpander": { "routers": 90, "degree": 7 } }),
            "xpander.routers = 90: 8 sets, one more than the degree, have as many routers each; valid: a multiple of 8, as 88 or 96",
        ),
        (
            json!({ "xpander": { "routers": 4, "degree": 1 } }),
            "xpander.degree = 1: 4 routers of one link each are joined in pairs only; valid: 2 … 3",
        ),
    ]);
}

#[test]
fn fat_trees_that_cannot_be_are_refused_with_what_can() {
    refuse(&[
        (
            json!({ "xgft": { "children": [], "parents": [] } }),
            "xgft.children: there is no level; valid: a number for each level, from the lowest",
        ),
        (
            json!({ "xgft": { "children": [4, 4], "parents": [1] } }),
            "xgft.parents = [1]: children has 2 levels; valid: 2 numbers, from the lowest level, the first of them 1",
        ),
        (
            json!({ "xgft": { "children": [4, 4], "parents": [2, 4] } }),
            "xgft.parents.0 = 2: a node hangs from one switch; valid: 1",
        ),
        (
            json!({ "xgft": { "children": [4, 4], "parents": [1, 4], "parallel": [2, 1] } }),
            "xgft.parallel.0 = 2: a node has one link; valid: 1",
        ),
        (
            json!({ "xgft": { "children": [4, 4], "parents": [1, 4], "parallel": [1] } }),
            "xgft.parallel = [1]: children has 2 levels; valid: 2 numbers, from the lowest level, the first of them 1",
        ),
        (
            json!({ "xgft": { "children": [4, 0], "parents": [1, 4] } }),
            "xgft.children.1 = 0: there would be no switch or no node; valid: 1 and more",
        ),
        (
            json!({ "xgft": { "children": [65, 2], "parents": [1, 4] } }),
            "xgft.children.0 = 65: out of range; valid: 1 … 64",
        ),
        (
            json!({ "xgft": { "children": [4, 40000], "parents": [1, 4] } }),
            "xgft.children = [4, 40000] with parents = [1, 4]: 40004 routers are too many for the tables of paths, which hold 20480; valid: fewer children or parents per level, at most 20480 switches of all levels",
        ),
        (
            json!({ "xgft": { "children": [4, 600], "parents": [1, 1] } }),
            "xgft.children.1 = 600: a router would have 604 ports; valid: at most 512 ports per router, terminal ones included",
        ),
    ]);
}

#[test]
fn dragonflies_with_spines_that_cannot_be_are_refused_with_what_can() {
    refuse(&[
        (
            json!({ "dragonfly_plus": { "leaves": 0 } }),
            "dragonfly_plus.leaves = 0: out of range; valid: 1 … 254",
        ),
        (
            json!({ "dragonfly_plus": { "leaves": 4, "spines": 255 } }),
            "dragonfly_plus.spines = 255: out of range; valid: 1 … 254",
        ),
        (
            json!({ "dragonfly_plus": { "leaves": 2, "groups": 6 } }),
            "dragonfly_plus.groups = 6: the spines of a group have 4 global links altogether; valid: 2 … 5",
        ),
        (
            json!({ "dragonfly_plus": { "leaves": 32 } }),
            "dragonfly_plus.groups = 1025: 65600 routers are too many for the tables of paths, which hold 20480; valid: 2 … 320 groups of 64 routers",
        ),
        (
            json!({ "dragonfly_plus": { "leaves": 250, "spines": 250 } }),
            "dragonfly_plus.leaves = 250: a router would have 564 ports; valid: at most 512 ports per router, terminal ones included",
        ),
    ]);
}

/// Planes of a network, some of whose links are out of order.
fn planes_without(of: &Value, between: &Value) -> Topology {
    let topology = build(&json!({ "planes": { "count": 2, "of": of, "nodes_per_adapter": 2 } }));
    let faults = json!([{ "links": { "between": between }, "unreachable": "drop" }]);
    without(&topology, &serde_json::from_value::<Vec<Fault>>(faults).unwrap()).unwrap().0
}

#[test]
fn planes_are_copies_of_a_network_that_adapters_of_nodes_alone_join() {
    // A tree of two leaves with three nodes each and a spine: adapters are 0 to 5, planes are 6 to 8 and 9 to 11.
    let of = json!({ "xgft": { "children": [3, 2], "parents": [1, 1] } });
    let topology = build(&json!({ "planes": { "count": 2, "of": of, "nodes_per_adapter": 2 } }));
    assert_eq!((topology.routers(), topology.routers_with_nodes(), topology.nodes()), (12, 6, 12));
    assert_eq!((topology.link_classes(), topology.adapters()), (&["network", "rail"][..], 6));
    for node in 0..6 {
        assert_eq!(peers(&topology, node), [6 + node / 3, 9 + node / 3]);
    }
    for first in [6, 9] {
        assert_eq!(peers(&topology, first), [first + 2, 0, 1, 2]);
        assert_eq!(peers(&topology, first + 2), [first, first + 1]);
    }
    // Rail, up, down, rail.
    assert_eq!(topology.minimal_hops(0, 5)[..2], [2, 2]);
    assert!(!topology.reaches(6, 0) || topology.distance(6, 0) == 1);
    assert_eq!(topology.minimal_latency(0, 5, (&[10, 3], 8)), 26);
    let slow = build(&json!({ "planes": { "count": 2, "of": of, "cycles_per_phit": 3 } }));
    assert_eq!(slow.minimal_latency(0, 5, (&[10, 3], 8)), 26 + 4 * 2 * 8);
}

#[test]
fn no_way_leads_through_an_adapter() {
    // Adapters 0 to 2, and planes 3 to 5 and 6 to 8, in a row each; the link between 4 and 5 is out of order.
    let row = json!({ "mesh": { "sides": [3] } });
    let topology = planes_without(&row, &json!([[4, 5]]));
    assert!(!topology.is_apart());
    for router in [3, 4] {
        assert!(!topology.reaches(router, 2), "from 4 by way of adapter 1 it would be four links");
    }
    // From 0 by the second rail alone, and 0 is no way for 5.
    let (first, bits) = topology.nearer(0, 2, 0);
    assert_eq!(topology.neighbour(0, first + bits.trailing_zeros() as usize).unwrap().0, 6);
    assert_eq!((bits.count_ones(), topology.distance(0, 2)), (1, 4));
    assert!(!topology.reaches(5, 0) && topology.reaches(5, 2));
    // Adapters 0 and 2 have a rail each, into different planes.
    let parted = planes_without(&row, &json!([[0, 3], [2, 8]]));
    assert!(parted.is_apart() && !parted.reaches(0, 2) && parted.reaches(0, 1) && parted.reaches(1, 2));
}
