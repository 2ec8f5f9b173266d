//! The watchdog: finds packets that wait for each other, so that none of them can ever move.
//!
//! The present packet of an input VC can move one day if its head may ask for an output VC that is free, or whose owner can move; or, once it
//! owns one, if there is room behind that, or the packet there can move. A packet whose next flit is not here yet moves as soon as the flits
//! behind do. Whoever cannot move in the end never moves.

use crate::deadlock::{DeadlockReport, WaitingHead};
use crate::kernel::ids::{Id as _, Pair, RegionRouter, Slot, SlotId};
use crate::kernel::wires::Arrival;
use crate::node::Run;
use crate::region::Whole;
use crate::router::damq::credits_of;
use crate::router::virtual_channel::region::VirtualChannel;
use crate::router::virtual_channel::routers::occupied;
use hopsim_network::network::TERMINAL;

/// An input VC of the network.
#[derive(Clone, Copy, PartialEq, Eq)]
struct WaitingVc {
    /// The router, by its number in the network.
    router: u32,
    slot: Slot,
}

/// What an input VC that cannot move now waits for.
struct Blocker {
    pair: Pair,
    by: WaitingVc,
}

/// A search for deadlock through a network.
struct FlitSearch<'s, 'p, M: Run> {
    whole: &'s Whole<'s, 'p, VirtualChannel<'p, M>>,
    /// Whether the present packet of an input VC, if there is one, can move one day, by slot id in the network.
    free: Vec<bool>,
    /// Flits that are in an input VC and on their way there, by slot id in the network.
    flits: Vec<u32>,
}

/// A cycle of waiting packets, if there is one.
pub fn find_deadlock<'p, M: Run>(whole: &Whole<'_, 'p, VirtualChannel<'p, M>>) -> Option<DeadlockReport> {
    let ids = whole.system.network.routers as usize * whole.system.network.layout.stride();
    let mut search = FlitSearch { whole, free: vec![true; ids], flits: vec![0; ids] };
    search.count_flits();
    search.find()
}

impl<'s, 'p, M: Run> FlitSearch<'s, 'p, M> {
    fn region(&self, router: u32) -> (&'s VirtualChannel<'p, M>, RegionRouter) {
        let region = &self.whole.regions[self.whole.cut.of(router)];
        (region, region.kernel.span.router_here(router))
    }

    fn id(&self, place: WaitingVc) -> usize {
        place.router as usize * self.whole.system.network.layout.stride() + place.slot.index()
    }

    /// All input VCs that hold a packet.
    fn places(&self) -> Vec<WaitingVc> {
        let mut places = Vec::new();
        for router in 0..self.whole.system.network.routers {
            let (region, number) = self.region(router);
            let slots = occupied(&region.shared, region.routers.ports(number));
            places.extend(slots.map(|slot| WaitingVc { router, slot }));
        }
        places
    }

    fn count_flits(&mut self) {
        for region in self.whole.regions {
            let (kernel, stride) = (&region.kernel, region.shared.stride);
            let first = kernel.span.first_router as usize * stride;
            for (id, input) in region.routers.inputs.numbered() {
                self.flits[first + id.index()] += u32::from(input.flits);
            }
            let heads = kernel.arrivals.iter().map(|&Arrival { slot, packet: _ }| slot);
            let immigrants = kernel.immigrants.iter().map(|packet| SlotId::at(packet.next as usize));
            for slot in heads.chain(immigrants).chain(kernel.flits.iter().copied()) {
                self.flits[first + slot.index()] += 1;
            }
        }
    }

    fn find(&mut self) -> Option<DeadlockReport> {
        let mut waiting = self.places();
        for &place in &waiting {
            let id = self.id(place);
            self.free[id] = false;
        }
        loop {
            let before = waiting.len();
            waiting.retain(|&place| {
                let free = self.blocker(place).is_none();
                let id = self.id(place);
                self.free[id] = free;
                !free
            });
            if waiting.is_empty() {
                return None;
            }
            if waiting.len() == before {
                return Some(self.report(waiting[0]));
            }
        }
    }

    /// What keeps the present packet of an input VC from ever moving, as far as is known so far.
    fn blocker(&self, place: WaitingVc) -> Option<Blocker> {
        let (region, number) = self.region(place.router);
        let input = &region.routers.inputs[region.shared.slot_id(number, place.slot)];
        let Some(pair) = input.owned() else {
            let options = region.options(number, place.slot);
            let blockers: Option<Vec<Blocker>> =
                options.into_iter().map(|pair| self.blocker_of_vc(place, pair)).collect();
            return blockers.and_then(|all| all.into_iter().next());
        };
        if self.flits[self.id(place)] == 0 {
            let by = self.before(place)?;
            return (!self.free[self.id(by)]).then_some(Blocker { pair, by });
        }
        self.blocker_behind(place.router, pair, 1)
    }

