//! Parallel consumption: nodes that take a packet from every input VC of their router at once.

use crate::simulator::Simulator;
use crate::state::packet::Choice;
use crate::state::place::Place;
use hopsim_cycles::choices::Consumption;

impl Simulator<'_> {
    /// Whether nodes take packets from all VCs at once, past allocator and crossbar.
    pub(crate) fn takes_all(&self) -> bool {
        self.plan.system.cioq().consumption == Consumption::Parallel
    }

    /// Lets heads that have arrived at their router set out for their nodes, one VC after the other.
    pub(crate) fn consume_arrived(&mut self, router: usize) {
        if !self.takes_all() {
            return;
        }
        for input in 0..self.routers[router].inputs.len() {
            for vc in 0..self.routers[router].inputs[input].vcs.len() {
                // What leaves one injection VC may be the last that its node may send.
                if let Some(Choice { to, after, .. }) = self.arrived((router, input, vc))
                    && !self.awaits_signal(router, input)
                {
                    let passage = self.set_out((router, input, vc), (to, after));
                    self.routers[router].inputs[input].consumptions.push(passage);
                }
            }
        }
    }

    /// The ejection port of the head of a VC that is at its journey's end.
    fn arrived(&mut self, place: Place) -> Option<Choice> {
        let packet = self.routers[place.0].inputs[place.1].vcs[place.2].front()?.packet;
        if self.packets[packet].trace.destination as usize / self.nodes_per_router != place.0 {
            return None;
        }
        let choice = self.route(place, 0)?;
        Some(choice).filter(|c| c.fixed && self.routers[place.0].outputs[c.to.port].is_terminal())
    }
}
