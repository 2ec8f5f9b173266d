//! Networks in which a rule of routing decides often: engine and reference must decide alike.

use crate::documents::{Document, classes};
use crate::engine::compare;
use hopsim_network::topology::TopologyConfig;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Cycles of each comparison.
const CYCLES: u32 = 600;

/// Engine and reference on each of some documents.
pub fn agree(documents: impl IntoIterator<Item = Value>) {
    for document in documents {
        let document = Document(document);
        let plan = document.plan().unwrap_or_else(|reason| panic!("{reason}\nexperiment: {document:?}"));
        let engine = hopsim_core::engine::trace(&plan, CYCLES).unwrap();
        assert!(engine.iter().any(|packet| packet.hops.len() > 2), "no traffic: {document:?}");
        if let Err(difference) = compare(&engine, &hopsim_reference::trace(&plan, CYCLES)) {
            panic!("{difference}\nexperiment: {document:?}");
        }
    }
}

/// A router whose buffers hold a few packets of four phits.
fn router(vcs: &Value) -> Value {
    json!({ "cioq": {
        "vcs": vcs, "crossbar_latency": 1, "speedup": 2.0,
        "buffers": { "local": 16, "global": 24, "injection": 16, "output": 12 },
    } })
}

/// A crowded dragonfly: half of the traffic goes to the next group.
fn dragonfly((a, h, groups): (u32, u32, u32), routing: &Value, vcs: &Value) -> Value {
    let parts = [(0.5, json!({ "adversarial": { "offset": 1 } })), (0.5, json!({ "uniform": {} }))];
    json!({
        "topology": { "dragonfly": { "p": 2, "a": a, "h": h, "groups": groups } },
        "links": { "injection": { "latency": 1 }, "local": { "latency": 2 }, "global": { "latency": 6 } },
        "router": router(vcs), "routing": routing, "load": 0.7,
        "jobs": [{ "traffic": {
            "pattern": { "mix": parts.map(|(weight, pattern)| json!({ "weight": weight, "pattern": pattern })) },
            "packet_length": 4,
        } }],
    })
}

/// Every two groups share one link.
const FULL: (u32, u32, u32) = (4, 2, 9);
/// Some groups share several, and a port is not plugged in.
const TRUNKED: (u32, u32, u32) = (3, 3, 5);

/// The routing in a dragonfly with one link between every two groups, and in one with several.
fn in_both(routing: &Value) -> [Value; 2] {
    [FULL, TRUNKED].map(|shape| dragonfly(shape, routing, &json!({ "injection": 2 })))
}

/// The document with jobs that answer.
fn with_replies(mut document: Value) -> Value {
    document["jobs"][0]["traffic"]["request_reply"] = json!({});
    document
}

#[test]
fn oblivious_detours() {
    for options in [
        json!({ "policy": "rrg" }),
        json!({ "policy": "crg", "intermediate": "group" }),
        json!({ "policy": "nrg", "intermediate_groups": "any", "intra_group": "local" }),
        json!({ "intermediate": "group", "intra_group": "minimal", "recompute": true }),
    ] {
        agree(in_both(&json!({ "valiant": options })));
    }
}

#[test]
fn a_packet_for_its_own_router_leaves_although_detours_are_drawn_in_every_attempt() {
    let routing = json!({ "valiant": { "recompute": true, "intra_group": "minimal" } });
    let mut document = dragonfly(FULL, &routing, &json!({}));
    document["router"] = json!({ "input_queued": { "consumption": "parallel" } });
    let traces = hopsim_core::engine::trace(&Document(document.clone()).plan().unwrap(), CYCLES).unwrap();
    let own = traces.iter().filter(|packet| packet.source / 2 == packet.destination / 2);
    assert!(own.filter(|packet| packet.delivered.is_some()).count() > 10);
    agree([document]);
}

#[test]
fn detour_or_minimal_path() {
    let marks = json!({ "factor": 1.0, "threshold": 0.5 });
    for options in [
        json!({ "ugal": {} }),
        json!({ "ugal": { "intermediate": "router", "threshold": 1, "sticky": false } }),
        json!({ "ugal": { "detours": 4 } }),
        json!({ "ugal": { "detours": 2, "intermediate": "router", "sticky": false } }),
        json!({ "ugal": { "knowledge": "global", "occupancy": "port" } }),
        json!({ "ugal": { "knowledge": "global", "occupancy": "port", "intermediate": "router", "threshold": 1, "detours": 3 } }),
        json!({ "piggyback": { "saturation": marks, "policy": "crg" } }),
        json!({ "piggyback": { "saturation": marks, "intermediate": "router", "threshold": 2 } }),
        json!({ "source_adaptive": { "saturation": marks, "threshold": 1, "longest_detour": 4 } }),
        json!({ "source_adaptive": { "saturation": marks, "threshold": 0, "recompute": true, "intra_group": "local" } }),
    ] {
        agree(in_both(&options));
        agree([with_replies(dragonfly(FULL, &options, &json!({ "injection": 2 })))]);
    }
}

