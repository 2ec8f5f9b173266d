//! What the product proves of plans: by what they are free of deadlock.

use hopsim_experiment::plan::Plan;
use hopsim_experiment::proof::{Verdict, deadlock_line, prove};
use serde_json::{Value, json};
use std::time::Instant;

fn plan(document: &Value) -> Plan {
    let experiment = serde_json::from_value(document.clone()).expect("a valid document");
    Plan::new(&experiment).unwrap_or_else(|e| panic!("{document}: {e}"))
}

#[test]
fn table() {
    let df = json!({ "dragonfly": { "p": 2, "a": 4, "h": 2 } });
    let df4 = json!({ "dragonfly": { "p": 2, "a": 4, "h": 2, "groups": 4 } });
    let torus = json!({ "torus": { "sides": [4, 4] } });
    let mesh = json!({ "mesh": { "sides": [4, 4] } });
    let hx = json!({ "hyperx": { "sides": [4, 4] } });
    let tree = json!({ "fat_tree": { "k": 3, "levels": 3 } });
    let ring = json!({ "graph": { "edges": (0..7).map(|i| json!({ "between": [i, (i + 1) % 7] })).collect::<Vec<_>>() } });
    let mut all = Vec::new();
    for t in [&df, &df4] {
        for r in ["minimal", "valiant", "ugal", "piggyback", "source_adaptive", "olm", "par"] {
            all.push((t, r, json!({ "cioq": {} })));
            all.push((
                t,
                r,
                json!({ "cioq": { "vcs": { "local": 5, "global": 3, "management": { "flexvc": {} } } } }),
            ));
        }
    }
    for t in [&torus, &mesh] {
        for r in ["minimal", "adaptive", "up_down", "valiant", "ugal"] {
            all.push((t, r, json!({ "input_queued": {} })));
        }
    }
    for r in ["minimal", "adaptive", "up_down", "valiant", "ugal"] {
        all.push((&hx, r, json!({ "input_queued": {} })));
    }
    for r in ["minimal", "adaptive", "up_down"] {
        all.push((&tree, r, json!({ "input_queued": {} })));
    }
    for r in ["minimal", "valiant", "up_down", "ugal"] {
        all.push((&ring, r, json!({ "input_queued": {} })));
    }
    all.push((
        &torus,
        "minimal",
        json!({ "input_queued": { "vcs": { "bubble": 0, "allow_deadlock": true } } }),
    ));
    for (topology, routing, router) in all {
        for reply in [false, true] {
            let mut document =
                json!({ "topology": topology, "routing": { routing: {} }, "router": router, "load": 0.1 });
            if reply {
                document["jobs"] = json!([{ "traffic": { "request_reply": {} } }]);
                if router["cioq"]["vcs"]["management"].is_object() {
                    document["router"]["cioq"]["vcs"]["local"] = json!(9);
                    document["router"]["cioq"]["vcs"]["global"] = json!(5);
                    document["router"]["cioq"]["vcs"]["reply"] = json!({ "local": 4, "global": 2 });
                    if ["ugal", "piggyback", "olm", "par", "source_adaptive"].contains(&routing) {
                        document["router"]["cioq"]["vcs"]["reply"] = json!({ "local": 2, "global": 1 });
                    }
                }
            }
            let experiment = serde_json::from_value(document.clone()).expect("a valid document");
            let Ok(plan) = Plan::new(&experiment) else { continue };
            let start = Instant::now();
            let verdict = prove(&plan);
            let heads = if let Verdict::Proved(proof) = verdict { proof.heads } else { 0 };
            println!(
                "{routing} {topology} {} reply={reply}: {} [{heads} heads, {:?}]",
                document["router"],
                deadlock_line(&plan, &verdict, 1),
                start.elapsed()
            );
        }
    }
}
