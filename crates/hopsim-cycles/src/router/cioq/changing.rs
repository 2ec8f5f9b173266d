//! What becomes of the state of a network when links fail or are repaired, when their routers know, when nodes inject nothing until the
//! network is drained, and when there are new tables.

use crate::change::{Affected, Change, Failure, Losses, Reason, RouterFailure};
use crate::kernel::packet::{Packet, Waiting};
use crate::node::{SavedNodes, send_back};
use crate::router::cioq::outages::{ClosedDoors, DeadPort, NEVER};
use crate::router::cioq::rules::Room;
use crate::router::cioq::state::{Asks, RouterState, SavedRouters};
use crate::router::inputs::input_code;
use crate::system::System;
use hopsim_network::network::TERMINAL;
use hopsim_network::topology::faults::LinkEnd;
use hopsim_routing::{Head, RouteState};
use std::collections::BTreeSet;

/// The state of a network that changes.
struct Changing<'a, N> {
    state: &'a mut SavedRouters<N>,
    system: &'a System,
    now: u32,
    losses: Losses,
    /// The packets that are lost after they have been granted their way out of their injection buffers.
    under_way: Vec<Packet>,
}

impl<N: SavedNodes> SavedRouters<N> {
    /// Makes of a state at cycle `now` that behind a change, from which on the system is another one. Returns what is lost.
    pub fn change(&mut self, system: &System, change: &Change, now: u32) -> Losses {
        let (losses, under_way) = (Losses::default(), Vec::new());
        let mut changing = Changing { state: self, system, now, losses, under_way };
        change.make(system.network.routers, &mut changing);
        if !change.is_empty() {
            changing.wake();
        }
        let Changing { state, under_way, mut losses, .. } = changing;
        losses.packets.extend(send_back(system, &mut state.nodes, under_way, now));
        losses
    }
}

impl<N: SavedNodes> Affected for Changing<'_, N> {
    fn repair(&mut self, (router, port): LinkEnd) {
        let state = self.router(router);
        if let Some(place) = state.dead.iter().position(|dead| usize::from(dead.port) == port) {
            state.ports[port].out_ready = state.dead.remove(place).out_ready;
        }
    }

    fn fail(&mut self, failures: &[Failure]) {
        for failure in failures {
            self.fail_one(failure);
        }
    }

    fn fall(&mut self, failures: &[RouterFailure]) {
        for failure in failures {
            self.fall_one(*failure);
        }
    }

    fn detect(&mut self, (router, port): LinkEnd) {
        let capacity = self.capacity(port);
        let dead = self.router(router).dead.iter_mut().find(|dead| usize::from(dead.port) == port);
        if let Some(dead) = dead {
            dead.readings.fill(capacity);
        }
    }

    fn close(&mut self, router: u32, reason: Reason) {
        let [inputs, slots] = self.doors();
        let router = self.router(router);
        if let Some(doors) = &mut router.closed {
            return doors.reasons.push(reason);
        }
        let in_free = inputs.iter().map(|&input| std::mem::replace(&mut router.ports[input].in_free, NEVER));
        let in_free = in_free.collect();
        let free = &mut router.extras.free;
        let free = slots.iter().filter_map(|&slot| Some(std::mem::replace(free.get_mut(slot)?, NEVER)));
        router.closed = Some(ClosedDoors { reasons: vec![reason], in_free, free: free.collect() });
    }

    fn open(&mut self, router: u32, reason: Reason) {
        let [inputs, slots] = self.doors();
        let router = self.router(router);
        let Some(mut doors) = router.closed.take() else { return };
        doors.reasons.retain(|&other| other != reason);
        if !doors.reasons.is_empty() {
            router.closed = Some(doors);
            return;
        }
        inputs.iter().zip(doors.in_free).for_each(|(&input, free)| router.ports[input].in_free = free);
        slots.iter().zip(doors.free).for_each(|(&slot, free)| router.extras.free[slot] = free);
    }

    fn is_drained(&self) -> bool {
        let closed = |router: &RouterState| router.closed.as_ref().map(|doors| doors.reasons.clone());
        self.state.routers.iter().filter_map(closed).flatten().any(|reason| reason == Reason::Drained)
    }

    fn lose_blocked(&mut self) {
        let routers = (0..).zip(&self.state.routers);
        let dead = routers.flat_map(|(number, router)| {
            router.dead.iter().map(move |dead| (number, usize::from(dead.port)))
        });
        let dead: BTreeSet<LinkEnd> = dead.collect();
        let routing = &self.system.routing;
        self.keep(|head, route| routing.keeps_off(head, route, &dead));
    }

    fn reroute(&mut self) {
        let routing = &self.system.routing;
        self.keep(|head, route| routing.has_vcs_left(head, route));
        if routing.apart().is_some() {
            self.lose_at_nodes();
        }
        for slot in self.state.routers.iter_mut().flat_map(|router| &mut router.slots) {
            if !matches!(slot.asks, Asks::Nothing) {
                slot.asks = Asks::Anew;
            }
        }
    }
}

