//! `hopsim._core`: the simulator seen from Python. Texts go in and out as TOML and JSON, tables as bytes, so
//! that this layer knows nothing about mechanisms and metrics.

mod errors;
mod function;
mod interrupts;
mod monitor;
mod programs;
mod run;
mod stepping;
mod traces;

use hopsim_core::error::ConfigError;
use hopsim_experiment::config::names;
use hopsim_experiment::document;
use hopsim_experiment::parts;
use hopsim_experiment::plan::{AnyPlan, settled};
use hopsim_experiment::survey::{Survey, deadlock as look_for_deadlock};
use hopsim_experiment::topology_info::{ListedLink, TopologyInfo, links as links_of};
use hopsim_measure::statistics;
use hopsim_network::topology::{Topology, TopologyConfig};
use hopsim_routing::flexvc::{Example, Support, supported};
use programs::{PythonFiles, Readers};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use serde_json::Value;
use std::collections::BTreeMap;

/// Version of the simulator with a digest of its sources: what results are filed under.
#[pyfunction]
fn version() -> &'static str {
    hopsim_core::VERSION
}

/// JSON Schema of the experiment document; its descriptions are the documentation.
#[pyfunction]
fn schema() -> String {
    document::schema().to_string()
}

/// Resolved configuration of every point of a document, as JSON.
///
/// `name` is the file named in messages; `overrides` are (path, TOML value) pairs; `files` are eight functions, which
/// may raise: the network in a file as a JSON object, the forwarding tables in a file for the network in another one, the nodes in
/// the file of a placement by rank, the packets in a file as a JSON list, the flows in a file as a JSON list, the table of
/// routes in a file as a JSON object, what is in the file of a program, decompressed, and the same of the files of all ranks of a Chakra trace. Raises `ConfigError`, and what the handler of a signal raises.
#[pyfunction]
#[pyo3(signature = (text, name, overrides, files=None))]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Python arrive as values")]
fn points(
    py: Python<'_>,
    text: &str,
    name: &str,
    overrides: Vec<(String, String)>,
    files: Option<programs::Functions>,
) -> PyResult<Vec<String>> {
    let files = PythonFiles::new(files.map(Readers::from));
    let resolved = interrupts::heeded(py, || {
        // Moved as a whole: what is in it is used by one thread at a time.
        let files = files;
        document::points_with_files(text, &overrides, &files)
    });
    let points = resolved?.map_err(|error| errors::in_document(name, &error))?;
    let written = |experiment| document::resolved(experiment).map(|document| document.to_string());
    points.iter().map(|point| written(&point.experiment).map_err(errors::unwritable)).collect()
}

/// JSON list: the sweep assignments {path: value} behind each point of `points`, and the names {path: name} of those
/// values that have one.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Python arrive as values")]
fn axes(text: &str, name: &str, overrides: Vec<(String, String)>) -> PyResult<String> {
    let axes = document::axes(text, &overrides).map_err(|error| errors::in_document(name, &error))?;
    let points = axes.into_iter().map(|(values, labels)| {
        let labels = labels.into_iter().map(|(path, name)| (path, Value::String(name)));
        Value::Array(vec![Value::Object(values.into_iter().collect()), Value::Object(labels.collect())])
    });
    Ok(Value::Array(points.collect()).to_string())
}

/// The cycle up to which all points of a document share one run, None if each is run by itself.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Python arrive as values")]
fn branch_at(text: &str, name: &str, overrides: Vec<(String, String)>) -> PyResult<Option<u32>> {
    document::branch_at(text, &overrides).map_err(|error| errors::in_document(name, &error))
}

/// How a document asks to search for saturation, as JSON with every default filled in; None if it does not.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Python arrive as values")]
fn saturate(text: &str, name: &str, overrides: Vec<(String, String)>) -> PyResult<Option<String>> {
    let wanted = document::saturate(text, &overrides).map_err(|error| errors::in_document(name, &error))?;
    wanted.map(|wanted| serde_json::to_string(&wanted)).transpose().map_err(errors::unwritable)
}

/// What can be said of the network of a resolved configuration before it runs, as JSON: see [`Survey`]. Raises `ConfigError`, and what
/// the handler of a signal raises.
#[pyfunction]
fn survey(py: Python<'_>, config: &str) -> PyResult<String> {
    let survey = interrupts::heeded(py, || {
        let plan = AnyPlan::new(&document::from_json(config)?, &programs::kept)?;
        hopsim_memory::or_shortage(|| Survey::new(&plan)).map_err(ConfigError::too_large)
    });
    let survey = survey?.map_err(|error| errors::in_configuration(&error))?;
    serde_json::to_string(&survey).map_err(errors::unwritable)
}

/// Numbers of the topology of a resolved configuration, as JSON: see [`TopologyInfo`]. Raises `ConfigError`, and what the handler of a
/// signal raises.
#[pyfunction]
fn topology_info(py: Python<'_>, config: &str) -> PyResult<String> {
    let info = of_topology(py, config, TopologyInfo::new)?;
    serde_json::to_string(&info).map_err(errors::unwritable)
}

