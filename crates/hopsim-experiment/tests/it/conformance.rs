//! What every registered mechanism must keep: packets arrive within the bounds of the VC order, and the product proves that the
//! channel dependency graph has no cycle (Dally & Seitz 1987), which it makes of the same that packets do here.

use hopsim_experiment::config::Experiment;
use hopsim_experiment::plan::Plan;
use hopsim_experiment::proof::{Channel as Named, Ground, Verdict, dependencies, prove};
use hopsim_network::network::{Network, TERMINAL};
use hopsim_network::topology::{GLOBAL, Topology, TopologyConfig};
use hopsim_random::{Purpose, Stream};
use hopsim_routing::prospect::{Choice, Misroutes, Options, Prospect};
use hopsim_routing::sequence::REPLY_INJECTION;
use hopsim_routing::view::{Draws, View};
use hopsim_routing::{Head, Request, Route, RouteState, Way};
use petgraph::graphmap::DiGraphMap;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Valiant with every choice of its parameters.
fn valiants() -> Vec<Value> {
    let mut all = Vec::new();
    for intermediate in ["router", "node", "group"] {
        for policy in ["rrg", "crg", "nrg"] {
            for intra in ["global", "local", "minimal"] {
                for groups in ["other", "any"] {
                    all.push(json!({ "valiant": {
                        "intermediate": intermediate, "policy": policy,
                        "intra_group": intra, "intermediate_groups": groups
                    } }));
                }
            }
        }
    }
    all
}

/// The adaptive mechanisms with the choices that change their paths.
fn adaptive() -> Vec<Value> {
    let mut all = vec![json!({ "valiant": { "recompute": true } })];
    for policy in ["rrg", "crg", "nrg"] {
        for intra in ["global", "local", "minimal"] {
            for intermediate in ["group", "router"] {
                let keys = json!({ "policy": policy, "intra_group": intra, "intermediate": intermediate });
                all.push(json!({ "ugal": keys }));
                all.push(json!({ "piggyback": keys }));
            }
            for recompute in [false, true] {
                let keys = json!({ "policy": policy, "intra_group": intra, "recompute": recompute });
                all.push(json!({ "source_adaptive": keys }));
            }
        }
    }
    let contention = json!({ "contention": { "threshold": 2 } });
    for trigger in [json!({ "congestion": {} }), contention] {
        for candidates in ["all", "one"] {
            for local in [true, false] {
                for policy in ["mm", "rrg", "crg", "nrg"] {
                    let keys = json!({ "policy": policy, "local_misrouting": local, "candidates": candidates, "trigger": trigger });
                    all.push(json!({ "olm": keys }));
                    if policy == "mm" || policy == "crg" {
                        all.push(json!({ "par": keys }));
                    }
                }
            }
        }
    }
    all
}

/// Every routing.
fn routings() -> Vec<Value> {
    [vec![json!({ "minimal": {} })], valiants(), adaptive()].concat()
}

fn networks() -> Vec<Value> {
    let shape = |p: u32, a: u32, h: u32, groups: u32, arrangement: &str| json!({ "dragonfly": { "p": p, "a": a, "h": h, "groups": groups, "arrangement": arrangement } });
    vec![
        shape(1, 4, 2, 9, "palmtree"),
        shape(1, 4, 2, 9, "consecutive"),
        shape(1, 3, 2, 3, "palmtree"),
        shape(1, 4, 2, 4, "consecutive"),
        json!({ "dragonfly": { "p": 1, "a": 4, "h": 2, "groups": 4, "trunk": 2 } }),
    ]
}

