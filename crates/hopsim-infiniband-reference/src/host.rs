//! Hosts: flows and notifications that are sent, packets that are drained.

use crate::Fact;
use crate::fate::Fate;
use crate::lanes::LaneArbiter;
use crate::link::Flight;
use crate::simulator::{About, Packet, Reference, round_robin};
use hopsim_infiniband::congestion::Notification;
use hopsim_infiniband::fabric::{Fabric, NOTIFICATION, blocks};
use hopsim_infiniband::faults::Loss;
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::observer::Sent;
use hopsim_infiniband::time::Ticks;
use hopsim_infiniband::workload::Workload;
use hopsim_random::Stream;
use std::collections::VecDeque;

/// A host.
pub struct Host {
    /// The flows of the host, in the order of the list; behind them the flows of its messages.
    pub flows: Vec<usize>,
    /// Which of the host's flows sent last, by VL.
    last: Vec<Option<usize>>,
    lanes: LaneArbiter,
    /// When the packet on the link of the host is over.
    link_free: Ticks,
    /// When the bus can bring the next packet.
    bus_free: Ticks,
    /// Notification packets and acknowledgements that have not been sent.
    answers: VecDeque<Answer>,
    /// Packets in the receive buffer, in the order in which their heads arrived.
    pub received: Vec<Received>,
    /// When the host acts next by itself.
    pub acts: Ticks,
    /// Whether the host has heard of a message in this tick.
    pub has_heard: bool,
}

/// A notification packet or an acknowledgement that waits.
struct Answer {
    told: Sent,
    notifies: bool,
    about: About,
}

/// A packet in a receive buffer.
pub struct Received {
    pub packet: usize,
    tail: Ticks,
    /// When the packet began to be drained.
    drained_from: Option<Ticks>,
}

/// How far a flow is.
pub struct Sender {
    /// When the first packet of the flow may start.
    begins: Ticks,
    /// When the flow's own rate allows the next packet.
    rate_allows: Ticks,
    bytes: u64,
    packets: u32,
    /// The number of notification packets or acknowledgements for the flow, so far.
    answers: u32,
    /// Marks and bytes of the packets that have come and have not been acknowledged.
    unacknowledged: Vec<(bool, u64)>,
    /// When the destination last answered a mark of the flow with a packet.
    last_notified: Option<Ticks>,
}

impl Host {
    /// A host that has done nothing; its workload acts first at `acts`.
    pub fn new(fabric: &Fabric, flows: &[Flow], host: u32, acts: Ticks) -> Self {
        Self {
            flows: (0..flows.len()).filter(|&flow| flows[flow].source == host).collect(),
            last: vec![None; usize::from(fabric.lanes.count)],
            lanes: LaneArbiter::new(&fabric.lanes),
            link_free: 0,
            bus_free: 0,
            answers: VecDeque::new(),
            received: Vec::new(),
            acts,
            has_heard: false,
        }
    }
}

impl Sender {
    /// A flow that has sent nothing.
    pub fn new(begins: Ticks) -> Self {
        Self {
            begins,
            rate_allows: 0,
            bytes: 0,
            packets: 0,
            answers: 0,
            unacknowledged: Vec::new(),
            last_notified: None,
        }
    }
}

/// When the first packet of a flow may start, which is drawn.
pub fn first_start(fabric: &Fabric, flow: &Flow, draws: &mut Stream) -> Ticks {
    flow.start + (draws.unit() * fabric.host.start_jitter as f64) as Ticks
}

impl<W: Workload> Reference<W> {
    /// Step 4 at a host: a packet takes room in the receive buffer.
    pub fn head_at_host(&mut self, host: usize, &Flight { packet, tail, .. }: &Flight) {
        self.hosts[host].received.push(Received { packet, tail, drained_from: None });
        self.buffer_has_changed(host, self.packets[packet].lane);
    }

    /// Step 4, second half: notifications and acknowledgements are taken, data packets are answered with them.
    pub fn tails_arrive(&mut self) {
        for host in 0..self.hosts.len() {
            let Some(index) = self.hosts[host].received.iter().position(|each| each.tail == self.now) else {
                continue;
            };
            let number = self.hosts[host].received[index].packet;
            let packet = self.packets[number];
            let flow = packet.told.flow as usize;
            let is_whole = packet.fate == Fate::Whole;
            if !packet.told.is_notification {
                if is_whole {
                    self.answer(host, number);
                }
                continue;
            }
            self.deliver(host, index);
            if let Some(about) = packet.about.filter(|_| is_whole) {
                self.react(flow, packet.marked, about);
            }
        }
    }

