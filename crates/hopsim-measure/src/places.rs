//! Counters of places: nodes, slots and pairs. They belong to the region that the place is in, which alone writes them.

use crate::allocation::Allocations;
use crate::flit_hops::FlitHops;
use crate::link_series::LinkSeries;
use crate::output_queues::OutputQueues;
use crate::packet_hops::PacketHops;
use crate::parts::{Backlog, Stalls, may_stall};
use crate::waits::Waits;
use hopsim_cycles::kernel::ids::{Id as _, PairId, RegionNode, SlotId};
use hopsim_cycles::kernel::regions::Span;
use hopsim_cycles::kernel::rows::row;
use hopsim_cycles::observer::WaitReason;
use hopsim_experiment::config::measure::{MeasureConfig, RecordStream};
use hopsim_experiment::plan::Plan;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Counts by node.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NodeCounts {
    /// Packets that each node generated.
    pub generated: Vec<u32>,
    /// Packets delivered to each node.
    pub delivered: Vec<u32>,
}

/// Cycles that the heads of injection VCs waited.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WaitCounts {
    /// Cycles by node and [`WaitReason`]. Those for the input are what all others leave of the time that heads were there.
    cycles: Vec<[u64; WaitReason::ALL.len()]>,
    /// What the head of a slot was counted for last.
    last: Vec<WaitReason>,
    /// First cycle after the grant of the last head of a slot.
    since: Vec<u32>,
    /// Slots per router.
    stride: usize,
}

impl WaitCounts {
    fn new(nodes: usize, routers: usize, stride: usize) -> Self {
        let slots = routers * stride;
        Self {
            cycles: vec![[0; WaitReason::ALL.len()]; nodes],
            last: vec![WaitReason::Input; slots],
            since: vec![0; slots],
            stride,
        }
    }

    /// The waits at some nodes and slots.
    fn part(&self, nodes: Range<usize>, slots: Range<usize>) -> Self {
        let Self { cycles, last, since, stride } = self;
        Self {
            cycles: row(cycles, nodes.start, nodes.len()),
            last: row(last, slots.start, slots.len()),
            since: row(since, slots.start, slots.len()),
            stride: *stride,
        }
    }

    /// The head of a slot, a packet of `node`, waits in this cycle unless it is granted.
    #[inline]
    pub fn count(&mut self, node: RegionNode, slot: SlotId, reason: WaitReason) {
        self.last[slot.index()] = reason;
        let cycles = &mut self.cycles[node.index()];
        cycles[reason as usize] = cycles[reason as usize].wrapping_add(1);
        cycles[WaitReason::Input as usize] = cycles[WaitReason::Input as usize].wrapping_sub(1);
    }

    /// The head of a slot, counted in this cycle, does not wait in it.
    pub fn take_back(&mut self, node: RegionNode, slot: SlotId) {
        let cycles = &mut self.cycles[node.index()];
        let reason = self.last[slot.index()] as usize;
        cycles[WaitReason::Input as usize] = cycles[WaitReason::Input as usize].wrapping_add(1);
        cycles[reason] = cycles[reason].wrapping_sub(1);
    }

    /// The wait of a head ends, which took part from its first cycle on if not the one before it left later. Of it the cycles in
    /// the window count.
    pub fn end(&mut self, node: RegionNode, slot: SlotId, wait: Range<u32>, window: Range<u32>) {
        let (Range { start: first, end: now }, Range { start, end }) = (wait, window);
        let first = first.max(std::mem::replace(&mut self.since[slot.index()], now + 1));
        let cycles = now.clamp(start, end).saturating_sub(first.clamp(start, end));
        let input = &mut self.cycles[node.index()][WaitReason::Input as usize];
        *input = input.wrapping_add(u64::from(cycles));
    }

    /// Cycles by node for one reason, when all heads have been counted to their last cycle.
    pub fn of(&self, reason: WaitReason) -> impl Iterator<Item = u64> + '_ {
        self.cycles.iter().map(move |cycles| cycles[reason as usize])
    }
}

/// Whether it is asked for what packets wait for in routers.
fn wants_waits(plan: &Plan) -> bool {
    let streams = &plan.experiment.measure.streams;
    streams.contains(&RecordStream::Waits) || streams.contains(&RecordStream::PacketHops)
}

