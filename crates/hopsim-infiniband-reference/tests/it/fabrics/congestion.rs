//! Random congestion control.

use hopsim_infiniband::congestion::{
    CongestionControl, Level, MarkPoint, Marking, Notification, PortRules, ThresholdMode, VictimMask,
};
use hopsim_infiniband::reaction::Reaction;
use hopsim_infiniband::reaction::aimd::{Aimd, WHOLE};
use hopsim_infiniband::reaction::table::{Delay, Table, Timer};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeMap;
use std::ops::Range;

/// What ports do.
type Detection = (ThresholdMode, MarkPoint, Marking);
/// What hosts do.
type Answer = (Notification, Level, Reaction);

fn detection() -> impl Strategy<Value = Detection> {
    (
        select(vec![ThresholdMode::PerVoq, ThresholdMode::Common]),
        select(vec![MarkPoint::Enqueue, MarkPoint::Grant, MarkPoint::Tail, MarkPoint::Wire]),
        select(vec![Marking::Random, Marking::Periodic]),
    )
}

fn rules(mtu: u32) -> impl Strategy<Value = PortRules> {
    // Low thresholds, which queues of a few packets reach: often exactly.
    let mtu_bytes = u64::from(mtu);
    let threshold = move |most| {
        let packets = (1..=most / mtu_bytes.min(most)).prop_map(move |packets| packets * mtu_bytes.min(most));
        prop_oneof![2 => packets, 1 => 1..=most]
    };
    let thresholds = threshold(2 * mtu_bytes).prop_flat_map(move |high| (Just(high), threshold(high)));
    let rules = (
        thresholds,
        select(vec![VictimMask::Hosts, VictimMask::All, VictimMask::None]),
        select(vec![0, 0, 1, 2, 3]),
        prop_oneof![3 => Just(0), 1 => 0..=(mtu / 64) as u8],
    );
    rules.prop_map(|((high, low), victim_mask, marking_rate, packet_size)| PortRules {
        high,
        low,
        victim_mask,
        marking_rate,
        packet_size,
    })
}

fn answer(mtu: u32) -> impl Strategy<Value = Answer> {
    // Acknowledgements of one to three blocks, of single packets and of several.
    let acknowledgements = (1..=4u32, 1..=mtu.min(150))
        .prop_map(|(every, bytes)| Notification::Acknowledgements { every, bytes });
    let notification = prop_oneof![1 => Just(Notification::Packets), 1 => acknowledgements];
    let reaction = prop_oneof![
        1 => table().prop_map(Reaction::Table),
        1 => aimd().prop_map(Reaction::Aimd),
    ];
    (notification, select(vec![Level::QueuePair, Level::ServiceLevel]), reaction)
}

fn table() -> impl Strategy<Value = Table> {
    let delay = (0..=3u8, 0..=20u16).prop_map(|(shift, multiplier)| Delay { shift, multiplier });
    let rules = (
        select(vec![Timer::Free, Timer::OnDemand]),
        prop_oneof![1 => Just(0), 1 => Just(1), 4 => 50..=4000u64],
        0..=3u8,
        vec(delay, 1..=16),
        (0..16usize, 0..4usize),
    );
    rules.prop_map(|(timer, period, increase, mut entries, (limit, minimum))| {
        entries[0] = Delay::default();
        let limit = limit.min(entries.len() - 1);
        let (limit, minimum) = (limit as u16, minimum.min(limit) as u16);
        Table { timer, period, increase, limit, minimum, entries }
    })
}

fn aimd() -> impl Strategy<Value = Aimd> {
    // Steps that take a rate from the least to the whole soon, and shares that take it down soon.
    let step = prop_oneof![1 => Just(0), 4 => 1..=WHOLE / 8, 1 => Just(WHOLE)];
    let share = prop_oneof![1 => Just(0), 4 => 1..=WHOLE / 2, 1 => Just(WHOLE)];
    let least = prop_oneof![4 => WHOLE / 64..=WHOLE / 4, 1 => Just(WHOLE)];
    let period = prop_oneof![1 => Just(1), 4 => 50..=4000u64];
    (step, share, period, least).prop_map(|(increase, decrease, period, least)| Aimd {
        increase,
        decrease,
        period,
        least,
    })
}

/// Congestion control of a fabric with packets of `mtu` bytes; some of these ports of switches may be exceptions.
pub fn congestion(mtu: u32, ports: Range<u32>) -> impl Strategy<Value = CongestionControl> {
    let exceptions = prop_oneof![
        1 => Just(BTreeMap::new()),
        1 => btree_map(ports, rules(mtu), 1..=3),
    ];
    (detection(), rules(mtu), exceptions, answer(mtu)).prop_map(
        |((mode, mark_point, marking), rules, exceptions, (notification, level, reaction))| {
            CongestionControl { mode, rules, exceptions, mark_point, marking, notification, level, reaction }
        },
    )
}
