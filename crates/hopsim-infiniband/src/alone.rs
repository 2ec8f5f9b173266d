//! The time that a flow takes alone: to send its packets over a fabric in which nothing else is sent, and to deliver them.
//!
//! The rules of docs/infiniband.md make the time of a packet at every stage of its way the greatest of sums: of what the packet
//! needs from the stage before, and of what the stage needs for the packet in front of it. Train of one length need the same
//! everywhere, so that of N of them in a row the last one is at a stage either when the stage before lets it, or N − 1 times as long
//! after the first one as the stage takes for a packet. Three packets tell all, then, whatever the number of packets: the first one, the
//! last one of full length, and the rest.

use crate::fabric::{Fabric, Switching};
use crate::flow::Flow;
use crate::time::Ticks;

/// What belongs to the first packet, to the last one of those before the rest, and to the rest.
type Three = [Ticks; 3];

/// The packets of a flow, one behind the other.
#[derive(Clone, Copy)]
struct Train {
    /// Lengths of the three packets; without packets before the rest the first two have none, and hold nothing up.
    lengths: Three,
    /// How many packets of full length there are behind the first one.
    more: u64,
}

impl Train {
    fn new(bytes: u64, mtu: u64) -> Self {
        let before = bytes.saturating_sub(1) / mtu;
        let whole = if before > 0 { mtu } else { 0 };
        Self { lengths: [whole, whole, bytes - before * mtu], more: before.saturating_sub(1) }
    }

    /// What the three packets take where a byte takes `byte`.
    fn times(&self, byte: Ticks) -> Three {
        self.lengths.map(|length| length * byte)
    }

    /// When the three packets are at a stage that they are let into at `at`, each so long behind the one in front of it as what a stage
    /// takes for one of them at `byte` each: the rest as long as it takes for the length number `rest`.
    fn one_by_one(&self, at: Three, byte: Ticks, rest: usize) -> Three {
        let [first, mut last, mut end] = at;
        last = last.max(first + self.more * self.lengths[1] * byte);
        end = end.max(last + self.lengths[rest] * byte);
        [first, last, end]
    }
}

/// The numbers of the packet in front of the rest, and of the rest.
const BEFORE: usize = 1;
const REST: usize = 2;

fn each(one: Three, other: Three, of: impl Fn(Ticks, Ticks) -> Ticks) -> Three {
    std::array::from_fn(|packet| of(one[packet], other[packet]))
}

/// The time that so many bytes of a flow, which has a number, take alone, from the start of their first packet to the delivery of their
/// last one, by the forwarding tables of the beginning: exactly what they take where nothing else is sent, buffers are large and links
/// in order.
///
/// Source: the rules of docs/infiniband.md, *Measurement*.
pub fn time(fabric: &Fabric, (number, flow): (u32, &Flow), bytes: u64) -> Ticks {
    let &Flow { source, destination, byte, .. } = flow;
    let packets = Train::new(bytes, fabric.mtu.into());
    let rules = &fabric.switch;
    let mut link = &fabric.ports[source as usize];
    let pace = link.byte.max(fabric.host.injection).max(byte);
    let mut starts = packets.one_by_one([0; 3], pace, BEFORE);
    loop {
        let heads = starts.map(|start| start + link.delay);
        let tails = each(heads, packets.times(link.byte), |head, time| head + time);
        let Some(switch) = fabric.switch_of(link.peer) else {
            let drain = packets.times(fabric.host.drain);
            let drained = each(each(heads, drain, |head, time| head + time), tails, Ticks::max);
            return packets.one_by_one(drained, fabric.host.drain, REST)[REST];
        };
        link = &fabric.ports[fabric.output(switch, destination, number) as usize];
        let granted = heads.map(|head| head + rules.input_latency);
        let crossed = each(granted, packets.times(rules.crossbar), |at, time| at + time);
        let ends = packets.one_by_one(each(crossed, tails, Ticks::max), rules.crossbar, REST);
        let enough = match rules.switching {
            // The link would run dry otherwise; a packet that waits for the crossbar waits for the link, too.
            Switching::CutThrough => {
                each(each(ends, packets.times(link.byte), Ticks::saturating_sub), granted, Ticks::max)
            }
            Switching::StoreAndForward => ends,
        };
        starts = packets.one_by_one(enough.map(|at| at + rules.output_latency), link.byte, BEFORE);
    }
}
