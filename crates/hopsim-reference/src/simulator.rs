//! The network, the cycle, and the movement of phits.

use crate::arbiter::Arbiter;
use crate::nic::Nic;
use crate::parts::{DelayLine, Input, Output, Packet, Phit, Resident, Routed, Router};
use crate::sensors::Knowledge;
use crate::signal::Signal;
use hopsim_core::config::router::ArbiterConfig;
use hopsim_core::plan::Plan;
use hopsim_core::rng::{Purpose, Stream};
use hopsim_core::routing::view::Sensors;
use hopsim_core::topology::PortClass;
use hopsim_core::trace::PacketTrace;
use std::collections::VecDeque;

/// A network in some cycle.
pub struct Simulator<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) now: u32,
    pub(crate) nodes_per_router: usize,
    pub(crate) packets: Vec<Packet>,
    pub(crate) routers: Vec<Router>,
    pub(crate) nics: Vec<Nic>,
    /// What the routing wants to know.
    pub(crate) sensors: Sensors,
    /// Packets of the present synchronised burst that have been consumed, by job.
    pub(crate) consumed: Vec<u64>,
    /// The signal of injection control, if there is one.
    pub(crate) signal: Option<Signal>,
}

impl<'a> Simulator<'a> {
    /// The empty network before cycle 0.
    pub fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            now: 0,
            nodes_per_router: plan.topology.nodes_per_router() as usize,
            packets: Vec::new(),
            routers: (0..plan.topology.routers()).map(|router| build_router(plan, router)).collect(),
            nics: (0..plan.network.nodes as usize).map(|node| Nic::new(plan, node)).collect(),
            sensors: plan.routing.sensors(),
            consumed: vec![0; plan.jobs.len()],
            signal: plan.control.sat.as_ref().map(Signal::new),
        }
    }

    /// One cycle.
    pub fn step(&mut self) {
        self.receive();
        self.pass_signal();
        (0..self.routers.len()).for_each(|router| self.settle_heads(router));
        self.sense();
        (0..self.routers.len()).for_each(|router| self.allocate(router));
        self.advance();
        (0..self.nics.len()).for_each(|node| self.inject(node));
        self.send_all();
    }

    /// Lets the packets granted so far finish their hop, and gives the lives of all that were granted one.
    pub fn into_traces(mut self) -> Vec<PacketTrace> {
        while self.routers.iter().any(|r| r.outputs.iter().any(|o| !o.queue.is_empty())) {
            self.receive();
            self.advance();
            self.send_all();
        }
        let mut traces: Vec<PacketTrace> =
            self.packets.into_iter().map(|p| p.trace).filter(|t| !t.hops.is_empty()).collect();
        traces.sort_by_key(|t| (t.source, t.serial));
        traces
    }

    /// Credits and phits reach the end of their wires.
    fn receive(&mut self) {
        self.nics.iter_mut().for_each(|nic| nic.receive(self.now));
        for router in &mut self.routers {
            for output in &mut router.outputs {
                while let Some((vc, packet)) = output.credit_wire.pop_due(self.now) {
                    output.outstanding[vc].retain(|o| o.packet != packet);
                }
            }
            for input in &mut router.inputs {
                while let Some(phit) = input.wire.pop_due(self.now) {
                    arrive(&mut input.vcs[phit.vc], &phit, self.now);
                }
            }
        }
    }

    /// Every phit in a router that can takes one step.
    fn advance(&mut self) {
        for router in 0..self.routers.len() {
            let ports = self.routers[router].inputs.len();
            (0..ports).for_each(|input| self.cross(router, input));
            (0..ports).for_each(|output| self.leave(router, output));
        }
    }

    /// Phits leave the nodes, and the cycle ends.
    fn send_all(&mut self) {
        (0..self.nics.len()).for_each(|node| self.send(node));
        self.now += 1;
    }

    /// Phits of the packet that is crossing enter the crossbar: those that have arrived, and no more than the
    /// speedup allows since the grant.
    fn cross(&mut self, router: usize, input: usize) {
        let Router { inputs, outputs, .. } = &mut self.routers[router];
        let Input { transfer, vcs, .. } = &mut inputs[input];
        let Some(t) = transfer else { return };
        let resident = &mut vcs[t.vc][0];
        let length = self.packets[resident.packet].length;
        t.elapsed += 1;
        while resident.crossed < resident.phits && resident.crossed < t.elapsed * length / t.crossing {
            let due = self.now + self.plan.router.crossbar_latency;
            outputs[t.output].crossbar.push(due, (resident.packet, resident.crossed));
            resident.crossed += 1;
        }
        if resident.crossed == length {
            vcs[t.vc].pop_front();
            *transfer = None;
        }
    }

    /// Phits come out of the crossbar, and one leaves the output queue.
    fn leave(&mut self, router: usize, output: usize) {
        let port = &mut self.routers[router].outputs[output];
        port.held = port.held.saturating_sub(1);
        while let Some((packet, index)) = port.crossbar.pop_due(self.now) {
            let queued = port.queue.iter_mut().find(|q| q.packet == Some(packet));
            let queued = queued.expect("a packet has its place in the output queue since its grant");
            assert_eq!(queued.phits, index, "phits come in order");
            queued.phits += 1;
        }
        let Some(first) = port.queue.front_mut() else { return };
        if first.phits == first.sent {
            assert_eq!(first.sent, 0, "router {router} output {output} runs dry in the middle of a packet");
            return;
        }
        let (packet, index, vc) = (first.packet, first.sent, first.vc);
        first.sent += 1;
        if first.sent == first.length {
            port.queue.pop_front();
        }
        // What a message says has been sent where it was written.
        let Some(packet) = packet else { return };
        let phit = Phit { packet, index, vc };
        match port.peer {
            Some((peer, back)) => {
                let input = &mut self.routers[peer].inputs[back];
                input.wire.push(self.now + input.latency, phit);
            }
            None => self.absorb(&phit),
        }
    }

    /// A phit leaves for its destination node.
    fn absorb(&mut self, phit: &Phit) {
        let packet = &mut self.packets[phit.packet];
        assert_eq!(packet.absorbed, phit.index, "phits come in order");
        packet.absorbed += 1;
        let (over, source) = (packet.absorbed == packet.length, packet.trace.source as usize);
        if phit.index == 0 {
            packet.trace.delivered = Some(self.now);
            self.consume(phit.packet);
        }
        if over {
            self.finish_in_burst(source);
        }
    }
}

