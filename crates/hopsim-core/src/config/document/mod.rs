//! From the text of an experiment to its points: parse, apply overrides, expand the sweep, check, resolve.
//!
//! Every mistake becomes a [`ConfigError`] with the key, the value, the reason, what would be valid, and the line
//! and column in the text, or that the value came from an override or from the sweep.
//! An override wins over what the document says, its sweep included: a swept key that is overridden is not
//! swept any more, and an overridden or swept shorthand `load` replaces the loads of the jobs.

mod check;
mod draft;
mod normalise;
mod path;
mod schema;
mod source;
mod sweep;

use crate::config::Experiment;
use crate::error::{ConfigError, Origin};
use crate::plan::Plan;
use draft::Draft;
use schema::Schema;
use serde_json::Value;
use source::Source;
use sweep::Sweep;

/// What the sweep set to make a point: paths as written and their values.
pub type Assignments = Vec<(String, Value)>;

/// One simulation of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The experiment with every default filled in and without a sweep.
    pub experiment: Experiment,
    /// What the sweep set; empty for a single run.
    pub axes: Assignments,
}

/// All points of a document, the first key of the sweep varying slowest. `overrides` are dotted paths and
/// TOML values (or bare strings), applied in order.
pub fn points(text: &str, overrides: &[(String, String)]) -> Result<Vec<Point>, ConfigError> {
    let source = Source::parse(text)?;
    let (draft, sweep) = assemble(&source, overrides)?;
    (0..sweep.count().map_err(|e| draft.located(e))?).map(|index| point(&draft, &sweep, index)).collect()
}

/// What the sweep sets at every point, in the order of [`points`], without checking the points.
pub fn axes(text: &str, overrides: &[(String, String)]) -> Result<Vec<Assignments>, ConfigError> {
    let source = Source::parse(text)?;
    let (draft, sweep) = assemble(&source, overrides)?;
    let count = sweep.count().map_err(|e| draft.located(e))?;
    Ok((0..count).map(|index| assignments(&sweep, index)).collect())
}

/// The experiment of a point that was written as JSON.
pub fn from_json(text: &str) -> Result<Experiment, ConfigError> {
    let parsed: Result<Value, _> = serde_json::from_str(text);
    experiment(&parsed.map_err(|error| ConfigError::new("", format!("not JSON: {error}")))?)
}

/// JSON Schema of the document; its descriptions are the documentation of the mechanisms.
pub fn schema() -> &'static Value {
    schema::document()
}

/// The document with all overrides applied, and its sweep.
fn assemble<'a>(source: &'a Source<'a>, overrides: &[(String, String)]) -> Result<(Draft<'a>, Sweep), ConfigError> {
    let read = |(path, value): &(String, String)| {
        let stated = |e| ConfigError { path: path.trim().into(), origin: Origin::Override, ..e };
        Ok((path::parse(path).map_err(stated)?, source::override_value(value).map_err(stated)?))
    };
    let overrides = overrides.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let of_sweep = |path: &[String]| path.first().is_some_and(|part| part == "sweep");
    let mut draft = Draft::new(source)?;
    for (path, value) in overrides.iter().filter(|(path, _)| of_sweep(path)) {
        draft.assign(path, value.clone(), Origin::Override)?;
    }
    let mut sweep = Sweep::take(&mut draft)?;
    for (path, value) in overrides.into_iter().filter(|(path, _)| !of_sweep(path)) {
        sweep.pin(&path)?;
        if sweep::is_load(&path) {
            draft.drop_loads();
        }
        draft.assign(&path, value, Origin::Override)?;
        draft.normalise();
    }
    if sweep.varies_load() {
        draft.drop_loads();
    }
    Ok((draft, sweep))
}

fn point(base: &Draft<'_>, sweep: &Sweep, index: usize) -> Result<Point, ConfigError> {
    let mut draft = base.clone();
    for (key, value) in sweep.point(index) {
        draft.assign(&key.path, value.clone(), key.origin)?;
    }
    draft.normalise();
    let resolved = experiment(&draft.root).and_then(|experiment| Plan::new(&experiment));
    let experiment = resolved.map_err(|error| draft.located(error))?.experiment;
    Ok(Point { experiment, axes: assignments(sweep, index) })
}

fn assignments(sweep: &Sweep, index: usize) -> Assignments {
    sweep.point(index).into_iter().map(|(key, value)| (key.written.clone(), value.clone())).collect()
}

fn experiment(root: &Value) -> Result<Experiment, ConfigError> {
    check::check(Schema::root(), &mut Vec::new(), root)?;
    serde_path_to_error::deserialize(root).map_err(|error| {
        let reason = error.inner().to_string();
        ConfigError::new(error.path().to_string(), reason)
    })
}
