//! The network flattened to arrays: built once from a topology, read-only while the engine runs.
//!
//! All routers share one [`Layout`]: the numbering of ports, of *slots* (input port and VC) and of *pairs*
//! (output port and VC).

use crate::topology::faults::LinkEnd;
use crate::topology::{PortClass, Topology};
use std::collections::BTreeMap;

/// No router, port, packet or node.
pub const NONE: u32 = u32::MAX;

/// VCs and buffer sizes of a class of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassSpec {
    /// Virtual channels of the inputs of this class.
    pub vcs: u8,
    /// Input buffer per VC \[phits\].
    pub buffer: u32,
    /// Link latency \[cycles\].
    pub latency: u32,
    /// Room that a packet which enters a ring of these links leaves behind it, in whatever VC: that of the longest packet,
    /// which every packet takes there \[phits\]; 0: there are no rings (bubble flow control).
    pub bubble: u32,
}

/// Port classes of a network: terminal ports and up to [`MOST_CLASSES`](crate::by_class::MOST_CLASSES) classes of links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classes {
    /// Injection inputs.
    pub terminal: ClassSpec,
    /// Link classes, by index.
    pub links: Vec<ClassSpec>,
    /// Output VCs of ejection ports.
    pub ejection: u8,
    /// Ejection VCs for packets that are always taken, the first ones; with request-reply the others are for requests.
    pub one_way: u8,
}

impl Classes {
    /// Whether some job answers its packets.
    pub fn request_reply(&self) -> bool {
        self.ejection > self.one_way
    }

    /// The first injection VC for replies; those below are for all other packets. Without replies there is none.
    pub fn first_reply_vc(&self) -> u8 {
        if self.request_reply() { self.terminal.vcs / 2 } else { self.terminal.vcs }
    }

    /// The specification of one class.
    pub fn of(&self, class: PortClass) -> ClassSpec {
        match class {
            PortClass::Terminal => self.terminal,
            PortClass::Link(index) => self.links[index as usize],
        }
    }
}

/// The numbering of ports, slots and pairs, equal for all routers.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Class of every port.
    pub class: Vec<PortClassCode>,
    /// First slot of every port; a port's slots never straddle a multiple of 64.
    pub slot_base: Vec<u16>,
    /// Input VCs of every port.
    pub input_vcs: Vec<u8>,
    /// First pair of every port; a port's pairs never straddle a multiple of 64.
    pub pair_base: Vec<u16>,
    /// Output VCs of every port (of ejection: see [`Classes::ejection`]).
    pub output_vcs: Vec<u8>,
    /// Further pairs of every port, behind its output VCs and in their order: what heads that enter a ring ask for. 0 or as
    /// many as VCs.
    pub entries: Vec<u8>,
    /// Port of every slot.
    pub slot_port: Vec<u16>,
    /// Input of the crossbar of every slot: its port; where a port has several that is its first one, and the others follow
    /// behind all ports.
    pub slot_input: Vec<u16>,
    /// Port of every input of the crossbar.
    pub input_port: Vec<u16>,
    /// Port of every pair.
    pub pair_port: Vec<u16>,
    /// Number of terminal ports.
    pub terminals: usize,
    /// The terminal port whose node feeds an input port: its own number, but of a further injection port that of the first
    /// one of its node. Nothing for links.
    pub injects_for: Vec<u16>,
}

/// 0 for terminal ports, 1 + index for link classes: what hot code compares.
pub type PortClassCode = u8;

/// The code of a terminal port.
pub const TERMINAL: PortClassCode = 0;

/// What is at the other end of a port.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Router and port there, `None` if nothing is plugged in or a node is.
    pub peer: Option<(u32, usize)>,
    /// Latency of the link in either direction \[cycles\].
    pub latency: u32,
    /// Cycles that the link takes for a phit.
    pub cycles_per_phit: u32,
}

/// The flattened network.
#[derive(Clone, Debug)]
pub struct Network {
    /// Numbering inside a router.
    pub layout: Layout,
    /// VCs, buffers and latencies by class; links of a graph have latencies of their own.
    pub classes: Classes,
    /// Links by router · ports + port.
    pub links: Vec<Link>,
    /// Number of routers.
    pub routers: u32,
    /// Number of nodes.
    pub nodes: u32,
    /// Names of the link classes.
    pub link_classes: &'static [&'static str],
    slowest: u32,
}

