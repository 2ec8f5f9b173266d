//! What becomes of the state of a network when links fail or are repaired, when their routers know, when nodes inject nothing until the
//! network is drained, and when there are new tables.

use crate::change::{Change, Failure};
use crate::kernel::packet::Packet;
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
    lost: Vec<Packet>,
}

impl<N> SavedRouters<N> {
    /// Makes of a state at cycle `now` that behind a change, from which on the system is another one. Returns the packets that are lost.
    pub fn change(&mut self, system: &System, change: &Change, now: u32) -> Vec<Packet> {
        let mut changing = Changing { state: self, system, now, lost: Vec::new() };
        let Change { repaired, failing, detected, closes, opens, reroutes } = change;
        repaired.iter().flatten().for_each(|&end| changing.repair(end));
        for failure in failing {
            changing.fail(failure);
        }
        detected.iter().flatten().for_each(|&end| changing.detect(end));
        if *closes && !changing.is_closed() {
            changing.close();
        }
        if *opens {
            changing.open();
        }
        if *closes || changing.is_closed() && !failing.is_empty() {
            changing.lose_blocked();
        }
        if *reroutes {
            changing.reroute();
        }
        if !change.is_empty() {
            changing.wake();
        }
        changing.lost
    }
}

impl<N> Changing<'_, N> {
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

    fn repair(&mut self, (router, port): LinkEnd) {
        let state = self.router(router);
        if let Some(place) = state.dead.iter().position(|dead| usize::from(dead.port) == port) {
            state.ports[port].out_ready = state.dead.remove(place).out_ready;
        }
    }

    fn fail(&mut self, failure: &Failure) {
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
        self.lost.push(packet);
    }

    fn detect(&mut self, (router, port): LinkEnd) {
        let capacity = self.capacity(port);
        let dead = self.router(router).dead.iter_mut().find(|dead| usize::from(dead.port) == port);
        if let Some(dead) = dead {
            dead.readings.fill(capacity);
        }
    }

    /// Whether nodes inject nothing.
    fn is_closed(&self) -> bool {
        self.state.routers.iter().any(|router| router.closed.is_some())
    }

    /// The inputs of the crossbar that come from nodes, and the injection VCs.
    fn doors(&self) -> [Vec<usize>; 2] {
        let layout = &self.system.network.layout;
        let is_door = |port: u16| layout.class[usize::from(port)] == TERMINAL;
        let inputs = (0..layout.input_port.len()).filter(|&input| is_door(layout.input_port[input]));
        let slots = (0..layout.slots()).filter(|&slot| is_door(layout.slot_port[slot]));
        [inputs.collect(), slots.collect()]
    }

    fn close(&mut self) {
        let [inputs, slots] = self.doors();
        for router in &mut self.state.routers {
            let in_free =
                inputs.iter().map(|&input| std::mem::replace(&mut router.ports[input].in_free, NEVER));
            let in_free = in_free.collect();
            let free = &mut router.extras.free;
            let free = slots.iter().filter_map(|&slot| Some(std::mem::replace(free.get_mut(slot)?, NEVER)));
            router.closed = Some(ClosedDoors { in_free, free: free.collect() });
        }
    }

    fn open(&mut self) {
        let [inputs, slots] = self.doors();
        for router in &mut self.state.routers {
            let Some(ClosedDoors { in_free, free }) = router.closed.take() else { continue };
            inputs.iter().zip(in_free).for_each(|(&input, free)| router.ports[input].in_free = free);
            slots.iter().zip(free).for_each(|(&slot, free)| router.extras.free[slot] = free);
        }
    }

    /// Packets whose way leads over a link that is out of order are lost.
    fn lose_blocked(&mut self) {
        let routers = (0..).zip(&self.state.routers);
        let dead = routers.flat_map(|(number, router)| {
            router.dead.iter().map(move |dead| (number, usize::from(dead.port)))
        });
        let dead: BTreeSet<LinkEnd> = dead.collect();
        let routing = &self.system.routing;
        self.keep(|head, route| routing.keeps_off(head, route, &dead));
    }

    /// All heads are routed anew, and packets that would need more VCs than there are are lost.
    fn reroute(&mut self) {
        let routing = &self.system.routing;
        self.keep(|head, route| routing.has_vcs_left(head, route));
        for slot in self.state.routers.iter_mut().flat_map(|router| &mut router.slots) {
            if !matches!(slot.asks, Asks::Nothing) {
                slot.asks = Asks::Anew;
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
            let stays = |changing: &Self, slot: usize, packet: &Packet| {
                let head = changing.head_in_transit(router, slot, packet);
                head.is_none_or(|head| stays(&head, packet.route))
            };
            let lost =
                self.take_arrivals(router, |changing, slot, packet| !stays(changing, slot.into(), packet));
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
                }
                for packet in lost {
                    self.leave(router, slot, packet);
                }
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
