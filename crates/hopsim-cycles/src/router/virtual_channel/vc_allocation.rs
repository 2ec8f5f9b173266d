//! VC allocation: heads are granted the output VCs that their packets own up to their tails (Dally & Towles, section 17.1). Separable: a
//! head asks for one output VC at a time, and each output VC picks among the heads that ask for it, round robin by slot.

use crate::kernel::ids::{Id as _, Pair, RegionRouter, Slot};
use crate::node::Run;
use crate::router::virtual_channel::region::VirtualChannel;
use crate::router::virtual_channel::requests::VcRequest;
use crate::router::virtual_channel::routers::set_bits;
use crate::router::virtual_channel::view::{FlitAttempt, VirtualChannelView};
use hopsim_network::network::TERMINAL;
use hopsim_routing::view::View as _;

impl<M: Run> VirtualChannel<'_, M> {
    /// Grants output VCs to the heads of a router.
    pub(super) fn allocate_vcs(&mut self, number: RegionRouter) {
        let mut requests = std::mem::take(&mut self.vc_requests);
        self.gather(number, &mut requests.all);
        for (index, request) in requests.all.iter().enumerate() {
            let best = &mut requests.best[request.pair.index()];
            let rank = |slot| self.rank(number, request.pair, slot);
            if best.is_none_or(|best| rank(request.slot) < rank(requests.all[best as usize].slot)) {
                *best = Some(index as u16);
            }
        }
        for (index, &request) in requests.all.iter().enumerate() {
            if requests.best[request.pair.index()] == Some(index as u16) {
                self.grant_vc(number, request);
            }
        }
        for request in requests.all.drain(..) {
            requests.best[request.pair.index()] = None;
        }
        self.vc_requests = requests;
    }

    /// How far a slot is behind the pointer of the arbiter of an output VC.
    fn rank(&self, number: RegionRouter, pair: Pair, slot: Slot) -> usize {
        let pointer = self.routers.outputs[self.shared.pair_id(number, pair)].pointer as usize;
        let slots = self.shared.stride;
        (slot.index() + slots - pointer) % slots
    }

    /// Collects what the heads of a router ask for that could be granted now.
    fn gather(&mut self, number: RegionRouter, requests: &mut Vec<VcRequest>) {
        for port in 0..self.shared.ports {
            for vc in set_bits(self.routers.ports(number)[port].present) {
                let slot = self.shared.slot(port, vc);
                let input = &self.routers.inputs[self.shared.slot_id(number, slot)];
                if input.output.is_none() && input.ready <= self.kernel.now {
                    requests.extend(self.ask(number, slot));
                }
            }
        }
    }

    /// What a head asks for that could be granted now.
    fn ask(&mut self, number: RegionRouter, slot: Slot) -> Option<VcRequest> {
        let input = self.routers.inputs[self.shared.slot_id(number, slot)];
        let id = input.packet;
        let mut route = self.kernel.packets.get(id).route;
        let view = VirtualChannelView { region: self, number, slot };
        if let Some(pair) = input.request {
            let pair = Pair::at(pair.into());
            return view.is_available(pair).then_some(VcRequest { slot, pair, after: route });
        }
        let mut draws = FlitAttempt::new(self, number, id);
        let decision = self.shared.routing.decide(&mut route, &view, &mut draws);
        let feasible = decision.request.filter(|&request| view.open(request));
        self.kernel.worker.decisions += 1;
        if self.shared.routing.remembers() {
            self.kernel.packets.get_mut(id).route = route;
        }
        feasible.map(|request| VcRequest { slot, pair: self.shared.pair(request), after: decision.after })
    }

    /// A packet owns an output VC from now on.
    fn grant_vc(&mut self, number: RegionRouter, VcRequest { slot, pair, after }: VcRequest) {
        let input = &mut self.routers.inputs[self.shared.slot_id(number, slot)];
        input.output = Some(pair.index() as u16);
        input.ready = self.kernel.now + self.shared.plan.vc_allocation_delay;
        let (packet, length) = (input.packet, u32::from(input.trail.length));
        self.own(number, pair, slot);
        let output = &mut self.routers.outputs[self.shared.pair_id(number, pair)];
        output.pointer = ((slot.index() + 1) % self.shared.stride) as u16;
        let (port, vc) = self.shared.output(pair);
        self.kernel.packets.get_mut(packet).decide(after, self.shared.layout.class[port]);
        if self.shared.layout.class[port] == TERMINAL && vc > 0 {
            // The space of the reply.
            self.take_room(number, pair, length);
        }
    }

    /// The present packet of a slot owns an output VC. Of a node there is none to own: it tells the flits of packets apart that come in
    /// turns.
    pub(super) fn own(&mut self, number: RegionRouter, pair: Pair, slot: Slot) {
        let (port, _) = self.shared.output(pair);
        let is_owned = self.shared.layout.class[port] != TERMINAL;
        let output = &mut self.routers.outputs[self.shared.pair_id(number, pair)];
        output.owner = is_owned.then_some(slot.index() as u16);
    }
}
