//! Priority classes of jobs, which only some arbiters look at.

use crate::config::Experiment;
use crate::config::limits::{PRIORITIES, within};
use crate::config::router::RouterConfig;
use hopsim_cycles::choices::FlitArbiter;
use hopsim_network::error::ConfigError;

/// The priority class of every job that runs. Refuses one where nothing looks at it.
pub fn plan(experiment: &Experiment) -> Result<Vec<u8>, ConfigError> {
    let looks = matches!(
        &experiment.router,
        RouterConfig::VirtualChannel(router) if matches!(router.arbiter, FlitArbiter::Priority(_))
    );
    for (index, job) in experiment.jobs.iter().enumerate() {
        let path = format!("jobs.{index}.priority");
        within(PRIORITIES, job.priority, path.as_str())?;
        if job.priority > 0 && !looks {
            return Err(ConfigError::new(path, "no arbiter of the routers looks at priority classes")
                .value(job.priority)
                .valid("0, or router.virtual_channel with arbiter = \"priority\""));
        }
    }
    Ok(experiment.running().map(|(_, job)| job.priority as u8).collect())
}
