//! What a point is worth: whether it is steady, saturated, not converged, or has too few samples to say so. What that is decided by,
//! networks of all kinds have counted in units of their own.

use super::parts::{PARTS, TENTHS};
use super::statistics::{half_width_95, mean};
use super::trend::{Trend, transient};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What a growth must exceed in standard errors to be one: 99.9 % of Student's t with 9 degrees of freedom.
const SIGNIFICANT: f64 = 4.297;

/// How many standard errors greater a growth may be than it was counted: 99 % of Student's t with 9 degrees of freedom.
const POSSIBLE: f64 = 2.821;

/// Fewest packets, parts with packets and independent values that a verdict takes.
pub const FEWEST: [f64; 3] = [100.0, 50.0, 10.0];

/// Shares of what is offered by all nodes, and by one: what falls behind by less does not, and what may fall behind by more may
/// fall behind.
const ALL: [f64; 2] = [0.005, 0.01];
const ONE: [f64; 2] = [0.02, 0.1];

/// Standard errors of the number of packets or messages that a source draws below which nobody can tell whether it falls behind.
const NOISE: f64 = 2.0;

/// Number of sources of which one may be unclear.
const SOURCES_PER_UNCLEAR: usize = 100;

/// The verdict where sources fall behind.
pub const SATURATED: &str = "saturated";

/// The verdict where nothing is wrong.
pub const STEADY: &str = "steady";

/// The verdict where latency or load drifts.
pub const NOT_CONVERGED: &str = "not converged";

/// What does not get into the network.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shortfall {
    /// What does not get in, by tenth of the window.
    pub tenths: [f64; TENTHS],
    /// What is offered in all tenths.
    pub offered: f64,
}

impl Shortfall {
    /// Adds the shortfall of another source, so many times.
    fn add(&mut self, other: &Self, times: f64) {
        self.tenths.iter_mut().zip(other.tenths).for_each(|(sum, one)| *sum += times * one);
        self.offered += times * other.offered;
    }

    fn mean(&self) -> f64 {
        self.tenths.iter().sum::<f64>() / TENTHS as f64
    }

    /// The standard error of the mean over the tenths.
    fn error(&self) -> f64 {
        let (mean, n) = (self.mean(), TENTHS as f64);
        let squares: f64 = self.tenths.iter().map(|value| (value - mean).powi(2)).sum();
        (squares / (n - 1.0) / n).sqrt()
    }

    /// What is offered in a tenth.
    fn per_tenth(&self) -> f64 {
        self.offered / TENTHS as f64
    }

    /// Whether sources fall behind by at least this share of what is offered.
    fn is_behind(&self, share: f64) -> bool {
        let mean = self.mean();
        mean > share * self.per_tenth() && mean > SIGNIFICANT * self.error()
    }

    /// How many times this share of what is offered sources may fall behind by.
    fn possible(&self, share: f64) -> f64 {
        let most = self.mean() + POSSIBLE * self.error();
        if most <= 0.0 { 0.0 } else { most / (share * self.per_tenth()) }
    }
}

/// A source that offers a load, whatever becomes of it.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Node of the source.
    pub node: u32,
    /// What the source cannot inject.
    pub waits: Shortfall,
    /// What one unit of `waits` counts where several sources are added up.
    pub weight: f64,
    /// How many times the source has drawn something, if what it offers is drawn at all.
    pub draws: Option<f64>,
    /// For how long the source stands still, where sources may.
    pub stands: Option<Shortfall>,
}

impl Source {
    /// Whether the source falls behind.
    pub fn is_behind(&self) -> bool {
        self.waits.is_behind(self.discernible(ONE[0]))
            || self.stands.is_some_and(|stands| stands.is_behind(ONE[0]))
    }

    /// How many times the share that can be discerned the source may fall behind by.
    fn possible(&self) -> f64 {
        let stands = self.stands.map_or(0.0, |stands| stands.possible(ONE[1]));
        self.waits.possible(self.discernible(ONE[1])).max(stands)
    }

    /// A share of what is offered, or the least one that is more than the spread of what the source draws.
    fn discernible(&self, share: f64) -> f64 {
        share.max(self.draws.map_or(0.0, |draws| NOISE / draws.sqrt()))
    }
}

/// What is delivered in a part of the window.
#[derive(Clone, Copy, Debug)]
pub struct Delivered {
    /// Number of the part, from 0.
    pub part: u32,
    /// Packets delivered.
    pub packets: f64,
    /// What the packets delivered add to the load, in the unit of the network: phits or bytes.
    pub load: f64,
    /// Mean latency of the packets delivered.
    pub latency: f64,
}

