//! The bursty process: see [`Config`].

use super::bernoulli::Bernoulli;
use super::{LOADS, Rate, Step};
use hopsim_network::error::{ConfigError, valid};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Mean lengths of bursts \[packets\].
const LENGTHS: RangeInclusive<f64> = 1.0..=1e6;

/// A two-state Markov chain: a node in a burst generates a packet every cycle, all of them to one destination, and
/// after each the burst ends with probability 1 / `burst_length`. Without a burst one begins in every cycle with
/// the probability that makes the node offer `load` on average,
/// r / (B + r (1 − B)) with r = load / mean packet length and B the mean burst length. The end of a burst and the beginning
/// of the next may fall together.
///
/// Packets come faster than the injection link takes them, so a burst queues at its source, and its packets travel
/// one behind the other. Behind a bounded `nic.source_queue` the chain stands still while its packet would be
/// dropped: a burst waits instead of losing packets. The first packet of a burst that begins in such a cycle is not
/// generated (as in FOGSim).
///
/// Source: Fuentes' thesis (2017), §1.6.1.3 (BURSTY-UN, with bursts of 5 packets on average).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BurstyProcess")]
pub struct Config {
    /// Offered load \[phits/(node·cycle)\]; required, here or as the shorthand `load`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *LOADS.start(), max = *LOADS.end()))]
    pub load: Option<f64>,
    /// Mean length of a burst \[packets\]; 1 is the Bernoulli process.
    #[serde(default = "default_length")]
    #[schemars(range(min = *LENGTHS.start(), max = *LENGTHS.end()))]
    pub burst_length: f64,
}

fn default_length() -> f64 {
    5.0
}

impl Default for Config {
    fn default() -> Self {
        Self { load: None, burst_length: default_length() }
    }
}

/// A bursty process of fixed rate.
#[derive(Clone, Debug)]
pub struct Bursty {
    /// When a burst begins, counted from the end of the one before.
    begin: Bernoulli,
    /// Probability that a packet is the last of its burst.
    end: f64,
}

impl Bursty {
    /// Checks load and length and prepares the draws.
    pub fn new(config: &Config, rate: Rate) -> Result<Self, ConfigError> {
        let mean = config.burst_length;
        if !LENGTHS.contains(&mean) {
            let reason = if mean < 1.0 { "a burst has at least one packet" } else { "is too large" };
            return Err(ConfigError::new("burst_length", reason)
                .value(mean)
                .valid(valid(&LENGTHS))
                .unit("packets"));
        }
        let packets = rate.packets(config.load)?;
        let begin = packets / (mean + packets * (1.0 - mean));
        Ok(Self { begin: Bernoulli::of_probability(begin), end: 1.0 / mean })
    }

    /// The step after a packet.
    #[inline]
    pub fn step(&self, stream: &mut Stream) -> Step {
        if stream.unit() < self.end {
            return Step { gap: self.begin.gap(stream), new_destination: true };
        }
        Step { gap: 1, new_destination: false }
    }

    /// Cycles to the next burst, from outside a burst.
    #[inline]
    pub fn begin(&self, stream: &mut Stream) -> u32 {
        self.begin.gap(stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopsim_random::Purpose;

    fn process(load: f64, burst_length: f64, length: u32) -> Bursty {
        Bursty::new(&Config { load: Some(load), burst_length }, Rate { length: length.into(), share: 1.0 })
            .unwrap()
    }

    /// Packets, cycles and bursts of a run of `packets` packets.
    fn run(process: &Bursty, packets: u32) -> (f64, f64, f64) {
        let mut stream = Stream::new(5, Purpose::Process, 0);
        let (mut cycles, mut bursts) = (u64::from(process.begin(&mut stream)), 1);
        for _ in 0..packets {
            let step = process.step(&mut stream);
            cycles += u64::from(step.gap);
            bursts += u32::from(step.new_destination);
        }
        (f64::from(packets), cycles as f64, f64::from(bursts))
    }

    #[test]
    fn bursts_have_the_mean_length_and_the_node_offers_its_load() {
        for (load, mean, length) in [(0.5, 5.0, 8), (0.9, 20.0, 4), (0.1, 1.0, 8), (1.0, 3.0, 2)] {
            let (packets, cycles, bursts) = run(&process(load, mean, length), 400_000);
            // A burst's length and the pause after it are geometric: relative sigma of their sums at most
            // sqrt(2 / bursts) = 0.011; four of them allowed.
            assert!((packets / bursts / mean - 1.0).abs() < 0.04, "{}", packets / bursts);
            let offered = packets * f64::from(length) / cycles;
            assert!((offered / load - 1.0).abs() < 0.04, "{offered} instead of {load}");
        }
    }

    #[test]
    fn a_burst_comes_without_pause_and_its_end_draws_anew() {
        let (process, mut stream) = (process(0.2, 4.0, 8), Stream::new(1, Purpose::Process, 0));
        let steps: Vec<Step> = (0..1000).map(|_| process.step(&mut stream)).collect();
        assert!(steps.iter().all(|s| s.new_destination || s.gap == 1));
        assert!(steps.iter().any(|s| s.new_destination && s.gap > 10));
    }

    #[test]
    fn the_extremes_are_exact() {
        let mut stream = Stream::new(5, Purpose::Process, 0);
        assert_eq!(process(0.0, 5.0, 8).begin(&mut stream), u32::MAX);
        assert_eq!(process(1.0, 5.0, 1).begin(&mut stream), 1);
        let rate = Rate { length: 8.0, share: 1.0 };
        for burst_length in [0.5, f64::NAN, 2e6] {
            assert!(Bursty::new(&Config { load: Some(0.5), burst_length }, rate).is_err());
        }
    }
}
