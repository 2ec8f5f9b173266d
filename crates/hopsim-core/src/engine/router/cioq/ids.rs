//! Ids of slots and pairs.

use crate::engine::kernel::ids::{Id as _, RegionRouter};

/// The id in the region of slot or pair `index` of `router`.
#[inline]
pub fn join<const W: usize>(router: RegionRouter, index: usize) -> u32 {
    network_id::<W>(router.index() as u32, index)
}

/// The id in the network of slot or pair `index` of `router`.
#[inline]
pub fn network_id<const W: usize>(router: u32, index: usize) -> u32 {
    router * (64 * W) as u32 + index as u32
}

/// Router and slot or pair of an id in the region.
#[inline]
pub fn split<const W: usize>(id: u32) -> (RegionRouter, usize) {
    (RegionRouter::at(id as usize / (64 * W)), id as usize % (64 * W))
}

/// Router and slot or pair of an id in the network.
#[inline]
pub fn split_network_id<const W: usize>(id: u32) -> (u32, usize) {
    (id / (64 * W) as u32, id as usize % (64 * W))
}
