//! Fabrics of lossless Ethernet, as written in the document.

use super::infiniband::congestion::{
    Acknowledgements, CongestionControlConfig, EcnConfig, MarkPoint, Marking, Notification, Packets,
};
use super::infiniband::{
    ChannelAdapter, FabricLinks, FabricSwitch, Forwarding, HostLink, Infiniband, LanesConfig, LinkException,
    SwitchArbitration, SwitchBuffers, SwitchLink, Switching, TRANSFERS,
};
use crate::config::limits::SERVICE_LEVELS;
use hopsim_infiniband::reaction::{ReactionConfig, dcqcn};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Lengths of the longest packet \[bytes\].
pub const MTUS: RangeInclusive<u32> = 64..=9216;

/// Numbers of VLs: the priorities that a pause frame knows.
pub const PRIORITIES: RangeInclusive<u32> = 1..=8;

/// Times of a pause \[quanta\].
pub const QUANTA: RangeInclusive<u16> = 1..=u16::MAX;

/// A fabric of lossless Ethernet, such as carries RDMA (`RoCE`): hosts and switches as in `router.infiniband`, in which no packet is
/// ever dropped, as ports pause each other. What a VL is there is a priority here.
///
/// Every rule of `router.infiniband` holds, but for the flow control of the links; messages, flows and what is measured are the same.
/// Rates are what a link carries, such as `"100 Gb/s"`; times are a number and ps, ns, us, ms or s; sizes a number and B, kB or KiB.
///
/// Source: IEEE 802.1Qbb (in IEEE 802.1Q-2022, clause 36). The exact rules are in `docs/infiniband.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ethernet {
    /// Length of the longest packet with all of its headers (maximum transfer unit) \[bytes, 64 … 9216\].
    #[schemars(range(min = *MTUS.start(), max = *MTUS.end()))]
    pub mtu: u32,
    /// Rates and delays of the links.
    pub links: EthernetLinks,
    /// What keeps the buffers behind the links from overflowing.
    pub flow_control: LinkFlowControl,
    /// Hosts with their network interface cards.
    pub host: EthernetHost,
    /// Switches.
    pub switch: EthernetSwitch,
    /// How the forwarding tables of the switches are made.
    pub forwarding: Forwarding,
    /// Virtual lanes: the priorities, at most 8.
    pub lanes: LanesConfig,
    /// Congestion control; default: none. `{}` is DCQCN as it was published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<EthernetControl>,
}

impl Default for Ethernet {
    fn default() -> Self {
        Self {
            mtu: 1024,
            links: EthernetLinks::default(),
            flow_control: LinkFlowControl::default(),
            host: EthernetHost::default(),
            switch: EthernetSwitch::default(),
            forwarding: Forwarding::Minimal,
            lanes: LanesConfig::default(),
            congestion_control: None,
        }
    }
}

/// What keeps the buffer at the other end of a link from overflowing, in each VL by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkFlowControl {
    /// Priority flow control: a port whose buffer fills up tells the other end to pause, priority by priority.
    ///
    /// Source: IEEE 802.1Qbb (in IEEE 802.1Q-2022, clause 36).
    Pfc(PfcConfig),
    /// Credit-based flow control: a port sends what it knows the other end to have room for, as in `router.infiniband`. That is
    /// credits of 64 B for each VL, which is what the link layer of Ultra Ethernet has under that name as far as we know it.
    ///
    /// Source: Ultra Ethernet Specification 1.0, link layer (CBFC).
    Cbfc(CbfcConfig),
}

impl Default for LinkFlowControl {
    fn default() -> Self {
        Self::Pfc(PfcConfig::default())
    }
}

/// Priority flow control.
///
/// A pause frame of 64 B waits for the packet on its link and goes before the next one. Sources: IEEE 802.1Qbb; what a buffer needs
/// besides: Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section 4.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PfcConfig {
    /// What is in the buffer of a VL when its sender is paused (XOFF): a size, or `"latest"`, for each port the most with which
    /// nothing can be lost. More than that is refused.
    #[schemars(example = "16 KiB")]
    pub pause: String,
    /// How much less is in the buffer when the sender may go on (XON); at most down to nothing.
    #[schemars(example = "2 KiB")]
    pub distance: String,
    /// How long a pause lasts that is not told again, in quanta of 512 bit times. It is told again after half of that.
    #[schemars(range(min = *QUANTA.start(), max = *QUANTA.end()))]
    pub quanta: u16,
}

