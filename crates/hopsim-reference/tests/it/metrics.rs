//! Every metric of the engine must be what a second computation makes of the lives of the packets.

use crate::documents::{Document, for_each_measured_plan, streams, trial, with_its_streams};
use hopsim_core::engine::{Control, Outcome, run, run_as};
use hopsim_core::error::RunError;
use hopsim_experiment::plan::Plan;
use hopsim_measure::{Column, Table};
use hopsim_reference::metrics::{COSTS, outcome};
use hopsim_reference::record;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Greatest difference of two reals, relative to the greater of the two and of what they are made of.
const ROUNDING: f64 = 1e-12;

/// Metrics that are always 0 with the mechanisms there are: who is in an intermediate group has left the minimal path before. And what
/// says how a run stopped, which these runs do not ask for (`stopping` compares it).
const NOTHING: [&str; 6] = [
    "misrouted_in_intermediate_group_fraction",
    "misrouted_over_rail_fraction",
    "misrouted_over_network_and_rail_fraction",
    // Every packet between adapters crosses two rails.
    "rail_hops_mean_ci95",
    "warmup_found",
    "stop",
];

/// Values of a metric that are none, zero, or something.
#[derive(Clone, Copy, Default, Debug)]
struct Seen {
    something: usize,
    zero: usize,
    nothing: usize,
}

/// What has been compared, by key of the record or table and column.
#[derive(Default)]
pub struct Coverage {
    seen: RefCell<BTreeMap<String, Seen>>,
    runs: RefCell<usize>,
}

/// A value that is no number if it is absent.
fn real(value: &Value) -> Option<f64> {
    if value.is_null() { Some(f64::NAN) } else { value.as_f64() }
}

/// Whether two reals agree. `parts`: the size of what they are the difference or the spread of.
fn agree(one: f64, other: f64, parts: f64) -> bool {
    if one.is_nan() || other.is_nan() {
        return one.is_nan() && other.is_nan();
    }
    (one - other).abs() <= ROUNDING * one.abs().max(other.abs()).max(parts.abs())
}

impl Coverage {
    fn note(&self, name: &str, value: f64) {
        let mut seen = self.seen.borrow_mut();
        let seen = seen.entry(name.to_owned()).or_default();
        if value.is_nan() {
            seen.nothing += 1;
        } else if value == 0.0 {
            seen.zero += 1;
        } else {
            seen.something += 1;
        }
    }

    /// Compares all metrics of a run.
    pub fn compare(&self, plan: &Plan) -> Result<(), String> {
        let engine = match run_as(plan, &Control::default(), trial(plan)) {
            // Whether a network may lock up is not asked here.
            Err(RunError::Deadlock(_)) => return Ok(()),
            outcome => outcome.map_err(|e| e.to_string())?,
        };
        *self.runs.borrow_mut() += 1;
        self.compare_outcomes(&engine, &outcome(plan, &record(plan)))
    }

    fn compare_outcomes(&self, engine: &Outcome, again: &Outcome) -> Result<(), String> {
        self.compare_records("summary", &engine.summary, &again.summary)?;
        for (one, other) in engine.jobs.iter().zip(&again.jobs) {
            self.compare_records("job", one, other)?;
        }
        same("jobs", &[engine.jobs.len()], &[again.jobs.len()])?;
        let names = |outcome: &Outcome| {
            let mut names: Vec<String> = outcome.tables.iter().map(|(name, _)| name.clone()).collect();
            names.sort();
            names
        };
        same("names of tables", &names(engine), &names(again))?;
        for (name, table) in &engine.tables {
            let other = again.tables.iter().find(|(other, _)| other == name).map(|(_, table)| table);
            self.compare_tables(name, table, other.ok_or("no such table")?)?;
        }
        Ok(())
    }

