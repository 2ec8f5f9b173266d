//! Heads that decide at every attempt: whom to ask, and what follows from a grant.

use super::allocator::Visit;
use super::context::Context;
use super::mask::Mask;
use super::mode::Mode;
use super::outlook::{Attempt, Outlook};
use super::routers::{Extras, Router, global};
use crate::network::TERMINAL;
use crate::routing::view::View;
use crate::routing::{NO_PORT, Reach, Request};

impl Reach {
    /// Whether one of the outputs is among `open` ones; `classes` are all ports of each link class.
    #[inline]
    fn meets<const W: usize>(self, open: Mask<W>, classes: &[Mask<W>; 2]) -> bool {
        self.ports.iter().any(|&port| port != NO_PORT && open.contains(port as usize))
            || (0..2).any(|c| self.classes >> c & 1 == 1 && !(open & classes[c]).is_empty())
    }
}

impl Extras {
    /// A packet has become the head of a slot: where it may go if it decides at every attempt.
    pub fn set_reach<const W: usize, M: Mode>(
        &mut self,
        cx: &Context<'_, W, M>,
        router: &Router<W>,
        (number, slot, packet): (usize, usize, u32),
    ) {
        if router.redeciding.contains(slot) {
            let packet = cx.packets.get(packet);
            let head = packet.head(number, cx.tables.code(slot));
            self.reach[global::<W>(number as u32, slot) as usize] = cx.routing.reach(&head, &packet.route);
        }
    }
}

impl<const W: usize> Visit<'_, W> {
    /// Ports that could take the shortest packet now.
    fn open_ports<M: Mode>(&self, cx: &Context<'_, W, M>) -> Mask<W> {
        let mut open = Mask::EMPTY;
        for port in 0..cx.tables.port_count {
            let info = cx.tables.port(port);
            let credit = self.router.credit.field(info.pair_base as usize, info.pair_field) != 0;
            if credit && self.router.ports[port].out_ready <= cx.now {
                open.insert(port);
            }
        }
        open
    }

    /// Asks the re-deciding heads of free inputs that could be granted something and adds those whose answer
    /// could be granted to `slots`.
    #[inline(never)]
    pub fn redecide<M: Mode>(&mut self, cx: &mut Context<'_, W, M>, iteration: u32, slots: &mut Mask<W>) {
        let open = self.open_ports(cx);
        let classes = [cx.class_ports(1), cx.class_ports(2)];
        for slot in self.router.redeciding.iter() {
            if self.router.ports[cx.tables.slot_port(slot)].in_free > cx.now {
                continue;
            }
            let reach = self.extras.reach[global::<W>(self.number as u32, slot) as usize];
            if cx.remembers || reach.meets(open, &classes) {
                self.decide(cx, iteration, slot, slots);
            }
        }
    }

    /// Asks the head of a slot.
    fn decide<M: Mode>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        iteration: u32,
        slot: usize,
        slots: &mut Mask<W>,
    ) {
        let id = self.router.slots[slot].queue.front;
        let packet = cx.packets.get(id);
        let head = packet.head(self.number, cx.tables.code(slot));
        let (mut route, length) = (packet.route, u32::from(packet.length));
        let mut attempt = Attempt {
            seed: cx.rules.seed,
            packet: (packet.source, packet.serial),
            router: self.number,
            moment: cx.moment(iteration),
            stream: None,
        };
        let room = |port| self.room(cx, port, length);
        let outlook = Outlook { cx, router: self.router, number: self.number, length, room: &room };
        let decision = cx.routing.decide(&head, &mut route, &outlook, &mut attempt);
        let feasible = decision.request.filter(|&request| outlook.open(request));
        cx.recorder.decisions += 1;
        if cx.remembers {
            cx.packets.get_mut(id).route = route;
        }
        self.extras.after[slot] = decision.after;
        if let Some(Request { port, vc }) = feasible {
            let pair = cx.tables.port(port).pair_base as usize + vc as usize;
            self.router.slots[slot].request = pair as u16;
            slots.insert(slot);
        }
    }

    /// The head of `slot` has been granted `pair` of `output` and will have left at `left`: what it remembers and what
    /// sensors see of it. Returns the phits to take off the minimal occupancy of the output VC it came by.
    #[inline(never)]
    pub fn commit<M: Mode>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        (slot, id): (usize, u32),
        (pair, output): (usize, usize),
        left: u32,
    ) -> u16 {
        let redecided = self.router.redeciding.contains(slot);
        let packet = cx.packets.get_mut(id);
        let (length, before) = (packet.length, packet.route);
        if redecided {
            packet.route = self.extras.after[slot];
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
