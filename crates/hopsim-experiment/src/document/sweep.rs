//! The sweep: lists of values for some keys, and the points they make.

use super::check;
use super::draft::Draft;
use super::path::{self, display, show};
use super::schema::Schema;
use crate::config::limits::{CYCLES, within};
use crate::config::names::closest;
use crate::config::saturate::SaturateConfig;
use hopsim_network::error::{ConfigError, Origin};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

/// Most points of a sweep.
const MAX_POINTS: usize = 100_000;

/// The tables of a sweep.
const TABLES: [&str; 3] = ["product", "zip", "labels"];

/// The key that says when the points part: all share the run up to that cycle.
const BRANCH_AT: &str = "branch_at";

/// The key that says how to search for saturation.
const SATURATE: &str = "saturate";

/// A swept key.
#[derive(Clone, Debug)]
pub struct Key {
    /// The swept path as written.
    pub written: String,
    /// The swept path.
    pub path: Vec<String>,
    /// Where the values come from.
    pub origin: Origin,
    /// Where the list stands in the document.
    stands: Vec<String>,
    values: Vec<Value>,
    /// Names of the values; none or as many as values.
    labels: Vec<String>,
}

/// The axes, slowest first: the keys of the product in the order of the document, then the zipped keys, which
/// vary together.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    axes: Vec<Vec<Key>>,
    /// The cycle up to which all points share one run, if they do.
    pub branch_at: Option<u32>,
    /// How to search for saturation, if the sweep asks for that.
    pub saturate: Option<SaturateConfig>,
}

impl Sweep {
    /// Takes the sweep out of a document.
    pub fn take(draft: &mut Draft<'_>) -> Result<Self, ConfigError> {
        let Some(sweep) = draft.root.as_object_mut().and_then(|root| root.shift_remove("sweep")) else {
            return Ok(Self::default());
        };
        let branch_at = branch_at(&sweep).map_err(|error| draft.located(error))?;
        let saturate = saturate(&sweep).map_err(|error| draft.located(error))?;
        let (mut product, mut zip) = read(&sweep).map_err(|error| draft.located(error))?;
        for key in product.iter_mut().chain(&mut zip) {
            let place = draft.place(&key.stands);
            key.origin = place.map_or(Origin::Override, |(line, column)| Origin::Sweep { line, column });
        }
        let mut axes: Vec<Vec<Key>> = product.into_iter().map(|key| vec![key]).collect();
        axes.extend((!zip.is_empty()).then_some(zip));
        Ok(Self { axes, branch_at, saturate })
    }

    /// Gives way to an override of `path`: a swept key that it replaces is not swept any more.
    pub fn pin(&mut self, path: &[String], value: &Value) -> Result<(), ConfigError> {
        let replaced = |key: &Key| key.path.starts_with(path) || (is_load(path) && is_job_load(&key.path));
        self.axes.iter_mut().for_each(|axis| axis.retain(|key| !replaced(key)));
        self.axes.retain(|axis| !axis.is_empty());
        let inside = |key: &&Key| path.starts_with(&key.path);
        let load = |key: &&Key| is_load(&key.path) && states_job_load(path, value);
        match self.axes.iter().flatten().find(|key| inside(key) || load(key)) {
            None => Ok(()),
            Some(key) => {
                let relation = if inside(&key) { "lies inside" } else { "states what is set by" };
                let reason = format!("{relation} {}, which {} varies", key.written, display(&key.stands));
                let valid = format!("an override of {} itself", key.written);
                let refused = ConfigError::new(display(path), reason).valid(valid);
                Err(ConfigError { origin: Origin::Override, ..refused })
            }
        }
    }

    /// Whether the shorthand `load` is swept.
    pub fn varies_load(&self) -> bool {
        self.axes.iter().flatten().any(|key| is_load(&key.path))
    }

    /// The varied keys.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.axes.iter().flatten()
    }

    /// Whether no key is varied.
    pub fn is_empty(&self) -> bool {
        self.axes.is_empty()
    }

    /// Number of points.
    pub fn count(&self) -> Result<usize, ConfigError> {
        let lengths = || self.axes.iter().map(|axis| length(axis));
        match lengths().try_fold(1, usize::checked_mul) {
            Some(count) if count <= MAX_POINTS => Ok(count),
            _ => {
                let product: f64 = lengths().map(|n| n as f64).product();
                let reason = format!("the sweep would have {product} points");
                Err(ConfigError::new("sweep", reason).valid(format!("at most {MAX_POINTS} points")))
            }
        }
    }

    /// The values of point `index`, in the order of the axes.
    pub fn point(&self, index: usize) -> Vec<(&Key, &Value)> {
        self.rows(index).into_iter().filter_map(|(key, row)| Some((key, key.values.get(row)?))).collect()
    }

    /// The names of those values of point `index` that have one, by path as written.
    pub fn labels(&self, index: usize) -> Vec<(String, String)> {
        let name = |(key, row): (&Key, usize)| Some((key.written.clone(), key.labels.get(row)?.clone()));
        self.rows(index).into_iter().filter_map(name).collect()
    }

    /// Which value of its list each key has at point `index`, in the order of the axes.
    fn rows(&self, index: usize) -> Vec<(&Key, usize)> {
        let (mut rest, mut chosen) = (index, Vec::new());
        for axis in self.axes.iter().rev() {
            let row = rest % length(axis).max(1);
            rest /= length(axis).max(1);
            chosen.extend(axis.iter().rev().map(|key| (key, row)));
        }
        chosen.reverse();
        chosen
    }
}

