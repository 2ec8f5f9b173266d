//! What follows from a grant: every instant of the hop is computed here, once.

use super::allocator::Visit;
use super::context::{Arrival, Context, Credit};
use super::pool::Queue;
use super::routers::global;
use crate::network::{NONE, TERMINAL};
use crate::trace::{Hop, Observer};

impl<const W: usize> Visit<'_, W> {
    /// Moves the head of `slot` of input port `input` to `output`.
    #[inline]
    pub fn transfer<O: Observer>(
        &mut self,
        cx: &mut Context<'_, W, O>,
        input: usize,
        slot: usize,
        output: usize,
    ) {
        let id = self.router.slots[slot].queue.front;
        let pair = self.router.slots[slot].request as usize;
        let (incoming, outgoing) = (cx.tables.port(input), cx.tables.port(output));
        let vc_in = slot - incoming.slot_base as usize;
        let vc_out = pair - outgoing.pair_base as usize;
        let packet = cx.packets.get_mut(id);
        let (length, arrived, behind) = (u32::from(packet.length), packet.arrived, packet.next);
        let crossing = cx.plan.router.crossing[length as usize];
        let busy = crossing.max((arrived + length).saturating_sub(cx.now));
        self.router.ports[input].in_free = cx.now + busy;
        let hold = cx.now + if cx.rules.hold_speedup { crossing } else { busy };
        let departure = self.depart(cx, output, length, hold);
        self.router.withdraw(slot, pair);

        let packet = cx.packets.get_mut(id);
        let (from, to) = (incoming.class as usize, outgoing.class as usize);
        if from == TERMINAL as usize {
            packet.injected = cx.now;
            let end = if cx.rules.until_departure || to == TERMINAL as usize { departure } else { cx.now };
            packet.injection_wait = end - packet.generated;
            if to != TERMINAL as usize {
                packet.queue_wait[to - 1] += departure - end;
            }
        } else {
            packet.queue_wait[from - 1] += departure - arrived;
        }
        let hop = Hop { router: self.number as u32, port: output as u16, vc: vc_out as u8, arrived, granted: cx.now };
        cx.observer.granted(packet.key(), hop);
        let ids = (global::<W>(self.number as u32, slot), global::<W>(self.number as u32, pair));
        cx.recorder.hop(ids, length, arrived, (cx.now, departure));

        if to == TERMINAL as usize {
            cx.observer.delivered(packet.key(), departure);
            cx.recorder.delivered(packet, departure);
        } else {
            let link = &self.router.ports[output];
            packet.hops[to - 1] += 1;
            packet.arrived = departure + link.latency;
            let arrival = Arrival { slot: link.peer_slot + vc_out as u32, packet: id };
            cx.arrivals.push(packet.arrived + cx.rules.pipeline, arrival);
            let state = &mut self.router.pairs[pair];
            state.credits -= length;
            if state.credits < cx.rules.shortest {
                self.router.credit.remove(pair);
            }
        }

        let next = if from == TERMINAL as usize {
            cx.leave_injection(self.number, input, vc_in, length)
        } else {
            let link = &self.router.ports[input];
            let credit = Credit { pair: link.peer_pair + vc_in as u32, phits: length };
            cx.credits.push(cx.now + link.latency, credit);
            behind
        };
        if to == TERMINAL as usize {
            cx.packets.remove(id);
        }
        self.next_head(cx, slot, next, from == TERMINAL as usize);
    }

    /// The packet `next`, if there is one, is now the head of `slot`.
    #[inline]
    fn next_head<O>(&mut self, cx: &mut Context<'_, W, O>, slot: usize, next: u32, injection: bool) {
        if injection {
            self.router.slots[slot].queue = Queue { front: next, back: next };
        } else {
            self.router.slots[slot].queue.front = next;
        }
        if next == NONE {
            return;
        }
        self.router.ask(slot, cx.fixed_request(self.number, slot, next));
    }

    /// Queues a departure from output `port`; returns its cycle and updates when the output is ready again.
    #[inline]
    fn depart<O>(&mut self, cx: &Context<'_, W, O>, port: usize, length: u32, hold: u32) -> u32 {
        let (ring, first) = (self.extras.ring, self.first_departure(cx, port));
        let state = &mut self.router.ports[port];
        let departure = (cx.now + cx.rules.crossbar).max(state.tail);
        state.tail = departure + length;
        let idle_node = cx.rules.idle_node && cx.tables.port(port).class == TERMINAL;
        let hold = if idle_node { 0 } else { hold };
        if ring == 0 {
            state.out_ready = hold;
            return departure;
        }
        let place = state.ring as usize;
        let next = if place + 1 == ring { 0 } else { place + 1 };
        state.ring = next as u8;
        let entries = &mut self.extras.departures[first..][..ring];
        entries[place] = departure + 1;
        if cx.rules.mixed {
            self.extras.lengths[first + place] = length as u16;
            let room = self.room_at(cx, port, cx.rules.shortest);
            self.router.ports[port].out_ready = hold.max(room);
        } else {
            state.out_ready = hold.max(entries[next]);
        }
        departure
    }

    /// Where the ring of `port` starts.
    #[inline]
    fn first_departure<O>(&self, cx: &Context<'_, W, O>, port: usize) -> usize {
        (self.number * cx.tables.port_count + port) * self.extras.ring
    }

    /// First cycle in which the output queue of `port` has room for `length` phits, with packets of several
    /// lengths: walks back from the newest departure until the rest no longer leaves room.
    fn room_at<O>(&self, cx: &Context<'_, W, O>, port: usize, length: u32) -> u32 {
        let buffer = cx.plan.router.output_buffer.unwrap_or(u32::MAX);
        let (ring, first) = (self.extras.ring, self.first_departure(cx, port));
        let mut place = self.router.ports[port].ring as usize;
        let mut used = length;
        for _ in 0..ring {
            place = if place == 0 { ring - 1 } else { place - 1 };
            used += u32::from(self.extras.lengths[first + place]);
            if used > buffer {
                return self.extras.departures[first + place];
            }
        }
        0
    }

    /// Whether the head of `slot` fits where it wants to go, with packets of several lengths.
    pub fn fits<O>(&self, cx: &Context<'_, W, O>, slot: usize) -> bool {
        let state = &self.router.slots[slot];
        let length = u32::from(cx.packets.get(state.queue.front).length);
        let pair = state.request as usize;
        self.router.pairs[pair].credits >= length
            && (self.extras.ring == 0 || self.room_at(cx, cx.tables.pair_port(pair), length) <= cx.now)
    }

    /// `Ejection::IdleNode`: no packet is on its way into the node at this moment.
    pub fn node_is_idle<O>(&self, cx: &Context<'_, W, O>, output: usize) -> bool {
        let start = self.first_departure(cx, output);
        // Entries hold departure + 1, or 0; a departure d blocks the cycles strictly between d and d + length.
        (start..start + self.extras.ring).all(|entry| {
            let after = self.extras.departures[entry];
            let length = self.extras.lengths.get(entry).map_or(cx.rules.shortest, |&l| u32::from(l));
            after == 0 || cx.now < after || cx.now >= after + length - 1
        })
    }
}