/// Sums by output VC and input VC.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LinkCounts {
    /// Phits that departed, by pair; empty unless asked for.
    pub phits: Vec<u64>,
    /// Phits times cycles in the buffer, by slot; empty unless asked for.
    pub occupancy: Vec<u64>,
    /// Pairs and slots per router.
    pub stride: usize,
    /// Pairs and entries with room when they were looked at last, a bit each; empty if nobody wants to know.
    pub open: Vec<u64>,
    /// Routers where the room of pairs may have changed since they were looked at last, a bit each; empty if nobody wants to
    /// know.
    #[serde(skip)]
    touched: Vec<u64>,
    /// Sums by interval of the run, if asked for.
    pub series: Option<Box<LinkSeries>>,
    /// What the allocators of routers did, if asked for.
    pub allocations: Option<Box<Allocations>>,
    /// How full output queues are, if asked for.
    pub queues: Option<Box<OutputQueues>>,
    /// What packets waited for, if asked for; such runs are not saved.
    #[serde(skip)]
    pub waits: Option<Box<Waits>>,
}

impl LinkCounts {
    fn new(plan: &Plan, routers: usize) -> Self {
        let MeasureConfig { streams, interval, .. } = &plan.experiment.measure;
        let stride = plan.system.network.layout.stride();
        let places = routers * stride;
        let series = streams.contains(&RecordStream::LinkSeries);
        let looks = series || wants_waits(plan);
        let sums = streams.contains(&RecordStream::Links) || streams.contains(&RecordStream::Occupancy);
        Self {
            phits: vec![0; if sums { places } else { 0 }],
            occupancy: vec![0; if sums { places } else { 0 }],
            stride,
            open: vec![u64::MAX; if looks { places / 64 } else { 0 }],
            touched: if looks { all_bits(routers) } else { Vec::new() },
            series: series.then(|| Box::new(LinkSeries::new(*interval, places))),
            allocations: Allocations::wanted(plan, routers).map(Box::new),
            queues: OutputQueues::wanted(plan, routers).map(Box::new),
            waits: wants_waits(plan).then(|| Box::new(Waits::new(plan, routers))),
        }
    }

    /// Whether anybody wants to know which pairs have room.
    #[inline]
    pub fn looks(&self) -> bool {
        !self.touched.is_empty()
    }

    /// Whether phits and occupancy are summed up over the window.
    #[inline]
    pub fn has_sums(&self) -> bool {
        !self.phits.is_empty()
    }

    /// A packet of `length` phits was in a slot for some cycles.
    pub fn hold(&mut self, slot: SlotId, length: u32, cycles: Range<u32>) {
        self.occupancy[slot.index()] +=
            u64::from(length) * u64::from(cycles.end.saturating_sub(cycles.start));
    }

    /// The room of a pair may have changed, and that of others of its router.
    #[inline]
    pub fn touch(&mut self, pair: PairId) {
        let router = pair.index() / self.stride;
        if let Some(word) = self.touched.get_mut(router / 64) {
            *word |= 1 << (router % 64);
        }
    }

    /// Whether a pair had room when it was looked at last; nobody knows if nobody wants to.
    pub fn had_room(&self, pair: PairId) -> bool {
        self.open.get(pair.index() / 64).is_none_or(|word| word >> (pair.index() % 64) & 1 == 1)
    }

    /// Looks at cycle `now` which pairs have room, as words of each router say.
    pub fn look<'a>(&mut self, words: impl Fn(usize) -> &'a [u64], now: u32) {
        for at in 0..self.touched.len() {
            let mut touched = std::mem::take(&mut self.touched[at]);
            while touched != 0 {
                let router = 64 * at + touched.trailing_zeros() as usize;
                touched &= touched - 1;
                let words = words(router);
                let first = words.len() * router;
                if self.open[first..first + words.len()] != *words {
                    self.change(first, words, now);
                }
            }
        }
    }

    // Out of line, as mostly nothing has changed.
    #[inline(never)]
    fn change(&mut self, first: usize, words: &[u64], now: u32) {
        let Self { open, series, waits, .. } = self;
        for (number, &word) in (first..).zip(words) {
            let changed = std::mem::replace(&mut open[number], word) ^ word;
            if let Some(series) = series {
                series.change(64 * number, changed, word, now);
            }
            if let Some(waits) = waits {
                waits.open(64 * number, changed & word, now);
            }
        }
    }

    /// The run ends with cycle `end`.
    pub fn close(&mut self, end: u32) {
        if let Some(series) = &mut self.series {
            series.close(end, &self.open);
        }
    }
}

