//! The files of programs: each is read once per process, and kept by the digest of its contents.

use hopsim_core::config::document::Files;
use hopsim_core::config::program::ProgramConfig;
use hopsim_core::topology::graph::Edge;
use hopsim_programs::error::ProgramError;
use hopsim_programs::formats::Format;
use hopsim_programs::program::Program;
use pyo3::prelude::*;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Programs by kind and digest.
static KEPT: LazyLock<Mutex<HashMap<String, Program>>> = LazyLock::new(Mutex::default);

/// Reads the files of a document by functions of Python.
pub struct PythonFiles {
    /// Gives the links of the graph in a file as a JSON list, or raises.
    links: Option<Py<PyAny>>,
    /// Gives the contents of a file, decompressed, or raises.
    contents: Option<Py<PyAny>>,
    /// Digests of the files that have been read as programs of a kind.
    digests: RefCell<HashMap<(&'static str, String), String>>,
}

impl PythonFiles {
    /// With these functions.
    pub fn new(functions: Option<(Py<PyAny>, Py<PyAny>)>) -> Self {
        let (links, contents) = functions.unzip();
        Self { links, contents, digests: RefCell::default() }
    }

    /// Reads a file and keeps the program under the digest that it returns.
    fn read(&self, kind: &'static str, file: &str) -> Result<String, String> {
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
        self.digests.borrow_mut().insert((kind, file.to_owned()), digest.clone());
        Ok(digest)
    }
}

impl Files for PythonFiles {
    fn links(&self, file: &str) -> Result<Vec<Edge>, String> {
        let text: String = call(self.links.as_ref(), file, |answer| answer.extract())?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    fn load(&self, program: &mut ProgramConfig) -> Result<(), String> {
        let Some((kind, file, sha256)) = program.file() else { return Ok(()) };
        let known = self.digests.borrow().get(&(kind, file.to_owned())).cloned();
        let digest = known.map_or_else(|| self.read(kind, file), Ok)?;
        match sha256 {
            Some(other) if *other != digest => Err(format!(
                "has other contents than sha256 says: {digest}; valid: the file that was meant, or no sha256"
            )),
            _ => {
                *sha256 = Some(digest);
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
    let Some((kind, _, sha256)) = program.file() else { return Err("is in no file".into()) };
    let digest = sha256.clone().unwrap_or_default();
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.get(&key(kind, &digest)).cloned().ok_or_else(|| "has not been read in this process".into())
}

fn key(kind: &str, digest: &str) -> String {
    format!("{kind} {digest}")
}

/// The program in a file; the document says of what kind it is.
fn parse(kind: &str, contents: &[u8]) -> Result<Program, ProgramError> {
    let format = match (kind, Format::of(contents)) {
        ("table", _) => Format::Table,
        ("goal", Format::GoalBinary) => Format::GoalBinary,
        ("goal", _) => Format::Goal,
        (_, Format::Dimemas) => Format::Dimemas,
        _ => Format::Mpt,
    };
    Ok(format.read(contents)?.program())
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
