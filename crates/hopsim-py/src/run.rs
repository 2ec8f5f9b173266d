//! One simulation and what it measured.

use super::errors;
use super::function::Function;
use super::interrupts;
use super::monitor::{Monitor, Shared};
use super::programs;
use hopsim_core::engine::{self, Outcome, Scope, Snapshot, Stages, distrusted};
use hopsim_experiment::config::Experiment;
use hopsim_experiment::document;
use hopsim_experiment::plan::{AnyPlan, Plan, unsaved};
use hopsim_measure::Column;
use hopsim_routing::{RoutingConfig, function};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What one simulation measured.
#[pyclass(frozen, module = "hopsim._core")]
pub struct Run(Outcome);

impl Run {
    /// What was measured by a simulation that has ended.
    pub fn new(outcome: Outcome) -> Self {
        Self(outcome)
    }
}

#[pymethods]
impl Run {
    /// The summary record, a flat JSON object.
    #[getter]
    fn summary(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.summary).map_err(errors::unwritable)
    }

    /// A JSON list with one summary record per job, `job` first.
    #[getter]
    fn jobs(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.jobs).map_err(errors::unwritable)
    }

    /// Table name -> column name -> (numpy type or "str", little-endian bytes or strings), or ("u1", (names, the place of each
    /// row's name among them)).
    #[getter]
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tables = PyDict::new(py);
        for (name, table) in &self.0.tables {
            let columns = PyDict::new(py);
            for (column, values) in table {
                columns.set_item(column, data(py, values)?)?;
            }
            tables.set_item(name, columns)?;
        }
        Ok(tables)
    }
}

/// The numpy type of a column and its values.
fn data<'py>(py: Python<'py>, column: &Column) -> PyResult<(&'static str, Bound<'py, PyAny>)> {
    let bytes = |bytes: Vec<u8>| PyBytes::new(py, &bytes).into_any();
    Ok(match column {
        Column::U32(values) => ("u4", bytes(values.iter().flat_map(|v| v.to_le_bytes()).collect())),
        Column::U64(values) => ("u8", bytes(values.iter().flat_map(|v| v.to_le_bytes()).collect())),
        Column::F64(values) => ("f8", bytes(values.iter().flat_map(|v| v.to_le_bytes()).collect())),
        Column::Text(values) => ("str", PyList::new(py, values)?.into_any()),
        Column::Named { names, rows } => ("u1", (names, bytes(rows.clone())).into_pyobject(py)?.into_any()),
    })
}

/// Simulate one point on so many threads at most with the GIL released. A function `routing` is asked for outputs, as `hopsim.run` says; what
/// it raises ends the run. Raises `RunError`, `Cancelled`.
#[pyfunction]
#[pyo3(signature = (config_json, monitor, threads=1, routing=None))]
pub fn run(
    py: Python<'_>,
    config_json: &str,
    monitor: &Bound<'_, Monitor>,
    threads: usize,
    routing: Option<Py<PyAny>>,
) -> PyResult<Run> {
    let shared = monitor.get().shared();
    shared.control.threads.store(threads, Ordering::Relaxed);
    py.detach(|| {
        let mut experiment = document::from_json(config_json).map_err(|e| errors::in_configuration(&e))?;
        let function = routing.map(|function| Function::new(function, &shared));
        if let Some(function) = &function {
            experiment.routing = RoutingConfig::Function(function::Config::with(Arc::clone(function) as _));
        }
        let plan = plan_of(&experiment, &shared)?;
        plan.check_alone().map_err(|e| errors::in_configuration(&e))?;
        shared.control.total.store(plan.length(), Ordering::Relaxed);
        let outcome = engine::run_any(&plan, &shared.control).map(Run).map_err(|e| errors::in_run(&e));
        function.and_then(|function| function.take_error()).map_or(outcome, Err)
    })
}

