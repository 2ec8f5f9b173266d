//! Small fabrics whose times and shares follow from the rules by hand.

use hopsim_infiniband::fabric::{
    Arbitration, Fabric, FlowControl, HostRules, NONE, Port, SwitchRules, Switching,
};
use hopsim_infiniband::faults::{Change, Faults, What};
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::forwarding::Tables;
use hopsim_infiniband::lanes::Lanes;
use hopsim_infiniband::observer::Sent;
use hopsim_infiniband::time::{NEVER, Ticks};
use hopsim_infiniband_reference::{Fact, run};
use std::sync::Arc;

/// One switch with hosts at its ports, of which host h is at port h; bytes take `byte` ticks on the links of every host.
pub fn star(byte: &[Ticks]) -> Fabric {
    let hosts = byte.len() as u32;
    let port = |peer: u32| Port { peer, byte: byte[(peer % hosts) as usize], delay: 10, buffer: 16 };
    Fabric {
        ticks_per_ns: 1,
        mtu: 256,
        hosts,
        first_port: vec![hosts, 2 * hosts],
        ports: (hosts..2 * hosts).chain(0..hosts).map(port).collect(),
        forwarding: Arc::new(Tables::Wide((0..hosts as u16).collect())),
        paths: None,
        host: HostRules { injection: 1, drain: 1, start_jitter: 0 },
        switch: SwitchRules {
            input_latency: 5,
            output_latency: 7,
            crossbar: 1,
            output_buffer: 8,
            transfers_per_input: 1,
            arbitration: Arbitration::RoundRobin,
            switching: Switching::CutThrough,
        },
        flow_control: FlowControl::Credits { delay: 4 },
        lanes: Lanes::one(),
        congestion: None,
        faults: Faults::default(),
    }
}

/// An endless flow from time 0 on.
pub fn flow(source: u32, destination: u32) -> Flow {
    Flow { source, destination, start: 0, end: NEVER, bytes: None, byte: 0, service_level: 0 }
}

/// When data packets of flow 0 were sent, granted (by the first switch they meet) and delivered.
fn times(facts: &[Fact]) -> [Vec<Ticks>; 3] {
    let mut times = [const { Vec::new() }; 3];
    for fact in facts {
        match *fact {
            Fact::Sent { at, .. } => times[0].push(at),
            Fact::Granted { at, .. } => times[1].push(at),
            Fact::Delivered { at, .. } => times[2].push(at),
            Fact::OnLink { .. }
            | Fact::Stalled { .. }
            | Fact::Frame { .. }
            | Fact::Paused { .. }
            | Fact::Marked { .. }
            | Fact::Posted { .. }
            | Fact::Lost { .. }
            | Fact::Message { .. }
            | Fact::MessageLost { .. } => {}
        }
    }
    times
}

/// What was delivered of each flow by `until` \[bytes\].
pub fn delivered(fabric: &Fabric, flows: &[Flow], until: Ticks) -> Vec<u64> {
    let mut bytes = vec![0; flows.len()];
    for fact in run(fabric, flows, 1, until) {
        if let Fact::Delivered { packet: Sent { flow, bytes: length, is_notification: false, .. }, .. } = fact
        {
            bytes[flow as usize] += u64::from(length);
        }
    }
    bytes
}

#[test]
fn a_packet_alone_between_links_of_one_speed() {
    // A packet of 256 bytes is on each link for 512 ticks. Sent at 0; its head is at the switch at 0 + 10, may be granted from
    // 10 + 5 = 15 on, and is; its tail is there at 10 + 512 = 522. It could have crossed at 15 + 256, so the transfer ends at
    // 522. Its head leaves at max(15 + 7, 522 + 7 - 512 = 17) = 22, is at the host at 32, its tail at 544. Draining at the speed
    // of the link begins at once and ends with the tail.
    let mut fabric = star(&[2, 2]);
    fabric.host.drain = 2;
    let message = Flow { bytes: Some(256), ..flow(0, 1) };
    assert_eq!(times(&run(&fabric, &[message], 1, 2000)), [vec![0], vec![15], vec![544]]);
    // A slow drain takes 256 * 3 = 768 ticks from the head on, at 32; a fast one 256 and ends at the tail all the same.
    fabric.host.drain = 3;
    assert_eq!(times(&run(&fabric, &[message], 1, 2000))[2], [800]);
    fabric.host.drain = 1;
    assert_eq!(times(&run(&fabric, &[message], 1, 2000))[2], [544]);
}

