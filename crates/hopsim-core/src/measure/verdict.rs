//! What a point is worth: whether it is steady, saturated, not converged, or has too few samples to say so.

use super::parts::{PARTS, PartTotals, Stalls, TENTHS};
use super::places::Places;
use super::recorder::Recorder;
use super::statistics::{half_width_95, mean};
use super::trend::{Trend, transient};
use crate::plan::{JobPlan, Plan, TrafficPlan};
use serde_json::{Map, Value};

/// What a growth must exceed in standard errors to be one: 99.9 % of Student's t with 9 degrees of freedom.
const SIGNIFICANT: f64 = 4.297;

/// Standard errors above a growth up to which it may be as well: 99 % of the same.
const POSSIBLE: f64 = 2.821;

/// Packets, parts with packets and independent values that it takes.
pub const FEWEST: [f64; 3] = [100.0, 50.0, 10.0];

/// Shares of what is offered by all nodes, and by one: what falls behind by less does not, and what may fall behind by more may
/// fall behind.
const ALL: [f64; 2] = [0.01, 0.02];
const ONE: [f64; 2] = [0.02, 0.1];

/// Standard errors of the number of packets that a node generates below which nobody can tell whether it falls behind.
const NOISE: f64 = 2.0;

/// Of so many nodes one may be unclear.
const NODES_PER_UNCLEAR: usize = 100;

/// The verdict where sources fall behind.
pub const SATURATED: &str = "saturated";

/// The verdict where nothing is wrong.
pub const STEADY: &str = "steady";

/// The verdict where latency or load drifts.
pub const NOT_CONVERGED: &str = "not converged";

/// A verdict, and why.
pub struct Verdict {
    name: &'static str,
    /// Tenths of the window: growth of the backlog of all nodes \[phits\].
    growth: Option<Vec<f64>>,
    stalled: Option<f64>,
    behind: Option<usize>,
    latency: Option<Trend>,
    load: Option<Trend>,
    transient: Option<u32>,
    missing: Option<f64>,
    /// Node cycles of a tenth.
    scale: f64,
}

/// What does not get into the network, by tenth, beside what is offered in a tenth.
struct Shortfall {
    mean: f64,
    error: f64,
    offered: f64,
}

impl Shortfall {
    fn new(tenths: &[f64], offered: f64) -> Self {
        let mean = mean(tenths).unwrap_or(0.0);
        let squares: f64 = tenths.iter().map(|value| (value - mean).powi(2)).sum();
        let n = tenths.len() as f64;
        Self { mean, error: (squares / (n - 1.0) / n).sqrt(), offered }
    }

    /// Whether sources fall behind by at least this share of what is offered.
    fn is_behind(&self, share: f64) -> bool {
        self.mean > share * self.offered && self.mean > SIGNIFICANT * self.error
    }

    /// How many times this share of what is offered they may fall behind by.
    fn possible(&self, share: f64) -> f64 {
        let most = self.mean + POSSIBLE * self.error;
        if most <= 0.0 { 0.0 } else { most / (share * self.offered) }
    }
}

/// What the source of a node cannot inject: packets, and cycles in which it stands still.
struct Source {
    packets: f64,
    waits: Shortfall,
    stands: Shortfall,
}

impl Source {
    fn new(places: &Places, node: usize, tenth: f64) -> Self {
        let (backlog, Stalls(stalls)) = (&places.backlogs[node], places.stalls_of(node));
        let packets = f64::from(backlog.generated);
        Self {
            packets,
            waits: Shortfall::new(&backlog.growth.map(f64::from), packets / TENTHS as f64),
            stands: Shortfall::new(&stalls.map(f64::from), tenth),
        }
    }

    fn is_behind(&self) -> bool {
        self.waits.is_behind(self.discernible(ONE[0])) || self.stands.is_behind(ONE[0])
    }

    /// How many times the share of what it offers that could be told it may fall behind by.
    fn possible(&self) -> f64 {
        self.waits.possible(self.discernible(ONE[1])).max(self.stands.possible(ONE[1]))
    }

    /// This share, or the least one that is more than the spread of its packets.
    fn discernible(&self, share: f64) -> f64 {
        share.max(NOISE / self.packets.sqrt())
    }
}

/// By node: whether its source falls behind, of those that offer a load; none where programs run.
pub fn nodes_behind(plan: &Plan, (recorder, places): (&Recorder, &Places)) -> Option<Vec<bool>> {
    let tenth = f64::from(recorder.parts.length()) * TENTHS as f64;
    let offers = |node| plan.job_at(node).and_then(JobPlan::traffic).is_some_and(is_open);
    let is_behind = |node| offers(node) && Source::new(places, node, tenth).is_behind();
    (!plan.has_programs()).then(|| (0..places.backlogs.len()).map(is_behind).collect())
}

