//! The plan of a fabric of InfiniBand or Ethernet: what [`hopsim_infiniband`] simulates, and what is measured.

mod circles;
mod clock;
mod congestion;
mod congestion_defaults;
mod exceptions;
mod faults;
mod flow_control;
mod flows;
mod forwarding;
mod kept;
mod lanes;
mod measured_sizes;
mod messages;
mod port_exceptions;
mod programs;
mod rates;
mod sizes;
mod span;
pub mod used;
mod ways;
mod wiring;

pub use clock::in_words;
pub use flows::{Account, is_open};
pub use kept::Kept;
pub use messages::MessagesPlan;
pub use programs::FabricProgram;
pub use sizes::MessageLengths;
pub use span::Span;
pub use ways::Ways;
pub use wiring::outputs;

use super::jobs::{check_only, place_job, resolve_names};
use super::programs::Library;
use super::quantity::{SIZES, positive};
use super::within;
use crate::config::Experiment;
use crate::config::ethernet::{self, Ethernet};
use crate::config::infiniband::{
    self, ChannelAdapter, FabricLinks, FabricSwitch, Infiniband, SwitchArbitration, TRANSFERS,
};
use crate::config::measure::TimeConfig;
use crate::config::router::RouterConfig;
use clock::{Clock, Time};
use exceptions::At;
use hopsim_infiniband::engine::state_bytes;
use hopsim_infiniband::fabric::{Arbitration, BLOCK, Fabric, FlowControl, HostRules, SwitchRules, Switching};
use hopsim_infiniband::faults::Faults;
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::forwarding::Tables;
use hopsim_infiniband::reaction::ReactionConfig;
use hopsim_infiniband::time::Ticks;
use hopsim_network::error::ConfigError;
use hopsim_network::topology::{Topology, TopologyConfig};
use hopsim_programs::job::Programs;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;
use wiring::{LAST, Network, Wiring};

/// Legal lengths of the longest packet \[bytes\].
const MTUS: [u32; 5] = [256, 512, 1024, 2048, 4096];

/// Largest buffer \[bytes\].
const MOST_BUFFER: u64 = 1 << 30;

/// Where the router stands in the document.
const ROUTER: &str = "router.infiniband";

/// A fabric ready to run.
#[derive(Clone, Debug)]
pub struct FabricPlan {
    /// The document with every default filled in.
    pub experiment: Experiment,
    /// The topology.
    pub topology: Arc<Topology>,
    /// Cables and forwarding tables.
    pub wiring: Arc<Wiring>,
    /// The fabric.
    pub fabric: Fabric,
    /// Steps that it takes to set up the fabric, see [`hopsim_network::interrupt`]; this plan may have found it done.
    pub steps: u64,
    /// The flows that hosts send.
    pub flows: Vec<Flow>,
    /// Messages that nodes draw besides the flows.
    pub messages: Vec<MessagesPlan>,
    /// Programs that nodes run besides the flows.
    pub programs: Vec<FabricProgram>,
    /// Length of a cycle of the programs.
    pub cycle: Ticks,
    /// What is measured together: first each of the flows, then all that each node draws or its program sends.
    pub accounts: Vec<Account>,
    /// The names of the jobs that run.
    pub jobs: Vec<String>,
    /// What is measured when.
    pub span: Span,
}

impl FabricPlan {
    /// Checks and resolves an experiment whose router is a fabric's (and whose sweep, if any, is ignored), with programs in files that
    /// `library` reads.
    pub fn new(experiment: &Experiment, library: &Library<'_>) -> Result<Self, ConfigError> {
        Self::build(experiment, library).map_err(|error| experiment.router.told(error))
    }

