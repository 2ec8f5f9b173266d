//! The counters. Default counting is a few additions per packet; streams add their own arrays.

mod hearing;
mod rows;
mod state;
mod streams;

use crate::histograms::Latencies;
use crate::parts::{PARTS, PartTotals, Parts, TENTHS};
use crate::programs::ProgramCounts;
#[cfg(feature = "trace")]
use crate::trace::Tracer;
use hopsim_cycles::kernel::packet::Packet;
use hopsim_experiment::plan::Plan;
use hopsim_network::by_class::{ByClass, MOST_CLASSES};
use serde::{Deserialize, Serialize};

use rows::Rows;
pub use state::RecorderState;
pub use streams::StreamCounts;

/// Sets of classes of links, but for the empty one.
const CLASS_SETS: usize = (1 << MOST_CLASSES) - 1;

/// Sums over the packets of one job in one batch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Packets generated.
    pub generated: u64,
    /// Packets dropped at a full source queue.
    pub dropped: u64,
    /// Packets lost for good because links failed.
    pub lost: u64,
    /// Packets that were lost and are sent again, as often as they are.
    pub retransmissions: u64,
    /// Packets injected (see `InjectionCount`).
    pub injected: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Time from the generation of a packet until its tail is delivered, summed up \[cycles\].
    pub latency: u64,
    /// Part of `latency` at injection \[cycles\].
    pub injection: u64,
    /// Part of `latency` in queues entered by links of each class \[cycles\].
    pub queues: ByClass<u64>,
    /// Link latencies and serialisation of the minimal paths.
    pub base: u64,
    /// Link latencies and serialisation of the paths taken.
    pub path: u64,
    /// Links passed by class.
    pub hops: ByClass<u64>,
    /// Packets that left the minimal path, by where they first did (see `RouteState::place`, from 1).
    pub misrouted: [u64; 4],
    /// Packets with nonminimal hops, by the classes of their links: less one, as a packet has them.
    pub nonminimal: [u64; CLASS_SETS],
    /// Replies among the delivered packets.
    pub replies: Replies,
    /// Least latency; 0 if there is no packet, as none takes less than a cycle.
    pub latency_min: u32,
    /// Greatest latency.
    pub latency_max: u32,
    /// What the packets add up to in phits.
    pub phits: Phits,
}

/// What replies add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replies {
    /// Replies delivered.
    pub delivered: u64,
    /// Sum of the latencies of the replies \[cycles\].
    pub latency: u64,
    /// Sum of the latencies of the replies, counted from the generation of the request \[cycles\].
    pub response: u64,
}

/// Sums of the lengths of packets \[phits\].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phits {
    /// Phits of packets generated.
    pub generated: u64,
    /// Phits of packets injected.
    pub injected: u64,
    /// Phits of packets delivered.
    pub delivered: u64,
    /// Phits of the replies among the packets delivered.
    pub replies: u64,
}

impl Phits {
    fn add(&mut self, other: &Self) {
        self.generated += other.generated;
        self.injected += other.injected;
        self.delivered += other.delivered;
        self.replies += other.replies;
    }
}

impl Totals {
    /// Adds the sums of other packets.
    pub fn add(&mut self, other: &Self) {
        self.generated += other.generated;
        self.dropped += other.dropped;
        self.lost += other.lost;
        self.retransmissions += other.retransmissions;
        self.injected += other.injected;
        self.delivered += other.delivered;
        self.latency += other.latency;
        self.injection += other.injection;
        self.base += other.base;
        self.path += other.path;
        self.replies.delivered += other.replies.delivered;
        self.replies.latency += other.replies.latency;
        self.replies.response += other.replies.response;
        let misrouted = self.misrouted.iter_mut().chain(&mut self.nonminimal);
        for (sum, other) in misrouted.zip(other.misrouted.iter().chain(&other.nonminimal)) {
            *sum += other;
        }
        for class in 0..MOST_CLASSES {
            self.queues[class] += other.queues[class];
            self.hops[class] += other.hops[class];
        }
        self.latency_min = least(self.latency_min, other.latency_min);
        self.latency_max = self.latency_max.max(other.latency_max);
        self.phits.add(&other.phits);
    }
}