/// Networks of one class of links, in which detours have a VC for every link: the Petersen graph, a ring with chords and
/// routers without nodes, families of graphs, and HyperX networks.
fn networks_of_one_class() -> Vec<Value> {
    let edges = |pairs: Vec<(u32, u32)>| -> Value {
        pairs.into_iter().map(|(one, other)| json!({ "between": [one, other] })).collect()
    };
    let petersen = (0..5).flat_map(|i| [(i, (i + 1) % 5), (i, i + 5), (i + 5, (i + 2) % 5 + 5)]).collect();
    let chords = (0..9).map(|i| (i, (i + 1) % 9)).chain([(0, 4), (4, 0), (2, 7)]).collect();
    let has_vcs_by_hop = |example: &TopologyConfig| {
        let topology = example.build().unwrap();
        let is_tree = matches!(&topology, Topology::Graph(graph) if graph.goes_up_and_down());
        !is_tree && topology.nodes() < 20 && topology.adapters() == 0
    };
    let families = TopologyConfig::examples().into_iter().filter(has_vcs_by_hop);
    let families = families.map(|example| serde_json::to_value(example).unwrap());
    let others = vec![
        json!({ "graph": { "edges": edges(petersen) } }),
        json!({ "graph": { "edges": edges(chords), "routers_with_nodes": 6 } }),
        json!({ "hyperx": { "sides": [6] } }),
        json!({ "hyperx": { "sides": [4, 3] } }),
        json!({ "hyperx": { "sides": [2, 3, 2] } }),
    ];
    families.chain(others).collect()
}

fn plan(topology: &Value, routing: &Value, vcs: &Value) -> Plan {
    let jobs = json!([{ "traffic": { "request_reply": {} } }]);
    let router = json!({ "cioq": { "vcs": vcs } });
    let document =
        json!({ "topology": topology, "routing": routing, "router": router, "load": 0.1, "jobs": jobs });
    let experiment: Experiment = serde_json::from_value(document).expect("a valid document");
    Plan::new(&experiment).unwrap_or_else(|e| panic!("{routing} on {topology}: {e}"))
}

/// A router in some state: a function of seed and output. Ports that no link is plugged in are never open.
pub struct AnyState<'p>(pub Stream, pub Head, pub &'p Network);

impl AnyState<'_> {
    fn number(&self, request: Request, kind: u64, below: u32) -> u32 {
        self.0.at(request.port as u64).at(u64::from(request.vc)).at(kind).below(below)
    }
}

impl View for AnyState<'_> {
    fn open(&self, request: Request) -> bool {
        let Self(_, head, network) = self;
        let is_node = network.layout.class[request.port] == TERMINAL;
        (is_node || network.link(head.router, request.port).peer.is_some()) && self.number(request, 0, 2) == 0
    }
    fn credits(&self, request: Request) -> u32 {
        self.number(request, 1, 17)
    }
    fn occupancy(&self, request: Request) -> u32 {
        self.number(request, 2, 33)
    }
    fn minimal_occupancy(&self, request: Request) -> u32 {
        self.number(request, 3, 33)
    }
    fn capacity(&self, _class: u8) -> u32 {
        32
    }
    fn contention(&self, port: usize) -> u32 {
        self.number(Request { port, vc: 0 }, 4, 5)
    }
    fn filtered_contention(&self, port: usize) -> f64 {
        f64::from(self.contention(port))
    }
    fn combined_contention(&self, group: u32) -> u32 {
        self.number(Request { port: group as usize, vc: 0 }, 5, 20)
    }
    fn saturated(&self, position: Option<u32>, request: Request) -> bool {
        self.number(request, 6 + position.map_or(0, |p| 1 + u64::from(p)), 2) == 0
    }
    fn outstanding(&self, router: u32, port: usize) -> u32 {
        self.number(Request { port, vc: 0 }, 8 + u64::from(router), 65)
    }
    fn length(&self) -> u32 {
        8
    }
    fn head(&self) -> Head {
        self.1
    }
}

/// Random numbers of a head.
pub struct Numbers {
    pub head: Stream,
    pub attempt: Stream,
}

impl Draws for Numbers {
    fn head(&self) -> Stream {
        self.head.clone()
    }
    fn attempt(&mut self) -> &mut Stream {
        &mut self.attempt
    }
}

/// A channel is (router, output port, VC).
type Channel = (u32, usize, u8);
type Graph = DiGraphMap<Channel, ()>;

