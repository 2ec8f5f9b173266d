//! Jobs: who sends what, to whom and when.

use super::programs::{self, Library, ProgramJob, Units};
use super::within;
use crate::config::limits::{CYCLES, PACKET_LENGTHS};
use crate::config::stop::Warmup;
use crate::config::{Experiment, JobConfig};
use hopsim_cycles::choices::SelfTraffic;
use hopsim_cycles::jobs::{JobPlan, TrafficPlan};
use hopsim_network::error::ConfigError;
use hopsim_network::network::Network;
use hopsim_network::topology::Topology;
use hopsim_programs::job::ProgramPlan;
use hopsim_random::{Purpose, Stream, Streams};
use hopsim_traffic::changes::{self, Phase};
use hopsim_traffic::packet_lengths::{PacketLengths, Share};
use hopsim_traffic::packet_list::{Limits, PacketList, PacketListConfig};
use hopsim_traffic::pattern::Site;
use hopsim_traffic::process::{ProcessConfig, Rate, check_load};
use hopsim_traffic::{DEFAULT_PACKET_LENGTH, node_loads};
use rustc_hash::FxHashMap;

/// Hands the shorthand `load` to every job that names none.
pub fn resolve_load(experiment: &mut Experiment) -> Result<(), ConfigError> {
    let Some(load) = experiment.load.take() else { return Ok(()) };
    if !experiment.jobs.is_empty() && experiment.jobs.iter().all(|job| job.traffic.is_none()) {
        return Err(ConfigError::new("load", "no job draws packets: all run programs")
            .value(load)
            .valid("no such key"));
    }
    check_load(load)?;
    for (index, job) in experiment.jobs.iter_mut().enumerate() {
        let Some(traffic) = &mut job.traffic else { continue };
        if traffic.packet_list.is_some() {
            let reason = format!("jobs.{index}.traffic.packet_list says which packets there are");
            return Err(ConfigError::new("load", reason).value(load).valid("no such key"));
        }
        let process = &mut traffic.process;
        let path = format!("jobs.{index}.traffic.process.{}", process.name());
        let Some(own) = process.load_mut() else {
            return Err(ConfigError::new("load", format!("{path} sends as fast as the network takes it"))
                .value(load)
                .valid("no such key"));
        };
        if let Some(own) = own.replace(load) {
            return Err(ConfigError::new(
                "load",
                format!("the shorthand conflicts with {path}.load = {own}"),
            )
            .value(load)
            .valid("one of the two"));
        }
    }
    Ok(())
}

/// Says of every job what its nodes do: uniform traffic if the document says nothing. With programs a run begins at cycle 0 and
/// ends when they are done.
pub fn resolve_work(experiment: &mut Experiment) -> Result<(), ConfigError> {
    for (index, job) in experiment.jobs.iter_mut().enumerate() {
        let refused = |key: &str, reason: &str| ConfigError::new(format!("jobs.{index}.{key}"), reason);
        if job.program.is_some() && job.traffic.is_some() {
            return Err(refused("traffic", "the job runs a program already").valid("traffic or program"));
        }
        if job.program.is_none() {
            let traffic = job.traffic.get_or_insert_default();
            if traffic.packet_lengths.is_none() {
                traffic.packet_length.get_or_insert(DEFAULT_PACKET_LENGTH);
            }
            if job.host.is_some() {
                return Err(
                    refused("host", "is for jobs that run a program").valid("no such key, or program")
                );
            }
            let given = [("rank_order", job.rank_order.is_some()), ("repeat", job.repeat.is_some())];
            if let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
                return Err(refused(key, "is for jobs that run a program").valid("no such key, or program"));
            }
        }
    }
    let has_programs = experiment.has_programs();
    let measure = &mut experiment.measure;
    if has_programs {
        (measure.warmup, measure.batches) = (Warmup::Cycles(0), 1);
        measure.cycles = *measure.max_cycles.get_or_insert(super::MAX_CYCLES);
        within(CYCLES, measure.cycles, "measure.max_cycles")?;
    } else if let Some(cycles) = measure.max_cycles {
        return Err(ConfigError::new("measure.max_cycles", "is for runs of programs")
            .value(cycles)
            .valid("measure.cycles"));
    }
    Ok(())
}

