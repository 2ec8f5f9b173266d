//! Documents with programs, or with packets that are given: their files are read, and keys that mean nothing beside them are refused.

use super::{Files, fabric};
use crate::config::Experiment;
use crate::config::infiniband::flows::FlowsConfig;
use hopsim_network::error::ConfigError;
use hopsim_traffic::packet_list::PacketListConfig;
use hopsim_traffic::placement::Placement;
use serde_json::Value;

/// Tables that a document of an ideal network does not have.
const OF_ROUTERS: [&str; 5] = ["links", "router", "routing", "nic", "semantics"];

/// Keys of `measure` that a run of programs, which begins at cycle 0 and ends when they are done, does not have.
const OF_WINDOWS: [&str; 5] = ["warmup", "cycles", "batches", "stop", "end"];

/// Keys of traffic that is drawn, which a job whose packets are given one by one does not have.
const OF_DRAWN: [&str; 6] =
    ["pattern", "process", "node_loads", "packet_lengths", "changes", "request_reply"];

/// A resolved experiment as a document, without the keys that the check of documents refuses.
pub fn resolved(experiment: &Experiment) -> serde_json::Result<Value> {
    let mut root = serde_json::to_value(experiment)?;
    let has_programs = experiment.has_programs();
    if let Some(fields) = root.as_object_mut().filter(|_| experiment.topology.is_ideal()) {
        fields.retain(|key, _| !OF_ROUTERS.contains(&key.as_str()));
    }
    for job in root["jobs"].as_array_mut().into_iter().flatten() {
        if let Some(traffic) = job.get_mut("traffic").and_then(Value::as_object_mut)
            && traffic.contains_key("packet_list")
        {
            traffic.retain(|key, _| !OF_DRAWN.contains(&key.as_str()));
        }
    }
    if experiment.is_fabric() {
        fabric::reduce(&mut root, has_programs);
    }
    if let Some(measure) = root["measure"].as_object_mut().filter(|_| has_programs) {
        measure.retain(|key, _| !OF_WINDOWS.contains(&key.as_str()));
    }
    Ok(root)
}

/// Refuses keys that would be ignored.
pub fn check(root: &Value, experiment: &Experiment) -> Result<(), ConfigError> {
    if experiment.topology.is_ideal()
        && let Some(key) = OF_ROUTERS.into_iter().find(|key| root.get(key).is_some())
    {
        return Err(ConfigError::new(key, "an ideal network has no routers").valid("no such key"));
    }
    check_listed(root)?;
    let has_programs = experiment.has_programs();
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

/// Refuses keys about packets that are drawn where they are given one by one.
fn check_listed(root: &Value) -> Result<(), ConfigError> {
    let jobs = root.get("jobs").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (index, job) in jobs.iter().enumerate() {
        let Some(traffic) = job.get("traffic").filter(|traffic| traffic.get("packet_list").is_some()) else {
            continue;
        };
        if let Some(key) = OF_DRAWN.into_iter().find(|key| traffic.get(key).is_some()) {
            let path = format!("jobs.{index}.traffic.{key}");
            return Err(ConfigError::new(path, "packet_list says which packets there are")
                .valid("no such key, or no packet_list"));
        }
    }
    Ok(())
}

/// Reads the files of all placements, lists of packets, programs and flows.
pub fn load(experiment: &mut Experiment, files: &impl Files) -> Result<(), ConfigError> {
    for (index, job) in experiment.jobs.iter_mut().enumerate() {
        if let Placement::File(file) = &job.placement {
            let path = format!("jobs.{index}.placement.file");
            let nodes = files.nodes(file);
            let nodes = nodes.map_err(|reason| ConfigError::new(path, reason).value(format!("{file:?}")))?;
            job.placement = Placement::List(nodes);
        }
        let list = job.traffic.as_mut().and_then(|traffic| traffic.packet_list.as_mut());
        if let Some(list) = list
            && let PacketListConfig::Table(table) = list
        {
            let path = format!("jobs.{index}.traffic.packet_list.file");
            let packets = files.packets(&table.file);
            let value = format!("{:?}", table.file);
            let packets = packets.map_err(|reason| ConfigError::new(path, reason).value(value))?;
            *list = PacketListConfig::Listed(packets);
        }
        if let Some(FlowsConfig::Table(table)) = &job.flows {
            let (path, file) = (format!("jobs.{index}.flows.file"), format!("{:?}", table.file));
            let flows = files.flows(&table.file);
            let flows = flows.map_err(|reason| ConfigError::new(path, reason).value(file))?;
            job.flows = Some(FlowsConfig::Listed(flows));
        }
        let Some(program) = &mut job.program else { continue };
        let Some((kind, file, _)) = program.file() else { continue };
        let (path, file) = (format!("jobs.{index}.program.{kind}.file"), format!("{file:?}"));
        files.load(program).map_err(|reason| ConfigError::new(path, reason).value(file))?;
    }
    Ok(())
}