/// The links of the topology of a resolved configuration, each once: see [`links_of`]. Raises `ConfigError`, and what the handler of a
/// signal raises.
#[pyfunction]
fn topology_links(py: Python<'_>, config: &str) -> PyResult<Vec<ListedLink>> {
    of_topology(py, config, |_, topology| links_of(topology))
}

/// What is found in the topology of a resolved configuration.
fn of_topology<T: Send>(
    py: Python<'_>,
    config: &str,
    find: impl Fn(&TopologyConfig, &Topology) -> T + Send + Sync,
) -> PyResult<T> {
    let found = interrupts::heeded(py, || {
        let experiment = document::from_json(config)?;
        let (topology, _) = experiment.build_topology()?;
        hopsim_memory::or_shortage(|| find(&experiment.topology, &topology)).map_err(ConfigError::too_large)
    });
    found?.map_err(|error| errors::in_configuration(&error))
}

/// Whether packets of a resolved configuration can wait for each other in a circle, in words; `None` where there are no routers: see
/// [`look_for_deadlock`]. Raises `ConfigError`, and what the handler of a signal raises.
#[pyfunction]
fn deadlock(py: Python<'_>, config: &str) -> PyResult<Option<String>> {
    let found = interrupts::heeded(py, || {
        let plan = AnyPlan::new(&document::from_json(config)?, &programs::kept)?;
        hopsim_memory::or_shortage(|| look_for_deadlock(&plan)).map_err(ConfigError::too_large)
    });
    found?.map_err(|error| errors::in_configuration(&error))
}

/// From when to when which nodes cannot reach the others by a resolved configuration, a sentence for each time: see [`parts::cut_off`].
/// Raises `ConfigError`, and what the handler of a signal raises.
#[pyfunction]
fn cut_off(py: Python<'_>, config: &str) -> PyResult<Vec<String>> {
    let found = interrupts::heeded(py, || {
        let plan = AnyPlan::new(&document::from_json(config)?, &programs::kept)?;
        Ok(parts::cut_off(&plan))
    });
    found?.map_err(|error| errors::in_configuration(&error))
}

/// The jobs of a resolved configuration whose drawn placement is the same for every seed: see [`settled`].
#[pyfunction]
fn settled_placements(py: Python<'_>, config: &str) -> PyResult<Vec<usize>> {
    let jobs = py.detach(|| settled(&document::from_json(config)?));
    jobs.map_err(|error| errors::in_configuration(&error))
}

/// Every column of the results with table, unit and meaning, as a JSON list.
#[pyfunction]
fn columns() -> PyResult<String> {
    serde_json::to_string(&hopsim_measure::columns::columns()).map_err(errors::unwritable)
}

/// Which paths FlexVC carries with so many VCs (totals, then those for replies alone): {kind of path: support}.
#[pyfunction]
fn vc_paths(
    local: u8,
    global_: u8,
    reply_local: u8,
    reply_global: u8,
    network: &str,
) -> PyResult<BTreeMap<String, &'static str>> {
    let network = match network {
        "dragonfly" => Example::Dragonfly,
        "diameter2" => Example::DiameterTwo,
        other => {
            let reason = format!("network {other:?} is not known; valid: \"dragonfly\", \"diameter2\"");
            return Err(PyValueError::new_err(reason));
        }
    };
    if local.max(global_) > 16 || reply_local > local || reply_global > global_ {
        return Err(PyValueError::new_err("valid: at most 16 VCs, and no more for replies than there are"));
    }
    let name = |support| match support {
        Support::Safe => "safe",
        Support::Opportunistic => "opportunistic",
        Support::Impossible => "impossible",
    };
    let all = supported(network, [local, global_].into(), [reply_local, reply_global].into());
    Ok(all.into_iter().map(|(kind, support)| (kind, name(support))).collect())
}

/// Two-sided quantile of Student's t.
#[pyfunction]
fn student_t(freedom: u32, confidence: f64) -> PyResult<f64> {
    statistics::student_t(f64::from(freedom), confidence).ok_or_else(|| {
        let reason = format!("no quantile of Student's t: freedom = {freedom}, confidence = {confidence}");
        PyValueError::new_err(format!("{reason}; valid: freedom ≥ 1, 0 ≤ confidence < 1"))
    })
}

/// Of the names known the one that was probably meant.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Python arrive as values")]
fn closest<'n>(word: &Bound<'_, PyString>, names: Vec<Bound<'n, PyString>>) -> Option<Bound<'n, PyString>> {
    let texts: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    let close = names::closest(&word.to_string_lossy(), &texts)?;
    texts.iter().position(|name| *name == close).map(|index| names[index].clone())
}

/// The hopsim simulator, compiled.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::errors::{Cancelled, ConfigError, RunError};
    #[pymodule_export]
    use super::monitor::Monitor;
    #[pymodule_export]
    use super::run::{Run, run, run_branch, run_saved, snapshot_cycle, trunk};
    #[pymodule_export]
    use super::stepping::Simulation;
    #[pymodule_export]
    use super::traces::{convert_program, paraver_files, program_info};
    #[pymodule_export]
    use super::{
        axes, branch_at, closest, columns, cut_off, deadlock, points, saturate, schema, settled_placements,
        student_t, survey, topology_info, topology_links, vc_paths, version,
    };
}
