//! The ideal network: every message takes the time that its length and a latency ask for, whatever else is under way.
//!
//! A packet of L phits keeps the wire of its node for L · c cycles; its head is at the other node after the latency, its last
//! phit L · c cycles later. So a message of M phits takes latency + M · c, as in `LogGP` (Alexandrov et al., SPAA 1995).

mod least;

pub use least::least_time;

use crate::host::rules::{Packets, Rules};
use crate::host::{Cycle, Host, Letter, Outgoing};
use crate::record::Rank;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How packets come in at a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ejection {
    /// Any number of packets at once.
    #[default]
    Unlimited,
    /// One packet after the other, in order of the cycles in which their heads are there, then of source, then of number.
    Serial,
}

/// The latency from node to node \[cycles, at least 1\].
pub enum Latency<'l> {
    /// One latency for all.
    Constant(Cycle),
    /// A latency for the ranks that send and receive.
    Pair(Box<dyn Fn(Rank, Rank) -> Cycle + Send + 'l>),
}

/// The ideal network.
pub struct Network<'l> {
    /// How long the head of a packet takes from node to node.
    pub latency: Latency<'l>,
    /// Cycles that a wire takes for a phit; 0: messages have no length.
    pub cycles_per_phit: u32,
    /// How packets come in at a node.
    pub ejection: Ejection,
}

/// Where a message is in its order at the receiver: when it is there, its source, its number.
type Due = (Cycle, Rank, u32);

/// Something that will be at a node.
struct Arrival<T> {
    due: Due,
    what: T,
}

// Heaps give the largest first: the earliest is meant.
impl<T> PartialEq for Arrival<T> {
    fn eq(&self, other: &Self) -> bool {
        self.due == other.due
    }
}

impl<T> Eq for Arrival<T> {}

impl<T> PartialOrd for Arrival<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Arrival<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.due.cmp(&self.due)
    }
}

/// A message whose next packet's head will be at a node.
struct Train {
    letter: Letter,
    packets: Packets,
    next: u64,
}

/// What a node has beside its host.
#[derive(Default)]
struct Port {
    /// First cycle in which the wire to the network is free.
    wire_free: Cycle,
    /// First cycle in which another message may begin.
    next_message: Cycle,
    /// Messages on their way to the node.
    messages: BinaryHeap<Arrival<Letter>>,
    /// Packets on their way to the node, if they come in one after the other.
    trains: BinaryHeap<Arrival<Train>>,
    /// First cycle in which the wire from the network is free.
    sink_free: Cycle,
    /// The cycle in which the node is on the agenda.
    booked: Cycle,
}

/// Why a run of programs does not end as it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Nothing is under way any more, and some rank is not done: the cycle in which the last thing happened.
    Stuck(Cycle),
    /// All ranks are done, and somebody has not received a message.
    Unmatched,
}

/// One program on an ideal network, rank i on node i.
pub struct Ideal<'l> {
    network: Network<'l>,
    hosts: Vec<Host>,
    ports: Vec<Port>,
    /// Which rank has something to do and when.
    agenda: BinaryHeap<Reverse<(Cycle, Rank)>>,
    now: Cycle,
}

impl<'l> Ideal<'l> {
    /// Programs that begin at cycle `start`; `hosts` by rank.
    pub fn new(network: Network<'l>, hosts: Vec<Host>, start: Cycle) -> Self {
        let ports = hosts.iter().map(|_| Port { booked: Cycle::MAX, ..Port::default() }).collect();
        let mut ideal = Self { network, ports, hosts, agenda: BinaryHeap::new(), now: start };
        for rank in 0..ideal.hosts.len() {
            ideal.hosts[rank].begin(start);
            ideal.act(rank);
        }
        ideal
    }

    /// The hosts, by rank.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// The hosts, by rank, to be kept when the run is over.
    pub fn into_hosts(self) -> Vec<Host> {
        self.hosts
    }

    /// The cycle in which the last thing happened.
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// When the next thing happens; never if nothing does.
    pub fn next_event(&self) -> Cycle {
        self.agenda.peek().map_or(Cycle::MAX, |Reverse((at, _))| *at)
    }

