//! Links that fail and are repaired in the middle of a run.

use hopsim_core::engine::{
    Control, Outcome, Scope, Snapshot, Stages, Trial, audit, run, run_as, run_in_stages, trace, trunk,
};
use hopsim_core::error::RunError;
use hopsim_experiment::plan::Plan;
use hopsim_measure::trace::PacketTrace;
use serde_json::{Value, json};

const CYCLES: u32 = 2_400;

/// Kinds of routing and how their tables change.
const ROUTINGS: [(&str, &str); 7] = [
    ("minimal", "static"),
    ("minimal", "dynamic"),
    ("adaptive", "dynamic"),
    ("ecmp", "dynamic"),
    ("valiant", "dynamic"),
    ("ugal", "dynamic"),
    ("par", "dynamic"),
];

/// A network of ten routers, three times of which links fail in one way or another, once for good, and then a router.
fn document((routing, reconfiguration): (&str, &str), load: f64) -> Value {
    let reaction = |packets: &str| {
        json!({
            "detection": 50, "reroute": 150, "packets": packets, "reconfiguration": reconfiguration,
            "retransmit": { "timeout": 120, "most": 2 },
        })
    };
    json!({
        "topology": { "jellyfish": { "routers": 10, "degree": 4, "seed": 2, "nodes_per_router": 2 } },
        "routing": { routing: {} }, "router": { "cioq": {} }, "load": load,
        "faults": [
            { "at": 300, "until": 1_000, "links": { "fraction": 0.1 }, "reaction": reaction("drop") },
            { "at": 450, "links": { "fraction": 0.05, "seed": 4 }, "reaction": reaction("drain") },
            { "at": 0, "until": 700, "links": { "fraction": 0.05, "seed": 5 }, "reaction": reaction("drop") },
            { "at": 1_250, "until": 1_700, "routers": [7], "unreachable": "drop", "reaction": reaction("drop") },
        ],
        "measure": { "warmup": 0, "cycles": CYCLES, "interval": 100, "streams": ["nodes", "links"] },
    })
}

fn plan(document: &Value) -> Plan {
    Plan::new(&serde_json::from_value(document.clone()).unwrap()).unwrap_or_else(|error| panic!("{error}"))
}

/// All that was measured, to be compared: numbers that there are none of are equal, too.
fn text(outcome: &Outcome) -> String {
    format!("{outcome:?}")
}

/// What a run measures that goes on from the state of another run of the same plan at a cycle.
fn interrupted(plan: &Plan, at: u32) -> Outcome {
    let mut kept: Vec<Snapshot> = Vec::new();
    let mut keep = |snapshot: &Snapshot| kept.push(snapshot.clone());
    let stages = Stages { at: Some(at), keep: Some(&mut keep), ..Stages::default() };
    run_in_stages(plan, &Control::default(), stages).unwrap();
    let snapshot = Snapshot::from_bytes(&kept[0].to_bytes()).unwrap();
    let stages = Stages { from: Some((&snapshot, Scope::All)), ..Stages::default() };
    run_in_stages(plan, &Control::default(), stages).unwrap()
}

#[test]
fn credits_and_packets_are_accounted_for_while_links_fail() {
    for routing in ROUTINGS {
        for load in [0.2, 0.7] {
            audit(&plan(&document(routing, load)), CYCLES)
                .unwrap_or_else(|breach| panic!("{routing:?}: {breach}"));
        }
    }
}

#[test]
fn a_run_goes_on_from_a_state_before_between_and_after_failures_as_if_it_had_not_been_interrupted() {
    for (routing, at) in ROUTINGS
        .into_iter()
        .flat_map(|routing| [1, 299, 300, 349, 505, 699, 1_201, 1_300, 1_600].map(|at| (routing, at)))
    {
        let plan = plan(&document(routing, 0.2));
        let whole = run(&plan, &Control::default()).unwrap();
        assert!(text(&interrupted(&plan, at)) == text(&whole), "{routing:?} at {at}");
    }
}

#[test]
fn a_drained_network_can_be_saved_before_its_tables_change() {
    let mut document = document(("minimal", "static"), 0.6);
    document["faults"][0]["reaction"]["reroute"] = json!(0);
    let plan = plan(&document);
    let outcome = run(&plan, &Control::default()).unwrap();
    // From cycle 350 on nothing is injected for some ten cycles.
    let (_, series) = outcome.tables.iter().find(|(name, _)| name == "timeseries").unwrap();
    let (_, injected) = series.iter().find(|(name, _)| name == "injected").unwrap();
    let hopsim_measure::Column::U32(injected) = injected else { panic!("packets are counted") };
    assert!(10 * injected[3] < 9 * injected[2], "{injected:?}");
    for at in 350..356 {
        assert!(text(&interrupted(&plan, at)) == text(&outcome), "at {at}");
    }
}

