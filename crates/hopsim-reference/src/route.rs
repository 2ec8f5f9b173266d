//! Asking the routing, and what it may see of a router.

use crate::parts::{Aim, Output, Packet, Role, Routed, Router};
use crate::simulator::Simulator;
use hopsim_core::rng::{Purpose, Stream};
use hopsim_core::routing::sequence::REPLY_INJECTION;
use hopsim_core::routing::view::{Draws, View};
use hopsim_core::routing::{Head, Request, RouteState};
use hopsim_core::topology::{LOCAL, PortClass};

/// Router, input port and VC.
pub type Place = (usize, usize, usize);

impl Simulator<'_> {
    /// Whether the first packet of a VC may take part in the allocation: its head has been there for long enough,
    /// and no earlier packet is still leaving.
    pub(crate) fn takes_part(&self, (router, input, vc): Place) -> bool {
        let port = &self.routers[router].inputs[input];
        let leaving = port.leaving().any(|t| t.vc == vc);
        let front = port.vcs[vc].front();
        !leaving && front.is_some_and(|r| self.now >= r.arrived + self.plan.router.pipeline_latency)
    }

    /// Tells the routing about new heads.
    pub(crate) fn settle_heads(&mut self, router: usize) {
        for input in 0..self.routers[router].inputs.len() {
            for vc in 0..self.routers[router].inputs[input].vcs.len() {
                if self.takes_part((router, input, vc)) {
                    self.settle((router, input, vc));
                }
            }
        }
    }

    fn settle(&mut self, (router, input, vc): Place) {
        let Routed::NotYet = self.routers[router].inputs[input].vcs[vc][0].routed else { return };
        let head = self.describe((router, input, vc));
        let draws = self.draws((router, input, vc), 0);
        let packet = self.head(router, input, vc);
        let route = &mut self.packets[packet].route;
        let fixed = self.plan.routing.settle(&head, route, || draws.head());
        let fixed = fixed.map(|request| self.output_vc(router, request).0);
        self.routers[router].inputs[input].vcs[vc][0].routed =
            fixed.map_or(Routed::AskAgain, Routed::Settled);
    }

    /// Where the head of a VC wants to go in this attempt and what its packet remembers if it is granted that; `None`
    /// if no head takes part.
    pub(crate) fn route(&mut self, place: Place, when: u64) -> Option<(Request, RouteState)> {
        if !self.takes_part(place) {
            return None;
        }
        let (router, input, vc) = place;
        let packet = self.head(router, input, vc);
        let mut route = self.packets[packet].route;
        if let Routed::Settled(request) = self.routers[router].inputs[input].vcs[vc][0].routed {
            return Some((request, route));
        }
        let view = Outlook { simulator: self, place, packet };
        let mut draws = self.draws(place, when);
        let decision = self.plan.routing.decide(&mut route, &view, &mut draws);
        if self.plan.routing.remembers() {
            self.packets[packet].route = route;
        }
        let request = decision.request?;
        let (to, entry) = self.output_vc(router, request);
        // Routing names an entry where it knows of one; the rule is written anew here.
        assert!(!entry || self.enters_ring(place, to), "a packet goes on in its ring, and asks for an entry");
        Some((to, decision.after))
    }

    /// What the head of a VC counts for.
    pub(crate) fn aim(&self, router: usize, input: usize, vc: usize) -> Aim {
        let head = self.describe((router, input, vc));
        let port = self.plan.routing.minimal_port(&head, &self.packets[self.head(router, input, vc)].route);
        let topology = &self.plan.topology;
        let (here, there) = (topology.group(head.router), topology.group(head.destination));
        let local = self.routers[router].inputs[input].class == PortClass::Link(LOCAL);
        Aim { port, group: Some(there as usize).filter(|_| !local && here != there) }
    }

    /// The head of a VC as the routing wants to know it.
    fn describe(&self, (router, input, vc): Place) -> Head {
        let Packet { ref trace, role, .. } = self.packets[self.head(router, input, vc)];
        let per_router = self.nodes_per_router as u32;
        let code = match self.routers[router].inputs[input].class {
            PortClass::Terminal if role == Role::Reply => REPLY_INJECTION,
            PortClass::Terminal => 0,
            PortClass::Link(class) => self.plan.routing.vcs().sequence.code(class, vc as u8),
        };
        Head {
            router: router as u32,
            input: input as u16,
            code,
            source: trace.source,
            destination: trace.destination / per_router,
            terminal: (trace.destination % per_router) as u16,
            ejection_vc: role.ejection_vc(),
            reply: role == Role::Reply,
        }
    }

    fn draws(&self, (router, input, vc): Place, when: u64) -> Attempt {
        let trace = &self.packets[self.head(router, input, vc)].trace;
        let stream = |purpose, moment| {
            let source = Stream::new(self.plan.experiment.measure.seed, purpose, u64::from(trace.source));
            source.at(u64::from(trace.serial)).at(moment)
        };
        Attempt { head: stream(Purpose::Routing, router as u64), attempt: stream(Purpose::Attempt, when) }
    }
}

