//! The separable, input-first switch allocator (Dally & Towles §19.3; thesis §1.1).
//!
//! Blocked heads cost nothing: what a head wants is one bit in the mask of an output VC, and the heads that
//! could be granted are the union of those masks over the output VCs that have credit and a free output.

use super::context::Context;
use super::mask::Mask;
use super::routers::{Array, Extras, Router, global};
use crate::network::TERMINAL;
use crate::rng::{Purpose, Stream};
use crate::routing::RouteState;
use crate::trace::Observer;

/// Working space of a visit.
pub struct Scratch<const W: usize> {
    /// Slot nominated by each input port.
    nominee: Array<u16, W>,
    /// Input ports that request each output port.
    requesters: Array<Mask<W>, W>,
}

impl<const W: usize> Default for Scratch<W> {
    fn default() -> Self {
        Self { nominee: Array::new(0), requesters: Array::new(Mask::EMPTY) }
    }
}

/// A visit to one router.
pub struct Visit<'a, const W: usize> {
    /// Its number.
    pub number: usize,
    /// Its state.
    pub router: &'a mut Router<W>,
    /// State of all routers that only some configurations need.
    pub extras: &'a mut Extras,
}

impl<const W: usize> Visit<'_, W> {
    /// One cycle of the allocator.
    #[inline]
    pub fn allocate<O: Observer>(&mut self, cx: &mut Context<'_, W, O>, scratch: &mut Scratch<W>) {
        let slots = self.feasible(cx);
        let fixed = self.router.redeciding.is_empty();
        if fixed && slots.is_empty() {
            return;
        }
        let first = match slots.single() {
            // The usual case at low load needs no arbitration.
            Some(slot) if fixed => {
                if self.grant_single(cx, slot, 0) {
                    return;
                }
                1
            }
            _ => 0,
        };
        self.iterate(cx, scratch, (first, slots));
    }

    /// The allocator's iterations from `first` on; `slots` are feasible in the first of all.
    #[inline(never)]
    fn iterate<O: Observer>(
        &mut self,
        cx: &mut Context<'_, W, O>,
        scratch: &mut Scratch<W>,
        (first, slots): (u32, Mask<W>),
    ) {
        let mut slots = slots;
        for iteration in first..cx.rules.iterations {
            let fixed = self.router.redeciding.is_empty();
            if !fixed {
                slots = self.feasible(cx);
                self.redecide(cx, iteration, &mut slots);
            }
            if slots.is_empty() && fixed {
                return;
            }
            let asked = self.nominate(cx, slots, iteration, scratch);
            let losers = self.grant_requests(cx, asked, iteration, scratch);
            // What was not feasible cannot become so within the cycle: only losers may try another VC.
            slots = self.still_feasible(cx, slots, losers);
        }
    }

    /// Slots whose fixed request could be granted now, free input or not.
    #[inline]
    fn feasible<O>(&self, cx: &Context<'_, W, O>) -> Mask<W> {
        let mut slots = Mask::EMPTY;
        (self.router.wanted & self.router.credit).for_each(|pair| {
            if self.router.ports[cx.tables.pair_port(pair)].out_ready <= cx.now {
                slots |= self.router.pairs[pair].wants;
            }
        });
        if cx.rules.mixed {
            for slot in slots.iter() {
                if !self.fits(cx, slot) {
                    slots.remove(slot);
                }
            }
        }
        slots
    }

    /// Those of `slots` that belong to input ports in `losers` and could still be granted.
    #[inline]
    fn still_feasible<O>(&self, cx: &Context<'_, W, O>, mut slots: Mask<W>, losers: Mask<W>) -> Mask<W> {
        let mut left = Mask::EMPTY;
        losers.for_each(|input| {
            let info = cx.tables.port(input);
            let field = Mask::<1>::from_bits(slots.take_field(info.slot_base as usize, info.field));
            field.for_each(|vc| {
                let slot = info.slot_base as usize + vc;
                let pair = self.router.slots[slot].request as usize;
                let ready = self.router.ports[cx.tables.pair_port(pair)].out_ready <= cx.now;
                if ready && self.router.credit.contains(pair) && (!cx.rules.mixed || self.fits(cx, slot)) {
                    left.insert(slot);
                }
            });
        });
        left
    }

    /// Asks the re-deciding heads of free inputs anew and adds those that could be granted to `slots`.
    #[cold]
    fn redecide<O: Observer>(&mut self, cx: &mut Context<'_, W, O>, iteration: u32, slots: &mut Mask<W>) {
        let when = cx.moment(iteration);
        for slot in self.router.redeciding.iter() {
            if self.router.ports[cx.tables.slot_port(slot)].in_free > cx.now {
                continue;
            }
            let packet = cx.packets.get_mut(self.router.slots[slot].queue.front);
            let head = packet.head(self.number, cx.tables.code(slot));
            let (source, serial, seed) = (packet.source, packet.serial, cx.rules.seed);
            let draw = || {
                let stream = Stream::new(seed, Purpose::Attempt, u64::from(source));
                stream.at(u64::from(serial)).at(when)
            };
            packet.route = RouteState::NEW;
            let request = cx.routing.request(&head, &mut packet.route, draw);
            let pair = cx.tables.port(request.port).pair_base as usize + request.vc as usize;
            self.router.slots[slot].request = pair as u16;
            let open =
                self.router.credit.contains(pair) && self.router.ports[request.port].out_ready <= cx.now;
            if open && (!cx.rules.mixed || self.fits(cx, slot)) {
                slots.insert(slot);
            }
        }
    }

    /// Both stages when only one slot is feasible. Whether a request was granted, or there was none.
    #[inline]
    fn grant_single<O: Observer>(&mut self, cx: &mut Context<'_, W, O>, slot: usize, iteration: u32) -> bool {
        let input = cx.tables.slot_port(slot);
        if self.router.ports[input].in_free > cx.now {
            return true;
        }
        let output = cx.tables.pair_port(self.router.slots[slot].request as usize);
        if cx.rules.on_request {
            self.serve_input(cx, input, slot, iteration);
        }
        if self.refuses(cx, output) {
            return false;
        }
        let class = usize::from(cx.rules.transit_priority && self.router.ports[input].class == TERMINAL);
        self.serve_output(cx, output, input, (class, iteration));
        if !cx.rules.on_request {
            self.serve_input(cx, input, slot, iteration);
        }
        self.transfer(cx, input, slot, output);
        true
    }

    /// Input stage: every free input port requests for one of its feasible slots. Returns the output ports
    /// asked.
    fn nominate<O: Observer>(
        &mut self,
        cx: &mut Context<'_, W, O>,
        mut slots: Mask<W>,
        iteration: u32,
        scratch: &mut Scratch<W>,
    ) -> Mask<W> {
        let mut asked = Mask::EMPTY;
        while let Some(slot) = slots.first() {
            let input = cx.tables.slot_port(slot);
            let info = cx.tables.port(input);
            let first = info.slot_base as usize;
            let field = slots.take_field(first, info.field);
            if self.router.ports[input].in_free > cx.now {
                continue;
            }
            let slot = if field.is_power_of_two() {
                first + field.trailing_zeros() as usize
            } else {
                first + self.choose_vc(cx, input, field, iteration)
            };
            if cx.rules.on_request {
                self.serve_input(cx, input, slot, iteration);
            }
            let output = cx.tables.pair_port(self.router.slots[slot].request as usize);
            scratch.nominee[input] = slot as u16;
            if !asked.contains(output) {
                asked.insert(output);
                scratch.requesters[output] = Mask::EMPTY;
            }
            scratch.requesters[output].insert(input);
        }
        asked
    }

    /// Output stage: every output port asked grants one request. Returns the input ports that were refused.
    fn grant_requests<O: Observer>(
        &mut self,
        cx: &mut Context<'_, W, O>,
        asked: Mask<W>,
        iteration: u32,
        scratch: &Scratch<W>,
    ) -> Mask<W> {
        let mut losers = Mask::EMPTY;
        asked.for_each(|output| {
            let mut candidates = scratch.requesters[output];
            losers |= candidates;
            if self.refuses(cx, output) {
                return;
            }
            let mut class = 0;
            if cx.rules.transit_priority {
                let transit = candidates.without_first(cx.rules.terminals);
                class = usize::from(transit.is_empty());
                candidates = if class == 0 { transit } else { candidates };
            }
            let input = match candidates.single() {
                Some(input) => input,
                None => self.choose_input(cx, output, candidates, (class, iteration, &scratch.nominee)),
            };
            self.serve_output(cx, output, input, (class, iteration));
            let slot = scratch.nominee[input] as usize;
            if !cx.rules.on_request {
                self.serve_input(cx, input, slot, iteration);
            }
            losers.remove(input);
            self.transfer(cx, input, slot, output);
        });
        losers
    }

    /// `Ejection::IdleNode`: the node behind `output` is still absorbing a packet.
    #[inline]
    fn refuses<O>(&self, cx: &Context<'_, W, O>, output: usize) -> bool {
        cx.rules.idle_node && self.router.ports[output].class == TERMINAL && !self.node_is_idle(cx, output)
    }

    /// The output arbiter of `output` has served `input`.
    #[inline]
    fn serve_output<O>(
        &mut self,
        cx: &Context<'_, W, O>,
        output: usize,
        input: usize,
        (class, iteration): (usize, u32),
    ) {
        let ports = cx.tables.port_count;
        let next = if input + 1 == ports { 0 } else { input + 1 };
        self.router.ports[output].out_pointer[class] = next as u8;
        if cx.rules.output_stamps {
            self.stamp_output((output, input), ports, cx.moment(iteration));
        }
    }

    /// The input arbiter of `input` has served `slot`.
    #[inline]
    fn serve_input<O>(&mut self, cx: &Context<'_, W, O>, input: usize, slot: usize, iteration: u32) {
        let info = cx.tables.port(input);
        let next = slot + 1 - info.slot_base as usize;
        self.router.ports[input].in_pointer = if next == info.vcs as usize { 0 } else { next as u8 };
        if cx.rules.input_stamps {
            self.stamp_input(slot, cx.moment(iteration));
        }
    }

    /// A least-recently-served output arbiter remembers whom it served.
    #[cold]
    fn stamp_output(&mut self, (output, input): (usize, usize), ports: usize, moment: u64) {
        self.extras.output_stamps[(self.number * ports + output) * ports + input] = moment + 1;
    }

    /// A least-recently-served input arbiter remembers whom it served.
    #[cold]
    fn stamp_input(&mut self, slot: usize, moment: u64) {
        self.extras.input_stamps[global::<W>(self.number as u32, slot) as usize] = moment + 1;
    }
}
