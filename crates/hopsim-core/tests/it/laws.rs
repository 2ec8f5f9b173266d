//! Laws of theory and conservation on the engine.

use hopsim_core::engine::{Control, audit, run, trace};
use hopsim_experiment::config::Experiment;
use hopsim_experiment::plan::Plan;
use hopsim_measure::Column;
use hopsim_network::topology::{GLOBAL, LOCAL};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn plan(document: &Value) -> Plan {
    let experiment: Experiment = serde_json::from_value(document.clone()).expect("a valid document");
    Plan::new(&experiment).expect("a valid plan")
}

fn summary(document: &Value) -> Map<String, Value> {
    run(&plan(document), &Control::default()).expect("no deadlock").summary
}

fn number(record: &Map<String, Value>, key: &str) -> f64 {
    record[key].as_f64().unwrap_or_else(|| panic!("{key} is {}", record[key]))
}

fn one_to_one(from: u32, to: u32) -> Value {
    json!({
        "topology": { "dragonfly": { "p": 1, "a": 4, "h": 2 } },
        "load": 0.002,
        "jobs": [{ "placement": { "list": [from, to] } }],
        "measure": { "warmup": 0, "cycles": 20_000, "seed": 3 }
    })
}

#[test]
fn zero_load_latency_equals_the_formula_for_every_pair() {
    // Injection 1, local 10, global 100, crossbar 3, packets of 8 phits; two nodes that rarely send.
    let nodes = 4 * 9;
    for from in 0..nodes {
        for to in from + 1..nodes {
            let plan = plan(&one_to_one(from, to));
            let traces = trace(&plan, 20_000).expect("no deadlock");
            for (source, target) in [(from, to), (to, from)] {
                let hops = plan.system.topology.minimal_hops(source, target).map(u32::from);
                let (local, global) = (hops[LOCAL as usize], hops[GLOBAL as usize]);
                let expected = 1 + (local + global + 1) * 3 + local * 10 + global * 100 + 8;
                let sent = traces.iter().filter(|t| t.source == source);
                let least = sent.filter_map(|t| Some(t.delivered? - t.generated + 8)).min();
                assert_eq!(least, Some(expected), "from {source} to {target}");
            }
        }
    }
}

/// Digits that differ before all higher ones agree: how far up a fat tree packets between two leaves go.
fn levels_up(k: u32, from: u32, to: u32) -> u32 {
    if from == to { 0 } else { 1 + levels_up(k, from / k, to / k) }
}

/// Links between two routers on a grid, with or without links between its edges.
fn links_on_grid(sides: &[u32], wraps: bool, from: u32, to: u32) -> u32 {
    let (mut from, mut to, mut links) = (from, to, 0);
    for &side in sides {
        let apart = (from % side).abs_diff(to % side);
        links += if wraps { apart.min(side - apart) } else { apart };
        (from, to) = (from / side, to / side);
    }
    links
}

/// Links between two routers on a grid that is fully connected along every dimension.
fn links_in_hyperx(sides: &[u32], from: u32, to: u32) -> u32 {
    let (mut from, mut to, mut links) = (from, to, 0);
    for &side in sides {
        links += u32::from(from % side != to % side);
        (from, to) = (from / side, to / side);
    }
    links
}

/// Small networks with one class of links: topology, nodes, nodes per router, links between two routers.
type Network = (Value, u32, u32, Box<dyn Fn(u32, u32) -> u32>);