fn place(next: &mut u16, count: u8) -> u16 {
    if *next % 64 + u16::from(count) > 64 {
        *next = next.next_multiple_of(64);
    }
    let base = *next;
    *next += u16::from(count);
    base
}

impl Layout {
    fn new(ports: &[PortClass], classes: &Classes, injection_ports: u8, crossbar_inputs: u8) -> Self {
        let mut layout = Self::default();
        let (mut slots, mut pairs) = (0, 0);
        for (port, &class) in ports.iter().enumerate() {
            let vcs = classes.of(class).vcs;
            let outputs = if class == PortClass::Terminal { classes.ejection } else { vcs };
            layout.class.push(match class {
                PortClass::Terminal => TERMINAL,
                PortClass::Link(index) => index + 1,
            });
            layout.terminals += usize::from(class == PortClass::Terminal);
            layout.injects_for.push(port as u16);
            layout.slot_base.push(place(&mut slots, vcs));
            layout.input_vcs.push(vcs);
            let entries = if classes.of(class).bubble > 0 { outputs } else { 0 };
            layout.pair_base.push(place(&mut pairs, outputs + entries));
            layout.output_vcs.push(outputs);
            layout.entries.push(entries);
            layout.slot_port.resize(slots as usize, port as u16);
            layout.pair_port.resize(pairs as usize, port as u16);
        }
        for number in 1..injection_ports {
            layout.add_injection_ports(number, classes.terminal.vcs / injection_ports);
        }
        layout.input_port = (0..layout.ports() as u16).collect();
        layout.slot_input = layout.slot_port.clone();
        layout.divide_vcs(crossbar_inputs);
        layout
    }

    /// Divides the VCs of every port among so many inputs of the crossbar, in turn. A port with fewer VCs has one for each.
    fn divide_vcs(&mut self, inputs: u8) {
        for port in 0..self.ports() {
            let vcs = self.input_vcs[port];
            for input in 1..inputs.min(vcs) {
                for vc in (input..vcs).step_by(inputs.into()) {
                    let slot = self.slot_base[port] + u16::from(vc);
                    self.slot_input[slot as usize] = self.input_port.len() as u16;
                }
                self.input_port.push(port as u16);
            }
        }
    }

    /// Gives every node one more injection port, number `number` of its, and `vcs` of its injection VCs to that.
    fn add_injection_ports(&mut self, number: u8, vcs: u8) {
        for terminal in 0..self.terminals {
            let port = self.ports() as u16;
            let base = self.slot_base[terminal] + u16::from(number * vcs);
            self.input_vcs[terminal] -= vcs;
            self.slot_port[base as usize..][..vcs as usize].fill(port);
            self.class.push(TERMINAL);
            self.injects_for.push(terminal as u16);
            self.slot_base.push(base);
            self.input_vcs.push(vcs);
            self.pair_base.push(0);
            self.output_vcs.push(0);
            self.entries.push(0);
        }
    }

    /// Number of inputs of the crossbar.
    pub fn inputs(&self) -> usize {
        self.input_port.len()
    }

    /// Words of the masks that hold the slots, pairs and ports of a router: a power of two.
    pub fn words(&self) -> usize {
        self.slots().max(self.pairs()).div_ceil(64).next_power_of_two()
    }

    /// From the ids of a router's slots and pairs to those of the next one.
    pub fn stride(&self) -> usize {
        64 * self.words()
    }

    /// Number of ports.
    pub fn ports(&self) -> usize {
        self.class.len()
    }

    /// Number of slot positions, gaps included.
    pub fn slots(&self) -> usize {
        self.slot_port.len()
    }

    /// Number of pair positions, gaps included.
    pub fn pairs(&self) -> usize {
        self.pair_port.len()
    }

    /// Port and VC of a slot, `None` for a gap.
    pub fn slot_vc(&self, slot: usize) -> Option<(usize, u8)> {
        let port = *self.slot_port.get(slot)? as usize;
        let vc = slot.checked_sub(self.slot_base[port] as usize)?;
        (vc < self.input_vcs[port] as usize).then_some((port, vc as u8))
    }

    /// Port and VC of a pair, `None` for a gap or an entry.
    pub fn pair_vc(&self, pair: usize) -> Option<(usize, u8)> {
        let port = *self.pair_port.get(pair)? as usize;
        let vc = pair.checked_sub(self.pair_base[port] as usize)?;
        (vc < self.output_vcs[port] as usize).then_some((port, vc as u8))
    }