/// The random numbers of one decision.
struct Attempt {
    head: Stream,
    attempt: Stream,
}

impl Draws for Attempt {
    fn head(&self) -> Stream {
        self.head.clone()
    }

    fn attempt(&mut self) -> &mut Stream {
        &mut self.attempt
    }
}

/// What a head sees of its router.
struct Outlook<'a, 'p> {
    simulator: &'a Simulator<'p>,
    place: Place,
    packet: usize,
}

impl Outlook<'_, '_> {
    fn router(&self) -> &Router {
        &self.simulator.routers[self.place.0]
    }

    fn output(&self, port: usize) -> &Output {
        &self.router().outputs[port]
    }
}

impl View for Outlook<'_, '_> {
    fn open(&self, request: Request) -> bool {
        self.simulator.feasible(self.place, self.simulator.output_vc(self.place.0, request).0)
    }

    fn credits(&self, request: Request) -> u32 {
        let (to, entry) = self.simulator.output_vc(self.place.0, request);
        let credits = self.output(to.port).credits(to.vc as usize);
        // An entry has the room of its VC but for the bubble.
        if entry { credits.saturating_sub(self.simulator.left_free(self.place, to)) } else { credits }
    }

    fn occupancy(&self, request: Request) -> u32 {
        let (to, _) = self.simulator.output_vc(self.place.0, request);
        self.output(to.port).taken(to.vc as usize)
    }

    fn minimal_occupancy(&self, request: Request) -> u32 {
        self.output(request.port).used_minimally(request.vc as usize)
    }

    fn capacity(&self, class: u8) -> u32 {
        self.simulator.plan.network.classes.links[class as usize].buffer
    }

    fn contention(&self, port: usize) -> u32 {
        self.router().knowledge.contention[port]
    }

    fn filtered_contention(&self, port: usize) -> f64 {
        self.router().knowledge.filtered[port]
    }

    fn combined_contention(&self, group: u32) -> u32 {
        let own = self.router().knowledge.groups[group as usize];
        let others = self.simulator.group_of(self.place.0).filter(|&other| other != self.place.0);
        own + others.map(|other| self.simulator.routers[other].knowledge.told[group as usize]).sum::<u32>()
    }

    fn saturated(&self, position: Option<u32>, request: Request) -> bool {
        let own = self.place.0;
        let other = position.map_or(own, |p| self.simulator.group_of(own).start + p as usize);
        let knowledge = &self.simulator.routers[other].knowledge;
        let marks = if other == own { &knowledge.marks } else { &knowledge.told_marks };
        marks[request.port].contains(&request.vc)
    }

    fn length(&self) -> u32 {
        self.simulator.packets[self.packet].length
    }

    fn head(&self) -> Head {
        self.simulator.describe(self.place)
    }
}
