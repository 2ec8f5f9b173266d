//! Virtual-channel routers: their plan, and what they cannot do that routers of whole packets can.

use super::jobs::{answers, longest_packet};
use crate::config::limits::{BUFFERS, DELAYS, OUTPUT_QUEUES, VCS, within};
use crate::config::measure::RecordStream;
use crate::config::router::{CROSSBAR_OUTPUTS, RouterConfig};
use crate::config::virtual_channel::{ALLOCATION_DELAYS, FlitSwitching, OUTPUT_QUEUE, VirtualChannel};
use crate::config::{Compat, Experiment};
use hopsim_cycles::choices::{
    Ejection, FlitAge, FlitAllocator, FlitArbiter, ITERATIONS, InjectionLink, InputPointer, OutputHold,
    Speculation, StageFlow, Timestamp, VcReuse,
};
use hopsim_cycles::injection::ControlConfig;
use hopsim_cycles::speedup::{SPEEDUPS, Speedup};
use hopsim_cycles::system::{EjectionBuffers, Shares, VirtualChannelPlan};
use hopsim_network::by_class::ByClass;
use hopsim_network::error::ConfigError;
use hopsim_network::network::Classes;
use hopsim_network::topology::faults::Fault;
use hopsim_network::topology::{Topology, TopologyConfig};
use hopsim_routing::{Paths, RoutingConfig};
use serde::Serialize;
use serde_json::{Value, json};
use std::iter;

/// The plan of the routers of a document.
pub fn plan(experiment: &Experiment, router: &VirtualChannel) -> Result<VirtualChannelPlan, ConfigError> {
    let path = |key: &str| format!("router.virtual_channel.{key}");
    within(DELAYS, router.routing_delay, path("routing_delay"))?;
    within(ALLOCATION_DELAYS, router.vc_allocation_delay, path("vc_allocation_delay"))?;
    within(DELAYS, router.switch_traversal_delay, path("switch_traversal_delay"))?;
    within(DELAYS, router.credit_delay, path("credit_delay"))?;
    within(VCS, router.crossbar_inputs.number(), path("crossbar_inputs"))?;
    within(CROSSBAR_OUTPUTS, router.crossbar_outputs, path("crossbar_outputs"))?;
    within(ALLOCATION_DELAYS, router.switch_allocation_delay, path("switch_allocation_delay"))?;
    check_credits(router)?;
    check_stages(experiment, router)?;
    check_allocators(router)?;
    check_speculation(router)?;
    Ok(VirtualChannelPlan {
        routing_delay: router.routing_delay,
        vc_allocation_delay: router.vc_allocation_delay,
        switch_traversal_delay: router.switch_traversal_delay,
        whole_packets: router.switching == FlitSwitching::VirtualCutThrough,
        vc_reuse: router.vc_reuse,
        vc_needs_credit: router.vc_needs_credit,
        empty_vcs_first: router.empty_vcs_first,
        credit_delay: router.credit_delay,
        vc_allocator: router.vc_allocator,
        switch_allocator: router.switch_allocator,
        switch_input: router.switch_input.unwrap_or_default(),
        arbiter: router.arbiter,
        speculation: router.speculation,
        hold_switch: router.hold_switch,
        port_order: experiment.semantics.port_order.unwrap_or_default(),
        ejection: ejection(experiment, router)?,
        stages: experiment.semantics.stages.unwrap_or_default(),
        switch_allocation_delay: router.switch_allocation_delay,
        speedup: speedup(router)?,
        output_queue: output_queue(experiment, router)?,
        // What VCs share depends on the classes of links.
        damq: None,
        crossbar_outputs: router.crossbar_outputs as u16,
        links_fail: experiment.faults.iter().any(Fault::is_outage),
    })
}

/// How many steps a cycle has.
fn speedup(router: &VirtualChannel) -> Result<Speedup, ConfigError> {
    let path = "router.virtual_channel.speedup";
    within(SPEEDUPS, router.speedup, path)?;
    Speedup::new(router.speedup).ok_or_else(|| {
        ConfigError::new(path, "is no multiple of 0.01").value(router.speedup).valid("such as 1.5 or 2.0")
    })
}

