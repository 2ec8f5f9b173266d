//! Random systems whose routers let flits through, one by one: no document says so yet, so the routers and the buffers of links are
//! put into the plan.

use super::graph::graph;
use super::network::{classes, dragonfly, fat_tree, grid, links};
use super::programs::{Workload, make_room, place, programs};
use super::routing::{fit, routing_of_one_class, ugal, valiant, vcs_needed, vcs_of_one_class};
use super::traffic::{self, answers, jobs};
use super::{Document, ORDINARY, for_each_document, nic_and_semantics, one_of};
use hopsim_cycles::system::{RouterPlan, VirtualChannelPlan};
use hopsim_experiment::plan::Plan;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};
use std::sync::Arc;

/// An experiment, and what no document says.
#[derive(Clone, Debug)]
struct FlitDocument {
    document: Document,
    routers: VirtualChannelPlan,
    /// Size of the buffers of each class of links \[flits per VC\].
    buffers: [u32; 2],
}

impl FlitDocument {
    fn plan(&self) -> Result<Plan, String> {
        let mut plan = self.document.plan()?;
        let longest = plan.system.longest_packet();
        plan.system.router = RouterPlan::VirtualChannel(self.routers);
        let links = &mut Arc::make_mut(&mut plan.system.network).classes.links;
        for (class, &buffer) in links.iter_mut().zip(&self.buffers) {
            class.buffer = if self.routers.whole_packets { buffer.max(longest) } else { buffer };
        }
        Ok(plan)
    }
}

/// Runs `test` on the plans of so many systems drawn from a seed, and for how many cycles.
pub fn for_each_flit_plan(cases: (u32, u8), test: impl Fn(&Plan, u32) -> Result<(), String>) {
    for_each_document(&document(Just(Vec::new())), cases, |document| {
        let plan = document.plan().map_err(TestCaseError::reject)?;
        test(&plan, document.document.cycles()).map_err(TestCaseError::fail)
    });
}

/// The same for plans with a warm-up, batches, intervals and the record streams that follow from the lives of packets alone.
pub fn for_each_measured_flit_plan(cases: (u32, u8), test: impl Fn(&Plan) -> Result<(), String>) {
    let measured = (document(Just(Vec::new())), 0..=3u32, 1..=7u32, select(vec![40, 97, 500]));
    let measured = measured.prop_map(|(mut flits, quarters, batches, interval)| {
        let FlitDocument { document: Document(document), .. } = &mut flits;
        let end = 500 + document["measure"]["cycles"].as_u64().unwrap();
        let jobs = document["jobs"].as_array().unwrap();
        let changes = jobs.iter().flat_map(|job| job["traffic"]["changes"].as_array().unwrap());
        // Changes of traffic stay inside the window.
        let first = changes.map(|change| change["cycle"].as_u64().unwrap()).min().unwrap_or(end);
        let warmup = (end * u64::from(quarters) / 5).min(first);
        document["measure"] = json!({
            "warmup": warmup, "cycles": end - warmup, "batches": batches, "interval": interval,
            "seed": document["measure"]["seed"], "streams": ["nodes", "routers", "generation"],
            "watchdog": 1_000_000,
        });
        flits
    });
    for_each_document(&measured, cases, |document| {
        let plan = document.plan().map_err(TestCaseError::reject)?;
        test(&plan).map_err(TestCaseError::fail)
    });
}

/// The same for plans whose first jobs run programs.
pub fn for_each_flit_program(cases: (u32, u8), test: impl Fn(&Plan) -> Result<(), String>) {
    for_each_document(&document(programs(ORDINARY)), cases, |document| {
        let plan = document.plan().map_err(TestCaseError::reject)?;
        test(&plan).map_err(TestCaseError::fail)
    });
}

fn topology() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => dragonfly(ORDINARY),
        4 => grid(ORDINARY).prop_map(|grid| json!({ "mesh": grid })),
        1 => grid(ORDINARY).prop_map(|grid| json!({ "hyperx": grid })),
        2 => fat_tree(ORDINARY),
        3 => graph(),
    ]
}

