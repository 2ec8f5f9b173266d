//! Laws of the stream that follows packets from router to router.

use hopsim_core::engine::{Control, Outcome, Trial, run, run_as, trace};
use hopsim_core::error::RunError;
use hopsim_experiment::config::Experiment;
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::plan::Plan;
use hopsim_measure::{Column, Table};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const CAUSES: [&str; 5] = ["queued", "room", "bubble", "output", "crossbar"];

fn plan(document: &Value) -> Plan {
    let experiment: Experiment = serde_json::from_value(document.clone()).expect("a valid document");
    Plan::new(&experiment).expect("a valid plan")
}

fn outcome(document: &Value) -> Outcome {
    run(&plan(document), &Control::default()).expect("no deadlock")
}

fn table<'a>(outcome: &'a Outcome, name: &str) -> &'a Table {
    &outcome.tables.iter().find(|(other, _)| other == name).expect("it is recorded").1
}

/// In a column: there is no value.
const NOTHING: i64 = -1;

/// A column of whole numbers; names by their place.
fn column(table: &Table, name: &str) -> Vec<i64> {
    let whole = |value: &f64| if value.is_nan() { NOTHING } else { *value as i64 };
    match &table.iter().find(|(other, _)| other == name).expect("there is such a column").1 {
        Column::U32(values) => values.iter().map(|&value| value.into()).collect(),
        Column::U64(values) => values.iter().map(|&value| value as i64).collect(),
        Column::F64(values) => values.iter().map(whole).collect(),
        Column::Named { rows, .. } => rows.iter().map(|&row| row.into()).collect(),
        Column::Text(_) => panic!("{name} is a name"),
    }
}

/// The values of some columns, row by row.
fn rows<const N: usize>(table: &Table, names: [&str; N]) -> Vec<[i64; N]> {
    let columns = names.map(|name| column(table, name));
    (0..columns[0].len()).map(|row| columns.each_ref().map(|column| column[row])).collect()
}

/// Networks whose packets wait for everything there is to wait for.
fn documents() -> Vec<Value> {
    let measure = json!({ "warmup": 300, "cycles": 700, "streams": ["waits", "packet_hops"] });
    let dragonfly = json!({
        "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2 } }, "routing": { "olm": {} }, "load": 0.6,
        "router": { "cioq": { "pipeline_latency": 3 } },
        "jobs": [{ "traffic": { "pattern": { "adversarial": { "offset": 1 } } } }], "measure": measure,
    });
    let torus = json!({
        "topology": { "torus": { "sides": [4, 4], "nodes_per_router": 2 } }, "load": 0.5,
        "router": { "input_queued": { "vcs": { "injection": 4 } } },
        "nic": { "injection_vc": "direction", "injection_ports": 2 },
        "jobs": [{ "traffic": { "packet_length": 4 } }], "measure": measure,
    });
    let program = json!({
        "topology": { "mesh": { "sides": [3, 3] } },
        "jobs": [{ "program": { "collective": { "kind": "alltoall", "bytes": 512 } } }],
        "units": { "cycle": "1 ns", "phit": "4 B" }, "measure": { "streams": ["waits", "packet_hops"] },
    });
    vec![dragonfly, torus, program]
}

#[test]
fn what_single_packets_wait_for_adds_up_to_what_all_wait_for() {
    for document in documents() {
        let outcome = outcome(&document);
        let hops = table(&outcome, "packet_hops");
        let (first, end) = match document["measure"]["warmup"].as_i64() {
            Some(warmup) => (warmup, warmup + 700),
            None => (0, i64::MAX),
        };
        let mut sums: BTreeMap<[i64; 3], [i64; 6]> = BTreeMap::new();
        let places = rows(hops, ["router", "port", "vc"]);
        let granted = column(hops, "granted");
        for (row, causes) in rows(hops, CAUSES).into_iter().enumerate() {
            if (first..end).contains(&granted[row]) {
                let sums = sums.entry(places[row]).or_default();
                sums[0] += 1;
                sums[1..].iter_mut().zip(causes).for_each(|(sum, cause)| *sum += cause);
            }
        }
        let waits = table(&outcome, "waits");
        let names = ["packets", "queued", "room", "bubble", "output", "crossbar"];
        let mut all: BTreeMap<[i64; 3], [i64; 6]> = BTreeMap::new();
        for (place, row) in rows(waits, ["router", "port", "vc"]).into_iter().zip(rows(waits, names)) {
            if row[0] > 0 {
                all.insert(place, row);
            }
        }
        assert_eq!(sums, all);
        assert!(sums.len() > 20);
    }
}

