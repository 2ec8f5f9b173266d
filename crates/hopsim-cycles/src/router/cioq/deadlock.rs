//! The watchdog: finds packets that wait for each other, so that none of them can ever move.
//!
//! A head waits for room behind the output VCs it may ask for. Even when all credits on their way have arrived, a buffer may be
//! full of packets; then the head waits for the head of that buffer, or, where the VCs of a port share a buffer, for the head of
//! any of these VCs. A head that has one way out, however long it takes, is free; so is a head that waits for a free head.
//! Whoever is not free in the end never moves. Heads that decide at every attempt count with every output they could ever choose,
//! so that a deadlock that is reported is a deadlock.

use crate::deadlock::{DeadlockReport, WaitingHead};
use crate::kernel::ids::{Id as _, Pair, RegionRouter, Slot};
use crate::kernel::pool::Queue;
use crate::node::Run;
use crate::region::Whole;
use crate::router::cioq::ids::{network_id, split_network_id};
use crate::router::cioq::region::Cioq;
use crate::router::cioq::tables::PairInfo;
use crate::router::damq::credits_of;
use crate::system::Thresholds;
use hopsim_network::network::TERMINAL;

/// What the search knows of every input VC, by slot id in the network.
struct SlotCensus {
    /// Phits that packets whose heads have arrived take, by slot id.
    occupied: Vec<u32>,
    /// Whether the head of a slot, if there is one, can move one day, by slot id.
    free: Vec<bool>,
}

/// An input VC, or the head of it.
#[derive(Clone, Copy)]
struct Place<'s, 'p, const W: usize, M: Run> {
    region: &'s Cioq<'p, W, M>,
    /// The number of the router in the region.
    number: RegionRouter,
    slot: Slot,
}

impl<const W: usize, M: Run> Place<'_, '_, W, M> {
    fn queue(&self) -> Queue {
        self.region.routers[self.number].slots[self.slot].queue
    }

    /// Room that a packet takes in the buffer of a link \[phits\].
    fn space(&self, packet: u32) -> u32 {
        let cx = &self.region.context;
        cx.shared.space(u32::from(cx.kernel.packets.get(packet).length))
    }

    /// Phits that packets whose heads have arrived take in the input VC.
    fn occupied(&self) -> u32 {
        self.queue().iter(&self.region.context.kernel.packets).map(|packet| self.space(packet)).sum()
    }

    /// Whether a credit or a notice is on its way to an output VC of the router.
    fn hears_of(&self, pair: Pair) -> bool {
        let (cx, id) = (&self.region.context, self.number.pair::<W>(pair));
        let mut notices = cx.on_off.iter().flat_map(|on_off| on_off.notices.iter());
        cx.kernel.credits.iter().any(|credit| credit.pair == id) || notices.any(|notice| notice.pair == id)
    }

    /// The output VCs that the head may ask for, in order of preference.
    fn options(&self) -> Vec<Pair> {
        let mut all = Vec::new();
        self.region.inspect().each_option((self.number, self.slot), |pair| all.push(pair));
        all
    }
}

/// A search for deadlock through a network.
struct Search<'s, 'p, const W: usize, M: Run> {
    whole: Whole<'s, 'p, Cioq<'p, W, M>>,
}

/// A cycle of waiting heads, if there is one.
pub fn find_deadlock<'p, const W: usize, M: Run>(
    whole: Whole<'_, 'p, Cioq<'p, W, M>>,
) -> Option<DeadlockReport> {
    Search { whole }.find()
}

impl<'s, 'p, const W: usize, M: Run> Search<'s, 'p, W, M> {
    /// The input VC of a slot of the network.
    fn place(&self, slot: u32) -> Place<'s, 'p, W, M> {
        let (router, slot) = split_network_id::<W>(slot);
        let region = &self.whole.regions[self.whole.cut.of(router)];
        Place { region, number: region.context.kernel.span.router_here(router), slot }
    }

    /// Whether heads wait in two routers at least: a circle has no fewer.
    fn is_possible(&self) -> bool {
        let routers = self.whole.regions.iter().flat_map(|region| region.routers.iter());
        routers.filter(|router| !router.is_idle::<M>()).take(2).count() == 2
    }

    fn find(&self) -> Option<DeadlockReport> {
        if !self.is_possible() {
            return None;
        }
        let slots = 0..self.whole.system.network.routers * 64 * W as u32;
        let mut census = SlotCensus {
            occupied: slots.clone().map(|slot| self.place(slot).occupied()).collect(),
            free: slots.clone().map(|slot| self.place(slot).queue().is_empty()).collect(),
        };
        let mut waiting: Vec<u32> = slots.filter(|&slot| !census.free[slot as usize]).collect();
        loop {
            let before = waiting.len();
            waiting.retain(|&slot| {
                let free = self.is_free(slot, &census);
                census.free[slot as usize] = free;
                !free
            });
            if waiting.is_empty() {
                return None;
            }
            if waiting.len() == before {
                return Some(self.report(waiting[0], &census));
            }
        }
    }