fn length(axis: &[Key]) -> usize {
    axis.first().map_or(1, |key| key.values.len())
}

/// Whether a path is the shorthand for the load of every job.
pub fn is_load(path: &[String]) -> bool {
    matches!(path, [load] if load == "load")
}

/// Where the load of a job stands; `*` is any element or choice.
const JOB_LOAD: [&str; 6] = ["jobs", "*", "traffic", "process", "*", "load"];

/// Whether a path is the load of one job.
pub fn is_job_load(path: &[String]) -> bool {
    path.len() == JOB_LOAD.len() && leads_to_job_load(path)
}

fn leads_to_job_load(path: &[String]) -> bool {
    path.len() <= JOB_LOAD.len() && path.iter().zip(JOB_LOAD).all(|(part, name)| name == "*" || part == name)
}

/// Whether `value` at `path` states the load of a job.
pub fn states_job_load(path: &[String], value: &Value) -> bool {
    fn holds(value: &Value, rest: &[&str]) -> bool {
        match (rest.split_first(), value) {
            (None, _) => true,
            (Some((_, rest)), Value::Array(items)) => items.iter().any(|item| holds(item, rest)),
            (Some((&"*", rest)), Value::Object(fields)) => fields.values().any(|field| holds(field, rest)),
            (Some((name, rest)), _) => value.get(name).is_some_and(|field| holds(field, rest)),
        }
    }
    leads_to_job_load(path) && holds(value, &JOB_LOAD[path.len()..])
}

/// The cycle up to which all points share one run.
fn branch_at(sweep: &Value) -> Result<Option<u32>, ConfigError> {
    let Some(value) = part(sweep, BRANCH_AT)? else { return Ok(None) };
    let cycle = value.as_u64().and_then(|cycle| cycle.try_into().ok());
    cycle.iter().try_for_each(|&cycle| within(CYCLES, cycle, display(["sweep", BRANCH_AT])))?;
    Ok(cycle)
}

/// How to search for saturation.
fn saturate(sweep: &Value) -> Result<Option<SaturateConfig>, ConfigError> {
    let Some(value) = part(sweep, SATURATE)? else { return Ok(None) };
    let wanted: Option<SaturateConfig> = serde_json::from_value(value.clone()).ok();
    wanted.iter().try_for_each(SaturateConfig::check)?;
    Ok(wanted)
}

/// What a key of the sweep says, if it is there and fits the schema.
fn part<'v>(sweep: &'v Value, key: &str) -> Result<Option<&'v Value>, ConfigError> {
    let Some(value) = sweep.get(key) else { return Ok(None) };
    let path = ["sweep", key];
    if let Some(schema) = path.iter().try_fold(Schema::root(), |schema, name| schema.child(name)) {
        check::check(schema, &mut path.map(str::to_owned).to_vec(), value)?;
    }
    Ok(Some(value))
}

/// The keys of the product and the zipped keys.
fn read(sweep: &Value) -> Result<(Vec<Key>, Vec<Key>), ConfigError> {
    let tables = table(sweep, &["sweep".into()])?;
    let known = [&TABLES[..], &[BRANCH_AT, SATURATE]].concat();
    if let Some((name, value)) = tables.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        let meant = closest(name, &known).map_or(format!("sweep.product.{name}"), str::to_owned);
        return Err(ConfigError::new(display(["sweep", name]), "unknown key")
            .value(show(value))
            .suggestion(Some(&check::quoted(&meant)))
            .valid(known.join(", ")));
    }
    let read = |name: &str| {
        let mut keys = Vec::new();
        let mut stands = vec!["sweep".to_owned(), name.to_owned()];
        if let Some(value) = tables.get(name) {
            flatten(table(value, &stands)?, &mut stands, &mut Vec::new(), &mut keys)?;
        }
        Ok(keys)
    };
    let (mut product, mut zip): (Vec<Key>, Vec<Key>) = (read("product")?, read("zip")?);
    refuse_overlaps(product.iter().chain(&zip))?;
    refuse_unequal(&zip)?;
    for names in read("labels")? {
        // Keys that vary together: the names of one tell the points apart, those of the others may be left out.
        let together = zip.iter().filter(|key| key.path != names.path && !is_hidden(key)).count();
        give(&names, product.iter_mut().chain(&mut zip).collect(), together > 0)?;
    }
    Ok((product, zip))
}

/// Whether no value of a key has a name that would be shown.
fn is_hidden(key: &Key) -> bool {
    !key.labels.is_empty() && key.labels.iter().all(String::is_empty)
}

