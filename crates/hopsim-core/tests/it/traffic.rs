//! Laws of traffic beyond a Bernoulli process that never changes: bursts, changes, requests and replies.

use hopsim_core::engine::{Control, Outcome, audit, run, trace};
use hopsim_experiment::config::Experiment;
use hopsim_experiment::plan::Plan;
use hopsim_measure::Column;
use hopsim_measure::trace::PacketTrace;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

fn plan(document: &Value) -> Plan {
    let experiment: Experiment = serde_json::from_value(document.clone()).expect("a valid document");
    Plan::new(&experiment).expect("a valid plan")
}

fn outcome(document: &Value) -> Outcome {
    run(&plan(document), &Control::default()).expect("no deadlock")
}

fn number(record: &Map<String, Value>, key: &str) -> f64 {
    record[key].as_f64().unwrap_or_else(|| panic!("{key} is {}", record[key]))
}

fn column<'a>(outcome: &'a Outcome, table: &str, name: &str) -> &'a Column {
    let table = &outcome.tables.iter().find(|(title, _)| title == table).expect("a table").1;
    &table.iter().find(|(title, _)| title == name).expect("a column").1
}

fn numbers(outcome: &Outcome, table: &str, name: &str) -> Vec<f64> {
    match column(outcome, table, name) {
        Column::U32(values) => values.iter().map(|&v| f64::from(v)).collect(),
        Column::F64(values) => values.clone(),
        _ => panic!("{name} is no number"),
    }
}

fn network(traffic: &Value) -> Value {
    json!({
        "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2 } },
        "jobs": [{ "traffic": traffic }],
        "measure": { "warmup": 5_000, "cycles": 40_000, "seed": 3 }
    })
}

fn bursty(load: f64, burst_length: f64) -> Value {
    json!({ "process": { "bursty": { "load": load, "burst_length": burst_length } } })
}

fn requests(load: f64, reply: &Value) -> Value {
    json!({ "process": { "bernoulli": { "load": load } }, "request_reply": reply })
}

/// Lengths of the bursts: packets of a source in consecutive cycles to one destination.
fn burst_lengths(traces: &[PacketTrace]) -> Vec<u32> {
    let mut lengths: Vec<u32> = vec![1];
    for pair in traces.windows(2) {
        let continues = pair[0].source == pair[1].source
            && pair[0].generated + 1 == pair[1].generated
            && pair[0].destination == pair[1].destination;
        match lengths.last_mut() {
            Some(last) if continues => *last += 1,
            _ => lengths.push(1),
        }
    }
    lengths
}

#[test]
fn bursts_have_the_mean_length_and_the_network_accepts_what_is_offered() {
    for compat in [Value::Null, json!("fogsim")] {
        let mut document = network(&bursty(0.2, 5.0));
        document["compat"] = compat;
        let record = outcome(&document).summary;
        // 72 nodes and 72,000 packets in bursts of 5: sigma of the load about 0.2 sqrt(9 / 72,000) = 0.0022.
        assert!((number(&record, "accepted_load") - 0.2).abs() < 0.009, "{record:?}");
        let lengths = burst_lengths(&trace(&plan(&document), 30_000).expect("no deadlock"));
        let mean = f64::from(lengths.iter().sum::<u32>()) / lengths.len() as f64;
        // Geometric: sigma 4.5 over about 10,000 bursts is 0.045.
        assert!((mean - 5.0).abs() < 0.2, "{mean}");
    }
}

#[test]
fn bursts_lose_no_packet_where_bernoulli_traffic_does() {
    for queue in [0, 3] {
        let dropped = |process: &str| {
            let mut document = network(&json!({ "process": { process: { "load": 1.0 } } }));
            document["compat"] = json!("fogsim");
            document["nic"] = json!({ "source_queue": { "packets": queue } });
            number(&outcome(&document).summary, "packets_dropped")
        };
        assert!(dropped("bernoulli") > 0.0);
        assert!(dropped("bursty") < 0.5);
    }
}

