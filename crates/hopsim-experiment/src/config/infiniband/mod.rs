//! InfiniBand fabrics, as written in the document.

pub mod congestion;
pub mod flows;
pub mod messages;
pub mod port_exceptions;
pub mod sizes;

use congestion::CongestionControlConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Packets that may leave an input of a switch at once.
pub const TRANSFERS: RangeInclusive<u32> = 1..=255;

/// Numbers of VLs.
pub const LANES: RangeInclusive<u32> = 1..=15;

/// The channel adapters of hosts and the switches of an InfiniBand fabric: a packet waits in the virtual output queue of its input,
/// output and virtual lane (VL), and moves on as a whole when the output buffer and the next input buffer have room for it
/// (virtual cut-through). Time is exact, and what happens is simulated packet by packet.
///
/// A router is a switch and a node a host, whatever the topology. A packet takes the way that the forwarding tables say, which hold
/// an output for each destination; `forwarding` says how they are made. Mostly a packet takes the shortest path that
/// `routing.minimal` would take; where several are equally short its destination says which one. In a fat tree the port up from level
/// l is digit l of the destination in base k (D-mod-k), so that every link down carries packets for one destination of those below it.
///
/// Rates are a width (1x, 4x, 8x, 12x) and a speed, or what a link carries: `"4x DDR"`, `"13 Gb/s"`. A lane carries, in Gb/s of data:
/// SDR 2, DDR 4, QDR 8 (8 of 10 bits of 2.5, 5 and 10); FDR 150/11, EDR 25 (64 of 66 bits of 14.0625 and 25.78125); HDR 50, NDR 100, XDR 200.
/// Times are a number and ps, ns, us, ms or s; sizes a number and B, kB or KiB.
///
/// Such a network carries `jobs.flows` and `jobs.messages`, for as long as `measure.time` says.
///
/// Source: InfiniBand Architecture Specification 1.2.1; Gran et al., *On the Relation Between Congestion Control, Switch
/// Arbitration and Fairness*, 2011. The exact rules are in `docs/infiniband.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Infiniband {
    /// Length of the longest packet (maximum transfer unit): 256, 512, 1024, 2048 or 4096 \[bytes, 256 … 4096\].
    #[schemars(range(min = 256, max = 4096))]
    pub mtu: u32,
    /// Rates and delays of the links.
    pub links: FabricLinks,
    /// Channel adapters.
    pub host: ChannelAdapter,
    /// Switches.
    pub switch: FabricSwitch,
    /// How the forwarding tables of the switches are made.
    pub forwarding: Forwarding,
    /// Virtual lanes.
    pub lanes: LanesConfig,
    /// Congestion control; default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<CongestionControlConfig>,
}

impl Default for Infiniband {
    fn default() -> Self {
        Self {
            mtu: 2048,
            links: FabricLinks::default(),
            host: ChannelAdapter::default(),
            switch: FabricSwitch::default(),
            forwarding: Forwarding::Minimal,
            lanes: LanesConfig::default(),
            congestion_control: None,
        }
    }
}