#[test]
fn no_result_depends_on_the_cut_or_on_threads_when_links_fail() {
    for routing in ROUTINGS {
        let plan = plan(&document(routing, 0.3));
        let whole = run(&plan, &Control::default()).unwrap();
        for threads in [1, 3] {
            let trial = Trial { finest: true, threads, varies: true, ..Trial::default() };
            let cut = run_as(&plan, &Control::default(), trial).unwrap();
            assert!(text(&cut) == text(&whole), "{routing:?}");
        }
    }
}

#[test]
fn branches_in_which_other_links_fail_share_the_run_up_to_then() {
    for routing in ROUTINGS {
        let branch = |faults: Value| {
            let mut document = document(routing, 0.3);
            let vcs = if routing.0 == "minimal" { 4 } else { 12 };
            document["router"] = json!({ "cioq": { "vcs": { "network": vcs } } });
            (document["faults"], document["measure"]["warmup"]) = (faults, json!(700));
            plan(&document)
        };
        let shared = trunk(&branch(json!([])), 600, &Control::default()).unwrap();
        for (at, seed) in [(600, 1), (600, 2), (900, 1)] {
            let mut reaction = json!({ "detection": 50, "reroute": 50, "reconfiguration": routing.1 });
            if seed == 2 {
                reaction["retransmit"] = json!({ "timeout": 300, "most": 1 });
            }
            let links = json!({ "fraction": 0.1, "seed": seed });
            let plan = branch(json!([{ "at": at, "links": links, "reaction": reaction }]));
            let from = Some((&shared, Scope::Network));
            let branched =
                run_in_stages(&plan, &Control::default(), Stages { from, ..Stages::default() }).unwrap();
            let straight = run(&plan, &Control::default()).unwrap();
            assert!(text(&branched) == text(&straight), "{routing:?} at {at}");
        }
    }
}

/// Exchanges of all nodes of that network while its links fail, which send again what they lose or do not.
fn exchanges(routing: (&str, &str), again: bool) -> Plan {
    let mut document = document(routing, 0.0);
    document.as_object_mut().unwrap().remove("load");
    document["faults"].as_array_mut().unwrap().pop();
    for fault in document["faults"].as_array_mut().unwrap() {
        if !again {
            fault["reaction"].as_object_mut().unwrap().remove("retransmit");
        }
    }
    document["units"] = json!({ "cycle": "1 ns", "phit": "4 B" });
    document["measure"] = json!({ "max_cycles": 40_000, "interval": 100, "streams": ["ranks", "messages"] });
    let program = json!({ "collective": { "kind": "alltoall", "bytes": 400, "repeat": 3 } });
    document["jobs"] = json!([{ "program": program, "host": { "packet_length": 8, "eager_limit": 0 } }]);
    plan(&document)
}

#[test]
fn programs_wait_in_vain_for_what_is_lost_and_end_if_it_is_sent_again() {
    let mut stuck = 0;
    for routing in ROUTINGS {
        match run(&exchanges(routing, false), &Control::default()) {
            Err(RunError::Stuck(report)) => {
                stuck += 1;
                assert!(report.lost.packets >= report.lost.count as u64 && report.lost.count > 0, "{report}");
                let text = report.to_string();
                assert!(text.contains("  lost: 400 B from rank "), "{text}");
                assert!(
                    text.ends_with("faults.reaction.retransmit lets sources send again what is lost"),
                    "{text}"
                );
            }
            outcome => assert_eq!(outcome.unwrap().summary["packets_lost"].as_u64(), Some(0)),
        }
        let plan = exchanges(routing, true);
        audit(&plan, CYCLES).unwrap_or_else(|breach| panic!("{routing:?}: {breach}"));
        let whole = run(&plan, &Control::default()).unwrap_or_else(|error| panic!("{routing:?}: {error}"));
        assert_eq!(whole.summary["packets_lost"].as_u64(), Some(0));
        for at in [299, 300, 349, 505, 700, 1_201] {
            assert!(text(&interrupted(&plan, at)) == text(&whole), "{routing:?} at {at}");
        }
        let trial = Trial { finest: true, threads: 3, varies: true, ..Trial::default() };
        assert!(text(&run_as(&plan, &Control::default(), trial).unwrap()) == text(&whole), "{routing:?}");
    }
    assert!(stuck >= 3, "{stuck}");
}

