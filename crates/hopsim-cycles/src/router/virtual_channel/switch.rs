//! Switch allocation, and what follows from a grant: flits cross, credits go back, and with its tail a packet gives its output VC back.
//! A port lets one flit in and one flit out per cycle (Dally & Towles, section 18.3).

use crate::choices::{FlitAllocator, SwitchInput, Timestamp};
use crate::kernel::ids::{Pair, RegionRouter, Slot};
use crate::kernel::wires::Credit;
use crate::node::{self, Nodes as _, Run};
use crate::observer::{Grant, Observer as _};
use crate::router::virtual_channel::allocator::Bid;
use crate::router::virtual_channel::region::VirtualChannel;
use crate::router::virtual_channel::requests::SwitchRequests;
use hopsim_network::network::{NONE, TERMINAL};

impl<M: Run> VirtualChannel<'_, M> {
    /// Lets flits of a router cross.
    pub(super) fn allocate_switch(&mut self, number: RegionRouter) {
        let mut requests = std::mem::take(&mut self.switch_requests);
        for input in 0..self.shared.crossbar.len() {
            self.ask_for_switch(number, input, &mut requests);
        }
        let draws = self.draws(number, 1);
        self.switch_allocator.allocate(number, &requests.bids, draws, &mut requests.granted);
        for &index in &requests.granted {
            let (bid, slot) = (requests.bids[index as usize], requests.slots[index as usize]);
            let (port, vc) = self.shared.input(slot);
            self.routers.turns_mut(number)[bid.input as usize] = ((vc + 1) % 64) as u8;
            self.cross(number, (port, slot));
        }
        requests.slots.clear();
        requests.bids.clear();
        self.switch_requests = requests;
    }

    /// Adds what an input of the crossbar asks for: the output port that one of its VCs needs, or all of those that its VCs need. The VC
    /// with the smallest stamp goes first, of several the first one from the pointer on.
    fn ask_for_switch(&self, number: RegionRouter, input: usize, requests: &mut SwitchRequests) {
        let (port, own) = self.shared.crossbar[input];
        let pointer = u32::from(self.routers.turns(number)[input]);
        let first = requests.bids.len();
        // The VCs from the pointer on come first.
        let mut vcs = (self.routers.ports(number)[port].present & own).rotate_right(pointer);
        while vcs != 0 {
            let vc = (vcs.trailing_zeros() + pointer) % 64;
            vcs &= vcs - 1;
            let slot = self.shared.slot(port, vc as usize);
            let Some(output) = self.may_cross(number, slot) else { continue };
            let stamp = self.routers.inputs[self.shared.slot_id(number, slot)].stamp;
            let bid = Bid { input: input as u16, output: output as u16, stamp: self.shared.urgency(stamp) };
            let rival = requests.bids[first..].iter().position(|bid| self.is_one_of(bid.output, output));
            match rival.map(|rival| first + rival) {
                None => {
                    requests.bids.push(bid);
                    requests.slots.push(slot);
                }
                Some(rival) if bid.stamp < requests.bids[rival].stamp => {
                    (requests.bids[rival], requests.slots[rival]) = (bid, slot);
                }
                Some(_) => {}
            }
        }
    }

    /// Whether an input of the crossbar asks for one of these output ports only.
    fn is_one_of(&self, asked: u16, output: usize) -> bool {
        let plan = &self.shared.plan;
        let picks_vc = matches!(plan.switch_allocator, FlitAllocator::SeparableInputFirst(_))
            && plan.switch_input == SwitchInput::Vc;
        picks_vc || asked as usize == output
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
        self.return_credit(number, (port, slot), is_last);
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
            if self.shared.timestamp == Timestamp::Injection {
                self.routers.inputs[slot_id].stamp = self.kernel.now;
            }
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

    /// Room for a flit comes back at the other end of the link by which it came, or to the node from which it came.
    fn return_credit(&mut self, number: RegionRouter, (port, slot): (usize, Slot), is_last: bool) {
        let state = &self.routers.ports(number)[port];
        if state.class == TERMINAL {
            let length = self.routers.inputs[self.shared.slot_id(number, slot)].trail.length;
            let (at, tail_of) = (self.injection_vc(number, (port, slot)), is_last.then_some(length.into()));
            return self.nodes.leave_flit(&mut self.kernel, at, tail_of);
        }
        let credit = Credit { pair: state.credited(self.shared.input(slot).1), phits: 1, minimal: 0 };
        let arrives = self.kernel.now + state.latency + self.shared.plan.credit_delay;
        self.kernel.send_credit(state.region, arrives, credit);
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
        let next = self.routers.inputs[id].behind.pop(&self.kernel.packets);
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
