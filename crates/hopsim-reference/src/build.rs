//! Building an empty router.

use crate::arbiter::Arbiter;
use crate::matching::Matcher;
use crate::state::delay::DelayLine;
use crate::state::flits::{Door, Flits, Lane, OutputQueue, StageBatches};
use crate::state::parts::{Input, Output, Router};
use crate::state::sensors::Knowledge;
use hopsim_cycles::choices::{Allocator, ArbiterConfig};
use hopsim_cycles::system::RouterPlan;
use hopsim_experiment::plan::Plan;
use hopsim_network::topology::PortClass;
use hopsim_random::{Purpose, Stream};
use std::collections::VecDeque;

/// A router without packets.
pub fn build_router(plan: &Plan, router: u32) -> Router {
    let classes = plan.system.topology.ports();
    let builder = Builder { plan, router };
    let kinds = input_ports(plan);
    // Inputs of the crossbar are numbered: the first ones of all ports, then the others, port by port.
    let mut crossbar = kinds.len();
    let mut inputs: Vec<Input> = Vec::new();
    for (port, kind) in kinds.iter().enumerate() {
        inputs.push(builder.input((port, crossbar), kind));
        crossbar += inputs[port].arbiters.len() - 1;
    }
    let vcs = inputs.iter().map(|input| input.vcs.len()).sum();
    Router {
        flits: builder.flits(&inputs, vcs),
        outputs: (0..classes.len()).map(|port| builder.output(port, classes[port], crossbar)).collect(),
        inputs,
        knowledge: Knowledge::new(plan),
    }
}

/// What stands at an input port.
enum InputKind {
    /// A link of a class.
    Link(u8),
    /// The node of a terminal port, and the first of its injection VCs that are at the input port.
    Node(usize, usize),
}

/// The input ports of every router: one for each output port, then the second injection ports of the nodes.
fn input_ports(plan: &Plan) -> Vec<InputKind> {
    let classes = plan.system.topology.ports();
    let mut ports: Vec<InputKind> = Vec::new();
    for (port, class) in classes.iter().enumerate() {
        ports.push(match class {
            PortClass::Terminal => InputKind::Node(port, 0),
            PortClass::Link(class) => InputKind::Link(*class),
        });
    }
    for number in 1..plan.experiment.nic.injection_ports as usize {
        let terminals = (0..classes.len()).filter(|&port| classes[port] == PortClass::Terminal);
        ports.extend(terminals.map(|port| InputKind::Node(port, number * injection_vcs(plan))));
    }
    ports
}

/// VCs of an injection port.
fn injection_vcs(plan: &Plan) -> usize {
    usize::from(plan.system.network.classes.terminal.vcs) / plan.experiment.nic.injection_ports as usize
}

/// What the parts of a router are built from.
struct Builder<'a> {
    plan: &'a Plan,
    router: u32,
}