/// Flits that may wait at an output port, if there are queues.
fn output_queue(experiment: &Experiment, router: &VirtualChannel) -> Result<Option<u32>, ConfigError> {
    let traversal = router.switch_traversal_delay;
    // Flits that cross together wait for each other behind the crossbar.
    let cross_together = experiment.semantics.stages == Some(StageFlow::Batched) && traversal > 1;
    let faster = (router.speedup > 1.0 || router.crossbar_outputs > 1).then_some(OUTPUT_QUEUE);
    let together = OUTPUT_QUEUE.max(2 * traversal).min(*OUTPUT_QUEUES.end());
    let default = if cross_together { Some(together) } else { faster };
    let Some(size) = router.buffers.output.or(default) else { return Ok(None) };
    within(OUTPUT_QUEUES, size, "router.virtual_channel.buffers.output")?;
    Ok(Some(size))
}

/// Refuses buffers behind which credits could wait for longer than anybody counts, where these go back one after the other.
pub fn check_buffers(
    plan: &VirtualChannelPlan,
    classes: &Classes,
    names: &[&str],
) -> Result<(), ConfigError> {
    if plan.output_queue.is_none() {
        return Ok(());
    }
    let shares = plan.damq.iter().flat_map(ByClass::iter).copied().map(Some);
    let links = names.iter().copied().zip(&classes.links).zip(shares.chain(iter::repeat(None)));
    for ((name, class), shares) in links.chain([(("injection", &classes.terminal), None)]) {
        let vcs = u32::from(class.vcs);
        let (size, buffers) = match shares {
            Some(Shares { reserve, pool }) => (reserve * vcs + pool, 1),
            None => (class.buffer, vcs),
        };
        let most = MOST_BEHIND_PORT / buffers;
        if size > most {
            let path = format!("router.virtual_channel.buffers.{name}");
            let reason =
                format!("with output queues a port has buffers for at most {MOST_BEHIND_PORT} flits");
            return Err(ConfigError::new(path, reason).value(size).valid(format!("at most {most}")));
        }
    }
    Ok(())
}

/// Flits that the buffers of an input port hold at most where there are output queues.
const MOST_BEHIND_PORT: u32 = 65_536;

/// The buffers at nodes.
fn ejection(
    experiment: &Experiment,
    router: &VirtualChannel,
) -> Result<Option<EjectionBuffers>, ConfigError> {
    let Some(size) = router.buffers.ejection else { return Ok(None) };
    let path = "router.virtual_channel.buffers.ejection";
    within(BUFFERS, size, path)?;
    let longest = longest_packet(experiment);
    if router.switching == FlitSwitching::VirtualCutThrough && size < longest {
        let reason = "a head is granted an ejection VC if there is room for the whole packet";
        return Err(ConfigError::new(path, reason)
            .value(size)
            .valid(format!("at least {longest} flits, or switching = \"wormhole\"")));
    }
    let latency = experiment.links.ejection.map_or(1, |link| link.latency);
    Ok(Some(EjectionBuffers { size, returns: 2 * latency + router.credit_delay }))
}

/// Refuses stages of several cycles that are no pipelines in routers that do more in a cycle, and switch allocations of several cycles that are.
fn check_stages(experiment: &Experiment, router: &VirtualChannel) -> Result<(), ConfigError> {
    let is_batched = experiment.semantics.stages == Some(StageFlow::Batched);
    let delay = router.switch_allocation_delay;
    let refuse = |reason: &str, valid: &str| {
        let path = "router.virtual_channel.switch_allocation_delay";
        Err(ConfigError::new(path, reason).value(delay).valid(valid))
    };
    let delays = [router.routing_delay, router.vc_allocation_delay, delay, router.switch_traversal_delay];
    if is_batched && router.speedup > 1.0 && delays.iter().any(|&delay| delay > 1) {
        let reason = "a router allocates several times in a cycle, and has stages of several cycles that are no pipelines";
        return Err(ConfigError::new("semantics.stages", reason)
            .value("\"batched\"")
            .valid("pipelined, delays of 1, or speedup = 1"));
    }
    match router.speculation {
        _ if delay == 1 => Ok(()),
        _ if !is_batched => refuse(
            "in a pipeline a longer allocation of the switch is a longer way through it",
            "1, with a longer switch_traversal_delay, or semantics.stages = \"batched\"",
        ),
        Speculation::None if !router.hold_switch => Ok(()),
        Speculation::None => refuse("a held switch is allocated in no time", "1, or hold_switch = false"),
        _ => refuse(
            "a head that speculates is granted an output VC and the switch at once",
            "1, or speculation = \"none\"",
        ),
    }
}

