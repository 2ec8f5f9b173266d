//! What the product proves of plans, compared with packets that are followed one by one, and broken by hand.

use crate::conformance::{AnyState, Numbers};
use hopsim_cycles::system::{RouterPlan, Shares};
use hopsim_experiment::plan::programs::no_files;
use hopsim_experiment::plan::{AnyPlan, Plan};
use hopsim_experiment::proof::{
    Channel, Ground, MOST_HEADS, Proof, Verdict, deadlock_line, deadlock_of_tables, dependencies, prove,
    prove_tables, prove_within,
};
use hopsim_experiment::survey::deadlock;
use hopsim_network::by_class::ByClass;
use hopsim_network::interrupt;
use hopsim_network::topology::GLOBAL;
use hopsim_random::{Purpose, Stream};
use hopsim_routing::minimal::{Config, Minimal};
use hopsim_routing::path::{G, L};
use hopsim_routing::sequence::{REPLY_INJECTION, VcSequence};
use hopsim_routing::vcs::Vcs;
use hopsim_routing::{Head, Hop, Leg, NO_VC, RouteState, Routing, Safety};
use petgraph::algo::is_cyclic_directed;
use petgraph::graphmap::DiGraphMap;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

fn planned(document: &Value) -> Plan {
    let experiment = serde_json::from_value(document.clone()).expect("a valid document");
    Plan::new(&experiment).unwrap_or_else(|e| panic!("{document}: {e}"))
}

fn plan(topology: &Value, routing: &Value, router: &Value) -> Plan {
    planned(&json!({ "topology": topology, "routing": routing, "router": router, "load": 0.1 }))
}

/// Routers of a torus with datelines and so many VCs.
fn with_datelines(router: &str, class: &str, vcs: u32) -> Value {
    json!({ router: { "vcs": { "network": vcs, "rings": { "dateline": { "class": class } } } } })
}

fn answering(topology: &Value, routing: &Value, router: &Value) -> Plan {
    let jobs = json!([{ "traffic": { "request_reply": {} } }]);
    let document =
        json!({ "topology": topology, "routing": routing, "router": router, "load": 0.1, "jobs": jobs });
    planned(&document)
}

/// All that packets were seen to hold while they asked for something.
type Seen = BTreeSet<(Channel, Channel)>;

/// Follows one packet from node to node through routers in any state.
fn follow(plan: &Plan, (from, to, serial): (u32, u32, u64), reply: bool, seen: &mut Seen) {
    let system = &plan.system;
    let per_router = system.topology.nodes_per_router();
    let answers = system.network.classes.request_reply();
    let unanswered = |router| Channel { router, port: 0, vc: 1 };
    let mut holds = reply.then(|| unanswered(from / per_router));
    let mut state = RouteState::NEW;
    let mut head = Head {
        router: from / per_router,
        input: (from % per_router) as u16,
        code: if reply { REPLY_INJECTION } else { 0 },
        source: from,
        destination: to / per_router,
        terminal: (to % per_router) as u16,
        ejection_vc: 0,
        reply,
    };
    for attempt in 0..500 {
        let draw = Stream::new(serial, Purpose::Routing, u64::from(from)).at(u64::from(head.router));
        let any = draw.at(attempt);
        let mut numbers = Numbers { head: draw.clone(), attempt: any.at(1) };
        let mut taken = state;
        let decision =
            system.routing.decide(&mut taken, &AnyState(any.at(2), head, &system.network), &mut numbers);
        let Some(request) = decision.request else { continue };
        let Some((next, port)) = system.network.link(head.router, request.port).peer else {
            if let Some(holds) = holds.filter(|_| answers && !reply) {
                seen.insert((holds, unanswered(head.router)));
            }
            return;
        };
        let count = system.network.layout.output_vcs[request.port];
        let channel = Channel { router: head.router, port: request.port, vc: request.vc % count };
        if let Some(holds) = holds {
            seen.insert((holds, channel));
        }
        holds = Some(channel);
        state = decision.after;
        let class = system.network.layout.class[request.port] - 1;
        let code = system.routing.vcs().sequence.code(class, channel.vc);
        head = Head { router: next, input: port as u16, code, ..head };
    }
    panic!("a packet from {from} to {to} does not arrive");
}

/// Packets from each node to each that are followed at most.
const MOST_PACKETS: u64 = 20_000;

/// What packets between all nodes were seen to do, until that is as much as was foreseen.
fn followed(plan: &Plan, foreseen: usize) -> Seen {
    let mut seen = Seen::new();
    let nodes = plan.system.network.nodes;
    let kinds = if plan.system.network.classes.request_reply() { vec![false, true] } else { vec![false] };
    for serial in 0..MOST_PACKETS {
        for (from, to) in (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))) {
            for &reply in &kinds {
                follow(plan, (from, to, serial), reply, &mut seen);
            }
        }
        // Some more, which might do what is not foreseen.
        if seen.len() >= foreseen && serial > 100 {
            break;
        }
    }
    seen
}

/// The mechanisms that every graph can have.
const ON_GRAPHS: &[&str] = &[
    "minimal",
    "adaptive",
    "ecmp",
    "k_shortest_paths",
    "polarized",
    "up_down",
    "nue",
    "valiant",
    "ugal",
    "par",
];

