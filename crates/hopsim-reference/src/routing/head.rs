//! A packet at the front of its queue, and what it can see from there.

use super::rules::vcs::Rule;
use super::ways::Ways;
use crate::simulator::Simulator;
use crate::state::packet::{Choice, Memory, Packet, Role};
use crate::state::parts::Output;
use crate::state::place::{Link, Place, Request};
use hopsim_measure::trace::Hop;
use hopsim_network::topology::PortClass;
use hopsim_random::{Purpose, Stream};

/// What a hop is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// The destination.
    Destination,
    /// The intermediate router, or its group.
    Via(usize),
    /// Another way to the destination: a misroute in transit.
    Misroute,
    /// The destination, by dimensions in increasing order, where others go in decreasing order.
    Increasing,
}

/// A head in one attempt.
pub struct Head<'a, 'p> {
    pub simulator: &'a Simulator<'p>,
    place: Place,
    /// The position of the packet in the VC: behind a packet that is leaving the VC it is 1.
    position: usize,
    /// Cycle and iteration in one number.
    when: u64,
}

impl<'a, 'p> Head<'a, 'p> {
    pub fn new(simulator: &'a Simulator<'p>, place: Place, when: u64) -> Self {
        Self { simulator, place, position: 0, when }
    }

    /// The packet of a VC that goes next, at a position in it.
    pub fn next(simulator: &'a Simulator<'p>, place: Place, position: usize) -> Self {
        Self { simulator, place, position, when: 0 }
    }

