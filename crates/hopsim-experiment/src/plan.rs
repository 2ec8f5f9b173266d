//! The plan: an experiment checked and resolved. Nothing in it is optional, nothing can fail any more.

mod any;
mod classes;
mod cut_off;
mod damq;
mod disciplines;
mod epochs;
pub mod external;
pub mod fabric;
mod flow_control;
mod generators;
mod given;
mod jobs;
pub mod means;
pub mod output_vcs;
mod packets;
mod priorities;
pub mod programs;
mod quantity;
mod retransmit;
mod rings;
mod settled;
mod stop;
mod unsaved;
mod vcs;
mod virtual_channel;

pub use any::AnyPlan;
pub use epochs::Epoch;
pub use fabric::FabricPlan;
pub use settled::settled;
pub use unsaved::{unchangeable, unsaved};

use crate::config::limits::{CYCLES, DELAYS, INJECTION_PORTS, MAX_CYCLES, VCS, within};
use crate::config::measure::RecordStream;
use crate::config::router::{CROSSBAR_OUTPUTS, RouterConfig};
use crate::config::saturate::SaturateConfig;
use crate::config::{Compat, Experiment, JobConfig, LinkConfig, NicConfig, SourceQueue, SweepConfig};
use crate::memory;
use epochs::Tables;
use hopsim_cycles::choices::Consumption;
use hopsim_cycles::choices::{
    Ejection, HopCount, InjectionCount, InjectionLatency, InjectionLink, InjectionVc, InputPointer,
    OutputHold, PortOrder, SelfTraffic, StageFlow,
};
use hopsim_cycles::injection::{ControlConfig, InjectionControl};
use hopsim_cycles::jobs::job_of;
use hopsim_cycles::system::{CioqPlan, MOST_QUEUED, NicPlan, RouterPlan, System};
use hopsim_network::error::ConfigError;
use hopsim_network::network::{NONE, Network};
use hopsim_network::topology::{LATENCIES, Topology};
use hopsim_routing::{Paths, RoutingConfig};
use hopsim_traffic::process::ProcessConfig;
use jobs::answers;
use std::sync::Arc;

/// Most rows of a time series, and of packets.
pub const MOST_ROWS: u32 = 10_000_000;

/// An experiment ready to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The document with every default filled in.
    pub experiment: Experiment,
    /// What is simulated.
    pub system: System,
    /// The paths of packets by the tables that there are at first.
    pub paths: Paths,
    /// What is simulated later on, ascending, where links fail or are repaired in the middle of the run.
    pub epochs: Vec<Epoch>,
}

impl Plan {
    /// Checks and resolves an experiment (whose sweep, if any, is ignored).
    pub fn new(experiment: &Experiment) -> Result<Self, ConfigError> {
        Self::with_programs(experiment, &programs::no_files)
    }

    /// Checks and resolves an experiment whose programs are in files, which `library` reads.
    pub fn with_programs(
        experiment: &Experiment,
        library: &programs::Library<'_>,
    ) -> Result<Self, ConfigError> {
        Self::resolved(experiment, library).map_err(|error| for_want_of_structure(experiment, error))
    }

