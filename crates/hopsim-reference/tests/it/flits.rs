//! Virtual-channel routers: engine and reference must tell the same life of every packet, and what is measured must follow from it.

use crate::documents::{
    for_each_flit_plan, for_each_flit_plan_on_spines, for_each_flit_program, for_each_measured_flit_plan,
    trial,
};
use crate::engine::compare;
use crate::{metrics, programs};
use hopsim_core::engine::{audit, trace_as};
use hopsim_cycles::choices::{FlitAllocator, FlitArbiter, SwitchInput};
use hopsim_cycles::jobs::JobPlan;
use hopsim_cycles::system::{RouterPlan, Shares, VirtualChannelPlan};
use hopsim_experiment::config::router::Discipline;
use hopsim_experiment::plan::Plan;
use hopsim_measure::trace::PacketTrace;
use hopsim_network::by_class::ByClass;
use hopsim_reference::{Simulator, trace};
use hopsim_routing::RoutingConfig;
use hopsim_routing::detour_region::DetourRegion;
use hopsim_routing::ugal::{Knowledge, Occupancy};
use hopsim_routing::vcs::Rings;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What was compared: plans and packets delivered, by what the plans had.
#[derive(Default)]
struct Coverage(RefCell<BTreeMap<String, [usize; 2]>>);

impl Coverage {
    /// Compares engine and reference.
    fn compare(&self, plan: &Plan, cycles: u32) -> Result<(), String> {
        let engine = trace_as(plan, cycles, trial(plan)).map_err(|error| error.to_string())?;
        compare(&engine, &trace(plan, cycles))?;
        let delivered = engine.iter().filter(|packet| packet.delivered.is_some()).count();
        for name in names(plan, &engine) {
            let mut counts = self.0.borrow_mut();
            let counts = counts.entry(name).or_default();
            *counts = [counts[0] + 1, counts[1] + delivered];
        }
        Ok(())
    }

    /// Panics unless packets have been compared of everything.
    fn check(&self) {
        let counts = self.0.borrow();
        for name in COVERED {
            let [plans, packets] = counts.get(name).copied().unwrap_or_default();
            assert!(plans >= 3 && packets >= 50, "{name}: {plans} plans, {packets} packets; {counts:?}");
        }
    }
}

/// What the plans must have.
const COVERED: [&str; 132] = [
    "VCs by hop",
    "several outputs of the crossbar",
    "shared buffers",
    "shared buffers with a reserve of a flit",
    "shared buffers of reserves alone",
    "by priority class",
    "several priority classes",
    "replies of several priority classes",
    "detours in unaligned dimensions",
    "detours in quadrants",
    "VCs by largest matchings",
    "switch by largest matchings",
    "lowest number first",
    "at random",
    "stages Batched, routing delay 3",
    "stages Batched, VC allocation delay 3",
    "stages Batched, switch traversal delay 3",
    "switch allocation delay 2",
    "switch allocation delay 3",
    "decided once",
    "o1turn",
    "ecmp",
    "k_shortest_paths",
    "fat_paths",
    "polarized",
    "fpar",
    "occupancy of ports",
    "global knowledge",
    "2 steps in two cycles",
    "3 steps in two cycles",
    "4 steps in two cycles",
    "5 steps in two cycles",
    "output queues",
    "output queues of a flit",
    "buffers at nodes",
    "buffers at nodes shorter than their round trip",
    "ports of a mesh as of Booksim",
    "ports of a torus as of Booksim",
    "ports of a ring as of Booksim",
    "several inputs of the crossbar as of BookSim",
    "several nodes as of BookSim",
    "one node as of BookSim",
    "several injection ports as of BookSim",
    "VCs free with Tail",
    "VCs free with Credits",
    "VCs with a credit",
    "credit delay 3",
    "several inputs of the crossbar",
    "VCs by inputs",
    "VCs by outputs",
    "VCs by islip(1)",
    "VCs by islip(3)",
    "VCs by pim(1)",
    "VCs by pim(3)",
    "VCs by wavefront, next Step",
    "VCs by wavefront, next Grant",
    "VCs by lonely outputs",
    "switch by inputs",
    "switch by outputs",
    "switch by islip(1)",
    "switch by islip(3)",
    "switch by pim(1)",
    "switch by pim(3)",
    "switch by wavefront, next Step",
    "switch by wavefront, next Grant",
    "switch by lonely outputs",
    "inputs pick outputs",
    "speculation Equal",
    "speculation FirmFirst",
    "speculation Separate",
    "speculation Pessimistic",
    "least recently served",
    "by hops",
    "by queues",
    "speculation Separate and packets hold the switch",
    "packets hold the switch",
    "by age since Generation",
    "by age since Injection",
    "by age since Arrival",
    "by age of flits",
    "empty VCs first",
    "by donated age since Generation",
    "by donated age since Injection",
    "mesh",
    "torus",
    "ring",
    "datelines, Crossing",
    "datelines, Dimension",
    "datelines, classes of several VCs",
    "dragonfly",
    "fat_tree",
    "hyperx",
    "graph",
    "minimal",
    "valiant",
    "ugal",
    "par",
    "adaptive",
    "up_down",
    "nue",
    "whole packets",
    "flits",
    "buffers shorter than a packet",
    "packets longer than a flit",
    "several lengths",
    "drawn lengths",
    "drawn lengths of flits",
    "slow links",
    "several VCs",
    "one VC",
    "2 injection ports",
    "2 injection VCs",
    "injection VCs shorter than a packet",
    "injection VCs by RoundRobin",
    "1 ejection VCs",
    "2 ejection VCs",
    "3 ejection VCs",
    "ejection VCs for requests",
    "requests",
    "bursts",
    "synchronised bursts",
    "changes",
    "bounded source queues",
    "routing delay 0",
    "routing delay 3",
    "VC allocation delay 1",
    "VC allocation delay 3",
    "switch traversal delay 0",
    "switch traversal delay 3",
    "detours",
    "flexvc",
    "flexvc by hop",
];

