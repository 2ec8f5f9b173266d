//! Hosts: flows send, packets are drained, marks are answered.

use super::Simulation;
use super::chooser::Chooser;
use super::events::{Event, Step};
use super::packet::Packet;
use crate::congestion::MarkPoint;
use crate::fabric::{NOTIFICATION, blocks};
use crate::flow::Flow;
use crate::lanes::Lanes;
use crate::observer::{Observer, Sent};
use crate::time::{NEVER, Ticks};
use std::collections::VecDeque;

/// A flow while it is sent.
#[derive(Clone, Debug)]
pub struct Sender {
    /// When it may send again as far as itself goes.
    ready: Ticks,
    /// Bytes that are left.
    left: u64,
    /// Packets sent.
    sent: u32,
    /// Notifications that its destination has made.
    notifications: u32,
    /// Its reaction point.
    pub reaction: u32,
    /// Its VL.
    lane: u8,
}

impl Sender {
    /// A flow that begins so long after its start.
    pub fn new(flow: &Flow, jitter: Ticks, reaction: u32, lanes: &Lanes) -> Self {
        let lane = lanes.of_service_level[usize::from(flow.service_level)];
        let left = flow.bytes.unwrap_or(u64::MAX);
        Self { ready: flow.start + jitter, left, sent: 0, notifications: 0, reaction, lane }
    }
}

/// A host.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its flows.
    pub flows: Vec<u32>,
    /// Notifications that wait: flow, number and VL.
    notifications: VecDeque<(u32, u32, u8)>,
    link_free: Ticks,
    bus_free: Ticks,
    /// When the last packet that came is drained.
    drained: Ticks,
    /// Place in `flows` of the one that sent last, by VL.
    last: Vec<usize>,
    chooser: Chooser,
    /// When it looks next whether it can send.
    wakes: Ticks,
}

impl Host {
    /// One that has sent nothing.
    pub fn new(lanes: &Lanes) -> Self {
        Self {
            flows: Vec::new(),
            notifications: VecDeque::new(),
            link_free: 0,
            bus_free: 0,
            drained: 0,
            last: vec![usize::MAX; usize::from(lanes.count)],
            chooser: Chooser::new(lanes),
            wakes: NEVER,
        }
    }
}