fn networks_of_one_class() -> Vec<Network> {
    vec![
        (
            json!({ "mesh": { "sides": [3, 4], "nodes_per_router": 1 } }),
            12,
            1,
            Box::new(|from, to| links_on_grid(&[3, 4], false, from, to)),
        ),
        (
            json!({ "torus": { "sides": [4, 2, 3], "nodes_per_router": 1 } }),
            24,
            1,
            Box::new(|from, to| links_on_grid(&[4, 2, 3], true, from, to)),
        ),
        (
            json!({ "ring": { "routers": 7, "nodes_per_router": 2 } }),
            14,
            2,
            Box::new(|from, to| links_on_grid(&[7], true, from, to)),
        ),
        (
            json!({ "hyperx": { "sides": [4, 2, 3], "nodes_per_router": 1 } }),
            24,
            1,
            Box::new(|from, to| links_in_hyperx(&[4, 2, 3], from, to)),
        ),
        (
            json!({ "fat_tree": { "k": 2, "levels": 4 } }),
            16,
            2,
            Box::new(|from, to| 2 * levels_up(2, from, to)),
        ),
        (
            json!({ "fat_tree": { "k": 3, "levels": 2 } }),
            9,
            3,
            Box::new(|from, to| 2 * levels_up(3, from, to)),
        ),
    ]
}

#[test]
fn zero_load_latency_with_one_class_of_links_equals_the_formula_for_every_pair() {
    // Injection 2, links 5, crossbar 3, packets of 8 phits; two nodes that rarely send.
    for (topology, nodes, per_router, links) in networks_of_one_class() {
        for (routing, from) in ["minimal", "adaptive"].iter().flat_map(|r| (0..nodes).map(move |n| (r, n))) {
            for to in from + 1..nodes {
                let plan = plan(&json!({
                    "topology": topology, "routing": { *routing: {} }, "load": 0.01,
                    "links": { "injection": { "latency": 2 }, "network": { "latency": 5 } },
                    "jobs": [{ "placement": { "list": [from, to] } }],
                    "measure": { "warmup": 0, "cycles": 4_000, "seed": 3 }
                }));
                let traces = trace(&plan, 4_000).expect("no deadlock");
                for (source, target) in [(from, to), (to, from)] {
                    let links = links(source / per_router, target / per_router);
                    let expected = 2 + (links + 1) * 3 + links * 5 + 8;
                    let sent = traces.iter().filter(|t| t.source == source);
                    let least = sent.filter_map(|t| Some(t.delivered? - t.generated + 8)).min();
                    assert_eq!(least, Some(expected), "from {source} to {target}, {routing} on {topology}");
                }
            }
        }
    }
}

#[test]
fn uniform_traffic_fills_the_links_of_a_hyperx_at_side_over_nodes_per_router() {
    // Of n nodes n (1 - 1 / S) have another coordinate in a dimension, and the T nodes of a router share S - 1 links there: a
    // link carries T / S · n / (n - 1) times the load.
    let document = |load: f64, routing: &str| {
        json!({
            "topology": { "hyperx": { "sides": [4, 4], "nodes_per_router": 8 } }, "routing": { routing: {} },
            "load": load, "router": { "cioq": { "vcs": { "network": 4 } } },
            "measure": { "warmup": 3_000, "cycles": 6_000 }
        })
    };
    let capacity = 4.0 / 8.0 * 127.0 / 128.0;
    for (routing, reached) in [("minimal", 0.9), ("adaptive", 0.8)] {
        let accepted = |load| number(&summary(&document(load, routing)), "accepted_load");
        let most = accepted(1.0);
        assert!(most <= capacity * 1.001 && most > reached * capacity, "{most} of {capacity}, {routing}");
        assert!((accepted(0.3) - 0.3).abs() < 0.01);
    }
    // Oblivious detours pass twice as many links, and every hop has one VC only.
    let halved = number(&summary(&document(1.0, "valiant")), "accepted_load");
    assert!(halved < 0.6 * capacity && halved > 0.25 * capacity, "{halved} of {capacity}");
}

