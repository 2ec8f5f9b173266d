//! The watchdog: finds packets that wait for each other in a cycle, so that none of them can ever move.
//!
//! A head with a fixed request that lacks credit waits for the buffer behind that output VC; if even with no
//! credit on its way the packets in that buffer leave no room, it waits for that buffer's head. Following
//! these waits from head to head either ends at a packet that can move, or comes back: a deadlock for ever.

use super::mode::Mode;
use super::routers::split;
use super::simulation::Simulation;
use crate::error::{DeadlockReport, WaitingHead};
use crate::network::TERMINAL;

impl<const W: usize, M: Mode> Simulation<'_, W, M> {
    /// Cycles between two looks.
    pub(super) fn watchdog_period(&self) -> u32 {
        self.context.plan.experiment.measure.watchdog
    }

    /// The slot whose head must move before the head of `slot` can, `None` if that is not certain. Global ids.
    fn waits_for(&self, slot: u32) -> Option<u32> {
        let (number, slot) = split::<W>(slot);
        let router = &self.routers[number];
        let head = router.slots[slot].queue;
        if head.is_empty() || router.redeciding.contains(slot) {
            return None;
        }
        let pair = router.slots[slot].request as usize;
        let port = self.context.tables.pair_port(pair);
        let info = self.context.tables.port(port);
        let length = u32::from(self.context.packets.get(head.front).length);
        if info.class == TERMINAL || router.pairs[pair].credits >= length {
            return None;
        }
        let behind = router.ports[port].to_slot.wrapping_add(pair as u32);
        let (peer, index) = split::<W>(behind);
        let queue = self.routers[peer].slots[index].queue;
        let packets = &self.context.packets;
        let occupied: u32 = queue.iter(packets).map(|id| u32::from(packets.get(id).length)).sum();
        let buffer = self.context.plan.network.classes.links[info.class as usize - 1].buffer;
        (occupied + length > buffer).then_some(behind)
    }

    /// A cycle of waiting heads, if there is one.
    pub(super) fn find_deadlock(&self) -> Option<DeadlockReport> {
        // 0: not seen, otherwise the walk that saw it first.
        let mut seen = vec![0u32; self.routers.len() * 64 * W];
        for start in 0..seen.len() as u32 {
            let walk = start + 1;
            let mut at = start;
            while seen[at as usize] == 0 {
                seen[at as usize] = walk;
                match self.waits_for(at) {
                    Some(next) => at = next,
                    None => break,
                }
            }
            if seen[at as usize] == walk && self.waits_for(at).is_some() {
                return Some(self.report(at));
            }
        }
        None
    }

    fn report(&self, start: u32) -> DeadlockReport {
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

    fn describe(&self, slot: u32) -> WaitingHead {
        let (number, slot) = split::<W>(slot);
        let state = &self.routers[number].slots[slot];
        let packet = self.context.packets.get(state.queue.front);
        let network = &self.context.plan.network;
        let (input, input_vc) = network.layout.slot_vc(slot).unwrap_or((0, 0));
        let (output, output_vc) = network.layout.pair_vc(state.request as usize).unwrap_or((0, 0));
        WaitingHead {
            router: number as u32,
            input: network.port_name(input),
            input_vc,
            output: network.port_name(output),
            output_vc,
            source: packet.source,
            destination: packet.destination(self.context.rules.nodes_per_router),
            generated: packet.generated,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::{Control, run};
    use crate::error::RunError;
    use crate::plan::Plan;
    use crate::routing::minimal::Minimal;
    use crate::routing::sequence::VcSequence;
    use crate::routing::valiant::{Config, Valiant};
    use crate::routing::{Routing, RoutingConfig};
    use serde_json::json;
    use std::sync::Arc;

    fn overloaded() -> Plan {
        let document = json!({
            "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2 } },
            "load": 1.0,
            "routing": { "valiant": {} },
            "router": { "cioq": { "buffers": { "local": 8, "global": 8, "injection": 8, "output": 8 } } },
            "measure": { "warmup": 0, "cycles": 20_000, "watchdog": 500 }
        });
        Plan::new(&serde_json::from_value(document).unwrap()).unwrap()
    }

    #[test]
    fn without_vc_order_the_cycle_of_waiting_packets_is_reported() {
        let mut plan = overloaded();
        assert!(matches!(plan.experiment.routing, RoutingConfig::Valiant(_)));
        let base = Minimal::new(Arc::clone(&plan.topology), VcSequence::unordered(&plan.network.classes));
        plan.routing = Routing::Valiant(Valiant::new(&Config::default(), base));
        let Err(RunError::Deadlock(report)) = run(&plan, &Control::default()) else {
            panic!("eight-phit buffers and one VC must deadlock under Valiant at full load")
        };
        assert!(report.waiting.len() >= 2 && report.packets >= report.waiting.len());
        assert!(report.waiting.iter().all(|head| head.output_vc == 0));
        assert!(report.to_string().contains("wait for each other"), "{report}");
    }

    #[test]
    fn with_vc_order_the_same_overload_never_deadlocks() {
        assert!(run(&overloaded(), &Control::default()).is_ok());
    }
}
