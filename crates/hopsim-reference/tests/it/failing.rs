//! Links that fail and are repaired in the middle of a run: engine and reference on random networks that stay in one piece.

use crate::documents::{Document, classes, planes};
use crate::engine::compare;
use crate::metrics;
use crate::programs::{PERIOD, compare_figures};
use crate::snapshots::{goes_on, savable};
use hopsim_core::engine::{Control, Trial, audit, run, run_as, trace_as};
use hopsim_core::error::RunError;
use hopsim_cycles::choices::Consumption;
use hopsim_cycles::jobs::JobPlan;
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::config::router::Discipline;
use hopsim_experiment::config::stop::Warmup;
use hopsim_experiment::plan::{Epoch, Plan};
use hopsim_measure::Column;
use hopsim_measure::trace::{Hop, PacketTrace};
use hopsim_network::topology::TopologyConfig;
use hopsim_network::topology::faults::{Fault, LinkEnd, Reconfiguration};
use hopsim_programs::standstill::LostMessages;
use hopsim_random::{Purpose, Stream};
use hopsim_reference::metrics::outcome;
use hopsim_reference::{Life, LossReason, Simulator, joined, programs, record};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::Range;

/// Cycles of every run.
const CYCLES: u32 = 700;

/// From this seed on networks are planes.
const PLANES: u64 = 1_000_000;

/// From this seed on packets move flit by flit.
const FLITS: u64 = 2_000_000;

/// What documents are drawn from, with their seed.
struct Draws(Stream, u64);

impl Draws {
    fn new(seed: u64) -> Self {
        Self(Stream::new(seed, Purpose::RandomGraph, 77), seed)
    }

    fn has_planes(&self) -> bool {
        (PLANES..FLITS).contains(&self.1)
    }

    fn moves_flits(&self) -> bool {
        self.1 >= FLITS
    }

    fn any(&mut self, range: Range<u32>) -> u32 {
        range.start + self.0.below(range.end - range.start)
    }

