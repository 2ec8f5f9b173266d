//! Network interfaces, each by itself: streams, queues, injection buffers, and which of these takes a packet.

use super::delay::DelayLine;
use super::packet::{Packet, Role};
use crate::lengths;
use crate::listed::{self, Given};
use hopsim_cycles::choices::{InjectionLink, InjectionVc, VcReuse};
use hopsim_cycles::jobs::JobPlan;
use hopsim_cycles::system::RouterPlan;
use hopsim_experiment::plan::Plan;
use hopsim_network::topology::Topology;
use hopsim_random::{Purpose, Stream};
use hopsim_traffic::packet_lengths::Share;
use std::collections::VecDeque;
use std::ops::Range;

/// A packet on its way from a node to its router.
pub struct Sending {
    pub packet: usize,
    pub vc: usize,
    pub sent: u32,
    /// Whether flits wait for room one by one; otherwise there is room for all of the packet.
    pub by_flits: bool,
}

/// A node's network interface.
pub struct Nic {
    /// Number of the node's job; `None`: idle.
    pub job: Option<usize>,
    pub process: Stream,
    pub pattern: Stream,
    pub injection_vc: Stream,
    pub packet_length: Stream,
    /// Lengths of the packets that the node draws, with their weights.
    pub lengths: Vec<Share>,
    /// Packets that are given to the node and not generated yet; `None` if it draws them.
    pub given: Option<VecDeque<Given>>,
    /// Cycle of the next generation, or of the next burst.
    pub next: Option<u32>,
    /// Destination of the present burst; `None` between bursts.
    pub burst: Option<u32>,
    /// Destination of a packet that is due and waits for room.
    pub due: Option<u32>,
    /// Packets to send in the present synchronised burst.
    pub left: u32,
    /// Cycle of the last packet, or of the beginning of the burst.
    pub last: u32,
    pub generated: u32,
    /// Packets that wait for an injection buffer.
    pub queue: VecDeque<usize>,
    /// Packets that have been lost and will come back to the source queue.
    pub lost: Vec<usize>,
    /// Replies that wait for the wire; they go first.
    pub replies: VecDeque<usize>,
    /// Requests on their way whose reply has not come.
    pub unanswered: u32,
    /// Free phits of each injection VC.
    pub free: Vec<u32>,
    /// Space for replies that is neither taken nor promised: of each VC for replies if the requester fixes the VC, otherwise of
    /// all together.
    pub reply_space: Vec<u32>,
    /// Space that replies have left: which index of `reply_space`, and how much.
    pub space_wire: DelayLine<(usize, u32)>,
    /// The replies whose tails have left, of which the node has not been told: packet, and the space that it gives back.
    pub tails: Vec<(usize, (usize, u32))>,
    /// Injection VC whose turn it is, for requests and for replies.
    pub turn: [usize; 2],
    /// Packets whose phits are leaving; at most one on each serial wire, and one by flits besides.
    pub sending: Vec<Sending>,
    /// Injection VCs whose flits have left, until the node learns of it.
    pub credit_wire: DelayLine<usize>,
    /// Last cycle in which each wire carried a flit of a packet that is sent by flits.
    pub carried: [Option<u32>; 2],
    /// Whether the packets of the node set out when there is room for a flit.
    pub by_flits: bool,
    /// Room that an injection VC has when a packet sets out by it, by flits.
    pub least_room: u32,
}

/// The injection VCs for packets that set out in the direction of those from one node to another.
fn directed(plan: &Plan, from: u32, to: u32) -> Range<usize> {
    let vcs = plan.system.network.classes.terminal.vcs as usize;
    let Topology::Cube(cube) = &*plan.system.topology else { unreachable!("the plan refuses it") };
    let per_router = plan.system.topology.nodes_per_router();
    match cube.sets_out(from / per_router, to / per_router) {
        Some(true) => vcs / 2..vcs,
        Some(false) => 0..vcs / 2,
        None => 0..vcs,
    }
}

/// The wire to an injection VC: each has an equal part of the VCs, in order.
fn wire(plan: &Plan, vc: usize) -> usize {
    vc * plan.experiment.nic.injection_ports as usize / plan.system.network.classes.terminal.vcs as usize
}

/// The injection VCs for replies, or those for other packets.
pub fn injection_vcs(plan: &Plan, reply: bool) -> Range<usize> {
    let vcs = plan.system.network.classes.terminal.vcs as usize;
    match (plan.system.jobs.iter().any(JobPlan::request_reply), reply) {
        (false, _) => 0..vcs,
        (true, false) => 0..vcs / 2,
        (true, true) => vcs / 2..vcs,
    }
}

