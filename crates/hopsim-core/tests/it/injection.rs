//! Laws of what happens before a packet enters the network: full queues, bursts in step, loads of nodes, injection ports,
//! injection control.

use hopsim_core::engine::{Control, Outcome, run, trace};
use hopsim_core::error::RunError;
use hopsim_experiment::config::Experiment;
use hopsim_experiment::plan::Plan;
use hopsim_measure::Column;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

fn plan(document: &Value) -> Plan {
    let experiment: Experiment = serde_json::from_value(document.clone()).expect("a valid document");
    Plan::new(&experiment).expect("a valid plan")
}

fn outcome(document: &Value) -> Outcome {
    run(&plan(document), &Control::default()).expect("no deadlock")
}

fn number(record: &Map<String, Value>, key: &str) -> f64 {
    record[key].as_f64().unwrap_or_else(|| panic!("{key} is {}", record[key]))
}

/// An input-queued network of packets of 16 phits.
fn network(topology: &Value, traffic: &Value) -> Value {
    let mut traffic = traffic.clone();
    traffic["packet_length"] = json!(16);
    json!({
        "topology": topology,
        "router": { "input_queued": { "vcs": { "network": 2, "injection": 1 }, "buffers": { "injection": 64 } } },
        "jobs": [{ "traffic": traffic }],
        "measure": { "warmup": 5_000, "cycles": 20_000, "seed": 3 }
    })
}

fn mesh() -> Value {
    json!({ "mesh": { "sides": [4, 4] } })
}

fn torus() -> Value {
    json!({ "torus": { "sides": [4, 4] } })
}

fn bernoulli(load: f64) -> Value {
    json!({ "process": { "bernoulli": { "load": load } } })
}

#[test]
fn a_node_that_waits_for_room_loses_nothing_and_generates_what_the_network_accepts() {
    for queue in [0, 1, 24] {
        let mut document = network(&mesh(), &bernoulli(1.0));
        document["nic"] = json!({ "source_queue": { "packets": queue }, "when_full": "wait" });
        let record = outcome(&document).summary;
        assert_eq!(record["packets_dropped"], 0);
        let (generated, accepted) = (number(&record, "generated_load"), number(&record, "accepted_load"));
        // What the queues and the network hold can differ between the ends of the window: under 1 % of 20,000 cycles.
        assert!((generated - accepted).abs() < 0.01 * accepted, "{generated} against {accepted}");
        assert!(accepted > 0.5 && accepted < 0.99, "saturated: {accepted}");
    }
}

#[test]
fn below_saturation_waiting_for_room_changes_nothing() {
    let mut document = network(&mesh(), &bernoulli(0.1));
    let mut free = outcome(&document).summary;
    document["nic"] = json!({ "source_queue": { "packets": 24 }, "when_full": "wait" });
    let waiting = outcome(&document).summary;
    // Only sources that may stand still have such a share of time.
    assert_eq!(free.insert("source_stall_fraction".into(), 0.0.into()), Some(Value::Null));
    assert_eq!(waiting.get("source_stall_fraction"), Some(&0.0.into()));
    assert_eq!(free, waiting);
}

#[test]
fn an_unbounded_queue_counts_every_packet_in_the_cycle_it_was_due() {
    // A node offers 1 phit per cycle and gets through far less, so most packets are due long before they are sent.
    let document = network(
        &mesh(),
        &json!({
            "process": { "bernoulli": { "load": 1.0 } }, "pattern": { "hotspot": { "node": 5, "fraction": 1.0 } }
        }),
    );
    let record = outcome(&document).summary;
    let load = number(&record, "generated_load");
    // 16 nodes · 20,000 / 16 packets: sigma of the load is 0.7 %.
    assert!((load - 1.0).abs() < 0.03, "{load}");
    let latency = number(&record, "packet_latency_mean");
    assert!(latency > 5_000.0, "the wait since the packet was due counts: {latency}");
}

#[test]
fn a_burst_between_two_nodes_takes_as_long_as_its_phits_and_the_way() {
    // Two routers with one node each: injection link 1, network link 1, no crossbar latency, then the packet's phits.
    for packets in [1, 7] {
        let burst = json!({ "process": { "synchronised_bursts": { "packets": packets } } });
        let document = network(&json!({ "mesh": { "sides": [2] } }), &burst);
        let record = outcome(&document).summary;
        assert_eq!(record["cycles_per_burst"], f64::from(packets * 16 + 2));
        assert_eq!(record["cycles_per_burst_ci95"], 0.0);
        assert!(record["offered_load"].is_null(), "bursts have no load");
    }
}

#[test]
fn no_node_begins_a_burst_before_all_packets_of_the_one_before_are_consumed() {
    let burst = json!({ "process": { "synchronised_bursts": { "packets": 5 } } });
    let traces = trace(&plan(&network(&torus(), &burst)), 3_000).expect("no deadlock");
    let count = |burst: u32| traces.iter().filter(move |packet| packet.serial / 5 == burst);
    let bursts = traces.iter().map(|packet| packet.serial / 5).max().expect("packets");
    assert!(bursts > 5);
    for burst in 0..bursts - 1 {
        assert_eq!(count(burst).count(), 16 * 5);
        let last = count(burst).map(|packet| packet.delivered.expect("delivered") + 16).max();
        let first = count(burst + 1).map(|packet| packet.generated).min();
        assert_eq!(first, last, "burst {burst}");
    }
}

