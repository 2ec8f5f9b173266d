//! Laws of the streams that say where it hurts and why.

use hopsim_core::engine::{Control, Outcome, run, trace};
use hopsim_experiment::config::Experiment;
use hopsim_experiment::plan::Plan;
use hopsim_measure::{Column, Table};
use serde_json::{Value, json};

fn outcome(document: &Value) -> Outcome {
    let experiment: Experiment = serde_json::from_value(document.clone()).expect("a valid document");
    run(&Plan::new(&experiment).expect("a valid plan"), &Control::default()).expect("no deadlock")
}

fn table<'a>(outcome: &'a Outcome, name: &str) -> &'a Table {
    &outcome.tables.iter().find(|(other, _)| other == name).expect("it is recorded").1
}

/// A column of whole numbers.
fn counts(table: &Table, name: &str) -> Vec<u64> {
    match &table.iter().find(|(other, _)| other == name).expect("there is such a column").1 {
        Column::U32(values) => values.iter().map(|&value| value.into()).collect(),
        Column::U64(values) => values.clone(),
        _ => panic!("{name} is no count"),
    }
}

fn column(table: &Table, name: &str) -> Vec<f64> {
    match &table.iter().find(|(other, _)| other == name).expect("there is such a column").1 {
        Column::U32(values) => values.iter().map(|&value| value.into()).collect(),
        Column::U64(values) => values.iter().map(|&value| value as f64).collect(),
        Column::F64(values) => values.clone(),
        _ => panic!("{name} is a name"),
    }
}

/// A dragonfly of 36 routers under adversarial traffic, whose links between groups take all.
fn adversarial(routing: &Value) -> Value {
    json!({
        "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2 } },
        "routing": routing,
        "load": 0.6,
        "jobs": [{ "traffic": { "pattern": { "adversarial": { "offset": 1 } } } }],
        "measure": { "warmup": 600, "cycles": 1400, "interval": 200, "streams": ["links", "link_series"] },
    })
}

#[test]
fn intervals_of_the_window_add_up_to_the_links() {
    for routing in [json!({ "minimal": {} }), json!({ "olm": {} })] {
        let outcome = outcome(&adversarial(&routing));
        let (links, series) = (table(&outcome, "links"), table(&outcome, "link_series"));
        let places = column(links, "phits").len();
        assert_eq!(column(series, "phits").len(), places * 10);
        let cycles = column(series, "cycle");
        for (name, length) in
            [("phits", 1.0), ("utilisation", 200.0 / 1400.0), ("occupancy_mean", 200.0 / 1400.0)]
        {
            let mut sums = vec![0.0; places];
            for (row, value) in column(series, name).into_iter().enumerate() {
                if cycles[row] >= 600.0 {
                    sums[row % places] += value * length;
                }
            }
            for (sum, whole) in sums.into_iter().zip(column(links, name)) {
                assert!(
                    (sum.is_nan() && whole.is_nan()) || (sum - whole).abs() < 1e-9 * whole.max(1.0),
                    "{name}: {sum} {whole}"
                );
            }
        }
    }
}

#[test]
fn phits_on_links_are_hops_times_length() {
    // Everything is generated in a burst of one cycle and has arrived long before the end.
    let document = json!({
        "topology": { "mesh": { "sides": [4, 3] } },
        "jobs": [{ "traffic": {
            "pattern": { "uniform": {} }, "process": { "bernoulli": { "load": 0.4 } }, "packet_length": 5,
            "changes": [{ "cycle": 300, "load": 0.0 }],
        } }],
        "measure": { "warmup": 0, "cycles": 2000, "interval": 100, "streams": ["link_series"] },
    });
    let outcome = outcome(&document);
    let summary = |key: &str| outcome.summary[key].as_f64().unwrap();
    let series = table(&outcome, "link_series");
    assert_eq!(outcome.summary["packets_delivered"], outcome.summary["packets_generated"]);
    let stalls = column(series, "credit_stall_fraction");
    let phits = column(series, "phits");
    let between = phits.iter().zip(&stalls).filter(|(_, stall)| !stall.is_nan()).map(|(phits, _)| phits);
    let hops = summary("hops_mean") * summary("packets_delivered");
    assert!((between.sum::<f64>() - 5.0 * hops).abs() < 1e-6 * hops);
}

#[test]
fn a_link_stalls_while_the_buffer_behind_it_is_full() {
    // Router 0 of a line of three sends all it can to router 2, whose node takes as much from its neighbour on the other side.
    let document = json!({
        "topology": { "mesh": { "sides": [3] } },
        "router": { "input_queued": { "buffers": { "network": 16 } } },
        "load": 1.0,
        "jobs": [{ "traffic": { "pattern": { "hotspot": { "node": 2, "fraction": 1.0 } } } }],
        "measure": { "warmup": 0, "cycles": 4000, "interval": 1000, "streams": ["link_series"] },
    });
    let outcome = outcome(&document);
    let series = table(&outcome, "link_series");
    let places = counts(series, "cycle").into_iter().zip(counts(series, "router"));
    let used = places.zip(counts(series, "phits")).zip(column(series, "credit_stall_fraction"));
    let stalls: Vec<(u64, f64)> = used
        .filter(|&(((cycle, _), phits), stalled)| cycle == 3000 && phits > 0 && !stalled.is_nan())
        .map(|(((_, router), _), stalled)| (router, stalled))
        .collect();
    let of = |from: u64| {
        stalls.iter().filter(|&&(router, _)| router == from).map(|&(_, stalled)| stalled).sum::<f64>()
    };
    assert!(of(0) > 0.2, "{stalls:?}");
    // The last link is never full: the node takes what comes.
    assert!(of(2) < 1e-9, "{stalls:?}");
}

