//! The counters. Default counting is a few additions per packet; streams add their own arrays.

mod rows;
mod state;

use crate::engine::kernel::ids::{Id as _, PairId, RegionNode, SlotId};
use crate::engine::kernel::packet::Packet;
use crate::measure::histograms::Latencies;
use crate::measure::parts::{PARTS, PartTotals, Parts, TENTHS};
use crate::measure::places::{LinkCounts, Places};
use crate::measure::programs::ProgramCounts;
use crate::measure::waits::Grant;
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::plan::Plan;
use hopsim_network::topology::Topology;
use serde::{Deserialize, Serialize};

use rows::Rows;
pub use state::RecorderState;

/// Sums over the packets of one job in one batch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Packets generated.
    pub generated: u64,
    /// Packets dropped at a full source queue.
    pub dropped: u64,
    /// Packets injected (see `InjectionCount`).
    pub injected: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Time from the generation of a packet until its tail is delivered, summed up \[cycles\].
    pub latency: u64,
    /// Part of `latency` at injection \[cycles\].
    pub injection: u64,
    /// Part of `latency` in queues entered by links of each class \[cycles\].
    pub queues: [u64; 2],
    /// Link latencies and serialisation of the minimal paths.
    pub base: u64,
    /// Link latencies and serialisation of the paths taken.
    pub path: u64,
    /// Links passed by class.
    pub hops: [u64; 2],
    /// Packets that left the minimal path, by where they first did (see `RouteState::place`, from 1).
    pub misrouted: [u64; 4],
    /// Replies among the delivered packets.
    pub replies: Replies,
    /// Greatest latency.
    pub latency_max: u32,
    /// What the packets add up to in phits.
    pub phits: Phits,
}

/// What replies add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replies {
    /// Replies delivered.
    pub delivered: u64,
    /// Sum of the latencies of the replies \[cycles\].
    pub latency: u64,
    /// Sum of the latencies of the replies, counted from the generation of the request \[cycles\].
    pub response: u64,
}

/// Sums of the lengths of packets \[phits\].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phits {
    /// Phits of packets generated.
    pub generated: u64,
    /// Phits of packets injected.
    pub injected: u64,
    /// Phits of packets delivered.
    pub delivered: u64,
    /// Phits of the replies among the packets delivered.
    pub replies: u64,
}

impl Phits {
    fn add(&mut self, other: &Self) {
        self.generated += other.generated;
        self.injected += other.injected;
        self.delivered += other.delivered;
        self.replies += other.replies;
    }
}

impl Totals {
    /// Adds the sums of other packets.
    pub fn add(&mut self, other: &Self) {
        self.generated += other.generated;
        self.dropped += other.dropped;
        self.injected += other.injected;
        self.delivered += other.delivered;
        self.latency += other.latency;
        self.injection += other.injection;
        self.base += other.base;
        self.path += other.path;
        self.replies.delivered += other.replies.delivered;
        self.replies.latency += other.replies.latency;
        self.replies.response += other.replies.response;
        for (sum, other) in self.misrouted.iter_mut().zip(other.misrouted) {
            *sum += other;
        }
        for class in 0..2 {
            self.queues[class] += other.queues[class];
            self.hops[class] += other.hops[class];
        }
        self.latency_max = self.latency_max.max(other.latency_max);
        self.phits.add(&other.phits);
    }
}

/// Counts of delivered packets by the node that sent them, which may be in another region than the one that receives them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SourceCounts {
    /// Packets delivered, by the node that sent them.
    pub received: Vec<u32>,
    /// Sum of the latencies of the packets delivered, by the node that sent them \[cycles\].
    pub latency: Vec<u64>,
}

impl SourceCounts {
    fn add(&mut self, other: &Self) {
        self.received.iter_mut().zip(&other.received).for_each(|(sum, other)| *sum += other);
        self.latency.iter_mut().zip(&other.latency).for_each(|(sum, other)| *sum += other);
    }
}

/// One row of the time series.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Interval {
    /// Packets generated.
    pub generated: u32,
    /// Packets injected.
    pub injected: u32,
    /// Packets delivered.
    pub delivered: u32,
    /// Phits delivered.
    pub phits: u64,
    /// Sum of the latencies of the packets delivered \[cycles\].
    pub latency: u64,
}

impl Interval {
    fn add(&mut self, other: &Self) {
        self.generated += other.generated;
        self.injected += other.injected;
        self.delivered += other.delivered;
        self.phits += other.phits;
        self.latency += other.latency;
    }
}

