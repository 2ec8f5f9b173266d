//! From the text of an experiment to its points: parse, apply overrides, expand the sweep, check, resolve.
//!
//! Every mistake becomes a [`ConfigError`] with the key, the value, the reason, what would be valid, and the line
//! and column in the text, or that the value came from an override or from the sweep.
//! An override wins over what the document says, its sweep included: a swept key that is overridden is not
//! swept any more, an overridden or swept shorthand `load` replaces the loads of the jobs, and an overridden load of
//! a job stands beside a shorthand, which then holds for the other jobs.

mod branches;
mod check;
mod difference;
mod draft;
mod fabric;
mod normalise;
mod path;
mod programs;
mod replaced;
mod schema;
mod source;
mod sweep;

use crate::config::Experiment;
use crate::config::infiniband::flows::FlowConfig;
use crate::config::program::ProgramConfig;
use crate::config::saturate::SaturateConfig;
use crate::plan::AnyPlan;
use crate::plan::programs::no_files;
use branches::Branches;
pub use branches::trunk;
pub use difference::{Difference, differences};
use draft::Draft;
use hopsim_network::error::{ConfigError, Origin};
use hopsim_network::topology::graph::Contents;
use hopsim_programs::program::Program;
use hopsim_routing::table::Routes;
use hopsim_traffic::packet_list::ListedPacket;
pub use programs::resolved;
use schema::Schema;
use serde_json::Value;
use serde_path_to_error::Segment;
use source::Source;
use sweep::Sweep;

/// What the sweep set to make a point: paths as written and their values.
pub type Assignments = Vec<(String, Value)>;

/// Names of values that the sweep set: paths as written and names.
pub type Labels = Vec<(String, String)>;

/// One simulation of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The experiment with every default filled in and without a sweep.
    pub experiment: Experiment,
    /// What the sweep set; empty for a single run.
    pub axes: Assignments,
}

/// What reads the files that a document names, or says why it cannot: the core itself reads none.
pub trait Files {
    /// The network in a file.
    fn network(&self, file: &str) -> Result<Contents, String>;

    /// The forwarding tables in a file, for the switches and nodes of a network in another one.
    fn forwarding(&self, file: &str, network: &str) -> Result<Vec<Vec<u16>>, String>;

    /// The nodes in the file of a placement, by rank.
    fn nodes(&self, file: &str) -> Result<Vec<u32>, String>;

    /// The packets in a file.
    fn packets(&self, file: &str) -> Result<Vec<ListedPacket>, String>;

    /// The flows in a file.
    fn flows(&self, file: &str) -> Result<Vec<FlowConfig>, String>;

    /// The table of routes in a file.
    fn routes(&self, file: &str) -> Result<Routes, String>;

    /// Reads the file of a program, says what it is filed under, and keeps it for [`Self::program`].
    fn load(&self, program: &mut ProgramConfig) -> Result<(), String>;

    /// A program whose file has been read.
    fn program(&self, program: &ProgramConfig) -> Result<Program, String>;
}

/// Reads no file.
struct NoFiles;

impl Files for NoFiles {
    fn network(&self, _: &str) -> Result<Contents, String> {
        Err("cannot be read here".into())
    }

    fn forwarding(&self, _: &str, _: &str) -> Result<Vec<Vec<u16>>, String> {
        Err("cannot be read here".into())
    }

    fn nodes(&self, _: &str) -> Result<Vec<u32>, String> {
        Err("cannot be read here".into())
    }

    fn packets(&self, _: &str) -> Result<Vec<ListedPacket>, String> {
        Err("cannot be read here".into())
    }

    fn flows(&self, _: &str) -> Result<Vec<FlowConfig>, String> {
        Err("cannot be read here".into())
    }

    fn routes(&self, _: &str) -> Result<Routes, String> {
        Err("cannot be read here".into())
    }

    fn load(&self, _: &mut ProgramConfig) -> Result<(), String> {
        Err("cannot be read here".into())
    }

    fn program(&self, program: &ProgramConfig) -> Result<Program, String> {
        no_files(program)
    }
}

/// All points of a document that names no file, the first key of the sweep varying slowest. `overrides` are dotted paths and
/// TOML values (or bare strings), applied in order.
pub fn points(text: &str, overrides: &[(String, String)]) -> Result<Vec<Point>, ConfigError> {
    points_with_files(text, overrides, &NoFiles)
}

/// All points of a document whose files `files` reads.
pub fn points_with_files(
    text: &str,
    overrides: &[(String, String)],
    files: &impl Files,
) -> Result<Vec<Point>, ConfigError> {
    let source = Source::parse(text)?;
    let (draft, sweep) = assemble(&source, overrides)?;
    let count = sweep.count().map_err(|e| draft.located(e))?;
    replaced::check(&draft, &sweep, files)?;
    let mut branches = sweep.branch_at.map(Branches::new);
    (0..count).map(|index| point(&draft, &sweep, index, files, &mut branches)).collect()
}

