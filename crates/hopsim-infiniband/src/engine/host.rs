//! Hosts: flows send, packets are drained, marks are answered.

use super::Simulation;
use super::chooser::Chooser;
use super::events::{Event, Step};
use super::packet::{About, Cargo, Ended, Errand, Fate, Packet};
use crate::congestion::{MarkPoint, Notification};
use crate::fabric::{NOTIFICATION, blocks};
use crate::flow::Flow;
use crate::lanes::Lanes;
use crate::observer::{Observer, Sent};
use crate::reaction::{Echo, Note};
use crate::time::{NEVER, Ticks};
use crate::workload::Workload;
use std::collections::VecDeque;

/// What a flow has to send.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// Bytes that are left to send; of a flow without end as many as can be.
    pub left: u64,
    /// What is told when the bytes have been sent, if they are a message of the workload.
    pub ends: Option<Ended>,
}

/// A flow while it is sent.
#[derive(Clone, Debug)]
pub struct Sender {
    /// When the flow may send again as far as itself goes.
    ready: Ticks,
    /// What the flow has to send.
    pending: VecDeque<Pending>,
    /// The number of packets sent.
    sent: u32,
    /// The number of notification packets or acknowledgements that the destination of the flow has made.
    answers: u32,
    /// Packets of the flow that have come since the last acknowledgement, whether one of them is marked, and their bytes.
    unanswered: (u32, bool, u64),
    /// Before this time the destination answers no mark of the flow with a packet.
    quiet: Ticks,
    /// The reaction point of the flow.
    pub reaction: u32,
    /// The VL of the flow.
    pub lane: u8,
    /// The place of the flow among the flows of its host.
    place: u32,
}

impl Sender {
    /// A flow that may begin at `ready` and has nothing to send yet.
    pub fn new(flow: &Flow, ready: Ticks, (reaction, place): (u32, u32), lanes: &Lanes) -> Self {
        let lane = lanes.of_service_level[usize::from(flow.service_level)];
        Self {
            ready,
            pending: VecDeque::new(),
            sent: 0,
            answers: 0,
            unanswered: (0, false, 0),
            quiet: 0,
            reaction,
            lane,
            place,
        }
    }
}

impl Sender {
    /// A packet has come to the destination: what a notification packet says that is due with it, if one is.
    fn notify(&mut self, interval: Ticks, now: Ticks, marked: bool) -> Option<(bool, u64)> {
        let is_due = marked && now >= self.quiet;
        if is_due {
            self.quiet = now + interval;
        }
        is_due.then_some((true, 0))
    }

    /// A packet has come to the destination, with a mark or not and so many bytes: whether the acknowledgement that is due with it notifies of
    /// marks, and how many bytes it is about, if one is.
    fn acknowledge(
        &mut self,
        every: u32,
        (marked, bytes): (bool, u64),
        is_last: bool,
    ) -> Option<(bool, u64)> {
        let (packets, was_marked, before) = self.unanswered;
        self.unanswered = (packets + 1, was_marked || marked, before + bytes);
        if packets + 1 < every && !is_last {
            return None;
        }
        let (_, marked, bytes) = std::mem::take(&mut self.unanswered);
        Some((marked, bytes))
    }
}

/// A notification packet or an acknowledgement that waits.
#[derive(Clone, Debug)]
struct Answer {
    /// The flow that the answer is for.
    flow: u32,
    number: u32,
    lane: u8,
    /// Whether the answer notifies of marks.
    notifies: bool,
    about: About,
    /// What switches have noted in the data packet with which the answer was due, if they do.
    notes: Vec<Note>,
}

/// A host.
#[derive(Clone, Debug)]
pub struct Host {
    /// The flows of the host.
    pub flows: Vec<u32>,
    /// Places in `flows` of the flows that have something to send, ascending.
    active: Vec<u32>,
    /// Notification packets and acknowledgements that wait.
    answers: VecDeque<Answer>,
    /// When the link is free.
    pub link_free: Ticks,
    bus_free: Ticks,
    /// When the last packet that came is drained.
    drained: Ticks,
    /// The place behind the flow that sent last, by VL.
    next: Vec<u32>,
    chooser: Chooser,
    /// When the host looks next whether it can send.
    wakes: Ticks,
    /// Messages whose last bytes are on the link or have left it, in order.
    pub leaving: VecDeque<u64>,
}

