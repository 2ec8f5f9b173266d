//! Random routing mechanisms, with thresholds low enough to be reached in small networks.

use super::graph::{self, up_down};
use super::network::has_idle_routers;
use super::one_of;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Any mechanism.
pub fn routing() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => Just(json!({ "minimal": {} })),
        3 => valiant(),
        2 => ugal(),
        3 => piggyback(),
        3 => source_adaptive(),
        9 => olm(),
        7 => par(),
    ]
}

/// A mechanism of topologies with one class of links.
pub fn routing_of_one_class() -> impl Strategy<Value = Value> {
    let up = prop::option::weighted(0.8, one_of(&["source", "destination", "random"]));
    let minimal = up.prop_map(|up| match up {
        Some(up) => json!({ "minimal": { "up": up } }),
        None => json!({ "minimal": {} }),
    });
    let ugal = (0..3u32, any::<bool>())
        .prop_map(|(threshold, sticky)| json!({ "ugal": { "threshold": threshold, "sticky": sticky } }));
    let valiant = any::<bool>().prop_map(|recompute| json!({ "valiant": { "recompute": recompute } }));
    let par = (0..3u32, one_of(&["vc", "port"]))
        .prop_map(|(threshold, of)| json!({ "par": { "threshold": threshold, "occupancy": of } }));
    let adaptive = Just(json!({ "adaptive": {} }));
    prop_oneof![3 => minimal, 2 => adaptive, 1 => valiant, 1 => ugal, 1 => up_down(), 1 => par]
}

/// Makes a topology and a mechanism fit: the first one if it is a dragonfly, the second one otherwise.
pub fn fit(mut topology: Value, (mut routing, mut other): (Value, Value)) -> (Value, Value) {
    if topology.get("dragonfly").is_none() {
        if let Some(minimal) = other.get_mut("minimal").filter(|_| topology.get("fat_tree").is_none()) {
            *minimal = json!({});
        }
        let detours = other.get("valiant").is_some() || other.get("ugal").is_some();
        if detours && topology.get("fat_tree").is_some() {
            other = json!({ "adaptive": {} });
        }
        let turns_where_it_cannot =
            other.get("par").is_some() && !graph::is_graph(&topology) && topology.get("hyperx").is_none();
        if turns_where_it_cannot {
            other = json!({ "adaptive": {} });
        }
        if graph::is_graph(&topology) && graph::vcs(&topology, &other).is_none() {
            other = json!({ "up_down": {} });
        }
        if graph::vcs(&topology, &other).is_none() && topology.get("planes").is_some() {
            other = json!({ "adaptive": {} });
        }
        return (topology, other);
    }
    let shape = &mut topology["dragonfly"];
    let in_transit = routing.get("olm").or(routing.get("par"));
    if in_transit.is_some() && shape["a"] == 1 {
        shape["a"] = json!(2);
    }
    let number = |key: &str| shape[key].as_u64().unwrap();
    let full = number("groups") == number("a") * number("h") + 1;
    if has_idle_routers(&topology) {
        // In transit packets may only be misrouted over links of their own router, at the source over those of any router.
        let (_, options) = routing.as_object_mut().unwrap().iter_mut().next().unwrap();
        let in_transit = options.get("trigger").is_some();
        if let Some(policy) = options.get_mut("policy") {
            *policy = json!(if in_transit { "crg" } else { "rrg" });
        }
    }
    for mechanism in ["ugal", "piggyback", "source_adaptive"] {
        if let Some(options) = routing.get_mut(mechanism).filter(|_| !full) {
            options["path_lengths"] = json!("shortest");
        }
    }
    (topology, routing)
}

