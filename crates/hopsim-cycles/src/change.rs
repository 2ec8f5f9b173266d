//! What changes between two cycles of a run in which links fail: see `topology::faults` of `hopsim-network`.

use crate::kernel::packet::Packet;
use hopsim_network::topology::faults::LinkEnd;

/// A link that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The two ends of the link.
    pub ends: [LinkEnd; 2],
    /// Whether packets are lost that have been granted the link, and whose head has not arrived at its other end.
    pub drops: bool,
}

/// A router that fails, all of whose links are out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterFailure {
    /// The router.
    pub router: u32,
    /// Whether packets in its buffers of links, and on their way there, are lost.
    pub drops: bool,
}

/// What changes from one cycle to the next, before anything else happens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Links that are repaired, by their ends.
    pub repaired: Vec<[LinkEnd; 2]>,
    /// Links that fail.
    pub failing: Vec<Failure>,
    /// Routers that fail.
    pub falling: Vec<RouterFailure>,
    /// Routers that are repaired.
    pub rising: Vec<u32>,
    /// Links that become slower or faster.
    pub paced: Vec<[LinkEnd; 2]>,
    /// Links of which the routers at their ends come to know that these have failed.
    pub detected: Vec<[LinkEnd; 2]>,
    /// Whether nodes inject nothing from now on, until [`Self::opens`]; packets in the network whose way leads over a link that is out of
    /// order are lost, then and whenever a link fails.
    pub closes: bool,
    /// Whether nodes inject again.
    pub opens: bool,
    /// Whether there are new tables: all heads are routed anew.
    pub reroutes: bool,
}

/// What a change takes away.
#[derive(Clone, Debug, Default)]
pub struct Losses {
    /// The packets that are lost for good.
    pub packets: Vec<Packet>,
    /// The input VCs whose head is lost, each by its router and slot.
    pub heads: Vec<(u32, usize)>,
}

impl Change {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
