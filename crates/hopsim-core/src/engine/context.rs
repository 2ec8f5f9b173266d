//! What is not a router's own: the clock, the rules, packets, events on links, nodes, measurements.

use super::bursts::Bursts;
use super::contention::{Contention, Counted};
use super::damq::Damq;
use super::marks::Marks;
use super::mask::Mask;
use super::mode::Mode;
use super::nic::Nics;
use super::packet::Packet;
use super::pool::Pool;
use super::regions::{Cut, Events, PerRegion, Regions};
use super::replies::Consumed;
use super::routers::Router;
use super::sat::Sat;
use super::tables::{PortInfo, Tables};
use super::wheel::Wheel;
use crate::config::router::{ArbiterConfig, Consumption};
use crate::config::{Ejection, InjectionCount, InjectionLatency, InputPointer, OutputHold};
use crate::measure::recorder::Recorder;
use crate::network::{NONE, TERMINAL};
use crate::plan::Plan;
use crate::rng::{Purpose, Stream};
use crate::routing::minimal::Minimal;
use crate::routing::{Head, Routing, Stand};
use crate::topology::LOCAL;
use crate::trace::Observer as _;
use std::ops::RangeInclusive;

/// A head that arrives in a slot.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Global slot id.
    pub slot: u32,
    /// The packet.
    pub packet: u32,
}

/// Space that becomes free behind an output VC.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    /// Global pair id.
    pub pair: u32,
    /// Phits.
    pub phits: u16,
    /// Those of them of packets that had never left their minimal path when they were sent.
    pub minimal: u16,
}

/// Constants of the run that hot code reads.
#[expect(clippy::struct_excessive_bools, reason = "each is one of the document's choices, resolved")]
pub struct Rules {
    /// Allocator iterations per cycle.
    pub iterations: u32,
    /// From grant to the head of the output queue.
    pub crossbar: u32,
    /// From arrival to first request.
    pub pipeline: u32,
    /// Shortest packet of any job.
    pub shortest: u32,
    /// Whether packets of several lengths meet.
    pub mixed: bool,
    /// `Ejection::IdleNode`.
    pub idle_node: bool,
    /// `OutputHold::Speedup`.
    pub hold_speedup: bool,
    /// `InputPointer::Request`.
    pub on_request: bool,
    /// `InjectionCount::Buffer`.
    pub count_at_buffer: bool,
    /// `InjectionLatency::Departure`.
    pub until_departure: bool,
    /// Nodes take packets from all input VCs at once.
    pub parallel: bool,
    /// Packets from other routers first.
    pub transit_priority: bool,
    /// Share of the cycles in which they go first.
    pub ipr: f64,
    /// Room that packets leave in an adaptive VC when they enter the network \[phits\].
    pub lbr: u32,
    /// Terminal ports of a router.
    pub terminals: usize,
    /// Output queue per port \[phits\].
    pub output_buffer: u32,
    /// Phits of as many packets of one length as an output queue holds, less one; endless without output queues.
    pub queue_slack: u32,
    /// Nodes of a router.
    pub nodes_per_router: u32,
    /// Seed of the run.
    pub seed: u64,
    /// Whether input arbiters are round-robin.
    pub input_round_robin: bool,
    /// Whether output arbiters are.
    pub output_round_robin: bool,
    /// Whether input arbiters need stamps of whom they served.
    pub input_stamps: bool,
    /// Whether output arbiters do.
    pub output_stamps: bool,
    /// Whether heads may use several VCs of a port.
    pub flexible: bool,
    /// Whether heads must be asked for their port, as it is not that of a minimal path.
    pub asks: bool,
    /// Whether the VC of a hop depends on more than the VC before it.
    pub depends_on_hop: bool,
    /// Room that packets which enter a ring leave behind them \[phits\]; 0: there are no rings.
    pub bubble: u32,
    /// Least room that a packet takes in the buffer of a link \[phits\]: that of the longest one where there are rings.
    pub least_space: u32,
}

