//! Runs whose state cannot be saved.

use crate::config::Experiment;
use crate::config::measure::RecordStream;
use crate::plan::Plan;
use hopsim_routing::RoutingConfig;

/// The first stream of an experiment that cannot be saved.
pub fn stream(experiment: &Experiment) -> Option<RecordStream> {
    RecordStream::UNSAVED.into_iter().find(|stream| experiment.measure.streams.contains(stream))
}

/// Why the state of a run of a plan cannot be saved, if it cannot.
pub fn unsaved(plan: &Plan) -> Option<&'static str> {
    unchangeable(plan).or_else(|| {
        stream(&plan.experiment).map(|_| {
            "the streams congestion_trees, waits, packet_hops and flit_hops cannot be saved; valid: measure.streams without them"
        })
    })
}

/// Why a run cannot go on with the state of another one, not even at once, if it cannot.
pub fn unchangeable(plan: &Plan) -> Option<&'static str> {
    if !plan.experiment.has_contention() {
        Some("an ideal network has no state to save; valid: another topology")
    } else if plan.experiment.measure.is_adaptive() {
        Some(
            "a run that finds its warm-up or its window has no one state; valid: no measure.stop or measure.end, and measure.warmup in cycles",
        )
    } else if let RoutingConfig::Function(_) = plan.experiment.routing {
        Some("the state of a routing function in Python cannot be saved; valid: another routing")
    } else if plan.system.programs().all.iter().any(|(_, job)| job.is_external()) {
        Some("what another simulator drives cannot be saved; valid: traffic and other programs")
    } else {
        None
    }
}