    fn one_in(&mut self, times: u32) -> bool {
        self.0.below(times) == 0
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.0.below(all.len() as u32) as usize].clone()
    }

    /// A ring with chords, or all pairs of routers joined; some of them twice.
    fn graph(&mut self) -> Value {
        let routers = self.any(4..9);
        let mut pairs: Vec<(u32, u32)> = if self.one_in(3) {
            let routers = routers.min(6);
            (0..routers).flat_map(|one| (one + 1..routers).map(move |other| (one, other))).collect()
        } else {
            let ring = (0..routers).map(|router| (router, (router + 1) % routers));
            let mut pairs: Vec<_> = ring.collect();
            let chords = if self.one_in(4) { 0 } else { self.any(2..routers) };
            for _ in 0..chords {
                let one = self.any(0..routers);
                pairs.push((one, (one + self.any(1..routers)) % routers));
            }
            pairs
        };
        if self.one_in(4) {
            pairs.push(pairs[0]);
        }
        let slow = self.one_in(4);
        let mut edge = |(one, other): (u32, u32)| {
            let mut edge = json!({ "between": [one, other] });
            if self.one_in(2) {
                edge["latency"] = json!(self.any(1..20));
            }
            if slow && self.one_in(2) {
                edge["cycles_per_phit"] = json!(self.any(2..4));
            }
            edge
        };
        let edges: Vec<Value> = pairs.into_iter().map(&mut edge).collect();
        let with_nodes = if self.one_in(4) { json!(self.any(2..4)) } else { Value::Null };
        json!({ "graph": {
            "edges": edges, "nodes_per_router": self.any(1..3), "routers_with_nodes": with_nodes,
            "ties": self.of(&["spread", "first", "hash"]),
        } })
    }

    fn topology(&mut self) -> Value {
        if self.has_planes() {
            return planes(&mut self.0);
        }
        let nodes = self.any(1..3);
        match self.any(0..18) {
            14 => json!({ "dragonfly": { "p": nodes, "a": self.any(2..4), "h": 1 } }),
            15 => json!({ "torus": { "sides": [self.any(2..5), 3], "nodes_per_router": nodes } }),
            16 => json!({ "hyperx": { "sides": [self.any(2..4), 3], "nodes_per_router": nodes } }),
            17 => {
                let fat_tree = json!({ "fat_tree": { "k": 2, "levels": self.any(2..4) } });
                self.of(&[
                    fat_tree,
                    json!({ "mesh": { "sides": [3, 2, 2] } }),
                    json!({ "ring": { "routers": 6 } }),
                ])
            }
            13 => {
                let examples = TopologyConfig::examples();
                serde_json::to_value(self.of(&examples)).unwrap()
            }
            12 => json!({ "dragonfly_plus": {
                "leaves": 2, "spines": 2, "global_links": 2, "groups": self.any(2..4), "nodes_per_leaf": nodes,
            } }),
            0 => json!({ "slim_fly": { "q": 3, "nodes_per_router": 1 } }),
            1 => json!({ "polarfly": { "q": self.any(2..4), "nodes_per_router": nodes } }),
            2 => json!({ "jellyfish": {
                "routers": 2 * self.any(3..6), "degree": 4, "seed": self.any(0..50), "nodes_per_router": nodes,
            } }),
            3 => json!({ "xpander": {
                "routers": 4 * self.any(1..4), "degree": 3, "seed": self.any(0..50), "nodes_per_router": nodes,
            } }),
            4 => json!({ "xgft": {
                "children": [nodes, self.any(2..4), self.any(2..4)], "parents": [1, self.any(2..4), self.any(2..4)],
            } }),
            _ => self.graph(),
        }
    }

    fn routing(&mut self, topology: &Value) -> Value {
        if topology.get("planes").is_some() {
            let by = self.of(&["packet", "flow"]);
            return self.of(&[
                json!({ "minimal": {} }),
                json!({ "adaptive": {} }),
                json!({ "ecmp": { "by": by } }),
            ]);
        }
        let threshold = self.any(0..3);
        match self.any(0..8) {
            6 => json!({ "ecmp": { "by": self.of(&["packet", "flow"]) } }),
            0 | 7 => json!({ "minimal": {} }),
            1 => json!({ "adaptive": {} }),
            2 => json!({ "valiant": { "recompute": self.one_in(2) } }),
            3 | 4 => {
                let (keeps, occupancy) = (self.any(0..3), self.of(&["vc", "port"]));
                let sees_all = occupancy == "port" && self.one_in(2);
                json!({ "ugal": {
                    "threshold": threshold, "sticky": keeps == 1, "once": keeps == 2,
                    "occupancy": occupancy, "knowledge": if sees_all { "global" } else { "local" },
                } })
            }
            _ => json!({ "par": { "threshold": threshold, "occupancy": self.of(&["vc", "port"]) } }),
        }
    }

    /// One or two links of the topology, drawn or by name.
    fn links(&mut self, topology: &Value) -> Value {
        let edges = topology["graph"]["edges"].as_array();
        match edges {
            Some(edges) if self.one_in(2) => {
                let mut edges = edges.clone();
                self.0.shuffle(&mut edges);
                let count = self.any(1..3) as usize;
                let between: Vec<&Value> = edges.iter().take(count).map(|edge| &edge["between"]).collect();
                json!({ "between": between })
            }
            _ => json!({ "fraction": self.of(&[0.06, 0.1, 0.15, 0.25]), "seed": self.any(0..100) }),
        }
    }

    /// One or two routers without nodes, if there are any; with `drops` any routers.
    fn routers(&mut self, topology: &Value, drops: bool) -> Option<Value> {
        if drops && self.one_in(2) {
            return Some(json!({ "fraction": self.of(&[0.1, 0.2, 0.3]), "seed": self.any(0..100) }));
        }
        let config: TopologyConfig = serde_json::from_value(topology.clone()).ok()?;
        let topology = config.build().ok()?;
        let first = if drops { 0 } else { topology.routers_with_nodes() };
        let mut routers: Vec<u32> = (first..topology.routers()).collect();
        self.0.shuffle(&mut routers);
        routers.truncate(self.any(1..3) as usize);
        (!routers.is_empty()).then(|| json!(routers))
    }

    /// Links, routers or both.
    fn broken(&mut self, topology: &Value, drops: bool) -> Value {
        let routers = if self.one_in(2) { self.routers(topology, drops) } else { None };
        match routers {
            Some(routers) if self.one_in(2) => {
                json!({ "links": self.links(topology), "routers": routers })
            }
            Some(routers) => json!({ "routers": routers }),
            None => json!({ "links": self.links(topology) }),
        }
    }

    /// Links that are slower, perhaps for good.
    fn slowdown(&mut self, topology: &Value) -> Value {
        let mut slowdown = json!({ "links": self.links(topology), "slowdown": self.any(2..9) });
        let at = if self.one_in(4) { 0 } else { self.any(1..CYCLES - 100) };
        if at > 0 {
            slowdown["at"] = json!(at);
        }
        if !self.one_in(3) {
            slowdown["until"] = json!((at + self.of(&[1, 20, 150, 300])).min(CYCLES - 1));
        }
        slowdown
    }

    fn fault(
        &mut self,
        topology: &Value,
        (keeps_vcs, drops): (bool, bool),
        retransmit: Option<&Value>,
    ) -> Value {
        // Where the network may be drained there is no slowdown.
        if self.one_in(if keeps_vcs { 20 } else { 6 }) {
            return self.slowdown(topology);
        }
        let mut fault = self.broken(topology, drops);
        if drops {
            fault["unreachable"] = json!("drop");
        }
        let at = if self.one_in(8) { 0 } else { self.any(1..CYCLES - 100) };
        if at > 0 {
            fault["at"] = json!(at);
        }
        let is_for_good = at == 0 && self.one_in(3);
        if !is_for_good && (at == 0 || self.one_in(2)) {
            let after = if self.one_in(3) {
                self.any(1..4)
            } else {
                self.of(&[5, 20, 60, 150, 300]) + self.any(0..20)
            };
            let until = at + after;
            fault["until"] = json!(until.min(CYCLES - 1));
        }
        if !is_for_good && !self.one_in(12) {
            let after = [0, 1, 10, 40, 100, 300];
            let detection = self.of(&after);
            fault["reaction"] = json!({
                "detection": if detection > 1 { self.any(2..detection + 1) } else { detection },
                "reroute": self.of(&after), "packets": self.of(&["drop", "drop", "drain"]),
            });
            if keeps_vcs && self.one_in(3) {
                fault["reaction"]["reconfiguration"] = json!("dynamic");
            }
            if let Some(retransmit) = retransmit {
                fault["reaction"]["retransmit"] = retransmit.clone();
            }
        }
        fault
    }

    /// Traffic of one length or of several.
    fn traffic(&mut self, topology: &Value, has_vcs_for_replies: bool) -> Value {
        let all = topology.get("dragonfly").map_or(1, |_| 3);
        let patterns = [
            json!({ "uniform": {} }),
            json!({ "adversarial": { "offset": "h" } }),
            json!({ "adversarial_consecutive": {} }),
        ];
        let pattern = self.of(&patterns[..all]);
        let mut traffic = json!({
            "pattern": pattern, "process": { "bernoulli": { "load": self.of(&[0.05, 0.2, 0.4, 0.7, 1.0]) } },
        });
        match self.any(0..6) {
            0 => {
                traffic["packet_lengths"] =
                    json!([{ "length": 1, "weight": 0.5 }, { "length": self.any(2..30), "weight": 0.5 }]);
            }
            1 if has_vcs_for_replies => {
                (traffic["packet_length"], traffic["request_reply"]) = (json!(self.any(1..9)), json!({}));
            }
            _ => traffic["packet_length"] = json!(self.of(&[1, 2, 4, 8, 8, 25])),
        }
        traffic
    }

    /// One fault to three; of a ring that must not fall apart one.
    fn faults(&mut self, topology: &Value, (keeps_vcs, drops): (bool, bool), answers: bool) -> Vec<Value> {
        let edges = topology["graph"]["edges"].as_array();
        let is_ring = edges.is_some_and(|edges| {
            edges.iter().all(|edge| {
                let ends: [u64; 2] = serde_json::from_value(edge["between"].clone()).unwrap();
                ends[1] == (ends[0] + 1) % edges.len() as u64
            })
        });
        let most = if is_ring && !drops { 2 } else { 4 };
        let retransmit = if answers || self.one_in(2) { None } else { Some(self.retransmit()) };
        let count = self.any(1..most);
        let mut faults: Vec<Value> =
            (0..count).map(|_| self.fault(topology, (keeps_vcs, drops), retransmit.as_ref())).collect();
        if keeps_vcs && most > 2 && self.one_in(2) {
            faults.extend(self.while_drained(topology, &faults[0]));
        }
        faults
    }

    /// A link that fails when the network is perhaps drained because of a fault.
    fn while_drained(&mut self, topology: &Value, first: &Value) -> Option<Value> {
        let reaction = first.get("reaction")?;
        let times = [&first["at"], &reaction["detection"], &reaction["reroute"]];
        let tables: u64 = times.into_iter().map(Value::as_u64).sum::<Option<u64>>()?;
        let at = tables + u64::from(self.any(1..12));
        (at < u64::from(CYCLES)).then(|| json!({ "links": self.links(topology), "at": at }))
    }

    fn retransmit(&mut self) -> Value {
        json!({ "timeout": self.of(&[0, 1, 30, 100, 250]) + self.any(0..10), "most": self.of(&[1, 1, 2, 3, 255]) })
    }

    fn nic(&mut self, drops: bool) -> Value {
        let mut nic = json!({ "source_queue": self.of(&[json!("unbounded"), json!({ "packets": 3 }), json!({ "packets": 0 })]) });
        if self.one_in(if drops { 3 } else { 8 }) {
            nic["when_full"] = json!("wait");
        }
        nic
    }

    fn document(&mut self, seed: u64) -> Value {
        self.document_for(seed, false)
    }

    /// A document in which some nodes run a program, and perhaps others draw packets.
    fn document_with_a_program(&mut self, seed: u64) -> Value {
        let mut document = self.document_for(seed, true);
        let config: TopologyConfig = serde_json::from_value(document["topology"].clone()).unwrap();
        let nodes =
            config.build().map_or(0, |topology| topology.nodes_per_router() * topology.routers_with_nodes());
        let traffic = document["jobs"][0]["traffic"].take();
        let longest = match traffic["packet_lengths"].as_array() {
            Some(lengths) => lengths[1]["length"].clone(),
            None => traffic["packet_length"].clone(),
        };
        let program = json!({ "collective": {
            "kind": self.of(&["allreduce", "alltoall", "allgather", "barrier"]),
            "bytes": self.any(1..120), "repeat": self.any(1..9), "compute": self.of(&[0, 0, 50]),
        } });
        let host = json!({
            "packet_length": longest, "eager_limit": self.of(&[json!("none"), json!("none"), json!(0), json!(60)]),
            "gap": self.of(&[0, 0, 7]), "send_completes": self.of(&["buffered", "injected"]),
            "send_overhead": self.any(0..4), "receive_overhead": self.any(0..4),
        });
        let mut jobs = vec![json!({ "program": program, "host": host })];
        if self.one_in(3) {
            let nodes = |first: u32| json!({ "list": (first..nodes).step_by(2).collect::<Vec<u32>>() });
            (jobs[0]["placement"], jobs[0]["name"]) = (nodes(0), json!("program"));
            jobs.push(json!({ "name": "traffic", "traffic": traffic, "placement": nodes(1) }));
        }
        document["jobs"] = json!(jobs);
        document["units"] = json!({ "cycle": "1 ns", "phit": "4 B" });
        document["measure"] = json!({
            "max_cycles": LONGEST, "seed": seed, "watchdog": 500,
            "streams": ["ranks", "messages", "operations", "message_sizes"],
        });
        document
    }

    /// A virtual-channel router, for packets of so many flits at most.
    fn flit_router(&mut self, classes: &[&str], longest: u64, programs: bool) -> Value {
        let whole_packets = self.one_in(3);
        let least = if whole_packets { longest } else { 1 };
        let sends_singly = !whole_packets && !programs;
        let injection = if sends_singly { 1 } else { longest } + self.of(&[0, 3, 20]);
        let mut buffers = json!({ "injection": injection });
        for class in classes {
            buffers[class] = json!(u64::from(self.any(1..20)).max(least));
        }
        if self.one_in(4) {
            buffers["ejection"] = json!(least + u64::from(self.any(0..4)));
        }
        let [rounds, more] = [self.any(1..3), self.any(1..3)];
        let allocator = [
            json!({ "separable_input_first": {} }),
            json!({ "separable_input_first": {} }),
            json!({ "islip": { "iterations": rounds } }),
            json!({ "pim": { "iterations": more } }),
            json!({ "wavefront": {} }),
        ];
        let (vc_allocator, switch_allocator) = (self.of(&allocator), self.of(&allocator));
        let looks = [&vc_allocator, &switch_allocator].iter().all(|allocator| allocator.get("pim").is_none());
        let arbiters = [
            json!({ "round_robin": {} }),
            json!({ "age": { "timestamp": self.of(&["generation", "injection", "arrival"]) } }),
            json!({ "age": { "timestamp": "arrival", "by_flit": true } }),
            json!({ "age": { "timestamp": "generation", "donation": true } }),
            json!({ "hop_count": {} }),
            json!({ "queue_length": {} }),
        ];
        let arbiter = if looks { self.of(&arbiters) } else { json!({ "round_robin": {} }) };
        let speculation = self.of(&["none", "none", "equal", "separate"]);
        let vc_reuse = self.of(&["tail", "tail", "credits"]);
        let needs_credit = !whole_packets && vc_reuse == "tail" && self.one_in(2);
        let allocation = if speculation == "none" { self.any(1..4) } else { 1 };
        json!({
            "buffers": buffers, "switching": if whole_packets { "virtual_cut_through" } else { "wormhole" },
            "routing_delay": self.any(0..4), "vc_allocation_delay": allocation,
            "switch_traversal_delay": self.any(0..4), "credit_delay": self.of(&[0, 0, 1, 3]),
            "vc_reuse": vc_reuse, "vc_needs_credit": needs_credit,
            "crossbar_inputs": self.of(&[json!("port"), json!("port"), json!(2), json!("vc")]),
            "vc_allocator": vc_allocator, "switch_allocator": switch_allocator, "arbiter": arbiter,
            "speculation": speculation, "hold_switch": self.one_in(3),
        })
    }

    fn document_for(&mut self, seed: u64, programs: bool) -> Value {
        let topology = self.topology();
        let routing = self.routing(&topology);
        let classes = classes(&topology);
        // There are not VCs enough in many a network.
        let replies = !programs
            && !self.moves_flits()
            && topology.get("graph").is_some()
            && ["valiant", "ugal", "par"].iter().any(|name| routing.get(name).is_some());
        let traffic = self.traffic(&topology, replies);
        let longest = match traffic["packet_lengths"].as_array() {
            Some(lengths) => lengths[1]["length"].as_u64().unwrap(),
            None => traffic["packet_length"].as_u64().unwrap(),
        };
        let room = |packets: u32| longest * u64::from(packets);
        let kind = self.of(&["cioq", "input_queued"]);
        let mut buffers = json!({ "injection": room(self.any(1..3)) });
        if classes == ["network"] {
            buffers["network"] = json!(room(self.any(1..5)));
        }
        if kind == "cioq" {
            buffers["output"] = json!(room(self.any(1..3)));
        }
        let mut router = json!({
            "buffers": buffers, "crossbar_latency": self.any(0..6), "pipeline_latency": self.any(0..3),
            "crossbar_inputs": self.of(&[json!("port"), json!("port"), json!("vc")]),
            "allocator": { "iterations": self.any(1..3) },
        });
        if kind == "cioq" {
            router["speedup"] = json!(self.of(&[1.0, 1.5, 2.0]));
        }
        let answers = traffic.get("request_reply").is_some();
        if kind == "input_queued" && !answers && seed.is_multiple_of(3) {
            router["consumption"] = json!("parallel");
        }
        let mut links = json!({ "injection": { "latency": 1 } });
        for &class in classes {
            links[class] = json!({ "latency": self.any(1..25) });
        }
        let kind = if self.moves_flits() { "virtual_channel" } else { kind };
        if self.moves_flits() {
            router = self.flit_router(classes, longest, programs);
        }
        let by_hop = routing.get("minimal").is_some() && seed.is_multiple_of(3);
        if by_hop {
            router["vcs"] = json!({ "discipline": "by_hop" });
        }
        let keeps_vcs = routing.get("minimal").is_some() && !by_hop;
        let drops = !programs && !answers && self.one_in(3);
        let faults = self.faults(&topology, (keeps_vcs, drops), answers);
        let nic = self.nic(drops);
        json!({
            "topology": topology, "routing": routing, "faults": faults, "jobs": [{ "traffic": traffic }],
            "links": links,
            "router": { kind: router },
            "nic": nic,
            "measure": { "warmup": 0, "cycles": CYCLES, "batches": 1, "seed": seed, "watchdog": 1_000_000 },
        })
    }
}

