//! What a point is worth: *Verdict* under *Measurement* in `docs/model.md`.

use super::interval::half_width;
use super::{Run, Span};
use crate::{Life, lengths};
use hopsim_cycles::choices::WhenFull;
use hopsim_cycles::jobs::JobPlan;
use serde_json::{Map, Value};

/// What does not get into the network in each tenth, and what is offered in one.
#[derive(Clone, Debug)]
pub struct Shortfall {
    /// What does not get into the network in each tenth.
    pub tenths: Vec<f64>,
    /// What is offered in one tenth, on average.
    pub offered: f64,
}

impl Shortfall {
    fn none() -> Self {
        Self { tenths: vec![0.0; 10], offered: 0.0 }
    }

    /// Adds the shortfall of a source, so many times.
    fn add(&mut self, source: &Self, times: f64) {
        self.offered += times * source.offered;
        self.tenths.iter_mut().zip(&source.tenths).for_each(|(sum, one)| *sum += times * one);
    }

    fn mean(&self) -> f64 {
        self.tenths.iter().sum::<f64>() / 10.0
    }

    fn error(&self) -> f64 {
        let mean = self.mean();
        let variance = self.tenths.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 9.0;
        variance.sqrt() / 10f64.sqrt()
    }

    fn falls_behind(&self, f: f64) -> bool {
        self.mean() > f * self.offered && self.mean() > 4.297 * self.error()
    }

    /// How many times over a source with this shortfall may fall behind.
    fn times(&self, g: f64) -> f64 {
        let most = self.mean() + 2.821 * self.error();
        if most <= 0.0 { 0.0 } else { most / (g * self.offered) }
    }
}

/// A source that offers a load.
#[derive(Clone, Debug)]
pub struct Source {
    /// The node of the source.
    pub node: u32,
    /// The shortfall of what waits at the source.
    pub waits: Shortfall,
    /// How much one of what waits counts beside other sources.
    pub weight: f64,
    /// How many packets or messages the source drew, if it draws.
    pub drew: Option<f64>,
    /// The shortfall of time in which the source stood still, if some source may.
    pub stood: Option<Shortfall>,
}

impl Source {
    /// A share of what the source offers that is more than the spread of what it drew.
    fn share(&self, least: f64) -> f64 {
        self.drew.map_or(least, |drew| f64::max(least, 2.0 / drew.sqrt()))
    }

    /// Whether the source falls behind by itself.
    pub fn falls_behind(&self) -> bool {
        let stood = self.stood.as_ref().is_some_and(|stood| stood.falls_behind(0.02));
        stood || self.waits.falls_behind(self.share(0.02))
    }

    /// How many times over the source may fall behind.
    fn times(&self) -> f64 {
        let stood = self.stood.as_ref().map_or(0.0, |stood| stood.times(0.1));
        f64::max(self.waits.times(self.share(0.1)), stood)
    }
}

/// The course of values in the order of time.
pub struct Course {
    drift: f64,
    effective: f64,
    pub drifts: bool,
}

/// The middle of some numbers.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let (half, n) = (values.len() / 2, values.len());
    if n.is_multiple_of(2) { f64::midpoint(values[half - 1], values[half]) } else { values[half] }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sum of the squared deviations from the mean, 0 if that is rounding.
fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    let sum: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    if sum <= 1e-18 * values.len() as f64 * mean * mean { 0.0 } else { sum }
}

