//! What holds in every fabric.

use crate::fabrics::workload::{Players, Script};
use crate::fabrics::{Case, for_each_fabric, for_each_fabric_with_messages, for_each_failing_fabric};
use hopsim_infiniband::congestion::{
    CongestionControl, Marking, Notification, PortRules, ThresholdMode, VictimMask,
};
use hopsim_infiniband::fabric::Fabric;
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::observer::Sent;
use hopsim_infiniband::reaction::Reaction;
use hopsim_infiniband::reaction::aimd::{Aimd, WHOLE};
use hopsim_infiniband::reaction::rates;
use hopsim_infiniband::reaction::table::Delay;
use hopsim_infiniband::time::Ticks;
use hopsim_infiniband_reference::{Fact, Reference, run};
use std::collections::{BTreeMap, BTreeSet};

/// How long fabrics run \[ticks\].
const UNTIL: Ticks = 12_000;

/// The packets of each flow and kind in the order in which they are sent, and in which they are delivered.
fn sent_and_delivered(facts: &[Fact]) -> BTreeMap<(u32, bool), [Vec<u32>; 2]> {
    let mut packets: BTreeMap<_, [Vec<u32>; 2]> = BTreeMap::new();
    let mut note = |index: usize, packet: Sent| {
        packets.entry((packet.flow, packet.is_notification)).or_default()[index].push(packet.number);
    };
    for fact in facts {
        match *fact {
            Fact::Sent { packet, .. } => note(0, packet),
            Fact::Delivered { packet, .. } => note(1, packet),
            _ => {}
        }
    }
    packets
}

/// Compares facts, and says the first one that differs.
fn same(one: &[Fact], other: &[Fact]) -> Result<(), String> {
    match one.iter().zip(other).find(|(this, that)| this != that) {
        Some((this, that)) => Err(format!("{this:?} and {that:?}")),
        None if one.len() != other.len() => Err(format!("{} and {} facts", one.len(), other.len())),
        None => Ok(()),
    }
}

#[test]
fn packets_of_a_flow_are_delivered_once_and_in_order() {
    for_each_fabric((60, 1), |(fabric, flows, seed)| {
        for (flow, [sent, delivered]) in sent_and_delivered(&run(&fabric, &flows, seed, UNTIL)) {
            let numbers: Vec<u32> = (0..sent.len() as u32).collect();
            if sent != numbers || !numbers.starts_with(&delivered) {
                return Err(format!("{flow:?}: sent {sent:?}, delivered {delivered:?}"));
            }
        }
        Ok(())
    });
}

#[test]
fn when_all_flows_have_ended_everything_is_delivered() {
    for_each_fabric((60, 2), |(fabric, mut flows, seed)| {
        for flow in &mut flows {
            flow.end = flow.end.min(4000);
        }
        let mut reference = Reference::new(&fabric, &flows, seed);
        let all =
            |facts: &[Fact]| sent_and_delivered(facts).values().all(|[sent, delivered]| sent == delivered);
        let mut ticks = 0;
        while ticks < 4000 || !all(reference.facts()) {
            (0..1000).for_each(|_| reference.step());
            ticks += 1000;
            if ticks > 200_000 {
                return Err("something is left".to_owned());
            }
        }
        // Nothing waits for an output any more.
        let lanes = 0..usize::from(fabric.lanes.count);
        let ports = fabric.hosts as usize..fabric.ports.len();
        let left = ports
            .clone()
            .flat_map(|output| ports.clone().map(move |input| (output, input)))
            .find(|&(output, input)| lanes.clone().any(|lane| reference.occupancy(output, input, lane) > 0));
        left.map_or(Ok(()), |pair| Err(format!("queue {pair:?} is not empty")))
    });
}