/// Small networks other than dragonflies, with the mechanisms that they can have.
fn not_dragonflies() -> Vec<Plan> {
    let mut all = Vec::new();
    let chords: Vec<Value> =
        (0..7).map(|i| [i, (i + 1) % 7]).chain([[0, 3]]).map(|ends| json!({ "between": ends })).collect();
    let topologies = [
        (
            json!({ "ring": { "routers": 5 } }),
            &["minimal", "adaptive", "up_down", "nue", "valiant", "ugal"][..],
        ),
        (
            json!({ "torus": { "sides": [4, 3] } }),
            &["minimal", "adaptive", "up_down", "nue", "valiant", "ugal"],
        ),
        (
            json!({ "mesh": { "sides": [3, 3] } }),
            &["minimal", "adaptive", "up_down", "nue", "valiant", "ugal"],
        ),
        (
            json!({ "hyperx": { "sides": [3, 3] } }),
            &["minimal", "adaptive", "ecmp", "polarized", "up_down", "nue", "valiant", "ugal", "par"],
        ),
        (json!({ "fat_tree": { "k": 2, "levels": 3 } }), &["minimal", "adaptive", "ecmp", "up_down", "nue"]),
        (
            json!({ "dragonfly_plus": { "leaves": 2, "spines": 1, "global_links": 2, "nodes_per_leaf": 1 } }),
            ON_GRAPHS,
        ),
        (
            json!({ "dragonfly_plus": { "leaves": 2, "spines": 2, "global_links": 1, "nodes_per_leaf": 1 } }),
            &["fpar"],
        ),
        (
            json!({ "dragonfly_plus": { "leaves": 1, "spines": 2, "global_links": 2, "groups": 3, "nodes_per_leaf": 2 } }),
            &["fpar"],
        ),
        (json!({ "graph": { "edges": chords } }), ON_GRAPHS),
        (
            json!({ "planes": { "count": 2, "of": { "ring": { "routers": 4 } } } }),
            &["minimal", "adaptive", "ecmp"],
        ),
    ];
    for (topology, names) in &topologies {
        for name in *names {
            // Whatever is outstanding, every link that is allowed may cost least.
            let options = if *name == "polarized" { json!({ "penalties": [0, 0] }) } else { json!({}) };
            all.push(plan(topology, &json!({ *name: options }), &json!({ "input_queued": {} })));
        }
    }
    for (topology, names) in
        topologies.iter().filter(|(topology, _)| topology.get("graph").or(topology.get("planes")).is_some())
    {
        all.push(plan(topology, &json!({ "minimal": {} }), &by_hop()));
        all.push(answering(topology, &json!({ "minimal": {} }), &by_hop()));
        let shares = |name: &&&str| ["minimal", "adaptive", "ecmp", "valiant", "ugal"].contains(name);
        for name in names.iter().filter(shares) {
            all.push(plan(topology, &json!({ *name: {} }), &sharing(topology, 7)));
        }
    }
    let hyperx = json!({ "hyperx": { "sides": [3, 3] } });
    all.push(plan(&hyperx, &json!({ "ugal": {} }), &sharing(&hyperx, 5)));
    all
}

/// Routers of so many VCs that are by hop, and which hops share.
fn sharing(topology: &Value, vcs: u32) -> Value {
    let mut router = by_hop();
    let keys = &mut router["input_queued"]["vcs"];
    keys["management"] = json!({ "flexvc": {} });
    let classes: &[&str] = if topology.get("planes").is_some() { &["network", "rail"] } else { &["network"] };
    for class in classes {
        keys[*class] = json!(vcs);
    }
    router
}

/// Routers whose VCs are by hop.
fn by_hop() -> Value {
    json!({ "input_queued": { "vcs": { "discipline": "by_hop" } } })
}

