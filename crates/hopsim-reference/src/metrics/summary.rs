//! The summary record, of all jobs and of each.

use super::interval::half_width;
use super::percentile::percentile;
use super::{Run, Span, mean};
use crate::Life;
use hopsim_cycles::jobs::JobPlan;
use hopsim_measure::{Column, Table};
use hopsim_traffic::packet_list::ListedPacket;
use serde_json::{Map, Value};

/// The keys of the record that say what a run cost and not what it measured: how often the engine asked its routing.
pub const COSTS: [&str; 1] = ["decisions_per_hop"];

type Means = Vec<(String, Option<f64>)>;

fn number(value: Option<f64>) -> Value {
    value.map_or(Value::Null, Value::from)
}

impl Run<'_> {
    /// The record of a job.
    pub fn summary_of_job(&self, job: usize) -> Map<String, Value> {
        let mut record = self.summary(&[job]);
        record.insert("job".into(), Value::from(self.plan.system.jobs[job].name()));
        record
    }

    /// The record of some jobs together.
    pub fn summary(&self, jobs: &[usize]) -> Map<String, Value> {
        let window = self.window();
        let mut record = Map::new();
        let of_parts = |parts: Vec<Span>| parts.into_iter().map(|part| self.means(jobs, part)).collect();
        let divisions: Vec<Vec<Means>> = self.divisions().into_iter().map(of_parts).collect();
        for (place, (name, value)) in self.means(jobs, window).into_iter().enumerate() {
            let width = |parts: &Vec<Means>| {
                let values: Option<Vec<f64>> = parts.iter().map(|part| part[place].1).collect();
                values.and_then(|values| half_width(&values))
            };
            let widths: Option<Vec<f64>> = divisions.iter().map(width).collect();
            let width = widths.map(|widths| widths.into_iter().fold(0.0, f64::max));
            record.insert(format!("{name}_ci95"), number(width));
            record.insert(name, number(value));
        }
        let delivered = self.delivered_in(jobs, window);
        let latencies: Vec<u32> = delivered.iter().map(|life| life.latency()).collect();
        record.insert("packet_latency_p50".into(), number(percentile(&latencies, 50)));
        record.insert("packet_latency_p99".into(), number(percentile(&latencies, 99)));
        let least = latencies.iter().min().map(|&latency| f64::from(latency));
        record.insert("packet_latency_min".into(), number(least));
        let greatest = latencies.iter().max().map(|&latency| f64::from(latency));
        record.insert("packet_latency_max".into(), number(greatest));
        for (name, value) in self.fairness(jobs) {
            record.insert(name.into(), number(value));
        }
        for (name, count) in self.counts(jobs) {
            record.insert(name.into(), count.into());
        }
        record.insert("offered_load".into(), number(self.offered_load(jobs)));
        record.extend(self.verdict(jobs));
        record.insert("warmup_cycles".into(), self.window().first.into());
        for key in ["warmup_found", "stop", "stop_relative_ci", "stop_attempts"] {
            record.insert(key.into(), Value::Null);
        }
        record.extend(self.bursts(jobs));
        record
    }

    fn counts(&self, jobs: &[usize]) -> [(&'static str, u64); 7] {
        let (window, measure) = (self.window(), &self.plan.experiment.measure);
        let dropped = |life: &&Life| life.dropped;
        let count = |lives: Vec<&Life>| lives.len() as u64;
        [
            ("packets_generated", count(self.generated_in(jobs, window))),
            ("packets_dropped", self.generated_in(jobs, window).into_iter().filter(dropped).count() as u64),
            ("packets_injected", count(self.injected_in(jobs, window))),
            ("packets_delivered", count(self.delivered_in(jobs, window))),
            ("nodes", self.nodes_of(jobs) as u64),
            ("cycles", measure.cycles.into()),
            ("seed", measure.seed),
        ]
    }

    fn lives_of(&self, jobs: &[usize], holds: impl Fn(&Life) -> bool) -> Vec<&Life> {
        let lives = self.record.lives.iter();
        lives.filter(|life| jobs.contains(&life.job(self.plan)) && holds(life)).collect()
    }

    pub fn generated_in(&self, jobs: &[usize], span: Span) -> Vec<&Life> {
        self.lives_of(jobs, |life| life.generated().is_some_and(|at| span.holds(at)))
    }

    pub fn injected_in(&self, jobs: &[usize], span: Span) -> Vec<&Life> {
        self.lives_of(jobs, |life| self.injected(life).is_some_and(|at| span.holds(at)))
    }

    pub fn delivered_in(&self, jobs: &[usize], span: Span) -> Vec<&Life> {
        self.lives_of(jobs, |life| life.trace.delivered.is_some_and(|at| span.holds(at)))
    }

    /// The means over a part of the window.
    fn means(&self, jobs: &[usize], span: Span) -> Means {
        let delivered = self.delivered_in(jobs, span);
        let load = |lives: &[&Life]| {
            let phits: u64 = lives.iter().map(|life| u64::from(life.length)).sum();
            Some(phits as f64 / (self.nodes_of(jobs) * span.cycles()))
        };
        let mean_of = |value: &dyn Fn(&Life) -> u32| {
            mean(&delivered.iter().map(|life| value(life)).collect::<Vec<u32>>())
        };
        let share = |place: usize| mean_of(&|life| u32::from(self.misrouted(life) == Some(place)));
        let base = mean_of(&|life| self.base_latency(life));
        let path = mean_of(&|life| self.path_latency(life));
        let mut means: Vec<(&str, Option<f64>)> = vec![
            ("accepted_load", load(&delivered)),
            ("generated_load", load(&self.generated_in(jobs, span))),
            ("injected_load", load(&self.injected_in(jobs, span))),
            ("packet_latency_mean", mean_of(&|life| life.latency())),
            ("injection_latency_mean", mean_of(&|life| self.injection_latency(life))),
            ("network_latency_mean", mean_of(&|life| life.latency() - self.injection_latency(life))),
            ("base_latency_mean", base),
            ("misrouting_latency_mean", path.zip(base).map(|(path, base)| path - base)),
            ("misrouted_fraction", mean_of(&|life| u32::from(self.misrouted(life).is_some()))),
            ("misrouted_at_injection_fraction", share(0)),
            ("misrouted_in_source_group_fraction", share(1)),
            ("misrouted_in_intermediate_group_fraction", share(2)),
            ("misrouted_in_destination_group_fraction", share(3)),
            ("hops_mean", mean_of(&|life| self.hops(life))),
        ];
        if jobs.iter().any(|&job| JobPlan::request_reply(&self.plan.system.jobs[job])) {
            let (requests, replies): (Vec<&Life>, Vec<&Life>) = delivered
                .iter()
                .filter(|life| life.is_of_dialogue(self.plan))
                .partition(|life| life.requested.is_none());
            let latencies = |lives: &[&Life]| lives.iter().map(|life| life.latency()).collect::<Vec<u32>>();
            let response = |life: &&Life| life.requested.map(|at| life.latency() + life.trace.generated - at);
            means.extend([
                ("request_accepted_load", load(&requests)),
                ("reply_accepted_load", load(&replies)),
                ("request_latency_mean", mean(&latencies(&requests))),
                ("reply_latency_mean", mean(&latencies(&replies))),
                ("response_latency_mean", mean(&replies.iter().filter_map(response).collect::<Vec<u32>>())),
            ]);
        }
        let mut means: Means = means.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        means.extend(self.misrouted_over(&delivered));
        for (class, name) in self.plan.system.topology.link_classes().iter().enumerate() {
            means.push((
                format!("{name}_queue_latency_mean"),
                mean_of(&|life| self.queue_latency(life)[class]),
            ));
            means.push((format!("{name}_hops_mean"), mean_of(&|life| self.links(life)[class])));
        }
        means
    }

    /// The shares of some packets by the classes of the links of their nonminimal hops.
    fn misrouted_over(&self, delivered: &[&Life]) -> Means {
        let classes = self.plan.system.topology.link_classes();
        let mut wanted: Vec<(String, Vec<usize>)> =
            classes.iter().enumerate().map(|(class, &name)| (name.to_owned(), vec![class])).collect();
        if let [first, second] = classes {
            wanted.push((format!("{first}_and_{second}"), vec![0, 1]));
        }
        let share = |classes: &[usize]| {
            mean(
                &delivered
                    .iter()
                    .map(|life| u32::from(self.nonminimal(life) == classes))
                    .collect::<Vec<u32>>(),
            )
        };
        wanted
            .iter()
            .map(|(name, classes)| (format!("misrouted_over_{name}_fraction"), share(classes)))
            .collect()
    }

    /// The load that the document states, its mean over the nodes of some jobs and the window.
    fn offered_load(&self, jobs: &[usize]) -> Option<f64> {
        let mut sum = 0.0;
        for &job in jobs {
            sum += self.offered_load_of(job)? * self.plan.system.jobs[job].nodes().len() as f64;
        }
        Some(sum / self.nodes_of(jobs))
    }

    fn offered_load_of(&self, job: usize) -> Option<f64> {
        let name = self.plan.system.jobs[job].name();
        let written = self.plan.experiment.jobs.iter().find(|job| job.name.as_deref() == Some(name))?;
        let traffic = written.traffic.as_ref()?;
        if let Some(list) = &traffic.packet_list {
            let window = self.window();
            let within =
                |packet: &&ListedPacket| (window.first..window.end).contains(&(written.start + packet.cycle));
            let lengths = list.packets().iter().filter(within).map(|p| p.length.or(traffic.packet_length));
            let phits: f64 = lengths.flatten().map(f64::from).sum();
            return Some(phits / window.cycles() / self.plan.system.jobs[job].nodes().len() as f64);
        }
        let mut load = if traffic.node_loads.are_equal() {
            (*traffic.process.clone().load_mut()?)?
        } else {
            self.plan.system.traffic(job).load
        };
        let mut sum = 0.0;
        for cycle in self.window().first..self.window().end {
            let change = traffic.changes.iter().find(|change| change.cycle == cycle);
            load = change.and_then(|change| change.load).unwrap_or(load);
            sum += if cycle < written.start { 0.0 } else { load };
        }
        Some(sum / self.window().cycles())
    }

    /// The synchronised bursts that begin and end in the window.
    fn bursts(&self, jobs: &[usize]) -> Map<String, Value> {
        let mut record = Map::new();
        let mut lengths = Vec::new();
        let mut any = false;
        for &job in jobs {
            let plan = &self.plan.system.jobs[job];
            let Some(packets) = plan.synchronised() else { continue };
            any = true;
            let senders = plan.nodes().iter().filter(|&&node| plan.sends(node)).count();
            lengths.extend(self.burst_lengths(job, packets as usize * senders));
        }
        if any {
            let mean = (!lengths.is_empty()).then(|| lengths.iter().sum::<f64>() / lengths.len() as f64);
            record.insert("bursts_completed".into(), lengths.len().into());
            record.insert("cycles_per_burst".into(), number(mean));
            record.insert("cycles_per_burst_ci95".into(), number(half_width(&lengths)));
        }
        record
    }

    /// Lengths of the bursts of a job: each ends when its last packet of so many has been consumed, and the next one begins then.
    fn burst_lengths(&self, job: usize, packets: usize) -> Vec<f64> {
        let end = |life: &Life| life.trace.delivered.map(|at| at + life.length);
        let mut ends: Vec<u32> = self.lives_of(&[job], |_| true).into_iter().filter_map(end).collect();
        ends.sort_unstable();
        let mut lengths = Vec::new();
        let mut begin = self.plan.system.traffic(job).start;
        for burst in ends.chunks_exact(packets.max(1)) {
            let last = burst[packets - 1];
            if begin >= self.window().first && last <= self.window().end {
                lengths.push(f64::from(last - begin));
            }
            begin = last;
        }
        lengths
    }

    /// The means of every batch.
    pub fn batches_table(&self, jobs: &[usize]) -> Table {
        let batches = self.batches();
        let mut table: Table = vec![
            ("batch".into(), Column::U32((0..batches.len() as u32).collect())),
            ("first_cycle".into(), Column::U32(batches.iter().map(|batch| batch.first).collect())),
        ];
        let means: Vec<Means> = batches.into_iter().map(|batch| self.means(jobs, batch)).collect();
        for (place, (name, _)) in means[0].iter().enumerate() {
            let values = means.iter().map(|batch| batch[place].1.unwrap_or(f64::NAN)).collect();
            table.push((name.clone(), Column::F64(values)));
        }
        table
    }
}
