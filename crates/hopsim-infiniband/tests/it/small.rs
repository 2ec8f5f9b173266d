//! Fabrics of one and two switches, as in Gran et al. 2011, figures 2 and 8.

use hopsim_infiniband::congestion::{
    CongestionControl, Level, MarkPoint, Marking, Notification, PortRules, ThresholdMode, VictimMask,
};
use hopsim_infiniband::engine::Simulation;
use hopsim_infiniband::fabric::{
    Arbitration, Fabric, FlowControl, HostRules, NONE, Port, SwitchRules, Switching,
};
use hopsim_infiniband::faults::Faults;
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::forwarding::Tables;
use hopsim_infiniband::lanes::Lanes;
use hopsim_infiniband::observer::{Observer, Sent};
use hopsim_infiniband::reaction::Reaction;
use hopsim_infiniband::reaction::table::{Delay, Table, Timer};
use hopsim_infiniband::time::Ticks;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Ticks of a nanosecond: a byte takes 8/13 ns, 1/2 ns, 1/4 ns and 1/6 ns.
const NS: Ticks = 156;
const MS: Ticks = 1_000_000 * NS;

/// Hosts on each switch; two switches are joined by a link.
pub fn fabric(hosts: &[u32], congestion: Option<CongestionControl>) -> Fabric {
    let count: u32 = hosts.iter().sum();
    let (host_link, trunk) = (NS / 2, NS / 4);
    let mut ports = Vec::new();
    let mut first_port = vec![count];
    let mut forwarding = Vec::new();
    let port = |peer, byte, buffer| Port { peer, byte, delay: 50 * NS, buffer };
    let joined = hosts.len() > 1;
    for &here in hosts {
        let first = first_port[first_port.len() - 1];
        ports.extend((0..here).map(|local| port(first + local, host_link, 256)));
        first_port.push(first + here + u32::from(joined));
    }
    let mut host = 0;
    for (switch, &here) in hosts.iter().enumerate() {
        ports.extend((host..host + here).map(|host| port(host, host_link, 1024)));
        if joined {
            let other = 1 - switch;
            ports.push(port(first_port[other] + hosts[other], trunk, 2048));
        }
        forwarding.extend(
            (0..count).map(
                |to| {
                    if (host..host + here).contains(&to) { (to - host) as u16 } else { here as u16 }
                },
            ),
        );
        host += here;
    }
    assert!(ports.iter().all(|port| port.peer != NONE));
    Fabric {
        ticks_per_ns: NS,
        mtu: 2048,
        hosts: count,
        first_port,
        ports,
        forwarding: Arc::new(Tables::Wide(forwarding)),
        paths: None,
        host: HostRules { injection: 8 * NS / 13, drain: 8 * NS / 13, start_jitter: 1000 * NS },
        switch: SwitchRules {
            input_latency: 50 * NS,
            output_latency: 50 * NS,
            crossbar: NS / 6,
            output_buffer: 78,
            transfers_per_input: 3,
            arbitration: Arbitration::RoundRobin,
            switching: Switching::StoreAndForward,
        },
        flow_control: FlowControl::Credits { delay: 50 * NS },
        lanes: Lanes::one(),
        congestion,
        faults: Faults::default(),
    }
}

/// Congestion control as in figure 7, with these thresholds \[bytes\].
pub fn control(high: u64, low: u64) -> CongestionControl {
    let multiplier = |i: u32| (f64::from(7 * i * i) / (106.0 * 106.0 * 0.218)) as u16;
    CongestionControl {
        mode: ThresholdMode::PerVoq,
        rules: PortRules { high, low, victim_mask: VictimMask::Hosts, marking_rate: 1, packet_size: 0 },
        exceptions: BTreeMap::new(),
        mark_point: MarkPoint::Wire,
        marking: Marking::Random,
        notification: Notification::Packets { interval: 0 },
        answer_lane: None,
        level: Level::QueuePair,
        reaction: Reaction::Table(Table {
            timer: Timer::Free,
            period: 150 * 1024 * NS,
            increase: 1,
            limit: 127,
            minimum: 0,
            entries: (0..128).map(|i| Delay { shift: 3, multiplier: multiplier(i) }).collect(),
        }),
    }
}

/// The five flows, one more every `stage` milliseconds.
pub fn flows(stage: u64) -> Vec<Flow> {
    let pairs = [(0, 3), (1, 4), (2, 4), (5, 4), (6, 4)];
    (0..)
        .zip(pairs)
        .map(|(number, (source, destination))| Flow {
            source,
            destination,
            start: number * stage * MS,
            end: Ticks::MAX,
            bytes: None,
            byte: 0,
            service_level: 0,
        })
        .collect()
}

/// Counts what happens, and adds up when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Bytes delivered, by flow.
    pub bytes: Vec<u64>,
    /// Packets that got a mark.
    pub marked: u64,
    /// A digest of every grant and delivery.
    pub digest: u64,
}

impl Facts {
    fn new(flows: usize) -> Self {
        Self { bytes: vec![0; flows], ..Self::default() }
    }

    fn add(&mut self, at: Ticks, packet: Sent, place: u32) {
        for word in [at, packet.flow.into(), packet.number.into(), packet.bytes.into(), place.into()] {
            self.digest = (self.digest ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        }
    }
}

impl Observer for Facts {
    fn granted(&mut self, at: Ticks, packet: Sent, _: u32, output: u32) {
        self.add(at, packet, output);
    }

    fn marked(&mut self, _: Ticks, _: Sent, _: u32) {
        self.marked += 1;
    }

    fn delivered(&mut self, at: Ticks, packet: Sent, _: Ticks, _: bool) {
        self.add(at, packet, NONE);
        if !packet.is_notification {
            self.bytes[packet.flow as usize] += u64::from(packet.bytes);
        }
    }
}

/// Rates of the flows in the second half of every stage \[Gb/s\].
pub fn rates(fabric: &Fabric, stage: u64, seed: u64) -> Vec<Vec<f64>> {
    let flows = flows(stage);
    let mut simulation = Simulation::new(fabric, &flows, seed, Facts::new(flows.len()));
    let half = stage * MS / 2;
    let mut rates = Vec::new();
    for number in 0..flows.len() as u64 {
        simulation.advance((2 * number + 1) * half);
        simulation.observer().bytes.fill(0);
        simulation.advance((2 * number + 2) * half);
        let ns = half as f64 / NS as f64;
        rates.push(simulation.observer().bytes.iter().map(|&bytes| bytes as f64 * 8.0 / ns).collect());
    }
    rates
}

/// What happens in the five stages.
pub fn facts(fabric: &Fabric, stage: u64, seed: u64) -> Facts {
    facts_of(fabric, &flows(stage), 5 * stage, seed)
}

/// What happens with some flows in so many milliseconds.
pub fn facts_of(fabric: &Fabric, flows: &[Flow], milliseconds: u64, seed: u64) -> Facts {
    let mut simulation = Simulation::new(fabric, flows, seed, Facts::new(flows.len()));
    simulation.advance(milliseconds * MS);
    simulation.observer().clone()
}