/// Refuses to say that a head needs a credit where it needs more anyway.
fn check_credits(router: &VirtualChannel) -> Result<(), ConfigError> {
    let (reason, valid) = match (router.switching, router.vc_reuse) {
        _ if !router.vc_needs_credit => return Ok(()),
        (FlitSwitching::VirtualCutThrough, _) => {
            ("needs credits for the whole packet", "switching = \"wormhole\"")
        }
        (_, VcReuse::Credits) => ("needs all credits of the output VC", "vc_reuse = \"tail\""),
        _ => return Ok(()),
    };
    Err(ConfigError::new("router.virtual_channel.vc_needs_credit", format!("a head {reason} anyway"))
        .value(true)
        .valid(format!("false, or {valid}")))
}

/// Refuses to let empty output VCs go first where no input picks one, or all are empty.
fn check_empty_first(router: &VirtualChannel) -> Result<(), ConfigError> {
    let (reason, valid) = match (router.vc_allocator, router.vc_reuse) {
        _ if !router.empty_vcs_first => return Ok(()),
        (FlitAllocator::SeparableInputFirst(_), VcReuse::Tail) => return Ok(()),
        (FlitAllocator::SeparableInputFirst(_), VcReuse::Credits) => {
            ("all output VCs that can be granted are empty anyway", "vc_reuse = \"tail\"")
        }
        _ => (
            "inputs of this VC allocator do not pick among the output VCs before these are asked",
            "vc_allocator = \"separable_input_first\"",
        ),
    };
    Err(ConfigError::new("router.virtual_channel.empty_vcs_first", reason)
        .value(true)
        .valid(format!("false, or {valid}")))
}

/// Refuses speculation where a grant of the switch comes before that of an output VC, or where it says what an allocator ignores.
fn check_speculation(router: &VirtualChannel) -> Result<(), ConfigError> {
    let refuse = |reason: &str, valid: String| {
        let path = "router.virtual_channel.speculation";
        Err(ConfigError::new(path, reason).value(json!(router.speculation)).valid(valid))
    };
    match (router.speculation, router.switch_allocator) {
        (Speculation::None, _) => Ok(()),
        _ if router.vc_allocation_delay > 1 => refuse(
            "a head that is granted the switch has no output VC yet where the allocation of output VCs takes longer",
            "none, or vc_allocation_delay = 1".into(),
        ),
        (Speculation::FirmFirst, FlitAllocator::Pim(_)) => refuse(
            "an allocator that picks at random serves nobody before others",
            "none, equal, separate, or another switch_allocator".into(),
        ),
        (Speculation::FirmFirst, FlitAllocator::MaximumSize(_)) => refuse(
            "an allocator that looks for the largest matching serves nobody before others",
            "none, equal, separate, or another switch_allocator".into(),
        ),
        _ => Ok(()),
    }
}

/// Refuses allocators that cannot be, or not beside each other.
fn check_allocators(router: &VirtualChannel) -> Result<(), ConfigError> {
    for (key, allocator) in
        [("vc_allocator", router.vc_allocator), ("switch_allocator", router.switch_allocator)]
    {
        let path = format!("router.virtual_channel.{key}");
        match allocator {
            FlitAllocator::Islip(config) => {
                within(ITERATIONS, config.iterations, format!("{path}.islip.iterations"))?;
            }
            FlitAllocator::Pim(config) => {
                within(ITERATIONS, config.iterations, format!("{path}.pim.iterations"))?;
            }
            _ => {}
        }
        check_arbiter(router.arbiter, allocator, &path)?;
    }
    check_age(router.arbiter)?;
    check_empty_first(router)?;
    match (router.switch_input, router.switch_allocator) {
        (None, _) | (_, FlitAllocator::SeparableInputFirst(_)) => Ok(()),
        (Some(given), _) => {
            let reason = "is about allocations that begin at the inputs, and this one of the switch does not";
            Err(ConfigError::new("router.virtual_channel.switch_input", reason)
                .value(json!(given))
                .valid("no such key, or switch_allocator = \"separable_input_first\""))
        }
    }
}

