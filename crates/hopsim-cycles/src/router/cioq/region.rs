//! A region and its cycle, and what becomes due in it.
//!
//! A cycle is: credits arrive, heads arrive, routers with a head allocate, nodes generate and inject. A grant
//! computes everything that follows from it at once (see `transfer`), so nothing else happens in between.
//! Whatever crosses from one router to another takes at least one cycle, so the order of routers within a
//! cycle does not matter.

use crate::kernel::by::By;
use crate::kernel::constants::Constants;
use crate::kernel::ids::{Id as _, Pair, PairId, RegionNode, RegionRouter, Slot, SlotId, Terminal};
use crate::kernel::regions::Regions;
use crate::kernel::wheel::{Calendar, Wheel};
use crate::kernel::wires::{Arrival, Credit};
use crate::kernel::{Kernel, Wishes};
use crate::node::{Nodes, Run};
use crate::observer::Observer;
use crate::router::cioq::active::wake;
use crate::router::cioq::allocator::SwitchAllocator;
use crate::router::cioq::context::Context;
use crate::router::cioq::extras::Extras;
use crate::router::cioq::injection_waits::InjectionWaits;
use crate::router::cioq::options::Inspection;
use crate::router::cioq::router_mut::RouterMut;
use crate::router::cioq::routers::{Router, routers, with_ejection_space};
use crate::router::cioq::shared::Shared;
use crate::router::cioq::tables::PairInfo;
use hopsim_network::network::{NONE, TERMINAL};
use hopsim_routing::Request;
use std::sync::Arc;

/// Some routers of the network, their nodes, and all state that only these write.
pub struct Cioq<'p, const W: usize, M: Run> {
    pub(super) context: Context<'p, W, M>,
    pub(super) routers: By<RegionRouter, Router<W>>,
    pub(super) extras: Extras<W>,
    /// Routers that hold a head and are not left alone, a bit each.
    pub(super) active: Vec<u64>,
    /// Routers that need not be left alone any longer, by cycle.
    pub(super) wakes: Wheel<RegionRouter, M::Calendar>,
    pub(super) allocator: SwitchAllocator<W>,
    pub(super) waits: InjectionWaits<W>,
}

impl<'p, const W: usize, M: Run> Cioq<'p, W, M> {
    /// A region of a network at cycle 0, empty.
    pub fn empty(
        constants: Constants<'p>,
        shared: Shared<'p, M>,
        wishes: &Wishes<M>,
        (regions, number): (&Arc<Regions>, usize),
    ) -> Self {
        let Constants { system, ahead, .. } = constants;
        let span = regions.span(system, number);
        Self {
            routers: with_ejection_space::<W, M>(system, &span, routers(system, regions, number)),
            extras: Extras::new(system, (span.routers, ahead)),
            active: vec![0; span.routers.div_ceil(64)],
            wakes: Wheel::new(if M::SLEEPS { ahead } else { 0 }),
            allocator: SwitchAllocator::default(),
            waits: InjectionWaits::new(system, &shared),
            context: Context::new(Kernel::new(constants, wishes, regions, number), shared),
        }
    }

    /// Simulates up to cycle `end`.
    pub fn simulate(&mut self, end: u32) {
        self.context.nodes.begin_window(&mut self.context.kernel);
        while self.context.kernel.now < end {
            self.cycle();
            if M::Calendar::KNOWS {
                self.context.kernel.now = self.next_cycle().min(end);
            }
        }
    }

    fn cycle(&mut self) {
        self.context.kernel.worker.observer.begin_cycle(self.context.kernel.now);
        if M::SLEEPS {
            self.wake_due();
        }
        if M::Observer::hears_room(&self.context.kernel.places) {
            self.touch_credited();
        }
        if self.context.is_on_off() {
            self.absorb_signals();
        } else {
            self.absorb_credits();
        }
        self.absorb_heads();
        if M::FULL {
            self.pass_signal();
            let (tables, now) = (&self.context.shared.tables, self.context.kernel.now);
            self.extras.choices.waiting.release(tables, &self.routers, now, &mut self.active);
            self.update_sensors();
        }
        if M::Observer::hears_heads(&self.context.kernel.places) {
            self.count_injection_waits();
        }
        if M::Observer::hears_room(&self.context.kernel.places) {
            self.look_at_credits();
        }
        self.allocate();
        self.context.nodes.run(&mut self.context.kernel);
        self.context.kernel.now += 1;
    }

