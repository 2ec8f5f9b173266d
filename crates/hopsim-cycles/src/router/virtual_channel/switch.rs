//! Switch allocation, and what follows from a grant: flits cross, credits go back, and with its tail a packet gives its output VC back.
//! Separable, input first: every input picks one of its VCs, every output one of the inputs that ask for it, both round robin
//! (Dally & Towles, section 18.3).

use crate::kernel::ids::{Pair, RegionRouter, Slot};
use crate::kernel::wires::Credit;
use crate::node::{self, Nodes as _, Run};
use crate::observer::{Grant, Observer as _};
use crate::router::virtual_channel::region::VirtualChannel;
use hopsim_network::network::{NONE, TERMINAL};

impl<M: Run> VirtualChannel<'_, M> {
    /// Lets flits of a router cross.
    pub(super) fn allocate_switch(&mut self, number: RegionRouter) {
        let mut requests = std::mem::take(&mut self.switch_requests);
        let count = self.shared.ports;
        for input in 0..count {
            let Some((slot, output)) = self.pick_vc(number, input) else { continue };
            let pointer = self.routers.ports(number)[output].output_pointer as usize;
            let rank = |input: usize| (input + count - pointer) % count;
            let best = &mut requests.best[output];
            if best.is_none_or(|(other, _)| rank(input) < rank(other as usize)) {
                *best = Some((input as u16, slot));
            }
        }
        for output in 0..count {
            let Some((input, slot)) = requests.best[output].take() else { continue };
            let (input, vc) = (input as usize, self.shared.input(slot).1);
            let ports = self.routers.ports_mut(number);
            ports[output].output_pointer = ((input + 1) % count) as u16;
            ports[input].input_pointer = ((vc + 1) % 64) as u8;
            self.cross(number, (input, slot));
        }
        self.switch_requests = requests;
    }

    /// The VC that an input port would send a flit from, with the output port that the flit needs.
    fn pick_vc(&self, number: RegionRouter, input: usize) -> Option<(Slot, usize)> {
        let port = &self.routers.ports(number)[input];
        let pointer = u32::from(port.input_pointer);
        // The VCs from the pointer on come first.
        let mut vcs = port.present.rotate_right(pointer);
        while vcs != 0 {
            let vc = (vcs.trailing_zeros() + pointer) % 64;
            vcs &= vcs - 1;
            let slot = self.shared.slot(input, vc as usize);
            if let Some(output) = self.may_cross(number, slot) {
                return Some((slot, output));
            }
        }
        None
    }

    /// The output port that the next flit of a slot could cross to now.
    fn may_cross(&self, number: RegionRouter, slot: Slot) -> Option<usize> {
        let input = &self.routers.inputs[self.shared.slot_id(number, slot)];
        let pair = input.owned()?;
        let (port, _) = self.shared.output(pair);
        let state = &self.routers.ports(number)[port];
        let has_room =
            state.class == TERMINAL || self.routers.outputs[self.shared.pair_id(number, pair)].credits > 0;
        (input.flits > 0 && input.ready <= self.kernel.now && state.free_at <= self.kernel.now && has_room)
            .then_some(port)
    }

    /// The next flit of a slot crosses to the output VC that its packet owns.
    fn cross(&mut self, number: RegionRouter, (port, slot): (usize, Slot)) {
        let id = self.shared.slot_id(number, slot);
        let Some(pair) = self.routers.inputs[id].owned() else { return };
        let departure = self.kernel.now + self.shared.plan.switch_traversal_delay;
        let (output, vc) = self.shared.output(pair);
        let link = &mut self.routers.ports_mut(number)[output];
        link.free_at = self.kernel.now + link.pace;
        let to_node = link.class == TERMINAL;
        if self.routers.inputs[id].has_head() {
            self.send_head(number, (port, slot), pair, departure);
        } else if !to_node {
            let link = &self.routers.ports(number)[output];
            self.kernel.send_flit(link.region, departure + link.latency + (link.pace - 1), link.fed(vc));
        }
        if !to_node {
            self.take_room(number, pair, 1);
        }
        let input = &mut self.routers.inputs[id];
        input.flits -= 1;
        input.left -= 1;
        let is_last = input.left == 0;
        self.return_credit(number, (port, slot));
        if is_last {
            self.end_packet(number, (port, slot), (pair, departure));
        }
    }

    /// The head of a packet leaves for the next router, or its node: the record of the packet goes with it.
    fn send_head(&mut self, number: RegionRouter, (port, slot): (usize, Slot), pair: Pair, departure: u32) {
        let slot_id = self.shared.slot_id(number, slot);
        let id = self.routers.inputs[slot_id].packet;
        let (output, vc) = self.shared.output(pair);
        self.kernel.worker.packet_hops += 1;
        if self.kernel.worker.observer.hears_grants(&self.kernel.places) {
            self.tell(number, (slot, pair), departure);
        }
        let from = self.shared.layout.class[port];
        if from == TERMINAL && M::Observer::hears_heads(&self.kernel.places) {
            self.end_injection_wait(number, (port, slot));
        }
        if from == TERMINAL {
            let length = self.routers.inputs[slot_id].trail.length.into();
            let (terminal, vc) = self.injection_vc(number, (port, slot));
            self.nodes.be_granted(&mut self.kernel, terminal, vc, length);
        }
        let state = &self.routers.ports(number)[output];
        let packet = self.kernel.packets.get_mut(id);
        if state.class == TERMINAL {
            // What the packet has waited for is known when its tail leaves.
            if from == TERMINAL {
                packet.injection.granted = self.kernel.now;
            }
        } else {
            packet.book_wait(self.shared.injection_end, (from, state.class), (self.kernel.now, departure));
            packet.hops[state.class as usize - 1] += 1;
            packet.arrived = departure + state.latency + (state.pace - 1);
            let arrived = packet.arrived;
            self.kernel.send(state.region, id, (state.fed(vc), arrived));
            self.routers.inputs[slot_id].packet = NONE;
        }
    }

    /// Tells the observer that the head of `slot` crosses to the output VC that its packet owns.
    fn tell(&mut self, number: RegionRouter, (slot, pair): (Slot, Pair), departure: u32) {
        let (port, vc) = self.shared.output(pair);
        let state = &self.routers.ports(number)[port];
        let (slot_id, pair_id) = (self.shared.slot_id(number, slot), self.shared.pair_id(number, pair));
        let packet = self.kernel.packets.get(self.routers.inputs[slot_id].packet);
        let grant = Grant {
            slot: slot_id,
            pair: pair_id,
            asked: (state.class != TERMINAL).then_some(pair_id),
            first: packet.arrived + self.shared.plan.until_switch(),
            now: self.kernel.now,
            ready: state.free_at,
            port,
            vc: vc as u8,
            router: self.kernel.span.router(number),
            departure,
            fills: self.routers.outputs[pair_id].credits <= 1,
        };
        self.kernel.worker.observer.granted(&mut self.kernel.places, packet, &grant);
    }

    /// Room for a flit comes back at the other end of the link by which it came.
    fn return_credit(&mut self, number: RegionRouter, (port, slot): (usize, Slot)) {
        let state = &self.routers.ports(number)[port];
        if state.class != TERMINAL {
            let credit = Credit { pair: state.credited(self.shared.input(slot).1), phits: 1, minimal: 0 };
            self.kernel.send_credit(state.region, self.kernel.now + state.latency, credit);
        }
    }

    /// The tail of a packet has left its input VC for `pair`, and departs at `departure`: the output VC is free for another packet, and
    /// the next packet begins, from the next cycle on.
    fn end_packet(
        &mut self,
        number: RegionRouter,
        (port, slot): (usize, Slot),
        (pair, departure): (Pair, u32),
    ) {
        let id = self.shared.slot_id(number, slot);
        self.routers.outputs[self.shared.pair_id(number, pair)].owner = None;
        let input = &mut self.routers.inputs[id];
        input.output = None;
        let length = u32::from(input.trail.length);
        let packet = std::mem::replace(&mut input.packet, NONE);
        if packet != NONE {
            self.deliver(packet, (port, departure + 1 - length));
        }
        let next = if self.shared.layout.class[port] == TERMINAL {
            let (terminal, vc) = self.injection_vc(number, (port, slot));
            self.nodes.leave_injection(&mut self.kernel, terminal, vc, length)
        } else {
            self.routers.inputs[id].behind.pop(&self.kernel.packets)
        };
        let vc = self.shared.input(slot).1;
        self.routers.ports_mut(number)[port].present &= !(1 << vc);
        if next != NONE {
            self.begin_packet((number, slot), next, self.kernel.now + 1);
        }
    }

    /// The tail of a packet, which came to its last router by `port`, leaves for its node: as it would if the head had departed at
    /// `at` and its flits had followed it one by one. What they took longer counts as waiting in the last queue.
    fn deliver(&mut self, id: u32, (port, at): (usize, u32)) {
        let packet = self.kernel.packets.get_mut(id);
        let granted = packet.injection.granted;
        packet.book_wait(
            self.shared.injection_end,
            (self.shared.layout.class[port], TERMINAL),
            (granted, at),
        );
        node::deliver(&mut self.kernel, &mut self.nodes, id, at);
    }
}
