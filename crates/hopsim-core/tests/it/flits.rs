//! Virtual-channel routers: packets that lie in several routers at once, with all that nodes, observers, threads and snapshots do.

use hopsim_core::engine::{self, Control, Scope, Snapshot, Stages, Trial, audit, run_as, trace, trace_as};
use hopsim_core::error::RunError;
use hopsim_cycles::choices::{
    FlitAge, FlitAllocator, FlitArbiter, Iterations, PortOrder, Speculation, StageFlow, SwitchInput,
    Timestamp, VcReuse, WavefrontConfig,
};
use hopsim_cycles::speedup::Speedup;
use hopsim_cycles::system::{EjectionBuffers, RouterPlan, Shares, VirtualChannelPlan};
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::plan::Plan;
use hopsim_experiment::proof::{Verdict, prove};
use hopsim_measure::trace::PacketTrace;
use hopsim_network::by_class::ByClass;
use hopsim_network::network::{ClassSpec, Classes, Network};
use hopsim_network::nothing::Nothing;
use hopsim_routing::RoutingConfig;
use hopsim_routing::sequence::VcSequence;
use hopsim_routing::vcs::Vcs;
use serde_json::{Value, json};
use std::sync::Arc;

/// Delays that differ from each other.
const ROUTERS: VirtualChannelPlan = VirtualChannelPlan {
    routing_delay: 2,
    vc_allocation_delay: 1,
    switch_traversal_delay: 3,
    whole_packets: false,
    vc_reuse: VcReuse::Tail,
    vc_needs_credit: false,
    empty_vcs_first: false,
    credit_delay: 0,
    vc_allocator: FlitAllocator::SeparableInputFirst(Nothing {}),
    switch_allocator: FlitAllocator::SeparableInputFirst(Nothing {}),
    switch_input: SwitchInput::Vc,
    arbiter: FlitArbiter::RoundRobin(Nothing {}),
    speculation: Speculation::None,
    hold_switch: false,
    port_order: PortOrder::Topology,
    ejection: None,
    stages: StageFlow::Pipelined,
    switch_allocation_delay: 1,
    speedup: Speedup::NONE,
    output_queue: None,
    damq: None,
    crossbar_outputs: 1,
    links_fail: false,
};

/// Arbiters that compare the ages of flits.
const OF_FLITS: FlitArbiter =
    FlitArbiter::Age(FlitAge { timestamp: Timestamp::Arrival, by_flit: true, donation: false });

/// Arbiters that look at the oldest packet of an input VC.
const DONATED: FlitArbiter =
    FlitArbiter::Age(FlitAge { timestamp: Timestamp::Generation, by_flit: false, donation: true });

/// How many kinds of routers there are.
const KINDS: usize = 18;

