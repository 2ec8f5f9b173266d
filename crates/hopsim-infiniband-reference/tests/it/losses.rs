//! What fabrics lose whose links fail: what the records and tables say is what follows from the facts of the reference.

use crate::verdicts::facts;
use hopsim_core::engine::{Control, Outcome, run_any};
use hopsim_experiment::document;
use hopsim_experiment::plan::programs::no_files;
use hopsim_experiment::plan::{AnyPlan, FabricPlan};
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband_reference::Fact;
use hopsim_measure::Column;
use serde_json::{Map, Value};

/// Every loss: when, of which account, and which of [`KEYS`] behind the first it counts for.
type Loss = (u64, usize, usize);

/// The keys of the summary, and the columns of the tables.
const KEYS: [(&str, &str); 5] = [
    ("packets_lost", "lost"),
    ("packets_lost_on_links", "lost_on_links"),
    ("packets_discarded", "discarded"),
    ("packets_spoiled", "spoiled"),
    ("messages_lost", "messages_lost"),
];

/// Five hosts at three switches that are all joined; a job whose nodes draw and one of flows. Two links fail, one before the window.
fn document(packets: &str, notifies: &str) -> String {
    let fault = |link: &str, at: &str, until: &str| {
        format!(
            "{{ links = {{ between = [{link}] }}, reaction = {{ packets = \"{packets}\" }}, time = {{ at = \"{at}\", until = \"{until}\", \
             detection = \"2 us\", reroute = \"3 us\", table_write = \"400 ns\" }} }}"
        )
    };
    let faults = [fault("[0, 1]", "2 us", "20 us"), fault("[1, 2]", "22 us", "30 us")].join(", ");
    format!(
        "faults = [{faults}]\n\
         topology.graph = {{ edges = [{{ between = [0, 1] }}, {{ between = [1, 2] }}, {{ between = [2, 0] }}], nodes = [2, 2, 1] }}\n\
         measure.streams = [\"flows\", \"flow_series\"]\n\
         measure.time = {{ warmup = \"5 us\", window = \"31 us\", interval = \"3 us\" }}\n\
         [router.infiniband]\nmtu = 256\nlanes.allow_deadlock = true\nlinks.host = {{ rate = \"8 Gb/s\", delay = \"20 ns\" }}\n\
         links.switch = {{ rate = \"8 Gb/s\", delay = \"300 ns\" }}\n\
         host = {{ injection = \"8 Gb/s\", drain = \"8 Gb/s\", receive_buffer = \"1024 B\", start_jitter = \"300 ns\" }}\n\
         switch = {{ crossbar = \"8 Gb/s\", input_latency = \"10 ns\", output_latency = \"10 ns\", output_buffer = \"512 B\", \
         buffers = {{ host = \"1024 B\", switch = \"1024 B\" }} }}\n{notifies}\n\
         [[jobs]]\nplacement = {{ list = [0, 1, 2] }}\nmessages = {{ pattern = \"uniform\", rate = \"3 Gb/s\", bytes = 700 }}\n\
         [[jobs]]\nname = \"flows\"\nflows = [{{ source = 3, destination = 0, rate = \"2 Gb/s\" }}, {{ source = 3, destination = 4 }}, \
         {{ source = 4, destination = 2, rate = \"1 Gb/s\" }}]\n"
    )
}