#[test]
fn listed_nodes_offer_their_own_load() {
    let traffic = json!({
        "process": { "bernoulli": { "load": 0.05 } },
        "node_loads": { "listed": [{ "nodes": [2, 9], "load": 0.3 }] }
    });
    let record = outcome(&network(&mesh(), &traffic)).summary;
    let mean = (14.0 * 0.05 + 2.0 * 0.3) / 16.0;
    assert!((number(&record, "offered_load") - mean).abs() < 1e-12);
    // 20,000 cycles: 375 packets at 0.3, sigma 5 %; 62 at 0.05, sigma 13 %.
    assert!((number(&record, "node_injection_max") - 0.3).abs() < 0.06);
    assert!(number(&record, "node_injection_min") > 0.02 && number(&record, "node_injection_min") < 0.06);
}

#[test]
fn random_loads_are_the_same_for_a_seed_and_others_for_another() {
    let traffic = json!({
        "process": { "bernoulli": { "load": 0.5 } }, "node_loads": { "random": { "saturated": 0.25 } }
    });
    let mut document = network(&mesh(), &traffic);
    let loads = |document: &Value| plan(document).system.jobs[0].traffic().unwrap().load.to_bits();
    let first = loads(&document);
    assert_eq!(first, loads(&document));
    // A quarter at 1, the rest uniform: mean 0.625, sigma 0.29 · sqrt(12) / 16 = 0.06.
    assert!((f64::from_bits(first) - 0.625).abs() < 0.25);
    document["measure"]["seed"] = json!(4);
    assert_ne!(loads(&document), first);
}

#[test]
fn with_two_injection_ports_a_node_sends_in_both_directions_at_once() {
    // Neighbours only: on a ring of three every node is next to every other one, so a node could send 2 phits per cycle.
    let accepted = |nic: Value| {
        let mut document = network(&json!({ "ring": { "routers": 3 } }), &bernoulli(1.0));
        document["router"]["input_queued"]["vcs"]["injection"] = json!(2);
        document["router"]["input_queued"]["consumption"] = json!("parallel");
        document["jobs"][0]["traffic"]["process"] = json!({ "synchronised_bursts": { "packets": 1000 } });
        document["measure"]["cycles"] = json!(100_000);
        document["nic"] = nic;
        number(&outcome(&document).summary, "accepted_load")
    };
    let one = accepted(json!({ "injection_vc": "direction" }));
    let two = accepted(json!({ "injection_vc": "direction", "injection_ports": 2 }));
    assert!(one < 1.0, "{one}");
    assert!(two > 1.2, "{two}");
}

#[test]
fn nodes_that_take_all_packets_at_once_are_no_bottleneck() {
    let accepted = |consumption: &str| {
        let traffic = json!({
            "process": { "bernoulli": { "load": 1.0 } }, "pattern": { "hotspot": { "node": 5, "fraction": 1.0 } }
        });
        let mut document = network(&mesh(), &traffic);
        document["router"]["input_queued"]["consumption"] = json!(consumption);
        // All packets but those of the hot spot itself go to node 5: load over 16 nodes.
        number(&outcome(&document).summary, "accepted_load") * 16.0
    };
    // The hot spot's own uniform packets go elsewhere.
    assert!(accepted("serial") < 2.0);
    assert!(accepted("parallel") > 3.0);
}

#[test]
fn a_buffer_sends_one_packet_at_a_time_also_where_nodes_take_all_at_once() {
    let mut document = network(&mesh(), &bernoulli(1.0));
    document["router"]["input_queued"]["consumption"] = json!("parallel");
    let mut granted: BTreeMap<_, Vec<u32>> = BTreeMap::new();
    for packet in trace(&plan(&document), 3_000).expect("no deadlock") {
        for hops in packet.hops.windows(2) {
            granted.entry((hops[0].router, hops[0].port, hops[0].vc)).or_default().push(hops[1].granted);
        }
    }
    for (place, mut cycles) in granted {
        cycles.sort_unstable();
        assert!(cycles.windows(2).all(|pair| pair[1] - pair[0] >= 16), "behind {place:?}: {cycles:?}");
    }
}

#[test]
fn sat_lets_a_node_inject_no_more_than_k_packets_in_one_cycle() {
    // By two ports, and to nodes of its own router, a node could inject several.
    let sat = json!({ "sat": { "l": 1, "k": 1 } });
    let mut by_two_ports = network(&json!({ "ring": { "routers": 3 } }), &bernoulli(1.0));
    by_two_ports["nic"] = json!({ "injection_vc": "direction", "injection_ports": 2, "control": sat });
    by_two_ports["router"]["input_queued"]["allocator"] = json!({ "iterations": 2 });
    let mut at_home = network(&json!({ "ring": { "routers": 3, "nodes_per_router": 4 } }), &bernoulli(1.0));
    at_home["nic"] = json!({ "control": sat });
    at_home["router"]["input_queued"]["consumption"] = json!("parallel");
    for mut document in [by_two_ports, at_home] {
        document["router"]["input_queued"]["vcs"]["injection"] = json!(4);
        let traces = trace(&plan(&document), 3_000).expect("no deadlock");
        let injected: Vec<(u32, u32)> = traces.iter().map(|p| (p.source, p.hops[0].granted)).collect();
        let cycles: BTreeSet<&(u32, u32)> = injected.iter().collect();
        assert_eq!(injected.len(), cycles.len(), "{}", document["nic"]);
    }
}

