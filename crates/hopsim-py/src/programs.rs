//! The files of programs: each is read once per process, and kept by the digest of its contents.

use hopsim_core::config::document::Files;
use hopsim_core::config::program::{FileConfig, ProgramConfig};
use hopsim_core::topology::graph::Edge;
use hopsim_programs::error::ProgramError;
use hopsim_programs::formats::{dimemas, goal, goal_binary, mpt};
use hopsim_programs::program::Program;
use hopsim_programs::trace::Trace;
use pyo3::prelude::*;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Programs by kind and digest.
static KEPT: LazyLock<Mutex<HashMap<String, Program>>> = LazyLock::new(Mutex::default);

/// Reads the files of a document by functions of Python.
pub struct PythonFiles {
    /// Gives the links of the graph in a file as a JSON list, or raises.
    links: Option<Py<PyAny>>,
    /// Gives the nodes in a file by rank, or raises.
    nodes: Option<Py<PyAny>>,
    /// Gives the contents of a file, decompressed, or raises.
    contents: Option<Py<PyAny>>,
    /// Digests of the files that have been read.
    digests: RefCell<HashMap<String, String>>,
}

impl PythonFiles {
    /// With these functions.
    pub fn new(functions: Option<(Py<PyAny>, Py<PyAny>, Py<PyAny>)>) -> Self {
        let (links, nodes, contents) = match functions {
            Some((links, nodes, contents)) => (Some(links), Some(nodes), Some(contents)),
            None => (None, None, None),
        };
        Self { links, nodes, contents, digests: RefCell::default() }
    }

    /// Reads a file and keeps the program under the digest that it returns.
    fn read(&self, kind: &str, file: &str) -> Result<String, String> {
        let contents: Vec<u8> = call(self.contents.as_ref(), file, |answer| answer.extract())?;
        let digest = Sha256::digest(&contents).iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        let key = key(kind, &digest);
        let is_known = KEPT.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&key);
        if !is_known {
            let program = parse(kind, &contents).map_err(|error| error.to_string())?;
            KEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(key, program);
        }
        self.digests.borrow_mut().insert(file.to_owned(), digest.clone());
        Ok(digest)
    }
}

impl Files for PythonFiles {
    fn links(&self, file: &str) -> Result<Vec<Edge>, String> {
        let text: String = call(self.links.as_ref(), file, |answer| answer.extract())?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    fn nodes(&self, file: &str) -> Result<Vec<u32>, String> {
        call(self.nodes.as_ref(), file, |answer| answer.extract())
    }

    fn load(&self, program: &mut ProgramConfig) -> Result<(), String> {
        let Some((kind, config)) = file_of(program) else { return Ok(()) };
        let known = self.digests.borrow().get(&config.file).cloned();
        let digest = known.map_or_else(|| self.read(kind, &config.file), Ok)?;
        match &config.sha256 {
            Some(other) if *other != digest => Err(format!(
                "has other contents than sha256 says: {digest}; valid: the file that was meant, or no sha256"
            )),
            _ => {
                config.sha256 = Some(digest);
                Ok(())
            }
        }
    }

    fn program(&self, program: &ProgramConfig) -> Result<Program, String> {
        kept(program)
    }
}

/// The program of a resolved configuration whose file has been read in this process.
pub fn kept(program: &ProgramConfig) -> Result<Program, String> {
    let mut program = program.clone();
    let Some((kind, config)) = file_of(&mut program) else { return Err("is in no file".into()) };
    let digest = config.sha256.clone().unwrap_or_default();
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.get(&key(kind, &digest)).cloned().ok_or_else(|| "has not been read in this process".into())
}

fn key(kind: &str, digest: &str) -> String {
    format!("{kind} {digest}")
}

fn file_of(program: &mut ProgramConfig) -> Option<(&'static str, &mut FileConfig)> {
    match program {
        ProgramConfig::Trace(file) => Some(("trace", file)),
        ProgramConfig::Goal(file) => Some(("goal", file)),
        _ => None,
    }
}

fn parse(kind: &str, contents: &[u8]) -> Result<Program, ProgramError> {
    if kind == "goal" {
        let graph = if goal_binary::is_binary(contents) {
            goal_binary::read(contents)
        } else {
            goal::read(contents)
        }?;
        graph.check()?;
        return Ok(Program::Graph(Arc::new(graph)));
    }
    let trace: Trace =
        if contents.starts_with(b"#DIMEMAS") { dimemas::read(contents) } else { mpt::read(contents) }?;
    trace.check()?;
    Ok(Program::Script(Arc::new(trace)))
}

/// What a function of Python says of a file, or why it says nothing.
fn call<T>(
    function: Option<&Py<PyAny>>,
    file: &str,
    take: impl FnOnce(Bound<'_, PyAny>) -> PyResult<T>,
) -> Result<T, String> {
    let Some(function) = function else { return Err("cannot be read here".into()) };
    Python::attach(|py| {
        let answer = function.call1(py, (file,)).and_then(|answer| take(answer.into_bound(py)));
        answer.map_err(|error| error.value(py).to_string())
    })
}