/// Small networks with the mechanisms that they can have.
fn small() -> Vec<Plan> {
    let mut all = Vec::new();
    let cioq = json!({ "cioq": {} });
    let flexible = json!({ "cioq": { "vcs": { "local": 5, "global": 3, "management": { "flexvc": {} } } } });
    let shapes = [
        json!({ "p": 1, "a": 3, "h": 2, "groups": 3 }),
        json!({ "p": 1, "a": 2, "h": 1, "groups": 3, "arrangement": "consecutive" }),
        json!({ "p": 1, "a": 3, "h": 1, "groups": 4 }),
        json!({ "p": 1, "a": 3, "h": 2, "groups": 3, "trunk": 2 }),
    ];
    for shape in shapes {
        let dragonfly = json!({ "dragonfly": shape });
        for routing in [
            json!({ "minimal": {} }),
            json!({ "valiant": { "intermediate": "group", "policy": "nrg" } }),
            json!({ "valiant": { "intermediate_groups": "any", "recompute": true } }),
            json!({ "valiant": { "policy": "crg", "intra_group": "local" } }),
            json!({ "ugal": {} }),
            json!({ "piggyback": { "intermediate": "router", "intra_group": "global" } }),
            json!({ "source_adaptive": { "policy": "crg", "recompute": true, "threshold": 0 } }),
            json!({ "olm": {} }),
            json!({ "olm": { "policy": "rrg", "candidates": "one" } }),
            json!({ "olm": { "policy": "nrg", "trigger": { "contention": { "threshold": 2 } } } }),
            json!({ "par": {} }),
            json!({ "par": { "policy": "crg" } }),
        ] {
            all.push(plan(&dragonfly, &routing, &cioq));
            all.push(answering(&dragonfly, &routing, &cioq));
        }
        for routing in [json!({ "minimal": {} }), json!({ "olm": {} }), json!({ "ugal": {} })] {
            all.push(plan(&dragonfly, &routing, &flexible));
        }
    }
    all.extend(not_dragonflies());
    for (sides, vcs) in [(vec![6], 2), (vec![4, 3], 3), (vec![2, 5], 4), (vec![3, 2, 4], 2)] {
        for class in ["crossing", "dimension"] {
            let router = with_datelines("virtual_channel", class, vcs);
            all.push(plan(&json!({ "torus": { "sides": sides } }), &json!({ "minimal": {} }), &router));
        }
    }
    for up in ["destination", "random"] {
        let tree = json!({ "fat_tree": { "k": 2, "levels": 3 } });
        all.push(plan(&tree, &json!({ "minimal": { "up": up } }), &json!({ "input_queued": {} })));
    }
    all
}

fn name(plan: &Plan) -> String {
    let experiment = &plan.experiment;
    serde_json::to_string(&(&experiment.topology, &experiment.routing, &experiment.router)).unwrap()
}

#[test]
fn the_dependencies_are_those_of_packets_that_are_followed() {
    for plan in small() {
        let listed: Seen = dependencies(&plan, false).unwrap().into_iter().collect();
        let seen = followed(&plan, listed.len());
        let missing: Vec<_> = seen.difference(&listed).take(3).collect();
        assert!(missing.is_empty(), "not foreseen: {missing:?} with {}", name(&plan));
        // Neither UGAL nor PAR ever takes a detour that begins with the link of its shorter minimal path; the proof does not compare lengths.
        let compares = ["ugal", "par"].contains(&plan.experiment.routing.name())
            && plan.system.topology.dragonfly().is_none();
        let idle: Vec<_> = listed.difference(&seen).take(3).collect();
        assert!(compares || idle.is_empty(), "never seen: {idle:?} with {}", name(&plan));
        assert!(2 * seen.len() > listed.len(), "{} of {} with {}", seen.len(), listed.len(), name(&plan));
    }
}

#[test]
fn a_graph_without_a_cycle_is_found_to_have_none_and_one_with_a_cycle_is_not() {
    for plan in small() {
        let is_cyclic = |escape| {
            let listed = dependencies(&plan, escape).unwrap();
            let graph: DiGraphMap<Channel, ()> =
                listed.into_iter().map(|(one, other)| (one, other, ())).collect();
            is_cyclic_directed(&graph)
        };
        let Verdict::Proved(proof) = prove(&plan) else { panic!("{}", name(&plan)) };
        match (proof.ground, proof.rings) {
            (Ground::Acyclic, 0) => assert!(!is_cyclic(false), "{}", name(&plan)),
            (Ground::Escape, 0) => assert!(is_cyclic(false) && !is_cyclic(true), "{}", name(&plan)),
            (ground, _) => assert!(is_cyclic(ground == Ground::Escape), "{}", name(&plan)),
        }
    }
}

/// What a network of cubes, trees and complete graphs is proved by, and in how many rings.
fn ground(topology: &Value, routing: &Value) -> (Ground, usize) {
    match prove(&plan(topology, routing, &json!({ "input_queued": {} }))) {
        Verdict::Proved(Proof { ground, rings, .. }) => (ground, rings),
        other => panic!("{routing} on {topology}: {other:?}"),
    }
}

#[test]
fn every_discipline_has_its_ground() {
    use Ground::{Acyclic, Escape};
    let torus = json!({ "torus": { "sides": [4, 5] } });
    let mesh = json!({ "mesh": { "sides": [4, 5] } });
    let rows: [(&Value, Value, (Ground, usize)); 11] = [
        (&mesh, json!({ "minimal": {} }), (Acyclic, 0)),
        (&mesh, json!({ "adaptive": {} }), (Escape, 0)),
        (&mesh, json!({ "valiant": {} }), (Acyclic, 0)),
        (&mesh, json!({ "up_down": {} }), (Acyclic, 0)),
        // Two directions of five rings of 4 and of four rings of 5.
        (&torus, json!({ "minimal": {} }), (Acyclic, 18)),
        (&torus, json!({ "adaptive": {} }), (Escape, 18)),
        (&torus, json!({ "valiant": {} }), (Acyclic, 36)),
        (&torus, json!({ "ugal": {} }), (Acyclic, 36)),
        (&torus, json!({ "up_down": {} }), (Acyclic, 0)),
        (&torus, json!({ "nue": {} }), (Acyclic, 0)),
        (&torus, json!({ "nue": { "vcs": 3 } }), (Acyclic, 0)),
    ];
    for (topology, routing, expected) in rows {
        assert_eq!(ground(topology, &routing), expected, "{routing} on {topology}");
    }
    // Paths in rings of three routers have one link, and close no circle.
    assert_eq!(ground(&json!({ "torus": { "sides": [3, 3] } }), &json!({ "minimal": {} })), (Acyclic, 0));
}

