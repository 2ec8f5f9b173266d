//! Congestion control in small fabrics, at times that follow from the rules by hand.
//!
//! On links of one tick a byte a packet of 256 bytes that is sent at t is in the switch from t + 10 on, granted at t + 15, leaves
//! for the link at t + 22 and its queue at t + 271; its tail is at the destination at t + 288. The notification for it is sent then,
//! and is at the source 96 ticks later: 10 to the switch, 5 to the grant, 7 to the link, 10 and its 64 bytes to the host.

use crate::closed_forms::{flow, star};
use hopsim_infiniband::congestion::{
    CongestionControl, Ecn, Level, MarkPoint, Marking, Notification, PortRules, ThresholdMode, VictimMask,
};
use hopsim_infiniband::fabric::Fabric;
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::reaction::Reaction;
use hopsim_infiniband::reaction::aimd::{Aimd, WHOLE};
use hopsim_infiniband::reaction::dcqcn::Dcqcn;
use hopsim_infiniband::reaction::rates;
use hopsim_infiniband::reaction::table::{Delay, Table, Timer};
use hopsim_infiniband::reaction::timely::Timely;
use hopsim_infiniband::time::Ticks;
use hopsim_infiniband_reference::{Fact, Reference, run};
use hopsim_random::{Purpose, Stream};
use std::collections::BTreeMap;

/// Every packet is marked as soon as it joins a queue; index i means a delay of i packets.
fn control() -> CongestionControl {
    CongestionControl {
        mode: ThresholdMode::PerVoq,
        rules: every_packet(),
        exceptions: BTreeMap::new(),
        mark_point: MarkPoint::Enqueue,
        marking: Marking::Periodic,
        notification: Notification::Packets { interval: 0 },
        answer_lane: None,
        level: Level::QueuePair,
        reaction: Reaction::Table(table()),
    }
}

fn every_packet() -> PortRules {
    PortRules { high: 1, low: 1, victim_mask: VictimMask::None, marking_rate: 0, packet_size: 0 }
}

fn table() -> Table {
    Table {
        timer: Timer::OnDemand,
        period: 1000,
        increase: 1,
        limit: 3,
        minimum: 0,
        entries: (0..4).map(|multiplier| Delay { shift: 0, multiplier }).collect(),
    }
}

/// A switch and three hosts with links of one tick a byte, and congestion control with a change.
fn fabric(change: impl FnOnce(&mut CongestionControl)) -> Fabric {
    let mut control = control();
    change(&mut control);
    Fabric { congestion: Some(control), ..star(&[1; 3]) }
}

/// A switch and three hosts, with congestion control of another reaction.
fn reacting(reaction: Reaction) -> Fabric {
    fabric(|control| control.reaction = reaction)
}

/// When which packets of flow 0 are marked.
fn marks(fabric: &Fabric, flow: Flow, until: Ticks) -> Vec<(Ticks, u32)> {
    let marked =
        |fact| if let Fact::Marked { at, packet, .. } = fact { Some((at, packet.number)) } else { None };
    run(fabric, &[flow], 1, until).into_iter().filter_map(marked).collect()
}

/// When data packets of a flow are sent.
fn starts(fabric: &Fabric, flows: &[Flow], number: u32, until: Ticks) -> Vec<Ticks> {
    let sent = |fact| match fact {
        Fact::Sent { at, packet } if packet.flow == number && !packet.is_notification => Some(at),
        _ => None,
    };
    run(fabric, flows, 1, until).into_iter().filter_map(sent).collect()
}

/// The index of flow 0 whenever it changes, as it is after the tick.
fn indices(fabric: &Fabric, flows: &[Flow], until: Ticks) -> Vec<(Ticks, u16)> {
    let mut reference = Reference::new(fabric, flows, 1);
    let mut changes = vec![(0, reference.ccti(0))];
    for now in 0..until {
        reference.step();
        if changes.last().is_none_or(|&(_, index)| index != reference.ccti(0)) {
            changes.push((now, reference.ccti(0)));
        }
    }
    changes
}

/// A flow of one packet.
fn single() -> Flow {
    Flow { bytes: Some(256), ..flow(0, 1) }
}

