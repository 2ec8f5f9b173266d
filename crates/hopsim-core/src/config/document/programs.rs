//! Documents with programs: their files are read, and keys that mean nothing beside them are refused.

use super::Files;
use crate::config::Experiment;
use crate::error::ConfigError;
use serde_json::Value;

/// What an ideal network has not.
const OF_ROUTERS: [&str; 5] = ["links", "router", "routing", "nic", "semantics"];

/// What a run of programs, which begins at cycle 0 and ends when they are done, has not.
const OF_WINDOWS: [&str; 3] = ["warmup", "cycles", "batches"];

/// Refuses keys that would be ignored.
pub fn check(root: &Value, experiment: &Experiment) -> Result<(), ConfigError> {
    if experiment.topology.is_ideal()
        && let Some(key) = OF_ROUTERS.into_iter().find(|key| root.get(key).is_some())
    {
        return Err(ConfigError::new(key, "an ideal network has no routers").valid("no such key"));
    }
    let has_programs = experiment.jobs.iter().any(|job| job.program.is_some());
    let key =
        root.get("measure").and_then(|measure| OF_WINDOWS.into_iter().find(|key| measure.get(key).is_some()));
    match key {
        Some(key) if has_programs => {
            let reason = "a run of programs begins at cycle 0 and ends when they are done";
            Err(ConfigError::new(format!("measure.{key}"), reason).valid("no such key; measure.max_cycles"))
        }
        _ => Ok(()),
    }
}

/// Reads the files of all programs.
pub fn load(experiment: &mut Experiment, files: &impl Files) -> Result<(), ConfigError> {
    for (index, job) in experiment.jobs.iter_mut().enumerate() {
        let Some(program) = &mut job.program else { continue };
        let Some((kind, file, _)) = program.file() else { continue };
        let (path, file) = (format!("jobs.{index}.program.{kind}.file"), format!("{file:?}"));
        files.load(program).map_err(|reason| ConfigError::new(path, reason).value(file))?;
    }
    Ok(())
}