/// A ring of six routers with a node each, of which node 0 sends to node 1, over a link that fails.
fn one_sender(faults: &Value) -> Plan {
    let edges: Vec<_> =
        (0..6).map(|router| json!({ "between": [router, (router + 1) % 6], "latency": 20 })).collect();
    let packets: Vec<_> = (0..200).map(|number| json!([40 * number, 0, 1, 8])).collect();
    plan(&json!({
        "topology": { "graph": { "edges": edges } }, "routing": { "adaptive": {} },
        "router": { "cioq": { "vcs": { "network": 6 } } },
        "faults": faults,
        "jobs": [{ "traffic": { "packet_list": packets } }],
        "measure": { "warmup": 0, "cycles": 9_000 },
    }))
}

/// The time that packets of a run take, by generation; `None` of those that are lost.
fn latencies(plan: &Plan) -> Vec<(u32, Option<u32>)> {
    let lives = trace(plan, 9_000).unwrap();
    lives
        .iter()
        .map(|life: &PacketTrace| (life.generated, life.delivered.map(|at| at - life.generated)))
        .collect()
}

#[test]
fn a_packet_goes_the_other_way_round_while_a_link_is_out_of_order() {
    let reaction = json!({ "detection": 30, "reroute": 170 });
    let fault =
        json!([{ "at": 1_000, "until": 3_000, "links": { "between": [[0, 1]] }, "reaction": reaction }]);
    let (whole, failing) = (latencies(&one_sender(&json!([]))), latencies(&one_sender(&fault)));
    assert_eq!(whole.len(), failing.len());
    let hop = whole[0].1.unwrap();
    for (&(generated, one), &(_, other)) in whole.iter().zip(&failing) {
        assert_eq!(one, Some(hop), "nobody else sends");
        match generated {
            // A packet leaves its router five cycles after it was generated, and takes 20 for the link.
            976..1_000 => assert_eq!(other, None, "generated at {generated}: on the link when it fails"),
            // The one after it waits for new tables; those behind it one after the other.
            1_000..1_200 => assert!(other.unwrap() > 1_200 - generated, "generated at {generated}"),
            // Four hops more, each of a link and a crossbar.
            1_400..3_200 => assert_eq!(other, Some(hop + 4 * 23), "generated at {generated}"),
            ..976 | 3_200.. => assert_eq!(other, Some(hop), "generated at {generated}"),
            _ => {}
        }
    }
}

#[test]
fn what_a_link_loses_is_sent_again_behind_the_timeout() {
    const TIMEOUT: u32 = 620;
    let reaction =
        json!({ "detection": 30, "reroute": 170, "retransmit": { "timeout": TIMEOUT, "most": 1 } });
    // The packet of cycle 960 leaves its router in cycle 965, and would be at the other end in cycle 985.
    let links = json!({ "between": [[0, 1]] });
    let plan = one_sender(&json!([{ "at": 980, "until": 3_000, "links": links, "reaction": reaction }]));
    audit(&plan, 9_000).unwrap();
    let lives = trace(&plan, 9_000).unwrap();
    assert!(lives.iter().all(|life| life.delivered.is_some()));
    let begins_again =
        |life: &&PacketTrace| life.hops.windows(2).any(|hops| hops[0].router == 0 && hops[1].router == 0);
    let again: Vec<&PacketTrace> = lives.iter().filter(begins_again).collect();
    let [PacketTrace { generated: 960, hops, .. }] = again[..] else { panic!("{again:?}") };
    // No packet is generated when it comes back, and those that wait for new tables have gone before.
    assert_eq!(hops[1].arrived - (hops[0].granted + TIMEOUT), hops[0].arrived - 960);
    let summary = run(&plan, &Control::default()).unwrap().summary;
    assert_eq!(summary["retransmissions"].as_u64(), Some(1));
    assert_eq!(summary["packets_lost"].as_u64(), Some(0));
    assert_eq!(summary["packets_delivered"], summary["packets_generated"]);
}

#[test]
fn a_link_that_is_drained_loses_nothing() {
    let reaction = json!({ "detection": 0, "reroute": 0, "packets": "drain" });
    let fault = json!([{ "at": 1_000, "links": { "between": [[0, 1]] }, "reaction": reaction }]);
    assert!(latencies(&one_sender(&fault)).iter().all(|(_, latency)| latency.is_some()));
}

#[test]
fn paths_that_keep_their_vc_close_a_cycle_with_those_of_the_tables_before() {
    let document = |reconfiguration: &str| {
        let reaction = json!({ "detection": 200, "reroute": 800, "reconfiguration": reconfiguration });
        json!({
            "topology": { "jellyfish": { "routers": 20, "degree": 5, "seed": 3 } },
            "routing": { "minimal": {} }, "router": { "cioq": {} }, "load": 0.3,
            "faults": [{ "at": 3_000, "until": 6_000, "links": { "fraction": 0.1 }, "reaction": reaction }],
            "measure": { "warmup": 0, "cycles": 10_000 },
        })
    };
    let at_once = run(&plan(&document("dynamic")), &Control::default());
    assert!(matches!(at_once, Err(RunError::Deadlock(_))), "{at_once:?}");
    let drained = run(&plan(&document("static")), &Control::default()).unwrap().summary;
    assert!(drained["packets_lost"].as_u64() > Some(0));
    assert!(drained["accepted_load"].as_f64() > Some(0.295), "{}", drained["accepted_load"]);
}

