//! Mix of patterns: see [`Part`].

use super::{Pattern, PatternConfig, Site};
use hopsim_network::error::ConfigError;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A list of parts. For each packet one part is drawn with probability weight / sum of weights, then the destination
/// by its pattern, which may be a mix again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Share of the packets, relative to the sum of all weights \[> 0\].
    pub weight: f64,
    /// The pattern that the packets of this part follow.
    pub pattern: PatternConfig,
}

/// Several patterns with cumulative probabilities.
#[derive(Clone, Debug)]
pub struct Mix {
    parts: Vec<(f64, Pattern)>,
}

impl Mix {
    /// Builds all parts.
    pub fn new(parts: &[Part], site: &Site<'_>) -> Result<Self, ConfigError> {
        if parts.is_empty() {
            return Err(
                ConfigError::new("", "names no pattern").valid("a list of { weight, pattern } tables")
            );
        }
        for (index, part) in parts.iter().enumerate() {
            if !(part.weight > 0.0 && part.weight.is_finite()) {
                return Err(ConfigError::new(format!("{index}.weight"), "must be a positive number")
                    .value(part.weight)
                    .valid("more than 0"));
            }
        }
        let total: f64 = parts.iter().map(|p| p.weight).sum();
        if !total.is_finite() {
            return Err(ConfigError::new("", "the weights add up to more than a number holds")
                .valid("smaller weights"));
        }
        let mut sum = 0.0;
        let build = |(index, part): (usize, &Part)| {
            sum += part.weight;
            let pattern = part.pattern.build(site).map_err(|e| e.within(&format!("{index}.pattern")))?;
            Ok((sum / total, pattern))
        };
        Ok(Self { parts: parts.iter().enumerate().map(build).collect::<Result<_, ConfigError>>()? })
    }

    /// Whether a part may name the source itself.
    pub fn may_name_source(&self) -> bool {
        self.parts.iter().any(|(_, part)| matches!(part, Pattern::Permutation(_)) || part.may_name_source())
    }

    /// Draws the pattern, then the destination.
    pub fn destination(&self, from: u32, stream: &mut Stream) -> u32 {
        let draw = stream.unit();
        let last = self.parts.len() - 1;
        let index = self.parts.iter().position(|(upto, _)| draw < *upto).unwrap_or(last);
        self.parts[index].1.destination(from, stream)
    }
}