/// A phit enters an input buffer.
fn arrive(vc: &mut VecDeque<Resident>, phit: &Phit, now: u32) {
    if phit.index == 0 {
        vc.push_back(Resident {
            packet: phit.packet,
            arrived: now,
            phits: 0,
            crossed: 0,
            routed: Routed::NotYet,
        });
    }
    let resident = vc.iter_mut().find(|r| r.packet == phit.packet).expect("the head comes first");
    assert_eq!(resident.phits, phit.index, "phits come in order");
    resident.phits += 1;
}

fn build_router(plan: &Plan, router: u32) -> Router {
    let classes = plan.topology.ports();
    let allocator = &plan.router.allocator;
    let stream = |port: usize, stage: u64| {
        let index = u64::from(router) << 16 | (port as u64) << 1 | stage;
        Stream::new(plan.experiment.measure.seed, Purpose::Arbiter, index)
    };
    let arbiter =
        |kind: ArbiterConfig, positions, port, stage| Arbiter::new(kind, positions, stream(port, stage));
    let peer = |port| plan.topology.neighbour(router, port).map(|(peer, back)| (peer as usize, back));
    let input = |port: usize| {
        let spec = plan.network.classes.of(classes[port]);
        let vcs = spec.vcs as usize;
        Input {
            class: classes[port],
            latency: spec.latency,
            capacity: spec.buffer,
            peer: peer(port),
            wire: DelayLine::new(),
            vcs: (0..vcs).map(|_| VecDeque::new()).collect(),
            transfer: None,
            arbiter: arbiter(allocator.input_arbiter, vcs, port, 0),
        }
    };
    let output = |port: usize| {
        let spec = plan.network.classes.of(classes[port]);
        Output {
            class: classes[port],
            peer: peer(port),
            buffer: spec.buffer,
            shares: match classes[port] {
                PortClass::Terminal => None,
                PortClass::Link(class) => plan.router.damq.map(|shares| shares[class as usize]),
            },
            outstanding: (0..spec.vcs).map(|_| Vec::new()).collect(),
            credit_wire: DelayLine::new(),
            crossbar: DelayLine::new(),
            queue: VecDeque::new(),
            held: 0,
            arbiter: arbiter(allocator.output_arbiter, classes.len(), port, 1),
        }
    };
    Router {
        inputs: (0..classes.len()).map(input).collect(),
        outputs: (0..classes.len()).map(output).collect(),
        knowledge: Knowledge::new(plan),
    }
}
