//! What a router is made of, as written in the document.

use crate::config::ethernet::Ethernet;
use crate::config::infiniband::{Infiniband, LanesConfig};
use crate::config::limits::{BUFFERS, DELAYS, OUTPUT_QUEUES, VCS};
use crate::config::virtual_channel::VirtualChannel;
use hopsim_cycles::choices::{Allocator, Consumption};
use hopsim_network::error::ConfigError;
use hopsim_network::nothing::Nothing;
use hopsim_routing::{dateline, flexvc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// What a router is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RouterConfig {
    /// Combined input-output-queued: VC buffers at the inputs, a crossbar that may run faster than the links,
    /// one queue per output port.
    Cioq(Cioq),
    /// Input-queued: no output queues, the crossbar runs at link rate and a granted packet goes straight
    /// onto the link.
    InputQueued(InputQueued),
    /// Virtual-channel router: packets move flit by flit, by wormhole or virtual cut-through switching.
    VirtualChannel(VirtualChannel),
    /// InfiniBand: a switch with virtual output queues and credits, hosts with channel adapters, congestion control; rates in
    /// Gb/s, times in seconds.
    Infiniband(Box<Infiniband>),
    /// Lossless Ethernet: switches and hosts as in `infiniband` whose ports pause each other; rates in Gb/s, times in seconds.
    Ethernet(Box<Ethernet>),
}

/// Panics where only routers with VCs come: a fabric has a plan of its own.
pub fn not_a_fabric() -> ! {
    unreachable!("a fabric is refused at the beginning of the plan")
}

impl RouterConfig {
    /// The name of the router in the document.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Cioq(_) => "cioq",
            Self::InputQueued(_) => "input_queued",
            Self::VirtualChannel(_) => "virtual_channel",
            Self::Infiniband(_) => "infiniband",
            Self::Ethernet(_) => "ethernet",
        }
    }

    /// The virtual lanes of a fabric.
    pub fn lanes(&self) -> Option<&LanesConfig> {
        match self {
            Self::Infiniband(fabric) => Some(&fabric.lanes),
            Self::Ethernet(fabric) => Some(&fabric.lanes),
            Self::Cioq(_) | Self::InputQueued(_) | Self::VirtualChannel(_) => None,
        }
    }

    /// An error about a fabric of InfiniBand, told of the kind of fabric that there is: an Ethernet is planned in the words of InfiniBand,
    /// see [`Ethernet::fabric`].
    pub fn told(&self, error: ConfigError) -> ConfigError {
        let Self::Ethernet(_) = self else { return error };
        let told = |text: String| {
            let text = text
                .replace("router.infiniband.links.credit_delay", "router.ethernet.flow_control.cbfc.delay");
            text.replace("router.infiniband", "router.ethernet").replace("InfiniBand", "Ethernet")
        };
        let ConfigError { path, reason, valid, .. } = error;
        ConfigError { path: told(path), reason: told(reason), valid: valid.map(told), ..error }
    }

    /// What has an input of the crossbar.
    pub fn crossbar_inputs(&self) -> CrossbarInputs {
        match self {
            Self::Cioq(router) => router.crossbar_inputs,
            Self::InputQueued(router) => router.crossbar_inputs,
            Self::VirtualChannel(router) => router.crossbar_inputs,
            Self::Infiniband(_) | Self::Ethernet(_) => not_a_fabric(),
        }
    }

    /// What keeps buffers from overflowing, where there is a choice.
    pub fn flow_control(&self) -> Option<&FlowControl> {
        match self {
            Self::Cioq(router) => Some(&router.flow_control),
            Self::InputQueued(router) => Some(&router.flow_control),
            Self::VirtualChannel(_) => None,
            Self::Infiniband(_) | Self::Ethernet(_) => not_a_fabric(),
        }
    }

    /// What keeps buffers from overflowing, to be changed, where there is a choice.
    pub fn flow_control_mut(&mut self) -> Option<&mut FlowControl> {
        match self {
            Self::Cioq(router) => Some(&mut router.flow_control),
            Self::InputQueued(router) => Some(&mut router.flow_control),
            Self::VirtualChannel(_) => None,
            Self::Infiniband(_) | Self::Ethernet(_) => not_a_fabric(),
        }
    }

    /// The virtual channels of the router.
    pub fn vcs(&self) -> &Vcs {
        match self {
            Self::Cioq(router) => &router.vcs,
            Self::InputQueued(router) => &router.vcs,
            Self::VirtualChannel(router) => &router.vcs,
            Self::Infiniband(_) | Self::Ethernet(_) => not_a_fabric(),
        }
    }
}