    /// Whether no packet is in the buffer of a link, or on the way to one.
    pub(super) fn has_drained(&self) -> bool {
        let (kernel, layout) = (&self.context.kernel, &self.context.kernel.constants.system.network.layout);
        let of_link = |slot: Slot| layout.class[usize::from(layout.slot_port[slot.index()])] != TERMINAL;
        let mut arrivals = kernel.arrivals.iter();
        let holds = |router: &Router<W>| {
            let slots = (0..layout.slots()).map(Slot::at).filter(|&slot| of_link(slot));
            slots.map(|slot| &router.slots[slot]).any(|state| !state.queue.is_empty())
        };
        kernel.immigrants.iter().next().is_none()
            && !arrivals.any(|arrival| of_link(arrival.slot.split::<W>().1))
            && !self.routers.iter().any(holds)
    }

    /// Counts what is left at cycle `end`, the last of the run.
    pub fn count_rest(&mut self, end: u32) {
        self.context.nodes.finish(&mut self.context.kernel, end);
        self.count_held();
        M::Observer::end(&mut self.context.kernel.places, end);
        if M::Observer::hears_heads(&self.context.kernel.places) {
            self.settle_injection_waits();
        }
    }

    /// Counts the packets that are in buffers at the end of the run for the time that they have waited there.
    fn count_held(&mut self) {
        let cx = &mut self.context;
        for (number, router) in self.routers.numbered() {
            for slot in (0..cx.kernel.constants.system.network.layout.slots()).map(Slot::at) {
                for id in router.slots[slot].queue.iter(&cx.kernel.packets) {
                    let packet = cx.kernel.packets.get(id);
                    let (places, slot) = (&mut cx.kernel.places, number.slot::<W>(slot));
                    cx.kernel.worker.observer.held(places, slot, packet.length.into(), packet.arrived);
                }
            }
        }
        // Heads that have arrived, or will, and may not take part yet.
        let heads =
            cx.kernel.arrivals.iter().map(|&Arrival { slot, packet }| (slot, cx.kernel.packets.get(packet)));
        for (slot, packet) in
            heads.chain(cx.kernel.immigrants.iter().map(|packet| (SlotId::at(packet.next as usize), packet)))
        {
            let places = &mut cx.kernel.places;
            cx.kernel.worker.observer.held(places, slot, packet.length.into(), packet.arrived);
        }
        cx.nodes.count_held(&mut cx.kernel);
    }

    /// Notes the output VCs to which credits come back in this cycle: those that had no room may have some again.
    fn touch_credited(&mut self) {
        let Context { kernel, shared, damq, on_off, .. } = &mut self.context;
        let shares = M::FULL && damq.is_some() || shared.bubble() > 0;
        for credit in kernel.credits.due(kernel.now) {
            if shares || !M::Observer::had_room(&kernel.places, credit.pair) {
                M::Observer::touch_room(&mut kernel.places, credit.pair);
            }
        }
        let now = kernel.now;
        for notice in on_off.iter().flat_map(|on_off| on_off.notices.due(now)) {
            M::Observer::touch_room(&mut kernel.places, notice.pair);
        }
    }

    /// Sees which output VCs have room in this cycle. That changes by grants and credits.
    fn look_at_credits(&mut self) {
        let kernel = &mut self.context.kernel;
        let words = |router| self.routers[router].credit.words().as_slice();
        M::Observer::look_at_room(&mut kernel.places, words, kernel.now);
    }

    /// Counts this cycle for the heads of the injection VCs.
    fn count_injection_waits(&mut self) {
        if !self.context.kernel.worker.observer.hears_heads_now() {
            return;
        }
        let mut places = std::mem::take(&mut self.context.kernel.places);
        self.waits.count(&self.inspect(), &mut places);
        self.context.kernel.places = places;
    }

