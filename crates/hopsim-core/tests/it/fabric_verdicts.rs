//! Verdicts on InfiniBand fabrics whose shares have a closed form: the sink of the default channel adapter takes 13 Gb/s.

use hopsim_core::engine::{Control, Outcome, run_any};
use hopsim_experiment::document;
use hopsim_experiment::plan::AnyPlan;
use hopsim_experiment::plan::programs::no_files;
use hopsim_measure::Column;
use serde_json::{Value, json};

fn outcome(text: &str) -> Outcome {
    let point = document::points(text, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
    let plan = AnyPlan::new(&point.experiment, &no_files).unwrap_or_else(|error| panic!("{error}"));
    run_any(&plan, &Control::default()).unwrap()
}

/// Verdict, number of nodes that fall behind, and growth of the backlog \[Gb/s\].
fn verdict(outcome: &Outcome) -> (&str, &Value, Option<f64>) {
    let summary = &outcome.summary;
    let growth = summary["backlog_growth_gbps"].as_f64();
    (summary["verdict"].as_str().unwrap(), &summary["nodes_falling_behind"], growth)
}

/// Which accounts fall behind by the table of flows.
fn behind(outcome: &Outcome) -> Vec<bool> {
    let (_, table) = outcome.tables.iter().find(|(name, _)| name == "flows").unwrap();
    match &table.iter().find(|(name, _)| name == "falls_behind").unwrap().1 {
        Column::F64(values) => values.iter().map(|&value| value > 0.5).collect(),
        other => panic!("{other:?}"),
    }
}

const MEASURE: &str = "measure = { time = { warmup = \"1 ms\", window = \"4 ms\" }, streams = [\"flows\"] }";

/// Four nodes at a switch, of which three send their messages to the first: each has a third of 13 Gb/s.
fn hot_spot(rate: &str, gaps: &str) -> Outcome {
    outcome(&format!(
        "topology.fat_tree = {{ k = 4, levels = 1 }}\nrouter = \"infiniband\"\n{MEASURE}\n[[jobs]]\n\
         messages = {{ pattern = {{ hotspot = {{ node = 0, fraction = 1.0 }} }}, rate = \"{rate}\", gaps = \"{gaps}\" }}\n"
    ))
}

/// Two nodes at each of two switches; all send to the last one, those of the first switch over one link.
fn parking_lot(flow: &str) -> Outcome {
    let flow = |source: u32| format!("{{ source = {source}, destination = 3{flow} }}");
    outcome(&format!(
        "topology.graph = {{ edges = [{{ between = [0, 1] }}], nodes_per_router = 2 }}\nrouter = \"infiniband\"\n\
         {MEASURE}\njobs = [{{ flows = [{}, {}, {}] }}]\n",
        flow(0),
        flow(1),
        flow(2)
    ))
}

#[test]
fn nodes_that_draw_more_than_their_share_fall_behind() {
    for gaps in ["exponential", "even"] {
        let calm = hot_spot("2.2 Gb/s", gaps);
        let (name, nodes, growth) = verdict(&calm);
        assert_eq!((name, nodes), ("steady", &json!(0)), "{:?}", calm.summary);
        assert!(growth.unwrap().abs() < 0.1, "{growth:?}");
        assert_eq!(calm.summary["missing_s"], json!(0.0));
        // Three times 6.5 Gb/s, of which 13 get there; the first node sends what it draws elsewhere.
        let full = hot_spot("6.5 Gb/s", gaps);
        let (name, nodes, growth) = verdict(&full);
        assert_eq!((name, nodes), ("saturated", &json!(3)), "{:?}", full.summary);
        assert!((growth.unwrap() - 6.5).abs() < 0.5, "{growth:?}");
        assert_eq!(full.summary["missing_s"], Value::Null);
        assert_eq!(behind(&full), [false, true, true, true]);
    }
}

#[test]
fn flows_that_do_not_get_their_rate_fall_behind() {
    // The output to the last node serves the link and the third flow in turn.
    let calm = parking_lot(", rate = \"2.6 Gb/s\"");
    assert_eq!((verdict(&calm).0, verdict(&calm).1), ("steady", &json!(0)), "{:?}", calm.summary);
    // 5.2 Gb/s are less than the half of 13 that the third flow could have, which leaves 3.9 for each of the others.
    let full = parking_lot(", rate = \"5.2 Gb/s\"");
    let (name, nodes, growth) = verdict(&full);
    assert_eq!((name, nodes), ("saturated", &json!(2)), "{:?}", full.summary);
    assert!((growth.unwrap() - 2.6).abs() < 0.1, "{growth:?}");
    assert_eq!(behind(&full), [true, true, false]);
}

#[test]
fn two_flows_of_a_node_are_one_node_that_falls_behind() {
    let text = "topology.fat_tree = { k = 4, levels = 1 }\nrouter = \"infiniband\"\n\
        measure.time = { warmup = \"1 ms\", window = \"4 ms\" }\njobs = [{ flows = [\
        { source = 0, destination = 3, rate = \"9 Gb/s\" }, { source = 0, destination = 2, rate = \"9 Gb/s\" }] }]\n";
    let found = outcome(text);
    assert_eq!((verdict(&found).0, verdict(&found).1), ("saturated", &json!(1)));
}

#[test]
fn flows_that_always_have_something_to_send_offer_no_load() {
    let greedy = parking_lot("");
    assert_eq!(verdict(&greedy), ("steady", &Value::Null, None), "{:?}", greedy.summary);
    assert_eq!(behind(&greedy), [false; 3]);
    // Nor do those that end by themselves, though they have a rate.
    let finite = parking_lot(", rate = \"5.2 Gb/s\", bytes = 100_000_000");
    assert_eq!(verdict(&finite), ("steady", &Value::Null, None), "{:?}", finite.summary);
}

#[test]
fn a_flow_that_recovers_from_congestion_for_the_whole_window_has_not_converged() {
    let text = |flows: &str| {
        format!(
            "topology.fat_tree = {{ k = 4, levels = 1 }}\n\
             router.infiniband.congestion_control = {{ reaction = {{ aimd = {{ increase = 0.004, decrease = 0.9, \
             period = \"100 us\", least = 0.01 }} }} }}\n\
             measure.time = {{ warmup = \"1 ms\", window = \"10 ms\" }}\njobs = [{{ flows = [{flows}] }}]\n"
        )
    };
    let alone = outcome(&text("{ source = 1, destination = 0 }"));
    assert_eq!(verdict(&alone), ("steady", &Value::Null, None), "{:?}", alone.summary);
    // Two others congest its sink at first, so that its rate begins near the least.
    let others =
        "{ source = 2, destination = 0, end = \"1 ms\" }, { source = 3, destination = 0, end = \"1 ms\" }";
    let recovers = outcome(&text(&format!("{{ source = 1, destination = 0 }}, {others}")));
    assert_eq!(verdict(&recovers), ("not converged", &Value::Null, None), "{:?}", recovers.summary);
    assert!(recovers.summary["accepted_load_drift"].as_f64().unwrap() > 0.5, "{:?}", recovers.summary);
    assert_eq!(recovers.summary["missing_s"], json!(0.01));
}

#[test]
fn a_short_window_says_how_much_longer_it_should_be() {
    let text = "topology.fat_tree = { k = 4, levels = 1 }\nrouter = \"infiniband\"\n\
        measure.time = { warmup = \"100 us\", window = \"63 us\" }\n\
        jobs = [{ flows = [{ source = 0, destination = 3 }] }]\n";
    let found = outcome(text).summary;
    // 63 µs at 13 Gb/s are 49.99 packets of 2048 B, in as many of the hundred parts: a hundred packets take twice as long.
    assert_eq!(found["verdict"], json!("too few samples"));
    let packets = found["packets_delivered"].as_f64().unwrap();
    let missing = found["missing_s"].as_f64().unwrap();
    assert!((missing - 63e-6 * (100.0 / packets - 1.0)).abs() < 2e-9, "{missing} with {packets} packets");
}

#[test]
fn programs_on_fabrics_have_no_verdict() {
    let text = "topology.fat_tree = { k = 4, levels = 1 }\nrouter = \"infiniband\"\n\
        jobs = [{ program = { collective = { kind = \"barrier\" } } }]\n";
    let found = outcome(text).summary;
    assert_eq!((&found["verdict"], &found["backlog_growth_gbps"]), (&Value::Null, &Value::Null));
}