    fn resolved(experiment: &Experiment, library: &programs::Library<'_>) -> Result<Self, ConfigError> {
        experiment.sweep.as_ref().map_or(Ok(()), check_sweep)?;
        let mut experiment = Experiment { sweep: None, ..experiment.clone() };
        check_router(&experiment)?;
        virtual_channel::check(&experiment)?;
        jobs::resolve_work(&mut experiment)?;
        resolve_compat(&mut experiment);
        check_ejection(&experiment)?;
        jobs::resolve_load(&mut experiment)?;
        stop::resolve(&mut experiment)?;
        check_measure(&experiment)?;
        classes::resolve_latencies(&mut experiment)?;
        let (topology, mut tables) = build_topology(&experiment)?;
        let laid_out = lay_out(&mut experiment, &topology)?;
        jobs::resolve_names(&mut experiment)?;
        let priorities = priorities::plan(&experiment)?;
        let mut paths =
            tables.topologies().map(|rest| paths(&experiment, rest)).collect::<Result<Vec<_>, _>>()?;
        tables.resolve(&mut experiment, &paths)?;
        classes::resolve(&mut experiment, &topology)?;
        vcs::resolve_all(&mut experiment, &topology, &paths)?;
        tables.widen(&experiment, &mut paths);
        let mut router = router_plan(&experiment)?;
        let mut classes = classes::build(&experiment, &topology, &paths[0])?;
        damq::share(&experiment, &topology, (&mut router, &mut classes))?;
        if let RouterPlan::VirtualChannel(router) = &router {
            virtual_channel::check_buffers(router, &classes, topology.link_classes())?;
        }
        check_injection(&experiment, &topology)?;
        hopsim_memory::probe(memory::of_plan(&topology)).map_err(ConfigError::too_large)?;
        let network = Arc::new(tables.in_order(Network::new(
            &topology,
            classes,
            experiment.nic.injection_ports as u8,
            experiment.router.crossbar_inputs().number() as u8,
        )));
        check_size(&network)?;
        given::check(&experiment, &network, &paths[0])?;
        let routings = tables.routings(&experiment, &paths, &network);
        let routing = routings[0].clone();
        let jobs = jobs::build(&experiment, &laid_out, &network, library)?;
        if let RouterPlan::Cioq(router) = &mut router {
            let sizes = flow_control::Sizes::new(&network, &jobs);
            router.on_off = flow_control::thresholds(&mut experiment, (router, &routing), &sizes)?;
        }
        let nic = nic_plan(&experiment);
        let control = control(&experiment, &topology, &network)?;
        // Nodes behind the last rank of a program are idle, and those of jobs that do not run.
        let job_of = job_of(&jobs, network.nodes);
        let seed = experiment.measure.seed;
        let system =
            System { topology, network, routing, router, nic, jobs, priorities, job_of, control, seed };
        let mut plan = Self { experiment, system, paths: paths[0].clone(), epochs: Vec::new() };
        if !plan.experiment.topology.is_ideal() {
            plan.check_buffers()?;
        }
        stop::check_metric(&plan)?;
        programs::check_contention(&plan)?;
        plan.check_rows()?;
        packets::check(&plan)?;
        plan.epochs = tables.epochs(&plan, &routings, &paths);
        Ok(plan)
    }

    /// Cycles by which a packet reaches its node later than if the link there took one cycle.
    pub fn ejection_delay(&self) -> u32 {
        self.experiment.links.ejection.map_or(0, |link| link.latency - 1)
    }

    /// Refuses series that nobody could read. Series of programs, of which nobody knows how long they take, are watched.
    fn check_rows(&self) -> Result<(), ConfigError> {
        let interval = self.experiment.measure.interval;
        let (warmup, cycles) = stop::longest(&self.experiment);
        let each = u64::from(output_vcs::rows_per_interval(self));
        let end = u64::from(warmup + cycles);
        // That those with a row each are not too long has been checked before.
        let is_short = each == 1 || interval == 0 || end.div_ceil(interval.into()) * each <= MOST_ROWS.into();
        if is_short || self.system.has_programs() {
            return Ok(());
        }
        let reason =
            format!("a stream has up to {each} rows per interval, and would have more than 10,000,000");
        let least = end.div_ceil((u64::from(MOST_ROWS) / each).max(1));
        Err(ConfigError::new("measure.interval", reason).value(interval).valid(format!("at least {least}")))
    }

    /// Whether some node sends a packet only when its injection buffer has room for all of it.
    fn sends_whole_packets(&self) -> bool {
        let system = &self.system;
        system.router.keeps_whole_packets()
            || system.jobs.iter().any(|job| job.program().is_some() || job.request_reply())
    }