/// Packets of each node that arrive within 400,000 cycles, as shares of all, when all nodes send to node 0 as much as they can.
fn shares_of_node_0(topology: &Value, routing: &Value) -> Vec<f64> {
    let outcome = run(
        &plan(&json!({
            "topology": topology, "routing": routing, "load": 1.0,
            "router": { "input_queued": { "vcs": { "network": 1, "injection": 1 } } },
            "nic": { "source_queue": { "packets": 4 } },
            "jobs": [{ "traffic": { "pattern": { "hotspot": { "node": 0, "fraction": 1.0 } } } }],
            "measure": { "warmup": 40_000, "cycles": 800_000, "streams": ["nodes"] }
        })),
        &Control::default(),
    )
    .expect("no deadlock");
    let nodes = &outcome.tables.iter().find(|(name, _)| name == "nodes").expect("asked for").1;
    let Column::U32(received) = &nodes.iter().find(|(name, _)| name == "received").expect("a column").1
    else {
        panic!("counts are 32-bit")
    };
    // Node 0 sends to others.
    let total: f64 = received[1..].iter().copied().map(f64::from).sum();
    received.iter().map(|&count| f64::from(count) / total).collect()
}

#[test]
fn in_a_row_of_a_mesh_every_router_on_the_way_halves_the_share_of_the_nodes_behind_it() {
    let shares = shares_of_node_0(&json!({ "mesh": { "sides": [7] } }), &json!({ "minimal": {} }));
    // The last two share what comes to the router of the one before the last.
    for (distance, law) in [(1, 2.0), (2, 4.0), (3, 8.0), (4, 16.0), (5, 32.0), (6, 32.0)] {
        assert!((shares[distance] * law - 1.0f64).abs() < 0.005, "{shares:?}");
    }
}

#[test]
fn all_to_one_in_a_fat_tree_gives_neighbours_a_4th_a_64th_and_a_768th_with_round_robin() {
    // Gran et al. (2011), §V: what is for one node comes down one way, and a switch serves the ports that lead to it in turn.
    let routing = json!({ "minimal": { "up": "destination" } });
    let shares = shares_of_node_0(&json!({ "fat_tree": { "k": 4, "levels": 3 } }), &routing);
    for (nodes, law) in [(1..4, 4.0), (4..16, 64.0), (16..64, 768.0)] {
        for node in nodes {
            // The farthest get 130 packets each: one more or less is 0.8 %.
            assert!((shares[node] * law - 1.0f64).abs() < 0.02, "node {node}: {shares:?}");
        }
    }
}

/// Shares of node 0's bandwidth that four sources get whose paths merge one after the other: node 1 at the
/// destination's router, node 6 where the global link enters the group, node 8 where it leaves the other
/// group, node 10 one local hop before.
fn parking_lot(arbiter: &str) -> Vec<f64> {
    let outcome = run(
        &plan(&json!({
            "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2 } },
            "load": 1.0,
            "router": { "cioq": {
                "vcs": { "injection": 1 },
                "allocator": { "input_arbiter": { arbiter: {} }, "output_arbiter": { arbiter: {} } }
            } },
            "jobs": [{
                "placement": { "list": [0, 1, 6, 8, 10] },
                "traffic": { "pattern": { "hotspot": { "node": 0, "fraction": 1.0 } } }
            }],
            "measure": { "warmup": 20_000, "cycles": 400_000, "streams": ["nodes"] }
        })),
        &Control::default(),
    )
    .expect("no deadlock");
    let nodes = &outcome.tables.iter().find(|(name, _)| name == "nodes").expect("asked for").1;
    let Column::U32(received) = &nodes.iter().find(|(name, _)| name == "received").expect("a column").1
    else {
        panic!("counts are 32-bit")
    };
    let shares = [1, 6, 8, 10].map(|node| f64::from(received[node]));
    let total: f64 = shares.iter().sum();
    shares.iter().map(|s| s / total).collect()
}

#[test]
fn a_parking_lot_gives_a_half_a_quarter_and_two_eighths_with_round_robin() {
    let shares = parking_lot("round_robin");
    for (share, law) in shares.iter().zip([0.5, 0.25, 0.125, 0.125]) {
        assert!((share - law).abs() < 0.002, "{shares:?}");
    }
}

