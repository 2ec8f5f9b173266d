//! Engine and reference must tell the same life of every packet.

use crate::documents::{Document, EXTREME, ORDINARY, for_each_plan, trial};
use crate::metrics;
use crate::snapshots::{goes_on, savable};
use hopsim_core::engine::{Control, Trial, audit, run_as, trace_as};
use hopsim_core::error::RunError;
use hopsim_cycles::choices::{ArbiterConfig, Consumption, InjectionVc, WhenFull};
use hopsim_cycles::jobs::JobPlan;
use hopsim_experiment::config::router::Discipline;
use hopsim_experiment::plan::Plan;
use hopsim_measure::trace::PacketTrace;
use hopsim_routing::vcs::Rings;
use hopsim_traffic::process::Process;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Engine and reference side by side, one line per hop.
fn side_by_side(engine: Option<&PacketTrace>, reference: Option<&PacketTrace>) -> String {
    let lines = |trace: Option<&PacketTrace>| {
        let Some(t) = trace else { return vec!["no such packet".to_owned()] };
        let mut lines =
            vec![format!("{}#{} to {}, generated {}", t.source, t.serial, t.destination, t.generated)];
        lines.extend(t.hops.iter().map(|h| {
            format!(
                "router {} arrived {} granted {} to port {} VC {}{}",
                h.router,
                h.arrived,
                h.granted,
                h.port,
                h.vc,
                if h.misrouted { ", misrouted" } else { "" }
            )
        }));
        lines.push(t.delivered.map_or("not delivered".to_owned(), |d| format!("delivered {d}")));
        lines
    };
    let (left, right) = (lines(engine), lines(reference));
    let mut text = format!("  {:<60} | reference\n", "engine");
    for row in 0..left.len().max(right.len()) {
        let cell = |side: &[String]| side.get(row).cloned().unwrap_or_default();
        let (l, r) = (cell(&left), cell(&right));
        let _ = writeln!(text, "{} {l:<60} | {r}", if l == r { ' ' } else { '*' });
    }
    text
}

/// The earliest moment in which two traces of a packet differ.
fn first_difference(one: &PacketTrace, other: &PacketTrace) -> u32 {
    let differing = one.hops.iter().zip(&other.hops).find(|(a, b)| a != b);
    let extra = || one.hops.get(other.hops.len()).or(other.hops.get(one.hops.len())).map(|hop| hop.granted);
    let cycle = differing.map(|(a, b)| a.granted.min(b.granted)).or_else(extra);
    cycle.or(one.delivered).or(other.delivered).unwrap_or(one.generated)
}

pub fn compare(engine: &[PacketTrace], reference: &[PacketTrace]) -> Result<(), String> {
    let key = |t: &PacketTrace| (t.source, t.serial);
    let differing = engine.iter().zip(reference).filter(|(a, b)| key(a) == key(b) && a != b);
    if let Some((one, other)) = differing.min_by_key(|(a, b)| first_difference(a, b)) {
        return Err(format!("the first difference:\n{}", side_by_side(Some(one), Some(other))));
    }
    let unmatched = engine.iter().zip(reference).find(|(a, b)| key(a) != key(b));
    if let Some((one, other)) = unmatched {
        return Err(format!("one has a packet the other has not:\n{}", side_by_side(Some(one), Some(other))));
    }
    if engine.len() != reference.len() {
        return Err(format!(
            "the engine granted {} packets, the reference {}",
            engine.len(),
            reference.len()
        ));
    }
    Ok(())
}

/// What was compared: experiments, delivered packets and those of them that took more links than necessary, by
/// mechanism, trigger, topology, traffic, injection control, management of VCs and of buffers.
#[derive(Default)]
struct Coverage(RefCell<BTreeMap<String, [usize; 3]>>);

