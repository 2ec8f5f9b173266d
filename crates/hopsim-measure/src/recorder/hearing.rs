//! What a recorder hears.

use super::Recorder;
use crate::parts::{PartTotals, TENTHS};
use crate::places::{LinkCounts, Places};
use crate::recorder::rows::Rows;
use crate::recorder::{Interval, Totals, least};
#[cfg(feature = "trace")]
use crate::trace::Tracer;
use hopsim_cycles::kernel::ids::{Id as _, PairId, RegionNode, RegionRouter, SlotId};
use hopsim_cycles::kernel::packet::Packet;
use hopsim_cycles::kernel::regions::Span;
use hopsim_cycles::observer::{FlitEvent, Grant, Load, Observer, WaitReason};
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::plan::Plan;
use hopsim_network::by_class::MOST_CLASSES;
use hopsim_network::topology::Topology;
use hopsim_programs::host::{Host, Letter};

impl Observer for Recorder {
    type Wishes = Plan;
    type Places = Places;

    fn begin(plan: &Plan) -> Self {
        Self::new(plan)
    }

    fn places(plan: &Plan, span: &Span) -> Places {
        Places::new(plan, span.first_node, span.nodes, span.routers)
    }

    // From now on packets count for the batch and the tenth that the cycle is in. Nothing is known from the cycles before: other
    // threads may have counted in them.
    fn begin_window(&mut self, now: u32) -> u32 {
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

    #[inline]
    fn begin_cycle(&mut self, now: u32) {
        self.present = now;
    }

    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn generated(&mut self, places: &mut Places, node: RegionNode, packet: Load) {
        places.offer(node, self.tenth);
        self.count_generated(places, node, packet, (self.row, self.present));
    }

    fn generated_before(&mut self, places: &mut Places, node: RegionNode, packet: Load, at: u32) {
        places.offer(node, self.parts.tenth(at).unwrap_or(TENTHS));
        self.count_generated(places, node, packet, (self.first_row(self.batch_of(at)), at));
    }

    fn generated_reply(&mut self, places: &mut Places, node: RegionNode, reply: Load) {
        self.count_generated(places, node, reply, (self.row, self.present));
    }

    #[inline]
    fn dropped(&mut self, job: u8) {
        self.lifetime.1 += 1;
        if let Some(totals) = self.here(job) {
            totals.dropped += 1;
        }
    }

    fn lost(&mut self, job: u8, now: u32) {
        self.count_lost(job, now);
    }

    fn sent_again(&mut self, places: &mut Places, node: RegionNode, job: u8) {
        places.offer(node, self.tenth);
        if let Some(totals) = self.here(job) {
            totals.retransmissions += 1;
        }
        if let Some(row) = self.row(self.present) {
            row.retransmissions += 1;
        }
    }

    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn injected(&mut self, places: &mut Places, node: RegionNode, Load { job, length }: Load) {
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

    // The counts by node are of requests only.
    #[inline]
    fn injected_reply(&mut self, Load { job, length }: Load) {
        if let Some(totals) = self.here(job) {
            totals.injected += 1;
            totals.phits.injected += u64::from(length);
        }
        if let Some(row) = self.row(self.present) {
            row.injected += 1;
        }
    }

    fn stalled(&mut self, places: &mut Places, node: RegionNode, since: u32, until: u32) {
        if let Some(stalls) = places.stalls.get_mut(node.index()) {
            stalls.count(self.parts, since..until);
        }
    }

    #[inline]
    fn hears_grants(&self, places: &Places) -> bool {
        #[cfg(feature = "trace")]
        if self.tracer.is_some() {
            return true;
        }
        places.links.is_some()
    }

    #[inline]
    fn granted(&mut self, places: &mut Places, packet: &Packet, grant: &Grant) {
        #[cfg(feature = "trace")]
        if let Some(tracer) = &mut self.tracer {
            tracer.granted(&mut (), packet, grant);
        }
        let Some(links) = &mut places.links else { return };
        if links.has_sums() {
            self.sum_hop(links, packet, grant);
        }
        if links.looks() {
            self.watch_hop(links, packet, grant);
        }
        if let Some(allocations) = &mut links.allocations
            && self.is_measuring()
        {
            allocations.grant(grant.pair.index() / links.stride, grant);
        }
        if let Some(queues) = &mut links.queues {
            let window = self.start..self.start + self.cycles;
            queues.grant(grant.pair.index() / links.stride, (grant, packet.length.into()), &window);
        }
    }

    #[inline]
    fn hears_refusals(places: &Places) -> bool {
        places.links.as_ref().is_some_and(|links| links.allocations.is_some())
    }

    fn refused(&mut self, places: &mut Places, router: RegionRouter, requests: usize) {
        if let Some(allocations) = places.links.as_mut().and_then(|links| links.allocations.as_mut())
            && self.is_measuring()
        {
            allocations.refuse(router.index(), requests);
        }
    }

    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn delivered(&mut self, places: &mut Places, packet: &Packet, at: u32, topology: &Topology) {
        #[cfg(feature = "trace")]
        if let Some(tracer) = &mut self.tracer {
            tracer.delivered(&mut (), packet, at, topology);
        }
        if self.links.by_flit
            && let Some(packets) = places.link_waits().and_then(|waits| waits.packets.as_mut())
        {
            packets.end(packet, at);
        }
        let length = u32::from(packet.length);
        let latency = at - packet.generated + length + self.links.ejection;
        if let Some(row) = self.row(at) {
            row.delivered += 1;
            row.phits += u64::from(length);
            row.latency += u64::from(latency);
            self.streams.delivered_in_series(packet, latency, self.interval);
        }
        let (rows, job) = (self.rows(at), packet.job as usize);
        let Some(totals) = self.totals.get_mut(rows.batch + job) else { return };
        let path = self.links.path(packet, latency);
        let base = if packet.route.misrouted() {
            let from = packet.source / topology.nodes_per_router();
            let to = packet.destination_router;
            let late = if self.links.by_flit { 1 } else { length };
            topology.minimal_latency(from, to, (self.links.latency.as_slice(), late))
                + length
                + self.links.ejection
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
            // A detour to the own router is none: such a packet may leave for its node, and take no link.
            if let Some(set) = usize::from(packet.nonminimal).checked_sub(1) {
                totals.nonminimal[set] += 1;
            }
        }
        for class in 0..MOST_CLASSES {
            totals.queues[class] += u64::from(packet.queue_wait[class]);
            totals.hops[class] += u64::from(packet.hops[class]);
        }
        totals.latency_min = least(totals.latency_min, latency);
        totals.latency_max = totals.latency_max.max(latency);
        if let Some(part) = self.by_part.get_mut(rows.part + job) {
            part.add(&PartTotals { delivered: 1, phits: length.into(), latency: latency.into() });
        }
        self.histograms[job].count(latency);
        self.streams.delivered(packet, latency);
        if let Some(nodes) = &mut places.nodes {
            nodes.delivered
                [(packet.destination(topology.nodes_per_router()) - places.first_node) as usize] += 1;
        }
    }

    #[inline]
    fn answered(&mut self, packet: &Packet, at: u32) {
        let row = self.rows(at).batch + packet.job as usize;
        let Some(totals) = self.totals.get_mut(row) else { return };
        let end = at + u32::from(packet.length);
        totals.replies.delivered += 1;
        totals.phits.replies += u64::from(packet.length);
        totals.replies.latency += u64::from(end - packet.generated);
        totals.replies.response += u64::from(end - packet.requested);
    }

    fn burst(&mut self, job: usize, start: u32, end: u32) {
        if start >= self.start && end <= self.start + self.cycles {
            self.bursts[job].push(end - start);
        }
    }

    fn message(&mut self, job: u8, letter: &Letter, at: u32) {
        if let Some(programs) = &mut self.programs {
            programs.message(job, letter, at);
        }
    }

    fn rank(&mut self, job: u8, host: &mut Host) {
        if let Some(programs) = &mut self.programs {
            programs.rank(job, host);
        }
    }

    #[inline]
    fn hears_room(places: &Places) -> bool {
        places.links.as_ref().is_some_and(LinkCounts::looks)
    }

    #[inline]
    fn touch_room(places: &mut Places, pair: PairId) {
        places.links.iter_mut().for_each(|links| links.touch(pair));
    }

    #[inline]
    fn had_room(places: &Places, pair: PairId) -> bool {
        places.links.as_ref().is_none_or(|links| links.had_room(pair))
    }

    #[inline]
    fn look_at_room<'a>(places: &mut Places, words: impl Fn(RegionRouter) -> &'a [u64], now: u32) {
        if let Some(links) = &mut places.links {
            links.look(|router| words(RegionRouter::at(router)), now);
        }
    }

    fn occupied(places: &mut Places, router: RegionRouter, port: usize, ready: u32, now: u32) {
        if let Some(waits) = places.link_waits() {
            waits.occupy(router.index(), port, ready, now);
        }
    }

    fn wants_flits(plan: &Plan) -> bool {
        plan.experiment.measure.streams.contains(&RecordStream::FlitHops)
    }

    #[inline]
    fn hears_flits(places: &Places) -> bool {
        places.flits.is_some()
    }

    fn flit(places: &mut Places, slot: SlotId, event: &FlitEvent<'_>) {
        if let Some(flits) = &mut places.flits {
            flits.hear(slot, event);
        }
    }

    #[inline]
    fn hears_heads(places: &Places) -> bool {
        places.waits.is_some()
    }

    fn hears_heads_now(&self) -> bool {
        self.is_measuring()
    }

    #[inline]
    fn head_waits(places: &mut Places, node: RegionNode, slot: SlotId, reason: WaitReason) {
        if let Some(waits) = &mut places.waits {
            waits.count(node, slot, reason);
        }
    }

    fn head_leaves(&mut self, places: &mut Places, (node, slot): (RegionNode, SlotId), first: u32, now: u32) {
        let end = self.start + self.cycles;
        let Some(waits) = &mut places.waits else { return };
        if self.is_measuring() && now < end {
            waits.take_back(node, slot);
        }
        waits.end(node, slot, first..now, self.start..end);
    }

    fn held(&mut self, places: &mut Places, slot: SlotId, length: u32, arrived: u32) {
        if let Some(links) = &mut places.links {
            let end = self.start + self.cycles;
            if links.has_sums() {
                links.hold(slot, length, arrived.max(self.start)..end);
            }
            if let Some(series) = &mut links.series {
                series.hold(slot, length, arrived..end);
            }
        }
    }

    fn end(places: &mut Places, end: u32) {
        places.links.iter_mut().for_each(|links| links.close(end));
    }
}

impl Recorder {
    /// The batch that a cycle is in, `None` outside the window.
    pub(super) fn batch_of(&self, at: u32) -> Option<u32> {
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

    /// A packet is lost for good as cycle `at` begins, because links have failed.
    pub fn lose(&mut self, packet: &Packet, at: u32) {
        self.count_lost(packet.job, at);
    }

    fn count_lost(&mut self, job: u8, at: u32) {
        self.lifetime.1 += 1;
        let first = self.first_row(self.batch_of(at));
        if let Some(totals) = self.totals.get_mut(first + usize::from(job)) {
            totals.lost += 1;
        }
        if let Some(row) = self.row(at) {
            row.lost += 1;
        }
    }

    /// Whether the present cycle is in the measured window.
    fn is_measuring(&self) -> bool {
        self.row < self.totals.len()
    }

    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn count_generated(
        &mut self,
        places: &mut Places,
        node: RegionNode,
        Load { job, length }: Load,
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

    /// Adds a grant to the sums over the window.
    #[inline]
    fn sum_hop(&self, links: &mut LinkCounts, packet: &Packet, grant: &Grant) {
        let window = self.start..self.start + self.cycles;
        let length = u32::from(packet.length);
        if window.contains(&grant.departure) {
            links.phits[grant.pair.index()] += u64::from(length);
        }
        links.hold(grant.slot, length, packet.arrived.max(window.start)..grant.now.min(window.end));
    }

    /// Counts a grant for what is told by interval, and for what packets wait for.
    #[inline]
    fn watch_hop(&self, links: &mut LinkCounts, packet: &Packet, grant: &Grant) {
        let end = self.start + self.cycles;
        let (length, arrived) = (u32::from(packet.length), packet.arrived);
        let &Grant { slot, pair, now, departure, fills, .. } = grant;
        if fills {
            links.touch(pair);
        }
        if let Some(series) = &mut links.series {
            if departure < end {
                series.depart(pair, length, departure);
            }
            series.hold(slot, length, arrived..now.min(end));
        }
        if let Some(waits) = &mut links.waits {
            waits.grant(packet, grant, self.is_measuring());
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

    /// The recorder also writes down the lives of packets from now on.
    #[cfg(feature = "trace")]
    pub fn trace(&mut self, nodes_per_router: u32) {
        self.tracer = Some(Tracer::begin(&nodes_per_router));
    }
}
