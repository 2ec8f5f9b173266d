//! Random congestion control.

use hopsim_infiniband::congestion::{
    CongestionControl, Ecn, Level, MarkPoint, Marking, Notification, PortRules, ThresholdMode, VictimMask,
};
use hopsim_infiniband::reaction::aimd::{Aimd, WHOLE};
use hopsim_infiniband::reaction::dcqcn::Dcqcn;
use hopsim_infiniband::reaction::hpcc::Hpcc;
use hopsim_infiniband::reaction::nscc::Nscc;
use hopsim_infiniband::reaction::rates;
use hopsim_infiniband::reaction::swift::Swift;
use hopsim_infiniband::reaction::table::{Delay, Table, Timer};
use hopsim_infiniband::reaction::timely::Timely;
use hopsim_infiniband::reaction::{Needs, Reaction};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeMap;
use std::ops::Range;

/// What ports do.
type Detection = (ThresholdMode, MarkPoint, Marking);
/// What hosts do.
type Answer = (Notification, Option<u8>, Level, Reaction);

fn detection(mtu: u32) -> impl Strategy<Value = Detection> {
    (
        select(vec![ThresholdMode::PerVoq, ThresholdMode::Common]),
        select(vec![MarkPoint::Enqueue, MarkPoint::Grant, MarkPoint::Tail, MarkPoint::Wire]),
        prop_oneof![
            2 => select(vec![Marking::Random, Marking::Periodic]),
            1 => ecn(mtu.into()).prop_map(Marking::Ecn),
        ],
    )
}

