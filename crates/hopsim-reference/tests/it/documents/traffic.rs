//! Random jobs and what they send.

use super::mostly;
use super::network::nodes;
use super::routing::can_answer_on_one_class;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// A pattern, and another one that takes its place where the topology or the job does not have what it needs.
fn pattern() -> impl Strategy<Value = Value> {
    let groups = vec![
        json!({ "adversarial": { "offset": 1 } }),
        json!({ "adversarial": { "offset": "h" } }),
        json!({ "adversarial_consecutive": {} }),
        json!({ "adversarial_local": { "offset": 1 } }),
    ];
    let anywhere = || {
        let fixed = select(vec![
            json!({ "uniform": {} }),
            json!({ "random_permutation": {} }),
            json!({ "hot_region": { "fraction": 0.5, "share": 0.5 } }),
            json!({ "hotspot": { "node": 0, "fraction": 0.2 } }),
        ]);
        prop_oneof![2 => fixed, 1 => permutation()]
    };
    let part = prop_oneof![select(groups.clone()), anywhere()];
    let mix = (part, permutation()).prop_map(|(part, permutation)| {
        let parts = [(0.2, json!({ "uniform": {} })), (0.5, part), (0.3, permutation)];
        json!({ "mix": parts.map(|(weight, pattern)| json!({ "weight": weight, "pattern": pattern })) })
    });
    let first = prop_oneof![4 => select(groups), 4 => anywhere(), 3 => mix];
    (first, anywhere()).prop_map(|(first, second)| json!([first, second]))
}

fn permutation() -> impl Strategy<Value = Value> {
    let names = ["shuffle", "bit_reversal", "transpose", "bit_complement", "tornado", "neighbour"];
    select(names.to_vec()).prop_map(|name| json!({ "permutation": name }))
}

fn load() -> impl Strategy<Value = f64> {
    prop_oneof![0.05..1.0f64, Just(1.0)].prop_map(|load| (load * 100.0).round() / 100.0)
}

fn process() -> impl Strategy<Value = Value> {
    let bursty = (load(), select(vec![1.0, 2.0, 5.0, 30.0]));
    prop_oneof![
        2 => load().prop_map(|load| json!({ "bernoulli": { "load": load } })),
        1 => bursty.prop_map(|(load, length)| json!({ "bursty": { "load": load, "burst_length": length } })),
        1 => on_off(),
        1 => (1..=20u32).prop_map(|packets| json!({ "synchronised_bursts": { "packets": packets } })),
    ]
}

/// Sources that are on and off, at loads that they can offer whatever the length of packets.
fn on_off() -> impl Strategy<Value = Value> {
    let change = || select(vec![0.02, 0.2, 0.7, 1.0]);
    (load(), change(), change()).prop_map(|(load, alpha, beta)| {
        let load = rounded(load * alpha / (alpha + beta));
        json!({ "on_off": { "load": load, "alpha": alpha, "beta": beta } })
    })
}

/// A load as somebody would write it, not a greater one.
fn rounded(load: f64) -> f64 {
    (load * 1000.0).floor() / 1000.0
}

/// How much of the time a node is on.
fn share_of_the_time(process: &Value) -> f64 {
    let number = |key: &str| process["on_off"][key].as_f64();
    number("alpha").zip(number("beta")).map_or(1.0, |(alpha, beta)| alpha / (alpha + beta))
}

/// Changes of load or pattern within 500 cycles, which every run has.
fn changes() -> impl Strategy<Value = Value> {
    let change = (1..200u32, prop_oneof![Just(0.0), load()], prop::option::of(pattern()));
    prop::collection::vec(change, 0..=2).prop_map(|changes| {
        let mut cycle = 0;
        let change = |(after, load, pattern): (u32, f64, Option<Value>)| {
            cycle += after;
            let mut change = json!({ "cycle": cycle, "load": load });
            if let Some(pattern) = pattern {
                change["pattern"] = pattern;
            }
            change
        };
        changes.into_iter().map(change).collect()
    })
}

fn job(common: u32) -> impl Strategy<Value = Value> {
    let replies = prop_oneof![
        3 => Just(None),
        1 => Just(Some(json!({}))),
        1 => (1..=9u32).prop_map(|most| Some(json!({ "outstanding": most }))),
    ];
    let loads = prop::option::weighted(0.2, select(vec![0.0, 0.3, 1.0]));
    let workload = (pattern(), process(), (changes(), loads), replies);
    let start = prop::option::weighted(0.2, 1..100u64);
    (workload, mostly(common, 1..=12, &[70]), start).prop_map(
        |((pattern, process, (changes, loads), replies), length, start)| {
            // Bursts in step have no load, and neither they nor loads of single nodes change.
            let synchronised = process.get("synchronised_bursts").is_some();
            let on = share_of_the_time(&process);
            // Single nodes would send more than a packet in a cycle while they are on.
            let loads = loads.filter(|_| on >= 1.0);
            let mut changes = if synchronised || loads.is_some() { json!([]) } else { changes };
            for change in changes.as_array_mut().unwrap() {
                change["load"] = json!(rounded(change["load"].as_f64().unwrap() * on));
            }
            let mut traffic = json!({
                "pattern": pattern, "process": process, "packet_length": length, "changes": changes,
            });
            if let Some(replies) = replies.filter(|_| !synchronised) {
                traffic["request_reply"] = replies;
            }
            if let Some(share) = loads.filter(|_| !synchronised) {
                traffic["node_loads"] = json!({ "random": { "saturated": share } });
            }
            let first = traffic["changes"].get(0).map_or(100, |change| change["cycle"].as_u64().unwrap());
            json!({ "traffic": traffic, "start": start.unwrap_or(0).min(first.saturating_sub(1)) })
        },
    )
}

