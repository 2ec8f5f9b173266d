//! What of a region is not a router's own: the clock, packets, events on links, nodes.

use super::bursts::Bursts;
use super::contention::{Contention, Counted};
use super::damq::Damq;
use super::marks::Marks;
use super::mode::Mode;
use super::nic::Nics;
use super::packet::Packet;
use super::pool::Pool;
use super::regions::Span;
use super::replies::Consumed;
use super::routers::join;
use super::sat::Sat;
use super::shared::Shared;
use super::tables::Tables;
use super::wheel::Wheel;
use super::worker::{Mail, Worker};
use crate::rng::{Purpose, Stream};
use crate::routing::{Head, Stand};
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

/// The state of a region apart from its routers' own.
pub struct Context<'p, const W: usize, M> {
    /// Constants.
    pub shared: Shared<'p, W, M>,
    /// Which routers and nodes are in the region -- constant.
    pub span: Span,
    /// The next cycle to be simulated, or the present one.
    pub now: u32,
    /// Packets in the network.
    pub packets: Pool<Packet>,
    /// Heads on their way.
    pub arrivals: Wheel<Arrival>,
    /// Packets on their way from other regions; their link is the slot that they arrive in.
    pub immigrants: Wheel<Packet>,
    /// Credits on their way.
    pub credits: Wheel<Credit>,
    /// The nodes.
    pub nics: Nics,
    /// Requests and replies whose consumption begins.
    pub consumed: Wheel<Consumed>,
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
    /// Outstanding phits of packets on their minimal path, by pair; empty if nobody reads them.
    pub minimal: Vec<u32>,
    /// Lent while the region is simulated.
    pub worker: Worker<M>,
}

impl<'p, const W: usize, M: Mode> Context<'p, W, M> {
    /// The context of an empty region at cycle 0, which is at most `spread` cycles behind the others.
    pub fn new(shared: Shared<'p, W, M>, span: Span, spread: u32) -> Self {
        let (plan, ahead) = (shared.plan, shared.ahead);
        let sensors = plan.routing.sensors();
        let ids = span.routers * 64 * W;
        Self {
            now: 0,
            packets: Pool::new(),
            arrivals: Wheel::new(ahead + 1),
            immigrants: Wheel::new(if spread == 0 { 0 } else { ahead + 1 + spread }),
            credits: Wheel::new(shared.longest_link + spread),
            nics: Nics::new(plan, M::FULL, &span),
            consumed: Wheel::new(ahead),
            damq: Damq::new(plan, ids),
            contention: Contention::new(plan, &sensors, (&span, ids)),
            marks: Marks::new(plan, &sensors, &span).map(Box::new),
            bursts: Bursts::new(plan),
            sat: plan.control.sat.as_ref().map(Sat::new),
            minimal: vec![0; if sensors.minimal_occupancy { ids } else { 0 }],
            worker: Worker::default(),
            shared,
            span,
        }
    }

    /// Packets inside the region, and on their way there.
    pub fn inside(&self) -> usize {
        self.packets.len() + self.immigrants.iter().count()
    }

    /// Takes what other regions have sent.
    pub fn receive(&mut self, mail: &mut Mail) {
        let pipeline = self.shared.rules.pipeline;
        mail.packets.drain(..).for_each(|p| self.immigrants.push(p.arrived + pipeline, p));
        mail.credits.drain(..).for_each(|(at, credit)| self.credits.push(at, credit));
    }