/// A random plan some of whose links fail, or why there is none.
fn drawn(seed: u64) -> Result<Plan, String> {
    let mut draws = Draws::new(seed);
    let mut document = draws.document(seed);
    let plan = Document(document.clone()).plan()?;
    if !draws.one_in(3) {
        return Ok(plan);
    }
    // Some VCs more than there must be.
    let Some(vcs) = plan.experiment.router.vcs().network else { return Ok(plan) };
    let router = document["router"].as_object_mut().unwrap().values_mut().next().unwrap();
    router["vcs"]["network"] = json!((vcs + draws.any(1..4)).min(16));
    Document(document).plan()
}

/// How often all that there is must be met: documents, unless it says packets.
const LEAST: [(&str, usize); 46] = [
    ("documents", 440),
    ("graph", 200),
    ("jellyfish", 30),
    ("polarfly", 20),
    ("slim_fly", 30),
    ("xgft", 20),
    ("xpander", 20),
    ("dragonfly_plus", 20),
    ("dragonfly", 20),
    ("torus", 20),
    ("hyperx", 20),
    ("fat_tree", 5),
    ("cioq", 200),
    ("input_queued", 200),
    ("minimal", 80),
    ("adaptive", 50),
    ("ecmp", 50),
    ("valiant", 50),
    ("ugal", 100),
    ("par", 50),
    ("global knowledge", 20),
    ("layers", 20),
    ("VCs by hop", 15),
    ("ties by hash", 50),
    ("several lengths", 50),
    ("replies", 20),
    ("slow links", 50),
    ("parallel consumption", 50),
    ("drain", 150),
    ("static", 50),
    ("from the beginning", 50),
    ("other tables", 300),
    ("repaired unnoticed", 100),
    ("tables back", 200),
    // Packets.
    ("delivered", 100_000),
    ("detours by notice", 30),
    ("grants of repaired links", 10_000),
    ("grants of slower links", 5_000),
    ("routers", 50),
    ("drop unreachable", 100),
    ("sent again", 300),
    ("sent again and delivered", 200),
    ("sent again twice", 10),
    ("lost in spite of it", 10),
    ("sent again without a queue", 10),
    ("sent again after a timeout", 50),
];

