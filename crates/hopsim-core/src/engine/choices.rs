//! Heads with a choice of outputs (adaptive routing): asking those that are awake in every allocator iteration.

use super::allocator::{Scratch, Visit};
use super::context::Context;
use super::mask::Mask;
use super::mode::Mode;
use super::outlook::{Attempt, Outlook};
use super::routers::{Router, join};
use super::tables::Tables;
use super::waiting::Waiting;
use crate::network::{PortClassCode, TERMINAL};
use crate::plan::Plan;
use crate::routing::view::View;
use crate::routing::{Place, Prospect, RouteState, Stand, Way};

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
    after: Vec<RouteState>,
    /// Pairs of all ports of a link class in a VC -- constant.
    pairs: [[Mask<W>; VCS]; 2],
    /// Pairs of all links in a VC or one above, by VC -- constant.
    vcs_from: [Mask<W>; VCS + 1],
    /// Whether answers change what heads remember -- constant.
    remembers: bool,
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
        let nobody = Chooser { prospect: Prospect::minimal(Way::NONE, Place::Injection), hopes: Mask::EMPTY };
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
    pub fn chooser(&self, number: usize, slot: usize) -> &Chooser<W> {
        &self.choosers[join::<W>(number as u32, slot) as usize]
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
    fn wait(&mut self, tables: &Tables, (number, slot): (usize, usize), prospect: &Prospect) {
        self.waiting.add((number, slot), prospect);
        let id = join::<W>(number as u32, slot) as usize;
        self.choosers[id] = Chooser { prospect: *prospect, hopes: self.hopes(tables, prospect) };
    }

    /// The output VCs that a head could choose.
    fn hopes(&self, tables: &Tables, prospect: &Prospect) -> Mask<W> {
        if prospect.anywhere {
            return Mask::ALL;
        }
        let mut hope = Mask::EMPTY;
        prospect.each_nearer(|port| {
            let info = tables.port(port);
            hope.insert_field(info.pair_base as usize, info.pair_field);
        });
        for way in [prospect.minimal, prospect.detour] {
            hope.insert(tables.port(way.port as usize).pair_base as usize + way.vc as usize);
        }
        prospect.each_misroute(|class, vc| hope |= self.pairs(class as u8, vc as u8));
        hope
    }

    /// The head of a slot has left.
    #[inline]
    pub fn withdraw(&mut self, (number, slot): (usize, usize), router: &mut Router<W>) {
        router.choosing.remove(slot);
        let Chooser { prospect, .. } = &self.choosers[join::<W>(number as u32, slot) as usize];
        self.waiting.remove((number, slot), prospect);
    }

    /// The head of a slot has asked for nothing that could be granted.
    #[inline]
    fn sleep(&mut self, (number, slot): (usize, usize)) {
        let Chooser { prospect, .. } = &self.choosers[join::<W>(number as u32, slot) as usize];
        self.waiting.sleep((number, slot), prospect);
    }

    /// Whether one of the output VCs that the head of a slot could choose is open.
    #[inline]
    fn is_hopeful(&self, (number, slot): (usize, usize), openings: &Openings<W>) -> bool {
        !(openings.reachable & self.chooser(number, slot).hopes).is_empty()
    }
}

