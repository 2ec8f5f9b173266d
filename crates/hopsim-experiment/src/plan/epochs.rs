//! Links that fail in the middle of a run: what is simulated from which cycle on.
//!
//! Network, VCs and buffers are the same throughout, but for how slow links are; what changes is the routing, with the tables of the links that
//! these lead over, and what the state of the simulation is made into. So an epoch is a plan of its own, and a change.

use super::{Plan, jobs::answers, retransmit, stop, vcs};
use crate::config::Experiment;
use crate::config::measure::RecordStream;
use crate::config::program::ProgramConfig;
use crate::config::router::{FlowControl, RouterConfig, VcManagement};
use crate::config::virtual_channel::VirtualChannel;
use hopsim_cycles::change::{Change, Failure, RouterFailure};
use hopsim_cycles::choices::StageFlow;
use hopsim_cycles::injection::ControlConfig;
use hopsim_cycles::system::System;
use hopsim_network::error::ConfigError;
use hopsim_network::network::Network;
use hopsim_network::topology::Topology;
use hopsim_network::topology::faults::{
    LinkEnd, Missing, Outage, Reconfiguration, Slowdown, Timed, check_whole, without_these,
};
use hopsim_network::topology::period::Period;
use hopsim_routing::{Paths, Routing, RoutingConfig, Safety};
use hopsim_traffic::process::ProcessConfig;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is simulated from the beginning of a cycle on.
#[derive(Clone, Debug)]
pub struct Epoch {
    /// The cycle.
    pub at: u32,
    /// The plan with the tables of that cycle, which has no epochs of its own. It waits until the network is drained if the change says that the
    /// nodes cease to inject, or if they have ceased already.
    pub plan: Plan,
    /// What becomes of the state before the cycle is simulated.
    pub change: Change,
}

/// The tables of a run: with which links left out, and what is left of the topology.
pub struct Tables {
    outages: Vec<Outage>,
    slowdowns: Vec<Slowdown>,
    /// The first are those of cycle 0.
    all: Vec<(Missing, Arc<Topology>)>,
}

impl Tables {
    /// The tables over a topology, some of whose links are out of order for a while. It may have fallen apart before if `drops` says so.
    pub fn new(topology: &Arc<Topology>, timed: Timed, drops: bool) -> Result<Self, ConfigError> {
        let Timed { outages, slowdowns } = timed;
        if outages.is_empty() {
            let all = vec![(Missing::default(), Arc::clone(topology))];
            return Ok(Self { outages, slowdowns, all });
        }
        let mut tables = Self { outages, slowdowns, all: Vec::new() };
        for cycle in std::iter::once(0).chain(tables.cycles()) {
            let left = tables.left_out(cycle);
            let known = tables.all.iter().position(|(known, _)| *known == left);
            let number = known.unwrap_or(tables.all.len());
            if known.is_none() {
                // Without any link, too: VCs are those of a graph at all times, also where it is a tree now.
                let rest = Arc::new(without_these(topology, &left));
                tables.all.push((left, rest));
            }
            if !drops
                && !tables
                    .outages
                    .iter()
                    .any(|outage| outage.drops && outage.period.is_in_tables(cycle.into()))
            {
                let whole = check_whole(&tables.all[number].1);
                whole.map_err(|error| at_cycle(error.within("faults"), cycle))?;
            }
        }
        Ok(tables)
    }

    /// The topologies that tables lead over, the first one from cycle 0 on.
    pub fn topologies(&self) -> impl Iterator<Item = &Arc<Topology>> {
        self.all.iter().map(|(_, topology)| topology)
    }

