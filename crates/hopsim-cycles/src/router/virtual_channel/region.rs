//! A region and its cycle.
//!
//! A cycle is: credits and flits arrive; every router that holds a packet allocates output VCs, then the switch; nodes generate and
//! inject. Routers that are faster than their links allocate in several steps of a cycle. What a stage grants the next one sees a step
//! later: VC allocation has read owners before the switch frees output VCs, and a packet that has been granted an output VC asks for the
//! switch from the next step on at the earliest.

use crate::kernel::constants::Constants;
use crate::kernel::doors::Doors;
use crate::kernel::ids::{Id as _, PairId, RegionRouter, Slot, SlotId, Terminal};
use crate::kernel::packet::head_stream;
use crate::kernel::regions::Regions;
use crate::kernel::wheel::Calendar as _;
use crate::kernel::wires::{Arrival, Credit};
use crate::kernel::{Kernel, Wishes};
use crate::node::{Nodes as _, Run};
use crate::observer::Observer;
use crate::router::damq::Damq;
use crate::router::outstanding::Outstanding;
use crate::router::virtual_channel::allocator::FlitMatcher;
use crate::router::virtual_channel::batches::{Batches, SwitchTurn};
use crate::router::virtual_channel::flit_arrivals::FlitArrivals;
use crate::router::virtual_channel::outages::FlitOutages;
use crate::router::virtual_channel::output_queues::OutputQueues;
use crate::router::virtual_channel::places::{AskedVcs, InputPlace};
use crate::router::virtual_channel::requests::FlitRequests;
use crate::router::virtual_channel::routers::{FlitInputVc, FlitRouters, Trail, occupied, set_bits};
use crate::router::virtual_channel::shared::{self, FlitShared};
use hopsim_network::network::{NONE, TERMINAL};
use hopsim_routing::Request;
use std::sync::Arc;

/// Some routers of the network, their nodes, and all state that only these write.
pub struct VirtualChannel<'p, M: Run> {
    /// What routers and nodes of the region work with.
    pub(super) kernel: Kernel<'p, M>,
    /// The nodes.
    pub(super) nodes: M::Nodes,
    /// Constants of the run.
    pub(super) shared: FlitShared<'p>,
    /// The routers.
    pub(super) routers: FlitRouters,
    /// The queues at the outputs, if there are any.
    pub(super) output_queues: Option<OutputQueues>,
    /// What routers are busy with whose stages are no pipelines.
    pub(super) batches: Option<Batches>,
    /// What output VCs have outstanding, where the VCs of a port share its buffer.
    pub(super) damq: Option<Damq>,
    /// What is outstanding at all outputs of the network, if anybody reads it.
    pub(super) outstanding: Option<Outstanding>,
    /// What is out of order.
    pub(super) outages: FlitOutages,
    /// When the flits in input VCs arrived, if that is looked at.
    pub(super) flit_arrivals: Option<FlitArrivals>,
    /// The present step of the routers, the first one of the present cycle until they allocate.
    pub(super) step: u64,
    /// Routers that hold a packet, a bit each.
    pub(super) active: Vec<u64>,
    /// Output VCs with room for a flit, a bit each, router by router: for observers.
    pub(super) room: Vec<u64>,
    /// Scratch of a cycle.
    pub(super) requests: FlitRequests,
    pub(super) vc_allocator: FlitMatcher,
    pub(super) switch_allocator: FlitMatcher,
    /// Allocators of the switch for heads that own no output VC yet; of no routers if they have none of their own.
    pub(super) speculative_allocator: FlitMatcher,
}

