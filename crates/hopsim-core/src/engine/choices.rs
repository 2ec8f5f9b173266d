//! Heads with a choice: of a VC (FlexVC) or of an output (adaptive routing).
//!
//! A head bound for one port waits in the set of that port; its VC is picked when it is nominated. A head with a
//! choice of outputs waits in the sets of all ports, or of the link classes, that it could choose, and is asked only
//! when one of them could take a packet. So heads that wait for nothing that has come cost nothing.

use super::allocator::{Scratch, Visit};
use super::context::Context;
use super::mask::Mask;
use super::mode::Mode;
use super::outlook::{Attempt, Outlook};
use super::routers::{Router, global};
use crate::network::TERMINAL;
use crate::plan::Plan;
use crate::routing::view::View;
use crate::routing::{Hop, NO_PORT, Place, Prospect, Reach, Request, RouteState, Stand};

/// Who waits for what in one router.
#[derive(Clone)]
struct Waiting<const W: usize> {
    /// Slots bound for a port, by port.
    bound: Vec<Mask<W>>,
    /// Ports that some slot is bound for.
    bound_ports: Mask<W>,
    /// Slots that could choose a port, by port.
    open: Vec<Mask<W>>,
    /// Ports that some slot could choose by itself.
    open_ports: Mask<W>,
    /// Slots that could choose any port of a link class.
    classes: [Mask<W>; 2],
}

/// The heads with a choice.
pub struct Choices<const W: usize> {
    /// By router.
    waiting: Vec<Waiting<W>>,
    /// By global slot id: what the head may choose from. A bound head has its hop as the minimal one.
    prospects: Vec<Prospect>,
    /// By slot: what the packet remembers if it is granted what it asks for now.
    after: Vec<RouteState>,
}

impl<const W: usize> Choices<W> {
    /// No heads.
    pub fn new(plan: &Plan) -> Self {
        let any = !plan.routing.is_fixed();
        let (routers, ports) = (plan.network.routers as usize, plan.network.layout.ports());
        let nowhere = Hop { port: NO_PORT, class: 0, leg: crate::routing::Leg::Final, reuses: false };
        let waiting = Waiting {
            bound: vec![Mask::EMPTY; ports],
            bound_ports: Mask::EMPTY,
            open: vec![Mask::EMPTY; ports],
            open_ports: Mask::EMPTY,
            classes: [Mask::EMPTY; 2],
        };
        let (routers, slots) = if any { (routers, 64 * W) } else { (0, 0) };
        Self {
            waiting: vec![waiting; routers],
            prospects: vec![Prospect::minimal(nowhere, Place::Injection); routers * slots],
            after: vec![RouteState::NEW; slots],
        }
    }

    /// Where the head of a slot may go.
    pub fn reach(&self, number: usize, slot: usize) -> Reach {
        self.prospects[global::<W>(number as u32, slot) as usize].reach
    }

    /// The head of a slot waits for what its prospect names, or with `bound` for its minimal hop.
    fn enter(&mut self, number: usize, slot: usize, prospect: Prospect, bound: bool) {
        self.prospects[global::<W>(number as u32, slot) as usize] = prospect;
        let waiting = &mut self.waiting[number];
        if bound {
            waiting.bound[prospect.minimal.port as usize].insert(slot);
            waiting.bound_ports.insert(prospect.minimal.port as usize);
            return;
        }
        for port in prospect.reach.ports.into_iter().filter(|&port| port != NO_PORT) {
            waiting.open[port as usize].insert(slot);
            waiting.open_ports.insert(port as usize);
        }
        for class in 0..2 {
            if prospect.reach.classes >> class & 1 == 1 {
                waiting.classes[class].insert(slot);
            }
        }
    }

    /// The head of a slot has left.
    pub fn withdraw(&mut self, number: usize, router: &mut Router<W>, slot: usize) {
        router.choosing.remove(slot);
        let reach = self.reach(number, slot);
        let waiting = &mut self.waiting[number];
        for port in reach.ports.into_iter().filter(|&port| port != NO_PORT).map(usize::from) {
            waiting.bound[port].remove(slot);
            if waiting.bound[port].is_empty() {
                waiting.bound_ports.remove(port);
            }
            waiting.open[port].remove(slot);
            if waiting.open[port].is_empty() {
                waiting.open_ports.remove(port);
            }
        }
        waiting.classes.iter_mut().for_each(|slots| slots.remove(slot));
    }
}

