//! Documents of InfiniBand fabrics: keys that mean nothing there are refused, and keys that mean something there alone elsewhere.

use crate::config::Experiment;
use crate::error::ConfigError;
use serde_json::Value;

/// What a fabric does not have, and what there is instead.
const OF_ROUTERS: [(&str, &str); 9] = [
    ("compat", ""),
    ("load", "jobs.0.flows.0.rate"),
    ("units", ""),
    ("contention", ""),
    ("links", "router.infiniband.links"),
    ("routing", ""),
    ("nic", "router.infiniband.host"),
    ("semantics", ""),
    ("only", ""),
];

/// What is counted in cycles.
const OF_CYCLES: [&str; 6] = ["warmup", "cycles", "batches", "interval", "watchdog", "max_cycles"];

/// What a job of a fabric has.
const OF_FLOWS: [&str; 2] = ["name", "flows"];

/// Refuses keys that would be ignored.
pub fn check(root: &Value, experiment: &Experiment) -> Result<(), ConfigError> {
    if experiment.infiniband().is_none() {
        return check_elsewhere(root);
    }
    let instead =
        |key: &str| if key.is_empty() { "no such key".into() } else { format!("no such key; {key}") };
    if let Some((key, other)) = OF_ROUTERS.into_iter().find(|(key, _)| root.get(key).is_some()) {
        return Err(ConfigError::new(key, "is not of InfiniBand fabrics").valid(instead(other)));
    }
    let has = |key: &&str| root.get("measure").is_some_and(|measure| measure.get(key).is_some());
    if let Some(key) = OF_CYCLES.iter().find(|key| has(key)) {
        let reason = "an InfiniBand fabric has no cycles";
        return Err(ConfigError::new(format!("measure.{key}"), reason).valid(instead("measure.time")));
    }
    for (index, job) in jobs(root) {
        let mut keys = job.as_object().into_iter().flatten().map(|(key, _)| key);
        if let Some(key) = keys.find(|key| !OF_FLOWS.contains(&key.as_str())) {
            let reason = "a job of an InfiniBand fabric has flows and nothing else";
            return Err(ConfigError::new(format!("jobs.{index}.{key}"), reason).valid(OF_FLOWS.join(", ")));
        }
    }
    Ok(())
}

/// Refuses what only fabrics have.
fn check_elsewhere(root: &Value) -> Result<(), ConfigError> {
    let refused = |path: String, valid: &str| {
        let reason = "is for InfiniBand fabrics";
        Err(ConfigError::new(path, reason).valid(format!("{valid}, or router.infiniband")))
    };
    if root.get("measure").is_some_and(|measure| measure.get("time").is_some()) {
        return refused("measure.time".into(), "measure.warmup, cycles and interval");
    }
    match jobs(root).find(|(_, job)| job.get("flows").is_some()) {
        Some((index, _)) => refused(format!("jobs.{index}.flows"), "traffic or program"),
        None => Ok(()),
    }
}

fn jobs(root: &Value) -> impl Iterator<Item = (usize, &Value)> {
    root.get("jobs").and_then(Value::as_array).into_iter().flatten().enumerate()
}

/// Takes away from the resolved document of a fabric what [`check`] refuses.
pub fn reduce(root: &mut Value) {
    if let Some(fields) = root.as_object_mut() {
        fields.retain(|key, _| OF_ROUTERS.iter().all(|(other, _)| key != other));
    }
    if let Some(measure) = root["measure"].as_object_mut() {
        measure.retain(|key, _| !OF_CYCLES.contains(&key.as_str()));
    }
    for job in root["jobs"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        job.retain(|key, _| OF_FLOWS.contains(&key.as_str()));
    }
}