/// Packets that must be lost.
const LOST: [(&str, usize); 16] = [
    ("lost, link, minimal", 50),
    ("lost, link, adaptive", 50),
    ("lost, link, ecmp", 50),
    ("lost, link, valiant", 50),
    ("lost, link, ugal", 50),
    ("lost, link, par", 50),
    ("lost, way, minimal", 50),
    ("lost while drained", 5),
    ("lost, router, all", 50),
    ("lost, cut off, all", 50),
    ("lost, source, all", 1_000),
    ("lost, injection, all", 100),
    ("lost, VCs, adaptive", 20),
    ("lost, VCs, valiant", 5),
    ("lost, VCs, cioq", 10),
    ("lost, VCs, input_queued", 10),
];

/// What was met.
#[derive(Default)]
struct Coverage(BTreeMap<String, usize>);

impl Coverage {
    fn count(&mut self, name: impl Into<String>, times: usize) {
        *self.0.entry(name.into()).or_default() += times;
    }

    fn check(&self, least: &[(&str, usize)]) {
        for &(name, least) in least {
            let met = self.0.get(name).copied().unwrap_or(0);
            assert!(met >= least, "{name}: {met}; {:?}", self.0);
        }
    }
}

/// The reference's lives, with what is audited on the way.
fn reference(plan: &Plan, audits: bool) -> Vec<Life> {
    let mut simulator = Simulator::new(plan);
    for cycle in 0..CYCLES {
        simulator.step();
        if audits && cycle % 16 == 0 {
            simulator.audit();
        }
    }
    simulator.into_record().lives
}

/// What the engine tells of the lives of packets.
fn traces(lives: &[Life]) -> Vec<PacketTrace> {
    let mut traces = joined(lives.iter());
    traces.retain(|trace| !trace.hops.is_empty());
    traces
}

/// Compares engine and reference.
fn agree(seed: u64, coverage: &mut Coverage) -> Result<(), String> {
    let plan = match drawn(seed) {
        Ok(plan) => plan,
        Err(reason) => {
            // A network that falls apart, links that an entry before has drawn, too many VCs.
            let known =
                ["no way", "reach", "apart", "been named or drawn", "16 VCs at most", "become slower"];
            assert!(known.iter().any(|known| reason.contains(known)), "seed {seed}: {reason}");
            coverage.count("refused", 1);
            return Ok(());
        }
    };
    let engine = match trace_as(&plan, CYCLES, Trial { finest: true, ..Trial::default() }) {
        Err(RunError::Deadlock(_)) => {
            coverage.count("deadlock", 1);
            return Ok(());
        }
        outcome => outcome.map_err(|error| error.to_string())?,
    };
    let lives = reference(&plan, seed.is_multiple_of(8));
    compare(&engine, &traces(&lives))?;
    note(&plan, &lives, coverage);
    if (PLANES..FLITS).contains(&seed) {
        note_planes(&plan, &lives, coverage);
    }
    obeys(&plan, &lives)?;
    if seed.is_multiple_of(4) {
        counts_agree(&plan, &lives)?;
    }
    if seed.is_multiple_of(3) && seed < FLITS {
        streams_agree(&plan)?;
    }
    if seed.is_multiple_of(16) {
        audit(&plan, CYCLES)?;
        goes_on(&savable(&plan)).map(|_| ())?;
    }
    Ok(())
}