    /// A data packet is at its destination, which answers if it is time.
    fn answer(&mut self, host: usize, number: usize) {
        let packet = self.packets[number];
        let Some(control) = &self.fabric.congestion else { return };
        let sender = &mut self.senders[packet.told.flow as usize];
        let (is_time, notifies, bytes) = match control.notification {
            Notification::Packets { interval } => {
                let is_too_soon = sender.last_notified.is_some_and(|last| self.now - last < interval);
                (packet.marked && !is_too_soon, true, NOTIFICATION)
            }
            Notification::Acknowledgements { every, bytes } => {
                sender.unacknowledged.push((packet.marked, packet.bytes()));
                let is_time = packet.is_last || sender.unacknowledged.len() == every as usize;
                (is_time, sender.unacknowledged.iter().any(|each| each.0), bytes)
            }
        };
        if !is_time {
            return;
        }
        let acknowledged = sender.unacknowledged.drain(..).map(|each| each.1).sum();
        sender.last_notified = Some(self.now);
        let told = Sent { flow: packet.told.flow, number: sender.answers, bytes, is_notification: true };
        sender.answers += 1;
        let about = About { data: number, bytes: acknowledged };
        self.hosts[host].answers.push_back(Answer { told, notifies, about });
    }

    /// The packets that have been drained are delivered, the next ones begin as soon as they are sure not to be interrupted.
    pub fn drain(&mut self) {
        for host in 0..self.hosts.len() {
            if let Some((index, Some(from))) = self.first_data(host)
                && self.now == from + self.time_to_drain(host, index)
            {
                self.deliver(host, index);
            }
            if let Some((index, None)) = self.first_data(host)
                && self.now + self.time_to_drain(host, index) >= self.hosts[host].received[index].tail
            {
                self.hosts[host].received[index].drained_from = Some(self.now);
            }
        }
    }

    /// The data packet that has been in a receive buffer longest, and when it began to be drained.
    fn first_data(&self, host: usize) -> Option<(usize, Option<Ticks>)> {
        let received = &self.hosts[host].received;
        let index = received.iter().position(|each| !self.packets[each.packet].told.is_notification)?;
        Some((index, received[index].drained_from))
    }

    /// What a packet in a receive buffer takes to be drained.
    fn time_to_drain(&self, host: usize, index: usize) -> Ticks {
        self.packets[self.hosts[host].received[index].packet].bytes() * self.fabric.host.drain
    }

    /// A packet leaves a receive buffer.
    fn deliver(&mut self, host: usize, index: usize) {
        let number = self.hosts[host].received.remove(index).packet;
        let packet = self.packets[number];
        let Packet { told, started, marked, fate, .. } = packet;
        if fate == Fate::Spoiled {
            self.lose(number, Loss::Spoiled);
            self.return_credits(host, packet);
            return;
        }
        self.facts.push(Fact::Delivered { at: self.now, packet: told, sent: started, marked });
        self.return_credits(host, packet);
        self.message_arrives(host, number);
    }

    /// Step 9: hosts whose link is free send, notifications and acknowledgements first.
    pub fn hosts_send(&mut self) {
        for host in 0..self.hosts.len() {
            if !self.is_link_free(host) {
                continue;
            }
            if let Some(index) = self.next_answer(host) {
                self.send_answer(host, index);
            } else if let Some(flow) = self.next_flow(host) {
                self.send_data(host, flow);
            }
        }
    }

    /// The VL of a flow.
    pub fn lane_of(&self, flow: usize) -> usize {
        usize::from(self.fabric.lanes.of_service_level[usize::from(self.flows[flow].service_level)])
    }

    /// The VL of a packet: notification packets and acknowledgements may have one of their own.
    fn lane_of_packet(&self, told: &Sent) -> usize {
        match self.fabric.congestion.as_ref().and_then(|control| control.answer_lane) {
            Some(lane) if told.is_notification => usize::from(lane),
            _ => self.lane_of(told.flow as usize),
        }
    }

    /// The notification packet or acknowledgement that has waited longest of those that the credits allow.
    fn next_answer(&self, host: usize) -> Option<usize> {
        let mut waiting = self.hosts[host].answers.iter();
        waiting.position(|Answer { told, .. }| {
            self.may_leave(host, self.lane_of_packet(told), blocks(told.bytes))
        })
    }

    fn send_answer(&mut self, host: usize, index: usize) {
        let Some(Answer { told, notifies, about }) = self.hosts[host].answers.remove(index) else {
            return;
        };
        let source = self.flows[told.flow as usize].source;
        let number = self.packets.len();
        self.send(host, (told, notifies, false), source);
        self.packets[number].about = Some(about);
    }