impl Rules {
    /// The constants of a plan.
    pub fn new(plan: &Plan) -> Self {
        let (router, nic) = (&plan.router, &plan.nic);
        Self {
            iterations: router.allocator.iterations,
            crossbar: router.crossbar_latency,
            pipeline: router.pipeline_latency,
            shortest: plan.shortest_packet(),
            mixed: plan.shortest_packet() != plan.longest_packet(),
            idle_node: router.ejection == Ejection::IdleNode,
            hold_speedup: router.output_hold == OutputHold::Speedup,
            on_request: router.input_pointer == InputPointer::Request,
            count_at_buffer: nic.injection_count == InjectionCount::Buffer,
            until_departure: nic.injection_latency == InjectionLatency::Departure,
            parallel: router.consumption == Consumption::Parallel,
            transit_priority: router.allocator.transit_priority,
            ipr: plan.control.ipr,
            lbr: plan.control.lbr,
            queue_slack: router
                .output_buffer
                .map_or(u32::MAX, |size| size - size % plan.shortest_packet() - 1),
            output_buffer: router.output_buffer.unwrap_or(u32::MAX),
            terminals: plan.network.layout.terminals,
            nodes_per_router: plan.topology.nodes_per_router(),
            seed: plan.experiment.measure.seed,
            input_round_robin: matches!(router.allocator.input_arbiter, ArbiterConfig::RoundRobin(_)),
            output_round_robin: matches!(router.allocator.output_arbiter, ArbiterConfig::RoundRobin(_)),
            input_stamps: matches!(router.allocator.input_arbiter, ArbiterConfig::LeastRecentlyServed(_)),
            output_stamps: matches!(router.allocator.output_arbiter, ArbiterConfig::LeastRecentlyServed(_)),
            flexible: plan.routing.vcs().is_flexible(),
            asks: plan.routing.asks(),
            depends_on_hop: plan.routing.vcs().depends_on_hop(),
            bubble: plan.network.classes.links.iter().map(|class| class.bubble).max().unwrap_or(0),
            least_space: if plan.routing.vcs().has_entries() { plan.longest_packet() } else { 0 },
        }
    }
}

/// Everything but the routers' own state.
pub struct Context<'p, const W: usize, M> {
    /// The plan.
    pub plan: &'p Plan,
    /// Its routing.
    pub routing: &'p Routing,
    /// The minimal routing underneath.
    pub base: &'p Minimal,
    /// Constants.
    pub rules: Rules,
    /// Layout tables -- constant.
    pub tables: Tables,
    /// How the network is cut -- constant.
    pub regions: Regions,
    /// Present cycle of the present region.
    pub now: u32,
    /// Packets in the network.
    pub packets: Pool<Packet>,
    /// Heads on their way.
    pub arrivals: Events<Arrival>,
    /// Credits on their way.
    pub credits: Events<Credit>,
    /// The nodes.
    pub nics: Nics,
    /// Requests and replies whose consumption begins.
    pub consumed: PerRegion<Wheel<Consumed>>,
    /// Measurements.
    pub recorder: Recorder,
    /// Phits that one VC of a buffer can hold, by port class -- constant.
    pub capacities: [u32; 3],
    /// Pairs of links from VC 1, 2, 4 … on, as far as there are any -- constant.
    above: Vec<Mask<W>>,
    /// All pairs -- constant.
    all: Mask<W>,
    /// Input ports of links -- constant.
    pub links: Mask<W>,
    /// Shared buffers.
    pub damq: Option<Damq>,
    /// Contention counters.
    pub contention: Option<Contention>,
    /// Marks of saturated global links.
    pub marks: Option<Marks>,
    /// Bursts that begin together.
    pub bursts: Bursts,
    /// The signal of injection control.
    pub sat: Option<Sat>,
    /// Outstanding phits of packets on their minimal path, by global pair id; empty if nobody reads them.
    pub minimal: Vec<u32>,
    /// Whether some heads have a choice of outputs -- constant.
    pub redecides: bool,
    /// Whether decisions draw random numbers even where only one output will do -- constant.
    pub draws: bool,
    /// No event is further ahead \[cycles\] -- constant.
    pub ahead: u32,
    /// Who watches, and what is known at compile time.
    pub mode: M,
}

