//! Networks given as lists of links: packets arrive by shortest or legal paths, nothing waits in a circle, and a known
//! topology behaves as itself.

use hopsim_core::engine::{Control, audit, run, trace};
use hopsim_core::error::RunError;
use hopsim_experiment::config::Experiment;
use hopsim_experiment::plan::Plan;
use hopsim_routing::minimal::Minimal;
use hopsim_routing::sequence::VcSequence;
use hopsim_routing::vcs::Vcs;
use hopsim_routing::{Head, Route, RouteState, Routing};
use petgraph::algo::is_cyclic_directed;
use petgraph::graphmap::DiGraphMap;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

fn plan(document: &Value) -> Plan {
    let experiment: Experiment = serde_json::from_value(document.clone()).expect("a valid document");
    Plan::new(&experiment).unwrap_or_else(|error| panic!("{error}\n{document}"))
}

fn edges(pairs: impl IntoIterator<Item = (u32, u32)>) -> Value {
    pairs.into_iter().map(|(one, other)| json!({ "between": [one, other] })).collect()
}

fn ring(routers: u32) -> Value {
    edges((0..routers).map(|router| (router, (router + 1) % routers)))
}

/// The links of a mesh, numbered as `topology.mesh` numbers its routers.
fn mesh(width: u32, height: u32) -> Value {
    let rows = (0..height).flat_map(|y| (1..width).map(move |x| (y * width + x - 1, y * width + x)));
    let columns = (1..height).flat_map(|y| (0..width).map(move |x| ((y - 1) * width + x, y * width + x)));
    edges(rows.chain(columns))
}

/// A tree of `routers` routers to which `more` links are added, of any latency and rate, several between two routers perhaps.
fn any_edges() -> impl Strategy<Value = Value> {
    (2..14u32, 0..14usize).prop_flat_map(|(routers, more)| {
        let tree = (1..routers).map(|router| (0..router, Just(router))).collect::<Vec<_>>();
        let extra = prop::collection::vec((0..routers, 0..routers), more);
        let links = prop::collection::vec((prop::option::of(1..15u32), 1..4u32), routers as usize + more);
        (tree, extra, links).prop_map(|(tree, extra, links)| {
            let pairs = tree.into_iter().chain(extra).filter(|(one, other)| one != other);
            let edge = |((one, other), (latency, pace)): ((u32, u32), (Option<u32>, u32))| {
                json!({ "between": [one, other], "latency": latency, "cycles_per_phit": pace })
            };
            pairs.zip(links).map(edge).collect()
        })
    })
}

/// An experiment on a graph, by one of some routings, with VCs to spare or none, and with buffers of one packet.
fn any_experiment(routings: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let shape = (any_edges(), 1..3u32, any::<bool>(), any::<bool>());
    let rest = (prop::sample::select(routings), 0..3u32, 1..9u32, any::<u32>());
    (shape, rest).prop_filter_map(
        "detours would need too many VCs",
        |((edges, nodes, few, queued), (routing, spare, length, seed))| {
            let mut graph = json!({ "edges": edges, "nodes_per_router": nodes });
            if few {
                graph["routers_with_nodes"] = json!(2);
            }
            let router = if queued { "cioq" } else { "input_queued" };
            let mut buffers = json!({ "network": length, "injection": length });
            if queued {
                buffers["output"] = json!(length);
            }
            let mut document = json!({
                "topology": { "graph": graph }, "routing": { routing: {} }, "load": 1.0,
                "links": { "network": { "latency": 2 } },
                "router": { router: { "buffers": buffers } },
                "jobs": [{ "traffic": { "packet_length": length } }],
                "measure": { "warmup": 0, "cycles": 1, "batches": 1, "seed": seed, "watchdog": 300 }
            });
            let experiment: Experiment = serde_json::from_value(document.clone()).expect("a valid document");
            let vcs = Plan::new(&experiment).ok()?.system.network.classes.links[0].vcs;
            document["router"][router]["vcs"] = json!({ "network": (u32::from(vcs) + spare).min(16) });
            Some(document)
        },
    )
}

/// A channel is router, output port and VC.
type Channel = (u32, u16, u8);

