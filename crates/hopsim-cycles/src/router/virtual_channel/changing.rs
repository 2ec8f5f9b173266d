//! What becomes of the state of a network of virtual-channel routers when links fail or are repaired, when their routers know, when nodes
//! inject nothing until the network is drained, and when there are new tables.
//!
//! A packet that is lost vanishes from all routers in which it has flits.

use crate::change::{Affected, Change, Failure, Losses, Reason, RouterFailure};
use crate::kernel::packet::Packet;
use crate::node::{SavedNodes, send_back};
use crate::router::inputs::input_code;
use crate::router::virtual_channel::outages::DeadFlitPort;
use crate::router::virtual_channel::saved::{FlitRouterState, SavedFlitRouters};
use crate::router::virtual_channel::worms::{SlotPlace, Worm, worms};
use crate::system::System;
use hopsim_network::network::TERMINAL;
use hopsim_network::topology::faults::LinkEnd;
use hopsim_routing::{Head, RouteState};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The state of a network that changes.
struct ChangingFlits<'a, N> {
    state: &'a mut SavedFlitRouters<N>,
    system: &'a System,
    now: u32,
    losses: Losses,
    /// The packets that are lost after they have been granted an output VC in their source router.
    under_way: Vec<Packet>,
}

impl<N: SavedNodes> SavedFlitRouters<N> {
    /// Makes of a state at cycle `now` that behind a change, from which on the system is another one. Returns what is lost.
    pub fn change(&mut self, system: &System, change: &Change, now: u32) -> Losses {
        if change.is_empty() {
            return Losses::default();
        }
        let (losses, under_way) = (Losses::default(), Vec::new());
        let mut changing = ChangingFlits { state: self, system, now, losses, under_way };
        change.make(system.network.routers, &mut changing);
        let ChangingFlits { state, under_way, mut losses, .. } = changing;
        losses.packets.extend(send_back(system, &mut state.nodes, under_way, now));
        losses
    }
}