#[test]
fn a_parking_lot_gives_equal_shares_with_age() {
    // 12,500 packets each: the sources' own Bernoulli noise has sigma 0.002; five of them allowed.
    let shares = parking_lot("age");
    assert!(shares.iter().all(|share| (share - 0.25).abs() < 0.01), "{shares:?}");
}

#[test]
fn a_network_at_low_load_accepts_what_is_offered() {
    for routing in [json!({ "minimal": {} }), json!({ "valiant": {} })] {
        let record = summary(&json!({
            "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2 } },
            "load": 0.2,
            "routing": routing,
            "measure": { "warmup": 2_000, "cycles": 20_000 }
        }));
        // 72 nodes, 36,000 packets: sigma of the load is 0.2 / sqrt(36,000) = 0.001; five of them allowed.
        assert!((number(&record, "accepted_load") - 0.2).abs() < 0.006, "{record:?}");
        let parts = [
            "base_latency_mean",
            "misrouting_latency_mean",
            "local_queue_latency_mean",
            "global_queue_latency_mean",
            "injection_latency_mean",
        ];
        let sum: f64 = parts.iter().map(|key| number(&record, key)).sum();
        assert!((sum - number(&record, "packet_latency_mean")).abs() < 1e-6, "the parts add up to the whole");
    }
}

