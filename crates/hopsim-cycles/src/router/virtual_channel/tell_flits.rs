//! What observers hear of flits one by one.
//!
//! A stage of several cycles ends with the last of them, and one of no cycle with the step in which it would have begun.

use crate::kernel::ids::{PairId, SlotId};
use crate::node::Run;
use crate::observer::{FlitEvent, FlitGrant, Observer as _};
use crate::router::virtual_channel::region::VirtualChannel;

impl<M: Run> VirtualChannel<'_, M> {
    // Out of line, as few runs hear of flits.
    #[inline(never)]
    fn tell_event(&mut self, slot: SlotId, event: &FlitEvent<'_>) {
        M::Observer::flit(&mut self.kernel.places, slot, event);
    }

    /// A flit arrives in an input VC.
    pub(super) fn tell_arrival(&mut self, slot: SlotId) {
        self.tell_event(slot, &FlitEvent::Arrives(self.kernel.now));
    }

    /// A packet begins in an input VC, whose route is computed from step `from` on, and which may ask for an output VC from step `ready` on.
    #[inline(never)]
    pub(super) fn tell_route(&mut self, slot: SlotId, (from, ready): (u32, u32)) {
        let last = if ready == from { from } else { ready.wrapping_sub(1) };
        let at = self.cycle_of(last);
        self.tell_event(slot, &FlitEvent::IsRouted(at));
    }

    /// The present packet of an input VC has been granted an output VC in this step.
    #[inline(never)]
    pub(super) fn tell_owner(&mut self, slot: SlotId) {
        let later = self.shared.plan.vc_allocation_delay - 1;
        let at = self.cycle_of((self.step as u32).wrapping_add(later));
        self.tell_event(slot, &FlitEvent::OwnsVc(at));
    }

    /// The next flit of an input VC, the head of its packet or not, is granted the switch.
    #[inline(never)]
    pub(super) fn tell_flit(&mut self, slot: SlotId, (is_head, pair): (bool, PairId), departure: u32) {
        let id = self.routers.inputs[slot].packet;
        let head = is_head.then(|| self.kernel.packets.get(id));
        let grant = FlitGrant { head, pair, now: self.kernel.now, departure };
        M::Observer::flit(&mut self.kernel.places, slot, &FlitEvent::Crosses(&grant));
    }

    /// The cycle of a step, not before the present one, of which the last 32 bits are given.
    fn cycle_of(&self, step: u32) -> u32 {
        let ahead = step.wrapping_sub(self.step as u32);
        self.shared.plan.speedup.cycle_of(self.step + u64::from(ahead))
    }
}
