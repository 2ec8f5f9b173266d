//! Programs on fabrics: messages that programs send when the engine says so leave and arrive in the reference when it says so.
//!
//! What a host does is compared elsewhere, with cycles. Here it is whether its messages take the time of the fabric: each is
//! posted to the reference in the cycle in which it joined the queue of its host.

use hopsim_core::engine::{Control, Outcome, run_any};
use hopsim_experiment::document;
use hopsim_experiment::plan::programs::no_files;
use hopsim_experiment::plan::{AnyPlan, FabricPlan};
use hopsim_infiniband::time::{NEVER, Ticks};
use hopsim_infiniband::workload::{Message, Workload};
use hopsim_infiniband_reference::{Fact, Reference};
use hopsim_measure::Column;
use std::collections::VecDeque;

/// Messages that hosts send at given times.
#[derive(Default)]
struct Scripted {
    /// By host, in order of time.
    hosts: Vec<VecDeque<(Ticks, Message)>>,
    /// By message: when its last byte left, and when it arrived.
    told: Vec<[Ticks; 2]>,
}

impl Scripted {
    fn next(&self, host: u32) -> Ticks {
        self.hosts[host as usize].front().map_or(NEVER, |(at, _)| *at)
    }
}

impl Workload for &mut Scripted {
    const HEARS: bool = true;

    fn first(&mut self, host: u32) -> Ticks {
        self.next(host)
    }

    fn act(&mut self, host: u32, now: Ticks, messages: &mut Vec<Message>) -> Ticks {
        while self.next(host) == now {
            messages.extend(self.hosts[host as usize].pop_front().map(|(_, message)| message));
        }
        self.next(host)
    }

    fn left(&mut self, _: u32, tag: u64, now: Ticks) {
        self.told[tag as usize][0] = now;
    }

    fn arrived(&mut self, _: u32, tag: u64, now: Ticks) {
        self.told[tag as usize][1] = now;
    }
}

/// A document whose rates and times have few ticks in common.
fn document(program: &str, more: &str) -> String {
    format!(
        "topology.fat_tree = {{ k = 2, levels = 3 }}\nmeasure.streams = [\"messages\"]\n\
         [router.infiniband]\nmtu = 256\nlinks.host = {{ rate = \"16 Gb/s\", delay = \"20 ns\" }}\n\
         links.switch = {{ rate = \"8 Gb/s\", delay = \"30 ns\" }}\nlinks.credit_delay = \"20 ns\"\n\
         host = {{ injection = \"16 Gb/s\", drain = \"8 Gb/s\", receive_buffer = \"512 B\", start_jitter = \"0 s\", cycle = \"3 ns\" }}\n\
         switch = {{ crossbar = \"16 Gb/s\", input_latency = \"10 ns\", output_latency = \"10 ns\", output_buffer = \"512 B\", \
         buffers = {{ host = \"512 B\", switch = \"512 B\" }} }}\n{more}\n[[jobs]]\nprogram = {program}\n"
    )
}

fn run(text: &str) -> (Box<FabricPlan>, Outcome) {
    let point = document::points(text, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
    let AnyPlan::Fabric(plan) = AnyPlan::new(&point.experiment, &no_files).unwrap() else {
        panic!("the router is that of a fabric")
    };
    let plan = AnyPlan::Fabric(plan);
    let outcome = run_any(&plan, &Control::default()).unwrap_or_else(|error| panic!("{error}"));
    let AnyPlan::Fabric(plan) = plan else { unreachable!("it has not changed") };
    (plan, outcome)
}

/// A column of the stream of messages.
fn column(outcome: &Outcome, name: &str) -> Vec<u64> {
    let (_, table) = &outcome.tables[0];
    match &table.iter().find(|(other, _)| other == name).unwrap().1 {
        Column::U32(values) => values.iter().map(|&value| value.into()).collect(),
        Column::U64(values) => values.clone(),
        _ => panic!("{name} has no whole numbers"),
    }
}

/// The messages of a run, in the order in which the engine gives them to the fabric.
fn script(plan: &FabricPlan, outcome: &Outcome) -> Scripted {
    let nodes = &plan.programs[0].plan.nodes;
    let [sources, destinations, bytes, joined] =
        ["source", "destination", "bytes", "joined"].map(|name| column(outcome, name));
    let mut script = Scripted {
        hosts: vec![VecDeque::new(); plan.fabric.hosts as usize],
        told: vec![[0; 2]; sources.len()],
    };
    for (number, &source) in sources.iter().enumerate() {
        let message = Message {
            destination: nodes[destinations[number] as usize],
            service_level: plan.programs[0].service_level,
            bytes: bytes[number].max(64),
            tag: number as u64,
        };
        let at = joined[number] * plan.cycle;
        script.hosts[nodes[source as usize] as usize].push_back((at, message));
    }
    script
}

/// What a message takes that is there by the end of the run.
fn completion(fact: &Fact, end: Ticks) -> Option<Ticks> {
    match *fact {
        Fact::Message { at, posted, .. } if at <= end => Some(at - posted),
        _ => None,
    }
}

#[test]
fn messages_of_programs_take_the_time_of_the_fabric() {
    let programs = [
        "{ collective = { kind = \"allreduce\", bytes = 2000, repeat = 2 } }",
        "{ collective = { kind = \"alltoall\", bytes = 300 } }",
        "{ collective = { kind = \"bcast\", bytes = 1100, root = 3 } }",
        "{ stencil = { sides = [2, 2, 2], bytes = 700, iterations = 3, compute = 500 } }",
    ];
    let marking = "congestion_control = { thresholds = { high = \"512 B\", low = \"128 B\" }, mark_point = \"enqueue\", ccti_timer = 2 }";
    let mut busy = 0;
    for program in programs {
        for more in ["", marking] {
            let (plan, outcome) = run(&document(program, more));
            let mut script = script(&plan, &outcome);
            let end = (outcome.summary["time_s"].as_f64().unwrap() * 1e9) as Ticks * plan.fabric.ticks_per_ns;
            let mut reference = Reference::with_workload(
                &plan.fabric,
                &plan.flows,
                plan.experiment.measure.seed,
                &mut script,
            );
            // What arrives in the last instant does so before its end.
            (0..=end + plan.fabric.ticks_per_ns).for_each(|_| reference.step());
            let times: Vec<Ticks> =
                reference.facts().iter().filter_map(|fact| completion(fact, end)).collect();
            let mean =
                times.iter().sum::<Ticks>() as f64 / times.len() as f64 / plan.fabric.ticks_per_ns as f64;
            let told = outcome.summary["flow_completion_time_mean"].as_f64().unwrap();
            assert!((told - mean).abs() <= 1e-9 * mean, "{told} instead of {mean}: {program} {more}");
            assert!(outcome.summary["slowdown_p50"].as_f64() >= Some(1.0), "{program} {more}");
            drop(reference);
            for (stage, name) in ["left", "arrived"].into_iter().enumerate() {
                let expected: Vec<u64> =
                    script.told.iter().map(|told| told[stage].div_ceil(plan.cycle)).collect();
                assert_eq!(column(&outcome, name), expected, "{name}: {program} {more}");
            }
            busy += usize::from(outcome.summary["packets_marked"].as_u64() > Some(0));
        }
    }
    assert!(busy > 0, "congestion control had nothing to do");
}
