//! Which packets a plan records one by one.

use crate::config::limits::{CYCLES, MAX_CYCLES, within};
use crate::config::measure::{PacketsConfig, RecordStream};
use crate::plan::Plan;
use crate::plan::stop::longest;
use hopsim_network::error::ConfigError;

/// Refuses a choice that no packet can be of.
pub fn check(plan: &Plan) -> Result<(), ConfigError> {
    let measure = &plan.experiment.measure;
    let Some(packets) = &measure.packets else { return Ok(()) };
    let PacketsConfig { every, source, destination, from, to } = packets;
    within(CYCLES, *every, "measure.packets.every")?;
    check_node(plan, *source, "measure.packets.source")?;
    check_node(plan, *destination, "measure.packets.destination")?;
    // Nobody knows how long programs take.
    let (warmup, cycles) = longest(&plan.experiment);
    let end = if plan.system.has_programs() { MAX_CYCLES } else { warmup + cycles };
    within(0..=end - 1, *from, "measure.packets.from")?;
    to.map_or(Ok(()), |to| within(from + 1..=MAX_CYCLES, to, "measure.packets.to"))?;
    if RecordStream::OF_PACKETS.iter().any(|stream| measure.streams.contains(stream)) {
        return Ok(());
    }
    Err(ConfigError::new(
        "measure.packets",
        "neither packet_hops nor flit_hops is recorded, whose packets it chooses",
    )
    .valid("measure.streams with one of them, or no such key"))
}

fn check_node(plan: &Plan, node: Option<u32>, key: &str) -> Result<(), ConfigError> {
    let Some(node) = node else { return Ok(()) };
    within(0..=plan.system.network.nodes - 1, node, key)?;
    if plan.system.job_at(node as usize).is_some() {
        return Ok(());
    }
    let reason = "the node is idle: no job is placed on it";
    Err(ConfigError::new(key, reason).value(node).valid("a node of a job"))
}