/// Follows a packet and adds what it waits for while it holds a buffer. Returns the links that it takes.
fn follow(plan: &Plan, (from, to): (u32, u32), dependencies: &mut DiGraphMap<Channel, ()>) -> u32 {
    let (vcs, mut behind) = (plan.system.routing.vcs(), Vec::<Channel>::new());
    let (mut at, mut input, mut code, mut hops) = (from, 0, 0, 0);
    let mut state = RouteState::NEW;
    loop {
        let head = Head {
            router: at,
            input,
            code,
            source: from * plan.system.topology.nodes_per_router(),
            destination: to,
            terminal: 0,
            ejection_vc: 0,
            reply: false,
        };
        let hop = match plan.system.routing.route(&head, &mut state, || unreachable!("nothing is drawn")) {
            Route::Arrived => return hops,
            Route::Fixed(hop) => hop,
            Route::Undecided(_) => unreachable!("no head has a choice"),
        };
        let highest = vcs.way(&head, hop).vc;
        let lowest = if vcs.is_flexible() { 0 } else { highest };
        let wanted: Vec<Channel> = (lowest..=highest).map(|vc| (at, hop.port, vc)).collect();
        for (&before, &after) in
            behind.iter().flat_map(|before| wanted.iter().map(move |after| (before, after)))
        {
            dependencies.add_edge(before, after, ());
        }
        let peer = plan.system.topology.neighbour(at, hop.port as usize).expect("a port with a link");
        (behind, at, input) = (wanted, peer.0, peer.1 as u16);
        (hops, code) = (hops + 1, vcs.sequence.code(0, highest));
        assert!(hops < 100, "a packet from {from} to {to} does not arrive");
    }
}

fn routers_with_nodes(plan: &Plan) -> u32 {
    plan.system.network.nodes / plan.system.topology.nodes_per_router()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn paths_arrive_in_bounds_and_the_channel_dependency_graph_is_acyclic(document in any_experiment(&["minimal", "up_down", "nue"])) {
        let plan = plan(&document);
        let most = plan.experiment.routing.paths(&plan.system.topology).expect("checked").hops;
        let minimal = matches!(plan.system.routing, Routing::Minimal(_));
        let mut dependencies = DiGraphMap::new();
        for from in 0..routers_with_nodes(&plan) {
            for to in 0..routers_with_nodes(&plan) {
                let hops = follow(&plan, (from, to), &mut dependencies);
                let shortest = u32::from(plan.system.topology.minimal_hops(from, to)[0]);
                prop_assert!(hops <= most && hops >= shortest && (!minimal || hops == shortest));
            }
        }
        prop_assert!(!is_cyclic_directed(&dependencies), "{document}");
    }

    #[test]
    fn at_full_load_with_buffers_of_one_packet_every_packet_arrives(
        mut document in any_experiment(&["minimal", "up_down", "nue", "valiant", "ugal"])
    ) {
        prop_assert_eq!(audit(&plan(&document), 200), Ok(()));
        document["jobs"][0]["traffic"]["changes"] = json!([{ "cycle": 60, "load": 0.0 }]);
        document["measure"]["cycles"] = json!(100_000);
        let plan = plan(&document);
        let packets = trace(&plan, 100_000).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let summary = run(&plan, &Control::default()).expect("no deadlock").summary;
        let delivered = packets.iter().filter(|packet| packet.delivered.is_some()).count();
        prop_assert_eq!(json!(delivered), summary["packets_generated"].clone(), "{}", document);
    }
}

#[test]
fn a_detour_takes_the_vc_of_the_number_of_links_passed_and_every_router_with_nodes_is_as_often_in_between() {
    // Every router is one link from every other one: a packet passes its intermediate router, or none.
    let complete = edges((0..8).flat_map(|one| (0..one).map(move |other| (other, one))));
    let document = json!({
        "topology": { "graph": { "edges": complete, "routers_with_nodes": 6 } }, "routing": { "valiant": {} },
        "load": 0.3, "router": { "input_queued": {} }, "jobs": [{ "traffic": { "packet_length": 1 } }],
    });
    let mut between = [0u32; 8];
    let mut direct = 0;
    for packet in trace(&plan(&document), 20_000).expect("no deadlock") {
        let links = &packet.hops[..packet.hops.len().saturating_sub(1)];
        for (passed, hop) in links.iter().enumerate() {
            assert_eq!(usize::from(hop.vc), passed);
        }
        if let ([_, _], Some(_)) = (links, packet.delivered) {
            between[links[1].router as usize] += 1;
        }
        direct += u32::from(links.len() == 1 && packet.delivered.is_some());
    }
    let all = f64::from(direct + between.iter().sum::<u32>());
    // Two of the six are the packet's own, the others lie in between.
    assert!((f64::from(direct) / all - 1.0 / 3.0).abs() < 0.02, "{direct} of {all}");
    assert_eq!(between[6..], [0, 0], "routers without nodes");
    assert!(between[..6].iter().all(|&n| (f64::from(n) / all - 1.0 / 9.0).abs() < 0.02), "{between:?}");
}