/// The less of two latencies, of which 0 stands for none.
#[inline]
fn least(one: u32, other: u32) -> u32 {
    // Less one, none is more than any other.
    one.wrapping_sub(1).min(other.wrapping_sub(1)).wrapping_add(1)
}

/// One row of the time series.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Interval {
    /// Packets generated.
    pub generated: u32,
    /// Packets injected.
    pub injected: u32,
    /// Packets delivered.
    pub delivered: u32,
    /// Packets lost for good because links failed.
    pub lost: u32,
    /// Packets that were lost and are sent again.
    pub retransmissions: u32,
    /// Phits delivered.
    pub phits: u64,
    /// Sum of the latencies of the packets delivered \[cycles\].
    pub latency: u64,
}

impl Interval {
    fn add(&mut self, other: &Self) {
        self.generated += other.generated;
        self.injected += other.injected;
        self.delivered += other.delivered;
        self.lost += other.lost;
        self.retransmissions += other.retransmissions;
        self.phits += other.phits;
        self.latency += other.latency;
    }
}

/// The counters of a thread: sums that no place in the network owns. See [`Places`](crate::places::Places) for the others. The default counts nothing.
#[derive(Default)]
pub struct Recorder {
    start: u32,
    cycles: u32,
    batch_length: u32,
    batches: u32,
    present: u32,
    /// Where the present cycle counts: the first row of its batch in `totals`, and the tenth of the window; outside of it behind
    /// the last row and the last tenth.
    row: usize,
    tenth: usize,
    /// Where the packet that was delivered last counted; the next one mostly does too.
    rows: Rows,
    jobs: usize,
    /// Sums by batch · jobs + job.
    pub totals: Vec<Totals>,
    /// The equal parts of the window.
    pub parts: Parts,
    /// Sums by part · jobs + job.
    pub by_part: Vec<PartTotals>,
    /// Latency by job.
    pub histograms: Vec<Latencies>,
    /// Rows of the time series, if asked for.
    pub series: Vec<Interval>,
    /// What record streams count of the packets delivered.
    pub streams: StreamCounts,
    interval: u32,
    /// First cycle that is in no row of the time series.
    rows_end: u32,
    /// Packets generated, and those dropped or lost, since the beginning of the run.
    lifetime: (u64, u64),
    /// Length of every synchronised burst that began and ended in the window, by job \[cycles\].
    pub bursts: Vec<Vec<u32>>,
    /// What programs took, if there are any.
    pub programs: Option<Box<ProgramCounts>>,
    links: LinkLatencies,
    /// Who writes down the lives of packets, if they are.
    #[cfg(feature = "trace")]
    pub tracer: Option<Tracer>,
}

impl Recorder {
    /// Empty counters.
    pub fn new(plan: &Plan) -> Self {
        let measure = &plan.experiment.measure;
        let warmup = measure.warmup.cycles();
        let end = u64::from(warmup) + u64::from(measure.cycles);
        let has_programs = plan.system.has_programs();
        // With programs nobody knows how long a run will last: rows are added as they are needed.
        let rows =
            if measure.interval == 0 || has_programs { 0 } else { end.div_ceil(u64::from(measure.interval)) };
        let links = &plan.system.network.classes.links;
        Self {
            start: warmup,
            cycles: measure.cycles,
            batch_length: measure.cycles / measure.batches,
            batches: measure.batches,
            present: 0,
            row: measure.batches as usize * plan.system.jobs.len(),
            tenth: TENTHS,
            rows: Rows::default(),
            jobs: plan.system.jobs.len(),
            totals: vec![Totals::default(); measure.batches as usize * plan.system.jobs.len()],
            parts: Parts::new(warmup, measure.cycles),
            by_part: vec![PartTotals::default(); PARTS as usize * plan.system.jobs.len()],
            histograms: vec![Latencies::default(); plan.system.jobs.len()],
            series: vec![Interval::default(); rows as usize],
            streams: StreamCounts::new(plan, rows as usize),
            interval: measure.interval,
            rows_end: if measure.interval == 0 { 0 } else { warmup + measure.cycles },
            lifetime: (0, 0),
            bursts: vec![Vec::new(); plan.system.jobs.len()],
            programs: has_programs
                .then(|| Box::new(ProgramCounts::new(&plan.system.programs(), &measure.streams))),
            links: LinkLatencies {
                latency: ByClass::from_fn(|class| links.get(class).map_or(0, |link| link.latency)),
                ejection: plan.ejection_delay(),
                own: plan.system.topology.has_latencies(),
                by_flit: plan.system.router.cioq().is_none(),
            },
            #[cfg(feature = "trace")]
            tracer: None,
        }
    }