    /// Says how new tables come into force and what sources send again, or checks what is given.
    pub fn resolve(&mut self, experiment: &mut Experiment, paths: &[Paths]) -> Result<(), ConfigError> {
        let retransmit = retransmit::plan(experiment)?;
        let by_hop = paths.iter().all(|paths| matches!(paths.safety, Safety::ByHop { .. }));
        let default = if by_hop { Reconfiguration::Dynamic } else { Reconfiguration::Static };
        let timed = experiment.faults.iter_mut().enumerate().filter(|(_, fault)| fault.is_outage());
        for ((number, fault), outage) in timed.zip(&mut self.outages) {
            let reaction = fault.reaction.get_or_insert_default();
            let given = *reaction.reconfiguration.get_or_insert(default);
            if by_hop && given == Reconfiguration::Static {
                let reason = "packets whose VC is that of the links passed before never wait for each other in a circle, whatever the tables";
                return Err(ConfigError::new(format!("faults.{number}.reaction.reconfiguration"), reason)
                    .value("\"static\"")
                    .valid("dynamic, or routing.minimal with vcs.discipline = \"layers\""));
            }
            if given == Reconfiguration::Static && !self.slowdowns.is_empty() {
                let reason = "links do not become slower in a run in which new tables wait until the network is drained";
                return Err(ConfigError::new(format!("faults.{number}.reaction.reconfiguration"), reason)
                    .value("\"static\"")
                    .valid("dynamic, or no entry with slowdown; VCs by hop are dynamic by default"));
            }
            reaction.retransmit = retransmit;
            outage.reaction = *reaction;
        }
        Ok(())
    }

    /// Whether some of the tables that come in a cycle wait until the network is drained.
    fn are_static(&self, cycle: u32) -> bool {
        let is = |outage: &Outage, cycle: u32| outage.period.is_in_tables(cycle.into());
        let changes = |outage: &&Outage| is(outage, cycle) != is(outage, cycle - 1);
        let is_static = |outage: &Outage| outage.reaction.reconfiguration == Some(Reconfiguration::Static);
        cycle > 0 && self.outages.iter().filter(changes).any(is_static)
    }

    /// Lets paths whose hops have a VC each use all VCs that there are, so that packets which are routed anew find one.
    pub fn widen(&self, experiment: &Experiment, paths: &mut [Paths]) {
        if self.outages.is_empty() {
            return;
        }
        let given = experiment.router.vcs();
        let least =
            [given.network, given.rail, given.local, given.global].into_iter().flatten().min().unwrap_or(1);
        let count = least / if answers(experiment) { 2 } else { 1 };
        for paths in paths {
            if let Safety::ByHop { vcs, .. } = &mut paths.safety {
                *vcs = count;
            }
        }
    }

    /// The routing over each of the tables.
    pub fn routings(&self, experiment: &Experiment, paths: &[Paths], network: &Network) -> Vec<Routing> {
        let build =
            |(topology, paths)| experiment.routing.build(topology, vcs::build(experiment, paths, network));
        self.topologies().zip(paths).map(build).collect()
    }

    /// The cycles in which something changes, ascending; those that no run reaches are left out.
    fn cycles(&self) -> BTreeSet<u32> {
        let slowdowns = self.slowdowns.iter().map(|slowdown| &slowdown.period);
        let periods = self.outages.iter().map(|outage| &outage.period).chain(slowdowns);
        periods.flat_map(Period::changes).filter_map(|cycle| cycle.try_into().ok()).collect()
    }

    /// A network as it is when no link is slower, in a run in which links become as slow as they do.
    pub fn in_order(&self, network: Network) -> Network {
        let paces = self.slowdowns.iter().map(|slowdown| network.pace_with(&self.slower(slowdown.period.at)));
        let slowest = paces.max();
        network.with_pace(slowest.unwrap_or(1))
    }

    /// The ends of links that are slower in a cycle, and how many times.
    fn slower(&self, cycle: u64) -> Vec<(LinkEnd, u32)> {
        let on = self.slowdowns.iter().filter(|slowdown| slowdown.period.is_on(cycle));
        on.flat_map(|slowdown| slowdown.links.iter().flatten().map(|&end| (end, slowdown.times))).collect()
    }

