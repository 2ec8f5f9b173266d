//! A simulation that another simulator drives.

use super::errors;
use super::interrupts;
use super::programs;
use super::run::Run;
use hopsim_core::engine::stepping::{DeliveredMessage, StepError, Stepping};
use hopsim_core::error::ConfigError;
use hopsim_experiment::document;
use hopsim_experiment::plan::AnyPlan;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard};

/// A simulation of one point, which goes on only when it is told to. Its calls wait for each other, whatever threads they are from.
#[pyclass(frozen, module = "hopsim._core")]
pub struct Simulation(Mutex<Stepping>);

/// Number, tag, source, destination, phits, cycle of injection, cycle of delivery.
type Delivered = (u64, u64, u32, u32, u32, u32, u32);

#[pymethods]
impl Simulation {
    /// A simulation at cycle 0, on so many threads at most. Raises `ConfigError`, and what the handler of a signal raises.
    #[new]
    fn new(py: Python<'_>, config_json: &str, threads: usize) -> PyResult<Self> {
        let stepping = interrupts::heeded(py, || {
            let plan = AnyPlan::new(&document::from_json(config_json)?, &programs::kept)?;
            Stepping::new(plan, threads)
        });
        stepping?.map(|stepping| Self(Mutex::new(stepping))).map_err(|error| errors::in_configuration(&error))
    }

    /// The present cycle.
    #[getter]
    fn now(&self, py: Python<'_>) -> u32 {
        py.detach(|| self.stepping().now())
    }

    /// Messages that are not there.
    #[getter]
    fn in_flight(&self, py: Python<'_>) -> usize {
        py.detach(|| self.stepping().in_flight())
    }

    /// The nodes that are driven, job by job in the order of ranks.
    #[getter]
    fn nodes(&self, py: Python<'_>) -> Vec<u32> {
        py.detach(|| self.stepping().nodes())
    }

    /// Messages that wait at a node: some packet of them has still to be admitted. Raises `ConfigError`.
    fn waiting(&self, py: Python<'_>, node: u32) -> PyResult<usize> {
        asked(py, || self.stepping().waiting(node))
    }

    /// The first cycle that begins so many picoseconds after cycle 0, or later. Raises `ConfigError`.
    fn cycles(&self, py: Python<'_>, picoseconds: u64) -> PyResult<u64> {
        asked(py, || self.stepping().cycles(picoseconds))
    }

    /// The picosecond in which a cycle begins, counted from cycle 0. Raises `ConfigError`.
    fn picoseconds(&self, py: Python<'_>, cycle: u64) -> PyResult<u64> {
        asked(py, || self.stepping().picoseconds(cycle))
    }

    /// The length of a message with so many bytes, without headers. Raises `ConfigError`.
    fn phits(&self, py: Python<'_>, bytes: u64) -> PyResult<u32> {
        asked(py, || self.stepping().phits(bytes))
    }

    /// Inject a message from one node to another in the present cycle; returns its number. Raises `ConfigError`.
    fn inject(&self, py: Python<'_>, nodes: (u32, u32), phits: u32, tag: u64) -> PyResult<u64> {
        asked(py, || self.stepping().inject(nodes, phits, tag))
    }

    /// Simulate so many cycles. Raises `ConfigError`, `RunError`, and what the handler of a signal raises.
    fn step(&self, py: Python<'_>, cycles: u64) -> PyResult<()> {
        interruptible(py, |goes_on| self.stepping().step(cycles, goes_on))
    }

    /// Simulate until a message is there that `delivered` has not returned, or so many cycles. Returns whether there is one.
    fn step_until_delivered(&self, py: Python<'_>, most: u64) -> PyResult<bool> {
        interruptible(py, |goes_on| self.stepping().step_until_delivered(most, goes_on))
    }

    /// Messages that are there and that no call has returned, by cycle of delivery and number.
    fn delivered(&self, py: Python<'_>) -> Vec<Delivered> {
        let row = |message: DeliveredMessage| {
            let DeliveredMessage { number, tag, source, destination, phits, injected, delivered } = message;
            (number, tag, source, destination, phits, injected, delivered)
        };
        py.detach(|| self.stepping().take_delivered()).into_iter().map(row).collect()
    }

    /// What has been measured; ends the simulation. Raises `ConfigError`.
    fn results(&self, py: Python<'_>) -> PyResult<Run> {
        let outcome: Result<_, ConfigError> = py.detach(|| self.stepping().results());
        outcome.map(Run::new).map_err(|error| errors::in_configuration(&error))
    }
}

impl Simulation {
    /// The simulation itself, unless a call has panicked.
    fn stepping(&self) -> MutexGuard<'_, Stepping> {
        self.0.lock().unwrap_or_else(|_| panic!("the simulation was broken by an earlier panic"))
    }
}

/// Asks with the GIL released.
fn asked<T: Send>(py: Python<'_>, ask: impl FnOnce() -> Result<T, ConfigError> + Send) -> PyResult<T> {
    py.detach(ask).map_err(|error| errors::in_configuration(&error))
}

/// Does something that takes time with the GIL released, and lets signals end it.
fn interruptible<T: Send>(
    py: Python<'_>,
    step: impl FnOnce(&mut dyn FnMut() -> bool) -> Result<T, StepError> + Send,
) -> PyResult<T> {
    let mut raised = None;
    let done = py.detach(|| {
        step(&mut || {
            raised = Python::attach(|py| py.check_signals().err());
            raised.is_none()
        })
    });
    done.map_err(|error| match error {
        StepError::Refused(error) => errors::in_configuration(&error),
        StepError::Stopped(error) => raised.unwrap_or_else(|| errors::in_run(&error)),
    })
}
