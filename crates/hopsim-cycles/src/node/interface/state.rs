//! Network interfaces in a snapshot.

use crate::kernel::ids::{Id as _, RegionNode};
use crate::kernel::packet::Waiting;
use crate::kernel::pool::{Pool, Queue};
use crate::node::interface::again::NodeLosses;
use crate::node::interface::flits::FlitWiresState;
use crate::node::interface::{Answers, Buffer, Interfaces, Nic};
use hopsim_random::Stream;
use serde::{Deserialize, Serialize};

/// The state of a network interface.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InterfaceState {
    queue: Vec<Waiting>,
    wire_free: [u32; 2],
    woken_at: [u32; 2],
    pointer: u8,
    /// Occupied phits, and packets behind the head, by injection VC.
    buffers: Vec<(u32, Vec<Waiting>)>,
    /// The stream of the random injection VC policy.
    vc_stream: Option<Stream>,
    answers: Option<AnswersState>,
    /// The flits that the node sends, where routers take flits.
    flits: Option<FlitWiresState>,
    /// What has been lost of the packets of the node, where nodes send that again.
    losses: Option<NodeLosses>,
}

/// What an interface remembers besides in runs with everything.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct AnswersState {
    awaits_room: bool,
    reply_pointer: u8,
    replies: Vec<Waiting>,
    unanswered: u32,
}

impl InterfaceState {
    /// Takes those packets away that are behind the head of an injection VC and of which `leaves` says so: their room is free.
    pub fn take_behind(&mut self, vc: usize, leaves: impl Fn(&Waiting) -> bool) -> Vec<Waiting> {
        let (used, behind) = &mut self.buffers[vc];
        let (taken, left): (Vec<_>, Vec<_>) = std::mem::take(behind).into_iter().partition(leaves);
        *behind = left;
        *used -= taken.iter().map(|packet| packet.length).sum::<u32>();
        taken
    }

    /// Flits that wait for room of the packet that is entering injection VC `vc`, if there is one.
    pub fn unsent(&mut self, vc: usize) -> u32 {
        self.flits.as_mut().and_then(|flits| flits.unsent(vc)).map_or(0, |flits| u32::from(*flits))
    }

    /// Of a packet in injection VC `vc` so many flits are gone that have been sent, and their room is free. If it is the packet that is
    /// entering the VC, the others will not be sent.
    pub fn lose_flits(&mut self, vc: usize, flits: u32, is_entering: bool) {
        self.buffers[vc].0 -= flits;
        if let Some(unsent) = self.flits.as_mut().filter(|_| is_entering).and_then(|flits| flits.unsent(vc)) {
            *unsent = 0;
        }
    }

    /// A packet is lost in the network, which comes back in cycle `at` unless it has been sent again `most` times. Returns whether it does.
    pub fn lose(&mut self, packet: Waiting, at: u32, most: u32) -> bool {
        self.losses.get_or_insert_default().lose(packet, at, most)
    }

    /// The head of an injection VC, of a packet of `length` phits, is gone, and its room free. Takes the packet behind it, if there is one.
    pub fn take_next(&mut self, vc: usize, length: u32) -> Option<Waiting> {
        let (used, behind) = &mut self.buffers[vc];
        *used -= length;
        (!behind.is_empty()).then(|| behind.remove(0))
    }
}

impl Interfaces {
    /// The state of the interface of a node in cycle `now`.
    pub fn save(&self, node: RegionNode, now: u32) -> InterfaceState {
        let Self {
            nics,
            answers,
            waiting,
            // Who is woken when follows from the nodes, and nobody gains room between two cycles.
            wires: _,
            freed: _,
            buffers,
            doors: _,
            vc_streams,
            flits,
            again,
            policy: _,
            count_at_buffer: _,
            serial_wire: _,
            ports: _,
            source_queue: _,
            size: _,
            latency: _,
            vcs,
            one_way: _,
            first_reply_vc: _,
            topology: _,
            apart: _,
            first_node: _,
            in_network: _,
            per_router: _,
        } = self;
        let Nic { queue, queued: _, wire_free, woken_at, job: _, pointer } = &nics[node];
        let buffer = |Buffer { behind, used }: &Buffer| (*used, behind.records(waiting));
        InterfaceState {
            queue: queue.records(waiting),
            wire_free: *wire_free,
            woken_at: *woken_at,
            pointer: *pointer,
            buffers: buffers[node.index() * vcs..][..*vcs].iter().map(buffer).collect(),
            vc_stream: vc_streams.get(node).cloned(),
            answers: answers.get(node).map(|answers| answers.save(waiting)),
            flits: flits.as_ref().map(|flits| flits.save(node, now)),
            losses: again.save(node),
        }
    }

    /// Goes on with the state of the interface of a node in cycle `now`.
    pub fn load(&mut self, node: RegionNode, state: &InterfaceState, now: u32) {
        let InterfaceState {
            queue,
            wire_free,
            woken_at,
            pointer,
            buffers,
            vc_stream,
            answers,
            flits,
            losses,
        } = state;
        let waiting = &mut self.waiting;
        let nic = &mut self.nics[node];
        (nic.queue, nic.queued) = (Queue::of(waiting, queue.iter().copied()), queue.len() as u32);
        (nic.wire_free, nic.woken_at, nic.pointer) = (*wire_free, *woken_at, *pointer);
        // The first packet of the queue may have no way any more, or find room that lost flits have left.
        if self.apart.is_some() || self.flits.is_some() {
            self.freed.push(node);
        }
        // 0 is before the first wake-up.
        for &at in woken_at.iter().filter(|&&at| at >= now.max(1)) {
            self.wires.push(at, node);
        }
        for (vc, (used, behind)) in buffers.iter().enumerate() {
            let behind = Queue::of(waiting, behind.iter().copied());
            self.buffers[node.index() * self.vcs + vc] = Buffer { behind, used: *used };
        }
        if let (Some(own), Some(stream)) = (self.vc_streams.get_mut(node), vc_stream) {
            *own = stream.clone();
        }
        if let (Some(own), Some(answers)) = (self.answers.get_mut(node), answers) {
            own.load(waiting, answers);
        }
        if let (Some(own), Some(flits)) = (&mut self.flits, flits) {
            own.load(node, flits);
        }
        if let Some(losses) = losses {
            self.again.load(node, losses);
        }
    }
}

impl Answers {
    fn save(&self, waiting: &Pool<Waiting>) -> AnswersState {
        let Self { awaits_room, reply_pointer, replies, unanswered, limit: _ } = self;
        AnswersState {
            awaits_room: *awaits_room,
            reply_pointer: *reply_pointer,
            replies: replies.records(waiting),
            unanswered: *unanswered,
        }
    }

    fn load(&mut self, waiting: &mut Pool<Waiting>, state: &AnswersState) {
        let AnswersState { awaits_room, reply_pointer, replies, unanswered } = state;
        (self.awaits_room, self.reply_pointer, self.unanswered) = (*awaits_room, *reply_pointer, *unanswered);
        self.replies = Queue::of(waiting, replies.iter().copied());
    }
}