#[test]
fn notifications_raise_the_index_and_the_timer_lowers_it() {
    // Packets start at 0 and 256; the notification for the first is back at 288 + 96 = 384. The one at 512 starts with index 1 and is
    // followed 256 + 256 later, the one at 1024 with 3, followed 256 + 768 later. The timer starts at 384.
    let fabric = fabric(|_| ());
    assert_eq!(starts(&fabric, &[flow(0, 1)], 0, 3073), [0, 256, 512, 1024, 2048, 3072]);
    let expected = [(0, 0), (384, 1), (640, 2), (896, 3), (1384, 2), (1408, 3), (2384, 2), (2432, 3)];
    assert_eq!(indices(&fabric, &[flow(0, 1)], 2500), expected);
}

/// Acknowledgements for flow 0: when they are delivered, their bytes, and whether they notify.
fn acknowledged(fabric: &Fabric, flow: Flow, until: Ticks) -> Vec<(Ticks, u32, bool)> {
    let acknowledgement = |fact| match fact {
        Fact::Delivered { at, packet, marked, .. } if packet.is_notification => {
            Some((at, packet.bytes, marked))
        }
        _ => None,
    };
    run(fabric, &[flow], 1, until).into_iter().filter_map(acknowledgement).collect()
}

/// Congestion control with acknowledgements of 32 bytes, which take 64 ticks from host to host.
fn acknowledging(every: u32, change: impl FnOnce(&mut CongestionControl)) -> Fabric {
    fabric(|control| {
        control.notification = Notification::Acknowledgements { every, bytes: 32 };
        change(control);
    })
}

#[test]
fn an_acknowledgement_of_several_packets_is_one_notification() {
    // The second packet starts at 256; the acknowledgement of both leaves at 544 and is there at 608. The fourth starts at 768 with
    // index 1, its acknowledgement is there at 768 + 288 + 64 = 1120. The fifth starts at 1280 with index 2, the timer lowers at 1608,
    // the sixth starts at 2048 and is followed 256 + 256 later.
    let fabric = acknowledging(2, |_| ());
    assert_eq!(starts(&fabric, &[flow(0, 1)], 0, 2561), [0, 256, 512, 768, 1280, 2048, 2560]);
    let expected = [(0, 0), (608, 1), (1120, 2), (1608, 1), (2400, 2)];
    assert_eq!(indices(&fabric, &[flow(0, 1)], 2500), expected);
}

#[test]
fn what_is_left_at_the_end_of_a_flow_is_acknowledged_then() {
    let three = Flow { bytes: Some(768), ..flow(0, 1) };
    let expected = [(256 + 288 + 64, 32, true), (512 + 288 + 64, 32, true)];
    assert_eq!(acknowledged(&acknowledging(2, |_| ()), three, 9000), expected);
    assert_eq!(acknowledged(&acknowledging(9, |_| ()), three, 9000), expected[1..]);
    // Without an end nothing is known to be the last packet.
    let ended = Flow { end: 700, ..flow(0, 1) };
    assert_eq!(acknowledged(&acknowledging(2, |_| ()), ended, 9000), expected[..1]);
}

#[test]
fn an_acknowledgement_notifies_if_one_of_its_packets_is_marked() {
    let message = Flow { bytes: Some(256 + 255), ..flow(0, 1) };
    let notify = |packet_size, every| {
        let fabric = acknowledging(every, |control| control.rules.packet_size = packet_size);
        let notify: Vec<bool> = acknowledged(&fabric, message, 9000).iter().map(|each| each.2).collect();
        (notify, indices(&fabric, &[message], 9000).iter().map(|each| each.1).max())
    };
    assert_eq!(notify(4, 2), (vec![true], Some(1)), "the first one of two");
    assert_eq!(notify(4, 1), (vec![true, false], Some(1)));
    assert_eq!(notify(5, 1), (vec![false, false], Some(0)));
}

#[test]
fn an_index_stays_between_minimum_and_limit() {
    let two = Flow { bytes: Some(512), ..flow(0, 1) };
    let narrow = reacting(Reaction::Table(Table { minimum: 1, limit: 2, increase: 3, ..table() }));
    // With index 1 the second packet starts at 512, its notification is back at 896; the timer lowers once.
    assert_eq!(indices(&narrow, &[two], 9000), [(0, 1), (384, 2), (1384, 1)]);
    // Without a period nothing is lowered.
    let still = reacting(Reaction::Table(Table { period: 0, ..table() }));
    assert_eq!(indices(&still, &[two], 9000), [(0, 0), (384, 1), (640, 2)]);
}