    /// The flow whose turn it is, if one may send.
    fn next_flow(&mut self, host: usize) -> Option<usize> {
        let lanes = 0..usize::from(self.fabric.lanes.count);
        let places: Vec<Option<usize>> = lanes.map(|lane| self.next_flow_in(host, lane)).collect();
        let lengths =
            |place: &Option<usize>| place.map(|place| blocks(self.next_bytes(self.hosts[host].flows[place])));
        let ready: Vec<Option<u32>> = places.iter().map(lengths).collect();
        let lane = self.hosts[host].lanes.take(&ready)?;
        let place = places[lane]?;
        self.hosts[host].last[lane] = Some(place);
        Some(self.hosts[host].flows[place])
    }

    /// Which of the flows of a host sends next in a VL.
    fn next_flow_in(&self, host: usize, lane: usize) -> Option<usize> {
        let Host { flows, last, .. } = &self.hosts[host];
        round_robin(last[lane], flows.len())
            .find(|&place| self.lane_of(flows[place]) == lane && self.may_send(host, flows[place]))
    }

    /// Whether the link of a host carries nothing.
    pub fn is_link_free(&self, host: usize) -> bool {
        self.now >= self.hosts[host].link_free.max(self.pausing[host].link_free)
    }

    /// Whether the bus of a host can bring a packet.
    pub fn is_bus_free(&self, host: usize) -> bool {
        self.now >= self.hosts[host].bus_free
    }

    /// Whether a notification or acknowledgement waits at a host in a VL for credits.
    pub fn has_answer_without_credits(&self, host: usize, lane: usize) -> bool {
        let mut waiting = self.hosts[host].answers.iter().map(|each| each.told);
        let lacks = |bytes: u32| !self.may_leave(host, lane, blocks(bytes));
        waiting.any(|told| self.lane_of_packet(&told) == lane && lacks(told.bytes))
    }

    /// Whether a flow may send now; the link is free.
    fn may_send(&self, host: usize, flow: usize) -> bool {
        self.wants_to_send(flow, self.now)
            && self.is_bus_free(host)
            && self.may_leave(host, self.lane_of(flow), blocks(self.next_bytes(flow)))
    }

    /// Whether a flow may send at some time as far as itself and its reaction point go.
    pub fn wants_to_send(&self, number: usize, at: Ticks) -> bool {
        let (flow, sender) = (&self.flows[number], &self.senders[number]);
        at >= sender.begins
            && at < flow.end
            && self.next_bytes(number) > 0
            && at >= sender.rate_allows
            && at >= self.reaction.opens(number)
            && self.fits_window(number, self.next_bytes(number))
    }

    /// Bytes of the next packet of a flow, 0 if it has sent all.
    pub fn next_bytes(&self, flow: usize) -> u32 {
        let left = if flow < self.given {
            self.flows[flow].bytes.map_or(u64::MAX, |bytes| bytes - self.senders[flow].bytes)
        } else {
            self.next_message(flow).map_or(0, |message| self.messages[message].unsent())
        };
        left.min(u64::from(self.fabric.mtu)) as u32
    }

    fn send_data(&mut self, host: usize, number: usize) {
        let (bytes, flow) = (self.next_bytes(number), self.flows[number]);
        self.take_from_message(number, bytes);
        let sender = &mut self.senders[number];
        let told = Sent { flow: number as u32, number: sender.packets, bytes, is_notification: false };
        sender.packets += 1;
        sender.bytes += u64::from(bytes);
        sender.rate_allows = self.now + u64::from(bytes) * flow.byte;
        self.hosts[host].bus_free = self.now + u64::from(bytes) * self.fabric.host.injection;
        let is_last = match self.flows[number].bytes {
            Some(bytes) if number < self.given => self.senders[number].bytes == bytes,
            _ => self.messages.iter().any(|each| each.last == Some(self.packets.len())),
        };
        let on_link = self.send(host, (told, false, is_last), flow.destination);
        self.throttle(number, bytes, on_link);
    }

    /// A packet starts on the link of a host, which it occupies for the time that is returned.
    fn send(&mut self, host: usize, (told, marked, is_last): (Sent, bool, bool), destination: u32) -> Ticks {
        let lane = self.lane_of_packet(&told);
        let number = self.packets.len();
        let packet = Packet {
            told,
            destination: destination as usize,
            lane,
            started: self.now,
            about: None,
            marked,
            is_last,
            fate: Fate::Whole,
        };
        self.packets.push(packet);
        self.facts.push(Fact::Sent { at: self.now, packet: told });
        self.promise(host, packet);
        self.goes_onto_link(host, number);
        let on_link = self.time_on_link(host, number);
        self.hosts[host].link_free = self.now + on_link;
        on_link
    }
}