/// Routers with all allocators; those of a document by its number.
fn routers(number: usize) -> VirtualChannelPlan {
    let of =
        |vc_allocator, switch_allocator| VirtualChannelPlan { vc_allocator, switch_allocator, ..ROUTERS };
    let age = |timestamp| FlitArbiter::Age(FlitAge { timestamp, ..FlitAge::default() });
    let (inputs, outputs) =
        (FlitAllocator::SeparableInputFirst(Nothing {}), FlitAllocator::SeparableOutputFirst(Nothing {}));
    let fixed = FlitArbiter::FixedPriority(Nothing {});
    let (islip, pim) = (Iterations { iterations: 2 }, Iterations { iterations: 2 });
    let (islip, pim) = (FlitAllocator::Islip(islip), FlitAllocator::Pim(pim));
    let wavefront = FlitAllocator::Wavefront(WavefrontConfig::default());
    let kinds: [VirtualChannelPlan; KINDS] = [
        ROUTERS,
        of(pim, wavefront),
        VirtualChannelPlan {
            switch_input: SwitchInput::Output,
            arbiter: age(Timestamp::Injection),
            ..of(islip, inputs)
        },
        VirtualChannelPlan { arbiter: age(Timestamp::Generation), ..of(wavefront, outputs) },
        of(FlitAllocator::MaximumSize(Nothing {}), pim),
        VirtualChannelPlan { arbiter: age(Timestamp::Injection), ..of(inputs, islip) },
        VirtualChannelPlan { speculation: Speculation::Separate, hold_switch: true, ..of(wavefront, inputs) },
        VirtualChannelPlan {
            arbiter: FlitArbiter::LeastRecentlyServed(Nothing {}),
            speculation: Speculation::Pessimistic,
            ..of(inputs, islip)
        },
        VirtualChannelPlan {
            speedup: Speedup::new(2.0).unwrap(),
            output_queue: Some(3),
            crossbar_outputs: 2,
            arbiter: FlitArbiter::Random(Nothing {}),
            ..of(islip, inputs)
        },
        VirtualChannelPlan {
            stages: StageFlow::Batched,
            switch_allocation_delay: 2,
            output_queue: Some(32),
            ..of(inputs, inputs)
        },
        VirtualChannelPlan {
            arbiter: FlitArbiter::QueueLength(Nothing {}),
            ..of(FlitAllocator::LonelyOutput(Nothing {}), wavefront)
        },
        VirtualChannelPlan { arbiter: OF_FLITS, ..of(wavefront, outputs) },
        VirtualChannelPlan { arbiter: DONATED, ..of(inputs, wavefront) },
        VirtualChannelPlan { empty_vcs_first: true, arbiter: fixed, ..ROUTERS },
        VirtualChannelPlan { ejection: Some(EjectionBuffers { size: 1, returns: 3 }), ..ROUTERS },
        VirtualChannelPlan { stages: StageFlow::Batched, switch_allocation_delay: 2, ..ROUTERS },
        VirtualChannelPlan {
            damq: Some(ByClass::splat(Shares { reserve: 1, pool: 7 })),
            ..of(inputs, islip)
        },
        VirtualChannelPlan {
            arbiter: FlitArbiter::Priority(Nothing {}),
            speculation: Speculation::Equal,
            ..of(inputs, wavefront)
        },
    ];
    kinds[number % kinds.len()]
}

/// The plan of a document, with virtual-channel routers whose buffers hold so many flits per VC. Every job has a priority class of its own.
fn flits(document: &Value, routers: VirtualChannelPlan, buffer: u32) -> Plan {
    let mut plan = Plan::new(&serde_json::from_value(document.clone()).unwrap()).unwrap();
    plan.system.router = RouterPlan::VirtualChannel(routers);
    plan.system.priorities = (0..plan.system.jobs.len() as u8).collect();
    let network = Arc::make_mut(&mut plan.system.network);
    let of_vc = |shares: Shares| shares.reserve + shares.pool;
    for (number, class) in network.classes.links.iter_mut().enumerate() {
        class.buffer = routers.damq.map_or(buffer, |damq| of_vc(damq[number]));
    }
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
        "router": { "virtual_channel": { "vcs": { "network": 2, "injection": 2 } } },
        "jobs": [{ "traffic": { "packet_length": 5 } }],
        "load": 0.3,
        "measure": { "warmup": 100, "cycles": 501, "batches": 3 },
    });
    changed(document, changes)
}

fn without_load(mut document: Value) -> Value {
    document.as_object_mut().unwrap().remove("load");
    document
}

/// Networks with all kinds of nodes, and mechanisms that decide anew and that do not.
fn documents() -> Vec<Value> {
    let dragonfly = |changes: &Value| {
        let document = json!({
            "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2 } },
            "links": { "local": { "latency": 4 }, "global": { "latency": 23 } },
            "load": 0.4,
            "measure": { "warmup": 100, "cycles": 501, "batches": 3 }
        });
        changed(document, changes)
    };
    let traffic = |traffic: Value| json!([{ "traffic": traffic }]);
    let program = json!([{ "program": { "collective": { "kind": "alltoall", "bytes": 512 } } }]);
    let units = json!({ "cycle": "1 ns", "phit": "4 B" });
    vec![
        mesh(&json!({})),
        mesh(&json!({ "load": 1.0 })),
        mesh(&json!({ "routing": { "valiant": {} }, "load": 0.2 })),
        mesh(&json!({ "links": { "network": { "latency": 1 } } })),
        mesh(
            &json!({ "jobs": traffic(json!({ "changes": [{ "cycle": 233, "load": 0.2 }, { "cycle": 400, "load": 0.5 }] })) }),
        ),
        mesh(&json!({ "nic": { "source_queue": { "packets": 2 } }, "load": 0.9 })),
        dragonfly(&json!({})),
        dragonfly(&json!({ "jobs": traffic(json!({ "request_reply": { "outstanding": 4 } })) })),
        dragonfly(
            &json!({ "routing": { "ugal": {} }, "jobs": traffic(json!({ "pattern": { "adversarial": {} } })) }),
        ),
        without_load(dragonfly(&json!({ "jobs": program, "units": units }))),
    ]
}

