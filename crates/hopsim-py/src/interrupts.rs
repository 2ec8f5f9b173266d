//! Long work before a simulation begins, and who ends it: a signal, or `Monitor.cancel`.

use super::errors;
use super::monitor::Shared;
use hopsim_core::error::RunError;
use hopsim_network::interrupt::{Interrupted, unless};
use pyo3::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What `act` returns with the GIL released. Raises what the handler of a signal raises in the meantime.
pub fn heeded<T: Send>(py: Python<'_>, act: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| {
        let raised: Rc<RefCell<Option<PyErr>>> = Rc::default();
        let shared = Rc::clone(&raised);
        let is_raised = move || {
            shared.replace(Python::attach(|py| py.check_signals().err()));
            shared.borrow().is_some()
        };
        unless(is_raised, act).map_err(|Interrupted| raised.take().unwrap_or_else(cancelled))
    })
}

/// What `act` returns, or raises. Raises `Cancelled` if the simulation for which that is has been cancelled in the meantime.
pub fn until_cancelled<T>(shared: &Arc<Shared>, act: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let shared = Arc::clone(shared);
    let is_cancelled = move || shared.control.cancel.load(Ordering::Relaxed);
    unless(is_cancelled, act).unwrap_or_else(|Interrupted| Err(cancelled()))
}

fn cancelled() -> PyErr {
    errors::in_run(&RunError::Cancelled)
}
