//! Messages of a workload, at times that follow from the rules by hand: hosts at one switch, links of two ticks a byte.
//!
//! A packet of 256 bytes that starts at t on an idle way is delivered at t + 544 (see [`crate::closed_forms`]).

use crate::closed_forms::{flow, star};
use crate::fabrics::workload::{Heard, Players, Role, Script};
use hopsim_infiniband::fabric::Fabric;
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::time::Ticks;
use hopsim_infiniband::workload::Message;
use hopsim_infiniband_reference::{Fact, Reference};

fn message(destination: u32, bytes: u64, tag: u64) -> Message {
    Message { destination, service_level: 0, bytes, tag }
}

/// A host that posts messages at some time.
fn posts(at: Ticks, messages: &[Message]) -> Role {
    Role { agenda: messages.iter().map(|&message| (at, message)).collect(), ..Role::default() }
}

/// What happens on a fabric by tick 6000.
fn run(fabric: &Fabric, flows: &[Flow], script: &Script) -> Reference<Players<true>> {
    let mut reference = Reference::with_workload(fabric, flows, 1, Players::new(script));
    (0..6000).for_each(|_| reference.step());
    reference
}

/// When packets are sent: their flows and bytes.
fn sent(reference: &Reference<Players<true>>) -> Vec<(Ticks, u32, u32)> {
    let sent = |fact: &Fact| match *fact {
        Fact::Sent { at, packet } => Some((at, packet.flow, packet.bytes)),
        _ => None,
    };
    reference.facts().iter().filter_map(sent).collect()
}

/// The facts of messages.
fn arrived(reference: &Reference<Players<true>>) -> Vec<Fact> {
    reference.facts().iter().filter(|fact| matches!(fact, Fact::Message { .. })).copied().collect()
}

#[test]
fn a_message_of_two_packets_and_a_half() {
    // Packets start at 100, 612 and 1124; the last one of 128 bytes is on the link for 256 ticks, until 1380. Its head is at the switch
    // at 1134, granted at 1139, when the output has been free for 5 ticks; its tail comes at 1390; it leaves behind the second
    // packet, which left at 122 + 512 = 634, at 634 + 512 = 1146, and its tail is at the host at 1146 + 10 + 256 = 1412.
    let reference = run(&star(&[2; 2]), &[], &vec![posts(100, &[message(1, 640, 7)]), Role::default()]);
    assert_eq!(sent(&reference), [(100, 0, 256), (612, 0, 256), (1124, 0, 128)]);
    assert_eq!(arrived(&reference), [Fact::Message { at: 1412, flow: 0, bytes: 640, posted: 100 }]);
    // Host 0 acts at 100 and when its message has left, host 1 when it is there.
    let heard = [
        Heard::Acts { host: 0, now: 100 },
        Heard::Left { host: 0, tag: 7, now: 1380 },
        Heard::Acts { host: 0, now: 1380 },
        Heard::Arrived { host: 1, tag: 7, now: 1412 },
        Heard::Acts { host: 1, now: 1412 },
    ];
    assert_eq!(reference.workload().log, heard);
}

#[test]
fn messages_of_a_flow_are_sent_in_order_and_share_no_packet() {
    let script = vec![posts(0, &[message(1, 300, 0), message(1, 10, 1)]), Role::default()];
    let reference = run(&star(&[2; 2]), &[], &script);
    // 44 bytes are on the link for 88 ticks.
    assert_eq!(sent(&reference), [(0, 0, 256), (512, 0, 44), (600, 0, 10)]);
    // A drain of 12 ticks a byte is slower than all else: from the first head at the host on, at 32, it never pauses.
    let mut fabric = star(&[2; 2]);
    fabric.host.drain = 12;
    let times = [32 + 12 * 300, 32 + 12 * 310];
    let [first, second] =
        [(times[0], 300), (times[1], 10)].map(|(at, bytes)| Fact::Message { at, flow: 0, bytes, posted: 0 });
    assert_eq!(arrived(&run(&fabric, &[], &script)), [first, second]);
}

#[test]
fn an_answer_starts_when_the_message_has_left_or_is_there() {
    let [next, answer] = [message(1, 256, 1), message(0, 256, 2)];
    let first = Role { after_left: [(0, next)].into(), ..posts(0, &[message(1, 256, 0)]) };
    let second = Role { after_arrived: [(0, answer)].into(), ..Role::default() };
    let reference = run(&star(&[2; 2]), &[], &vec![first, second]);
    assert_eq!(sent(&reference), [(0, 0, 256), (512, 0, 256), (544, 1, 256)]);
}

#[test]
fn a_flow_of_the_workload_is_the_last_one_of_its_host() {
    // The flows of host 0 take turns from 0 on, every 512 ticks; what is posted at 600 is in time for its place behind both, at 1024. It is
    // not the flow of the list that has the same source, destination and service level.
    let script = vec![posts(600, &[message(1, 512, 0)]), Role::default(), Role::default()];
    let reference = run(&star(&[2; 3]), &[flow(0, 1), flow(0, 2)], &script);
    let flows: Vec<u32> = sent(&reference).iter().map(|&(_, flow, _)| flow).take(8).collect();
    assert_eq!(flows, [0, 1, 2, 0, 1, 2, 0, 1]);
    // Two destinations that host 0 gets messages for at once begin in the order of the messages.
    let script = vec![posts(0, &[2, 1, 2].map(|to| message(to, 256, 0))), Role::default(), Role::default()];
    let reference = run(&star(&[2; 3]), &[], &script);
    let flows: Vec<u32> = reference.flows().iter().map(|flow| flow.destination).collect();
    assert_eq!(flows, [2, 1]);
    assert_eq!(sent(&reference), [(0, 0, 256), (512, 1, 256), (1024, 0, 256)]);
}

#[test]
fn the_time_that_a_host_said_last_counts() {
    // It wanted to act at 700; at 512, when its message has left, it puts that off by 300.
    let role = Role {
        agenda: vec![(0, message(1, 256, 0)), (700, message(1, 256, 1))],
        put_off: 300,
        ..Role::default()
    };
    let reference = run(&star(&[2; 2]), &[], &vec![role, Role::default()]);
    assert_eq!(sent(&reference), [(0, 0, 256), (1000, 0, 256)]);
    let acts = |heard: &Heard| if let Heard::Acts { host: 0, now } = heard { Some(*now) } else { None };
    let acts: Vec<Ticks> = reference.workload().log.iter().filter_map(acts).collect();
    assert_eq!(acts, [0, 512, 1000, 1512]);
}