/// Some minimal routings become O1TURN where that is possible, some detours stay in a region, and some UGAL looks at whole ports.
pub fn turn_once(topology: &Value, mut routing: Value, draw: u16) -> Value {
    let sides = topology["mesh"]["sides"].as_array().or(topology["hyperx"]["sides"].as_array());
    let several = sides.is_some_and(|sides| sides.len() > 1);
    if let Some(ugal) = routing.get_mut("ugal").filter(|_| draw.is_multiple_of(3)) {
        ugal["occupancy"] = json!("port");
        if (draw / 16).is_multiple_of(2) {
            ugal["knowledge"] = json!("global");
            ugal["path_lengths"] = json!("shortest");
        }
    }
    if let Some(ugal) = routing.get_mut("ugal").filter(|_| draw % 4 == 1) {
        ugal["once"] = json!(true);
    }
    if let Some(ugal) = routing.get_mut("ugal").filter(|_| draw / 4 % 3 == 1) {
        ugal["detours"] = json!(2 + draw / 16 % 3);
    }
    for mechanism in ["valiant", "ugal"] {
        let region = if draw % 2 == 1 && topology.get("mesh").is_some() { "quadrant" } else { "unaligned" };
        let is_grid = ["mesh", "torus", "ring", "hyperx"].iter().any(|kind| topology.get(kind).is_some());
        if let Some(options) = routing.get_mut(mechanism).filter(|_| is_grid && !(draw / 2).is_multiple_of(3))
        {
            options["within"] = json!(region);
        }
        let compact = graph::is_graph(topology)
            && graph::all_have_nodes(topology)
            && (draw % 8 < 6 || mechanism == "ugal");
        if let Some(options) = routing.get_mut(mechanism).filter(|_| compact) {
            options["within"] = json!("neighbours");
        }
    }
    match draw % 5 {
        0 if several && routing.get("minimal").is_some() => json!({ "o1turn": {} }),
        1 if several && routing.get("minimal").is_some() => json!({ "o1turn": { "order": "less_occupied" } }),
        _ => routing,
    }
}

/// Some minimal and adaptive routings become others that spread packets over several paths, where that is possible, and some
/// up*/down* ones, and minimal ones in rings, Nue. In a dragonfly+ some, whatever they are, become FPAR.
pub fn spread(topology: &Value, routing: Value, draw: u16) -> Value {
    let has_rings = topology.get("torus").or(topology.get("ring")).is_some();
    if routing.get("up_down").is_some() && draw % 3 == 1
        || routing.get("minimal").is_some() && has_rings && draw % 5 == 3
    {
        return json!({ "nue": { "vcs": 1 + draw / 16 % 3 } });
    }
    let fpar = json!({ "fpar": { "detour_weight": 1 + draw / 8 % 3, "threshold": draw / 16 % 3 } });
    if topology.get("dragonfly_plus").is_some() && draw % 8 < 5 && graph::vcs(topology, &fpar).is_some() {
        return fpar;
    }
    let by = ["packet", "flow"][usize::from(draw / 8 % 2)];
    let is_graph = graph::is_graph(topology) && topology.get("planes").is_none();
    let spreads = graph::is_graph(topology) || topology.get("hyperx").or(topology.get("fat_tree")).is_some();
    if spreads && draw % 4 == 2 && routing.get("adaptive").is_some() {
        let ecmp = json!({ "by": by });
        return json!({ "ecmp": if by == "flow" { json!({ "by": by, "seed": draw % 3 }) } else { ecmp } });
    }
    let polarized = json!({ "polarized": { "penalties": [draw / 8 % 3, draw / 16 % 4] } });
    let goes_away =
        is_graph && graph::vcs(topology, &polarized).is_some() || topology.get("hyperx").is_some();
    let instead =
        routing.get("adaptive").is_some() || is_graph && routing.get("minimal").is_some() && draw % 8 == 3;
    if goes_away && draw % 4 == 3 && instead {
        return polarized;
    }
    let in_layers = routing.get("minimal").is_some() && [0, 5, 7].contains(&(draw % 8));
    if is_graph && in_layers {
        let fraction = f64::from(2 + draw / 16 % 8) / 10.0;
        return json!({ "fat_paths": { "layers": 2 + draw / 16 % 4, "fraction": fraction, "by": by, "seed": draw % 5 } });
    }
    if is_graph && draw % 4 == 1 && routing.get("minimal").is_some() {
        return json!({ "k_shortest_paths": { "k": 1 + draw / 16 % 4, "by": by, "seed": draw % 5 } });
    }
    routing
}

/// Whether the detours of a routing have a VC for every link, so that there can be as many again for replies.
pub fn can_answer_on_one_class(topology: &Value, routing: &Value) -> bool {
    let detours = ["valiant", "ugal", "par"].iter().any(|mechanism| routing.get(mechanism).is_some());
    let is_graph = graph::has_vcs_by_hop(topology);
    let by_hop = (is_graph || topology.get("hyperx").is_some()) && (detours || routing.get("ecmp").is_some());
    let by_hop = by_hop
        || ["k_shortest_paths", "fat_paths", "polarized"].iter().any(|name| routing.get(name).is_some());
    (by_hop || is_graph && routing.get("adaptive").is_some()) && 2 * vcs_of_one_class(topology, routing) <= 16
}