impl<N: SavedNodes> Affected for ChangingFlits<'_, N> {
    fn repair(&mut self, (router, port): LinkEnd) {
        self.router(router).outages.dead.retain(|dead| usize::from(dead.port) != port);
    }

    fn fail(&mut self, failures: &[Failure]) {
        failures.iter().flat_map(|failure| failure.ends).for_each(|end| self.mark(end));
        let lost = failures.iter().filter(|failure| failure.drops).flat_map(|failure| failure.ends);
        self.lose_on_links(&lost.collect());
    }

    fn fall(&mut self, failures: &[RouterFailure]) {
        for failure in failures {
            self.close(failure.router, Reason::Broken);
        }
        let lost = failures.iter().filter(|failure| failure.drops).map(|failure| failure.router);
        self.lose_in_routers(&lost.collect());
    }

    fn detect(&mut self, (router, port): LinkEnd) {
        let buffer = self.buffer(port);
        let dead = &mut self.router(router).outages.dead;
        if let Some(dead) = dead.iter_mut().find(|dead| usize::from(dead.port) == port) {
            dead.readings.fill(buffer);
        }
    }

    fn close(&mut self, router: u32, reason: Reason) {
        self.router(router).outages.closed.push(reason);
    }

    fn open(&mut self, router: u32, reason: Reason) {
        self.router(router).outages.closed.retain(|&other| other != reason);
    }

    fn is_drained(&self) -> bool {
        self.state.routers.iter().any(|router| router.outages.closed.contains(&Reason::Drained))
    }

    fn lose_blocked(&mut self) {
        let routers = (0..).zip(&self.state.routers);
        let dead = routers.flat_map(|(number, router)| {
            router.outages.dead.iter().map(move |dead| (number, usize::from(dead.port)))
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
        for input in self.state.routers.iter_mut().flat_map(|router| &mut router.inputs) {
            if input.output.is_some() {
                continue;
            }
            if let Some(packet) = input.packet.take() {
                input.behind.insert(0, packet);
                input.left = 0;
            }
        }
    }
}

impl<N: SavedNodes> ChangingFlits<'_, N> {
    fn router(&mut self, router: u32) -> &mut FlitRouterState {
        &mut self.state.routers[router as usize]
    }

    fn class(&self, port: usize) -> u8 {
        self.system.network.layout.class[port]
    }

    fn port_of(&self, slot: usize) -> usize {
        usize::from(self.system.network.layout.slot_port[slot])
    }

    fn buffer(&self, port: usize) -> u32 {
        self.system.network.classes.links[usize::from(self.class(port)) - 1].buffer
    }

    /// The link behind a port fails.
    fn mark(&mut self, (router, port): LinkEnd) {
        let (layout, buffer) = (&self.system.network.layout, self.buffer(port));
        let first = usize::from(layout.pair_base[port]);
        let vcs = usize::from(layout.output_vcs[port]);
        let state = self.router(router);
        let outstanding = |credits: &u32| buffer.saturating_sub(*credits);
        let readings = state.outputs[first..first + vcs].iter().map(outstanding).collect();
        state.outages.dead.push(DeadFlitPort { port: port as u16, readings });
    }

    /// The packets are lost that have still to come over a link, or of which a flit is on it; a link is given by both its ends.
    fn lose_on_links(&mut self, ends: &BTreeSet<LinkEnd>) {
        if ends.is_empty() {
            return;
        }
        let needs = |changing: &Self, worm: &Worm| {
            worm.crosses.iter().any(|&(router, slot)| ends.contains(&(router, changing.port_of(slot))))
        };
        self.lose_those(needs);
    }

    /// The packets are lost that have a flit in the buffer of a link of some routers, or on its way there, or have been granted an output
    /// VC that leads there.
    fn lose_in_routers(&mut self, routers: &BTreeSet<u32>) {
        if routers.is_empty() {
            return;
        }
        let is_there = |changing: &Self, worm: &Worm| {
            let parts = worm.parts.iter().map(|part| part.place).chain(worm.next);
            let mut of_links = parts.filter(|&(_, slot)| changing.class(changing.port_of(slot)) != TERMINAL);
            of_links.any(|(router, _)| routers.contains(&router))
        };
        self.lose_those(is_there);
    }

    /// Packets in injection VCs are lost that own no output VC and have no way to their destination.
    fn lose_at_nodes(&mut self) {
        let stays = |changing: &Self, worm: &Worm| {
            let (router, _) = worm.parts[0].place;
            changing.is_under_way(worm)
                || changing.system.routing.reaches(router, worm.packet.destination_router)
        };
        let all = worms(&mut self.state.routers, &mut self.state.nodes, self.system);
        let lost: Vec<Worm> = all.into_iter().filter(|worm| !stays(self, worm)).collect();
        self.remove(&lost);
        self.losses.packets.extend(lost.into_iter().map(|worm| worm.packet));
    }

    /// Packets under way are lost unless `stays` says otherwise of their heads.
    fn keep(&mut self, stays: impl Fn(&Head, RouteState) -> bool) {
        self.lose_those(|changing, worm| {
            changing.head(worm).is_some_and(|head| !stays(&head, worm.packet.route))
        });
    }

    /// All packets are lost of which `leaves` says so.
    fn lose_those(&mut self, leaves: impl Fn(&Self, &Worm) -> bool) {
        let all = worms(&mut self.state.routers, &mut self.state.nodes, self.system);
        let mut lost: Vec<Worm> = all.into_iter().filter(|worm| leaves(self, worm)).collect();
        self.remove(&lost);
        for worm in &mut lost {
            if self.is_at_injection(worm) {
                worm.packet.injection.granted = self.now;
            }
        }
        self.under_way.extend(lost.into_iter().map(|worm| worm.packet));
    }

    /// Whether the head of a packet is in an injection VC, or on its way there.
    fn is_at_injection(&self, worm: &Worm) -> bool {
        self.class(self.port_of(worm.parts[0].place.1)) == TERMINAL
    }

    /// Whether a packet has been granted an output VC in its source router.
    fn is_under_way(&self, worm: &Worm) -> bool {
        worm.ejects || worm.next.is_some() || !self.is_at_injection(worm)
    }

    /// A packet under way as the head of the buffer that it is in, or goes to; none if it has been granted an output VC to its node.
    fn head(&self, worm: &Worm) -> Option<Head> {
        if worm.ejects || !self.is_under_way(worm) {
            return None;
        }
        let (router, slot) = worm.next.unwrap_or(worm.parts[0].place);
        let answers = self.system.network.classes.request_reply();
        Some(worm.packet.at_input(router, self.port_of(slot), input_code(self.system, slot), answers))
    }

    /// Takes packets away, with all their flits.
    fn remove(&mut self, lost: &[Worm]) {
        let mut by_place: BTreeMap<SlotPlace, Vec<(usize, Range<usize>, bool)>> = BTreeMap::new();
        for part in lost.iter().flat_map(|worm| &worm.parts) {
            let flits = part.first..part.first + part.flits;
            by_place.entry(part.place).or_default().push((part.nth, flits, part.is_entering));
        }
        for (place, parts) in by_place {
            let gone: usize = parts.iter().map(|(_, flits, _)| flits.len()).sum();
            self.give_back(place, gone, parts.iter().any(|&(.., is_entering)| is_entering));
            let is_gone = |flit: usize| parts.iter().any(|(_, flits, _)| flits.contains(&flit));
            let nths: Vec<usize> = parts.iter().map(|&(nth, ..)| nth).collect();
            self.router(place.0).remove(place.1, &nths, is_gone);
        }
    }

    /// Flits that were in an input VC, or on their way there, are gone: the router or the node before it gets to know, for links one latency
    /// later.
    fn give_back(&mut self, (router, slot): SlotPlace, flits: usize, is_entering: bool) {
        let (layout, port) = (&self.system.network.layout, self.port_of(slot));
        let vc = slot - usize::from(layout.slot_base[port]);
        if layout.class[port] == TERMINAL {
            let (terminal, per_router) = (usize::from(layout.injects_for[port]), layout.terminals as u32);
            let vc = slot - usize::from(layout.slot_base[terminal]);
            let node = self.state.nodes.interface(router * per_router + terminal as u32);
            return node.lose_flits(vc, flits as u32, is_entering);
        }
        let link = self.system.network.link(router, port);
        let Some((peer, output)) = link.peer else { unreachable!("packets come by links") };
        let pair = usize::from(layout.pair_base[output]) + vc;
        let at = self.now + link.latency;
        if flits > 0 {
            self.router(peer).returning.push((at, pair as u16, flits as u16));
        }
    }
}