#[test]
fn a_message_is_sent_whole_and_no_more() {
    for_each_fabric((40, 3), |(fabric, flows, seed)| {
        let flows: Vec<Flow> = flows.into_iter().map(|flow| Flow { end: Ticks::MAX, ..flow }).collect();
        let facts = run(&fabric, &flows, seed, 2 * UNTIL);
        for (number, flow) in flows.iter().enumerate() {
            let lengths: Vec<u64> = facts
                .iter()
                .filter_map(|fact| match fact {
                    Fact::Sent { packet, .. }
                        if packet.flow as usize == number && !packet.is_notification =>
                    {
                        Some(u64::from(packet.bytes))
                    }
                    _ => None,
                })
                .collect();
            let whole = lengths
                .split_last()
                .is_none_or(|(_, most)| most.iter().all(|&it| it == u64::from(fabric.mtu)));
            let sum: u64 = lengths.iter().sum();
            if !whole || flow.bytes.is_some_and(|bytes| sum > bytes) {
                return Err(format!("flow {number}: {lengths:?}"));
            }
        }
        Ok(())
    });
}

#[test]
fn without_congestion_control_nothing_is_marked() {
    for_each_fabric((40, 4), |(fabric, flows, seed)| {
        let facts = run(&Fabric { congestion: None, ..fabric }, &flows, seed, UNTIL);
        let told = facts.iter().find(|fact| match fact {
            Fact::Marked { .. } => true,
            Fact::Sent { packet, .. } => packet.is_notification,
            Fact::Delivered { marked, .. } => *marked,
            _ => false,
        });
        told.map_or(Ok(()), |fact| Err(format!("{fact:?}")))
    });
}

/// What is set for the ports, for those that are exceptions and for the others.
fn rules(control: &mut CongestionControl) -> impl Iterator<Item = &mut PortRules> {
    std::iter::once(&mut control.rules).chain(control.exceptions.values_mut())
}

/// Two variants of a fabric with congestion control, whose first index, if it has one, is 0: nothing happens in one that does not in the other.
fn alike(number: u8, variants: impl Fn(Fabric) -> [Fabric; 2]) {
    for_each_fabric((60, number), |(mut fabric, flows, seed)| {
        let Some(control) = &mut fabric.congestion else { return Ok(()) };
        if let Reaction::Table(rules) = &mut control.reaction {
            rules.minimum = 0;
        }
        let [one, other] = variants(fabric);
        same(&run(&one, &flows, seed, UNTIL), &run(&other, &flows, seed, UNTIL))
    });
}

#[test]
fn congestion_control_that_marks_nothing_changes_nothing() {
    alike(5, |mut fabric| {
        // No packet is so long, and nothing is acknowledged.
        fabric.congestion.iter_mut().for_each(|control| {
            rules(control).for_each(|rules| rules.packet_size = 255);
            control.notification = Notification::Packets { interval: 0 };
        });
        [Fabric { congestion: None, ..fabric.clone() }, fabric]
    });
}

#[test]
fn a_source_that_notifications_do_not_change_is_as_good_as_one_that_does_not_wait() {
    alike(6, |fabric| {
        let [mut unchanged, mut immediate] = [fabric.clone(), fabric];
        unchanged.congestion.iter_mut().for_each(|control| match &mut control.reaction {
            Reaction::Table(rules) => rules.limit = 0,
            Reaction::Aimd(rules) => rules.decrease = 0,
            Reaction::Dcqcn(rules) => rules.least = rates::WHOLE,
            Reaction::Timely(rules) => rules.least = rates::WHOLE,
            Reaction::Swift(rules) => (rules.least, rules.initial, rules.most) = (1 << 40, 1 << 40, 1 << 40),
            Reaction::Nscc(rules) => (rules.most, rules.most_decrease) = (1 << 40, 0),
            Reaction::Hpcc(rules) => (rules.least, rules.base_round_trip) = (rates::WHOLE, 1 << 40),
        });
        immediate.congestion.iter_mut().for_each(|control| match &mut control.reaction {
            Reaction::Table(rules) => rules.entries.fill(Delay::default()),
            Reaction::Aimd(rules) => rules.least = WHOLE,
            reaction @ (Reaction::Dcqcn(_)
            | Reaction::Timely(_)
            | Reaction::Swift(_)
            | Reaction::Nscc(_)
            | Reaction::Hpcc(_)) => {
                let still = Aimd { increase: 0, decrease: 0, period: 1, least: WHOLE };
                *reaction = Reaction::Aimd(still);
            }
        });
        [unchanged, immediate]
    });
}

