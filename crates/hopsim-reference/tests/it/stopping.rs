//! Runs that find out by themselves how long they must be: they measure what a plain run measures with the warm-up and the window at
//! which they stop, and stop where a second computation of the rule does.

use crate::documents::{Document, for_each_measured_plan, library};
use hopsim_core::engine::{Control, Outcome, run};
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::document::from_json;
use hopsim_experiment::plan::Plan;
use hopsim_experiment::plan::means::means;
use hopsim_reference::metrics::stopped;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// Columns that say how a run stopped, which a plain run leaves empty.
const HOW: [&str; 4] = ["warmup_found", "stop", "stop_relative_ci", "stop_attempts"];

/// The same experiment with another measurement.
fn measured(plan: &Plan, change: impl Fn(&mut serde_json::Map<String, Value>)) -> Option<Plan> {
    let mut document = serde_json::to_value(&plan.experiment).unwrap();
    change(document["measure"].as_object_mut().unwrap());
    // A pilot may be too short for the interval.
    Plan::with_programs(&from_json(&document.to_string()).unwrap(), &library).ok()
}

/// The same experiment, which now finds its warm-up or its window or both, by its seed, without what a network that settles has not.
fn adaptive(plan: &Plan) -> Option<Plan> {
    let mut experiment = plan.experiment.clone();
    for traffic in experiment.jobs.iter_mut().filter_map(|job| job.traffic.as_mut()) {
        traffic.changes.clear();
    }
    let plan = Plan::with_programs(&experiment, &library).ok()?;
    let (seed, cycles) = (experiment.measure.seed as usize, experiment.measure.cycles);
    let jobs: Vec<usize> = (0..plan.system.jobs.len()).collect();
    let classes = plan.system.network.link_classes;
    let metrics: Vec<String> = means(&plan, &jobs).into_iter().map(|mean| mean.name(classes)).collect();
    measured(&plan, |measure| {
        measure.insert("batches".into(), json!(experiment.measure.batches.max(2)));
        if seed / 2 % 4 > 0 {
            // Otherwise there is next to no state that could be shared.
            let streams = measure["streams"].as_array_mut().unwrap();
            streams.retain(|stream| {
                RecordStream::UNSAVED.iter().all(|unsaved| stream != &json!(unsaved.name()))
            });
            measure.remove("packets");
        }
        if !seed.is_multiple_of(3) {
            // The means that people ask for, and now and then any other one.
            let metric =
                if seed.is_multiple_of(4) { seed / 4 % metrics.len() } else { [0, 3, 5][seed / 4 % 3] };
            let width = [0.01, 0.05, 0.1, 0.25][seed / 12 % 4];
            measure.insert(
                "stop".into(),
                json!({ "relative_ci": width, "metric": metrics[metric], "max_cycles": 5 * cycles + cycles / 3 }),
            );
        } else if seed.is_multiple_of(2) {
            measure.insert("batches".into(), json!(experiment.measure.batches.clamp(2, 100)));
            let packets = [1, 30, 300, 1000, 3000][seed / 6 % 5];
            measure.insert(
                "end".into(),
                json!({ "packets": packets, "max_cycles": 100 + 5 * cycles + cycles / 3 }),
            );
        }
        if seed % 3 < 2 && !seed.is_multiple_of(12) {
            measure.insert("warmup".into(), json!("auto"));
        }
    })
}

/// The same as a plain run with the warm-up and the window of a record.
fn plain(plan: &Plan, outcome: &Outcome) -> Plan {
    measured(plan, |measure| {
        measure.remove("stop");
        measure.remove("end");
        measure.insert("warmup".into(), outcome.summary["warmup_cycles"].clone());
        measure.insert("cycles".into(), outcome.summary["cycles"].clone());
    })
    .unwrap()
}

