//! The sizes of the messages that nodes draw.

use super::measured_sizes::{ALI_STORAGE, HADOOP, WEB_SEARCH};
use crate::config::infiniband::messages::{MESSAGE_BYTES, MessagesConfig};
use crate::config::infiniband::sizes::SizesConfig;
use hopsim_network::error::ConfigError;
use hopsim_random::Stream;

/// How long messages are.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageLengths {
    /// All messages have the same length \[bytes\].
    Alike(u64),
    /// Every message draws its length.
    Drawn(Distribution),
}

impl MessageLengths {
    /// The sizes that a document says, or why they are refused, behind the key of the messages.
    pub fn new(messages: &MessagesConfig) -> Result<Self, ConfigError> {
        let points = match (&messages.sizes, messages.bytes) {
            (None, bytes) => return Self::alike(bytes.unwrap_or(MessagesConfig::ONE_PACKET)),
            (Some(_), Some(_)) => {
                return Err(ConfigError::new("sizes", "says how long messages are, and so does bytes")
                    .valid("one of them: bytes, or sizes"));
            }
            (Some(SizesConfig::WebSearch), None) => shares(&WEB_SEARCH),
            (Some(SizesConfig::Hadoop), None) => shares(&HADOOP),
            (Some(SizesConfig::AliStorage), None) => shares(&ALI_STORAGE),
            (Some(SizesConfig::Points(points)), None) => points.clone(),
        };
        Distribution::new(&points).map(Self::Drawn).map_err(|error| error.within("sizes.points"))
    }

    fn alike(bytes: u64) -> Result<Self, ConfigError> {
        let [least, most] = MESSAGE_BYTES;
        if (least..=most).contains(&bytes) {
            return Ok(Self::Alike(bytes));
        }
        Err(ConfigError::new("bytes", "out of range").value(bytes).valid(format!("{least} … {most}")))
    }

    /// Mean length of a message \[bytes\].
    pub fn mean(&self) -> f64 {
        match self {
            Self::Alike(bytes) => *bytes as f64,
            Self::Drawn(distribution) => distribution.mean,
        }
    }

    /// The length of a message, drawn from a stream if it is drawn at all \[bytes\].
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        match self {
            Self::Alike(bytes) => *bytes,
            Self::Drawn(distribution) => distribution.at(stream.unit()),
        }
    }
}

/// Points of a distribution that was measured, whose fractions are in percent.
fn shares(points: &[(u32, f64)]) -> Vec<[f64; 2]> {
    points.iter().map(|&(bytes, percent)| [bytes.into(), percent / 100.0]).collect()
}

/// A cumulative distribution of lengths.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// Length \[bytes\] and the share of messages that are so long at most; both ascend.
    points: Vec<[f64; 2]>,
    /// Mean length \[bytes\].
    mean: f64,
}

impl Distribution {
    fn new(points: &[[f64; 2]]) -> Result<Self, ConfigError> {
        check(points)?;
        let mut mean = points[0][0] * points[0][1];
        for pair in points.windows(2) {
            let [[least, below], [most, upto]] = [pair[0], pair[1]];
            // Of whole numbers above the one and up to the other, all equally likely.
            let middle = if least < most { f64::midpoint(least + 1.0, most) } else { most };
            mean += (upto - below) * middle;
        }
        Ok(Self { points: points.to_vec(), mean })
    }

    /// The length below which a share of all messages is, rounded up \[bytes\].
    fn at(&self, share: f64) -> u64 {
        let behind = self.points.partition_point(|point| point[1] < share).min(self.points.len() - 1);
        let [most, upto] = self.points[behind];
        let Some(&[least, below]) = behind.checked_sub(1).and_then(|before| self.points.get(before)) else {
            return most as u64;
        };
        let bytes = least + (share - below) * (most - least) / (upto - below);
        bytes.min(most).ceil() as u64
    }
}

