//! What the reference must satisfy whatever the engine does.

use crate::documents::{Document, ORDINARY, for_each_plan};
use hopsim_cycles::choices::{Consumption, OutputHold};
use hopsim_cycles::jobs::JobPlan;
use hopsim_experiment::plan::Plan;
use hopsim_measure::trace::PacketTrace;
use hopsim_network::topology::PortClass;
use hopsim_reference::{Simulator, trace};
use hopsim_traffic::pattern::{Pattern, Site, Targets};
use serde_json::json;
use std::cell::Cell;
use std::collections::BTreeMap;

#[test]
fn phits_are_conserved_and_buffers_hold_what_they_can() {
    for_each_plan((60, ORDINARY, 1), |plan, cycles| {
        let mut simulator = Simulator::new(plan);
        for _ in 0..cycles.min(1000) {
            simulator.step();
            simulator.audit();
        }
        hopsim_core::engine::audit(plan, cycles.min(200))
    });
}

fn length(plan: &Plan, packet: &PacketTrace) -> u32 {
    let job = plan.system.traffic(plan.system.job_of[packet.source as usize].into());
    job.lengths.draw(packet.source, packet.serial)
}

/// A packet granted an output: when, when it left (if the trace still tells), how long the link takes for it.
type Passage = (u32, Option<u32>, u32);

/// What passed every router and port.
fn passages(plan: &Plan, traces: &[PacketTrace]) -> BTreeMap<(u32, u16), Vec<Passage>> {
    let mut by_port: BTreeMap<(u32, u16), Vec<Passage>> = BTreeMap::new();
    for packet in traces {
        for (index, hop) in packet.hops.iter().enumerate() {
            let next = packet.hops.get(index + 1);
            let (link, length) =
                (plan.system.network.link(hop.router, hop.port as usize), length(plan, packet));
            let cycles = length * link.cycles_per_phit;
            let left = next.map(|n| n.arrived + length - cycles - link.latency).or(packet.delivered);
            by_port.entry((hop.router, hop.port)).or_default().push((hop.granted, left, cycles));
        }
    }
    by_port
}

#[test]
fn a_packet_departs_when_it_has_crossed_and_the_one_before_has_left() {
    for_each_plan((60, ORDINARY, 2), |plan, cycles| {
        if plan.system.routing.sensors().exchange.is_some_and(|exchange| exchange.message_length > 0) {
            // Messages leave between the packets.
            return Ok(());
        }
        let parallel = plan.system.cioq().consumption == Consumption::Parallel;
        for ((router, port), mut packets) in passages(plan, &trace(plan, cycles.min(1000))) {
            // Packets that are granted a port in the same cycle leave one after the other.
            packets.sort_unstable_by_key(|&(granted, left, _)| (granted, left.unwrap_or(u32::MAX)));
            let alone = !(parallel && plan.system.topology.ports()[port as usize] == PortClass::Terminal);
            // Whose departure the trace does not tell may have been any of those that were granted in the same cycle.
            let is_untold =
                |cycle: u32| packets.iter().any(|&(granted, left, _)| granted == cycle && left.is_none());
            let mut free = 0;
            for &(granted, left, cycles) in &packets {
                let expected = free.max(granted + plan.system.cioq().crossbar_latency);
                if !is_untold(granted) && left.is_some_and(|left| left != expected) {
                    return Err(format!(
                        "router {router} port {port}: granted {granted}, left {left:?}, not {expected}"
                    ));
                }
                // A node that takes packets from all VCs at once takes each as soon as it has crossed.
                free = if alone { expected + cycles } else { 0 };
            }
        }
        Ok(())
    });
}

/// The most of some intervals that overlap in a cycle.
fn most_at_once(intervals: &[(u32, u32)]) -> usize {
    let at = |cycle: u32| intervals.iter().filter(|&&(from, to)| from <= cycle && cycle < to).count();
    intervals.iter().map(|&(from, _)| at(from)).max().unwrap_or(0)
}

/// When packets cross from every input port (router, port, number of its input of the crossbar) and to every output port that leads to a
/// link. Where packets are injected is not known, and not looked at.
type Crossings = BTreeMap<(u32, u16, u32), Vec<(u32, u32)>>;

fn crossings(plan: &Plan, traces: &[PacketTrace]) -> (Crossings, Crossings) {
    let (mut inputs, mut outputs) = (Crossings::new(), Crossings::new());
    let number = plan.experiment.router.crossbar_inputs().number();
    let parallel = plan.system.cioq().consumption == Consumption::Parallel;
    for packet in traces {
        let length = length(plan, packet);
        for (index, hop) in packet.hops.iter().enumerate() {
            let crossing = plan.system.cioq().crossing[length as usize];
            let busy = crossing.max((hop.arrived + length).saturating_sub(hop.granted));
            let interval = (hop.granted, hop.granted + busy);
            let ejected = plan.system.topology.ports()[usize::from(hop.port)] == PortClass::Terminal;
            if !ejected {
                outputs.entry((hop.router, hop.port, 0)).or_default().push(interval);
            }
            let before = index.checked_sub(1).map(|before| &packet.hops[before]);
            if let Some(before) = before.filter(|_| !(ejected && parallel)) {
                let peer = plan.system.network.link(before.router, before.port.into()).peer;
                let (router, port) = peer.expect("a packet has come by a link");
                let input = (router, port as u16, u32::from(before.vc) % number);
                inputs.entry(input).or_default().push(interval);
            }
        }
    }
    (inputs, outputs)
}