/// The longest packet that any job sends \[phits\].
pub fn longest_packet(experiment: &Experiment) -> u32 {
    let length = |job: &JobConfig| match (&job.program, &job.host) {
        (None, _) => job.traffic.as_ref().map_or(1, hopsim_traffic::Config::longest_packet),
        (Some(_), host) => programs::packet_length(host.as_ref()),
    };
    experiment.jobs.iter().map(length).max().unwrap_or(1)
}

/// Names the jobs that have no name.
pub fn resolve_names(experiment: &mut Experiment) -> Result<(), ConfigError> {
    let mut taken: FxHashMap<String, usize> = FxHashMap::default();
    for (index, job) in experiment.jobs.iter_mut().enumerate() {
        let name = job.name.get_or_insert_with(|| format!("job{index}")).clone();
        if name.trim().is_empty() {
            return Err(ConfigError::new(format!("jobs.{index}.name"), "the name is empty")
                .value(format!("{name:?}"))
                .valid("a name of its own for every job, or no such key"));
        }
        if let Some(other) = taken.get(&name) {
            return Err(ConfigError::new(
                format!("jobs.{index}.name"),
                format!("job {other} has the same name"),
            )
            .value(format!("{name:?}"))
            .valid("a name of its own for every job"));
        }
        taken.insert(name, index);
    }
    Ok(())
}

/// Whether some job answers its packets.
pub fn answers(experiment: &Experiment) -> bool {
    experiment
        .jobs
        .iter()
        .filter_map(|job| job.traffic.as_ref())
        .any(|traffic| traffic.request_reply.is_some())
}

/// The jobs.
pub fn build(
    experiment: &Experiment,
    topology: &Topology,
    network: &Network,
    library: &Library<'_>,
) -> Result<Vec<JobPlan>, ConfigError> {
    if experiment.jobs.is_empty() || experiment.jobs.len() > 255 {
        let reason = format!("the experiment has {} jobs", experiment.jobs.len());
        return Err(ConfigError::new("jobs", reason).valid("1 … 255 jobs"));
    }
    check_only(experiment)?;
    let mut job_of = vec![u8::MAX; network.nodes as usize];
    let mut nodes = vec![Vec::new(); experiment.jobs.len()];
    for random in [false, true] {
        for (index, job) in experiment.jobs.iter().enumerate() {
            if job.placement.is_random() == random {
                nodes[index] = place_job(experiment, index, topology, &mut job_of)?;
            }
        }
    }
    let units = experiment.units.as_ref().map(Units::new).transpose()?;
    let build = |(index, nodes): (usize, Vec<u32>)| {
        let job = &experiment.jobs[index];
        let path = format!("jobs.{index}");
        if let Some(program) = &job.program {
            let plan = programs::plan(
                experiment,
                ProgramJob { number: index as u64, job, config: program },
                nodes,
                units,
                library,
            );
            return plan.map(JobPlan::Program).map_err(|e| e.within(&path));
        }
        let seed = experiment.measure.seed;
        let to_itself = experiment.semantics.self_traffic == Some(SelfTraffic::Router);
        let site = Site { topology, nodes: &nodes, seed, job: index as u64, to_itself };
        let traffic = job.traffic.clone().unwrap_or_default();
        check_start(experiment, job, &traffic).map_err(|e| e.within(&path))?;
        let plan = traffic_plan(experiment, job, &traffic, &site);
        plan.map(JobPlan::Traffic).map_err(|e| e.within("traffic").within(&path))
    };
    let running = experiment.running().map(|(index, _)| (index, std::mem::take(&mut nodes[index])));
    let jobs: Vec<JobPlan> = running.map(build).collect::<Result<_, _>>()?;
    check_ends(jobs.iter().filter_map(JobPlan::program))?;
    Ok(jobs)
}

/// Refuses names of jobs that are not there, and jobs without a program where a run ends with programs.
pub fn check_only(experiment: &Experiment) -> Result<(), ConfigError> {
    let Some(only) = &experiment.only else { return Ok(()) };
    let names: Vec<&str> = experiment.jobs.iter().filter_map(|job| job.name.as_deref()).collect();
    let strange = only.iter().enumerate().find(|(_, name)| !names.contains(&name.as_str()));
    if let Some((index, name)) = strange {
        return Err(ConfigError::new(format!("only.{index}"), "there is no such job")
            .value(format!("{name:?}"))
            .valid(names.join(", ")));
    }
    let with_program = |job: &&JobConfig| job.program.is_some();
    let programs: Vec<&JobConfig> = experiment.jobs.iter().filter(with_program).collect();
    let ends = programs.is_empty() || experiment.running().any(|(_, job)| job.program.is_some());
    if experiment.running().next().is_none() || !ends {
        let valid: Vec<&str> = if programs.is_empty() {
            names
        } else {
            programs.iter().filter_map(|job| job.name.as_deref()).collect()
        };
        return Err(ConfigError::new("only", "names no job that a run could end with")
            .value(format!("{only:?}"))
            .valid(format!("at least one of {}", valid.join(", "))));
    }
    Ok(())
}

