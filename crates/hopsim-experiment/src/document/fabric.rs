//! Documents of fabrics: keys that mean nothing there are refused, and keys that mean something there alone elsewhere.

use super::Files;
use crate::config::Experiment;
use crate::config::infiniband::congestion::Marking;
use crate::config::infiniband::{Forwarding, Infiniband};
use crate::config::router::RouterConfig;
use hopsim_infiniband::reaction::ReactionConfig;
use hopsim_network::error::ConfigError;
use hopsim_network::topology::{TopologyConfig, graph};
use serde_json::{Value, json};

/// Keys that a fabric does not have, and what there is instead.
const OF_ROUTERS: [(&str, &str); 8] = [
    ("compat", ""),
    ("load", "jobs.0.flows.0.rate"),
    ("units", ""),
    ("contention", ""),
    ("links", "router.infiniband.links"),
    ("routing", ""),
    ("nic", "router.infiniband.host"),
    ("semantics", ""),
];

/// Keys of an entry of `faults` about cycles, and the one key of its reaction that is not.
const OF_FAULTS: [&str; 2] = ["at", "until"];
const OF_REACTIONS: &str = "packets";

/// Keys of `measure` about cycles, of which a fabric has none. Only programs have cycles, and so a longest run in cycles.
const OF_CYCLES: [&str; 7] = ["warmup", "cycles", "batches", "interval", "watchdog", "stop", "end"];
const MAX_CYCLES: &str = "max_cycles";

/// Keys of `measure.time` that a run of programs, which begins at 0 and ends when they are done, does not have.
const OF_WINDOWS: [&str; 2] = ["warmup", "window"];

/// Keys of a job of a fabric: of one that lists flows, of one whose nodes draw messages, and of one whose nodes run a program.
const OF_FLOWS: [&str; 2] = ["name", "flows"];
const OF_MESSAGES: [&str; 3] = ["name", "placement", "messages"];
const OF_PROGRAMS: [&str; 7] = ["name", "placement", "rank_order", "program", "host", "start", "repeat"];

/// Keys of a host about packets, which in a fabric have a length of their own.
const OF_PACKETS: [&str; 3] = ["packet_length", "header_length", "last_packet"];

/// Keys of congestion control that the reaction by the table alone has.
const OF_TABLE: [&str; 6] = ["timer", "ccti_timer", "ccti_increase", "ccti_limit", "ccti_min", "cct"];

/// Keys of congestion control, also of its exceptions, that marks by the length of queues do not have.
const OF_CONGESTED: [&str; 3] = ["thresholds", "victim_mask", "marking_rate"];

/// Where congestion control stands in the document.
const CONTROL: &str = "/router/infiniband/congestion_control";

/// Refuses keys that would be ignored.
pub fn check(root: &Value, experiment: &Experiment) -> Result<(), ConfigError> {
    if !experiment.is_fabric() {
        return check_elsewhere(root);
    }
    let instead =
        |key: &str| if key.is_empty() { "no such key".into() } else { format!("no such key; {key}") };
    if let Some((key, other)) = OF_ROUTERS.into_iter().find(|(key, _)| root.get(key).is_some()) {
        return Err(ConfigError::new(key, "is not of InfiniBand fabrics").valid(instead(other)));
    }
    check_measure(root, experiment.has_programs())?;
    check_faults(root)?;
    if let RouterConfig::Infiniband(fabric) = &experiment.router {
        check_reaction(root, fabric)?;
        check_marking(root, fabric)?;
    }
    for (index, job) in jobs(root) {
        let packets = |key: &&str| job.get("host").is_some_and(|host| host.get(key).is_some());
        if let Some(key) = OF_PACKETS.into_iter().find(packets) {
            let reason = "packets of an InfiniBand fabric have the length of the MTU";
            return Err(ConfigError::new(format!("jobs.{index}.host.{key}"), reason)
                .valid(instead("router.infiniband.mtu")));
        }
        if let Some(packets) = job.get("host").and_then(|host| host.get("nic_queue")) {
            let reason = "packets of an InfiniBand fabric have no time stamps";
            let key = format!("jobs.{index}.host.nic_queue");
            return Err(ConfigError::new(key, reason).value(packets).valid("no such key"));
        }
        if let Some(priority) = job.get("priority") {
            let reason = "packets of an InfiniBand fabric have service levels instead";
            let key = format!("jobs.{index}.priority");
            let other = instead("service_level of flows, messages or host");
            return Err(ConfigError::new(key, reason).value(priority).valid(other));
        }
        let mut keys = job.as_object().into_iter().flatten().map(|(key, _)| key);
        let known = keys_of(job);
        if let Some(key) = keys.find(|key| !known.contains(&key.as_str())) {
            let reason = "a job of an InfiniBand fabric has flows, or messages that its nodes draw, or a program, and nothing else";
            let valid = [&OF_FLOWS[..], &OF_MESSAGES, &OF_PROGRAMS].map(|keys| keys.join(", ")).join("; or ");
            return Err(ConfigError::new(format!("jobs.{index}.{key}"), reason).valid(valid));
        }
    }
    Ok(())
}