#[test]
fn lengths_of_the_consecutive_arrangement() {
    for options in [
        json!({ "ugal": { "path_lengths": "consecutive" } }),
        json!({ "ugal": { "path_lengths": "consecutive", "intermediate": "router" } }),
        json!({ "source_adaptive": { "path_lengths": "consecutive", "threshold": 0 } }),
    ] {
        agree([dragonfly(FULL, &options, &json!({}))]);
    }
}

#[test]
fn misroutes_in_transit() {
    let contention = json!({ "contention": { "threshold": 2 } });
    for options in [
        json!({ "olm": { "policy": "mm", "trigger": contention } }),
        json!({ "olm": { "policy": "rrg", "trigger": contention, "candidates": "one" } }),
        json!({ "olm": { "policy": "nrg", "trigger": contention } }),
        json!({ "olm": { "policy": "crg", "trigger": contention, "local_misrouting": false } }),
        json!({ "par": { "policy": "mm", "trigger": contention } }),
        json!({ "par": { "policy": "crg", "trigger": contention, "candidates": "one" } }),
    ] {
        agree(in_both(&options));
        agree([with_replies(dragonfly(FULL, &options, &json!({ "injection": 2 })))]);
    }
}

#[test]
fn triggers() {
    let free = json!({ "factor": 0.0, "threshold": 0.0 });
    let congestion = |options: Value| {
        let mut trigger = json!({ "restriction": free });
        trigger.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        trigger
    };
    let by_port = json!({ "sensing": "port", "packets": "minimal", "min_occupancy": 25.0 });
    for trigger in [
        json!({ "congestion": congestion(json!({})) }),
        json!({ "congestion": congestion(json!({ "local_threshold": 25.0, "global_threshold": 50.0 })) }),
        json!({ "congestion": congestion(json!({ "thresholds": "absolute", "local_threshold": 25.0, "min_occupancy": 50.0 })) }),
        json!({ "congestion": congestion(by_port.clone()) }),
        json!({ "congestion": { "restriction": { "factor": 1.0, "threshold": 0.5 } } }),
        json!({ "contention": { "threshold": 3, "local_threshold": 1 } }),
        json!({ "filtered": { "threshold": 1, "alpha": 0.0 } }),
        json!({ "filtered": { "threshold": 2, "alpha": 0.9 } }),
        json!({ "hybrid": { "threshold": 3, "congestion": congestion(json!({ "local_threshold": 10.0, "global_threshold": 10.0 })) } }),
        json!({ "ectn": { "threshold": 4, "combined_threshold": 3, "period": 7 } }),
        json!({ "statistical": { "threshold": 2, "full": 5 } }),
        json!({ "statistical": { "threshold": 2, "full": 3 } }),
    ] {
        agree(in_both(&json!({ "olm": { "trigger": trigger } })));
    }
}

#[test]
fn vcs_of_flexvc() {
    let trigger = json!({ "contention": { "threshold": 2 } });
    let plans = [
        (json!({ "minimal": {} }), [4, 3]),
        (json!({ "valiant": { "intermediate_groups": "any", "intra_group": "local" } }), [6, 3]),
        (json!({ "ugal": { "intermediate": "router" } }), [5, 3]),
        (json!({ "olm": { "trigger": trigger } }), [4, 3]),
        (json!({ "olm": { "trigger": trigger, "policy": "nrg" } }), [3, 2]),
        (json!({ "par": { "trigger": trigger } }), [5, 3]),
        (json!({ "piggyback": { "saturation": { "factor": 1.0, "threshold": 0.5 } } }), [4, 3]),
    ];
    for (routing, [local, global]) in plans {
        for selection in ["shortest", "highest", "lowest", "random"] {
            let management = json!({ "flexvc": { "selection": selection } });
            let vcs = json!({ "local": local, "global": global, "management": management });
            agree([dragonfly(TRUNKED, &routing, &vcs)]);
        }
        let vcs = json!({
            "local": local + 4, "global": global + 2, "injection": 2, "management": { "flexvc": {} },
            "reply": { "local": 4, "global": 2 },
        });
        agree([with_replies(dragonfly((3, 2, 7), &routing, &vcs))]);
    }
}

#[test]
fn full_vcs_of_flexvc_that_are_not_equally_full() {
    // Packets of 4 and 7 phits in buffers of 16: the VCs without room are not equally full.
    let routing = json!({ "ugal": { "intermediate": "router", "sticky": false } });
    for selection in ["highest", "lowest"] {
        let vcs = json!({ "local": 6, "global": 4, "management": { "flexvc": { "selection": selection } } });
        let mut document = dragonfly(FULL, &routing, &vcs);
        let job = |length: u32, first: u32| {
            let nodes: Vec<u32> = (first..72).step_by(2).collect();
            json!({
                "placement": { "list": nodes },
                "traffic": { "packet_length": length, "process": { "bernoulli": { "load": 1.0 } } },
            })
        };
        document["jobs"] = json!([job(4, 0), job(7, 1)]);
        document.as_object_mut().unwrap().remove("load");
        agree([document]);
    }
}