    fn build(experiment: &Experiment, library: &Library<'_>) -> Result<Self, ConfigError> {
        let mut experiment = Experiment { sweep: None, ..experiment.clone() };
        resolve_names(&mut experiment)?;
        check_only(&experiment)?;
        flows::resolve(&mut experiment)?;
        messages::resolve(&mut experiment);
        programs::resolve(&mut experiment)?;
        experiment.measure.time.get_or_insert_with(TimeConfig::default);
        let config = resolve_router(&mut experiment.router)?;
        check_topology(&experiment)?;
        faults::resolve(&mut experiment, &config.forwarding)?;
        let network = Network::of(&LAST, &experiment, &config.forwarding)?;
        let topology = Arc::clone(&network.topology);
        network.resolve(&mut experiment.topology);
        let mut clock = Clock::default();
        let times = Times::read(&config, &mut clock)?;
        let special = exceptions::read(&config.links, &topology, &mut clock)?;
        let written = flows::read(&experiment, topology.nodes(), &mut clock)?;
        let drawn = messages::read(&experiment, &mut clock)?;
        let failing = faults::read(&experiment, &mut clock)?;
        let measured = span::read(&experiment, &mut clock)?;
        let cycle = clock.ticks(&times.cycle)?;
        let longest = experiment.has_programs().then(|| programs::longest(&experiment, cycle, &clock));
        let span = measured.span(&clock, longest.transpose()?)?;
        let flows = flows::build(&experiment, &written, &clock)?;
        let special = exceptions::links(&special, &clock)?;
        let (wiring, mut fabric) = build(&config, &network, special, &times, &clock)?;
        let changes = faults::build(&experiment, &failing, &network, (&config.forwarding, &clock, span.end))?;
        if let Some((faults, first)) = changes {
            (fabric.faults, fabric.forwarding) = (faults, first);
        }
        fabric.paths = wiring.paths(experiment.measure.seed);
        congestion::check_faults(&fabric)?;
        flow_control::build(&experiment.router, &mut fabric)?;
        let mut places = place(&experiment, &topology)?;
        let messages = messages::build(&experiment, &topology, &mut places, &drawn, &clock)?;
        let programs = programs::build(&experiment, &mut places, &config.host.cycle, library)?;
        let of_nodes = messages.iter().map(|plan| (plan.job, &plan.nodes));
        let of_nodes = of_nodes.chain(programs.iter().map(|program| (program.job, &program.plan.nodes)));
        let of_nodes = of_nodes.flat_map(|(job, nodes)| nodes.iter().map(move |&node| (job, node)));
        let accounts = flows::accounts(&experiment, of_nodes);
        let jobs = experiment.running().filter_map(|(_, job)| job.name.clone()).collect();
        span::check_rows(&experiment, &span, accounts.len())?;
        let mut plan = Self {
            experiment,
            topology,
            steps: wiring.steps,
            wiring,
            fabric,
            flows,
            messages,
            programs,
            cycle,
            accounts,
            jobs,
            span,
        };
        if !config.lanes.allow_deadlock {
            plan.steps += circles::check(&plan)?;
        }
        Ok(plan)
    }

    /// The forwarding tables: those of the beginning, and those that are written later on.
    pub fn tables(&self) -> impl Iterator<Item = &Tables> {
        let written = self.fabric.faults.tables.iter();
        std::iter::once(&self.fabric.forwarding).chain(written).map(|tables| &**tables)
    }

    /// Bytes that the forwarding tables of the plan and the state of its ports take.
    pub fn state_bytes(&self) -> u64 {
        let alternatives = self.wiring.alternatives.as_ref().map_or(0, |all| all.bytes() as u64);
        let tables = self.tables().map(|tables| tables.bytes() as u64).sum::<u64>();
        tables + alternatives + state_bytes(&self.fabric)
    }

    /// The VL of a service level.
    pub fn lane(&self, service_level: u8) -> u8 {
        self.fabric.lanes.of_service_level[usize::from(service_level)]
    }

    /// The VL of what is sent back to the source of packets with a service level.
    fn answer_lane(&self, service_level: u8) -> u8 {
        let own = self.fabric.congestion.as_ref().and_then(|control| control.answer_lane);
        own.unwrap_or_else(|| self.lane(service_level))
    }

    /// The ways of everything that may be sent in each VL, and of what is sent back `if_both`.
    pub fn ways(&self, if_both: bool) -> BTreeMap<u8, Ways> {
        let mut ways: BTreeMap<u8, Ways> = BTreeMap::new();
        for &Flow { source, destination, service_level, .. } in &self.flows {
            ways.entry(self.lane(service_level)).or_default().list([source, destination]);
            if if_both {
                ways.entry(self.answer_lane(service_level)).or_default().list([destination, source]);
            }
        }
        let drawn = self.messages.iter().map(|plan| (&plan.nodes, plan.service_level));
        let run = self.programs.iter().map(|program| (&program.plan.nodes, program.service_level));
        for (nodes, service_level) in drawn.chain(run) {
            let (lane, answers) = (self.lane(service_level), self.answer_lane(service_level));
            ways.entry(lane).or_default().add_among(nodes);
            if if_both && answers != lane {
                ways.entry(answers).or_default().add_among(nodes);
            }
        }
        ways.values_mut().for_each(Ways::sort);
        ways
    }

    /// Whether nobody draws messages for an account of a node: it is none of a flow.
    pub fn is_silent(&self, account: usize) -> bool {
        let Account { job, source, .. } = self.accounts[account];
        self.messages.iter().filter(|plan| plan.job == job).all(|plan| plan.pattern.is_silent(source))
    }

    /// The programs of the jobs.
    pub fn programs(&self) -> Programs<'_> {
        Programs {
            jobs: self.jobs.iter().map(String::as_str).collect(),
            all: self.programs.iter().map(|program| (program.job, &program.plan)).collect(),
        }
    }
}