impl<'p, const W: usize, M: Mode> Context<'p, W, M> {
    /// The context of an empty network at cycle 0.
    pub fn new(plan: &'p Plan, mode: M, cut: Cut) -> Self {
        let regions = Regions::new(plan, cut, size_of::<Router<W>>());
        let (classes, rules) = (&plan.network.classes, Rules::new(plan));
        let latency = plan.network.longest_link();
        let queue = plan.router.output_buffer.unwrap_or(0) + 2 * plan.longest_packet();
        let sensors = plan.routing.sensors();
        // Messages take at most half of a link, so that what is queued takes at most twice its length, and theirs.
        let queue = sensors.exchange.map_or(queue, |exchange| 2 * queue + 4 * exchange.message_length);
        let queue = queue * plan.network.slowest_link();
        let ahead = rules.crossbar + queue + latency.max(classes.terminal.latency) + rules.pipeline;
        // What a region sends to one that is behind it.
        let spread = if regions.count() == 1 { 0 } else { regions.lookahead() };
        let ids = plan.network.routers as usize * 64 * W;
        let capacity = |class: usize| classes.links.get(class).map_or(0, |c| c.buffer);
        Self {
            plan,
            routing: &plan.routing,
            base: plan.routing.base(),
            tables: Tables::new(plan),
            now: 0,
            packets: Pool::new(),
            arrivals: Events::new(&regions, ahead + 1 + spread),
            credits: Events::new(&regions, latency + spread),
            nics: Nics::new(plan, M::FULL, &regions),
            consumed: PerRegion::new(&regions, Wheel::new(ahead)),
            recorder: Recorder::new(plan),
            capacities: [NONE, capacity(0), capacity(1)],
            above: above(plan),
            links: (0..plan.network.layout.ports())
                .filter(|&port| plan.network.layout.class[port] != TERMINAL)
                .collect(),
            all: (0..plan.network.layout.pairs())
                .filter(|&p| plan.network.layout.any_vc(p).is_some())
                .collect(),
            damq: Damq::new(plan, ids),
            contention: Contention::new(plan, &sensors, (&regions, ids)),
            marks: Marks::new(plan, &sensors, &regions),
            bursts: Bursts::new(plan),
            sat: plan.control.sat.as_ref().map(Sat::new),
            minimal: vec![0; if sensors.minimal_occupancy { ids } else { 0 }],
            redecides: plan.routing.redecides(),
            draws: plan.routing.draws(),
            ahead,
            regions,
            rules,
            mode,
        }
    }

    /// Turns to a region.
    pub fn enter(&mut self, region: usize) {
        self.arrivals.enter(region);
        self.credits.enter(region);
        self.consumed.enter(region);
        self.nics.enter(region);
        self.contention.iter_mut().for_each(|contention| contention.enter(region));
        self.marks.iter_mut().for_each(|marks| marks.enter(region));
    }

    /// `Ejection::IdleNode`.
    #[inline]
    pub fn idle_node(&self) -> bool {
        !M::CLEAN && self.rules.idle_node
    }

    /// `OutputHold::Speedup`.
    #[inline]
    pub fn hold_speedup(&self) -> bool {
        !M::CLEAN && self.rules.hold_speedup
    }

    /// `InputPointer::Request`.
    #[inline]
    pub fn on_request(&self) -> bool {
        !M::CLEAN && self.rules.on_request
    }

    /// `InjectionCount::Buffer`.
    #[inline]
    pub fn count_at_buffer(&self) -> bool {
        !M::CLEAN && self.rules.count_at_buffer
    }

    /// `InjectionLatency::Departure`.
    #[inline]
    pub fn until_departure(&self) -> bool {
        !M::CLEAN && self.rules.until_departure
    }

    /// Whether packets of several lengths meet.
    #[inline]
    pub fn mixed(&self) -> bool {
        !M::PLAIN && self.rules.mixed
    }

    /// Whether packets from other routers go first.
    #[inline]
    pub fn transit_priority(&self, router: usize) -> bool {
        !M::PLAIN && (self.rules.transit_priority || (self.rules.ipr > 0.0 && self.draws_priority(router)))
    }

    /// In-transit priority restriction: whether packets in transit go first in this cycle.
    #[cold]
    fn draws_priority(&self, router: usize) -> bool {
        let stream = Stream::new(self.rules.seed, Purpose::Priority, router as u64);
        stream.at(u64::from(self.now)).unit() < self.rules.ipr
    }

    /// Room that packets leave in an adaptive VC when they enter the network \[phits\].
    #[inline]
    pub fn lbr(&self) -> u32 {
        if M::CLEAN { 0 } else { self.rules.lbr }
    }

    /// Whether nodes take packets from all input VCs at once.
    #[inline]
    pub fn parallel(&self) -> bool {
        !M::PLAIN && self.rules.parallel
    }

    /// Whether routers that can do nothing know when they can again: packets that leave at once, or that need more room than
    /// the shortest, have times of their own.
    #[inline]
    pub fn patient(&self) -> bool {
        !M::CLEAN && !self.parallel() && !self.mixed()
    }

    /// Terminal port of the node that injects by `slot` of input port `input`, and the injection VC.
    #[inline]
    pub fn injection_vc(&self, input: usize, slot: usize) -> (usize, usize) {
        let terminal = if M::PLAIN { input } else { self.tables.port(input).injects_for as usize };
        (terminal, slot - self.tables.port(terminal).slot_base as usize)
    }

