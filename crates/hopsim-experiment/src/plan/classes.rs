//! Link classes: the numbers of the classes that the topology has, and none of those it has not.

use super::{request_vcs, within};
use crate::config::limits::BUFFERS;
use crate::config::router::{FlowControl, OnOff, OnOffThresholds, RouterConfig, Vcs, not_a_fabric};
use crate::config::{Experiment, LinkConfig, LinksConfig};
use hopsim_network::error::ConfigError;
use hopsim_network::network::{ClassSpec, Classes};
use hopsim_network::topology::{LATENCIES, Topology, TopologyConfig};
use hopsim_routing::Paths;

/// A class of links: what it has if the document does not say, and where its keys are.
struct Defaults {
    name: &'static str,
    latency: u32,
    buffer: u32,
    link: fn(&mut LinksConfig) -> &mut Option<LinkConfig>,
    vcs: fn(&mut Vcs) -> &mut Option<u32>,
    buffers: fn(&mut RouterConfig) -> &mut Option<u32>,
    thresholds: fn(&mut OnOff) -> &mut Option<OnOffThresholds>,
}

/// One row per class: its key in a document, which is its name in the topology, latency and buffer.
macro_rules! defaults {
    ($($key:ident: $latency:literal, $buffer:literal;)*) => {
        /// The defaults of each class of links.
        const DEFAULTS: &[Defaults] = &[$(Defaults {
            name: stringify!($key),
            latency: $latency,
            buffer: $buffer,
            link: |links| &mut links.$key,
            vcs: |vcs| &mut vcs.$key,
            buffers: |router| match router {
                RouterConfig::Cioq(r) => &mut r.buffers.$key,
                RouterConfig::InputQueued(r) => &mut r.buffers.$key,
                RouterConfig::VirtualChannel(r) => &mut r.buffers.$key,
                RouterConfig::Infiniband(_) | RouterConfig::Ethernet(_) => not_a_fabric(),
            },
            thresholds: |on_off| &mut on_off.$key,
        },)*];
    };
}

defaults! {
    local: 10, 32;
    global: 100, 256;
    network: 1, 64;
    rail: 1, 64;
}

impl Defaults {
    /// The row of a class.
    fn of(name: &str) -> &'static Self {
        let row = DEFAULTS.iter().find(|class| class.name == name);
        row.unwrap_or_else(|| unreachable!("the class {name} has no row"))
    }
}

/// Gives the links of a graph that state no latency that of their class.
pub fn resolve_latencies(experiment: &mut Experiment) -> Result<(), ConfigError> {
    let TopologyConfig::Graph(graph) = &mut experiment.topology else { return Ok(()) };
    let latency = experiment.links.network.map_or(Defaults::of("network").latency, |link| link.latency);
    within(LATENCIES, latency, "links.network.latency")?;
    graph.edges.iter_mut().for_each(|edge| {
        edge.latency.get_or_insert(latency);
    });
    Ok(())
}

/// Fills in what the document leaves out of the classes of the topology, VCs apart, and refuses keys of other classes.
pub fn resolve(experiment: &mut Experiment, topology: &Topology) -> Result<(), ConfigError> {
    let name = experiment.router.name();
    let names = topology.link_classes();
    for class in DEFAULTS {
        let exists = names.contains(&class.name);
        let refuse = |path: String, given: bool| {
            let reason = format!("the topology has no {} links", class.name);
            let valid = format!("no such key; its links are {}", names.join(", "));
            if given && !exists { Err(ConfigError::new(path, reason).valid(valid)) } else { Ok(()) }
        };
        let link = (class.link)(&mut experiment.links);
        refuse(format!("links.{}", class.name), link.is_some())?;
        if exists {
            link.get_or_insert(LinkConfig { latency: class.latency });
        }
        let vcs = (class.vcs)(vcs_mut(&mut experiment.router));
        refuse(format!("router.{name}.vcs.{}", class.name), vcs.is_some())?;
        let buffer = (class.buffers)(&mut experiment.router);
        refuse(format!("router.{name}.buffers.{}", class.name), buffer.is_some())?;
        if exists {
            buffer.get_or_insert(class.buffer);
        }
        if let Some(FlowControl::OnOff(on_off)) = experiment.router.flow_control_mut() {
            let thresholds = (class.thresholds)(on_off);
            refuse(format!("router.{name}.flow_control.on_off.{}", class.name), thresholds.is_some())?;
        }
    }
    Ok(())
}

/// Refuses the size of a buffer that input-queued routers do not have.
fn refuse_size(key: &str, size: Option<u32>, reason: &str, others: &str) -> Result<(), ConfigError> {
    let Some(size) = size else { return Ok(()) };
    let path = format!("router.input_queued.buffers.{key}");
    Err(ConfigError::new(path, reason).value(size).valid(format!("no such key, or {others}")))
}

