//! Random documents with virtual-channel routers, which let flits through one by one.

use super::graph::{graph_or_family, sharing, vcs_by_hop};
use super::network::{
    classes, dateline, dragonfly, fat_tree, fit_ejection, goes_round_rings, grid, has_rings, links, torus,
};
use super::programs::{Workload, make_room, place, programs};
use super::routing::{
    fit, routing_of_one_class, spread, turn_once, ugal, valiant, vcs_needed, vcs_of_one_class,
};
use super::traffic::{self, answers, jobs, longest_packet};
use super::{Document, ORDINARY, for_each_document, nic_and_semantics, one_of};
use hopsim_experiment::plan::Plan;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};

/// Runs `test` on the plans of so many systems drawn from a seed, and for how many cycles.
pub fn for_each_flit_plan(cases: (u32, u8), test: impl Fn(&Plan, u32) -> Result<(), String>) {
    for_each_system(&document(topology(), Just(Vec::new())), cases, test);
}

/// The same for groups of leaves and spines, of which the systems drawn of all networks have few.
pub fn for_each_flit_plan_on_spines(cases: (u32, u8), test: impl Fn(&Plan, u32) -> Result<(), String>) {
    for_each_system(&document(dragonfly_plus(), Just(Vec::new())), cases, test);
}

fn for_each_system(
    documents: &impl Strategy<Value = Document>,
    cases: (u32, u8),
    test: impl Fn(&Plan, u32) -> Result<(), String>,
) {
    for_each_document(documents, cases, |document| {
        let plan = document.plan().map_err(TestCaseError::reject)?;
        test(&plan, document.cycles()).map_err(TestCaseError::fail)
    });
}

/// The same for plans with a warm-up, batches, intervals and the record streams that follow from the lives of packets alone.
pub fn for_each_measured_flit_plan(cases: (u32, u8), test: impl Fn(&Plan) -> Result<(), String>) {
    let measured = (document(topology(), Just(Vec::new())), 0..=3u32, 1..=7u32, select(vec![40, 97, 500]));
    let measured = measured.prop_map(|(Document(mut document), quarters, batches, interval)| {
        let end = 500 + document["measure"]["cycles"].as_u64().unwrap();
        let jobs = document["jobs"].as_array().unwrap();
        let changes = jobs.iter().flat_map(|job| job["traffic"]["changes"].as_array().unwrap());
        // Changes of traffic stay inside the window.
        let first = changes.map(|change| change["cycle"].as_u64().unwrap()).min().unwrap_or(end);
        let warmup = (end * u64::from(quarters) / 5).min(first);
        document["measure"] = json!({
            "warmup": warmup, "cycles": end - warmup, "batches": batches, "interval": interval,
            "seed": document["measure"]["seed"], "streams": ["nodes", "routers", "generation", "flit_hops"],
            "watchdog": 1_000_000,
        });
        if document["measure"]["seed"].as_u64().unwrap().is_multiple_of(3) {
            document["measure"]["packets"] = json!({ "every": 2, "from": warmup / 2 });
        }
        Document(document)
    });
    for_each_document(&measured, cases, |document| {
        let plan = document.plan().map_err(TestCaseError::reject)?;
        test(&plan).map_err(TestCaseError::fail)
    });
}

/// The same for plans whose first jobs run programs.
pub fn for_each_flit_program(cases: (u32, u8), test: impl Fn(&Plan) -> Result<(), String>) {
    for_each_document(&document(topology(), programs(ORDINARY)), cases, |document| {
        let plan = document.plan().map_err(TestCaseError::reject)?;
        test(&plan).map_err(TestCaseError::fail)
    });
}

fn topology() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => dragonfly(ORDINARY),
        4 => grid(ORDINARY).prop_map(|grid| json!({ "mesh": grid })),
        4 => torus(ORDINARY),
        1 => grid(ORDINARY).prop_map(|grid| json!({ "hyperx": grid })),
        2 => fat_tree(ORDINARY),
        3 => graph_or_family(),
    ]
}