/// The packets that are lost are those that the summary counts, and all that are generated are somewhere.
fn counts_agree(plan: &Plan, lives: &[Life]) -> Result<(), String> {
    let summary = run(plan, &Control::default()).map_err(|error| error.to_string())?.summary;
    let count = |holds: &dyn Fn(&Life) -> bool| lives.iter().filter(|life| holds(life)).count() as u64;
    let mut expected = vec![
        ("packets_generated", count(&|life| life.generated().is_some())),
        ("packets_lost", count(&Life::is_lost)),
        ("packets_dropped", count(&|life| life.dropped)),
        ("packets_delivered", count(&|life| life.trace.delivered.is_some_and(|at| at < CYCLES))),
    ];
    if plan.system.nic.retransmit.is_some() {
        expected.push(("retransmissions", count(&|life| life.came_back.is_some())));
    }
    for (name, expected) in expected {
        let found = &summary[name];
        if found.as_u64() != Some(expected) {
            return Err(format!("{name} is {found} in the engine and {expected} in the reference"));
        }
    }
    windows_agree(plan, lives)?;
    let twice = lives.iter().filter(|life| {
        let fates = [life.lost.is_some(), life.dropped, life.trace.delivered.is_some()];
        fates.into_iter().filter(|&fate| fate).count() > 1
    });
    match twice.count() {
        0 => Ok(()),
        count => Err(format!("{count} packets have two fates")),
    }
}

/// Cycles of the warm-up, and of the intervals of a time series.
const WARMUP: u32 = 200;
const INTERVAL: u32 = 50;

/// Losses count in the window in which they happen, and in the interval.
fn windows_agree(plan: &Plan, lives: &[Life]) -> Result<(), String> {
    let mut experiment = plan.experiment.clone();
    experiment.measure.warmup = Warmup::Cycles(WARMUP);
    (experiment.measure.cycles, experiment.measure.interval) = (CYCLES - WARMUP, INTERVAL);
    let plan = Plan::new(&experiment).map_err(|error| error.to_string())?;
    let outcome = run(&plan, &Control::default()).map_err(|error| error.to_string())?;
    let losses = lives.iter().filter(|life| life.is_lost()).filter_map(|life| Some(life.lost?.at));
    let again = lives.iter().filter_map(|life| life.came_back);
    // Without links that fail in the middle of the run, and a network that falls apart, there is no column of losses.
    let counted = [
        ("packets_lost", "lost", losses.collect::<Vec<u32>>(), !plan.epochs.is_empty()),
        ("retransmissions", "retransmissions", again.collect(), plan.system.nic.retransmit.is_some()),
    ];
    let (_, series) = outcome.tables.iter().find(|(name, _)| name == "timeseries").unwrap();
    for (name, column, cycles, is_there) in counted {
        let expected = cycles.iter().filter(|&&at| at >= WARMUP).count() as u64;
        let found = outcome.summary.get(name).and_then(Value::as_u64);
        if found != Some(expected) && (found.is_some() || is_there) {
            return Err(format!(
                "{name} of the window is {found:?} in the engine and {expected} in the reference"
            ));
        }
        let mut by_interval = vec![0; CYCLES.div_ceil(INTERVAL) as usize];
        for at in &cycles {
            by_interval[(at / INTERVAL) as usize] += 1;
        }
        let found = series.iter().find(|(name, _)| name == column).map(|(_, column)| column);
        if (found.is_some() || is_there) && found != Some(&Column::U32(by_interval.clone())) {
            return Err(format!("{column}: {found:?} in the engine and {by_interval:?} in the reference"));
        }
    }
    Ok(())
}

/// What packets wait for, and the congestion trees that they stand in, go on with other tables.
fn streams_agree(plan: &Plan) -> Result<(), String> {
    let mut experiment = plan.experiment.clone();
    experiment.measure.streams =
        vec![RecordStream::Waits, RecordStream::PacketHops, RecordStream::CongestionTrees];
    experiment.measure.interval = INTERVAL;
    let plan = Plan::new(&experiment).map_err(|error| error.to_string())?;
    let trial = Trial { finest: true, ..Trial::default() };
    let engine = run_as(&plan, &Control::default(), trial).map_err(|error| error.to_string())?;
    let again = outcome(&plan, &record(&plan));
    let coverage = metrics::Coverage::default();
    for (name, table) in &engine.tables {
        if ["batches", "timeseries"].contains(&name.as_str()) {
            continue;
        }
        let (_, other) = again.tables.iter().find(|(other, _)| other == name).ok_or("no such table")?;
        coverage.compare_tables(name, table, other)?;
    }
    Ok(())
}

/// Whether a link is out of order in a cycle, by the changes of a plan. Flits that may go over such a link all the same do not count.
fn is_out(plan: &Plan, end: LinkEnd, cycle: u32) -> bool {
    let until_now = plan.epochs.iter().filter(|epoch| epoch.at <= cycle);
    let moves_flits = plan.system.router.cioq().is_none();
    until_now.fold(false, |is_out, epoch| {
        let mut failures = epoch.change.failing.iter();
        let fails = failures.any(|failure| failure.ends.contains(&end) && (failure.drops || !moves_flits));
        fails || is_out && !epoch.change.repaired.iter().flatten().any(|&repaired| repaired == end)
    })
}

/// No packet is granted a port whose link is out of order.
fn obeys(plan: &Plan, lives: &[Life]) -> Result<(), String> {
    let mut hops = lives.iter().flat_map(|life| &life.trace.hops);
    let broken = |hop: &&Hop| is_out(plan, (hop.router, hop.port.into()), hop.granted);
    hops.find(broken).map_or(Ok(()), |hop| Err(format!("{hop:?} is out of order")))
}

/// Packets that take a detour from their source as soon as its router has noticed that a link has failed, having waited before.
fn detours_by_notice(plan: &Plan, lives: &[Life]) -> usize {
    let mut count = 0;
    for epoch in plan.epochs.iter().filter(|epoch| !epoch.change.reroutes) {
        let routers: Vec<u32> = epoch.change.detected.iter().flatten().map(|end| end.0).collect();
        let detour = |life: &&Life| {
            life.trace.hops.first().is_some_and(|hop| {
                let waited = hop.arrived + 10 < epoch.at && hop.granted == epoch.at;
                waited && hop.misrouted && routers.contains(&hop.router)
            })
        };
        count += lives.iter().filter(detour).count();
    }
    count
}

