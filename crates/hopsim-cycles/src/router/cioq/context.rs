//! What a region has besides the state of its routers.

use crate::kernel::Kernel;
use crate::kernel::by::By;
use crate::kernel::doors::Doors;
use crate::kernel::ids::{Id, Pair, PairId, RegionNode, RegionRouter, Slot, Terminal};
use crate::kernel::packet::{Packet, head_stream};
use crate::node::{self, Nodes, Run};
use crate::observer::Observer as _;
use crate::router::cioq::contention::{Contention, Counted};
use crate::router::cioq::marks::Marks;
use crate::router::cioq::mask::Mask;
use crate::router::cioq::masks::Masks;
use crate::router::cioq::on_off::{Notice, OnOff};
use crate::router::cioq::outages::Outages;
use crate::router::cioq::routers::Router;
use crate::router::cioq::sat::SatSignal;
use crate::router::cioq::shared::Shared;
use crate::router::cioq::tables::Tables;
use crate::router::damq::Damq;
use crate::router::outstanding::Outstanding;
use hopsim_network::network::TERMINAL;
use hopsim_routing::{Head, Request, Route};

/// The state of a region besides the state of its routers.
pub struct Context<'p, const W: usize, M: Run> {
    /// What routers and nodes of the region work with.
    pub kernel: Kernel<'p, M>,
    /// The nodes.
    pub nodes: M::Nodes,
    /// Constants of the run.
    pub shared: Shared<'p, M>,
    /// Sets of ports and VCs that never change.
    pub masks: Masks<W>,
    /// Shared buffers.
    pub damq: Option<Damq>,
    /// On/off flow control.
    pub on_off: Option<Box<OnOff<M::Calendar>>>,
    /// Contention counters.
    pub contention: Option<Contention>,
    /// Marks of saturated global links.
    pub marks: Option<Box<Marks>>,
    /// The signal of injection control.
    pub sat: Option<SatSignal>,
    /// Outstanding phits of packets on their minimal path, by pair; empty if nobody reads them.
    pub minimal: By<PairId, u32>,
    /// Ports whose links are out of order.
    pub outages: Outages,
    /// What is outstanding at all outputs of the network, if anybody reads it.
    pub outstanding: Option<Outstanding>,
}

impl<'p, const W: usize, M: Run> Context<'p, W, M> {
    /// The context of an empty region at cycle 0.
    pub fn new(kernel: Kernel<'p, M>, shared: Shared<'p, M>) -> Self {
        let (system, span) = (kernel.constants.system, kernel.span);
        let sensors = system.routing.sensors();
        let ids = span.routers * 64 * W;
        Self {
            nodes: M::Nodes::new(&kernel, Doors::new(&system.network.layout)),
            masks: Masks::new(system, &shared.tables),
            shared,
            damq: Damq::new(system, ids),
            on_off: OnOff::new(system, (kernel.constants.ahead, kernel.constants.credits_ahead)),
            contention: Contention::new(system, &sensors, (&span, ids)),
            marks: Marks::new(system, &sensors, &span).map(Box::new),
            sat: system.control.sat.as_ref().map(SatSignal::new),
            minimal: By::all(0, if sensors.minimal_occupancy { ids } else { 0 }),
            outages: Outages::default(),
            outstanding: Outstanding::new(system),
            kernel,
        }
    }

    /// Whether links have on/off flow control.
    #[inline]
    pub fn is_on_off(&self) -> bool {
        M::FULL && !M::PLAIN && self.on_off.is_some()
    }

    /// What is outstanding behind an output VC with so many credits, as far as its router knows.
    #[expect(clippy::inline_always, reason = "per decision; measured")]
    #[inline(always)]
    pub fn occupancy(&self, number: RegionRouter, pair: Pair, credits: u32) -> u32 {
        let counted = self.shared.capacity(pair).saturating_sub(credits);
        if self.outages.are_over() {
            return counted;
        }
        self.outages.reading::<W>((number, pair), counted)
    }

    /// Whether an output VC has no room for `phits`, as far as its router knows.
    pub fn lacks_room(&self, router: &Router<W>, pair: Pair, phits: u32) -> bool {
        if self.is_on_off() && self.shared.tables.pair(pair).class != TERMINAL {
            return !router.credit.contains(pair);
        }
        router.credits[pair] < phits
    }

    /// The head of a packet of `phits` that is granted `pair` will be known at cycle `at` to have arrived in the buffer behind it.
    #[cold]
    pub fn announce(&mut self, number: RegionRouter, pair: Pair, (phits, at): (u32, u32)) {
        let notice = Notice { pair: number.pair::<W>(pair), phits: phits as u16 };
        self.on_off.iter_mut().for_each(|on_off| on_off.notices.push(at, notice));
    }

    /// The output VCs whose heads could be granted something if `open` are the output VCs with room.
    #[inline]
    pub fn reachable(&self, open: Mask<Pair, W>) -> Mask<Pair, W> {
        if self.shared.flexible() { self.masks.spread(open) } else { open }
    }

    /// Terminal port of the node that injects by `slot` of input port `input`, and the injection VC.
    #[inline]
    pub fn injection_vc(&self, input: usize, slot: Slot) -> (usize, usize) {
        let terminal = if M::REGULAR { input } else { self.shared.tables.port(input).injects_for as usize };
        (terminal, slot.above(self.shared.tables.port(terminal).slot(0)))
    }

