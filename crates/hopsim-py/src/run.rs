//! One simulation and what it measured.

use super::errors;
use super::monitor::Monitor;
use super::programs;
use hopsim_core::config::document;
use hopsim_core::engine::{self, Outcome};
use hopsim_core::measure::Column;
use hopsim_core::plan::AnyPlan;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::sync::atomic::Ordering;

/// What one simulation measured.
#[pyclass(frozen, module = "hopsim._core")]
pub struct Run(Outcome);

impl Run {
    /// That of a simulation which has ended.
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

/// Simulate one point on so many threads at most with the GIL released. Raises `RunError`, `Cancelled`.
#[pyfunction]
#[pyo3(signature = (config_json, monitor, threads=1))]
pub fn run(py: Python<'_>, config_json: &str, monitor: &Bound<'_, Monitor>, threads: usize) -> PyResult<Run> {
    let shared = monitor.get().shared();
    shared.control.threads.store(threads, Ordering::Relaxed);
    py.detach(|| {
        let experiment = document::from_json(config_json).map_err(|e| errors::in_configuration(&e))?;
        let plan = AnyPlan::new(&experiment, &programs::kept).map_err(|e| errors::in_configuration(&e))?;
        plan.check_alone().map_err(|e| errors::in_configuration(&e))?;
        shared.total.store(plan.length(), Ordering::Relaxed);
        engine::run_any(&plan, &shared.control).map(Run).map_err(|e| errors::in_run(&e))
    })
}