/// A run as text, to the last bit, without how it stopped.
fn text(mut outcome: Outcome) -> String {
    for record in std::iter::once(&mut outcome.summary).chain(&mut outcome.jobs) {
        for key in HOW {
            assert!(record.remove(key).is_some(), "{key}");
        }
    }
    format!("{outcome:?}")
}

#[test]
fn a_run_that_stops_by_itself_is_the_plain_run_of_its_window() {
    let seen = RefCell::new(BTreeMap::<String, u32>::new());
    for_each_measured_plan((80, 31), |plan| {
        let Some(plan) = adaptive(plan) else { return Ok(()) };
        let Ok(stopped) = run(&plan, &Control::default()) else { return Ok(()) };
        let saved =
            !plan.experiment.measure.streams.iter().any(|stream| RecordStream::UNSAVED.contains(stream));
        let why = ["stop", "warmup_found"].map(|key| stopped.summary[key].as_str().unwrap_or("-").to_owned());
        let several = stopped.summary["stop_attempts"].as_u64() > Some(1);
        for key in [&why[0], &why[1], &format!("saved {saved}, several {several}")] {
            *seen.borrow_mut().entry(key.clone()).or_default() += 1;
        }
        let [warmup, cycles] =
            ["warmup_cycles", "cycles"].map(|key| stopped.summary[key].as_u64().unwrap_or(0));
        if warmup + cycles < u64::from(plan.experiment.measure.interval) {
            // A plain run that is over before its first interval is refused.
            return Ok(());
        }
        let again = run(&plain(&plan, &stopped), &Control::default()).map_err(|error| error.to_string())?;
        for key in HOW {
            if again.summary[key] != Value::Null {
                return Err(format!("{key} is {} of a plain run", again.summary[key]));
            }
        }
        let (stopped, again) = (text(stopped), text(again));
        if stopped == again { Ok(()) } else { Err(format!("{stopped}\n{again}")) }
    });
    let seen = seen.into_inner();
    println!("{seen:?}");
    for what in ["reached", "delivered", "max cycles", "saturated", "latency", "accepted load", "not found"] {
        assert!(seen.contains_key(what), "{what} did not occur: {seen:?}");
    }
    assert!(
        ["saved true, several true", "saved false, several true"].iter().all(|&key| seen.contains_key(key)),
        "{seen:?}"
    );
}

/// Engine and reference stop a run of the same plan in the same way.
fn compare(plan: &Plan) -> Result<(), String> {
    let Ok(outcome) = run(plan, &Control::default()) else { return Ok(()) };
    let (again, summary) = (stopped(plan), &outcome.summary);
    let (why, width) = again.why.map_or((Value::Null, None), |(why, width)| (why.into(), width));
    let close = match (summary["stop_relative_ci"].as_f64(), width) {
        (Some(one), Some(other)) => (one - other).abs() <= 1e-9 * one.abs().max(1e-3),
        (None, None) => true,
        _ => false,
    };
    let attempts = summary["stop_attempts"].as_u64().unwrap_or(1) as usize;
    let same = [&summary["warmup_cycles"], &summary["warmup_found"], &summary["cycles"], &summary["stop"]]
        == [
            &again.warmup.0.into(),
            &again.warmup.1.into(),
            &again.windows[again.windows.len() - 1].into(),
            &why,
        ];
    if same && close && attempts == again.windows.len() {
        return Ok(());
    }
    let keys = ["warmup_cycles", "warmup_found", "cycles", "stop", "stop_relative_ci", "stop_attempts"];
    Err(format!("{:?}\n{again:?}", keys.map(|key| (key, &summary[key]))))
}

#[test]
fn stops_are_computed_a_second_time() {
    for_each_measured_plan((10, 32), |plan| adaptive(plan).map_or(Ok(()), |plan| compare(&plan)));
}

