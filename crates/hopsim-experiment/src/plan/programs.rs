//! Programs: what their ranks do, on which hosts.

use super::external;
use super::generators;
use super::quantity::{SIZES, TIMES, positive};
use super::within;
use crate::config::limits::{NIC_QUEUES, PACKET_LENGTHS, PROCESSOR_TIMES};
use crate::config::measure::RecordStream;
use crate::config::program::{
    AnySource, CpuSpeed, EagerLimit, HostCompat, HostConfig, LastPacket, ProgramConfig, Repeat,
    SendCompletes, UnitsConfig,
};
use crate::config::{Experiment, JobConfig};
use crate::plan::{MAX_CYCLES, Plan};
use hopsim_cycles::choices::InjectionLink;
use hopsim_network::error::ConfigError;
use hopsim_programs::collectives::Choices;
use hopsim_programs::formats::{mpt, table};
use hopsim_programs::graph::Clock;
use hopsim_programs::host::log::Wanted;
use hopsim_programs::host::rules::{Rules, SendCompletes as Completes};
use hopsim_programs::job::ProgramPlan;
use hopsim_programs::program::Program;
use hopsim_programs::repeated::Repeated;
use hopsim_programs::units::Fraction;
use std::sync::Arc;

/// Gives the program that a document names, or says why it cannot: the core itself reads no files.
pub type Library<'l> = dyn Fn(&ProgramConfig) -> Result<Program, String> + 'l;

/// A library without files.
pub fn no_files(_: &ProgramConfig) -> Result<Program, String> {
    Err("has not been read".into())
}

/// Longest packet that a host sends \[phits\].
pub fn packet_length(host: Option<&HostConfig>) -> u32 {
    host.and_then(|host| host.packet_length).unwrap_or(16)
}

/// Refuses what a run without contention does not have: traffic, nodes that another simulator drives, slow links, and injection
/// without a wire.
pub fn check_contention(plan: &Plan) -> Result<(), ConfigError> {
    let is_ideal = plan.experiment.topology.is_ideal();
    let alone = plan.experiment.contention.is_some();
    if let Some(index) = plan.system.jobs.iter().position(|job| job.program().is_none())
        && (is_ideal || alone)
    {
        let reason = if alone {
            "draws packets, and without contention there are only the messages of programs"
        } else {
            "draws packets, and an ideal network carries only the messages of programs"
        };
        return Err(ConfigError::new(format!("jobs.{index}"), reason).valid("jobs with a program"));
    }
    if let Some((index, _)) = external::driven_jobs(plan).next()
        && (is_ideal || alone)
    {
        let reason = "another simulator drives the nodes, which needs a network in which packets meet";
        return Err(ConfigError::new(format!("jobs.{index}.program.external"), reason)
            .valid("another topology than ideal, and no contention = \"none\""));
    }
    if alone && !is_ideal && plan.system.network.slowest_link() > 1 {
        let reason = "some links take several cycles for a phit";
        return Err(ConfigError::new("contention", reason).value("none").valid("links of a phit per cycle"));
    }
    if alone && !is_ideal && plan.system.nic.injection_link == InjectionLink::Unlimited {
        let reason = "without contention the wire of a node carries a phit per cycle";
        return Err(ConfigError::new("semantics.injection_link", reason).value("unlimited").valid("serial"));
    }
    check_nic_queues(plan)
}

/// Refuses network interfaces of a size where no packet has a time stamp: nothing that is measured would depend on it.
fn check_nic_queues(plan: &Plan) -> Result<(), ConfigError> {
    if plan.experiment.has_contention() {
        return Ok(());
    }
    let jobs = plan.experiment.jobs.iter();
    let bounded = |job: &JobConfig| job.host.as_ref().and_then(|host| host.nic_queue);
    match jobs.map(bounded).enumerate().find_map(|(index, packets)| Some((index, packets?))) {
        Some((index, packets)) => {
            let reason = "without contention no packet waits in a network interface";
            let key = format!("jobs.{index}.host.nic_queue");
            Err(ConfigError::new(key, reason).value(packets).valid("no such key"))
        }
        None => Ok(()),
    }
}

/// A job that runs a program, as written in the document.
#[derive(Clone, Copy)]
pub struct ProgramJob<'a> {
    /// Number of the job.
    pub number: u64,
    /// All that the document says of the job.
    pub job: &'a JobConfig,
    /// What it says of the program.
    pub config: &'a ProgramConfig,
}