/// The output VCs that a head can always wait for: the last resort that keeps the network free of deadlock.
fn last_resorts(plan: &Plan, head: &Head, mut state: RouteState, draw: &Stream) -> Vec<Request> {
    let vcs = plan.system.routing.vcs();
    let ports = |class: u8| {
        let layout = &plan.system.network.layout;
        let linked = |&port: &usize| plan.system.network.link(head.router, port).peer.is_some();
        (0..layout.ports()).filter(move |&port| layout.class[port] == class + 1).filter(linked)
    };
    match plan.system.routing.route(head, &mut state, || draw.clone()) {
        Route::Arrived => Vec::new(),
        Route::Fixed(hop) => vec![vcs.way(head, hop).highest()],
        // A global link is due: any of the router's.
        Route::Undecided(Prospect {
            choice: Choice::Misroute(Misroutes { options: Options::Mandatory, vcs, .. }),
            ..
        }) => ports(GLOBAL).map(|port| Request { port, vc: vcs[GLOBAL as usize] }).collect(),
        Route::Undecided(prospect) if prospect.minimal == Way::NONE => Vec::new(),
        Route::Undecided(prospect) => vec![prospect.minimal.highest()],
    }
}

/// Follows one packet, a reply or not, through routers in any state, and adds the dependencies of the channels it
/// holds on those it can always wait for. Returns its links and whether it was misrouted.
fn follow(plan: &Plan, (from, to, serial): (u32, u32, u64), reply: bool, graph: &mut Graph) -> (u32, bool) {
    let injection = if reply { REPLY_INJECTION } else { 0 };
    let (mut at, mut input, mut code, mut state) = (from, 0, injection, RouteState::NEW);
    let (mut occupied, mut hops): (Option<Channel>, u32) = (None, 0);
    for attempt in 0..200u64 {
        let head = Head {
            router: at,
            input,
            code,
            source: from,
            destination: to,
            terminal: 0,
            ejection_vc: 0,
            reply,
        };
        let draw = Stream::new(serial, Purpose::Routing, u64::from(from)).at(u64::from(at));
        for resort in last_resorts(plan, &head, state, &draw) {
            let channel = (at, resort.port, resort.vc);
            graph.add_node(channel);
            if let Some(before) = occupied {
                graph.add_edge(before, channel, ());
            }
        }
        let mut taken = state;
        let settled = plan.system.routing.settle(&head, &mut taken, || draw.clone());
        let request = settled.or_else(|| {
            let any = draw.at(attempt);
            let mut numbers = Numbers { head: draw.clone(), attempt: any.at(1) };
            let decision = plan.system.routing.decide(
                &mut taken,
                &AnyState(any.at(2), head, &plan.system.network),
                &mut numbers,
            );
            taken = decision.after;
            decision.request
        });
        let Some(request) = request else { continue };
        state = taken;
        let Some((next, port)) = plan.system.network.link(at, request.port).peer else {
            assert_eq!(at, to, "ejected at the wrong router");
            return (hops, state.misrouted());
        };
        hops += 1;
        let channel = (at, request.port, request.vc);
        graph.add_node(channel);
        occupied = Some(channel);
        code = plan
            .system
            .routing
            .vcs()
            .sequence
            .code(plan.system.network.layout.class[request.port] - 1, request.vc);
        (at, input) = (next, port as u16);
    }
    panic!("a packet from {from} to {to} does not arrive");
}

/// Follows packets between all routers; returns the dependencies and the share of misrouted packets.
fn explore(plan: &Plan, reply: bool, most: u32) -> (Graph, f64) {
    let (mut graph, mut packets, mut misrouted) = (Graph::new(), 0u32, 0u32);
    for from in 0..plan.system.topology.routers_with_nodes() {
        for to in 0..plan.system.topology.routers_with_nodes() {
            for serial in 0..12 {
                let (hops, off) = follow(plan, (from, to, serial), reply, &mut graph);
                assert!(hops <= most, "{hops} hops, at most {most} promised");
                packets += 1;
                misrouted += u32::from(off);
            }
        }
    }
    (graph, f64::from(misrouted) / f64::from(packets))
}

/// The product proves that a plan has no deadlock, and has foreseen what packets wait for in the last resort.
fn is_proved(plan: &Plan, graphs: &[Graph; 2]) {
    let Verdict::Proved(proof) = prove(plan) else {
        panic!("cyclic dependencies: {:?}", plan.experiment.routing)
    };
    let foreseen: BTreeSet<_> =
        dependencies(plan, proof.ground == Ground::Escape).expect("few heads").into_iter().collect();
    let named = |(router, port, vc): Channel| Named { router, port, vc };
    for (held, wanted, ()) in graphs.iter().flat_map(Graph::all_edges) {
        let routing = &plan.experiment.routing;
        assert!(
            foreseen.contains(&(named(held), named(wanted))),
            "{held:?} waits for {wanted:?}: {routing:?}"
        );
    }
}