/// The number that a job has among those that run.
fn running(experiment: &Experiment, job: usize) -> usize {
    experiment.running().take_while(|(number, _)| *number < job).count()
}

/// The nodes of every job that draws or runs a program: jobs on random nodes take those that the others leave.
fn place(experiment: &Experiment, topology: &Topology) -> Result<FxHashMap<usize, Vec<u32>>, ConfigError> {
    let mut job_of = vec![u8::MAX; topology.nodes() as usize];
    let mut places = FxHashMap::default();
    for random in [false, true] {
        for (number, job) in experiment.jobs.iter().enumerate() {
            let has_nodes = job.messages.is_some() || job.program.is_some();
            if has_nodes && job.placement.is_random() == random {
                places.insert(number, place_job(experiment, number, topology, &mut job_of)?);
            }
        }
    }
    Ok(places)
}

/// Fills in what a document does not say of a fabric, and says all of it in the words of InfiniBand.
fn resolve_router(router: &mut RouterConfig) -> Result<Infiniband, ConfigError> {
    match router {
        RouterConfig::Infiniband(config) => {
            congestion_defaults::resolve(config)?;
            if !MTUS.contains(&config.mtu) {
                let legal = MTUS.map(|mtu| mtu.to_string()).join(", ");
                return Err(ConfigError::new(path("mtu"), "is not legal").value(config.mtu).valid(legal));
            }
            Ok((**config).clone())
        }
        RouterConfig::Ethernet(config) => {
            within(ethernet::MTUS, config.mtu, path("mtu"))?;
            within(ethernet::PRIORITIES, config.lanes.count.into(), path("lanes.count"))?;
            check_ethernet_reaction(config)?;
            let mut fabric = config.fabric();
            congestion_defaults::resolve(&mut fabric)?;
            Ok(fabric)
        }
        _ => Err(ConfigError::new("router", "is not that of a fabric").valid("infiniband, ethernet")),
    }
}

/// Refuses the reaction that needs keys which only InfiniBand has.
fn check_ethernet_reaction(config: &Ethernet) -> Result<(), ConfigError> {
    match &config.congestion_control {
        Some(control) if control.reaction == ReactionConfig::Table => {
            let reason = "has a table and a timer, for which there are no keys here";
            Err(ConfigError::new(path("congestion_control.reaction"), reason)
                .value("\"table\"")
                .valid(ReactionConfig::OTHERS.join(", ")))
        }
        _ => Ok(()),
    }
}

/// Refuses networks without switches, and links that have latencies in cycles.
fn check_topology(experiment: &Experiment) -> Result<(), ConfigError> {
    if experiment.topology.is_ideal() {
        return Err(ConfigError::new("topology.ideal", "has no switches").valid("another topology"));
    }
    let TopologyConfig::Graph(graph) = &experiment.topology else { return Ok(()) };
    for (index, edge) in graph.edges.iter().enumerate() {
        let given = [("latency", edge.latency.is_some()), ("cycles_per_phit", edge.cycles_per_phit != 1)];
        if let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
            let path = format!("topology.graph.edges.{index}.{key}");
            let reason = "an InfiniBand fabric has no cycles";
            return Err(ConfigError::new(path, reason)
                .valid("no such key; router.infiniband.links.switch is for all links between switches"));
        }
    }
    Ok(())
}

/// The path of a key of the router.
fn path(key: &str) -> String {
    format!("{ROUTER}.{key}")
}

/// The times of a fabric.
struct Times {
    /// Times of the links to hosts, and between switches: what a byte takes, and the delay.
    links: [(Time, Time); 2],
    credit_delay: Time,
    injection: Time,
    drain: Time,
    start_jitter: Time,
    cycle: Time,
    crossbar: Time,
    input_latency: Time,
    output_latency: Time,
    /// Times of congestion control, if there is any.
    control: Option<congestion::ControlTimes>,
}

impl Times {
    fn read(config: &Infiniband, clock: &mut Clock) -> Result<Self, ConfigError> {
        let FabricLinks { host, switch, credit_delay, .. } = &config.links;
        let mut link = |rate: &str, delay: &str, key: &str| {
            let byte = clock.byte(rate, &path(&format!("links.{key}.rate")))?;
            Ok((byte, clock.positive(delay, &path(&format!("links.{key}.delay")))?))
        };
        let links = [link(&host.rate, &host.delay, "host")?, link(&switch.rate, &switch.delay, "switch")?];
        let ChannelAdapter { injection, drain, start_jitter, cycle, .. } = &config.host;
        let control = config.congestion_control.as_ref();
        let FabricSwitch { crossbar, input_latency, output_latency, .. } = &config.switch;
        Ok(Self {
            links,
            credit_delay: clock.time(credit_delay, &path("links.credit_delay"))?,
            injection: clock.byte(injection, &path("host.injection"))?,
            drain: clock.byte(drain, &path("host.drain"))?,
            start_jitter: clock.time(start_jitter, &path("host.start_jitter"))?,
            cycle: clock.positive(cycle, programs::CYCLE)?,
            crossbar: clock.byte(crossbar, &path("switch.crossbar"))?,
            input_latency: clock.time(input_latency, &path("switch.input_latency"))?,
            output_latency: clock.time(output_latency, &path("switch.output_latency"))?,
            control: control.map(|control| congestion::times(control, clock)).transpose()?,
        })
    }
}

