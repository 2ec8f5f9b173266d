//! The separable allocator: each iteration every free input of the crossbar requests for one of the VCs it is for, then
//! every output port grants as many requests as it has free outputs of the crossbar.

use crate::arbiter::Candidate;
use crate::simulator::Simulator;
use crate::state::packet::{Choice, Memory, Packet, Role};
use crate::state::parts::{Outstanding, Queued, Transfer};
use crate::state::place::{Place, Request};
use hopsim_cycles::choices::{ArbiterConfig, Timestamp};
use hopsim_cycles::choices::{Ejection, InputPointer, OutputHold};
use hopsim_measure::trace::Hop;
use hopsim_random::{Purpose, Stream};

/// The request of an input of the crossbar in one iteration.
struct Wish {
    /// The port of the VC that requests.
    input: usize,
    vc: usize,
    to: Request,
    /// What the packet remembers if the request is granted.
    after: Memory,
}

impl Simulator<'_> {
    /// Runs all iterations of the allocation in one router.
    pub(crate) fn allocate(&mut self, router: usize) {
        let iterations = self.plan.system.cioq().allocator.iterations;
        let outputs = self.routers[router].outputs.len();
        for iteration in 0..iterations {
            let when = u64::from(self.now) * u64::from(iterations) + u64::from(iteration);
            let inputs = self.crossbar_inputs(router);
            let wishes: Vec<Option<Wish>> =
                inputs.into_iter().map(|(input, first)| self.request((router, input), first, when)).collect();
            let granted: usize =
                (0..outputs).map(|output| self.grant_some((router, output), &wishes, when)).sum();
            let measure = &self.plan.experiment.measure;
            if (measure.warmup.cycles()..measure.warmup.cycles() + measure.cycles).contains(&self.now) {
                let (requests, grants) = &mut self.allocations[router];
                *requests += wishes.iter().flatten().count() as u64;
                *grants += granted as u64;
            }
        }
    }

    /// The inputs of the crossbar: port and first VC of each. The first ones of all ports come first, then the others, port by port.
    pub(crate) fn crossbar_inputs(&self, router: usize) -> Vec<(usize, usize)> {
        let ports = self.routers[router].inputs.iter().map(|input| input.arbiters.len()).enumerate();
        let firsts = ports.clone().map(|(port, _)| (port, 0));
        let others = ports.flat_map(|(port, inputs)| (1..inputs).map(move |first| (port, first)));
        firsts.chain(others).collect()
    }

    /// Whether two VCs of an input port share an input of the crossbar.
    pub(crate) fn share_an_input(&self, one: usize, other: usize) -> bool {
        let inputs = self.plan.experiment.router.crossbar_inputs().number() as usize;
        one % inputs == other % inputs
    }

    /// Input stage: which VC of a port requests an output, of those that share an input of the crossbar with VC `first`.
    fn request(&mut self, (router, input): (usize, usize), first: usize, when: u64) -> Option<Wish> {
        let parts = &self.routers[router].inputs[input];
        let busy = parts.transfers.iter().any(|t| self.share_an_input(t.vc, first));
        let vcs: Vec<usize> = (0..parts.vcs.len()).filter(|&vc| self.share_an_input(vc, first)).collect();
        if busy || self.awaits_signal(router, input) {
            return None;
        }
        let kind = self.plan.system.cioq().allocator.input_arbiter;
        let (mut candidates, mut wishes) = (Vec::new(), Vec::new());
        for vc in vcs {
            let Some(wish) = self.wish((router, input, vc), when) else { continue };
            candidates.push(Candidate { index: vc, age: self.age(kind, router, input, vc), class: 0 });
            wishes.push(wish);
        }
        let arbiter = &mut self.routers[router].inputs[input].arbiters[first];
        let vc = arbiter.choose(&candidates, when)?;
        if self.plan.system.cioq().input_pointer == InputPointer::Request {
            arbiter.serve((vc, 0), when);
        }
        wishes.into_iter().find(|wish| wish.vc == vc)
    }

    /// What a VC would request.
    fn wish(&mut self, (router, input, vc): Place, when: u64) -> Option<Wish> {
        let Choice { to, after, .. } = self.route((router, input, vc), when)?;
        self.feasible((router, input, vc), to).then_some(Wish { input, vc, to, after })
    }

    /// Output stage: which inputs of the crossbar get an output port, one after the other. What is no longer feasible after the grants
    /// before takes no further part. Returns how many get it.
    fn grant_some(&mut self, (router, output): (usize, usize), wishes: &[Option<Wish>], when: u64) -> usize {
        let mut granted = Vec::new();
        for _ in 0..self.plan.system.cioq().crossbar_outputs {
            let left = |index: &usize| {
                !granted.contains(index)
                    && wishes[*index].as_ref().is_some_and(|wish| {
                        wish.to.port == output && self.feasible((router, wish.input, wish.vc), wish.to)
                    })
            };
            let left: Vec<usize> = (0..wishes.len()).filter(left).collect();
            let order = (when, granted.len() as u64);
            let Some(index) = self.grant_one((router, output), (wishes, &left), order) else { break };
            granted.push(index);
        }
        granted.len()
    }

    /// Which of some inputs of the crossbar, `left` of all that request, gets an output port. A node that has to wait for the signal
    /// since a grant of this iteration takes no further part.
    fn grant_one(
        &mut self,
        (router, output): (usize, usize),
        (wishes, left): (&[Option<Wish>], &[usize]),
        (when, before): (u64, u64),
    ) -> Option<usize> {
        if !self.accepts(router, output) {
            return None;
        }
        let kind = self.plan.system.cioq().allocator.output_arbiter;
        let transit_first = self.transit_first(router);
        let class =
            |input: usize| usize::from(transit_first && self.routers[router].inputs[input].is_terminal());
        let mut candidates = Vec::new();
        for &index in left {
            if let Some(wish) = &wishes[index]
                && !self.awaits_signal(router, wish.input)
            {
                let age = self.age(kind, router, wish.input, wish.vc);
                candidates.push(Candidate { index, age, class: class(wish.input) });
            }
        }
        let arbiter = &self.routers[router].outputs[output].arbiter;
        let index = arbiter.choose_again(&candidates, (when, before))?;
        let wish = wishes[index].as_ref()?;
        let served = (index, class(wish.input));
        self.routers[router].outputs[output].arbiter.serve(served, when);
        if self.plan.system.cioq().input_pointer == InputPointer::Grant {
            let arbiters = &mut self.routers[router].inputs[wish.input].arbiters;
            let first = wish.vc % arbiters.len();
            arbiters[first].serve((wish.vc, 0), when);
        }
        self.grant(router, wish);
        Some(index)
    }

    fn grant(&mut self, router: usize, wish: &Wish) {
        let input = wish.input;
        let packet = self.head(router, input, wish.vc);
        let length = self.packets[packet].length;
        let space = self.space(length);
        let transfer = self.set_out((router, input, wish.vc), (wish.to, wish.after.clone()));
        let Request { port: output, vc } = wish.to;

        let latency = self.plan.system.network.link(router as u32, output).latency;
        let to = &mut self.routers[router].outputs[output];
        to.held.push(transfer.crossing);
        let pace = to.pace;
        let (ready, vc) = (self.now + self.plan.system.cioq().crossbar_latency, vc as usize);
        to.queue.push_back(Queued {
            packet: Some(packet),
            length,
            ready,
            vc,
            phits: 0,
            sent: 0,
            pace,
            latency,
        });
        if !to.is_terminal() {
            assert!(to.has_room(vc, length), "a packet is granted without room");
            let minimal = !wish.after.misrouted;
            to.outstanding[vc].push(Outstanding { packet, length: space, minimal });
        }
        self.routers[router].inputs[input].transfers.push(transfer);
        let ejected = self.routers[router].outputs[output].is_terminal();
        if let (true, Role::Request(kind)) = (ejected, self.packets[packet].role) {
            let space = &mut self.nics[router * self.nodes_per_router + output].reply_space[kind];
            assert!(*space >= length, "a request is granted without space for its reply");
            *space -= length;
        }
    }

    /// Notes that the head of a VC has been granted an output, and returns its passage.
    pub(crate) fn set_out(&mut self, (router, input, vc): Place, (to, after): (Request, Memory)) -> Transfer {
        let packet = self.head(router, input, vc);
        let crossing = self.plan.system.cioq().crossing[self.packets[packet].length as usize];
        let aim = self.sensors.contention.then(|| self.aim(router, input, vc));
        self.end_wait((router, input, vc), packet, to);
        let from = &self.routers[router].inputs[input];
        let (arrived, upstream, due) = (from.vcs[vc][0].arrived, from.peer, self.now + from.latency);
        // When it leaves is told when it does.
        let (granted, departed, misrouted) = (self.now, self.now, after.misrouted);
        let (number, port) = (router as u32, to.port as u16);
        let hop = Hop { router: number, port, vc: to.vc, arrived, granted, departed, misrouted };
        self.packets[packet].trace.hops.push(hop);
        self.packets[packet].memory = after;
        if let Some((node, first)) = from.node {
            self.leave_node(node, first + vc, packet);
        }
        if let Some((peer, port)) = upstream {
            self.routers[peer].outputs[port].credit_wire.push(due, (vc, packet));
        }
        Transfer { vc, output: to.port, elapsed: 0, crossing, aim }
    }

    /// The packet at the head of a VC that holds one.
    pub(crate) fn head(&self, router: usize, input: usize, vc: usize) -> usize {
        self.routers[router].inputs[input].vcs[vc][0].packet
    }

    /// Whether the head of a VC may ask for an output.
    pub(crate) fn feasible(&self, place: Place, to: Request) -> bool {
        if self.moves_flits() {
            return self.counts(place, to);
        }
        let (router, input, vc) = place;
        let Packet { length, role, .. } = self.packets[self.head(router, input, vc)];
        let output = &self.routers[router].outputs[to.port];
        if output.closed.is_some() || output.is_terminal() && self.takes_all() {
            return false;
        }
        let room = match self.plan.system.cioq().output_buffer {
            Some(size) => output.takes(length, size),
            // Nothing waits without a queue: the packet must find the link free.
            None => output.link_free(self.now) <= self.now + self.plan.system.cioq().crossbar_latency,
        };
        let unheld = output.is_terminal() && self.plan.system.cioq().ejection == Ejection::IdleNode;
        let credit = match role {
            _ if !output.is_terminal() => {
                output.has_room(to.vc as usize, self.space(length) + self.left_free(place, to))
            }
            Role::Request(kind) => {
                self.nics[router * self.nodes_per_router + to.port].reply_space[kind] >= length
            }
            Role::OneWay | Role::Reply => true,
        };
        room && credit && (unheld || !self.is_held(router, to.port))
    }

    /// Whether packets from other routers go first at the outputs of a router: always with transit priority, with
    /// in-transit priority restriction in a share of the cycles.
    pub(crate) fn transit_first(&self, router: usize) -> bool {
        let stream = Stream::new(self.plan.experiment.measure.seed, Purpose::Priority, router as u64);
        let draw = stream.at(u64::from(self.now)).unit();
        self.plan.system.cioq().allocator.transit_priority || draw < self.plan.system.control.ipr
    }

    /// Whether an output port may grant.
    fn accepts(&self, router: usize, output: usize) -> bool {
        let port = &self.routers[router].outputs[output];
        if port.is_terminal() && self.plan.system.cioq().ejection == Ejection::IdleNode {
            return !port.mid_packet();
        }
        !self.is_held(router, output)
    }

    /// Whether earlier grants still hold all outputs of the crossbar that an output port has.
    pub(crate) fn is_held(&self, router: usize, output: usize) -> bool {
        let router = &self.routers[router];
        let held = match self.plan.system.cioq().output_hold {
            OutputHold::Speedup => router.outputs[output].held.len(),
            OutputHold::Transfer => {
                let transfers = router.inputs.iter().flat_map(|input| &input.transfers);
                transfers.filter(|transfer| transfer.output == output).count()
            }
        };
        held >= usize::from(self.plan.system.cioq().crossbar_outputs)
    }

    /// What an age arbiter compares.
    fn age(&self, kind: ArbiterConfig, router: usize, input: usize, vc: usize) -> u32 {
        let trace = &self.packets[self.head(router, input, vc)].trace;
        let timestamp = match kind {
            ArbiterConfig::Age(age) => age.timestamp,
            _ => Timestamp::Generation,
        };
        match timestamp {
            Timestamp::Generation => trace.generated,
            Timestamp::Injection => trace.hops.first().map_or(self.now, |source| source.granted),
            Timestamp::Arrival => self.routers[router].inputs[input].vcs[vc][0].arrived,
        }
    }
}
