//! Networks that fall apart as links and routers fail, with packets that are lost because they cannot get to their destination.

use crate::config::Experiment;
use hopsim_network::error::ConfigError;
use hopsim_network::topology::faults::Fault;
use hopsim_routing::RoutingConfig;
use hopsim_traffic::process::ProcessConfig;

/// Refuses `unreachable = "drop"` where the rest of the experiment does not know of packets that have no way.
pub fn check(experiment: &Experiment) -> Result<(), ConfigError> {
    if !experiment.faults.iter().any(Fault::drops) {
        return Ok(());
    }
    let ways = match experiment.routing {
        RoutingConfig::KShortestPaths(_) | RoutingConfig::FatPaths(_) => {
            Some("draws paths between all routers")
        }
        RoutingConfig::Function(_) => Some("is told distances between all routers"),
        RoutingConfig::Table(_) => Some("has paths between all routers"),
        RoutingConfig::Polarized(_) => Some("compares distances from the source"),
        RoutingConfig::UpDown(_) => Some("goes up one tree from all routers"),
        RoutingConfig::Nue(_) => Some("has escape paths over one tree between all routers"),
        _ => None,
    };
    if let Some(reason) = ways {
        let reason = format!("{reason}, and with unreachable = \"drop\" some cannot reach each other");
        let key = format!("routing.{}", experiment.routing.name());
        return Err(ConfigError::new(key, reason)
            .valid("routing.minimal, adaptive, ecmp, valiant, ugal or par, or no such key in faults"));
    }
    for (number, job) in experiment.jobs.iter().enumerate() {
        let traffic = job.traffic.as_ref();
        let bursts = |config: &ProcessConfig| matches!(config, ProcessConfig::SynchronisedBursts(_));
        let waits = match () {
            () if job.program.is_some() => Some(("program", "a program waits for messages that have no way")),
            () if traffic.is_some_and(|traffic| traffic.request_reply.is_some()) => {
                Some(("traffic.request_reply", "a request waits for its reply"))
            }
            () if traffic.is_some_and(|traffic| bursts(&traffic.process)) => {
                let reason = "a burst waits for the last packet of the one before";
                Some(("traffic.process.synchronised_bursts", reason))
            }
            () => None,
        };
        if let Some((key, reason)) = waits {
            let reason = format!("{reason}, and with unreachable = \"drop\" packets may be lost");
            return Err(ConfigError::new(format!("jobs.{number}.{key}"), reason)
                .valid("other jobs, or no such key in faults"));
        }
    }
    Ok(())
}
