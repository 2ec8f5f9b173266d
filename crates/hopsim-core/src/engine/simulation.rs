//! One simulation: the regions of a network in turn, some cycles ahead of each other (see `regions`).

use crate::engine::kernel::regions::{Cut, Regions};
use crate::engine::kernel::worker::{Mail, Worker};
use crate::engine::mode::Mode;
use crate::engine::region::Region;
use crate::engine::router::cioq::routers::Router;
use crate::engine::shared::Shared;
use crate::measure::recorder::Recorder;
use crate::plan::Plan;

/// A simulation of a plan.
pub struct Simulation<'p, const W: usize, M: Mode> {
    pub(super) plan: &'p Plan,
    pub(super) cut: Regions,
    pub(super) regions: Vec<Region<'p, W, M>>,
    pub(super) worker: Worker<M>,
    now: u32,
}

impl<'p, const W: usize, M: Mode> Simulation<'p, W, M> {
    /// An empty network at cycle 0.
    pub fn new(plan: &'p Plan, mode: M, cut: Cut) -> Self {
        let (shared, cut) = (Shared::new(plan), Regions::new(plan, cut, size_of::<Router<W>>()));
        let mail = (0..cut.count()).map(|_| Mail::default()).collect();
        Self {
            plan,
            regions: (0..cut.count()).map(|number| Region::new(shared.clone(), &cut, number)).collect(),
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
    pub fn each_region(&mut self, mut act: impl FnMut(&mut Region<'p, W, M>)) {
        for (number, region) in self.regions.iter_mut().enumerate() {
            region.context.kernel.receive(&mut self.worker.mail[number]);
            std::mem::swap(&mut self.worker, &mut region.context.kernel.worker);
            act(region);
            std::mem::swap(&mut self.worker, &mut region.context.kernel.worker);
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
