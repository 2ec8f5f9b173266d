//! Minimal routing: see [`Config`].

use super::vcs::Vcs;
use super::{Head, Hop, Leg, Mechanism, Paths, Request, Reverts, RouteState};
use crate::error::ConfigError;
use crate::rng::Stream;
use crate::topology::{LOCAL, Topology};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The longest minimal path.
pub const PATH: &str = "lgl";

/// A packet takes a shortest path. Where several links are equally short (the trunks of a dragonfly with fewer
/// than a·h + 1 groups), one of them is drawn per packet, each as likely as the others.
///
/// Paths and VCs: at most local, global, local (`lgl`) in a dragonfly, so 2 local VCs and 1 global VC, used in
/// increasing order along the path: no deadlock. At most 3 links: no livelock.
///
/// Under ADV+1 all packets of a group share one global link, and the accepted load is at most 1/(a·p). Under ADVc
/// they share the h links of one router: at most h/(a·p).
///
/// No parameters. Source: Fuentes' thesis (2017), §1.4.1.1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {}

impl Config {
    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, _topology: &Topology) -> Result<Paths, ConfigError> {
        Ok(Paths {
            hops: 3,
            sequence: PATH,
            detour: "",
            escapes: &[],
            references: &[PATH],
            reverts: Reverts::Never,
        })
    }

    /// The mechanism itself.
    pub fn build(&self, base: Minimal) -> Minimal {
        base
    }
}

/// Minimal routing; also the base of the nonminimal mechanisms, which change the target.
#[derive(Clone, Debug)]
pub struct Minimal {
    topology: Arc<Topology>,
    vcs: Vcs,
}

impl Minimal {
    /// Minimal paths on `topology` with the VCs of `vcs`.
    pub fn new(topology: Arc<Topology>, vcs: Vcs) -> Self {
        Self { topology, vcs }
    }

    /// The topology it routes on.
    #[inline]
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The VC management.
    #[inline]
    pub fn vcs(&self) -> &Vcs {
        &self.vcs
    }

    /// The next output towards router `target` over the chosen trunk, another one than the head's own, with increasing VCs.
    #[expect(clippy::inline_always, reason = "8 % of all instructions are saved by it")]
    #[inline(always)]
    pub fn request(&self, head: &Head, target: u32, trunk: u16) -> Request {
        let (port, class) = self.topology.minimal_port(head.router, target, trunk);
        Request { port, vc: self.vcs.sequence.next(head.code, class) }
    }

    /// The next hop towards router `target` over the chosen trunk, `None` if that is the head's own router.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn towards(&self, head: &Head, target: u32, trunk: u16) -> Option<Hop> {
        if head.router == target {
            return None;
        }
        let (port, class) = self.topology.minimal_port(head.router, target, trunk);
        let there = class == LOCAL && self.topology.group(head.router) == self.topology.group(target);
        let leg = match (target == head.destination, there) {
            (true, true) => Leg::Final,
            (true, false) => Leg::ToGroup,
            (false, true) => Leg::Inside,
            (false, false) => Leg::Detour,
        };
        Some(Hop { port: port as u16, class, leg, reuses: false })
    }

    /// Draws the link among the parallel ones towards `target`, if there are any.
    #[inline]
    pub fn choose_trunk(&self, head: &Head, target: u32, state: &mut RouteState, draw: impl Fn() -> Stream) {
        if self.topology.has_trunks() && target != head.router {
            state.trunk = self.topology.choose_trunk(head.router, target, &mut draw());
        }
    }
}

impl Mechanism for Minimal {
    const FIXED: bool = true;

    fn base(&self) -> &Minimal {
        self
    }

    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    fn target(&self, head: &Head, state: &mut RouteState, draw: impl Fn() -> Stream) -> u32 {
        if head.at_injection() {
            self.choose_trunk(head, head.destination, state, draw);
        }
        head.destination
    }
}
