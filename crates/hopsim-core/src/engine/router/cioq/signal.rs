//! The SAT signal on its way: which heads it holds and lets go.

use crate::engine::node::{Nodes, Run};
use crate::engine::router::cioq::context::Context;
use crate::engine::router::cioq::region::Cioq;
use crate::engine::router::cioq::visit::Visit;
use crate::network::{NONE, TERMINAL};

impl<const W: usize, M: Run> Cioq<'_, W, M> {
    /// Moves the signal if it is due and the node that has it passes it on.
    pub(super) fn pass_signal(&mut self) {
        let now = self.context.kernel.now;
        let Some(sat) = self.context.sat.as_mut().filter(|sat| sat.arrives <= now) else { return };
        let (node, cycles) = sat.rule.walk[sat.place];
        let number = node as usize;
        let idle = self.context.nodes.has_nothing(number);
        if !idle && sat.counts[number] < sat.rule.l {
            return;
        }
        sat.place = if sat.place + 1 == sat.rule.walk.len() { 0 } else { sat.place + 1 };
        sat.arrives = now + cycles + u32::from(!idle);
        sat.counts[number] = 0;
        let held = std::mem::take(&mut sat.held[number]);
        self.release_heads(number, held);
    }

    /// The heads of some injection VCs of a node take part in the allocation.
    fn release_heads(&mut self, node: usize, vcs: u16) {
        let per_router = self.context.kernel.constants.nodes_per_router as usize;
        let (number, port) = (node / per_router, node % per_router);
        let base = self.context.shared.tables.port(port).slot_base as usize;
        for vc in (0..16).filter(|vc| vcs >> vc & 1 == 1) {
            let packet = self.routers[number].slots[base + vc].queue.front;
            self.activate(number);
            let router = &mut self.routers[number];
            Visit { number, router, extras: &mut self.extras }.new_head(&mut self.context, base + vc, packet);
        }
    }
}

impl<const W: usize, M: Run> Context<'_, W, M> {
    /// Whether the head of a slot has to wait for the signal; then it is held.
    #[inline]
    pub fn holds(&mut self, router: usize, slot: usize) -> bool {
        let place = self.injection_place(router, slot);
        let Some((sat, (node, vc))) = self.sat.as_mut().zip(place) else { return false };
        sat.holds(node, vc)
    }

    /// Whether the head of a slot is held.
    pub fn is_held(&self, router: usize, slot: usize) -> bool {
        let place = self.injection_place(router, slot);
        self.sat.as_ref().zip(place).is_some_and(|(sat, (node, vc))| sat.held[node] >> vc & 1 == 1)
    }

    /// Node and injection VC of a slot, if it is one.
    #[inline]
    fn injection_place(&self, router: usize, slot: usize) -> Option<(usize, usize)> {
        let input = self.shared.tables.slot_port(slot);
        let (terminal, vc) = self.injection_vc(input, slot);
        let node = router * self.kernel.constants.nodes_per_router as usize + terminal;
        (self.shared.tables.port(input).class == TERMINAL).then_some((node, vc))
    }
}

impl<const W: usize> Visit<'_, W> {
    /// The node at terminal port `port` has injected a packet from VC `vc`: if it has to wait for the signal now, so do the
    /// heads of its other injection VCs.
    pub fn injected<M: Run>(&mut self, cx: &mut Context<'_, W, M>, port: usize, vc: usize) {
        let node = self.number * cx.kernel.constants.nodes_per_router as usize + port;
        let Some(sat) = &mut cx.sat else { return };
        if !sat.inject(node) {
            return;
        }
        let base = cx.shared.tables.port(port).slot_base as usize;
        let count = cx.shared.plan.network.classes.terminal.vcs as usize;
        for other in (0..count).filter(|&other| other != vc) {
            let slot = base + other;
            if self.router.slots[slot].queue.front == NONE || sat.held[node] >> other & 1 == 1 {
                continue;
            }
            sat.held[node] |= 1 << other;
            if self.router.choosing.contains(slot) {
                self.extras.choices.withdraw((self.number, slot), self.router);
            } else {
                self.router.withdraw(slot, self.router.slots[slot].request as usize);
            }
        }
    }
}
