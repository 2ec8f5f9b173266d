//! Routers in a snapshot, whatever the cut and the pools: what is not saved follows from what is, or is scratch.

use crate::kernel::ids::{Id as _, Pair, RegionRouter, Slot, SlotId};
use crate::kernel::packet::Packet;
use crate::kernel::pool::Queue;
use crate::kernel::rows::{put_row, row};
use crate::kernel::wires::{Arrival, Credit};
use crate::node::{Nodes, Run};
use crate::router::virtual_channel::allocator::Turns;
use crate::router::virtual_channel::batches::RouterBatches;
use crate::router::virtual_channel::outages::RouterOutages;
use crate::router::virtual_channel::output_queues::QueuedPort;
use crate::router::virtual_channel::places::AskedVcs;
use crate::router::virtual_channel::region::VirtualChannel;
use crate::router::virtual_channel::routers::{FlitInputVc, FlitOutputVc, FlitPort, Trail};
use crate::state::{State, saved_pair, saved_slot};
use hopsim_network::network::{NONE, TERMINAL};
use hopsim_routing::Request;
use serde::{Deserialize, Serialize};

/// The routers of a network, and nodes of some kind, in a snapshot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SavedFlitRouters<N> {
    pub(super) routers: Vec<FlitRouterState>,
    pub(super) nodes: N,
}

/// The state of a router.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FlitRouterState {
    ports: Vec<FlitPortState>,
    pub(super) inputs: Vec<InputState>,
    /// Free flits by pair.
    pub(super) outputs: Vec<u32>,
    /// Flits outstanding by pair, where the VCs of a port share its buffer.
    outstanding: Vec<u32>,
    /// Where the arbiters of the VC allocator and of the switch allocator begin.
    turns: [Turns; 2],
    /// Where the arbiters of the switch allocator for heads without output VCs begin, if there is one.
    speculative_turns: Option<Turns>,
    /// Where the arbiters of the inputs of the crossbar begin.
    input_turns: Vec<u8>,
    /// The slots whose packets hold the inputs of the crossbar.
    pub(super) held: Vec<Option<u16>>,
    /// What ports remember that have queues.
    queues: Vec<QueuedPort>,
    /// What the router is busy with if its stages are no pipelines.
    batches: Option<RouterBatches>,
    /// Heads on their way, with their slots.
    pub(super) arrivals: Vec<(u16, Packet)>,
    /// Flits behind a head on their way: when they arrive, and their slots.
    pub(super) flits: Vec<(u32, u16)>,
    /// Credits on their way: when they are due, pair, flits.
    pub(super) returning: Vec<(u32, u16, u16)>,
    /// What is out of order.
    pub(super) outages: RouterOutages,
}

/// The state of a port.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct FlitPortState {
    free_at: u32,
}

/// The state of an input VC. If there is no present packet, the first one behind becomes it as the state is loaded: between two cycles that
/// is so only where a change has taken the present one away, or has it begin anew.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct InputState {
    pub(super) behind: Vec<Packet>,
    pub(super) packet: Option<Packet>,
    pub(super) flits: u16,
    pub(super) left: u16,
    pub(super) output: Option<u16>,
    request: Option<AskedVcs>,
    stamp: u32,
    ready: u32,
    trail: Trail,
    /// When its flits arrived, if they have ages of their own.
    pub(super) arrivals: Vec<u32>,
}

impl InputState {
    /// Whether the head of the present packet has left.
    pub(super) fn has_sent_head(&self) -> bool {
        self.left > 0 && self.left < self.trail.length
    }
}

impl FlitRouterState {
    /// Puts what is on its way to the router in an order that does not depend on the cut.
    fn sort_wires(&mut self) {
        self.arrivals.sort_by_key(|(slot, packet)| (packet.arrived, *slot));
        self.flits.sort_unstable();
        self.returning.sort_unstable();
    }
}

impl FlitPortState {
    fn of(port: &FlitPort) -> Self {
        Self { free_at: port.free_at }
    }
}