/// A crowded network of one class of links.
fn of_one_class(topology: &Value, routing: &Value, vcs: u32) -> Value {
    json!({
        "topology": topology, "links": { "network": { "latency": 2 } }, "routing": routing,
        "router": { "cioq": {
            "vcs": { "network": vcs, "injection": 2 }, "crossbar_latency": 1,
            "buffers": { "network": 12, "injection": 12, "output": 12 },
        } },
        "load": 0.8, "jobs": [{ "traffic": { "packet_length": 4 } }],
    })
}

#[test]
fn cubes() {
    let sides = json!({ "sides": [4, 3, 2], "nodes_per_router": 2 });
    let (mesh, torus) = (json!({ "mesh": sides }), json!({ "torus": sides }));
    for (topology, routing, vcs) in [
        (&torus, json!({ "minimal": {} }), 2),
        (&torus, json!({ "adaptive": {} }), 3),
        (&mesh, json!({ "adaptive": {} }), 4),
        (&torus, json!({ "valiant": {} }), 2),
        (&torus, json!({ "ugal": {} }), 2),
        (&torus, json!({ "ugal": { "knowledge": "global", "occupancy": "port" } }), 2),
        (&mesh, json!({ "valiant": { "recompute": true } }), 2),
        (&torus, json!({ "up_down": {} }), 2),
        (&torus, json!({ "nue": {} }), 1),
        (&torus, json!({ "nue": { "vcs": 3 } }), 3),
        (&mesh, json!({ "nue": { "vcs": 2 } }), 4),
        (&json!({ "ring": { "routers": 6 } }), json!({ "adaptive": {} }), 2),
    ] {
        agree([of_one_class(topology, &routing, vcs)]);
    }
}

#[test]
fn hyperx() {
    let topology = json!({ "hyperx": { "sides": [4, 3, 2], "nodes_per_router": 3 } });
    for (routing, vcs) in [
        (json!({ "minimal": {} }), 2),
        (json!({ "adaptive": {} }), 3),
        (json!({ "valiant": {} }), 6),
        (json!({ "valiant": { "recompute": true } }), 7),
        (json!({ "ugal": {} }), 6),
        (json!({ "ugal": { "threshold": 1, "sticky": false } }), 6),
        (json!({ "ugal": { "detours": 3 } }), 6),
        (json!({ "ugal": { "knowledge": "global", "occupancy": "port" } }), 6),
        (json!({ "up_down": {} }), 2),
    ] {
        agree([of_one_class(&topology, &routing, vcs)]);
    }
    agree([with_replies(of_one_class(&topology, &json!({ "ugal": {} }), 12))]);
}

#[test]
fn fat_trees() {
    let tree = json!({ "fat_tree": { "k": 3, "levels": 3 } });
    for up in ["source", "destination", "random"] {
        agree([of_one_class(&tree, &json!({ "minimal": { "up": up } }), 2)]);
    }
    agree([of_one_class(&tree, &json!({ "adaptive": {} }), 2)]);
    agree([of_one_class(&tree, &json!({ "up_down": { "root": 20 } }), 1)]);
}

/// A ring of routers of two nodes each, with some chords, of latencies 1, 2 and 3 in turn.
fn graph(routers: u32, chords: &[(u32, u32)], ties: &str) -> Value {
    let ring = (0..routers).map(|router| (router, (router + 1) % routers));
    let latency = |index: usize| index % 3 + 1;
    let edge = |(index, (one, other)): (usize, (u32, u32))| json!({ "between": [one, other], "latency": latency(index) });
    let edges: Vec<Value> = ring.chain(chords.iter().copied()).enumerate().map(edge).collect();
    json!({ "graph": { "edges": edges, "nodes_per_router": 2, "ties": ties } })
}

/// A square grid of routers of one node each, all its links alike: many paths are equally short.
fn grid(side: u32, ties: &str) -> Value {
    let at = |x: u32, y: u32| y * side + x;
    let places = (0..side * side).map(|router| (router % side, router / side));
    let links = places.flat_map(|(x, y)| {
        let right = (x + 1 < side).then(|| (at(x, y), at(x + 1, y)));
        let up = (y + 1 < side).then(|| (at(x, y), at(x, y + 1)));
        right.into_iter().chain(up)
    });
    let edges: Vec<Value> = links.map(|(one, other)| json!({ "between": [one, other] })).collect();
    json!({ "graph": { "edges": edges, "ties": ties } })
}

#[test]
fn graphs() {
    let chords = [(0, 4), (2, 6), (1, 5), (3, 7), (0, 4)];
    for ties in ["first", "spread"] {
        agree([of_one_class(&graph(12, &[], ties), &json!({ "minimal": {} }), 5)]);
        agree([of_one_class(&graph(10, &chords, ties), &json!({ "minimal": {} }), 6)]);
        agree([of_one_class(&graph(10, &chords, ties), &json!({ "up_down": {} }), 2)]);
        agree([of_one_class(&grid(4, ties), &json!({ "minimal": {} }), 8)]);
        agree([of_one_class(&grid(4, ties), &json!({ "up_down": {} }), 1)]);
    }
}