    fn check_buffers(&self) -> Result<(), ConfigError> {
        let name = self.experiment.router.name();
        let longest = self.system.longest_packet();
        let classes = &self.system.network.classes;
        let links = self.system.network.link_classes.iter().zip(&classes.links);
        // Where packets lie in several routers, buffers of links may be shorter.
        let links = links.filter(|_| self.system.router.keeps_whole_packets());
        let links = links.map(|(&key, class)| (key, class.buffer));
        let injection = self.sends_whole_packets().then_some(classes.terminal.buffer);
        let own = [("injection", injection), ("output", self.system.router.output_buffer())];
        let own = own.into_iter().filter_map(|(key, size)| Some((key, size?)));
        for (key, size) in links.chain(own) {
            if size < longest {
                let who = if self.system.router.keeps_whole_packets() {
                    "virtual cut-through"
                } else {
                    "a node that runs a program or answers requests"
                };
                let reason = format!("{who} needs room for a whole packet of {longest} phits");
                return Err(ConfigError::new(format!("router.{name}.buffers.{key}"), reason)
                    .value(size)
                    .valid(format!("at least {longest} phits")));
            }
        }
        for (key, class) in self.system.network.link_classes.iter().zip(&classes.links) {
            let least = class.bubble + longest;
            if class.bubble > 0 && class.buffer < least {
                let reason = format!("bubble flow control needs room for two packets of {longest} phits");
                return Err(ConfigError::new(format!("router.{name}.buffers.{key}"), reason)
                    .value(class.buffer)
                    .valid(format!("at least {least} phits")));
            }
        }
        let (shortest, most) = (self.system.shortest_packet(), MOST_QUEUED);
        let are_equal = shortest == longest;
        if let Some(size) =
            self.system.router.output_buffer().filter(|size| are_equal && size / shortest > most)
        {
            return Err(ConfigError::new(
                format!("router.{name}.buffers.output"),
                format!("an output queue holds at most {most} packets, and the shortest packet has {shortest} phits"),
            )
            .value(size)
            .valid(format!("at most {} phits", (most + 1) * shortest - 1)));
        }
        Ok(())
    }
}

/// Refuses what a sweep could not do.
fn check_sweep(sweep: &SweepConfig) -> Result<(), ConfigError> {
    sweep.branch_at.map_or(Ok(()), |at| within(CYCLES, at, "sweep.branch_at"))?;
    sweep.saturate.as_ref().map_or(Ok(()), SaturateConfig::check)
}

/// Refuses a router that has a plan of its own, see [`AnyPlan`].
fn check_router(experiment: &Experiment) -> Result<(), ConfigError> {
    if !experiment.is_fabric() {
        return Ok(());
    }
    let reason = "a fabric of InfiniBand has no cycles, phits and packets that routers route";
    let refused = ConfigError::new("router.infiniband", reason).valid("cioq, input_queued, virtual_channel");
    Err(experiment.router.told(refused))
}

fn resolve_compat(experiment: &mut Experiment) {
    let fogsim = experiment.compat == Some(Compat::Fogsim);
    let booksim = experiment.compat == Some(Compat::Booksim);
    let nic = &mut experiment.nic;
    nic.source_queue.get_or_insert(if fogsim { SourceQueue::Packets(0) } else { SourceQueue::Unbounded });
    nic.injection_vc.get_or_insert(match experiment.compat {
        Some(Compat::Fogsim) => InjectionVc::Destination,
        Some(Compat::Booksim) => InjectionVc::RoundRobin,
        None => InjectionVc::Shortest,
    });
    let s = &mut experiment.semantics;
    s.ejection.get_or_insert(if fogsim { Ejection::IdleNode } else { Ejection::Link });
    s.output_hold.get_or_insert(if fogsim { OutputHold::Speedup } else { OutputHold::Transfer });
    s.input_pointer.get_or_insert(if fogsim { InputPointer::Request } else { InputPointer::Grant });
    s.injection_link.get_or_insert(if fogsim { InjectionLink::Unlimited } else { InjectionLink::Serial });
    s.injection_count.get_or_insert(if fogsim { InjectionCount::Buffer } else { InjectionCount::Network });
    s.injection_latency.get_or_insert(match experiment.compat {
        Some(Compat::Fogsim) => InjectionLatency::Departure,
        Some(Compat::Booksim) => InjectionLatency::Admission,
        None => InjectionLatency::Grant,
    });
    s.self_traffic.get_or_insert(if booksim { SelfTraffic::Router } else { SelfTraffic::None });
    s.hop_count.get_or_insert(if booksim { HopCount::Routers } else { HopCount::Links });
    if let RouterConfig::VirtualChannel(_) = experiment.router {
        s.port_order.get_or_insert(if booksim { PortOrder::Booksim } else { PortOrder::Topology });
        s.stages.get_or_insert(if booksim { StageFlow::Batched } else { StageFlow::Pipelined });
    }
    let links = &mut experiment.links;
    let ejection = if booksim { links.injection } else { LinkConfig { latency: 1 } };
    links.ejection.get_or_insert(ejection);
}