#[test]
fn a_timer_starts_again_when_all_indices_were_at_rest() {
    // The second packet starts 3000 ticks later and its notification finds the index at rest again.
    let late = Flow { bytes: Some(512), byte: 12, ..flow(0, 1) };
    let expected = [(0, 0), (384, 1), (1384, 0), (3456, 1), (4456, 0)];
    assert_eq!(indices(&fabric(|_| ()), &[late], 9000), expected);
}

#[test]
fn a_free_timer_runs_from_a_drawn_time_on() {
    let mut draws = Stream::new(1, Purpose::Phase, 0);
    draws.unit();
    let first = 1 + (draws.unit() * 1000.0) as Ticks;
    let fabric = reacting(Reaction::Table(Table { timer: Timer::Free, ..table() }));
    // The first lowering after the notification is back at 384.
    let lowered = (0..2).map(|period| first + 1000 * period).find(|&time| time > 384).unwrap();
    assert_eq!(indices(&fabric, &[single()], 3000), [(0, 0), (384, 1), (lowered, 0)]);
}

#[test]
fn flows_begin_at_drawn_times() {
    let mut fabric = star(&[1; 3]);
    fabric.host.start_jitter = 5000;
    let flows = [flow(1, 0), Flow { start: 100, ..single() }, Flow { start: 7000, ..single() }];
    let mut draws = Stream::new(1, Purpose::Phase, 0);
    let expected = [100, 7000].map(|start| vec![start + (draws.unit() * 5000.0) as Ticks]);
    assert_eq!([1, 2].map(|number| starts(&fabric, &flows, number, 13_000)), expected);
}

#[test]
fn a_reaction_point_belongs_to_a_flow_or_to_all_of_a_service_level() {
    let flows = [
        flow(0, 1),
        Flow { start: 5000, ..flow(0, 2) },
        Flow { start: 5000, service_level: 1, ..flow(0, 2) },
    ];
    let indices = |level| {
        let mut reference = Reference::new(&fabric(|control| control.level = level), &flows, 1);
        (0..1000).for_each(|_| reference.step());
        [0, 1, 2].map(|number| reference.ccti(number))
    };
    assert_eq!(indices(Level::QueuePair), [3, 0, 0]);
    assert_eq!(indices(Level::ServiceLevel), [3, 3, 0]);
}

/// Half of the rate is lost with a notification, an eighth of that of the link comes back every 1000 ticks.
fn halving() -> Aimd {
    Aimd { increase: WHOLE / 8, decrease: WHOLE / 2, period: 1000, least: 1 }
}

#[test]
fn a_rate_falls_by_a_share_of_itself_and_rises_in_even_steps() {
    // A notification is back 384 after the start of its packet. The packet at 512 starts with 1/2 and is followed 512 later, the
    // one at 1024 after two more notifications with 1/8, 2048 later. At 1408 the rate is 1/16, and 3/16 from 2408 on: at 3072 the next
    // packet starts, followed ⌈256 · 16 / 3⌉ = 1366 later. At 3408 it is 5/16, at 3456 half of that, and so still at 4438, from where
    // the next packet starts ⌈256 · 32 / 5⌉ = 1639 later.
    let halving = reacting(Reaction::Aimd(halving()));
    assert_eq!(starts(&halving, &[flow(0, 1)], 0, 6078), [0, 256, 512, 1024, 3072, 4438, 6077]);
    assert_eq!(indices(&halving, &[flow(0, 1)], 6078), [(0, 0)]);
}

