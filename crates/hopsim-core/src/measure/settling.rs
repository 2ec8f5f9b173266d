//! Where a run without warm-up has settled: the warm-up of others.

use super::Counts;
use super::parts::PARTS;
use super::stop::queues_grow;
use super::trend::{MSER_BATCH, Trend, transient};
use super::verdict::{self, FEWEST, Verdict};
use crate::plan::Plan;

/// A warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Its length \[cycles\].
    pub cycles: u32,
    /// What has settled then.
    pub by: &'static str,
}

/// The warm-up that a run without one has shown to be enough, if it has: what MSER-5 leaves out of latency and accepted load, and one
/// of its batches more, because a transient that is shorter than one does not show.
pub fn settled(plan: &Plan, counts: &Counts) -> Option<Settled> {
    let Counts { recorder, places, .. } = counts;
    let jobs: Vec<usize> = (0..plan.jobs.len()).collect();
    let verdict = Verdict::new(plan, (recorder, places), &jobs)?;
    let parts = verdict::parts(plan, recorder, &jobs);
    if (parts.len() as f64) < FEWEST[1] {
        return None;
    }
    let loads: Vec<(u32, f64)> = (0..PARTS).map(|number| (number, verdict::load(&parts, number))).collect();
    let load = end_of_transient(&loads)?;
    let (end, by) = if queues_grow(plan, Some(verdict.name())) {
        // Their latency never settles.
        (load, "accepted load")
    } else {
        let mean = |&(number, part): &(u32, super::parts::PartTotals)| {
            (number, part.latency as f64 / part.delivered as f64)
        };
        let latencies: Vec<(u32, f64)> = parts.iter().map(mean).collect();
        (end_of_transient(&latencies)?.max(load), "latency")
    };
    Some(Settled { cycles: (end + MSER_BATCH as u32) * recorder.parts.length(), by })
}

/// The number of the first part behind the transient of values with the numbers of their parts, if it is in the first half and nothing
/// drifts from there on.
fn end_of_transient(values: &[(u32, f64)]) -> Option<u32> {
    let series: Vec<f64> = values.iter().map(|&(_, value)| value).collect();
    let left_out = transient(&series);
    let &(first, _) = values.get(left_out)?;
    let rest = Trend::of(&series[left_out..])?;
    (first < PARTS / 2 && !rest.is_drift()).then_some(first)
}
