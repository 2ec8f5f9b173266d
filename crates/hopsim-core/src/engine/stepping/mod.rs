//! A simulation that another simulator drives, some cycles at a time: that simulator injects messages and is told of those that
//! are there.

mod driven;
mod units;

#[cfg(feature = "trace")]
use crate::engine::Trial;
use crate::engine::stepping::driven::{Planned, begin};
use crate::engine::{CONTROL_PERIOD, Control, Outcome, find_room};
use crate::error::{ConfigError, RunError};
use hopsim_cycles::node::DeliveredLetter;
use hopsim_cycles::simulation::Schedule;
use hopsim_experiment::plan::output_vcs::rows_per_interval;
use hopsim_experiment::plan::programs::Units;
use hopsim_experiment::plan::{AnyPlan, MOST_ROWS, external};
use hopsim_network::network::NONE;
use hopsim_programs::host::machine::Sending;
use hopsim_programs::units::Fraction;
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::atomic::Ordering;

/// Why a call did nothing, or did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepError {
    /// What was asked for is wrong, and nothing was done.
    Refused(ConfigError),
    /// The simulation cannot go on, or was asked not to.
    Stopped(RunError),
}

impl From<ConfigError> for StepError {
    fn from(error: ConfigError) -> Self {
        Self::Refused(error)
    }
}