/// Whether some VC of a shared buffer has no room of its own for a packet, or packets enter rings without leaving a bubble.
pub fn may_deadlock(plan: &Plan) -> bool {
    (has_rings(plan) && matches!(plan.system.routing.vcs().rings(), Rings::Free))
        || plan
            .system
            .router
            .damq()
            .is_some_and(|shares| shares.iter().any(|s| s.reserve < plan.system.longest_packet()))
}

/// Whether packets go round rings, which up*/down* and Nue routing leave open.
pub fn has_rings(plan: &Plan) -> bool {
    plan.system.topology.has_rings() && !["up_down", "nue"].contains(&plan.experiment.routing.name())
}

impl Coverage {
    /// Compares engine and reference.
    fn compare(&self, plan: &Plan, cycles: u32) -> Result<(), String> {
        let engine = match trace_as(plan, cycles, trial(plan)) {
            // Shared buffers without a reserve for every VC and rings without bubble may lock up.
            Err(RunError::Deadlock(_)) if may_deadlock(plan) => return Ok(()),
            outcome => outcome.map_err(|e| e.to_string())?,
        };
        compare(&engine, &hopsim_reference::trace(plan, cycles))?;
        let delivered: Vec<&PacketTrace> = engine.iter().filter(|t| t.delivered.is_some()).collect();
        let misrouted = delivered.iter().filter(|t| is_misrouted(plan, t)).count();
        for name in names(plan) {
            let mut counts = self.0.borrow_mut();
            let counts = counts.entry(name).or_default();
            *counts = [counts[0] + 1, counts[1] + delivered.len(), counts[2] + misrouted];
        }
        Ok(())
    }

    /// Panics unless everything has been compared, with packets off their minimal paths where there are such.
    fn check(&self) {
        let counts = self.0.borrow();
        let of = |name: &str| counts.get(name).copied().unwrap_or_default();
        for name in NONMINIMAL {
            assert!(of(name)[2] > 0, "{name}: no misrouted packets; {counts:?}");
        }
        for name in MINIMAL {
            let [_, delivered, misrouted] = of(name);
            assert!(
                delivered > 0 && misrouted == 0,
                "{name}: {delivered}, misrouted {misrouted}; {counts:?}"
            );
        }
        for name in OTHERS {
            assert!(of(name)[1] > 0, "{name}: no packets; {counts:?}");
        }
    }
}

/// What the experiments must cover: where packets leave their minimal path,
const NONMINIMAL: [&str; 42] = [
    "up_down graph",
    "nue",
    "fpar",
    "par graph",
    "par hyperx",
    "k_shortest_paths",
    "fat_paths",
    "polarized",
    "valiant",
    "valiant mesh",
    "valiant torus",
    "ugal",
    "ugal mesh",
    "ugal torus",
    "ugal detours",
    "ugal global",
    "flexvc by hop ugal",
    "ugal neighbours",
    "valiant neighbours",
    "piggyback",
    "source_adaptive",
    "olm",
    "olm congestion",
    "olm contention",
    "olm filtered",
    "olm hybrid",
    "olm ectn",
    "olm statistical",
    "par",
    "par congestion",
    "par contention",
    "par filtered",
    "par hybrid",
    "par ectn",
    "par statistical",
    "flexvc replies",
    "adaptive replies",
    "adaptive bursts",
    "adaptive changes",
    "flexvc",
    "damq",
    "input_queued",
];

/// where they never do,
const MINIMAL: [&str; 28] = [
    "flexvc by hop adaptive",
    "flexvc by hop ecmp",
    "minimal",
    "minimal mesh",
    "minimal torus",
    "minimal ring",
    "minimal fat_tree",
    "minimal graph",
    "layers",
    "VCs by hop",
    "VCs by hop in a family",
    "ties by hash minimal",
    "ties by hash adaptive",
    "adaptive mesh",
    "adaptive torus",
    "adaptive ring",
    "adaptive fat_tree",
    "adaptive graph",
    "ecmp fat_tree",
    "ecmp graph",
    "ecmp hyperx",
    "up source",
    "up destination",
    "up random",
    "lbr mesh",
    "lbr torus",
    "lbr ring",
    "one VC in rings",
];