/// How the forwarding tables are made. A table has one output for each destination, wherever packets come from, but with `ecmp`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Forwarding {
    /// By the topology's minimal routing. Where there are several ways (up a fat tree, parallel links of a dragonfly, both ways half
    /// round a ring), the number of the destination says which: D-mod-k in a k-ary n-tree. In a graph all nodes of a
    /// router are on one way.
    Minimal,
    /// By shortest paths in number of links. Nodes are gone through by number; every switch takes, of its ports that are on such a
    /// path, the one that it has taken for the fewest nodes before, of several the first. Source: the algorithm minhop of `OpenSM`.
    MinHop,
    /// By ways that lead up first and then down only, chosen as in `min_hop`, so that no packets can wait for each other in a
    /// circle. Up is towards the root, which is the switch whose farthest one is nearest, of several the first; of two equally
    /// far switches that of the lower number is above. A switch from which a way leads down only takes such a way, however long.
    /// Source: Schroeder et al., IEEE JSAC 9 (1991); the algorithm updn of `OpenSM`.
    UpDown,
    /// By all shortest paths in number of links: of the ports of a switch that are on one a hash of the flow says which it takes, in every
    /// switch anew (equal-cost multi-path). Packets of a flow, which in `jobs.flows` is an entry of its own, keep to one path and
    /// stay in order; so do those that a node sends to another one with a service level, and what answers them. Another seed hashes
    /// otherwise. Refused where links are out of order. Source: RFC 2991 (2000).
    Ecmp,
    /// Tables of a real fabric, in a file relative to the directory of the experiment: what `ibroute` prints of every switch, one
    /// after the other, or `dump_lfts`. `topology.graph.file`, as `ibnetdiscover` prints it, says which ports and LIDs the tables
    /// mean. A node is reached by its first LID, whatever its LMC.
    File(String),
    /// Tables written here: of every switch, for every node, the output, counted through the nodes of the switch and then through
    /// its links in the order of the topology, from 0.
    Tables(Vec<Vec<u16>>),
}

/// Links of a fabric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FabricLinks {
    /// Links between a host and its switch.
    pub host: HostLink,
    /// Links between switches.
    pub switch: SwitchLink,
    /// Time that a credit takes besides the delay of the link.
    #[schemars(example = "50 ns")]
    pub credit_delay: String,
    /// Links that differ from the others of their kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<LinkException>,
}

/// A link that differs from the others of its kind, in both directions: that of a node, or those between two switches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkException {
    /// The node whose link differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = 5)]
    pub node: Option<u32>,
    /// The two switches whose links differ, instead of `node`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<[u32; 2]>,
    /// Width and speed, or what the link carries; default the rate of its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "1x QDR")]
    pub rate: Option<String>,
    /// Time from the first bit leaving to the first bit arriving, more than 0; default the delay of its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "500 ns")]
    pub delay: Option<String>,
}

impl Default for FabricLinks {
    fn default() -> Self {
        Self {
            host: HostLink::default(),
            switch: SwitchLink::default(),
            credit_delay: "50 ns".into(),
            exceptions: Vec::new(),
        }
    }
}

/// Links between hosts and switches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostLink {
    /// Width and speed, or what the link carries.
    #[schemars(example = "4x DDR")]
    pub rate: String,
    /// Time from the first bit leaving to the first bit arriving, more than 0.
    #[schemars(example = "50 ns")]
    pub delay: String,
}

impl Default for HostLink {
    fn default() -> Self {
        Self { rate: "4x DDR".into(), delay: "50 ns".into() }
    }
}

/// Links between switches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SwitchLink {
    /// Width and speed, or what the link carries.
    #[schemars(example = "4x QDR")]
    pub rate: String,
    /// Time from the first bit leaving to the first bit arriving, more than 0.
    #[schemars(example = "50 ns")]
    pub delay: String,
}

impl Default for SwitchLink {
    fn default() -> Self {
        Self { rate: "4x QDR".into(), delay: "50 ns".into() }
    }
}

/// The channel adapter of a host. Source of the default rates: what 8 lanes of PCI Express 1 carry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ChannelAdapter {
    /// What the bus carries from the memory of the host to the channel adapter.
    #[schemars(example = "13 Gb/s")]
    pub injection: String,
    /// What the bus carries from the receive buffer to the memory of the host.
    #[schemars(example = "13 Gb/s")]
    pub drain: String,
    /// Receive buffer of each VL, a multiple of 64 B and at least a packet.
    #[schemars(example = "16 KiB")]
    pub receive_buffer: String,
    /// Time within which flows begin at random after their start: without it periodic senders fall into step.
    #[schemars(example = "1 us")]
    pub start_jitter: String,
    /// The cycle of programs on the nodes: they do something only at multiples of it, and their times are counted in it.
    #[schemars(example = "1 ns")]
    pub cycle: String,
}

impl Default for ChannelAdapter {
    fn default() -> Self {
        Self {
            injection: "13 Gb/s".into(),
            drain: "13 Gb/s".into(),
            receive_buffer: "16 KiB".into(),
            start_jitter: "1 us".into(),
            cycle: "1 ns".into(),
        }
    }
}

