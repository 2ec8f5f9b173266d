//! The system that is simulated: a network with its routers, network interfaces and jobs, as plain arrays and numbers. Nothing in
//! it is optional, and nothing can fail any more.

use crate::choices::{
    Allocator, Consumption, Ejection, FlitAllocator, FlitArbiter, InjectionCount, InjectionLatency,
    InjectionLink, InjectionVc, InputPointer, OutputHold, PortOrder, SelfTraffic, Speculation, StageFlow,
    SwitchInput, VcReuse, WhenFull,
};
use crate::injection::InjectionControl;
use crate::jobs::{JobPlan, TrafficPlan};
use crate::speedup::Speedup;
use hopsim_network::by_class::ByClass;
use hopsim_network::network::Network;
use hopsim_network::topology::faults::Retransmit;
use hopsim_network::topology::{PortClass, Topology};
use hopsim_programs::job::Programs;
use hopsim_routing::Routing;
use std::sync::Arc;

/// Most cycles a run may last: times are 32-bit and events lie ahead of the present.
pub const MAX_CYCLES: u32 = 3_000_000_000;

/// Most packets in an output queue. Packets of one length that need more are refused; where several lengths meet a queue with so
/// many has no room.
pub const MOST_QUEUED: u32 = 255;

/// A network with routers, network interfaces and jobs, ready to run.
///
/// Whoever makes one by hand answers for what a document is checked for: a router has at most 512 input VCs and as many output VCs,
/// every buffer has room for the longest packet, an output queue holds at most [`MOST_QUEUED`] packets of one length, links take 1 to
/// 60,000 cycles, and a run ends before [`MAX_CYCLES`]. The simulation looks at none of it.
#[derive(Clone, Debug)]
pub struct System {
    /// The topology.
    pub topology: Arc<Topology>,
    /// The network flattened.
    pub network: Arc<Network>,
    /// The routing mechanism.
    pub routing: Routing,
    /// The routers.
    pub router: RouterPlan,
    /// The network interfaces.
    pub nic: NicPlan,
    /// The jobs.
    pub jobs: Vec<JobPlan>,
    /// Priority class of every job, the higher going first where arbiters look at it.
    pub priorities: Vec<u8>,
    /// Job of every node, `u8::MAX` if idle.
    pub job_of: Vec<u8>,
    /// What keeps nodes from injecting.
    pub control: InjectionControl,
    /// Seed of all that is drawn.
    pub seed: u64,
}

impl System {
    /// The routers, where only such come that whole packets move through.
    pub fn cioq(&self) -> &CioqPlan {
        let RouterPlan::Cioq(plan) = &self.router else {
            unreachable!("the kind of the routers picks the code")
        };
        plan
    }

    /// The job of a node, `None` if it is idle or not there: routers without nodes have terminal ports, too.
    pub fn job_at(&self, node: usize) -> Option<&JobPlan> {
        self.jobs.get(usize::from(*self.job_of.get(node)?))
    }

    /// What the nodes of a job draw that runs no program.
    #[inline]
    pub fn traffic(&self, job: usize) -> &TrafficPlan {
        let JobPlan::Traffic(traffic) = &self.jobs[job] else {
            unreachable!("nodes with a program draw nothing")
        };
        traffic
    }

    /// Whether some job runs a program.
    pub fn has_programs(&self) -> bool {
        self.jobs.iter().any(|job| job.program().is_some())
    }

    /// The programs of the jobs.
    pub fn programs(&self) -> Programs<'_> {
        let all = self.jobs.iter().enumerate().filter_map(|(number, job)| Some((number, job.program()?)));
        Programs { jobs: self.jobs.iter().map(JobPlan::name).collect(), all: all.collect() }
    }

    /// Latency of the links by which the routers of a group are joined, `None` in a network without groups \[cycles\].
    pub fn latency_in_groups(&self) -> Option<u32> {
        let classes = self.topology.group_classes()?;
        Some(self.network.classes.of(PortClass::Link(classes.inside)).latency)
    }

    /// The longest packet of any job \[phits\].
    pub fn longest_packet(&self) -> u32 {
        self.jobs.iter().map(JobPlan::longest_packet).max().unwrap_or(1)
    }

    /// The shortest packet of any job \[phits\].
    pub fn shortest_packet(&self) -> u32 {
        self.jobs.iter().map(JobPlan::shortest_packet).min().unwrap_or(1)
    }

    /// For how long a credit waits, at most, until those of flits before it have gone back by the same link \[cycles\].
    pub fn credit_backlog(&self) -> u32 {
        let classes = &self.network.classes;
        let buffers = classes.links.iter().chain([&classes.terminal]);
        let largest = buffers.map(|class| u32::from(class.vcs) * class.buffer).max();
        match &self.router {
            RouterPlan::VirtualChannel(plan) if plan.output_queue.is_some() => largest.unwrap_or(0),
            _ => 0,
        }
    }
}