/// and the rest.
const OTHERS: [&str; 65] = [
    "several crossbar inputs",
    "several crossbar inputs adaptive",
    "several crossbar inputs olm",
    "several crossbar inputs minimal",
    "several crossbar inputs sat",
    "several crossbar inputs and two injection ports",
    "several crossbar inputs and parallel consumption",
    "several crossbar inputs cioq",
    "several crossbar inputs input_queued",
    "several crossbar inputs replies",
    "several crossbar inputs damq",
    "several crossbar outputs",
    "several crossbar outputs adaptive",
    "several crossbar outputs olm",
    "several crossbar outputs sat",
    "several crossbar outputs several lengths",
    "several crossbar outputs flexvc",
    "several crossbar outputs replies",
    "several crossbar outputs, random",
    "several crossbar outputs and inputs",
    "VCs that share one of several crossbar inputs",
    "VCs that share one of several crossbar inputs, random",
    "parallel consumption",
    "parallel consumption adaptive",
    "parallel consumption olm",
    "parallel consumption sat",
    "parallel consumption several lengths",
    "two injection ports",
    "two injection ports adaptive",
    "two injection ports sat",
    "two injection ports and parallel consumption",
    "slow links",
    "several lengths in rings",
    "up_down mesh",
    "up_down torus",
    "up_down ring",
    "up_down fat_tree",
    "sat",
    "ipr",
    "sat adaptive",
    "ipr adaptive",
    "sat minimal",
    "ipr minimal",
    "permutation",
    "hot_region",
    "mix with silent nodes",
    "silent nodes and changes",
    "synchronised bursts",
    "on and off",
    "node loads",
    "traffic that begins later",
    "drawn lengths",
    "drawn lengths in bursts",
    "drawn lengths in synchronised bursts",
    "drawn lengths and changes",
    "drawn lengths of packets that wait for room",
    "packets that wait to be generated",
    "injection by direction",
    "bubble of 0 packets",
    "bubble of 1 packets",
    "bubble of 2 packets",
    "datelines, Crossing",
    "datelines, Dimension",
    "datelines, classes of several VCs",
    "datelines, several lengths",
];

/// What `plan` covers.
fn names(plan: &Plan) -> Vec<String> {
    let routing = serde_json::to_value(&plan.experiment.routing).unwrap();
    let router = serde_json::to_value(&plan.experiment.router).unwrap();
    let mut names = vec![plan.experiment.routing.name().to_owned()];
    for mechanism in ["olm", "par"] {
        let trigger = routing[mechanism]["trigger"].as_object().and_then(|trigger| trigger.keys().next());
        names.extend(trigger.map(|trigger| format!("{mechanism} {trigger}")));
    }
    for mechanism in ["valiant", "ugal"] {
        let beside = routing[mechanism]["within"] == "neighbours";
        names.extend(beside.then(|| format!("{mechanism} neighbours")));
    }
    names.extend((routing["ugal"]["detours"].as_u64() > Some(1)).then(|| "ugal detours".to_owned()));
    names.extend((routing["ugal"]["knowledge"] == "global").then(|| "ugal global".to_owned()));
    let (kind, router) = router.as_object().unwrap().iter().next().unwrap();
    names.push(kind.clone());
    let flexible = router["vcs"]["management"].get("flexvc").is_some();
    let adaptive = !["minimal", "valiant", "up_down", "nue"].contains(&plan.experiment.routing.name());
    let replies = plan.system.jobs.iter().any(JobPlan::request_reply);
    let bursts = plan.system.jobs.iter().any(|job| job.traffic().is_some_and(|job| job.process.waits()));
    let changes = plan.system.jobs.iter().any(|job| !job.changes().is_empty());
    let more = [
        (flexible, "flexvc"),
        (router["buffers"].get("damq").is_some(), "damq"),
        (flexible && replies, "flexvc replies"),
        (adaptive && replies, "adaptive replies"),
        (adaptive && bursts, "adaptive bursts"),
        (adaptive && changes, "adaptive changes"),
    ];
    names.extend(more.iter().filter(|(covered, _)| *covered).map(|(_, name)| (*name).to_owned()));
    names.extend(names_of_traffic(plan));
    if plan.system.topology.dragonfly().is_none() {
        names.extend(names_of_one_class(plan));
    }
    names
}