/// A switch of a fabric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FabricSwitch {
    /// Input buffers of each VL.
    pub buffers: SwitchBuffers,
    /// Output buffer of each port, shared by the VLs, a multiple of 64 B and at least a packet.
    #[schemars(example = "4992 B")]
    pub output_buffer: String,
    /// What a transfer through the crossbar carries.
    #[schemars(example = "48 Gb/s")]
    pub crossbar: String,
    /// Time from the arrival of a head to its first possible grant.
    #[schemars(example = "50 ns")]
    pub input_latency: String,
    /// Time from a grant to the head being able to go onto the link.
    #[schemars(example = "50 ns")]
    pub output_latency: String,
    /// Most packets that leave an input at once, for different outputs.
    #[schemars(range(min = *TRANSFERS.start(), max = *TRANSFERS.end()))]
    pub transfers_per_input: u32,
    /// Which of the inputs that have a packet for an output and VL is granted.
    pub arbitration: SwitchArbitration,
    /// When packets go on from an output buffer.
    pub switching: Switching,
}

impl Default for FabricSwitch {
    fn default() -> Self {
        Self {
            buffers: SwitchBuffers::default(),
            output_buffer: "4992 B".into(),
            crossbar: "48 Gb/s".into(),
            input_latency: "50 ns".into(),
            output_latency: "50 ns".into(),
            transfers_per_input: 3,
            arbitration: SwitchArbitration::RoundRobin,
            switching: Switching::CutThrough,
        }
    }
}

/// Input buffers of a switch, by what the port is linked to: of each VL, multiples of 64 B and at least a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SwitchBuffers {
    /// Buffers of ports to hosts.
    #[schemars(example = "64 KiB")]
    pub host: String,
    /// Buffers of ports to switches.
    #[schemars(example = "128 KiB")]
    pub switch: String,
}

impl Default for SwitchBuffers {
    fn default() -> Self {
        Self { host: "64 KiB".into(), switch: "128 KiB".into() }
    }
}

/// Which input of a switch is granted an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SwitchArbitration {
    /// The first input behind the one that was granted last in this VL.
    RoundRobin,
    /// The input whose packet arrived first, of several the lowest.
    FirstCome,
}

/// When a packet goes on from an output buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Switching {
    /// As soon as the link is sure not to run dry.
    CutThrough,
    /// When all of the packet is in the output buffer.
    StoreAndForward,
}

/// Virtual lanes of a fabric. Between several VLs the tables `high` and `low` decide: an entry's turn lasts until its weight is
/// used up, and `low` has a turn when `high` has nothing to send or has sent what `high_limit` allows.
///
/// Source: InfiniBand Architecture Specification 1.2.1, §7.6.9.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LanesConfig {
    /// Number of VLs.
    #[schemars(range(min = *LANES.start(), max = *LANES.end()))]
    pub count: u8,
    /// The VL of each of the 16 service levels; default: service level modulo count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub of_service_level: Vec<u8>,
    /// Entries [VL, weight] of high priority, weights in units of 64 bytes \[1 … 255\].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub high: Vec<[u8; 2]>,
    /// Entries [VL, weight] of low priority; default, where `high` has none either: every VL with weight 64.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub low: Vec<[u8; 2]>,
    /// What `high` may send before a packet of `low` has its turn \[4096 bytes\]; 255: as much as it has.
    pub high_limit: u8,
    /// Accept forwarding tables with which packets can wait for each other in a circle; the run then ends with a report of who
    /// waits for whom.
    pub allow_deadlock: bool,
}

impl Default for LanesConfig {
    fn default() -> Self {
        Self {
            count: 1,
            of_service_level: Vec::new(),
            high: Vec::new(),
            low: Vec::new(),
            high_limit: 255,
            allow_deadlock: false,
        }
    }
}

/// When flows and nodes begin that say nothing else.
fn at_once() -> String {
    "0 s".into()
}