    /// The network in a cycle.
    fn network_at(&self, cycle: u32, in_order: &Arc<Network>) -> Arc<Network> {
        let slower = self.slower(cycle.into());
        if slower.is_empty() { Arc::clone(in_order) } else { Arc::new(in_order.slowed(slower)) }
    }

    /// What the tables in a cycle do not lead over.
    fn left_out(&self, cycle: u32) -> Missing {
        self.missing(|outage| outage.period.is_in_tables(cycle.into()))
    }

    /// What is missing by those outages of which `counts` says so.
    fn missing(&self, counts: impl Fn(&Outage) -> bool) -> Missing {
        let mut all = Missing::default();
        self.outages.iter().filter(|outage| counts(outage)).for_each(|outage| all.add(&outage.missing));
        all
    }

    /// What changes as a cycle begins.
    fn change_at(&self, cycle: u32, topology: &Topology) -> Change {
        let before = cycle.checked_sub(1);
        let was = |period: &Period, is: fn(&Period, u64) -> bool| {
            before.is_some_and(|cycle| is(period, cycle.into()))
        };
        let [out, known] = [Period::is_on, Period::is_detected].map(|is: fn(&Period, u64) -> bool| {
            let of = |cycle: u32| self.missing(|outage| is(&outage.period, cycle.into()));
            [before.map(of).unwrap_or_default(), of(cycle)]
        });
        let begins = |period: &Period| period.is_on(cycle.into()) && !was(period, Period::is_on);
        let dropped = self.missing(|outage| begins(&outage.period) && outage.reaction.packets.are_lost());
        let other = |&(router, port): &LinkEnd| Some([(router, port), topology.neighbour(router, port)?]);
        let more = |less: &Missing, more: &Missing| -> Vec<LinkEnd> {
            more.links.difference(&less.links).copied().collect()
        };
        let ends = |links: Vec<LinkEnd>| -> Vec<[LinkEnd; 2]> { links.iter().filter_map(other).collect() };
        let failing =
            |link: LinkEnd| Some(Failure { ends: other(&link)?, drops: dropped.links.contains(&link) });
        let down = out[1].routers.difference(&out[0].routers);
        let up = out[0].routers.difference(&out[1].routers);
        let are_new = before.is_some_and(|before| self.left_out(before) != self.left_out(cycle));
        let closes = are_new && self.are_static(cycle);
        let is_paced = |slowdown: &&Slowdown| {
            slowdown.period.is_on(cycle.into()) != was(&slowdown.period, Period::is_on)
        };
        let paced = self.slowdowns.iter().filter(is_paced).flat_map(|slowdown| &slowdown.links);
        Change {
            paced: paced.copied().collect(),
            repaired: ends(more(&out[1], &out[0])),
            failing: more(&out[0], &out[1]).into_iter().filter_map(failing).collect(),
            falling: down
                .map(|&router| RouterFailure { router, drops: dropped.routers.contains(&router) })
                .collect(),
            rising: up.copied().collect(),
            detected: ends(more(&known[0], &known[1])),
            closes,
            opens: false,
            reroutes: are_new && !closes,
        }
    }

    /// The epochs of a plan, whose routing and paths are these by table.
    pub fn epochs(&self, plan: &Plan, routings: &[Routing], paths: &[Paths]) -> Vec<Epoch> {
        let mut epochs = Vec::new();
        for at in self.cycles() {
            let (change, left) = (self.change_at(at, &plan.system.topology), self.left_out(at));
            let table = self.all.iter().position(|(known, _)| *known == left);
            let Some(table) = table.filter(|_| !change.is_empty()) else { continue };
            let (routing, paths) = (routings[table].clone(), paths[table].clone());
            let network = self.network_at(at, &plan.system.network);
            let system = System { routing, network, ..plan.system.clone() };
            let plan = Plan { experiment: plan.experiment.clone(), system, paths, epochs: Vec::new() };
            epochs.push(Epoch { at, plan, change });
        }
        epochs
    }
}