pub fn course(values: &[f64]) -> Option<Course> {
    let n = values.len();
    if n < 2 || mean(values) == 0.0 {
        return None;
    }
    let (mut slopes, mut pairs) = (Vec::new(), 0i32);
    for i in 0..n {
        for j in i + 1..n {
            slopes.push((values[j] - values[i]) / (j - i) as f64);
            pairs += i32::from(values[j] > values[i]) - i32::from(values[j] < values[i]);
        }
    }
    let slope = median(slopes);
    let rest: Vec<f64> = (0..n).map(|i| values[i] - i as f64 * slope).collect();
    let middle = mean(&rest);
    let both: f64 = (1..n).map(|i| (rest[i - 1] - middle) * (rest[i] - middle)).sum();
    let r = if squares(&rest) == 0.0 { 0.0 } else { (both / squares(&rest)).max(0.0) };
    let n = n as f64;
    let effective = n * (1.0 - r) / (1.0 + r);
    let variance = n * (n - 1.0) * (2.0 * n + 5.0) / 18.0 * n / effective;
    let drift = n * slope / mean(values);
    let score = (f64::from(pairs.abs()) - 1.0) / variance.sqrt();
    Some(Course { drift, effective, drifts: score > 3.291 && drift.abs() > 0.05 })
}

/// How many of some values MSER-5 leaves out.
pub fn left_out(values: &[f64]) -> usize {
    let batches: Vec<f64> = values.chunks_exact(5).map(mean).collect();
    let k = batches.len();
    let error = |d: usize| squares(&batches[d..]) / ((k - d) * (k - d)) as f64;
    let errors: Vec<f64> = (0..=k / 2).filter(|&d| d < k).map(error).collect();
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    5 * errors.iter().position(|&error| error <= least).unwrap_or(0)
}

impl Run<'_> {
    /// The equal parts of the window.
    fn equal_parts(&self, count: u32) -> Vec<Span> {
        let window = self.window();
        let length = (window.end - window.first) / 100 * (100 / count);
        let part = |number: u32| {
            let first = window.first + number * length;
            Span { first, end: first + length }
        };
        (0..count).map(part).collect()
    }

    /// What the source of a node does not get into the network: packets, and cycles in which it stood still.
    pub fn shortfalls(&self, node: u32) -> [Shortfall; 2] {
        let tenths = self.equal_parts(10);
        let is_own = |life: &&Life| life.trace.source == node && life.requested.is_none();
        let lives: Vec<&Life> = self.record.lives.iter().filter(is_own).collect();
        let count = |holds: &dyn Fn(&Life) -> bool| lives.iter().filter(|life| holds(life)).count() as f64;
        let queued = |life: &Life| life.generated().or(life.came_back);
        let generated = |tenth: &Span| count(&|life| queued(life).is_some_and(|at| tenth.holds(at)));
        let injected = |tenth: &Span| count(&|life| self.injected(life).is_some_and(|at| tenth.holds(at)));
        let cycles = &self.record.stood_still[node as usize];
        let stood = |tenth: &Span| cycles.iter().filter(|&&cycle| tenth.holds(cycle)).count() as f64;
        [
            Shortfall {
                tenths: tenths.iter().map(|tenth| generated(tenth) - injected(tenth)).collect(),
                offered: tenths.iter().map(generated).sum::<f64>() / 10.0,
            },
            Shortfall { tenths: tenths.iter().map(stood).collect(), offered: tenths[0].cycles() },
        ]
    }

    /// Whether a node of a job that offers a load falls behind by itself.
    pub fn falls_behind(&self, node: u32) -> bool {
        let job = self.plan.system.job_at(node as usize).filter(|job| job.synchronised().is_none());
        job.is_some_and(|job| self.source(job, node).falls_behind())
    }

    /// Whether a job has sources that stand still without being in step.
    fn stands_still(&self, job: &JobPlan) -> bool {
        let Some(traffic) = job.traffic() else { return false };
        let waits = self.plan.system.nic.when_full == WhenFull::Wait || traffic.process.waits();
        waits && self.plan.system.nic.source_queue < u32::MAX && traffic.process.synchronised().is_none()
    }

    /// Mean length of the packets of a node of a job.
    fn mean_length(&self, job: &JobPlan, node: u32) -> f64 {
        if job.program().is_some() {
            return f64::from(job.longest_packet());
        }
        lengths::mean(&lengths::of_job(self.plan, self.plan.system.job_of[node as usize].into()))
    }

    /// The source of a node of a job.
    fn source(&self, job: &JobPlan, node: u32) -> Source {
        let [packets, stood] = self.shortfalls(node);
        Source {
            node,
            drew: Some(10.0 * packets.offered),
            waits: packets,
            weight: self.mean_length(job, node),
            stood: self.plan.system.jobs.iter().any(|job| self.stands_still(job)).then_some(stood),
        }
    }

    /// The sources of some jobs that offer a load; `None` if there are none.
    fn sources(&self, jobs: &[usize]) -> Option<Vec<Source>> {
        let plans = jobs.iter().map(|&job| &self.plan.system.jobs[job]);
        let open: Vec<&JobPlan> = plans.filter(|job| job.synchronised().is_none()).collect();
        let of_job = |job: &&JobPlan| {
            let senders = job.nodes().iter().filter(|&&node| job.sends(node));
            senders.map(|&node| self.source(job, node)).collect::<Vec<_>>()
        };
        (!open.is_empty()).then(|| open.iter().flat_map(of_job).collect())
    }

    /// What the verdict on some jobs is made of.
    pub fn observed(&self, jobs: &[usize]) -> Observed {
        let parts = self.equal_parts(100);
        let of_part = |&part: &Span| {
            let lives = self.delivered_in(jobs, part);
            Part {
                latencies: lives.iter().map(|life| f64::from(life.latency())).collect(),
                load: lives.iter().map(|life| f64::from(life.length)).sum(),
            }
        };
        Observed {
            sources: self.sources(jobs),
            parts: parts.iter().map(of_part).collect(),
            length: parts[0].cycles(),
            window: self.window().cycles(),
        }
    }

    /// The columns of the verdict on some jobs.
    pub fn verdict(&self, jobs: &[usize]) -> Map<String, Value> {
        let observed = self.observed(jobs);
        let node_cycles = self.nodes_of(jobs) * 10.0 * observed.length;
        observed.columns(&Names {
            growth: ("backlog_growth", node_cycles),
            transient: "transient_cycles",
            missing: "missing_cycles",
            time: 1.0,
        })
    }
}