    /// The head of injection slot `slot` of the node at terminal port `terminal`, which `arrived` there, has been granted.
    #[cold]
    pub fn end_injection_wait(&mut self, terminal: Terminal, slot: Slot, arrived: u32) {
        let node = terminal.node(self.kernel.constants.nodes_per_router);
        let Kernel { constants, now, places, worker, .. } = &mut self.kernel;
        let first = arrived + constants.pipeline;
        let place = (node, terminal.router.slot::<W>(slot));
        worker.observer.head_leaves(places, place, first, *now);
    }

    /// Whether the head of a slot has to wait for the signal; then the head is held.
    #[inline]
    pub fn holds(&mut self, router: RegionRouter, slot: Slot) -> bool {
        if self.sat.is_none() {
            return false;
        }
        let place = self.injection_place(router, slot);
        self.sat.as_mut().zip(place).is_some_and(|(sat, (node, vc))| sat.holds(node, vc))
    }

    /// Whether the head of a slot is held.
    pub fn is_held(&self, router: RegionRouter, slot: Slot) -> bool {
        if self.sat.is_none() {
            return false;
        }
        let place = self.injection_place(router, slot);
        self.sat.as_ref().zip(place).is_some_and(|(sat, (node, vc))| sat.held[node] >> vc & 1 == 1)
    }

    /// Node and injection VC of a slot, if it is an injection VC.
    #[inline]
    fn injection_place(&self, router: RegionRouter, slot: Slot) -> Option<(RegionNode, usize)> {
        let input = self.shared.tables.slot_port(slot);
        let (terminal, vc) = self.injection_vc(input, slot);
        let node = Terminal { router, port: terminal }.node(self.kernel.constants.nodes_per_router);
        (self.shared.tables.port(input).class == TERMINAL).then_some((node, vc))
    }

    /// A packet leaves for its node at `departure`, and the network forgets it.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn deliver(&mut self, id: u32, departure: u32) {
        node::deliver(&mut self.kernel, &mut self.nodes, id, departure);
    }

    /// The pair that the head of a slot wants, where it has no choice.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn fixed_request(&mut self, number: RegionRouter, slot: Slot, packet: u32) -> Pair {
        if self.shared.asks() {
            return self.asked_request(number, slot, packet);
        }
        let by_hop = self.shared.depends_on_hop();
        let packet = self.kernel.packets.get_mut(packet);
        let head = packet.head::<M>(&self.shared.tables, (self.kernel.span.router(number), slot));
        let (source, serial, seed) = (packet.source, packet.serial, self.kernel.constants.seed);
        let draw = || head_stream(seed, (source, serial), head.router);
        let target = if M::FULL && self.shared.requests.redecides {
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
            let request = base.request(&head, target, packet.route.trunk);
            if self.shared.follows_path(&head) {
                Request { vc: base.vcs().of_path(head.router, head.destination), ..request }
            } else {
                request
            }
        };
        self.shared.tables.output(request)
    }

    /// The packet as the head of a slot.
    #[inline]
    pub fn head(&self, number: RegionRouter, slot: Slot, packet: u32) -> Head {
        self.kernel
            .packets
            .get(packet)
            .head::<M>(&self.shared.tables, (self.kernel.span.router(number), slot))
    }

    /// Computes the route of `packet`, the head `head`.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn route(&mut self, packet: u32, head: &Head) -> Route {
        let packet = self.kernel.packets.get_mut(packet);
        let (source, serial, seed) = (packet.source, packet.serial, self.kernel.constants.seed);
        let draw = || head_stream(seed, (source, serial), head.router);
        self.shared.routing.route(head, &mut packet.route, draw)
    }

    /// The pair that the head of a slot wants, where heads must be asked and have no choice.
    // Out of line, so that the usual case does not pay for it.
    #[inline(never)]
    fn asked_request(&mut self, number: RegionRouter, slot: Slot, packet: u32) -> Pair {
        let head = self.head(number, slot, packet);
        let request = match self.route(packet, &head) {
            Route::Arrived => head.ejection(),
            Route::Fixed(hop) => self.shared.base.way(&head, hop).highest(),
            Route::Undecided(_) => unreachable!("no head has a choice"),
        };
        self.shared.tables.output(request)
    }

    /// What the head of a slot counts for in the contention counters.
    pub fn counted(&self, number: RegionRouter, slot: Slot, packet: u32) -> Counted {
        let packet = self.kernel.packets.get(packet);
        let head = packet.head::<M>(&self.shared.tables, (self.kernel.span.router(number), slot));
        let class = self.shared.tables.port(self.shared.tables.slot_port(slot)).class;
        let topology = &self.kernel.constants.system.topology;
        let (here, target) = (topology.group(head.router), topology.group(head.destination));
        let counts = class != self.shared.inside && here != target;
        Counted {
            port: self.shared.routing.minimal_port(&head, &packet.route) as u16,
            group: counts.then_some(target as u16),
        }
    }
}

impl Packet {
    /// The packet as the head of `slot` of `router`.
    #[inline]
    pub fn head<M: Run>(&self, tables: &Tables, (router, slot): (u32, Slot)) -> Head {
        self.at_input(router, tables.slot_port(slot), tables.code(slot), M::FULL)
    }
}