    /// Port and VC of an output VC or an entry, `None` for a gap.
    pub fn any_vc(&self, pair: usize) -> Option<(usize, u8)> {
        self.pair_vc(pair).or_else(|| self.entry_vc(pair))
    }

    /// Port and VC of an entry, `None` for a gap or an output VC.
    pub fn entry_vc(&self, pair: usize) -> Option<(usize, u8)> {
        let port = *self.pair_port.get(pair)? as usize;
        let vc = pair.checked_sub(self.pair_base[port] as usize + self.output_vcs[port] as usize)?;
        (vc < self.entries[port] as usize).then_some((port, vc as u8))
    }
}

impl Network {
    /// Flattens `topology`; every node has `injection_ports` input ports of its router, and every input port `crossbar_inputs`
    /// inputs of the crossbar, or as many as VCs if these are fewer.
    pub fn new(topology: &Topology, classes: Classes, injection_ports: u8, crossbar_inputs: u8) -> Self {
        let ports = topology.ports();
        let layout = Layout::new(&ports, &classes, injection_ports, crossbar_inputs);
        let routers = topology.routers();
        let mut links = hopsim_memory::table(routers as usize * layout.ports());
        let further = Link { peer: None, latency: classes.terminal.latency, cycles_per_phit: 1 };
        for router in 0..routers {
            for (port, &class) in ports.iter().enumerate() {
                let latency = topology.latency(router, port, classes.of(class).latency);
                let cycles_per_phit = topology.cycles_per_phit(router, port);
                links.push(Link { peer: topology.neighbour(router, port), latency, cycles_per_phit });
            }
            links.resize((router as usize + 1) * layout.ports(), further);
        }
        let nodes = topology.nodes();
        let slowest = links.iter().map(|link| link.cycles_per_phit).max().unwrap_or(1);
        Self { layout, classes, links, routers, nodes, link_classes: topology.link_classes(), slowest }
    }

    /// The network with some links, by either end, that take so many times as many cycles for a phit.
    #[must_use]
    pub fn slowed(&self, slower: impl IntoIterator<Item = (LinkEnd, u32)>) -> Self {
        let mut network = self.clone();
        let ports = network.layout.ports();
        for ((router, port), times) in slower {
            network.links[router as usize * ports + port].cycles_per_phit *= times;
        }
        let slowest = network.links.iter().map(|link| link.cycles_per_phit).max().unwrap_or(1);
        network.slowest = network.slowest.max(slowest);
        network
    }

    /// Cycles per phit of the slowest of some links, by either end, that take so many times as many as they do.
    pub fn pace_with(&self, slower: &[(LinkEnd, u32)]) -> u32 {
        let mut paces = BTreeMap::new();
        for &((router, port), times) in slower {
            *paces.entry((router, port)).or_insert(self.link(router, port).cycles_per_phit) *= times;
        }
        paces.into_values().max().unwrap_or(1)
    }

    /// This network, in a run in which links may take so many cycles for a phit.
    #[must_use]
    pub fn with_pace(self, slowest: u32) -> Self {
        Self { slowest: self.slowest.max(slowest), ..self }
    }

    /// The link at `port` of `router`.
    pub fn link(&self, router: u32, port: usize) -> &Link {
        &self.links[router as usize * self.layout.ports() + port]
    }

    /// Latency of the longest link between routers \[cycles\].
    pub fn longest_link(&self) -> u32 {
        self.links.iter().filter(|link| link.peer.is_some()).map(|link| link.latency).max().unwrap_or(1)
    }

    /// Most cycles that any link takes for a phit, at any time of the run.
    pub fn slowest_link(&self) -> u32 {
        self.slowest
    }

    /// `local 3` for the fourth local port: the name of a port in messages.
    pub fn port_name(&self, port: usize) -> String {
        let class = self.layout.class[port];
        let first = self.layout.class.iter().position(|&c| c == class).unwrap_or(0);
        let name = if class == TERMINAL { "terminal" } else { self.link_classes[class as usize - 1] };
        format!("{name} {}", port - first)
    }

    /// Name of the class of a port.
    pub fn class_name(&self, port: usize) -> &'static str {
        match self.layout.class[port] {
            TERMINAL => "terminal",
            code => self.link_classes[code as usize - 1],
        }
    }
}