    fn compare_records(
        &self,
        what: &str,
        engine: &Map<String, Value>,
        again: &Map<String, Value>,
    ) -> Result<(), String> {
        let keys = |record: &Map<String, Value>| {
            let mut keys: Vec<String> =
                record.keys().filter(|key| !COSTS.contains(&key.as_str())).cloned().collect();
            keys.sort();
            keys
        };
        same(&format!("keys of the {what}"), &keys(engine), &keys(again))?;
        for key in keys(engine) {
            let (one, other) = (&engine[&key], &again[&key]);
            let (Some(a), Some(b)) = (real(one), real(other)) else {
                same(&key, &[one], &[other])?;
                continue;
            };
            self.note(&key, a);
            let parts = match key.strip_suffix("_ci95") {
                _ if key.starts_with("misrouting_latency_mean") => real(&again["base_latency_mean"]),
                // The backlog is what was generated without what was injected.
                _ if key == "backlog_growth" => Some(1.0),
                // A spread over its mean.
                _ if key.ends_with("_cov") => Some(1.0),
                Some(mean) => real(&again[mean]),
                None => None,
            };
            let exact = one.is_u64() && one != other;
            // What is rounded up may be one more where the real numbers agree.
            if key == "missing_cycles" && (a - b).abs() <= 1.0 {
                continue;
            }
            if exact || !agree(a, b, parts.filter(|parts| !parts.is_nan()).unwrap_or(0.0)) {
                return Err(format!("{key} of the {what} is {one}, computed again {other}"));
            }
        }
        Ok(())
    }

    /// Compares two tables of a name.
    pub fn compare_tables(&self, name: &str, engine: &Table, again: &Table) -> Result<(), String> {
        let columns = |table: &Table| table.iter().map(|(column, _)| column.clone()).collect::<Vec<String>>();
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        same(&format!("columns of {name}"), &sorted(columns(engine)), &sorted(columns(again)))?;
        for (column, values) in engine {
            let other = again.iter().find(|(other, _)| other == column).map(|(_, values)| values);
            let title = format!("{name}.{column}");
            self.compare_columns(&title, values, other.ok_or("no such column")?)?;
        }
        Ok(())
    }

    fn compare_columns(&self, title: &str, engine: &Column, again: &Column) -> Result<(), String> {
        let values: Vec<f64> = match engine {
            Column::U32(values) => values.iter().map(|&value| value.into()).collect(),
            Column::U64(values) => values.iter().map(|&value| value as f64).collect(),
            Column::F64(values) => values.clone(),
            Column::Text(values) => vec![1.0; values.len()],
            Column::Named { rows, .. } => vec![1.0; rows.len()],
        };
        for value in values {
            self.note(title, value);
        }
        match (engine, again) {
            (Column::U32(one), Column::U32(other)) => same(title, one, other),
            (Column::U64(one), Column::U64(other)) => same(title, one, other),
            (Column::Text(one), Column::Text(other)) => same(title, one, other),
            (Column::Named { names: one, rows }, Column::Named { names: other, rows: again }) => {
                same(title, one, other)?;
                same(title, rows, again)
            }
            (Column::F64(one), Column::F64(other)) => {
                // A detour may take as long as the minimal path, and both some thousand cycles.
                let parts = if title.ends_with("misrouting_latency_mean") { 1e4 } else { 0.0 };
                same(&format!("rows of {title}"), &[one.len()], &[other.len()])?;
                let place = one.iter().zip(other).position(|(&a, &b)| !agree(a, b, parts));
                place.map_or(Ok(()), |place| {
                    Err(format!("{title} is at {place} {}, computed again {}", one[place], other[place]))
                })
            }
            _ => Err(format!("{title} is of another type")),
        }
    }

    /// Panics unless every metric has been something often enough.
    fn check(&self) {
        let seen = self.seen.borrow();
        let is_nothing = |name: &str| NOTHING.iter().any(|nothing| name.contains(nothing));
        let rare: Vec<_> =
            seen.iter().filter(|(name, seen)| (seen.something < 5) != is_nothing(name)).collect();
        assert!(rare.is_empty(), "hardly compared: {rare:?}");
        assert!(*self.runs.borrow() > 150, "{} runs", self.runs.borrow());
    }
}

/// Where two lists differ.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, engine: &[T], again: &[T]) -> Result<(), String> {
    if engine == again {
        return Ok(());
    }
    let place = engine.iter().zip(again).position(|(one, other)| one != other);
    let place = place.unwrap_or(engine.len().min(again.len()));
    Err(format!(
        "{what}: {} and computed again {} values, at {place} {:?} and {:?}",
        engine.len(),
        again.len(),
        engine.get(place),
        again.get(place)
    ))
}