/// Three routers with a node each under two spines, 3 and 4; node 0 sends to node 1, over the spine 3.
fn under_spines(faults: &Value) -> Plan {
    let edges: Vec<_> = (0..3)
        .flat_map(|leaf| [3, 4].map(|spine| json!({ "between": [leaf, spine], "latency": 20 })))
        .collect();
    let packets: Vec<_> = (0..200).map(|number| json!([40 * number, 0, 1, 8])).collect();
    plan(&json!({
        "topology": { "graph": { "edges": edges, "routers_with_nodes": 3, "ties": "first" } },
        "router": { "cioq": {} }, "faults": faults,
        "jobs": [{ "traffic": { "packet_list": packets } }],
        "measure": { "warmup": 0, "cycles": 9_000 },
    }))
}

#[test]
fn the_packets_in_a_router_that_fails_are_lost_and_the_others_go_another_way() {
    let reaction = |packets: &str| json!({ "detection": 0, "reroute": 0, "packets": packets });
    let of = |at: u32, packets: &str| {
        let plan = under_spines(&json!([{ "at": at, "routers": [3], "reaction": reaction(packets) }]));
        audit(&plan, 9_000).unwrap();
        latencies(&plan)
    };
    // A packet is on one of the two links, or between them, for more than 40 cycles: one of them is lost, whether it is on a link or in a
    // buffer of the router.
    for at in 1_000..1_040 {
        let lost = of(at, "drop").iter().filter(|(_, latency)| latency.is_none()).count();
        assert!((1..=2).contains(&lost), "{lost} at {at}");
    }
    // On the link from the spine a packet arrives; what has not got there yet has no way on once the tables have changed.
    let drained = of(1_000, "drain");
    assert!(drained.iter().filter(|(_, latency)| latency.is_none()).count() <= 1);
    let whole = latencies(&under_spines(&json!([])));
    assert_eq!(drained.len(), whole.len());
}

#[test]
fn packets_for_a_router_that_is_out_of_order_are_lost_and_all_others_arrive() {
    let reaction = json!({ "detection": 30, "reroute": 170 });
    let lost = |routers: Value| {
        let fault = json!({ "at": 1_000, "until": 3_000, "routers": routers, "unreachable": "drop", "reaction": reaction });
        let plan = one_sender(&json!([fault]));
        audit(&plan, 9_000).unwrap();
        let summary = run(&plan, &Control::default()).unwrap().summary;
        let of = |name: &str| summary[name].as_u64().unwrap();
        assert_eq!(of("packets_generated"), of("packets_lost") + of("packets_delivered"));
        of("packets_lost")
    };
    // A packet every 40 cycles. Those of 1,000 to 1,160 wait until the tables change in cycle 1,200; those of the next 2,000 cycles are lost
    // as they are generated.
    assert_eq!(lost(json!([1])), 5 + 50);
    assert_eq!(lost(json!([0])), 5 + 50);
    // Both ways round are shut, and the packets that are on the way there when the tables change are lost.
    assert_eq!(lost(json!([1, 5])), 5 + 50);
    assert_eq!(lost(json!([3])), 0);
}

#[test]
fn packets_between_the_parts_of_a_network_are_lost_at_their_source() {
    let plan = |router: &str| {
        let edges: Vec<_> =
            [(0, 1), (1, 2), (2, 3), (3, 0)].iter().map(|ends| json!({ "between": ends })).collect();
        plan(&json!({
            "topology": { "graph": { "edges": edges, "nodes_per_router": 2 } }, "load": 0.9,
            "router": { router: {} },
            "faults": [{ "links": { "between": [[1, 2], [3, 0]] }, "unreachable": "drop" }],
            "measure": { "warmup": 0, "cycles": 4_000 },
        }))
    };
    for router in ["cioq", "input_queued", "virtual_channel"] {
        let plan = plan(router);
        let summary = run(&plan, &Control::default()).unwrap().summary;
        let of = |name: &str| summary[name].as_u64().unwrap();
        // Of seven other nodes four are in the other part.
        let share = of("packets_lost") as f64 / of("packets_generated") as f64;
        assert!((share - 4.0 / 7.0).abs() < 0.03, "{router}: {share}");
        let lives = trace(&plan, 4_000).unwrap();
        assert!(lives.iter().all(|life| life.source / 4 == life.destination / 4), "{router}");
    }
}
