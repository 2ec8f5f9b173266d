//! When flits arrived that have ages of their own.

use crate::choices::{FlitAge, FlitArbiter};
use crate::kernel::by::By;
use crate::kernel::ids::SlotId;
use std::collections::VecDeque;

/// When the flits of each input VC arrived, in their order: what ages of flits are counted from.
pub struct FlitArrivals(By<SlotId, VecDeque<u32>>);

impl FlitArrivals {
    /// Arrivals in so many input VCs without flits; `None` if flits have no ages of their own.
    pub fn new(arbiter: FlitArbiter, slots: usize) -> Option<Self> {
        let by_flit = matches!(arbiter, FlitArbiter::Age(FlitAge { by_flit: true, .. }));
        by_flit.then(|| Self(By::all(VecDeque::new(), slots)))
    }

    /// Flits arrive in these input VCs.
    pub fn arrive(&mut self, slots: impl Iterator<Item = SlotId>, now: u32) {
        for slot in slots {
            self.0[slot].push_back(now);
        }
    }

    /// The first flit leaves.
    pub fn leave(&mut self, slot: SlotId) {
        self.0[slot].pop_front();
    }

    /// When the first flit of an input VC arrived, if there is one.
    pub fn first(&self, slot: SlotId) -> Option<u32> {
        self.0[slot].front().copied()
    }

    /// The arrivals of the flits of an input VC.
    pub fn row(&self, slot: SlotId) -> Vec<u32> {
        self.0[slot].iter().copied().collect()
    }

    /// Goes on with these.
    pub fn put_row(&mut self, slot: SlotId, arrivals: &[u32]) {
        self.0[slot] = arrivals.iter().copied().collect();
    }
}