#[test]
fn the_parts_of_a_life_are_its_latency() {
    for document in documents() {
        let plan = plan(&document);
        let outcome = run(&plan, &Control::default()).expect("no deadlock");
        let hops = table(&outcome, "packet_hops");
        let keys = rows(hops, ["generated", "source", "serial", "hop"]);
        assert!(keys.windows(2).all(|two| two[0] < two[1]), "in order, each once");
        let lives = rows(hops, ["length", "delivered", "arrived", "granted", "departed"]);
        let ports = rows(hops, ["router", "port", "port_class", "peer_router"]);
        let waited: Vec<i64> = rows(hops, CAUSES).iter().map(|causes| causes.iter().sum()).collect();
        for (row, [length, delivered, arrived, granted, departed]) in lives.iter().copied().enumerate() {
            assert_eq!(waited[row] + i64::from(plan.system.router.pipeline_latency()), granted - arrived);
            assert!(departed >= granted + i64::from(plan.system.router.cioq().unwrap().crossbar_latency));
            if keys[row][3] == 0 {
                assert!(arrived >= keys[row][0]);
            }
            let [router, port, class, peer] = ports[row];
            if class == 0 {
                assert_eq!(delivered, departed + length);
                continue;
            }
            let is_next = |key: &[i64; 4]| key[..3] == keys[row][..3];
            if let Some(next) = keys.get(row + 1).filter(|key| is_next(key)).map(|_| row + 1) {
                let latency = plan.system.network.link(router as u32, port as usize).latency;
                assert_eq!(lives[next][2], departed + i64::from(latency));
                assert_eq!(ports[next][0], peer);
                assert_eq!(lives[next][1], delivered, "of one packet");
            } else {
                assert_eq!(delivered, NOTHING, "it is still inside");
            }
        }
    }
}

#[test]
fn the_mean_over_all_packets_is_that_of_the_summary() {
    for document in documents().into_iter().take(2) {
        let outcome = outcome(&document);
        let hops = table(&outcome, "packet_hops");
        let rows = rows(hops, ["generated", "delivered", "port_class", "departed"]);
        let ended = rows.iter().filter(|row| row[2] == 0 && (300..1000).contains(&row[3]));
        let latencies: Vec<i64> = ended.map(|row| row[1] - row[0]).collect();
        let mean = latencies.iter().sum::<i64>() as f64 / latencies.len() as f64;
        let summary = outcome.summary["packet_latency_mean"].as_f64().expect("packets arrive");
        assert!((mean - summary).abs() < 1e-9, "{mean} {summary}");
    }
}

#[test]
fn the_rows_are_the_hops_that_packets_make() {
    for document in documents() {
        let plan = plan(&document);
        let outcome = run(&plan, &Control::default()).expect("no deadlock");
        // A run of programs ends when they are done.
        let end = if plan.system.has_programs() { 100_000 } else { 1000 };
        let names =
            ["source", "serial", "router", "port", "vc", "arrived", "granted", "departed", "misrouted"];
        let mut found = rows(table(&outcome, "packet_hops"), names);
        let traces = trace(&plan, end).expect("no deadlock");
        let of_packet = traces.iter().flat_map(|packet| {
            packet.hops.iter().map(|hop| {
                let key = [packet.source, packet.serial, hop.router, hop.port.into(), hop.vc.into()];
                let [source, serial, router, port, vc] = key.map(i64::from);
                let [arrived, granted, departed] = [hop.arrived, hop.granted, hop.departed].map(i64::from);
                let misrouted = i64::from(hop.misrouted);
                [source, serial, router, port, vc, arrived, granted, departed, misrouted]
            })
        });
        let mut expected: Vec<[i64; 9]> = of_packet.collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
        assert!(found.len() > 100);
    }
}