/// Whether the nodes of a job offer a load, whatever becomes of it.
fn is_open(job: &TrafficPlan) -> bool {
    job.process.synchronised().is_none()
}

/// Whether the sources of jobs that offer a load keep up with it.
struct Sources {
    growth: Vec<f64>,
    stalled: Option<f64>,
    /// All of them together.
    is_behind: bool,
    /// Nodes that do not keep up by themselves.
    behind: usize,
    /// How many times the share that does not matter all of them, or a node, may fall behind by. What can be told grows with the
    /// square root of the window.
    possible: f64,
}

impl Sources {
    fn new(jobs: &[&TrafficPlan], places: &Places, tenth: f64) -> Self {
        let (mut growth, mut standing) = ([0i64; TENTHS], [0u64; TENTHS]);
        let (mut offered, mut senders, mut behind) = (0u64, 0, 0);
        let mut unclear: Vec<f64> = Vec::new();
        for job in jobs {
            for &node in job.nodes.iter().filter(|&&node| job.sends(node)) {
                let (backlog, Stalls(stalls)) =
                    (&places.backlogs[node as usize], places.stalls_of(node as usize));
                let length = job.packet_length;
                for tenth in 0..TENTHS {
                    growth[tenth] += i64::from(backlog.growth[tenth]) * i64::from(length);
                    standing[tenth] += u64::from(stalls[tenth]);
                }
                offered += u64::from(backlog.generated) * u64::from(length);
                senders += 1;
                let source = Source::new(places, node as usize, tenth);
                behind += usize::from(source.is_behind());
                unclear.push(source.possible());
            }
        }
        let (growth, standing) = (growth.map(|phits| phits as f64), standing.map(|cycles| cycles as f64));
        let cycles = f64::from(senders) * tenth;
        let all =
            [Shortfall::new(&growth, offered as f64 / TENTHS as f64), Shortfall::new(&standing, cycles)];
        unclear.sort_unstable_by(|one, other| other.total_cmp(one));
        let of_nodes = unclear.get(unclear.len() / NODES_PER_UNCLEAR).copied().unwrap_or(0.0);
        Self {
            growth: growth.to_vec(),
            stalled: (!places.stalls.is_empty()).then(|| all[1].mean / cycles),
            is_behind: all.iter().any(|all| all.is_behind(ALL[0])),
            behind,
            possible: all.iter().map(|all| all.possible(ALL[1])).fold(of_nodes, f64::max),
        }
    }
}