/// Which of `count` equal blocks of all nodes a node belongs to.
pub fn block(plan: &Plan, node: u32, count: usize) -> usize {
    node as usize * count / plan.system.network.nodes as usize
}

impl Nic {
    pub fn new(plan: &Plan, node: usize) -> Self {
        let stream = |purpose| Stream::new(plan.experiment.measure.seed, purpose, node as u64);
        let terminal = plan.system.network.classes.terminal;
        let job = Some(plan.system.job_of[node]).filter(|&job| job != u8::MAX).map(usize::from);
        let mut nic = Self {
            job,
            process: stream(Purpose::Process),
            pattern: stream(Purpose::Pattern),
            injection_vc: stream(Purpose::InjectionVc),
            packet_length: stream(Purpose::PacketLength),
            lengths: job.map_or_else(Vec::new, |job| lengths::of_job(plan, job)),
            given: job.and_then(|job| listed::of_node(plan, job, node)),
            next: None,
            burst: None,
            due: None,
            left: 0,
            last: 0,
            generated: 0,
            queue: VecDeque::new(),
            lost: Vec::new(),
            replies: VecDeque::new(),
            unanswered: 0,
            free: vec![terminal.buffer; terminal.vcs as usize],
            reply_space: Vec::new(),
            space_wire: DelayLine::new(),
            tails: Vec::new(),
            turn: [0, 0],
            sending: Vec::new(),
            credit_wire: DelayLine::new(),
            carried: [None; 2],
            least_room: 1,
            by_flits: match plan.system.router {
                RouterPlan::Cioq(_) => false,
                RouterPlan::VirtualChannel(router) => {
                    !router.whole_packets && job.is_some_and(|job| plan.system.jobs[job].traffic().is_some())
                }
            },
        };
        if let RouterPlan::VirtualChannel(router) = plan.system.router
            && router.vc_reuse == VcReuse::Credits
        {
            // The node knows that all flits of the packet before have left.
            nic.least_room = terminal.buffer;
        }
        if let Some(job) = job.and_then(|job| plan.system.jobs[job].traffic()) {
            let process = job.process_of(node as u32);
            let begins = job.sends(node as u32) && nic.given.is_none();
            nic.next = ahead(job.start, process.begin(&mut nic.process) - 1).filter(|_| begins);
            nic.left = process.synchronised().unwrap_or(0);
            // Packets of a job with replies have one length.
            let length = nic.lengths[0].length;
            let each = terminal.buffer / length * length;
            let vcs = injection_vcs(plan, true).len();
            nic.reply_space = match plan.system.nic.injection_vc {
                InjectionVc::Destination => vec![each; vcs],
                _ => vec![each * vcs as u32],
            };
        }
        nic
    }

    /// The next packet that is given to the node.
    pub fn next_given(&self) -> Option<Given> {
        self.given.as_ref()?.front().copied()
    }

    /// The length of the packet that the node generates next.
    pub fn next_length(&self) -> u32 {
        if let Some(given) = self.next_given() {
            return given.length;
        }
        lengths::drawn(&self.lengths, &self.packet_length, self.generated)
    }

    /// Lets space that replies left in the last cycle be promised again, and room that flits left be taken.
    pub fn receive(&mut self, now: u32) {
        while let Some(vc) = self.credit_wire.pop_due(now) {
            self.free[vc] += 1;
        }
        while let Some((kind, phits)) = self.space_wire.pop_due(now) {
            self.reply_space[kind] += phits;
        }
    }

    /// Whether there is nothing that could be injected.
    pub fn is_idle(&self, plan: &Plan) -> bool {
        let empty = self.free.iter().all(|&free| free == plan.system.network.classes.terminal.buffer);
        empty && self.queue.is_empty() && self.replies.is_empty()
    }

