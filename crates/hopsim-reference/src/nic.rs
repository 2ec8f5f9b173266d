//! Network interfaces: generation, source queue, replies, injection buffers and the wire to the router.

use crate::parts::{DelayLine, Input, Packet, Phit, Role};
use crate::routing::Memory;
use crate::simulator::Simulator;
use hopsim_cycles::choices::{InjectionLink, InjectionVc, WhenFull};
use hopsim_cycles::jobs::{JobPlan, TrafficPlan};
use hopsim_experiment::plan::Plan;
use hopsim_measure::trace::PacketTrace;
use hopsim_network::topology::Topology;
use hopsim_random::{Purpose, Stream};
use hopsim_traffic::pattern::Pattern;
use hopsim_traffic::process::Process;
use std::collections::VecDeque;
use std::ops::Range;

/// A packet on its way from a node to its router.
pub struct Sending {
    pub packet: usize,
    pub vc: usize,
    pub sent: u32,
}

/// A node's network interface.
pub struct Nic {
    /// Number of the node's job; `None`: idle.
    job: Option<usize>,
    process: Stream,
    pattern: Stream,
    injection_vc: Stream,
    /// Cycle of the next generation, or of the next burst.
    next: Option<u32>,
    /// Destination of the present burst; `None` between bursts.
    burst: Option<u32>,
    /// Destination of a packet that is due and waits for room.
    due: Option<u32>,
    /// Packets to send in the present synchronised burst.
    left: u32,
    /// Cycle of the last packet, or of the beginning of the burst.
    last: u32,
    generated: u32,
    /// Packets that wait for an injection buffer.
    pub queue: VecDeque<usize>,
    /// Replies that wait for the wire; they go first.
    replies: VecDeque<usize>,
    /// Requests on their way whose reply has not come.
    unanswered: u32,
    /// Free phits of each injection VC.
    pub free: Vec<u32>,
    /// Space for replies that is neither taken nor promised: of each VC for replies if the requester fixes the VC, otherwise of
    /// all together.
    pub reply_space: Vec<u32>,
    /// Space that replies have left: which index of `reply_space`, and how much.
    space_wire: DelayLine<(usize, u32)>,
    /// Injection VC whose turn it is, for requests and for replies.
    turn: [usize; 2],
    /// Packets whose phits are leaving; at most one on each serial wire.
    pub sending: Vec<Sending>,
}