impl Default for RouterConfig {
    fn default() -> Self {
        Self::Cioq(Cioq::default())
    }
}

/// How many inputs of the crossbar an input port has (input speedup): a number, `"port"` for one or `"vc"` for one of each VC. With
/// n of them VC v has the input v modulo n. The VCs of an input compete for it; one packet at a time crosses from it (of a virtual-channel
/// router one flit per cycle), and in every iteration it may ask for one output.
///
/// Source: Dally and Towles, Principles and Practices of Interconnection Networks (2004), §17.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CrossbarInputs {
    /// So many: with n of them VC v has the input v modulo n, and a port with fewer VCs one for each VC. 1 is `"port"`.
    Number(#[schemars(range(min = *VCS.start(), max = *VCS.end()))] u32),
    /// One for the port, or one for each VC.
    Named(InputsOf),
}

/// What has an input of the crossbar of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InputsOf {
    /// Every input port. Its VCs compete for it, and one packet at a time crosses from it.
    Port,
    /// Every input VC. Packets cross from all VCs of a port at once, and output arbiters choose among all VCs.
    Vc,
}

impl CrossbarInputs {
    /// Inputs of the crossbar that an input port has, if it has that many VCs.
    pub fn number(self) -> u32 {
        match self {
            Self::Number(number) => number,
            Self::Named(InputsOf::Port) => 1,
            Self::Named(InputsOf::Vc) => *VCS.end(),
        }
    }
}

impl Default for CrossbarInputs {
    fn default() -> Self {
        Self::Named(InputsOf::Port)
    }
}

/// How a router keeps the input buffers behind its links from overflowing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlowControl {
    /// Credits: a router counts how much room every VC of the next buffer has, and is told of all room that becomes free.
    ///
    /// Source: Dally and Towles, Principles and Practices of Interconnection Networks (2004), §13.3.
    Credits(Nothing),
    /// On/off: a VC of a buffer says off when it has little room left and on when it has enough again, and a router sends packets to
    /// it as long as the last word that it has heard is on.
    OnOff(OnOff),
}

impl Default for FlowControl {
    fn default() -> Self {
        Self::Credits(Nothing {})
    }
}

/// A VC of the buffer of a link says off when fewer than `off` phits are free, and on when at least `on` are. A packet takes its room as a
/// whole, from the arrival of its head to its grant. What is said takes the latency of the link. A router starts a packet only while the last
/// word that it has heard of the VC is on, so `off` must leave room for all packets that may still come until the sender has heard it:
/// those that are on the link, in the crossbar and in the output queue, and those that set out meanwhile. Less is refused. What is above
/// that keeps the link busy while a word travels: buffers have to be larger than with credits for the same throughput.
///
/// A router does not know how much room there is. So VCs must be fixed (`increasing`, or one VC per link where hops may use all of them), and
/// neither adaptive routing, nor FlexVC, nor bubbles, nor shared buffers are there beside it. Nodes know their injection buffers.
///
/// Source: Dally and Towles, Principles and Practices of Interconnection Networks (2004), §13.3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OnOff {
    /// When the buffers of local links say off and on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<OnOffThresholds>,
    /// When the buffers of global links say off and on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub global: Option<OnOffThresholds>,
    /// When the buffers of links say off and on, in topologies with one class of links, and in planes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<OnOffThresholds>,
    /// When the buffers of links between planes and the adapters of nodes say off and on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rail: Option<OnOffThresholds>,
}

