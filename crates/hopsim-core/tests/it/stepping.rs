//! Simulations that another simulator drives.

use crate::message_of;
use hopsim_core::engine::stepping::{DeliveredMessage, StepError, Stepping};
use hopsim_core::engine::{Control, run};
use hopsim_core::error::{ConfigError, RunError};
use hopsim_experiment::document;
use hopsim_experiment::plan::programs::no_files;
use hopsim_experiment::plan::{AnyPlan, Plan};

const NETWORK: &str = "units = { cycle = \"1 ns\", phit = \"4 B\" }\ntopology.torus.sides = [4, 4]\n";
const EXTERNAL: &str = "[[jobs]]\nname = \"cpus\"\nprogram = \"external\"\n";
const TRAFFIC: &str = "[[jobs]]\nname = \"rest\"\ntraffic.process.bernoulli.load = 0.3\n\
                       placement.nodes = { first = 8, count = 8 }\n";

fn plan(text: &str) -> AnyPlan {
    let points = document::points(text, &[]).unwrap();
    AnyPlan::new(&points[0].experiment, &no_files).unwrap()
}

fn stepping(jobs: &str) -> Stepping {
    Stepping::new(plan(&format!("{NETWORK}{jobs}")), 1).unwrap()
}

/// The nodes 0 … 7 beside traffic of the others.
fn beside_traffic() -> Stepping {
    stepping(&format!("{EXTERNAL}placement.nodes = {{ first = 0, count = 8 }}\n{TRAFFIC}"))
}

fn goes_on() -> impl FnMut() -> bool {
    || true
}

/// Two nodes that throw a message to and fro so many times, if the other one answers in the cycle in which it is there.
fn thrown(simulation: &mut Stepping, times: u32, phits: u32) -> u32 {
    simulation.inject((1, 6), phits, 0).unwrap();
    for time in 0..times {
        assert!(simulation.step_until_delivered(10_000, &mut goes_on()).unwrap());
        let [DeliveredMessage { source, destination, delivered, .. }] = simulation.take_delivered()[..]
        else {
            panic!("one message at a time")
        };
        assert_eq!(delivered, simulation.now());
        if time + 1 < times {
            simulation.inject((destination, source), phits, 0).unwrap();
        }
    }
    simulation.now()
}

#[test]
fn an_answer_in_the_cycle_of_a_delivery_is_that_of_a_program_without_overheads() {
    let there = "s 1 0 {} 0\nr 1 0 {} 0\n".repeat(10);
    let back = "r 0 0 {} 0\ns 0 0 {} 0\n".repeat(10);
    let records = format!("rank 0 20\n{there}rank 1 20\n{back}end").replace("{}", "400");
    let text = format!("mpt 1\nname x\nranks 2\ncomm 0 2 0 1\n{records}").replace('\n', "\\n");
    let job = "[[jobs]]\nprogram.list.mpt = ";
    let document = format!("{NETWORK}{job}\"{text}\"\nplacement.list = [1, 6]\n");
    let AnyPlan::Network(program) = plan(&document) else { unreachable!() };
    let outcome = run(&program, &Control::default()).unwrap();
    let time = thrown(&mut stepping(EXTERNAL), 20, 100);
    assert_eq!(outcome.summary["execution_time"], u64::from(time));
}

#[test]
fn a_step_until_a_delivery_ends_in_its_cycle_whatever_else_goes_on() {
    let mut by_cycle = beside_traffic();
    let mut by_delivery = beside_traffic();
    for simulation in [&mut by_cycle, &mut by_delivery] {
        for node in 1..8 {
            simulation.inject((node, 0), 20 * node, node.into()).unwrap();
        }
    }
    let (mut one, mut other) = (Vec::new(), Vec::new());
    while by_cycle.in_flight() > 0 {
        by_cycle.step(1, &mut goes_on()).unwrap();
        one.append(&mut by_cycle.take_delivered());
    }
    while by_delivery.step_until_delivered(2_000, &mut goes_on()).unwrap() {
        let messages = by_delivery.take_delivered();
        assert!(messages.iter().all(|message| message.delivered == by_delivery.now()));
        other.extend(messages);
    }
    assert_eq!(one, other);
    assert_eq!(one.len(), 7);
    assert_eq!(by_delivery.now(), one[6].delivered + 2_000, "nothing more comes");
}

#[test]
fn messages_that_nobody_takes_wait_and_do_not_hold_up_time() {
    let mut simulation = stepping(EXTERNAL);
    simulation.inject((0, 1), 1, 0).unwrap();
    simulation.inject((2, 3), 1, 1).unwrap();
    simulation.step(1_000, &mut goes_on()).unwrap();
    let first = simulation.inject((0, 1), 1, 2).unwrap();
    assert!(simulation.step_until_delivered(1_000, &mut goes_on()).unwrap());
    assert_eq!(simulation.now(), 1_000, "some are there already");
    assert_eq!(simulation.take_delivered().iter().map(|m| m.number).collect::<Vec<_>>(), [0, 1]);
    assert!(simulation.step_until_delivered(1_000, &mut goes_on()).unwrap());
    assert_eq!(simulation.take_delivered()[0].number, first);
}

