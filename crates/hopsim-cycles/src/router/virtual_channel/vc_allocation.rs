//! VC allocation: heads are granted the output VCs that their packets own up to their tails (Dally & Towles, section 17.1). A head whose
//! port is fixed asks for all output VCs there that it may use, any other head for the one that its mechanism decides for.

use crate::choices::Speculation;
use crate::kernel::ids::{Id as _, Pair, RegionRouter, Slot};
use crate::node::Run;
use crate::router::virtual_channel::allocator::Bid;
use crate::router::virtual_channel::region::VirtualChannel;
use crate::router::virtual_channel::requests::{VcRequest, VcRequests};
use crate::router::virtual_channel::routers::set_bits;
use crate::router::virtual_channel::view::{FlitAttempt, VirtualChannelView};
use hopsim_random::{Purpose, Stream};
use hopsim_routing::{Request, Requests};

impl<M: Run> VirtualChannel<'_, M> {
    /// Grants output VCs to the heads of a router.
    pub(super) fn allocate_vcs(&mut self, number: RegionRouter) {
        let mut requests = std::mem::take(&mut self.vc_requests);
        self.gather(number, &mut requests);
        let draws = self.draws(number, 0);
        self.vc_allocator.allocate(number, &requests.bids, draws, &mut requests.granted);
        for &index in &requests.granted {
            self.grant_vc(number, requests.all[index as usize]);
        }
        requests.all.clear();
        requests.bids.clear();
        self.vc_requests = requests;
    }

    /// The random numbers of an allocator of a router in this cycle: 0 is that of output VCs, 1 that of the switch.
    pub(super) fn draws(&self, number: RegionRouter, stage: u64) -> impl FnOnce() -> Stream + use<M> {
        let (seed, now) = (self.kernel.constants.seed, u64::from(self.kernel.now));
        let router = u64::from(self.kernel.span.router(number));
        move || Stream::new(seed, Purpose::Allocation, router).at(now).at(stage)
    }

    /// Collects what the heads of a router ask for that could be granted now.
    fn gather(&mut self, number: RegionRouter, requests: &mut VcRequests) {
        for port in 0..self.shared.ports {
            for vc in set_bits(self.routers.ports(number)[port].present) {
                let slot = self.shared.slot(port, vc);
                let input = &self.routers.inputs[self.shared.slot_id(number, slot)];
                if input.output.is_none() && input.ready <= self.kernel.now {
                    self.ask(number, slot, requests);
                }
            }
        }
    }

    /// Adds what a head asks for that could be granted now.
    fn ask(&mut self, number: RegionRouter, slot: Slot, requests: &mut VcRequests) {
        let input = self.routers.inputs[self.shared.slot_id(number, slot)];
        let mut route = self.kernel.packets.get(input.packet).route;
        let bid = |pair: Pair| Bid {
            input: self.shared.inputs_before[slot.index()],
            output: self.shared.outputs_before[pair.index()],
            is_late: false,
            stamp: self.shared.urgency(input.stamp),
        };
        let asked = requests.all.len();
        if let Some((first, last)) = input.request {
            let view = VirtualChannelView { region: self, number, slot };
            for pair in (first..=last).map(|pair| Pair::at(pair.into())) {
                if view.is_available(pair) {
                    requests.bids.push(bid(pair));
                    requests.all.push(VcRequest { slot, pair, after: route });
                }
            }
            return self.speculate(number, &requests.all[asked..]);
        }
        let mut draws = FlitAttempt::new(self, number, input.packet);
        let view = VirtualChannelView { region: self, number, slot };
        let decision = self.shared.routing.decide(&mut route, &view, &mut draws);
        if let Some(Request { port, vc }) = decision.request {
            let (first, last) = self.shared.range_of(Requests { port, first: vc, last: vc });
            for pair in
                (first..=last).map(|pair| Pair::at(pair.into())).filter(|&pair| view.is_available(pair))
            {
                requests.bids.push(bid(pair));
                requests.all.push(VcRequest { slot, pair, after: decision.after });
            }
        }
        self.speculate(number, &requests.all[asked..]);
        self.kernel.worker.decisions += 1;
        if self.shared.routing.remembers() {
            self.kernel.packets.get_mut(input.packet).route = route;
        }
    }

    /// Notes that a head asks for the switch, too, if its router lets it and an output VC that it asks for takes a flit.
    fn speculate(&mut self, number: RegionRouter, asked: &[VcRequest]) {
        if self.shared.plan.speculation == Speculation::None {
            return;
        }
        let takes = |request: &&VcRequest| self.takes_flit(number, request.pair);
        if let Some(&VcRequest { slot, pair, .. }) = asked.iter().find(takes) {
            self.switch_requests.speculating.push((slot, self.shared.output(pair).0));
        }
    }

    /// A packet owns an output VC from now on.
    fn grant_vc(&mut self, number: RegionRouter, VcRequest { slot, pair, after }: VcRequest) {
        let input = &mut self.routers.inputs[self.shared.slot_id(number, slot)];
        input.output = Some(pair.index() as u16);
        input.ready = self.kernel.now + self.shared.plan.vc_allocation_delay;
        let (packet, length) = (input.packet, u32::from(input.trail.length));
        self.own(number, pair, slot);
        let (port, _) = self.shared.output(pair);
        self.kernel.packets.get_mut(packet).decide(after, self.shared.layout.class[port]);
        if self.shared.is_for_requests(pair) {
            // The space of the reply.
            self.take_room(number, pair, length);
        }
    }

    /// The present packet of a slot owns an output VC. Those for requests nobody owns: the room for the reply has been taken.
    pub(super) fn own(&mut self, number: RegionRouter, pair: Pair, slot: Slot) {
        let is_owned = !self.shared.is_for_requests(pair);
        let output = &mut self.routers.outputs[self.shared.pair_id(number, pair)];
        output.owner = is_owned.then_some(slot.index() as u16);
    }
}
