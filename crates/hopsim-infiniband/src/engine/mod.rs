//! The engine: events in the order of time, at an instant in the order of docs/infiniband.md. Nothing is looked at while nothing
//! happens to it, so idle time costs nothing.

mod acting;
mod chooser;
mod deadlock;
mod events;
mod failing;
mod host;
mod marking;
mod packet;
mod pauses;
mod reaction;
mod roots;
mod size;
mod stalls;
mod switch;
mod telemetry;

use crate::fabric::{Fabric, FlowControl, NONE, blocks};
use crate::flow::Flow;
use crate::observer::Observer;
use crate::time::{NEVER, Ticks};
use crate::workload::{Message, Workload};
use events::{Event, Events, Step};
use failing::Failing;
use hopsim_memory::{filled, table};
use hopsim_random::{Purpose, Stream};
use host::{Host, Pending, Sender};
use marking::Detection;
use packet::{Packets, Queue};
use pauses::{FREE, Pauses};
use reaction::Reactions;
pub use roots::Held;
use rustc_hash::FxHashMap;
pub use size::state_bytes;
use stalls::Stalls;
use switch::{Inputs, Output, Places, Voq};
use telemetry::Telemetry;

/// A fabric with its flows at some time.
pub struct Simulation<'f, O: Observer, W: Workload = ()> {
    fabric: &'f Fabric,
    /// The flows that were given, and behind them the flows of the workload's messages.
    flows: Vec<Flow>,
    /// The flows of the workload's messages, by source, destination and service level.
    queue_pairs: FxHashMap<(u32, u32, u8), u32>,
    workload: W,
    /// When each host of the workload acts next.
    acts: Vec<Ticks>,
    /// Messages that a host has just been given.
    messages: Vec<Message>,
    observer: O,
    now: Ticks,
    events: Events,
    packets: Packets,
    /// Credits of every sending port, by port · VLs + VL \[blocks\].
    credits: Vec<u32>,
    hosts: Vec<Host>,
    /// The flows while they are sent, by number.
    senders: Vec<Sender>,
    reactions: Reactions<'f>,
    places: Places,
    /// The outputs of switches, by port; those of hosts are not used.
    outputs: Vec<Output>,
    /// Inputs with packets for an output, by port · VLs + VL.
    inputs: Vec<Inputs>,
    /// Transfers under way, by input port.
    transfers: Vec<u32>,
    voqs: Vec<Voq>,
    detection: Detection,
    stalls: Stalls,
    /// Outputs that arbitrate at the present instant.
    due: Vec<u32>,
    packet_hops: u64,
    /// What is in the buffers, where pauses control the flow.
    pauses: Option<Box<Pauses<'f>>>,
    /// What switches note in packets, where sources react to it.
    telemetry: Option<Box<Telemetry>>,
    /// What is remembered where links fail in the middle of the run.
    failing: Option<Box<Failing<'f>>>,
}

impl<'f, O: Observer> Simulation<'f, O> {
    /// A fabric at time 0, empty.
    pub fn new(fabric: &'f Fabric, flows: &[Flow], seed: u64, observer: O) -> Self {
        Self::with_workload(fabric, flows, seed, (observer, ()))
    }
}