/// The routers of a system, which are all of one kind.
#[derive(Clone, Debug)]
pub enum RouterPlan {
    /// Routers through which whole packets move.
    Cioq(CioqPlan),
    /// Routers through which flits move, one by one.
    VirtualChannel(VirtualChannelPlan),
}

impl RouterPlan {
    /// An input-queued router without delays of its own, whose allocator is that of documents by default, for packets of at most
    /// so many phits.
    pub fn input_queued(longest: u32) -> Self {
        Self::Cioq(CioqPlan::input_queued(longest))
    }

    /// The plan of routers through which whole packets move, `None` of others.
    pub fn cioq(&self) -> Option<&CioqPlan> {
        match self {
            Self::Cioq(plan) => Some(plan),
            Self::VirtualChannel(_) => None,
        }
    }

    /// Cycles from the arrival of a head until it stands in its input VC, before anything that depends on other packets.
    pub fn pipeline_latency(&self) -> u32 {
        self.cioq().map_or(0, |plan| plan.pipeline_latency)
    }

    /// Cycles that a packet of `length` phits occupies the crossbar once it has arrived; 0 where flits cross by themselves.
    #[inline]
    pub fn crossing(&self, length: u32) -> u32 {
        self.cioq().map_or(0, |plan| plan.crossing[length as usize])
    }

    /// Cycles that a credit takes in the router that it comes to, beside the latency of the link.
    pub fn credit_delay(&self) -> u32 {
        match self {
            Self::Cioq(_) => 0,
            Self::VirtualChannel(plan) => plan.credit_delay,
        }
    }

    /// Cycles that a head which meets no other packet is in a router.
    pub fn residence(&self) -> u32 {
        match self {
            Self::Cioq(plan) => plan.pipeline_latency + plan.crossbar_latency,
            Self::VirtualChannel(plan) => plan.residence(),
        }
    }

    /// Whether the buffer that a packet is granted has room for all of it.
    pub fn keeps_whole_packets(&self) -> bool {
        match self {
            Self::Cioq(_) => true,
            Self::VirtualChannel(plan) => plan.whole_packets,
        }
    }

    /// Output queue per port \[phits\]; `None`: no output queue.
    pub fn output_buffer(&self) -> Option<u32> {
        self.cioq().and_then(|plan| plan.output_buffer)
    }

    /// Phits of a shared buffer that a VC must have for itself, where packets have so many phits at most, so that it waits for no other VC's.
    pub fn full_reserve(&self, longest: u32) -> u32 {
        if self.keeps_whole_packets() { longest } else { 1 }
    }

    /// How the VCs of a port share its buffer, by link class; `None` if they share nothing.
    pub fn damq(&self) -> Option<ByClass<Shares>> {
        match self {
            Self::Cioq(plan) => plan.damq,
            Self::VirtualChannel(plan) => plan.damq,
        }
    }
}