/// The classes of a resolved experiment.
pub fn build(experiment: &Experiment, topology: &Topology, paths: &Paths) -> Result<Classes, ConfigError> {
    // The accessors are for changing; a copy keeps them single.
    let mut experiment = experiment.clone();
    let name = experiment.router.name();
    let buffer =
        |key: &str, size: u32| within(BUFFERS, size, format!("router.{name}.buffers.{key}")).map(|()| size);
    let latency = |key: &str, link: LinkConfig| {
        within(LATENCIES, link.latency, format!("links.{key}.latency")).map(|()| link.latency)
    };
    let injection = match &experiment.router {
        RouterConfig::Cioq(r) => {
            buffer("output", r.buffers.output)?;
            r.buffers.injection
        }
        RouterConfig::InputQueued(r) => {
            let (ejection, output) = (r.buffers.ejection, r.buffers.output);
            let reason = "nodes of routers through which whole packets move have no such buffers";
            refuse_size("ejection", ejection, reason, "router.virtual_channel")?;
            let reason = "input-queued routers have no queues at their outputs";
            refuse_size("output", output, reason, "router.cioq or router.virtual_channel")?;
            let reserve = r.buffers.damq.map(|damq| damq.reserve);
            let reason = "the VCs of input-queued routers have buffers of their own";
            refuse_size("damq.reserve", reserve, reason, "router.cioq or router.virtual_channel")?;
            r.buffers.injection
        }
        RouterConfig::VirtualChannel(r) => r.buffers.injection,
        RouterConfig::Infiniband(_) | RouterConfig::Ethernet(_) => not_a_fabric(),
    };
    let vcs = vcs_mut(&mut experiment.router).injection;
    let terminal = ClassSpec {
        vcs: vcs as u8,
        buffer: buffer("injection", injection)?,
        latency: latency("injection", experiment.links.injection)?,
        bubble: 0,
    };
    let longest = super::jobs::longest_packet(&experiment);
    let bubble = check_bubble(&experiment, topology, paths)?;
    let mut links = Vec::new();
    for &name in topology.link_classes() {
        let class = Defaults::of(name);
        let link = (class.link)(&mut experiment.links).unwrap_or(LinkConfig { latency: 1 });
        let of_longest = topology.longest_latency(latency(name, link)?);
        if of_longest > *LATENCIES.end() {
            let reason = format!(
                "with topology.hyperx.latency_per_step the longest link would take {of_longest} cycles"
            );
            return Err(ConfigError::new(format!("links.{name}.latency"), reason)
                .value(link.latency)
                .valid(format!("at most {} cycles for the longest link", LATENCIES.end())));
        }
        links.push(ClassSpec {
            vcs: (class.vcs)(vcs_mut(&mut experiment.router)).unwrap_or(1) as u8,
            buffer: buffer(name, (class.buffers)(&mut experiment.router).unwrap_or(1))?,
            latency: latency(name, link)?,
            bubble: bubble * longest,
        });
    }
    let one_way = experiment.router.vcs().ejection.unwrap_or(1) as u8;
    Ok(Classes { terminal, links, ejection: one_way + request_vcs(&experiment, vcs), one_way })
}

/// Packets that a packet which enters a ring leaves room for.
fn check_bubble(experiment: &Experiment, topology: &Topology, paths: &Paths) -> Result<u32, ConfigError> {
    let vcs = experiment.router.vcs();
    let path = format!("router.{}.vcs.bubble", experiment.router.name());
    let default = u32::from(topology.has_rings() && paths.safety.bubble());
    let packets = vcs.bubble.unwrap_or(default);
    within(0..=16, packets, &path)?;
    if default == 0 && vcs.bubble.is_some() {
        let (reason, valid) = if topology.has_rings() {
            ("no packet goes round a ring", "no such key, or another routing than up_down and nue")
        } else {
            ("the topology has no rings to enter", "no such key, or topology.torus or ring")
        };
        return Err(ConfigError::new(path, reason).value(packets).valid(valid));
    }
    if packets < default && !vcs.allow_deadlock {
        return Err(ConfigError::new(
            path,
            "packets of a ring can wait for each other in a circle: the network can deadlock",
        )
        .value(packets)
        .valid("1 … 16 packets, or vcs.allow_deadlock = true"));
    }
    Ok(packets)
}

/// The VC section of a router.
pub fn vcs_mut(router: &mut RouterConfig) -> &mut Vcs {
    match router {
        RouterConfig::Cioq(r) => &mut r.vcs,
        RouterConfig::InputQueued(r) => &mut r.vcs,
        RouterConfig::VirtualChannel(r) => &mut r.vcs,
        RouterConfig::Infiniband(_) | RouterConfig::Ethernet(_) => not_a_fabric(),
    }
}

/// VCs of a class.
pub fn vcs_of<'v>(vcs: &'v mut Vcs, class: &str) -> &'v mut Option<u32> {
    (Defaults::of(class).vcs)(vcs)
}

/// When the buffers of a class say off and on.
pub fn thresholds_of<'o>(on_off: &'o mut OnOff, class: &str) -> &'o mut Option<OnOffThresholds> {
    (Defaults::of(class).thresholds)(on_off)
}
