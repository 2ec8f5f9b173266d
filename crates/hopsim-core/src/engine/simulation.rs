//! One simulation: the cycle, and what becomes due in it.
//!
//! A cycle is: credits arrive, heads arrive, routers with a head allocate, nodes generate and inject. A grant
//! computes everything that follows from it at once (see `transfer`), so nothing else happens in between.
//! Whatever crosses from one router to another takes at least one cycle, so the order of routers within a
//! cycle does not matter.

use super::allocator::{Scratch, Visit};
use super::context::{Arrival, Context, Credit};
use super::mode::Mode;
use super::routers::{Extras, Router, routers, split};
use crate::plan::Plan;

/// A simulation of a plan.
pub struct Simulation<'p, const W: usize, M: Mode> {
    pub(super) context: Context<'p, W, M>,
    pub(super) routers: Vec<Router<W>>,
    pub(super) extras: Extras,
    /// Routers that hold a head, one bit each.
    active: Vec<u64>,
    scratch: Scratch<W>,
}

impl<'p, const W: usize, M: Mode> Simulation<'p, W, M> {
    /// An empty network at cycle 0.
    pub fn new(plan: &'p Plan, mode: M) -> Self {
        Self {
            context: Context::new(plan, mode),
            routers: super::replies::with_reply_space(plan, routers(plan)),
            extras: Extras::new::<W>(plan),
            active: vec![0; plan.network.routers.div_ceil(64) as usize],
            scratch: Scratch::default(),
        }
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
            let (router, pair) = split::<W>(pair);
            let router = &mut self.routers[router];
            router.pairs[pair].credits += phits;
            if router.pairs[pair].credits >= shortest {
                router.credit.insert(pair);
            }
        }
        self.context.credits.put_back(now, due);
    }

    fn absorb_heads(&mut self) {
        let now = self.context.now;
        let due = self.context.arrivals.take(now);
        for &Arrival { slot, packet } in &due {
            let (number, slot) = split::<W>(slot);
            let router = &mut self.routers[number];
            let queue = &mut router.slots[slot].queue;
            let head = queue.is_empty();
            queue.push(&mut self.context.packets, packet);
            if head {
                router.ask(slot, self.context.fixed_request(number, slot, packet));
                self.active[number / 64] |= 1 << (number % 64);
            }
        }
        self.context.arrivals.put_back(now, due);
    }

    /// Visits every router that holds a head.
    fn allocate(&mut self) {
        for word in 0..self.active.len() {
            let mut bits = self.active[word];
            while bits != 0 {
                let bit = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let number = word * 64 + bit;
                let router = &mut self.routers[number];
                Visit { number, router, extras: &mut self.extras }
                    .allocate(&mut self.context, &mut self.scratch);
                if self.routers[number].is_idle() {
                    self.active[word] &= !(1 << bit);
                }
            }
        }
    }
}
