//! How packets move from the source queue into the injection buffers, and from there to the router.

use crate::choices::InjectionVc;
use crate::kernel::Kernel;
use crate::kernel::ids::{Id as _, RegionNode, Terminal};
use crate::kernel::packet::Waiting;
use crate::kernel::wires::{Arrival, Credit};
use crate::mode::Mode;
use crate::node::interface::Interfaces;
use crate::observer::{Load, Observer as _};
use hopsim_network::network::NONE;

impl Interfaces {
    /// Takes a packet that `node` generates now: into an injection buffer, the source queue, or nowhere if that queue is full.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn offer<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, node: RegionNode, packet: Waiting) {
        let nic = &self.nics[node];
        let (first, full) = (nic.queue.is_empty(), nic.queued >= self.source_queue);
        if first && self.is_cut_off(node, packet.destination) {
            return kernel.worker.observer.lost(self.nics[node].job, kernel.now);
        }
        if first
            && self.may_send::<M>(kernel.now, node, false)
            && let Some(vc) = self.admission::<M>(kernel.now, node, packet.candidate())
        {
            return self.enter_buffer(kernel, node, vc, packet);
        }
        if full {
            return kernel.worker.observer.dropped(self.nics[node].job);
        }
        self.enqueue(node, packet);
    }

    /// Takes a packet of `node` into an injection buffer in this cycle. If wire or room do not allow it the node is woken when
    /// this can change.
    pub fn inject<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, node: RegionNode, packet: Waiting) -> bool {
        let vc = if self.may_send::<M>(kernel.now, node, false) {
            self.admission::<M>(kernel.now, node, packet.candidate())
        } else {
            None
        };
        self.answers[node].awaits_room = vc.is_none();
        if let Some(vc) = vc {
            self.enter_buffer(kernel, node, vc, packet);
        }
        vc.is_some()
    }

    /// The packet joins the source queue of `node`.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn enqueue(&mut self, node: RegionNode, packet: Waiting) {
        let index = self.waiting.insert(packet);
        let nic = &mut self.nics[node];
        nic.queue.push(&mut self.waiting, index);
        nic.queued += 1;
    }

    /// A reply of `node`, whose space in the injection buffers is reserved, waits for the wire.
    pub fn enqueue_reply(&mut self, node: RegionNode, packet: Waiting) {
        let index = self.waiting.insert(packet);
        self.answers[node].replies.push(&mut self.waiting, index);
    }

    /// Moves packets of the source queue of `node` into injection buffers as far as wire and room allow.
    pub fn drain<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, node: RegionNode) {
        while self.send_next(kernel, node, false) {}
    }

    /// Moves packets of the source queue of `node`, if there are any, as [`Self::drain`] does. Returns whether none is left.
    #[inline]
    pub fn empties_queue<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, node: RegionNode) -> bool {
        if !self.nics[node].queue.is_empty() {
            self.drain(kernel, node);
        }
        self.nics[node].queue.is_empty()
    }

    /// Moves the replies of `node` into injection buffers. Their space there is reserved: replies wait for the wire alone.
    pub fn drain_replies<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, node: RegionNode) {
        while self.send_next(kernel, node, true) {}
    }

    /// Moves the first packet of the source queue of `node`, or its first reply, into an injection buffer. Returns whether there
    /// was one that could move.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn send_next<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, node: RegionNode, reply: bool) -> bool {
        let index = if reply { self.answers[node].replies.front } else { self.nics[node].queue.front };
        if index == NONE {
            return false;
        }
        if !reply && self.is_cut_off(node, self.waiting.get(index).destination) {
            self.lose_first(kernel, node);
            return true;
        }
        if !self.may_send::<M>(kernel.now, node, reply) {
            return false;
        }
        let packet = self.waiting.get(index).candidate();
        let Some(vc) = self.admission::<M>(kernel.now, node, packet) else { return false };
        if reply {
            self.answers[node].replies.pop(&self.waiting);
        } else {
            let nic = &mut self.nics[node];
            nic.queue.pop(&self.waiting);
            nic.queued -= 1;
        }
        self.move_to_buffer(kernel, node, vc, index);
        true
    }

    /// Whether there is no way from a node to a destination.
    #[inline]
    fn is_cut_off(&self, node: RegionNode, destination: u32) -> bool {
        self.apart.is_some() && self.is_out_of_reach(node, destination)
    }

    // Out of line, as mostly all nodes reach each other.
    #[cold]
    #[inline(never)]
    fn is_out_of_reach(&self, node: RegionNode, destination: u32) -> bool {
        let source = self.first_node + node.index() as u32;
        let [from, to] = [source, destination].map(|node| node / self.per_router);
        self.apart.as_ref().is_some_and(|topology| !topology.reaches(from, to))
    }

    /// The first packet of the source queue of `node` is lost.
    #[cold]
    fn lose_first<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, node: RegionNode) {
        let nic = &mut self.nics[node];
        let first = nic.queue.pop(&self.waiting);
        nic.queued -= 1;
        kernel.worker.observer.lost(nic.job, kernel.now);
        self.waiting.remove(first);
    }

    /// Counts the packets behind the heads of the injection VCs for the time that they have waited there by the end of the run.
    pub fn count_held<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>) {
        for (index, buffer) in self.buffers.iter().enumerate() {
            let (node, vc) = (RegionNode::at(index / self.vcs), index % self.vcs);
            let slot = self.doors.injection(self.terminal(node), vc);
            for packet in buffer.behind.iter(&self.waiting) {
                let Waiting { length, arrived, .. } = *self.waiting.get(packet);
                kernel.worker.observer.held(&mut kernel.places, slot, length, arrived);
            }
        }
    }

    /// The terminal port that a node hangs from.
    #[inline]
    pub(super) fn terminal(&self, node: RegionNode) -> Terminal {
        Terminal::of(node, self.per_router)
    }

    /// Whether packets count as injected when they enter a buffer.
    #[inline]
    pub(super) fn counts_at_buffer<M: Mode>(&self) -> bool {
        !M::DEFAULT && self.count_at_buffer
    }

    /// A packet of `length` phits counts as injected by `node` through VC `vc`.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub(super) fn count_injected<M: Mode>(
        &mut self,
        kernel: &mut Kernel<'_, M>,
        node: RegionNode,
        vc: usize,
        length: u32,
    ) {
        let job = self.nics[node].job;
        if M::FULL && vc >= self.first_reply_vc {
            kernel.worker.observer.injected_reply(Load { job, length });
        } else {
            kernel.worker.observer.injected(&mut kernel.places, node, Load { job, length });
        }
    }

    /// A new packet enters injection VC `vc` of `node`.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn enter_buffer<M: Mode>(
        &mut self,
        kernel: &mut Kernel<'_, M>,
        node: RegionNode,
        vc: usize,
        mut packet: Waiting,
    ) {
        packet.arrived = kernel.now + self.latency;
        if M::FULL && self.flits.is_some() {
            self.begin_flits(kernel, (node, vc), &packet);
        } else if self.take_room(kernel, node, vc, packet.length) {
            self.send_head(kernel, node, vc, &packet);
        } else {
            let index = self.waiting.insert(packet);
            self.buffers[node.index() * self.vcs + vc].behind.push(&mut self.waiting, index);
        }
    }

    /// A packet that has waited enters injection VC `vc` of `node`.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn move_to_buffer<M: Mode>(
        &mut self,
        kernel: &mut Kernel<'_, M>,
        node: RegionNode,
        vc: usize,
        index: u32,
    ) {
        let arrived = kernel.now + self.latency;
        if M::FULL && self.flits.is_some() {
            let packet = Waiting { arrived, ..*self.waiting.get(index) };
            self.waiting.remove(index);
            self.begin_flits(kernel, (node, vc), &packet);
        } else if self.take_room(kernel, node, vc, self.waiting.get(index).length) {
            let packet = Waiting { arrived, ..*self.waiting.get(index) };
            self.waiting.remove(index);
            self.send_head(kernel, node, vc, &packet);
        } else {
            self.waiting.get_mut(index).arrived = arrived;
            self.buffers[node.index() * self.vcs + vc].behind.push(&mut self.waiting, index);
        }
    }

    /// Takes room for a packet of `length` phits in injection VC `vc` of `node`. Returns whether the packet is the only one
    /// there: behind a head in place or on its way it is fetched when its turn comes.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn take_room<M: Mode>(
        &mut self,
        kernel: &mut Kernel<'_, M>,
        node: RegionNode,
        vc: usize,
        length: u32,
    ) -> bool {
        if self.counts_at_buffer::<M>() {
            self.count_injected(kernel, node, vc, length);
        }
        let buffer = &mut self.buffers[node.index() * self.vcs + vc];
        let empty = buffer.used == 0;
        buffer.used += length;
        empty
    }

    /// Books the arrival of a packet that is to be the head of its injection VC.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    fn send_head<M: Mode>(
        &mut self,
        kernel: &mut Kernel<'_, M>,
        node: RegionNode,
        vc: usize,
        packet: &Waiting,
    ) {
        let slot = self.doors.injection(self.terminal(node), vc);
        let at = packet.arrived + kernel.constants.pipeline;
        let packet = self.insert_packet(kernel, node, packet);
        kernel.arrivals.push(at, Arrival { slot, packet });
    }

    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub(super) fn insert_packet<M: Mode>(
        &mut self,
        kernel: &mut Kernel<'_, M>,
        node: RegionNode,
        packet: &Waiting,
    ) -> u32 {
        let (job, source) = (self.nics[node].job, kernel.span.node(node));
        let vc = self.ejection_vc(kernel, job, source, packet.requested);
        kernel.packets.insert(packet.enter(kernel.constants.system, self.per_router, (source, job), vc))
    }

    /// The head of an injection VC, of a packet of `length` phits, has been granted: it counts as injected, unless it has been counted
    /// when it entered its buffer.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn count_granted<M: Mode>(
        &mut self,
        kernel: &mut Kernel<'_, M>,
        terminal: Terminal,
        vc: usize,
        length: u32,
    ) {
        if !self.counts_at_buffer::<M>() {
            self.count_injected(kernel, terminal.node(self.per_router), vc, length);
        }
    }

    /// A packet of `length` phits leaves an injection VC: room for the node. Returns the packet that is the next head at once, or
    /// `NONE`.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn leave_buffer<M: Mode>(
        &mut self,
        kernel: &mut Kernel<'_, M>,
        terminal: Terminal,
        vc: usize,
        length: u32,
    ) -> u32 {
        let node = terminal.node(self.per_router);
        if M::FULL && vc >= self.first_reply_vc {
            self.release_reply(kernel, terminal, vc, (kernel.now, length));
        }
        self.wake_for_room::<M>(kernel.now, node);
        let buffer = &mut self.buffers[node.index() * self.vcs + vc];
        buffer.used -= length;
        let next = buffer.behind.pop(&self.waiting);
        if next == NONE {
            return NONE;
        }
        let packet = *self.waiting.get(next);
        self.waiting.remove(next);
        if packet.arrived + kernel.constants.pipeline <= kernel.now {
            self.insert_packet(kernel, node, &packet)
        } else {
            self.send_head(kernel, node, vc, &packet);
            NONE
        }
    }

    /// There is more room in the injection buffers of `node`: the node goes on if it has been waiting for that.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub(super) fn wake_for_room<M: Mode>(&mut self, now: u32, node: RegionNode) {
        // While the wire is busy the node is woken anyway.
        let nic = &self.nics[node];
        let wire_busy = self.serial_wire && now < nic.any_wire_free(self.ports);
        let waits = !nic.queue.is_empty() || (M::FULL && self.answers[node].awaits_room);
        if waits && !wire_busy {
            self.freed.push(node);
        }
    }

    /// The output VC for the ejection of a packet from `source` to a node of the same job.
    #[inline]
    fn ejection_vc<M: Mode>(&self, kernel: &Kernel<'_, M>, job: u8, source: u32, requested: u32) -> u8 {
        if !M::FULL || requested != NONE || !kernel.constants.system.jobs[job as usize].request_reply() {
            return 0;
        }
        match self.policy {
            InjectionVc::Destination => 1 + self.class(true).block(source, self.in_network) as u8,
            _ => 1,
        }
    }

    /// A reply of `length` phits has left injection VC `vc` of `terminal` in cycle `left`: from the next one on there is room
    /// for another one, or from the cycle on in which the node hears of the room for flits.
    pub(super) fn release_reply<M: Mode>(
        &mut self,
        kernel: &mut Kernel<'_, M>,
        terminal: Terminal,
        vc: usize,
        (left, length): (u32, u32),
    ) {
        let class = self.class(true);
        let index = if self.policy == InjectionVc::Destination { vc - class.first } else { 0 };
        let pair = self.doors.ejection(terminal, self.one_way + index);
        let credit = Credit { pair, phits: length as u16, minimal: 0 };
        let known = if self.flits.is_some() { self.latency } else { 1 };
        kernel.credits.push(left + known, credit);
    }
}
