//! Where nodes and their router meet: addresses that the router gives out and that only it can read.

use crate::kernel::ids::{Id as _, PairId, SlotId, Terminal};
use hopsim_network::network::Layout;
use std::sync::Arc;

/// The addresses, of one kind of router, of the VCs between a router and its nodes.
#[derive(Clone)]
pub struct Doors {
    /// Distance of an address in a router from the same address in the next router.
    pub stride: u32,
    /// Address of injection VC 0 in the first router, by terminal port.
    pub injection: Arc<[u32]>,
    /// Address of ejection VC 0 in the first router, by terminal port.
    pub ejection: Arc<[u32]>,
}

impl Doors {
    /// The doors of routers that number their slots and pairs as their layout does.
    pub fn new(layout: &Layout) -> Self {
        let places = |base: &[u16]| base[..layout.terminals].iter().map(|&place| place.into()).collect();
        Self {
            stride: layout.stride() as u32,
            injection: places(&layout.slot_base),
            ejection: places(&layout.pair_base),
        }
    }

    /// The address of injection VC `vc` at a terminal port of the region.
    #[inline]
    pub fn injection(&self, Terminal { router, port }: Terminal, vc: usize) -> SlotId {
        SlotId::at((router.index() as u32 * self.stride + self.injection[port]) as usize + vc)
    }

    /// The address of ejection VC `vc` at a terminal port of the region.
    pub fn ejection(&self, Terminal { router, port }: Terminal, vc: usize) -> PairId {
        PairId::at((router.index() as u32 * self.stride + self.ejection[port]) as usize + vc)
    }
}