#[test]
fn without_layers_a_ring_deadlocks() {
    let document = |routers| {
        json!({
            "topology": { "graph": { "edges": ring(routers) } }, "load": 1.0,
            "router": { "input_queued": { "buffers": { "network": 8, "injection": 8 } } },
            "measure": { "warmup": 0, "cycles": 20_000, "watchdog": 500 }
        })
    };
    let mut plan = plan(&document(7));
    assert!(run(&plan, &Control::default()).is_ok());
    let vcs = Vcs::increasing(VcSequence::unordered(&plan.system.network.classes, 0));
    plan.system.routing = Routing::Minimal(Minimal::new(Arc::clone(&plan.system.topology), vcs));
    assert!(matches!(run(&plan, &Control::default()), Err(RunError::Deadlock(_))));
}

/// The least latency between every two nodes, in traffic so low that some packet meets no other.
fn unloaded(document: &Value, pairs: &[(u32, u32)]) -> Vec<u32> {
    let mut latencies = Vec::new();
    for &(from, to) in pairs {
        let mut document = document.clone();
        document["jobs"] = json!([{ "placement": { "list": [from.min(to), from.max(to)] } }]);
        document["load"] = json!(0.01);
        document["measure"] = json!({ "warmup": 0, "cycles": 10_000, "seed": 5 });
        let packets = trace(&plan(&document), 10_000).expect("no deadlock");
        let sent = packets.iter().filter(|packet| packet.source == from);
        let least = sent.filter_map(|packet| Some(packet.delivered? - packet.generated)).min();
        latencies.push(least.expect("packets have arrived"));
    }
    latencies
}

fn all_pairs(nodes: u32) -> Vec<(u32, u32)> {
    let all = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
    all.filter(|(from, to)| from != to).collect()
}

#[test]
fn a_mesh_given_as_a_list_of_links_has_the_latencies_of_the_mesh() {
    let common = json!({ "links": { "network": { "latency": 3 } }, "router": { "cioq": {} } });
    let document = |topology: Value| {
        let mut document = common.clone();
        document["topology"] = topology;
        document
    };
    let pairs = all_pairs(12);
    let known = unloaded(&document(json!({ "mesh": { "sides": [4, 3] } })), &pairs);
    assert_eq!(unloaded(&document(json!({ "graph": { "edges": mesh(4, 3) } })), &pairs), known);
    let mut up_down = document(json!({ "mesh": { "sides": [4, 3] } }));
    up_down["routing"] = json!({ "up_down": { "root": 0 } });
    assert_eq!(unloaded(&up_down, &pairs), known, "all shortest paths go up to or down from a corner");
}

#[test]
fn the_latency_of_a_path_is_the_sum_of_those_of_its_links() {
    // 0 - 1 - 2 - 3 - 0 with one slow link, which the way from 0 to 2 avoids; 4 hangs from 2.
    let links = [(0, 1, 5), (1, 2, 7), (2, 3, 11), (3, 0, 40), (2, 4, 300)];
    let edges: Value =
        links.iter().map(|(a, b, latency)| json!({ "between": [a, b], "latency": latency })).collect();
    let document = json!({ "topology": { "graph": { "edges": edges } }, "router": { "input_queued": {} } });
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 3), (0, 4), (4, 3), (3, 0)];
    let expected = [5, 12, 40, 18, 312, 311, 40].map(|links| 1 + links);
    assert_eq!(unloaded(&document, &pairs), expected, "the injection link, then those between routers");
}

#[test]
fn over_a_slow_link_a_packet_is_stored_and_no_more_get_through_than_it_takes() {
    let edges = json!([
        { "between": [0, 1], "latency": 5, "cycles_per_phit": 4 },
        { "between": [1, 2], "latency": 7, "cycles_per_phit": 2 },
        { "between": [2, 3], "latency": 9 },
    ]);
    for router in ["cioq", "input_queued"] {
        let document = json!({
            "topology": { "graph": { "edges": edges } },
            "router": { router: { "crossbar_latency": 0, "pipeline_latency": 0 } }
        });
        // The injection link, then 8 phits over every other one.
        let expected = [5 + 8 * 3, 12 + 8 * 4, 21 + 8 * 4, 9].map(|links| 1 + links);
        assert_eq!(unloaded(&document, &[(0, 1), (0, 2), (0, 3), (2, 3)]), expected, "{router}");
        let mut document = document;
        document["jobs"] = json!([{ "placement": { "list": [0, 3] } }]);
        document["load"] = json!(1.0);
        document["measure"] = json!({ "warmup": 1_000, "cycles": 8_000, "streams": ["links"] });
        let plan = plan(&document);
        let summary = run(&plan, &Control::default()).expect("no deadlock").summary;
        let accepted = summary["accepted_load"].as_f64().expect("a number");
        assert!((accepted - 0.25).abs() < 0.001, "{router}: {accepted}");
    }
}

