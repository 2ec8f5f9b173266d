//! The state of a host between two cycles: what does not follow from its program and the rules of its job.

use crate::host::graph::OperationsState;
use crate::host::graph500::SearchingState;
use crate::host::machine::Machine;
use crate::host::sequence::SequenceState;
use serde::{Deserialize, Serialize};

/// The state of a host.
#[derive(Clone, Serialize, Deserialize)]
pub struct HostState {
    pub(super) machine: Machine,
    pub(super) program: ProgramState,
}

/// The state of what a host executes.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum ProgramState {
    Sequence(SequenceState),
    Graph(OperationsState),
    Search(SearchingState),
    External,
}