impl<'p, M: Run> VirtualChannel<'p, M> {
    /// A region of a network at cycle 0, empty.
    pub fn empty(
        constants: Constants<'p>,
        shared: FlitShared<'p>,
        wishes: &Wishes<M>,
        (regions, number): (&Arc<Regions>, usize),
    ) -> Self {
        let system = constants.system;
        let kernel = Kernel::new(constants, wishes, regions, number);
        let span = kernel.span;
        let routers = FlitRouters::new::<M>(system, &shared, (regions, &span));
        let (layout, plan) = (shared.layout, shared.plan);
        let crossbar = shared::crossbar_sides(layout, &plan);
        let separate = if plan.speculation.is_apart() { span.routers } else { 0 };
        let mut region = Self {
            nodes: M::Nodes::new(&kernel, Doors::new(&system.network.layout)),
            kernel,
            active: vec![0; span.routers.div_ceil(64)],
            room: vec![0; span.routers * shared.stride / 64],
            requests: FlitRequests::new(&shared),
            vc_allocator: FlitMatcher::new(
                (plan.vc_allocator, plan.arbiter),
                span.routers,
                shared::vcs(layout),
            ),
            switch_allocator: FlitMatcher::new((plan.switch_allocator, plan.arbiter), span.routers, crossbar),
            speculative_allocator: FlitMatcher::new(
                (plan.switch_allocator, plan.arbiter),
                separate,
                crossbar,
            ),
            output_queues: OutputQueues::new(&shared, span.routers),
            batches: Batches::new(&plan, span.routers),
            damq: Damq::new(system, span.routers * shared.stride),
            outstanding: Outstanding::new(system),
            outages: FlitOutages::default(),
            flit_arrivals: FlitArrivals::new(plan.arbiter, span.routers * shared.stride),
            step: 0,
            shared,
            routers,
        };
        region.find_room();
        region
    }

    /// Simulates up to cycle `end`.
    pub fn simulate(&mut self, end: u32) {
        self.nodes.begin_window(&mut self.kernel);
        while self.kernel.now < end {
            self.cycle();
            if M::Calendar::KNOWS {
                self.kernel.now = self.next_cycle().min(end);
            }
        }
    }

    fn cycle(&mut self) {
        self.kernel.worker.observer.begin_cycle(self.kernel.now);
        let steps = self.shared.plan.speedup.steps(self.kernel.now);
        self.step = steps.start;
        self.absorb_credits();
        self.absorb_heads();
        self.absorb_flits();
        self.note_outstanding();
        if M::Observer::hears_heads(&self.kernel.places) {
            self.count_injection_waits();
        }
        if M::Observer::hears_room(&self.kernel.places) {
            let (room, words) = (&self.room, self.shared.stride / 64);
            let of = |router: RegionRouter| &room[router.index() * words..][..words];
            M::Observer::look_at_room(&mut self.kernel.places, of, self.kernel.now);
        }
        for step in steps {
            self.step = step;
            self.allocate();
        }
        self.nodes.run(&mut self.kernel);
        self.kernel.now += 1;
    }

    /// What is outstanding behind an output VC of a link; nothing behind one that leads to a node.
    pub fn occupancy(&self, number: RegionRouter, request: Request) -> u32 {
        let pair = self.shared.pair_id(number, self.shared.pair(request));
        let class = self.shared.layout.class[request.port];
        if class == TERMINAL {
            return 0;
        }
        let counted = self.buffer(class - 1).saturating_sub(self.routers.outputs[pair].credits);
        if M::PLAIN { counted } else { self.outages.reading(pair, counted) }
    }

    fn note_outstanding(&mut self) {
        let Some(mut outstanding) = self.outstanding.take() else { return };
        outstanding.note(|number, (port, vc)| self.occupancy(number, Request { port, vc }));
        self.outstanding = Some(outstanding);
    }

    /// Lets every router that holds a packet allocate.
    fn allocate(&mut self) {
        let mut requests = std::mem::take(&mut self.requests);
        for word in 0..self.active.len() {
            let mut bits = self.active[word];
            while bits != 0 {
                let number = RegionRouter::at(word * 64 + bits.trailing_zeros() as usize);
                bits &= bits - 1;
                if self.routers.has_heads(number) {
                    self.allocate_vcs(number, &mut requests);
                }
                if self.begins_switch(number) {
                    match &mut requests.switch_in_turn {
                        Some(asked) => self.allocate_switch_in_turn(number, asked),
                        None => self.allocate_switch(number, &mut requests.switch),
                    }
                }
                if !self.routers.has_packets(number) {
                    self.active[word] &= !(1 << (number.index() % 64));
                }
            }
        }
        self.requests = requests;
    }

