//! What is said of networks that fall apart for a while.

use hopsim_experiment::parts::cut_off;
use hopsim_experiment::plan::AnyPlan;
use serde_json::{Value, json};

/// What is said of a chain of five routers with two nodes each, whose links or routers fail.
fn said(faults: &Value) -> Vec<String> {
    let edges: Vec<Value> = (0..4).map(|router| json!({ "between": [router, router + 1] })).collect();
    let document = json!({
        "topology": { "graph": { "edges": edges, "nodes_per_router": 2 } }, "load": 0.1, "faults": faults,
        "measure": { "warmup": 0, "cycles": 20_000 },
    });
    let experiment = serde_json::from_value(document).unwrap();
    cut_off(&AnyPlan::new(&experiment, &|_| unreachable!("no programs")).unwrap())
}

#[test]
fn nodes_that_are_cut_off_are_named_with_the_cycles_between_the_tables() {
    let reaction = json!({ "detection": 100, "reroute": 900 });
    let link = |ends: [u32; 2], at: u32, until: Value| {
        let links = json!({ "between": [ends] });
        json!({ "links": links, "at": at, "until": until, "unreachable": "drop", "reaction": reaction })
    };
    assert_eq!(
        said(&json!([link([3, 4], 2_000, json!(5_000))])),
        ["cut off from cycle 3,000 to 5,999: 2 of 10 nodes, 8, 9"]
    );
    assert_eq!(
        said(&json!([link([3, 4], 2_000, json!(5_000)), link([1, 2], 2_500, Value::Null)])),
        [
            "cut off from cycle 3,000 to 3,499: 2 of 10 nodes, 8, 9",
            "cut off from cycle 3,500 to 5,999: 6 of 10 nodes, 4, 5, 6, 7, 8, 9",
            "cut off from cycle 6,000 on: 4 of 10 nodes, 0, 1, 2, 3",
        ]
    );
}

#[test]
fn nodes_of_routers_that_are_out_of_order_are_cut_off() {
    let drop = |routers: Value| json!([{ "routers": routers, "unreachable": "drop" }]);
    assert_eq!(said(&drop(json!([0]))), ["cut off from cycle 0 on: 2 of 10 nodes, 0, 1"]);
    assert_eq!(
        said(&drop(json!([0, 2, 4]))),
        ["cut off from cycle 0 on: 8 of 10 nodes, 0, 1, 4, 5, 6, 7, 8, 9"]
    );
    assert_eq!(
        said(&drop(json!([0, 1, 2, 3, 4]))),
        ["cut off from cycle 0 on: 10 of 10 nodes, 0, 1, 2, 3, 4, 5, 6, 7 and 2 others"]
    );
}

#[test]
fn of_a_network_in_one_piece_nothing_is_said() {
    assert!(said(&json!([])).is_empty());
}