/// A bit for each of so many.
fn all_bits(count: usize) -> Vec<u64> {
    let word = |first| if count - first < 64 { (1u64 << (count - first)) - 1 } else { u64::MAX };
    (0..count).step_by(64).map(word).collect()
}

/// All counts of the places of a region, and when the run is over of the network. The default counts nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Places {
    /// The first node, by its number in the network.
    pub first_node: u32,
    /// Packets injected by each node, and their phits.
    pub injected: Vec<(u32, u64)>,
    /// What the source of each node generates and injects; empty where programs run.
    pub backlogs: Vec<Backlog>,
    /// How long the source of each node stands still; empty where none ever does.
    pub stalls: Vec<Stalls>,
    /// Counts by node, if asked for.
    pub nodes: Option<NodeCounts>,
    /// Sums by link, if asked for.
    pub links: Option<LinkCounts>,
    /// Cycles that the heads of injection VCs waited, if asked for.
    pub waits: Option<Box<WaitCounts>>,
    /// The stages of flits, if asked for; such runs are not saved.
    #[serde(skip)]
    pub flits: Option<Box<FlitHops>>,
}

impl Places {
    /// Empty counters for `nodes` nodes from `first_node` on and so many routers.
    pub fn new(plan: &Plan, first_node: u32, nodes: usize, routers: usize) -> Self {
        let wants = |stream| plan.experiment.measure.streams.contains(&stream);
        let stride = plan.system.network.layout.stride();
        Self {
            first_node,
            injected: vec![(0, 0); nodes],
            backlogs: vec![Backlog::default(); if plan.system.has_programs() { 0 } else { nodes }],
            stalls: vec![Stalls::default(); if may_stall(plan) { nodes } else { 0 }],
            nodes: (wants(RecordStream::Nodes) || wants(RecordStream::Routers))
                .then(|| NodeCounts { generated: vec![0; nodes], delivered: vec![0; nodes] }),
            links: (wants(RecordStream::Links)
                || wants(RecordStream::Occupancy)
                || wants(RecordStream::LinkSeries)
                || wants(RecordStream::Allocation)
                || wants(RecordStream::OutputQueues)
                || wants_waits(plan))
            .then(|| LinkCounts::new(plan, routers)),
            waits: wants(RecordStream::InjectionWaits)
                .then(|| Box::new(WaitCounts::new(nodes, routers, stride))),
            flits: FlitHops::wanted(plan, routers).map(Box::new),
        }
    }

    /// The source of a node generates a packet in a tenth of the window, or outside of it behind the last tenth.
    #[inline]
    pub fn offer(&mut self, node: RegionNode, tenth: usize) {
        if let Some(backlog) = self.backlogs.get_mut(node.index()) {
            backlog.generate(tenth);
        }
    }

    /// A packet of the source of a node is injected in a tenth of the window, or outside of it behind the last tenth.
    #[inline]
    pub fn take(&mut self, node: RegionNode, tenth: usize) {
        if let Some(backlog) = self.backlogs.get_mut(node.index()) {
            backlog.inject(tenth);
        }
    }

    /// Rows of a stream of packets, or of their flits, so far.
    pub fn rows_of_packets(&self, stream: RecordStream) -> usize {
        if stream == RecordStream::FlitHops {
            return self.flits.as_deref().map_or(0, FlitHops::count);
        }
        self.waits_of_links().and_then(|waits| waits.packets.as_ref()).map_or(0, PacketHops::count)
    }

    /// What packets waited for in routers, if asked for.
    pub fn waits_of_links(&self) -> Option<&Waits> {
        self.links.as_ref()?.waits.as_deref()
    }

