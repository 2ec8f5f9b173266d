//! Neither what is compiled for a run, nor how the network is cut into regions, nor on how many threads they are simulated changes
//! the life of any packet.

use hopsim_core::engine::{Control, Trial, run_as, trace_as, trace_in_every_mode};
use hopsim_core::error::RunError;
use hopsim_experiment::plan::Plan;
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn plan(document: &Value) -> Plan {
    Plan::new(&serde_json::from_value(document.clone()).unwrap()).unwrap()
}

/// Fails if the modes that fit are others, or if a packet lives differently in one of them or on a network that is not cut.
fn assert_same_lives(document: &Value, modes: &[&str]) {
    let traces = trace_in_every_mode(&plan(document), 1_500).expect("no deadlock");
    assert_eq!(traces.iter().map(|(mode, _)| *mode).collect::<Vec<_>>(), modes, "{document}");
    let expected = &traces[0].1[0];
    assert!(expected.len() > 100);
    for (mode, lives) in &traces {
        assert!(lives.iter().all(|lives| lives == expected), "{mode}: {document}");
    }
}

fn documents(routings: &[&str]) -> Vec<Value> {
    let mut all = Vec::new();
    for load in [0.1, 0.5, 1.0] {
        for &routing in routings {
            for (groups, length, crossbar) in [(9, 8, 3), (4, 5, 4), (9, 4, 0)] {
                for iterations in [1, 3] {
                    all.push(json!({
                        "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2, "groups": groups } },
                        "links": { "local": { "latency": 3 }, "global": { "latency": 17 } },
                        "router": { "cioq": {
                            "buffers": { "local": 16, "global": 32, "injection": 24, "output": 17 },
                            "crossbar_latency": crossbar, "allocator": { "iterations": iterations }
                        } },
                        "routing": { routing: {} },
                        "jobs": [{ "traffic": { "packet_length": length } }],
                        "load": load
                    }));
                }
            }
        }
    }
    all
}

#[test]
fn every_mode_that_fits_gives_every_packet_the_same_life() {
    for mut document in documents(&["minimal", "valiant"]) {
        let all = [
            "Ordered",
            "OrderedFull",
            "OrderedGeneral",
            "OrderedCompat",
            "Unordered",
            "UnorderedFull",
            "General",
            "Full",
        ];
        assert_same_lives(&document, &all);
        document["compat"] = json!("fogsim");
        assert_same_lives(&document, &["OrderedCompat", "General", "Full"]);
    }
}

#[test]
fn in_cubes_every_mode_that_fits_gives_every_packet_the_same_life() {
    for topology in [json!({ "torus": { "sides": [4, 4] } }), json!({ "mesh": { "sides": [4, 3] } })] {
        for (load, routing) in [0.1, 0.5, 1.0].into_iter().flat_map(|l| [(l, "minimal"), (l, "adaptive")]) {
            let document = json!({
                "topology": topology,
                "router": { "input_queued": { "vcs": { "network": 3 }, "buffers": { "injection": 64 } } },
                "routing": { routing: {} },
                "jobs": [{ "traffic": { "packet_length": 8 } }],
                "load": load
            });
            let modes: &[&str] = match (routing, topology.get("mesh")) {
                ("adaptive", Some(_)) => &["OrderedFull", "UnorderedFull", "Full"],
                ("adaptive", None) => &["UnorderedFull", "Full"],
                _ => &["Unordered", "UnorderedFull", "General", "Full"],
            };
            assert_same_lives(&document, modes);
        }
    }
}

#[test]
fn with_everything_too_the_plain_mode_gives_every_packet_the_same_life() {
    for document in documents(&["olm", "piggyback"]) {
        assert_same_lives(&document, &["OrderedFull", "UnorderedFull", "Full"]);
    }
}

fn changed(changes: &Value) -> Value {
    let mut document = json!({
        "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2 } },
        "links": { "local": { "latency": 4 }, "global": { "latency": 23 } },
        "load": 0.6,
        "measure": { "warmup": 300, "cycles": 901, "batches": 3, "interval": 50,
            "streams": ["generation", "links", "nodes", "occupancy", "routers"] }
    });
    let (object, changes) = (document.as_object_mut().unwrap(), changes.as_object().unwrap());
    object.extend(changes.clone());
    document
}