#[test]
fn every_metric_is_what_the_lives_of_the_packets_say() {
    let coverage = Coverage::default();
    for_each_measured_plan((150, 9), |plan| coverage.compare(plan));
    for document in special().into_iter().map(with_its_streams) {
        let plan = document.plan().unwrap();
        coverage.compare(&plan).unwrap_or_else(|reason| panic!("{reason}\nexperiment: {document:?}"));
    }
    coverage.check();
}

#[test]
#[ignore = "takes minutes"]
fn every_metric_is_what_the_lives_of_the_packets_say_in_many_runs() {
    let coverage = Coverage::default();
    for seed in 20..30 {
        for_each_measured_plan((300, seed), |plan| coverage.compare(plan));
    }
    coverage.check();
}

/// Packets of four phits.
fn traffic(pattern: &Value, load: f64) -> Value {
    let process = json!({ "bernoulli": { "load": load } });
    json!([{ "traffic": { "pattern": pattern, "process": process, "packet_length": 4 } }])
}

/// All that can be recorded.
fn measure(warmup: u32, cycles: u32) -> Value {
    let measure = json!({ "warmup": warmup, "cycles": cycles, "batches": 23, "interval": 300 });
    let mut measure = measure.as_object().unwrap().clone();
    measure.insert("streams".into(), json!(streams()));
    Value::Object(measure)
}

/// Several heads of a node that waits for the signal, for nodes of their router, which consume packets in parallel.
fn consumed_in_parallel() -> Value {
    json!({
        "topology": { "fat_tree": { "k": 4, "levels": 1 } },
        "router": { "input_queued": { "vcs": { "injection": 3 }, "consumption": "parallel" } },
        "nic": { "injection_vc": "shortest", "control": { "sat": { "l": 1, "k": 1 } } },
        "jobs": traffic(&json!({ "uniform": {} }), 0.9), "measure": measure(50, 350),
    })
}

/// Packets that take detours over links which are the slower the farther they go.
fn on_a_floor() -> Value {
    json!({
        "topology": { "hyperx": { "sides": [4, 4], "latency_per_step": 3 } }, "links": { "network": { "latency": 2 } },
        "router": { "cioq": {} }, "routing": { "ugal": {} },
        "jobs": traffic(&json!({ "permutation": "bit_complement" }), 0.7), "measure": measure(100, 500),
    })
}

/// What small networks of a few hundred cycles hardly ever show: misroutes inside groups, room kept free in adaptive VCs,
/// several nodes of a router with two injection ports each, heads that wait for each other in a circle, or for an empty VC of a shared
/// buffer, latencies beyond the exact bins, several heads of a node that waits for the signal and are all for nodes of their router, which
/// consume them in parallel, links of a HyperX that are as long as their routers are apart.
fn special() -> Vec<Document> {
    let dragonfly = json!({ "dragonfly": { "p": 2, "a": 3, "h": 1 } });
    let buffers = json!({ "local": 8, "global": 16, "injection": 16, "output": 8 });
    let links = json!({ "local": { "latency": 2 }, "global": { "latency": 5 } });
    let mixed = json!({ "mix": [
        { "weight": 1.0, "pattern": { "adversarial": { "offset": 1 } } },
        { "weight": 1.0, "pattern": { "uniform": {} } },
    ] });
    let through = |routing: Value| {
        json!({
            "topology": dragonfly, "links": links, "router": { "cioq": { "buffers": buffers } }, "routing": routing,
            "jobs": traffic(&mixed, 0.9), "measure": measure(200, 1000),
        })
    };
    let torus = json!({ "torus": { "sides": [5, 4] } });
    let small =
        json!({ "vcs": { "network": 3, "injection": 2 }, "buffers": { "network": 16, "injection": 8 } });
    let restricted = json!({
        "topology": torus, "router": { "input_queued": small }, "routing": { "adaptive": {} },
        "nic": { "control": { "lbr": { "packets": 3 } } },
        "jobs": traffic(&json!({ "permutation": "tornado" }), 1.0), "measure": measure(0, 600),
    });
    let flexible =
        json!({ "vcs": { "local": 8, "global": 6, "management": { "flexvc": {} } }, "buffers": buffers });
    let mut circling = through(json!({ "valiant": {} }));
    circling["router"] = json!({ "cioq": flexible });
    circling["links"] = json!({});
    circling["jobs"] = traffic(&json!({ "adversarial": { "offset": 1 } }), 1.0);
    circling["measure"]["interval"] = json!(10);
    let late = json!({
        "topology": { "ring": { "routers": 5 } }, "jobs": traffic(&json!({ "hotspot": { "node": 1, "fraction": 0.9 } }), 1.0),
        "measure": measure(3000, 2500),
    });
    let two_ports = json!({
        "topology": { "mesh": { "sides": [3, 2], "nodes_per_router": 2 } },
        "router": { "input_queued": { "vcs": { "injection": 4 } } },
        "nic": { "injection_vc": "direction", "injection_ports": 2 },
        "jobs": traffic(&json!({ "hotspot": { "node": 1, "fraction": 0.4 } }), 0.6), "measure": measure(50, 350),
    });
    let crowded = with_shared_buffers(through(json!({ "valiant": {} })));
    let contention = json!({ "trigger": { "contention": { "threshold": 2 } } });
    let in_planes = (1..6).map(|seed| {
        let mut measure = measure(50, 350);
        measure["seed"] = json!(seed);
        Document(json!({
            "topology": { "planes": { "count": 2, "of": { "mesh": { "sides": [3] } }, "cycles_per_phit": 2 } },
            "routing": { "adaptive": {} }, "jobs": traffic(&json!({ "uniform": {} }), 0.6), "measure": measure,
        }))
    });
    let others = vec![
        Document(through(json!({ "olm": contention }))),
        Document(through(json!({ "par": contention }))),
        Document(restricted),
        Document(circling),
        Document(crowded),
        Document(two_ports),
        Document(consumed_in_parallel()),
        Document(late),
        Document(on_a_floor()),
    ];
    others.into_iter().chain(in_planes).collect()
}

