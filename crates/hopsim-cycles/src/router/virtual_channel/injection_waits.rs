//! What the heads of injection VCs wait for, cycle by cycle, where an observer wants to hear of it. The look changes nothing.
//!
//! A head takes part from the cycle on in which it could ask for the switch if it had been granted an output VC at once. It is looked
//! at before the allocation; if its first flit crosses, that cycle is taken back ([`Observer::head_leaves`]).

use crate::kernel::ids::{Id as _, Pair, RegionRouter, Slot, SlotId};
use crate::node::Run;
use crate::observer::{Observer, WaitReason};
use crate::router::virtual_channel::places::InputPlace;
use crate::router::virtual_channel::region::VirtualChannel;
use crate::router::virtual_channel::routers::occupied;
use crate::router::virtual_channel::view::VirtualChannelView;
use hopsim_network::network::TERMINAL;

impl<M: Run> VirtualChannel<'_, M> {
    /// Counts this cycle for the heads of the injection VCs.
    pub(super) fn count_injection_waits(&mut self) {
        if !self.kernel.worker.observer.hears_heads_now() {
            return;
        }
        for number in (0..self.kernel.span.routers).map(RegionRouter::at) {
            for (place, slot) in self.injection_heads(number) {
                let id = self.shared.slot_id(number, slot);
                if self.first_chance(id) > self.kernel.now {
                    continue;
                }
                let reason = self.lack(number, slot).0;
                let node = self.injection_vc(place).0.node(self.kernel.constants.nodes_per_router);
                M::Observer::head_waits(&mut self.kernel.places, node, id, reason);
            }
        }
    }

    /// Counts, at the end of the run, the cycles of the heads of injection VCs that still wait.
    pub(super) fn settle_injection_waits(&mut self) {
        for number in (0..self.kernel.span.routers).map(RegionRouter::at) {
            for (place, slot) in self.injection_heads(number) {
                self.end_injection_wait(place, self.shared.slot_id(number, slot));
            }
        }
    }

    /// The head of an injection VC leaves in this cycle, or this is the end of the run.
    pub(super) fn end_injection_wait(&mut self, place: InputPlace, id: SlotId) {
        let node = self.injection_vc(place).0.node(self.kernel.constants.nodes_per_router);
        let first = self.first_chance(id);
        let (places, now) = (&mut self.kernel.places, self.kernel.now);
        self.kernel.worker.observer.head_leaves(places, (node, id), first, now);
    }

    /// The injection VCs of a router that hold a head, each with its slot.
    fn injection_heads(&self, number: RegionRouter) -> Vec<(InputPlace, Slot)> {
        let slots = occupied(&self.shared, self.routers.ports(number));
        let heads = slots.filter_map(|slot| {
            let input = &self.routers.inputs[self.shared.slot_id(number, slot)];
            let injects = self.shared.layout.class[usize::from(input.place.port)] == TERMINAL;
            (injects && input.has_head()).then_some((input.place, slot))
        });
        heads.collect()
    }

    /// The first cycle in which the head of an input VC could have crossed.
    pub(super) fn first_chance(&self, id: SlotId) -> u32 {
        let input = &self.routers.inputs[id];
        let (plan, arrived) = (&self.shared.plan, self.kernel.packets.get(input.packet).arrived);
        plan.speedup.cycle_of(plan.speedup.steps(arrived).start + u64::from(plan.until_switch()))
    }

    /// What the present packet of a slot waits for, and the output VC. Of several that its head may ask for, the one counts that lacks least.
    pub(super) fn lack(&self, number: RegionRouter, slot: Slot) -> (WaitReason, Option<Pair>) {
        let input = &self.routers.inputs[self.shared.slot_id(number, slot)];
        if let Some(pair) = input.owned() {
            return (self.lack_of_switch(number, pair), Some(pair));
        }
        let lack = |pair: Pair| (self.lack_of_vc(number, slot, pair), pair.index());
        let least = self.options(number, slot).into_iter().map(lack).min();
        least.map_or((WaitReason::Arbitration, None), |(reason, pair)| (reason, Some(Pair::at(pair))))
    }

    /// What keeps the next flit of a packet from crossing to the output VC that the packet owns.
    fn lack_of_switch(&self, number: RegionRouter, pair: Pair) -> WaitReason {
        let (port, vc) = self.shared.output(pair);
        let state = self.routers.port(number, port);
        let step = self.shared.plan.speedup.steps(self.kernel.now).start;
        if !state.takes_flit(vc) {
            WaitReason::Credits
        } else if !self.is_free((number, port), step) {
            WaitReason::Output
        } else {
            WaitReason::Arbitration
        }
    }

    /// What keeps a head from being granted an output VC.
    fn lack_of_vc(&self, number: RegionRouter, slot: Slot, pair: Pair) -> WaitReason {
        if (VirtualChannelView { region: self, number, slot }).is_available(pair) {
            WaitReason::Arbitration
        } else if self.routers.outputs[self.shared.pair_id(number, pair)].owner.is_some()
            || !self.routers.port(number, self.shared.output(pair).0).in_order
        {
            WaitReason::Output
        } else {
            WaitReason::Credits
        }
    }
}