/// A job with a program on some nodes, in the order of their ranks.
pub fn plan(
    experiment: &Experiment,
    ProgramJob { number, job, config }: ProgramJob<'_>,
    mut nodes: Vec<u32>,
    units: Option<Units>,
    library: &Library<'_>,
) -> Result<ProgramPlan, ConfigError> {
    let program = load(config, nodes.len() as u32, experiment.measure.seed, number, library)?;
    let ranks = program.ranks() as usize;
    if ranks > nodes.len() {
        let reason = format!("the program has {ranks} ranks, and the placement {} nodes", nodes.len());
        return Err(ConfigError::new("placement", reason).valid(format!("at least {ranks} nodes")));
    }
    nodes.truncate(ranks);
    let program = repeated(program, job.repeat)?;
    let units = if let Program::External(_) = &program {
        external::check_keys(job)?;
        Some(external::whole_bytes(units)?)
    } else {
        units
    };
    let units = units.ok_or_else(|| {
        ConfigError::new(
            "program",
            "has seconds and bytes, and the document does not say what a cycle and a phit are",
        )
        .valid("units = { cycle = \"1 ns\", phit = \"4 B\" } at the top of the document")
    })?;
    let host = job.host.clone().unwrap_or_default();
    let rules = rules(experiment, units, &host, ranks as u32, program.clock())?;
    if let (Program::Graph(graph), Some(rate)) = (&program, rules.cycles_per_nanosecond)
        && graph.clock != Clock::Nanoseconds
    {
        table::check_times(graph, rate, MAX_CYCLES).map_err(|error| unread(config, error.to_string()))?;
    }
    let is_external = matches!(program, Program::External(_));
    let is_endless = is_external || matches!(job.repeat, Some(Repeat::Named(_)));
    let wants = |stream| !is_endless && experiment.measure.streams.contains(&stream);
    Ok(ProgramPlan {
        name: job.name.clone().unwrap_or_default(),
        nodes,
        program,
        rules: Arc::new(rules),
        cycle: units.cycle,
        start: job.start,
        is_endless,
        wanted: Wanted {
            messages: wants(RecordStream::Messages),
            operations: wants(RecordStream::Operations),
        },
    })
}

/// The program of a job on so many nodes, which draws under a seed and a number.
fn load(
    config: &ProgramConfig,
    nodes: u32,
    seed: u64,
    number: u64,
    library: &Library<'_>,
) -> Result<Program, ConfigError> {
    match config {
        ProgramConfig::List(list) => {
            let refused = |error: hopsim_programs::error::ProgramError| {
                ConfigError::new("program.list.mpt", error.to_string())
            };
            let trace = mpt::read(list.mpt.as_bytes()).map_err(refused)?;
            trace.check().map_err(refused)?;
            Ok(Program::Script(Arc::new(trace)))
        }
        ProgramConfig::Collective(config) => generators::collective(config, nodes),
        ProgramConfig::Stencil(config) => generators::stencil(config),
        ProgramConfig::Training(config) => generators::training(config),
        ProgramConfig::Graph500(config) => generators::graph500(config, nodes, seed, number),
        ProgramConfig::External(_) => Ok(Program::External(nodes)),
        ProgramConfig::Trace(_)
        | ProgramConfig::Goal(_)
        | ProgramConfig::Table(_)
        | ProgramConfig::Chakra(_) => library(config).map_err(|reason| unread(config, reason)),
    }
}

/// The refusal of the file of a program.
fn unread(config: &ProgramConfig, reason: String) -> ConfigError {
    match config.clone().file() {
        Some((kind, file, _)) => {
            ConfigError::new(format!("program.{kind}.file"), reason).value(format!("{file:?}"))
        }
        None => ConfigError::new("program", reason),
    }
}

/// A program as often as a job runs it.
fn repeated(program: Program, repeat: Option<Repeat>) -> Result<Program, ConfigError> {
    let times = match repeat {
        None | Some(Repeat::Times(1)) => return Ok(program),
        Some(Repeat::Times(0)) => {
            return Err(ConfigError::new("repeat", "a job runs at least once")
                .value(0)
                .valid("1 …, forever"));
        }
        Some(Repeat::Times(times)) => Some(times),
        Some(Repeat::Named(_)) => None,
    };
    match &program {
        Program::Script(script) if times.is_none() && script.ranks() == 1 => {
            Err(ConfigError::new("repeat", "a program of one rank may take no time at all")
                .value("forever")
                .valid("a number, or two ranks"))
        }
        Program::Script(script) => Ok(Program::Script(Arc::new(Repeated::new(script, times)))),
        Program::External(_) => {
            Err(ConfigError::new("repeat", "another simulator drives the nodes").valid("no such key"))
        }
        Program::Graph(_) | Program::Search(_) => {
            Err(ConfigError::new("repeat", "graphs of operations and searches of Graph500 run once")
                .valid("no such key; trace, list, collective, stencil or training"))
        }
    }
}

/// What a cycle and a phit are.
#[derive(Clone, Copy)]
pub struct Units {
    /// Length of a cycle \[ns\].
    pub cycle: Fraction,
    /// Size of a phit \[bytes\].
    pub phit: Fraction,
}

impl Units {
    /// A phit of a byte, and a cycle of a nanosecond.
    pub const PLAIN: Self = Self { cycle: Fraction::ONE, phit: Fraction::ONE };

    /// The units of a network that counts bytes.
    pub fn without_phits(cycle: Fraction) -> Self {
        Self { cycle, phit: Fraction::ONE }
    }

