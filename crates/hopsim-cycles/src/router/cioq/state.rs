//! Routers in a snapshot, whatever the cut, the pools and the mode: what is not saved follows from what is, or is scratch.
//! Routers that are left alone are not told from others: one look shows that nothing can be done there.

use crate::kernel::Kernel;
use crate::kernel::ids::{Id as _, Pair, PairId, RegionRouter, Slot, SlotId};
use crate::kernel::packet::Packet;
use crate::kernel::pool::Queue;
use crate::kernel::rows::{put_row, row};
use crate::kernel::wires::{Arrival, Credit};
use crate::node::{Nodes, Run};
use crate::router::cioq::contention::ContentionState;
use crate::router::cioq::context::Context;
use crate::router::cioq::extras::ExtrasState;
use crate::router::cioq::marks::MarksState;
use crate::router::cioq::mask::Mask;
use crate::router::cioq::on_off::Notice;
use crate::router::cioq::outages::{ClosedDoors, DeadPort};
use crate::router::cioq::region::Cioq;
use crate::router::cioq::routers::{InputVc, Port, Router};
use crate::router::cioq::sat::{SatSignal, SatState};
use crate::router::damq::Damq;
use crate::state::{State, saved_pair, saved_slot};
use hopsim_network::network::TERMINAL;
use hopsim_routing::prospect::Prospect;
use serde::{Deserialize, Serialize};

/// The routers of a network, and nodes of some kind, in a snapshot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SavedRouters<N> {
    pub(super) routers: Vec<RouterState>,
    sat: Option<SatState>,
    pub(super) nodes: N,
}

/// The state of a router.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RouterState {
    pub(super) ports: Vec<PortState>,
    pub(super) slots: Vec<SlotState>,
    /// Free phits of the buffer behind each output VC, by pair.
    pub(super) credits: Vec<u32>,
    /// Pairs with credit for the shortest packet, a bit each.
    open: Vec<u64>,
    /// Heads on their way, with their slots.
    pub(super) arrivals: Vec<(u16, Packet)>,
    /// Credits on their way: when they are due, pair, phits, phits of packets on their minimal path.
    pub(super) returning: Vec<(u32, u16, u16, u16)>,
    /// With on/off flow control what will be known to have arrived: when, pair, phits.
    noticed: Vec<(u32, u16, u16)>,
    pub(super) extras: ExtrasState,
    /// Phits outstanding in shared buffers, by pair.
    outstanding: Vec<u32>,
    /// Phits of packets on their minimal path that are outstanding, by pair.
    minimal: Vec<u32>,
    contention: Option<ContentionState>,
    marks: Option<MarksState>,
    /// Ports whose links are out of order.
    pub(super) dead: Vec<DeadPort>,
    /// Inputs from nodes, if these inject nothing.
    pub(super) closed: Option<ClosedDoors>,
}

impl RouterState {
    /// Puts what is on its way to the router in an order that does not depend on the cut.
    fn sort_wires(&mut self) {
        self.arrivals.sort_by_key(|(slot, packet)| (packet.arrived, *slot));
        self.returning.sort_unstable();
        self.noticed.sort_unstable();
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PortState {
    pub(super) in_free: u32,
    pub(super) out_ready: u32,
    tail: u32,
    in_pointer: u8,
    out_pointer: [u16; 2],
    ring: u8,
}

/// The state of an input VC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SlotState {
    pub(super) packets: Vec<Packet>,
    pub(super) asks: Asks,
}

/// What the head of a slot asks for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Asks {
    /// Nothing: there is no head, or it is held.
    Nothing,
    /// A pair, without a choice.
    Fixed(u16),
    /// One of several outputs: the head has a choice, and may sleep.
    Choice(Prospect, bool),
    /// What is found out when the simulation goes on: the head is routed anew.
    Anew,
}

impl PortState {
    fn of(port: &Port) -> Self {
        let Port {
            in_free,
            out_ready,
            tail,
            in_pointer,
            out_pointer,
            ring,
            to_slot: _,
            to_pair: _,
            region: _,
            latency: _,
            class: _,
            pace: _,
        } = *port;
        Self { in_free, out_ready, tail, in_pointer, out_pointer, ring }
    }

    fn load(&self, port: &mut Port) {
        let Self { in_free, out_ready, tail, in_pointer, out_pointer, ring } = *self;
        *port = Port { in_free, out_ready, tail, in_pointer, out_pointer, ring, ..*port };
    }
}