#[test]
fn idle_cycles_take_no_time() {
    let mut simulation = stepping(EXTERNAL);
    let before = std::time::Instant::now();
    simulation.step(2_999_000_000, &mut goes_on()).unwrap();
    thrown(&mut simulation, 20, 100);
    assert!(before.elapsed().as_secs() < 5);
}

#[test]
fn a_step_ends_when_it_is_asked_to() {
    let mut simulation = beside_traffic();
    let mut left = 3;
    let stopped = simulation.step(1_000_000, &mut || {
        left -= 1;
        left > 0
    });
    assert_eq!(stopped, Err(StepError::Stopped(RunError::Cancelled)));
    assert!(simulation.now() < 2_000);
    simulation.step(1, &mut goes_on()).unwrap();
}

#[test]
fn a_program_beside_must_be_done_before_there_are_results() {
    let program = "[[jobs]]\nname = \"all\"\nplacement.nodes = { first = 8, count = 8 }\n\
                   program.collective = { kind = \"allreduce\", bytes = 4000 }\n";
    let jobs = format!("{EXTERNAL}placement.nodes = {{ first = 0, count = 8 }}\n{program}");
    let mut simulation = stepping(&jobs);
    simulation.step(100, &mut goes_on()).unwrap();
    assert_eq!(
        simulation.results().unwrap_err().to_string(),
        "0 of 8 ranks of job all are done at cycle 100: it has no results; valid: more cycles, or repeat = \"forever\""
    );
    simulation.step(100_000, &mut goes_on()).unwrap();
    let outcome = simulation.results().unwrap();
    assert!(outcome.jobs[1]["execution_time"].as_u64().unwrap() > 1_000);
    assert!(outcome.jobs[0]["execution_time"].is_null());
}

/// What is said of a message to be injected.
fn refusal(simulation: &mut Stepping, nodes: (u32, u32), phits: u32) -> String {
    simulation.inject(nodes, phits, 0).unwrap_err().to_string()
}

#[test]
fn messages_that_cannot_be_injected() {
    let mut simulation = beside_traffic();
    assert_eq!(refusal(&mut simulation, (16, 1), 1), "source = 16: there is no such node; valid: 0 … 15");
    assert_eq!(
        refusal(&mut simulation, (0, 9), 1),
        "destination = 9: is a node of job rest, which nobody drives; valid: 0 … 7"
    );
    assert_eq!(
        refusal(&mut simulation, (5, 5), 1),
        "destination = 5: is the source itself; valid: another node"
    );
    assert_eq!(
        refusal(&mut simulation, (5, 6), 0),
        "phits = 0: a message has a phit at least; valid: 1 … 4294967295"
    );
    let two = format!(
        "{EXTERNAL}placement.list = [0, 2, 3]\n{}placement.list = [5]\n",
        EXTERNAL.replace("cpus", "b")
    );
    let mut simulation = stepping(&two);
    assert_eq!(
        refusal(&mut simulation, (0, 5), 1),
        "destination = 5: is of another job than the source, node 0; valid: 0, 2 … 3"
    );
    assert_eq!(
        refusal(&mut simulation, (1, 5), 1),
        "source = 1: is a node of no job, which nobody drives; valid: 0, 2 … 3, 5"
    );
}

#[test]
fn steps_that_cannot_be_made() {
    let mut simulation = stepping(&format!("measure.max_cycles = 1000\n{EXTERNAL}"));
    let text = |error: ConfigError| error.to_string();
    assert_eq!(
        simulation.results().map_err(text).unwrap_err(),
        "there are no results before the first cycle; valid: a step of at least one cycle"
    );
    simulation.step(400, &mut goes_on()).unwrap();
    assert_eq!(
        simulation.step(601, &mut goes_on()).unwrap_err().to_string(),
        "cycles = 601: the simulation is at cycle 400 and lasts up to cycle 1000: measure.max_cycles, or the \
         longest time series; valid: 0 … 600"
    );
    simulation.step(600, &mut goes_on()).unwrap();
    simulation.results().unwrap();
    assert_eq!(
        refusal(&mut simulation, (0, 1), 1),
        "the simulation has ended at cycle 1000 with its results; valid: another simulation"
    );
}