impl Host {
    /// A host that has sent nothing.
    pub fn new(lanes: &Lanes) -> Self {
        Self {
            flows: Vec::new(),
            active: Vec::new(),
            answers: VecDeque::new(),
            link_free: 0,
            bus_free: 0,
            drained: 0,
            next: vec![0; usize::from(lanes.count)],
            chooser: Chooser::new(lanes),
            wakes: NEVER,
            leaving: VecDeque::new(),
        }
    }

    /// The flows with something to send from a place on, then those before it.
    fn in_turn(&self, place: u32) -> impl Iterator<Item = u32> {
        let first = self.active.partition_point(|&other| other < place);
        let (before, behind) = self.active.split_at(first);
        behind.iter().chain(before).map(|&place| self.flows[place as usize])
    }
}

impl<O: Observer, W: Workload> Simulation<'_, O, W> {
    /// A flow gets something to send.
    pub(super) fn post(&mut self, flow: u32, pending: Pending) {
        let sender = &mut self.senders[flow as usize];
        if sender.pending.is_empty() {
            let active = &mut self.hosts[self.flows[flow as usize].source as usize].active;
            let place = active.partition_point(|&other| other < sender.place);
            active.insert(place, sender.place);
        }
        sender.pending.push_back(pending);
    }

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
        if !self.send_answer(host) {
            self.send_data(host);
        }
        self.look_for_stalls_of_host(host);
        let next = self.next_send(host);
        if next < NEVER {
            self.wake_host(host, next);
        }
    }

    /// The next time at which a host may be able to send by itself.
    fn next_send(&self, host: u32) -> Ticks {
        let state = &self.hosts[host as usize];
        if state.link_free <= self.now {
            // What could go by now waits for credits.
            let data = state.in_turn(0).map(|flow| self.ready(flow).max(state.bus_free));
            return data.filter(|&at| at > self.now).min().unwrap_or(NEVER);
        }
        if !state.answers.is_empty() {
            return state.link_free;
        }
        let soonest = state.link_free.max(state.bus_free);
        let mut first = NEVER;
        for flow in state.in_turn(0) {
            first = first.min(self.ready(flow));
            if first <= soonest {
                return soonest;
            }
        }
        first
    }

    /// When a flow may send its next packet as far as itself and its reaction point go.
    fn ready(&self, flow: u32) -> Ticks {
        let sender = &self.senders[flow as usize];
        let at = sender.ready.max(self.reactions.ready(sender.reaction));
        let may = at.max(self.now) < self.flows[flow as usize].end && self.has_window(flow);
        if may { at } else { NEVER }
    }

    /// Whether the window of a flow's reaction point, if it has one, has room for the next packet of the flow.
    #[inline]
    fn has_window(&self, flow: u32) -> bool {
        !self.reactions.have_windows()
            || self.reactions.has_room(
                self.senders[flow as usize].reaction,
                self.next_bytes(flow),
                self.fabric.mtu,
            )
    }

    /// Blocks of the packet that a flow would send at `at`, not in the future, if the credits were enough for it.
    pub(super) fn lacks_credits(&self, flow: u32, at: Ticks) -> Option<u32> {
        let (rules, sender) = (&self.flows[flow as usize], &self.senders[flow as usize]);
        let ready = sender.ready.max(self.reactions.ready(sender.reaction));
        let blocks = blocks(self.next_bytes(flow));
        let lacks =
            ready <= at && at < rules.end && blocks > self.credits[self.slot(rules.source, sender.lane)];
        (lacks && self.has_window(flow)).then_some(blocks)
    }

    /// Whether the link of a host is idle because a packet of a VL lacks credits.
    pub(super) fn is_host_stalled(&self, host: u32, lane: u8) -> bool {
        let state = &self.hosts[host as usize];
        let answer = self.acknowledgements().map_or(NOTIFICATION, |(_, bytes)| bytes);
        let lacks_for_answer = self.credits[self.slot(host, lane)] < blocks(answer);
        let lacks = |flow: u32| {
            self.senders[flow as usize].lane == lane && self.lacks_credits(flow, self.now).is_some()
        };
        let answers = lacks_for_answer && state.answers.iter().any(|answer| answer.lane == lane);
        let data = || state.bus_free <= self.now && state.in_turn(0).any(lacks);
        state.link_free <= self.now && (answers || data())
    }

    /// The first end of a flow of a host that lacks credits, if one of them has an end.
    pub(super) fn first_end_of_stalled(&self, host: u32) -> Option<Ticks> {
        let flows = self.hosts[host as usize].in_turn(0);
        let stalled = flows.filter(|&flow| self.lacks_credits(flow, self.now).is_some());
        stalled.map(|flow| self.flows[flow as usize].end).min().filter(|&end| end < NEVER)
    }

    /// The next packet of a flow that has something to send \[bytes\].
    fn next_bytes(&self, flow: u32) -> u32 {
        let pending = self.senders[flow as usize].pending.front();
        pending.map_or(0, |pending| pending.left.min(self.fabric.mtu.into()) as u32)
    }

    /// Sends the notification packet or acknowledgement that has waited longest, if one can go.
    fn send_answer(&mut self, host: u32) -> bool {
        let queue = &self.hosts[host as usize].answers;
        if queue.is_empty() {
            return false;
        }
        let bytes = self.acknowledgements().map_or(NOTIFICATION, |(_, bytes)| bytes);
        let has_credits = |answer: &Answer| self.credits[self.slot(host, answer.lane)] >= blocks(bytes);
        let Some(place) = queue.iter().position(has_credits) else { return false };
        let answers = &mut self.hosts[host as usize].answers;
        let Some(Answer { flow, number, lane, notifies, about, notes }) = answers.remove(place) else {
            return false;
        };
        let name = Sent { flow, number, bytes, is_notification: true };
        let mut packet = Packet::new(name, (self.flows[flow as usize].source, lane));
        packet.marked = notifies;
        let id = self.begin(host, packet, Cargo::Answers(about));
        if let Some(telemetry) = &mut self.telemetry {
            telemetry.put(id, notes);
        }
        true
    }

    /// After how many packets of a flow there is an acknowledgement, and its bytes, if packets are acknowledged.
    #[inline]
    fn acknowledgements(&self) -> Option<(u32, u32)> {
        match self.fabric.congestion.as_ref()?.notification {
            Notification::Packets { .. } => None,
            Notification::Acknowledgements { every, bytes } => Some((every, bytes)),
        }
    }

    fn send_data(&mut self, host: u32) {
        let state = &self.hosts[host as usize];
        if state.bus_free > self.now {
            return;
        }
        let mut found = [(0, 0); 16];
        let mut ready = 0u16;
        for lane in 0..self.fabric.lanes.count {
            let credits = self.credits[self.slot(host, lane)];
            let fits = |&flow: &u32| {
                self.senders[flow as usize].lane == lane
                    && self.ready(flow) <= self.now
                    && blocks(self.next_bytes(flow)) <= credits
            };
            if let Some(flow) = state.in_turn(state.next[usize::from(lane)]).find(fits) {
                found[usize::from(lane)] = (flow, blocks(self.next_bytes(flow)));
                ready |= 1 << lane;
            }
        }
        let chooser = &mut self.hosts[host as usize].chooser;
        if let Some(lane) = chooser.choose(&self.fabric.lanes, ready, |lane| found[usize::from(lane)].1) {
            self.send_packet(host, found[usize::from(lane)].0, lane);
        }
    }

    fn send_packet(&mut self, host: u32, flow: u32, lane: u8) {
        let now = self.now;
        let (bytes, rules) = (self.next_bytes(flow), self.flows[flow as usize]);
        let length = u64::from(bytes);
        let (name, is_last, ends) = self.take(flow, bytes);
        let sender = &mut self.senders[flow as usize];
        sender.ready = now + length * rules.byte;
        let (reaction, place) = (sender.reaction, sender.place);
        let state = &mut self.hosts[host as usize];
        state.next[usize::from(lane)] = place + 1;
        state.bus_free = now + length * self.fabric.host.injection;
        let on_link = length * self.fabric.ports[host as usize].byte;
        self.reactions.sent(reaction, now, (length, on_link));
        if let Some(ended) = ends.filter(|_| W::HEARS) {
            self.hosts[host as usize].leaving.push_back(ended.tag);
            self.events.push(Event { at: now + on_link, step: Step::Left, port: host, what: 0 });
        }
        let mut packet = Packet::new(name, (rules.destination, lane));
        packet.is_last = is_last;
        let mut cargo = Cargo::Data;
        match &mut self.failing {
            None => cargo = ends.map_or(Cargo::Data, Cargo::Ends),
            Some(failing) => failing.messages.sent(name, ends),
        }
        self.begin(host, packet, cargo);
    }

    /// Takes a packet out of what a flow has to send; whether something ends with it, and the message if it is one.
    fn take(&mut self, flow: u32, bytes: u32) -> (Sent, bool, Option<Ended>) {
        let sender = &mut self.senders[flow as usize];
        let name = Sent { flow, number: sender.sent, bytes, is_notification: false };
        sender.sent = sender.sent.wrapping_add(1);
        let Some(pending) = sender.pending.front_mut() else { return (name, true, None) };
        pending.left -= u64::from(bytes);
        if pending.left > 0 {
            return (name, false, None);
        }
        let ends = pending.ends;
        sender.pending.pop_front();
        if sender.pending.is_empty() {
            let active = &mut self.hosts[self.flows[flow as usize].source as usize].active;
            active.retain(|&place| place != sender.place);
        }
        (name, true, ends)
    }

    /// A packet begins to be sent; its number.
    fn begin(&mut self, host: u32, packet: Packet, cargo: Cargo) -> u32 {
        self.observer.sent(self.now, packet.name);
        let slot = self.slot(host, packet.lane);
        self.promise(slot, packet.blocks());
        self.hosts[host as usize].link_free =
            self.now + packet.bytes() * self.fabric.ports[host as usize].byte;
        let id = self.packets.insert(packet, Errand { sent: self.now, cargo });
        self.travel(host, id);
        id
    }

    /// The head of a packet is at its destination.
    pub(super) fn receive_head(&mut self, host: u32, id: u32) {
        let packet = self.packets.get(id);
        let is_awaited = self.marks_at(MarkPoint::Tail) || self.acknowledgements().is_some();
        if packet.name.is_notification || packet.marked || is_awaited {
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
        let &Packet { name, lane, marked, is_last, fate, .. } = self.packets.get(id);
        let Errand { sent, cargo } = self.packets.errand(id);
        if let Cargo::Answers(About { since, bytes }) = cargo {
            if fate == Fate::Whole {
                let notes = self.take_notes(id);
                let (round_trip, mtu) = (self.now - since, self.fabric.mtu);
                self.hear(host, name.flow, Echo { marked, round_trip, bytes, mtu, notes: &notes });
                self.give_back(notes);
            }
            self.deliver(host, id);
            return;
        }
        if fate == Fate::Spoiled {
            return;
        }
        let Some(control) = &self.fabric.congestion else { return };
        let notes = self.take_notes(id);
        let sender = &mut self.senders[name.flow as usize];
        let due = match control.notification {
            Notification::Packets { interval } => sender.notify(interval, self.now, marked),
            Notification::Acknowledgements { every, .. } => {
                sender.acknowledge(every, (marked, name.bytes.into()), is_last)
            }
        };
        let Some((notifies, bytes)) = due else { return self.give_back(notes) };
        let lane = control.answer_lane.unwrap_or(lane);
        let about = About { since: sent, bytes };
        let answer = Answer { flow: name.flow, number: sender.answers, lane, notifies, about, notes };
        sender.answers += 1;
        self.hosts[host as usize].answers.push_back(answer);
        self.wake_host(host, self.now);
    }

    /// A notification packet or an acknowledgement has come to the source of a flow.
    fn hear(&mut self, host: u32, flow: u32, echo: Echo<'_>) {
        let reaction = self.senders[flow as usize].reaction;
        if self.acknowledgements().is_some() {
            self.reactions.acknowledged(reaction, self.now, echo);
            if self.reactions.have_windows() {
                self.wake_host(host, self.now);
            }
        } else {
            self.reactions.notify(reaction, self.now);
        }
    }

    /// A packet has been taken out of the receive buffer.
    pub(super) fn deliver(&mut self, host: u32, id: u32) {
        let packet = self.packets.get(id);
        let (name, lane) = (packet.name, packet.lane);
        let ends = if self.failing.is_none() {
            let errand = self.packets.errand(id);
            self.observer.delivered(self.now, name, errand.sent, packet.marked);
            errand.ends()
        } else {
            self.take_in(id)
        };
        self.packets.remove(id);
        self.leave_buffer(host, lane, name.bytes);
        if let Some(Ended { tag, bytes, posted }) = ends {
            self.observer.message(self.now, name.flow, bytes, posted);
            if W::HEARS {
                self.workload.arrived(host, tag, self.now);
                self.act_soon(host, self.now);
            }
        }
    }
}