fn dragonfly_plus() -> impl Strategy<Value = Value> {
    let sides = (1..4u32, 1..4u32, 1..3u32, 1..3u32, 0..3u32);
    sides.prop_map(|(leaves, spines, global, nodes, fewer)| {
        let groups = (spines * global + 1).saturating_sub(fewer).max(2);
        json!({ "dragonfly_plus": {
            "leaves": leaves, "spines": spines, "global_links": global, "groups": groups, "nodes_per_leaf": nodes,
        } })
    })
}

/// What a router of flits is made of, but for the VCs that the routing needs.
#[derive(Clone, Debug)]
struct Parts {
    /// Delays of route computation, VC allocation and switch traversal \[cycles\].
    delays: (u32, u32, u32),
    whole_packets: bool,
    /// Size of the buffers of each class of links \[flits per VC\].
    buffers: [u32; 2],
    spare_vcs: u32,
    injection_vcs: u32,
    /// Ejection VCs for packets that are not answered, if the document says so.
    ejection_vcs: Option<u32>,
    /// The datelines of rings, if the document says anything of them.
    dateline: Option<Value>,
    /// How FlexVC picks a VC, if that manages those of a dragonfly.
    selection: Option<Value>,
    /// Room of an injection VC beyond the longest packet \[phits\].
    injection_room: u64,
    /// Delay of credits, when VCs are granted again, whether they need a credit for that, and inputs of the crossbar per port.
    credits: (u32, Value, bool, Value),
    /// The allocators of output VCs and of the switch, what input ports pick, and who goes before others.
    allocation: [Value; 4],
    /// Whether heads speculate, and whether packets hold the switch.
    switch: (Value, bool),
}

/// Allocators that go with each other.
fn allocation() -> impl Strategy<Value = [Value; 4]> {
    let allocator = || {
        let iterations = || 1..=3u32;
        prop_oneof![
            2 => Just(json!({ "separable_input_first": {} })),
            1 => Just(json!({ "separable_output_first": {} })),
            2 => iterations().prop_map(|iterations| json!({ "islip": { "iterations": iterations } })),
            2 => iterations().prop_map(|iterations| json!({ "pim": { "iterations": iterations } })),
            2 => Just(json!({ "wavefront": {} })),
        ]
    };
    let arbiter = prop_oneof![
        2 => Just(json!({ "round_robin": {} })),
        1 => one_of(&["generation", "injection", "arrival"]).prop_map(|timestamp| json!({ "age": { "timestamp": timestamp } })),
    ];
    let input = prop::option::of(one_of(&["vc", "output"]));
    (allocator(), allocator(), input, arbiter).prop_map(|(vcs, switch, input, arbiter)| {
        let is_pim = |allocator: &Value| allocator.get("pim").is_some();
        let arbiter = if is_pim(&vcs) || is_pim(&switch) { json!({ "round_robin": {} }) } else { arbiter };
        let input = input.filter(|_| switch.get("separable_input_first").is_some()).unwrap_or_default();
        [vcs, switch, input, arbiter]
    })
}

fn parts() -> impl Strategy<Value = Parts> {
    let routers = ((0..=3u32, 1..=3u32, 0..=3u32), any::<bool>());
    let vcs = (0..=3u32, 1..=2u32, prop::option::of(1..=3u32), select(vec![0, 0, 3, 20, 100]));
    let selection = prop::option::weighted(0.3, one_of(&["shortest", "highest", "lowest", "random"]));
    let inputs = select(vec![json!("port"), json!("port"), json!(2), json!(3), json!("vc")]);
    let credits = (select(vec![0, 0, 1, 3]), one_of(&["tail", "tail", "credits"]), any::<bool>(), inputs);
    let dateline = prop::option::weighted(0.7, dateline());
    let switch = (one_of(&["none", "none", "equal", "firm_first", "separate"]), any::<bool>());
    (routers, [1..=20u32, 1..=20u32], vcs, (selection, dateline), (allocation(), switch), credits).prop_map(
        |(
            (delays, whole_packets),
            buffers,
            (spare_vcs, injection_vcs, ejection_vcs, injection_room),
            (selection, dateline),
            (allocation, switch),
            credits,
        )| Parts {
            delays,
            whole_packets,
            buffers,
            spare_vcs,
            injection_vcs,
            ejection_vcs,
            dateline,
            selection,
            injection_room,
            credits,
            allocation,
            switch,
        },
    )
}