/// One of the equal parts of a window.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Latencies of the packets delivered in the part.
    pub latencies: Vec<f64>,
    /// Total length of the packets delivered in the part.
    pub load: f64,
}

/// What a verdict is made of.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The sources that offer a load, if there are any.
    pub sources: Option<Vec<Source>>,
    /// The 100 parts of the window.
    pub parts: Vec<Part>,
    /// Length of one of the parts.
    pub length: f64,
    /// Length of the window.
    pub window: f64,
}

/// Names of the columns with a unit, and what counts and times are divided by.
pub struct Names {
    /// The name of the growth of the backlog, and what it is divided by.
    pub growth: (&'static str, f64),
    /// The name of the transient.
    pub transient: &'static str,
    /// The name of what is missing.
    pub missing: &'static str,
    /// What the transient and what is missing are divided by.
    pub time: f64,
}

impl Observed {
    /// What is delivered in each part.
    pub fn loads(&self) -> Vec<f64> {
        self.parts.iter().map(|part| part.load).collect()
    }

    /// The mean latencies of the parts with packets, with the numbers of these.
    pub fn latencies(&self) -> (Vec<u32>, Vec<f64>) {
        let busy = (0..).zip(&self.parts).filter(|(_, part)| !part.latencies.is_empty());
        busy.map(|(number, part)| (number, mean(&part.latencies))).unzip()
    }

