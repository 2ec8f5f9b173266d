//! Differences between two resolved documents.

use super::path::{display, show};
use serde_json::Value;

/// A key that has different values in two documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference<'v> {
    /// The parts of the path of the key.
    pub path: Vec<String>,
    /// The value in the one document, if the key is there.
    pub one: Option<&'v Value>,
    /// The value in the other document, if the key is there.
    pub other: Option<&'v Value>,
}

impl Difference<'_> {
    /// The path of the key as text.
    pub fn key(&self) -> String {
        display(&self.path)
    }

    /// The values in the one and in the other document as text.
    pub fn values(&self) -> [String; 2] {
        [self.one, self.other].map(|value| value.map_or("nothing".into(), show))
    }
}

/// All keys in which two documents differ: of tables and lists of equal length those inside.
pub fn differences<'v>(one: &'v Value, other: &'v Value) -> Vec<Difference<'v>> {
    let mut found = Vec::new();
    compare(Some(one), Some(other), &mut Vec::new(), &mut found);
    found
}

fn compare<'v>(
    one: Option<&'v Value>,
    other: Option<&'v Value>,
    path: &mut Vec<String>,
    found: &mut Vec<Difference<'v>>,
) {
    let mut inside = |name: String, one, other| {
        path.push(name);
        compare(one, other, path, found);
        path.pop();
    };
    match (one, other) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let added = other.keys().filter(|key| !one.contains_key(*key));
            one.keys().chain(added).for_each(|key| inside(key.clone(), one.get(key), other.get(key)));
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) if one.len() == other.len() => {
            (0..one.len()).for_each(|index| inside(index.to_string(), one.get(index), other.get(index)));
        }
        _ if one == other => {}
        _ => found.push(Difference { path: path.clone(), one, other }),
    }
}