#[test]
fn paths_and_their_vcs_found_together() {
    let mut few = graph(10, &[(0, 4), (2, 6), (1, 5), (3, 7), (0, 4)], "first");
    few["graph"]["routers_with_nodes"] = json!(7);
    let sparse = json!({ "jellyfish": { "routers": 20, "degree": 3, "nodes_per_router": 2 } });
    for layers in 1..=4 {
        let nue = json!({ "nue": { "vcs": layers } });
        for topology in [&few, &grid(4, "first"), &graph(9, &[], "first"), &sparse] {
            agree([of_one_class(topology, &nue, layers)]);
        }
    }
    agree([of_one_class(&json!({ "fat_tree": { "k": 2, "levels": 3 } }), &json!({ "nue": {} }), 2)]);
    agree([of_one_class(&few, &json!({ "nue": { "vcs": 9 } }), 12)]);
    // Some searches fail at first there, and it makes a difference that what has come to wait then is forgotten.
    for (degree, seed, layers) in [(3, 2, 2), (4, 5, 1)] {
        let regular = json!({ "jellyfish": { "routers": 24, "degree": degree, "seed": seed } });
        agree([of_one_class(&regular, &json!({ "nue": { "vcs": layers } }), layers)]);
    }
    let vcs = json!({ "local": 3, "global": 2 });
    agree([
        dragonfly(FULL, &json!({ "nue": {} }), &vcs),
        dragonfly(FULL, &json!({ "nue": { "vcs": 2 } }), &vcs),
    ]);
    let mut broken = of_one_class(&sparse, &json!({ "nue": { "vcs": 2 } }), 2);
    broken["faults"] = json!([{ "links": { "fraction": 0.1, "seed": 3 } }]);
    let mut torus = of_one_class(&json!({ "torus": { "sides": [4, 3] } }), &json!({ "nue": {} }), 1);
    torus["faults"] = json!([{ "links": { "fraction": 0.1 } }]);
    agree([broken, torus]);
}

#[test]
fn detours_in_graphs() {
    let chords = [(0, 4), (2, 6), (1, 5), (3, 7), (0, 4)];
    let mut few = graph(10, &chords, "spread");
    few["graph"]["routers_with_nodes"] = json!(7);
    for routing in [
        json!({ "valiant": {} }),
        json!({ "valiant": { "recompute": true } }),
        json!({ "ugal": {} }),
        json!({ "ugal": { "threshold": 1, "sticky": false } }),
    ] {
        for (topology, vcs) in [(&graph(10, &chords, "first"), 9), (&grid(4, "spread"), 12), (&few, 8)] {
            agree([of_one_class(topology, &routing, vcs)]);
        }
        agree([with_replies(of_one_class(&few, &routing, 16))]);
    }
}

#[test]
fn hops_share_vcs_that_are_by_hop() {
    let chords = [(0, 4), (2, 6), (1, 5), (3, 7), (0, 4)];
    let hyperx = json!({ "hyperx": { "sides": [4, 3], "nodes_per_router": 3 } });
    for selection in ["shortest", "highest", "lowest", "random"] {
        let sharing = |topology: &Value, routing: &Value, vcs: u32| {
            let mut document = of_one_class(topology, routing, vcs);
            let keys = &mut document["router"]["cioq"]["vcs"];
            keys["management"] = json!({ "flexvc": { "selection": selection } });
            if routing.get("minimal").is_some() {
                keys["discipline"] = json!("by_hop");
            }
            document
        };
        for routing in [json!({ "minimal": {} }), json!({ "ecmp": {} }), json!({ "ecmp": { "by": "flow" } })]
        {
            agree([
                sharing(&graph(10, &chords, "first"), &routing, 5),
                sharing(&grid(4, "spread"), &routing, 9),
            ]);
        }
        for routing in [json!({ "valiant": {} }), json!({ "ugal": {} }), json!({ "ugal": { "detours": 3 } })]
        {
            agree([sharing(&graph(10, &chords, "first"), &routing, 9), sharing(&hyperx, &routing, 6)]);
            agree([sharing(&json!({ "polarfly": { "q": 3 } }), &routing, 4)]);
        }
        if selection == "shortest" {
            agree([sharing(&grid(4, "spread"), &json!({ "adaptive": {} }), 8)]);
        }
    }
}

