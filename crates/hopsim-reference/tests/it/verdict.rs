//! Verdicts of runs long enough to have one are what a second computation makes of the lives of the packets, key by key.

use crate::documents::Document;
use hopsim_core::engine::{Control, Outcome, run};
use hopsim_reference::metrics::outcome;
use hopsim_reference::record;
use serde_json::{Map, Value, json};

/// The keys that justify a verdict.
const KEYS: [&str; 10] = [
    "verdict",
    "backlog_growth",
    "backlog_growth_ci95",
    "source_stall_fraction",
    "nodes_falling_behind",
    "packet_latency_drift",
    "accepted_load_drift",
    "packet_latency_effective_samples",
    "transient_cycles",
    "missing_cycles",
];

fn row(routers: u32, traffic: &Value, nic: &Value, window: (u32, u32)) -> Document {
    let mut jobs = vec![json!({ "traffic": traffic, "placement": { "nodes": { "first": 0, "count": 3 } } })];
    let process = json!({ "bernoulli": { "load": 0.3 } });
    let quiet = json!({ "process": process, "packet_length": 2 });
    let beside = json!({ "nodes": { "first": 3, "count": routers - 3 } });
    jobs.push(json!({ "traffic": quiet, "placement": beside }));
    Document(json!({
        "topology": { "mesh": { "sides": [routers] } },
        "links": { "network": { "latency": 2 } },
        "nic": nic, "jobs": jobs,
        "measure": { "warmup": window.0, "cycles": window.1, "streams": ["nodes"] },
    }))
}

/// Three nodes of which two send to the first, at so many phits per cycle each, beside two that are never in trouble.
fn lot(load: f64, nic: &Value, window: (u32, u32)) -> Document {
    let process = json!({ "bernoulli": { "load": load } });
    let pattern = json!({ "hotspot": { "node": 0, "fraction": 1.0 } });
    row(5, &json!({ "pattern": pattern, "process": process, "packet_length": 2 }), nic, window)
}

fn compared(document: &Document) -> Outcome {
    let plan = document.plan().unwrap();
    let engine = run(&plan, &Control::default()).unwrap();
    let again = outcome(&plan, &record(&plan));
    let records = |outcome: &Outcome| [std::slice::from_ref(&outcome.summary), &outcome.jobs[..]].concat();
    for (one, other) in records(&engine).iter().zip(&records(&again)) {
        for key in KEYS {
            let [one, other] = [&one[key], &other[key]];
            let close = match (one.as_f64(), other.as_f64()) {
                (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1e-3),
                _ => one == other,
            };
            assert!(close, "{key} is {one}, computed again {other}: {document:?}");
        }
    }
    engine
}

fn verdict(record: &Map<String, Value>) -> &str {
    record["verdict"].as_str().unwrap()
}

#[test]
fn verdicts_are_computed_a_second_time() {
    let wait = json!({ "source_queue": { "packets": 8 }, "when_full": "wait" });
    let drop = json!({ "source_queue": { "packets": 8 } });
    let none = json!({});
    for (load, nic, window, expected) in [
        (0.3, &none, (500, 4000), "steady"),
        (0.3, &wait, (500, 4000), "steady"),
        (0.8, &none, (500, 4000), "saturated"),
        (0.8, &wait, (4000, 4000), "saturated"),
        (0.8, &drop, (4000, 4000), "saturated"),
        (0.3, &none, (500, 150), "too few samples"),
        (0.3, &none, (500, 99), "too few samples"),
    ] {
        let outcome = compared(&lot(load, nic, window));
        assert_eq!(verdict(&outcome.summary), expected, "{load} {nic} {window:?}");
        if window.1 == 4000 {
            // Who has links of his own is not blamed for the others.
            assert_eq!([0, 1].map(|job| verdict(&outcome.jobs[job])), [expected, "steady"], "{load} {nic}");
        }
    }
}

#[test]
fn a_load_that_changes_in_the_window_is_not_converged() {
    let traffic = json!({
        "pattern": { "uniform": {} }, "process": { "bernoulli": { "load": 0.15 } }, "packet_length": 2,
        "changes": [{ "cycle": 2500, "load": 0.4 }],
    });
    let outcome = compared(&row(5, &traffic, &json!({}), (500, 4000)));
    assert_eq!(verdict(&outcome.jobs[0]), "not converged");
    assert!(outcome.jobs[0]["accepted_load_drift"].as_f64().unwrap() > 0.5);
    assert!(outcome.jobs[0]["missing_cycles"].as_u64().is_none_or(|cycles| cycles > 0));
}

#[test]
fn bursts_in_step_never_fall_behind() {
    let traffic = json!({
        "pattern": { "hotspot": { "node": 0, "fraction": 1.0 } },
        "process": { "synchronised_bursts": { "packets": 12 } }, "packet_length": 2,
    });
    let outcome = compared(&row(5, &traffic, &json!({}), (500, 6000)));
    assert_eq!(verdict(&outcome.jobs[0]), "steady");
    assert_eq!(
        [&outcome.jobs[0]["nodes_falling_behind"], &outcome.jobs[0]["backlog_growth"]],
        [&Value::Null; 2]
    );
}
