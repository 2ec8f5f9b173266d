//! Nodes that draw the packets they send: the bookings of the next packets, and what follows when packets
//! come. See `generation` for what nodes draw.

mod bursts;
mod generation;
mod replies;
pub mod saved;
mod source;
mod state;

use crate::jobs::JobPlan;
use crate::kernel::Kernel;
use crate::kernel::by::By;
use crate::kernel::doors::Doors;
use crate::kernel::ids::{Id as _, RegionNode, Terminal};
use crate::kernel::packet::Waiting;
use crate::kernel::wheel::Wheel;
use crate::mode::Mode;
use crate::node::Nodes;
use crate::node::interface::Interfaces;
use crate::node::synthetic::bursts::{Bursts, senders};
use crate::node::synthetic::replies::{Consumed, reply_space};
use crate::node::synthetic::saved::SavedSynthetic;
use crate::node::synthetic::source::{Changes, TrafficSource};
use crate::observer::{Load, Observer as _};
use crate::system::System;
use hopsim_network::network::NONE;
use hopsim_random::{Purpose, Stream};

/// Buckets of the wheel of generations; a node whose gap is longer passes its bucket several times.
const BUCKETS: usize = 2048;

/// Packets in an unbounded source queue that are kept. Packets behind them are generated, with the times they have, when the
/// queue gets shorter: above saturation memory stays bounded.
const KEPT: u32 = 16;

/// Packets below which an unbounded source queue is filled again.
const REFILLED: u32 = KEPT / 2;

/// What a node draws from.
struct Generator {
    /// What draws when the node generates packets.
    process: Stream,
    /// What draws to whom packets go.
    pattern: Stream,
    /// Packets generated so far.
    serial: u32,
    /// Cycle of the next generation; for a node that lags behind it is not after the present cycle.
    next_at: u32,
    /// Next node in the same bucket of the wheel.
    next_node: u32,
    /// Length of the packets of the node \[phits\], the greatest one if each draws its own -- constant.
    length: u32,
    /// The job of the node -- constant.
    job: u8,
    /// Whether every packet draws its length -- constant.
    draws_length: bool,
    /// Whether [`KEPT`] packets or more wait, and the next one will be generated later.
    lags: bool,
}

impl Generator {
    /// The generator of a node of the network, before its first packet.
    fn new(system: &System, node: u32) -> Self {
        let seed = system.seed;
        let mut process = Stream::new(seed, Purpose::Process, u64::from(node));
        let job = system.job_at(node as usize);
        let traffic = job.and_then(JobPlan::traffic);
        let first = traffic.and_then(|job| job.first_at(node, &mut process));
        Self {
            process,
            pattern: Stream::new(seed, Purpose::Pattern, u64::from(node)),
            serial: 0,
            next_at: first.unwrap_or(u32::MAX),
            next_node: NONE,
            length: job.map_or(0, JobPlan::longest_packet),
            job: system.job_of[node as usize],
            draws_length: traffic.is_some_and(|job| job.lengths.are_several()),
            lags: false,
        }
    }

    /// Length of the next packet of the node, which is `node` of the network. It follows from the number of the packet: nothing is to
    /// be remembered where it is asked before the packet is generated.
    #[inline]
    fn next_length<M: Mode>(&self, system: &System, node: u32) -> u32 {
        if M::PLAIN || !self.draws_length {
            return self.length;
        }
        system.traffic(self.job as usize).length(node, self.serial)
    }

    /// The next packet of the node, of `length` phits, generated at cycle `generated`.
    #[inline]
    fn packet(&mut self, destination: u32, generated: u32, length: u32) -> Waiting {
        let serial = self.serial;
        self.serial += 1;
        Waiting { next: NONE, destination, length, generated, serial, arrived: 0, requested: NONE }
    }
}

/// The nodes of a region.
pub struct Synthetic {
    interfaces: Interfaces,
    /// The generators, by node.
    generators: By<RegionNode, Generator>,
    /// What nodes remember besides in runs with everything, by node; empty in other runs.
    sources: By<RegionNode, TrafficSource>,
    /// Traffic that changes.
    changes: Changes,
    /// First node of every bucket of the wheel.
    buckets: Vec<u32>,
    /// Requests and replies whose consumption begins.
    consumed: Wheel<Consumed>,
    /// Bursts that all nodes of a job begin together.
    bursts: Bursts,
}

impl<M: Mode> Nodes<M> for Synthetic {
    type Saved = SavedSynthetic;

