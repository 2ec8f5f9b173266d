//! How long indices of congestion control are at their limit: what the record and the table of flows say is what is counted tick by
//! tick in the reference.

use crate::fabrics::workload::Players;
use crate::verdicts::roles;
use hopsim_core::engine::{Control, Outcome, run_any};
use hopsim_experiment::document;
use hopsim_experiment::plan::programs::no_files;
use hopsim_experiment::plan::{AnyPlan, FabricPlan};
use hopsim_infiniband_reference::Reference;
use hopsim_measure::Column;
use serde_json::Value;

const KEY: &str = "ccti_at_limit_fraction";

/// Five hosts at two switches; four flows to one node, two of them from the same node and one with a service level of its own, and one
/// to another node.
fn document(warmup: &str, control: &str) -> String {
    format!(
        "topology.graph = {{ edges = [{{ between = [0, 1] }}], nodes = [3, 2] }}\nmeasure.streams = [\"flows\"]\n\
         measure.time = {{ warmup = \"{warmup}\", window = \"30 us\" }}\n\
         [router.infiniband]\nmtu = 256\nlinks.host = {{ rate = \"8 Gb/s\", delay = \"20 ns\" }}\n\
         links.switch = {{ rate = \"8 Gb/s\", delay = \"30 ns\" }}\n\
         host = {{ injection = \"8 Gb/s\", drain = \"8 Gb/s\", receive_buffer = \"512 B\", start_jitter = \"300 ns\" }}\n\
         switch = {{ crossbar = \"8 Gb/s\", input_latency = \"10 ns\", output_latency = \"10 ns\", output_buffer = \"512 B\", \
         buffers = {{ host = \"512 B\", switch = \"512 B\" }} }}\n{control}\n\
         [[jobs]]\nflows = [{{ source = 0, destination = 4 }}, {{ source = 0, destination = 4, service_level = 3 }}, \
         {{ source = 1, destination = 4, end = \"20 us\" }}, {{ source = 3, destination = 4, start = \"9 us\" }}]\n\
         [[jobs]]\nflows = [{{ source = 2, destination = 3 }}]\n"
    )
}

/// Congestion control that marks soon, with a table of 10 entries.
fn table(more: &str) -> String {
    let cct = (0..10).map(|entry| format!("[0, {entry}]")).collect::<Vec<_>>().join(", ");
    format!(
        "congestion_control = {{ thresholds = {{ high = \"512 B\", low = \"128 B\" }}, mark_point = \"enqueue\", \
         marking_rate = 0, cct = [{cct}], {more} }}"
    )
}

