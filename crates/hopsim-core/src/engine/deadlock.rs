//! The watchdog: finds packets that wait for each other in a cycle, so that none of them can ever move.
//!
//! A head with a fixed request that lacks credit waits for the buffer behind that output VC; if even with no
//! credit on its way the packets in that buffer leave no room, it waits for that buffer's head. Following
//! these waits from head to head either ends at a packet that can move, or comes back: a deadlock for ever.

use super::simulation::Simulation;
use crate::error::{DeadlockReport, WaitingHead};
use crate::network::{NONE, TERMINAL};
use crate::trace::Observer;

impl<const W: usize, O: Observer> Simulation<'_, W, O> {
    /// Cycles between two looks.
    pub(super) fn watchdog_period(&self) -> u32 {
        self.context.plan.experiment.measure.watchdog
    }

    /// The slot whose head must move before the head of `slot` can, `None` if that is not certain.
    fn waits_for(&self, slot: usize) -> Option<usize> {
        let (router, index) = self.context.tables.split_slot(slot as u32);
        let state = &self.routers.slots[slot];
        if state.queue.is_empty() || self.routers.hot[router].redeciding.contains(index) {
            return None;
        }
        let pair = state.request as usize;
        let port = self.context.tables.pair_port(pair);
        let class = self.context.tables.port(port).class;
        if class == TERMINAL {
            return None;
        }
        let length = u32::from(self.context.packets.get(state.queue.front).length);
        if self.routers.pairs[router << self.context.tables.pair_shift | pair].credits >= length {
            return None;
        }
        let vc = pair - self.context.tables.port(port).pair_base as usize;
        let behind = self.context.plan.network.link(router as u32, port).peer_slot as usize + vc;
        let queue = self.routers.slots[behind].queue;
        let held: u32 = queue.iter(&self.context.packets).map(|id| u32::from(self.context.packets.get(id).length)).sum();
        let buffer = self.context.plan.network.classes.links[class as usize - 1].buffer;
        (held + length > buffer).then_some(behind)
    }

    /// A cycle of waiting heads, if there is one.
    pub(super) fn find_deadlock(&self) -> Option<DeadlockReport> {
        // 0: not seen, otherwise the walk that saw it first.
        let mut seen = vec![0u32; self.routers.slots.len()];
        for start in 0..self.routers.slots.len() {
            let walk = start as u32 + 1;
            let mut at = start;
            while seen[at] == 0 {
                seen[at] = walk;
                match self.waits_for(at) {
                    Some(next) => at = next,
                    None => break,
                }
            }
            if seen[at] == walk && self.waits_for(at).is_some() {
                return Some(self.report(at));
            }
        }
        None
    }

    fn report(&self, start: usize) -> DeadlockReport {
        let mut waiting = Vec::new();
        let mut at = start;
        loop {
            waiting.push(self.describe(at));
            match self.waits_for(at) {
                Some(next) if next != start => at = next,
                _ => break,
            }
        }
        DeadlockReport { cycle: self.context.now, packets: self.context.packets.len(), waiting }
    }

    fn describe(&self, slot: usize) -> WaitingHead {
        let (router, index) = self.context.tables.split_slot(slot as u32);
        let state = &self.routers.slots[slot];
        debug_assert!(state.queue.front != NONE, "an empty slot waits for nothing");
        let packet = self.context.packets.get(state.queue.front);
        let (input, input_vc) = self.context.plan.network.layout.slot_vc(index).unwrap_or((0, 0));
        let (output, output_vc) = self.context.plan.network.layout.pair_vc(state.request as usize).unwrap_or((0, 0));
        WaitingHead {
            router: router as u32,
            input: self.context.plan.network.port_name(input),
            input_vc,
            output: self.context.plan.network.port_name(output),
            output_vc,
            source: packet.source,
            destination: packet.destination,
            generated: packet.generated,
        }
    }
}
