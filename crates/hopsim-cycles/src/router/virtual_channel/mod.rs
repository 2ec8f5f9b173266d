//! Virtual-channel routers, in which packets move flit by flit (wormhole; Dally & Towles, *Principles and Practices of
//! Interconnection Networks*, chapter 16): flits wait at the inputs, a packet owns an output VC from its head to its tail, and may
//! lie in several routers at once. `region.rs` has the cycle.

mod ages;
mod allocator;
mod asked;
#[cfg(feature = "trace")]
mod audit;
mod batches;
mod changing;
mod deadlock;
mod flit_arrivals;
mod in_turn;
mod injection_waits;
mod outages;
mod output_queues;
mod places;
mod plain;
mod port_numbers;
mod region;
mod requests;
mod route_table;
mod routers;
mod saved;
mod shared;
mod standing;
mod switch;
mod tell_flits;
mod vc_allocation;
mod view;
mod worms;

pub use region::VirtualChannel;

use crate::begin::{AnySimulation, Beginning, Fit};
use crate::change::{Change, Losses};
use crate::deadlock::DeadlockReport;
use crate::kernel::constants::Constants;
use crate::kernel::regions::Regions;
use crate::kernel::{Kernel, Wishes};
use crate::modes::Full;
use crate::node::{Nodes, Run};
use crate::observer::Observer;
use crate::region::{Region, Whole};
use crate::router::virtual_channel::plain::PlainFlits;
use crate::router::virtual_channel::routers::{FlitInputVc, FlitOutputVc};
use crate::router::virtual_channel::saved::SavedFlitRouters;
use crate::router::virtual_channel::shared::FlitShared;
use crate::simulation::Simulation;
use crate::standing::Standing;
use crate::state::State;
use crate::system::System;
use std::sync::Arc;

/// A simulation at cycle 0, in the mode for the plainest routers or in that with everything.
pub fn begin<'p, O: Observer>(run: &Beginning<'p, '_, O>) -> AnySimulation<'p, O> {
    if run.fit != Fit::Loose && plain::is_plain(run.system) && !O::wants_flits(run.wishes) {
        return simulate::<PlainFlits<O>>(run);
    }
    simulate::<Full<O>>(run)
}

fn simulate<'p, M: Run>(run: &Beginning<'p, '_, M::Observer>) -> AnySimulation<'p, M::Observer> {
    let &Beginning { system, wishes, schedule, fit: _ } = run;
    Box::new(Simulation::<VirtualChannel<'p, M>>::new(system, wishes, schedule))
}

impl<'p, M: Run> Region<'p> for VirtualChannel<'p, M> {
    type Mode = M;
    type Shared = FlitShared<'p>;
    type Saved = SavedFlitRouters<<M::Nodes as Nodes<M>>::Saved>;

    fn router_bytes(system: &System) -> usize {
        let layout = &system.network.layout;
        layout.slots() * size_of::<FlitInputVc>() + layout.pairs() * size_of::<FlitOutputVc>()
    }

    fn crossing(system: &System) -> u32 {
        let plan = shared::plan(system);
        let traversal = plan.switch_traversal_delay;
        let crossing_flits = |size| size + plan.speedup.most_steps() * (2 * traversal + 2);
        let queued = plan.output_queue.map_or(0, crossing_flits) * system.network.slowest_link();
        // The flits of a packet that leaves for its node may be counted as if they had come one behind the other.
        traversal + queued + system.longest_packet() + system.network.slowest_link()
    }

    fn shared(system: &'p System) -> Self::Shared {
        FlitShared::new(system)
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
        (&self.kernel, &self.nodes)
    }

    fn ground_mut(&mut self) -> (&mut Kernel<'p, M>, &mut M::Nodes) {
        (&mut self.kernel, &mut self.nodes)
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
        deadlock::find_deadlock(&whole)
    }

    fn standing(whole: Whole<'_, 'p, Self>) -> Vec<Standing> {
        standing::standing(&whole)
    }

    #[cfg(feature = "trace")]
    fn audit(whole: Whole<'_, 'p, Self>) -> Result<(), String> {
        audit::audit(&whole)
    }
}
