//! Random fabrics: a few switches and hosts, every rule of docs/infiniband.md, flows up to saturation.

mod congestion;
mod failing;
mod flow_control;
mod lanes;
pub mod workload;

use congestion::{congestion, heard, with_lanes};
use flow_control::{flow_control, with_least_buffers};
use hopsim_infiniband::congestion::CongestionControl;
use hopsim_infiniband::fabric::{
    Arbitration, Fabric, FlowControl, HostRules, NONE, Port, SwitchRules, Switching, blocks,
};
use hopsim_infiniband::faults::Faults;
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::forwarding::Tables;
use hopsim_infiniband::paths::{Alternatives, Paths};
use hopsim_infiniband::reaction::Needs;
use hopsim_infiniband::time::{NEVER, Ticks};
use lanes::lanes;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::sync::Arc;
use workload::{Script, script};

/// A fabric, what its hosts send, and a seed.
pub type Case = (Fabric, Vec<Flow>, u64);

/// Packets at most so long \[bytes\].
const MTU: [u32; 5] = [64, 96, 128, 200, 256];

/// Flows begin by then \[ticks\].
const LAST_START: Ticks = 1000;

/// A link between two places; how long a byte takes on it and its first bit; the buffers at its ends in packets.
type Cable = (Place, Place, (Ticks, Ticks), (u32, u32));

/// Where a link ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Host(usize),
    Switch(usize),
    /// A port that nothing is plugged into.
    Nowhere,
}

/// Runs `test` on `cases` random fabrics drawn from `seed`; a failure shows the simplest one found.
pub fn for_each_fabric(cases_and_seed: (u32, u8), test: impl Fn(Case) -> Result<(), String>) {
    for_each(&cases_of_all_kinds(), cases_and_seed, test);
}

/// Runs `test` on random fabrics with congestion control, whose sources hear of what their reaction needs; nobody has messages.
pub fn for_each_fabric_that_reacts(
    cases_and_seed: (u32, u8),
    test: impl Fn((Case, Script)) -> Result<(), String>,
) {
    let cases = cases_of_all_kinds().prop_flat_map(|(fabric, flows, seed)| {
        let control = heard(fabric.mtu, fabric.hosts..fabric.ports.len() as u32);
        let script = script(fabric.hosts, fabric.mtu, false);
        (Just((fabric, flows, seed)), control, script).prop_map(|((fabric, flows, seed), control, script)| {
            let congestion = Some(with_lanes(control, fabric.lanes.count));
            ((Fabric { congestion, ..fabric }, flows, seed), script)
        })
    });
    for_each(&cases, cases_and_seed, test);
}

/// Runs `test` on random fabrics with what the workload does; in some there are flows alone, in some nothing but messages.
pub fn for_each_fabric_with_messages(
    cases_and_seed: (u32, u8),
    test: impl Fn((Case, Script)) -> Result<(), String>,
) {
    let has_flows_and_messages = select(vec![(true, true), (true, true), (true, false), (false, true)]);
    let cases = (cases_of_all_kinds(), has_flows_and_messages).prop_flat_map(
        |((fabric, mut flows, seed), (has_flows, has_messages))| {
            if !has_flows {
                flows.clear();
            }
            let script = script(fabric.hosts, fabric.mtu, has_messages);
            (Just((fabric, flows, seed)), script)
        },
    );
    for_each(&cases, cases_and_seed, test);
}

