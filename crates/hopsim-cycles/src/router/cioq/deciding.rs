//! How heads with a choice of outputs that are awake are asked, in every allocator iteration.

use crate::kernel::ids::Slot;
use crate::node::Run;
use crate::router::cioq::choices::{Chooser, Openings};
use crate::router::cioq::context::Context;
use crate::router::cioq::draws::Attempt;
use crate::router::cioq::mask::Mask;
use crate::router::cioq::router_mut::RouterMut;
use crate::router::cioq::router_view::RouterView;
use hopsim_routing::view::View;

impl<const W: usize> RouterMut<'_, W> {
    /// What [`SwitchAllocator::allocate`] returns when nothing can be granted any more until something happens.
    #[inline]
    pub fn rest<M: Run>(&self, cx: &Context<'_, W, M>) -> u32 {
        let waiting = &self.extras.choices.waiting;
        let stale = cx.marks.as_deref().is_some_and(|marks| marks.is_stale(self.number));
        // What leaves at once has times of its own.
        let rests =
            waiting.may_sleep() && !cx.shared.parallel() && !(stale && waiting.has_outbound(self.number));
        if rests { u32::MAX } else { 0 }
    }

    /// Slots with a fixed request that could be granted now.
    #[inline]
    pub fn fixed<M: Run>(&self, cx: &Context<'_, W, M>, openings: &Openings<W>) -> Mask<Slot, W> {
        let mut slots = Mask::EMPTY;
        (self.state.wanted & openings.reachable).for_each(|pair| slots |= self.state.wants[pair]);
        slots = self.read().vacated(cx, self.extras.choices.waiting.free_inputs(self.number, slots));
        if cx.shared.mixed() {
            slots.for_each(|slot| {
                if !self.read().fits(cx, slot) {
                    slots.remove(slot);
                }
            });
        }
        slots
    }

    /// Asks the head of a slot, if that can come to anything, and sends it to sleep if not. Returns whether the head could be
    /// granted what it answers.
    #[inline]
    pub fn decide<M: Run>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        (iteration, openings): (u32, &Openings<W>),
        slot: Slot,
    ) -> bool {
        let choices = &self.extras.choices;
        let worthwhile = choices.remembers || choices.has_open_candidate((self.number, slot), openings);
        let granted = worthwhile && self.ask(cx, (iteration, openings), slot);
        if !granted {
            self.extras.choices.sleep((self.number, slot));
        }
        granted
    }

    /// Asks the head of a slot. Returns whether the head could be granted what it answers.
    #[inline]
    fn ask<M: Run>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        (iteration, openings): (u32, &Openings<W>),
        slot: Slot,
    ) -> bool {
        let id = self.state.slots[slot].queue.front;
        let mut route = cx.kernel.packets.get(id).route;
        let mut attempt =
            Attempt { cx, router: cx.kernel.span.router(self.number), packet: id, iteration, stream: None };
        let Chooser { prospect, .. } = self.extras.choices.chooser(self.number, slot);
        let view = RouterView { cx, router: self.read(), openings, slot };
        let decision = cx.shared.routing.choose(prospect, &mut route, &view, &mut attempt);
        let feasible = decision.request.filter(|&request| view.open(request));
        cx.kernel.worker.decisions += 1;
        if self.extras.choices.remembers {
            cx.kernel.packets.get_mut(id).route = route;
        }
        let Some(request) = feasible else { return false };
        self.state.slots[slot].set_request(cx.shared.tables.output(request));
        self.extras.choices.after[slot] = decision.after;
        true
    }
}