#[test]
fn sat_gives_all_nodes_the_same_share_of_a_saturated_network() {
    let topologies = [
        mesh(),
        torus(),
        json!({ "ring": { "routers": 8 } }),
        json!({ "fat_tree": { "k": 2, "levels": 3 } }),
    ];
    for topology in topologies {
        let spread = |control: Value| {
            let mut document = network(&topology, &bernoulli(1.0));
            document["nic"] = json!({ "control": control });
            document["measure"]["cycles"] = json!(100_000);
            let record = outcome(&document).summary;
            let mean = number(&record, "node_injection_mean");
            (number(&record, "node_injection_max") - number(&record, "node_injection_min")) / mean
        };
        let fair = spread(json!({ "sat": { "l": 16, "k": 16 } }));
        assert!(fair < 0.02, "{topology}: {fair}");
    }
}

#[test]
fn a_packet_sent_by_ipr_in_every_cycle_is_one_sent_by_transit_priority() {
    let mut document = network(&torus(), &bernoulli(0.8));
    document["nic"] = json!({ "control": { "ipr": { "share": 1.0 } } });
    let always = outcome(&document).summary;
    document["nic"] = json!({});
    document["router"]["input_queued"]["allocator"] = json!({ "transit_priority": true });
    assert_eq!(always, outcome(&document).summary);
}

/// Cycles that all heads at injection waited for a reason.
fn waited(outcome: &Outcome, reason: &str) -> f64 {
    let table = &outcome.tables.iter().find(|(name, _)| name == "injection_waits").expect("the stream").1;
    match &table.iter().find(|(name, _)| name == reason).expect("a column").1 {
        Column::F64(cycles) => cycles.iter().sum(),
        _ => panic!("{reason} is no number"),
    }
}

#[test]
fn what_injection_waits_for_is_told_and_looking_changes_nothing() {
    let cases = [
        (json!({ "sat": { "l": 2, "k": 2 } }), "sat"),
        (json!({ "lbr": { "packets": 3 } }), "lbr"),
        (json!({ "ipr": { "share": 1.0 } }), "ipr"),
        (json!({ "none": {} }), "bubble"),
    ];
    for (control, reason) in cases {
        let mut document = network(&torus(), &bernoulli(1.0));
        document["nic"] = json!({ "control": control });
        document["routing"] =
            if reason == "bubble" { json!({ "minimal": {} }) } else { json!({ "adaptive": {} }) };
        let unwatched = outcome(&document).summary;
        document["measure"]["streams"] = json!(["injection_waits"]);
        let watched = outcome(&document);
        assert_eq!(watched.summary, unwatched);
        assert!(waited(&watched, reason) > 0.0, "{reason}");
        for other in ["sat", "lbr", "ipr"].iter().filter(|&&other| other != reason) {
            assert!(waited(&watched, other) == 0.0, "{other} with {reason}");
        }
    }
}

#[test]
fn heads_at_injection_wait_for_every_cycle_between_two_grants() {
    // One injection VC whose queue never runs dry: in every cycle its head is granted or waits.
    let mut document = network(&mesh(), &bernoulli(1.0));
    document["measure"]["streams"] = json!(["injection_waits"]);
    let outcome = outcome(&document);
    let reasons = ["arbitration", "ipr", "output", "lbr", "bubble", "credits", "input", "sat"];
    let cycles: f64 = reasons.iter().map(|reason| waited(&outcome, reason)).sum();
    let grants = number(&outcome.summary, "packets_injected");
    assert!((cycles + grants - 16.0 * 20_000.0).abs() < 0.5, "{cycles} + {grants}");
}

#[test]
fn a_torus_deadlocks_without_bubble_and_never_with_it() {
    let mut document = network(&json!({ "torus": { "sides": [8, 8] } }), &bernoulli(1.0));
    document["measure"] = json!({ "warmup": 0, "cycles": 60_000, "watchdog": 1_000 });
    let vcs = &mut document["router"]["input_queued"]["vcs"];
    (vcs["network"], vcs["bubble"], vcs["allow_deadlock"]) = (json!(1), json!(0), json!(true));
    let Err(RunError::Deadlock(report)) = run(&plan(&document), &Control::default()) else {
        panic!("no deadlock");
    };
    // Packets of one ring wait for each other, all round it.
    assert!(report.waiting.len() >= 8, "{}", report.waiting.len());
    document["router"]["input_queued"]["vcs"]["bubble"] = json!(1);
    assert!(run(&plan(&document), &Control::default()).is_ok());
}