impl<const W: usize> Visit<'_, W> {
    /// A packet has become the head of a slot.
    pub fn stand<M: Mode>(&mut self, cx: &mut Context<'_, W, M>, slot: usize, packet: u32) {
        let code = cx.tables.code(slot);
        let packet = cx.packets.get_mut(packet);
        let head = packet.head::<M>(self.number, code);
        let (source, serial, seed) = (packet.source, packet.serial, cx.rules.seed);
        let draw = || super::context::head_stream(seed, (source, serial), self.number);
        let (request, vcs) = (|r: Request| cx.tables.port(r.port).pair_base as usize + r.vc as usize, cx.routing.vcs());
        match cx.routing.stand(&head, &mut packet.route, draw) {
            Stand::Arrived => self.router.ask(slot, request(head.ejection())),
            Stand::Bound(hop) if !vcs.is_flexible() => self.router.ask(slot, request(vcs.single(&head, hop))),
            Stand::Bound(hop) => {
                self.router.choosing.insert(slot);
                self.extras.choices.enter(self.number, slot, Prospect::minimal(hop, Place::Injection), true);
            }
            Stand::Open(prospect) => {
                self.router.choosing.insert(slot);
                self.extras.choices.enter(self.number, slot, prospect, false);
            }
        }
    }

    /// Whether an output port could take the shortest packet in one of its VCs now.
    #[inline]
    fn is_open<M: Mode>(&self, cx: &Context<'_, W, M>, port: usize) -> bool {
        let info = cx.tables.port(port);
        self.router.ports[port].out_ready <= cx.now
            && self.router.credit.field(info.pair_base as usize, info.pair_field) != 0
    }

    /// Heads bound for a port one of whose VCs they could be granted now.
    fn bound<M: Mode>(&self, cx: &Context<'_, W, M>) -> Mask<W> {
        let mut slots = Mask::EMPTY;
        let waiting = &self.extras.choices.waiting[self.number];
        waiting.bound_ports.for_each(|port| {
            if self.is_open(cx, port) {
                waiting.bound[port].for_each(|slot| {
                    if self.has_vc(cx, slot) {
                        slots.insert(slot);
                    }
                });
            }
        });
        slots
    }

    /// Whether one of the VCs allowed to a head bound for an open port has room for its packet.
    fn has_vc<M: Mode>(&self, cx: &Context<'_, W, M>, slot: usize) -> bool {
        let hop = self.extras.choices.prospects[global::<W>(self.number as u32, slot) as usize].minimal;
        let port = hop.port as usize;
        let packet = cx.packets.get(self.router.slots[slot].queue.front);
        let allowed = u64::from(cx.routing.vcs().allowed(&packet.head::<M>(self.number, cx.tables.code(slot)), hop));
        let info = cx.tables.port(port);
        let base = info.pair_base as usize;
        let roomy = self.router.credit.field(base, info.pair_field) >> (base % 64) & allowed;
        if !cx.mixed() {
            return roomy != 0;
        }
        let length = u32::from(packet.length);
        let enough = |vc: usize| roomy >> vc & 1 == 1 && self.router.pairs[base + vc].credits >= length;
        (0..16).any(enough) && self.room(cx, port, length) <= cx.now
    }

    /// Heads that could choose an output that is open now.
    fn awake<M: Mode>(&self, cx: &Context<'_, W, M>) -> Mask<W> {
        let waiting = &self.extras.choices.waiting[self.number];
        if cx.remembers {
            let mut slots = self.router.choosing;
            waiting.bound_ports.for_each(|port| slots = slots.without(waiting.bound[port]));
            return slots;
        }
        let mut slots = Mask::EMPTY;
        waiting.open_ports.for_each(|port| {
            if self.is_open(cx, port) {
                slots |= waiting.open[port];
            }
        });
        for class in 0..2u8 {
            let slots_of_class = waiting.classes[class as usize];
            if !slots_of_class.is_empty() && cx.class_ports(class + 1).iter().any(|port| self.is_open(cx, port)) {
                slots |= slots_of_class;
            }
        }
        slots
    }

    /// The allocator's iterations where heads have a choice; `fixed` are the feasible slots of those without.
    #[inline(never)]
    pub fn iterate_choices<M: Mode>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        scratch: &mut Scratch<W>,
        mut fixed: Mask<W>,
    ) {
        let mut bound = self.bound(cx);
        for iteration in 0..cx.rules.iterations {
            let mut slots = fixed;
            slots |= bound;
            self.awake(cx).for_each(|slot| self.decide(cx, iteration, slot, &mut slots));
            if slots.is_empty() {
                // Nothing changes any more in this cycle but what is drawn.
                if cx.draws { continue } else { return }
            }
            let asked = self.nominate(cx, slots, iteration, scratch);
            let losers = self.grant_requests(cx, asked, iteration, scratch);
            fixed = self.still_feasible(cx, fixed, losers);
            bound = self.still_bound(cx, bound, losers);
        }
    }

    /// Those of `bound` that belong to input ports in `losers` and could still be granted.
    fn still_bound<M: Mode>(&self, cx: &Context<'_, W, M>, bound: Mask<W>, losers: Mask<W>) -> Mask<W> {
        let mut left = Mask::EMPTY;
        bound.for_each(|slot| {
            let hop = self.extras.choices.prospects[global::<W>(self.number as u32, slot) as usize].minimal;
            let lost = self.router.choosing.contains(slot) && losers.contains(cx.tables.slot_port(slot));
            if lost && self.is_open(cx, hop.port as usize) && self.has_vc(cx, slot) {
                left.insert(slot);
            }
        });
        left
    }

    /// Asks the head of a slot, if its input is free, and adds it to `slots` if it could be granted what it answers.
    fn decide<M: Mode>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        iteration: u32,
        slot: usize,
        slots: &mut Mask<W>,
    ) {
        if self.router.ports[cx.tables.slot_port(slot)].in_free > cx.now {
            return;
        }
        let id = self.router.slots[slot].queue.front;
        let packet = cx.packets.get(id);
        let head = packet.head::<M>(self.number, cx.tables.code(slot));
        let (mut route, length) = (packet.route, u32::from(packet.length));
        let mut attempt = self.attempt(cx, id, iteration);
        let prospect = &self.extras.choices.prospects[global::<W>(self.number as u32, slot) as usize];
        let room = |port| self.room(cx, port, length);
        let outlook = Outlook { cx, router: self.router, number: self.number, length, room: &room };
        let decision = cx.routing.choose(&head, prospect, &mut route, &outlook, &mut attempt);
        let feasible = decision.request.filter(|&request| outlook.open(request));
        cx.recorder.decisions += 1;
        if cx.remembers {
            cx.packets.get_mut(id).route = route;
        }
        self.extras.choices.after[slot] = decision.after;
        if let Some(Request { port, vc }) = feasible {
            self.router.slots[slot].request = cx.tables.port(port).pair_base + u16::from(vc);
            slots.insert(slot);
        }
    }

    fn attempt<M: Mode>(&self, cx: &Context<'_, W, M>, id: u32, iteration: u32) -> Attempt {
        let packet = cx.packets.get(id);
        Attempt {
            seed: cx.rules.seed,
            packet: (packet.source, packet.serial),
            router: self.number,
            moment: cx.moment(iteration),
            stream: None,
        }
    }

    /// Picks the VC of a nominated head that is bound for a port.
    #[inline]
    pub fn settle_vc<M: Mode>(&mut self, cx: &mut Context<'_, W, M>, slot: usize, iteration: u32) {
        if !self.router.choosing.contains(slot) {
            return;
        }
        let prospect = &self.extras.choices.prospects[global::<W>(self.number as u32, slot) as usize];
        let hop = prospect.minimal;
        if hop.port == NO_PORT || !self.extras.choices.waiting[self.number].bound[hop.port as usize].contains(slot) {
            return;
        }
        let id = self.router.slots[slot].queue.front;
        let packet = cx.packets.get(id);
        let head = packet.head::<M>(self.number, cx.tables.code(slot));
        let (route, length) = (packet.route, u32::from(packet.length));
        let mut attempt = self.attempt(cx, id, iteration);
        let room = |_| 0;
        let outlook = Outlook { cx, router: self.router, number: self.number, length, room: &room };
        let request = cx.routing.vcs().choose(&head, hop, &outlook, &mut attempt);
        cx.recorder.decisions += 1;
        self.extras.choices.after[slot] = route;
        self.router.slots[slot].request = cx.tables.port(request.port).pair_base + u16::from(request.vc);
    }

    /// The head of `slot` has been granted `pair` of `output` and will have left at `left`: what it remembers and what
    /// sensors see of it. Returns the phits to take off the minimal occupancy of the output VC it came by.
    pub fn commit<M: Mode>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        (slot, id): (usize, u32),
        (pair, output): (usize, usize),
        left: u32,
    ) -> u16 {
        let chosen = self.router.choosing.contains(slot);
        let packet = cx.packets.get_mut(id);
        let (length, before) = (packet.length, packet.route);
        if chosen {
            packet.route = self.extras.choices.after[slot];
        }
        let minimal = if packet.route.misrouted() { 0 } else { i32::from(length) };
        if self.router.ports[output].class != TERMINAL {
            cx.occupancy_changed(self.number, (pair, global::<W>(self.number as u32, pair)), minimal);
        }
        if let Some(contention) = &mut cx.contention {
            contention.leaves(global::<W>(self.number as u32, slot), left);
        }
        if before.misrouted() { 0 } else { length }
    }
}

impl<const W: usize, M: Mode> Context<'_, W, M> {
    /// The occupancy of an output VC of router `number` (`pair` there and as global id) has changed, that by packets on
    /// their minimal path by `minimal`.
    #[inline]
    pub fn occupancy_changed(&mut self, number: usize, (pair, id): (usize, u32), minimal: i32) {
        if let Some(marks) = &mut self.marks {
            marks.touch(number, self.tables.port(self.tables.pair_port(pair)).class);
        }
        if let Some(count) = self.minimal.get_mut(id as usize) {
            *count = count.saturating_add_signed(minimal);
        }
    }
}
