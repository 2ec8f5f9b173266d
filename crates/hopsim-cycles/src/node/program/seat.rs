//! A rank on its node: the host of the rank, and the message that is being sent.

use crate::kernel::ids::RegionNode;
use crate::kernel::message::Message;
use crate::kernel::packet::Waiting;
use crate::node::program::incoming::Inbox;
use hopsim_network::network::NONE;
use hopsim_programs::host::rules::Packets;
use hopsim_programs::host::state::HostState;
use hopsim_programs::host::{Host, Letter, Outgoing};
use hopsim_programs::job::ProgramPlan;
use hopsim_programs::record::Rank;
use hopsim_programs::standstill::RankState;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A message some of whose packets have not been admitted.
#[derive(Clone, Serialize, Deserialize)]
struct Sending {
    outgoing: Outgoing,
    packets: Packets,
    /// The next packet of the message to be admitted.
    next: u64,
}

/// A rank in a snapshot, without the messages on their way to it.
#[derive(Clone, Serialize, Deserialize)]
pub struct SeatState {
    host: HostState,
    wakes_at: u32,
    wire_free: u32,
    last_event: u32,
    has_begun: bool,
    sending: Option<Sending>,
    next_message: u32,
    serial: u32,
    admissions: VecDeque<u32>,
}

/// A rank with its node.
pub struct Seat {
    /// The job of the rank.
    pub job: u8,
    /// The node of the rank.
    pub node: RegionNode,
    /// The host that executes the program of the rank.
    pub host: Host,
    /// Messages on their way to the rank.
    pub inbox: Inbox,
    /// Messages that are there and that the host has not been told of, each with the cycle in which it was
    /// there.
    pub letters: Vec<(Letter, u32)>,
    /// When the seat is on the agenda; `u32::MAX`: it is not.
    pub wakes_at: u32,
    /// First cycle in which the wire of the node is free, if it has only one.
    pub wire_free: u32,
    /// Last cycle in which the seat had something to do.
    pub due_at: u32,
    /// Last cycle in which something happened to the program.
    pub last_event: u32,
    /// Whether the program goes on until all others are done -- constant.
    pub is_endless: bool,
    /// Whether another simulator drives the rank -- constant.
    pub is_external: bool,
    start: u32,
    has_begun: bool,
    sending: Option<Sending>,
    /// First cycle in which another message may begin.
    next_message: u32,
    /// Packets admitted so far.
    serial: u32,
    /// Cycles in which the last packets were admitted, as many as the network interface holds; empty if it holds any number.
    admissions: VecDeque<u32>,
}

impl Seat {
    /// The seat of a rank of a job before its program begins.
    pub fn new(job: u8, program: &ProgramPlan, rank: Rank, node: RegionNode) -> Self {
        Self {
            job,
            node,
            host: program.host(rank),
            inbox: Inbox::default(),
            letters: Vec::new(),
            wakes_at: program.start,
            wire_free: 0,
            due_at: u32::MAX,
            last_event: program.start,
            is_endless: program.is_endless,
            is_external: program.is_external(),
            start: program.start,
            has_begun: false,
            sending: None,
            next_message: 0,
            serial: 0,
            admissions: VecDeque::new(),
        }
    }

    /// The state of the seat between two cycles.
    pub fn save(&self) -> SeatState {
        let Self {
            job: _,
            node: _,
            host,
            inbox: _,
            // Hosts have been told of all that is there.
            letters: _,
            wakes_at,
            wire_free,
            due_at: _,
            last_event,
            is_endless: _,
            is_external: _,
            start: _,
            has_begun,
            sending,
            next_message,
            serial,
            admissions,
        } = self;
        SeatState {
            host: host.save(),
            wakes_at: *wakes_at,
            wire_free: *wire_free,
            last_event: *last_event,
            has_begun: *has_begun,
            sending: sending.clone(),
            next_message: *next_message,
            serial: *serial,
            admissions: admissions.clone(),
        }
    }

    /// Goes on with the state of a seat, before its program begins.
    pub fn load(&mut self, state: &SeatState) {
        let SeatState {
            host,
            wakes_at,
            wire_free,
            last_event,
            has_begun,
            sending,
            next_message,
            serial,
            admissions,
        } = state;
        self.host.load(host.clone());
        (self.wakes_at, self.wire_free, self.last_event) = (*wakes_at, *wire_free, *last_event);
        (self.has_begun, self.sending) = (*has_begun, sending.clone());
        (self.next_message, self.serial) = (*next_message, *serial);
        self.admissions.clone_from(admissions);
    }

    /// The host does what follows by cycle `now`.
    pub fn run(&mut self, now: u32) {
        if now < self.start {
            return;
        }
        if !self.has_begun {
            self.has_begun = true;
            self.host.begin(now);
        }
        self.host.run(now);
        self.last_event = now;
    }