    /// Counts, at the end of the run, the cycles of the heads of injection VCs that still wait.
    fn settle_injection_waits(&mut self) {
        for (terminal, slot) in self.waits.left(&self.inspect()) {
            let head = self.routers[terminal.router].slots[slot].queue.front;
            let arrived = self.context.kernel.packets.get(head).arrived;
            self.context.end_injection_wait(terminal, slot, arrived);
        }
    }

    /// The first cycle from the present one on in which anything happens. Where it is counted what heads wait for, that is every
    /// cycle.
    pub(super) fn next_cycle(&self) -> u32 {
        let (cx, kernel) = (&self.context, &self.context.kernel);
        if M::Observer::hears_heads(&kernel.places) || self.active.iter().any(|&word| word != 0) {
            return kernel.now;
        }
        let nodes = cx.nodes.next_event(kernel.now);
        if nodes == kernel.now {
            return nodes;
        }
        // Each is looked through only as far as the first event of those before.
        let next = kernel.arrivals.next(kernel.now, nodes);
        let next = kernel.credits.next(kernel.now, next);
        let next = kernel.immigrants.next(kernel.now, next);
        let next = cx.on_off.as_ref().map_or(next, |on_off| on_off.notices.next(kernel.now, next));
        let next = self.wakes.next(kernel.now, next);
        let next = cx.marks.as_ref().map_or(next, |marks| marks.next_event(kernel.now, next));
        let next = cx.contention.as_ref().map_or(next, |counters| counters.next_event(kernel.now, next));
        self.extras.choices.waiting.next_release(kernel.now, next.min(self.next_signal()))
    }

    /// The cycle in which the signal moves on, as far as that is known: where the signal already is it may wait for something to
    /// happen.
    fn next_signal(&self) -> u32 {
        let (cx, now) = (&self.context, self.context.kernel.now);
        let Some(sat) = &cx.sat else { return u32::MAX };
        if sat.arrives >= now {
            return sat.arrives;
        }
        let node = cx.kernel.span.node_here(sat.rule.walk[sat.place].0);
        if cx.nodes.has_nothing(node, now) || sat.has_enough(node) { now } else { u32::MAX }
    }

    /// The region, to be looked at.
    pub(super) fn inspect(&self) -> Inspection<'_, 'p, W, M> {
        Inspection { context: &self.context, routers: &self.routers, extras: &self.extras }
    }

    fn absorb_credits(&mut self) {
        let now = self.context.kernel.now;
        let due = self.context.kernel.credits.take(now);
        for &Credit { pair: id, phits, minimal } in &due {
            let (number, pair) = id.split::<W>();
            let router = &mut self.routers[number];
            let open = router.credit;
            self.context.account(number, router, pair, (u32::from(phits), true));
            // Heads without a choice do not mind how much room there is if there is enough for any packet.
            let opened = router.credit != open || self.context.shared.mixed();
            let woken = M::FULL && self.sense_credit((id, number, pair), minimal);
            if M::SLEEPS && (opened || woken) {
                wake(&mut self.active, number);
            }
        }
        self.context.kernel.credits.put_back(due);
    }

    /// Brings to the present cycle what buffers say with on/off flow control, and takes the credits for nodes.
    fn absorb_signals(&mut self) {
        let now = self.context.kernel.now;
        let Some(on_off) = &mut self.context.on_off else { return };
        let due = on_off.take(&mut self.routers, now);
        self.absorb_credits();
        let Context { on_off, shared, .. } = &mut self.context;
        let Some(on_off) = on_off else { return };
        for notice in &due {
            let (number, pair) = notice.pair.split::<W>();
            on_off.hear(&mut self.routers[number], (pair, shared.tables.pair(pair).class));
        }
        on_off.notices.put_back(due);
    }