/// A virtual-channel router without options: flits wait at inputs; a packet owns an output VC from its head to its tail, and its
/// flits cross whenever the switch lets them (Dally & Towles, chapter 16). A flit is a phit.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one of the document's choices, resolved")]
pub struct VirtualChannelPlan {
    /// Cycles from the arrival of a head to its first request for an output VC: route computation.
    pub routing_delay: u32,
    /// Cycles from the grant of an output VC to the first request for the switch, at least 1.
    pub vc_allocation_delay: u32,
    /// Cycles from the grant of the switch until the flit is on the link.
    pub switch_traversal_delay: u32,
    /// Whether a head is granted an output VC only if the buffer behind it has room for the whole packet (virtual cut-through);
    /// otherwise room for a flit is enough to set out (wormhole).
    pub whole_packets: bool,
    /// When an output VC that a packet has given back can be granted again.
    pub vc_reuse: VcReuse,
    /// Whether a head is granted an output VC only if that has a credit.
    pub vc_needs_credit: bool,
    /// Whether inputs of the VC allocator pick an output VC behind which nothing is, if they ask for any.
    pub empty_vcs_first: bool,
    /// Cycles that a credit takes in the router that it comes to, beside the latency of the link.
    pub credit_delay: u32,
    /// How output VCs are allocated.
    pub vc_allocator: FlitAllocator,
    /// How the switch is allocated.
    pub switch_allocator: FlitAllocator,
    /// What the arbiter of an input port picks where the allocation of the switch begins at the inputs.
    pub switch_input: SwitchInput,
    /// Who goes before others at both allocators.
    pub arbiter: FlitArbiter,
    /// Whether heads ask for the switch while they ask for an output VC, whose allocation then takes a cycle.
    pub speculation: Speculation,
    /// Whether a packet keeps the input and the output of the switch for its next flit.
    pub hold_switch: bool,
    /// In which order allocators count ports.
    pub port_order: PortOrder,
    /// What takes flits at a node, if that may have no room.
    pub ejection: Option<EjectionBuffers>,
    /// How stages of several cycles go on.
    pub stages: StageFlow,
    /// Cycles from the request of a flit for the switch until it leaves its queue, both included; more than 1 in batches alone.
    pub switch_allocation_delay: u32,
    /// How many times a router allocates while a link takes a flit.
    pub speedup: Speedup,
    /// Flits that may wait at an output port of a router which is faster than its links; `None`: they leave when they have crossed.
    pub output_queue: Option<u32>,
    /// How the VCs of a port share its buffer, by link class; `None` if they share nothing.
    pub damq: Option<ByClass<Shares>>,
    /// Outputs of the crossbar of every output port; more than 1 only with output queues.
    pub crossbar_outputs: u16,
    /// Whether links fail in the middle of the run.
    pub links_fail: bool,
}

/// Buffers at a node, one for each ejection VC for packets that are not answered. The node takes a flit when it comes, and gives the credit
/// back at once.
#[derive(Clone, Copy, Debug)]
pub struct EjectionBuffers {
    /// Size of each \[flits\].
    pub size: u32,
    /// Cycles from the departure of a flit until its credit counts again.
    pub returns: u32,
}

impl VirtualChannelPlan {
    /// Cycles from the first step of a router's clock until a head that arrived then has crossed, if it meets no other packet.
    pub fn residence(&self) -> u32 {
        let until = u64::from(self.until_switch());
        match self.switch_traversal_delay {
            0 => self.speedup.cycle_of(until),
            cycles => self.speedup.cycle_of(until + 1) + cycles - 1,
        }
    }

    /// Cycles of the longest stage.
    pub fn longest_stage(&self) -> u32 {
        let allocations = self.vc_allocation_delay.max(self.switch_allocation_delay);
        allocations.max(self.routing_delay).max(self.switch_traversal_delay)
    }

    /// Steps from the arrival of a head until its first flit can leave the queue, if it gets an output VC at once.
    pub fn until_switch(&self) -> u32 {
        match self.speculation {
            Speculation::None => {
                self.routing_delay + self.vc_allocation_delay + self.switch_allocation_delay - 1
            }
            _ => self.routing_delay,
        }
    }

    /// Whether an input of the crossbar picks one of its VCs, and asks for one output port.
    pub fn picks_vc(&self) -> bool {
        matches!(self.switch_allocator, FlitAllocator::SeparableInputFirst(_))
            && self.switch_input == SwitchInput::Vc
    }

    /// Credits that a link's output VC, behind which there is a buffer of so many flits, must have for the head of a packet to be granted it.
    /// `None`: as many as the packet has flits.
    pub fn credits_for(&self, buffer: u32) -> Option<u32> {
        match self.vc_reuse {
            VcReuse::Credits => Some(buffer),
            VcReuse::Tail if self.whole_packets => None,
            VcReuse::Tail => Some(self.vc_needs_credit.into()),
        }
    }

    /// Credits that an ejection VC must have for the head of a packet which is not answered to be granted it. `None`: as many as the packet
    /// has flits.
    pub fn credits_to_node(&self) -> Option<u32> {
        self.ejection.map_or(Some(0), |ejection| self.credits_for(ejection.size))
    }
}

