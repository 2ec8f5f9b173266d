//! Arbiters: who wins when several ask (Dally & Towles §18).

use crate::choices::{ArbiterConfig, Timestamp};
use crate::kernel::ids::{Id as _, RegionRouter, Slot};
use crate::node::Run;
use crate::router::cioq::context::Context;
use crate::router::cioq::mask::Mask;
use crate::router::cioq::router_ref::RouterRef;
use crate::router::cioq::routers::Array;
use hopsim_network::network::TERMINAL;
use hopsim_random::{Purpose, Stream};

/// Stage of the allocator: part of the key of random arbiters.
#[derive(Clone, Copy)]
pub enum Stage {
    /// The input stage: among the VCs of an input port.
    Input = 0,
    /// The output stage: among the input ports that request an output port.
    Output = 1,
}

impl Stage {
    /// The stream of the random arbiter of `port` for this iteration.
    pub fn stream<const W: usize, M: Run>(
        self,
        cx: &Context<'_, W, M>,
        number: RegionRouter,
        port: usize,
        iteration: u32,
    ) -> Stream {
        let index = u64::from(cx.kernel.span.router(number)) << 16 | (port as u64) << 1 | self as u64;
        Stream::new(cx.kernel.constants.seed, Purpose::Arbiter, index)
            .at(cx.shared.moment(cx.kernel.now, iteration))
    }
}

/// Several candidates before an arbiter that needs more than a pointer.
pub struct Contest<'a, const N: usize> {
    /// The arbiter.
    pub arbiter: &'a ArbiterConfig,
    /// The candidates that ask; not empty.
    pub candidates: Mask<usize, N>,
    /// The number from which on to look for the winner.
    pub pointer: usize,
}

impl<const N: usize> Contest<'_, N> {
    /// The winner, given the age key and the last-served stamp of a candidate and a stream of random numbers.
    #[inline]
    pub fn winner(
        &self,
        age: impl Fn(usize, Timestamp) -> u32,
        stamp: impl Fn(usize) -> u64,
        draw: impl FnOnce() -> Stream,
    ) -> usize {
        let winner = match self.arbiter {
            ArbiterConfig::RoundRobin(_) => self.candidates.first_from(self.pointer),
            ArbiterConfig::LeastRecentlyServed(_) => self.candidates.iter().min_by_key(|&c| (stamp(c), c)),
            ArbiterConfig::Random(_) => {
                self.candidates.iter().nth(draw().below(self.candidates.len() as u32) as usize)
            }
            ArbiterConfig::Age(config) => self.oldest(|c| age(c, config.timestamp)).first_from(self.pointer),
        };
        winner.unwrap_or(0)
    }

    /// The candidates with the smallest key.
    #[inline]
    fn oldest(&self, key: impl Fn(usize) -> u32) -> Mask<usize, N> {
        let (mut oldest, mut least) = (Mask::EMPTY, u32::MAX);
        self.candidates.for_each(|c| {
            let key = key(c);
            if key < least {
                (least, oldest) = (key, Mask::EMPTY);
            }
            if key == least {
                oldest.insert(c);
            }
        });
        oldest
    }
}

impl<const W: usize> RouterRef<'_, W> {
    /// The input arbiter of `input` chooses among several of its slots, bits of their mask word in `field`.
    /// Returns the bit.
    #[inline]
    pub fn choose_slot<M: Run>(
        &self,
        cx: &Context<'_, W, M>,
        input: usize,
        field: u64,
        iteration: u32,
    ) -> usize {
        if !cx.shared.input_round_robin() {
            return self.choose_slot_otherwise(cx, input, field, iteration);
        }
        let high = field & (u64::MAX << (self.state.ports[input].in_pointer % 64));
        (if high == 0 { field } else { high }).trailing_zeros() as usize
    }

    // Out of line, so that the round-robin path does not pay for preparing the others.
    #[inline(never)]
    fn choose_slot_otherwise<M: Run>(
        &self,
        cx: &Context<'_, W, M>,
        input: usize,
        field: u64,
        iteration: u32,
    ) -> usize {
        let info = cx.shared.tables.port(input);
        let contest = Contest {
            arbiter: &cx.kernel.constants.system.cioq().allocator.input_arbiter,
            candidates: Mask::<usize, 1>::from_bits(field),
            pointer: self.state.ports[input].in_pointer as usize % 64,
        };
        contest.winner(
            |bit, stamp| self.age(cx, info.slot(0).in_word(bit), info.class == TERMINAL, stamp),
            |bit| self.extras.input_stamps[self.number.slot::<W>(info.slot(0).in_word(bit))],
            || Stage::Input.stream(cx, self.number, input, iteration),
        )
    }

    /// The output arbiter of `output` chooses among several input ports, of class `class` with transit
    /// priority, which to grant as number `grant` in this iteration; `nominee` tells their slots.
    #[inline]
    pub fn choose_input<M: Run>(
        &self,
        cx: &Context<'_, W, M>,
        output: usize,
        candidates: Mask<usize, W>,
        (class, (iteration, grant), nominee): (usize, (u32, u32), &Array<usize, Slot, W>),
    ) -> usize {
        if !cx.shared.output_round_robin() {
            return self.choose_input_otherwise(cx, output, candidates, (class, (iteration, grant), nominee));
        }
        let pointer = self.state.ports[output].out_pointer[class] as usize;
        candidates.first_from(pointer).unwrap_or(0)
    }

    #[inline(never)]
    fn choose_input_otherwise<M: Run>(
        &self,
        cx: &Context<'_, W, M>,
        output: usize,
        candidates: Mask<usize, W>,
        (class, (iteration, grant), nominee): (usize, (u32, u32), &Array<usize, Slot, W>),
    ) -> usize {
        let inputs = cx.shared.tables.input_count;
        let contest = Contest {
            arbiter: &cx.kernel.constants.system.cioq().allocator.output_arbiter,
            candidates,
            pointer: self.state.ports[output].out_pointer[class] as usize,
        };
        let terminal = |input| cx.shared.tables.port(input).class == TERMINAL;
        contest.winner(
            |input, stamp| self.age(cx, nominee[input], terminal(input), stamp),
            |input| self.extras.output_stamps[(self.number.index() * inputs + output) * inputs + input],
            || {
                let first = Stage::Output.stream(cx, self.number, output, iteration);
                if grant == 0 { first } else { first.at(grant.into()) }
            },
        )
    }

    /// The key of age arbitration for the head of a slot: smaller is older.
    #[inline]
    fn age<M: Run>(&self, cx: &Context<'_, W, M>, slot: Slot, terminal: bool, timestamp: Timestamp) -> u32 {
        let packet = cx.kernel.packets.get(self.state.slots[slot].queue.front);
        match timestamp {
            Timestamp::Generation => packet.generated,
            Timestamp::Injection if terminal => cx.kernel.now,
            Timestamp::Injection => packet.injection.granted,
            Timestamp::Arrival => packet.arrived,
        }
    }
}
