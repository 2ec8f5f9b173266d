//! Virtual lanes: what the tables say is what is sent.

use crate::closed_forms::{delivered, flow, star};
use hopsim_infiniband::fabric::Fabric;
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::lanes::{LaneEntry, Lanes};
use hopsim_infiniband_reference::{Fact, run};

/// Two VLs, that of service level s being s.
fn two(high: &[(u8, u8)], low: &[(u8, u8)], high_limit: u8) -> Fabric {
    let entries =
        |table: &[(u8, u8)]| table.iter().map(|&(lane, weight)| LaneEntry { lane, weight }).collect();
    let mut of_service_level = [0; 16];
    of_service_level[1] = 1;
    Fabric {
        lanes: Lanes { count: 2, of_service_level, high: entries(high), low: entries(low), high_limit },
        ..star(&[1, 1])
    }
}

/// An endless flow from host 0 to host 1 in each of the two VLs.
fn both() -> [Flow; 2] {
    [0, 1].map(|service_level| Flow { service_level, ..flow(0, 1) })
}

/// The VLs of the first packets that host 0 sends, of 4 blocks each.
fn order(fabric: &Fabric, packets: usize) -> Vec<u32> {
    let sent = |fact| if let Fact::Sent { packet, .. } = fact { Some(packet.flow) } else { None };
    run(fabric, &both(), 1, 256 * packets as u64).into_iter().filter_map(sent).collect()
}

#[test]
fn entries_take_turns_by_weight() {
    assert_eq!(order(&two(&[], &[(0, 4), (1, 4)], 0), 6), [0, 1, 0, 1, 0, 1]);
    assert_eq!(order(&two(&[], &[(0, 8), (1, 4)], 0), 6), [0, 0, 1, 0, 0, 1]);
    // What is left of a weight is enough for a whole packet.
    assert_eq!(order(&two(&[], &[(0, 9), (1, 4)], 0), 8), [0, 0, 0, 1, 0, 0, 0, 1]);
    assert_eq!(order(&two(&[], &[(0, 4), (1, 4), (0, 4)], 0), 6), [0, 1, 0, 0, 1, 0]);
}

#[test]
fn high_priority_goes_first_up_to_its_limit() {
    assert_eq!(order(&two(&[(1, 4)], &[(0, 4)], 255), 5), [1, 1, 1, 1, 1]);
    // With limit 0 it is one packet of each.
    assert_eq!(order(&two(&[(1, 4)], &[(0, 4)], 0), 5), [1, 0, 1, 0, 1]);
    // 64 blocks are 16 packets, then one of low priority.
    let expected: Vec<u32> = (0..34).map(|packet| u32::from(packet % 17 != 16)).collect();
    assert_eq!(order(&two(&[(1, 4)], &[(0, 4)], 1), 34), expected);
}

#[test]
fn a_vl_alone_is_not_held_up_by_tables() {
    let fabric = two(&[(1, 1)], &[(0, 1)], 1);
    for flow in both() {
        // The first packet is delivered at 288, another one every 256 ticks.
        assert_eq!(delivered(&fabric, &[flow], 100 * 256 + 288), [100 * 256]);
    }
}

#[test]
fn switches_arbitrate_between_vls_too() {
    // Hosts 1 and 2 send to host 0, one in each VL; weights are 3 to 1.
    let fabric = Fabric { lanes: two(&[], &[(0, 12), (1, 4)], 0).lanes, ..star(&[1; 3]) };
    let flows = [1, 2].map(|source| Flow { service_level: source as u8 - 1, ..flow(source, 0) });
    let bytes = delivered(&fabric, &flows, 400 * 256);
    assert!(bytes[0].abs_diff(300 * 256) <= 4 * 256 && bytes[1].abs_diff(100 * 256) <= 4 * 256, "{bytes:?}");
}