/// What a router of flits is made of, but for the VCs that the routing needs.
#[derive(Clone, Debug)]
struct Parts {
    routers: VirtualChannelPlan,
    buffers: [u32; 2],
    spare_vcs: u32,
    injection_vcs: u32,
    /// How FlexVC picks a VC, if that manages those of a dragonfly.
    selection: Option<Value>,
    /// Room of an injection VC beyond the longest packet \[phits\].
    injection_room: u64,
}

fn parts() -> impl Strategy<Value = Parts> {
    let delays = (0..=3u32, 1..=3u32, 0..=3u32, any::<bool>());
    let routers = delays.prop_map(|(routing, allocation, traversal, whole_packets)| VirtualChannelPlan {
        routing_delay: routing,
        vc_allocation_delay: allocation,
        switch_traversal_delay: traversal,
        whole_packets,
    });
    let vcs = (0..=3u32, 1..=2u32, select(vec![0, 0, 3, 20, 100]));
    let selection = prop::option::weighted(0.3, one_of(&["shortest", "highest", "lowest", "random"]));
    (routers, [1..=20u32, 1..=20u32], vcs, selection).prop_map(
        |(routers, buffers, (spare_vcs, injection_vcs, injection_room), selection)| Parts {
            routers,
            buffers,
            spare_vcs,
            injection_vcs,
            selection,
            injection_room,
        },
    )
}

impl Parts {
    /// The router of the document, which has the VCs and the injection buffers.
    fn build(&self, document: &Value) -> Value {
        let (topology, routing) = (&document["topology"], &document["routing"]);
        let jobs = document["jobs"].as_array().unwrap();
        let longest = jobs.iter().map(|job| job["traffic"]["packet_length"].as_u64().unwrap()).max().unwrap();
        let copies = if answers(document) { 2 } else { 1 };
        let injection = if document["nic"]["injection_vc"] == "direction" { 2 } else { self.injection_vcs };
        let mut vcs = json!({ "injection": injection.max(copies) });
        let mut buffers = json!({ "injection": longest + self.injection_room });
        let grouped = classes(topology).len() > 1;
        let selection = self.selection.as_ref().filter(|_| grouped && copies == 1);
        if let Some(selection) = selection {
            vcs["management"] = json!({ "flexvc": { "selection": selection } });
        }
        let needed = if grouped {
            vcs_needed(routing, selection.is_some()).to_vec()
        } else {
            vec![vcs_of_one_class(topology, routing)]
        };
        for (class, needed) in classes(topology).iter().zip(needed) {
            vcs[*class] = json!((needed * copies + self.spare_vcs).min(16));
            buffers[*class] = json!(longest);
        }
        json!({ "input_queued": { "vcs": vcs, "buffers": buffers } })
    }
}

/// A whole system, in which the first jobs run programs where there are such.
fn document(programs: impl Strategy<Value = Vec<Option<Workload>>>) -> impl Strategy<Value = FlitDocument> {
    let of_groups = prop_oneof![1 => Just(json!({ "minimal": {} })), 1 => valiant(), 1 => ugal()];
    let network = (topology(), links(ORDINARY), (of_groups, routing_of_one_class()), parts());
    let lengths = [1..=20u32, 1..=20u32];
    let workload = (nic_and_semantics(), jobs(ORDINARY), lengths, any::<u16>(), 200..700u32);
    (network, workload, programs).prop_map(|((topology, links, routings, parts), workload, programs)| {
        let (topology, routing) = fit(topology, routings);
        let ((nic, semantics), (jobs, shares), lengths, seed, cycles) = workload;
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
        document["router"] = parts.build(&document);
        place(&mut document, &programs);
        if !programs.is_empty() {
            document["units"] = json!({ "cycle": "1 ns", "phit": "4 B" });
        }
        let Parts { routers, buffers, .. } = parts;
        FlitDocument { document: Document(document), routers, buffers }
    })
}
