//! Progress of a simulation, shared between the thread that runs it and those that watch it.

use hopsim_core::engine::Control;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What the threads share.
#[derive(Debug, Default)]
pub struct Shared {
    /// What the engine writes and reads.
    pub control: Control,
}

/// Progress of one simulation, shared between threads.
#[pyclass(frozen, module = "hopsim._core")]
#[derive(Debug, Default)]
pub struct Monitor(Arc<Shared>);

impl Monitor {
    /// A handle that needs no Python.
    pub fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.0)
    }
}

#[pymethods]
impl Monitor {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Ask the simulation to stop; `run` then raises `Cancelled`.
    fn cancel(&self) {
        self.0.control.cancel.store(true, Ordering::Relaxed);
    }

    /// Say how much memory there is for the simulation, before it begins [bytes].
    fn allow_memory(&self, bytes: u64) {
        self.0.control.memory.store(bytes.max(1), Ordering::Relaxed);
    }

    /// Ask for the state of the simulation, which `run_saved` then hands over soon.
    fn save(&self) {
        self.0.control.save.store(true, Ordering::Relaxed);
    }

    /// How much of the simulation is done: cycles, or ticks of a fabric.
    #[getter]
    fn done(&self) -> u64 {
        self.0.control.done.load(Ordering::Relaxed)
    }

    /// How much of the simulation there is to do, in the unit of `done`, as far as is known: an adaptive run may raise it. 0
    /// before the start.
    #[getter]
    fn total(&self) -> u64 {
        self.0.control.total.load(Ordering::Relaxed)
    }

    /// How many threads the simulation has used at most; 0 if never several.
    #[getter]
    fn threads_used(&self) -> usize {
        self.0.control.threads_used.load(Ordering::Relaxed)
    }

    /// Share of their time that several threads have waited for each other; 0 if there were none.
    #[getter]
    fn waited(&self) -> f64 {
        let [worked, waited] =
            [&self.0.control.worked, &self.0.control.waited].map(|time| time.load(Ordering::Relaxed));
        waited as f64 / (worked + waited).max(1) as f64
    }

    /// Hops that packets have made so far.
    #[getter]
    fn packet_hops(&self) -> u64 {
        self.0.control.packet_hops.load(Ordering::Relaxed)
    }
}