    /// A credit has come back for `pair` of router `number`, which has the id `id`: `minimal` phits of this credit are of packets
    /// on their minimal path. Returns whether that has woken a head, or may.
    #[inline]
    fn sense_credit(&mut self, (id, number, pair): (PairId, RegionRouter, Pair), minimal: u16) -> bool {
        let cx = &mut self.context;
        if !cx.shared.requests.redecides {
            return false;
        }
        let PairInfo { port, class, rank, .. } = cx.shared.tables.pair(pair);
        let waiting = &mut self.extras.choices.waiting;
        let mut woken = waiting.wake_by_credit(number, (port as usize, class));
        if let Some(marks) = &mut cx.marks {
            marks.touch(number, (class, rank as usize));
            // Its own marks, which heads that sleep may read, are brought up to date by a visit.
            woken |= marks.is_stale(number) && waiting.has_outbound(number);
        }
        if let Some(count) = cx.minimal.get_mut(id) {
            *count -= u32::from(minimal);
        }
        woken
    }

    /// Moves the signal if it is due and the node where it is passes it on.
    fn pass_signal(&mut self) {
        let now = self.context.kernel.now;
        let Some(sat) = self.context.sat.as_mut().filter(|sat| sat.arrives <= now) else { return };
        let (node, cycles) = sat.rule.walk[sat.place];
        let node = self.context.kernel.span.node_here(node);
        let idle = self.context.nodes.has_nothing(node, now);
        if !idle && !sat.has_enough(node) {
            return;
        }
        sat.place = if sat.place + 1 == sat.rule.walk.len() { 0 } else { sat.place + 1 };
        sat.arrives = now + cycles + u32::from(!idle);
        sat.counts[node] = 0;
        let held = std::mem::take(&mut sat.held[node]);
        self.release_heads(node, held);
    }

    /// Lets the heads of some injection VCs of a node take part in the allocation.
    fn release_heads(&mut self, node: RegionNode, vcs: u16) {
        let Terminal { router: number, port } =
            Terminal::of(node, self.context.kernel.constants.nodes_per_router);
        let info = self.context.shared.tables.port(port);
        for vc in (0..16).filter(|vc| vcs >> vc & 1 == 1) {
            let slot = info.slot(vc);
            let packet = self.routers[number].slots[slot].queue.front;
            self.activate(number);
            let router = &mut self.routers[number];
            RouterMut { number, state: router, extras: &mut self.extras }.new_head(
                &mut self.context,
                slot,
                packet,
            );
        }
    }

    fn absorb_heads(&mut self) {
        let due = self.context.kernel.take_arrivals();
        for &Arrival { slot, packet } in &due {
            let (number, slot) = slot.split::<W>();
            let router = &mut self.routers[number];
            let queue = &mut router.slots[slot].queue;
            let head = queue.is_empty();
            queue.push(&mut self.context.kernel.packets, packet);
            if head {
                // Most routers hold a head already: asking that costs less than entering it again.
                if M::SLEEPS || router.is_idle::<M>() {
                    wake(&mut self.active, number);
                }
                if M::FULL {
                    self.new_head(number, slot, packet);
                } else {
                    router.ask(slot, self.context.fixed_request(number, slot, packet));
                }
            }
        }
        self.context.kernel.arrivals.put_back(due);
    }

    /// Marks a router as one to be visited.
    pub(super) fn activate(&mut self, number: RegionRouter) {
        wake(&mut self.active, number);
    }

    /// Marks the routers that have been left alone up to the present cycle as ones to be visited.
    fn wake_due(&mut self) {
        let now = self.context.kernel.now;
        let due = self.wakes.take(now);
        for &number in &due {
            wake(&mut self.active, number);
        }
        self.wakes.put_back(due);
    }

