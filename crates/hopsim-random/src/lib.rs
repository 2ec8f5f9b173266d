//! Random numbers: one seed, a named stream for every use.
//!
//! The generator is `SplitMix64` (Steele, Lea & Flood, OOPSLA 2014). A stream is keyed by the seed, by what it
//! is for ([`Purpose`]) and by an index (a node, a router, …), so that adding a probe, a node or a thread
//! never shifts the numbers of another. Draws that belong to an *attempt* (a head that re-decides each
//! cycle, a random arbiter) come from [`Stream::at`]: they are a function of the cycle, not of how often
//! somebody looked, so an engine that skips idle cycles draws the same numbers as one that does not.
//! The mapping to integers and reals is ours and never changes within a version.

use serde::{Deserialize, Serialize};

/// What a stream is used for. The discriminant is part of the key and must not be renumbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// When a node generates a packet.
    Process = 1,
    /// Where a packet goes.
    Pattern = 2,
    /// Nonminimal and parallel-link choices made once per packet.
    Routing = 3,
    /// Choices re-drawn at every attempt of a waiting head.
    Attempt = 4,
    /// Random arbiters.
    Arbiter = 5,
    /// The injection VC of a packet.
    InjectionVc = 6,
    /// Random placement of jobs and random permutations.
    Placement = 7,
    /// Whether packets in transit go first in a cycle.
    Priority = 8,
    /// Loads that differ from node to node.
    NodeLoads = 9,
    /// What a Graph500 search begins with.
    Search = 10,
    /// How many queries each of its ranks sends in a level.
    SearchVolume = 11,
    /// To whom.
    SearchDestinations = 12,
    /// In which order ranks take nodes.
    RankOrder = 13,
    /// Which packets the output port of an InfiniBand switch marks.
    Marking = 14,
    /// When the flows of an InfiniBand host begin, and its timers.
    Phase = 15,
    /// When it is looked who is held up in an InfiniBand fabric.
    Sampling = 16,
    /// Which link of a group of a dragonfly stands where.
    Arrangement = 17,
    /// The graph that a Graph500 search goes through.
    SearchGraph = 18,
    /// Whom an allocator that matches at random picks.
    Allocation = 19,
    /// How long a packet is.
    PacketLength = 20,
    /// Which routers of a random network are joined.
    RandomGraph = 21,
    /// Which links are out of order.
    Faults = 22,
    /// Which of several paths a flow takes.
    Flow = 23,
    /// In which order equally long paths are looked for.
    PathOrder = 24,
    /// Which links a layer of a network has.
    PathLayer = 25,
    /// How long a message of a fabric is.
    MessageSize = 26,
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The number that [`mix`] makes `z` of.
fn unmix(mut z: u64) -> u64 {
    z = (z ^ (z >> 31) ^ (z >> 62)).wrapping_mul(0x3196_42b2_d24d_8ec3);
    z = (z ^ (z >> 27) ^ (z >> 54)).wrapping_mul(0x96de_1b17_3f11_9089);
    z ^ (z >> 30) ^ (z >> 60)
}

/// The streams of one purpose under a seed.
#[derive(Clone, Copy, Debug)]
pub struct Streams(u64);

impl Streams {
    /// The streams of `purpose` under `seed`.
    #[inline]
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        Self(mix(seed.wrapping_add(GOLDEN)) ^ mix((purpose as u64).wrapping_mul(GOLDEN)))
    }

    /// The stream number `index`.
    #[inline]
    pub fn stream(self, index: u64) -> Stream {
        Stream(mix(self.0 ^ mix(index.wrapping_add(GOLDEN.rotate_left(17)))))
    }
}

/// A `SplitMix64` stream of random numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream(u64);

impl Stream {
    /// The stream of `purpose` number `index` under `seed`.
    #[inline]
    pub fn new(seed: u64, purpose: Purpose, index: u64) -> Self {
        Streams::new(seed, purpose).stream(index)
    }

    /// The stream of one moment (`when`: a number that is unique per cycle and allocator iteration) of this
    /// stream; `self` is not advanced.
    #[inline]
    #[must_use]
    pub fn at(&self, when: u64) -> Self {
        Self(mix(self.0 ^ mix(when.wrapping_mul(GOLDEN).wrapping_add(GOLDEN))))
    }

    /// A stream whose next integer below `n` is `value` < `n`: for those who go through all that may be drawn.
    pub fn drawing(value: u32, n: u32) -> Self {
        let (value, n) = (u64::from(value), u64::from(n));
        let first = (value << 32).div_ceil(n);
        // The least of the numbers that stand for a value may be one that is drawn again.
        let drawn = if first * n - (value << 32) < (1 << 32) % n { first + 1 } else { first };
        Self(unmix(drawn).wrapping_sub(GOLDEN))
    }

    /// 64 uniform bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// A uniform integer in `0..n`, `n` ≥ 1, without bias (Lemire, ACM TOMACS 2019).
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        debug_assert!(n > 0, "below(0)");
        let mut m = u64::from(self.bits() as u32) * u64::from(n);
        if (m as u32) < n {
            let threshold = n.wrapping_neg() % n;
            while (m as u32) < threshold {
                m = u64::from(self.bits() as u32) * u64::from(n);
            }
        }
        (m >> 32) as u32
    }

    /// A uniform real in the open interval (0, 1).
    #[inline]
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) * (1.0 / (1u64 << 53) as f64)
    }

    /// Shuffles `items` (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u32 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_draws_what_it_is_made_to_draw() {
        for z in (0..1000).map(mix) {
            assert_eq!(mix(unmix(z)), z);
        }
        for n in [1, 2, 3, 7, 64, 1000, 65_536, 100_003] {
            for value in [0, 1, n / 3, n / 2, n - 1].into_iter().filter(|&value| value < n) {
                assert_eq!(Stream::drawing(value, n).below(n), value, "{value} of {n}");
            }
        }
    }

    #[test]
    fn streams_of_different_keys_differ_and_of_equal_keys_agree() {
        let draw = |s, p, i| Stream::new(s, p, i).bits();
        assert_eq!(draw(1, Purpose::Pattern, 7), draw(1, Purpose::Pattern, 7));
        assert_ne!(draw(1, Purpose::Pattern, 7), draw(2, Purpose::Pattern, 7));
        assert_ne!(draw(1, Purpose::Pattern, 7), draw(1, Purpose::Process, 7));
        assert_ne!(draw(1, Purpose::Pattern, 7), draw(1, Purpose::Pattern, 8));
    }

    #[test]
    fn below_is_uniform_within_five_sigma() {
        // Chi-square of 100,000 draws in 10 cells: mean 9, sigma 4.2; beyond 40 has probability < 1e-5.
        let mut stream = Stream::new(3, Purpose::Pattern, 0);
        let mut counts = [0f64; 10];
        (0..100_000).for_each(|_| counts[stream.below(10) as usize] += 1.0);
        let chi2: f64 = counts.iter().map(|c| (c - 1e4).powi(2) / 1e4).sum();
        assert!(chi2 < 40.0, "chi2 = {chi2}");
    }

    #[test]
    fn the_generator_is_splitmix64() {
        // Reference output of SplitMix64 seeded with 1234567 (published test vector).
        let mut stream = Stream(1_234_567);
        assert_eq!(stream.bits(), 6_457_827_717_110_365_317);
        assert_eq!(stream.bits(), 3_203_168_211_198_807_973);
    }
}
