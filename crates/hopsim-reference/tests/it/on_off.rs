//! On/off flow control: no buffer overflows with the least thresholds, engine and reference agree, and one flow has the throughput that
//! is calculated by hand.

use crate::documents::{Document, for_each_measured_plan, for_each_program, library, trial};
use crate::engine::{check_whole, compare, has_rings};
use crate::metrics::Coverage;
use crate::programs;
use crate::snapshots::goes_on;
use hopsim_core::engine::{audit, trace_as};
use hopsim_experiment::plan::Plan;
use hopsim_measure::trace::PacketTrace;
use hopsim_routing::vcs::Rings;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The latency and the cycles per phit of the slowest links of a class of a resolved document.
fn slowest(document: &Value, class: &str) -> (u64, u64) {
    let edges = document["topology"]["graph"]["edges"].as_array();
    let most = |key: &str| edges.into_iter().flatten().filter_map(|edge| edge[key].as_u64()).max();
    let latency = document["links"][class]["latency"].as_u64().unwrap_or(1);
    let of_planes = document["topology"]["planes"]["cycles_per_phit"].as_u64().unwrap_or(1);
    (most("latency").unwrap_or(latency), most("cycles_per_phit").unwrap_or(of_planes))
}

/// The experiment of a plan with on/off flow control, as far as its mechanisms can be had beside that, and buffers that are just large
/// enough or a little larger.
fn with_on_off(plan: &Plan) -> Result<Plan, String> {
    let mut document = serde_json::to_value(&plan.experiment).unwrap();
    let (seed, longest) = (plan.experiment.measure.seed, u64::from(plan.system.longest_packet()));
    if !["minimal", "valiant", "up_down", "nue"].contains(&plan.experiment.routing.name()) {
        document["routing"] = json!({ "minimal": {} });
    }
    if document["nic"]["control"].get("lbr").is_some() {
        document["nic"]["control"] = json!({ "none": {} });
    }
    let is_minimal = document["routing"].get("minimal").is_some();
    let (router, classes) = (plan.experiment.router.name(), plan.system.topology.link_classes());
    let links: Vec<(u64, u64)> = classes.iter().map(|class| slowest(&document, class)).collect();
    let router = &mut document["router"][router];
    router["vcs"] = json!({ "injection": router["vcs"]["injection"] });
    let rings = has_rings(plan);
    if rings && is_minimal && seed % 4 < 2 {
        router["vcs"]["rings"] = json!({ "dateline": {} });
    } else if rings {
        (router["vcs"]["bubble"], router["vcs"]["allow_deadlock"]) = (json!(0), json!(true));
    }
    router["buffers"].as_object_mut().unwrap().remove("damq");
    let delay = router["crossbar_latency"].as_u64().unwrap();
    let queue = router["buffers"]["output"].as_u64().unwrap_or(0);
    let mut thresholds = json!({});
    for (&class, (latency, pace)) in classes.iter().zip(links) {
        let least = 2 * latency + delay + pace * (queue + 3 * longest);
        let size = least + seed / 3 % 4 * longest;
        router["buffers"][class] = json!(size);
        // The least of all thresholds, or a buffer that says on when it is empty.
        thresholds[class] = if seed % 3 == 0 { json!({ "on": size }) } else { json!({}) };
    }
    router["flow_control"] = json!({ "on_off": thresholds });
    Document(document).plan()
}

#[test]
fn engine_and_reference_agree_and_buffers_with_the_least_thresholds_hold_what_comes() {
    let (coverage, seen) = (Coverage::default(), RefCell::new(BTreeMap::<String, u32>::new()));
    for_each_measured_plan((150, 42), |plan| {
        // What has no VC for every hop is refused.
        let Ok(plan) = with_on_off(plan) else { return Ok(()) };
        let experiment = &plan.experiment;
        for name in [experiment.topology.name(), experiment.routing.name(), experiment.router.name()] {
            *seen.borrow_mut().entry(name.to_owned()).or_default() += 1;
        }
        if matches!(plan.system.routing.vcs().rings(), Rings::Dateline(_)) {
            *seen.borrow_mut().entry("datelines".to_owned()).or_default() += 1;
        }
        check_whole(&plan, &coverage)
            .map_err(|difference| format!("{difference}\n{}", json!(plan.experiment)))
    });
    let seen = seen.borrow();
    for name in [
        "dragonfly",
        "mesh",
        "hyperx",
        "fat_tree",
        "graph",
        "minimal",
        "valiant",
        "cioq",
        "input_queued",
        "datelines",
    ] {
        assert!(seen.get(name).is_some_and(|&count| count > 1), "{name}: {seen:?}");
    }
}