/// The traffic of a node of a job in a cycle.
fn traffic(job: &TrafficPlan, node: usize, now: u32) -> (&Pattern, &Process) {
    let own = job.process_of(node as u32);
    match job.changes.iter().rev().find(|phase| phase.from <= now) {
        Some(phase) if job.processes.is_empty() => (&phase.pattern, &phase.process),
        Some(phase) => (&phase.pattern, own),
        None => (&job.pattern, own),
    }
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
fn injection_vcs(plan: &Plan, reply: bool) -> Range<usize> {
    let vcs = plan.system.network.classes.terminal.vcs as usize;
    match (plan.system.jobs.iter().any(JobPlan::request_reply), reply) {
        (false, _) => 0..vcs,
        (true, false) => 0..vcs / 2,
        (true, true) => vcs / 2..vcs,
    }
}

/// Which of `count` equal blocks of all nodes a node belongs to.
fn block(plan: &Plan, node: u32, count: usize) -> usize {
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
            next: None,
            burst: None,
            due: None,
            left: 0,
            last: 0,
            generated: 0,
            queue: VecDeque::new(),
            replies: VecDeque::new(),
            unanswered: 0,
            free: vec![terminal.buffer; terminal.vcs as usize],
            reply_space: Vec::new(),
            space_wire: DelayLine::new(),
            turn: [0, 0],
            sending: Vec::new(),
        };
        if let Some(job) = job.and_then(|job| plan.system.jobs[job].traffic()) {
            let process = job.process_of(node as u32);
            nic.next =
                ahead(job.start, process.begin(&mut nic.process) - 1).filter(|_| job.sends(node as u32));
            nic.left = process.synchronised().unwrap_or(0);
            let each = terminal.buffer / job.packet_length * job.packet_length;
            let vcs = injection_vcs(plan, true).len();
            nic.reply_space = match plan.system.nic.injection_vc {
                InjectionVc::Destination => vec![each; vcs],
                InjectionVc::Shortest | InjectionVc::Random | InjectionVc::Direction => {
                    vec![each * vcs as u32]
                }
            };
        }
        nic
    }

    /// Lets space that replies left in the last cycle be promised again.
    pub fn receive(&mut self, now: u32) {
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
    fn choose_vc(&mut self, plan: &Plan, packet: &Packet) -> Option<usize> {
        let reply = packet.role == Role::Reply;
        let vcs = injection_vcs(plan, reply);
        let takes = |&vc: &usize| self.takes(plan, vc, packet.length);
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

    /// Whether the wire to an injection VC takes a packet.
    fn wire_is_free(&self, plan: &Plan, vc: usize) -> bool {
        let busy = |sending: &Sending| wire(plan, sending.vc) == wire(plan, vc);
        plan.system.nic.injection_link == InjectionLink::Unlimited || !self.sending.iter().any(busy)
    }

    /// Whether an injection VC and the wire to it take a packet.
    fn takes(&self, plan: &Plan, vc: usize, length: u32) -> bool {
        self.free[vc] >= length && self.wire_is_free(plan, vc)
    }

    /// Whether the job lets the node send one packet more.
    fn may_send(&self, plan: &Plan) -> bool {
        let limit = self.job.and_then(|job| plan.system.jobs[job].traffic()?.outstanding);
        limit.is_none_or(|limit| self.unanswered < limit)
    }

    /// Whether a packet to `destination` would be dropped if it were generated now.
    fn would_drop(&self, plan: &Plan, (node, destination): (usize, u32), length: u32) -> bool {
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
            InjectionVc::Shortest | InjectionVc::Random => vcs,
        };
        !(candidates.any(|vc| self.takes(plan, vc, length)) && self.may_send(plan))
    }
}

/// The cycle that is `gap` after another one, `None` if it never comes.
fn ahead(from: u32, gap: u32) -> Option<u32> {
    if gap >= u32::MAX - 1 { None } else { from.checked_add(gap) }
}