    /// Whether a router allocates its switch now. If it ends an allocation of several cycles, what has been granted the switch crosses.
    #[inline]
    fn begins_switch(&mut self, number: RegionRouter) -> bool {
        if M::PLAIN || self.batches.is_none() {
            return true;
        }
        let asks = self.asks_for_switch(number);
        let Some(batches) = &mut self.batches else { return true };
        match batches.turn_of_switch(number, self.kernel.now, asks) {
            SwitchTurn::Begins => true,
            SwitchTurn::Waits => false,
            SwitchTurn::Ends(slots) => {
                for slot in slots {
                    let slot = self.shared.slot_id(number, Slot::at(slot.into()));
                    if self.has_room_for_next(slot) {
                        self.cross(slot);
                    }
                }
                false
            }
        }
    }

    /// The first cycle from the present one on in which anything happens.
    pub(super) fn next_cycle(&self) -> u32 {
        let kernel = &self.kernel;
        if M::Observer::hears_heads(&kernel.places) || self.active.iter().any(|&word| word != 0) {
            return kernel.now;
        }
        let next = self.nodes.next_event(kernel.now);
        if next == kernel.now {
            return next;
        }
        let next = kernel.arrivals.next(kernel.now, next);
        let next = kernel.flits.next(kernel.now, next);
        let next = kernel.credits.next(kernel.now, next);
        kernel.immigrants.next(kernel.now, next)
    }

    /// Whether no packet is under way: none has been granted an output VC in its source router and not left by its tail.
    pub(super) fn has_drained(&self) -> bool {
        let (kernel, layout) = (&self.kernel, self.shared.layout);
        let of_link = |slot: Slot| layout.class[usize::from(layout.slot_port[slot.index()])] != TERMINAL;
        let mut arrivals = kernel.arrivals.iter();
        let holds = |number: RegionRouter| {
            let mut slots = occupied(&self.shared, self.routers.ports(number));
            slots.any(|slot| {
                of_link(slot) || self.routers.inputs[self.shared.slot_id(number, slot)].output.is_some()
            })
        };
        kernel.immigrants.iter().next().is_none()
            && !arrivals.any(|arrival| of_link(self.shared.split_slot(arrival.slot).1))
            && !(0..kernel.span.routers).map(RegionRouter::at).any(holds)
    }

    fn absorb_credits(&mut self) {
        let due = self.kernel.credits.take(self.kernel.now);
        for &Credit { pair, phits, minimal: _ } in &due {
            if !M::PLAIN && self.shares_room(pair, (phits.into(), true)) {
                continue;
            }
            let output = &mut self.routers.outputs[pair];
            let had_none = output.credits == 0;
            output.credits += u32::from(phits);
            if had_none {
                self.see_room(pair);
            }
        }
        self.kernel.credits.put_back(due);
    }

    fn absorb_heads(&mut self) {
        let due = self.kernel.take_arrivals();
        if !M::PLAIN && M::Observer::hears_flits(&self.kernel.places) {
            for arrival in &due {
                self.tell_arrival(arrival.slot);
            }
        }
        if let Some(arrivals) = self.flit_arrivals.as_mut().filter(|_| !M::PLAIN) {
            arrivals.arrive(due.iter().map(|arrival| arrival.slot), self.kernel.now);
        }
        for &Arrival { slot: id, packet } in &due {
            let input = &mut self.routers.inputs[id];
            input.flits += 1;
            if input.left > 0 {
                input.behind.push(&mut self.kernel.packets, packet);
            } else {
                self.begin_packet(id, packet, self.step as u32);
            }
        }
        self.kernel.arrivals.put_back(due);
    }