impl Parts {
    /// The router of the document.
    fn build(&self, document: &Value, has_programs: bool) -> Value {
        let (topology, routing) = (&document["topology"], &document["routing"]);
        let jobs = document["jobs"].as_array().unwrap();
        let longest = jobs.iter().map(longest_packet).max().unwrap();
        let copies = if answers(document) { 2 } else { 1 };
        let injection = if document["nic"]["injection_vc"] == "direction" { 2 } else { self.injection_vcs };
        let mut vcs = json!({ "injection": injection.max(copies) });
        if let Some(ejection) = self.ejection_vcs {
            vcs["ejection"] = json!(ejection);
        }
        let by_packets = self.whole_packets || copies == 2 || has_programs;
        let room = if by_packets { longest } else { 1 };
        let mut buffers = json!({ "injection": room + self.injection_room });
        let grouped = topology.get("dragonfly").is_some();
        let selection = self.selection.as_ref().filter(|_| grouped && copies == 1);
        if let Some(selection) = selection {
            vcs["management"] = json!({ "flexvc": { "selection": selection } });
        }
        // The two parts of a detour have half of the VCs each in a HyperX.
        let has_halves = topology.get("hyperx").is_some() && routing.get("ecmp").is_none();
        let sharing = sharing(topology, routing, self.selection.as_ref());
        if let Some(management) = sharing.filter(|_| copies == 1 && !has_halves) {
            vcs["management"] = management;
        }
        let in_rings = has_rings(topology) && routing.get("minimal").is_some();
        if let Some(dateline) = self.dateline.as_ref().filter(|_| in_rings) {
            vcs["rings"] = dateline.clone();
        }
        let by_hop = vcs_by_hop(topology, routing);
        vcs["discipline"] = by_hop.map_or(Value::Null, |_| json!("by_hop"));
        let needed = if grouped {
            vcs_needed(routing, selection.is_some()).to_vec()
        } else if in_rings {
            vec![2]
        } else {
            vec![by_hop.unwrap_or_else(|| vcs_of_one_class(topology, routing)); 2]
        };
        for ((class, needed), size) in classes(topology).iter().zip(needed).zip(self.buffers) {
            vcs[*class] = json!((needed * copies + self.spare_vcs).min(16));
            let least = if self.whole_packets { longest } else { 1 };
            buffers[*class] = json!(u64::from(size).max(least));
        }
        let (routing, allocation, traversal) = self.delays;
        let [vc_allocator, switch_allocator, switch_input, arbiter] = &self.allocation;
        let (credit_delay, vc_reuse, needs_credit, crossbar_inputs) = &self.credits;
        let needs_credit = *needs_credit && !self.whole_packets && vc_reuse == "tail";
        let (speculation, hold_switch) = &self.switch;
        let is_blind = switch_allocator.get("pim").is_some() && speculation == "firm_first";
        let speculation = if is_blind { &json!("separate") } else { speculation };
        let allocation = if speculation == "none" { allocation } else { 1 };
        json!({ "virtual_channel": {
            "credit_delay": credit_delay, "vc_reuse": vc_reuse, "vc_needs_credit": needs_credit,
            "crossbar_inputs": crossbar_inputs,
            "vc_allocator": vc_allocator, "switch_allocator": switch_allocator, "switch_input": switch_input,
            "arbiter": arbiter, "speculation": speculation, "hold_switch": hold_switch,
            "vcs": vcs, "buffers": buffers,
            "switching": if self.whole_packets { "virtual_cut_through" } else { "wormhole" },
            "routing_delay": routing, "vc_allocation_delay": allocation, "switch_traversal_delay": traversal,
        } })
    }
}