impl Verdict {
    /// That of some jobs together; of programs there is none.
    pub fn new(plan: &Plan, (recorder, places): (&Recorder, &Places), jobs: &[usize]) -> Option<Self> {
        if plan.has_programs() {
            return None;
        }
        let (tenth, nodes) = (f64::from(recorder.parts.length()) * TENTHS as f64, nodes(plan, jobs));
        let traffic = jobs.iter().filter_map(|&job| plan.jobs[job].traffic());
        let open: Vec<&TrafficPlan> = traffic.filter(|job| is_open(job)).collect();
        let sources = (!open.is_empty() && tenth > 0.0).then(|| Sources::new(&open, places, tenth));
        let parts = parts(plan, recorder, jobs);
        let latencies: Vec<f64> =
            parts.iter().map(|(_, part)| part.latency as f64 / part.delivered as f64).collect();
        let loads: Vec<f64> = (0..PARTS).map(|number| load(&parts, number)).collect();
        let (latency, load) = (Trend::of(&latencies), Trend::of(&loads));
        let length = recorder.parts.length();
        let transient =
            latency.map(|_| parts.get(transient(&latencies)).map_or(0, |(part, _)| part * length));
        let delivered: u64 = parts.iter().map(|(_, part)| part.delivered).sum();
        let effective = latency.map_or(0.0, |trend| trend.effective);
        let has = [delivered as f64, parts.len() as f64, effective];
        let longer = FEWEST.iter().zip(has).map(|(fewest, has)| fewest / has);
        let longer = longer.fold(sources.as_ref().map_or(0.0, |sources| sources.possible.powi(2)), f64::max);
        let has_drift = [latency, load].iter().flatten().any(Trend::is_drift);
        let cycles = f64::from(recorder.cycles());
        let (name, missing) = if sources.as_ref().is_some_and(|all| all.is_behind || all.behind > 0) {
            (SATURATED, None)
        } else if has_drift {
            let warmup = transient.filter(|&cycles| cycles > 0 && cycles < length * PARTS / 2);
            (NOT_CONVERGED, Some(warmup.map_or(cycles, f64::from)))
        } else if longer > 1.0 {
            ("too few samples", Some((cycles * (longer - 1.0)).ceil()))
        } else {
            (STEADY, Some(0.0))
        };
        Some(Self {
            name,
            growth: sources.as_ref().map(|sources| sources.growth.clone()),
            stalled: sources.as_ref().and_then(|sources| sources.stalled),
            behind: sources.as_ref().map(|sources| sources.behind),
            latency,
            load,
            transient,
            missing,
            scale: nodes * tenth,
        })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

/// Parts of the window with packets of some jobs.
pub fn parts(plan: &Plan, recorder: &Recorder, jobs: &[usize]) -> Vec<(u32, PartTotals)> {
    let all = recorder.by_part.chunks(plan.jobs.len());
    let sum = |row: &[PartTotals]| {
        let mut sum = PartTotals::default();
        for &job in jobs {
            sum.add(&row[job]);
        }
        sum
    };
    (0..).zip(all.map(sum)).filter(|(_, part)| part.delivered > 0).collect()
}

/// Phits delivered in a part.
pub fn load(parts: &[(u32, PartTotals)], number: u32) -> f64 {
    let found = parts.binary_search_by_key(&number, |&(number, _)| number);
    found.map_or(0.0, |place| parts[place].1.phits as f64)
}

/// Nodes of some jobs.
fn nodes(plan: &Plan, jobs: &[usize]) -> f64 {
    jobs.iter().map(|&job| plan.jobs[job].nodes().len()).sum::<usize>() as f64
}

/// The columns of the summary that are about the verdict.
pub fn columns(verdict: Option<&Verdict>) -> Map<String, Value> {
    let number =
        |value: Option<f64>| value.filter(|value| value.is_finite()).map_or(Value::Null, Value::from);
    let count = |value: Option<usize>| value.map_or(Value::Null, Value::from);
    let growth: Option<Vec<f64>> = verdict.and_then(|verdict| {
        Some(verdict.growth.as_ref()?.iter().map(|phits| phits / verdict.scale).collect())
    });
    let of = |trend: Option<Trend>, value: fn(Trend) -> f64| number(trend.map(value));
    let latency = verdict.and_then(|verdict| verdict.latency);
    [
        ("verdict", verdict.map_or(Value::Null, |verdict| Value::from(verdict.name))),
        ("backlog_growth", number(growth.as_deref().and_then(mean))),
        ("backlog_growth_ci95", number(growth.as_deref().and_then(half_width_95))),
        ("source_stall_fraction", number(verdict.and_then(|verdict| verdict.stalled))),
        ("nodes_falling_behind", count(verdict.and_then(|verdict| verdict.behind))),
        ("packet_latency_drift", of(latency, |trend| trend.drift)),
        ("accepted_load_drift", of(verdict.and_then(|verdict| verdict.load), |trend| trend.drift)),
        ("packet_latency_effective_samples", of(latency, |trend| trend.effective)),
        ("transient_cycles", number(verdict.and_then(|verdict| verdict.transient).map(f64::from))),
        ("missing_cycles", number(verdict.and_then(|verdict| verdict.missing))),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into_iter()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Nodes that each generate 1000 packets in a window of 10,000 cycles, and are delivered as many in equal parts; the growth
    /// of the backlog of the first one in each tenth.
    fn verdict(nodes: u32, growth: [i32; TENTHS]) -> Map<String, Value> {
        let document = json!({ "topology": { "mesh": { "sides": [nodes] } }, "load": 0.5 });
        let plan = Plan::new(&serde_json::from_value(document).unwrap()).unwrap();
        let mut recorder = Recorder::new(&plan);
        let mut places = Places::new(&plan, (0, nodes as usize), nodes as usize);
        for backlog in &mut places.backlogs {
            backlog.generated = 1000;
        }
        places.backlogs[0].growth = growth;
        recorder.by_part.fill(PartTotals { delivered: 10, phits: 80, latency: 300 });
        columns(Verdict::new(&plan, (&recorder, &places), &[0]).as_ref())
    }

    #[test]
    fn one_node_that_falls_behind_is_enough_however_many_do_not() {
        let record = verdict(200, [30, 25, 35, 30, 28, 32, 31, 29, 30, 30]);
        assert_eq!([&record["verdict"], &record["nodes_falling_behind"]], [&json!("saturated"), &json!(1)]);
        assert_eq!(record["missing_cycles"], Value::Null);
    }

    #[test]
    fn a_backlog_that_comes_and_goes_is_none() {
        let record = verdict(200, [30, -30, 10, -10, 0, 5, -5, 20, -20, 1]);
        assert_eq!([&record["verdict"], &record["nodes_falling_behind"]], [&json!("steady"), &json!(0)]);
        assert_eq!(record["missing_cycles"], json!(0.0));
    }

    #[test]
    fn a_node_of_a_few_that_may_fall_behind_needs_a_longer_window() {
        let growth = [60, -45, 60, -45, 60, -45, 60, -45, 60, -45];
        let record = verdict(4, growth);
        assert_eq!(
            [&record["verdict"], &record["nodes_falling_behind"]],
            [&json!("too few samples"), &json!(0)]
        );
        assert!(record["missing_cycles"].as_f64().unwrap() > 0.0);
    }
}
