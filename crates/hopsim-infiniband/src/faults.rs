//! What changes in a fabric in the middle of a run: links that fail and are repaired, tables that are written.

use crate::forwarding::Tables;
use crate::time::Ticks;
use std::sync::Arc;

/// All that changes.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// The changes in the order in which they happen.
    pub changes: Vec<Change>,
    /// The forwarding tables that are written, besides those of the beginning.
    pub tables: Vec<Arc<Tables>>,
}

/// A change at the beginning of an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The time of the change.
    pub at: Ticks,
    /// What changes.
    pub what: What,
}

/// What changes. A link is named by one of its two ports, which both are of switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A link that was out of order is in order.
    Repaired {
        /// An end of the link.
        port: u32,
    },
    /// A link that was in order fails.
    Fails {
        /// An end of the link.
        port: u32,
        /// Whether what has been granted the link is lost.
        drops: bool,
    },
    /// The switches at the ends of a link that is out of order know.
    Detected {
        /// An end of the link.
        port: u32,
    },
    /// A switch gets other forwarding tables.
    Table {
        /// The switch.
        switch: u32,
        /// Which of the tables; 0: those of the beginning, n + 1: n of those that are written.
        tables: u32,
    },
}

/// Why a packet is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// The packet had been granted a link that failed before its head had arrived.
    Link,
    /// The output of the packet has a link of which is known that it is out of order.
    Output,
    /// A link failed behind the head of the packet: its destination finds it spoiled.
    Spoiled,
}

impl Faults {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}
