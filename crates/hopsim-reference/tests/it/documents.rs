//! Random experiments: small networks, every option of the model, loads up to saturation.

mod flits;
mod graph;
mod measure;
mod network;
mod programs;
mod router;
mod routing;
mod traffic;

pub use flits::{
    for_each_flit_plan, for_each_flit_plan_on_spines, for_each_flit_program, for_each_measured_flit_plan,
};
pub use graph::planes;
use hopsim_core::engine::Trial;
use hopsim_experiment::config::Experiment;
use hopsim_experiment::plan::Plan;
pub use measure::{streams, with_its_streams};
pub use network::classes;
use network::{control, fit_control, links, topology};
use programs::Workload;
pub use programs::{LIMIT, library};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use router::router;
use routing::{routing, routing_of_one_class};
use serde_json::{Value, json};
use std::ops::RangeInclusive;
use traffic::jobs;

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
        Plan::with_programs(&experiment, &programs::library).map_err(|e| e.to_string())
    }

    /// Cycles to run.
    pub fn cycles(&self) -> u32 {
        self.0["measure"]["cycles"].as_u64().unwrap() as u32
    }
}

/// A way of carrying out a simulation: cut as finely as possible, on one to four threads, drawn with the seed of the document.
pub fn trial(plan: &Plan) -> Trial {
    let seed = plan.experiment.measure.seed as usize;
    Trial {
        finest: true,
        threads: 1 + seed % 4,
        varies: seed / 8 % 2 == 1,
        reversed: seed / 4 % 2 == 1,
        ..Trial::default()
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
    for_each_document(&document(common), (cases, seed), |document| {
        let plan = document.plan().map_err(TestCaseError::reject)?;
        let attempts = plan.system.network.routers
            * plan.system.network.layout.slots() as u32
            * plan.system.cioq().allocator.iterations;
        test(&plan, document.cycles().min(500.max(ATTEMPTS / attempts))).map_err(TestCaseError::fail)
    });
}

/// The same for plans that measure: warm-up, batches, intervals and record streams differ too.
pub fn for_each_measured_plan((cases, seed): (u32, u8), test: impl Fn(&Plan) -> Result<(), String>) {
    for_each_document(&measure::measured(document(ORDINARY)), (cases, seed), |document| {
        let plan = document.plan().map_err(TestCaseError::reject)?;
        test(&plan).map_err(TestCaseError::fail)
    });
}

/// Runs `test` on documents.
fn for_each_document<D: std::fmt::Debug>(
    documents: &impl Strategy<Value = D>,
    (cases, seed): (u32, u8),
    test: impl Fn(D) -> Result<(), TestCaseError>,
) {
    let mut config =
        Config { cases, failure_persistence: None, max_global_rejects: cases, ..Config::default() };
    // Fewer where the environment says so.
    config.max_shrink_iters = config.max_shrink_iters.min(500);
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]));
    match runner.run(documents, test) {
        Ok(()) => {}
        Err(TestError::Fail(reason, document)) => panic!("{reason}\nexperiment: {document:?}"),
        Err(TestError::Abort(reason)) => panic!("too many refused documents: {reason}"),
    }
}

/// Runs `test` on the plans of documents in which jobs run programs.
pub fn for_each_program(cases: (u32, u8), test: impl Fn(&Plan) -> Result<(), String>) {
    for_each_document(&programs::document(ORDINARY), cases, |document| {
        let plan = document.plan().map_err(TestCaseError::reject)?;
        test(&plan).map_err(TestCaseError::fail)
    });
}

/// A whole experiment.
fn document(common: u32) -> impl Strategy<Value = Document> {
    document_with(common, Just(Vec::new()))
}

/// A whole experiment, in which the first jobs run programs instead of drawing packets where there are such.
fn document_with(
    common: u32,
    programs: impl Strategy<Value = Vec<Option<Workload>>>,
) -> impl Strategy<Value = Document> {
    let network = (topology(common), links(common), router(common), (routing(), routing_of_one_class()));
    let workload = (nic_and_semantics(), control(), jobs(common), any::<u16>(), 500..3000u32);
    (network, workload, programs).prop_map(|(network, workload, programs)| {
        let (topology, links, router, routings) = network;
        let (nic, control, (jobs, parts), seed, cycles) = workload;
        let (topology, routing) = routing::fit(topology, routings);
        let routing = routing::spread(&topology, routing::turn_once(&topology, routing, seed), seed / 7);
        let control = fit_control(control, &topology, &routing);
        let mut document = json!({
            "links": links.build(&topology), "topology": topology, "routing": routing,
            "nic": nic.0, "semantics": nic.1, "jobs": jobs,
            "measure": { "warmup": 0, "cycles": cycles, "batches": 1, "seed": seed, "watchdog": 1_000_000 },
        });
        if !control.is_null() {
            document["nic"]["control"] = control;
        }
        traffic::fit(&mut document, parts);
        programs::make_room(&mut document, &programs);
        document["router"] = router.build(&document);
        programs::place(&mut document, &programs);
        network::fit_ejection(&mut document);
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

fn nic_and_semantics() -> impl Strategy<Value = (Value, Value)> {
    let queue = select(vec![json!("unbounded"), json!({ "packets": 0 }), json!({ "packets": 3 })]);
    let nic = (
        queue,
        one_of(&["shortest", "destination", "round_robin", "random", "direction", "direction", "direction"]),
        1..=2u32,
        one_of(&["drop", "drop", "wait"]),
    );
    let semantics = (
        one_of(&["link", "idle_node"]),
        one_of(&["transfer", "speedup"]),
        one_of(&["grant", "request"]),
        one_of(&["serial", "unlimited"]),
        one_of(&["network", "buffer"]),
        one_of(&["grant", "departure", "admission"]),
        (one_of(&["none", "none", "router"]), one_of(&["links", "routers"])),
    );
    (nic, semantics).prop_map(
        |((queue, vc, ports, full), (ejection, hold, pointer, link, count, latency, (own, hops)))| {
            // One injection port, unless the direction says which.
            let ports = if vc == "direction" { ports } else { 1 };
            let nic = json!({
                "source_queue": queue, "injection_vc": vc, "injection_ports": ports, "when_full": full,
            });
            let semantics = json!({
                "ejection": ejection, "output_hold": hold, "input_pointer": pointer,
                "injection_link": link, "injection_count": count, "injection_latency": latency,
                "self_traffic": own, "hop_count": hops,
            });
            (nic, semantics)
        },
    )
}
