//! Virtual-channel routers: a packet owns an output VC from its head to its tail, and its flits cross one by one. See
//! *Virtual-channel routers* in `docs/model.md`.

use crate::arbiter::Candidate;
use crate::simulator::Simulator;
use crate::state::flits::{Flits, Owned};
use crate::state::packet::{Choice, Packet, Phit, Role};
use crate::state::parts::{Outstanding, Resident};
use crate::state::place::{Place, Request};
use hopsim_measure::trace::Hop;

/// A present packet that asks for an output VC.
struct Ask {
    /// The number of the input VC among all of the router.
    index: usize,
    place: Place,
    choice: Choice,
}

/// The VC of an input port that asks for the switch.
#[derive(Clone, Copy)]
struct Turn {
    place: Place,
    port: usize,
}

impl Simulator<'_> {
    /// Whether the routers let flits through, one by one.
    pub(crate) fn moves_flits(&self) -> bool {
        self.plan.system.router.cioq().is_none()
    }

    /// Lets heads have output VCs, and then flits the switch, in one router.
    pub(crate) fn allocate_flits(&mut self, router: usize) {
        self.allocate_vcs(router);
        self.allocate_switch(router);
    }

    /// What the virtual-channel router of this number keeps.
    fn flits(&self, router: usize) -> &Flits {
        self.routers[router].flits.as_ref().expect("it is a virtual-channel router")
    }

    fn flits_mut(&mut self, router: usize) -> &mut Flits {
        self.routers[router].flits.as_mut().expect("it is a virtual-channel router")
    }

    /// The input VCs of a router: those of its nodes, each with those of all its ports, then those of links.
    fn places(&self, router: usize) -> Vec<Place> {
        let inputs = self.routers[router].inputs.iter().enumerate();
        let mut places: Vec<Place> =
            inputs.flat_map(|(input, port)| (0..port.vcs.len()).map(move |vc| (router, input, vc))).collect();
        let node = |&(_, input, _): &Place| self.routers[router].inputs[input].node.map(|(node, _)| node);
        places.sort_by_key(|place| node(place).unwrap_or(usize::MAX));
        places
    }

    /// Whether the present packet of a VC owns no output VC, and its route has been computed.
    pub(crate) fn seeks_vc(&self, place: Place) -> bool {
        let (router, input, vc) = place;
        let lane = &self.flits(router).lanes[input][vc];
        let Some(front) = self.routers[router].inputs[input].vcs[vc].front() else { return false };
        let begins = front.arrived.max(lane.left.map_or(0, |left| left + 1));
        lane.owned.is_none() && self.now >= begins + self.flits(router).delays.routing_delay
    }

    /// Lets every output VC choose one of the heads that ask for it.
    fn allocate_vcs(&mut self, router: usize) {
        let places = self.places(router);
        let mut asks = Vec::new();
        for (index, &place) in places.iter().enumerate() {
            if let Some(choice) = self.route(place, u64::from(self.now))
                && self.counts(place, choice.to)
            {
                asks.push(Ask { index, place, choice });
            }
        }
        for port in 0..self.flits(router).doors.len() {
            for vc in 0..self.flits(router).doors[port].len() {
                let to = Request { port, vc: vc as u8 };
                let rivals = asks.iter().filter(|ask| ask.choice.to == to);
                let rivals: Vec<Candidate> = rivals.map(|ask| candidate(ask.index)).collect();
                let now = self.now.into();
                let arbiter = &mut self.flits_mut(router).doors[port][vc].arbiter;
                let Some(winner) = arbiter.choose(&rivals, now) else { continue };
                arbiter.serve((winner, 0), now);
                asks.iter().filter(|ask| ask.index == winner).for_each(|ask| self.give_vc(ask));
            }
        }
    }

    /// Whether the request of a present packet for an output VC counts.
    pub(crate) fn counts(&self, place: Place, to: Request) -> bool {
        let (router, input, vc) = place;
        let output = &self.routers[router].outputs[to.port];
        if self.is_owned(router, to) {
            return false;
        }
        let Packet { length, role, .. } = self.packets[self.head(router, input, vc)];
        match role {
            Role::Request(kind) if output.is_terminal() => {
                self.nics[router * self.nodes_per_router + to.port].reply_space[kind] >= length
            }
            _ if output.is_terminal() => true,
            _ if self.flits(router).delays.whole_packets => output.credits(to.vc as usize) >= length,
            _ => output.is_link(),
        }
    }

    /// Whether some packet owns an output VC; in other routers none ever does.
    pub(crate) fn is_owned(&self, router: usize, to: Request) -> bool {
        let flits = self.routers[router].flits.as_ref();
        flits.is_some_and(|flits| flits.doors[to.port][to.vc as usize].owner.is_some())
    }

    /// Lets a packet own an output VC.
    fn give_vc(&mut self, ask: &Ask) {
        let Ask { place: (router, input, vc), choice, .. } = ask;
        let (packet, granted, to) = (self.head(*router, *input, *vc), self.now, choice.to);
        let flits = self.flits_mut(*router);
        flits.lanes[*input][*vc].owned = Some(Owned { choice: choice.clone(), granted });
        let Packet { length, role, .. } = self.packets[packet];
        let is_terminal = self.routers[*router].outputs[to.port].is_terminal();
        if !is_terminal {
            self.flits_mut(*router).doors[to.port][to.vc as usize].owner = Some(packet);
        }
        if let (true, Role::Request(kind)) = (is_terminal, role) {
            self.nics[router * self.nodes_per_router + to.port].reply_space[kind] -= length;
        }
    }

    /// Lets every input port choose one of its VCs, and then every output port one of the input ports.
    fn allocate_switch(&mut self, router: usize) {
        let now = self.now.into();
        let mut turns: Vec<Option<Turn>> = Vec::new();
        for input in 0..self.routers[router].inputs.len() {
            let vcs = 0..self.routers[router].inputs[input].vcs.len();
            let asking: Vec<Turn> = vcs.filter_map(|vc| self.asks_for_switch((router, input, vc))).collect();
            let rivals: Vec<Candidate> = asking.iter().map(|turn| candidate(turn.place.2)).collect();
            let chosen = self.routers[router].inputs[input].arbiters[0].choose(&rivals, now);
            turns.push(asking.into_iter().find(|turn| Some(turn.place.2) == chosen));
        }
        for port in 0..self.routers[router].outputs.len() {
            let asks = |input: &usize| turns[*input].is_some_and(|turn| turn.port == port);
            let rivals: Vec<Candidate> = (0..turns.len()).filter(asks).map(candidate).collect();
            let arbiter = &mut self.routers[router].outputs[port].arbiter;
            let Some(input) = arbiter.choose(&rivals, now) else { continue };
            let Some(Turn { place, .. }) = turns[input] else { continue };
            arbiter.serve((input, 0), now);
            self.routers[router].inputs[input].arbiters[0].serve((place.2, 0), now);
            self.pass_flit(place);
        }
    }

    /// The request of an input VC for the switch, if it asks.
    fn asks_for_switch(&self, place: Place) -> Option<Turn> {
        let (router, input, vc) = place;
        let flits = self.flits(router);
        let owned = flits.lanes[input][vc].owned.as_ref()?;
        let to = owned.choice.to;
        let front = self.routers[router].inputs[input].vcs[vc].front()?;
        let output = &self.routers[router].outputs[to.port];
        let may_ask = self.now >= owned.granted + flits.delays.vc_allocation_delay;
        let is_here = front.crossed < front.phits;
        let has_credit = output.is_terminal() || output.credits(to.vc as usize) > 0;
        (may_ask && is_here && has_credit && output.next <= self.now).then_some(Turn { place, port: to.port })
    }

    /// Lets the first flit of an input VC through the switch.
    fn pass_flit(&mut self, place: Place) {
        let (router, input, vc) = place;
        let Resident { packet, crossed: index, .. } = self.routers[router].inputs[input].vcs[vc][0];
        if index == 0 {
            self.set_head_out(place);
        }
        self.routers[router].inputs[input].vcs[vc][0].crossed += 1;
        self.send_flit(place, (packet, index));
        let from = &self.routers[router].inputs[input];
        if let Some((peer, back)) = from.peer {
            let due = self.now + from.latency;
            self.routers[peer].outputs[back].credit_wire.push(due, (vc, packet));
        }
        if index + 1 == self.packets[packet].length {
            self.end_packet(place, packet);
        }
    }

    /// Notes that the head of a packet leaves a router.
    fn set_head_out(&mut self, place: Place) {
        let (router, input, vc) = place;
        let departed = self.now + self.flits(router).delays.switch_traversal_delay;
        let Resident { packet, arrived, .. } = self.routers[router].inputs[input].vcs[vc][0];
        let Owned { choice, .. } = self.flits(router).lanes[input][vc].owned.as_ref().expect("it has a VC");
        let (Choice { to, after, .. }, granted, number) = (choice.clone(), self.now, router as u32);
        let (port, misrouted) = (to.port as u16, after.misrouted);
        let hop = Hop { router: number, port, vc: to.vc, arrived, granted, departed, misrouted };
        self.packets[packet].trace.hops.push(hop);
        self.packets[packet].memory = after;
    }

    /// Lets a flit depart by the output VC that its packet owns.
    fn send_flit(&mut self, (router, input, vc): Place, (packet, index): (usize, u32)) {
        let owned = self.flits(router).lanes[input][vc].owned.as_ref().expect("it has a VC");
        let (to, minimal) = (owned.choice.to, !owned.choice.after.misrouted);
        let departs = self.now + self.flits(router).delays.switch_traversal_delay;
        let latency = self.plan.system.network.link(router as u32, to.port).latency;
        let vc = to.vc as usize;
        let output = &mut self.routers[router].outputs[to.port];
        output.next = self.now + output.pace;
        let Some((peer, back)) = output.peer else {
            return output.crossbar.push(departs, (packet, index));
        };
        output.outstanding[vc].push(Outstanding { packet, length: 1, minimal });
        let arrives = departs + latency + output.pace - 1;
        self.routers[peer].inputs[back].wire.push(arrives, Phit { packet, index, vc });
    }

    /// Lets a packet whose tail leaves give back the output VC, and the next one in its queue become the present one.
    fn end_packet(&mut self, (router, input, vc): Place, packet: usize) {
        let now = self.now;
        self.routers[router].inputs[input].vcs[vc].pop_front();
        let flits = self.flits_mut(router);
        let departs = now + flits.delays.switch_traversal_delay;
        let lane = &mut flits.lanes[input][vc];
        lane.left = Some(now);
        let to = lane.owned.take().expect("it has a VC").choice.to;
        flits.doors[to.port][to.vc as usize].owner = None;
        if self.routers[router].outputs[to.port].is_terminal() {
            let delivered = departs + 1 - self.packets[packet].length;
            self.packets[packet].trace.delivered = Some(delivered);
            self.flits_mut(router).handled.push((now.max(delivered), packet));
        }
        if let Some((node, first)) = self.routers[router].inputs[input].node {
            self.leave_node(node, first + vc, packet);
        }
    }

    /// Lets flits leave for the nodes, and nodes hear of packets.
    pub(crate) fn eject_flits(&mut self) {
        for router in 0..self.routers.len() {
            let all = std::mem::take(&mut self.flits_mut(router).handled);
            let (due, later): (Vec<_>, Vec<_>) = all.into_iter().partition(|&(due, _)| due == self.now);
            self.flits_mut(router).handled = later;
            for (_, packet) in due {
                self.consume(packet);
            }
            for output in 0..self.routers[router].outputs.len() {
                while let Some(flit) = self.routers[router].outputs[output].crossbar.pop_due(self.now) {
                    self.take_flit(flit);
                }
            }
        }
    }

    /// Lets a flit leave for its node.
    fn take_flit(&mut self, (number, index): (usize, u32)) {
        let packet = &mut self.packets[number];
        assert_eq!(packet.absorbed, index, "flits come in order");
        packet.absorbed += 1;
        if packet.absorbed == packet.length {
            let source = packet.trace.source as usize;
            self.finish_in_burst(source);
        }
    }
}

/// Somebody who asks an arbiter that looks at nothing but whose turn it is.
fn candidate(index: usize) -> Candidate {
    Candidate { index, age: 0, class: 0 }
}
