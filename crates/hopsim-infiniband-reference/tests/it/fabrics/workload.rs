//! Random workloads: hosts that post messages at given times, and in answer to what they hear.

use hopsim_infiniband::time::{NEVER, Ticks};
use hopsim_infiniband::workload::{Message, Workload};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::VecDeque;

/// A message, and when it is posted.
type Timed = (Ticks, Message);

/// What one host does.
#[derive(Clone, Debug, Default)]
pub struct Role {
    /// Messages to be posted.
    pub agenda: Vec<Timed>,
    /// The messages that are posted one after the other, each so long after a message of the host has left.
    pub after_left: VecDeque<Timed>,
    /// The messages that are posted one after the other, each so long after a message for the host has arrived.
    pub after_arrived: VecDeque<Timed>,
    /// How long what is on the agenda for later is put off, whenever the host hears something.
    pub put_off: Ticks,
}

/// What all hosts do.
pub type Script = Vec<Role>;

/// What a workload heard, and when it acted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    Acts { host: u32, now: Ticks },
    Left { host: u32, tag: u64, now: Ticks },
    Arrived { host: u32, tag: u64, now: Ticks },
}

/// Hosts with roles, which write down what they hear.
pub struct Players<const HEARS: bool> {
    roles: Script,
    pub log: Vec<Heard>,
}

impl<const HEARS: bool> Players<HEARS> {
    pub fn new(roles: &Script) -> Self {
        Self { roles: roles.clone(), log: Vec::new() }
    }
}

impl Role {
    /// Something has been heard, and the next answer to it is to be posted.
    fn hears(&mut self, now: Ticks, answer: Option<Timed>) {
        self.agenda.iter_mut().filter(|(at, _)| *at > now).for_each(|(at, _)| *at += self.put_off);
        self.agenda.extend(answer.map(|(pause, message)| (now + pause, message)));
    }
}

/// The earliest time of an agenda.
fn next(agenda: &[Timed]) -> Ticks {
    agenda.iter().map(|&(at, _)| at).min().unwrap_or(NEVER)
}

impl<const HEARS: bool> Workload for Players<HEARS> {
    const HEARS: bool = HEARS;

    fn first(&mut self, host: u32) -> Ticks {
        next(&self.roles[host as usize].agenda)
    }

    fn act(&mut self, host: u32, now: Ticks, messages: &mut Vec<Message>) -> Ticks {
        self.log.push(Heard::Acts { host, now });
        let agenda = &mut self.roles[host as usize].agenda;
        messages.extend(agenda.extract_if(.., |&mut (at, _)| at <= now).map(|(_, message)| message));
        next(agenda)
    }

    fn left(&mut self, host: u32, tag: u64, now: Ticks) {
        self.log.push(Heard::Left { host, tag, now });
        let role = &mut self.roles[host as usize];
        let answer = role.after_left.pop_front();
        role.hears(now, answer);
    }

    fn arrived(&mut self, host: u32, tag: u64, now: Ticks) {
        self.log.push(Heard::Arrived { host, tag, now });
        let role = &mut self.roles[host as usize];
        let answer = role.after_arrived.pop_front();
        role.hears(now, answer);
    }
}

/// What the hosts of a fabric do.
pub fn script(hosts: u32, mtu: u32, has_messages: bool) -> BoxedStrategy<Script> {
    if !has_messages {
        return Just(vec![Role::default(); hosts as usize]).boxed();
    }
    let roles: Vec<_> = (0..hosts).map(|host| role(host, hosts, mtu)).collect();
    roles.prop_map(tagged).boxed()
}

/// Every message gets a name of its own.
fn tagged(mut roles: Script) -> Script {
    let all = roles.iter_mut().flat_map(|Role { agenda, after_left, after_arrived, .. }| {
        agenda.iter_mut().chain(after_left).chain(after_arrived)
    });
    (0..).zip(all).for_each(|(tag, (_, message))| message.tag = tag);
    roles
}

fn role(host: u32, hosts: u32, mtu: u32) -> impl Strategy<Value = Role> {
    let times = prop_oneof![2 => Just(0), 1 => Just(1000), 2 => 0..6000u64];
    let pauses = || prop_oneof![2 => Just(0), 1 => 1..300u64];
    let agenda = vec((times, message(host, hosts, mtu)), 0..=10);
    let answers = || vec((pauses(), message(host, hosts, mtu)), 0..=10).prop_map(VecDeque::from);
    let put_off = prop_oneof![1 => Just(0), 1 => 1..300u64];
    (agenda, answers(), answers(), put_off).prop_map(|(agenda, after_left, after_arrived, put_off)| Role {
        agenda,
        after_left,
        after_arrived,
        put_off,
    })
}

/// A message to another host, often to host 0 and with service level 3, so that several share a flow.
fn message(host: u32, hosts: u32, mtu: u32) -> impl Strategy<Value = Message> {
    let mtu = u64::from(mtu);
    let destination = (prop_oneof![2 => Just(0), 1 => 0..hosts], 1..hosts);
    let service_level = prop_oneof![2 => Just(3), 1 => 0..16u8];
    // Whole packets, packets and a rest, more than anybody can send.
    let whole = (1..=3u64).prop_map(move |packets| packets * mtu);
    let bytes = prop_oneof![100 => whole, 200 => 1..=3 * mtu, 1 => Just((1 << 32) + 10)];
    (destination, service_level, bytes).prop_map(move |((destination, other), service_level, bytes)| {
        let destination = if destination == host { (host + other) % hosts } else { destination };
        Message { destination, service_level, bytes, tag: 0 }
    })
}
