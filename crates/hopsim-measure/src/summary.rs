//! The summary record: one flat row of metrics per point, and per job.
//!
//! Loads are in phits/(node·cycle) over the nodes of the jobs, latencies in cycles. Means are over the packets
//! delivered in the window; `…_ci95` is the half width of their 95 % confidence interval over the batches.
//! `offered_load` is the configured load (its mean over the window if it changes), `generated_load` what the sources drew
//! and the replies.

use super::Counts;
use super::batches;
use super::evidence;
use super::places::Places;
use super::recorder::{Recorder, Totals};
use super::statistics::{half_width_95, jain, mean, variation};
use super::stop;
use super::verdict::{self, Verdict};
use hdrhistogram::Histogram;
use hopsim_cycles::choices::HopCount;
use hopsim_experiment::plan::Plan;
use hopsim_experiment::plan::means::{Mean, means};
use serde_json::{Map, Value};

/// The metrics of some jobs together.
pub struct Figures<'a> {
    plan: &'a Plan,
    recorder: &'a Recorder,
    places: &'a Places,
    decisions_per_hop: f64,
    /// Jobs covered.
    jobs: Vec<usize>,
    nodes: f64,
}

fn number(value: Option<f64>) -> Value {
    value.filter(|v| v.is_finite()).map_or(Value::Null, Value::from)
}

/// Totals of one batch (or all).
#[derive(Clone, Default)]
struct Sum {
    totals: Totals,
    /// Phits of the delivered requests and replies, and how many packets and what latency the requests had.
    request_phits: u64,
    reply_phits: u64,
    requests: u64,
    request_latency: u64,
    /// Routers that count as hops of a packet beyond the links: 1 or 0.
    routers: f64,
    cycles: u32,
}

impl Sum {
    /// Adds some packets, requests and replies if they are `answered`.
    fn add(&mut self, totals: &Totals, answered: bool) {
        if answered {
            self.requests += totals.delivered - totals.replies.delivered;
            self.request_phits += totals.phits.delivered - totals.phits.replies;
            self.reply_phits += totals.phits.replies;
            self.request_latency += totals.latency - totals.replies.latency;
        }
        self.totals.add(totals);
    }

    /// Adds another batch.
    fn append(&mut self, batch: &Self) {
        self.totals.add(&batch.totals);
        self.request_phits += batch.request_phits;
        self.reply_phits += batch.reply_phits;
        self.requests += batch.requests;
        self.request_latency += batch.request_latency;
        self.routers = batch.routers;
        self.cycles += batch.cycles;
    }
}

fn ratio(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}

fn per_packet(sum: u64, totals: &Totals) -> Option<f64> {
    ratio(sum, totals.delivered)
}

fn per_node_cycle(phits: u64, sum: &Sum, nodes: f64) -> Option<f64> {
    (sum.cycles > 0 && nodes > 0.0).then(|| phits as f64 / (nodes * f64::from(sum.cycles)))
}

/// A mean of some batches together, of jobs with so many nodes; `None` if nothing is there to average over.
fn value(mean: Mean, sum: &Sum, nodes: f64) -> Option<f64> {
    let totals = &sum.totals;
    match mean {
        Mean::AcceptedLoad => per_node_cycle(totals.phits.delivered, sum, nodes),
        Mean::GeneratedLoad => per_node_cycle(totals.phits.generated, sum, nodes),
        Mean::InjectedLoad => per_node_cycle(totals.phits.injected, sum, nodes),
        Mean::PacketLatency => per_packet(totals.latency, totals),
        Mean::InjectionLatency => per_packet(totals.injection, totals),
        Mean::NetworkLatency => per_packet(totals.latency - totals.injection, totals),
        Mean::BaseLatency => per_packet(totals.base, totals),
        // A detour can be shorter than the minimal path in cycles, hence the signed difference.
        Mean::MisroutingLatency => Some(per_packet(totals.path, totals)? - per_packet(totals.base, totals)?),
        Mean::Misrouted => per_packet(totals.misrouted.iter().sum(), totals),
        Mean::MisroutedOver(set) => per_packet(totals.nonminimal[set], totals),
        Mean::MisroutedAt(place) => per_packet(totals.misrouted[place], totals),
        Mean::Hops => per_packet(totals.hops.iter().sum(), totals).map(|links| links + sum.routers),
        Mean::QueueLatency(class) => per_packet(totals.queues[class], totals),
        Mean::ClassHops(class) => per_packet(totals.hops[class], totals),
        Mean::RequestAcceptedLoad => per_node_cycle(sum.request_phits, sum, nodes),
        Mean::ReplyAcceptedLoad => per_node_cycle(sum.reply_phits, sum, nodes),
        Mean::RequestLatency => ratio(sum.request_latency, sum.requests),
        Mean::ReplyLatency => ratio(totals.replies.latency, totals.replies.delivered),
        Mean::ResponseLatency => ratio(totals.replies.response, totals.replies.delivered),
    }
}

