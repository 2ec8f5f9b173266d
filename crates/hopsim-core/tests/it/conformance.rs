//! What every registered mechanism must keep: packets arrive within the bounds of the VC order, and the
//! channel dependency graph has no cycle (Dally & Seitz 1987).

use hopsim_core::config::Experiment;
use hopsim_core::plan::Plan;
use hopsim_core::rng::{Purpose, Stream};
use hopsim_core::routing::sequence::{REPLY_INJECTION, vcs_needed};
use hopsim_core::routing::{Head, RouteState};
use petgraph::algo::is_cyclic_directed;
use petgraph::graphmap::DiGraphMap;
use serde_json::{Value, json};

/// Every routing with every choice of its parameters.
fn routings() -> Vec<Value> {
    let mut all = vec![json!({ "minimal": {} })];
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

fn networks() -> Vec<Value> {
    let shape = |p: u32, a: u32, h: u32, groups: u32, arrangement: &str| json!({ "dragonfly": { "p": p, "a": a, "h": h, "groups": groups, "arrangement": arrangement } });
    vec![
        shape(1, 4, 2, 9, "palmtree"),
        shape(1, 4, 2, 9, "consecutive"),
        shape(1, 3, 2, 3, "palmtree"),
        shape(1, 4, 2, 4, "consecutive"),
    ]
}

fn plan(topology: &Value, routing: &Value) -> Plan {
    let jobs = json!([{ "traffic": { "request_reply": {} } }]);
    let document = json!({ "topology": topology, "routing": routing, "load": 0.1, "jobs": jobs });
    let experiment: Experiment = serde_json::from_value(document).expect("a valid document");
    Plan::new(&experiment).expect("a valid plan")
}

/// A channel is (router, output port, VC).
type Channel = (u32, usize, u8);

/// Follows one packet, a reply or not, and adds the dependencies between the channels it holds one after the other.
fn follow(
    plan: &Plan,
    (from, to, serial): (u32, u32, u64),
    reply: bool,
    graph: &mut DiGraphMap<Channel, ()>,
) {
    let sequence = plan.experiment.routing.sequence(&plan.topology).expect("checked");
    let most: u8 = vcs_needed(sequence).iter().sum();
    let injection = if reply { REPLY_INJECTION } else { 0 };
    let (mut at, mut code, mut state) = (from, injection, RouteState::NEW);
    let mut occupied = None;
    for hop in 0.. {
        let head = Head { router: at, code, destination: to, terminal: 0, ejection_vc: 0, reply };
        let draw = || Stream::new(serial, Purpose::Routing, u64::from(from)).at(u64::from(at));
        let request = plan.routing.request(&head, &mut state, draw);
        let Some((next, _)) = plan.network.link(at, request.port).peer else {
            assert_eq!(at, to, "ejected at the wrong router");
            return;
        };
        assert!(hop < most, "more hops than the VC order has links");
        let channel = (at, request.port, request.vc);
        graph.add_node(channel);
        if let Some(before) = occupied.replace(channel) {
            graph.add_edge(before, channel, ());
        }
        code = plan.routing.sequence().code(plan.network.layout.class[request.port] - 1, request.vc);
        at = next;
    }
}

#[test]
fn packets_arrive_in_bounds_and_the_channel_dependency_graph_is_acyclic() {
    for topology in networks() {
        for routing in routings() {
            let plan = plan(&topology, &routing);
            let graphs = [false, true].map(|reply| {
                let mut graph = DiGraphMap::new();
                for from in 0..plan.network.routers {
                    for to in 0..plan.network.routers {
                        for serial in 0..25 {
                            follow(&plan, (from, to, serial), reply, &mut graph);
                        }
                    }
                }
                assert!(graph.edge_count() > 0);
                assert!(!is_cyclic_directed(&graph), "cyclic dependencies with {routing} on {topology}");
                graph
            });
            let shared = graphs[0].nodes().find(|&channel| graphs[1].contains_node(channel));
            assert_eq!(shared, None, "a reply could wait for a request with {routing} on {topology}");
        }
    }
}