/// A ring of routers as a graph, with links across.
fn ring_graph(routers: u32, across: &[[u32; 2]]) -> Value {
    let round = (0..routers).map(|router| [router, (router + 1) % routers]);
    let edges: Vec<_> =
        round.chain(across.iter().copied()).map(|between| json!({ "between": between })).collect();
    json!({ "graph": { "edges": edges, "nodes_per_router": 1 } })
}

#[test]
fn in_a_graph_every_hop_of_a_detour_or_of_any_shortest_path_waits_in_the_vc_after_its_own() {
    // In a ring of six routers are three links apart: PAR may make a hop and two such ways.
    for (routing, vcs) in
        [("adaptive", 3), ("ecmp", 3), ("polarized", 9), ("valiant", 6), ("ugal", 6), ("par", 7)]
    {
        let plan = plan(&ring_graph(6, &[]), &json!({ routing: {} }), &json!({ "cioq": {} }));
        assert_eq!(plan.experiment.router.vcs().network, Some(vcs), "{routing}");
        let listed = dependencies(&plan, false).unwrap();
        assert!(!listed.is_empty());
        for (held, next) in listed {
            assert_eq!(held.vc + 1, next.vc, "{routing}: {held:?} waits for {next:?}");
        }
    }
}

#[test]
fn hops_that_share_vcs_leave_one_above_for_every_link_behind() {
    // In a ring of six routers are three links apart. With Valiant a packet goes to the other side and back, to a node beside its own;
    // with UGAL only packets for other routers leave theirs.
    for (routing, most) in [("adaptive", 3), ("ecmp", 3), ("valiant", 6), ("ugal", 5)] {
        let ring = ring_graph(6, &[]);
        let plan = plan(&ring, &json!({ routing: {} }), &sharing(&ring, 9));
        let waits = |escape| -> BTreeSet<(u8, u8)> {
            let listed = dependencies(&plan, escape).unwrap();
            listed.into_iter().map(|(held, next)| (held.vc, next.vc)).collect()
        };
        // A packet with m links to go, which has made one hop, holds any VC below 9 - m, and asks for any below 10 - m.
        let foreseen = |asks: fn(u8) -> Vec<u8>| -> BTreeSet<(u8, u8)> {
            let left = 1..most;
            let both = left.flat_map(|m| {
                (0..9 - m).flat_map(move |held| asks(9 - m).into_iter().map(move |next| (held, next)))
            });
            both.collect()
        };
        assert_eq!(waits(false), foreseen(|highest| (0..=highest).collect()), "{routing}");
        assert_eq!(waits(true), foreseen(|highest| vec![highest]), "{routing}");
        assert!(matches!(prove(&plan), Verdict::Proved(Proof { ground: Ground::Escape, rings: 0, .. })));
        assert!(matches!(
            prove_within(&plan, 0),
            Verdict::Proved(Proof { ground: Ground::HighestRanks, .. })
        ));
    }
}

/// The rank of a channel of FPAR: up, out and down in the lower half of the VCs, then in the upper half.
fn rank(plan: &Plan, channel: Channel) -> u32 {
    let topology = &plan.system.topology;
    let is_upper = channel.vc >= plan.system.routing.vcs().used(0) / 2;
    let is_up = channel.router < topology.routers_with_nodes();
    let step = match (is_up, topology.link_class(channel.port)) {
        (true, _) => 0,
        (false, GLOBAL) => 1,
        (false, _) => 2,
    };
    3 * u32::from(is_upper) + step
}

#[test]
fn packets_of_fpar_wait_up_out_and_down_in_the_lower_half_of_the_vcs_and_then_in_the_upper_one() {
    for (shape, vcs) in [
        (json!({ "leaves": 2, "spines": 2, "global_links": 1, "nodes_per_leaf": 1 }), [2, 2]),
        (json!({ "leaves": 2, "spines": 2, "global_links": 1, "nodes_per_leaf": 1 }), [4, 5]),
        (json!({ "leaves": 1, "spines": 3, "global_links": 2, "groups": 4, "nodes_per_leaf": 1 }), [3, 4]),
    ] {
        let router = json!({ "cioq": { "vcs": { "local": vcs[0], "global": vcs[1] } } });
        let plan = plan(&json!({ "dragonfly_plus": shape }), &json!({ "fpar": {} }), &router);
        let listed = dependencies(&plan, false).unwrap();
        // All ranks are met but that a packet which is down in the upper half waits for nothing but its node.
        let held: BTreeSet<u32> = listed.iter().map(|&(held, _)| rank(&plan, held)).collect();
        assert_eq!(held, (0..5).collect(), "{}", name(&plan));
        for (held, next) in listed {
            assert!(
                rank(&plan, held) < rank(&plan, next),
                "{held:?} waits for {next:?} with {}",
                name(&plan)
            );
        }
        let Verdict::Proved(proof) = prove(&plan) else { panic!("{}", name(&plan)) };
        assert_eq!((proof.ground, proof.rings), (Ground::Acyclic, 0));
        assert_eq!(plan.paths.hops, 6);
        // A path with every rank once has so many links.
        for (from, to) in (0..plan.system.network.nodes).flat_map(|from| [(from, 0), (0, from)]) {
            for serial in 0..100 {
                let mut seen = Seen::new();
                follow(&plan, (from, to, serial), false, &mut seen);
                assert!(seen.len() < 6, "{from} to {to}: {seen:?} with {}", name(&plan));
            }
        }
    }
}

