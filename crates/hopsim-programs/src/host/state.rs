//! The state of a host between two cycles: what does not follow from its program and the rules of its job.
//!
//! Tables with keys are written in order of their keys, so that equal states are equal texts.

use crate::host::graph::OperationsState;
use crate::host::graph500::SearchingState;
use crate::host::machine::Machine;
use crate::host::sequence::SequenceState;
use serde::{Deserialize, Serialize, Serializer};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// That of a host.
#[derive(Clone, Serialize, Deserialize)]
pub struct HostState {
    pub(super) machine: Machine,
    pub(super) program: ProgramState,
}

/// That of what it executes.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum ProgramState {
    Sequence(SequenceState),
    Graph(OperationsState),
    Search(SearchingState),
    External,
}

/// A heap as a sorted list.
pub fn heap<S: Serializer, T: Ord + Copy + Serialize>(
    heap: &BinaryHeap<Reverse<T>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut all: Vec<Reverse<T>> = heap.iter().copied().collect();
    all.sort_unstable();
    all.serialize(serializer)
}

/// Tables as lists of pairs in order of their keys.
pub mod sorted {
    use rustc_hash::FxHashMap;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::HashMap;
    use std::hash::Hash;

    /// Writes a table.
    pub fn serialize<S: Serializer, K: Ord + Serialize, V: Serialize, H>(
        table: &HashMap<K, V, H>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut all: Vec<(&K, &V)> = table.iter().collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all.serialize(serializer)
    }

    /// Reads one.
    pub fn deserialize<'de, D: Deserializer<'de>, K: Eq + Hash + Deserialize<'de>, V: Deserialize<'de>>(
        deserializer: D,
    ) -> Result<FxHashMap<K, V>, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}