/// When the VCs of the buffers of a class of links say off, and when on again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OnOffThresholds {
    /// A VC says off when fewer phits than so many are free \[phits\]; default: the least with which no buffer overflows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *BUFFERS.start(), max = *BUFFERS.end()))]
    pub off: Option<u32>,
    /// A VC says on when at least so many phits are free, no fewer than `off` \[phits\]; default: the same number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *BUFFERS.start(), max = *BUFFERS.end()))]
    pub on: Option<u32>,
}

/// Outputs of the crossbar that an output port may have.
pub const CROSSBAR_OUTPUTS: RangeInclusive<u32> = 1..=16;

/// A head takes part in the allocation `pipeline_latency` cycles after its arrival, when it is the first of its VC.
/// It needs credit for the whole packet at the next buffer (virtual cut-through), a free crossbar output and room
/// for the whole packet in the output queue. A grant sends the packet through the crossbar at `speedup` phits per
/// cycle, or at link rate while it is still arriving; its credit goes back at the grant. Packets leave the output queue
/// in order, one phit per cycle. An empty router delays a head by `pipeline_latency` + `crossbar_latency` cycles.
///
/// The crossbar is not clocked faster: there is one allocation per cycle whatever the speedup. `speedup` is how fast a packet crosses,
/// `crossbar_inputs` how many packets leave an input port at once, and `crossbar_outputs` how many reach an output port at once. They
/// add to each other: with several inputs or outputs each of these is `speedup` times as fast as a link.
///
/// Source: Fuentes' thesis (2017), §1.1; the exact rules are in the model reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cioq {
    /// Virtual channels.
    pub vcs: Vcs,
    /// Buffer sizes.
    pub buffers: Buffers,
    /// What keeps the buffers of links from overflowing.
    pub flow_control: FlowControl,
    /// Crossbar rate relative to the links \[1 … 64\]: a packet occupies the crossbar ⌈length / speedup⌉ cycles,
    /// or until it has arrived.
    #[schemars(range(min = 1.0, max = 64.0))]
    pub speedup: f64,
    /// What has an input of the crossbar (input speedup).
    pub crossbar_inputs: CrossbarInputs,
    /// Outputs of the crossbar that an output port has (output speedup; Dally and Towles (2004), §17.2): up to so many packets from
    /// different inputs of the crossbar are granted the port in an iteration, as far as its queue has room for them, and cross to it
    /// at once. They leave one after the other, in the order of their grants.
    #[schemars(range(min = *CROSSBAR_OUTPUTS.start(), max = *CROSSBAR_OUTPUTS.end()))]
    pub crossbar_outputs: u32,
    /// Delay from the grant to the output queue's head \[cycles\].
    #[schemars(range(min = *DELAYS.start(), max = *DELAYS.end()))]
    pub crossbar_latency: u32,
    /// Delay from the arrival of a head to its first request \[cycles\].
    #[schemars(range(min = *DELAYS.start(), max = *DELAYS.end()))]
    pub pipeline_latency: u32,
    /// The switch allocator.
    pub allocator: Allocator,
}

impl Default for Cioq {
    fn default() -> Self {
        Self {
            vcs: Vcs::default(),
            buffers: Buffers::default(),
            flow_control: FlowControl::default(),
            speedup: 2.0,
            crossbar_inputs: CrossbarInputs::default(),
            crossbar_outputs: 1,
            crossbar_latency: 3,
            pipeline_latency: 0,
            allocator: Allocator::default(),
        }
    }
}