fn simulated(text: &str) -> (FabricPlan, Outcome) {
    let point = document::points(text, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
    let plan = AnyPlan::new(&point.experiment, &no_files).unwrap_or_else(|error| panic!("{error}"));
    let outcome = run_any(&plan, &Control::default()).unwrap_or_else(|error| panic!("{error}"));
    let AnyPlan::Fabric(plan) = plan else { panic!("the router is that of a fabric") };
    (*plan, outcome)
}

/// By flow, those of nodes that draw last, its source, and how long its index is at the limit in the window \[ticks\].
fn counted(plan: &FabricPlan) -> Vec<(u32, u64)> {
    let players = Players::<false>::new(&roles(plan));
    let seed = plan.experiment.measure.seed;
    let mut reference = Reference::with_workload(&plan.fabric, &plan.flows, seed, players);
    let mut limited = |ticks: u64| {
        (0..ticks).for_each(|_| reference.step());
        let flows = reference.flows().iter().map(|flow| flow.source).enumerate();
        flows.map(|(number, source)| (source, reference.limited(number))).collect::<Vec<_>>()
    };
    let before = limited(plan.span.warmup);
    let mut all = limited(plan.span.window());
    all.iter_mut().zip(before).for_each(|(all, (_, before))| all.1 -= before);
    all
}

/// The column of the table of flows.
fn of_flows(outcome: &Outcome) -> &[f64] {
    let (_, table) = outcome.tables.iter().find(|(name, _)| name == "flows").unwrap();
    match &table.iter().find(|(name, _)| name == KEY).unwrap().1 {
        Column::F64(values) => values,
        other => panic!("{other:?}"),
    }
}

/// Compares, and returns the shares of the flows.
fn compared(text: &str) -> Vec<f64> {
    let (plan, outcome) = simulated(text);
    let window = plan.span.window() as f64;
    let shares: Vec<f64> = counted(&plan).into_iter().map(|(_, ticks)| ticks as f64 / window).collect();
    assert_eq!(of_flows(&outcome), shares, "{text}");
    let greatest = |shares: &[f64]| Value::from(shares.iter().copied().fold(0.0, f64::max));
    assert_eq!(outcome.summary[KEY], greatest(&shares), "{text}");
    assert_eq!(outcome.jobs[0][KEY], greatest(&shares[..4]), "{text}");
    assert_eq!(outcome.jobs[1][KEY], greatest(&shares[4..]), "{text}");
    shares
}

#[test]
fn shares_at_the_limit_are_those_of_the_ticks() {
    for warmup in ["0 us", "7.3 us"] {
        for timer in ["free", "on_demand"] {
            for level in ["qp", "sl"] {
                let rules = |limit: &str, period: u32| {
                    let more =
                        format!("timer = \"{timer}\", level = \"{level}\", ccti_timer = {period}, {limit}");
                    compared(&document(warmup, &table(&more)))
                };
                let shares = rules("ccti_limit = 4, ccti_increase = 2", 2);
                let some = shares[..4].iter().filter(|&&share| 0.1 < share && share < 0.99).count();
                assert!(some >= 2, "{shares:?}");
                // Indices never fall.
                let shares = rules("ccti_limit = 4", 0);
                assert!(shares[0] > 0.5, "{shares:?}");
                // There is no other index than the least one.
                assert_eq!(rules("ccti_limit = 4, ccti_min = 4", 2), [0.0; 5]);
                assert!(rules("ccti_limit = 4, ccti_min = 3", 2)[0] > 0.1);
            }
        }
    }
}

#[test]
fn a_node_has_the_share_of_the_flow_that_has_most() {
    // Nodes 1, 2, 3, 4 send most to node 0, and some to others: several flows each.
    let control = table("ccti_timer = 2, ccti_limit = 3");
    let flows = document("4.1 us", &control);
    let (head, _) = flows.split_once("[[jobs]]").unwrap();
    let pattern = "pattern = { hotspot = { node = 0, fraction = 0.7 } }";
    let text = format!("{head}[[jobs]]\nmessages = {{ {pattern}, rate = \"6 Gb/s\", bytes = 300 }}\n");
    let (plan, outcome) = simulated(&text);
    let (counts, window) = (counted(&plan), plan.span.window() as f64);
    assert!(counts.len() > 12, "{counts:?}");
    let greatest = |node: u32| {
        let own = counts.iter().filter(|(source, _)| *source == node);
        own.map(|&(_, ticks)| ticks).max().unwrap_or(0) as f64 / window
    };
    let nodes: Vec<f64> = plan.accounts.iter().map(|account| greatest(account.source)).collect();
    assert_eq!(of_flows(&outcome), nodes);
    assert!(nodes.iter().filter(|&&share| share > 0.0).count() >= 3, "{nodes:?}");
}

#[test]
fn without_a_table_there_is_no_limit() {
    let aimd = "congestion_control = { reaction = { aimd = {} }, thresholds = { high = \"512 B\", low = \"128 B\" } }";
    for control in ["", aimd] {
        let (_, outcome) = simulated(&document("0 us", control));
        assert_eq!(outcome.summary[KEY], Value::Null);
        assert!(of_flows(&outcome).iter().all(|share| share.is_nan()));
    }
}