/// What the traffic of `plan` covers, and what restricts it.
fn names_of_traffic(plan: &Plan) -> Vec<String> {
    let control = serde_json::to_value(plan.experiment.nic.control).unwrap();
    let control = control.as_object().unwrap().keys().next().unwrap();
    let mut names = vec![control.clone(), format!("{control} {}", plan.experiment.routing.name())];
    let waits = plan.system.nic.when_full == WhenFull::Wait && plan.system.nic.source_queue == 0;
    for (job, built) in plan.experiment.jobs.iter().zip(&plan.system.jobs) {
        let Some((traffic, built)) = job.traffic.as_ref().zip(built.traffic()) else { continue };
        let pattern = serde_json::to_value(&traffic.pattern).unwrap();
        let kind = pattern.as_object().unwrap().keys().next().unwrap();
        names.push(kind.clone());
        if pattern.to_string().contains("permutation\":\"") && kind == "mix" {
            names.push("mix with silent nodes".to_owned());
        }
        let silent = built.nodes.iter().any(|&node| built.pattern.is_silent(node));
        let more = [
            (silent && !built.changes.is_empty(), "silent nodes and changes"),
            (built.process.synchronised().is_some(), "synchronised bursts"),
            (matches!(built.process, Process::OnOff(_)), "on and off"),
            (!built.processes.is_empty(), "node loads"),
            (built.start > 0, "traffic that begins later"),
            (built.lengths.are_several(), "drawn lengths"),
            (built.lengths.are_several() && built.process.waits(), "drawn lengths in bursts"),
            (
                built.lengths.are_several() && built.process.synchronised().is_some(),
                "drawn lengths in synchronised bursts",
            ),
            (built.lengths.are_several() && !built.changes.is_empty(), "drawn lengths and changes"),
            (built.lengths.are_several() && waits, "drawn lengths of packets that wait for room"),
        ];
        names.extend(more.iter().filter(|(covered, _)| *covered).map(|(_, name)| (*name).to_owned()));
    }
    let more = [
        (plan.system.nic.when_full == WhenFull::Wait, "packets that wait to be generated"),
        (plan.system.nic.injection_vc == InjectionVc::Direction, "injection by direction"),
        (plan.system.nic.injection_vc == InjectionVc::RoundRobin, "injection round robin"),
    ];
    names.extend(more.iter().filter(|(covered, _)| *covered).map(|(_, name)| (*name).to_owned()));
    names.extend(names_of_terminals(plan, control));
    names
}

