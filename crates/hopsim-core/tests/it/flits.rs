//! Virtual-channel routers: packets that lie in several routers at once, with all that nodes, observers, threads and snapshots do.

use hopsim_core::engine::{self, Control, Scope, Snapshot, Stages, Trial, audit, run_as, trace, trace_as};
use hopsim_core::error::RunError;
use hopsim_cycles::system::{RouterPlan, VirtualChannelPlan};
use hopsim_experiment::plan::Plan;
use hopsim_measure::trace::PacketTrace;
use serde_json::{Value, json};
use std::sync::Arc;

/// Delays that differ from each other.
const ROUTERS: VirtualChannelPlan = VirtualChannelPlan {
    routing_delay: 2,
    vc_allocation_delay: 1,
    switch_traversal_delay: 3,
    whole_packets: false,
};

/// The plan of a document, with virtual-channel routers whose buffers hold so many flits per VC.
fn flits(document: &Value, routers: VirtualChannelPlan, buffer: u32) -> Plan {
    let mut plan = Plan::new(&serde_json::from_value(document.clone()).unwrap()).unwrap();
    plan.system.router = RouterPlan::VirtualChannel(routers);
    let network = Arc::make_mut(&mut plan.system.network);
    network.classes.links.iter_mut().for_each(|class| class.buffer = buffer);
    plan
}

/// A document with changes of its tables.
fn changed(mut document: Value, changes: &Value) -> Value {
    document.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    document
}

fn mesh(changes: &Value) -> Value {
    let document = json!({
        "topology": { "mesh": { "sides": [4, 4] } },
        "links": { "network": { "latency": 2 } },
        "router": { "input_queued": { "vcs": { "network": 2, "injection": 2 } } },
        "jobs": [{ "traffic": { "packet_length": 5 } }],
        "load": 0.3,
        "measure": { "warmup": 300, "cycles": 900, "batches": 3 },
    });
    changed(document, changes)
}

/// Networks with all kinds of nodes, and mechanisms that decide anew and that do not.
fn documents() -> Vec<Value> {
    let dragonfly = |changes: &Value| {
        let document = json!({
            "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2 } },
            "links": { "local": { "latency": 4 }, "global": { "latency": 23 } },
            "load": 0.4,
            "measure": { "warmup": 300, "cycles": 901, "batches": 3 }
        });
        changed(document, changes)
    };
    let traffic = |traffic: Value| json!([{ "traffic": traffic }]);
    let program =
        json!([{ "program": { "collective": { "allreduce": { "algorithm": "ring", "bytes": 4096 } } } }]);
    vec![
        mesh(&json!({})),
        mesh(&json!({ "load": 1.0 })),
        mesh(&json!({ "routing": { "valiant": {} }, "load": 0.2 })),
        mesh(&json!({ "links": { "network": { "latency": 1, "cycles_per_phit": 2 } } })),
        mesh(
            &json!({ "jobs": traffic(json!({ "changes": [{ "cycle": 333, "load": 0.2 }, { "cycle": 700, "load": 0.5 }] })) }),
        ),
        mesh(&json!({ "jobs": traffic(json!({ "request_reply": { "outstanding": 4 } })) })),
        mesh(&json!({ "nic": { "source_queue": 2 }, "load": 0.9 })),
        dragonfly(&json!({})),
        dragonfly(
            &json!({ "routing": { "ugal": {} }, "jobs": traffic(json!({ "pattern": { "adversarial": {} } })) }),
        ),
        dragonfly(&json!({ "jobs": program })),
    ]
}

/// Packets of a run that met no other one, if its load is small.
fn lives(plan: &Plan, cycles: u32) -> Vec<PacketTrace> {
    trace(plan, cycles).expect("no deadlock")
}

#[test]
fn a_lone_packet_takes_the_delays_of_each_router_and_link_and_a_cycle_per_flit() {
    // A packet of 5 flits in buffers of 2 lies in three routers at once.
    let document = mesh(&json!({ "load": 0.0005 }));
    let plan = flits(&document, ROUTERS, 12);
    let lives = lives(&plan, 40_000);
    assert!(lives.len() > 30, "so many packets say something: {}", lives.len());
    let (router, link) = (2 + 1 + 3, 2);
    for packet in lives.iter().filter(|packet| packet.delivered.is_some()) {
        let hops = packet.hops.len() as u32;
        assert_eq!(
            packet.delivered,
            Some(packet.generated + 1 + hops * router + (hops - 1) * link),
            "{packet:?}"
        );
    }
}
