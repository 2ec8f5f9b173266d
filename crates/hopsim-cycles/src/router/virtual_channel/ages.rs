//! How urgent input VCs are to arbiters that look at packets.

use crate::choices::FlitArbiter;
use crate::kernel::ids::{Id as _, SlotId};
use crate::node::Run;
use crate::router::virtual_channel::region::VirtualChannel;
use crate::router::virtual_channel::routers::FlitInputVc;
use hopsim_network::network::TERMINAL;

/// Key of what arbiters draw in a step, behind those of allocators.
const ARBITERS: u64 = 3;

impl<M: Run> VirtualChannel<'_, M> {
    /// What arbiters compare of an input VC with flits, smaller ones going first; nothing if they serve in turn.
    #[inline]
    pub(super) fn urgency(&self, slot: SlotId, input: &FlitInputVc) -> u32 {
        match self.shared.plan.arbiter {
            FlitArbiter::Age(age) if age.by_flit || age.donation => self.urgency_of_flits(slot, input),
            FlitArbiter::Age(_) | FlitArbiter::HopCount(_) | FlitArbiter::Priority(_) => input.stamp,
            FlitArbiter::QueueLength(_) => u32::MAX - u32::from(input.flits),
            FlitArbiter::Random(_) => self.drawn(slot),
            FlitArbiter::RoundRobin(_)
            | FlitArbiter::LeastRecentlyServed(_)
            | FlitArbiter::FixedPriority(_) => 0,
        }
    }

    /// What an input VC has drawn in this step, if arbiters pick at random.
    fn drawn(&self, slot: SlotId) -> u32 {
        let (number, slot) = self.shared.split_slot(slot);
        let draws = self.draws(number, ARBITERS);
        draws().at(slot.index() as u64).below(u32::MAX)
    }

    /// The time stamp of the first flit if flits have ages of their own, else the smallest one of all packets in an input VC.
    fn urgency_of_flits(&self, slot: SlotId, input: &FlitInputVc) -> u32 {
        if let Some(arrivals) = &self.flit_arrivals {
            return arrivals.first(slot).unwrap_or(input.stamp);
        }
        let is_injection = self.routers.port_of(input.place).link.class == TERMINAL;
        let stamp = |id| self.shared.stamp(self.kernel.packets.get(id), is_injection);
        input.behind.iter(&self.kernel.packets).map(stamp).fold(input.stamp, u32::min)
    }
}