/// Refuses links to nodes that take time where nodes go on when a packet has left its router.
fn check_ejection(experiment: &Experiment) -> Result<(), ConfigError> {
    let Some(LinkConfig { latency }) = experiment.links.ejection else { return Ok(()) };
    within(LATENCIES, latency, "links.ejection.latency")?;
    let in_step = |job: &JobConfig| {
        job.traffic
            .as_ref()
            .is_some_and(|traffic| matches!(traffic.process, ProcessConfig::SynchronisedBursts(_)))
    };
    let reason = if experiment.has_programs() {
        "programs go on when a packet has left for its node"
    } else if answers(experiment) {
        "nodes answer a request when it has left for them"
    } else if experiment.jobs.iter().any(in_step) {
        "bursts begin when the last packet has left for its node"
    } else {
        return Ok(());
    };
    if latency == 1 {
        return Ok(());
    }
    Err(ConfigError::new("links.ejection.latency", reason).value(latency).valid("1"))
}

fn check_measure(experiment: &Experiment) -> Result<(), ConfigError> {
    let m = &experiment.measure;
    let warmup = m.warmup.cycles();
    within(0..=MAX_CYCLES, warmup, "measure.warmup")?;
    within(CYCLES, m.cycles, "measure.cycles")?;
    within(CYCLES, m.watchdog, "measure.watchdog")?;
    if u64::from(warmup) + u64::from(m.cycles) > u64::from(MAX_CYCLES) {
        return Err(ConfigError::new("measure.cycles", "the run is too long")
            .value(m.cycles)
            .valid(format!("warmup + cycles ≤ {MAX_CYCLES}")));
    }
    let (_, longest) = stop::longest(experiment);
    // Nobody knows how long programs take: their time series is watched while they run.
    if m.interval > 0 && longest / m.interval > MOST_ROWS && !experiment.has_programs() {
        return Err(ConfigError::new(
            "measure.interval",
            "the time series would have more than 10,000,000 rows",
        )
        .value(m.interval)
        .valid(format!("0 or at least {}", longest / MOST_ROWS + 1)));
    }
    check_streams(experiment)?;
    if m.interval > warmup + m.cycles {
        let reason =
            format!("the run ends after {} cycles, before the first interval does", warmup + m.cycles);
        return Err(ConfigError::new("measure.interval", reason)
            .value(m.interval)
            .valid(format!("1 … {}, or 0 for no time series", warmup + m.cycles)));
    }
    let by_interval = RecordStream::OF_INTERVALS.into_iter().find(|stream| m.streams.contains(stream));
    if let Some(stream) = by_interval.filter(|_| m.interval == 0) {
        let reason = format!("the stream {} has a row per interval", stream.name());
        return Err(ConfigError::new("measure.interval", reason).value(0).valid("1 … cycles"));
    }
    if m.batches == 0 || m.batches > m.cycles.min(10_000) {
        return Err(ConfigError::new(
            "measure.batches",
            "the window cannot be divided into that many batches",
        )
        .value(m.batches)
        .valid(format!("1 … {}", m.cycles.min(10_000))));
    }
    Ok(())
}

