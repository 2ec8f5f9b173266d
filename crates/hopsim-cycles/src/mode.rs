//! What is known about a run at compile time: whether it needs more than the plainest
//! router. Most runs do not, and then the tests for the rest vanish from the hot code.

use crate::kernel::wheel::Calendar;
use crate::observer::Observer;

/// A kind of run.
pub trait Mode: Clone + Send + Sync + 'static {
    /// Whether packets have one length, longer than the crossbar latency, and arbiters are round-robin without priority; also
    /// `REGULAR`.
    const PLAIN: bool;
    /// Whether no named choice differs from its default; also `REGULAR`.
    const DEFAULT: bool;
    /// Whether every head has one VC, which follows from the VC before it, as in dragonflies, or at injection from its path, as in
    /// graphs, and room for a packet is all it needs.
    const ORDERED: bool;
    /// Whether the run has everything: heads with a choice and what they read, shared buffers, bursts, changes, requests and
    /// replies.
    const FULL: bool;
    /// Whether links carry a phit per cycle and nothing but packets, and nodes have a port each way and take one packet at a
    /// time.
    const REGULAR: bool = Self::PLAIN || Self::DEFAULT;
    /// Whether any router that can do nothing is left alone until it can. Routers where VCs are in order and no head has a choice
    /// are not: in dragonflies crossbars are fast, and outputs are busy for so short a time that asking costs more than it saves.
    const SLEEPS: bool = Self::FULL || !Self::ORDERED;
    /// What the wheels of the run remember, so that it can pass over cycles in which nothing happens.
    type Calendar: Calendar;
    /// Who hears what happens in the run.
    type Observer: Observer;
}