impl<'a> Figures<'a> {
    /// The metrics of the jobs in `jobs` together.
    pub fn new(plan: &'a Plan, counts: &'a Counts, jobs: Vec<usize>) -> Self {
        let nodes = jobs.iter().map(|&j| plan.system.jobs[j].nodes().len()).sum::<usize>() as f64;
        let decisions_per_hop = counts.decisions as f64 / counts.packet_hops as f64;
        Self { plan, recorder: &counts.recorder, places: &counts.places, decisions_per_hop, jobs, nodes }
    }

    fn batch(&self, batch: u32) -> Sum {
        let (first, end) = self.recorder.batch_bounds(batch);
        let routers = self.plan.experiment.semantics.hop_count == Some(HopCount::Routers);
        let routers = if routers { 1.0 } else { 0.0 };
        let mut sum = Sum { cycles: end - first, routers, ..Sum::default() };
        for &job in &self.jobs {
            let totals = &self.recorder.totals[batch as usize * self.plan.system.jobs.len() + job];
            sum.add(totals, self.plan.system.jobs[job].request_reply());
        }
        sum
    }

    fn batches(&self) -> Vec<Sum> {
        (0..self.plan.experiment.measure.batches).map(|b| self.batch(b)).collect()
    }

    /// Every mean of every batch: `(name, values)`, for the table of batches.
    pub fn batch_means(&self) -> Vec<(String, Vec<f64>)> {
        let batches = self.batches();
        let of_batches = |mean: Mean| {
            batches.iter().map(|batch| value(mean, batch, self.nodes).unwrap_or(f64::NAN)).collect()
        };
        self.means().into_iter().map(|(name, mean)| (name, of_batches(mean))).collect()
    }

    /// The means that these jobs have, with their names.
    fn means(&self) -> Vec<(String, Mean)> {
        let classes = self.plan.system.network.link_classes;
        means(self.plan, &self.jobs).into_iter().map(|mean| (mean.name(classes), mean)).collect()
    }

    /// The summary record.
    pub fn summary(&self) -> Map<String, Value> {
        let levels = batches::levels(self.batches(), Sum::append);
        let mut all = Sum::default();
        levels[0].iter().for_each(|batch| all.append(batch));
        let mut record = Map::new();
        record.insert("offered_load".into(), number(self.offered_load()));
        for (name, mean) in self.means() {
            let width = batches::half_width(&levels, |batch| value(mean, batch, self.nodes));
            record.insert(name.clone(), number(value(mean, &all, self.nodes)));
            record.insert(format!("{name}_ci95"), number(width));
        }
        self.add_percentiles(&mut record, &all.totals);
        self.add_fairness(&mut record);
        self.add_counts(&mut record, &all);
        let evidence = evidence::evidence(self.plan, self.recorder, self.places, &self.jobs);
        let verdict = evidence.as_ref().map(Verdict::new);
        record.extend(verdict::columns(verdict.as_ref(), &evidence::units(self.recorder, self.nodes)));
        record.extend(stop::columns(self.plan));
        self.add_bursts(&mut record);
        self.add_programs(&mut record);
        record
    }

    /// Synchronised bursts of the jobs, if they have them.
    fn add_bursts(&self, record: &mut Map<String, Value>) {
        if self.jobs.iter().all(|&job| self.plan.system.jobs[job].synchronised().is_none()) {
            return;
        }
        let lengths = self.jobs.iter().flat_map(|&job| &self.recorder.bursts[job]);
        let lengths: Vec<f64> = lengths.map(|&cycles| f64::from(cycles)).collect();
        record.insert("bursts_completed".into(), lengths.len().into());
        record.insert("cycles_per_burst".into(), number(mean(&lengths)));
        record.insert("cycles_per_burst_ci95".into(), number(half_width_95(&lengths)));
    }

    /// What the programs of the jobs took; of several jobs the longest time.
    fn add_programs(&self, record: &mut Map<String, Value>) {
        let Some(counts) = &self.recorder.programs else { return };
        let programs = self.jobs.iter().filter_map(|&job| Some((job, self.plan.system.jobs[job].program()?)));
        record.extend(counts.summary(&programs.collect::<Vec<_>>()));
    }