/// As text, in which what is not a number equals itself.
fn measured(plan: &Plan, trial: Trial) -> String {
    format!("{:?}", run_as(plan, &Control::default(), trial).expect("no deadlock"))
}

fn lives(plan: &Plan, cycles: u32) -> Vec<PacketTrace> {
    trace(plan, cycles).expect("no deadlock")
}

/// The documents, and a mesh that two jobs crowd for every kind of routers.
fn for_all_routers() -> Vec<Value> {
    let job = |first: u32| {
        let nodes: Vec<u32> = (first..16).step_by(2).collect();
        json!({ "placement": { "list": nodes }, "traffic": { "packet_length": 5 } })
    };
    let crowded = mesh(&json!({ "load": 0.8, "jobs": [job(0), job(1)] }));
    documents().into_iter().chain((0..KINDS).map(|_| crowded.clone())).collect()
}

#[test]
fn a_lone_packet_takes_the_delays_of_routers_and_links_and_a_cycle_per_flit() {
    // Buffers hold as many flits as leave while a credit goes there and back.
    let plan = flits(&mesh(&json!({ "load": 0.0005 })), ROUTERS, 12);
    let lives = lives(&plan, 40_000);
    assert!(lives.len() > 30, "so many packets say something: {}", lives.len());
    let (router, link, injection) = (2 + 1 + 3, 2, plan.system.network.classes.terminal.latency);
    for packet in lives.iter().filter(|packet| packet.delivered.is_some()) {
        let hops = packet.hops.len() as u32;
        let expected = packet.generated + injection + hops * router + (hops - 1) * link;
        assert_eq!(packet.delivered, Some(expected), "{packet:?}");
    }
}

/// Two routers that send to each other as much as they can, with packets of 20 flits, one VC and a link of latency 7.
fn pair_of_routers() -> Value {
    mesh(&json!({
        "topology": { "mesh": { "sides": [2] } },
        "links": { "network": { "latency": 7 } },
        "router": { "input_queued": { "vcs": { "network": 1, "injection": 1 } } },
        "jobs": [{ "traffic": { "packet_length": 20 } }],
        "load": 1.0,
        "measure": { "warmup": 2_000, "cycles": 40_000 },
    }))
}

#[test]
fn credits_go_there_and_back_for_every_flit() {
    let plan = flits(&pair_of_routers(), ROUTERS, 5);
    let summary = engine::run(&plan, &Control::default()).unwrap().summary;
    // Five flits go there in 3 + 7 cycles, and their credits come back in 7; a head first waits there for 2 + 1 cycles.
    let trip = 3.0 + 7.0 + 7.0;
    let expected = 20.0 / (4.0 * trip + 2.0 + 1.0);
    let accepted = summary["accepted_load"].as_f64().unwrap();
    assert!((accepted - expected).abs() < 0.002, "{accepted} for {expected}");
}

#[test]
fn with_room_for_all_a_vc_is_idle_between_two_packets_for_as_long_as_it_is_allocated() {
    let plan = flits(&pair_of_routers(), ROUTERS, 100);
    let summary = engine::run(&plan, &Control::default()).unwrap().summary;
    let accepted = summary["accepted_load"].as_f64().unwrap();
    let expected = 20.0 / (20.0 + 2.0 + 1.0);
    assert!((accepted - expected).abs() < 0.002, "{accepted} for {expected}");
}