fn ecn(mtu: u64) -> impl Strategy<Value = Ecn> {
    // Bounds that queues of a few packets meet, often exactly, and often nothing between them.
    let packets = (0..=3u64, 0..=3u64).prop_map(move |(min, width)| (min * mtu, width * mtu));
    let bounds = prop_oneof![2 => packets, 1 => (0..=2 * mtu, 0..=2 * mtu)];
    let probability = prop_oneof![3 => 1..=rates::WHOLE, 1 => Just(rates::WHOLE)];
    (bounds, probability).prop_map(|((min, width), probability)| Ecn { min, max: min + width, probability })
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
    // Packets come a whole number of times a packet apart where the output is busy.
    let packets_apart = (1..=10u64).prop_map(move |packets| packets * u64::from(mtu));
    let interval = prop_oneof![1 => Just(0), 1 => 1..=4000u64, 1 => packets_apart];
    let packets = interval.prop_map(|interval| Notification::Packets { interval });
    let notification = prop_oneof![1 => packets, 1 => acknowledgements];
    let reaction = prop_oneof![
        1 => table().prop_map(Reaction::Table),
        1 => aimd().prop_map(Reaction::Aimd),
        1 => dcqcn(mtu).prop_map(Reaction::Dcqcn),
        1 => timely().prop_map(Reaction::Timely),
        1 => swift().prop_map(Reaction::Swift),
        1 => nscc().prop_map(Reaction::Nscc),
        1 => hpcc().prop_map(Reaction::Hpcc),
    ];
    let lane = prop_oneof![2 => Just(None), 1 => (0..16u8).prop_map(Some)];
    (notification, lane, select(vec![Level::QueuePair, Level::ServiceLevel]), reaction)
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

fn dcqcn(mtu: u32) -> impl Strategy<Value = Dcqcn> {
    // Events of timers and counters come so often that rates meet all kinds of increase before the next notification, and after them
    // the rate of the link.
    let whole = rates::WHOLE;
    let share = move || prop_oneof![1 => Just(0), 4 => 1..=whole / 4, 1 => Just(whole)];
    let period = || prop_oneof![1 => Just(1), 6 => 20..=1500u64];
    let bytes = prop_oneof![1 => Just(0), 3 => 1..=6 * u64::from(mtu)];
    let rates = (share(), share(), prop_oneof![4 => whole / 64..=whole / 4, 1 => Just(whole)]);
    let cut_interval = prop_oneof![2 => Just(0), 1 => 1..=2000u64];
    ((share(), period(), period()), (bytes, 1..=4u32), rates, cut_interval).prop_map(
        |((g, alpha_timer, rate_timer), (byte_counter, fast_recovery), rates, cut_interval)| {
            let (increase, hyper_increase, least) = rates;
            Dcqcn {
                g,
                alpha_timer,
                rate_timer,
                byte_counter,
                fast_recovery,
                increase,
                hyper_increase,
                least,
                cut_interval,
            }
        },
    )
}

fn timely() -> impl Strategy<Value = Timely> {
    // Round trips of these fabrics are some hundreds to some thousands of ticks, and meet all parts of the rule.
    let whole = rates::WHOLE;
    let share = move || prop_oneof![4 => 1..=whole / 4, 1 => Just(whole)];
    let bounds = (0..=3000u64, 0..=6000u64).prop_map(|(low, more)| (low, low + more));
    let counts = (1..=3u32, 1..=4u32);
    let least = prop_oneof![4 => whole / 64..=whole / 4, 1 => Just(whole)];
    (share(), share(), share(), bounds, 1..=2000u64, counts, least).prop_map(
        |(alpha, beta, increase, (low, high), least_round_trip, (hyper_after, hyper_steps), least)| Timely {
            alpha,
            beta,
            low,
            high,
            least_round_trip,
            increase,
            hyper_after,
            hyper_steps,
            least,
        },
    )
}

fn swift() -> impl Strategy<Value = Swift> {
    // Windows from a small part of a packet to some packets, and targets that round trips pass often.
    let whole = rates::WHOLE;
    let share = move || prop_oneof![4 => 1..=whole / 2, 1 => Just(whole)];
    let packets =
        |least: u64| prop_oneof![2 => least..=rates::PACKET, 1 => rates::PACKET..=6 * rates::PACKET];
    let windows = (packets(2000), packets(2000), packets(2000));
    let times = (100..=3000u64, 1..=3000u64, 1..=2000u64, 0..=1000u64);
    (times, packets(1), share(), share(), windows).prop_map(
        |((target, range, alpha, offset), increase, beta, most_decrease, windows)| {
            let mut windows = <[u64; 3]>::from(windows);
            windows.sort_unstable();
            let [least, initial, most] = windows;
            Swift { target, range, alpha, offset, increase, beta, most_decrease, initial, least, most }
        },
    )
}

fn nscc() -> impl Strategy<Value = Nscc> {
    // Windows of some packets, and times that round trips pass often.
    let whole = rates::WHOLE;
    let share = move || prop_oneof![4 => 1..=whole / 2, 1 => Just(whole)];
    let step = || 1..=2 * rates::PACKET;
    let times = (50..=1500u64, 1..=1500u64, 1..=800u64);
    let steps = (step(), step(), 1..=rates::PACKET / 4);
    let shares = (share(), share(), share(), share());
    (times, steps, shares, rates::PACKET..=12 * rates::PACKET).prop_map(
        |((base_round_trip, target, fast_below), steps, shares, most)| {
            let (fair_increase, proportional_increase, eta) = steps;
            let (fast_share, gamma, most_decrease, weight) = shares;
            Nscc {
                base_round_trip,
                target,
                fast_below,
                fair_increase,
                proportional_increase,
                eta,
                fast_share,
                gamma,
                most_decrease,
                weight,
                most,
            }
        },
    )
}

fn hpcc() -> impl Strategy<Value = Hpcc> {
    // Round trips that are often longer than this, and rates that meet the least and that of the link.
    let whole = rates::WHOLE;
    let least = prop_oneof![4 => whole / 64..=whole / 4, 1 => Just(whole)];
    let utilisation = prop_oneof![4 => whole / 4..=whole, 1 => 1..=whole];
    (50..=4000u64, utilisation, 0..=5u32, 1..=whole / 8, least).prop_map(
        |(base_round_trip, utilisation, stages, increase, least)| Hpcc {
            base_round_trip,
            utilisation,
            stages,
            increase,
            least,
        },
    )
}

/// Congestion control as with [`congestion`], in which sources hear of what their reaction needs.
pub fn heard(mtu: u32, ports: Range<u32>) -> impl Strategy<Value = CongestionControl> {
    congestion(mtu, ports).prop_map(move |mut control| {
        let needs = control.reaction.needs();
        if needs != Needs::Marks {
            let single = Notification::Acknowledgements { every: 1, bytes: mtu.min(64) };
            let is_acknowledged = matches!(control.notification, Notification::Acknowledgements { .. });
            if needs.has_windows() || !is_acknowledged {
                control.notification = single;
            }
        }
        if needs.has_windows() {
            control.level = Level::QueuePair;
        }
        control
    })
}

/// With a VL of answers that there is among so many.
pub fn with_lanes(mut control: CongestionControl, count: u8) -> CongestionControl {
    control.answer_lane = control.answer_lane.map(|lane| lane % count);
    control
}

/// Congestion control of a fabric with packets of `mtu` bytes; some of these ports of switches may be exceptions.
pub fn congestion(mtu: u32, ports: Range<u32>) -> impl Strategy<Value = CongestionControl> {
    let exceptions = prop_oneof![
        1 => Just(BTreeMap::new()),
        1 => btree_map(ports, rules(mtu), 1..=3),
    ];
    (detection(mtu), rules(mtu), exceptions, answer(mtu)).prop_map(
        |((mode, mark_point, marking), rules, exceptions, (notification, answer_lane, level, reaction))| {
            CongestionControl {
                mode,
                rules,
                exceptions,
                mark_point,
                marking,
                notification,
                answer_lane,
                level,
                reaction,
            }
        },
    )
}
