//! Random graphs, and the VCs that they need.

use hopsim_network::topology::TopologyConfig;
use hopsim_routing::RoutingConfig;
use proptest::prelude::*;
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

/// Number of nodes.
pub fn nodes(keys: &Value) -> u64 {
    let ends = keys["edges"].as_array().unwrap().iter().flat_map(|edge| edge["between"].as_array().unwrap());
    let all = ends.map(|router| router.as_u64().unwrap()).max().unwrap() + 1;
    keys["routers_with_nodes"].as_u64().unwrap_or(all) * keys["nodes_per_router"].as_u64().unwrap()
}

/// VCs that links need, if they can have so many.
pub fn vcs(topology: &Value, routing: &Value) -> Option<u32> {
    let topology: TopologyConfig = serde_json::from_value(topology.clone()).unwrap();
    let routing: RoutingConfig = serde_json::from_value(routing.clone()).unwrap();
    let paths = routing.paths(&topology.build().unwrap()).ok()?;
    // Detours have one for every link.
    Some(paths.safety.vcs().unwrap_or(paths.hops))
}
