//! Small programs on the ideal network, compared with an independent model: `tests/data/examples.json` has what it gives.

use hopsim_programs::formats::{goal, mpt};
use hopsim_programs::graph::Graph;
use hopsim_programs::host::Host;
use hopsim_programs::host::rules::{Rules, SendCompletes};
use hopsim_programs::ideal::{Ejection, Failure, Ideal, Latency, Network};
use hopsim_programs::record::Script;
use hopsim_programs::units::Fraction;
use serde_json::{Map, Value};
use std::sync::Arc;

fn fraction(value: &Value) -> Fraction {
    Fraction::from_decimal(&value.to_string()).expect("a positive number")
}

fn number(value: &Value) -> u32 {
    value.as_u64().expect("a number") as u32
}

/// The rules of an example: a cycle of 1 ns, phits of 4 B and packets of 1,024 phits unless it says otherwise.
fn rules(host: &Map<String, Value>) -> Rules {
    let mut rules = Rules { packet_length: 1024, ..Rules::default() };
    let (mut cycle, mut speed) = (Fraction::ONE, Some(Fraction::ONE));
    for (key, value) in host {
        match key.as_str() {
            "cycle_ns" => cycle = fraction(value),
            "cpu_speed" => speed = (value != "infinite").then(|| fraction(value)),
            "phit_bytes" => rules.phit = fraction(value),
            "send_overhead" => rules.send_overhead = number(value),
            "receive_overhead" => rules.receive_overhead = number(value),
            "gap" => rules.gap = number(value),
            "eager_limit" => rules.eager_limit = value.as_u64(),
            "send_completes" => rules.send_completes = SendCompletes::Injected,
            "packet_length" => rules.packet_length = number(value),
            "header_length" => rules.header_length = number(value),
            "last_packet" => rules.last_packet_full = value == "full",
            "any_source" => rules.first_of_any_source = value == "first",
            "collectives" => {
                let names = value.as_object().expect("a table");
                for (kind, algorithm) in names {
                    rules.collectives.set(kind, algorithm.as_str().expect("a name")).expect("an algorithm");
                }
            }
            other => panic!("{other} is not known"),
        }
    }
    rules.cycles_per_nanosecond = speed.map(|speed| speed.times(cycle).expect("small").inverse());
    rules
}

fn network(given: &Map<String, Value>) -> Network<'static> {
    let mut network =
        Network { latency: Latency::Constant(500), cycles_per_phit: 1, ejection: Ejection::Unlimited };
    for (key, value) in given {
        match key.as_str() {
            "latency" => network.latency = Latency::Constant(number(value)),
            "cycles_per_phit" => network.cycles_per_phit = number(value),
            "ejection" => network.ejection = Ejection::Serial,
            other => panic!("{other} is not known"),
        }
    }
    network
}

fn hosts(format: &str, program: &str, rules: &Arc<Rules>) -> Vec<Host> {
    match format {
        "mpt" => {
            let trace: Arc<dyn Script> = Arc::new(mpt::read(program.as_bytes()).expect("a trace"));
            (0..trace.ranks()).map(|rank| Host::of_script(rank, &trace, rules)).collect()
        }
        "goal" => hosts_of_graph(goal::read(program.as_bytes()).expect("a graph"), rules),
        "mpt exported to goal" => {
            let trace = mpt::read(program.as_bytes()).expect("a trace");
            let mut text = Vec::new();
            goal::write(&trace, &rules.collectives, &mut text).expect("a text");
            hosts_of_graph(goal::read(text.as_slice()).expect("a graph"), rules)
        }
        other => panic!("{other} is not known"),
    }
}

fn hosts_of_graph(graph: Graph, rules: &Arc<Rules>) -> Vec<Host> {
    let graph = Arc::new(graph);
    (0..graph.ranks.len() as u32).map(|rank| Host::of_graph(rank, &graph, rules)).collect()
}

/// What happened, as the file has it.
fn outcome(example: &Value) -> Value {
    let table = |key: &str| example[key].as_object().expect("a table").clone();
    let rules = Arc::new(rules(&table("host")));
    let text = |key: &str| example[key].as_str().expect("a text");
    let hosts = hosts(text("format"), text("program"), &rules);
    let mut ideal = Ideal::new(network(&table("network")), hosts, 0);
    let mut latencies = Vec::new();
    let left = ideal.advance(u32::MAX, |letter, at| latencies.push(at - letter.joined));
    assert!(!left);
    latencies.sort_unstable();
    let finish: Vec<u32> = ideal.hosts().iter().map(|host| host.figures().finish).collect();
    match ideal.verdict() {
        Ok(()) => serde_json::json!({
            "execution_time": finish.iter().max(),
            "finish": finish,
            "messages": latencies.len(),
            "message_latency": latencies,
        }),
        Err(Failure::Stuck(cycle)) => {
            let open: Vec<u32> =
                ideal.hosts().iter().filter(|host| !host.is_done()).map(Host::rank).collect();
            serde_json::json!({ "error": "stuck", "cycle": cycle, "ranks": open })
        }
        Err(Failure::Unmatched) => {
            let untaken = ideal.hosts().iter().flat_map(|host| {
                host.untaken().into_iter().map(|(envelope, message)| (envelope, message, host.rank()))
            });
            let first = untaken.min_by_key(|(envelope, message, _)| (envelope.source, message.number));
            let (envelope, message, destination) = first.expect("one");
            serde_json::json!({
                "error": "unmatched send",
                "source": envelope.source,
                "destination": destination,
                "tag": envelope.tag,
                "bytes": message.bytes,
            })
        }
    }
}

#[test]
fn every_rank_of_every_example_finishes_in_the_cycle_that_the_independent_model_says() {
    let examples: Vec<Value> = serde_json::from_str(include_str!("data/examples.json")).unwrap();
    let mut wrong = Vec::new();
    for example in &examples {
        let got = outcome(example);
        if got != example["result"] {
            wrong.push(format!("{}: {got} instead of {}", example["name"], example["result"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), examples.len(), wrong.join("\n"));
}

#[test]
fn a_trace_exported_to_goal_takes_the_same_cycles_without_overheads() {
    let examples: Vec<Value> = serde_json::from_str(include_str!("data/examples.json")).unwrap();
    let mut compared = 0;
    for mut example in examples {
        let has_overhead = |side| example["host"].get(side).is_some();
        if example["format"] != "mpt" || has_overhead("send_overhead") || has_overhead("receive_overhead") {
            continue;
        }
        let expected = outcome(&example);
        example["format"] = "mpt exported to goal".into();
        assert_eq!(outcome(&example), expected, "{}", example["name"]);
        compared += 1;
    }
    assert!(compared > 25);
}