/// What a verdict is made of.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// Sources that offer a load, if anybody does.
    pub sources: Option<Vec<Source>>,
    /// The parts in which something is delivered, in order.
    pub delivered: Vec<Delivered>,
    /// Length of a part, 0 if the window is too short to have any.
    pub part: f64,
    /// Length of the window.
    pub window: f64,
}

impl Evidence {
    /// The mean latencies of the parts in which something is delivered.
    fn latencies(&self) -> Vec<f64> {
        self.delivered.iter().map(|part| part.latency).collect()
    }

    /// What is delivered in each of all parts.
    pub fn loads(&self) -> Vec<f64> {
        let mut loads = vec![0.0; PARTS as usize];
        self.delivered.iter().for_each(|part| loads[part.part as usize] = part.load);
        loads
    }
}

/// Whether the sources that offer a load keep up with it.
#[derive(Clone, Debug)]
struct Sources {
    waits: Shortfall,
    stands: Option<Shortfall>,
    /// Nodes with sources that do not keep up by themselves.
    behind: BTreeSet<u32>,
    /// How many times the share that does not matter all sources, or one, may fall behind by. What can be told grows with the
    /// square root of the window.
    possible: f64,
}

impl Sources {
    fn new(all: &[Source]) -> Self {
        let (mut waits, mut stands) = (Shortfall::default(), None);
        for source in all {
            waits.add(&source.waits, source.weight);
            if let Some(one) = &source.stands {
                stands.get_or_insert_with(Shortfall::default).add(one, 1.0);
            }
        }
        let mut unclear: Vec<f64> = all.iter().map(Source::possible).collect();
        unclear.sort_unstable_by(|one, other| other.total_cmp(one));
        let of_one = unclear.get(unclear.len() / SOURCES_PER_UNCLEAR).copied().unwrap_or(0.0);
        let of_all = [Some(waits), stands].into_iter().flatten().map(|all| all.possible(ALL[1]));
        Self {
            waits,
            stands,
            behind: all.iter().filter(|source| source.is_behind()).map(|source| source.node).collect(),
            possible: of_all.fold(of_one, f64::max),
        }
    }

    /// Whether sources fall behind, all together or those of some nodes.
    fn are_behind(&self) -> bool {
        let together = [Some(self.waits), self.stands].into_iter().flatten().any(|all| all.is_behind(ALL[0]));
        together || !self.behind.is_empty()
    }
}

/// A verdict, and why.
#[derive(Clone, Debug)]
pub struct Verdict {
    name: &'static str,
    sources: Option<Sources>,
    latency: Option<Trend>,
    load: Option<Trend>,
    transient: Option<f64>,
    missing: Option<f64>,
}

impl Verdict {
    /// The verdict on what has been counted.
    pub fn new(evidence: &Evidence) -> Self {
        let (delivered, part, window) = (&evidence.delivered, evidence.part, evidence.window);
        let sources = evidence.sources.as_deref().filter(|_| part > 0.0).map(Sources::new);
        let latencies = evidence.latencies();
        let (latency, load) = (Trend::of(&latencies), Trend::of(&evidence.loads()));
        let first = |left_out: usize| delivered.get(left_out).map_or(0.0, |first| f64::from(first.part));
        let transient = latency.map(|_| first(transient(&latencies)) * part);
        let packets: f64 = delivered.iter().map(|part| part.packets).sum();
        let has = [packets, delivered.len() as f64, latency.map_or(0.0, |trend| trend.effective)];
        let longer = FEWEST.iter().zip(has).map(|(fewest, has)| fewest / has);
        let longer = longer.fold(sources.as_ref().map_or(0.0, |sources| sources.possible.powi(2)), f64::max);
        let has_drift = [latency, load].iter().flatten().any(Trend::is_drift);
        let (name, missing) = if sources.as_ref().is_some_and(Sources::are_behind) {
            (SATURATED, None)
        } else if has_drift {
            let half = part * f64::from(PARTS / 2);
            (NOT_CONVERGED, Some(transient.filter(|&time| time > 0.0 && time < half).unwrap_or(window)))
        } else if longer > 1.0 {
            ("too few samples", Some((window * (longer - 1.0)).ceil()))
        } else {
            (STEADY, Some(0.0))
        };
        Self { name, sources, latency, load, transient, missing }
    }