impl FlitRouterState {
    /// Takes packets away from an input VC, by their place there, and those flits in it or on their way of which `is_gone` says so.
    fn remove(&mut self, slot: usize, nths: &[usize], is_gone: impl Fn(usize) -> bool) {
        let input = &mut self.inputs[slot];
        let (present, buffered) = (usize::from(input.left > 0), usize::from(input.flits));
        let here = (0..buffered).filter(|&flit| !is_gone(flit));
        if !input.arrivals.is_empty() {
            input.arrivals = here.clone().map(|flit| input.arrivals[flit]).collect();
        }
        input.flits = here.count() as u16;
        let of_slot = slot as u16;
        let mut coming: Vec<u32> =
            self.flits.iter().filter(|flit| flit.1 == of_slot).map(|flit| flit.0).collect();
        let heads = self.arrivals.iter().filter(|head| head.0 == of_slot);
        coming.extend(heads.map(|(_, packet)| packet.arrived));
        coming.sort_unstable();
        let lost = (buffered..).zip(&coming).filter(|&(flit, _)| is_gone(flit));
        let lost: BTreeSet<u32> = lost.map(|(_, &at)| at).collect();
        self.flits.retain(|&(at, of)| of != of_slot || !lost.contains(&at));
        self.arrivals.retain(|(of, packet)| *of != of_slot || !lost.contains(&packet.arrived));
        let mut nth = present..;
        input.behind.retain(|_| nth.next().is_none_or(|nth| !nths.contains(&nth)));
        if present > 0 && nths.contains(&0) {
            (input.packet, input.output, input.left) = (None, None, 0);
            self.held.iter_mut().filter(|held| **held == Some(of_slot)).for_each(|held| *held = None);
        }
    }
}