#[test]
fn a_rate_stays_between_the_least_and_that_of_the_link() {
    // At 3/4, the least, packets are ⌈256 · 4 / 3⌉ = 342 apart.
    let least = Aimd { least: 3 * WHOLE / 4, ..halving() };
    let most = Flow { byte: 12, ..flow(0, 1) };
    let all = reacting(Reaction::Aimd(Aimd { least: WHOLE, ..least.clone() }));
    assert_eq!(starts(&all, &[flow(0, 1)], 0, 1025), [0, 256, 512, 768, 1024]);
    let some = starts(&reacting(Reaction::Aimd(least)), &[flow(0, 1)], 0, 2000);
    assert_eq!(some, [0, 256, 512, 854, 1196, 1538, 1880]);
    // Packets 3072 ticks apart, each of them notified of: the rate is whole whenever one starts.
    assert_eq!(starts(&reacting(Reaction::Aimd(halving())), &[most], 0, 9217), [0, 3072, 6144, 9216]);
}

#[test]
fn packets_are_marked_at_their_mark_point() {
    for (mark_point, at) in
        [(MarkPoint::Enqueue, 10), (MarkPoint::Grant, 15), (MarkPoint::Wire, 22), (MarkPoint::Tail, 271)]
    {
        let mut fabric = fabric(|control| control.mark_point = mark_point);
        assert_eq!(marks(&fabric, single(), 1000), [(at, 0)], "{mark_point:?}");
        // With a latency of 300 the head leaves for the link at 271 + 300 - 256 = 315, when nothing waits any more.
        fabric.switch.output_latency = 300;
        assert_eq!(marks(&fabric, single(), 1000).len(), usize::from(mark_point != MarkPoint::Wire));
    }
}

#[test]
fn an_output_without_credits_is_no_root_of_congestion() {
    // The host has room for one packet and drains it from 32 until 800, the credit is back at 814. The second packet is in the
    // switch from 522 on and is granted at 814.
    let second = |mask, mark_point| {
        let mut fabric =
            fabric(|control| (control.rules.victim_mask, control.mark_point) = (mask, mark_point));
        fabric.host.drain = 3;
        fabric.ports[1].buffer = 4;
        let flow = Flow { bytes: Some(512), byte: 2, ..flow(0, 1) };
        marks(&fabric, flow, 2000).into_iter().find(|&(_, number)| number == 1).map(|(at, _)| at)
    };
    assert_eq!(second(VictimMask::None, MarkPoint::Enqueue), None);
    assert_eq!(second(VictimMask::Hosts, MarkPoint::Enqueue), Some(522));
    assert_eq!(second(VictimMask::All, MarkPoint::Enqueue), Some(522));
    assert_eq!(second(VictimMask::None, MarkPoint::Grant), Some(814));
}

#[test]
fn short_packets_are_not_marked() {
    let message = Flow { bytes: Some(256 + 255), ..flow(0, 1) };
    let numbers = |packet_size| {
        let marks = marks(&fabric(|control| control.rules.packet_size = packet_size), message, 2000);
        marks.into_iter().map(|(_, number)| number).collect::<Vec<u32>>()
    };
    assert_eq!([0, 3, 4, 5].map(numbers), [vec![0, 1], vec![0, 1], vec![0], vec![]]);
}

#[test]
fn one_of_some_packets_is_marked() {
    let numbers = |marking| {
        let mut fabric = fabric(|control| (control.marking, control.rules.marking_rate) = (marking, 3));
        fabric.congestion.as_mut().unwrap().reaction = Reaction::Table(Table { limit: 0, ..table() });
        let marks = marks(&Fabric { mtu: 64, ..fabric }, flow(0, 1), 64 * 2000);
        marks.into_iter().map(|(_, number)| number).collect::<Vec<u32>>()
    };
    let periodic = numbers(Marking::Periodic);
    assert_eq!(periodic, (0..2000).skip(3).step_by(4).take(periodic.len()).collect::<Vec<u32>>());
    assert!(periodic.len() >= 499);
    // 500 of 2000 in the mean, with a deviation of 19.
    let random = numbers(Marking::Random).len();
    assert!(random.abs_diff(500) < 100, "{random}");
}

