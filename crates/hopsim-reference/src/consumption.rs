//! Parallel consumption: nodes that take a packet from every input VC of their router at once.

use crate::parts::Routed;
use crate::route::Place;
use crate::simulator::Simulator;
use hopsim_core::config::router::Consumption;
use hopsim_core::routing::Request;

impl Simulator<'_> {
    /// Whether nodes take packets from all VCs at once, past allocator and crossbar.
    pub(crate) fn takes_all(&self) -> bool {
        self.plan.router.consumption == Consumption::Parallel
    }

    /// Heads that have arrived at their router set out for their nodes, one VC after the other.
    pub(crate) fn consume_arrived(&mut self, router: usize) {
        if !self.takes_all() {
            return;
        }
        for input in 0..self.routers[router].inputs.len() {
            for vc in 0..self.routers[router].inputs[input].vcs.len() {
                // What leaves one injection VC may be the last that its node may send.
                if let Some(to) = self.arrived((router, input, vc))
                    && !self.awaits_signal(router, input)
                {
                    let passage = self.set_out((router, input, vc), to);
                    self.routers[router].inputs[input].consumptions.push(passage);
                }
            }
        }
    }

    /// The ejection port of the head of a VC that is at its journey's end.
    fn arrived(&self, place: Place) -> Option<Request> {
        let (router, input, vc) = place;
        let Routed::Settled(to) = self.routers[router].inputs[input].vcs[vc].front()?.routed else {
            return None;
        };
        Some(to).filter(|to| self.takes_part(place) && self.routers[router].outputs[to.port].is_terminal())
    }
}
