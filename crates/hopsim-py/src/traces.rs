//! What is in the file of a program, and the same in other formats.

use crate::errors::{ConfigError, unwritable};
use crate::programs::of_chakra;
use hopsim_programs::collectives::Choices;
use hopsim_programs::error::ProgramError;
use hopsim_programs::formats::{Contents, Format};
use hopsim_programs::ideal::least_time;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use serde_json::json;
use std::collections::BTreeMap;

/// What the files of a Chakra trace do not say: the contents of the file of process groups, and operations per second.
type ChakraSetting = (Option<PyBackedBytes>, Option<f64>);

/// The name of the format of the files of a program, and what is in them; `chakra` is given for a Chakra trace.
fn read(
    files: &[PyBackedBytes],
    chakra: Option<&ChakraSetting>,
) -> Result<(&'static str, Contents), ProgramError> {
    if let Some((groups, flops)) = chakra {
        return Ok(("chakra", of_chakra(files, groups.as_deref(), *flops)?));
    }
    let contents = files.first().map_or(&[][..], |contents| contents);
    let format = Format::of(contents);
    Ok((format.name(), format.read(contents)?))
}

/// Totals of the program in a file, or in the files of all ranks of a Chakra trace, as JSON. Raises `ConfigError`.
#[pyfunction]
#[pyo3(signature = (files, chakra=None))]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Python arrive as values")]
pub fn program_info(
    py: Python<'_>,
    files: Vec<PyBackedBytes>,
    chakra: Option<ChakraSetting>,
) -> PyResult<String> {
    let info = py.detach(|| {
        let (format, program) = read(&files, chakra.as_ref())?;
        let info = program.info();
        let (name, told) = match &program {
            Contents::Trace(trace) => (trace.name.clone(), trace.info.clone()),
            Contents::Graph(_) => (String::new(), Vec::new()),
        };
        Ok(json!({
            "format": format,
            "name": name,
            "info": told.into_iter().collect::<BTreeMap<_, _>>(),
            "ranks": info.ranks,
            "records": info.records,
            "messages": info.messages,
            "messages_to_self": info.messages_to_self,
            "bytes": info.bytes.to_string(),
            "collectives": info.collectives,
            "alltoall_bytes": info.alltoall_bytes.to_string(),
            "compute_mean": info.compute_mean(),
            "least_time": least_time(&program.program())?,
        }))
    });
    let info = info.map_err(|error: ProgramError| refused(&error))?;
    serde_json::to_string(&info).map_err(unwritable)
}

/// Convert the program in a file, or in the files of all ranks of a Chakra trace, to the format of `target`, under the name of
/// `target` if the program has none. Where that format has no collective operations, they become messages of the algorithms
/// {kind: algorithm}. Raises `ConfigError`.
#[pyfunction]
#[pyo3(signature = (files, target, collectives, chakra=None))]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Python arrive as values")]
pub fn convert_program(
    py: Python<'_>,
    files: Vec<PyBackedBytes>,
    target: (String, String),
    collectives: Vec<(String, String)>,
    chakra: Option<ChakraSetting>,
) -> PyResult<Bound<'_, PyBytes>> {
    let names = collectives.iter().map(|(kind, algorithm)| (kind.as_str(), algorithm.as_str()));
    let choices = Choices::from_names(names).map_err(|error| refused(&error))?;
    let (format, name) = target;
    let format = Format::from_name(&format).ok_or_else(|| {
        let names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
        refused(&format!("there is no format {format:?}; valid: {}", names.join(", ")))
    })?;
    let converted = py.detach(|| {
        let mut converted = Vec::new();
        let (_, program) = read(&files, chakra.as_ref()).map_err(|error| refused(&error))?;
        program.write((format, &name), &choices, &mut converted).map_err(|error| refused(&error))?;
        // What does not come to its end could not be read again.
        least_time(&program.program()).map_err(|error| refused(&error))?;
        Ok::<_, PyErr>(converted)
    });
    Ok(PyBytes::new(py, &converted?))
}

fn refused(error: &impl ToString) -> PyErr {
    ConfigError::new_err(error.to_string())
}