/// Grants of links that have been repaired.
fn grants_of_repaired(plan: &Plan, lives: &[Life]) -> usize {
    let of = |epoch: &Epoch| {
        let repaired = |hop: &&Hop| {
            let end = (hop.router, usize::from(hop.port));
            hop.granted >= epoch.at && epoch.change.repaired.iter().flatten().any(|&other| other == end)
        };
        lives.iter().flat_map(|life| &life.trace.hops).filter(repaired).count()
    };
    plan.epochs.iter().map(of).sum()
}

/// Grants of links while they are slower.
fn grants_of_slower(plan: &Plan, lives: &[Life]) -> usize {
    let pace =
        |plan: &Plan, hop: &Hop| plan.system.network.link(hop.router, usize::from(hop.port)).cycles_per_phit;
    let is_slower = |hop: &&Hop| {
        let now = plan.epochs.iter().rfind(|epoch| epoch.at <= hop.granted);
        now.is_some_and(|epoch| pace(&epoch.plan, hop) > pace(plan, hop))
    };
    lives.iter().flat_map(|life| &life.trace.hops).filter(is_slower).count()
}

/// Packets that are lost because a link on their way fails while the network is drained.
fn lost_while_drained(plan: &Plan, lives: &[Life]) -> usize {
    let fails = |at: u32| {
        plan.epochs.iter().any(|Epoch { at: of, change, .. }| {
            *of == at && !change.failing.is_empty() && !change.closes && !change.reroutes
        })
    };
    let is_meant =
        |life: &&Life| life.lost.is_some_and(|loss| loss.reason == LossReason::Way && fails(loss.at));
    lives.iter().filter(is_meant).count()
}

/// Notes what a comparison has covered.
fn note(plan: &Plan, lives: &[Life], coverage: &mut Coverage) {
    coverage.count("documents", 1);
    let (routing, router) = (plan.experiment.routing.name(), plan.experiment.router.name());
    let lost = |reason: LossReason| {
        lives.iter().filter(|life| life.lost.is_some_and(|loss| loss.reason == reason)).count()
    };
    let losses = [
        ("link", lost(LossReason::Link)),
        ("router", lost(LossReason::Router)),
        ("cut off", lost(LossReason::CutOff)),
        ("source", lost(LossReason::Source)),
        ("injection", lost(LossReason::Injection)),
        ("VCs", lost(LossReason::Vcs)),
        ("way", lost(LossReason::Way)),
    ];
    for (why, count) in losses {
        for of in ["all", routing, router] {
            coverage.count(format!("lost, {why}, {of}"), count);
        }
    }
    coverage.count("lost while drained", lost_while_drained(plan, lives));
    note_sent_again(plan, lives, coverage);
    coverage.count("detours by notice", detours_by_notice(plan, lives));
    coverage.count("grants of repaired links", grants_of_repaired(plan, lives));
    coverage.count("grants of slower links", grants_of_slower(plan, lives));
    let ties =
        serde_json::to_value(&plan.experiment.topology).unwrap()[plan.experiment.topology.name()].take();
    let has_layers = routing == "minimal" && plan.system.routing.vcs().depends_on_hop();
    let one_length = plan.system.shortest_packet() == plan.system.longest_packet();
    let traits = [
        (has_layers, "layers"),
        (plan.experiment.router.vcs().discipline == Some(Discipline::ByHop), "VCs by hop"),
        (ties["ties"] == "hash", "ties by hash"),
        (!one_length, "several lengths"),
        (plan.system.jobs.iter().any(JobPlan::request_reply), "replies"),
        (plan.system.network.slowest_link() > 1, "slow links"),
        (
            plan.system.router.cioq().is_some_and(|plan| plan.consumption == Consumption::Parallel),
            "parallel consumption",
        ),
    ];
    traits.into_iter().filter(|(is_met, _)| *is_met).for_each(|(_, name)| coverage.count(name, 1));
    coverage.count(routing, 1);
    coverage.count(router, 1);
    coverage.count(plan.experiment.topology.name(), 1);
    coverage.count("global knowledge", plan.system.routing.sensors().outstanding.into());
    coverage.count("delivered", lives.iter().filter(|life| life.trace.delivered.is_some()).count());
    note_outages(plan, coverage);
}

/// Notes what is out of order for a part of the run, and what happens then.
fn note_outages(plan: &Plan, coverage: &mut Coverage) {
    for outage in plan.experiment.faults.iter().filter(|fault| fault.is_outage()) {
        let reaction = outage.reaction.unwrap_or_default();
        let delay = reaction.detection + reaction.reroute;
        let met = [
            (outage.routers.is_some(), "routers"),
            (outage.drops(), "drop unreachable"),
            (!reaction.packets.are_lost(), "drain"),
            (reaction.reconfiguration == Some(Reconfiguration::Static), "static"),
            (outage.at == 0, "from the beginning"),
            (outage.at > 0 && outage.at + delay < CYCLES, "other tables"),
            (outage.until.is_some_and(|until| until < CYCLES), "repaired"),
            (outage.until.is_some_and(|until| until + delay < CYCLES), "tables back"),
            (outage.until.is_some_and(|until| until < outage.at + reaction.detection), "repaired unnoticed"),
        ];
        met.into_iter().filter(|(is_met, _)| *is_met).for_each(|(_, name)| coverage.count(name, 1));
    }
}

/// Notes what became of packets that were sent again.
fn note_sent_again(plan: &Plan, lives: &[Life], coverage: &mut Coverage) {
    let Some(retransmit) = plan.system.nic.retransmit else { return };
    let again: Vec<&Life> = lives.iter().filter(|life| life.came_back.is_some()).collect();
    let count = |holds: &dyn Fn(&Life) -> bool| again.iter().filter(|life| holds(life)).count();
    coverage.count("sent again", again.len());
    coverage.count("sent again and delivered", count(&|life| life.trace.delivered.is_some()));
    coverage.count("sent again twice", count(&|life| life.resendings == 2));
    coverage
        .count("lost in spite of it", count(&|life| life.is_lost() && life.resendings == retransmit.most));
    if plan.system.nic.source_queue == 0 {
        coverage.count("sent again without a queue", again.len());
    }
    let losses: Vec<u32> = lives.iter().filter_map(|life| Some(life.lost?.at)).collect();
    let after = count(&|life| life.came_back.is_some_and(|at| !losses.contains(&at)));
    coverage.count("sent again after a timeout", after);
}

/// Compares engine and reference on the documents of some seeds.
fn all_agree(seeds: Range<u64>) -> Coverage {
    let mut coverage = Coverage::default();
    let mut differences = Vec::new();
    for seed in seeds {
        if let Err(difference) = agree(seed, &mut coverage) {
            differences.push(format!("seed {seed}: {difference}\n{}", Draws::new(seed).document(seed)));
        }
    }
    let first: Vec<&String> = differences.iter().take(8).collect();
    assert!(
        first.is_empty(),
        "{} differ: {}",
        differences.len(),
        first.into_iter().cloned().collect::<String>()
    );
    coverage
}