#[test]
fn bursts_of_one_packet_are_bernoulli_traffic() {
    let latency = |traffic| number(&outcome(&network(&traffic)).summary, "packet_latency_mean");
    let bernoulli = latency(json!({ "process": { "bernoulli": { "load": 0.4 } } }));
    assert!((latency(bursty(0.4, 1.0)) - bernoulli).abs() < 0.5);
    assert!(latency(bursty(0.4, 10.0)) > bernoulli + 20.0);
}

#[test]
fn a_change_of_load_takes_effect_in_its_cycle() {
    for process in ["bernoulli", "bursty"] {
        let mut document = network(&json!({
            "process": { process: { "load": 0.0 } },
            "changes": [{ "cycle": 10_000, "load": 0.4 }, { "cycle": 20_000, "load": 0.1 }]
        }));
        document["measure"]["interval"] = json!(10_000);
        document["measure"]["cycles"] = json!(25_000);
        let outcome = outcome(&document);
        let offered = 0.4 * 10.0 / 25.0 + 0.1 * 10.0 / 25.0;
        assert!((number(&outcome.summary, "offered_load") - offered).abs() < 1e-12);
        let generated = numbers(&outcome, "timeseries", "generated");
        assert!(generated[0] < 0.5);
        // 36,000 and 9,000 packets expected; sigma with bursts about three times the root.
        assert!((generated[1] - 36_000.0).abs() < 2_500.0, "{process}: {generated:?}");
        assert!((generated[2] - 9_000.0).abs() < 1_500.0, "{process}: {generated:?}");
    }
}

#[test]
fn a_change_of_pattern_shows_by_cycle_of_generation() {
    let mut document = network(&json!({
        "process": { "bernoulli": { "load": 0.3 } }, "changes": [{ "cycle": 20_000, "pattern": { "adversarial": {} } }]
    }));
    document["measure"] =
        json!({ "warmup": 10_000, "cycles": 20_000, "interval": 1_000, "streams": ["generation"] });
    let outcome = outcome(&document);
    let latency = numbers(&outcome, "generation_series", "latency_mean");
    assert_eq!(latency.len(), 30);
    // ADV+1 accepts 1/8 of a load of 0.3, so packets generated later wait longer.
    assert!(latency[5..20].iter().all(|&l| l < 200.0), "{latency:?}");
    assert!(latency[20] > 500.0 && latency[21] > latency[20] + 500.0, "{latency:?}");
    let before = |t: &&PacketTrace| t.generated < 20_000;
    let traces = trace(&plan(&document), 25_000).expect("no deadlock");
    let ahead = |t: &PacketTrace| (t.destination / 8 + 9 - t.source / 8) % 9;
    assert!(traces.iter().filter(|t| !before(t)).all(|t| ahead(t) == 1));
    assert!(traces.iter().filter(before).any(|t| ahead(t) != 1));
}

/// Requests and replies by the VC of their last hop, with the nodes that sent them.
fn requests_and_replies(traces: &[PacketTrace]) -> (Vec<&PacketTrace>, Vec<&PacketTrace>) {
    let done = traces.iter().filter(|t| t.delivered.is_some());
    done.partition(|t| t.hops.last().is_some_and(|hop| hop.vc > 0))
}