    /// What packets waited for, if asked for.
    pub fn link_waits(&mut self) -> Option<&mut Waits> {
        self.links.as_mut()?.waits.as_deref_mut()
    }

    /// The counts of these places and of those behind them.
    #[must_use]
    pub fn joined(mut self, other: Self) -> Self {
        self.append(other);
        self
    }

    fn append(&mut self, other: Self) {
        self.injected.extend(other.injected);
        self.backlogs.extend(other.backlogs);
        self.stalls.extend(other.stalls);
        if let (Some(nodes), Some(other)) = (&mut self.nodes, other.nodes) {
            nodes.generated.extend(other.generated);
            nodes.delivered.extend(other.delivered);
        }
        if let (Some(links), Some(other)) = (&mut self.links, other.links) {
            links.phits.extend(other.phits);
            links.occupancy.extend(other.occupancy);
            links.open.extend(other.open);
            if let (Some(series), Some(other)) = (&mut links.series, other.series) {
                series.append(*other);
            }
            if let (Some(allocations), Some(other)) = (&mut links.allocations, other.allocations) {
                allocations.append(*other);
            }
            if let (Some(queues), Some(other)) = (&mut links.queues, other.queues) {
                queues.append(*other);
            }
            if let (Some(waits), Some(other)) = (&mut links.waits, &other.waits) {
                waits.append(other);
            }
        }
        if let (Some(waits), Some(other)) = (&mut self.waits, other.waits) {
            let WaitCounts { cycles, last, since, stride: _ } = *other;
            waits.cycles.extend(cycles);
            waits.last.extend(last);
            waits.since.extend(since);
        }
        if let (Some(flits), Some(other)) = (&mut self.flits, &other.flits) {
            flits.append(other);
        }
    }

    /// The counts of a region among those of a network.
    #[must_use]
    pub fn part(&self, span: &Span) -> Self {
        let Self { first_node: _, injected, backlogs, stalls, nodes, links, waits, flits: _ } = self;
        let (first, count) = (span.first_node as usize, span.nodes);
        let by_slot = |stride: usize| {
            let first = span.first_router as usize * stride;
            first..first + span.routers * stride
        };
        Self {
            first_node: span.first_node,
            injected: row(injected, first, count),
            backlogs: row(backlogs, first, count),
            stalls: row(stalls, first, count),
            nodes: nodes.as_ref().map(|NodeCounts { generated, delivered }| NodeCounts {
                generated: row(generated, first, count),
                delivered: row(delivered, first, count),
            }),
            links: links.as_ref().map(
                |LinkCounts {
                     phits,
                     occupancy,
                     stride,
                     open,
                     touched: _,
                     series,
                     allocations,
                     queues,
                     waits,
                 }| {
                    let slots = by_slot(*stride);
                    let (first, count) = (slots.start, slots.len());
                    let (phits, occupancy) = (row(phits, first, count), row(occupancy, first, count));
                    let open = row(open, first / 64, count / 64);
                    let series = series.as_ref().map(|series| Box::new(series.part(first, count)));
                    let touched = if open.is_empty() { Vec::new() } else { all_bits(span.routers) };
                    let routers = (span.first_router as usize, span.routers);
                    let allocations =
                        allocations.as_ref().map(|all| Box::new(all.part(routers.0, routers.1)));
                    LinkCounts {
                        phits,
                        occupancy,
                        stride: *stride,
                        open,
                        touched,
                        series,
                        allocations,
                        queues: queues.as_ref().map(|all| Box::new(all.part(routers.0, routers.1))),
                        waits: waits.as_ref().map(|waits| Box::new(waits.part(slots))),
                    }
                },
            ),
            waits: waits
                .as_ref()
                .map(|waits| Box::new(waits.part(first..first + count, by_slot(waits.stride)))),
            flits: None,
        }
    }

    /// Takes from the counts of a region, as [`Self::part`] has made them, those that go on from the beginning of the run
    /// whatever its window.
    pub fn keep_series(&mut self, part: Self) {
        if let (Some(links), Some(LinkCounts { open, series: Some(series), .. })) =
            (&mut self.links, part.links)
            && links.series.is_some()
        {
            (links.open, links.series) = (open, Some(series));
        }
    }
}
