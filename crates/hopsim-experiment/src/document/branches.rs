//! Points of a sweep that share the run up to some cycle: each is the same as if it were run by itself, so what differs between
//! them may matter only from then on.

use super::difference::differences;
use super::programs::resolved;
use crate::config::Experiment;
use crate::config::measure::RecordStream;
use crate::plan::unsaved;
use crate::plan::{AnyPlan, Plan};
use hopsim_cycles::jobs::JobPlan;
use hopsim_network::error::ConfigError;
use serde_json::{Map, Value};

/// The key that says when the points of a sweep part.
const KEY: &str = "sweep.branch_at";

/// Keys of `measure` that may differ: they matter from the end of the warm-up on, which comes later.
const OF_MEASURE: [&str; 4] = ["warmup", "cycles", "batches", "streams"];

/// What all branches that have been seen share.
#[derive(Debug)]
pub struct Branches {
    at: u32,
    first: Option<Common>,
}

#[derive(Debug, PartialEq)]
struct Common {
    /// The document without the keys that may differ.
    document: Value,
    /// Whether each node ever sends, by job and node.
    senders: Vec<Vec<bool>>,
}

impl Branches {
    /// No branches yet, of points that share the run up to a cycle.
    pub fn new(at: u32) -> Self {
        Self { at, first: None }
    }

    /// Adds a branch. Refuses one that cannot go on with what it shares with the others.
    pub fn add(&mut self, plan: &AnyPlan) -> Result<(), ConfigError> {
        let refused = |reason: String| ConfigError::new(KEY, reason).value(self.at);
        let plan = match plan {
            AnyPlan::Network(plan) => plan,
            AnyPlan::Fabric(_) => {
                let reason = "the state of an InfiniBand fabric cannot be shared";
                return Err(refused(reason.into()).valid("no such key, or another router"));
            }
        };
        if let Some(reason) = unsaved(plan) {
            return Err(refused(reason.into()));
        }
        if plan.system.has_programs() {
            let reason = "programs are measured from their beginning on";
            return Err(refused(reason.into()).valid("no such key, or jobs that draw packets"));
        }
        let warmup = plan.experiment.measure.warmup.cycles();
        if warmup < self.at {
            let reason =
                format!("what is measured would begin before the points part at {KEY} = {}", self.at);
            return Err(ConfigError::new("measure.warmup", reason)
                .value(warmup)
                .valid(format!("{} …", self.at)));
        }
        let here = Common { document: common(&plan.experiment, self.at), senders: senders(plan) };
        match &self.first {
            None => self.first = Some(here),
            Some(first) => first.compare(&here)?,
        }
        Ok(())
    }
}

impl Common {
    /// Refuses a point that is not like the first one.
    fn compare(&self, here: &Self) -> Result<(), ConfigError> {
        let Self { document, senders } = self;
        if let Some(difference) = differences(document, &here.document).first() {
            let [first, value] = difference.values();
            let reason = format!("is {first} in another point, and {KEY} makes all share a run");
            let free = OF_MEASURE.map(|key| format!("measure.{key}"));
            let valid = format!(
                "the same in all points, which may differ in changes of traffic, in faults that begin later, {}",
                free.join(", ")
            );
            return Err(ConfigError::new(difference.key(), reason).value(value).valid(valid));
        }
        if let Some(job) = (0..senders.len()).find(|&job| senders[job] != here.senders[job]) {
            let reason = format!("other nodes send than in another point, and {KEY} makes all share a run");
            let valid = "patterns in which the same nodes send";
            return Err(ConfigError::new(format!("jobs.{job}.traffic.changes"), reason).valid(valid));
        }
        Ok(())
    }
}

/// A document without what may differ between branches that part in cycle `at`.
fn common(experiment: &Experiment, at: u32) -> Value {
    // Links are in order until they fail, and named or drawn whenever that is.
    let faults = experiment.faults.iter().filter(|fault| fault.at < at).cloned().collect();
    let experiment = Experiment { faults, ..experiment.clone() };
    let mut document = resolved(&experiment).unwrap_or_default();
    let remove = |fields: Option<&mut Map<String, Value>>, keys: &[&str]| {
        if let Some(fields) = fields {
            fields.retain(|key, _| !keys.contains(&key.as_str()));
        }
    };
    remove(document["measure"].as_object_mut(), &OF_MEASURE);
    for job in document["jobs"].as_array_mut().into_iter().flatten() {
        // They begin after the warm-up.
        remove(job["traffic"].as_object_mut(), &["changes"]);
    }
    document
}

/// Whether each node ever sends, by job and node, which decides whether it draws anything.
fn senders(plan: &Plan) -> Vec<Vec<bool>> {
    let of_job = |job: &JobPlan| job.nodes().iter().map(|&node| job.sends(node)).collect();
    plan.system.jobs.iter().map(of_job).collect()
}

/// The point whose run all branches share: it keeps everything that one of them may need.
pub fn trunk(mut branches: Vec<Experiment>) -> Option<Experiment> {
    let wants = |stream| move |branch: &Experiment| branch.measure.streams.contains(&stream);
    let changes = |branch: &Experiment| {
        branch.jobs.iter().filter_map(|job| job.traffic.as_ref()).any(|traffic| !traffic.changes.is_empty())
    };
    let mut series = RecordStream::OF_INTERVALS.to_vec();
    series.retain(|&stream| branches.iter().any(wants(stream)));
    let fullest = branches.iter().position(changes).unwrap_or(0);
    let mut trunk = (fullest < branches.len()).then(|| branches.swap_remove(fullest))?;
    series.retain(|&stream| !wants(stream)(&trunk));
    trunk.measure.streams.extend(series);
    Some(trunk)
}