/// The name of an arbiter.
fn name_of_arbiter(arbiter: FlitArbiter) -> String {
    match arbiter {
        FlitArbiter::RoundRobin(_) => "in turn".to_owned(),
        FlitArbiter::Age(age) if age.by_flit => "by age of flits".to_owned(),
        FlitArbiter::Age(age) if age.donation => format!("by donated age since {:?}", age.timestamp),
        FlitArbiter::Age(age) => format!("by age since {:?}", age.timestamp),
        FlitArbiter::LeastRecentlyServed(_) => "least recently served".to_owned(),
        FlitArbiter::HopCount(_) => "by hops".to_owned(),
        FlitArbiter::QueueLength(_) => "by queues".to_owned(),
        FlitArbiter::FixedPriority(_) => "lowest number first".to_owned(),
        FlitArbiter::Random(_) => "at random".to_owned(),
        FlitArbiter::Priority(_) => "by priority class".to_owned(),
    }
}

/// The name of an allocator, and how often it goes round.
fn name_of(allocator: FlitAllocator) -> String {
    match allocator {
        FlitAllocator::SeparableInputFirst(_) => "inputs".to_owned(),
        FlitAllocator::SeparableOutputFirst(_) => "outputs".to_owned(),
        FlitAllocator::Islip(config) => format!("islip({})", config.iterations),
        FlitAllocator::Pim(config) => format!("pim({})", config.iterations),
        FlitAllocator::LonelyOutput(_) => "lonely outputs".to_owned(),
        FlitAllocator::MaximumSize(_) => "largest matchings".to_owned(),
        FlitAllocator::Wavefront(config) => format!("wavefront, next {:?}", config.next),
    }
}

/// The name of queues at outputs of so many flits.
fn name_of_queues(size: Option<u32>) -> &'static str {
    match size {
        None => "no output queues",
        Some(1) => "output queues of a flit",
        Some(_) => "output queues",
    }
}

/// What buffers there are at outputs, links and nodes.
fn names_of_buffers(plan: &VirtualChannelPlan) -> [&'static str; 5] {
    let &VirtualChannelPlan { output_queue, damq, ejection, switch_traversal_delay, .. } = plan;
    let is_short = ejection.is_some_and(|own| own.size < own.returns + switch_traversal_delay);
    [
        name_of_queues(output_queue),
        if plan.crossbar_outputs > 1 {
            "several outputs of the crossbar"
        } else {
            "an output of the crossbar"
        },
        name_of_sharing(damq),
        if ejection.is_some() { "buffers at nodes" } else { "no buffers at nodes" },
        if is_short { "buffers at nodes shorter than their round trip" } else { "other buffers at nodes" },
    ]
}

/// The name of buffers of link ports that VCs share, or do not.
fn name_of_sharing(damq: Option<ByClass<Shares>>) -> &'static str {
    match damq.map(|shares| shares[0]) {
        None => "buffers of their own",
        Some(Shares { pool: 0, .. }) => "shared buffers of reserves alone",
        Some(Shares { reserve: 1, .. }) => "shared buffers with a reserve of a flit",
        Some(_) => "shared buffers",
    }
}