/// The cycle up to which all points of a document share one run, if they do.
pub fn branch_at(text: &str, overrides: &[(String, String)]) -> Result<Option<u32>, ConfigError> {
    Ok(assemble(&Source::parse(text)?, overrides)?.1.branch_at)
}

/// How a document asks to search for saturation, if it does.
pub fn saturate(text: &str, overrides: &[(String, String)]) -> Result<Option<SaturateConfig>, ConfigError> {
    Ok(assemble(&Source::parse(text)?, overrides)?.1.saturate)
}

/// What the sweep sets at every point, in the order of [`points`], and the names that [sweep.labels] gives to these values:
/// without checking the points.
pub fn axes(text: &str, overrides: &[(String, String)]) -> Result<Vec<(Assignments, Labels)>, ConfigError> {
    let source = Source::parse(text)?;
    let (draft, sweep) = assemble(&source, overrides)?;
    let count = sweep.count().map_err(|e| draft.located(e))?;
    Ok((0..count).map(|index| (assignments(&sweep, index), sweep.labels(index))).collect())
}

/// The experiment of a point that was written as JSON.
pub fn from_json(text: &str) -> Result<Experiment, ConfigError> {
    let parsed: Result<Value, _> = serde_json::from_str(text);
    let mut root = parsed.map_err(|error| ConfigError::new("", format!("not JSON: {error}")))?;
    normalise::normalise(Schema::root(), &mut root);
    experiment(&root)
}

/// JSON Schema of the document; its descriptions are the documentation of the mechanisms.
pub fn schema() -> &'static Value {
    schema::document()
}

/// The document with all overrides applied, and its sweep.
fn assemble<'a>(
    source: &'a Source<'a>,
    overrides: &[(String, String)],
) -> Result<(Draft<'a>, Sweep), ConfigError> {
    let read = |(path, value): &(String, String)| {
        let stated = |e| ConfigError { path: path.trim().into(), origin: Origin::Override, ..e };
        // What is wrong may be deep in the value.
        let inside = |e: ConfigError| {
            let keys = [path.trim(), &e.path].into_iter().filter(|keys| !keys.is_empty());
            let path = keys.collect::<Vec<_>>().join(".");
            ConfigError { path, origin: Origin::Override, ..e }
        };
        Ok((path::parse(path).map_err(stated)?, source::override_value(value).map_err(inside)?))
    };
    let overrides = overrides.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let of_sweep = |path: &[String]| path.first().is_some_and(|part| part == "sweep");
    let mut draft = Draft::new(source)?;
    for (path, value) in overrides.iter().filter(|(path, _)| of_sweep(path)) {
        draft.assign(path, value.clone(), Origin::Override)?;
    }
    let mut sweep = Sweep::take(&mut draft)?;
    for (path, value) in overrides.into_iter().filter(|(path, _)| !of_sweep(path)) {
        sweep.pin(&path, &value)?;
        if sweep::is_load(&path) {
            draft.drop_loads();
        }
        draft.load_yields |= sweep::states_job_load(&path, &value);
        draft.assign(&path, value, Origin::Override)?;
        draft.normalise();
    }
    Ok((draft, sweep))
}

fn point(
    base: &Draft<'_>,
    sweep: &Sweep,
    index: usize,
    files: &impl Files,
    branches: &mut Option<Branches>,
) -> Result<Point, ConfigError> {
    let mut draft = base.clone();
    if sweep.varies_load() {
        draft.drop_loads();
    }
    for (key, value) in sweep.point(index) {
        draft.assign(&key.path, value.clone(), key.origin)?;
    }
    draft.normalise();
    let plan = plan(&draft, files).map_err(|error| draft.located(error))?;
    branches.iter_mut().try_for_each(|branches| branches.add(&plan)).map_err(|error| draft.located(error))?;
    let experiment = plan.into_experiment();
    Ok(Point { experiment, axes: assignments(sweep, index) })
}

/// The plan of a document without a sweep.
fn plan(draft: &Draft<'_>, files: &impl Files) -> Result<AnyPlan, ConfigError> {
    let mut experiment = experiment(&draft.root)?;
    if draft.load_yields {
        experiment.spread_load();
    }
    fabric::load(&mut experiment, files).map_err(|error| experiment.router.told(error))?;
    experiment.topology.load(|file: &str| files.network(file)).map_err(|error| error.within("topology"))?;
    experiment.routing.load(|file: &str| files.routes(file)).map_err(|error| error.within("routing"))?;
    programs::check(&draft.root, &experiment)?;
    programs::load(&mut experiment, files)?;
    fabric::check(&draft.root, &experiment).map_err(|error| experiment.router.told(error))?;
    AnyPlan::new(&experiment, &|program| files.program(program))
}

