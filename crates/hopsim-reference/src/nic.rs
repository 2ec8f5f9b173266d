//! Network interfaces: generation, source queue, replies, injection buffers and the wire to the router.

use crate::simulator::Simulator;
use crate::state::nic::{Sending, ahead, block, injection_vcs};
use crate::state::packet::{Memory, Packet, Phit, Role};
use crate::state::parts::Input;
use hopsim_cycles::choices::{InjectionVc, SelfTraffic, WhenFull};
use hopsim_cycles::jobs::TrafficPlan;
use hopsim_measure::trace::PacketTrace;
use hopsim_network::topology::faults::Retransmit;
use hopsim_traffic::pattern::Pattern;
use hopsim_traffic::process::Process;

/// The traffic of a node of a job in a cycle.
fn traffic(job: &TrafficPlan, node: usize, now: u32) -> (&Pattern, &Process) {
    let own = job.process_of(node as u32);
    match job.changes.iter().rev().find(|phase| phase.from <= now) {
        Some(phase) if job.processes.is_empty() => (&phase.pattern, &phase.process),
        Some(phase) => (&phase.pattern, own),
        None => (&job.pattern, own),
    }
}

impl Simulator<'_> {
    /// Runs one cycle of a node: change of load, replies and packets that waited, generation, admission, then the limit of the
    /// source queue. Replies of this cycle have joined their queue when their requests left the router.
    pub(crate) fn inject(&mut self, node: usize) {
        self.send_flits(node);
        self.take_back(node);
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
            if self.nics[node].given.is_some() {
                self.generate_given(node, job);
            }
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
        self.drop_excess(node);
    }

    /// Drops the packets of this cycle for which a source queue is too short. What is sent again is never dropped, and may make it longer.
    pub(crate) fn drop_excess(&mut self, node: usize) {
        let Self { nics, packets, now, plan, .. } = self;
        let queue = &mut nics[node].queue;
        let is_new = |packet: &Packet| packet.resendings == 0 && packet.trace.generated == *now;
        while queue.len() > plan.system.nic.source_queue as usize
            && queue.back().is_some_and(|&newest| is_new(&packets[newest]))
        {
            let newest = queue.pop_back().expect("it is longer than its limit");
            packets[newest].dropped = true;
        }
    }

    /// Lets packets come back that have been lost, to the front of the source queue: the one that was generated first before the others.
    fn take_back(&mut self, node: usize) {
        let nic = &mut self.nics[node];
        let (mut back, left): (Vec<usize>, Vec<usize>) =
            nic.lost.iter().partition(|&&packet| self.packets[packet].comes == Some(self.now));
        nic.lost = left;
        back.sort_by_key(|&packet| self.packets[packet].trace.serial);
        for packet in back.into_iter().rev() {
            nic.queue.push_front(packet);
        }
    }

    /// Runs one cycle of a chain with two states: outside a burst, or in the burst to a destination.
    fn generate_in_burst(&mut self, node: usize, job: &TrafficPlan) {
        let (pattern, process) = traffic(job, node, self.now);
        let nic = &mut self.nics[node];
        let (mut begins, mut sends) = (nic.burst.is_none() && nic.next == Some(self.now), false);
        if let Some(destination) = nic.burst.filter(|_| nic.last < self.now)
            && !nic.would_drop(self.plan, (node, destination), self.now)
        {
            let step = process.step(&mut nic.process);
            sends = !step.new_destination;
            begins = step.new_destination && step.gap == 1;
            if step.new_destination {
                nic.burst = None;
                nic.next = ahead(self.now, step.gap - 1);
            }
        }
        if begins {
            let destination = pattern.destination(node as u32, &mut nic.pattern);
            (nic.burst, nic.last, nic.next) = (Some(destination), self.now, None);
            sends = !nic.would_drop(self.plan, (node, destination), self.now);
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
        if nic.would_drop(self.plan, (node, destination), self.now) {
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

    /// Puts a packet of the pattern into the source queue, one to itself only if nodes send to themselves.
    pub(crate) fn generate(&mut self, node: usize, destination: u32, job: &TrafficPlan) {
        let sends_to_itself = self.plan.experiment.semantics.self_traffic == Some(SelfTraffic::Router);
        if destination as usize == node && !sends_to_itself {
            return;
        }
        let role = match (job.outstanding, self.plan.system.nic.injection_vc) {
            (None, _) => Role::OneWay,
            (_, InjectionVc::Destination) => {
                Role::Request(block(self.plan, node as u32, injection_vcs(self.plan, true).len()))
            }
            _ => Role::Request(0),
        };
        let length = self.nics[node].next_length();
        let packet = self.new_packet(node, destination, role, length);
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
        self.push_packet((trace, 0, None), length, role)
    }

    /// A packet that has been lost, and was injected in some cycle, will be sent again if that may still be: it goes back to its source.
    pub(crate) fn send_again(&mut self, packet: usize, injected: u32) -> bool {
        let Some(Retransmit { timeout, most }) = self.plan.system.nic.retransmit else { return false };
        let Packet { ref trace, resendings, length, role, .. } = self.packets[packet];
        if resendings == most {
            return false;
        }
        let trace = PacketTrace { hops: Vec::new(), ..trace.clone() };
        let source = trace.source as usize;
        let comes = self.now.max(injected.saturating_add(timeout));
        let again = self.push_packet((trace, resendings + 1, Some(comes)), length, role);
        self.nics[source].lost.push(again);
        for part in self.parcels.iter_mut().flat_map(|parcel| &mut parcel.packets) {
            if *part == packet {
                *part = again;
            }
        }
        true
    }

    fn push_packet(
        &mut self,
        (trace, resendings, comes): (PacketTrace, u32, Option<u32>),
        length: u32,
        role: Role,
    ) -> usize {
        self.packets.push(Packet {
            trace,
            resendings,
            comes,
            length,
            memory: Memory::default(),
            role,
            admitted: None,
            dropped: false,
            requested: None,
            passages: Vec::new(),
            flits: Vec::new(),
            absorbed: 0,
            lost: None,
            discarded: 0,
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
        self.lose_at_source(node);
        let nic = &mut self.nics[node];
        let free = |reply| (0..nic.free.len()).any(|vc| nic.wire_is_free(self.plan, (vc, self.now), reply));
        let (for_replies, for_others) = (free(true), free(false));
        let reply = if for_replies { nic.replies.pop_front() } else { None };
        let first = match reply {
            Some(reply) => reply,
            None if !for_others || !nic.replies.is_empty() => return false,
            None if nic.may_send(self.plan) => match nic.queue.front() {
                Some(&first) => first,
                None => return false,
            },
            None => return false,
        };
        let packet = &mut self.packets[first];
        let Some(vc) = nic.choose_vc(self.plan, packet, self.now) else {
            assert!(packet.role != Role::Reply, "a reply finds the space that was promised");
            return false;
        };
        if packet.role != Role::Reply {
            nic.queue.pop_front();
        }
        if matches!(packet.role, Role::Request(_)) {
            nic.unanswered += 1;
        }
        packet.admitted = Some((self.now, vc));
        let (length, reply) = (packet.length, packet.role == Role::Reply);
        let by_flits = nic.by_flits && !reply;
        nic.sending.push(Sending { packet: first, vc, sent: 0, by_flits });
        if by_flits {
            self.send_flits(node);
        } else {
            nic.free[vc] -= length;
        }
        true
    }

    /// Sends a flit by every wire of a node that has not carried one in this cycle and on which a flit waits that has room.
    pub(crate) fn send_flits(&mut self, node: usize) {
        for wire in 0..2 {
            let nic = &self.nics[node];
            let carries = nic.carried[wire] == Some(self.now);
            let Some(index) = nic.next_flit(self.plan, wire).filter(|_| !carries) else { continue };
            self.move_phit(node, index);
            let nic = &mut self.nics[node];
            let Sending { packet, vc, sent, .. } = nic.sending[index];
            nic.free[vc] -= 1;
            nic.carried[wire] = Some(self.now);
            if sent == self.packets[packet].length {
                nic.sending.remove(index);
            }
        }
    }

    /// Notes that a packet of `node` has been granted its way out of injection VC `vc`.
    pub(crate) fn leave_node(&mut self, node: usize, vc: usize, packet: usize) {
        let Packet { length, role, .. } = self.packets[packet];
        self.count_for_signal(node);
        let moves_flits = self.moves_flits();
        let nic = &mut self.nics[node];
        if !moves_flits {
            nic.free[vc] += length;
        }
        if role == Role::Reply {
            let kind = if nic.reply_space.len() > 1 { vc - injection_vcs(self.plan, true).start } else { 0 };
            let space = (kind, length);
            if moves_flits {
                nic.tails.push((packet, space));
            } else {
                nic.space_wire.push(self.now + 1, space);
            }
        }
    }

    /// A router tells a node of a flit that has left injection VC `vc`.
    pub(crate) fn tell_node(&mut self, node: usize, vc: usize, flit: (usize, u32)) {
        let (latency, length) =
            (self.plan.system.network.classes.terminal.latency, self.packets[flit.0].length);
        let nic = &mut self.nics[node];
        nic.credit_wire.push(self.now + latency, vc);
        if flit.1 + 1 == length
            && let Some(place) = nic.tails.iter().position(|tail| tail.0 == flit.0)
        {
            let (_, space) = nic.tails.remove(place);
            nic.space_wire.push(self.now + latency, space);
        }
    }

    /// Moves one phit of each packet that leaves the node and whose phits do not wait.
    pub(crate) fn send(&mut self, node: usize) {
        for index in 0..self.nics[node].sending.len() {
            if !self.nics[node].sending[index].by_flits {
                self.move_phit(node, index);
            }
        }
        self.nics[node].sending.retain(|s| s.by_flits || s.sent < self.packets[s.packet].length);
    }

    /// Moves the next phit of a packet that leaves the node.
    fn move_phit(&mut self, node: usize, index: usize) {
        let inputs = &mut self.routers[node / self.nodes_per_router].inputs;
        let packet = &mut self.nics[node].sending[index];
        // The last of the node's ports whose VCs do not begin behind this one.
        let here = |input: &&mut Input| input.node.is_some_and(|(n, first)| n == node && first <= packet.vc);
        let input = inputs.iter_mut().rfind(here).expect("every injection VC is somewhere");
        let first = input.node.map_or(0, |(_, first)| first);
        let phit = Phit { packet: packet.packet, index: packet.sent, vc: packet.vc - first };
        input.wire.push(self.now + input.latency, phit);
        packet.sent += 1;
    }
}