/// Refuses ages that no packet or flit has.
fn check_age(arbiter: FlitArbiter) -> Result<(), ConfigError> {
    let FlitArbiter::Age(FlitAge { timestamp, by_flit, donation }) = arbiter else { return Ok(()) };
    let is_local = timestamp == Timestamp::Arrival;
    let (key, reason, valid) = if by_flit && !is_local {
        (
            "by_flit",
            "flits have no time stamp of their own but that of their arrival in the router",
            "arrival",
        )
    } else if donation && is_local {
        ("donation", "the first packet of an input VC is the one that came first", "generation or injection")
    } else {
        return Ok(());
    };
    Err(ConfigError::new(format!("router.virtual_channel.arbiter.age.{key}"), reason)
        .value(true)
        .valid(format!("false, or timestamp = {valid}")))
}

/// Refuses an allocator that could not do as the arbiter says.
fn check_arbiter(arbiter: FlitArbiter, allocator: FlitAllocator, path: &str) -> Result<(), ConfigError> {
    let name = match allocator {
        FlitAllocator::Pim(_) => "pim",
        FlitAllocator::Wavefront(_) => "wavefront",
        FlitAllocator::LonelyOutput(_) => "lonely_output",
        FlitAllocator::MaximumSize(_) => "maximum_size",
        _ => return Ok(()),
    };
    let (reason, valid) = match (arbiter, allocator) {
        (FlitArbiter::RoundRobin(_), _) => return Ok(()),
        (_, FlitAllocator::MaximumSize(_)) => (
            "an allocator that looks for the largest matching lets nobody go before others",
            "another allocator, or arbiter = \"round_robin\"",
        ),
        (FlitArbiter::Age(_), FlitAllocator::Pim(_)) => (
            "an allocator that picks at random has no arbiters that could look at ages",
            "another allocator, or arbiter = \"round_robin\"",
        ),
        (_, FlitAllocator::Pim(_)) => (
            "an allocator that picks at random lets nobody go before others",
            "another allocator, or arbiter = \"round_robin\"",
        ),
        (FlitArbiter::LeastRecentlyServed(_), _) => (
            "has no arbiters that could know whom they have served",
            "separable_input_first, separable_output_first or islip, or another arbiter",
        ),
        (FlitArbiter::FixedPriority(_), _) => (
            "begins with another one in every cycle, whoever has the lowest number",
            "separable_input_first, separable_output_first or islip, or another arbiter",
        ),
        _ => return Ok(()),
    };
    Err(ConfigError::new(format!("{path}.{name}"), reason).valid(valid))
}

/// The paths of a document: in a HyperX the two parts of a detour are dimension by dimension each, and have half of the VCs of a
/// virtual-channel router each, where no replies need VCs of their own.
pub fn paths(experiment: &Experiment, topology: &Topology, paths: Paths) -> Paths {
    let moves_flits = matches!(experiment.router, RouterConfig::VirtualChannel(_));
    let has_detours = matches!(experiment.routing, RoutingConfig::Valiant(_) | RoutingConfig::Ugal(_));
    let in_halves = moves_flits && has_detours && matches!(topology, Topology::HyperX(_));
    if in_halves && !answers(experiment) { Paths::two_phases(topology.diameter()) } else { paths }
}

