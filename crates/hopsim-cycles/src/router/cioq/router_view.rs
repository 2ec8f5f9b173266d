//! What a head sees of its router when it decides: the engine's [`View`].

use crate::kernel::ids::{Id as _, Pair, Slot};
use crate::node::Run;
use crate::router::cioq::choices::Openings;
use crate::router::cioq::context::Context;
use crate::router::cioq::mask::Mask;
use crate::router::cioq::router_ref::RouterRef;
use crate::router::cioq::shared::CAPACITIES;
use hopsim_network::network::TERMINAL;
use hopsim_routing::prospect::Productive;
use hopsim_routing::view::View;
use hopsim_routing::{Head, Request};
use std::ops::Range;

/// The state of one router in one allocator iteration.
pub struct RouterView<'a, 'p, const W: usize, M: Run> {
    /// What the region has besides its routers.
    pub cx: &'a Context<'p, W, M>,
    /// The router.
    pub router: RouterRef<'a, W>,
    /// Which outputs of the router are open.
    pub openings: &'a Openings<W>,
    /// Slot of the head.
    pub slot: Slot,
}

impl<const W: usize, M: Run> RouterView<'_, '_, W, M> {
    #[inline]
    fn pair(&self, request: Request) -> Pair {
        self.cx.shared.tables.output(request)
    }

    /// The output port and VC of a pair.
    #[inline]
    fn request(&self, pair: Pair) -> Request {
        let port = self.cx.shared.tables.pair_port(pair);
        Request { port, vc: pair.above(self.cx.shared.tables.port(port).pair(0)) as u8 }
    }
}

impl<const W: usize, M: Run> RouterView<'_, '_, W, M> {
    /// Whether the head could be granted `pair`, an output VC of a port that is free or an entry.
    pub fn takes(&self, pair: Pair) -> bool {
        self.open(self.request(pair))
    }

    /// Local buffer restriction: whether the head would enter the network over an adaptive VC without leaving room there.
    fn is_restricted(&self, request: Request, pair: Pair) -> bool {
        let input = self.cx.shared.tables.port(self.cx.shared.tables.slot_port(self.slot));
        let output = self.cx.shared.tables.port(request.port);
        let adaptive =
            output.class != TERMINAL && (1..self.cx.shared.base.vcs().used(0)).contains(&request.vc);
        let room = self.cx.shared.space(self.length()) + self.cx.shared.lbr();
        input.class == TERMINAL && adaptive && self.router.state.credits[pair] < room
    }
}

impl<const W: usize, M: Run> View for RouterView<'_, '_, W, M> {
    #[inline]
    fn open(&self, request: Request) -> bool {
        let pair = self.pair(request);
        self.openings.open.contains(pair)
            && (self.cx.shared.lbr() == 0 || !self.is_restricted(request, pair))
            && (!self.cx.shared.mixed() || self.router.has_room(self.cx, pair, self.length()))
    }

    #[inline]
    fn credits(&self, request: Request) -> u32 {
        self.router.state.credits[self.pair(request)]
    }

    #[expect(clippy::inline_always, reason = "per decision; measured")]
    #[inline(always)]
    fn occupancy(&self, request: Request) -> u32 {
        let pair = self.cx.shared.output_vc(self.pair(request));
        self.cx.occupancy(self.router.number, pair, self.router.state.credits[pair])
    }

    fn minimal_occupancy(&self, request: Request) -> u32 {
        self.cx.minimal[self.router.number.pair::<W>(self.pair(request))]
    }

    #[inline]
    fn capacity(&self, class: u8) -> u32 {
        self.cx.shared.capacities[(class as usize + 1) % CAPACITIES]
    }

    #[inline]
    fn contention(&self, port: usize) -> u32 {
        self.cx.contention.as_ref().map_or(0, |c| c.counter(self.router.number, port))
    }

    fn filtered_contention(&self, port: usize) -> f64 {
        self.cx.contention.as_ref().map_or(0.0, |c| c.filtered(self.router.number, port, self.cx.kernel.now))
    }

    fn combined_contention(&self, group: u32) -> u32 {
        let groups = self.cx.contention.as_ref().and_then(|c| c.groups.as_ref());
        groups.map_or(0, |g| g.combined(self.router.number, group))
    }

    #[inline]
    fn saturated(&self, position: Option<u32>, request: Request) -> bool {
        let output = (request.port, request.vc);
        self.cx.marks.as_ref().is_some_and(|m| m.saturated(self.router.number, position, output))
    }

    fn outstanding(&self, router: u32, port: usize) -> u32 {
        self.cx.outstanding.as_ref().map_or(0, |all| all.behind(router, port))
    }

    #[inline]
    fn length(&self) -> u32 {
        u32::from(self.cx.kernel.packets.get(self.router.state.slots[self.slot].queue.front).length)
    }

    fn head(&self) -> Head {
        let packet = self.cx.kernel.packets.get(self.router.state.slots[self.slot].queue.front);
        packet.head::<M>(&self.cx.shared.tables, (self.cx.kernel.span.router(self.router.number), self.slot))
    }

    #[inline]
    fn flexible(&self) -> bool {
        self.cx.shared.flexible()
    }

    #[inline]
    fn roomiest(
        &self,
        _productive: &Productive,
        vcs: Range<u8>,
        draw: impl FnOnce(u32) -> u32,
    ) -> Option<Request> {
        let choices = &self.router.extras.choices;
        // The output VCs of productive ports are all its candidates.
        let candidates = self.openings.open & choices.chooser(self.router.number, self.slot).candidates;
        let mut pairs = (candidates & choices.vcs_from(vcs.start)).without(choices.vcs_from(vcs.end));
        if self.cx.shared.lbr() > 0 || self.cx.shared.mixed() {
            pairs.for_each(|pair| {
                if !self.open(self.request(pair)) {
                    pairs.remove(pair);
                }
            });
        }
        let (mut most, mut roomiest) = (0, Mask::<Pair, W>::EMPTY);
        pairs.for_each(|pair| {
            let credits = self.router.state.credits[pair];
            if credits > most {
                (most, roomiest) = (credits, Mask::EMPTY);
            }
            if credits == most {
                roomiest.insert(pair);
            }
        });
        let pair = match roomiest.single() {
            Some(pair) => Some(pair),
            None if roomiest.is_empty() => None,
            None => roomiest.iter().nth(draw(roomiest.len() as u32) as usize),
        };
        pair.map(|pair| self.request(pair))
    }

    #[inline]
    fn each_candidate(&self, _ports: Range<usize>, class: u8, vc: u8, mut visit: impl FnMut(usize)) {
        let pairs = self.openings.reachable & self.router.extras.choices.pairs(class, vc);
        pairs.for_each(|pair| visit(self.cx.shared.tables.pair_port(pair)));
    }

    #[inline]
    fn candidates_are_open(&self) -> bool {
        !self.cx.shared.flexible() && self.cx.shared.lbr() == 0 && !self.cx.shared.mixed()
    }
}