    /// The injection VC for a packet, `None` if the packet has to wait.
    pub fn choose_vc(&mut self, plan: &Plan, packet: &Packet, now: u32) -> Option<usize> {
        let reply = packet.role == Role::Reply;
        let vcs = injection_vcs(plan, reply);
        let takes = |&vc: &usize| self.takes(plan, (vc, now), (packet.length, reply));
        let room: Vec<usize> = vcs.clone().filter(takes).collect();
        match plan.system.nic.injection_vc {
            InjectionVc::Shortest => {
                let turn = &mut self.turn[usize::from(reply)];
                let most = room.iter().map(|&vc| self.free[vc]).max()?;
                let best: Vec<usize> = room.into_iter().filter(|&vc| self.free[vc] == most).collect();
                let chosen = *best.iter().find(|&vc| vc >= turn).or(best.first())?;
                *turn = chosen + 1;
                Some(chosen)
            }
            InjectionVc::RoundRobin => {
                let turn = &mut self.turn[usize::from(reply)];
                let chosen = *room.iter().find(|&vc| vc >= turn).or(room.first())?;
                *turn = chosen + 1;
                Some(chosen)
            }
            InjectionVc::Destination => {
                let vc = vcs.start + block(plan, packet.trace.destination, vcs.len());
                Some(vc).filter(|vc| room.contains(vc))
            }
            InjectionVc::Direction => {
                let vcs = directed(plan, packet.trace.source, packet.trace.destination);
                let half = room.into_iter().filter(|vc| vcs.contains(vc));
                half.min_by_key(|&vc| std::cmp::Reverse(self.free[vc]))
            }
            InjectionVc::Random if room.is_empty() => None,
            InjectionVc::Random => Some(room[self.injection_vc.below(room.len() as u32) as usize]),
        }
    }

    /// Whether the wire to an injection VC takes a packet in cycle `now`, a reply or another one: a reply passes a packet whose flits
    /// wait.
    pub fn wire_is_free(&self, plan: &Plan, (vc, now): (usize, u32), reply: bool) -> bool {
        let wire = |vc: usize| wire(plan, vc);
        let busy = |sending: &Sending| wire(sending.vc) == wire(vc) && !(sending.by_flits && reply);
        let carries = self.carried[wire(vc)] == Some(now);
        plan.system.nic.injection_link == InjectionLink::Unlimited
            || !carries && !self.sending.iter().any(busy)
    }

    /// How many flits of a packet must find room for it to set out.
    pub fn needs(&self, length: u32, reply: bool) -> u32 {
        if self.by_flits && !reply { self.least_room } else { length }
    }

    /// Whether an injection VC and the wire to it take a packet of some length in cycle `now`, a reply or another one.
    fn takes(&self, plan: &Plan, (vc, now): (usize, u32), (length, reply): (u32, bool)) -> bool {
        self.free[vc] >= self.needs(length, reply) && self.wire_is_free(plan, (vc, now), reply)
    }

    /// The packet, sent by flits, whose next flit a wire takes in cycle `now`.
    pub fn next_flit(&self, plan: &Plan, of: usize) -> Option<usize> {
        let on_wire = |sending: &&Sending| wire(plan, sending.vc) == of;
        let mut all = self.sending.iter().filter(on_wire);
        let is_taken = all.any(|sending| !sending.by_flits);
        let ready =
            |sending: &Sending| wire(plan, sending.vc) == of && sending.by_flits && self.free[sending.vc] > 0;
        self.sending.iter().position(ready).filter(|_| !is_taken)
    }

    /// Whether the job lets the node send one packet more.
    pub fn may_send(&self, plan: &Plan) -> bool {
        let limit = self.job.and_then(|job| plan.system.jobs[job].traffic()?.outstanding);
        limit.is_none_or(|limit| self.unanswered < limit)
    }

    /// Whether the next packet would be dropped if it were generated now, to `destination`.
    pub fn would_drop(&self, plan: &Plan, (node, destination): (usize, u32), now: u32) -> bool {
        let limit = plan.system.nic.source_queue as usize;
        if limit > 0 {
            return self.queue.len() >= limit;
        }
        let vcs = injection_vcs(plan, false);
        let mut candidates = match plan.system.nic.injection_vc {
            InjectionVc::Destination => {
                let vc = vcs.start + block(plan, destination, vcs.len());
                vc..vc + 1
            }
            InjectionVc::Direction => directed(plan, node as u32, destination),
            InjectionVc::Shortest | InjectionVc::RoundRobin | InjectionVc::Random => vcs,
        };
        // Without a queue what is sent again waits before the node all the same.
        let could_enter = candidates.any(|vc| self.takes(plan, (vc, now), (self.next_length(), false)));
        !(self.queue.is_empty() && could_enter && self.may_send(plan))
    }
}

/// The cycle that is `gap` after another one, `None` if it never comes.
pub fn ahead(from: u32, gap: u32) -> Option<u32> {
    if gap >= u32::MAX - 1 { None } else { from.checked_add(gap) }
}
