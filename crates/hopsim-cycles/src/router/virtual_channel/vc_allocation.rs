//! VC allocation: heads are granted the output VCs that their packets own up to their tails (Dally & Towles, section 17.1). A head whose
//! port is fixed asks for all output VCs there that it may use, any other head for the one that its mechanism decides for.

use crate::choices::Speculation;
use crate::kernel::ids::{Id as _, Pair, RegionRouter, SlotId};
use crate::node::Run;
use crate::observer::Observer as _;
use crate::router::virtual_channel::allocator::Bid;
use crate::router::virtual_channel::places::{AskedVcs, InputPlace, OwnedVc};
use crate::router::virtual_channel::region::VirtualChannel;
use crate::router::virtual_channel::requests::{FlitRequests, VcRequest, VcRequests};
use crate::router::virtual_channel::routers::{FlitInputVc, FlitPort, set_bits};
use crate::router::virtual_channel::view::{FlitAttempt, VirtualChannelView};
use hopsim_network::network::TERMINAL;
use hopsim_random::{Purpose, Stream};
use hopsim_routing::RouteState;

impl<M: Run> VirtualChannel<'_, M> {
    /// Grants output VCs to the heads of a router.
    pub(super) fn allocate_vcs(&mut self, number: RegionRouter, requests: &mut FlitRequests) {
        if !M::PLAIN && !self.begins_vcs(number) {
            return;
        }
        self.gather(number, requests);
        if let Some(asked) = &mut requests.vcs_in_turn {
            self.allocate_vcs_in_turn(number, asked, &requests.decided);
        } else {
            let draws = self.draws(number, 0);
            let VcRequests { all, bids, granted } = &mut requests.vcs;
            self.vc_allocator.allocate(number, bids, draws, granted);
            for &index in &*granted {
                self.grant_vc(all[index as usize], &requests.decided);
            }
            all.clear();
            bids.clear();
        }
        requests.decided.clear();
    }

    /// Whether a router allocates output VCs now, and is not busy with an allocation of several cycles.
    fn begins_vcs(&mut self, number: RegionRouter) -> bool {
        let now = self.kernel.now;
        match &self.batches {
            None => return true,
            Some(batches) if !batches.may_allocate_vcs(number, now) => return false,
            Some(_) => {}
        }
        let is_ready = |port: &FlitPort| {
            set_bits(port.heads).any(|vc| self.is_ready(&self.routers.inputs[port.link.first_slot.up(vc)]))
        };
        let asks = self.routers.ports(number).iter().any(is_ready);
        if let Some(batches) = self.batches.as_mut().filter(|_| asks) {
            batches.allocate_vcs(number, now);
        }
        asks
    }

    /// The random numbers of an allocator of a router in this step: 0 is that of output VCs, 1 that of the switch, 2 that of speculating heads, 3
    /// is for arbiters.
    pub(super) fn draws(&self, number: RegionRouter, stage: u64) -> impl FnOnce() -> Stream + use<M> {
        let (seed, step) = (self.kernel.constants.seed, self.step);
        let router = u64::from(self.kernel.span.router(number));
        move || Stream::new(seed, Purpose::Allocation, router).at(step).at(stage)
    }

    /// Collects what the heads of a router ask for that could be granted now.
    fn gather(&mut self, number: RegionRouter, requests: &mut FlitRequests) {
        for port in 0..self.shared.ports {
            let state = self.routers.port(number, port);
            if !M::PLAIN && !state.lets_in {
                continue;
            }
            let first = state.link.first_slot;
            let mut heads = state.heads;
            while heads != 0 {
                let id = first.up(heads.trailing_zeros() as usize);
                heads &= heads - 1;
                if self.is_ready(&self.routers.inputs[id]) {
                    self.ask(number, id, requests);
                }
            }
        }
    }

    /// Adds what the head of an input VC asks for that could be granted now.
    fn ask(&mut self, number: RegionRouter, id: SlotId, requests: &mut FlitRequests) {
        let FlitInputVc { request, packet, place, .. } = self.routers.inputs[id];
        if let Some(asked) = request {
            return self.bid(id, asked, None, requests);
        }
        let mut route = self.kernel.packets.get(packet).route;
        let mut draws = FlitAttempt::new(self, number, packet);
        let slot = self.shared.slot(place.port.into(), place.vc.into());
        let view = VirtualChannelView { region: self, number, slot };
        let decision = self.shared.routing.decide(&mut route, &view, &mut draws);
        if let Some(request) = decision.request {
            let number = requests.decided.len() as u16;
            requests.decided.push(decision.after);
            self.bid(id, self.shared.asked_at(request), Some(number), requests);
        }
        self.kernel.worker.decisions += 1;
        if self.shared.routing.remembers() {
            self.kernel.packets.get_mut(packet).route = route;
        }
    }

    /// Adds the bids of the head of an input VC for those of the output VCs which it asks for that could be granted now; with one of them its packet
    /// remembers what has been decided as number `after`.
    #[expect(clippy::inline_always, reason = "per attempt of a head; measured")]
    #[inline(always)]
    fn bid(&self, slot: SlotId, asked: AskedVcs, after: Option<u16>, requests: &mut FlitRequests) {
        let head = &self.routers.inputs[slot];
        let InputPlace { before: input, .. } = head.place;
        let port = self.routers.port_beside(head.place, asked.port);
        let available = self.available(port, asked, head.trail.length.into());
        if available == 0 {
            return;
        }
        let speculates = !M::PLAIN && self.shared.plan.speculation != Speculation::None;
        let output = (head.place.router(), usize::from(asked.port));
        if speculates && available & port.takers() != 0 && self.is_free(output, self.step) {
            requests.switch.speculating.push((slot, asked.port.into()));
        }
        let available = if M::PLAIN { available } else { self.empty_first(port, available) };
        let first = port.link.outputs_before;
        let request = |vc: usize| {
            let output = OwnedVc { pair: port.link.pair_base + vc as u16, port: asked.port, vc: vc as u8 };
            VcRequest { slot, output, after }
        };
        let outputs = self.vc_allocator.narrow(head.place.router(), (input, first), available);
        if let Some(in_turn) = &mut requests.vcs_in_turn {
            // Such an allocator leaves one.
            let vc = outputs.trailing_zeros() as usize;
            return in_turn.ask(input.into(), usize::from(first) + vc, request(vc));
        }
        let stamp = self.urgency(slot, head);
        for vc in set_bits(outputs) {
            let output = first + vc as u16;
            requests.vcs.bids.push(Bid { input, output, slot, is_late: false, stamp });
            requests.vcs.all.push(request(vc));
        }
    }

    /// The output VCs of a port, of those asked for, that the head of a packet of so many flits could be granted now, a bit each.
    fn available(&self, port: &FlitPort, asked: AskedVcs, length: u32) -> u64 {
        if !M::PLAIN && !port.in_order {
            return 0;
        }
        let free = asked.mask() & port.unowned;
        // Plain routers have no output VCs for requests.
        let needed = if M::PLAIN {
            port.link.needed.unwrap_or(length)
        } else {
            port.link.needed_for(asked.last, length)
        };
        match needed {
            0 => free,
            1 => free & port.credited,
            needed => self.with_credits(port, free, needed),
        }
    }

    /// Of some output VCs of a port, a bit each, those with so many credits or more.
    fn with_credits(&self, port: &FlitPort, vcs: u64, credits: u32) -> u64 {
        let has_credits = |vc: &usize| self.routers.outputs[port.link.first_pair.up(*vc)].credits >= credits;
        set_bits(vcs).filter(has_credits).fold(0, |all, vc| all | 1 << vc)
    }

    /// Of some output VCs of a port those behind which nothing is, if these go first and there are any.
    fn empty_first(&self, port: &FlitPort, vcs: u64) -> u64 {
        if !self.shared.plan.empty_vcs_first {
            return vcs;
        }
        let room = match (port.link.class, self.shared.plan.ejection) {
            (TERMINAL, None) => return vcs,
            (TERMINAL, Some(buffers)) => buffers.size,
            (class, _) => self.buffer(class - 1),
        };
        match self.with_credits(port, vcs, room) {
            0 => vcs,
            empty => empty,
        }
    }

    /// Flits that the buffer behind an output VC of a link class holds.
    pub(super) fn buffer(&self, class: u8) -> u32 {
        self.kernel.constants.system.network.classes.links[class as usize].buffer
    }

    /// A packet owns an output VC from now on.
    #[inline]
    pub(super) fn grant_vc(&mut self, VcRequest { slot, output, after }: VcRequest, decided: &[RouteState]) {
        let input = &mut self.routers.inputs[slot];
        let place = input.place;
        input.output = Some(output);
        input.ready = (self.step as u32).wrapping_add(self.shared.plan.vc_allocation_delay);
        let (packet, length) = (input.packet, u32::from(input.trail.length));
        self.routers.own(place);
        self.own(place, output);
        if !M::PLAIN && M::Observer::hears_flits(&self.kernel.places) {
            self.tell_owner(slot);
        }
        if let Some(after) = after {
            let class = self.routers.port_beside(place, output.port).link.class;
            self.kernel.packets.get_mut(packet).decide(decided[usize::from(after)], class);
        }
        if !M::PLAIN && self.shared.is_for_requests(output) {
            // The space of the reply.
            self.take_room(self.shared.pair_id(place.router(), Pair::at(output.pair.into())), length);
        }
    }

    /// The present packet of an input VC owns an output VC. Those for requests nobody owns: the room for the reply has been taken.
    pub(super) fn own(&mut self, place: InputPlace, OwnedVc { port, vc, .. }: OwnedVc) {
        let slot = self.shared.slot(place.port.into(), place.vc.into());
        let port = self.routers.port_beside_mut(place, port);
        if !M::PLAIN && vc >= port.link.first_request {
            return;
        }
        port.unowned &= !(1 << vc);
        let id = port.link.first_pair.up(vc.into());
        self.routers.outputs[id].owner = Some(slot.index() as u16);
    }
}
