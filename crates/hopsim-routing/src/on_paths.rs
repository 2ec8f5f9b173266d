//! Packets that draw one of several whole paths at their source, and keep to it.

use super::minimal::Minimal;
use super::multipath::Draw;
use super::path_table::PathTable;
use super::{Head, Hop, Leg, Mechanism, OfSource, Place, Route, RouteState, Way};
use hopsim_network::topology::{PortClass, Topology};
use hopsim_random::Stream;
use std::sync::Arc;

/// The paths of a table.
#[derive(Clone, Debug)]
pub struct OnPaths {
    table: Arc<PathTable>,
    draw: Draw,
    /// Class of the links at every port, 0 at those of nodes -- constant.
    classes: Vec<u8>,
    base: Minimal,
}

impl OnPaths {
    /// Packets take the paths of `table`, which follow links of the topology of `base`, and of several one that is drawn.
    pub fn new(table: Arc<PathTable>, draw: Draw, base: Minimal) -> Self {
        let class = |port: PortClass| if let PortClass::Link(class) = port { class } else { 0 };
        let classes = base.topology().ports().into_iter().map(class).collect();
        Self { table, draw, classes, base }
    }

    fn topology(&self) -> &Topology {
        self.base.topology()
    }

    /// What a packet remembers that takes one of the paths from its source.
    fn settled(&self, head: &Head, number: u32) -> RouteState {
        let mut state = RouteState { trunk: number as u16, ..RouteState::NEW };
        let (from, to) = (head.router, head.destination);
        let links = self.table.path(from, to, number).len() as u32;
        if links > self.topology().distance(from, to) {
            state.misroute(Place::Injection);
        }
        state
    }

    /// The next hop on the path of a packet that has not arrived.
    fn hop(&self, head: &Head, state: RouteState) -> Hop {
        let mut at = self.topology().router_of(head.source);
        for (port, vc) in self.table.links(at, head.destination, state.trunk.into()) {
            if at == head.router {
                let class = self.classes[usize::from(port)];
                return Hop { port, class, leg: Leg::Final, reuses: false, vc };
            }
            let next = self.topology().neighbour(at, port.into());
            at = next.unwrap_or_else(|| unreachable!("paths follow links")).0;
        }
        unreachable!("the packet is on its path")
    }
}

impl Mechanism for OnPaths {
    const READS: OfSource = OfSource::Router;

    fn base(&self) -> &Minimal {
        &self.base
    }

    fn route(&self, head: &Head, state: &mut RouteState, draw: impl Fn() -> Stream) -> Route {
        if head.router == head.destination {
            return Route::Arrived;
        }
        if head.at_injection() {
            let several = self.table.count(head.router, head.destination);
            let mut stream = self.draw.stream(head, self.topology(), draw);
            *state = self.settled(head, stream.below(several));
        }
        Route::Fixed(self.hop(head, *state))
    }

    fn each_grant(&self, head: &Head, state: RouteState, visit: &mut impl FnMut(Option<Way>, RouteState)) {
        if head.router == head.destination {
            return visit(None, state);
        }
        let mut go = |state| visit(Some(self.base.way(head, self.hop(head, state))), state);
        if head.at_injection() {
            (0..self.table.count(head.router, head.destination))
                .for_each(|number| go(self.settled(head, number)));
        } else {
            go(state);
        }
    }
}
