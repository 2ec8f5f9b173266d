//! Random experiments: small networks, every option of the model, loads up to saturation.

mod router;
mod routing;

use hopsim_core::config::Experiment;
use hopsim_core::plan::Plan;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use router::router;
use routing::routing;
use serde_json::{Value, json};
use std::ops::RangeInclusive;

/// An experiment as JSON, which is also how a failing one is shown.
#[derive(Clone)]
pub struct Document(pub Value);

impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl Document {
    /// The plan, or why there is none.
    pub fn plan(&self) -> Result<Plan, String> {
        let experiment: Experiment = serde_json::from_value(self.0.clone()).map_err(|e| e.to_string())?;
        Plan::new(&experiment).map_err(|e| e.to_string())
    }

    /// Cycles to run.
    pub fn cycles(&self) -> u32 {
        self.0["measure"]["cycles"].as_u64().unwrap() as u32
    }
}

/// Most heads that are asked in an experiment: large routers run for fewer cycles, but for 500.
const ATTEMPTS: u32 = 1_000_000;
/// How many ordinary numbers are drawn for one extreme number.
pub const ORDINARY: u32 = 15;
/// Networks with several extremes: many VCs and ports, long links and packets.
pub const EXTREME: u32 = 1;

/// Runs `test` on the plans of `cases` documents drawn from `seed`; a failure shows the simplest one found.
pub fn for_each_plan((cases, common, seed): (u32, u32, u8), test: impl Fn(&Plan, u32) -> Result<(), String>) {
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 500,
        max_global_rejects: cases,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]));
    let outcome = runner.run(&document(common), |document| {
        let plan = document.plan().map_err(TestCaseError::reject)?;
        let attempts =
            plan.network.routers * plan.network.layout.slots() as u32 * plan.router.allocator.iterations;
        test(&plan, document.cycles().min(500.max(ATTEMPTS / attempts))).map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, document)) => panic!("{reason}\nexperiment: {document:?}"),
        Err(TestError::Abort(reason)) => panic!("too many refused documents: {reason}"),
    }
}

/// A whole experiment.
fn document(common: u32) -> impl Strategy<Value = Document> {
    let network = (topology(common), links(common), router(common), routing());
    let workload = (nic_and_semantics(), jobs(common), any::<u16>(), 500..3000u32);
    (network, workload).prop_map(|(network, workload)| {
        let (topology, links, router, routing) = network;
        let (topology, routing) = routing::fit(topology, routing);
        let (nic, (jobs, parts), seed, cycles) = workload;
        let mut document = json!({
            "topology": topology, "links": links, "routing": routing,
            "nic": nic.0, "semantics": nic.1, "jobs": jobs,
            "measure": { "warmup": 0, "cycles": cycles, "batches": 1, "seed": seed, "watchdog": 1_000_000 },
        });
        document["router"] = router.build(&document);
        deal_nodes(&mut document, parts);
        Document(document)
    })
}

fn one_of(names: &'static [&'static str]) -> impl Strategy<Value = Value> {
    select(names).prop_map(|name| json!(name))
}

/// `common` small numbers for one of a few large ones.
fn mostly(
    common: u32,
    range: RangeInclusive<u32>,
    rare: &'static [u32],
) -> impl Strategy<Value = u32> + Clone {
    prop_oneof![common => range, 1 => select(rare)]
}

fn topology(common: u32) -> impl Strategy<Value = Value> {
    let shape = (mostly(common, 1..=3, &[9]), 1..=4u32, 1..=3u32).prop_flat_map(|(p, a, h)| {
        let most = if p > 3 { 2 } else { (a * h + 1).min(6) };
        (Just((p, a, h)), 2..=most, any::<bool>())
    });
    (shape, one_of(&["palmtree", "consecutive"])).prop_map(|(((p, a, h), groups, full), arrangement)| {
        let full = full && p <= 3 && a * h <= 6;
        let groups = if full { a * h + 1 } else { groups };
        json!({ "dragonfly": { "p": p, "a": a, "h": h, "groups": groups, "arrangement": arrangement } })
    })
}

fn links(common: u32) -> impl Strategy<Value = Value> {
    let link = || mostly(common, 1..=20, &[63, 64, 400]).prop_map(|latency| json!({ "latency": latency }));
    (link(), link(), link()).prop_map(
        |(injection, local, global)| json!({ "injection": injection, "local": local, "global": global }),
    )
}

