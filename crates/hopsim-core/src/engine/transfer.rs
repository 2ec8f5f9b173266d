//! What follows from a grant: every instant of the hop is computed here, once.

use super::packet::Packet;
use super::simulation::{Arrival, Credit, Simulation};
use crate::network::{NONE, TERMINAL};
use crate::trace::{Hop, Observer};

impl<const W: usize, O: Observer> Simulation<'_, W, O> {
    /// Moves the head of `slot` of input port `input` to `output`.
    pub(super) fn transfer(&mut self, router: usize, input: usize, slot: usize, output: usize) {
        let base = router * self.layout.ports();
        let global = router << self.layout.slot_shift | slot;
        let state = self.routers.slots[global];
        let (id, pair) = (state.queue.front, state.request as usize);
        let (length, arrived) = {
            let packet = self.packets.get(id);
            (u32::from(packet.length), packet.arrived)
        };
        let crossing = self.plan.router.crossing[length as usize];
        let transfer = crossing.max((arrived + length).saturating_sub(self.now));
        self.routers.ports[base + input].in_free = self.now + transfer;
        let hold = self.now + if self.rules.hold_speedup { crossing } else { transfer };
        let departure = self.depart(base + output, length, hold, self.layout.class[output] == TERMINAL);
        let packet = self.packets.get(id);
        self.observer.granted(
            packet.key(),
            Hop {
                router: router as u32,
                port: output as u16,
                vc: (pair - self.layout.pair_base[output] as usize) as u8,
                arrived,
                granted: self.now,
            },
        );
        self.recorder.hop(global, router << self.layout.pair_shift | pair, packet, (self.now, departure));
        self.leave_slot(router, slot, pair);
        if self.layout.class[input] == TERMINAL {
            self.leave_injection(router, input, slot, id);
        } else {
            self.next_in_slot(global, id);
            let link = &self.links[base + input];
            let vc = slot - self.layout.slot_base[input] as usize;
            let credit = Credit { pair: link.peer_pair + vc as u32, phits: length };
            self.credits.push(self.now + link.latency, credit);
        }
        self.account_wait(id, input, output, departure);
        if self.layout.class[output] == TERMINAL {
            self.deliver(id, departure);
        } else {
            self.launch(router, output, pair, (id, departure));
        }
    }

    /// Queues a departure from output `port`; returns its cycle and updates when the output is ready again.
    #[inline]
    fn depart(&mut self, port: usize, length: u32, hold: u32, terminal: bool) -> u32 {
        let ring = self.routers.ring;
        let state = &mut self.routers.ports[port];
        let departure = (self.now + self.rules.crossbar).max(state.tail);
        state.tail = departure + length;
        let hold = if terminal && self.rules.idle_node { 0 } else { hold };
        if ring == 0 {
            state.out_ready = hold;
            return departure;
        }
        let place = state.ring as usize;
        let next = if place + 1 == ring { 0 } else { place + 1 };
        state.ring = next as u8;
        let entries = &mut self.routers.departures[port * ring..][..ring];
        entries[place] = departure + 1;
        if self.rules.mixed {
            self.routers.lengths[port * ring + place] = length as u16;
            let room = self.room_at(port, self.rules.shortest);
            self.routers.ports[port].out_ready = hold.max(room);
        } else {
            state.out_ready = hold.max(entries[next]);
        }
        departure
    }

    /// First cycle in which the output queue of `port` has room for `length` phits, with packets of several
    /// lengths: walks back from the newest departure until the rest no longer leaves room.
    fn room_at(&self, port: usize, length: u32) -> u32 {
        let ring = self.routers.ring;
        let buffer = self.plan.router.output_buffer.unwrap_or(u32::MAX);
        let mut place = self.routers.ports[port].ring as usize;
        let mut used = length;
        for _ in 0..ring {
            place = if place == 0 { ring - 1 } else { place - 1 };
            used += u32::from(self.routers.lengths[port * ring + place]);
            if used > buffer {
                return self.routers.departures[port * ring + place];
            }
        }
        0
    }

    /// Whether the head of `slot` fits where it wants to go, with packets of several lengths.
    pub(super) fn fits(&self, router: usize, slot: usize) -> bool {
        let state = &self.routers.slots[router << self.layout.slot_shift | slot];
        let length = u32::from(self.packets.get(state.queue.front).length);
        let pair = state.request as usize;
        let port = router * self.layout.ports() + self.layout.pair_port[pair] as usize;
        self.routers.pairs[router << self.layout.pair_shift | pair].credits >= length
            && (self.routers.ring == 0 || self.room_at(port, length) <= self.now)
    }

    /// `Ejection::IdleNode`: no packet is on its way into the node at this moment.
    pub(super) fn node_is_idle(&self, router: usize, output: usize) -> bool {
        let ring = self.routers.ring;
        let start = (router * self.layout.ports() + output) * ring;
        // Entries hold departure + 1; a departure d blocks the cycles strictly between d and d + length.
        (start..start + ring).all(|entry| {
            let after = self.routers.departures[entry];
            let length = self.routers.lengths.get(entry).map_or(self.rules.shortest, |&l| u32::from(l));
            self.now < after || self.now >= after + length - 1 || after == 0
        })
    }

    /// The head no longer wants its output VC.
    #[inline]
    fn leave_slot(&mut self, router: usize, slot: usize, pair: usize) {
        let hot = &mut self.routers.hot[router];
        if !hot.redeciding.is_empty() && hot.redeciding.contains(slot) {
            hot.redeciding.remove(slot);
            return;
        }
        let state = &mut self.routers.pairs[router << self.layout.pair_shift | pair];
        state.wants.remove(slot);
        if state.wants.is_empty() {
            hot.wanted.remove(pair);
        }
    }

    /// The packet behind the one that leaves becomes the head.
    #[inline]
    fn next_in_slot(&mut self, slot: usize, leaving: u32) {
        let next = self.packets.get(leaving).next;
        self.routers.slots[slot].queue.front = next;
        if next != NONE {
            self.register_head(slot as u32, next);
        }
    }

    /// Books where the packet waited until `departure`.
    #[inline]
    fn account_wait(&mut self, id: u32, input: usize, output: usize, departure: u32) {
        let packet = self.packets.get_mut(id);
        let class = self.layout.class[input];
        if class != TERMINAL {
            packet.queue_wait[class as usize - 1] += departure - packet.arrived;
            return;
        }
        packet.injected = self.now;
        let end = if self.rules.until_departure { departure } else { self.now };
        packet.injection_wait = end - packet.generated;
        let towards = self.layout.class[output];
        if towards != TERMINAL {
            packet.queue_wait[towards as usize - 1] += departure - end;
        } else {
            packet.injection_wait = departure - packet.generated;
        }
    }

    /// Puts the packet on the link.
    #[inline]
    fn launch(&mut self, router: usize, output: usize, pair: usize, (id, departure): (u32, u32)) {
        let packet: &mut Packet = self.packets.get_mut(id);
        let link = &self.links[router * self.layout.ports() + output];
        packet.hops[self.layout.class[output] as usize - 1] += 1;
        packet.arrived = departure + link.latency;
        let vc = pair - self.layout.pair_base[output] as usize;
        let arrival = Arrival { slot: link.peer_slot + vc as u32, packet: id };
        self.arrivals.push(packet.arrived + self.rules.pipeline, arrival);
        let state = &mut self.routers.pairs[router << self.layout.pair_shift | pair];
        state.credits -= u32::from(packet.length);
        if state.credits < self.rules.shortest {
            self.routers.hot[router].credit.remove(pair);
        }
    }

    /// The packet leaves for its node.
    #[inline]
    fn deliver(&mut self, id: u32, departure: u32) {
        let packet = self.packets.get(id);
        self.observer.delivered(packet.key(), departure);
        self.recorder.delivered(packet, departure);
        self.packets.remove(id);
    }
}