impl<'f, O: Observer, W: Workload> Simulation<'f, O, W> {
    /// A fabric at time 0, empty, with a workload beside the flows.
    pub fn with_workload(
        fabric: &'f Fabric,
        flows: &[Flow],
        seed: u64,
        (observer, workload): (O, W),
    ) -> Self {
        let (lanes, ports, places) = (&fabric.lanes, 0..fabric.ports.len() as u32, Places::new(fabric));
        let count = usize::from(lanes.count);
        let room = |port: u32| {
            let peer = fabric.ports.get(fabric.ports[port as usize].peer as usize);
            let is_paused_only = matches!(fabric.flow_control, FlowControl::Pfc(_));
            peer.map_or(0, |peer| if is_paused_only { FREE } else { peer.buffer })
        };
        let mut credits = table(ports.len() * count);
        credits.extend(ports.clone().map(room).flat_map(|blocks| std::iter::repeat_n(blocks, count)));
        let mut inputs = table(ports.len() * count);
        inputs.extend(
            ports.clone().flat_map(|port| std::iter::repeat_n(Inputs::new(places.inputs(port)), count)),
        );
        let stalls = Stalls::new(observer.hears_stalls(), fabric.ports.len() * count);
        let mut simulation = Self {
            fabric,
            flows: Vec::new(),
            queue_pairs: FxHashMap::default(),
            workload,
            acts: filled(NEVER, fabric.hosts as usize),
            messages: Vec::new(),
            observer,
            now: 0,
            events: Events::new(fabric),
            packets: Packets::default(),
            credits,
            hosts: filled(Host::new(lanes), fabric.hosts as usize),
            senders: Vec::new(),
            reactions: Reactions::default(),
            outputs: filled(Output::new(fabric.switch.output_buffer, lanes), ports.len()),
            inputs,
            transfers: filled(0, fabric.ports.len()),
            voqs: filled(Voq { queue: Queue::EMPTY, bytes: 0 }, places.voqs()),
            places,
            detection: Detection::new(fabric, seed),
            stalls,
            due: Vec::new(),
            packet_hops: 0,
            pauses: Pauses::new(fabric).map(Box::new),
            telemetry: Telemetry::new(fabric).map(Box::new),
            failing: Failing::new(fabric, flows.len()).map(Box::new),
        };
        simulation.expect_changes();
        simulation.add_flows(flows, seed);
        for host in 0..fabric.hosts {
            let first = simulation.workload.first(host);
            if first < NEVER {
                simulation.act_soon(host, first);
            }
        }
        simulation
    }

    /// Draws what is random about the flows, and wakes their hosts when they begin.
    fn add_flows(&mut self, flows: &[Flow], seed: u64) {
        let fabric = self.fabric;
        let mut streams: Vec<Stream> =
            (0..fabric.hosts).map(|host| Stream::new(seed, Purpose::Phase, host.into())).collect();
        let part = |stream: &mut Stream, of: Ticks| (stream.unit() * of as f64) as Ticks;
        let jitters: Vec<Ticks> = flows
            .iter()
            .map(|flow| part(&mut streams[flow.source as usize], fabric.host.start_jitter))
            .collect();
        self.reactions = Reactions::new(fabric.congestion.as_ref(), &mut streams);
        for (&flow, jitter) in flows.iter().zip(jitters) {
            let number = self.add_flow(flow, flow.start + jitter);
            self.observer.may_begin(flow.start + jitter, number);
            let left = flow.bytes.unwrap_or(u64::MAX);
            if left > 0 {
                self.post(number, Pending { left, ends: None });
            }
            self.wake_host(flow.source, flow.start + jitter);
        }
    }

    /// Lets everything happen that does before `until`, or up to the instant in which the workload is over.
    pub fn advance(&mut self, until: Ticks) {
        while let Some(now) = self.events.next().filter(|&now| now < until) {
            self.now = now;
            while let Some(event) = self.events.take(now, Step::Arbitrate) {
                self.follow(event);
            }
            self.arbitrate();
            while let Some(event) = self.events.take(now, Step::Send) {
                self.follow(event);
            }
            if W::HEARS && self.workload.is_over() {
                return;
            }
        }
        self.now = until;
    }

    /// The time reached.
    pub fn now(&self) -> Ticks {
        self.now
    }