/// Refuses record streams that would stay empty.
fn check_streams(experiment: &Experiment) -> Result<(), ConfigError> {
    let m = &experiment.measure;
    let (has_programs, has_contention) = (experiment.has_programs(), experiment.has_contention());
    for (index, stream) in m.streams.iter().enumerate() {
        if *stream == RecordStream::OutputQueues && matches!(experiment.router, RouterConfig::InputQueued(_))
        {
            let reason = "input-queued routers have no output queues";
            return Err(ConfigError::new(format!("measure.streams.{index}"), reason)
                .value(format!("{:?}", stream.name()))
                .valid("no such stream, or router.cioq"));
        }
        let has_flits = matches!(experiment.router, RouterConfig::VirtualChannel(_));
        if *stream == RecordStream::FlitHops && has_contention && !has_flits {
            let reason = "packets do not move flit by flit";
            return Err(ConfigError::new(format!("measure.streams.{index}"), reason)
                .value(format!("{:?}", stream.name()))
                .valid("packet_hops, or router.virtual_channel"));
        }
        let reason = match RecordStream::OF_PROGRAMS.contains(stream) {
            _ if RecordStream::OF_FABRICS.contains(stream) => {
                "the network is no fabric of InfiniBand or Ethernet"
            }
            true if !has_programs => "no job runs a program",
            true if *stream != RecordStream::MessageSizes && !experiment.has_ranks() => {
                "another simulator drives the nodes of all programs, and is told of their messages"
            }
            false if !has_contention => "without contention no router sees a packet",
            _ => continue,
        };
        let valid = if has_programs {
            let names = RecordStream::OF_PROGRAMS.map(RecordStream::name);
            format!("streams of programs: {}", names.join(", "))
        } else {
            "no such stream".into()
        };
        let refused = ConfigError::new(format!("measure.streams.{index}"), reason);
        return Err(refused.value(format!("{:?}", stream.name())).valid(valid));
    }
    if m.interval > 0 && !has_contention {
        let reason = "without contention there is no time series: no router sees a packet";
        return Err(ConfigError::new("measure.interval", reason).value(m.interval).valid("no such key"));
    }
    Ok(())
}

/// Ejection VCs for requests: with request-reply one, or one for each injection VC of replies if the requester fixes it.
fn request_vcs(experiment: &Experiment, injection: u32) -> u8 {
    match (answers(experiment), experiment.nic.injection_vc) {
        (false, _) => 0,
        (true, Some(InjectionVc::Destination)) => injection.div_ceil(2) as u8,
        (true, _) => 1,
    }
}

/// The paths of packets over a topology.
fn paths(experiment: &Experiment, topology: &Topology) -> Result<Paths, ConfigError> {
    let paths = disciplines::paths(experiment, topology)?;
    let paths = virtual_channel::paths(experiment, topology, paths);
    rings::resolve(experiment, topology, paths)
}

/// The topology, whose routers with nodes all have as many, and the tables over it.
fn build_topology(experiment: &Experiment) -> Result<(Arc<Topology>, Tables), ConfigError> {
    let (topology, timed) = experiment.build_topology()?;
    if !topology.has_equal_routers() {
        let reason = "routers with different numbers of nodes are for fabrics of InfiniBand or Ethernet";
        return Err(ConfigError::new("topology.graph.nodes", reason)
            .valid("as many nodes on every router that has nodes, or router.infiniband or router.ethernet"));
    }
    epochs::check(experiment, &timed)?;
    cut_off::check(experiment)?;
    let topology = Arc::new(topology);
    let drops = experiment.faults.iter().any(|fault| fault.is_for_good() && fault.drops());
    let tables = Tables::new(&topology, timed, drops)?;
    Ok((topology, tables))
}

/// An error about paths or VCs, which says so where a topology is a mere graph because of its faults.
fn for_want_of_structure(experiment: &Experiment, error: ConfigError) -> ConfigError {
    let is_graph = !experiment.faults.is_empty() && experiment.topology.ties().is_none();
    if !is_graph || !error.path.starts_with("routing") && !error.path.contains(".vcs.") {
        return error;
    }
    let reason = format!("{} (with faults a network is the graph of its links)", error.reason);
    ConfigError { reason, ..error }
}

/// The topology of the document, with links that are out of order, whose defaults are filled in. Traffic is laid out over it; of a graph
/// nothing but its nodes and groups counts there, which the rest has, too.
fn lay_out(experiment: &mut Experiment, rest: &Arc<Topology>) -> Result<Arc<Topology>, ConfigError> {
    let is_rest = experiment.faults.is_empty() || experiment.topology.ties().is_some();
    let built = || experiment.topology.build().map(Arc::new).map_err(|error| error.within("topology"));
    let laid_out = if is_rest { Arc::clone(rest) } else { built()? };
    experiment.topology.resolve(&laid_out);
    Ok(laid_out)
}