/// Packets generated in an interval and delivered at any time.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Cohort {
    /// How many packets there are.
    pub packets: u32,
    /// Packets that left the minimal path.
    pub misrouted: u32,
    /// Sum of the latencies of the packets \[cycles\].
    pub latency: u64,
}

impl Cohort {
    fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.misrouted += other.misrouted;
        self.latency += other.latency;
    }
}

/// The counters of a thread: sums that no place in the network owns. See [`Places`] for the others. The default counts nothing.
#[derive(Default)]
pub struct Recorder {
    start: u32,
    cycles: u32,
    batch_length: u32,
    batches: u32,
    present: u32,
    /// Where the present cycle counts: the first row of its batch in `totals`, and the tenth of the window; outside of it behind
    /// the last row and the last tenth.
    row: usize,
    tenth: usize,
    /// Where the packet that was delivered last counted; the next one mostly does too.
    rows: Rows,
    jobs: usize,
    /// Sums by batch · jobs + job.
    pub totals: Vec<Totals>,
    /// The equal parts of the window.
    pub parts: Parts,
    /// Sums by part · jobs + job.
    pub by_part: Vec<PartTotals>,
    /// Latency by job.
    pub histograms: Vec<Latencies>,
    /// Counts by source, if asked for.
    pub sources: Option<SourceCounts>,
    /// Rows of the time series, if asked for.
    pub series: Vec<Interval>,
    /// Packets delivered, in rows by cycle of generation, if asked for.
    pub cohorts: Vec<Cohort>,
    interval: u32,
    /// First cycle that is in no row of the time series.
    rows_end: u32,
    /// Grants since the beginning of the run.
    pub packet_hops: u64,
    /// Decisions of heads that decide at every attempt, since the beginning of the run.
    pub decisions: u64,
    /// Packets generated and dropped since the beginning of the run.
    lifetime: (u64, u64),
    /// Length of every synchronised burst that began and ended in the window, by job \[cycles\].
    pub bursts: Vec<Vec<u32>>,
    /// What programs took, if there are any.
    pub programs: Option<Box<ProgramCounts>>,
    links: LinkLatencies,
}

impl Recorder {
    /// Empty counters.
    pub fn new(plan: &Plan) -> Self {
        let measure = &plan.experiment.measure;
        let nodes = plan.network.nodes as usize;
        let wants = |stream| measure.streams.contains(&stream);
        let warmup = measure.warmup.cycles();
        let end = u64::from(warmup) + u64::from(measure.cycles);
        let has_programs = plan.has_programs();
        // With programs nobody knows how long a run will last: rows are added as they are needed.
        let rows =
            if measure.interval == 0 || has_programs { 0 } else { end.div_ceil(u64::from(measure.interval)) };
        let link_latency = |class: usize| plan.network.classes.links.get(class).map_or(0, |c| c.latency);
        Self {
            start: warmup,
            cycles: measure.cycles,
            batch_length: measure.cycles / measure.batches,
            batches: measure.batches,
            present: 0,
            row: measure.batches as usize * plan.jobs.len(),
            tenth: TENTHS,
            rows: Rows::default(),
            jobs: plan.jobs.len(),
            totals: vec![Totals::default(); measure.batches as usize * plan.jobs.len()],
            parts: Parts::new(warmup, measure.cycles),
            by_part: vec![PartTotals::default(); PARTS as usize * plan.jobs.len()],
            histograms: vec![Latencies::default(); plan.jobs.len()],
            sources: (wants(RecordStream::Nodes) || wants(RecordStream::Routers))
                .then(|| SourceCounts { received: vec![0; nodes], latency: vec![0; nodes] }),
            series: vec![Interval::default(); rows as usize],
            cohorts: vec![Cohort::default(); if wants(RecordStream::Generation) { rows as usize } else { 0 }],
            interval: measure.interval,
            rows_end: if measure.interval == 0 { 0 } else { warmup + measure.cycles },
            packet_hops: 0,
            decisions: 0,
            lifetime: (0, 0),
            bursts: vec![Vec::new(); plan.jobs.len()],
            programs: has_programs.then(|| Box::new(ProgramCounts::new(&plan.programs(), &measure.streams))),
            links: LinkLatencies {
                latency: [link_latency(0), link_latency(1)],
                own: plan.topology.has_latencies(),
            },
        }
    }