    /// Name of the verdict.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

/// Columns that have a unit: what they are called, and what the counts are divided by.
#[derive(Clone, Copy, Debug)]
pub struct Units {
    /// Name and divisor of the growth of the backlog in a tenth.
    pub growth: (&'static str, f64),
    /// Name of the transient.
    pub transient: &'static str,
    /// Name of the time that is missing.
    pub missing: &'static str,
    /// Divisor of the transient and of the time that is missing.
    pub time: f64,
}

/// The columns of the summary that are about the verdict.
pub fn columns(verdict: Option<&Verdict>, units: &Units) -> Map<String, Value> {
    let number =
        |value: Option<f64>| value.filter(|value| value.is_finite()).map_or(Value::Null, Value::from);
    let sources = verdict.and_then(|verdict| verdict.sources.as_ref());
    let (growth_key, scale) = units.growth;
    let growth = sources.map(|all| all.waits.tenths.map(|tenth| tenth / scale));
    let growth = growth.as_ref().map(<[f64; TENTHS]>::as_slice);
    let stalled = sources.and_then(|all| all.stands).map(|all| all.mean() / all.per_tenth());
    let behind = sources.map_or(Value::Null, |all| all.behind.len().into());
    let of = |trend: Option<Trend>, value: fn(Trend) -> f64| number(trend.map(value));
    let latency = verdict.and_then(|verdict| verdict.latency);
    let time = |of: fn(&Verdict) -> Option<f64>| number(verdict.and_then(of).map(|time| time / units.time));
    [
        ("verdict".into(), verdict.map_or(Value::Null, |verdict| Value::from(verdict.name))),
        (growth_key.into(), number(growth.and_then(mean))),
        (format!("{growth_key}_ci95"), number(growth.and_then(half_width_95))),
        ("source_stall_fraction".into(), number(stalled)),
        ("nodes_falling_behind".into(), behind),
        ("packet_latency_drift".into(), of(latency, |trend| trend.drift)),
        ("accepted_load_drift".into(), of(verdict.and_then(|verdict| verdict.load), |trend| trend.drift)),
        ("packet_latency_effective_samples".into(), of(latency, |trend| trend.effective)),
        (units.transient.into(), time(|verdict| verdict.transient)),
        (units.missing.into(), time(|verdict| verdict.missing)),
    ]
    .into_iter()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Nodes that each draw 1000 packets in a window of 10,000 cycles, and are delivered as many in equal parts; the growth of the
    /// backlog of the first one in each tenth.
    fn verdict(nodes: u32, growth: [i32; TENTHS]) -> Map<String, Value> {
        let waits = |node| Shortfall {
            tenths: if node == 0 { growth.map(f64::from) } else { [0.0; TENTHS] },
            offered: 1000.0,
        };
        let source =
            |node| Source { node, waits: waits(node), weight: 8.0, draws: Some(1000.0), stands: None };
        let part = |part| Delivered { part, packets: 10.0, load: 80.0, latency: 30.0 };
        let evidence = Evidence {
            sources: Some((0..nodes).map(source).collect()),
            delivered: (0..PARTS).map(part).collect(),
            part: 100.0,
            window: 10_000.0,
        };
        let units = Units { growth: ("growth", 1.0), transient: "transient", missing: "missing", time: 1.0 };
        columns(Some(&Verdict::new(&evidence)), &units)
    }

    #[test]
    fn one_node_that_falls_behind_is_enough_however_many_do_not() {
        let record = verdict(200, [30, 25, 35, 30, 28, 32, 31, 29, 30, 30]);
        assert_eq!([&record["verdict"], &record["nodes_falling_behind"]], [&json!("saturated"), &json!(1)]);
        assert_eq!(record["missing"], Value::Null);
    }

    #[test]
    fn a_backlog_that_comes_and_goes_is_none() {
        let record = verdict(200, [30, -30, 10, -10, 0, 5, -5, 20, -20, 1]);
        assert_eq!([&record["verdict"], &record["nodes_falling_behind"]], [&json!("steady"), &json!(0)]);
        assert_eq!(record["missing"], json!(0.0));
    }

    #[test]
    fn a_node_of_a_few_that_may_fall_behind_needs_a_longer_window() {
        let growth = [60, -45, 60, -45, 60, -45, 60, -45, 60, -45];
        let record = verdict(4, growth);
        assert_eq!(
            [&record["verdict"], &record["nodes_falling_behind"]],
            [&json!("too few samples"), &json!(0)]
        );
        assert!(record["missing"].as_f64().unwrap() > 0.0);
    }

    #[test]
    fn a_growth_must_be_significant_at_99_9_percent() {
        // Tenths that alternate by `spread` around 40: their mean is 40 in `spread / 3` standard errors.
        let behind = |spread: i32| {
            let growth = std::array::from_fn(|tenth| if tenth % 2 == 0 { 40 + spread } else { 40 - spread });
            verdict(200, growth)["nodes_falling_behind"].clone()
        };
        // 40 / 9 = 4.44 standard errors are more than Student's 4.297, 40 / 10 = 4.0 are not.
        assert_eq!([behind(27), behind(30)], [json!(1), json!(0)]);
    }

    /// The verdict on 200 nodes that each draw 1000 packets in a window of 35,000 cycles, and inject so many fewer of them in all tenths,
    /// one more and one less by turns of node and tenth.
    fn short_by(packets: f64) -> &'static str {
        let source = |node: u32| {
            let even = |tenth: usize| (node as usize + tenth).is_multiple_of(2);
            let growth = |tenth| packets / 10.0 + if even(tenth) { 1.0 } else { -1.0 };
            let waits = Shortfall { tenths: std::array::from_fn(growth), offered: 1000.0 };
            Source { node, waits, weight: 8.0, draws: Some(1000.0), stands: None }
        };
        let delivered =
            (0..PARTS).map(|part| Delivered { part, packets: 2000.0, load: 16_000.0, latency: 30.0 });
        let sources = Some((0..200).map(source).collect());
        Verdict::new(&Evidence { sources, delivered: delivered.collect(), part: 350.0, window: 35_000.0 })
            .name()
    }