    /// Goes on up to cycle `end`, which is not simulated any more. Tells `watch` of every message with a payload that is there,
    /// and when. Returns whether anything is left to do.
    pub fn advance(&mut self, end: Cycle, mut watch: impl FnMut(&Letter, Cycle)) -> bool {
        while let Some(&Reverse((at, rank))) = self.agenda.peek() {
            if at >= end {
                return true;
            }
            self.agenda.pop();
            let rank = rank as usize;
            if self.ports[rank].booked == at {
                self.ports[rank].booked = Cycle::MAX;
                self.now = at;
                self.take_in(rank, &mut watch);
                self.act(rank);
            }
        }
        false
    }

    /// What a run to the end that left nothing to do amounts to.
    pub fn verdict(&self) -> Result<(), Failure> {
        if !self.hosts.iter().all(Host::is_done) {
            return Err(Failure::Stuck(self.now));
        }
        if self.hosts.iter().any(Host::has_untaken) { Err(Failure::Unmatched) } else { Ok(()) }
    }

    /// A node takes in what is there.
    fn take_in(&mut self, rank: usize, watch: &mut impl FnMut(&Letter, Cycle)) {
        let (now, port) = (self.now, &mut self.ports[rank]);
        while port.trains.peek().is_some_and(|train| train.due.0 <= now) {
            port.eject(self.network.cycles_per_phit);
        }
        while port.messages.peek().is_some_and(|arrival| arrival.due.0 <= now) {
            let Some(Arrival { what: letter, .. }) = port.messages.pop() else { break };
            if letter.has_payload() {
                watch(&letter, now);
            }
            self.hosts[rank].deliver(now, &letter, now);
        }
    }

    /// A host does what follows, and its messages set out.
    fn act(&mut self, rank: usize) {
        self.hosts[rank].run(self.now);
        while let Some(outgoing) = self.hosts[rank].queue().pop_front() {
            self.send(rank, &outgoing);
        }
        let (host, port) = (&self.hosts[rank], &self.ports[rank]);
        let message = port.messages.peek().map_or(Cycle::MAX, |arrival| arrival.due.0);
        let train = port.trains.peek().map_or(Cycle::MAX, |train| train.due.0);
        self.book(rank, host.next().min(message).min(train));
    }

    fn book(&mut self, rank: usize, at: Cycle) {
        if at < self.ports[rank].booked {
            self.ports[rank].booked = at;
            self.agenda.push(Reverse((at, rank as Rank)));
        }
    }

    /// Nothing keeps a message back but those before it, so all times are known when it joins the queue.
    fn send(&mut self, rank: usize, outgoing: &Outgoing) {
        let Network { cycles_per_phit, ejection, .. } = self.network;
        let rules: &Rules = self.hosts[rank].rules();
        let (packets, gap) = (rules.packets(outgoing.letter.payload()), rules.gap);
        let port = &mut self.ports[rank];
        let begin = outgoing.queued.max(port.wire_free).max(port.next_message);
        let length = packets.phits() * u64::from(cycles_per_phit);
        let length = Cycle::try_from(length).unwrap_or(Cycle::MAX);
        port.wire_free = begin.saturating_add(length);
        port.next_message = begin.saturating_add(gap);
        let left = port.wire_free;
        self.hosts[rank].will_leave(outgoing, left);
        let letter = outgoing.letter;
        let Letter { source, number, destination, .. } = letter;
        let other = destination as usize;
        let latency = match &self.network.latency {
            Latency::Constant(latency) => *latency,
            Latency::Pair(latency) => latency(source, destination),
        };
        match ejection {
            Ejection::Unlimited => {
                let there = left.saturating_add(latency);
                self.ports[other].messages.push(Arrival { due: (there, source, number), what: letter });
                self.book(other, there);
            }
            Ejection::Serial => {
                let head = begin.saturating_add(latency);
                let train = Train { letter, packets, next: 0 };
                self.ports[other].trains.push(Arrival { due: (head, source, number), what: train });
                self.book(other, head);
            }
        }
    }
}

impl Port {
    /// The packet whose head was here first comes in as soon as the one before it has.
    fn eject(&mut self, cycles_per_phit: u32) {
        let Some(Arrival { due: (head, source, number), what: mut train }) = self.trains.pop() else {
            return;
        };
        let time = train.packets.length_of(train.next) * cycles_per_phit;
        self.sink_free = self.sink_free.max(head).saturating_add(time);
        train.next += 1;
        if train.next < train.packets.count {
            self.trains.push(Arrival { due: (head.saturating_add(time), source, number), what: train });
        } else {
            self.messages.push(Arrival { due: (self.sink_free, source, number), what: train.letter });
        }
    }
}