#[test]
fn thresholds_are_for_every_queue_or_for_their_sum() {
    // Packets of two hosts are in the switch at 10; the second is granted when the first has crossed, at 271.
    let congested = |mode, high, low| {
        let fabric = fabric(|control| {
            control.mode = mode;
            (control.rules.high, control.rules.low) = (high, low);
        });
        let flows = [flow(0, 2), flow(1, 2)].map(|flow| Flow { bytes: Some(256), ..flow });
        let mut reference = Reference::new(&fabric, &flows, 1);
        let states: Vec<bool> = (0..1000)
            .map(|_| {
                reference.step();
                reference.is_congested(5, 0)
            })
            .collect();
        let first = states.iter().position(|&state| state)?;
        Some((first, states.iter().rposition(|&state| state)?))
    };
    assert_eq!(congested(ThresholdMode::PerVoq, 257, 1), None);
    assert_eq!(congested(ThresholdMode::PerVoq, 256, 256), Some((10, 526)));
    assert_eq!(congested(ThresholdMode::Common, 512, 512), Some((10, 270)));
    assert_eq!(congested(ThresholdMode::Common, 512, 257), Some((10, 270)));
    assert_eq!(congested(ThresholdMode::Common, 512, 256), Some((10, 526)));
    assert_eq!(congested(ThresholdMode::Common, 513, 1), None);
}

#[test]
fn a_port_has_what_its_exception_says_and_the_others_what_all_have() {
    // Flow 0 leaves by port 4, flow 1 by port 5: of four packets each as many are marked as the rules of the port say.
    let marked = |change: fn(&mut PortRules)| {
        let mut own = every_packet();
        change(&mut own);
        let fabric = fabric(|control| control.exceptions = BTreeMap::from([(5, own)]));
        let flows = [flow(0, 1), flow(0, 2)].map(|flow| Flow { bytes: Some(4 * 200), ..flow });
        let facts = run(&Fabric { mtu: 200, ..fabric }, &flows, 1, 20_000);
        let of = |number: u32| move |fact: &&Fact| matches!(fact, Fact::Marked { packet, .. } if packet.flow == number);
        [0, 1].map(|number| facts.iter().filter(of(number)).count())
    };
    assert_eq!(marked(|_| ()), [4, 4]);
    assert_eq!(marked(|own| own.high = u64::MAX), [4, 0]);
    assert_eq!(marked(|own| own.marking_rate = 1), [4, 2]);
    assert_eq!(marked(|own| own.packet_size = 4), [4, 0]);
}

/// DCQCN with large steps and without a counter of bytes.
fn steep() -> Dcqcn {
    let whole = rates::WHOLE;
    Dcqcn {
        g: whole / 2,
        alpha_timer: 400,
        rate_timer: 1000,
        byte_counter: 0,
        fast_recovery: 2,
        increase: whole / 4,
        hyper_increase: whole,
        least: 1,
        cut_interval: 0,
    }
}

/// The star with DCQCN, and notification packets of a flow so far apart.
fn with_dcqcn(rules: Dcqcn, interval: Ticks) -> Fabric {
    fabric(|control| {
        control.reaction = Reaction::Dcqcn(rules);
        control.notification = Notification::Packets { interval };
    })
}

#[test]
fn after_a_notification_dcqcn_recovers_half_of_what_is_missing_with_every_event_of_the_timer() {
    // One notification comes, at 384: the rate is 1/2, from 1384 on 3/4, from 2384 on, by additive increase from a target that is the
    // rate of the link already, 7/8, and from 3384 on 15/16. Packets are 512, ⌈1024 / 3⌉ = 342, ⌈2048 / 7⌉ = 293 and ⌈4096 / 15⌉ = 274
    // apart.
    let fabric = with_dcqcn(steep(), 1_000_000);
    let expected = [0, 256, 512, 1024, 1536, 1878, 2220, 2562, 2855, 3148, 3441, 3715];
    assert_eq!(starts(&fabric, &[flow(0, 1)], 0, 3716), expected);
}

