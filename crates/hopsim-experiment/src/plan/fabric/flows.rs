//! What the hosts of a fabric send.

use super::clock::{Clock, Time};
use super::running;
use crate::config::Experiment;
use crate::config::infiniband::flows::{FlowConfig, FlowsConfig};
use crate::config::limits::SERVICE_LEVELS;
use crate::plan::within;
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::time::NEVER;
use hopsim_network::error::ConfigError;
use rustc_hash::FxHashMap;

/// Most flows.
const MOST: usize = 1 << 20;

/// What is measured together: a flow of the list, or all that a node draws or its program sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Number of the job among those that run.
    pub job: usize,
    /// The name: of the flow, or `node 7`.
    pub name: String,
    /// Who sends.
    pub source: u32,
    /// Who receives; nobody in particular if the account is a node's.
    pub destination: Option<u32>,
}

/// Whether a flow offers a load: it has a rate, and no end but that of time.
pub fn is_open(flow: &Flow) -> bool {
    flow.byte > 0 && flow.bytes.is_none()
}

/// The times of a flow.
pub struct FlowTimes {
    start: Time,
    end: Option<Time>,
    byte: Option<Time>,
}

fn listed(flows: Option<&FlowsConfig>) -> &[FlowConfig] {
    if let Some(FlowsConfig::Listed(flows)) = flows { flows } else { &[] }
}

/// Every flow that runs, with the number of its job and its place in the document.
fn all(experiment: &Experiment) -> impl Iterator<Item = (usize, String, &FlowConfig)> {
    experiment.running().flat_map(|(job, config)| {
        let flows = listed(config.flows.as_ref()).iter().enumerate();
        flows.map(move |(index, flow)| (job, format!("jobs.{job}.flows.{index}"), flow))
    })
}

/// Names the flows that have no name. Every job has flows.
pub fn resolve(experiment: &mut Experiment) -> Result<(), ConfigError> {
    let valid = "[[jobs]] with flows = [{ source = 0, destination = 1 }], flows = { file = \"flows.csv\" }, \
        messages = { pattern = \"uniform\", rate = \"8 Gb/s\" }, or program = { collective = { kind = \"barrier\" } }";
    if experiment.jobs.is_empty() || experiment.jobs.len() > 255 {
        let reason = format!("the experiment has {} jobs", experiment.jobs.len());
        return Err(ConfigError::new("jobs", reason).valid(format!("1 … 255 times {valid}")));
    }
    let mut number = 0;
    for (job, config) in experiment.jobs.iter_mut().enumerate() {
        let refused = |reason: &str| ConfigError::new(format!("jobs.{job}.flows"), reason).valid(valid);
        let flows = match &mut config.flows {
            None if config.messages.is_some() || config.program.is_some() => continue,
            None => return Err(refused("is missing: what hosts of an InfiniBand fabric send to each other")),
            Some(FlowsConfig::Table(_)) => return Err(refused("the file has not been read")),
            Some(FlowsConfig::Listed(flows)) if flows.is_empty() => return Err(refused("the list is empty")),
            Some(FlowsConfig::Listed(flows)) => flows,
        };
        for flow in flows {
            flow.name.get_or_insert_with(|| format!("flow{number}"));
            number += 1;
        }
    }
    if number > MOST {
        let reason = format!("the experiment has {number} flows");
        return Err(ConfigError::new("jobs", reason).valid(format!("at most {MOST}")));
    }
    check_names(experiment)
}

fn check_names(experiment: &Experiment) -> Result<(), ConfigError> {
    let mut taken: FxHashMap<&str, String> = FxHashMap::default();
    for (_, path, flow) in all(experiment) {
        let name = flow.name.as_deref().unwrap_or_default();
        let valid = "a name of its own for every flow, or no such key";
        let refused = |reason: String| {
            ConfigError::new(format!("{path}.name"), reason).value(format!("{name:?}")).valid(valid)
        };
        if name.trim().is_empty() {
            return Err(refused("the name is empty".into()));
        }
        if let Some(other) = taken.get(name) {
            return Err(refused(format!("{other} has the same name")));
        }
        taken.insert(name, path);
    }
    Ok(())
}

/// The accounts of the flows, then those of the nodes that draw or run programs, with the numbers of their jobs.
pub fn accounts(experiment: &Experiment, nodes: impl Iterator<Item = (usize, u32)>) -> Vec<Account> {
    let of_flow = |(job, _, flow): (usize, String, &FlowConfig)| Account {
        job: running(experiment, job),
        name: flow.name.clone().unwrap_or_default(),
        source: flow.source,
        destination: Some(flow.destination),
    };
    let of_node = |(job, node): (usize, u32)| Account {
        job,
        name: format!("node {node}"),
        source: node,
        destination: None,
    };
    all(experiment).map(of_flow).chain(nodes.map(of_node)).collect()
}

/// Checks the flows between so many nodes and reads their times.
pub fn read(experiment: &Experiment, nodes: u32, clock: &mut Clock) -> Result<Vec<FlowTimes>, ConfigError> {
    let one = |(_, path, flow): (usize, String, &FlowConfig)| {
        check(flow, nodes).map_err(|error| error.within(&path))?;
        let key = |key: &str| format!("{path}.{key}");
        let end = flow.end.as_ref().map(|end| clock.positive(end, &key("end"))).transpose()?;
        let byte = flow.rate.as_ref().map(|rate| clock.byte(rate, &key("rate"))).transpose()?;
        Ok(FlowTimes { start: clock.time(&flow.start, &key("start"))?, end, byte })
    };
    all(experiment).map(one).collect()
}

fn check(flow: &FlowConfig, nodes: u32) -> Result<(), ConfigError> {
    for (key, node) in [("source", flow.source), ("destination", flow.destination)] {
        if node >= nodes {
            return Err(ConfigError::new(key, format!("the network has {nodes} nodes"))
                .value(node)
                .valid(format!("0 … {}", nodes.saturating_sub(1))));
        }
    }
    if flow.source == flow.destination {
        let refused = ConfigError::new("destination", "a flow goes to another node than its source");
        return Err(refused.value(flow.destination).valid(format!("a node other than {}", flow.source)));
    }
    if flow.bytes == Some(0) {
        let refused = ConfigError::new("bytes", "the flow has nothing to send").value(0);
        return Err(refused.valid("1 …, or no such key for a flow without end"));
    }
    within(SERVICE_LEVELS, flow.service_level.into(), "service_level")
}

/// The flows in ticks.
pub fn build(experiment: &Experiment, times: &[FlowTimes], clock: &Clock) -> Result<Vec<Flow>, ConfigError> {
    let one = |((_, path, flow), times): ((usize, String, &FlowConfig), &FlowTimes)| {
        let start = clock.ticks(&times.start)?;
        let end = times.end.as_ref().map_or(Ok(NEVER), |end| clock.ticks(end))?;
        if end <= start {
            return Err(ConfigError::new(format!("{path}.end"), "the flow ends before it starts")
                .value(format!("{:?}", flow.end.as_deref().unwrap_or_default()))
                .valid(format!("after start, {:?}", flow.start)));
        }
        Ok(Flow {
            source: flow.source,
            destination: flow.destination,
            start,
            end,
            bytes: flow.bytes,
            byte: times.byte.as_ref().map_or(Ok(0), |byte| clock.byte_ticks(byte))?,
            service_level: flow.service_level,
        })
    };
    all(experiment).zip(times).map(one).collect()
}
