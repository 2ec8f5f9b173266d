//! Switch allocation, and what follows from a grant: flits cross, credits go back, and with its tail a packet gives its output VC back.
//! A port lets one flit in and one flit out per cycle (Dally & Towles, section 18.3).

use crate::choices::{FlitAllocator, Speculation, SwitchInput, Timestamp};
use crate::kernel::ids::{Id as _, Pair, RegionRouter, Slot};
use crate::kernel::wires::Credit;
use crate::node::{self, Nodes as _, Run};
use crate::observer::{Grant, Observer as _};
use crate::router::virtual_channel::allocator::Bid;
use crate::router::virtual_channel::region::VirtualChannel;
use crate::router::virtual_channel::requests::{SwitchBids, SwitchRequests};
use hopsim_network::network::{NONE, TERMINAL};

impl<M: Run> VirtualChannel<'_, M> {
    /// Lets flits of a router cross.
    pub(super) fn allocate_switch(&mut self, number: RegionRouter) {
        let mut requests = std::mem::take(&mut self.switch_requests);
        self.pass_held(number, &mut requests);
        let separate = self.shared.plan.speculation == Speculation::Separate;
        self.ask_for_switch(number, &mut requests, !separate);
        let draws = self.draws(number, 1);
        let SwitchBids { bids, granted, .. } = &mut requests.firm;
        self.switch_allocator.allocate(number, bids, draws, granted);
        if separate {
            self.allocate_separately(number, &mut requests);
        }
        for bids in [&requests.firm, &requests.separate] {
            for &index in &bids.granted {
                self.grant_switch(number, (bids.bids[index as usize], bids.slots[index as usize]));
            }
        }
        requests.firm.clear();
        requests.separate.clear();
        requests.speculating.clear();
        requests.held.clear();
        self.switch_requests = requests;
    }

    /// Lets the next flits of packets cross that hold an input and an output of the switch, or takes these from them.
    fn pass_held(&mut self, number: RegionRouter, requests: &mut SwitchRequests) {
        for input in 0..self.routers.held(number).len() {
            let Some(held) = self.routers.held_mut(number)[input].take() else { continue };
            let slot = Slot::at(held.into());
            let Some(pair) = self.routers.inputs[self.shared.slot_id(number, slot)].owned() else { continue };
            requests.held.push((input, self.shared.output(pair).0));
            if self.may_cross(number, slot).is_some() {
                self.cross_and_hold(number, input, slot);
            }
        }
    }

    /// Puts the requests for the switch together: of packets that own an output VC, and beside them of heads that own none yet if
    /// `with_speculating`.
    fn ask_for_switch(&self, number: RegionRouter, requests: &mut SwitchRequests, with_speculating: bool) {
        let SwitchRequests { speculating, held, firm, .. } = requests;
        for input in 0..self.shared.crossbar.len() {
            let wants = |slot: Slot| {
                let output = self.may_cross(number, slot).map(|output| (output, false));
                output.or_else(|| speculates(speculating, slot).filter(|_| with_speculating))
            };
            self.ask_at_input((number, input), held, wants, firm);
        }
    }

    /// Grants heads that own no output VC yet the inputs and outputs of the switch that others have not been granted.
    fn allocate_separately(&mut self, number: RegionRouter, requests: &mut SwitchRequests) {
        let SwitchRequests { speculating, held, firm, separate } = requests;
        for input in 0..self.shared.crossbar.len() {
            self.ask_at_input((number, input), held, |slot| speculates(speculating, slot), separate);
        }
        let draws = self.draws(number, 2);
        let SwitchBids { bids, granted, .. } = separate;
        self.speculative_allocator.allocate(number, bids, draws, granted);
        let taken = |bid: Bid| {
            let firm = firm.granted.iter().map(|&index| firm.bids[index as usize]);
            firm.into_iter().any(|firm| firm.input == bid.input || firm.output == bid.output)
        };
        granted.retain(|&index| !taken(bids[index as usize]));
    }

    /// Adds what an input of the crossbar asks for: the output port that one of its VCs wants, or all of those that its VCs want. Those
    /// that own an output VC go first, of several the VC with the smallest stamp, of several the first one from the pointer on. What is
    /// held is not asked for.
    fn ask_at_input(
        &self,
        (number, input): (RegionRouter, usize),
        held: &[(usize, usize)],
        wants: impl Fn(Slot) -> Option<(usize, bool)>,
        SwitchBids { slots, bids, .. }: &mut SwitchBids,
    ) {
        if held.iter().any(|held| held.0 == input) {
            return;
        }
        let (port, own) = self.shared.crossbar[input];
        let pointer = u32::from(self.routers.turns(number)[input]);
        let first = bids.len();
        // The VCs from the pointer on come first.
        let mut vcs = (self.routers.ports(number)[port].present & own).rotate_right(pointer);
        while vcs != 0 {
            let vc = (vcs.trailing_zeros() + pointer) % 64;
            vcs &= vcs - 1;
            let slot = self.shared.slot(port, vc as usize);
            let Some((output, is_late)) = wants(slot) else { continue };
            if held.iter().any(|held| held.1 == output) {
                continue;
            }
            let stamp = self.routers.inputs[self.shared.slot_id(number, slot)].stamp;
            let stamp = self.shared.urgency(stamp);
            let bid = Bid { input: input as u16, output: output as u16, is_late, stamp };
            let rival = bids[first..].iter().position(|bid| self.is_one_of(bid.output, output));
            match rival.map(|rival| first + rival) {
                None => {
                    bids.push(bid);
                    slots.push(slot);
                }
                Some(rival) if bid.rank() < bids[rival].rank() => {
                    (bids[rival], slots[rival]) = (bid, slot);
                }
                Some(_) => {}
            }
        }
        if self.shared.plan.speculation == Speculation::Equal {
            // Between inputs nobody goes before others.
            bids[first..].iter_mut().for_each(|bid| bid.is_late = false);
        }
    }

    /// An input of the crossbar is granted an output port for a VC. A head that owns no output VC yet lets it pass unless it has been
    /// granted one in this cycle that takes its flit.
    fn grant_switch(&mut self, number: RegionRouter, (bid, slot): (Bid, Slot)) {
        let vc = self.shared.input(slot).1;
        self.routers.turns_mut(number)[bid.input as usize] = ((vc + 1) % 64) as u8;
        let owned = self.routers.inputs[self.shared.slot_id(number, slot)].owned();
        if owned.is_some_and(|pair| self.takes_flit(number, pair)) {
            self.cross_and_hold(number, bid.input.into(), slot);
        }
    }

    /// The next flit of a slot crosses, and holds the input and the output of the switch for the one behind it if that is here.
    fn cross_and_hold(&mut self, number: RegionRouter, input: usize, slot: Slot) {
        self.cross(number, (self.shared.input(slot).0, slot));
        let state = &self.routers.inputs[self.shared.slot_id(number, slot)];
        let goes_on = state.owned().is_some() && state.flits > 0;
        if let Some(held) = self.routers.held_mut(number).get_mut(input) {
            *held = goes_on.then_some(slot.index() as u16);
        }
    }

    /// Whether an input of the crossbar asks for one of these output ports only.
    fn is_one_of(&self, asked: u16, output: usize) -> bool {
        let plan = &self.shared.plan;
        let picks_vc = matches!(plan.switch_allocator, FlitAllocator::SeparableInputFirst(_))
            && plan.switch_input == SwitchInput::Vc;
        picks_vc || asked as usize == output
    }

    /// Whether an output VC takes a flit: it has a credit, or leads to a node.
    pub(super) fn takes_flit(&self, number: RegionRouter, pair: Pair) -> bool {
        let (port, _) = self.shared.output(pair);
        self.shared.layout.class[port] == TERMINAL
            || self.routers.outputs[self.shared.pair_id(number, pair)].credits > 0
    }

    /// The output port that the next flit of a slot could cross to now.
    fn may_cross(&self, number: RegionRouter, slot: Slot) -> Option<usize> {
        let input = &self.routers.inputs[self.shared.slot_id(number, slot)];
        let pair = input.owned()?;
        let (port, _) = self.shared.output(pair);
        let state = &self.routers.ports(number)[port];
        let may_ask = input.flits > 0 && input.ready <= self.kernel.now && state.free_at <= self.kernel.now;
        (may_ask && self.takes_flit(number, pair)).then_some(port)
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

/// The output port that a head wants which speculates, and that it owns no output VC yet.
fn speculates(speculating: &[(Slot, usize)], slot: Slot) -> Option<(usize, bool)> {
    speculating.iter().find(|head| head.0 == slot).map(|&(_, output)| (output, true))
}
