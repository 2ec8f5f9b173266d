//! Lengths of the packets of a job: one, or several between which every packet draws: see [`Share`].

use super::PACKET_LENGTHS;
use hopsim_network::error::{ConfigError, within};
use hopsim_random::Streams;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of several lengths of packets. Every packet draws its length when it is generated, each with probability
/// weight / sum of weights, from a stream of its node that nothing else draws from: so a network on chip carries requests
/// of one phit and answers with a cache line. The load stays in phits: packets are generated at the rate load / mean length.
///
/// Source: Dally and Towles, Principles and Practices of Interconnection Networks (2004), §24.2.2 (injection process, pattern and packet
/// length as three aspects of a workload).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// Length of these packets \[phits\].
    #[schemars(range(min = *PACKET_LENGTHS.start(), max = *PACKET_LENGTHS.end()))]
    pub length: u32,
    /// Share of the packets, relative to the sum of all weights \[> 0\].
    pub weight: f64,
}

impl Share {
    /// Two lengths, of which one alone would be no choice.
    pub const EXAMPLE: [Self; 2] = [Self { length: 1, weight: 3.0 }, Self { length: 5, weight: 1.0 }];
}

/// Lengths of the packets of a job, with cumulative probabilities.
#[derive(Clone, Debug)]
pub struct PacketLengths {
    /// Each length \[phits\], behind the probability that a packet has it or one of those before it.
    shares: Vec<(f64, u32)>,
    /// Mean of the lengths \[phits\].
    mean: f64,
    /// What every packet draws from.
    streams: Streams,
}

impl PacketLengths {
    /// Packets of one length \[phits\].
    pub fn one(length: u32, streams: Streams) -> Self {
        Self { shares: vec![(1.0, length)], mean: f64::from(length), streams }
    }

    /// Packets of several lengths.
    pub fn several(shares: &[Share], streams: Streams) -> Result<Self, ConfigError> {
        check(shares)?;
        let total: f64 = shares.iter().map(|share| share.weight).sum();
        if !total.is_finite() {
            return Err(ConfigError::new("", "the weights add up to more than a number holds")
                .valid("smaller weights"));
        }
        let (mut upto, mut mean) = (0.0, 0.0);
        let cumulative = |share: &Share| {
            upto += share.weight;
            mean += share.weight / total * f64::from(share.length);
            (upto / total, share.length)
        };
        Ok(Self { shares: shares.iter().map(cumulative).collect(), mean, streams })
    }

    /// Whether packets have several lengths.
    pub fn are_several(&self) -> bool {
        self.shares.len() > 1
    }

    /// The mean length \[phits\].
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The greatest length \[phits\].
    pub fn longest(&self) -> u32 {
        self.each().max().unwrap_or(1)
    }

    /// The least length \[phits\].
    pub fn shortest(&self) -> u32 {
        self.each().min().unwrap_or(1)
    }

    fn each(&self) -> impl Iterator<Item = u32> {
        self.shares.iter().map(|&(_, length)| length)
    }

    /// The length that the packet of this number draws of those that `node` generates \[phits\]: whoever asks, and however often, it is
    /// the same.
    pub fn draw(&self, node: u32, number: u32) -> u32 {
        let draw = self.streams.stream(node.into()).at(number.into()).unit();
        let last = self.shares.len() - 1;
        self.shares[self.shares.iter().position(|(upto, _)| draw < *upto).unwrap_or(last)].1
    }
}

/// Refuses lists that are no choice, and entries with a wrong length or weight.
fn check(shares: &[Share]) -> Result<(), ConfigError> {
    if shares.len() < 2 {
        let reason = if shares.is_empty() { "names no length" } else { "names one length" };
        return Err(ConfigError::new("", reason)
            .valid("a list of two { length, weight } tables or more, or packet_length"));
    }
    for (index, share) in shares.iter().enumerate() {
        within(PACKET_LENGTHS, share.length, format!("{index}.length"))?;
        if let Some(before) = shares[..index].iter().position(|other| other.length == share.length) {
            let reason = format!("entry {before} has the same length");
            return Err(ConfigError::new(format!("{index}.length"), reason)
                .value(share.length)
                .valid("every length once, with all of its weight"));
        }
        if !(share.weight > 0.0 && share.weight.is_finite()) {
            return Err(ConfigError::new(format!("{index}.weight"), "must be a positive number")
                .value(share.weight)
                .valid("more than 0"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopsim_random::Purpose;

    fn lengths(shares: &[(u32, f64)]) -> PacketLengths {
        let shares: Vec<Share> = shares.iter().map(|&(length, weight)| Share { length, weight }).collect();
        PacketLengths::several(&shares, Streams::new(5, Purpose::PacketLength)).unwrap()
    }

    #[test]
    fn packets_have_their_lengths_as_often_as_the_weights_say() {
        let lengths = lengths(&[(9, 3.0), (1, 5.0), (4, 2.0)]);
        assert!((lengths.mean() - 4.0).abs() < 1e-12);
        assert_eq!((lengths.shortest(), lengths.longest(), lengths.are_several()), (1, 9, true));
        let mut counts = [0.0; 10];
        for node in 0..100 {
            (0..1000).for_each(|number| counts[lengths.draw(node, number) as usize] += 1.0);
        }
        // Chi-square of 100,000 draws in 3 cells: beyond 20 has probability < 1e-4.
        let expected = [(9, 3e4), (1, 5e4), (4, 2e4)];
        let chi2: f64 = expected.iter().map(|&(l, e)| (counts[l] - e) * (counts[l] - e) / e).sum();
        assert!(chi2 < 20.0, "chi2 = {chi2}");
    }

    #[test]
    fn neighbouring_packets_and_nodes_draw_independently() {
        let lengths = lengths(&[(1, 1.0), (5, 1.0)]);
        let equal = |other: fn(u32, u32) -> (u32, u32)| {
            let all = (0..100).flat_map(|node| (0..1000).map(move |number| (node, number)));
            let same = |&(node, number): &(u32, u32)| {
                let (other, next) = other(node, number);
                lengths.draw(node, number) == lengths.draw(other, next)
            };
            all.filter(same).count() as f64
        };
        // Of 100,000 pairs half are equal, with a standard deviation of 158: five of them allowed.
        assert!((equal(|node, number| (node, number + 1)) - 5e4).abs() < 800.0);
        assert!((equal(|node, number| (node + 1, number)) - 5e4).abs() < 800.0);
    }
}
