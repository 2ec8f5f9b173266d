//! What never changes in a run, and routers and nodes of any kind need.

use crate::system::{RouterPlan, System};

/// Constants of a run, computed once. Every region has a copy of these constants, so that hot code finds them where its state is.
#[derive(Clone, Copy)]
pub struct Constants<'p> {
    /// The system.
    pub system: &'p System,
    /// Seed of the run.
    pub seed: u64,
    /// Nodes of a router.
    pub nodes_per_router: u32,
    /// Time from the arrival of a head in a buffer to its first request \[cycles\].
    pub pipeline: u32,
    /// How far ahead of the present a credit counts, at most \[cycles\].
    pub credits_ahead: u32,
    /// Whether flits travel by themselves, and not behind their head as one.
    pub moves_flits: bool,
    /// How far ahead of the present an event that a router or node brings about is, at most \[cycles\].
    pub ahead: u32,
}

impl<'p> Constants<'p> {
    /// The constants of a system, in whose routers all that follows from a grant is over within `crossing` cycles.
    pub fn new(system: &'p System, crossing: u32) -> Self {
        let (pipeline, longest_link) = (system.router.pipeline_latency(), system.network.longest_link());
        let latency = longest_link.max(system.network.classes.terminal.latency);
        let ejection = match system.router {
            RouterPlan::VirtualChannel(router) => {
                router.ejection.map_or(0, |ejection| crossing + ejection.returns)
            }
            RouterPlan::Cioq(_) => 0,
        };
        Self {
            system,
            seed: system.seed,
            nodes_per_router: system.topology.nodes_per_router(),
            pipeline,
            credits_ahead: ejection.max(latency + system.router.credit_delay() + system.credit_backlog()),
            moves_flits: matches!(system.router, RouterPlan::VirtualChannel(_)),
            ahead: crossing + latency + pipeline,
        }
    }
}
