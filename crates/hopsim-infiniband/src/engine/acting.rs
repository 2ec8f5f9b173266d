//! What the workload does at the hosts.

use super::Simulation;
use super::events::{Event, Step};
use super::host::{Pending, Sender};
use super::packet::Ended;
use crate::flow::Flow;
use crate::observer::Observer;
use crate::time::{NEVER, Ticks};
use crate::workload::{Message, Workload};
use hopsim_memory::{push, reserve_entry};

impl<O: Observer, W: Workload> Simulation<'_, O, W> {
    /// A host of the workload acts at `at`, if it does not before.
    pub(super) fn act_soon(&mut self, host: u32, at: Ticks) {
        if at < self.acts[host as usize] {
            self.acts[host as usize] = at;
            self.events.push(Event { at, step: Step::Act, port: host, what: 0 });
        }
    }

    /// The last byte of a message has left a host.
    pub(super) fn message_left(&mut self, host: u32) {
        if let Some(tag) = self.hosts[host as usize].leaving.pop_front() {
            self.workload.left(host, tag, self.now);
            self.act_soon(host, self.now);
        }
    }

    /// A host of the workload acts: its messages join the queues of their flows.
    pub(super) fn act(&mut self, host: u32) {
        if self.acts[host as usize] > self.now {
            return;
        }
        self.acts[host as usize] = NEVER;
        let mut messages = std::mem::take(&mut self.messages);
        let next = self.workload.act(host, self.now, &mut messages);
        for message in messages.drain(..) {
            let flow = self.flow_of(host, &message);
            self.observer.posted(self.now, flow, message.bytes);
            let ends = Ended { tag: message.tag, bytes: message.bytes, posted: self.now };
            self.post(flow, Pending { left: message.bytes, ends: Some(ends) });
            self.wake_host(host, self.now);
        }
        self.messages = messages;
        if next < NEVER {
            self.act_soon(host, next);
        }
    }

    /// The flow that a message belongs to, a new one if it is the first.
    fn flow_of(&mut self, source: u32, message: &Message) -> u32 {
        let key = (source, message.destination, message.service_level);
        if let Some(&flow) = self.queue_pairs.get(&key) {
            return flow;
        }
        let Message { destination, service_level, .. } = *message;
        let flow =
            Flow { source, destination, start: self.now, end: NEVER, bytes: Some(0), byte: 0, service_level };
        let number = self.add_flow(flow, self.now);
        reserve_entry(&mut self.queue_pairs);
        self.queue_pairs.insert(key, number);
        self.observer.flow(number, &flow);
        number
    }

    /// Adds a flow that may begin at `ready`.
    pub(super) fn add_flow(&mut self, flow: Flow, ready: Ticks) -> u32 {
        let number = self.flows.len() as u32;
        let longest = u64::from(self.fabric.mtu) * self.fabric.ports[flow.source as usize].byte;
        let reaction = self.reactions.add(flow.source, flow.service_level, longest);
        let of_host = &mut self.hosts[flow.source as usize].flows;
        let place = of_host.len() as u32;
        of_host.push(number);
        push(&mut self.senders, Sender::new(&flow, ready, (reaction, place), &self.fabric.lanes));
        push(&mut self.flows, flow);
        number
    }
}