#[test]
fn programs_run_with_on_off_flow_control() {
    let (coverage, compared) = (programs::Coverage::default(), RefCell::new(0));
    for_each_program((40, 42), |plan| {
        let Ok(plan) = with_on_off(plan) else { return Ok(()) };
        coverage.compare(&plan)?;
        *compared.borrow_mut() += 1;
        goes_on(&plan).map(|_| ())
    });
    assert!(*compared.borrow() > 20, "{compared:?}");
}

/// Length of packets, latency of the link, pipeline of the routers.
const FLOW: (u32, u32, u32) = (8, 10, 60);

/// Two nodes of a router send to two of another one, over one link, as much as they can.
fn flow(size: u32, (off, on): (u32, u32)) -> Plan {
    let (length, latency, pipeline) = FLOW;
    let job = json!({ "traffic": {
        "pattern": { "permutation": "bit_complement" }, "packet_length": length,
        "process": { "bernoulli": { "load": 0.9 } },
    } });
    let document = json!({
        "topology": { "mesh": { "sides": [2], "nodes_per_router": 2 } }, "routing": { "minimal": {} },
        "links": { "injection": { "latency": 1 }, "network": { "latency": latency } },
        "router": { "input_queued": {
            "pipeline_latency": pipeline, "buffers": { "network": size, "injection": 200 },
            "vcs": { "network": 1, "injection": 2 },
            "flow_control": { "on_off": { "network": { "off": off, "on": on } } },
        } },
        "jobs": [job], "measure": { "warmup": 0, "cycles": 9_000 },
    });
    let experiment = serde_json::from_value(document).unwrap();
    Plan::with_programs(&experiment, &library).unwrap()
}

/// Packets from router 0 that left for the nodes of router 1 in some cycles.
fn delivered(traces: &[PacketTrace], cycles: std::ops::Range<u32>) -> u32 {
    let there = |packet: &&PacketTrace| {
        packet.source < 2 && packet.delivered.is_some_and(|cycle| cycles.contains(&cycle))
    };
    traces.iter().filter(there).count() as u32
}

#[test]
fn one_flow_has_the_throughput_that_follows_from_the_thresholds() {
    let (length, latency, pipeline) = FLOW;
    // Three packets may still come when a buffer says off.
    for (size, off, on) in [(48, 24, 40), (48, 24, 48), (56, 32, 48), (64, 24, 56), (50, 25, 44)] {
        let said_off_with = (size - off) / length + 1;
        let sent = said_off_with + (2 * latency - 1) / length;
        let left = (size - on) / length;
        assert!(pipeline >= (sent - 1) * length && 2 * latency >= left * length, "the formula holds");
        let period = 2 * latency + pipeline + (sent - 1 - left) * length;
        let plan = flow(size, (off, on));
        for traces in [trace_as(&plan, 9_000, trial(&plan)).unwrap(), hopsim_reference::trace(&plan, 9_000)] {
            let found = delivered(&traces, 2_000..2_000 + 50 * period);
            assert_eq!(found, 50 * sent, "{size} phits, off {off}, on {on}");
        }
    }
}

#[test]
fn with_thresholds_beyond_the_round_trip_one_flow_fills_its_link() {
    let (length, _, pipeline) = FLOW;
    let size = 24 + pipeline.div_ceil(length) * length;
    let found = |size| {
        let plan = flow(size, (24, 24));
        delivered(&trace_as(&plan, 9_000, trial(&plan)).unwrap(), 2_000..2_000 + 800 * length)
    };
    assert_eq!(found(size), 800);
    assert!(found(size - 2 * length) < 800, "with room for two packets less it does not");
}

#[test]
fn where_links_differ_the_least_threshold_is_that_of_the_one_that_needs_most() {
    let edges = json!([{ "between": [0, 1], "latency": 1 }, { "between": [1, 2], "latency": 18 }]);
    // When a buffer has said off, 5 packets may come over the longer link and one over the other. Both ends together send more than the
    // node between them takes, so that both buffers fill.
    let (length, least) = (8, 40);
    let job = json!({ "traffic": {
        "pattern": { "hotspot": { "node": 1, "fraction": 1.0 } }, "packet_length": length,
        "process": { "bernoulli": { "load": 0.9 } },
    } });
    let document = json!({
        "topology": { "graph": { "edges": edges } }, "routing": { "minimal": {} },
        "router": { "input_queued": {
            "buffers": { "network": least }, "vcs": { "network": 1 }, "flow_control": { "on_off": {} },
        } },
        "jobs": [job], "measure": { "warmup": 0, "cycles": 600 },
    });
    let plan = Document(document).plan().unwrap();
    let resolved = json!(plan.experiment);
    assert_eq!(resolved["router"]["input_queued"]["flow_control"]["on_off"]["network"]["off"], least);
    compare(&trace_as(&plan, 600, trial(&plan)).unwrap(), &hopsim_reference::trace(&plan, 600)).unwrap();
    audit(&plan, 600).unwrap();
}