#[test]
fn several_detours_and_detours_over_neighbours() {
    let chords = [(0, 4), (2, 6), (1, 5), (3, 7), (0, 4)];
    for routing in [
        json!({ "valiant": { "within": "neighbours" } }),
        json!({ "valiant": { "within": "neighbours", "recompute": true } }),
        json!({ "ugal": { "within": "neighbours" } }),
        json!({ "ugal": { "within": "neighbours", "detours": 3 } }),
        json!({ "ugal": { "detours": 2, "sticky": false, "occupancy": "port" } }),
        json!({ "ugal": { "detours": 4, "once": true, "threshold": 1 } }),
        json!({ "ugal": { "detours": 3, "knowledge": "global", "occupancy": "port" } }),
        json!({ "ugal": { "within": "neighbours", "threshold": 1, "sticky": false, "knowledge": "global", "occupancy": "port" } }),
    ] {
        for (topology, vcs) in [(&graph(10, &chords, "first"), 9), (&grid(4, "spread"), 12)] {
            agree([of_one_class(topology, &routing, vcs)]);
        }
        agree([of_one_class(&json!({ "polarfly": { "q": 3 } }), &routing, 4)]);
    }
}

#[test]
fn any_shortest_path_of_a_graph() {
    let chords = [(0, 4), (2, 6), (1, 5), (3, 7), (0, 4)];
    let mut few = graph(10, &chords, "spread");
    few["graph"]["routers_with_nodes"] = json!(7);
    for (topology, vcs) in [(&graph(10, &chords, "first"), 3), (&grid(4, "spread"), 7), (&few, 5)] {
        agree([of_one_class(topology, &json!({ "adaptive": {} }), vcs)]);
    }
    agree([with_replies(of_one_class(&few, &json!({ "adaptive": {} }), 6))]);
    let tree = json!({ "xgft": { "children": [3, 3, 2], "parents": [1, 2, 3] } });
    agree([1, 3].map(|vcs| of_one_class(&tree, &json!({ "adaptive": {} }), vcs)));
    agree([of_one_class(
        &json!({ "slim_fly": { "q": 4, "nodes_per_router": 3 } }),
        &json!({ "adaptive": {} }),
        2,
    )]);
}

#[test]
fn drawn_shortest_paths() {
    let chords = [(0, 4), (2, 6), (1, 5), (3, 7), (0, 4)];
    let mut few = graph(10, &chords, "spread");
    few["graph"]["routers_with_nodes"] = json!(7);
    for routing in [json!({ "ecmp": {} }), json!({ "ecmp": { "by": "flow", "seed": 3 } })] {
        for (topology, vcs) in [(&graph(10, &chords, "first"), 3), (&grid(4, "spread"), 7), (&few, 5)] {
            agree([of_one_class(topology, &routing, vcs)]);
        }
        agree([with_replies(of_one_class(&few, &routing, 6))]);
        let hyperx = json!({ "hyperx": { "sides": [4, 3, 2], "nodes_per_router": 3 } });
        agree([of_one_class(&hyperx, &routing, 3), with_replies(of_one_class(&hyperx, &routing, 6))]);
        for tree in [
            json!({ "xgft": { "children": [3, 3, 2], "parents": [1, 2, 3] } }),
            json!({ "fat_tree": { "k": 3, "levels": 3 } }),
        ] {
            agree([1, 3].map(|vcs| of_one_class(&tree, &routing, vcs)));
        }
        agree([of_one_class(&json!({ "slim_fly": { "q": 4, "nodes_per_router": 3 } }), &routing, 2)]);
    }
}

#[test]
fn several_short_paths() {
    let chords = [(0, 4), (2, 6), (1, 5), (3, 7), (0, 4)];
    let mut few = graph(10, &chords, "spread");
    few["graph"]["routers_with_nodes"] = json!(7);
    for routing in [
        json!({ "k_shortest_paths": { "k": 1 } }),
        json!({ "k_shortest_paths": { "k": 6 } }),
        json!({ "k_shortest_paths": { "k": 6, "by": "flow", "seed": 2 } }),
    ] {
        agree([of_one_class(&few, &routing, 9), with_replies(of_one_class(&few, &routing, 16))]);
        agree([of_one_class(&json!({ "slim_fly": { "q": 4, "nodes_per_router": 3 } }), &routing, 4)]);
        let jellyfish = json!({ "jellyfish": { "routers": 14, "degree": 4, "nodes_per_router": 2 } });
        agree([of_one_class(&jellyfish, &routing, 5)]);
    }
}

#[test]
fn shortest_paths_in_layers_of_links() {
    let few = graph(10, &[(0, 4), (2, 6), (1, 5), (3, 7), (0, 4)], "hash");
    let slim_fly = json!({ "slim_fly": { "q": 4, "nodes_per_router": 3 } });
    let jellyfish =
        json!({ "jellyfish": { "routers": 14, "degree": 4, "nodes_per_router": 2, "ties": "first" } });
    for routing in [
        json!({ "fat_paths": {} }),
        json!({ "fat_paths": { "layers": 4, "fraction": 0.5, "by": "flow", "seed": 3 } }),
        // Layers that have no links.
        json!({ "fat_paths": { "layers": 3, "fraction": 0.0 } }),
    ] {
        agree([&few, &slim_fly, &jellyfish].map(|topology| of_one_class(topology, &routing, 16)));
        agree([with_replies(of_one_class(&slim_fly, &routing, 16))]);
    }
}