/// An error in what is left of a network from a cycle on.
fn at_cycle(error: ConfigError, cycle: u32) -> ConfigError {
    let reason = format!("{} (from cycle {cycle} on)", error.reason);
    ConfigError { reason, ..error }
}

/// Refuses links that fail in the middle of a run where the rest of the experiment does not know of them.
pub fn check(experiment: &Experiment, timed: &Timed) -> Result<(), ConfigError> {
    if *timed == Timed::default() {
        return Ok(());
    }
    let fail = !timed.outages.is_empty();
    check_router(experiment, fail)?;
    check_routing(&experiment.routing, fail)?;
    check_jobs(experiment, fail)?;
    check_cycles(experiment, fail)
}

/// Refuses routers whose packets, or whose words on and off, links cannot lose.
fn check_router(experiment: &Experiment, fail: bool) -> Result<(), ConfigError> {
    let router = experiment.router.name();
    if let RouterConfig::VirtualChannel(router) = &experiment.router {
        check_flits(experiment, router, fail)?;
    }
    if let (VcManagement::Flexvc(_), true) = (experiment.router.vcs().management, fail) {
        let reason = "a packet may hold a VC that it needs for the links by which new tables lead it";
        return Err(ConfigError::new(format!("router.{router}.vcs.management"), reason)
            .value("flexvc")
            .valid("increasing, or faults without at and until"));
    }
    if let Some(FlowControl::OnOff(_)) = experiment.router.flow_control().filter(|_| fail) {
        let reason = "a link that fails loses words on and off";
        return Err(ConfigError::new(format!("router.{router}.flow_control.on_off"), reason)
            .valid("credits, or faults without at and until"));
    }
    Ok(())
}

/// Refuses what virtual-channel routers do with flits that have been granted the switch and have not left, and what counts single flits.
fn check_flits(experiment: &Experiment, router: &VirtualChannel, fail: bool) -> Result<(), ConfigError> {
    let valid = |valid: &str| format!("{valid}, or faults without at, until and slowdown");
    let queues = [
        ("speedup", router.speedup > 1.0, "1.0"),
        ("crossbar_outputs", router.crossbar_outputs > 1, "1"),
        ("buffers.output", router.buffers.output.is_some(), "no such key"),
    ];
    if let Some((key, _, other)) = queues.into_iter().find(|queue| queue.1) {
        let reason = "where flits wait behind the crossbar links neither fail nor become slower in the middle of a run";
        return Err(ConfigError::new(format!("router.virtual_channel.{key}"), reason).valid(valid(other)));
    }
    if experiment.semantics.stages == Some(StageFlow::Batched) {
        let reason = "where flits go through the stages of a router together links neither fail nor become slower in the middle of a run";
        return Err(ConfigError::new("semantics.stages", reason).value("batched").valid(valid("pipelined")));
    }
    if !fail {
        return Ok(());
    }
    if experiment.measure.streams.contains(&RecordStream::FlitHops) {
        let reason = "flits that are lost on their way are not followed";
        return Err(ConfigError::new("measure.streams", reason)
            .value("flit_hops")
            .valid(valid("other streams")));
    }
    if let Some(number) = experiment
        .jobs
        .iter()
        .position(|job| job.traffic.as_ref().is_some_and(|traffic| traffic.request_reply.is_some()))
    {
        let reason = "the room for a reply is promised to a packet that may be lost on its way";
        let key = format!("jobs.{number}.traffic.request_reply");
        return Err(ConfigError::new(key, reason).valid(valid("router.cioq or input_queued, no such key")));
    }
    Ok(())
}

