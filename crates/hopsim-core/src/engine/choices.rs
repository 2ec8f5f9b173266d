//! Heads with a choice: of a VC (FlexVC) or of an output (adaptive routing).
//!
//! A head bound for one port waits in the set of that port; its VC is picked when it is nominated. A head with a
//! choice of outputs waits in the sets of the output VCs that it could choose, single ones or one of all ports of a link
//! class, and is asked only when one of them could take a packet. So heads that wait for nothing that has come cost
//! nothing.

use super::allocator::{Scratch, Visit};
use super::context::Context;
use super::mask::Mask;
use super::mode::Mode;
use super::outlook::{Attempt, Outlook};
use super::routers::{Router, global};
use super::tables::Tables;
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
    /// Slots that could choose an output VC, by pair.
    open: Vec<Mask<W>>,
    /// Pairs that some slot could choose by themselves.
    open_pairs: Mask<W>,
    /// Slots that could choose a VC of any port of a link class, by class · 16 + VC.
    classes: Vec<Mask<W>>,
    /// Which of those sets are not empty, a bit each.
    in_classes: u32,
}

/// The heads with a choice.
pub struct Choices<const W: usize> {
    /// By router.
    waiting: Vec<Waiting<W>>,
    /// By global slot id: what the head may choose from. A bound head has its hop as the minimal one.
    prospects: Vec<Prospect>,
    /// By global slot id: VCs that a bound head may use, a bit each; 0 of any other head.
    allowed: Vec<u16>,
    /// By slot: what the packet remembers if it is granted what it asks for now.
    after: Vec<RouteState>,
}

/// VCs, a bit each.
fn vcs_in(set: u16) -> impl Iterator<Item = usize> {
    Mask::<1>::from_bits(u64::from(set)).iter()
}

impl<const W: usize> Choices<W> {
    /// No heads.
    pub fn new(plan: &Plan) -> Self {
        let any = !plan.routing.is_fixed();
        let (routers, layout) = (plan.network.routers as usize, &plan.network.layout);
        let nowhere = Hop { port: NO_PORT, class: 0, leg: crate::routing::Leg::Final, reuses: false };
        let waiting = Waiting {
            bound: vec![Mask::EMPTY; layout.ports()],
            bound_ports: Mask::EMPTY,
            open: vec![Mask::EMPTY; layout.pairs()],
            open_pairs: Mask::EMPTY,
            classes: vec![Mask::EMPTY; 32],
            in_classes: 0,
        };
        let (routers, slots) = if any { (routers, 64 * W) } else { (0, 0) };
        Self {
            waiting: vec![waiting; routers],
            prospects: vec![Prospect::minimal(nowhere, Place::Injection); routers * slots],
            allowed: vec![0; routers * slots],
            after: vec![RouteState::NEW; slots],
        }
    }

    /// Where the head of a slot may go.
    pub fn reach(&self, number: usize, slot: usize) -> Reach {
        self.prospects[global::<W>(number as u32, slot) as usize].reach
    }

    /// The head of a slot is bound for a port.
    fn bind(&mut self, number: usize, slot: usize, (hop, allowed): (Hop, u16)) {
        let id = global::<W>(number as u32, slot) as usize;
        self.prospects[id].minimal = hop;
        self.prospects[id].reach = Reach { ports: [(hop.port, allowed), (NO_PORT, 0)], classes: [0; 2] };
        self.allowed[id] = allowed;
        let waiting = &mut self.waiting[number];
        waiting.bound[hop.port as usize].insert(slot);
        waiting.bound_ports.insert(hop.port as usize);
    }

    /// The head of a slot has a choice of outputs.
    fn open(&mut self, tables: &Tables, number: usize, slot: usize, prospect: Prospect) {
        let id = global::<W>(number as u32, slot) as usize;
        self.prospects[id] = prospect;
        self.allowed[id] = 0;
        let waiting = &mut self.waiting[number];
        prospect.reach.each_pair(tables, |pair| {
            waiting.open[pair].insert(slot);
            waiting.open_pairs.insert(pair);
        });
        for (class, set) in prospect.reach.classes.into_iter().enumerate() {
            for vc in vcs_in(set) {
                waiting.classes[class * 16 + vc].insert(slot);
                waiting.in_classes |= 1 << (class * 16 + vc);
            }
        }
    }