/// The table of the shortest paths of a ring of eight, with a VC for those that go on round the end of it.
fn ring_table(topology: &Value) -> Value {
    let topology: TopologyConfig = serde_json::from_value(topology.clone()).unwrap();
    let ring = topology.build().unwrap();
    let mut hops = Vec::new();
    for (at, to) in (0..8).flat_map(|at| (0..8).map(move |to| (at, to))).filter(|(at, to)| at != to) {
        let plus = (to + 8 - at) % 8 <= 4;
        let next = if plus { (at + 1) % 8 } else { (at + 7) % 8 };
        let port =
            (0..ring.ports().len()).find(|&port| ring.neighbour(at, port).is_some_and(|end| end.0 == next));
        // Towards larger numbers a packet has come round the end if it is to go to a smaller number no more.
        let vc = if plus { u32::from(to > at) } else { u32::from(to < at) };
        hops.push(json!([at, to, port.unwrap(), vc]));
    }
    json!({ "table": { "hops": hops } })
}

#[test]
fn tables_of_next_hops() {
    for topology in [json!({ "ring": { "routers": 8, "nodes_per_router": 2 } }), graph(8, &[], "first")] {
        let table = ring_table(&topology);
        agree([2, 3].map(|vcs| of_one_class(&topology, &table, vcs)));
    }
}

#[test]
fn tables_of_several_paths_on_links_of_two_classes() {
    let topology: TopologyConfig =
        serde_json::from_value(json!({ "dragonfly": { "p": 1, "a": 2, "h": 1 } })).unwrap();
    let dragonfly = topology.build().unwrap();
    let mut paths = Vec::new();
    for (from, to) in (0..6).flat_map(|from| (0..6).map(move |to| (from, to))).filter(|(from, to)| from != to)
    {
        // By way of every router, if that passes none twice: the VC is the number of links passed before.
        for via in 0..6 {
            let (mut at, mut passed, mut ports) = (from, vec![], vec![]);
            for target in [via, to] {
                while at != target {
                    let (port, _) = dragonfly.minimal_port(at, target, 0);
                    passed.push(at);
                    ports.push(port);
                    at = dragonfly.neighbour(at, port).unwrap().0;
                }
            }
            let is_simple = passed
                .iter()
                .all(|&router| router != to && passed.iter().filter(|&&other| other == router).count() == 1);
            if is_simple {
                let vcs: Vec<usize> = (0..ports.len()).collect();
                paths.push(json!({ "between": [from, to], "ports": ports, "vcs": vcs }));
            }
        }
    }
    for by in ["packet", "flow"] {
        let routing = json!({ "table": { "paths": paths, "by": by } });
        agree([json!({
            "topology": { "dragonfly": { "p": 1, "a": 2, "h": 1 } }, "routing": routing, "load": 0.7,
            "router": { "cioq": { "vcs": { "global": 7 } } },
            "measure": { "warmup": 0, "cycles": 1_500 },
        })]);
    }
}

#[test]
fn away_from_the_source_and_towards_the_destination() {
    let chords = [(0, 4), (2, 6), (1, 5), (3, 7), (0, 4)];
    let mut few = graph(10, &chords, "spread");
    few["graph"]["routers_with_nodes"] = json!(7);
    for routing in [json!({ "polarized": {} }), json!({ "polarized": { "penalties": [0, 1] } })] {
        for (topology, vcs) in [(&graph(10, &chords, "first"), 9), (&few, 13)] {
            agree([of_one_class(topology, &routing, vcs)]);
        }
        let hyperx = json!({ "hyperx": { "sides": [4, 3], "nodes_per_router": 3 } });
        agree([of_one_class(&hyperx, &routing, 5), with_replies(of_one_class(&hyperx, &routing, 10))]);
        let slim_fly = json!({ "slim_fly": { "q": 4, "nodes_per_router": 3 } });
        agree([of_one_class(&slim_fly, &routing, 5), with_replies(of_one_class(&slim_fly, &routing, 10))]);
        let tree = json!({ "xgft": { "children": [3, 4], "parents": [1, 2] } });
        agree([of_one_class(&tree, &routing, 5)]);
    }
}

#[test]
fn detours_behind_the_first_hop() {
    let chords = [(0, 4), (2, 6), (1, 5), (3, 7), (0, 4)];
    let mut few = graph(10, &chords, "spread");
    few["graph"]["routers_with_nodes"] = json!(7);
    let hyperx = json!({ "hyperx": { "sides": [4, 3, 2], "nodes_per_router": 3 } });
    for routing in [
        json!({ "par": {} }),
        json!({ "par": { "threshold": 1 } }),
        json!({ "par": { "occupancy": "port" } }),
    ] {
        let tree = json!({ "xgft": { "children": [3, 3, 2], "parents": [1, 2, 3] } });
        let first = graph(10, &chords, "first");
        for (topology, vcs) in [(&first, 9), (&grid(4, "spread"), 13), (&few, 9), (&hyperx, 7), (&tree, 10)] {
            let document = of_one_class(topology, &routing, vcs);
            let plan = Document(document.clone()).plan().unwrap();
            let packets = hopsim_core::engine::trace(&plan, CYCLES).unwrap();
            let turned = packets.iter().filter(|packet| {
                packet.hops.get(1).is_some_and(|hop| hop.misrouted) && !packet.hops[0].misrouted
            });
            assert!(turned.count() > 5, "{document}");
            agree([document]);
        }
    }
    agree([with_replies(of_one_class(&hyperx, &json!({ "par": {} }), 14))]);
}