#[test]
fn documents_that_cannot_be_driven() {
    let refused = |text: &str| message_of(&format!("{NETWORK}{EXTERNAL}{text}"), &[]);
    let place = "line 3, column 1: ";
    for (text, key) in [
        ("start = 5", "jobs.0.start"),
        ("host.send_overhead = 5", "jobs.0.host.send_overhead"),
        ("host.eager_limit = 5", "jobs.0.host.eager_limit"),
    ] {
        let message = refused(text);
        assert!(message.contains(key), "{message}");
        assert!(
            message.ends_with(
                ": another simulator drives the nodes; valid: no such key; host.packet_length, header_length, \
                 last_packet and gap"
            ),
            "{message}"
        );
    }
    assert!(
        refused("repeat = 3").ends_with("repeat: another simulator drives the nodes; valid: no such key")
    );
    let half = format!("{NETWORK}{EXTERNAL}").replace("4 B", "0.5 B");
    assert_eq!(
        message_of(&half, &[]),
        "line 5, column 1: jobs.0.program.external: another simulator drives the nodes, whose messages have whole \
         bytes in every phit; valid: units.phit of at least 1 B"
    );
    let alone = message_of(&format!("contention = \"none\"\n{NETWORK}{EXTERNAL}"), &[]);
    assert!(
        alone.contains("jobs.0.program.external: another simulator drives the nodes, which needs"),
        "{alone}"
    );
    let streams = format!("{NETWORK}measure.streams = [\"messages\"]\n{EXTERNAL}");
    assert!(message_of(&streams, &[]).contains("is told of their messages"), "{place}");
    let fabric = "router = \"infiniband\"\ntopology.mesh.sides = [4, 4]\n";
    let fabric = message_of(&format!("{fabric}{EXTERNAL}"), &[]);
    assert!(fabric.contains("program.external: another simulator counts in cycles and phits"), "{fabric}");
    let traffic = plan(&format!("{NETWORK}{TRAFFIC}"));
    assert!(traffic.check_alone().is_ok());
    assert_eq!(
        Stepping::new(traffic, 1).unwrap_err().to_string(),
        "jobs: no other simulator drives any of them; valid: at least one job with program = \"external\""
    );
    assert_eq!(
        plan(&format!("{NETWORK}{EXTERNAL}")).check_alone().unwrap_err().to_string(),
        "jobs.0.program.external: another simulator drives the nodes, and this run has none; valid: hs.Simulation in \
         Python, hopsim.h in C, or a job that sends by itself"
    );
}

#[test]
fn units_are_not_needed() {
    let text = format!("topology.torus.sides = [4, 4]\n{EXTERNAL}");
    let mut simple = Stepping::new(plan(&text), 1).unwrap();
    assert_eq!(thrown(&mut simple, 4, 50), thrown(&mut stepping(EXTERNAL), 4, 50));
    let AnyPlan::Network(plan) = plan(&text) else { unreachable!() };
    assert_eq!(Plan::new(&plan.experiment).unwrap().system.jobs[0].nodes().len(), 16);
}

#[test]
fn packets_that_wait_for_each_other_stop_a_step() {
    // Shared buffers without a reserve for every VC.
    let text = format!(
        "topology.dragonfly = {{ p = 2, a = 4, h = 2 }}\nmeasure.watchdog = 500\n\
         router.cioq.buffers = {{ local = 32, global = 32, injection = 32, output = 16, damq = {{ \
         local_reserve = 0, global_reserve = 0, allow_deadlock = true }} }}\n\
         {EXTERNAL}placement.list = [0, 20]\n[[jobs]]\ntraffic.process.bernoulli.load = 1.0\n\
         placement.random_nodes.count = 70\n"
    );
    let mut simulation = Stepping::new(plan(&text), 1).unwrap();
    let stopped = simulation.step(20_000, &mut goes_on());
    assert!(matches!(stopped, Err(StepError::Stopped(RunError::Deadlock(_)))), "{stopped:?}");
}

#[test]
fn nothing_depends_on_how_many_threads_take_part() {
    let text = format!("topology.dragonfly = {{ p = 2, a = 4, h = 2 }}\n{EXTERNAL}host.packet_length = 1\n");
    let driven = |threads| {
        let mut simulation = Stepping::new(plan(&text), threads).unwrap();
        simulation.step(1_000, &mut goes_on()).unwrap();
        for node in 0..72 {
            simulation.inject((node, (node + 41) % 72), 2_000, 0).unwrap();
        }
        simulation.step(2_000, &mut goes_on()).unwrap();
        (simulation.take_delivered(), simulation.threads_used(), simulation.results().unwrap())
    };
    let (alone, helped) = (driven(1), driven(4));
    assert_eq!(alone.0, helped.0);
    assert!(helped.1 > 1, "{}", helped.1);
    assert_eq!(format!("{:?}", alone.2), format!("{:?}", helped.2));
}
