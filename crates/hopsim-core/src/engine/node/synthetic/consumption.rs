//! What follows when packets leave for their nodes: replies, and the end of bursts.

use crate::config::InjectionVc;
use crate::engine::kernel::Kernel;
use crate::engine::kernel::packet::Waiting;
use crate::engine::kernel::wires::Credit;
use crate::engine::mode::Mode;
use crate::engine::node::synthetic::Synthetic;
use crate::engine::node::synthetic::bursts::senders;
use crate::engine::node::synthetic::replies::Consumed;
use crate::network::NONE;

impl Synthetic {
    /// Books what follows when a packet leaves for its node at `departure`.
    #[inline]
    pub fn consume<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, id: u32, departure: u32) {
        let packet = kernel.packets.get(id);
        let (job, length) = (packet.job as usize, u32::from(packet.length));
        self.finish_in_burst(kernel, job, departure + length);
        let packet = kernel.packets.get(id);
        let node = packet.destination(kernel.constants.nodes_per_router) - kernel.span.first_node;
        if packet.is_request() {
            let request = Consumed { node, requester: packet.source, requested: packet.generated };
            self.consumed.push(departure, request);
        } else if packet.is_reply() {
            kernel.worker.recorder.answered(packet, departure);
            self.consumed.push(departure, Consumed { node, requester: NONE, requested: packet.requested });
        }
    }

    /// Nodes begin to absorb requests and answer them, or absorb replies and may send more requests.
    pub fn absorb_consumed<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>) {
        let due = self.consumed.take(kernel.now);
        for packet in &due {
            let node = packet.node as usize;
            if packet.requester == NONE {
                self.sources[node].unanswered -= 1;
            } else {
                self.reply(kernel, packet);
            }
            self.drain_source(kernel, node);
        }
        self.consumed.put_back(due);
    }

    /// The node generates the reply to a request; its space is reserved.
    fn reply<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, request: &Consumed) {
        let nic = &mut self.all[request.node as usize];
        let packet = Waiting {
            next: NONE,
            destination: request.requester,
            length: nic.length,
            generated: kernel.now,
            serial: nic.serial,
            arrived: 0,
            requested: request.requested,
        };
        nic.serial += 1;
        kernel.worker.recorder.generated(kernel.span.node(request.node as usize), (nic.job, nic.length));
        let index = self.waiting.insert(packet);
        self.sources[request.node as usize].replies.push(&mut self.waiting, index);
    }

    /// The output VC for the ejection of a packet from `source` to a node of the same job.
    #[inline]
    pub fn ejection_vc<M: Mode>(&self, kernel: &Kernel<'_, M>, job: u8, source: u32, requested: u32) -> u8 {
        if !M::FULL || requested != NONE || !kernel.constants.plan.jobs[job as usize].request_reply() {
            return 0;
        }
        match self.policy {
            InjectionVc::Destination => 1 + self.class(true).block(source, self.in_network) as u8,
            InjectionVc::Shortest | InjectionVc::Random | InjectionVc::Direction => 1,
        }
    }

    /// A reply of `length` phits has left injection VC `vc` of terminal port `port`: from the next cycle on there is room
    /// for another one.
    pub fn release_reply<M: Mode>(
        &mut self,
        kernel: &mut Kernel<'_, M>,
        (router, port): (usize, usize),
        vc: usize,
        length: u32,
    ) {
        let class = self.class(true);
        let index = if self.policy == InjectionVc::Destination { vc - class.first } else { 0 };
        let pair = self.doors.ejection((router as u32, port), 1 + index);
        let credit = Credit { pair, phits: length as u16, minimal: 0 };
        kernel.credits.push(kernel.now + 1, credit);
    }

    /// A packet of job `index` will have been consumed at cycle `end`; after the last one of a burst the next begins.
    pub fn finish_in_burst<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, index: usize, end: u32) {
        let job = &kernel.constants.plan.jobs[index];
        let Some((start, end)) = self.bursts.consume((index, job), end) else { return };
        kernel.worker.recorder.burst(index, (start, end));
        for node in senders(job) {
            self.book(node, end);
        }
    }
}