    fn follow(&mut self, Event { step, port, what, .. }: Event) {
        match step {
            Step::Change => self.change(port),
            Step::Freed => self.free_input(port, what),
            Step::Credit => self.take_credit(port, (what >> 24) as u8, what & 0x00ff_ffff),
            Step::Pause => self.take_frame(port, what as u16),
            Step::TransferEnd => self.end_transfer(port),
            Step::Room => self.free_room(port, what),
            Step::Head => self.arrive(port, what),
            Step::Tail => self.receive_tail(port, what),
            Step::Drained => self.deliver(port, what),
            Step::Arbitrate => self.is_due(port),
            Step::Frame => self.send_frame(port, what),
            Step::Wire => self.go_onto_link(port, what),
            Step::Left => self.message_left(port),
            Step::Act => self.act(port),
            Step::Send => self.send(port),
        }
    }

    /// The place of a port and VL in lists of all ports and VLs.
    #[inline]
    fn slot(&self, port: u32, lane: u8) -> usize {
        port as usize * usize::from(self.fabric.lanes.count) + usize::from(lane)
    }

    /// A packet goes onto the link of a port now.
    fn travel(&mut self, port: u32, id: u32) {
        let link = &self.fabric.ports[port as usize];
        let packet = self.packets.get_mut(id);
        self.observer.on_link(self.now, packet.name, port);
        packet.head = self.now + link.delay;
        packet.tail = packet.head + packet.bytes() * link.byte;
        self.events.push(Event { at: packet.head, step: Step::Head, port: link.peer, what: id });
    }

    /// The head of a packet is at a port.
    #[inline]
    fn arrive(&mut self, port: u32, id: u32) {
        self.enter_buffer(port, id);
        if self.fabric.is_host(port) {
            self.receive_head(port, id);
        } else {
            self.join_queue(port, id);
        }
    }

    /// A packet has been promised room at the other end of a link.
    #[inline]
    fn promise(&mut self, slot: usize, blocks: u32) {
        if self.pauses.is_none() {
            self.credits[slot] -= blocks;
        }
    }

    /// A packet has left the buffer of a port: its sender will hear of it.
    fn leave_buffer(&mut self, port: u32, lane: u8, bytes: u32) {
        let FlowControl::Credits { delay } = self.fabric.flow_control else {
            return self.change_buffer(port, lane, |occupied| occupied - bytes);
        };
        let sender = self.fabric.ports[port as usize].peer;
        debug_assert_ne!(sender, NONE, "a packet has come by this port");
        if self.failing.as_ref().is_some_and(|failing| failing.is_out(sender)) {
            return;
        }
        let at = self.now + self.fabric.ports[sender as usize].delay + delay;
        let what = u32::from(lane) << 24 | blocks(bytes);
        self.events.push(Event { at, step: Step::Credit, port: sender, what });
    }

    fn take_credit(&mut self, port: u32, lane: u8, blocks: u32) {
        let slot = self.slot(port, lane);
        self.credits[slot] += blocks;
        if self.fabric.is_host(port) {
            self.wake_host(port, self.now);
        } else {
            self.detect(port, lane);
            self.is_due(port);
        }
    }

    /// The congestion control table index of a flow.
    pub fn ccti(&self, flow: usize) -> u16 {
        // What happens at the time reached has not happened yet.
        self.reactions.index(self.senders[flow].reaction, self.now.saturating_sub(1))
    }

    /// For how many ticks the congestion control table index of a flow has been at its limit, above its minimum.
    pub fn limited(&self, flow: usize) -> Ticks {
        self.reactions.limited(self.senders[flow].reaction, self.now)
    }

    /// Whether an output of a switch is congested in a VL.
    pub fn is_congested(&self, port: u32, lane: u8) -> bool {
        self.detection.detectors[self.slot(port, lane)].congested
    }

    /// What is in the queue of an input for an output \[bytes\]; both are ports of one switch.
    pub fn occupancy(&self, output: u32, input: u32, lane: u8) -> u64 {
        self.voqs[self.voq(output, input, lane)].bytes
    }

    /// The workload.
    pub fn workload(&mut self) -> &mut W {
        &mut self.workload
    }

    /// The observer.
    pub fn observer(&mut self) -> &mut O {
        &mut self.observer
    }

    /// Grants so far.
    pub fn packet_hops(&self) -> u64 {
        self.packet_hops
    }
}