#[test]
fn polarized_paths_have_the_links_that_the_formula_foresees() {
    let (mut longest, mut refused) = (0, 0);
    for number in 0..300 {
        let mut draws = Stream::new(number, Purpose::RandomGraph, 0);
        let routers = 4 + draws.below(7);
        let mut pairs: Vec<[u32; 2]> = (1..routers).map(|router| [draws.below(router), router]).collect();
        for _ in 0..draws.below(12) {
            let pair = [draws.below(routers), draws.below(routers)];
            pairs.extend((pair[0] != pair[1]).then_some(pair));
        }
        let edges: Vec<Value> = pairs.iter().map(|between| json!({ "between": between })).collect();
        let document = json!({
            "topology": { "graph": { "edges": edges } }, "routing": { "polarized": {} },
            "router": { "input_queued": {} }, "load": 0.1,
        });
        let Ok(plan) = Plan::new(&serde_json::from_value(document).unwrap()) else {
            refused += 1;
            continue;
        };
        let vcs = plan.experiment.router.vcs().network.unwrap();
        let used = dependencies(&plan, false).unwrap().iter().map(|(_, next)| u32::from(next.vc) + 1).max();
        let Verdict::Proved(_) = prove(&plan) else { panic!("{pairs:?}") };
        assert!(used.unwrap_or(1) <= vcs, "{pairs:?}: {used:?} of {vcs}");
        longest += u32::from(vcs > 2 && used == Some(vcs));
    }
    // Routers are more than four links apart in some, and paths as long as they may be in others.
    assert!(refused > 20 && refused < 150 && longest > 0, "{refused} {longest}");
}

#[test]
fn by_hop_there_are_as_many_vcs_as_routers_with_nodes_are_apart() {
    for (with_nodes, vcs) in [(8, 4), (3, 2), (1, 1)] {
        let mut ring = ring_graph(8, &[]);
        ring["graph"]["nodes_per_router"] = json!(2);
        ring["graph"]["routers_with_nodes"] = json!(with_nodes);
        let plan = plan(&ring, &json!({ "minimal": {} }), &by_hop());
        assert_eq!(plan.experiment.router.vcs().network, Some(vcs), "{with_nodes} routers with nodes");
        for (held, next) in dependencies(&plan, false).unwrap() {
            assert_eq!(held.vc + 1, next.vc, "{held:?} waits for {next:?}");
        }
    }
}

/// The place of a channel among all links of two longest paths, that of a request and that of its reply. A terminal port stands for what
/// is to be answered, between them.
fn place_in_order(plan: &Plan, channel: Channel) -> usize {
    let system = &plan.system;
    let Safety::Ordered(order) = &plan.paths.safety else {
        let half = usize::from(system.routing.vcs().sequence.first(0, true));
        return if channel.port == 0 { 2 * half - 1 } else { 2 * usize::from(channel.vc) };
    };
    let path = order.sequence;
    if channel.port == 0 {
        return 2 * path.len() - 1;
    }
    let class = system.network.layout.class[channel.port] - 1;
    let of_class = path.iter().chain(path).enumerate().filter(|&(_, &link)| link == class);
    2 * of_class.map(|(place, _)| place).nth(channel.vc.into()).expect("a VC of a link of the path")
}