#[test]
fn every_delivered_request_has_exactly_one_reply() {
    for compat in [Value::Null, json!("fogsim")] {
        let mut document = network(&requests(0.6, &json!({})));
        // After 2,000 cycles nothing more is generated, so that the network runs empty.
        document["jobs"][0]["traffic"]["changes"] = json!([{ "cycle": 2_000, "load": 0.0 }]);
        document["measure"] = json!({ "warmup": 1_000, "cycles": 7_000 });
        document["compat"] = compat;
        let traces = trace(&plan(&document), 8_000).expect("no deadlock");
        assert!(traces.iter().all(|t| t.delivered.is_some()), "the network is empty in the end");
        let (requests, replies) = requests_and_replies(&traces);
        assert!(requests.len() > 4_000);
        let key = |from: u32, to: u32, at: u32| (from, to, at);
        let mut asked: Vec<_> =
            requests.iter().map(|t| key(t.source, t.destination, t.delivered.unwrap_or(0))).collect();
        let mut answered: Vec<_> =
            replies.iter().map(|t| key(t.destination, t.source, t.generated)).collect();
        asked.sort_unstable();
        answered.sort_unstable();
        assert_eq!(asked, answered, "a reply is generated when its request is delivered");
    }
}

#[test]
fn at_most_so_many_requests_are_under_way() {
    for (outstanding, compat) in [(1, Value::Null), (3, json!("fogsim")), (3, Value::Null)] {
        let mut document = network(&requests(1.0, &json!({ "outstanding": outstanding })));
        document["compat"] = compat;
        let traces = trace(&plan(&document), 6_000).expect("no deadlock");
        let (requests, replies) = requests_and_replies(&traces);
        let under_way: Vec<_> = traces.iter().filter(|t| t.delivered.is_none()).collect();
        let mut events: BTreeMap<u32, Vec<(u32, i32)>> = BTreeMap::new();
        for t in &requests {
            events.entry(t.source).or_default().push((t.hops[0].arrived, 1));
        }
        for t in &replies {
            events.entry(t.destination).or_default().push((t.delivered.unwrap_or(0), -1));
        }
        assert!(under_way.len() <= 72 * outstanding as usize);
        for mut list in events.into_values() {
            // A reply that comes home in a cycle lets a request go in that cycle, which arrives one later.
            list.sort_unstable();
            let most = list
                .iter()
                .scan(0, |sum, &(_, step)| {
                    *sum += step;
                    Some(*sum)
                })
                .max();
            assert_eq!(most, Some(outstanding));
        }
    }
}

#[test]
fn requests_are_half_the_load_and_both_halves_are_accepted() {
    let record = outcome(&network(&requests(0.4, &json!({})))).summary;
    let load = |key: &str| number(&record, key);
    assert!((load("accepted_load") - 0.4).abs() < 0.006, "{record:?}");
    assert!((load("request_accepted_load") - 0.2).abs() < 0.004, "{record:?}");
    assert!((load("reply_accepted_load") - 0.2).abs() < 0.004, "{record:?}");
    assert!((load("generated_load") - load("injected_load")).abs() < 0.003);
    assert!((load("node_injection_mean") - 0.2).abs() < 0.004, "counts by node are of requests");
    let mean = f64::midpoint(load("request_latency_mean"), load("reply_latency_mean"));
    assert!((mean - load("packet_latency_mean")).abs() < 0.5);
    // From the departure of the request to its node its reply counts again: one packet length less than both.
    let both = load("request_latency_mean") + load("reply_latency_mean") - 8.0;
    assert!((both - load("response_latency_mean")).abs() < 1.0, "{record:?}");
}

#[test]
fn one_way_jobs_have_no_figures_of_requests() {
    let record = outcome(&network(&bursty(0.1, 2.0))).summary;
    assert!(!record.contains_key("request_accepted_load"));
}

#[test]
fn requests_and_replies_at_full_load_keep_moving() {
    for routing in [json!({ "minimal": {} }), json!({ "valiant": {} })] {
        for policy in ["shortest", "destination", "random"] {
            let mut document = network(&requests(1.0, &json!({})));
            document["routing"] = routing.clone();
            document["nic"] = json!({ "injection_vc": policy });
            // Room for a single packet everywhere, so that every wait that can be a deadlock becomes one.
            document["router"] = json!({ "cioq": {
                "buffers": { "local": 8, "global": 8, "injection": 8, "output": 8 }
            } });
            document["measure"] =
                json!({ "warmup": 0, "cycles": 20_000, "interval": 1_000, "watchdog": 500 });
            let delivered = numbers(&outcome(&document), "timeseries", "delivered");
            assert!(
                delivered[2..].iter().all(|&packets| packets > 100.0),
                "{routing} {policy}: {delivered:?}"
            );
        }
    }
}

