//! What programs took: times of their ranks, and the latencies of their messages.

use crate::histograms::{count_again, counted};
use crate::message_sizes::{MessageSizes, MessageSizesState};
use hdrhistogram::Histogram;
use hopsim_experiment::config::measure::RecordStream;
use hopsim_programs::host::log::Log;
use hopsim_programs::host::{Figures, Host, Letter};
use hopsim_programs::job::{ProgramPlan, Programs};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Metrics that a program without an end does not have.
const OF_END: [&str; 6] = [
    "execution_time",
    "rank_finish_min",
    "rank_finish_mean",
    "wait_time_mean",
    "wait_time_max",
    "bandwidth_mean",
];

/// What is counted of the programs of a run.
#[derive(Default)]
pub struct ProgramCounts {
    /// Latency of messages, by job \[cycles\].
    latency: Vec<Histogram<u64>>,
    /// What every rank has counted, by job.
    ranks: Vec<Vec<Figures>>,
    /// What every rank has written down, by job.
    logs: Vec<Vec<Log>>,
    /// Messages by job and size, if asked for.
    pub sizes: Option<MessageSizes>,
}

/// What is counted of the programs of a run, in a snapshot; without what ranks have counted, which they keep until the end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProgramCountsState {
    /// Latencies and how often they were counted, by job.
    latency: Vec<Vec<(u64, u64)>>,
    sizes: Option<MessageSizesState>,
}

impl ProgramCounts {
    /// What this thread has counted.
    pub fn save(&self) -> ProgramCountsState {
        let Self { latency, ranks: _, logs: _, sizes } = self;
        ProgramCountsState {
            latency: latency.iter().map(counted).collect(),
            sizes: sizes.as_ref().map(MessageSizes::save),
        }
    }

    /// Adds what was counted before.
    pub fn load(&mut self, state: &ProgramCountsState) {
        let ProgramCountsState { latency, sizes } = state;
        self.latency.iter_mut().zip(latency).for_each(|(sum, counted)| count_again(sum, counted));
        if let (Some(sum), Some(sizes)) = (&mut self.sizes, sizes) {
            sum.load(sizes);
        }
    }

    /// Empty counters.
    pub fn new(programs: &Programs<'_>, streams: &[RecordStream]) -> Self {
        // Three significant digits; the bound is raised automatically.
        let histogram = || Histogram::new(3).unwrap_or_else(|_| unreachable!("3 digits are supported"));
        let jobs = programs.jobs.len();
        let mut ranks = vec![Vec::new(); jobs];
        for (number, program) in &programs.all {
            ranks[*number] = vec![Figures::default(); program.nodes.len()];
        }
        Self {
            latency: (0..jobs).map(|_| histogram()).collect(),
            logs: ranks.iter().map(|job| job.iter().map(|_| Log::default()).collect()).collect(),
            ranks,
            sizes: streams.contains(&RecordStream::MessageSizes).then(|| MessageSizes::new(jobs)),
        }
    }

    /// A message of a job has arrived in cycle `at`.
    pub fn message(&mut self, job: u8, letter: &Letter, at: u32) {
        let latency = u64::from(at - letter.joined);
        self.latency[usize::from(job)] += latency;
        if let Some(sizes) = &mut self.sizes {
            sizes.message(usize::from(job), letter.bytes, latency);
        }
    }

    /// Adds the latencies that another thread has counted. What ranks have counted is asked for in the end.
    pub fn add(&mut self, other: Self) {
        for (sum, other) in self.latency.iter_mut().zip(&other.latency) {
            *sum += other;
        }
        if let (Some(sizes), Some(other)) = (&mut self.sizes, other.sizes) {
            sizes.add(other);
        }
    }

    /// What a rank of a job has counted and written down in the whole run.
    pub fn rank(&mut self, job: u8, host: &mut Host) {
        let (job, rank) = (usize::from(job), host.rank() as usize);
        self.ranks[job][rank] = host.figures();
        self.logs[job][rank] = host.take_log();
    }

    /// What every rank of a job has written down.
    pub fn logs(&self, job: usize) -> &[Log] {
        &self.logs[job]
    }

    /// What every rank of a job has counted.
    pub fn ranks(&self, job: usize) -> &[Figures] {
        &self.ranks[job]
    }

    /// The metrics of the programs of some jobs; of several only the longest time.
    pub fn summary(&self, programs: &[(usize, &ProgramPlan)]) -> Map<String, Value> {
        let mut summaries = programs.iter().map(|&(number, job)| self.summary_of(number, job));
        if let [_] = programs {
            return summaries.next().unwrap_or_default();
        }
        let times = summaries.filter_map(|summary| summary["execution_time"].as_u64());
        times.max().map(|time| ("execution_time".to_owned(), time.into())).into_iter().collect()
    }

    fn summary_of(&self, number: usize, job: &ProgramPlan) -> Map<String, Value> {
        let ranks = &self.ranks[number];
        let count = ranks.len() as f64;
        let start = u64::from(job.start);
        // A program that goes on until the others are done has no end.
        let finish = |rank: &Figures| u64::from(rank.finish).saturating_sub(start);
        let wait = |rank: &Figures| finish(rank).saturating_sub(rank.compute + rank.overhead);
        let total = |of: &dyn Fn(&Figures) -> u64| ranks.iter().map(of).fold(0, u64::saturating_add);
        let mean = |of: &dyn Fn(&Figures) -> u64| Value::from(total(of) as f64 / count);
        let most = |of: &dyn Fn(&Figures) -> u64| ranks.iter().map(of).max().unwrap_or(0);
        let time = most(&finish);
        let messages = total(&|rank| rank.messages_received);
        let bytes = total(&|rank| rank.bytes_received);
        let latency = &self.latency[number];
        let greatest = most(&|rank| rank.latency_max);
        let any = |value: f64| if messages > 0 { Value::from(value) } else { Value::Null };
        let quantile = |q| any(latency.value_at_quantile(q).min(greatest) as f64);
        let values = [
            ("execution_time", Value::from(time)),
            ("rank_finish_min", Value::from(ranks.iter().map(finish).min().unwrap_or(0))),
            ("rank_finish_mean", mean(&finish)),
            ("compute_time_mean", mean(&|rank| rank.compute)),
            ("compute_time_max", Value::from(most(&|rank| rank.compute))),
            ("overhead_time_mean", mean(&|rank| rank.overhead)),
            ("wait_time_mean", mean(&wait)),
            ("wait_time_max", Value::from(most(&wait))),
            ("messages", Value::from(messages)),
            ("message_bytes", Value::from(bytes)),
            ("message_latency_mean", any(total(&|rank| rank.latency_sum) as f64 / messages as f64)),
            ("message_latency_p50", quantile(0.5)),
            ("message_latency_p99", quantile(0.99)),
            ("message_latency_max", any(greatest as f64)),
            ("bandwidth_mean", if time > 0 { Value::from(bytes as f64 / time as f64) } else { Value::Null }),
        ];
        let seconds = time as f64 * job.cycle.numerator as f64 / job.cycle.denominator as f64 / 1e9;
        let rate = |edges: u64| if time > 0 { Value::from(edges as f64 / seconds) } else { Value::Null };
        let searched = job.edges().map(|edges| ("traversed_edges_per_second", rate(edges)));
        let of_end = |name: &str| job.is_endless && OF_END.contains(&name);
        let known =
            |(name, value): (&str, Value)| (name.to_owned(), if of_end(name) { Value::Null } else { value });
        values.into_iter().chain(searched).map(known).collect()
    }
}