fn router_plan(experiment: &Experiment) -> Result<RouterPlan, ConfigError> {
    match &experiment.router {
        RouterConfig::VirtualChannel(router) => {
            virtual_channel::plan(experiment, router).map(RouterPlan::VirtualChannel)
        }
        _ => cioq_plan(experiment).map(RouterPlan::Cioq),
    }
}

fn cioq_plan(experiment: &Experiment) -> Result<CioqPlan, ConfigError> {
    let (name, speedup, crossbar_latency, pipeline_latency, output, allocator) = match &experiment.router {
        RouterConfig::Cioq(r) => {
            ("cioq", r.speedup, r.crossbar_latency, r.pipeline_latency, Some(r.buffers.output), &r.allocator)
        }
        RouterConfig::InputQueued(r) => {
            ("input_queued", 1.0, r.crossbar_latency, r.pipeline_latency, None, &r.allocator)
        }
        RouterConfig::VirtualChannel(_) | RouterConfig::Infiniband(_) | RouterConfig::Ethernet(_) => {
            unreachable!("such routers have plans of their own")
        }
    };
    let consumption = consumption(experiment)?;
    if !(1.0..=64.0).contains(&speedup) {
        return Err(ConfigError::new(
            format!("router.{name}.speedup"),
            if speedup < 1.0 { "the crossbar is at least as fast as the links" } else { "is too large" },
        )
        .value(speedup)
        .valid("1 … 64"));
    }
    within(DELAYS, crossbar_latency, format!("router.{name}.crossbar_latency"))?;
    within(DELAYS, pipeline_latency, format!("router.{name}.pipeline_latency"))?;
    within(1..=8, allocator.iterations, format!("router.{name}.allocator.iterations"))?;
    within(VCS, experiment.router.crossbar_inputs().number(), format!("router.{name}.crossbar_inputs"))?;
    let longest = jobs::longest_packet(experiment).min(4096);
    // The small term keeps a quotient that is an integer from being rounded up.
    let crossing = (0..=longest).map(|length| (f64::from(length) / speedup - 1e-9).ceil().max(1.0) as u32);
    let s = &experiment.semantics;
    Ok(CioqPlan {
        crossing: crossing.collect(),
        crossbar_latency,
        pipeline_latency,
        output_buffer: output,
        allocator: allocator.clone(),
        // Without an output queue there is nothing for several packets to wait in.
        ejection: if output.is_some() { s.ejection.unwrap_or(Ejection::Link) } else { Ejection::Link },
        output_hold: s.output_hold.unwrap_or(OutputHold::Transfer),
        input_pointer: s.input_pointer.unwrap_or(InputPointer::Grant),
        damq: None,
        on_off: None,
        consumption,
        crossbar_outputs: crossbar_outputs(experiment)?,
    })
}

/// Outputs of the crossbar that an output port has. Without output queues it has one.
fn crossbar_outputs(experiment: &Experiment) -> Result<u8, ConfigError> {
    let RouterConfig::Cioq(router) = &experiment.router else { return Ok(1) };
    within(CROSSBAR_OUTPUTS, router.crossbar_outputs, "router.cioq.crossbar_outputs")?;
    Ok(router.crossbar_outputs as u8)
}

/// How packets leave for the nodes.
fn consumption(experiment: &Experiment) -> Result<Consumption, ConfigError> {
    let RouterConfig::InputQueued(router) = &experiment.router else { return Ok(Consumption::Serial) };
    if router.consumption == Consumption::Parallel && answers(experiment) {
        return Err(ConfigError::new(
            "router.input_queued.consumption",
            "a node takes a request only if it has room for its reply, one at a time",
        )
        .value("parallel")
        .valid("serial, or jobs without request_reply"));
    }
    Ok(router.consumption)
}