    /// A packet has arrived as the head of a slot.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub(super) fn new_head(&mut self, number: RegionRouter, slot: Slot, packet: u32) {
        let id = number.slot::<W>(slot);
        RouterMut { number, state: &mut self.routers[number], extras: &mut self.extras }.new_head(
            &mut self.context,
            slot,
            packet,
        );
        // While the packet before it is still leaving, that one is counted.
        if self.context.contention.as_ref().is_some_and(|c| !c.counts(id)) {
            let counted = self.context.counted(number, slot, packet);
            let now = self.context.kernel.now;
            self.context.contention.iter_mut().for_each(|c| c.count((number, id), counted, now));
            self.wake_by_counter(number, counted.port);
        }
    }

    /// Wakes the heads that wait for a port whose contention counter has changed.
    fn wake_by_counter(&mut self, number: RegionRouter, port: u16) {
        let class = self.context.shared.tables.port(port as usize).class;
        self.extras.choices.waiting.wake(number, (port as usize, class));
        self.activate(number);
    }

    /// Brings to the present cycle what heads read besides credits.
    fn update_sensors(&mut self) {
        self.refresh_marks();
        self.note_outstanding();
        let Some(mut contention) = self.context.contention.take() else { return };
        let now = self.context.kernel.now;
        let due = contention.take(now);
        for &id in &due {
            let (number, slot) = id.split::<W>();
            let before = contention.uncount((number, id), now);
            self.wake_by_counter(number, before);
            let head = self.routers[number].slots[slot].queue.front;
            if head != NONE {
                let counted = self.context.counted(number, slot, head);
                contention.count((number, id), counted, now);
                self.wake_by_counter(number, counted.port);
            }
        }
        contention.put_back(due);
        let message = contention.groups.as_mut().map_or(0, |groups| groups.exchange(now));
        self.context.contention = Some(contention);
        if message > 0 {
            self.send_on_local_links(message);
        }
    }

    fn note_outstanding(&mut self) {
        let Some(mut outstanding) = self.context.outstanding.take() else { return };
        outstanding.note(|number, (port, vc)| {
            let pair = self.context.shared.tables.output(Request { port, vc });
            self.context.occupancy(number, pair, self.routers[number].credits[pair])
        });
        self.context.outstanding = Some(outstanding);
    }

    fn refresh_marks(&mut self) {
        let cx = &mut self.context;
        let Some(marks) = &mut cx.marks else { return };
        let waiting = &mut self.extras.choices.waiting;
        marks.refresh((&self.routers, &cx.minimal), (waiting, &mut self.active), cx.kernel.now);
    }

    /// Every router sends `phits` of its own on each of its local links, behind what is queued there. Without output queues no
    /// packet can wait for these phits in a router: a packet is granted when it will find the link free.
    fn send_on_local_links(&mut self, phits: u32) {
        let (now, crossbar) = (self.context.kernel.now, self.context.shared.crossing.latency);
        for (number, router) in self.routers.numbered_mut() {
            for port in 0..self.context.shared.tables.port_count {
                let state = &mut router.ports[port];
                if state.class == self.context.shared.inside {
                    state.tail = state.tail.max(now) + phits;
                    if self.extras.ring == 0 {
                        state.out_ready = state.out_ready.max(state.tail.saturating_sub(crossbar));
                        let places = &mut self.context.kernel.places;
                        M::Observer::occupied(places, number, port, state.out_ready, now);
                        if self.context.shared.requests.redecides && state.out_ready > now {
                            let choices = &mut self.extras.choices;
                            choices.waiting.occupy_output(
                                &self.context.shared.tables,
                                number,
                                (port, state.out_ready),
                            );
                        }
                    }
                }
            }
        }
    }

    /// Visits every router that holds a head and is not left alone.
    fn allocate(&mut self) {
        for word in 0..self.active.len() {
            let mut bits = self.active[word];
            while bits != 0 {
                let bit = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let number = RegionRouter::at(word * 64 + bit);
                let state = &mut self.routers[number];
                let mut router = RouterMut { number, state, extras: &mut self.extras };
                let next = self.allocator.allocate(&mut router, &mut self.context);
                let rests = M::SLEEPS && next > self.context.kernel.now + 1;
                if rests || router.state.is_idle::<M>() {
                    self.active[word] &= !(1 << bit);
                }
                if rests && next < u32::MAX {
                    self.wakes.push(next, number);
                }
            }
        }
    }
}
