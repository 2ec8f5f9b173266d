//! Credits: what the buffers behind the output VCs have room for.

use crate::kernel::ids::{Pair, RegionRouter};
use crate::node::Run;
use crate::router::cioq::context::Context;
use crate::router::cioq::routers::Router;
use hopsim_network::network::TERMINAL;

impl<const W: usize, M: Run> Context<'_, W, M> {
    /// Accounts for `phits` of buffer space more (or, `returned`, fewer) that are outstanding for an output VC: updates its
    /// credits.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn account(
        &mut self,
        number: RegionRouter,
        router: &mut Router<W>,
        pair: Pair,
        (phits, returned): (u32, bool),
    ) {
        if M::FULL && self.damq.is_some() && self.shared.tables.pair(pair).class != TERMINAL {
            return self.account_shared(number, router, pair, (phits, returned));
        }
        if self.is_on_off() && self.hear_credit(router, pair, phits) {
            return;
        }
        let least = self.shared.space(self.shared.room.shortest);
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
        if self.shared.bubble() > 0 {
            self.account_entry(router, pair);
        }
    }

    /// On/off flow control: adds room that has become free, and hears what the buffer says; with nodes there is no such thing.
    #[inline(never)]
    fn hear_credit(&self, router: &mut Router<W>, pair: Pair, phits: u32) -> bool {
        let class = self.shared.tables.pair(pair).class;
        let Some(on_off) = self.on_off.as_ref().filter(|_| class != TERMINAL) else { return false };
        // Room is taken by notices, not by grants.
        router.credits[pair] += phits;
        on_off.hear(router, (pair, class));
        true
    }

    /// Accounts for what a head that enters a ring may use of an output VC: that head leaves a bubble.
    fn account_entry(&self, router: &mut Router<W>, pair: Pair) {
        let entry = self.shared.tables.entry(pair);
        if entry == pair {
            return;
        }
        router.credits[entry] = router.credits[pair].saturating_sub(self.shared.room.bubble);
        if router.credits[entry] >= self.shared.space(self.shared.room.shortest) {
            router.credit.insert(entry);
        } else {
            router.credit.remove(entry);
        }
    }

    #[inline(never)]
    fn account_shared(
        &mut self,
        number: RegionRouter,
        router: &mut Router<W>,
        pair: Pair,
        (phits, returned): (u32, bool),
    ) {
        let shortest = self.shared.room.shortest;
        let Some(damq) = &mut self.damq else { return };
        let port = self.shared.tables.pair_port(pair);
        let info = self.shared.tables.port(port);
        let count = self.kernel.constants.system.network.layout.output_vcs[port] as usize;
        let of_port = (info.class, number.pair::<W>(info.pair(0)), count);
        for (vc, credits) in damq.account(number.pair::<W>(pair), (phits, returned), of_port).enumerate() {
            let pair = info.pair(vc);
            router.credits[pair] = credits;
            if credits >= shortest {
                router.credit.insert(pair);
            } else {
                router.credit.remove(pair);
            }
        }
    }
}
