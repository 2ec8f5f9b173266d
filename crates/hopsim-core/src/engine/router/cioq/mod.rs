//! Routers with combined queues at inputs and outputs (CIOQ), and an allocator between them.

mod active;
mod allocator;
mod arbiter;
#[cfg(feature = "trace")]
mod audit;
mod choices;
mod contention;
mod context;
mod credits;
mod damq;
mod deadlock;
mod deciding;
mod draws;
mod extras;
mod ids;
mod injection_waits;
mod marks;
mod mask;
mod masks;
mod options;
mod outlook;
mod region;
mod routers;
mod rules;
mod sat;
mod shared;
mod sight;
mod tables;
mod transfer;
mod visit;
mod waiting;

use crate::engine::kernel::Kernel;
use crate::engine::kernel::constants::Constants;
use crate::engine::kernel::regions::Regions;
use crate::engine::modes::{
    Clean, CleanFull, CleanGeneral, Cube, CubeFull, Full, General, Named, is_clean, is_full, is_plain,
    is_rising,
};
use crate::engine::node::Run;
use crate::engine::simulation::{Region, Simulation};
use crate::engine::{Fit, Task};
use crate::error::DeadlockReport;
use crate::plan::Plan;
pub use region::Cioq;
use routers::Router;
use shared::Shared;

/// Words of the masks that hold the slots, pairs and ports of a router: a power of two.
pub fn mask_words(plan: &Plan) -> usize {
    let layout = &plan.network.layout;
    layout.slots().max(layout.pairs()).div_ceil(64).next_power_of_two()
}

/// Picks the mask width once per run: everything below is compiled for it. Routers that need the widest are so rare that they do
/// without modes of their own.
pub(in crate::engine) fn perform<T: Task>(plan: &Plan, fit: Fit, task: T) -> T::Output {
    match mask_words(plan) {
        1 => by_mode::<1, T>(plan, fit, task),
        // Unit tests have no routers so wide, and need not be compiled for them.
        #[cfg(not(test))]
        2 => by_mode::<2, T>(plan, fit, task),
        #[cfg(not(test))]
        4 => by_mode::<4, T>(plan, fit, task),
        #[cfg(not(test))]
        8 => in_general::<8, T>(plan, task),
        _ => unreachable!("the plan refuses wider routers"),
    }
}

/// Picks the mode, likewise.
fn by_mode<const W: usize, T: Task>(plan: &Plan, fit: Fit, task: T) -> T::Output {
    if fit == Fit::Loose {
        return in_general::<W, T>(plan, task);
    }
    let observer = T::Observer::default();
    match (is_full(plan), is_plain(plan), is_clean(plan), is_rising(plan)) {
        (true, true, true, true) => simulate::<W, _, T>(plan, CleanFull(observer), task),
        (true, true, true, false) => simulate::<W, _, T>(plan, CubeFull(observer), task),
        (false, true, true, true) => simulate::<W, _, T>(plan, Clean(observer), task),
        (false, false, true, true) => simulate::<W, _, T>(plan, CleanGeneral(observer), task),
        (false, true, false, true) => simulate::<W, _, T>(plan, Named(observer), task),
        (false, true, true, false) => simulate::<W, _, T>(plan, Cube(observer), task),
        _ => in_general::<W, T>(plan, task),
    }
}

/// Picks one of the modes that fit any plan.
fn in_general<const W: usize, T: Task>(plan: &Plan, task: T) -> T::Output {
    let observer = T::Observer::default();
    if is_full(plan) {
        simulate::<W, _, T>(plan, Full(observer), task)
    } else {
        simulate::<W, _, T>(plan, General(observer), task)
    }
}

fn simulate<const W: usize, M: Run<Observer = T::Observer>, T: Task>(
    plan: &Plan,
    mode: M,
    task: T,
) -> T::Output {
    let cut = task.cut();
    task.with(Simulation::<Cioq<'_, W, M>>::new(plan, mode, cut))
}

impl<'p, const W: usize, M: Run> Region<'p> for Cioq<'p, W, M> {
    type Mode = M;
    type Shared = Shared<'p, M>;

    const ROUTER: usize = size_of::<Router<W>>();

    fn shared(plan: &'p Plan) -> Self::Shared {
        Shared::new(plan)
    }

    fn new(constants: Constants<'p>, shared: Self::Shared, regions: &Regions, number: usize) -> Self {
        Self::empty(constants, shared, regions, number)
    }

    fn kernel(&mut self) -> &mut Kernel<'p, M> {
        &mut self.context.kernel
    }

    fn advance(&mut self, end: u32) {
        self.simulate(end);
    }

    fn finish(&mut self, end: u32) {
        self.count_rest(end);
    }

    fn find_deadlock(simulation: &Simulation<'p, Self>) -> Option<DeadlockReport> {
        deadlock::find_deadlock(simulation)
    }

    #[cfg(feature = "trace")]
    fn audit(simulation: &Simulation<'p, Self>, delivered: u64) -> Result<(), String> {
        audit::audit(simulation, delivered)
    }
}
