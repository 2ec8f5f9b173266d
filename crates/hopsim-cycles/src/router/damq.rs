//! Dynamically allocated multi-queues: the VCs of a port share its buffer, apart from a reserve of each (Tamir and
//! Frazier, 1992; Fuentes' thesis, 2017, §5.3.1).

use crate::kernel::by::By;
use crate::kernel::ids::PairId;
use crate::system::{Shares, System};
use hopsim_network::by_class::ByClass;
use hopsim_network::network::PortClassCode;

/// Free phits for each VC of a port whose buffer is shared, given what all of its VCs have outstanding: what is left of the
/// reserve of the VC and of the pool.
pub fn credits_of(shares: Shares, outstanding: &[u32]) -> impl Iterator<Item = u32> {
    let above = |&used: &u32| used.saturating_sub(shares.reserve);
    let left = shares.pool - outstanding.iter().map(above).sum::<u32>();
    outstanding.iter().map(move |&used| shares.reserve.saturating_sub(used) + left)
}

/// What every output VC has outstanding, where buffers are shared.
pub struct Damq {
    /// How the VCs of a port share its buffer, by link class -- constant.
    pub(super) shares: ByClass<Shares>,
    /// What each pair has outstanding \[phits\].
    pub(super) outstanding: By<PairId, u32>,
}

impl Damq {
    /// Buffers with nothing outstanding, `None` without shared buffers. `pairs` pair ids exist.
    pub fn new(system: &System, pairs: usize) -> Option<Self> {
        Some(Self { shares: system.router.damq()?, outstanding: By::all(0, pairs) })
    }

    /// How the VCs of a port of a link class share its buffer.
    pub fn shares(&self, class: PortClassCode) -> Shares {
        self.shares[class as usize - 1]
    }

    /// Phits that a pair has outstanding.
    #[cfg(feature = "trace")]
    pub fn outstanding(&self, pair: PairId) -> u32 {
        self.outstanding[pair]
    }

    /// A pair of a port has taken phits of its buffer, or these have come back: the free phits of all `vcs` VCs of the port, whose first pair
    /// is `first`.
    pub fn account(
        &mut self,
        pair: PairId,
        (phits, returned): (u32, bool),
        (class, first, vcs): (PortClassCode, PairId, usize),
    ) -> impl Iterator<Item = u32> {
        let shares = self.shares(class);
        let used = &mut self.outstanding[pair];
        *used = if returned { *used - phits } else { *used + phits };
        credits_of(shares, self.outstanding.run(first, vcs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vc_may_use_its_reserve_and_the_pool_but_not_what_others_reserve() {
        let shares = Shares { reserve: 8, pool: 16 };
        let credits = |used: &[u32]| credits_of(shares, used).collect::<Vec<_>>();
        assert_eq!(credits(&[0, 0]), [24, 24]);
        assert_eq!(credits(&[8, 0]), [16, 24], "the reserve is used first");
        assert_eq!(credits(&[16, 0]), [8, 16], "then the pool, for all");
        assert_eq!(credits(&[24, 0]), [0, 8], "the other's reserve stays");
    }
}
