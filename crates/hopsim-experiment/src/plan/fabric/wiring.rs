//! Ports and links of a fabric, from a topology, and what follows from them alone.

use super::circles::Circle;
use super::exceptions::At;
use super::forwarding;
use super::kept::Kept;
use super::ways::Ways;
use crate::config::Experiment;
use crate::config::infiniband::Forwarding;
use hopsim_infiniband::fabric::{Fabric, NONE, Port};
use hopsim_infiniband::forwarding::Tables;
use hopsim_infiniband::paths::{Alternatives, Paths};
use hopsim_infiniband::time::Ticks;
use hopsim_network::error::ConfigError;
use hopsim_network::interrupt;
use hopsim_network::topology::faults::{self, Fault, LinkEnd, Missing};
use hopsim_network::topology::graph::IN_ONE_PIECE;
use hopsim_network::topology::{PortClass, Topology, TopologyConfig};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A class of links.
#[derive(Clone, Copy, Debug, Default)]
pub struct Link {
    /// What a byte takes.
    pub byte: Ticks,
    /// Time from the first bit leaving to the first bit arriving.
    pub delay: Ticks,
}

/// All links of a fabric.
#[derive(Clone, Debug)]
pub struct Links {
    /// Kinds of links: to hosts, and between switches.
    pub kinds: [Link; 2],
    /// Links that differ from the others of their kind.
    pub exceptions: FxHashMap<At, Link>,
}

impl Links {
    fn at(&self, at: At) -> Link {
        let kind = usize::from(matches!(at, At::Switches(..)));
        self.exceptions.get(&at).copied().unwrap_or(self.kinds[kind])
    }
}

/// The ports of hosts and switches and what joins them. Ports are numbered as in [`Fabric`]: those of hosts, then those of the
/// switches, of each first those to its hosts. Only ports of routers that are plugged are ports of switches.
#[derive(Clone, Debug)]
pub struct Cables {
    /// Number of hosts.
    pub hosts: u32,
    /// The first port of every switch, and behind them the number of ports.
    pub first_port: Vec<u32>,
    /// The first port of every switch that leads to another switch.
    first_link: Vec<u32>,
    /// The port at the other end, by port.
    pub peers: Vec<u32>,
    /// The switch at the other end, by port; [`NONE`] if that is a host.
    pub ends: Vec<u32>,
}

impl Cables {
    /// The cables of a topology, and the output of every port of a router by router · ports + port, counted from the first port
    /// of the switch ([`NONE`] if nothing is plugged in).
    pub fn new(topology: &Topology) -> (Self, Vec<u32>) {
        let (classes, hosts, routers) = (topology.ports(), topology.nodes(), topology.routers() as usize);
        let (mut first_port, mut first_link) =
            (hopsim_memory::table(routers + 1), hopsim_memory::table(routers));
        let mut outputs = hopsim_memory::table(routers * classes.len());
        let mut next = hosts;
        for router in 0..topology.routers() {
            interrupt::steps(classes.len() as u64);
            let here = topology.nodes_of(router).len();
            first_port.push(next);
            first_link.push(next + here as u32);
            for (port, class) in classes.iter().enumerate() {
                let is_plugged = match class {
                    PortClass::Terminal => port < here,
                    PortClass::Link(_) => topology.neighbour(router, port).is_some(),
                };
                outputs.push(if is_plugged { next - first_port[router as usize] } else { NONE });
                next += u32::from(is_plugged);
            }
        }
        first_port.push(next);
        let number = |router: u32, port: usize| {
            first_port[router as usize] + outputs[router as usize * classes.len() + port]
        };
        let (mut peers, mut ends) =
            (hopsim_memory::table(next as usize), hopsim_memory::table(next as usize));
        for host in 0..hosts {
            let router = topology.router_of(host);
            peers.push(number(router, (host - topology.nodes_of(router).start) as usize));
            ends.push(router);
        }
        for router in 0..topology.routers() {
            interrupt::steps(classes.len() as u64);
            peers.extend(topology.nodes_of(router));
            ends.resize(peers.len(), NONE);
            let links = (0..classes.len()).filter(|&port| classes[port] != PortClass::Terminal);
            for (peer, back) in links.filter_map(|port| topology.neighbour(router, port)) {
                peers.push(number(peer, back));
                ends.push(peer);
            }
        }
        (Self { hosts, first_port, first_link, peers, ends }, outputs)
    }