#[test]
fn engine_and_reference_agree_on_every_packet_when_links_fail() {
    let coverage = all_agree(0..950);
    coverage.check(&LEAST);
    coverage.check(&LOST);
}

/// What must be met of planes: documents, unless it says packets.
const OF_PLANES: [(&str, usize); 18] = [
    ("documents", 200),
    ("minimal", 50),
    ("adaptive", 50),
    ("ecmp", 50),
    ("layers", 5),
    ("VCs by hop", 15),
    ("ties by hash", 40),
    ("static", 15),
    ("other tables", 100),
    ("for good", 20),
    ("a rail fails", 60),
    ("a link of a plane fails", 60),
    ("a router of a plane fails", 40),
    ("an adapter would be nearer", 60),
    // Packets.
    ("delivered", 50_000),
    ("lost, link, all", 500),
    ("lost, cut off, all", 100),
    ("lost in a plane of a whole network", 20),
];

/// Whether the tables of some time know of a router by a neighbour of which, an adapter, a packet would have fewer links left if that
/// forwarded it, or would have a way at all.
fn an_adapter_would_be_nearer(plan: &Plan) -> bool {
    let tables = plan.epochs.iter().map(|epoch| &epoch.plan.system).chain([&plan.system]);
    tables.map(|system| system.routing.base().topology()).any(|topology| {
        let adapters = topology.routers_with_nodes();
        let links = |from: u32, to: u32| {
            if topology.reaches(from, to) { topology.distance(from, to) } else { u32::MAX }
        };
        let tempts = |router: u32, to: u32| {
            let peers =
                (0..topology.ports().len()).filter_map(|port| Some(topology.neighbour(router, port)?.0));
            let mut others = peers.filter(|&peer| peer < adapters && peer != to);
            others.any(|peer| links(peer, to) < links(router, to))
        };
        (adapters..topology.routers()).any(|router| (0..adapters).any(|to| tempts(router, to)))
    })
}

/// Notes what fails of planes.
fn note_planes(plan: &Plan, lives: &[Life], coverage: &mut Coverage) {
    let is_cut_off = |life: &&Life| life.lost.is_some_and(|loss| loss.reason == LossReason::CutOff);
    if !plan.experiment.faults.iter().any(Fault::drops) {
        coverage.count("lost in a plane of a whole network", lives.iter().filter(is_cut_off).count());
    }
    let topology = plan.experiment.topology.build().unwrap();
    let adapters = topology.routers_with_nodes();
    let broken = plan.epochs.iter().flat_map(|epoch| &epoch.change.failing);
    let links: Vec<LinkEnd> = broken.map(|failure| failure.ends[0].min(failure.ends[1])).collect();
    let met = [
        (links.iter().any(|end| end.0 < adapters), "a rail fails"),
        (links.iter().any(|end| end.0 >= adapters), "a link of a plane fails"),
        (plan.epochs.iter().any(|epoch| !epoch.change.falling.is_empty()), "a router of a plane fails"),
        (plan.experiment.faults.iter().any(Fault::is_for_good), "for good"),
        (an_adapter_would_be_nearer(plan), "an adapter would be nearer"),
    ];
    met.into_iter().filter(|(is_met, _)| *is_met).for_each(|(_, name)| coverage.count(name, 1));
}

#[test]
fn engine_and_reference_agree_on_every_packet_when_links_of_planes_fail() {
    let coverage = all_agree(PLANES..PLANES + 500);
    coverage.check(&OF_PLANES);
}

/// What must be met where packets move flit by flit: documents, unless it says packets.
const OF_FLITS: [(&str, usize); 30] = [
    ("documents", 300),
    ("graph", 100),
    ("minimal", 50),
    ("adaptive", 30),
    ("ecmp", 30),
    ("valiant", 30),
    ("ugal", 60),
    ("par", 20),
    ("global knowledge", 10),
    ("layers", 10),
    ("VCs by hop", 10),
    ("several lengths", 20),
    ("slow links", 30),
    ("drain", 80),
    ("static", 20),
    ("other tables", 150),
    ("repaired unnoticed", 50),
    ("tables back", 100),
    ("routers", 20),
    ("drop unreachable", 50),
    // Packets.
    ("delivered", 50_000),
    ("grants of repaired links", 3_000),
    ("grants of slower links", 1_000),
    ("lost, link, all", 300),
    ("lost, router, all", 30),
    ("lost, way, all", 30),
    ("lost, cut off, all", 30),
    ("lost, injection, all", 50),
    ("lost, VCs, all", 10),
    ("sent again and delivered", 50),
];

#[test]
fn engine_and_reference_agree_on_every_packet_when_links_fail_under_flits() {
    all_agree(FLITS..FLITS + 600).check(&OF_FLITS);
}

/// From 0 to 1 it is one link, and the detour by way of 2 leads over 3. When 2 and 3 are parted it leads from 3 to 1 before it leads to
/// 2: three links, and two from there, where there are four VCs.
fn with_a_detour_past_the_destination(routing: &Value) -> Plan {
    let pairs = [(3, 1), (0, 3), (3, 2), (0, 1), (0, 5), (5, 2), (1, 4), (4, 2)];
    let edge = |&(one, other): &(u32, u32)| json!({ "between": [one, other], "latency": 60 });
    let edges: Vec<Value> = pairs.iter().map(edge).collect();
    let pattern = json!({ "hotspot": { "node": 1, "fraction": 1.0 } });
    Document(json!({
        "topology": { "graph": {
            "edges": edges, "nodes_per_router": 1, "routers_with_nodes": 3, "ties": "first",
        } },
        "routing": routing,
        "jobs": [{ "traffic": {
            "pattern": pattern, "process": { "bernoulli": { "load": 1.0 } }, "packet_length": 8,
        } }],
        "router": { "input_queued": { "buffers": { "network": 64, "injection": 8 } } },
        "faults": [{
            "links": { "between": [[3, 2]] }, "at": 300,
            "reaction": { "detection": 0, "reroute": 0, "packets": "drain" },
        }],
        "measure": { "warmup": 0, "cycles": CYCLES },
    }))
    .plan()
    .unwrap()
}

