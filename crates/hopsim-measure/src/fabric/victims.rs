//! Flows that are held up, and by which outputs.

use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::plan::FabricPlan;
use hopsim_experiment::plan::fabric::outputs;
use hopsim_experiment::plan::fabric::used::Place;
use hopsim_infiniband::engine::Held;
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::time::Ticks;
use hopsim_random::{Purpose, Stream};
use std::collections::BTreeMap;

/// The least time that a sample stands for \[ns\].
const LEAST: u64 = 1000;

/// A sample stands for the time since the beginning of the window over this.
const PARTS: u64 = 1000;

/// An account that was held up, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldUp {
    /// The account.
    pub account: usize,
    /// The root.
    pub root: Place,
    /// Whether the packets of the account do not use the root.
    pub is_victim: bool,
}

/// The samples of a run, one in each part of the window. Parts become longer with it, as nobody knows when programs end.
#[derive(Debug)]
pub struct Victims {
    /// Beginning of the window.
    warmup: Ticks,
    /// Length of the first part.
    least: Ticks,
    /// Beginning and length of the part that is sampled next.
    part: (Ticks, Ticks),
    /// When the next sample is taken.
    next: Ticks,
    stream: Stream,
    /// Length of the parts that have been sampled.
    sampled: Ticks,
    /// Length of the parts in whose samples a flow was held up by a root, by flow of the engine and root.
    held_up: BTreeMap<(u32, u32), Ticks>,
    /// Source and destination of each flow of the engine.
    ways: Vec<[u32; 2]>,
}

impl Victims {
    /// No samples yet, if somebody asks.
    pub fn new(plan: &FabricPlan) -> Option<Self> {
        if !plan.experiment.measure.streams.contains(&RecordStream::Victims) {
            return None;
        }
        let (warmup, least) = (plan.span.warmup, LEAST * plan.fabric.ticks_per_ns);
        let mut victims = Self {
            warmup,
            least,
            part: (warmup, 0),
            next: 0,
            stream: Stream::new(plan.experiment.measure.seed, Purpose::Sampling, 0),
            sampled: 0,
            held_up: BTreeMap::new(),
            ways: plan.flows.iter().map(|flow| [flow.source, flow.destination]).collect(),
        };
        victims.draw();
        Some(victims)
    }

    /// Draws when the part behind the present one is sampled.
    fn draw(&mut self) {
        let begin = self.part.0 + self.part.1;
        let length = self.least.max((begin - self.warmup) / PARTS);
        self.part = (begin, length);
        self.next = begin + (self.stream.unit() * length as f64) as Ticks;
    }

    /// A flow of the workload has begun.
    pub fn flow(&mut self, flow: &Flow) {
        self.ways.push([flow.source, flow.destination]);
    }

    /// When the next sample is taken.
    pub fn next(&self) -> Ticks {
        self.next
    }

    /// A sample is taken.
    pub fn sample(&mut self, held: &[Held]) {
        let (_, length) = self.part;
        self.sampled += length;
        for &Held { flow, root } in held {
            *self.held_up.entry((flow, root)).or_default() += length;
        }
        self.draw();
    }

    /// For which share of the time accounts were held up, and where; `account_of` has account and VL of each flow of the engine.
    pub fn shares(&self, plan: &FabricPlan, account_of: &[(usize, u8)]) -> BTreeMap<HeldUp, f64> {
        let mut sums: BTreeMap<HeldUp, Ticks> = BTreeMap::new();
        for (&(flow, port), length) in &self.held_up {
            let (account, lane) = account_of[flow as usize];
            let is_victim = !outputs(&plan.fabric, self.ways[flow as usize], flow).contains(&port);
            let row = HeldUp { account, root: Place { port, lane }, is_victim };
            *sums.entry(row).or_default() += length;
        }
        sums.into_iter().map(|(row, length)| (row, length as f64 / self.sampled as f64)).collect()
    }
}