    /// Number of switches.
    pub fn switches(&self) -> u32 {
        self.first_link.len() as u32
    }

    /// The ports of a switch.
    pub fn ports(&self, switch: u32) -> Range<u32> {
        self.first_port[switch as usize]..self.first_port[switch as usize + 1]
    }

    /// The ports of a switch that lead to other switches, ascending, with these.
    pub fn links(&self, switch: u32) -> impl Iterator<Item = (u32, u32)> {
        let (first, end) = (self.first_link[switch as usize], self.first_port[switch as usize + 1]);
        (first..end).zip(self.ends[first as usize..end as usize].iter().copied())
    }

    /// The ports with their links, where a VL has these buffers \[blocks\] at hosts, and at switches on ports to hosts and to switches.
    pub fn ports_with(&self, links: &Links, at_host: u32, at_switch: [u32; 2]) -> Vec<Port> {
        let mut ports = hopsim_memory::table(self.peers.len());
        let port = |at: At, peer: u32, buffer: u32| {
            let Link { byte, delay } = links.at(at);
            Port { peer, byte, delay, buffer }
        };
        let of_hosts = self.peers[..self.hosts as usize].iter().zip(0..);
        ports.extend(of_hosts.map(|(&peer, host)| port(At::Node(host), peer, at_host)));
        for switch in 0..self.switches() {
            ports.extend(self.ports(switch).map(|number| {
                let peer = self.peers[number as usize];
                match self.ends[number as usize] {
                    NONE => port(At::Node(peer), peer, at_switch[0]),
                    other => port(At::switches(switch, other), peer, at_switch[1]),
                }
            }));
        }
        ports
    }
}

/// A circle, if there is one, and the steps that it took to see that, see [`interrupt`].
pub type Found = (Option<Arc<Circle>>, u64);

/// Cables and forwarding tables, and who can wait for whom in them.
#[derive(Debug)]
pub struct Wiring {
    /// Ports and what joins them.
    pub cables: Cables,
    /// Forwarding tables.
    pub forwarding: Arc<Tables>,
    /// The outputs among which flows choose, if it is not the tables that say it.
    pub alternatives: Option<Arc<Alternatives>>,
    /// Steps that it took to make the tables, see [`interrupt`].
    pub steps: u64,
    /// The ways among which a circle was looked for last, and what was found.
    circle: Kept<BTreeMap<u8, Ways>, Found>,
}

impl Wiring {
    fn new(network: &Network, how: &Forwarding) -> Result<Self, ConfigError> {
        let (made, steps) = interrupt::counted(|| {
            forwarding::check_size(&network.whole)?;
            let (cables, outputs) = Cables::new(&network.whole);
            let forwarding = if network.has_all_links() {
                forwarding::tables(how, &network.whole, &cables, &outputs)?
            } else {
                forwarding::tables_without(how, &network.topology, &outputs)?
            };
            let alternatives = match how {
                Forwarding::Ecmp => Some(Arc::new(forwarding::ecmp::alternatives(&network.whole, &cables)?)),
                _ => None,
            };
            Ok((cables, Arc::new(forwarding), alternatives))
        });
        made.map(|(cables, forwarding, alternatives)| Self {
            cables,
            forwarding,
            alternatives,
            steps,
            circle: Kept::new(),
        })
    }

    /// How flows choose among ways, if they do, with a seed.
    pub fn paths(&self, seed: u64) -> Option<Paths> {
        self.alternatives.as_ref().map(|all| Paths::new(Arc::clone(all), seed))
    }

