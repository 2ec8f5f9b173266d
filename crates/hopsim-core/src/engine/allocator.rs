//! The separable, input-first switch allocator (Dally & Towles §19.3; thesis §1.1).
//!
//! Blocked heads cost nothing: what a head wants is one bit in the mask of an output VC, and the heads that
//! could be granted are the union of those masks over the output VCs that have credit and a free output.

use super::mask::Mask;
use super::simulation::Simulation;
use crate::config::router::{ArbiterConfig, Timestamp};
use crate::network::TERMINAL;
use crate::rng::{Purpose, Stream};
use crate::trace::Observer;

/// Input or output stage: part of the key of random arbiters.
#[derive(Clone, Copy)]
enum Stage {
    Input = 0,
    Output = 1,
}

impl<const W: usize, O: Observer> Simulation<'_, W, O> {
    /// Visits every router that holds a head.
    pub(super) fn allocate(&mut self) {
        for word in 0..self.routers.active.len() {
            let mut bits = self.routers.active[word];
            while bits != 0 {
                let bit = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                self.visit(word * 64 + bit);
                let hot = &self.routers.hot[word * 64 + bit];
                if hot.wanted.is_empty() && hot.redeciding.is_empty() {
                    self.routers.active[word] &= !(1 << bit);
                }
            }
        }
    }

    /// One cycle of one router's allocator.
    fn visit(&mut self, router: usize) {
        for iteration in 0..self.rules.iterations {
            let mut slots = self.feasible(router);
            let redeciding = !self.routers.hot[router].redeciding.is_empty();
            if redeciding {
                self.redecide(router, iteration, &mut slots);
            }
            if slots.is_empty() {
                if redeciding {
                    continue;
                }
                return;
            }
            let (asked, nominated) = self.nominate(router, slots, iteration);
            let granted = self.grant_requests(router, asked, iteration);
            // Once all requests are granted, what is left is behind busy inputs, unless it may change its mind.
            if granted == nominated && !redeciding {
                return;
            }
        }
    }

    /// Slots whose fixed request could be granted now, free input or not.
    #[inline]
    fn feasible(&self, router: usize) -> Mask<W> {
        let hot = &self.routers.hot[router];
        let count = self.layout.ports();
        let ports = &self.routers.ports[router * count..][..count];
        let pairs = &self.routers.pairs[router << self.layout.pair_shift..][..self.layout.pairs()];
        let mut slots = Mask::EMPTY;
        (hot.wanted & hot.credit).for_each(|pair| {
            if ports[self.layout.pair_port[pair] as usize].out_ready <= self.now {
                slots |= pairs[pair].wants;
            }
        });
        if self.rules.mixed {
            for slot in slots.iter() {
                if !self.fits(router, slot) {
                    slots.remove(slot);
                }
            }
        }
        slots
    }

    /// Input stage: every free input port requests for one of its feasible slots. Returns the output ports
    /// asked and the number of requests.
    fn nominate(&mut self, router: usize, mut slots: Mask<W>, iteration: u32) -> (Mask<W>, usize) {
        let base = router * self.layout.ports();
        let (mut asked, mut nominated) = (Mask::EMPTY, 0);
        while let Some(slot) = slots.first() {
            let input = self.layout.slot_port[slot] as usize;
            let first = self.layout.slot_base[input] as usize;
            let field = slots.take_field(first, self.layout.input_vcs[input] as usize);
            if self.routers.ports[base + input].in_free > self.now {
                continue;
            }
            let vc = if field & (field - 1) == 0 {
                field.trailing_zeros() as usize
            } else {
                self.choose_vc(router, input, field, iteration)
            };
            if self.rules.on_request {
                self.serve_input(router, input, vc, iteration);
            }
            let slot = first + vc;
            let pair = self.routers.slots[router << self.layout.slot_shift | slot].request;
            let output = self.layout.pair_port[pair as usize] as usize;
            self.scratch.nominee[input] = slot as u16;
            if !asked.contains(output) {
                asked.insert(output);
                self.scratch.requesters[output] = Mask::EMPTY;
            }
            self.scratch.requesters[output].insert(input);
            nominated += 1;
        }
        (asked, nominated)
    }

    /// Output stage: every output port asked grants one request. Returns the number of grants.
    fn grant_requests(&mut self, router: usize, asked: Mask<W>, iteration: u32) -> usize {
        let mut granted = 0;
        for output in asked.iter() {
            let terminal = self.layout.class[output] == TERMINAL;
            if terminal && self.rules.idle_node && !self.node_is_idle(router, output) {
                continue;
            }
            let candidates = self.scratch.requesters[output];
            let input = self.choose_input(router, output, candidates, iteration);
            let slot = self.scratch.nominee[input] as usize;
            if !self.rules.on_request {
                let vc = slot - self.layout.slot_base[input] as usize;
                self.serve_input(router, input, vc, iteration);
            }
            self.transfer(router, input, slot, output);
            granted += 1;
        }
        granted
    }

    /// The input arbiter of `input` chooses among the VCs in `field`.
    fn choose_vc(&self, router: usize, input: usize, field: u64, iteration: u32) -> usize {
        let slot = router << self.layout.slot_shift | self.layout.slot_base[input] as usize;
        let pointer = self.routers.ports[router * self.layout.ports() + input].in_pointer as usize;
        let arbiter = &self.plan.router.allocator.input_arbiter;
        if matches!(arbiter, ArbiterConfig::RoundRobin(_)) {
            let high = field >> pointer;
            return if high == 0 { field.trailing_zeros() as usize } else { pointer + high.trailing_zeros() as usize };
        }
        let mut candidates = Mask::<1>::EMPTY;
        (0..64).filter(|vc| field >> vc & 1 == 1).for_each(|vc| candidates.insert(vc));
        let terminal = self.layout.class[input] == TERMINAL;
        let age = |vc, stamp| self.age(slot + vc, terminal, stamp);
        let stamps = self.routers.input_stamps.get(slot..).unwrap_or(&[]);
        let draw = || self.arbiter_stream(router, input, Stage::Input, iteration);
        choose(arbiter, candidates, pointer, (age, stamps, draw))
    }

    /// The output arbiter of `output` chooses among the input ports in `candidates` and is served.
    #[inline]
    fn choose_input(&mut self, router: usize, output: usize, mut candidates: Mask<W>, iteration: u32) -> usize {
        let ports = self.layout.ports();
        let base = router * ports;
        let mut class = 0;
        if self.plan.router.allocator.transit_priority {
            let mut transit = candidates;
            for terminal in 0..self.layout.terminals {
                transit.remove(terminal);
            }
            if transit.is_empty() {
                class = 1;
            } else {
                candidates = transit;
            }
        }
        let input = match candidates.single() {
            Some(input) => input,
            None => self.arbitrate(router, output, candidates, (class, iteration)),
        };
        let next = if input + 1 == ports { 0 } else { input + 1 };
        self.routers.ports[base + output].out_pointer[class] = next as u8;
        let moment = self.moment(iteration);
        if let Some(stamp) = self.routers.output_stamps.get_mut((base + output) * ports + input) {
            *stamp = moment + 1;
        }
        input
    }

    /// Several input ports want `output`.
    fn arbitrate(
        &self,
        router: usize,
        output: usize,
        candidates: Mask<W>,
        (class, iteration): (usize, u32),
    ) -> usize {
        let ports = self.layout.ports();
        let port = router * ports + output;
        let pointer = self.routers.ports[port].out_pointer[class] as usize;
        let age = |input, stamp| {
            let slot = router << self.layout.slot_shift | self.scratch.nominee[input] as usize;
            self.age(slot, self.layout.class[input] == TERMINAL, stamp)
        };
        let stamps = self.routers.output_stamps.get(port * ports..).unwrap_or(&[]);
        let draw = || self.arbiter_stream(router, output, Stage::Output, iteration);
        choose(&self.plan.router.allocator.output_arbiter, candidates, pointer, (age, stamps, draw))
    }

    /// The input arbiter of `input` has served `vc`.
    #[inline]
    fn serve_input(&mut self, router: usize, input: usize, vc: usize, iteration: u32) {
        let next = if vc + 1 == self.layout.input_vcs[input] as usize { 0 } else { vc + 1 };
        self.routers.ports[router * self.layout.ports() + input].in_pointer = next as u8;
        let slot = router << self.layout.slot_shift | self.layout.slot_base[input] as usize;
        let moment = self.moment(iteration);
        if let Some(stamp) = self.routers.input_stamps.get_mut(slot + vc) {
            *stamp = moment + 1;
        }
    }

    /// The key of age arbitration for the head of a slot: smaller is older.
    fn age(&self, slot: usize, terminal: bool, timestamp: Timestamp) -> u32 {
        let packet = self.packets.get(self.routers.slots[slot].queue.front);
        match timestamp {
            Timestamp::Generation => packet.generated,
            Timestamp::Injection if terminal => self.now,
            Timestamp::Injection => packet.injected,
        }
    }

    fn arbiter_stream(&self, router: usize, port: usize, stage: Stage, iteration: u32) -> Stream {
        let index = (router as u64) << 16 | (port as u64) << 1 | stage as u64;
        Stream::new(self.plan.experiment.measure.seed, Purpose::Arbiter, index).at(self.moment(iteration))
    }
}

/// The winner among `candidates`, of which there are several. `tools`: the age key of a candidate, the stamps
/// of least-recently-served arbiters, the stream of random ones.
#[inline]
fn choose<const N: usize>(
    arbiter: &ArbiterConfig,
    candidates: Mask<N>,
    pointer: usize,
    tools: (impl Fn(usize, Timestamp) -> u32, &[u64], impl FnOnce() -> Stream),
) -> usize {
    let (age, stamps, draw) = tools;
    let winner = match arbiter {
        ArbiterConfig::RoundRobin(_) => candidates.first_from(pointer),
        ArbiterConfig::LeastRecentlyServed(_) => candidates.iter().min_by_key(|&c| (stamps[c], c)),
        ArbiterConfig::Random(_) => candidates.iter().nth(draw().below(candidates.len() as u32) as usize),
        ArbiterConfig::Age(config) => {
            let mut oldest = Mask::<N>::EMPTY;
            let mut least = u32::MAX;
            candidates.for_each(|c| {
                let key = age(c, config.timestamp);
                if key < least {
                    (least, oldest) = (key, Mask::EMPTY);
                }
                if key == least {
                    oldest.insert(c);
                }
            });
            oldest.first_from(pointer)
        }
    };
    winner.unwrap_or(0)
}
