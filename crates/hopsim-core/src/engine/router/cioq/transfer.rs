//! What follows from a grant: every instant of the hop is computed here, once.

use crate::engine::kernel::pool::Queue;
use crate::engine::kernel::wires::Credit;
use crate::engine::node::{Nodes, Run};
use crate::engine::router::cioq::context::Context;
use crate::engine::router::cioq::ids::join;
use crate::engine::router::cioq::mask::Mask;
use crate::engine::router::cioq::routers::Slot;
use crate::engine::router::cioq::visit::Visit;
use crate::network::{NONE, TERMINAL};
use crate::trace::{Hop, Observer as _};

impl<const W: usize> Visit<'_, W> {
    /// Moves the head of `slot` of input port `input` to `pair` of `output`.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn transfer<M: Run>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        (input, slot): (usize, usize),
        (output, pair): (usize, usize),
    ) {
        let Slot { queue: Queue { front: id, .. }, request } = self.router.slots[slot];
        let pair = cx.shared.output_vc(pair);
        let (from, to) = (self.router.ports[input].class, self.router.ports[output].class);
        let packet = cx.kernel.packets.get(id);
        let (length, behind, arrived) = (u32::from(packet.length), packet.next, packet.arrived);
        let crossing = u32::from(packet.crossing);
        let pace = if M::REGULAR { 1 } else { u32::from(self.router.ports[output].pace) };
        let busy = crossing.max((arrived + length).saturating_sub(cx.kernel.now));
        let hold = cx.kernel.now + if cx.shared.hold_speedup() { crossing } else { busy };
        let departure = self.depart(cx, (output, to), (length, pace, hold));
        self.router.ports[input].in_free = cx.kernel.now + busy;
        self.keep(cx, slot, busy);
        let minimal = if M::FULL { self.commit(cx, (slot, id), (pair, to), cx.kernel.now + busy) } else { 0 };
        if M::FULL && cx.shared.requests.redecides {
            let ready = self.router.ports[output].out_ready;
            let kept = (ready > cx.kernel.now).then_some((output, ready));
            self.extras.choices.waiting.occupy(
                &cx.shared.tables,
                self.number,
                (input, cx.kernel.now + busy),
                kept,
            );
        }
        if M::FULL && self.router.choosing.contains(slot) {
            self.extras.choices.withdraw((self.number, slot), self.router);
        } else {
            self.router.withdraw(slot, request as usize);
        }

        let until_departure = cx.shared.until_departure();
        let nodes_per_router = cx.kernel.constants.nodes_per_router;
        let packet = cx.kernel.packets.get_mut(id);
        let router = cx.kernel.span.router(self.number);
        let hop = Hop {
            router,
            port: output as u16,
            vc: (pair - cx.shared.tables.port(output).pair_base as usize) as u8,
            arrived: packet.arrived,
            granted: cx.kernel.now,
            departed: departure,
            misrouted: packet.route.misrouted(),
        };
        cx.kernel.worker.mode.observer().granted(packet.key(nodes_per_router), hop);
        let ids = (join::<W>(router, slot), join::<W>(router, pair));
        cx.kernel.worker.recorder.hop(ids, length, packet.arrived, (cx.kernel.now, departure));
        packet.book_wait(until_departure, (from, to), (cx.kernel.now, departure));
        if to == TERMINAL {
            if M::FULL {
                self.reserve_reply(cx, pair, (output, length));
            }
            cx.deliver(id, departure);
        } else {
            let link = &self.router.ports[output];
            packet.hops[to as usize - 1] += 1;
            packet.arrived = departure + u32::from(link.latency) + length * (pace - 1);
            let (arrived, slot) = (packet.arrived, link.to_slot.wrapping_add(pair as u32));
            cx.kernel.send(link.region, id, (slot, arrived));
            cx.account(self.number, self.router, pair, (cx.shared.space(length), false));
        }
        self.vacate(cx, (input, slot, from), (length, minimal), (behind, arrived));
    }

    /// Moves the heads that have arrived to their nodes, where those take packets from all input VCs at once.
    pub fn consume_arrived<M: Run>(&mut self, cx: &mut Context<'_, W, M>) {
        let mut heads = Mask::EMPTY;
        for terminal in 0..cx.shared.plan.network.layout.terminals {
            heads |= self.router.wants[cx.shared.tables.port(terminal).pair_base as usize];
        }
        heads.for_each(|slot| {
            let pair = self.router.slots[slot].request as usize;
            // After the last packet that a node may inject the others of its heads ask for nothing.
            let asks = self.router.wants[pair].contains(slot);
            if asks && !self.extras.is_leaving((self.number, slot), cx.kernel.now) {
                self.router.withdraw(slot, pair);
                self.consume_head(cx, (slot, pair), cx.shared.tables.pair_port(pair));
            }
        });
    }

    /// Moves the head of `slot` to its node, behind `terminal`, whatever else crosses.
    fn consume_head<M: Run>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        (slot, pair): (usize, usize),
        terminal: usize,
    ) {
        let input = cx.shared.tables.slot_input(slot);
        let from = self.router.ports[input].class;
        let id = self.router.slots[slot].queue.front;
        let departure = cx.kernel.now + cx.shared.crossing.latency;
        let until_departure = cx.shared.until_departure();
        let packet = cx.kernel.packets.get_mut(id);
        let (length, behind, arrived) = (u32::from(packet.length), packet.next, packet.arrived);
        let busy = length.max((arrived + length).saturating_sub(cx.kernel.now));
        let router = cx.kernel.span.router(self.number);
        let hop = Hop {
            router,
            port: terminal as u16,
            vc: 0,
            arrived: packet.arrived,
            granted: cx.kernel.now,
            departed: departure,
            misrouted: packet.route.misrouted(),
        };
        cx.kernel.worker.mode.observer().granted(packet.key(cx.kernel.constants.nodes_per_router), hop);
        let ids = (join::<W>(router, slot), join::<W>(router, pair));
        cx.kernel.worker.recorder.hop(ids, length, packet.arrived, (cx.kernel.now, departure));
        packet.book_wait(until_departure, (from, TERMINAL), (cx.kernel.now, departure));
        self.keep(cx, slot, busy);
        let minimal =
            if M::FULL { self.commit(cx, (slot, id), (pair, TERMINAL), cx.kernel.now + busy) } else { 0 };
        cx.deliver(id, departure);
        self.vacate(cx, (input, slot, from), (length, minimal), (behind, arrived));
    }

    /// Where nodes take packets from all input VCs at once: the head of a slot leaves it for `busy` cycles, and so long none
    /// can follow it.
    #[inline]
    fn keep<M: Run>(&mut self, cx: &Context<'_, W, M>, slot: usize, busy: u32) {
        if cx.shared.parallel() {
            self.extras.free[join::<W>(self.number as u32, slot) as usize] = cx.kernel.now + busy;
        }
    }

    /// A packet of `length` phits, which `arrived` there, has left slot `slot` of port `input`, of class `from`: its room goes
    /// back, and the packet `behind` it becomes the head.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    fn vacate<M: Run>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        (input, slot, from): (usize, usize, u8),
        (length, minimal): (u32, u16),
        (behind, arrived): (u32, u32),
    ) {
        let next = if from == TERMINAL {
            let (terminal, vc) = cx.injection_vc(input, slot);
            if cx.kernel.worker.recorder.waits.is_some() {
                cx.end_injection_wait((self.number, terminal), slot, arrived);
            }
            let next = cx.nodes.leave_injection(&mut cx.kernel, (self.number, terminal), vc, length);
            if M::FULL && cx.sat.is_some() {
                self.injected(cx, terminal, vc);
            }
            self.router.slots[slot].queue.back = next;
            next
        } else {
            let link = &self.router.ports[input];
            let pair = link.to_pair.wrapping_add(slot as u32);
            let credit = Credit { pair, phits: cx.shared.space(length) as u16, minimal };
            cx.kernel.send_credit(link.region, cx.kernel.now + u32::from(link.latency), credit);
            behind
        };
        self.router.slots[slot].queue.front = next;
        if next != NONE {
            self.new_head(cx, slot, next);
        }
    }

    /// A packet has become the head of a slot.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn new_head<M: Run>(&mut self, cx: &mut Context<'_, W, M>, slot: usize, packet: u32) {
        if M::FULL && cx.holds(self.number, slot) {
            if cx.contention.is_some() {
                // The counters count it for its minimal path, which is drawn here.
                let head = cx.head(self.number, slot, packet);
                cx.stand(packet, &head);
            }
            return;
        }
        if M::FULL && cx.masks.deciding.contains(slot) {
            return self.stand(cx, slot, packet);
        }
        self.router.ask(slot, cx.fixed_request(self.number, slot, packet));
    }

    /// Queues a departure of `length` phits from output `port`, whose link takes `slowness` cycles for each, and which the crossbar
    /// holds until `hold`; returns its cycle and updates when the output is ready again.
    #[inline]
    fn depart<M: Run>(
        &mut self,
        cx: &Context<'_, W, M>,
        (port, class): (usize, u8),
        (length, slowness, hold): (u32, u32, u32),
    ) -> u32 {
        let state = &mut self.router.ports[port];
        let departure = (cx.kernel.now + cx.shared.crossing.latency).max(state.tail);
        state.tail = departure + length * slowness;
        let idle_node = cx.shared.idle_node() && class == TERMINAL;
        let hold = if idle_node { 0 } else { hold };
        if M::PLAIN && !idle_node {
            // The queue is full only while all it holds departs back to back, so its last departure tells.
            state.out_ready = hold.max(state.tail.saturating_sub(cx.shared.crossing.queue_slack));
            return departure;
        }
        let ring = self.extras.ring;
        if ring == 0 {
            // A slow link takes longer than the crossbar.
            state.out_ready = hold.max(state.tail.saturating_sub(cx.shared.crossing.latency));
            return departure;
        }
        let first = join::<W>(self.number as u32, port) as usize * ring;
        let place = state.ring as usize;
        let next = if place + 1 == ring { 0 } else { place + 1 };
        state.ring = next as u8;
        self.extras.departures[first + place] = departure + 1;
        if cx.shared.mixed() {
            self.extras.lengths[first + place] = length as u16;
            let room = self.room(cx, port, cx.shared.room.shortest);
            self.router.ports[port].out_ready = hold.max(room);
        } else {
            state.out_ready = hold.max(self.extras.departures[first + next]);
        }
        departure
    }

    /// First cycle in which the output queue of `port`, if there is one, has room for `length` phits.
    fn room<M: Run>(&self, cx: &Context<'_, W, M>, port: usize, length: u32) -> u32 {
        self.extras.room((self.number, self.router), port, (&cx.shared.crossing, length))
    }

    /// Whether an output VC and its queue have room for a packet of `length` phits.
    pub fn has_room<M: Run>(&self, cx: &Context<'_, W, M>, pair: usize, length: u32) -> bool {
        self.router.credits[pair] >= cx.shared.space(length)
            && self.room(cx, cx.shared.tables.pair_port(pair), length) <= cx.kernel.now
    }

    /// Whether the head of `slot` fits where it wants to go, with packets of several lengths.
    pub fn fits<M: Run>(&self, cx: &Context<'_, W, M>, slot: usize) -> bool {
        let state = &self.router.slots[slot];
        let length = u32::from(cx.kernel.packets.get(state.queue.front).length);
        cx.shared.pairs_up_to(state.request as usize).any(|pair| self.has_room(cx, pair, length))
    }

    /// A packet of `length` phits was granted ejection through `pair` of `output`: a request takes the space of its
    /// reply.
    #[inline]
    pub fn reserve_reply<M: Run>(
        &mut self,
        cx: &Context<'_, W, M>,
        pair: usize,
        (output, length): (usize, u32),
    ) {
        if pair > cx.shared.tables.port(output).pair_base as usize {
            let credits = &mut self.router.credits[pair];
            *credits -= length;
            if *credits < cx.shared.room.shortest {
                self.router.credit.remove(pair);
            }
        }
    }
}