impl Builder<'_> {
    /// An input port, whose inputs of the crossbar but the first one are numbered from `further` on.
    fn input(&self, (port, further): (usize, usize), kind: &InputKind) -> Input {
        let Self { plan, router } = *self;
        let class = match *kind {
            InputKind::Link(class) => PortClass::Link(class),
            InputKind::Node(..) => PortClass::Terminal,
        };
        let spec = plan.system.network.classes.of(class);
        let vcs = if let InputKind::Node(..) = kind { injection_vcs(plan) } else { usize::from(spec.vcs) };
        let others = plan.experiment.router.crossbar_inputs().number().min(vcs as u32) as usize - 1;
        let numbers = std::iter::once(port).chain(further..further + others);
        Input {
            class,
            latency: plan.system.network.link(router, port).latency,
            capacity: spec.buffer,
            peer: if let InputKind::Link(_) = kind { self.peer(port) } else { None },
            node: match *kind {
                InputKind::Node(terminal, vc) => {
                    Some(((router * plan.system.topology.nodes_per_router()) as usize + terminal, vc))
                }
                InputKind::Link(_) => None,
            },
            wire: DelayLine::new(),
            vcs: (0..vcs).map(|_| VecDeque::new()).collect(),
            says_on: vec![true; vcs],
            transfers: Vec::new(),
            consumptions: Vec::new(),
            arbiters: numbers
                .map(|number| self.arbiter(self.allocator().input_arbiter, vcs, (number, 0)))
                .collect(),
        }
    }

    fn output(&self, port: usize, class: PortClass, inputs: usize) -> Output {
        let plan = self.plan;
        let spec = plan.system.network.classes.of(class);
        Output {
            class,
            peer: self.peer(port),
            buffer: spec.buffer,
            shares: match class {
                PortClass::Terminal => None,
                PortClass::Link(class) => plan.system.router.damq().map(|shares| shares[class as usize]),
            },
            outstanding: (0..spec.vcs).map(|_| Vec::new()).collect(),
            credit_wire: DelayLine::new(),
            is_on: plan
                .system
                .router
                .cioq()
                .and_then(|router| router.on_off)
                .map(|_| vec![true; spec.vcs.into()]),
            word_wire: DelayLine::new(),
            crossbar: DelayLine::new(),
            bypass: DelayLine::new(),
            queue: VecDeque::new(),
            held: Vec::new(),
            pace: plan.system.network.link(self.router, port).cycles_per_phit,
            next: 0,
            arbiter: self.arbiter(self.allocator().output_arbiter, inputs, (port, 1)),
            closed: None,
        }
    }

    /// The allocator; virtual-channel routers have arbiters like those of documents by default.
    fn allocator(&self) -> Allocator {
        self.plan.system.router.cioq().map_or_else(Allocator::default, |plan| plan.allocator.clone())
    }

    /// What a virtual-channel router keeps, that has so many input VCs in all.
    fn flits(&self, inputs: &[Input], vcs: usize) -> Option<Flits> {
        let RouterPlan::VirtualChannel(plan) = self.plan.system.router else { return None };
        let lanes = inputs.iter().map(|input| input.vcs.iter().map(|_| Lane::default()).collect());
        let classes = &self.plan.system.network.classes;
        let count = |class: PortClass| match class {
            PortClass::Terminal => classes.ejection,
            PortClass::Link(_) => classes.of(class).vcs,
        };
        let ports = self.plan.system.topology.ports();
        let vcs_of =
            |&class: &PortClass| (0..count(class)).map(|_| Door { owner: None, taken: Vec::new() }).collect();
        let doors: Vec<Vec<Door>> = ports.iter().map(vcs_of).collect();
        let crossbar = inputs.iter().map(|input| input.arbiters.len()).sum();
        let outputs = doors.len() * usize::from(plan.crossbar_outputs);
        let has_queues = plan.output_queue.is_some();
        Some(Flits {
            plan,
            vc_allocator: Matcher::new(
                (plan.vc_allocator, plan.arbiter),
                vcs,
                doors.iter().map(Vec::len).sum(),
            ),
            switch_allocator: Matcher::new((plan.switch_allocator, plan.arbiter), crossbar, outputs),
            speculative_allocator: Matcher::new((plan.switch_allocator, plan.arbiter), crossbar, outputs),
            speculating: Vec::new(),
            held: vec![None; crossbar],
            lanes: lanes.collect(),
            messages: inputs
                .iter()
                .take(if has_queues { usize::MAX } else { 0 })
                .map(|_| VecDeque::new())
                .collect(),
            queues: doors
                .iter()
                .take(if has_queues { usize::MAX } else { 0 })
                .map(|_| OutputQueue::default())
                .collect(),
            doors,
            step: 0,
            batches: StageBatches::default(),
            handled: Vec::new(),
        })
    }

    /// Router and port at the other end of a link.
    fn peer(&self, port: usize) -> Option<(usize, usize)> {
        let (peer, back) = self.plan.system.topology.neighbour(self.router, port)?;
        Some((peer as usize, back))
    }

    fn arbiter(&self, kind: ArbiterConfig, positions: usize, (port, stage): (usize, u64)) -> Arbiter {
        let index = u64::from(self.router) << 16 | (port as u64) << 1 | stage;
        Arbiter::new(kind, positions, Stream::new(self.plan.experiment.measure.seed, Purpose::Arbiter, index))
    }
}