/// Simulate one point on so many threads at most, from a snapshot (None: from the beginning). The state is handed to `keep` when
/// `Monitor.save` asks for it and at cycle `at`. What `keep` raises ends the run. Raises `ConfigError` if the snapshot is of
/// something else, or the run can have none; `RunError`, `Cancelled`.
#[pyfunction]
#[pyo3(signature = (config_json, monitor, threads, snapshot, keep=None, at=None))]
#[expect(
    clippy::too_many_arguments,
    clippy::needless_pass_by_value,
    reason = "as arguments from Python arrive"
)]
pub fn run_saved(
    py: Python<'_>,
    config_json: &str,
    monitor: &Bound<'_, Monitor>,
    threads: usize,
    snapshot: Option<&[u8]>,
    keep: Option<Py<PyAny>>,
    at: Option<u32>,
) -> PyResult<Run> {
    let shared = monitor.get().shared();
    shared.control.threads.store(threads, Ordering::Relaxed);
    py.detach(|| {
        let plan = plan(config_json, &shared)?;
        let length = plan.length();
        shared.control.total.store(length, Ordering::Relaxed);
        let plan = saved(&plan).map_err(errors::unsaved)?;
        if let Some(at) = at.filter(|&at| u64::from(at) > length) {
            return Err(errors::unsaved(format!(
                "cycle {at} comes after the end of the run; valid: 1 … {length}"
            )));
        }
        let snapshot = snapshot.map(Snapshot::from_bytes).transpose().map_err(errors::unsaved)?;
        snapshot.iter().try_for_each(|snapshot| snapshot.check(plan)).map_err(errors::unsaved)?;
        let mut raised = None;
        let mut hand_over = |snapshot: &Snapshot| {
            let handed = keep.iter().try_for_each(|keep| {
                Python::attach(|py| keep.call1(py, (PyBytes::new(py, &snapshot.to_bytes()),)).map(|_| ()))
            });
            if let Err(error) = handed {
                raised = Some(error);
                shared.control.cancel.store(true, Ordering::Relaxed);
            }
        };
        let from = snapshot.as_ref().map(|snapshot| (snapshot, Scope::All));
        let stages = Stages { from, at, keep: Some(&mut hand_over) };
        let go_on = || engine::run_in_stages(plan, &shared.control, stages);
        // Only what comes from outside may be wrong.
        let outcome = if snapshot.is_some() { distrusted(go_on) } else { go_on() };
        raised.map_or_else(|| outcome.map(Run).map_err(|e| errors::in_run(&e)), Err)
    })
}

/// What all points of a sweep share that parts at some cycle, for `run_branch`. Raises `RunError`, `Cancelled`.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Python arrive as values")]
pub fn trunk<'py>(
    py: Python<'py>,
    configs: Vec<String>,
    branch_at: u32,
    monitor: &Bound<'_, Monitor>,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let shared = monitor.get().shared();
    shared.control.threads.store(threads, Ordering::Relaxed);
    let state = py.detach(|| {
        let branches: Result<Vec<_>, _> = configs.iter().map(|config| document::from_json(config)).collect();
        let trunk = document::trunk(branches.map_err(|e| errors::in_configuration(&e))?);
        let trunk = trunk.ok_or_else(|| errors::unsaved("a sweep without points has no trunk".into()))?;
        let plan = plan_of(&trunk, &shared)?;
        shared.control.total.store(plan.length(), Ordering::Relaxed);
        let plan = saved(&plan).map_err(errors::unsaved)?;
        engine::trunk(plan, branch_at, &shared.control).map_err(|e| errors::in_run(&e))
    })?;
    Ok(PyBytes::new(py, &state.to_bytes()))
}

/// Simulate one point of a sweep from what it shares with the others, which `trunk` has returned. Raises `RunError`, `Cancelled`.
#[pyfunction]
pub fn run_branch(
    py: Python<'_>,
    config_json: &str,
    monitor: &Bound<'_, Monitor>,
    threads: usize,
    trunk: &[u8],
) -> PyResult<Run> {
    let shared = monitor.get().shared();
    shared.control.threads.store(threads, Ordering::Relaxed);
    py.detach(|| {
        let plan = plan(config_json, &shared)?;
        shared.control.total.store(plan.length(), Ordering::Relaxed);
        let plan = saved(&plan).map_err(errors::unsaved)?;
        let trunk = Snapshot::from_bytes(trunk).map_err(errors::unsaved)?;
        let stages = Stages { from: Some((&trunk, Scope::Network)), ..Stages::default() };
        engine::run_in_stages(plan, &shared.control, stages).map(Run).map_err(|e| errors::in_run(&e))
    })
}

/// The cycle with which a run goes on from a snapshot. Raises `ConfigError` if the bytes are none.
#[pyfunction]
pub fn snapshot_cycle(snapshot: &[u8]) -> PyResult<u32> {
    Snapshot::from_bytes(snapshot).map(|snapshot| snapshot.cycle()).map_err(errors::unsaved)
}

/// The plan of a resolved configuration. Raises `ConfigError`, `Cancelled`.
fn plan(config: &str, shared: &Arc<Shared>) -> PyResult<AnyPlan> {
    plan_of(&document::from_json(config).map_err(|e| errors::in_configuration(&e))?, shared)
}

fn plan_of(experiment: &Experiment, shared: &Arc<Shared>) -> PyResult<AnyPlan> {
    interrupts::until_cancelled(shared, || {
        AnyPlan::new(experiment, &programs::kept).map_err(|e| errors::in_configuration(&e))
    })
}

/// The plan if its state can be saved; the error says why not.
fn saved(plan: &AnyPlan) -> Result<&Plan, String> {
    match plan {
        AnyPlan::Fabric(_) => Err("the state of a fabric cannot be saved; valid: another router".into()),
        AnyPlan::Network(plan) => unsaved(plan).map_or(Ok(plan), |reason| Err(reason.into())),
    }
}