fn for_each<T: Debug>(
    all: &impl Strategy<Value = T>,
    (cases, seed): (u32, u8),
    test: impl Fn(T) -> Result<(), String>,
) {
    let mut config = Config { cases, failure_persistence: None, ..Config::default() };
    // Fewer where the environment says so.
    config.max_shrink_iters = config.max_shrink_iters.min(500);
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]));
    match runner.run(all, |case| test(case).map_err(TestCaseError::fail)) {
        Ok(()) => {}
        Err(TestError::Fail(reason, case)) => panic!("{reason}\nfabric, flows, seed, messages: {case:#?}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

/// Runs `test` on random fabrics between whose switches there are more links than are needed, and some fail, with what the workload does.
pub fn for_each_failing_fabric(
    cases_and_seed: (u32, u8),
    test: impl Fn((Case, Script)) -> Result<(), String>,
) {
    let cases = cases_of(2..=3, 1..=3).prop_flat_map(|(fabric, flows, seed)| {
        let script = script(fabric.hosts, fabric.mtu, seed.is_multiple_of(3));
        let faults = failing::faults(&fabric.first_port, &fabric.ports, fabric.hosts);
        let cases = (Just((fabric, flows, seed)), script, faults, 0..=40u64);
        cases.prop_map(|((fabric, flows, seed), script, faults, delay)| {
            let flow_control = FlowControl::Credits { delay };
            // What switches note is of packets that arrive: documents with both are refused.
            let has_notes = |control: &CongestionControl| control.reaction.needs() == Needs::Telemetry;
            let congestion = fabric.congestion.filter(|control| !has_notes(control));
            let fabric = Fabric { congestion, ..fabric };
            ((Fabric { faults, flow_control, ..fabric }, flows, seed), script)
        })
    });
    for_each(&cases, cases_and_seed, test);
}

/// Runs `test` on random fabrics between whose switches there are more links than are needed, and flows take any shortest way.
pub fn for_each_fabric_with_paths(
    cases_and_seed: (u32, u8),
    test: impl Fn((Case, Script)) -> Result<(), String>,
) {
    let cases = cases_of(2..=4, 1..=4).prop_flat_map(|(fabric, flows, seed)| {
        let paths = Some(paths(&fabric, seed));
        let script = script(fabric.hosts, fabric.mtu, seed.is_multiple_of(3));
        let case = (with_least_buffers(Fabric { paths, ..fabric }), flows, seed);
        (Just(case), script)
    });
    for_each(&cases, cases_and_seed, test);
}

/// The choice of flows among all shortest ways.
fn paths(fabric: &Fabric, seed: u64) -> Paths {
    let (first_port, ports) = (&fabric.first_port, &fabric.ports);
    let switch_of = |peer: u32| if peer == NONE { None } else { fabric.switch_of(peer) };
    let switches = first_port.len() as u32 - 1;
    let homes: Vec<u32> =
        ports[..fabric.hosts as usize].iter().map(|port| switch_of(port.peer).unwrap()).collect();
    let nearer = |to: u32, found: &mut dyn FnMut(u32, &[u32])| {
        let of = |switch: u32| first_port[switch as usize]..first_port[switch as usize + 1];
        let next = |port: u32| switch_of(ports[port as usize].peer);
        let mut far = vec![switches; switches as usize];
        far[to as usize] = 0;
        // As often as a way can be long.
        for switch in (0..switches).flat_map(|_| 0..switches) {
            let least = of(switch).filter_map(next).map(|there| far[there as usize] + 1).min();
            far[switch as usize] = far[switch as usize].min(least.unwrap_or(switches));
        }
        for switch in (0..switches).filter(|&switch| switch != to) {
            let leads =
                |&port: &u32| next(port).is_some_and(|there| far[there as usize] < far[switch as usize]);
            found(switch, &of(switch).filter(leads).collect::<Vec<u32>>());
        }
    };
    Paths::new(Arc::new(Alternatives::new(switches, &homes, nearer)), seed)
}

/// Trees of one to three switches with two to six hosts, and up to twelve flows.
pub fn cases_of_all_kinds() -> impl Strategy<Value = Case> {
    cases_of(1..=3, 0..=0)
}

/// So many switches with two to six hosts, so many links more than a tree has, and up to twelve flows.
fn cases_of(switches: RangeInclusive<usize>, more: RangeInclusive<usize>) -> impl Strategy<Value = Case> {
    (switches, 2..=6usize, more)
        .prop_flat_map(|(switches, hosts, more)| {
            let cables = cables(switches, hosts, more);
            (Just((switches, hosts, more)), cables, select(&MTU[..]), any::<u64>())
        })
        .prop_flat_map(|((switches, hosts, more), cables, mtu, seed)| {
            let ports_of_switches = hosts + 2 * (switches - 1 + more) + 1;
            let control = congestion(mtu, hosts as u32..(hosts + ports_of_switches) as u32);
            let rules = (
                host(),
                switch(mtu),
                flow_control(mtu, hosts + ports_of_switches),
                lanes(),
                proptest::option::weighted(0.9, control),
            );
            let flows = proptest::collection::vec(flow(hosts, mtu), 1..=12);
            (rules, flows).prop_map(move |((host, switch, flow_control, lanes, congestion), flows)| {
                let (first_port, ports) = ports(&cables, (switches, hosts), mtu);
                let forwarding = forwarding(&first_port, &ports, (hosts, &[]), &[]);
                let hosts = hosts as u32;
                let fabric = Fabric {
                    ticks_per_ns: 1,
                    mtu,
                    hosts,
                    first_port,
                    ports,
                    forwarding: Arc::new(Tables::Wide(forwarding)),
                    paths: None,
                    host,
                    switch,
                    flow_control,
                    congestion: congestion.map(|control| with_lanes(control, lanes.count)),
                    lanes,
                    faults: Faults::default(),
                };
                (with_least_buffers(fabric), flows, seed)
            })
        })
}

/// The links of a tree and some more in any order: hosts and the later switches hang at any switch before; some ports have no link.
fn cables(switches: usize, hosts: usize, more: usize) -> impl Strategy<Value = Vec<Cable>> {
    let at_host = (0..hosts).map(|host| (Just(Place::Host(host)), 0..switches).boxed());
    let between = (1..switches).map(|switch| (Just(Place::Switch(switch)), 0..switch).boxed());
    let empty = (Just(Place::Nowhere), 0..switches).boxed();
    let others = (0..more).map(|number| 1 + number % switches.saturating_sub(1).max(1));
    let others = others.map(|switch| (Just(Place::Switch(switch)), 0..switch).boxed());
    let ends: Vec<_> = at_host.chain(between).chain([empty]).chain(others).collect();
    let rates = proptest::collection::vec(((1..=5u64, 1..=40u64), (1..=4u32, 1..=4u32)), ends.len());
    (ends, rates)
        .prop_map(|(ends, rates)| {
            let cable = |((place, switch), (rate, buffers))| (Place::Switch(switch), place, rate, buffers);
            ends.into_iter().zip(rates).map(cable).collect::<Vec<Cable>>()
        })
        .prop_shuffle()
}

/// The first ports of the switches, and all ports; those of a switch are in the order of its cables.
fn ports(cables: &[Cable], (switches, hosts): (usize, usize), mtu: u32) -> (Vec<u32>, Vec<Port>) {
    let ends = |place| {
        let of_place = move |&number: &usize| cables[number].0 == place || cables[number].1 == place;
        (0..cables.len()).filter(of_place)
    };
    let mut first_port = vec![hosts as u32];
    for switch in 0..switches {
        first_port.push(first_port[switch] + ends(Place::Switch(switch)).count() as u32);
    }
    let port_at = |place, number: usize| match place {
        Place::Nowhere => NONE,
        Place::Host(host) => host as u32,
        Place::Switch(switch) => {
            first_port[switch] + ends(place).position(|each| each == number).unwrap() as u32
        }
    };
    let nothing = Port { peer: NONE, byte: 1, delay: 1, buffer: 0 };
    let mut ports = vec![nothing; first_port[switches] as usize];
    for (number, cable) in cables.iter().enumerate() {
        let (byte, delay) = cable.2;
        let [a, b] = [port_at(cable.0, number), port_at(cable.1, number)];
        // A buffer holds the longest packets, and perhaps part of one more.
        let port = |peer, packets| Port { peer, byte, delay, buffer: blocks(mtu) * packets + packets / 2 };
        ports[a as usize] = port(b, cable.3.0);
        if b != NONE {
            ports[b as usize] = port(a, cable.3.1);
        }
    }
    (first_port, ports)
}

/// The output of every switch for every host: the first one behind which the host is nearest, by links that are not out of order. Where there
/// is no way it is what it was before.
fn forwarding(first_port: &[u32], ports: &[Port], (hosts, out): (usize, &[u32]), before: &[u16]) -> Vec<u16> {
    let switches = first_port.len() - 1;
    let switch_of = |port: u32| first_port.iter().position(|&first| first > port).unwrap().checked_sub(1);
    let mut outputs = vec![0; switches * hosts];
    for host in 0..hosts {
        let home = switch_of(ports[host].peer).unwrap();
        let mut far = vec![u32::MAX - 1; switches];
        far[home] = 0;
        // As often as a way can be long.
        for _ in 0..switches {
            for (port, at) in (first_port[0]..).zip(&ports[first_port[0] as usize..]) {
                let peer = (at.peer != NONE).then(|| switch_of(at.peer)).flatten();
                if let Some(peer) = peer.filter(|_| !out.contains(&port)) {
                    let here = switch_of(port).unwrap();
                    far[here] = far[here].min(far[peer] + 1);
                }
            }
        }
        for switch in 0..switches {
            let leads = |port: &u32| {
                let peer = ports[*port as usize].peer;
                let nearer = |other: usize| far[switch] < u32::MAX - 1 && far[other] + 1 == far[switch];
                peer == host as u32
                    || peer != NONE && !out.contains(port) && switch_of(peer).is_some_and(nearer)
            };
            let entry = switch * hosts + host;
            let output = (first_port[switch]..first_port[switch + 1]).find(leads);
            outputs[entry] = output.map_or_else(|| before[entry], |port| (port - first_port[switch]) as u16);
        }
    }
    outputs
}

fn host() -> impl Strategy<Value = HostRules> {
    (1..=5u64, 1..=5u64, select(vec![0, 0, 1, 300])).prop_map(|(injection, drain, start_jitter)| HostRules {
        injection,
        drain,
        start_jitter,
    })
}

fn switch(mtu: u32) -> impl Strategy<Value = SwitchRules> {
    let buffer = blocks(mtu)..=3 * blocks(mtu);
    let arbitration = select(vec![Arbitration::RoundRobin, Arbitration::FirstCome]);
    let switching = select(vec![Switching::CutThrough, Switching::CutThrough, Switching::StoreAndForward]);
    (0..=40u64, 0..=40u64, 1..=5u64, buffer, 1..=3u32, arbitration, switching).prop_map(|rules| {
        let (
            input_latency,
            output_latency,
            crossbar,
            output_buffer,
            transfers_per_input,
            arbitration,
            switching,
        ) = rules;
        SwitchRules {
            input_latency,
            output_latency,
            crossbar,
            output_buffer,
            transfers_per_input,
            arbitration,
            switching,
        }
    })
}

/// A flow between two hosts. Most want all they can get; the destination is often host 0, where they meet.
fn flow(hosts: usize, mtu: u32) -> impl Strategy<Value = Flow> {
    let pair = (0..hosts as u32, prop_oneof![2 => Just(0), 1 => 0..hosts as u32], 1..hosts as u32);
    let end = prop_oneof![5 => Just(NEVER), 1 => 0..5 * LAST_START];
    let bytes = prop_oneof![5 => Just(None), 1 => (0..20 * u64::from(mtu)).prop_map(Some)];
    let byte = prop_oneof![2 => Just(0), 1 => 1..=12u64];
    (pair, 0..LAST_START, end, bytes, byte, 0..16u8).prop_map(
        move |((source, destination, other), start, end, bytes, byte, service_level)| {
            let destination =
                if source == destination { (source + other) % hosts as u32 } else { destination };
            Flow { source, destination, start, end, bytes, byte, service_level }
        },
    )
}
