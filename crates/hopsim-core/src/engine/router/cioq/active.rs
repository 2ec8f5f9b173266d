//! The routers that are to be visited, a bit each.

/// A router is to be visited.
#[inline]
pub fn wake(active: &mut [u64], number: usize) {
    active[number / 64] |= 1 << (number % 64);
}