impl<const W: usize, M: Run> Cioq<'_, W, M> {
    /// Adds the region to the state of a network.
    pub fn save_in(&self, state: &mut State<SavedRouters<<M::Nodes as Nodes<M>>::Saved>>) {
        let Self { context, routers, extras: _, active: _, wakes: _, allocator: _, waits: _ } = self;
        let Context {
            kernel,
            nodes,
            shared: _,
            masks: _,
            damq: _,
            on_off: _,
            contention,
            marks,
            sat,
            minimal: _,
            outages: _,
            outstanding: _,
        } = context;
        let Kernel {
            constants: _,
            regions: _,
            span: _,
            now,
            packets: _,
            arrivals: _,
            immigrants: _,
            flits: _,
            credits: _,
            messages: _,
            places: _,
            worker: _,
        } = kernel;
        let mut saved: Vec<RouterState> = routers.ids().map(|number| self.save_router(number)).collect();
        self.save_wires(&mut saved);
        if let Some(contention) = contention {
            let states = contention.save(*now, (64 * W, self.slots()));
            saved.iter_mut().zip(states).for_each(|(router, state)| router.contention = Some(state));
        }
        if let Some(marks) = marks {
            let states = marks.save(*now);
            saved.iter_mut().zip(states).for_each(|(router, state)| router.marks = Some(state));
        }
        state.region.routers.append(&mut saved);
        state.region.sat = sat.as_ref().map(SatSignal::save);
        nodes.save(kernel, &mut state.region.nodes);
    }

    /// Slots of a router that are in use.
    fn slots(&self) -> usize {
        self.context.kernel.constants.system.network.layout.slots()
    }

    /// Ports of a router, as inputs or as outputs.
    fn ports(&self) -> usize {
        let tables = &self.context.shared.tables;
        tables.port_count.max(tables.input_count)
    }

    /// The state of a router, without what is on its way to it.
    fn save_router(&self, number: RegionRouter) -> RouterState {
        let (cx, router) = (&self.context, &self.routers[number]);
        let Router { wanted: _, credit, choosing: _, ports, slots: _, wants: _, credits } = router;
        let (pairs, inputs) =
            (cx.kernel.constants.system.network.layout.pairs(), cx.shared.tables.input_count);
        let first = number.pair::<W>(Pair::at(0)).index();
        let (dead, closed) = cx.outages.save(number);
        let outstanding = |Damq { shares: _, outstanding }: &Damq| row(outstanding.as_slice(), first, pairs);
        RouterState {
            ports: (0..self.ports()).map(|port| PortState::of(&ports[port])).collect(),
            slots: (0..self.slots()).map(|slot| self.save_slot((number, Slot::at(slot)))).collect(),
            credits: (0..pairs).map(|pair| credits[Pair::at(pair)]).collect(),
            open: credit.words().to_vec(),
            arrivals: Vec::new(),
            returning: Vec::new(),
            noticed: Vec::new(),
            extras: self.extras.save::<M>(number, (self.ports(), inputs, self.slots())),
            outstanding: cx.damq.as_ref().map_or_else(Vec::new, outstanding),
            minimal: row(cx.minimal.as_slice(), first, pairs),
            contention: None,
            marks: None,
            dead,
            closed,
        }
    }

    fn save_slot(&self, (number, slot): (RegionRouter, Slot)) -> SlotState {
        let router = &self.routers[number];
        let state = &router.slots[slot];
        let InputVc { queue, request: _ } = state;
        let asks = if router.choosing.contains(slot) {
            let (prospect, sleeps) = self.extras.choices.save((number, slot));
            Asks::Choice(prospect, sleeps)
        } else if router.wants[state.request()].contains(slot) {
            Asks::Fixed(state.request().index() as u16)
        } else {
            Asks::Nothing
        };
        SlotState { packets: queue.records(&self.context.kernel.packets), asks }
    }

    /// Saves what is on its way to routers. The order in which that was sent, which depends on the cut, does not matter.
    fn save_wires(&self, routers: &mut [RouterState]) {
        let kernel = &self.context.kernel;
        let inside =
            kernel.arrivals.pending(kernel.now).map(|(_, Arrival { slot, packet })| (*slot, *packet));
        let inside = inside.map(|(slot, packet)| (slot, kernel.packets.get(packet)));
        let from_others = kernel.immigrants.pending(kernel.now);
        let from_others = from_others.map(|(_, packet)| (SlotId::at(packet.next as usize), packet));
        for (slot, packet) in inside.chain(from_others) {
            let (number, slot) = slot.split::<W>();
            routers[number.index()].arrivals.push((slot.index() as u16, packet.clone()));
        }
        for (at, &Credit { pair, phits, minimal }) in kernel.credits.pending(kernel.now) {
            let (number, pair) = pair.split::<W>();
            routers[number.index()].returning.push((at, pair.index() as u16, phits, minimal));
        }
        if let Some(on_off) = &self.context.on_off {
            for (at, &Notice { pair, phits }) in on_off.notices.pending(kernel.now) {
                let (number, pair) = pair.split::<W>();
                routers[number.index()].noticed.push((at, pair.index() as u16, phits));
            }
        }
        routers.iter_mut().for_each(RouterState::sort_wires);
    }

    /// Goes on, in an empty region, with its part of the state of a network.
    pub fn load_from(&mut self, state: &State<SavedRouters<<M::Nodes as Nodes<M>>::Saved>>) {
        let SavedRouters { routers, sat, nodes } = &state.region;
        let span = self.context.kernel.span;
        self.context.kernel.now = state.cycle;
        let first = span.first_router as usize;
        for (number, router) in self.routers.ids().zip(&routers[first..first + span.routers]) {
            self.load_router(number, router);
        }
        if let (Some(own), Some(sat)) = (&mut self.context.sat, sat) {
            own.load(sat);
        }
        let Context { kernel, nodes: own, .. } = &mut self.context;
        own.load(kernel, nodes);
    }

    fn load_router(&mut self, number: RegionRouter, state: &RouterState) {
        let RouterState {
            ports,
            slots,
            credits,
            open,
            arrivals: _,
            returning: _,
            noticed: _,
            extras,
            outstanding,
            minimal,
            contention,
            marks,
            dead,
            closed,
        } = state;
        self.load_outages(number, (dead, closed));
        self.load_wires(number, state);
        let now = self.context.kernel.now;
        for (port, state) in ports.iter().enumerate() {
            state.load(&mut self.routers[number].ports[port]);
            let (tables, times) = (&self.context.shared.tables, (port, state.in_free, state.out_ready));
            self.extras.choices.waiting.load(tables, number, times, now);
        }
        for (slot, state) in slots.iter().enumerate() {
            self.load_slot((number, Slot::at(slot)), state);
        }
        let (cx, router) = (&mut self.context, &mut self.routers[number]);
        credits.iter().enumerate().for_each(|(pair, &credits)| router.credits[Pair::at(pair)] = credits);
        router.credit = Mask::from_words(open);
        self.extras.load(number, cx.shared.tables.input_count, extras);
        if extras.is_plain && !M::PLAIN {
            for port in 0..cx.shared.tables.port_count {
                let state = &router.ports[port];
                if state.class != TERMINAL || !cx.shared.idle_node() {
                    self.extras.fill_departures(number, port, (state.tail, cx.shared.room.shortest));
                }
            }
        }
        let first = number.pair::<W>(Pair::at(0)).index();
        if let Some(damq) = &mut cx.damq {
            put_row(damq.outstanding.as_mut_slice(), first, outstanding);
        }
        put_row(cx.minimal.as_mut_slice(), first, minimal);
        if let (Some(own), Some(contention)) = (&mut cx.contention, contention) {
            own.load((number, 64 * W), contention);
        }
        if let (Some(own), Some(marks)) = (&mut cx.marks, marks) {
            own.load(number, marks);
        }
    }

    fn load_outages(&mut self, number: RegionRouter, state: (&[DeadPort], &Option<ClosedDoors>)) {
        let Context { kernel, shared, outages, .. } = &mut self.context;
        let first = |port: usize| number.pair::<W>(shared.tables.port(port).pair(0));
        outages.load(number, state, first, kernel.span.routers * 64 * W);
    }

    /// Goes on with what is on its way to a router: arrivals, credits and notices.
    fn load_wires(&mut self, number: RegionRouter, state: &RouterState) {
        let cx = &mut self.context;
        let layout = &cx.kernel.constants.system.network.layout;
        for (slot, packet) in &state.arrivals {
            let at = packet.arrived + cx.kernel.constants.pipeline;
            let arrival = Arrival {
                slot: number.slot::<W>(saved_slot(layout, *slot)),
                packet: cx.kernel.packets.insert(packet.clone()),
            };
            cx.kernel.arrivals.push(at, arrival);
        }
        for &(at, pair, phits, minimal) in &state.returning {
            let pair: PairId = number.pair::<W>(saved_pair(layout, pair));
            cx.kernel.credits.push(at, Credit { pair, phits, minimal });
        }
        for &(at, pair, phits) in &state.noticed {
            let notice = Notice { pair: number.pair::<W>(saved_pair(layout, pair)), phits };
            cx.on_off.iter_mut().for_each(|on_off| on_off.notices.push(at, notice));
        }
    }

    /// The head of a slot is routed as if it had become the head now.
    fn route_anew(&mut self, number: RegionRouter, slot: Slot) {
        let packet = self.routers[number].slots[slot].queue.front;
        if M::FULL {
            self.new_head(number, slot, packet);
        } else {
            let pair = self.context.fixed_request(number, slot, packet);
            self.routers[number].ask(slot, pair);
        }
    }

    fn load_slot(&mut self, (number, slot): (RegionRouter, Slot), state: &SlotState) {
        let SlotState { packets, asks } = state;
        if packets.is_empty() {
            return;
        }
        let (cx, router) = (&mut self.context, &mut self.routers[number]);
        router.slots[slot].queue = Queue::of(&mut cx.kernel.packets, packets.iter().cloned());
        match asks {
            Asks::Nothing => {}
            Asks::Fixed(pair) => {
                let layout = &cx.kernel.constants.system.network.layout;
                router.ask(slot, saved_pair(layout, *pair));
            }
            Asks::Choice(prospect, sleeps) => {
                router.choosing.insert(slot);
                self.extras.choices.wait(&cx.shared.tables, (number, slot), prospect);
                if *sleeps {
                    self.extras.choices.sleep((number, slot));
                }
            }
            Asks::Anew => self.route_anew(number, slot),
        }
        self.activate(number);
    }
}