/// The same with VCs that share a buffer of a few packets, of which some hold nothing when a head waits for them.
fn with_shared_buffers(mut document: Value) -> Value {
    document["router"]["cioq"]["buffers"] = json!({
        "local": 20, "global": 20, "injection": 16, "output": 8,
        "damq": { "local_reserve": 1, "global_reserve": 1, "allow_deadlock": false },
    });
    document["measure"]["interval"] = json!(10);
    document
}

#[test]
fn packets_that_have_no_reason_to_leave_their_minimal_path_do_not_count_as_misrouted() {
    // Nothing is ever so full, or so contended, as these ask for.
    let minimal = [
        json!({ "minimal": {} }),
        json!({ "ugal": { "threshold": 1_000_000 } }),
        json!({ "piggyback": { "threshold": 1_000_000, "saturation": { "factor": 1000.0, "threshold": 1000.0 } } }),
        json!({ "source_adaptive": { "threshold": 1_000_000, "saturation": { "factor": 1000.0, "threshold": 1000.0 } } }),
        json!({ "olm": { "trigger": { "contention": { "threshold": 1000 } } } }),
    ];
    let record = |routing: &Value| {
        let pattern = json!({ "adversarial": { "offset": 1 } });
        let traffic = json!({ "pattern": pattern, "process": { "bernoulli": { "load": 0.3 } } });
        let document = json!({
            "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2 } }, "routing": routing,
            "jobs": [{ "traffic": traffic }], "measure": { "warmup": 100, "cycles": 900, "streams": ["generation"], "interval": 100 },
        });
        run(&Document(document).plan().unwrap(), &Control::default()).unwrap()
    };
    let shares = |outcome: &Outcome| {
        let record = &outcome.summary;
        let keys = record.keys().filter(|key| key.starts_with("misrout") && !key.ends_with("ci95"));
        keys.map(|key| record[key].as_f64().unwrap()).collect::<Vec<f64>>()
    };
    for routing in minimal {
        let outcome = record(&routing);
        assert_eq!(shares(&outcome), [0.0; 9], "{routing}");
        assert!(outcome.summary["hops_mean"].as_f64().unwrap() <= 3.0);
    }
    // Every packet takes a detour, and sets out on it at once.
    let all = record(&json!({ "valiant": {} })).summary;
    assert_eq!(
        [&all["misrouted_fraction"], &all["misrouted_at_injection_fraction"]],
        [&json!(1.0), &json!(1.0)]
    );
}