impl From<RunError> for StepError {
    fn from(error: RunError) -> Self {
        Self::Stopped(error)
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Stopped(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StepError {}

/// A message that is at its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveredMessage {
    /// The number of the message among all that were injected, from 0.
    pub number: u64,
    /// The tag with which the message was injected.
    pub tag: u64,
    /// The node that the message is from.
    pub source: u32,
    /// The node that the message is at.
    pub destination: u32,
    /// The length of the message, without the headers of its packets \[phits\].
    pub phits: u32,
    /// Cycle in which the message was injected.
    pub injected: u32,
    /// Cycle in which the last phit of the message is at its node.
    pub delivered: u32,
}

/// What is kept of a message that is under way.
struct Pending {
    number: u64,
    tag: u64,
    phits: u32,
}

/// A simulation that another simulator drives.
///
/// The present cycle, [`Self::now`], is the next one to be simulated. A message injected now joins the queue of its node in that
/// cycle, and what is there by then has been delivered. Nothing depends on how many cycles a step has.
pub struct Stepping {
    planned: Planned,
    control: Control,
    /// The rank of each node, or `NONE` if nobody drives it.
    rank_of: Vec<u32>,
    /// Messages under way, by the tag that they have in the network: their number as far as it fits.
    pending: FxHashMap<u32, Pending>,
    /// Messages injected so far.
    injected: u64,
    /// Messages that are there and that nobody has taken.
    delivered: Vec<DeliveredMessage>,
    /// What a cycle and a phit are, if the document says it.
    units: Option<Units>,
    /// The last cycle that may be simulated, and one more.
    last: u32,
    /// Whether the results have been asked for.
    has_ended: bool,
}

impl Stepping {
    /// A simulation at cycle 0 of a plan some nodes of which another simulator drives, on so many threads at most.
    pub fn new(plan: AnyPlan, threads: usize) -> Result<Self, ConfigError> {
        Self::scheduled(plan, Schedule::new(threads))
    }

    /// A simulation as [`Self::new`] makes it, carried out in the way that `trial` says.
    #[cfg(feature = "trace")]
    pub fn new_as(plan: AnyPlan, trial: Trial) -> Result<Self, ConfigError> {
        Self::scheduled(plan, crate::engine::schedule(trial))
    }

    fn scheduled(plan: AnyPlan, schedule: Schedule) -> Result<Self, ConfigError> {
        let AnyPlan::Network(plan) = plan else {
            let reason =
                "a fabric of InfiniBand has no cycles and phits that another simulator could count in";
            return Err(
                ConfigError::new("router.infiniband", reason).valid("router.cioq, router.input_queued")
            );
        };
        plan.experiment.routing.check_given().map_err(|error| error.within("routing"))?;
        if external::driven_jobs(&plan).next().is_none() {
            return Err(ConfigError::new("jobs", "no other simulator drives any of them")
                .valid("at least one job with program = \"external\""));
        }
        let measure = &plan.experiment.measure;
        let most = (MOST_ROWS / rows_per_interval(&plan)).max(1);
        let rows = if measure.interval > 0 { measure.interval.saturating_mul(most) } else { u32::MAX };
        let last = measure.cycles.min(rows);
        let mut rank_of = vec![NONE; plan.system.network.nodes as usize];
        for (_, job) in external::driven_jobs(&plan) {
            job.nodes.iter().zip(0..).for_each(|(&node, rank)| rank_of[node as usize] = rank);
        }
        find_room(&plan, &Control::default()).map_err(ConfigError::too_large)?;
        let units = plan.experiment.units.as_ref().map(Units::new).transpose()?;
        let planned = hopsim_memory::or_shortage(|| begin(plan, schedule)).map_err(ConfigError::too_large)?;
        let (pending, delivered) = (FxHashMap::default(), Vec::new());
        Ok(Self {
            planned,
            control: Control::default(),
            rank_of,
            pending,
            injected: 0,
            delivered,
            units,
            last,
            has_ended: false,
        })
    }

    /// The present cycle: the next one to be simulated.
    pub fn now(&self) -> u32 {
        self.planned.with_dependent(|_, driven| driven.run.now())
    }

    /// How many threads have taken part at most.
    pub fn threads_used(&self) -> usize {
        self.control.threads_used.load(Ordering::Relaxed).max(1)
    }

    /// Messages that have been injected and are not there.
    pub fn in_flight(&self) -> usize {
        self.pending.len()
    }

    /// The nodes that are driven: job by job, in the order of ranks.
    pub fn nodes(&self) -> Vec<u32> {
        external::driven_jobs(self.planned.borrow_owner()).flat_map(|(_, job)| job.nodes.clone()).collect()
    }

    /// Messages that wait at a node that is driven: they have been injected there, and in the cycles so far some packet of them has
    /// not been admitted. Who wants to be held back as by a full buffer injects no more while there are some.
    pub fn waiting(&self, node: u32) -> Result<usize, ConfigError> {
        self.check_going_on()?;
        self.rank("node", node)?;
        Ok(self.planned.with_dependent(|_, driven| driven.run.simulation.messages_left(node)))
    }

    /// Injects a message of `phits` phits without headers at `source` for `destination`, in the present cycle; its node's queue
    /// takes it whatever waits there. Returns its number.
    pub fn inject(
        &mut self,
        (source, destination): (u32, u32),
        phits: u32,
        tag: u64,
    ) -> Result<u64, ConfigError> {
        self.check_going_on()?;
        let (number, from) = self.rank("source", source)?;
        let (other, to) = self.rank("destination", destination)?;
        let plan = self.planned.borrow_owner();
        if number != other {
            let reason = format!("is of another job than the source, node {source}");
            return Err(ConfigError::new("destination", reason)
                .value(destination)
                .valid(nodes(plan.system.jobs[number].nodes())));
        }
        if from == to {
            return Err(ConfigError::new("destination", "is the source itself")
                .value(destination)
                .valid("another node"));
        }
        if phits == 0 {
            let reason = "a message has a phit at least";
            return Err(ConfigError::new("phits", reason).value(0).valid(format!("1 … {}", u32::MAX)));
        }
        let bytes = plan.system.jobs[number].program().map_or(0, |job| bytes(phits, job.rules.phit));
        let name = self.injected as u32;
        let message = Sending { to, tag: name, communicator: 0, bytes };
        self.planned.with_dependent_mut(|_, driven| driven.run.simulation.post(source, message));
        self.pending.insert(name, Pending { number: self.injected, tag, phits });
        self.injected += 1;
        Ok(self.injected - 1)
    }

    /// Simulates `cycles` cycles. Every so many `goes_on` is asked, which may end the step with [`RunError::Cancelled`].
    pub fn step(&mut self, cycles: u64, goes_on: &mut dyn FnMut() -> bool) -> Result<(), StepError> {
        let end = self.end(cycles)?;
        self.advance(end, CONTROL_PERIOD, goes_on, |_| false)
    }

    /// Simulates until a message is there that [`Self::take_delivered`] has not returned, but `most` cycles at most. Returns
    /// whether there is one.
    pub fn step_until_delivered(
        &mut self,
        most: u64,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<bool, StepError> {
        let end = self.end(most)?;
        self.advance(end, 1, goes_on, |stepping| !stepping.delivered.is_empty())?;
        Ok(!self.delivered.is_empty())
    }

    /// The messages that are there by the present cycle and that no call has returned, by the cycle in which their last phit was
    /// there, then by number.
    pub fn take_delivered(&mut self) -> Vec<DeliveredMessage> {
        std::mem::take(&mut self.delivered)
    }

    /// What has been measured from cycle 0 up to the present one. That ends the simulation.
    pub fn results(&mut self) -> Result<Outcome, ConfigError> {
        self.check_going_on()?;
        if self.now() == 0 {
            let reason = "there are no results before the first cycle";
            return Err(ConfigError::new("", reason).valid("a step of at least one cycle"));
        }
        let outcome = self.planned.with_dependent_mut(|_, driven| driven.finish())?;
        self.has_ended = true;
        Ok(outcome)
    }

    /// Simulates up to cycle `end`, or until `is_enough` says so, so many cycles at once.
    fn advance(
        &mut self,
        end: u32,
        at_once: u32,
        goes_on: &mut dyn FnMut() -> bool,
        is_enough: impl Fn(&Self) -> bool,
    ) -> Result<(), StepError> {
        let mut asked = self.now();
        while self.now() < end && !is_enough(self) {
            self.planned.with_dependent_mut(|_, driven| driven.run.skip_idle(end));
            self.gather();
            let now = self.now();
            if now < end && !is_enough(self) {
                let stop = end.min(now.saturating_add(at_once));
                let (planned, control) = (&mut self.planned, &self.control);
                let advance = || planned.with_dependent_mut(|_, driven| driven.advance(stop, control));
                // Where a table could not grow, the simulation is somewhere inside a cycle, and cannot go on.
                let advanced = hopsim_memory::or_shortage(advance).inspect_err(|_| self.has_ended = true);
                let advanced = advanced.map_err(RunError::from)?;
                self.gather();
                advanced?;
            }
            if self.now() - asked >= CONTROL_PERIOD {
                asked = self.now();
                if !goes_on() {
                    return Err(RunError::Cancelled.into());
                }
            }
        }
        Ok(())
    }

    /// Takes from the network what is there by the present cycle: nothing of it was there before.
    fn gather(&mut self) {
        let gathered = self.planned.with_dependent_mut(|_, driven| driven.run.simulation.take_delivered());
        if gathered.is_empty() {
            return;
        }
        let plan = self.planned.borrow_owner();
        let mut messages: Vec<DeliveredMessage> = gathered
            .iter()
            .filter_map(|DeliveredLetter { job, letter, at }| {
                let Pending { number, tag, phits } = self.pending.remove(&letter.tag)?;
                let node = |rank: u32| plan.system.jobs[usize::from(*job)].nodes()[rank as usize];
                let (source, destination) = (node(letter.source), node(letter.destination));
                let (injected, delivered) = (letter.joined, *at);
                Some(DeliveredMessage { number, tag, source, destination, phits, injected, delivered })
            })
            .collect();
        messages.sort_unstable_by_key(|message| (message.delivered, message.number));
        self.delivered.append(&mut messages);
    }

    /// The job and the rank on a node; `key` says what for.
    fn rank(&self, key: &str, node: u32) -> Result<(usize, u32), ConfigError> {
        let plan = self.planned.borrow_owner();
        let refused = |reason: String| ConfigError::new(key, reason).value(node);
        match self.rank_of.get(node as usize) {
            None => {
                let valid = format!("0 … {}", plan.system.network.nodes - 1);
                Err(refused("there is no such node".into()).valid(valid))
            }
            Some(&NONE) => {
                let job = plan.system.job_at(node as usize);
                let job = job.map_or("no job".to_owned(), |job| format!("job {}", job.name()));
                Err(refused(format!("is a node of {job}, which nobody drives")).valid(nodes(&self.nodes())))
            }
            Some(&rank) => Ok((usize::from(plan.system.job_of[node as usize]), rank)),
        }
    }

    /// The cycle after so many further ones.
    fn end(&self, cycles: u64) -> Result<u32, ConfigError> {
        self.check_going_on()?;
        let left = self.last - self.now();
        if cycles > u64::from(left) {
            let reason = format!(
                "the simulation is at cycle {} and lasts up to cycle {}: measure.max_cycles, or the longest time series",
                self.now(),
                self.last
            );
            return Err(ConfigError::new("cycles", reason).value(cycles).valid(format!("0 … {left}")));
        }
        Ok(self.now() + cycles as u32)
    }

    fn check_going_on(&self) -> Result<(), ConfigError> {
        if !self.has_ended {
            return Ok(());
        }
        let reason = format!("the simulation has ended at cycle {} with its results", self.now());
        Err(ConfigError::new("", reason).valid("another simulation"))
    }
}

impl fmt::Debug for Stepping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stepping(cycle {}, {} messages in flight)", self.now(), self.in_flight())
    }
}

/// Numbers of nodes as a message names them: ranges, the first of them.
fn nodes(nodes: &[u32]) -> String {
    const NAMED: usize = 10;
    let mut sorted = nodes.to_vec();
    sorted.sort_unstable();
    let ranges = sorted.chunk_by(|node, next| node + 1 == *next);
    let names: Vec<String> = ranges
        .map(|range| match range {
            [node] => node.to_string(),
            range => format!("{} … {}", range[0], range[range.len() - 1]),
        })
        .collect();
    let more = if names.len() > NAMED { ", …" } else { "" };
    format!("{}{more}", names[..names.len().min(NAMED)].join(", "))
}

/// Payload of so many phits: with whole bytes in every phit it has as many phits again.
fn bytes(phits: u32, phit: Fraction) -> u64 {
    (u128::from(phits) * u128::from(phit.numerator) / u128::from(phit.denominator)) as u64
}