    /// What keeps a head from ever being granted an output VC.
    fn blocker_of_vc(&self, place: WaitingVc, pair: Pair) -> Option<Blocker> {
        let (region, number) = self.region(place.router);
        let output = &region.routers.outputs[region.shared.pair_id(number, pair)];
        if let Some(owner) = output.owner {
            let by = WaitingVc { router: place.router, slot: Slot::at(owner.into()) };
            return (!self.free[self.id(by)]).then_some(Blocker { pair, by });
        }
        let input = &region.routers.inputs[region.shared.slot_id(number, place.slot)];
        let (port, vc) = region.shared.output(pair);
        let needed = region.routers.port(number, port).link.needed_for(vc as u8, input.trail.length.into());
        self.blocker_behind(place.router, pair, needed)
    }

    /// What keeps room for so many flits from ever being there behind an output VC: the packet that it is full of.
    fn blocker_behind(&self, router: u32, pair: Pair, flits: u32) -> Option<Blocker> {
        let network = &self.whole.system.network;
        let (region, _) = self.region(router);
        let (port, vc) = region.shared.output(pair);
        if network.layout.class[port] == TERMINAL {
            return None;
        }
        let (peer, back) = network.link(router, port).peer?;
        let behind = |vc| WaitingVc { router: peer, slot: region.shared.slot(back, vc) };
        let (by, class) = (behind(vc), network.layout.class[port]);
        let taken = |vc| self.flits[self.id(behind(vc))];
        let may_move = |vc| self.free[self.id(behind(vc))];
        let Some(damq) = &region.damq else {
            let buffer = network.classes.links[class as usize - 1].buffer;
            return (taken(vc) + flits > buffer && !may_move(vc)).then_some(Blocker { pair, by });
        };
        let (shares, vcs) = (damq.shares(class), 0..network.layout.output_vcs[port].into());
        let all: Vec<u32> = vcs.clone().map(taken).collect();
        let room = credits_of(shares, &all).nth(vc).unwrap_or_default();
        let makes_room = |&other: &usize| other == vc || all[other] > shares.reserve;
        let is_stuck = room < flits && !vcs.filter(makes_room).any(may_move);
        is_stuck.then_some(Blocker { pair, by })
    }

    /// The input VC that the flits of an input VC come from.
    fn before(&self, place: WaitingVc) -> Option<WaitingVc> {
        let network = &self.whole.system.network;
        let (region, _) = self.region(place.router);
        let (port, vc) = region.shared.input(place.slot);
        let (router, back) = network.link(place.router, port).peer?;
        let (region, number) = self.region(router);
        let pair = Pair::at(region.shared.layout.pair_base[back] as usize + vc);
        let owner = region.routers.outputs[region.shared.pair_id(number, pair)].owner?;
        Some(WaitingVc { router, slot: Slot::at(owner.into()) })
    }

    fn report(&self, start: WaitingVc) -> DeadlockReport {
        let mut walk: Vec<(WaitingVc, Pair)> = Vec::new();
        let mut at = start;
        let first = loop {
            if let Some(first) = walk.iter().position(|&(place, _)| place == at) {
                break first;
            }
            let Some(Blocker { pair, by }) = self.blocker(at) else { break 0 };
            walk.push((at, pair));
            at = by;
        };
        let waiting = walk[first..].iter().map(|&(place, pair)| self.describe(place, pair)).collect();
        let packets = self.whole.regions.iter().map(|region| region.kernel.inside()).sum();
        DeadlockReport { cycle: self.whole.now, packets, waiting }
    }

    fn describe(&self, place: WaitingVc, pair: Pair) -> WaitingHead {
        let (region, number) = self.region(place.router);
        let trail = region.routers.inputs[region.shared.slot_id(number, place.slot)].trail;
        let network = &self.whole.system.network;
        let ((input, input_vc), (output, output_vc)) =
            (region.shared.input(place.slot), region.shared.output(pair));
        WaitingHead {
            router: place.router,
            input: network.port_name(input),
            input_vc: input_vc as u8,
            output: network.port_name(output),
            output_vc: output_vc as u8,
            source: trail.source,
            destination: trail.destination,
            generated: trail.generated,
        }
    }
}