impl<N: SavedNodes> Changing<'_, N> {
    fn router(&mut self, router: u32) -> &mut RouterState {
        &mut self.state.routers[router as usize]
    }

    /// Phits that a packet takes in the buffer of a link.
    fn space(&self, packet: &Packet) -> u32 {
        u32::from(packet.length).max(Room::new(self.system).least)
    }

    /// Pairs of a port: the first, and how many.
    fn pairs(&self, port: usize) -> (usize, usize) {
        let layout = &self.system.network.layout;
        (layout.pair_base[port].into(), layout.output_vcs[port].into())
    }

    fn capacity(&self, port: usize) -> u32 {
        let layout = &self.system.network.layout;
        self.system.network.classes.links[usize::from(layout.class[port]) - 1].buffer
    }

    fn fail_one(&mut self, failure: &Failure) {
        for (router, port) in failure.ends {
            let ((first, vcs), capacity) = (self.pairs(port), self.capacity(port));
            let state = self.router(router);
            let outstanding = |credits: &u32| capacity.saturating_sub(*credits);
            let readings = state.credits[first..first + vcs].iter().map(outstanding).collect();
            let out_ready = std::mem::replace(&mut state.ports[port].out_ready, NEVER);
            state.dead.push(DeadPort { port: port as u16, out_ready, readings });
        }
        if failure.drops {
            let [one, other] = failure.ends;
            self.drop_between(one, other);
            self.drop_between(other, one);
        }
    }

    fn fall_one(&mut self, failure: RouterFailure) {
        self.close(failure.router, Reason::Broken);
        if failure.drops {
            self.keep_in(failure.router, &|_, _| false);
        }
    }

    /// The packets on a link from one end to the other are lost, and leave their room free at once.
    fn drop_between(&mut self, (from, output): LinkEnd, (to, input): LinkEnd) {
        let (now, layout) = (self.now, &self.system.network.layout);
        let (base, vcs) = (layout.slot_base[input], u16::from(layout.input_vcs[input]));
        let on_the_link =
            |slot: u16, packet: &Packet| (base..base + vcs).contains(&slot) && packet.arrived >= now;
        for (slot, packet) in self.take_arrivals(to, |_, slot, packet| on_the_link(slot, packet)) {
            let pair = self.pairs(output).0 as u16 + (slot - base);
            self.lose(packet, (from, pair), now);
        }
    }

    /// Takes those packets away that are on their way into a buffer of a router and of which `leaves` says so.
    fn take_arrivals(
        &mut self,
        router: u32,
        leaves: impl Fn(&Self, u16, &Packet) -> bool,
    ) -> Vec<(u16, Packet)> {
        let arrivals = std::mem::take(&mut self.router(router).arrivals);
        let (taken, left) = arrivals.into_iter().partition(|(slot, packet)| leaves(self, *slot, packet));
        self.router(router).arrivals = left;
        taken
    }

    /// A packet is lost; the room that it has, or would have, behind a pair of a router is known there to be free from cycle `at` on.
    fn lose(&mut self, packet: Packet, (router, pair): (u32, u16), at: u32) {
        let phits = self.space(&packet) as u16;
        self.router(router).returning.push((at, pair, phits, 0));
        self.under_way.push(packet);
    }

    /// The inputs of the crossbar that come from nodes, and the injection VCs.
    fn doors(&self) -> [Vec<usize>; 2] {
        let layout = &self.system.network.layout;
        let is_door = |port: u16| layout.class[usize::from(port)] == TERMINAL;
        let inputs = (0..layout.input_port.len()).filter(|&input| is_door(layout.input_port[input]));
        let slots = (0..layout.slots()).filter(|&slot| is_door(layout.slot_port[slot]));
        [inputs.collect(), slots.collect()]
    }

    /// Packets in injection buffers are lost that have no way to their destination.
    fn lose_at_nodes(&mut self) {
        let (layout, per_router) = (&self.system.network.layout, self.system.topology.nodes_per_router());
        let vcs = usize::from(self.system.network.classes.terminal.vcs);
        for router in 0..self.system.topology.routers_with_nodes() {
            let places = (0..layout.terminals).flat_map(|terminal| (0..vcs).map(move |vc| (terminal, vc)));
            for (terminal, vc) in places {
                let slot = usize::from(layout.slot_base[terminal]) + vc;
                self.lose_in_injection_vc((router, slot), (router * per_router + terminal as u32, vc));
            }
        }
    }

    /// Packets in an injection VC of a node are lost that have no way to their destination. The next packet becomes the head, perhaps on its
    /// way there.
    fn lose_in_injection_vc(&mut self, (router, slot): (u32, usize), (node, vc): (u32, usize)) {
        let (system, now) = (self.system, self.now);
        let (per_router, job) = (system.topology.nodes_per_router(), system.job_of[node as usize]);
        let leaves = |to: u32| !system.routing.reaches(router, to);
        let enter = |packet: &Waiting| packet.enter(system, per_router, (node, job), 0);
        let interface = self.state.nodes.interface(node);
        let behind = interface.take_behind(vc, |packet| leaves(packet.destination / per_router));
        self.losses.packets.extend(behind.iter().map(enter));
        let at_head =
            |_: &Self, of: u16, packet: &Packet| usize::from(of) == slot && leaves(packet.destination_router);
        let coming = self.take_arrivals(router, at_head).into_iter().map(|(_, packet)| packet);
        let packets = std::mem::take(&mut self.router(router).slots[slot].packets);
        let (there, left): (Vec<_>, Vec<_>) =
            packets.into_iter().partition(|packet| leaves(packet.destination_router));
        self.router(router).slots[slot].packets = left;
        self.losses.heads.extend(there.iter().map(|_| (router, slot)));
        for head in coming.chain(there) {
            let next = self.state.nodes.interface(node).take_next(vc, head.length.into());
            self.losses.packets.push(head);
            let state = self.router(router);
            state.slots[slot].asks = Asks::Nothing;
            let Some(next) = next else { continue };
            if next.arrived + system.router.pipeline_latency() <= now {
                (state.slots[slot].packets, state.slots[slot].asks) = (vec![enter(&next)], Asks::Anew);
            } else {
                state.arrivals.push((slot as u16, enter(&next)));
            }
        }
    }

    /// No head sleeps: what it reads, or could be granted, may be another thing now.
    fn wake(&mut self) {
        for slot in self.state.routers.iter_mut().flat_map(|router| &mut router.slots) {
            if let Asks::Choice(_, sleeps) = &mut slot.asks {
                *sleeps = false;
            }
        }
    }

    /// Packets in buffers of links, or on their way there, are lost unless `stays` says otherwise.
    fn keep(&mut self, stays: impl Fn(&Head, RouteState) -> bool) {
        for router in 0..self.system.network.routers {
            self.keep_in(router, &stays);
        }
    }

    /// Packets in buffers of links of a router, or on their way there, are lost unless `stays` says otherwise.
    fn keep_in(&mut self, router: u32, stays: &impl Fn(&Head, RouteState) -> bool) {
        let stays = |changing: &Self, slot: usize, packet: &Packet| {
            let head = changing.head_in_transit(router, slot, packet);
            head.is_none_or(|head| stays(&head, packet.route))
        };
        let lost = self.take_arrivals(router, |changing, slot, packet| !stays(changing, slot.into(), packet));
        for (slot, packet) in lost {
            self.leave(router, usize::from(slot), packet);
        }
        for slot in 0..self.system.network.layout.slots() {
            let packets = std::mem::take(&mut self.router(router).slots[slot].packets);
            let loses_head = packets.first().is_some_and(|head| !stays(self, slot, head));
            let (left, lost): (Vec<_>, Vec<_>) =
                packets.into_iter().partition(|packet| stays(self, slot, packet));
            let state = &mut self.router(router).slots[slot];
            state.packets = left;
            if loses_head {
                state.asks = Asks::Anew;
                self.losses.heads.push((router, slot));
            }
            for packet in lost {
                self.leave(router, slot, packet);
            }
        }
    }

    /// A packet as the head of an input VC, if that is one of a link.
    fn head_in_transit(&self, router: u32, slot: usize, packet: &Packet) -> Option<Head> {
        let layout = &self.system.network.layout;
        let port = usize::from(layout.slot_port[slot]);
        let answers = self.system.network.classes.request_reply();
        let head = || packet.at_input(router, port, input_code(self.system, slot), answers);
        (layout.class[port] != TERMINAL).then(head)
    }

    /// A packet in an input VC of a link, or on its way there, is lost.
    fn leave(&mut self, router: u32, slot: usize, packet: Packet) {
        let layout = &self.system.network.layout;
        let port = usize::from(layout.slot_port[slot]);
        let link = self.system.network.link(router, port);
        let Some((peer, output)) = link.peer else { unreachable!("packets come by links") };
        let pair = self.pairs(output).0 + slot - usize::from(layout.slot_base[port]);
        self.lose(packet, (peer, pair as u16), self.now + link.latency);
    }
}