    #[test]
    fn a_load_that_is_nine_thousandths_short_is_saturated_though_no_node_falls_behind_by_itself() {
        assert_eq!([short_by(9.0), short_by(5.1), short_by(4.9)], ["saturated", "saturated", "steady"]);
    }

    #[test]
    fn all_nodes_together_may_fall_behind_by_a_hundredth_before_a_longer_window_is_asked_for() {
        // The backlog of all nodes grows by so many packets in one tenth and shrinks by as many in the next: they may fall behind by
        // 2.821 standard errors, which are a third of that, of the 20,000 packets that they offer in a tenth.
        let verdict = |spread: f64| {
            let growth =
                |tenth: usize| if tenth.is_multiple_of(2) { spread / 200.0 } else { -spread / 200.0 };
            let waits = Shortfall { tenths: std::array::from_fn(growth), offered: 1000.0 };
            let source = |node| Source { node, waits, weight: 8.0, draws: Some(1000.0), stands: None };
            let part = |part| Delivered { part, packets: 2000.0, load: 16_000.0, latency: 30.0 };
            let sources = Some((0..200).map(source).collect());
            let delivered = (0..PARTS).map(part).collect();
            Verdict::new(&Evidence { sources, delivered, part: 350.0, window: 35_000.0 }).name()
        };
        assert_eq!([verdict(200.0), verdict(225.0)], ["steady", "too few samples"]);
    }

    /// The verdict on sixteen sources, one of which stands still for more or less of the tenths by turns.
    fn with_stalls(spread: f64) -> &'static str {
        let alternating = std::array::from_fn(|tenth| if tenth % 2 == 0 { spread } else { -spread });
        let source = |node| Source {
            node,
            waits: Shortfall { tenths: [0.0; TENTHS], offered: 10_000.0 },
            weight: 8.0,
            draws: Some(10_000.0),
            stands: Some(Shortfall {
                tenths: if node == 0 { alternating } else { [0.0; TENTHS] },
                offered: 10_000.0,
            }),
        };
        let part = |part| Delivered { part, packets: 10.0, load: 80.0, latency: 30.0 };
        let sources = Some((0..16).map(source).collect());
        let delivered = (0..PARTS).map(part).collect();
        Verdict::new(&Evidence { sources, delivered, part: 100.0, window: 10_000.0 }).name()
    }

    #[test]
    fn a_source_may_stand_still_for_a_tenth_of_the_time_before_a_longer_window_is_asked_for() {
        // It may stand still for 2.821 standard errors, which are a third of the spread: for 66 of 1000 cycles, and all of them for 66
        // of 16,000; then for 113 of 1000.
        assert_eq!([with_stalls(70.0), with_stalls(120.0)], ["steady", "too few samples"]);
    }
}