    /// Adds what another thread has counted: all are sums, so the order does not matter.
    pub fn add(&mut self, other: Self) {
        for (sum, other) in self.totals.iter_mut().zip(&other.totals) {
            sum.add(other);
        }
        for (sum, other) in self.by_part.iter_mut().zip(&other.by_part) {
            sum.add(other);
        }
        for (sum, other) in self.histograms.iter_mut().zip(&other.histograms) {
            sum.add(other);
        }
        if let (Some(sources), Some(other)) = (&mut self.sources, other.sources) {
            sources.add(&other);
        }
        self.series.resize(self.series.len().max(other.series.len()), Interval::default());
        for (row, other) in self.series.iter_mut().zip(&other.series) {
            row.add(other);
        }
        for (row, other) in self.cohorts.iter_mut().zip(&other.cohorts) {
            row.add(other);
        }
        self.packet_hops += other.packet_hops;
        self.decisions += other.decisions;
        self.lifetime.0 += other.lifetime.0;
        self.lifetime.1 += other.lifetime.1;
        for (bursts, other) in self.bursts.iter_mut().zip(other.bursts) {
            bursts.extend(other);
        }
        if let (Some(programs), Some(other)) = (&mut self.programs, other.programs) {
            programs.add(*other);
        }
    }

    /// The run ends before cycle `end`, which its plan could not know.
    pub fn close(&mut self, end: u32) {
        (self.cycles, self.batch_length) = (end, end);
        self.rows = Rows::default();
        if self.interval > 0 {
            self.rows_end = self.start + end;
            let rows = end.div_ceil(self.interval) as usize;
            self.series.resize(rows, Interval::default());
            if !self.cohorts.is_empty() {
                self.cohorts.resize(rows, Cohort::default());
            }
        }
    }

    /// Cycles of the window.
    pub fn cycles(&self) -> u32 {
        self.cycles
    }

    /// First cycle of the window, and the first one after it.
    pub fn window(&self) -> (u32, u32) {
        (self.start, self.start + self.cycles)
    }

    /// Packets generated and dropped since the beginning of the run.
    pub fn lifetime(&self) -> (u64, u64) {
        self.lifetime
    }

    /// First and last-but-one cycle of a batch: it covers `first..end`; the last one takes the remainder.
    pub fn batch_bounds(&self, batch: u32) -> (u32, u32) {
        let first = self.start + batch * self.batch_length;
        let end =
            if batch + 1 == self.batches { self.start + self.cycles } else { first + self.batch_length };
        (first, end)
    }

    /// The cycle `now` begins. It may be before or after the one that began last, but in the same batch.
    #[inline]
    pub fn start_cycle(&mut self, now: u32) {
        self.present = now;
    }

    /// From cycle `now` on packets count for the batch and the tenth that it is in. Returns the cycle in which the next one begins,
    /// or the window ends; `u32::MAX` after that. Nothing is known from the cycles before: other threads may have counted in them.
    pub fn start_batch(&mut self, now: u32) -> u32 {
        let batch = self.batch_of(now);
        self.row = self.first_row(batch);
        self.tenth = self.parts.tenth(now).unwrap_or(TENTHS);
        let next = match batch {
            Some(batch) => self.batch_bounds(batch).1,
            None if now < self.start => self.start,
            None => u32::MAX,
        };
        next.min(self.parts.next_tenth(now))
    }

    /// The batch that a cycle is in, `None` outside the window.
    fn batch_of(&self, at: u32) -> Option<u32> {
        let since = at.checked_sub(self.start).filter(|&since| since < self.cycles)?;
        Some((since / self.batch_length).min(self.batches - 1))
    }

    /// The row of the first job in a batch, behind the last one outside the window.
    fn first_row(&self, batch: Option<u32>) -> usize {
        batch.map_or(self.totals.len(), |batch| batch as usize * self.jobs)
    }

    /// Where the present cycle counts for a job, if it does.
    #[inline]
    fn here(&mut self, job: u8) -> Option<&mut Totals> {
        self.totals.get_mut(self.row + job as usize)
    }

    /// The row of the time series that a cycle of the run is in.
    #[inline]
    fn row(&mut self, at: u32) -> Option<&mut Interval> {
        if at >= self.rows_end {
            return None;
        }
        let row = (at / self.interval) as usize;
        if row >= self.series.len() {
            self.series.resize(row + 1, Interval::default());
        }
        self.series.get_mut(row)
    }