/// Refuses what a document says that has virtual-channel routers and that they do not have.
pub fn check(experiment: &Experiment) -> Result<(), ConfigError> {
    if !matches!(experiment.router, RouterConfig::VirtualChannel(_)) {
        let refuse = |key: &str, value: Value, reason: &str| {
            let refused = ConfigError::new(format!("semantics.{key}"), reason).value(value);
            Err(refused.valid("no such key, or router.virtual_channel"))
        };
        return match (experiment.semantics.port_order, experiment.semantics.stages) {
            (Some(order), _) => {
                refuse("port_order", json!(order), "is about the allocators of virtual-channel routers")
            }
            (_, Some(stages)) => {
                refuse("stages", json!(stages), "is about the stages of virtual-channel routers")
            }
            (None, None) => Ok(()),
        };
    }
    check_semantics(experiment)?;
    if experiment.nic.control != ControlConfig::default() {
        let key = match experiment.nic.control {
            ControlConfig::Sat(_) => "sat",
            ControlConfig::Lbr(_) => "lbr",
            ControlConfig::Ipr(_) => "ipr",
            ControlConfig::None(_) => unreachable!("that is the default"),
        };
        let reason = "injection is restricted by whole packets, which virtual-channel routers do not have";
        return Err(ConfigError::new(format!("nic.control.{key}"), reason)
            .valid("no such key, or router.cioq or input_queued"));
    }
    for (index, stream) in experiment.measure.streams.iter().enumerate() {
        let reason = match stream {
            RecordStream::OutputQueues => "virtual-channel routers have no output queues",
            RecordStream::Allocation => "the allocators of virtual-channel routers do not count requests",
            _ => continue,
        };
        return Err(ConfigError::new(format!("measure.streams.{index}"), reason)
            .value(format!("{:?}", stream.name()))
            .valid("no such stream, or router.cioq"));
    }
    check_routing(experiment)
}

/// Refuses choices in which routers of whole packets differ.
fn check_semantics(experiment: &Experiment) -> Result<(), ConfigError> {
    if experiment.compat == Some(Compat::Fogsim) {
        let reason = "FOGSim has no routers through which packets move flit by flit";
        return Err(ConfigError::new("compat", reason)
            .value("\"fogsim\"")
            .valid("no such key, or router.cioq or input_queued"));
    }
    let s = &experiment.semantics;
    check_choice("injection_link", s.injection_link, &InjectionLink::Serial)?;
    check_choice("ejection", s.ejection, &Ejection::Link)?;
    check_choice("output_hold", s.output_hold, &OutputHold::Transfer)?;
    check_choice("input_pointer", s.input_pointer, &InputPointer::Grant)
}

/// Refuses a choice unless it is the default, which a document says with every default filled in.
fn check_choice<C: PartialEq + Serialize>(
    key: &str,
    given: Option<C>,
    default: &C,
) -> Result<(), ConfigError> {
    let Some(choice) = given.filter(|choice| choice != default) else { return Ok(()) };
    let reason = "is about routers through which whole packets move";
    let valid = format!("no such key, {}, or router.cioq or input_queued", json!(default));
    Err(ConfigError::new(format!("semantics.{key}"), reason).value(json!(choice)).valid(valid))
}

/// Refuses mechanisms that read sensors, or misroute in transit while there is room for a whole packet.
fn check_routing(experiment: &Experiment) -> Result<(), ConfigError> {
    let is_dragonfly = matches!(experiment.topology, TopologyConfig::Dragonfly(_));
    // With links that fail it is a graph.
    let has_groups = is_dragonfly && experiment.faults.is_empty();
    let reason = match &experiment.routing {
        RoutingConfig::Par(_) if !has_groups => return Ok(()),
        RoutingConfig::Minimal(_)
        | RoutingConfig::Adaptive(_)
        | RoutingConfig::Ecmp(_)
        | RoutingConfig::KShortestPaths(_)
        | RoutingConfig::FatPaths(_)
        | RoutingConfig::Polarized(_)
        | RoutingConfig::Table(_)
        | RoutingConfig::O1turn(_)
        | RoutingConfig::UpDown(_)
        | RoutingConfig::Nue(_)
        | RoutingConfig::Valiant(_)
        | RoutingConfig::Ugal(_)
        | RoutingConfig::Fpar(_) => return Ok(()),
        RoutingConfig::Piggyback(_) | RoutingConfig::SourceAdaptive(_) => {
            "virtual-channel routers keep no marks of saturated links"
        }
        RoutingConfig::Function(_) => "a function of one's own is asked in routers that move whole packets",
        RoutingConfig::Olm(_) | RoutingConfig::Par(_) => {
            "a packet that is misrouted in transit goes on only where there is room for all of it"
        }
    };
    Err(ConfigError::new(format!("routing.{}", experiment.routing.name()), reason).valid(
        "minimal, adaptive, ecmp, k_shortest_paths, fat_paths, table, polarized, o1turn, up_down, nue, valiant, ugal or fpar with virtual-channel routers, or router.cioq or input_queued",
    ))
}