fn any_network() -> impl Strategy<Value = Value> {
    let shape = (1..4u32, 1..5u32, 1..4u32, 1..12u32, prop::bool::ANY);
    let router = (1..5u32, 1..4u32, 0..4u32, 0..3u32, prop::sample::select(vec![1.0, 1.5, 2.0, 3.0]));
    let choices = (prop::bool::ANY, prop::bool::ANY, 0..4usize, 0..4usize, prop::bool::ANY);
    let load = (0.05..1.0f64, 1..9u32, any::<u32>());
    (shape, router, choices, load).prop_map(|((p, a, h, groups, palm), (vcs, iterations, x, pipe, speedup), c, l)| {
        let arbiters = ["round_robin", "least_recently_served", "age", "random"];
        let length = l.1;
        let groups = groups.clamp(2, a * h + 1);
        let routing = if c.0 { json!({ "minimal": {} }) } else { json!({ "valiant": { "recompute": c.4 } }) };
        let mut document = json!({
            "topology": { "dragonfly": {
                "p": p + 1, "a": a, "h": h, "groups": groups,
                "arrangement": if palm { "palmtree" } else { "consecutive" }
            } },
            "links": { "injection": { "latency": 1 }, "local": { "latency": 3 }, "global": { "latency": 11 } },
            "router": { "cioq": {
                "vcs": { "injection": vcs },
                "buffers": { "local": 2 * length, "global": 4 * length, "injection": 3 * length, "output": 2 * length },
                "speedup": speedup, "crossbar_latency": x, "pipeline_latency": pipe,
                "allocator": {
                    "iterations": iterations, "transit_priority": c.4,
                    "input_arbiter": { arbiters[c.2]: {} }, "output_arbiter": { arbiters[c.3]: {} }
                }
            } },
            "routing": routing,
            "load": l.0,
            "jobs": [{ "traffic": { "packet_length": length } }],
            "measure": { "warmup": 0, "cycles": 1, "batches": 1, "seed": l.2 }
        });
        if c.1 {
            document["compat"] = json!("fogsim");
        }
        document
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn packets_and_credits_are_conserved_in_every_cycle(document in any_network()) {
        prop_assert_eq!(audit(&plan(&document), 300), Ok(()), "{}", document);
    }
}

/// Networks in which heads that have a choice of outputs sleep until something changes.
fn networks_with_sleepers() -> Vec<Value> {
    let dragonfly = json!({ "dragonfly": { "p": 2, "a": 4, "h": 2 } });
    let torus = json!({ "torus": { "sides": [4, 4] } });
    let cioq = json!({ "cioq": { "vcs": { "local": 4, "global": 2 } } });
    let queued = json!({ "input_queued": { "vcs": { "network": 3 } } });
    let adversarial = json!({ "adversarial": { "offset": 1 } });
    let routings = ["ugal", "piggyback", "source_adaptive", "olm", "par"];
    let mut all: Vec<_> = routings
        .map(|routing| (&dragonfly, &cioq, routing, adversarial.clone()))
        .into_iter()
        .chain([(&torus, &queued, "adaptive", json!({ "uniform": {} }))])
        .map(|(topology, router, routing, pattern)| {
            json!({
                "topology": topology, "routing": { routing: {} }, "router": router, "load": 0.7,
                "jobs": [{ "traffic": { "pattern": pattern, "packet_length": 4 } }],
                "measure": { "warmup": 0, "cycles": 1, "batches": 1 }
            })
        })
        .collect();
    // PAR has a VC for every link.
    all[4]["router"] = json!({ "cioq": {} });
    all
}

#[test]
fn no_head_sleeps_that_would_be_granted_something() {
    for document in networks_with_sleepers() {
        assert_eq!(audit(&plan(&document), 600), Ok(()), "{document}");
    }
}

#[test]
fn equal_seeds_give_equal_results_whatever_is_recorded() {
    let mut document = json!({
        "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2 } },
        "load": 0.7,
        "measure": { "warmup": 500, "cycles": 2_000, "seed": 11 }
    });
    let plain = summary(&document);
    assert_eq!(plain, summary(&document));
    document["measure"]["streams"] = json!(["nodes", "routers", "links", "latency_histogram"]);
    document["measure"]["interval"] = json!(100);
    assert_eq!(plain, summary(&document), "probes change nothing");
    document["measure"]["seed"] = json!(12);
    assert_ne!(plain, summary(&document));
}

#[test]
fn percentiles_bracket_the_mean_in_deep_saturation() {
    let record = summary(&json!({
        "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2 } },
        "load": 1.0,
        "jobs": [{ "traffic": { "pattern": { "adversarial": {} } } }],
        "measure": { "warmup": 10_000, "cycles": 10_000 }
    }));
    let [p50, mean, p99, max] =
        ["p50", "mean", "p99", "max"].map(|part| number(&record, &format!("packet_latency_{part}")));
    // One global link for eight nodes: the source queues grow by 7/8 of a packet per generation, so latencies
    // spread evenly up to more than 10,000 cycles.
    assert!(mean > 5_000.0 && p50 > 0.8 * mean && p50 < 1.2 * mean, "{record:?}");
    assert!(p99 > mean && p99 <= max, "{record:?}");
}

#[test]
fn packets_of_several_lengths_leave_the_bubble_of_a_ring_in_one_piece() {
    // With room counted in phits these rings come to a standstill: what is free is enough for a packet, but in pieces.
    for (lengths, buffer, seed) in [([5, 7], 15, 0), ([5, 7], 16, 0), ([2, 3], 8, 0), ([3, 7], 20, 1)] {
        for per_router in [2, 8] {
            let job = |index: u32| {
                let nodes: Vec<u32> = (0..8 * per_router).filter(|node| node % 2 == index).collect();
                let traffic = json!({ "packet_length": lengths[index as usize] });
                json!({ "placement": { "list": nodes }, "traffic": traffic })
            };
            let record = summary(&json!({
                "topology": { "ring": { "routers": 8, "nodes_per_router": per_router } },
                "load": 1.0,
                "router": { "input_queued": { "vcs": { "network": 1 }, "buffers": { "network": buffer } } },
                "jobs": [job(0), job(1)],
                "measure": { "warmup": 5_000, "cycles": 10_000, "seed": seed, "watchdog": 1_000 }
            }));
            assert!(number(&record, "accepted_load") > 0.0, "{record:?}");
        }
    }
}
