//! Ids of slots and pairs.

/// The id of slot or pair `index` of `router`: in a region if that is its number there, in the network if it is its number
/// in all.
#[inline]
pub fn join<const W: usize>(router: u32, index: usize) -> u32 {
    router * (64 * W) as u32 + index as u32
}

/// Router and slot or pair of an id.
#[inline]
pub fn split<const W: usize>(id: u32) -> (usize, usize) {
    (id as usize / (64 * W), id as usize % (64 * W))
}
