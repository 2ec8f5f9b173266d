//! Snapshots: the state of a run as bytes, with the version and the document that it is of, and runs that keep and use them.

use crate::VERSION;
use crate::engine::measured::{Measured, MeasuredState, Scope};
use crate::engine::{Control, drive, most_threads, within_memory};
use crate::error::RunError;
use hopsim_cycles::begin::Fit;
use hopsim_experiment::document::{Difference, differences, resolved};
use hopsim_experiment::plan::Plan;
use serde::{Deserialize, Serialize};
use serde_json::Value;
#[cfg(feature = "trace")]
use std::hash::Hasher as _;
use std::sync::atomic::Ordering;

/// How every snapshot begins. The number is that of the format of what stands before the state.
const MAGIC: &[u8] = b"hopsim snapshot 1\n";

/// Most keys that a message names of those in which two documents differ.
const NAMED: usize = 3;

/// What a snapshot is of.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Header {
    version: String,
    /// The resolved document, as JSON.
    document: String,
    cycle: u32,
}

/// The state of a run at the beginning of a cycle. It is the same for any number of threads, and a run goes on with it on any.
#[derive(Clone, Debug)]
pub struct Snapshot {
    header: Header,
    state: Vec<u8>,
}

impl Snapshot {
    /// The snapshot of a simulation.
    fn of(run: &mut Measured<'_>) -> Self {
        let document = document(run.plan).to_string();
        let header = Header { version: VERSION.into(), document, cycle: run.now() };
        let written = postcard::to_allocvec(&run.save());
        Self { header, state: written.unwrap_or_else(|_| unreachable!("numbers and lists can be written")) }
    }

    /// The cycle with which a run goes on.
    pub fn cycle(&self) -> u32 {
        self.header.cycle
    }

    /// The snapshot as bytes, for a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let header = postcard::to_allocvec(&self.header);
        let header = header.unwrap_or_else(|_| unreachable!("texts and numbers can be written"));
        let mut bytes = [MAGIC, &header, &self.state].concat();
        let sum = crc32fast::hash(&bytes).to_le_bytes();
        bytes.extend(sum);
        bytes
    }

    /// A snapshot from bytes; the error says why they are none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let valid = "valid: a file that --save-state has written";
        if !bytes.starts_with(MAGIC) {
            return Err(format!("is no snapshot; {valid}"));
        }
        let damaged = || format!("is a damaged snapshot; {valid}");
        let (content, sum) = bytes.split_last_chunk().ok_or_else(damaged)?;
        if u32::from_le_bytes(*sum) != crc32fast::hash(content) {
            return Err(damaged());
        }
        let content = content.get(MAGIC.len()..).ok_or_else(damaged)?;
        let (header, state) = postcard::take_from_bytes(content).map_err(|_| damaged())?;
        Ok(Self { header, state: state.to_vec() })
    }

    /// Whether a run of a plan may go on with the snapshot; the error says why not.
    pub fn check(&self, plan: &Plan) -> Result<(), String> {
        self.check_version()?;
        let there: Value = serde_json::from_str(&self.header.document).map_err(|error| error.to_string())?;
        let here = document(plan);
        let differences = differences(&there, &here);
        if differences.is_empty() {
            return Ok(());
        }
        let show = |difference: &Difference<'_>| {
            let [there, here] = difference.values();
            format!("{}: {there} there, {here} here", difference.key())
        };
        let shown: Vec<String> = differences.iter().take(NAMED).map(show).collect();
        let more = differences.len().saturating_sub(NAMED);
        let more = if more > 0 { format!("; {more} more") } else { String::new() };
        Err(format!(
            "is a snapshot of another experiment ({}{more}); valid: the experiment that it is of",
            shown.join("; ")
        ))
    }

    fn check_version(&self) -> Result<(), String> {
        let Header { version, .. } = &self.header;
        let reason = format!("was written by hopsim {version}; valid: a snapshot of hopsim {VERSION}");
        if version == VERSION { Ok(()) } else { Err(reason) }
    }

    /// A simulation at cycle 0 goes on with the snapshot.
    fn load(&self, run: &mut Measured<'_>, scope: Scope) -> Result<(), RunError> {
        let state: MeasuredState = postcard::from_bytes(&self.state).map_err(|_| RunError::Snapshot)?;
        run.load(&state, scope).map_err(|_| RunError::Snapshot)
    }
}

/// The resolved document of a plan.
fn document(plan: &Plan) -> Value {
    resolved(&plan.experiment).unwrap_or_else(|_| unreachable!("it has been written as JSON before"))
}

/// Where a run begins, and what is kept of it on its way.
#[derive(Default)]
pub struct Stages<'a> {
    /// What the run goes on with; without it an empty network at cycle 0.
    pub from: Option<(&'a Snapshot, Scope)>,
    /// A cycle at whose beginning the state of the run is kept, if it gets there.
    pub at: Option<u32>,
    /// Takes the states: that of cycle `at`, and those that [`Control::save`] asks for.
    pub keep: Option<&'a mut dyn FnMut(&Snapshot)>,
}

impl Stages<'_> {
    /// Begins the run, with the snapshot if there is one.
    pub(super) fn begin(&self, run: &mut Measured<'_>) -> Result<(), RunError> {
        self.from.map_or(Ok(()), |(snapshot, scope)| snapshot.load(run, scope))
    }

    /// The cycle up to which to simulate from cycle `now` on, at most, before it is looked whether to keep the state.
    pub(super) fn next(&self, now: u32) -> u32 {
        self.at.filter(|&at| at > now).unwrap_or(u32::MAX)
    }

    /// Keeps the state if the caller asks for it, or its cycle has come.
    pub(super) fn keep(&mut self, run: &mut Measured<'_>, control: &Control) {
        let Some(keep) = &mut self.keep else { return };
        let asked = control.save.swap(false, Ordering::Relaxed);
        if asked || self.at == Some(run.now()) {
            keep(&Snapshot::of(run));
        }
    }
}

/// Simulates what all branches from cycle `branch_at` share, of which `plan` is one.
pub fn trunk(plan: &Plan, branch_at: u32, control: &Control) -> Result<Snapshot, RunError> {
    within_memory(plan, control, || {
        let mut run = Measured::new(plan, Fit::Tight, most_threads(control));
        // What packets do later is counted when they are granted: in the branch, which knows where it counts.
        let end = branch_at.saturating_sub(run.simulation.crossing());
        drive(&mut run, end, control, &mut Stages::default())?;
        Ok(Snapshot::of(&mut run))
    })
}

/// Digests of the state of a run after every `stride` of its first cycles: where two runs differ first, something went wrong.
#[cfg(feature = "trace")]
pub fn digests(
    plan: &Plan,
    (cycles, stride): (u32, usize),
    trial: crate::engine::Trial,
) -> Result<Vec<u64>, RunError> {
    let mut run = Measured::new(plan, Fit::Tight, super::schedule(trial));
    let mut digests = Vec::new();
    for cycle in (0..=cycles).step_by(stride) {
        run.advance(cycle, &Control::default())?;
        let mut hasher = rustc_hash::FxHasher::default();
        hasher.write(&Snapshot::of(&mut run).state);
        digests.push(hasher.finish());
    }
    Ok(digests)
}