/// A ring of twelve nodes, which cannot carry all that they could send.
fn ring(load: f64, nic: &Value, measure: &Value) -> Plan {
    Document(json!({
        "topology": { "ring": { "routers": 12 } }, "links": { "network": { "latency": 2 } }, "load": load,
        "jobs": [{ "traffic": { "packet_length": 2 } }], "nic": nic, "measure": measure,
    }))
    .plan()
    .unwrap()
}

#[test]
fn a_saturated_point_stops_at_once_where_its_latency_grows_for_ever() {
    let bounded = json!({ "source_queue": { "packets": 4 } });
    for (metric, nic, why) in [
        ("packet_latency_mean", json!({}), "saturated"),
        ("injection_latency_mean", json!({}), "saturated"),
        ("network_latency_mean", json!({}), "reached"),
        ("accepted_load", json!({}), "reached"),
        ("packet_latency_mean", bounded, "reached"),
    ] {
        let stop = json!({ "relative_ci": 0.1, "metric": metric });
        let plan = ring(0.95, &nic, &json!({ "warmup": "auto", "cycles": 1_000, "stop": stop }));
        let outcome = run(&plan, &Control::default()).unwrap();
        let found = ["verdict", "stop"].map(|key| outcome.summary[key].as_str().unwrap());
        assert_eq!(found, ["saturated", why], "{metric} {nic}");
        let by = if nic == json!({}) { "accepted load" } else { "latency" };
        assert_eq!(outcome.summary["warmup_found"], by, "{metric} {nic}");
        if metric == "packet_latency_mean" {
            compare(&plan).unwrap();
        }
    }
}

#[test]
fn what_is_measured_is_the_stretch_behind_the_one_whose_interval_was_narrow() {
    let measure = |warmup: u64, cycles: u64| json!({ "warmup": warmup, "cycles": cycles });
    let stop = json!({ "relative_ci": 0.01, "metric": "packet_latency_mean" });
    let mut searched = measure(1_000, 2_000);
    searched["stop"] = stop;
    let found = run(&ring(0.4, &json!({}), &searched), &Control::default()).unwrap().summary;
    let number = |record: &serde_json::Map<String, Value>, key: &str| record[key].as_u64().unwrap();
    let window = number(&found, "cycles");
    assert_eq!((&found["stop"], number(&found, "warmup_cycles")), (&json!("reached"), 1_000 + window));
    let relative = |warmup: u64, cycles: u64| {
        let summary =
            run(&ring(0.4, &json!({}), &measure(warmup, cycles)), &Control::default()).unwrap().summary;
        let half = summary["packet_latency_mean_ci95"].as_f64().unwrap();
        half / summary["packet_latency_mean"].as_f64().unwrap()
    };
    assert!(relative(1_000, window) <= 0.01);
    assert!(window == 2_000 || relative(1_000, 2_000) > 0.01);
    assert_eq!(found["stop_relative_ci"], json!(relative(1_000 + window, window)));
}

#[test]
fn progress_counts_what_is_simulated_and_a_run_can_be_cancelled() {
    let stop = json!({ "relative_ci": 0.005 });
    let plan = ring(0.4, &json!({}), &json!({ "warmup": 1_000, "cycles": 2_000, "stop": stop }));
    let control = Control::default();
    let outcome = run(&plan, &control).unwrap();
    assert!(outcome.summary["stop_attempts"].as_u64() > Some(1));
    let [done, total] = [&control.done, &control.total].map(|count| count.load(Ordering::Relaxed));
    assert_eq!(done, total);
    // All windows, the last one twice and another one behind it, and the warm-up once: what is left of it for each of them is short.
    let last = outcome.summary["cycles"].as_u64().unwrap();
    assert!(
        (1_000 + 2_000 + 3 * last..1_500 + 2_000 + 4 * last).contains(&done),
        "{done} cycles, the last {last}"
    );
    assert_eq!(outcome.summary["stop"], "reached");
    let control = Control::default();
    control.cancel.store(true, Ordering::Relaxed);
    assert!(run(&plan, &control).is_err());
}