/// Blocks of a buffer, which holds a packet.
fn buffer(text: &str, key: &str, mtu: u32) -> Result<u32, ConfigError> {
    let size = positive(text, &SIZES, &path(key))?;
    let refused = |reason: String| {
        let valid = format!("a multiple of {BLOCK} B from {mtu} B to 1048576 KiB");
        Err(ConfigError::new(path(key), reason).value(format!("{text:?}")).valid(valid))
    };
    if size.denominator != 1 || size.numerator % u64::from(BLOCK) != 0 {
        return refused(format!("is no whole number of blocks of {BLOCK} B, the unit of credits"));
    }
    if size.numerator < u64::from(mtu) {
        return refused(format!("a packet of {mtu} B (mtu) has no room"));
    }
    if size.numerator > MOST_BUFFER {
        return refused("is too large".into());
    }
    Ok((size.numerator / u64::from(BLOCK)) as u32)
}

/// The fabric on a topology.
fn build(
    config: &Infiniband,
    network: &Network,
    exceptions: FxHashMap<At, wiring::Link>,
    times: &Times,
    clock: &Clock,
) -> Result<(Arc<Wiring>, Fabric), ConfigError> {
    let mtu = config.mtu;
    let FabricSwitch { buffers, output_buffer, transfers_per_input, arbitration, switching, .. } =
        &config.switch;
    within(TRANSFERS, *transfers_per_input, path("switch.transfers_per_input"))?;
    let at_switch = [
        buffer(&buffers.host, "switch.buffers.host", mtu)?,
        buffer(&buffers.switch, "switch.buffers.switch", mtu)?,
    ];
    let at_host = buffer(&config.host.receive_buffer, "host.receive_buffer", mtu)?;
    let mut kinds = [wiring::Link::default(); 2];
    for (link, (byte, delay)) in kinds.iter_mut().zip(&times.links) {
        *link = wiring::Link { byte: clock.byte_ticks(byte)?, delay: clock.ticks(delay)? };
    }
    let lanes = lanes::build(&config.lanes)?;
    let congestion = config.congestion_control.as_ref().zip(times.control.as_ref());
    let mut congestion = congestion
        .map(|(control, times)| congestion::build(control, mtu, at_switch, &lanes, (clock, times)))
        .transpose()?;
    let links = wiring::Links { kinds, exceptions };
    let wiring = network.wiring(&config.forwarding)?;
    if let Some((built, control)) = congestion.as_mut().zip(config.congestion_control.as_ref()) {
        congestion::check_bounds(control, built.marking, at_switch, &wiring.cables)?;
        built.exceptions = port_exceptions::build(control, built.rules, (mtu, at_switch), &wiring.cables)?;
    }
    let fabric = Fabric {
        ticks_per_ns: clock.ticks_per_ns(),
        mtu,
        hosts: wiring.cables.hosts,
        first_port: wiring.cables.first_port.clone(),
        ports: wiring.cables.ports_with(&links, at_host, at_switch),
        forwarding: Arc::clone(&wiring.forwarding),
        paths: None,
        host: HostRules {
            injection: clock.byte_ticks(&times.injection)?,
            drain: clock.byte_ticks(&times.drain)?,
            start_jitter: clock.ticks(&times.start_jitter)?,
        },
        switch: SwitchRules {
            input_latency: clock.ticks(&times.input_latency)?,
            output_latency: clock.ticks(&times.output_latency)?,
            crossbar: clock.byte_ticks(&times.crossbar)?,
            output_buffer: buffer(output_buffer, "switch.output_buffer", mtu)?,
            transfers_per_input: *transfers_per_input,
            arbitration: match arbitration {
                SwitchArbitration::RoundRobin => Arbitration::RoundRobin,
                SwitchArbitration::FirstCome => Arbitration::FirstCome,
            },
            switching: match switching {
                infiniband::Switching::CutThrough => Switching::CutThrough,
                infiniband::Switching::StoreAndForward => Switching::StoreAndForward,
            },
        },
        flow_control: FlowControl::Credits { delay: clock.ticks(&times.credit_delay)? },
        lanes,
        congestion,
        faults: Faults::default(),
    };
    Ok((wiring, fabric))
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod twice;