#[test]
fn a_packet_alone_from_a_slow_to_a_fast_link_and_back() {
    // As before up to the switch: granted at 15, the transfer ends at 522. On a link where it takes 256 ticks its head leaves at
    // 522 + 7 - 256 = 273, its tail is at the host at 273 + 10 + 256 = 539, where a drain of 256 ticks ends.
    let message = |source| Flow { bytes: Some(256), ..flow(source, 1 - source) };
    assert_eq!(times(&run(&star(&[2, 1]), &[message(0)], 1, 2000)), [vec![0], vec![15], vec![539]]);
    // From the fast to the slow one: the transfer ends at max(15 + 256, 10 + 256) = 271, the head leaves at 15 + 7 = 22, the
    // tail is at the host at 22 + 10 + 512 = 544.
    assert_eq!(times(&run(&star(&[2, 1]), &[message(1)], 1, 2000)), [vec![0], vec![15], vec![544]]);
}

#[test]
fn a_packet_is_stored_before_it_is_forwarded() {
    // The transfer ends at 522, 7 later the head leaves, which is at the host at 529 + 10, its tail at 539 + 512 = 1051.
    let mut fabric = star(&[2, 2]);
    fabric.switch.switching = Switching::StoreAndForward;
    let message = Flow { bytes: Some(256), ..flow(0, 1) };
    assert_eq!(times(&run(&fabric, &[message], 1, 2000)), [vec![0], vec![15], vec![1051]]);
}

#[test]
fn the_crossbar_the_bus_and_the_rate_each_hold_a_flow_up() {
    // A crossbar of 3 ticks a byte: the transfer ends at 15 + 768 = 783; on links of 2 ticks a byte the head leaves at
    // 783 + 7 - 512 = 278 and the tail is at the host at 278 + 10 + 512 = 800. The next packet is sent when the link is free,
    // at 512, and granted when the output is, at 783; the one after that at 1551.
    let mut fabric = star(&[2, 2]);
    fabric.switch.crossbar = 3;
    let [_, granted, delivered] = times(&run(&fabric, &[flow(0, 1)], 1, 1600));
    assert_eq!((granted, delivered), (vec![15, 783, 1551], vec![800, 1568]));
    let mut fabric = star(&[2, 2]);
    fabric.host.injection = 3;
    assert_eq!(times(&run(&fabric, &[flow(0, 1)], 1, 1600))[0], [0, 768, 1536]);
    let fabric = star(&[2, 2]);
    assert_eq!(times(&run(&fabric, &[Flow { byte: 5, ..flow(0, 1) }], 1, 2600))[0], [0, 1280, 2560]);
}

#[test]
fn a_sender_waits_for_credits() {
    // The buffer of the switch holds one packet of 4 blocks. It leaves at the end of the transfer, at 522; the credit is back
    // 10 + 4 later, at 536, when the next packet starts: one every 536 ticks instead of 512.
    let mut fabric = star(&[2, 2]);
    fabric.ports[2].buffer = 7;
    assert_eq!(times(&run(&fabric, &[flow(0, 1)], 1, 1610))[0], [0, 536, 1072, 1608]);
}

#[test]
fn nothing_starts_at_the_end_of_a_flow_or_later() {
    let starts =
        |fabric: &Fabric, end| times(&run(fabric, &[Flow { end, ..flow(0, 1) }], 1, 3000))[0].clone();
    let mut fabric = star(&[2, 2]);
    assert_eq!(starts(&fabric, 1024), [0, 512]);
    assert_eq!(starts(&fabric, 1025), [0, 512, 1024]);
    // One that waits for a credit, which comes at 536, when it ends.
    fabric.ports[2].buffer = 4;
    assert_eq!(starts(&fabric, 530), [0]);
}

#[test]
fn a_packet_and_a_rest() {
    // 300 bytes are a packet of 256 and one of 44, which starts when the link is free at 512. It arrives at 522, may be granted at
    // 527, when the output has been free for 5 ticks. Its tail comes at 522 + 88 = 610, its head leaves at
    // max(527 + 7, 610 + 7 - 88, 22 + 512) = 534 and its tail is at the host at 534 + 10 + 88 = 632.
    let facts = run(&star(&[2, 2]), &[Flow { bytes: Some(300), ..flow(0, 1) }], 1, 2000);
    assert_eq!(times(&facts), [vec![0, 512], vec![15, 527], vec![544, 632]]);
}

#[test]
fn flows_to_one_host_share_its_link_evenly() {
    let until = 200 * 256;
    for senders in 2..=4 {
        let flows: Vec<Flow> = (1..=senders).map(|source| flow(source, 0)).collect();
        let bytes = delivered(&star(&[1; 5]), &flows, until);
        let share = until / u64::from(senders);
        // Up to a packet, and what is on its way.
        assert!(bytes.iter().all(|&got| got.abs_diff(share) <= 2 * 256), "{bytes:?} of {until}");
    }
}

