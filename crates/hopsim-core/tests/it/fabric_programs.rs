//! Programs on InfiniBand fabrics: what they take where a formula says it, how a run of them ends, and what is refused.

use crate::message_of;
use hopsim_core::engine::{Control, Outcome, run_any};
use hopsim_core::error::RunError;
use hopsim_experiment::document;
use hopsim_experiment::plan::AnyPlan;
use hopsim_experiment::plan::programs::no_files;
use hopsim_measure::Column;
use hopsim_programs::formats::mpt;
use hopsim_programs::program::Program;
use serde_json::json;
use std::sync::Arc;

/// A switch with four nodes, two of which run records of the format mpt.
fn pair(records: [&[&str]; 2], more: &str) -> String {
    let ranks = records.map(|records| format!("{}\n{}", records.len(), records.join("\n")));
    format!(
        "topology.fat_tree = {{ k = 4, levels = 1 }}\nrouter.infiniband.mtu = 2048\nmeasure.streams = [\"ranks\", \"messages\"]\n\
         {more}\n[[jobs]]\nname = \"pair\"\nplacement = {{ list = [2, 1] }}\nprogram.list.mpt = \"\"\"\nmpt 1\nname pair\n\
         ranks 2\ncomm 0 2 0 1\nrank 0 {}\nrank 1 {}\nend\n\"\"\"\n",
        ranks[0], ranks[1]
    )
}

