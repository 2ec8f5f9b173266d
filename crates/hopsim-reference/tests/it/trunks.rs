//! Where the global links of dragonflies with trunks lead to, as `docs/model.md` says under *Trunks*, and packets on them.

use crate::routing::agree;
use hopsim_network::topology::{Topology, TopologyConfig};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn topology(keys: &Value) -> Topology {
    let config: TopologyConfig = serde_json::from_value(json!({ "dragonfly": keys })).unwrap();
    config.build().unwrap()
}

/// The slot of every link of every group, and the group and link number at its other end.
type Plugs = BTreeMap<(u32, u32), (u32, u32)>;

/// Group and slot at both ends of all links, by the numbers of links in their groups.
fn plugs((a, h, groups, trunk): (u32, u32, u32, u32), palmtree: bool) -> Plugs {
    let links = trunk * (groups - 1);
    let slot = |link: u32| link * a * h / links;
    let mut plugs = Plugs::new();
    for group in 0..groups {
        let others: Vec<u32> = (0..groups).filter(|&other| other != group).collect();
        for (round, residue) in (0..trunk).flat_map(|round| (0..groups - 1).map(move |r| (round, r))) {
            let link = round * (groups - 1) + residue;
            let (peer, back) = if palmtree {
                ((group + groups - residue - 1) % groups, links - 1 - link)
            } else {
                let peer = others[residue as usize];
                (peer, round * (groups - 1) + if group < peer { group } else { group - 1 })
            };
            plugs.insert((group, slot(link)), (peer, slot(back)));
        }
    }
    plugs
}

#[test]
fn links_are_where_the_formula_says() {
    let mut networks = 0;
    for (a, h) in [(1, 4), (3, 1), (4, 2), (5, 3), (6, 6), (8, 1)] {
        for (g, trunk) in (2..=a * h + 1).flat_map(|g| (1..=a * h / (g - 1)).map(move |trunk| (g, trunk))) {
            for arrangement in ["palmtree", "consecutive"] {
                let keys = json!({ "p": 1, "a": a, "h": h, "groups": g, "trunk": trunk, "arrangement": arrangement });
                let built = topology(&keys);
                let expected = plugs((a, h, g, trunk), arrangement == "palmtree");
                for (x, slot) in (0..g).flat_map(|x| (0..a * h).map(move |slot| (x, slot))) {
                    let port = |slot: u32| (a + slot % h) as usize;
                    let found = built.neighbour(x * a + slot / h, port(slot));
                    let said = expected.get(&(x, slot)).map(|&(y, back)| (y * a + back / h, port(back)));
                    assert_eq!(found, said, "slot {slot} of group {x} of {keys}");
                }
                networks += 1;
            }
        }
    }
    assert!(networks > 300, "{networks}");
}

/// Half of the traffic goes to the next group, over trunks.
fn crowded(shape: &Value, routing: &Value) -> Value {
    let parts = [json!({ "adversarial": { "offset": 1 } }), json!({ "uniform": {} })];
    json!({
        "topology": { "dragonfly": shape }, "routing": routing, "load": 0.7, "router": { "cioq": {} },
        "links": { "injection": { "latency": 1 }, "local": { "latency": 2 }, "global": { "latency": 6 } },
        "jobs": [{ "traffic": {
            "pattern": { "mix": parts.map(|pattern| json!({ "weight": 0.5, "pattern": pattern })) },
            "packet_length": 4,
        } }],
    })
}

#[test]
fn packets_take_one_of_the_shortest_links_of_a_trunk() {
    let shapes = [
        json!({ "p": 2, "a": 4, "h": 2, "groups": 4, "trunk": 2 }),
        json!({ "p": 2, "a": 5, "h": 2, "groups": 3, "trunk": 4, "arrangement": "consecutive" }),
        json!({ "p": 2, "a": 4, "h": 3, "groups": 4, "trunk": 3, "arrangement": { "random": {} } }),
        json!({ "p": 2, "a": 4, "h": 2, "groups": 3, "trunk": 1 }),
    ];
    for shape in &shapes {
        let idle = shape["trunk"] == 1;
        let policy = if idle { "crg" } else { "mm" };
        for routing in [
            json!({ "minimal": {} }),
            json!({ "valiant": {} }),
            json!({ "ugal": { "intermediate": "router" } }),
            json!({ "ugal": { "knowledge": "global", "occupancy": "port" } }),
            json!({ "piggyback": { "saturation": { "factor": 1.0, "threshold": 0.5 } } }),
            json!({ "olm": { "policy": policy, "trigger": { "contention": { "threshold": 2 } } } }),
            json!({ "par": { "policy": if idle { "crg" } else { "mm" } } }),
        ] {
            agree([crowded(shape, &routing)]);
        }
    }
}