    fn add_counts(&self, record: &mut Map<String, Value>, all: &Sum) {
        let totals = &all.totals;
        record.insert("packets_generated".into(), totals.generated.into());
        record.insert("packets_dropped".into(), totals.dropped.into());
        if !self.plan.experiment.faults.is_empty() {
            record.insert("packets_lost".into(), totals.lost.into());
        }
        if self.plan.system.nic.retransmit.is_some() {
            record.insert("retransmissions".into(), totals.retransmissions.into());
        }
        record.insert("packets_injected".into(), totals.injected.into());
        record.insert("packets_delivered".into(), totals.delivered.into());
        let redecides = self.plan.system.routing.redecides();
        let decisions = redecides.then_some(self.decisions_per_hop);
        record.insert("decisions_per_hop".into(), number(decisions));
        record.insert("nodes".into(), (self.nodes as u64).into());
        record.insert("cycles".into(), all.cycles.into());
        record.insert("seed".into(), self.plan.experiment.measure.seed.into());
    }

    fn offered_load(&self) -> Option<f64> {
        let window = self.recorder.window();
        let jobs = self.jobs.iter().map(|&job| &self.plan.system.jobs[job]);
        let sum: f64 = jobs.map(|job| job.offered_load(window) * job.nodes().len() as f64).sum();
        (self.nodes > 0.0).then(|| sum / self.nodes)
    }

    fn add_percentiles(&self, record: &mut Map<String, Value>, totals: &Totals) {
        let mut latencies = self.recorder.histograms[self.jobs[0]].clone();
        for &job in &self.jobs[1..] {
            latencies.add(&self.recorder.histograms[job]);
        }
        let histogram = latencies.histogram();
        let any = totals.delivered > 0;
        // Bars of the histogram are 0.1 % wide; the last one may reach beyond the greatest latency.
        let quantile =
            |h: &Histogram<u64>, q| any.then(|| h.value_at_quantile(q).min(totals.latency_max.into()) as f64);
        record.insert("packet_latency_min".into(), number(any.then(|| f64::from(totals.latency_min))));
        record.insert("packet_latency_p50".into(), number(quantile(&histogram, 0.5)));
        record.insert("packet_latency_p99".into(), number(quantile(&histogram, 0.99)));
        record.insert("packet_latency_max".into(), number(any.then(|| f64::from(totals.latency_max))));
    }

    /// Injected load of every node of the jobs that sends and of every router with such nodes, averaged over them.
    fn injection_loads(&self) -> (Vec<f64>, Vec<f64>) {
        let cycles = f64::from(self.recorder.cycles());
        let routers = self.plan.system.network.routers as usize;
        let (mut sums, mut counts) = (vec![0u64; routers], vec![0u32; routers]);
        let mut nodes = Vec::new();
        for &job in &self.jobs {
            for &node in self.plan.system.jobs[job]
                .nodes()
                .iter()
                .filter(|&&node| self.plan.system.jobs[job].sends(node))
            {
                let (_, phits) = self.places.injected[node as usize];
                let router = (node / self.plan.system.topology.nodes_per_router()) as usize;
                sums[router] += phits;
                counts[router] += 1;
                nodes.push(phits as f64 / cycles);
            }
        }
        let used = sums.iter().zip(&counts).filter(|&(_, &count)| count > 0);
        let routers = used.map(|(&sum, &count)| sum as f64 / (f64::from(count) * cycles));
        (nodes, routers.collect())
    }

    fn add_fairness(&self, record: &mut Map<String, Value>) {
        let (nodes, routers) = self.injection_loads();
        let least = |values: &[f64]| values.iter().copied().reduce(f64::min);
        let most = |values: &[f64]| values.iter().copied().reduce(f64::max);
        let (min, max) = (least(&routers), most(&routers));
        let ratio = max.zip(min).filter(|&(_, min)| min > 0.0).map(|(max, min)| max / min);
        for (name, value) in [
            ("router_injection_min", min),
            ("router_injection_max", max),
            ("router_injection_max_min_ratio", ratio),
            ("router_injection_cov", variation(&routers)),
            ("node_injection_min", least(&nodes)),
            ("node_injection_mean", mean(&nodes)),
            ("node_injection_max", most(&nodes)),
            ("node_injection_cov", variation(&nodes)),
            ("jain_index", jain(&nodes)),
        ] {
            record.insert(name.into(), number(value));
        }
    }
}
