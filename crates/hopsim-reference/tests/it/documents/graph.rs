//! Random graphs, and the VCs that they need.

use hopsim_network::topology::TopologyConfig;
use hopsim_routing::RoutingConfig;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Cycles that a link takes for a phit.
fn pace() -> impl Strategy<Value = u32> {
    prop_oneof![3 => Just(1), 1 => 2..5u32]
}

/// A tree, or a ring, to which links are added, between the same routers perhaps, of any latency and rate.
pub fn graph() -> impl Strategy<Value = Value> {
    let shapes = prop_oneof![(2..10u32, 0..10usize, Just(false)), (5..10u32, 1..3usize, Just(true))];
    let graph = shapes.prop_flat_map(|(routers, more, ring)| {
        let lowest = move |router| if ring { router - 1 } else { 0 };
        let tree = (1..routers).map(|router| (lowest(router)..router, Just(router))).collect::<Vec<_>>();
        let extra = prop::collection::vec((0..routers, 0..routers), more);
        let links = prop::collection::vec((prop::option::of(1..30u32), pace()), routers as usize + more);
        let extra = extra.prop_map(move |mut extra| {
            if ring {
                extra[0] = (0, routers - 1);
            }
            extra
        });
        (tree, extra, links, 1..=2u32, prop::option::weighted(0.3, 1..=routers))
    });
    graph.prop_map(|(tree, extra, links, nodes, with_nodes)| {
        let pairs = tree.into_iter().chain(extra).filter(|(one, other)| one != other);
        let edge = |((one, other), (latency, pace)): ((u32, u32), (Option<u32>, u32))| {
            json!({ "between": [one, other], "latency": latency, "cycles_per_phit": pace })
        };
        let edges: Value = pairs.zip(links).map(edge).collect();
        // Traffic needs two nodes.
        let with_nodes = with_nodes.map(|routers| routers.max(2));
        json!({ "graph": { "edges": edges, "nodes_per_router": nodes, "routers_with_nodes": with_nodes } })
    })
}

/// Up*/down* routing.
pub fn up_down() -> impl Strategy<Value = Value> {
    prop::option::of(0..2u32).prop_map(|root| json!({ "up_down": { "root": root } }))
}

/// A small network of a family.
pub fn family() -> impl Strategy<Value = Value> {
    let ties = select(vec!["spread", "spread", "first"]);
    let nodes = 1..=2u32;
    let slim = select(vec![3, 4]).prop_map(|q| json!({ "slim_fly": { "q": q } }));
    let polar = select(vec![2, 3, 4]).prop_map(|q| json!({ "polarfly": { "q": q } }));
    let jelly = (2..6u32, 4..9u32, 0..50u64).prop_map(|(degree, more, seed)| {
        let routers = (degree + more).next_multiple_of(2);
        json!({ "jellyfish": { "routers": routers, "degree": degree, "seed": seed } })
    });
    let lift = (2..5u32, 1..4u32, 0..50u64).prop_map(|(degree, size, seed)| {
        json!({ "xpander": { "routers": (degree + 1) * size, "degree": degree, "seed": seed } })
    });
    let trees = select(vec![
        (vec![2, 3], vec![1, 2]),
        (vec![1, 2, 3], vec![1, 2, 2]),
        (vec![2, 2, 2], vec![1, 1, 3]),
    ]);
    let tree =
        trees.prop_map(|(children, parents)| json!({ "xgft": { "children": children, "parents": parents } }));
    let shapes = (
        [1..=3u32, 1..=3u32, 1..=2u32],
        0..3u32,
        select(vec![json!("palmtree"), json!("consecutive"), json!({ "random": {} })]),
    );
    let plus = shapes.prop_map(|([leaves, spines, global], fewer, arrangement)| {
        let groups = (spines * global + 1).saturating_sub(fewer).clamp(2, 5);
        json!({ "dragonfly_plus": {
            "leaves": leaves, "spines": spines, "global_links": global,
            "groups": groups, "arrangement": arrangement,
        } })
    });
    let any = prop_oneof![1 => slim, 1 => polar, 1 => jelly, 1 => lift, 1 => tree, 2 => plus];
    (any, nodes, ties).prop_map(|(mut topology, nodes, ties)| {
        let (name, keys) = topology.as_object_mut().unwrap().iter_mut().next().unwrap();
        keys["ties"] = json!(ties);
        match name.as_str() {
            "xgft" => {}
            "dragonfly_plus" => keys["nodes_per_leaf"] = json!(nodes),
            _ => keys["nodes_per_router"] = json!(nodes),
        }
        topology
    })
}

/// Whether a topology is a graph, or of a family of those.
pub fn is_graph(topology: &Value) -> bool {
    const NAMES: [&str; 7] =
        ["graph", "slim_fly", "polarfly", "jellyfish", "xpander", "xgft", "dragonfly_plus"];
    NAMES.iter().any(|&name| topology.get(name).is_some())
}

/// Whether its detours have a VC for every link.
pub fn has_vcs_by_hop(topology: &Value) -> bool {
    is_graph(topology) && topology.get("xgft").or(topology.get("dragonfly_plus")).is_none()
}

/// VCs that links need, if they can have so many.
pub fn vcs(topology: &Value, routing: &Value) -> Option<u32> {
    let topology: TopologyConfig = serde_json::from_value(topology.clone()).unwrap();
    let routing: RoutingConfig = serde_json::from_value(routing.clone()).unwrap();
    let paths = routing.paths(&topology.build().unwrap()).ok()?;
    // Detours have one for every link.
    Some(paths.safety.vcs().unwrap_or(paths.hops))
}