    /// A packet leaves for its node at `departure`, and the network forgets it.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn deliver(&mut self, id: u32, departure: u32) {
        let packet = self.packets.get(id);
        self.mode.observer().delivered(packet.key(self.rules.nodes_per_router), departure);
        self.recorder.delivered(packet, departure);
        if M::FULL {
            self.consume(id, departure);
        }
        self.packets.remove(id);
    }

    /// Whether input arbiters are round-robin.
    #[inline]
    pub fn input_round_robin(&self) -> bool {
        M::PLAIN || self.rules.input_round_robin
    }

    /// Whether output arbiters are round-robin.
    #[inline]
    pub fn output_round_robin(&self) -> bool {
        M::PLAIN || self.rules.output_round_robin
    }

    /// Whether input arbiters need stamps of whom they served.
    #[inline]
    pub fn input_stamps(&self) -> bool {
        !M::PLAIN && self.rules.input_stamps
    }

    /// Whether output arbiters need stamps of whom they served.
    #[inline]
    pub fn output_stamps(&self) -> bool {
        !M::PLAIN && self.rules.output_stamps
    }

    /// Whether a head may use several VCs of a port (FlexVC): the one it asks for and all below.
    #[inline]
    pub fn flexible(&self) -> bool {
        !M::CLEAN && self.rules.flexible
    }

    /// Whether heads must be asked for their port, as it is not that of a minimal path.
    #[inline]
    fn asks(&self) -> bool {
        !M::CLEAN && self.rules.asks
    }

    /// Whether the VC of a hop depends on more than the VC before it.
    #[inline]
    fn depends_on_hop(&self) -> bool {
        !M::CLEAN && self.rules.depends_on_hop
    }

    /// Room that packets which enter a ring leave behind them \[phits\].
    #[inline]
    pub fn bubble(&self) -> u32 {
        if M::CLEAN { 0 } else { self.rules.bubble }
    }

    /// Room that a packet of `length` phits takes in the buffer of a link \[phits\]. Where there are rings that is the room of
    /// the longest packet: the bubble then goes round the ring in one piece, and is never divided into gaps too short for
    /// the packets behind them.
    #[inline]
    pub fn space(&self, length: u32) -> u32 {
        if M::CLEAN { length } else { length.max(self.rules.least_space) }
    }

    /// The first of the pairs that `pair` stands among: the output VCs of a port, or its entries.
    #[inline]
    pub fn block(&self, pair: usize) -> usize {
        let PortInfo { pair_base, entry_base, .. } = self.tables.port(self.tables.pair_port(pair));
        let entry = self.bubble() > 0 && pair >= entry_base as usize;
        usize::from(if entry { entry_base } else { pair_base })
    }

    /// The entry of an output VC of a link.
    #[inline]
    pub fn entry(&self, pair: usize) -> usize {
        let PortInfo { pair_base, entry_base, .. } = self.tables.port(self.tables.pair_port(pair));
        pair + usize::from(entry_base - pair_base)
    }

    /// The output VC that a pair stands for, which may be an entry.
    #[inline]
    pub fn output_vc(&self, pair: usize) -> usize {
        if self.bubble() == 0 {
            return pair;
        }
        let PortInfo { pair_base, entry_base, .. } = self.tables.port(self.tables.pair_port(pair));
        let entry = pair >= entry_base as usize;
        if entry { pair - usize::from(entry_base - pair_base) } else { pair }
    }

    /// The output VCs whose heads could be granted something if `open` are those with room.
    #[inline]
    pub fn reachable(&self, open: Mask<W>) -> Mask<W> {
        if self.flexible() { self.spread(open) } else { open }
    }

    /// `open` with all output VCs of link ports that are above one of it.
    #[inline]
    fn spread(&self, open: Mask<W>) -> Mask<W> {
        if open == self.all {
            return open;
        }
        let mut all = open;
        for (step, above) in self.above.iter().enumerate() {
            all |= all.shifted(1 << step) & *above;
        }
        all
    }

    /// The output VCs that a head which asks for `pair` may be granted.
    pub fn pairs_up_to(&self, pair: usize) -> RangeInclusive<usize> {
        let port = self.tables.port(self.tables.pair_port(pair));
        let several = self.flexible() && port.class != TERMINAL;
        if several { self.block(pair)..=pair } else { pair..=pair }
    }

    /// The number of this allocator iteration among all of the run.
    #[inline]
    pub fn moment(&self, iteration: u32) -> u64 {
        u64::from(self.now) * u64::from(self.rules.iterations) + u64::from(iteration)
    }

    /// The pair that the head of a slot wants, where no head has a choice.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn fixed_request(&mut self, router: usize, slot: usize, packet: u32) -> usize {
        if self.asks() {
            return self.asked_request(router, slot, packet);
        }
        let by_hop = self.depends_on_hop();
        let packet = self.packets.get_mut(packet);
        let head = packet.head::<M>(&self.tables, (router, slot));
        let (source, serial, seed) = (packet.source, packet.serial, self.rules.seed);
        let draw = || head_stream(seed, (source, serial), router);
        let target = self.routing.target(&head, &mut packet.route, draw);
        let base = self.base;
        let request = if target == head.router {
            head.ejection()
        } else if by_hop {
            let hop = base.towards(&head, target, packet.route.trunk);
            hop.map_or(head.ejection(), |hop| base.way(&head, hop).highest())
        } else {
            base.request(&head, target, packet.route.trunk)
        };
        self.tables.port(request.port).pair_base as usize + request.vc as usize
    }

    /// Tells routing of the head of a slot, where some heads have a choice; how it stands.
    #[inline]
    pub fn stand(&mut self, router: usize, slot: usize, packet: u32) -> (Head, Stand) {
        let packet = self.packets.get_mut(packet);
        let head = packet.head::<M>(&self.tables, (router, slot));
        let (source, serial, seed) = (packet.source, packet.serial, self.rules.seed);
        let draw = || head_stream(seed, (source, serial), router);
        (head, self.routing.stand(&head, &mut packet.route, draw))
    }

    /// The same where heads must be asked.
    // Out of line, so that the usual case does not pay for it.
    #[inline(never)]
    fn asked_request(&mut self, router: usize, slot: usize, packet: u32) -> usize {
        let (head, stand) = self.stand(router, slot, packet);
        let request = match stand {
            Stand::Arrived => head.ejection(),
            Stand::Bound(hop) => self.base.way(&head, hop).highest(),
            Stand::Open(_) => unreachable!("no head has a choice"),
        };
        self.tables.port(request.port).pair_base as usize + request.vc as usize
    }

    /// What the head of a slot counts for in the contention counters.
    pub fn counted(&self, router: usize, slot: usize, packet: u32) -> Counted {
        let packet = self.packets.get(packet);
        let head = packet.head::<M>(&self.tables, (router, slot));
        let class = self.tables.port(self.tables.slot_port(slot)).class;
        let topology = &self.plan.topology;
        let (here, target) = (topology.group(head.router), topology.group(head.destination));
        let counts = class != LOCAL + 1 && here != target;
        Counted {
            port: self.routing.minimal_port(&head, &packet.route) as u16,
            group: counts.then_some(target as u16),
        }
    }
}

