//! One simulation: the regions of a network in turn, some cycles ahead of each other (see `regions`).

use crate::engine::kernel::Kernel;
use crate::engine::kernel::constants::Constants;
use crate::engine::kernel::regions::{Cut, Regions};
use crate::engine::kernel::worker::{Mail, Worker};
use crate::engine::mode::Mode;
use crate::engine::node::{RankState, Run};
use crate::error::DeadlockReport;
use crate::measure::recorder::Recorder;
use crate::plan::{JobPlan, Plan};

/// A kind of routers: what a region of them is in a mode.
pub trait Kind {
    /// That.
    type Region<'p, M: Run>: Region<'p, Mode = M>;

    /// Whether there are modes for it that leave something out.
    const MODES: bool;
}

/// Some routers of one kind with their nodes, and all state that only these write.
///
/// A router owes its nodes what [`Nodes`](crate::engine::node::Nodes) says. Results must not depend on how the network is cut: the
/// order in which heads arrive in a cycle does, so it may matter only to those of one slot, of which there is one in a cycle.
pub trait Region<'p>: Sized {
    /// The mode of the run.
    type Mode: Mode;

    /// Constants that only this kind of router has. What is large in them is shared, the rest copied for every region.
    type Shared: Clone;

    /// Bytes of a router in a plan.
    fn router_bytes(plan: &Plan) -> usize;

    /// Most cycles from a grant until the packet has left the router and its link is free again.
    fn crossing(plan: &Plan) -> u32;

    /// The constants of a plan.
    fn shared(plan: &'p Plan) -> Self::Shared;

    /// A region of a network at cycle 0, empty.
    fn new(constants: Constants<'p>, shared: Self::Shared, regions: &Regions, number: usize) -> Self;

    /// What its routers and nodes work with.
    fn kernel(&mut self) -> &mut Kernel<'p, Self::Mode>;

    /// Simulates up to cycle `end`.
    fn advance(&mut self, end: u32);

    /// Counts what is left at cycle `end`, the last of the run.
    fn finish(&mut self, end: u32);

    /// The ranks of programs in the region.
    fn ranks(&self) -> Vec<RankState<'_>>;

    /// Whether the programs of the region, if there are any, are done.
    fn are_done(&self) -> bool;

    /// The first cycle from the present one on in which anything happens, or may happen, in the region by itself; `u32::MAX` if
    /// there is none.
    fn next_event(&self) -> u32;

    /// Goes on at a cycle before which nothing happens.
    fn skip_to(&mut self, cycle: u32);

    /// Heads that wait for each other, so that none of them can ever move, if there are any.
    fn find_deadlock(simulation: &Simulation<'p, Self>) -> Option<DeadlockReport>;

    /// Packets of the region, those at nodes and on their way to it included.
    #[cfg(feature = "trace")]
    fn packets(&self) -> usize;

    /// Counts anew what else must hold between any two cycles; the error says what does not.
    #[cfg(feature = "trace")]
    fn audit(_simulation: &Simulation<'p, Self>) -> Result<(), String> {
        Ok(())
    }
}

/// A simulation of a plan.
pub struct Simulation<'p, R: Region<'p>> {
    pub(super) plan: &'p Plan,
    pub(super) cut: Regions,
    pub(super) regions: Vec<R>,
    pub(super) worker: Worker,
    now: u32,
}

impl<'p, R: Region<'p>> Simulation<'p, R> {
    /// An empty network at cycle 0.
    pub fn new(plan: &'p Plan, cut: Cut) -> Self {
        let (constants, shared) = (Constants::new(plan, R::crossing(plan)), R::shared(plan));
        let cut = Regions::new(plan, cut, R::router_bytes(plan));
        let mail = (0..cut.count()).map(|_| Mail::default()).collect();
        Self {
            plan,
            regions: (0..cut.count()).map(|number| R::new(constants, shared.clone(), &cut, number)).collect(),
            cut,
            worker: Worker { recorder: Recorder::new(plan), mail, ..Worker::default() },
            now: 0,
        }
    }

    /// The present cycle: the next one to be simulated.
    pub fn now(&self) -> u32 {
        self.now
    }

    /// Simulates up to cycle `end`. Afterwards no mail is under way.
    pub fn advance(&mut self, end: u32) {
        while self.now < end {
            let stop = self.window_end().min(end);
            self.each_region(|region| region.advance(stop));
            self.now = stop;
        }
        self.each_region(|_| ());
    }

    /// If nothing happens before some cycle in the whole network, goes on there, at most at cycle `end`. Returns whether nothing
    /// will ever happen.
    pub fn skip_idle(&mut self, end: u32) -> bool {
        let next = self.regions.iter().map(R::next_event).min().unwrap_or(u32::MAX);
        if next <= self.now {
            return false;
        }
        let cycle = next.min(end);
        self.regions.iter_mut().for_each(|region| region.skip_to(cycle));
        self.now = cycle;
        next == u32::MAX
    }

    /// The ranks of programs.
    pub fn ranks(&self) -> Vec<RankState<'_>> {
        self.regions.iter().flat_map(R::ranks).collect()
    }

    /// Whether the programs, if there are any, are done.
    pub fn are_done(&self) -> bool {
        self.regions.iter().all(R::are_done)
    }

    /// Does something with every region in turn, which sees first what the others have sent.
    pub fn each_region(&mut self, mut act: impl FnMut(&mut R)) {
        for (number, region) in self.regions.iter_mut().enumerate() {
            region.kernel().receive(&mut self.worker.mail[number]);
            std::mem::swap(&mut self.worker, &mut region.kernel().worker);
            act(region);
            std::mem::swap(&mut self.worker, &mut region.kernel().worker);
        }
    }

    /// Up to which cycle each region can be simulated by itself.
    fn window_end(&mut self) -> u32 {
        let batch = self.worker.recorder.start_batch(self.now);
        let changes = self.plan.jobs.iter().flat_map(JobPlan::changes).map(|phase| phase.from);
        let change = changes.filter(|&from| from > self.now).min().unwrap_or(u32::MAX);
        self.now.saturating_add(self.cut.lookahead()).min(batch).min(change)
    }
}
