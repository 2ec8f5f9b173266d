//! The separable allocator: each iteration every free input port requests for one of its VCs, then every free
//! output port grants one request.

use crate::arbiter::Candidate;
use crate::parts::{Packet, Queued, Role, Transfer};
use crate::simulator::Simulator;
use hopsim_core::config::router::{ArbiterConfig, Timestamp};
use hopsim_core::config::{Ejection, InputPointer, OutputHold};
use hopsim_core::rng::{Purpose, Stream};
use hopsim_core::routing::sequence::REPLY_INJECTION;
use hopsim_core::routing::{Head, Request, RouteState};
use hopsim_core::trace::Hop;

/// The request of an input port in one iteration.
struct Wish {
    vc: usize,
    to: Request,
}

impl Simulator<'_> {
    /// All iterations of one router.
    pub(crate) fn allocate(&mut self, router: usize) {
        let iterations = self.plan.router.allocator.iterations;
        let ports = self.routers[router].inputs.len();
        for iteration in 0..iterations {
            let when = u64::from(self.now) * u64::from(iterations) + u64::from(iteration);
            let wishes: Vec<Option<Wish>> =
                (0..ports).map(|input| self.request(router, input, when)).collect();
            (0..ports).for_each(|output| self.grant_one(router, output, &wishes, when));
        }
    }

    /// Input stage: which VC of a port requests an output.
    fn request(&mut self, router: usize, input: usize, when: u64) -> Option<Wish> {
        if self.routers[router].inputs[input].transfer.is_some() {
            return None;
        }
        let kind = self.plan.router.allocator.input_arbiter;
        let mut candidates = Vec::new();
        for vc in 0..self.routers[router].inputs[input].vcs.len() {
            let Some(to) = self.route(router, input, vc, when) else { continue };
            if self.feasible(router, to, self.head(router, input, vc)) {
                candidates.push(Candidate { index: vc, age: self.age(kind, router, input, vc) });
            }
        }
        let arbiter = &mut self.routers[router].inputs[input].arbiter;
        let vc = arbiter.choose(&candidates, when)?;
        if self.plan.router.input_pointer == InputPointer::Request {
            arbiter.serve(vc, when);
        }
        let to = self.routers[router].inputs[input].vcs[vc][0].request?;
        Some(Wish { vc, to })
    }

    /// Output stage: which input port gets an output.
    fn grant_one(&mut self, router: usize, output: usize, wishes: &[Option<Wish>], when: u64) {
        if !self.accepts(router, output) {
            return;
        }
        let kind = self.plan.router.allocator.output_arbiter;
        let mut candidates = Vec::new();
        for (input, wish) in wishes.iter().enumerate() {
            if let Some(wish) = wish.as_ref().filter(|w| w.to.port == output) {
                candidates.push(Candidate { index: input, age: self.age(kind, router, input, wish.vc) });
            }
        }
        let arbiter = &mut self.routers[router].outputs[output].arbiter;
        let Some(input) = arbiter.choose(&candidates, when) else { return };
        arbiter.serve(input, when);
        if let Some(wish) = &wishes[input] {
            if self.plan.router.input_pointer == InputPointer::Grant {
                self.routers[router].inputs[input].arbiter.serve(wish.vc, when);
            }
            self.grant(router, input, wish);
        }
    }

    fn grant(&mut self, router: usize, input: usize, wish: &Wish) {
        let packet = self.head(router, input, wish.vc);
        let length = self.packets[packet].length;
        let crossing = self.plan.router.crossing[length as usize];
        let Request { port: output, vc } = wish.to;

        let from = &mut self.routers[router].inputs[input];
        let (arrived, upstream, due) = (from.vcs[wish.vc][0].arrived, from.peer, self.now + from.latency);
        from.transfer = Some(Transfer { vc: wish.vc, output, elapsed: 0, crossing });
        let hop = Hop { router: router as u32, port: output as u16, vc, arrived, granted: self.now };
        self.packets[packet].trace.hops.push(hop);

        let to = &mut self.routers[router].outputs[output];
        to.held = crossing;
        to.queue.push_back(Queued { packet, length, vc: vc as usize, phits: 0, sent: 0 });
        if !to.terminal {
            assert!(to.credits[vc as usize] >= length, "a packet is granted without credit");
            to.credits[vc as usize] -= length;
        }
        match upstream {
            Some((peer, port)) => self.routers[peer].outputs[port].credit_wire.push(due, (wish.vc, length)),
            None => self.leave_node(router * self.nodes_per_router + input, wish.vc, packet),
        }
        let ejected = self.routers[router].outputs[output].terminal;
        if let (true, Role::Request(kind)) = (ejected, self.packets[packet].role) {
            let space = &mut self.nics[router * self.nodes_per_router + output].reply_space[kind];
            assert!(*space >= length, "a request is granted without space for its reply");
            *space -= length;
        }
    }

    /// The packet at the head of a VC that holds one.
    fn head(&self, router: usize, input: usize, vc: usize) -> usize {
        self.routers[router].inputs[input].vcs[vc][0].packet
    }

    /// Where the head of a VC wants to go, `None` if no head takes part.
    fn route(&mut self, router: usize, input: usize, vc: usize, when: u64) -> Option<Request> {
        let port = &mut self.routers[router].inputs[input];
        let resident = port.vcs[vc].front_mut()?;
        if self.now < resident.arrived + self.plan.router.pipeline_latency {
            return None;
        }
        let routing = &self.plan.routing;
        let class = self.plan.network.layout.class[input];
        let packet = &mut self.packets[resident.packet];
        let code = match (port.terminal, packet.role) {
            (false, _) => routing.sequence().code(class - 1, vc as u8),
            (true, Role::Reply) => REPLY_INJECTION,
            (true, _) => 0,
        };
        let again = routing.redecides(code);
        if resident.request.is_some() && !again {
            return resident.request;
        }
        let (seed, source) = (self.plan.experiment.measure.seed, u64::from(packet.trace.source));
        let serial = u64::from(packet.trace.serial);
        let (purpose, moment) =
            if again { (Purpose::Attempt, when) } else { (Purpose::Routing, router as u64) };
        let draw = || Stream::new(seed, purpose, source).at(serial).at(moment);
        if again {
            packet.route = RouteState::NEW;
        }
        let (node, per_router) = (packet.trace.destination, self.nodes_per_router as u32);
        let (destination, terminal) = (node / per_router, (node % per_router) as u16);
        let (ejection_vc, reply) = (packet.role.ejection_vc(), packet.role == Role::Reply);
        let head = Head { router: router as u32, code, destination, terminal, ejection_vc, reply };
        resident.request = Some(routing.request(&head, &mut packet.route, draw));
        resident.request
    }

    /// Whether a packet may ask for an output.
    fn feasible(&self, router: usize, to: Request, packet: usize) -> bool {
        let Packet { length, role, .. } = self.packets[packet];
        let output = &self.routers[router].outputs[to.port];
        let room = self.plan.router.output_buffer.is_none_or(|size| output.occupied() + length <= size);
        let unheld = output.terminal && self.plan.router.ejection == Ejection::IdleNode;
        let credit = match role {
            _ if !output.terminal => output.credits[to.vc as usize] >= length,
            Role::Request(kind) => {
                self.nics[router * self.nodes_per_router + to.port].reply_space[kind] >= length
            }
            Role::OneWay | Role::Reply => true,
        };
        room && credit && (unheld || !self.is_held(router, to.port))
    }

    /// Whether an output port may grant.
    fn accepts(&self, router: usize, output: usize) -> bool {
        let port = &self.routers[router].outputs[output];
        if port.terminal && self.plan.router.ejection == Ejection::IdleNode {
            return !port.mid_packet();
        }
        !self.is_held(router, output)
    }

    /// Whether an earlier grant still holds an output of the crossbar.
    fn is_held(&self, router: usize, output: usize) -> bool {
        let router = &self.routers[router];
        match self.plan.router.output_hold {
            OutputHold::Speedup => router.outputs[output].held > 0,
            OutputHold::Transfer => {
                router.inputs.iter().flat_map(|i| &i.transfer).any(|t| t.output == output)
            }
        }
    }

    /// What an age arbiter compares.
    fn age(&self, kind: ArbiterConfig, router: usize, input: usize, vc: usize) -> u32 {
        let trace = &self.packets[self.head(router, input, vc)].trace;
        match kind {
            ArbiterConfig::Age(age) if age.timestamp == Timestamp::Injection => {
                trace.hops.first().map_or(self.now, |source| source.granted)
            }
            _ => trace.generated,
        }
    }
}