#[test]
fn where_every_eligible_packet_is_marked_it_does_not_matter_how_they_are_chosen() {
    alike(7, |fabric| {
        [Marking::Random, Marking::Periodic].map(|marking| {
            let mut fabric = fabric.clone();
            fabric.congestion.iter_mut().for_each(|control| {
                control.marking = marking;
                rules(control).for_each(|rules| rules.marking_rate = 0);
            });
            fabric
        })
    });
}

/// What is wrong with the state of an output and VL: it must be congested above the high threshold, unless it may have to wait for
/// credits, and not below the low one.
fn wrong_state(fabric: &Fabric, reference: &Reference, output: usize, lane: usize) -> Option<String> {
    let control = fabric.congestion.as_ref()?;
    let queues =
        (fabric.hosts as usize..fabric.ports.len()).map(|input| reference.occupancy(output, input, lane));
    let x = match control.mode {
        ThresholdMode::PerVoq => queues.max()?,
        ThresholdMode::Common => queues.sum(),
    };
    let is_congested = reference.is_congested(output, lane);
    let rules = control.exceptions.get(&(output as u32)).unwrap_or(&control.rules);
    let must_be = rules.victim_mask == VictimMask::All && x >= rules.high;
    let wrong = if x < rules.low { is_congested } else { must_be && !is_congested };
    wrong.then(|| format!("output {output} with {x} bytes in VL {lane}: congested {is_congested}"))
}

#[test]
fn outputs_are_congested_above_the_high_threshold_and_not_below_the_low_one() {
    for_each_fabric((20, 9), |(fabric, flows, seed)| {
        let mut reference = Reference::new(&fabric, &flows, seed);
        for _ in 0..UNTIL / 4 {
            reference.step();
            for output in fabric.hosts as usize..fabric.ports.len() {
                for lane in 0..usize::from(fabric.lanes.count) {
                    wrong_state(&fabric, &reference, output, lane).map_or(Ok(()), Err)?;
                }
            }
        }
        Ok(())
    });
}

/// Facts by kind: sent, granted, marked, data and notifications delivered, messages, stalls, messages posted.
fn kinds(((fabric, flows, seed), script): &(Case, Script)) -> [usize; 10] {
    let mut counts = [0; 10];
    let mut reference = Reference::with_workload(fabric, flows, *seed, Players::<true>::new(script));
    (0..UNTIL).for_each(|_| reference.step());
    for fact in reference.facts() {
        let kind = match fact {
            Fact::Sent { .. } | Fact::OnLink { .. } => 0,
            Fact::Granted { .. } => 1,
            Fact::Marked { .. } => 2,
            Fact::Delivered { packet, .. } => 3 + usize::from(packet.is_notification),
            Fact::Message { .. } => 5,
            Fact::Lost { .. } | Fact::MessageLost { .. } => unreachable!("no link fails"),
            Fact::Stalled { .. } => 6,
            Fact::Posted { .. } => 7,
            Fact::Frame { .. } => 8,
            Fact::Paused { .. } => 9,
        };
        counts[kind] += 1;
    }
    counts
}

/// Checks that every packet that is sent is delivered once or lost once, or still under way. Counts those that are lost, by why.
fn conserve(((fabric, flows, seed), script): &(Case, Script)) -> Result<[usize; 3], String> {
    let mut reference = Reference::with_workload(fabric, flows, *seed, Players::<true>::new(script));
    (0..UNTIL).for_each(|_| reference.step());
    let mut under_way: BTreeSet<Sent> = BTreeSet::new();
    let mut lost = [0; 3];
    for fact in reference.facts() {
        let is_right = match *fact {
            Fact::Sent { packet, .. } => under_way.insert(packet),
            Fact::Delivered { packet, .. } => under_way.remove(&packet),
            Fact::Lost { packet, why, .. } => {
                lost[why as usize] += 1;
                under_way.remove(&packet)
            }
            _ => true,
        };
        if !is_right {
            return Err(format!("{fact:?}"));
        }
    }
    Ok(lost)
}

