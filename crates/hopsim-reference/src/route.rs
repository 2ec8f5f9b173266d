//! Which heads take part in the allocation.

use crate::simulator::Simulator;
use crate::state::place::Place;

impl Simulator<'_> {
    /// Whether the first packet of a VC may take part in the allocation: its head has been there for long enough,
    /// and no earlier packet is still leaving.
    pub(crate) fn takes_part(&self, (router, input, vc): Place) -> bool {
        let port = &self.routers[router].inputs[input];
        if (self.drains || self.fallen.contains(&router)) && port.node.is_some() {
            return false;
        }
        if self.moves_flits() {
            return self.seeks_vc((router, input, vc));
        }
        let leaving = port.leaving().any(|t| t.vc == vc);
        let front = port.vcs[vc].front();
        !leaving && front.is_some_and(|r| self.now >= r.arrived + self.plan.system.cioq().pipeline_latency)
    }
}