    fn new(kernel: &Kernel<'_, M>, doors: Doors) -> Self {
        let (system, span) = (kernel.constants.system, &kernel.span);
        let nodes = span.first_node..span.first_node + span.nodes as u32;
        let sources = if M::FULL { nodes.len() } else { 0 };
        let mut state = Self {
            interfaces: Interfaces::new(kernel, doors),
            generators: nodes.map(|node| Generator::new(system, node)).collect(),
            sources: By::all(TrafficSource::NEW, sources),
            changes: Changes::before(system, 0),
            buckets: vec![NONE; BUCKETS],
            consumed: Wheel::new(kernel.constants.ahead),
            bursts: Bursts::new(system),
        };
        state.rebook(0);
        state
    }

    fn begin_window(&mut self, kernel: &mut Kernel<'_, M>) {
        if M::FULL {
            self.change_traffic(kernel);
        }
    }

    #[expect(clippy::inline_always, reason = "per cycle; measured")]
    #[inline(always)]
    fn run(&mut self, kernel: &mut Kernel<'_, M>) {
        self.run_nodes(kernel);
    }

    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn be_granted(&mut self, kernel: &mut Kernel<'_, M>, at: Terminal, vc: usize, length: u32) {
        self.interfaces.count_granted(kernel, at, vc, length);
    }

    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn leave_injection(&mut self, kernel: &mut Kernel<'_, M>, at: Terminal, vc: usize, length: u32) -> u32 {
        self.interfaces.leave_buffer(kernel, at, vc, length)
    }

    fn leave_flit(&mut self, kernel: &mut Kernel<'_, M>, at: (Terminal, usize), leaves: (u32, Option<u32>)) {
        self.interfaces.leave_flit(kernel, at, leaves);
    }

    #[inline]
    fn hear(&mut self, kernel: &mut Kernel<'_, M>, packet: u32, departure: u32) {
        if M::FULL {
            self.consume(kernel, packet, departure);
        }
    }

    fn has_nothing(&self, node: RegionNode, _now: u32) -> bool {
        self.interfaces.has_nothing(node)
    }

    fn ejection_space(system: &System, node: u32) -> u32 {
        reply_space(system, node)
    }

    #[cfg(feature = "trace")]
    fn ejection_space_taken(&self, _: &Kernel<'_, M>, node: RegionNode, vc: usize) -> u32 {
        let Some(&Generator { length, .. }) = self.generators.get(node) else { return 0 };
        let (taken, comes) = self.interfaces.reply_space_taken(node, vc, length);
        let requests = self.consumed.iter().filter(|c| c.node == node && c.requester != NONE);
        taken + length * requests.filter(|c| comes(c.requester)).count() as u32
    }

    fn save(&self, kernel: &Kernel<'_, M>, saved: &mut SavedSynthetic) {
        self.save_in(kernel, saved);
    }

    fn load(&mut self, kernel: &Kernel<'_, M>, saved: &SavedSynthetic) {
        self.load_from(kernel, saved);
    }

    fn finish(&mut self, kernel: &mut Kernel<'_, M>, end: u32) {
        self.count_lagging(kernel, end);
        self.count_standing(kernel, end);
    }

    fn count_held(&mut self, kernel: &mut Kernel<'_, M>) {
        self.interfaces.count_held(kernel);
    }

    #[cfg(feature = "trace")]
    fn waiting(&self) -> usize {
        self.interfaces.outside()
    }

    #[cfg(feature = "trace")]
    fn injected_flits(&self, node: RegionNode, vc: usize) -> u32 {
        self.interfaces.injected_flits(node, vc)
    }
}

impl Synthetic {
    /// The interfaces of all nodes, with those of nodes that draw nothing.
    pub fn interfaces_mut(&mut self) -> &mut Interfaces {
        &mut self.interfaces
    }