    /// Whether the rank has nothing left to do. A rank without operations is done when the program begins, not before.
    pub fn is_done(&self) -> bool {
        self.has_begun && self.host.is_done()
    }

    /// When the seat has something to do though nothing happens to it.
    pub fn next(&self, now: u32) -> u32 {
        let own = if self.has_begun { self.host.next() } else { self.start };
        let gap = self.sending.is_none() && self.host.sends() && self.next_message > now;
        let wire = if self.sends() && self.wire_free > now { self.wire_free } else { u32::MAX };
        own.min(wire).min(if gap { self.next_message } else { u32::MAX })
    }

    /// Whether a message of the rank waits to be admitted.
    pub fn sends(&self) -> bool {
        self.sending.is_some() || self.host.sends()
    }

    /// Whether a message of the rank waits to be admitted that joined the queue before cycle `now`: what another simulator injects
    /// joins it in phase 4, like all others, though it is there from the beginning of the cycle.
    pub fn sent_before(&self, now: u32) -> bool {
        self.sending.is_some() || self.host.sent_before(now)
    }

    /// Whether something of the program is under way: then the rank is not stuck.
    pub fn is_busy(&self) -> bool {
        !self.has_begun || self.sends() || self.inbox.is_awaiting() || self.host.next() < u32::MAX
    }

    /// The rank, to be looked at.
    pub fn state(&self) -> RankState<'_> {
        let queued = self.host.waiting().map(|outgoing| outgoing.letter);
        RankState {
            job: self.job,
            is_busy: self.is_busy(),
            last_event: self.last_event,
            under_way: queued.chain(self.inbox.letters()).collect(),
            lost: self.inbox.lost().collect(),
            host: &self.host,
        }
    }

    /// Messages for other ranks some packet of which has still to be admitted.
    pub fn messages_left(&self) -> usize {
        self.host.waiting().len() + usize::from(self.sending.is_some())
    }

    /// The packet that the rank would admit in cycle `now`; `nodes` has the node of every rank.
    pub fn next_packet(&mut self, now: u32, nodes: &[u32]) -> Option<Waiting> {
        let (outgoing, packets, index) = match &self.sending {
            Some(sending) => (sending.outgoing, sending.packets, sending.next),
            None if now < self.next_message => return None,
            None => {
                let outgoing = *self.host.queue().front()?;
                (outgoing, self.host.rules().packets(outgoing.letter.payload()), 0)
            }
        };
        Some(Waiting {
            next: NONE,
            destination: nodes[outgoing.letter.destination as usize],
            length: packets.length_of(index),
            generated: outgoing.queued.max(self.last_entry()),
            serial: self.serial,
            arrived: 0,
            requested: NONE,
        })
    }

    /// The packet has been admitted in cycle `now`, and its last phit leaves `time` cycles later. Returns its message if it is
    /// the first packet of that message; `own` is the node of the rank.
    pub fn admitted(&mut self, now: u32, time: u32, own: u32, nodes: &[u32]) -> Option<Message> {
        let first = if self.sending.is_none() { self.begin_message(now, own, nodes) } else { None };
        self.serial = self.serial.wrapping_add(1);
        self.leave_interface(now);
        let sending = self.sending.as_mut()?;
        sending.next += 1;
        if sending.next == sending.packets.count {
            self.host.will_leave(&sending.outgoing, now + time);
            self.sending = None;
        }
        first
    }

    /// The first cycle in which the next packet could enter the network interface, 0 if it has always had room: a packet enters when the
    /// one leaves that is ahead of it by as many as the interface holds.
    fn last_entry(&self) -> u32 {
        let is_full = self.admissions.len() == self.host.rules().nic_queue;
        if is_full { self.admissions.front().copied().unwrap_or(0) } else { 0 }
    }

    /// A packet has left the network interface.
    fn leave_interface(&mut self, now: u32) {
        let most = self.host.rules().nic_queue;
        if most < usize::MAX {
            if self.admissions.len() == most {
                self.admissions.pop_front();
            }
            self.admissions.push_back(now);
        }
    }

    fn begin_message(&mut self, now: u32, own: u32, nodes: &[u32]) -> Option<Message> {
        let outgoing = self.host.queue().pop_front()?;
        let packets = self.host.rules().packets(outgoing.letter.payload());
        self.next_message = now.saturating_add(self.host.rules().gap);
        self.sending = Some(Sending { outgoing, packets, next: 0 });
        Some(Message {
            to: nodes[outgoing.letter.destination as usize],
            from: own,
            first: self.serial,
            packets: packets.count as u32,
            letter: outgoing.letter,
        })
    }
}