impl Simulator<'_> {
    /// Runs one cycle of a node: change of load, replies and packets that waited, generation, admission, then the limit of the
    /// source queue. Replies of this cycle have joined their queue when their requests left the router.
    pub(crate) fn inject(&mut self, node: usize) {
        if self.ranks[node].is_some() {
            return self.run_rank(node);
        }
        let nic = &mut self.nics[node];
        if let Some(job) = nic.job.and_then(|job| self.plan.system.jobs[job].traffic()) {
            let changed = job.changes.iter().any(|phase| phase.from == self.now && phase.new_load);
            if changed && nic.burst.is_none() && nic.due.is_none() {
                nic.next = ahead(self.now, traffic(job, node, self.now).1.begin(&mut nic.process) - 1);
            }
            while self.admit(node) {}
            let (pattern, process) = traffic(job, node, self.now);
            let waits = self.plan.system.nic.when_full == WhenFull::Wait || process.synchronised().is_some();
            if process.waits() {
                self.generate_in_burst(node, job);
            } else if waits && (self.nics[node].due.is_some() || !pattern.is_silent(node as u32)) {
                self.generate_when_room(node, job);
            } else if self.nics[node].next == Some(self.now) {
                self.generate_alone(node, job);
            }
            while self.admit(node) {}
        }
        let nic = &mut self.nics[node];
        while nic.queue.len() > self.plan.system.nic.source_queue as usize {
            let newest = nic.queue.pop_back().expect("it is longer than its limit");
            self.packets[newest].dropped = true;
        }
    }

    /// Runs one cycle of a chain with two states: outside a burst, or in the burst to a destination.
    fn generate_in_burst(&mut self, node: usize, job: &TrafficPlan) {
        let (pattern, process) = traffic(job, node, self.now);
        let nic = &mut self.nics[node];
        let (mut begins, mut sends) = (nic.burst.is_none() && nic.next == Some(self.now), false);
        if let Some(destination) = nic.burst.filter(|_| nic.last < self.now)
            && !nic.would_drop(self.plan, (node, destination), job.packet_length)
        {
            let step = process.step(&mut nic.process);
            sends = !step.fresh;
            begins = step.fresh && step.gap == 1;
            if step.fresh {
                nic.burst = None;
                nic.next = ahead(self.now, step.gap - 1);
            }
        }
        if begins {
            let destination = pattern.destination(node as u32, &mut nic.pattern);
            (nic.burst, nic.last, nic.next) = (Some(destination), self.now, None);
            sends = !nic.would_drop(self.plan, (node, destination), job.packet_length);
        }
        if let Some(destination) = nic.burst.filter(|_| sends) {
            nic.last = self.now;
            self.generate(node, destination, job);
        } else if nic.burst.is_some() {
            self.stood_still[node].push(self.now);
        }
    }

    /// Generates a packet that is due now, or has been for some time, as soon as it would not be dropped.
    fn generate_when_room(&mut self, node: usize, job: &TrafficPlan) {
        let (pattern, process) = traffic(job, node, self.now);
        let nic = &mut self.nics[node];
        if nic.due.is_none() && nic.next == Some(self.now) {
            nic.due = Some(pattern.destination(node as u32, &mut nic.pattern));
        }
        let Some(destination) = nic.due else { return };
        if nic.would_drop(self.plan, (node, destination), job.packet_length) {
            return self.stood_still[node].push(self.now);
        }
        let gap = process.step(&mut nic.process).gap;
        nic.left = nic.left.saturating_sub(1);
        let over = process.synchronised().is_some() && nic.left == 0;
        nic.next = if over || gap == u32::MAX { None } else { ahead(self.now, gap) };
        nic.due = None;
        self.generate(node, destination, job);
    }

    /// Notes that a packet of `source` has been consumed; after the last one of its synchronised burst the next one begins.
    pub(crate) fn finish_in_burst(&mut self, source: usize) {
        let Some(index) = self.nics[source].job else { return };
        let Some(job) = self.plan.system.jobs[index].traffic() else { return };
        let Some(packets) = job.process.synchronised() else { return };
        let senders: Vec<usize> =
            job.nodes.iter().filter(|&&node| job.sends(node)).map(|&node| node as usize).collect();
        self.consumed[index] += 1;
        if self.consumed[index] < u64::from(packets) * senders.len() as u64 {
            return;
        }
        self.consumed[index] = 0;
        for node in senders {
            (self.nics[node].left, self.nics[node].next) = (packets, Some(self.now + 1));
        }
    }

    /// Generates a packet that has nothing to do with the one before.
    fn generate_alone(&mut self, node: usize, job: &TrafficPlan) {
        let (pattern, process) = traffic(job, node, self.now);
        let nic = &mut self.nics[node];
        let destination = pattern.destination(node as u32, &mut nic.pattern);
        let gap = process.step(&mut nic.process).gap;
        nic.next = if gap == u32::MAX { None } else { ahead(self.now, gap) };
        self.generate(node, destination, job);
    }

    /// Puts a packet of the pattern into the source queue; no node sends to itself.
    fn generate(&mut self, node: usize, destination: u32, job: &TrafficPlan) {
        if destination as usize == node {
            return;
        }
        let role = match (job.outstanding, self.plan.system.nic.injection_vc) {
            (None, _) => Role::OneWay,
            (_, InjectionVc::Destination) => {
                Role::Request(block(self.plan, node as u32, injection_vcs(self.plan, true).len()))
            }
            (_, InjectionVc::Shortest | InjectionVc::Random | InjectionVc::Direction) => Role::Request(0),
        };
        let packet = self.new_packet(node, destination, role, job.packet_length);
        self.nics[node].queue.push_back(packet);
    }

    pub(crate) fn new_packet(&mut self, node: usize, destination: u32, role: Role, length: u32) -> usize {
        let nic = &mut self.nics[node];
        let trace = PacketTrace {
            source: node as u32,
            serial: nic.generated,
            destination,
            generated: self.now,
            hops: Vec::new(),
            delivered: None,
        };
        nic.generated += 1;
        self.packets.push(Packet {
            trace,
            length,
            memory: Memory::default(),
            role,
            admitted: None,
            dropped: false,
            requested: None,
            passages: Vec::new(),
            absorbed: 0,
        });
        self.packets.len() - 1
    }

    /// Notes that a packet begins to be absorbed by its destination node: a request is answered.
    pub(crate) fn consume(&mut self, packet: usize) {
        let Packet { length, role, ref trace, .. } = self.packets[packet];
        let (source, node, requested) = (trace.source, trace.destination as usize, trace.generated);
        match role {
            Role::OneWay => {}
            Role::Request(_) => {
                let reply = self.new_packet(node, source, Role::Reply, length);
                self.packets[reply].requested = Some(requested);
                self.nics[node].replies.push_back(reply);
            }
            Role::Reply => self.nics[node].unanswered -= 1,
        }
    }

    /// Lets the first reply, or else the first packet of the source queue, into an injection buffer; whether that was
    /// possible.
    pub(crate) fn admit(&mut self, node: usize) -> bool {
        let nic = &mut self.nics[node];
        if !(0..nic.free.len()).any(|vc| nic.wire_is_free(self.plan, vc)) {
            return false;
        }
        let first = match nic.replies.pop_front() {
            Some(reply) => reply,
            None if nic.may_send(self.plan) => match nic.queue.front() {
                Some(&first) => first,
                None => return false,
            },
            None => return false,
        };
        let packet = &mut self.packets[first];
        let Some(vc) = nic.choose_vc(self.plan, packet) else {
            assert!(packet.role != Role::Reply, "a reply finds the space that was promised");
            return false;
        };
        if packet.role != Role::Reply {
            nic.queue.pop_front();
        }
        if matches!(packet.role, Role::Request(_)) {
            nic.unanswered += 1;
        }
        nic.free[vc] -= packet.length;
        nic.sending.push(Sending { packet: first, vc, sent: 0 });
        packet.admitted = Some((self.now, vc));
        true
    }

    /// Notes that a packet of `node` has been granted its way out of injection VC `vc`.
    pub(crate) fn leave_node(&mut self, node: usize, vc: usize, packet: usize) {
        let Packet { length, role, .. } = self.packets[packet];
        self.count_for_signal(node);
        let nic = &mut self.nics[node];
        nic.free[vc] += length;
        if role == Role::Reply {
            let kind = if nic.reply_space.len() > 1 { vc - injection_vcs(self.plan, true).start } else { 0 };
            nic.space_wire.push(self.now + 1, (kind, length));
        }
    }

    /// Moves one phit of each packet that leaves the node.
    pub(crate) fn send(&mut self, node: usize) {
        let inputs = &mut self.routers[node / self.nodes_per_router].inputs;
        let sending = &mut self.nics[node].sending;
        for packet in sending.iter_mut() {
            // The last of the node's ports whose VCs do not begin behind this one.
            let here =
                |input: &&mut Input| input.node.is_some_and(|(n, first)| n == node && first <= packet.vc);
            let input = inputs.iter_mut().rfind(here).expect("every injection VC is somewhere");
            let first = input.node.map_or(0, |(_, first)| first);
            let phit = Phit { packet: packet.packet, index: packet.sent, vc: packet.vc - first };
            input.wire.push(self.now + input.latency, phit);
            packet.sent += 1;
        }
        sending.retain(|s| s.sent < self.packets[s.packet].length);
    }
}