/// VCs that links of one class need, those of replies aside.
pub fn vcs_of_one_class(topology: &Value, routing: &Value) -> u32 {
    if graph::is_graph(topology) {
        return graph::vcs(topology, routing).unwrap();
    }
    if let Some(layers) = routing["nue"]["vcs"].as_u64() {
        return layers as u32;
    }
    if let Some(sides) = topology["hyperx"]["sides"].as_array().filter(|_| routing.get("par").is_some()) {
        let dimensions = sides.len() as u32;
        return if dimensions > 1 { 1 + 2 * dimensions } else { 2 };
    }
    let spreads = routing.get("ecmp").is_some();
    if let Some(sides) = topology["hyperx"]["sides"].as_array().filter(|_| spreads) {
        return sides.len() as u32;
    }
    let goes_away = routing.get("polarized").is_some();
    if let Some(sides) = topology["hyperx"]["sides"].as_array().filter(|_| goes_away) {
        let dimensions = sides.len() as u32;
        return if dimensions > 1 { 4 * dimensions - 3 } else { 2 };
    }
    let detours = routing.get("valiant").or(routing.get("ugal")).is_some();
    if let Some(sides) = topology["hyperx"]["sides"].as_array().filter(|_| detours) {
        return 2 * sides.len() as u32;
    }
    let simple = routing.get("minimal").or(routing.get("up_down"));
    if simple.is_none() && topology.get("fat_tree").is_none() { 2 } else { 1 }
}

/// Local and global VCs that requests and one-way packets need, in increasing order or with FlexVC.
pub fn vcs_needed(routing: &Value, flexible: bool) -> [u32; 2] {
    let (name, options) = routing.as_object().unwrap().iter().next().unwrap();
    match name.as_str() {
        "minimal" => [2, 1],
        "par" if !flexible => [5, 2],
        "olm" | "par" => [3, 2],
        _ if options["intermediate"] == "group" => [3, 2],
        _ => [4, 2],
    }
}

/// Local and global VCs that FlexVC needs for replies alone: minimal paths must fit, or a detour without return.
pub fn reply_vcs_needed(routing: &Value) -> [u32; 2] {
    if routing.get("valiant").is_some() { vcs_needed(routing, true) } else { [2, 1] }
}

fn policy() -> impl Strategy<Value = Value> {
    one_of(&["rrg", "crg", "nrg"])
}

fn intra_group() -> impl Strategy<Value = Value> {
    one_of(&["global", "local", "minimal"])
}

fn path_lengths() -> impl Strategy<Value = Value> {
    one_of(&["shortest", "consecutive"])
}

pub fn valiant() -> impl Strategy<Value = Value> {
    (one_of(&["router", "node", "group"]), policy(), any::<bool>(), one_of(&["other", "any"]), intra_group())
        .prop_map(|(intermediate, policy, recompute, groups, intra)| {
            json!({ "valiant": {
                "intermediate": intermediate, "policy": policy, "recompute": recompute,
                "intermediate_groups": groups, "intra_group": intra,
            } })
        })
}

pub fn ugal() -> impl Strategy<Value = Value> {
    (one_of(&["group", "router"]), policy(), intra_group(), 0..3u32, path_lengths(), any::<bool>()).prop_map(
        |(intermediate, policy, intra, threshold, lengths, sticky)| {
            json!({ "ugal": {
                "intermediate": intermediate, "policy": policy, "intra_group": intra,
                "threshold": threshold, "path_lengths": lengths, "sticky": sticky,
            } })
        },
    )
}

fn saturation() -> impl Strategy<Value = Value> {
    let (factor, threshold) = (select(vec![0.0, 0.7, 1.0, 1.5, 2.0]), select(vec![0.0, 0.4, 1.0, 3.0]));
    (sensing(), packets(), factor, threshold).prop_map(|(sensing, packets, factor, threshold)| {
        json!({ "sensing": sensing, "packets": packets, "factor": factor, "threshold": threshold })
    })
}

fn sensing() -> impl Strategy<Value = Value> {
    one_of(&["vc", "port"])
}