    /// Adds what another thread has counted: all are sums, so the order does not matter.
    pub fn add(&mut self, other: Self) {
        for (sum, other) in self.totals.iter_mut().zip(&other.totals) {
            sum.add(other);
        }
        for (sum, other) in self.by_part.iter_mut().zip(&other.by_part) {
            sum.add(other);
        }
        for (sum, other) in self.histograms.iter_mut().zip(&other.histograms) {
            sum.add(other);
        }
        self.series.resize(self.series.len().max(other.series.len()), Interval::default());
        for (row, other) in self.series.iter_mut().zip(&other.series) {
            row.add(other);
        }
        self.streams.add(&other.streams);
        self.streams.add_life(&other.streams);
        self.lifetime.0 += other.lifetime.0;
        self.lifetime.1 += other.lifetime.1;
        for (bursts, other) in self.bursts.iter_mut().zip(other.bursts) {
            bursts.extend(other);
        }
        if let (Some(programs), Some(other)) = (&mut self.programs, other.programs) {
            programs.add(*other);
        }
    }

    /// The run ends before cycle `end`, which its plan could not know.
    pub fn close(&mut self, end: u32) {
        (self.cycles, self.batch_length) = (end, end);
        self.rows = Rows::default();
        if self.interval > 0 {
            self.rows_end = self.start + end;
            let rows = end.div_ceil(self.interval) as usize;
            self.series.resize(rows, Interval::default());
            self.streams.close(rows);
        }
    }

    /// Cycles of the window.
    pub fn cycles(&self) -> u32 {
        self.cycles
    }

    /// Packets of all jobs that were delivered in each batch.
    pub fn delivered_by_batch(&self) -> Vec<u64> {
        let batches = self.totals.chunks(self.jobs.max(1));
        batches.map(|jobs| jobs.iter().map(|totals| totals.delivered).sum()).collect()
    }

    /// First cycle of the window, and the first one after it.
    pub fn window(&self) -> (u32, u32) {
        (self.start, self.start + self.cycles)
    }

    /// Packets generated, and those dropped or lost, since the beginning of the run.
    pub fn lifetime(&self) -> (u64, u64) {
        self.lifetime
    }

    /// First and last-but-one cycle of a batch: it covers `first..end`; the last one takes the remainder.
    pub fn batch_bounds(&self, batch: u32) -> (u32, u32) {
        let first = self.start + batch * self.batch_length;
        let end =
            if batch + 1 == self.batches { self.start + self.cycles } else { first + self.batch_length };
        (first, end)
    }
}

/// Latencies of links \[cycles\].
#[derive(Clone, Copy, Default)]
struct LinkLatencies {
    /// Latencies by class of links.
    latency: ByClass<u32>,
    /// Whether links have latencies of their own, not those of their classes.
    own: bool,
    /// What the links to nodes take beyond a cycle.
    ejection: u32,
    /// Whether a slow link delays a head by what it takes for one flit, not for its whole packet.
    by_flit: bool,
}

impl LinkLatencies {
    /// Link latencies and serialisation of the path that a packet has taken with `latency` in all.
    fn path(&self, packet: &Packet, latency: u32) -> u32 {
        if self.own {
            return latency - packet.injection.wait - packet.queue_wait.iter().sum::<u32>();
        }
        let links = packet.hops.iter().zip(&self.latency).map(|(&hops, &latency)| u32::from(hops) * latency);
        links.sum::<u32>() + u32::from(packet.length) + self.ejection
    }
}