/// Refuses keys that another reaction than the table does not have.
fn check_reaction(root: &Value, fabric: &Infiniband) -> Result<(), ConfigError> {
    let Some(control) = &fabric.congestion_control else { return Ok(()) };
    let written = |key: &&str| root.pointer(&format!("{CONTROL}/{key}")).is_some();
    let Some(key) = OF_TABLE.into_iter().find(written) else { return Ok(()) };
    if control.reaction == ReactionConfig::Table {
        return Ok(());
    }
    let path = format!("router.infiniband.congestion_control.{key}");
    Err(ConfigError::new(path, "is of the reaction table, and there is another one").valid("no such key"))
}

/// Refuses keys that marks by the length of queues do not have.
fn check_marking(root: &Value, fabric: &Infiniband) -> Result<(), ConfigError> {
    let marking = fabric.congestion_control.as_ref().map(|control| &control.marking);
    let (Some(Marking::Ecn(_)), Some(control)) = (marking, root.pointer(CONTROL)) else { return Ok(()) };
    let exceptions = list(control, "exceptions").map(|(index, own)| (format!(".exceptions.{index}"), own));
    for (place, keys) in std::iter::once((String::new(), control)).chain(exceptions) {
        if let Some((key, value)) = OF_CONGESTED.iter().find_map(|key| Some((key, keys.get(key)?))) {
            let path = format!("router.infiniband.congestion_control{place}.{key}");
            let reason =
                "is of outputs that are congested or not, and marking.ecn looks at the bytes that wait";
            return Err(ConfigError::new(path, reason).value(value).valid("no such key"));
        }
    }
    Ok(())
}

/// Refuses links that fail in a cycle.
fn check_faults(root: &Value) -> Result<(), ConfigError> {
    for (index, fault) in list(root, "faults") {
        if let Some(key) = OF_FAULTS.into_iter().find(|key| fault.get(key).is_some()) {
            let reason = "an InfiniBand fabric has no cycles";
            let valid = "no such key; faults.0.time";
            return Err(ConfigError::new(format!("faults.{index}.{key}"), reason).valid(valid));
        }
        let reaction = fault.get("reaction").and_then(Value::as_object);
        let mut keys = reaction.into_iter().flatten().map(|(key, _)| key);
        if let Some(key) = keys.find(|key| *key != OF_REACTIONS) {
            let (reason, valid) = match key.as_str() {
                "detection" | "reroute" => {
                    ("an InfiniBand fabric has no cycles", "no such key; faults.0.time")
                }
                "retransmit" => ("hosts of an InfiniBand fabric send nothing again", "no such key"),
                _ => ("tables of an InfiniBand fabric come into force as they are written", "no such key"),
            };
            return Err(ConfigError::new(format!("faults.{index}.reaction.{key}"), reason).valid(valid));
        }
    }
    Ok(())
}

/// Refuses keys of `measure` for what a fabric measures by other keys.
fn check_measure(root: &Value, has_programs: bool) -> Result<(), ConfigError> {
    let Some(measure) = root.get("measure") else { return Ok(()) };
    let has = |key: &&str| measure.get(key).is_some();
    let refused = |key: &str, reason: &str, valid: &str| {
        Err(ConfigError::new(format!("measure.{key}"), reason).valid(format!("no such key; {valid}")))
    };
    if let Some(key) = OF_CYCLES.into_iter().find(has) {
        return refused(key, "an InfiniBand fabric has no cycles", "measure.time");
    }
    if !has_programs && has(&MAX_CYCLES) {
        return refused(MAX_CYCLES, "is for runs of programs", "measure.time");
    }
    if has(&"packets") {
        let reason = "an InfiniBand fabric has neither packet_hops nor flit_hops";
        return Err(ConfigError::new("measure.packets", reason).valid("no such key"));
    }
    let times = |key: &&str| measure.get("time").is_some_and(|time| time.get(key).is_some());
    if let Some(key) = OF_WINDOWS.into_iter().find(times).filter(|_| has_programs) {
        let reason = "a run of programs begins at 0 and ends when they are done";
        return refused(&format!("time.{key}"), reason, "measure.max_cycles");
    }
    Ok(())
}