    /// The outputs of a switch by which packets for a host may leave it.
    pub fn outputs(&self, switch: u32, destination: u32) -> Vec<u32> {
        let first = self.cables.first_port[switch as usize];
        let all = self.alternatives.as_ref().map_or(&[][..], |all| all.of(switch, destination));
        if all.is_empty() {
            let entry = switch as usize * self.cables.hosts as usize + destination as usize;
            return vec![self.forwarding.output(entry)];
        }
        all.iter().map(|port| port - first).collect()
    }

    /// The circle in which packets on these ways can wait for each other.
    pub fn circle(&self, ways: BTreeMap<u8, Ways>) -> Found {
        let wanted = ways.clone();
        self.circle.get(
            ways,
            |kept, _| *kept == wanted,
            |ways| {
                let find = || match self.alternatives {
                    None => Circle::find(&self.cables, &self.forwarding, ways),
                    Some(_) => Circle::find_in_all(&self.cables, &|at, to| self.outputs(at, to), ways),
                };
                let (found, steps) = interrupt::counted(find);
                (found.map(Arc::new), steps)
            },
        )
    }
}

/// Everything that follows from the topology of a fabric, its forwarding and its faults alone.
#[derive(Debug)]
pub struct Network {
    /// The topology, without the links that are out of order from the beginning to the end.
    pub topology: Arc<Topology>,
    /// The topology with all its links.
    whole: Arc<Topology>,
    /// What is out of order for a part of the run only, by entry of `faults` that says so.
    missing: Vec<Missing>,
    /// What the document says of the topology, with every default filled in.
    resolved: TopologyConfig,
    /// Steps that it took to build the topology.
    steps: u64,
    wiring: OnceLock<Result<Arc<Wiring>, ConfigError>>,
}

/// The topology, how the forwarding tables are made, but for tables that are given, and what is out of order.
pub type NetworkKey = (TopologyConfig, Forwarding, Vec<Fault>);

/// The network that was made last.
pub type Last = Kept<NetworkKey, Result<Arc<Network>, ConfigError>>;

/// The network that this process made last.
pub static LAST: Last = Kept::new();

impl Network {
    /// The network of a document: the last one if it is the same.
    pub fn of(last: &Last, experiment: &Experiment, how: &Forwarding) -> Result<Arc<Self>, ConfigError> {
        let (topology, faults) = (&experiment.topology, &experiment.faults);
        let key = match how {
            Forwarding::Tables(_) => Forwarding::Tables(Vec::new()),
            other => other.clone(),
        };
        let is_same = |(other, how_other, faults_other): &NetworkKey,
                       made: Option<&Result<Arc<Self>, ConfigError>>| {
            let made = made.and_then(|made| made.as_ref().ok());
            let same_topology = other == topology || made.is_some_and(|made| made.resolved == *topology);
            let same_tables = match how {
                Forwarding::Tables(tables) => made.is_some_and(|made| made.has_tables(tables)),
                _ => true,
            };
            same_topology && *how_other == key && same_tables && faults_other == faults
        };
        let key = (topology.clone(), key.clone(), faults.clone());
        last.get(key, is_same, |(topology, _, faults)| Self::new(topology, faults).map(Arc::new))
    }

    fn new(topology: &TopologyConfig, faults: &[Fault]) -> Result<Self, ConfigError> {
        let make = || topology.build().map_err(|error| error.within("topology"));
        let (built, steps) = interrupt::counted(make);
        let whole = Arc::new(built?);
        check_ports_of_hosts(topology, &whole)?;
        let mut resolved = topology.clone();
        resolved.resolve(&whole);
        let (mut rest, mut missing) = (Arc::clone(&whole), Vec::new());
        if !faults.is_empty() {
            let graph = topology.as_graph(make()?).map_err(|error| error.within("topology"))?;
            let (left, timed) = faults::without(&graph, faults).map_err(in_one_piece)?;
            missing = timed.outages.into_iter().map(|outage| outage.missing).collect();
            if topology.ties().is_none() || faults.iter().any(Fault::is_for_good) {
                rest = Arc::new(left);
            }
        }
        Ok(Self { topology: rest, whole, missing, resolved, steps, wiring: OnceLock::new() })
    }

