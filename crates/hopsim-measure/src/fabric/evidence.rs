//! What the verdict on a fabric is made of.

use super::recorder::FabricRecorder;
use crate::parts::TENTHS;
use crate::verdict::{Delivered, Evidence, Shortfall, Source, Units};
use hopsim_experiment::plan::fabric::{FabricPlan, is_open};
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::time::Ticks;

/// Evidence of some jobs together; `None` where programs run.
pub fn evidence(plan: &FabricPlan, recorder: &FabricRecorder<'_>, jobs: &[usize]) -> Option<Evidence> {
    if !plan.programs.is_empty() {
        return None;
    }
    let own = (0..plan.accounts.len()).filter(|&account| jobs.contains(&plan.accounts[account].job));
    let sources: Vec<Source> = own.filter_map(|account| source(plan, recorder, account)).collect();
    let busy = (0..).zip(recorder.parts.of(jobs)).filter(|(_, counts)| counts.packets > 0);
    let delivered = busy.map(|(part, counts)| Delivered {
        part,
        packets: counts.packets as f64,
        load: counts.bytes as f64,
        latency: counts.latency as f64 / counts.packets as f64,
    });
    Some(Evidence {
        sources: (!sources.is_empty()).then_some(sources),
        delivered: delivered.collect(),
        part: recorder.parts.parts.length() as f64,
        window: recorder.span.window() as f64,
    })
}

/// What the columns of the verdict are called: growth is in Gb/s, times are in seconds.
pub fn units(plan: &FabricPlan, recorder: &FabricRecorder<'_>) -> Units {
    let ticks_per_ns = plan.fabric.ticks_per_ns as f64;
    Units {
        growth: ("backlog_growth_gbps", recorder.parts.parts.tenth_length() as f64 / (8.0 * ticks_per_ns)),
        transient: "transient_s",
        missing: "missing_s",
        time: ticks_per_ns * 1e9,
    }
}

/// Whether each account offers a load and falls behind; `None` where programs run.
pub fn accounts_behind(plan: &FabricPlan, recorder: &FabricRecorder<'_>) -> Option<Vec<bool>> {
    let is_behind =
        |account| source(plan, recorder, account).is_some_and(|source: Source| source.is_behind());
    plan.programs.is_empty().then(|| (0..plan.accounts.len()).map(is_behind).collect())
}

/// An account as a source, if it offers a load: a flow with a rate, or a node that draws messages.
fn source(plan: &FabricPlan, recorder: &FabricRecorder<'_>, account: usize) -> Option<Source> {
    let backlog = &recorder.parts.backlogs[account];
    let node = plan.accounts[account].source;
    let grown = backlog.growth.map(|bytes| bytes as f64);
    let (waits, draws) = if let Some(flow) = plan.flows.get(account) {
        let offered = is_open(flow).then(|| offered(flow, recorder))?;
        let tenths = std::array::from_fn(|tenth| offered[tenth] + grown[tenth]);
        (Shortfall { tenths, offered: offered.iter().sum() }, None)
    } else {
        if plan.is_silent(account) {
            return None;
        }
        (Shortfall { tenths: grown, offered: backlog.bytes as f64 }, Some(backlog.draws()))
    };
    Some(Source { node, waits, weight: 1.0, draws, stands: None })
}

/// What a flow with a rate offers in each tenth of the window \[bytes\].
fn offered(flow: &Flow, recorder: &FabricRecorder<'_>) -> [f64; TENTHS] {
    let on = recorder.parts.parts.split(flow.start..flow.end);
    on.map(|ticks: Ticks| ticks as f64 / flow.byte as f64)
}