#[test]
fn where_links_fail_packets_are_delivered_or_lost_for_every_reason() {
    let fabrics = std::cell::RefCell::new([0; 3]);
    for_each_failing_fabric((100, 11), |case| {
        let lost = conserve(&case)?;
        fabrics
            .borrow_mut()
            .iter_mut()
            .zip(lost)
            .for_each(|(fabrics, lost)| *fabrics += usize::from(lost > 0));
        Ok(())
    });
    let fabrics = fabrics.into_inner();
    println!("of 100 fabrics packets are lost on links, for their output, spoiled: {fabrics:?}");
    assert!(fabrics.iter().all(|&fabrics| fabrics >= 10), "{fabrics:?}");
}

/// The messages of a flow of the workload, in order: how many packets each takes.
type Lengths = BTreeMap<u32, Vec<u64>>;

/// By flow, when each message has lost its first packet, and how many messages have all their packets there: by the packets alone.
fn by_packets(facts: &[Fact], lengths: &Lengths) -> (Vec<(Ticks, u32)>, usize) {
    let message_of = |packet: Sent| {
        let lengths = lengths.get(&packet.flow).filter(|_| !packet.is_notification)?;
        let ends = lengths.iter().scan(0, |sum, length| {
            *sum += length;
            Some(*sum)
        });
        Some((packet.flow, ends.take_while(|&end| end <= packet.number.into()).count()))
    };
    let (mut lost, mut there) = (BTreeMap::new(), BTreeMap::new());
    for fact in facts {
        match *fact {
            Fact::Lost { at, packet, .. } => {
                if let Some(message) = message_of(packet) {
                    lost.entry(message).or_insert(at);
                }
            }
            Fact::Delivered { packet, .. } => {
                if let Some(message) = message_of(packet) {
                    *there.entry(message).or_insert(0) += 1;
                }
            }
            _ => {}
        }
    }
    let whole = there.iter().filter(|((flow, message), count)| lengths[flow][*message] == **count).count();
    let mut lost: Vec<(Ticks, u32)> = lost.into_iter().map(|((flow, _), at)| (at, flow)).collect();
    lost.sort_unstable();
    (lost, whole)
}

#[test]
fn messages_are_there_or_lost_as_their_packets_are() {
    let seen = std::cell::RefCell::new([0; 3]);
    for_each_failing_fabric((100, 12), |((fabric, flows, seed), script)| {
        let mut reference = Reference::with_workload(&fabric, &flows, seed, Players::<true>::new(&script));
        (0..UNTIL).for_each(|_| reference.step());
        let (mut lengths, mut lost, mut there) = (Lengths::new(), Vec::new(), 0);
        for fact in reference.facts() {
            match *fact {
                Fact::Posted { flow, bytes, .. } => {
                    lengths.entry(flow).or_default().push(bytes.div_ceil(fabric.mtu.into()));
                }
                Fact::MessageLost { at, flow } => lost.push((at, flow)),
                Fact::Message { .. } => there += 1,
                _ => {}
            }
        }
        lost.sort_unstable();
        let posted: usize = lengths.values().map(Vec::len).sum();
        let mut seen = seen.borrow_mut();
        let counts = [lost.len(), there, posted - lost.len() - there];
        seen.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        let again = by_packets(reference.facts(), &lengths);
        if again == (lost.clone(), there) { Ok(()) } else { Err(format!("{lost:?}, {there}: {again:?}")) }
    });
    let seen = seen.into_inner();
    println!("messages of 100 fabrics lost, there, under way: {seen:?}");
    assert!(seen.iter().all(|&messages| messages >= 100), "{seen:?}");
}

#[test]
fn random_fabrics_are_busy_and_congested() {
    let busy = std::cell::RefCell::new([0; 10]);
    for_each_fabric_with_messages((60, 8), |case| {
        let mut busy = busy.borrow_mut();
        busy.iter_mut().zip(kinds(&case)).for_each(|(fabrics, count)| *fabrics += usize::from(count >= 10));
        Ok(())
    });
    let busy = busy.into_inner();
    println!("of 60 fabrics with ten of each kind: {busy:?}");
    assert!(busy.iter().all(|&fabrics| fabrics >= 20), "{busy:?}");
}
