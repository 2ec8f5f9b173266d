//! The signal of injection control (SAT): who has it, and who waits for it.

use crate::simulator::Simulator;

impl Simulator<'_> {
    /// Passes the signal on if the node that has it has injected enough or has nothing to inject.
    pub(crate) fn pass_signal(&mut self) {
        let Some(signal) = self.signal.as_mut().filter(|signal| signal.arrives <= self.now) else { return };
        let (node, cycles) = signal.rule.walk[signal.steps % signal.rule.walk.len()];
        let sends = self.ranks[node as usize].as_ref().is_some_and(|rank| !rank.queue.is_empty());
        let idle = self.nics[node as usize].is_idle(self.plan) && !sends;
        let count = &mut signal.counts[node as usize];
        if idle || *count >= signal.rule.l {
            *count = 0;
            signal.steps += 1;
            signal.arrives = self.now + cycles + u32::from(!idle);
        }
    }

    /// Whether the heads at an input port come from a node that waits for the signal.
    pub(crate) fn awaits_signal(&self, router: usize, input: usize) -> bool {
        let Some((signal, (node, _))) = self.signal.as_ref().zip(self.routers[router].inputs[input].node)
        else {
            return false;
        };
        // Not every router has nodes.
        signal.counts.get(node).is_some_and(|&count| count >= signal.rule.k)
    }

    /// Notes that a packet has left a node.
    pub(crate) fn count_for_signal(&mut self, node: usize) {
        self.signal.iter_mut().for_each(|signal| signal.counts[node] += 1);
    }
}
