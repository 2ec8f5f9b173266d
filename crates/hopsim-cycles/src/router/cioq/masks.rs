//! Sets of ports and VCs of a router that never change: all routers share one layout.

use crate::kernel::ids::{Id as _, Pair, Slot};
use crate::router::cioq::mask::Mask;
use crate::router::cioq::tables::Tables;
use crate::system::System;
use hopsim_network::network::TERMINAL;
use hopsim_routing::is_injection;

/// The sets of a run.
pub struct Masks<const W: usize> {
    /// Input ports of links.
    pub links: Mask<usize, W>,
    /// Slots whose heads may have a choice of outputs.
    pub deciding: Mask<Slot, W>,
    /// All pairs of a router.
    all: Mask<Pair, W>,
    /// Pairs of links of rank 1, 2, 4 … and above, as far as there are any.
    above: Vec<Mask<Pair, W>>,
}

impl<const W: usize> Masks<W> {
    /// The sets of a system.
    pub fn new(system: &System, tables: &Tables) -> Self {
        let layout = &system.network.layout;
        let is_link = |&input: &usize| layout.class[layout.input_port[input] as usize] != TERMINAL;
        Self {
            links: (0..layout.inputs()).filter(is_link).collect(),
            deciding: deciding(system, tables),
            all: (0..layout.pairs()).filter(|&pair| layout.any_vc(pair).is_some()).map(Pair::at).collect(),
            above: above(system, tables),
        }
    }

    /// `open` with all output VCs of link ports that are above an output VC in `open`, those of another class of a dateline aside.
    #[inline]
    pub fn spread(&self, open: Mask<Pair, W>) -> Mask<Pair, W> {
        if open == self.all {
            return open;
        }
        let mut all = open;
        for (step, above) in self.above.iter().enumerate() {
            all |= all.shifted(1 << step) & *above;
        }
        all
    }
}

/// The slots whose heads may have a choice of outputs.
fn deciding<const W: usize>(system: &System, tables: &Tables) -> Mask<Slot, W> {
    let everywhere = !system.routing.decides_at_source();
    let decides =
        |&slot: &Slot| system.routing.redecides() && (everywhere || is_injection(tables.code(slot)));
    (0..system.network.layout.slots()).map(Slot::at).filter(decides).collect()
}

/// The pairs of links of rank 1, 2, 4 and 8 and above, as far as there are any.
fn above<const W: usize>(system: &System, tables: &Tables) -> Vec<Mask<Pair, W>> {
    let layout = &system.network.layout;
    let mut masks = vec![Mask::EMPTY; 4];
    for pair in 0..layout.pairs() {
        if layout.any_vc(pair).is_some_and(|(port, _)| layout.class[port] != TERMINAL) {
            let rank = tables.pair(Pair::at(pair)).rank;
            masks
                .iter_mut()
                .enumerate()
                .filter(|&(step, _)| rank >= 1 << step)
                .for_each(|(_, m)| m.insert(Pair::at(pair)));
        }
    }
    masks.retain(|mask| !mask.is_empty());
    masks
}
