//! What the verdict on a network that counts cycles is made of.

use super::parts::{PartTotals, TENTHS};
use super::places::Places;
use super::recorder::Recorder;
use super::verdict::{Delivered, Evidence, Shortfall, Source, Units};
use hopsim_cycles::jobs::{JobPlan, TrafficPlan};
use hopsim_experiment::plan::Plan;

/// Evidence of some jobs together; `None` where programs run.
pub fn evidence(plan: &Plan, recorder: &Recorder, places: &Places, jobs: &[usize]) -> Option<Evidence> {
    if plan.system.has_programs() {
        return None;
    }
    let traffic = jobs.iter().filter_map(|&job| plan.system.jobs[job].traffic());
    let open: Vec<&TrafficPlan> = traffic.filter(|job| is_open(job)).collect();
    let tenth = recorder.parts.tenth_length();
    let of_job = |job: &&TrafficPlan| {
        let length = job.lengths.mean();
        let senders = job.nodes.iter().copied().filter(|&node| job.sends(node));
        senders.map(|node| source(places, node, length, tenth)).collect::<Vec<_>>()
    };
    Some(Evidence {
        sources: (!open.is_empty()).then(|| open.iter().flat_map(of_job).collect()),
        delivered: delivered(plan, recorder, jobs),
        part: recorder.parts.length() as f64,
        window: f64::from(recorder.cycles()),
    })
}

/// What the columns of the verdict are called.
pub fn units(recorder: &Recorder, nodes: f64) -> Units {
    Units {
        growth: ("backlog_growth", nodes * recorder.parts.tenth_length() as f64),
        transient: "transient_cycles",
        missing: "missing_cycles",
        time: 1.0,
    }
}

/// Whether the source of each node offers a load and falls behind; `None` where programs run.
pub fn nodes_behind(plan: &Plan, recorder: &Recorder, places: &Places) -> Option<Vec<bool>> {
    let tenth = recorder.parts.tenth_length();
    let is_behind = |node: usize| {
        let open = plan.system.job_at(node).and_then(JobPlan::traffic).filter(|job| is_open(job));
        open.is_some_and(|job| source(places, node as u32, job.lengths.mean(), tenth).is_behind())
    };
    (!plan.system.has_programs()).then(|| (0..places.backlogs.len()).map(is_behind).collect())
}

/// Whether the nodes of a job offer a load, whatever becomes of it.
fn is_open(job: &TrafficPlan) -> bool {
    job.process.synchronised().is_none()
}

/// The source of a node that sends packets of a mean length.
fn source(places: &Places, node: u32, length: f64, tenth: u64) -> Source {
    let backlog = &places.backlogs[node as usize];
    let packets = f64::from(backlog.generated);
    Source {
        node,
        waits: Shortfall { tenths: backlog.growth.map(f64::from), offered: packets },
        weight: length,
        draws: Some(packets),
        stands: places.stalls.get(node as usize).map(|stalls| Shortfall {
            tenths: stalls.0.map(f64::from),
            offered: tenth as f64 * TENTHS as f64,
        }),
    }
}

/// Parts of the window with packets of some jobs.
fn delivered(plan: &Plan, recorder: &Recorder, jobs: &[usize]) -> Vec<Delivered> {
    let sum = |row: &[PartTotals]| {
        let mut sum = PartTotals::default();
        for &job in jobs {
            sum.add(&row[job]);
        }
        sum
    };
    let all = (0..).zip(recorder.by_part.chunks(plan.system.jobs.len()).map(sum));
    let busy = all.filter(|(_, totals)| totals.delivered > 0).map(|(part, totals)| Delivered {
        part,
        packets: totals.delivered as f64,
        load: totals.phits as f64,
        latency: totals.latency as f64 / totals.delivered as f64,
    });
    busy.collect()
}
