//! Dynamically allocated multi-queues: the VCs of a port share its buffer, apart from a reserve of each (Tamir and
//! Frazier, 1992; Fuentes' thesis, 2017, §5.3.1).

use super::context::Context;
use super::mode::Mode;
use super::routers::{Router, join};
use crate::network::TERMINAL;
use crate::plan::{Plan, Shares};

impl Shares {
    /// Free phits for each VC, given what all of them have outstanding: what is left of its reserve and of the pool.
    pub fn credits(self, outstanding: &[u32]) -> impl Iterator<Item = u32> {
        let above = |&used: &u32| used.saturating_sub(self.reserve);
        let left = self.pool - outstanding.iter().map(above).sum::<u32>();
        outstanding.iter().map(move |&used| self.reserve.saturating_sub(used) + left)
    }
}

/// What every output VC has outstanding, where buffers are shared.
pub struct Damq {
    /// By link class -- constant.
    shares: [Shares; 2],
    /// By pair id \[phits\].
    outstanding: Vec<u32>,
}

impl Damq {
    /// Nothing outstanding, `None` without shared buffers. `pairs` pair ids exist.
    pub fn new(plan: &Plan, pairs: usize) -> Option<Self> {
        Some(Self { shares: plan.router.damq?, outstanding: vec![0; pairs] })
    }

    /// How the VCs of a port of a link class share its buffer.
    #[cfg(feature = "trace")]
    pub fn shares(&self, class: crate::network::PortClassCode) -> Shares {
        self.shares[class as usize - 1]
    }

    /// Phits that a pair id has outstanding.
    #[cfg(feature = "trace")]
    pub fn outstanding(&self, pair: u32) -> u32 {
        self.outstanding[pair as usize]
    }
}

impl<const W: usize, M: Mode> Context<'_, W, M> {
    /// `phits` of buffer space more (or, `returned`, fewer) are outstanding for an output VC: updates the credits.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn account(
        &mut self,
        number: usize,
        router: &mut Router<W>,
        pair: usize,
        (phits, returned): (u32, bool),
    ) {
        if M::FULL && self.damq.is_some() && self.kernel.shared.tables.pair(pair).class != TERMINAL {
            return self.account_shared(number, router, pair, (phits, returned));
        }
        let least = self.kernel.shared.space(self.kernel.shared.rules.shortest);
        let credits = &mut router.credits[pair];
        if returned {
            *credits += phits;
            if *credits >= least {
                router.credit.insert(pair);
            }
        } else {
            *credits -= phits;
            if *credits < least {
                router.credit.remove(pair);
            }
        }
        if self.kernel.shared.bubble() > 0 {
            self.account_entry(router, pair);
        }
    }

    /// What a head that enters a ring may use of an output VC: it leaves a bubble.
    fn account_entry(&self, router: &mut Router<W>, pair: usize) {
        let entry = self.kernel.shared.tables.pair(pair).entry as usize;
        if entry == pair {
            return;
        }
        router.credits[entry] = router.credits[pair].saturating_sub(self.kernel.shared.rules.bubble);
        if router.credits[entry] >= self.kernel.shared.space(self.kernel.shared.rules.shortest) {
            router.credit.insert(entry);
        } else {
            router.credit.remove(entry);
        }
    }

    #[inline(never)]
    fn account_shared(
        &mut self,
        number: usize,
        router: &mut Router<W>,
        pair: usize,
        (phits, returned): (u32, bool),
    ) {
        let shortest = self.kernel.shared.rules.shortest;
        let Some(damq) = &mut self.damq else { return };
        let port = self.kernel.shared.tables.pair_port(pair);
        let info = self.kernel.shared.tables.port(port);
        let (base, count) =
            (info.pair_base as usize, self.kernel.shared.plan.network.layout.output_vcs[port] as usize);
        let first = join::<W>(number as u32, base) as usize;
        let used = &mut damq.outstanding[first + pair - base];
        *used = if returned { *used - phits } else { *used + phits };
        let all = &damq.outstanding[first..first + count];
        for (vc, credits) in damq.shares[info.class as usize - 1].credits(all).enumerate() {
            router.credits[base + vc] = credits;
            if credits >= shortest {
                router.credit.insert(base + vc);
            } else {
                router.credit.remove(base + vc);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vc_may_use_its_reserve_and_the_pool_but_not_what_others_reserve() {
        let shares = Shares { reserve: 8, pool: 16 };
        let credits = |used: &[u32]| shares.credits(used).collect::<Vec<_>>();
        assert_eq!(credits(&[0, 0]), [24, 24]);
        assert_eq!(credits(&[8, 0]), [16, 24], "the reserve is used first");
        assert_eq!(credits(&[16, 0]), [8, 16], "then the pool, for all");
        assert_eq!(credits(&[24, 0]), [0, 8], "the other's reserve stays");
    }
}