/// Whether a row is of a chosen packet.
type Rule = fn(&[i64; 8]) -> bool;

#[test]
fn chosen_packets_have_the_rows_that_they_have_among_all() {
    let all = documents().swap_remove(0);
    let names = ["serial", "source", "destination", "generated", "hop", "router", "granted", "delivered"];
    let of = |document: &Value| rows(table(&outcome(document), "packet_hops"), names);
    let all_rows = of(&all);
    let choices: [(Value, Rule); 4] = [
        (json!({ "every": 3 }), |row| row[0] % 3 == 0),
        (json!({ "source": 7 }), |row| row[1] == 7),
        (json!({ "destination": 9, "every": 2 }), |row| row[2] == 9 && row[0] % 2 == 0),
        (json!({ "from": 400, "to": 450 }), |row| (400..450).contains(&row[3])),
    ];
    for (packets, is_chosen) in choices {
        let mut document = all.clone();
        document["measure"]["packets"] = packets;
        let expected: Vec<[i64; 8]> = all_rows.iter().copied().filter(is_chosen).collect();
        assert!(!expected.is_empty() && expected.len() < all_rows.len());
        assert_eq!(of(&document), expected);
    }
}

#[test]
fn nothing_but_its_own_table_shows_the_stream_and_no_thread_shows_in_it() {
    for document in documents() {
        let mut without = document.clone();
        without["measure"]["streams"] = json!([]);
        let (with, without) = (outcome(&document), outcome(&without));
        assert_eq!(with.summary, without.summary);
        assert_eq!(with.jobs, without.jobs);
        for threads in [1, 3] {
            let trial = Trial { finest: true, threads, varies: true, reversed: true, ..Trial::default() };
            let way = run_as(&plan(&document), &Control::default(), trial).expect("no deadlock");
            let of = |outcome: &Outcome| format!("{:?}", table(outcome, "packet_hops"));
            assert_eq!(of(&way), of(&with));
        }
    }
}

#[test]
fn too_many_rows_are_explained() {
    assert_eq!(
        RunError::LongTrace(2, RecordStream::PacketHops, 10_000_000).to_string(),
        "measure.packets.every = 2: the stream packet_hops has more than 10000000 rows; \
         valid: a greater number, or fewer packets by measure.packets.source, destination, from and to"
    );
}

#[test]
#[cfg(feature = "trace")]
fn where_flits_move_one_by_one_a_packet_is_delivered_with_its_tail() {
    // Buffers of two flits: tails fall behind their heads.
    let document = json!({
        "topology": { "mesh": { "sides": [4, 4] } }, "load": 0.3,
        "router": { "virtual_channel": { "buffers": { "network": 2, "injection": 2 } } },
        "links": { "ejection": { "latency": 3 }, "injection": { "latency": 1 } },
        "jobs": [{ "traffic": { "packet_length": 7 } }],
        "measure": { "warmup": 0, "cycles": 600, "streams": ["packet_hops"] },
    });
    let plan = plan(&document);
    let lives = hopsim_core::engine::trace_as(&plan, 600, Trial::default()).expect("no deadlock");
    let tail = |cycle: u32| i64::from(cycle) + 7 + 2;
    let expected: BTreeMap<[i64; 2], i64> = lives
        .iter()
        .map(|life| ([life.source.into(), life.serial.into()], life.delivered.map_or(NOTHING, tail)))
        .collect();
    let outcome = outcome(&document);
    let hops = table(&outcome, "packet_hops");
    let found: BTreeMap<[i64; 2], i64> = rows(hops, ["source", "serial", "delivered"])
        .into_iter()
        .map(|[source, serial, delivered]| ([source, serial], delivered))
        .collect();
    assert!(found.values().filter(|&&delivered| delivered == NOTHING).count() > 5);
    let late = rows(hops, ["port_class", "departed", "delivered"]).into_iter();
    assert!(
        late.filter(|&[class, departed, delivered]| class == 0 && delivered > departed + 9).count() > 100
    );
    assert_eq!(found, expected);
}
