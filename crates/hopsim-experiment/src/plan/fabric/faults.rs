//! Links that are out of order.

use super::path;
use crate::config::Experiment;
use crate::config::infiniband::Forwarding;
use hopsim_network::error::ConfigError;

/// Refuses faults of which forwarding tables cannot know.
pub fn check(experiment: &Experiment, how: &Forwarding) -> Result<(), ConfigError> {
    if experiment.faults.is_empty() {
        return Ok(());
    }
    if let Some(number) = experiment.faults.iter().position(|fault| fault.drops()) {
        let reason = "forwarding tables of an InfiniBand fabric lead to every node";
        return Err(ConfigError::new(format!("faults.{number}.unreachable"), reason)
            .value("\"drop\"")
            .valid("refuse, or no such key"));
    }
    match how {
        Forwarding::Minimal | Forwarding::MinHop | Forwarding::UpDown => Ok(()),
        Forwarding::File(_) | Forwarding::Tables(_) => {
            let reason = "the tables that are given know of no links that are out of order";
            Err(ConfigError::new(path("forwarding"), reason)
                .valid("minimal, min_hop or up_down, or no such key as faults"))
        }
    }
}
