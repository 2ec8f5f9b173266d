//! What Gran et al. 2011 derive or report, in stages shorter than theirs.

use crate::small::{Facts, control, fabric, facts, facts_of, flows, rates};
use hopsim_infiniband::congestion::{CongestionControl, ThresholdMode};
use hopsim_infiniband::reaction::Reaction;
use hopsim_infiniband::reaction::aimd::{Aimd, WHOLE};

const NOTHING: [f64; 5] = [0.0; 5];

fn assert_near(rates: &[Vec<f64>], expected: &[[f64; 5]]) {
    for (row, expected) in rates.iter().zip(expected) {
        for (rate, expected) in row.iter().zip(expected) {
            assert!((rate - expected).abs() <= 0.005 * expected, "{rates:.3?}, expected {expected}");
        }
    }
}

/// Greatest over least rate of the flows to the hot spot in a stage.
fn ratio(rates: &[Vec<f64>], stage: usize) -> f64 {
    let flows = &rates[stage][1..=stage];
    flows.iter().copied().fold(0.0, f64::max) / flows.iter().copied().fold(f64::MAX, f64::min)
}

#[test]
fn round_robin_shares_an_output_evenly_among_inputs() {
    let shares = [13.0, 13.0, 6.5, 13.0 / 3.0, 3.25];
    let stage = |number: usize| {
        let mut row = NOTHING;
        row[1..=number].fill(shares[number]);
        row[0] = 13.0;
        row
    };
    assert_near(&rates(&fabric(&[7], None), 20, 1), &[0, 1, 2, 3, 4].map(stage));
}

#[test]
fn flows_that_share_an_input_share_its_part_and_hold_back_others() {
    let (third, sixth) = (13.0 / 3.0, 13.0 / 6.0);
    let expected = [
        [13.0, 0.0, 0.0, 0.0, 0.0],
        [13.0, 13.0, 0.0, 0.0, 0.0],
        [6.5, 6.5, 6.5, 0.0, 0.0],
        [3.25, 3.25, 3.25, 6.5, 0.0],
        [sixth, sixth, sixth, third, third],
    ];
    assert_near(&rates(&fabric(&[3, 4], None), 20, 1), &expected);
}

#[test]
fn one_threshold_favours_the_newest_flow_and_two_are_fair() {
    for seed in [1, 2] {
        let one = rates(&fabric(&[7], Some(control(8192, 8192))), 100, seed);
        let two = rates(&fabric(&[7], Some(control(8192, 1843))), 100, seed);
        assert!(ratio(&one, 3) >= 1.5 && one[3][3] > one[3][1].max(one[3][2]), "{one:.2?}");
        assert!((2..5).all(|stage| ratio(&two, stage) < 1.2), "{two:.2?}");
        assert!(two.iter().chain(&one).all(|row| (row[0] - 13.0).abs() < 0.1), "{one:.2?} {two:.2?}");
    }
}

#[test]
fn congestion_control_frees_the_victim_of_the_parking_lot() {
    let rates = rates(&fabric(&[3, 4], Some(control(8192, 1843))), 200, 1);
    assert!(rates[4][0] > 12.6, "{rates:.2?}");
    assert!(ratio(&rates, 4) < 1.25, "{rates:.2?}");
}

#[test]
fn thresholds_less_than_a_packet_apart_are_one() {
    let with = |low| facts(&fabric(&[7], Some(control(8192, low))), 5, 3);
    let one = with(8192);
    assert!(one.marked > 0);
    assert_eq!(one, with(8192 - 2047), "occupancies are whole packets");
    assert_ne!(one, with(8192 - 2048));
}

#[test]
fn a_fabric_that_marks_nothing_is_one_without_congestion_control() {
    let without = facts(&fabric(&[3, 4], None), 5, 3);
    let never = control(u64::MAX, u64::MAX);
    let mut large_packets_only = control(8192, 1843);
    large_packets_only.rules.packet_size = 255;
    for control in [never, large_packets_only] {
        assert_eq!(without, facts(&fabric(&[3, 4], Some(control)), 5, 3));
    }
}

#[test]
fn the_same_seed_gives_the_same_facts_and_another_one_does_not() {
    let with = |seed| facts(&fabric(&[3, 4], Some(control(8192, 1843))), 5, seed);
    let Facts { marked, .. } = with(1);
    assert!(marked > 0);
    assert_eq!(with(1), with(1));
    assert_ne!(with(1), with(2));
}

#[test]
fn a_common_threshold_above_what_one_queue_holds_never_sees_one_sender() {
    // §IV.C: a host that sends 16 Gb/s to one that takes 13 fills its queue of 64 KiB.
    let marked = |high: u64| {
        let control = CongestionControl { mode: ThresholdMode::Common, ..control(high, high) };
        let mut fabric = fabric(&[7], Some(control));
        fabric.host.injection = fabric.ports[0].byte;
        facts_of(&fabric, &flows(1)[..1], 5, 1).marked
    };
    assert!(marked(60 * 1024) > 0);
    assert_eq!(marked(64 * 1024 + 1), 0);
}

/// Congestion control with rates: steps of 1/200 of the link 50 us apart, 3 % less with every notification, and 1/1000 at least.
fn rate_control() -> CongestionControl {
    let share = |of: f64| (of * f64::from(WHOLE)).round() as u32;
    let period = 50_000 * fabric(&[7], None).ticks_per_ns;
    let rules = Aimd { increase: share(0.005), decrease: share(0.03), period, least: share(0.001) };
    CongestionControl { reaction: Reaction::Aimd(rules), ..control(8192, 1843) }
}

#[test]
fn rates_of_flows_into_one_output_become_the_same_and_use_nine_tenths_of_it() {
    // In the star the victim has no flow in its way, in the parking lot it does.
    for (hosts, victim) in [(&[7][..], 12.9), (&[3, 4], 11.5)] {
        let rates = rates(&fabric(hosts, Some(rate_control())), 100, 1);
        for (stage, row) in rates.iter().enumerate().skip(2) {
            let sum: f64 = row[1..].iter().sum();
            assert!(ratio(&rates, stage) < 1.06, "{rates:.2?}");
            assert!((11.7..=13.0).contains(&sum) && row[0] > victim, "{rates:.2?}");
        }
    }
}
