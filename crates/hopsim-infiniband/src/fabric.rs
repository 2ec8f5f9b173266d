//! What a fabric is made of, as arrays.

use crate::congestion::CongestionControl;
use crate::faults::Faults;
use crate::forwarding::Tables;
use crate::lanes::Lanes;
use crate::paths::Paths;
use crate::pfc::Pfc;
use crate::time::Ticks;
use std::sync::Arc;

/// Bytes of a block, the unit of credits.
pub const BLOCK: u32 = 64;

/// Bytes of a congestion notification packet.
pub const NOTIFICATION: u32 = 64;

/// No port.
pub const NONE: u32 = u32::MAX;

/// Blocks that a packet of some bytes takes.
#[inline]
pub fn blocks(bytes: u32) -> u32 {
    bytes.div_ceil(BLOCK)
}

/// A port of a host or a switch, and the link that leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// The port at the other end of the link, [`NONE`] if nothing is plugged in.
    pub peer: u32,
    /// What a byte takes on the link \[ticks\].
    pub byte: Ticks,
    /// The time from the first bit leaving to the first bit arriving, more than 0 \[ticks\].
    pub delay: Ticks,
    /// Buffer of this port for what arrives in a VL \[blocks\].
    pub buffer: u32,
}

/// What all hosts have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostRules {
    /// What a byte takes on the bus to the channel adapter \[ticks\].
    pub injection: Ticks,
    /// What a byte takes from the receive buffer to the memory of the host \[ticks\].
    pub drain: Ticks,
    /// Flows begin within so long after their start \[ticks\].
    pub start_jitter: Ticks,
}

/// Which of the inputs of a VL that have a packet for an output is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbitration {
    /// The first input behind the one that was granted last.
    RoundRobin,
    /// The input whose packet has been in the switch longest.
    FirstCome,
}

/// When a packet goes on from an output buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switching {
    /// As soon as the link is sure not to run dry of the packet.
    CutThrough,
    /// When all of the packet is in the output buffer.
    StoreAndForward,
}

/// What all switches have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchRules {
    /// The time from the arrival of a head to its first possible grant \[ticks\].
    pub input_latency: Ticks,
    /// The time from a grant to the head being able to go onto the link \[ticks\].
    pub output_latency: Ticks,
    /// What a byte takes through the crossbar \[ticks\].
    pub crossbar: Ticks,
    /// Buffer at each output, shared by the VLs \[blocks\].
    pub output_buffer: u32,
    /// Most transfers at once out of an input.
    pub transfers_per_input: u32,
    /// Which input is granted.
    pub arbitration: Arbitration,
    /// When packets go on from the output buffer.
    pub switching: Switching,
}

/// What keeps a port from sending more than the buffer at the other end of its link has room for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlowControl {
    /// Credits for the blocks of the buffer.
    Credits {
        /// The time after the delay of the link at which a credit arrives \[ticks\].
        delay: Ticks,
    },
    /// Pauses, which the other end tells of.
    Pfc(Pfc),
}

/// A fabric.
///
/// Ports are numbered through: port h < `hosts` is that of host h, then follow those of switch 0, 1, …
#[derive(Clone, Debug)]
pub struct Fabric {
    /// Ticks of a nanosecond.
    pub ticks_per_ns: u64,
    /// Bytes of the longest packet.
    pub mtu: u32,
    /// Number of hosts.
    pub hosts: u32,
    /// The first port of every switch, and behind them the number of ports.
    pub first_port: Vec<u32>,
    /// All ports.
    pub ports: Vec<Port>,
    /// The output of every switch for every destination; fabrics that differ in nothing else share them.
    pub forwarding: Arc<Tables>,
    /// Which of several shortest ways flows take, if it is not the tables that say it.
    pub paths: Option<Paths>,
    /// What all hosts have in common.
    pub host: HostRules,
    /// What all switches have in common.
    pub switch: SwitchRules,
    /// What keeps buffers from running over.
    pub flow_control: FlowControl,
    /// Virtual lanes.
    pub lanes: Lanes,
    /// Congestion control, if it is on.
    pub congestion: Option<CongestionControl>,
    /// What changes in the middle of a run.
    pub faults: Faults,
}

impl Fabric {
    /// Whether a port is that of a host.
    pub fn is_host(&self, port: u32) -> bool {
        port < self.hosts
    }

    /// The switch that has a port, if no host does.
    pub fn switch_of(&self, port: u32) -> Option<u32> {
        let switches = self.first_port.partition_point(|&first| first <= port);
        (switches as u32).checked_sub(1)
    }

    /// The port by which a packet of a flow for a destination leaves a switch.
    #[inline]
    pub fn output(&self, switch: u32, destination: u32, flow: u32) -> u32 {
        if let Some(port) = self.paths.as_ref().and_then(|paths| paths.port(switch, destination, flow)) {
            return port;
        }
        let entry = switch as usize * self.hosts as usize + destination as usize;
        self.first_port[switch as usize] + self.forwarding.output(entry)
    }
}
