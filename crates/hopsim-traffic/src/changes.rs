//! Traffic that changes during the run: see [`Change`].

use super::pattern::{Pattern, PatternConfig, Site};
use super::process::{LOADS, Process, ProcessConfig, Rate};
use hopsim_network::error::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// From a cycle on, another pattern or another load.
///
/// A packet follows the pattern of the cycle it is generated in. With another load every node of the job that is not
/// in a burst draws anew in that cycle how long it waits for its next packet; bursts go on. The stream `generation`
/// shows what packets meet by the cycle they are generated in.
///
/// Source: Fuentes' thesis (2017), figures 4.8–4.10 (transient traffic).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// First cycle of the new traffic, warm-up included \[cycles, warmup … warmup + cycles − 1\].
    pub cycle: u32,
    /// To whom packets go from then on; default: as before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<PatternConfig>,
    /// Offered load from then on \[phits/(node·cycle)\]; default: as before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *LOADS.start(), max = *LOADS.end()))]
    pub load: Option<f64>,
}

/// The traffic from a cycle on.
#[derive(Clone, Debug)]
pub struct Phase {
    /// First cycle of the phase.
    pub from: u32,
    /// To whom packets go.
    pub pattern: Pattern,
    /// When packets are generated.
    pub process: Process,
    /// Offered load \[phits/(node·cycle)\].
    pub load: f64,
    /// Whether the load is another one than before.
    pub new_load: bool,
}

/// Checks and builds the phases after `first`, which has the process `config`; they begin in the cycles of `window`.
pub fn build(
    changes: &[Change],
    first: &Phase,
    (config, rate): (&ProcessConfig, Rate),
    site: &Site<'_>,
    window: &RangeInclusive<u32>,
) -> Result<Vec<Phase>, ConfigError> {
    let mut phases: Vec<Phase> = Vec::new();
    if let (Some(_), false) = (first.process.synchronised(), changes.is_empty()) {
        let reason = format!("{} are the same from beginning to end", config.name());
        return Err(ConfigError::new("", reason).valid("no changes, or another process"));
    }
    for (index, change) in changes.iter().enumerate() {
        let before = phases.last().unwrap_or(first);
        let phase = check(change, (index > 0).then_some(before.from), window)
            .and_then(|()| after(change, before, (config, rate), site))
            .map_err(|e| e.within(&index.to_string()))?;
        phases.push(phase);
    }
    Ok(phases)
}

fn check(change: &Change, before: Option<u32>, window: &RangeInclusive<u32>) -> Result<(), ConfigError> {
    if !window.contains(&change.cycle) {
        return Err(ConfigError::new("cycle", "a transient outside the measured window")
            .value(change.cycle)
            .valid(format!("{} … {} (warm-up included)", window.start(), window.end())));
    }
    if let Some(before) = before.filter(|&before| before >= change.cycle) {
        return Err(ConfigError::new("cycle", format!("the change before it is at cycle {before}"))
            .value(change.cycle)
            .valid("changes in order of their cycles, one for each cycle"));
    }
    if change.pattern.is_none() && change.load.is_none() {
        return Err(ConfigError::new("", "changes nothing").valid("pattern, load or both"));
    }
    Ok(())
}

fn after(
    change: &Change,
    before: &Phase,
    (config, rate): (&ProcessConfig, Rate),
    site: &Site<'_>,
) -> Result<Phase, ConfigError> {
    let mut phase = Phase { from: change.cycle, new_load: false, ..before.clone() };
    if let Some(pattern) = &change.pattern {
        phase.pattern = pattern.build(site).map_err(|e| e.within("pattern"))?;
    }
    if let Some(load) = change.load {
        phase.load = super::process::check_load(load)?;
        phase.new_load = true;
        let mut config = config.clone();
        if let Some(own) = config.load_mut() {
            *own = Some(load);
        }
        phase.process = config.build(rate)?;
    }
    Ok(phase)
}
