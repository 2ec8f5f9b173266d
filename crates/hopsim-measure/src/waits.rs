//! What packets wait for in routers: the record stream `waits`, by output VC and by flow, and `packet_hops`, by packet.
//!
//! All of it is computed when a packet is granted an output, from when that VC got room and the output was ready last: nothing is
//! looked at while heads wait.

use crate::flows::Flows;
use crate::packet_hops::PacketHops;
use crate::standing::class;
use hopsim_cycles::kernel::ids::{Id as _, PairId};
use hopsim_cycles::kernel::packet::Packet;
use hopsim_cycles::observer::Grant;
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::plan::Plan;
use std::ops::Range;

/// What packets waited for \[cycles\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// Packets granted an output.
    pub packets: u64,
    /// Cycles behind other packets of their input VC.
    pub queued: u64,
    /// Cycles for room in the buffer behind the output VC.
    pub room: u64,
    /// Cycles for room for the bubble besides.
    pub bubble: u64,
    /// Cycles for the output.
    pub output: u64,
    /// Cycles for the crossbar, an arbiter, or injection control.
    pub crossbar: u64,
}

impl Waited {
    /// Adds what others waited.
    pub fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.queued += other.queued;
        self.room += other.room;
        self.bubble += other.bubble;
        self.output += other.output;
        self.crossbar += other.crossbar;
    }
}

/// What packets waited for in some routers.
#[derive(Clone, Debug)]
pub struct Waits {
    /// Slots, pairs and ports per router, a power of two.
    stride: usize,
    /// The cycle since when there is room for pairs and entries, if there is.
    opened: Vec<u32>,
    /// When an output can take a packet, by port.
    ready: Vec<u32>,
    /// The first cycle after the grant of the last head, by slot.
    after: Vec<u32>,
    /// What packets waited for, by pair.
    pub by_pair: Vec<Waited>,
    /// What packets waited for, by flow.
    pub by_flow: Flows,
    /// The group of each router -- constant.
    groups: Vec<u32>,
    nodes_per_router: u32,
    /// What every chosen packet waited for by itself, if asked for.
    pub packets: Option<PacketHops>,
    /// Whether `packets` is asked for -- constant.
    records: bool,
}

impl Waits {
    /// Empty counters for so many routers.
    pub fn new(plan: &Plan, routers: usize) -> Self {
        let (stride, nodes_per_router) =
            (plan.system.network.layout.stride(), plan.system.topology.nodes_per_router());
        let places = routers * stride;
        let wants = plan.experiment.measure.streams.contains(&RecordStream::PacketHops);
        let group = |router: u32| class(&plan.system.topology, router * nodes_per_router);
        let groups: Vec<u32> = (0..plan.system.network.routers).map(group).collect();
        Self {
            stride,
            opened: vec![0; places],
            ready: vec![0; places],
            after: vec![0; places],
            by_pair: vec![Waited::default(); places],
            by_flow: Flows::new(plan.system.jobs.len(), &groups),
            groups,
            nodes_per_router,
            packets: wants.then(|| PacketHops::new(plan)),
            records: wants,
        }
    }

    /// Of the pairs from `first` on some have room from cycle `now` on.
    pub fn open(&mut self, first: usize, mut opened: u64, now: u32) {
        while opened != 0 {
            self.opened[first + opened.trailing_zeros() as usize] = now;
            opened &= opened - 1;
        }
    }

    /// Something else has made an output of a router busy, at cycle `now` before the allocation.
    pub fn occupy(&mut self, router: usize, port: usize, ready: u32, now: u32) {
        if ready > now {
            self.ready[router * self.stride + port] = ready;
        }
    }

    /// A packet is granted an output, which counts for the sums if that is in the window.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn grant(&mut self, packet: &Packet, grant: &Grant, counts: bool) {
        let &Grant { slot, pair, asked, first, now, ready, port, .. } = grant;
        let port = pair.index() & !(self.stride - 1) | port;
        let head = first.max(std::mem::replace(&mut self.after[slot.index()], now + 1));
        let before = self.ready[port].min(now);
        // It may be ready again in the next cycle, so that it is never found busy.
        if ready > now + 1 {
            self.ready[port] = ready;
        }
        if !counts && !self.records {
            return;
        }
        let opened = |pair: PairId| self.opened[pair.index()].min(now);
        let room = asked.map_or(head, |_| opened(pair)).max(head);
        let bubble = asked.map_or(room, opened).max(room);
        let output = before.max(bubble);
        let (queued, room, bubble, output, crossbar) =
            (head - first, room - head, bubble - room, output - bubble, now - output);
        if self.records {
            let waited = [queued, room, bubble, output, crossbar];
            self.packets.iter_mut().for_each(|all| all.add(packet, grant, waited));
            if !counts {
                return;
            }
        }
        let waited = Waited {
            packets: 1,
            queued: queued.into(),
            room: room.into(),
            bubble: bubble.into(),
            output: output.into(),
            crossbar: crossbar.into(),
        };
        self.by_pair[pair.index()].add(&waited);
        let groups = [packet.source / self.nodes_per_router, packet.destination_router];
        let [from, to] = groups.map(|router| self.groups[router as usize]);
        self.by_flow.of((packet.job, from, to)).add(&waited);
    }

    /// A link that was out of order, at a port of a router, is repaired as cycle `now` begins.
    pub fn repair(&mut self, router: usize, port: usize, now: u32) {
        let ready = &mut self.ready[router * self.stride + port];
        *ready = now.max(*ready);
    }

    /// The head of a slot of a router is lost as cycle `now` begins: the packet behind it has waited for it until then.
    pub fn lose_head(&mut self, router: usize, slot: usize, now: u32) {
        let after = &mut self.after[router * self.stride + slot];
        *after = now.max(*after);
    }

    /// What was counted at some places. All that does not belong to a place is with the first ones.
    #[must_use]
    pub fn part(&self, places: Range<usize>) -> Self {
        let is_first = places.start == 0;
        let of = |cycles: &Vec<u32>| cycles[places.clone()].to_vec();
        Self {
            stride: self.stride,
            opened: of(&self.opened),
            ready: of(&self.ready),
            after: of(&self.after),
            by_pair: self.by_pair[places.clone()].to_vec(),
            by_flow: if is_first { self.by_flow.clone() } else { self.by_flow.empty() },
            groups: self.groups.clone(),
            nodes_per_router: self.nodes_per_router,
            packets: self.packets.as_ref().map(|all| if is_first { all.clone() } else { all.empty() }),
            records: self.records,
        }
    }

    /// Appends what packets waited for in the routers behind these.
    pub fn append(&mut self, other: &Self) {
        self.opened.extend(&other.opened);
        self.ready.extend(&other.ready);
        self.after.extend(&other.after);
        if let (Some(packets), Some(other)) = (&mut self.packets, &other.packets) {
            packets.append(other, self.by_pair.len());
        }
        self.by_pair.extend(&other.by_pair);
        other.by_flow.iter().for_each(|(flow, waited)| self.by_flow.of(flow).add(waited));
    }
}
