//! Random congestion control.

use hopsim_infiniband::congestion::{
    CongestionControl, Delay, Level, MarkPoint, Marking, Notification, ThresholdMode, Timer, VictimMask,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// What ports do.
type Detection = (ThresholdMode, (u64, u64), VictimMask, MarkPoint, Marking, u16, u8);
/// What hosts do.
type Reaction = (Notification, Level, Timer, u64, u8, Vec<Delay>, (usize, usize));

fn detection(mtu: u32) -> impl Strategy<Value = Detection> {
    // Low thresholds, which queues of a few packets reach: often exactly.
    let mtu_bytes = u64::from(mtu);
    let threshold = move |most| {
        let packets = (1..=most / mtu_bytes.min(most)).prop_map(move |packets| packets * mtu_bytes.min(most));
        prop_oneof![2 => packets, 1 => 1..=most]
    };
    let thresholds = threshold(2 * mtu_bytes).prop_flat_map(move |high| (Just(high), threshold(high)));
    (
        select(vec![ThresholdMode::PerVoq, ThresholdMode::Common]),
        thresholds,
        select(vec![VictimMask::Hosts, VictimMask::All, VictimMask::None]),
        select(vec![MarkPoint::Enqueue, MarkPoint::Grant, MarkPoint::Tail, MarkPoint::Wire]),
        select(vec![Marking::Random, Marking::Periodic]),
        select(vec![0, 0, 1, 2, 3]),
        prop_oneof![3 => Just(0), 1 => 0..=(mtu / 64) as u8],
    )
}

fn reaction(mtu: u32) -> impl Strategy<Value = Reaction> {
    // Acknowledgements of one to three blocks, of single packets and of several.
    let acknowledgements = (1..=4u32, 1..=mtu.min(150))
        .prop_map(|(every, bytes)| Notification::Acknowledgements { every, bytes });
    let notification = prop_oneof![1 => Just(Notification::Packets), 1 => acknowledgements];
    let delay = (0..=3u8, 0..=20u16).prop_map(|(shift, multiplier)| Delay { shift, multiplier });
    (
        notification,
        select(vec![Level::QueuePair, Level::ServiceLevel]),
        select(vec![Timer::Free, Timer::OnDemand]),
        prop_oneof![1 => Just(0), 1 => Just(1), 4 => 50..=4000u64],
        0..=3u8,
        vec(delay, 1..=16),
        (0..16usize, 0..4usize),
    )
}

/// Congestion control of a fabric with packets of `mtu` bytes.
pub fn congestion(mtu: u32) -> impl Strategy<Value = CongestionControl> {
    (detection(mtu), reaction(mtu)).prop_map(|(detection, reaction)| {
        let (mode, (high, low), victim_mask, mark_point, marking, marking_rate, packet_size) = detection;
        let (notification, level, timer, period, increase, mut table, (limit, minimum)) = reaction;
        table[0] = Delay::default();
        let limit = limit.min(table.len() - 1);
        CongestionControl {
            mode,
            high,
            low,
            victim_mask,
            mark_point,
            marking,
            marking_rate,
            packet_size,
            notification,
            level,
            timer,
            period,
            increase,
            limit: limit as u16,
            minimum: minimum.min(limit) as u16,
            table,
        }
    })
}