#[test]
fn a_parking_lot_gives_the_hosts_at_the_last_switch_more() {
    // Hosts 0 and 1 at the first switch; host 2, which sends, and host 3, for which everything is, at the second.
    let mut fabric = star(&[1; 4]);
    let port = |peer| Port { peer, byte: 1, delay: 10, buffer: 16 };
    fabric.first_port = vec![4, 7, 10];
    fabric.ports = [4, 5, 7, 8, 0, 1, 9, 2, 3, 6].map(port).to_vec();
    fabric.forwarding = Arc::new(Tables::Narrow(vec![0, 1, 2, 2, 2, 2, 0, 1]));
    let until = 400 * 256;
    let bytes = delivered(&fabric, &[flow(0, 3), flow(1, 3), flow(2, 3)], until);
    for (got, part) in bytes.iter().zip([4, 4, 2]) {
        assert!(got.abs_diff(until / part) <= 3 * 256, "{bytes:?} of {until}");
    }
}

#[test]
fn first_come_serves_the_packet_that_came_first() {
    // Flow 0 has a packet from every 256 ticks on in its buffer, flow 1 sends its first one at 600: it arrives at 610. With
    // round robin it is next; first come, first served lets those pass that are there already. The output needs 256 * 4 ticks a packet.
    let mut fabric = star(&[1, 1, 4]);
    fabric.host.drain = 4;
    fabric.switch.output_buffer = 4;
    let flows = [flow(0, 2), Flow { start: 600, ..flow(1, 2) }];
    let order = |fabric: &Fabric, flows: &[Flow]| -> Vec<u32> {
        let granted = |fact| if let Fact::Granted { packet, .. } = fact { Some(packet.flow) } else { None };
        run(fabric, flows, 1, 8000).into_iter().filter_map(granted).take(6).collect()
    };
    assert_eq!(order(&fabric, &flows), [0, 1, 0, 1, 0, 1]);
    fabric.switch.arbitration = Arbitration::FirstCome;
    // Packets of flow 0 came at 10, 266, 522, 778 (the buffer is full then), of flow 1 at 610, 866, 1122.
    assert_eq!(order(&fabric, &flows), [0, 0, 0, 1, 0, 1]);
    // Of those that came at the same time that of the lowest input is first.
    assert_eq!(order(&fabric, &[flow(1, 2), flow(0, 2)]), [1, 0, 1, 0, 1, 0]);
}

#[test]
fn nothing_goes_to_a_port_without_a_link() {
    let mut fabric = star(&[1, 1, 1]);
    fabric.ports[2].peer = NONE;
    fabric.ports[5].peer = NONE;
    assert_eq!(delivered(&fabric, &[flow(2, 0), Flow { bytes: Some(512), ..flow(0, 1) }], 2000), [0, 512]);
}

/// Two switches with a host each, and a link between them that is out of order from `at` on for `length`. A packet is granted 5 ticks after its
/// head has come to the first switch, its head comes to the second one 64 ticks after it has come to the first, and its tail 64 after that.
fn link_that_fails((at, length): (Ticks, Ticks), drops: bool, detection: Ticks) -> Fabric {
    let port = |peer, delay| Port { peer, byte: 1, delay, buffer: 16 };
    let mut changes = vec![Change { at, what: What::Fails { port: 3, drops } }];
    if detection < length {
        changes.push(Change { at: at + detection, what: What::Detected { port: 3 } });
    }
    changes.push(Change { at: at + length, what: What::Repaired { port: 3 } });
    Fabric {
        mtu: 64,
        hosts: 2,
        first_port: vec![2, 4, 6],
        ports: vec![port(2, 10), port(4, 10), port(0, 10), port(5, 52), port(1, 10), port(3, 52)],
        forwarding: Arc::new(Tables::Narrow(vec![0, 1, 1, 0])),
        faults: Faults { changes, tables: Vec::new() },
        ..star(&[1, 1])
    }
}

/// How many packets are lost on a link, for their output, and spoiled.
fn lost(fabric: &Fabric) -> [usize; 3] {
    let mut lost = [0; 3];
    for fact in run(fabric, &[flow(0, 1)], 1, 6_000) {
        if let Fact::Lost { why, .. } = fact {
            lost[why as usize] += 1;
        }
    }
    lost
}

#[test]
fn a_link_that_is_out_of_order_loses_as_many_packets_as_would_have_passed() {
    // Heads come to the first switch at 10 + 64 k. At 1000 those of 970 and 906 have been granted: the head of 970 has still to come to the
    // second switch, that of 906 has just come there, at 970, and its tail has not. Then come those of 1034 and so on.
    for packets in [1, 5, 20] {
        let length = 64 * packets as Ticks;
        assert_eq!(lost(&link_that_fails((1000, length), true, 0)), [1, packets, 1]);
        assert_eq!(lost(&link_that_fails((1000, length), false, 0)), [0, packets, 0]);
        // What nobody knows of loses what is under way, and all else waits.
        assert_eq!(lost(&link_that_fails((1000, length), true, length)), [1, 0, 1]);
    }
}
