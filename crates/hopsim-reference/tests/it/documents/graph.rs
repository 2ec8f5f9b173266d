//! Random graphs, and the VCs that they need.

use hopsim_network::topology::{Topology, TopologyConfig};
use hopsim_random::{Purpose, Stream};
use hopsim_routing::RoutingConfig;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::ops::Range;

/// Cycles that a link takes for a phit.
fn pace() -> impl Strategy<Value = u32> {
    prop_oneof![3 => Just(1), 1 => 2..5u32]
}

/// A tree, or a ring, to which links are added, between the same routers perhaps, of any latency and rate.
fn graph() -> impl Strategy<Value = Value> {
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

/// A random graph, or in the place of one of three of them a small network of a family, which follows from the graph: so all else is
/// drawn as it is without families.
pub fn graph_or_family() -> impl Strategy<Value = Value> {
    graph().prop_map(|graph| {
        let number = graph.to_string().bytes().fold(0u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte));
        if number.is_multiple_of(3) {
            family(&mut Stream::new(number, Purpose::RandomGraph, 0))
        } else {
            let mut graph = graph;
            graph["graph"]["ties"] = json!(["spread", "hash", "first", "spread"][(number / 3 % 4) as usize]);
            graph
        }
    })
}

/// The VCs that minimal routing needs by hop, of one of two graphs, which follows from the graph; of the others it has layers.
pub fn vcs_by_hop(topology: &Value, routing: &Value) -> Option<u32> {
    let number = topology.to_string().bytes().fold(1u64, |sum, byte| sum.wrapping_mul(37) + u64::from(byte));
    let is_drawn = routing.get("minimal").is_some() && is_graph(topology) && number.is_multiple_of(2);
    if !is_drawn {
        return None;
    }
    let topology: TopologyConfig = serde_json::from_value(topology.clone()).unwrap();
    let Topology::Graph(graph) = topology.build().unwrap() else { return None };
    Some(graph.diameter_with_nodes().max(1)).filter(|&links| links <= 16)
}

/// How hops share VCs that are by hop, if the routing lets them: `selection` as the router has drawn it.
pub fn sharing(topology: &Value, routing: &Value, selection: Option<&Value>) -> Option<Value> {
    let on = |names: &[&str]| names.iter().any(|name| routing.get(name).is_some());
    let shares = if topology.get("hyperx").is_some() {
        on(&["valiant", "ugal", "ecmp"])
    } else {
        has_vcs_by_hop(topology) && on(&["adaptive", "ecmp", "valiant", "ugal"])
    };
    if !shares && vcs_by_hop(topology, routing).is_none() {
        return None;
    }
    let given = selection?.clone();
    let selection = if routing.get("adaptive").is_some() { json!("shortest") } else { given };
    Some(json!({ "flexvc": { "selection": selection } }))
}

/// A small network of a family.
fn family(stream: &mut Stream) -> Value {
    let mut any = |range: Range<u32>| range.start + stream.below(range.end - range.start);
    let (nodes, ties) = (any(1..3), ["spread", "hash", "first"][any(0..3) as usize]);
    match any(0..9) {
        8 => planes(stream),
        7 => {
            let examples = TopologyConfig::examples();
            serde_json::to_value(&examples[any(0..examples.len() as u32) as usize]).unwrap()
        }
        0 => json!({ "slim_fly": { "q": any(3..5), "nodes_per_router": nodes, "ties": ties } }),
        1 => json!({ "polarfly": { "q": any(2..5), "nodes_per_router": nodes, "ties": ties } }),
        2 => {
            let degree = any(2..6);
            let routers = (degree + any(4..9)).next_multiple_of(2);
            json!({ "jellyfish": {
                "routers": routers, "degree": degree, "seed": any(0..50), "nodes_per_router": nodes, "ties": ties,
            } })
        }
        3 => {
            let degree = any(2..5);
            json!({ "xpander": {
                "routers": (degree + 1) * any(1..4), "degree": degree, "seed": any(0..50),
                "nodes_per_router": nodes, "ties": ties,
            } })
        }
        4 => {
            let parents = [1, any(1..4), any(1..4)];
            json!({ "xgft": { "children": [nodes, any(2..4), any(1..4)], "parents": parents, "ties": ties } })
        }
        _ => {
            let (spines, global) = (any(1..4), any(1..3));
            let groups = (spines * global + 1).saturating_sub(any(0..3)).clamp(2, 5);
            let arrangement = [json!("palmtree"), json!("consecutive"), json!({ "random": {} })];
            json!({ "dragonfly_plus": {
                "leaves": any(1..4), "spines": spines, "global_links": global, "groups": groups,
                "arrangement": arrangement[any(0..3) as usize], "nodes_per_leaf": nodes, "ties": ties,
            } })
        }
    }
}