#[test]
fn as_many_packets_cross_at_once_as_ports_have_inputs_and_outputs_of_the_crossbar() {
    let (together, apart) = (Cell::new(0), Cell::new(0));
    for_each_plan((120, ORDINARY, 7), |plan, cycles| {
        if plan.system.cioq().output_hold == OutputHold::Speedup {
            return Ok(());
        }
        let (inputs, outputs) = crossings(plan, &trace(plan, cycles.min(1000)));
        let most = |crossings: &Crossings| crossings.values().map(|all| most_at_once(all)).max().unwrap_or(0);
        if most(&inputs) > 1 || most(&outputs) > plan.system.cioq().crossbar_outputs.into() {
            return Err(format!("{} cross from an input, {} to an output", most(&inputs), most(&outputs)));
        }
        let mut ports: BTreeMap<(u32, u16), Vec<(u32, u32)>> = BTreeMap::new();
        for (&(router, port, _), all) in &inputs {
            ports.entry((router, port)).or_default().extend(all);
        }
        together.set(together.get() + u32::from(most(&outputs) > 1));
        apart.set(apart.get() + u32::from(ports.values().any(|all| most_at_once(all) > 1)));
        Ok(())
    });
    assert!(together.get() > 3 && apart.get() > 3, "{} {}", together.get(), apart.get());
}

/// One packet at a time between the two nodes of a job of their own.
fn lonely(from: u32, to: u32, router: &serde_json::Value) -> Plan {
    let traffic = json!({ "process": { "bernoulli": { "load": 0.5 } }, "packet_length": 5 });
    Document(json!({
        "topology": { "dragonfly": { "p": 2, "a": 3, "h": 1 } },
        "links": { "injection": { "latency": 2 }, "local": { "latency": 7 }, "global": { "latency": 11 } },
        "router": router,
        "jobs": [{ "placement": { "list": [from, to] }, "traffic": traffic }],
    }))
    .plan()
    .unwrap()
}

#[test]
fn zero_load_latency_is_the_sum_of_its_parts() {
    let cioq = |crossbar, speedup| json!({ "cioq": { "crossbar_latency": crossbar, "speedup": speedup } });
    let pipelined = json!({ "cioq": { "crossbar_latency": 3, "pipeline_latency": 2 } });
    for (router, per_router) in
        [(cioq(3, 2.0), 3), (cioq(0, 1.3), 0), (pipelined, 5), (json!({ "input_queued": {} }), 0)]
    {
        for from in 0..24u32 {
            for to in (from + 1)..24 {
                let plan = lonely(from, to, &router);
                let [local, global] = plan.system.topology.minimal_hops(from / 2, to / 2).map(u32::from);
                let expected = 2 + (local + global + 1) * per_router + local * 7 + global * 11 + 5;
                let traces = trace(&plan, 300);
                let first: Vec<&PacketTrace> = traces.iter().filter(|t| t.serial == 0).collect();
                assert_eq!(first.len(), 2);
                for packet in first {
                    let measured = packet.delivered.unwrap() - packet.generated + 5;
                    assert_eq!(measured, expected, "{router}: {packet:?}");
                }
            }
        }
    }
}

/// A node of each router on the way of the only path l-g-l to node 0, nearest first; the first is a neighbour
/// on node 0's own router.
fn parking_lot(plan: &Plan) -> Vec<u32> {
    let topology = &plan.system.topology;
    let farthest = (0..topology.routers()).find(|&r| topology.minimal_hops(r, 0) == [2, 1]).unwrap();
    let mut routers = vec![farthest];
    while routers[0] != 0 {
        let (port, _) = topology.minimal_port(routers[0], 0, 0);
        routers.insert(0, topology.neighbour(routers[0], port).unwrap().0);
    }
    routers.iter().map(|router| router * 2 + 1).collect()
}

#[test]
fn a_parking_lot_with_round_robin_halves_the_share_at_every_merge() {
    for router in [json!({ "cioq": {} }), json!({ "input_queued": {} })] {
        let traffic = json!({ "process": { "bernoulli": { "load": 1.0 } }, "packet_length": 4 });
        let document = |nodes: &[u32]| {
            Document(json!({
                "topology": { "dragonfly": { "p": 2, "a": 2, "h": 1 } },
                "links": { "local": { "latency": 2 }, "global": { "latency": 3 } }, "router": router,
                "jobs": [{ "placement": { "list": nodes }, "traffic": traffic }],
            }))
            .plan()
            .unwrap()
        };
        let sources = parking_lot(&document(&[0, 1]));
        let mut nodes = sources.clone();
        nodes.insert(0, 0);
        nodes.sort_unstable();
        let mut plan = document(&nodes);
        let site = Site { topology: &plan.system.topology, nodes: &nodes, seed: 1, job: 0, to_itself: false };
        let is_exit = |node: u32| u32::from(node == 0);
        let targets = Targets::new(&site, 2, is_exit, |part| vec![1 - part]).unwrap();
        let JobPlan::Traffic(job) = &mut plan.system.jobs[0] else { unreachable!("it has traffic") };
        job.pattern = Pattern::Targets(targets);

        let traces = trace(&plan, 8000);
        let arrived = |t: &&PacketTrace| t.destination == 0 && t.delivered.is_some_and(|d| d >= 2000);
        let total = traces.iter().filter(arrived).count() as f64;
        let share = |node| traces.iter().filter(arrived).filter(|t| t.source == node).count() as f64 / total;
        let shares: Vec<f64> = sources.iter().map(|&node| share(node)).collect();
        for (share, expected) in shares.iter().zip([0.5, 0.25, 0.125, 0.125]) {
            assert!((share - expected).abs() < 0.01, "{router}: {shares:?}");
        }
    }
}