/// Refuses programs that are run until all others are done if there is no other.
pub fn check_ends<'p>(programs: impl Iterator<Item = &'p ProgramPlan>) -> Result<(), ConfigError> {
    let mut programs = programs.peekable();
    let waits = |program: &ProgramPlan| program.is_endless && !program.is_external();
    if programs.peek().is_some() && programs.all(waits) {
        return Err(ConfigError::new("jobs", "all programs are run until the others are done")
            .value("repeat = \"forever\"")
            .valid("a program that ends"));
    }
    Ok(())
}

/// The nodes of a job, of a program by rank, else ascending; no later job can take them.
pub fn place_job(
    experiment: &Experiment,
    index: usize,
    topology: &Topology,
    job_of: &mut [u8],
) -> Result<Vec<u32>, ConfigError> {
    let mut stream = Stream::new(experiment.measure.seed, Purpose::Placement, (index as u64) << 32);
    let path = format!("jobs.{index}.placement");
    let free = |node: u32| job_of[node as usize] == u8::MAX;
    let JobConfig { placement, rank_order, .. } = &experiment.jobs[index];
    let mut nodes = placement.nodes(topology, free, &mut stream).map_err(|e| e.within(&path))?;
    for &node in &nodes {
        let other = job_of[node as usize];
        if other != u8::MAX {
            return Err(ConfigError::new(path, format!("node {node} already runs job {other}"))
                .valid("jobs that share no node"));
        }
        job_of[node as usize] = index as u8;
    }
    if experiment.jobs[index].program.is_none() {
        nodes.sort_unstable();
        return Ok(nodes);
    }
    let Some(order) = rank_order else { return Ok(nodes) };
    let mut stream = Stream::new(experiment.measure.seed, Purpose::RankOrder, index as u64);
    let ordered = order.arrange(nodes, topology, &mut stream);
    ordered.map_err(|e| e.within(&format!("jobs.{index}.rank_order")))
}

fn traffic_plan(
    experiment: &Experiment,
    job: &JobConfig,
    traffic: &hopsim_traffic::Config,
    site: &Site<'_>,
) -> Result<TrafficPlan, ConfigError> {
    if let Some(list) = &traffic.packet_list {
        return listed_plan(experiment, job, (traffic, list), site);
    }
    let lengths = packet_lengths(traffic, site.seed)?;
    let outstanding = traffic.request_reply.as_ref().map(|r| r.outstanding.unwrap_or(u32::MAX));
    if outstanding == Some(0) {
        return Err(ConfigError::new("request_reply.outstanding", "no request could ever be sent")
            .value(0)
            .valid("1 …"));
    }
    let rate = Rate { length: lengths.mean(), share: if outstanding.is_some() { 0.5 } else { 1.0 } };
    let first = Phase {
        from: 0,
        pattern: traffic.pattern.build(site).map_err(|e| e.within("pattern"))?,
        process: traffic.process.build(rate).map_err(|e| e.within("process"))?,
        load: process_load(&traffic.process),
        new_load: false,
    };
    let process = (&traffic.process, rate);
    let warmup = experiment.measure.warmup.cycles();
    let window = warmup..=warmup + experiment.measure.cycles - 1;
    let changes =
        changes::build(&traffic.changes, &first, process, site, &window).map_err(|e| e.within("changes"))?;
    let loads = check_node_loads(traffic).and_then(|()| traffic.node_loads.loads(first.load, site));
    let loads = loads.map_err(|e| e.within("node_loads"))?;
    let processes = if traffic.node_loads.are_equal() {
        Vec::new()
    } else {
        node_loads::processes(&traffic.process, &loads, rate).map_err(|e| e.within("process"))?
    };
    let Phase { pattern, process, load, .. } = first;
    Ok(TrafficPlan {
        load: if processes.is_empty() { load } else { loads.iter().sum::<f64>() / loads.len() as f64 },
        processes,
        name: job.name.clone().unwrap_or_else(|| format!("job{}", site.job)),
        nodes: site.nodes.to_vec(),
        pattern,
        process,
        lengths,
        list: None,
        start: job.start,
        changes,
        outstanding,
    })
}