/// How long the stages of a router take, in names.
fn names_of_stages(plan: &VirtualChannelPlan) -> Vec<String> {
    let &VirtualChannelPlan { routing_delay, vc_allocation_delay, switch_traversal_delay, stages, .. } = plan;
    let switch_allocation_delay = plan.switch_allocation_delay;
    vec![
        format!("routing delay {routing_delay}"),
        format!("VC allocation delay {vc_allocation_delay}"),
        format!("switch traversal delay {switch_traversal_delay}"),
        format!("stages {stages:?}, routing delay {routing_delay}"),
        format!("stages {stages:?}, VC allocation delay {vc_allocation_delay}"),
        format!("stages {stages:?}, switch traversal delay {switch_traversal_delay}"),
        format!("switch allocation delay {switch_allocation_delay}"),
    ]
}

/// What a plan has of topologies, routings and routers.
fn names_of_routers(plan: &Plan) -> Vec<String> {
    let RouterPlan::VirtualChannel(plan_of_routers) = plan.system.router else {
        unreachable!("no others are drawn")
    };
    let VirtualChannelPlan {
        routing_delay: _,
        vc_allocation_delay: _,
        switch_traversal_delay: _,
        whole_packets,
        vc_reuse,
        vc_needs_credit,
        empty_vcs_first,
        credit_delay,
        vc_allocator,
        switch_allocator,
        switch_input,
        arbiter,
        speculation,
        hold_switch,
        port_order,
        ejection: _,
        stages: _,
        switch_allocation_delay: _,
        speedup,
        output_queue: _,
        damq: _,
        crossbar_outputs: _,
        links_fail: _,
    } = plan_of_routers;
    let by_output = switch_input == SwitchInput::Output
        && matches!(switch_allocator, FlitAllocator::SeparableInputFirst(_));
    let holds = if hold_switch { " and packets hold the switch" } else { "" };
    let mut names = names_of_stages(&plan_of_routers);
    names.extend(names_of_buffers(&plan_of_routers).map(str::to_owned));
    names.extend(["all", plan.experiment.topology.name(), plan.experiment.routing.name()].map(str::to_owned));
    names.extend([
        format!("VCs free with {vc_reuse:?}"),
        format!("speculation {speculation:?}"),
        if hold_switch { "packets hold the switch" } else { "flits go one by one" }.to_owned(),
        format!("speculation {speculation:?}{holds}"),
        if vc_needs_credit { "VCs with a credit" } else { "VCs without a credit" }.to_owned(),
        if empty_vcs_first { "empty VCs first" } else { "all VCs alike" }.to_owned(),
        format!("credit delay {credit_delay}"),
        format!("VCs by {}", name_of(vc_allocator)),
        format!("switch by {}", name_of(switch_allocator)),
        if by_output { "inputs pick outputs" } else { "inputs pick VCs" }.to_owned(),
        name_of_arbiter(arbiter),
        format!("{} injection ports", plan.system.nic.injection_ports),
        format!("{} injection VCs", plan.system.network.classes.terminal.vcs),
        format!("injection VCs by {:?}", plan.system.nic.injection_vc),
        format!("{} ejection VCs", plan.system.network.classes.one_way),
        if whole_packets { "whole packets" } else { "flits" }.to_owned(),
        format!("ports of a {} as of {port_order:?}", plan.experiment.topology.name()),
        format!("{} steps in two cycles", speedup.steps(0).count() + speedup.steps(1).count()),
    ]);
    let by_hop = plan.experiment.router.vcs().discipline == Some(Discipline::ByHop);
    names.extend(by_hop.then(|| "VCs by hop".to_owned()));
    names
}

