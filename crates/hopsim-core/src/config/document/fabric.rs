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

/// What a job of a fabric has that lists flows, and one whose nodes draw messages.
const OF_FLOWS: [&str; 2] = ["name", "flows"];
const OF_MESSAGES: [&str; 3] = ["name", "placement", "messages"];

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
        let known = keys_of(job);
        if let Some(key) = keys.find(|key| !known.contains(&key.as_str())) {
            let reason =
                "a job of an InfiniBand fabric has flows, or messages that its nodes draw, and nothing else";
            let valid = format!("{}; or {}", OF_FLOWS.join(", "), OF_MESSAGES.join(", "));
            return Err(ConfigError::new(format!("jobs.{index}.{key}"), reason).valid(valid));
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
    for key in ["flows", "messages"] {
        if let Some((index, _)) = jobs(root).find(|(_, job)| job.get(key).is_some()) {
            return refused(format!("jobs.{index}.{key}"), "traffic or program");
        }
    }
    Ok(())
}

/// What a job may have.
fn keys_of(job: &Value) -> &'static [&'static str] {
    if job.get("messages").is_some() { &OF_MESSAGES } else { &OF_FLOWS }
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
    for job in root["jobs"].as_array_mut().into_iter().flatten() {
        let known = keys_of(job);
        if let Some(fields) = job.as_object_mut() {
            fields.retain(|key, _| known.contains(&key.as_str()));
        }
    }
}