impl Default for PfcConfig {
    fn default() -> Self {
        Self { pause: LATEST.into(), distance: "3 KiB".into(), quanta: u16::MAX }
    }
}

/// The value of `pause` that stands for the most with which nothing can be lost.
pub const LATEST: &str = "latest";

/// Credit-based flow control.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CbfcConfig {
    /// Time that a credit takes besides the delay of the link.
    #[schemars(example = "50 ns")]
    pub delay: String,
}

impl Default for CbfcConfig {
    fn default() -> Self {
        Self { delay: "50 ns".into() }
    }
}

/// Links of a fabric of Ethernet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EthernetLinks {
    /// Links between a host and its switch.
    pub host: EthernetLink,
    /// Links between switches.
    pub switch: EthernetLink,
    /// Links that differ from the others of their kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<LinkException>,
}

/// Links of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EthernetLink {
    /// What the link carries.
    #[schemars(example = "100 Gb/s")]
    pub rate: String,
    /// Time from the first bit leaving to the first bit arriving, more than 0.
    #[schemars(example = "500 ns")]
    pub delay: String,
}

impl Default for EthernetLink {
    fn default() -> Self {
        // A hundred metres of fibre.
        Self { rate: "100 Gb/s".into(), delay: "500 ns".into() }
    }
}

/// A host with its network interface card. Source of the default rates: what 16 lanes of PCI Express 4 carry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EthernetHost {
    /// What the bus carries from the memory of the host to the card.
    #[schemars(example = "252 Gb/s")]
    pub injection: String,
    /// What the bus carries from the receive buffer to the memory of the host.
    #[schemars(example = "252 Gb/s")]
    pub drain: String,
    /// Receive buffer of each VL, a multiple of 64 B and at least a packet.
    #[schemars(example = "128 KiB")]
    pub receive_buffer: String,
    /// Time within which flows begin at random after their start: without it periodic senders fall into step.
    #[schemars(example = "1 us")]
    pub start_jitter: String,
    /// The cycle of programs on the nodes: they do something only at multiples of it, and their times are counted in it.
    #[schemars(example = "1 ns")]
    pub cycle: String,
}

impl Default for EthernetHost {
    fn default() -> Self {
        Self {
            injection: "252 Gb/s".into(),
            drain: "252 Gb/s".into(),
            receive_buffer: "128 KiB".into(),
            start_jitter: "1 us".into(),
            cycle: "1 ns".into(),
        }
    }
}

/// A switch of a fabric of Ethernet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EthernetSwitch {
    /// Input buffers of each VL.
    pub buffers: EthernetBuffers,
    /// Output buffer of each port, shared by the VLs, a multiple of 64 B and at least a packet.
    #[schemars(example = "4 KiB")]
    pub output_buffer: String,
    /// What a transfer through the crossbar carries.
    #[schemars(example = "200 Gb/s")]
    pub crossbar: String,
    /// Time from the arrival of a head to its first possible grant.
    #[schemars(example = "200 ns")]
    pub input_latency: String,
    /// Time from a grant to the head being able to go onto the link.
    #[schemars(example = "200 ns")]
    pub output_latency: String,
    /// Most packets that leave an input at once, for different outputs.
    #[schemars(range(min = *TRANSFERS.start(), max = *TRANSFERS.end()))]
    pub transfers_per_input: u32,
    /// Which of the inputs that have a packet for an output and VL is granted.
    pub arbitration: SwitchArbitration,
    /// When packets go on from an output buffer.
    pub switching: Switching,
}

impl Default for EthernetSwitch {
    fn default() -> Self {
        Self {
            buffers: EthernetBuffers::default(),
            output_buffer: "10 KiB".into(),
            crossbar: "200 Gb/s".into(),
            input_latency: "200 ns".into(),
            output_latency: "200 ns".into(),
            transfers_per_input: 3,
            arbitration: SwitchArbitration::RoundRobin,
            switching: Switching::CutThrough,
        }
    }
}

/// Input buffers of a switch, by what the port is linked to: of each VL, multiples of 64 B and at least a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EthernetBuffers {
    /// Buffers of ports to hosts.
    #[schemars(example = "128 KiB")]
    pub host: String,
    /// Buffers of ports to switches.
    #[schemars(example = "128 KiB")]
    pub switch: String,
}

impl Default for EthernetBuffers {
    fn default() -> Self {
        Self { host: "128 KiB".into(), switch: "128 KiB".into() }
    }
}