#[test]
fn the_share_by_which_dcqcn_falls_moves_to_one_with_notifications_and_to_nothing_with_time() {
    // Notifications are made at 288, then with the first tail 1000 later or after that: at 1024 + 288 = 1312 and 2122 + 288 = 2410. They
    // are back 96 later. α is 1 after the first one, 1/4 from 1184 on: at 1408 the rate falls from 1/2 by an eighth to 7/16, and α is
    // 5/8; at 2506 it is 5/32, and the rate falls by 5/64 to 413/1024.
    let rules = Dcqcn { rate_timer: 100_000, ..steep() };
    let expected = [0, 256, 512, 1024, 1536, 2122, 2708, 3343];
    assert_eq!(starts(&with_dcqcn(rules.clone(), 1000), &[flow(0, 1)], 0, 3344), expected);
    // The notifications of the packets at 0, 256 and 512 are back at 384, 640 and 896; 512 after the first one the last one counts
    // again, and its share is that of 896: 1/2. The rate falls from 1/2 to 3/8.
    let sooner = |cut_interval| with_dcqcn(Dcqcn { cut_interval, ..rules.clone() }, 0);
    assert_eq!(starts(&sooner(512), &[flow(0, 1)], 0, 1708), [0, 256, 512, 1024, 1707]);
    assert_eq!(starts(&sooner(513), &[flow(0, 1)], 0, 1708), [0, 256, 512, 1024, 1536]);
}

#[test]
fn timely_falls_while_round_trips_are_long() {
    // An acknowledgement is back 384 after the start of its packet, which is twice `high`: with every one the rate falls by a quarter. Of
    // the packets at 512, 854 and 1310 the rate is 3/4, 9/16 and, as two have come in between, 81/256.
    let fabric = fabric(|control| {
        control.notification = Notification::Acknowledgements { every: 1, bytes: 64 };
        control.reaction = Reaction::Timely(Timely {
            alpha: rates::WHOLE,
            beta: rates::WHOLE / 2,
            low: 1,
            high: 192,
            least_round_trip: 1,
            increase: rates::WHOLE / 8,
            hyper_after: 1,
            hyper_steps: 1,
            least: 1,
        });
    });
    assert_eq!(starts(&fabric, &[flow(0, 1)], 0, 2121), [0, 256, 512, 854, 1310, 2120]);
}

#[test]
fn notification_packets_of_a_flow_are_at_least_an_interval_apart() {
    let notified = |interval| {
        let fabric = fabric(|control| {
            control.reaction = Reaction::Table(Table { limit: 0, ..table() });
            control.notification = Notification::Packets { interval };
        });
        acknowledged(&fabric, flow(0, 1), 1600).iter().map(|each| each.0).collect::<Vec<_>>()
    };
    // Tails of packets come 256 apart.
    assert_eq!([0, 256].map(notified), [[384, 640, 896, 1152, 1408]; 2].map(Vec::from));
    assert_eq!([257, 512].map(notified), [[384, 896, 1408]; 2].map(Vec::from));
    assert_eq!(notified(513), [384, 1152]);
}

#[test]
fn ecn_marks_by_the_bytes_that_wait_whatever_state_the_output_is_in() {
    // Packets of two hosts join the queues of an output at 10, one after the other: 256 bytes, then 512.
    let marked = |min, max, probability| {
        let fabric = fabric(|control| {
            control.rules.high = u64::MAX;
            control.marking = Marking::Ecn(Ecn { min, max, probability });
        });
        let facts = run(&fabric, &[single(), Flow { source: 2, ..single() }], 1, 1000);
        let flow =
            |fact: &Fact| if let Fact::Marked { packet, .. } = fact { Some(packet.flow) } else { None };
        facts.iter().filter_map(flow).collect::<Vec<u32>>()
    };
    let whole = rates::WHOLE;
    assert_eq!(marked(0, 255, 0), [0, 1]);
    assert_eq!(marked(256, 256, whole), [1], "never at the lower bound, always above the upper one");
    assert_eq!(marked(256, 512, whole), [1], "at the upper bound with the probability there");
    assert_eq!(marked(256, 512, 0), [0; 0]);
    assert_eq!(marked(512, 600, whole), [0; 0]);
    // Half of the way from 0 to 128 bytes half of the probability, which is a half: 500 of 2000, with a deviation of 19.
    let sometimes = fabric(|control| {
        control.mark_point = MarkPoint::Wire;
        control.marking = Marking::Ecn(Ecn { min: 0, max: 128, probability: whole / 2 });
        control.reaction = Reaction::Table(Table { limit: 0, ..table() });
    });
    let count = marks(&Fabric { mtu: 64, ..sometimes }, flow(0, 1), 64 * 2000).len();
    assert!(count.abs_diff(500) < 100, "{count}");
}
