//! One simulation: the cycle, and what becomes due in it.
//!
//! A cycle is: credits arrive, heads arrive, routers with a head allocate, nodes generate and inject. A grant
//! computes everything that follows from it at once (see `transfer`), so nothing else happens in between.
//! Whatever crosses from one router to another takes at least one cycle, so the order of routers within a
//! cycle does not matter.

use super::allocator::Scratch;
use super::context::{Arrival, Context, Credit};
use super::routers::Routers;
use crate::plan::Plan;
use crate::trace::Observer;

/// A simulation of a plan.
pub struct Simulation<'p, const W: usize, O> {
    pub(super) context: Context<'p, O>,
    pub(super) routers: Routers<'p, W>,
    pub(super) scratch: Scratch<W>,
}

impl<'p, const W: usize, O: Observer> Simulation<'p, W, O> {
    /// An empty network at cycle 0.
    pub fn new(plan: &'p Plan, observer: O) -> Self {
        let context = Context::new(plan, observer);
        let routers = Routers::new(plan, &context.tables);
        Self { scratch: Scratch::new(context.tables.port_count), routers, context }
    }

    /// The present cycle: the next one to be simulated.
    pub fn now(&self) -> u32 {
        self.context.now
    }

    /// Simulates one cycle.
    pub fn cycle(&mut self) {
        self.context.recorder.start_cycle(self.context.now);
        self.absorb_credits();
        self.absorb_heads();
        self.allocate();
        self.context.run_nodes();
        self.context.now += 1;
    }

    fn absorb_credits(&mut self) {
        let (now, shortest) = (self.context.now, self.context.rules.shortest);
        let due = self.context.credits.take(now);
        for &Credit { pair, phits } in &due {
            let state = &mut self.routers.pairs[pair as usize];
            state.credits += phits;
            if state.credits >= shortest {
                let (router, index) = self.context.tables.split_pair(pair);
                self.routers.hot[router].credit.insert(index);
            }
        }
        self.context.credits.put_back(now, due);
    }

    fn absorb_heads(&mut self) {
        let now = self.context.now;
        let due = self.context.arrivals.take(now);
        for &Arrival { slot, packet } in &due {
            let queue = &mut self.routers.slots[slot as usize].queue;
            let head = queue.is_empty();
            queue.push(&mut self.context.packets, packet);
            if head {
                self.new_head(slot, packet);
            }
        }
        self.context.arrivals.put_back(now, due);
    }

    /// The packet is the first in an empty slot.
    #[inline]
    fn new_head(&mut self, slot: u32, packet: u32) {
        let (router, index) = self.context.tables.split_slot(slot);
        self.routers.activate(router);
        match self.context.fixed_request(router, index, packet) {
            None => self.routers.hot[router].redeciding.insert(index),
            Some(pair) => {
                self.routers.slots[slot as usize].request = pair as u16;
                self.routers.pairs[router << self.context.tables.pair_shift | pair].wants.insert(index);
                self.routers.hot[router].wanted.insert(pair);
            }
        }
    }

    /// Visits every router that holds a head.
    fn allocate(&mut self) {
        for word in 0..self.routers.active.len() {
            let mut bits = self.routers.active[word];
            while bits != 0 {
                let bit = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let mut site = self.routers.site(word * 64 + bit);
                site.allocate(&mut self.context, &mut self.scratch);
                if site.hot.wanted.is_empty() && site.hot.redeciding.is_empty() {
                    self.routers.active[word] &= !(1 << bit);
                }
            }
        }
    }
}
