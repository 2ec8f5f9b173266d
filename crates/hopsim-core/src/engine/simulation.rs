//! One simulation: the regions of a network in turn, some cycles ahead of each other (see `regions`).

use crate::engine::kernel::Kernel;
use crate::engine::kernel::constants::Constants;
use crate::engine::kernel::regions::{Cut, Regions};
use crate::engine::kernel::worker::{Mail, Worker};
use crate::engine::mode::Mode;
use crate::error::DeadlockReport;
use crate::measure::recorder::Recorder;
use crate::plan::Plan;

/// Some routers of one kind with their nodes, and all state that only these write.
pub trait Region<'p>: Sized {
    /// The mode of the run.
    type Mode: Mode;

    /// Constants that only this kind of router has. What is large in them is shared, the rest copied for every region.
    type Shared: Clone;

    /// Bytes of a router.
    const ROUTER: usize;

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

    /// Heads that wait for each other, so that none of them can ever move, if there are any.
    fn find_deadlock(simulation: &Simulation<'p, Self>) -> Option<DeadlockReport>;

    /// Counts anew what must hold between any two cycles, where `delivered` packets have been delivered; the error says what does
    /// not.
    #[cfg(feature = "trace")]
    fn audit(simulation: &Simulation<'p, Self>, delivered: u64) -> Result<(), String>;
}

/// A simulation of a plan.
pub struct Simulation<'p, R: Region<'p>> {
    pub(super) plan: &'p Plan,
    pub(super) cut: Regions,
    pub(super) regions: Vec<R>,
    pub(super) worker: Worker<R::Mode>,
    now: u32,
}

impl<'p, R: Region<'p>> Simulation<'p, R> {
    /// An empty network at cycle 0.
    pub fn new(plan: &'p Plan, mode: R::Mode, cut: Cut) -> Self {
        let (constants, shared) = (Constants::new(plan), R::shared(plan));
        let cut = Regions::new(plan, cut, R::ROUTER);
        let mail = (0..cut.count()).map(|_| Mail::default()).collect();
        Self {
            plan,
            regions: (0..cut.count()).map(|number| R::new(constants, shared.clone(), &cut, number)).collect(),
            cut,
            worker: Worker { recorder: Recorder::new(plan), mode, mail },
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
        let changes = self.plan.jobs.iter().flat_map(|job| &job.changes).map(|phase| phase.from);
        let change = changes.filter(|&from| from > self.now).min().unwrap_or(u32::MAX);
        self.now.saturating_add(self.cut.lookahead()).min(batch).min(change)
    }
}