/// Packets arrive within the bound of hops, and what they wait for in the last resort has no cycle.
fn conforms(topology: &Value, routing: &Value, vcs: &Value) -> [Graph; 2] {
    let plan = plan(topology, routing, vcs);
    let most = plan.experiment.routing.paths(&plan.system.topology).expect("checked").hops;
    let minimal = routing.get("minimal").is_some();
    let graphs = [false, true].map(|reply| {
        let (graph, misrouted) = explore(&plan, reply, most);
        assert!(graph.edge_count() > 0);
        assert!(minimal == (misrouted == 0.0), "{misrouted} misrouted with {routing} on {topology}");
        graph
    });
    is_proved(&plan, &graphs);
    graphs
}

#[test]
fn packets_arrive_in_bounds_and_the_channel_dependency_graph_is_acyclic() {
    for topology in networks() {
        for routing in routings() {
            let graphs = conforms(&topology, &routing, &json!({}));
            let shared = graphs[0].nodes().find(|&channel| graphs[1].contains_node(channel));
            assert_eq!(shared, None, "a reply could wait for a request with {routing} on {topology}");
        }
    }
}

#[test]
fn on_detours_with_a_vc_for_every_link_the_channel_dependency_graph_is_acyclic() {
    for topology in networks_of_one_class() {
        for routing in
            [json!({ "valiant": {} }), json!({ "valiant": { "recompute": true } }), json!({ "ugal": {} })]
        {
            let [requests, replies] = conforms(&topology, &routing, &json!({}));
            let most = requests.nodes().map(|(.., vc)| vc).max();
            let least = replies.nodes().map(|(.., vc)| vc).min();
            assert!(most < least, "a reply could wait for a request with {routing} on {topology}");
        }
    }
}

#[test]
fn with_flexvc_packets_always_have_an_increasing_way_on() {
    let sets: [(&[&str], Value); 3] = [
        (&["minimal"], json!({ "local": 6, "global": 3, "reply": { "local": 2, "global": 1 } })),
        (&["olm", "par"], json!({ "local": 5, "global": 3, "reply": { "local": 2, "global": 1 } })),
        (
            &["minimal", "valiant", "ugal", "piggyback", "source_adaptive", "olm", "par"],
            json!({ "local": 9, "global": 5, "reply": { "local": 4, "global": 2 } }),
        ),
    ];
    for topology in networks() {
        for (names, vcs) in &sets {
            for selection in ["shortest", "highest", "lowest", "random"] {
                let mut vcs = vcs.clone();
                vcs["management"] = json!({ "flexvc": { "selection": selection } });
                for name in *names {
                    conforms(&topology, &json!({ *name: {} }), &vcs);
                }
            }
        }
    }
}

#[test]
fn only_mechanisms_that_draw_in_every_attempt_say_so() {
    let dragonfly = json!({ "dragonfly": { "p": 1, "a": 4, "h": 2 } });
    let torus = json!({ "torus": { "sides": [4, 4] } });
    for (topology, routing, draws) in [
        (&dragonfly, json!({ "minimal": {} }), false),
        (&dragonfly, json!({ "valiant": {} }), false),
        (&dragonfly, json!({ "valiant": { "recompute": true } }), true),
        (&dragonfly, json!({ "ugal": {} }), false),
        (&dragonfly, json!({ "source_adaptive": { "recompute": false } }), false),
        (&dragonfly, json!({ "source_adaptive": { "recompute": true } }), true),
        (&dragonfly, json!({ "olm": { "policy": "rrg" } }), true),
        (&dragonfly, json!({ "olm": { "policy": "mm", "candidates": "all" } }), false),
        (&torus, json!({ "minimal": {} }), false),
        (&torus, json!({ "adaptive": {} }), false),
    ] {
        let router = if topology == &torus { json!({ "input_queued": {} }) } else { json!({ "cioq": {} }) };
        let document = json!({ "topology": topology, "router": router, "routing": routing, "load": 0.1 });
        let plan = Plan::new(&serde_json::from_value(document).expect("a valid document"));
        let plan = plan.unwrap_or_else(|e| panic!("{routing}: {e}"));
        assert_eq!(plan.system.routing.draws(), draws, "{routing}");
    }
}
