//! What follows from a grant: every instant of the hop is computed here, once.

use crate::kernel::ids::{Id as _, Pair, Slot, Terminal};
use crate::kernel::wires::Credit;
use crate::node::{Nodes, Run};
use crate::observer::{Grant, Observer as _};
use crate::router::cioq::context::Context;
use crate::router::cioq::mask::Mask;
use crate::router::cioq::router_mut::RouterMut;
use crate::router::cioq::router_ref::RouterRef;
use hopsim_network::network::{NONE, PortClassCode, TERMINAL};
use hopsim_routing::{Route, RouteState};

impl<const W: usize> RouterMut<'_, W> {
    /// Carries out both stages of the allocator when only one slot is feasible. Returns whether a request was granted, or there
    /// was none.
    #[inline]
    pub fn grant_single<M: Run>(&mut self, cx: &mut Context<'_, W, M>, slot: Slot, iteration: u32) -> bool {
        let input = cx.shared.tables.slot_input(slot);
        if self.state.ports[input].in_free > cx.kernel.now {
            return true;
        }
        let output = cx.shared.tables.pair_port(self.state.slots[slot].request());
        if cx.shared.on_request() {
            self.serve_input(cx, input, slot, iteration);
        }
        if self.read().refuses(cx, output) {
            return false;
        }
        let class = usize::from(
            cx.shared.transit_priority(cx.kernel.span.router(self.number), cx.kernel.now)
                && self.state.ports[input].class == TERMINAL,
        );
        self.serve_output(cx, output, input, (class, iteration));
        if !cx.shared.on_request() {
            self.serve_input(cx, input, slot, iteration);
        }
        let pair = self.read().granted_pair(cx, slot, iteration);
        self.transfer(cx, (input, slot), (output, pair));
        true
    }

    /// Moves the head of `slot` of input port `input` to `pair` of `output`.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn transfer<M: Run>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        (input, slot): (usize, Slot),
        (output, pair): (usize, Pair),
    ) {
        let (id, request) = (self.state.slots[slot].queue.front, self.state.slots[slot].request());
        let (asked, pair) = (pair, cx.shared.output_vc(pair));
        let (from, to) = (self.state.ports[input].class, self.state.ports[output].class);
        let packet = cx.kernel.packets.get(id);
        let (length, behind, arrived) = (u32::from(packet.length), packet.next, packet.arrived);
        let crossing = u32::from(packet.crossing);
        let pace = if M::REGULAR { 1 } else { u32::from(self.state.ports[output].pace) };
        let busy = crossing.max((arrived + length).saturating_sub(cx.kernel.now));
        let hold = cx.kernel.now + if cx.shared.hold_speedup() { crossing } else { busy };
        let departure = self.depart(cx, (output, to), (length, pace, hold));
        self.state.ports[input].in_free = cx.kernel.now + busy;
        self.keep(cx, slot, busy);
        let minimal = if M::FULL { self.commit(cx, (slot, id), (pair, to), cx.kernel.now + busy) } else { 0 };
        if M::FULL && cx.shared.requests.redecides {
            let ready = self.state.ports[output].out_ready;
            let kept = (ready > cx.kernel.now).then_some((output, ready));
            self.extras.choices.waiting.occupy(
                &cx.shared.tables,
                self.number,
                (input, cx.kernel.now + busy),
                kept,
            );
            if cx.shared.several_outputs() && kept.is_none() {
                // Heads read how much has been granted their own output.
                self.extras.choices.waiting.wake_own(self.number, output..output + 1);
            }
        }
        if M::FULL && self.state.choosing.contains(slot) {
            self.extras.choices.withdraw((self.number, slot), self.state);
        } else {
            self.state.withdraw(slot, request);
        }

        cx.kernel.worker.packet_hops += 1;
        if cx.kernel.worker.observer.hears_grants(&cx.kernel.places) {
            self.tell(cx, (id, slot), (output, pair, asked), departure);
        }
        let end = cx.shared.injection_end();
        let packet = cx.kernel.packets.get_mut(id);
        packet.book_wait(end, (from, to), (cx.kernel.now, departure));
        if to == TERMINAL {
            if M::FULL {
                self.reserve_reply(cx, pair, (output, length));
            }
            cx.deliver(id, departure);
        } else {
            let link = &self.state.ports[output];
            packet.hops[to as usize - 1] += 1;
            packet.arrived = departure + u32::from(link.latency) + length * (pace - 1);
            let (arrived, slot) = (packet.arrived, link.fed(pair));
            let known = arrived + u32::from(link.latency);
            cx.kernel.send(link.region, id, (slot, arrived));
            if cx.is_on_off() {
                cx.announce(self.number, pair, (length, known));
            } else {
                cx.account(self.number, self.state, pair, (cx.shared.space(length), false));
            }
        }
        self.vacate(cx, (input, slot, from), (length, minimal), (behind, arrived));
    }

    /// Tells the observer of a grant: packet `id`, the head of `slot`, gets `pair` of `output`, where it asked for that pair or its
    /// entry, and departs at `departure`.
    // Out of line, so that runs whose observer does not want to hear it do not pay for it.
    #[inline(never)]
    fn tell<M: Run>(
        &self,
        cx: &mut Context<'_, W, M>,
        (id, slot): (u32, Slot),
        (output, pair, asked): (usize, Pair, Pair),
        departure: u32,
    ) {
        let packet = cx.kernel.packets.get(id);
        let (slot, own_pair) = (self.number.slot::<W>(slot), self.number.pair::<W>(pair));
        let port = &self.state.ports[output];
        let to_node = port.class == TERMINAL;
        let left = cx.shared.space(packet.length.into()) + cx.shared.space(cx.shared.room.shortest);
        // Of VCs that share their room, or a bubble, each tells of others too.
        let shares = M::FULL && (to_node || cx.damq.is_some()) || cx.shared.bubble() > 0;
        let grant = Grant {
            slot,
            pair: own_pair,
            asked: (!to_node).then(|| self.number.pair::<W>(asked)),
            first: packet.arrived + cx.kernel.constants.pipeline,
            now: cx.kernel.now,
            ready: port.out_ready,
            port: output,
            vc: pair.above(cx.shared.tables.port(output).pair(0)) as u8,
            router: cx.kernel.span.router(self.number),
            departure,
            fills: shares || self.state.credits[pair] < left,
        };
        cx.kernel.worker.observer.granted(&mut cx.kernel.places, packet, &grant);
    }

    /// Tells the observer of requests of this iteration that were granted nothing. Most are granted: those are told of one by one.
    #[inline]
    pub fn count_refused<M: Run>(&self, cx: &mut Context<'_, W, M>, requests: usize) {
        if M::Observer::hears_refusals(&cx.kernel.places) {
            cx.kernel.worker.observer.refused(&mut cx.kernel.places, self.number, requests);
        }
    }

    /// Moves the heads that have arrived to their nodes, where nodes take packets from all input VCs at once.
    pub fn consume_arrived<M: Run>(&mut self, cx: &mut Context<'_, W, M>) {
        let mut heads = Mask::EMPTY;
        for terminal in 0..cx.kernel.constants.system.network.layout.terminals {
            heads |= self.state.wants[cx.shared.tables.port(terminal).pair(0)];
        }
        heads.for_each(|slot| {
            let pair = self.state.slots[slot].request();
            // After the last packet that a node may inject the others of its heads ask for nothing.
            let asks = self.state.wants[pair].contains(slot);
            if asks && !self.extras.is_leaving((self.number, slot), cx.kernel.now) {
                self.state.withdraw(slot, pair);
                self.consume_head(cx, (slot, pair), cx.shared.tables.pair_port(pair));
            }
        });
    }

    /// Moves the head of `slot` to its node, behind `terminal`, whatever else crosses.
    fn consume_head<M: Run>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        (slot, pair): (Slot, Pair),
        terminal: usize,
    ) {
        let input = cx.shared.tables.slot_input(slot);
        let from = self.state.ports[input].class;
        let id = self.state.slots[slot].queue.front;
        let departure = cx.kernel.now + cx.shared.crossing.latency;
        cx.kernel.worker.packet_hops += 1;
        if cx.kernel.worker.observer.hears_grants(&cx.kernel.places) {
            self.tell(cx, (id, slot), (terminal, pair, pair), departure);
        }
        let end = cx.shared.injection_end();
        let packet = cx.kernel.packets.get_mut(id);
        let (length, behind, arrived) = (u32::from(packet.length), packet.next, packet.arrived);
        let busy = length.max((arrived + length).saturating_sub(cx.kernel.now));
        packet.book_wait(end, (from, TERMINAL), (cx.kernel.now, departure));
        self.keep(cx, slot, busy);
        let minimal =
            if M::FULL { self.commit(cx, (slot, id), (pair, TERMINAL), cx.kernel.now + busy) } else { 0 };
        cx.deliver(id, departure);
        self.vacate(cx, (input, slot, from), (length, minimal), (behind, arrived));
    }

    /// Lets the head of a slot leave it for `busy` cycles, where nodes take packets from all input VCs at once: so long no other
    /// head can follow it.
    #[inline]
    fn keep<M: Run>(&mut self, cx: &Context<'_, W, M>, slot: Slot, busy: u32) {
        if cx.shared.parallel() {
            self.extras.free[self.number.slot::<W>(slot)] = cx.kernel.now + busy;
        }
    }

    /// A packet of `length` phits, which `arrived` in slot `slot` of port `input`, of class `from`, has left it: its room goes
    /// back, and the packet `behind` it becomes the head.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    fn vacate<M: Run>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        (input, slot, from): (usize, Slot, u8),
        (length, minimal): (u32, u16),
        (behind, arrived): (u32, u32),
    ) {
        let next = if from == TERMINAL {
            let (port, vc) = cx.injection_vc(input, slot);
            let terminal = Terminal { router: self.number, port };
            if M::Observer::hears_heads(&cx.kernel.places) {
                cx.end_injection_wait(terminal, slot, arrived);
            }
            cx.nodes.be_granted(&mut cx.kernel, terminal, vc, length);
            let next = cx.nodes.leave_injection(&mut cx.kernel, terminal, vc, length);
            if M::FULL && cx.sat.is_some() {
                self.injected(cx, terminal, vc);
            }
            self.state.slots[slot].queue.back = next;
            next
        } else {
            let link = &self.state.ports[input];
            let pair = link.credited(slot);
            let credit = Credit { pair, phits: cx.shared.space(length) as u16, minimal };
            cx.kernel.send_credit(link.region, cx.kernel.now + u32::from(link.latency), credit);
            behind
        };
        self.state.slots[slot].queue.front = next;
        if next != NONE {
            self.new_head(cx, slot, next);
        }
    }

    /// Queues a departure of `length` phits from output `port`, whose link takes `slowness` cycles for each phit, and which the
    /// crossbar holds until `hold`; returns the cycle of the departure and updates when the output is ready again.
    #[inline]
    fn depart<M: Run>(
        &mut self,
        cx: &Context<'_, W, M>,
        (port, class): (usize, u8),
        (length, slowness, hold): (u32, u32, u32),
    ) -> u32 {
        let state = &mut self.state.ports[port];
        let departure = (cx.kernel.now + cx.shared.crossing.latency).max(state.tail);
        state.tail = departure + length * slowness;
        let idle_node = cx.shared.idle_node() && class == TERMINAL;
        let hold = match (idle_node, cx.shared.several_outputs()) {
            (true, _) => 0,
            (false, true) => self.extras.hold((self.number, port), hold),
            (false, false) => hold,
        };
        if M::PLAIN && !idle_node {
            // The queue is full only while all it holds departs back to back, so its last departure tells.
            state.out_ready = hold.max(state.tail.saturating_sub(cx.shared.crossing.queue_slack));
            return departure;
        }
        let ring = self.extras.ring;
        if ring == 0 {
            // A slow link takes longer than the crossbar.
            state.out_ready = hold.max(state.tail.saturating_sub(cx.shared.crossing.latency));
            return departure;
        }
        let first = (self.number.index() * 64 * W + port) * ring;
        let place = state.ring as usize;
        let next = if place + 1 == ring { 0 } else { place + 1 };
        state.ring = next as u8;
        self.extras.departures[first + place] = departure + 1;
        if cx.shared.mixed() {
            self.extras.lengths[first + place] = length as u16;
            let room = self.read().room(cx, port, cx.shared.room.shortest);
            self.state.ports[port].out_ready = hold.max(room);
        } else {
            state.out_ready = hold.max(self.extras.departures[first + next]);
        }
        departure
    }

    /// A packet of `length` phits was granted ejection through `pair` of `output`: if it is a request it takes the space of its
    /// reply.
    #[inline]
    pub fn reserve_reply<M: Run>(
        &mut self,
        cx: &Context<'_, W, M>,
        pair: Pair,
        (output, length): (usize, u32),
    ) {
        if pair > cx.shared.tables.port(output).pair(0) {
            let credits = &mut self.state.credits[pair];
            *credits -= length;
            if *credits < cx.shared.room.shortest {
                self.state.credit.remove(pair);
            }
        }
    }

    /// The router, to be read.
    #[inline]
    pub fn read(&self) -> RouterRef<'_, W> {
        RouterRef { number: self.number, state: self.state, extras: self.extras }
    }

    /// A packet has become the head of a slot.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn new_head<M: Run>(&mut self, cx: &mut Context<'_, W, M>, slot: Slot, packet: u32) {
        if M::FULL && cx.holds(self.number, slot) {
            if cx.contention.is_some() {
                // The counters count it for its minimal path, which is drawn here.
                let head = cx.head(self.number, slot, packet);
                cx.route(packet, &head);
            }
            return;
        }
        if M::FULL && cx.masks.deciding.contains(slot) {
            return self.route(cx, slot, packet);
        }
        self.state.ask(slot, cx.fixed_request(self.number, slot, packet));
    }

    /// A packet has become the head of a slot, where some heads have a choice.
    fn route<M: Run>(&mut self, cx: &mut Context<'_, W, M>, slot: Slot, packet: u32) {
        let head = cx.head(self.number, slot, packet);
        let request = match &cx.route(packet, &head) {
            Route::Arrived => head.ejection(),
            Route::Fixed(hop) => cx.shared.base.way(&head, *hop).highest(),
            Route::Undecided(prospect) => {
                self.state.choosing.insert(slot);
                return self.extras.choices.wait(&cx.shared.tables, (self.number, slot), prospect);
            }
        };
        self.state.ask(slot, cx.shared.tables.output(request));
    }

    /// The head of `slot` has been granted `pair` of an output of class `to`, and will have left at `left`: updates what the
    /// packet remembers and what sensors see of it. Returns the phits to take off the minimal occupancy of the output VC by which
    /// the packet came.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn commit<M: Run>(
        &mut self,
        cx: &mut Context<'_, W, M>,
        (slot, id): (Slot, u32),
        (pair, to): (Pair, PortClassCode),
        left: u32,
    ) -> u16 {
        let packet = cx.kernel.packets.get_mut(id);
        let before = packet.route;
        if self.state.choosing.contains(slot) {
            packet.decide(self.extras.choices.after[slot], to);
        }
        if let Some(contention) = &mut cx.contention {
            contention.leaves(self.number.slot::<W>(slot), left);
        }
        if let Some(marks) = &mut cx.marks {
            marks.touch(self.number, (to, cx.shared.tables.pair(pair).rank as usize));
        }
        if cx.minimal.is_empty() {
            return 0;
        }
        let on_path = |route: RouteState| if route.misrouted() { 0 } else { packet.length };
        let (arrived, leaves) = (on_path(before), on_path(packet.route));
        if to != TERMINAL {
            cx.minimal[self.number.pair::<W>(pair)] += u32::from(leaves);
        }
        arrived
    }

    /// The node at `terminal` has injected a packet from VC `vc`: if it has to wait for the signal now, so do the
    /// heads of its other injection VCs.
    pub fn injected<M: Run>(&mut self, cx: &mut Context<'_, W, M>, terminal: Terminal, vc: usize) {
        let node = terminal.node(cx.kernel.constants.nodes_per_router);
        let Some(sat) = &mut cx.sat else { return };
        if !sat.inject(node) {
            return;
        }
        let info = cx.shared.tables.port(terminal.port);
        let count = cx.kernel.constants.system.network.classes.terminal.vcs as usize;
        for other in (0..count).filter(|&other| other != vc) {
            let slot = info.slot(other);
            if self.state.slots[slot].queue.front == NONE || sat.held[node] >> other & 1 == 1 {
                continue;
            }
            sat.held[node] |= 1 << other;
            if self.state.choosing.contains(slot) {
                self.extras.choices.withdraw((self.number, slot), self.state);
            } else {
                self.state.withdraw(slot, self.state.slots[slot].request());
            }
        }
    }

    /// The output arbiter of `output` has served `input`.
    #[inline]
    pub fn serve_output<M: Run>(
        &mut self,
        cx: &Context<'_, W, M>,
        output: usize,
        input: usize,
        (class, iteration): (usize, u32),
    ) {
        // Past the last port the search wraps round by itself.
        self.state.ports[output].out_pointer[class] = input as u16 + 1;
        if cx.shared.output_stamps() {
            self.stamp_output(
                (output, input),
                cx.shared.tables.input_count,
                cx.shared.moment(cx.kernel.now, iteration),
            );
        }
    }

    /// The input arbiter of `input` has served `slot`.
    #[inline]
    pub fn serve_input<M: Run>(&mut self, cx: &Context<'_, W, M>, input: usize, slot: Slot, iteration: u32) {
        // The search takes it modulo 64.
        self.state.ports[input].in_pointer = (slot.index() as u8).wrapping_add(1);
        if cx.shared.input_stamps() {
            self.stamp_input(slot, cx.shared.moment(cx.kernel.now, iteration));
        }
    }

    /// A least-recently-served output arbiter remembers whom it served.
    #[cold]
    pub fn stamp_output(&mut self, (output, input): (usize, usize), inputs: usize, moment: u64) {
        self.extras.output_stamps[(self.number.index() * inputs + output) * inputs + input] = moment + 1;
    }

    /// A least-recently-served input arbiter remembers whom it served.
    #[cold]
    pub fn stamp_input(&mut self, slot: Slot, moment: u64) {
        self.extras.input_stamps[self.number.slot::<W>(slot)] = moment + 1;
    }
}