#[test]
fn the_parts_of_the_latency_add_up_with_links_of_any_latency_and_rate() {
    let links = [(3, 1), (30, 2), (8, 1), (1, 1), (12, 3)];
    let edge = |(i, (latency, pace)): (usize, &(u32, u32))| json!({ "between": [i, (i + 1) % 5], "latency": latency, "cycles_per_phit": pace });
    let edges: Value = links.iter().enumerate().map(edge).collect();
    for routing in ["minimal", "up_down"] {
        let document = json!({
            "topology": { "graph": { "edges": edges, "nodes_per_router": 2 } }, "routing": { routing: {} },
            "load": 0.2, "measure": { "warmup": 1_000, "cycles": 20_000, "batches": 1 }
        });
        let plan = plan(&document);
        let summary = run(&plan, &Control::default()).expect("no deadlock").summary;
        let number = |key: &str| summary[key].as_f64().expect("a number");
        let pairs = all_pairs(5);
        let mean = |value: &dyn Fn(u32, u32) -> u32| {
            // A node sends to each of 8 nodes of other routers as often as to the other one of its own.
            pairs.iter().map(|&(from, to)| f64::from(value(from, to))).sum::<f64>() * 2.0 / (5.0 * 9.0)
        };
        // 20,000 packets; the latencies of paths have a standard deviation of about 10 cycles, so that of their mean is
        // 0.07 cycles: five of them allowed.
        let base = mean(&|from, to| plan.system.topology.minimal_latency(from, to, (&[], 8))) + 8.0;
        assert!((number("base_latency_mean") - base).abs() < 0.35, "{base} {summary:?}");
        let hops = mean(&|from, to| follow(&plan, (from, to), &mut DiGraphMap::new()));
        assert!((number("hops_mean") - hops).abs() < 0.05, "{hops} {summary:?}");
        let detours = mean(&|from, to| {
            let shortest = u32::from(plan.system.topology.minimal_hops(from, to)[0]);
            u32::from(follow(&plan, (from, to), &mut DiGraphMap::new()) > shortest)
        });
        assert!((number("misrouted_fraction") - detours).abs() < 0.02, "{detours} {summary:?}");
        assert_eq!(detours > 0.0, routing == "up_down");
    }
}

#[test]
fn in_a_tree_up_down_is_minimal() {
    let tree = edges([(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (5, 6), (5, 7)]);
    let document = |routing: &str| {
        json!({
            "topology": { "graph": { "edges": tree, "nodes_per_router": 2 } }, "routing": { routing: {} },
            "load": 0.5, "measure": { "warmup": 0, "cycles": 2_000 }
        })
    };
    let lives = |routing| trace(&plan(&document(routing)), 2_000).expect("no deadlock");
    let minimal = lives("minimal");
    assert!(minimal.len() > 400, "{}", minimal.len());
    assert_eq!(minimal, lives("up_down"));
}

#[test]
fn up_down_needs_no_bubble_in_a_torus_and_no_second_vc() {
    for topology in [
        json!({ "torus": { "sides": [4, 3] } }),
        json!({ "ring": { "routers": 9 } }),
        json!({ "mesh": { "sides": [3, 3] } }),
        json!({ "fat_tree": { "k": 2, "levels": 3 } }),
    ] {
        let document = json!({
            "topology": topology, "routing": { "up_down": {} }, "load": 1.0,
            "router": { "input_queued": { "buffers": { "network": 8, "injection": 8 } } },
            "jobs": [{ "traffic": { "changes": [{ "cycle": 1_000, "load": 0.0 }] } }],
            "measure": { "warmup": 0, "cycles": 20_000, "watchdog": 500 }
        });
        let plan = plan(&document);
        assert_eq!(plan.system.network.classes.links[0].vcs, 1);
        let mut dependencies = DiGraphMap::new();
        let with_nodes = routers_with_nodes(&plan);
        for (from, to) in (0..with_nodes).flat_map(|from| (0..with_nodes).map(move |to| (from, to))) {
            follow(&plan, (from, to), &mut dependencies);
        }
        assert!(!is_cyclic_directed(&dependencies), "{topology}");
        let summary = run(&plan, &Control::default()).expect("no deadlock").summary;
        assert_eq!(summary["packets_delivered"], summary["packets_generated"], "{topology}");
    }
}

#[test]
fn the_signal_of_sat_goes_round_the_nodes_over_shortest_paths() {
    let document = json!({
        "topology": { "graph": { "edges": [
            { "between": [0, 1], "latency": 4 }, { "between": [1, 2], "latency": 6 }, { "between": [1, 3] }
        ], "routers_with_nodes": 3 } },
        "nic": { "control": { "sat": { "l": 2, "k": 2 } } }, "load": 0.5
    });
    let walk = plan(&document).system.control.sat.expect("asked for").walk;
    assert_eq!(walk, [(0, 4), (1, 6), (2, 10)]);
}