/// Refuses what is no cumulative distribution of lengths.
fn check(points: &[[f64; 2]]) -> Result<(), ConfigError> {
    let valid = "[[bytes, fraction], …]: bytes and fractions that ascend, up to the fraction 1";
    let [least, most] = MESSAGE_BYTES;
    for (index, &[bytes, fraction]) in points.iter().enumerate() {
        let refused = |reason: &str, valid: String| {
            let value = format!("[{bytes}, {fraction}]");
            Err(ConfigError::new(index.to_string(), reason).value(value).valid(valid))
        };
        if bytes.fract() != 0.0 || !(least as f64..=most as f64).contains(&bytes) {
            return refused("so long is no message", format!("whole bytes from {least} to {most}"));
        }
        if !(0.0..=1.0).contains(&fraction) {
            return refused("the fraction is no share of all messages", "0 … 1".into());
        }
        let ascends = |&[least, below]: &[f64; 2]| {
            bytes >= least && fraction >= below && (bytes > least || fraction > below)
        };
        let before = index.checked_sub(1).and_then(|before| points.get(before));
        if !before.is_none_or(ascends) {
            return refused("does not ascend from the point before", valid.into());
        }
    }
    match points.last() {
        Some([_, 1.0]) => Ok(()),
        Some([_, fraction]) => {
            let refused =
                ConfigError::new("", "the last fraction is not that of all messages").value(fraction);
            Err(refused.valid("1 at last"))
        }
        None => Err(ConfigError::new("", "has no points").valid(valid)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopsim_random::Purpose;

    fn drawn(points: &[[f64; 2]]) -> Distribution {
        Distribution::new(points).unwrap()
    }

    #[test]
    fn lengths_at_and_between_points() {
        let some = drawn(&[[100.0, 0.25], [200.0, 0.5], [1000.0, 0.5], [1000.0, 0.75], [1004.0, 1.0]]);
        for (share, bytes) in [
            (1e-9, 100),
            (0.25, 100),
            (0.251, 101),
            (0.375, 150),
            (0.5, 200),
            (0.500_001, 1000),
            (0.75, 1000),
            (0.750_001, 1001),
            (0.8125, 1001),
            (0.812_501, 1002),
            (1.0 - 1e-9, 1004),
        ] {
            assert_eq!(some.at(share), bytes, "{share}");
        }
        // A quarter each of 100, of 101 … 200 and of 1000, and of 1001 … 1004.
        assert!((some.mean - (100.0 + 150.5 + 1000.0 + 1002.5) / 4.0).abs() < 1e-9, "{}", some.mean);
        // One point is all messages; from 0 on no length has a share of its own.
        assert_eq!(drawn(&[[64.0, 1.0]]).at(0.5), 64);
        assert!((drawn(&[[64.0, 1.0]]).mean - 64.0).abs() < 1e-12);
        assert!((drawn(&[[1.0, 0.0], [3.0, 1.0]]).mean - 2.5).abs() < 1e-12);
    }

    #[test]
    fn many_draws_have_the_mean_and_the_shares_of_the_points() {
        for (points, mean) in [(&WEB_SEARCH[..], 1_711_250.0), (&HADOOP, 120_421.0), (&ALI_STORAGE, 40_870.0)]
        {
            let points = shares(points);
            let all = drawn(&points);
            assert!((all.mean / mean - 1.0).abs() < 0.001, "{} instead of {mean}", all.mean);
            let mut stream = Stream::new(7, Purpose::MessageSize, 0);
            let count = 400_000;
            let lengths: Vec<f64> = (0..count).map(|_| all.at(stream.unit()) as f64).collect();
            let found = lengths.iter().sum::<f64>() / f64::from(count);
            let variance =
                lengths.iter().map(|length| (length - found).powi(2)).sum::<f64>() / f64::from(count);
            let error = (variance / f64::from(count)).sqrt();
            assert!((found - all.mean).abs() < 4.0 * error, "{found} ± {error} instead of {}", all.mean);
            for [bytes, fraction] in points {
                let share =
                    lengths.iter().filter(|&&length| length <= bytes).count() as f64 / f64::from(count);
                let error = (fraction * (1.0 - fraction) / f64::from(count)).sqrt();
                assert!((share - fraction).abs() <= 4.0 * error, "{bytes}: {share} instead of {fraction}");
            }
        }
    }
}