/// Packets from 0 to 1 that are on their way to 3 when tables change, and how many of them are lost.
fn on_the_way_to_3(routing: &Value) -> (usize, usize) {
    let plan = with_a_detour_past_the_destination(routing);
    assert_eq!(plan.experiment.router.vcs().network, Some(4));
    let lives = reference(&plan, true);
    compare(&trace_as(&plan, CYCLES, Trial::default()).unwrap(), &traces(&lives)).unwrap();
    let leads_to_3 = |hop: &Hop| {
        let peer = plan.system.topology.neighbour(hop.router, hop.port.into());
        hop.misrouted && peer.is_some_and(|(peer, _)| peer == 3)
    };
    let is_there = |life: &&Life| {
        let hops = &life.trace.hops;
        let first = hops.first().filter(|hop| hop.granted < 300 && leads_to_3(hop));
        life.trace.source == 0 && first.is_some() && hops.get(1).is_none_or(|hop| hop.granted >= 300)
    };
    let there: Vec<&Life> = lives.iter().filter(is_there).collect();
    (there.len(), there.iter().filter(|life| life.lost.is_some()).count())
}

#[test]
fn packets_that_are_delivered_where_they_pass_their_destination_need_no_vcs_behind_it() {
    let (packets, lost) = on_the_way_to_3(&json!({ "ugal": { "threshold": 0 } }));
    assert!(packets > 0 && lost == 0, "{lost} of {packets}");
    // These go on to their intermediate router.
    let (packets, lost) = on_the_way_to_3(&json!({ "valiant": {} }));
    assert!(packets > 0 && lost == packets, "{lost} of {packets}");
}

/// Most cycles of programs, a multiple of the period at which runs end.
const LONGEST: u32 = 12 * PERIOD;

/// A random plan with a program, or why there is none.
fn drawn_with_a_program(seed: u64) -> Result<Plan, String> {
    Document(Draws::new(seed).document_with_a_program(seed)).plan()
}

/// What must be met of programs: documents, unless it says packets.
const OF_PROGRAMS: [(&str, usize); 9] = [
    ("done", 70),
    ("done by flits", 20),
    ("done by flits after what was lost was sent again", 3),
    ("done beside traffic", 20),
    ("done with changes on the way", 60),
    ("done after what was lost was sent again", 15),
    ("done by rendezvous after that", 15),
    ("stuck", 20),
    // Packets.
    ("of programs and sent again", 45),
];

/// Compares engine and reference on a program.
fn programs_agree(seed: u64, coverage: &mut Coverage) -> Result<(), String> {
    let Ok(plan) = drawn_with_a_program(seed) else {
        coverage.count("refused", 1);
        return Ok(());
    };
    let finest = Trial { finest: true, ..Trial::default() };
    let (engine, reference) = (trace_as(&plan, LONGEST, finest), programs(&plan, PERIOD, LONGEST));
    let (engine, reference) = match (engine, reference) {
        (Err(RunError::Deadlock(_)), None) => {
            coverage.count("deadlock", 1);
            return Ok(());
        }
        (Err(RunError::Unfinished(..)), None) => {
            coverage.count("unfinished", 1);
            return Ok(());
        }
        (Err(RunError::Stuck(report)), None) => {
            coverage.count("stuck", 1);
            return is_stuck_for_losses(&plan, &report.lost);
        }
        (engine, reference) => (engine.map_err(|error| error.to_string())?, reference.ok_or("has no end")?),
    };
    compare(&engine, &reference.traces)?;
    let outcome = run_as(&plan, &Control::default(), finest).map_err(|error| error.to_string())?;
    compare_figures(&plan, &outcome, &reference)?;
    if seed.is_multiple_of(4) {
        goes_on(&plan)?;
    }
    let again = outcome.summary.get("retransmissions").and_then(Value::as_u64).unwrap_or(0);
    let of_program = outcome.jobs[0].get("retransmissions").and_then(Value::as_u64).unwrap_or(0);
    let rendezvous = plan.experiment.jobs[0].host.as_ref().is_some_and(|host| host.eager_limit.is_some());
    coverage.count("of programs and sent again", of_program as usize);
    let traits = [
        (true, "done"),
        (plan.system.jobs.len() > 1, "done beside traffic"),
        (plan.epochs.iter().any(|epoch| epoch.at < reference.end), "done with changes on the way"),
        (of_program > 0, "done after what was lost was sent again"),
        (of_program > 0 && rendezvous, "done by rendezvous after that"),
        (seed >= FLITS, "done by flits"),
        (seed >= FLITS && of_program > 0, "done by flits after what was lost was sent again"),
    ];
    traits.into_iter().filter(|(is_met, _)| *is_met).for_each(|(_, name)| coverage.count(name, 1));
    if again < of_program { Err("a job sends more again than all".into()) } else { Ok(()) }
}

/// A program that stands still has lost packets in the reference, too.
fn is_stuck_for_losses(plan: &Plan, lost: &LostMessages) -> Result<(), String> {
    let mut simulator = Simulator::new(plan);
    (0..LONGEST).for_each(|_| simulator.step());
    let lives = simulator.into_record().lives;
    let all = lives.iter().filter(|life| life.is_lost() && life.job(plan) == 0).count() as u64;
    if lost.packets == 0 || lost.packets > all || lost.count as u64 > lost.packets {
        return Err(format!("{lost:?} in the engine, {all} packets in the reference"));
    }
    Ok(())
}

#[test]
fn engine_and_reference_agree_on_programs_when_links_fail() {
    let mut coverage = Coverage::default();
    let mut differences = Vec::new();
    for seed in (0..360).chain(FLITS..FLITS + 150) {
        if let Err(difference) = programs_agree(seed, &mut coverage) {
            let document = Draws::new(seed).document_with_a_program(seed);
            differences.push(format!("seed {seed}: {difference}\n{document}\n"));
        }
    }
    let first: String = differences.iter().take(4).cloned().collect();
    assert!(differences.is_empty(), "{} differ: {first}", differences.len());
    coverage.check(&OF_PROGRAMS);
}

#[test]
fn links_fail_alike_on_any_cut_and_number_of_threads() {
    let mut compared = 0;
    let plans = (500..570).chain(FLITS..FLITS + 60).map(drawn);
    let plans = plans.chain((500..530).map(drawn_with_a_program));
    for (seed, plan) in plans.enumerate() {
        let Ok(plan) = plan else { continue };
        let Ok(whole) = trace_as(&plan, CYCLES, Trial::default()) else { continue };
        for (threads, reversed) in [(1, true), (3, false)] {
            let trial = Trial { finest: true, threads, varies: true, reversed, ..Trial::default() };
            assert_eq!(trace_as(&plan, CYCLES, trial).unwrap(), whole, "number {seed}");
        }
        compared += 1;
    }
    assert!(compared >= 75, "{compared}");
}

#[test]
#[ignore = "takes minutes"]
fn engine_and_reference_agree_in_many_networks_whose_links_fail() {
    all_agree(1_000..4_000).check(&LEAST);
    all_agree(FLITS + 1_000..FLITS + 4_000).check(&OF_FLITS);
}