/// One job or two, and into how many equal parts the nodes are dealt out: a part without a job stays idle.
pub fn jobs(common: u32) -> impl Strategy<Value = (Value, usize)> {
    prop_oneof![
        4 => job(common).prop_map(|job| (json!([job]), 1)),
        1 => job(common).prop_map(|job| (json!([job]), 2)),
        2 => (job(common), job(common), 2..=3usize).prop_map(|(one, two, parts)| (json!([one, two]), parts)),
    ]
}

/// Whether some job has request-reply.
pub fn answers(document: &Value) -> bool {
    let jobs = document["jobs"].as_array().unwrap();
    jobs.iter().any(|job| job["traffic"].get("request_reply").is_some())
}

/// The greatest length of the packets of a job.
pub fn longest_packet(job: &Value) -> u64 {
    let traffic = &job["traffic"];
    let several = traffic["packet_lengths"].as_array().into_iter().flatten().map(|share| &share["length"]);
    several.chain(traffic.get("packet_length")).map(|length| length.as_u64().unwrap()).max().unwrap()
}

/// Lets the packets of some jobs without replies have several lengths, none greater than the one that they have. All of it follows from
/// `draw`.
fn draw_lengths(traffic: &mut Map<String, Value>, draw: u64) {
    let length = traffic["packet_length"].as_u64().unwrap();
    if !draw.is_multiple_of(3) || length == 1 || traffic.contains_key("request_reply") {
        return;
    }
    let lengths = match draw / 3 % 3 {
        0 => vec![1, length],
        1 => vec![length, length - 1],
        _ if length > 2 => vec![length, 1, length.div_ceil(2)],
        _ => vec![1, length],
    };
    let shares = lengths.iter().zip([0.5, 2.0, 1.0]);
    let shares = shares.map(|(length, weight)| json!({ "length": length, "weight": weight })).collect();
    traffic.remove("packet_length");
    traffic.insert("packet_lengths".to_owned(), shares);
}

/// Deals the nodes out in turn, and gives every job patterns that it can have.
pub fn fit(document: &mut Value, parts: usize) {
    let (topology, all) = (document["topology"].clone(), nodes(&document["topology"]));
    // Replies need VCs in an order, and may not wait for a signal.
    let ordered =
        topology.get("dragonfly").is_some() || can_answer_on_one_class(&topology, &document["routing"]);
    let answered = ordered && document["nic"]["control"].get("sat").is_none();
    let grid = ["mesh", "torus", "ring"].iter().any(|&name| topology.get(name).is_some());
    if !grid && document["nic"]["injection_vc"] == "direction" {
        document["nic"]["injection_vc"] = json!("shortest");
        document["nic"]["injection_ports"] = json!(1);
    }
    // Lengths follow from the seed, so that all else is drawn as it is without them.
    let seed = document["measure"]["seed"].as_u64().unwrap();
    let jobs = document["jobs"].as_array_mut().unwrap();
    for (index, job) in jobs.iter_mut().enumerate() {
        let mine: Vec<u64> = (index as u64..all).step_by(parts).collect();
        let site = Site { topology: &topology, nodes: mine.len() as u64, whole: parts == 1 };
        let traffic = job["traffic"].as_object_mut().unwrap();
        site.settle(&mut traffic["pattern"]);
        for change in traffic["changes"].as_array_mut().unwrap() {
            change.get_mut("pattern").into_iter().for_each(|pattern| site.settle(pattern));
        }
        if !answered {
            traffic.remove("request_reply");
        }
        draw_lengths(traffic, seed >> (8 * index));
        if parts > 1 {
            job["placement"] = json!({ "list": mine });
        }
    }
}

/// Where a job runs.
struct Site<'a> {
    topology: &'a Value,
    nodes: u64,
    whole: bool,
}

impl Site<'_> {
    /// The first of some patterns that the job can have.
    fn settle(&self, patterns: &mut Value) {
        let fitting = patterns.as_array().unwrap().iter().find(|pattern| self.fits(pattern)).cloned();
        *patterns = fitting.unwrap_or_else(|| json!({ "uniform": {} }));
    }

    fn fits(&self, pattern: &Value) -> bool {
        let (name, keys) = pattern.as_object().unwrap().iter().next().unwrap();
        let dragonfly = self.topology.get("dragonfly").is_some();
        let grid = ["mesh", "torus", "ring"].iter().any(|&name| self.topology.get(name).is_some());
        let bits = self.nodes.is_power_of_two().then(|| self.nodes.ilog2());
        match (name.as_str(), keys.as_str()) {
            ("permutation", Some("tornado" | "neighbour")) => grid && self.whole,
            ("permutation", Some("transpose")) => bits.is_some_and(|bits| bits > 0 && bits % 2 == 0),
            ("permutation", _) => bits.is_some_and(|bits| bits > 0),
            ("hot_region", _) => self.nodes >= 4,
            ("hotspot", _) => self.whole,
            ("mix", _) => keys.as_array().unwrap().iter().all(|part| self.fits(&part["pattern"])),
            ("uniform" | "random_permutation", _) => true,
            // A job on some of the nodes may have none in the groups or routers that these patterns send to.
            _ => dragonfly && self.whole,
        }
    }
}
