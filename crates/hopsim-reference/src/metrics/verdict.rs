//! What a point is worth: *Verdict* under *Measurement* in `docs/model.md`.

use super::interval::half_width;
use super::{Run, Span};
use crate::Life;
use hopsim_core::config::WhenFull;
use hopsim_core::plan::JobPlan;
use serde_json::{Map, Value};

/// What does not get into the network in each tenth, and what is offered in one.
pub struct Shortfall {
    pub tenths: Vec<f64>,
    offered: f64,
}

impl Shortfall {
    fn none() -> Self {
        Self { tenths: vec![0.0; 10], offered: 0.0 }
    }

    /// Adds that of a node, so many times.
    fn add(&mut self, node: Self, times: f64) {
        self.offered += times * node.offered;
        self.tenths.iter_mut().zip(node.tenths).for_each(|(sum, one)| *sum += times * one);
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

    /// A share of the packets of a node that is more than their spread.
    fn share(&self, least: f64) -> f64 {
        f64::max(least, 2.0 / (10.0 * self.offered).sqrt())
    }

    /// How many times over it may fall behind.
    fn times(&self, g: f64) -> f64 {
        let most = self.mean() + 2.821 * self.error();
        if most <= 0.0 { 0.0 } else { most / (g * self.offered) }
    }
}

/// Values in the order of time.
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
        let generated = |tenth: &Span| count(&|life| tenth.holds(life.trace.generated));
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
        let Some(job) = self.plan.job_at(node as usize).filter(|job| job.synchronised().is_none()) else {
            return false;
        };
        let [packets, stood] = self.shortfalls(node);
        packets.falls_behind(packets.share(0.02)) || (self.stands_still(job) && stood.falls_behind(0.02))
    }

    /// Whether a job has sources that stand still without being in step.
    fn stands_still(&self, job: &JobPlan) -> bool {
        let Some(traffic) = job.traffic() else { return false };
        let waits = self.plan.nic.when_full == WhenFull::Wait || traffic.process.waits();
        waits && self.plan.nic.source_queue < u32::MAX && traffic.process.synchronised().is_none()
    }

    /// The sources of some jobs that offer a load; `None` if there are none, or no tenths.
    fn sources(&self, jobs: &[usize]) -> Option<Sources> {
        let plans = jobs.iter().map(|&job| &self.plan.jobs[job]);
        let open: Vec<&JobPlan> = plans.filter(|job| job.synchronised().is_none()).collect();
        if open.is_empty() || self.window().cycles() < 100.0 {
            return None;
        }
        let mut all =
            Sources { packets: Shortfall::none(), stood: Shortfall::none(), behind: 0, times: Vec::new() };
        for job in open {
            let senders = job.nodes().iter().filter(|&&node| job.sends(node));
            for &node in senders {
                let [packets, stood] = self.shortfalls(node);
                all.behind += u32::from(self.falls_behind(node));
                let of_stood = if self.stands_still(job) { stood.times(0.1) } else { 0.0 };
                all.times.push(f64::max(packets.times(packets.share(0.1)), of_stood));
                all.packets.add(packets, f64::from(job.longest_packet()));
                all.stood.add(stood, 1.0);
            }
        }
        Some(all)
    }

    /// The phits delivered in each part.
    pub fn phits(&self, jobs: &[usize]) -> Vec<f64> {
        let phits = |part| self.delivered_in(jobs, part).iter().map(|life| f64::from(life.length)).sum();
        self.equal_parts(100).into_iter().map(phits).collect()
    }

    /// The mean latencies of the parts with packets, with the numbers of these.
    pub fn latencies(&self, jobs: &[usize]) -> (Vec<u32>, Vec<f64>) {
        let mut found = (Vec::new(), Vec::new());
        for (number, part) in self.equal_parts(100).into_iter().enumerate() {
            let lives = self.delivered_in(jobs, part);
            let sum: u64 = lives.iter().map(|life| u64::from(life.latency())).sum();
            if !lives.is_empty() {
                found.0.push(number as u32);
                found.1.push(sum as f64 / lives.len() as f64);
            }
        }
        found
    }

    /// The columns of the verdict on some jobs.
    pub fn verdict(&self, jobs: &[usize]) -> Map<String, Value> {
        let (parts, cycles) = (self.equal_parts(100), self.window().cycles());
        let length = parts[0].end - parts[0].first;
        let sources = self.sources(jobs);
        let (busy, latencies) = self.latencies(jobs);
        let delivered: Vec<Vec<&Life>> = parts.iter().map(|&part| self.delivered_in(jobs, part)).collect();
        let (latency, load) = (course(&latencies), course(&self.phits(jobs)));
        let transient = latency.as_ref().map(|_| busy[left_out(&latencies)] * length);
        let packets: usize = delivered.iter().map(Vec::len).sum();
        let effective = latency.as_ref().map_or(0.0, |course| course.effective);
        let may = sources.as_ref().map_or(0.0, Sources::may_fall_behind);
        let lacks = [100.0 / packets as f64, 50.0 / busy.len() as f64, 10.0 / effective, may * may];
        let q = lacks.into_iter().fold(0.0, f64::max);
        let (verdict, missing) = if sources.as_ref().is_some_and(Sources::fall_behind) {
            ("saturated", None)
        } else if [&latency, &load].into_iter().flatten().any(|course| course.drifts) {
            let warmup = transient.filter(|&cycles| cycles > 0 && cycles < 50 * length);
            ("not converged", Some(warmup.map_or(cycles, f64::from)))
        } else if q > 1.0 {
            ("too few samples", Some((cycles * (q - 1.0)).ceil()))
        } else {
            ("steady", Some(0.0))
        };
        let node_cycles = self.nodes_of(jobs) * 10.0 * f64::from(length);
        let mut record = self.columns_of(sources, node_cycles);
        let mut put = |key: &str, value: Option<f64>| record.insert(key.to_owned(), number(value));
        put("packet_latency_drift", latency.as_ref().map(|course| course.drift));
        put("accepted_load_drift", load.map(|course| course.drift));
        put("packet_latency_effective_samples", latency.map(|course| course.effective));
        put("missing_cycles", missing);
        put("transient_cycles", transient.map(f64::from));
        record.insert("verdict".into(), verdict.into());
        record
    }

    /// The columns that are about sources, per so many cycles of nodes.
    fn columns_of(&self, sources: Option<Sources>, node_cycles: f64) -> Map<String, Value> {
        let waits = self.plan.jobs.iter().any(|job| self.stands_still(job));
        let growth = sources.as_ref().map(|all| &all.packets.tenths);
        let growth: Option<Vec<f64>> =
            growth.map(|all| all.iter().map(|phits| phits / node_cycles).collect());
        let stalled = sources.as_ref().filter(|_| waits).map(|all| all.stood.mean() / all.stood.offered);
        Map::from_iter([
            ("backlog_growth".to_owned(), number(growth.as_deref().map(mean))),
            ("backlog_growth_ci95".to_owned(), number(growth.as_deref().and_then(half_width))),
            ("source_stall_fraction".to_owned(), number(stalled)),
            ("nodes_falling_behind".to_owned(), sources.map_or(Value::Null, |all| all.behind.into())),
        ])
    }
}

fn number(value: Option<f64>) -> Value {
    value.filter(|value| value.is_finite()).map_or(Value::Null, Value::from)
}

/// The sources of some jobs.
struct Sources {
    /// What all of them do not get into the network \[phits\].
    packets: Shortfall,
    /// Cycles in which they stood still.
    stood: Shortfall,
    /// Nodes that fall behind by themselves.
    behind: u32,
    /// By node: how many times over it may fall behind.
    times: Vec<f64>,
}

impl Sources {
    fn fall_behind(&self) -> bool {
        self.behind > 0 || self.packets.falls_behind(0.01) || self.stood.falls_behind(0.01)
    }

    fn may_fall_behind(&self) -> f64 {
        let mut times = self.times.clone();
        times.sort_by(|one, other| other.total_cmp(one));
        let of_nodes = times.get(times.len() / 100).copied().unwrap_or(0.0);
        [self.packets.times(0.02), self.stood.times(0.02), of_nodes].into_iter().fold(0.0, f64::max)
    }
}