impl<const W: usize> Visit<'_, W> {
    /// A packet has become the head of a slot, where some heads have a choice.
    pub fn stand<M: Mode>(&mut self, cx: &mut Context<'_, W, M>, slot: usize, packet: u32) {
        let head = cx.head(self.number, slot, packet);
        let request = match &cx.stand(packet, &head) {
            Stand::Arrived => head.ejection(),
            Stand::Bound(hop) => cx.kernel.shared.base.way(&head, *hop).highest(),
            Stand::Open(prospect) => {
                self.router.choosing.insert(slot);
                return self.extras.choices.wait(&cx.kernel.shared.tables, (self.number, slot), prospect);
            }
        };
        self.router
            .ask(slot, cx.kernel.shared.tables.port(request.port).pair_base as usize + request.vc as usize);
    }

    /// The allocator's iterations where heads have a choice. Returns what [`Visit::allocate`] does.
    #[inline(never)]
    pub fn iterate_choices<M: Mode>(&mut self, cx: &mut Context<'_, W, M>, scratch: &mut Scratch<W>) -> u32 {
        cx.update_own_marks(self.number, self.router, &mut self.extras.choices.waiting);
        let (mut fixed, mut losers) = (Mask::EMPTY, Mask::EMPTY);
        for iteration in 0..cx.kernel.shared.rules.iterations {
            let waiting = &self.extras.choices.waiting;
            let awake = self.vacated(cx, waiting.awake(self.number, self.router.choosing));
            if iteration > 0 && awake.is_empty() && losers.is_empty() {
                return self.rest(cx);
            }
            let open = waiting.free_outputs(self.number, self.router.credit);
            let openings = Openings { open, reachable: cx.kernel.shared.reachable(open) };
            // What was not feasible cannot become so within the cycle: only losers may try another VC.
            fixed = if iteration == 0 {
                self.fixed(cx, &openings)
            } else {
                self.still_feasible(cx, fixed, losers)
            };
            let mut slots = fixed;
            awake.for_each(|slot| {
                if self.decide(cx, (iteration, &openings), slot) {
                    slots.insert(slot);
                }
            });
            if slots.is_empty() {
                // Nothing changes any more in this cycle but what is drawn.
                if cx.kernel.shared.draws {
                    continue;
                }
                return self.rest(cx);
            }
            // The usual case at low load needs no arbitration.
            losers = if slots.single().is_some_and(|slot| self.grant_single(cx, slot, iteration)) {
                Mask::EMPTY
            } else {
                let asked = self.nominate(cx, slots, iteration, scratch);
                self.grant_requests(cx, asked, iteration, scratch)
            };
        }
        0
    }

    /// What [`Visit::allocate`] returns when nothing can be granted any more until something happens.
    #[inline]
    fn rest<M: Mode>(&self, cx: &Context<'_, W, M>) -> u32 {
        let waiting = &self.extras.choices.waiting;
        let stale = cx.marks.as_deref().is_some_and(|marks| marks.is_stale(self.number));
        // What leaves at once has times of its own.
        let rests = waiting.may_sleep()
            && !cx.kernel.shared.parallel()
            && !(stale && waiting.has_outbound(self.number));
        if rests { u32::MAX } else { 0 }
    }

    /// Slots with a fixed request that could be granted now.
    #[inline]
    fn fixed<M: Mode>(&self, cx: &Context<'_, W, M>, openings: &Openings<W>) -> Mask<W> {
        let mut slots = Mask::EMPTY;
        (self.router.wanted & openings.reachable).for_each(|pair| slots |= self.router.wants[pair]);
        slots = self.vacated(cx, self.extras.choices.waiting.free_inputs(self.number, slots));
        if cx.kernel.shared.mixed() {
            slots.for_each(|slot| {
                if !self.fits(cx, slot) {
                    slots.remove(slot);
                }
            });
        }
        slots
    }

    /// Asks the head of a slot, if there is hope, and sends it to sleep if not. Whether it could be granted what it
    /// answers.
    #[inline]
    fn decide<M: Mode>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        (iteration, openings): (u32, &Openings<W>),
        slot: usize,
    ) -> bool {
        let choices = &self.extras.choices;
        let hope = choices.remembers || choices.is_hopeful((self.number, slot), openings);
        let granted = hope && self.ask(cx, (iteration, openings), slot);
        if !granted {
            self.extras.choices.sleep((self.number, slot));
        }
        granted
    }

    /// Asks the head of a slot. Whether it could be granted what it answers.
    #[inline]
    fn ask<M: Mode>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        (iteration, openings): (u32, &Openings<W>),
        slot: usize,
    ) -> bool {
        let id = self.router.slots[slot].queue.front;
        let mut route = cx.kernel.packets.get(id).route;
        let mut attempt =
            Attempt { cx, router: cx.kernel.span.router(self.number), packet: id, iteration, stream: None };
        let Chooser { prospect, .. } = self.extras.choices.chooser(self.number, slot);
        let outlook = Outlook { cx, visit: self, openings, slot };
        let decision = cx.kernel.shared.routing.choose(prospect, &mut route, &outlook, &mut attempt);
        let feasible = decision.request.filter(|&request| outlook.open(request));
        cx.kernel.worker.recorder.decisions += 1;
        if self.extras.choices.remembers {
            cx.kernel.packets.get_mut(id).route = route;
        }
        let Some(request) = feasible else { return false };
        self.router.slots[slot].request =
            cx.kernel.shared.tables.port(request.port).pair_base + u16::from(request.vc);
        self.extras.choices.after[slot] = decision.after;
        true
    }

    /// The head of `slot` has been granted `pair` of an output of class `to`, and will have left at `left`: what it
    /// remembers and what sensors see of it. Returns the phits to take off the minimal occupancy of the output VC it came
    /// by.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn commit<M: Mode>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        (slot, id): (usize, u32),
        (pair, to): (usize, PortClassCode),
        left: u32,
    ) -> u16 {
        let packet = cx.kernel.packets.get_mut(id);
        let before = packet.route;
        if self.router.choosing.contains(slot) {
            packet.route = self.extras.choices.after[slot];
        }
        if let Some(contention) = &mut cx.contention {
            contention.leaves(join::<W>(self.number as u32, slot), left);
        }
        if let Some(marks) = &mut cx.marks {
            marks.touch(self.number, (to, cx.kernel.shared.tables.pair(pair).vc as usize));
        }
        if cx.minimal.is_empty() {
            return 0;
        }
        let on_path = |route: RouteState| if route.misrouted() { 0 } else { packet.length };
        let (arrived, leaves) = (on_path(before), on_path(packet.route));
        if to != TERMINAL {
            cx.minimal[join::<W>(self.number as u32, pair) as usize] += u32::from(leaves);
        }
        arrived
    }
}
