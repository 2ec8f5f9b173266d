//! What is known about a run at compile time: who watches it, and whether it needs more than the plainest
//! router. Most runs do not, and then the tests for the rest vanish from the hot code.

use crate::config::router::ArbiterConfig;
use crate::plan::Plan;
use crate::trace::Observer;

/// A kind of run.
pub trait Mode {
    /// Packets of one length, longer than the crossbar latency, round-robin arbiters without priority, heads
    /// that do not re-decide.
    const PLAIN: bool;
    /// Who watches.
    type Observer: Observer;
    /// Who watches.
    fn observer(&mut self) -> &mut Self::Observer;
}

/// A run with nothing but the plainest router.
pub struct Plain<O>(pub O);

/// A run with everything.
pub struct General<O>(pub O);

impl<O: Observer> Mode for Plain<O> {
    const PLAIN: bool = true;
    type Observer = O;
    #[inline]
    fn observer(&mut self) -> &mut O {
        &mut self.0
    }
}

impl<O: Observer> Mode for General<O> {
    const PLAIN: bool = false;
    type Observer = O;
    #[inline]
    fn observer(&mut self) -> &mut O {
        &mut self.0
    }
}

/// Whether [`Plain`] is enough for a plan.
pub fn is_plain(plan: &Plan) -> bool {
    let allocator = &plan.router.allocator;
    let round_robin = |arbiter: &ArbiterConfig| matches!(arbiter, ArbiterConfig::RoundRobin(_));
    plan.shortest_packet() == plan.longest_packet()
        && plan.router.crossbar_latency < plan.shortest_packet()
        && round_robin(&allocator.input_arbiter)
        && round_robin(&allocator.output_arbiter)
        && !allocator.transit_priority
        && !plan.routing.adaptive()
}
