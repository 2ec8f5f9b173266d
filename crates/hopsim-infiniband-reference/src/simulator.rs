//! The state of a fabric, and what is done with it in a tick.

use crate::Fact;
use crate::fate::{Failing, Fate};
use crate::host::{Host, Sender, first_start};
use crate::link::{Link, Pausing};
use crate::messages::Posted;
use crate::reaction::{Reactions, Reading};
use crate::switch::{Input, Output};
use hopsim_infiniband::fabric::{Fabric, blocks};
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::observer::Sent;
use hopsim_infiniband::time::Ticks;
use hopsim_infiniband::workload::Workload;
use hopsim_random::{Purpose, Stream};
use std::ops::Range;

/// A packet that has been sent.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// What is told of the packet.
    pub told: Sent,
    /// The host that the packet is for.
    pub destination: usize,
    /// The virtual lane of the packet.
    pub lane: usize,
    /// When the packet was sent.
    pub started: Ticks,
    /// What a notification packet or acknowledgement is about.
    pub about: Option<About>,
    /// Whether a switch has marked a data packet, or a notification packet or acknowledgement notifies of marks.
    pub marked: bool,
    /// Whether nothing of the packet's message, or of its flow, is left to send behind it.
    pub is_last: bool,
    /// What has become of the packet.
    pub fate: Fate,
}

/// What a notification packet or acknowledgement is about.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The data packet with which it was due.
    pub data: usize,
    /// The bytes that it acknowledges.
    pub bytes: u64,
}

impl Packet {
    /// The length of the packet \[bytes\].
    pub fn bytes(&self) -> u64 {
        u64::from(self.told.bytes)
    }

    /// The length of the packet \[blocks\].
    pub fn blocks(&self) -> u32 {
        blocks(self.told.bytes)
    }
}

/// A fabric that is simulated tick by tick. Ports are numbered through the fabric; packets by when they were sent.
pub struct Reference<W: Workload = ()> {
    pub(crate) fabric: Fabric,
    /// The flows that were given, and behind them the flows of the messages.
    pub(crate) flows: Vec<Flow>,
    /// How many of the flows were given.
    pub(crate) given: usize,
    pub(crate) workload: W,
    /// The messages, in the order in which they were posted.
    pub(crate) messages: Vec<Posted>,
    /// The tick that comes next, or is under way.
    pub(crate) now: Ticks,
    pub(crate) packets: Vec<Packet>,
    /// What switches have noted in packets: which packet, and what, in the order of time.
    pub(crate) notes: Vec<(usize, Reading)>,
    pub(crate) facts: Vec<Fact>,
    /// The links, by the port that sends.
    pub(crate) links: Vec<Link>,
    /// What ports know of pauses, by port; used with priority flow control.
    pub(crate) pausing: Vec<Pausing>,
    /// The inputs of switches, by port; those of hosts are not used.
    pub(crate) inputs: Vec<Input>,
    /// The outputs of switches, by port; those of hosts are not used.
    pub(crate) outputs: Vec<Output>,
    /// The hosts, by number.
    pub(crate) hosts: Vec<Host>,
    /// How far the flows are, by flow.
    pub(crate) senders: Vec<Sender>,
    pub(crate) reaction: Reactions,
    pub(crate) failing: Failing,
}

impl Reference {
    /// A fabric at time 0, before anything happens.
    pub fn new(fabric: &Fabric, flows: &[Flow], seed: u64) -> Self {
        Self::with_workload(fabric, flows, seed, ())
    }
}

impl<W: Workload> Reference<W> {
    /// A fabric at time 0, before anything happens, with a workload beside the flows.
    pub fn with_workload(fabric: &Fabric, flows: &[Flow], seed: u64, mut workload: W) -> Self {
        let ports = 0..fabric.ports.len();
        let mut draws: Vec<Stream> =
            (0..fabric.hosts).map(|host| Stream::new(seed, Purpose::Phase, u64::from(host))).collect();
        // The draws of a host begin with those for its flows.
        let senders = flows
            .iter()
            .map(|flow| Sender::new(first_start(fabric, flow, &mut draws[flow.source as usize])))
            .collect();
        let hosts =
            (0..fabric.hosts).map(|host| Host::new(fabric, flows, host, workload.first(host))).collect();
        Self {
            fabric: fabric.clone(),
            flows: flows.to_vec(),
            given: flows.len(),
            workload,
            messages: Vec::new(),
            now: 0,
            packets: Vec::new(),
            notes: Vec::new(),
            facts: Vec::new(),
            links: ports.clone().map(|port| Link::new(fabric, port)).collect(),
            pausing: ports.clone().map(|_| Pausing::new(fabric.lanes.count)).collect(),
            inputs: ports.clone().map(|_| Input::new(fabric)).collect(),
            outputs: ports.map(|port| Output::new(fabric, seed, port)).collect(),
            hosts,
            senders,
            reaction: Reactions::new(fabric, flows, &mut draws),
            failing: Failing::new(fabric),
        }
    }

    /// Goes through one tick.
    pub fn step(&mut self) {
        self.recover();
        self.fabric_changes();
        self.credits_arrive();
        self.frames_arrive();
        self.transfers_end();
        self.discarded_packets_go();
        self.packets_have_left();
        self.heads_arrive();
        self.tails_arrive();
        self.drain();
        self.arbitrate();
        self.frames_leave();
        self.heads_leave();
        self.messages_leave();
        self.hosts_act();
        self.hosts_send();
        self.look_for_stalls();
        self.look_for_limits();
        self.audit();
        self.now += 1;
    }

    /// What has happened so far, in the order in which it did.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// The flows that were given, and behind them the flows of the workload that have begun.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// The workload.
    pub fn workload(&self) -> &W {
        &self.workload
    }

    /// The index of a flow into the congestion control table, 0 without congestion control.
    pub fn ccti(&self, flow: usize) -> u16 {
        self.reaction.index(flow)
    }

    /// For how many ticks the table index of a flow has been at its limit, above its minimum.
    pub fn limited(&self, flow: usize) -> Ticks {
        self.reaction.limited(flow)
    }

    /// Whether an output port of a switch is congested in a VL.
    pub fn is_congested(&self, output: usize, lane: usize) -> bool {
        self.outputs[output].congested[lane]
    }

    /// What waits at an input port of a switch for an output port in a VL \[bytes\].
    pub fn occupancy(&self, output: usize, input: usize, lane: usize) -> u64 {
        self.queue(input, output, lane).iter().map(|waiting| self.packets[waiting.packet].bytes()).sum()
    }

    /// All ports of the switch that has a port.
    pub(crate) fn siblings(&self, port: usize) -> Range<usize> {
        let switch = self.switch_of(port);
        self.fabric.first_port[switch] as usize..self.fabric.first_port[switch + 1] as usize
    }

    /// The switch that has a port.
    pub(crate) fn switch_of(&self, port: usize) -> usize {
        self.fabric.first_port.iter().filter(|&&first| first as usize <= port).count() - 1
    }

    /// The ports of all switches.
    pub(crate) fn switch_ports(&self) -> Range<usize> {
        self.fabric.hosts as usize..self.fabric.ports.len()
    }
}

/// The order in which round robin looks at `count` candidates: behind the last one that was taken; at first, from 0 on.
pub fn round_robin(last: Option<usize>, count: usize) -> impl Iterator<Item = usize> {
    let first = last.map_or(0, |last| last + 1);
    (0..count).map(move |step| (first + step) % count)
}