#[test]
fn packets_stretch_over_routers_unless_they_need_room_for_a_whole_one() {
    // Buffers of 2 flits: a packet of 5 could not move at all if it needed room for all of it.
    let document = mesh(&json!({ "load": 0.1 }));
    let wormhole = lives(&flits(&document, ROUTERS, 2), 3_000);
    let cut_through =
        lives(&flits(&document, VirtualChannelPlan { whole_packets: true, ..ROUTERS }, 2), 3_000);
    let far = |lives: &[PacketTrace]| {
        lives.iter().filter(|packet| packet.hops.len() > 3 && packet.delivered.is_some()).count()
    };
    assert!(far(&wormhole) > 50, "{}", far(&wormhole));
    assert_eq!(far(&cut_through), 0);
}

/// The load that a single router with eight nodes accepts if all of them always send a flit to a node drawn anew, with one kind of
/// allocators and what BookSim has by default.
fn accepted_by_a_crossbar(allocator: FlitAllocator) -> f64 {
    let document = mesh(&json!({
        "compat": "booksim",
        "links": { "injection": { "latency": 2 } },
        "topology": { "graph": { "nodes": [8] } },
        "router": { "virtual_channel": { "vcs": { "injection": 8 }, "buffers": { "injection": 8 } } },
        "jobs": [{ "traffic": { "packet_length": 1 } }],
        "load": 1.0,
        "measure": { "warmup": 1_500, "cycles": 3_500 },
    }));
    let routers = VirtualChannelPlan {
        routing_delay: 0,
        switch_traversal_delay: 1,
        vc_allocator: allocator,
        switch_allocator: allocator,
        switch_input: SwitchInput::Output,
        ..ROUTERS
    };
    let summary = engine::run(&flits(&document, routers, 8), &Control::default()).unwrap().summary;
    summary["accepted_load"].as_f64().unwrap()
}

#[test]
fn a_crossbar_passes_what_its_allocator_finds() {
    let of = accepted_by_a_crossbar;
    let pim = |iterations| of(FlitAllocator::Pim(Iterations { iterations }));
    let islip = |iterations| of(FlitAllocator::Islip(Iterations { iterations }));
    let outputs = of(FlitAllocator::SeparableOutputFirst(Nothing {}));
    let wavefront = of(FlitAllocator::Wavefront(WavefrontConfig::default()));
    // What BookSim 2 measures, in windows of at most this length.
    for (name, accepted, expected) in [("pim", pim(1), 0.639), ("wavefront", wavefront, 0.830)] {
        assert!((accepted - expected).abs() < 0.01, "{name}: {accepted}, not {expected}");
    }
    let inputs = of(FlitAllocator::SeparableInputFirst(Nothing {}));
    assert!(inputs < outputs, "an output first picks among all that ask for it: {inputs}, {outputs}");
    assert_eq!(outputs.to_bits(), islip(1).to_bits(), "they are the same");
    assert!(pim(3) > pim(1) + 0.15 && islip(3) > islip(1) + 0.1, "iterations find more");
}

#[test]
fn flits_credits_and_owners_agree_after_every_cycle() {
    for (number, document) in for_all_routers().into_iter().enumerate() {
        for (whole_packets, buffer) in [(false, 3), (true, 8)] {
            let plan = flits(&document, VirtualChannelPlan { whole_packets, ..routers(number) }, buffer);
            audit(&plan, 700).unwrap_or_else(|breach| panic!("{number}, {whole_packets}: {breach}"));
        }
    }
}

#[test]
fn neither_cut_nor_threads_nor_the_order_of_mail_changes_the_life_of_a_packet() {
    for (number, document) in for_all_routers().into_iter().enumerate() {
        let plan = flits(&document, routers(number), 6);
        let alone = (measured(&plan, Trial::default()), trace_as(&plan, 601, Trial::default()));
        for threads in [2, 3] {
            let trial = Trial { finest: true, threads, varies: true, reversed: true, ..Trial::default() };
            let team = (measured(&plan, trial), trace_as(&plan, 601, trial));
            assert!(alone == team, "{trial:?}: {document}");
        }
    }
}

