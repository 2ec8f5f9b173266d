//! The files of programs: each is read once per process, and kept by the digest of its contents.

use hopsim_experiment::config::infiniband::flows::FlowConfig;
use hopsim_experiment::config::program::ProgramConfig;
use hopsim_experiment::document::Files;
use hopsim_network::topology::graph::Contents as Network;
use hopsim_programs::error::ProgramError;
use hopsim_programs::formats::chakra::{self, Setting};
use hopsim_programs::formats::{Contents, Format};
use hopsim_programs::program::Program;
use hopsim_routing::table::Routes;
use hopsim_traffic::packet_list::ListedPacket;
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Programs by kind, parameters and digest.
static KEPT: LazyLock<Mutex<HashMap<String, Program>>> = LazyLock::new(Mutex::default);

/// Functions of Python that read files, and raise where they cannot.
pub struct Readers {
    /// The network in a file as a JSON object.
    pub network: Py<PyAny>,
    /// The forwarding tables in a file, for the network in another one.
    pub forwarding: Py<PyAny>,
    /// The nodes in the file of a placement by rank.
    pub nodes: Py<PyAny>,
    /// The packets in a file as a JSON list.
    pub packets: Py<PyAny>,
    /// The flows in a file as a JSON list.
    pub flows: Py<PyAny>,
    /// The table of routes in a file as a JSON object.
    pub routes: Py<PyAny>,
    /// The contents of a file, decompressed.
    pub contents: Py<PyAny>,
    /// The contents of the files of all ranks of a Chakra trace, decompressed.
    pub ranks: Py<PyAny>,
}

/// The functions of [`Readers`] as Python hands them over: network, forwarding, nodes, packets, flows, routes, contents, ranks.
pub type Functions = (Py<PyAny>, Py<PyAny>, Py<PyAny>, Py<PyAny>, Py<PyAny>, Py<PyAny>, Py<PyAny>, Py<PyAny>);

impl From<Functions> for Readers {
    fn from((network, forwarding, nodes, packets, flows, routes, contents, ranks): Functions) -> Self {
        Self { network, forwarding, nodes, packets, flows, routes, contents, ranks }
    }
}

/// Reads the files of a document by functions of Python.
pub struct PythonFiles {
    readers: Option<Readers>,
    /// Digests of programs that have been read.
    digests: RefCell<HashMap<String, String>>,
}

impl PythonFiles {
    /// The files that these functions read; without functions none can be read.
    pub fn new(readers: Option<Readers>) -> Self {
        Self { readers, digests: RefCell::default() }
    }

    fn readers(&self) -> Result<&Readers, String> {
        self.readers.as_ref().ok_or_else(|| "cannot be read here".into())
    }

    /// Reads the files of a program and keeps it under the digest that it returns.
    fn read(&self, program: &ProgramConfig, kind: &str, file: &str) -> Result<String, String> {
        let readers = self.readers()?;
        let contents = |file: &str| call(&readers.contents, (file,), |answer| Ok(answer.extract()?));
        if let ProgramConfig::Chakra(config) = program {
            let files: Vec<PyBackedBytes> = call(&readers.ranks, (file,), |answer| answer.extract())?;
            let groups: Option<PyBackedBytes> = config.groups.as_deref().map(contents).transpose()?;
            let digest = digest(files.iter().chain(&groups).map(AsRef::as_ref));
            let parse = || of_chakra(&files, groups.as_deref(), config.flops);
            return keep(key(program, kind, &digest), parse).map(|()| digest);
        }
        let contents: PyBackedBytes = contents(file)?;
        let digest = digest([contents.as_ref()]);
        keep(key(program, kind, &digest), || parse(kind, &contents)).map(|()| digest)
    }
}

/// Keeps a program unless it is known.
fn keep(key: String, parse: impl FnOnce() -> Result<Contents, ProgramError>) -> Result<(), String> {
    let is_known = KEPT.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&key);
    if !is_known {
        let program = parse().map_err(|error| error.to_string())?.program();
        KEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(key, program);
    }
    Ok(())
}

