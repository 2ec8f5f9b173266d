//! Saving the nodes that draw packets to a snapshot, and loading them from one. The types of what is saved
//! are in `saved.rs`.
//!
//! `mod.rs` calls both functions for the trait `Nodes`, as `node/program/` does for its nodes that draw
//! packets: for each region in turn, between two cycles (see `state.rs` of the crate). Saving adds to one
//! list for the whole network and changes nothing in the simulation; loading picks the nodes of its region
//! from that list, and changes them only.

use crate::kernel::Kernel;
use crate::kernel::ids::{Id as _, RegionNode};
use crate::mode::Mode;
use crate::node::synthetic::replies::Consumed;
use crate::node::synthetic::saved::{NodeState, SavedConsumption, SavedSynthetic};
use crate::node::synthetic::source::Changes;
use crate::node::synthetic::{Generator, Synthetic};

impl Synthetic {
    /// Adds the state of the nodes of the region to `saved`.
    pub fn save_in<M: Mode>(&self, kernel: &Kernel<'_, M>, saved: &mut SavedSynthetic) {
        // Interfaces, generators and sources are saved node by node. Loading makes the bookings anew from the
        // generators, and the traffic in force from the cycle.
        let Self { interfaces: _, generators, sources: _, changes: _, buckets: _, consumed, bursts } = self;
        let mut nodes: Vec<NodeState> =
            generators.ids().map(|node| self.save_node(node, kernel.now)).collect();
        // The order of those of one node is that in which they left their router, whatever the cut: a node is
        // in the region of its router.
        for (at, consumed) in consumed.pending(kernel.now) {
            let &Consumed { node, requester, requested } = consumed;
            nodes[node.index()].consumed.push(SavedConsumption { at, requester, requested });
        }
        saved.nodes.append(&mut nodes);
        // With bursts the network is one region, and without them the bursts of all regions are equally
        // empty.
        saved.bursts = bursts.clone();
    }

    fn save_node(&self, node: RegionNode, now: u32) -> NodeState {
        let Generator {
            process,
            pattern,
            serial,
            next_at,
            next_node: _,
            length: _,
            job: _,
            draws_length: _,
            lags,
        } = &self.generators[node];
        NodeState {
            interface: self.interfaces.save(node, now),
            process: process.clone(),
            pattern: pattern.clone(),
            serial: *serial,
            next_at: *next_at,
            lags: *lags,
            source: self.sources.get(node).cloned(),
            consumed: Vec::new(),
        }
    }

    /// Gives the nodes of the region, which have no packet so far, the state that they have in `saved`.
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
        for &SavedConsumption { at, requester, requested } in consumed {
            self.consumed.push(at, Consumed { node, requester, requested });
        }
    }
}