#[test]
fn threads_do_not_change_what_is_told_of_flits() {
    for (number, document) in for_all_routers().into_iter().enumerate() {
        let mut plan = flits(&document, routers(number), 6);
        plan.experiment.measure.streams = vec![RecordStream::FlitHops];
        let alone = measured(&plan, Trial::default());
        assert!(alone.contains("vc_allocated"));
        let threads = 2 + number % 2;
        let trial = Trial { finest: true, threads, varies: true, reversed: true, ..Trial::default() };
        assert!(alone == measured(&plan, trial), "{trial:?}: {number}");
    }
}

#[test]
fn regions_that_run_too_far_ahead_show() {
    let plan = flits(&mesh(&json!({ "load": 0.8 })), ROUTERS, 6);
    let stretched = Trial { finest: true, threads: 2, stretched: 3, ..Trial::default() };
    assert!(measured(&plan, Trial::default()) != measured(&plan, stretched));
}

#[test]
fn a_run_goes_on_with_a_snapshot_as_if_it_had_never_stopped() {
    for (number, document) in for_all_routers().into_iter().enumerate() {
        let plan = flits(&document, routers(number), 6);
        let mut kept = Vec::new();
        let mut keep = |snapshot: &Snapshot| kept.push(snapshot.clone());
        let finest = Trial { finest: true, threads: 2, ..Trial::default() };
        let stages = Stages { at: Some(317), keep: Some(&mut keep), ..Stages::default() };
        let whole = engine::run_in_stages_as(&plan, &Control::default(), finest, stages).unwrap();
        let Some(snapshot) = kept.pop() else { panic!("the run ended before: {document}") };
        let from = Stages { from: Some((&snapshot, Scope::All)), ..Stages::default() };
        let rest = engine::run_in_stages(&plan, &Control::default(), from).unwrap();
        assert!(format!("{whole:?}") == format!("{rest:?}"), "{document}");
    }
}

#[test]
fn at_a_merge_arbiters_share_the_link_as_their_kind_says() {
    // All that nodes 0 and 1 of a row can send goes to node 2, and meets at router 1.
    let share_of_the_far_node = |arbiter: &str| {
        let router = json!({ "arbiter": { arbiter: {} }, "vcs": { "network": 4, "injection": 4 } });
        let document = json!({
            "topology": { "mesh": { "sides": [3] } }, "router": { "virtual_channel": router }, "load": 1.0,
            "jobs": [{ "traffic": { "pattern": { "destinations": [2, 2, 2] }, "packet_length": 4 } }],
        });
        let plan = Plan::new(&serde_json::from_value(document).unwrap()).unwrap();
        let packets = lives(&plan, 20_000);
        let of_node = |node: u32| {
            packets.iter().filter(|packet| packet.source == node && packet.delivered.is_some()).count() as f64
        };
        of_node(0) / (of_node(0) + of_node(1))
    };
    let (in_turn, drawn) = (share_of_the_far_node("round_robin"), share_of_the_far_node("random"));
    assert!((in_turn - 0.5).abs() < 0.002, "{in_turn}");
    // Some 5,000 packets, of four flits that are drawn for.
    assert!((drawn - 0.5).abs() < 0.03 && (drawn - in_turn).abs() > 1e-4, "{drawn}");
    let fixed = share_of_the_far_node("fixed_priority");
    assert!(fixed < 0.02, "{fixed}");
}