impl<O: Observer> Simulation<'_, O> {
    /// A host looks at `at` whether it can send, if it does not before.
    pub(super) fn wake_host(&mut self, host: u32, at: Ticks) {
        let state = &mut self.hosts[host as usize];
        if at < state.wakes {
            state.wakes = at;
            self.events.push(Event { at, step: Step::Send, port: host, what: 0 });
        }
    }

    /// A host sends what it can.
    pub(super) fn send(&mut self, host: u32) {
        let now = self.now;
        let state = &mut self.hosts[host as usize];
        if state.wakes > now {
            return;
        }
        state.wakes = NEVER;
        if state.link_free > now {
            let free = state.link_free;
            return self.wake_host(host, free);
        }
        if !self.send_notification(host) {
            self.send_data(host);
        }
        let next = self.next_send(host);
        if next < NEVER {
            self.wake_host(host, next);
        }
    }

    /// The next time at which a host may be able to send by itself.
    fn next_send(&self, host: u32) -> Ticks {
        let state = &self.hosts[host as usize];
        if state.link_free > self.now {
            let waits =
                !state.notifications.is_empty() || state.flows.iter().any(|&flow| self.ready(flow) < NEVER);
            return if waits { state.link_free } else { NEVER };
        }
        let ready = state.flows.iter().map(|&flow| self.ready(flow).max(state.bus_free));
        ready.filter(|&at| at > self.now).min().unwrap_or(NEVER)
    }

    /// When a flow may send its next packet as far as itself and its reaction point go.
    fn ready(&self, flow: u32) -> Ticks {
        let sender = &self.senders[flow as usize];
        let at = sender.ready.max(self.reactions.ready(sender.reaction));
        if sender.left > 0 && at.max(self.now) < self.flows[flow as usize].end { at } else { NEVER }
    }

    /// The next packet of a flow \[bytes\].
    fn next_bytes(&self, flow: u32) -> u32 {
        self.senders[flow as usize].left.min(self.fabric.mtu.into()) as u32
    }

    fn send_notification(&mut self, host: u32) -> bool {
        let queue = &self.hosts[host as usize].notifications;
        let has_credit = |lane: u8| self.credits[self.slot(host, lane)] >= blocks(NOTIFICATION);
        let Some(place) = queue.iter().position(|&(_, _, lane)| has_credit(lane)) else { return false };
        let Some((flow, number, lane)) = self.hosts[host as usize].notifications.remove(place) else {
            return false;
        };
        let name = Sent { flow, number, bytes: NOTIFICATION, is_notification: true };
        self.begin(host, Packet::new(name, (self.flows[flow as usize].source, lane), self.now));
        true
    }

    fn send_data(&mut self, host: u32) {
        let state = &self.hosts[host as usize];
        if state.bus_free > self.now {
            return;
        }
        let count = state.flows.len();
        let mut found = [(0, 0); 16];
        let mut ready = 0u16;
        for lane in 0..self.fabric.lanes.count {
            let credits = self.credits[self.slot(host, lane)];
            let first = state.last[usize::from(lane)].wrapping_add(1);
            let fits = |&place: &usize| {
                let flow = state.flows[place];
                self.senders[flow as usize].lane == lane
                    && self.ready(flow) <= self.now
                    && blocks(self.next_bytes(flow)) <= credits
            };
            if let Some(place) = (0..count).map(|step| (first + step) % count).find(fits) {
                found[usize::from(lane)] = (place, blocks(self.next_bytes(state.flows[place])));
                ready |= 1 << lane;
            }
        }
        let chooser = &mut self.hosts[host as usize].chooser;
        if let Some(lane) = chooser.choose(&self.fabric.lanes, ready, |lane| found[usize::from(lane)].1) {
            self.send_packet(host, found[usize::from(lane)].0, lane);
        }
    }

    fn send_packet(&mut self, host: u32, place: usize, lane: u8) {
        let now = self.now;
        let state = &mut self.hosts[host as usize];
        let flow = state.flows[place];
        state.last[usize::from(lane)] = place;
        let bytes = self.next_bytes(flow);
        let length = u64::from(bytes);
        self.hosts[host as usize].bus_free = now + length * self.fabric.host.injection;
        let rules = &self.flows[flow as usize];
        let sender = &mut self.senders[flow as usize];
        let name = Sent { flow, number: sender.sent, bytes, is_notification: false };
        sender.sent = sender.sent.wrapping_add(1);
        if rules.bytes.is_some() {
            sender.left -= length;
        }
        sender.ready = now + length * rules.byte;
        let reaction = sender.reaction;
        self.reactions.sent(reaction, now, length * self.fabric.ports[host as usize].byte);
        self.begin(host, Packet::new(name, (rules.destination, lane), now));
    }

    /// A packet begins to be sent.
    fn begin(&mut self, host: u32, packet: Packet) {
        self.observer.sent(self.now, packet.name);
        let slot = self.slot(host, packet.lane);
        self.credits[slot] -= packet.blocks();
        self.hosts[host as usize].link_free =
            self.now + packet.bytes() * self.fabric.ports[host as usize].byte;
        let id = self.packets.insert(packet);
        self.travel(host, id);
    }

    /// The head of a packet is at its destination.
    pub(super) fn receive_head(&mut self, host: u32, id: u32) {
        let packet = self.packets.get(id);
        if packet.name.is_notification || packet.marked || self.marks_at(MarkPoint::Tail) {
            self.events.push(Event { at: packet.tail, step: Step::Tail, port: host, what: id });
        }
        if packet.name.is_notification {
            return;
        }
        let time = packet.bytes() * self.fabric.host.drain;
        let state = &mut self.hosts[host as usize];
        let start = packet.head.max(packet.tail.saturating_sub(time)).max(state.drained);
        state.drained = start + time;
        self.events.push(Event { at: start + time, step: Step::Drained, port: host, what: id });
    }

    /// The tail of a packet is at its destination, where that matters.
    pub(super) fn receive_tail(&mut self, host: u32, id: u32) {
        let packet = self.packets.get(id);
        let (name, lane) = (packet.name, packet.lane);
        if name.is_notification {
            self.reactions.notify(self.senders[name.flow as usize].reaction, self.now);
            self.deliver(host, id);
        } else if packet.marked {
            let sender = &mut self.senders[name.flow as usize];
            self.hosts[host as usize].notifications.push_back((name.flow, sender.notifications, lane));
            sender.notifications += 1;
            self.wake_host(host, self.now);
        }
    }

    /// A packet has been taken out of the receive buffer.
    pub(super) fn deliver(&mut self, host: u32, id: u32) {
        let packet = self.packets.get(id);
        self.observer.delivered(self.now, packet.name, packet.sent, packet.marked);
        let (lane, blocks) = (packet.lane, packet.blocks());
        self.packets.remove(id);
        self.return_credit(host, lane, blocks);
    }
}