    pub fn packet(&self) -> &'a Packet {
        let (router, input, vc) = self.place;
        &self.simulator.packets[self.simulator.routers[router].inputs[input].vcs[vc][self.position].packet]
    }

    pub fn ways(&self) -> &'a Ways {
        &self.simulator.rules.ways
    }

    /// The router that the packet stands in.
    pub fn router(&self) -> usize {
        self.place.0
    }

    /// The router of the packet's source.
    pub fn source(&self) -> usize {
        self.packet().trace.source as usize / self.simulator.nodes_per_router
    }

    /// The router of the packet's destination.
    pub fn destination(&self) -> usize {
        self.packet().trace.destination as usize / self.simulator.nodes_per_router
    }

    pub fn is_reply(&self) -> bool {
        self.packet().role == Role::Reply
    }

    /// The hops that the packet has made.
    pub fn hops(&self) -> &'a [Hop] {
        &self.packet().trace.hops
    }

    /// Whether the packet has not left the router of its source.
    pub fn at_injection(&self) -> bool {
        self.hops().is_empty()
    }

    /// Class and VC of the link that the packet has come by.
    pub fn came_by(&self) -> Option<(u8, u8)> {
        let hop = self.hops().last()?;
        Some((self.class(hop.port as usize), hop.vc))
    }

    /// The class of a link port, the same in every router.
    pub fn class(&self, port: usize) -> u8 {
        match self.simulator.routers[0].outputs[port].class {
            PortClass::Link(class) => class,
            PortClass::Terminal => unreachable!("the port of a node is no link"),
        }
    }

    /// The packet's own random numbers in its present router, the same in every attempt.
    pub fn draws(&self) -> Stream {
        self.draws_in(self.router())
    }

    /// The packet's own random numbers in a router that it is or has been in.
    pub fn draws_in(&self, router: usize) -> Stream {
        self.stream(Purpose::Routing, router as u64)
    }

    /// The random numbers of this attempt.
    pub fn attempt(&self) -> Stream {
        self.stream(Purpose::Attempt, self.when)
    }

    fn stream(&self, purpose: Purpose, moment: u64) -> Stream {
        let (trace, seed) = (&self.packet().trace, self.simulator.plan.experiment.measure.seed);
        Stream::new(seed, purpose, u64::from(trace.source)).at(u64::from(trace.serial)).at(moment)
    }

    /// Whether the packet could be granted an output VC now.
    pub fn open(&self, to: Request) -> bool {
        self.simulator.feasible(self.place, to)
    }

    /// Free phits of the buffer behind an output VC; none for anybody else if a packet owns it.
    pub fn credits(&self, to: Request) -> u32 {
        if self.simulator.is_owned(self.router(), to) {
            return 0;
        }
        self.simulator.routers[self.router()].outputs[to.port].credits(to.vc as usize)
    }

    /// Taken phits of the buffer behind an output VC.
    pub fn occupancy(&self, to: Request) -> u32 {
        self.simulator.routers[self.router()].outputs[to.port].reading(to.vc as usize)
    }

    /// Taken phits of the buffer behind an output VC, of packets that had never left their minimal path.
    pub fn minimal_occupancy(&self, to: Request) -> u32 {
        self.simulator.routers[self.router()].outputs[to.port].used_minimally(to.vc as usize)
    }

    /// The links to the destination that the packet chooses here.
    pub fn way_to_destination(&self) -> &'a [Link] {
        let (router, input, vc) = self.place;
        let resident = &self.simulator.routers[router].inputs[input].vcs[vc][self.position];
        resident.way.get_or_init(|| self.ways().way(router, self.destination(), &mut self.draws()))
    }

    /// An output VC of a port for a hop with some goal, out of those that the hop may use.
    pub fn pick(&self, port: usize, goal: Goal, attempt: &Stream) -> Request {
        let vcs = &self.simulator.rules.vcs;
        Request { port, vc: vcs.select(self, port, &vcs.allowed(self, port, goal), attempt) }
    }

    /// Whether a hop may use one VC only.
    fn is_only(&self, port: usize, goal: Goal) -> bool {
        self.simulator.rules.vcs.allowed(self, port, goal).len() == 1
    }

    /// Of the VCs of a port those that are as good as each other for a hop with some goal, if there are several.
    fn equals(&self, port: usize, goal: Goal) -> Vec<u8> {
        let vcs = &self.simulator.rules.vcs;
        match vcs.rule {
            Rule::Any(_) | Rule::Dateline { .. } | Rule::HalfPhases { .. } => vcs.allowed(self, port, goal),
            _ => Vec::new(),
        }
    }

    /// The choice of going on towards the destination by a port.
    pub fn ask(&self, port: usize) -> Choice {
        let goal = Goal::Destination;
        let (to, after) = (self.pick(port, goal, &self.attempt()), self.packet().memory.clone());
        Choice { to, after, fixed: self.is_only(port, goal), others: self.equals(port, goal) }
    }

    /// Whether a global output of a router of the own group is marked saturated, as this router knows.
    pub fn knows_marked(&self, router: usize, to: Request) -> bool {
        let knowledge = &self.simulator.routers[router].knowledge;
        let marks = if router == self.router() { &knowledge.marks } else { &knowledge.told_marks };
        marks[to.port].contains(&to.vc)
    }

    /// The port of the destination node, and the first VC there that the packet may take.
    pub fn ejection(&self) -> Request {
        self.ejections()[0]
    }

    /// The port of the destination node, with each VC there that the packet may take.
    pub fn ejections(&self) -> Vec<Request> {
        let Packet { trace, role, .. } = self.packet();
        let port = trace.destination as usize % self.simulator.nodes_per_router;
        let one_way = self.simulator.plan.system.network.classes.one_way;
        let vcs = match role {
            Role::OneWay | Role::Reply => 0..one_way,
            &Role::Request(kind) => one_way + kind as u8..one_way + kind as u8 + 1,
        };
        vcs.map(|vc| Request { port, vc }).collect()
    }

    /// The choice of the port of the destination node.
    pub fn eject(&self) -> Choice {
        let all = self.ejections().into_iter().map(|to| to.vc);
        let others = if all.len() > 1 { all.collect() } else { Vec::new() };
        Choice { to: self.ejection(), after: self.packet().memory.clone(), fixed: true, others }
    }

    /// The choice of going on by the way that the packet has chosen.
    pub fn follow(&self, memory: Memory, attempt: &Stream) -> Choice {
        let Some((port, goal)) = self.next_hop(&memory) else {
            return Choice { after: memory, ..self.eject() };
        };
        self.go(port, goal, memory, attempt)
    }

    /// The choice of going by a port.
    pub fn go(&self, port: usize, goal: Goal, memory: Memory, attempt: &Stream) -> Choice {
        let to = self.pick(port, goal, attempt);
        Choice { to, after: memory, fixed: self.is_only(port, goal), others: self.equals(port, goal) }
    }

    /// The choice of a way that its mechanism decides for in this attempt: of the VCs of a link it asks for one.
    pub fn decide_for(&self, memory: Memory, attempt: &Stream) -> Choice {
        let choice = self.follow(memory, attempt);
        let is_terminal = self.simulator.routers[self.router()].outputs[choice.to.port].is_terminal();
        let others = if is_terminal { choice.others } else { Vec::new() };
        Choice { fixed: false, others, ..choice }
    }

    /// The port of the next hop of a way, and the goal of the hop; `None` at the end of the way.
    fn next_hop(&self, memory: &Memory) -> Option<(usize, Goal)> {
        let &(_, port) = memory.way.iter().find(|link| link.0 == self.router())?;
        let goal = match memory.via {
            // The destination's router may be the intermediate one.
            Some(via) if via != self.destination() => Goal::Via(via),
            _ => Goal::Destination,
        };
        Some((port, goal))
    }

    /// The output VCs that the next hop of a way may use.
    pub fn all_of_next_hop(&self, memory: &Memory) -> Vec<Request> {
        match self.next_hop(memory) {
            Some((port, goal)) => self.all_of(port, goal),
            None => self.ejections(),
        }
    }

    /// The output VCs of a port that a hop with some goal may use.
    pub fn all_of(&self, port: usize, goal: Goal) -> Vec<Request> {
        let allowed = self.simulator.rules.vcs.allowed(self, port, goal);
        allowed.into_iter().map(|vc| Request { port, vc }).collect()
    }

    /// Taken phits of the buffers behind all VCs of a port that packets use.
    pub fn port_occupancy(&self, port: usize) -> u32 {
        let used = self.simulator.rules.vcs.used[usize::from(self.class(port))];
        (0..used).map(|vc| self.occupancy(Request { port, vc })).sum()
    }

    /// Every output VC of every link.
    pub fn all_links(&self) -> Vec<Request> {
        let outputs = self.simulator.routers[self.router()].outputs.iter().enumerate();
        let links = outputs.filter(|(_, output)| !output.is_terminal());
        let vcs = |output: &Output| 0..output.outstanding.len() as u8;
        links.flat_map(|(port, output)| vcs(output).map(move |vc| Request { port, vc })).collect()
    }

    /// The choice of a shortest path, chosen at the source.
    pub fn follow_minimal_way(&self) -> Choice {
        if self.router() == self.destination() {
            return self.eject();
        }
        let mut memory = self.packet().memory.clone();
        if self.at_injection() {
            let trace = &self.packet().trace;
            memory.way = self.ways().minimal_way((trace.source, trace.destination), &mut self.draws());
        }
        self.follow(memory, &self.attempt())
    }
}
