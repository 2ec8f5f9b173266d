//! The exceptions of the module.

use hopsim_core::error::{ConfigError as Refusal, RunError as Failure};
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::{PyErr, create_exception};

create_exception!(
    hopsim._core,
    ConfigError,
    PyValueError,
    "Bad input; `str()` is the complete message: key, value, reason, what would be valid."
);
create_exception!(
    hopsim._core,
    RunError,
    PyRuntimeError,
    "A simulation stopped before its end, for example in a deadlock."
);
create_exception!(
    hopsim._core,
    Cancelled,
    PyException,
    "A simulation stopped because `Monitor.cancel` was called."
);

/// A refusal of the document called `name`.
pub fn in_document(name: &str, refusal: &Refusal) -> PyErr {
    ConfigError::new_err(format!("{name}: {refusal}"))
}

/// A refusal of a resolved configuration.
pub fn in_configuration(refusal: &Refusal) -> PyErr {
    ConfigError::new_err(refusal.to_string())
}

/// A state that cannot be saved, or that is of something else.
pub fn unsaved(reason: String) -> PyErr {
    ConfigError::new_err(reason)
}

/// A run that stopped, or that was to go on with what is no state of it.
pub fn in_run(failure: &Failure) -> PyErr {
    match failure {
        Failure::Cancelled => Cancelled::new_err(failure.to_string()),
        Failure::Deadlock(_)
        | Failure::FabricDeadlock(..)
        | Failure::StandsStill { .. }
        | Failure::Stuck(_)
        | Failure::Unmatched(_)
        | Failure::Unfinished(..)
        | Failure::LongSeries(..)
        | Failure::LongTrace(..)
        | Failure::Memory(_) => RunError::new_err(failure.to_string()),
        Failure::Snapshot => unsaved(failure.to_string()),
    }
}

/// A value that JSON cannot hold.
#[expect(clippy::needless_pass_by_value, reason = "the form map_err wants")]
pub fn unwritable(error: serde_json::Error) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