fn packets() -> impl Strategy<Value = Value> {
    one_of(&["all", "minimal"])
}

fn piggyback() -> impl Strategy<Value = Value> {
    (one_of(&["group", "router"]), policy(), intra_group(), 0..4u32, path_lengths(), saturation()).prop_map(
        |(intermediate, policy, intra, threshold, lengths, saturation)| {
            json!({ "piggyback": {
                "intermediate": intermediate, "policy": policy, "intra_group": intra,
                "threshold": threshold, "path_lengths": lengths, "saturation": saturation,
            } })
        },
    )
}

fn source_adaptive() -> impl Strategy<Value = Value> {
    let detour = (policy(), one_of(&["other", "any"]), intra_group(), any::<bool>());
    (detour, 0..4u32, path_lengths(), 1..=6u32, saturation()).prop_map(
        |((policy, groups, intra, recompute), threshold, lengths, longest, saturation)| {
            json!({ "source_adaptive": {
                "policy": policy, "intermediate_groups": groups, "intra_group": intra,
                "recompute": recompute, "threshold": threshold, "path_lengths": lengths,
                "longest_detour": longest, "saturation": saturation,
            } })
        },
    )
}

fn olm() -> impl Strategy<Value = Value> {
    (one_of(&["mm", "rrg", "crg", "nrg"]), prop::bool::weighted(0.7), one_of(&["all", "one"]), trigger())
        .prop_map(|(policy, local, candidates, trigger)| {
            json!({ "olm": {
                "policy": policy, "local_misrouting": local, "candidates": candidates, "trigger": trigger,
            } })
        })
}

fn par() -> impl Strategy<Value = Value> {
    (one_of(&["mm", "crg"]), prop::bool::weighted(0.7), one_of(&["all", "one"]), trigger()).prop_map(
        |(policy, local, candidates, trigger)| {
            json!({ "par": {
                "policy": policy, "local_misrouting": local, "candidates": candidates, "trigger": trigger,
            } })
        },
    )
}

fn trigger() -> impl Strategy<Value = Value> {
    let contention = (0..5u32, prop::option::of(0..5u32)).prop_map(|(threshold, local)| {
        let mut trigger = json!({ "threshold": threshold });
        if let Some(local) = local {
            trigger["local_threshold"] = json!(local);
        }
        json!({ "contention": trigger })
    });
    let filtered = (0..4u32, select(vec![0.0, 0.5, 0.7, 0.95]))
        .prop_map(|(threshold, alpha)| json!({ "filtered": { "threshold": threshold, "alpha": alpha } }));
    let hybrid = (1..6u32, congestion()).prop_map(
        |(threshold, congestion)| json!({ "hybrid": { "threshold": threshold, "congestion": congestion } }),
    );
    let ectn = (1..6u32, 1..9u32, select(vec![(1, 0), (7, 0), (60, 0), (2, 1), (31, 3), (100, 8), (90, 45)]))
        .prop_map(|(threshold, combined, (period, length))| {
            json!({ "ectn": {
                "threshold": threshold, "combined_threshold": combined,
                "period": period, "message_length": length,
            } })
        });
    let statistical = (1..4u32, 0..5u32).prop_map(
        |(threshold, range)| json!({ "statistical": { "threshold": threshold, "full": threshold + range } }),
    );
    let congestion = congestion().prop_map(|congestion| json!({ "congestion": congestion }));
    prop_oneof![congestion, contention, filtered, hybrid, ectn, statistical]
}

fn congestion() -> impl Strategy<Value = Value> {
    let percent = || select(vec![0.0, 30.0, 55.0, 100.0]);
    let restriction = (select(vec![0.0, 1.0, 1.5]), select(vec![0.0, 0.5, 5.0]));
    let thresholds =
        (one_of(&["relative", "absolute"]), percent(), percent(), select(vec![0.0, 0.0, 10.0, 50.0]));
    (sensing(), packets(), thresholds, restriction).prop_map(
        |(sensing, packets, (thresholds, local, global, least), (factor, threshold))| {
            json!({
                "sensing": sensing, "packets": packets, "thresholds": thresholds,
                "local_threshold": local, "global_threshold": global, "min_occupancy": least,
                "restriction": { "factor": factor, "threshold": threshold },
            })
        },
    )
}