    /// The columns of the verdict.
    pub fn columns(&self, names: &Names) -> Map<String, Value> {
        let sources = self.sources.as_deref().filter(|_| self.length > 0.0).map(Sources::new);
        let (busy, latencies) = self.latencies();
        let (latency, load) = (course(&latencies), course(&self.loads()));
        let transient = latency.as_ref().map(|_| f64::from(busy[left_out(&latencies)]) * self.length);
        let packets: usize = self.parts.iter().map(|part| part.latencies.len()).sum();
        let effective = latency.as_ref().map_or(0.0, |course| course.effective);
        let may = sources.as_ref().map_or(0.0, |all| all.may_fall_behind);
        let lacks = [100.0 / packets as f64, 50.0 / busy.len() as f64, 10.0 / effective, may * may];
        let q = lacks.into_iter().fold(0.0, f64::max);
        let (verdict, missing) = if sources.as_ref().is_some_and(|all| all.fall_behind) {
            ("saturated", None)
        } else if [&latency, &load].into_iter().flatten().any(|course| course.drifts) {
            let warmup = transient.filter(|&time| time > 0.0 && time < 50.0 * self.length);
            ("not converged", Some(warmup.unwrap_or(self.window)))
        } else if q > 1.0 {
            ("too few samples", Some((self.window * (q - 1.0)).ceil()))
        } else {
            ("steady", Some(0.0))
        };
        let mut record = sources_columns(sources.as_ref(), names.growth);
        let mut put = |key: &str, value: Option<f64>| record.insert(key.to_owned(), number(value));
        put("packet_latency_drift", latency.as_ref().map(|course| course.drift));
        put("accepted_load_drift", load.map(|course| course.drift));
        put("packet_latency_effective_samples", latency.map(|course| course.effective));
        put(names.missing, missing.map(|time| time / names.time));
        put(names.transient, transient.map(|time| time / names.time));
        record.insert("verdict".into(), verdict.into());
        record
    }
}

/// The columns that are about sources.
fn sources_columns(sources: Option<&Sources>, (key, scale): (&str, f64)) -> Map<String, Value> {
    let growth: Option<Vec<f64>> =
        sources.map(|all| all.waits.tenths.iter().map(|grown| grown / scale).collect());
    let stalled = sources.and_then(|all| all.stood.as_ref()).map(|stood| stood.mean() / stood.offered);
    Map::from_iter([
        (key.to_owned(), number(growth.as_deref().map(mean))),
        (format!("{key}_ci95"), number(growth.as_deref().and_then(half_width))),
        ("source_stall_fraction".to_owned(), number(stalled)),
        ("nodes_falling_behind".to_owned(), sources.map_or(Value::Null, |all| all.nodes_behind.into())),
    ])
}

fn number(value: Option<f64>) -> Value {
    value.filter(|value| value.is_finite()).map_or(Value::Null, Value::from)
}

/// Several sources together.
struct Sources {
    /// The shortfall of what waits at all sources.
    waits: Shortfall,
    /// The shortfall of time in which sources stood still, if any may.
    stood: Option<Shortfall>,
    /// Nodes with a source that falls behind by itself.
    nodes_behind: usize,
    /// Whether some sources fall behind, alone or together.
    fall_behind: bool,
    /// How many times over the sources may fall behind.
    may_fall_behind: f64,
}

impl Sources {
    fn new(all: &[Source]) -> Self {
        let mut waits = Shortfall::none();
        for source in all {
            waits.add(&source.waits, source.weight);
        }
        let mut stood = all.iter().any(|source| source.stood.is_some()).then(Shortfall::none);
        if let Some(sum) = &mut stood {
            all.iter().filter_map(|source| source.stood.as_ref()).for_each(|stood| sum.add(stood, 1.0));
        }
        let mut behind: Vec<u32> =
            all.iter().filter(|source| source.falls_behind()).map(|source| source.node).collect();
        behind.sort_unstable();
        behind.dedup();
        let mut times: Vec<f64> = all.iter().map(Source::times).collect();
        times.sort_by(|one, other| other.total_cmp(one));
        let of_one = times.get(times.len() / 100).copied().unwrap_or(0.0);
        let of_stood = stood.as_ref().map_or(0.0, |stood| stood.times(0.01));
        Self {
            nodes_behind: behind.len(),
            fall_behind: !behind.is_empty()
                || waits.falls_behind(0.005)
                || stood.as_ref().is_some_and(|stood| stood.falls_behind(0.005)),
            may_fall_behind: [waits.times(0.01), of_stood, of_one].into_iter().fold(0.0, f64::max),
            waits,
            stood,
        }
    }
}