/// The pairs of links from VC 1, 2, 4 and 8 on, as far as there are any.
fn above<const W: usize>(plan: &Plan) -> Vec<Mask<W>> {
    let layout = &plan.network.layout;
    let mut masks = vec![Mask::EMPTY; 4];
    for pair in 0..layout.pairs() {
        if let Some((_, vc)) = layout.any_vc(pair).filter(|&(port, _)| layout.class[port] != TERMINAL) {
            masks
                .iter_mut()
                .enumerate()
                .filter(|&(step, _)| vc >= 1 << step)
                .for_each(|(_, m)| m.insert(pair));
        }
    }
    masks.retain(|mask| !mask.is_empty());
    masks
}

/// The stream of the choices that a packet makes once in a router.
// Out of line, so that heads that draw nothing do not pay for preparing it.
#[inline(never)]
pub fn head_stream(seed: u64, (source, serial): (u32, u32), router: usize) -> Stream {
    Stream::new(seed, Purpose::Routing, u64::from(source)).at(u64::from(serial)).at(router as u64)
}

impl Packet {
    /// This packet as a head in `slot` of `router`.
    #[inline]
    pub fn head<M: Mode>(&self, tables: &Tables, (router, slot): (usize, usize)) -> Head {
        let code = tables.code(slot);
        Head {
            router: router as u32,
            input: tables.slot_port(slot) as u16,
            code,
            source: self.source,
            destination: self.destination_router,
            terminal: u16::from(self.terminal),
            ejection_vc: if M::FULL { self.ejection_vc } else { 0 },
            reply: M::FULL && self.is_reply(),
        }
    }
}