    /// A packet that will have `arrived` at the other end of a link to `region` is on its way to `slot` there.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn send(&mut self, region: u16, id: u32, (slot, arrived): (u32, u32)) {
        if region == self.span.region {
            let at = arrived + self.shared.rules.pipeline;
            self.arrivals.push(at, Arrival { slot, packet: id });
        } else {
            self.send_away(region, id, slot);
        }
    }

    // Out of line, so that what stays in the region does not pay for it.
    #[inline(never)]
    fn send_away(&mut self, region: u16, id: u32, slot: u32) {
        let packet = Packet { next: slot, ..self.packets.get(id).clone() };
        self.packets.remove(id);
        self.worker.mail[region as usize].packets.push(packet);
    }

    /// Credit is on its way to a router of `region`, for cycle `at`.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn send_credit(&mut self, region: u16, at: u32, credit: Credit) {
        if region == self.span.region {
            self.credits.push(at, credit);
        } else {
            self.send_credit_away(region, at, credit);
        }
    }

    #[inline(never)]
    fn send_credit_away(&mut self, region: u16, at: u32, credit: Credit) {
        self.worker.mail[region as usize].credits.push((at, credit));
    }

    /// Terminal port of the node that injects by `slot` of input port `input`, and the injection VC.
    #[inline]
    pub fn injection_vc(&self, input: usize, slot: usize) -> (usize, usize) {
        let terminal = if M::REGULAR { input } else { self.shared.tables.port(input).injects_for as usize };
        (terminal, slot - self.shared.tables.port(terminal).slot_base as usize)
    }

    /// The id in the network of slot or pair `index` of router `number`: what the recorder counts by.
    #[inline]
    pub fn network_id(&self, number: usize, index: usize) -> u32 {
        join::<W>(self.span.router(number), index)
    }

    /// The head of injection slot `slot` of the node at terminal port `terminal`, which `arrived` there, has been granted.
    #[cold]
    pub fn end_injection_wait(&mut self, (number, terminal): (usize, usize), slot: usize, arrived: u32) {
        let node = number * self.shared.rules.nodes_per_router as usize + terminal;
        let (node, id) = (self.span.node(node), self.network_id(number, slot));
        let first = arrived + self.shared.rules.pipeline;
        self.worker.recorder.injection_wait_ends(node as usize, id, (first, self.now));
    }

    /// A packet leaves for its node at `departure`, and the network forgets it.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn deliver(&mut self, id: u32, departure: u32) {
        let packet = self.packets.get(id);
        self.worker.mode.observer().delivered(packet.key(self.shared.rules.nodes_per_router), departure);
        self.worker.recorder.delivered(packet, departure, &self.shared.plan.topology);
        if M::FULL {
            self.consume(id, departure);
        }
        self.packets.remove(id);
    }

    /// The pair that the head of a slot wants, where it has no choice.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn fixed_request(&mut self, number: usize, slot: usize, packet: u32) -> usize {
        if self.shared.asks() {
            return self.asked_request(number, slot, packet);
        }
        let by_hop = self.shared.depends_on_hop();
        let packet = self.packets.get_mut(packet);
        let head = packet.head::<M>(&self.shared.tables, (self.span.router(number), slot));
        let (source, serial, seed) = (packet.source, packet.serial, self.shared.rules.seed);
        let draw = || head_stream(seed, (source, serial), head.router);
        let target = if M::FULL && self.shared.redecides {
            self.shared.routing.target_in_transit(&head, &mut packet.route, draw)
        } else {
            self.shared.routing.target(&head, &mut packet.route, draw)
        };
        let base = self.shared.base;
        let request = if target == head.router {
            head.ejection()
        } else if by_hop {
            let hop = base.towards(&head, target, packet.route.trunk);
            hop.map_or(head.ejection(), |hop| base.way(&head, hop).highest())
        } else {
            base.request(&head, target, packet.route.trunk)
        };
        self.shared.tables.port(request.port).pair_base as usize + request.vc as usize
    }

    /// A packet as the head of a slot.
    #[inline]
    pub fn head(&self, number: usize, slot: usize, packet: u32) -> Head {
        self.packets.get(packet).head::<M>(&self.shared.tables, (self.span.router(number), slot))
    }

    /// Tells routing of `packet`, a head; how it stands.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn stand(&mut self, packet: u32, head: &Head) -> Stand {
        let packet = self.packets.get_mut(packet);
        let (source, serial, seed) = (packet.source, packet.serial, self.shared.rules.seed);
        let draw = || head_stream(seed, (source, serial), head.router);
        self.shared.routing.stand(head, &mut packet.route, draw)
    }

    /// The same where heads must be asked.
    // Out of line, so that the usual case does not pay for it.
    #[inline(never)]
    fn asked_request(&mut self, number: usize, slot: usize, packet: u32) -> usize {
        let head = self.head(number, slot, packet);
        let request = match self.stand(packet, &head) {
            Stand::Arrived => head.ejection(),
            Stand::Bound(hop) => self.shared.base.way(&head, hop).highest(),
            Stand::Open(_) => unreachable!("no head has a choice"),
        };
        self.shared.tables.port(request.port).pair_base as usize + request.vc as usize
    }

    /// What the head of a slot counts for in the contention counters.
    pub fn counted(&self, number: usize, slot: usize, packet: u32) -> Counted {
        let packet = self.packets.get(packet);
        let head = packet.head::<M>(&self.shared.tables, (self.span.router(number), slot));
        let class = self.shared.tables.port(self.shared.tables.slot_port(slot)).class;
        let topology = &self.shared.plan.topology;
        let (here, target) = (topology.group(head.router), topology.group(head.destination));
        let counts = class != LOCAL + 1 && here != target;
        Counted {
            port: self.shared.routing.minimal_port(&head, &packet.route) as u16,
            group: counts.then_some(target as u16),
        }
    }
}

/// The stream of the choices that a packet makes once in a router.
// Out of line, so that heads that draw nothing do not pay for preparing it.
#[inline(never)]
pub fn head_stream(seed: u64, (source, serial): (u32, u32), router: u32) -> Stream {
    Stream::new(seed, Purpose::Routing, u64::from(source)).at(u64::from(serial)).at(u64::from(router))
}

impl Packet {
    /// This packet as a head in `slot` of `router`.
    #[inline]
    pub fn head<M: Mode>(&self, tables: &Tables, (router, slot): (u32, usize)) -> Head {
        let code = tables.code(slot);
        Head {
            router,
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
