//! Draws that decide nothing: placements by the seed that are the same for every seed.

use super::jobs::place_job;
use crate::config::{Experiment, JobConfig};
use hopsim_network::error::ConfigError;
use hopsim_traffic::rank_order::RankOrder;

/// The jobs whose nodes are drawn, of which the draw leaves none, and for which their order does not count: traffic goes by the
/// numbers of the nodes, and an order of ranks by number forgets the draw.
pub fn settled(experiment: &Experiment) -> Result<Vec<usize>, ConfigError> {
    let has_nodes = |job: &JobConfig| job.flows.is_none();
    let is_drawn = |job: &JobConfig| has_nodes(job) && job.placement.is_random();
    if !experiment.jobs.iter().any(is_drawn) {
        return Ok(Vec::new());
    }
    let topology = experiment.topology.build()?;
    let mut job_of = vec![u8::MAX; topology.nodes() as usize];
    for (index, job) in experiment.jobs.iter().enumerate() {
        if has_nodes(job) && !job.placement.is_random() {
            place_job(experiment, index, &topology, &mut job_of)?;
        }
    }
    let free = |node: u32| job_of[node as usize] == u8::MAX;
    let has_order = |job: &JobConfig| match job.rank_order {
        _ if job.program.is_none() => false,
        None | Some(RankOrder::Random) => true,
        Some(RankOrder::Ascending | RankOrder::RoundRobin(_) | RankOrder::Column) => false,
    };
    let is_settled =
        |job: &JobConfig| is_drawn(job) && !has_order(job) && job.placement.leaves_nothing(&topology, free);
    let jobs = experiment.jobs.iter().enumerate();
    Ok(jobs.filter(|(_, job)| is_settled(job)).map(|(index, _)| index).collect())
}