/// Allocators and arbiters that `parts` does not draw take the place of some that it does.
fn allocate_otherwise(document: &mut Value, draw: u16) {
    let router = &mut document["router"]["virtual_channel"];
    if draw.is_multiple_of(3) {
        for key in ["vc_allocator", "switch_allocator"] {
            if router[key].get("islip").is_some() && draw.is_multiple_of(2) {
                router[key] = json!({ "lonely_output": {} });
            } else if router[key].get("wavefront").is_some() {
                router[key] = json!({ "wavefront": { "next": "grant" } });
            } else if router[key].get("pim").is_some() {
                router[key] = json!({ "maximum_size": {} });
            }
        }
    }
    if draw % 4 == 1 && router["speculation"] == "separate" {
        router["speculation"] = json!("pessimistic");
    }
    arbitrate_otherwise(router, draw);
    let picks = router["vc_allocator"].get("separable_input_first").is_some();
    if draw % 5 < 2 && picks && router["vc_reuse"] == "tail" {
        router["empty_vcs_first"] = json!(true);
    }
    // Of those that look at ages half look at those of flits, or of packets behind.
    if draw / 7 % 2 == 1
        && let Some(age) = router["arbiter"].get_mut("age")
    {
        let key = if age["timestamp"] == "arrival" { "by_flit" } else { "donation" };
        age[key] = json!(true);
    }
}

/// Arbiters that `parts` does not draw take the place of some that it does.
fn arbitrate_otherwise(router: &mut Value, draw: u16) {
    let looks_at_packets = looks_at_packets(router);
    let has_arbiters = looks_at_packets && !has_allocator(router, &["wavefront", "lonely_output"]);
    match draw / 3 % 8 {
        0 | 1 if has_arbiters => router["arbiter"] = json!({ "least_recently_served": {} }),
        2 if looks_at_packets => router["arbiter"] = json!({ "hop_count": {} }),
        3 if looks_at_packets => router["arbiter"] = json!({ "queue_length": {} }),
        4 if has_arbiters => router["arbiter"] = json!({ "fixed_priority": {} }),
        5 if looks_at_packets => router["arbiter"] = json!({ "random": {} }),
        _ => {}
    }
}

/// Whether one of the allocators is one of these.
fn has_allocator(router: &Value, names: &[&str]) -> bool {
    let has = |key: &str| names.iter().any(|name| router[key].get(name).is_some());
    has("vc_allocator") || has("switch_allocator")
}

/// Whether both allocators let packets go before others.
fn looks_at_packets(router: &Value) -> bool {
    !has_allocator(router, &["pim", "maximum_size"])
}

/// Of two jobs the packets of one go before those of the other from now on, or both have the same priority.
fn give_priorities(document: &mut Value, draw: u16) {
    let router = &mut document["router"]["virtual_channel"];
    let has_ages = router["arbiter"].get("age").is_some();
    if !draw.is_multiple_of(2) || has_ages || !looks_at_packets(router) {
        return;
    }
    router["arbiter"] = json!({ "priority": {} });
    for (job, priority) in document["jobs"].as_array_mut().unwrap().iter_mut().zip([85, draw / 2 % 4 * 85]) {
        job["priority"] = json!(priority);
    }
}

/// Allocators serve in turn from now on, as they do by default: only so a run may be in the mode of the plainest routers.
fn serve_in_turn(document: &mut Value) {
    let router = &mut document["router"]["virtual_channel"];
    for key in ["vc_allocator", "switch_allocator"] {
        router[key] = json!("separable_input_first");
    }
    (router["switch_input"], router["arbiter"]) = (json!("vc"), json!("round_robin"));
    (router["speculation"], router["hold_switch"]) = (json!("none"), json!(false));
}

/// Nodes have buffers for flits from now on, of so many above the least.
fn give_ejection_buffers(document: &mut Value, spare: u64) {
    let jobs = document["jobs"].as_array().unwrap();
    let longest = jobs.iter().map(longest_packet).max().unwrap();
    let router = &mut document["router"]["virtual_channel"];
    let least = if router["switching"] == "wormhole" { 1 } else { longest };
    router["buffers"]["ejection"] = json!(least + spare);
}

/// The VCs of link ports share their buffers from now on, where heads do not need to know how much room there is.
fn share_buffers(document: &mut Value, draw: u64) {
    let names = classes(&document["topology"]);
    let router = &mut document["router"]["virtual_channel"];
    let is_sure = router["switching"] == "virtual_cut_through" || router["vc_reuse"] == "credits";
    if is_sure || router["empty_vcs_first"] == true || !draw.is_multiple_of(3) {
        return;
    }
    let reserve = 1 + draw / 3 % 3;
    for class in names {
        let size = |key: &str| router[key][class].as_u64().unwrap();
        let pool = size("buffers").saturating_sub(6);
        router["buffers"][class] = json!(size("vcs") * reserve + pool);
    }
    router["buffers"]["damq"] = json!({ "reserve": reserve });
}

