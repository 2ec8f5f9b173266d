//! Minimal routing: see [`Config`].

use super::sequence::{VcSequence, at_injection};
use super::{Head, Request, RouteState};
use crate::rng::Stream;
use crate::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The VC order of the longest minimal path.
pub const SEQUENCE: &str = "lgl";

/// A packet takes a shortest path. Where several links are equally short (the trunks of a dragonfly with fewer
/// than a·h + 1 groups), one of them is drawn per packet, each as likely as the others.
///
/// Paths and VCs: at most local, global, local (`lgl`) in a dragonfly, so 2 local VCs and 1 global VC, used in
/// increasing order along the path: no deadlock.
///
/// Under ADV+1 all packets of a group share one global link, and the accepted load is at most 1/(a·p). Under ADVc
/// they share the h links of one router: at most h/(a·p).
///
/// No parameters. Source: Fuentes' thesis (2017), §1.4.1.1.
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
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn request(&self, head: &Head, state: &mut RouteState, draw: impl FnOnce() -> Stream) -> Request {
        if head.router == head.destination {
            return Request { port: head.terminal as usize, vc: head.ejection_vc };
        }
        if at_injection(head.code) && self.topology.has_trunks() {
            state.trunk = self.topology.choose_trunk(head.router, head.destination, &mut draw());
        }
        self.towards(head, head.destination, state.trunk)
    }
}