/// A router with queues at inputs and outputs, without options.
#[derive(Clone, Debug)]
pub struct CioqPlan {
    /// Cycles a packet of each length occupies the crossbar once it has arrived, by length \[phits\].
    pub crossing: Vec<u32>,
    /// Cycles from the grant to the head of the output queue \[cycles\].
    pub crossbar_latency: u32,
    /// Cycles from the arrival of a head to its first request \[cycles\].
    pub pipeline_latency: u32,
    /// Output queue per port \[phits\]; `None`: no output queue.
    pub output_buffer: Option<u32>,
    /// The allocator.
    pub allocator: Allocator,
    /// When an ejection port accepts a packet, see [`Ejection`].
    pub ejection: Ejection,
    /// How long a grant keeps an output of the crossbar, see [`OutputHold`].
    pub output_hold: OutputHold,
    /// When the pointer of an input arbiter moves on, see [`InputPointer`].
    pub input_pointer: InputPointer,
    /// How the VCs of a port share its buffer, by link class.
    pub damq: Option<ByClass<Shares>>,
    /// When the buffers of links say off and on, by link class; `None` with credits.
    pub on_off: Option<ByClass<Thresholds>>,
    /// How packets leave for the nodes.
    pub consumption: Consumption,
    /// Outputs of the crossbar that an output port has; 1 without output queues.
    pub crossbar_outputs: u8,
}

impl CioqPlan {
    /// An input-queued router without delays of its own, whose allocator is that of documents by default, for packets of at most
    /// so many phits.
    pub fn input_queued(longest: u32) -> Self {
        Self {
            crossing: (0..=longest).map(|length| length.max(1)).collect(),
            crossbar_latency: 0,
            pipeline_latency: 0,
            output_buffer: None,
            allocator: Allocator::default(),
            ejection: Ejection::Link,
            output_hold: OutputHold::Transfer,
            input_pointer: InputPointer::Grant,
            damq: None,
            on_off: None,
            consumption: Consumption::Serial,
            crossbar_outputs: 1,
        }
    }
}

/// When a buffer says off, and when on again: see *On/off flow control* in `docs/model.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thresholds {
    /// A VC says off when fewer phits than so many are free.
    pub off: u32,
    /// A VC says on when at least so many phits are free.
    pub on: u32,
}

/// A shared buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Phits that belong to each VC alone.
    pub reserve: u32,
    /// Phits that all VCs share.
    pub pool: u32,
}

/// Network interfaces without options.
#[derive(Clone, Copy, Debug)]
pub struct NicPlan {
    /// Most packets in the source queue.
    pub source_queue: u32,
    /// What a node does whose source queue is full.
    pub when_full: WhenFull,
    /// Which injection VC a packet enters, see [`InjectionVc`].
    pub injection_vc: InjectionVc,
    /// What the wire from a node to its router carries, see [`InjectionLink`].
    pub injection_link: InjectionLink,
    /// When a packet counts as injected, see [`InjectionCount`].
    pub injection_count: InjectionCount,
    /// Where injection latency ends, see [`InjectionLatency`].
    pub injection_latency: InjectionLatency,
    /// Whether nodes send to themselves, see [`SelfTraffic`].
    pub self_traffic: SelfTraffic,
    /// Input ports of its router that a node injects by \[1 … 2\].
    pub injection_ports: u8,
    /// How nodes send again what has been lost in the network, if they do.
    pub retransmit: Option<Retransmit>,
}

impl Default for NicPlan {
    fn default() -> Self {
        Self {
            source_queue: u32::MAX,
            when_full: WhenFull::Drop,
            injection_vc: InjectionVc::Shortest,
            injection_link: InjectionLink::Serial,
            injection_count: InjectionCount::Network,
            injection_latency: InjectionLatency::Grant,
            self_traffic: SelfTraffic::None,
            injection_ports: 1,
            retransmit: None,
        }
    }
}

impl NicPlan {
    /// Whether a packet to its own source is one.
    pub fn sends_to_itself(&self) -> bool {
        self.self_traffic == SelfTraffic::Router
    }

    /// Whether the nodes of a job stand still where a packet would be dropped. In bursts in step all do, and no load is offered.
    pub fn may_stall(&self, job: &TrafficPlan) -> bool {
        let waits = job.process.waits() || self.when_full == WhenFull::Wait;
        waits && self.source_queue < u32::MAX && job.process.synchronised().is_none()
    }
}