/// Routers are faster than their links from now on, or have queues at their outputs all the same.
fn speed_up(document: &mut Value, draw: u16) {
    let router = &mut document["router"]["virtual_channel"];
    match draw % 6 {
        0 => router["speedup"] = json!(2.0),
        1 => router["speedup"] = json!(1.5),
        2 => router["speedup"] = json!(2.75),
        _ => {}
    }
    if draw.is_multiple_of(3) {
        router["crossbar_outputs"] = json!(1 + draw / 3 % 3);
    }
    if [1, 2, 3].contains(&(draw % 6)) {
        router["buffers"]["output"] = json!(1 + draw / 6 % 5);
    }
}

/// Stages of several cycles are no pipelines from now on, where routers are no faster than their links.
fn work_in_batches(document: &mut Value, draw: u16) {
    let router = &mut document["router"]["virtual_channel"];
    if draw % 5 > 1 || router["speedup"].as_f64().is_some_and(|speedup| speedup > 1.0) {
        return;
    }
    if draw.is_multiple_of(5) {
        (router["speculation"], router["hold_switch"]) = (json!("none"), json!(false));
    }
    if router["speculation"] == "none" && router["hold_switch"] == false {
        router["switch_allocation_delay"] = json!(1 + draw / 5 % 3);
    }
    document["semantics"]["stages"] = json!("batched");
}

/// A whole system, in which the first jobs run programs where there are such.
fn document(
    topologies: impl Strategy<Value = Value>,
    programs: impl Strategy<Value = Vec<Option<Workload>>>,
) -> impl Strategy<Value = Document> {
    let of_groups = prop_oneof![1 => Just(json!({ "minimal": {} })), 1 => valiant(), 1 => ugal()];
    let network = (topologies, links(ORDINARY), (of_groups, routing_of_one_class()), parts());
    let lengths = [1..=20u32, 1..=20u32];
    let workload = (nic_and_semantics(), jobs(ORDINARY), lengths, any::<u16>(), 200..700u32);
    (network, workload, programs).prop_map(|((topology, links, routings, parts), workload, programs)| {
        let (topology, mut routing) = fit(topology, routings);
        if goes_round_rings(&topology, &routing) {
            // No other one has datelines.
            routing = json!({ "minimal": {} });
        }
        let ((nic, mut semantics), (jobs, shares), lengths, seed, cycles) = workload;
        let routing = spread(&topology, turn_once(&topology, routing, seed / 5), seed / 7);
        // These are about routers of whole packets.
        for key in ["ejection", "output_hold", "input_pointer", "injection_link"] {
            semantics.as_object_mut().unwrap().remove(key);
        }
        let mut document = json!({
            "links": links.build(&topology), "topology": topology, "routing": routing,
            "nic": nic, "semantics": semantics, "jobs": jobs,
            "measure": { "warmup": 0, "cycles": cycles, "batches": 1, "seed": seed, "watchdog": 1_000_000 },
        });
        for (job, length) in document["jobs"].as_array_mut().unwrap().iter_mut().zip(lengths) {
            job["traffic"]["packet_length"] = json!(length);
        }
        traffic::fit(&mut document, shares);
        make_room(&mut document, &programs);
        document["router"] = parts.build(&document, !programs.is_empty());
        if seed % 4 < 2 {
            give_ejection_buffers(&mut document, u64::from(seed / 4 % 12));
        }
        place(&mut document, &programs);
        if seed % 3 == 0 {
            document["semantics"]["port_order"] = json!("booksim");
        }
        allocate_otherwise(&mut document, seed / 48);
        speed_up(&mut document, seed / 7);
        work_in_batches(&mut document, seed / 11);
        if seed % 5 == 0 {
            serve_in_turn(&mut document);
        } else if document["jobs"].as_array().unwrap().len() > 1 {
            give_priorities(&mut document, seed / 5);
        }
        share_buffers(&mut document, u64::from(seed / 13));
        fit_ejection(&mut document);
        if !programs.is_empty() {
            document["units"] = json!({ "cycle": "1 ns", "phit": "4 B" });
        }
        Document(document)
    })
}