    /// Whether an output VC will have `length` phits of room without any head moving.
    fn has_room(&self, place: &Place<'_, 'p, W, M>, pair: Pair, length: u32, census: &SlotCensus) -> bool {
        let constants = &place.region.context.shared;
        let entry = pair != constants.output_vc(pair);
        let (pair, length) = (constants.output_vc(pair), length + if entry { constants.bubble() } else { 0 });
        let PairInfo { port, class, .. } = constants.tables.pair(pair);
        let port = port as usize;
        let vc = pair.above(constants.tables.port(port).pair(0));
        let state = &place.region.routers[place.number];
        if class == TERMINAL || !place.region.context.lacks_room(state, pair, length) {
            return true;
        }
        if !state.ports[port].plugged() {
            return false;
        }
        let occupied: Vec<u32> =
            self.behind(place, port).map(|slot| census.occupied[slot as usize]).collect();
        match self.whole.system.cioq().damq {
            Some(shares) => {
                credits_of(shares[class as usize - 1], &occupied).nth(vc).is_some_and(|room| room >= length)
            }
            None => match &place.region.context.on_off {
                Some(on_off) => {
                    // What is on its way may still tell that the buffer has said on.
                    let free = constants.capacity(pair).saturating_sub(occupied[vc]);
                    let Thresholds { off, on } = on_off.thresholds(class);
                    free >= on || free >= off && place.hears_of(pair)
                }
                None => occupied[vc] + length <= constants.capacity(pair),
            },
        }
    }

    /// The slots that a link port feeds, by VC.
    fn behind(&self, place: &Place<'_, 'p, W, M>, port: usize) -> impl Iterator<Item = u32> {
        let first = place.region.context.shared.tables.port(port).pair(0);
        let link = &place.region.routers[place.number].ports[port];
        let there = self.whole.cut.routers(link.region as usize).start;
        let count = self.whole.system.network.layout.output_vcs[port] as usize;
        (0..count).map(move |vc| {
            let (number, slot) = link.fed(first.up(vc)).split::<W>();
            network_id::<W>(there + number.index() as u32, slot)
        })
    }

    /// The slots whose heads can make room for an output VC.
    fn blockers(&self, place: &Place<'_, 'p, W, M>, pair: Pair) -> Vec<u32> {
        let shared = &place.region.context.shared;
        let port = shared.tables.pair_port(pair);
        if !place.region.routers[place.number].ports[port].plugged() {
            return Vec::new();
        }
        let vc = shared.output_vc(pair).above(shared.tables.port(port).pair(0));
        match self.whole.system.cioq().damq {
            Some(_) => self.behind(place, port).collect(),
            None => self.behind(place, port).skip(vc).take(1).collect(),
        }
    }

    fn is_free(&self, slot: u32, census: &SlotCensus) -> bool {
        let place = self.place(slot);
        if place.region.context.is_held(place.number, place.slot) {
            // The signal comes round again.
            return true;
        }
        let length = place.space(place.queue().front);
        let moves = |b: u32| census.free[b as usize] && census.occupied[b as usize] > 0;
        place.options().into_iter().any(|pair| {
            self.has_room(&place, pair, length, census) || self.blockers(&place, pair).into_iter().any(moves)
        })
    }

    /// A slot whose head must move before that of `slot` can, and never does, and the output VC in between.
    fn waits_for(&self, slot: u32, census: &SlotCensus) -> Option<(Pair, u32)> {
        let place = self.place(slot);
        let stuck = |b: &u32| !census.free[*b as usize];
        place
            .options()
            .into_iter()
            .find_map(|pair| self.blockers(&place, pair).into_iter().find(stuck).map(|b| (pair, b)))
    }

    fn report(&self, start: u32, census: &SlotCensus) -> DeadlockReport {
        let mut walk: Vec<(u32, Pair)> = Vec::new();
        let mut at = start;
        let first = loop {
            if let Some(first) = walk.iter().position(|&(slot, _)| slot == at) {
                break first;
            }
            let Some((pair, next)) = self.waits_for(at, census) else { break 0 };
            walk.push((at, pair));
            at = next;
        };
        let waiting = walk[first..].iter().map(|&(slot, pair)| self.describe(slot, pair)).collect();
        let packets = self.whole.regions.iter().map(|region| region.context.kernel.inside()).sum();
        DeadlockReport { cycle: self.whole.now, packets, waiting }
    }

    fn describe(&self, slot: u32, pair: Pair) -> WaitingHead {
        let place = self.place(slot);
        let cx = &place.region.context;
        let packet = cx.kernel.packets.get(place.queue().front);
        let network = &self.whole.system.network;
        let (input, input_vc) = network.layout.slot_vc(place.slot.index()).unwrap_or((0, 0));
        let (output, output_vc) = network.layout.any_vc(pair.index()).unwrap_or((0, 0));
        WaitingHead {
            router: cx.kernel.span.router(place.number),
            input: network.port_name(input),
            input_vc,
            output: network.port_name(output),
            output_vc,
            source: packet.source,
            destination: packet.destination(cx.kernel.constants.nodes_per_router),
            generated: packet.generated,
        }
    }
}