    /// Fills in the parameters that the topology chose.
    pub fn resolve(&self, topology: &mut TopologyConfig) {
        topology.clone_from(&self.resolved);
    }

    /// What is out of order for a part of the run only, by entry of `faults` that says so.
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// What says which port is at an end of a link.
    pub fn ports(&self) -> impl Fn(LinkEnd) -> u32 {
        let (cables, outputs) = Cables::new(&self.whole);
        let width = self.whole.ports().len();
        move |(router, port)| cables.first_port[router as usize] + outputs[router as usize * width + port]
    }

    /// The forwarding tables of the network without what is missing besides.
    pub fn tables_without(&self, how: &Forwarding, missing: &Missing) -> Result<Arc<Tables>, ConfigError> {
        if missing.links.is_empty() {
            return Ok(Arc::clone(&self.wiring(how)?.forwarding));
        }
        let rest = faults::without_these(&self.topology, missing);
        faults::check_whole(&rest).map_err(in_one_piece)?;
        let (_, outputs) = Cables::new(&self.whole);
        forwarding::tables_without(how, &rest, &outputs).map(Arc::new)
    }

    /// The switches whose tables differ, ascending.
    pub fn changed(&self, [one, other]: [&Tables; 2]) -> Vec<u32> {
        let hosts = self.whole.nodes() as usize;
        let differs = |switch: &u32| {
            let mut entries = (0..hosts).map(|host| *switch as usize * hosts + host);
            entries.any(|entry| one.output(entry) != other.output(entry))
        };
        (0..self.whole.routers()).filter(differs).collect()
    }

    /// Whether no link is out of order from the beginning to the end.
    fn has_all_links(&self) -> bool {
        Arc::ptr_eq(&self.topology, &self.whole)
    }

    /// Whether the forwarding tables of the network are these.
    fn has_tables(&self, tables: &[Vec<u16>]) -> bool {
        let Some(Ok(wiring)) = self.wiring.get() else { return false };
        let (switches, hosts) = (wiring.cables.switches() as usize, wiring.cables.hosts as usize);
        let fit = tables.len() == switches && tables.iter().all(|table| table.len() == hosts);
        fit && wiring.forwarding.outputs().eq(tables.iter().flatten().map(|&output| u32::from(output)))
    }

    /// The cables and forwarding tables of the network, which are always made by the same forwarding.
    pub fn wiring(&self, how: &Forwarding) -> Result<Arc<Wiring>, ConfigError> {
        let make = || {
            let made = Wiring::new(self, how);
            made.map(|wiring| Arc::new(Wiring { steps: wiring.steps + self.steps, ..wiring }))
        };
        self.wiring.get_or_init(make).clone()
    }
}

/// Refuses a network in which nodes have several ports.
fn check_ports_of_hosts(config: &TopologyConfig, topology: &Topology) -> Result<(), ConfigError> {
    if topology.adapters() == 0 {
        return Ok(());
    }
    let reason =
        "a node has a port into each of several networks, and a host of an InfiniBand fabric has one port";
    Err(ConfigError::new(format!("topology.{}", config.name()), reason)
        .valid("the network of one plane, or router.cioq, input_queued or virtual_channel"))
}

/// The ports by which a packet of a flow from one host to another leaves its host and then the switches on its way.
pub fn outputs(fabric: &Fabric, [source, destination]: [u32; 2], flow: u32) -> Vec<u32> {
    let mut outputs = vec![source];
    let mut at = fabric.ports[source as usize].peer;
    while let Some(switch) = fabric.switch_of(at) {
        let output = fabric.output(switch, destination, flow);
        outputs.push(output);
        at = fabric.ports[output as usize].peer;
    }
    outputs
}

/// An error about links that are missing, in a fabric, which may not fall apart.
fn in_one_piece(error: ConfigError) -> ConfigError {
    let error = error.within("faults");
    if error.valid.as_deref() == Some(IN_ONE_PIECE) {
        return error.valid("fewer links, other ones, or another seed of the draw");
    }
    error
}