/// What `plan` covers of the ways in and out, with the control of injection named `control`.
fn names_of_terminals(plan: &Plan, control: &str) -> Vec<String> {
    let routing = plan.experiment.routing.name();
    let parallel = plan.system.cioq().consumption == Consumption::Parallel;
    let layout = &plan.system.network.layout;
    let split = layout.inputs() > layout.ports();
    let shared = split && layout.inputs() < layout.input_vcs.iter().map(|&vcs| usize::from(vcs)).sum();
    let allocator = &plan.system.cioq().allocator;
    let drawn = |arbiter: &ArbiterConfig| matches!(arbiter, ArbiterConfig::Random(_));
    let outputs = plan.system.cioq().crossbar_outputs > 1;
    let flexible = plan.system.routing.vcs().is_flexible();
    let replies = plan.system.jobs.iter().any(JobPlan::request_reply);
    let kind = plan.experiment.router.name();
    let several = plan.system.shortest_packet() < plan.system.longest_packet();
    let two = plan.experiment.nic.injection_ports == 2;
    let more = [
        (parallel, "parallel consumption".to_owned()),
        (parallel, format!("parallel consumption {routing}")),
        (parallel, format!("parallel consumption {control}")),
        (parallel && several, "parallel consumption several lengths".to_owned()),
        (two, "two injection ports".to_owned()),
        (two, format!("two injection ports {routing}")),
        (two, format!("two injection ports {control}")),
        (two && parallel, "two injection ports and parallel consumption".to_owned()),
        (split, "several crossbar inputs".to_owned()),
        (split, format!("several crossbar inputs {routing}")),
        (split, format!("several crossbar inputs {control}")),
        (split && two, "several crossbar inputs and two injection ports".to_owned()),
        (split && parallel, "several crossbar inputs and parallel consumption".to_owned()),
        (split, format!("several crossbar inputs {kind}")),
        (split && replies, "several crossbar inputs replies".to_owned()),
        (split && plan.system.router.damq().is_some(), "several crossbar inputs damq".to_owned()),
        (outputs, "several crossbar outputs".to_owned()),
        (outputs, format!("several crossbar outputs {routing}")),
        (outputs, format!("several crossbar outputs {control}")),
        (outputs && several, "several crossbar outputs several lengths".to_owned()),
        (outputs && flexible, "several crossbar outputs flexvc".to_owned()),
        (outputs && replies, "several crossbar outputs replies".to_owned()),
        (outputs && drawn(&allocator.output_arbiter), "several crossbar outputs, random".to_owned()),
        (outputs && split, "several crossbar outputs and inputs".to_owned()),
        (shared, "VCs that share one of several crossbar inputs".to_owned()),
        (
            shared && drawn(&allocator.input_arbiter),
            "VCs that share one of several crossbar inputs, random".to_owned(),
        ),
    ];
    more.into_iter().filter(|(covered, _)| *covered).map(|(_, name)| name).collect()
}

/// What `plan` covers of the topologies with one class of links.
fn names_of_one_class(plan: &Plan) -> Vec<String> {
    let (topology, routing) = (plan.experiment.topology.name(), plan.experiment.routing.name());
    let mut names = vec![format!("{routing} {topology}")];
    let up = serde_json::to_value(&plan.experiment.routing).unwrap()["minimal"]["up"].clone();
    names.extend(up.as_str().map(|up| format!("up {up}")));
    let (vcs, several) =
        (plan.system.routing.vcs(), plan.system.shortest_packet() < plan.system.longest_packet());
    if let Rings::Dateline(dateline) = vcs.rings() {
        names.push(format!("datelines, {:?}", dateline.rule()));
        names.extend(vcs.is_flexible().then(|| "datelines, classes of several VCs".to_owned()));
        names.extend(several.then(|| "datelines, several lengths".to_owned()));
    }
    let rings = has_rings(plan) && !matches!(vcs.rings(), Rings::Dateline(_));
    let kept = topology == "graph" && vcs.depends_on_hop() && !vcs.is_flexible();
    let by_hop = plan.experiment.router.vcs().discipline == Some(Discipline::ByHop);
    let by_hash = serde_json::to_value(&plan.experiment.topology).unwrap()[topology]["ties"] == "hash";
    let more = [
        (kept, "layers".to_owned()),
        (vcs.look_ahead(), format!("flexvc by hop {routing}")),
        (by_hop, "VCs by hop".to_owned()),
        (by_hop && routing == "minimal" && topology != "graph", "VCs by hop in a family".to_owned()),
        (by_hash, format!("ties by hash {routing}")),
        (plan.system.network.slowest_link() > 1, "slow links".to_owned()),
        (plan.system.control.lbr > 0, format!("lbr {topology}")),
        (
            rings,
            format!(
                "bubble of {} packets",
                plan.system.network.classes.links[0].bubble / plan.system.longest_packet()
            ),
        ),
        (rings && plan.system.network.classes.links[0].vcs == 1, "one VC in rings".to_owned()),
        (rings && several, "several lengths in rings".to_owned()),
    ];
    names.extend(more.into_iter().filter(|(covered, _)| *covered).map(|(_, name)| name));
    names
}