/// As `cioq` with speedup 1 and no output queues: a packet is granted an output only while no other crosses to it,
/// and its head is on the link `crossbar_latency` cycles later. Blocked heads hold back the packets behind them, which
/// costs uniform throughput. An output port has one output of the crossbar: with more (`crossbar_outputs` of `cioq`) packets would
/// have nowhere to wait for the link.
///
/// Source: Dally and Towles, Principles and Practices of Interconnection Networks (2004), §16.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InputQueued {
    /// Virtual channels.
    pub vcs: Vcs,
    /// Buffer sizes.
    pub buffers: InputBuffers,
    /// What keeps the buffers of links from overflowing.
    pub flow_control: FlowControl,
    /// Delay from the grant to the link \[cycles\].
    #[schemars(range(min = *DELAYS.start(), max = *DELAYS.end()))]
    pub crossbar_latency: u32,
    /// Delay from the arrival of a head to its first request \[cycles\].
    #[schemars(range(min = *DELAYS.start(), max = *DELAYS.end()))]
    pub pipeline_latency: u32,
    /// How packets leave for the nodes.
    pub consumption: Consumption,
    /// What has an input of the crossbar.
    pub crossbar_inputs: CrossbarInputs,
    /// The switch allocator.
    pub allocator: Allocator,
}

/// A number for each class of ports.
///
/// Deadlock is avoided by increasing virtual channels (Günther, IEEE Trans. Commun. 29, 1981; Fuentes' thesis
/// (2017), §1.3): the links of the longest path that the routing allows are numbered, every hop uses a later number
/// than the one before, and buffers wait for each other in one direction only. Such a path is written with a letter
/// per link, `l` for local and `g` for global: `lgl` for minimal routing, `lgllgl` for Valiant. The k-th link of a class
/// gets VC k of that class; a hop that a path leaves out is jumped over. Where all links are of one class a hop simply has the
/// VC whose number is that of the links passed before. VCs beyond what the routing needs stay unused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Vcs {
    /// VCs of local links; default: what the routing needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *VCS.start(), max = *VCS.end()))]
    pub local: Option<u32>,
    /// VCs of global links; default: what the routing needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *VCS.start(), max = *VCS.end()))]
    pub global: Option<u32>,
    /// VCs of the links of topologies with one class of links, and of planes; default: what the routing needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *VCS.start(), max = *VCS.end()))]
    pub network: Option<u32>,
    /// VCs of the links between planes and the adapters of nodes; default: what the routing needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *VCS.start(), max = *VCS.end()))]
    pub rail: Option<u32>,
    /// What keeps the packets in a ring of a torus from waiting for each other in a circle; default `bubble`, and `dateline` in
    /// virtual-channel routers, which have no bubbles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rings: Option<Rings>,
    /// Packets that a packet which enters a ring of a torus leaves room for behind it (bubble flow control) \[0 … 16\]; default
    /// 1. Without it, 0, the packets of a ring can wait for each other in a circle.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 16))]
    pub bubble: Option<u32>,
    /// Accept a torus without bubble, or a table of routes (`routing.table`) whose paths close a circle: the network can deadlock, and the run
    /// then ends with a report of who waits for whom. Where packets cannot wait for each other in a circle, as with datelines, it changes nothing.
    pub allow_deadlock: bool,
    /// How hops share the VCs of a link class.
    pub management: VcManagement,
    /// Which VC a hop has, where a routing leaves that open: `minimal` in a graph or a family of graphs; default `layers`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discipline: Option<Discipline>,
    /// VCs for replies alone, out of `local` and `global`; required with FlexVC and request-reply traffic, and only there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<ReplyVcs>,
    /// VCs of injection ports. They do not matter for deadlock; more of them lessen head-of-line blocking.
    #[schemars(range(min = *VCS.start(), max = *VCS.end()))]
    pub injection: u32,
    /// Ejection VCs of virtual-channel routers for packets that are not answered: a packet owns one from its head to its tail, so that
    /// as many leave for a node in turns; default: as many as injection VCs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *VCS.start(), max = *VCS.end()))]
    pub ejection: Option<u32>,
}

impl Default for Vcs {
    fn default() -> Self {
        Self {
            local: None,
            global: None,
            network: None,
            rail: None,
            rings: None,
            bubble: None,
            allow_deadlock: false,
            management: VcManagement::default(),
            discipline: None,
            reply: None,
            injection: 3,
            ejection: None,
        }
    }
}

