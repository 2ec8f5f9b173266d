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
use super::routers::{Router, global};
use super::rules::Rules;
use super::sat::Sat;
use super::tables::Tables;
use super::wheel::Wheel;
use crate::measure::recorder::Recorder;
use crate::network::{NONE, TERMINAL};
use crate::plan::Plan;
use crate::rng::{Purpose, Stream};
use crate::routing::minimal::Minimal;
use crate::routing::{Head, Routing, Stand, is_injection};
use crate::topology::LOCAL;
use crate::trace::Observer as _;

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
    /// Phits that one VC of a buffer can hold, by port class, and one more entry to mask the index -- constant.
    pub capacities: [u32; 4],
    /// Pairs of links from VC 1, 2, 4 … on, as far as there are any -- constant.
    pub above: Vec<Mask<W>>,
    /// All pairs -- constant.
    pub all: Mask<W>,
    /// Input ports of links -- constant.
    pub links: Mask<W>,
    /// Shared buffers.
    pub damq: Option<Damq>,
    /// Contention counters.
    pub contention: Option<Contention>,
    /// Marks of saturated global links.
    pub marks: Option<Box<Marks>>,
    /// Bursts that begin together.
    pub bursts: Bursts,
    /// The signal of injection control.
    pub sat: Option<Sat>,
    /// Outstanding phits of packets on their minimal path, by global pair id; empty if nobody reads them.
    pub minimal: Vec<u32>,
    /// Whether some heads have a choice of outputs -- constant.
    pub redecides: bool,
    /// Slots whose heads may have one -- constant.
    pub deciding: Mask<W>,
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
        let tables = Tables::new(plan);
        let capacity = |class: usize| classes.links.get(class).map_or(0, |c| c.buffer);
        Self {
            plan,
            routing: &plan.routing,
            base: plan.routing.base(),
            now: 0,
            packets: Pool::new(),
            arrivals: Events::new(&regions, ahead + 1 + spread),
            credits: Events::new(&regions, latency + spread),
            nics: Nics::new(plan, M::FULL, &regions),
            consumed: PerRegion::new(&regions, Wheel::new(ahead)),
            recorder: Recorder::new(plan),
            capacities: [NONE, capacity(0), capacity(1), 0],
            above: above(plan),
            links: (0..plan.network.layout.inputs())
                .filter(|&input| {
                    let layout = &plan.network.layout;
                    layout.class[layout.input_port[input] as usize] != TERMINAL
                })
                .collect(),
            all: (0..plan.network.layout.pairs())
                .filter(|&p| plan.network.layout.any_vc(p).is_some())
                .collect(),
            damq: Damq::new(plan, ids),
            contention: Contention::new(plan, &sensors, (&regions, ids)),
            marks: Marks::new(plan, &sensors, &regions).map(Box::new),
            bursts: Bursts::new(plan),
            sat: plan.control.sat.as_ref().map(Sat::new),
            minimal: vec![0; if sensors.minimal_occupancy { ids } else { 0 }],
            redecides: plan.routing.redecides(),
            deciding: deciding(plan, &tables),
            tables,
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

    /// Terminal port of the node that injects by `slot` of input port `input`, and the injection VC.
    #[inline]
    pub fn injection_vc(&self, input: usize, slot: usize) -> (usize, usize) {
        let terminal = if M::REGULAR { input } else { self.tables.port(input).injects_for as usize };
        (terminal, slot - self.tables.port(terminal).slot_base as usize)
    }

    /// The head of injection slot `slot` of the node at terminal port `terminal`, which `arrived` there, has been granted.
    #[cold]
    pub fn end_injection_wait(&mut self, (router, terminal): (usize, usize), slot: usize, arrived: u32) {
        let node = router * self.rules.nodes_per_router as usize + terminal;
        let first = arrived + self.rules.pipeline;
        self.recorder.injection_wait_ends(node, global::<W>(router as u32, slot), (first, self.now));
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

    /// The pair that the head of a slot wants, where it has no choice.
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
        let target = if M::FULL && self.redecides {
            self.routing.target_in_transit(&head, &mut packet.route, draw)
        } else {
            self.routing.target(&head, &mut packet.route, draw)
        };
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

    /// A packet as the head of a slot.
    #[inline]
    pub fn head(&self, router: usize, slot: usize, packet: u32) -> Head {
        self.packets.get(packet).head::<M>(&self.tables, (router, slot))
    }

    /// Tells routing of `packet`, a head in a slot of `router`; how it stands.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn stand(&mut self, router: usize, packet: u32, head: &Head) -> Stand {
        let packet = self.packets.get_mut(packet);
        let (source, serial, seed) = (packet.source, packet.serial, self.rules.seed);
        let draw = || head_stream(seed, (source, serial), router);
        self.routing.stand(head, &mut packet.route, draw)
    }

    /// The same where heads must be asked.
    // Out of line, so that the usual case does not pay for it.
    #[inline(never)]
    fn asked_request(&mut self, router: usize, slot: usize, packet: u32) -> usize {
        let head = self.head(router, slot, packet);
        let request = match self.stand(router, packet, &head) {
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

/// The slots whose heads may have a choice of outputs.
fn deciding<const W: usize>(plan: &Plan, tables: &Tables) -> Mask<W> {
    let everywhere = !plan.routing.decides_at_source();
    let decides = |&slot: &usize| plan.routing.redecides() && (everywhere || is_injection(tables.code(slot)));
    (0..plan.network.layout.slots()).filter(decides).collect()
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
