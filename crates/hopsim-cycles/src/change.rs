//! What changes between two cycles of a run in which links fail: see `topology::faults` of `hopsim-network`.

use crate::kernel::packet::Packet;
use hopsim_network::topology::faults::LinkEnd;
use serde::{Deserialize, Serialize};

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

/// Why the nodes of a router inject nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// The network is drained.
    Drained,
    /// The router is out of order.
    Broken,
}

/// The state of a network of some kind of routers, which a change makes another one of.
pub trait Affected {
    /// The link behind a port is in order again.
    fn repair(&mut self, end: LinkEnd);

    /// Links fail, and packets on them are lost.
    fn fail(&mut self, failures: &[Failure]);

    /// Routers fail, all of whose links have failed, and packets in them are lost.
    fn fall(&mut self, failures: &[RouterFailure]);

    /// The router of a port comes to know that the link has failed.
    fn detect(&mut self, end: LinkEnd);

    /// The nodes of a router inject nothing from now on.
    fn close(&mut self, router: u32, reason: Reason);

    /// The nodes of a router inject again, unless there is another reason not to.
    fn open(&mut self, router: u32, reason: Reason);

    /// Whether the network is drained.
    fn is_drained(&self) -> bool;

    /// Packets whose way leads over a link that is out of order are lost.
    fn lose_blocked(&mut self);

    /// All heads that wait are routed anew, and packets are lost that have no way, or not VCs enough.
    fn reroute(&mut self);
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

    /// Makes the change, in a network of so many routers.
    pub fn make(&self, routers: u32, state: &mut impl Affected) {
        let Self { repaired, failing, falling, rising, detected, closes, opens, reroutes, paced: _ } = self;
        repaired.iter().flatten().for_each(|&end| state.repair(end));
        for &router in rising {
            state.open(router, Reason::Broken);
        }
        state.fail(failing);
        state.fall(falling);
        detected.iter().flatten().for_each(|&end| state.detect(end));
        if *closes {
            (0..routers).for_each(|router| state.close(router, Reason::Drained));
        }
        if *opens {
            (0..routers).for_each(|router| state.open(router, Reason::Drained));
        }
        if *closes || state.is_drained() && !failing.is_empty() {
            state.lose_blocked();
        }
        if *reroutes {
            state.reroute();
        }
    }
}
