//! The routers that are to be visited, a bit each.

use crate::kernel::ids::{Id as _, RegionRouter};

/// A router is to be visited.
#[inline]
pub fn wake(active: &mut [u64], router: RegionRouter) {
    active[router.index() / 64] |= 1 << (router.index() % 64);
}