/// Whether a delivered packet took more links than it had to.
fn is_misrouted(plan: &Plan, packet: &PacketTrace) -> bool {
    let per_router = plan.system.topology.nodes_per_router();
    let least =
        plan.system.topology.minimal_hops(packet.source / per_router, packet.destination / per_router);
    packet.hops.len() - 1 > least.into_iter().map(usize::from).sum()
}

/// Engine and reference on a plan: the lives of packets, all that is measured, and a run that goes on with a snapshot.
pub fn check_whole(plan: &Plan, coverage: &metrics::Coverage) -> Result<(), String> {
    let cycles = 400;
    match trace_as(plan, cycles, trial(plan)) {
        // Rings without bubble and datelines may lock up.
        Err(RunError::Deadlock(_)) if may_deadlock(plan) => return Ok(()),
        outcome => {
            compare(&outcome.map_err(|error| error.to_string())?, &hopsim_reference::trace(plan, cycles))?;
        }
    }
    audit(plan, 200)?;
    coverage.compare(plan)?;
    goes_on(&savable(plan)).map(|_| ())
}

#[test]
fn engine_and_reference_agree_on_every_packet() {
    let coverage = Coverage::default();
    for_each_plan((600, ORDINARY, 3), |plan, cycles| coverage.compare(plan, cycles));
    coverage.check();
}

#[test]
fn engine_and_reference_agree_in_extreme_networks() {
    let coverage = Coverage::default();
    for_each_plan((80, EXTREME, 4), |plan, cycles| coverage.compare(plan, cycles));
}

/// Fails if an outcome depends on how the run is carried out.
pub fn check_ways(plan: &Plan) -> Result<(), String> {
    let ways = [Trial::default(), Trial { threads: 2, ..Trial::default() }, trial(plan)];
    // As text, in which what is not a number equals itself.
    let outcome =
        |way| format!("{:?}", run_as(plan, &Control::default(), way).map_err(|error| error.to_string()));
    let alone = outcome(ways[0]);
    match ways[1..].iter().find(|&&way| outcome(way) != alone) {
        None => Ok(()),
        Some(&way) => Err(format!("{alone}\n{way:?}: {}", outcome(way))),
    }
}

#[test]
fn results_do_not_depend_on_cut_threads_and_order_of_mail() {
    for_each_plan((200, ORDINARY, 5), |plan, _| check_ways(plan));
}

#[test]
#[ignore = "takes minutes"]
fn results_of_many_networks_do_not_depend_on_cut_threads_and_order_of_mail() {
    for seed in 30..40 {
        for_each_plan((1_000, ORDINARY, seed), |plan, _| check_ways(plan));
    }
}

#[test]
#[ignore = "takes minutes"]
fn engine_and_reference_agree_on_many_networks() {
    let coverage = Coverage::default();
    for seed in 10..20 {
        for_each_plan((500, ORDINARY, seed), |plan, cycles| coverage.compare(plan, cycles));
        for_each_plan((100, EXTREME, seed), |plan, cycles| coverage.compare(plan, cycles));
    }
    coverage.check();
}

/// A heavily loaded network.
fn network((a, h, groups): (u32, u32, u32), router: &Value, routing: &Value) -> Plan {
    Document(json!({
        "topology": { "dragonfly": { "p": 2, "a": a, "h": h, "groups": groups } },
        "links": { "injection": { "latency": 1 }, "local": { "latency": 1 }, "global": { "latency": 3 } },
        "router": router, "routing": routing, "load": 0.9,
        "jobs": [{ "traffic": { "pattern": { "adversarial": { "offset": 1 } }, "packet_length": 4 } }],
    }))
    .plan()
    .unwrap()
}