/// Which VC a hop of minimal routing has in a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Discipline {
    /// A path keeps the VC of its layer from end to end.
    ///
    /// As many VCs as the graph needs, which may be few where paths follow an order, and many in a large random graph. In networks of at most
    /// 2,048 routers, but for those whose paths go up a tree and down again.
    ///
    /// Source: Domke, Hoefler and Nagel, IPDPS 2011.
    Layers,
    /// A hop has the VC whose number is that of the links passed before: as many VCs as the longest path between routers with nodes has links.
    ///
    /// VCs increase along every path: no deadlock. In graphs and their families. With request-reply there are as many again, for
    /// replies.
    ///
    /// Source: Günther, IEEE Trans. Commun. 29 (1981).
    ByHop,
}

/// What keeps the packets in a ring of a torus from waiting for each other in a circle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rings {
    /// A packet enters a ring only where it leaves room for others (bubble flow control).
    ///
    /// In whatever VC a ring is, it always has room for one packet more, so some packet of it can move: no deadlock. Packets move as a
    /// whole, so virtual-channel routers do not have this. `vcs.bubble` says for how many packets there must be room.
    ///
    /// Source: Puente et al., JPDC 61 (2001), adaptive bubble router.
    Bubble(Nothing),
    /// Packets that cross a dateline change from one half of the VCs to the other (minimal routing).
    Dateline(dateline::Config),
}

/// How hops share the VCs of a link class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VcManagement {
    /// One VC for each hop, in increasing order along the path.
    ///
    /// The k-th link of a class that the longest path takes has VC k; the routing says how many that makes. Buffers
    /// wait for each other in one direction only: no deadlock. With request-reply there are as many again, for replies.
    /// VCs beyond that stay unused.
    ///
    /// Source: Günther, IEEE Trans. Commun. 29 (1981); Fuentes' thesis (2017), §1.3.
    Increasing(Nothing),
    /// Any VC from which the rest of the path still fits in increasing order (FlexVC).
    Flexvc(flexvc::Config),
}

impl Default for VcManagement {
    fn default() -> Self {
        Self::Increasing(Nothing {})
    }
}

/// VCs that replies alone may use. They carry a reply to its destination when all others are full of requests: at
/// least 2 local and 1 global one, for minimal paths.
///
/// Source: Fuentes et al., IPDPS 2017; Fuentes' thesis (2017), §5.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReplyVcs {
    /// VCs of local links for replies alone.
    #[schemars(range(min = *VCS.start(), max = *VCS.end()))]
    pub local: u32,
    /// VCs of global links for replies alone.
    #[schemars(range(min = *VCS.start(), max = *VCS.end()))]
    pub global: u32,
}

impl Default for ReplyVcs {
    fn default() -> Self {
        Self { local: 2, global: 1 }
    }
}

/// Dynamically allocated multi-queues (DAMQ): `local` and `global` are then the sizes of the buffer of a whole port. Each
/// VC has a reserve of its own and shares the rest: a VC uses its reserve first and the rest for what is beyond it. So a busy
/// VC can hold what idle ones leave, up to the buffer minus the reserves of the others. Any VC management and routing
/// may be used, with the VCs they need.
///
/// With a reserve of a packet or more the order of VCs keeps the network free of deadlock, as with separate buffers.
/// Without one a VC can take all the space that others need to get out of each other's way, and the network can deadlock.
///
/// Source: Tamir and Frazier, IEEE Trans. Comput. 41 (1992); Fuentes' thesis (2017), §5.3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DamqConfig {
    /// Reserve of each VC of a local port \[packets, 1 … buffer / VCs / longest packet\].
    pub local_reserve: u32,
    /// Reserve of each VC of a global port \[packets, 1 … buffer / VCs / longest packet\].
    pub global_reserve: u32,
    /// Accept reserves of 0, with which the network can deadlock; the run then ends with a report of who waits for whom.
    #[serde(default)]
    pub allow_deadlock: bool,
}