    /// The units of a document.
    pub fn new(config: &UnitsConfig) -> Result<Self, ConfigError> {
        let cycle = positive(&config.cycle, &TIMES, "units.cycle")?;
        Ok(Self { cycle, phit: positive(&config.phit, &SIZES, "units.phit")? })
    }
}

/// The hosts of a job with so many ranks, whose computations are counted by this clock.
fn rules(
    experiment: &Experiment,
    units: Units,
    host: &HostConfig,
    ranks: u32,
    clock: Clock,
) -> Result<Rules, ConfigError> {
    let path = |key: &str| format!("host.{key}");
    within(PROCESSOR_TIMES, host.send_overhead, path("send_overhead"))?;
    within(PROCESSOR_TIMES, host.receive_overhead, path("receive_overhead"))?;
    within(PROCESSOR_TIMES, host.gap, path("gap"))?;
    if let Some(packets) = host.nic_queue {
        within(NIC_QUEUES, packets, path("nic_queue"))?;
    }
    let packet_length = packet_length(Some(host));
    within(PACKET_LENGTHS, packet_length, path("packet_length"))?;
    if host.header_length >= packet_length {
        let reason = format!("leaves no room for payload in packets of {packet_length} phits");
        return Err(ConfigError::new(path("header_length"), reason)
            .value(host.header_length)
            .valid(format!("less than host.packet_length, 0 … {}", packet_length - 1)));
    }
    let fsin = host.compat == Some(HostCompat::Fsin);
    let injected = host.send_completes.map_or(fsin, |completes| completes == SendCompletes::Injected);
    Ok(Rules {
        phit: units.phit,
        cycles_per_nanosecond: rate(clock, units.cycle, host.cpu_speed)?,
        send_overhead: host.send_overhead,
        receive_overhead: host.receive_overhead,
        gap: host.gap,
        nic_queue: host.nic_queue.map_or(usize::MAX, |packets| packets as usize),
        eager_limit: match host.eager_limit {
            Some(EagerLimit::Bytes(bytes)) => Some(bytes),
            Some(EagerLimit::Named(_)) | None => None,
        },
        send_completes: if injected { Completes::Injected } else { Completes::Buffered },
        packet_length,
        header_length: host.header_length,
        last_packet_full: host.last_packet.map_or(fsin, |last| last == LastPacket::Full),
        has_unlimited_wire: experiment.semantics.injection_link == Some(InjectionLink::Unlimited),
        first_of_any_source: host.any_source == Some(AnySource::First),
        collectives: collectives(host, ranks)?,
    })
}

/// Cycles of what a clock counts; `None`: computations take no time.
fn rate(clock: Clock, cycle: Fraction, speed: Option<CpuSpeed>) -> Result<Option<Fraction>, ConfigError> {
    if clock == Clock::Nanoseconds {
        return cycles_per_nanosecond(cycle, speed);
    }
    if speed.is_some() {
        let reason = "the program is a table of times, which no processor changes";
        return Err(ConfigError::new("host.cpu_speed", reason).valid("no such key"));
    }
    if clock == Clock::Cycles {
        return Ok(Some(Fraction::ONE));
    }
    let picoseconds = Fraction { numerator: 1_000, denominator: 1 }.times(cycle);
    let picoseconds = picoseconds.ok_or_else(|| {
        ConfigError::new("units.cycle", "has too many digits for times in ps").valid("up to 12 digits")
    })?;
    Ok(Some(picoseconds.inverse()))
}

/// Cycles of a nanosecond of recorded computation; `None`: computations take no time.
fn cycles_per_nanosecond(cycle: Fraction, speed: Option<CpuSpeed>) -> Result<Option<Fraction>, ConfigError> {
    let speed = match speed {
        Some(CpuSpeed::Named(_)) => return Ok(None),
        Some(CpuSpeed::Times(speed)) => speed,
        None => 1.0,
    };
    // The shortest decimal that gives this number is the one that was written.
    let exact = Fraction::from_decimal(&format!("{speed}")).and_then(|speed| speed.times(cycle));
    let exact = exact.ok_or_else(|| {
        ConfigError::new("host.cpu_speed", "is not a positive number of moderate size")
            .value(speed)
            .valid("a number above 0, or \"infinite\"")
    })?;
    Ok(Some(exact.inverse()))
}

fn collectives(host: &HostConfig, ranks: u32) -> Result<Choices, ConfigError> {
    let fsin = host.compat == Some(HostCompat::Fsin);
    let mut choices = if fsin { Choices::fsin() } else { Choices::default() };
    for (kind, algorithm) in &host.collectives {
        choices.set(kind, algorithm).map_err(|wrong| {
            ConfigError::new(format!("host.collectives.{kind}"), wrong.reason)
                .value(format!("{algorithm:?}"))
                .valid(wrong.valid)
        })?;
        if let Some(known) = hopsim_programs::collectives::Kind::from_name(kind) {
            choices.check(known, ranks).map_err(|reason| {
                ConfigError::new(format!("host.collectives.{kind}"), reason).value(format!("{algorithm:?}"))
            })?;
        }
    }
    Ok(choices)
}
