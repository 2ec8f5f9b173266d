//! Topologies: which router port is linked to which, and how to get closer to a destination.
//!
//! A topology is cold: [`crate::network::Network`] flattens its links into arrays once. Hot is only
//! [`Topology::minimal_port`], which routing asks once per head.
//! A new topology is one file here and one row in each enum below.

pub mod dragonfly;

use crate::error::ConfigError;
use crate::rng::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the routers are linked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TopologyConfig {
    /// Groups of routers, fully connected inside, joined by global links (Kim et al., ISCA 2008).
    Dragonfly(dragonfly::Config),
}

/// A topology ready to be asked.
#[derive(Clone, Debug)]
pub enum Topology {
    /// See [`dragonfly`].
    Dragonfly(dragonfly::Dragonfly),
}

/// A kind of router port; links of one kind have one latency, one number of VCs and one buffer size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PortClass {
    /// To a node: injection as an input, ejection as an output.
    Terminal,
    /// A link of class 0 or 1 (dragonfly: local, global).
    Link(u8),
}

/// Index of the local links of a dragonfly among the link classes.
pub const LOCAL: u8 = 0;
/// Index of the global links of a dragonfly among the link classes.
pub const GLOBAL: u8 = 1;

impl TopologyConfig {
    /// Checks the parameters and builds the topology.
    pub fn build(&self) -> Result<Topology, ConfigError> {
        match self {
            Self::Dragonfly(config) => {
                Ok(Topology::Dragonfly(dragonfly::Dragonfly::new(config).map_err(|e| e.within("dragonfly"))?))
            }
        }
    }

    /// Fills in the parameters that the topology chose.
    pub fn resolve(&mut self, topology: &Topology) {
        match (self, topology) {
            (Self::Dragonfly(config), Topology::Dragonfly(built)) => config.groups = Some(built.groups()),
        }
    }
}

impl Topology {
    /// Number of routers.
    pub fn routers(&self) -> u32 {
        match self {
            Self::Dragonfly(t) => t.routers(),
        }
    }

    /// Nodes per router; node n hangs from router n / this, on terminal port n % this.
    pub fn nodes_per_router(&self) -> u32 {
        match self {
            Self::Dragonfly(t) => t.p(),
        }
    }

    /// The class of every port of a router; terminal ports come first. The same for all routers: one that
    /// has fewer links leaves ports unconnected.
    pub fn ports(&self) -> Vec<PortClass> {
        match self {
            Self::Dragonfly(t) => t.ports(),
        }
    }

    /// Names of the link classes, in index order.
    pub fn link_classes(&self) -> &'static [&'static str] {
        match self {
            Self::Dragonfly(_) => &["local", "global"],
        }
    }

    /// Router and port at the other end of a link port, `None` if nothing is plugged in.
    pub fn neighbour(&self, router: u32, port: usize) -> Option<(u32, usize)> {
        match self {
            Self::Dragonfly(t) => t.neighbour(router, port),
        }
    }

    /// Whether several equally short first links can exist, so that [`Self::choose_trunk`] draws.
    #[inline]
    pub fn has_trunks(&self) -> bool {
        match self {
            Self::Dragonfly(t) => t.has_trunks(),
        }
    }

    /// Chooses among the parallel links of the shortest paths from `at` to `to`: every one of them is
    /// equally likely. The choice holds until the packet gets a new target.
    #[inline]
    pub fn choose_trunk(&self, at: u32, to: u32, stream: &mut Stream) -> u16 {
        match self {
            Self::Dragonfly(t) => t.choose_trunk(at, to, stream),
        }
    }

    /// The link port of the minimal path from router `at` to router `to` ≠ `at` over the chosen trunk, and its
    /// link class.
    #[inline]
    pub fn minimal_port(&self, at: u32, to: u32, trunk: u16) -> (usize, u8) {
        match self {
            Self::Dragonfly(t) => t.minimal_port(at, to, trunk),
        }
    }

    /// Links of each class on the minimal path from `from` to `to`, the shortest over all trunks.
    pub fn minimal_hops(&self, from: u32, to: u32) -> [u8; 2] {
        match self {
            Self::Dragonfly(t) => t.minimal_hops(from, to),
        }
    }

    /// The group of a router (a topology without groups is one group).
    pub fn group(&self, router: u32) -> u32 {
        match self {
            Self::Dragonfly(t) => t.group(router),
        }
    }

    /// Number of groups.
    pub fn groups(&self) -> u32 {
        match self {
            Self::Dragonfly(t) => t.groups(),
        }
    }

    /// The dragonfly behind this topology, for mechanisms that exist only there.
    pub fn dragonfly(&self) -> Option<&dragonfly::Dragonfly> {
        match self {
            Self::Dragonfly(t) => Some(t),
        }
    }
}
