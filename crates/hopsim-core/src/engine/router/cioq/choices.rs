//! Heads with a choice of outputs (adaptive routing), and what they may choose. See `deciding` for how they are asked.

use crate::engine::kernel::ids::RegionRouter;
use crate::engine::router::cioq::ids::join;
use crate::engine::router::cioq::mask::Mask;
use crate::engine::router::cioq::routers::Router;
use crate::engine::router::cioq::tables::Tables;
use crate::engine::router::cioq::waiting::Waiting;
use crate::network::TERMINAL;
use crate::plan::Plan;
use crate::routing::RouteState;
use crate::routing::prospect::Prospect;

/// Most VCs of a port.
const VCS: usize = 16;

/// Which output VCs of a router can take the shortest packet in an allocator iteration.
pub struct Openings<const W: usize> {
    /// Output VCs with credit and a free output.
    pub open: Mask<W>,
    /// The same; with FlexVC every VC too that is above an open one of its port.
    pub reachable: Mask<W>,
}

/// A head with a choice.
#[derive(Clone)]
pub struct Chooser<const W: usize> {
    /// What it may choose from.
    pub prospect: Prospect,
    /// The output VCs that it could choose.
    pub hopes: Mask<W>,
}

/// The heads with a choice.
pub struct Choices<const W: usize> {
    /// Which of them sleep.
    pub waiting: Waiting<W>,
    /// By slot id.
    choosers: Vec<Chooser<W>>,
    /// By slot: what the packet remembers if it is granted what it asks for now.
    pub(super) after: Vec<RouteState>,
    /// Pairs of all ports of a link class in a VC -- constant.
    pairs: [[Mask<W>; VCS]; 2],
    /// Pairs of all links in a VC or one above, by VC -- constant.
    vcs_from: [Mask<W>; VCS + 1],
    /// Whether answers change what heads remember -- constant.
    pub(super) remembers: bool,
}

impl<const W: usize> Choices<W> {
    /// No heads of `routers` routers. No port is busy for longer than `ahead` cycles.
    pub fn new(plan: &Plan, (routers, ahead): (usize, u32)) -> Self {
        let layout = &plan.network.layout;
        let slots = if plan.routing.redecides() { 64 * W } else { 0 };
        let (mut pairs, mut vcs_from) = ([[Mask::EMPTY; VCS]; 2], [Mask::EMPTY; VCS + 1]);
        for pair in 0..layout.pairs() {
            let link = layout.pair_vc(pair).map(|(port, vc)| (layout.class[port], vc));
            if let Some((class, vc)) = link.filter(|&(class, _)| class != TERMINAL) {
                pairs[class as usize - 1][vc as usize].insert(pair);
                vcs_from[..=vc as usize].iter_mut().for_each(|pairs| pairs.insert(pair));
            }
        }
        let nobody = Chooser { prospect: Prospect::ANEW, hopes: Mask::EMPTY };
        Self {
            waiting: Waiting::new(plan, (routers, ahead)),
            choosers: vec![nobody; routers * slots],
            after: vec![RouteState::NEW; slots],
            pairs,
            vcs_from,
            remembers: plan.routing.remembers(),
        }
    }

    /// The head of a slot.
    #[inline]
    pub fn chooser(&self, number: RegionRouter, slot: usize) -> &Chooser<W> {
        &self.choosers[join::<W>(number, slot) as usize]
    }

    /// The pairs of all ports of a link class in a VC.
    #[inline]
    pub fn pairs(&self, class: u8, vc: u8) -> Mask<W> {
        self.pairs[class as usize % 2][vc as usize % VCS]
    }

    /// The pairs of all links in VC `vc` or one above.
    #[inline]
    pub fn vcs_from(&self, vc: u8) -> Mask<W> {
        self.vcs_from[usize::from(vc).min(VCS)]
    }

    /// The head of a slot has a choice.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub(super) fn wait(
        &mut self,
        tables: &Tables,
        (number, slot): (RegionRouter, usize),
        prospect: &Prospect,
    ) {
        self.waiting.add((number, slot), prospect);
        let id = join::<W>(number, slot) as usize;
        self.choosers[id] = Chooser { prospect: *prospect, hopes: self.hopes(tables, prospect) };
    }

    /// The output VCs that a head could choose.
    fn hopes(&self, tables: &Tables, prospect: &Prospect) -> Mask<W> {
        if prospect.draws_anew() {
            return Mask::ALL;
        }
        let mut hope = Mask::EMPTY;
        prospect.each_productive(|port| {
            let info = tables.port(port);
            hope.insert_field(info.pair_base as usize, info.pair_field);
        });
        prospect.each_way(|way| {
            hope.insert(tables.port(way.port as usize).pair_base as usize + way.vc as usize);
        });
        prospect.each_misroute(|class, vc| hope |= self.pairs(class, vc));
        hope
    }

    /// The head of a slot has left.
    #[inline]
    pub fn withdraw(&mut self, (number, slot): (RegionRouter, usize), router: &mut Router<W>) {
        router.choosing.remove(slot);
        let Chooser { prospect, .. } = &self.choosers[join::<W>(number, slot) as usize];
        self.waiting.remove((number, slot), prospect);
    }

    /// The head of a slot has asked for nothing that could be granted.
    #[inline]
    pub(super) fn sleep(&mut self, (number, slot): (RegionRouter, usize)) {
        let Chooser { prospect, .. } = &self.choosers[join::<W>(number, slot) as usize];
        self.waiting.sleep((number, slot), prospect);
    }

    /// Whether one of the output VCs that the head of a slot could choose is open.
    #[inline]
    pub(super) fn is_hopeful(&self, (number, slot): (RegionRouter, usize), openings: &Openings<W>) -> bool {
        !(openings.reachable & self.chooser(number, slot).hopes).is_empty()
    }
}