fn assignments(sweep: &Sweep, index: usize) -> Assignments {
    sweep.point(index).into_iter().map(|(key, value)| (key.written.clone(), value.clone())).collect()
}

fn experiment(root: &Value) -> Result<Experiment, ConfigError> {
    check::check(Schema::root(), &mut Vec::new(), root)?;
    serde_path_to_error::deserialize(root).map_err(|error| {
        let reason = error.inner().to_string();
        ConfigError::new(path::display(error.path().iter().filter_map(part)), reason)
    })
}

/// A part of a path in the form of the document's own.
fn part(segment: &Segment) -> Option<String> {
    match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.clone()),
        Segment::Enum { variant } => Some(variant.clone()),
        Segment::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::schema::Shape;
    use super::*;
    use hopsim_network::topology::TopologyConfig;
    use serde_json::json;

    const SMALL: &str = "load = 0.5\n[topology.dragonfly]\np = 2\na = 4\nh = 2\n";
    const MESH: &str = "load = 0.5\nrouting = \"adaptive\"\n[topology.mesh]\nsides = [4, 4]\n";

    const PLANES: &str = "load = 0.5\ntopology.planes = { count = 2, of.ring.routers = 4 }\n";

    const PROGRAM: &str = "units = { cycle = \"1 ns\", phit = \"4 B\" }\ntopology.mesh.sides = [4, 4]\n\
        [[jobs]]\nprogram.list.mpt = \"mpt 1\\nname p\\nranks 1\\ncomm 0 1 0\\nrank 0 0\\nend\"\n";

    const FABRIC: &str = "router = \"infiniband\"\ntopology.mesh.sides = [4, 4]\n\
        [[jobs]]\nflows = [{ source = 0, destination = 1 }]\n";

    const PROGRAM_ON_FABRIC: &str = "router = \"infiniband\"\ntopology.mesh.sides = [4, 4]\n\
        [[jobs]]\nprogram.collective = { kind = \"barrier\" }\n";

    /// Paths and values just outside the limits that the schema states.
    fn outside(schema: Schema, path: &mut Vec<String>, found: &mut Vec<(Vec<String>, Value)>) {
        let children = match schema.shape() {
            Shape::Table { keys, .. } => keys,
            Shape::Choice(choice) => choice.tables,
            Shape::List(items) => vec![("0", items)],
            Shape::Integer(limits) | Shape::Number(limits) => {
                let least =
                    limits.least.and_then(|text| text.parse::<u64>().ok()).and_then(|l| l.checked_sub(1));
                let most = limits
                    .most
                    .and_then(|text| text.parse::<u64>().ok())
                    .filter(|&m| m < u64::from(u32::MAX));
                let values = least.into_iter().chain(most.map(|m| m + 1));
                found.extend(values.map(|value| (path.clone(), Value::from(value))));
                Vec::new()
            }
            _ => Vec::new(),
        };
        for (key, child) in children {
            if path.len() < 8 {
                path.push(key.into());
                outside(child, path, found);
                path.pop();
            }
        }
    }

    /// Leaves only the choices that `path` names.
    fn settle_choices(schema: Schema, value: &mut Value, path: &[String]) {
        let Some((first, rest)) = path.split_first() else { return };
        if let (Shape::Choice(_), Value::Object(fields)) = (schema.shape(), &mut *value) {
            fields.retain(|key, _| key == first);
        }
        let child = match value {
            Value::Array(items) => items.get_mut(0),
            other => other.get_mut(first),
        };
        if let (Some(child), Some(schema)) = (child, schema.child(first)) {
            settle_choices(schema, child, rest);
        }
    }

    /// Valid values of what paths lead into and needs more than they say.
    fn wholes() -> Vec<(&'static str, Value)> {
        let families = TopologyConfig::examples().into_iter().map(|example| {
            let name = example.name();
            (name, serde_json::to_value(example).unwrap()[name].take())
        });
        let others = vec![
            ("changes", json!([{ "cycle": 10_000 }])),
            ("packet_lengths", json!([{ "length": 1, "weight": 3 }, { "length": 5, "weight": 1 }])),
            ("mesh", json!({ "sides": [4, 4] })),
            ("torus", json!({ "sides": [4, 4] })),
            ("hyperx", json!({ "sides": [4, 4] })),
            ("ring", json!({ "routers": 4 })),
            ("fat_tree", json!({ "k": 2, "levels": 2 })),
            ("graph", json!({ "edges": [{ "between": [0, 1] }] })),
            ("sat", json!({ "l": 1, "k": 1 })),
            ("listed", json!([{ "nodes": [0], "load": 0.5 }])),
            ("collective", json!({ "kind": "barrier" })),
            ("stencil", json!({ "sides": [2, 2], "bytes": 8 })),
            ("training", json!({ "layers": 2, "activation": 8, "gradient": 8, "forward": 1, "backward": 1 })),
            ("graph500", json!({ "scale": 8, "query_time": 1.0 })),
            ("ideal", json!({ "nodes": 4, "latency": 5 })),
            ("of_service_level", json!(vec![0; 16])),
            ("high", json!([[0, 64]])),
            ("low", json!([[0, 64]])),
            ("messages", json!({ "rate": "1 Gb/s" })),
            ("end", json!({ "packets": 1 })),
            ("packets", json!({})),
            ("packets", json!({})),
            ("tables", json!([[0]])),
            ("exceptions", json!([{ "node": 0 }])),
            ("faults", json!([{ "links": { "fraction": 0.1 } }])),
            ("retransmit", json!({ "timeout": 1_000, "most": 1 })),
        ];
        families.chain(others).collect()
    }

    #[test]
    fn every_limit_in_the_schema_is_enforced() {
        let [small, mesh, planes, program, fabric, program_on_fabric] =
            [SMALL, MESH, PLANES, PROGRAM, FABRIC, PROGRAM_ON_FABRIC]
                .map(|text| Source::parse(text).unwrap());
        let wholes = wholes();
        let mut cases = Vec::new();
        outside(Schema::root(), &mut Vec::new(), &mut cases);
        // What a part of a product, or a plane, may say it may say as a network of its own, too.
        cases.retain(|(path, _)| !path.iter().any(|part| ["inner", "outer", "of"].contains(&&**part)));
        assert!(cases.len() > 40, "{}", cases.len());
        for (path, value) in cases {
            let names = |name: &str| path.iter().any(|part| part == name);
            let source = match () {
                () if ["infiniband", "ethernet", "messages"].into_iter().any(names) => &fabric,
                () if names("host") && names("service_level") => &program_on_fabric,
                () if names("network") || names("lbr") => &mesh,
                () if names("rail") => &planes,
                () if names("stop") || names("end") => &small,
                () if ["host", "program", "max_cycles", "ideal"].into_iter().any(names) => &program,
                () => &small,
            };
            let mut draft = Draft::new(source).unwrap();
            for (name, whole) in &wholes {
                if let Some(index) = path.iter().position(|part| part == name) {
                    draft.assign(&path[..=index], whole.clone(), Origin::Override).unwrap();
                }
            }
            draft.assign(&path, value.clone(), Origin::Override).unwrap();
            settle_choices(Schema::root(), &mut draft.root, &path);
            let own_load = path.len() > 1 && names("process") && names("load");
            if own_load || names("synchronised_bursts") {
                draft.root.as_object_mut().unwrap().remove("load");
            }
            let result = experiment(&draft.root).and_then(|experiment| AnyPlan::new(&experiment, &no_files));
            let error = result.expect_err(&format!("{path:?} = {value}"));
            assert_eq!(error.path, path::display(&path), "{error}");
        }
    }

    #[test]
    fn a_negative_number_is_told_the_range_that_holds() {
        let source = Source::parse("load = 0.5\ntopology.ring.routers = 4\n").unwrap();
        for (path, others) in [
            ("topology.ring.routers", vec!["1", "65536", "5000000000"]),
            ("topology.mesh.sides.0", vec!["1", "65536", "5000000000"]),
            ("topology.torus.sides.0", vec!["1", "65536", "5000000000"]),
            ("topology.hyperx.sides.0", vec!["1", "513", "5000000000"]),
            ("links.network.latency", vec!["0", "60001", "5000000000"]),
            ("measure.cycles", vec!["0", "3000000001", "5000000000"]),
        ] {
            let sides = path.split('.').nth(1).filter(|_| path.contains("sides"));
            let refused = |value: &str| {
                let mut draft = Draft::new(&source).unwrap();
                if let Some(kind) = sides {
                    draft.root["topology"] = json!({ kind: { "sides": [4, 4] } });
                }
                let path = path::parse(path).unwrap();
                draft.assign(&path, source::override_value(value).unwrap(), Origin::Override).unwrap();
                plan(&draft, &NoFiles).unwrap_err().valid
            };
            for other in others {
                assert_eq!(refused(other), refused("-1"), "{path} = {other}");
            }
        }
    }

    #[test]
    fn paths_survive_being_written_and_read() {
        for parts in [vec!["jobs", "0", "traffic"], vec!["a.b", "", "c d"], vec!["é", "\"", "\n"]] {
            assert_eq!(path::parse(&path::display(&parts)).unwrap(), parts);
        }
    }
}