/// A crowded network of a family, with as many VCs as it needs or so many, of global links one more.
fn family(topology: &Value, routing: &Value, vcs: Option<u32>) -> Value {
    let mut document = of_one_class(topology, routing, vcs.unwrap_or(1));
    let number = |vcs: u32| json!({ "network": vcs, "rail": vcs, "local": vcs, "global": vcs + 1 });
    let mut vcs = vcs.map_or(json!({}), number);
    vcs["injection"] = json!(2);
    let others: &[&str] = if topology.get("planes").is_some() {
        document["links"] = json!({ "network": { "latency": 2 }, "rail": { "latency": 5 } });
        document["router"]["cioq"]["buffers"]["rail"] = json!(16);
        document["router"]["cioq"]["vcs"] = vcs;
        &["local", "global"]
    } else if classes(topology).len() > 1 {
        document["links"] = json!({ "local": { "latency": 2 }, "global": { "latency": 7 } });
        document["router"] = router(&vcs);
        &["network", "rail"]
    } else {
        document["router"]["cioq"]["vcs"] = vcs;
        &["local", "global", "rail"]
    };
    let vcs = document["router"]["cioq"]["vcs"].as_object_mut().unwrap();
    vcs.retain(|class, _| !others.contains(&class.as_str()));
    document
}

#[test]
fn families_of_graphs() {
    let detours = [
        json!({ "valiant": {} }),
        json!({ "valiant": { "recompute": true } }),
        json!({ "ugal": {} }),
        json!({ "ugal": { "threshold": 1, "sticky": false } }),
    ];
    for (topology, more) in [
        (json!({ "slim_fly": { "q": 4, "nodes_per_router": 3 } }), 5),
        (json!({ "slim_fly": { "q": 3, "ties": "first" } }), 4),
        (json!({ "polarfly": { "q": 4, "nodes_per_router": 3 } }), 4),
        (json!({ "jellyfish": { "routers": 20, "degree": 3, "nodes_per_router": 2, "seed": 3 } }), 13),
        (json!({ "jellyfish": { "routers": 9, "degree": 6, "seed": 2 } }), 4),
        (json!({ "xpander": { "routers": 20, "degree": 4, "nodes_per_router": 2 } }), 9),
        (json!({ "xgft": { "children": [3, 3, 2], "parents": [1, 2, 3] } }), 2),
        (json!({ "xgft": { "children": [4, 5], "parents": [1, 3], "ties": "first" } }), 3),
        (json!({ "xgft": { "children": [3, 2, 3], "parents": [1, 2, 1], "parallel": [1, 2, 3] } }), 3),
        (
            json!({ "dragonfly_plus": { "leaves": 3, "spines": 2, "global_links": 2, "nodes_per_leaf": 3 } }),
            2,
        ),
        (json!({ "dragonfly_plus": { "leaves": 2, "spines": 4, "global_links": 2, "groups": 4 } }), 3),
        (
            json!({ "dragonfly_plus": {
                "leaves": 4, "spines": 2, "global_links": 3, "groups": 5, "arrangement": { "random": {} },
            } }),
            3,
        ),
    ] {
        agree([family(&topology, &json!({ "minimal": {} }), None)]);
        agree([family(&topology, &json!({ "minimal": {} }), Some(more))]);
        agree(detours.iter().map(|routing| family(&topology, routing, None)));
        agree([family(&topology, &detours[2], Some(more))]);
        agree([family(&topology, &json!({ "up_down": {} }), Some(2))]);
        agree([family(&topology, &json!({ "nue": { "vcs": 2 } }), None)]);
    }
}

/// Several shapes of groups of leaves and spines: with one link between groups, with several, and with spines that have none.
fn leaves_and_spines() -> [Value; 4] {
    [
        json!({ "leaves": 2, "spines": 2, "global_links": 1, "nodes_per_leaf": 2 }),
        json!({ "leaves": 3, "spines": 2, "global_links": 2, "nodes_per_leaf": 3 }),
        json!({ "leaves": 2, "spines": 4, "global_links": 2, "groups": 4, "nodes_per_leaf": 3 }),
        json!({ "leaves": 3, "spines": 3, "global_links": 1, "groups": 3, "nodes_per_leaf": 2 }),
    ]
    .map(|shape| json!({ "dragonfly_plus": shape }))
}

