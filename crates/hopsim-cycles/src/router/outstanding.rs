//! What is outstanding at every output of the network as a cycle begins, for mechanisms with global knowledge. Routers ask for it while
//! others are granted packets, and must not see these grants or not by their numbers: hence a copy. The network is one region then.

use crate::kernel::ids::{Id as _, RegionRouter};
use crate::system::System;
use hopsim_network::network::TERMINAL;

/// The phits that are outstanding behind the link ports of all routers, at the beginning of a cycle.
pub struct Outstanding {
    /// Ports of links, and the number of their VCs that are in use -- constant.
    links: Vec<(usize, u8)>,
    ports: usize,
    /// By router and port.
    phits: Vec<u32>,
}

impl Outstanding {
    /// An idle network; `None` if nobody asks.
    pub fn new(system: &System) -> Option<Self> {
        if !system.routing.sensors().outstanding {
            return None;
        }
        let (layout, vcs) = (&system.network.layout, system.routing.vcs());
        let is_link = |&port: &usize| layout.class[port] != TERMINAL;
        let links = (0..layout.ports()).filter(is_link).map(|port| (port, vcs.used(layout.class[port] - 1)));
        let all = system.network.routers as usize * layout.ports();
        Some(Self { links: links.collect(), ports: layout.ports(), phits: vec![0; all] })
    }

    /// A cycle begins, in which so much is outstanding behind the VC of a port of a router.
    pub fn note(&mut self, behind: impl Fn(RegionRouter, (usize, u8)) -> u32) {
        for (number, of_router) in self.phits.chunks_exact_mut(self.ports).enumerate() {
            for &(port, vcs) in &self.links {
                of_router[port] = (0..vcs).map(|vc| behind(RegionRouter::at(number), (port, vc))).sum();
            }
        }
    }

    /// What is outstanding behind all VCs of a port.
    pub fn behind(&self, router: u32, port: usize) -> u32 {
        self.phits[router as usize * self.ports + port]
    }
}
