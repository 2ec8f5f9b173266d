//! What holds of programs on any network, whatever they do.

use crate::documents::{for_each_program, library};
use hopsim_core::engine::{Control, run};
use hopsim_experiment::document;
use hopsim_experiment::plan::Plan;
use serde_json::{Value, json};
use std::cell::Cell;

/// Execution time of every job with a program, by name; none if the run does not end well.
fn times(document: &Value) -> Option<Vec<(String, u64)>> {
    let experiment = document::from_json(&document.to_string()).unwrap();
    let plan = Plan::with_programs(&experiment, &library).unwrap();
    let outcome = run(&plan, &Control::default()).ok()?;
    let job = |record: &serde_json::Map<String, Value>| {
        Some((record["job"].as_str()?.to_owned(), record.get("execution_time")?.as_u64()?))
    };
    Some(outcome.jobs.iter().filter_map(job).collect())
}

/// The document of a plan without what can make a rank gain from a delay: overheads, rendezvous, receives from anyone, graphs.
/// None if nothing is left.
fn monotone(plan: &Plan) -> Option<Value> {
    let mut document = serde_json::to_value(&plan.experiment).unwrap();
    let jobs = document["jobs"].as_array_mut().unwrap();
    jobs.retain(|job| job["program"].get("list").is_some());
    for job in jobs.iter_mut() {
        let host = job["host"].as_object_mut().unwrap();
        // Without contention no packet has a time stamp.
        for key in ["send_overhead", "receive_overhead", "eager_limit", "any_source", "nic_queue"] {
            host.remove(key);
        }
    }
    (!jobs.is_empty()).then_some(document)
}

/// The same on an ideal network.
fn on_ideal(document: &Value, nodes: u32, latency: u32) -> Value {
    json!({
        "units": document["units"], "jobs": document["jobs"], "measure": { "max_cycles": 1_000_000 },
        "topology": { "ideal": { "nodes": nodes, "latency": latency } },
    })
}

/// Looks at random programs until a law has been seen to hold so often.
fn for_each_monotone(seed: u8, least: u32, law: impl Fn(&Plan, &Value) -> Result<bool, String>) {
    let held = Cell::new(0);
    for_each_program((200, seed), |plan| {
        let Some(document) = monotone(plan) else { return Ok(()) };
        let holds = law(plan, &document)?;
        held.set(held.get() + u32::from(holds));
        Ok(())
    });
    assert!(held.get() >= least, "seen in {} cases only", held.get());
}

#[test]
fn a_network_with_minimal_paths_is_never_faster_than_one_without_contention() {
    for_each_monotone(21, 10, |plan, document| {
        if plan.experiment.routing.name() != "minimal" || document["semantics"]["injection_link"] != "serial"
        {
            return Ok(false);
        }
        let free = document::from_json(&with(document, "contention", json!("none")).to_string()).unwrap();
        // Slow links have no time of their own without contention.
        if Plan::with_programs(&free, &library).is_err() {
            return Ok(false);
        }
        let (Some(real), Some(free)) = (times(document), times(&with(document, "contention", json!("none"))))
        else {
            return Ok(false);
        };
        let is_slower = real.iter().zip(&free).all(|(real, free)| real.0 == free.0 && real.1 >= free.1);
        if is_slower { Ok(true) } else { Err(format!("{real:?} is faster than {free:?}")) }
    });
}

#[test]
fn a_longer_latency_never_shortens_a_program() {
    for_each_monotone(22, 60, |plan, document| {
        let on = |latency| times(&on_ideal(document, plan.system.network.nodes, latency)).unwrap();
        let (short, long) = (on(7), on(31));
        let is_longer = short.iter().zip(&long).all(|(short, long)| short.1 <= long.1);
        if is_longer { Ok(true) } else { Err(format!("{short:?} becomes {long:?}")) }
    });
}

#[test]
fn on_an_ideal_network_a_job_takes_as_long_alone_as_beside_others() {
    for_each_monotone(23, 5, |plan, document| {
        let together = on_ideal(document, plan.system.network.nodes, 12);
        let all = times(&together).unwrap();
        for job in &all {
            let alone = times(&with(&together, "only", json!([job.0]))).unwrap();
            if alone != [job.clone()] {
                return Err(format!("{job:?} is {alone:?} alone"));
            }
        }
        Ok(all.len() > 1)
    });
}

fn with(document: &Value, key: &str, value: Value) -> Value {
    let mut document = document.clone();
    document[key] = value;
    document
}