    fn absorb_flits(&mut self) {
        let due = self.kernel.flits.take(self.kernel.now);
        if !M::PLAIN && M::Observer::hears_flits(&self.kernel.places) {
            for &slot in &due {
                self.tell_arrival(slot);
            }
        }
        if let Some(arrivals) = self.flit_arrivals.as_mut().filter(|_| !M::PLAIN) {
            arrivals.arrive(due.iter().copied(), self.kernel.now);
        }
        for &id in &due {
            let input = &mut self.routers.inputs[id];
            input.flits += 1;
            if input.flits == 1 && input.output.is_some() {
                let place = input.place;
                self.routers.has_flit(place, true);
            }
        }
        self.kernel.flits.put_back(due);
    }

    /// A packet becomes the present one of input VC `at`, and its route is computed from step `from` on.
    pub(super) fn begin_packet(&mut self, at: SlotId, id: u32, from: u32) {
        let place = self.routers.inputs[at].place;
        let number = place.router();
        let request = match &self.shared.routes {
            Some(routes) => Some(routes.asked(self.kernel.span.router(number), self.kernel.packets.get(id))),
            None => self.route(place, id),
        };
        let packet = self.kernel.packets.get(id);
        let mut ready = from.wrapping_add(self.shared.plan.routing_delay);
        let mut stamp = 0;
        if !M::PLAIN {
            stamp = self.shared.stamp(packet, self.routers.port_of(place).link.class == TERMINAL);
            if let Some(batches) = &mut self.batches {
                ready = batches.route(number, from);
            }
        }
        let input = &mut self.routers.inputs[at];
        input.packet = id;
        input.left = packet.length;
        input.output = None;
        input.request = request;
        input.stamp = stamp;
        input.ready = ready;
        input.trail = Trail::of(packet, self.kernel.constants.nodes_per_router);
        self.routers.begin(place);
        self.active[number.index() / 64] |= 1 << (number.index() % 64);
        if !M::PLAIN && M::Observer::hears_flits(&self.kernel.places) {
            self.tell_route(at, (from, ready));
        }
    }

    /// Computes the route of a packet as the head of an input VC: the output VCs that it asks for if it has no choice.
    fn route(&mut self, place: InputPlace, id: u32) -> Option<AskedVcs> {
        let Kernel { constants, span, packets, .. } = &mut self.kernel;
        let packet = packets.get_mut(id);
        let head = self.shared.head(packet, (span.router(place.router()), place), M::FULL);
        let draw = || head_stream(constants.seed, (packet.source, packet.serial), head.router);
        let mut route = packet.route;
        let requests = self.shared.routing.settle_all(&head, &mut route, draw);
        packet.route = route;
        requests.map(|requests| self.shared.asked(requests))
    }

    /// Whether the present packet of an input VC may ask by now.
    #[inline]
    pub(super) fn is_ready(&self, input: &FlitInputVc) -> bool {
        // Nobody waits for half of all steps that 32 bits count.
        (self.step as u32).wrapping_sub(input.ready) < 1 << 31
    }

    /// The terminal port of the node that injects by an input VC, and the injection VC.
    pub(super) fn injection_vc(&self, place: InputPlace) -> (Terminal, usize) {
        let (port, vc) = (usize::from(place.port), usize::from(place.vc));
        let terminal = self.shared.layout.injects_for[port] as usize;
        let slot = self.shared.slot(port, vc);
        (Terminal { router: place.router(), port: terminal }, slot.above(self.shared.slot(terminal, 0)))
    }

    /// Sees which output VCs have room for a flit.
    pub(super) fn find_room(&mut self) {
        for (id, output) in self.routers.outputs.numbered() {
            let bit = 1 << (id.index() % 64);
            let word = &mut self.room[id.index() / 64];
            *word = if output.credits > 0 { *word | bit } else { *word & !bit };
        }
        for number in (0..self.kernel.span.routers).map(RegionRouter::at) {
            for (port, &vcs) in self.shared.layout.output_vcs.iter().enumerate() {
                let first = self.routers.port(number, port).link.first_pair;
                let credits = |vc: &usize| self.routers.outputs[first.up(*vc)].credits;
                let credited = (0..usize::from(vcs)).filter(|vc| credits(vc) > 0);
                self.routers.port_mut(number, port).credited = credited.fold(0, |vcs, vc| vcs | 1 << vc);
            }
        }
    }

