//! Routing: which output port and VC the packet at the head of an input VC asks for.
//!
//! A mechanism is asked once when a packet becomes the head of its queue ([`Routing::request`]); if it says
//! that the head [re-decides](Routing::redecides), it is asked again at every attempt. What it must remember
//! between hops is the packet's [`RouteState`]. Deadlock avoidance is by the order of virtual channels
//! ([`sequence::VcSequence`]), and `Plan` refuses a network with fewer VCs than the mechanism needs.
//! A new mechanism is one file here and one row in each enum below.

pub mod minimal;
pub mod sequence;
pub mod valiant;

use crate::error::ConfigError;
use crate::network::{NONE, Network};
use crate::rng::Stream;
use crate::topology::Topology;
use schemars::JsonSchema;
use sequence::VcSequence;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How packets find their way.
///
/// A mechanism is asked for an output port and VC when a packet becomes the head of its input VC. Deadlock is
/// avoided by the order of virtual channels: see `router.cioq.vcs`. A network with fewer VCs than the mechanism
/// needs is refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoutingConfig {
    /// Shortest path (MIN).
    Minimal(minimal::Config),
    /// Oblivious nonminimal routing through a random intermediate router or group (VAL; Valiant, 1982).
    Valiant(valiant::Config),
}

/// What a packet carries for its routing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteState {
    /// Intermediate router still to be visited, `NONE` if there is none or it has been reached.
    pub via: u32,
    /// Chosen link among the parallel ones towards the current target.
    pub trunk: u16,
    /// Whether the packet was sent off the minimal path.
    pub misrouted: bool,
    /// Where it first was: 0 nowhere, 1 at injection, 2 in the source group after the first hop, 3 in an intermediate
    /// group, 4 in the destination group.
    pub place: u8,
}

impl RouteState {
    /// The state of a packet that has not been routed yet.
    pub const NEW: Self = Self { via: NONE, trunk: 0, misrouted: false, place: 0 };
}

/// The head that asks for a route.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Router it stands in.
    pub router: u32,
    /// Class and VC of the input it stands in, as [`VcSequence`] codes them; see [`sequence::at_injection`].
    pub code: u8,
    /// Destination router.
    pub destination: u32,
    /// Terminal port of the destination there.
    pub terminal: u16,
    /// Output VC for its ejection.
    pub ejection_vc: u8,
    /// Whether it is a reply.
    pub reply: bool,
}

/// An output port and VC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Output port.
    pub port: usize,
    /// Output VC.
    pub vc: u8,
}

/// A mechanism ready to route.
#[derive(Clone, Debug)]
pub enum Routing {
    /// See [`minimal`].
    Minimal(minimal::Minimal),
    /// See [`valiant`].
    Valiant(valiant::Valiant),
}

impl RoutingConfig {
    /// The VC order of the mechanism on `topology`.
    pub fn sequence(&self, topology: &Topology) -> Result<&'static str, ConfigError> {
        match self {
            Self::Minimal(_) => Ok(minimal::SEQUENCE),
            Self::Valiant(config) => config.sequence(topology).map_err(|e| e.within("valiant")),
        }
    }

    /// The name in the document.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Minimal(_) => "minimal",
            Self::Valiant(_) => "valiant",
        }
    }

    /// Builds the mechanism for a network whose VCs have been checked.
    pub fn build(&self, topology: &Arc<Topology>, network: &Network) -> Result<Routing, ConfigError> {
        let sequence = VcSequence::new(self.sequence(topology)?, &network.classes);
        let base = minimal::Minimal::new(Arc::clone(topology), sequence);
        Ok(match self {
            Self::Minimal(_) => Routing::Minimal(base),
            Self::Valiant(config) => Routing::Valiant(valiant::Valiant::new(config, base)),
        })
    }
}

impl Routing {
    /// The output of `head`. `draw` makes the stream for the choices of this packet (once per packet, or
    /// once per attempt for a head that re-decides).
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn request(&self, head: &Head, state: &mut RouteState, draw: impl FnOnce() -> Stream) -> Request {
        match self {
            Self::Minimal(r) => r.request(head, state, draw),
            Self::Valiant(r) => r.request(head, state, draw),
        }
    }

    /// Whether a head that stands in an input with this code is asked again at every attempt.
    #[inline]
    pub fn redecides(&self, code: u8) -> bool {
        match self {
            Self::Minimal(_) => false,
            Self::Valiant(r) => r.recompute() && sequence::at_injection(code),
        }
    }

    /// Whether any head can re-decide.
    pub fn adaptive(&self) -> bool {
        self.redecides(0)
    }

    /// The VC order in use.
    pub fn sequence(&self) -> &VcSequence {
        match self {
            Self::Minimal(r) => r.sequence(),
            Self::Valiant(r) => r.base().sequence(),
        }
    }
}
