//! The signal of injection control (SAT) on its walk.

use hopsim_cycles::injection::sat::Sat;

/// The signal on its walk round all nodes.
pub struct Signal {
    pub rule: Sat,
    /// Steps of the walk that the signal has made.
    pub steps: usize,
    /// Cycle in which the signal gets to the node that it is on its way to.
    pub arrives: u32,
    /// Packets that have left each node since the signal did.
    pub counts: Vec<u32>,
}

impl Signal {
    /// The signal at the beginning of its walk.
    pub fn new(rule: &Sat) -> Self {
        Self { rule: rule.clone(), steps: 0, arrives: 0, counts: vec![0; rule.walk.len()] }
    }
}