/// The cycles in which two packets that meet at router 1 of a row of three are through, each from a node of its own there to a node of its own at
/// router 2: one of 40 flits, and 9 cycles later one of 10. Their jobs have these priorities; a job that has none does not run.
fn ends_of_two(priorities: [Option<u32>; 2], allocator: &str) -> [Option<u32>; 2] {
    let job = |number: u32, (cycle, length): (u32, u32)| {
        let (source, destination) = (2 + number, 4 + number);
        let packet =
            json!({ "cycle": cycle, "source": source, "destination": destination, "length": length });
        json!({
            "placement": { "list": [source, destination] }, "name": number.to_string(),
            "priority": priorities[number as usize].unwrap_or(0), "traffic": { "packet_list": [packet] },
        })
    };
    let of_both = [0, 1].into_iter().zip(priorities);
    let running: Vec<String> = of_both.filter_map(|(job, own)| Some(own.map(|_| job)?.to_string())).collect();
    let router = json!({
        "arbiter": { "priority": {} }, "vcs": { "network": 2, "injection": 1 }, "buffers": { "network": 64 },
        "vc_allocator": { allocator: {} }, "switch_allocator": { allocator: {} },
    });
    let document = json!({
        "topology": { "mesh": { "sides": [3], "nodes_per_router": 2 } }, "router": { "virtual_channel": router },
        "jobs": [job(0, (0, 40)), job(1, (9, 10))], "only": running, "measure": { "warmup": 0, "cycles": 200 },
    });
    let plan = Plan::new(&serde_json::from_value(document).unwrap()).unwrap();
    let packets = lives(&plan, 200);
    let end =
        |(source, length)| Some(packets.iter().find(|packet| packet.source == source)?.delivered? + length);
    [(2, 40), (3, 10)].map(end)
}

#[test]
fn a_packet_of_a_higher_class_waits_for_no_flit_of_a_lower_one() {
    for allocator in ["separable_input_first", "separable_output_first", "wavefront"] {
        let ([Some(long), None], [None, Some(short)]) =
            (ends_of_two([Some(0), None], allocator), ends_of_two([None, Some(0)], allocator))
        else {
            panic!("one of them runs alone")
        };
        // The link is never idle before all is through: whoever goes last is as late as the other one is long.
        let of = |first: u32, second: u32| ends_of_two([Some(first), Some(second)], allocator);
        assert_eq!(of(0, 255), [Some(long + 10), Some(short)], "{allocator}");
        assert_eq!(of(254, 255), of(0, 1), "{allocator}: how much higher does not count");
        assert_eq!(of(255, 0), [Some(long), Some(long + 10)], "{allocator}");
        let [Some(late), Some(sharing)] = of(7, 7) else { panic!("both arrive") };
        assert_eq!(late.max(sharing), long + 10, "{allocator}");
        let least = if allocator == "wavefront" { short + 5 } else { short + 9 };
        assert!((least..=long + 10).contains(&sharing), "{allocator}: they take turns, {sharing}, {short}");
    }
}

#[test]
fn what_is_recorded_changes_no_result() {
    let streams = ["nodes", "links", "occupancy", "link_series", "waits", "congestion_trees", "packet_hops"];
    for document in [mesh(&json!({ "load": 0.9 })), mesh(&json!({ "routing": { "valiant": {} } }))] {
        let plain = engine::run(&flits(&document, ROUTERS, 6), &Control::default()).unwrap();
        let measure =
            json!({ "warmup": 100, "cycles": 501, "batches": 3, "interval": 100, "streams": streams });
        let recorded = changed(document, &json!({ "measure": measure }));
        let recorded = engine::run(&flits(&recorded, ROUTERS, 6), &Control::default()).unwrap();
        assert_eq!(plain.summary["packet_latency_mean"], recorded.summary["packet_latency_mean"]);
        assert_eq!(plain.summary["accepted_load"], recorded.summary["accepted_load"]);
    }
}

#[test]
fn the_mode_of_the_plainest_routers_gives_what_the_general_one_does() {
    for (number, document) in for_all_routers().into_iter().enumerate() {
        let plan = flits(&document, routers(number), 6);
        let own = measured(&plan, Trial::default());
        let general = engine::run_in_general(&plan, &Control::default()).expect("no deadlock");
        assert!(own == format!("{general:?}"), "{document}");
    }
}