/// A job whose packets are given one by one.
fn listed_plan(
    experiment: &Experiment,
    job: &JobConfig,
    (traffic, list): (&hopsim_traffic::Config, &PacketListConfig),
    site: &Site<'_>,
) -> Result<TrafficPlan, ConfigError> {
    let length = traffic.packet_length.unwrap_or(DEFAULT_PACKET_LENGTH);
    within(PACKET_LENGTHS, length, "packet_length")?;
    let end = experiment.measure.warmup.cycles() + experiment.measure.cycles;
    let limits = Limits { nodes: site.nodes, start: job.start, end, to_itself: site.to_itself, length };
    let list = PacketList::new(list.packets(), &limits).map_err(|e| e.within("packet_list"))?;
    let streams = Streams::new(site.seed, Purpose::PacketLength);
    let lengths = match *list.lengths() {
        [(only, _)] => PacketLengths::one(only, streams),
        ref several => {
            let share = |&(length, packets): &(u32, u32)| Share { length, weight: packets.into() };
            PacketLengths::several(&several.iter().map(share).collect::<Vec<_>>(), streams)?
        }
    };
    // A job without traffic of its own, to which the list is added.
    let to_itself = Site { to_itself: true, ..*site };
    let silent = TrafficPlan::uniform(&to_itself, 0.0, length)?;
    let name = job.name.clone().unwrap_or(silent.name);
    Ok(TrafficPlan { name, lengths, list: Some(Box::new(list)), start: job.start, ..silent })
}

/// How long the packets of a job are.
fn packet_lengths(traffic: &hopsim_traffic::Config, seed: u64) -> Result<PacketLengths, ConfigError> {
    let streams = Streams::new(seed, Purpose::PacketLength);
    let Some(shares) = &traffic.packet_lengths else {
        let length = traffic.packet_length.unwrap_or(DEFAULT_PACKET_LENGTH);
        within(PACKET_LENGTHS, length, "packet_length")?;
        return Ok(PacketLengths::one(length, streams));
    };
    if let Some(length) = traffic.packet_length {
        return Err(ConfigError::new("packet_length", "packets have the lengths that packet_lengths says")
            .value(length)
            .valid("packet_length or packet_lengths"));
    }
    if traffic.request_reply.is_some() {
        let reason =
            "a reply is as long as its request, and space for replies is counted in packets of one length";
        return Err(ConfigError::new("packet_lengths", reason).valid("packet_length, or no request_reply"));
    }
    PacketLengths::several(shares, streams).map_err(|e| e.within("packet_lengths"))
}

/// Refuses traffic that begins after the run or after its first change.
fn check_start(
    experiment: &Experiment,
    job: &JobConfig,
    traffic: &hopsim_traffic::Config,
) -> Result<(), ConfigError> {
    let end = experiment.measure.warmup.cycles() + experiment.measure.cycles;
    let change = traffic.changes.first().map_or(end, |change| change.cycle);
    if job.start < change.min(end) || job.start == 0 {
        return Ok(());
    }
    let reason = if job.start >= end { "the run ends before" } else { "the traffic changes before" };
    Err(ConfigError::new("start", reason).value(job.start).valid(format!("0 … {}", change.min(end) - 1)))
}

/// The load of a process, not a number if it has none.
fn process_load(process: &ProcessConfig) -> f64 {
    process.clone().load_mut().map_or(f64::NAN, |load| load.unwrap_or(0.0))
}

/// Refuses loads of nodes where the traffic has none, or another one later.
fn check_node_loads(traffic: &hopsim_traffic::Config) -> Result<(), ConfigError> {
    if traffic.node_loads.are_equal() {
        return Ok(());
    }
    if traffic.process.clone().load_mut().is_none() {
        let reason = format!("{} sends as fast as the network takes it", traffic.process.name());
        return Err(ConfigError::new("", reason).valid("no such key, or another process"));
    }
    if traffic.changes.iter().any(|change| change.load.is_some()) {
        return Err(ConfigError::new("", "the load changes for all nodes alike")
            .valid("no such key, or changes of the pattern alone"));
    }
    Ok(())
}
