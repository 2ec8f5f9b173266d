//! Routers with combined queues at inputs and outputs (CIOQ), and an allocator between them.

mod active;
mod allocator;
mod arbiter;
#[cfg(feature = "trace")]
mod audit;
mod changing;
mod choices;
mod contention;
mod context;
mod credits;
mod deadlock;
mod deciding;
mod draws;
mod extras;
mod ids;
mod injection_waits;
mod marks;
mod mask;
mod masks;
mod on_off;
mod options;
mod outages;
mod region;
mod router_mut;
mod router_ref;
mod router_view;
mod routers;
mod rules;
mod sat;
mod shared;
mod standing;
mod state;
mod tables;
mod transfer;
mod waiting;

use crate::begin::{AnySimulation, Beginning};
use crate::change::{Change, Losses};
use crate::deadlock::DeadlockReport;
use crate::kernel::constants::Constants;
use crate::kernel::regions::Regions;
use crate::kernel::{Kernel, Wishes};
use crate::modes;
use crate::node::{Nodes, Run};
use crate::observer::Observer;
use crate::region::{Kind, Region, Whole};
use crate::standing::Standing;
use crate::state::State;
use crate::system::System;
pub use region::Cioq;
use routers::Router;
use shared::Shared;
use state::SavedRouters;
use std::sync::Arc;

/// Picks the mask width once per run: everything below is compiled for it. Routers that need the wider masks are rare, and
/// compiling takes its time, so these do with fewer modes.
pub fn begin<'p, O: Observer>(run: &Beginning<'p, '_, O>) -> AnySimulation<'p, O> {
    match run.system.network.layout.words() {
        1 => modes::begin::<Width<1>, O>(run),
        2 => modes::begin::<Width<2>, O>(run),
        4 => modes::begin::<Width<4>, O>(run),
        8 => modes::begin::<Width<8>, O>(run),
        _ => unreachable!("a router has 512 input VCs at most"),
    }
}

/// CIOQ routers with masks of so many words.
struct Width<const W: usize>;

impl<const W: usize> Kind for Width<W> {
    type Region<'p, M: Run> = Cioq<'p, W, M>;

    const ALL_MODES: bool = W < 2;
    const USUAL_MODES: bool = W < 4;
    const PLAIN_MODES: bool = W < 8;
}

impl<'p, const W: usize, M: Run> Region<'p> for Cioq<'p, W, M> {
    type Mode = M;
    type Shared = Shared<'p, M>;
    type Saved = SavedRouters<<M::Nodes as Nodes<M>>::Saved>;

    fn router_bytes(_: &System) -> usize {
        size_of::<Router<W>>()
    }

    fn crossing(system: &System) -> u32 {
        rules::longest_crossing(system)
    }

    fn shared(system: &'p System) -> Self::Shared {
        Shared::new(system)
    }

    fn new(
        constants: Constants<'p>,
        shared: Self::Shared,
        wishes: &Wishes<M>,
        place: (&Arc<Regions>, usize),
    ) -> Self {
        Self::empty(constants, shared, wishes, place)
    }

    fn ground(&self) -> (&Kernel<'p, M>, &M::Nodes) {
        (&self.context.kernel, &self.context.nodes)
    }

    fn ground_mut(&mut self) -> (&mut Kernel<'p, M>, &mut M::Nodes) {
        (&mut self.context.kernel, &mut self.context.nodes)
    }

    fn advance(&mut self, end: u32) {
        self.simulate(end);
    }

    fn finish(&mut self, end: u32) {
        self.count_rest(end);
    }

    fn save(&self, state: &mut State<Self::Saved>) {
        self.save_in(state);
    }

    fn load(&mut self, state: &State<Self::Saved>) {
        self.load_from(state);
    }

    fn is_drained(&self) -> bool {
        self.has_drained()
    }

    fn change(state: &mut State<Self::Saved>, system: &System, change: &Change) -> Losses {
        state.region.change(system, change, state.cycle)
    }

    fn next_event(&self) -> u32 {
        self.next_cycle()
    }

    fn find_deadlock(whole: Whole<'_, 'p, Self>) -> Option<DeadlockReport> {
        deadlock::find_deadlock(whole)
    }

    fn standing(whole: Whole<'_, 'p, Self>) -> Vec<Standing> {
        standing::standing(&whole)
    }

    #[cfg(feature = "trace")]
    fn audit(whole: Whole<'_, 'p, Self>) -> Result<(), String> {
        audit::audit(whole)
    }
}