/// Reads the file of the forwarding tables, whose LIDs and ports the file of the topology explains, before that is replaced by its
/// links.
pub fn load(experiment: &mut Experiment, files: &impl Files) -> Result<(), ConfigError> {
    let forwarding = match &mut experiment.router {
        RouterConfig::Infiniband(router) => &mut router.forwarding,
        RouterConfig::Ethernet(router) => &mut router.forwarding,
        _ => return Ok(()),
    };
    let Forwarding::File(file) = &*forwarding else { return Ok(()) };
    let refused = |reason: String| {
        ConfigError::new("router.infiniband.forwarding.file", reason).value(format!("{file:?}"))
    };
    let TopologyConfig::Graph(graph::Config { file: Some(network), .. }) = &experiment.topology else {
        let reason = "nothing says which LIDs its nodes have, and which links the ports of its switches";
        let valid = "topology.graph.file = \"…\", what ibnetdiscover prints of the same fabric";
        return Err(refused(reason.into()).valid(valid));
    };
    *forwarding = Forwarding::Tables(files.forwarding(file, network).map_err(refused)?);
    Ok(())
}

/// Refuses keys that only fabrics have.
fn check_elsewhere(root: &Value) -> Result<(), ConfigError> {
    let refused = |path: String, valid: &str| {
        let reason = "is for fabrics of InfiniBand or Ethernet";
        Err(ConfigError::new(path, reason).valid(format!("{valid}, or router.infiniband or router.ethernet")))
    };
    if root.get("measure").is_some_and(|measure| measure.get("time").is_some()) {
        return refused("measure.time".into(), "measure.warmup, cycles and interval");
    }
    if let Some((index, _)) = list(root, "faults").find(|(_, fault)| fault.get("time").is_some()) {
        return refused(format!("faults.{index}.time"), "at, until and reaction");
    }
    let level = |job: &Value| job.get("host").is_some_and(|host| host.get("service_level").is_some());
    if let Some((index, _)) = jobs(root).find(|(_, job)| level(job)) {
        return refused(format!("jobs.{index}.host.service_level"), "no such key");
    }
    for key in ["flows", "messages"] {
        if let Some((index, _)) = jobs(root).find(|(_, job)| job.get(key).is_some()) {
            return refused(format!("jobs.{index}.{key}"), "traffic or program");
        }
    }
    Ok(())
}

/// The keys that a job may have.
fn keys_of(job: &Value) -> &'static [&'static str] {
    match job {
        job if job.get("messages").is_some() => &OF_MESSAGES,
        job if job.get("program").is_some() => &OF_PROGRAMS,
        _ => &OF_FLOWS,
    }
}

fn jobs(root: &Value) -> impl Iterator<Item = (usize, &Value)> {
    list(root, "jobs")
}

fn list<'v>(root: &'v Value, key: &str) -> impl Iterator<Item = (usize, &'v Value)> {
    root.get(key).and_then(Value::as_array).into_iter().flatten().enumerate()
}

/// Takes away from the resolved document of a fabric what [`check`] refuses.
pub fn reduce(root: &mut Value, has_programs: bool) {
    if let Some(fields) = root.as_object_mut() {
        fields.retain(|key, _| OF_ROUTERS.iter().all(|(other, _)| key != other));
    }
    for fault in root.get_mut("faults").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(fields) = fault.as_object_mut() {
            fields.retain(|key, _| !OF_FAULTS.contains(&key.as_str()));
            if let Some(reaction) = fields.get_mut("reaction").and_then(Value::as_object_mut) {
                reaction.retain(|key, _| key == OF_REACTIONS);
            }
        }
    }
    if let Some(measure) = root["measure"].as_object_mut() {
        measure.retain(|key, _| !OF_CYCLES.contains(&key.as_str()));
        if has_programs && let Some(time) = measure.get_mut("time").and_then(Value::as_object_mut) {
            time.retain(|key, _| !OF_WINDOWS.contains(&key.as_str()));
        }
        if measure.get("time").is_some_and(|time| time == &json!({})) {
            measure.remove("time");
        }
    }
    if let Some(control) = root.pointer_mut(CONTROL).and_then(Value::as_object_mut) {
        if control.get("reaction").is_some_and(|reaction| reaction != "table") {
            control.retain(|key, _| !OF_TABLE.contains(&key.as_str()));
        }
        if control.get("marking").is_some_and(|marking| marking.get("ecn").is_some()) {
            control.retain(|key, _| !OF_CONGESTED.contains(&key.as_str()));
        }
    }
    for job in root["jobs"].as_array_mut().into_iter().flatten() {
        let known = keys_of(job);
        if let Some(fields) = job.as_object_mut() {
            fields.retain(|key, _| known.contains(&key.as_str()));
            if let Some(host) = fields.get_mut("host").and_then(Value::as_object_mut) {
                host.retain(|key, _| !OF_PACKETS.contains(&key.as_str()));
            }
        }
    }
}
