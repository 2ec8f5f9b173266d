//! What comparisons of many documents found once.

use crate::documents::Document;
use crate::engine::compare;
use hopsim_core::engine::{Control, Trial, run, trace_as};
use serde_json::{Value, json};

/// Compares the lives of all packets in the first cycles of a document.
fn agree(document: Value, cycles: u32) {
    let plan = Document(document).plan().unwrap();
    let engine = trace_as(&plan, cycles, Trial::default()).unwrap();
    assert!(engine.len() > 4);
    compare(&engine, &hopsim_reference::trace(&plan, cycles)).unwrap();
}

#[test]
fn an_output_queue_holds_255_packets_however_short_they_are() {
    let job = |length: u32, load: f64, nodes: Value| json!({ "traffic": { "pattern": { "uniform": {} }, "process": { "bernoulli": { "load": load } }, "packet_length": length }, "placement": { "list": nodes } });
    let document = json!({
        "topology": { "graph": { "edges": [{ "between": [0, 1], "cycles_per_phit": 2 }], "nodes_per_router": 2 } },
        "links": { "injection": { "latency": 1 }, "network": { "latency": 1 } },
        "routing": { "minimal": {} },
        "router": { "cioq": {
            "vcs": { "network": 1, "injection": 1 }, "speedup": 1.0,
            "buffers": { "network": 492, "injection": 12, "output": 492 },
        } },
        "jobs": [job(1, 0.5, json!([0, 2])), job(12, 0.1, json!([1, 3]))],
        "measure": { "warmup": 0, "cycles": 3_000 },
    });
    agree(document, 3_000);
}

#[test]
fn what_an_operation_comes_to_is_told_to_one_successor_after_the_other() {
    // When o0 is over o2 is told, and o4 hears of o2 before o3 hears of o0: the clear to rank 2 goes first.
    let goal = "num_ranks 3\nrank 0 {\no0: calc 4 cpu 0\no1: send 0b to 0 tag 101 cpu 2\no2: recv 0b from 0 tag 101 cpu 1\n\
        o2 irequires o1\no2 requires o0\no3: recv 1b from 1 tag 102 cpu 2\no3 irequires o2\no3 irequires o1\no3 requires o0\n\
        o4: recv 43b from 2 tag 103 cpu 2\no4 irequires o2\no4 requires o1\n}\nrank 1 {\no0: send 1b to 0 tag 102 cpu 1\n}\n\
        rank 2 {\no0: send 43b to 0 tag 103 cpu 1\n}\n";
    let document = json!({
        "topology": { "hyperx": { "sides": [3], "nodes_per_router": 1 } },
        "links": { "injection": { "latency": 1 }, "network": { "latency": 1 } },
        "routing": { "minimal": {} }, "router": { "input_queued": {} },
        "units": { "cycle": "0.7 ns", "phit": "16 B" },
        "jobs": [{ "program": { "goal": { "file": goal } }, "host": { "packet_length": 1, "eager_limit": 0, "receive_overhead": 3 } }],
        "measure": {},
    });
    agree(document, 100);
}

#[test]
fn a_run_of_programs_ends_at_a_multiple_of_256_wherever_its_last_cycle_lies() {
    let document = |last: u32| {
        json!({
            "topology": { "ring": { "routers": 3 } }, "routing": { "minimal": {} }, "router": { "input_queued": {} },
            "units": { "cycle": "1 ns", "phit": "16 B" },
            "jobs": [{ "program": { "list": { "mpt": "mpt 1\nname x\nranks 1\ncomm 0 1 0\nrank 0 1\nc 26370\nend\n" } },
                "placement": { "list": [0] }, "host": { "packet_length": 1 } }],
            "measure": { "max_cycles": last },
        })
    };
    for last in [26_624, 26_625, 30_000, 1_000_000] {
        let outcome = run(&Document(document(last)).plan().unwrap(), &Control::default()).unwrap();
        assert_eq!(outcome.summary["cycles"], json!(26_624), "max_cycles = {last}");
    }
}

#[test]
fn fpar_reads_no_vc_that_packets_do_not_use() {
    // All VCs of a port share its buffer, so the occupancy of one is partly that of the others; of four VCs of local links three are
    // used. Where all packets are as long as each other, the fourth adds the same to every port and no decision changes.
    let job = |length: u32, nodes: Value| {
        json!({
            "traffic": {
                "pattern": { "uniform": {} },
                "process": { "bernoulli": { "load": 0.8 } },
                "packet_length": length,
            },
            "placement": { "list": nodes },
        })
    };
    let document = json!({
        "topology": { "dragonfly_plus": { "leaves": 2, "spines": 2, "global_links": 1, "groups": 2, "nodes_per_leaf": 2 } },
        "links": { "injection": { "latency": 1 }, "local": { "latency": 4 }, "global": { "latency": 12 } },
        "routing": { "fpar": {} },
        "router": { "cioq": {
            "vcs": { "local": 4, "global": 3, "injection": 3 },
            "buffers": { "local": 96, "global": 90, "injection": 44, "output": 30,
                "damq": { "local_reserve": 1, "global_reserve": 0, "allow_deadlock": true } },
        } },
        "jobs": [job(4, json!([0, 3, 4])), job(8, json!([1, 5, 6])), job(12, json!([2, 7]))],
        "measure": { "warmup": 0, "cycles": 6_000 },
    });
    agree(document, 6_000);
}