    /// A node has generated a packet of a job and length.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn generated(&mut self, place: (&mut Places, RegionNode), packet: (u8, u32)) {
        place.0.offer(place.1, self.tenth);
        self.count_generated(place, packet, (self.row, self.present));
    }

    /// A node has generated a reply.
    pub fn generated_reply(&mut self, place: (&mut Places, RegionNode), reply: (u8, u32)) {
        self.count_generated(place, reply, (self.row, self.present));
    }

    /// A node has generated a packet of a job and length at cycle `at`, before now.
    pub fn generated_before(&mut self, place: (&mut Places, RegionNode), packet: (u8, u32), at: u32) {
        place.0.offer(place.1, self.parts.tenth(at).unwrap_or(TENTHS));
        self.count_generated(place, packet, (self.first_row(self.batch_of(at)), at));
    }

    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn count_generated(
        &mut self,
        (places, node): (&mut Places, RegionNode),
        (job, length): (u8, u32),
        (row, at): (usize, u32),
    ) {
        self.lifetime.0 += 1;
        if let Some(totals) = self.totals.get_mut(row + job as usize) {
            totals.generated += 1;
            totals.phits.generated += u64::from(length);
            if let Some(nodes) = &mut places.nodes {
                nodes.generated[node.index()] += 1;
            }
        }
        if let Some(row) = self.row(at) {
            row.generated += 1;
        }
    }

    /// A packet was lost at a full source queue.
    #[inline]
    pub fn dropped(&mut self, job: u8) {
        self.lifetime.1 += 1;
        if let Some(totals) = self.here(job) {
            totals.dropped += 1;
        }
    }

    /// A packet of `node`, of a job and length, counts as injected.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn injected(&mut self, (places, node): (&mut Places, RegionNode), (job, length): (u8, u32)) {
        if let Some(totals) = self.here(job) {
            totals.injected += 1;
            totals.phits.injected += u64::from(length);
            let injected = &mut places.injected[node.index()];
            *injected = (injected.0 + 1, injected.1 + u64::from(length));
            places.take(node, self.tenth);
        }
        if let Some(row) = self.row(self.present) {
            row.injected += 1;
        }
    }

    /// A reply counts as injected; the counts by node are of requests only.
    #[inline]
    pub fn injected_reply(&mut self, (job, length): (u8, u32)) {
        if let Some(totals) = self.here(job) {
            totals.injected += 1;
            totals.phits.injected += u64::from(length);
        }
        if let Some(row) = self.row(self.present) {
            row.injected += 1;
        }
    }

    /// A source stood still in the cycles from one to another.
    pub fn stalled(&self, (places, node): (&mut Places, RegionNode), cycles: (u32, u32)) {
        if let Some(stalls) = places.stalls.get_mut(node.index()) {
            stalls.count(self.parts, cycles);
        }
    }

    /// Whether the present cycle is in the measured window.
    pub fn is_measuring(&self) -> bool {
        self.row < self.totals.len()
    }

    /// The head of an injection slot of a node, which took part from cycle `first` on if not the one before it left later, has
    /// been granted at `now`, or this is the end of the run.
    pub fn injection_wait_ends(
        &self,
        places: &mut Places,
        place: (RegionNode, SlotId),
        (first, now): (u32, u32),
    ) {
        let end = self.start + self.cycles;
        let Some(waits) = &mut places.waits else { return };
        if self.is_measuring() && now < end {
            waits.take_back(place);
        }
        waits.end(place, (first, now), (self.start, end));
    }

    /// A synchronised burst of a job lasted from cycle `start` to `end`.
    pub fn burst(&mut self, job: usize, (start, end): (u32, u32)) {
        if start >= self.start && end <= self.start + self.cycles {
            self.bursts[job].push(end - start);
        }
    }

    /// A reply leaves for its node at cycle `at`, which [`Self::delivered`] has counted as a packet.
    #[inline]
    pub fn answered(&mut self, packet: &Packet, at: u32) {
        let row = self.rows(at).batch + packet.job as usize;
        let Some(totals) = self.totals.get_mut(row) else { return };
        let end = at + u32::from(packet.length);
        totals.replies.delivered += 1;
        totals.phits.replies += u64::from(packet.length);
        totals.replies.latency += u64::from(end - packet.generated);
        totals.replies.response += u64::from(end - packet.requested);
    }

    /// Adds a grant to the sums over the window: a packet leaves a slot by a pair at cycle `now`, and departs at `departure`.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn sum_hop(
        &self,
        links: &mut LinkCounts,
        packet: &Packet,
        (slot, pair): (SlotId, PairId),
        (now, departure): (u32, u32),
    ) {
        let window = self.start..self.start + self.cycles;
        let length = u32::from(packet.length);
        if window.contains(&departure) {
            links.phits[pair.index()] += u64::from(length);
        }
        links.hold(slot, length, (packet.arrived.max(window.start), now.min(window.end)));
    }

    /// Counts a grant for what is told by interval, and for what packets wait for: the packet departs at `departure`.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn watch_hop(&self, links: &mut LinkCounts, packet: &Packet, (grant, departure): (Grant, u32)) {
        let end = self.start + self.cycles;
        let (length, arrived) = (u32::from(packet.length), packet.arrived);
        let Grant { slot, pair, now, fills, .. } = grant;
        if fills {
            links.touch(pair);
        }
        if let Some(series) = &mut links.series {
            if departure < end {
                series.depart(pair, length, departure);
            }
            series.hold(slot, length, (arrived, now.min(end)));
        }
        if let Some(waits) = &mut links.waits {
            waits.grant(packet, (grant, departure), self.is_measuring());
        }
    }

    /// A packet of `length` phits that `arrived` in a slot is still there at the end of the run.
    pub fn held(&self, (places, slot): (&mut Places, SlotId), length: u32, arrived: u32) {
        if let Some(links) = &mut places.links {
            let end = self.start + self.cycles;
            if links.has_sums() {
                links.hold(slot, length, (arrived.max(self.start), end));
            }
            if let Some(series) = &mut links.series {
                series.hold(slot, length, (arrived, end));
            }
        }
    }

    /// A packet leaves for its node at cycle `at`; its tail follows one packet length later.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn delivered(&mut self, places: &mut Places, packet: &Packet, at: u32, topology: &Topology) {
        let length = u32::from(packet.length);
        let latency = at - packet.generated + length;
        if let Some(row) = self.row(at) {
            row.delivered += 1;
            row.phits += u64::from(length);
            row.latency += u64::from(latency);
            if let Some(cohort) = self.cohorts.get_mut((packet.generated / self.interval) as usize) {
                cohort.packets += 1;
                cohort.misrouted += u32::from(packet.route.misrouted());
                cohort.latency += u64::from(latency);
            }
        }
        let (rows, job) = (self.rows(at), packet.job as usize);
        let Some(totals) = self.totals.get_mut(rows.batch + job) else { return };
        let path = self.links.path(packet, latency);
        let base = if packet.route.misrouted() {
            let from = packet.source / topology.nodes_per_router();
            let to = packet.destination_router;
            topology.minimal_latency(from, to, (&self.links.latency, length)) + length
        } else {
            path
        };
        totals.delivered += 1;
        totals.phits.delivered += u64::from(length);
        totals.latency += u64::from(latency);
        totals.injection += u64::from(packet.injection.wait);
        totals.base += u64::from(base);
        totals.path += u64::from(path);
        if packet.route.misrouted() {
            totals.misrouted[packet.route.place as usize - 1] += 1;
        }
        for class in 0..2 {
            totals.queues[class] += u64::from(packet.queue_wait[class]);
            totals.hops[class] += u64::from(packet.hops[class]);
        }
        totals.latency_max = totals.latency_max.max(latency);
        if let Some(part) = self.by_part.get_mut(rows.part + job) {
            part.add(&PartTotals { delivered: 1, phits: length.into(), latency: latency.into() });
        }
        self.histograms[job].count(latency);
        if let (Some(nodes), Some(sources)) = (&mut places.nodes, &mut self.sources) {
            nodes.delivered
                [(packet.destination(topology.nodes_per_router()) - places.first_node) as usize] += 1;
            sources.received[packet.source as usize] += 1;
            sources.latency[packet.source as usize] += u64::from(latency);
        }
    }

    /// Where packets count that are delivered at a cycle.
    #[inline]
    fn rows(&mut self, at: u32) -> Rows {
        if !self.rows.hold(at) {
            self.rows = self.rows_of(at);
        }
        self.rows
    }
}

/// Latencies of links \[cycles\].
#[derive(Clone, Copy, Default)]
struct LinkLatencies {
    /// Latencies by class of links.
    latency: [u32; 2],
    /// Whether links have latencies of their own, not those of their classes.
    own: bool,
}

impl LinkLatencies {
    /// Link latencies and serialisation of the path that a packet has taken with `latency` in all.
    fn path(&self, packet: &Packet, latency: u32) -> u32 {
        if self.own {
            return latency - packet.injection.wait - packet.queue_wait[0] - packet.queue_wait[1];
        }
        let [first, second] = packet.hops.map(u32::from);
        first * self.latency[0] + second * self.latency[1] + u32::from(packet.length)
    }
}