/// Refuses several injection ports, and choices among their VCs, that do not fit the network.
fn check_injection(experiment: &Experiment, topology: &Topology) -> Result<(), ConfigError> {
    let NicConfig { injection_ports: ports, injection_vc, .. } = experiment.nic;
    within(INJECTION_PORTS, ports, "nic.injection_ports")?;
    let directed = injection_vc == Some(InjectionVc::Direction);
    if directed && !matches!(topology, Topology::Cube(_)) {
        return Err(ConfigError::new("nic.injection_vc", "only meshes, tori and rings have directions")
            .value("direction")
            .valid("shortest, destination, round_robin or random; or topology.mesh, torus or ring"));
    }
    if ports == 2 && !directed {
        let reason = "the direction in which a packet sets out says which one it takes";
        return Err(ConfigError::new("nic.injection_ports", reason)
            .value(ports)
            .valid("1, or injection_vc = \"direction\""));
    }
    let vcs = experiment.router.vcs().injection;
    if directed && vcs % 2 == 1 {
        let path = format!("router.{}.vcs.injection", experiment.router.name());
        let reason = "half of them are for one direction, half for the other";
        return Err(ConfigError::new(path, reason).value(vcs).valid("an even number"));
    }
    if directed && answers(experiment) {
        return Err(ConfigError::new("nic.injection_vc", "half of the VCs are for replies")
            .value("direction")
            .valid("shortest, destination, round_robin or random, or jobs without request_reply"));
    }
    Ok(())
}

fn nic_plan(experiment: &Experiment) -> NicPlan {
    let (nic, s) = (&experiment.nic, &experiment.semantics);
    NicPlan {
        source_queue: match nic.source_queue {
            Some(SourceQueue::Packets(packets)) => packets,
            _ => u32::MAX,
        },
        when_full: nic.when_full,
        injection_vc: nic.injection_vc.unwrap_or(InjectionVc::Shortest),
        injection_link: s.injection_link.unwrap_or(InjectionLink::Serial),
        injection_count: s.injection_count.unwrap_or(InjectionCount::Network),
        injection_latency: s.injection_latency.unwrap_or(InjectionLatency::Grant),
        self_traffic: s.self_traffic.unwrap_or(SelfTraffic::None),
        injection_ports: nic.injection_ports as u8,
        retransmit: experiment.faults.iter().find_map(|fault| fault.reaction?.retransmit),
    }
}

fn control(
    experiment: &Experiment,
    topology: &Topology,
    network: &Network,
) -> Result<InjectionControl, ConfigError> {
    let adaptive = matches!(experiment.routing, RoutingConfig::Adaptive(_)) && topology.has_escape();
    if matches!(experiment.nic.control, ControlConfig::Lbr(_)) && !adaptive {
        return Err(ConfigError::new(
            "nic.control.lbr",
            "restricts adaptive VCs, which the network does not have",
        )
        .valid("routing.adaptive in a mesh, torus, ring or HyperX"));
    }
    if matches!(experiment.nic.control, ControlConfig::Sat(_)) && answers(experiment) {
        let reason = "a node that waits for the signal would hold back the replies that other nodes wait for, \
                      which then never pass the signal on";
        return Err(ConfigError::new("nic.control.sat", reason)
            .valid("jobs without request_reply, or nic.control = \"none\""));
    }
    let latencies: Vec<u32> = network.classes.links.iter().map(|class| class.latency).collect();
    let longest = jobs::longest_packet(experiment);
    let sizes = (network.classes.links[0].buffer, longest);
    experiment.nic.control.build(topology, &latencies, sizes).map_err(|e| e.within("nic.control"))
}

/// Refuses networks that are too large: the engine's masks hold at most 512 slots per router and its ids 32 bits.
fn check_size(network: &Network) -> Result<(), ConfigError> {
    let layout = &network.layout;
    let most = layout.slots().max(layout.pairs());
    if most > 512 {
        return Err(ConfigError::new("router", format!("a router would have {most} input VCs"))
            .valid("at most 512 input VCs per router: fewer ports or fewer VCs"));
    }
    if u64::from(network.routers) * (most.next_power_of_two().max(64) as u64) >= u64::from(NONE) {
        return Err(ConfigError::new("topology", "the network would have more than 2^32 input VCs")
            .valid("fewer routers or fewer VCs"));
    }
    Ok(())
}