pub fn simulated(text: &str) -> (FabricPlan, Outcome) {
    let point = document::points(text, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
    let plan = AnyPlan::new(&point.experiment, &no_files).unwrap_or_else(|error| panic!("{error}"));
    let outcome = run_any(&plan, &Control::default()).unwrap_or_else(|error| panic!("{error}"));
    let AnyPlan::Fabric(plan) = plan else { panic!("the router is that of a fabric") };
    (*plan, outcome)
}

/// What is lost in the reference.
fn lost(plan: &FabricPlan) -> Vec<Loss> {
    let (facts, flows) = facts(plan);
    let account = |flow: u32| {
        let Flow { source, .. } = flows[flow as usize];
        let drawn =
            || plan.flows.len() + plan.messages[0].nodes.iter().position(|&node| node == source).unwrap();
        if (flow as usize) < plan.flows.len() { flow as usize } else { drawn() }
    };
    let loss = |fact: &Fact| match *fact {
        Fact::Lost { at, packet, why } if !packet.is_notification => {
            Some((at, account(packet.flow), 1 + why as usize))
        }
        Fact::MessageLost { at, flow } => Some((at, account(flow), 4)),
        _ => None,
    };
    facts.iter().filter_map(loss).collect()
}

/// How many losses count for each of [`KEYS`].
fn counts(losses: &[Loss], of: impl Fn(&Loss) -> bool) -> [u64; 5] {
    let count = |kind| losses.iter().filter(|loss| loss.2 == kind && of(loss)).count() as u64;
    let [links, discarded, spoiled, messages] = [1, 2, 3, 4].map(count);
    [links + discarded + spoiled, links, discarded, spoiled, messages]
}

/// The rows of a table, as the columns of [`KEYS`] have them.
fn rows(outcome: &Outcome, table: &str) -> Vec<[u64; 5]> {
    let (_, table) = outcome.tables.iter().find(|(name, _)| name == table).unwrap();
    let columns = KEYS.map(|(_, column)| match &table.iter().find(|(name, _)| name == column).unwrap().1 {
        Column::U64(values) => values.as_slice(),
        other => panic!("{other:?}"),
    });
    (0..columns[0].len()).map(|row| columns.map(|column| column[row])).collect()
}

fn record(summary: &Map<String, Value>) -> [Option<u64>; 5] {
    KEYS.map(|(key, _)| summary.get(key).and_then(Value::as_u64))
}

#[test]
fn losses_are_counted_by_cause_in_records_and_tables() {
    let marking = "congestion_control = { thresholds = { high = \"512 B\", low = \"128 B\" }, mark_point = \"enqueue\", ccti_timer = 2 }";
    let mut all = [0; 5];
    for (packets, notifies) in [("drop", ""), ("drain", ""), ("drop", marking)] {
        let (plan, outcome) = simulated(&document(packets, notifies));
        let (losses, span, interval) = (lost(&plan), &plan.span, plan.span.interval.unwrap());
        let in_window = |loss: &Loss| (span.warmup..span.end).contains(&loss.0);
        let accounts = 0..plan.accounts.len();
        let by_account: Vec<[u64; 5]> = accounts
            .clone()
            .map(|account| counts(&losses, |loss| in_window(loss) && loss.1 == account))
            .collect();
        assert_eq!(rows(&outcome, "flows"), by_account, "{packets} {notifies}");
        let by_interval: Vec<[u64; 5]> = (0..span.end / interval)
            .flat_map(|number| accounts.clone().map(move |account| (number, account)))
            .map(|of| counts(&losses, |loss| (loss.0 / interval, loss.1) == of))
            .collect();
        assert_eq!(rows(&outcome, "flow_series"), by_interval, "{packets} {notifies}");
        let window = counts(&losses, in_window);
        assert_eq!(record(&outcome.summary), window.map(Some), "{packets} {notifies}");
        for (job, summary) in outcome.jobs.iter().enumerate() {
            let mut expected =
                counts(&losses, |loss| in_window(loss) && plan.accounts[loss.1].job == job).map(Some);
            if job != plan.messages[0].job {
                expected[4] = None;
            }
            assert_eq!(record(summary), expected, "job {job}: {packets} {notifies}");
        }
        let early = counts(&losses, |loss| !in_window(loss));
        assert!(early[0] > 0 && window[2] > 0 && window[4] > 0, "{early:?}, {window:?}");
        all = std::array::from_fn(|kind| all[kind] + window[kind]);
    }
    assert!(all.iter().all(|&count| count >= 3), "{all:?}");
}