/// Refuses paths that know of no other tables.
fn check_routing(routing: &RoutingConfig, fail: bool) -> Result<(), ConfigError> {
    let keeps = match routing {
        RoutingConfig::Function(_) => Some("a function in Python does not know of a network that changes"),
        _ if !fail => None,
        RoutingConfig::KShortestPaths(_) | RoutingConfig::FatPaths(_) => Some(
            "a packet keeps to the path that it has drawn, which may lead over links that are out of order",
        ),
        RoutingConfig::Table(_) => Some("the table leads over links that are out of order"),
        RoutingConfig::Polarized(_) => {
            Some("a packet goes away from its source, and with other tables it would be elsewhere on its way")
        }
        RoutingConfig::UpDown(_) => {
            Some("a packet that has gone down one tree may have no way on in the tree of other links")
        }
        RoutingConfig::Fpar(_) => Some(
            "a packet that has gone to a spine may have no way down from there over the links that are left",
        ),
        RoutingConfig::Nue(_) => {
            Some("packets on the paths of two tables can wait for each other in a circle")
        }
        _ => None,
    };
    keeps.map_or(Ok(()), |reason| {
        Err(ConfigError::new(format!("routing.{}", routing.name()), reason)
            .valid("routing.minimal, adaptive, ecmp, valiant, ugal or par, or faults without at and until"))
    })
}

/// Refuses nodes that wait for packets which may be lost, and those that another simulator drives. Programs wait, too, and are told of what is lost.
fn check_jobs(experiment: &Experiment, fail: bool) -> Result<(), ConfigError> {
    let valid = "other jobs, or faults without at and until";
    for (number, job) in experiment.jobs.iter().enumerate() {
        if let Some(ProgramConfig::External(_)) = job.program {
            let reason =
                "links neither fail nor become slower in the middle of a run that another simulator drives";
            return Err(ConfigError::new(format!("jobs.{number}.program.external"), reason).valid(valid));
        }
        let Some(traffic) = job.traffic.as_ref().filter(|_| fail) else { continue };
        if traffic.request_reply.as_ref().is_some_and(|config| config.outstanding.is_some()) {
            let reason = "a node waits for the replies to its requests, and where links fail in the middle of a run packets may be lost";
            let key = format!("jobs.{number}.traffic.request_reply.outstanding");
            return Err(ConfigError::new(key, reason).valid("no such key, or faults without at and until"));
        }
        if let ProcessConfig::SynchronisedBursts(_) = &traffic.process {
            let reason = "a burst waits for the last packet of the one before, and where links fail in the middle of a run packets may be lost";
            let key = format!("jobs.{number}.traffic.process.synchronised_bursts");
            return Err(ConfigError::new(key, reason).valid(valid));
        }
    }
    Ok(())
}

/// Refuses links that fail when no run can.
fn check_cycles(experiment: &Experiment, fail: bool) -> Result<(), ConfigError> {
    if experiment.measure.is_adaptive() {
        let reason = "links fail in a given cycle, and nobody knows beforehand when this run is measured";
        return Err(ConfigError::new("measure", reason).valid(
            "no measure.stop or measure.end, and measure.warmup in cycles; or faults without at and until",
        ));
    }
    if let (ControlConfig::Sat(_), true) = (&experiment.nic.control, fail) {
        let reason = "the signal of injection control goes round links that may fail";
        return Err(
            ConfigError::new("nic.control.sat", reason).valid("no such key, or faults without at and until")
        );
    }
    let (warmup, cycles) = stop::longest(experiment);
    let end = warmup + cycles;
    for (number, fault) in experiment.faults.iter().enumerate() {
        let late = [("at", Some(fault.at)), ("until", fault.until)];
        if let Some((key, cycle)) =
            late.into_iter().find_map(|(key, at)| Some((key, at.filter(|&at| at >= end)?)))
        {
            let reason = format!("the run ends with cycle {}", end - 1);
            return Err(ConfigError::new(format!("faults.{number}.{key}"), reason)
                .value(cycle)
                .valid(format!("at most {}, or no such key", end - 1)));
        }
    }
    Ok(())
}