    /// Injection from the source queues that can move again, then generation.
    fn run_nodes<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>) {
        if M::FULL {
            self.interfaces.send_flits(kernel);
            for node in self.interfaces.take_back(kernel) {
                self.drain_source(kernel, node);
            }
            self.absorb_consumed(kernel);
        }
        let due = self.interfaces.wires.take(kernel.now);
        for &node in &due {
            self.drain_source(kernel, node);
        }
        self.interfaces.wires.put_back(due);
        let mut freed = std::mem::take(&mut self.interfaces.freed);
        for node in freed.drain(..) {
            self.drain_source(kernel, node);
        }
        self.interfaces.freed = freed;
        self.generate_due(kernel);
    }

    /// The first cycle of `now..end` in which the wire of a node becomes free, else `end`.
    pub fn next_wire(&self, now: u32, end: u32) -> u32 {
        self.interfaces.wires.next_before(now, end)
    }

    /// The first cycle of `now..end` in which nodes send flits or learn of room for them, else `end`.
    pub fn next_flit(&self, now: u32, end: u32) -> u32 {
        self.interfaces.next_flit(now, end)
    }

    /// The next cycle in which packets come back to their nodes; `u32::MAX` if none do.
    pub fn next_back(&self) -> u32 {
        self.interfaces.next_back()
    }

    /// Generation of the nodes that are due.
    #[expect(clippy::inline_always, reason = "per cycle; measured")]
    #[inline(always)]
    pub fn generate_due<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>) {
        let bucket = kernel.now as usize % BUCKETS;
        let mut node = std::mem::replace(&mut self.buckets[bucket], NONE);
        while node != NONE {
            let number = RegionNode::at(node as usize);
            let generator = &self.generators[number];
            let (next, at) = (generator.next_node, generator.next_at);
            if at == kernel.now {
                self.generate(kernel, number);
            } else {
                self.book(number, at);
            }
            node = next;
        }
    }

    /// Moves packets of `node` into injection buffers as far as wire and room allow, replies first.
    pub fn drain_source<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, node: RegionNode) {
        if M::FULL {
            self.interfaces.drain_replies(kernel, node);
        }
        self.interfaces.drain(kernel, node);
        while self.generators[node].lags && self.interfaces.nics[node].queued < REFILLED {
            self.catch_up(kernel, node, KEPT);
            self.interfaces.drain(kernel, node);
        }
        if M::FULL {
            self.resume(kernel, node);
        }
    }

    /// Books the next generation of `node`, unless its cycle is out of reach.
    #[inline]
    fn book(&mut self, node: RegionNode, at: u32) {
        let generator = &mut self.generators[node];
        generator.next_at = at;
        if at >= crate::system::MAX_CYCLES {
            return;
        }
        let bucket = &mut self.buckets[at as usize % BUCKETS];
        generator.next_node = *bucket;
        *bucket = node.index() as u32;
    }

    /// Forgets all bookings and books every node again that has one at or after `now`.
    fn rebook(&mut self, now: u32) {
        self.buckets.fill(NONE);
        for node in self.generators.ids() {
            let at = self.generators[node].next_at;
            // One that lags behind books itself when it has caught up.
            if at >= now && !self.generators[node].lags {
                self.book(node, at);
            }
        }
    }

    /// Books what follows when a packet leaves for its node at `departure`.
    #[inline]
    fn consume<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, id: u32, departure: u32) {
        let packet = kernel.packets.get(id);
        let (job, length) = (packet.job as usize, u32::from(packet.length));
        self.finish_in_burst(kernel, job, departure + length);
        let packet = kernel.packets.get(id);
        let node = kernel.span.node_here(packet.destination(kernel.constants.nodes_per_router));
        // Of a packet whose flits come one by one the node learns with the last of them.
        let begin = departure.max(kernel.now);
        if packet.is_request() {
            let request = Consumed { node, requester: packet.source, requested: packet.generated };
            self.consumed.push(begin, request);
        } else if packet.is_reply() {
            kernel.worker.observer.answered(packet, departure);
            self.consumed.push(begin, Consumed { node, requester: NONE, requested: packet.requested });
        }
    }

    /// Nodes begin to absorb requests and answer them, or absorb replies and may send more requests.
    pub fn absorb_consumed<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>) {
        let due = self.consumed.take(kernel.now);
        for packet in &due {
            if packet.requester == NONE {
                self.interfaces.answers[packet.node].unanswered -= 1;
            } else {
                self.reply(kernel, packet);
            }
        }
        // Where a node has absorbed several packets in a cycle, its reply goes before what it may send otherwise.
        for packet in &due {
            self.drain_source(kernel, packet.node);
        }
        self.consumed.put_back(due);
    }

    /// The node generates the reply to a request; the space of the reply is reserved.
    fn reply<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, request: &Consumed) {
        let generator = &mut self.generators[request.node];
        // All packets of a job with replies have one length.
        let length = generator.length;
        let packet = generator.packet(request.requester, kernel.now, length);
        let packet = Waiting { requested: request.requested, ..packet };
        let load = Load { job: generator.job, length };
        kernel.worker.observer.generated_reply(&mut kernel.places, request.node, load);
        self.interfaces.enqueue_reply(request.node, packet);
    }

    /// A packet of job `index` will have been consumed at cycle `end`; after the last packet of a burst the next burst begins.
    fn finish_in_burst<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, index: usize, end: u32) {
        let job = &kernel.constants.system.jobs[index];
        let Some((start, end)) = self.bursts.consume(index, job, end) else { return };
        kernel.worker.observer.burst(index, start, end);
        for node in senders(job) {
            self.book(node, end);
        }
    }
}
