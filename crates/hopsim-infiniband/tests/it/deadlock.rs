//! Packets that wait for each other.

use crate::small::fabric;
use hopsim_infiniband::engine::Simulation;
use hopsim_infiniband::fabric::{Fabric, Port};
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::forwarding::Tables;
use hopsim_infiniband::observer::Unobserved;
use hopsim_infiniband::time::Ticks;
use std::sync::Arc;

/// A ring of four switches with a host each, in which packets go clockwise.
fn ring() -> Fabric {
    let one = fabric(&[4], None);
    let hosts = 4;
    // Ports of switch s: its host, clockwise, anticlockwise.
    let port = |switch: u32, port: u32| hosts + 3 * (switch % 4) + port;
    let like = |peer, buffer| Port { peer, buffer, ..one.ports[0] };
    let mut ports: Vec<Port> = (0..hosts).map(|host| like(port(host, 0), 64)).collect();
    for switch in 0..4 {
        ports.extend([like(switch, 64), like(port(switch + 1, 2), 64), like(port(switch + 3, 1), 64)]);
    }
    let forwarding = (0..4).flat_map(|switch| (0..4).map(move |host| u8::from(host != switch))).collect();
    Fabric {
        first_port: (0..5).map(|switch| hosts + 3 * switch).collect(),
        ports,
        forwarding: Arc::new(Tables::Narrow(forwarding)),
        ..one
    }
}

fn flows(hops: u32) -> Vec<Flow> {
    let flow = |source| Flow {
        source,
        destination: (source + hops) % 4,
        start: 0,
        end: Ticks::MAX,
        bytes: None,
        byte: 0,
        service_level: 0,
    };
    (0..4).map(flow).collect()
}

#[test]
fn a_circle_of_waiting_packets_is_found_and_told() {
    let (ring, flows) = (ring(), flows(3));
    let mut simulation = Simulation::new(&ring, &flows, 1, Unobserved);
    simulation.advance(1 << 30);
    let hops = simulation.packet_hops();
    let deadlock = simulation.find_deadlock().expect("nobody leaves a bubble");
    simulation.advance(1 << 31);
    assert_eq!(hops, simulation.packet_hops());
    assert_eq!(deadlock.circle.len(), 4);
    assert!(deadlock.to_string().contains("switch 2: input 2 to output 1, VL 0: from node"), "{deadlock}");
}

#[test]
fn packets_that_only_wait_long_are_no_deadlock() {
    // One link each: nobody waits for a ring.
    let (ring, flows) = (ring(), flows(1));
    let mut simulation = Simulation::new(&ring, &flows, 1, Unobserved);
    for step in 1..200 {
        simulation.advance(step << 20);
        assert_eq!(simulation.find_deadlock(), None);
    }
}