/// A row of a table: its columns of numbers by name.
fn rows(table: &Table, names: &[&str]) -> Vec<Vec<u64>> {
    let columns: Vec<Vec<u64>> = names.iter().map(|name| counts(table, name)).collect();
    (0..columns[0].len()).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
}

#[test]
fn every_packet_that_stands_still_is_in_one_tree_or_waits_for_something_else() {
    for routing in [json!({ "minimal": {} }), json!({ "olm": {} }), json!({ "valiant": {} })] {
        let mut document = adversarial(&routing);
        document["measure"]["streams"] = json!(["congestion_trees"]);
        let outcome = outcome(&document);
        let (trees, standing) = (table(&outcome, "congestion_trees"), table(&outcome, "standing_packets"));
        let trees = rows(trees, &["cycle", "packets", "contributors", "other_contributors", "victims"]);
        let parts = ["cycle", "standing", "in_trees", "contending", "crossing", "circling"];
        let censuses = rows(standing, &parts);
        assert_eq!(censuses.len(), 10);
        assert!(censuses.iter().any(|census| census[2] > 0));
        for census in censuses {
            assert_eq!(census[1], census[2..].iter().sum::<u64>());
            let here = trees.iter().filter(|tree| tree[0] == census[0]);
            assert_eq!(census[2], here.map(|tree| tree[1]).sum::<u64>());
        }
        assert!(trees.iter().all(|tree| tree[1] == tree[2..].iter().sum::<u64>()));
    }
}

#[test]
fn the_root_of_a_parking_lot_is_the_link_to_the_node_and_who_goes_elsewhere_is_a_victim() {
    // Most of what the nodes of both switches send is for node 4, the first one of router 1.
    let document = json!({
        "topology": { "mesh": { "sides": [2], "nodes_per_router": 4 } },
        "router": { "input_queued": { "vcs": { "network": 2 }, "buffers": { "network": 32 } } },
        "jobs": [{
            "traffic": {
                "pattern": { "hotspot": { "node": 4, "fraction": 0.7 } },
                "process": { "bernoulli": { "load": 0.8 } },
            },
        }],
        "measure": { "warmup": 2000, "cycles": 2000, "interval": 100, "streams": ["congestion_trees"] },
    });
    let outcome = outcome(&document);
    let trees = rows(
        table(&outcome, "congestion_trees"),
        &["router", "port", "links", "depth", "contributors", "victims"],
    );
    let at_root = trees.iter().filter(|tree| tree[..2] == [1, 0]).count();
    assert!(at_root >= 18, "{trees:?}");
    let of_root: Vec<_> = trees.iter().filter(|tree| tree[..2] == [1, 0]).collect();
    assert!(of_root.iter().all(|tree| tree[2] == 2 && tree[3] == 2), "{of_root:?}");
    assert!(of_root.iter().any(|tree| tree[5] > 0));
}

#[test]
fn the_root_of_a_hot_spot_in_a_mesh_is_the_link_to_its_node() {
    let document = json!({
        "topology": { "mesh": { "sides": [5, 5] } },
        "router": { "input_queued": { "buffers": { "network": 32 } } },
        "load": 0.12,
        "jobs": [{ "traffic": { "pattern": { "hotspot": { "node": 12, "fraction": 0.6 } } } }],
        "measure": { "warmup": 6000, "cycles": 2000, "interval": 200, "streams": ["congestion_trees"] },
    });
    let outcome = outcome(&document);
    let trees = rows(table(&outcome, "congestion_trees"), &["cycle", "router", "port", "packets", "links"]);
    for cycle in (6200..=8000).step_by(200) {
        let here = trees.iter().filter(|tree| tree[0] == cycle);
        let largest = here.max_by(|one, other| one[3].cmp(&other[3])).expect("there is a tree");
        assert_eq!(largest[1..3], [12, 0], "{trees:?}");
        assert!(largest[4] > 5);
    }
}

#[test]
fn waits_add_up_to_the_cycles_from_the_first_chance_to_the_grant() {
    for routing in [json!({ "minimal": {} }), json!({ "olm": {} })] {
        let mut document = adversarial(&routing);
        document["measure"]["streams"] = json!(["waits"]);
        let experiment: Experiment = serde_json::from_value(document).expect("a valid document");
        let plan = Plan::new(&experiment).expect("a valid plan");
        let outcome = run(&plan, &Control::default()).expect("no deadlock");
        let traces = trace(&plan, 2000).expect("no deadlock");
        let grants =
            || traces.iter().flat_map(|trace| &trace.hops).filter(|hop| (600..2000).contains(&hop.granted));
        let pipeline = plan.system.router.pipeline_latency();
        let waited: u64 = grants().map(|hop| u64::from(hop.granted - hop.arrived - pipeline)).sum();
        for name in ["waits", "flow_waits"] {
            let sum = |part: &str| counts(table(&outcome, name), part).iter().sum::<u64>();
            assert_eq!(sum("packets"), grants().count() as u64);
            let parts = ["queued", "room", "bubble", "output", "crossbar"];
            assert_eq!(parts.into_iter().map(sum).sum::<u64>(), waited);
            assert!(["queued", "room", "output", "crossbar"].into_iter().all(|part| sum(part) > 0));
        }
    }
}