#[test]
fn vcs_that_increase_along_every_path_are_a_proof_without_a_look_at_heads() {
    let mut met = BTreeSet::new();
    for plan in small() {
        let verdict = prove_within(&plan, 0);
        let Verdict::Proved(proof) = verdict else {
            assert_eq!(verdict, Verdict::Unproved);
            continue;
        };
        met.insert((plan.experiment.topology.name(), plan.experiment.routing.name()));
        let Verdict::Proved(whole) = prove(&plan) else { panic!("{}", name(&plan)) };
        // Where hops share VCs it is the highest one that a packet can wait for in the end.
        let shares = plan.system.routing.vcs().look_ahead();
        assert_eq!(proof.ground, if shares { Ground::HighestRanks } else { Ground::Ranks });
        // Short paths may close no circle whatever their VCs.
        let is_as_foreseen = whole.ground == Ground::Acyclic || shares && whole.ground == Ground::Escape;
        assert!(is_as_foreseen && whole.rings == 0, "{}", name(&plan));
        assert!(proof.channels >= whole.channels);
        for (held, next) in dependencies(&plan, shares).unwrap() {
            let ranks = [held, next].map(|channel| place_in_order(&plan, channel));
            assert!(ranks[0] < ranks[1], "{held:?} waits for {next:?} with {}", name(&plan));
        }
        let line = deadlock_line(&plan, &verdict, 0);
        let rule = if shares {
            "after every hop a path with VCs in increasing order is left"
        } else {
            "VCs increase along every path"
        };
        let counted = format!("{} channels, {rule}, no cycle", proof.channels);
        assert_eq!(line, format!("free of deadlock: {counted}"));
        // A path of a link more than there are VCs would have none for it.
        let mut longer = plan.clone();
        longer.paths.hops += 1;
        assert_eq!(prove_within(&longer, 0), Verdict::Unproved);
    }
    let on =
        |topology, routings: &[&'static str]| routings.iter().map(|&routing| (topology, routing)).collect();
    let mut expected: BTreeSet<_> = on(
        "graph",
        &["minimal", "adaptive", "ecmp", "k_shortest_paths", "polarized", "valiant", "ugal", "par"],
    );
    expected
        .append(&mut on("dragonfly", &["minimal", "valiant", "ugal", "piggyback", "source_adaptive", "par"]));
    expected.append(&mut on("dragonfly_plus", &["k_shortest_paths", "polarized", "par"]));
    expected.append(&mut on("planes", &["minimal", "adaptive", "ecmp"]));
    expected.append(&mut on("hyperx", &["ecmp", "polarized", "valiant", "ugal", "par"]));
    assert_eq!(met, expected);
}

#[test]
fn vcs_that_can_take_each_others_room_are_not_proved_by_their_order() {
    let proofs = [0, 7, 8].map(|reserve| {
        let mut plan = plan(&ring_graph(6, &[]), &json!({ "minimal": {} }), &by_hop());
        assert_eq!(plan.system.longest_packet(), 8);
        let RouterPlan::Cioq(router) = &mut plan.system.router else { panic!("whole packets move") };
        router.damq = Some(ByClass::splat(Shares { reserve, pool: 100 }));
        matches!(prove_within(&plan, 0), Verdict::Proved(_))
    });
    assert_eq!(proofs, [false, false, true]);
}

/// A plan some of whose links fail in cycle 100, with new tables in cycle 300.
fn failing(topology: &Value, routing: &str, reaction: &Value) -> Plan {
    failing_between(topology, routing, (reaction, [0, 1]))
}

fn failing_between(topology: &Value, routing: &str, (reaction, link): (&Value, [u32; 2])) -> Plan {
    let mut reaction = reaction.clone();
    (reaction["detection"], reaction["reroute"]) = (json!(100), json!(100));
    planned(&json!({
        "topology": topology, "routing": { routing: {} }, "router": { "cioq": {} }, "load": 0.1,
        "faults": [{ "at": 100, "until": 500, "links": { "between": [link] }, "reaction": reaction }],
        "measure": { "warmup": 0, "cycles": 1_000 },
    }))
}

#[test]
fn tables_that_follow_each_other_are_proved_with_the_packets_that_are_under_way() {
    let topology = ring_graph(8, &[[0, 4], [2, 6]]);
    let cycles = |plan: &Plan| -> Vec<(u32, bool)> {
        let verdicts = prove_tables(plan, MOST_HEADS);
        verdicts.into_iter().map(|(at, verdict)| (at, matches!(verdict, Verdict::Proved(_)))).collect()
    };
    for routing in ["adaptive", "valiant", "ugal", "par"] {
        let plan = failing(&topology, routing, &json!({}));
        assert_eq!(cycles(&plan), [(0, true), (300, true), (700, true)], "{routing}");
    }
    // A rail fails: adapter 0 is joined to the other plane alone.
    let planes = json!({ "planes": { "count": 2, "of": { "ring": { "routers": 4 } } } });
    for routing in ["adaptive", "ecmp"] {
        let plan = failing_between(&planes, routing, (&json!({}), [0, 4]));
        assert_eq!(cycles(&plan), [(0, true), (300, true), (700, true)], "{routing}");
    }
    let drained = failing(&topology, "minimal", &json!({}));
    assert_eq!(cycles(&drained), [(0, true), (300, true), (700, true)]);
    // Either tables are free of deadlock, and those who have come by the ones before close a circle with the others.
    let at_once = failing(&topology, "minimal", &json!({ "reconfiguration": "dynamic" }));
    assert_eq!(cycles(&at_once), [(0, true), (300, false), (700, false)]);
    let line = deadlock_of_tables(&at_once, &prove_tables(&at_once, MOST_HEADS), MOST_HEADS);
    assert!(line.starts_with("can deadlock: "), "{line}");
    assert!(line.ends_with(" (from cycle 300 on, with the packets that are under way then)"), "{line}");
    let line = deadlock_of_tables(&drained, &prove_tables(&drained, MOST_HEADS), MOST_HEADS);
    assert!(line.starts_with("free of deadlock: "), "{line}");
    assert!(line.contains("; from cycle 700 on, once the network is drained: "), "{line}");
}

#[test]
fn a_line_has_as_many_dependencies_as_pairs_of_links_in_one_direction() {
    let plan = plan(
        &json!({ "mesh": { "sides": [5] } }),
        &json!({ "minimal": {} }),
        &json!({ "input_queued": { "vcs": { "network": 1 } } }),
    );
    let Verdict::Proved(proof) = prove(&plan) else { panic!("a line has no circle") };
    assert_eq!((proof.channels, proof.dependencies), (8, 6));
    let line = "free of deadlock: 8 channels, 6 dependencies, no cycle";
    assert_eq!(deadlock_line(&plan, &Verdict::Proved(proof), MOST_HEADS), line);
}

/// A plan whose packets are routed minimally with other VCs than the product would give them.
fn with_sequence(mut plan: Plan, sequence: VcSequence) -> Plan {
    let base = Minimal::new(Arc::clone(&plan.system.topology), Vcs::increasing(sequence));
    plan.system.routing = Routing::Minimal(Config::default().build(base));
    plan
}

#[test]
fn with_a_vc_too_few_there_is_a_circle() {
    let dragonfly = json!({ "dragonfly": { "p": 1, "a": 4, "h": 2 } });
    let whole = plan(&dragonfly, &json!({ "minimal": {} }), &json!({ "cioq": {} }));
    let classes = &whole.system.network.classes;
    let order = VcSequence::new(&[L, G, L], classes, false);
    let same = VcSequence::unordered(classes, 0);
    assert!(matches!(prove(&with_sequence(whole.clone(), order)), Verdict::Proved(_)));
    let broken = with_sequence(whole, same);
    let Verdict::Circle(circle) = prove(&broken) else { panic!("local links wait for local links") };
    let listed = dependencies(&broken, false).unwrap();
    let way = circle.channels.iter().zip(circle.channels.iter().cycle().skip(1));
    for (one, other) in way {
        assert!(listed.contains(&(*one, *other)), "{one:?} does not wait for {other:?}");
    }
    let line = deadlock_line(&broken, &Verdict::Circle(circle.clone()), MOST_HEADS);
    let start =
        "can deadlock: packets can wait for each other in a circle, for room behind these outputs: router ";
    assert!(line.starts_with(start), "{line}");
    assert_eq!(line.matches(" → ").count(), circle.channels.len());
}

#[test]
fn rings_without_bubbles_are_circles_unless_they_are_short() {
    let of = |routers: u32, routing: &str| {
        let router = json!({ "input_queued": { "vcs": { "bubble": 0, "allow_deadlock": true } } });
        prove(&plan(&json!({ "ring": { "routers": routers } }), &json!({ routing: {} }), &router))
    };
    for routing in ["minimal", "adaptive", "valiant"] {
        let Verdict::Circle(circle) = of(6, routing) else { panic!("{routing}") };
        assert_eq!(circle.channels.len(), 6, "{routing}");
    }
    assert!(matches!(of(3, "minimal"), Verdict::Proved(proof) if proof.rings == 0));
}

#[test]
fn rings_with_datelines_have_no_circle() {
    let torus = json!({ "torus": { "sides": [5, 8, 2] } });
    for router in ["virtual_channel", "cioq", "input_queued"] {
        for (class, vcs) in [("crossing", 2), ("crossing", 5), ("dimension", 2), ("dimension", 5)] {
            let plan = plan(&torus, &json!({ "minimal": {} }), &with_datelines(router, class, vcs));
            let verdict = prove(&plan);
            assert!(
                matches!(verdict, Verdict::Proved(Proof { ground: Ground::Acyclic, rings: 0, .. })),
                "{}: {verdict:?}",
                name(&plan)
            );
            assert_eq!(
                deadlock_line(&plan, &Verdict::Unproved, 1000),
                "deadlock not looked for: more than 1,000 heads to look at; rule: the paths close no cycle in any VC; in rings datelines"
            );
        }
    }
}

#[test]
fn the_two_parts_of_a_detour_have_vcs_of_their_own() {
    let mesh = json!({ "mesh": { "sides": [4, 3] } });
    for (vcs, halves) in [(2, [1, 1]), (5, [2, 3]), (8, [4, 4])] {
        let router = json!({ "virtual_channel": { "vcs": { "network": vcs } } });
        let plan = plan(&mesh, &json!({ "valiant": {} }), &router);
        let verdict = prove(&plan);
        assert!(
            matches!(verdict, Verdict::Proved(Proof { ground: Ground::Acyclic, rings: 0, .. })),
            "{vcs} VCs: {verdict:?}"
        );
        let routing = &plan.system.routing;
        let count = |leg: Leg| {
            let way = routing.vcs().way(&HEAD, Hop { port: 2, class: 0, leg, reuses: false, vc: NO_VC });
            way.vc + 1 - routing.vcs().first(way)
        };
        assert_eq!([Leg::Detour, Leg::Final].map(count), halves, "{vcs} VCs");
    }
}

/// The head of a packet at its source.
const HEAD: Head = Head {
    router: 0,
    input: 0,
    code: 0,
    source: 0,
    destination: 2,
    terminal: 0,
    ejection_vc: 0,
    reply: false,
};

/// Packets that stay in the class in which they have entered the ring: nobody changes at the dateline.
#[test]
fn a_dateline_that_nobody_heeds_is_a_circle() {
    let router = with_datelines("virtual_channel", "crossing", 2);
    let whole = plan(&json!({ "torus": { "sides": [6, 4] } }), &json!({ "minimal": {} }), &router);
    assert!(matches!(prove(&whole), Verdict::Proved(_)));
    let keeping = VcSequence::keeping(&whole.system.network.classes);
    let Verdict::Circle(circle) = prove(&with_sequence(whole, keeping)) else { panic!("no circle is found") };
    assert!([4, 6].contains(&circle.channels.len()), "once round a ring: {circle:?}");
}

/// No topology turns into another ring without an entry; here packets turn so, and the bubbles of a ring are no proof.
#[test]
fn rings_that_packets_leave_for_others_without_an_entry_are_circles() {
    let router = json!({ "input_queued": { "vcs": { "bubble": 0, "allow_deadlock": true } } });
    let torus = json!({ "torus": { "sides": [6, 6] } });
    let mut turning = plan(&torus, &json!({ "minimal": {} }), &router);
    Arc::make_mut(&mut turning.system.network).layout.entries[0] = 1;
    assert!(matches!(prove(&turning), Verdict::Circle(_)));
}

#[test]
fn vcs_that_take_each_others_room_are_a_circle() {
    let of = |reserve: u32| {
        let damq = json!({ "local_reserve": reserve, "global_reserve": reserve, "allow_deadlock": true });
        let router = json!({ "cioq": { "buffers": { "damq": damq } } });
        prove(&plan(&json!({ "dragonfly": { "p": 1, "a": 4, "h": 2 } }), &json!({ "minimal": {} }), &router))
    };
    assert!(matches!(of(0), Verdict::Circle(_)));
    assert!(matches!(of(1), Verdict::Proved(Proof { ground: Ground::Acyclic, .. })));
}

#[test]
fn replies_that_keep_to_a_detour_in_vcs_of_requests_are_not_proved() {
    let of = |sticky: bool| {
        let vcs = json!({
            "local": 5, "global": 3, "reply": { "local": 2, "global": 1 }, "management": { "flexvc": {} }
        });
        let dragonfly = json!({ "dragonfly": { "p": 1, "a": 3, "h": 1 } });
        answering(&dragonfly, &json!({ "ugal": { "sticky": sticky } }), &json!({ "cioq": { "vcs": vcs } }))
    };
    // A reply that waits can go by its minimal path after all.
    assert!(matches!(prove(&of(false)), Verdict::Proved(_)));
    let plan = of(true);
    let verdict = prove(&plan);
    assert!(matches!(&verdict, Verdict::Circle(circle) if circle.is_of_resorts));
    let line = deadlock_line(&plan, &verdict, MOST_HEADS);
    assert!(line.starts_with("deadlock not excluded: packets can wait for each other in a circle"), "{line}");
    assert!(line.ends_with("; yet after every hop a path with VCs in increasing order is left"), "{line}");
}

#[test]
fn what_is_too_large_is_not_looked_for_and_said_so() {
    let torus = plan(
        &json!({ "torus": { "sides": [4, 4] } }),
        &json!({ "minimal": {} }),
        &json!({ "input_queued": {} }),
    );
    let Verdict::Proved(proof) = prove(&torus) else { panic!("a torus with bubbles") };
    assert_eq!(prove_within(&torus, proof.heads), Verdict::Proved(proof));
    assert_eq!(prove_within(&torus, proof.heads - 1), Verdict::Unproved);
    assert_eq!(
        deadlock_line(&torus, &Verdict::Unproved, 1000),
        "deadlock not looked for: more than 1,000 heads to look at; rule: the paths close no cycle in any VC; in rings bubble flow control"
    );
}

#[test]
fn of_a_fabric_the_same_words_say_what_is_refused_elsewhere() {
    let said = |topology: Value, lanes: Value| {
        let flow = |source: u32| json!({ "source": source, "destination": (source + 2) % 5 });
        let flows: Vec<Value> = (0..5).map(flow).collect();
        let router = json!({ "infiniband": { "forwarding": "min_hop", "lanes": lanes } });
        let document = json!({ "topology": topology, "router": router, "jobs": [{ "flows": flows }] });
        let experiment = serde_json::from_value(document).expect("a valid document");
        let plan = AnyPlan::new(&experiment, &no_files);
        deadlock(&plan.unwrap_or_else(|e| panic!("{e}"))).expect("a fabric has switches")
    };
    assert_eq!(
        said(json!({ "torus": { "sides": [5] } }), json!({ "allow_deadlock": true })),
        "can deadlock: packets of VL 0 can wait for each other in a circle, for room behind these links: \
         switch 0 → switch 1 → switch 2 → switch 3 → switch 4 → switch 0"
    );
    assert_eq!(
        said(json!({ "mesh": { "sides": [5] } }), json!({})),
        "free of deadlock: packets of no VL can wait for each other in a circle"
    );
}

#[test]
fn a_proof_can_be_given_up() {
    let dragonfly = json!({ "dragonfly": { "p": 2, "a": 4, "h": 2 } });
    let plan = plan(&dragonfly, &json!({ "valiant": {} }), &json!({ "cioq": {} }));
    assert_eq!(interrupt::unless(|| true, move || prove(&plan)), Err(interrupt::Interrupted));
}
