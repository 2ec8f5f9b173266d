//! How slots and pairs are numbered over routers: every router has 64·W numbers for slots, and as many for pairs.

use crate::kernel::ids::{Id, Pair, PairId, RegionRouter, Slot, SlotId};

impl RegionRouter {
    /// The id of a slot of this router.
    #[inline]
    pub fn slot<const W: usize>(self, slot: Slot) -> SlotId {
        SlotId::at(64 * W * self.index() + slot.index())
    }

    /// The id of a pair of this router.
    #[inline]
    pub fn pair<const W: usize>(self, pair: Pair) -> PairId {
        PairId::at(64 * W * self.index() + pair.index())
    }
}

impl SlotId {
    /// The router and the slot of an id.
    #[inline]
    pub fn split<const W: usize>(self) -> (RegionRouter, Slot) {
        (RegionRouter::at(self.index() / (64 * W)), Slot::at(self.index() % (64 * W)))
    }
}

impl PairId {
    /// The router and the pair of an id.
    #[inline]
    pub fn split<const W: usize>(self) -> (RegionRouter, Pair) {
        (RegionRouter::at(self.index() / (64 * W)), Pair::at(self.index() % (64 * W)))
    }
}

/// The number by which a slot or pair of a router of the network is counted.
#[inline]
pub fn network_id<const W: usize>(router: u32, place: impl Id) -> u32 {
    router * (64 * W) as u32 + place.index() as u32
}

/// Router and slot of a number that [`network_id`] has made.
#[inline]
pub fn split_network_id<const W: usize>(id: u32) -> (u32, Slot) {
    (id / (64 * W) as u32, Slot::at(id as usize % (64 * W)))
}