impl<M: Run> VirtualChannel<'_, M> {
    /// Adds the region to the state of a network.
    pub fn save_in(&self, state: &mut State<SavedFlitRouters<<M::Nodes as Nodes<M>>::Saved>>) {
        let Self {
            kernel,
            nodes,
            shared: _,
            routers: _,
            output_queues: _,
            batches: _,
            damq: _,
            outstanding: _,
            outages: _,
            flit_arrivals: _,
            step: _,
            active: _,
            room: _,
            requests: _,
            vc_allocator: _,
            switch_allocator: _,
            speculative_allocator: _,
        } = self;
        let numbers = (0..kernel.span.routers).map(RegionRouter::at);
        let mut saved: Vec<FlitRouterState> = numbers.map(|number| self.save_router(number)).collect();
        self.save_wires(&mut saved);
        state.region.routers.append(&mut saved);
        nodes.save(kernel, &mut state.region.nodes);
    }

    /// The state of a router, without what is on its way to it.
    fn save_router(&self, number: RegionRouter) -> FlitRouterState {
        let (layout, first) = (self.shared.layout, self.shared.pair_id(number, Pair::at(0)));
        let output = |pair| {
            let id = self.shared.pair_id(number, Pair::at(pair));
            // Who owns the output VC follows from the input VCs.
            let FlitOutputVc { credits, owner: _ } = self.routers.outputs[id];
            credits
        };
        FlitRouterState {
            ports: self.routers.ports(number).iter().map(FlitPortState::of).collect(),
            inputs: (0..layout.slots()).map(|slot| self.save_input(number, Slot::at(slot))).collect(),
            outputs: (0..layout.pairs()).map(output).collect(),
            outstanding: self.damq.as_ref().map_or_else(Vec::new, |damq| {
                row(damq.outstanding.as_slice(), first.index(), layout.pairs())
            }),
            turns: [&self.vc_allocator, &self.switch_allocator]
                .map(|each| each.turns(number).unwrap_or_default()),
            speculative_turns: self.speculative_allocator.turns(number),
            input_turns: self.routers.turns(number).to_vec(),
            held: self.routers.held(number).to_vec(),
            batches: self.batches.as_ref().map(|batches| batches.row(number).clone()),
            queues: self.output_queues.as_ref().map_or_else(Vec::new, |queues| queues.row(number).to_vec()),
            arrivals: Vec::new(),
            flits: Vec::new(),
            returning: Vec::new(),
            outages: self.outages.save(number),
        }
    }

    fn save_input(&self, number: RegionRouter, slot: Slot) -> InputState {
        let (packets, id) = (&self.kernel.packets, self.shared.slot_id(number, slot));
        let FlitInputVc { behind, packet, flits, left, output, request, stamp, ready, trail, place: _ } =
            self.routers.inputs[id];
        InputState {
            behind: behind.records(packets),
            packet: (packet != NONE).then(|| packets.get(packet).clone()),
            flits,
            left,
            output: output.map(|owned| owned.pair),
            request,
            stamp,
            ready,
            trail,
            arrivals: self.flit_arrivals.as_ref().map_or_else(Vec::new, |all| all.row(id)),
        }
    }

    /// Saves what is on its way to routers.
    fn save_wires(&self, routers: &mut [FlitRouterState]) {
        let kernel = &self.kernel;
        let inside =
            kernel.arrivals.iter().map(|&Arrival { slot, packet }| (slot, kernel.packets.get(packet)));
        let from_others = kernel.immigrants.iter().map(|packet| (SlotId::at(packet.next as usize), packet));
        for (slot, packet) in inside.chain(from_others) {
            let (number, slot) = self.shared.split_slot(slot);
            routers[number.index()].arrivals.push((slot.index() as u16, packet.clone()));
        }
        for (at, &slot) in kernel.flits.pending(kernel.now) {
            let (number, slot) = self.shared.split_slot(slot);
            routers[number.index()].flits.push((at, slot.index() as u16));
        }
        for (at, &Credit { pair, phits, minimal: _ }) in kernel.credits.pending(kernel.now) {
            let (number, pair) = self.shared.split_pair(pair);
            routers[number.index()].returning.push((at, pair.index() as u16, phits));
        }
        routers.iter_mut().for_each(FlitRouterState::sort_wires);
    }

    /// Goes on, in an empty region, with its part of the state of a network.
    pub fn load_from(&mut self, state: &State<SavedFlitRouters<<M::Nodes as Nodes<M>>::Saved>>) {
        let SavedFlitRouters { routers, nodes } = &state.region;
        let span = self.kernel.span;
        self.kernel.now = state.cycle;
        let first = span.first_router as usize;
        for (number, router) in routers[first..first + span.routers].iter().enumerate() {
            self.load_router(RegionRouter::at(number), router);
        }
        self.find_room();
        let Self { kernel, nodes: own, .. } = self;
        own.load(kernel, nodes);
    }

    fn load_router(&mut self, number: RegionRouter, state: &FlitRouterState) {
        let FlitRouterState {
            ports,
            inputs,
            outputs,
            outstanding,
            turns,
            speculative_turns,
            input_turns,
            held,
            queues,
            batches,
            arrivals,
            flits,
            returning,
            outages,
        } = state;
        self.load_outages(number, outages);
        for (own, state) in self.routers.ports_mut(number).iter_mut().zip(ports) {
            let &FlitPortState { free_at } = state;
            *own = FlitPort { free_at, ..*own };
        }
        for (pair, &credits) in outputs.iter().enumerate() {
            let id = self.shared.pair_id(number, Pair::at(pair));
            self.routers.outputs[id] = FlitOutputVc { credits, owner: None };
        }
        if let Some(damq) = &mut self.damq {
            let first = self.shared.pair_id(number, Pair::at(0)).index();
            put_row(damq.outstanding.as_mut_slice(), first, outstanding);
        }
        self.routers.turns_mut(number).copy_from_slice(input_turns);
        let [of_vcs, of_switch] = turns;
        self.vc_allocator.set_turns(number, of_vcs);
        self.switch_allocator.set_turns(number, of_switch);
        if let Some(turns) = speculative_turns {
            self.speculative_allocator.set_turns(number, turns);
        }
        self.routers.held_mut(number).copy_from_slice(held);
        if let (Some(own), Some(batches)) = (&mut self.batches, batches) {
            own.put_row(number, batches);
        }
        if let Some(own) = &mut self.output_queues {
            own.put_row(number, queues);
        }
        for (slot, state) in inputs.iter().enumerate() {
            self.load_input((number, Slot::at(slot)), state);
        }
        let (layout, kernel) = (self.shared.layout, &mut self.kernel);
        for (slot, packet) in arrivals {
            let slot = self.shared.slot_id(number, saved_slot(layout, *slot));
            let at = packet.arrived;
            let packet = kernel.packets.insert(packet.clone());
            kernel.arrivals.push(at, Arrival { slot, packet });
        }
        for &(at, slot) in flits {
            kernel.flits.push(at, self.shared.slot_id(number, saved_slot(layout, slot)));
        }
        for &(at, pair, phits) in returning {
            let pair = self.shared.pair_id(number, saved_pair(layout, pair));
            kernel.credits.push(at, Credit { pair, phits, minimal: 0 });
        }
    }

    fn load_outages(&mut self, number: RegionRouter, state: &RouterOutages) {
        let (layout, shared) = (self.shared.layout, &self.shared);
        for dead in &state.dead {
            self.routers.port_mut(number, dead.port.into()).in_order = false;
        }
        for port in (0..layout.ports()).filter(|&port| layout.class[port] == TERMINAL) {
            self.routers.port_mut(number, port).lets_in = state.closed.is_empty();
        }
        let first = |port: usize| shared.pair_id(number, shared.pair(Request { port, vc: 0 }));
        self.outages.load(number, state, first, self.kernel.span.routers * shared.stride);
    }

    fn load_input(&mut self, (number, slot): (RegionRouter, Slot), state: &InputState) {
        let InputState { behind, packet, flits, left, output, request, stamp, ready, trail, arrivals } =
            state;
        let packets = &mut self.kernel.packets;
        let id = self.shared.slot_id(number, slot);
        let place = self.routers.inputs[id].place;
        let owned = output.map(|pair| self.shared.owned(saved_pair(self.shared.layout, pair)));
        self.routers.inputs[id] = FlitInputVc {
            behind: Queue::of(packets, behind.iter().cloned()),
            packet: packet.as_ref().map_or(NONE, |packet| packets.insert(packet.clone())),
            flits: *flits,
            left: *left,
            output: owned,
            request: *request,
            stamp: *stamp,
            ready: *ready,
            trail: *trail,
            place,
        };
        if let Some(all) = &mut self.flit_arrivals {
            all.put_row(id, arrivals);
        }
        if *left > 0 {
            self.routers.begin(place);
            self.active[number.index() / 64] |= 1 << (number.index() % 64);
        }
        if let Some(owned) = owned {
            self.routers.own(place);
            self.routers.has_flit(place, *flits > 0);
            self.own(place, owned);
        }
        if *left == 0 && !behind.is_empty() {
            let next = self.routers.inputs[id].behind.pop(&self.kernel.packets);
            let step = self.shared.plan.speedup.steps(self.kernel.now).start;
            self.begin_packet(id, next, step as u32);
        }
    }
}