    /// An output VC has got its first credit, or lost its last one.
    fn see_room(&mut self, id: PairId) {
        let (number, pair) = self.shared.split_pair(id);
        let (port, vc) = self.shared.output(pair);
        let (word, bit) = (&mut self.room[id.index() / 64], 1 << (id.index() % 64));
        let has_room = self.routers.outputs[id].credits > 0;
        let port = self.routers.port_mut(number, port);
        if has_room {
            *word |= bit;
            port.credited |= 1 << vc;
        } else {
            *word &= !bit;
            port.credited &= !(1 << vc);
        }
        M::Observer::touch_room(&mut self.kernel.places, id);
    }

    /// Counts what is left at cycle `end`, the last of the run.
    pub fn count_rest(&mut self, end: u32) {
        self.nodes.finish(&mut self.kernel, end);
        self.count_held();
        M::Observer::end(&mut self.kernel.places, end);
        if M::Observer::hears_heads(&self.kernel.places) {
            self.settle_injection_waits();
        }
    }

    /// Counts the packets whose heads are in buffers at the end of the run for the time that they have waited there.
    fn count_held(&mut self) {
        let mut held = Vec::new();
        for number in (0..self.kernel.span.routers).map(RegionRouter::at) {
            for slot in occupied(&self.shared, self.routers.ports(number)) {
                let id = self.shared.slot_id(number, slot);
                let input = &self.routers.inputs[id];
                let present = (input.has_head()).then_some(input.packet);
                let packets = present.into_iter().chain(input.behind.iter(&self.kernel.packets));
                held.extend(packets.map(|packet| (id, packet)));
            }
        }
        held.extend(self.kernel.arrivals.iter().map(|&Arrival { slot, packet }| (slot, packet)));
        for (slot, packet) in held {
            let packet = self.kernel.packets.get(packet);
            let places = &mut self.kernel.places;
            self.kernel.worker.observer.held(places, slot, packet.length.into(), packet.arrived);
        }
        for packet in self.kernel.immigrants.iter() {
            let (places, slot) = (&mut self.kernel.places, SlotId::at(packet.next as usize));
            self.kernel.worker.observer.held(places, slot, packet.length.into(), packet.arrived);
        }
        self.nodes.count_held(&mut self.kernel);
    }

    /// Room for flits is taken behind an output VC that shares it with the other VCs of its port, or comes back. Returns whether it does share.
    #[inline]
    fn shares_room(&mut self, id: PairId, (flits, returned): (u32, bool)) -> bool {
        let Some(damq) = &mut self.damq else { return false };
        let (number, pair) = self.shared.split_pair(id);
        let (port, _) = self.shared.output(pair);
        let class = self.shared.layout.class[port];
        if class == TERMINAL {
            return false;
        }
        let first = self.routers.port(number, port).link.first_pair;
        let vcs = self.shared.layout.output_vcs[port].into();
        let mut changed: u64 = 0;
        for (vc, credits) in damq.account(id, (flits, returned), (class, first, vcs)).enumerate() {
            let before = std::mem::replace(&mut self.routers.outputs[first.up(vc)].credits, credits);
            changed |= u64::from((before > 0) != (credits > 0)) << vc;
        }
        for vc in set_bits(changed) {
            self.see_room(first.up(vc));
        }
        true
    }

    /// Room for `flits` is taken behind an output VC.
    #[inline]
    pub(super) fn take_room(&mut self, id: PairId, flits: u32) {
        if !M::PLAIN && self.shares_room(id, (flits, false)) {
            return;
        }
        let output = &mut self.routers.outputs[id];
        if output.credits == NONE {
            return;
        }
        output.credits -= flits;
        if output.credits == 0 {
            self.see_room(id);
        }
    }
}