fn changed_documents() -> Vec<Value> {
    let traffic = |traffic: Value| json!([{ "traffic": traffic }]);
    [
        json!({}),
        json!({ "routing": { "valiant": {} }, "links": { "global": { "latency": 1 } } }),
        json!({ "routing": { "piggyback": {} } }),
        json!({ "routing": { "source_adaptive": {} }, "compat": "fogsim" }),
        json!({ "routing": { "olm": { "trigger": { "ectn": { "period": 40 } } } } }),
        json!({ "routing": { "par": {} }, "jobs": traffic(json!({ "request_reply": { "outstanding": 4 } })) }),
        json!({ "topology": { "torus": { "sides": [4, 3, 2] } }, "links": { "network": { "latency": 1 } } }),
        json!({ "topology": { "fat_tree": { "k": 3, "levels": 3 } }, "links": { "network": { "latency": 2 } } }),
        json!({ "jobs": traffic(json!({ "changes": [{ "cycle": 333, "load": 0.2 }, { "cycle": 700, "load": 0.9 }] })) }),
    ]
    .iter()
    .map(changed)
    .collect()
}

/// As text, in which what is not a number equals itself.
fn measured(plan: &Plan, trial: Trial) -> String {
    format!("{:?}", run_as(plan, &Control::default(), trial).expect("no deadlock"))
}

#[test]
fn results_do_not_depend_on_the_cut() {
    for document in changed_documents() {
        let plan = plan(&document);
        let finest = Trial { finest: true, ..Trial::default() };
        assert!(measured(&plan, Trial::default()) == measured(&plan, finest), "{document}");
        for (mode, [cut, whole]) in trace_in_every_mode(&plan, 1_201).expect("no deadlock") {
            assert!(cut == whole, "{mode}: {document}");
        }
    }
}

#[test]
fn results_do_not_depend_on_threads_or_on_the_order_of_mail() {
    for document in changed_documents() {
        let plan = plan(&document);
        let alone = (measured(&plan, Trial::default()), trace_as(&plan, 1_201, Trial::default()));
        for threads in [1, 2, 3, 5, 8] {
            for finest in [false, true] {
                let trial = Trial { finest, threads, varies: !finest, reversed: finest, ..Trial::default() };
                let team = (measured(&plan, trial), trace_as(&plan, 1_201, trial));
                assert!(alone == team, "{trial:?}: {document}");
            }
        }
    }
}

#[test]
fn results_show_regions_that_run_too_far_ahead() {
    let plan = plan(&changed(&json!({ "load": 1.0, "links": { "global": { "latency": 1 } } })));
    let stretched = Trial { finest: true, threads: 2, stretched: 1, ..Trial::default() };
    assert!(measured(&plan, Trial::default()) != measured(&plan, stretched));
}

#[test]
fn a_run_on_several_threads_can_be_stopped() {
    let plan = plan(&changed(&json!({})));
    let control = Control::default();
    control.cancel.store(true, std::sync::atomic::Ordering::Relaxed);
    let trial = Trial { finest: true, threads: 3, ..Trial::default() };
    assert!(matches!(run_as(&plan, &control, trial), Err(RunError::Cancelled)));
}

#[test]
fn a_panic_in_one_region_ends_the_run_on_all_threads() {
    for (threads, panics) in [(2, 0), (2, 8), (4, 3)] {
        let plan = plan(&changed(&json!({})));
        let trial = Trial { finest: true, threads, panics: Some(panics), ..Trial::default() };
        let (told, hears) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let run = AssertUnwindSafe(|| run_as(&plan, &Control::default(), trial).map(|_| ()));
            told.send(catch_unwind(run).is_err())
        });
        assert_eq!(hears.recv_timeout(std::time::Duration::from_secs(20)), Ok(true), "{trial:?}");
    }
}
