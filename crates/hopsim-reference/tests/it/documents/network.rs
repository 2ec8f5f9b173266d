//! Random topologies, their links, and what keeps their nodes from injecting.

use super::graph::graph_or_family;
use super::{mostly, one_of};
use hopsim_network::topology::TopologyConfig;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Any topology.
pub fn topology(common: u32) -> impl Strategy<Value = Value> {
    prop_oneof![
        10 => dragonfly(common),
        3 => grid(common).prop_map(|grid| json!({ "mesh": grid })),
        8 => torus(common),
        3 => grid(common).prop_map(|grid| json!({ "hyperx": grid })),
        3 => fat_tree(common),
        4 => graph_or_family(),
    ]
}

pub fn dragonfly(common: u32) -> impl Strategy<Value = Value> {
    let shape = (mostly(common, 1..=3, &[9]), 1..=4u32, 1..=3u32).prop_flat_map(|(p, a, h)| {
        let most = if p > 3 { 2 } else { (a * h + 1).min(6) };
        (Just((p, a, h)), 2..=most, any::<bool>())
    });
    let arrangements = vec![json!("palmtree"), json!("consecutive"), json!({ "random": { "instance": 5 } })];
    (shape, select(arrangements)).prop_map(|(((p, a, h), groups, full), arrangement)| {
        let full = full && p <= 3 && a * h <= 6;
        let groups = if full { a * h + 1 } else { groups };
        let mut shape = json!({ "p": p, "a": a, "h": h, "groups": groups, "arrangement": arrangement });
        // A third of the shapes say how long their trunks are.
        if (p + a + h + groups) % 3 == 0 {
            shape["trunk"] = json!(1 + (p + h) % (a * h / (groups - 1)));
        }
        json!({ "dragonfly": shape })
    })
}

/// Whether some router has no global link.
pub fn has_idle_routers(topology: &Value) -> bool {
    let config: TopologyConfig = serde_json::from_value(topology.clone()).unwrap();
    config.build().unwrap().dragonfly().is_some_and(|t| t.router_without_global_link().is_some())
}

/// Routers on a grid.
pub fn grid(common: u32) -> impl Strategy<Value = Value> {
    let sides = select(vec![
        vec![2],
        vec![5],
        vec![2, 2],
        vec![4, 2],
        vec![2, 3],
        vec![4, 4],
        vec![3, 5],
        vec![2, 2, 2],
        vec![2, 3, 4],
    ]);
    (sides, mostly(common, 1..=2, &[9]))
        .prop_map(|(sides, nodes)| json!({ "sides": sides, "nodes_per_router": nodes }))
}

pub fn torus(common: u32) -> impl Strategy<Value = Value> {
    let ring = mostly(common, 2..=9, &[16]).prop_map(|routers| json!({ "ring": { "routers": routers } }));
    let torus = prop_oneof![1 => ring, 3 => grid(common).prop_map(|grid| json!({ "torus": grid }))];
    (torus, one_of(&["random", "plus"])).prop_map(|(mut torus, tie)| {
        torus.as_object_mut().unwrap().values_mut().for_each(|keys| keys["tie"] = tie.clone());
        torus
    })
}

pub fn fat_tree(common: u32) -> impl Strategy<Value = Value> {
    let shape = prop_oneof![
        common => select(vec![(2, 1), (2, 2), (2, 3), (3, 2), (4, 2), (2, 4)]),
        1 => select(vec![(3, 3), (9, 2)]),
    ];
    shape.prop_map(|(k, levels)| json!({ "fat_tree": { "k": k, "levels": levels } }))
}

/// Names of the link classes.
pub fn classes(topology: &Value) -> &'static [&'static str] {
    let config: TopologyConfig = serde_json::from_value(topology.clone()).unwrap();
    config.build().unwrap().link_classes()
}

/// Whether links form rings.
pub fn has_rings(topology: &Value) -> bool {
    topology.get("torus").or(topology.get("ring")).is_some()
}

/// Whether links form rings and packets go round them, which up*/down* and Nue routing avoid.
pub fn goes_round_rings(topology: &Value, routing: &Value) -> bool {
    has_rings(topology) && routing.get("up_down").or(routing.get("nue")).is_none()
}

/// Datelines.
pub fn dateline() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(json!({ "dateline": {} })),
        2 => one_of(&["crossing", "dimension"]).prop_map(|class| json!({ "dateline": { "class": class } })),
    ]
}

/// Number of nodes.
pub fn nodes(topology: &Value) -> u64 {
    let config: TopologyConfig = serde_json::from_value(topology.clone()).unwrap();
    config.build().unwrap().nodes().into()
}

/// Latencies of the classes of links of any topology.
#[derive(Clone, Debug)]
pub struct Links([Value; 3], Value);

pub fn links(common: u32) -> impl Strategy<Value = Links> {
    let link = || mostly(common, 1..=20, &[63, 64, 400]).prop_map(|latency| json!({ "latency": latency }));
    let ejection = prop_oneof![2 => Just(1), 1 => 2..=40u32];
    let ejection = ejection.prop_map(|latency| json!({ "latency": latency }));
    ([link(), link(), link()], ejection).prop_map(|(links, ejection)| Links(links, ejection))
}

impl Links {
    pub fn build(&self, topology: &Value) -> Value {
        let [injection, links @ ..] = &self.0;
        let mut all = json!({ "injection": injection, "ejection": self.1 });
        for (class, link) in classes(topology).iter().zip(links) {
            all[*class] = link.clone();
        }
        all
    }
}

/// Links to nodes take a cycle where nodes go on when a packet has left its router.
pub fn fit_ejection(document: &mut Value) {
    let goes_on = |job: &Value| {
        let traffic = &job["traffic"];
        job.get("program").is_some()
            || traffic.get("request_reply").is_some()
            || traffic["process"].get("synchronised_bursts").is_some()
    };
    if document["jobs"].as_array().unwrap().iter().any(goes_on) {
        document["links"].as_object_mut().unwrap().remove("ejection");
    }
}

/// What keeps nodes from injecting; `null` for nothing. The restriction of adaptive VCs becomes another one where there
/// are none.
pub fn control() -> impl Strategy<Value = [Value; 2]> {
    let sat = (1..=6u32, 0..=6u32).prop_map(|(l, more)| json!({ "sat": { "l": l, "k": l + more } }));
    let ipr = select(vec![0.0, 0.3, 0.8, 1.0]).prop_map(|share| json!({ "ipr": { "share": share } }));
    let lbr = (1..=3u32).prop_map(|packets| json!({ "lbr": { "packets": packets } }));
    let any = prop_oneof![4 => Just(Value::Null), 1 => sat, 1 => ipr];
    (any, prop::option::weighted(0.4, lbr)).prop_map(|(any, lbr)| [lbr.unwrap_or_else(|| any.clone()), any])
}

/// The control that the network can have.
pub fn fit_control([first, second]: [Value; 2], topology: &Value, routing: &Value) -> Value {
    let grid = ["mesh", "torus", "ring", "hyperx"].iter().any(|&name| topology.get(name).is_some());
    let restrictable = grid && routing.get("adaptive").is_some();
    if first.get("lbr").is_some() && !restrictable { second } else { first }
}
