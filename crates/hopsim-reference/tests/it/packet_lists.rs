//! Packets that are given one by one: engine and reference agree, and the packets that some traffic draws, given as a list, live the same
//! lives.

use crate::documents::{
    Document, for_each_flit_plan, for_each_measured_flit_plan, for_each_measured_plan, trial,
};
use crate::engine::{check_whole, compare};
use crate::metrics::Coverage;
use hopsim_core::engine::trace_as;
use hopsim_cycles::choices::{SelfTraffic, WhenFull};
use hopsim_cycles::jobs::JobPlan;
use hopsim_experiment::plan::Plan;
use hopsim_random::{Purpose, Stream};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The experiment of a plan, in which each job that draws packets has a list instead: `packets` makes it from the number of the job.
/// Nothing if a job would have no packets.
fn with_lists(plan: &Plan, packets: impl Fn(usize, &JobPlan) -> Vec<Value>) -> Option<Plan> {
    let mut document = serde_json::to_value(&plan.experiment).unwrap();
    for (index, job) in plan.system.jobs.iter().enumerate() {
        let list = packets(index, job);
        if list.is_empty() {
            return None;
        }
        let length = document["jobs"][index]["traffic"]["packet_length"].as_u64().unwrap_or(5);
        document["jobs"][index]["traffic"] = json!({ "packet_list": list, "packet_length": length });
    }
    Document(document).plan().ok()
}

/// Packets at random times, of random lengths up to the longest of the plan and to random nodes of their job, now and then several
/// at once.
fn random_packets(plan: &Plan, index: usize, job: &JobPlan) -> Vec<Value> {
    let mut draws = Stream::new(plan.experiment.measure.seed, Purpose::Pattern, 1000 + index as u64);
    let end = plan.experiment.measure.warmup.cycles() + plan.experiment.measure.cycles;
    let last = end - job.traffic().map_or(0, |traffic| traffic.start);
    let (nodes, longest) = (job.nodes(), plan.system.longest_packet());
    let to_itself = plan.experiment.semantics.self_traffic == Some(SelfTraffic::Router);
    let mut packets = Vec::new();
    for _ in 0..u64::from(last) * nodes.len() as u64 / u64::from(6 * longest) {
        let mut node = || nodes[draws.below(nodes.len() as u32) as usize];
        let (source, destination) = (node(), node());
        if source == destination && !to_itself {
            continue;
        }
        // So that several packets of a node are due at once, or have no length of their own.
        let cycle = draws.below(last) / 8 * 8;
        let length = 1 + draws.below(longest);
        let keys = json!({ "cycle": cycle, "source": source, "destination": destination });
        let mut packet = keys;
        if length > 1 {
            packet["length"] = json!(length);
        }
        packets.push(packet);
    }
    packets
}

/// How often plans have something.
#[derive(Default)]
struct Seen(RefCell<BTreeMap<&'static str, u32>>);

impl Seen {
    fn count(&self, plan: &Plan) {
        let nic = &plan.system.nic;
        let has = [
            ("plans", true),
            ("several lengths", plan.system.shortest_packet() < plan.system.longest_packet()),
            ("nodes that wait", nic.when_full == WhenFull::Wait),
            ("nodes that drop", nic.when_full != WhenFull::Wait && nic.source_queue < u32::MAX),
            ("late jobs", plan.system.jobs.iter().filter_map(JobPlan::traffic).any(|job| job.start > 0)),
            ("packets to themselves", plan.system.nic.sends_to_itself()),
        ];
        for (name, _) in has.iter().filter(|(_, has)| *has) {
            *self.0.borrow_mut().entry(name).or_default() += 1;
        }
    }

    fn check(&self, names: &[&str]) {
        let seen = self.0.borrow();
        for name in names {
            assert!(seen.get(name).is_some_and(|&count| count > 2), "{name}: {seen:?}");
        }
    }
}

#[test]
fn engine_and_reference_agree_on_packets_that_are_given() {
    let (coverage, seen) = (Coverage::default(), Seen::default());
    let each = |plan: &Plan| {
        let Some(plan) = with_lists(plan, |index, job| random_packets(plan, index, job)) else {
            return Ok(());
        };
        seen.count(&plan);
        check_whole(&plan, &coverage)
            .map_err(|difference| format!("{difference}\n{}", json!(plan.experiment)))
    };
    for_each_measured_plan((80, 51), each);
    for_each_measured_flit_plan((60, 52), each);
    seen.check(&[
        "plans",
        "several lengths",
        "nodes that wait",
        "nodes that drop",
        "late jobs",
        "packets to themselves",
    ]);
}

/// The packets that a job has generated in a run of the reference, as a list. Nothing of a job whose packets are answered, or do not
/// come at times of their own.
fn generated(plan: &Plan, index: usize, job: &JobPlan) -> Vec<Value> {
    let Some(traffic) = job.traffic() else { return Vec::new() };
    let is_held_back = plan.system.nic.source_queue < u32::MAX || traffic.process.waits();
    if is_held_back || traffic.process.synchronised().is_some() || job.request_reply() {
        return Vec::new();
    }
    let lives = hopsim_reference::record(plan).lives;
    let own = lives.iter().filter(|life| life.job(plan) == index).map(|life| {
        json!({
            "cycle": life.trace.generated - traffic.start, "source": life.trace.source,
            "destination": life.trace.destination, "length": life.length,
        })
    });
    own.collect()
}

#[test]
fn packets_that_have_been_drawn_live_the_same_lives_when_they_are_given() {
    let seen = Seen::default();
    for_each_flit_plan((150, 53), |plan, cycles| {
        let Some(given) = with_lists(plan, |index, job| generated(plan, index, job)) else { return Ok(()) };
        seen.count(&given);
        let lives = |plan| trace_as(plan, cycles, trial(plan)).map_err(|error| error.to_string());
        compare(&lives(&given)?, &lives(plan)?)
    });
    seen.check(&["plans", "several lengths", "packets to themselves"]);
}
