//! Completion times of flows and messages, and their slowdowns: how many times as long they take as alone.

use super::recorder::histogram;
use crate::message_sizes::class;
use hdrhistogram::Histogram;
use hopsim_experiment::plan::FabricPlan;
use hopsim_infiniband::alone;
use hopsim_infiniband::fabric::Fabric;
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::time::Ticks;
use std::collections::BTreeMap;

/// Parts of one that slowdowns are counted in.
const PARTS: u64 = 1000;

/// Flows and messages that were completed in the window.
#[derive(Clone, Debug)]
pub struct Completed {
    /// Completion times \[ns\].
    times: Histogram<u64>,
    /// Sum of the completion times \[ticks\].
    sum: u128,
    /// Greatest completion time \[ticks\].
    greatest: Ticks,
    /// What was sent \[bytes\].
    pub bytes: u64,
    /// Slowdowns, in parts of one.
    slowdowns: Histogram<u64>,
    most: f64,
}

impl Default for Completed {
    fn default() -> Self {
        Self { times: histogram(), sum: 0, greatest: 0, bytes: 0, slowdowns: histogram(), most: 0.0 }
    }
}

impl Completed {
    fn count_one(&mut self, bytes: u64, time: Ticks, alone: Option<Ticks>, ticks_per_ns: u64) {
        self.times += time / ticks_per_ns;
        self.sum += u128::from(time);
        self.greatest = self.greatest.max(time);
        self.bytes += bytes;
        if let Some(alone) = alone {
            self.slowdowns += (u128::from(time) * u128::from(PARTS) / u128::from(alone)) as u64;
            self.most = self.most.max(time as f64 / alone as f64);
        }
    }

    /// Adds what others have completed.
    fn add(&mut self, other: &Self) {
        self.times += &other.times;
        self.sum += other.sum;
        self.greatest = self.greatest.max(other.greatest);
        self.bytes += other.bytes;
        self.slowdowns += &other.slowdowns;
        self.most = self.most.max(other.most);
    }

    /// How many were completed.
    pub fn flows(&self) -> u64 {
        self.times.len()
    }

    /// Mean completion time \[ticks\], if anything was completed.
    pub fn mean(&self) -> Option<f64> {
        (self.flows() > 0).then(|| self.sum as f64 / self.flows() as f64)
    }

    /// The greatest completion time \[ticks\], if anything was completed.
    pub fn greatest(&self) -> Option<Ticks> {
        (self.flows() > 0).then_some(self.greatest)
    }

    /// The completion time \[ns\] below which a share of all is, at most `greatest`, which is that of the last in ns.
    pub fn quantile(&self, share: f64, greatest: f64) -> Option<f64> {
        (self.flows() > 0).then(|| (self.times.value_at_quantile(share) as f64).min(greatest))
    }

    /// The slowdown below which a share of all is.
    pub fn slowdown(&self, share: f64) -> Option<f64> {
        let value = || self.slowdowns.value_at_quantile(share) as f64 / PARTS as f64;
        (!self.slowdowns.is_empty()).then(|| value().min(self.most))
    }
}

/// What is left of a flow of the list that ends by itself.
#[derive(Clone, Copy, Debug)]
struct Left {
    bytes: u64,
    /// When the flow may send its first packet.
    start: Ticks,
}

/// All that is completed.
#[derive(Debug)]
pub struct Completions<'p> {
    fabric: &'p Fabric,
    /// What was completed in the window, by job and class of sizes.
    jobs: Vec<BTreeMap<u32, Completed>>,
    /// The flows of the engine.
    flows: Vec<Flow>,
    /// What is left of the flows of the list; nothing of those without an end.
    left: Vec<Left>,
}

impl<'p> Completions<'p> {
    /// Nothing yet.
    pub fn new(plan: &'p FabricPlan) -> Self {
        let left = |flow: &Flow| Left { bytes: flow.bytes.unwrap_or(0), start: flow.start };
        Self {
            fabric: &plan.fabric,
            jobs: vec![BTreeMap::new(); plan.jobs.len()],
            flows: plan.flows.clone(),
            left: plan.flows.iter().map(left).collect(),
        }
    }

    /// A flow of the workload begins.
    pub fn flow(&mut self, flow: Flow) {
        hopsim_memory::push(&mut self.flows, flow);
    }

    /// A flow of the list may send its first packet at a time.
    pub fn may_begin(&mut self, flow: u32, at: Ticks) {
        self.left[flow as usize].start = at;
    }

    /// A packet of a flow has been delivered. If it is the last one of a flow of the list: the bytes of the flow and its start.
    #[inline]
    pub fn delivered(&mut self, flow: u32, bytes: u32) -> Option<(u64, Ticks)> {
        let left = self.left.get_mut(flow as usize).filter(|left| left.bytes > 0)?;
        left.bytes -= u64::from(bytes);
        (left.bytes == 0).then_some((self.flows[flow as usize].bytes.unwrap_or(0), left.start))
    }

    /// A flow of the list, or a message of a flow of the workload, of a job has been completed in the window, after so long.
    pub fn count(&mut self, job: usize, flow: u32, bytes: u64, time: Ticks) {
        let alone = || alone::time(self.fabric, (flow, &self.flows[flow as usize]), bytes);
        let alone = self.has_slowdowns().then(alone);
        let completed = self.jobs[job].entry(class(bytes)).or_default();
        completed.count_one(bytes, time, alone, self.fabric.ticks_per_ns);
    }

    /// Whether there is one time that a flow takes alone: forwarding tables and links stay what they are.
    pub fn has_slowdowns(&self) -> bool {
        self.fabric.faults.is_empty()
    }

    /// What some jobs have completed.
    pub fn of(&self, jobs: impl Iterator<Item = usize>) -> Completed {
        let mut all = Completed::default();
        jobs.flat_map(|job| self.jobs[job].values()).for_each(|completed| all.add(completed));
        all
    }

    /// What was completed by job and class of sizes.
    pub fn by_class(&self) -> impl Iterator<Item = (usize, u32, &Completed)> {
        let jobs = self.jobs.iter().enumerate();
        jobs.flat_map(|(job, classes)| classes.iter().map(move |(&class, all)| (job, class, all)))
    }
}
