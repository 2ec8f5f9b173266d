//! What the heads of a region could ask for, looked at from outside.

use crate::kernel::by::By;
use crate::kernel::ids::{Id as _, Pair, RegionRouter, Slot};
use crate::node::Run;
use crate::router::cioq::context::Context;
use crate::router::cioq::extras::Extras;
use crate::router::cioq::routers::Router;
use hopsim_network::network::TERMINAL;

/// A region, to be looked at.
pub struct Inspection<'a, 'p, const W: usize, M: Run> {
    /// What the region has besides the state of its routers.
    pub context: &'a Context<'p, W, M>,
    /// The routers of the region.
    pub routers: &'a By<RegionRouter, Router<W>>,
    /// State of the routers that only some configurations need.
    pub extras: &'a Extras<W>,
}

impl<const W: usize, M: Run> Inspection<'_, '_, W, M> {
    /// Visits the output VCs that the head of a slot of a router may ask for, in order of preference.
    pub fn each_option(&self, (number, slot): (RegionRouter, Slot), mut visit: impl FnMut(Pair)) {
        let router = &self.routers[number];
        if !router.choosing.contains(slot) {
            return self.context.shared.pairs_up_to(router.slots[slot].request()).for_each(visit);
        }
        let prospect = &self.extras.choices.chooser(number, slot).prospect;
        let layout = &self.context.kernel.constants.system.network.layout;
        let highest = |(port, vc): (usize, u8)| Pair::at(layout.pair_base[port] as usize + vc as usize);
        if prospect.draws_anew() {
            // It draws its path anew in every attempt: any link, or to its node if that is here.
            let head = self.context.head(number, slot, router.slots[slot].queue.front);
            let ejection = Some(head.ejection()).filter(|_| head.router == head.destination);
            let links = (0..layout.ports()).filter(|&port| layout.class[port] != TERMINAL);
            // At injection it enters every ring: entries are numbered on behind the VCs.
            let vcs = |port: usize| {
                let (first, count) = (layout.entries[port], layout.output_vcs[port]);
                (first..first + count).map(move |vc| (port, vc))
            };
            let all = links.flat_map(vcs).chain(ejection.map(|to| (to.port, to.vc)));
            return all.map(highest).for_each(visit);
        }
        let mut visit = |output| self.context.shared.pairs_up_to(highest(output)).for_each(&mut visit);
        prospect.each_way(|way| visit((way.port as usize, way.vc)));
        // The escape VC is there for the path in order of dimensions alone.
        let first = u8::from(self.context.kernel.constants.system.topology.has_escape());
        prospect.each_productive(|port, only| {
            let vcs = only.map_or(first..layout.output_vcs[port], |vc| vc..vc + 1);
            vcs.for_each(|vc| visit((port, vc)));
        });
        prospect.each_misroute(|class, vc| {
            let ports = (0..layout.ports()).filter(|&port| layout.class[port] == class + 1);
            ports.for_each(|port| visit((port, vc)));
        });
    }
}
