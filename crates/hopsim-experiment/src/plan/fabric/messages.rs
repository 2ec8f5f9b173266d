//! What nodes of a fabric draw.

use super::clock::{Clock, Time};
use super::running;
use super::sizes::MessageLengths;
use crate::config::Experiment;
use crate::config::infiniband::messages::{Gaps, MessagesConfig};
use crate::config::limits::SERVICE_LEVELS;
use crate::plan::within;
use hopsim_infiniband::time::{NEVER, Ticks};
use hopsim_network::error::ConfigError;
use hopsim_network::topology::Topology;
use hopsim_traffic::pattern::{Pattern, Site};
use rustc_hash::FxHashMap;

/// What the nodes of a job draw.
#[derive(Clone, Debug)]
pub struct MessagesPlan {
    /// Number of the job among those that run.
    pub job: usize,
    /// The nodes of the job, ascending.
    pub nodes: Vec<u32>,
    /// To whom messages go.
    pub pattern: Pattern,
    /// How long messages are.
    pub sizes: MessageLengths,
    /// Mean time from one message of a node to its next.
    pub gap: Ticks,
    /// How the times between messages are distributed.
    pub gaps: Gaps,
    /// When nodes begin to draw.
    pub start: Ticks,
    /// When nodes draw no longer.
    pub end: Ticks,
    /// Service level of the messages.
    pub service_level: u8,
}

/// The times of a job.
pub struct MessageTimes {
    sizes: MessageLengths,
    byte: Time,
    start: Time,
    end: Option<Time>,
}

fn all(experiment: &Experiment) -> impl Iterator<Item = (usize, &MessagesConfig)> {
    experiment.running().filter_map(|(job, config)| Some((job, config.messages.as_ref()?)))
}

/// Says how long messages are, if the document does not.
pub fn resolve(experiment: &mut Experiment) {
    let drawn = experiment.jobs.iter_mut().filter_map(|job| job.messages.as_mut());
    for messages in drawn.filter(|messages| messages.sizes.is_none()) {
        messages.bytes.get_or_insert(MessagesConfig::ONE_PACKET);
    }
}

/// Reads the times of all jobs that draw.
pub fn read(experiment: &Experiment, clock: &mut Clock) -> Result<Vec<MessageTimes>, ConfigError> {
    let one = |(job, messages): (usize, &MessagesConfig)| {
        let key = |key: &str| format!("jobs.{job}.messages.{key}");
        let sizes =
            MessageLengths::new(messages).map_err(|error| error.within(&format!("jobs.{job}.messages")))?;
        within(SERVICE_LEVELS, messages.service_level.into(), key("service_level"))?;
        Ok(MessageTimes {
            sizes,
            byte: clock.byte(&messages.rate, &key("rate"))?,
            start: clock.time(&messages.start, &key("start"))?,
            end: messages.end.as_ref().map(|end| clock.positive(end, &key("end"))).transpose()?,
        })
    };
    all(experiment).map(one).collect()
}

/// What all jobs draw.
pub fn build(
    experiment: &Experiment,
    topology: &Topology,
    places: &mut FxHashMap<usize, Vec<u32>>,
    times: &[MessageTimes],
    clock: &Clock,
) -> Result<Vec<MessagesPlan>, ConfigError> {
    let one = |((job, messages), times): ((usize, &MessagesConfig), &MessageTimes)| {
        let nodes = places.remove(&job).unwrap_or_default();
        let seed = experiment.measure.seed;
        let site = Site { topology, nodes: &nodes, seed, job: job as u64, to_itself: false };
        let plan = plan(running(experiment, job), &site, messages, times, clock);
        plan.map_err(|error| error.within(&format!("jobs.{job}.messages")))
    };
    all(experiment).zip(times).map(one).collect()
}

/// What the nodes of a job draw, which has this number among those that run.
fn plan(
    job: usize,
    site: &Site<'_>,
    messages: &MessagesConfig,
    times: &MessageTimes,
    clock: &Clock,
) -> Result<MessagesPlan, ConfigError> {
    let pattern = messages.pattern.build(site).map_err(|error| error.within("pattern"))?;
    let start = clock.ticks(&times.start)?;
    let end = times.end.as_ref().map_or(Ok(NEVER), |end| clock.ticks(end))?;
    if end <= start {
        return Err(ConfigError::new("end", "the messages end before they start")
            .value(format!("{:?}", messages.end.as_deref().unwrap_or_default()))
            .valid(format!("after start, {:?}", messages.start)));
    }
    let byte = clock.byte_ticks(&times.byte)?;
    let sizes = times.sizes.clone();
    let gap = match &sizes {
        MessageLengths::Alike(bytes) => byte.saturating_mul(*bytes),
        MessageLengths::Drawn(_) => (sizes.mean() * byte as f64).round() as Ticks,
    };
    let MessagesConfig { gaps, service_level, .. } = *messages;
    let nodes = site.nodes.to_vec();
    Ok(MessagesPlan { job, nodes, pattern, sizes, gap, gaps, start, end, service_level })
}
