//! The Bernoulli process: see [`Config`]. The logarithm is libm's portable one, so that results do not depend on
//! the platform.

use super::{LOADS, Rate};
use hopsim_network::error::ConfigError;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In every cycle a node generates a packet with probability load / mean packet length, so that it offers `load` phits
/// per cycle on average. The gaps between packets are geometric; one gap is drawn per packet, which is the same
/// process and costs nothing in idle cycles.
///
/// Source: Dally and Towles, Principles and Practices of Interconnection Networks (2004), §24.2.2.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BernoulliProcess")]
pub struct Config {
    /// Offered load \[phits/(node·cycle)\]; required, here or as the shorthand `load`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *LOADS.start(), max = *LOADS.end()))]
    pub load: Option<f64>,
}

/// A Bernoulli process of fixed rate.
#[derive(Clone, Debug)]
pub struct Bernoulli {
    /// 1 / ln(1 − p), negative; 0 when the rate is 0 and 1 when a packet comes every cycle -- constant.
    scale: f64,
}

impl Bernoulli {
    /// Checks the load and prepares the draw.
    pub fn new(config: &Config, rate: Rate) -> Result<Self, ConfigError> {
        Ok(Self::of_probability(rate.packets(config.load)?))
    }

    /// An event in every cycle with this probability.
    pub fn of_probability(probability: f64) -> Self {
        let scale = if probability <= 0.0 {
            0.0
        } else if probability >= 1.0 {
            1.0
        } else {
            1.0 / libm::log1p(-probability)
        };
        Self { scale }
    }

    /// Cycles to the next packet.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn gap(&self, stream: &mut Stream) -> u32 {
        if self.scale >= 0.0 {
            return if self.scale > 0.0 { 1 } else { u32::MAX };
        }
        let gap = libm::log(stream.unit()) * self.scale;
        if gap < 4e9 { 1 + gap as u32 } else { u32::MAX }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopsim_random::Purpose;

    fn rate(length: u32) -> Rate {
        Rate { length: length.into(), share: 1.0 }
    }

    fn process(load: f64) -> Bernoulli {
        Bernoulli::new(&Config { load: Some(load) }, rate(8)).unwrap()
    }

    #[test]
    fn gaps_have_the_mean_and_variance_of_the_geometric_distribution() {
        // p = 0.1: mean 10, variance 90. Over 200,000 draws the mean's sigma is 0.021; five of them allowed.
        let (process, mut stream) = (process(0.8), Stream::new(5, Purpose::Process, 0));
        let n = 200_000;
        let gaps: Vec<f64> = (0..n).map(|_| f64::from(process.gap(&mut stream))).collect();
        let mean = gaps.iter().sum::<f64>() / f64::from(n);
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / f64::from(n);
        assert!((mean - 10.0).abs() < 0.106, "{mean}");
        assert!((variance - 90.0).abs() < 3.0, "{variance}");
    }

    #[test]
    fn the_extremes_are_exact() {
        let mut stream = Stream::new(5, Purpose::Process, 0);
        assert_eq!(process(0.0).gap(&mut stream), u32::MAX);
        let every = Bernoulli::new(&Config { load: Some(1.0) }, rate(1)).unwrap();
        assert_eq!(every.gap(&mut stream), 1);
        assert!(Bernoulli::new(&Config { load: Some(1.01) }, rate(8)).is_err());
        assert!(Bernoulli::new(&Config { load: Some(f64::NAN) }, rate(8)).is_err());
    }
}