fn run(text: &str) -> Result<Outcome, RunError> {
    let point = document::points(text, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
    let plan = AnyPlan::new(&point.experiment, &no_files).unwrap_or_else(|error| panic!("{error}"));
    run_any(&plan, &Control::default())
}

fn column(outcome: &Outcome, table: &str, name: &str) -> Vec<u64> {
    let (_, table) = outcome.tables.iter().find(|(other, _)| other == table).unwrap();
    match &table.iter().find(|(other, _)| other == name).unwrap().1 {
        Column::U32(values) => values.iter().map(|&value| value.into()).collect(),
        Column::U64(values) => values.clone(),
        _ => panic!("{name} has no whole numbers"),
    }
}

/// Cycles of so many nanoseconds that a message takes alone: its head four times 50 ns over one switch, its bytes 8/13 ns each in
/// the sink, which is slower than the link.
fn alone(bytes: u64, cycle: f64) -> u64 {
    ((200.0 + bytes.max(64) as f64 * 8.0 / 13.0) / cycle).ceil() as u64
}

#[test]
fn messages_to_and_fro_take_the_time_of_one_alone_rounded_up_to_cycles() {
    for (cycle, ns) in [("1 ns", 1.0), ("1 us", 1000.0), ("2.5 ns", 2.5)] {
        for bytes in [0, 64, 65, 2048, 3000] {
            let (send, receive) = (format!("s 1 7 {bytes} 0"), format!("r 0 7 {bytes} 0"));
            let more = format!("router.infiniband.host.cycle = \"{cycle}\"");
            let (there, back) = ([&send, "r 1 8 0 0", &send, "r 1 8 0 0"], [&receive, "s 0 8 0 0"].repeat(2));
            let text = pair(
                [
                    &there.map(|record| record as &str),
                    &back.iter().map(|record| record as &str).collect::<Vec<_>>(),
                ],
                &more,
            );
            let outcome = run(&text).unwrap();
            let time = 2 * (alone(bytes, ns) + alone(0, ns));
            assert_eq!(outcome.summary["execution_time"], json!(time), "{bytes} B, {cycle}");
            assert_eq!(column(&outcome, "ranks", "node"), [2, 1]);
            assert_eq!(column(&outcome, "ranks", "finish"), [time, time - alone(0, ns)]);
            // The run ends with the program.
            let seconds = outcome.summary["time_s"].as_f64().unwrap();
            assert!((seconds / (time as f64 * ns * 1e-9) - 1.0).abs() < 1e-12);
            assert_eq!(outcome.summary["offered_load"], json!(null));
        }
    }
}

#[test]
fn a_rendezvous_takes_a_request_and_a_leave_before_the_payload() {
    let text = pair([&["s 1 7 2048 0"], &["r 0 7 2048 0"]], "");
    let text = format!("{text}[jobs.host]\neager_limit = 2047\n");
    let outcome = run(&text).unwrap();
    assert_eq!(outcome.summary["execution_time"], json!(alone(0, 1.0) * 2 + alone(2048, 1.0)));
    assert_eq!(outcome.summary["messages"], json!(1));
    let eager = run(&text.replace("2047", "2048")).unwrap();
    assert_eq!(eager.summary["execution_time"], json!(alone(2048, 1.0)));
}

#[test]
fn a_send_is_done_when_its_last_byte_has_left_if_its_host_says_so() {
    let text = pair([&["s 1 7 4096 0", "c 10"], &["r 0 7 4096 0"]], "");
    assert_eq!(column(&run(&text).unwrap(), "ranks", "finish"), [10, alone(4096, 1.0)]);
    let injected = run(&format!("{text}[jobs.host]\nsend_completes = \"injected\"\n")).unwrap();
    // The second packet begins when the bus has brought the first one, and is on the link for 1024 ns.
    let left = (2048.0_f64 * 8.0 / 13.0 + 1024.0).ceil() as u64;
    assert_eq!(column(&injected, "messages", "left"), [left]);
    assert_eq!(column(&injected, "ranks", "finish"), [left + 10, alone(4096, 1.0)]);
}

#[test]
fn messages_of_a_node_begin_a_gap_apart() {
    let text = pair([&["s 1 7 64 0", "s 1 7 64 0"], &["r 0 7 64 0", "r 0 7 64 0"]], "");
    let outcome = run(&format!("{text}[jobs.host]\ngap = 500\n")).unwrap();
    assert_eq!(column(&outcome, "messages", "joined"), [0, 0]);
    assert_eq!(column(&outcome, "messages", "arrived"), [alone(64, 1.0), 500 + alone(64, 1.0)]);
}

#[test]
fn programs_begin_when_they_are_told_and_end_the_run_of_those_repeated_forever() {
    let other = "[[jobs]]\nname = \"noise\"\nplacement = { list = [0, 3] }\nrepeat = \"forever\"\n\
        program.collective = { kind = \"barrier\", repeat = 2 }\n";
    let text = pair([&["s 1 7 64 0"], &["r 0 7 64 0"]], "");
    let outcome = run(&format!("{text}start = 1000\n{other}")).unwrap();
    let time = alone(64, 1.0);
    assert_eq!(outcome.jobs[0]["execution_time"], json!(time));
    assert_eq!(outcome.jobs[1]["execution_time"], json!(null));
    let barriers = outcome.jobs[1]["messages"].as_u64().unwrap();
    // Two messages for each barrier, which takes as long as one.
    assert!(barriers.abs_diff(2 * (1000 + time) / alone(0, 1.0)) <= 2, "{barriers}");
    let seconds = outcome.summary["time_s"].as_f64().unwrap();
    assert!((seconds * 1e9 - (1000 + time) as f64).abs() < 1e-6, "{seconds}");
}

#[test]
fn flows_beside_a_program_slow_it_down_and_end_with_it() {
    let text = pair([&["s 1 7 2048 0"; 64], &["r 0 7 2048 0"; 64]], "");
    let alone = run(&text).unwrap().summary["execution_time"].as_u64().unwrap();
    let beside = run(&format!("{text}[[jobs]]\nflows = [{{ source = 0, destination = 1 }}]\n")).unwrap();
    let time = beside.jobs[0]["execution_time"].as_u64().unwrap();
    assert!(time > alone * 3 / 2 && time < alone * 5 / 2, "{time} beside a flow, {alone} alone");
    let received = beside.jobs[1]["throughput_gbps"].as_f64().unwrap();
    assert!((5.0..9.0).contains(&received), "{received}");
}

#[test]
fn nodes_draw_beside_a_program_what_they_draw_alone() {
    let text = pair([&["c 1000000"], &["c 1000000"]], "");
    let drawn =
        "[[jobs]]\nplacement = { list = [0, 3] }\nmessages = { rate = \"1 Gb/s\", gaps = \"even\" }\n";
    let received = run(&format!("{text}{drawn}")).unwrap().jobs[1]["throughput_gbps"].as_f64().unwrap();
    assert!((received / 2.0 - 1.0).abs() < 0.04, "{received} Gb/s of two nodes that draw 1 Gb/s each");
}

#[test]
fn a_job_alone_takes_what_it_takes_without_the_others_on_its_nodes() {
    let noise = "[[jobs]]\nname = \"noise\"\nflows = [{ source = 0, destination = 1 }]\n";
    let beside = |more: &str| pair([&["s 1 7 2048 0"; 64], &["r 0 7 2048 0"; 64]], more);
    let time = |text: &str| run(text).unwrap().summary["execution_time"].clone();
    let without = time(&beside(""));
    let alone = run(&beside(&format!("only = [\"pair\"]\n{noise}"))).unwrap();
    assert_eq!(alone.summary["execution_time"], without);
    assert_eq!((alone.jobs.len(), &alone.jobs[0]["job"]), (1, &json!("pair")));
    assert_ne!(time(&beside(noise)), without);
    let said = message_of(&beside(&format!("only = [\"noise\"]\n{noise}")), &[]);
    assert!(said.contains("names no job that a run could end with"), "{said}");
}

#[test]
fn a_program_that_does_not_end_says_why() {
    let said = |text: &str| run(text).expect_err("it does not end").to_string();
    // Both wait for the other's receive.
    let facing = pair([&["s 1 7 64 0", "r 1 7 64 0"], &["s 0 7 64 0", "r 0 7 64 0"]], "");
    let facing = format!("{facing}[jobs.host]\neager_limit = 0\n");
    let stuck = said(&facing);
    assert!(stuck.contains("its rendezvous send of 64 B to rank 1 has no receive"), "{stuck}");
    // Also beside a flow that never ends.
    assert_eq!(said(&format!("{facing}[[jobs]]\nflows = [{{ source = 0, destination = 3 }}]\n")), stuck);
    let long = pair([&["s 1 7 64 0"], &["r 0 7 64 0"]], "[measure]\nmax_cycles = 100");
    let long = said(&long.replace("measure.streams = [\"ranks\", \"messages\"]\n", ""));
    assert!(
        long.starts_with("measure.max_cycles = 100: programs are not done: job pair has begun 100.0 %"),
        "{long}"
    );
}

#[test]
fn a_message_that_nobody_receives_is_reported_wherever_it_is() {
    // There; on its way; in the queue of its node for the gap.
    for (bytes, gap) in [(64, 0), (4_000_000, 0), (64, 100_000)] {
        let records = format!("s 1 7 {bytes} 0\n").repeat(2);
        let text =
            format!("mpt 1\nname x\nranks 2\ncomm 0 2 0 1\nrank 0 2\n{records}rank 1 1\nc 9000\nend\n");
        let trace = Arc::new(mpt::read(text.as_bytes()).unwrap());
        let document = json!({
            "topology": { "fat_tree": { "k": 4, "levels": 1 } },
            "router": { "infiniband": {} },
            "jobs": [{ "program": { "trace": { "file": "x" } }, "host": { "gap": gap } }],
        });
        let experiment = document::from_json(&document.to_string()).unwrap();
        let plan = AnyPlan::new(&experiment, &|_| Ok(Program::Script(trace.clone()))).unwrap();
        let Err(RunError::Unmatched(report)) = run_any(&plan, &Control::default()) else {
            panic!("{bytes} bytes, gap {gap}: not reported")
        };
        let messages = report.first.iter().map(|message| (message.source, message.number, message.bytes));
        assert_eq!(messages.collect::<Vec<_>>(), [(0, 0, bytes), (0, 1, bytes)]);
    }
}

#[test]
fn a_resolved_document_with_a_program_is_one() {
    let text = pair([&["c 1"], &["c 1"]], "");
    let point = document::points(&text, &[]).unwrap().remove(0);
    let plan = AnyPlan::new(&point.experiment, &no_files).unwrap();
    let resolved = document::resolved(&plan.into_experiment()).unwrap();
    assert_eq!(resolved["measure"]["max_cycles"], json!(3_000_000_000_u32));
    assert!(resolved["measure"].get("time").is_none(), "{resolved}");
    let again = document::points(&resolved.to_string(), &[]);
    assert!(again.is_ok() || document::from_json(&resolved.to_string()).is_ok());
}

#[test]
fn what_programs_have_elsewhere_or_only_here_is_refused() {
    let text = pair([&["c 1"], &["c 1"]], "");
    for (key, value, message) in [
        (
            "measure.time.window",
            "1 ms",
            "measure.time.window (override): a run of programs begins at 0 and ends when they are done; valid: no such key; measure.max_cycles",
        ),
        (
            "measure.cycles",
            "5",
            "measure.cycles (override): a run of programs begins at cycle 0 and ends when they are done; valid: no such key; measure.max_cycles",
        ),
        (
            "jobs.0.host.packet_length",
            "8",
            "jobs.0.host.packet_length (override): packets of an InfiniBand fabric have the length of the MTU; valid: no such key; router.infiniband.mtu",
        ),
        (
            "jobs.0.host.service_level",
            "16",
            "jobs.0.host.service_level = 16 (override): out of range; valid: 0 … 15",
        ),
        (
            "router.infiniband.host.cycle",
            "0 ns",
            "router.infiniband.host.cycle = \"0 ns\" (override): is not a positive number and a unit; valid: a decimal number above 0 and ps, ns, us, ms, s",
        ),
        (
            "units",
            "{ cycle = \"1 ns\", phit = \"4 B\" }",
            "units (override): is not of InfiniBand fabrics; valid: no such key",
        ),
    ] {
        let said = message_of(&text, &[&format!("{key}={value}")]);
        assert!(said.starts_with(message), "{key}: {said}\ninstead of\n{message}");
    }
    let flows = "topology.fat_tree = { k = 4, levels = 1 }\nrouter = \"infiniband\"\n\
        jobs = [{ flows = [{ source = 0, destination = 1 }] }]\n";
    let said = message_of(flows, &["measure.max_cycles=7"]);
    assert!(said.starts_with("measure.max_cycles (override): is for runs of programs"), "{said}");
    let said = message_of(flows, &["measure.streams=[\"ranks\"]"]);
    assert!(said.contains("no job runs a program; valid: flows,"), "{said}");
    let torus = "topology.torus.sides = [4, 4]\nunits = { cycle = \"1 ns\", phit = \"4 B\" }\n\
        [[jobs]]\nprogram.collective = { kind = \"barrier\" }\nhost.service_level = 1\n";
    let said = message_of(torus, &[]);
    assert!(
        said.contains("jobs.0.host.service_level")
            && said.contains("is for fabrics of InfiniBand or Ethernet"),
        "{said}"
    );
}
