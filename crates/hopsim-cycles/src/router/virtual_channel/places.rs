//! Input VCs and output VCs by router, port and number.

use crate::kernel::ids::{Id as _, RegionRouter};
use crate::router::inputs::input_code;
use crate::router::virtual_channel::port_numbers::PortNumbers;
use crate::system::System;
use serde::{Deserialize, Serialize};

/// Where an input VC is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputPlace {
    /// The router, by its number in the region.
    router: u32,
    /// The number of port 0 of the router, where the ports of the region are counted on from router to router.
    pub first_port: u32,
    /// The port.
    pub port: u16,
    /// The number of the input VC in the port.
    pub vc: u8,
    /// The code of the input VC for the routing.
    pub code: u8,
    /// How many input VCs of the router come before this one in its allocators.
    pub before: u16,
}

impl InputPlace {
    /// A slot of router 0, whose ports have these numbers.
    pub fn new(system: &System, numbers: &PortNumbers, slot: usize) -> Self {
        let layout = &system.network.layout;
        // Behind the VCs of a port there may be a gap, whose slots nobody uses.
        let (port, vc) = layout.slot_vc(slot).unwrap_or_default();
        let before = numbers.inputs[port] + u16::from(vc);
        Self { router: 0, first_port: 0, port: port as u16, vc, code: input_code(system, slot), before }
    }

    /// A slot of another router, where routers have so many ports.
    pub fn in_router(self, router: usize, ports: usize) -> Self {
        Self { router: router as u32, first_port: (router * ports) as u32, ..self }
    }

    /// The router.
    #[inline]
    pub fn router(self) -> RegionRouter {
        RegionRouter::at(self.router as usize)
    }

    /// The input VC among those of its port, as a bit.
    #[inline]
    pub fn bit(self) -> u64 {
        1 << self.vc
    }
}

/// The output VCs of a port that a head asks for: all from the first to the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedVcs {
    /// The output port.
    pub port: u16,
    /// The first VC.
    pub first: u8,
    /// The last VC.
    pub last: u8,
}

impl AskedVcs {
    /// The VCs, a bit each.
    #[inline]
    pub fn mask(self) -> u64 {
        (u64::MAX >> (63 - self.last)) & (u64::MAX << self.first)
    }
}

/// The output VC that a packet owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnedVc {
    /// The output VC by its number in the router.
    pub pair: u16,
    /// The port of the output VC.
    pub port: u16,
    /// The number of the output VC in its port.
    pub vc: u8,
}