#[test]
fn invariants_hold_in_every_cycle() {
    for policy in ["shortest", "destination", "random"] {
        for compat in [Value::Null, json!("fogsim")] {
            for process in ["bernoulli", "bursty"] {
                let document = json!({
                    "compat": compat,
                    "topology": { "dragonfly": { "p": 2, "a": 2, "h": 1 } },
                    "router": { "cioq": { "buffers": { "injection": 20 } } },
                    "nic": { "injection_vc": policy },
                    "jobs": [
                        { "placement": { "nodes": { "first": 0, "count": 8 } }, "traffic": {
                            "process": { process: { "load": 0.9 } }, "request_reply": { "outstanding": 7 },
                            "changes": [{ "cycle": 700, "load": 0.3 }]
                        } },
                        { "placement": { "nodes": { "first": 8, "count": 4 } }, "traffic": {
                            "process": { "bernoulli": { "load": 0.5 } }, "packet_length": 5
                        } },
                    ],
                    "measure": { "warmup": 0, "cycles": 1_500 }
                });
                assert_eq!(audit(&plan(&document), 1_500), Ok(()), "{document}");
            }
        }
    }
}

#[test]
fn occupancy_follows_littles_law() {
    let mut document = network(&json!({ "process": { "bernoulli": { "load": 0.5 } } }));
    document["measure"]["streams"] = json!(["occupancy"]);
    let outcome = outcome(&document);
    let Column::Text(class) = column(&outcome, "occupancy", "port_class") else { panic!("names") };
    let (held, sent) =
        (numbers(&outcome, "occupancy", "occupancy_mean"), numbers(&outcome, "occupancy", "utilisation"));
    let sum = |name: &str, values: &[f64]| -> f64 {
        class.iter().zip(values).filter(|(c, _)| *c == name).map(|(_, v)| v).sum()
    };
    // What is ejected is the accepted load; what passes the links is load times hops, by link.
    let record = &outcome.summary;
    assert!((sum("ejection", &sent) - number(record, "accepted_load")).abs() < 0.01);
    let global = number(record, "accepted_load") * number(record, "global_hops_mean");
    assert!((sum("global", &sent) - global).abs() < 0.01, "p = h: as many global links as nodes");
    // In a global buffer: everything between arrival and grant, three crossbar cycles and some output queue less.
    let held = sum("global", &held) / sum("global", &sent);
    assert!(
        held > 0.0 && held < number(record, "global_queue_latency_mean") / number(record, "global_hops_mean")
    );
}

#[test]
fn what_a_part_of_a_mix_would_send_to_its_own_node_is_not_sent() {
    let parts = json!([
        { "weight": 1.0, "pattern": { "uniform": {} } }, { "weight": 1.0, "pattern": { "permutation": "transpose" } }
    ]);
    let document = json!({
        "topology": { "mesh": { "sides": [4, 4] } }, "load": 0.4,
        "jobs": [{ "traffic": { "pattern": { "mix": parts } } }],
        "measure": { "warmup": 0, "cycles": 20_000 }
    });
    let packets = trace(&plan(&document), 20_000).expect("no deadlock");
    assert!(packets.iter().all(|packet| packet.source != packet.destination));
    let of = |node: u32| packets.iter().filter(|packet| packet.source == node).count() as f64;
    // Nodes on the diagonal send the uniform half: of 1,000 packets 500, with a standard deviation of 22.
    let (diagonal, others) = (of(0) + of(5) + of(10) + of(15), of(1) + of(2) + of(3) + of(4));
    assert!((diagonal / others - 0.5).abs() < 0.06, "{diagonal} {others}");
}
