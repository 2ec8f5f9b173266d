//! Room in the buffers behind links: what a packet takes, and what it leaves free.

use crate::simulator::Simulator;
use crate::state::place::{Place, Request};
use hopsim_network::topology::Topology;
use hopsim_routing::RoutingConfig;

/// A ring of links: dimension, direction, its router with coordinate 0 in that dimension, and its VC if that is a ring by
/// itself.
pub type Ring = (usize, bool, u32, Option<u8>);

impl Simulator<'_> {
    /// Phits of room that a packet takes in the buffer of a link: where rings have bubbles as many as the longest packet.
    pub(crate) fn space(&self, length: u32) -> u32 {
        if self.has_rings() { self.plan.system.longest_packet() } else { length }
    }

    /// Phits that must be free in an output VC besides those for the head that asks for it: for one packet more where it
    /// enters a ring, and for some where adaptive VCs are kept free of new packets.
    pub(crate) fn left_free(&self, place: Place, to: Request) -> u32 {
        if self.enters_ring(place, to) {
            return self.plan.system.network.classes.links[0].bubble;
        }
        let input = &self.routers[place.0].inputs[place.1];
        if input.is_terminal() && !self.is_escape(to.vc) { self.plan.system.control.lbr } else { 0 }
    }

    /// Bubble flow control: whether a packet enters a ring, of one dimension and direction, and does not go on in it. With
    /// adaptive routing only the escape VCs form rings; with two phases each VC has rings of its own.
    pub(crate) fn enters_ring(&self, (router, input, vc): Place, to: Request) -> bool {
        let Topology::Cube(cube) = &*self.plan.system.topology else { return false };
        if !self.has_rings() || self.routers[router].outputs[to.port].is_terminal() || !self.is_ring(to.vc) {
            return false;
        }
        if self.routers[router].inputs[input].is_terminal() || !self.is_ring(vc as u8) {
            return true;
        }
        if self.has_phases() && vc as u8 != to.vc {
            return true;
        }
        // What comes in by a port is on its way to the opposite one.
        let ((from, side), (dimension, direction)) = (cube.direction(input), cube.direction(to.port));
        (from, !side) != (dimension, direction)
    }

    /// The ring that a VC of a link is part of.
    pub(crate) fn ring(&self, router: usize, port: usize, vc: u8) -> Option<Ring> {
        let Topology::Cube(cube) = &*self.plan.system.topology else { return None };
        let (dimension, direction) = cube.direction(port);
        let first = (0..self.routers.len()).find(|&other| {
            let same = |d: usize| cube.coordinate(other as u32, d) == cube.coordinate(router as u32, d);
            (0..cube.sides().len())
                .all(|d| if d == dimension { cube.coordinate(other as u32, d) == 0 } else { same(d) })
        });
        let alone = Some(vc).filter(|_| self.has_phases());
        Some((dimension, direction, first? as u32, alone)).filter(|_| self.has_rings() && self.is_ring(vc))
    }

    /// Whether packets go to an intermediate router in VC 0 and on in VC 1.
    fn has_phases(&self) -> bool {
        matches!(self.plan.experiment.routing, RoutingConfig::Valiant(_) | RoutingConfig::Ugal(_))
    }

    /// Whether links form rings that packets enter only where they leave room: not with up*/down* routing.
    fn has_rings(&self) -> bool {
        self.plan.system.network.classes.links[0].bubble > 0
    }

    /// Whether the bubble keeps a VC free of deadlock.
    fn is_ring(&self, vc: u8) -> bool {
        !self.is_adaptive() || self.is_escape(vc)
    }

    /// Whether a VC is the escape from the others.
    fn is_escape(&self, vc: u8) -> bool {
        self.is_adaptive() && vc == 0
    }

    fn is_adaptive(&self) -> bool {
        matches!(self.plan.experiment.routing, RoutingConfig::Adaptive(_))
    }
}
