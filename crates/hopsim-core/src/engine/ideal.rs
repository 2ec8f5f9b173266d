//! Programs without contention: on an ideal network, or on any other as if every packet were alone.

use super::{Control, Outcome, outcome};
use crate::error::RunError;
use hopsim_experiment::plan::Plan;
use hopsim_measure::Counts;
use hopsim_measure::places::Places;
use hopsim_measure::recorder::Recorder;
use hopsim_network::topology::Topology;
use hopsim_network::topology::ideal::Incoming;
use hopsim_programs::host::Host;
use hopsim_programs::ideal::{Ejection, Ideal, Latency, Network};
use hopsim_programs::job::ProgramPlan;
use hopsim_programs::standstill::{RankState, find_stuck, find_unmatched, progress};
use std::sync::atomic::Ordering;

/// Cycles between two looks at [`Control`].
const PERIOD: u32 = 1 << 20;

/// Runs the programs of a plan, which do not meet.
pub fn run(plan: &Plan, control: &Control) -> Result<Outcome, RunError> {
    let mut recorder = Recorder::new(plan);
    let mut end = 0;
    let programs =
        || plan.system.jobs.iter().zip(0..).filter_map(|(job, number)| Some((number, job.program()?)));
    // Programs that are run until the others are done come last.
    let endless = programs().filter(|(_, program)| program.is_endless);
    for (number, program) in programs().filter(|(_, program)| !program.is_endless).chain(endless) {
        let most = if program.is_endless { end } else { plan.experiment.measure.cycles };
        let ideal = run_job(plan, (number, program, most), &mut recorder, control)?;
        end = end.max(ideal.now().saturating_add(1));
        for mut host in ideal.into_hosts() {
            if let Some(counts) = &mut recorder.programs {
                counts.rank(number, &mut host);
            }
        }
    }
    recorder.close(end);
    let network = &plan.system.network;
    let places = Places::new(plan, 0, network.nodes as usize, network.routers as usize);
    Ok(outcome(plan, &Counts { recorder, places, packet_hops: 0, decisions: 0, congestion: None }))
}

fn run_job<'p>(
    plan: &'p Plan,
    (number, job, most): (u8, &'p ProgramPlan, u32),
    recorder: &mut Recorder,
    control: &Control,
) -> Result<Ideal<'p>, RunError> {
    let hosts: Vec<Host> = (0..job.nodes.len() as u32).map(|rank| job.host(rank)).collect();
    let mut ideal = Ideal::new(network(plan, job), hosts, job.start);
    let mut stop = 0u32;
    loop {
        stop = stop.saturating_add(PERIOD).max(ideal.next_event().saturating_add(1)).min(most);
        let is_left = ideal.advance(stop, |letter, at| {
            if let Some(programs) = &mut recorder.programs {
                programs.message(number, letter, at);
            }
        });
        control.done.store(u64::from(stop), Ordering::Relaxed);
        if control.cancel.load(Ordering::Relaxed) {
            return Err(RunError::Cancelled);
        }
        if !is_left {
            break;
        }
        if stop == most && job.is_endless {
            return Ok(ideal);
        }
        if stop == most {
            return Err(RunError::Unfinished(
                most,
                progress(&plan.system.programs(), &states(&ideal, number)),
            ));
        }
    }
    let states = states(&ideal, number);
    let all = plan.system.programs();
    if let Some(stuck) = find_stuck(&all, &states) {
        return Err(stuck.into());
    }
    match find_unmatched(&all, &states) {
        Some(unmatched) => Err(unmatched.into()),
        None => Ok(ideal),
    }
}

/// The ranks of a job, with nothing under way.
fn states<'a>(ideal: &'a Ideal<'_>, job: u8) -> Vec<RankState<'a>> {
    let state = |host: &'a Host| RankState {
        job,
        is_busy: false,
        last_event: ideal.now(),
        under_way: Vec::new(),
        lost: Vec::new(),
        host,
    };
    ideal.hosts().iter().map(state).collect()
}

fn network<'p>(plan: &'p Plan, job: &'p ProgramPlan) -> Network<'p> {
    if let Topology::Ideal(ideal) = &*plan.system.topology {
        let config = &ideal.config;
        let ejection = match config.ejection {
            Incoming::Unlimited => Ejection::Unlimited,
            Incoming::Serial => Ejection::Serial,
        };
        let latency = Latency::Constant(config.latency);
        return Network { latency, cycles_per_phit: config.cycles_per_phit, ejection };
    }
    let latency = Latency::Pair(Box::new(move |from, to| {
        alone(plan, (job.nodes[from as usize], job.nodes[to as usize]))
    }));
    Network { latency, cycles_per_phit: 1, ejection: Ejection::Unlimited }
}

/// Cycles that the head of a packet that is alone takes from node to node over its minimal path.
fn alone(plan: &Plan, (from, to): (u32, u32)) -> u32 {
    let topology = &plan.system.topology;
    let router = |node: u32| node / topology.nodes_per_router();
    let (from, to) = (router(from), router(to));
    let latencies: Vec<u32> = plan.system.network.classes.links.iter().map(|class| class.latency).collect();
    let (links, hops) = if from == to {
        (0, 0)
    } else {
        let hops = topology.minimal_hops(from, to);
        // A phit: what the links add for the length of a packet is refused.
        (
            topology.minimal_latency(from, to, (&latencies, 1)),
            hops.iter().copied().map(u32::from).sum::<u32>(),
        )
    };
    let router = plan.system.router.residence();
    plan.system.network.classes.terminal.latency + (hops + 1) * router + links
}
