//! What is in the file of a program, the same in other formats, and what a run made of it.

use crate::errors::{ConfigError, in_configuration, unwritable};
use crate::programs::{kept, of_chakra};
use hopsim_core::error::ConfigError as Refusal;
use hopsim_experiment::document;
use hopsim_experiment::plan::AnyPlan;
use hopsim_programs::collectives::Choices;
use hopsim_programs::error::ProgramError;
use hopsim_programs::formats::paraver::{self, spans};
use hopsim_programs::formats::{Contents, Format};
use hopsim_programs::host::log::{Activity, Interval};
use hopsim_programs::ideal::least_time;
use hopsim_programs::program::Program;
use hopsim_programs::record::Script;
use hopsim_programs::trace::Trace;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

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

/// What the ranks of a job did and waited for, as columns of the table `operations`: rank, activity, record, begin and end \[cycles\].
type Operations = (Vec<u32>, Vec<String>, Vec<u32>, Vec<u32>, Vec<u32>);

/// What a run of a resolved configuration made of the program of a job, as three files for Paraver: `.prv`, `.pcf` and `.row`; a cycle takes so
/// many nanoseconds. Raises `ConfigError`.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Python arrive as values")]
pub fn paraver_files<'py>(
    py: Python<'py>,
    config: &str,
    job: &str,
    cycle_ns: f64,
    operations: Operations,
) -> PyResult<(Bound<'py, PyBytes>, String, String)> {
    let made = py.detach(|| {
        let plan = AnyPlan::new(&document::from_json(config)?, &kept)?;
        let (script, nodes) = script_of(&plan, job)?;
        let trace = Trace::of_script(job, &script);
        let at = |cycle: u32| (f64::from(cycle) * cycle_ns).round() as u64;
        let spans = spans(&trace, &intervals(&operations, nodes.len()), at);
        let mut text = Vec::new();
        let written = paraver::write(&trace, &spans, &mut text);
        written.map_err(|error| Refusal::new(format!("jobs: {job}"), error.to_string()))?;
        Ok::<_, Refusal>((text, paraver::names(&nodes)))
    });
    let (text, names) = made.map_err(|error| in_configuration(&error))?;
    Ok((PyBytes::new(py, &text), paraver::labels(), names))
}

/// The calls of the ranks of a job and the nodes that they run on.
fn script_of(plan: &AnyPlan, job: &str) -> Result<(Arc<dyn Script>, Vec<u32>), Refusal> {
    let programs = match plan {
        AnyPlan::Network(plan) => plan.system.programs(),
        AnyPlan::Fabric(plan) => plan.programs(),
    };
    let found = programs.with_end().find(|(_, plan)| plan.name == job);
    match found.map(|(_, plan)| (&plan.program, &plan.nodes)) {
        Some((Program::Script(script), nodes)) => Ok((Arc::clone(script), nodes.clone())),
        Some(_) => Err(Refusal::new("jobs.program", "is no sequence of calls of MPI")
            .value(format!("{job:?}"))
            .valid("a job whose program is a trace, a list, a collective, a stencil or a training")),
        None => {
            let names: Vec<&str> = programs.with_end().map(|(_, plan)| plan.name.as_str()).collect();
            Err(Refusal::new("job", "runs no program to its end")
                .value(format!("{job:?}"))
                .valid(names.join(", ")))
        }
    }
}

/// The intervals of so many ranks.
fn intervals((ranks, activities, records, begins, ends): &Operations, count: usize) -> Vec<Vec<Interval>> {
    let mut found = vec![Vec::new(); count];
    let times = begins.iter().zip(ends);
    for (((&rank, name), &record), (&begin, &end)) in ranks.iter().zip(activities).zip(records).zip(times) {
        let activity = Activity::ALL.iter().find(|(_, known)| known == name).map(|(activity, _)| *activity);
        if let Some((intervals, activity)) = found.get_mut(rank as usize).zip(activity) {
            intervals.push(Interval { stream: 0, activity, record, begin, end });
        }
    }
    found
}

fn refused(error: &impl ToString) -> PyErr {
    ConfigError::new_err(error.to_string())
}
