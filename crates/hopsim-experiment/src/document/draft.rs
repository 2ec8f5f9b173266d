//! A document under assembly: its values, what `--set` and the sweep put in, and where each value came from.

use super::check::check_stated;
use super::normalise::normalise;
use super::path::{self, display, show};
use super::schema::Schema;
use super::source::Source;
use super::sweep;
use hopsim_network::error::{ConfigError, Origin};
use serde_json::{Map, Value};

/// Values and where they came from.
#[derive(Clone)]
pub struct Draft<'a> {
    source: &'a Source<'a>,
    /// Paths whose values did not come from the text, oldest first.
    assigned: Vec<(Vec<String>, Origin)>,
    /// Whether the shorthand `load` gives way to the loads that jobs state: an override has stated one.
    pub load_yields: bool,
    /// The values.
    pub root: Value,
}

impl<'a> Draft<'a> {
    /// The document as written, short forms replaced.
    pub fn new(source: &'a Source<'a>) -> Result<Self, ConfigError> {
        let mut draft = Self { source, assigned: Vec::new(), load_yields: false, root: Value::Null };
        draft.root = source.value().map_err(|error| draft.located(error))?;
        draft.normalise();
        Ok(draft)
    }

    /// Replaces short forms.
    pub fn normalise(&mut self) {
        normalise(Schema::root(), &mut self.root);
    }

    /// Puts a value at `path`, which may be new.
    pub fn assign(&mut self, path: &[String], value: Value, origin: Origin) -> Result<(), ConfigError> {
        self.assigned.push((path.to_vec(), origin));
        put(&mut self.root, path, value).map_err(|error| self.located(error))
    }

    /// Whether there is a value at `path`.
    pub fn states(&self, path: &[String]) -> bool {
        let mut node = Some(&self.root);
        for part in path {
            node = match node {
                Some(Value::Array(items)) => part.parse::<usize>().ok().and_then(|index| items.get(index)),
                other => other.and_then(|value| value.get(part)),
            };
        }
        node.is_some()
    }

    /// Whether a job states a load.
    pub fn states_job_load(&self) -> bool {
        sweep::states_job_load(&[], &self.root)
    }

    /// Takes the loads away that the jobs' processes state, because the shorthand `load` replaces them.
    pub fn drop_loads(&mut self) {
        self.load_yields = false;
        let jobs = self.root.get_mut("jobs").and_then(Value::as_array_mut).into_iter().flatten();
        let processes = jobs.filter_map(|job| job.get_mut("traffic")?.get_mut("process")?.as_object_mut());
        for parameters in processes.flat_map(Map::values_mut).filter_map(Value::as_object_mut) {
            parameters.shift_remove("load");
        }
    }

    /// The line and column of the key at `path` in the text, or of the nearest key above it.
    pub fn place(&self, path: &[String]) -> Option<(u32, u32)> {
        self.source.place(path).map(|(place, _)| place)
    }

    /// The error with where the value that it is about came from.
    pub fn located(&self, error: ConfigError) -> ConfigError {
        let Ok(path) = path::parse(&error.path) else { return error };
        let written = self.source.place(&path);
        let in_text = written.is_some_and(|(_, depth)| depth == path.len());
        let assigned = |fits: &dyn Fn(&[String]) -> bool| self.assigned.iter().rev().find(|(a, _)| fits(a));
        let origin =
            assigned(&|a| path.starts_with(a)).or_else(|| assigned(&|a| !in_text && a.starts_with(&path)));
        let text = written.map_or(Origin::Unknown, |((line, column), _)| Origin::Text { line, column });
        ConfigError { origin: origin.map_or(text, |(_, origin)| *origin), ..error }
    }
}

/// Puts `value` at `path` below `root`, making the tables on the way.
fn put(root: &mut Value, path: &[String], value: Value) -> Result<(), ConfigError> {
    let (mut node, mut schema) = (root, Some(Schema::root()));
    for (depth, part) in path.iter().enumerate() {
        let of_node = schema;
        schema = of_node.and_then(|s| s.child(part));
        if let Value::Array(items) = node {
            let count = items.len();
            let item = part.parse::<usize>().ok().and_then(|index| items.get_mut(index));
            node = item.ok_or_else(|| no_element(&path[..depth], path, count).value(show(&value)))?;
            continue;
        }
        if !node.is_object() {
            if let Some(schema) = of_node.filter(|_| !node.is_null()) {
                // It gives way to a table, and nobody would see a mistake in it.
                check_stated(schema, &mut path[..depth].to_vec(), node)?;
            }
            *node = Value::Object(Map::new());
        }
        let Value::Object(fields) = node else { return Ok(()) };
        let default = of_node.and_then(|s| s.default_list(part));
        node = fields.entry(part).or_insert_with(|| default.unwrap_or(Value::Null));
    }
    *node = value;
    Ok(())
}

fn no_element(list: &[String], path: &[String], count: usize) -> ConfigError {
    let list = display(list);
    let elements = if count == 1 { "1 element".into() } else { format!("{count} elements") };
    let refused = ConfigError::new(display(path), format!("the list {list} has {elements}"));
    match count {
        0 => refused.valid(format!("a whole list at {list}")),
        1 => refused.valid(format!("{list}.0")),
        _ => refused.valid(format!("{list}.0 … {list}.{}", count - 1)),
    }
}
