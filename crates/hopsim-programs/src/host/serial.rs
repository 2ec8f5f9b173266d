//! Heaps and tables are written in order, so that equal states are equal texts.

use serde::{Serialize, Serializer};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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

    /// Reads a table.
    pub fn deserialize<'de, D: Deserializer<'de>, K: Eq + Hash + Deserialize<'de>, V: Deserialize<'de>>(
        deserializer: D,
    ) -> Result<FxHashMap<K, V>, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}
