//! What is counted while a fabric runs.

use super::completions::Completions;
use super::links::Links;
use super::losses::Losses;
use super::parts::FabricParts;
use super::pauses::Pauses;
use super::series::Series;
use super::victims::Victims;
use hdrhistogram::Histogram;
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::plan::fabric::used::Place;
use hopsim_experiment::plan::fabric::{FabricPlan, Span};
use hopsim_infiniband::faults::Loss;
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::observer::{Observer, Sent};
use hopsim_infiniband::time::Ticks;

/// What is counted of a flow in the window.
#[derive(Clone, Debug, Default)]
pub struct AccountCounts {
    /// Data packets that the host of the flow began to send.
    pub sent: u64,
    /// Data packets delivered.
    pub delivered: u64,
    /// Bytes of the data packets delivered.
    pub bytes: u64,
    /// Data packets that a switch marked.
    pub marked: u64,
    /// Notifications that have come back to the source of the flow.
    pub notifications: u64,
    /// Sum of the latencies of the packets delivered \[ticks\].
    pub latency: u128,
    /// Greatest latency of a packet delivered \[ticks\].
    pub greatest: Ticks,
    /// For how long the congestion control table index of a flow was at its limit, the longest of several flows.
    pub limited: Ticks,
}

impl AccountCounts {
    /// Adds the counts of another flow.
    pub fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.delivered += other.delivered;
        self.bytes += other.bytes;
        self.marked += other.marked;
        self.notifications += other.notifications;
        self.latency += other.latency;
        self.greatest = self.greatest.max(other.greatest);
        self.limited = self.limited.max(other.limited);
    }
}

/// A histogram of three significant digits, whose bound is raised automatically.
pub fn histogram() -> Histogram<u64> {
    Histogram::new(3).unwrap_or_else(|_| unreachable!("3 digits are supported"))
}

/// Hears what happens and counts it.
#[derive(Debug)]
pub struct FabricRecorder<'p> {
    /// The time that counts. Programs end before the end of the plan.
    pub span: Span,
    ticks_per_ns: u64,
    /// Counts by account.
    pub accounts: Vec<AccountCounts>,
    /// Latencies by job \[ns\].
    pub by_job: Vec<Histogram<u64>>,
    /// Latencies by account \[ns\]; empty if nobody asks.
    pub by_account: Vec<Histogram<u64>>,
    /// Flows and messages that were completed in the window.
    pub completions: Completions<'p>,
    /// What the verdict is made of.
    pub parts: FabricParts,
    /// Job of each account.
    job_of: Vec<usize>,
    /// Account and VL of each flow of the engine.
    pub account_of: Vec<(usize, u8)>,
    /// For how long the index of each flow of the engine had been at its limit when the window began; nothing of flows that began
    /// later.
    limited_before: Vec<Ticks>,
    /// Account of what each node draws.
    drawn: Vec<usize>,
    lane_of_level: [u8; 16],
    /// Interval by interval, if asked for.
    pub series: Option<Box<Series>>,
    /// Links, if asked for.
    pub links: Option<Box<Links>>,
    /// Pauses, if links can be paused.
    pub pauses: Option<Box<Pauses>>,
    /// What is lost, if links fail.
    pub losses: Option<Box<Losses>>,
    /// Who is held up, if asked for.
    pub victims: Option<Box<Victims>>,
}

impl<'p> FabricRecorder<'p> {
    /// Empty counters.
    pub fn new(plan: &'p FabricPlan) -> Self {
        let has_flows = plan.experiment.measure.streams.contains(&RecordStream::Flows);
        Self {
            span: plan.span,
            ticks_per_ns: plan.fabric.ticks_per_ns,
            accounts: vec![AccountCounts::default(); plan.accounts.len()],
            by_job: plan.jobs.iter().map(|_| histogram()).collect(),
            by_account: (0..if has_flows { plan.accounts.len() } else { 0 }).map(|_| histogram()).collect(),
            completions: Completions::new(plan),
            parts: FabricParts::new(plan),
            job_of: plan.accounts.iter().map(|account| account.job).collect(),
            account_of: plan
                .flows
                .iter()
                .zip(0..)
                .map(|(flow, account)| (account, plan.lane(flow.service_level)))
                .collect(),
            limited_before: Vec::new(),
            drawn: drawn(plan),
            lane_of_level: plan.fabric.lanes.of_service_level,
            series: plan.span.interval.map(|_| Box::new(Series::new(plan))),
            links: Links::new(plan).map(Box::new),
            pauses: Pauses::new(plan).map(Box::new),
            losses: Losses::new(plan).map(Box::new),
            victims: Victims::new(plan).map(Box::new),
        }
    }

    /// The window begins; by flow of the engine, for how long its index has been at its limit.
    pub fn begin(&mut self, limited: Vec<Ticks>) {
        self.limited_before = limited;
    }

    /// The run ends; by flow of the engine, for how long its index has been at its limit.
    pub fn end(&mut self, at: Ticks, limited: &[Ticks]) {
        self.span.end = at;
        for (flow, (&after, &(account, _))) in limited.iter().zip(&self.account_of).enumerate() {
            let before = self.limited_before.get(flow).copied().unwrap_or(0);
            let counts = &mut self.accounts[account];
            counts.limited = counts.limited.max(after - before);
        }
        if let Some(links) = &mut self.links {
            links.end(at);
        }
        if let Some(pauses) = &mut self.pauses {
            pauses.end(at);
        }
    }