/// Planes of a small network.
pub fn planes(stream: &mut Stream) -> Value {
    let mut any = |range: Range<u32>| range.start + stream.below(range.end - range.start);
    let (nodes, seed) = (any(1..3), any(0..50));
    let of = match any(0..6) {
        0 => json!({ "mesh": { "sides": [any(2..4), 2], "nodes_per_router": nodes } }),
        1 => json!({ "torus": { "sides": [any(3..6)], "nodes_per_router": nodes } }),
        2 => json!({ "hyperx": { "sides": [any(2..4), 2], "nodes_per_router": nodes } }),
        3 => json!({ "xgft": { "children": [nodes, any(2..4)], "parents": [1, any(1..3)] } }),
        4 => json!({ "jellyfish": { "routers": 6, "degree": 3, "seed": seed, "nodes_per_router": 1 } }),
        _ => {
            let edges: Vec<Value> = [[0, 1], [1, 2], [2, 3], [3, 0], [1, 4], [0, 1]][..any(4..7) as usize]
                .iter()
                .map(|between| json!({ "between": between }))
                .collect();
            json!({ "graph": { "edges": edges, "nodes_per_router": nodes, "routers_with_nodes": any(2..5) } })
        }
    };
    let pace = if any(0..3) == 0 { any(2..4) } else { 1 };
    let ties = ["spread", "hash", "first"][any(0..3) as usize];
    json!({ "planes": {
        "count": any(2..4), "of": of, "nodes_per_adapter": any(1..3), "cycles_per_phit": pace, "ties": ties,
    } })
}

/// Whether a topology is a graph, or of a family of those.
pub fn is_graph(topology: &Value) -> bool {
    let is_family = |example: TopologyConfig| topology.get(example.name()).is_some();
    topology.get("graph").is_some() || TopologyConfig::examples().into_iter().any(is_family)
}

/// Whether all routers of a graph or a network of a family have nodes.
pub fn all_have_nodes(topology: &Value) -> bool {
    let config: TopologyConfig = serde_json::from_value(topology.clone()).unwrap();
    config.build().is_ok_and(|topology| topology.routers_with_nodes() == topology.routers())
}

/// Whether its detours have a VC for every link.
pub fn has_vcs_by_hop(topology: &Value) -> bool {
    if !is_graph(topology) {
        return false;
    }
    let config: TopologyConfig = serde_json::from_value(topology.clone()).unwrap();
    matches!(config.build(), Ok(Topology::Graph(graph)) if !graph.goes_up_and_down())
}

/// VCs that links need, if they can have so many.
pub fn vcs(topology: &Value, routing: &Value) -> Option<u32> {
    let topology: TopologyConfig = serde_json::from_value(topology.clone()).unwrap();
    let routing: RoutingConfig = serde_json::from_value(routing.clone()).unwrap();
    let paths = routing.paths(&topology.build().unwrap()).ok()?;
    // Detours have one for every link.
    Some(paths.safety.vcs().unwrap_or(paths.hops))
}