/// How packets compare their minimal path with detours, and where these lead.
fn names_of_detours(plan: &Plan) -> [(bool, &'static str); 5] {
    let ugal = if let RoutingConfig::Ugal(ugal) = &plan.experiment.routing { Some(ugal) } else { None };
    let region = match &plan.experiment.routing {
        RoutingConfig::Ugal(ugal) => ugal.within,
        RoutingConfig::Valiant(valiant) => valiant.within,
        _ => DetourRegion::Network,
    };
    [
        (region == DetourRegion::Unaligned, "detours in unaligned dimensions"),
        (region == DetourRegion::Quadrant, "detours in quadrants"),
        (ugal.is_some_and(|ugal| ugal.occupancy == Occupancy::Port), "occupancy of ports"),
        (ugal.is_some_and(|ugal| ugal.knowledge == Knowledge::Global), "global knowledge"),
        (ugal.is_some_and(|ugal| ugal.once), "decided once"),
    ]
}

/// What a plan has, and its packets do.
fn names(plan: &Plan, lives: &[PacketTrace]) -> Vec<String> {
    let (system, classes) = (&plan.system, &plan.system.network.classes);
    let mut names = names_of_routers(plan);
    let traffic = || system.jobs.iter().filter_map(|job| job.traffic());
    let longest = system.longest_packet();
    let draws = traffic().any(|job| job.lengths.are_several());
    let whole = system.router.keeps_whole_packets();
    let router = serde_json::to_value(&plan.experiment.router).unwrap();
    let flexible = router["virtual_channel"]["vcs"]["management"].get("flexvc").is_some();
    let several_inputs = system.network.layout.inputs() > system.network.layout.ports();
    let as_booksim = names
        .iter()
        .any(|name| *name == "ports of a mesh as of Booksim" || *name == "ports of a torus as of Booksim");
    let has_classes = system.priorities.iter().any(|&priority| priority != system.priorities[0]);
    let more = [
        (has_classes, "several priority classes"),
        (
            has_classes && system.jobs.iter().any(JobPlan::request_reply),
            "replies of several priority classes",
        ),
        (classes.links.iter().any(|class| class.buffer < longest), "buffers shorter than a packet"),
        (classes.terminal.buffer < longest, "injection VCs shorter than a packet"),
        (classes.request_reply() && classes.one_way > 1, "ejection VCs for requests"),
        (longest > 1, "packets longer than a flit"),
        (system.shortest_packet() < longest, "several lengths"),
        (draws, "drawn lengths"),
        (draws && !whole, "drawn lengths of flits"),
        (system.network.slowest_link() > 1, "slow links"),
        (classes.links.iter().any(|class| class.vcs > 1), "several VCs"),
        (classes.links.iter().any(|class| class.vcs == 1), "one VC"),
        (system.jobs.iter().any(JobPlan::request_reply), "requests"),
        (traffic().any(|job| job.process.waits()), "bursts"),
        (traffic().any(|job| job.process.synchronised().is_some()), "synchronised bursts"),
        (system.jobs.iter().any(|job| !job.changes().is_empty()), "changes"),
        (system.nic.source_queue < u32::MAX, "bounded source queues"),
        (flexible, "flexvc"),
        (system.routing.vcs().look_ahead(), "flexvc by hop"),
        (several_inputs, "several inputs of the crossbar"),
        (as_booksim && several_inputs, "several inputs of the crossbar as of BookSim"),
        (as_booksim && system.network.layout.terminals > 1, "several nodes as of BookSim"),
        (as_booksim && system.network.layout.terminals == 1, "one node as of BookSim"),
        (as_booksim && system.nic.injection_ports > 1, "several injection ports as of BookSim"),
        (lives.iter().any(|packet| packet.hops.iter().any(|hop| hop.misrouted)), "detours"),
    ];
    let more = more.into_iter().chain(names_of_detours(plan));
    names.extend(more.filter(|(has, _)| *has).map(|(_, name)| name.to_owned()));
    if let Rings::Dateline(dateline) = system.routing.vcs().rings() {
        names.push(format!("datelines, {:?}", dateline.rule()));
        names.extend((classes.links[0].vcs > 2).then(|| "datelines, classes of several VCs".to_owned()));
    }
    names
}

#[test]
fn flits_are_conserved_and_buffers_hold_what_they_can() {
    for_each_flit_plan((40, 1), |plan, cycles| {
        let mut simulator = Simulator::new(plan);
        for _ in 0..cycles {
            simulator.step();
            simulator.audit();
        }
        audit(plan, cycles.min(200))
    });
}

#[test]
fn engine_and_reference_agree_on_every_packet_in_virtual_channel_routers() {
    let coverage = Coverage::default();
    for_each_flit_plan((400, 4), |plan, cycles| coverage.compare(plan, cycles));
    for_each_flit_plan_on_spines((40, 4), |plan, cycles| coverage.compare(plan, cycles));
    coverage.check();
}

#[test]
#[ignore = "takes minutes"]
fn engine_and_reference_agree_on_many_systems_of_virtual_channel_routers() {
    let coverage = Coverage::default();
    for seed in 10..20 {
        for_each_flit_plan((500, seed), |plan, cycles| coverage.compare(plan, cycles));
    }
    coverage.check();
}

#[test]
fn engine_and_reference_agree_on_programs_over_virtual_channel_routers() {
    let coverage = programs::Coverage::default();
    for_each_flit_program((60, 3), |plan| coverage.compare(plan));
    let (compared, packets) = (coverage.of("compared"), coverage.of("packets"));
    assert!(compared >= 40 && packets >= 1_000, "{compared} programs, {packets} packets");
}

#[test]
fn what_is_measured_of_virtual_channel_routers_is_what_the_lives_of_the_packets_say() {
    let coverage = metrics::Coverage::default();
    for_each_measured_flit_plan((60, 4), |plan| coverage.compare(plan));
}
