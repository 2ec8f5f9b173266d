//! Minimal routing (MIN; thesis §1.4.1.1): the shortest path; where several links are equally short (trunks of
//! a dragonfly with fewer groups), one of them is drawn per packet.
//!
//! Deadlock: the path is at most l-g-l in a dragonfly, with VCs l0 g0 l1 in this order: 2 local, 1 global.

use super::sequence::VcSequence;
use super::{Head, Request, RouteState};
use crate::rng::Stream;
use crate::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The VC order of the longest minimal path.
pub const SEQUENCE: &str = "lgl";

/// Parameters: none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// Minimal routing; also the base of the nonminimal mechanisms, which change the target.
#[derive(Clone, Debug)]
pub struct Minimal {
    topology: Arc<Topology>,
    sequence: VcSequence,
}

impl Minimal {
    /// Minimal paths on `topology` with the VCs of `sequence`.
    pub fn new(topology: Arc<Topology>, sequence: VcSequence) -> Self {
        Self { topology, sequence }
    }

    /// The topology it routes on.
    #[inline]
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The VC order.
    pub fn sequence(&self) -> &VcSequence {
        &self.sequence
    }

    /// The next hop of the minimal path from the head's router to router `target`, another one.
    #[expect(clippy::inline_always, reason = "8 % of all instructions are saved by it")]
    #[inline(always)]
    pub fn towards(&self, head: &Head, target: u32, trunk: u16) -> Request {
        let (port, class) = self.topology.minimal_port(head.router, target, trunk);
        Request { port, vc: self.sequence.next(head.code, class) }
    }

    /// See [`super::Routing::request`].
    #[inline]
    pub fn request(&self, head: &Head, state: &mut RouteState, draw: impl FnOnce() -> Stream) -> Request {
        if head.router == head.destination {
            return Request { port: head.terminal as usize, vc: 0 };
        }
        if head.code == 0 && self.topology.has_trunks() {
            state.trunk = self.topology.choose_trunk(head.router, head.destination, &mut draw());
        }
        self.towards(head, head.destination, state.trunk)
    }
}