#[test]
fn they_agree_with_several_inputs_and_outputs_of_the_crossbar_and_all_else_by_default() {
    let coverage = Coverage::default();
    let shared = json!({ "local": 40, "global": 64, "damq": { "local_reserve": 1, "global_reserve": 1 } });
    for routing in ["minimal", "ugal", "piggyback", "source_adaptive", "olm", "par"] {
        for (inputs, outputs) in [(2, 1), (1, 2), (16, 4)] {
            for buffers in [json!({}), shared.clone()] {
                let router = json!({ "cioq": {
                    "crossbar_inputs": inputs, "crossbar_outputs": outputs, "buffers": buffers,
                } });
                let plan = network((3, 2, 5), &router, &json!({ routing: {} }));
                let agreed = coverage.compare(&plan, 500).and_then(|()| audit(&plan, 300));
                agreed.unwrap_or_else(|error| panic!("{routing}, {router}: {error}"));
            }
        }
    }
}

/// A network in which the input VCs behind a port stand directly before its output VCs.
fn unplugged() -> Plan {
    let vcs = json!({ "local": 4, "global": 4, "injection": 4 });
    let buffers = json!({ "local": 12, "global": 12, "injection": 12 });
    let saturation = json!({ "factor": 0.0, "threshold": 0.4 });
    Document(json!({
        "topology": { "dragonfly": { "p": 1, "a": 1, "h": 2, "groups": 3 } },
        "links": { "global": { "latency": 5 } }, "load": 0.6,
        "router": { "input_queued": { "vcs": vcs, "buffers": buffers } },
        "routing": { "source_adaptive": { "recompute": true, "saturation": saturation } },
        "jobs": [{ "traffic": { "packet_length": 12 } }], "measure": { "watchdog": 100 },
    }))
    .plan()
    .unwrap()
}

#[test]
fn they_agree_where_they_once_did_not() {
    let coverage = Coverage::default();
    let small = json!({ "local": 16, "global": 16, "injection": 16 });
    let (cioq, queued) =
        (json!({ "cioq": {} }), json!({ "input_queued": { "buffers": small, "crossbar_latency": 40 } }));
    let ectn = |period: u32| {
        let trigger = json!({ "period": period, "message_length": period / 2, "threshold": 2, "combined_threshold": 4 });
        json!({ "olm": { "trigger": { "ectn": trigger } } })
    };
    let marks = json!({ "piggyback": { "saturation": { "factor": 1.5, "threshold": 0.5 } } });
    let inside = json!({ "source_adaptive": { "intra_group": "local", "intermediate_groups": "any" } });
    let random = json!({ "cioq": {
        "vcs": { "local": 6, "global": 6, "management": { "flexvc": { "selection": "random" } } },
        "buffers": { "local": 8, "global": 8, "injection": 8, "output": 8 },
        "speedup": 1.0, "allocator": { "iterations": 2 },
    } });
    let plans = [
        // A detour that ends where it begins, with parallel links elsewhere.
        network((2, 2, 2), &cioq, &inside),
        // Open global ports are no links.
        network((3, 3, 5), &cioq, &marks),
        // Messages on half of the local links, with and without output queues.
        network((2, 2, 5), &cioq, &ectn(1000)),
        network((2, 2, 5), &queued, &ectn(50)),
        // A second attempt in a cycle may look at another VC, and so prefer the detour.
        network((2, 2, 3), &random, &json!({ "ugal": { "path_lengths": "shortest" } })),
        // A link whose other end has a number that once meant none: its marks, and the search for deadlocks.
        unplugged(),
    ];
    for plan in plans {
        coverage.compare(&plan, 4000).unwrap();
    }
}