/// Buffer sizes of a combined input-output-queued router \[phits\]; each must hold a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Buffers {
    /// Input buffer per VC of local links; default 32.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *BUFFERS.start(), max = *BUFFERS.end()))]
    pub local: Option<u32>,
    /// Input buffer per VC of global links; default 256.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *BUFFERS.start(), max = *BUFFERS.end()))]
    pub global: Option<u32>,
    /// Input buffer per VC of the links of topologies with one class of links, and of planes; default 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *BUFFERS.start(), max = *BUFFERS.end()))]
    pub network: Option<u32>,
    /// Input buffer per VC of the links between planes and the adapters of nodes; default 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *BUFFERS.start(), max = *BUFFERS.end()))]
    pub rail: Option<u32>,
    /// Injection buffer per VC.
    #[schemars(range(min = *BUFFERS.start(), max = *BUFFERS.end()))]
    pub injection: u32,
    /// Output queue per port, shared by its VCs; it holds 255 packets at most.
    #[schemars(range(min = *BUFFERS.start(), max = *BUFFERS.end()))]
    pub output: u32,
    /// The VCs of a port share its input buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damq: Option<DamqConfig>,
}

impl Default for Buffers {
    fn default() -> Self {
        Self { local: None, global: None, network: None, rail: None, injection: 256, output: 32, damq: None }
    }
}

/// Buffer sizes of a router without output queues \[phits, which are flits of a virtual-channel router\]. Each must hold a packet, but
/// those of links where packets move flit by flit by wormhole switching.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InputBuffers {
    /// Input buffer per VC of local links; default 32.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *BUFFERS.start(), max = *BUFFERS.end()))]
    pub local: Option<u32>,
    /// Input buffer per VC of global links; default 256.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *BUFFERS.start(), max = *BUFFERS.end()))]
    pub global: Option<u32>,
    /// Input buffer per VC of the links of topologies with one class of links, and of planes; default 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *BUFFERS.start(), max = *BUFFERS.end()))]
    pub network: Option<u32>,
    /// Input buffer per VC of the links between planes and the adapters of nodes; default 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *BUFFERS.start(), max = *BUFFERS.end()))]
    pub rail: Option<u32>,
    /// Injection buffer per VC, with room for the longest packet: nodes inject whole packets.
    #[schemars(range(min = *BUFFERS.start(), max = *BUFFERS.end()))]
    pub injection: u32,
    /// Buffer at a node per ejection VC for packets that are not answered, of virtual-channel routers: the node takes every flit when it
    /// comes, and its credit returns as fast as it came; default: there is always room.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *BUFFERS.start(), max = *BUFFERS.end()))]
    pub ejection: Option<u32>,
    /// Output queue per port, of virtual-channel routers: a flit is granted an output port only if fewer flits wait there; those that are
    /// crossing do not count. By default 32 if the router is faster than its links (`speedup`, `crossbar_outputs`), or several flits cross together
    /// (`semantics.stages = "batched"` with a traversal of several cycles, then at least two for each of these); else there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *OUTPUT_QUEUES.start(), max = *OUTPUT_QUEUES.end()))]
    pub output: Option<u32>,
    /// The VCs of a link port of a virtual-channel router share its input buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damq: Option<FlitDamq>,
}

/// Dynamically allocated multi-queues (DAMQ) of virtual-channel routers: `local`, `global` and `network` are then the sizes of the buffer of
/// a whole link port. Each VC has a reserve of its own and shares the rest, and uses its reserve first. By wormhole switching, whose packets
/// need no more than the next flit of room.
///
/// Source: Tamir and Frazier, IEEE Trans. Comput. 41 (1992); BookSim 2's `buffer_policy = shared`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlitDamq {
    /// Reserve of each VC \[flits, 1 … buffer / VCs\].
    #[schemars(range(min = 1))]
    pub reserve: u32,
}

impl Default for InputBuffers {
    fn default() -> Self {
        Self {
            local: None,
            global: None,
            network: None,
            rail: None,
            injection: 256,
            ejection: None,
            output: None,
            damq: None,
        }
    }
}