#[test]
fn packets_that_decide_in_leaves_and_spines() {
    let (mut at_injection, mut in_spines) = (0, 0);
    for (topology, routing, vcs) in leaves_and_spines().into_iter().flat_map(|topology| {
        let all = [
            (json!({ "fpar": {} }), None),
            (json!({ "fpar": { "detour_weight": 1, "threshold": 1 } }), Some(3)),
            (json!({ "fpar": { "detour_weight": 3 } }), Some(4)),
        ];
        all.map(|(routing, vcs)| (topology.clone(), routing, vcs))
    }) {
        let document = family(&topology, &routing, vcs);
        let plan = Document(document.clone()).plan().unwrap();
        for packet in hopsim_core::engine::trace(&plan, CYCLES).unwrap() {
            // The last one leads to the node.
            assert!(packet.hops.len() <= 7, "{document}");
            let first = packet.hops.iter().position(|hop| hop.misrouted);
            at_injection += u32::from(first == Some(0));
            in_spines += u32::from(first == Some(1));
            assert!(first.is_none_or(|first| first < 2), "{document}");
        }
        agree([document]);
    }
    assert!(at_injection > 100 && in_spines > 100, "{at_injection} at injection, {in_spines} in spines");
    let shape = json!({ "leaves": 3, "spines": 2, "global_links": 4, "groups": 4, "nodes_per_leaf": 3 });
    let mut broken = family(&json!({ "dragonfly_plus": shape }), &json!({ "fpar": {} }), Some(4));
    broken["faults"] = json!([{ "links": { "fraction": 0.25, "class": "global", "seed": 5 } }]);
    agree([broken]);
}

#[test]
fn every_example_of_a_family() {
    for example in TopologyConfig::examples() {
        let topology = serde_json::to_value(&example).unwrap();
        // Where some routers forward nothing packets keep to shortest paths.
        let is_carried =
            |name: &&str| topology.get("planes").is_none() || ["minimal", "adaptive", "ecmp"].contains(name);
        let names = [
            "minimal",
            "up_down",
            "nue",
            "adaptive",
            "ecmp",
            "k_shortest_paths",
            "fat_paths",
            "polarized",
            "valiant",
            "ugal",
            "par",
        ];
        for name in names.into_iter().filter(is_carried) {
            agree([family(&topology, &json!({ name: {} }), None)]);
        }
    }
}

#[test]
fn links_out_of_order() {
    let edges = grid(4, "spread");
    let mut doubled = graph(10, &[(0, 4), (2, 6), (1, 5), (3, 7), (0, 4)], "spread");
    doubled["graph"]["routers_with_nodes"] = json!(7);
    let drawn = |fraction: f64, seed: u32| json!([{ "links": { "fraction": fraction, "seed": seed } }]);
    let [minimal, valiant, par] = ["minimal", "valiant", "par"].map(|name| json!({ name: {} }));
    let adaptive = json!({ "adaptive": {} });
    for (topology, faults, routings) in [
        (&edges, json!([{ "links": { "between": [[5, 6], [9, 5]] } }]), vec![&minimal, &adaptive, &valiant]),
        (
            &doubled,
            json!([{ "links": { "between": [[4, 0]] } }, { "links": { "fraction": 0.1 } }]),
            vec![&minimal, &adaptive],
        ),
        (
            &json!({ "slim_fly": { "q": 4, "nodes_per_router": 3 } }),
            drawn(0.1, 3),
            vec![&minimal, &adaptive, &valiant, &par],
        ),
        (&json!({ "jellyfish": { "routers": 20, "degree": 5 } }), drawn(0.08, 1), vec![&minimal, &valiant]),
        (
            &json!({ "xgft": { "children": [3, 3, 2], "parents": [1, 3, 3] } }),
            drawn(0.1, 2),
            vec![&minimal, &adaptive, &valiant],
        ),
    ] {
        for routing in routings {
            let mut document = of_one_class(topology, routing, 16);
            document["faults"] = faults.clone();
            agree([document]);
        }
    }
    let shape = json!({ "leaves": 3, "spines": 2, "global_links": 4, "groups": 4, "nodes_per_leaf": 3 });
    for routing in [&minimal, &adaptive, &valiant, &par] {
        let mut document = family(&json!({ "dragonfly_plus": shape }), routing, Some(15));
        document["faults"] = json!([{ "links": { "fraction": 0.25, "class": "global", "seed": 5 } }]);
        agree([document]);
    }
}

/// All source files below a directory.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn the_reference_asks_the_engine_for_no_route() {
    // The plan's mechanism and the topology's paths are the engine's; the reference has the document and the links.
    let names = [
        "plan.system.routing",
        "RouteState",
        "view::View",
        "topology.minimal",
        "topology.nearer",
        "choose_trunk",
    ];
    for path in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        let text = fs::read_to_string(&path).unwrap();
        let found: Vec<&str> = names.into_iter().filter(|name| text.contains(name)).collect();
        assert!(found.is_empty(), "{}: {found:?}", path.display());
    }
}