/// Gives the values of a varied key their names; `may_hide`: all of them may be empty if the key is zipped.
fn give(names: &Key, mut keys: Vec<&mut Key>, may_hide: bool) -> Result<(), ConfigError> {
    let refused = |reason: String| ConfigError::new(display(&names.stands), reason);
    let known: Vec<String> = keys.iter().map(|key| key.written.clone()).collect();
    let Some(key) = keys.iter_mut().find(|key| key.path == names.path) else {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let close = closest(&names.written, &known).map(check::quoted);
        let valid = if known.is_empty() { "a key in product or zip".into() } else { known.join(", ") };
        return Err(refused("names the values of a key that the sweep does not vary".into())
            .suggestion(close.as_deref())
            .valid(valid));
    };
    if names.values.len() != key.values.len() {
        let lengths = (names.values.len(), key.values.len());
        let reason = format!(
            "the list has length {}, but that of {} has length {}",
            lengths.0,
            display(&key.stands),
            lengths.1
        );
        return Err(refused(reason).valid("a name for each value, in their order"));
    }
    let zipped = key.stands.get(1).is_some_and(|table| table == "zip");
    let hides = may_hide && zipped && names.values.iter().all(|name| name == "");
    let mut taken: FxHashMap<&str, &Value> = FxHashMap::default();
    for (name, value) in names.values.iter().zip(&key.values) {
        let text = name.as_str().ok_or_else(|| {
            refused("a name must be a string".into()).value(show(name)).valid(format!("\"{}\"", show(name)))
        })?;
        // A value that is listed again keeps its name.
        let is_taken = *taken.entry(text).or_insert(value) != value;
        if !hides && is_taken {
            return Err(
                refused(format!("two values have the name \"{text}\"")).valid("a name of its own for each")
            );
        }
        key.labels.push(text.to_owned());
    }
    Ok(())
}

fn table<'v>(value: &'v Value, stands: &[String]) -> Result<&'v Map<String, Value>, ConfigError> {
    value.as_object().ok_or_else(|| {
        ConfigError::new(display(stands), "must be a table")
            .value(show(value))
            .valid("lists by path: [sweep.product] \"measure.seed\" = [1, 2, 3]")
    })
}

/// Reads lists by path; the path may be one quoted key or several nested ones.
fn flatten(
    fields: &Map<String, Value>,
    stands: &mut Vec<String>,
    above: &mut Vec<String>,
    keys: &mut Vec<Key>,
) -> Result<(), ConfigError> {
    for (name, value) in fields {
        stands.push(name.clone());
        let depth = above.len();
        above.extend(path::parse(name).map_err(|e| ConfigError { path: display(&*stands), ..e })?);
        match value {
            Value::Object(fields) => flatten(fields, stands, above, keys)?,
            Value::Array(values) => keys.push(key(values, stands, above)?),
            _ => {
                let what = if stands.get(1).is_some_and(|part| part == "labels") {
                    "names"
                } else {
                    "values to vary"
                };
                let refused = ConfigError::new(display(&*stands), format!("must be a list of {what}"));
                return Err(refused.value(show(value)).valid(format!("[{}]", show(value))));
            }
        }
        above.truncate(depth);
        stands.pop();
    }
    Ok(())
}

fn key(values: &[Value], stands: &[String], path: &[String]) -> Result<Key, ConfigError> {
    if values.is_empty() {
        return Err(ConfigError::new(display(stands), "the list is empty")
            .value("[]")
            .valid("at least one value"));
    }
    if path.first().is_some_and(|part| part == "sweep") {
        let refused = ConfigError::new(display(stands), "a sweep cannot vary a sweep");
        return Err(refused.valid("a key outside the table sweep"));
    }
    let (path, stands, values) = (path.to_vec(), stands.to_vec(), values.to_vec());
    Ok(Key { written: display(&path), path, stands, values, origin: Origin::Unknown, labels: Vec::new() })
}

fn refuse_overlaps<'k>(keys: impl Iterator<Item = &'k Key>) -> Result<(), ConfigError> {
    // Sorted by path, a key stands before all those inside it, and nothing else stands between.
    let mut sorted: Vec<(usize, &Key)> = keys.enumerate().collect();
    sorted.sort_by(|(_, one), (_, other)| one.path.cmp(&other.path));
    let overlaps = |pair: &&[(usize, &Key)]| pair[1].1.path.starts_with(&pair[0].1.path);
    let Some(pair) = sorted.windows(2).find(overlaps) else { return Ok(()) };
    let (first, second) = if pair[0].0 < pair[1].0 { (pair[0].1, pair[1].1) } else { (pair[1].1, pair[0].1) };
    let reason = format!("varies the same key as {}", display(&first.stands));
    Err(ConfigError::new(display(&second.stands), reason).valid("each key in one list only"))
}

fn refuse_unequal(zip: &[Key]) -> Result<(), ConfigError> {
    let Some((first, others)) = zip.split_first() else { return Ok(()) };
    let count = first.values.len();
    let Some(other) = others.iter().find(|key| key.values.len() != count) else { return Ok(()) };
    let reason = format!(
        "the list has length {}, but that of {} has length {count}",
        other.values.len(),
        first.written
    );
    Err(ConfigError::new(display(&other.stands), reason).valid("lists of equal length"))
}
