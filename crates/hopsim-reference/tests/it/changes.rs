//! Links that slow down during the run: the engine takes its state apart and puts it together in the other system, the reference
//! goes on with other links.

use crate::engine::compare;
use hopsim_core::engine::{Control, Trial, run_changing, trace_as, trace_changing};
use hopsim_core::error::RunError;
use hopsim_cycles::change::Change;
use hopsim_experiment::plan::{Epoch, Plan};
use hopsim_measure::trace::PacketTrace;
use hopsim_reference::Simulator;
use serde_json::{Value, json};

const CYCLES: u32 = 1_500;

/// A tree of six routers, whose first two links have this latency and these cycles per phit. It has one way between any two: which of
/// several is shortest might change with the links, and a packet behind another that is leaving has asked in the engine, and not in
/// the reference.
fn graph(latency: u32, pace: u32) -> Value {
    let slow =
        |from: u32, to: u32| json!({ "between": [from, to], "latency": latency, "cycles_per_phit": pace });
    let link = |from: u32, to: u32| json!({ "between": [from, to], "latency": 5, "cycles_per_phit": 1 });
    let edges = [slow(0, 1), slow(1, 2), link(2, 3), link(1, 4), link(2, 5)];
    json!({
        "topology": { "graph": { "edges": edges, "nodes_per_router": 2 } },
        "routing": { "up_down": {} },
    })
}

/// A network some links of which have this latency, and in a graph these cycles per phit.
fn document(seed: u64, (latency, pace): (u32, u32)) -> Value {
    let links = json!({ "network": { "latency": latency } });
    let mut document = match seed % 4 {
        0 => graph(latency, pace),
        1 => json!({ "topology": { "mesh": { "sides": [3, 3] } }, "links": links }),
        2 => {
            json!({ "topology": { "torus": { "sides": [4, 3] } }, "links": links, "routing": { "adaptive": {} } })
        }
        _ => json!({
            "topology": { "dragonfly": { "p": 1, "a": 4, "h": 1 } },
            "links": { "local": { "latency": 3 }, "global": { "latency": latency } },
            "routing": { "olm": {} },
        }),
    };
    let router = if (seed / 4).is_multiple_of(2) { "cioq" } else { "input_queued" };
    document["router"] = json!({ router: {} });
    document["load"] = json!(0.1 + 0.15 * (seed % 5) as f64);
    document["measure"] = json!({ "warmup": 0, "cycles": CYCLES, "seed": seed });
    document
}

fn plan(document: &Value) -> Plan {
    Plan::new(&serde_json::from_value(document.clone()).unwrap()).unwrap_or_else(|error| panic!("{error}"))
}

/// A plan that takes over in some cycle, while all links stay in order.
fn epoch(at: u32, plan: Plan) -> Epoch {
    Epoch { at, plan, change: Change::default() }
}

/// A run some of whose links become slower twice.
struct Slowing {
    first: Plan,
    changes: Vec<Epoch>,
}

impl Slowing {
    fn new(seed: u64) -> Self {
        let later = [(400, (9, 1)), (900, (30, 3))];
        let changes = later.map(|(cycle, links)| epoch(cycle, plan(&document(seed, links))));
        Self { first: plan(&document(seed, (5, 1))), changes: changes.into() }
    }

    fn engine(&self, trial: Trial) -> Vec<PacketTrace> {
        trace_changing(&self.first, &self.changes, CYCLES, trial).unwrap()
    }

    fn reference(&self) -> Vec<PacketTrace> {
        let mut simulator = Simulator::new(&self.first);
        for cycle in 0..CYCLES {
            if let Some(epoch) = self.changes.iter().find(|epoch| epoch.at == cycle) {
                simulator.change(&epoch.plan);
            }
            simulator.step();
        }
        simulator.into_traces()
    }
}

#[test]
fn engine_and_reference_agree_on_every_packet_when_links_slow_down() {
    for seed in 0..40 {
        let run = Slowing::new(seed);
        let (engine, reference) = (run.engine(Trial::default()), run.reference());
        compare(&engine, &reference).unwrap_or_else(|difference| panic!("seed {seed}: {difference}"));
        let steady = trace_as(&run.first, CYCLES, Trial::default()).unwrap();
        assert!(compare(&engine, &steady).is_err(), "seed {seed}: nothing has changed");
        let until = |lives: &[PacketTrace]| {
            let delivered = lives.iter().filter_map(|life| life.delivered);
            delivered.filter(|&at| at < 400).count()
        };
        assert_eq!(until(&engine), until(&steady), "seed {seed}: before anything changes");
    }
}

#[test]
fn links_slow_down_alike_on_any_cut_and_number_of_threads() {
    for seed in 0..8 {
        let run = Slowing::new(seed);
        let whole = run.engine(Trial::default());
        for threads in [1, 3] {
            let trial = Trial { finest: true, threads, varies: true, ..Trial::default() };
            assert_eq!(run.engine(trial), whole, "seed {seed}");
        }
    }
}

#[test]
fn what_is_measured_goes_on_when_links_slow_down() {
    let run = Slowing::new(2);
    let summary = run_changing(&run.first, &run.changes, &Control::default()).unwrap().summary;
    let lives = run.engine(Trial::default());
    let delivered = lives.iter().filter_map(|life| life.delivered).filter(|&at| at < CYCLES).count() as u64;
    assert_eq!(summary["packets_delivered"].as_u64(), Some(delivered));
}

#[test]
fn other_routers_and_faster_links_are_refused() {
    let refused = |change: Value| {
        let run =
            run_changing(&plan(&document(1, (5, 1))), &[epoch(100, plan(&change))], &Control::default());
        assert!(matches!(run, Err(RunError::Snapshot)), "{change}");
    };
    refused(document(1, (4, 1)));
    refused(document(5, (4, 1)));
    refused(document(3, (50, 1)));
}

#[test]
fn a_run_that_finds_its_warm_up_cannot_go_on_with_other_links_and_one_with_a_stream_can() {
    let slows_down = |key: &str, value: Value| {
        let with = |links| {
            let mut document = document(1, links);
            document["measure"][key] = value.clone();
            plan(&document)
        };
        run_changing(&with((5, 1)), &[epoch(100, with((9, 1)))], &Control::default())
    };
    assert!(matches!(slows_down("warmup", json!("auto")), Err(RunError::Snapshot)));
    assert!(slows_down("streams", json!(["waits"])).is_ok());
}
