//! The report of a deadlock: packets that wait for each other.

use std::fmt;

/// A cycle of packets that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockReport {
    /// Cycle in which the deadlock was found.
    pub cycle: u32,
    /// Packets inside routers at that cycle.
    pub packets: usize,
    /// The waiting heads, each waiting for buffer space held by the next, the last for the first.
    pub waiting: Vec<WaitingHead>,
}

/// One member of a deadlock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingHead {
    /// Router the packet waits in.
    pub router: u32,
    /// Input port, with its class, e.g. `local 3`.
    pub input: String,
    /// Input VC.
    pub input_vc: u8,
    /// Output port that the packet wants.
    pub output: String,
    /// Output VC that the packet wants.
    pub output_vc: u8,
    /// Source node of the packet.
    pub source: u32,
    /// Destination node of the packet.
    pub destination: u32,
    /// Cycle in which the packet was generated.
    pub generated: u32,
}

impl fmt::Display for DeadlockReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "deadlock at cycle {}: {} packets inside the network, {} of them wait for each other:",
            self.cycle,
            self.packets,
            self.waiting.len()
        )?;
        for head in &self.waiting {
            writeln!(
                f,
                "  router {} input {} VC {} -> output {} VC {}: packet from node {} to node {}, generated at {}",
                head.router,
                head.input,
                head.input_vc,
                head.output,
                head.output_vc,
                head.source,
                head.destination,
                head.generated
            )?;
        }
        write!(f, "each waits for buffer space held by the next, the last for the first")
    }
}
