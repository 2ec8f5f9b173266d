//! What never changes in a run, and routers and nodes of any kind need.

use hopsim_experiment::plan::Plan;

/// Constants of a run, computed once. Every region has a copy of these constants, so that hot code finds them where its state is.
#[derive(Clone, Copy)]
pub struct Constants<'p> {
    /// The plan.
    pub plan: &'p Plan,
    /// Seed of the run.
    pub seed: u64,
    /// Nodes of a router.
    pub nodes_per_router: u32,
    /// Time from the arrival of a head in a buffer to its first request \[cycles\].
    pub pipeline: u32,
    /// Latency of the longest link \[cycles\].
    pub longest_link: u32,
    /// How far ahead of the present an event that a router or node brings about is, at most \[cycles\].
    pub ahead: u32,
}

impl<'p> Constants<'p> {
    /// The constants of a plan, in whose routers all that follows from a grant is over within `crossing` cycles.
    pub fn new(plan: &'p Plan, crossing: u32) -> Self {
        let (pipeline, longest_link) = (plan.router.pipeline_latency, plan.network.longest_link());
        let latency = longest_link.max(plan.network.classes.terminal.latency);
        Self {
            plan,
            seed: plan.experiment.measure.seed,
            nodes_per_router: plan.topology.nodes_per_router(),
            pipeline,
            longest_link,
            ahead: crossing + latency + pipeline,
        }
    }
}