/// Congestion control of a fabric of Ethernet: switches mark packets, destinations notify the sources of marks, and these send more slowly.
///
/// With nothing but defaults it is DCQCN as it was published: Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM
/// 2015, section 3. The exact rules are in `docs/infiniband.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "EthernetCongestionControl")]
pub struct EthernetControl {
    /// Which packets are marked.
    pub marking: EthernetMarking,
    /// When it is decided whether a packet is marked.
    pub mark_point: MarkPoint,
    /// How the destination of marked packets notifies their source.
    pub notification: EthernetNotification,
    /// What a source does about notifications: every one but `table`, which belongs to the marks of InfiniBand.
    pub reaction: ReactionConfig,
}

impl Default for EthernetControl {
    fn default() -> Self {
        Self {
            marking: EthernetMarking::Ecn(EcnConfig::default()),
            mark_point: MarkPoint::Wire,
            notification: EthernetNotification::Packets(CnpConfig::default()),
            reaction: ReactionConfig::Dcqcn(dcqcn::Config::default()),
        }
    }
}

impl EthernetControl {
    /// Congestion control in the words of InfiniBand.
    fn control(self) -> CongestionControlConfig {
        let EthernetMarking::Ecn(ecn) = self.marking;
        CongestionControlConfig {
            marking: Marking::Ecn(ecn),
            mark_point: self.mark_point,
            notification: match self.notification {
                EthernetNotification::Packets(CnpConfig { interval, service_level }) => {
                    Notification::Packets(Packets { interval, service_level })
                }
                EthernetNotification::Acknowledgements(how) => Notification::Acknowledgements(how),
            },
            reaction: self.reaction,
            ..CongestionControlConfig::default()
        }
    }
}

/// Which packets switches mark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EthernetMarking {
    /// By the bytes that wait for the output.
    Ecn(EcnConfig),
}

/// How the destination of marked packets notifies their source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EthernetNotification {
    /// By congestion notification packets (CNP) of 64 bytes.
    Packets(CnpConfig),
    /// In the acknowledgements of reliable connections.
    Acknowledgements(Acknowledgements),
}

/// The destination of marked packets sends the source congestion notification packets.
///
/// Source: Zhu et al., SIGCOMM 2015 (DCQCN), section 3.1, "NP algorithm".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "CongestionNotificationPackets")]
pub struct CnpConfig {
    /// Least time from one notification packet for a flow to the next: marks that come sooner are not answered. With 0 every mark is
    /// answered.
    #[schemars(example = "50 us")]
    pub interval: String,
    /// Service level of these packets, which says their VL, such as one that is never paused because nothing else goes there. Default:
    /// they go in the VL of the packets that they are about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *SERVICE_LEVELS.start(), max = *SERVICE_LEVELS.end()))]
    pub service_level: Option<u8>,
}

impl Default for CnpConfig {
    fn default() -> Self {
        Self { interval: "50 us".into(), service_level: None }
    }
}

impl Ethernet {
    /// The fabric in the words of InfiniBand, but for the flow control if it is not by credits.
    pub fn fabric(&self) -> Infiniband {
        let Self { mtu, links, flow_control, host, switch, forwarding, lanes, congestion_control } =
            self.clone();
        let EthernetLinks { host: to_host, switch: to_switch, exceptions } = links;
        let credit_delay = match flow_control {
            LinkFlowControl::Pfc(_) => "0 s".into(),
            LinkFlowControl::Cbfc(CbfcConfig { delay }) => delay,
        };
        Infiniband {
            mtu,
            links: FabricLinks {
                host: HostLink { rate: to_host.rate, delay: to_host.delay },
                switch: SwitchLink { rate: to_switch.rate, delay: to_switch.delay },
                credit_delay,
                exceptions,
            },
            host: ChannelAdapter {
                injection: host.injection,
                drain: host.drain,
                receive_buffer: host.receive_buffer,
                start_jitter: host.start_jitter,
                cycle: host.cycle,
            },
            switch: FabricSwitch {
                buffers: SwitchBuffers { host: switch.buffers.host, switch: switch.buffers.switch },
                output_buffer: switch.output_buffer,
                crossbar: switch.crossbar,
                input_latency: switch.input_latency,
                output_latency: switch.output_latency,
                transfers_per_input: switch.transfers_per_input,
                arbitration: switch.arbitration,
                switching: switch.switching,
            },
            forwarding,
            lanes,
            congestion_control: congestion_control.map(EthernetControl::control),
        }
    }
}
