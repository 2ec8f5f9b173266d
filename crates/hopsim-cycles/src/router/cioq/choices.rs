//! Heads with a choice of outputs (adaptive routing), and what these heads may choose. See `deciding` for how heads are asked.

use crate::kernel::by::By;
use crate::kernel::ids::{Id as _, Pair, RegionRouter, Slot, SlotId};
use crate::router::cioq::mask::Mask;
use crate::router::cioq::routers::Router;
use crate::router::cioq::tables::Tables;
use crate::router::cioq::waiting::WaitingHeads;
use crate::system::System;
use hopsim_network::by_class::ByClass;
use hopsim_network::network::TERMINAL;
use hopsim_routing::prospect::Prospect;
use hopsim_routing::{Request, RouteState};

/// Most VCs of a port.
const VCS: usize = 16;

/// Which output VCs of a router can take the shortest packet in an allocator iteration.
pub struct Openings<const W: usize> {
    /// Output VCs with credit and a free output.
    pub open: Mask<Pair, W>,
    /// Output VCs with credit and a free output; with FlexVC every VC too that is above an open one of its port.
    pub reachable: Mask<Pair, W>,
}

/// A head with a choice.
#[derive(Clone)]
pub struct Chooser<const W: usize> {
    /// What the head may choose from.
    pub prospect: Prospect,
    /// The output VCs that the head could choose.
    pub candidates: Mask<Pair, W>,
}

/// The heads with a choice.
pub struct Choices<const W: usize> {
    /// Which heads with a choice sleep.
    pub waiting: WaitingHeads<W>,
    /// The heads with a choice, by slot id.
    choosers: By<SlotId, Chooser<W>>,
    /// What the packet at the head of a slot remembers if it is granted what it asks for now, by slot.
    pub(super) after: By<Slot, RouteState>,
    /// Pairs of all ports of a link class in a VC -- constant.
    pairs: ByClass<[Mask<Pair, W>; VCS]>,
    /// Pairs of all links in a VC or one above, by VC -- constant.
    vcs_from: [Mask<Pair, W>; VCS + 1],
    /// Whether answers change what heads remember -- constant.
    pub(super) remembers: bool,
}

impl<const W: usize> Choices<W> {
    /// Choices without any heads, of `routers` routers. No port is busy for longer than `ahead` cycles.
    pub fn new(system: &System, (routers, ahead): (usize, u32)) -> Self {
        let layout = &system.network.layout;
        let slots = if system.routing.redecides() { 64 * W } else { 0 };
        let (mut pairs, mut vcs_from) = (ByClass::splat([Mask::EMPTY; VCS]), [Mask::EMPTY; VCS + 1]);
        for pair in 0..layout.pairs() {
            let link = layout.pair_vc(pair).map(|(port, vc)| (layout.class[port], vc));
            if let Some((class, vc)) = link.filter(|&(class, _)| class != TERMINAL) {
                pairs[class as usize - 1][vc as usize].insert(Pair::at(pair));
                vcs_from[..=vc as usize].iter_mut().for_each(|pairs| pairs.insert(Pair::at(pair)));
            }
        }
        let nobody = Chooser { prospect: Prospect::ANEW, candidates: Mask::EMPTY };
        Self {
            waiting: WaitingHeads::new(system, (routers, ahead)),
            choosers: By::all(nobody, routers * slots),
            after: By::all(RouteState::NEW, slots),
            pairs,
            vcs_from,
            remembers: system.routing.remembers(),
        }
    }

    /// The head of a slot, which has a choice.
    #[inline]
    pub fn chooser(&self, number: RegionRouter, slot: Slot) -> &Chooser<W> {
        &self.choosers[number.slot::<W>(slot)]
    }

    /// What of the head of a slot with a choice is state: its prospect, and whether it sleeps.
    pub fn save(&self, (number, slot): (RegionRouter, Slot)) -> (Prospect, bool) {
        let Self { waiting, choosers, after: _, pairs: _, vcs_from: _, remembers: _ } = self;
        let Chooser { prospect, candidates: _ } = &choosers[number.slot::<W>(slot)];
        (*prospect, waiting.sleeps((number, slot)))
    }

    /// The pairs of all ports of a link class in a VC.
    #[inline]
    pub fn pairs(&self, class: u8, vc: u8) -> Mask<Pair, W> {
        self.pairs.wrapped(class as usize)[vc as usize % VCS]
    }

    /// The pairs of all links in VC `vc` or one above.
    #[inline]
    pub fn vcs_from(&self, vc: u8) -> Mask<Pair, W> {
        self.vcs_from[usize::from(vc).min(VCS)]
    }

    /// The head of a slot has a choice from now on.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub(super) fn wait(
        &mut self,
        tables: &Tables,
        (number, slot): (RegionRouter, Slot),
        prospect: &Prospect,
    ) {
        self.waiting.add((number, slot), prospect);
        let id = number.slot::<W>(slot);
        self.choosers[id] = Chooser { prospect: *prospect, candidates: self.candidates(tables, prospect) };
    }

    /// The output VCs that a head could choose.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    fn candidates(&self, tables: &Tables, prospect: &Prospect) -> Mask<Pair, W> {
        if prospect.draws_anew() {
            return Mask::ALL;
        }
        let mut candidates = Mask::EMPTY;
        prospect.each_productive(|port, vc| {
            if let Some(vc) = vc {
                candidates.insert(tables.output(Request { port, vc }));
            } else {
                let info = tables.port(port);
                candidates.insert_field(info.pair(0), info.pair_field);
            }
        });
        prospect.each_way(|way| {
            candidates.insert(tables.output(way.highest()));
        });
        prospect.each_misroute(|class, vc| candidates |= self.pairs(class, vc));
        candidates
    }

    /// The head of a slot, which had a choice, has left or is held.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn withdraw(&mut self, (number, slot): (RegionRouter, Slot), router: &mut Router<W>) {
        router.choosing.remove(slot);
        let Chooser { prospect, .. } = &self.choosers[number.slot::<W>(slot)];
        self.waiting.remove((number, slot), prospect);
    }

    /// The head of a slot has asked for nothing that could be granted.
    #[inline]
    pub(super) fn sleep(&mut self, (number, slot): (RegionRouter, Slot)) {
        let Chooser { prospect, .. } = &self.choosers[number.slot::<W>(slot)];
        self.waiting.sleep((number, slot), prospect);
    }

    /// Whether one of the output VCs that the head of a slot could choose is open.
    #[inline]
    pub(super) fn has_open_candidate(
        &self,
        (number, slot): (RegionRouter, Slot),
        openings: &Openings<W>,
    ) -> bool {
        !(openings.reachable & self.chooser(number, slot).candidates).is_empty()
    }
}