    /// The head of a slot has left.
    pub fn withdraw(&mut self, tables: &Tables, (number, slot): (usize, usize), router: &mut Router<W>) {
        router.choosing.remove(slot);
        let id = global::<W>(number as u32, slot) as usize;
        let reach = self.prospects[id].reach;
        let waiting = &mut self.waiting[number];
        if self.allowed[id] != 0 {
            let port = reach.ports[0].0 as usize;
            waiting.bound[port].remove(slot);
            if waiting.bound[port].is_empty() {
                waiting.bound_ports.remove(port);
            }
            return;
        }
        reach.each_pair(tables, |pair| {
            waiting.open[pair].remove(slot);
            if waiting.open[pair].is_empty() {
                waiting.open_pairs.remove(pair);
            }
        });
        for (class, set) in reach.classes.into_iter().enumerate() {
            for index in vcs_in(set).map(|vc| class * 16 + vc) {
                waiting.classes[index].remove(slot);
                if waiting.classes[index].is_empty() {
                    waiting.in_classes &= !(1 << index);
                }
            }
        }
    }
}

impl Reach {
    /// Visits the output VCs of its single ports.
    #[inline]
    fn each_pair(self, tables: &Tables, mut visit: impl FnMut(usize)) {
        for (port, set) in self.ports {
            if port != NO_PORT {
                let base = tables.port(port as usize).pair_base as usize;
                Mask::<1>::from_bits(u64::from(set)).for_each(|vc| visit(base + vc));
            }
        }
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
        let (request, vcs) =
            (|r: Request| cx.tables.port(r.port).pair_base as usize + r.vc as usize, cx.routing.vcs());
        match cx.routing.stand(&head, &mut packet.route, draw) {
            Stand::Arrived => self.router.ask(slot, request(head.ejection())),
            Stand::Bound(hop) if !vcs.is_flexible() => self.router.ask(slot, request(vcs.single(&head, hop))),
            Stand::Bound(hop) => {
                let allowed = vcs.allowed(&head, hop);
                self.router.choosing.insert(slot);
                self.extras.choices.bind(self.number, slot, (hop, allowed));
            }
            Stand::Open(prospect) => {
                self.router.choosing.insert(slot);
                self.extras.choices.open(&cx.tables, self.number, slot, prospect);
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
                    if self.has_vc(cx, port, slot) {
                        slots.insert(slot);
                    }
                });
            }
        });
        slots
    }

    /// Whether one of the VCs allowed to a head bound for an open port has room for its packet.
    #[inline]
    fn has_vc<M: Mode>(&self, cx: &Context<'_, W, M>, port: usize, slot: usize) -> bool {
        let allowed = self.extras.choices.allowed[global::<W>(self.number as u32, slot) as usize];
        let info = cx.tables.port(port);
        let base = info.pair_base as usize;
        let roomy = self.router.credit.field(base, info.pair_field) >> (base % 64) & u64::from(allowed);
        if !cx.mixed() {
            return roomy != 0;
        }
        let length = u32::from(cx.packets.get(self.router.slots[slot].queue.front).length);
        let enough = |vc: usize| self.router.pairs[base + vc].credits >= length;
        vcs_in(roomy as u16).any(enough) && self.room(cx, port, length) <= cx.now
    }

    /// Heads that could choose an output VC that is open now.
    fn awake<M: Mode>(&self, cx: &Context<'_, W, M>) -> Mask<W> {
        let waiting = &self.extras.choices.waiting[self.number];
        if cx.remembers {
            let mut slots = self.router.choosing;
            waiting.bound_ports.for_each(|port| slots = slots.without(waiting.bound[port]));
            return slots;
        }
        let ready = |port: usize| self.router.ports[port].out_ready <= cx.now;
        let mut slots = Mask::EMPTY;
        (waiting.open_pairs & self.router.credit).for_each(|pair| {
            if ready(cx.tables.pair_port(pair)) {
                slots |= waiting.open[pair];
            }
        });
        Mask::<1>::from_bits(u64::from(waiting.in_classes)).for_each(|index| {
            let (class, vc) = (index / 16, index % 16);
            let open = |port: usize| {
                let pair = cx.tables.port(port).pair_base as usize + vc;
                self.router.credit.contains(pair) && ready(port)
            };
            if cx.class_ports(class as u8 + 1).iter().any(open) {
                slots |= waiting.classes[index];
            }
        });
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
                if cx.draws {
                    continue;
                }
                return;
            }
            if let Some(slot) = slots.single() {
                // The usual case at low load needs no arbitration.
                self.settle_vc(cx, slot, iteration);
                if self.grant_single(cx, slot, iteration) {
                    (fixed, bound) = (Mask::EMPTY, Mask::EMPTY);
                    continue;
                }
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
            let port = self.extras.choices.reach(self.number, slot).ports[0].0 as usize;
            let lost = self.router.choosing.contains(slot) && losers.contains(cx.tables.slot_port(slot));
            if lost && self.is_open(cx, port) && self.has_vc(cx, port, slot) {
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
        let decision = cx.routing.choose((&head, prospect), &mut route, &outlook, &mut attempt);
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
        let place = global::<W>(self.number as u32, slot) as usize;
        if !self.router.choosing.contains(slot) || self.extras.choices.allowed[place] == 0 {
            return;
        }
        let hop = self.extras.choices.prospects[place].minimal;
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
