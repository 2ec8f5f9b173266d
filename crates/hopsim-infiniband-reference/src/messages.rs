//! Messages of the workload: hosts act, messages join the queues of their flows, leave and arrive.

use crate::Fact;
use crate::host::Sender;
use crate::simulator::Reference;
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::time::{NEVER, Ticks};
use hopsim_infiniband::workload::{Message, Workload};

/// A message that a host has been given.
pub struct Posted {
    message: Message,
    flow: usize,
    at: Ticks,
    /// What of the message has been sent \[bytes\].
    sent: u64,
    /// The last packet of the message, when that has been sent.
    pub last: Option<usize>,
    /// The packets of the message that have been sent and have not arrived, lost ones among them.
    missing: Vec<usize>,
    /// Whether a packet of the message is lost.
    is_lost: bool,
}

impl Posted {
    /// What of the message is left to send \[bytes\].
    pub fn unsent(&self) -> u64 {
        self.message.bytes - self.sent
    }
}

impl<W: Workload> Reference<W> {
    /// Step 4, at its end: a packet has been delivered to a host. If all packets of its message have been, the message is there.
    pub fn message_arrives(&mut self, host: usize, packet: usize) {
        let Some(posted) = self.messages.iter_mut().find(|each| each.missing.contains(&packet)) else {
            return;
        };
        posted.missing.retain(|&other| other != packet);
        if posted.unsent() > 0 || !posted.missing.is_empty() {
            return;
        }
        let Posted { message: Message { bytes, tag, .. }, flow, at, .. } = *posted;
        self.facts.push(Fact::Message { at: self.now, flow: flow as u32, bytes, posted: at });
        if W::HEARS {
            self.workload.arrived(host as u32, tag, self.now);
            self.hosts[host].has_heard = true;
        }
    }

    /// A packet is lost, and with it the message that it is of, if that has not been lost before.
    pub fn message_is_lost(&mut self, packet: usize) {
        let (now, of_packet) = (self.now, |each: &&mut Posted| each.missing.contains(&packet));
        if let Some(posted) = self.messages.iter_mut().find(of_packet).filter(|each| !each.is_lost) {
            posted.is_lost = true;
            self.facts.push(Fact::MessageLost { at: now, flow: posted.flow as u32 });
        }
    }

    /// Step 7: the messages whose last packet is on the link with its last byte have left.
    pub fn messages_leave(&mut self) {
        if !W::HEARS {
            return;
        }
        for host in 0..self.hosts.len() {
            let leaves = |each: &&Posted| {
                let on_link = |packet: usize| self.packets[packet].started + self.time_on_link(host, packet);
                self.flows[each.flow].source == host as u32 && each.last.map(on_link) == Some(self.now)
            };
            let Some(tag) = self.messages.iter().find(leaves).map(|each| each.message.tag) else { continue };
            self.workload.left(host as u32, tag, self.now);
            self.hosts[host].has_heard = true;
        }
    }

    /// Step 8: the hosts act whose time has come or that have heard something.
    pub fn hosts_act(&mut self) {
        for host in 0..self.hosts.len() {
            if self.now != self.hosts[host].acts && !self.hosts[host].has_heard {
                continue;
            }
            let mut messages = Vec::new();
            self.hosts[host].acts = self.workload.act(host as u32, self.now, &mut messages);
            self.hosts[host].has_heard = false;
            for message in messages {
                let flow = self.flow_of(host, &message);
                let fact = Fact::Posted { at: self.now, flow: flow as u32, bytes: message.bytes };
                self.facts.push(fact);
                self.messages.push(Posted {
                    message,
                    flow,
                    at: self.now,
                    sent: 0,
                    last: None,
                    missing: Vec::new(),
                    is_lost: false,
                });
            }
        }
    }

    /// The flow of a message, which begins if there is none yet.
    fn flow_of(&mut self, host: usize, message: &Message) -> usize {
        let source = host as u32;
        let &Message { destination, service_level, .. } = message;
        let flow =
            Flow { source, destination, start: self.now, end: NEVER, bytes: None, byte: 0, service_level };
        let is_same = |other: &Flow| {
            (other.source, other.destination, other.service_level) == (source, destination, service_level)
        };
        let number = self.flows.len();
        (self.given..number).find(|&other| is_same(&self.flows[other])).unwrap_or_else(|| {
            self.flows.push(flow);
            self.senders.push(Sender::new(self.now));
            self.hosts[host].flows.push(number);
            self.reaction.add(&self.fabric, &flow);
            number
        })
    }

    /// The message of which a flow sends next.
    pub fn next_message(&self, flow: usize) -> Option<usize> {
        self.messages.iter().position(|each| each.flow == flow && each.unsent() > 0)
    }

    /// The packet that a flow sends now, the next one of all, takes bytes from its message.
    pub fn take_from_message(&mut self, flow: usize, bytes: u32) {
        let Some(message) = self.next_message(flow) else { return };
        let message = &mut self.messages[message];
        message.sent += u64::from(bytes);
        message.last = (message.unsent() == 0).then_some(self.packets.len());
        message.missing.push(self.packets.len());
    }
}
