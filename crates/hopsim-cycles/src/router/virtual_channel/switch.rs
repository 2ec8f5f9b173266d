//! Switch allocation, and what follows from a grant: flits cross, credits go back, and with its tail a packet gives its output VC back.
//! A port lets one flit in and one flit out per cycle (Dally & Towles, section 18.3).

use crate::choices::Speculation;
use crate::kernel::ids::{Id as _, Pair, RegionRouter, Slot, SlotId};
use crate::kernel::wires::Credit;
use crate::node::{self, Nodes as _, Run};
use crate::observer::{Grant, Observer as _};
use crate::router::virtual_channel::allocator::Bid;
use crate::router::virtual_channel::output_queues::QueuedDeparture;
use crate::router::virtual_channel::places::{InputPlace, OwnedVc};
use crate::router::virtual_channel::region::VirtualChannel;
use crate::router::virtual_channel::requests::{SwitchBids, SwitchRequests};
use crate::router::virtual_channel::routers::{FlitInputVc, FlitLink, FlitPort, set_bits};
use hopsim_network::network::{NONE, TERMINAL};

impl<M: Run> VirtualChannel<'_, M> {
    /// Lets flits of a router cross.
    pub(super) fn allocate_switch(&mut self, number: RegionRouter, requests: &mut SwitchRequests) {
        self.pass_held(number, requests);
        let separate = self.shared.plan.speculation.is_apart();
        self.ask_for_switch(number, requests, !separate);
        let draws = self.draws(number, 1);
        let SwitchBids { bids, granted, .. } = &mut requests.firm;
        self.switch_allocator.allocate(number, bids, draws, granted);
        if separate {
            self.allocate_separately(number, requests);
        }
        for bids in [&requests.firm, &requests.separate] {
            for &index in &bids.granted {
                self.grant_switch(bids.bids[index as usize]);
            }
        }
        requests.firm.clear();
        requests.separate.clear();
        requests.speculating.clear();
        requests.held.clear();
    }

    /// Lets the next flits of packets cross that hold an input and an output of the switch, or takes these from them.
    fn pass_held(&mut self, number: RegionRouter, requests: &mut SwitchRequests) {
        for input in 0..self.routers.held(number).len() {
            let Some(held) = self.routers.held_mut(number)[input].take() else { continue };
            let slot = self.shared.slot_id(number, Slot::at(held.into()));
            let state = &self.routers.inputs[slot];
            let Some(owned) = state.output else { continue };
            requests.held.push((input, self.shared.crossbar_output(state.place, owned.port.into())));
            if self.may_cross(state).is_some() {
                self.cross_and_hold(input, slot);
            }
        }
    }

    /// Puts the requests for the switch together: of packets that own an output VC, and beside them of heads that own none yet if
    /// `with_speculating`.
    fn ask_for_switch(&self, number: RegionRouter, requests: &mut SwitchRequests, with_speculating: bool) {
        let SwitchRequests { speculating, held, firm, .. } = requests;
        let speculating = if with_speculating { speculating.as_slice() } else { &[] };
        let ports = self.routers.ports(number);
        for (input, &(port, own)) in self.shared.crossbar.iter().enumerate() {
            let port = &ports[port];
            let vcs = own & if speculating.is_empty() { port.senders } else { port.senders | port.heads };
            if vcs == 0 {
                continue;
            }
            let wants = |slot: SlotId, state: &FlitInputVc| {
                let output = self.may_cross(state).map(|output| (output, false));
                output.or_else(|| speculates(speculating, slot))
            };
            let asking = AskingInput { router: number, input, first: port.link.first_slot, vcs };
            self.ask_at_input(&asking, held, wants, firm);
        }
    }

    /// Grants heads that own no output VC yet the inputs and outputs of the switch that others have not been granted.
    fn allocate_separately(&mut self, number: RegionRouter, requests: &mut SwitchRequests) {
        let SwitchRequests { speculating, held, firm, separate } = requests;
        let ports = self.routers.ports(number);
        for (input, &(port, own)) in self.shared.crossbar.iter().enumerate() {
            let port = &ports[port];
            let wants = |slot: SlotId, _: &FlitInputVc| speculates(speculating, slot);
            let vcs = port.present & own;
            let asking = AskingInput { router: number, input, first: port.link.first_slot, vcs };
            self.ask_at_input(&asking, held, wants, separate);
        }
        let draws = self.draws(number, 2);
        let SwitchBids { bids, granted, .. } = separate;
        self.speculative_allocator.allocate(number, bids, draws, granted);
        let asked = self.shared.plan.speculation == Speculation::Pessimistic;
        let taken = |bid: Bid| {
            let granted = firm.granted.iter().map(|&index| &firm.bids[index as usize]);
            let meets = |firm: &Bid| firm.input == bid.input || firm.output == bid.output;
            granted.into_iter().any(meets) || asked && firm.bids.iter().any(|firm| firm.output == bid.output)
        };
        granted.retain(|&index| !taken(bids[index as usize]));
    }

    /// Adds what an input of the crossbar asks for: the output that one of its VCs wants, or all of those that they want. Those
    /// that own an output VC go first, of several the VC with the smallest stamp, of several the first one from the pointer on. What is
    /// held is not asked for.
    fn ask_at_input(
        &self,
        &AskingInput { router, input, first: zero, vcs }: &AskingInput,
        held: &[(usize, u16)],
        wants: impl Fn(SlotId, &FlitInputVc) -> Option<(usize, bool)>,
        SwitchBids { bids, .. }: &mut SwitchBids,
    ) {
        if held.iter().any(|held| held.0 == input) {
            return;
        }
        let pointer = u32::from(self.routers.turns(router)[input]);
        let first = bids.len();
        // The VCs from the pointer on come first.
        let mut vcs = vcs.rotate_right(pointer);
        while vcs != 0 {
            let vc = (vcs.trailing_zeros() + pointer) % 64;
            vcs &= vcs - 1;
            let slot = zero.up(vc as usize);
            let state = &self.routers.inputs[slot];
            let Some((output, is_late)) = wants(slot, state) else { continue };
            let output = self.shared.crossbar_output(state.place, output);
            if held.iter().any(|held| held.1 == output) {
                continue;
            }
            let stamp = self.urgency(slot, state);
            let bid = Bid { input: input as u16, output, slot, is_late, stamp };
            let rival = bids[first..].iter().position(|bid| self.is_one_of(bid.output, output));
            match rival.map(|rival| first + rival) {
                None => bids.push(bid),
                Some(rival) if bid.rank() < bids[rival].rank() => bids[rival] = bid,
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
    fn grant_switch(&mut self, Bid { input, slot, .. }: Bid) {
        if self.shared.plan.arbiter.takes_turns() {
            self.routers.pass_turn(self.routers.inputs[slot].place, input.into());
        }
        if self.has_room_for_next(slot) {
            self.cross_and_hold(input.into(), slot);
        }
    }

    /// Whether the packet of an input VC owns an output VC that takes its next flit. Of output VCs that share room another one may have taken
    /// the last of it since the flit has asked.
    pub(super) fn has_room_for_next(&self, slot: SlotId) -> bool {
        let FlitInputVc { output, place, .. } = self.routers.inputs[slot];
        output.is_some_and(|owned| self.takes_flit(place.router(), owned))
    }

    /// The next flit of an input VC crosses, and holds the input and the output of the switch for the one behind it if that is here.
    fn cross_and_hold(&mut self, input: usize, slot: SlotId) {
        self.be_granted(slot);
        if !self.shared.plan.hold_switch {
            return;
        }
        let FlitInputVc { output, flits, place, .. } = self.routers.inputs[slot];
        let goes_on = output.is_some() && flits > 0;
        let own = self.shared.split_slot(slot).1;
        self.routers.held_mut(place.router())[input] = goes_on.then_some(own.index() as u16);
    }

    /// The next flit of an input VC is granted the switch: it crosses now, or when an allocation of several cycles ends.
    #[inline]
    pub(super) fn be_granted(&mut self, slot: SlotId) {
        if let Some(batches) = self.batches.as_mut().filter(|_| !M::PLAIN) {
            let (number, own) = self.shared.split_slot(slot);
            if batches.waits_for_switch(number, own.index() as u16) {
                return;
            }
        }
        self.cross(slot);
    }

    /// Whether any input VC of a router has a flit that could ask for the switch if its output were free and had a credit.
    pub(super) fn asks_for_switch(&self, number: RegionRouter) -> bool {
        let is_ready = |port: &FlitPort| {
            set_bits(port.senders).any(|vc| self.is_ready(&self.routers.inputs[port.link.first_slot.up(vc)]))
        };
        self.routers.ports(number).iter().any(is_ready)
    }

    /// Whether an input of the crossbar asks for one of these outputs only.
    fn is_one_of(&self, asked: u16, output: u16) -> bool {
        self.shared.plan.picks_vc() || asked == output
    }

    /// Whether an output VC takes a flit: it has a credit, or leads to a node.
    fn takes_flit(&self, number: RegionRouter, OwnedVc { port, vc, pair: _ }: OwnedVc) -> bool {
        self.routers.port(number, port.into()).takes_flit(vc.into())
    }

    /// The output port that the next flit of an input VC could cross to now.
    #[inline]
    pub(super) fn may_cross(&self, input: &FlitInputVc) -> Option<usize> {
        let OwnedVc { port, vc, pair: _ } = input.output?;
        let state = self.routers.port_beside(input.place, port);
        let may_ask = input.flits > 0 && self.is_ready(input) && state.takes_flit(vc.into());
        let is_free = if M::PLAIN {
            state.free_at <= self.kernel.now
        } else {
            self.is_free((input.place.router(), port.into()), self.step)
        };
        (may_ask && is_free).then_some(port.into())
    }

    /// Whether an output port takes a flit in a step of this cycle, whatever VC it needs.
    #[inline]
    pub(super) fn is_free(&self, (number, port): (RegionRouter, usize), step: u64) -> bool {
        match &self.output_queues {
            Some(queues) => queues.has_room((number, port), (step, self.kernel.now)),
            None => self.routers.port(number, port).free_at <= self.kernel.now,
        }
    }

    /// A flit, the last one of its packet or not, is granted an output port: the cycle in which it leaves.
    #[inline]
    fn depart(&mut self, place: InputPlace, owned: OwnedVc, is_last: bool) -> u32 {
        let (now, step) = (self.kernel.now, self.step);
        if is_last {
            self.routers.disown(place, owned);
        }
        let port = self.routers.port_beside_mut(place, owned.port);
        let Some(queues) = self.output_queues.as_mut().filter(|_| !M::PLAIN) else {
            port.free_at = now + port.link.pace;
            return now + self.shared.plan.switch_traversal_delay;
        };
        let number = place.router();
        let enters = match &mut self.batches {
            Some(batches) => batches.traverse(number, now).into(),
            None => queues.enters(step),
        };
        let at = (number, usize::from(owned.port));
        let QueuedDeparture { departs, room_from } = queues.push(at, (enters, now), port.link.pace);
        port.free_at = room_from;
        departs
    }

    /// The next flit of an input VC crosses to the output VC that its packet owns.
    pub(super) fn cross(&mut self, slot: SlotId) {
        let input = &mut self.routers.inputs[slot];
        let Some(owned) = input.output else { return };
        let (place, has_head, is_last) = (input.place, input.has_head(), input.left == 1);
        input.flits -= 1;
        input.left -= 1;
        if let Some(arrivals) = self.flit_arrivals.as_mut().filter(|_| !M::PLAIN) {
            arrivals.leave(slot);
        }
        let is_empty = input.flits == 0;
        if is_last {
            input.output = None;
        }
        let departure = self.depart(place, owned, is_last);
        let to = self.routers.port_beside(place, owned.port).link;
        let from = self.routers.lose_flit(place, (is_last, is_empty));
        if !M::PLAIN && M::Observer::hears_flits(&self.kernel.places) {
            self.tell_flit(slot, (has_head, to.first_pair.up(owned.vc.into())), departure);
        }
        if has_head {
            self.send_head(slot, (from.class, &to, owned), departure);
        } else if to.class != TERMINAL {
            let arrives = departure + to.latency + (to.pace - 1);
            self.kernel.send_flit(to.region, arrives, to.fed(owned.vc.into()));
        }
        let pair = to.first_pair.up(owned.vc.into());
        if to.class != TERMINAL {
            self.take_room(pair, 1);
        } else if !M::PLAIN
            && let Some(ejection) = self.shared.plan.ejection.filter(|_| owned.vc < self.shared.one_way)
        {
            self.take_room(pair, 1);
            let credit = Credit { pair, phits: 1, minimal: 0 };
            self.kernel.credits.push(departure + ejection.returns, credit);
        }
        self.give_back(slot, &from, is_last);
        if is_last {
            self.begin_next(slot, departure);
        }
    }

    /// A flit, the last one of its packet or not, has left its input VC: room comes back at the other end of the link by which it came, or
    /// to the node from which it came.
    #[inline]
    fn give_back(&mut self, slot: SlotId, from: &FlitLink, is_last: bool) {
        let FlitInputVc { place, trail, .. } = self.routers.inputs[slot];
        let (now, step) = (self.kernel.now, self.step);
        let returns = match self.output_queues.as_mut().filter(|_| !M::PLAIN) {
            Some(queues) => queues.return_credit((place.router(), place.port.into()), (step, now)),
            None => now,
        };
        if from.class == TERMINAL {
            let (at, tail_of) = (self.injection_vc(place), is_last.then_some(trail.length.into()));
            return self.nodes.leave_flit(&mut self.kernel, at, (returns, tail_of));
        }
        let credit = Credit { pair: from.credited_pair(place.vc.into()), phits: 1, minimal: 0 };
        let arrives = returns + from.latency + self.shared.plan.credit_delay;
        self.kernel.send_credit(from.region, arrives, credit);
    }

    /// The tail of a packet has left its input VC, and departs at `departure`: the next packet begins, from the next step on.
    fn begin_next(&mut self, slot: SlotId, departure: u32) {
        let input = &mut self.routers.inputs[slot];
        let (place, length) = (input.place, u32::from(input.trail.length));
        let packet = std::mem::replace(&mut input.packet, NONE);
        let next = input.behind.pop(&self.kernel.packets);
        if packet != NONE {
            self.deliver(packet, (place, departure + 1 - length));
        }
        if next != NONE {
            self.begin_packet(slot, next, (self.step as u32).wrapping_add(1));
        }
    }

    /// The head of a packet, which came by a port of class `from`, leaves for the next router, or its node: the record of the packet goes
    /// with it.
    #[inline]
    fn send_head(&mut self, slot: SlotId, (from, to, owned): (u8, &FlitLink, OwnedVc), departure: u32) {
        let FlitInputVc { packet: id, place, .. } = self.routers.inputs[slot];
        self.kernel.worker.packet_hops += 1;
        if self.kernel.worker.observer.hears_grants(&self.kernel.places) {
            self.tell(slot, owned, departure);
        }
        if from == TERMINAL {
            self.leave_node(slot, place);
        }
        let packet = self.kernel.packets.get_mut(id);
        if to.class == TERMINAL {
            // What the packet has waited for is known when its tail leaves.
            if from == TERMINAL {
                packet.injection.granted = self.kernel.now;
            }
        } else {
            packet.book_wait(self.shared.injection_end, (from, to.class), (self.kernel.now, departure));
            packet.hops[usize::from(to.class) - 1] += 1;
            packet.arrived = departure + to.latency + (to.pace - 1);
            let arrived = packet.arrived;
            self.kernel.send(to.region, id, (to.fed(owned.vc.into()), arrived));
            self.routers.inputs[slot].packet = NONE;
        }
    }

    /// The head of a packet leaves the injection VC of its node.
    fn leave_node(&mut self, slot: SlotId, place: InputPlace) {
        if M::Observer::hears_heads(&self.kernel.places) {
            self.end_injection_wait(place, slot);
        }
        let input = &mut self.routers.inputs[slot];
        if !M::PLAIN && self.shared.ages_in_network {
            input.stamp = self.kernel.now;
        }
        let length = input.trail.length.into();
        let (terminal, vc) = self.injection_vc(place);
        self.nodes.be_granted(&mut self.kernel, terminal, vc, length);
    }

    /// Tells the observer that the head of an input VC crosses to the output VC that its packet owns.
    fn tell(&mut self, at: SlotId, OwnedVc { pair, port, vc }: OwnedVc, departure: u32) {
        let input = &self.routers.inputs[at];
        let number = input.place.router();
        let state = self.routers.port(number, port.into());
        let pair_id = self.shared.pair_id(number, Pair::at(pair.into()));
        let packet = self.kernel.packets.get(input.packet);
        let grant = Grant {
            slot: at,
            pair: pair_id,
            asked: (state.link.endless == 0).then_some(pair_id),
            first: self.first_chance(at),
            now: self.kernel.now,
            ready: state.free_at,
            port: port.into(),
            vc,
            router: self.kernel.span.router(number),
            departure,
            fills: self.routers.outputs[pair_id].credits <= 1,
        };
        self.kernel.worker.observer.granted(&mut self.kernel.places, packet, &grant);
    }

    /// The tail of a packet, which came to its last router by an input VC, leaves for its node: as it would if the head had departed at
    /// `at` and its flits had followed it one by one. What they took longer counts as waiting in the last queue.
    fn deliver(&mut self, id: u32, (place, at): (InputPlace, u32)) {
        let packet = self.kernel.packets.get_mut(id);
        let (from, granted) = (self.routers.port_of(place).link.class, packet.injection.granted);
        packet.book_wait(self.shared.injection_end, (from, TERMINAL), (granted, at));
        node::deliver(&mut self.kernel, &mut self.nodes, id, at);
    }
}

/// An input of the crossbar of a router, and some VCs of its port that may ask for the switch.
struct AskingInput {
    router: RegionRouter,
    input: usize,
    /// The id of VC 0 of the port.
    first: SlotId,
    /// The VCs, a bit each.
    vcs: u64,
}

/// The output port that a head wants which speculates, and that it owns no output VC yet.
fn speculates(speculating: &[(SlotId, usize)], slot: SlotId) -> Option<(usize, bool)> {
    speculating.iter().find(|head| head.0 == slot).map(|&(_, output)| (output, true))
}