#[test]
fn where_no_two_packets_meet_whole_packets_and_flits_take_the_same_time() {
    let document = mesh(&json!({
        "load": 0.0005,
        "router": { "input_queued": {
            "vcs": { "network": 2, "injection": 2 }, "pipeline_latency": 3, "crossbar_latency": 3
        } },
    }));
    let whole = lives(&Plan::new(&serde_json::from_value(document.clone()).unwrap()).unwrap(), 40_000);
    let flits = lives(&flits(&document, ROUTERS, 12), 40_000);
    assert!(flits.len() > 30);
    let ends = |lives: &[PacketTrace]| -> Vec<_> {
        lives.iter().map(|packet| (packet.source, packet.serial, packet.delivered)).collect()
    };
    assert_eq!(ends(&whole), ends(&flits));
}

/// A ring of six routers with a VC of 4 flits, and no bubble: packets of 8 flits can fill it.
fn ring() -> Plan {
    let document = json!({
        "topology": { "torus": { "sides": [6] } },
        "router": { "input_queued": { "vcs": { "network": 2, "injection": 1 } } },
        "jobs": [{ "traffic": { "packet_length": 8 } }],
        "load": 1.0,
        "measure": { "warmup": 0, "cycles": 20_000, "watchdog": 500 },
    });
    let mut plan = flits(&document, ROUTERS, 4);
    let topology = Arc::clone(&plan.system.topology);
    let spec = |buffer| ClassSpec { vcs: 1, buffer, latency: 1, bubble: 0 };
    let classes = Classes { terminal: spec(64), links: vec![spec(4)], ejection: 1, one_way: 1 };
    let network = Network::new(&topology, classes, 1, 1);
    let vcs = Vcs::increasing(VcSequence::unordered(&network.classes, 0));
    let minimal: RoutingConfig = serde_json::from_value(json!({ "minimal": {} })).unwrap();
    plan.system.routing = minimal.build(&topology, vcs);
    plan.system.network = Arc::new(network);
    plan
}

#[test]
fn a_ring_of_one_vc_comes_to_a_deadlock_that_is_found() {
    let Err(RunError::Deadlock(report)) = engine::run(&ring(), &Control::default()) else {
        panic!("no deadlock was found")
    };
    assert!(report.waiting.len() >= 3, "{report}");
    for (head, next) in report.waiting.iter().zip(report.waiting.iter().cycle().skip(1)) {
        let distance = (next.router + 6 - head.router) % 6;
        assert!([0, 1, 5].contains(&distance), "each waits in its router or for a neighbour: {report}");
    }
}

/// A ring of eight routers whose nodes send three routers ahead, so that three flows share every link that leads upwards.
fn tornado(load: f64, vcs: &Value, buffers: &Value) -> Plan {
    let document = json!({
        "topology": { "ring": { "routers": 8 } },
        "router": { "virtual_channel": { "vcs": vcs, "buffers": buffers } },
        "jobs": [{ "traffic": { "pattern": { "permutation": "tornado" }, "packet_length": 5 } }],
        "load": load,
        "measure": { "warmup": 2_000, "cycles": 10_000, "watchdog": 100 },
    });
    Plan::new(&serde_json::from_value(document).unwrap()).unwrap()
}

#[test]
fn datelines_keep_a_ring_moving_that_comes_to_a_deadlock_without() {
    let own = json!({ "network": 8, "injection": 16 });
    let shared = json!({ "network": 16, "injection": 16, "damq": { "reserve": 1 } });
    for buffers in [own, shared] {
        let without = json!({ "network": 2, "bubble": 0, "allow_deadlock": true });
        let without = tornado(1.0, &without, &buffers);
        assert!(
            matches!(engine::run(&without, &Control::default()), Err(RunError::Deadlock(_))),
            "{buffers}"
        );
        assert!(matches!(prove(&without), Verdict::Circle(_)));
        for class in ["crossing", "dimension"] {
            let datelines = json!({ "network": 2, "rings": { "dateline": { "class": class } } });
            let plan = tornado(1.0, &datelines, &buffers);
            assert!(engine::run(&plan, &Control::default()).is_ok(), "{class}, {buffers}");
            assert!(matches!(prove(&plan), Verdict::Proved(proof) if proof.rings == 0), "{class}");
        }
    }
}
