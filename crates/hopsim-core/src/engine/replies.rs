//! Requests and replies. The ejection port of a node has output VCs for requests whose credits are the free space for
//! the replies: taken when a request is granted its ejection, given back when its reply leaves the injection buffer.
//! The allocator then keeps back a request without room for its reply as it does a packet without credit.

use super::allocator::Visit;
use super::context::Context;
use super::kernel::{Credit, Kernel};
use super::mode::Mode;
use super::nic::Nodes;
use super::packet::Waiting;
use super::regions::Span;
use super::routers::{Router, join};
use crate::config::InjectionVc;
use crate::network::{NONE, TERMINAL};
use crate::plan::Plan;

/// A request or reply whose destination node begins to absorb it.
#[derive(Clone, Copy, Debug)]
pub struct Consumed {
    /// The node, by its number in the region.
    pub node: u32,
    /// Whom to answer; `NONE`: it was a reply.
    pub requester: u32,
    /// Cycle of generation of the request.
    pub requested: u32,
}

/// Space for the replies of `node` behind one of its ejection VCs for requests \[phits\]. All of them have one length.
pub fn reply_space(plan: &Plan, node: usize) -> u32 {
    let classes = &plan.network.classes;
    let Some(job) = plan.jobs.get(plan.job_of[node] as usize) else { return 0 };
    let vcs = match plan.nic.injection_vc {
        InjectionVc::Destination => 1,
        InjectionVc::Shortest | InjectionVc::Random | InjectionVc::Direction => {
            classes.terminal.vcs - classes.first_reply_vc()
        }
    };
    classes.terminal.buffer / job.packet_length * job.packet_length * u32::from(vcs)
}

/// Gives the ejection VCs for requests their credits.
pub fn with_reply_space<const W: usize>(
    plan: &Plan,
    span: &Span,
    mut routers: Vec<Router<W>>,
) -> Vec<Router<W>> {
    let (layout, shortest) = (&plan.network.layout, plan.shortest_packet());
    let requests = (0..layout.pairs()).filter(|&pair| {
        layout.pair_vc(pair).is_some_and(|(port, vc)| layout.class[port] == TERMINAL && vc > 0)
    });
    for pair in requests {
        for (number, router) in routers.iter_mut().enumerate() {
            let terminal = layout.pair_port[pair] as usize;
            let space = reply_space(plan, span.router(number) as usize * layout.terminals + terminal);
            router.credits[pair] = space;
            if space < shortest {
                router.credit.remove(pair);
            }
        }
    }
    routers
}

impl<const W: usize> Visit<'_, W> {
    /// A packet of `length` phits was granted ejection through `pair` of `output`: a request takes the space of its
    /// reply.
    #[inline]
    pub fn reserve_reply<M: Mode>(
        &mut self,
        cx: &Context<'_, W, M>,
        pair: usize,
        (output, length): (usize, u32),
    ) {
        if pair > cx.kernel.shared.tables.port(output).pair_base as usize {
            let credits = &mut self.router.credits[pair];
            *credits -= length;
            if *credits < cx.kernel.shared.rules.shortest {
                self.router.credit.remove(pair);
            }
        }
    }
}

impl Nodes {
    /// Books what follows when a packet leaves for its node at `departure`.
    #[inline]
    pub fn consume<const W: usize, M: Mode>(
        &mut self,
        kernel: &mut Kernel<'_, W, M>,
        id: u32,
        departure: u32,
    ) {
        let packet = kernel.packets.get(id);
        let (job, length) = (packet.job as usize, u32::from(packet.length));
        self.finish_in_burst(kernel, job, departure + length);
        let packet = kernel.packets.get(id);
        let node = packet.destination(kernel.shared.rules.nodes_per_router) - kernel.span.first_node;
        if packet.is_request() {
            let request = Consumed { node, requester: packet.source, requested: packet.generated };
            self.consumed.push(departure, request);
        } else if packet.is_reply() {
            kernel.worker.recorder.answered(packet, departure);
            self.consumed.push(departure, Consumed { node, requester: NONE, requested: packet.requested });
        }
    }

    /// Nodes begin to absorb requests and answer them, or absorb replies and may send more requests.
    pub fn absorb_consumed<const W: usize, M: Mode>(&mut self, kernel: &mut Kernel<'_, W, M>) {
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
    fn reply<const W: usize, M: Mode>(&mut self, kernel: &mut Kernel<'_, W, M>, request: &Consumed) {
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
    pub fn ejection_vc<const W: usize, M: Mode>(
        &self,
        kernel: &Kernel<'_, W, M>,
        job: u8,
        source: u32,
        requested: u32,
    ) -> u8 {
        if !M::FULL || requested != NONE || !kernel.shared.plan.jobs[job as usize].request_reply() {
            return 0;
        }
        match self.policy {
            InjectionVc::Destination => 1 + self.class(true).block(source, self.nodes) as u8,
            InjectionVc::Shortest | InjectionVc::Random | InjectionVc::Direction => 1,
        }
    }

    /// A reply of `length` phits has left injection VC `vc` of terminal port `port`: from the next cycle on there is room
    /// for another one.
    pub fn release_reply<const W: usize, M: Mode>(
        &mut self,
        kernel: &mut Kernel<'_, W, M>,
        (router, port): (usize, usize),
        vc: usize,
        length: u32,
    ) {
        let class = self.class(true);
        let index = if self.policy == InjectionVc::Destination { vc - class.first } else { 0 };
        let pair = kernel.shared.tables.port(port).pair_base as usize + 1 + index;
        let credit = Credit { pair: join::<W>(router as u32, pair), phits: length as u16, minimal: 0 };
        kernel.credits.push(kernel.now + 1, credit);
    }
}
