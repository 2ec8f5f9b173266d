//! How nodes that draw packets get into a snapshot, and out of it.

use crate::kernel::Kernel;
use crate::kernel::ids::{Id as _, RegionNode};
use crate::mode::Mode;
use crate::node::synthetic::replies::Consumed;
use crate::node::synthetic::saved::{NodeState, SavedSynthetic};
use crate::node::synthetic::source::Changes;
use crate::node::synthetic::{Generator, Synthetic};

impl Synthetic {
    /// Adds the nodes of the region to the nodes of a network.
    pub fn save_in<M: Mode>(&self, kernel: &Kernel<'_, M>, saved: &mut SavedSynthetic) {
        // Bookings follow from the nodes, and the traffic in force from the cycle.
        let Self { interfaces: _, generators, sources: _, changes: _, buckets: _, consumed, bursts } = self;
        let mut nodes: Vec<NodeState> = generators.ids().map(|node| self.save_node(node)).collect();
        // In the order in which they left: those of one node all left in its region.
        for (at, consumed) in consumed.pending(kernel.now) {
            let &Consumed { node, requester, requested } = consumed;
            nodes[node.index()].consumed.push((at, requester, requested));
        }
        saved.nodes.append(&mut nodes);
        // With bursts the network is one region, and without them all have the same.
        saved.bursts = bursts.clone();
    }

    fn save_node(&self, node: RegionNode) -> NodeState {
        let Generator { process, pattern, serial, next_at, next_node: _, length: _, job: _, lags } =
            &self.generators[node];
        NodeState {
            interface: self.interfaces.save(node),
            process: process.clone(),
            pattern: pattern.clone(),
            serial: *serial,
            next_at: *next_at,
            lags: *lags,
            source: self.sources.get(node).cloned(),
            consumed: Vec::new(),
        }
    }

    /// Goes on, without a packet so far, with the nodes of the region among those of a network.
    pub fn load_from<M: Mode>(&mut self, kernel: &Kernel<'_, M>, saved: &SavedSynthetic) {
        let SavedSynthetic { nodes, bursts } = saved;
        let (now, first) = (kernel.now, kernel.span.first_node as usize);
        for (node, state) in self.generators.ids().zip(&nodes[first..first + kernel.span.nodes]) {
            self.load_node(node, state, now);
        }
        self.bursts = bursts.clone();
        self.changes = Changes::before(kernel.constants.system, now);
        self.rebook(now);
    }

    fn load_node(&mut self, node: RegionNode, state: &NodeState, now: u32) {
        let NodeState { interface, process, pattern, serial, next_at, lags, source, consumed } = state;
        self.interfaces.load(node, interface, now);
        let own = &mut self.generators[node];
        (own.process, own.pattern) = (process.clone(), pattern.clone());
        (own.serial, own.next_at, own.lags) = (*serial, *next_at, *lags);
        if let (Some(own), Some(source)) = (self.sources.get_mut(node), source) {
            *own = source.clone();
        }
        for &(at, requester, requested) in consumed {
            self.consumed.push(at, Consumed { node, requester, requested });
        }
    }
}
