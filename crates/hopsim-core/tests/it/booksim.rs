//! What BookSim sends and counts (`compat = "booksim"`), where few packets meet: its formulas for a packet alone.

use hopsim_core::engine::{Control, run};
use hopsim_experiment::plan::Plan;
use serde_json::{Map, Value, json};

/// The summary of packets of five flits in a row of four routers, with other choices.
fn summary(pattern: &Value, semantics: &Value) -> Map<String, Value> {
    let document = json!({
        "compat": "booksim",
        "topology": { "mesh": { "sides": [4] } },
        "links": { "network": { "latency": 2 }, "injection": { "latency": 2 } },
        "router": { "virtual_channel": {} },
        "semantics": semantics,
        "jobs": [{ "traffic": { "pattern": pattern, "packet_length": 5 } }],
        "load": 0.002,
        "measure": { "warmup": 0, "cycles": 100_000, "batches": 1 },
    });
    let plan = Plan::new(&serde_json::from_value(document).unwrap()).unwrap();
    run(&plan, &Control::default()).expect("no deadlock").summary
}

fn number(summary: &Map<String, Value>, key: &str) -> f64 {
    summary[key].as_f64().unwrap()
}

fn assert_equal(one: f64, other: f64) {
    assert!((one - other).abs() < 1e-9, "{one} is not {other}");
}

/// Cycles that a packet takes through so many routers: the links to and from its nodes, three stages in each router, the links
/// between them and its other flits.
fn alone(routers: f64) -> f64 {
    2.0 + 3.0 * routers + 2.0 * (routers - 1.0) + 2.0 + 4.0
}

#[test]
fn a_packet_takes_what_booksim_says_from_the_cycle_in_which_its_head_sets_out() {
    let uniform = summary(&json!({ "uniform": {} }), &json!({}));
    let hops = number(&uniform, "hops_mean");
    // Two of four routers away at most half of the time, and none away a quarter of it.
    assert!((hops - 2.25).abs() < 0.3, "{hops}");
    assert_equal(number(&uniform, "packet_latency_min"), alone(1.0));
    assert!((number(&uniform, "network_latency_mean") - alone(hops)).abs() < 0.2, "{uniform:?}");
    assert!(number(&uniform, "injection_latency_mean") < 0.2, "{uniform:?}");
    // The parts add up, for packets that take no link too.
    let parts = ["base", "misrouting", "injection", "network_queue"];
    let sum: f64 = parts.iter().map(|part| number(&uniform, &format!("{part}_latency_mean"))).sum();
    assert!((sum - number(&uniform, "packet_latency_mean")).abs() < 1e-9, "{sum} in {uniform:?}");
    assert!((number(&uniform, "base_latency_mean") - (2.0 * (hops - 1.0) + 5.0 + 1.0)).abs() < 1e-9);
}

#[test]
fn each_choice_is_worth_what_is_said_of_it() {
    let uniform = json!({ "uniform": {} });
    let all = summary(&uniform, &json!({}));
    let links = summary(&uniform, &json!({ "hop_count": "links" }));
    assert!((number(&all, "hops_mean") - number(&links, "hops_mean") - 1.0).abs() < 1e-9);
    assert_equal(number(&all, "network_hops_mean"), number(&links, "network_hops_mean"));
    let others = summary(&uniform, &json!({ "self_traffic": "none" }));
    assert_equal(number(&others, "packet_latency_min"), alone(2.0));
    // With injection latency up to the grant it has the link from the node and two stages.
    let granted = summary(&uniform, &json!({ "injection_latency": "grant" }));
    let difference = number(&granted, "injection_latency_mean") - number(&all, "injection_latency_mean");
    assert!((difference - 4.25).abs() < 0.2, "{difference}");
    assert_equal(number(&granted, "packet_latency_mean"), number(&all, "packet_latency_mean"));
}

#[test]
fn nodes_that_a_permutation_sends_to_themselves_send_too() {
    let shuffled = json!({ "permutation": "shuffle" });
    let (all, others) =
        (summary(&shuffled, &json!({})), summary(&shuffled, &json!({ "self_traffic": "none" })));
    // Nodes 0 and 3 of four are their own image.
    let ratio = number(&all, "packets_generated") / number(&others, "packets_generated");
    assert!((ratio - 2.0).abs() < 0.4, "{ratio}");
    assert_equal(number(&all, "packet_latency_min"), alone(1.0));
    assert_equal(number(&others, "packet_latency_min"), alone(2.0));
}
