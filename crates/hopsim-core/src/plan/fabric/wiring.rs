//! Ports, links and forwarding tables of a fabric, from a topology.

use super::exceptions::At;
use super::forwarding;
use crate::config::infiniband::Forwarding;
use crate::error::ConfigError;
use crate::topology::{PortClass, Topology};
use hopsim_infiniband::fabric::{Fabric, NONE, Port};
use hopsim_infiniband::time::Ticks;
use rustc_hash::FxHashMap;

/// Most entries of all forwarding tables together.
const MOST_ENTRIES: u64 = 1 << 28;

/// A class of links.
#[derive(Clone, Copy, Debug, Default)]
pub struct Link {
    /// What a byte takes.
    pub byte: Ticks,
    /// From the first bit leaving to the first bit arriving.
    pub delay: Ticks,
}

/// All links.
#[derive(Clone, Debug)]
pub struct Links {
    /// To hosts, and between switches.
    pub kinds: [Link; 2],
    /// Those that differ.
    pub exceptions: FxHashMap<At, Link>,
}

impl Links {
    fn at(&self, at: At) -> Link {
        let kind = usize::from(matches!(at, At::Switches(..)));
        self.exceptions.get(&at).copied().unwrap_or(self.kinds[kind])
    }
}

/// What of a fabric follows from its topology; see [`Fabric`].
pub struct Wiring {
    pub first_port: Vec<u32>,
    pub ports: Vec<Port>,
    pub forwarding: Vec<u16>,
}

/// Which ports of the routers of a topology are plugged: only these are ports of switches.
pub struct Plugs {
    /// Ports of a router.
    width: usize,
    /// The port of the fabric, by router · width + port; [`NONE`] if nothing is plugged in.
    numbers: Vec<u32>,
}

impl Plugs {
    /// The port of the fabric at a port of a router.
    pub fn of(&self, router: u32, port: usize) -> u32 {
        self.numbers[router as usize * self.width + port]
    }
}

impl Wiring {
    /// Wires a topology with links to hosts and between switches, where a VL has these buffers \[blocks\] at hosts, and at switches
    /// on ports to hosts and to switches.
    pub fn new(
        (topology, how): (&Topology, &Forwarding),
        (links, at_host, at_switch): (Links, u32, [u32; 2]),
    ) -> Result<Self, ConfigError> {
        let (hosts, routers) = (topology.nodes(), topology.routers());
        let entries = u64::from(hosts) * u64::from(routers);
        if entries > MOST_ENTRIES {
            let reason =
                format!("the forwarding tables of {routers} switches to {hosts} nodes would be too large");
            return Err(ConfigError::new("topology", reason).valid(format!("at most {MOST_ENTRIES} entries")));
        }
        let (first_port, plugs) = plug(topology);
        let port = |at: At, peer: u32, buffer: u32| {
            let Link { byte, delay } = links.at(at);
            Port { peer, byte, delay, buffer }
        };
        let terminal = |host: u32| {
            let router = topology.router_of(host);
            plugs.of(router, (host - topology.nodes_of(router).start) as usize)
        };
        let mut ports: Vec<Port> =
            (0..hosts).map(|host| port(At::Node(host), terminal(host), at_host)).collect();
        for router in 0..routers {
            for (number, class) in topology.ports().into_iter().enumerate() {
                match (class, topology.neighbour(router, number)) {
                    _ if plugs.of(router, number) == NONE => {}
                    (PortClass::Terminal, _) => {
                        let host = topology.nodes_of(router).start + number as u32;
                        ports.push(port(At::Node(host), host, at_switch[0]));
                    }
                    (PortClass::Link(_), peer) => {
                        let at = At::switches(router, peer.map_or(router, |(other, _)| other));
                        let peer = peer.map_or(NONE, |(peer, back)| plugs.of(peer, back));
                        ports.push(port(at, peer, at_switch[1]));
                    }
                }
            }
        }
        let forwarding = forwarding::tables(how, topology, (&first_port, &plugs))?;
        Ok(Self { first_port, ports, forwarding })
    }
}

/// Numbers the ports that are plugged, hosts first.
fn plug(topology: &Topology) -> (Vec<u32>, Plugs) {
    let classes = topology.ports();
    let mut next = topology.nodes();
    let (mut first_port, mut numbers) = (vec![next], Vec::new());
    for router in 0..topology.routers() {
        for (port, class) in classes.iter().enumerate() {
            let is_plugged = match class {
                PortClass::Terminal => port < topology.nodes_of(router).len(),
                PortClass::Link(_) => topology.neighbour(router, port).is_some(),
            };
            numbers.push(if is_plugged { next } else { NONE });
            next += u32::from(is_plugged);
        }
        first_port.push(next);
    }
    (first_port, Plugs { width: classes.len(), numbers })
}

/// The ports by which a packet from one host to another leaves its host and then the switches on its way.
pub fn outputs(fabric: &Fabric, [source, destination]: [u32; 2]) -> Vec<u32> {
    let mut outputs = vec![source];
    let mut at = fabric.ports[source as usize].peer;
    while !fabric.is_host(at) {
        let switch = fabric.first_port.partition_point(|&first| first <= at) - 1;
        let entry = fabric.forwarding[switch * fabric.hosts as usize + destination as usize];
        let output = fabric.first_port[switch] + u32::from(entry);
        outputs.push(output);
        at = fabric.ports[output as usize].peer;
    }
    outputs
}