    /// Whether a time is in the window.
    fn is_counted(&self, at: Ticks) -> bool {
        (self.span.warmup..self.span.end).contains(&at)
    }

    /// A flow or message is completed that began at a time.
    fn completed(&mut self, at: Ticks, flow: u32, bytes: u64, began: Ticks) {
        let (account, _) = self.account_of[flow as usize];
        if self.is_counted(at) {
            self.completions.count(self.job_of[account], flow, bytes, at - began);
        }
    }

    /// The counts of an account, if they count at this time.
    fn counts(&mut self, at: Ticks, account: usize) -> Option<&mut AccountCounts> {
        self.is_counted(at).then(|| &mut self.accounts[account])
    }
}

/// Account of what each node draws.
fn drawn(plan: &FabricPlan) -> Vec<usize> {
    let mut drawn = vec![usize::MAX; plan.fabric.hosts as usize];
    for (number, account) in plan.accounts.iter().enumerate().skip(plan.flows.len()) {
        drawn[account.source as usize] = number;
    }
    drawn
}

impl Observer for FabricRecorder<'_> {
    fn sent(&mut self, at: Ticks, packet: Sent) {
        let (account, _) = self.account_of[packet.flow as usize];
        if packet.is_notification {
            return;
        }
        self.parts.sent(at, account, packet.bytes);
        if let Some(counts) = self.counts(at, account) {
            counts.sent += 1;
        }
    }

    fn flow(&mut self, _number: u32, flow: &Flow) {
        let lane = self.lane_of_level[usize::from(flow.service_level)];
        hopsim_memory::push(&mut self.account_of, (self.drawn[flow.source as usize], lane));
        self.completions.flow(*flow);
        if let Some(victims) = &mut self.victims {
            victims.flow(flow);
        }
    }

    fn posted(&mut self, at: Ticks, flow: u32, bytes: u64) {
        let (account, _) = self.account_of[flow as usize];
        self.parts.posted(at, account, bytes);
    }

    fn may_begin(&mut self, at: Ticks, flow: u32) {
        self.completions.may_begin(flow, at);
    }

    fn message(&mut self, at: Ticks, flow: u32, bytes: u64, posted: Ticks) {
        self.completed(at, flow, bytes, posted);
    }

    fn granted(&mut self, _at: Ticks, packet: Sent, _input: u32, output: u32) {
        if let Some(series) = &mut self.series {
            let (_, lane) = self.account_of[packet.flow as usize];
            series.granted(packet, Place { port: output, lane });
        }
    }

    fn on_link(&mut self, at: Ticks, packet: Sent, port: u32) {
        if let Some(links) = &mut self.links {
            let (_, lane) = self.account_of[packet.flow as usize];
            links.carries(at, packet, Place { port, lane });
        }
    }

    fn hears_stalls(&self) -> bool {
        self.links.is_some()
    }

    fn stalled(&mut self, at: Ticks, port: u32, lane: u8, is_stalled: bool) {
        if let Some(links) = &mut self.links {
            links.stalls(at, Place { port, lane }, is_stalled);
        }
    }

    fn paused(&mut self, at: Ticks, port: u32, lane: u8, is_paused: bool) {
        if let Some(pauses) = &mut self.pauses {
            pauses.pauses(at, Place { port, lane }, is_paused);
        }
        if let Some(links) = &mut self.links {
            links.pauses(at, Place { port, lane }, is_paused);
        }
    }

    fn marked(&mut self, at: Ticks, packet: Sent, _output: u32) {
        let (account, _) = self.account_of[packet.flow as usize];
        if let Some(counts) = self.counts(at, account) {
            counts.marked += 1;
        }
        if let Some(series) = &mut self.series {
            series.open[account].marked += 1;
        }
    }

    fn lost(&mut self, at: Ticks, packet: Sent, why: Loss) {
        let ((account, _), counts) = (self.account_of[packet.flow as usize], self.is_counted(at));
        if let Some(losses) = self.losses.as_mut().filter(|_| !packet.is_notification) {
            losses.packet(account, why, counts);
        }
    }

    fn message_lost(&mut self, at: Ticks, flow: u32) {
        let ((account, _), counts) = (self.account_of[flow as usize], self.is_counted(at));
        if let Some(losses) = &mut self.losses {
            losses.message(account, counts);
        }
    }

    fn delivered(&mut self, at: Ticks, packet: Sent, sent: Ticks, marked: bool) {
        let ((account, _), latency) = (self.account_of[packet.flow as usize], at - sent);
        if let Some(series) = &mut self.series {
            series.delivered(packet, marked, account);
        }
        if !packet.is_notification
            && let Some((bytes, start)) = self.completions.delivered(packet.flow, packet.bytes)
        {
            self.completed(at, packet.flow, bytes, start);
        }
        let nanoseconds = latency / self.ticks_per_ns;
        let Some(counts) = self.counts(at, account) else { return };
        if packet.is_notification {
            counts.notifications += u64::from(marked);
            return;
        }
        counts.delivered += 1;
        counts.bytes += u64::from(packet.bytes);
        counts.latency += u128::from(latency);
        counts.greatest = counts.greatest.max(latency);
        let job = self.job_of[account];
        self.parts.delivered(at, job, packet.bytes, latency);
        self.by_job[job] += nanoseconds;
        if let Some(histogram) = self.by_account.get_mut(account) {
            *histogram += nanoseconds;
        }
    }
}