fn nic_and_semantics() -> impl Strategy<Value = (Value, Value)> {
    let queue = select(vec![json!("unbounded"), json!({ "packets": 0 }), json!({ "packets": 3 })]);
    let nic = (queue, one_of(&["shortest", "destination", "random"]));
    let semantics = (
        one_of(&["link", "idle_node"]),
        one_of(&["transfer", "speedup"]),
        one_of(&["grant", "request"]),
        one_of(&["serial", "unlimited"]),
        one_of(&["network", "buffer"]),
        one_of(&["grant", "departure"]),
    );
    (nic, semantics).prop_map(|((queue, vc), (ejection, hold, pointer, link, count, latency))| {
        let nic = json!({ "source_queue": queue, "injection_vc": vc });
        let semantics = json!({
            "ejection": ejection, "output_hold": hold, "input_pointer": pointer,
            "injection_link": link, "injection_count": count, "injection_latency": latency,
        });
        (nic, semantics)
    })
}

fn pattern() -> impl Strategy<Value = Value> {
    let uniform = || json!({ "uniform": {} });
    let ahead = json!({ "adversarial": { "offset": 1 } });
    select(vec![
        uniform(),
        ahead.clone(),
        json!({ "adversarial": { "offset": "h" } }),
        json!({ "adversarial_consecutive": {} }),
        json!({ "adversarial_local": { "offset": 1 } }),
        json!({ "random_permutation": {} }),
        json!({ "mix": [{ "weight": 0.3, "pattern": uniform() }, { "weight": 0.7, "pattern": ahead }] }),
    ])
}

fn load() -> impl Strategy<Value = f64> {
    prop_oneof![0.05..1.0f64, Just(1.0)].prop_map(|load| (load * 100.0).round() / 100.0)
}

fn process() -> impl Strategy<Value = Value> {
    let bursty = (load(), select(vec![1.0, 2.0, 5.0, 30.0]));
    prop_oneof![
        2 => load().prop_map(|load| json!({ "bernoulli": { "load": load } })),
        1 => bursty.prop_map(|(load, length)| json!({ "bursty": { "load": load, "burst_length": length } })),
    ]
}

/// Changes of load or pattern within 500 cycles, which every run has.
fn changes() -> impl Strategy<Value = Value> {
    let change = (1..200u32, prop_oneof![Just(0.0), load()], any::<bool>());
    prop::collection::vec(change, 0..=2).prop_map(|changes| {
        let mut cycle = 0;
        let change = |(after, load, pattern): (u32, f64, bool)| {
            cycle += after;
            let mut change = json!({ "cycle": cycle, "load": load });
            if pattern {
                change["pattern"] = json!({ "uniform": {} });
            }
            change
        };
        changes.into_iter().map(change).collect()
    })
}

fn job(common: u32) -> impl Strategy<Value = Value> {
    let replies = prop_oneof![
        3 => Just(None),
        1 => Just(Some(json!({}))),
        1 => (1..=9u32).prop_map(|most| Some(json!({ "outstanding": most }))),
    ];
    let workload = (pattern(), process(), changes(), replies);
    (workload, mostly(common, 1..=12, &[70])).prop_map(|((pattern, process, changes, replies), length)| {
        let mut traffic = json!({
            "pattern": pattern, "process": process, "packet_length": length, "changes": changes,
        });
        if let Some(replies) = replies {
            traffic["request_reply"] = replies;
        }
        json!({ "traffic": traffic })
    })
}

/// One job or two, and into how many equal parts the nodes are dealt out: a part without a job stays idle.
fn jobs(common: u32) -> impl Strategy<Value = (Value, usize)> {
    prop_oneof![
        4 => job(common).prop_map(|job| (json!([job]), 1)),
        1 => job(common).prop_map(|job| (json!([job]), 2)),
        2 => (job(common), job(common), 2..=3usize).prop_map(|(one, two, parts)| (json!([one, two]), parts)),
    ]
}

/// Whether some job has request-reply.
fn answers(document: &Value) -> bool {
    let jobs = document["jobs"].as_array().unwrap();
    jobs.iter().any(|job| job["traffic"].get("request_reply").is_some())
}

/// Deals the nodes out in turn. A job on some of the nodes can only be trusted to find destinations with
/// traffic that does not depend on groups.
fn deal_nodes(document: &mut Value, parts: usize) {
    let shape = &document["topology"]["dragonfly"];
    let nodes: u64 = ["p", "a", "groups"].iter().map(|&key| shape[key].as_u64().unwrap()).product();
    let jobs = document["jobs"].as_array_mut().unwrap();
    for (index, job) in jobs.iter_mut().enumerate().filter(|_| parts > 1) {
        let mine: Vec<u64> = (index as u64..nodes).step_by(parts).collect();
        job["placement"] = json!({ "list": mine });
        if job["traffic"]["pattern"].get("random_permutation").is_none() {
            job["traffic"]["pattern"] = json!({ "uniform": {} });
        }
    }
}