/// SHA-256 digest of a file, in hexadecimal; of several files the digest of their digests.
fn digest<'a>(files: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut digests: Vec<_> = files.into_iter().map(Sha256::digest).collect();
    let digest = match digests.pop() {
        Some(only) if digests.is_empty() => only,
        last => {
            digests.extend(last);
            Sha256::digest(digests.concat())
        }
    };
    digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Files for PythonFiles {
    fn forwarding(&self, file: &str, network: &str) -> Result<Vec<Vec<u16>>, String> {
        call(&self.readers()?.forwarding, (file, network), |answer| answer.extract())
    }

    fn network(&self, file: &str) -> Result<Network, String> {
        let text: String = call(&self.readers()?.network, (file,), |answer| answer.extract())?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    fn nodes(&self, file: &str) -> Result<Vec<u32>, String> {
        call(&self.readers()?.nodes, (file,), |answer| answer.extract())
    }

    fn packets(&self, file: &str) -> Result<Vec<ListedPacket>, String> {
        let text: String = call(&self.readers()?.packets, (file,), |answer| answer.extract())?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    fn flows(&self, file: &str) -> Result<Vec<FlowConfig>, String> {
        let text: String = call(&self.readers()?.flows, (file,), |answer| answer.extract())?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    fn routes(&self, file: &str) -> Result<Routes, String> {
        let text: String = call(&self.readers()?.routes, (file,), |answer| answer.extract())?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    fn load(&self, program: &mut ProgramConfig) -> Result<(), String> {
        let mut named = program.clone();
        let Some((kind, file, given)) = named.file() else { return Ok(()) };
        let (file, given) = (file.to_owned(), given.take());
        let known = self.digests.borrow().get(&format!("{named:?}")).cloned();
        let digest = known.map_or_else(|| self.read(&named, kind, &file), Ok)?;
        self.digests.borrow_mut().insert(format!("{named:?}"), digest.clone());
        if given.is_some_and(|given| given != digest) {
            return Err(format!(
                "has other contents than sha256 says: {digest}; valid: the file that was meant, or no sha256"
            ));
        }
        if let Some((_, _, sha256)) = program.file() {
            *sha256 = Some(digest);
        }
        Ok(())
    }

    fn program(&self, program: &ProgramConfig) -> Result<Program, String> {
        kept(program)
    }
}

/// The program of a resolved configuration whose file has been read in this process.
pub fn kept(program: &ProgramConfig) -> Result<Program, String> {
    let mut named = program.clone();
    let Some((kind, _, sha256)) = named.file() else { return Err("is in no file".into()) };
    let digest = sha256.clone().unwrap_or_default();
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.get(&key(program, kind, &digest)).cloned().ok_or_else(|| "has not been read in this process".into())
}

fn key(program: &ProgramConfig, kind: &str, digest: &str) -> String {
    let flops = if let ProgramConfig::Chakra(config) = program { config.flops } else { None };
    format!("{kind} {flops:?} {digest}")
}

/// The program in a file; the document says of what kind it is.
fn parse(kind: &str, contents: &[u8]) -> Result<Contents, ProgramError> {
    let format = match (kind, Format::of(contents)) {
        ("table", _) => Format::Table,
        ("goal", Format::GoalBinary) => Format::GoalBinary,
        ("goal", _) => Format::Goal,
        (_, format @ (Format::Dimemas | Format::Paraver)) => format,
        _ => Format::Mpt,
    };
    format.read(contents)
}

/// The program in the files of all ranks, with the contents of the file of process groups.
pub fn of_chakra(
    files: &[PyBackedBytes],
    groups: Option<&[u8]>,
    flops: Option<f64>,
) -> Result<Contents, ProgramError> {
    let wrong = |error| {
        ProgramError::new(format!(
            "the file of process groups is no JSON object, name → list of ranks: {error}"
        ))
    };
    let groups = groups.map_or_else(|| Ok(BTreeMap::default()), serde_json::from_slice).map_err(wrong)?;
    Contents::of_graph(chakra::read(files, &Setting { groups, flops })?)
}

/// What a function of Python says of files, or why it says nothing.
fn call<T>(
    function: &Py<PyAny>,
    files: impl for<'py> PyCallArgs<'py>,
    take: impl FnOnce(Bound<'_, PyAny>) -> PyResult<T>,
) -> Result<T, String> {
    Python::attach(|py| {
        let answer = function.call1(py, files).and_then(|answer| take(answer.into_bound(py)));
        answer.map_err(|error| error.value(py).to_string())
    })
}
