//! Arbiters: who wins when several ask (Dally & Towles §18).

use super::allocator::Visit;
use super::context::Context;
use super::mask::Mask;
use crate::config::router::{ArbiterConfig, Timestamp};
use crate::rng::{Purpose, Stream};

/// Input or output stage: part of the key of random arbiters.
#[derive(Clone, Copy)]
pub enum Stage {
    /// Among the VCs of an input port.
    Input = 0,
    /// Among the input ports that request an output port.
    Output = 1,
}

impl Stage {
    /// The stream of the random arbiter of `port` for this iteration.
    pub fn stream<const W: usize, O>(self, cx: &Context<'_, W, O>, router: usize, port: usize, iteration: u32) -> Stream {
        let index = (router as u64) << 16 | (port as u64) << 1 | self as u64;
        Stream::new(cx.rules.seed, Purpose::Arbiter, index).at(cx.moment(iteration))
    }
}

/// Several candidates before an arbiter.
pub struct Contest<'a, const N: usize> {
    /// The arbiter.
    pub arbiter: &'a ArbiterConfig,
    /// Who asks; not empty.
    pub candidates: Mask<N>,
    /// Whose turn it is.
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
            ArbiterConfig::Age(config) => {
                let mut oldest = Mask::<N>::EMPTY;
                let mut least = u32::MAX;
                self.candidates.for_each(|c| {
                    let key = age(c, config.timestamp);
                    if key < least {
                        (least, oldest) = (key, Mask::EMPTY);
                    }
                    if key == least {
                        oldest.insert(c);
                    }
                });
                oldest.first_from(self.pointer)
            }
        };
        winner.unwrap_or(0)
    }
}

impl<const W: usize> Visit<'_, W> {
    /// The key of age arbitration for the head of a slot: smaller is older.
    #[inline]
    pub fn age<O>(&self, cx: &Context<'_, W, O>, slot: usize, terminal: bool, timestamp: Timestamp) -> u32 {
        let packet = cx.packets.get(self.router.slots[slot].queue.front);
        match timestamp {
            Timestamp::Generation => packet.generated,
            Timestamp::Injection if terminal => cx.now,
            Timestamp::Injection => packet.injected,
        }
    }
}
