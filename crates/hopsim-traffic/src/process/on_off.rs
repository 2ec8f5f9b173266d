//! The on/off process: see [`Config`].

use super::bernoulli::Bernoulli;
use super::{LOADS, Rate};
use hopsim_network::error::{ConfigError, valid};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Probabilities of a change between on and off.
const CHANGES: RangeInclusive<f64> = 1e-6..=1.0;

/// A Markov-modulated process: a node that is off generates nothing, and is on from each cycle on with probability `alpha`; a node that is
/// on is off from each cycle on with probability `beta`, and otherwise generates a packet with the probability that makes it offer `load`
/// on average: r (α + β) / α with r = load / mean packet length. Every packet has a destination of its own, unlike those of a burst of
/// `bursty`. A node is on for α / (α + β) of the time, 1 / `beta` cycles each time on average, and off for 1 / `alpha` cycles.
///
/// Source: Dally and Towles, Principles and Practices of Interconnection Networks (2004), §24.2.2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OnOffProcess")]
pub struct Config {
    /// Offered load \[phits/(node·cycle)\]; required, here or as the shorthand `load`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *LOADS.start(), max = *LOADS.end()))]
    pub load: Option<f64>,
    /// Probability that a node which is off is on in the next cycle.
    #[serde(default = "default_change")]
    #[schemars(range(min = *CHANGES.start(), max = *CHANGES.end()))]
    pub alpha: f64,
    /// Probability that a node which is on is off in the next cycle.
    #[serde(default = "default_change")]
    #[schemars(range(min = *CHANGES.start(), max = *CHANGES.end()))]
    pub beta: f64,
}

fn default_change() -> f64 {
    0.5
}

impl Default for Config {
    fn default() -> Self {
        Self { load: None, alpha: default_change(), beta: default_change() }
    }
}

/// An on/off process of fixed rate.
#[derive(Clone, Debug)]
pub struct OnOff {
    /// Whether it ever generates a packet.
    sends: bool,
    /// When a node that is off is on again.
    begin: Bernoulli,
    /// When a node that is on generates a packet or is off.
    end: Bernoulli,
    /// Probability that it is off then.
    stops: f64,
    /// Probability that a node which has just become on generates a packet.
    packet: f64,
    /// Share of the time in which a node is on.
    on: f64,
}

impl OnOff {
    /// Checks load and probabilities and prepares the draws.
    pub fn new(config: &Config, rate: Rate) -> Result<Self, ConfigError> {
        let Config { alpha, beta, .. } = *config;
        for (key, value) in [("alpha", alpha), ("beta", beta)] {
            if !CHANGES.contains(&value) {
                return Err(ConfigError::new(key, "is no probability of a change")
                    .value(value)
                    .valid(valid(&CHANGES)));
            }
        }
        let on = alpha / (alpha + beta);
        let packet = rate.packets(config.load)? / on;
        if packet > 1.0 {
            let reason = format!(
                "a node that with this alpha and beta is on {on:.3} of the time would send more than a packet in a cycle"
            );
            return Err(ConfigError::new("load", reason)
                .value(config.load.unwrap_or_default())
                .valid(format!("0 … {:.4}", rate.load(on)))
                .unit("phits/(node·cycle)"));
        }
        let event = beta + (1.0 - beta) * packet;
        Ok(Self {
            sends: packet > 0.0,
            begin: Bernoulli::of_probability(alpha),
            end: Bernoulli::of_probability(event),
            stops: beta / event,
            packet,
            on,
        })
    }

    /// Cycles from a packet to the next one.
    pub fn gap(&self, stream: &mut Stream) -> u32 {
        self.walk(0, true, stream)
    }

    /// Cycles to the next packet, from a cycle without a packet of which nothing is known.
    pub fn begin(&self, stream: &mut Stream) -> u32 {
        let is_on = stream.unit() < self.on;
        self.walk(0, is_on, stream)
    }

    /// Cycles to the next packet, `cycles` cycles after the beginning of which the node is on or off.
    fn walk(&self, mut cycles: u32, mut is_on: bool, stream: &mut Stream) -> u32 {
        if !self.sends {
            return u32::MAX;
        }
        loop {
            if !is_on {
                cycles = cycles.saturating_add(self.begin.gap(stream));
                if stream.unit() < self.packet || cycles == u32::MAX {
                    return cycles;
                }
            }
            cycles = cycles.saturating_add(self.end.gap(stream));
            is_on = stream.unit() >= self.stops;
            if is_on || cycles == u32::MAX {
                return cycles;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopsim_random::Purpose;

    fn process(load: f64, alpha: f64, beta: f64, length: f64) -> Result<OnOff, ConfigError> {
        OnOff::new(&Config { load: Some(load), alpha, beta }, Rate { length, share: 1.0 })
    }

    #[test]
    fn nodes_offer_their_load_and_packets_come_in_bursts() {
        for (load, alpha, beta, length) in
            [(0.2, 0.5, 0.5, 1.0), (0.3, 0.01, 0.05, 2.0), (0.9, 0.9, 0.1, 1.0)]
        {
            let (process, mut stream) =
                (process(load, alpha, beta, length).unwrap(), Stream::new(5, Purpose::Process, 0));
            let n = 400_000;
            let gaps: Vec<f64> = (0..n).map(|_| f64::from(process.gap(&mut stream))).collect();
            let mean = gaps.iter().sum::<f64>() / f64::from(n);
            assert!((length / mean / load - 1.0).abs() < 0.02, "{} for {load}", length / mean);
            let soon = gaps.iter().filter(|&&gap| gap < 1.5).count() as f64 / f64::from(n);
            // In the next cycle a node that is on stays so and generates, or it is off.
            let expected = (1.0 - beta) * load / length * (alpha + beta) / alpha;
            assert!((soon - expected).abs() < 0.005, "{soon} for {expected}");
        }
    }

    #[test]
    fn the_extremes_are_exact() {
        let mut stream = Stream::new(5, Purpose::Process, 0);
        assert_eq!(process(0.0, 0.5, 0.5, 1.0).unwrap().gap(&mut stream), u32::MAX);
        assert!(process(0.5, 0.5, 0.5, 1.0).is_ok() && process(0.51, 0.5, 0.5, 1.0).is_err());
        for wrong in [0.0, 1.1, f64::NAN] {
            assert!(process(0.1, wrong, 0.5, 1.0).is_err() && process(0.1, 0.5, wrong, 1.0).is_err());
        }
    }
}
