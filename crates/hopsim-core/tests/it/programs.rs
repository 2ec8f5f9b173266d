//! How runs of programs end.

use hopsim_core::engine::{Control, run};
use hopsim_core::error::RunError;
use hopsim_experiment::document;
use hopsim_experiment::plan::Plan;
use hopsim_programs::formats::mpt;
use hopsim_programs::program::Program;
use serde_json::{Value, json};
use std::sync::Arc;

/// Runs a program that nobody has checked on a ring whose links take so many cycles.
fn outcome(records: &str, latency: u32) -> Result<Value, RunError> {
    let text = format!("mpt 1\nname x\nranks 2\ncomm 0 2 0 1\n{records}end\n");
    let trace = Arc::new(mpt::read(text.as_bytes()).unwrap());
    let document = json!({
        "units": { "cycle": "1 ns", "phit": "4 B" },
        "topology": { "ring": { "routers": 4 } },
        "links": { "network": { "latency": latency } },
        "jobs": [{ "program": { "trace": { "file": "x" } } }],
    });
    let experiment = document::from_json(&document.to_string()).unwrap();
    let plan = Plan::with_programs(&experiment, &|_| Ok(Program::Script(trace.clone()))).unwrap();
    run(&plan, &Control::default()).map(|outcome| outcome.jobs[0]["execution_time"].clone())
}

#[test]
fn a_message_that_nobody_receives_is_reported_wherever_it_is() {
    // There, on its way, and in the queue of its node.
    for (bytes, latency) in [(64, 1), (64, 9_000), (4_000_000, 1)] {
        let records = format!("rank 0 1\ns 1 7 {bytes} 0\nrank 1 1\nc 1000\n");
        let Err(RunError::Unmatched(report)) = outcome(&records, latency) else {
            panic!("{bytes} bytes, latency {latency}: not reported")
        };
        assert_eq!(report.count, 1);
        let message = &report.first[0];
        assert_eq!((message.source, message.destination, message.tag, message.bytes), (0, 1, 7, bytes));
    }
}

#[test]
fn a_message_that_somebody_receives_is_not() {
    let time = outcome("rank 0 1\ns 1 7 64 0\nrank 1 1\nr 0 7 64 0\n", 1).unwrap();
    assert!(time.as_u64().unwrap() > 16);
}

#[test]
fn a_search_traverses_all_its_edges_in_its_time_and_takes_longer_on_slow_ranks() {
    let search = |own: Value| {
        let document = json!({
            "units": { "cycle": "2.5 ns", "phit": "4 B" },
            "topology": { "ideal": { "nodes": 4, "latency": 5 } },
            "jobs": [{ "program": { "graph500": { "scale": 6, "query_time": 10.0, "query_times": own } } }],
        });
        let plan = Plan::new(&document::from_json(&document.to_string()).unwrap()).unwrap();
        run(&plan, &Control::default()).unwrap().jobs.remove(0)
    };
    let job = search(json!([]));
    let time = job["execution_time"].as_f64().unwrap();
    let rate = job["traversed_edges_per_second"].as_f64().unwrap();
    // 2⁶ · 16 edges; cycles of 2.5 ns.
    assert!((rate * time * 2.5e-9 / 1024.0 - 1.0).abs() < 1e-12, "{rate} in {time}");
    // All ranks take ten times as long for a query.
    let all = json!([{ "ranks": { "consecutive": { "first": 0, "count": 3 } }, "query_time": 100.0 },
                     { "ranks": { "list": [3] }, "query_time": 100.0 }]);
    let most = |job: &serde_json::Map<String, Value>| job["compute_time_max"].as_u64().unwrap();
    assert_eq!(most(&search(all)), 10 * most(&job));
}
